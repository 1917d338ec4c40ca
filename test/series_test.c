/* SPDX-License-Identifier: MIT */
/* Series through the public calls: templates, periods in many zones, clocks that step, closing,
 * pruning, stores that lose replies. Processes and kills are in series_processes_test.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "simulated.h"
#include "zone_file.h"

#define DAILY "template={year}-{month}-{day}-{counter:6}"

/* ---- short words ----------------------------------------------------------------------------- */

static firn_series *opened(const char *name, const char *keys) {
    firn_series *series = NULL;
    firn_error error = {0};
    if (firn_series_open(&series, name, keys, world.store, &world.hands, &error) != FIRN_OK) {
        fail_msg("%s %s: %s", name, keys, error.text);
    }
    return series;
}

static void closed(firn_series *series) {
    assert_int_equal(firn_series_close(series, NULL), FIRN_OK);
}

static void refused(const char *name, const char *keys, int code, const char *words) {
    firn_series *series = NULL;
    firn_error error = {0};
    if (firn_series_open(&series, name, keys, world.store, &world.hands, &error) == FIRN_OK) {
        fail_msg("'%s' was opened", keys);
    }
    error_text(&error, code, words);
    assert_null(series);
}

static firn_time time_of(const char *text) {
    firn_time time = {0};
    assert_int_equal(firn_time_parse(&time, text, strlen(text), NULL), FIRN_OK);
    return time;
}

/* The clock shows this time; the steady clock stays. */
static void clock_shows(const char *text) {
    world.clock.base = time_of(text);
    atomic_store(&world.clock.wall_ns, 0);
}

static int issue(firn_series *series, const char *at, char text[FIRN_SERIES_SIZE],
                 firn_error *error) {
    char made[1][FIRN_SERIES_SIZE] = {""};
    const firn_time time = at != NULL ? time_of(at) : (firn_time){0};
    const int code = firn_series_next(series, at != NULL ? &time : NULL, made, 1, error);
    strcpy(text, made[0]);
    return code;
}

/* The next number, of now or of `at`. */
static void gives(firn_series *series, const char *at, const char *wanted) {
    char text[FIRN_SERIES_SIZE];
    firn_error error = {0};
    if (issue(series, at, text, &error) != FIRN_OK) {
        fail_msg("%s: %s", wanted, error.text);
    }
    assert_string_equal(text, wanted);
}

static void denied(firn_series *series, const char *at, int code, const char *words) {
    char text[FIRN_SERIES_SIZE];
    firn_error error = {0};
    assert_int_equal(issue(series, at, text, &error), code);
    error_text(&error, code, words);
    assert_string_equal(text, "");
}

static void peeks(firn_series *series, const char *at, const char *wanted) {
    char text[FIRN_SERIES_SIZE];
    firn_error error = {0};
    const firn_time time = at != NULL ? time_of(at) : (firn_time){0};
    if (firn_series_peek(series, at != NULL ? &time : NULL, text, &error) != FIRN_OK) {
        fail_msg("%s: %s", wanted, error.text);
    }
    assert_string_equal(text, wanted);
}

/* ---- templates ------------------------------------------------------------------------------- */

