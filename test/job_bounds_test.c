/* SPDX-License-Identifier: MIT */
/* The bounds of a job: how far a record may be out of order to the nanosecond, where a tick starts,
 * how many IDs it holds, which earlier records it keeps, and which settings are invalid. The
 * layouts are small, so that a few records reach each bound. Known numbers are from an independent
 * SHA-256. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generating.h"

#include <sha2.h>
#include <unistd.h>

/* ---- short words ---------------------------------------------------------------------------- */

static firn_job_config plan(const char *scheme, const char *keys) {
    return (firn_job_config){.size = sizeof(firn_job_config),
                             .scheme = scheme,
                             .keys = keys,
                             .seed = "a seed",
                             .shift_ms = 1000,
                             .notice = hear};
}

static firn_job *start_as(const firn_job_config *config) {
    firn_error error = {0};
    firn_job *job = NULL;
    if (firn_job_open(&job, config, &error) != FIRN_OK) {
        fail_msg("%s %s: %s", config->scheme, config->keys, error.text);
    }
    return job;
}

static firn_job *start(const char *scheme, const char *keys, int64_t disorder_ms) {
    firn_job_config config = plan(scheme, keys);
    config.disorder_ms = disorder_ms;
    return start_as(&config);
}

/* A record of this time, which moves by `shift_ns`. */
static firn_id moved(firn_job *job, firn_time time, int64_t shift_ns) {
    firn_error error = {0};
    firn_id id;
    int64_t shift = -1;
    if (firn_job_next(job, &time, &id, &shift, &error) != FIRN_OK) {
        fail_msg("%s: %s", firn_job_scheme(job)->name, error.text);
    }
    assert_true(shift == shift_ns);
    return id;
}

static void no_row(firn_job *job, firn_time time, int code, const char *words) {
    firn_error error = {0};
    firn_id id;
    int64_t shift_ns;
    assert_int_equal(firn_job_next(job, &time, &id, &shift_ns, &error), code);
    error_text(&error, code, words);
}

/* A record of this time; `words` of its refusal, or NULL. */
static void row(firn_job *job, firn_time time, const char *words) {
    if (words == NULL) {
        moved(job, time, 0);
    } else {
        no_row(job, time, FIRN_ERANGE, words);
    }
}

static firn_value part(const firn_job *job, const firn_id *id, const char *name) {
    firn_fields fields;
    int i = firn_scheme_field(firn_job_scheme(job), name);
    assert_true(i >= 0);
    assert_int_equal(firn_unpack(&fields, firn_job_scheme(job), id, NULL), FIRN_OK);
    return fields.value[i];
}

static uint64_t next_part(firn_job *job, firn_time time, const char *name) {
    firn_id id = moved(job, time, 0);
    return part(job, &id, name).low;
}

/* ---- calls that are replaced ---------------------------------------------------------------- */

static const uint64_t *chosen; /* the first words of each digest; NULL: its own */
static bool no_memory;         /* for the next calloc */
static uint64_t hashed;        /* digests by libmd */

void __real_SHA256Final(uint8_t digest[SHA256_DIGEST_LENGTH], SHA2_CTX *context);
void __wrap_SHA256Final(uint8_t digest[SHA256_DIGEST_LENGTH], SHA2_CTX *context);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void __wrap_SHA256Final(uint8_t digest[SHA256_DIGEST_LENGTH], SHA2_CTX *context) {
    __real_SHA256Final(digest, context);
    hashed++;
    for (int i = 0; chosen != NULL && i < 16; i++) {
        digest[i] = (uint8_t)(chosen[i / 8] >> (56 - i % 8 * 8));
    }
}

void *__wrap_calloc(size_t count, size_t size) {
    bool fails = no_memory;
    no_memory = false;
    return fails ? NULL : __real_calloc(count, size);
}

/* ---- order ---------------------------------------------------------------------------------- */

