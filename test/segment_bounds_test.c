/* SPDX-License-Identifier: MIT */
/* Segments at their bounds: the names that a store sees, the greatest block, how many failures
 * change a step, and which block a call takes its integers from. segment_test.c has what they are
 * for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generating.h"

static void a_store_sees_the_same_names_for_ever(void **state) {
    static const struct {
        const char *keys, *layout, *key;
    } kinds[] = {{"kind=segment", "integer", "1"},
                 {"kind=serial", "integer", "1"},
                 {"kind=ticket increment=3 offset=2", "integer increment=3", "2"}};
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        int64_t value;
        world_end(NULL);
        assert_int_equal(world_new(NULL), 0);
        firn_segment *segment = open_segment(kinds[i].keys, FIRN_OK, "");
        assert_int_equal(firn_segment_next(segment, &value, NULL), FIRN_OK);
        assert_string_equal(world.log.ns, "integer orders");
        assert_string_equal(world.log.key, kinds[i].key);
        assert_string_equal(world.log.last.layout, kinds[i].layout);
        assert_int_equal(firn_segment_close(segment, NULL), FIRN_OK);
    }
}

static void the_greatest_block_is_half_of_all(void **state) {
    const int64_t most = FIRN_SLOT_MAX / 2;
    int64_t first = 0;
    firn_error error = {0};
    (void)state;
    firn_segment *segment = open_segment("", FIRN_OK, "");
    assert_int_equal(firn_segment_block(segment, most, &first, &error), FIRN_OK);
    assert_int_equal(first, 1);
    firn_segment_close(segment, NULL);
    world_end(NULL);
    assert_int_equal(world_new(NULL), 0);
    segment = open_segment("", FIRN_OK, "");
    assert_int_equal(firn_segment_exact(segment, most + 1, true, &first, NULL, &error),
                     FIRN_ERANGE);
    assert_int_equal(firn_segment_block(segment, most + 1, &first, &error), FIRN_ERANGE);
    assert_int_equal(world.log.reserves, 0);
    assert_int_equal(firn_segment_exact(segment, most, true, &first, NULL, &error), FIRN_OK);
    assert_int_equal(first, 1);
    assert_int_equal(firn_segment_close(segment, NULL), FIRN_OK);
    segment = open_segment("", FIRN_OK, "");
    assert_int_equal(firn_segment_block(segment, 1, &first, &error), FIRN_OK);
    assert_int_equal(first,
                     1 + most); /* one goes out with its last integer, and nothing is left of it */
    assert_int_equal(firn_segment_close(segment, NULL), FIRN_OK);
}

/* A failure does not count as a fetch: the step of the third fetch is the first that adapts. */
static void failures_do_not_change_the_step(void **state) {
    int64_t value;
    (void)state;
    firn_segment *segment = open_segment("kind=segment step=10", FIRN_OK, "");
    world.log.fate = FATE_DOWN;
    world.log.fated = 5;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(firn_segment_next(segment, &value, NULL), FIRN_ESTORE);
    }
    const int64_t counts[] = {10, 10, 20};
    for (int i = 0; i < 3; i++) {
        int reserves = world.log.reserves;
        while (world.log.reserves == reserves) {
            assert_int_equal(firn_segment_next(segment, &value, NULL), FIRN_OK);
        }
        assert_int_equal(world.log.last.count, counts[i]);
    }
    assert_int_equal(firn_segment_close(segment, NULL), FIRN_OK);
}

/* The block fetched ahead, when it has exactly as many as are asked for; and no step is necessary
 * after it. */
