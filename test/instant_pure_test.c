/* SPDX-License-Identifier: MIT */
/* Instants as text: every day of the calendar's cycle, near and far, both ways; what is read,
 * what is refused and where. What it is compared with is a calendar that walks from day to day,
 * and the C library's. */
#include <firn/firn.h>

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "chance.h"

static int read_time(firn_time *time, const char *text) {
    return firn_time_parse(time, text, strlen(text), NULL);
}

static void assert_time(const firn_time *time, int64_t sec, int32_t ns) {
    assert_true(time->sec == sec && time->ns == ns);
}

/* ---- the calendar --------------------------------------------------------------------------- */

static bool is_leap(int64_t year) {
    return year % 400 == 0 || (year % 4 == 0 && year % 100 != 0);
}

static int length_of(int64_t year, int month) {
    if (month == 2) {
        return is_leap(year) ? 29 : 28;
    }
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

static int put_year(char *out, int64_t year) {
    return year < 0      ? sprintf(out, "-%05" PRId64, -year)
           : year > 9999 ? sprintf(out, "+%05" PRId64, year)
                         : sprintf(out, "%04" PRId64, year);
}

/* The 400 years from one that 400 divides, day by day. The calendar repeats after 146097 days. */
static void walk(int64_t year) {
    int64_t days = -719528 + year / 400 * 146097; /* 0000-01-01 is day -719528 */
    for (int64_t last = year + 400; year < last; year++) {
        for (int month = 1; month <= 12; month++) {
            for (int day = 1; day <= length_of(year, month); day++, days++) {
                char expected[64], text[FIRN_TIME_SIZE];
                firn_time time = {days * 86400 + (int64_t)(chance() % 86400), 0}, read;
                int second = (int)(time.sec - days * 86400);
                int position = put_year(expected, year);
                position += sprintf(expected + position, "-%02d-%02d", month, day);
                assert_int_equal(read_time(&read, expected), 0);
                assert_time(&read, days * 86400, 0);
                sprintf(expected + position, "T%02d:%02d:%02dZ", second / 3600, second / 60 % 60,
                        second % 60);
                assert_string_equal(firn_time_format(text, &time, 0), expected);
                assert_int_equal(read_time(&read, expected), 0);
                assert_time(&read, time.sec, 0);
            }
            char after[64];
            firn_time read;
            sprintf(after + put_year(after, year), "-%02d-%02d", month, length_of(year, month) + 1);
            assert_int_equal(read_time(&read, after), FIRN_ETEXT);
        }
    }
}

static void every_day_near_and_far_is_right(void **state) {
    (void)state;
    static const int64_t from[] = {-400,
                                   0,
                                   1600,
                                   2000,
                                   9600,
                                   -10000,
                                   99600,
                                   584555600,
                                   INT64_C(292277026000),
                                   INT64_C(-292277022400)};
    for (size_t i = 0; i < sizeof from / sizeof from[0]; i++) {
        walk(from[i]);
    }
}

static void the_c_library_agrees(void **state) {
    (void)state;
    if (sizeof(time_t) < 8) {
        skip();
    }
    for (int i = 0; i < 200000; i++) {
        firn_time time = {(int64_t)(chance() >> (8 + chance() % 40)), 0};
        time.sec = chance() % 2 == 0 ? time.sec : -time.sec;
        char text[FIRN_TIME_SIZE], expected[64];
        time_t there = (time_t)time.sec;
        struct tm tm;
        if (gmtime_r(&there, &tm) == NULL) { /* its years are 32 bits */
            continue;
        }
        sprintf(expected + put_year(expected, (int64_t)tm.tm_year + 1900),
                "-%02d-%02dT%02d:%02d:%02dZ", tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
                tm.tm_sec);
        assert_string_equal(firn_time_format(text, &time, 0), expected);
    }
}

static void every_instant_comes_back(void **state) {
    (void)state;
    static const int64_t edges[] = {
        0, 1, -1, 86399, 86400, -86400, -86401, INT64_MAX, INT64_MAX - 1, INT64_MIN, INT64_MIN + 1};
    enum { EDGES = sizeof edges / sizeof edges[0] };
    for (size_t i = 0; i < 200000; i++) {
        char text[FIRN_TIME_SIZE];
        firn_time time = {i < EDGES ? edges[i] : (int64_t)chance() >> chance() % 64,
                          (int32_t)(chance() % 1000000000)},
                  read;
        firn_time_format(text, &time, 9);
        assert_true(strlen(text) < FIRN_TIME_SIZE);
        assert_int_equal(read_time(&read, text), 0);
        assert_time(&read, time.sec, time.ns);
    }
}

/* ---- writing -------------------------------------------------------------------------------- */

static void known_instants_are_written(void **state) {
    (void)state;
    static const struct {
        firn_time time;
        int digits;
        const char *text;
    } known[] = {
        {{0, 0}, 0, "1970-01-01T00:00:00Z"},
        {{-1, 500000000}, 1, "1969-12-31T23:59:59.5Z"},
        {{-1, 999999999}, 3, "1969-12-31T23:59:59.999Z"}, /* cut, not rounded */
        {{1288834974, 657000000}, 3, "2010-11-04T01:42:54.657Z"},
        {{951782400, 0}, 0, "2000-02-29T00:00:00Z"},
        {{253402300799, 999999999}, 9, "9999-12-31T23:59:59.999999999Z"},
        {{253402300800, 0}, 0, "+10000-01-01T00:00:00Z"},
        {{-62167219200, 0}, 0, "0000-01-01T00:00:00Z"},
        {{-62167219201, 0}, 0, "-00001-12-31T23:59:59Z"},
        {{-12219292800, 0}, 7, "1582-10-15T00:00:00.0000000Z"},
        {{103072857660, 684697600}, 7, "5236-03-31T21:21:00.6846976Z"}, /* the end of uuid1 */
        {{281474976710, 655000000},
         3,
         "+10889-08-02T05:31:50.655Z"}, /* the last of 48 bits of ms */
        {{18446744073709551, 615000000}, 3, "+584556019-04-03T14:25:51.615Z"}, /* of 64 bits */
        {{INT64_MAX, 0}, 0, "+292277026596-12-04T15:30:07Z"},
        {{INT64_MIN, 0}, 0, "-292277022657-01-27T08:29:52Z"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        char text[FIRN_TIME_SIZE];
        assert_string_equal(firn_time_format(text, &known[i].time, known[i].digits), known[i].text);
    }
}

static void digits_of_the_second_are_cut_to_the_past(void **state) {
    (void)state;
    static const char whole[] = "1969-12-31T23:59:58.987654321Z";
    const firn_time time = {-2, 987654321};
    for (int digits = -1; digits <= 10; digits++) {
        char text[FIRN_TIME_SIZE], expected[FIRN_TIME_SIZE];
        int shown = digits < 1 ? 19 : digits > 9 ? 29 : 20 + digits;
        snprintf(expected, sizeof expected, "%.*sZ", shown, whole);
        assert_string_equal(firn_time_format(text, &time, digits), expected);
    }
}

static void nanoseconds_since_1970_are_exact(void **state) {
    (void)state;
    static const struct {
        firn_time time;
        const char *text;
    } known[] = {
        {{0, 0}, "0"},
        {{0, 1}, "1"},
        {{-1, 999999999}, "-1"},
        {{-1, 500000000}, "-500000000"},
        {{-1, 0}, "-1000000000"},
        {{-2, 999999999}, "-1000000001"},
        {{1, 5}, "1000000005"},
        {{18446744073709551, 615000000}, "18446744073709551615000000"},
        {{INT64_MAX, 999999999}, "9223372036854775807999999999"},
        {{INT64_MIN, 0}, "-9223372036854775808000000000"},
        {{INT64_MIN, 1}, "-9223372036854775807999999999"},
    };
    char text[FIRN_TIME_SIZE], expected[32];
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        assert_string_equal(firn_time_unix_ns(text, &known[i].time), known[i].text);
    }
    for (int i = 0; i < 100000; i++) {
        firn_time time = {(int64_t)chance() >> 32 >> chance() % 32,
                          (int32_t)(chance() % 1000000000)};
        snprintf(expected, sizeof expected, "%" PRId64, time.sec * 1000000000 + time.ns);
        assert_string_equal(firn_time_unix_ns(text, &time), expected);
    }
}

static void instants_compare_by_second_then_nanosecond(void **state) {
    (void)state;
    static const firn_time order[] = {{INT64_MIN, 0},  {INT64_MIN, 1}, {-1, 0},
                                      {-1, 999999999}, {0, 0},         {0, 1},
                                      {1, 0},          {INT64_MAX, 0}, {INT64_MAX, 999999999}};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        for (size_t j = 0; j < sizeof order / sizeof order[0]; j++) {
            int found = firn_time_cmp(&order[i], &order[j]);
            assert_int_equal((found > 0) - (found < 0), (i > j) - (i < j));
        }
    }
}