static void disorder_is_exact_to_the_nanosecond(void **state) {
    static const struct {
        int32_t newest_ns, ns;
        int64_t back_s;
        const char *words;
    } rows[] = {
        {987654321, 487654321, 1, NULL},
        {987654321, 487654320, 1, " 1.500 s earlier than the newest record, more than 1.500"},
        {100000000, 600000000, 2, NULL},
        {100000000, 599999999, 2, " 1.500 s earlier"},
        {99999999, 900000000, 3, " 2.199 s earlier"},
        {999999, 0, 3, " 3.000 s earlier"},
        {5, 5, 3, " 3.000 s earlier"},
        {5, 5, 1, NULL},
        {5, 5, 0, NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        firn_job *job = start("snowflake", "node=1", 1500);
        row(job, (firn_time){1750000000, rows[i].newest_ns}, NULL);
        row(job, (firn_time){1750000000 - rows[i].back_s, rows[i].ns}, rows[i].words);
        row(job, (firn_time){1750000000, rows[i].newest_ns}, NULL);
        firn_job_close(job);
    }
}

/* Nothing is newer than it, also before 1970. */
static void the_first_record_is_in_order(void **state) {
    (void)state;
    firn_job *job = start("uuid6", "", 1500);
    row(job, (firn_time){-100000000, 0}, NULL);
    row(job, (firn_time){-100000002, 0}, " 2.000 s earlier");
    firn_job_close(job);
}

/* Also a millisecond is a limit; without one, nothing is out of order. */
static void the_least_disorder_is_a_limit(void **state) {
    (void)state;
    firn_job *job = start("snowflake", "node=1", 1);
    row(job, (firn_time){1750000000, 5000000}, NULL);
    row(job, (firn_time){1750000000, 4000000}, NULL);
    row(job, (firn_time){1750000000, 3999999},
        " 0.001 s earlier than the newest record, more than 0.001");
    firn_job_close(job);
}

/* 292 years: a nanosecond more is refused, and so is what does not fit 63 bits of nanoseconds. */
static void the_greatest_disorder_is_exact(void **state) {
    const int64_t most_ms = INT64_MAX / MS - 2000, base = 1000000000;
    const firn_time newest = {base + most_ms / 1000, (int32_t)(most_ms % 1000 * MS)};
    (void)state;
    firn_job *job = start("uuid7", "", most_ms);
    row(job, newest, NULL);
    row(job, (firn_time){base, 0}, NULL);
    row(job, (firn_time){base - 1, 999999999}, " s earlier");
    row(job, (firn_time){newest.sec, 999999999}, NULL);
    row(job, (firn_time){base - 2, 0}, " 9223372036.999 s earlier");
    firn_job_close(job);
    firn_job_config config = plan("uuid7", "");
    config.disorder_ms = most_ms + 1;
    no_job(&config, FIRN_ERANGE, "disorder_ms=9223372034855 is out of range (0 to 9223372034854)");
}

static void a_first_record_before_the_epoch_is_refused(void **state) {
    (void)state;
    firn_job *job = start("snowflake", "node=1", 1500);
    no_row(job, (firn_time){0, 0}, FIRN_ELAYOUT, "outside the range");
    firn_job_close(job);
}

/* ---- where a tick starts, and what it holds ------------------------------------------------- */

/* The sequence of two bits starts at 0 or 1, by the tick, so that a tick has room for three. */
static void a_tick_that_starts_at_random_ends_in_order(void **state) {
    static const uint64_t first[] = {1, 1, 1, 0}; /* by the digest of the tick */
    (void)state;
    firn_job *job = start("scru128", "bits=48/64/2/14", 0);
    for (int tick = 0; tick < 4; tick++) {
        for (uint64_t i = 0; i < 3; i++) {
            assert_int_equal(next_part(job, (firn_time){0, tick * (int32_t)MS}, "sequence"),
                             first[tick] + i);
        }
    }
    moved(job, (firn_time){0, 0}, 4 * MS);
    firn_job_close(job);
    job = start("scru128", "bits=48/64/1/15", 0); /* below half of 2: at 0 */
    assert_int_equal(next_part(job, (firn_time){0, 0}, "sequence"), 0);
    assert_int_equal(next_part(job, (firn_time){0, 0}, "sequence"), 1);
    moved(job, (firn_time){0, 0}, MS);
    firn_job_close(job);
}

/* A single random bit is one: the sequence starts by the digest of tick 0, below 2^14. */
static void one_random_bit_is_drawn(void **state) {
    uint64_t seen = 0;
    (void)state;
    firn_job *job = start("scru128", "bits=48/64/15/1", 0);
    assert_int_equal(next_part(job, (firn_time){0, 0}, "sequence"), 0x6a6e6879f958ace9 % (1 << 14));
    firn_job_close(job);
    firn_job_config config = plan("time:40/s sequence:8 random:1", "");
    job = start_as(&config);
    for (int i = 0; i < 64; i++) {
        seen |= UINT64_C(1) << next_part(job, (firn_time){0, 0}, "random");
    }
    assert_int_equal(seen, 3);
    firn_job_close(job);
    config.seed = NULL;
    no_job(&config, FIRN_EUSAGE, "has random fields");
}

/* A tick of ten numbers has each once, from where its digest says, also the tick 0. */
static void a_tick_wraps_round(void **state) {
    static const uint64_t first[] = {3, 5, 9, 8}; /* the digest's first word modulo 10 */
    (void)state;
    firn_job *job = start("time-random", "digits=1", 0);
    for (int tick = 0; tick < 4; tick++) {
        for (uint64_t i = 0; i < 10; i++) {
            assert_int_equal(next_part(job, (firn_time){0, tick * (int32_t)MS}, "random"),
                             (first[tick] + i) % 10);
        }
    }
    moved(job, (firn_time){0, 0}, 4 * MS);
    firn_job_close(job);
}

/* The carry into the upper word of 80 bits, and none without need. */
static void wide_numbers_carry(void **state) {
    static const uint64_t starts[][2] = {
        {UINT64_MAX - 1, 0x7123}, {0, 0x7123}, {UINT64_MAX, 0x7fff}};
    (void)state;
    for (size_t s = 0; s < sizeof starts / sizeof starts[0]; s++) {
        firn_job *job = start("ulid", "", 0);
        firn_id last = {0, 0, 0, 0};
        chosen = starts[s];
        for (uint64_t i = 0; i < 4; i++) {
            firn_id id = moved(job, (firn_time){1, 0}, 0);
            firn_value number = part(job, &id, "random");
            assert_true(number.low == starts[s][0] + i &&
                        number.high == starts[s][1] + (number.low < i));
            assert_true(firn_id_cmp(&last, &id) < 0);
            last = id;
        }
        chosen = NULL;
        firn_job_close(job);
    }
}

/* Random fields of more than 64 bits take two words of the stream for each ID. */
static void wide_fields_take_whole_words(void **state) {
    static const uint64_t stream[] = {0xe5c53e2ccaee770c, 0x6d2ee832fa3f69bb, 0x462d5d8788011e92,
                                      0x23738df812286edf, 0x4d5f1a14d81a782f, 0x64043353c5d041ac};
    (void)state;
    firn_job *job = start("time:40/s sequence:8 random:80", "", 0);
    for (uint64_t i = 0; i < 3; i++) {
        firn_id id = moved(job, (firn_time){1, 0}, 0);
        firn_value number = part(job, &id, "random");
        assert_true(number.low == stream[2 * i] && number.high == (stream[2 * i + 1] & 0xffff));
        assert_int_equal(part(job, &id, "sequence").low, i);
    }
    firn_job_close(job);
}

/* From some number of digests on, libcrypto computes them, the same ones. */
static void a_long_job_follows_from_its_seed(void **state) {
    enum { TICKS = 40000, BY_LIBMD = 17000 };
    uint8_t key[SHA256_DIGEST_LENGTH], digest[SHA256_DIGEST_LENGTH];
    SHA2_CTX context;
    (void)state;
    SHA256Init(&context);
    SHA256Update(&context, (const uint8_t *)"firn job\0a seed", 16);
    __real_SHA256Final(key, &context);
    firn_job *job = start("ulid", "", 0);
    hashed = 0;
    for (int64_t tick = 1; tick <= TICKS; tick++) {
        const uint64_t bytes = htobe64((uint64_t)tick);
        uint64_t expected;
        SHA256Init(&context);
        SHA256Update(&context, key, sizeof key);
        SHA256Update(&context, (const uint8_t *)"t", 1);
        SHA256Update(&context, (const uint8_t *)&bytes, sizeof bytes);
        __real_SHA256Final(digest, &context);
        memcpy(&expected, digest, sizeof expected);
        assert_int_equal(next_part(job, time_after((firn_time){0, 0}, tick * MS), "random"),
                         be64toh(expected));
    }
    assert_in_range(hashed, 1, BY_LIBMD);
    firn_job_close(job);
}

/* With one slot per tick and 1024 ticks, a refusal at the end says why. */
static void the_end_is_told_from_a_full_tick(void **state) {
    firn_job_config config = plan("0x0:1 time:10/ms node:5", "node=7");
    (void)state;
    config.shift_ms = 1;
    firn_job *job = start_as(&config);
    const firn_time epoch = firn_job_scheme(job)->epoch;
    const firn_time last = time_after(epoch, 1023 * MS), before = time_after(epoch, 1022 * MS);
    moved(job, before, 0);
    moved(job, before, MS);
    no_row(job, before, FIRN_EFULL, "more than 2 records share");
    no_row(job, last, FIRN_ELAYOUT, "no slot of");
    no_row(job, time_after(epoch, 1024 * MS), FIRN_ELAYOUT, "");
    firn_job_close(job);
}

/* ---- earlier records that are kept ---------------------------------------------------------- */

/* With one slot per tick, a table that grows keeps the first tick, in any order and within the
 * disorder. */
static void the_earliest_tick_is_kept(void **state) {
    static const struct {
        const char *scheme, *keys;
        int64_t sec, disorder_ms, tick_ns;
    } rows[] = {{"0x0:1 time:20/ms node:5", "node=7", 0, 0, MS},
                {"0x0:1 time:20/ms node:5", "node=7", 0, 3600000, MS},
                {"uuid6", "node=7 clock_seq=1", -1000, 0, 100}}; /* before 1970 */
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        firn_job_config config = plan(rows[i].scheme, rows[i].keys);
        config.shift_ms = 0;
        config.disorder_ms = rows[i].disorder_ms;
        firn_job *job = start_as(&config);
        const firn_time first = {rows[i].sec, 0};
        moved(job, time_after(first, 5000 * rows[i].tick_ns),
              0); /* the others are not in the run */
        for (int64_t tick = 0; tick < 1000; tick++) {
            moved(job, time_after(first, tick * rows[i].tick_ns), 0);
            no_row(job, first, FIRN_EFULL, "more than 1 records share");
        }
        firn_job_close(job);
    }
}

