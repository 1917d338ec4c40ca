/* SPDX-License-Identifier: MIT */
/* The generator and its store, through the public calls: windows, failures of the store, a renewer
 * of the caller's, back-dated IDs. The store is one that records what it is asked; real ones have
 * their own tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generating.h"

#include <pthread.h>
#include <unistd.h>

/* ---- windows -------------------------------------------------------------------------------- */

/* The mark of a generator of snowflakes. */
static int64_t mark(firn_gen *gen) {
    char key[24];
    snprintf(key, sizeof key, "%" PRIu64, status_of(gen).node);
    return mark_of(&world.log, "snowflake", key);
}

static void a_window_is_renewed_at_its_half(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "window=1s");
    assert_true(world.log.reserves == 1 && world.log.lists == 1);
    for (int i = 0; i < 500; i++, pass(&world.clock, MS)) {
        next(gen);
        assert_int_equal(world.log.reserves, 1);
    }
    next(gen);
    assert_int_equal(world.log.reserves, 2);
    assert_true(mark(gen) == (int64_t)(now_of(gen) + 1000) << 12);
    assert_true(mark(gen) == status_of(gen).end);
    for (int i = 0; i < 10000; i++, pass(&world.clock, MS)) {
        next(gen);
    }
    firn_status status = status_of(gen);
    assert_int_equal(status.claims, 1);
    assert_in_range(status.renewals, 20, 22);
    assert_true(world.log.lists == 1 && status.store_errors == 0);
    closed(gen);
}

static void windows_are_as_long_as_they_should(void **state) {
    (void)state;
    const struct {
        const char *scheme, *keys;
        int64_t ticks;
    } windows[] = {{"snowflake", "", 2000},
                   {"snowflake", "window=10ms", 10},
                   {"snowflake", "window=1ms", 2}, /* two ticks at least, */
                   {"sonyflake", "window=1ms", 3}, /* and what one ID may need at any start */
                   {"sonyflake", "window=10s", 1000}};
    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
        firn_gen *gen = opened(windows[i].scheme, windows[i].keys);
        firn_status status = status_of(gen);
        uint32_t s = width(firn_gen_scheme(gen), FIRN_ROLE_SEQUENCE);
        int64_t ticks = (status.end - status.first + (INT64_C(1) << s) - 1) >> s;
        assert_in_range(ticks, windows[i].ticks, windows[i].ticks + 1);
        closed(gen);
    }
}

static void after_idling_the_own_node_is_claimed_again(void **state) {
    (void)state;
    const char *keys[] = {"", "node=7"};
    for (int i = 0; i < 2; i++) {
        firn_gen *gen = opened("snowflake", keys[i]);
        uint64_t node = status_of(gen).node;
        int lists = world.log.lists;
        next(gen);
        pass(&world.clock, 10 * SECOND);
        assert_true(next_slot(gen) == now_of(gen) << 12);
        assert_true(status_of(gen).node == node);
        assert_int_equal(status_of(gen).claims, 2);
        assert_int_equal(world.log.lists, lists);
        closed(gen);
        pass(&world.clock, 3 * SECOND);
    }
}

static void a_node_taken_while_idle_is_left(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "");
    char keys[40];
    next(gen);
    uint64_t node = status_of(gen).node;
    pass(&world.clock, 10 * SECOND);
    snprintf(keys, sizeof keys, "node=%" PRIu64, node);
    firn_gen *other = opened("snowflake", keys);
    next(gen);
    assert_true(status_of(gen).node != node);
    closed(other);
    closed(gen);
}

static void what_is_given_back_is_free_at_once(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "node=7");
    uint64_t last = next_slot(gen);
    closed(gen);
    assert_true(mark_of(&world.log, "snowflake", "7") == (int64_t)last + 1);
    gen = opened("snowflake", "node=7");
    assert_true(next_slot(gen) == last + 1);
    closed(gen);
    assert_int_equal(world.clock.pauses, 0);
    assert_int_equal(world.log.give_backs, 2);
}

