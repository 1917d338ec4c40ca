/* SPDX-License-Identifier: MIT */
/* Messages to the service manager (NOTIFY_SOCKET). Never waits, never fails. */
#ifndef FIRN_NOTIFY_H
#define FIRN_NOTIFY_H

#include <stdint.h>

void notify_ready(const char *status);
void notify_reloading(void);
/* It needs at most `ms` to stop. */
void notify_stopping(int64_t ms);
void notify_status(const char *status);
/* Watchdog: call it twice within notify_watchdog_ms. */
void notify_alive(void);
/* The watchdog's limit in ms; 0: none. */
int64_t notify_watchdog_ms(void);

#endif
