/* SPDX-License-Identifier: MIT */
/* The state of the whole server. */
#ifndef FIRN_SERVER_H
#define FIRN_SERVER_H

#include <firn/firn.h>
#include <stdbool.h>

/* Seconds since the start. */
int64_t server_uptime_s(void);
/* It drains or stops: clients should go elsewhere. */
bool server_is_leaving(void);

/* Called by main at the start, and when the server drains. */
void server_begin(void);
void server_leave(void);

/* Is everything that is not late open, with IDs or integers left? `why`: the reason in one line, or
 * "". Any thread. */
bool catalog_ready(char why[256]);
/* The same, but false once the server leaves: what /readyz reports. */
bool server_is_ready(char why[256]);

#endif