static void an_exact_block_takes_what_is_exactly_there(void **state) {
    int64_t first, wait_ms;
    bool due = true;
    (void)state;
    firn_segment *segment = open_segment("kind=segment step=100 adapt=0", FIRN_OK, "");
    assert_int_equal(firn_segment_exact(segment, 1, true, &first, &due, NULL), FIRN_OK);
    assert_false(due);
    assert_int_equal(firn_segment_exact(segment, 50, false, &first, &due, NULL), FIRN_OK);
    assert_true(due);
    assert_int_equal(firn_segment_step(segment, &wait_ms, NULL), FIRN_OK);
    assert_int_equal(wait_ms, 100);
    assert_int_equal(world.log.reserves, 2);
    assert_int_equal(firn_segment_exact(segment, 100, false, &first, &due, NULL), FIRN_OK);
    assert_int_equal(first, 101);
    assert_int_equal(world.log.reserves, 2);
    assert_int_equal(firn_segment_close(segment, NULL), FIRN_OK);
}

/* ---- a store that answers what it likes ------------------------------------------------------ */

static int64_t answers[8]; /* the first slot of each reservation */
static int answered;

static int reserve_as_told(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                           firn_error *error) {
    (void)self, (void)error;
    world.log.last = *request;
    *first = answers[answered++];
    *held = (firn_mark){*first, 0};
    return FIRN_OK;
}

static void use_answers(const int64_t *firsts, size_t count) {
    static firn_store_ops ops;
    ops = recorder_ops;
    ops.reserve = reserve_as_told;
    memcpy(answers, firsts, count * sizeof *firsts);
    answered = 0;
    firn_store_close(world.store);
    assert_int_equal(firn_store_open(&world.log.real, "memory:", NULL, NULL), FIRN_OK);
    assert_int_equal(firn_store_wrap(&world.store, &ops, &world.log, NULL), FIRN_OK);
}

/* Blocks of one slot may come in any order, as from ticket servers that replace each other; after a
 * greater block, a lower one means that the store lost reservations. */
static void lower_blocks_are_refused_after_one_of_two_slots(void **state) {
    static const int64_t firsts[] = {5, 3, 4, 1, 2}, two[] = {100, 50}, after[] = {5, 4};
    firn_error error = {0};
    int64_t value, first, count;
    (void)state;
    use_answers(firsts, 5);
    firn_segment *segment = open_segment("kind=serial", FIRN_OK, "");
    for (int i = 0; i < 5; i++) {
        assert_int_equal(firn_segment_next(segment, &value, NULL), FIRN_OK);
        assert_int_equal(value, firsts[i]);
    }
    firn_segment_close(segment, NULL);
    use_answers(two, 2);
    segment = open_segment("kind=serial step=2", FIRN_OK, "");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(firn_segment_next(segment, &value, NULL), FIRN_OK);
        assert_int_equal(value, 100 + i);
    }
    assert_int_equal(firn_segment_next(segment, &value, &error), FIRN_EBACK);
    error_text(&error, FIRN_EBACK,
               "grants 50, below 102: advance the segment above every number handed out");
    assert_int_equal(firn_segment_take(segment, 1, &first, &count, NULL, NULL), FIRN_EWINDOW);
    firn_segment_close(segment, NULL);
    use_answers(after, 2); /* a lower slot of one block */
    segment = open_segment("kind=serial", FIRN_OK, "");
    assert_int_equal(firn_segment_exact(segment, 3, true, &first, NULL, NULL), FIRN_OK);
    assert_int_equal(firn_segment_next(segment, &value, &error), FIRN_EBACK);
    firn_segment_close(segment, NULL);
}

/* Only firn_segment_advance says where a store that lost reservations may begin. */
static void only_advance_has_a_guard(void **state) {
    int64_t value, wait_ms;
    (void)state;
    firn_segment *segment = open_segment("kind=segment step=10", FIRN_OK, "");
    for (int i = 0; i < 30; i++) {
        world.log.last.guard = 7;
        int reserves = world.log.reserves;
        assert_int_equal(firn_segment_next(segment, &value, NULL), FIRN_OK);
        assert_int_equal(world.log.last.guard, world.log.reserves > reserves ? 0 : 7);
    }
    assert_int_equal(firn_segment_exact(segment, 100, true, &value, NULL, NULL), FIRN_OK);
    assert_int_equal(world.log.last.guard, 0);
    assert_int_equal(firn_segment_block(segment, 100, &value, NULL), FIRN_OK);
    assert_int_equal(world.log.last.guard, 0);
    assert_int_equal(firn_segment_step(segment, &wait_ms, NULL), FIRN_OK);
    assert_int_equal(world.log.last.guard, 0);
    assert_int_equal(firn_segment_advance(segment, 100000, &value, NULL), FIRN_OK);
    assert_int_equal(world.log.last.guard, 100000);
    assert_int_equal(firn_segment_close(segment, NULL), FIRN_OK);
}

