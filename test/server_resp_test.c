/* SPDX-License-Identifier: MIT */
/* The protocol of Redis as bytes: which commands are read from which, however they come in pieces,
 * what is refused, and how replies are written in both versions. */
#include "core/decimal.h"
#include "resp/resp.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reader ---------------------------------------------------------------------------------- */

/* All commands of a text, each as its words in [] and a blank line as -; then "more", or what is
 * wrong. */
static void read_all(char *out, size_t room, const char *bytes, size_t length,
                     const resp_limits *limits) {
    static resp_command command;
    size_t position = 0, put = 0;
    out[0] = '\0';
    while (position < length) {
        char *copy = malloc(length - position); /* its end is the end of the memory */
        assert_non_null(copy);
        memcpy(copy, bytes + position, length - position);
        enum resp_state state = resp_read(&command, copy, length - position, limits);
        if (state == RESP_COMMAND) {
            assert_true(command.size > 0 && command.size <= length - position);
            put += (size_t)snprintf(out + put, room - put, command.count == 0 ? "-" : "");
            for (size_t i = 0; i < command.count; i++) {
                put += (size_t)snprintf(out + put, room - put, "[%.*s]",
                                        (int)command.words[i].length, command.words[i].text);
            }
            position += command.size;
        } else {
            assert_true(state == RESP_BAD || command.size > length - position);
            snprintf(out + put, room - put, "%s", state == RESP_BAD ? command.trouble : "more");
            position = length;
        }
        free(copy);
    }
}

/* The text in every two pieces: the first one gives no other command than both together do. */
static void check_pieces(const char *bytes, size_t length, const resp_limits *limits) {
    static resp_command whole, part;
    enum resp_state of_whole = resp_read(&whole, bytes, length, limits);
    for (size_t cut = 1; cut < length; cut++) {
        enum resp_state of_part = resp_read(&part, bytes, cut, limits);
        if (of_part == RESP_COMMAND) {
            assert_int_equal(of_whole, RESP_COMMAND);
            assert_int_equal(part.size, whole.size);
        } else if (of_part == RESP_BAD) {
            assert_int_equal(of_whole, RESP_BAD);
        } else {
            assert_true(part.size > cut);
            assert_true(of_whole != RESP_COMMAND || part.size <= whole.size);
        }
    }
}

typedef struct reading {
    const char *bytes, *found;
} reading;

