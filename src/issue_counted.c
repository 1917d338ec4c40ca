/* SPDX-License-Identifier: MIT */
/* IDs that count on over ticks (objectid, locality, xid), or whose random part counts up within one
 * (ulid). Tick and counter change together, under a lock. */
#include "entropy.h"
#include "error.h"
#include "issue.h"

#include <assert.h>
#include <string.h>

/* Marks `tick` as begun in the window's cursor: nothing of it is given back or granted again. */
static enum firn__grab begin_tick(const firn_gen *gen, firn__window *window, uint64_t tick,
                                  uint64_t now, int64_t *want) {
    uint64_t cursor = atomic_load_explicit(&window->cursor, memory_order_acquire);
    *want = firn__slot_of(gen, window, tick);
    for (;;) {
        if (!(cursor & FIRN__OPEN)) {
            return FIRN__GRAB_CLOSED;
        }
        if (*want < (int64_t)(cursor & ~FIRN__OPEN)) {
            *want = (int64_t)(cursor & ~FIRN__OPEN);
        }
        if (*want >= firn__end_of(window)) {
            return FIRN__GRAB_SOFT;
        }
        if (*want >= firn__lead_end(gen, firn__slot_of(gen, window, now))) {
            return FIRN__GRAB_LEAD;
        }
        if (atomic_compare_exchange_weak_explicit(&window->cursor, &cursor,
                                                  FIRN__OPEN | (uint64_t)(*want + 1),
                                                  memory_order_acq_rel, memory_order_acquire)) {
            return FIRN__GRAB_DONE;
        }
    }
}

/* Adds one to `random`; false past its end. */
static bool plus_one(firn_value *random, uint32_t bits) {
    random->low++;
    random->high += random->low == 0;
    return firn__fits(*random, bits);
}

/* Moves the state to a tick it has not been in, at or after the present one. */
static int enter_tick(firn_gen *gen, firn__counted *state, firn__window *window, uint64_t now,
                      firn_error *error) {
    uint64_t tick = now;
    int64_t want;
    if (state->started && state->window == window && tick <= state->tick) {
        tick = state->tick + 1;
    }
    uint64_t base_tick = window->base_tick;
    firn_id base = window->base; /* read before the tick is begun: then it was whole */
    switch (begin_tick(gen, window, tick, now, &want)) {
    case FIRN__GRAB_LEAD:
        return firn__gen_exhausted(gen, error);
    case FIRN__GRAB_DONE:
        break;
    default:
        return FIRN_EWINDOW; /* the caller has it renewed and comes back */
    }
    state->tick = base_tick + (uint64_t)want;
    state->window = window;
    state->base = base;
    state->used = 0;
    return gen->scheme.monotonic
               ? firn__entropy_bits(gen->entropy, &state->random, gen->random_bits, error)
               : FIRN_OK;
}

static int start_counter(firn_gen *gen, firn__counted *state, firn_error *error) {
    firn_value drawn = {0, 0};
    int code = FIRN_OK;
    if (state->started || gen->scheme.monotonic) {
        return code;
    }
    if (gen->scheme.hash != FIRN_HASH_NONE) {
        drawn.low = firn_locality_start(&firn__thread_view_of(gen)->wall);
    } else {
        code = firn__entropy_bits(gen->entropy, &drawn, gen->count_bits, error);
    }
    state->counter = drawn.low;
    return code;
}

