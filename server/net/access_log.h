/* SPDX-License-Identifier: MIT */
/* The access log: lines of JSON with the IDs that each client took. The threads that serve clients
 * only count; a thread of its own writes. */
#ifndef FIRN_ACCESS_LOG_H
#define FIRN_ACCESS_LOG_H

#include "addresses.h"
#include "core/request.h"

/* Whether the folder of the file exists; the server may run as another user than this one.
 * FIRN_EIO. */
int access_log_check(const char *path, firn_error *error);
/* Opens the file that the setting access_log names, if any, and starts the thread. FIRN_EIO,
 * FIRN_ESYSTEM. */
int access_log_begin(firn_error *error);
/* After a reload: opens the file again, because it may have been renamed. A failure is logged, and
 * the old file stays. */
void access_log_reopen(void);
/* Writes the rest, for at most about a second. */
void access_log_end(void);

/* `times` requests that were answered, or refused. Never waits for the file. */
void access_log_count(const server_request *request, const access_pass *pass, address_key client,
                      size_t times, bool refused);
/* Lines written, and requests that are in no line. */
uint64_t access_log_lines(void);
uint64_t access_log_dropped(void);

#endif
