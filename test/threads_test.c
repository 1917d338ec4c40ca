/* SPDX-License-Identifier: MIT */
/* Several threads on one generator over a memory store, on a clock that moves with each reading;
 * made for the thread sanitizer, so nothing here forks. What one thread sees is gen_test.c's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "simulated.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define EACH 20000 /* IDs of a thread */
#else
#define EACH 200000
#endif
#define THREADS 6
#define BATCH   97 /* IDs asked for at once, at most */

/* ---- a crew --------------------------------------------------------------------------------- */

/* The task of a thread, and its findings. */
typedef struct hand {
    firn_gen *gen;
    firn_id *ids;
    size_t n, falls; /* falls: how often an ID was not greater than the one before */
    bool mixed;      /* next_n of mixed sizes between calls of next */
    int code;
    firn_error error;
    pthread_t thread;
} hand;

static int issue_some(hand *self, size_t position, size_t *got) {
    size_t n = self->mixed && position % 5 == 0 ? 1 + position % BATCH : 1;
    n = n < self->n - position ? n : self->n - position;
    *got = n;
    return n == 1 ? firn_next(self->gen, &self->ids[position], &self->error)
                  : firn_next_n(self->gen, self->ids + position, n, &self->error);
}

static void *work(void *self) {
    hand *state = self;
    for (size_t position = 0, got = 0; position < state->n && state->code == FIRN_OK;
         position += got) {
        state->code = issue_some(state, position, &got);
        for (int again = 0; again < 100000 && state->code == FIRN_EWINDOW; again++) {
            sched_yield(); /* a renewer is about to renew */
            state->code = issue_some(state, position, &got);
        }
    }
    for (size_t i = 1; i < state->n; i++) {
        state->falls += firn_id_cmp(&state->ids[i - 1], &state->ids[i]) >= 0;
    }
    return NULL;
}

static int compare(const void *a, const void *b) {
    return firn_id_cmp(a, b);
}

/* How many IDs were there before. */
static size_t duplicates(firn_id *ids, size_t n) {
    size_t twice = 0;
    qsort(ids, n, sizeof *ids, compare);
    for (size_t i = 1; i < n; i++) {
        twice += firn_id_cmp(&ids[i - 1], &ids[i]) == 0;
    }
    return twice;
}

/* A thread that does something else at the same time, until *stop. */
typedef struct thread_companion {
    void *(*run)(void *self);
    firn_gen *gen;
    _Atomic bool stop;
    _Atomic size_t rounds;
    size_t failures;
} thread_companion;

