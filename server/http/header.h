/* SPDX-License-Identifier: MIT */
/* The header of a request: what is malformed, too large or not served is refused before its body is
 * read. */
#ifndef FIRN_HEADER_H
#define FIRN_HEADER_H

#include "exchange.h"

#define LINE_MOST 4096 /* bytes of the request line */

/* Reads the header into it->header and finds the route. NULL, or what is wrong, with its status. */
const char *header_read(exchange *it, const char *method, const char *version, unsigned *status);

/* The route of a path, and the part of the path that is the name, still encoded. NULL: no route. */
const route *route_find(const char *path, word *name);

/* Is this Content-Type one that is read? */
bool body_type_is_known(word type);
/* Another piece of it. False: no memory. */
bool body_keep(exchange *it, const char *bytes, size_t size);
/* When all of it has come: its members become parameters. FIRN_EUSAGE. */
int body_read(exchange *it, firn_error *error);
void body_free(exchange *it);

#endif
