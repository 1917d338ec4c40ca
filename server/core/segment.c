/* SPDX-License-Identifier: MIT */
/* A segment, and the lists of segments that need a step. */
#include "segment.h"

#include "errors.h"
#include "log.h"
#include "monotonic.h"
#include "no_store.h"

#include <stdlib.h>
#include <string.h>

enum {
    STEP_MS = 1000, /* the longest time between two rounds */
    ROUND_MS = 20,  /* limit of one round: windows and tasks must not starve */
    LOOK_MS = 10000 /* between two looks at a reserve */
};

static server_segment *_Atomic due_segments[RENEWERS_MAX]; /* most recent first */
static server_segment *kept_segments[RENEWERS_MAX];        /* with a reserve */

/* Checks the keys with no_store. */
int segment_make(server_segment **out, const char *name, const char *keys, firn_error *error) {
    firn_segment *range = NULL;
    server_segment *segment = aligned_alloc(64, sizeof *segment);
    if (segment == NULL) {
        return set_error(error, FIRN_EMEMORY, "out of memory for a segment");
    }
    memset(segment, 0, sizeof *segment);
    atomic_store_explicit(&segment->kept, -1, memory_order_seq_cst);
    atomic_store_explicit(&segment->lasts_ms, -1, memory_order_seq_cst);
    for (int i = 0; i < WORKERS_MAX; i++) {
        atomic_store_explicit(&segment->tallies[i].value, INT64_MIN, memory_order_seq_cst);
    }
    int code =
        take_configured(segment->name, sizeof segment->name, name, "name of a segment", error);
    if (code == FIRN_OK) {
        code = take_configured(segment->keys, sizeof segment->keys, keys, "line of keys", error);
    }
    if (code == FIRN_OK) {
        code = firn_segment_open(&range, name, segment->keys, no_store(), NULL, error);
    }
    if (code != FIRN_OK) {
        free(segment);
        return code;
    }
    segment->increment = firn_segment_increment(range);
    firn_segment_close(range, NULL);
    *out = segment;
    return FIRN_OK;
}

void segment_free(server_segment *segment) {
    if (segment != NULL) {
        firn_segment_close(atomic_load_explicit(&segment->range, memory_order_seq_cst), NULL);
        firn_store_close(segment->own);
        free(segment);
    }
}

/* The store of its renewer, which must be there; with a reserve, a handle that need not. */
static int store_of(server_segment *segment, firn_store **store, firn_error *error) {
    char reserve[FIRN_NS_SIZE];
    if (keys_value(reserve, segment->keys, "reserve")[0] == '\0') {
        *store = renewer_store(segment->renewer, error);
        return *store != NULL ? FIRN_OK : error->code;
    }
    firn_store_options options = renewer_options(segment->renewer);
    options.later = true;
    firn_error why = {0};
    int code = FIRN_OK;
    if (segment->own == NULL) {
        server_segment **list = &kept_segments[renewer_index(segment->renewer)];
        code = firn_store_open(&segment->own, renewer_url(segment->renewer), &options, &why);
        if (code == FIRN_OK) {
            segment->next_kept = *list;
            *list = segment;
        }
    }
    *store = segment->own;
    if (code != FIRN_OK) {
        *error = why;
    } else if (why.code != FIRN_OK) { /* away, or its URL or password is wrong */
        log_event(LOG_LEVEL_WARNING, "store not reached", "segment", segment->name, "why", why.text,
                  NULL);
    }
    return code;
}

int segment_open(server_segment *segment, firn_error *error) {
    firn_segment *range;
    int64_t wait_ms;
    firn_store *store;
    int code = store_of(segment, &store, error);
    code = code == FIRN_OK
               ? firn_segment_open(&range, segment->name, segment->keys, store, NULL, error)
               : code;
    if (code != FIRN_OK) {
        return code;
    }
    code = firn_segment_step(range, &wait_ms, error);
    if (code == FIRN_OK) {
        atomic_store_explicit(&segment->range, range, memory_order_release);
    } else {
        firn_segment_close(range, NULL);
    }
    return code;
}

int segment_fetch(server_segment *segment, int64_t count, int64_t *first, firn_error *error) {
    bool due = false;
    uint64_t calls = renewer_calls(segment->renewer);
    firn_segment *range = atomic_load_explicit(&segment->range, memory_order_seq_cst);
    int code = range == NULL ? set_error(error, FIRN_EWINDOW, "%s is not open", segment->name)
                             : firn_segment_exact(range, count, true, first, &due, error);
    if (code == FIRN_OK && (segment->own != NULL || renewer_calls(segment->renewer) != calls)) {
        last_error_set(&segment->failed, "segment", segment->name, code, error);
    }
    if (due) {
        segment_want(segment);
    }
    return code;
}

/* ---- counting -------------------------------------------------------------------------------- */

uint64_t segment_issued(const server_segment *segment) {
    uint64_t sum = 0;
    for (int i = 0; i < WORKERS_MAX; i++) {
        sum += atomic_load_explicit(&segment->tallies[i].issued, memory_order_relaxed);
    }
    return sum;
}