static const reading readings[] = {
    {"*1\r\n$4\r\nPING\r\n", "[PING]"},
    {"*2\r\n$4\r\nINCR\r\n$1\r\nk\r\n", "[INCR][k]"},
    {"*2\r\n$4\r\nECHO\r\n$0\r\n\r\n", "[ECHO][]"},
    {"*2\r\n$4\r\nECHO\r\n$4\r\n\r\n\r\n\r\n", "[ECHO][\r\n\r\n]"},
    {"*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nQUIT\r\n", "[PING][QUIT]"},
    {"*0\r\n*1\r\n$1\r\na\r\n", "-[a]"},
    {"PING\r\n", "[PING]"},
    {"PING\n", "[PING]"},
    {"\r\n\nPING\r\n", "--[PING]"},
    {"  INCR \t k  \r\n", "[INCR][k]"},
    {"ECHO \"a b\"\r\n", "[ECHO][a b]"},
    {"ECHO 'a \"b' c\r\n", "[ECHO][a \"b][c]"},
    {"ECHO \"\\x41\\n\\\"\\\\\\q\"\r\n", "[ECHO][A\n\"\\q]"},
    {"ECHO \"\\xg1\"\r\n", "[ECHO][xg1]"},
    {"ECHO 'it\\'s' ''\r\n", "[ECHO][it's][]"},
    {"ECHO \"\"\r\n", "[ECHO][]"},
    {"ECHO a\"b\"\r\n", "[ECHO][ab]"},
    {"ECHO \"\\xfA\\xFa\"\r\n", "[ECHO][\xfa\xfa]"},
    {"ECHO \"\\x4g\\x4\"\n", "[ECHO][x4gx4]"}, /* an escape that is cut off is text */
    {"ECHO \"\\x\"\n", "[ECHO][x]"},
    {"ECHO 'a'\n", "[ECHO][a]"},
    {"ECHO 'a\\n'\n", "[ECHO][a\\n]"}, /* single quotes know one escape only */
    /* not all there */
    {"*", "more"},
    {"*1", "more"},
    {"*1\r", "more"},
    {"*1\r\n", "more"},
    {"*1\r\n$", "more"},
    {"*1\r\n$4\r\nPIN", "more"},
    {"*1\r\n$4\r\nPING", "more"},
    {"*1\r\n$4\r\nPING\r", "more"},
    {"*2\r\n$4\r\nPING\r\n", "more"},
    {"PING", "more"},
    {"PING\r", "more"},
    /* invalid lengths */
    {"*-1\r\n", "-"},
    {"*-10\r\n*1\r\n$1\r\na\r\n", "-[a]"},
    {"*-\r\n", "invalid multibulk length"},
    {"*-01\r\n", "invalid multibulk length"},
    {"*--1\r\n", "invalid multibulk length"},
    {"*+1\r\n", "invalid multibulk length"},
    {"*01\r\n$1\r\na\r\n", "invalid multibulk length"},
    {"*00\r\n", "invalid multibulk length"},
    {"* 1\r\n", "invalid multibulk length"},
    {"*\r\n", "invalid multibulk length"},
    {"*1\n$4\r\nPING\r\n", "invalid multibulk length"},
    {"*1\rx", "invalid multibulk length"},
    {"*1025\r\n", "invalid multibulk length"},
    {"*99999999999999999999999\r\n", "invalid multibulk length"},
    {"*1\r\n$-1\r\n", "invalid bulk length"},
    {"*1\r\n$+4\r\nPING\r\n", "invalid bulk length"},
    {"*1\r\n$04\r\nPING\r\n", "invalid bulk length"},
    {"*1\r\n$4\nPING\r\n", "invalid bulk length"},
    {"*1\r\n$65537\r\n", "invalid bulk length"},
    {"*1\r\n$18446744073709551620\r\n", "invalid bulk length"},
    {"*1\r\n$4x\r\nPING\r\n", "invalid bulk length"},
    /* invalid ends */
    {"*1\r\n$4\r\nPING\n\n", "expected CR LF after a bulk string"},
    {"*1\r\n$4\r\nPING\rx", "expected CR LF after a bulk string"},
    {"*1\r\n$3\r\nPING\r\n", "expected CR LF after a bulk string"},
    /* other things than bulk strings */
    {"*1\r\n*1\r\n$1\r\na\r\n", "expected '$': a command is a flat array of bulk strings"},
    {"*1\r\n:1\r\n", "expected '$': a command is a flat array of bulk strings"},
    {"*1\r\n+PING\r\n", "expected '$': a command is a flat array of bulk strings"},
    /* lines */
    {"ECHO \"a\r\n", "unbalanced quotes in request"},
    {"ECHO 'a\r\n", "unbalanced quotes in request"},
    {"ECHO \"a\"b\r\n", "unbalanced quotes in request"},
    {"ECHO \"a\\\n", "unbalanced quotes in request"},
    {"ECHO 'a\\\n", "unbalanced quotes in request"},
    {"\x16\x03\x01\x02", "neither a command nor text: does the client use TLS on a plain port?"},
};

static void commands_are_read_from_their_bytes_alone(void **state) {
    (void)state;
    char found[4096];
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++) {
        size_t length = strlen(readings[i].bytes);
        read_all(found, sizeof found, readings[i].bytes, length, &resp_limits_client);
        if (strcmp(found, readings[i].found) != 0) {
            print_error("of %s\n", readings[i].bytes);
        }
        assert_string_equal(found, readings[i].found);
        check_pieces(readings[i].bytes, length, &resp_limits_client);
    }
}

