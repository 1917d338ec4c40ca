/* SPDX-License-Identifier: MIT */
/* The generator: permit + clock + policies -> next, next_n. Lock-free on its way to an ID; knows
 * no store, and sleeps only where a policy says wait. Opening is in open.c, filling permits in
 * window.c. */
#include "gen.h"

#include "bug.h"
#include "entropy.h"
#include "error.h"
#include "wiped.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* HOT is the way that almost every call goes, COLD what it should not carry along. */
#define HOT  static inline __attribute__((always_inline))
#define COLD static __attribute__((noinline, cold))

#define TRIES     64                /* rounds of one call: each follows a change by somebody else */
#define BLOCK     64                /* slots a thread leases at once under ordering=thread */
#define COARSE_NS INT64_C(20000000) /* the coarse clock is never older than this */
#define NAP_NS    INT64_C(1000000)  /* one sleep of full=wait and back=wait */
#define STEP_MS   100 /* a renewer looks at least so often: the clock may have stepped */

static FIRN_TLS firn__seen seen_here[FIRN__SEEN];

/* Slots taken for the caller alone, and what they are packed with. */
typedef struct taken {
    uint64_t base_tick;
    int64_t slot; /* the first one */
    firn_id base;
} taken;

static inline firn__seen *seen_of(const firn_gen *gen) {
    return &seen_here[gen->seen_index];
}

/* Which of several windows this thread issues from: threads take turns. */
static inline uint32_t window_of(const firn_gen *gen) {
    uint32_t lane = seen_of(gen)->lane;
    return gen->keys.nodes == 1 || lane == 0 ? 0 : (lane - 1) % (uint32_t)gen->keys.nodes;
}

void firn__gen_notice(const firn_gen *gen, const char *format, ...) {
    char text[300];
    va_list arguments;
    if (gen->notice == NULL) {
        return;
    }
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    gen->notice(gen->notice_self, text);
}

/* ---- what time is it ------------------------------------------------------------------------- */

static inline bool is_before(const firn_time *a, const firn_time *b) {
    return a->sec < b->sec || (a->sec == b->sec && a->ns < b->ns);
}

static inline bool read_coarse(const firn_gen *gen) {
    return gen->keys.clock_ == FIRN__CLOCK_TICK && gen->clock == &firn__clock_system;
}

HOT int read_wall(const firn_gen *gen, firn_time *wall) {
    return read_coarse(gen) ? firn__clock_coarse(wall) : gen->clock->wall(gen->clock->self, wall);
}

/* ns / tick_ns by a constant, which is a multiplication. */
static inline uint64_t ticks_in(uint32_t tick_ns, uint32_t ns) {
    switch (tick_ns) {
    case 1000000:
        return ns / 1000000;
    case 100:
        return ns / 100;
    case 1000:
        return ns / 1000;
    case 10000000:
        return ns / 10000000;
    default:
        return ns / 1000000000;
    }
}

/* firn_scheme_tick for the hot path: false where that one has to say why. */
HOT bool tick_of(const firn_gen *gen, const firn_time *wall, uint64_t *tick) {
    int64_t sec = wall->sec - gen->scheme.epoch.sec;
    int32_t ns = wall->ns - gen->scheme.epoch.ns;
    sec -= ns < 0;
    ns += ns < 0 ? 1000000000 : 0;
    *tick = (uint64_t)sec * gen->ticks_per_s + ticks_in(gen->scheme.tick_ns, (uint32_t)ns);
    return sec >= 0 && (uint64_t)sec < gen->sec_end && *tick < gen->tick_end;
}

/* An exact reading that needs no judgement: not before this thread's last one, not far ahead.
 * False: it needs one. */
HOT bool read_plain(const firn_gen *gen, firn__seen *seen, uint64_t cycles) {
    firn_time wall;
    uint64_t tick = 0;
    if (read_wall(gen, &wall) != FIRN_OK) {
        return false;
    }
    if (wall.ns == seen->wall.ns && wall.sec == seen->wall.sec) { /* as most coarse readings are */
        if (cycles != 0) {
            seen->counter = cycles;
        }
        return true;
    }
    if (is_before(&wall, &seen->wall) ||
        wall.sec > atomic_load_explicit(&gen->live->watch.trusted_s, memory_order_relaxed) ||
        (gen->scheme.tick_ns != 0 && !tick_of(gen, &wall, &tick))) {
        return false;
    }
    seen->tick = tick;
    seen->wall = wall;
    seen->counter = cycles;
    return true;
}

/* The present tick without judgement, as fresh as clock= asks. The permit is to be loaded before: a
 * reading that a step back has made stale then meets a permit that the step closes. */
HOT bool recent(const firn_gen *gen, firn__seen *seen) {
    const firn__live *live = gen->live;
    if (seen->serial != atomic_load_explicit(&live->serial, memory_order_relaxed) ||
        seen->serial == 0 ||
        seen->steps != atomic_load_explicit(&live->watch.stepped, memory_order_relaxed) ||
        atomic_load_explicit(&live->blocked, memory_order_relaxed) != 0) {
        return false; /* the long way knows what to do about each of these */
    }
    uint64_t cycles = 0;
    if (gen->cycles) {
        cycles = firn__cycles();
        /* a counter below the last reading wraps to a great age */
        if (cycles - seen->counter <
            atomic_load_explicit(&live->watch.stale_cycles, memory_order_relaxed)) {
            return true;
        }
        if (atomic_load_explicit(&live->watch.stale_cycles, memory_order_relaxed) == 0) {
            return false; /* its speed is not known yet */
        }
    }
    return read_plain(gen, seen, cycles);
}