int64_t segment_last(const server_segment *segment) {
    int64_t last = INT64_MIN;
    for (int i = 0; i < WORKERS_MAX; i++) {
        int64_t value = atomic_load_explicit(&segment->tallies[i].value, memory_order_relaxed);
        last = value > last ? value : last;
    }
    return last;
}

void segment_count(server_segment *segment, const server_worker *worker, int64_t last, uint64_t n) {
    _Atomic int64_t *value = &segment->tallies[worker->index].value;
    if (last > atomic_load_explicit(value, memory_order_relaxed)) {
        atomic_store_explicit(value, last, memory_order_relaxed);
    }
    meter_add(&segment->tallies[worker->index].issued, n);
}

/* ---- renewing -------------------------------------------------------------------------------- */

/* Adds it to its renewer's list, once: `due` is true from before until it is removed. */
static void list_due(server_segment *segment) {
    server_segment *_Atomic *list = &due_segments[renewer_index(segment->renewer)];
    segment->next_due = atomic_load_explicit(list, memory_order_seq_cst);
    while (!atomic_compare_exchange_weak_explicit(list, &segment->next_due, segment,
                                                  memory_order_seq_cst, memory_order_seq_cst)) {
    }
}

void segment_want(server_segment *segment) {
    if (!atomic_load_explicit(&segment->due, memory_order_relaxed) &&
        !atomic_exchange_explicit(&segment->due, true, memory_order_seq_cst)) {
        list_due(segment);
        renewer_wake(segment->renewer);
    }
}

static void step(server_segment *segment, bool *news) {
    firn_error error;
    firn_segment *range = atomic_load_explicit(&segment->range, memory_order_seq_cst);
    int64_t wait_ms;
    uint64_t calls = renewer_calls(segment->renewer);
    atomic_store_explicit(&segment->due, false,
                          memory_order_seq_cst); /* first, so that later requests list it again */
    int code =
        range == NULL ? segment_open(segment, &error) : firn_segment_step(range, &wait_ms, &error);
    bool asked =
        code != FIRN_OK || segment->own != NULL || renewer_calls(segment->renewer) != calls;
    if (asked) {
        last_error_set(&segment->failed, "segment", segment->name, code, &error);
    }
    if (atomic_load_explicit(&segment->failed.code, memory_order_seq_cst) == FIRN_OK) {
        segment->pause_ms = 0;
        segment->next_ms = 0;
        atomic_store_explicit(&segment->late, false, memory_order_seq_cst);
        *news = true;
    } else { /* or a retry is not allowed yet */
        segment->next_ms = monotonic_ms() + retry_pause_ms(&segment->pause_ms);
        if (!atomic_exchange_explicit(&segment->due, true, memory_order_seq_cst)) {
            list_due(segment);
        }
    }
}

/* Processes without a server use up the same reserve. A file that cannot be read gives nothing. */
static void look_at_reserves(const store_renewer *renewer) {
    const int64_t since = monotonic_ms();
    server_segment *segment = kept_segments[renewer_index(renewer)];
    for (; segment != NULL && monotonic_ms() - since <= ROUND_MS; segment = segment->next_kept) {
        firn_segment *range = atomic_load_explicit(&segment->range, memory_order_seq_cst);
        int64_t left = 0, lasts_ms = 0;
        if (range != NULL && since >= segment->look_ms) {
            (void)firn_segment_reserve(range, &left, &lasts_ms, NULL);
            atomic_store_explicit(&segment->kept, left, memory_order_seq_cst);
            atomic_store_explicit(&segment->lasts_ms, lasts_ms, memory_order_seq_cst);
            segment->look_ms = monotonic_ms() + LOOK_MS;
        }
    }
}

int64_t segments_step(const store_renewer *renewer, bool *news) {
    int64_t wait_ms = STEP_MS, since = monotonic_ms();
    server_segment *next;
    look_at_reserves(renewer);
    for (server_segment *segment = atomic_exchange_explicit(&due_segments[renewer_index(renewer)],
                                                            NULL, memory_order_seq_cst);
         segment != NULL; segment = next) {
        int64_t now = monotonic_ms(), left = segment->next_ms - now;
        next = segment->next_due; /* before it is listed again */
        if (left > 0 || now - since > ROUND_MS) {
            list_due(segment); /* reverses the order, so that the last one is next */
        } else {
            step(segment, news);
            left = segment->next_ms == 0 ? STEP_MS : segment->next_ms - monotonic_ms();
        }
        wait_ms = left < wait_ms ? left : wait_ms;
    }
    return wait_ms;
}

void segment_close(server_segment *segment) {
    firn_error error;
    firn_segment *range = atomic_exchange_explicit(&segment->range, NULL, memory_order_seq_cst);
    if (range != NULL && firn_segment_close(range, &error) != FIRN_OK) {
        log_event(LOG_LEVEL_WARNING, "block not given back", "segment", segment->name, "why",
                  error.text, NULL);
    }
}

void segments_forget(void) {
    for (size_t i = 0; i < RENEWERS_MAX; i++) {
        atomic_store_explicit(&due_segments[i], NULL, memory_order_seq_cst);
        kept_segments[i] = NULL;
    }
}
