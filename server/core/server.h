/* SPDX-License-Identifier: MIT */
/* The whole server: what both listeners ask of it. */
#ifndef FIRN_SERVER_H
#define FIRN_SERVER_H

#include <firn/firn.h>
#include <stdbool.h>

/* Seconds since the start, for INFO and metrics. */
int64_t server_uptime_s(void);
/* It was asked to end: nothing new is begun. */
bool server_is_ending(void);

/* main's: from now on it runs; from now on it ends. */
void server_begin(void);
void server_end(void);

/* Is everything that did not come late open, with IDs or integers left to issue? Else why not, in one
 * line; `why` is "" when there is nothing to say. Any thread. */
bool catalog_ready(char why[256]);

#endif