/* ---- reading -------------------------------------------------------------------------------- */

static void what_is_read_is_exact(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t sec;
        int32_t ns;
    } known[] = {
        {"1970-01-01T00:00:00Z", 0, 0},
        {"1970-01-01t00:00:00z", 0, 0},
        {"1970-01-01 00:00:00Z", 0, 0},
        {"1970-01-01", 0, 0},
        {"2024-01-01", 1704067200, 0},
        {"1970-01-01T00:00:00.1Z", 0, 100000000},
        {"1970-01-01T00:00:00.000000001Z", 0, 1},
        {"1969-12-31T23:59:59.5Z", -1, 500000000},
        {"1970-01-01T01:00:00+01:00", 0, 0},
        {"1969-12-31T16:00:00-08:00", 0, 0},
        {"1970-01-01T00:00:00-00:00", 0, 0},
        {"1970-01-01T00:00:00+00:00", 0, 0},
        {"1970-01-01T00:00:00+23:59", -86340, 0},
        {"1970-01-01T23:59:59-23:59", 172739, 0},
        {"1985-04-12T23:20:50.52Z", 482196050, 520000000},        /* RFC 3339, 5.8 */
        {"1996-12-19T16:39:57-08:00", 851042397, 0},              /* the same */
        {"1937-01-01T12:00:27.87+00:20", -1041337173, 870000000}, /* the same */
        {"0000-01-01", -62167219200, 0},
        {"+00000-01-01", -62167219200, 0},
        {"+02024-01-01", 1704067200, 0},
        {"-00001-12-31", -62167305600, 0},
        {"+292277026596-12-04T15:30:07Z", INT64_MAX, 0},
        {"+292277026596-12-04T15:30:07.999999999Z", INT64_MAX, 999999999},
        {"+292277026596-12-05T15:29:07+23:59", INT64_MAX, 0},
        {"-292277022657-01-26T08:30:52-23:59", INT64_MIN, 0},
        {"-292277022657-01-27T08:29:52Z", INT64_MIN, 0},
        {"1970-01-01 00:00:01", 1, 0}, /* as a spreadsheet writes it */
        {"1970-01-01 00:00:01+01:00", -3599, 0},
        {"@0", 0, 0},
        {"@-0", 0, 0},
        {"@-0.0", 0, 0},
        {"@-0.5", -1, 500000000},
        {"@0.5", 0, 500000000},
        {"@-1", -1, 0},
        {"@-1.000000001", -2, 999999999},
        {"@1288834974.657", 1288834974, 657000000},
        {"@007", 7, 0},
        {"@1288834974657ms", 1288834974, 657000000},
        {"@-1ms", -1, 999000000},
        {"@-1000ms", -1, 0},
        {"@1288834974657001us", 1288834974, 657001000},
        {"@9223372036854775807ns", 9223372036, 854775807},
        {"@-9223372036854775808ns", -9223372037, 145224192},
        {"@9223372036854775807.999999999", INT64_MAX, 999999999},
        {"@-9223372036854775808", INT64_MIN, 0},
        {"@-9223372036854775807.999999999", INT64_MIN, 1},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        firn_error error = {0};
        firn_time time;
        assert_int_equal(firn_time_parse(&time, known[i].text, strlen(known[i].text), &error), 0);
        assert_time(&time, known[i].sec, known[i].ns);
        assert_string_equal(error.text, "");
    }
}

