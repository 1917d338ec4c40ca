/* SPDX-License-Identifier: MIT */
/* IDs with random bits and without a sequence: their slot only keeps the tick from falling. */
#include "entropy.h"
#include "error.h"
#include "issue.h"

/* False: the window was closed, or the clock was ahead once. */
static bool take_tick(const firn_gen *gen, firn__window *window, uint64_t tick,
                      firn__taken_slots *out) {
    *out = (firn__taken_slots){window->base_tick, 0, window->base};
    int64_t now = gen->scheme.tick_ns == 0 ? 0 : firn__slot_of(gen, window, tick);
    atomic_thread_fence(memory_order_acquire); /* the above was whole if the window is open below */
    uint64_t cursor = atomic_load_explicit(&window->cursor, memory_order_acquire);
    do {
        if (!(cursor & FIRN__OPEN)) {
            return false;
        }
        out->slot = (int64_t)(cursor & ~FIRN__OPEN);
        if (gen->scheme.tick_ns != 0 &&
            out->slot > firn__lead_end(gen, now) + (int64_t)((gen->back_ticks + 1) << gen->s)) {
            return false; /* firn__present sees the step */
        }
        out->slot = now > out->slot ? now : out->slot;
    } while ((uint64_t)out->slot != (cursor & ~FIRN__OPEN) &&
             !atomic_compare_exchange_weak_explicit(&window->cursor, &cursor,
                                                    FIRN__OPEN | (uint64_t)out->slot,
                                                    memory_order_acq_rel, memory_order_acquire));
    return true;
}

bool firn__next_random(firn_gen *gen, firn_id *id) {
    firn__taken_slots out;
    firn_value random = {0, 0};
    firn__window_view looked = firn__window_look(gen, 0);
    firn__thread_view *seen = firn__thread_view_of(gen);
    if (!firn__recent(gen, looked, seen) || !take_tick(gen, looked.window, seen->tick, &out) ||
        !firn__block_take(&random, gen->masked.size > 8)) {
        return false;
    }
    firn__masked_into(gen, &out.base, random);
    firn__draw draw = {out.base_tick + ((uint64_t)out.slot >> gen->s),
                       (uint64_t)out.slot & gen->count_mask,
                       {0, 0}};
    firn__gen_pack(gen, &draw, &out.base, id);
    return true;
}

/* ---- the long way ---------------------------------------------------------------------------- */

int firn__issue_random(firn_gen *gen, firn__sink sink, size_t n, firn_error *error) {
    firn__taken_slots out;
    firn__window_view looked = firn__window_look(gen, 0);
    const firn__thread_view *seen = firn__thread_view_of(gen);
    bool timed = gen->scheme.tick_ns != 0;
    bool ready =
        timed ? firn__recent(gen, looked, firn__thread_view_of(gen)) : looked.window != NULL;
    ready = ready && atomic_load_explicit(&gen->live->any.blocked, memory_order_relaxed) == 0;
    uint64_t tick = seen->tick;
    for (int i = 0; !ready || !take_tick(gen, looked.window, tick, &out); i++) {
        int code = i == FIRN__TRIES ? firn__fail(error, FIRN_ECLOCK,
                                                 "the clock keeps stepping back: see timedatectl")
                                    : firn__ensure(gen, &looked, &tick, 1, error);
        if (code != FIRN_OK) {
            return code;
        }
        ready = true;
    }
    return firn__fill(gen, &out, sink, n, false, error);
}
