/* SPDX-License-Identifier: MIT */
/* Events on standard error, one line each, logfmt or JSON. Any thread. */
#ifndef FIRN_LOG_H
#define FIRN_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARNING, LOG_LEVEL_ERROR };

/* Both may change while running. */
void log_set(enum log_level least, bool as_json);
/* `event` is a phrase such as "window lost"; then names and values in turn, then NULL. At most 1000
 * bytes; lines are dropped, never waited for, if nobody reads them. */
void log_event(enum log_level level, const char *event, ...) __attribute__((sentinel));

/* Limits events that clients can cause to one per 10 s, with a count. Starts as zero. */
typedef struct log_gate {
    _Atomic int64_t told_ms;
    _Atomic uint64_t count; /* since then */
} log_gate;
#define LOG_COUNT_SIZE 24
/* Counts it. True: log it now, with `count`. */
bool log_gate_opens(log_gate *gate, char count[LOG_COUNT_SIZE]);

#endif
