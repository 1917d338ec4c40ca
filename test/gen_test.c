/* SPDX-License-Identifier: MIT */
/* The generator through its public calls, on a clock that is moved by hand: every row that
 * generates, every policy at its edge, every key. The store's part is in
 * gen_store_test.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "duration.h"
#include "fork_memory.h"
#include "generating.h"

/* ---- every row ------------------------------------------------------------------------------ */

static void row_issues(const firn_scheme *row, const char *keys) {
    firn_gen *gen = opened(row->name, keys);
    firn_id first = next(gen), *ids = bulk(gen, MANY);
    firn_fields fields = fields_of(gen, &first);
    if (row->tick_ns > 0) {
        assert_true(fields.value[role(row, FIRN_ROLE_TIME)].low == now_of(gen));
    }
    assert_int_equal(first.bits, row->bits);
    follows(gen, &first, &ids[0]);
    for (size_t i = 1; i < MANY; i++) {
        assert_int_equal(ids[i].bits, row->bits);
        follows(gen, &ids[i - 1], &ids[i]);
    }
    for (uint32_t i = 0; i < row->slice_count; i++) { /* what is the node's stays */
        int what = row->slices[i].role;
        if (what == FIRN_ROLE_NODE || what == FIRN_ROLE_ADDRESS || what == FIRN_ROLE_PROCESS) {
            assert_true(fields_of(gen, &ids[MANY - 1]).value[i].low == fields.value[i].low);
        }
    }
    are_unique(ids, MANY);
    assert_true(status_of(gen).reserved == (row->node_rule == FIRN_NODE_REQUIRED));
    free(ids);
    closed(gen);
}

static void every_row_issues(void **state) {
    (void)state;
    each_row(row_issues, 24);
}

static void row_follows_the_clock(const firn_scheme *row, const char *keys) {
    firn_gen *gen = opened(row->name, keys);
    firn_id last = next(gen);
    for (int i = 0; i < 40 && row->tick_ns > 0; i++) {
        pass(&world.clock, i % 4 == 0 ? 3 * HOUR : 1 + (int64_t)row->tick_ns);
        firn_id id = next(gen);
        assert_true(field(gen, &id, "time") == now_of(gen));
        if (row->sorts != FIRN_SORTS_NO) {
            assert_true(firn_id_cmp(&last, &id) < 0);
        }
        last = id;
    }
    closed(gen);
}

static void every_row_follows_the_clock(void **state) {
    (void)state;
    each_row(row_follows_the_clock, 24);
}

static void row_gives_plain_numbers(const firn_scheme *row, const char *keys) {
    uint64_t numbers[MANY] = {7};
    firn_error error = {0};
    firn_gen *gen = opened(row->name, keys);
    if (row->bits > 64) {
        assert_int_equal(firn_next_u64(gen, numbers, MANY, &error), FIRN_EUSAGE);
        error_text(&error, FIRN_EUSAGE, "firn_next_n");
        assert_true(numbers[0] == 7);
        closed(gen);
        return;
    }
    assert_int_equal(firn_next_u64(gen, numbers, MANY, &error), FIRN_OK);
    closed(gen);
    world_end(NULL);
    assert_int_equal(world_new(NULL), 0); /* the same again */
    gen = opened(row->name, keys);
    firn_id *ids = bulk(gen, MANY);
    for (size_t i = 0; i < MANY; i++) {
        assert_true(ids[i].low == numbers[i]);
    }
    free(ids);
    closed(gen);
}

static void plain_numbers_are_the_same(void **state) {
    (void)state;
    each_row(row_gives_plain_numbers, 24);
}

/* The last tick gives all it has, and then the layout has ended. */
static void row_ends(const firn_scheme *row, const char *keys) {
    firn_scheme mine = *row;
    uint64_t tick, issued = 1, most = ones(width(row, FIRN_ROLE_SEQUENCE)) + 1;
    firn_time end;
    if (strncmp(keys, "bits=", 5) == 0) {
        assert_int_equal(firn_scheme_make(&mine, row->name, NULL, keys + 5, NULL, NULL), FIRN_OK);
    }
    if (!firn_scheme_end(&mine, false, &end)) {
        return;
    }
    world.clock.base = time_after(end, -(int64_t)row->tick_ns);
    firn_gen *gen = opened(row->name, with(keys, slotted(row) && most > 1 ? "start=zero" : ""));
    firn_id id = next(gen), last = id;
    tick = field(gen, &id, "time");
    assert_true(tick == now_of(gen));
    assert_true(strstr(world.notice, "ends at") != NULL);
    if (row->counter_step != 0) {
        free(bulk(gen, 100)); /* of a counter, which may be a process's own */
    }
    for (; slotted(row) && most <= 1 << 16 && issued < most; issued++) {
        id = next(gen);
        follows(gen, &last, &id);
        assert_true(field(gen, &id, "time") == tick);
        last = id;
    }
    if (slotted(row) && most <= 1 << 16) {
        denied(gen, FIRN_ELAYOUT, row->name);
    }
    pass(&world.clock, (int64_t)row->tick_ns);
    denied(gen, FIRN_ELAYOUT, row->name);
    denied_n(gen, 3, FIRN_ELAYOUT, row->name);
    closed(gen);
    refused(row->name, keys, FIRN_ELAYOUT, row->name);
}

static void every_row_ends_with_its_layout(void **state) {
    (void)state;
    each_row(row_ends, 24);
}

/* A tick is full: one more is borrowed, since max_lead is at most a tick; then nothing, and after
 * a tick of time just a tick's. */
static void row_borrows(const firn_scheme *row, const char *keys) {
    uint32_t s = width(row, FIRN_ROLE_SEQUENCE);
    size_t tick_holds = (size_t)1 << s;
    if (!slotted(row) || s > 16) {
        return;
    }
    const char *lead = s > 0 ? "max_lead=1ms max_back=1ms start=zero" : "max_lead=1ms max_back=1ms";
    uint64_t lead_ticks = row->tick_ns >= MS ? 1 : (uint64_t)(MS / row->tick_ns);
    size_t all = (size_t)(lead_ticks + 1) * tick_holds;
    firn_gen *gen = opened(row->name, with(keys, lead));
    denied_n(gen, all + 1, FIRN_ERANGE, "at most");
    firn_id *ids = bulk(gen, all);
    assert_true(slot(gen, &ids[0]) == now_of(gen) << s);
    assert_true(slot(gen, &ids[all - 1]) == (now_of(gen) << s) + all - 1);
    denied(gen, FIRN_EEXHAUSTED, "max_lead=1ms");
    denied_n(gen, 1, FIRN_EEXHAUSTED, "max_lead=1ms");
    pass(&world.clock, (int64_t)row->tick_ns);
    denied_n(gen, tick_holds + 1, FIRN_EEXHAUSTED, "");
    firn_id *more = bulk(gen, tick_holds);
    follows(gen, &ids[all - 1], &more[0]);
    denied(gen, FIRN_EEXHAUSTED, "issue fewer");
    free(ids);
    free(more);
    closed(gen);
}

static void every_full_tick_borrows(void **state) {
    (void)state;
    each_row(row_borrows, 24);
}

/* The clock steps back by a tick: nothing is issued again, and the IDs continue. */
static void row_absorbs(const firn_scheme *row, const char *keys) {
    firn_gen *gen = opened(row->name, keys);
    int64_t back = row->tick_ns > (uint32_t)SECOND / 2 ? SECOND : (int64_t)row->tick_ns;
    firn_id last = next(gen), id;
    for (int i = 0; i < 3 && row->tick_ns > 0; i++) {
        step(&world.clock, i == 0 ? -back : 0);
        id = next(gen);
        follows(gen, &last, &id);
        assert_true(field(gen, &id, "time") == field(gen, &last, "time") || slotted(row));
        last = id;
    }
    assert_int_equal(status_of(gen).steps_back_left, 0);
    closed(gen);
}