static void every_offset_is_taken_off(void **state) {
    (void)state;
    for (int minutes = -1439; minutes <= 1439; minutes++) {
        char text[64];
        firn_time time;
        int size = abs(minutes);
        sprintf(text, "2024-02-29T12:34:56.789%c%02d:%02d", minutes < 0 ? '-' : '+', size / 60,
                size % 60);
        assert_int_equal(read_time(&time, text), 0);
        assert_time(&time, 1709210096 - minutes * 60, 789000000);
    }
}

static void refusals_tell_place_and_reason(void **state) {
    (void)state;
    static const char *const text[][2] = {
        {"", "the text is empty: write 2024-01-31, 2024-01-31T12:00:00Z or @SECONDS since 1970"},
        {"now", "character 1 of 3 is 'n': write 2024-01-31, 2024-01-31T12:00:00Z or @SECONDS since "
                "1970"},
        {"2024", "text ends after 4 characters: '-' is needed after the year (above 9999 it begins "
                 "with +): write 2024-01-31"},
        {"12024-01-01", "character 5 of 11 is '4': '-' is needed after the year (above 9999 it "
                        "begins with +): write 2024-01-31"},
        {"+2024-01-01", "character 6 of 11 is '-': a year has four digits, or a sign and five or "
                        "more: write 2024-01-31"},
        {"-00000-01-01", "character 2 of 12 is '0': write the year 0 as 0000, or with +"},
        {"+292277026597-01-01",
         "character 13 of 19 is '7': years reach from -292277022657 to +292277026596"},
        {"+9999999999999-01-01",
         "character 13 of 20 is '9': years reach from -292277022657 to +292277026596"},
        {"+292277026596-12-04T15:30:08Z",
         "character 1 of 29 is '+': the time is out of range of 64-bit seconds"},
        {"+292277026596-12-05",
         "character 1 of 19 is '+': the time is out of range of 64-bit seconds"},
        {"-292277022657-01-27T08:29:51.999999999Z",
         "character 1 of 39 is '-': the time is out of range of 64-bit seconds"},
        {"2024-13-01", "character 6 of 10 is '1': the month must be 01 to 12"},
        {"2024-00-01", "character 6 of 10 is '0': the month must be 01 to 12"},
        {"2024-1-01", "character 7 of 9 is '-': the month must be 01 to 12"},
        {"2024-01-32", "character 9 of 10 is '3': the day must be 01 to 31"},
        {"2023-02-29", "character 9 of 10 is '2': the month has fewer days"},
        {"1900-02-29", "character 9 of 10 is '2': the month has fewer days"},
        {"2024-04-31T00:00:00Z", "character 9 of 20 is '3': the month has fewer days"},
        {"2024-01-01Z", "character 11 of 11 is 'Z': 'T' and a time are needed after a date"},
        {"2024-01-01T", "text ends after 11 characters: the hour must be 00 to 23"},
        {"2024-01-01T24:00:00Z", "character 12 of 20 is '2': the hour must be 00 to 23"},
        {"2024-01-01T00:60:00Z", "character 15 of 20 is '6': the minute must be 00 to 59"},
        {"2024-01-01T00:00Z",
         "character 17 of 17 is 'Z': ':' and the seconds are needed: write 12:00:00Z"},
        {"2016-12-31T23:59:60Z", "character 18 of 20 is '6': leap seconds are not supported: "
                                 "write 59, or 00 of the next minute"},
        {"2024-01-01T00:00:61Z", "character 18 of 20 is '6': the second must be 00 to 59"},
        {"2024-01-01T00:00:00.Z", "character 21 of 21 is 'Z': a digit must follow the point"},
        {"2024-01-01T00:00:00,5Z",
         "character 20 of 22 is ',': an offset is needed: Z for UTC, or +hh:mm or -hh:mm"},
        {"2024-01-01T00:00:00.1234567890Z",
         "character 30 of 31 is '0': a second has at most nine decimals"},
        {"2024-01-01T00:00:00",
         "text ends after 19 characters: an offset is needed: Z for UTC, or +hh:mm or -hh:mm"},
        {"2024-01-01T00:00:00+24:00",
         "character 21 of 25 is '2': the hours of the offset must be 00 to 23"},
        {"2024-01-01T00:00:00+01:60",
         "character 24 of 25 is '6': the minutes of the offset must be 00 to 59"},
        {"2024-01-01T00:00:00+0100",
         "character 23 of 24 is '0': ':' is needed between hours and minutes of the offset"},
        {"2024-01-01T00:00:00Z ", "character 21 of 21 is ' ': the time ends before this character"},
        {"2024-01-01\n", "character 11 of 11 is '\\x0a': 'T' and a time are needed after a date"},
        {"1288834974", "'1288834974' is not a valid time: write seconds since 1970 as @SECONDS"},
        {"1288834974657", "'1288834974657' is not a valid time: write milliseconds since 1970 as "
                          "@1288834974657ms"},
        {"00000000000000000000000000000000000000000", /* as much of it as a line holds */
         "'0000000000000000000000000000000000000000' is not a valid time: write seconds since 1970 "
         "as @SECONDS"},
        {"2024", "text ends after 4 characters: '-' is needed after the year (above 9999 it begins "
                 "with +): write 2024-01-31"},
        {"@", "text ends after 1 character: a digit is needed"},
        {"@-", "text ends after 2 characters: a digit is needed"},
        {"@+1", "character 2 of 3 is '+': a digit is needed"},
        {"@.5", "character 2 of 3 is '.': a digit is needed"},
        {"@1.", "text ends after 3 characters: a digit must follow the point"},
        {"@1.0000000001", "character 13 of 13 is '1': a second has at most nine decimals"},
        {"@1e9", "character 3 of 4 is 'e': the time ends before this character"},
        {"@1.5ms", "character 5 of 6 is 'm': the time ends before this character"},
        {"@1m", "character 3 of 3 is 'm': the time ends before this character"},
        {"@1msx", "character 3 of 5 is 'm': the time ends before this character"},
        {"@9223372036854775808",
         "character 20 of 20 is '8': the time is out of range of 64-bit seconds"},
        {"@-9223372036854775809",
         "character 21 of 21 is '9': the time is out of range of 64-bit seconds"},
        {"@-9223372036854775808.5",
         "character 2 of 23 is '-': the time is out of range of 64-bit seconds"},
        {"@99999999999999999999999999999999",
         "character 20 of 33 is '9': the time is out of range of 64-bit seconds"},
    };
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        firn_time time = {7, 7};
        firn_error error;
        assert_int_equal(firn_time_parse(&time, text[i][0], strlen(text[i][0]), &error),
                         FIRN_ETEXT);
        assert_int_equal(error.code, FIRN_ETEXT);
        assert_string_equal(error.text, text[i][1]);
        assert_time(&time, 7, 7);
        assert_int_equal(firn_time_parse(&time, text[i][0], strlen(text[i][0]), NULL), FIRN_ETEXT);
    }
}

