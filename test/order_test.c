/* SPDX-License-Identifier: MIT */
/* Order numbers: FF1 is a permutation, the check digit, key IDs, and what the store keeps of a
 * series. The known answers are in spec/order.json. */
#include <firn/cipher.h>
#include <firn/firn.h>

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chance.h"

#define MODULES FIRN_BUILD_DIR "/firn"

static const uint8_t nist_key[16] = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6,
                                     0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};

static firn_order *opened_with(const char *keys, const uint8_t key[16]) {
    firn_order *order = NULL;
    firn_error error = {0};
    if (firn_order_open(&order, keys, key, MODULES, &error) != FIRN_OK) {
        fail_msg("%s: %s", keys, error.text);
    }
    return order;
}

static firn_order *opened(const char *keys) {
    return opened_with(keys, nist_key);
}

static const char *written(firn_order *order, uint64_t integer) {
    static char text[FIRN_ORDER_SIZE];
    firn_error error = {0};
    if (firn_order_write(order, text, integer, &error) != FIRN_OK) {
        fail_msg("%" PRIu64 ": %s", integer, error.text);
    }
    return text;
}

static uint64_t read_back(firn_order *order, const char *text) {
    uint64_t integer = 0;
    firn_error error = {0};
    if (firn_order_read(order, &integer, text, strlen(text), &error) != FIRN_OK) {
        fail_msg("%s: %s", text, error.text);
    }
    return integer;
}

static void error_text(const firn_error *error, int code, const char *words) {
    if (error->code != code || strstr(error->text, words) == NULL ||
        strchr(error->text, '\n') != NULL || strlen(error->text) >= sizeof error->text) {
        fail_msg("expected %s '%s', got %s '%s'", firn_errname(code), words,
                 firn_errname(error->code), error->text);
    }
}

static void unread(firn_order *order, const char *text, int code, const char *words) {
    uint64_t integer = 77;
    firn_error error = {0};
    assert_int_equal(firn_order_read(order, &integer, text, strlen(text), &error), code);
    error_text(&error, code, words);
    assert_int_equal(integer, 77);
}

static void unopened(const char *keys, int code, const char *words) {
    firn_order *order = NULL;
    firn_error error = {0};
    assert_int_equal(firn_order_open(&order, keys, nist_key, MODULES, &error), code);
    error_text(&error, code, words);
    assert_null(order);
}

/* ---- FF1 ------------------------------------------------------------------------------------- */

/* All numbers of six digits, each once; and back. */
static void six_digits_are_a_permutation(void **state) {
    uint8_t *seen = calloc(1000000, 1);
    firn_order *order = opened("digits=6");
    (void)state;
    assert_non_null(seen);
    for (uint64_t i = 0; i < 1000000; i++) {
        const char *text = written(order, i);
        assert_int_equal(strlen(text), 6);
        uint64_t number = strtoull(text, NULL, 10);
        assert_int_equal(seen[number]++, 0);
        if (i % 7 == 0) {
            assert_true(read_back(order, text) == i);
        }
    }
    firn_order_close(order);
    free(seen);
}

static void every_length_comes_back(void **state) {
    (void)state;
    for (int digits = 6; digits <= 19; digits++) {
        char keys[64];
        uint64_t below = 1;
        snprintf(keys, sizeof keys, "digits=%d key_id=%d check=%d tweak=%02x", digits, digits % 10,
                 digits % 2, digits);
        for (int i = 0; i < digits; i++) {
            below *= 10;
        }
        firn_order *order = opened(keys);
        for (int n = 0; n < 2000; n++) {
            uint64_t integer = n == 0 ? 0 : n == 1 ? below - 1 : chance() % below;
            const char *text = written(order, integer);
            assert_int_equal(strlen(text), digits + 1 + digits % 2);
            assert_int_equal(text[0], '0' + digits % 10);
            assert_true(read_back(order, text) == integer);
        }
        char text[FIRN_ORDER_SIZE] = "untouched";
        firn_error error = {0};
        assert_int_equal(firn_order_write(order, text, below, &error), FIRN_ERANGE);
        error_text(&error, FIRN_ERANGE, "is out of range (0 to");
        assert_string_equal(text, "untouched");
        firn_order_close(order);
    }
}

