/* SPDX-License-Identifier: MIT */
/* Where `firn show --find` finds IDs: at the edges of the text and of its words, next to any bytes,
 * after prefixes and escapes; and where it finds none. test/find.sh tests the command. */
#include "ids/scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEVEN  "0190163d-8694-739b-aea5-966c26f8ad91" /* 2024-06-14T10:14:09.300Z */
#define FOUR   "7d444840-9dc0-4ac8-8c42-5aeae0ac6e1d"
#define ULID   "01ARYZ6S41TSV4RRFFQ69G5FAV"
#define OBJECT "507f1f77bcf86cd799439011"
#define XID    "9m4e2mr0ui3e8a215n4g"
#define KSUID  "0ujtsYcgvSTl8PAuAdqWYSMnLOv"
#define TYPED  "01h455vb4pex5vsknk084sn02q" /* with a prefix and _ */
#define FLAKE  "1541815603606036480"

static const scan_want any = {.form = -1}, all = {.form = -1, .all = true};
static text_scan it;

static scan_want named(const char *name) {
    return (scan_want){.scheme = firn_scheme_find(name), .form = -1};
}

/* Compares the findings: "START+LENGTH SCHEME" of each, after a blank. Words that begin in [from,
 * limit). */
static void finds_between(const scan_want *want, const char *text, size_t from, size_t limit,
                          size_t length, const char *expected) {
    char got[1024] = "";
    char *exact = malloc(length > 0 ? length : 1); /* reading past its end is noticed */
    assert_non_null(exact);
    memcpy(exact, text, length);
    scan_begin(&it, want, exact, from, limit, length);
    while (scan_next(&it)) {
        const size_t used = strlen(got);
        assert_in_range(it.start, from, limit);
        snprintf(got + used, sizeof got - used, " %zu+%zu %s", it.start, it.end - it.start,
                 it.readings[0].scheme->name);
    }
    free(exact);
    if (strcmp(got, expected) != 0) {
        fail_msg("'%.*s': found '%s', expected '%s'", (int)(length < 200 ? length : 200), text, got,
                 expected);
    }
}

static void finds_with(const scan_want *want, const char *text, const char *expected) {
    finds_between(want, text, 0, strlen(text), strlen(text), expected);
}

static void finds(const char *text, const char *expected) {
    finds_with(&any, text, expected);
}

/* ---- places ---------------------------------------------------------------------------------- */

static void nothing_in_an_empty_text(void **state) {
    (void)state;
    finds("", "");
    finds_with(&all, "", "");
    finds(" ", "");
    finds("-", "");
}

static void each_kind_alone(void **state) {
    (void)state;
    finds(SEVEN, " 0+36 uuid7");
    finds(FOUR, " 0+36 uuid4");
    finds(ULID, " 0+26 ulid");
    finds(OBJECT, " 0+24 objectid");
    finds(XID, " 0+20 xid");
    finds(KSUID, " 0+27 ksuid");
    finds("user_" TYPED, " 0+31 typeid");
}

/* Words are found 64 bytes at a time: an ID at each place, after blanks and after letters, with and
 * without an end. */
static void at_each_place(void **state) {
    static const char *const ids[] = {SEVEN, ULID, KSUID}, *const schemes[] = {"uuid7", "ulid",
                                                                               "ksuid"};
    char text[512], expected[64];
    (void)state;
    for (size_t kind = 0; kind < 3; kind++) {
        const size_t size = strlen(ids[kind]);
        for (size_t position = 0; position <= 200; position++) {
            memset(text, position % 2 == 0 ? ' ' : 'x', position);
            if (position > 0) {
                text[position - 1] = '/';
            }
            memcpy(text + position, ids[kind], size);
            memset(text + position + size, '.', 70);
            snprintf(expected, sizeof expected, " %zu+%zu %s", position, size, schemes[kind]);
            finds_between(&any, text, 0, position + size, position + size, expected);
            finds_between(&any, text, 0, position + size + 70, position + size + 70, expected);
            if (position > 0) {
                text[position - 1] = 'x'; /* a longer word */
                finds_between(&any, text, 0, position + size, position + size, "");
            }
        }
    }
}

