/* SPDX-License-Identifier: MIT */
/* One line an event on standard error, logfmt or JSON. Any thread. */
#ifndef FIRN_LOG_H
#define FIRN_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARNING, LOG_LEVEL_ERROR };

/* Both may change at any time. */
void log_set(enum log_level least, bool as_json);
/* `event` names what happened, as "window lost"; behind it names and values in turn, then NULL. At
 * most one line of 1000 bytes; a reader that does not keep up loses lines and never holds us up. */
void log_event(enum log_level level, const char *event, ...) __attribute__((sentinel));

/* What clients can cause as often as they like is told at most every 10 s, with its count. The zero
 * value has told nothing yet. */
typedef struct log_gate {
    _Atomic int64_t told_ms;
    _Atomic uint64_t count; /* since then */
} log_gate;
#define LOG_COUNT_SIZE 24
/* It happened once more. True: it is to be told now, as having happened `count` times. */
bool log_gate_opens(log_gate *it, char count[LOG_COUNT_SIZE]);

#endif
