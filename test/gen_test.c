/* SPDX-License-Identifier: MIT */
/* The generator through its public calls, on a clock that is moved by hand and a store that records
 * what it is asked: every row that generates, every policy at its edge. Threads and real stores
 * have tests of their own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "simulated.h"

#define ROWS_MAX 64
#define MANY     300 /* IDs of a row: more than some ticks hold */

/* ---- short words ---------------------------------------------------------------------------- */

static void listen(void *self, const char *text) {
    (void)self;
    world.notices++;
    snprintf(world.notice, sizeof world.notice, "%s", text);
}

static int try_open(firn_gen **gen, const char *scheme, const char *keys, bool stepped,
                    firn_error *error) {
    const firn_config config = {.size = sizeof config,
                                .scheme = scheme,
                                .keys = keys,
                                .store = world.store,
                                .clock = &world.hands,
                                .entropy = &world.entropy,
                                .notice = listen,
                                .note = "test",
                                .stepped = stepped};
    return firn_open_with(gen, &config, error);
}

static firn_gen *opened(const char *scheme, const char *keys) {
    firn_error error = {0};
    firn_gen *gen = NULL;
    if (try_open(&gen, scheme, keys, false, &error) != FIRN_OK) {
        fail_msg("%s %s: %s", scheme, keys, error.text);
    }
    return gen;
}

static void closed(firn_gen *gen) {
    assert_int_equal(firn_close(gen, NULL), FIRN_OK);
}

/* Not opened, and said why. */
static void refused(const char *scheme, const char *keys, int code, const char *words) {
    firn_error error = {0};
    firn_gen *gen = NULL;
    if (try_open(&gen, scheme, keys, false, &error) == FIRN_OK) {
        fail_msg("%s '%s' was opened", scheme, keys);
    }
    said(&error, code, words);
    assert_null(gen);
}

static firn_id next(firn_gen *gen) {
    firn_error error = {0};
    firn_id id;
    if (firn_next(gen, &id, &error) != FIRN_OK) {
        fail_msg("%s: %s", firn_gen_scheme(gen)->name, error.text);
    }
    return id;
}

/* No ID, and said why; what stood in the result stands there still. */
static void denied(firn_gen *gen, int code, const char *words) {
    const firn_id before = {11, 22, 33, 44};
    firn_error error = {0};
    firn_id id = before;
    if (firn_next(gen, &id, &error) == FIRN_OK) {
        fail_msg("%s issued instead of %s", firn_gen_scheme(gen)->name, firn_errname(code));
    }
    said(&error, code, words);
    assert_memory_equal(&id, &before, sizeof id);
}

static firn_id *bulk(firn_gen *gen, size_t n) {
    firn_error error = {0};
    firn_id *ids = calloc(n, sizeof *ids);
    assert_non_null(ids);
    if (firn_next_n(gen, ids, n, &error) != FIRN_OK) {
        fail_msg("%s: %s", firn_gen_scheme(gen)->name, error.text);
    }
    return ids;
}

/* None of n, and nothing that looks like an ID. */
static void denied_n(firn_gen *gen, size_t n, int code, const char *words) {
    firn_error error = {0};
    firn_id *ids = calloc(n, sizeof *ids);
    assert_non_null(ids);
    assert_int_not_equal(firn_next_n(gen, ids, n, &error), FIRN_OK);
    said(&error, code, words);
    for (size_t i = 0; i < n; i++) {
        assert_true(ids[i].bits == 0 && ids[i].low == 0 && ids[i].high == 0);
    }
    free(ids);
}