static void at_the_ends_of_the_longest_text(void **state) {
    static char text[SCAN_MAX];
    char expected[64];
    (void)state;
    memset(text, ' ', sizeof text);
    memcpy(text, SEVEN, 36);
    memcpy(text + sizeof text - 26, ULID, 26);
    snprintf(expected, sizeof expected, " 0+36 uuid7 %zu+26 ulid", sizeof text - 26);
    finds_between(&any, text, 0, sizeof text, sizeof text, expected);
    memset(text, 'a', sizeof text); /* one word */
    finds_between(&any, text, 0, sizeof text, sizeof text, "");
    finds_between(&all, text, 0, sizeof text, sizeof text, "");
}

static void between_from_and_limit(void **state) {
    static const char text[] = SEVEN " " ULID " " XID;
    const size_t length = sizeof text - 1;
    (void)state;
    finds_between(&any, text, 0, length, length, " 0+36 uuid7 37+26 ulid 64+20 xid");
    finds_between(&any, text, 0, 0, length, "");
    finds_between(&any, text, 0, 1, length, " 0+36 uuid7");
    finds_between(&any, text, 0, 37, length, " 0+36 uuid7");
    finds_between(&any, text, 0, 38, length, " 0+36 uuid7 37+26 ulid");
    finds_between(&any, text, 1, length, length, " 37+26 ulid 64+20 xid"); /* no word begins at 1 */
    finds_between(&any, text, 37, 64, length, " 37+26 ulid");
    finds_between(&any, text, 37, 65, length, " 37+26 ulid 64+20 xid");
    finds_between(&any, text, 64, length, length, " 64+20 xid");
    finds_between(&any, text, length, length, length, "");
}

static void at_the_ends_of_lines(void **state) {
    (void)state;
    finds("\n" SEVEN "\n", " 1+36 uuid7");
    finds(SEVEN "\r\n" ULID "\r\n\n" XID, " 0+36 uuid7 38+26 ulid 67+20 xid");
    finds("0190163d-8694-739b-\naea5-966c26f8ad91", "");
    finds("01ARYZ6S41TSV\n4RRFFQ69G5FAV", "");
}

/* ---- neighbours ------------------------------------------------------------------------------ */

