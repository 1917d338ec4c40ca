/* SPDX-License-Identifier: MIT */
/* Code that the kinds of issue share: requests to the renewer, and IDs from slots. */
#include "issue.h"
#include "error.h"
#include "fork_memory.h"

#include <stddef.h>

/* ---- the renewer ----------------------------------------------------------------------------- */

/* Is window k the same as before, and still too short? With the renewal lock held. */
static bool is_wanted(const firn_gen *gen, uint32_t k, const firn__need *need) {
    const firn__window *window = firn__window_of(gen, k);
    return window == need->window &&
           (window == NULL || firn__window_is_shut(window) || need->end > firn__end_of(window));
}

int firn__ask(firn_gen *gen, uint32_t k, const firn__need *need, firn_error *error) {
    firn__process_state *live = gen->live;
    if (gen->has_renewer && firn__reserves(gen)) {
        return firn__fail(error, FIRN_EWINDOW,
                          "the window of %s is used up and its renewer has not renewed it yet",
                          gen->ns);
    }
    if (!need->must && firn__renewal_lock(gen, false, NULL) != FIRN_OK) {
        return FIRN_OK;
    }
    uint64_t failures = atomic_load_explicit(&live->any.failures, memory_order_acquire);
    int code = need->must ? firn__renewal_lock(gen, true, error) : FIRN_OK;
    if (code != FIRN_OK) {
        return code;
    }
    firn_error why = {0};
    if (atomic_load_explicit(&live->any.failures, memory_order_acquire) != failures &&
        is_wanted(gen, k, need)) {
        /* Another call failed while this one waited: to ask again would take as long. */
        why = live->locked.failure;
        code = why.code;
    } else {
        uint64_t errors = atomic_load_explicit(&live->any.store_errors, memory_order_acquire);
        code = firn__window_keep(gen, k, need, &why);
        if (code != FIRN_OK &&
            atomic_load_explicit(&live->any.store_errors, memory_order_acquire) != errors) {
            live->locked.failure = why;
            firn__count(&live->any.failures);
        }
    }
    firn__renewal_unlock(gen);
    if (code != FIRN_OK && error != NULL) {
        *error = why;
    }
    return code;
}

firn__need firn__tick_need(const firn_gen *gen, firn__window *window, uint64_t tick,
                           int64_t ticks) {
    firn__need need = {window, tick, firn__thread_view_of(gen)->steps, ticks, ticks, true};
    if (window != NULL) {
        int64_t next = (int64_t)firn__next_of(window);
        int64_t now = firn__slot_of(gen, window, tick);
        need.end = (next > now ? next : now) + ticks;
        need.must = firn__window_is_shut(window) || need.end > firn__end_of(window);
    }
    return need;
}

int firn__ensure(firn_gen *gen, firn__window_view *looked, uint64_t *tick, int64_t ticks,
                 firn_error *error) {
    for (int i = 0; i < FIRN__TRIES; i++) {
        bool changed;
        *looked = firn__window_look(gen, 0);
        int code = firn__present(gen, *looked, tick, &changed, error);
        if (code != FIRN_OK) {
            return code;
        }
        if (changed) {
            continue;
        }
        firn__window *window = looked->window;
        firn__need need = firn__tick_need(gen, window, *tick, ticks);
        if (window != NULL && !need.must) {
            if (need.end > firn__soft_of(window)) {
                firn__ask(gen, 0, &need, NULL); /* early: the result does not matter */
            }
            return FIRN_OK;
        }
        code = firn__ask(gen, 0, &need, error);
        if (code != FIRN_OK) {
            return code;
        }
    }
    return firn__fail(error, FIRN_EWINDOW, "the window of %s is used up", gen->ns);
}

/* ---- from slots to IDs ----------------------------------------------------------------------- */

/* A run of slots of one tick: the first packed, the others counted up. Numbers are stored in pairs:
 * single stores would limit the rate. */
typedef uint64_t pair __attribute__((vector_size(16)));

static void fill_numbers(uint64_t *numbers, size_t n, uint64_t low, uint64_t stride) {
    pair first = {low, low + stride}, second = {low + 2 * stride, low + 3 * stride};
    pair step = {4 * stride, 4 * stride};
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        memcpy(numbers + i, &first, sizeof first);
        memcpy(numbers + i + 2, &second, sizeof second);
        first += step;
        second += step;
    }
    for (; i < n; i++) {
        numbers[i] = low + i * stride;
    }
}

static void fill_run(firn__sink sink, size_t position, size_t n, const firn_id *first,
                     uint64_t stride) {
    uint64_t low = first->low, high = first->high;
    uint32_t top = first->top, bits = first->bits;
    if (sink.ids == NULL) {
        fill_numbers(sink.numbers + position, n, low, stride);
        return;
    }
    for (size_t i = 0; i < n; i++, low += stride) { /* by members: a copy waits for its parts */
        firn_id *id = &sink.ids[position + i];
        id->low = low;
        id->high = high;
        id->top = top;
        id->bits = bits;
    }
}

