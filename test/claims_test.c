/* SPDX-License-Identifier: MIT */
/* Claims at their bounds: which node is taken, in which tick it begins, what a clock that differs
 * from the store's does, and the error when none is free. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "error.h"
#include "gen.h"
#include "generating.h"

#define FOUR "time:41/ms@@2024-01-01 node:4 sequence:2" /* 4 slots a tick */
#define TWO  "time:41/ms@@2024-01-01 node:2 sequence:2"

/* Somebody else holds the node up to `high`. */
static void take_node(const char *ns, const char *layout, const char *key, int64_t high) {
    firn_mark held;
    int64_t first;
    const firn_request request = {
        .ns = ns, .layout = layout, .key = key, .count = high, .grant = 77, .note = "another"};
    assert_int_equal(firn_store_reserve(world.log.real, &request, &first, &held, NULL), FIRN_OK);
}

/* ---- the two clocks -------------------------------------------------------------------------- */

static int64_t store_ahead_ns;
static bool store_has_no_clock;
static int64_t step_before_ns,
    step_after_ns; /* of this clock, at the next reading of the store's */

static int store_now(void *self, firn_time *now, firn_error *error) {
    (void)self, (void)error;
    step(&world.clock, step_before_ns);
    *now = time_after(present(&world.clock), store_ahead_ns);
    step(&world.clock, step_after_ns);
    step_before_ns = step_after_ns = 0;
    return store_has_no_clock ? FIRN_ESYSTEM : FIRN_OK;
}

static void use_store_of(const char *scheme) {
    static firn_store_ops ops;
    ops = recorder_ops;
    ops.scheme = scheme;
    ops.now = store_now;
    firn_store_close(world.store);
    assert_int_equal(firn_store_open(&world.log.real, "memory:", NULL, NULL), FIRN_OK);
    assert_int_equal(firn_store_wrap(&world.store, &ops, &world.log, NULL), FIRN_OK);
}

static void use_store_with_a_clock(void) {
    use_store_of("memory");
}

static void clocks_may_differ_by_max_skew_ms(void **state) {
    static const struct {
        int64_t ahead_ms;
        const char *words;
    } cases[] = {{0, NULL},
                 {700, NULL},
                 {-700, NULL},
                 {701, "clock is 701 ms behind the store's"},
                 {-701, "clock is 701 ms ahead of the store's"}};
    (void)state;
    use_store_with_a_clock();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        firn_gen *gen = NULL;
        firn_error error = {0};
        store_ahead_ns = cases[i].ahead_ms * MS;
        int code = try_open(&gen, FOUR, "max_skew=700ms max_wait=0", false, &error);
        if (cases[i].words == NULL) {
            assert_int_equal(code, FIRN_OK);
            closed(gen);
        } else {
            error_text(&error, FIRN_ECLOCK, cases[i].words);
            assert_int_equal(code, FIRN_ECLOCK);
        }
    }
}

/* The need was read before the step, and the clocks are compared after it: nobody's clock is wrong
 * then. */
static void a_step_back_in_the_middle_of_a_claim_is_no_wrong_clock(void **state) {
    (void)state;
    use_store_with_a_clock();
    for (int i = 0; i < 2; i++) {
        firn_gen *gen = opened(FOUR, "max_wait=0"), *fixed = opened(TWO, "node=2 max_wait=0");
        uint64_t node = next_field(gen, "node");
        next(fixed);
        pass(&world.clock, 60 * SECOND); /* both windows are idle */
        (i == 0 ? &step_before_ns : &step_after_ns)[0] = -HOUR;
        assert_int_not_equal(next_field(gen, "node"), node);
        step(&world.clock, HOUR);
        next(fixed);
        pass(&world.clock, 60 * SECOND);
        (i == 0 ? &step_before_ns : &step_after_ns)[0] = -HOUR;
        denied(fixed, FIRN_ECLOCK, "the clock stepped back beyond max_back");
        step(&world.clock, HOUR);
        closed(fixed);
        closed(gen);
        pass(&world.clock, 60 * SECOND);
    }
}

static void nor_is_it_for_an_online_generator(void **state) {
    (void)state;
    use_store_with_a_clock();
    for (int i = 0; i < 2; i++) {
        firn_gen *gen = opened(FOUR, "mode=online max_wait=0");
        uint64_t node = next_field(gen, "node");
        (i == 0 ? &step_before_ns : &step_after_ns)[0] = -HOUR;
        assert_int_not_equal(next_field(gen, "node"), node);
        step(&world.clock, HOUR);
        pass(&world.clock, 60 * SECOND);
        closed(gen);
    }
}

static void a_store_without_a_clock_is_not_compared(void **state) {
    (void)state;
    use_store_with_a_clock();
    store_has_no_clock = true;
    store_ahead_ns = HOUR;
    closed(opened(FOUR, "max_wait=0"));
    store_has_no_clock = false;
}

/* ---- which node ------------------------------------------------------------------------------ */

/* One node of four is kept for back-dated IDs, so three are claimed, each once, and then none is
 * free. */
