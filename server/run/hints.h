/* SPDX-License-Identifier: MIT */
/* What somebody who has just started the server reads on standard output. */
#ifndef FIRN_HINTS_H
#define FIRN_HINTS_H

#include <stdbool.h>

/* Where it serves, and three commands to try. Addresses as a listener has them, NULL: none. `tokens`:
 * clients have to say one. */
void hints_tell(const char *resp, const char *http, bool tls, bool tokens);

#endif