static void a_zero_byte_is_a_byte_of_a_bulk_string(void **state) {
    (void)state;
    static resp_command command;
    const char bytes[] = "*1\r\n$3\r\na\0b\r\n";
    assert_int_equal(resp_read(&command, bytes, sizeof bytes - 1, &resp_limits_client),
                     RESP_COMMAND);
    assert_int_equal(command.words[0].length, 3);
    assert_memory_equal(command.words[0].text, "a\0b", 3);
}

/* A command of that many words, each of that many bytes. */
static char *make_command(size_t words, size_t size, size_t *length) {
    char *text = malloc(32 + words * (size + 32));
    assert_non_null(text);
    *length = (size_t)sprintf(text, "*%zu\r\n", words);
    for (size_t i = 0; i < words; i++) {
        *length += (size_t)sprintf(text + *length, "$%zu\r\n", size);
        memset(text + *length, 'x', size);
        memcpy(text + *length + size, "\r\n", 2);
        *length += size + 2;
    }
    return text;
}

static enum resp_state state_of(size_t words, size_t size, const resp_limits *limits) {
    static resp_command command;
    size_t length;
    char *text = make_command(words, size, &length);
    enum resp_state state = resp_read(&command, text, length, limits);
    free(text);
    return state;
}

static void limits_hold_at_their_edges(void **state) {
    (void)state;
    assert_int_equal(state_of(40, 1000, &resp_limits_client), RESP_COMMAND);
    assert_int_equal(state_of(1024, 1, &resp_limits_client), RESP_COMMAND);
    assert_int_equal(state_of(1025, 1, &resp_limits_client), RESP_BAD);
    assert_int_equal(state_of(1, 65536, &resp_limits_client), RESP_COMMAND);
    assert_int_equal(state_of(1, 65537, &resp_limits_client), RESP_BAD);
    assert_int_equal(state_of(2, 65000, &resp_limits_client), RESP_COMMAND);
    assert_int_equal(state_of(2, 65536, &resp_limits_client),
                     RESP_BAD); /* 131072 and their heads */
    assert_int_equal(state_of(8, 500, &resp_limits_unauthenticated), RESP_COMMAND);
    assert_int_equal(state_of(3, 1024, &resp_limits_unauthenticated), RESP_COMMAND);
    assert_int_equal(state_of(4, 1024, &resp_limits_unauthenticated), RESP_BAD); /* above 4096 */
    assert_int_equal(state_of(9, 1, &resp_limits_unauthenticated), RESP_BAD);
    assert_int_equal(state_of(1, 1025, &resp_limits_unauthenticated), RESP_BAD);
}

static void what_cannot_end_within_the_bound_is_not_waited_for(void **state) {
    (void)state;
    static resp_command command;
    size_t length;
    char *text = make_command(2, 65524, &length);
    assert_int_equal(length, RESP_COMMAND_MAX);
    assert_int_equal(resp_read(&command, text, length, &resp_limits_client), RESP_COMMAND);
    text[1] = '3'; /* and no byte more is ever kept */
    assert_int_equal(resp_read(&command, text, length, &resp_limits_client), RESP_BAD);
    free(text);
}