static void every_node_but_one_is_claimed(void **state) {
    firn_gen *gens[3];
    uint64_t seen = 0;
    (void)state;
    for (int i = 0; i < 3; i++) {
        gens[i] = opened(TWO, "max_wait=0");
        seen |= UINT64_C(1) << next_field(gens[i], "node");
    }
    assert_int_equal(__builtin_popcountll(seen), 3);
    refused(TWO, "max_wait=0", FIRN_EBUSY, "every node");
    assert_int_equal(keys_of(&world.log, gens[0]->ns), 3);
    /* A node that was used and is free again comes before one that was never used. */
    closed(gens[1]);
    pass(&world.clock, 10 * MS);
    firn_gen *again = opened(TWO, "max_wait=0");
    assert_int_equal(keys_of(&world.log, again->ns), 3);
    closed(again);
    closed(gens[0]);
    closed(gens[2]);
}

/* With a node of back-dated IDs none is kept for them: all others are claimed. */
static void every_node_is_claimed_beside_one_of_history(void **state) {
    const firn_time past = {1750000000, 0};
    firn_gen *gens[3];
    firn_id id;
    (void)state;
    gens[0] = opened(TWO, "max_wait=0");
    assert_int_equal(firn_at(gens[0], &past, &id, 1, NULL), FIRN_OK);
    uint64_t seen = UINT64_C(1) << field(gens[0], &id, "node");
    for (int i = 0; i < 3; i++) {
        gens[i] = i == 0 ? gens[0] : opened(TWO, "max_wait=0");
        seen |= UINT64_C(1) << next_field(gens[i], "node");
    }
    assert_int_equal(__builtin_popcountll(seen), 4);
    refused(TWO, "max_wait=0", FIRN_EBUSY, "every node");
    for (int i = 0; i < 3; i++) {
        closed(gens[i]);
    }
}

/* The nodes of the store are listed once a claim, however many are tried. */
static void nodes_are_listed_once_in_a_claim(void **state) {
    (void)state;
    firn_gen *gen = opened(FOUR, "max_wait=0 window=20ms");
    assert_int_equal(world.log.lists, 1);
    next(gen);
    pass(&world.clock, SECOND);
    next(gen); /* its own node is asked for first, without a list */
    assert_int_equal(world.log.lists, 1);
    closed(gen);
}

/* All sixteen are in use for ever: a claim tries none that is listed as in use. */
static void nodes_in_use_are_not_asked_for(void **state) {
    (void)state;
    firn_gen *gen = opened(FOUR, "max_wait=0");
    int64_t high = firn__slots_of(gen, now_of(gen) + 500);
    for (int i = 0; i < 16; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        take_node("full", gen->layout, key, high);
    }
    int asked = world.log.reserves;
    refused(FOUR, "ns=full max_wait=0", FIRN_EBUSY, "every node");
    assert_int_equal(world.log.reserves, asked);
    closed(gen);
}

/* ---- confined claims ------------------------------------------------------------------------- */

#define PARTS "time:41/ms@@2024-01-01 datacenter:2 worker:2 sequence:2"

/* A namespace whose claims are confined; its node `key` was used. */
static void confine(const char *ns, const char *scheme, const char *claims, const char *key) {
    char layout[FIRN_LAYOUT_SIZE + 64];
    firn_gen *gen = opened(scheme, "node=1");
    snprintf(layout, sizeof layout, "claim=%s %s", claims, gen->layout);
    closed(gen);
    take_node(ns, layout, key, 1);
}

static void nodes_are_claimed_inside(void **state) {
    firn_gen *gens[4];
    uint64_t seen = 0;
    (void)state;
    confine("in", FOUR, "5..7", "12");
    for (int i = 0; i < 2; i++) { /* the last one is kept for back-dated IDs */
        gens[i] = opened(FOUR, "ns=in max_wait=0");
        seen |= UINT64_C(1) << next_field(gens[i], "node");
    }
    assert_int_equal(__builtin_popcountll(seen & 7 << 5), 2);
    refused(FOUR, "ns=in max_wait=0", FIRN_EBUSY,
            "no node of in from 5..7 is free (the last never-used one is kept for");
    gens[2] = opened(FOUR, "ns=in max_wait=0 node=12"); /* a given node may be any */
    assert_int_equal(next_field(gens[2], "node"), 12);
    for (int i = 0; i < 3; i++) {
        closed(gens[i]);
    }
    pass(&world.clock, 10 * MS);
    gens[0] = opened(FOUR, "ns=in max_wait=0"); /* a used one again */
    assert_true(seen >> next_field(gens[0], "node") & 1);
    closed(gens[0]);
}

static void pinned_fields_hold_inside(void **state) {
    (void)state;
    confine("in", PARTS, "3..5", "0");
    for (int i = 0; i < 3; i++) { /* 4 and 5; one is kept for back-dated IDs */
        firn_gen *gen = opened(PARTS, "ns=in max_wait=0 datacenter=1");
        assert_true(next_field(gen, "worker") < 2);
        closed(gen);
        pass(&world.clock, 10 * MS);
    }
    confine("at", PARTS, "2..10", "0");
    for (int i = 0; i < 3; i++) { /* 5 and 9 */
        firn_gen *gen = opened(PARTS, "ns=at max_wait=0 worker=1");
        assert_in_range(next_field(gen, "datacenter"), 1, 2);
        closed(gen);
        pass(&world.clock, 10 * MS);
    }
    refused(PARTS, "ns=in max_wait=0 datacenter=2", FIRN_EBUSY, "no node of in from 3..5");
    refused(PARTS, "ns=in max_wait=0 datacenter=3", FIRN_EBUSY, "no node of in from 3..5");
}

