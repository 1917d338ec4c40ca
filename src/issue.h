/* SPDX-License-Identifier: MIT */
/* How IDs are issued from windows: the short way, which is inlined into each call, and what the
 * three kinds of issue share. Included by the files that issue, and by nobody else. */
#ifndef FIRN_ISSUE_H
#define FIRN_ISSUE_H

#include "entropy.h"
#include "now.h"

#include <string.h>

#define FIRN__TRIES 64 /* rounds of one call: another thread or process caused each repetition */
#define FIRN__BLOCK 64 /* slots a thread leases at once under ordering=thread */

/* Slots taken for the caller alone, and what they are packed with. */
typedef struct firn__taken_slots {
    uint64_t base_tick;
    int64_t slot; /* the first one */
    firn_id base;
} firn__taken_slots;

/* ---- slots ----------------------------------------------------------------------------------- */

enum firn__grab {
    FIRN__GRAB_DONE,
    FIRN__GRAB_SOFT,
    FIRN__GRAB_LEAD,
    FIRN__GRAB_CLOSED,
    FIRN__GRAB_ENTROPY
};

/* Takes n slots with one compare-and-swap of the cursor of the window that this thread remembers;
 * `found` is the cursor as loaded. The slots start at max(cursor, first slot of the present) and
 * end at `limit` (at most firn__seen_lead) or before. *slot is the first one, or the requested
 * one. */
FIRN__HOT enum firn__grab firn__grab(const firn_gen *gen, const firn__thread_view *seen,
                                     uint64_t found, uint64_t n, uint64_t limit, bool starts,
                                     uint64_t *slot, firn_error *error) {
    for (;;) {
        /* a closed cursor is beyond every limit */
        *slot = found ^ FIRN__OPEN;
        if (seen->least > *slot) {
            int64_t start = 0;
            if (starts && firn__gen_start(gen, &start, error) != FIRN_OK) {
                return FIRN__GRAB_ENTROPY;
            }
            *slot = seen->least + (uint64_t)start;
        }
        if (*slot + n > limit) { /* first the lead: nothing beyond it is worth a renewal */
            return !(found & FIRN__OPEN)                    ? FIRN__GRAB_CLOSED
                   : *slot + n > firn__seen_lead(gen, seen) ? FIRN__GRAB_LEAD
                                                            : FIRN__GRAB_SOFT;
        }
        if (atomic_compare_exchange_weak_explicit(&seen->window->cursor, &found,
                                                  FIRN__OPEN | (*slot + n), memory_order_acq_rel,
                                                  memory_order_acquire)) {
            return FIRN__GRAB_DONE;
        }
        firn__count(&gen->live->any.contended);
    }
}

static inline uint64_t firn__cursor_of(const firn__window *window) {
    return atomic_load_explicit(&window->cursor, memory_order_acquire);
}

/* Takes slots after firn__recent, as calls that are not direct do. False: the long way finds out
 * why. */
FIRN__HOT bool firn__take(const firn_gen *gen, firn__thread_view *seen, uint64_t n,
                          uint64_t *slot) {
    bool taken =
        firn__grab(gen, seen, firn__cursor_of(seen->window), n, firn__seen_limit(gen, seen),
                   gen->start != FIRN_START_ZERO, slot, NULL) == FIRN__GRAB_DONE;
    seen->next = taken ? *slot + n : seen->next;
    return taken;
}

/* ordering=thread: takes a slot of the block that this thread has leased. A new era drops the
 * block, whose slots then count as issued. False: the block is used up or its slots are before the
 * present. */
FIRN__HOT bool firn__take_leased(firn__thread_view *seen, uint64_t *slot) {
    *slot = seen->next;
    seen->next++;
    return *slot < seen->next_end && *slot >= seen->least;
}

/* The last check of a call that took slots: was the process forked since, by a handler of a
 * signal? */
FIRN__HOT bool firn__is_mine(const firn_gen *gen, const firn__thread_view *seen) {
    return firn__era_of(gen) == seen->era;
}

