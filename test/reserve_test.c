/* SPDX-License-Identifier: MIT */
/* A reservation, sent until its outcome is known: how often, for how long, and which answers are
 * believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generating.h"
#include "reserve.h"

#define GRANT 99

/* The answers of the store, in order. */
static struct {
    int codes[8];
    firn_mark held; /* when it is busy */
    int64_t first, takes_ms;
    int asked;
} script;

static int answer(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                  firn_error *error) {
    int code = script.codes[script.asked++];
    (void)self, (void)request;
    pass(&world.clock, script.takes_ms * MS);
    if (code == FIRN_OK) {
        *first = script.first;
    } else if (code == FIRN_EBUSY) {
        *held = script.held;
    }
    if (code != FIRN_OK && error != NULL) {
        *error = (firn_error){.code = code, .text = "as the script says"};
    }
    return code;
}

static void stays_open(void *self) {
    (void)self;
}

/* Sends a request for 10 slots, the first of them from 100 to 120, within 60 s. */
static int request_sent(const int codes[], int count, firn__attempts *sending, int64_t *first,
                        firn_error *error) {
    static firn_store_ops ops;
    firn_store *store;
    const firn_request request = {.ns = "ns",
                                  .layout = "layout",
                                  .key = "1",
                                  .count = 10,
                                  .earliest = 100,
                                  .latest = 120,
                                  .grant = GRANT,
                                  .note = "test"};
    ops = recorder_ops;
    ops.reserve = answer;
    ops.close = stays_open;
    memcpy(script.codes, codes, (size_t)count * sizeof *codes);
    script.asked = 0;
    assert_int_equal(firn_store_wrap(&store, &ops, NULL, NULL), FIRN_OK);
    firn__patience patience = firn__patience_begin(&world.hands, 60000);
    int code = firn__reserve(store, &request, &patience, sending, first, error);
    firn_store_close(store);
    return code;
}

static void an_unknown_outcome_is_asked_for_again_within_its_tries(void **state) {
    static const int unknown[] = {FIRN_EUNKNOWN, FIRN_EUNKNOWN, FIRN_EUNKNOWN, FIRN_EUNKNOWN};
    (void)state;
    for (int tries = 1; tries <= 3; tries++) {
        firn__attempts sending = {.tries = tries};
        int64_t first = -5;
        firn_error error;
        assert_int_equal(request_sent(unknown, 4, &sending, &first, &error), FIRN_EUNKNOWN);
        assert_int_equal(script.asked, tries);
        assert_int_equal(sending.twice, tries > 1);
        assert_true(sending.sent);
        assert_int_equal(first, -5);
    }
}

static void nothing_is_sent_again_after_the_time_of_the_call(void **state) {
    static const int unknown[] = {FIRN_EUNKNOWN, FIRN_EUNKNOWN, FIRN_EUNKNOWN, FIRN_EUNKNOWN};
    static const struct {
        int takes_ms, asked;
    } cases[] = {{60000, 1}, {59999, 2}, {30000, 2}, {29999, 3}, {20000, 3}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        firn__attempts sending = {.tries = 4};
        int64_t first;
        script.takes_ms = cases[i].takes_ms;
        assert_int_equal(request_sent(unknown, 4, &sending, &first, NULL), FIRN_EUNKNOWN);
        assert_int_equal(script.asked, cases[i].asked);
        assert_int_equal(sending.twice, cases[i].asked > 1);
    }
    script.takes_ms = 0;
}

static int no_steady(void *self, int64_t *ns) {
    (void)self, (void)ns;
    return FIRN_ECLOCK;
}

