/* SPDX-License-Identifier: MIT */
/* The reach: how far after the store's clock a reservation of slots with a time may end. No
 * reservation ends later, so after a loss nothing that was lost is later than the guard, and a
 * wrong clock moves a mark or a floor no further. Called with the renewal lock held. */
#include "duration.h"
#include "error.h"
#include "gen.h"
#include "machine.h"
#include "store.h"

#include <inttypes.h>

/* How far the clocks of the servers of one store may differ: the guard is so much later than the
 * limit of a reach. */
#define APART_MS 1000
#define SHORT_MS 14000  /* the limit of the default reach, and of windows from a reserve, */
#define LONG_MS  614000 /* and of windows of 10 min */
#define KNOWN_MS 540000 /* see guard_absent() */
#define LEAST_MS 1000   /* of a window whose length nobody has set */
/* The present tick, and the rounding of window and lead to whole ticks. */
#define ROUNDED_TICKS 3

/* By the choice of the key: the limit, the default window, and what the layout says. */
static const struct {
    int64_t limit_ms, usual_ms;
    const char *text;
} reaches[] = {[FIRN__REACH_15S] = {SHORT_MS, 10000, ""},
               [FIRN__REACH_10MIN] = {LONG_MS, 600000, FIRN__LONG_REACH},
               [FIRN__REACH_1H] = {3614000, 10000, FIRN__LONGEST_REACH}};

/* Of windows: the long reach may apply to reserves only. */
static int64_t limit_ms(const firn_gen *gen) {
    return gen->splits ? SHORT_MS : reaches[gen->keys.reach_].limit_ms;
}

int64_t firn__reach_usual_ms(const firn_gen *gen) {
    return reaches[gen->keys.reach_].usual_ms;
}

const char *firn__reach_text(const firn_gen *gen) {
    return reaches[gen->keys.reach_].text;
}

/* A store without a clock is on this machine, so its clock is this one. */
int firn__reach_read(const firn_gen *gen, firn_store *store, firn__store_clock *seen,
                     firn_error *error) {
    int64_t before_ns, after_ns;
    firn_error why = {0};
    if (gen->clock->steady(gen->clock->self, &before_ns) != FIRN_OK) {
        return firn__clock_refused(gen->clock, error);
    }
    int code = firn_store_now(store, &seen->least, &why);
    if (code == FIRN_ESYSTEM) {
        code = gen->clock->wall(gen->clock->self, &seen->least) == FIRN_OK
                   ? FIRN_OK
                   : firn__clock_refused(gen->clock, error);
    } else if (code != FIRN_OK) {
        firn__count(&gen->live->any.store_errors);
        if (error != NULL) {
            *error = why;
        }
        return code;
    }
    if (code == FIRN_OK && (gen->clock->steady(gen->clock->self, &after_ns) != FIRN_OK ||
                            firn__clock_system.steady(NULL, &seen->read_ns) != FIRN_OK)) {
        return firn__clock_refused(gen->clock, error);
    }
    if (code == FIRN_OK) {
        seen->most = firn__time_after(&seen->least, after_ns - before_ns);
    }
    return code;
}

int firn__reach_look(firn_gen *gen, firn_error *error) {
    return firn__reach_read(gen, gen->store, &gen->live->locked.store_clock, error);
}

int firn__reach_slot(const firn_gen *gen, const firn_time *time, int64_t ms, uint64_t more,
                     int64_t *slot, firn_error *error) {
    firn_time end = firn__time_after(time, ms * 1000000);
    uint64_t tick;
    int code = firn_scheme_tick(&gen->scheme, &end, &tick, error);
    if (code != FIRN_OK && firn_time_cmp(&end, &gen->scheme.epoch) < 0) {
        char text[FIRN_TIME_SIZE];
        return firn__fail(error, FIRN_ECLOCK,
                          "the clock of the store of %s shows %s, before the epoch of the layout: "
                          "fix that clock",
                          gen->ns, firn_time_format(text, time, 3));
    }
    bool past = code != FIRN_OK || tick + more >= (uint64_t)gen->mark_end >> gen->s;
    *slot = past ? gen->mark_end : firn__slots_of(gen, tick + more);
    return FIRN_OK;
}