static firn_fields fields_of(const firn_gen *gen, const firn_id *id) {
    firn_error error = {0};
    firn_fields fields;
    if (firn_unpack(&fields, firn_gen_scheme(gen), id, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return fields;
}

static uint64_t field(const firn_gen *gen, const firn_id *id, const char *name) {
    int i = firn_scheme_field(firn_gen_scheme(gen), name);
    assert_true(i >= 0);
    return fields_of(gen, id).value[i].low;
}

static uint64_t next_field(firn_gen *gen, const char *name) {
    firn_id id = next(gen);
    return field(gen, &id, name);
}

/* The tick of the clock as it stands. */
static uint64_t now_of(const firn_gen *gen) {
    firn_time now = present(&world.clock);
    uint64_t tick = 0;
    assert_int_equal(firn_scheme_tick(firn_gen_scheme(gen), &now, &tick, NULL), FIRN_OK);
    return tick;
}

static firn_status status_of(firn_gen *gen) {
    firn_status status = {.size = sizeof status};
    firn_gen_status(gen, &status);
    return status;
}

/* The index of the first slice of a role, or -1. */
static int role(const firn_scheme *scheme, int wanted) {
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        if (scheme->slices[i].role == wanted) {
            return (int)i;
        }
    }
    return -1;
}

static uint32_t width(const firn_scheme *scheme, int wanted) {
    int i = role(scheme, wanted);
    return i < 0 ? 0 : firn_scheme_width(scheme, (uint32_t)i);
}

static uint64_t ones(uint32_t bits) {
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* Which slot an ID is, for rows that go by slots: tick and sequence in one number. */
static uint64_t slot(const firn_gen *gen, const firn_id *id) {
    const firn_scheme *scheme = firn_gen_scheme(gen);
    firn_fields fields = fields_of(gen, id);
    int seq = role(scheme, FIRN_ROLE_SEQUENCE);
    uint64_t tick = fields.value[role(scheme, FIRN_ROLE_TIME)].low;
    return seq < 0 ? tick : (tick << width(scheme, FIRN_ROLE_SEQUENCE)) + fields.value[seq].low;
}

static uint64_t next_slot(firn_gen *gen) {
    firn_id id = next(gen);
    return slot(gen, &id);
}

static int compare_ids(const void *a, const void *b) {
    return firn_id_cmp(a, b);
}

/* Leaves them sorted. */
static void are_unique(firn_id *ids, size_t n) {
    qsort(ids, n, sizeof *ids, compare_ids);
    for (size_t i = 1; i < n; i++) {
        assert_true(firn_id_cmp(&ids[i - 1], &ids[i]) != 0);
    }
}

/* ---- every row ------------------------------------------------------------------------------ */

static const char *keys_for(const firn_scheme *scheme) {
    return strcmp(scheme->name, "baidu") == 0 ? "bits=29/21/13" : "";
}

/* Two sets of keys in one text, which lives until the next call. */
static const char *with(const char *keys, const char *more) {
    static char text[300];
    snprintf(text, sizeof text, "%s %s", keys, more);
    return text;
}

static bool counted(const firn_scheme *scheme) {
    return scheme->counter_step > 0 || scheme->plus_one;
}

/* A slot an ID. */
static bool slotted(const firn_scheme *scheme) {
    return scheme->tick_ns > 0 && !counted(scheme) &&
           (role(scheme, FIRN_ROLE_SEQUENCE) >= 0 || role(scheme, FIRN_ROLE_RANDOM) < 0);
}

typedef void row_check(const firn_scheme *row, const char *keys);

/* For each row that generates, in a world of its own. */
static void each_row(row_check *check, size_t least) {
    const firn_scheme *row;
    size_t done = 0;
    for (size_t i = 0; (row = firn_scheme_at(i)) != NULL; i++) {
        if (!row->shown_only && role(row, FIRN_ROLE_DIGEST) < 0) {
            world_end(NULL);
            assert_int_equal(world_new(NULL), 0);
            check(row, keys_for(row));
            done++;
        }
    }
    assert_true(done >= least && done < ROWS_MAX);
}

/* One ID follows the other as the row has it. */
static void follows(const firn_gen *gen, const firn_id *a, const firn_id *b) {
    const firn_scheme *row = firn_gen_scheme(gen);
    if (slotted(row)) {
        assert_true(slot(gen, b) == slot(gen, a) + 1);
    } else if (row->counter_step > 0) {
        int i = role(row, FIRN_ROLE_COUNTER);
        uint64_t step_taken = fields_of(gen, b).value[i].low - fields_of(gen, a).value[i].low;
        assert_true((step_taken & ones(firn_scheme_width(row, (uint32_t)i))) == row->counter_step);
    } else if (row->plus_one) {
        firn_value x = fields_of(gen, a).value[1], y = fields_of(gen, b).value[1];
        assert_true(y.low == x.low + 1 && y.high == x.high + (y.low == 0));
    }
    if (row->sorts == FIRN_SORTS_YES || row->sorts == FIRN_SORTS_NODE) {
        assert_true(firn_id_cmp(a, b) < 0);
    }
}

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
    assert_true(status_of(gen).reserved == (row->node_rule == FIRN_NODE_ALWAYS));
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
        said(&error, FIRN_EUSAGE, "firn_next_n");
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
    if (keys[0] != '\0') {
        assert_int_equal(firn_scheme_make(&mine, row->name, NULL, keys + 5, NULL), FIRN_OK);
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

/* A tick is full: one more is borrowed, since max_lead_ms is at most a tick; then nothing, and after
 * a tick of time just a tick's. */
static void row_borrows(const firn_scheme *row, const char *keys) {
    uint32_t s = width(row, FIRN_ROLE_SEQUENCE);
    size_t tick_holds = (size_t)1 << s;
    if (!slotted(row) || s > 16) {
        return;
    }
    const char *lead = s > 0 ? "max_lead_ms=1 back_ms=1 start=zero" : "max_lead_ms=1 back_ms=1";
    uint64_t lead_ticks = row->tick_ns >= MS ? 1 : (uint64_t)(MS / row->tick_ns);
    size_t all = (size_t)(lead_ticks + 1) * tick_holds;
    firn_gen *gen = opened(row->name, with(keys, lead));
    denied_n(gen, all + 1, FIRN_EEXHAUSTED, "at most");
    firn_id *ids = bulk(gen, all);
    assert_true(slot(gen, &ids[0]) == now_of(gen) << s);
    assert_true(slot(gen, &ids[all - 1]) == (now_of(gen) << s) + all - 1);
    denied(gen, FIRN_EEXHAUSTED, "max_lead_ms=1");
    denied_n(gen, 1, FIRN_EEXHAUSTED, "max_lead_ms=1");
    pass(&world.clock, (int64_t)row->tick_ns);
    denied_n(gen, tick_holds + 1, FIRN_EEXHAUSTED, "");
    firn_id *more = bulk(gen, tick_holds);
    follows(gen, &ids[all - 1], &more[0]);
    denied(gen, FIRN_EEXHAUSTED, "slow down");
    free(ids);
    free(more);
    closed(gen);
}

static void every_full_tick_borrows(void **state) {
    (void)state;
    each_row(row_borrows, 24);
}

/* A tick back: what was issued already is not issued again, and the IDs go on. */
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

/* A day back: whatever issues goes on elsewhere, at once, at the time the clock tells. */
static void row_leaves(const firn_scheme *row, const char *keys) {
    firn_gen *gen = opened(row->name, keys);
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

/* ---- a full tick ---------------------------------------------------------------------------- */

static void a_full_tick_is_slept_through(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "full=wait max_lead_ms=2 back_ms=2");
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
    denied_n(gen, 3 * 4096 + 1, FIRN_EEXHAUSTED, "at most 12288"); /* no wait would do */
    assert_int_equal(world.clock.paused_ns, 4 * MS);
    closed(gen);
}

static void a_sleep_has_its_bound(void **state) {
    (void)state;
    firn_gen *gen = opened("0x0:1 time:33/s node:20 sequence:10",
                           "full=wait max_lead_ms=0 back_ms=0 max_wait_ms=40");
    free(bulk(gen, 1024));
    denied(gen, FIRN_EEXHAUSTED, "max_lead_ms=0");
    assert_int_equal(world.clock.paused_ns, 40 * MS);
    closed(gen);
}

static void full_fail_never_borrows(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "full=fail");
    firn_id *ids = bulk(gen, 4096);
    assert_true(field(gen, &ids[4095], "time") == now_of(gen));
    denied(gen, FIRN_EEXHAUSTED, "");
    pass(&world.clock, MS);
    assert_true(next_slot(gen) == now_of(gen) << 12);
    assert_int_equal(world.clock.pauses, 0);
    free(ids);
    closed(gen);
}

static void exactly_n_or_none(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "max_lead_ms=1 back_ms=1");
    firn_id *ids = bulk(gen, 8000);
    denied_n(gen, 193, FIRN_EEXHAUSTED, "");
    firn_id *rest = bulk(gen, 192); /* the refusal took nothing */
    follows(gen, &ids[7999], &rest[0]);
    free(ids);
    free(rest);
    closed(gen);
    gen = opened("time:33/s random:27 counter:4", "max_lead_ms=0 back_ms=0");
    denied_n(gen, 17, FIRN_EEXHAUSTED, "");
    free(bulk(gen, 15));
    denied_n(gen, 2, FIRN_EEXHAUSTED, "");
    next(gen);
    denied(gen, FIRN_EEXHAUSTED, "");
    closed(gen);
}

static void none_is_easy_and_too_many_is_told(void **state) {
    firn_gen *gen = opened("uuid7", "");
    firn_error error = {0};
    (void)state;
    assert_int_equal(firn_next_n(gen, NULL, 0, &error), FIRN_OK);
    assert_int_equal(firn_next_n(gen, NULL, ((size_t)1 << 30) + 1, &error), FIRN_ERANGE);
    said(&error, FIRN_ERANGE, "at most 1073741824");
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
    assert_true(mark_of(world.store, "snowflake", key) == (int64_t)last + 1);
    assert_non_null(strstr(world.notice, "left for another"));
    pass(&world.clock, DAY + SECOND); /* the old node is free again, and one of the two is taken */
    next(gen);
    closed(gen);
}

static void a_fixed_node_waits_for_the_clock(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "node=7 max_wait_ms=800");
    uint64_t last = next_slot(gen);
    step(&world.clock, -1500 * MS);
    assert_true(next_slot(gen) > last);
    assert_true(world.clock.paused_ns >= 498 * MS && world.clock.paused_ns <= 501 * MS);
    last = next_slot(gen);
    step(&world.clock, -DAY);
    world.clock.paused_ns = 0;
    denied(gen, FIRN_ECLOCK, "back_ms=1000");
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
        denied(gen, FIRN_ECLOCK, "back_ms=1000");
        denied_n(gen, 10, FIRN_ECLOCK, "mend the clock");
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

static void rows_without_a_node_wait_when_asked(void **state) {
    (void)state;
    const char *rows[] = {"uuid1", "uuid7", "ulid", "objectid", "ksuid", "simpleflake"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        firn_gen *gen = opened(rows[i], "back=fail");
        firn_id last = next(gen);
        step(&world.clock, -HOUR);
        denied(gen, FIRN_ECLOCK, "back_ms=1000");
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
    step(&world.clock, 5 * SECOND); /* no more than 5 s: taken as it is */
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

/* Also in the first tick of a permit: a thousand programs that make one ID each are spread, too. */
static void a_start_at_random(void **state) {
    (void)state;
    const struct {
        const char *scheme, *keys;
        uint64_t below;
    } starts[] = {{"leaf", "", 100},
                  {"region", "", 10},
                  {"uuid7", "", 1 << 25},
                  {"snowflake", "start=random:4096", 4096},
                  {"snowflake", "start=random:7 order=thread", 7}};
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
        assert_true(next_field(gen, "sequence") == i % 16); /* a quarter of what a tick holds */
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
    refused("objectid", "start=rolling", FIRN_EUSAGE, "with a sequence only");
    refused("uuid1", "start=random:5", FIRN_EUSAGE, "with a sequence only");
}

/* ---- order ---------------------------------------------------------------------------------- */

static void calls_rise_in_either_order(void **state) {
    (void)state;
    const char *keys[] = {"order=strict", "order=thread", "order=thread start=random:9"};
    for (size_t i = 0; i < 3; i++) {
        firn_gen *gen = opened("snowflake", keys[i]);
        firn_id last = next(gen);
        for (size_t j = 0; j < 3000; j++) {
            size_t n = j % 7 == 3 ? 1 + j % 150 : 1;
            firn_id one = {0, 0, 0, 0}, *ids = n > 1 ? bulk(gen, n) : NULL;
            if (n == 1) {
                one = next(gen);
            }
            const firn_id *got = n > 1 ? ids : &one;
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
    firn_gen *gen = opened("snowflake", "order=thread");
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

static int no_entropy(void *self, void *out, size_t size) {
    (void)self;
    (void)out;
    (void)size;
    return FIRN_EENTROPY;
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
    firn_gen *gen = opened("time:33/s random:27 counter:4", "max_lead_ms=1000");
    uint64_t begin = now_of(gen), seen[2] = {0, 0};
    for (int i = 0; i < 32; i++) { /* a tick's, then a borrowed one's */
        firn_id id = next(gen);
        assert_true(field(gen, &id, "time") == begin + (uint64_t)i / 16);
        seen[i / 16] |= UINT64_C(1) << field(gen, &id, "counter");
    }
    assert_true(seen[0] == 0xffff && seen[1] == 0xffff);
    denied(gen, FIRN_EEXHAUSTED, "max_lead_ms=1000");
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
    assert_true(mark_of(world.store, world.log.ns, key) == (int64_t)begin + 2);
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
    gen = opened("ulid", "max_lead_ms=3 back_ms=3");
    for (uint64_t i = 0; i < 4; i++) { /* the greatest random part has no next */
        assert_true(next_field(gen, "time") == now_of(gen) + i);
    }
    denied(gen, FIRN_EEXHAUSTED, "max_lead_ms=3");
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
        assert_true(mark_of(world.store, row->ns != NULL ? row->ns : row->name, rows[i].key) > 0);
        for (size_t j = 1; j < MANY; j++) {
            follows(gen, &ids[j - 1], &ids[j]);
        }
        refused(rows[i].scheme, with(rows[i].keys, "max_wait_ms=0"), FIRN_EBUSY, "in use");
        free(ids);
        closed(gen);
    }
}

static void half_an_identity_is_no_node(void **state) {
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
    assert_int_equal(keys_of(world.store, "uuid1"), 2);
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
    assert_true(mark_of(world.store, "snowflake", expected) > 0);
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
    refused("baidu", "bits=29/2/32 worker=ticket", FIRN_EEXHAUSTED, "all 4 tickets");
}

static void a_namespace_keeps_its_row(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "ns=orders");
    refused("leaf", "ns=orders", FIRN_EROW, "orders");
    refused("snowflake", "ns=orders epoch=2020-01-01", FIRN_EROW, "ns=NAME");
    closed(opened("snowflake", "ns=orders"));
    closed(opened("snowflake", "epoch=2020-01-01")); /* a namespace of its own */
    assert_int_equal(keys_of(world.store, "snowflake"), 0);
    closed(gen);
}

static void a_node_is_one_number_or_its_fields(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "node=35");
    assert_int_equal(next_field(gen, "datacenter"), 1);
    assert_int_equal(next_field(gen, "worker"), 3);
    assert_int_equal(status_of(gen).node, 35);
    refused("snowflake", "datacenter=1 worker=3 max_wait_ms=0", FIRN_EBUSY,
            "datacenter=1 worker=3");
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
    refused("snowflake", "node=1024", FIRN_ERANGE, "node 1024 does not fit 10 bits");
    refused("snowflake", "worker=32", FIRN_ERANGE, "worker 32 does not fit 5 bits");
    refused("tsid", "node=1024", FIRN_ERANGE, "1023");
    refused("uuid7", "node=1", FIRN_EUSAGE, "has no node");
}

/* ---- keys ----------------------------------------------------------------------------------- */

static void an_unknown_key_names_the_nearest(void **state) {
    (void)state;
    refused("snowflake", "nod=3", FIRN_EUSAGE, "did you mean node");
    refused("snowflake", "worke=3", FIRN_EUSAGE, "did you mean worker");
    refused("snowflake", "windowms=3", FIRN_EUSAGE, "did you mean window_ms");
    refused("snowflake", "sequence=3", FIRN_EUSAGE, "the generator's to choose");
    refused("snowflake", "time=3", FIRN_EUSAGE, "firn_at");
    refused("snowflake", "tick=3", FIRN_EUSAGE, "firn_at");
    refused("uuid7", "version=7", FIRN_EUSAGE, "constant");
    refused("snowflake", "node", FIRN_EUSAGE, "key=value");
    refused("snowflake", "node=", FIRN_EUSAGE, "key=value");
    refused("snowflake", "=1", FIRN_EUSAGE, "key=value");
    refused("snowflak", "", FIRN_EUSAGE, "snowflake");
    refused(NULL, "", FIRN_EUSAGE, "no scheme");
}

static const struct number {
    const char *name;
    int64_t least, most;
} numbers[] = {
#define NUMBER(name, initial, least, most, text) {#name, least, most},
#define CHOICE(name, initial, words, text)
#define WORD(name, text)
#include "keys.def"
#undef NUMBER
#undef CHOICE
#undef WORD
};

static const char *const choices[][2] = {
#define NUMBER(name, initial, least, most, text)
#define CHOICE(name, initial, words, text) {#name, words},
#define WORD(name, text)
#include "keys.def"
#undef NUMBER
#undef CHOICE
#undef WORD
};

static const char *pair(const struct number *number, int64_t value) {
    static char text[120];
    bool lead = strcmp(number->name, "max_lead_ms") == 0,
         back = strcmp(number->name, "back_ms") == 0;
    snprintf(text, sizeof text, "%s=%" PRId64 "%s", number->name, value,
             lead   ? " back_ms=0"
             : back ? " max_lead_ms=10000"
                    : "");
    return text;
}

static void every_number_has_its_bounds(void **state) {
    char bounds[64];
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const struct number *it = &numbers[i];
        snprintf(bounds, sizeof bounds, "%" PRId64 " to %" PRId64, it->least, it->most);
        refused("snowflake", pair(it, it->least - 1), FIRN_ERANGE, bounds);
        refused("snowflake", pair(it, it->most + 1), FIRN_ERANGE, bounds);
        refused("snowflake", pair(it, INT64_MAX), FIRN_ERANGE, bounds);
        closed(opened("snowflake", pair(it, it->least)));
        closed(opened("snowflake", pair(it, it->most)));
        snprintf(bounds, sizeof bounds, "%s=1x", it->name);
        refused("snowflake", bounds, FIRN_EUSAGE, "not a whole number");
    }
    refused("snowflake", "max_lead_ms=999", FIRN_ERANGE, "lower back_ms too");
}

static void every_choice_has_its_words(void **state) {
    char words[64], keys[64];
    (void)state;
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        snprintf(words, sizeof words, "%s", choices[i][1]);
        for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " ")) {
            snprintf(keys, sizeof keys, "%s=%s", choices[i][0], word);
            closed(opened("snowflake", keys));
        }
        snprintf(keys, sizeof keys, "%s=bogus", choices[i][0]);
        refused("snowflake", keys, FIRN_EUSAGE, choices[i][1]);
    }
}