/* Back-dated IDs and jobs too, from the highest node inside; a job that ran before keeps its
 * node. */
static void back_dated_ids_are_inside(void **state) {
    const firn_time past = {1750000000, 0};
    firn_id id;
    (void)state;
    confine("in", FOUR, "2..6", "6");
    for (int i = 0; i < 2; i++) {
        firn_gen *gen = opened(FOUR, i == 0 ? "ns=in history=job" : "ns=in");
        assert_int_equal(firn_at(gen, &past, &id, 1, NULL), FIRN_OK);
        assert_int_equal(field(gen, &id, "node"), 5 - i);
        closed(gen);
    }
}

static void texts_of_other_forms_confine_nothing(void **state) {
    static const char *const texts[] = {"claim=5..4 L",
                                        "claim=5 L",
                                        "claim=..4 L",
                                        "claim=1..2",
                                        "claim=01..4 L",
                                        "claim= 1..4 L",
                                        "claim=1..18446744073709551616 L",
                                        "claims=1..4 L",
                                        "L",
                                        ""};
    firn__claims claims = {7, 8};
    char text[FIRN__CLAIMS_SIZE];
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_ptr_equal(firn__confined_read(texts[i], &claims), texts[i]);
        assert_true(claims.first == 7 && claims.last == 8);
    }
    assert_string_equal(firn__confined_read("claim=0..18446744073709551615 L", &claims), "L");
    assert_string_equal(firn__confined_write(text, &claims), "0..18446744073709551615");
    assert_string_equal(firn__confined_read("claim=3..3 claim=1..2 L", &claims), "claim=1..2 L");
}

/* ---- when ------------------------------------------------------------------------------------ */

/* A fixed node may begin within the lead, and not a slot later; busy is how long that takes. */
static void a_fixed_node_begins_within_the_lead(void **state) {
    static const struct {
        int64_t ahead;
        int code;
    } cases[] = {{43, FIRN_OK}, {44, FIRN_EBUSY}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char keys[128];
        firn_gen *gen = opened(FOUR, "node=1");
        int64_t now = firn__slots_of(gen, now_of(gen));
        snprintf(keys, sizeof keys,
                 "ns=lead%zu node=3 max_back=5ms max_lead=10ms max_wait=0 window=20ms", i);
        char ns[8];
        snprintf(ns, sizeof ns, "lead%zu", i);
        take_node(ns, gen->layout, "3", now + cases[i].ahead);
        closed(gen);
        firn_error error = {0};
        int code = try_open(&gen, FOUR, keys, false, &error);
        if (code != cases[i].code) {
            fail_msg("%s %s", firn_errname(code), error.text);
        }
        if (code == FIRN_OK) {
            assert_int_equal(status_of(gen).first, now + cases[i].ahead);
            closed(gen);
        } else {
            error_text(&error, FIRN_EBUSY, "is in use until");
        }
    }
}

/* A node that only back-dates has a mark after the end of the layout. */
static void a_node_of_history_is_told_as_such(void **state) {
    const firn_time past = {1750000000, 0};
    firn_id id;
    char keys[128];
    (void)state;
    firn_gen *gen = opened(FOUR, "history=job");
    assert_int_equal(firn_at(gen, &past, &id, 1, NULL), FIRN_OK);
    snprintf(keys, sizeof keys, "node=%d max_wait=0", (int)field(gen, &id, "node"));
    refused(FOUR, keys, FIRN_ETAKEN, "back-dated IDs only");
    closed(gen);
}

/* A window ends with the layout, also where the mark of its node is ahead of the clock: its IDs
 * would wrap round. */
static void no_window_reaches_beyond_the_layout(void **state) {
#define SHORT                                                                                      \
    "time:16/ms@@2025-10-09T08:52:15Z node:4 sequence:2" /* ends 413 ms after the world's clock */
    static const struct {
        int64_t passed_ms, ahead_ms;
        int code;
    } cases[] = {{0, 0, FIRN_OK}, {300, 0, FIRN_OK}, {300, 50, FIRN_EBUSY}, {0, 50, FIRN_OK}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char keys[100], ns[8];
        firn_error error = {0};
        world_end(NULL);
        assert_int_equal(world_new(NULL), 0);
        firn_gen *gen = opened(SHORT, "node=1 window=20ms");
        pass(&world.clock, cases[i].passed_ms * MS);
        snprintf(ns, sizeof ns, "end%zu", i);
        snprintf(keys, sizeof keys,
                 "ns=%s node=3 max_back=5ms max_lead=100ms max_wait=0 window=200ms", ns);
        int64_t high = firn__slots_of(gen, now_of(gen) + (uint64_t)cases[i].ahead_ms);
        if (cases[i].ahead_ms > 0) {
            take_node(ns, gen->layout, "3", high);
        }
        closed(gen);
        int code = try_open(&gen, SHORT, keys, false, &error);
        if (code != cases[i].code) {
            fail_msg("case %zu: %s %s", i, firn_errname(code), error.text);
        }
        if (code == FIRN_OK) {
            assert_true(status_of(gen).first >= high || cases[i].ahead_ms == 0);
            assert_true(status_of(gen).end <= gen->slot_end && gen->slot_end == 65536 << 2);
            closed(gen);
        }
    }
}