/* ---- fetching ahead -------------------------------------------------------------------------- */

static int reserves_of_next(firn_segment *segment) {
    int64_t value;
    int reserves = world.log.reserves;
    assert_int_equal(firn_segment_next(segment, &value, NULL), FIRN_OK);
    return world.log.reserves - reserves;
}

/* While the store is down each call has the present block, and the store is asked again 200 ms
 * after a failure. */
static void a_fetch_ahead_that_failed_is_tried_200_ms_later(void **state) {
    (void)state;
    firn_segment *segment = open_segment("kind=segment step=1000", FIRN_OK, "");
    pass(&world.clock, 10 * HOUR);
    for (int i = 0; i < 101; i++) {
        assert_int_equal(reserves_of_next(segment), i == 0);
    }
    world.log.fate = FATE_DOWN;
    world.log.fated = 2;
    assert_int_equal(reserves_of_next(segment), 1); /* more than a tenth is used */
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(reserves_of_next(segment), 0);
        pass(&world.clock, 199 * MS);
        assert_int_equal(reserves_of_next(segment), 0);
        pass(&world.clock, MS);
        assert_int_equal(reserves_of_next(segment), 1);
    }
    assert_int_equal(world.log.fated, 0);
    assert_int_equal(reserves_of_next(segment), 0); /* the last one succeeded */
    pass(&world.clock, HOUR);
    assert_int_equal(reserves_of_next(segment), 0);
    assert_int_equal(firn_segment_left(segment), 1000 - 110 + 1000);
    assert_int_equal(firn_segment_close(segment, NULL), FIRN_OK);
}

/* Also when the end leaves one. */
static void the_last_integer_is_fetched_ahead(void **state) {
    (void)state;
    firn_segment *segment = open_segment("kind=segment step=10 end=11", FIRN_OK, "");
    assert_int_equal(reserves_of_next(segment), 1);
    reserves_of_next(segment);
    reserves_of_next(segment);
    assert_int_equal(world.log.reserves, 3); /* ten were asked for first */
    assert_int_equal(world.log.last.count, 1);
    assert_int_equal(firn_segment_left(segment), 8);
    assert_int_equal(firn_segment_close(segment, NULL), FIRN_OK);
}

/* ---- which block a call takes from ----------------------------------------------------------- */

/* A segment that has used its first block and holds [101, 200]. */
static firn_segment *one_block_ahead(void) {
    int64_t first, wait_ms;
    bool due;
    world_end(NULL);
    assert_int_equal(world_new(NULL), 0);
    firn_segment *segment = open_segment("kind=segment step=100 adapt=0", FIRN_OK, "");
    assert_int_equal(firn_segment_exact(segment, 50, true, &first, &due, NULL), FIRN_OK);
    assert_true(due);
    assert_int_equal(firn_segment_step(segment, &wait_ms, NULL), FIRN_OK);
    assert_int_equal(firn_segment_exact(segment, 49, false, &first, &due, NULL), FIRN_OK);
    assert_int_equal(firn_segment_exact(segment, 1, false, &first, &due, NULL), FIRN_OK);
    assert_int_equal(first, 100);
    return segment;
}

/* The next block is needed from a tenth and one on, whether the present one was fetched ahead or by
 * the call. */
