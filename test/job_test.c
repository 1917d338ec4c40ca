/* SPDX-License-Identifier: MIT */
/* Jobs: the same records give the same IDs, each unique and with its time; a node is taken
 * permanently; every limit is reported. On the recording store, and on SQLite. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "folder.h"
#include "generating.h"
#include "sanitized.h"
#include "ticks.h"

#include <sys/wait.h>
#include <unistd.h>

#define SEED "a seed"

static const firn_time past = {1750000000, 987654321}; /* 2025-06-15T15:06:40.987654321Z */

/* ---- short words ---------------------------------------------------------------------------- */

static firn_job_config plan(const char *scheme, const char *keys) {
    return (firn_job_config){.size = sizeof(firn_job_config),
                             .scheme = scheme,
                             .keys = keys,
                             .seed = SEED,
                             .shift_ms = 1000,
                             .notice = hear};
}

static firn_job_config named(const char *scheme, const char *keys, const char *name) {
    firn_job_config config = plan(scheme, keys);
    config.store = world.store;
    config.name = name;
    return config;
}

static firn_job *start(const firn_job_config *config) {
    firn_error error = {0};
    firn_job *job = NULL;
    if (firn_job_open(&job, config, &error) != FIRN_OK) {
        fail_msg("%s %s: %s", config->scheme, config->keys, error.text);
    }
    return job;
}

static firn_id row_at(firn_job *job, firn_time time, int64_t *shift_ns) {
    firn_error error = {0};
    firn_id id;
    int64_t shift = -1;
    if (firn_job_next(job, &time, &id, &shift, &error) != FIRN_OK) {
        fail_msg("%s: %s", firn_job_scheme(job)->name, error.text);
    }
    if (shift_ns != NULL) {
        *shift_ns = shift;
    }
    return id;
}

static void no_row(firn_job *job, firn_time time, int code, const char *words) {
    const firn_id before = {11, 22, 33, 44};
    firn_error error = {0};
    firn_id id = before;
    int64_t shift = -1;
    assert_int_equal(firn_job_next(job, &time, &id, &shift, &error), code);
    error_text(&error, code, words);
    assert_memory_equal(&id, &before, sizeof id);
    assert_true(shift == -1);
}

