/* SPDX-License-Identifier: MIT */
/* The present tick, the long way: which process is this, what time is it, and may it issue IDs.
 * Judges the clock again, handles a forked child, and acts on a clock rollback. */
#include "now.h"
#include "duration.h"
#include "entropy.h"
#include "error.h"

#include <inttypes.h>

#define COARSE_NS INT64_C(20000000) /* the coarse clock is never older than this */

int firn__gen_now(firn_gen *gen, uint64_t *tick, firn_error *error) {
    firn__process_state *live = gen->live;
    firn__thread_view *seen = firn__thread_view_of(gen);
    uint64_t serial = atomic_load_explicit(&live->any.serial, memory_order_acquire);
    bool known = seen->serial == serial;
    firn_time wall = seen->wall;
    uint64_t cycles = gen->cycles ? firn__cycles() : 0, coarse_tick,
             steps = known ? seen->steps : UINT64_MAX;
    int code = firn__watch_judge(&live->watch, gen->clock, gen->keys.max_back_ms * 1000000, &wall,
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
    if (firn__read_coarse(gen) && firn__clock_coarse(&coarse) == FIRN_OK &&
        gen->scheme.tick_ns != 0 && firn__time_since(&wall, &coarse) < COARSE_NS &&
        firn__time_since(&coarse, &wall) < COARSE_NS && firn__tick_of(gen, &coarse, &coarse_tick)) {
        wall = coarse; /* so that the next coarse reading does not look like a step back */
        *tick = coarse_tick;
    }
    if (gen->cycles && known && firn__went_back(seen->counter, cycles)) {
        firn__count(&live->any.counted_back);
    }
    uint32_t lane = known && seen->lane != 0
                        ? seen->lane
                        : atomic_fetch_add_explicit(&live->any.lanes, 1, memory_order_relaxed) %
                                  (UINT32_C(1) << 30) +
                              1;
    /* The era first, and never 0 in between, which is the era of a child: a handler may fork
     * between any two instructions. What firn__thread_view has besides is written by remember(),
     * before it notes an era. */
    seen->era = FIRN__NO_ERA;
    atomic_signal_fence(memory_order_seq_cst);
    seen->steps = steps;
    seen->lane = lane;
    seen->serial = serial;
    seen->counter = cycles;
    seen->tick = *tick;
    seen->wall = wall;
    seen->next = UINT64_MAX; /* this thread has not seen the cursor: it does not add */
    seen->next_end = 0;
    seen->run = seen->run_end = 0;
    return FIRN_OK;
}

/* ---- a clock that stepped back --------------------------------------------------------------- */

static const char stepped_back[] = "the clock stepped back";

/* Takes the renewal lock. If the caller has a renewer (`patient` is false), it does not wait for
 * the lock, because the renewer may hold it during a call of the store. */
static int lock_renewal(firn_gen *gen, const char *why, bool patient, firn_error *error) {
    int code = firn__renewal_lock(gen, patient, error);
    return code == FIRN_OK || patient
               ? code
               : firn_error_set(error, FIRN_EWINDOW, FIRN_CURE_TRY_AGAIN,
                                "%s, and the renewer of %s calls the store: try again", why,
                                gen->ns);
}

/* Is `next`, a window's cursor, further ahead of the clock than any borrowing explains? Proved only
 * by a reading that is younger than the cursor: other threads issue in between. */
static bool is_ahead(const firn_gen *gen, const firn__window *window, int64_t next, uint64_t tick) {
    int64_t most = gen->lead_slots + (int64_t)((gen->back_ticks + 1) << gen->s);
    return next > firn__slot_of(gen, window, tick) + most;
}

/* The tick of every window's cursor, or the slot before it, and of windows that are gone: the
 * greatest, and not before `tick`. */
static uint64_t last_tick(const firn_gen *gen, uint64_t tick, bool before) {
    uint64_t last =
        gen->past->has_last && gen->past->last_tick > tick ? gen->past->last_tick : tick;
    for (uint32_t k = 0; k < (uint32_t)gen->keys.nodes; k++) {
        const firn__window *window = firn__window_of(gen, k);
        uint64_t slot = window == NULL ? 0 : firn__next_of(window);
        slot -= before && slot > 0;
        uint64_t used = window == NULL ? 0 : window->base_tick + (slot >> gen->s);
        last = used > last ? used : last;
    }
    return last;
}

/* The last tick that was issued in. Only of IDs that are random within a tick, the cursor is the
 * last slot itself. */
static uint64_t issued_tick(const firn_gen *gen, uint64_t tick) {
    return last_tick(gen, tick, gen->kind != FIRN__KIND_RANDOM);
}

/* Blocks every window until the clock has passed the last tick that was issued in. */
static void hold_still(firn_gen *gen, uint64_t tick) {
    firn__process_state *live = gen->live;
    atomic_store_explicit(&live->any.blocked, last_tick(gen, tick, false) + 1,
                          memory_order_release);
    for (uint32_t k = 0; k < (uint32_t)gen->keys.nodes; k++) {
        firn__window *window = firn__window_of(gen, k);
        if (window != NULL) { /* so that every call comes to ask */
            atomic_store_explicit(&window->soft, 0, memory_order_release);
        }
    }
    firn__event(gen); /* last: threads remember what they read of `soft` before */
}

/* Keeps the time of IDs where it is, or moves it on to `tick`. False: it is there already. */
static bool stay_until(firn_gen *gen, uint64_t tick) {
    uint64_t stays = atomic_load_explicit(&gen->live->any.stays, memory_order_acquire);
    while (stays < tick + 1) {
        if (atomic_compare_exchange_weak_explicit(&gen->live->any.stays, &stays, tick + 1,
                                                  memory_order_acq_rel, memory_order_acquire)) {
            return true;
        }
    }
    return false;
}

bool firn__gen_move_on(firn_gen *gen) {
    return atomic_load_explicit(&gen->live->any.stays, memory_order_acquire) != 0 &&
           stay_until(gen, issued_tick(gen, 0) + 1);
}

/* While the time of IDs stays, that is the present. Once the clock has reached it, the clock
 * decides again; not by a reading from before the step. */
static void see_stay(firn_gen *gen, uint64_t *tick) {
    uint64_t stays = atomic_load_explicit(&gen->live->any.stays, memory_order_acquire);
    firn__thread_view *seen = firn__thread_view_of(gen);
    if (*tick + 1 < stays) {
        *tick = stays - 1;
        seen->tick = *tick;
    } else if (stays != 0 && seen->steps == atomic_load_explicit(&gen->live->watch.stepped,
                                                                 memory_order_acquire)) {
        atomic_compare_exchange_strong_explicit(&gen->live->any.stays, &stays, 0,
                                                memory_order_acq_rel, memory_order_acquire);
    }
}

/* After a step back beyond max_back: leaves the nodes, or remembers until when to hold still or to
 * stay. */
static int act_on_step(firn_gen *gen, uint64_t tick, bool patient, firn_error *error) {
    firn__process_state *live = gen->live;
    int64_t policy = gen->keys.back_;
    if (policy == FIRN__BACK_AUTO) {
        policy = !firn__reserves(gen) ? FIRN__BACK_STAY
                 : gen->fixed         ? FIRN__BACK_WAIT
                                      : FIRN__BACK_LEAVE;
    }
    int code = lock_renewal(gen, stepped_back, patient, error);
    if (code != FIRN_OK) {
        return code;
    }
    /* Of the processes that share a cursor each sees the step, and the first one acts on it. */
    const firn__window *window = gen->shared != NULL ? firn__window_of(gen, 0) : NULL;
    const int64_t next = window == NULL ? 0 : (int64_t)firn__next_of(window);
    code = firn__gen_now(gen, &tick, error);
    uint64_t steps = atomic_load_explicit(&live->watch.stepped, memory_order_acquire);
    if (code == FIRN_OK && (window == NULL || is_ahead(gen, window, next, tick)) &&
        steps != atomic_load_explicit(&live->any.handled, memory_order_acquire)) {
        if (policy == FIRN__BACK_LEAVE) {
            firn__window_leave(gen);
            firn__gen_notice(gen, "the clock stepped back by more than %" PRId64 " ms: %s",
                             gen->keys.max_back_ms,
                             firn__reserves(gen) ? "firn claims another node"
                                                 : "firn draws a new random identity");
        } else if (policy == FIRN__BACK_STAY) {
            if (gen->scheme.tick_ns != 0 && stay_until(gen, issued_tick(gen, tick))) {
                firn__gen_notice(gen,
                                 "the clock stepped back by more than %" PRId64
                                 " ms: the time of IDs stays until the clock has caught up",
                                 gen->keys.max_back_ms);
            }
        } else {
            hold_still(gen, tick);
        }
    }
    if (code == FIRN_OK) {
        /* Only now: the old windows are closed. */
        atomic_store_explicit(&live->any.handled, steps, memory_order_release);
    }
    firn__renewal_unlock(gen);
    return code;
}

/* Is a step back still being waited for? */
static int check_blocked(firn_gen *gen, uint64_t tick, bool patient, firn_error *error) {
    uint64_t until = atomic_load_explicit(&gen->live->any.blocked, memory_order_acquire);
    if (until == 0) {
        return FIRN_OK;
    }
    if (tick + gen->back_ticks + 1 >= until) {
        int code = lock_renewal(gen, stepped_back, patient, error);
        if (code != FIRN_OK) {
            return code;
        }
        if (atomic_compare_exchange_strong_explicit(&gen->live->any.blocked, &until, 0,
                                                    memory_order_acq_rel, memory_order_acquire)) {
            for (uint32_t k = 0; k < (uint32_t)gen->keys.nodes; k++) {
                if (firn__window_of(gen, k) != NULL) {
                    firn__window_renew_soon(gen, firn__window_of(gen, k));
                }
            }
        }
        firn__renewal_unlock(gen);
        return FIRN_OK;
    }
    return firn__fail(error, FIRN_ECLOCK,
                      "the clock stepped back beyond max_back=%s and is still %" PRIu64
                      " ms before the last ID: wait, fix the clock, or leave the node out so that "
                      "firn can claim another",
                      FIRN__MS(gen->keys.max_back_ms),
                      (until - 1 - tick) * gen->scheme.tick_ns / 1000000);
}

/* A jump ahead and back between two judgements leaves no trace except a cursor that no borrowing
 * explains. Suspected by the present tick, it is proved by a later reading. */
static void see_step(firn_gen *gen, uint64_t *tick) {
    firn__process_state *live = gen->live;
    bool asked = atomic_load_explicit(&live->any.blocked, memory_order_acquire) != 0 ||
                 atomic_load_explicit(&live->any.stays, memory_order_acquire) != 0 ||
                 gen->scheme.tick_ns == 0;
    for (uint32_t k = 0; !asked && k < (uint32_t)gen->keys.nodes; k++) {
        firn__window *window = firn__window_of(gen, k);
        uint64_t cursor =
            window == NULL ? 0 : atomic_load_explicit(&window->cursor, memory_order_acquire);
        int64_t next = (int64_t)(cursor & ~FIRN__OPEN);
        if (!(cursor & FIRN__OPEN) || next <= window->first ||
            !is_ahead(gen, window, next, *tick)) {
            continue;
        }
        asked = firn__gen_now(gen, tick, NULL) == FIRN_OK && is_ahead(gen, window, next, *tick) &&
                atomic_load_explicit(&live->watch.stepped, memory_order_acquire) ==
                    atomic_load_explicit(&live->any.handled, memory_order_acquire);
        if (asked) {
            atomic_fetch_add_explicit(&live->watch.stepped, 1, memory_order_relaxed);
        }
    }
}

/* ---- a forked child -------------------------------------------------------------------------- */

/* In a child of the process that opened the generator, where the fork wiped `live`: draws a new
 * identity. FIRN_EFORKED: the child cannot have one. */
static int adopt(firn_gen *gen, firn_error *error) {
    firn__process_state *live = gen->live;
    uint64_t serial;
    int code = FIRN_OK;
    if (atomic_load_explicit(&live->any.serial, memory_order_acquire) != 0) {
        return FIRN_OK;
    }
    pthread_mutex_lock(&live->locked.lock); /* wiped too, so nobody holds it */
    if (atomic_load_explicit(&live->any.serial, memory_order_acquire) == 0) {
        if (firn__reserves(gen) && gen->fixed && gen->shared == NULL) {
            char node[128];
            code =
                firn_error_set(error, FIRN_EFORKED, FIRN_CURE_OPEN_OWN,
                               "%s stays with the parent process: open a generator in the child, "
                               "with another node or "
                               "none",
                               firn__gen_node_text(node, gen, gen->pinned));
        }
        if (code == FIRN_OK && gen->shared != NULL) {
            code = firn__shared_join(gen, error); /* not from another PID namespace */
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
            gen->kept.history = (firn__ticks){0};
            live->locked.history_open = false; /* by a call that was interrupted by the fork */
            gen->kept.chunks = NULL;
            gen->kept.chunk_count = 0;
            firn__node_note(gen->kept.note);
            atomic_store_explicit(&live->watch.trusted_s, INT64_MIN, memory_order_release);
            atomic_store_explicit(&live->any.era, serial | 1, memory_order_relaxed);
            atomic_store_explicit(&live->any.serial, serial | 1, memory_order_release);
        }
    }
    pthread_mutex_unlock(&live->locked.lock);
    return code;
}

/* ---- a process that may be running twice ----------------------------------------------------- */

/* Only closes and counts: the renewal lock may be held during a call of the store. The event comes
 * last, so that a thread that finds the new era finds the count. */
void firn__gen_renew(void *memory) {
    firn__process_state *live = memory;
    if (atomic_load_explicit(&live->any.serial, memory_order_acquire) == 0) {
        return; /* a child draws its identity anyway */
    }
    atomic_fetch_add_explicit(&live->any.renewed, 1, memory_order_seq_cst);
    atomic_store_explicit(&live->any.known_ns, 0, memory_order_relaxed); /* the other's, perhaps */
    for (uint32_t k = 0; k < FIRN__NODES && !live->any.is_shared; k++) {
        firn__window *window = atomic_load_explicit(&live->any.windows[k], memory_order_seq_cst);
        if (window != NULL) {
            firn__window_shut(window);
        }
    }
    atomic_fetch_add_explicit(&live->any.era, 1, memory_order_acq_rel);
}

/* Leaves every node and gives nothing back, because the other copy may have it. A claim that is
 * unknown is not sent again: its answer would be good for both. */
static int act_on_renewal(firn_gen *gen, bool patient, firn_error *error) {
    firn__process_state *live = gen->live;
    int code = lock_renewal(gen, "the identity was renewed", patient, error);
    if (code != FIRN_OK) {
        return code;
    }
    uint64_t renewed = atomic_load_explicit(&live->any.renewed, memory_order_acquire);
    for (uint32_t k = 0; k < (uint32_t)gen->keys.nodes; k++) {
        firn__window_retire(gen, k, false, NULL);
        gen->past->has_node[k] = false;
    }
    if (firn__shared_claim(gen) != NULL) {
        atomic_store_explicit(&firn__shared_claim(gen)->grant, 0, memory_order_release);
    }
    pthread_mutex_lock(&live->counted.lock);
    live->counted.window = NULL;
    live->counted.started = false; /* another start of the counter */
    pthread_mutex_unlock(&live->counted.lock);
    live->locked.history_open = false;
    if (firn__reserves(gen)) {
        code = firn__gen_identify(gen, error);
    } else {
        live->locked.unidentified = true; /* the claim to come draws an identity, or fails */
    }
    if (code == FIRN_OK) {
        atomic_store_explicit(&live->any.renewals_handled, renewed, memory_order_release);
    }
    firn__renewal_unlock(gen);
    return code;
}

/* A wall clock that jumps ahead or back, and a cycle counter that falls, are what a process can see
 * of a machine that was restored or cloned: all threads drop their random bytes, and after a jump
 * ahead or by the counter a generator that claimed its node leaves the window, so that it asks the
 * store first. A fixed node would wait until its own window has passed, and of processes that share
 * a generator each would leave what another has just claimed: these keep their window. The handles
 * of stores keep their marks, because a clock alone must not hide that a store lost reservations. */
static void see_copy(firn_gen *gen) {
    firn__process_state *live = gen->live;
    uint64_t ahead = atomic_load_explicit(&live->watch.jumped, memory_order_acquire) +
                     atomic_load_explicit(&live->any.counted_back, memory_order_acquire);
    uint64_t back = atomic_load_explicit(&live->watch.stepped, memory_order_acquire);
    uint64_t signs = ahead << 32 | (back & UINT32_MAX);
    uint64_t known = atomic_load_explicit(&live->any.signs, memory_order_acquire);
    if (known == signs) {
        return;
    }
    firn__entropy_drop();
    if (known >> 32 != signs >> 32) {
        atomic_store_explicit(&live->any.known_ns, 0, memory_order_relaxed);
        if (firn__reserves(gen) && !gen->fixed && gen->shared == NULL) {
            firn__gen_renew(live);
        }
    }
    /* Last: a thread that finds the signs handled also finds the windows shut. */
    atomic_compare_exchange_strong_explicit(&live->any.signs, &known, signs, memory_order_acq_rel,
                                            memory_order_acquire);
}

int firn__gen_adopt(firn_gen *gen, bool patient, firn_error *error) {
    int code = adopt(gen, error);
    return code == FIRN_OK && firn__is_renewed(gen) ? act_on_renewal(gen, patient, error) : code;
}

/* The first step of every kind when the fast way fails: checks process, time and permission. */
int firn__gen_ready(firn_gen *gen, uint64_t *tick, bool patient, firn_error *error) {
    int code = firn__gen_adopt(gen, patient, error);
    if (code == FIRN_OK) {
        code = firn__gen_now(gen, tick, error);
    }
    if (code == FIRN_OK) {
        firn__shared_look(gen); /* only now: no thread has an older reading for a newer window */
        see_step(gen, tick);
        see_copy(gen);
        code = firn__gen_adopt(gen, patient, error);
    }
    if (code == FIRN_OK &&
        atomic_load_explicit(&gen->live->watch.stepped, memory_order_acquire) !=
            atomic_load_explicit(&gen->live->any.handled, memory_order_acquire)) {
        code = act_on_step(gen, *tick, patient, error);
    }
    if (code == FIRN_OK) {
        see_stay(gen, tick);
    }
    return code == FIRN_OK ? check_blocked(gen, *tick, patient, error) : code;
}

/* Notes what the calls of this thread need of a window, until the next event. */
static void remember(const firn_gen *gen, firn__window_view looked, firn__thread_view *seen) {
    firn__window *window = looked.window;
    seen->window = window;
    seen->base_tick = window->base_tick;
    seen->base = window->base;
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&window->cursor, memory_order_relaxed) & FIRN__OPEN) {
        firn__seen_tick(gen, seen);
        atomic_signal_fence(memory_order_seq_cst);
        seen->era = looked.era; /* else it was closed, and its template may be zeros */
    }
}

int firn__present(firn_gen *gen, firn__window_view looked, uint64_t *tick, bool *changed,
                  firn_error *error) {
    int code = firn__gen_ready(gen, tick, !gen->has_renewer || !firn__reserves(gen), error);
    *changed = looked.window != firn__window_of(gen, looked.k); /* then the reading may be older */
    if (code == FIRN_OK && !*changed && looked.window != NULL) {
        remember(gen, looked, firn__thread_view_of(gen));
    }
    return code;
}