static void every_row_absorbs_a_tick_back(void **state) {
    (void)state;
    each_row(row_absorbs, 24);
}

/* The clock steps back by a day: generators continue on another node, at once, at the clock's time.
 * Those without a store do so with back=leave. */
static void row_leaves(const firn_scheme *row, const char *keys) {
    char leave[160];
    if (row->node_rule == FIRN_NODE_REQUIRED && row->node_fields != NULL) {
        return; /* its node is always given, so it waits */
    }
    bool reserved = row->node_rule == FIRN_NODE_REQUIRED;
    snprintf(leave, sizeof leave, "%s%s", keys, reserved ? "" : " back=leave");
    firn_gen *gen = opened(row->name, leave);
    firn_id before = next(gen), *ids;
    if (row->tick_ns > 0) {
        step(&world.clock, -DAY);
        ids = bulk(gen, MANY);
        assert_true(field(gen, &ids[0], "time") == now_of(gen));
        assert_int_equal(status_of(gen).steps_back_left, 1);
        are_unique(ids, MANY);
        free(ids);
        int process = role(row, FIRN_ROLE_PROCESS);
        if (process >= 0) {
            firn_id after = next(gen);
            assert_true(fields_of(gen, &before).value[process].low !=
                        fields_of(gen, &after).value[process].low);
        }
        assert_int_equal(world.clock.pauses, 0);
    }
    closed(gen);
}

static void every_row_leaves_after_a_day_back(void **state) {
    (void)state;
    each_row(row_leaves, 24);
}

/* Without a store order wins: the time stays where it was, a tick that is used up is followed by
 * the next, further ahead than max_lead, and the clock decides again when it has passed the last
 * ID. */
static void row_stays(const firn_scheme *row, const char *keys) {
    char tight[160];
    if (row->node_rule == FIRN_NODE_REQUIRED || row->tick_ns == 0) {
        return;
    }
    snprintf(tight, sizeof tight, "%s max_lead=0 max_back=0", keys);
    firn_gen *gen = opened(row->name, tight);
    firn_id last = next(gen), id;
    const uint64_t began = field(gen, &last, "time"), lead = 2;
    uint32_t s = width(row, FIRN_ROLE_SEQUENCE);
    const uint64_t most = s == 0 || s > 12 ? 40 : (lead + 2) << s;
    step(&world.clock, -DAY);
    world.notices = 0;
    for (uint64_t i = 0; i < most; i++) {
        id = next(gen);
        follows(gen, &last, &id);
        assert_true(field(gen, &id, "time") >= field(gen, &last, "time"));
        assert_true(row->sorts != FIRN_SORTS_YES || firn_id_cmp(&id, &last) > 0);
        last = id;
    }
    assert_true(field(gen, &last, "time") - began <= most);
    assert_true(!slotted(row) || most == 40 || field(gen, &last, "time") - began > lead);
    assert_int_equal(world.notices, 1);
    assert_non_null(strstr(world.notice, "the time of IDs stays until the clock has caught up"));
    firn_status status = status_of(gen);
    assert_true(status.stays && status.steps_back_left == 1 && status.claims == 1);
    firn_id *ids = bulk(gen, status.max_count > 2 ? 3 : 1); /* a lot continues as single IDs do */
    assert_true(field(gen, &ids[0], "time") >= field(gen, &last, "time"));
    free(ids);
    pass(&world.clock, DAY + 10 * SECOND);
    assert_true(next_field(gen, "time") == now_of(gen));
    assert_false(status_of(gen).stays);
    assert_int_equal(world.notices, 1);
    closed(gen);
}

static void every_row_without_a_store_stays_after_a_day_back(void **state) {
    (void)state;
    each_row(row_stays, 24);
}

static void max_count_is_exact(void **state) {
    (void)state;
    const char *const layouts[][2] = {
        {"snowflake", "max_lead=2ms max_back=2ms"},
        {"snowflake", "max_lead=0 max_back=0"},
        {"0x0:1 time:33/s node:20 sequence:10", ""},
        {"0x0:1 time:41/ms node:10 counter:12", "max_lead=2ms max_back=2ms"},
        {"xid", "max_lead=0 max_back=0"},
    };
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        firn_status status = {.size = sizeof status};
        firn_gen *gen = opened(layouts[i][0], layouts[i][1]);
        firn_gen_status(gen, &status);
        assert_true(status.max_count > 0);
        size_t most = status.max_count < 100000 ? (size_t)status.max_count : 100000;
        if (most == (size_t)status.max_count) {
            denied_n(gen, most + 1, FIRN_ERANGE, "");
        }
        free(bulk(gen, most));
        closed(gen);
    }
    firn_status status = {.size = sizeof status};
    firn_gen *gen = opened("uuid4", "");
    firn_gen_status(gen, &status);
    assert_int_equal(status.max_count, 1 << 30);
    closed(gen);
}

/* ---- a full tick ---------------------------------------------------------------------------- */

static void a_full_tick_is_slept_through(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "full=wait max_lead=2ms max_back=2ms");
    uint64_t begin = now_of(gen);
    firn_id *ids = bulk(gen, 3 * 4096);
    assert_int_equal(world.clock.pauses, 0);
    firn_id id = next(gen);
    follows(gen, &ids[3 * 4096 - 1], &id);
    assert_int_equal(world.clock.paused_ns, MS);
    assert_true(field(gen, &id, "time") == begin + 3);
    free(ids);
    ids = bulk(gen, 3 * 4096); /* the rest of that tick, and two more */
    assert_int_equal(world.clock.paused_ns, 4 * MS);
    free(ids);
    denied_n(gen, 3 * 4096 + 1, FIRN_ERANGE, "at most 12288"); /* no wait would do */
    assert_int_equal(world.clock.paused_ns, 4 * MS);
    closed(gen);
}

static void a_sleep_has_its_bound(void **state) {
    (void)state;
    firn_gen *gen = opened("0x0:1 time:33/s node:20 sequence:10",
                           "full=wait max_lead=0 max_back=0 max_wait=40ms");
    free(bulk(gen, 1024));
    denied(gen, FIRN_EEXHAUSTED, "max_lead=0");
    assert_int_equal(world.clock.paused_ns, 40 * MS);
    closed(gen);
}

static void keys_have_their_bounds(void **state) {
    (void)state;
    char keys[5000] = "node=1";
    memset(keys + 6, ' ', sizeof keys - 7);
    refused("snowflake", keys, FIRN_EUSAGE, "the keys have 4999 characters: write at most");
    closed(opened("snowflake", "max_lead=2.5s window=1.50s"));
    closed(opened("snowflake", "max_lead=1.0020000000s"));
    refused("snowflake", "max_lead=2.5ns", FIRN_EUSAGE, "max_lead");
    refused("snowflake", "max_lead=0.0000001s", FIRN_EUSAGE, "max_lead");
    refused("snowflake", "max_lead=2.s", FIRN_EUSAGE, "max_lead");
    refused("snowflake", "max_lead=9223372036854775807.9min", FIRN_ERANGE, "max_lead");
}

static void full_fail_never_borrows(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "full=fail");
    firn_id *ids = bulk(gen, 4096);
    assert_true(field(gen, &ids[4095], "time") == now_of(gen));
    denied(gen, FIRN_EEXHAUSTED, "used up in this tick, and full=fail borrows none");
    pass(&world.clock, MS);
    assert_true(next_slot(gen) == now_of(gen) << 12);
    assert_int_equal(world.clock.pauses, 0);
    free(ids);
    closed(gen);
}