static uint64_t part(const firn_job *job, const firn_id *id, const char *name) {
    firn_error error = {0};
    firn_fields fields;
    int i = firn_scheme_field(firn_job_scheme(job), name);
    assert_true(i >= 0);
    if (firn_unpack(&fields, firn_job_scheme(job), id, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return fields.value[i].low;
}

/* A back-dated ID of a generator, as an array. */
static firn_id *dated_by(firn_gen *gen, const firn_time *time) {
    firn_error error = {0};
    firn_id *id = malloc(sizeof *id);
    assert_non_null(id);
    if (firn_at(gen, time, id, 1, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return id;
}

static uint64_t worker_of(firn_job *job) {
    firn_id id = row_at(job, past, NULL);
    return part(job, &id, "datacenter") * 32 + part(job, &id, "worker");
}

/* Keys that pin the whole node, so that a job needs no store. */
static const char *pins(const firn_scheme *row) {
    const char *bits = keys_for(row);
    if (row->node_fields != NULL && row->node_rule == FIRN_NODE_REQUIRED) {
        return "member=21"; /* time-member's, which is never claimed */
    }
    if (row->node_rule != FIRN_NODE_REQUIRED) {
        return bits;
    }
    for (uint32_t i = 0; i < row->slice_count; i++) {
        if (strcmp(row->slices[i].name, "node") == 0) {
            return with(bits, "node=1");
        }
    }
    return with(bits, "node=21");
}

static bool has_job(const firn_scheme *row) {
    return !row->read_only && role(row, FIRN_ROLE_DIGEST) < 0 && row->tick_ns > 0;
}

/* Rows of a year in no order, some with the same time: the i-th. */
static firn_time scattered(size_t i) {
    uint64_t mixed = (i / 3 + 1) * 0x9e3779b97f4a7c15;
    return time_after(past, (int64_t)(mixed >> 11) % (365 * DAY) * (i % 7 != 0));
}

typedef void job_check(const firn_scheme *row);

static void each_job(job_check *check) {
    const firn_scheme *row;
    size_t done = 0;
    for (size_t i = 0; (row = firn_scheme_at(i)) != NULL; i++) {
        if (has_job(row)) {
            check(row);
            done++;
        }
    }
    assert_true(done >= 23);
}

/* ---- the same again ------------------------------------------------------------------------- */

static void recorded_rows_give_recorded_ids(void **state) {
    (void)state;
    static const struct {
        const char *scheme, *keys, *ids[4]; /* of `past` twice, a second later, a second earlier */
    } recorded[] = {
        {"snowflake",
         "datacenter=1 worker=3",
         {"1934266314596167680", "1934266314596167681", "1934266318790471680",
          "1934266310401863680"}},
        {"leaf",
         "node=1023",
         {"1934266314600214528", "1934266314600214529", "1934266318794518528",
          "1934266310405910528"}},
        {"sonyflake",
         "machine=300",
         {"571214545884807468", "571214545884873004", "571214547562529068", "571214544207085868"}},
        {"simpleflake",
         "",
         {"6738545326583654562", "6738545326583654563", "6738545334971419668",
          "6738545318190624369"}},
        {"objectid",
         "",
         {"684ee1802ccaee770c3f69bc", "684ee1802ccaee770c3f69bd", "684ee1812ccaee770c3f69bc",
          "684ee17f2ccaee770c3f69bc"}},
        {"xid",
         "machine=0x010203 pid=9",
         {"d17e3001081g0280000g", "d17e3001081g02800010", "d17e3081081g0280000g",
          "d17e2vo1081g0280000g"}},
        {"locality",
         "",
         {"74bd5d39-770c-ba3f-69bb-01977420dfdb", "cf79aaf9-770c-ba3f-69bb-01977420dfdb",
          "74bd5d39-770c-ba3f-69bb-01977420e3c3", "74bd5d39-770c-ba3f-69bb-01977420dbf3"}},
        {"locality-sequential",
         "",
         {"2f0c0934-770c-ba3f-69bb-01977420dfdb", "2f0c0935-770c-ba3f-69bb-01977420dfdb",
          "2f0c0934-770c-ba3f-69bb-01977420e3c3", "2f0c0934-770c-ba3f-69bb-01977420dbf3"}},
        {"uuid1",
         "",
         {"57a9b43f-49fa-11f0-b70c-e932fa3f69bb", "57a9b440-49fa-11f0-b70c-e932fa3f69bb",
          "58424abf-49fa-11f0-b70c-e932fa3f69bb", "57111dbf-49fa-11f0-b70c-e932fa3f69bb"}},
        {"uuid6",
         "node=01:02:03:04:05:06 clock_seq=77",
         {"1f049fa5-7a9b-643f-804d-010203040506", "1f049fa5-7a9b-6440-804d-010203040506",
          "1f049fa5-8424-6abf-804d-010203040506", "1f049fa5-7111-6dbf-804d-010203040506"}},
        {"uuid7",
         "",
         {"01977420-dfdb-703c-8fc5-3e2ccaee770c", "01977420-dfdb-703c-8fc6-e832fa3f69bb",
          "01977420-e3c3-719d-b21e-5d8788011e92", "01977420-dbf3-73ed-afd3-8df812286edf"}},
        {"ulid",
         "",
         {"01JXT21QYVDH9Z27DN9760Y3Y5", "01JXT21QYVDH9Z27DN9760Y3Y6", "01JXT21RY3547TC4H38Y06EWGY",
          "01JXT21PZK2WHY4BA61J7FPVYK"}},
        {"ksuid",
         "",
         {"2yY8AFVfLObbgSClPWqpuqrzxIy", "2yY8AFVfLObbgSClPWqpuqrzxIz",
          "2yY8ALYWKKbS2GzwvfFOt5iBvPM", "2yY8A41Jkij9n8X71857SSO10z5"}},
        {"flake",
         "worker=7",
         {"Av9rhXsyGF4AUazOpk", "Av9rhXsyGF4AUazOpl", "Av9rhdbT0Ed6E2qVNo", "Av9rhSATWFVEl98IHg"}},
        {"time-random",
         "",
         {"20250615150640987020805", "20250615150640987020806", "20250615150641987742430",
          "20250615150639987087763"}},
        {"lable-spread",
         "generator=5 cluster=1",
         {"dbfb042ee9800051", "dbfb042ee9810051", "c3c7042ee9800051", "cfdb042ee9800051"}},
    };
    for (size_t i = 0; i < sizeof recorded / sizeof recorded[0]; i++) {
        firn_job_config config = plan(recorded[i].scheme, recorded[i].keys);
        firn_job *job = start(&config);
        for (int j = 0; j < 4; j++) {
            char text[FIRN_TEXT_SIZE];
            firn_id id = row_at(job, time_after(past, j < 2 ? 0 : j == 2 ? SECOND : -SECOND), NULL);
            firn_format(text, &id, firn_job_scheme(job)->form);
            assert_string_equal(text, recorded[i].ids[j]);
        }
        firn_job_close(job);
    }
}

static void row_is_the_same_again(const firn_scheme *row) {
    enum { ROWS = 2000 };
    static firn_id ids[ROWS];
    firn_job_config config = plan(row->name, pins(row));
    char keys[300];
    snprintf(keys, sizeof keys, "%s", config.keys);
    config.keys = keys;
    for (int run = 0; run < 4; run++) {
        bool other = run == 3 && row->node_rule != FIRN_NODE_REQUIRED;
        config.seed = other ? "another seed" : SEED;
        config.store = run == 1 ? world.store : NULL; /* its node is pinned where it has one */
        config.name = run == 1 ? row->name : NULL;
        firn_job *job = start(&config);
        size_t same = 0;
        for (size_t i = 0; i < ROWS; i++) {
            firn_id id = row_at(job, scattered(i), NULL);
            ids[i] = run == 0 ? id : ids[i];
            same += firn_id_cmp(&id, &ids[i]) == 0;
        }
        assert_true(other ? same < ROWS / 100 : same == ROWS);
        firn_job_close(job);
    }
}

static void the_same_rows_give_the_same_ids(void **state) {
    (void)state;
    each_job(row_is_the_same_again);
}

static void a_refused_row_changes_nothing(void **state) {
    (void)state;
    firn_job_config config = plan("uuid7", "");
    firn_job *a = start(&config), *b = start(&config);
    for (int i = 0; i < 100; i++) {
        firn_time time = time_after(past, i * MS / 4);
        no_row(b, (firn_time){-1, 0}, FIRN_ELAYOUT, "");
        firn_id x = row_at(a, time, NULL), y = row_at(b, time, NULL);
        assert_int_equal(firn_id_cmp(&x, &y), 0);
    }
    firn_job_close(a);
    firn_job_close(b);
}

/* ---- unique, of its time -------------------------------------------------------------------- */

static void row_is_unique_in_true_time(const firn_scheme *row) {
    enum { ROWS = 10000 };
    firn_id *ids = calloc(ROWS, sizeof *ids);
    char keys[300];
    snprintf(keys, sizeof keys, "%s", pins(row));
    firn_job_config config = plan(row->name, keys);
    config.shift_ms = 86400000;
    firn_job *job = start(&config);
    const firn_scheme *scheme = firn_job_scheme(job);
    assert_non_null(ids);
    for (size_t i = 0; i < ROWS; i++) {
        firn_time time = scattered(i);
        uint64_t tick = 0;
        int64_t shift_ns;
        ids[i] = row_at(job, time, &shift_ns);
        assert_int_equal(firn_scheme_tick(scheme, &time, &tick, NULL), FIRN_OK);
        uint64_t here = part(job, &ids[i], "time");
        assert_true(here >= tick && (here - tick) * scheme->tick_ns == (uint64_t)shift_ns);
    }
    are_unique(ids, ROWS);
    free(ids);
    firn_job_close(job);
}

static void every_row_is_unique_in_true_time(void **state) {
    (void)state;
    each_job(row_is_unique_in_true_time);
}

static void rows_of_one_instant_are_numbered(void **state) {
    (void)state;
    firn_job_config config = plan("snowflake", "datacenter=1 worker=3");
    firn_job *job = start(&config);
    for (uint64_t i = 0; i < 3000; i++) {
        firn_id id = row_at(job, past, NULL);
        assert_true(part(job, &id, "sequence") == i && part(job, &id, "worker") == 3);
        firn_id other = row_at(job, time_after(past, -DAY), NULL);
        assert_true(part(job, &other, "sequence") == i);
    }
    firn_job_close(job);
}

/* A million records at one time use exactly as many ticks as they need; occupied ticks are
 * skipped. */
static void a_burst_runs_on(void **state) {
    enum { ROWS = 1000000 };
    const struct {
        const char *scheme, *keys;
        uint64_t capacity;
        int64_t tick_ns;
    } bursts[] = {{"snowflake", "node=7", 4096, MS},
                  {"js53", "node=7", 64, MS},
                  {"uuid1", "node=7 clock_seq=1", 1, 100},
                  {"time:40/ms@@2000-01-01 counter:8", "", 256, MS}};
    (void)state;
    for (size_t b = 0; b < 4; b++) {
        firn_job_config config = plan(bursts[b].scheme, bursts[b].keys);
        config.shift_ms = 86400000;
        firn_job *job = start(&config);
        int64_t shift_ns = 0;
        uint64_t first = 0;
        row_at(job, time_after(past, 5 * bursts[b].tick_ns), NULL); /* one slot in the way */
        for (uint64_t i = 0; i < ROWS; i++) {
            firn_id id = row_at(job, past, &shift_ns);
            uint64_t tick = part(job, &id, "time");
            first = i == 0 ? tick : first;
            uint64_t expected = (i + (i >= 5 * bursts[b].capacity)) / bursts[b].capacity;
            assert_true(tick - first == expected &&
                        shift_ns == (int64_t)expected * bursts[b].tick_ns);
        }
        firn_job_close(job);
    }
}

/* Random parts that are counted up never meet, and a tick that has had them all is full. */
static void random_parts_never_meet(void **state) {
    enum { ROWS = (1 << 20) + 1 };
    (void)state;
    firn_id *ids = calloc(ROWS, sizeof *ids);
    firn_job_config config = plan("time:40/s random:20", "");
    firn_job *job = start(&config);
    int64_t shift_ns = 0;
    assert_non_null(ids);
    for (size_t i = 0; i < ROWS; i++) {
        assert_true(shift_ns == 0);
        ids[i] = row_at(job, past, &shift_ns);
    }
    assert_true(shift_ns == SECOND);
    are_unique(ids, ROWS);
    free(ids);
    firn_job_close(job);
}

#if !SANITIZED /* a minute with them, of the same few lines */
/* However high its sequence starts, a tick of uuid7's holds 2^25 + 1, and ends before it wraps. */
static void a_tick_of_uuid7_ends_in_order(void **state) {
    (void)state;
    firn_job_config config = plan("uuid7", "");
    firn_job *job = start(&config);
    firn_id last = {0, 0, 0, 0};
    int64_t shift_ns = 0;
    for (size_t i = 0; i < (1 << 25) + 1; i++) {
        firn_id id = row_at(job, past, &shift_ns);
        assert_true(shift_ns == 0 && firn_id_cmp(&last, &id) < 0);
        last = id;
    }
    row_at(job, past, &shift_ns);
    assert_true(shift_ns == MS);
    firn_job_close(job);
}
#endif

static void ordered_rows_stay_in_order(void **state) {
    const char *schemes[] = {"uuid7", "ulid", "typeid", "uuid6"};
    (void)state;
    for (size_t s = 0; s < 4; s++) {
        firn_job_config config = plan(schemes[s], "");
        firn_job *job = start(&config);
        firn_id last = row_at(job, past, NULL);
        for (int i = 0; i < 20000; i++) {
            firn_id id = row_at(job, time_after(past, i / 1000 * MS), NULL);
            assert_true(firn_id_cmp(&last, &id) < 0);
            last = id;
        }
        firn_job_close(job);
    }
}

/* ---- bounds --------------------------------------------------------------------------------- */

static void a_shift_has_its_bound(void **state) {
    (void)state;
    firn_job_config config = plan("js53", "node=7");
    config.shift_ms = 2;
    firn_job *job = start(&config);
    int64_t shift_ns;
    for (int i = 0; i < 192; i++) {
        row_at(job, past, &shift_ns);
        assert_true(shift_ns == i / 64 * MS);
    }
    for (int i = 0; i < 3; i++) {
        no_row(job, past, FIRN_EFULL, "192 records share 2025-06-15T15:06:40.987Z");
        no_row(job, past, FIRN_EFULL, "2 ms after it: allow a larger shift");
    }
    row_at(job, time_after(past, MS), &shift_ns);
    assert_true(shift_ns == 2 * MS);
    firn_job_close(job);
    config.shift_ms = 0;
    job = start(&config);
    for (int i = 0; i < 64; i++) {
        row_at(job, past, NULL);
    }
    no_row(job, past, FIRN_EFULL, "64 records");
    firn_job_close(job);
    config = plan("baidu", "bits=29/21/13 node=1"); /* a tick of a second is never passed by half */
    config.shift_ms = 999;
    job = start(&config);
    for (int i = 0; i < 8192; i++) {
        row_at(job, past, NULL);
    }
    no_row(job, past, FIRN_EFULL, "");
    firn_job_close(job);
}

static void disorder_has_its_bound(void **state) {
    (void)state;
    firn_job_config config = plan("snowflake", "node=7");
    config.disorder_ms = 3600000;
    firn_job *job = start(&config);
    row_at(job, past, NULL);
    row_at(job, time_after(past, -HOUR), NULL);
    no_row(job, time_after(past, -HOUR - 1), FIRN_ERANGE,
           "3600.000 s earlier than the newest record");
    no_row(job, time_after(past, -DAY - 1), FIRN_ERANGE, "86400.000 s");
    no_row(job, time_after(past, -DAY), FIRN_ERANGE, "more than 3600.000: allow more disorder");
    row_at(job, time_after(past, SECOND), NULL);
    no_row(job, time_after(past, -HOUR), FIRN_ERANGE, "");
    row_at(job, time_after(past, -HOUR + SECOND), NULL);
    firn_job_close(job);
}

/* Of a long stream with little disorder, as unique as one that is kept whole. */
static void what_is_forgotten_is_not_repeated(void **state) {
    enum { ROWS = 200000 };
    (void)state;
    firn_id *ids = calloc(ROWS, sizeof *ids);
    firn_job_config config = plan("js53", "node=7"), whole = config;
    config.disorder_ms = 20;
    config.shift_ms = 50;
    whole.shift_ms = 50;
    firn_job *job = start(&config), *same = start(&whole);
    assert_non_null(ids);
    for (size_t i = 0; i < ROWS; i++) { /* 63.9 a tick, so that ticks run on into others */
        firn_time time = time_after(past, (int64_t)(i * 10 / 639 - i * 7919 % 21) * MS);
        ids[i] = row_at(job, time, NULL);
        firn_id id = row_at(same, time, NULL);
        assert_int_equal(firn_id_cmp(&id, &ids[i]), 0);
    }
    are_unique(ids, ROWS);
    free(ids);
    firn_job_close(job);
    firn_job_close(same);
}

/* A row that is refused moves nothing on: what earlier rows took is not forgotten for it. */
static void a_refused_row_forgets_nothing(void **state) {
    enum { END = 1024, NEWEST = 1000, FULL = 192 }; /* ticks; the first table forgets at 192 */
    (void)state;
    firn_job_config config = plan("0x0:1 time:10/ms node:5", "node=7"); /* one ID a tick */
    config.disorder_ms = 150;
    config.shift_ms = 50;
    firn_job *job = start(&config);
    const firn_time epoch = firn_job_scheme(job)->epoch;
    for (int64_t tick = END - FULL; tick < NEWEST; tick++) {
        row_at(job, time_after(epoch, tick * MS), NULL);
    }
    for (int64_t tick = NEWEST; tick < END; tick++) { /* all with the same time */
        row_at(job, time_after(epoch, NEWEST * MS), NULL);
    }
    no_row(job, time_after(epoch, (END - 4) * MS), FIRN_ELAYOUT, "to the end of the layout");
    no_row(job, time_after(epoch, (NEWEST - 150) * MS), FIRN_EFULL, "more than 51 records");
    firn_job_close(job);
}

static void a_table_keeps_and_forgets(void **state) {
    enum { TICKS = 100000, KEPT = 1000 };
    (void)state;
    firn__ticks whole = {0}, late = {0};
    for (uint64_t i = 0; i < TICKS; i++) {
        uint64_t tick = i * 1000;
        assert_int_equal(firn__ticks_make_room(&whole, 0, NULL), FIRN_OK);
        assert_int_equal(firn__ticks_make_room(&late, i > KEPT ? tick - KEPT * 1000 : 0, NULL),
                         FIRN_OK);
        uint64_t *pair = firn__ticks_pair(&whole, tick), *other = firn__ticks_pair(&late, tick);
        assert_true(pair[0] == 0 && pair[1] == 0 && other[0] == 0 && other[1] == 0);
        firn__ticks_keep(&whole, pair, tick);
        firn__ticks_keep(&late, other, tick);
        pair[1] = other[1] = i;
    }
    assert_true(whole.run_used == TICKS && whole.run_size <= 4 * TICKS && late.run_size <= 4096);
    for (uint64_t i = 0; i < TICKS; i++) {
        assert_true(firn__ticks_pair(&whole, i * 1000)[1] == i);
        assert_true(i < TICKS - KEPT || firn__ticks_pair(&late, i * 1000)[1] == i);
    }
    firn__ticks_free(&whole);
    firn__ticks_free(&late);
}

/* Ticks that ascend, that come a little late, and that come from anywhere, against a plain
 * array. */
static void a_table_counts_ticks_in_any_order(void **state) {
    enum { TICKS = 20000, STEPS = 200000, KEPT = 500 };
    (void)state;
    for (uint32_t spread = 1; spread < TICKS; spread *= 7) {
        static uint32_t counts[2 * TICKS];
        uint64_t dice = spread, newest = 0;
        firn__ticks all = {0}, late = {0};
        memset(counts, 0, sizeof counts);
        for (uint64_t i = 0; i < STEPS; i++) {
            dice = dice * 6364136223846793005 + 1442695040888963407;
            uint64_t back = (dice >> 33) % spread, tick = TICKS + i * TICKS / STEPS - 1;
            tick -= dice >> 63 ? back : 0;
            newest = tick > newest ? tick : newest;
            uint64_t forgotten = newest > KEPT ? newest - KEPT : 0;
            assert_int_equal(firn__ticks_make_room(&all, 0, NULL), FIRN_OK);
            assert_int_equal(firn__ticks_make_room(&late, forgotten, NULL), FIRN_OK);
            uint64_t *pair = firn__ticks_pair(&all, tick);
            assert_true(pair[1] == counts[tick] && (pair[0] != 0) == (counts[tick] > 0));
            firn__ticks_keep(&all, pair, tick);
            pair[1] = ++counts[tick];
            if (tick >= forgotten) {
                pair = firn__ticks_pair(&late, tick);
                assert_true(pair[1] == counts[tick] - 1);
                firn__ticks_keep(&late, pair, tick);
                pair[1] = counts[tick];
            }
        }
        firn__ticks_free(&all);
        firn__ticks_free(&late);
    }
}

static void a_layout_has_its_end(void **state) {
    (void)state;
    firn_time end;
    firn_job_config config = plan("region", "node=1023 region=7");
    firn_job *job = start(&config);
    assert_true(firn_scheme_end(firn_job_scheme(job), false, &end));
    firn_time last = time_after(end, -1);
    for (int i = 0; i < 1024; i++) {
        firn_id id = row_at(job, last, NULL);
        assert_true(id.low >> 63 == 0);
    }
    no_row(job, last, FIRN_ELAYOUT, "to the end of the layout");
    no_row(job, end, FIRN_ELAYOUT, "add unsigned=1");
    no_row(job, time_after(firn_job_scheme(job)->epoch, -1), FIRN_ELAYOUT, "");
    firn_job_close(job);
    config = plan("region", "node=1023 unsigned=1");
    job = start(&config);
    firn_id id = row_at(job, end, NULL);
    assert_true(id.low >> 63 == 1);
    firn_job_close(job);
    config =
        plan("node:10 time:41/ms sequence:13", "node=512"); /* the node's top bit is the sign */
    no_job(&config, FIRN_ERANGE, "negative");
}

/* ---- missing settings ----------------------------------------------------------------------- */

static void row_needs_a_seed(const firn_scheme *row) {
    char keys[300];
    snprintf(keys, sizeof keys, "%s", pins(row));
    firn_job_config config = plan(row->name, keys);
    const char *const none[] = {NULL, ""};
    for (int i = 0; i < 2; i++) {
        config.seed = none[i];
        if (row->node_rule != FIRN_NODE_REQUIRED) {
            no_job(&config, FIRN_EUSAGE, "has random fields: set a separate random seed");
        } else {
            firn_job_close(start(&config));
        }
    }
}

static void random_fields_need_a_seed(void **state) {
    (void)state;
    each_job(row_needs_a_seed);
    firn_job_config config = plan("uuid1", "node=7 clock_seq=3");
    config.seed = NULL;
    firn_job_close(start(&config)); /* nothing of it is left to chance */
}

static void a_node_must_come_from_somewhere(void **state) {
    (void)state;
    firn_job_config config = plan("snowflake", "");
    no_job(&config, FIRN_EUSAGE, "a node (datacenter= worker=): set the node, or name the job");
    config.keys = "datacenter=3";
    no_job(&config, FIRN_EUSAGE, "(worker=): set the node, or name the job");
    config = plan("uuid6", "node=7");
    no_job(&config, FIRN_EUSAGE, "(clock_seq=): set the node");
    config = named("snowflake", "", NULL);
    no_job(&config, FIRN_EUSAGE, "set the name of the job");
    config =
        named("snowflake", "", "1234567890123456789012345678901234567890123456789012345678901234");
    no_job(&config, FIRN_ERANGE, "64 bytes: use at most 63");
    config = named("snowflake", "", "two\nlines");
    no_job(&config, FIRN_EUSAGE, "control character");
    assert_int_equal(world.log.reserves, 0);
}

static void what_makes_no_job_is_refused(void **state) {
    (void)state;
    const struct {
        const char *scheme, *keys;
        int code;
        const char *words;
    } bad[] = {{NULL, "", FIRN_EUSAGE, "no scheme"},
               {"uuid4", "", FIRN_EUSAGE, "uuid4 has no time"},
               {"uuid5", "", FIRN_EUSAGE, "digest"},
               {"uuid8", "", FIRN_EUSAGE, "does not generate"},
               {"snowflake", "node=1024", FIRN_ERANGE, "10 bits"},
               {"snowflake", "node=1 window=500ms", FIRN_EUSAGE, "window= is not a key of a job"},
               {"snowflake", "node=1 history=job", FIRN_EUSAGE, "history="},
               {"snowflake", "node=1 store=memory:", FIRN_EUSAGE, "store="},
               {"snowflake", "node=1 time=2020-01-01", FIRN_EUSAGE, "time"},
               {"snowflake", "worker=ticket datacenter=1", FIRN_EUSAGE, "worker=ticket"},
               {"snowflake", "wroker=1", FIRN_EUSAGE, "did you mean `worker`?"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        firn_job_config config = plan(bad[i].scheme, bad[i].keys);
        no_job(&config, bad[i].code, bad[i].words);
    }
    firn_job_config config = plan("snowflake", "node=1");
    config.shift_ms = 86400001;
    no_job(&config, FIRN_ERANGE, "shift_ms=86400001 is out of range (0 to 86400000)");
    config.shift_ms = 0;
    config.disorder_ms = -1;
    no_job(&config, FIRN_ERANGE, "disorder_ms=-1");
}

static void without_a_store_it_is_reported_once(void **state) {
    (void)state;
    firn_job_config config = plan("snowflake", "datacenter=1 worker=3");
    firn_job *job = start(&config);
    for (int i = 0; i < 100; i++) {
        row_at(job, past, NULL);
    }
    firn_job_close(job);
    assert_int_equal(world.notices, 1);
    assert_non_null(strstr(world.notice, "datacenter=1 worker=3 of snowflake: without a store"));
    config = plan("uuid7", ""); /* nobody's node */
    firn_job_close(start(&config));
    assert_int_equal(world.notices, 1);
}

static void a_forked_child_has_no_job(void **state) {
    (void)state;
    firn_job_config config = plan("snowflake", "node=7");
    firn_job *job = start(&config);
    firn_id id = row_at(job, past, NULL);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int64_t shift_ns;
        _exit(firn_job_next(job, &past, &id, &shift_ns, NULL) == FIRN_EFORKED ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    firn_job_close(job);
}

/* ---- on a store ----------------------------------------------------------------------------- */

static void a_job_has_a_node_for_good(void **state) {
    (void)state;
    firn_job_config config = named("snowflake", "", "orders 2019");
    firn_job *job = start(&config);
    assert_false(firn_job_again(job));
    assert_int_equal(worker_of(job), 1023);
    firn_job_close(job);
    assert_true(mark_of(&world.log, "snowflake", "1023") == (INT64_C(1) << 53) + 2);
    assert_true(mark_of(&world.log, "snowflake jobs", "orders 2019") == 1);
    config.name = "orders 2020";
    job = start(&config);
    assert_int_equal(worker_of(job), 1022);
    firn_job_close(job);
    config = named("snowflake", "datacenter=3", "of three");
    job = start(&config);
    assert_int_equal(worker_of(job), 3 * 32 + 31);
    firn_job_close(job);
    config = named("snowflake", "node=5", "pinned");
    job = start(&config);
    assert_int_equal(worker_of(job), 5);
    firn_job_close(job);
    config.name = "pinned too";
    no_job(&config, FIRN_ETAKEN, "another job's");
    refused("snowflake", "node=1022 max_wait=0", FIRN_ETAKEN, "back-dated IDs only");
    assert_int_equal(keys_of(&world.log, "snowflake"), 4);
}

static void the_same_job_may_be_done_again(void **state) {
    (void)state;
    const struct {
        const char *scheme, *keys;
    } jobs[] = {{"snowflake", ""}, {"tsid", "node=9"}, {"uuid1", "node=7"}, {"uuid7", ""}};
    for (size_t i = 0; i < 4; i++) {
        firn_job_config config = named(jobs[i].scheme, jobs[i].keys, "again");
        config.digest = 42;
        firn_job *job = start(&config), *same;
        firn_id id = row_at(job, past, NULL), other;
        same = start(&config); /* while the first one is at work, too */
        assert_true(!firn_job_again(job) && firn_job_again(same));
        other = row_at(same, past, NULL);
        assert_int_equal(firn_id_cmp(&id, &other), 0);
        firn_job_close(same);
        firn_job_close(job);
        firn_job_config changed = config;
        changed.digest = 43;
        no_job(&changed, FIRN_ETAKEN, "job again was started with other input or options");
        changed = config;
        changed.shift_ms++; /* a row let in would take the slot that the next one had before */
        no_job(&changed, FIRN_ETAKEN, "or another name of the job");
        changed = config;
        changed.disorder_ms++;
        no_job(&changed, FIRN_ETAKEN, "or another name of the job");
        changed = config;
        changed.seed = "another";
        no_job(&changed, FIRN_ETAKEN, "or another name of the job");
        changed = config;
        changed.keys = with(config.keys, "unsigned=1");
        no_job(&changed, FIRN_ETAKEN, "or another name of the job");
    }
    firn_job_config config = named("uuid6", "node=7", "again"); /* shares uuid1's namespace */
    config.digest = 42;
    no_job(&config, FIRN_ETAKEN, "other input or options");
}

/* The reach is a part of the layout, so a job must have the namespace's. */
static void a_job_has_the_reach_of_its_namespace(void **state) {
    (void)state;
    firn_job_config config = named("snowflake", "ns=long reach=10min", "of long");
    config.digest = 42;
    closed(opened("snowflake", config.keys));
    firn_job *job = start(&config), *same = start(&config);
    const firn_id id = row_at(job, past, NULL), other = row_at(same, past, NULL);
    assert_true(firn_job_again(same));
    assert_int_equal(firn_id_cmp(&id, &other), 0);
    firn_job_close(same);
    firn_job_close(job);
    config.keys = "ns=long";
    config.name = "another";
    no_job(&config, FIRN_ENAMESPACE, "set reach=10min");
}

static void a_record_without_a_node_is_healed(void **state) {
    (void)state;
    firn_job_config config = named("snowflake", "", "cut short");
    int64_t first;
    firn_mark held;
    firn_job_close(start(&config));
    firn_request record = {.ns = "snowflake jobs",
                           .layout = "job",
                           .key = "cut short",
                           .count = 1,
                           .grant = world.log.grants[1],
                           .note = "test"};
    assert_true(world.log.reserves == 2 && world.log.grants[0] == world.log.grants[1]);
    world_end(NULL);
    assert_int_equal(world_new(NULL), 0);
    config.store = world.store;
    assert_int_equal(firn_store_reserve(world.store, &record, &first, &held, NULL), FIRN_OK);
    firn_job *job = start(&config);
    assert_true(firn_job_again(job));
    assert_int_equal(worker_of(job), 1023);
    firn_job_close(job);
    job = start(&config);
    assert_int_equal(worker_of(job), 1023);
    firn_job_close(job);
    assert_int_equal(keys_of(&world.log, "snowflake"), 1);
}

static void a_store_that_fails_gives_no_job(void **state) {
    (void)state;
    firn_job_config config = named("snowflake", "", "unlucky");
    world.log.fate = FATE_DOWN;
    world.log.fated = -1;
    no_job(&config, FIRN_ESTORE, "down");
    world.log.fate = FATE_LOST;
    world.log.fated = 1; /* the reply to the record; sent again, it is recognised by its grant */
    firn_job *job = start(&config);
    assert_int_equal(worker_of(job), 1023);
    firn_job_close(job);
    assert_int_equal(keys_of(&world.log, "snowflake jobs"), 1);
}

static void live_issue_never_meets_a_job(void **state) {
    (void)state;
    const char *row = "time:41/ms@@2024-01-01 node:2 sequence:12";
    firn_gen *live[3];
    for (size_t i = 0; i < 2; i++) {
        live[i] = opened(row, "");
    }
    firn_job_config config = named(row, "", "first");
    firn_job *job = start(&config);
    firn_id id = row_at(job, past, NULL);
    for (size_t i = 0; i < 2; i++) {
        assert_true(part(job, &id, "node") != status_of(live[i]).node);
    }
    firn_id *ids = dated_by(live[0], &past); /* takes the last one */
    assert_true(field(live[0], ids, "node") != part(job, &id, "node"));
    free(ids);
    firn_job_close(job);
    config.name = "second";
    no_job(&config, FIRN_EEND, "every node of time:41/ms");
    refused(row, "max_wait=0", FIRN_EBUSY, "");
    pass(&world.clock, HOUR);
    for (size_t i = 0; i < 2; i++) {
        next(live[i]);
        closed(live[i]);
    }
    config.name = "first";
    job = start(&config); /* its node is its own still */
    firn_id same = row_at(job, past, NULL);
    assert_true(firn_job_again(job) && firn_id_cmp(&id, &same) == 0);
    firn_job_close(job);
}

static void ticks_and_jobs_are_not_among_the_nodes(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "");
    for (int i = 0; i < 50; i++) {
        firn_time time = time_after(past, i * SECOND);
        free(dated_by(gen, &time));
    }
    assert_int_equal(keys_of(&world.log, "snowflake"), 2);
    assert_int_equal(keys_of(&world.log, "snowflake ticks"), 50);
    closed(gen);
    char keys[300] = "ns=", words[60] = "has 250 characters: at most 249";
    memset(keys + 3, 'n', 250);
    refused("snowflake", keys, FIRN_ERANGE, words);
    firn_job_config config = named("snowflake", keys, "long");
    no_job(&config, FIRN_ERANGE, words);
    keys[3 + 249] = '\0';
    firn_job_close(start(&config));
    gen = opened("snowflake", keys);
    free(dated_by(gen, &past));
    closed(gen);
}

/* ---- on SQLite ------------------------------------------------------------------------------ */

/* Ends the process at the n-th point that a verb passes. */
static void end_here(void *self, const char *name) {
    (void)name;
    if (--*(int *)self == 0) {
        _exit(7);
    }
}

static firn_store *sqlite(int *left) {
    firn_error error = {0};
    firn_store *store = NULL;
    const firn_store_options options = {.module_dir = FIRN_BUILD_DIR "/firn",
                                        .unsafe = true,
                                        .failpoint = left != NULL ? end_here : NULL,
                                        .failpoint_self = left};
    if (firn_store_open(&store, url, &options, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return store;
}

/* Does the job that is killed at its n-th point continue as the same one? False: it has fewer
 * points. */
static bool killed_at(int n) {
    int status = -1, left = n;
    assert_int_equal(set_up(NULL), 0);
    firn_job_config config = plan("snowflake", "");
    config.name = "killed";
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        firn_job *job = NULL;
        config.store = sqlite(&left);
        int code = firn_job_open(&job, &config, NULL);
        _exit(code == FIRN_OK ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 7 || WEXITSTATUS(status) == 0));
    config.store = sqlite(NULL);
    for (int i = 0; i < 2; i++) {
        firn_job *job = start(&config);
        assert_int_equal(worker_of(job), 1023);
        assert_true(i == 0 || firn_job_again(job));
        firn_job_close(job);
    }
    config.digest = 1;
    no_job(&config, FIRN_ETAKEN, "other input or options");
    firn_store_close(config.store);
    assert_int_equal(tear_down(NULL), 0);
    return WEXITSTATUS(status) == 7;
}

static void a_killed_job_continues(void **state) {
    (void)state;
    int n = 1;
    while (n < 100 && killed_at(n)) {
        n++;
    }
    assert_in_range(n, 4, 99);
}

static void jobs_on_sqlite_keep_apart(void **state) {
    enum { JOBS = 4, TWICE = 2, ROWS = 100 };
    (void)state;
    firn_id ids[JOBS * ROWS], again[ROWS];
    assert_int_equal(set_up(NULL), 0);
    for (int i = 0; i < JOBS * TWICE; i++) {
        char name[20];
        snprintf(name, sizeof name, "job %d", i / TWICE);
        firn_job_config config = plan("snowflake", "");
        config.store = sqlite(NULL);
        config.name = name;
        firn_job *job = start(&config);
        assert_true(firn_job_again(job) == (i % TWICE == 1));
        for (size_t j = 0; j < ROWS; j++) {
            (i % TWICE == 0 ? ids + i / TWICE * ROWS : again)[j] = row_at(job, scattered(j), NULL);
        }
        if (i % TWICE == 1) {
            for (size_t j = 0; j < ROWS; j++) {
                assert_int_equal(firn_id_cmp(&again[j], &ids[(size_t)(i / TWICE) * ROWS + j]), 0);
            }
        }
        firn_job_close(job);
        firn_store_close(config.store);
    }
    are_unique(ids, (size_t)JOBS * ROWS);
    assert_int_equal(tear_down(NULL), 0);
}

/* More than a word is drawn for each row; both words are random, and follow from the seed. */
static void wide_fields_are_random(void **state) {
    enum { WIDE = 20 };
    uint64_t high[2][WIDE], low[2][WIDE];
    (void)state;
    for (int run = 0; run < 2; run++) {
        firn_job_config config = plan("time:41/ms@@2020-01-01 sequence:7 random:80", "");
        config.seed = "wide";
        firn_job *job = start(&config);
        for (int i = 0; i < WIDE; i++) {
            firn_error error = {0};
            firn_fields fields;
            firn_id id = row_at(job, scattered((size_t)i), NULL);
            int random_index = firn_scheme_field(firn_job_scheme(job), "random");
            assert_int_equal(firn_unpack(&fields, firn_job_scheme(job), &id, &error), FIRN_OK);
            high[run][i] = fields.value[random_index].high;
            low[run][i] = fields.value[random_index].low;
        }
        firn_job_close(job);
    }
    assert_memory_equal(high[0], high[1], sizeof high[0]);
    assert_memory_equal(low[0], low[1], sizeof low[0]);
    int changes = 0;
    for (int i = 1; i < WIDE; i++) {
        assert_true(low[0][i] != low[0][i - 1]);
        changes += high[0][i] != high[0][i - 1];
    }
    assert_true(changes >= WIDE - 3);
}

int main(int count, char **arguments) {
    if (count > 1) {
        cmocka_set_skip_filter(arguments[1]); /* of test/mutate */
    }
    const struct CMUnitTest tests[] = {
#define TEST(sentence, function) {sentence, function, world_new, world_end, NULL}
        TEST("recorded rows give recorded IDs", recorded_rows_give_recorded_ids),
        TEST("the same rows give the same IDs", the_same_rows_give_the_same_ids),
        TEST("a refused row changes nothing", a_refused_row_changes_nothing),
        TEST("every row is unique in true time", every_row_is_unique_in_true_time),
        TEST("rows of one instant are numbered", rows_of_one_instant_are_numbered),
        TEST("a burst runs on", a_burst_runs_on),
        TEST("random parts never meet", random_parts_never_meet),
#if !SANITIZED
        TEST("a tick of uuid7's ends in order", a_tick_of_uuid7_ends_in_order),
#endif
        TEST("ordered rows stay in order", ordered_rows_stay_in_order),
        TEST("a shift has its bound", a_shift_has_its_bound),
        TEST("disorder has its bound", disorder_has_its_bound),
        TEST("what is forgotten is not repeated", what_is_forgotten_is_not_repeated),
        TEST("a refused row forgets nothing", a_refused_row_forgets_nothing),
        TEST("a table keeps and forgets", a_table_keeps_and_forgets),
        TEST("a table counts ticks in any order", a_table_counts_ticks_in_any_order),
        TEST("a layout has its end", a_layout_has_its_end),
        TEST("random fields need a seed", random_fields_need_a_seed),
        TEST("a node must come from somewhere", a_node_must_come_from_somewhere),
        TEST("what makes no job is refused", what_makes_no_job_is_refused),
        TEST("without a store it is reported once", without_a_store_it_is_reported_once),
        TEST("a forked child has no job", a_forked_child_has_no_job),
        TEST("a job has a node for good", a_job_has_a_node_for_good),
        TEST("the same job may be done again", the_same_job_may_be_done_again),
        TEST("a job has the reach of its namespace", a_job_has_the_reach_of_its_namespace),
        TEST("a record without a node is healed", a_record_without_a_node_is_healed),
        TEST("a store that fails gives no job", a_store_that_fails_gives_no_job),
        TEST("live issue never meets a job", live_issue_never_meets_a_job),
        TEST("ticks and jobs are not among the nodes", ticks_and_jobs_are_not_among_the_nodes),
        TEST("wide fields are random", wide_fields_are_random),
        TEST("a killed job continues", a_killed_job_continues),
        TEST("jobs on SQLite keep apart", jobs_on_sqlite_keep_apart),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
