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

/* Counters of one thread, which adds without locked instructions. */
typedef struct meter {
    _Atomic uint64_t requests[METER_KIND_COUNT], refused[METER_KIND_COUNT];
    _Atomic uint64_t ids;                    /* issued, with integers */
    _Atomic uint64_t latency[METER_BUCKETS]; /* by time from read to written */
    _Atomic uint64_t latency_ns;             /* the sum */
    _Atomic uint64_t received, sent;         /* bytes */
    _Atomic uint64_t accepted, turned_away, closed_slow, closed_broken; /* connections */
    _Atomic uint64_t closed_crowded; /* unauthenticated, closed to make room */
    _Atomic uint64_t wrong_tokens;
    _Atomic uint64_t over_quota; /* refused requests */
    _Atomic uint64_t parked;     /* requests that waited for a window, the lead or the store */
    _Atomic int64_t open;        /* connections now */
    _Atomic int64_t waiting;     /* of these, Redis clients whose request waits */
} meter;

typedef struct worker {
    int index; /* 0 .. WORKERS_MAX - 1 */
    bool http;
    meter meter;
    firn_id *ids;      /* BATCH_MAX, allocated on first use */
    uint64_t *numbers; /* likewise, for at most 64 bits */
} worker;

/* Adds to a counter of the calling thread. */
static inline void meter_add(_Atomic uint64_t *counter, uint64_t n) {
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

/* `n` requests of `ns` each. */
void meter_time(meter *at, uint64_t n, uint64_t ns);

/* NULL: WORKERS_MAX or memory is used up. Never freed. */
worker *worker_new(bool http);
/* The i-th, or NULL past the last. */
worker *worker_at(int i);

#endif