static void exactly_n_or_none(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "max_lead=1ms max_back=1ms");
    firn_id *ids = bulk(gen, 8000);
    denied_n(gen, 193, FIRN_EEXHAUSTED, "");
    firn_id *rest = bulk(gen, 192); /* the refusal took nothing */
    follows(gen, &ids[7999], &rest[0]);
    free(ids);
    free(rest);
    closed(gen);
}

/* A refusal starts no tick, and n IDs may span as many ticks as the lead has, with or without a
 * window. */
static void counters_issue_exactly_n_or_none(void **state) {
    (void)state;
    firn_gen *gen = opened("time:33/s random:27 counter:4", "max_lead=0 max_back=0");
    denied_n(gen, 17, FIRN_ERANGE, "");
    free(bulk(gen, 15));
    denied_n(gen, 2, FIRN_EEXHAUSTED, "");
    next(gen);
    denied(gen, FIRN_EEXHAUSTED, "");
    closed(gen);
    gen = opened("time:33/s node:27 counter:4", "max_lead=10s");
    free(bulk(gen, 8));
    denied_n(gen, 11 * 16 - 7, FIRN_EEXHAUSTED, "");
    free(bulk(gen, 11 * 16 - 8));
    denied(gen, FIRN_EEXHAUSTED, "");
    closed(gen);
}

static void none_is_easy_and_too_many_is_reported(void **state) {
    firn_gen *gen = opened("uuid7", "");
    firn_error error = {0};
    (void)state;
    assert_int_equal(firn_next_n(gen, NULL, 0, &error), FIRN_OK);
    assert_int_equal(firn_next_n(gen, NULL, ((size_t)1 << 30) + 1, &error), FIRN_ERANGE);
    error_text(&error, FIRN_ERANGE, "at most 1073741824");
    closed(gen);
}

/* ---- steps back ----------------------------------------------------------------------------- */

static void back_ms_is_absorbed_and_no_more(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "");
    uint64_t node = status_of(gen).node, last = next_slot(gen);
    step(&world.clock, -SECOND);
    for (int i = 0; i < 5; i++) {
        assert_true(next_slot(gen) == ++last);
    }
    firn_status status = status_of(gen);
    assert_int_equal(status.steps_back_absorbed, 1);
    assert_int_equal(status.steps_back_left, 0);
    assert_int_equal(status.lead_ns, 1000 * MS - 123456789 % MS); /* of the tick's beginning */
    pass(&world.clock, SECOND + MS);
    assert_true(next_slot(gen) == now_of(gen) << 12);
    assert_true(status_of(gen).node == node);
    step(&world.clock, -SECOND - 1);
    next(gen);
    assert_true(status_of(gen).node != node);
    assert_int_equal(status_of(gen).steps_back_left, 1);
    closed(gen);
}

static void a_claimed_node_is_left_for_another(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "");
    firn_status before = status_of(gen);
    char key[24];
    uint64_t last = next_slot(gen);
    snprintf(key, sizeof key, "%" PRIu64, before.node);
    step(&world.clock, -DAY);
    assert_true(next_slot(gen) == now_of(gen) << 12);
    firn_status after = status_of(gen);
    assert_true(after.node != before.node && after.held);
    assert_int_equal(after.claims, 2);
    assert_int_equal(after.steps_back_left, 1);
    assert_int_equal(after.give_backs, 1);
    assert_true(mark_of(&world.log, "snowflake", key) == (int64_t)last + 1);
    assert_non_null(strstr(world.notice, "claims another node"));
    pass(&world.clock, DAY + SECOND); /* the old node is free again, and one of the two is taken */
    next(gen);
    closed(gen);
}

static void a_fixed_node_waits_for_the_clock(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "node=7 max_wait=800ms");
    uint64_t last = next_slot(gen);
    step(&world.clock, -1500 * MS);
    assert_true(next_slot(gen) > last);
    assert_true(world.clock.paused_ns >= 498 * MS && world.clock.paused_ns <= 501 * MS);
    last = next_slot(gen);
    step(&world.clock, -DAY);
    world.clock.paused_ns = 0;
    denied(gen, FIRN_ECLOCK, "max_back=1s");
    assert_int_equal(world.clock.paused_ns, 800 * MS);
    denied_n(gen, 2, FIRN_ECLOCK, "still 863");
    pass(&world.clock, DAY);
    assert_true(next_slot(gen) > last);
    assert_int_equal(status_of(gen).node, 7);
    assert_int_equal(status_of(gen).steps_back_left, 2);
    closed(gen);
}

static void back_fail_fails_at_once_and_heals(void **state) {
    (void)state;
    const char *keys[] = {"back=fail", "back=fail node=7"};
    for (int i = 0; i < 2; i++) {
        firn_gen *gen = opened("snowflake", keys[i]);
        uint64_t last = next_slot(gen), node = status_of(gen).node;
        step(&world.clock, -HOUR);
        denied(gen, FIRN_ECLOCK, "max_back=1s");
        denied_n(gen, 10, FIRN_ECLOCK, "fix the clock");
        pass(&world.clock, HOUR - 1100 * MS);
        denied(gen, FIRN_ECLOCK, "");
        assert_int_equal(world.clock.pauses, 0);
        pass(&world.clock, 101 * MS);
        assert_true(next_slot(gen) == last + 1);
        assert_true(status_of(gen).node == node);
        closed(gen);
        pass(&world.clock, 2 * SECOND);
    }
}

static void schemes_without_a_node_wait_when_asked(void **state) {
    (void)state;
    const char *rows[] = {"uuid1",       "uuid7",     "ulid",   "objectid", "ksuid",
                          "simpleflake", "timeflake", "pushid", "scru128"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        firn_gen *gen = opened(rows[i], "back=fail");
        firn_id last = next(gen);
        step(&world.clock, -HOUR);
        denied(gen, FIRN_ECLOCK, "max_back=1s");
        denied(gen, FIRN_ECLOCK, "");
        pass(&world.clock, HOUR);
        firn_id id = next(gen);
        assert_true(field(gen, &id, "time") >= field(gen, &last, "time"));
        closed(gen);
    }
}

/* ---- a jump ahead --------------------------------------------------------------------------- */

static void a_jump_ahead_is_believed_after_two_seconds(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "node=7");
    next(gen);
    uint64_t begin = now_of(gen);
    step(&world.clock, HOUR);
    assert_true(next_field(gen, "time") == begin);
    for (int i = 1; i < 20; i++) {
        pass(&world.clock, 100 * MS);
        assert_true(next_field(gen, "time") == begin + 100 * (uint64_t)i);
    }
    assert_int_equal(status_of(gen).jumps_ahead, 1);
    pass(&world.clock, 100 * MS);
    assert_true(next_field(gen, "time") == begin + 3602000);
    assert_int_equal(status_of(gen).jumps_ahead, 1);
    closed(gen);
}

/* Steps in ms, each with half a second of IDs before it: the second is judged by the last reading
 * that was used. */
static void row_keeps_order_over_steps(const firn_scheme *row, const char *keys) {
    static const int64_t steps[][3] = {{3500, 6500, 0},
                                       {2000, 6500, 0},
                                       {3500, -2000, 0},
                                       {4900, -4900, 4900},
                                       {-3000, 3000, 10000}};
    if (row->node_rule == FIRN_NODE_REQUIRED || row->tick_ns == 0) {
        return;
    }
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        firn_gen *gen = opened(row->name, keys);
        firn_id last = next(gen);
        for (size_t k = 0; k < 4; k++) {
            for (int64_t ms = 0; ms < (k < 3 ? 500 : 3000); ms += 10) {
                firn_id id = next(gen);
                assert_true(field(gen, &id, "time") >= field(gen, &last, "time"));
                assert_true(row->sorts != FIRN_SORTS_YES || ms == 0 || firn_id_cmp(&id, &last) > 0);
                last = id;
                pass(&world.clock, 10 * MS);
            }
            step(&world.clock, k < 3 ? steps[i][k] * MS : 0);
        }
        pass(&world.clock, 10 * SECOND);
        assert_true(next_field(gen, "time") == now_of(gen));
        bool back = steps[i][0] < 0 || steps[i][1] < 0;
        assert_int_equal(status_of(gen).steps_back_left, back ? 1 : 0);
        assert_int_equal(status_of(gen).claims, 1);
        closed(gen);
    }
}