static void mirrored_time_refuses_the_coarse_clock(void **state) {
    (void)state;
    refused("lable-spread", "clock=tick", FIRN_EUSAGE, "fresh or exact");
    refused("time~2:42/ms node:10 sequence:12", "clock=tick", FIRN_EUSAGE, "fresh or exact");
    closed(opened("lable-sequential", "clock=tick"));
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    refused("uuid3", "", FIRN_EUSAGE, "digest");
    refused("nil", "", FIRN_EUSAGE, "never generated");
    refused("uuid8", "", FIRN_EUSAGE, "your own layout");
    refused("node:8 sequence:8", "", FIRN_EUSAGE, "without time");
    refused("time:40/ms node:63 sequence:8", "", FIRN_EUSAGE, "at most 62");
    refused("snowflake", "nodes=2 node=3", FIRN_EUSAGE, "leave the node out");
    refused("uuid7", "nodes=2", FIRN_EUSAGE, "");
    refused("snowflake", "nodes=2 mode=online", FIRN_EUSAGE, "mode=window");
    refused("baidu", "", FIRN_ELAYOUT, "bits=");
}

/* ---- windows -------------------------------------------------------------------------------- */

/* Where the node of a generator of snowflake's stands. */
static int64_t mark(firn_gen *gen) {
    char key[24];
    snprintf(key, sizeof key, "%" PRIu64, status_of(gen).node);
    return mark_of(world.store, "snowflake", key);
}