static size_t pages(void) {
    size_t size = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%zu", &size), 1);
    fclose(file);
    return size;
}

/* With a limit of the disorder, memory does not grow with the records. */
static void what_cannot_come_again_is_forgotten(void **state) {
    enum { TICKS = 200000, MOST = 1 << 20 }; /* bytes; all of them would take 3.2 MB */
    (void)state;
    firn_job *job = start("js53", "node=7", 20);
    moved(job, (firn_time){1750000000, 0}, 0);
    size_t before = pages();
    for (int64_t tick = 1; tick < TICKS; tick++) {
        moved(job, time_after((firn_time){1750000000, 0}, tick * MS), 0);
    }
    assert_true((pages() - before) * (size_t)sysconf(_SC_PAGESIZE) < MOST);
    firn_job_close(job);
}

/* ---- what makes a job ----------------------------------------------------------------------- */

static void a_name_has_no_control_characters(void **state) {
    static const struct {
        const char *name;
        int code;
    } rows[] = {{"import", FIRN_OK},    {"a b", FIRN_OK},       {"caf\xc3\xa9", FIRN_OK},
                {"a\x7f", FIRN_EUSAGE}, {"a\x1f", FIRN_EUSAGE}, {"\n", FIRN_EUSAGE}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const firn_job_config config = {.size = sizeof config,
                                        .scheme = "snowflake",
                                        .keys = "",
                                        .seed = "a seed",
                                        .shift_ms = 1000,
                                        .store = world.store,
                                        .name = rows[i].name};
        firn_job *job = NULL;
        assert_int_equal(firn_job_open(&job, &config, NULL), rows[i].code);
        firn_job_close(job);
    }
}