static void beside_each_byte(void **state) {
    char text[64];
    (void)state;
    for (int c = 0; c < 256; c++) {
        const bool word =
            (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        text[0] = (char)c;
        memcpy(text + 1, ULID, 26);
        text[27] = (char)c;
        finds_between(&any, text, 0, 28, 28, word ? "" : " 1+26 ulid");
        memcpy(text + 1, FOUR, 36);
        text[37] = (char)c;
        finds_between(&any, text, 0, 38, 38, word ? "" : " 1+36 uuid4");
    }
}

static void beside_letters_of_utf8(void **state) {
    (void)state;
    finds("\xc3\xa9" SEVEN "\xc3\xbc", " 2+36 uuid7");
    finds("\xe2\x80\x9c" ULID "\xe2\x80\x9d", " 3+26 ulid");
    finds("\xf0\x9f\x98\x80" XID "\xf0\x9f\x98\x80" OBJECT, " 4+20 xid 28+24 objectid");
    finds("01ARYZ6S41TSV\xc3\xa9"
          "4RRFFQ69G5FAV",
          "");
}

static void a_zero_byte_ends_a_word(void **state) {
    (void)state;
    finds_between(&any, "\0" SEVEN "\0" ULID "\0", 0, 65, 65, " 1+36 uuid7 38+26 ulid");
    finds_between(&any,
                  "01ARYZ6S41TSV\0"
                  "4RRFFQ69G5FAV",
                  0, 27, 27, "");
    finds_between(&any,
                  "0190163d\0"
                  "8694-739b-aea5-966c26f8ad91",
                  0, 36, 36, "");
    finds_between(&any, "user_\0" TYPED, 0, 32, 32, "");
}

static void joined_by_a_hyphen(void **state) {
    (void)state;
    finds(SEVEN "-" FOUR, " 0+36 uuid7 37+36 uuid4");
    finds(SEVEN "-" ULID, " 0+36 uuid7 37+26 ulid");
    finds(ULID "-" SEVEN, " 0+26 ulid 27+36 uuid7");
    finds("-" SEVEN "-", " 1+36 uuid7");
    finds("req-1-" SEVEN, " 6+36 uuid7");
    finds(SEVEN "_" SEVEN, " 0+36 uuid7 37+36 uuid7");
    finds("deadbeef-" SEVEN, " 9+36 uuid7"); /* eight digits that do not begin a UUID */
}

/* ---- length and letters ---------------------------------------------------------------------- */

static void no_id_within_a_longer_word(void **state) {
    (void)state;
    finds("0" SEVEN, "");
    finds(SEVEN "0", "");
    finds(ULID "00", "");
    finds(OBJECT "a", "");
    finds(ULID ULID, "");
    finds("0190163d-8694-739b-aea5-966c26f8ad9", "");
    finds("0190163d_8694_739b_aea5_966c26f8ad91", "");
}

static void words_of_few_and_of_many_letters(void **state) {
    char text[SCAN_TEXT_MAX + 2];
    const scan_want integer = named("snowflake");
    (void)state;
    finds_with(&all, "1234567", "");
    finds("deadbeef", "");
    memset(text, '1', sizeof text);
    finds_between(&all, text, 0, SCAN_TEXT_MAX, SCAN_TEXT_MAX, "");
    finds_between(&all, text, 0, SCAN_TEXT_MAX + 1, SCAN_TEXT_MAX + 1, "");
    finds_between(&integer, text, 0, SCAN_TEXT_MAX + 1, SCAN_TEXT_MAX + 1, "");
}

static void upper_case(void **state) {
    (void)state;
    finds("7D444840-9DC0-4AC8-8C42-5AEAE0AC6E1D", " 0+36 uuid4");
    finds("7D444840-9dc0-4AC8-8c42-5AEAE0ac6e1d", " 0+36 uuid4");
    finds("507F1F77BCF86CD799439011", " 0+24 objectid");
    finds("01aryz6s41tsv4rrffq69g5fav", " 0+26 ulid");
    finds("9M4E2MR0UI3E8A215N4G", "");                      /* xid has small letters only */
    finds("USER_01H455VB4PEX5VSKNK084SN02Q", " 5+26 ulid"); /* so has typeid */
}

/* Words of a language, numbers, and what is random or of another time. */
static void words_that_are_no_ids(void **state) {
    (void)state;
    finds("internationalizations", "");
    finds("aaaaaaaaaaaaaaaaaaaaaaaaaa", "");
    finds("01234567890123456789012345", "");
    finds("000000000000000000000000", "");
    finds("deadbeefdeadbeefdeadbeefdeadbeef", "");
    finds("91ARYZ6S41TSV4RRFFQ69G5FAV", ""); /* above 2^128 */
    finds(FLAKE, "");
    finds_with(&all, FLAKE, " 0+19 snowflake");
    finds_with(&all, "1732290000123", ""); /* ms since 1970 */
}

/* ---- prefixes -------------------------------------------------------------------------------- */

static void a_prefix_belongs_to_a_typeid(void **state) {
    char text[128], expected[64];
    (void)state;
    finds("my_user_" TYPED, " 0+34 typeid");
    finds("id=user_" TYPED ";", " 3+31 typeid");
    finds("(a_" TYPED ")", " 1+28 typeid");
    finds("__user_" TYPED, " 2+31 typeid");               /* a prefix begins with a letter */
    finds("user_2x4y6z8a0b1c2d3e4f5g6h7j8k", "");         /* no version */
    finds("my_01h5fskfsk4fpeqwnsyz5hj55t", " 0+29 ulid"); /* the same, with a time of today */
    finds("user__" TYPED, "");                            /* and ends with one */
    finds("_" TYPED, "");
    finds(TYPED, "");
    finds("User_" TYPED, "");
    finds("user1_" TYPED, "");
    finds("1user_" TYPED, "");
    memset(text, 'p', sizeof text);
    for (size_t size = 62; size <= 65; size++) { /* 63 letters are the most */
        snprintf(text + size, sizeof text - size, "_%s", TYPED);
        snprintf(expected, sizeof expected, size <= 63 ? " 0+%zu typeid" : "", size + 27);
        finds(text, expected);
        text[size] = 'p';
    }
}

static void an_escape_does_not(void **state) {
    (void)state;
    finds("id%3D" SEVEN, " 5+36 uuid7");
    finds("id%3d" ULID "%26", " 5+26 ulid");
    finds("id%3G" ULID, "");
    finds("id%" ULID, " 3+26 ulid"); /* the unchanged word comes first */
    finds("\\n" SEVEN, " 2+36 uuid7");
    finds("\\\\n" XID, " 3+20 xid");
    finds("\\q" XID, "");
    finds("\\u003d" SEVEN, " 6+36 uuid7");
    finds("\\x3d" SEVEN, " 4+36 uuid7");
    finds("\\U003d" SEVEN, "");
    finds("\033[1m" SEVEN "\033[0m", " 4+36 uuid7");
    finds("\033[38;5;33m" ULID, " 10+26 ulid");
    finds("\033[m" ULID, " 3+26 ulid");
    finds("[1m" ULID, "");
    finds("1m" ULID, "");
    finds("\033[1234m" ULID, "");              /* no colour has four digits */
    finds("\033[1;2;3;4;5;6;7;8;9m" ULID, ""); /* nor nine parts */
    finds("\\u003d", "");
    finds("%3D", "");
    finds_with(&all, "\\abefnrtv", ""); /* all of it may be an escape */
}

/* ---- options --------------------------------------------------------------------------------- */

static void in_a_span_of_time(void **state) {
    const firn_time instant = {1718360049, 300000000};
    scan_want want = {
        .form = -1, .limited = true, .since = instant, .until = {1718360049, 301000000}};
    firn_time read;
    (void)state;
    assert_int_equal(firn_time_parse(&read, "2024-06-14T10:14:09.300Z", 24, NULL), FIRN_OK);
    assert_int_equal(firn_time_cmp(&read, &instant), 0);
    finds_with(&want, SEVEN " " FOUR, " 0+36 uuid7"); /* uuid4 has no time */
    assert_int_equal(firn_time_cmp(&it.time, &instant), 0);
    want.until = instant;
    finds_with(&want, SEVEN, "");
    want.until.sec++;
    want.since.ns++;
    finds_with(&want, SEVEN, "");
}

static void as_a_named_scheme(void **state) {
    const scan_want flake = named("snowflake"), four = named("uuid4"), seven = named("uuid7"),
                    typeid = named("typeid"), object = named("objectid"), tsid = named("tsid");
    (void)state;
    finds_with(&flake, "id=" FLAKE "," FLAKE, " 3+19 snowflake 23+19 snowflake");
    finds_with(&flake, "1565a11f6217a000", " 0+16 snowflake"); /* the same ID in hexadecimal */
    finds_with(&flake, SEVEN " " ULID, "");
    finds_with(&flake, "9223372036854775808", "");           /* 2^63: the sign bit is 0 */
    finds_with(&flake, "4611686018427387904", "");           /* in the year 2045 */
    finds_with(&flake, "99999999999999999999", "");          /* above 2^64 */
    finds_with(&flake, "00000000001541815603606036480", ""); /* one text for one ID */
    finds_with(&four, SEVEN " " FOUR, " 37+36 uuid4");
    finds_with(&seven, SEVEN " " FOUR " 0190163d8694739baea5966c26f8ad91",
               " 0+36 uuid7 74+32 uuid7");
    finds_with(&typeid, TYPED " user_" TYPED " " ULID, " 27+31 typeid");
    finds_with(&object, OBJECT " " OBJECT "0", " 0+24 objectid");
    finds_with(&tsid, "0EP7TRC000W05 0EP7TRC000W0", " 0+13 tsid");
}

static void in_a_named_form(void **state) {
    scan_want want = named("snowflake");
    (void)state;
    want.form = FIRN_FORM_HEX;
    finds_with(&want, FLAKE " 1565a11f6217a000", " 20+16 snowflake");
    want.form = FIRN_FORM_DEC;
    finds_with(&want, FLAKE " 1565a11f6217a000", " 0+19 snowflake");
    want = named("uuid7");
    want.form = FIRN_FORM_UUID;
    finds_with(&want, SEVEN " 0190163d8694739baea5966c26f8ad91", " 0+36 uuid7");
}

static void by_chance_with_all(void **state) {
    (void)state;
    finds_with(&all, "internationalization", "");
    finds_with(&all, SEVEN " and " FLAKE " and " FOUR, " 0+36 uuid7 41+19 snowflake 65+36 uuid4");
    finds_with(&all, "0EP7TRC000W05", " 0+13 tsid");
}

/* ---- what may continue in the next piece ----------------------------------------------------- */

static void holds_back_the_last_word(void **state) {
    char text[300];
    (void)state;
    assert_int_equal(scan_hold("", 0), 0);
    assert_int_equal(scan_hold("a", 1), 0);
    assert_int_equal(scan_hold(" ", 1), 1);
    assert_int_equal(scan_hold("abc def", 7), 4);
    assert_int_equal(scan_hold("abc def ", 8), 8);
    assert_int_equal(scan_hold("abc\ndef-1_2", 11), 4);
    assert_int_equal(scan_hold("abc\xc3\xa9"
                               "d",
                               6),
                     5);
    assert_int_equal(scan_hold("abc\0d", 5), 4);
    memset(text, 'a', sizeof text);
    assert_int_equal(scan_hold(text, sizeof text), sizeof text - SCAN_TEXT_MAX);
    assert_int_equal(scan_hold(text, SCAN_TEXT_MAX), 0);
    assert_int_equal(scan_hold(text, SCAN_TEXT_MAX + 1), 1);
    text[sizeof text - SCAN_TEXT_MAX] = ' ';
    assert_int_equal(scan_hold(text, sizeof text), sizeof text - SCAN_TEXT_MAX + 1);
}

/* A text in two pieces, cut anywhere, has the IDs of the whole. */
static void two_pieces_have_the_ids_of_the_whole(void **state) {
    static const char text[] =
        "a " SEVEN "-" FOUR ", my_user_" TYPED " \033[1m" ULID "\n" XID " %3D" OBJECT "/" KSUID;
    static const size_t starts[] = {2, 39, 77, 116, 143, 167, 192};
    const size_t length = sizeof text - 1;
    (void)state;
    for (size_t cut = 0; cut <= length; cut++) {
        size_t hold = scan_hold(text, cut), from = hold, count = 0;
        scan_begin(&it, &any, text, 0, hold, cut);
        while (scan_next(&it)) {
            assert_in_range(count, 0, 6);
            assert_int_equal(it.start, starts[count]);
            count++;
            from = it.end > hold ? it.end : hold;
        }
        scan_begin(&it, &any, text, from, length, length);
        while (scan_next(&it)) {
            assert_in_range(count, 0, 6);
            assert_int_equal(it.start, starts[count]);
            count++;
        }
        assert_int_equal(count, 7);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_in_an_empty_text),
        cmocka_unit_test(each_kind_alone),
        cmocka_unit_test(at_each_place),
        cmocka_unit_test(at_the_ends_of_the_longest_text),
        cmocka_unit_test(between_from_and_limit),
        cmocka_unit_test(at_the_ends_of_lines),
        cmocka_unit_test(beside_each_byte),
        cmocka_unit_test(beside_letters_of_utf8),
        cmocka_unit_test(a_zero_byte_ends_a_word),
        cmocka_unit_test(joined_by_a_hyphen),
        cmocka_unit_test(no_id_within_a_longer_word),
        cmocka_unit_test(words_of_few_and_of_many_letters),
        cmocka_unit_test(upper_case),
        cmocka_unit_test(words_that_are_no_ids),
        cmocka_unit_test(a_prefix_belongs_to_a_typeid),
        cmocka_unit_test(an_escape_does_not),
        cmocka_unit_test(in_a_span_of_time),
        cmocka_unit_test(as_a_named_scheme),
        cmocka_unit_test(in_a_named_form),
        cmocka_unit_test(by_chance_with_all),
        cmocka_unit_test(holds_back_the_last_word),
        cmocka_unit_test(two_pieces_have_the_ids_of_the_whole),
    };
    return cmocka_run_group_tests_name("scan", tests, NULL, NULL);
}