static void every_row_keeps_order_over_steps(void **state) {
    (void)state;
    each_row(row_keeps_order_over_steps, 24);
}

/* The jump may come from a machine that runs twice. */
static void a_jump_ahead_asks_the_store_first(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "");
    next(gen);
    uint64_t begin = now_of(gen), node = status_of(gen).node;
    step(&world.clock, HOUR);
    assert_true(next_field(gen, "time") == begin + 1); /* the old time, in a later tick */
    assert_true(status_of(gen).node != node && status_of(gen).claims == 2);
    node = status_of(gen).node;
    for (int i = 0; i < 15; i++) { /* once for each jump */
        pass(&world.clock, 100 * MS);
        next(gen);
    }
    assert_true(status_of(gen).node == node && status_of(gen).claims == 2);
    pass(&world.clock, SECOND);
    assert_true(next_field(gen, "time") > begin + 3600000);
    closed(gen);
}

static void a_jump_that_is_taken_back_leaves_no_trace(void **state) {
    (void)state;
    firn_gen *gen = opened("uuid7", "");
    next(gen);
    uint64_t begin = now_of(gen);
    step(&world.clock, 6 * SECOND);
    assert_true(next_field(gen, "time") == begin);
    pass(&world.clock, SECOND);
    assert_true(next_field(gen, "time") == begin + 1000);
    step(&world.clock, -6 * SECOND);
    assert_true(next_field(gen, "time") == begin + 1000);
    pass(&world.clock, SECOND);
    assert_true(next_field(gen, "time") == begin + 2000);
    step(&world.clock, 5 * SECOND); /* no more than 5 s: accepted */
    assert_true(next_field(gen, "time") == begin + 7000);
    assert_int_equal(status_of(gen).jumps_ahead, 1);
    assert_int_equal(status_of(gen).steps_back_left, 0);
    closed(gen);
}

/* ---- where the sequence of a tick begins ---------------------------------------------------- */

static void a_start_at_zero(void **state) {
    (void)state;
    firn_gen *gen = opened("leaf", "start=zero");
    for (int i = 0; i < 100; i++) {
        assert_int_equal(next_field(gen, "sequence"), 0);
        assert_int_equal(next_field(gen, "sequence"), 1);
        pass(&world.clock, MS);
    }
    closed(gen);
}

/* Also in the first tick of a window: a thousand programs that make one ID each are spread, too. */
static void a_start_at_random(void **state) {
    (void)state;
    const struct {
        const char *scheme, *keys;
        uint64_t below;
    } starts[] = {{"leaf", "", 100},
                  {"region", "", 10},
                  {"uuid7", "", 1 << 25},
                  {"snowflake", "start=random:4096", 4096},
                  {"snowflake", "start=random:7 ordering=thread", 7}};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        uint64_t least[2] = {UINT64_MAX, UINT64_MAX}, most[2] = {0, 0};
        for (int j = 0; j < 60; j++) {
            firn_gen *gen = opened(starts[i].scheme, starts[i].keys);
            for (int k = 0; k < 2; k++) {
                uint64_t seq = next_field(gen, "sequence");
                least[k] = seq < least[k] ? seq : least[k];
                most[k] = seq > most[k] ? seq : most[k];
                pass(&world.clock, MS);
            }
            closed(gen);
        }
        for (int k = 0; k < 2; k++) {
            assert_true(most[k] < starts[i].below && most[k] >= starts[i].below / 2);
            assert_true(least[k] < starts[i].below / 2);
        }
    }
}

static void a_rolling_start(void **state) {
    (void)state;
    firn_gen *gen = opened("js53", "start=rolling");
    for (uint64_t i = 0; i < 40; i++) {
        assert_true(next_field(gen, "sequence") == i % 16); /* a quarter of a tick's IDs */
        assert_true(next_field(gen, "sequence") == i % 16 + 1);
        pass(&world.clock, MS);
    }
    closed(gen);
}

static void starts_are_checked(void **state) {
    (void)state;
    refused("snowflake", "start=random:0", FIRN_ERANGE, "1 to 4096");
    refused("snowflake", "start=random:4097", FIRN_ERANGE, "1 to 4096");
    refused("snowflake", "start=random", FIRN_EUSAGE, "random:N");
    refused("snowflake", "start=one", FIRN_EUSAGE, "zero, random:N or rolling");
    refused("objectid", "start=rolling", FIRN_EUSAGE, "need a sequence");
    refused("uuid1", "start=random:5", FIRN_EUSAGE, "need a sequence");
}

static void what_does_not_fit_together_is_refused(void **state) {
    (void)state;
    refused("snowflake", "a=1 b=1 c=1 d=1 e=1 f=1 g=1 h=1 i=1 j=1 k=1 l=1 m=1 n=1 o=1 p=1 q=1",
            FIRN_EUSAGE, "too many keys: leave 'm' out");
    refused("snowflake", "max_lead=5ms max_back=6ms", FIRN_ERANGE, "lower max_back too");
    refused("time:27/us@@2025-10-09T08:52:30Z sequence:37", "max_lead=10s", FIRN_ERANGE,
            "use fewer bits");
    refused("sequence:12 time:42/ms@@2025-01-01 node:10", "", FIRN_ERANGE, "set unsigned=1");
    refused("objectid-legacy", "machine=ticket", FIRN_EUSAGE, "machine=ticket is");
    firn_gen *gen = NULL;
    firn_error error = {0};
    const firn_config config = {.size = sizeof config,
                                .scheme = "uuid4",
                                .keys = "entropy=system",
                                .entropy = &world.entropy};
    assert_int_equal(firn_open_with(&gen, &config, &error), FIRN_EUSAGE);
    error_text(&error, FIRN_EUSAGE, "are both set");
}

/* ---- order ---------------------------------------------------------------------------------- */

static void calls_rise_in_either_order(void **state) {
    (void)state;
    const char *keys[] = {"ordering=strict", "ordering=thread", "ordering=thread start=random:9"};
    for (size_t i = 0; i < 3; i++) {
        firn_gen *gen = opened("snowflake", keys[i]);
        firn_id last = next(gen);
        for (size_t j = 0; j < 3000; j++) {
            size_t n = j % 7 == 3 ? 1 + j % 150 : 1;
            firn_id id = {0, 0, 0, 0}, *ids = n > 1 ? bulk(gen, n) : NULL;
            if (n == 1) {
                id = next(gen);
            }
            const firn_id *got = n > 1 ? ids : &id;
            for (size_t k = 0; k < n; k++) {
                assert_true(firn_id_cmp(&last, &got[k]) < 0);
                last = got[k];
            }
            free(ids);
            pass(&world.clock, j % 3 == 0 ? MS / 2 : 0);
            step(&world.clock, j % 100 == 50 ? -3 * MS : 0);
        }
        closed(gen);
        pass(&world.clock, 3 * SECOND);
    }
}

static void a_leased_block_is_not_kept_past_its_tick(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "ordering=thread");
    for (int i = 0; i < 100; i++) {
        assert_true(next_field(gen, "time") == now_of(gen));
        pass(&world.clock, MS);
    }
    closed(gen);
}

/* ---- signs ---------------------------------------------------------------------------------- */

