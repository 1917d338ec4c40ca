/* SPDX-License-Identifier: MIT */
/* The body of a POST: a form or a JSON object, whose members are parameters like those of the query. */
#ifndef FIRN_BODY_H
#define FIRN_BODY_H

#include "exchange.h"

/* Is this Content-Type one that is read? */
bool body_type_is_known(word type);
/* Another piece of it. False: no memory. */
bool body_keep(exchange *it, const char *bytes, size_t size);
/* When all of it has come: its members become parameters. FIRN_EUSAGE. */
int body_read(exchange *it, firn_error *error);
void body_free(exchange *it);

#endif
