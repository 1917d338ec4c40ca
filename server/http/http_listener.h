/* SPDX-License-Identifier: MIT */
/* The HTTP listener: /v1, the paths of Leaf, metrics, health, the console. */
#ifndef FIRN_HTTP_LISTENER_H
#define FIRN_HTTP_LISTENER_H

#include "net/listener.h"

/* Starts the threads, each with a worker. The functions are as in resp_listener.h. */
int http_listener_open(server_listener all[], int count, int threads, firn_error *error);
void http_listener_end(int64_t ms);
void http_listener_close(void);
int64_t http_listener_beat_ms(void);

#endif
