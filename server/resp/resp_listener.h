/* SPDX-License-Identifier: MIT */
/* The RESP listener: RESP2 and RESP3, one libuv loop per thread. */
#ifndef FIRN_RESP_LISTENER_H
#define FIRN_RESP_LISTENER_H

#include "net/listener.h"

/* Starts the loops, each with a thread and a worker; loop i serves listeners j with j % loops == i.
 * The listeners stay the caller's. FIRN_EMEMORY, FIRN_ESYSTEM. */
int resp_listener_open(server_listener all[], int count, int loops, firn_error *error);
/* Stops accepting, answers what clients have sent for at most `ms`, then closes. Returns at
 * once. */
void resp_listener_end(int64_t ms);
/* Then: joins the threads. */
void resp_listener_close(void);
/* Ms since the slowest loop last ran; loops beat every second. */
int64_t resp_listener_beat_ms(void);
/* Retries waiting requests. Any thread, never blocks. */
void resp_listener_news(void);

#endif
