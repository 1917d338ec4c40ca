/* SPDX-License-Identifier: MIT */
/* Integers through the public calls: serial, ticket and segment, the adapting step on a clock that
 * is moved by hand, ends and give backs. Threads are in threads_test.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "simulated.h"

#define MINUTE (60 * SECOND)

/* ---- short words ---------------------------------------------------------------------------- */

static firn_segment *opened(const char *key, const char *keys) {
    firn_error error = {0};
    firn_segment *range = NULL;
    if (firn_segment_open(&range, key, keys, world.store, &world.hands, &error) != FIRN_OK) {
        fail_msg("%s %s: %s", key, keys, error.text);
    }
    return range;
}

static void closed(firn_segment *range) {
    assert_int_equal(firn_segment_close(range, NULL), FIRN_OK);
}

static void refused(const char *key, const char *keys, int code, const char *words) {
    firn_error error = {0};
    firn_segment *range = NULL;
    if (firn_segment_open(&range, key, keys, world.store, &world.hands, &error) == FIRN_OK) {
        fail_msg("'%s' was opened", keys);
    }
    error_text(&error, code, words);
    assert_null(range);
}

static int64_t next(firn_segment *range) {
    firn_error error = {0};
    int64_t value = -1;
    if (firn_segment_next(range, &value, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return value;
}

static void denied(firn_segment *range, int code, const char *words) {
    firn_error error = {0};
    int64_t value = -77;
    assert_int_equal(firn_segment_next(range, &value, &error), code);
    error_text(&error, code, words);
    assert_int_equal(value, -77);
}

static int64_t block(firn_segment *range, int64_t count) {
    firn_error error = {0};
    int64_t first = -1;
    if (firn_segment_block(range, count, &first, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return first;
}

static void denied_block(firn_segment *range, int64_t count, int code, const char *words) {
    firn_error error = {0};
    int64_t first = -77;
    assert_int_equal(firn_segment_block(range, count, &first, &error), code);
    error_text(&error, code, words);
    assert_int_equal(first, -77);
}

/* `n` integers, each one `apart` from the last. */
static void counts(firn_segment *range, int64_t first, int64_t n, int64_t apart) {
    for (int64_t i = 0; i < n; i++) {
        assert_int_equal(next(range), first + i * apart);
    }
}

/* ---- kinds ---------------------------------------------------------------------------------- */

static void a_serial_counts_by_one(void **state) {
    (void)state;
    firn_segment *a = opened("orders", "kind=serial"), *b = opened("orders", "kind=serial");
    for (int64_t i = 1; i < 100; i += 2) {
        assert_int_equal(next(a), i);
        assert_int_equal(next(b), i + 1);
    }
    assert_int_equal(world.log.reserves, 100); /* nothing is fetched ahead */
    assert_int_equal(firn_segment_increment(a), 1);
    closed(a);
    closed(b);
    a = opened("others", "kind=serial");
    assert_int_equal(next(a), 1);
    closed(a);
}

static void tickets_are_disjoint(void **state) {
    (void)state;
    firn_segment *odd = opened("photos", "kind=ticket increment=2 offset=1");
    firn_segment *even = opened("photos", "kind=ticket increment=2 offset=2");
    counts(odd, 1, 50, 2);
    counts(even, 2, 50, 2);
    counts(odd, 101, 50, 2);
    assert_int_equal(firn_segment_increment(odd), 2);
    closed(odd);
    closed(even);
    even = opened("photos", "kind=ticket increment=2 offset=2 step=10");
    counts(even, 102, 25, 2);
    closed(even);
}

static void a_ticket_keeps_its_increment(void **state) {
    (void)state;
    firn_segment *range = opened("photos", "kind=ticket increment=2 offset=1");
    next(range);
    closed(range);
    range = opened("photos", "kind=ticket increment=3 offset=1");
    denied(range, FIRN_ENAMESPACE, "increment=2");
    denied_block(range, 5, FIRN_ENAMESPACE, "increment=3");
    closed(range);
    range = opened("photos", "kind=serial");
    denied(range, FIRN_ENAMESPACE, "photos");
    closed(range);
}

static void serial_and_segment_continue_each_other(void **state) {
    (void)state;
    firn_segment *range = opened("orders", "kind=serial");
    counts(range, 1, 3, 1);
    closed(range);
    range = opened("orders", "step=10");
    counts(range, 4, 11, 1); /* one more than a block */
    closed(range);
    range = opened("orders", "kind=serial");
    counts(range, 15, 3, 1);
    closed(range);
}

/* ---- segments ------------------------------------------------------------------------------- */

static void the_next_segment_is_fetched_past_a_tenth(void **state) {
    (void)state;
    firn_segment *range = opened("leaf", "step=100 adapt=0");
    for (int64_t i = 1; i <= 1000; i++) {
        assert_int_equal(next(range), i);
        int64_t begun = (i - 1) / 100 + 1, into = (i - 1) % 100;
        /* the call after more than a tenth was handed out finds it due */
        assert_int_equal(world.log.reserves, begun + (into > 10));
    }
    closed(range);
}

static void a_step_fetches_the_next_block(void **state) {
    (void)state;
    firn_segment *range = opened("leaf", "step=100 adapt=0");
    int64_t wait_ms = -1;
    assert_int_equal(firn_segment_step(range, &wait_ms, NULL), FIRN_OK);
    assert_true(wait_ms > 0 && world.log.reserves == 1);
    assert_int_equal(firn_segment_step(range, &wait_ms, NULL), FIRN_OK);
    counts(range, 1, 10, 1);
    assert_int_equal(firn_segment_step(range, &wait_ms, NULL), FIRN_OK);
    assert_int_equal(world.log.reserves, 1); /* a tenth, and not more */
    counts(range, 11, 1, 1);
    assert_int_equal(firn_segment_step(range, &wait_ms, NULL), FIRN_OK);
    assert_int_equal(firn_segment_step(range, &wait_ms, NULL), FIRN_OK);
    assert_int_equal(world.log.reserves, 2);
    counts(range, 12, 100, 1);
    assert_int_equal(world.log.reserves, 2);
    closed(range);
}

/* Uses up one segment, one integer per `ns`; returns the length of the next one. */
static int64_t after(firn_segment *range, int64_t ns) {
    int fetched = world.log.reserves;
    pass(&world.clock, ns);
    for (int64_t i = 0; world.log.reserves == fetched && i < 3000000; i++) {
        next(range);
    }
    assert_int_equal(world.log.reserves, fetched + 1);
    return world.log.last.count;
}

/* Leaf's rule: from the third fetch on, by how long the segment lasted. */
static void the_step_adapts_as_leafs_does(void **state) {
    (void)state;
    firn_segment *range = opened("leaf", "step=1000");
    assert_int_equal(after(range, 0), 1000);
    assert_int_equal(after(range, 0), 1000);
    const struct {
        int64_t ns, step;
    } fetches[] = {{0, 2000},           {15 * MINUTE - 1 * MS, 4000},
                   {15 * MINUTE, 4000}, {30 * MINUTE - 1 * MS, 4000},
                   {30 * MINUTE, 2000}, {40 * MINUTE, 1000},
                   {10 * HOUR, 1000}, /* never below what was set */
                   {MINUTE, 2000},      {MINUTE, 4000}};
    for (size_t i = 0; i < sizeof fetches / sizeof fetches[0]; i++) {
        assert_int_equal(after(range, fetches[i].ns), fetches[i].step);
    }
    closed(range);
}

static void the_step_stays_below_a_million(void **state) {
    const int64_t steps[] = {300000, 300000, 600000, 600000, 600000};
    (void)state;
    firn_segment *range = opened("leaf", "step=300000");
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        assert_int_equal(after(range, 0), steps[i]);
    }
    closed(range);
    range = opened("exact", "step=500000");
    after(range, 0);
    after(range, 0);
    assert_int_equal(after(range, 0), 1000000); /* the double may be, but not pass, a million */
    assert_int_equal(after(range, 0), 1000000);
    closed(range);
}

static void without_adapt_the_step_stays(void **state) {
    (void)state;
    firn_segment *range = opened("leaf", "step=1000 adapt=0");
    for (int i = 0; i < 6; i++) {
        assert_int_equal(after(range, 0), 1000);
    }
    closed(range);
}

/* ---- ends ----------------------------------------------------------------------------------- */

static void an_end_is_reached_exactly(void **state) {
    const struct {
        const char *keys;
        int64_t first, n, apart;
    } ends[] = {{"kind=serial end=5", 1, 5, 1},
                {"kind=serial start=7 end=7", 7, 1, 1},
                {"kind=serial start=0 end=3", 0, 4, 1},
                {"step=100 end=250", 1, 250, 1},
                {"step=1000 start=95 end=104", 95, 10, 1},
                {"kind=ticket increment=5 offset=3 end=23", 3, 5, 5},
                {"kind=ticket increment=5 offset=3 end=22", 3, 4, 5},
                {"kind=ticket increment=5 offset=3 end=3 step=9", 3, 1, 5}};
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        char key[8];
        snprintf(key, sizeof key, "k%zu", i);
        firn_segment *range = opened(key, ends[i].keys);
        counts(range, ends[i].first, ends[i].n, ends[i].apart);
        denied(range, FIRN_EEND, "has reached its end=");
        denied(range, FIRN_EEND, "raise end=");
        denied_block(range, 1, FIRN_EEND, "end=");
        closed(range);
    }
}

static void two_share_the_last_ones(void **state) {
    (void)state;
    firn_segment *a = opened("k", "step=10 end=25"), *b = opened("k", "step=10 end=25");
    counts(a, 1, 1, 1);
    counts(b, 11, 10, 1);
    counts(a, 2, 9, 1);
    int64_t seen = 0;
    for (int64_t value; firn_segment_next(a, &value, NULL) == FIRN_OK ||
                        firn_segment_next(b, &value, NULL) == FIRN_OK;) {
        seen |= INT64_C(1) << value;
    }
    assert_true(seen == INT64_C(0x3e00000)); /* 21 to 25 */
    closed(a);
    closed(b);
}

static void a_start_is_the_first(void **state) {
    (void)state;
    firn_segment *range = opened("k", "kind=serial start=1000");
    counts(range, 1000, 3, 1);
    closed(range);
    range = opened("k", "kind=serial start=5"); /* never back */
    counts(range, 1003, 3, 1);
    closed(range);
    range = opened("k", "kind=serial start=2000"); /* ahead it may */
    counts(range, 2000, 3, 1);
    closed(range);
    range = opened("last", "kind=serial start=4611686018427387902");
    counts(range, 4611686018427387902, 2, 1);
    denied(range, FIRN_EEND, "end=4611686018427387903");
    closed(range);
}

/* ---- blocks --------------------------------------------------------------------------------- */

static void a_block_is_the_callers_alone(void **state) {
    (void)state;
    firn_segment *range = opened("k", "step=10"),
                 *tickets = opened("t", "kind=ticket increment=3 offset=2");
    assert_int_equal(block(range, 1000), 1);
    counts(range, 1001, 3, 1);
    assert_int_equal(block(range, 5), 1021); /* after the integers fetched ahead */
    assert_int_equal(block(tickets, 4), 2);
    assert_int_equal(next(tickets), 14);
    denied_block(range, 0, FIRN_ERANGE, "not 0");
    denied_block(range, -5, FIRN_ERANGE, "not -5");
    denied_block(range, INT64_MAX, FIRN_ERANGE, "2^61");
    closed(range);
    closed(tickets);
}

static void a_block_is_whole_or_not_at_all(void **state) {
    (void)state;
    firn_segment *range = opened("k", "kind=serial end=100");
    assert_int_equal(block(range, 60), 1);
    denied_block(range, 41, FIRN_EEND, "end=100");
    assert_int_equal(block(range, 40), 61);
    denied(range, FIRN_EEND, "end=100");
    closed(range);
}

/* ---- giving back ---------------------------------------------------------------------------- */

static void the_rest_is_given_back(void **state) {
    const int64_t used[] = {1, 5, 9, 10};
    int64_t first = 1;
    (void)state;
    for (size_t i = 0; i < sizeof used / sizeof used[0]; i++) {
        firn_segment *range = opened("k", "step=100 adapt=0");
        counts(range, first, used[i], 1);
        closed(range);
        first += used[i];
        range = opened("k", "kind=serial step=100");
        counts(range, first, 50 + used[i], 1);
        closed(range);
        first += 50 + used[i];
    }
    closed(opened("k", "step=100")); /* nothing was fetched */
    assert_int_equal(world.log.give_backs, 8);
}

/* Two blocks are held: the one fetched ahead comes back whole. */
static void what_was_fetched_ahead_is_given_back(void **state) {
    (void)state;
    firn_segment *range = opened("k", "step=100 adapt=0");
    counts(range, 1, 20, 1);
    closed(range);
    range = opened("k", "step=100 adapt=0");
    int64_t first = next(range);
    assert_true(first > 20 && first <= 101);
    closed(range);
}

static void what_others_came_after_is_not(void **state) {
    (void)state;
    firn_segment *a = opened("k", "step=10"), *b = opened("k", "step=10");
    counts(a, 1, 1, 1);
    counts(b, 11, 1, 1);
    closed(a);
    counts(b, 12, 5, 1);
    closed(b);
    a = opened("k", "step=10");
    assert_true(next(a) > 16);
    closed(a);
}

/* The process that came after gave all of its own back, too: the mark is where ours was, and yet
 * not ours. */
static void a_mark_alone_gives_nothing_back(void **state) {
    (void)state;
    firn_segment *a = opened("k", "step=10 adapt=0"), *b = opened("k", "kind=serial");
    counts(a, 1, 1, 1);
    counts(b, 11, 1, 1);
    closed(a);
    counts(b, 12, 3, 1);
    closed(b);
}

static void what_a_store_grants_again_is_left_out(void **state) {
    (void)state;
    firn_segment *range = opened("orders", "step=10 adapt=0");
    counts(range, 1, 5, 1); /* the second block is fetched, too */
    firn_store_close(world.log.real);
    assert_int_equal(firn_store_open(&world.log.real, "memory:", NULL, NULL), FIRN_OK);
    counts(range, 6, 15, 1); /* 1 to 10 comes again, fetched ahead */
    denied(range, FIRN_EBACK, "orders has lost reservations, since it grants 11, below 21");
    counts(range, 21, 5, 1);
    closed(range);
}

static void a_block_asked_for_twice_is_kept(void **state) {
    (void)state;
    firn_segment *range = opened("k", "step=10");
    world.log.fate = FATE_LOST;
    world.log.fated = 1;
    int64_t first = next(range);
    assert_true(first == 1 || first == 11); /* either sending, never both */
    assert_true(world.log.grants[0] == world.log.grants[1]);
    counts(range, first + 1, 5, 1);
    closed(range);
    range = opened("k", "step=10");
    assert_true(next(range) > first + 9);
    closed(range);
}

/* ---- for those who may not wait -------------------------------------------------------------- */

static void stepped(firn_segment *range) {
    int64_t wait_ms;
    assert_int_equal(firn_segment_step(range, &wait_ms, NULL), FIRN_OK);
}

/* Takes up to `most`, expects these. */
static bool took(firn_segment *range, int64_t most, int64_t expected, int64_t expected_count) {
    firn_error error = {0};
    int64_t first = -1, count = -1;
    bool due = false;
    int reserves = world.log.reserves;
    if (firn_segment_take(range, most, &first, &count, &due, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(first, expected);
    assert_int_equal(count, expected_count);
    assert_int_equal(world.log.reserves, reserves);
    return due;
}

static void nothing_to_take(firn_segment *range) {
    firn_error error = {0};
    int64_t first = -77, count = -77;
    bool due = false;
    assert_int_equal(firn_segment_take(range, 5, &first, &count, &due, &error), FIRN_EWINDOW);
    error_text(&error, FIRN_EWINDOW, "ask again");
    assert_true(due);
    assert_int_equal(first, -77);
    assert_int_equal(count, -77);
}

static void only_what_was_fetched_is_taken(void **state) {
    (void)state;
    firn_segment *range = opened("leaf", "step=100 adapt=0");
    nothing_to_take(range);
    assert_int_equal(firn_segment_left(range), 0);
    assert_int_equal(world.log.reserves, 0);
    stepped(range);
    assert_int_equal(firn_segment_left(range), 100);
    assert_false(took(range, 10, 1, 10));
    assert_true(took(range, 10, 11, 10)); /* more than a tenth */
    stepped(range);
    assert_int_equal(world.log.reserves, 2);
    assert_int_equal(firn_segment_left(range), 180);
    assert_false(took(range, 1000, 21, 80)); /* the rest of the present block */
    assert_true(took(range, 1000, 101, 100));
    nothing_to_take(range);
    stepped(range);
    assert_false(took(range, 1, 201, 1));
    closed(range);
}

/* Of those too that fetch nothing ahead. */
static void a_step_fetches_what_somebody_missed(void **state) {
    static const char *const kinds[] = {"kind=serial", "kind=ticket increment=5 offset=3"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        firn_segment *range = opened(kinds[i] + 5, kinds[i]);
        int64_t first = i == 0 ? 1 : 3, apart = i == 0 ? 1 : 5;
        for (int64_t k = 0; k < 4; k++) {
            nothing_to_take(range);
            stepped(range);
            took(range, 9, first + k * apart, 1);
        }
        int reserves = world.log.reserves;
        stepped(range);
        assert_int_equal(world.log.reserves, reserves); /* nobody has asked again */
        closed(range);
    }
}

static void an_exact_block_is_after_all_before(void **state) {
    firn_error error = {0};
    int64_t first = -77;
    bool due;
    (void)state;
    firn_segment *range = opened("leaf", "step=100 adapt=0");
    stepped(range);
    took(range, 95, 1, 95);
    stepped(range);
    /* the rest, 96 to 100, is too short for it */
    assert_int_equal(firn_segment_exact(range, 6, false, &first, &due, NULL), FIRN_OK);
    assert_int_equal(first, 101);
    assert_int_equal(firn_segment_exact(range, 101, false, &first, &due, &error), FIRN_EWINDOW);
    assert_int_equal(first, 101);
    assert_int_equal(world.log.reserves, 2);
    assert_int_equal(firn_segment_exact(range, 101, true, &first, &due, NULL), FIRN_OK);
    assert_int_equal(world.log.last.count, 101);
    assert_int_equal(first, 201);
    assert_true(due);
    stepped(range);
    took(range, 1, 302, 1); /* 107 to 200 are dropped */
    assert_int_equal(next(range), 303);
    assert_int_equal(firn_segment_exact(range, 0, true, &first, &due, &error), FIRN_ERANGE);
    closed(range);
}

static void an_exact_block_ends_with_the_range(void **state) {
    firn_error error = {0};
    int64_t first = -77;
    (void)state;
    firn_segment *range = opened("leaf", "step=100 adapt=0 end=150");
    assert_int_equal(firn_segment_exact(range, 151, true, &first, NULL, &error), FIRN_EEND);
    error_text(&error, FIRN_EEND, "end=150");
    assert_int_equal(world.log.reserves, 0); /* nothing is taken for who is refused */
    assert_int_equal(firn_segment_exact(range, 50, true, &first, NULL, NULL), FIRN_OK);
    assert_int_equal(first, 1);
    took(range, 1000, 51, 50);
    assert_int_equal(firn_segment_exact(range, 51, true, &first, NULL, &error), FIRN_EEND);
    firn_segment *other = opened("leaf", "step=10 adapt=0 end=150");
    assert_int_equal(next(other), 101); /* others may have what is left */
    closed(other);
    assert_int_equal(firn_segment_exact(range, 49, true, &first, NULL, NULL), FIRN_OK);
    assert_int_equal(first, 102);
    assert_int_equal(firn_segment_exact(range, 1, true, &first, NULL, NULL), FIRN_EEND);
    assert_int_equal(first, 102);
    closed(range);
}

static void a_store_that_fails_leaves_what_was_fetched(void **state) {
    int64_t first = -77;
    (void)state;
    firn_segment *range = opened("leaf", "step=100 adapt=0");
    stepped(range);
    took(range, 10, 1, 10);
    world.log.fate = FATE_DOWN;
    world.log.fated = -1;
    assert_int_equal(firn_segment_exact(range, 500, true, &first, NULL, NULL), FIRN_ESTORE);
    assert_int_equal(first, -77);
    took(range, 80, 11, 80);
    took(range, 80, 91, 10);
    nothing_to_take(range);
    world.log.fated = 0;
    stepped(range);
    took(range, 1, 101, 1);
    closed(range);
}

/* ---- failures ------------------------------------------------------------------------------- */

static void a_store_that_fails_is_reported(void **state) {
    (void)state;
    firn_segment *range = opened("k", "step=10 adapt=0");
    counts(range, 1, 2, 1);
    world.log.fate = FATE_DOWN;
    world.log.fated = -1;
    while (world.log.reserves < 2) { /* the one fetched ahead is not due yet, or fails unseen */
        next(range);
    }
    int64_t value, last = 0;
    while (firn_segment_next(range, &value, NULL) == FIRN_OK) {
        last = value;
    }
    assert_int_equal(last, 10); /* the present block was still used up */
    denied(range, FIRN_ESTORE, "the store is down");
    denied_block(range, 5, FIRN_ESTORE, "start it");
    world.log.fated = 0;
    counts(range, 11, 5, 1);
    world.log.fate = FATE_LOST;
    world.log.fated = -1;
    denied_block(range, 1, FIRN_EUNKNOWN, "");
    world.log.fated = 0;
    closed(range);
}

static void bad_keys_are_refused(void **state) {
    char key[FIRN_KEY_SIZE + 1];
    (void)state;
    refused("k", "stp=3", FIRN_EUSAGE, "did you mean `step`?");
    refused("k", "node=3 colour=red", FIRN_EUSAGE, "use kind, step, increment");
    refused("k", "kind=other", FIRN_EUSAGE, "serial ticket segment");
    refused("k", "step=0", FIRN_ERANGE, "1 to 1000000");
    refused("k", "step=1000001", FIRN_ERANGE, "1 to 1000000");
    refused("k", "step=ten", FIRN_EUSAGE, "write a whole number");
    refused("k", "start=-1", FIRN_ERANGE, "0 to");
    refused("k", "start=10 end=9", FIRN_ERANGE, "end=9 is before start=10");
    refused("k", "end=0", FIRN_ERANGE, "1 to");
    refused("k", "adapt=2", FIRN_EUSAGE, "0 1");
    refused("k", "increment=2", FIRN_EUSAGE, "kind=ticket");
    refused("k", "kind=serial offset=2", FIRN_EUSAGE, "kind=ticket");
    refused("k", "kind=ticket increment=2 offset=3", FIRN_ERANGE, "offset=3 is above increment=2");
    refused("k", "kind=ticket increment=65536", FIRN_ERANGE, "1 to 65535");
    refused("k", "kind=ticket start=4", FIRN_EUSAGE, "leave start out");
    refused("k", "step", FIRN_EUSAGE, "key=value");
    refused("", "", FIRN_ERANGE, "1 to 63");
    refused(NULL, "", FIRN_ERANGE, "1 to 63");
    memset(key, 'k', FIRN_KEY_SIZE);
    key[FIRN_KEY_SIZE] = '\0';
    refused(key, "", FIRN_ERANGE, "1 to 63");
    key[FIRN_KEY_SIZE - 1] = '\0';
    firn_segment *range = opened(key, "");
    counts(range, 1, 3, 1);
    closed(range);
}

/* A generator's key that an integer has no use for must not be taken in silence. */
static void keys_of_generators_are_refused(void **state) {
    (void)state;
    refused("k", "window=100ms", FIRN_EUSAGE, "window");
    refused("k", "ordering=thread", FIRN_EUSAGE, "order");
    refused("k", "ns=other", FIRN_EUSAGE, "ns");
}

/* ---- fork ----------------------------------------------------------------------------------- */

/* The child finds neither the parent's block nor, of a memory store, anything else. */
static void a_child_has_no_block_of_its_parents(void **state) {
    (void)state;
    firn_segment *range = opened("k", "step=100");
    counts(range, 1, 10, 1);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        firn_error error = {0};
        int64_t value = -1;
        int code = firn_segment_next(range, &value, &error);
        bool told = code == FIRN_EFORKED && value == -1 && strstr(error.text, "child") != NULL &&
                    firn_segment_close(range, NULL) == FIRN_OK;
        _exit(told ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    counts(range, 11, 200, 1);
    closed(range);
}

static void nobody_advances_past_the_end(void **state) {
    (void)state;
    const int64_t far[] = {-1, FIRN_SLOT_MAX, INT64_MAX - 60000, INT64_MAX};
    firn_segment *range = opened("far", "kind=ticket increment=60000 offset=7");
    for (size_t i = 0; i < 4; i++) {
        firn_error error = {0};
        int64_t first = -77;
        assert_int_equal(firn_segment_advance(range, far[i], &first, &error), FIRN_ERANGE);
        error_text(&error, FIRN_ERANGE, "go up to end=4611686018427387903");
        assert_int_equal(first, -77);
    }
    assert_int_equal(next(range), 7);
    closed(range);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(sentence, function) {sentence, function, world_new, world_end, NULL}
        TEST("a serial counts by one", a_serial_counts_by_one),
        TEST("tickets of two servers are disjoint", tickets_are_disjoint),
        TEST("a ticket keeps its increment", a_ticket_keeps_its_increment),
        TEST("serial and segment of one name continue each other",
             serial_and_segment_continue_each_other),
        TEST("the next segment is fetched when more than a tenth is handed out",
             the_next_segment_is_fetched_past_a_tenth),
        TEST("a step fetches the next block", a_step_fetches_the_next_block),
        TEST("the step adapts as Leaf's does", the_step_adapts_as_leafs_does),
        TEST("the step never passes a million", the_step_stays_below_a_million),
        TEST("adapt=0 keeps the step", without_adapt_the_step_stays),
        TEST("an end is reached exactly", an_end_is_reached_exactly),
        TEST("two share the last integers before the end", two_share_the_last_ones),
        TEST("a start is the first integer, and never goes back", a_start_is_the_first),
        TEST("a block is the caller's alone", a_block_is_the_callers_alone),
        TEST("a block is whole or not at all", a_block_is_whole_or_not_at_all),
        TEST("the rest is given back when closing", the_rest_is_given_back),
        TEST("what was fetched ahead is given back", what_was_fetched_ahead_is_given_back),
        TEST("what others came after is not given back", what_others_came_after_is_not),
        TEST("a mark alone gives nothing back", a_mark_alone_gives_nothing_back),
        TEST("what a store that lost reservations grants again is left out",
             what_a_store_grants_again_is_left_out),
        TEST("a block asked for twice is not given back", a_block_asked_for_twice_is_kept),
        TEST("only what was fetched is taken", only_what_was_fetched_is_taken),
        TEST("a step fetches what somebody missed", a_step_fetches_what_somebody_missed),
        TEST("an exact block is after all before it", an_exact_block_is_after_all_before),
        TEST("an exact block ends with the range", an_exact_block_ends_with_the_range),
        TEST("a store that fails leaves what was fetched",
             a_store_that_fails_leaves_what_was_fetched),
        TEST("a store that fails is reported when the block is used up",
             a_store_that_fails_is_reported),
        TEST("nobody advances past the end", nobody_advances_past_the_end),
        TEST("bad keys are refused", bad_keys_are_refused),
        TEST("keys of generators are refused", keys_of_generators_are_refused),
        TEST("a child has no block of its parent's", a_child_has_no_block_of_its_parents),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
