/* SPDX-License-Identifier: MIT */
/* Generators that are measured: by call, in bulk and from two threads. Their store is in memory,
 * so a renewal costs next to nothing. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BULK_U64 = 1024, BULK_ID = 256 }; /* 8 KiB: the caller's buffer stays in the nearest cache */
#define LEAD_NS 300000000                /* below max_lead, even after one burst */

typedef struct maker {
    const bench_api *api;
    firn_gen *gen;
    bench_run *run;
} maker;

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

/* Sleeps until the clock has caught up with the IDs, when they are far ahead. */
static void rest(void *context) {
    maker *m = context;
    firn_status status = {.size = sizeof status};
    m->api->gen_status(m->gen, &status);
    if (status.lead_ns > LEAD_NS) {
        struct timespec nap = {status.lead_ns / 1000000000, status.lead_ns % 1000000000};
        nanosleep(&nap, NULL);
    }
}

static void close_maker(bench_run *run) {
    maker *m = run->context;
    m->api->close(m->gen, NULL);
    free(m);
}

static bool open_maker(bench_run *run, bool (*work)(void *, uint64_t), uint64_t ids) {
    const bench_case *about = run->about;
    maker *m = calloc(1, sizeof *m);
    firn_error error = {.text = "out of memory"};
    firn_config config = {.size = sizeof config,
                          .scheme = about->scheme,
                          .keys = about->keys,
                          .store_url = "memory:"};
    if (m == NULL || run->api->open_with(&m->gen, &config, &error) != FIRN_OK) {
        snprintf(run->note, sizeof run->note, "%.150s", error.text);
        free(m);
        return false;
    }
    m->api = run->api;
    m->run = run;
    run->context = m;
    run->work = work;
    run->rest = rest;
    run->close = close_maker;
    run->ids = (double)ids;
    run->sustained_ns = layout_ns(m->api->gen_scheme(m->gen));
    snprintf(run->note, sizeof run->note, "%s%s%s", about->scheme,
             about->keys[0] != '\0' ? ", " : "", about->keys);
    return true;
}

static bool failed(const maker *m, const firn_error *error) {
    snprintf(m->run->note, sizeof m->run->note, "%.150s", error->text);
    return false;
}

/* ---- work: any thread ------------------------------------------------------------------------ */

static bool work_next(void *context, uint64_t n) {
    maker *m = context;
    __typeof__(m->api->next) next = m->api->next;
    firn_error error;
    firn_id id;
    for (uint64_t i = 0; i < n; i++) {
        if (next(m->gen, &id, &error) != FIRN_OK) {
            return failed(m, &error);
        }
        BENCH_KEEP(id);
    }
    return true;
}

static bool next_ids(maker *m, uint64_t n, size_t count) {
    __typeof__(m->api->next_n) next_n = m->api->next_n;
    firn_id ids[BULK_ID];
    firn_error error;
    for (uint64_t i = 0; i < n; i++) {
        if (next_n(m->gen, ids, count, &error) != FIRN_OK) {
            return failed(m, &error);
        }
        BENCH_KEEP(ids);
    }
    return true;
}

static bool next_numbers(maker *m, uint64_t n, size_t count) {
    __typeof__(m->api->next_u64) next_u64 = m->api->next_u64;
    uint64_t numbers[BULK_U64];
    firn_error error;
    for (uint64_t i = 0; i < n; i++) {
        if (next_u64(m->gen, numbers, count, &error) != FIRN_OK) {
            return failed(m, &error);
        }
        BENCH_KEEP(numbers);
    }
    return true;
}

static bool work_one(void *context, uint64_t n) {
    return next_ids(context, n, 1);
}
static bool work_one_u64(void *context, uint64_t n) {
    return next_numbers(context, n, 1);
}
static bool work_ids(void *context, uint64_t n) {
    return next_ids(context, n, BULK_ID);
}
static bool work_u64(void *context, uint64_t n) {
    return next_numbers(context, n, BULK_U64);
}

/* ---- cases ----------------------------------------------------------------------------------- */

bool bench_next(bench_run *run) {
    return open_maker(run, work_next, 1);
}
bool bench_next_one(bench_run *run) {
    return open_maker(run, work_one, 1);
}
bool bench_next_one_u64(bench_run *run) {
    return open_maker(run, work_one_u64, 1);
}
bool bench_bulk_u64(bench_run *run) {
    return open_maker(run, work_u64, BULK_U64);
}
bool bench_bulk_id(bench_run *run) {
    return open_maker(run, work_ids, BULK_ID);
}

uint64_t bench_contended(const bench_run *run) {
    const maker *m = run->context;
    firn_status status = {.size = sizeof status};
    m->api->gen_status(m->gen, &status);
    return status.contended;
}

bool bench_two_threads(bench_run *run) {
    if (bench_processors() < 2) {
        snprintf(run->note, sizeof run->note, "needs two processors");
        return false;
    }
    run->threads = 2;
    return open_maker(run, work_next, 1);
}
