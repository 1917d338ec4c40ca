/* SPDX-License-Identifier: MIT */
/* The generator's public calls: next, next_n, step, status. Lock-free on the way to an ID; sleeps
 * only where a policy says wait. The kinds of issue are in issue_*.c, opening is in open.c, windows
 * are kept by renewal.c. */
#include "duration.h"
#include "error.h"
#include "fork_memory.h"
#include "issue.h"
#include "machine.h"

#include <inttypes.h>
#include <string.h>

#define NAP_NS              INT64_C(1000000) /* one sleep of full=wait and back=wait */
#define UNLIKELY(condition) __builtin_expect(condition, 0) /* a jump that is not taken is free */
#define STEP_MS             100 /* a renewer looks at least so often: the clock may have stepped */

static int issue_once(firn_gen *gen, firn__sink sink, size_t n, firn_error *error) {
    switch (gen->kind) {
    case FIRN__KIND_COUNTED:
        return firn__issue_counted(gen, sink, n, error);
    case FIRN__KIND_RANDOM:
        return firn__issue_random(gen, sink, n, error);
    default:
        return firn__reserves(gen) && gen->keys.mode_ == FIRN__MODE_ONLINE
                   ? firn__issue_online(gen, sink, n, error)
                   : firn__issue_slots(gen, sink, n, error);
    }
}

/* If the node of this thread has no slot left, another node of the generator may have one: the
 * thread moves to that node and stays there. */
static int issue_anywhere(firn_gen *gen, firn__sink sink, size_t n, firn_error *error) {
    int code = issue_once(gen, sink, n, error);
    if (code != FIRN_EEXHAUSTED || gen->keys.nodes == 1) {
        return code;
    }
    firn__thread_view *seen = firn__thread_view_of(gen);
    uint32_t lane = seen->lane;
    for (uint32_t k = 1; k < (uint32_t)gen->keys.nodes; k++) {
        seen->lane = (lane - 1 + k) % (UINT32_C(1) << 30) + 1;
        seen->era = FIRN__NO_ERA; /* what the thread remembers is another window's */
        if (issue_once(gen, sink, n, NULL) == FIRN_OK) {
            return FIRN_OK;
        }
    }
    seen->lane = lane;
    seen->era = FIRN__NO_ERA;
    return code;
}

/* Would a nap help? Only where a policy says wait. */
static bool may_wait(const firn_gen *gen, int code) {
    bool back_waits = gen->keys.back_ == FIRN__BACK_WAIT ||
                      (gen->keys.back_ == FIRN__BACK_AUTO && firn__reserves(gen) && gen->fixed);
    return (code == FIRN_EEXHAUSTED && gen->keys.full_ == FIRN__FULL_WAIT) ||
           (code == FIRN_ECLOCK && back_waits) ||
           (code == FIRN_EBUSY &&
            atomic_load_explicit(&gen->live->any.busy_ms, memory_order_relaxed) <=
                gen->keys.max_wait_ms);
}

/* The number of IDs that max_lead allows at once if the generator is not ahead of its clock. */
static int64_t max_count(const firn_gen *gen) {
    bool counted = gen->kind == FIRN__KIND_COUNTED;
    uint32_t bits = counted ? gen->count_bits : 0;
    bool endless = gen->kind == FIRN__KIND_RANDOM || (counted && bits == 0) || bits > 30;
    return endless || gen->at_once > FIRN__AT_ONCE >> bits ? FIRN__AT_ONCE : gen->at_once << bits;
}

static FIRN__COLD int refuse_count(const firn_gen *gen, size_t n, int64_t most, firn_error *error) {
    return most == FIRN__AT_ONCE
               ? firn_error_set(
                     error, FIRN_ERANGE, FIRN_CURE_FEWER_IDS,
                     FIRN__VALUE("%zu") " IDs at once: ask for at most " FIRN__LIMIT("%" PRId64), n,
                     most)
               : firn_error_set(
                     error, FIRN_ERANGE, FIRN_CURE_FEWER_IDS,
                     FIRN__VALUE("%zu") " IDs at once are more than %s can issue within "
                                        "max_lead=%s"
                                        ": ask for at most " FIRN__LIMIT("%" PRId64) " at once",
                     n, gen->scheme.name, FIRN__MS(gen->keys.max_lead_ms), most);
}

