/* SPDX-License-Identifier: MIT */
/* Listening sockets: from addresses, or handed over by systemd (LISTEN_FDS). */
#ifndef FIRN_LISTENER_H
#define FIRN_LISTENER_H

#include <firn/firn.h>

#include <sys/types.h>

#define LISTENERS_MAX 16 /* addresses of one protocol */

typedef struct listener {
    int fd;
    bool is_unix, inherited;
    dev_t device; /* of the file of a unix socket that we made: it is removed only while it is */
    ino_t inode;
    char address
        [128]; /* as it is said to people and to clients: 127.0.0.1:7379, unix:/run/firn/resp */
} listener;

/* Opens `addresses` (a setting's text: blanks between; "none": none). `copies` above 1: of each TCP
 * address so many sockets with SO_REUSEPORT, one behind the other in `out`; where that cannot be (unix
 * sockets, inherited ones) duplicates of one. Port 0 takes a free one, the same for all copies.
 * A unix socket that nobody serves is replaced. `protocol` is "resp" or "http": inherited sockets of
 * that name (LISTEN_FDNAMES) stand in for the addresses. Returns how many, or a FIRN_E code:
 * FIRN_EUSAGE for an address that is none, FIRN_ESYSTEM when it cannot be had (in use, forbidden). */
int listeners_open(listener out[], int room, const char *protocol, const char *addresses,
                   int copies, int socket_mode, firn_error *error);
/* Are they addresses at all? FIRN_EUSAGE says which is not. Opens nothing. */
int addresses_check(const char *addresses, firn_error *error);
/* Does one of the addresses reach beyond this machine? Loopback and unix sockets do not. */
bool address_is_public(const char *addresses);
/* Closes, and removes the files of unix sockets that we made. */
void listeners_close(listener all[], int count);

#endif
