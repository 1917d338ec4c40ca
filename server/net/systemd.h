/* SPDX-License-Identifier: MIT */
/* The protocol between systemd and a service: sockets passed to it (LISTEN_FDS), messages from it
 * (NOTIFY_SOCKET), and the watchdog. These are environment variables and a datagram, so no library
 * is needed. */
#ifndef FIRN_SYSTEMD_H
#define FIRN_SYSTEMD_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SYSTEMD_FIRST = 3,
    SYSTEMD_NAME = 16
}; /* the descriptor of the first socket; size of a name */

/* The number of sockets handed to this process, and the names of the first `room`, cut to their
 * size. Removes the variables, so that no child takes the sockets for its own; they are closed on
 * exec. -1: the variables are malformed. */
int systemd_sockets(char names[][SYSTEMD_NAME], int room);
/* Is it a stream socket that listens? */
bool systemd_listens(int fd);
/* Sends lines as READY=1. Never waits, never fails. */
void systemd_notify(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The time between two WATCHDOG=1 after which systemd ends the service, in us; 0: none. */
uint64_t systemd_watchdog_us(void);

#endif