_Static_assert(offsetof(firn_id, low) == 0 && offsetof(firn_id, high) == 8, "two words, low first");

/* IDs of one template, each with random bits from `bytes` on, and `stride` more than the one
 * before. Both words of an ID go in one store, by members: a copy of the whole would wait for its
 * parts. */
static void masked_ids(const firn_gen *gen, firn_id *ids, size_t n, const firn_id *first,
                       uint64_t stride, const uint8_t *bytes) {
    const uint32_t size = gen->masked.size, top = first->top, bits = first->bits;
    const pair mask = {gen->masked.mask.low, gen->masked.mask.high}, step = {stride, 0};
    pair words = {first->low, first->high}, random;
    for (size_t i = 0; i < n; i++, words += step, bytes += size) {
        memcpy(&random, bytes,
               sizeof random); /* 16 bytes may be read, and no more than `size` count */
        random = words | (random & mask);
        memcpy(&ids[i], &random, sizeof random);
        ids[i].top = top;
        ids[i].bits = bits;
    }
}

static void masked_numbers(const firn_gen *gen, uint64_t *numbers, size_t n, uint64_t low,
                           uint64_t stride, const uint8_t *bytes) {
    const uint32_t size = gen->masked.size;
    const uint64_t mask = gen->masked.mask.low;
    for (size_t i = 0; i < n; i++, low += stride, bytes += size) {
        uint64_t random;
        memcpy(&random, bytes, 8);
        numbers[i] = low | (random & mask);
    }
}

/* How many IDs from this slot on have one template, and differ by the stride. */
static size_t run_of(const firn_gen *gen, int64_t slot, bool count) {
    return !count ? SIZE_MAX
           : gen->run.step.low == 0
               ? 1
               : (size_t)(gen->run.times - ((uint64_t)slot & gen->run.times)) + 1;
}

/* A handler of a signal may fork between two draws of random bits. A child that returns from it
 * would issue some IDs of its parent, which returns them, too. So the functions below look in the
 * end whether this is the process of their first draw, and if not, draw all again. */

/* firn__fill for random bits that need no packing. */
static int fill_masked(const firn_gen *gen, const firn__taken_slots *from, firn__sink to, size_t n,
                       bool count, firn_error *error) {
    int64_t process = 0; /* known if one draw was not enough */
    for (size_t i = 0; i < n;) {
        int64_t slot = from->slot + (count ? (int64_t)i : 0);
        firn__draw draw = {
            from->base_tick + ((uint64_t)slot >> gen->s), (uint64_t)slot & gen->count_mask, {0, 0}};
        size_t run = run_of(gen, slot, count);
        run = run < n - i ? run : n - i;
        firn__bytes bytes;
        int code = firn__block_open(&bytes, gen->masked.size, &run, error);
        if (code != FIRN_OK) {
            firn__wipe(to, i);
            return code;
        }
        firn_id first;
        firn__gen_pack(gen, &draw, &from->base, &first);
        uint64_t stride = count ? gen->run.step.low : 0;
        if (to.ids != NULL) {
            masked_ids(gen, to.ids + i, run, &first, stride, bytes.bytes);
        } else {
            masked_numbers(gen, to.numbers + i, run, first.low, stride, bytes.bytes);
        }
        if (i == 0) {
            process = run < n ? firn__process() : 0;
        }
        i += run;
        if (!firn__block_close(&bytes) || (i == n && firn__forked_since(process))) {
            i = 0;
        }
    }
    return FIRN_OK;
}

int firn__forked_inside(firn_error *error) {
    return firn_error_set(
        error, FIRN_EFORKED, FIRN_CURE_TRY_AGAIN,
        "a signal handler forked inside this call, and this is the child: call again");
}

int firn__fill(const firn_gen *gen, const firn__taken_slots *from, firn__sink to, size_t n,
               bool count, firn_error *error) {
    if (gen->masked.size > 0 && !firn__wiped_watch()) {
        return fill_masked(gen, from, to, n, count, error);
    }
    bool counted = gen->random_bits == 0 && gen->shuffle.digits == 0;
    uint64_t stride = counted ? gen->per_count : 0;
    int64_t process = gen->random_bits > 0 && n > 1 ? firn__process() : 0;
    for (size_t i = 0; i < n;) {
        firn_id id;
        uint64_t slot = (uint64_t)from->slot + (count ? i : 0);
        size_t run = 1, left = (size_t)(gen->count_mask + 1 - (slot & gen->count_mask));
        bool direct = stride == 0 && to.ids != NULL;
        int code = firn__pack_slot(gen, from->base_tick, &from->base, slot,
                                   direct ? &to.ids[i] : &id, error);
        if (code != FIRN_OK) {
            firn__wipe(to, i);
            return code;
        }
        if (stride != 0) {
            run = left < n - i ? left : n - i;
            fill_run(to, i, run, &id, stride);
        } else if (!direct) {
            firn__put(to, i, &id);
        }
        i += run;
        if (i == n && firn__forked_since(process)) {
            process = firn__process();
            i = 0;
        }
    }
    return FIRN_OK;
}
