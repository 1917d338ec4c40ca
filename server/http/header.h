/* SPDX-License-Identifier: MIT */
/* The header of a request: what is malformed, too large or not served is refused before its body is
 * read. */
#ifndef FIRN_HEADER_H
#define FIRN_HEADER_H

#include "exchange.h"

#define LINE_MOST 4096 /* bytes of the request line */

/* Reads the header into it->header and finds the route. NULL, or what is wrong, with its status. */
const char *header_read(exchange *it, const char *method, const char *version, unsigned *status);

#endif