/* ---- from slots to IDs ----------------------------------------------------------------------- */

FIRN__HOT int firn__pack_slot(const firn_gen *gen, uint64_t base_tick, const firn_id *base,
                              uint64_t slot, firn_id *id, firn_error *error) {
    firn__draw draw = {base_tick + (slot >> gen->s), slot & gen->count_mask, {0, 0}};
    if (gen->random_bits > 0) {
        int code = firn__gen_random(gen, &draw.random, error);
        if (code != FIRN_OK) {
            return code;
        }
    }
    firn__gen_pack(gen, &draw, base, id);
    return FIRN_OK;
}

/* An ID without a time: the window's template and random bits. The template was complete if the
 * window is open after the template was read. */
FIRN__HOT bool firn__take_untimed(const firn_gen *gen, firn_id *id) {
    const firn__window *window = firn__window_of(gen, 0);
    firn_value random = {0, 0};
    if (window == NULL || !firn__block_take(&random, gen->masked.size > 8)) {
        return false;
    }
    uint64_t low = window->base.low, high = window->base.high;
    uint32_t top = window->base.top, bits = window->base.bits;
    atomic_thread_fence(memory_order_acquire);
    if (!(atomic_load_explicit(&window->cursor, memory_order_relaxed) & FIRN__OPEN)) {
        return false;
    }
    id->low = low | (random.low & gen->masked.mask.low);
    id->high = high | (random.high & gen->masked.mask.high);
    id->top = top;
    id->bits = bits;
    return true;
}

/* Where the IDs of one call go: whole IDs, or plain integers. */
typedef struct firn__sink {
    firn_id *ids;
    uint64_t *numbers;
} firn__sink;

static inline void firn__put(firn__sink sink, size_t i, const firn_id *id) {
    if (sink.ids != NULL) {
        sink.ids[i] = *id;
    } else {
        sink.numbers[i] = id->low;
    }
}

/* IDs written before a failure were not issued, and must not look issued. */
static inline void firn__wipe(firn__sink sink, size_t n) {
    if (sink.ids != NULL) {
        memset(sink.ids, 0, n * sizeof *sink.ids);
    } else {
        memset(sink.numbers, 0, n * sizeof *sink.numbers);
    }
}

/* ---- issue.c --------------------------------------------------------------------------------- */

/* Asks the renewer for window k: with need->must the call waits for its turn, else it only
 * tries. */
int firn__ask(firn_gen *gen, uint32_t k, const firn__need *need, firn_error *error);
/* The request for `ticks` more: the slots must end after the cursor and the present. */
firn__need firn__tick_need(const firn_gen *gen, firn__window *window, uint64_t tick, int64_t ticks);
/* A window that can issue that many ticks now, renewed if necessary: for schemes without slots. */
int firn__ensure(firn_gen *gen, firn__window_view *looked, uint64_t *tick, int64_t ticks,
                 firn_error *error);
/* n IDs of the slots from `from` on, all of them of its first slot unless `count`. */
int firn__fill(const firn_gen *gen, const firn__taken_slots *from, firn__sink to, size_t n,
               bool count, firn_error *error);

/* ---- issue_slots.c, issue_random.c, issue_counted.c ------------------------------------------ */

int firn__issue_slots(firn_gen *gen, firn__sink sink, size_t n, firn_error *error);
/* mode=online: exactly the requested IDs, directly from the store. */
int firn__issue_online(firn_gen *gen, firn__sink sink, size_t n, firn_error *error);
/* Issues one ID with random bits that need no packing, without a sequence. False: take the long
 * way; *id is unchanged. */
bool firn__next_random(firn_gen *gen, firn_id *id);
int firn__issue_random(firn_gen *gen, firn__sink sink, size_t n, firn_error *error);
int firn__issue_counted(firn_gen *gen, firn__sink sink, size_t n, firn_error *error);

#endif
