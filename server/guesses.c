/* SPDX-License-Identifier: MIT */
/* Wrong tokens by address: see guesses.h. The table has a fixed size, so that many addresses cost no
 * memory: two that share a place share their delay. */
#include "guesses.h"

#include "log.h"
#include "steady.h"

#include <pthread.h>
#include <sys/random.h>

enum {
    PLACES = 4096,
    FREE = 5,        /* wrong tokens that slow down nobody */
    MOST = 130,      /* that are remembered */
    FORGET_MS = 200, /* one of them in so long */
    LEAST_MS = 500,
    EACH_MS = 20
};

static struct {
    pthread_mutex_t lock;
    uint64_t seed; /* so that nobody can choose an address that shares a place with another */
    struct {
        int64_t count, since_ms;
    } places[PLACES];
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Under the lock; what is old is forgotten. */
static int64_t *count_of(address_key from) {
    int64_t now = steady_ms();
    if (table.seed == 0) {
        if (getrandom(&table.seed, sizeof table.seed, GRND_NONBLOCK) < 0) {
            table.seed = (uint64_t)now;
        }
        table.seed |= 1;
    }
    uint64_t hash = (from.high ^ table.seed) * UINT64_C(0xd6e8feb86659fd93);
    hash = (hash ^ hash >> 32 ^ from.low) * table.seed;
    hash = (hash ^ hash >> 29) * UINT64_C(0x9e3779b97f4a7c15);
    size_t place = hash >> 52;
    int64_t gone = (now - table.places[place].since_ms) / FORGET_MS;
    int64_t *count = &table.places[place].count;
    *count = gone < *count ? *count - gone : 0;
    table.places[place].since_ms =
        *count == 0 ? now : table.places[place].since_ms + gone * FORGET_MS;
    return count;
}

void guess_note(address_key from, worker *at, bool waited) {
    static log_gate gate;
    char count[LOG_COUNT_SIZE], address[ADDRESS_TEXT_SIZE];
    meter_add(&at->meter.wrong_tokens, 1);
    pthread_mutex_lock(&table.lock);
    int64_t *known = count_of(from);
    *known += !waited && *known < MOST;
    pthread_mutex_unlock(&table.lock);
    if (log_gate_opens(&gate, count)) {
        address_write(address, from);
        log_event(LOG_LEVEL_WARNING, "wrong tokens", "door", at->http ? "http" : "resp",
                  "last_address", address, "count", count, NULL);
    }
}

int64_t guess_delay_ms(address_key from) {
    pthread_mutex_lock(&table.lock);
    int64_t *known = count_of(from), count = *known;
    *known += count > FREE && count < MOST; /* as if it were wrong: many come at once */
    pthread_mutex_unlock(&table.lock);
    return count <= FREE ? 0 : LEAST_MS + (count - FREE) * EACH_MS;
}