static void a_fixed_node_is_waited_for(void **state) {
    (void)state;
    firn_gen *crashed = opened("snowflake", "node=7"); /* as good as: it only holds its window */
    int64_t end = status_of(crashed).end;
    refused("snowflake", "node=7 max_wait=900ms", FIRN_EBUSY,
            "in use until 2025-10-09T08:53:22.123Z");
    assert_int_equal(world.clock.pauses, 0); /* waiting would be useless */
    firn_gen *gen = opened("snowflake", "node=7");
    assert_in_range(world.clock.paused_ns, 990 * MS, 1010 * MS);
    assert_true((int64_t)next_slot(gen) == end);
    closed(gen);
    firn_close(crashed, NULL);
}

static void four_nodes_are_held_at_once(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "nodes=4");
    int64_t wait_ms = -1;
    assert_int_equal(firn_gen_step(gen, &wait_ms, NULL), FIRN_OK);
    assert_true(wait_ms > 0 && wait_ms <= 1000);
    assert_int_equal(keys_of(&world.log, "snowflake"), 4);
    next(gen);
    assert_int_equal(keys_of(&world.log, "snowflake"), 4);
    closed(gen);
    assert_int_equal(world.log.give_backs, 4);
}

/* A thread continues with the next node when one is used up, in order on each. */
static void one_thread_uses_all_its_nodes(void **state) {
    firn_error error = {0};
    uint64_t last[1024] = {0}, id;
    int64_t issued[2] = {0, 0};
    (void)state;
    for (int i = 0; i < 2; i++) {
        firn_gen *gen = opened("snowflake", i == 0 ? "max_lead=50ms max_back=0"
                                                   : "nodes=4 max_lead=50ms max_back=0 ns=four");
        int64_t wait_ms;
        int code = firn_gen_step(gen, &wait_ms, NULL);
        memset(last, 0, sizeof last);
        while ((code = firn_next_u64(gen, &id, 1, &error)) == FIRN_OK && issued[i] < 5000000) {
            uint64_t *before = &last[id >> 12 & 1023];
            assert_true(*before < id);
            *before = id;
            issued[i]++;
        }
        error_text(&error, FIRN_EEXHAUSTED, "max_lead=50ms");
        closed(gen);
    }
    assert_true(issued[0] > 4096 * 49);
    assert_int_equal(issued[1], 4 * issued[0]);
}

static void online_reserves_just_what_it_issues(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "mode=online");
    assert_int_equal(world.log.reserves, 0);
    uint64_t last = next_slot(gen);
    assert_true(mark_of(&world.log, "snowflake", world.log.key) == (int64_t)last + 1);
    assert_false(status_of(gen).held);
    for (int i = 1; i < 40; i++) {
        firn_id *ids = bulk(gen, (size_t)i);
        assert_true(slot(gen, &ids[0]) == last + 1);
        last += (uint64_t)i;
        assert_true(slot(gen, &ids[i - 1]) == last);
        assert_true(mark_of(&world.log, "snowflake", world.log.key) == (int64_t)last + 1);
        free(ids);
    }
    assert_int_equal(world.log.reserves, 40);
    assert_true(world.log.lists == 1 && keys_of(&world.log, "snowflake") == 1);
    closed(gen);
    assert_int_equal(world.log.give_backs, 0);
}

static void online_keeps_every_bound(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "mode=online node=7 max_lead=2ms max_back=2ms max_wait=0");
    free(bulk(gen, 3 * 4096));
    denied(gen, FIRN_EBUSY, "in use");
    denied_n(gen, 3 * 4096 + 1, FIRN_ERANGE, "at most 12288");
    world.log.fate = FATE_DOWN;
    world.log.fated = 1;
    denied(gen, FIRN_ESTORE, "down");
    pass(&world.clock, MS);
    uint64_t last = next_slot(gen);
    step(&world.clock, -HOUR);
    denied(gen, FIRN_ECLOCK, "max_back=2ms");
    denied_n(gen, 2, FIRN_ECLOCK, "max_back=2ms");
    pass(&world.clock, HOUR);
    assert_true(next_slot(gen) == last + 1);
    closed(gen);
    gen = opened("snowflake", "mode=online back=fail");
    last = next_slot(gen);
    step(&world.clock, -HOUR);
    denied(gen, FIRN_ECLOCK, "max_back=1s");
    pass(&world.clock, HOUR);
    assert_true(next_slot(gen) > last);
    closed(gen);
}

