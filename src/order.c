/* SPDX-License-Identifier: MIT */
/* Order numbers: encrypted integers, decimal and of fixed length, with an optional key id before
 * and check digit after them. The cipher is in a module; segment.h issues the integers. */
#include "check_digits.h"
#include "clock.h"
#include "error.h"
#include "keys.h"
#include "nearest.h"
#include "number.h"
#include "permutation.h"
#include "reserve.h"
#include "store.h"

#include <inttypes.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TWEAK_MAX = 32, DIGITS_LEAST = 6, DIGITS_MOST = 19 };

struct firn_order {
    firn__permutation permutation;
    int64_t digits, check, key_id; /* key_id -1: none */
    uint8_t tweak[TWEAK_MAX];
    size_t tweak_size;
    uint64_t mark; /* a digest of key and tweak: tells two keys apart, and not what they are */
};

/* ---- opening --------------------------------------------------------------------------------- */

static int read_tweak(firn_order *order, const char *text, firn_error *error) {
    size_t length = strlen(text);
    firn_id byte;
    if (length % 2 != 0 || length / 2 > TWEAK_MAX) {
        return firn__fail(error, FIRN_ERANGE,
                          "tweak=%.40s: write at most %d bytes, two hex digits each", text,
                          TWEAK_MAX);
    }
    for (size_t i = 0; i < length / 2; i++) {
        if (firn_parse(&byte, FIRN_FORM_HEX, 8, text + 2 * i, 2, NULL) != FIRN_OK) {
            return firn__fail(error, FIRN_EUSAGE, "tweak=%.40s: write two hex digits for each byte",
                              text);
        }
        order->tweak[i] = (uint8_t)byte.low;
    }
    order->tweak_size = length / 2;
    return FIRN_OK;
}

static int read_order_pair(firn_order *order, const firn__pair *pair, firn_error *error) {
    static const char *const names[] = {"digits", "key_id", "check", "tweak", NULL};
    if (strcmp(pair->name, "digits") == 0) {
        return firn__number_read(&order->digits, "digits", pair->value, DIGITS_LEAST, DIGITS_MOST,
                                 error);
    }
    if (strcmp(pair->name, "key_id") == 0) {
        return firn__number_read(&order->key_id, "key_id", pair->value, 0, 9, error);
    }
    if (strcmp(pair->name, "check") == 0) {
        return firn__choice_read(&order->check, "check", pair->value, "0 1", error);
    }
    if (strcmp(pair->name, "tweak") == 0) {
        return read_tweak(order, pair->value, error);
    }
    return firn__refuse_unknown(error, "order numbers", "have no key", pair->name, names,
                                FIRN_CURE_LISTED, "use digits, key_id, check or tweak");
}

static void make_mark(firn_order *order, const uint8_t key[16]) {
    static const char purpose[] = "firn order key";
    uint8_t digest[SHA256_DIGEST_LENGTH];
    SHA2_CTX context;
    SHA256Init(&context);
    SHA256Update(&context, (const uint8_t *)purpose, sizeof purpose);
    SHA256Update(&context, key, 16);
    SHA256Update(&context, order->tweak, order->tweak_size);
    SHA256Final(digest, &context);
    for (int i = 0; i < 8; i++) {
        order->mark = order->mark << 8 | digest[i];
    }
    order->mark = (order->mark & INT64_MAX) | 1;
    explicit_bzero(&context, sizeof context);
}

int firn_order_open(firn_order **out, const char *text, const uint8_t key[16],
                    const char *module_dir, firn_error *error) {
    firn__keys keys;
    firn_order *order = calloc(1, sizeof *order);
    if (order == NULL) {
        return firn__fail(error, FIRN_EMEMORY, "out of memory for order numbers");
    }
    order->digits = 10;
    order->key_id = -1;
    int code = firn__keys_split(&keys, text, error);
    for (size_t i = 0; code == FIRN_OK && i < keys.field_count; i++) {
        code = read_order_pair(order, &keys.fields[i], error);
    }
    if (code == FIRN_OK) {
        code = firn__permutation_load(&order->permutation, "order numbers", module_dir, error);
    }
    if (code == FIRN_OK) {
        make_mark(order, key);
        code = order->permutation.ops->open(&order->permutation.cipher, key, 10,
                                            (uint32_t)order->digits, order->tweak,
                                            order->tweak_size, error);
    }
    if (code != FIRN_OK) {
        firn_order_close(order);
        return code;
    }
    *out = order;
    return FIRN_OK;
}

void firn_order_close(firn_order *order) {
    if (order == NULL) {
        return;
    }
    firn__permutation_close(&order->permutation);
    free(order);
}

/* ---- writing and reading --------------------------------------------------------------------- */

/* The greatest integer of these digits. */
static uint64_t most_of(const firn_order *order) {
    return firn__power_of_ten((uint32_t)order->digits) - 1;
}

/* 10 to the number of digits of the second half of an integer. */
static uint64_t second_power(const firn_order *order) {
    return firn__power_of_ten((uint32_t)(order->digits + 1) / 2);
}

static firn_halves split_digits(const firn_order *order, uint64_t integer) {
    return (firn_halves){integer / second_power(order), integer % second_power(order)};
}

static uint64_t join_digits(const firn_order *order, firn_halves halves) {
    return halves.first * second_power(order) + halves.second;
}