static void a_block_is_due_after_a_tenth(void **state) {
    int64_t first, count;
    bool due;
    (void)state;
    for (int64_t taken = 11; taken <= 12; taken++) {
        firn_segment *segment = one_block_ahead();
        assert_int_equal(firn_segment_take(segment, taken, &first, &count, &due, NULL), FIRN_OK);
        assert_true(first == 101 && count == taken && due == (taken == 12));
        firn_segment_close(segment, NULL);
        segment = open_segment("kind=segment step=100 adapt=0", FIRN_OK, "");
        assert_int_equal(firn_segment_exact(segment, taken, true, &first, &due, NULL), FIRN_OK);
        assert_true(due == (taken == 12));
        firn_segment_close(segment, NULL);
    }
}

/* The block ahead has too few, however high its numbers are. */
static void an_exact_block_is_never_cut(void **state) {
    firn_error error = {0};
    int64_t first = -77, count;
    (void)state;
    firn_segment *segment = one_block_ahead();
    assert_int_equal(firn_segment_exact(segment, 101, false, &first, NULL, &error), FIRN_EWINDOW);
    error_text(&error, FIRN_EWINDOW, "nothing fetched");
    assert_int_equal(first, -77);
    assert_int_equal(firn_segment_exact(segment, 101, true, &first, NULL, NULL), FIRN_OK);
    assert_int_equal(first, 201);
    firn_segment_close(segment, NULL);
    segment = one_block_ahead(); /* a call that takes what there is gets just that */
    assert_int_equal(firn_segment_take(segment, 150, &first, &count, NULL, NULL), FIRN_OK);
    assert_true(first == 101 && count == 100);
    firn_segment_close(segment, NULL);
}

static void what_is_left_is_exact(void **state) {
    int64_t value;
    (void)state;
    firn_segment *segment = open_segment("kind=serial step=10", FIRN_OK, "");
    for (int64_t i = 1; i <= 10; i++) {
        assert_int_equal(firn_segment_next(segment, &value, NULL), FIRN_OK);
        assert_int_equal(firn_segment_left(segment), 10 - i);
    }
    assert_int_equal(firn_segment_close(segment, NULL), FIRN_OK);
    assert_int_equal(firn_segment_close(NULL, NULL), FIRN_OK);
}

static firn_segment *busy_segment;
static int64_t taken_meanwhile[2];

/* Calls of others while the segment fetches, and so holds its lock. */
static int reserve_and_take(void *self, const firn_request *request, int64_t *first,
                            firn_mark *held, firn_error *error) {
    if (busy_segment != NULL) {
        bool due = true;
        int64_t from;
        assert_int_equal(firn_segment_take(busy_segment, 1000, &from, taken_meanwhile, &due, NULL),
                         FIRN_OK);
        assert_false(due);
        due = true;
        from = -77;
        for (int i = 0; i < 2; i++) { /* nothing is left, and the lock is left alone */
            assert_int_equal(
                firn_segment_take(busy_segment, 1, &from, &taken_meanwhile[1], &due, NULL),
                FIRN_EWINDOW);
            assert_true(!due && from == -77);
        }
        busy_segment = NULL;
    }
    return recorder_reserve(self, request, first, held, error);
}

static void others_take_the_rest_during_a_fetch(void **state) {
    static firn_store_ops ops;
    int64_t value;
    (void)state;
    ops = recorder_ops;
    ops.reserve = reserve_and_take;
    firn_store_close(world.store);
    assert_int_equal(firn_store_open(&world.log.real, "memory:", NULL, NULL), FIRN_OK);
    assert_int_equal(firn_store_wrap(&world.store, &ops, &world.log, NULL), FIRN_OK);
    firn_segment *segment = open_segment("kind=segment step=100 adapt=0", FIRN_OK, "");
    for (int i = 0; i < 11; i++) {
        assert_int_equal(firn_segment_next(segment, &value, NULL), FIRN_OK);
    }
    busy_segment = segment;
    assert_int_equal(firn_segment_next(segment, &value, NULL), FIRN_OK); /* fetches ahead */
    assert_int_equal(value, 12);
    assert_null(busy_segment);
    assert_int_equal(taken_meanwhile[0], 88);
    assert_int_equal(firn_segment_next(segment, &value, NULL), FIRN_OK);
    assert_int_equal(value, 101);
    assert_int_equal(firn_segment_close(segment, NULL), FIRN_OK);
}

