/* SPDX-License-Identifier: MIT */
/* Unauthenticated connections, if tokens are required: at most a quarter of a listener's
 * connections, and a quarter of that per address. A new one replaces the oldest, so that nobody can
 * keep others out by holding connections open. */
#ifndef FIRN_STRANGERS_H
#define FIRN_STRANGERS_H

#include "addresses.h"
#include "chain.h"

#include <stdatomic.h>
#include <stdbool.h>

/* One connection; zero: not in a crowd. */
typedef struct stranger {
    chain place;
    address_key address;
    bool is_in;
} stranger;

/* Shared by the threads of a listener. */
typedef struct crowd_share {
    const char *listener; /* "resp" or "http", for the log */
    _Atomic int64_t count;
    _Atomic int64_t wanted; /* how many other threads should close */
} crowd_share;

/* The connections of one thread, oldest first. Used by that thread only. */
typedef struct crowd {
    chain all;
    crowd_share *share;
} crowd;

void crowd_begin(crowd *it, crowd_share *share);
/* Adds one. Returns the one to close, already removed, or NULL. */
stranger *crowd_enter(crowd *it, stranger *one, int64_t max_connections);
/* It authenticated, or is gone. Does nothing if it is not in. */
void crowd_leave(crowd *it, stranger *one);
/* Makes room for a connection when all allowed ones are open. False: nothing to close. Else *out,
 * already removed, must be closed; NULL: another thread must call crowd_owes. */
bool crowd_make_room(crowd *it, stranger **out);
/* One to close because another thread needed room, already removed; NULL: none. */
stranger *crowd_owes(crowd *it);

#endif
