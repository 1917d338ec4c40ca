/* SPDX-License-Identifier: MIT */
/* The present tick of a thread that issues: the short way, which is inlined into each call, and the
 * long one, which is in now.c. */
#ifndef FIRN_NOW_H
#define FIRN_NOW_H

#include "gen.h"

/* HOT: inlined, because almost every call runs it. COLD: kept out of line. */
#define FIRN__HOT  static inline __attribute__((always_inline))
#define FIRN__COLD __attribute__((noinline, cold))

static inline firn__thread_view *firn__thread_view_of(const firn_gen *gen) {
    return (firn__thread_view *)(void *)((char *)firn__thread_views + gen->seen_at);
}

/* Which of several windows this thread issues from: threads take turns. */
static inline uint32_t firn__window_index(const firn_gen *gen) {
    uint32_t lane = firn__thread_view_of(gen)->lane;
    return gen->keys.nodes == 1 || lane == 0 ? 0 : (lane - 1) % (uint32_t)gen->keys.nodes;
}

/* A window, loaded before the clock is read, and the era, loaded between. Only firn__look makes
 * one, and only with one does the clock tell an issuer the tick (firn__recent, firn__present). So a
 * reading that a step back has made stale meets a window that the step closes. */
typedef struct firn__window_view {
    firn__window *window; /* NULL: none is published */
    uint64_t era;
    uint32_t k; /* which of several */
} firn__window_view;

static inline firn__window_view firn__window_look(const firn_gen *gen, uint32_t k) {
    firn__window *window = firn__window_of(gen, k);
    return (firn__window_view){window, firn__era_of(gen), k};
}

/* ---- what time is it ------------------------------------------------------------------------- */

static inline bool firn__is_before(const firn_time *a, const firn_time *b) {
    return a->sec < b->sec || (a->sec == b->sec && a->ns < b->ns);
}

static inline bool firn__read_coarse(const firn_gen *gen) {
    return gen->keys.clock_ == FIRN__CLOCK_TICK && gen->clock == &firn__clock_system;
}

FIRN__HOT int firn__read_wall(const firn_gen *gen, firn_time *wall) {
    return firn__read_coarse(gen) ? firn__clock_coarse(wall)
                                  : gen->clock->wall(gen->clock->self, wall);
}

/* ns / tick_ns by a constant, which is a multiplication. */
static inline uint64_t firn__ticks_in(uint32_t tick_ns, uint32_t ns) {
    switch (tick_ns) {
    case 1000000:
        return ns / 1000000;
    case 100:
        return ns / 100;
    case 1000:
        return ns / 1000;
    case 10000000:
        return ns / 10000000;
    case 1000000000:
        return 0; /* ns are less */
    default:
        return ns / tick_ns;
    }
}

/* firn_scheme_tick for the hot path. False: firn_scheme_tick says why. */
FIRN__HOT bool firn__tick_of(const firn_gen *gen, const firn_time *wall, uint64_t *tick) {
    int64_t sec = wall->sec - gen->scheme.epoch.sec;
    int32_t ns = wall->ns - gen->scheme.epoch.ns;
    sec -= ns < 0;
    ns += ns < 0 ? 1000000000 : 0;
    *tick = (uint64_t)sec * gen->ticks_per_s + firn__ticks_in(gen->scheme.tick_ns, (uint32_t)ns);
    return sec >= 0 && (uint64_t)sec < gen->sec_end && *tick < gen->tick_end;
}

/* The first slot of `tick`, relative to a window of this base tick; negative if the clock is before
 * it. Capped, so that additions do not overflow. */
FIRN__HOT int64_t firn__slot_from(const firn_gen *gen, uint64_t base_tick, uint64_t tick) {
    const int64_t most = FIRN__NO_SLOT >> gen->s;
    int64_t ticks = (int64_t)(tick - base_tick);
    ticks = ticks > most ? most : ticks < -most ? -most : ticks;
    return (int64_t)((uint64_t)ticks << gen->s);
}
FIRN__HOT int64_t firn__slot_of(const firn_gen *gen, const firn__window *window, uint64_t tick) {
    return firn__slot_from(gen, window->base_tick, tick);
}

/* The slot after the last one that may be used now, borrowed ones included. */
static inline int64_t firn__lead_end(const firn_gen *gen, int64_t now) {
    return now + gen->lead_slots;
}