/* A step that fails after the block is used up changes nothing. */
static void a_step_that_fails_changes_nothing(void **state) {
    int64_t first, count, wait_ms;
    (void)state;
    firn_segment *segment = open_segment("kind=segment step=10 adapt=0", FIRN_OK, "");
    assert_int_equal(firn_segment_step(segment, &wait_ms, NULL), FIRN_OK);
    assert_int_equal(firn_segment_take(segment, 10, &first, &count, NULL, NULL), FIRN_OK);
    assert_int_equal(firn_segment_take(segment, 1, &first, &count, NULL, NULL), FIRN_EWINDOW);
    world.log.fate = FATE_DOWN;
    world.log.fated = 1;
    assert_int_equal(firn_segment_step(segment, &wait_ms, NULL), FIRN_ESTORE);
    assert_int_equal(firn_segment_step(segment, &wait_ms, NULL), FIRN_OK);
    assert_int_equal(firn_segment_take(segment, 1, &first, &count, NULL, NULL), FIRN_OK);
    assert_int_equal(first, 11);
    assert_int_equal(firn_segment_close(segment, NULL), FIRN_OK);
}

/* ---- giving back, peeking, advancing --------------------------------------------------------- */

/* A request that went out twice may arrive again: its grant is never given back. */
static void a_block_that_was_asked_for_twice_is_not_given_back(void **state) {
    int64_t value;
    (void)state;
    for (int lost = 0; lost < 2; lost++) {
        firn_segment *segment = open_segment("kind=serial step=10", FIRN_OK, "");
        world.log.fate = FATE_LOST;
        world.log.fated = lost;
        world.log.give_backs = 0;
        assert_int_equal(firn_segment_next(segment, &value, NULL), FIRN_OK);
        assert_int_equal(firn_segment_close(segment, NULL), FIRN_OK);
        assert_int_equal(world.log.give_backs, !lost);
    }
}

static int no_list(void *self, const char *ns, firn_visit *visit, void *context,
                   firn_error *error) {
    (void)self, (void)ns, (void)visit, (void)context, (void)error;
    return FIRN_ESTORE;
}

/* Of its own key, from the first number to the last, and nothing when the store fails. */
static void a_peek_is_the_next_number(void **state) {
    static firn_store_ops ops;
    int64_t value, next = -77;
    (void)state;
    firn_segment *segment = open_segment("kind=ticket increment=3 offset=1 end=7", FIRN_OK, ""),
                 *two = open_segment("kind=ticket increment=3 offset=2", FIRN_OK, "");
    for (int64_t i = 1; i <= 7; i += 3) {
        assert_int_equal(firn_segment_peek(segment, &next, NULL), FIRN_OK);
        assert_int_equal(next, i);
        assert_int_equal(firn_segment_next(segment, &value, NULL), FIRN_OK);
        assert_int_equal(firn_segment_peek(two, &next, NULL), FIRN_OK);
        assert_int_equal(next, 2);
    }
    assert_int_equal(firn_segment_peek(segment, &next, NULL), FIRN_EEND);
    firn_segment_close(segment, NULL);
    firn_segment_close(two, NULL);
    ops = recorder_ops;
    ops.list = no_list;
    firn_store_close(world.store);
    assert_int_equal(firn_store_open(&world.log.real, "memory:", NULL, NULL), FIRN_OK);
    assert_int_equal(firn_store_wrap(&world.store, &ops, &world.log, NULL), FIRN_OK);
    segment = open_segment("", FIRN_OK, "");
    next = -77;
    assert_int_equal(firn_segment_peek(segment, &next, NULL), FIRN_ESTORE);
    assert_int_equal(next, -77);
    firn_segment_close(segment, NULL);
}

