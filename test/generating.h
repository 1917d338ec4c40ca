/* SPDX-License-Identifier: MIT */
/* Short words for the tests of generators in a simulated world: open, issue, be denied, look into
 * an ID, go through every row that generates. Each fails the test that calls it when something
 * else happens. */
#ifndef FIRN_TEST_GENERATING_H
#define FIRN_TEST_GENERATING_H

#include "simulated.h"

#include <inttypes.h>
#include <stdio.h>

#define MANY 300 /* IDs of a row: more than some ticks hold */

/* ---- short words ---------------------------------------------------------------------------- */

static inline void hear(void *self, const char *text) {
    (void)self;
    world.notices++;
    snprintf(world.notice, sizeof world.notice, "%s", text);
}

static inline int try_open_by(const firn_clock *clock, firn_gen **gen, const char *scheme,
                              const char *keys, bool has_renewer, firn_error *error) {
    const firn_config config = {.size = sizeof config,
                                .scheme = scheme,
                                .keys = keys,
                                .store = world.store,
                                .clock = clock,
                                .entropy =
                                    strstr(keys, "entropy=system") != NULL ? NULL : &world.entropy,
                                .notice = hear,
                                .note = "test",
                                .has_renewer = has_renewer};
    return firn_open_with(gen, &config, error);
}

static inline int try_open(firn_gen **gen, const char *scheme, const char *keys, bool has_renewer,
                           firn_error *error) {
    return try_open_by(&world.hands, gen, scheme, keys, has_renewer, error);
}

static inline firn_gen *opened(const char *scheme, const char *keys) {
    firn_error error = {0};
    firn_gen *gen = NULL;
    if (try_open(&gen, scheme, keys, false, &error) != FIRN_OK) {
        fail_msg("%s %s: %s", scheme, keys, error.text);
    }
    return gen;
}

static inline void closed(firn_gen *gen) {
    assert_int_equal(firn_close(gen, NULL), FIRN_OK);
}

/* Not opened, and said why. */
static inline void refused(const char *scheme, const char *keys, int code, const char *words) {
    firn_error error = {0};
    firn_gen *gen = NULL;
    if (try_open(&gen, scheme, keys, false, &error) == FIRN_OK) {
        fail_msg("%s '%s' was opened", scheme, keys);
    }
    error_text(&error, code, words);
    assert_null(gen);
}

/* A job that does not open. */
static inline void no_job(const firn_job_config *config, int code, const char *words) {
    firn_error error = {0};
    firn_job *job = NULL;
    assert_int_equal(firn_job_open(&job, config, &error), code);
    error_text(&error, code, words);
    assert_null(job);
}

/* Integers of this world's store; or refused, and said why. */
static inline firn_segment *open_segment(const char *keys, int code, const char *words) {
    firn_error error = {0};
    firn_segment *segment = NULL;
    int found = firn_segment_open(&segment, "orders", keys, world.store, &world.hands, &error);
    if (found != code) {
        fail_msg("%s: %s %s", keys, firn_errname(found), error.text);
    }
    if (code != FIRN_OK) {
        error_text(&error, code, words);
        assert_null(segment);
    }
    return segment;
}

static inline firn_id next(firn_gen *gen) {
    firn_error error = {0};
    firn_id id;
    if (firn_next(gen, &id, &error) != FIRN_OK) {
        fail_msg("%s: %s", firn_gen_scheme(gen)->name, error.text);
    }
    return id;
}

/* Fails with this code and text, and leaves the result unchanged. */
static inline void denied(firn_gen *gen, int code, const char *words) {
    const firn_id before = {11, 22, 33, 44};
    firn_error error = {0};
    firn_id id = before;
    if (firn_next(gen, &id, &error) == FIRN_OK) {
        fail_msg("%s issued instead of %s", firn_gen_scheme(gen)->name, firn_errname(code));
    }
    error_text(&error, code, words);
    assert_memory_equal(&id, &before, sizeof id);
}

static inline firn_id *bulk(firn_gen *gen, size_t n) {
    firn_error error = {0};
    firn_id *ids = calloc(n, sizeof *ids);
    assert_non_null(ids);
    if (firn_next_n(gen, ids, n, &error) != FIRN_OK) {
        fail_msg("%s: %s", firn_gen_scheme(gen)->name, error.text);
    }
    return ids;
}

/* None of n, and nothing that looks like an ID. */
static inline void denied_n(firn_gen *gen, size_t n, int code, const char *words) {
    firn_error error = {0};
    firn_id *ids = calloc(n, sizeof *ids);
    assert_non_null(ids);
    assert_int_not_equal(firn_next_n(gen, ids, n, &error), FIRN_OK);
    error_text(&error, code, words);
    for (size_t i = 0; i < n; i++) {
        assert_true(ids[i].bits == 0 && ids[i].low == 0 && ids[i].high == 0);
    }
    free(ids);
}

