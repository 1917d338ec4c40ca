/* SPDX-License-Identifier: MIT */
/* IDs that are a slot each: a sequence, or a bare time. The long way of a call; the short one is in
 * issue.h. */
#include "error.h"
#include "issue.h"

#include <inttypes.h>

/* n slots the long way: judge the clock, renew or claim, then grab. The thread remembers the
 * window. */
static FIRN__COLD int take_slow(firn_gen *gen, int64_t n, uint64_t *slot, firn_error *error) {
    firn__thread_view *seen = firn__thread_view_of(gen);
    bool starts = gen->start != FIRN_START_ZERO, changed;
    uint64_t tick;
    if (gen->keys.nodes > 1 && seen->lane == 0) { /* the first call takes its turn */
        int code = firn__present(gen, firn__window_look(gen, 0), &tick, &changed, error);
        if (code != FIRN_OK) {
            return code;
        }
    }
    uint32_t k = firn__window_index(gen);
    for (int i = 0; i < FIRN__TRIES; i++) {
        *slot = 0;
        firn__window_view looked = firn__window_look(gen, k);
        int code = firn__present(gen, looked, &tick, &changed, error);
        if (code != FIRN_OK) {
            return code;
        }
        if (changed) {
            continue;
        }
        firn__window *window = looked.window;
        enum firn__grab result = FIRN__GRAB_CLOSED;
        if (seen->era != FIRN__NO_ERA) {
            result = firn__grab(gen, seen, firn__cursor_of(window), (uint64_t)n,
                                firn__seen_limit(gen, seen), starts, slot, error);
            if (result == FIRN__GRAB_SOFT && (int64_t)*slot + n <= firn__end_of(window)) {
                firn__need early = {window, tick, seen->steps, (int64_t)*slot + n, n, false};
                firn__ask(gen, k, &early, NULL); /* early: the result does not matter */
                const uint64_t end = (uint64_t)firn__end_of(window),
                               lead = firn__seen_lead(gen, seen);
                result = firn__grab(gen, seen, firn__cursor_of(window), (uint64_t)n,
                                    end < lead ? end : lead, starts, slot, error);
            }
        }
        if (result == FIRN__GRAB_DONE) {
            return FIRN_OK;
        }
        if (result == FIRN__GRAB_LEAD && firn__gen_move_on(gen)) {
            continue;
        }
        if (result == FIRN__GRAB_LEAD) {
            return firn__gen_exhausted(gen, error);
        }
        if (result == FIRN__GRAB_ENTROPY) {
            return FIRN_EENTROPY;
        }
        firn__need need = {window, tick, seen->steps, (int64_t)*slot + n, n, true};
        code = firn__ask(gen, k, &need, error);
        if (code != FIRN_OK) {
            return code;
        }
    }
    return firn_error_set(error, FIRN_EWINDOW, FIRN_CURE_TRY_AGAIN,
                          "the window of %s changed hands %d times during one call: try again",
                          gen->ns, FIRN__TRIES);
}

int firn__issue_slots(firn_gen *gen, firn__sink sink, size_t n, firn_error *error) {
    firn__thread_view *seen = firn__thread_view_of(gen);
    firn__window_view looked = firn__window_look(gen, firn__window_index(gen));
    uint64_t slot;
    int code = FIRN_OK;
    /* A leased block is before these: it is dropped, to keep the thread's order. */
    seen->next_end = gen->blocks ? 0 : seen->next_end;
    if (!firn__recent(gen, looked, seen) || !firn__take(gen, seen, n, &slot) ||
        !firn__is_mine(gen, seen)) {
        code = take_slow(gen, (int64_t)n, &slot, error);
    }
    firn__taken_slots taken = {seen->base_tick, (int64_t)slot, seen->base};
    return code == FIRN_OK ? firn__fill(gen, &taken, sink, n, true, error) : code;
}

/* Reserves exactly these slots. */
static int reserve_online(firn_gen *gen, size_t n, firn__window *window, uint64_t *steps,
                          firn_error *error) {
    uint64_t tick;
    bool changed;
    int code = firn__present(gen, firn__window_look(gen, 0), &tick, &changed, error);
    if (code == FIRN_OK && gen->has_renewer) {
        return firn__fail(error, FIRN_EUSAGE,
                          "mode=online asks the store in every call: leave has_renewer out");
    }
    if (code == FIRN_OK) {
        *steps = firn__thread_view_of(gen)->steps;
        memset(window, 0, sizeof *window);
        pthread_mutex_lock(&gen->live->locked.lock);
        code = firn__claim_online(gen, tick, (int64_t)n, window, error);
        pthread_mutex_unlock(&gen->live->locked.lock);
    }
    return code;
}

int firn__issue_online(firn_gen *gen, firn__sink sink, size_t n, firn_error *error) {
    firn__window window;
    uint64_t steps = UINT64_MAX;
    int code = reserve_online(gen, n, &window, &steps, error);
    if (steps != UINT64_MAX && firn__window_is_void(gen, steps, code)) {
        code = reserve_online(gen, n, &window, &steps, error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    firn__taken_slots out = {window.base_tick, window.first, window.base};
    return firn__fill(gen, &out, sink, n, true, error);
}
