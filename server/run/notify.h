/* SPDX-License-Identifier: MIT */
/* What the service manager is told, where there is one (NOTIFY_SOCKET). Never waits, never
 * fails: who does not listen is not told. */
#ifndef FIRN_NOTIFY_H
#define FIRN_NOTIFY_H

#include <stdint.h>

void notify_ready(const char *status);
void notify_reloading(void);
void notify_stopping(void);
void notify_status(const char *status);
/* It lives; due twice within notify_watchdog_ms. */
void notify_alive(void);
/* After how long without a sign of life we are ended; 0: never. */
int64_t notify_watchdog_ms(void);

#endif
