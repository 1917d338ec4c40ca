/* SPDX-License-Identifier: MIT */
/* Authentication and authorization over HTTP; without tokens, protection from requests that a
 * browser was tricked into. */
#ifndef FIRN_GUARD_H
#define FIRN_GUARD_H

#include "exchange.h"

/* True: refused, or parked for a delayed refusal; return *result. Else fills in the request's
 * role. */
bool guard_refuses(exchange *it, enum MHD_Result *result);

#endif