/* ---- a store that fails --------------------------------------------------------------------- */

static void a_lost_reply_is_asked_for_again(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "");
    uint64_t last = next_slot(gen), node = status_of(gen).node;
    pass(&world.clock, SECOND);
    world.log.fate = FATE_LOST;
    world.log.fated = 1;
    assert_true(next_slot(gen) > last);
    assert_int_equal(world.log.reserves,
                     2); /* ahead of need nobody waits for more than one sending */
    pass(&world.clock, 300 * MS);
    assert_true(next_slot(gen) > last);
    assert_int_equal(world.log.reserves, 3);
    assert_true(world.log.grants[0] == world.log.grants[1]);
    assert_true(world.log.grants[1] != world.log.grants[2]);
    assert_true(status_of(gen).node == node && status_of(gen).end == mark(gen));
    assert_int_equal(status_of(gen).renewals, 1);
    closed(gen);
    assert_int_equal(world.log.give_backs, 0); /* a copy may still be under way */
}

static void an_unknown_outcome_is_settled_later(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "");
    uint64_t node = status_of(gen).node, last = next_slot(gen);
    pass(&world.clock, SECOND);
    world.log.fate = FATE_LOST;
    world.log.fated = -1;
    for (int i = 0; i < 90; i++, pass(&world.clock, 10 * MS)) {
        uint64_t now = next_slot(gen);
        assert_true(now > last);
        last = now;
    }
    uint64_t grant = world.log.grants[0];
    assert_true(status_of(gen).store_errors > 0 && status_of(gen).renewals == 0);
    pass(&world.clock, 95 * MS);
    world.log.fated = 0;
    assert_true(next_slot(gen) > last);
    assert_true(world.log.grants[0] == grant && status_of(gen).node == node);
    assert_int_equal(status_of(gen).claims, 1);
    closed(gen);
    assert_int_equal(world.log.give_backs, 0);
}

static void a_clone_is_reported_at_its_first_claim(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "node=7"), *twin = NULL;
    world.seed = 20251009; /* the image of this process, run again */
    firn_error error = {0};
    assert_int_equal(try_open(&twin, "snowflake", "node=7", false, &error), FIRN_ECLONED);
    error_text(&error, FIRN_ECLONED, "copy of this process image");
    assert_null(twin);
    next(gen);
    closed(gen);
}

static void a_clone_is_reported_at_a_renewal(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "node=7 window=10ms");
    world.log.fate = FATE_TWIN;
    world.log.fated = 1;
    denied_n(gen, 11 * 4096, FIRN_ECLONED, "copy of this process image");
    closed(gen);
    assert_int_equal(world.log.give_backs, 0);
}

/* The copy has the rest of the window too, so it is dropped and reported. */
static void a_clone_is_reported_at_an_early_renewal(void **state) {
    const char *keys[] = {"node=7", ""};
    (void)state;
    for (int i = 0; i < 2; i++) {
        firn_gen *gen = opened("snowflake", keys[i]);
        firn_status before = status_of(gen);
        next(gen);
        pass(&world.clock, 1100 * MS);
        world.log.fate = FATE_TWIN;
        world.log.fated = 1;
        uint64_t slot_after = next_slot(gen);
        firn_status after = status_of(gen);
        assert_non_null(strstr(world.notice, "copy of this process image"));
        if (i == 0) { /* behind all that the copy may have */
            assert_true((int64_t)slot_after >= before.end && world.clock.pauses > 0);
        } else {
            assert_true(after.node != before.node);
        }
        assert_int_equal(after.claims, 2);
        closed(gen);
        world.notice[0] = '\0';
    }
}