static void a_window_is_renewed_at_its_half(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "window_ms=1000");
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
                   {"snowflake", "window_ms=10", 10},
                   {"snowflake", "window_ms=1", 2}, /* two ticks at least, */
                   {"sonyflake", "window_ms=1", 3}, /* and what one ID may need at any start */
                   {"sonyflake", "window_ms=10000", 1000}};
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
    assert_true(mark_of(world.store, "snowflake", "7") == (int64_t)last + 1);
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
    refused("snowflake", "node=7 max_wait_ms=900", FIRN_EBUSY,
            "in use up to 2025-10-09T08:53:22.123Z");
    assert_int_equal(world.clock.pauses, 0); /* to wait would be in vain */
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
    assert_int_equal(keys_of(world.store, "snowflake"), 4);
    next(gen);
    assert_int_equal(keys_of(world.store, "snowflake"), 4);
    closed(gen);
    assert_int_equal(world.log.give_backs, 4);
}

static void online_reserves_just_what_it_issues(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "mode=online");
    assert_int_equal(world.log.reserves, 0);
    uint64_t last = next_slot(gen);
    assert_true(mark_of(world.store, "snowflake", world.log.key) == (int64_t)last + 1);
    assert_false(status_of(gen).held);
    for (int i = 1; i < 40; i++) {
        firn_id *ids = bulk(gen, (size_t)i);
        assert_true(slot(gen, &ids[0]) == last + 1);
        last += (uint64_t)i;
        assert_true(slot(gen, &ids[i - 1]) == last);
        assert_true(mark_of(world.store, "snowflake", world.log.key) == (int64_t)last + 1);
        free(ids);
    }
    assert_int_equal(world.log.reserves, 40);
    assert_true(world.log.lists == 1 && keys_of(world.store, "snowflake") == 1);
    closed(gen);
    assert_int_equal(world.log.give_backs, 0);
}

