/* SPDX-License-Identifier: MIT */
/* Hints on standard output for somebody who has just started the server. */
#ifndef FIRN_HINTS_H
#define FIRN_HINTS_H

#include <stdbool.h>

/* Prints the addresses and example commands. An address is a listener's; NULL: none. `segment`: its
 * name, or NULL. */
void hints_tell(const char *resp, const char *http, bool tls, bool tokens, const char *segment);

#endif