/* The next ID, from a copy of the state. */
static int count_one(firn_gen *gen, firn__counted *state, firn__window *window, uint64_t now,
                     firn_id *id, firn_error *error) {
    bool fresh = !state->started || state->window != window || now > state->tick;
    bool full = !fresh && gen->count_bits > 0 && state->used > firn__mask(gen->count_bits);
    if (!fresh && state->tick > now + gen->lead_ticks) {
        /* The clock stepped back, and more was borrowed before. */
        return firn__gen_exhausted(gen, error);
    }
    if (!fresh && !full && gen->scheme.monotonic) {
        full = !plus_one(&state->random, gen->random_bits);
    }
    int code = start_counter(gen, state, error);
    if (code == FIRN_OK && (fresh || full)) {
        code = enter_tick(gen, state, window, now, error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    state->started = true;
    state->used++;
    state->counter = (state->counter + gen->scheme.counter_step) & firn__mask(gen->count_bits);
    firn__draw draw = {state->tick, state->counter, state->random};
    if (gen->random_bits > 0 && !gen->scheme.monotonic) {
        code = firn__entropy_bits(gen->entropy, &draw.random, gen->random_bits, error);
    }
    firn__gen_pack(gen, &draw, &state->base, id);
    return code;
}

/* Is there room for n IDs? Asked before their first tick begins, because a tick that has begun is
 * used up. *ticks: how many ticks they begin. A random part that is counted up has room for all. */
static int find_room(firn_gen *gen, const firn__counted *state, const firn__window *window,
                     uint64_t now, size_t n, int64_t *ticks, firn_error *error) {
    uint64_t holds = firn__mask(gen->count_bits) + 1, left = 0;
    int64_t here = firn__slot_of(gen, window, now);
    int64_t next = (int64_t)firn__next_of(window);
    if (state->started && state->window == window && now <= state->tick) {
        left = holds - state->used;
    }
    if (gen->count_bits == 0 || n <= left) {
        return FIRN_OK;
    }
    *ticks = (int64_t)((n - left - 1) / holds + 1);
    next = next > here ? next : here;
    if (next + *ticks > firn__lead_end(gen, here)) {
        return firn__gen_exhausted(gen, error);
    }
    return next + *ticks > firn__end_of(window) ? FIRN_EWINDOW : FIRN_OK;
}

/* At most n IDs after `id` within its tick, each the one before plus 1: their lowest bits are the
 * random part. They have more than 64 bits, so `sink` has IDs. Returns how many. */
static size_t count_up(const firn_gen *gen, firn__counted *state, firn__sink sink, size_t position,
                       size_t n, const firn_id *id) {
    uint64_t room = firn__mask(gen->random_bits) - state->random.low; /* without a carry */
    uint64_t low = id->low, high = id->high;
    uint32_t top = id->top, bits = id->bits;
    n = n < room ? n : (size_t)room;
    for (size_t i = position; i < position + n; i++) {
        low++;
        sink.ids[i].low = low;
        sink.ids[i].high = high;
        sink.ids[i].top = top;
        sink.ids[i].bits = bits;
    }
    state->random.low += n;
    state->used += n;
    return n;
}

/* n IDs from the state, committed whole or not at all. A handler may fork between any two
 * instructions, and the child's state reads as zero from there on, so that its copy may be half the
 * parent's: the last step finds that out. What the child then keeps has another window than its
 * own, so it begins a tick next. */
static int count_all(firn_gen *gen, firn__window *window, uint64_t tick, firn__sink sink, size_t n,
                     int64_t *ticks, firn_error *error) {
    firn__counted *state = &gen->live->counted;
    pthread_mutex_lock(&state->lock);
    uint64_t serial = atomic_load_explicit(&gen->live->any.serial, memory_order_acquire);
    int code = find_room(gen, state, window, tick, n, ticks, error);
    firn__counted copy = *state;
    bool direct = n > 1 && gen->scheme.monotonic;
    for (size_t i = 0; i < n && code == FIRN_OK; i++) {
        firn_id id = {0, 0, 0, 0};
        code = count_one(gen, &copy, window, tick, &id, error);
        if (code == FIRN_OK) {
            firn__put(sink, i, &id);
            i += direct ? count_up(gen, &copy, sink, i + 1, n - i - 1, &id) : 0;
        }
    }
    if (code == FIRN_OK) {
        assert(!state->started || copy.tick >= state->tick || copy.window != state->window);
        memcpy((char *)state + sizeof state->lock, (char *)&copy + sizeof copy.lock,
               sizeof copy - sizeof copy.lock);
    }
    atomic_signal_fence(memory_order_seq_cst);
    if (serial != atomic_load_explicit(&gen->live->any.serial, memory_order_acquire)) {
        code = FIRN_EWINDOW; /* a child: it draws its own identity */
    }
    if (code != FIRN_OK) {
        firn__wipe(sink, n);
    }
    pthread_mutex_unlock(&state->lock);
    return code;
}

int firn__issue_counted(firn_gen *gen, firn__sink sink, size_t n, firn_error *error) {
    firn_error why = {0};
    int code = FIRN_EWINDOW;
    /* The IDs must begin. Without a store there is nothing to renew: the last tick of the layout
     * continues to its end. */
    int64_t ticks = firn__reserves(gen);
    for (int i = 0; i < FIRN__TRIES && code == FIRN_EWINDOW; i++) {
        firn__window_view looked = firn__window_look(gen, 0);
        firn__thread_view *seen = firn__thread_view_of(gen);
        uint64_t tick;
        bool plain = i == 0 && firn__recent(gen, looked, seen) &&
                     firn__slot_of(gen, looked.window, seen->tick) < firn__soft_of(looked.window);
        if (plain) {
            tick = seen->tick;
        } else if ((code = firn__ensure(gen, &looked, &tick, ticks, error)) != FIRN_OK) {
            return code;
        }
        ticks = ticks > 0 ? ticks : 1;
        code = count_all(gen, looked.window, tick, sink, n, &ticks, &why);
        /* A reading that was not judged may be from after a step back. */
        if (code == FIRN_EEXHAUSTED && (plain || firn__gen_move_on(gen))) {
            code = FIRN_EWINDOW;
        }
    }
    if (firn__reserves(gen) && gen->keys.mode_ == FIRN__MODE_ONLINE) { /* holds no window */
        pthread_mutex_lock(&gen->live->locked.lock);
        firn__window_retire(gen, 0, true, NULL);
        pthread_mutex_unlock(&gen->live->locked.lock);
    }
    if (code == FIRN_EWINDOW) {
        return firn__fail(error, code, "the window of %s is used up", gen->ns);
    }
    if (code != FIRN_OK && error != NULL) {
        *error = why;
    }
    return code;
}