/* Nobody but firn nodes claim writes such a text, which checks its length. */
static void texts_that_are_too_long_confine_nothing(void **state) {
    char stored[FIRN_LAYOUT_SIZE + 64];
    (void)state;
    firn_gen *gen = opened(FOUR, "node=1");
    memset(gen->layout, 'x', FIRN_LAYOUT_SIZE - 12);
    gen->layout[FIRN_LAYOUT_SIZE - 12] = '\0';
    snprintf(stored, sizeof stored, "claim=1..2 %s", gen->layout);
    assert_int_equal(strlen(stored), FIRN_LAYOUT_SIZE - 1);
    assert_true(firn__claimable_read(gen, stored));
    snprintf(stored, sizeof stored, "claim=1..10 %s", gen->layout);
    assert_false(firn__claimable_read(gen, stored));
    assert_int_equal(strlen(gen->kept.stored), FIRN_LAYOUT_SIZE - 1);
    closed(gen);
}

/* ---- a node that another program has --------------------------------------------------------- */

static int refuse_ticks(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                        firn_error *error) {
    if (strchr(request->key, '@') == NULL) {
        return recorder_reserve(self, request, first, held, error);
    }
    *held = (firn_mark){FIRN_SLOT_MAX, 2};
    return firn__fail(error, FIRN_EBUSY, "the extension has the node");
}

/* The tick is not full: the node is not firn's any more. */
static void back_dated_ids_of_a_taken_node_are_refused(void **state) {
    static firn_store_ops ops;
    const firn_time past = {1750000000, 0};
    firn_error error = {0};
    firn_id id;
    (void)state;
    ops = recorder_ops;
    ops.reserve = refuse_ticks;
    firn_store_close(world.store);
    assert_int_equal(firn_store_open(&world.log.real, "memory:", NULL, NULL), FIRN_OK);
    assert_int_equal(firn_store_wrap(&world.store, &ops, &world.log, NULL), FIRN_OK);
    firn_gen *gen = opened(FOUR, "max_wait=0");
    assert_int_equal(firn_at(gen, &past, &id, 1, &error), FIRN_ETAKEN);
    error_text(&error, FIRN_ETAKEN, "the extension has the node");
    closed(gen);
}

/* ---- a store that takes its time ------------------------------------------------------------- */

static int64_t list_ms; /* that a list takes */
static int busy_first;  /* this many reservations are refused */

static int list_slowly(void *self, const char *ns, firn_visit *visit, void *context,
                       firn_error *error) {
    pass(&world.clock, list_ms * MS);
    return recorder_list(self, ns, visit, context, error);
}

static int reserve_later(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                         firn_error *error) {
    if (busy_first > 0) {
        busy_first--;
        *held = (firn_mark){request->latest + 100, request->grant + 1};
        return FIRN_EBUSY;
    }
    return recorder_reserve(self, request, first, held, error);
}

static void a_claim_has_a_second_for_its_store(void **state) {
    static const struct {
        int nodes; /* that were used */
        int64_t list_ms;
        int busy, code;
    } cases[] = {{0, 0, 3, FIRN_OK},      {0, 999, 1, FIRN_OK},       {0, 1000, 1, FIRN_ESTORE},
                 {0, 1000, 0, FIRN_OK},   {300, 999, 0, FIRN_OK},     {300, 1000, 0, FIRN_ESTORE},
                 {255, 1000, 0, FIRN_OK}, {256, 1000, 0, FIRN_ESTORE}};
    static const char wide[] = "time:41/ms@@2024-01-01 node:12 sequence:2";
    static firn_store_ops ops;
    (void)state;
    ops = recorder_ops;
    ops.list = list_slowly;
    ops.reserve = reserve_later;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        firn_gen *gen = NULL;
        firn_error error = {0};
        world_end(NULL);
        assert_int_equal(world_new(NULL), 0);
        firn_store_close(world.store);
        assert_int_equal(firn_store_open(&world.log.real, "memory:", NULL, NULL), FIRN_OK);
        assert_int_equal(firn_store_wrap(&world.store, &ops, &world.log, NULL), FIRN_OK);
        list_ms = busy_first = 0;
        gen = opened(wide, "node=4000");
        for (int k = 0; k < cases[i].nodes; k++) {
            char key[16];
            snprintf(key, sizeof key, "%d", k);
            take_node("slow", gen->layout, key, 1000);
        }
        closed(gen);
        list_ms = cases[i].list_ms;
        busy_first = cases[i].busy;
        world.log.lists = 0;
        int code = try_open(&gen, wide, "ns=slow max_wait=0", false, &error);
        if (code != cases[i].code) {
            fail_msg("case %zu: %s %s", i, firn_errname(code), error.text);
        }
        assert_int_equal(world.log.lists, 1); /* however many nodes were tried */
        if (code == FIRN_OK) {
            closed(gen);
        } else {
            error_text(&error, FIRN_ESTORE, "too slowly");
        }
    }
}

