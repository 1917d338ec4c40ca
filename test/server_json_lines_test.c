/* SPDX-License-Identifier: MIT */
/* JSON as lines: what each kind of value becomes, and that no value can end a line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "core/json_lines.h"

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static void becomes(const char *json, const char *expected) {
    text_out lines = {0};
    json_t *value = json_loads(json, JSON_DECODE_ANY, NULL);
    assert_non_null(value);
    json_lines_write(&lines, value);
    json_decref(value);
    assert_false(lines.failed);
    assert_int_equal(lines.length, strlen(expected));
    assert_memory_equal(lines.bytes, expected, lines.length);
    free(lines.bytes);
}

static void lists_are_a_line_each(void **state) {
    (void)state;
    becomes("[\"a\",\"b c\",3]", "a\nb c\n3\n");
    becomes("[[\"1\",\"5\"],[\"7\",\"9\"]]", "1 5\n7 9\n");
    becomes("[[],null,\"\",[[1,2]]]", "none\nnone\nnone\n[[1,2]]\n");
    becomes("[]", "");
    becomes("[{},[[]],3]", "none\n[[]]\n3\n");
}

static void a_single_value_is_a_line(void **state) {
    (void)state;
    becomes("\"a b\"", "a b\n");
    becomes("7", "7\n");
    becomes("null", "none\n");
}

static void nothing_but_strings_has_no_names(void **state) {
    (void)state;
    becomes("{\"least\":\"1\",\"greatest\":\"2\"}", "1\n2\n");
}

static void members_have_their_names(void **state) {
    (void)state;
    becomes("{\"bits\":64,\"ready\":true,\"why\":null}", "bits 64\nready true\nwhy none\n");
    becomes("{\"fields\":{\"worker\":5,\"deep\":{\"x\":1}},\"none\":{}}",
            "fields.worker 5\nfields.deep.x 1\nnone none\n");
    becomes("{\"a\":\"\",\"b\":1,\"c\":[{}]}", "a none\nb 1\nc.0 none\n");
    becomes("{\"a\":[1,\"x y\",null],\"b\":[]}", "a 1 x y none\nb none\n");
    becomes("{\"a\":[{\"x\":1},{\"x\":2}],\"b\":[[1,2],[3]]}",
            "a.0.x 1\na.1.x 2\nb.0 1 2\nb.1 3\n");
}

static void objects_of_a_list_are_apart(void **state) {
    (void)state;
    becomes("[{\"x\":\"1\"},{\"x\":\"2\"}]", "x 1\n\nx 2\n");
}

static void no_value_ends_a_line(void **state) {
    (void)state;
    becomes("[\"a\\nb\",\"tab\\there\",\"\\u001b[1m\"]",
            "\"a\\nb\"\n\"tab\\there\"\n\"\\u001B[1m\"\n");
    becomes("{\"n\":1,\"note\":\"x\\r\\ny 2\"}", "n 1\nnote \"x\\r\\ny 2\"\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_a_line_each),
        cmocka_unit_test(a_single_value_is_a_line),
        cmocka_unit_test(nothing_but_strings_has_no_names),
        cmocka_unit_test(members_have_their_names),
        cmocka_unit_test(objects_of_a_list_are_apart),
        cmocka_unit_test(no_value_ends_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