static void online_keeps_every_bound(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "mode=online node=7 max_lead_ms=2 back_ms=2");
    free(bulk(gen, 3 * 4096));
    denied(gen, FIRN_EBUSY, "in use");
    denied_n(gen, 3 * 4096 + 1, FIRN_EEXHAUSTED, "at most 12288");
    world.log.fate = FATE_DOWN;
    world.log.fated = 1;
    denied(gen, FIRN_ESTORE, "down");
    pass(&world.clock, MS);
    uint64_t last = next_slot(gen);
    step(&world.clock, -HOUR);
    denied(gen, FIRN_EBUSY, "in use");
    pass(&world.clock, HOUR);
    assert_true(next_slot(gen) == last + 1);
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

static void a_clone_is_told_at_its_first_claim(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "node=7"), *twin = NULL;
    world.seed = 20251009; /* the image of this process, run again */
    firn_error error = {0};
    assert_int_equal(try_open(&twin, "snowflake", "node=7", false, &error), FIRN_ECLONED);
    said(&error, FIRN_ECLONED, "copy of this process image");
    assert_null(twin);
    next(gen);
    closed(gen);
}

static void a_clone_is_told_at_a_renewal(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "node=7 window_ms=10");
    world.log.fate = FATE_TWIN;
    world.log.fated = 1;
    denied_n(gen, 11 * 4096, FIRN_ECLONED, "copy of this process image");
    closed(gen);
    assert_int_equal(world.log.give_backs, 0);
}

