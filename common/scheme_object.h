/* SPDX-License-Identifier: MIT */
/* What `schemes --json` prints for a scheme, as an object of jansson. Needs only firn.h and
 * describe.h; the server is built from it too. */
#ifndef FIRN_SCHEME_OBJECT_H
#define FIRN_SCHEME_OBJECT_H

#include <firn/firn.h>

#include <jansson.h>

/* NULL: out of memory. The caller lets go of it. */
json_t *object_of_scheme(const firn_scheme *scheme);

#endif