static void negative_ids_are_refused_unless_unsigned(void **state) {
    (void)state;
    const char *rows[] = {"instagram", "region", "simpleflake"};
    for (size_t i = 0; i < 3; i++) {
        firn_time end;
        char text[FIRN_TEXT_SIZE];
        assert_true(firn_scheme_end(firn_scheme_find(rows[i]), false, &end));
        world.clock.base = end;
        atomic_store(&world.clock.wall_ns, 0);
        refused(rows[i], "", FIRN_ELAYOUT, "unsigned=1");
        firn_gen *gen = opened(rows[i], "unsigned=1");
        for (int j = 0; j < 3; j++) {
            firn_id id = next(gen);
            assert_int_equal(id.low >> 63, 1);
            assert_true(field(gen, &id, "time") == now_of(gen));
            assert_int_equal(firn_format(text, &id, FIRN_FORM_DEC)[0], '-');
            pass(&world.clock, DAY);
        }
        closed(gen);
    }
}

/* The sign belongs to the column, not to the text of the scheme. */
static void any_64_bits_end_as_signed_numbers(void **state) {
    (void)state;
    const char *rows[] = {"lable-sequential", "discord", "tsid"}; /* in the order of their ends */
    for (size_t i = 0; i < 3; i++) {
        firn_scheme column = *firn_scheme_find(rows[i]);
        firn_error error;
        firn_time end, told;
        firn_id id;
        column.form = FIRN_FORM_DEC;
        assert_true(firn_scheme_end(&column, false, &end));
        firn_gen *gen = opened(rows[i], "unsigned=0");
        firn_status status = {.size = sizeof status};
        firn_gen_status(gen, &status);
        assert_int_equal(firn_at(gen, &end, &id, 1, &error), FIRN_ELAYOUT);
        error_text(&error, FIRN_ELAYOUT, "add unsigned=1");
        told = (firn_time){end.sec - 60, 0};
        assert_int_equal(firn_at(gen, &told, &id, 1, &error), FIRN_OK);
        assert_int_equal(id.low >> 63, 0);
        closed(gen);
        world.clock.base = end;
        atomic_store(&world.clock.wall_ns, 0);
        refused(rows[i], "unsigned=0", FIRN_ELAYOUT, "unsigned=1");
        gen = opened(rows[i], "");
        id = next(gen);
        assert_int_equal(id.low >> 63, 1);
        closed(gen);
        closed(opened(rows[i], "unsigned=1"));
    }
}

static void a_node_in_the_sign_bit(void **state) {
    (void)state;
    const char *row = "node:10 time:41/ms@@2020-01-01 sequence:13";
    refused(row, "node=512", FIRN_ERANGE, "unsigned=1");
    closed(opened(row, "node=512 unsigned=1 ns=other"));
    for (int i = 0; i < 40; i++) {
        firn_gen *gen = opened(row, "");
        firn_id id = next(gen);
        assert_int_equal(id.low >> 63, 0);
        closed(gen);
    }
}

/* ---- counters and random bits --------------------------------------------------------------- */

static int all_ones(void *self, void *out, size_t size) {
    (void)self;
    memset(out, 0xff, size);
    return FIRN_OK;
}

static void counters_pass_their_end(void **state) {
    const char *rows[] = {"objectid", "xid", "objectid-legacy"};
    (void)state;
    world.entropy.fill = all_ones; /* so they start at the end */
    for (size_t i = 0; i < 3; i++) {
        firn_gen *gen = opened(rows[i], "");
        for (uint64_t j = 0; j < 5; j++) {
            assert_true(next_field(gen, "counter") == j);
        }
        closed(gen);
    }
}

static void a_counter_meets_its_start_within_a_tick(void **state) {
    (void)state;
    firn_gen *gen = opened("time:33/s random:27 counter:4", "max_lead=1s");
    uint64_t begin = now_of(gen), seen[2] = {0, 0};
    for (int i = 0; i < 32; i++) { /* a tick's, then a borrowed one's */
        firn_id id = next(gen);
        assert_true(field(gen, &id, "time") == begin + (uint64_t)i / 16);
        seen[i / 16] |= UINT64_C(1) << field(gen, &id, "counter");
    }
    assert_true(seen[0] == 0xffff && seen[1] == 0xffff);
    denied(gen, FIRN_EEXHAUSTED, "max_lead=1s");
    pass(&world.clock, SECOND);
    assert_true(next_field(gen, "time") == begin + 2);
    closed(gen);
}

static void a_reserved_counter_fills_its_ticks(void **state) {
    (void)state;
    firn_gen *gen = opened("time:33/s node:27 counter:4", "");
    uint64_t begin = now_of(gen);
    for (uint64_t i = 0; i < 32; i++) {
        assert_true(next_field(gen, "time") == begin + i / 16);
    }
    denied(gen, FIRN_EEXHAUSTED, "");
    assert_true(status_of(gen).next == (int64_t)begin + 2); /* begun ticks are used up */
    char key[24];
    snprintf(key, sizeof key, "%" PRIu64, status_of(gen).node);
    closed(gen);
    assert_true(mark_of(&world.log, world.log.ns, key) == (int64_t)begin + 2);
}

static void locality_counts_in_its_own_step(void **state) {
    (void)state;
    world.entropy.fill = all_ones;
    firn_gen *gen = opened("locality", "");
    uint32_t counter = UINT32_MAX;
    for (int i = 0; i < 100; i++) {
        counter += 198491317; /* written after the addition */
        assert_true(next_field(gen, "counter") == counter);
        pass(&world.clock, i % 3 == 0 ? MS : 0);
    }
    closed(gen);
}

static void locality_sequential_starts_at_a_hash_of_the_time(void **state) {
    (void)state;
    firn_time now = present(&world.clock);
    firn_gen *gen = opened("locality-sequential", "");
    uint64_t start = firn_locality_start(&now);
    for (uint64_t i = 1; i < 100; i++) {
        assert_true(next_field(gen, "counter") == ((start + i) & UINT32_MAX));
        pass(&world.clock, i % 30 == 0 ? HOUR : MS);
    }
    closed(gen);
}

static int wrong_wall(void *self, firn_time *now) {
    static const firn_time wrong[] = {{1760000000, -1},        {1760000000, 1000000000},
                                      {1760000000, INT32_MIN}, {INT64_MAX, 0},
                                      {INT64_MIN, 0},          {INT64_MIN, -1}};
    *now = wrong[*(unsigned *)self % (sizeof wrong / sizeof wrong[0])];
    return FIRN_OK;
}

static int no_steady(void *self, int64_t *ns) {
    (void)self;
    *ns = 5;
    return FIRN_OK;
}

/* A clock of the caller's that returns an invalid time. */
static void a_clock_must_give_instants(void **state) {
    unsigned which = 0;
    (void)state;
    world.hands = (firn_clock){1, &which, wrong_wall, no_steady, world.hands.pause};
    for (; which < 6; which++) {
        refused("snowflake", "", FIRN_ECLOCK, "ns from 0 to 999999999");
        refused("uuid7", "", FIRN_ECLOCK, "ns from 0 to 999999999");
    }
}

static void ulid_adds_one_until_nothing_is_left(void **state) {
    (void)state;
    firn_gen *gen = opened("ulid", "");
    firn_id last = next(gen);
    for (int i = 0; i < 100; i++) {
        firn_id id = next(gen);
        follows(gen, &last, &id);
        last = id;
    }
    pass(&world.clock, MS);
    firn_id drawn = next(gen);
    assert_true(fields_of(gen, &drawn).value[1].low != fields_of(gen, &last).value[1].low + 1);
    closed(gen);
    world.entropy.fill = all_ones;
    gen = opened("ulid", "max_lead=3ms max_back=3ms");
    for (uint64_t i = 0; i < 4; i++) { /* the greatest random part has no next */
        assert_true(next_field(gen, "time") == now_of(gen) + i);
    }
    denied(gen, FIRN_EEXHAUSTED, "max_lead=3ms");
    closed(gen);
}