int firn__reach_limit(const firn_gen *gen, int64_t from, int64_t count, int64_t *latest,
                      firn_error *error) {
    const firn_time *there = &gen->live->locked.store_clock.least;
    firn_time end;
    int64_t limit;
    int code = firn__reach_slot(gen, there, limit_ms(gen), ROUNDED_TICKS, &limit, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (count > limit - from) {
        firn_scheme_time(&gen->scheme, (uint64_t)(from + count) >> gen->s, &end);
        return firn_error_set(error, FIRN_ECLOCK, FIRN_CURE_FIX_CLOCK,
                              "a window of %.60s would end %" PRId64
                              " ms after the store's clock, more than %" PRId64
                              " ms: fix the wrong clock",
                              gen->ns, firn__time_since(&end, there) / 1000000, limit_ms(gen));
    }
    *latest = *latest < limit - count ? *latest : limit - count;
    return FIRN_OK;
}

/* The namespace may have been lost with its reach, and nobody knows that it was not a longer one.
 * But a process that made it again after a loss, with that one, waited for the guard of LONG_MS: so
 * this process knows the reach for KNOWN_MS after each of its reservations. Not for the reach of
 * reserves, which others would wait for: a machine with a reserve that finds its namespace made
 * again, with another reach, closes it (machine_refill.c). */
static int guard_absent(const firn_gen *gen, const firn__store_clock *seen, firn_request *request,
                        firn_error *error) {
    const int64_t known_ns = atomic_load_explicit(&gen->live->any.known_ns, memory_order_relaxed);
    int64_t longest;
    request->guard_known_ms = known_ns == 0 ? 0 : known_ns / 1000000 + KNOWN_MS;
    int code =
        firn__reach_slot(gen, &seen->most, LONG_MS + APART_MS, ROUNDED_TICKS + 1, &longest, error);
    request->guard_more = longest > request->guard ? longest - request->guard : 0;
    return code;
}

static int guard_at(const firn_gen *gen, const firn__store_clock *seen, int64_t limit,
                    firn_request *request, firn_error *error) {
    /* The store's module adds the time until it sends the guard. */
    request->guard_ms = seen->read_ns / 1000000;
    request->guard_tick_ns = gen->scheme.tick_ns;
    request->guard_shift = gen->s;
    int code = firn__reach_slot(gen, &seen->most, limit + APART_MS, ROUNDED_TICKS + 1,
                                &request->guard, error);
    return code == FIRN_OK ? guard_absent(gen, seen, request, error) : code;
}

int firn__reach_guard(const firn_gen *gen, firn_request *request, firn_error *error) {
    return guard_at(gen, &gen->live->locked.store_clock, limit_ms(gen), request, error);
}

int firn__reach_guard_of(const firn_gen *gen, const firn__store_clock *seen, bool is_local,
                         firn_request *request, firn_error *error) {
    int code = guard_at(gen, seen, is_local ? SHORT_MS : limit_ms(gen), request, error);
    request->guard_known_ms = 0; /* windows from a reserve prove nothing about the shared store */
    request->guard_more = is_local ? 0 : request->guard_more;
    return code;
}

int firn__reach_skew(const firn_gen *gen, firn_error *error) {
    const firn__store_clock *seen = &gen->live->locked.store_clock;
    firn_time here;
    if (gen->clock->wall(gen->clock->self, &here) != FIRN_OK) {
        return firn__clock_refused(gen->clock, error);
    }
    int64_t off_ms = firn__time_since(&here, &seen->least) / 1000000, most = gen->keys.max_skew_ms;
    return off_ms <= most && off_ms >= -most
               ? FIRN_OK
               : firn_error_set(error, FIRN_ECLOCK, FIRN_CURE_FIX_CLOCK,
                                "this clock is %" PRId64 " ms %s the store's, more than max_skew=%s"
                                ": fix the wrong clock",
                                off_ms < 0 ? -off_ms : off_ms, off_ms < 0 ? "behind" : "ahead of",
                                FIRN__MS(most));
}

int firn__reach_window(firn_gen *gen, firn_error *error) {
    const firn__keys *keys = &gen->keys;
    const int64_t apart = keys->max_lead_ms + keys->max_skew_ms, rest = limit_ms(gen) - apart;
    const int64_t longest = reaches[keys->reach_].limit_ms;
    int64_t window_ms = keys->window_ms, least = keys->window_ms == 0 ? LEAST_MS : window_ms;
    if (firn__reserves(gen) && keys->reserve_ms > longest - apart) {
        return firn__fail(error, FIRN_ERANGE,
                          "max_lead=%s, max_skew=%s and reserve=%s together are above %s: lower "
                          "one of them, or set reach=%s for a new namespace",
                          FIRN__MS(keys->max_lead_ms), FIRN__MS(keys->max_skew_ms),
                          FIRN__MS(keys->reserve_ms), FIRN__MS(longest),
                          keys->reserve_ms > 600000 ? "1h" : "10min");
    }
    if (firn__reserves(gen) && least > rest) {
        return firn__fail(
            error, FIRN_ERANGE,
            "max_lead=%s, max_skew=%s and window=%s"
            " together are above %s: lower one of them%s",
            FIRN__MS(keys->max_lead_ms), FIRN__MS(keys->max_skew_ms), FIRN__MS(least),
            FIRN__MS(limit_ms(gen)),
            keys->reach_ != FIRN__REACH_15S ? "" : ", or set reach=10min for a new namespace");
    }
    if (window_ms == 0) {
        window_ms = !firn__reserves(gen) || firn__store_embedded(gen->store) ? 2000
                    : gen->fixed                                             ? 3000
                                 : firn__reach_usual_ms(gen);
        window_ms = firn__reserves(gen) && window_ms > rest ? rest : window_ms;
    }
    if (firn__reserves(gen) && keys->reserve_ms > 0 && window_ms > FIRN__MACHINE_WINDOW_MS) {
        window_ms = FIRN__MACHINE_WINDOW_MS;
    }
    gen->window_ticks = (uint64_t)firn__ms_ticks(gen, window_ms);
    gen->window_ticks = gen->window_ticks < 2 ? 2 : gen->window_ticks;
    return FIRN_OK;
}