/* A thread may still hold the address of a window that was published: no other window gets it. */
static void a_window_that_was_published_is_no_other_again(void **state) {
    static const char *const schemes[] = {"uuid6", FOUR};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        firn_gen *gen = opened(schemes[i], i == 0 ? "" : "window=20ms");
        const firn__window *before[4] = {NULL};
        for (int turn = 0; turn < 4; turn++) {
            next(gen);
            assert_null(gen->live->locked.spare);
            before[turn] = atomic_load(&gen->live->any.windows[0]);
            for (int k = 0; k < turn; k++) {
                assert_true(before[k] != before[turn]);
            }
            pthread_mutex_lock(&gen->live->locked.lock);
            firn__window_retire(gen, 0, false, NULL);
            pthread_mutex_unlock(&gen->live->locked.lock);
            pass(&world.clock, SECOND);
        }
        closed(gen);
    }
}

/* After a step back a generator without a store has a new identity, or none. */
static void no_identity_is_used_again(void **state) {
    (void)state;
    firn_gen *gen = opened("uuid6", "back=leave");
    int (*fill)(void *, void *, size_t) = world.entropy.fill;
    uint64_t before = next_field(gen, "node");
    step(&world.clock, -HOUR);
    world.entropy.fill = no_entropy;
    denied(gen, FIRN_EENTROPY, "");
    denied(gen, FIRN_EENTROPY, "");
    world.entropy.fill = fill;
    assert_int_not_equal(next_field(gen, "node"), before);
    closed(gen);
}

/* A store that lost reservations grants only slots after all that a clock of today can have
 * reserved. */
static void a_guard_is_15_s_after_the_clock_of_the_store(void **state) {
    (void)state;
    use_store_with_a_clock();
    for (int ahead_ms = -500; ahead_ms <= 500; ahead_ms += 500) {
        store_ahead_ns = ahead_ms * MS;
        firn_gen *gen = opened(FOUR, "node=2");
        const uint64_t there = now_of(gen) + (uint64_t)(15000 + ahead_ms);
        /* The answer took a little time, and ticks are rounded up. */
        assert_in_range(world.log.last.guard, firn__slots_of(gen, there + 4),
                        firn__slots_of(gen, there + 1000));
        closed(gen);
    }
    store_ahead_ns = 0;
}

static int64_t end_of_last_request(void) {
    return world.log.last.latest + world.log.last.count;
}

/* Also with the longest window and lead, and a clock that is as wrong as it may be. */
static void no_window_ends_later_than_the_reach(void **state) {
    (void)state;
    use_store_with_a_clock();
    store_ahead_ns = -1900 * MS;
    firn_gen *gen = opened(FOUR, "node=2 max_lead=10s max_wait=0");
    for (int i = 0; i < 40; i++) {
        const uint64_t there = now_of(gen) - 1900;
        assert_true(end_of_last_request() <= firn__slots_of(gen, there + 14000 + 3));
        pass(&world.clock, 500 * MS);
        free(bulk(gen, 1 + (size_t)i % 4 * 1000));
    }
    closed(gen);
    store_ahead_ns = 0;
}

/* Claims compare the clocks; renewals refuse what would end too late. */
static void a_renewal_beyond_the_reach_is_not_sent(void **state) {
    firn_error error = {0};
    (void)state;
    use_store_with_a_clock();
    firn_gen *gen = opened(FOUR, "max_wait=0 window=10s");
    const int reserves = world.log.reserves;
    firn__need need = {.window = firn__window_of(gen, 0), .tick = now_of(gen) + 6000};
    need.end = firn__end_of(need.window) - 1;
    atomic_store(&firn__window_of(gen, 0)->soft, 0);
    pthread_mutex_lock(&gen->live->locked.lock);
    assert_int_equal(firn__window_keep(gen, 0, &need, &error), FIRN_ECLOCK);
    pthread_mutex_unlock(&gen->live->locked.lock);
    error_text(&error, FIRN_ECLOCK,
               "ms after the store's clock, more than 14000 ms: fix the wrong clock");
    assert_int_equal(world.log.reserves, reserves);
    next(gen); /* the window continues */
    store_ahead_ns = 6000 * MS;
    pthread_mutex_lock(&gen->live->locked.lock);
    atomic_store(&firn__window_of(gen, 0)->soft, 0);
    assert_int_equal(firn__window_keep(gen, 0, &need, &error), FIRN_OK);
    pthread_mutex_unlock(&gen->live->locked.lock);
    assert_int_equal(world.log.reserves, reserves + 1);
    closed(gen);
    store_ahead_ns = 0;
}

