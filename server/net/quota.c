/* SPDX-License-Identifier: MIT */
/* A quota is one number: the time at which everything spent is available again (GCRA). */
#include "quota.h"

#include "core/monotonic.h"
#include "errors.h"
#include "settings/setting.h"

#include <inttypes.h>
#include <pthread.h>

#define UNIT     INT64_C(16) /* per nanosecond, so that an ID of 10^9 a second has 16 units */
#define SECOND   (INT64_C(1000000000) * UNIT) /* times the greatest quota: below 2^64 */
#define HOUR_S   3600
#define UNITS_MS (INT64_C(1000000) * UNIT)

/* ---- one quota ------------------------------------------------------------------------------- */

static int64_t units_now(void) {
    return monotonic_ns() * UNIT;
}

/* Rounded up: rounding never allows more. ids_s at most 10^9; `ids` is more than one second's only
 * if a reload lowered the quota. */
static int64_t cost_of(int64_t ids, int64_t ids_s) {
    int64_t whole = ids / ids_s < HOUR_S ? ids / ids_s : HOUR_S, rest = ids % ids_s;
    uint64_t part = (uint64_t)rest * SECOND + (uint64_t)ids_s - 1; /* below 2^64 */
    return whole * SECOND + (int64_t)(part / (uint64_t)ids_s);
}

/* IDs available now, 0 .. ids_s. */
static int64_t room_of(int64_t until, int64_t ids_s, int64_t now) {
    int64_t left = until <= now ? SECOND : SECOND - (until - now);
    return left <= 0 ? 0 : (int64_t)((uint64_t)left * (uint64_t)ids_s / SECOND);
}

static int64_t wait_ms_of(int64_t until, int64_t ids_s, int64_t each, int64_t now) {
    int64_t wait = until + cost_of(each, ids_s) - now - SECOND;
    return wait <= 0 ? 1 : (wait + UNITS_MS - 1) / UNITS_MS;
}

/* Takes up to `times` requests of `each` IDs; returns how many fit. */
static size_t take(int64_t *until, int64_t ids_s, size_t times, int64_t each, int64_t now) {
    int64_t room = room_of(*until, ids_s, now) / each;
    times = (uint64_t)room < times ? (size_t)room : times;
    if (times > 0) {
        *until = (*until > now ? *until : now) + cost_of((int64_t)times * each, ids_s);
    }
    return times;
}

/* The refund of a charge that ended at `charged_until`, if only `ids` of it are kept. Time has
 * refunded the part before now, which must not return twice. */
