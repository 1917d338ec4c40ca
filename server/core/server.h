/* SPDX-License-Identifier: MIT */
/* The state of the whole server. */
#ifndef FIRN_SERVER_H
#define FIRN_SERVER_H

#include "errors.h"

#include <firn/firn.h>
#include <stdbool.h>

/* Seconds since the start. */
int64_t server_uptime_s(void);
/* The server drains or stops: clients should go elsewhere. */
bool server_is_leaving(void);

/* Called by main at the start, and when the server drains. */
void server_begin(void);
void server_leave(void);

/* Room for why the server is not ready: the URL of a store, its trouble, and what that means. */
#define SERVER_WHY_SIZE (ERROR_TEXT_SIZE + 256 + 80)
/* Is everything that is not late open, with IDs or integers left? `why`: the reason in one line, or
 * "". Any thread. */
bool catalog_ready(char why[SERVER_WHY_SIZE]);
/* The same, but false once the server leaves: what /readyz reports. */
bool server_is_ready(char why[SERVER_WHY_SIZE]);

#endif
