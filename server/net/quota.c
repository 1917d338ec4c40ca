/* SPDX-License-Identifier: MIT */
/* A quota is one number: the time at which everything spent is available again (GCRA). */
#include "quota.h"

#include "config/setting.h"
#include "core/monotonic.h"
#include "errors.h"

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

static int64_t spent_until(int64_t until, int64_t ids_s, int64_t ids, int64_t now) {
    return (until > now ? until : now) + cost_of(ids, ids_s);
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* A table of a fixed size, so that many addresses cost no memory. If all places of a set are in
 * use, the address that has spent least is forgotten. */
enum { BITS = 14, WAYS = 4 }; /* 1 << BITS sets of places */

typedef struct place {
    address_key address;
    int64_t until;
} place;

static struct {
    pthread_mutex_t lock;
    place sets[1 << BITS][WAYS];
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Under the lock. */
static place *place_of(address_key from) {
    place *set = table.sets[address_place(from, BITS)], *least = set;
    for (place *it = set; it < set + WAYS; it++) {
        if (address_is_same(it->address, from)) {
            return it;
        }
        least = it->until < least->until ? it : least;
    }
    *least = (place){.address = from, .until = 0};
    return least;
}

static int64_t address_until(address_key from) {
    pthread_mutex_lock(&table.lock);
    int64_t until = place_of(from)->until;
    pthread_mutex_unlock(&table.lock);
    return until;
}

static void address_spend(address_key from, int64_t ids_s, int64_t ids) {
    pthread_mutex_lock(&table.lock);
    place *it = place_of(from);
    it->until = spent_until(it->until, ids_s, ids, units_now());
    pthread_mutex_unlock(&table.lock);
}

/* ---- both ------------------------------------------------------------------------------------ */

/* 0: none. */
static int64_t limit_of_token(const access_pass *pass) {
    int64_t own = pass->account == NULL
                      ? -1
                      : atomic_load_explicit(&pass->account->ids_s, memory_order_seq_cst);
    return pass->account == NULL ? 0 : own >= 0 ? own : settings_now()->token_ids_s;
}

static int64_t limit_of_address(address_key from) {
    return from.high == 0 && from.low == 0 ? 0 : settings_now()->address_ids_s;
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

/* Reduces *times to what is within the quota. */
static void allow(const char *whose, int64_t until, int64_t ids_s, int64_t each, size_t *times,
                  int64_t *wait_ms, firn_error *error) {
    int64_t now = units_now(), room = room_of(until, ids_s, now) / each;
    *times = (uint64_t)room < *times ? (size_t)room : *times;
    if (*times == 0) {
        *wait_ms = wait_ms_of(until, ids_s, each, now);
        refuse(whose, ids_s, each, *wait_ms, error);
    }
}

size_t quota_allows(const access_pass *pass, address_key from, size_t times, int64_t each,
                    int64_t *wait_ms, firn_error *error) {
    int64_t of_token = limit_of_token(pass), of_address = limit_of_address(from);
    if (of_token > 0) {
        allow("token", atomic_load_explicit(&pass->account->until, memory_order_seq_cst), of_token,
              each, &times, wait_ms, error);
    }
    if (of_address > 0 && times > 0) {
        allow("address", address_until(from), of_address, each, &times, wait_ms, error);
    }
    return times;
}

void quota_spend(const access_pass *pass, address_key from, int64_t ids) {
    int64_t of_token = limit_of_token(pass), of_address = limit_of_address(from);
    if (of_token > 0) {
        int64_t until = atomic_load_explicit(&pass->account->until, memory_order_seq_cst),
                now = units_now();
        while (!atomic_compare_exchange_weak_explicit(&pass->account->until, &until,
                                                      spent_until(until, of_token, ids, now),
                                                      memory_order_seq_cst, memory_order_seq_cst)) {
        }
    }
    if (of_address > 0) {
        address_spend(from, of_address, ids);
    }
}
