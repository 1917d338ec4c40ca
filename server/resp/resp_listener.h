/* SPDX-License-Identifier: MIT */
/* The RESP listener: RESP2 and RESP3, on one libuv loop a thread. */
#ifndef FIRN_RESP_LISTENER_H
#define FIRN_RESP_LISTENER_H

#include "net/listener.h"

/* Starts so many loops, each a thread and a worker; the i-th serves every listener j with j % loops
 * == i. The listeners stay the caller's. FIRN_EMEMORY, FIRN_ESYSTEM. */
int resp_listener_open(listener all[], int count, int loops, firn_error *error);
/* From now on there are no new clients; each is answered all that it has sent, for at most `ms`, and then
 * closed. Returns at once. */
void resp_listener_end(int64_t ms);
/* After that: when all are gone, with the threads joined. */
void resp_listener_close(void);
/* How long ago the slowest loop last came round: a loop beats every second. */
int64_t resp_listener_beat_ms(void);
/* A renewer has news: requests that wait are tried again. Any thread, never blocks. */
void resp_listener_news(void);

#endif
