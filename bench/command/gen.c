/* SPDX-License-Identifier: MIT */
/* Measuring: generators, by call, in bulk and from two threads, and the bare loop that no
 * generator can beat. Stores are in memory: a renewal is rare, and its cost is the store's. */
#include "bench.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BULK_U64 = 1024, BULK_ID = 256 }; /* 8 KiB: the caller's buffer stays in the nearest cache */
#define LEAD_NS 1e8                      /* a burst runs at most so far ahead of the clock */

typedef struct maker {
    firn_gen *gen;
    firn_error error;
    double sustained_ns;
    union {
        uint64_t numbers[BULK_U64];
        firn_id ids[BULK_ID];
    } to;
} maker;

/* ---- opening, resting ----------------------------------------------------------------------- */

/* The rate that the layout allows: a tick over its slots. Random layouts have no such limit. */
static double layout_ns(const firn_scheme *scheme) {
    uint32_t bits = 0;
    bool random = false;
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        int role = scheme->slices[i].role;
        if ((role == FIRN_ROLE_SEQUENCE || role == FIRN_ROLE_COUNTER) &&
            firn_scheme_first(scheme, i) == i) {
            bits = firn_scheme_width(scheme, i);
        }
        random = random || role == FIRN_ROLE_RANDOM;
    }
    return bits == 0 && random ? 0 : (double)scheme->tick_ns / (double)(UINT64_C(1) << bits);
}

static bool open_maker(maker *m, const bench_case *about, bench_result *result) {
    char keys[64];
    snprintf(keys, sizeof keys, "%s", about->keys);
    firn_config config = {
        .size = sizeof config, .scheme = about->scheme, .keys = keys, .store_url = "memory:"};
    memset(m, 0, sizeof *m);
    if (firn_open_with(&m->gen, &config, &m->error) != FIRN_OK) {
        snprintf(result->note, sizeof result->note, "%.150s", m->error.text);
        return false;
    }
    m->sustained_ns = layout_ns(firn_gen_scheme(m->gen));
    return true;
}

/* Sleeps until the last ID is no longer ahead of the clock. */
static void rest(void *context) {
    maker *m = context;
    firn_status status = {.size = sizeof status};
    firn_gen_status(m->gen, &status);
    if (status.lead_ns > 0) {
        struct timespec nap = {status.lead_ns / 1000000000, status.lead_ns % 1000000000};
        nanosleep(&nap, NULL);
    }
}

static bool finish(maker *m, const bench_case *about, bench_result *result, double ns,
                   uint64_t ids) {
    bool own = strchr(about->scheme, ':') != NULL;
    firn_close(m->gen, NULL);
    if (ns < 0) {
        snprintf(result->note, sizeof result->note, "%.150s", m->error.text);
        return false;
    }
    result->ns = ns;
    result->sustained_ns = m->sustained_ns;
    snprintf(result->note, sizeof result->note, "bursts of %" PRIu64 " on %s%s%s%s%s", ids,
             own ? "the layout \"" : "", about->scheme, own ? "\"" : "",
             about->keys[0] != '\0' ? ", " : "", about->keys);
    return true;
}

/* Operations a burst, when each makes `ids`. */
static uint64_t most_of(const maker *m, uint64_t ids) {
    double most = m->sustained_ns > 0 ? LEAD_NS / m->sustained_ns / (double)ids : 1e9;
    return most < 1 ? 1 : (uint64_t)most;
}

/* ---- a call, and bulk ----------------------------------------------------------------------- */

static bool work_next(void *context, uint64_t n) {
    maker *m = context;
    firn_id id;
    for (uint64_t i = 0; i < n; i++) {
        if (firn_next(m->gen, &id, &m->error) != FIRN_OK) {
            return false;
        }
        BENCH_KEEP(id);
    }
    return true;
}

static bool work_u64(void *context, uint64_t n) {
    maker *m = context;
    for (uint64_t i = 0; i < n; i++) {
        if (firn_next_u64(m->gen, m->to.numbers, BULK_U64, &m->error) != FIRN_OK) {
            return false;
        }
        BENCH_KEEP(m->to.numbers);
    }
    return true;
}

static bool work_ids(void *context, uint64_t n) {
    maker *m = context;
    for (uint64_t i = 0; i < n; i++) {
        if (firn_next_n(m->gen, m->to.ids, BULK_ID, &m->error) != FIRN_OK) {
            return false;
        }
        BENCH_KEEP(m->to.ids);
    }
    return true;
}

