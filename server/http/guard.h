/* SPDX-License-Identifier: MIT */
/* Who may ask for what over HTTP: tokens where there are some; without them only what a browser
 * cannot be tricked into. */
#ifndef FIRN_GUARD_H
#define FIRN_GUARD_H

#include "exchange.h"

/* True: it was refused, or parked to be refused later, and *result is what to return. Else the
 * request's role is filled in. */
bool guard_refuses(exchange *it, enum MHD_Result *result);

#endif