int firn__gen_now(firn_gen *gen, uint64_t *tick, firn_error *error) {
    firn__live *live = gen->live;
    firn__seen *seen = seen_of(gen);
    firn_time wall;
    uint64_t cycles = gen->cycles ? firn__cycles() : 0, coarse_tick, steps;
    int code = firn__watch_judge(&live->watch, gen->clock, gen->keys.back_ms * 1000000, &wall,
                                 &steps, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (gen->cycles) {
        firn__watch_learn(&live->watch, gen->clock, firn__cycles, gen->keys.stale_us);
    }
    *tick = 0;
    if (gen->scheme.tick_ns != 0) {
        code = firn_scheme_tick(&gen->scheme, &wall, tick, error);
        if (code == FIRN_OK && *tick >= gen->tick_end) {
            return firn__fail(
                error, FIRN_ELAYOUT,
                "the layout of %s has ended: nothing more is issued, move to another scheme, "
                "epoch= or bits=%s",
                gen->scheme.name, gen->whole_end > gen->tick_end ? " (or unsigned=1)" : "");
        }
        if (code != FIRN_OK) {
            return code;
        }
    }
    firn_time coarse;
    if (read_coarse(gen) && firn__clock_coarse(&coarse) == FIRN_OK && gen->scheme.tick_ns != 0 &&
        firn__time_since(&wall, &coarse) < COARSE_NS &&
        firn__time_since(&coarse, &wall) < COARSE_NS && tick_of(gen, &coarse, &coarse_tick)) {
        wall = coarse; /* so that the next coarse reading does not look like a step back */
        *tick = coarse_tick;
    }
    uint64_t serial = atomic_load(&live->serial);
    uint32_t lane = seen->serial == serial && seen->lane != 0
                        ? seen->lane
                        : atomic_fetch_add(&live->lanes, 1) % (UINT32_C(1) << 30) + 1;
    *seen = (firn__seen){.steps = steps,
                         .lane = lane,
                         .serial = serial,
                         .counter = cycles,
                         .tick = *tick,
                         .wall = wall};
    return FIRN_OK;
}

/* ---- slots ----------------------------------------------------------------------------------- */

/* Where the sequence of a new tick begins. */
int firn__gen_start(const firn_gen *gen, int64_t *start, firn_error *error) {
    uint64_t drawn = 0;
    int code = FIRN_OK;
    if (gen->start == FIRN_START_RANDOM) {
        code = firn__entropy_below(gen->entropy, &drawn, gen->start_below, error);
    } else if (gen->start == FIRN_START_ROLLING) {
        drawn = __atomic_fetch_add(&gen->live->rolling, 1, __ATOMIC_RELAXED) % gen->start_below;
    }
    *start = (int64_t)drawn;
    return code;
}

/* The first slot of `tick`, relative to the permit; negative when the clock is behind its base.
 * Capped, so that what is added to it does not overflow. */
HOT int64_t slot_of(const firn_gen *gen, const firn__permit *permit, uint64_t tick) {
    const int64_t most = FIRN__NO_SLOT >> gen->s;
    int64_t ticks = (int64_t)(tick - permit->base_tick);
    ticks = ticks > most ? most : ticks < -most ? -most : ticks;
    return (int64_t)((uint64_t)ticks << gen->s);
}

/* The slot behind the last one that may be used now, borrowed ones included. */
static inline int64_t lead_end(const firn_gen *gen, int64_t now) {
    return now + gen->lead_slots;
}

enum grab { GRAB_DONE, GRAB_SOFT, GRAB_LEAD, GRAB_CLOSED, GRAB_ENTROPY };

/* One compare-and-swap over the permit's cursor: n slots from max(cursor, first slot of `tick`)
 * on, below `limit`. The template is read before: a permit that is open after it has been read
 * was whole when it was read. */
HOT enum grab grab(const firn_gen *gen, firn__permit *permit, uint64_t tick, int64_t n,
                   int64_t limit, bool starts, taken *out, int64_t *want, firn_error *error) {
    uint64_t base_tick = permit->base_tick;
    firn_id base = permit->base;
    int64_t now = slot_of(gen, permit, tick);
    uint64_t cursor = atomic_load_explicit(&permit->cursor, memory_order_acquire);
    for (;;) {
        if (!(cursor & FIRN__OPEN)) {
            return GRAB_CLOSED;
        }
        int64_t slot = (int64_t)(cursor & ~FIRN__OPEN);
        if (now > slot) {
            slot = now;
            int64_t start = 0;
            if (starts && firn__gen_start(gen, &start, error) != FIRN_OK) {
                return GRAB_ENTROPY;
            }
            slot += start;
        }
        *want = slot;
        if (slot > lead_end(gen, now) - n) { /* first: nothing beyond the lead is worth a renewal */
            return GRAB_LEAD;
        }
        if (slot > limit - n) {
            return GRAB_SOFT;
        }
        if (atomic_compare_exchange_weak_explicit(&permit->cursor, &cursor,
                                                  FIRN__OPEN | (uint64_t)(slot + n),
                                                  memory_order_acq_rel, memory_order_acquire)) {
            *out = (taken){base_tick, slot, base};
            return GRAB_DONE;
        }
    }
}

static inline firn__permit *permit_of(const firn_gen *gen, uint32_t k) {
    return atomic_load_explicit(&gen->live->permits[k], memory_order_acquire);
}

/* The way that almost every call goes. */
HOT bool take_fast(const firn_gen *gen, firn__permit *permit, uint64_t tick, int64_t n,
                   taken *out) {
    int64_t want;
    return permit != NULL &&
           grab(gen, permit, tick, n, atomic_load_explicit(&permit->soft, memory_order_relaxed),
                gen->start != FIRN_START_ZERO, out, &want, NULL) == GRAB_DONE;
}

/* ordering=thread: from the block this thread has leased, or a new one. A block of a permit that
 * was closed is dropped: its slots count as issued. */
HOT bool take_block(const firn_gen *gen, firn__permit *permit, firn__seen *seen, taken *out) {
    if (permit == NULL) {
        return false;
    }
    if (seen->permit == permit && seen->block < seen->block_end) {
        taken mine = {permit->base_tick, seen->block, permit->base};
        int64_t now = slot_of(gen, permit, seen->tick);
        atomic_thread_fence(memory_order_acquire);
        bool open = atomic_load_explicit(&permit->cursor, memory_order_acquire) & FIRN__OPEN;
        if (open && (seen->block >= now || seen->block >> gen->s == now >> gen->s) &&
            seen->block < lead_end(gen, now)) {
            seen->block++;
            *out = mine;
            return true;
        }
    }
    if (!take_fast(gen, permit, seen->tick, BLOCK, out)) {
        seen->permit = NULL;
        return false;
    }
    seen->permit = permit;
    seen->block = out->slot + 1;
    seen->block_end = out->slot + BLOCK;
    return true;
}

int firn__gen_exhausted(const firn_gen *gen, firn_error *error) {
    return firn__fail(error, FIRN_EEXHAUSTED,
                      "%s has issued all it may ahead of the clock (max_lead_ms=%" PRId64
                      "): slow down, full=wait, or more nodes=",
                      gen->scheme.name, gen->keys.max_lead_ms);
}

/* The renewer's lock. Whoever holds it may be asking the store, so that who leaves the store to a
 * renewer of the caller's (`patient` false) does not wait for it. */
static int lock_renewal(firn_gen *gen, bool patient, firn_error *error) {
    if (patient) {
        pthread_mutex_lock(&gen->live->renewal);
    } else if (pthread_mutex_trylock(&gen->live->renewal) != 0) {
        return firn__fail(
            error, FIRN_EWINDOW,
            "the clock of %s stepped back while its renewer asks the store: try again", gen->ns);
    }
    return FIRN_OK;
}

/* After a step back beyond back_ms: leaves the nodes, or remembers until when to hold still. */
static int act_on_step(firn_gen *gen, uint64_t tick, bool patient, firn_error *error) {
    firn__live *live = gen->live;
    int64_t policy = gen->keys.back_;
    if (policy == FIRN__BACK_AUTO) {
        policy = gen->reserved && gen->fixed ? FIRN__BACK_WAIT : FIRN__BACK_LEAVE;
    }
    int code = lock_renewal(gen, patient, error);
    if (code != FIRN_OK) {
        return code;
    }
    uint64_t steps = atomic_load(&live->watch.stepped);
    if (steps != atomic_load(&live->handled)) {
        if (policy == FIRN__BACK_LEAVE) {
            firn__window_leave(gen);
            firn__gen_notice(
                gen, "the clock stepped back by more than %" PRId64 " ms: %s", gen->keys.back_ms,
                gen->reserved ? "the node is left for another" : "a new start is drawn");
        } else {
            uint64_t last = live->has_last && live->last_tick > tick ? live->last_tick : tick;
            for (uint32_t k = 0; k < (uint32_t)gen->keys.nodes; k++) {
                firn__permit *permit = permit_of(gen, k);
                uint64_t cursor = permit == NULL ? 0 : atomic_load(&permit->cursor) & ~FIRN__OPEN;
                uint64_t used = permit == NULL ? 0 : permit->base_tick + (cursor >> gen->s);
                last = used > last ? used : last;
            }
            atomic_store(&live->blocked, last + 1);
            for (uint32_t k = 0; k < (uint32_t)gen->keys.nodes; k++) {
                firn__permit *permit = permit_of(gen, k);
                if (permit != NULL) {
                    atomic_store(&permit->soft, 0); /* so that every call comes to ask */
                }
            }
        }
    }
    atomic_store(&live->handled, steps); /* only now: the old permits are closed */
    pthread_mutex_unlock(&live->renewal);
    return FIRN_OK;
}

/* Is a step back still being waited for? */
static int check_blocked(firn_gen *gen, uint64_t tick, bool patient, firn_error *error) {
    uint64_t until = atomic_load(&gen->live->blocked);
    if (until == 0) {
        return FIRN_OK;
    }
    if (tick + gen->back_ticks + 1 >= until) {
        int code = lock_renewal(gen, patient, error);
        if (code != FIRN_OK) {
            return code;
        }
        if (atomic_compare_exchange_strong(&gen->live->blocked, &until, 0)) {
            for (uint32_t k = 0; k < (uint32_t)gen->keys.nodes; k++) {
                if (permit_of(gen, k) != NULL) {
                    firn__window_soften(permit_of(gen, k));
                }
            }
        }
        pthread_mutex_unlock(&gen->live->renewal);
        return FIRN_OK;
    }
    return firn__fail(error, FIRN_ECLOCK,
                      "the clock stepped back beyond back_ms=%" PRId64 " and is still %" PRIu64
                      " ms behind the last ID: wait, mend the clock, or leave the node out so that "
                      "another can be claimed",
                      gen->keys.back_ms, (until - 1 - tick) * gen->scheme.tick_ns / 1000000);
}

/* In a child of the process that opened the generator: everything that lived was wiped. A new
 * identity, or none. */
int firn__gen_adopt(firn_gen *gen, firn_error *error) {
    firn__live *live = gen->live;
    uint64_t serial;
    int code = FIRN_OK;
    if (atomic_load(&live->serial) != 0) {
        return FIRN_OK;
    }
    pthread_mutex_lock(&live->renewal); /* wiped too, so nobody holds it */
    if (atomic_load(&live->serial) == 0) {
        if (gen->reserved && gen->fixed && FIRN_BUG != FIRN_BUG_FIXED) {
            char node[128];
            code = firn__fail(error, FIRN_EFORKED,
                              "%s stays with the parent process: open a generator in the child, "
                              "with another node or "
                              "none",
                              firn__gen_node_text(node, gen, gen->pinned));
        }
        if (code == FIRN_OK) {
            code = firn__gen_identify(gen, error);
        }
        if (code == FIRN_OK) {
            code = firn__entropy_fill(NULL, &serial, sizeof serial, error);
        }
        if (code == FIRN_OK) {
            /* Left to leak, not freed: another thread of the parent may have been changing them
             * at the fork. */
            gen->history = (firn__ticks){NULL, 0, 0, 0};
            gen->chunks = NULL;
            gen->chunk_count = 0;
            firn__node_note(gen->note);
            atomic_store(&live->watch.trusted_s, INT64_MIN);
            atomic_store(&live->serial, serial | 1);
        }
    }
    pthread_mutex_unlock(&live->renewal);
    return code;
}

/* A jump ahead and back between two judgements leaves no other trace than a cursor that no
 * borrowing can explain. Suspected by the tick at hand, it is proved by a reading taken after it. */
static void see_step(firn_gen *gen, uint64_t *tick) {
    firn__live *live = gen->live;
    int64_t most = gen->lead_slots + (int64_t)((gen->back_ticks + 1) << gen->s);
    bool asked = atomic_load(&live->blocked) != 0 || gen->scheme.tick_ns == 0;
    for (uint32_t k = 0; !asked && k < (uint32_t)gen->keys.nodes; k++) {
        firn__permit *permit = permit_of(gen, k);
        uint64_t cursor = permit == NULL ? 0 : atomic_load(&permit->cursor);
        int64_t next = (int64_t)(cursor & ~FIRN__OPEN);
        if (!(cursor & FIRN__OPEN) || next <= permit->first ||
            next <= slot_of(gen, permit, *tick) + most) {
            continue;
        }
        asked = firn__gen_now(gen, tick, NULL) == FIRN_OK &&
                next > slot_of(gen, permit, *tick) + most &&
                atomic_load(&live->watch.stepped) == atomic_load(&live->handled);
        if (asked) {
            atomic_fetch_add(&live->watch.stepped, 1);
        }
    }
}

/* What every kind does first when the fast way fails: who am I, what time is it, may I. */
static int get_ready(firn_gen *gen, uint64_t *tick, bool patient, firn_error *error) {
    int code = firn__gen_adopt(gen, error);
    if (code == FIRN_OK) {
        code = firn__gen_now(gen, tick, error);
    }
    if (code == FIRN_OK) {
        see_step(gen, tick);
    }
    if (code == FIRN_OK &&
        atomic_load(&gen->live->watch.stepped) != atomic_load(&gen->live->handled)) {
        code = act_on_step(gen, *tick, patient, error);
    }
    return code == FIRN_OK ? check_blocked(gen, *tick, patient, error) : code;
}

static int prepare(firn_gen *gen, uint64_t *tick, firn_error *error) {
    return get_ready(gen, tick, !gen->has_renewer || !gen->reserved, error);
}

/* Is permit k still the one that was seen, and without what is needed? Under live->renewal. */
static bool is_wanted(const firn_gen *gen, uint32_t k, const firn__need *need) {
    const firn__permit *permit = permit_of(gen, k);
    return permit == need->permit && (permit == NULL || need->end > atomic_load(&permit->end));
}

/* Asks the renewer for permit k: with `must` the call waits for its turn, else it only tries. */
static int keep(firn_gen *gen, uint32_t k, const firn__need *need, firn_error *error) {
    firn__live *live = gen->live;
    if (gen->has_renewer && gen->reserved) {
        return firn__fail(error, FIRN_EWINDOW,
                          "the window of %s is used up and its renewer has not renewed it yet",
                          gen->ns);
    }
    if (!need->must && pthread_mutex_trylock(&live->renewal) != 0) {
        return FIRN_OK;
    }
    uint64_t failures = atomic_load(&live->failures);
    if (need->must) {
        pthread_mutex_lock(&live->renewal);
    }
    firn_error why = {0, ""};
    int code;
    if (atomic_load(&live->failures) != failures && is_wanted(gen, k, need)) {
        why = live->failure; /* while this call waited: asking again would but take as long */
        code = why.code;
    } else {
        uint64_t errors = atomic_load(&live->store_errors);
        code = firn__window_keep(gen, k, need, &why);
        if (code != FIRN_OK && atomic_load(&live->store_errors) != errors) {
            live->failure = why;
            atomic_fetch_add(&live->failures, 1);
        }
    }
    pthread_mutex_unlock(&live->renewal);
    if (code != FIRN_OK && error != NULL) {
        *error = why;
    }
    return code;
}

/* n slots the long way: judge the clock, renew or claim, then grab. */
COLD int take_slow(firn_gen *gen, int64_t n, taken *out, firn_error *error) {
    uint32_t k;
    bool starts = gen->start != FIRN_START_ZERO;
    uint64_t tick;
    if (n > gen->at_once) {
        return firn__fail(error, FIRN_EEXHAUSTED,
                          "%" PRId64 " IDs at once are more than %s has within max_lead_ms=%" PRId64
                          ": ask for at most %" PRId64 " at once",
                          n, gen->scheme.name, gen->keys.max_lead_ms, gen->at_once);
    }
    if (gen->keys.nodes > 1 && seen_of(gen)->lane == 0) { /* the first call takes its turn */
        int code = prepare(gen, &tick, error);
        if (code != FIRN_OK) {
            return code;
        }
    }
    k = window_of(gen);
    for (int i = 0; i < TRIES; i++) {
        int64_t want = 0;
        firn__permit *permit = permit_of(gen, k);
        int code = prepare(gen, &tick, error);
        if (code != FIRN_OK) {
            return code;
        }
        if (permit != permit_of(gen, k)) {
            continue; /* the reading may be older than the permit */
        }
        enum grab result = GRAB_CLOSED;
        if (permit != NULL) {
            int64_t soft = atomic_load(&permit->soft);
            result = grab(gen, permit, tick, n, soft, starts, out, &want, error);
            if (result == GRAB_SOFT && want + n <= atomic_load(&permit->end)) {
                firn__need early = {permit, tick, seen_of(gen)->steps, want + n, n, false};
                keep(gen, k, &early, NULL); /* whatever comes of it, go on */
                result = grab(gen, permit, tick, n, atomic_load(&permit->end), starts, out, &want,
                              error);
            }
        }
        if (result == GRAB_DONE) {
            return FIRN_OK;
        }
        if (result == GRAB_LEAD) {
            return firn__gen_exhausted(gen, error);
        }
        if (result == GRAB_ENTROPY) {
            return FIRN_EENTROPY;
        }
        firn__need need = {permit, tick, seen_of(gen)->steps, want + n, n, true};
        code = keep(gen, k, &need, error);
        if (code != FIRN_OK) {
            return code;
        }
    }
    return firn__fail(error, FIRN_EWINDOW,
                      "the window of %s changed hands %d times during one call: try again", gen->ns,
                      TRIES);
}

/* ---- from slots to IDs ----------------------------------------------------------------------- */

int firn__gen_random(const firn_gen *gen, firn_value *random, firn_error *error) {
    random->high = 0;
    return gen->max_random == 0
               ? firn__entropy_bits(gen->entropy, random, gen->random_bits, error)
               : firn__entropy_below(gen->entropy, &random->low, gen->max_random + 1, error);
}

HOT int pack_slot(const firn_gen *gen, const taken *from, int64_t slot, firn_id *id,
                  firn_error *error) {
    firn__draw draw = {
        from->base_tick + ((uint64_t)slot >> gen->s), (uint64_t)slot & firn__mask(gen->s), {0, 0}};
    if (gen->random_bits > 0) {
        int code = firn__gen_random(gen, &draw.random, error);
        if (code != FIRN_OK) {
            return code;
        }
    }
    firn__gen_pack(gen, &draw, &from->base, id);
    return FIRN_OK;
}

/* Where the IDs of one call go: whole IDs, or plain integers. */
typedef struct sink {
    firn_id *ids;
    uint64_t *numbers;
} sink;

static inline void put(sink to, size_t i, const firn_id *id) {
    if (to.ids != NULL) {
        to.ids[i] = *id;
    } else {
        to.numbers[i] = id->low;
    }
}

/* What was written before a failure was not issued, and must not look as if it were. */
static void wipe(sink to, size_t n) {
    if (to.ids != NULL) {
        memset(to.ids, 0, n * sizeof *to.ids);
    } else {
        memset(to.numbers, 0, n * sizeof *to.numbers);
    }
}

/* How much one slot more adds to the ID within a tick, when that is the same for all: 0 when it
 * is not. */
static uint64_t stride_of(const firn_gen *gen) {
    int i = firn__scheme_role(&gen->scheme, FIRN_ROLE_SEQUENCE);
    uint32_t position = gen->scheme.bits;
    if (gen->random_bits > 0 || gen->shuffle.digits > 0 || i < 0 ||
        gen->scheme.slices[i].bits != gen->s || gen->scheme.slices[i].group != 0) {
        return 0;
    }
    for (int j = 0; j <= i; j++) {
        position -= gen->scheme.slices[j].bits;
    }
    return position + gen->s <= 64 ? firn__up((firn_value){1, 0}, position).low : 0;
}

/* A run of slots of one tick: the first packed, the others counted up. Numbers go two to a
 * store: one a store is what would bound the rate. */
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

static void fill_run(sink to, size_t at, size_t n, const firn_id *first, uint64_t stride) {
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

static int fill_slots(const firn_gen *gen, const taken *from, sink to, size_t n, bool count,
                      firn_error *error) {
    uint64_t stride = stride_of(gen);
    for (size_t i = 0; i < n;) {
        firn_id id;
        int64_t slot = from->slot + (count ? (int64_t)i : 0);
        size_t run = 1, left = (size_t)(gen->count_mask + 1 - ((uint64_t)slot & gen->count_mask));
        bool direct = stride == 0 && to.ids != NULL;
        int code = pack_slot(gen, from, slot, direct ? &to.ids[i] : &id, error);
        if (code != FIRN_OK) {
            wipe(to, i);
            return code;
        }
        if (stride != 0) {
            run = left < n - i ? left : n - i;
            fill_run(to, i, run, &id, stride);
        } else if (!direct) {
            put(to, i, &id);
        }
        i += run;
    }
    return FIRN_OK;
}

static int issue_slots(firn_gen *gen, sink to, size_t n, firn_error *error) {
    taken out;
    firn__permit *permit = permit_of(gen, window_of(gen));
    int code = FIRN_OK;
    /* A leased block lies before these: it is dropped, to keep the thread's order. */
    seen_of(gen)->permit = NULL;
    if (!recent(gen, seen_of(gen)) ||
        !take_fast(gen, permit, seen_of(gen)->tick, (int64_t)n, &out)) {
        code = take_slow(gen, (int64_t)n, &out, error);
    }
    return code == FIRN_OK ? fill_slots(gen, &out, to, n, true, error) : code;
}

/* mode=online: just what is asked for, straight from the store. */
static int issue_online(firn_gen *gen, sink to, size_t n, firn_error *error) {
    firn__permit permit;
    uint64_t tick;
    if (n > (size_t)gen->at_once) {
        taken none;
        return take_slow(gen, (int64_t)n, &none, error); /* says how many it may be */
    }
    int code = prepare(gen, &tick, error);
    if (code == FIRN_OK && gen->has_renewer) {
        return firn__fail(error, FIRN_EUSAGE,
                          "mode=online asks the store in every call: leave has_renewer out");
    }
    if (code == FIRN_OK) {
        memset(&permit, 0, sizeof permit);
        pthread_mutex_lock(&gen->live->renewal);
        code = firn__window_online(gen, tick, (int64_t)n, &permit, error);
        pthread_mutex_unlock(&gen->live->renewal);
    }
    if (code != FIRN_OK) {
        return code;
    }
    taken out = {permit.base_tick, permit.first, permit.base};
    return fill_slots(gen, &out, to, n, true, error);
}

/* ---- random and counted rows ----------------------------------------------------------------- */

/* What so many ticks more ask of the permit: the slots wanted end behind the cursor and the
 * present. */
static firn__need tick_need(const firn_gen *gen, const firn__permit *permit, uint64_t tick,
                            int64_t ticks) {
    firn__need need = {permit, tick, seen_of(gen)->steps, ticks, ticks, true};
    if (permit != NULL) {
        int64_t next = (int64_t)(atomic_load(&permit->cursor) & ~FIRN__OPEN);
        int64_t now = slot_of(gen, permit, tick);
        need.end = (next > now ? next : now) + ticks;
        need.must = need.end > atomic_load(&permit->end);
    }
    return need;
}

/* A permit that can issue so many ticks now, and a renewal when it is due: for rows that do not go
 * by slots. */
static int ensure(firn_gen *gen, firn__permit **permit, uint64_t *tick, int64_t ticks,
                  firn_error *error) {
    int code = FIRN_OK;
    for (int i = 0; code == FIRN_OK && i < TRIES; i++) {
        *permit = permit_of(gen, 0);
        code = prepare(gen, tick, error);
        if (code != FIRN_OK || *permit != permit_of(gen, 0)) {
            continue; /* the reading may be older than the permit */
        }
        firn__need need = tick_need(gen, *permit, *tick, ticks);
        if (*permit != NULL && !need.must) {
            if (need.end > atomic_load(&(*permit)->soft)) {
                keep(gen, 0, &need, NULL); /* ahead of need: whatever comes of it, go on */
            }
            return FIRN_OK;
        }
        code = keep(gen, 0, &need, error);
    }
    return code != FIRN_OK
               ? code
               : firn__fail(error, FIRN_EWINDOW, "the window of %s is used up", gen->ns);
}

/* The slot of a random row, which only keeps the tick from falling. False: the permit was
 * closed. */
static bool take_tick(const firn_gen *gen, firn__permit *permit, uint64_t tick, taken *out) {
    *out = (taken){permit->base_tick, 0, permit->base};
    int64_t now = gen->scheme.tick_ns == 0 ? 0 : slot_of(gen, permit, tick);
    atomic_thread_fence(memory_order_acquire); /* the above was whole if the permit is open below */
    uint64_t cursor = atomic_load(&permit->cursor);
    do {
        if (!(cursor & FIRN__OPEN)) {
            return false;
        }
        out->slot = (int64_t)(cursor & ~FIRN__OPEN);
        if (gen->scheme.tick_ns != 0 &&
            out->slot > lead_end(gen, now) + (int64_t)((gen->back_ticks + 1) << gen->s)) {
            return false; /* the clock was ahead once: prepare sees the step */
        }
        out->slot = now > out->slot ? now : out->slot;
    } while (
        (uint64_t)out->slot != (cursor & ~FIRN__OPEN) &&
        !atomic_compare_exchange_weak(&permit->cursor, &cursor, FIRN__OPEN | (uint64_t)out->slot));
    return true;
}

/* Random rows: the tick never falls, and that is all the state there is. */
static int issue_random(firn_gen *gen, sink to, size_t n, firn_error *error) {
    taken out;
    firn__permit *permit = permit_of(gen, 0);
    bool timed = gen->scheme.tick_ns != 0;
    uint64_t tick = seen_of(gen)->tick;
    bool ready = permit != NULL && (!timed || recent(gen, seen_of(gen))) &&
                 atomic_load_explicit(&gen->live->blocked, memory_order_relaxed) == 0;
    tick = timed && ready ? seen_of(gen)->tick : tick;
    for (int i = 0; !ready || !take_tick(gen, permit, tick, &out); i++) {
        int code = i == TRIES ? firn__fail(error, FIRN_ECLOCK, "the clock steps back and back")
                              : ensure(gen, &permit, &tick, 1, error);
        if (code != FIRN_OK) {
            return code;
        }
        ready = true;
    }
    return fill_slots(gen, &out, to, n, false, error);
}

/* Marks `tick` as begun in the permit's cursor: nothing of it is given back or granted again. */
static enum grab begin_tick(const firn_gen *gen, firn__permit *permit, uint64_t tick, uint64_t now,
                            int64_t *want) {
    uint64_t cursor = atomic_load(&permit->cursor);
    *want = slot_of(gen, permit, tick);
    for (;;) {
        if (!(cursor & FIRN__OPEN)) {
            return GRAB_CLOSED;
        }
        if (*want < (int64_t)(cursor & ~FIRN__OPEN)) {
            *want = (int64_t)(cursor & ~FIRN__OPEN);
        }
        if (*want >= atomic_load(&permit->end)) {
            return GRAB_SOFT;
        }
        if (*want >= lead_end(gen, slot_of(gen, permit, now))) {
            return GRAB_LEAD;
        }
        if (atomic_compare_exchange_weak(&permit->cursor, &cursor,
                                         FIRN__OPEN | (uint64_t)(*want + 1))) {
            return GRAB_DONE;
        }
    }
}

/* One more of `random`; false past its end. */
static bool plus_one(firn_value *random, uint32_t bits) {
    random->low++;
    random->high += random->low == 0;
    return firn__fits(*random, bits);
}

/* Moves the state to a tick it has not been in, at or after the present one. */
static int next_tick(firn_gen *gen, firn__counted *state, firn__permit *permit, uint64_t now,
                     firn_error *error) {
    uint64_t tick = now;
    int64_t want;
    if (state->started && state->permit == permit && tick <= state->tick) {
        tick = state->tick + 1;
    }
    uint64_t base_tick = permit->base_tick;
    firn_id base = permit->base; /* read before the tick is begun: then it was whole */
    switch (begin_tick(gen, permit, tick, now, &want)) {
    case GRAB_LEAD:
        return firn__gen_exhausted(gen, error);
    case GRAB_DONE:
        break;
    default:
        return FIRN_EWINDOW; /* the caller has it renewed and comes back */
    }
    state->tick = base_tick + (uint64_t)want;
    state->permit = permit;
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
        drawn.low = firn_locality_start(&seen_of(gen)->wall);
    } else {
        code = firn__entropy_bits(gen->entropy, &drawn, gen->count_bits, error);
    }
    state->counter = drawn.low;
    return code;
}

/* The next ID of a counted row, from a copy of the state. */
static int count_one(firn_gen *gen, firn__counted *state, firn__permit *permit, uint64_t now,
                     firn_id *id, firn_error *error) {
    bool fresh = !state->started || state->permit != permit || now > state->tick;
    bool full = !fresh && gen->count_bits > 0 && state->used > firn__mask(gen->count_bits);
    if (!fresh && state->tick > now + gen->lead_ticks) {
        return firn__gen_exhausted(
            gen, error); /* the clock stepped back, and more was borrowed before */
    }
    if (!fresh && !full && gen->scheme.monotonic) {
        full = !plus_one(&state->random, gen->random_bits);
    }
    int code = start_counter(gen, state, error);
    if (code == FIRN_OK && (fresh || full)) {
        code = next_tick(gen, state, permit, now, error);
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
    gen->pack(id, &gen->scheme, &draw, &state->base);
    return code;
}

/* Is there room for n IDs? Asked before the first tick of them is begun, since what is begun is
 * used up. *ticks: how many they begin. A random part that is counted up is as good as endless. */
static int find_room(firn_gen *gen, const firn__counted *state, const firn__permit *permit,
                     uint64_t now, size_t n, int64_t *ticks, firn_error *error) {
    uint64_t holds = firn__mask(gen->count_bits) + 1, left = 0;
    int64_t here = slot_of(gen, permit, now);
    int64_t next = (int64_t)(atomic_load(&permit->cursor) & ~FIRN__OPEN);
    if (state->started && state->permit == permit && now <= state->tick) {
        left = holds - state->used;
    }
    if (gen->count_bits == 0 || n <= left) {
        return FIRN_OK;
    }
    *ticks = (int64_t)((n - left - 1) / holds + 1);
    next = next > here ? next : here;
    if (next + *ticks > lead_end(gen, here)) {
        return firn__gen_exhausted(gen, error);
    }
    return next + *ticks > atomic_load(&permit->end) ? FIRN_EWINDOW : FIRN_OK;
}

/* n IDs from the state, committed whole or not at all. */
static int count_all(firn_gen *gen, firn__permit *permit, uint64_t tick, sink to, size_t n,
                     int64_t *ticks, firn_error *error) {
    firn__counted *state = &gen->live->counted;
    pthread_mutex_lock(&state->lock);
    int code = find_room(gen, state, permit, tick, n, ticks, error);
    firn__counted copy = *state;
    for (size_t i = 0; i < n && code == FIRN_OK; i++) {
        firn_id id = {0, 0, 0, 0};
        code = count_one(gen, &copy, permit, tick, &id, error);
        if (code == FIRN_OK) {
            put(to, i, &id);
        }
    }
    if (code == FIRN_OK) {
        memcpy((char *)state + sizeof state->lock, (char *)&copy + sizeof copy.lock,
               sizeof copy - sizeof copy.lock);
    } else {
        wipe(to, n);
    }
    pthread_mutex_unlock(&state->lock);
    return code;
}

/* Counted rows keep tick and counter together, so under a lock: no single word holds both. */
static int issue_counted(firn_gen *gen, sink to, size_t n, firn_error *error) {
    int code = FIRN_EWINDOW;
    int64_t ticks = 1; /* that the IDs begin */
    for (int i = 0; i < TRIES && code == FIRN_EWINDOW; i++) {
        firn__permit *permit = permit_of(gen, 0);
        uint64_t tick;
        if (i == 0 && permit != NULL && recent(gen, seen_of(gen)) &&
            atomic_load_explicit(&gen->live->blocked, memory_order_relaxed) == 0 &&
            slot_of(gen, permit, seen_of(gen)->tick) < atomic_load(&permit->soft)) {
            tick = seen_of(gen)->tick;
        } else if ((code = ensure(gen, &permit, &tick, ticks, error)) != FIRN_OK) {
            return code;
        }
        code = count_all(gen, permit, tick, to, n, &ticks, error);
    }
    if (gen->reserved && gen->keys.mode_ == FIRN__MODE_ONLINE) { /* holds no window */
        pthread_mutex_lock(&gen->live->renewal);
        firn__window_retire(gen, 0, true, NULL);
        pthread_mutex_unlock(&gen->live->renewal);
    }
    return code == FIRN_EWINDOW ? firn__fail(error, code, "the window of %s is used up", gen->ns)
                                : code;
}

/* ---- the public calls ------------------------------------------------------------------------ */

static int issue_once(firn_gen *gen, sink to, size_t n, firn_error *error) {
    switch (gen->kind) {
    case FIRN__KIND_COUNTED:
        return issue_counted(gen, to, n, error);
    case FIRN__KIND_RANDOM:
        return issue_random(gen, to, n, error);
    default:
        return gen->reserved && gen->keys.mode_ == FIRN__MODE_ONLINE
                   ? issue_online(gen, to, n, error)
                   : issue_slots(gen, to, n, error);
    }
}

/* Where one node is used up, the others that the generator holds may have slots: the thread moves on,
 * and stays there. */
static int issue_anywhere(firn_gen *gen, sink to, size_t n, firn_error *error) {
    int code = issue_once(gen, to, n, error);
    if (code != FIRN_EEXHAUSTED || gen->keys.nodes == 1 || n > (size_t)gen->at_once) {
        return code;
    }
    firn__seen *seen = seen_of(gen);
    uint32_t lane = seen->lane;
    for (uint32_t k = 1; k < (uint32_t)gen->keys.nodes; k++) {
        seen->lane = (lane - 1 + k) % (UINT32_C(1) << 30) + 1;
        if (issue_once(gen, to, n, NULL) == FIRN_OK) {
            return FIRN_OK;
        }
    }
    seen->lane = lane;
    return code;
}

/* Would a nap help? Only where a policy says wait. */
static bool may_wait(const firn_gen *gen, int code, size_t n) {
    bool back_waits = gen->keys.back_ == FIRN__BACK_WAIT ||
                      (gen->keys.back_ == FIRN__BACK_AUTO && gen->reserved && gen->fixed);
    return (code == FIRN_EEXHAUSTED && gen->keys.full_ == FIRN__FULL_WAIT &&
            n <= (size_t)gen->at_once) ||
           (code == FIRN_ECLOCK && back_waits) ||
           (code == FIRN_EBUSY && gen->live->busy_ms <= gen->keys.max_wait_ms);
}

COLD int issue(firn_gen *gen, sink to, size_t n, firn_error *error) {
    int64_t left = gen->keys.max_wait_ms * 1000000, now = 0;
    firn__wiped_look();
    /* What store calls take counts as waiting too. */
    int64_t since = gen->reserved ? firn__window_begin(gen) : 0;
    if (n > FIRN__AT_ONCE) {
        return firn__fail(error, FIRN_ERANGE, "%zu IDs at once: ask for at most %d", n,
                          FIRN__AT_ONCE);
    }
    int code = issue_anywhere(gen, to, n, error);
    if (!may_wait(gen, code, n) ||
        (since == 0 && gen->clock->steady(gen->clock->self, &since) != FIRN_OK)) {
        return code;
    }
    while (may_wait(gen, code, n) && left > 0 &&
           gen->clock->steady(gen->clock->self, &now) == FIRN_OK &&
           now - since < gen->keys.max_wait_ms * 1000000) {
        gen->clock->pause(gen->clock->self, NAP_NS); /* no lock is held here */
        left -= NAP_NS;
        code = issue_anywhere(gen, to, n, error);
    }
    return code;
}

COLD int next_otherwise(firn_gen *gen, firn_id *id, firn_error *error) {
    firn_id one;
    int code = issue(gen, (sink){&one, NULL}, 1, error);
    if (code == FIRN_OK) {
        *id = one;
    }
    return code;
}

/* ordering=thread, and rows with a start or random bits of their own. */
static __attribute__((noinline)) int next_usual(firn_gen *gen, firn_id *id, firn_error *error) {
    firn__seen *seen = seen_of(gen);
    firn__permit *permit = permit_of(gen, window_of(gen)); /* before the time: see recent */
    taken out;
    if (recent(gen, seen) &&
        (gen->keys.ordering_ == FIRN__ORDERING_STRICT ? take_fast(gen, permit, seen->tick, 1, &out)
                                                      : take_block(gen, permit, seen, &out))) {
        return pack_slot(gen, &out, out.slot, id, error);
    }
    return next_otherwise(gen, id, error);
}

/* The way is kept short for what most callers have, strict order and a plain sequence: one
 * clock, one compare-and-swap, one packing. The template is read last, in place: if the permit
 * is still open then, it was whole. If not, the slot counts as issued and the long way finds
 * another. */
static inline __attribute__((always_inline)) int next_plain(firn_gen *gen, firn_id *id,
                                                            firn_error *error) {
    firn__seen *seen = seen_of(gen);
    firn__permit *permit = permit_of(gen, 0);
    if (!recent(gen, seen) || permit == NULL) {
        return next_otherwise(gen, id, error);
    }
    int64_t now = slot_of(gen, permit, seen->tick),
            soft = atomic_load_explicit(&permit->soft, memory_order_relaxed);
    int64_t limit = lead_end(gen, now) < soft ? lead_end(gen, now) : soft;
    uint64_t cursor = atomic_load_explicit(&permit->cursor, memory_order_acquire),
             base_tick = permit->base_tick;
    int64_t slot;
    do {
        slot = (int64_t)(cursor & ~FIRN__OPEN);
        slot = now > slot ? now : slot;
        if ((!(cursor & FIRN__OPEN) && FIRN_BUG != FIRN_BUG_CLOSED) || slot >= limit) {
            return next_otherwise(gen, id, error);
        }
    } while (!atomic_compare_exchange_weak_explicit(&permit->cursor, &cursor,
                                                    FIRN__OPEN | (uint64_t)(slot + 1),
                                                    memory_order_acq_rel, memory_order_acquire));
    firn__draw draw = {
        base_tick + ((uint64_t)slot >> gen->s), (uint64_t)slot & gen->count_mask, {0, 0}};
    gen->pack(id, &gen->scheme, &draw,
              &permit->base); /* not by way of a copy, which would wait for its own stores */
    atomic_thread_fence(memory_order_acquire);
    if (!(atomic_load_explicit(&permit->cursor, memory_order_relaxed) & FIRN__OPEN)) {
        *id = (firn_id){0, 0, 0, 0};
        return next_otherwise(gen, id, error);
    }
    return FIRN_OK;
}

int firn_next(firn_gen *gen, firn_id *id, firn_error *error) {
    if (gen->way == FIRN__WAY_PLAIN) {
        return next_plain(gen, id, error);
    }
    return gen->way == FIRN__WAY_USUAL ? next_usual(gen, id, error)
                                       : next_otherwise(gen, id, error);
}

int firn_next_n(firn_gen *gen, firn_id *ids, size_t n, firn_error *error) {
    return n == 0 ? FIRN_OK : issue(gen, (sink){ids, NULL}, n, error);
}

int firn_next_u64(firn_gen *gen, uint64_t *ids, size_t n, firn_error *error) {
    if (gen->scheme.bits > 64) {
        return firn__fail(error, FIRN_EUSAGE, "%s has %" PRIu32 " bits: use firn_next_n",
                          gen->scheme.name, gen->scheme.bits);
    }
    return n == 0 ? FIRN_OK : issue(gen, (sink){NULL, ids}, n, error);
}

const firn_scheme *firn_gen_scheme(const firn_gen *gen) {
    return gen->shuffle.digits > 0 ? firn__scheme_digits(gen->shuffle.digits) : &gen->scheme;
}

int firn_gen_step(firn_gen *gen, int64_t *wait_ms, firn_error *error) {
    uint64_t tick = 0;
    firn__wiped_look();
    firn__window_begin(gen);
    int code = get_ready(gen, &tick, true, error), result = code;
    *wait_ms = 50;
    if (code != FIRN_OK || !gen->reserved || gen->keys.mode_ == FIRN__MODE_ONLINE) {
        *wait_ms = code == FIRN_OK ? 1000 : 50;
        return code;
    }
    pthread_mutex_lock(&gen->live->renewal);
    for (uint32_t k = 0; k < (uint32_t)gen->keys.nodes; k++) {
        firn__permit *permit = permit_of(gen, k);
        firn__need need = tick_need(gen, permit, tick, 1);
        bool due = permit == NULL || need.end > atomic_load(&permit->soft);
        code = due ? firn__window_keep(gen, k, &need, error) : FIRN_OK;
        result = code != FIRN_OK ? code : result;
    }
    pthread_mutex_unlock(&gen->live->renewal);
    int64_t quarter = (int64_t)(gen->window_ticks * gen->scheme.tick_ns / 1000000 / 4);
    *wait_ms = result != FIRN_OK || quarter < 1 ? 50 : quarter < STEP_MS ? quarter : STEP_MS;
    return result;
}

void firn_gen_status(firn_gen *gen, firn_status *status) {
    firn__wiped_look();
    firn__live *live = gen->live;
    firn__permit *permit = permit_of(gen, 0);
    firn_status out = {.size = status->size, .reserved = gen->reserved};
    if (permit != NULL) {
        uint64_t cursor = atomic_load(&permit->cursor);
        int64_t base = gen->reserved ? (int64_t)(permit->base_tick << gen->s) : 0;
        firn_time wall, last;
        out.held = cursor & FIRN__OPEN;
        out.node = permit->node;
        out.first = base + permit->first;
        out.next = base + (int64_t)(cursor & ~FIRN__OPEN);
        out.end = base + atomic_load(&permit->end);
        if (gen->scheme.tick_ns != 0 && gen->clock->wall(gen->clock->self, &wall) == FIRN_OK) {
            firn_scheme_time(&gen->scheme, permit->base_tick + ((cursor & ~FIRN__OPEN) >> gen->s),
                             &last);
            out.lead_ns = firn__time_since(&last, &wall);
        }
    }
    out.claims = atomic_load(&live->claims);
    out.renewals = atomic_load(&live->renewals);
    out.give_backs = atomic_load(&live->give_backs);
    out.store_errors = atomic_load(&live->store_errors);
    out.steps_back_absorbed = atomic_load(&live->watch.absorbed);
    out.steps_back_left = atomic_load(&live->watch.stepped);
    out.jumps_ahead = atomic_load(&live->watch.jumped);
    out.unsafe = gen->keys.unsafe_ != 0 || gen->cautioned;
    size_t size = status->size < sizeof out ? status->size : sizeof out;
    memcpy(status, &out, size);
}
