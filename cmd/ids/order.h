/* SPDX-License-Identifier: MIT */
/* Order numbers on the command line: the key from its file or the environment, the shape from
 * key=value words. What a number is, the library knows. */
#ifndef FIRN_CMD_ORDER_H
#define FIRN_CMD_ORDER_H

#include "command.h"

/* Opens what the words digits= key_id= check= tweak= and the key describe; refuses all other words
 * except `also` (ends with NULL). An exit status. */
int order_open(session *s, const char *const *also, firn_order **order);
/* The number of an integer, a line; with `json` an object of `scheme`. A FIRN_E code. */
int order_put(session *s, firn_order *order, const firn_scheme *scheme, uint64_t integer,
              firn_error *error);
/* `firn new order`: integers of a series, as order numbers. */
int order_issue(session *s, const firn_scheme *scheme, int64_t count);

#endif