/* A text in the letters that we write. */
static void tidy(char *out, const char *text) {
    for (; *text != '\0'; text++) {
        *out++ = *text == 't' || *text == ' ' ? 'T' : *text == 'z' ? 'Z' : *text;
    }
    *out = '\0';
}

static void each_wrong_character_is_refused_or_means_itself(void **state) {
    (void)state;
    static const char *const right[] = {"2024-02-29T12:34:56Z", "1999-12-31T23:59:59.987654321Z",
                                        "0000-01-01T00:00:00.0Z"};
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        size_t length = strlen(right[i]);
        int digits = length == 20 ? 0 : (int)length - 21;
        for (size_t position = 0; position < length; position++) {
            for (int c = 1; c < 256; c++) {
                char text[64], back[FIRN_TIME_SIZE], expected[64];
                firn_error error;
                firn_time time;
                strcpy(text, right[i]);
                text[position] = (char)c;
                if (firn_time_parse(&time, text, length, &error) == FIRN_OK) {
                    tidy(expected, text);
                    assert_string_equal(firn_time_format(back, &time, digits), expected);
                    continue;
                }
                unsigned long place = strtoul(error.text + strlen("character "), NULL, 10);
                assert_true(strncmp(error.text, "character ", 10) == 0 ||
                            strncmp(error.text, "text ends ", 10) == 0);
                if (position > 0 && position < 19 && (c < '0' || c > '9')) {
                    assert_int_equal(place, position + 1);
                }
            }
        }
    }
}

