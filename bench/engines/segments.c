/* SPDX-License-Identifier: MIT */
/* Integers of a segment whose step has adapted, on stores of several latencies, alone and with a
 * thread that calls firn_segment_step. */
#include "measure.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum {
    FULL_STEP = 512000, /* 1000 doubled until the double would pass 1 000 000 */
    SEGMENTS = 10,      /* a round */
    WARM_UP = 6 * FULL_STEP
};

/* A measured range. */
typedef struct counting {
    const char *name;
    int64_t wait_ns; /* of the store */
    bool kept;
    slow_store slow;
    firn_store *store;
    firn_segment *range;
    pthread_t renewer;
    bool started;
    double times[BENCH_REPEATS];
} counting;

static counting cases[] = {
    {.name = "integer-0ms", .wait_ns = 0},
    {.name = "integer-0.2ms", .wait_ns = 200000},
    {.name = "integer-1ms", .wait_ns = 1000000},
    {.name = "integer-5ms", .wait_ns = 5000000},
    {.name = "integer-0ms-kept", .wait_ns = 0, .kept = true},
    {.name = "integer-0.2ms-kept", .wait_ns = 200000, .kept = true},
    {.name = "integer-1ms-kept", .wait_ns = 1000000, .kept = true},
    {.name = "integer-5ms-kept", .wait_ns = 5000000, .kept = true},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static _Atomic bool over;

static void *keep(void *context) {
    counting *self = context;
    int64_t wait_ms = 0;
    bench_pin(1);
    while (!over) { /* as long as the measurement */
        firn_segment_step(self->range, &wait_ms, NULL);
        const struct timespec nap = {wait_ms / 1000, wait_ms % 1000 * 1000000};
        nanosleep(&nap, NULL);
    }
    return NULL;
}

static bool count_up(counting *self, int64_t n) {
    int64_t value;
    for (int64_t i = 0; i < n; i++) {
        if (firn_segment_next(self->range, &value, NULL) != FIRN_OK) {
            return false;
        }
        BENCH_KEEP(value);
    }
    return true;
}

static bool begin(counting *self) {
    self->store = slow_store_open(&self->slow, self->wait_ns);
    if (self->store == NULL ||
        firn_segment_open(&self->range, "bench", "", self->store, NULL, NULL) != FIRN_OK) {
        return false;
    }
    self->started = self->kept && pthread_create(&self->renewer, NULL, keep, self) == 0;
    return self->started == self->kept && count_up(self, WARM_UP);
}

static void end(counting *self) {
    if (self->started) {
        pthread_join(self->renewer, NULL);
    }
    firn_segment_close(self->range, NULL);
    firn_store_close(self->store);
}

static bool one_round(counting *self, int round) {
    const int64_t n = SEGMENTS * FULL_STEP;
    double start = bench_now_ns();
    bool fine = count_up(self, n);
    self->times[round] = (bench_now_ns() - start) / (double)n;
    return fine;
}

static void put_case(counting *self, bool fine) {
    figure own = {
        .name = self->name, .ns = fine ? bench_middle(self->times, BENCH_REPEATS) : -1, .most = 20};
    snprintf(own.note, sizeof own.note,
             fine ? "firn_segment_next, a reservation takes %.1f ms%s" : "firn_segment_next fails",
             (double)self->wait_ns / 1e6,
             self->kept ? ", beside a thread with firn_segment_step" : "");
    put_figure(&own);
}

void measure_ranges(void) {
    bool fine = true;
    for (int i = 0; i < CASES; i++) {
        fine = begin(&cases[i]) && fine;
    }
    for (int round = 0; round < BENCH_REPEATS && fine; round++) {
        for (int i = 0; i < CASES && fine; i++) {
            fine = one_round(&cases[i], round);
        }
    }
    over = true;
    for (int i = 0; i < CASES; i++) {
        put_case(&cases[i], fine);
        end(&cases[i]);
    }
}
