/* SPDX-License-Identifier: MIT */
/* What a thread that answers clients has of its own: its number, its counters, room for IDs. Other
 * threads only read the counters. */
#ifndef FIRN_WORKER_H
#define FIRN_WORKER_H

#include <firn/firn.h>

#include <stdatomic.h>

#define WORKERS_MAX   80    /* loops and threads of HTTP together */
#define BATCH_MAX     65536 /* IDs of one request */
#define METER_BUCKETS 28    /* latencies: up to 1 us, 2 us, 4 us, ... */

/* What clients ask for, one counter each; their names in /metrics and in the console. */
#define METER_KINDS(X)                                                                             \
    X(NEW, "new") X(BLOCK, "block") X(NEXT, "next") X(READ, "read") X(OTHER, "other")
enum {
#define METER_X(id, name) METER_##id,
    METER_KINDS(METER_X)
#undef METER_X
        METER_KIND_COUNT
};

/* Counters of one thread: it alone adds (a load and a store, no locked instruction). */
typedef struct meter {
    _Atomic uint64_t requests[METER_KIND_COUNT], refused[METER_KIND_COUNT];
    _Atomic uint64_t ids;                    /* issued, integers too */
    _Atomic uint64_t latency[METER_BUCKETS]; /* requests by time from read to written */
    _Atomic uint64_t latency_ns;             /* the sum */
    _Atomic uint64_t received, sent;         /* bytes */
    _Atomic uint64_t accepted, turned_away, closed_slow, closed_broken; /* connections */
    _Atomic uint64_t closed_crowded; /* without a token, to make room */
    _Atomic uint64_t wrong_tokens;
    _Atomic uint64_t parked; /* requests that had to wait for a window, a lead or the store */
    _Atomic int64_t open;    /* connections now */
    _Atomic int64_t waiting; /* of them those whose request waits, of Redis clients */
} meter;

typedef struct worker {
    int index; /* 0 .. WORKERS_MAX - 1 */
    bool http;
    meter meter;
    firn_id *ids;      /* room for BATCH_MAX, made at first use */
    uint64_t *numbers; /* likewise, for rows of at most 64 bits */
} worker;

/* Adds to a counter of the calling thread's own. */
static inline void meter_add(_Atomic uint64_t *counter, uint64_t n) {
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

/* `n` requests that took so long each. */
void meter_time(meter *at, uint64_t n, uint64_t ns);

/* A new worker, or NULL: WORKERS_MAX or memory is used up. They live as long as the process. */
worker *worker_new(bool http);
/* The i-th, or NULL past the last. */
worker *worker_at(int i);

#endif
