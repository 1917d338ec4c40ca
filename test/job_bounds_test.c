/* SPDX-License-Identifier: MIT */
/* The bounds of a job to the nanosecond: how far a record may be out of order and what the refusal says, and the bytes of a
 * name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generating.h"

static firn_job *start(const char *scheme, const char *keys, int64_t disorder_ms) {
    const firn_job_config config = {.size = sizeof config,
                                    .scheme = scheme,
                                    .keys = keys,
                                    .seed = "a seed",
                                    .shift_ms = 1000,
                                    .disorder_ms = disorder_ms};
    firn_error error = {0};
    firn_job *job = NULL;
    if (firn_job_open(&job, &config, &error) != FIRN_OK) {
        fail_msg("%s %s: %s", scheme, keys, error.text);
    }
    return job;
}

/* A record of this time; `words` of its refusal, or NULL. */
static void row(firn_job *job, firn_time time, const char *words) {
    firn_error error = {0};
    firn_id id;
    int64_t shift_ns;
    int code = firn_job_next(job, &time, &id, &shift_ns, &error);
    if (words != NULL) {
        said(&error, FIRN_ERANGE, words);
    }
    assert_int_equal(code, words == NULL ? FIRN_OK : FIRN_ERANGE);
}

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

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_new, world_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(disorder_is_exact_to_the_nanosecond),
        TEST(the_first_record_is_in_order),
        TEST(a_name_has_no_control_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