static int64_t refund_of(int64_t charged_until, int64_t ids_s, int64_t taken, int64_t ids,
                         int64_t now) {
    int64_t rest = cost_of(taken, ids_s) - cost_of(ids, ids_s), left = charged_until - now;
    return left <= 0 ? 0 : left < rest ? left : rest;
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* A table of a fixed size, so that many addresses cost no memory. If all places of a set are in
 * use, the address that has spent least is forgotten. */
enum { BITS = 14, WAYS = 4 }; /* 1 << BITS sets of places */

typedef struct quota_place {
    address_key address;
    int64_t until;
} quota_place;

static struct {
    pthread_mutex_t lock;
    quota_place sets[1 << BITS][WAYS];
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Under the lock. */
static quota_place *place_of(address_key client) {
    quota_place *set = table.sets[address_place(client, BITS)], *least = set;
    for (quota_place *place = set; place < set + WAYS; place++) {
        if (address_is_same(place->address, client)) {
            return place;
        }
        least = place->until < least->until ? place : least;
    }
    *least = (quota_place){.address = client, .until = 0};
    return least;
}

static size_t address_take(quota_charge *charge, size_t times, int64_t each) {
    pthread_mutex_lock(&table.lock);
    quota_place *place = place_of(charge->from);
    times = take(&place->until, charge->address_ids_s, times, each, units_now());
    charge->address_until = place->until;
    pthread_mutex_unlock(&table.lock);
    return times;
}

static void address_give_back(const quota_charge *charge, int64_t ids) {
    pthread_mutex_lock(&table.lock);
    int64_t now = units_now();
    quota_place *place = place_of(charge->from);
    if (place->until > now) { /* else it was forgotten */
        place->until -=
            refund_of(charge->address_until, charge->address_ids_s, charge->ids, ids, now);
    }
    pthread_mutex_unlock(&table.lock);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static size_t token_take(quota_charge *charge, size_t times, int64_t each) {
    _Atomic int64_t *until = &charge->account->until;
    int64_t old = atomic_load_explicit(until, memory_order_seq_cst);
    size_t taken;
    do {
        charge->token_until = old;
        taken = take(&charge->token_until, charge->token_ids_s, times, each, units_now());
    } while (taken > 0 &&
             !atomic_compare_exchange_weak_explicit(until, &old, charge->token_until,
                                                    memory_order_seq_cst, memory_order_seq_cst));
    return taken;
}

static void token_give_back(const quota_charge *charge, int64_t ids) {
    atomic_fetch_sub_explicit(
        &charge->account->until,
        refund_of(charge->token_until, charge->token_ids_s, charge->ids, ids, units_now()),
        memory_order_seq_cst);
}

/* ---- both ------------------------------------------------------------------------------------ */

/* 0: none. */
static int64_t limit_of_token(const access_pass *pass) {
    int64_t own = pass->account == NULL
                      ? -1
                      : atomic_load_explicit(&pass->account->ids_s, memory_order_seq_cst);
    return pass->account == NULL ? 0 : own >= 0 ? own : settings_now()->token_ids_s;
}

static int64_t limit_of_address(address_key client) {
    return client.high == 0 && client.low == 0 ? 0 : settings_now()->address_ids_s;
}

static int refuse(const char *whose, int64_t ids_s, int64_t each, int64_t wait_ms,
                  firn_error *error) {
    return each > ids_s
               ? set_error(error, FIRN_ERANGE,
                           "%" PRId64 " at once is more than the quota of this %s, %" PRId64
                           " IDs per second: ask for at most %" PRId64,
                           each, whose, ids_s, ids_s)
               : set_error(error, FIRN_EWINDOW,
                           "the quota of this %s is %" PRId64
                           " IDs per second: try again in %" PRId64 " ms",
                           whose, ids_s, wait_ms);
}

size_t quota_charge_to(quota_charge *charge, const access_pass *pass, address_key client,
                       size_t times, int64_t each, int64_t *wait_ms, firn_error *error) {
    size_t taken = times;
    *charge = (quota_charge){.account = pass->account,
                             .from = client,
                             .token_ids_s = limit_of_token(pass),
                             .address_ids_s = limit_of_address(client)};
    if (charge->token_ids_s > 0) {
        taken = token_take(charge, times, each);
        if (taken == 0) {
            *wait_ms = wait_ms_of(charge->token_until, charge->token_ids_s, each, units_now());
            refuse("token", charge->token_ids_s, each, *wait_ms, error);
        }
    }
    charge->ids = (int64_t)taken * each;
    if (charge->address_ids_s > 0 && taken > 0) {
        size_t both = address_take(charge, taken, each);
        if (both == 0) {
            *wait_ms = wait_ms_of(charge->address_until, charge->address_ids_s, each, units_now());
            refuse("address", charge->address_ids_s, each, *wait_ms, error);
        }
        if (charge->token_ids_s > 0 && both < taken) {
            token_give_back(charge, (int64_t)both * each);
        }
        taken = both;
    }
    charge->ids = (int64_t)taken * each;
    return taken;
}

void quota_settle(quota_charge *charge, int64_t ids) {
    if (charge->token_ids_s > 0 && ids < charge->ids) {
        token_give_back(charge, ids);
    }
    if (charge->address_ids_s > 0 && ids < charge->ids) {
        address_give_back(charge, ids);
    }
    charge->ids = 0;
}
