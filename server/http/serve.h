/* SPDX-License-Identifier: MIT */
/* A request on its way: its header is checked, its parameters become a request, and the request is
 * answered, or parked until it can be. Writes no reply itself. */
#ifndef FIRN_SERVE_H
#define FIRN_SERVE_H

#include "exchange.h"

/* The header is complete; the body may not be. May answer at once, and then the connection is
 * closed. */
enum MHD_Result serve_begin(exchange *it, const char *method, const char *version);
/* Everything has arrived, or what it waited for happened. Answers or parks. */
enum MHD_Result serve_go_on(exchange *it);
/* The reply went out, or the client is gone; nobody reads its usual reply any more. */
void serve_end(exchange *it);

#endif