static FIRN__COLD int issue(firn_gen *gen, firn__sink sink, size_t n, firn_error *error) {
    int64_t left = gen->keys.max_wait_ms * 1000000, now = 0;
    firn__wiped_look();
    /* Time of store calls counts as waiting, too. */
    int64_t since = firn__reserves(gen) ? firn__gen_begin(gen) : 0;
    if (n > (size_t)max_count(gen)) {
        return refuse_count(gen, n, max_count(gen), error);
    }
    int code = issue_anywhere(gen, sink, n, error);
    if (!may_wait(gen, code) ||
        (since == 0 && gen->clock->steady(gen->clock->self, &since) != FIRN_OK)) {
        return code;
    }
    while (may_wait(gen, code) && left > 0 &&
           gen->clock->steady(gen->clock->self, &now) == FIRN_OK &&
           now - since < gen->keys.max_wait_ms * 1000000) {
        gen->clock->pause(gen->clock->self, NAP_NS); /* no lock is held here */
        left -= NAP_NS;
        code = issue_anywhere(gen, sink, n, error);
    }
    return code;
}

static FIRN__COLD int next_otherwise(firn_gen *gen, firn_id *id, firn_error *error) {
    firn_id single;
    int code = issue(gen, (firn__sink){&single, NULL}, 1, error);
    if (code == FIRN_OK) {
        *id = single;
    }
    return code;
}

/* ordering=thread: a new block for this thread, whose first slot it takes. */
static __attribute__((noinline)) bool lease(const firn_gen *gen, firn__thread_view *seen,
                                            uint64_t *slot) {
    seen->next_end = 0;
    if (!firn__take(gen, seen, FIRN__BLOCK, slot)) {
        return false;
    }
    seen->next = *slot + 1;
    seen->next_end = *slot + FIRN__BLOCK;
    return true;
}

/* ---- one ID of a slot ------------------------------------------------------------------------ */

/* Begins a run of slots, whose IDs differ by gen->run.step, at this slot. */
static __attribute__((noinline)) void begin_run(const firn_gen *gen, firn__thread_view *seen,
                                                uint64_t slot) {
    const firn__draw draw = {seen->base_tick + (slot >> gen->s), slot & gen->count_mask, {0, 0}};
    const uint64_t position = gen->s > 0 ? slot : draw.tick;
    firn__gen_pack(gen, &draw, &seen->base, &seen->run_first);
    seen->run = slot;
    seen->run_end = slot + (gen->run.times - (position & gen->run.times)) + 1;
}

/* The ID of a slot that was taken. Random bits of the thread's block are there, or none are
 * needed. */
FIRN__HOT void put_slot(const firn_gen *gen, firn__thread_view *seen, uint64_t slot,
                        firn_value random, firn_id *id) {
    if (UNLIKELY(slot - seen->run >= seen->run_end - seen->run)) {
        begin_run(gen, seen, slot);
    }
    const uint64_t count = slot - seen->run;
    *id = (firn_id){
        (seen->run_first.low + count * gen->run.step.low) | (random.low & gen->masked.mask.low),
        (seen->run_first.high + count * gen->run.step.high) | (random.high & gen->masked.mask.high),
        seen->run_first.top, seen->run_first.bits};
}

static __attribute__((noinline)) int next_usual(firn_gen *gen, firn_id *id, firn_error *error) {
    firn__thread_view *seen = firn__thread_view_of(gen);
    firn__window_view looked = firn__window_look(gen, firn__window_index(gen));
    uint64_t slot;
    if (gen->way != FIRN__WAY_OTHER && firn__recent(gen, looked, seen) &&
        (gen->blocks ? firn__take_leased(seen, &slot) || lease(gen, seen, &slot)
                     : firn__take(gen, seen, 1, &slot))) {
        int code = firn__pack_slot(gen, seen->base_tick, &seen->base, slot, id, error);
        if (code != FIRN_OK || firn__is_mine(gen, seen)) { /* last: random bits take time */
            return code;
        }
        firn__wipe((firn__sink){id, NULL}, 1);
    }
    return next_otherwise(gen, id, error);
}

/* ---- the direct ways --------------------------------------------------------------------------

 * For almost every call. What it needs was computed when the clock was read, so it checks the age of that reading and
 * the era, adds once to the cursor and multiplies twice. It calls no function but the clock's, so
 * it saves no registers, and no write delays the next compare-and-swap. Other calls go the usual
 * way. */

FIRN__HOT bool is_young(const firn_gen *gen, const firn__thread_view *seen) {
    return firn__cycles() - seen->counter <
           atomic_load_explicit(&gen->live->watch.stale_cycles, memory_order_relaxed);
}