static void an_outage_is_outlived_for_half_a_window(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "window=10s");
    uint64_t node = status_of(gen).node;
    for (int i = 0; i < 49; i++, pass(&world.clock, 100 * MS)) {
        next(gen);
    }
    world.log.fate = FATE_DOWN; /* just before the renewal: no worse moment */
    world.log.fated = -1;
    for (int i = 0; i < 51; i++, pass(&world.clock, 100 * MS)) {
        next(gen);
    }
    assert_in_range(status_of(gen).store_errors, 1, 20);
    denied(gen, FIRN_ESTORE, "the store is down");
    denied_n(gen, 10, FIRN_ESTORE, "start it");
    pass(&world.clock, HOUR);
    denied(gen, FIRN_ESTORE, "");
    world.log.fated = 0;
    assert_true(next_slot(gen) == now_of(gen) << 12);
    assert_true(status_of(gen).node == node);
    closed(gen);
}

static void an_outage_is_reported_when_opening(void **state) {
    (void)state;
    world.log.fate = FATE_DOWN;
    world.log.fated = -1;
    refused("snowflake", "", FIRN_ESTORE, "the store is down");
    refused("snowflake", "node=3", FIRN_ESTORE, "the store is down");
    closed(opened("uuid7", "")); /* which needs no store */
    world.log.fated = 0;
    closed(opened("snowflake", ""));
}

/* ---- a renewer of the caller's --------------------------------------------------------------- */

static void stepped_leaves_the_store_to_the_renewer(void **state) {
    (void)state;
    firn_gen *gen = NULL;
    firn_error error = {0};
    int64_t wait_ms = 0;
    assert_int_equal(try_open(&gen, "snowflake", "", true, &error), FIRN_OK);
    denied(gen, FIRN_EWINDOW, "renewer");
    assert_int_equal(world.log.reserves + world.log.lists, 0);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(firn_gen_step(gen, &wait_ms, &error), FIRN_OK);
        assert_true(wait_ms > 0 && wait_ms <= 500);
        int asked = world.log.reserves;
        for (int64_t ms = 0; ms < wait_ms; ms++, pass(&world.clock, MS)) {
            next(gen);
        }
        assert_int_equal(world.log.reserves, asked);
    }
    assert_int_equal(status_of(gen).claims, 1);
    int asked = world.log.reserves;
    pass(&world.clock, 5 * SECOND);
    denied(gen, FIRN_EWINDOW, "renewer");
    denied_n(gen, 5, FIRN_EWINDOW, "renewer");
    step(&world.clock, -DAY);
    denied(gen, FIRN_EWINDOW, "renewer");
    assert_int_equal(world.log.reserves, asked);
    assert_int_equal(world.log.give_backs, 0);
    assert_int_equal(firn_gen_step(gen, &wait_ms, &error), FIRN_OK);
    next(gen);
    closed(gen);
}

static void a_renewer_gets_the_error_of_an_outage(void **state) {
    (void)state;
    firn_gen *gen = NULL;
    firn_error error = {0};
    int64_t wait_ms = 0;
    assert_int_equal(try_open(&gen, "snowflake", "node=3", true, NULL), FIRN_OK);
    world.log.fate = FATE_DOWN;
    world.log.fated = 1;
    assert_int_equal(firn_gen_step(gen, &wait_ms, &error), FIRN_ESTORE);
    error_text(&error, FIRN_ESTORE, "down");
    assert_int_equal(wait_ms, 50);
    assert_int_equal(firn_gen_step(gen, &wait_ms, &error), FIRN_OK);
    next(gen);
    closed(gen);
}

/* ---- back-dated ----------------------------------------------------------------------------- */

static const firn_time past = {1750000000, 987654321}; /* 2025-06-15T15:06:40.987654321 */

static firn_id *dated(firn_gen *gen, const firn_time *time, size_t n) {
    firn_error error = {0};
    firn_id *ids = calloc(n, sizeof *ids);
    assert_non_null(ids);
    if (firn_at(gen, time, ids, n, &error) != FIRN_OK) {
        fail_msg("%s: %s", firn_gen_scheme(gen)->name, error.text);
    }
    return ids;
}

