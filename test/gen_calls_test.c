/* SPDX-License-Identifier: MIT */
/* Behaviour of a generator's calls around the IDs: how long they wait, how many IDs they take, when
 * to call a step again, what a status says. On a simulated clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generating.h"

#include "gen.h"

/* ---- how long a call waits ------------------------------------------------------------------- */

/* The effect of a pause of 1 ms on the clocks. */
static int64_t pause_steady_ns, pause_wall_ns;

static int pauses_otherwise(void *self, int64_t ns) {
    simulated *state = self;
    assert_int_equal(ns, MS);
    atomic_fetch_add(&state->pauses, 1);
    atomic_fetch_add(&state->steady_ns, pause_steady_ns);
    atomic_fetch_add(&state->wall_ns, pause_wall_ns);
    return FIRN_OK;
}

static void a_call_waits_as_its_keys_say(void **state) {
    static const char small[] = "0x0:1 time:41/ms node:10 sequence:2",
                      slow[] = "0x0:1 time:33/s node:10 sequence:2";
    static const struct {
        const char *scheme, *keys;
        int64_t steady_ns, wall_ns; /* of a pause */
        int64_t step_ns;            /* by which somebody sets the clock, once the tick is full */
        int code;                   /* of the call after it */
        int pauses;                 /* until then */
    } rows[] = {
        /* a full tick is over after as many pauses as it lasts */
        {small, "full=wait", MS, MS, 0, FIRN_OK, 1},
        {small, "full=wait", MS, MS / 4, 0, FIRN_OK, 3}, /* at .4568 ms of a tick */
        {small, "", MS, MS, 0, FIRN_EEXHAUSTED, 0},
        {"time:42/ms random:30 counter:2", "full=wait", MS, MS, 0, FIRN_OK, 1},
        {"time:42/ms random:30 counter:2", "", MS, MS, 0, FIRN_EEXHAUSTED, 0},
        {small, "full=wait unsafe=1 mode=online", MS, MS, 0, FIRN_OK, 1},
        /* the wait ends by the steady clock, and where that does not move, by the pauses */
        {slow, "full=wait max_wait=40ms", 2 * MS, 2 * MS, 0, FIRN_EEXHAUSTED, 20},
        {slow, "full=wait max_wait=40ms", 0, 0, 0, FIRN_EEXHAUSTED, 40},
        {slow, "full=wait max_wait=1ms", 0, 0, 0, FIRN_EEXHAUSTED, 1},
        {"time:33/s random:30 counter:2", "full=wait max_wait=40ms", 2 * MS, 2 * MS, 0,
         FIRN_EEXHAUSTED, 20},
        /* set back beyond max_back=0 */
        {small, "node=5", MS, MS, -9 * MS, FIRN_OK, 10},
        {small, "node=5 back=fail", MS, MS, -9 * MS, FIRN_ECLOCK, 0},
        {small, "back=wait", MS, MS, -9 * MS, FIRN_OK, 10},
        {small, "", MS, MS, -9 * MS, FIRN_OK, 0}, /* leaves its node */
        {small, "node=5 max_wait=5ms", MS, MS, -9 * MS, FIRN_ECLOCK, 5},
    };
    (void)state;
    world.hands.pause = pauses_otherwise;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char keys[120];
        firn_error error = {0};
        firn_id id;
        snprintf(keys, sizeof keys, "max_lead=0 max_back=0 ns=row%zu %s", i, rows[i].keys);
        firn_gen *gen = opened(rows[i].scheme, keys);
        pause_steady_ns = rows[i].steady_ns;
        pause_wall_ns = rows[i].wall_ns;
        free(bulk(gen, 4));
        world.clock.pauses = 0;
        step(&world.clock, rows[i].step_ns);
        int code = firn_next(gen, &id, &error);
        if (code != rows[i].code || world.clock.pauses != rows[i].pauses) {
            fail_msg("row %zu (%s): %s after %d pauses: %s", i, rows[i].keys, firn_errname(code),
                     (int)world.clock.pauses, error.text);
        }
        closed(gen);
        pass(&world.clock, SECOND);
    }
}

/* ---- how many at once ------------------------------------------------------------------------ */

/* ---- when to call a step again ----------------------------------------------------------- */

static int no_time(void *self, firn_time *now) {
    (void)self;
    (void)now;
    return FIRN_ECLOCK;
}

static void calls_have_their_bounds(void **state) {
    firn_error error = {0};
    uint64_t number = 7;
    (void)state;
    firn_gen *gen = opened("snowflake", "");
    world.hands.wall = no_time;
    assert_int_equal(firn_next_n(gen, NULL, 0, &error), FIRN_OK); /* looks at nothing */
    assert_int_equal(firn_next_u64(gen, NULL, 0, &error), FIRN_OK);
    assert_int_equal(firn_next_u64(gen, &number, 1, &error), FIRN_ECLOCK);
    assert_int_equal(number, 7);
    world.hands.wall = simulated_wall;
    assert_int_equal(firn_next_u64(gen, NULL, 1 << 30, &error), FIRN_ERANGE);
    error_text(&error, FIRN_ERANGE, "ask for at most 4100096 at once");
    assert_int_equal(error.cure, FIRN_CURE_FEWER_IDS);
    closed(gen);
    gen = opened("time:42/ms random:30 counter:24", "");
    assert_int_equal(status_of(gen).max_count, 1 << 30); /* and not 1001 ticks full */
    assert_int_equal(firn_next_n(gen, NULL, (1 << 30) + 1, &error), FIRN_ERANGE);
    error_text(&error, FIRN_ERANGE, "1073741825 IDs at once: ask for at most 1073741824");
    closed(gen);
    gen = opened("time:42/ms node:10 sequence:13", "");
    assert_int_equal(firn_next_u64(gen, &number, 1, &error), FIRN_EUSAGE);
    error_text(&error, FIRN_EUSAGE, "65 bits");
    closed(gen);
}