static bool measure(const bench_case *about, bench_result *result, bench_work *work, uint64_t ids) {
    static maker m; /* static for its size */
    uint64_t burst = 0;
    if (!open_maker(&m, about, result)) {
        return false;
    }
    double ns = bench_median(work, rest, &m, most_of(&m, ids), &burst);
    return finish(&m, about, result, ns < 0 ? ns : ns / (double)ids, burst * ids);
}

bool bench_next(const bench_case *about, bench_result *result) {
    return measure(about, result, work_next, 1);
}

bool bench_bulk_u64(const bench_case *about, bench_result *result) {
    return measure(about, result, work_u64, BULK_U64);
}

bool bench_bulk_id(const bench_case *about, bench_result *result) {
    return measure(about, result, work_ids, BULK_ID);
}

/* ---- two threads on one generator ----------------------------------------------------------- */

typedef struct racer {
    maker *m;
    pthread_barrier_t *gate;
    firn_error error;
    uint64_t n;
    int cpu;
    double start, end;
    bool fine;
} racer;

static void *race(void *context) {
    racer *r = context;
    firn_id id;
    r->fine = bench_pin(r->cpu);
    pthread_barrier_wait(r->gate);
    r->start = bench_now_ns();
    for (uint64_t i = 0; i < r->n && r->fine; i++) {
        r->fine = firn_next(r->m->gen, &id, &r->error) == FIRN_OK;
        BENCH_KEEP(id);
    }
    r->end = bench_now_ns();
    return NULL;
}

/* From the first start to the last end; below 0: failed. */
static double race_once(maker *m, uint64_t n) {
    pthread_barrier_t gate;
    pthread_t threads[2];
    racer racers[2];
    pthread_barrier_init(&gate, NULL, 2);
    for (int i = 0; i < 2; i++) {
        racers[i] = (racer){.m = m, .gate = &gate, .n = n, .cpu = i};
        if (pthread_create(&threads[i], NULL, race, &racers[i]) != 0) {
            abort(); /* the other one would wait for ever */
        }
    }
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    pthread_barrier_destroy(&gate);
    m->error = racers[0].fine ? racers[1].error : racers[0].error;
    double start = racers[0].start < racers[1].start ? racers[0].start : racers[1].start;
    double end = racers[0].end > racers[1].end ? racers[0].end : racers[1].end;
    return racers[0].fine && racers[1].fine ? end - start : -1;
}

bool bench_threads(const bench_case *about, bench_result *result) {
    static maker m;
    const uint64_t n = 1 << 18; /* long enough that the start of a thread does not count */
    double times[BENCH_REPEATS];
    if (!bench_pin(1)) {
        snprintf(result->note, sizeof result->note, "needs two processors");
        return false;
    }
    if (!open_maker(&m, about, result)) {
        return false;
    }
    double took = race_once(&m, n);
    for (int i = 0; i < BENCH_REPEATS && took >= 0; i++) {
        rest(&m);
        took = race_once(&m, n);
        times[i] = took / (double)(2 * n);
    }
    return finish(&m, about, result, took < 0 ? -1 : bench_middle(times, BENCH_REPEATS), 2 * n);
}

/* ---- the bare loop -------------------------------------------------------------------------- */

/* What clock=tick cannot go below: the coarse clock, one compare-and-swap, the packing of a
 * snowflake. */
static bool work_bare(void *context, uint64_t n) {
    _Atomic uint64_t *cursor = context;
    for (uint64_t i = 0; i < n; i++) {
        struct timespec now;
        uint64_t slot, next;
        clock_gettime(CLOCK_REALTIME_COARSE, &now);
        uint64_t tick = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
        uint64_t first = (tick - UINT64_C(1288834974657)) * 4096;
        slot = atomic_load_explicit(cursor, memory_order_relaxed);
        do {
            next = slot + 1 > first ? slot + 1 : first;
        } while (!atomic_compare_exchange_weak(cursor, &slot, next));
        uint64_t id = next / 4096 * (1 << 22) + 33 * 4096 + next % 4096;
        BENCH_KEEP(id);
    }
    return true;
}

bool bench_bare(const bench_case *about, bench_result *result) {
    static _Atomic uint64_t cursor;
    uint64_t burst = 0;
    (void)about;
    result->ns = bench_median(work_bare, NULL, &cursor, UINT64_MAX / 4, &burst);
    snprintf(result->note, sizeof result->note,
             "coarse clock, compare-and-swap, pack; bursts of %" PRIu64, burst);
    return true;
}