static void denied_at(firn_gen *gen, const firn_time *time, size_t n, int code, const char *words) {
    firn_error error = {0};
    firn_id *ids = calloc(n, sizeof *ids), *same = calloc(n, sizeof *ids);
    assert_true(ids != NULL && same != NULL);
    assert_int_equal(firn_at(gen, time, ids, n, &error), code);
    error_text(&error, code, words);
    assert_memory_equal(ids, same, n * sizeof *ids);
    free(ids);
    free(same);
}

static uint64_t tick_of(const firn_gen *gen, const firn_time *time) {
    uint64_t tick = 0;
    assert_int_equal(firn_scheme_tick(firn_gen_scheme(gen), time, &tick, NULL), FIRN_OK);
    return tick;
}

/* As many calls as a tick lasts, each at its exact time; a full tick continues in the next. */
/* A node that is always given is kept for history by a generator that holds no window. */
static const char *without_window(const firn_scheme *row, const char *keys) {
    return row->node_rule == FIRN_NODE_REQUIRED && row->node_fields != NULL
               ? with(keys, "mode=online")
               : keys;
}

static void row_dates_back(const firn_scheme *row, const char *keys) {
    enum { CALLS = 8 };
    firn_gen *gen = opened(row->name, without_window(row, keys));
    firn_id *all = calloc(CALLS * MANY, sizeof *all), *ids;
    size_t n = MANY;
    assert_non_null(all);
    for (size_t i = 0; i < CALLS && row->tick_ns > 0; i++) {
        firn_time time = i < 3 ? past : time_after(past, (int64_t)i * DAY);
        uint64_t tick = tick_of(gen, &time), last = tick;
        ids = dated(gen, &time, n);
        if (i == 0 || i > 2) {
            assert_true(field(gen, &ids[0], "time") == tick);
        }
        for (size_t j = 0; j < n; j++) {
            uint64_t here = field(gen, &ids[j], "time");
            assert_true(here >= last && here - tick <= CALLS * MANY);
            last = here;
        }
        memcpy(all + i * n, ids, n * sizeof *all);
        free(ids);
    }
    if (row->tick_ns > 0) {
        are_unique(all, CALLS * n);
    } else {
        denied_at(gen, &past, 1, FIRN_EUSAGE, "");
    }
    free(all);
    closed(gen);
}

static void every_row_dates_back(void **state) {
    (void)state;
    each_row(row_dates_back, 24);
}

/* An invalid time is reported and changes nothing. */
static void no_instant_is_refused(void **state) {
    static const int32_t bad[] = {-1, 1000000000, INT32_MIN, INT32_MAX};
    (void)state;
    firn_gen *gen = opened("snowflake", ""), *time_random = opened("time-random", "");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        firn_time time = {past.sec, bad[i]};
        denied_at(gen, &time, 1, FIRN_ERANGE, "999999999");
        denied_at(time_random, &time, 3, FIRN_ERANGE, "999999999");
    }
    firn_id *id = dated(gen, &past, 1);
    assert_true(field(gen, id, "sequence") == 0);
    free(id);
    closed(time_random);
    closed(gen);
}

/* With and without a store, alone and in a job, each tick starts after the start of its ten
 * minutes. */
static void locality_sequential_dates_from_its_start(void **state) {
    static const char *const keys[] = {"", "pid=5 mac=77", "pid=5", "mac=7 history=job",
                                       "pid=5 mac=78 history=job"};
    static const firn_time times[] = {
        {1350327599, 999000000}, {0, 0}, {600, 0}, {946684800, 0}, {1699999999, 999000000}};
    static const uint64_t starts[] = {28857407, 760642439, 1887057683, 2563257909, 3833647438};
    (void)state;
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        firn_gen *gen = opened("locality-sequential", with(keys[k], "mode=online"));
        for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
            firn_id *ids = dated(gen, &times[i], 3), *more = dated(gen, &times[i], 1);
            for (uint64_t j = 0; j < 3; j++) {
                assert_true(field(gen, &ids[j], "counter") == starts[i] + 1 + j);
            }
            assert_true(field(gen, more, "counter") == starts[i] + 4);
            free(ids);
            free(more);
        }
        closed(gen);
    }
}

