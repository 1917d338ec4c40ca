/* SPDX-License-Identifier: MIT */
/* The door of HTTP clients and browsers: /v1, Leaf's paths, metrics, health, the console. */
#ifndef FIRN_HTTP_DOOR_H
#define FIRN_HTTP_DOOR_H

#include "listener.h"

/* Starts the threads, each a worker. As resp_door.h has it. */
int http_door_open(listener all[], int count, int threads, firn_error *error);
void http_door_end(int64_t ms);
void http_door_close(void);
int64_t http_door_beat_ms(void);

#endif