/* Does the coarse clock show what it showed at the last reading? */
FIRN__HOT bool is_same_tick(firn__thread_view *seen) {
    return clock_gettime(CLOCK_REALTIME_COARSE, &seen->coarse) == 0 &&
           seen->coarse.tv_nsec == seen->wall.ns && seen->coarse.tv_sec == seen->wall.sec;
}

FIRN__HOT bool is_era(const firn_gen *gen, const firn__thread_view *seen) {
    return atomic_load_explicit(&gen->live->any.era, memory_order_acquire) == seen->era;
}

/* Takes a slot by what the thread remembers: a window, and a time that was read after the window
 * was loaded. The same era means that both still count.
 *
 * The cursor is advanced by an addition, which never fails for another thread's sake, and nothing
 * loads the cursor before, so its cache line moves once per ID. An addition can't be refused, so a
 * thread adds only if the cursor, where it saw it last, is in the present and further before the
 * limit than there are threads. The sum tells it where the cursor is, so no thread adds twice within
 * that distance, and all of them together stay before the limit. (A thread whose last reading is
 * older than another's reading, or than another thread, can add one beyond its limit.) A slot of a
 * closed window or beyond the limit is dropped for good. All other calls go the usual way, which
 * compares and swaps. */
FIRN__HOT bool take_directly(const firn_gen *gen, firn__thread_view *seen, bool coarse,
                             uint64_t *slot) {
    if ((coarse && UNLIKELY(!is_same_tick(seen))) || UNLIKELY(!is_era(gen, seen)) ||
        (!coarse && UNLIKELY(!is_young(gen, seen))) ||
        UNLIKELY(seen->next < seen->least || seen->next >= seen->next_end)) {
        return false;
    }
    *slot = UNLIKELY(gen->blocks) ? seen->next
                                  : FIRN__OPEN ^ atomic_fetch_add_explicit(&seen->window->cursor, 1,
                                                                           memory_order_acq_rel);
    seen->next = *slot + 1;
    return *slot < seen->limit && is_era(gen, seen); /* a closed one is beyond every limit */
}

FIRN__HOT int next_of_run(firn_gen *gen, bool coarse, firn_id *id, firn_error *error) {
    firn__thread_view *seen = firn__thread_view_of(gen);
    firn_value random = {0, 0};
    uint64_t slot;
    if ((gen->masked.size > 0 && UNLIKELY(!firn__block_take(&random, gen->masked.size > 8))) ||
        !take_directly(gen, seen, coarse, &slot)) {
        return next_usual(gen, id, error);
    }
    put_slot(gen, seen, slot, random, id);
    return FIRN_OK;
}

static __attribute__((noinline)) int next_run_tick(firn_gen *gen, firn_id *id, firn_error *error) {
    return next_of_run(gen, true, id, error);
}

static __attribute__((noinline)) int next_random(firn_gen *gen, firn_id *id, firn_error *error) {
    return firn__next_random(gen, id) ? FIRN_OK : next_otherwise(gen, id, error);
}

static __attribute__((noinline)) int next_untimed(firn_gen *gen, firn_id *id, firn_error *error) {
    return firn__take_untimed(gen, id) ? FIRN_OK : next_otherwise(gen, id, error);
}

int firn_next(firn_gen *gen, firn_id *id, firn_error *error) {
    const enum firn__way way = gen->way;
    if (UNLIKELY(way != FIRN__WAY_RUN)) {
        return way == FIRN__WAY_RUN_TICK  ? next_run_tick(gen, id, error)
               : way == FIRN__WAY_UNTIMED ? next_untimed(gen, id, error)
               : way == FIRN__WAY_RANDOM  ? next_random(gen, id, error)
                                          : next_usual(gen, id, error);
    }
    return next_of_run(gen, false, id, error);
}

int firn_next_n(firn_gen *gen, firn_id *ids, size_t n, firn_error *error) {
    if (n == 1) {
        return firn_next(gen, ids, error);
    }
    return n == 0 ? FIRN_OK : issue(gen, (firn__sink){ids, NULL}, n, error);
}

