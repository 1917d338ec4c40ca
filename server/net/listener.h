/* SPDX-License-Identifier: MIT */
/* Listening sockets: from addresses, or from systemd (LISTEN_FDS). */
#ifndef FIRN_LISTENER_H
#define FIRN_LISTENER_H

#include <firn/firn.h>

#include <sys/types.h>

#define LISTENERS_MAX 16 /* per protocol */

typedef struct server_listener {
    int fd;
    bool is_unix, inherited;
    dev_t device; /* of the unix socket's file that we made; another file is not removed */
    ino_t inode;
    char address[128]; /* for logs and hints: 127.0.0.1:7379, unix:/run/firn/resp */
} server_listener;

/* Opens `addresses` (separated by blanks; "none": no address). With `copies` above 1, each TCP
 * address gets that many sockets with SO_REUSEPORT; unix and inherited sockets are duplicated. Port
 * 0 chooses one port for all copies. A unix socket without a server is replaced. `protocol`, "resp"
 * or "http": inherited sockets of that name (LISTEN_FDNAMES) replace the addresses. Returns the
 * number of sockets, or FIRN_EUSAGE: invalid address; FIRN_ESYSTEM: in use, or forbidden. */
int listeners_open(server_listener out[], int room, const char *protocol, const char *addresses,
                   int copies, int socket_mode, firn_error *error);
/* Checks the syntax; opens nothing. FIRN_EUSAGE names the invalid one. */
int addresses_check(const char *addresses, firn_error *error);
/* Is one of them neither loopback nor a unix socket? */
bool address_is_public(const char *addresses);
/* Lets no new client in: new TCP connections get no answer, so that their clients try again, and
 * our unix socket loses its file. Clients that the kernel has already let in can still be accepted.
 * Does nothing to a socket from systemd, which keeps its clients for the next process. */
void listener_quiesce(server_listener *listener);
/* Closes the socket; later calls do nothing. The kernel resets clients that were not accepted. */
void listener_close(server_listener *listener);
/* Closes the sockets and removes our unix socket files. */
void listeners_close(server_listener all[], int count);

#endif
