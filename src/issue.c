/* SPDX-License-Identifier: MIT */
/* What the kinds of issue share: how they ask the renewer, and how slots become IDs. */
#include "issue.h"
#include "error.h"
#include "wiped.h"

/* ---- the renewer ------------------------------------------------------------------------------ */

/* Is permit k still the one that was seen, and without what is needed? With the renewal lock held. */
static bool is_wanted(const firn_gen *gen, uint32_t k, const firn__need *need) {
    const firn__permit *permit = firn__permit_of(gen, k);
    return permit == need->permit && (permit == NULL || need->end > firn__end_of(permit));
}

int firn__ask(firn_gen *gen, uint32_t k, const firn__need *need, firn_error *error) {
    firn__live *live = gen->live;
    if (gen->has_renewer && gen->reserved) {
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
    firn_error why = {0, ""};
    if (atomic_load_explicit(&live->any.failures, memory_order_acquire) != failures &&
        is_wanted(gen, k, need)) {
        why =
            live->locked.failure; /* while this call waited: asking again would but take as long */
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

firn__need firn__tick_need(const firn_gen *gen, firn__permit *permit, uint64_t tick,
                           int64_t ticks) {
    firn__need need = {permit, tick, firn__seen_of(gen)->steps, ticks, ticks, true};
    if (permit != NULL) {
        int64_t next = (int64_t)firn__next_of(permit);
        int64_t now = firn__slot_of(gen, permit, tick);
        need.end = (next > now ? next : now) + ticks;
        need.must = need.end > firn__end_of(permit);
    }
    return need;
}

int firn__ensure(firn_gen *gen, firn__looked *looked, uint64_t *tick, int64_t ticks,
                 firn_error *error) {
    for (int i = 0; i < FIRN__TRIES; i++) {
        bool changed;
        *looked = firn__look(gen, 0);
        int code = firn__present(gen, *looked, tick, &changed, error);
        if (code != FIRN_OK) {
            return code;
        }
        if (changed) {
            continue;
        }
        firn__permit *permit = looked->permit;
        firn__need need = firn__tick_need(gen, permit, *tick, ticks);
        if (permit != NULL && !need.must) {
            if (need.end > firn__soft_of(permit)) {
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

/* ---- from slots to IDs ------------------------------------------------------------------------ */

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

static void fill_run(firn__sink to, size_t at, size_t n, const firn_id *first, uint64_t stride) {
    uint64_t low = first->low, high = first->high;
    uint32_t top = first->top, bits = first->bits;
    if (to.ids == NULL) {
        fill_numbers(to.numbers + at, n, low, stride);
        return;
    }
    for (size_t i = 0; i < n; i++, low += stride) { /* by members: a copy waits for its parts */
        firn_id *id = &to.ids[at + i];
        id->low = low;
        id->high = high;
        id->top = top;
        id->bits = bits;
    }
}

int firn__fill(const firn_gen *gen, const firn__taken *from, firn__sink to, size_t n, bool count,
               firn_error *error) {
    if (gen->masked.size > 0 && !firn__wiped_watch()) {
        return firn__fill_masked(gen, from, to, n, count, error);
    }
    bool counted = gen->random_bits == 0 && gen->shuffle.digits == 0;
    uint64_t stride = counted ? gen->per_count : 0;
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
    }
    return FIRN_OK;
}