static void an_outage_is_outlived_for_half_a_window(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "window_ms=10000");
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

static void an_outage_is_told_when_opening(void **state) {
    (void)state;
    world.log.fate = FATE_DOWN;
    world.log.fated = -1;
    refused("snowflake", "", FIRN_ESTORE, "the store is down");
    refused("snowflake", "node=3", FIRN_ESTORE, "the store is down");
    closed(opened("uuid7", "")); /* which needs none */
    world.log.fated = 0;
    closed(opened("snowflake", ""));
}

/* ---- a keeper of the caller's --------------------------------------------------------------- */

static void stepped_leaves_the_store_to_the_keeper(void **state) {
    (void)state;
    firn_gen *gen = NULL;
    firn_error error = {0};
    int64_t wait_ms = 0;
    assert_int_equal(try_open(&gen, "snowflake", "", true, &error), FIRN_OK);
    denied(gen, FIRN_EWINDOW, "keeper");
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
    denied(gen, FIRN_EWINDOW, "keeper");
    denied_n(gen, 5, FIRN_EWINDOW, "keeper");
    step(&world.clock, -DAY);
    denied(gen, FIRN_EWINDOW, "keeper");
    assert_int_equal(world.log.reserves, asked);
    assert_int_equal(world.log.give_backs, 0);
    assert_int_equal(firn_gen_step(gen, &wait_ms, &error), FIRN_OK);
    next(gen);
    closed(gen);
}