static void window_lead_and_skew_fit_into_the_reach(void **state) {
    (void)state;
    firn_gen *gen = opened(FOUR, "max_lead=10s max_skew=3s");
    assert_int_equal(gen->window_ticks, 1000); /* what is left */
    closed(gen);
    closed(opened(FOUR, "max_lead=4s window=8s"));
    refused(FOUR, "max_lead=4s window=8001ms", FIRN_ERANGE,
            "max_lead=4s, max_skew=2s and window=8001ms together are above 14s");
    refused(FOUR, "max_lead=10s max_skew=3001ms", FIRN_ERANGE,
            "max_skew=3001ms and window=1s together are above 14s");
    refused(FOUR, "max_lead=10s max_skew=10s", FIRN_ERANGE, "lower one of them");
    closed(opened("uuid7", "max_lead=10s window=10s")); /* has no store */
}

/* Its layout has the reach, so generators of another one are refused, in both orders. */
static void a_namespace_has_one_reach(void **state) {
    (void)state;
    use_store_of("elsewhere");
    firn_gen *gen = opened(FOUR, "ns=long reach=10min");
    assert_int_equal(gen->window_ticks, 600000);
    const uint64_t there = now_of(gen);
    assert_true(end_of_last_request() > firn__slots_of(gen, there + 590000));
    assert_true(end_of_last_request() <= firn__slots_of(gen, there + 614000 + 3));
    assert_in_range(world.log.last.guard, firn__slots_of(gen, there + 615000),
                    firn__slots_of(gen, there + 616000));
    closed(gen);
    refused(FOUR, "ns=long", FIRN_ENAMESPACE,
            "namespace long has reach=10min, not reach=15s: set reach=10min");
    closed(opened(FOUR, "ns=short"));
    refused(FOUR, "ns=short reach=10min", FIRN_ENAMESPACE,
            "namespace short has reach=15s, not reach=10min: leave reach out");
    refused(FOUR, "ns=long reach=1h", FIRN_ENAMESPACE,
            "namespace long has reach=10min, not reach=1h: set reach=10min");
    gen = opened(FOUR, "ns=longest reach=1h");
    assert_int_equal(gen->window_ticks, 10000); /* this reach is for reserves */
    assert_in_range(world.log.last.guard, firn__slots_of(gen, now_of(gen) + 3615000),
                    firn__slots_of(gen, now_of(gen) + 3616000));
    closed(gen);
    refused(FOUR, "ns=longest", FIRN_ENAMESPACE,
            "namespace longest has reach=1h, not reach=15s: set reach=1h");
    refused(FOUR, "ns=longest reach=10min", FIRN_ENAMESPACE,
            "namespace longest has reach=1h, not reach=10min: set reach=1h");
    closed(opened(FOUR, "ns=short reach=15s"));
    closed(opened(FOUR, "ns=short reach=15000ms"));
    gen = opened(FOUR, "ns=long reach=10min node=1");
    assert_int_equal(gen->window_ticks,
                     3000); /* a fixed node is not busy for minutes unless asked */
    closed(gen);
    for (int i = 0; i < 3; i++) { /* which have no reservations */
        static const char *const free[] = {"uuid7", "objectid", "ulid"};
        refused(free[i], "reach=10min", FIRN_EUSAGE, "makes none: leave it out");
        closed(opened(free[i], "reach=15s"));
    }
    refused(FOUR, "ns=short window=11001ms", FIRN_ERANGE, "set reach=10min for a new namespace");
    refused(FOUR, "ns=long reach=10min window=600001ms", FIRN_ERANGE, "1ms to 10min");
}

/* The window keeps to the long reach, and 9.5 min of it are in hand. */
static void a_long_window_is_renewed_early(void **state) {
    (void)state;
    use_store_of("elsewhere");
    firn_gen *gen = opened(FOUR, "reach=10min max_wait=0");
    for (int i = 0; i < 40; i++) {
        const int reserves = world.log.reserves;
        pass(&world.clock, 50 * SECOND);
        const uint64_t there = now_of(gen);
        next(gen);
        assert_true(world.log.reserves == reserves ||
                    end_of_last_request() <= firn__slots_of(gen, there + 614000 + 3));
    }
    assert_int_equal(world.log.reserves, 41);
    closed(gen);
    gen = opened(FOUR, "reach=10min max_wait=0");
    const int before = world.log.reserves;
    for (int i = 0; i < 600; i++) {
        int64_t wait_ms;
        pass(&world.clock, SECOND);
        assert_int_equal(firn_gen_step(gen, &wait_ms, NULL), FIRN_OK);
        assert_true(status_of(gen).end >= firn__slots_of(gen, now_of(gen) + 570000 - 1));
    }
    assert_in_range(world.log.reserves - before, 19, 20);
    closed(gen);
}

/* Each try is 30 s after the one before, until the last half minute. */
static void a_long_window_outlives_its_store(void **state) {
    (void)state;
    use_store_of("elsewhere");
    firn_gen *gen = opened(FOUR, "reach=10min max_wait=0");
    const int64_t began = (int64_t)now_of(gen);
    firn_id id;
    firn_error error;
    int code = FIRN_OK, seconds = 0;
    next(gen);
    world.log.fate = FATE_DOWN;
    world.log.fated = -1;
    while (code == FIRN_OK && seconds < 1000) {
        pass(&world.clock, SECOND);
        seconds++;
        code = firn_next(gen, &id, &error);
    }
    assert_in_range(seconds, 600, 601);
    assert_int_equal(code, FIRN_ESTORE);
    world.log.fated = 0;
    next(gen);
    assert_true(status_of(gen).first >= firn__slots_of(gen, (uint64_t)began + 600000));
    assert_int_equal(status_of(gen).claims, 2);
    closed(gen);
}