static size_t length_of(const firn_order *order) {
    return (size_t)(order->digits + order->check) + (order->key_id >= 0);
}

int firn_order_write(firn_order *order, char text[FIRN_ORDER_SIZE], uint64_t integer,
                     firn_error *error) {
    size_t length = length_of(order), start = order->key_id >= 0;
    if (integer > most_of(order)) {
        return firn__fail(error, FIRN_ERANGE,
                          "integer %" PRIu64 " is out of range (0 to %" PRIu64
                          ", %d digits): choose a smaller integer, or more digits=",
                          integer, most_of(order), (int)order->digits);
    }
    firn_halves halves = split_digits(order, integer);
    int code = order->permutation.ops->encrypt(order->permutation.cipher, &halves, 1, error);
    if (code != FIRN_OK) {
        return code;
    }
    char made[FIRN_ORDER_SIZE];
    snprintf(made, sizeof made, "%.*s%0*" PRIu64, (int)start,
             &"0123456789"[start ? order->key_id : 0], (int)order -> digits,
             join_digits(order, halves));
    if (order->check) {
        made[length - 1] = (char)('0' + firn__check_of(FIRN__CHECK_DAMM, made, length - 1));
    }
    made[length] = '\0';
    memcpy(text, made, length + 1);
    return FIRN_OK;
}

int firn_order_read(firn_order *order, uint64_t *integer, const char *text, size_t length,
                    firn_error *error) {
    size_t wanted = length_of(order), start = order->key_id >= 0;
    char why[48];
    for (size_t i = 0; i < length && i < wanted; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return firn__refuse(error, text, length, i, "a decimal digit is needed");
        }
    }
    if (length != wanted) {
        snprintf(why, sizeof why, "an order number of these keys has %zu digits", wanted);
        return firn__refuse(error, text, length, length < wanted ? length : wanted, why);
    }
    if (order->check && firn__check_of(FIRN__CHECK_DAMM, text, length) != 0) {
        return firn__fail(error, FIRN_ETEXT,
                          "the check digit does not fit: a digit is wrong, or two are exchanged");
    }
    if (start && text[0] - '0' != order->key_id) {
        return firn__fail(error, FIRN_EMISMATCH,
                          "the number was made with the key of id %c, this is %d: give that key",
                          text[0], (int)order->key_id);
    }
    uint64_t number = 0;
    for (size_t i = start; i < start + (size_t)order->digits; i++) {
        number = number * 10 + (uint64_t)(text[i] - '0');
    }
    firn_halves halves = split_digits(order, number);
    int code = order->permutation.ops->decrypt(order->permutation.cipher, &halves, 1, error);
    if (code == FIRN_OK) {
        *integer = join_digits(order, halves);
    }
    return code;
}

/* ---- a series -------------------------------------------------------------------------------- */

/* Numbers of two keys can be equal, and so can numbers of two shapes: the store keeps the shape of
 * a series as the layout of a namespace, and under each key id which key it was. */
static int bind_series(const firn_order *order, const char *series, firn_store *store,
                       firn_error *error) {
    char ns[FIRN_NS_SIZE], layout[64], key[16] = "key";
    int64_t first;
    firn__patience patience = firn__patience_begin(&firn__clock_system, 0);
    /* the grant is the key's, so a later opening of the series meets it */
    firn__attempts sending = {.tries = FIRN__SENDINGS, .sent = true};
    snprintf(ns, sizeof ns, "order %.100s", series);
    snprintf(layout, sizeof layout, "order digits=%d check=%d key_id=%s", (int)order->digits,
             (int)order->check, order->key_id >= 0 ? "yes" : "no");
    if (order->key_id >= 0) {
        snprintf(key, sizeof key, "key %d", (int)order->key_id);
    }
    firn_request request = {.ns = ns,
                            .layout = layout,
                            .key = key,
                            .count = 1,
                            .grant = order->mark,
                            .note = "the grant is a digest of the key"};
    int code = firn__reserve(store, &request, &patience, &sending, &first, error);
    if (code == FIRN_EBUSY) {
        return firn__fail(error, FIRN_ENAMESPACE,
                          "series %.40s had another key%s%s before, and numbers of two keys can be "
                          "equal: give that key, or %s",
                          series, order->key_id >= 0 ? " of id " : "",
                          order->key_id >= 0 ? key + 4 : "",
                          order->key_id >= 0 ? "another key_id" : "another series with key_id");
    }
    if (code == FIRN_ENAMESPACE) {
        return firn__fail(error, FIRN_ENAMESPACE,
                          "series %.40s was begun with other digits, check or without key_id: give "
                          "the same, or another series",
                          series);
    }
    return code;
}

int firn_order_series(const firn_order *order, firn_segment **range, const char *series,
                      int64_t start, firn_store *store, firn_error *error) {
    char keys[96];
    uint64_t most = most_of(order), end = FIRN_SLOT_MAX - 1;
    if (series == NULL || series[0] == '\0' || strlen(series) >= FIRN_KEY_SIZE) {
        return firn__fail(error, FIRN_ERANGE, "the name of a series must have 1 to %d bytes",
                          FIRN_KEY_SIZE - 1);
    }
    snprintf(keys, sizeof keys, "kind=serial start=%" PRId64 " end=%" PRIu64, start,
             most < end ? most : end);
    int code = bind_series(order, series, store, error);
    return code == FIRN_OK ? firn_segment_open(range, series, keys, store, NULL, error) : code;
}
