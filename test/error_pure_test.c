/* SPDX-License-Identifier: MIT */
/* An error's parts: code, cure, and where value, limit and cure are in the text. */
#include "error.h"

#include <firn/firn.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

_Static_assert(sizeof(firn_error) == 512, "the layout of 0.1");
_Static_assert(offsetof(firn_error, cure) == 4 && offsetof(firn_error, cure_at) == 6 &&
                   offsetof(firn_error, value) == 8 && offsetof(firn_error, limit) == 12 &&
                   offsetof(firn_error, reserved) == 16 && offsetof(firn_error, text) == 32,
               "the layout of 0.1");

static void part_is(const firn_error *error, firn_span span, const char *text) {
    assert_int_equal(span.length, strlen(text));
    assert_memory_equal(error->text + span.at, text, span.length);
}

static void every_cure_has_a_name_and_words_and_a_number_of_its_own(void **state) {
    static const struct {
        const char *name, *words;
        int value;
    } cures[] = {
#define FIRN_X(name, value, words) {#name, words, value},
        FIRN_CURES(FIRN_X)
#undef FIRN_X
    };
    (void)state;
    for (size_t i = 0; i < sizeof cures / sizeof *cures; i++) {
        assert_int_equal(cures[i].value, i + 1);
        assert_string_equal(firn_curename(cures[i].value), cures[i].name);
        assert_true(strchr(cures[i].words, '%') == NULL && strstr(cures[i].words, ": ") == NULL);
        assert_true(strlen(cures[i].words) < 100);
    }
    assert_string_equal(firn_curename(FIRN_CURE_NONE), "NONE");
    assert_string_equal(firn_curename(-1), "?");
    assert_string_equal(firn_curename(65535), "?");
}

static void the_format_says_where_the_cure_begins_and_arguments_do_not(void **state) {
    firn_error error;
    (void)state;
    memset(&error, 0xff, sizeof error);
    assert_int_equal(firn_error_set(&error, FIRN_ERANGE, 0, "%s of %d: use %s", "a: b", 7, "c: d"),
                     FIRN_ERANGE);
    assert_string_equal(error.text, "a: b of 7: use c: d");
    assert_string_equal(error.text + error.cure_at, "use c: d");
    assert_int_equal(error.code, FIRN_ERANGE);
    assert_int_equal(error.cure, FIRN_CURE_OTHER);
    assert_int_equal(error.value.length + error.limit.length, 0);
    for (size_t i = 0; i < sizeof error.reserved; i++) {
        assert_int_equal(error.reserved[i], 0);
    }
    firn_error_set(&error, FIRN_ETEXT, 0, "%s is wrong", "this: that");
    assert_string_equal(error.text, "this: that is wrong");
    assert_int_equal(error.cure_at, 0);
    assert_int_equal(error.cure, FIRN_CURE_NONE);
    assert_int_equal(firn_error_set(NULL, FIRN_ETEXT, 0, "no room"), FIRN_ETEXT);
}

static void a_cure_of_the_list_brings_its_words_unless_the_format_has_some(void **state) {
    firn_error error;
    (void)state;
    firn_error_set(&error, FIRN_EWINDOW, FIRN_CURE_TRY_AGAIN, "%d%% is gone", 5);
    assert_string_equal(error.text, "5% is gone: try again");
    assert_string_equal(error.text + error.cure_at, "try again");
    assert_int_equal(error.cure, FIRN_CURE_TRY_AGAIN);
    firn_error_set(&error, FIRN_EWINDOW, FIRN_CURE_TRY_AGAIN, "gone: try %s later", "much");
    assert_string_equal(error.text, "gone: try much later");
    assert_int_equal(error.cure, FIRN_CURE_TRY_AGAIN);
    firn_error_set(&error, FIRN_EWINDOW, 9999, "a cure of a newer firn");
    assert_string_equal(error.text, "a cure of a newer firn");
}