static void another_key_or_tweak_is_another_number(void **state) {
    uint8_t other[16];
    firn_order *order = opened(""), *tweaked = opened("tweak=01"), *two;
    int alike = 0;
    (void)state;
    memcpy(other, nist_key, 16);
    other[15] ^= 1;
    two = opened_with("", other);
    for (uint64_t i = 0; i < 1000; i++) {
        char text[FIRN_ORDER_SIZE];
        strcpy(text, written(order, i));
        alike += strcmp(text, written(two, i)) == 0 || strcmp(text, written(tweaked, i)) == 0;
        alike += read_back(two, text) == i;
    }
    assert_int_equal(alike, 0);
    firn_order_close(order);
    firn_order_close(two);
    firn_order_close(tweaked);
}

/* Neighbours do not stay neighbours. */
static void neighbours_are_far_apart(void **state) {
    firn_order *order = opened("digits=9");
    uint64_t near = 0, last = 0;
    (void)state;
    for (uint64_t i = 0; i < 10000; i++) {
        uint64_t number = strtoull(written(order, i), NULL, 10);
        near += (number > last ? number - last : last - number) < 1000000;
        last = number;
    }
    assert_in_range(near, 5, 50); /* 20 are expected */
    firn_order_close(order);
}

/* ---- digits around it ------------------------------------------------------------------------ */

/* Damm's own example: the check digit of 572 is 4. Found here as what makes a number pass. */
static void the_check_digit_is_damms(void **state) {
    static const int table[10][10] = {
        /* as published, written down a second time */
        {0, 3, 1, 7, 5, 9, 8, 6, 4, 2}, {7, 0, 9, 2, 1, 5, 4, 8, 6, 3},
        {4, 2, 0, 6, 8, 7, 1, 3, 5, 9}, {1, 7, 5, 0, 9, 8, 3, 4, 2, 6},
        {6, 1, 2, 3, 0, 4, 5, 9, 7, 8}, {3, 6, 7, 4, 2, 0, 9, 5, 8, 1},
        {5, 8, 6, 9, 7, 2, 0, 1, 3, 4}, {8, 9, 4, 5, 3, 6, 2, 0, 1, 7},
        {9, 4, 3, 8, 6, 1, 7, 2, 0, 5}, {2, 5, 8, 1, 4, 3, 6, 7, 9, 0}};
    firn_order *order = opened("digits=6 check=1");
    uint64_t integer;
    (void)state;
    assert_int_equal(table[table[table[0][5]][7]][2], 4);
    /* zeros in front change nothing, so 0005724 is a number and 000572 with any other digit none */
    for (char digit = '0'; digit <= '9'; digit++) {
        char text[] = "0005720";
        text[6] = digit;
        int code = firn_order_read(order, &integer, text, 7, NULL);
        assert_int_equal(code, digit == '4' ? FIRN_OK : FIRN_ETEXT);
    }
    for (uint64_t i = 0; i < 500; i++) {
        int interim = 0;
        for (const char *c = written(order, i); *c != '\0'; c++) {
            interim = table[interim][*c - '0'];
        }
        assert_int_equal(interim, 0);
    }
    firn_order_close(order);
}

/* Each single wrong digit, and each two neighbours exchanged. */
static void every_slip_of_the_pen_is_found(void **state) {
    firn_order *order = opened("digits=12 check=1 key_id=7");
    (void)state;
    for (int n = 0; n < 200; n++) {
        char text[FIRN_ORDER_SIZE];
        strcpy(text, written(order, chance() % UINT64_C(1000000000000)));
        for (size_t i = 0; text[i] != '\0'; i++) {
            char right = text[i];
            for (char digit = '0'; digit <= '9'; digit++) {
                text[i] = digit;
                if (digit != right) {
                    unread(order, text, FIRN_ETEXT, "check digit");
                }
            }
            text[i] = right;
            if (text[i + 1] != '\0' && text[i + 1] != right) {
                text[i] = text[i + 1];
                text[i + 1] = right;
                unread(order, text, FIRN_ETEXT, "check digit");
                text[i + 1] = text[i];
                text[i] = right;
            }
        }
        read_back(order, text);
    }
    firn_order_close(order);
}

static void a_text_that_is_invalid_is_refused_at_its_place(void **state) {
    firn_order *order = opened("digits=6 key_id=3"), *other = opened("digits=6 key_id=4");
    (void)state;
    unread(order, "", FIRN_ETEXT, "has 7 digits");
    unread(order, "312345", FIRN_ETEXT, "text ends after 6");
    unread(order, "31234567", FIRN_ETEXT, "character 8 of 8");
    unread(order, "3123a56", FIRN_ETEXT, "character 5 of 7 is 'a'");
    unread(order, "3123 56", FIRN_ETEXT, "character 5 of 7 is ' '");
    unread(order, "-123456", FIRN_ETEXT, "character 1 of 7");
    unread(order, "4123456", FIRN_EMISMATCH, "id 4, this is 3");
    unread(other, written(order, 5), FIRN_EMISMATCH, "give that key");
    firn_order_close(order);
    firn_order_close(other);
}

