/* SPDX-License-Identifier: MIT */
/* The state of one thread that answers clients: number, counters, room for IDs. Other threads only
 * read the counters. */
#ifndef FIRN_WORKER_H
#define FIRN_WORKER_H

#include <firn/firn.h>

#include <stdatomic.h>

#define WORKERS_MAX   80    /* RESP loops and HTTP threads together */
#define BATCH_MAX     65536 /* maximum IDs per request */
#define METER_BUCKETS 28    /* latencies: up to 1 us, 2 us, 4 us, ... */

/* Kinds of requests, with their names in /metrics and the console. */
#define METER_KINDS(X)                                                                             \
    X(NEW, "new") X(BLOCK, "block") X(NEXT, "next") X(READ, "read") X(OTHER, "other")
enum {
#define METER_X(id, name) METER_##id,
    METER_KINDS(METER_X)
#undef METER_X
        METER_KIND_COUNT
};

/* The counters of a worker, `counter` variables:
 * ids: issued, with integers; latency: requests by time from read to written, latency_ns: the sum;
 * received, sent: bytes; paused: accepting, for want of descriptors or memory; accepted to
 * closed_broken: connections; closed_crowded: unauthenticated ones, closed to make room;
 * over_quota: refused requests; parked: requests that waited for a window, the lead or the store;
 * retried: further attempts to answer them; open: connections now; waiting: of these, Redis clients
 * whose request waits. */
#define METER_MEMBERS(counter)                                                                     \
    counter requests[METER_KIND_COUNT], refused[METER_KIND_COUNT];                                 \
    counter ids, latency[METER_BUCKETS], latency_ns, received, sent;                               \
    counter accepted, turned_away, paused, closed_slow, closed_broken, closed_crowded;             \
    counter wrong_tokens, over_quota, parked, retried, open, waiting;

/* Counters of one thread, which adds without locked instructions. */
typedef struct server_meter {
    METER_MEMBERS(_Atomic uint64_t)
} server_meter;

/* Sums of the counters of several threads. */
typedef struct meter_totals {
    METER_MEMBERS(uint64_t)
} meter_totals;

typedef struct server_worker {
    int index; /* 0 .. WORKERS_MAX - 1 */
    bool http;
    server_meter meter;
    firn_id *ids;      /* BATCH_MAX, allocated on first use */
    uint64_t *numbers; /* likewise, for at most 64 bits */
} server_worker;

/* Adds to a counter of the calling thread. */
static inline void meter_add(_Atomic uint64_t *counter, uint64_t n) {
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

/* Adds what the threads of a listener have counted. */
void meters_sum(meter_totals *totals, bool http);
/* `n` requests of `ns` each. */
void meter_time(server_meter *meter, uint64_t n, uint64_t ns);

/* NULL: WORKERS_MAX or memory is used up. Never freed. */
server_worker *worker_new(bool http);
/* The i-th, or NULL past the last. */
server_worker *worker_at(int i);

#endif
