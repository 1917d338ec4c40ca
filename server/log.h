/* SPDX-License-Identifier: MIT */
/* One line an event on standard error, logfmt or JSON. Any thread. */
#ifndef FIRN_LOG_H
#define FIRN_LOG_H

#include <stdbool.h>

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARNING, LOG_LEVEL_ERROR };

/* Both may change at any time. */
void log_set(enum log_level least, bool as_json);
/* `event` names what happened, as "window lost"; behind it names and values in turn, then NULL. At
 * most one line of 1000 bytes; a reader that does not keep up loses lines and never holds us up. */
void log_event(enum log_level level, const char *event, ...) __attribute__((sentinel));

#endif
