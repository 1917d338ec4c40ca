/* SPDX-License-Identifier: MIT */
/* When the server started, whether it is stopping, whether it is ready. */
#include "server.h"

#include "catalog.h"
#include "series.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

/* A failure that every server on the store has until a person acts: a segment at its end, a store
 * that lost reservations, a layout at its end. Readiness is about this server: clients that it
 * turns away would find the same elsewhere, and everything else fails with them. */
static bool is_shared_failure(int code) {
    return code == FIRN_EEXHAUSTED || code == FIRN_EEND || code == FIRN_EBACK ||
           code == FIRN_ELAYOUT;
}

/* Late additions count only once they have issued: a mistake in a new section must not take a
 * working server out of rotation. */
static bool generator_is_ready(const server_generator *generator) {
    firn_gen *gen = atomic_load_explicit(&generator->gen, memory_order_acquire);
    firn_status status = {.size = sizeof status};
    if (generator->renewer == NULL ||
        atomic_load_explicit(&generator->late, memory_order_seq_cst)) {
        return true;
    }
    if (gen == NULL) {
        return false;
    }
    firn_gen_status(gen, &status);
    if (is_shared_failure(atomic_load_explicit(&generator->failed.code, memory_order_seq_cst))) {
        return true;
    }
    bool renewed = atomic_load_explicit(&generator->failed.code, memory_order_seq_cst) == FIRN_OK &&
                   renewer_answers(generator->renewer);
    return status.held && (renewed || generator_window_ms(generator) >= 0);
}

static bool segment_is_ready(const server_segment *segment) {
    firn_segment *range = atomic_load_explicit(&segment->range, memory_order_acquire);
    bool fetched = atomic_load_explicit(&segment->failed.code, memory_order_seq_cst) == FIRN_OK &&
                   renewer_answers(segment->renewer);
    return atomic_load_explicit(&segment->late, memory_order_seq_cst) ||
           is_shared_failure(atomic_load_explicit(&segment->failed.code, memory_order_seq_cst)) ||
           (range != NULL && (fetched || firn_segment_left(range) > 0));
}

static void log_state(char why[SERVER_WHY_SIZE], const char *what, const char *name, bool open,
                      int code, const char *text) {
    snprintf(why, SERVER_WHY_SIZE, "%s %s: %s", what, name,
             code != FIRN_OK ? text
             : open          ? "nothing is left to issue, and the store does not answer"
                             : "not open yet");
}

/* The reason of the first that cannot issue. */
static bool find_unready(char why[SERVER_WHY_SIZE]) {
    const server_generator *g;
    const server_segment *s;
    firn_error error;
    for (size_t i = 0; (g = catalog_generator_at(i)) != NULL; i++) {
        if (!atomic_load_explicit(&g->idle, memory_order_seq_cst) && !generator_is_ready(g)) {
            log_state(why, "generator", g->name,
                      atomic_load_explicit(&g->gen, memory_order_seq_cst) != NULL,
                      last_error_get(&g->failed, &error), error.text);
            return true;
        }
    }
    for (size_t i = 0; (s = catalog_segment_at(i)) != NULL; i++) {
        if (!segment_is_ready(s)) {
            log_state(why, "segment", s->name,
                      atomic_load_explicit(&s->range, memory_order_seq_cst) != NULL,
                      last_error_get(&s->failed, &error), error.text);
            return true;
        }
    }
    return false;
}

/* The reason of the first that fails on every server. */
static void find_shared_failure(char why[SERVER_WHY_SIZE]) {
    const server_generator *g;
    const server_segment *s;
    firn_error error;
    for (size_t i = 0; (g = catalog_generator_at(i)) != NULL && why[0] == '\0'; i++) {
        if (is_shared_failure(last_error_get(&g->failed, &error))) {
            log_state(why, "generator", g->name, true, error.code, error.text);
        }
    }
    for (size_t i = 0; (s = catalog_segment_at(i)) != NULL && why[0] == '\0'; i++) {
        if (is_shared_failure(last_error_get(&s->failed, &error))) {
            log_state(why, "segment", s->name, true, error.code, error.text);
        }
    }
}

/* The shortest remaining window. */
static int64_t least_window_ms(void) {
    int64_t least = WINDOW_MOST_MS;
    const server_generator *g;
    for (size_t i = 0; (g = catalog_generator_at(i)) != NULL; i++) {
        bool counts = g->renewer != NULL && !atomic_load_explicit(&g->idle, memory_order_seq_cst) &&
                      !atomic_load_explicit(&g->late, memory_order_seq_cst);
        int64_t left = counts ? generator_window_ms(g) : WINDOW_MOST_MS;
        least = left < least ? left : least;
    }
    return least;
}

/* Does that store serve something that is not late? `able`: something that can still issue. */
static bool renewer_serves(size_t index, bool able) {
    const server_generator *g;
    const server_segment *s;
    const server_series *numbered;
    for (size_t i = 0; (g = catalog_generator_at(i)) != NULL; i++) {
        if (g->renewer != NULL && renewer_index(g->renewer) == index &&
            !atomic_load_explicit(&g->late, memory_order_seq_cst) &&
            (!able || (atomic_load_explicit(&g->gen, memory_order_seq_cst) != NULL &&
                       !atomic_load_explicit(&g->idle, memory_order_seq_cst)))) {
            return true;
        }
    }
    for (size_t i = 0; (s = catalog_segment_at(i)) != NULL; i++) {
        if (renewer_index(s->renewer) == index &&
            !atomic_load_explicit(&s->late, memory_order_seq_cst)) {
            return true;
        }
    }
    for (size_t i = 0; !able && (numbered = catalog_series_at(i)) != NULL; i++) {
        if (!numbered->late && renewer_index(numbered->renewer) == index) {
            return true;
        }
    }
    return false;
}

/* Must that store answer? The default store of a server that started with it must, too. */
static bool renewer_counts(size_t index) {
    return catalog_began_with(index) || renewer_serves(index, false);
}

bool catalog_ready(char why[SERVER_WHY_SIZE]) {
    renewer_state state;
    why[0] = '\0';
    if (find_unready(why)) {
        return false;
    }
    for (size_t i = 0; renewer_look(i, &state); i++) {
        if (!state.usable && renewer_counts(i) && !renewer_serves(i, true)) {
            snprintf(why, SERVER_WHY_SIZE, "store %s: %s", state.url, state.trouble);
            return false;
        }
        if (!state.usable) {
            int64_t left = least_window_ms();
            if (left < 0 || left == WINDOW_MOST_MS) {
                snprintf(why, SERVER_WHY_SIZE,
                         "store %s: %s; integers already fetched are still issued", state.url,
                         state.trouble);
            } else {
                snprintf(why, SERVER_WHY_SIZE, "store %s: %s; windows last another %" PRId64 " ms",
                         state.url, state.trouble, left);
            }
        }
    }
    find_shared_failure(why);
    return true;
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static struct timespec began; /* written before any thread starts */
static atomic_bool leaving;

void server_begin(void) {
    clock_gettime(CLOCK_BOOTTIME, &began);
}

int64_t server_uptime_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec - (int64_t)began.tv_sec;
}

void server_leave(void) {
    atomic_store_explicit(&leaving, true, memory_order_seq_cst);
}

bool server_is_leaving(void) {
    return atomic_load_explicit(&leaving, memory_order_relaxed);
}

bool server_is_ready(char why[SERVER_WHY_SIZE]) {
    if (server_is_leaving()) {
        snprintf(why, SERVER_WHY_SIZE, "the server is stopping");
        return false;
    }
    return catalog_ready(why);
}
