/* SPDX-License-Identifier: MIT */
/* Unauthenticated connections, if tokens are required: at most a quarter of a listener's
 * connections, and a quarter of that per address. A new one replaces the oldest, so that nobody can
 * keep others out by holding connections open. */
#ifndef FIRN_UNAUTHENTICATED_H
#define FIRN_UNAUTHENTICATED_H

#include "addresses.h"
#include "list.h"

#include <stdatomic.h>
#include <stdbool.h>

/* A connection; zero: in no list. */
typedef struct unauthenticated_client {
    list_link place;
    address_key address;
    bool is_in;
} unauthenticated_client;

/* Shared by the threads of a listener. */
typedef struct unauthenticated_share {
    const char *listener; /* "resp" or "http", for the log */
    _Atomic int64_t count;
    _Atomic int64_t wanted; /* how many other threads should close */
} unauthenticated_share;

/* The connections of one thread, oldest first. Used by that thread only. */
typedef struct unauthenticated_list {
    list_link all;
    unauthenticated_share *share;
} unauthenticated_list;

void unauthenticated_begin(unauthenticated_list *list, unauthenticated_share *share);
/* Adds one. Returns the one to close, already removed, or NULL. */
unauthenticated_client *unauthenticated_add(unauthenticated_list *list,
                                            unauthenticated_client *client,
                                            int64_t max_connections);
/* The client authenticated, or is gone. Does nothing if the list does not contain it. */
void unauthenticated_remove(unauthenticated_list *list, unauthenticated_client *client);
/* Makes room for a connection when all allowed ones are open. False: nothing to close. Else *out,
 * already removed, must be closed; NULL: another thread must call unauthenticated_owed. */
bool unauthenticated_make_room(unauthenticated_list *list, unauthenticated_client **out);
/* A connection to close because another thread needed room, already removed; NULL: none. */
unauthenticated_client *unauthenticated_owed(unauthenticated_list *list);

#endif
