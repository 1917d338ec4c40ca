/* SPDX-License-Identifier: MIT */
/* PACK, SHOW, RANGE, CONVERT and SCHEMES: answers that need no store, no generator's state and no
 * clock. */
#ifndef FIRN_PURE_H
#define FIRN_PURE_H

#include "request.h"

/* Checks the parameters of such a request and answers it. */
int answer_pure(request *it, reply *out, firn_error *error);

#endif