static void each_shorter_text_but_a_date_is_refused(void **state) {
    (void)state;
    static const char *const right[] = {"2024-02-29T12:34:56Z",
                                        "1999-12-31T23:59:59.987654321+01:30",
                                        "+10889-08-02T05:31:50.655Z"};
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        size_t date = right[i][0] == '+' ? 12 : 10;
        for (size_t length = 0; length < strlen(right[i]); length++) {
            firn_time time;
            firn_error error;
            int code = firn_time_parse(&time, right[i], length, &error);
            assert_int_equal(code, length == date ? FIRN_OK : FIRN_ETEXT);
            assert_true(length == 0 || length == date ||
                        strtoul(error.text + strlen("text ends after "), NULL, 10) == length);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(sentence, function) {sentence, function, start_over, NULL, NULL}
        TEST("every day near and far is right", every_day_near_and_far_is_right),
        TEST("the C library agrees", the_c_library_agrees),
        TEST("every instant comes back", every_instant_comes_back),
        TEST("known instants are written", known_instants_are_written),
        TEST("digits of the second are cut to the past", digits_of_the_second_are_cut_to_the_past),
        TEST("nanoseconds since 1970 are exact", nanoseconds_since_1970_are_exact),
        TEST("instants compare by second, then nanosecond",
             instants_compare_by_second_then_nanosecond),
        TEST("what is read is exact", what_is_read_is_exact),
        TEST("every offset is taken off", every_offset_is_taken_off),
        TEST("refusals tell place and reason", refusals_tell_place_and_reason),
        TEST("each wrong character is refused or means itself",
             each_wrong_character_is_refused_or_means_itself),
        TEST("each shorter text but a date is refused", each_shorter_text_but_a_date_is_refused),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