/* The least number at or after `from`, and the guard: what the store must have known of all that
 * share it. */
static void an_advance_goes_to_the_least_number_from_there(void **state) {
    static const struct {
        const char *keys;
        int64_t from, next, guard;
    } cases[] = {{"kind=serial", 0, 1, 1},
                 {"kind=serial", 1, 1, 1},
                 {"kind=serial", 8, 8, 8},
                 {"kind=ticket increment=3 offset=2", 0, 2, 1},
                 {"kind=ticket increment=3 offset=2", 1, 2, 1},
                 {"kind=ticket increment=3 offset=2", 2, 2, 1},
                 {"kind=ticket increment=3 offset=2", 3, 5, 1},
                 {"kind=ticket increment=3 offset=2", 5, 5, 2},
                 {"kind=ticket increment=3 offset=2", 7, 8, 2},
                 {"kind=ticket increment=3 offset=2", 8, 8, 3}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t next = -77, value;
        world_end(NULL);
        assert_int_equal(world_new(NULL), 0);
        firn_segment *segment = open_segment(cases[i].keys, FIRN_OK, "");
        assert_int_equal(firn_segment_advance(segment, -1, &next, NULL), FIRN_ERANGE);
        assert_int_equal(next, -77);
        assert_int_equal(firn_segment_advance(segment, cases[i].from, &next, NULL), FIRN_OK);
        assert_int_equal(next, cases[i].next);
        assert_int_equal(world.log.last.guard, cases[i].guard);
        assert_int_equal(world.log.last.count, 1);
        assert_int_equal(world.log.give_backs, 1);
        assert_int_equal(firn_segment_next(segment, &value, NULL), FIRN_OK);
        assert_int_equal(value, next);
        assert_int_equal(firn_segment_close(segment, NULL), FIRN_OK);
    }
}

/* A number that was asked for twice is not given back, so the next one comes, and nothing at the
 * end. */
static void an_advance_that_was_asked_for_twice_skips_one(void **state) {
    int64_t next = -77;
    (void)state;
    firn_segment *segment = open_segment("kind=serial end=10", FIRN_OK, "");
    world.log.fate = FATE_LOST;
    world.log.fated = 1;
    assert_int_equal(firn_segment_advance(segment, 5, &next, NULL), FIRN_OK);
    assert_int_equal(next, 7); /* each of the two requests was granted one */
    next = -77;
    world.log.fated = 1;
    assert_int_equal(firn_segment_advance(segment, 10, &next, NULL), FIRN_EEND);
    assert_int_equal(next, -77);
    assert_int_equal(world.log.give_backs, 0);
    assert_int_equal(firn_segment_close(segment, NULL), FIRN_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_new, world_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_store_sees_the_same_names_for_ever),
        TEST(the_greatest_block_is_half_of_all),
        TEST(failures_do_not_change_the_step),
        TEST(an_exact_block_takes_what_is_exactly_there),
        TEST(lower_blocks_are_refused_after_one_of_two_slots),
        TEST(only_advance_has_a_guard),
        TEST(a_fetch_ahead_that_failed_is_tried_200_ms_later),
        TEST(the_last_integer_is_fetched_ahead),
        TEST(a_block_is_due_after_a_tenth),
        TEST(an_exact_block_is_never_cut),
        TEST(what_is_left_is_exact),
        TEST(others_take_the_rest_during_a_fetch),
        TEST(a_step_that_fails_changes_nothing),
        TEST(a_block_that_was_asked_for_twice_is_not_given_back),
        TEST(a_peek_is_the_next_number),
        TEST(an_advance_goes_to_the_least_number_from_there),
        TEST(an_advance_that_was_asked_for_twice_skips_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