static void a_line_ends_before_4096_bytes_or_not_at_all(void **state) {
    (void)state;
    static resp_command command;
    static char text[5000];
    memset(text, 'x', sizeof text);
    assert_int_equal(resp_read(&command, text, 4095, &resp_limits_client), RESP_MORE);
    assert_int_equal(resp_read(&command, text, 4096, &resp_limits_client), RESP_BAD);
    text[4095] = '\n';
    assert_int_equal(resp_read(&command, text, 4096, &resp_limits_client), RESP_COMMAND);
    assert_int_equal(command.words[0].length, 4095);
    for (size_t i = 0; i < 82; i++) {
        text[i] = i % 2 == 0 ? 'x' : ' ';
    }
    text[82] = '\n';
    assert_int_equal(resp_read(&command, text, 83, &resp_limits_client), RESP_COMMAND);
    assert_true(command.is_long);
    text[80] = '\n';
    assert_int_equal(resp_read(&command, text, 83, &resp_limits_client), RESP_COMMAND);
    assert_int_equal(command.count, 40);
    assert_false(command.is_long);
}

static void a_word_of_a_line_has_the_limit_of_a_bulk_string(void **state) {
    (void)state;
    static resp_command command;
    const resp_limits limits = {.words = 2, .bulk = 4, .size = 100};
    assert_int_equal(resp_read(&command, "ECHO a\n", 7, &limits), RESP_COMMAND);
    assert_int_equal(resp_read(&command, "ECHO abcde\n", 11, &limits), RESP_BAD);
    assert_string_equal(command.trouble, "too big inline request");
}

/* ---- writer ---------------------------------------------------------------------------------- */

static void expect(resp_out *out, const char *text) {
    assert_false(out->failed);
    assert_int_equal(out->length, strlen(text));
    assert_memory_equal(out->text, text, out->length);
    resp_out_free(out);
}

static void replies_are_written_in_both_versions(void **state) {
    (void)state;
    for (int version = 2; version <= 3; version++) {
        bool is3 = version == 3;
        resp_out out = {.version = version};
        resp_status(&out, "OK");
        resp_error(&out, "ERR", "a\r\nb");
        expect(&out, "+OK\r\n-ERR a  b\r\n");
        resp_error(&out, "ERR", "\xff\x1b[\x7f \xc3\xa9 \xe2\x82\xac \xc3");
        expect(&out, "-ERR \\xff\\x1b[\\x7f \xc3\xa9 \xe2\x82\xac \\xc3\r\n");
        resp_integer(&out, INT64_MIN);
        resp_integer(&out, INT64_MAX);
        resp_integer(&out, 0);
        expect(&out, ":-9223372036854775808\r\n:9223372036854775807\r\n:0\r\n");
        resp_bulk(&out, "a\r\n", 3);
        resp_text(&out, "");
        expect(&out, "$3\r\na\r\n\r\n$0\r\n\r\n");
        resp_page(&out, "text", 4);
        expect(&out, is3 ? "=8\r\ntxt:text\r\n" : "$4\r\ntext\r\n");
        resp_null(&out);
        resp_switch(&out, true);
        resp_double(&out, -0.5);
        expect(&out, is3 ? "_\r\n#t\r\n,-0.5\r\n" : "$-1\r\n:1\r\n$4\r\n-0.5\r\n");
        resp_double(&out, NAN);
        resp_double(&out, INFINITY);
        resp_double(&out, -INFINITY);
        expect(&out,
               is3 ? ",nan\r\n,inf\r\n,-inf\r\n" : "$3\r\nnan\r\n$3\r\ninf\r\n$4\r\n-inf\r\n");
        resp_array(&out, 2);
        resp_set(&out, 3);
        resp_map(&out, 4);
        assert_int_equal(out.whole, 3 - (2 + 3 + 8));
        expect(&out, is3 ? "*2\r\n~3\r\n%4\r\n" : "*2\r\n*3\r\n*8\r\n");
    }
}

