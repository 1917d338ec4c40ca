/* SPDX-License-Identifier: MIT */
/* The table has a fixed size, so that many addresses cost no memory: two that share a place share
 * their delay. */
#include "guesses.h"

#include "core/log.h"
#include "core/monotonic.h"

#include <pthread.h>

enum {
    BITS = 12,       /* of the number of places */
    FREE = 5,        /* wrong tokens without a delay */
    MOST = 130,      /* maximum remembered */
    FORGET_MS = 200, /* one is forgotten per */
    LEAST_MS = 500,
    EACH_MS = 20
};

/* An address. Only wrong tokens start the delay, or clients with valid ones could delay each other
 * for ever; its length depends on all tries. */
typedef struct guess_place {
    int64_t wrong, tries; /* tries: wrong ones that did not wait, and all that waited */
    int64_t since_ms;
} guess_place;

static struct {
    pthread_mutex_t lock;
    guess_place places[1 << BITS];
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Under the lock; forgets old ones. */
static guess_place *place_of(address_key client) {
    int64_t now = monotonic_ms();
    guess_place *place = &table.places[address_place(client, BITS)];
    int64_t gone = (now - place->since_ms) / FORGET_MS;
    place->wrong = gone < place->wrong ? place->wrong - gone : 0;
    place->tries = gone < place->tries ? place->tries - gone : 0;
    place->since_ms =
        place->wrong == 0 && place->tries == 0 ? now : place->since_ms + gone * FORGET_MS;
    return place;
}

void guess_note(address_key client, server_worker *worker, bool waited) {
    static log_gate gate;
    char count[LOG_COUNT_SIZE], address[ADDRESS_TEXT_SIZE];
    meter_add(&worker->meter.wrong_tokens, 1);
    pthread_mutex_lock(&table.lock);
    guess_place *known = place_of(client);
    known->wrong += known->wrong < MOST;
    known->tries += !waited && known->tries < MOST;
    pthread_mutex_unlock(&table.lock);
    if (log_gate_opens(&gate, count)) {
        address_write(address, client);
        log_event(LOG_LEVEL_WARNING, "wrong tokens", "listener", worker->http ? "http" : "resp",
                  "last_address", address, "count", count, NULL);
    }
}

int64_t guess_delay_ms(address_key client) {
    pthread_mutex_lock(&table.lock);
    guess_place *known = place_of(client);
    bool waits = known->wrong > FREE;
    int64_t count = known->tries > known->wrong ? known->tries : known->wrong;
    known->tries += waits && known->tries < MOST; /* counted as wrong, because many come at once */
    pthread_mutex_unlock(&table.lock);
    return waits ? LEAST_MS + (count - FREE) * EACH_MS : 0;
}