static void keys_have_their_bounds(void **state) {
    (void)state;
    unopened("digits=5", FIRN_ERANGE, "digits");
    unopened("digits=20", FIRN_ERANGE, "digits");
    unopened("digits=", FIRN_EUSAGE, "digits");
    unopened("key_id=10", FIRN_ERANGE, "key_id");
    unopened("check=2", FIRN_EUSAGE, "check");
    unopened("tweak=123", FIRN_ERANGE, "tweak");
    unopened("tweak=zz", FIRN_EUSAGE, "tweak");
    unopened("tweak=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20",
             FIRN_ERANGE, "32 bytes");
    unopened("digit=9", FIRN_EUSAGE, "did you mean `digits`?");
    firn_order_close(NULL);
}

/* ---- a series -------------------------------------------------------------------------------- */

static void takes(const firn_order *order, firn_store *store, const char *series, int64_t first) {
    firn_segment *range = NULL;
    firn_error error = {0};
    int64_t value = -1;
    if (firn_order_series(order, &range, series, 1, store, &error) != FIRN_OK) {
        fail_msg("%s: %s", series, error.text);
    }
    assert_int_equal(firn_segment_block(range, 10, &value, NULL), FIRN_OK);
    assert_int_equal(value, first);
    assert_int_equal(firn_segment_close(range, NULL), FIRN_OK);
}

static void takes_none(const firn_order *order, firn_store *store, const char *series, int code,
                       const char *words) {
    firn_segment *range = NULL;
    firn_error error = {0};
    assert_int_equal(firn_order_series(order, &range, series, 1, store, &error), code);
    error_text(&error, code, words);
    assert_null(range);
}

static void a_series_keeps_its_key_and_shape(void **state) {
    uint8_t other[16] = {1};
    firn_store *store;
    firn_order *plain = opened(""), *plain_other = opened_with("", other),
               *checked = opened("check=1");
    firn_order *third = opened("key_id=3"), *fourth = opened_with("key_id=4", other);
    firn_order *third_other = opened_with("key_id=3", other),
               *tweaked = opened("key_id=3 tweak=01");
    (void)state;
    assert_int_equal(firn_store_open(&store, "memory:", NULL, NULL), FIRN_OK);
    takes(plain, store, "plain", 1);
    takes(plain, store, "plain", 11);
    takes_none(plain_other, store, "plain", FIRN_ENAMESPACE, "another key before");
    takes_none(checked, store, "plain", FIRN_ENAMESPACE, "other digits, check");
    takes_none(third, store, "plain", FIRN_ENAMESPACE, "without key_id");
    takes(third, store, "turned", 1);
    takes(fourth, store, "turned", 11); /* the next key continues after the last number */
    takes(third, store, "turned", 21);
    takes_none(third_other, store, "turned", FIRN_ENAMESPACE, "of id 3");
    takes_none(tweaked, store, "turned", FIRN_ENAMESPACE, "another key");
    takes_none(plain, store, "", FIRN_ERANGE, "1 to 63");
    firn_order *all[] = {plain, plain_other, checked, third, fourth, third_other, tweaked};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        firn_order_close(all[i]);
    }
    firn_store_close(store);
}

static void a_series_ends_with_its_digits(void **state) {
    firn_order *order = opened("digits=6");
    firn_segment *range;
    firn_store *store;
    firn_error error = {0};
    int64_t value;
    (void)state;
    assert_int_equal(firn_store_open(&store, "memory:", NULL, NULL), FIRN_OK);
    assert_int_equal(firn_order_series(order, &range, "short", 999999, store, NULL), FIRN_OK);
    assert_int_equal(firn_segment_next(range, &value, NULL), FIRN_OK);
    assert_int_equal(value, 999999);
    read_back(order, written(order, (uint64_t)value));
    assert_int_equal(firn_segment_next(range, &value, &error), FIRN_EEND);
    error_text(&error, FIRN_EEND, "end=999999");
    firn_segment_close(range, NULL);
    firn_order_close(order);
    firn_store_close(store);
}

