/* SPDX-License-Identifier: MIT */
/* Connections of the HTTP listener: slow ones, unauthenticated ones, and making room. Only the
 * thread of the loop calls these. */
#ifndef FIRN_CLIENTS_H
#define FIRN_CLIENTS_H

#include "exchange.h"

struct http_client {
    struct MHD_Connection *connection;
    http_exchange *exchange; /* running, or NULL */
    int fd;
    bool is_unix, fresh; /* fresh: no header was complete yet */
    bool counted;        /* counted for its address */
    address_key address;
    unauthenticated_client
        unauthenticated; /* in the list of the loop until a request had a token */
    access_pass pass;    /* of the last valid token; has_token false: none */
    bool is_evicted;
    size_t target_length; /* of its last request, up to a zero byte */
    int64_t home_ms;      /* while stopping: when it was shut down for writing; 0: it was not */
    unsigned long signers_seen;       /* for credentials_accept */
    uint64_t requests, seen_requests; /* seen_: at the last sweep */
    uint64_t seen_bytes;              /* bytes received, or acknowledged while it is answered */
    int64_t since_ms;                 /* end of its last request, or its start */
    int64_t slow_ms;                  /* when it became slow; 0: it is not */
    list_link place;                  /* in the list of the loop */
};

/* A request had a valid token. */
void client_trust(http_exchange *exchange);
/* Is its certificate refused since a reload? */
bool client_is_refused(http_client *client);
/* Is its token still valid? */
bool client_is_trusted(const http_exchange *exchange);
address_key client_address(const http_exchange *exchange);

void clients_begin(http_loop *loop);
/* Can another connection be accepted? Closes an unauthenticated one if necessary. */
bool clients_have_room(http_loop *loop);
/* NULL: out of memory. */
http_client *client_new(http_loop *loop, struct MHD_Connection *connection);
void client_free(http_loop *loop, http_client *client);
/* Counts open connections of all threads. */
void clients_count(int64_t change);
/* While stopping: ends idle clients, some time after the stop or their start, so that a request
 * that is on its way is answered. */
void clients_close_idle(http_loop *loop);
/* Closes slow connections, and those that other threads need closed. Acts a few times within
 * slow_s. */
void clients_sweep(http_loop *loop, int64_t now_ms);

#endif