static void uuid7_carries_into_the_time(void **state) {
    (void)state;
    const char *small = "time:48/ms version=7:4 sequence@4:6 variant=2:2 sequence@0:4 random:64";
    firn_gen *gen = opened(small, "start=random:512");
    firn_id *ids = bulk(gen, 5000);
    uint64_t begin = now_of(gen);
    assert_true(field(gen, &ids[0], "sequence") < 512 && field(gen, &ids[0], "time") == begin);
    for (size_t i = 1; i < 5000; i++) {
        follows(gen, &ids[i - 1], &ids[i]);
        assert_true(firn_id_cmp(&ids[i - 1], &ids[i]) < 0);
    }
    assert_true(field(gen, &ids[4999], "time") - begin >= 4);
    free(ids);
    closed(gen);
}

static void random_nodes_are_multicast(void **state) {
    (void)state;
    const char *rows[] = {"uuid1", "uuid1-swapped", "uuid6", "flake"};
    for (size_t i = 0; i < 4; i++) {
        uint64_t all = UINT64_MAX, any = 0;
        for (int j = 0; j < 50; j++) {
            firn_gen *gen = opened(rows[i], "");
            uint64_t node = next_field(gen, i == 3 ? "worker" : "node");
            all &= node;
            any |= node;
            closed(gen);
        }
        assert_true(all == UINT64_C(1) << 40 && any == ones(48));
    }
}

static void without_entropy_nothing_is_issued(void **state) {
    (void)state;
    firn_gen *gen = opened("simpleflake", ""), *other = opened("uuid7", "");
    next(gen);
    next(other);
    world.entropy.fill = no_entropy;
    denied(gen, FIRN_EENTROPY, "");
    denied_n(gen, 20, FIRN_EENTROPY, "");
    denied(other, FIRN_EENTROPY, "");
    denied_n(other, 20, FIRN_EENTROPY, "");
    refused("objectid", "", FIRN_EENTROPY, "");
    refused("snowflake", "", FIRN_EENTROPY, "");
    closed(gen);
    closed(other);
}

/* ---- who am I ------------------------------------------------------------------------------- */

static void a_given_identity_is_reserved(void **state) {
    (void)state;
    const struct {
        const char *scheme, *keys, *key;
    } rows[] = {{"flake", "worker=00:00:00:00:01:02", "258"},
                {"uuid1", "clock_seq=1 node=0x5", "281474976710661"},
                {"uuid6", "clock_seq=2 node=6", "562949953421318"},
                {"objectid-legacy", "machine=1 pid=2", "65538"},
                {"xid", "machine=1 pid=3", "65539"},
                {"locality", "mac=1 pid=1", "268435457"},
                {"locality-sequential", "mac=2 pid=1", "268435458"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const firn_scheme *row = firn_scheme_find(rows[i].scheme);
        firn_gen *gen = opened(rows[i].scheme, rows[i].keys);
        firn_id *ids = bulk(gen, MANY);
        assert_true(status_of(gen).reserved && status_of(gen).held);
        assert_true(mark_of(&world.log, row->ns != NULL ? row->ns : row->name, rows[i].key) > 0);
        for (size_t j = 1; j < MANY; j++) {
            follows(gen, &ids[j - 1], &ids[j]);
        }
        refused(rows[i].scheme, with(rows[i].keys, "max_wait=0"), FIRN_EBUSY, "in use");
        free(ids);
        closed(gen);
    }
}

static void half_an_identity_is_not_a_node(void **state) {
    (void)state;
    const char *rows[][2] = {{"xid", "machine=1"}, {"locality", "pid=4"}, {"xid", "pid=4"}};
    for (size_t i = 0; i < 3; i++) {
        firn_gen *gen = opened(rows[i][0], rows[i][1]);
        assert_false(status_of(gen).reserved);
        next(gen);
        closed(gen);
    }
    assert_int_equal(world.log.reserves, 0);
}

/* With node given, clock_seq is claimed. */
static void uuid1_claims_its_clock_seq(void **state) {
    (void)state;
    firn_gen *a = opened("uuid1", "node=0x010203040506"),
             *b = opened("uuid6", "node=0x010203040506");
    assert_true(next_field(a, "node") == 0x010203040506 && next_field(b, "node") == 0x010203040506);
    assert_true(next_field(a, "clock_seq") != next_field(b, "clock_seq"));
    assert_int_equal(keys_of(&world.log, "uuid1"), 2);
    closed(a);
    closed(b);
}

static void ordinal_is_the_hosts(void **state) {
    char host[256] = "", expected[24];
    unsigned long number;
    (void)state;
    gethostname(host, sizeof host - 1);
    const char *dash = strrchr(host, '-');
    if (dash == NULL || dash[1] == '\0' || strspn(dash + 1, "0123456789") != strlen(dash + 1)) {
        refused("snowflake", "node=ordinal", FIRN_EUSAGE, "does not end in a dash and a number");
        return;
    }
    number = strtoul(dash + 1, NULL, 10);
    if (number > 1023) {
        refused("snowflake", "node=ordinal", FIRN_ERANGE, "10 bits");
        return;
    }
    firn_gen *gen = opened("snowflake", "node=ordinal");
    snprintf(expected, sizeof expected, "%lu", number);
    assert_true(mark_of(&world.log, "snowflake", expected) > 0);
    closed(gen);
}

static void region_is_a_business_number(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 8; i++) {
        char keys[16];
        snprintf(keys, sizeof keys, "region=%" PRIu64, i);
        firn_gen *gen = opened("region", keys);
        assert_true(next_field(gen, "region") == i);
        closed(gen);
    }
    firn_gen *gen = opened("region", "");
    assert_int_equal(next_field(gen, "region"), 0);
    closed(gen);
    refused("region", "region=8", FIRN_ERANGE, "3 bits");
    refused("region", "region=-1", FIRN_EUSAGE, "region=-1");
}

static void tickets_are_fresh_until_they_are_used_up(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 4; i++) {
        firn_gen *gen = opened("baidu", "bits=29/2/32 worker=ticket");
        assert_true(next_field(gen, "worker") == i);
        closed(gen);
    }
    refused("baidu", "bits=29/2/32 worker=ticket", FIRN_EEND, "all 4 tickets");
}

static void a_namespace_keeps_its_row(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "ns=orders");
    refused("leaf", "ns=orders", FIRN_ENAMESPACE, "orders");
    refused("snowflake", "ns=orders epoch=2020-01-01", FIRN_ENAMESPACE, "another ns=");
    closed(opened("snowflake", "ns=orders"));
    closed(opened("snowflake", "epoch=2020-01-01")); /* its own namespace */
    assert_int_equal(keys_of(&world.log, "snowflake"), 0);
    closed(gen);
}

static void a_node_is_one_number_or_its_fields(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "node=35");
    assert_int_equal(next_field(gen, "datacenter"), 1);
    assert_int_equal(next_field(gen, "worker"), 3);
    assert_int_equal(status_of(gen).node, 35);
    refused("snowflake", "datacenter=1 worker=3 max_wait=0", FIRN_EBUSY, "datacenter=1 worker=3");
    closed(gen);
    gen = opened("snowflake", "datacenter=0x1 worker=3");
    assert_int_equal(status_of(gen).node, 35);
    closed(gen);
    for (int i = 0; i < 20; i++) {
        gen = opened("snowflake", "datacenter=9"); /* the rest is claimed */
        assert_int_equal(next_field(gen, "datacenter"), 9);
        closed(gen);
    }
    refused("snowflake", "node=35 worker=3", FIRN_EUSAGE, "node and worker are given");
    refused("snowflake", "worker=3 worker=4", FIRN_EUSAGE, "twice");
    refused("snowflake", "node=1024", FIRN_ERANGE,
            "node 1024 is out of range (0 to 1023, 10 bits)");
    refused("snowflake", "worker=32", FIRN_ERANGE, "worker 32 is out of range (0 to 31, 5 bits)");
    refused("tsid", "node=1024", FIRN_ERANGE, "1023");
    refused("uuid7", "node=1", FIRN_EUSAGE, "has no node");
}

