/* SPDX-License-Identifier: MIT */
/* Segments at their bounds: the names that a store sees, the greatest block, how many failures change a step, and which
 * block a call takes its integers from. segment_test.c has what they are for. */
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

/* The block fetched ahead, when it has exactly as many as are asked for; and no step is necessary after it. */
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_new, world_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_store_sees_the_same_names_for_ever),
        TEST(the_greatest_block_is_half_of_all),
        TEST(failures_do_not_change_the_step),
        TEST(an_exact_block_takes_what_is_exactly_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
