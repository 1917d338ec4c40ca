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
    return seq < 0 ? tick
                   : (tick << width(scheme, FIRN_ROLE_SEQUENCE)) + fields.value[seq].low;
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
