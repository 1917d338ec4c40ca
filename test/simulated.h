/* SPDX-License-Identifier: MIT */
/* The basis of tests of generators and ranges: a clock moved by hand, a store that records requests
 * and loses the chosen ones, seeded entropy. Checks that every failure is one line and leaves its
 * result unchanged. */
#ifndef FIRN_TEST_SIMULATED_H
#define FIRN_TEST_SIMULATED_H

#include "entropy.h"

#include <firn/firn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MS     INT64_C(1000000)
#define SECOND INT64_C(1000000000)
#define HOUR   (3600 * SECOND)
#define DAY    (24 * HOUR)

/* ---- clock ---------------------------------------------------------------------------------- */

/* Does not move between calls, or moves by `step_ns` with each reading. A pause moves it by its
 * length. */
typedef struct simulated {
    firn_time base;
    _Atomic int64_t wall_ns, steady_ns; /* since `base`, and since the start of the machine */
    int64_t step_ns;
    _Atomic int64_t pauses, paused_ns;
} simulated;

static inline firn_time time_after(firn_time time, int64_t ns) {
    int64_t sum = time.ns + ns % SECOND;
    int64_t carry = sum < 0 ? -1 : sum / SECOND;
    return (firn_time){time.sec + ns / SECOND + carry, (int32_t)(sum - carry * SECOND)};
}

static inline int simulated_wall(void *self, firn_time *now) {
    simulated *state = self;
    atomic_fetch_add(&state->steady_ns, state->step_ns);
    *now =
        time_after(state->base, atomic_fetch_add(&state->wall_ns, state->step_ns) + state->step_ns);
    return FIRN_OK;
}

static inline int simulated_steady(void *self, int64_t *ns) {
    simulated *state = self;
    *ns = atomic_load(&state->steady_ns);
    return FIRN_OK;
}

/* Time goes by. */
static inline void pass(simulated *self, int64_t ns) {
    atomic_fetch_add(&self->steady_ns, ns);
    atomic_fetch_add(&self->wall_ns, ns);
}

/* Somebody sets the wall clock. */
static inline void step(simulated *self, int64_t ns) {
    atomic_fetch_add(&self->wall_ns, ns);
}

static inline int simulated_pause(void *self, int64_t ns) {
    simulated *state = self;
    pass(state, ns);
    atomic_fetch_add(&state->pauses, 1);
    atomic_fetch_add(&state->paused_ns, ns);
    return FIRN_OK;
}

static inline firn_time present(const simulated *self) {
    return time_after(self->base, atomic_load(&self->wall_ns));
}

static inline firn_clock clock_on(simulated *self) {
    return (firn_clock){1, self, simulated_wall, simulated_steady, simulated_pause};
}

/* ---- store ---------------------------------------------------------------------------------- */

/* The fate of the next reservations. */
enum fate {
    FATE_GOOD,
    FATE_DOWN, /* not carried out, and said so */
    FATE_LOST, /* carried out, its reply lost */
    FATE_TWIN  /* a copy of this process sent the same before */
};

/* A memory store with a recorder. */
typedef struct grant_recorder {
    firn_store *real;
    enum fate fate;
    int fated; /* how many reservations meet it; -1: all */
    int reserves, give_backs, lists;
    firn_request last; /* its texts are copied below */
    char ns[FIRN_NS_SIZE], key[FIRN_KEY_SIZE];
    uint64_t grants[8]; /* of the last reservations, newest first */
} grant_recorder;

