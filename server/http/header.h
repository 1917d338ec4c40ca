/* SPDX-License-Identifier: MIT */
/* The header, route and body of a request: malformed, oversized and unserved requests are refused
 * before the body is read. */
#ifndef FIRN_HEADER_H
#define FIRN_HEADER_H

#include "exchange.h"

#define LINE_MOST 4096 /* bytes of the request line */

/* Reads the header and finds the route. NULL, or what is wrong, with its status. */
const char *header_read(http_exchange *exchange, const char *method, const char *version,
                        unsigned *status);

/* The next part of a list that is separated by commas, without blanks around it. */
word list_part(word *list);
/* The weight of a name in a list such as the header Accept, in thousandths; 0: refused, or
 * absent. */
int accept_weight(word list, const char *name);

/* Can this Content-Type be read? */
bool body_type_is_known(word type);
/* Adds a piece of the body, or discards it if it will be refused. False: out of memory. */
bool body_keep(http_exchange *exchange, const char *bytes, size_t size);
/* The complete body becomes parameters. FIRN_EUSAGE. */
int body_read(http_exchange *exchange, firn_error *error);
void body_free(http_exchange *exchange);

#endif
