/* SPDX-License-Identifier: MIT */
/* Is the server ready, for /readyz, the service manager and the log? */
#ifndef FIRN_READY_H
#define FIRN_READY_H

#include <stdbool.h>

/* Is everything that did not come late open, with IDs or integers left to issue? Else why not, in one
 * line; `why` is "" when there is nothing to say. Any thread. */
bool catalog_ready(char why[256]);

#endif
