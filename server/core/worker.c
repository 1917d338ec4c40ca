/* SPDX-License-Identifier: MIT */
#include "worker.h"

#include <pthread.h>
#include <stdlib.h>

static server_worker *_Atomic workers[WORKERS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

server_worker *worker_new(bool http) {
    server_worker *worker =
        aligned_alloc(64, (sizeof *worker + 63) / 64 * 64); /* shares no cache line with another */
    int i = 0;
    if (worker == NULL) {
        return NULL;
    }
    *worker = (server_worker){.http = http};
    pthread_mutex_lock(&lock);
    while (i < WORKERS_MAX && atomic_load_explicit(&workers[i], memory_order_seq_cst) != NULL) {
        i++;
    }
    if (i < WORKERS_MAX) {
        worker->index = i;
        atomic_store_explicit(&workers[i], worker, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    if (i == WORKERS_MAX) {
        free(worker);
        return NULL;
    }
    return worker;
}

server_worker *worker_at(int i) {
    return i < 0 || i >= WORKERS_MAX ? NULL
                                     : atomic_load_explicit(&workers[i], memory_order_acquire);
}

void meters_sum(meter_totals *totals, bool http) {
    _Static_assert(sizeof(meter_totals) == sizeof(server_meter),
                   "a sum has the place of its counter");
    uint64_t *sums = (uint64_t *)totals;
    const server_worker *worker;
    for (int i = 0; (worker = worker_at(i)) != NULL; i++) {
        const _Atomic uint64_t *counters = (const _Atomic uint64_t *)&worker->meter;
        for (size_t j = 0; worker->http == http && j < sizeof *totals / sizeof *sums; j++) {
            sums[j] += atomic_load_explicit(&counters[j], memory_order_relaxed);
        }
    }
}

/* Bucket i counts requests of up to 1000 << i ns. */
void meter_time(server_meter *meter, uint64_t n, uint64_t ns) {
    uint64_t us = ns == 0 ? 0 : (ns - 1) / 1000;
    int bucket = us == 0 ? 0 : 64 - __builtin_clzll(us);
    bucket = bucket < METER_BUCKETS ? bucket : METER_BUCKETS - 1;
    meter_add(&meter->latency[bucket], n);
    meter_add(&meter->latency_ns, ns * n);
}