static void value_and_limit_are_parts_of_the_text(void **state) {
    firn_scheme scheme = *firn_scheme_find("snowflake");
    firn_fields fields = {0};
    firn_error error;
    firn_gen *gen;
    (void)state;
    firn_error_set(&error, 1, 0,
                   "x=" FIRN__VALUE("%s") " is not in (" FIRN__LIMIT("%d to %d") "): go", "a\nb\1",
                   3, 4);
    assert_string_equal(error.text, "x=a?b? is not in (3 to 4): go");
    part_is(&error, error.value, "a?b?");
    part_is(&error, error.limit, "3 to 4");

    assert_int_equal(firn_fields_set(&fields, &scheme, "worker", "32", &error), FIRN_ERANGE);
    part_is(&error, error.value, "32");
    part_is(&error, error.limit, "0 to 31");
    assert_int_equal(firn_open(&gen, "snowflake", "nodes=65", &error), FIRN_ERANGE);
    part_is(&error, error.value, "65");
    assert_int_equal(error.cure_at, 0);
    assert_int_equal(firn_open(&gen, "snowflak", "", &error), FIRN_EUSAGE);
    assert_int_equal(error.cure, FIRN_CURE_SPELLING);
    part_is(&error, error.value, "snowflak");
    assert_string_equal(error.text + error.cure_at, "did you mean `snowflake`?");
}

/* A text that is too long loses the end of the cause, never the cure. */
static void a_long_text_keeps_its_cure_and_whole_characters(void **state) {
    char longest[3000];
    firn_error error;
    (void)state;
    for (size_t length = 300; length < 2000; length++) {
        for (size_t i = 0; i + 1 < length; i += 2) {
            memcpy(longest + i, "\xc3\xa9", 2);
        }
        longest[length / 2 * 2] = '\0';
        firn_error_set(&error, FIRN_ESTORE, FIRN_CURE_CHECK_STORE,
                       "x" FIRN__VALUE("%s") "y" FIRN__LIMIT("%d"), longest, 12);
        size_t size = strlen(error.text);
        assert_true(size < sizeof error.text);
        assert_int_equal(error.cure, FIRN_CURE_CHECK_STORE);
        if (length < 1000) { /* beyond that nothing is known of the end */
            assert_string_equal(error.text + error.cure_at, "check the store");
            assert_memory_equal(error.text + error.cure_at - 2, ": ", 2);
        }
        if (size + 1 < 1 + length / 2 * 2 + strlen("y12: check the store")) {
            assert_int_equal(error.limit.length, 0);
            assert_non_null(strstr(error.text, "..."));
        }
        for (const char *c = error.text; *c != '\0'; c++) { /* each character is whole */
            assert_true((unsigned char)*c != 0xc3 || (unsigned char)c[1] == 0xa9);
        }
    }
}

/* A client's library may say nothing, or much. */
static void a_text_without_words_is_empty_and_one_without_end_is_cut(void **state) {
    int (*set)(firn_error *, int, int, const char *, ...) = firn_error_set; /* with any format */
    char endless[1200];
    firn_error error;
    (void)state;
    memset(&error, 0xff, sizeof error);
    firn_error_set(&error, FIRN_ESTORE, FIRN_CURE_NONE, "%s", "");
    assert_string_equal(error.text, "");
    assert_int_equal(error.cure_at, 0);
    memset(endless, 'x', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    set(&error, FIRN_ESTORE, FIRN_CURE_NONE, endless);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
    assert_non_null(strstr(error.text, "xxx..."));
    firn_error_set(&error, FIRN_ESTORE, FIRN_CURE_NONE, "no: %.700s", endless); /* a cure of 700 */
    assert_int_equal(error.cure_at, 0);
    assert_memory_equal(error.text, "no: xxx", 7);
    memset(endless, '\x80', sizeof endless - 1); /* never the first byte of a character */
    firn_error_set(&error, FIRN_ESTORE, FIRN_CURE_NONE, "%s", endless);
    assert_string_equal(error.text, "...");
}

int main(int count, char **words) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cure_has_a_name_and_words_and_a_number_of_its_own),
        cmocka_unit_test(the_format_says_where_the_cure_begins_and_arguments_do_not),
        cmocka_unit_test(a_cure_of_the_list_brings_its_words_unless_the_format_has_some),
        cmocka_unit_test(value_and_limit_are_parts_of_the_text),
        cmocka_unit_test(a_long_text_keeps_its_cure_and_whole_characters),
        cmocka_unit_test(a_text_without_words_is_empty_and_one_without_end_is_cut),
    };
    if (count > 1) {
        cmocka_set_test_filter(words[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