static void row_dates_within_its_layout(const firn_scheme *row, const char *keys) {
    firn_scheme mine = *row;
    firn_time end, before;
    if (row->tick_ns == 0) {
        return;
    }
    firn_gen *gen = opened(row->name, without_window(row, keys));
    mine = *firn_gen_scheme(gen);
    free(dated(gen, &mine.epoch, 1));
    before = time_after(mine.epoch, -1);
    denied_at(gen, &before, 1, FIRN_ELAYOUT, "");
    if (firn_scheme_end(&mine, false, &end)) {
        before = time_after(end, -1);
        free(dated(gen, &before, 1));
        denied_at(gen, &end, 1, FIRN_ELAYOUT, "");
        denied_at(gen, &end, 5, FIRN_ELAYOUT, "");
    }
    closed(gen);
}

static void every_row_dates_within_its_layout(void **state) {
    (void)state;
    each_row(row_dates_within_its_layout, 24);
}

static void a_dated_full_tick_runs_on(void **state) {
    (void)state;
    const char *keys[] = {"max_lead=2ms max_back=2ms", "max_lead=2ms max_back=2ms history=job"};
    for (int i = 0; i < 2; i++) {
        firn_gen *gen = opened("js53", keys[i]);
        firn_time later = time_after(past, SECOND);
        uint64_t tick = tick_of(gen, &past);
        firn_id *ids = dated(gen, &past, 100), *more = dated(gen, &past, 92);
        for (uint64_t j = 0; j < 192; j++) {
            assert_true(slot(gen, j < 100 ? &ids[j] : &more[j - 100]) == (tick << 6) + j);
        }
        denied_at(gen, &past, 1, FIRN_EFULL, "max_lead=2ms");
        denied_at(gen, &later, 193, FIRN_ERANGE, "max_lead=2ms");
        free(ids);
        free(more);
        closed(gen);
        pass(&world.clock, 3 * SECOND);
    }
}

static void one_history_node_is_shared(void **state) {
    (void)state;
    firn_gen *a = opened("snowflake", ""), *b = opened("snowflake", "");
    enum { CALLS = 20, EACH = 100 };
    firn_id *all = calloc(2 * CALLS * EACH, sizeof *all);
    uint64_t node = UINT64_MAX;
    assert_non_null(all);
    for (size_t i = 0; i < 2 * CALLS; i++) {
        firn_gen *gen = i % 2 == 0 ? a : b;
        firn_id *ids = dated(gen, &past, EACH);
        uint64_t here = field(gen, &ids[0], "datacenter") * 32 + field(gen, &ids[0], "worker");
        assert_true(node == UINT64_MAX || here == node);
        node = here;
        memcpy(all + i * EACH, ids, EACH * sizeof *ids);
        free(ids);
    }
    are_unique(all, (size_t)2 * CALLS * EACH);
    assert_true(node != status_of(a).node && node != status_of(b).node);
    free(all);
    closed(a);
    closed(b);
}

static void a_jobs_node_is_its_own(void **state) {
    (void)state;
    firn_gen *a = opened("tsid", "history=job"), *b = opened("tsid", "history=job");
    firn_id *ids = dated(a, &past, 10), *more = dated(b, &past, 10);
    uint64_t own = field(a, &ids[0], "node");
    assert_true(own != field(b, &more[0], "node"));
    int asked = world.log.reserves;
    free(more);
    more = dated(a, &past, 10); /* counted in memory */
    follows(a, &ids[9], &more[0]);
    assert_int_equal(world.log.reserves, asked);
    closed(a);
    free(ids);
    free(more);
    char keys[60];
    snprintf(keys, sizeof keys, "node=%" PRIu64, own);
    refused("tsid", keys, FIRN_ETAKEN, "back-dated IDs only"); /* for good */
    closed(b);
}

