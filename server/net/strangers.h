/* SPDX-License-Identifier: MIT */
/* Connections that have not sent a valid token yet, where tokens are needed: they may hold a quarter
 * of a listener's connections, and one address a quarter of that. A new one is always let in, and
 * the oldest has to go, so that nobody who holds connections open keeps others out. */
#ifndef FIRN_STRANGERS_H
#define FIRN_STRANGERS_H

#include "addresses.h"
#include "chain.h"

#include <stdatomic.h>
#include <stdbool.h>

/* One connection. The zero value is none of them. */
typedef struct stranger {
    chain place;
    address_key address;
    bool is_in;
} stranger;

/* What the threads of a listener share. */
typedef struct crowd_share {
    const char *listener; /* "resp" or "http", for the log */
    _Atomic int64_t count;
    _Atomic int64_t wanted; /* to be closed by whichever thread has one */
} crowd_share;

/* Those of one thread, the oldest first. Only its thread uses it. */
typedef struct crowd {
    chain all;
    crowd_share *share;
} crowd;

void crowd_begin(crowd *it, crowd_share *share);
/* One more. Returns the one that has to be closed, which is out already, or NULL. */
stranger *crowd_enter(crowd *it, stranger *one, int64_t max_connections);
/* It sent its token, or is gone. Nothing happens to one that is not in. */
void crowd_leave(crowd *it, stranger *one);
/* Room for one more connection, since all that may be open are: false, there is nobody to close. Else
 * *out is out and has to be closed; NULL: another thread has to call crowd_owes. */
bool crowd_make_room(crowd *it, stranger **out);
/* One that has to be closed because another thread needed room, out already; NULL: none. */
stranger *crowd_owes(crowd *it);

#endif
