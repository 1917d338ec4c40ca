/* SPDX-License-Identifier: MIT */
/* One segment, and the lists of segments that need a step. */
#include "segment.h"

#include "errors.h"
#include "log.h"
#include "monotonic.h"
#include "no_store.h"

#include <stdlib.h>
#include <string.h>

enum {
    STEP_MS = 1000, /* the longest time between two rounds */
    ROUND_MS = 20   /* limit of one round: windows and tasks must not starve */
};

static segment *_Atomic due_segments[RENEWERS_MAX]; /* most recent first */

/* Checks the keys with no_store. */
int segment_make(segment **out, const char *name, const char *keys, firn_error *error) {
    firn_segment *range = NULL;
    segment *it = aligned_alloc(64, sizeof *it);
    if (it == NULL) {
        return set_error(error, FIRN_EMEMORY, "out of memory for a segment");
    }
    memset(it, 0, sizeof *it);
    for (int i = 0; i < WORKERS_MAX; i++) {
        atomic_store_explicit(&it->by[i].value, INT64_MIN, memory_order_seq_cst);
    }
    int code = take_configured(it->name, sizeof it->name, name, "name of a segment", error);
    if (code == FIRN_OK) {
        code = take_configured(it->keys, sizeof it->keys, keys, "line of keys", error);
    }
    if (code == FIRN_OK) {
        code = firn_segment_open(&range, name, it->keys, no_store(), NULL, error);
    }
    if (code != FIRN_OK) {
        free(it);
        return code;
    }
    it->increment = firn_segment_increment(range);
    firn_segment_close(range, NULL);
    *out = it;
    return FIRN_OK;
}

void segment_free(segment *it) {
    if (it != NULL) {
        firn_segment_close(atomic_load_explicit(&it->range, memory_order_seq_cst), NULL);
        free(it);
    }
}

int segment_open(segment *it, firn_error *error) {
    firn_segment *range;
    int64_t wait_ms;
    firn_store *store = renewer_store(it->renewer, error);
    int code = store == NULL ? error->code
                             : firn_segment_open(&range, it->name, it->keys, store, NULL, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = firn_segment_step(range, &wait_ms, error);
    if (code == FIRN_OK) {
        atomic_store_explicit(&it->range, range, memory_order_release);
    } else {
        firn_segment_close(range, NULL);
    }
    return code;
}

int segment_fetch(segment *it, int64_t count, int64_t *first, firn_error *error) {
    bool due = false;
    uint64_t calls = renewer_calls(it->renewer);
    firn_segment *range = atomic_load_explicit(&it->range, memory_order_seq_cst);
    int code = range == NULL ? set_error(error, FIRN_EWINDOW, "%s is not open", it->name)
                             : firn_segment_exact(range, count, true, first, &due, error);
    if (code == FIRN_OK && renewer_calls(it->renewer) != calls) {
        last_error_set(&it->failed, "segment", it->name, code, error);
    }
    if (due) {
        segment_want(it);
    }
    return code;
}

/* ---- counting -------------------------------------------------------------------------------- */

uint64_t segment_issued(const segment *it) {
    uint64_t sum = 0;
    for (int i = 0; i < WORKERS_MAX; i++) {
        sum += atomic_load_explicit(&it->by[i].issued, memory_order_relaxed);
    }
    return sum;
}

int64_t segment_last(const segment *it) {
    int64_t last = INT64_MIN;
    for (int i = 0; i < WORKERS_MAX; i++) {
        int64_t one = atomic_load_explicit(&it->by[i].value, memory_order_relaxed);
        last = one > last ? one : last;
    }
    return last;
}

void segment_count(segment *it, const worker *by, int64_t last, uint64_t n) {
    _Atomic int64_t *value = &it->by[by->index].value;
    if (last > atomic_load_explicit(value, memory_order_relaxed)) {
        atomic_store_explicit(value, last, memory_order_relaxed);
    }
    meter_add(&it->by[by->index].issued, n);
}

/* ---- renewing -------------------------------------------------------------------------------- */

/* Adds it to its renewer's list, once: `due` is true from before until it is removed. */
static void list_due(segment *it) {
    segment *_Atomic *list = &due_segments[renewer_index(it->renewer)];
    it->next_due = atomic_load_explicit(list, memory_order_seq_cst);
    while (!atomic_compare_exchange_weak_explicit(list, &it->next_due, it, memory_order_seq_cst,
                                                  memory_order_seq_cst)) {
    }
}

void segment_want(segment *it) {
    if (!atomic_load_explicit(&it->due, memory_order_relaxed) &&
        !atomic_exchange_explicit(&it->due, true, memory_order_seq_cst)) {
        list_due(it);
        renewer_wake(it->renewer);
    }
}

static void step(segment *it, bool *news) {
    firn_error error;
    firn_segment *range = atomic_load_explicit(&it->range, memory_order_seq_cst);
    int64_t wait_ms;
    uint64_t calls = renewer_calls(it->renewer);
    atomic_store_explicit(&it->due, false,
                          memory_order_seq_cst); /* first, so that later requests list it again */
    int code =
        range == NULL ? segment_open(it, &error) : firn_segment_step(range, &wait_ms, &error);
    bool asked = code != FIRN_OK || renewer_calls(it->renewer) != calls;
    if (asked) {
        last_error_set(&it->failed, "segment", it->name, code, &error);
    }
    if (atomic_load_explicit(&it->failed.code, memory_order_seq_cst) == FIRN_OK) {
        it->pause_ms = 0;
        it->next_ms = 0;
        atomic_store_explicit(&it->late, false, memory_order_seq_cst);
        *news = true;
    } else { /* or a retry is not allowed yet */
        it->next_ms = monotonic_ms() + retry_pause_ms(&it->pause_ms);
        if (!atomic_exchange_explicit(&it->due, true, memory_order_seq_cst)) {
            list_due(it);
        }
    }
}

int64_t segments_step(const renewer *of, bool *news) {
    int64_t wait_ms = STEP_MS, since = monotonic_ms();
    segment *next;
    for (segment *it =
             atomic_exchange_explicit(&due_segments[renewer_index(of)], NULL, memory_order_seq_cst);
         it != NULL; it = next) {
        int64_t now = monotonic_ms(), left = it->next_ms - now;
        next = it->next_due; /* before it is listed again */
        if (left > 0 || now - since > ROUND_MS) {
            list_due(it); /* reverses the order, so that the last one is next */
        } else {
            step(it, news);
            left = it->next_ms == 0 ? STEP_MS : it->next_ms - monotonic_ms();
        }
        wait_ms = left < wait_ms ? left : wait_ms;
    }
    return wait_ms;
}

void segment_close(segment *it) {
    firn_error error;
    firn_segment *range = atomic_exchange_explicit(&it->range, NULL, memory_order_seq_cst);
    if (range != NULL && firn_segment_close(range, &error) != FIRN_OK) {
        log_event(LOG_LEVEL_WARNING, "block not given back", "segment", it->name, "why", error.text,
                  NULL);
    }
}

void segments_forget(void) {
    for (size_t i = 0; i < RENEWERS_MAX; i++) {
        atomic_store_explicit(&due_segments[i], NULL, memory_order_seq_cst);
    }
}