static int see(void *context, const firn_holding *holding) {
    char *all = context;
    size_t length = strlen(all);
    snprintf(all + length, 2000 - length, "%s %s %s %s %" PRId64 " %016" PRIx64 "\n", holding->ns,
             holding->layout, holding->key, holding->note, holding->mark.high, holding->mark.grant);
    return 0;
}

/* The store contains neither the key nor a part of it. */
static void the_store_does_not_know_the_key(void **state) {
    char all[2000] = "";
    firn_order *order = opened("key_id=3");
    firn_store *store;
    (void)state;
    assert_int_equal(firn_store_open(&store, "memory:", NULL, NULL), FIRN_OK);
    takes(order, store, "quiet", 1);
    assert_int_equal(firn_store_list(store, NULL, see, all, NULL), FIRN_OK);
    assert_non_null(strstr(all, "order quiet order digits=10 check=0 key_id=yes key 3"));
    for (int i = 0; i + 4 <= 16; i++) {
        char part[9];
        snprintf(part, sizeof part, "%02x%02x%02x%02x", nist_key[i], nist_key[i + 1],
                 nist_key[i + 2], nist_key[i + 3]);
        assert_null(strstr(all, part));
    }
    firn_order_close(order);
    firn_store_close(store);
}

/* ---- a cipher that fails --------------------------------------------------------------------- */

static bool cipher_fails, is_missing, is_newer, is_other;
static const firn_cipher_ops *real_cipher;

static int no_number(void *self, firn_halves *numbers, size_t count, firn_error *error) {
    (void)self, (void)numbers, (void)count;
    *error = (firn_error){.code = FIRN_ESYSTEM, .text = "no cipher today"};
    return FIRN_ESYSTEM;
}

void *__real_firn__module_symbol(void *module, const char *symbol);
void *__wrap_firn__module_symbol(void *module, const char *symbol) {
    static firn_cipher_ops failing;
    real_cipher = __real_firn__module_symbol(module, symbol);
    failing = *real_cipher;
    failing.encrypt = failing.decrypt = no_number;
    failing.version += (uint32_t)is_newer;
    failing.name = is_other ? "aes" : failing.name;
    return is_missing                             ? NULL
           : cipher_fails || is_newer || is_other ? &failing
                                                  : (void *)real_cipher;
}

static void a_module_of_another_version_is_refused(void **state) {
    bool *const cases[] = {&is_missing, &is_newer, &is_other};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        firn_order *order = NULL;
        firn_error error = {0};
        *cases[i] = true;
        const int code = firn_order_open(&order, "digits=6", nist_key, MODULES, &error);
        *cases[i] = false;
        assert_int_equal(code, FIRN_ESYSTEM);
        error_text(&error, FIRN_ESYSTEM, "the module ff1 is of another version");
    }
}

static void without_its_cipher_nothing_is_written(void **state) {
    (void)state;
    cipher_fails = true;
    firn_order *order = opened("digits=6");
    cipher_fails = false;
    char text[FIRN_ORDER_SIZE] = "before";
    uint64_t integer = 77;
    firn_error error = {0};
    assert_int_equal(firn_order_write(order, text, 5, &error), FIRN_ESYSTEM);
    error_text(&error, FIRN_ESYSTEM, "no cipher today");
    assert_string_equal(text, "before");
    assert_int_equal(firn_order_read(order, &integer, "000000", 6, &error), FIRN_ESYSTEM);
    assert_int_equal(integer, 77);
    firn_order_close(order);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(sentence, function) {sentence, function, start_over, NULL, NULL}
        TEST("the numbers of six digits are a permutation", six_digits_are_a_permutation),
        TEST("numbers of every length come back", every_length_comes_back),
        TEST("another key or tweak is another number", another_key_or_tweak_is_another_number),
        TEST("neighbours are far apart", neighbours_are_far_apart),
        TEST("the check digit is Damm's", the_check_digit_is_damms),
        TEST("every slip of the pen is found", every_slip_of_the_pen_is_found),
        TEST("a text that is invalid is refused at its place",
             a_text_that_is_invalid_is_refused_at_its_place),
        TEST("keys have their bounds", keys_have_their_bounds),
        TEST("a series keeps its key and its shape", a_series_keeps_its_key_and_shape),
        TEST("a series ends with its digits", a_series_ends_with_its_digits),
        TEST("the store does not know the key", the_store_does_not_know_the_key),
        TEST("without its cipher nothing is written", without_its_cipher_nothing_is_written),
        TEST("a module of another version is refused", a_module_of_another_version_is_refused),
#undef TEST
    };
    return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