/* If its record was lost, the reach may have been the longest one; the process that has just
 * reserved knows it. */
static void an_absent_namespace_may_have_had_the_longest_reach(void **state) {
    (void)state;
    use_store_with_a_clock();
    firn_gen *gen = opened(FOUR, "window=20ms max_wait=0");
    const uint64_t there = now_of(gen);
    assert_in_range(world.log.last.guard + world.log.last.guard_more,
                    firn__slots_of(gen, there + 615000), firn__slots_of(gen, there + 616000));
    assert_int_equal(world.log.last.guard_known_ms, 0);
    const int64_t first_ms = world.log.last.guard_ms;
    pass(&world.clock, SECOND);
    next(gen);
    assert_true(world.log.last.guard_more > 0); /* the request may take as long as it likes */
    assert_in_range(world.log.last.guard_known_ms, first_ms + 540000 - 1, first_ms + 540000);
    firn_renew_identity(); /* a copy does not know how long it was stopped */
    pass(&world.clock, SECOND);
    next(gen);
    assert_int_equal(world.log.last.guard_known_ms, 0);
    closed(gen);
    gen = opened(FOUR, "node=3 window=20ms max_wait=0");
    step(&world.clock, 3600 * SECOND); /* as after a restore */
    pass(&world.clock, SECOND);
    next(gen);
    assert_int_equal(world.log.last.guard_known_ms, 0);
    closed(gen);
    gen = opened(FOUR, "ns=long reach=10min");
    assert_int_equal(world.log.last.guard_more, 0);
    closed(gen);
    gen = opened(FOUR, "ns=longest reach=1h"); /* waits for itself, and nobody else does */
    assert_int_equal(world.log.last.guard_more, 0);
    closed(gen);
}

/* Somebody else extends the generator's own node up to `high`. */
static void raise_node(const firn_gen *gen, const char *key, int64_t high) {
    firn_mark held;
    int64_t first;
    const firn_request request = {.ns = gen->ns,
                                  .layout = gen->layout,
                                  .key = key,
                                  .count = 1,
                                  .earliest = high - 1,
                                  .latest = high - 1,
                                  .grant = 78,
                                  .note = "another"};
    assert_int_equal(firn_store_reserve(world.log.real, &request, &first, &held, NULL), FIRN_OK);
}

/* Neither mode claims a node once the slots of the present would need more than 62 bits. */
static void a_tick_beyond_the_slots_is_the_end(void **state) {
    static const char fine[] = "time:62/100ns@@2025-10-09 node:4 sequence:12";
    (void)state;
    for (int mode = 0; mode < 2; mode++) {
        firn_gen *gen = opened(fine, mode ? "mode=online node=3" : "node=3");
        const uint64_t end = (uint64_t)gen->slot_end >> gen->s;
        const uint64_t ticks[] = {end, end + 1, UINT64_C(1) << 52, UINT64_MAX >> 1};
        const int reserves = world.log.reserves;
        assert_true(end < gen->tick_end);
        for (int i = 0; i < 4; i++) {
            firn__window out;
            firn_error error = {0};
            memset(&out, 0, sizeof out);
            pthread_mutex_lock(&gen->live->locked.lock);
            int code = mode ? firn__claim_online(gen, ticks[i], 1, &out, &error)
                            : firn__claim_window(gen, 0, ticks[i], 1, &error);
            pthread_mutex_unlock(&gen->live->locked.lock);
            error_text(&error, FIRN_ELAYOUT, "has ended: from 2029-05-04");
            error_text(&error, FIRN_ELAYOUT, "slots pass 2^62");
            assert_int_equal(code, FIRN_ELAYOUT);
        }
        assert_int_equal(world.log.reserves, reserves);
        closed(gen);
    }
}

/* A fixed node keeps its order by its mark: it begins in the present tick, also in the tick of the
 * last ID. */
static void a_fixed_node_begins_in_the_tick_of_its_last_id(void **state) {
    (void)state;
    firn_gen *gen = opened(FOUR, "node=3");
    pthread_mutex_lock(&gen->live->locked.lock);
    firn__window_retire(gen, 0, true, NULL);
    gen->past->has_node[0] = false;
    gen->past->has_last = true;
    gen->past->last_tick = now_of(gen);
    assert_int_equal(firn__claim_window(gen, 0, now_of(gen), 1, NULL), FIRN_OK);
    pthread_mutex_unlock(&gen->live->locked.lock);
    assert_true(world.log.last.earliest == firn__slots_of(gen, now_of(gen)));
    closed(gen);
}

/* Its own node begins in the present: one that somebody else took a little ahead is left to
 * them. */