static inline firn_fields fields_of(const firn_gen *gen, const firn_id *id) {
    firn_error error = {0};
    firn_fields fields;
    if (firn_unpack(&fields, firn_gen_scheme(gen), id, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return fields;
}

static inline uint64_t field(const firn_gen *gen, const firn_id *id, const char *name) {
    int i = firn_scheme_field(firn_gen_scheme(gen), name);
    assert_true(i >= 0);
    return fields_of(gen, id).value[i].low;
}

static inline uint64_t next_field(firn_gen *gen, const char *name) {
    firn_id id = next(gen);
    return field(gen, &id, name);
}

/* The current tick of the clock. */
static inline uint64_t now_of(const firn_gen *gen) {
    firn_time now = present(&world.clock);
    uint64_t tick = 0;
    assert_int_equal(firn_scheme_tick(firn_gen_scheme(gen), &now, &tick, NULL), FIRN_OK);
    return tick;
}

static inline firn_status status_of(firn_gen *gen) {
    firn_status status = {.size = sizeof status};
    firn_gen_status(gen, &status);
    return status;
}

/* The index of the first slice of a role, or -1. */
static inline int role(const firn_scheme *scheme, int wanted) {
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        if (scheme->slices[i].role == wanted) {
            return (int)i;
        }
    }
    return -1;
}

static inline uint32_t width(const firn_scheme *scheme, int wanted) {
    int i = role(scheme, wanted);
    return i < 0 ? 0 : firn_scheme_width(scheme, (uint32_t)i);
}

static inline uint64_t ones(uint32_t bits) {
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* Which slot an ID is, for rows that go by slots: tick and sequence in one number. */
static inline uint64_t slot(const firn_gen *gen, const firn_id *id) {
    const firn_scheme *scheme = firn_gen_scheme(gen);
    firn_fields fields = fields_of(gen, id);
    int seq = role(scheme, FIRN_ROLE_SEQUENCE);
    uint64_t tick = fields.value[role(scheme, FIRN_ROLE_TIME)].low;
    return seq < 0 ? tick : (tick << width(scheme, FIRN_ROLE_SEQUENCE)) + fields.value[seq].low;
}

static inline uint64_t next_slot(firn_gen *gen) {
    firn_id id = next(gen);
    return slot(gen, &id);
}

static inline int compare_ids(const void *a, const void *b) {
    return firn_id_cmp(a, b);
}

/* Leaves them sorted. */
static inline void are_unique(firn_id *ids, size_t n) {
    qsort(ids, n, sizeof *ids, compare_ids);
    for (size_t i = 1; i < n; i++) {
        assert_true(firn_id_cmp(&ids[i - 1], &ids[i]) != 0);
    }
}

/* ---- every row ------------------------------------------------------------------------------ */

static const char *keys_for(const firn_scheme *scheme) {
    return strcmp(scheme->name, "baidu") == 0         ? "bits=29/21/13"
           : strcmp(scheme->name, "time-member") == 0 ? "member=7"
                                                      : "";
}

/* Two sets of keys in one text, which lives until the next call. */
static inline const char *with(const char *keys, const char *more) {
    static char text[300];
    snprintf(text, sizeof text, "%s %s", keys, more);
    return text;
}

static inline bool counted(const firn_scheme *scheme) {
    return scheme->counter_step > 0 || scheme->monotonic;
}

/* A slot an ID. */
static inline bool slotted(const firn_scheme *scheme) {
    return scheme->tick_ns > 0 && !counted(scheme) &&
           (role(scheme, FIRN_ROLE_SEQUENCE) >= 0 || role(scheme, FIRN_ROLE_RANDOM) < 0);
}

typedef void row_check(const firn_scheme *row, const char *keys);

/* For each row that generates, in its own world. */
static inline void each_row(row_check *check, size_t least) {
    const firn_scheme *row;
    size_t done = 0;
    for (size_t i = 0; (row = firn_scheme_at(i)) != NULL; i++) {
        if (!row->read_only && !row->keyed && role(row, FIRN_ROLE_DIGEST) < 0) {
            world_end(NULL);
            assert_int_equal(world_new(NULL), 0);
            check(row, keys_for(row));
            done++;
        }
    }
    assert_true(done >= least && done < 64);
}

/* An ID follows the other in the order that the scheme promises. */
static inline void follows(const firn_gen *gen, const firn_id *a, const firn_id *b) {
    const firn_scheme *row = firn_gen_scheme(gen);
    if (slotted(row)) {
        assert_true(slot(gen, b) == slot(gen, a) + 1);
    } else if (row->counter_step > 0) {
        int i = role(row, FIRN_ROLE_COUNTER);
        uint64_t step_taken = fields_of(gen, b).value[i].low - fields_of(gen, a).value[i].low;
        assert_true((step_taken & ones(firn_scheme_width(row, (uint32_t)i))) == row->counter_step);
    } else if (row->monotonic) {
        firn_value x = fields_of(gen, a).value[1], y = fields_of(gen, b).value[1];
        assert_true(y.low == x.low + 1 && y.high == x.high + (y.low == 0));
    }
    if (row->sorts == FIRN_SORTS_YES || row->sorts == FIRN_SORTS_PER_NODE) {
        assert_true(firn_id_cmp(a, b) < 0);
    }
}

/* ---- entropy -------------------------------------------------------------------------------- */

static inline int no_entropy(void *self, void *out, size_t size) {
    (void)self;
    (void)out;
    (void)size;
    return FIRN_EENTROPY;
}

#endif
