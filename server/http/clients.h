/* SPDX-License-Identifier: MIT */
/* Connections of the HTTP listener: who is slow, who has shown a token, who has to make room. Only the
 * loop's thread calls these. */
#ifndef FIRN_CLIENTS_H
#define FIRN_CLIENTS_H

#include "exchange.h"

struct http_client {
    struct MHD_Connection *connection;
    exchange *exchange; /* under way, or NULL */
    int fd;
    bool is_unix, fresh; /* fresh: no header of it was ever complete */
    bool counted;        /* its address is */
    address_key address;
    stranger stranger; /* in the loop's crowd until a request of it had a token */
    access_pass pass;  /* the last right token; none: has_token is false */
    bool is_evicted;
    uint64_t requests, seen_requests; /* seen_: at the last sweep */
    uint64_t seen_bytes;              /* read, or while it is answered, acknowledged */
    int64_t since_ms;                 /* when its last request ended, or it came */
    int64_t slow_ms;                  /* since when it may be slow; 0: it is not */
    http_client *next, *previous;
};

/* Its connection has shown a right token. */
void client_trust(exchange *it);
/* Has it shown one that is right by the tokens in force now? */
bool client_is_trusted(const exchange *it);
address_key client_address(const exchange *it);

void clients_begin(http_loop *loop);
/* May another connection be accepted? Closes an unauthenticated one to make room, if there is one. */
bool clients_have_room(http_loop *loop);
/* NULL: no memory. */
http_client *client_new(http_loop *loop, struct MHD_Connection *connection);
void client_free(http_loop *loop, http_client *it);
/* How many connections are open, of all loops. */
void clients_count(int64_t change);
/* Is it between two requests, with nothing of the next one there? */
bool client_is_idle(const http_client *it);
/* A few times within slow_s: closes the connections that are slow, and those that another thread needs
 * room for. */
void clients_sweep(http_loop *loop, int64_t now_ms);

#endif