static void the_own_node_is_not_claimed_ahead_of_the_clock(void **state) {
    char key[16];
    (void)state;
    firn_gen *gen = opened(FOUR, "window=20ms");
    uint64_t node = next_field(gen, "node");
    pass(&world.clock, SECOND);
    snprintf(key, sizeof key, "%d", (int)node);
    raise_node(gen, key, firn__slots_of(gen, now_of(gen) + 5));
    assert_int_not_equal(next_field(gen, "node"), node);
    closed(gen);
}

/* With a random start of the sequence as well: in the present tick. */
static void an_online_claim_begins_in_the_present(void **state) {
    (void)state;
    firn_gen *gen =
        opened("time:41/ms@@2024-01-01 node:4 sequence:12", "mode=online start=random:4000 node=3");
    for (int i = 0; i < 20; i++) {
        next(gen);
        uint64_t tick = (uint64_t)world.log.last.earliest >> gen->s;
        assert_true(tick == now_of(gen));
        pass(&world.clock, 100 * MS);
    }
    closed(gen);
}

/* Another node begins after the last tick of the IDs, also if a call failed in between. */
static void the_last_tick_of_online_ids_is_kept(void **state) {
    (void)state;
    firn_gen *gen = opened(FOUR, "mode=online max_wait=0");
    for (size_t n = 1; n <= 9; n++) {
        firn_error error = {0};
        firn_id id;
        pass(&world.clock, SECOND);
        uint64_t now = now_of(gen);
        free(bulk(gen, n));
        assert_true(gen->past->has_last && gen->past->last_tick == now + (n - 1) / 4);
        world.log.fate = FATE_DOWN;
        world.log.fated = -1;
        assert_int_equal(firn_next(gen, &id, &error), FIRN_ESTORE);
        world.log.fated = 0;
        assert_true(gen->past->last_tick == now + (n - 1) / 4);
    }
    closed(gen);
}

/* Its node's mark may be ahead of the clock, as far as the lead. */
static void an_online_generator_keeps_its_node_ahead_of_the_clock(void **state) {
    (void)state;
    firn_gen *gen = opened(FOUR, "mode=online max_wait=0");
    firn_id last = next(gen);
    for (int i = 1; i <= 20; i++) {
        firn_id id = next(gen);
        assert_int_equal(field(gen, &id, "node"), field(gen, &last, "node"));
        assert_true(slot(gen, &id) == slot(gen, &last) + 1);
        assert_int_equal(world.log.reserves, 1 + i); /* no other node was asked for */
        last = id;
    }
    closed(gen);
}

static void after_a_step_back_an_online_generator_leaves_its_node(void **state) {
    (void)state;
    firn_gen *gen = opened(FOUR, "mode=online max_wait=0");
    uint64_t node = next_field(gen, "node");
    step(&world.clock, -HOUR);
    int reserves = world.log.reserves;
    assert_int_not_equal(next_field(gen, "node"), node);
    assert_int_equal(world.log.reserves, reserves + 1); /* the old one was not asked for */
    closed(gen);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_new, world_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(clocks_may_differ_by_max_skew_ms),
        TEST(a_step_back_in_the_middle_of_a_claim_is_no_wrong_clock),
        TEST(nor_is_it_for_an_online_generator),
        TEST(every_node_but_one_is_claimed),
        TEST(nodes_are_listed_once_in_a_claim),
        TEST(nodes_in_use_are_not_asked_for),
        TEST(nodes_are_claimed_inside),
        TEST(pinned_fields_hold_inside),
        TEST(back_dated_ids_are_inside),
        TEST(texts_of_other_forms_confine_nothing),
        TEST(texts_that_are_too_long_confine_nothing),
        TEST(back_dated_ids_of_a_taken_node_are_refused),
        TEST(a_fixed_node_begins_within_the_lead),
        TEST(a_node_of_history_is_told_as_such),
        TEST(no_window_reaches_beyond_the_layout),
        TEST(a_claim_has_a_second_for_its_store),
        TEST(a_window_that_was_published_is_no_other_again),
        TEST(no_identity_is_used_again),
        TEST(a_guard_is_15_s_after_the_clock_of_the_store),
        TEST(no_window_ends_later_than_the_reach),
        TEST(a_renewal_beyond_the_reach_is_not_sent),
        TEST(window_lead_and_skew_fit_into_the_reach),
        TEST(a_namespace_has_one_reach),
        TEST(a_long_window_is_renewed_early),
        TEST(a_long_window_outlives_its_store),
        TEST(an_absent_namespace_may_have_had_the_longest_reach),
        TEST(every_node_is_claimed_beside_one_of_history),
        TEST(a_store_without_a_clock_is_not_compared),
        TEST(a_tick_beyond_the_slots_is_the_end),
        TEST(a_fixed_node_begins_in_the_tick_of_its_last_id),
        TEST(the_own_node_is_not_claimed_ahead_of_the_clock),
        TEST(an_online_claim_begins_in_the_present),
        TEST(the_last_tick_of_online_ids_is_kept),
        TEST(an_online_generator_keeps_its_node_ahead_of_the_clock),
        TEST(after_a_step_back_an_online_generator_leaves_its_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