/* ---- keys ----------------------------------------------------------------------------------- */

static void an_unknown_key_names_the_nearest(void **state) {
    (void)state;
    refused("snowflake", "nod=3", FIRN_EUSAGE, "did you mean `node`?");
    refused("snowflake", "worke=3", FIRN_EUSAGE, "did you mean `worker`?");
    refused("snowflake", "windowms=3", FIRN_EUSAGE, "did you mean `window`?");
    refused("snowflake", "sequence=3", FIRN_EUSAGE, "the generator chooses sequence of snowflake");
    refused("snowflake", "time=3", FIRN_EUSAGE, "firn_at");
    refused("snowflake", "tick=3", FIRN_EUSAGE, "firn_at");
    refused("uuid7", "version=7", FIRN_EUSAGE, "constant");
    refused("snowflake", "node", FIRN_EUSAGE, "key=value");
    refused("snowflake", "node=", FIRN_EUSAGE, "key=value");
    refused("snowflake", "=1", FIRN_EUSAGE, "key=value");
    refused("snowflak", "", FIRN_EUSAGE, "snowflake");
    refused(NULL, "", FIRN_EUSAGE, "no scheme");
}

static void a_generator_of_typeids_has_a_prefix(void **state) {
    (void)state;
    firn_gen *gen = opened("typeid", "prefix=my_user");
    assert_string_equal(firn_gen_prefix(gen), "my_user");
    closed(gen);
    gen = opened("typeid", "");
    assert_string_equal(firn_gen_prefix(gen), "");
    closed(gen);
    refused("typeid", "prefix=User", FIRN_EUSAGE, "use at most 63 of a-z and _");
    refused("uuid7", "prefix=user", FIRN_EUSAGE, "prefix=user applies to typeid, not uuid7");
    gen = opened("time:48/ms prefix:16 random:64", "prefix=7"); /* a field of this name */
    assert_string_equal(firn_gen_prefix(gen), "");
    closed(gen);
    refused("time:48/ms prefix:16 random:64", "prefix=65536", FIRN_ERANGE, "prefix");
}

static const struct number {
    const char *name, *unit; /* of a duration, or "" */
    int64_t least, most;
} numbers[] = {
#define NUMBER(name, initial, least, most, text)         {#name, "", least, most},
#define DURATION(name, unit, initial, least, most, text) {#name, #unit, least, most},
#include "keys.def"
};

static const char *const choices[][2] = {
#define CHOICE(name, initial, words, text) {#name, words},
#include "keys.def"
};

static const char *pair(const struct number *number, int64_t value) {
    static char text[120];
    bool lead = strcmp(number->name, "max_lead") == 0, back = strcmp(number->name, "max_back") == 0,
         window = strcmp(number->name, "window") == 0,
         reserve = strcmp(number->name, "reserve") == 0;
    snprintf(text, sizeof text, "%s=%" PRId64 "%s%s", number->name, value, number->unit,
             lead      ? " max_back=0"
             : back    ? " max_lead=10s"
             : window  ? " reach=10min ns=long"
             : reserve ? " reach=1h ns=longest"
                       : "");
    return text;
}

static void bounds_of(char bounds[96], const struct number *self) {
    char least[FIRN__DURATION_SIZE], most[FIRN__DURATION_SIZE];
    int64_t unit = firn__unit_us(self->unit);
    if (unit == 0) {
        snprintf(bounds, 96, "%" PRId64 " to %" PRId64, self->least, self->most);
    } else {
        snprintf(bounds, 96, "%s to %s", firn__duration_write(least, self->least * unit),
                 firn__duration_write(most, self->most * unit));
    }
}

static void every_number_has_its_bounds(void **state) {
    char bounds[96], keys[96], cure[96];
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const struct number *self = &numbers[i];
        const bool duration = self->unit[0] != '\0';
        bounds_of(bounds, self);
        if (!duration || self->least > 0) {
            refused("snowflake", pair(self, self->least - 1), FIRN_ERANGE, bounds);
        }
        refused("snowflake", pair(self, self->most + 1), FIRN_ERANGE, bounds);
        refused("snowflake", pair(self, duration ? INT64_MAX / 1000000 : INT64_MAX), FIRN_ERANGE,
                bounds);
        if (strcmp(self->name, "reserve") == 0) { /* the last check: this store has no URL */
            refused("snowflake", pair(self, self->least), FIRN_ESTORE, "a store with a place");
            refused("snowflake", pair(self, self->most), FIRN_ESTORE, "a store with a place");
        } else {
            closed(opened("snowflake", pair(self, self->least)));
            closed(opened("snowflake", pair(self, self->most)));
        }
        snprintf(keys, sizeof keys, "%s=1x", self->name);
        refused("snowflake", keys, FIRN_EUSAGE,
                duration ? "write a number and us, ms, s, min, h or d" : "write a whole number");
        if (duration) {
            snprintf(keys, sizeof keys, "%s=70m", self->name);
            snprintf(cure, sizeof cure, "%s=70m has no such unit: write 70min or 70ms", self->name);
            refused("snowflake", keys, FIRN_EUSAGE, cure);
            snprintf(keys, sizeof keys, "%s=70", self->name);
            snprintf(cure, sizeof cure, "%s=70 has no unit: write 70%s", self->name, self->unit);
            refused("snowflake", keys, FIRN_EUSAGE, cure);
        }
    }
    refused("snowflake", "max_lead=999ms", FIRN_ERANGE, "lower max_back too");
}

/* A number whose unit was in its name is a duration now. */
static void old_names_say_the_new_ones(void **state) {
    (void)state;
    refused("snowflake", "max_wait_ms=200", FIRN_EUSAGE,
            "max_wait_ms= is now max_wait=, with a unit: write max_wait=200ms");
    refused("snowflake", "window_ms=5s", FIRN_EUSAGE, "write window=5s");
    refused("uuid7", "stale_us=5", FIRN_EUSAGE, "write stale=5us");
    refused("snowflake", "back_ms=5", FIRN_EUSAGE, "write max_back=5ms");
    closed(opened("time:41/ms window_ms:3 node:7 sequence:12", "window_ms=5")); /* a field */
}