static void json_is_written_with_its_order_and_types(void **state) {
    (void)state;
    json_t *value =
        json_loads("{\"b\":[1,-2,\"x\"],\"a\":{\"t\":true,\"f\":false,\"n\":null}}", 0, NULL);
    assert_non_null(value);
    resp_out out = {.version = 3};
    resp_json(&out, value);
    assert_int_equal(out.whole, 1);
    expect(&out, "%2\r\n$1\r\nb\r\n*3\r\n:1\r\n:-2\r\n$1\r\nx\r\n$1\r\na\r\n%3\r\n$1\r\nt\r\n#t\r\n"
                 "$1\r\nf\r\n#f\r\n$1\r\nn\r\n_\r\n");
    out.version = 2;
    resp_json(&out, value);
    assert_int_equal(out.whole, 1);
    expect(&out, "*4\r\n$1\r\nb\r\n*3\r\n:1\r\n:-2\r\n$1\r\nx\r\n$1\r\na\r\n*6\r\n$1\r\nt\r\n:1\r\n"
                 "$1\r\nf\r\n:0\r\n$1\r\nn\r\n$-1\r\n");
    json_decref(value);
    value = json_loads("[0.5,{},[]]", 0, NULL);
    assert_non_null(value);
    out.version = 3;
    resp_json(&out, value);
    expect(&out, "*3\r\n,0.5\r\n%0\r\n*0\r\n");
    json_decref(value);
}

/* Numbers around every power of ten and of two, and some between. */
static size_t numbers_to_write(uint64_t numbers[1000]) {
    size_t count = 0;
    for (uint64_t power = 1, i = 0; i < 20; i++, power *= 10) {
        for (uint64_t near = 0; near < 5; near++) {
            numbers[count++] = power - 2 + near;
        }
    }
    for (int bit = 0; bit < 64; bit++) {
        numbers[count++] = UINT64_C(1) << bit;
        numbers[count++] = (UINT64_C(1) << bit) - 1;
    }
    for (uint64_t i = 0; count < 1000; i++) { /* 19 digits in a row, over a change of the head */
        numbers[count++] = UINT64_C(1234567890099999700) + i;
    }
    return count;
}

static void every_number_is_written_as_printf_does(void **state) {
    (void)state;
    static uint64_t numbers[1000];
    static char expected[64000];
    size_t count = numbers_to_write(numbers);
    for (int is_signed = 0; is_signed <= 1; is_signed++) {
        resp_out out = {0};
        size_t put = 0;
        for (size_t i = 0; i < count; i++) {
            char digits[32];
            sprintf(digits, is_signed ? "%lld" : "%llu", (unsigned long long)numbers[i]);
            put += (size_t)sprintf(expected + put, "$%zu\r\n%s\r\n", strlen(digits), digits);
        }
        resp_numbers(&out, numbers, count, is_signed);
        assert_int_equal(out.whole, count);
        expect(&out, expected);
    }
}

static void runs_of_integers_are_written_one_after_the_other(void **state) {
    (void)state;
    resp_out out = {0};
    resp_integers(&out, 98, 1, 3);
    resp_integers(&out, 99999999, 1, 2);
    resp_integers(&out, -1, 2, 2);
    expect(&out, ":98\r\n:99\r\n:100\r\n:99999999\r\n:100000000\r\n:-1\r\n:1\r\n");
}

static void all_numbers_of_up_to_six_digits_are_right(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 1000000; i++) {
        char found[32], expected[32];
        size_t length = decimal_write(found, i);
        assert_int_equal(length, sprintf(expected, "%u", i));
        assert_memory_equal(found, expected, length);
        decimal_eight(found, i * 99 + i % 100);
        sprintf(expected, "%08u", i * 99 + i % 100);
        assert_memory_equal(found, expected, 8);
    }
}

static void a_text_is_put_after_its_length_afterwards(void **state) {
    (void)state;
    const size_t lengths[] = {0, 1, 9, 10, 99, 100, 999};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        static char expected[1100];
        resp_out out = {0};
        resp_status(&out, "OK");
        char *text = resp_begin(&out, 999);
        assert_non_null(text);
        memset(text, 'x', lengths[i]);
        resp_end(&out, text, lengths[i]);
        size_t put = (size_t)sprintf(expected, "+OK\r\n$%zu\r\n", lengths[i]);
        memset(expected + put, 'x', lengths[i]);
        strcpy(expected + put + lengths[i], "\r\n");
        expect(&out, expected);
    }
}

