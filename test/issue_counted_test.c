/* SPDX-License-Identifier: MIT */
/* IDs that count on over ticks, or whose random part counts up: where they begin and end, what a
 * batch uses up, and what it writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gen.h"
#include "generating.h"

#include <pthread.h>

#define COUNTED "time:41/ms@@2020-01-01 counter:2 random:20" /* 4 IDs a tick */
#define TIGHT   "max_lead=5ms max_back=5ms max_wait=0"       /* 6 ticks, the present one included */

static firn__window *only_window(const firn_gen *gen) {
    return firn__window_of(gen, 0);
}

/* The present, in slots of the window, which are ticks. */
static int64_t here_of(const firn_gen *gen) {
    return (int64_t)(now_of(gen) - only_window(gen)->base_tick);
}

/* As after a claim by a store that was ahead. */
static void counters_begin_where_the_cursor_is(void **state) {
    (void)state;
    firn_gen *gen = opened("time:41/ms@@2020-01-01 node:10 counter:2", "");
    next(gen);
    pass(&world.clock, MS);
    const int64_t ahead = here_of(gen) + 3;
    atomic_store(&only_window(gen)->cursor, FIRN__OPEN | (uint64_t)ahead);
    assert_int_equal(next_field(gen, "time"), now_of(gen) + 3);
    assert_int_equal(firn__next_of(only_window(gen)), ahead + 1);
    closed(gen);
}

/* Though the present is within it. */
static void counters_end_where_the_window_ends(void **state) {
    (void)state;
    firn_gen *gen = opened("ulid", "");
    next(gen);
    pass(&world.clock, MS);
    firn__window *window = only_window(gen);
    const int64_t end = here_of(gen) + 3;
    atomic_store(&window->end, end);
    atomic_store(&window->soft, end);
    atomic_store(&window->cursor, FIRN__OPEN | (uint64_t)end);
    next(gen);
    assert_true(only_window(gen) != window);
    closed(gen);
}

/* A counter of one bit, and with it one random bit. */
static void a_tick_holds_what_its_counter_holds(void **state) {
    (void)state;
    firn_gen *gen = opened("time:41/ms@@2020-01-01 counter:1 random:1", "");
    size_t set = 0;
    for (uint64_t k = 0; k < 64; k++) {
        firn_id id = next(gen);
        assert_int_equal(field(gen, &id, "time"), now_of(gen) + k / 2);
        set += field(gen, &id, "random");
    }
    assert_in_range(set, 8, 56);
    closed(gen);
}

static void counters_draw_nothing_that_they_do_not_need(void **state) {
    (void)state;
    firn_gen *gen = opened("time:41/ms@@2020-01-01 node:10 counter:2", "");
    firn_id first = next(gen);
    world.entropy.fill = no_entropy;
    firn_id second = next(gen);
    assert_true(first.low != second.low);
    closed(gen);
}

/* After a step that is absorbed, what is left of the last tick is further ahead than may be
 * borrowed. */
static void counters_are_not_ahead_of_the_lead(void **state) {
    (void)state;
    firn_gen *gen = opened(COUNTED, TIGHT);
    const uint64_t now = now_of(gen);
    for (uint64_t k = 0; k < 23; k++) {
        assert_int_equal(next_field(gen, "time"), now + k / 4);
    }
    step(&world.clock, -3 * MS);
    denied(gen, FIRN_EEXHAUSTED, "max_lead=5ms");
    step(&world.clock, 3 * MS);
    assert_int_equal(next_field(gen, "time"), now + 5);
    denied(gen, FIRN_EEXHAUSTED, "max_lead=5ms");
    closed(gen);
}

static void a_batch_that_is_refused_uses_nothing_up(void **state) {
    (void)state;
    firn_gen *gen = opened(COUNTED, TIGHT);
    next(gen);
    pass(&world.clock, SECOND);
    denied_n(gen, 25, FIRN_ERANGE, "");
    firn_id *ids = bulk(gen, 24);
    for (size_t k = 0; k < 24; k++) {
        assert_int_equal(field(gen, &ids[k], "time"), now_of(gen) + k / 4);
        assert_true(k == 0 || ids[k].low % (1 << 20) != ids[k - 1].low % (1 << 20) + 1);
        assert_true(k == 0 ||
                    ((field(gen, &ids[k], "counter") - field(gen, &ids[k - 1], "counter")) & 3) ==
                        1);
    }
    free(ids);
    closed(gen);
}

/* A single tick holds all of them, though a counter's 6 ticks would not. Each ID is the one before
 * plus one, also where the lowest 64 bits carry, and nothing after the last is written. */
static void a_batch_of_ulids_counts_on(void **state) {
    const size_t n = 5000;
    (void)state;
    firn_gen *gen = opened("ulid", TIGHT);
    firn_id *ids = bulk(gen, n);
    free(ids);
    ids = calloc(n + 8, sizeof *ids);
    assert_non_null(ids);
    memset(&ids[n], 0x77, 8 * sizeof *ids);
    for (int turn = 0; turn < 2; turn++) {
        if (turn == 1) {
            gen->live->counted.random.low = UINT64_MAX - 3;
        }
        assert_int_equal(firn_next_n(gen, ids, n, NULL), FIRN_OK);
        for (size_t k = 1; k < n; k++) {
            follows(gen, &ids[k - 1], &ids[k]);
        }
        for (size_t k = 0; k < 8; k++) {
            assert_true(ids[n + k].low == UINT64_C(0x7777777777777777));
        }
    }
    free(ids);
    closed(gen);
}

/* The counter is the last live object: zeros follow it on its page. */
static void nothing_after_the_counter_is_written(void **state) {
    (void)state;
    firn_gen *gen = opened("ulid", "");
    const uint8_t *end =
        (const uint8_t *)gen->live + offsetof(firn__process_state, counted) + sizeof(firn__counted);
    assert_true((uintptr_t)end % 4096 != 0 &&
                (uintptr_t)end % 4096 <= 4096 - sizeof(pthread_mutex_t));
    for (int turn = 0; turn < 3; turn++) {
        next(gen);
        for (size_t i = 0; i < sizeof(pthread_mutex_t); i++) {
            assert_int_equal(end[i], 0);
        }
    }
    closed(gen);
}

static void an_online_counter_holds_no_window(void **state) {
    (void)state;
    firn_gen *gen = opened("time:41/ms@@2020-01-01 node:10 counter:2", "mode=online");
    for (int turn = 0; turn < 3; turn++) {
        next(gen);
        assert_null(only_window(gen));
        assert_int_equal(world.log.give_backs, turn + 1);
    }
    closed(gen);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_new, world_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(counters_begin_where_the_cursor_is),
        TEST(counters_end_where_the_window_ends),
        TEST(a_tick_holds_what_its_counter_holds),
        TEST(counters_draw_nothing_that_they_do_not_need),
        TEST(counters_are_not_ahead_of_the_lead),
        TEST(a_batch_that_is_refused_uses_nothing_up),
        TEST(a_batch_of_ulids_counts_on),
        TEST(nothing_after_the_counter_is_written),
        TEST(an_online_counter_holds_no_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