/* All threads issue EACH; all their IDs are unique. Returns how often IDs fell. */
static size_t crew(firn_gen *gen, bool mixed, thread_companion *other) {
    static hand hands[THREADS];
    firn_id *ids = calloc((size_t)THREADS * EACH, sizeof *ids);
    size_t falls = 0;
    pthread_t beside;
    assert_non_null(ids);
    if (other != NULL) {
        other->gen = gen;
        assert_int_equal(pthread_create(&beside, NULL, other->run, other), 0);
        for (int i = 0; i < 30000 && atomic_load(&other->rounds) == 0; i++) {
            nanosleep(&(struct timespec){0, 1000000}, NULL); /* at work before the crew begins */
        }
    }
    for (size_t i = 0; i < THREADS; i++) {
        hands[i] = (hand){.gen = gen, .ids = ids + i * EACH, .n = EACH, .mixed = mixed};
        assert_int_equal(pthread_create(&hands[i].thread, NULL, work, &hands[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(hands[i].thread, NULL);
        falls += hands[i].falls;
    }
    if (other != NULL) {
        atomic_store(&other->stop, true);
        pthread_join(beside, NULL);
    }
    for (size_t i = 0; i < THREADS; i++) {
        if (hands[i].code != FIRN_OK) {
            fail_msg("%s", hands[i].error.text);
        }
    }
    assert_int_equal(duplicates(ids, (size_t)THREADS * EACH), 0);
    free(ids);
    return falls;
}

/* While a thread is not scheduled, the others move the clock: with full=wait it must not give up
 * for that. */
static firn_gen *opened(const char *scheme, const char *text, bool has_renewer) {
    char keys[100];
    snprintf(keys, sizeof keys, "%s%s", text,
             strstr(text, "full=wait") != NULL ? " max_wait=600s" : "");
    const firn_config config = {.size = sizeof config,
                                .scheme = scheme,
                                .keys = keys,
                                .store = world.store,
                                .clock = &world.hands,
                                .has_renewer = has_renewer};
    firn_gen *gen = NULL;
    firn_error error = {0};
    if (firn_open_with(&gen, &config, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return gen;
}

static firn_status status_of(firn_gen *gen) {
    firn_status status = {.size = sizeof status};
    firn_gen_status(gen, &status);
    return status;
}

/* ---- rows and orders ------------------------------------------------------------------------ */

/* Each row is a scheme; `step_ns` moves the clock with each reading, so that ticks pass and fill
 * up. */
static const struct row {
    const char *sentence, *scheme, *keys;
    int64_t step_ns;
    bool rises; /* each thread's IDs */
} rows[] = {
    {"snowflake in strict order", "snowflake", "full=wait window=20ms", 200, true},
    {"snowflake in each thread's order", "snowflake", "full=wait ordering=thread window=20ms", 5000,
     true},
    {"snowflake, started at random", "leaf", "full=wait window=20ms", 2000, true},
    {"snowflake in each thread's order, started at random", "leaf",
     "full=wait ordering=thread window=20ms", 20000, true},
    {"snowflake on three nodes", "snowflake", "full=wait nodes=3 window=20ms", 200, true},
    {"snowflake on three nodes in each thread's order", "snowflake",
     "full=wait nodes=3 ordering=thread window=20ms", 5000, true},
    {"uuid7", "uuid7", "full=wait", 200, true},
    {"uuid7 in each thread's order", "uuid7", "full=wait ordering=thread", 200, true},
    {"uuid1 by its bare time", "uuid6", "full=wait", 200, true},
    {"ulid", "ulid", "full=wait", 200, true},
    {"objectid", "objectid", "full=wait", 200, false},
    {"xid on its own node", "xid", "full=wait machine=1 pid=2 window=5s", 20000, false},
    {"a counter that fills its ticks", "time:42/ms random:30 counter:8", "full=wait", 400, false},
    {"ksuid by its random bits", "ksuid", "", 200, false},
    {"locality", "locality", "full=wait", 200, false},
};

static void threads_share(void **state) {
    const struct row *row = *state;
    for (int mixed = 0; mixed < 2; mixed++) {
        assert_int_equal(world_new(NULL), 0);
        world.clock.step_ns = row->step_ns;
        firn_gen *gen = opened(row->scheme, row->keys, false);
        size_t falls = crew(gen, mixed == 1, NULL);
        if (row->rises) {
            assert_int_equal(falls, 0);
        }
        assert_int_equal(status_of(gen).steps_back_left, 0);
        assert_int_equal(firn_close(gen, NULL), FIRN_OK);
        world_end(NULL);
    }
}

/* ---- companions ----------------------------------------------------------------------------- */

static void *keeps(void *self) {
    thread_companion *companion = self;
    while (!atomic_load(&companion->stop)) {
        int64_t wait_ms;
        companion->failures += firn_gen_step(companion->gen, &wait_ms, NULL) != FIRN_OK;
        atomic_fetch_add(&companion->rounds, 1);
        sched_yield();
    }
    return NULL;
}

static void a_renewer_renews_for_all(void **state) {
    const char *keys[] = {"full=wait window=200ms", "full=wait window=200ms ordering=thread",
                          "full=wait window=200ms nodes=3"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        thread_companion renewer = {.run = keeps};
        int64_t wait_ms;
        assert_int_equal(world_new(NULL), 0);
        world.clock.step_ns = 400;
        firn_gen *gen = opened("snowflake", keys[i], true);
        assert_int_equal(firn_gen_step(gen, &wait_ms, NULL), FIRN_OK);
        assert_int_equal(crew(gen, true, &renewer), 0);
        assert_true(atomic_load(&renewer.rounds) > 0);
        assert_int_equal(renewer.failures, 0);
        assert_int_equal(firn_close(gen, NULL), FIRN_OK);
        world_end(NULL);
    }
}

/* Sets the clock back by more than max_back from time to time, while nodes are left. */
static void *sets_back(void *self) {
    thread_companion *companion = self;
    for (int64_t next = 0; !atomic_load(&companion->stop);) {
        int64_t steady;
        simulated_steady(&world.clock, &steady);
        if (steady >= next && atomic_load(&companion->rounds) < 100) {
            step(&world.clock, -1500 * MS);
            atomic_fetch_add(&companion->rounds, 1);
            next = steady + 5 * MS;
        }
        sched_yield();
    }
    return NULL;
}

static void windows_are_retired_under_way(void **state) {
    static const char *const keys[][2] = {{"snowflake", "full=wait window=50ms"},
                                          {"snowflake", "full=wait window=50ms ordering=thread"},
                                          {"leaf", "full=wait window=50ms nodes=2"},
                                          {"uuid7", "full=wait"},
                                          {"uuid1", "full=wait"},
                                          {"ulid", "full=wait"},
                                          {"objectid", "full=wait"}};
    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        thread_companion setter = {.run = sets_back};
        assert_int_equal(world_new(NULL), 0);
        world.clock.step_ns = 400;
        firn_gen *gen = opened(keys[i][0], keys[i][1], false);
        crew(gen, true, &setter); /* unique is all that is promised here */
        firn_status status = status_of(gen);
        assert_true(atomic_load(&setter.rounds) > 0 && status.steps_back_left > 0);
        assert_true(status.steps_back_left <= atomic_load(&setter.rounds));
        assert_int_equal(firn_close(gen, NULL), FIRN_OK);
        world_end(NULL);
    }
}

/* A store that answers when it is let to. */
static struct { _Atomic bool shut, reached; } gate;

static int gate_reserve(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                        firn_error *error) {
    atomic_store(&gate.reached, atomic_load(&gate.shut));
    while (atomic_load(&gate.shut)) {
        sched_yield();
    }
    return recorder_reserve(self, request, first, held, error);
}

static void *steps_once(void *self) {
    thread_companion *companion = self;
    int64_t wait_ms;
    companion->failures = firn_gen_step(companion->gen, &wait_ms, NULL) != FIRN_OK;
    return NULL;
}

static void a_step_back_waits_for_no_renewer(void **state) {
    firn_store_ops ops = recorder_ops;
    thread_companion renewer = {.run = steps_once};
    pthread_t thread;
    firn_error error = {0};
    firn_id before, id = {0};
    int64_t wait_ms;
    (void)state;
    assert_int_equal(world_new(NULL), 0);
    firn_store_close(world.store);
    assert_int_equal(firn_store_open(&world.log.real, "memory:", NULL, NULL), FIRN_OK);
    ops.reserve = gate_reserve;
    assert_int_equal(firn_store_wrap(&world.store, &ops, &world.log, NULL), FIRN_OK);
    firn_gen *gen = renewer.gen = opened("snowflake", "", true);
    assert_int_equal(firn_gen_step(gen, &wait_ms, NULL), FIRN_OK);
    assert_int_equal(firn_next(gen, &before, NULL), FIRN_OK);
    pass(&world.clock, 1500 * MS); /* time for a renewal */
    atomic_store(&gate.shut, true);
    assert_int_equal(pthread_create(&thread, NULL, renewer.run, &renewer), 0);
    while (!atomic_load(&gate.reached)) {
        sched_yield();
    }
    step(&world.clock, -5 * SECOND);
    assert_int_equal(firn_next(gen, &id, &error), FIRN_EWINDOW); /* at once, or this test hangs */
    error_text(&error, FIRN_EWINDOW, "stepped back");
    atomic_store(&gate.shut, false);
    pthread_join(thread, NULL);
    firn_gen_step(gen, &wait_ms, NULL);
    assert_int_equal(firn_next(gen, &id, &error), FIRN_OK);
    assert_int_not_equal(firn_id_cmp(&before, &id), 0);
    assert_int_equal(firn_close(gen, NULL), FIRN_OK);
    world_end(NULL);
}

static void *asks(void *self) {
    thread_companion *companion = self;
    const firn_time past = {1750000000, 0};
    firn_id *ids = calloc(EACH, sizeof *ids);
    size_t n = 0;
    while (!atomic_load(&companion->stop) && ids != NULL) {
        firn_status status = {.size = sizeof status};
        firn_gen_status(companion->gen, &status);
        companion->failures += status.next < status.first || status.next > status.end;
        companion->failures +=
            n < EACH && firn_at(companion->gen, &past, ids + n, 1, NULL) != FIRN_OK;
        n += n < EACH;
        atomic_fetch_add(&companion->rounds, 1);
    }
    companion->failures += duplicates(ids, n);
    free(ids);
    return NULL;
}

static void status_and_history_are_asked_meanwhile(void **state) {
    thread_companion curious = {.run = asks};
    (void)state;
    assert_int_equal(world_new(NULL), 0);
    world.clock.step_ns = 400;
    firn_gen *gen = opened("snowflake", "full=wait window=2s", false);
    assert_int_equal(crew(gen, true, &curious), 0);
    assert_true(atomic_load(&curious.rounds) > 0);
    assert_int_equal(curious.failures, 0);
    assert_int_equal(firn_close(gen, NULL), FIRN_OK);
    world_end(NULL);
}

/* ---- the clock of the system ------------------------------------------------------------------ */

#define WIDE "0x0:1 time:41/ms@@2020-01-01 node:4 sequence:18"

/* These add to the cursor of a window, where the cycle counter can be trusted. */
static firn_gen *opened_by_the_system(const char *scheme, const char *keys) {
    firn_gen *gen = NULL;
    firn_error error = {0};
    const firn_config config = {
        .size = sizeof config, .scheme = scheme, .keys = keys, .store_url = "memory:"};
    if (firn_open_with(&gen, &config, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return gen;
}

/* Not without end: on an idle processor the windows would be closed faster than they are claimed. */
static void *renews_the_identity(void *self) {
    thread_companion *companion = self;
    while (!atomic_load(&companion->stop)) {
        if (atomic_load(&companion->rounds) < 1000) {
            firn_renew_identity(); /* closes every window */
            atomic_fetch_add(&companion->rounds, 1);
        }
        for (int i = 0; i < 100; i++) {
            sched_yield();
        }
    }
    return NULL;
}

static void threads_add_to_one_cursor(void **state) {
    static const char *const keys[][2] = {{WIDE, "ns=a full=wait max_wait=600s"},
                                          {WIDE, "ns=b full=wait max_wait=600s window=5ms"},
                                          {WIDE, "ns=c full=wait max_wait=600s start=random:9"},
                                          {"uuid7", "full=wait max_wait=600s"}};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof keys / sizeof keys[0]; i++) {
        thread_companion renewer = {.run = renews_the_identity};
        firn_gen *gen = opened_by_the_system(keys[i / 2][0], keys[i / 2][1]);
        const size_t falls = crew(gen, i / 2 > 1, i % 2 == 0 ? NULL : &renewer);
        if (i % 2 == 0) { /* else an ID may be of another node than the one before */
            assert_int_equal(falls, 0);
        }
        assert_int_equal(firn_close(gen, NULL), FIRN_OK);
    }
}

/* Calls that are refused must not move the cursor, or it would run ahead of the clock. */
static void *is_refused(void *self) {
    hand *state = self;
    for (size_t i = 0; i < EACH / 10; i++) {
        int code = firn_next(state->gen, &state->ids[state->n], &state->error);
        state->n += code == FIRN_OK;
        state->code = code == FIRN_OK || code == FIRN_EEXHAUSTED ? state->code : code;
    }
    return NULL;
}

static void refused_threads_leave_the_cursor(void **state) {
    static hand hands[THREADS];
    firn_gen *gen = opened_by_the_system("0x0:1 time:41/ms@@2020-01-01 node:4 sequence:4",
                                         "max_lead=20ms max_back=10ms");
    firn_id *ids = calloc((size_t)THREADS * EACH, sizeof *ids);
    size_t issued = 0;
    (void)state;
    assert_non_null(ids);
    for (size_t i = 0; i < THREADS; i++) {
        hands[i] = (hand){.gen = gen, .ids = ids + i * EACH};
        assert_int_equal(pthread_create(&hands[i].thread, NULL, is_refused, &hands[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(hands[i].thread, NULL);
        if (hands[i].code != FIRN_OK) {
            fail_msg("%s", hands[i].error.text);
        }
        memmove(ids + issued, hands[i].ids, hands[i].n * sizeof *ids);
        issued += hands[i].n;
    }
    assert_true(issued < THREADS * (EACH / 10));
    assert_true(status_of(gen).lead_ns <= 22 * MS);
    assert_int_equal(duplicates(ids, issued), 0); /* sorts */
    /* A cursor that ran ahead looks like a clock that stepped back, and the generator then takes
     * another node. */
    for (size_t i = 1; i < issued; i++) {
        assert_int_equal(ids[i].low >> 4 & 15, ids[0].low >> 4 & 15);
    }
    free(ids);
    assert_int_equal(firn_close(gen, NULL), FIRN_OK);
}

/* ---- integers ------------------------------------------------------------------------------- */

typedef struct counter {
    firn_segment *range;
    int64_t *values;
    int code;
    pthread_t thread;
} counter;

static void *count(void *self) {
    counter *state = self;
    for (size_t i = 0; i < EACH / 4 && state->code == FIRN_OK; i++) {
        state->code = i % 50 == 0 ? firn_segment_block(state->range, 1, &state->values[i], NULL)
                                  : firn_segment_next(state->range, &state->values[i], NULL);
        int64_t wait_ms;
        if (i % 64 == 0 && state->code == FIRN_OK) {
            state->code = firn_segment_step(state->range, &wait_ms, NULL);
        }
    }
    return NULL;
}

/* The same for one that may not wait for the store: the others' steps are its renewer, and its
 * own. */
static void *count_fetched(void *self) {
    counter *state = self;
    int64_t wait_ms, count;
    for (size_t i = 0, tries = 0; i < EACH / 4 && state->code == FIRN_OK; tries++) {
        state->code =
            i % 50 == 0 ? firn_segment_exact(state->range, 1, false, &state->values[i], NULL, NULL)
                        : firn_segment_take(state->range, 1, &state->values[i], &count, NULL, NULL);
        if (state->code == FIRN_EWINDOW && tries < 10 * EACH) {
            state->code = firn_segment_step(state->range, &wait_ms, NULL);
        } else if (state->code == FIRN_OK) {
            i++;
        }
    }
    return NULL;
}

static int compare_integers(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void threads_share_integers(void **state) {
    static counter counters[THREADS];
    const size_t each = EACH / 4, all = THREADS * each;
    firn_segment *range = NULL;
    int64_t *values = calloc(all, sizeof *values);
    (void)state;
    assert_non_null(values);
    assert_int_equal(world_new(NULL), 0);
    assert_int_equal(
        firn_segment_open(&range, "orders", "step=100", world.store, &world.hands, NULL), FIRN_OK);
    for (size_t i = 0; i < THREADS; i++) {
        counters[i] = (counter){.range = range, .values = values + i * each};
        assert_int_equal(pthread_create(&counters[i].thread, NULL,
                                        i % 2 == 0 ? count : count_fetched, &counters[i]),
                         0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(counters[i].thread, NULL);
        assert_int_equal(counters[i].code, FIRN_OK);
    }
    for (size_t i = 1; i < all;
         i++) { /* a thread that never took a block: each greater than before */
        if (i / each % 2 == 1 && i % each != 0) {
            assert_true(values[i - 1] < values[i]);
        }
    }
    qsort(values, all, sizeof *values, compare_integers);
    for (size_t i = 1; i < all; i++) {
        assert_true(values[i - 1] < values[i]);
    }
    free(values);
    assert_int_equal(firn_segment_close(range, NULL), FIRN_OK);
    world_end(NULL);
}

int main(void) {
    enum { ROWS = sizeof rows / sizeof rows[0], OTHERS = 7 };
    static struct CMUnitTest tests[ROWS + OTHERS];
    static char sentences[ROWS][120];
    const struct CMUnitTest others[OTHERS] = {
#define TEST(sentence, function) {sentence, function, NULL, NULL, NULL}
        TEST("a renewer renews while all issue", a_renewer_renews_for_all),
        TEST("windows are retired while all issue from them", windows_are_retired_under_way),
        TEST("after a step back nobody waits for a renewer that asks its store",
             a_step_back_waits_for_no_renewer),
        TEST("status and history are asked for while all issue",
             status_and_history_are_asked_meanwhile),
        TEST("threads add to one cursor, also while its window is closed",
             threads_add_to_one_cursor),
        TEST("threads that are refused leave the cursor", refused_threads_leave_the_cursor),
        TEST("integers of one range are issued once", threads_share_integers),
#undef TEST
    };
    for (size_t i = 0; i < ROWS; i++) {
        snprintf(sentences[i], sizeof sentences[i], "threads share a generator: %s",
                 rows[i].sentence);
        tests[i] = (struct CMUnitTest){sentences[i], threads_share, NULL, NULL,
                                       (void *)(uintptr_t)&rows[i]};
    }
    memcpy(tests + ROWS, others, sizeof others);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