/* A generator that only back-dates: what it holds live is never asked for. */
static firn_gen *dating(const char *scheme, const char *keys) {
    firn_gen *gen = NULL;
    firn_error error = {0};
    if (try_open(&gen, scheme, keys, true, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return gen;
}

static void live_nodes_are_refused_to_history(void **state) {
    (void)state;
    firn_gen *live = opened("snowflake", "node=7"), *gen = dating("snowflake", "node=7");
    next(live);
    denied_at(live, &past, 1, FIRN_ETAKEN, "issues live IDs");
    denied_at(gen, &past, 1, FIRN_ETAKEN, "leave the node out");
    closed(live);
    denied_at(gen, &past, 1, FIRN_ETAKEN, "issues live IDs"); /* once used, used for good */
    closed(gen);
    gen = dating("snowflake", "node=8");
    firn_id *ids = dated(gen, &past, 3);
    assert_int_equal(field(gen, &ids[0], "worker"), 8);
    free(ids);
    closed(gen);
    gen = dating("snowflake", "node=8");
    free(dated(gen, &past, 3)); /* the common node is for all who name it */
    closed(gen);
    gen = dating("snowflake", "node=8 history=job");
    denied_at(gen, &past, 1, FIRN_ETAKEN, "another job's");
    closed(gen);
}

static void dated_ids_are_never_live_ones(void **state) {
    (void)state;
    const char *rows[] = {"snowflake", "uuid1", "xid", "seata", "flake"};
    for (size_t i = 0; i < 5; i++) {
        firn_gen *gen = opened(rows[i], i % 2 == 0 ? "history=job" : "");
        firn_id *all = bulk(gen, 400);
        firn_time now = present(&world.clock);
        firn_id *ids = dated(gen, &now, 200), *both = calloc(800, sizeof *both);
        memcpy(both, all, 400 * sizeof *all);
        memcpy(both + 400, ids, 200 * sizeof *ids);
        free(ids);
        ids = bulk(gen, 200);
        memcpy(both + 600, ids, 200 * sizeof *ids);
        are_unique(both, 800);
        free(all);
        free(ids);
        free(both);
        closed(gen);
    }
}

static void the_last_unused_node_is_left_to_history(void **state) {
    const char *row = "time:41/ms@@2024-01-01 node:2 sequence:12";
    firn_gen *live[3];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        live[i] = opened(row, "");
    }
    refused(row, "max_wait=0", FIRN_EBUSY, "kept for back-dated IDs");
    firn_id *ids = dated(live[0], &past, 5);
    for (size_t i = 0; i < 3; i++) {
        assert_true(field(live[i], &ids[0], "node") != status_of(live[i]).node);
    }
    free(ids);
    firn_gen *job = dating(row, "history=job");
    denied_at(job, &past, 1, FIRN_EEND, "was used");
    closed(job);
    for (size_t i = 0; i < 3; i++) {
        closed(live[i]);
    }
    for (size_t i = 0; i < 3; i++) { /* used nodes come back, history's does not */
        live[i] = opened(row, "");
    }
    refused(row, "max_wait=0", FIRN_EBUSY, "in use");
    for (size_t i = 0; i < 3; i++) {
        closed(live[i]);
    }
}

static void history_fails_closed(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "");
    world.log.fate = FATE_DOWN;
    world.log.fated = -1;
    denied_at(gen, &past, 3, FIRN_ESTORE, "down");
    world.log.fated = 0;
    firn_id *ids = dated(gen, &past, 3), *more;
    world.log.fated = 1;
    denied_at(gen, &past, 3, FIRN_ESTORE, "down");
    world.log.fate = FATE_LOST;
    world.log.fated = 1;
    more = dated(gen, &past, 3); /* the reply may lose three slots, none is issued twice */
    assert_true(slot(gen, &more[0]) > slot(gen, &ids[2]));
    free(ids);
    free(more);
    closed(gen);
    gen = opened("uuid7", "");
    world.entropy.fill = no_entropy;
    denied_at(gen, &past, 3, FIRN_EENTROPY, "");
    closed(gen);
}

/* A caller that waits for its turn while a back-dated call holds the store up. */
typedef struct waiting {
    firn_gen *gen;
    pthread_t thread;
    int code;
} waiting;
static waiting queue;

static void *wait_for_turn(void *self) {
    waiting *state = self;
    firn_id id;
    state->code = firn_next(state->gen, &id, NULL);
    return NULL;
}