static void durations_are_read_exactly(void **state) {
    static const struct {
        const char *text;
        int64_t us; /* -1: refused */
        const char *written;
    } rows[] = {
        {"0", 0, "0s"},
        {"0ms", 0, "0s"},
        {"1us", 1, "1us"},
        {"1500us", 1500, "1500us"},
        {"1.5ms", 1500, "1500us"},
        {"007s", 7000000, "7s"},
        {"90s", 90000000, "90s"},
        {"1.5min", 90000000, "90s"},
        {"2m", -1, ""},
        {"0.25h", 900000000, "15min"},
        {"36h", 129600000000, "36h"},
        {"1d", 86400000000, "1d"},
        {"1y", 31557600000000, "8766h"},
        {"0.000001s", 1, "1us"},
        {"1.000us", 1, "1us"},
        {"9223372036854775807us", INT64_MAX, "9223372036854775807us"},
        {"9223372036854775808us", INT64_MAX, "9223372036854775807us"},
        {"292278y", INT64_MAX, "9223372036854775807us"},
        {"9223372036854775808.5s", INT64_MAX, "9223372036854775807us"},
        {"0.1us", -1, ""},
        {"0.01us", -1, ""},
        {"5", -1, ""},
        {"", -1, ""},
        {"s", -1, ""},
        {".5s", -1, ""},
        {"5.s", -1, ""},
        {"-5s", -1, ""},
        {"5 s", -1, ""},
        {"5S", -1, ""},
        {"1e3s", -1, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[FIRN__DURATION_SIZE];
        int64_t us = -1;
        assert_int_equal(firn__duration_read(&us, rows[i].text), rows[i].us >= 0);
        assert_int_equal(us, rows[i].us);
        if (us >= 0) {
            assert_string_equal(firn__duration_write(text, us), rows[i].written);
        }
    }
    refused("snowflake", "max_wait=1500us", FIRN_EUSAGE,
            "is not a whole number of ms: round it, for example to 2ms");
}

static void every_choice_has_its_words(void **state) {
    char words[64], keys[64];
    (void)state;
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        snprintf(words, sizeof words, "%s", choices[i][1]);
        for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " ")) {
            snprintf(keys, sizeof keys, "%s=%s ns=%s", choices[i][0], word, word);
            closed(opened("snowflake", keys));
        }
        snprintf(keys, sizeof keys, "%s=bogus", choices[i][0]);
        refused("snowflake", keys, FIRN_EUSAGE, choices[i][1]);
    }
}

static void mirrored_time_refuses_the_coarse_clock(void **state) {
    (void)state;
    refused("lable-spread", "clock=tick", FIRN_EUSAGE, "fresh or exact");
    refused("0x0:1 time~2:42/ms node:10 sequence:11", "clock=tick", FIRN_EUSAGE, "fresh or exact");
    closed(opened("lable-sequential", "clock=tick"));
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    refused("uuid3", "", FIRN_EUSAGE, "digest");
    refused("nil", "", FIRN_EUSAGE, "does not generate");
    refused("uuid8", "", FIRN_EUSAGE, "a custom layout");
    refused("node:8 sequence:8", "", FIRN_EUSAGE, "without time");
    refused("time:40/ms node:64 sequence:8", "", FIRN_EUSAGE, "at most 63");
    refused("snowflake", "nodes=2 node=3", FIRN_EUSAGE, "leave the node out");
    refused("snowflake", "nodes=2 worker=ticket datacenter=1", FIRN_EUSAGE, "leave the node out");
    refused("uuid7", "nodes=2", FIRN_EUSAGE, "");
    refused("snowflake", "nodes=2 mode=online", FIRN_EUSAGE, "mode=window");
    refused("baidu", "", FIRN_ELAYOUT, "bits=");
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(sentence, function) {sentence, function, world_new, world_end, NULL}
        TEST("every row issues what its bits say, in order", every_row_issues),
        TEST("every row follows the clock", every_row_follows_the_clock),
        TEST("plain numbers are the same IDs", plain_numbers_are_the_same),
        TEST("every last tick gives all it has, and no more", every_row_ends_with_its_layout),
        TEST("every full tick borrows, exactly to its bound", every_full_tick_borrows),
        TEST("every row absorbs a tick back", every_row_absorbs_a_tick_back),
        TEST("every row issues on after a day back", every_row_leaves_after_a_day_back),
        TEST("without a store the time stays after a day back",
             every_row_without_a_store_stays_after_a_day_back),
        TEST("max_count is what one call can issue, and no more", max_count_is_exact),
        TEST("a full tick is slept through where full=wait", a_full_tick_is_slept_through),
        TEST("a sleep ends at max_wait", a_sleep_has_its_bound),
        TEST("keys have their bounds", keys_have_their_bounds),
        TEST("full=fail never borrows", full_fail_never_borrows),
        TEST("exactly n IDs or none", exactly_n_or_none),
        TEST("counters issue exactly n IDs or none", counters_issue_exactly_n_or_none),
        TEST("no IDs are easily had, and too many refused", none_is_easy_and_too_many_is_reported),
        TEST("a step back of max_back is absorbed, and no more", back_ms_is_absorbed_and_no_more),
        TEST("after a day back a claimed node is left", a_claimed_node_is_left_for_another),
        TEST("a fixed node waits for the clock", a_fixed_node_waits_for_the_clock),
        TEST("back=fail fails at once, and heals", back_fail_fails_at_once_and_heals),
        TEST("schemes without a node hold still when asked",
             schemes_without_a_node_wait_when_asked),
        TEST("a jump ahead is believed after 2 s", a_jump_ahead_is_believed_after_two_seconds),
        TEST("several steps within seconds keep the order", every_row_keeps_order_over_steps),
        TEST("a jump ahead asks the store first", a_jump_ahead_asks_the_store_first),
        TEST("a jump taken back leaves no trace", a_jump_that_is_taken_back_leaves_no_trace),
        TEST("start=zero begins every tick at 0", a_start_at_zero),
        TEST("start=random:N begins every tick below N", a_start_at_random),
        TEST("start=rolling begins each tick one further", a_rolling_start),
        TEST("starts that cannot be are refused", starts_are_checked),
        TEST("what does not fit together is refused", what_does_not_fit_together_is_refused),
        TEST("a thread's calls rise, whatever they ask for", calls_rise_in_either_order),
        TEST("a leased block is not kept past its tick", a_leased_block_is_not_kept_past_its_tick),
        TEST("negative IDs are issued with unsigned=1 only",
             negative_ids_are_refused_unless_unsigned),
        TEST("unsigned=0 ends any scheme of 64 bits where its numbers become negative",
             any_64_bits_end_as_signed_numbers),
        TEST("a node in the sign bit is never negative on its own", a_node_in_the_sign_bit),
        TEST("counters pass their end", counters_pass_their_end),
        TEST("a counter meets its start within a tick and borrows the next",
             a_counter_meets_its_start_within_a_tick),
        TEST("a reserved counter uses up the ticks it begins", a_reserved_counter_fills_its_ticks),
        TEST("locality counts by 198491317", locality_counts_in_its_own_step),
        TEST("a clock must give instants", a_clock_must_give_instants),
        TEST("locality-sequential starts at a hash of the time",
             locality_sequential_starts_at_a_hash_of_the_time),
        TEST("ulid adds one, and carries into the next tick", ulid_adds_one_until_nothing_is_left),
        TEST("a counter like uuid7's carries into the time", uuid7_carries_into_the_time),
        TEST("random addresses are multicast", random_nodes_are_multicast),
        TEST("without entropy nothing is issued", without_entropy_nothing_is_issued),
        TEST("an identity that is given is reserved", a_given_identity_is_reserved),
        TEST("half an identity needs no store", half_an_identity_is_not_a_node),
        TEST("uuid1 with a node claims its clock_seq", uuid1_claims_its_clock_seq),
        TEST("node=ordinal is the number of the host name", ordinal_is_the_hosts),
        TEST("region is a business number", region_is_a_business_number),
        TEST("worker=ticket is fresh until all are used up",
             tickets_are_fresh_until_they_are_used_up),
        TEST("a namespace keeps its row", a_namespace_keeps_its_row),
        TEST("a node is one number or its fields", a_node_is_one_number_or_its_fields),
        TEST("an unknown key names the nearest", an_unknown_key_names_the_nearest),
        TEST("a generator of TypeIDs has a prefix", a_generator_of_typeids_has_a_prefix),
        TEST("every number of a key has its bounds", every_number_has_its_bounds),
        TEST("old names of keys say the new ones", old_names_say_the_new_ones),
        TEST("durations are read exactly", durations_are_read_exactly),
        TEST("every choice of a key has its words", every_choice_has_its_words),
        TEST("mirrored time refuses the coarse clock", mirrored_time_refuses_the_coarse_clock),
        TEST("what cannot be issued is refused", what_cannot_be_is_refused),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