static void utf8_is_valid_as_in_rfc_3629(void **state) {
    static const struct {
        const char *text;
        size_t length, size;
    } cases[] = {
        {"\x7f", 1, 1},
        {"\x80", 1, 0},
        {"\xc1\xbf", 2, 0}, /* overlong */
        {"\xc2\x80", 2, 2},
        {"\xdf\xbf", 2, 2},
        {"\xdf\xbf", 1, 0}, /* truncated */
        {"\xdf\x7f", 2, 0},
        {"\xe0\x9f\xbf", 3, 0}, /* overlong */
        {"\xe0\xa0\x80", 3, 3},
        {"\xed\x9f\xbf", 3, 3},
        {"\xed\xa0\x80", 3, 0}, /* a surrogate */
        {"\xef\xbf\xbf", 3, 3},
        {"\xef\xbf\xbf", 2, 0},
        {"\xf0\x8f\xbf\xbf", 4, 0}, /* overlong */
        {"\xf0\x90\x80\x80", 4, 4},
        {"\xf4\x8f\xbf\xbf", 4, 4},
        {"\xf4\x90\x80\x80", 4, 0}, /* above U+10FFFF */
        {"\xf5\x80\x80\x80", 4, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(firn__utf8_size(cases[i].text, cases[i].length), cases[i].size);
    }
}

static void replies_stop_at_their_bound_and_say_so(void **state) {
    (void)state;
    static char piece[1 << 20];
    resp_out out = {0};
    for (int i = 0; i < 100 && !out.failed; i++) {
        resp_raw(&out, piece, sizeof piece);
    }
    assert_true(out.failed);
    assert_true(out.length <= RESP_OUT_MAX);
    const size_t length = out.length;
    const uint64_t numbers[] = {1, 1234567890123456789};
    out.version = 3;
    resp_status(&out, "OK"); /* nothing more, and no crash */
    resp_error(&out, "ERR", "no");
    resp_integer(&out, 1);
    resp_integers(&out, 1, 1, 3);
    resp_numbers(&out, numbers, 2, false);
    resp_text(&out, "text");
    resp_page(&out, "page", 4);
    resp_map(&out, 2);
    assert_null(resp_begin(&out, 10));
    assert_int_equal(out.length, length);
    resp_out_free(&out);
    assert_false(out.failed);
    char *whole = calloc(1, RESP_OUT_MAX + 1);
    assert_non_null(whole);
    resp_raw(&out, whole, RESP_OUT_MAX + 1); /* in one piece too */
    assert_true(out.failed);
    assert_int_equal(out.length, 0);
    resp_out_free(&out);
    free(whole);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_are_read_from_their_bytes_alone),
        cmocka_unit_test(a_zero_byte_is_a_byte_of_a_bulk_string),
        cmocka_unit_test(limits_hold_at_their_edges),
        cmocka_unit_test(what_cannot_end_within_the_bound_is_not_waited_for),
        cmocka_unit_test(a_line_ends_before_4096_bytes_or_not_at_all),
        cmocka_unit_test(a_word_of_a_line_has_the_limit_of_a_bulk_string),
        cmocka_unit_test(replies_are_written_in_both_versions),
        cmocka_unit_test(json_is_written_with_its_order_and_types),
        cmocka_unit_test(every_number_is_written_as_printf_does),
        cmocka_unit_test(runs_of_integers_are_written_one_after_the_other),
        cmocka_unit_test(all_numbers_of_up_to_six_digits_are_right),
        cmocka_unit_test(a_text_is_put_after_its_length_afterwards),
        cmocka_unit_test(utf8_is_valid_as_in_rfc_3629),
        cmocka_unit_test(replies_stop_at_their_bound_and_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
