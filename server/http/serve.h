/* SPDX-License-Identifier: MIT */
/* Handles one request: checks the header, builds a request, answers or parks it. http_reply.c
 * writes the replies. */
#ifndef FIRN_SERVE_H
#define FIRN_SERVE_H

#include "exchange.h"

/* The header is complete, the body may not be. May answer at once and close the connection. */
enum MHD_Result serve_begin(http_exchange *exchange, const char *method, const char *version);
/* Everything has arrived, or the wait is over: answers or parks. */
enum MHD_Result serve_go_on(http_exchange *exchange);
/* Tries a request of STAGE_LATER again. False: it still waits. */
bool serve_retry(http_exchange *exchange);
/* The reply was sent, or the client is gone. */
void serve_end(http_exchange *exchange);

/* Authentication and authorization; without tokens, protection from requests that a browser was
 * tricked into. True: refused, or parked for a delayed refusal; return *result. Else fills in the
 * request's role. */
bool guard_refuses(http_exchange *exchange, enum MHD_Result *result);
/* Has the request a right token, or is access open to all? Asked before its body is kept. */
bool guard_knows(const http_exchange *exchange);

#endif