static void the_time_of_a_call_is_counted_in_whole_milliseconds(void **state) {
    (void)state;
    firn__patience patience = firn__patience_begin(&world.hands, 90000);
    assert_int_equal(firn__patience_spent_ms(&patience), 0);
    pass(&world.clock, MS - 1);
    assert_int_equal(firn__patience_spent_ms(&patience), 0);
    pass(&world.clock, 1);
    assert_int_equal(firn__patience_spent_ms(&patience), 1);
    pass(&world.clock, 89998 * MS);
    assert_int_equal(firn__patience_spent_ms(&patience), 89999);
    assert_false(firn__patience_over(&patience));
    pass(&world.clock, MS);
    assert_true(firn__patience_over(&patience));
    patience = firn__patience_begin(&world.hands, 0); /* a store still gets its time */
    pass(&world.clock, FIRN__STORE_MS * MS - 1);
    assert_false(firn__patience_over(&patience));
    pass(&world.clock, 1);
    assert_true(firn__patience_over(&patience));
    patience = firn__patience_begin(&world.hands, 5);
    world.hands.steady = no_steady; /* no time goes by */
    assert_int_equal(firn__patience_spent_ms(&patience), 0);
    assert_false(firn__patience_over(&patience));
    patience = firn__patience_begin(&world.hands, 5);
    assert_int_equal(firn__patience_spent_ms(&patience), 0);
}

/* An earlier sending did arrive: its slots are ours, if they fit the request. */
static void the_own_grant_is_believed_within_what_was_asked_for(void **state) {
    static const int codes[] = {FIRN_EUNKNOWN, FIRN_EBUSY};
    static const struct {
        int64_t high;
        int code;
    } cases[] = {{109, FIRN_ESTORE}, {110, FIRN_OK}, {130, FIRN_OK}, {131, FIRN_ESTORE}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        firn__attempts sending = {.tries = 3};
        int64_t first = -5;
        firn_error error = {0};
        script.held = (firn_mark){cases[i].high, GRANT};
        assert_int_equal(request_sent(codes, 2, &sending, &first, &error), cases[i].code);
        assert_true(sending.twice);
        if (cases[i].code == FIRN_OK) {
            assert_int_equal(first, cases[i].high - 10);
        } else {
            error_text(&error, FIRN_ESTORE, "outside the request");
        }
    }
}

static void another_grant_is_busy_and_the_own_one_at_first_a_clone(void **state) {
    static const int busy[] = {FIRN_EBUSY}, then_busy[] = {FIRN_EUNKNOWN, FIRN_EBUSY};
    firn__attempts sending = {.tries = 3};
    int64_t first = -5;
    firn_error error = {0};
    (void)state;
    script.held = (firn_mark){115, GRANT + 1};
    assert_int_equal(request_sent(busy, 1, &sending, &first, &error), FIRN_EBUSY);
    assert_int_equal(sending.held.high, 115);
    assert_false(sending.twice);
    sending = (firn__attempts){.tries = 3};
    assert_int_equal(request_sent(then_busy, 2, &sending, &first, &error), FIRN_EBUSY);
    script.held = (firn_mark){115, GRANT};
    sending = (firn__attempts){.tries = 3};
    assert_int_equal(request_sent(busy, 1, &sending, &first, &error), FIRN_ECLONED);
    error_text(&error, FIRN_ECLONED, "copy of this process image");
    assert_int_equal(first, -5);
    sending = (firn__attempts){.tries = 1, .sent = true}; /* sent before this call */
    assert_int_equal(request_sent(busy, 1, &sending, &first, &error), FIRN_OK);
    assert_int_equal(first, 105);
    assert_true(sending.twice);
}

static void a_grant_is_random_and_never_zero(void **state) {
    const firn_entropy none = {1, NULL, no_entropy};
    uint64_t grant = 7, before = 0;
    (void)state;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(firn__reserve_grant(&world.entropy, &grant, NULL), FIRN_OK);
        assert_true(grant != 0 && grant != before && grant >> 63 == 0);
        before = grant;
    }
    assert_int_equal(firn__reserve_grant(&none, &grant, NULL), FIRN_EENTROPY);
    assert_true(grant == before);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_new, world_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(an_unknown_outcome_is_asked_for_again_within_its_tries),
        TEST(nothing_is_sent_again_after_the_time_of_the_call),
        TEST(the_time_of_a_call_is_counted_in_whole_milliseconds),
        TEST(the_own_grant_is_believed_within_what_was_asked_for),
        TEST(another_grant_is_busy_and_the_own_one_at_first_a_clone),
        TEST(a_grant_is_random_and_never_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