static void each_template_has_its_period_and_text(void **state) {
    (void)state;
    const struct {
        const char *keys, *first, *second, *restart;
    } cases[] = {
        {DAILY, "2025-10-09-000001", "2025-10-09-000002", "restart=day"},
        {"template=INV{year}/{counter:7}", "INV2025/0000001", "INV2025/0000002", "restart=year"},
        {"template={weekyear}W{week}.{counter:3}", "2025W41.001", "2025W41.002", "restart=week"},
        {"template={year}{yearday}{counter:4}", "20252820001", "20252820002", "restart=day"},
        {"template={year}{month}_{counter:4}", "202510_0001", "202510_0002", "restart=month"},
        {"template=A{counter:5}", "A00001", "A00002", "restart=never"},
        {"template={year}{month}{day}{counter:4} restart=year", "202510090001", "202510090002",
         "restart=year"},
        {"template={year}{month}{day}{counter:4} restart=week", "202510090001", "202510090002",
         "restart=week"},
        {DAILY "-{damm}", "2025-10-09-000001-5", "2025-10-09-000002-8", "restart=day"},
        {DAILY "-{damm}/", "2025-10-09-000001-5/", "2025-10-09-000002-8/", "restart=day"},
        {"template={year}{yearday}{counter:4} restart=month", "20252820001", "20252820002",
         "restart=month"},
        {DAILY "-{luhn}", "2025-10-09-000001-3", "2025-10-09-000002-1", "restart=day"},
        {"template=aZ_{year}{counter:4}{damm}", "aZ_202500017", "aZ_202500025", "restart=year"},
        {"template=aZ_{year}{counter:4}{luhn}", "aZ_202500013", "aZ_202500021", "restart=year"},
        {"template=aZ_{year}{counter:4}{mod97}", "aZ_2025000147", "aZ_2025000244", "restart=year"},
        {"template=RE{year}{counter:3}{mod97}", "RE202500179", "RE202500276", "restart=year"},
        {DAILY " zone=Pacific/Kiritimati", "2025-10-09-000001", "2025-10-09-000002", "restart=day"},
        {DAILY " zone=-12:00", "2025-10-08-000001", "2025-10-08-000002", "restart=day"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[24];
        int64_t counter = 0;
        firn_error error = {0};
        snprintf(name, sizeof name, "s%zu", i);
        firn_series *series = opened(name, cases[i].keys);
        gives(series, NULL, cases[i].first);
        assert_non_null(strstr(firn_series_definition(series), cases[i].restart));
        closed(series);
        series = opened(name, NULL); /* with the definition that the store has */
        gives(series, NULL, cases[i].second);
        if (firn_series_read(series, &counter, cases[i].second, strlen(cases[i].second), &error) !=
            FIRN_OK) {
            fail_msg("%s: %s", cases[i].second, error.text);
        }
        assert_int_equal(counter, 2);
        closed(series);
    }
}

static void a_template_that_repeats_numbers_is_refused(void **state) {
    (void)state;
    const struct {
        const char *keys, *words;
    } cases[] = {
        {"template={yy}-{counter:5}", "{yy} does not name the century"},
        {"template={year:2}-{counter:5}", "{year:2} does not name the century"},
        {"template={year}W{week}-{counter:5}", "{week} without {weekyear}"},
        {"template={weekyear}-{counter:5}", "{weekyear} without {week}"},
        {"template={month}-{counter:5}", "has no {year}, so its counter would never restart"},
        {"template={yearday}-{counter:5}", "add {year}, or restart=never"},
        {"template={day}-{counter:5}", "add {year}, or restart=never"},
        {"template={year}-{counter:5} restart=month", "does not name its month"},
        {"template={year}-{counter:5} restart=day", "add {year}, {month} and {day}"},
        {"template={month}{day}-{counter:5} restart=year", "does not name its year"},
        {"template={year}{day}-{counter:5} restart=day", "does not name its day"},
        {"template={weekyear}{week}-{counter:5} restart=year", "does not name its year"},
        {"template={weekyear}{week}-{counter:5} restart=day", "does not name its day"},
        {"template={year}{month}-{counter:5} restart=week", "add {weekyear} and {week}"},
        {"template=A{counter:5} restart=year", "add {year}"},
        {"template=2026", "has no counter: add {counter:6}"},
        {"template={counter}", "{counter} has no number of digits"},
        {"template={counter:5}{counter:6}", "has a part twice"},
        {"template={year}{year}{counter:6}", "has a part twice"},
        {"template={damm}{counter:6}", "has a part after its check digit"},
        {"template={counter:6}{damm}A", "may follow the check digit"},
        {"template={counter:6}{damm}{luhn}", "has a part"},
        {"template={hour}{counter:6}", "a template has no part {hour}: use {year}"},
        {"template=%Y{counter:6}", "character 1 of the template is '%'"},
        {"template={counter:6}~", "character 12 of the template is '~'"},
        {"template={counter:6}[", "character 12 of the template is '['"},
        {"template={counter:6}\x01", "character 12 of the template is '\\x01'"},
        {"template={counter:6}\x7f", "character 12 of the template is '\\x7f'"},
        {"template={a23456789012345678901234567890123456789012345678}",
         "has no part {a234567890123456789012345678901234567890}"},
        {"template={year-{counter:6}", "has no part {year-{counter:6}"},
        {"template={counter:6", "character 1 of the template is '{': a } is missing"},
        {"zone=UTC", "belong to a template"},
        {"restart=day", "belong to a template"},
        {"late=1", "belong to a template"},
        {"grow=1", "belong to a template"},
        {DAILY " masked=0123456", "masked=0123456 is not the fingerprint of a key"},
        {"templat={counter:6}", "did you mean `template`?"},
        {DAILY " restart=hour", "choose one of never day week month year"},
        {DAILY " zone=Europe/Berlim", "Europe/Berlim is not valid"},
        {DAILY " grow=2", "choose one of 0 1"},
        {DAILY " grow=0s", "choose one of 0 1"},
        {DAILY " late=-", "late=- is not valid: write a whole number"},
        {"", "the store has no series refused: define it with template="},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        refused("refused", cases[i].keys, FIRN_EUSAGE, cases[i].words);
    }
    refused("refused", "template={counter:0}", FIRN_ERANGE, "1 to 12");
    refused("refused", "template={counter:13}", FIRN_ERANGE, "1 to 12");
    refused("refused", DAILY " late=367", FIRN_ERANGE, "0 to 366");
    refused("refused", DAILY " late=-1", FIRN_ERANGE, "0 to 366");
    refused("refused", DAILY " late=9999999999999999999", FIRN_ERANGE, "0 to 366");
    refused("refused", DAILY " late=9999999999999999999999999", FIRN_ERANGE, "0 to 366");
    refused("refused", DAILY " block=0", FIRN_ERANGE, "1 to 1000000");
    refused("refused", DAILY " key_file=/nonexistent", FIRN_EIO, "cannot open the key file");
    refused("", DAILY, FIRN_ERANGE, "the name of a series has 0 bytes");
    refused("a\xff", DAILY, FIRN_EUSAGE, "is not UTF-8 at byte 2");
    static const char *const torn[] = {"\xe0\x9f\xbf",     "\xed\xa0\x80",     "\xf0\x8f\xbf\xbf",
                                       "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xc1\xbf"};
    static const char *const whole[] = {"\xe0\xa0\x80",     "\xed\x9f\xbf",     "\xf0\x90\x80\x80",
                                        "\xf4\x8f\xbf\xbf", "\xf1\x80\x80\x80", "\xc2\xa0"};
    for (size_t i = 0; i < sizeof torn / sizeof *torn; i++) {
        refused(torn[i], DAILY, FIRN_EUSAGE, "is not UTF-8 at byte 1");
        closed(opened(whole[i], DAILY));
    }
    char keys[300] = "template={counter:6}";
    memset(keys + 20, 'x', 74);
    refused("refused", keys, FIRN_ERANGE,
            "the numbers of this template have 80 characters: shorten it to at most 79");
    memset(keys + 20, 'x', 150);
    refused("refused", keys, FIRN_ERANGE, "the template has 161 characters");
    setenv("TZDIR", "/nonexistent", 1);
    refused("refused", DAILY " zone=Europe/Berlin", FIRN_ESYSTEM, "install tzdata");
    unsetenv("TZDIR");
    assert_int_equal(world.log.reserves, 0);
}

static void a_key_file_needs_a_whole_key(void **state) {
    (void)state;
    char path[64] = "/tmp/firn-series-XXXXXX", keys[200];
    const int made = mkstemp(path);
    assert_true(made >= 0);
    assert_int_equal(dprintf(made, "1 %032d\n", 7), 35);
    close(made);
    snprintf(keys, sizeof keys, DAILY " key_file=%s", path);
    refused("refused", keys, FIRN_EUSAGE, "has 32 hex digits: use one of 64");
    FILE *whole = fopen(path, "w");
    assert_non_null(whole);
    fprintf(whole, "1 %064d\n", 7);
    fclose(whole);
    snprintf(keys, sizeof keys, "template=A{counter:6} key_file=%s", path);
    firn_series *series = opened("masked", keys); /* without periods: without a tweak */
    int64_t counter = 0;
    char text[FIRN_SERIES_SIZE];
    assert_int_equal(issue(series, NULL, text, NULL), FIRN_OK);
    assert_int_equal(firn_series_read(series, &counter, text, strlen(text), NULL), FIRN_OK);
    assert_int_equal(counter, 1);
    assert_int_equal(firn_series_read(series, &counter, "A000000", 7, NULL), FIRN_OK);
    assert_true(counter > 1);
    closed(series);
    unlink(path);
}

/* Errors name the period as its kind has it. */
static void a_closed_period_has_its_name(void **state) {
    (void)state;
    const struct {
        const char *keys, *words;
    } cases[] = {{DAILY, "2025-10-09"},
                 {"template={weekyear}W{week}.{counter:3}", "2025-W41"},
                 {"template={year}{month}.{counter:3}", "2025-10"},
                 {"template={year}.{counter:3}", "2025"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[FIRN_SERIES_SIZE], name[8];
        clock_shows("2025-10-09T08:53:20Z");
        snprintf(name, sizeof name, "p%zu", i);
        firn_series *series = opened(name, cases[i].keys);
        assert_int_equal(issue(series, NULL, text, NULL), FIRN_OK);
        clock_shows("2026-11-09T08:53:20Z");
        assert_int_equal(issue(series, NULL, text, NULL), FIRN_OK);
        denied(series, "2025-10-09T08:53:20Z", FIRN_EEND, cases[i].words);
        closed(series);
    }
    firn_series *series = NULL; /* the caller may want no sentence */
    assert_int_equal(firn_series_open(&series, "p0", "template={year}{counter:3}", world.store,
                                      &world.hands, NULL),
                     FIRN_OK);
    char text[1][FIRN_SERIES_SIZE];
    assert_int_equal(firn_series_next(series, NULL, text, 1, NULL), FIRN_ENAMESPACE);
    closed(series);
}

static void a_number_is_read_or_refused(void **state) {
    (void)state;
    firn_series *series = opened("read", DAILY "-{damm}");
    const struct {
        const char *text, *words;
    } cases[] = {
        {"2025-10-09-000001-4", "the check digit does not fit"},
        {"2025-10-09-000010-5", "the check digit does not fit"},
        {"2025-10-09-000001", "text ends after 17 characters"},
        {"2025-10-09-0000", "text ends after 15 characters"},
        {"2025-1/-09-000001-5", "character 7 of 19 is '/'"},
        {"2025-10-09-000001-55", "the number is too long"},
        {"2025/10-09-000001-5", "character 5 of 19 is '/'"},
        {"2025-1O-09-000001-5", "character 7 of 19 is 'O'"},
        {"", "the text is empty"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        firn_error error = {0};
        int64_t counter = -7;
        assert_int_equal(
            firn_series_read(series, &counter, cases[i].text, strlen(cases[i].text), &error),
            FIRN_ETEXT);
        error_text(&error, FIRN_ETEXT, cases[i].words);
        assert_int_equal(counter, -7);
    }
    closed(series);
    const struct {
        const char *keys, *text, *words;
    } dates[] = {
        {DAILY, "2025-02-29-000001", "does not exist"},
        {DAILY, "2025-13-01-000001", "does not exist"},
        {DAILY, "2025-00-01-000001", "does not exist"},
        {DAILY, "2025-01-00-000001", "does not exist"},
        {DAILY, "2025-01-32-000001", "does not exist"},
        {DAILY, "0000-01-01-000001", "does not exist"},
        {DAILY, "2025-02-28-000000", "the counter is 0"},
        {"template={year}{yearday}{counter:3}", "2025366001", "does not exist"},
        {"template={year}{yearday}{counter:3}", "2025000001", "does not exist"},
        {"template={weekyear}{week}{counter:3}", "202553001", "does not exist"},
        {"template={weekyear}{week}{year}{month}{counter:3}", "202501202502001", "does not exist"},
        {"template={counter:3} grow=1", "0999", "does not begin with 0"},
        {"template={counter:3} grow=1", "1234567890123", "the number is too long"},
    };
    for (size_t i = 0; i < sizeof dates / sizeof dates[0]; i++) {
        firn_error error = {0};
        int64_t counter = -7;
        series = opened("date", dates[i].keys);
        assert_int_equal(
            firn_series_read(series, &counter, dates[i].text, strlen(dates[i].text), &error),
            FIRN_ETEXT);
        error_text(&error, FIRN_ETEXT, dates[i].words);
        closed(series);
    }
    const struct {
        const char *keys, *text;
        int64_t counter;
    } good[] = {{"template={weekyear}{week}{year}{month}{counter:3}", "202501202412001", 1},
                {"template={month}{day}{counter:3} restart=never", "0229999", 999},
                {"template={weekyear}-{week}{counter:3}", "2026-53007", 7},
                /* 30 December 2024 is in the first week of 2025. */
                {"template={weekyear}{week}{month}{day}{counter:3}", "2025011230004", 4},
                {"template={weekyear}{week}{yearday}{counter:3}", "202501365004", 4},
                {"template={yearday}{month}{day}{counter:3} restart=never", "3651231004", 4},
                {"template={yearday}{month}{day}{counter:3} restart=never", "3661231004", 4},
                {"template={counter:3} grow=1", "123456789012", 123456789012}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        firn_error error = {0};
        int64_t counter = 0;
        series = opened("date", good[i].keys);
        if (firn_series_read(series, &counter, good[i].text, strlen(good[i].text), &error) !=
            FIRN_OK) {
            fail_msg("%s: %s", good[i].text, error.text);
        }
        assert_int_equal(counter, good[i].counter);
        closed(series);
    }
}

static void another_definition_is_refused(void **state) {
    (void)state;
    const char *const others[] = {"template=INV{year}/{counter:7}", DAILY " zone=Europe/Berlin",
                                  DAILY " restart=never", DAILY " late=1", DAILY " grow=1"};
    firn_series *series = opened("invoices", DAILY);
    gives(series, NULL, "2025-10-09-000001");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        firn_series *other = opened("invoices", others[i]);
        denied(other, NULL, FIRN_ENAMESPACE, "leave the definition out to use the stored one");
        closed(other);
    }
    closed(series);
    series = opened("invoices", DAILY " zone=UTC restart=day block=5"); /* the same */
    gives(series, NULL, "2025-10-09-000002");
    closed(series);
}

/* ---- periods --------------------------------------------------------------------------------- */

/* A place and time at which a wrong calendar shows. */
static void each_number_is_in_the_period_of_its_time(void **state) {
    (void)state;
    const struct {
        const char *zone, *at, *day;
    } cases[] = {
        {"UTC", "2025-10-08T23:59:59.999999999Z", "2025-10-08-000001"},
        {"UTC", "2025-10-09T00:00:00Z", "2025-10-09-000001"},
        {"UTC", "2024-02-29T12:00:00Z", "2024-02-29-000001"},
        {"UTC", "1969-12-31T23:59:59.5Z", "1969-12-31-000001"},
        {"Europe/Berlin", "2025-03-29T22:59:59Z", "2025-03-29-000001"},
        {"Europe/Berlin", "2025-03-29T23:00:00Z", "2025-03-30-000001"},
        {"Europe/Berlin", "2025-03-30T21:59:59Z", "2025-03-30-000002"}, /* 23 hours */
        {"Europe/Berlin", "2025-03-30T22:00:00Z", "2025-03-31-000001"},
        /* 30 December 2011 does not exist */
        {"Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-29-000001"},
        {"Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31-000001"},
        /* the day begins at 01:00, and 26 hours before its end */
        {"America/Sao_Paulo", "2018-11-04T02:59:59Z", "2018-11-03-000001"},
        {"America/Sao_Paulo", "2018-11-04T03:00:00Z", "2018-11-04-000001"},
        {"America/Sao_Paulo", "2018-11-05T01:59:59Z", "2018-11-04-000002"},
        {"America/Sao_Paulo", "2018-11-05T02:00:00Z", "2018-11-05-000001"},
        {"America/Sao_Paulo", "2017-10-15T02:59:59Z", "2017-10-14-000001"},
        {"America/Sao_Paulo", "2017-10-15T03:00:00Z", "2017-10-15-000001"},
        {"Asia/Beirut", "2022-03-26T21:59:59Z", "2022-03-26-000001"},
        {"Asia/Beirut", "2022-03-26T22:00:00Z", "2022-03-27-000001"},
        {"Asia/Beirut", "2022-03-27T20:59:59Z", "2022-03-27-000002"},
        /* half an hour of summer time */
        {"Australia/Lord_Howe", "2025-04-05T12:59:59Z", "2025-04-05-000001"},
        {"Australia/Lord_Howe", "2025-04-05T13:00:00Z", "2025-04-06-000001"},
        {"Australia/Lord_Howe", "2025-04-06T13:29:59Z", "2025-04-06-000002"},
        {"Australia/Lord_Howe", "2025-04-06T13:30:00Z", "2025-04-07-000001"},
        /* at 00:01 the clocks are set to 23:01 of the day before */
        {"America/St_Johns", "2006-10-29T02:30:30Z", "2006-10-29-000001"},
        {"America/St_Johns", "2006-10-29T02:31:00Z", "2006-10-28-000001"},
        {"America/St_Johns", "2006-10-29T03:30:00Z", "2006-10-29-000002"},
        {"Asia/Kathmandu", "2025-10-08T18:14:59Z", "2025-10-08-000001"},
        {"Asia/Kathmandu", "2025-10-08T18:15:00Z", "2025-10-09-000001"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char keys[128], name[64];
        snprintf(keys, sizeof keys, DAILY " late=366 zone=%s", cases[i].zone);
        snprintf(name, sizeof name, "at %s", cases[i].zone);
        firn_series *series = opened(name, keys);
        gives(series, cases[i].at, cases[i].day);
        closed(series);
    }
}

static void weeks_and_years_differ(void **state) {
    (void)state;
    firn_series *series = opened("week", "template={weekyear}-W{week}-{counter:3} late=366");
    gives(series, "2024-12-29T12:00:00Z", "2024-W52-001"); /* a Sunday */
    gives(series, "2024-12-30T12:00:00Z", "2025-W01-001");
    gives(series, "2025-01-05T12:00:00Z", "2025-W01-002");
    gives(series, "2021-01-03T12:00:00Z", "2020-W53-001");
    gives(series, "2021-01-04T12:00:00Z", "2021-W01-001");
    closed(series);
    series = opened("month", "template={year}{month}-{counter:3} late=366");
    gives(series, "2024-12-31T23:59:59Z", "202412-001");
    gives(series, "2025-01-01T00:00:00Z", "202501-001");
    gives(series, "2024-12-01T00:00:00Z", "202412-002");
    closed(series);
}

static void years_of_other_than_four_digits_are_refused(void **state) {
    (void)state;
    firn_series *series = opened("far", "template={year}-{counter:3} late=366");
    gives(series, "0001-01-01T00:00:00Z", "0001-001");
    denied(series, "0000-12-31T23:59:59Z", FIRN_ERANGE, "years 1 to 9999");
    denied(series, "@-99999999999999999", FIRN_ERANGE, "years 1 to 9999");
    denied(series, "@9223372036854775807", FIRN_ERANGE, "years 1 to 9999");
    const firn_time bad = {0, -1};
    firn_error error = {0};
    assert_int_equal(firn_series_next(series, &bad, NULL, 1, &error), FIRN_ERANGE);
    clock_shows("+10000-01-01T00:00:00Z");
    denied(series, NULL, FIRN_ERANGE, "years 1 to 9999");
    clock_shows("9999-12-31T23:59:59Z"); /* two seconds later, no period is known */
    denied(series, "9999-12-31T12:00:00Z", FIRN_ERANGE, "years 1 to 9999");
    closed(series);
}

static void the_counter_restarts_with_the_period(void **state) {
    (void)state;
    firn_series *series = opened("invoices", DAILY " block=10");
    gives(series, NULL, "2025-10-09-000001");
    gives(series, NULL, "2025-10-09-000002");
    assert_int_equal(world.log.reserves, 1);
    clock_shows("2025-10-10T00:00:00Z");
    gives(series, NULL, "2025-10-10-000001");
    assert_int_equal(world.log.give_backs, 1);
    clock_shows("2025-10-12T00:00:00Z");
    gives(series, NULL, "2025-10-12-000001");
    closed(series);
    series = opened("invoices", NULL);
    gives(series, NULL, "2025-10-12-000002"); /* the rest of the block was given back */
    closed(series);
    assert_int_equal(keys_of(&world.log, "series invoices"), 1);
}

/* ---- two processes at midnight --------------------------------------------------------------- */

static void a_clock_that_is_a_little_behind_follows(void **state) {
    (void)state;
    firn_series *ahead = opened("invoices", DAILY), *behind = opened("invoices", DAILY " block=2");
    clock_shows("2025-10-08T23:59:58.5Z");
    gives(behind, NULL, "2025-10-08-000001");
    clock_shows("2025-10-09T00:00:00Z");
    gives(ahead, NULL, "2025-10-09-000001");
    clock_shows("2025-10-08T23:59:58.5Z");
    gives(behind, NULL, "2025-10-08-000002"); /* its block is of the old day */
    gives(behind, NULL, "2025-10-09-000002");
    clock_shows("2025-10-08T23:59:57.9Z");
    denied(behind, NULL, FIRN_ECLOCK,
           "the clock is before period 2025-10-09 of series invoices, which has begun: fix");
    denied(behind, "2025-10-08T23:00:00Z", FIRN_EEND,
           "period 2025-10-08 of series invoices is closed, since the store is at 2025-10-09");
    clock_shows("2025-10-09T00:00:00Z");
    gives(behind, "2025-10-09T00:00:00Z", "2025-10-09-000003");
    closed(ahead);
    closed(behind);
}

static void a_late_series_continues_each_period(void **state) {
    (void)state;
    firn_series *series = opened("invoices", DAILY " late=2");
    gives(series, "2025-10-07T12:00:00Z", "2025-10-07-000001");
    gives(series, NULL, "2025-10-09-000001");
    gives(series, "2025-10-07T12:00:00Z", "2025-10-07-000002");
    gives(series, "2025-10-08T12:00:00Z", "2025-10-08-000001");
    clock_shows("2025-10-08T12:00:00Z"); /* the clock is set back by a day */
    gives(series, NULL, "2025-10-08-000002");
    clock_shows("2025-10-10T12:00:00Z");
    gives(series, NULL, "2025-10-10-000001"); /* closes the seventh */
    denied(series, "2025-10-07T12:00:00Z", FIRN_EEND, "the store is at 2025-10-10");
    gives(series, "2025-10-08T12:00:00Z", "2025-10-08-000003");
    gives(series, NULL, "2025-10-10-000002");
    assert_int_equal(keys_of(&world.log, "series invoices"), 3); /* however long it runs */
    closed(series);
}

/* Opens the series where the zone has this offset for ever. */
static firn_series *opened_where(const char *folder, const char *rule, const char *name,
                                 const char *keys) {
    char path[300];
    snprintf(path, sizeof path, "%s/Zone", folder);
    write_rule(path, rule);
    firn_series *series = opened(name, keys);
    unlink(path);
    return series;
}

/* The zone database of a machine is a year old, and the rules of its zone have changed. */
static void machines_with_other_rules_repeat_no_number(void **state) {
    (void)state;
    char folder[] = "/tmp/firn-series-XXXXXX";
    assert_non_null(mkdtemp(folder));
    setenv("TZDIR", folder, 1);
    firn_series *old = opened_where(folder, "AAA0", "invoices", DAILY " zone=Zone"),
                *new = opened_where(folder, "AAA-1", "invoices", DAILY " zone=Zone");
    firn_series *late_old = opened_where(folder, "AAA0", "late", DAILY " zone=Zone late=1"),
                *late_new = opened_where(folder, "AAA-1", "late", DAILY " zone=Zone late=1");
    unsetenv("TZDIR");
    rmdir(folder);
    clock_shows("2025-10-08T23:30:00Z");
    gives(old, NULL, "2025-10-08-000001");
    gives(new, NULL, "2025-10-09-000001");
    denied(old, NULL, FIRN_ECLOCK, "which has begun: fix the clock or the zone database");
    gives(late_old, NULL, "2025-10-08-000001");
    gives(late_new, NULL, "2025-10-09-000001");
    gives(late_old, NULL, "2025-10-08-000002");
    clock_shows("2025-10-09T00:00:00Z");
    gives(old, NULL, "2025-10-09-000002");
    gives(new, NULL, "2025-10-09-000003");
    gives(late_old, NULL, "2025-10-09-000002");
    closed(old);
    closed(new);
    closed(late_old);
    closed(late_new);
}

/* The hour before the clock was set back across midnight is repeated; its numbers are dated with
 * the later day once that has begun. */
static void an_hour_that_repeats_across_midnight_is_served(void **state) {
    (void)state;
    firn_series *series = opened("fold", DAILY " zone=America/St_Johns");
    clock_shows("2006-10-29T02:30:30Z");
    gives(series, NULL, "2006-10-29-000001");
    clock_shows("2006-10-29T02:31:00Z"); /* 28 October, 23:01, again */
    gives(series, NULL, "2006-10-29-000002");
    clock_shows("2006-10-29T03:29:59Z");
    gives(series, NULL, "2006-10-29-000003");
    clock_shows("2006-10-29T03:30:00Z");
    gives(series, NULL, "2006-10-29-000004");
    denied(series, "2006-10-29T03:00:00Z", FIRN_EEND, "is closed");
    closed(series);
}

static int store_time(void *self, firn_time *now, firn_error *error) {
    (void)self;
    (void)error;
    *now = time_of("2025-10-09T08:00:00Z");
    return FIRN_OK;
}

static void a_clock_that_is_ahead_of_the_store_closes_nothing(void **state) {
    (void)state;
    firn_store_ops ops = recorder_ops;
    ops.now = store_time;
    firn_store *store;
    assert_int_equal(firn_store_wrap(&store, &ops, &world.log, NULL), FIRN_OK);
    firn_store *first = world.store;
    world.store = store;
    firn_series *series = opened("invoices", DAILY);
    clock_shows("2036-10-09T08:00:00Z");
    denied(series, NULL, FIRN_ECLOCK,
           "period 2036-10-09 of series invoices has not begun, since the store's clock is in "
           "2025-10-09: fix the wrong clock");
    clock_shows("2025-10-09T08:00:00Z");
    gives(series, NULL, "2025-10-09-000001");
    closed(series);
    world.store = first;
    free(store); /* the world's store has the same methods and closes them */
}

static void a_time_to_come_is_refused(void **state) {
    (void)state;
    firn_series *series = opened("invoices", DAILY);
    denied(series, "2025-10-10T00:00:00Z", FIRN_ERANGE,
           "period 2025-10-10 of series invoices has not begun, since this machine's clock is in "
           "2025-10-09: use an earlier time");
    gives(series, "2025-10-09T23:59:59Z", "2025-10-09-000001"); /* later today */
    closed(series);
}

/* ---- the end of a counter -------------------------------------------------------------------- */

static void a_counter_ends_or_grows(void **state) {
    (void)state;
    char texts[12][FIRN_SERIES_SIZE];
    firn_error error = {0};
    firn_series *series = opened("short", "template={year}{month}{day}{counter:1}");
    assert_int_equal(firn_series_next(series, NULL, texts, 10, &error), FIRN_EEND);
    error_text(&error, FIRN_EEND, "series short has too few counters left in 2025-10-09, up to 9");
    assert_int_equal(firn_series_next(series, NULL, texts, 8, &error), FIRN_OK);
    assert_string_equal(texts[7], "202510098");
    assert_int_equal(firn_series_next(series, NULL, texts, 2, &error), FIRN_EEND);
    gives(series, NULL, "202510099");
    denied(series, NULL, FIRN_EEND, "use a new series with another template");
    clock_shows("2025-10-10T00:00:00Z");
    gives(series, NULL, "202510101");
    closed(series);
    series = opened("long", "template={year}{month}{day}{counter:1} grow=1");
    assert_int_equal(firn_series_next(series, NULL, texts, 12, &error), FIRN_OK);
    assert_string_equal(texts[8], "202510109");
    assert_string_equal(texts[9], "2025101010");
    assert_int_equal(firn_series_advance(series, NULL, 999999999999, NULL), FIRN_OK);
    gives(series, NULL, "20251010999999999999");
    denied(series, NULL, FIRN_EEND, "up to 999999999999");
    closed(series);
    series = opened("plain", "template=A{counter:1}");
    assert_int_equal(firn_series_next(series, NULL, texts, 9, &error), FIRN_OK);
    denied(series, NULL, FIRN_EEND, "series plain has too few counters left, up to 9");
    assert_int_equal(firn_series_next(series, NULL, texts, 0, &error), FIRN_ERANGE);
    error_text(&error, FIRN_ERANGE,
               "one call issues 1 to 1000000 numbers: ask for such a count, not 0");
    assert_int_equal(firn_series_next(series, NULL, texts, 1000001, &error), FIRN_ERANGE);
    closed(series);
}

/* ---- for operators --------------------------------------------------------------------------- */

static void peeking_reserves_nothing(void **state) {
    (void)state;
    firn_series *series = opened("invoices", DAILY);
    peeks(series, NULL, "2025-10-09-000001");
    gives(series, NULL, "2025-10-09-000001");
    peeks(series, NULL, "2025-10-09-000002");
    peeks(series, NULL, "2025-10-09-000002");
    char text[FIRN_SERIES_SIZE] = "-";
    firn_error error = {0};
    const firn_time day = time_of("2025-10-08T00:00:00Z");
    assert_int_equal(firn_series_peek(series, &day, text, &error), FIRN_EEND);
    error_text(&error, FIRN_EEND, "period 2025-10-08 of series invoices is closed");
    assert_string_equal(text, "-");
    assert_int_equal(world.log.reserves, 1);
    firn_series_mark(text, "series template={year}-{month}-{day}-{counter:6} zone=UTC",
                     mark_of(&world.log, "series invoices", "1"));
    assert_string_equal(text, "2025-10-09 2");
    assert_string_equal(firn_series_mark(text, "integer", 77), "");
    assert_string_equal(firn_series_mark(text, "series template=A{counter:6}", 77), "77");
    static const char *const none[] = {"series template=A{counter:6}",
                                       "series template=A{counter:6} later=1", "series template=A"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_string_equal(firn_series_mark(text, none[i], i == 0 ? -1 : 77), "");
    }
    closed(series);
}

static void a_store_that_does_not_last_prunes_nothing(void **state) {
    (void)state;
    firn_error error = {0};
    const firn_time ninth = time_of("2025-10-09T15:00:00Z");
    const firn_time tenth = time_of("2025-10-10T00:00:00Z");
    firn_series *series = opened("invoices", DAILY);
    assert_int_equal(firn_series_prune(series, &ninth, &error), FIRN_ERANGE);
    error_text(&error, FIRN_ERANGE, "series invoices has no numbers yet");
    gives(series, NULL, "2025-10-09-000001");
    assert_int_equal(firn_series_prune(series, &tenth, &error), FIRN_ERANGE);
    error_text(&error, FIRN_ERANGE, "has not begun");
    assert_int_equal(firn_series_prune(series, &ninth, &error), FIRN_EUSAGE);
    closed(series);
    series = opened("plain", "template=A{counter:1}");
    assert_int_equal(firn_series_prune(series, &ninth, &error), FIRN_EUSAGE);
    error_text(&error, FIRN_EUSAGE, "series plain never restarts");
    closed(series);
}

static void advancing_skips_counters(void **state) {
    (void)state;
    firn_error error = {0};
    firn_series *series = opened("invoices", DAILY);
    assert_int_equal(firn_series_advance(series, NULL, 4711, &error), FIRN_OK);
    gives(series, NULL, "2025-10-09-004711");
    assert_int_equal(firn_series_advance(series, NULL, 10, &error), FIRN_OK);
    gives(series, NULL, "2025-10-09-004712");
    assert_int_equal(firn_series_advance(series, NULL, 1000000, &error), FIRN_ERANGE);
    error_text(&error, FIRN_ERANGE, "a counter of series invoices is 1 to 999999, not 1000000");
    assert_int_equal(firn_series_advance(series, NULL, 0, &error), FIRN_ERANGE);
    clock_shows("2025-10-10T00:00:00Z");
    gives(series, NULL, "2025-10-10-000001");
    closed(series);
}

static void advancing_leaves_the_own_block(void **state) {
    (void)state;
    firn_error error = {0};
    firn_series *series = opened("invoices", DAILY " block=100");
    gives(series, NULL, "2025-10-09-000001");
    assert_int_equal(firn_series_advance(series, NULL, 4711, &error), FIRN_OK);
    gives(series, NULL, "2025-10-09-004711");
    closed(series);
}

/* ---- stores that fail ------------------------------------------------------------------------ */

static void a_lost_reply_repeats_no_number(void **state) {
    (void)state;
    firn_series *series = opened("invoices", DAILY);
    gives(series, NULL, "2025-10-09-000001");
    world.log.fate = FATE_LOST;
    world.log.fated = 1;
    gives(series, NULL, "2025-10-09-000003"); /* 2 was reserved by the lost request */
    world.log.fate = FATE_DOWN;
    world.log.fated = 1;
    denied(series, NULL, FIRN_ESTORE, "the store is down");
    world.log.fate = FATE_TWIN;
    world.log.fated = 1;
    gives(series, NULL, "2025-10-09-000005"); /* 4 is the copy's */
    closed(series);
}

/* ---- calls that fail ------------------------------------------------------------------------- */

static int fails_in; /* how many calls of the clock and the store until one fails; 0: none */

static bool fails(void) {
    return fails_in > 0 && --fails_in == 0;
}

static int frail_wall(void *self, firn_time *now) {
    return fails() ? FIRN_ECLOCK : simulated_wall(self, now);
}

static int not_done(firn_error *error) {
    if (error != NULL) {
        *error = (firn_error){.code = FIRN_ESTORE, .text = "injected: start it"};
    }
    return FIRN_ESTORE;
}

static int frail_reserve(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                         firn_error *error) {
    return fails() ? not_done(error) : recorder_reserve(self, request, first, held, error);
}

static int frail_list(void *self, const char *ns, firn_visit *visit, void *context,
                      firn_error *error) {
    return fails() ? not_done(error) : recorder_list(self, ns, visit, context, error);
}

static int frail_now(void *self, firn_time *now, firn_error *error) {
    (void)self;
    *now = present(&world.clock);
    return fails() ? not_done(error) : FIRN_OK;
}

static const firn_store_ops frail_ops = {.version = FIRN_STORE_OPS_VERSION,
                                         .scheme = "frail",
                                         .reserve = frail_reserve,
                                         .give_back = recorder_give_back,
                                         .list = frail_list,
                                         .now = frail_now,
                                         .close = recorder_close};

static char numbers[100][FIRN_SERIES_SIZE]; /* that were issued */
static size_t number_count;

static void issue_two(firn_series *series, const char *at) {
    const firn_time time = at != NULL ? time_of(at) : (firn_time){0};
    firn_error error = {.code = FIRN_OK};
    const int code =
        firn_series_next(series, at != NULL ? &time : NULL, &numbers[number_count], 2, &error);
    assert_true(code == FIRN_OK || (error.code == code && error.text[0] != '\0'));
    number_count += code == FIRN_OK ? 2 : 0;
}

static void use_a_series(void) {
    char text[FIRN_SERIES_SIZE];
    firn_series *series = NULL;
    clock_shows("2025-10-25T12:00:00Z");
    const char *keys = DAILY " zone=Europe/Berlin late=1";
    if (firn_series_open(&series, "frail", keys, world.store, &world.hands, NULL) != FIRN_OK) {
        return;
    }
    issue_two(series, NULL);
    (void)firn_series_peek(series, NULL, text, NULL);
    (void)firn_series_advance(series, NULL, 50, NULL);
    issue_two(series, NULL);
    clock_shows("2025-10-26T12:00:00Z");
    issue_two(series, NULL);
    issue_two(series, "2025-10-25T12:00:00Z");
    const firn_time today = time_of("2025-10-26T12:00:00Z");
    (void)firn_series_prune(series, &today, NULL);
    clock_shows("2025-10-25T21:59:59.5Z"); /* back, to just before midnight */
    issue_two(series, NULL);
    (void)firn_series_close(series, NULL);
}

static int by_text(const void *a, const void *b) {
    return strcmp(a, b);
}

static void each_call_may_fail(void **state) {
    int met = 0;
    for (bool reached = true; reached; met++) {
        world_end(state);
        assert_int_equal(world_new(state), 0);
        firn_store_close(world.store);
        assert_int_equal(firn_store_open(&world.log.real, "memory:", NULL, NULL), FIRN_OK);
        assert_int_equal(firn_store_wrap(&world.store, &frail_ops, &world.log, NULL), FIRN_OK);
        world.hands.wall = frail_wall;
        number_count = 0;
        fails_in = met + 1;
        use_a_series();
        reached = fails_in == 0;
        fails_in = 0;
        clock_shows("2025-10-27T12:00:00Z");
        firn_series *series = opened("frail", DAILY " zone=Europe/Berlin late=1");
        issue_two(series, NULL);
        assert_true(number_count >= 2);
        closed(series);
        qsort(numbers, number_count, sizeof numbers[0], by_text);
        for (size_t i = 1; i < number_count; i++) {
            assert_string_not_equal(numbers[i - 1], numbers[i]);
        }
    }
    assert_in_range(met, 20, 200);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_new, world_end)
        TEST(each_template_has_its_period_and_text),
        TEST(a_template_that_repeats_numbers_is_refused),
        TEST(a_key_file_needs_a_whole_key),
        TEST(a_closed_period_has_its_name),
        TEST(a_number_is_read_or_refused),
        TEST(another_definition_is_refused),
        TEST(each_number_is_in_the_period_of_its_time),
        TEST(weeks_and_years_differ),
        TEST(years_of_other_than_four_digits_are_refused),
        TEST(the_counter_restarts_with_the_period),
        TEST(a_clock_that_is_a_little_behind_follows),
        TEST(a_late_series_continues_each_period),
        TEST(machines_with_other_rules_repeat_no_number),
        TEST(an_hour_that_repeats_across_midnight_is_served),
        TEST(a_clock_that_is_ahead_of_the_store_closes_nothing),
        TEST(a_time_to_come_is_refused),
        TEST(a_counter_ends_or_grows),
        TEST(peeking_reserves_nothing),
        TEST(a_store_that_does_not_last_prunes_nothing),
        TEST(advancing_skips_counters),
        TEST(advancing_leaves_the_own_block),
        TEST(a_lost_reply_repeats_no_number),
        TEST(each_call_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
