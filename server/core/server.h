/* SPDX-License-Identifier: MIT */
/* The state of the whole server. */
#ifndef FIRN_SERVER_H
#define FIRN_SERVER_H

#include <firn/firn.h>
#include <stdbool.h>

/* Seconds since the start. */
int64_t server_uptime_s(void);
/* It is stopping and begins nothing new. */
bool server_is_ending(void);

/* Called by main at the start and at the end. */
void server_begin(void);
void server_end(void);

/* Is everything that is not late open, with IDs or integers left? `why`: the reason in one line, or
 * "". Any thread. */
bool catalog_ready(char why[256]);

#endif
