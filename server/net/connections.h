/* SPDX-License-Identifier: MIT */
/* How many connections both listeners together may hold, so that stores and files always find a
 * free descriptor: the limit of open files, less a reserve. Any thread. */
#ifndef FIRN_CONNECTIONS_H
#define FIRN_CONNECTIONS_H

#include <firn/firn.h>

#include <stdbool.h>
#include <stdint.h>

/* Raises the limit of open files to the maximum and divides what is not open yet. Call it after the
 * sockets of the listeners are open. `threads`: of both listeners; `listeners`: those that are
 * open, 1 or 2. FIRN_ESYSTEM: too few connections remain. */
int connections_fit(int threads, int listeners, firn_error *error);
/* Logs by how much max_connections is reduced, if it is. */
void connections_tell(void);
/* The connection limit of a listener: max_connections, or fewer. */
int64_t connections_most(void);
/* Counts the connections of both listeners. */
void connections_count(int64_t change);
/* Is there no room for another connection of a listener that has `own`? */
bool connections_are_full(int64_t own);

#endif