static int slow_reserve(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                        firn_error *error) {
    if (strchr(request->key, '@') != NULL) {
        assert_int_equal(pthread_create(&queue.thread, NULL, wait_for_turn, &queue), 0);
        usleep(100000); /* until it waits; if it does not, nothing is found out */
        world.log.fated = 1;
    }
    return recorder_reserve(self, request, first, held, error);
}

static void leave_it(void *self) {
    (void)self; /* the recorder is the world's */
}

static void an_old_failure_is_not_told_again(void **state) {
    (void)state;
    firn_store_ops ops = recorder_ops;
    firn_store *real = world.store;
    ops.reserve = slow_reserve;
    ops.close = leave_it;
    assert_int_equal(firn_store_wrap(&world.store, &ops, &world.log, NULL), FIRN_OK);
    firn_gen *gen = queue.gen = opened("snowflake", "");
    world.log.fate = FATE_DOWN;
    world.log.fated = 1;
    pass(&world.clock, HOUR);
    denied(gen, FIRN_ESTORE, "down");
    queue.code = 1;
    denied_at(gen, &past, 1, FIRN_ESTORE, "down"); /* its own, while the other one waits */
    assert_int_equal(pthread_join(queue.thread, NULL), 0);
    assert_int_equal(queue.code, FIRN_OK);
    closed(gen);
    firn_store_close(world.store);
    world.store = real;
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(sentence, function) {sentence, function, world_new, world_end, NULL}
        TEST("a window is renewed at its half", a_window_is_renewed_at_its_half),
        TEST("windows are as long as they should", windows_are_as_long_as_they_should),
        TEST("after idling the own node is claimed again",
             after_idling_the_own_node_is_claimed_again),
        TEST("a node that was taken meanwhile is left", a_node_taken_while_idle_is_left),
        TEST("what is given back is free at once", what_is_given_back_is_free_at_once),
        TEST("a fixed node is waited for until its mark is near", a_fixed_node_is_waited_for),
        TEST("nodes=4 holds four windows", four_nodes_are_held_at_once),
        TEST("one thread uses all its nodes", one_thread_uses_all_its_nodes),
        TEST("mode=online reserves just what it issues", online_reserves_just_what_it_issues),
        TEST("mode=online keeps every bound", online_keeps_every_bound),
        TEST("a lost reply is asked for again", a_lost_reply_is_asked_for_again),
        TEST("an unknown outcome is settled later", an_unknown_outcome_is_settled_later),
        TEST("a clone is reported at its first claim", a_clone_is_reported_at_its_first_claim),
        TEST("a clone is reported at a renewal", a_clone_is_reported_at_a_renewal),
        TEST("a clone is reported at an early renewal", a_clone_is_reported_at_an_early_renewal),
        TEST("an outage is outlived for half a window", an_outage_is_outlived_for_half_a_window),
        TEST("an old failure is not told again", an_old_failure_is_not_told_again),
        TEST("an outage is reported when opening", an_outage_is_reported_when_opening),
        TEST("has_renewer=true leaves the store to the renewer",
             stepped_leaves_the_store_to_the_renewer),
        TEST("a renewer gets the error of an outage", a_renewer_gets_the_error_of_an_outage),
        TEST("every scheme with a time dates back, uniquely and exactly", every_row_dates_back),
        TEST("every row dates back within its layout", every_row_dates_within_its_layout),
        TEST("an invalid time is refused", no_instant_is_refused),
        TEST("locality-sequential dates from the start of its ten minutes",
             locality_sequential_dates_from_its_start),
        TEST("a dated full tick runs on", a_dated_full_tick_runs_on),
        TEST("one history node is shared by all of a namespace", one_history_node_is_shared),
        TEST("a job's node is its own", a_jobs_node_is_its_own),
        TEST("nodes that issue live are refused to history", live_nodes_are_refused_to_history),
        TEST("dated IDs are never live ones", dated_ids_are_never_live_ones),
        TEST("the last unused node is left to history", the_last_unused_node_is_left_to_history),
        TEST("history without store or entropy fails closed", history_fails_closed),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