static void a_keeper_is_told_of_an_outage(void **state) {
    (void)state;
    firn_gen *gen = NULL;
    firn_error error = {0};
    int64_t wait_ms = 0;
    assert_int_equal(try_open(&gen, "snowflake", "node=3", true, NULL), FIRN_OK);
    world.log.fate = FATE_DOWN;
    world.log.fated = 1;
    assert_int_equal(firn_gen_step(gen, &wait_ms, &error), FIRN_ESTORE);
    said(&error, FIRN_ESTORE, "down");
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
    said(&error, code, words);
    assert_memory_equal(ids, same, n * sizeof *ids);
    free(ids);
    free(same);
}

static uint64_t tick_of(const firn_gen *gen, const firn_time *time) {
    uint64_t tick = 0;
    assert_int_equal(firn_scheme_tick(firn_gen_scheme(gen), time, &tick, NULL), FIRN_OK);
    return tick;
}

/* As many calls as a row's ticks stand, each at its very time; a full tick runs on. */
static void row_dates_back(const firn_scheme *row, const char *keys) {
    enum { CALLS = 8 };
    firn_gen *gen = opened(row->name, keys);
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

static void row_dates_within_its_layout(const firn_scheme *row, const char *keys) {
    firn_scheme mine = *row;
    firn_time end, before;
    if (row->tick_ns == 0) {
        return;
    }
    firn_gen *gen = opened(row->name, keys);
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
    const char *keys[] = {"max_lead_ms=2 back_ms=2", "max_lead_ms=2 back_ms=2 history=job"};
    for (int i = 0; i < 2; i++) {
        firn_gen *gen = opened("js53", keys[i]);
        uint64_t tick = tick_of(gen, &past);
        firn_id *ids = dated(gen, &past, 100), *more;
        for (uint64_t j = 0; j < 100; j++) {
            assert_true(slot(gen, &ids[j]) == (tick << 6) + j);
        }
        denied_at(gen, &past, 93, FIRN_EEXHAUSTED, "max_lead_ms=2");
        more = dated(gen, &past, 1);
        assert_true(slot(gen, &more[0]) >= (tick << 6) + 100);
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
    refused("tsid", keys, FIRN_EBUSY, "back-dated IDs only"); /* for good */
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
    denied_at(live, &past, 1, FIRN_EBUSY, "issues live IDs");
    denied_at(gen, &past, 1, FIRN_EBUSY, "leave it out");
    closed(live);
    denied_at(gen, &past, 1, FIRN_EBUSY, "issues live IDs"); /* once used, used for good */
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
    denied_at(gen, &past, 1, FIRN_EBUSY, "another job's");
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
    refused(row, "", FIRN_EBUSY, "kept for back-dated IDs");
    firn_id *ids = dated(live[0], &past, 5);
    for (size_t i = 0; i < 3; i++) {
        assert_true(field(live[i], &ids[0], "node") != status_of(live[i]).node);
    }
    free(ids);
    denied_at(dating(row, "history=job"), &past, 1, FIRN_EBUSY, "never used");
    for (size_t i = 0; i < 3; i++) {
        closed(live[i]);
    }
    for (size_t i = 0; i < 3; i++) { /* used nodes come back, history's does not */
        live[i] = opened(row, "");
    }
    refused(row, "", FIRN_EBUSY, "in use");
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
    more = dated(gen, &past, 3);
    follows(gen, &ids[2], &more[0]);
    free(ids);
    free(more);
    closed(gen);
    gen = opened("uuid7", "");
    world.entropy.fill = no_entropy;
    denied_at(gen, &past, 3, FIRN_EENTROPY, "");
    closed(gen);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(sentence, function) {sentence, function, world_new, world_end, NULL}
        TEST("every row issues what its bits say, in order", every_row_issues),
        TEST("every row follows the clock", every_row_follows_the_clock),
        TEST("plain numbers are the same IDs", plain_numbers_are_the_same),
        TEST("every row's last tick gives all it has, and no more", every_row_ends_with_its_layout),
        TEST("every full tick borrows, exactly to its bound", every_full_tick_borrows),
        TEST("every row absorbs a tick back", every_row_absorbs_a_tick_back),
        TEST("every row issues on after a day back", every_row_leaves_after_a_day_back),
        TEST("a full tick is slept through where full=wait", a_full_tick_is_slept_through),
        TEST("a sleep ends at max_wait_ms", a_sleep_has_its_bound),
        TEST("full=fail never borrows", full_fail_never_borrows),
        TEST("exactly n IDs or none", exactly_n_or_none),
        TEST("no IDs are easily had, and too many refused", none_is_easy_and_too_many_is_told),
        TEST("a step back of back_ms is absorbed, and no more", back_ms_is_absorbed_and_no_more),
        TEST("after a day back a claimed node is left", a_claimed_node_is_left_for_another),
        TEST("a fixed node waits for the clock", a_fixed_node_waits_for_the_clock),
        TEST("back=fail fails at once, and heals", back_fail_fails_at_once_and_heals),
        TEST("rows without a node hold still when asked", rows_without_a_node_wait_when_asked),
        TEST("a jump ahead is believed after 2 s", a_jump_ahead_is_believed_after_two_seconds),
        TEST("a jump taken back leaves no trace", a_jump_that_is_taken_back_leaves_no_trace),
        TEST("start=zero begins every tick at 0", a_start_at_zero),
        TEST("start=random:N begins every tick below N", a_start_at_random),
        TEST("start=rolling begins each tick one further", a_rolling_start),
        TEST("starts that cannot be are refused", starts_are_checked),
        TEST("a thread's calls rise, whatever they ask for", calls_rise_in_either_order),
        TEST("a leased block is not kept past its tick", a_leased_block_is_not_kept_past_its_tick),
        TEST("negative IDs are issued with unsigned=1 only",
             negative_ids_are_refused_unless_unsigned),
        TEST("a node in the sign bit is never negative by itself", a_node_in_the_sign_bit),
        TEST("counters pass their end", counters_pass_their_end),
        TEST("a counter meets its start within a tick and borrows the next",
             a_counter_meets_its_start_within_a_tick),
        TEST("a reserved counter uses up the ticks it begins", a_reserved_counter_fills_its_ticks),
        TEST("locality counts by 198491317", locality_counts_in_its_own_step),
        TEST("locality-sequential starts at a hash of the time",
             locality_sequential_starts_at_a_hash_of_the_time),
        TEST("ulid adds one, and carries into the next tick", ulid_adds_one_until_nothing_is_left),
        TEST("a counter like uuid7's carries into the time", uuid7_carries_into_the_time),
        TEST("random addresses are multicast", random_nodes_are_multicast),
        TEST("without entropy nothing is issued", without_entropy_nothing_is_issued),
        TEST("an identity that is given is reserved", a_given_identity_is_reserved),
        TEST("half an identity needs no store", half_an_identity_is_no_node),
        TEST("uuid1 with a node claims its clock_seq", uuid1_claims_its_clock_seq),
        TEST("node=ordinal is the number of the host name", ordinal_is_the_hosts),
        TEST("region is a business number", region_is_a_business_number),
        TEST("worker=ticket is fresh until all are used up",
             tickets_are_fresh_until_they_are_used_up),
        TEST("a namespace keeps its row", a_namespace_keeps_its_row),
        TEST("a node is one number or its fields", a_node_is_one_number_or_its_fields),
        TEST("an unknown key names the nearest", an_unknown_key_names_the_nearest),
        TEST("every number of a key has its bounds", every_number_has_its_bounds),
        TEST("every choice of a key has its words", every_choice_has_its_words),
        TEST("mirrored time refuses the coarse clock", mirrored_time_refuses_the_coarse_clock),
        TEST("what cannot be issued is refused", what_cannot_be_is_refused),
        TEST("a window is renewed at its half", a_window_is_renewed_at_its_half),
        TEST("windows are as long as they should", windows_are_as_long_as_they_should),
        TEST("after idling the own node is claimed again",
             after_idling_the_own_node_is_claimed_again),
        TEST("a node that was taken meanwhile is left", a_node_taken_while_idle_is_left),
        TEST("what is given back is free at once", what_is_given_back_is_free_at_once),
        TEST("a fixed node is waited for until its mark is near", a_fixed_node_is_waited_for),
        TEST("nodes=4 holds four windows", four_nodes_are_held_at_once),
        TEST("mode=online reserves just what it issues", online_reserves_just_what_it_issues),
        TEST("mode=online keeps every bound", online_keeps_every_bound),
        TEST("a lost reply is asked for again", a_lost_reply_is_asked_for_again),
        TEST("an unknown outcome is settled later", an_unknown_outcome_is_settled_later),
        TEST("a clone is told at its first claim", a_clone_is_told_at_its_first_claim),
        TEST("a clone is told at a renewal", a_clone_is_told_at_a_renewal),
        TEST("an outage is outlived for half a window", an_outage_is_outlived_for_half_a_window),
        TEST("an outage is told when opening", an_outage_is_told_when_opening),
        TEST("stepped=true leaves the store to the keeper", stepped_leaves_the_store_to_the_keeper),
        TEST("a keeper is told of an outage", a_keeper_is_told_of_an_outage),
        TEST("every row with a time dates back, uniquely and exactly", every_row_dates_back),
        TEST("every row dates back within its layout", every_row_dates_within_its_layout),
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