static void a_step_says_when_to_call_again(void **state) {
    static const struct {
        const char *scheme, *keys;
        bool clock_fails, store_fails;
        int code;
        int64_t wait_ms;
    } rows[] = {
        {"uuid7", "", false, false, FIRN_OK, 1000},
        {"uuid7", "", true, false, FIRN_ECLOCK, 50},
        {"snowflake", "unsafe=1 mode=online", false, false, FIRN_OK, 1000},
        {"snowflake", "unsafe=1 mode=online", true, false, FIRN_ECLOCK, 50},
        {"snowflake", "window=5s", false, false, FIRN_OK, 100},
        {"snowflake", "window=400ms", false, false, FIRN_OK, 100},
        {"snowflake", "window=396ms", false, false, FIRN_OK, 99},
        {"snowflake", "window=4ms", false, false, FIRN_OK, 1},
        {"snowflake", "window=3ms", false, false, FIRN_OK, 50},
        {"snowflake", "window=400ms", false, true, FIRN_ESTORE, 50},
        {"snowflake", "window=400ms", true, false, FIRN_ECLOCK, 50},
        {"snowflake", "window=400ms nodes=2", false, false, FIRN_OK, 100},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char keys[120];
        int64_t wait_ms = -1;
        firn_error error = {0};
        snprintf(keys, sizeof keys, "ns=r%zu %s", i, rows[i].keys);
        firn_gen *gen = opened(rows[i].scheme, rows[i].scheme[0] == 's' ? keys : rows[i].keys);
        world.hands.wall = rows[i].clock_fails ? no_time : simulated_wall;
        world.log.fate = FATE_DOWN;
        world.log.fated = rows[i].store_fails ? -1 : 0;
        pass(&world.clock, HOUR);
        int code = firn_gen_step(gen, &wait_ms, &error);
        if (code != rows[i].code || wait_ms != rows[i].wait_ms) {
            fail_msg("row %zu: %s, again in %" PRId64 " ms: %s", i, firn_errname(code), wait_ms,
                     error.text);
        }
        if (rows[i].clock_fails) { /* and without a time nothing is claimed */
            const int reserves = world.log.reserves;
            pthread_mutex_lock(&gen->live->locked.lock);
            firn__window_retire(gen, 0, false, NULL);
            pthread_mutex_unlock(&gen->live->locked.lock);
            assert_int_equal(firn_gen_step(gen, &wait_ms, &error), FIRN_ECLOCK);
            assert_int_equal(world.log.reserves, reserves);
        }
        world.hands.wall = simulated_wall;
        world.log.fated = 0;
        closed(gen);
    }
}

/* ---- what a status says ---------------------------------------------------------------------- */

static const char *loses(void *self) {
    (void)self;
    return "it may lose acknowledged writes";
}

static void stays_open(void *self) {
    (void)self;
}

static void a_status_says_what_is_held(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "");
    uint64_t begin = now_of(gen) << 12;
    firn_status status = status_of(gen);
    assert_true(status.size == sizeof status && status.reserved && status.held && !status.unsafe);
    assert_true(status.first == (int64_t)begin && status.next == (int64_t)begin);
    assert_int_equal(status.lead_ns, -456789); /* the clock is at .123456789 s */
    free(bulk(gen, 3 * 4096 + 5));
    status = status_of(gen);
    assert_true(status.next == (int64_t)begin + 3 * 4096 + 5 && status.end > status.next);
    assert_int_equal(status.lead_ns, 3 * MS - 456789);
    struct {
        firn_status head;
        char rest[64];
    } longer = {.head = {.size = sizeof longer}, .rest = "whole"};
    firn_gen_status(gen, &longer.head);
    assert_true(strcmp(longer.rest, "whole") == 0 && longer.head.next == status.next);
    firn_status shorter = {.size = offsetof(firn_status, next), .next = 77, .max_count = 99};
    firn_gen_status(gen, &shorter);
    assert_true(shorter.first == status.first && shorter.next == 77 && shorter.max_count == 99);
    closed(gen);

    gen = opened("uuid4", "");
    next(gen);
    status = status_of(gen);
    assert_true(status.first == 0 && status.lead_ns == 0 && !status.reserved && !status.unsafe);
    closed(gen);
    gen = opened("uuid6", "");
    next(gen);
    assert_int_equal(status_of(gen).first, 0);
    closed(gen);
    gen = opened("snowflake", "unsafe=1");
    assert_true(status_of(gen).unsafe);
    closed(gen);
    firn_store_ops careless = recorder_ops;
    careless.caution = loses;
    careless.close = stays_open;
    firn_store *whole = world.store;
    assert_int_equal(firn_store_wrap(&world.store, &careless, &world.log, NULL), FIRN_OK);
    gen = opened("snowflake", "ns=careless");
    assert_true(status_of(gen).unsafe);
    closed(gen);
    firn_store_close(world.store);
    world.store = whole;
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(sentence, function) {sentence, function, world_new, world_end, NULL}
        TEST("a call waits as its keys say", a_call_waits_as_its_keys_say),
        TEST("calls have their bounds", calls_have_their_bounds),
        TEST("a status says what is held", a_status_says_what_is_held),
        TEST("a step says when to call again", a_step_says_when_to_call_again),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