static inline int recorder_reserve(void *self, const firn_request *request, int64_t *first,
                                   firn_mark *held, firn_error *error) {
    grant_recorder *recorder = self;
    enum fate fate = recorder->fated == 0 ? FATE_GOOD : recorder->fate;
    recorder->fated -= recorder->fated > 0;
    recorder->reserves++;
    recorder->last = *request;
    strcpy(recorder->ns, request->ns);
    strcpy(recorder->key, request->key);
    memmove(recorder->grants + 1, recorder->grants,
            sizeof recorder->grants - sizeof recorder->grants[0]);
    recorder->grants[0] = request->grant;
    if (fate == FATE_DOWN) {
        if (error != NULL) {
            *error = (firn_error){.code = FIRN_ESTORE, .text = "the store is down: start it"};
        }
        return FIRN_ESTORE;
    }
    if (fate == FATE_TWIN) {
        firn_store_reserve(recorder->real, request, first, held, NULL);
    }
    int code = firn_store_reserve(recorder->real, request, first, held, error);
    if (fate == FATE_LOST && error != NULL) {
        *error = (firn_error){.code = FIRN_EUNKNOWN, .text = "the reply is lost: ask again"};
    }
    return fate == FATE_LOST ? FIRN_EUNKNOWN : code;
}

static inline int recorder_give_back(void *self, const char *ns, const char *key,
                                     const firn_mark *mine, int64_t high, firn_error *error) {
    grant_recorder *recorder = self;
    recorder->give_backs++;
    return firn_store_give_back(recorder->real, ns, key, mine, high, error);
}

static inline int recorder_list(void *self, const char *ns, firn_visit *visit, void *context,
                                firn_error *error) {
    grant_recorder *recorder = self;
    recorder->lists++;
    return firn_store_list(recorder->real, ns, visit, context, error);
}

static inline void recorder_close(void *self) {
    firn_store_close(((grant_recorder *)self)->real);
}

/* Its scheme makes it an embedded store, whose windows last 2 s. */
static const firn_store_ops recorder_ops = {.version = FIRN_STORE_OPS_VERSION,
                                            .scheme = "memory",
                                            .reserve = recorder_reserve,
                                            .give_back = recorder_give_back,
                                            .list = recorder_list,
                                            .close = recorder_close};

/* The mark of a key; -1: none. Not recorded. */
typedef struct sought {
    const char *key;
    int64_t high;
    size_t count; /* keys of the namespace */
} sought;

static inline int seek_key(void *context, const firn_holding *holding) {
    sought *self = context;
    self->count++;
    self->high = strcmp(holding->key, self->key) == 0 ? holding->mark.high : self->high;
    return FIRN_OK;
}

static inline int64_t mark_of(const grant_recorder *log, const char *ns, const char *key) {
    sought self = {key, -1, 0};
    firn_store_list(log->real, ns, seek_key, &self, NULL);
    return self.high;
}

static inline size_t keys_of(const grant_recorder *log, const char *ns) {
    sought self = {"", -1, 0};
    firn_store_list(log->real, ns, seek_key, &self, NULL);
    return self.count;
}

/* ---- a world a test ------------------------------------------------------------------------- */

static struct world {
    simulated clock;
    firn_clock hands;
    uint64_t seed;
    firn_entropy entropy;
    grant_recorder log;
    firn_store *store;
    char notice[320];
    int notices;
} world;

static inline int world_new(void **state) {
    (void)state;
    memset(&world, 0, sizeof world);
    world.clock.base = (firn_time){1760000000, 123456789}; /* 2025-10-09T08:53:20.123456789 */
    atomic_store(&world.clock.steady_ns, 77 * SECOND);
    world.hands = clock_on(&world.clock);
    world.seed = 20251009;
    world.entropy = firn__entropy_seeded(&world.seed);
    return firn_store_open(&world.log.real, "memory:", NULL, NULL) != FIRN_OK ||
           firn_store_wrap(&world.store, &recorder_ops, &world.log, NULL) != FIRN_OK;
}

static inline int world_end(void **state) {
    (void)state;
    firn_store_close(world.store);
    return 0;
}

/* A failure has one line that contains `words`. */
static inline void error_text(const firn_error *error, int code, const char *words) {
    size_t length = strnlen(error->text, sizeof error->text);
    if (error->code != code || length == 0 || length >= sizeof error->text ||
        strchr(error->text, '\n') != NULL || strstr(error->text, words) == NULL) {
        fail_msg("expected %s '%s', got %s '%s'", firn_errname(code), words,
                 firn_errname(error->code), error->text);
    }
}

#endif