/* As many of the missing parts as fit, each as a whole. */
static void missing_parts_are_named(void **state) {
    static const struct {
        const char *scheme, *words;
    } rows[] = {
        {"node:5 time:40/s", "layout needs a node (node=): set the node, or name the job"},
        {"a2345678901234:5 b2345678901234:5 c2345678901234:5 d2345678901234:5 e234567890123:5 f:5 "
         "time:40/s",
         "(a2345678901234= b2345678901234= c2345678901234= d2345678901234= e234567890123= f=): "
         "set the node"},
        {"a:1 b:1 c:1 d:1 e:1 f:1 g:1 h:1 i:1 j:1 k:1 time:40/s", "h= i= j= k=): set the node"},
        {"a2345678901234:5 b2345678901234:5 c2345678901234:5 d2345678901234:5 e2345678901234:5 f:5 "
         "time:40/s",
         "(a2345678901234= b2345678901234= c2345678901234= d2345678901234= e2345678901234=): set "
         "the node"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        firn_job_config config = plan(rows[i].scheme, "");
        no_job(&config, FIRN_EUSAGE, rows[i].words);
    }
    firn_job_config config = plan("node:5 time:40/s", "node=ticket");
    no_job(&config, FIRN_EUSAGE, "node=ticket would change from run to run");
}

/* Their nodes share digits by one key, which the store keeps; a single digit, too. */
static void shared_digits_need_the_store(void **state) {
    (void)state;
    firn_job_config config = plan("time-random", "node=0 digits=1");
    no_job(&config, FIRN_EUSAGE, "share their digits by a key in the store");
    config.keys = "node=5";
    no_job(&config, FIRN_EUSAGE, "share their digits by a key in the store");
    config.store = world.store;
    config.name = "first";
    firn_job_close(start_as(&config));
    assert_int_equal(keys_of(&world.log, "time-random key"), 1);
}

/* A store's record of a job must be the same in each version: 63 bits of the digest, and odd. */
static void the_grant_of_a_job_stays(void **state) {
    (void)state;
    firn_job_config config = plan("snowflake", "node=5");
    config.store = world.store;
    config.name = "orders";
    config.digest = 0x0123456789abcdf3; /* by which the lowest bits of the hash are 0 */
    firn_job_close(start_as(&config));
    assert_true(world.log.grants[0] == 0x3843a7b26daea631);
    assert_true(world.log.grants[1] == world.log.grants[0]); /* of the name and of the node */
    config.digest ^= UINT64_C(1) << 63;
    no_job(&config, FIRN_ETAKEN, "job orders was started with other input or options");
}

static const char *warn(void *self) {
    (void)self;
    return "this store forgets: use another";
}

static void stay_open(void *self) {
    (void)self;
}

/* A job passes on what its store warns of. */
static void a_store_is_reported(void **state) {
    firn_store_ops warning = recorder_ops;
    (void)state;
    warning.caution = warn;
    warning.close = stay_open; /* the world closes it */
    firn_job_config config = plan("uuid7", "");
    config.name = "careful";
    config.store = world.store;
    firn_job_close(start_as(&config));
    assert_int_equal(world.notices, 0);
    assert_int_equal(firn_store_wrap(&config.store, &warning, &world.log, NULL), FIRN_OK);
    firn_job_close(start_as(&config));
    assert_int_equal(world.notices, 1);
    assert_string_equal(world.notice, warn(NULL));
    firn_store_close(config.store);
}

/* Of a caller with an older or a newer header: what is beyond its size is not read. */
static void a_configuration_has_its_size(void **state) {
    (void)state;
    struct {
        firn_job_config config;
        char more[4096];
    } newer = {.config = plan("snowflake", "node=5")};
    memset(newer.more, 0xff, sizeof newer.more);
    newer.config.size = sizeof newer;
    firn_job_close(start_as(&newer.config));
    firn_job_config older = plan("snowflake", "node=5");
    older.size = offsetof(firn_job_config, shift_ms);
    older.shift_ms = older.disorder_ms = -1;
    firn_job_close(start_as(&older));
}

static void without_memory_there_is_no_job(void **state) {
    (void)state;
    firn_job_config config = plan("snowflake", "node=5");
    no_memory = true;
    no_job(&config, FIRN_EMEMORY, "out of memory for a job");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_new, world_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(disorder_is_exact_to_the_nanosecond),
        TEST(the_first_record_is_in_order),
        TEST(the_least_disorder_is_a_limit),
        TEST(the_greatest_disorder_is_exact),
        TEST(a_first_record_before_the_epoch_is_refused),
        TEST(a_tick_that_starts_at_random_ends_in_order),
        TEST(one_random_bit_is_drawn),
        TEST(a_tick_wraps_round),
        TEST(wide_numbers_carry),
        TEST(wide_fields_take_whole_words),
        TEST(a_long_job_follows_from_its_seed),
        TEST(the_end_is_told_from_a_full_tick),
        TEST(the_earliest_tick_is_kept),
        TEST(what_cannot_come_again_is_forgotten),
        TEST(a_name_has_no_control_characters),
        TEST(missing_parts_are_named),
        TEST(shared_digits_need_the_store),
        TEST(the_grant_of_a_job_stays),
        TEST(a_store_is_reported),
        TEST(a_configuration_has_its_size),
        TEST(without_memory_there_is_no_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
