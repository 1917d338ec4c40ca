/* SPDX-License-Identifier: MIT */
/* What somebody who has just started the server reads on standard output. */
#ifndef FIRN_HINTS_H
#define FIRN_HINTS_H

#include <stdbool.h>

/* The addresses, and commands to try. Addresses as a listener has them, NULL: none. `tokens`: clients
 * need one. `segment`: one that can be asked for, or NULL. */
void hints_tell(const char *resp, const char *http, bool tls, bool tokens, const char *segment);

#endif