/* The slot after the last one that max_lead allows at the thread's last reading. */
FIRN__HOT uint64_t firn__seen_lead(const firn_gen *gen, const firn__thread_view *seen) {
    int64_t end = firn__lead_end(gen, firn__slot_from(gen, seen->base_tick, seen->tick));
    return end < 0 ? 0 : (uint64_t)end;
}

/* The slot after the last one that the window allows without a look at the clock and at its
 * renewal. */
FIRN__HOT uint64_t firn__seen_limit(const firn_gen *gen, const firn__thread_view *seen) {
    const uint64_t soft = (uint64_t)firn__soft_of(seen->window), lead = firn__seen_lead(gen, seen);
    return soft < lead ? soft : lead;
}

/* The number of threads that came counts those that have ended, too: no more than this are taken to
 * add at the same time. Uniqueness does not depend on it: each thread checks the limit after its addition. */
#define MOST_ADDING 4096

/* Computes what a thread remembers of a new reading. */
FIRN__HOT void firn__seen_tick(const firn_gen *gen, firn__thread_view *seen) {
    int64_t now = firn__slot_from(gen, seen->base_tick, seen->tick);
    seen->least = now < 0 ? 0 : (uint64_t)now;
    seen->limit = firn__seen_limit(gen, seen);
    if (!gen->blocks) {
        const uint64_t came = atomic_load_explicit(&gen->live->any.lanes, memory_order_relaxed);
        const uint64_t adding = came < MOST_ADDING ? came : MOST_ADDING;
        seen->next_end = seen->limit > adding ? seen->limit - adding : 0;
    }
}

/* Reads the clock. True: the reading is used without judgement, because it is neither before this
 * thread's last one nor far ahead of it. */
FIRN__HOT bool firn__read_plain(const firn_gen *gen, firn__thread_view *seen, uint64_t cycles) {
    firn__watch *watch = &gen->live->watch;
    const int64_t used = atomic_load_explicit(&watch->used, memory_order_acquire);
    firn_time wall;
    uint64_t tick = 0;
    if (firn__read_wall(gen, &wall) != FIRN_OK) {
        return false;
    }
    if (wall.ns == seen->wall.ns && wall.sec == seen->wall.sec) { /* as most coarse readings are */
        seen->counter = cycles;
        return true;
    }
    if (firn__is_before(&wall, &seen->wall) ||
        wall.sec > atomic_load_explicit(&watch->trusted_s, memory_order_relaxed) ||
        (gen->scheme.tick_ns != 0 && !firn__tick_of(gen, &wall, &tick))) {
        return false;
    }
    firn__watch_used(watch, used, &wall);
    seen->tick = tick;
    seen->wall = wall;
    seen->counter = cycles;
    firn__seen_tick(gen, seen);
    return true;
}

/* Went the cycle counter back between two readings of this thread? Only on a copy of its machine,
 * or after a sleep of it: the counters of two cores differ by less. */
FIRN__HOT bool firn__went_back(uint64_t from, uint64_t to) {
    return (int64_t)(to - from) < -(INT64_C(1) << 20);
}

/* The present tick without judgement, as fresh as clock= asks. False: it needs judgement, there is
 * no window, or an event took place since this thread looked last. */
FIRN__HOT bool firn__recent(const firn_gen *gen, firn__window_view looked,
                            firn__thread_view *seen) {
    const firn__process_state *live = gen->live;
    if (looked.window == NULL || looked.era != seen->era) {
        return false;
    }
    uint64_t cycles = 0;
    if (gen->cycles) {
        cycles = firn__cycles();
        /* a counter below the last reading wraps to a great age */
        if (cycles - seen->counter <
            atomic_load_explicit(&live->watch.stale_cycles, memory_order_relaxed)) {
            return true;
        }
        if (atomic_load_explicit(&live->watch.stale_cycles, memory_order_relaxed) == 0 ||
            firn__went_back(seen->counter, cycles)) {
            return false; /* its speed is not known yet, or this is another machine */
        }
    }
    return firn__read_plain(gen, seen, cycles);
}

/* ---- now.c ------------------------------------------------------------------------------- */

/* The present tick, the long way, for a window that was loaded before: FIRN_OK or why nothing may
 * be issued. *changed: the window is another one by now, so look again. */
int firn__present(firn_gen *gen, firn__window_view looked, uint64_t *tick, bool *changed,
                  firn_error *error);

#endif