int firn_next_u64(firn_gen *gen, uint64_t *ids, size_t n, firn_error *error) {
    if (gen->scheme.bits > 64) {
        return firn__fail(error, FIRN_EUSAGE,
                          "%s has %" PRIu32 " bits, more than an integer of 64 bits: ask for "
                          "whole IDs (firn_next_n)",
                          gen->scheme.name, gen->scheme.bits);
    }
    if (n != 1) {
        return n == 0 ? FIRN_OK : issue(gen, (firn__sink){NULL, ids}, n, error);
    }
    firn_id id;
    int code = gen->way == FIRN__WAY_RUN ? next_of_run(gen, false, &id, error)
                                         : firn_next(gen, &id, error);
    if (code == FIRN_OK) {
        *ids = id.low;
    }
    return code;
}

const firn_scheme *firn_gen_scheme(const firn_gen *gen) {
    return gen->shuffle.digits > 0 ? firn__scheme_digits(gen->shuffle.digits) : &gen->scheme;
}

const char *firn_gen_prefix(const firn_gen *gen) {
    return gen->keys.prefix != NULL ? gen->keys.prefix : "";
}

int firn_gen_step(firn_gen *gen, int64_t *wait_ms, firn_error *error) {
    uint64_t tick = 0;
    firn__wiped_look();
    firn__gen_begin(gen);
    int code = firn__gen_ready(gen, &tick, true, error), result = code;
    *wait_ms = 50;
    if (code != FIRN_OK || !firn__reserves(gen) || gen->keys.mode_ == FIRN__MODE_ONLINE) {
        *wait_ms = code == FIRN_OK ? 1000 : 50;
        return code;
    }
    code = firn__renewal_lock(gen, true, error);
    if (code != FIRN_OK) {
        return code;
    }
    for (uint32_t k = 0; k < (uint32_t)gen->keys.nodes; k++) {
        firn__window *window = firn__window_of(gen, k);
        firn__need need = firn__tick_need(gen, window, tick, 1);
        bool due = need.must || need.end > firn__soft_of(window);
        code = due ? firn__window_keep(gen, k, &need, error) : FIRN_OK;
        result = code != FIRN_OK ? code : result;
    }
    firn__renewal_unlock(gen);
    int64_t quarter = (int64_t)(gen->window_ticks * gen->scheme.tick_ns / 1000000 / 4);
    *wait_ms = result != FIRN_OK || quarter < 1 ? 50 : quarter < STEP_MS ? quarter : STEP_MS;
    return result;
}

void firn_gen_status(firn_gen *gen, firn_status *status) {
    firn__wiped_look();
    firn__process_state *live = gen->live;
    firn__shared_look(gen);
    firn__window *window = firn__window_of(gen, 0);
    firn_status out = {.size = status->size, .reserved = firn__reserves(gen)};
    if (window != NULL) {
        uint64_t cursor = atomic_load_explicit(&window->cursor, memory_order_acquire);
        int64_t base = firn__reserves(gen) ? (int64_t)(window->base_tick << gen->s) : 0;
        firn_time wall, last;
        out.held = cursor & FIRN__OPEN;
        out.node = window->node;
        out.first = base + window->first;
        out.next = base + (int64_t)(cursor & ~FIRN__OPEN);
        out.end = base + firn__end_of(window);
        if (gen->scheme.tick_ns != 0 && gen->clock->wall(gen->clock->self, &wall) == FIRN_OK) {
            firn_scheme_time(&gen->scheme, window->base_tick + ((cursor & ~FIRN__OPEN) >> gen->s),
                             &last);
            out.lead_ns = firn__time_since(&last, &wall);
        }
    }
    out.claims = atomic_load_explicit(&live->any.claims, memory_order_relaxed);
    out.renewals = atomic_load_explicit(&live->any.renewals, memory_order_relaxed);
    out.give_backs = atomic_load_explicit(&live->any.give_backs, memory_order_relaxed);
    out.store_errors = atomic_load_explicit(&live->any.store_errors, memory_order_relaxed);
    out.steps_back_absorbed = atomic_load_explicit(&live->watch.absorbed, memory_order_relaxed);
    out.steps_back_left = atomic_load_explicit(&live->watch.stepped, memory_order_relaxed);
    out.jumps_ahead = atomic_load_explicit(&live->watch.jumped, memory_order_relaxed);
    out.max_count = max_count(gen);
    out.unsafe = gen->keys.unsafe_ != 0 || gen->cautioned;
    out.contended = atomic_load_explicit(&live->any.contended, memory_order_relaxed);
    firn__machine_tell(gen->machine, &out);
    out.stays = atomic_load_explicit(&live->any.stays, memory_order_relaxed) != 0;
    size_t size = status->size < sizeof out ? status->size : sizeof out;
    memcpy(status, &out, size);
}
