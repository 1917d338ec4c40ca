/* SPDX-License-Identifier: MIT */
/* Check digits: Damm, Luhn and ISO 7064 MOD 97-10. */
#include "check_digits.h"

/* Damm's quasigroup of order 10: finds every single wrong digit, and every two neighbours that
 * were exchanged. */
static const uint8_t damm[10][10] = {
    {0, 3, 1, 7, 5, 9, 8, 6, 4, 2}, {7, 0, 9, 2, 1, 5, 4, 8, 6, 3}, {4, 2, 0, 6, 8, 7, 1, 3, 5, 9},
    {1, 7, 5, 0, 9, 8, 3, 4, 2, 6}, {6, 1, 2, 3, 0, 4, 5, 9, 7, 8}, {3, 6, 7, 4, 2, 0, 9, 5, 8, 1},
    {5, 8, 6, 9, 7, 2, 0, 1, 3, 4}, {8, 9, 4, 5, 3, 6, 2, 0, 1, 7}, {9, 4, 3, 8, 6, 1, 7, 2, 0, 5},
    {2, 5, 8, 1, 4, 3, 6, 7, 9, 0}};

/* The value of a character of a template: 0..9, 10..35 of a letter, or -1. */
static int check_value(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'Z' ? c - 'A' + 10
           : c >= 'a'             ? c - 'a' + 10
                                  : -1;
}

static uint32_t damm_of(const char *text, size_t length) {
    uint32_t interim = 0;
    for (size_t i = 0; i < length; i++) {
        const int value = check_value(text[i]);
        interim = value >= 0 && value <= 9 ? damm[interim][value] : interim;
    }
    return interim;
}

static uint32_t luhn_of(const char *text, size_t length) {
    uint32_t sum = 0;
    int weight = 2; /* of the last digit, then 1, 2, ... */
    for (size_t i = length; i-- > 0;) {
        const int value = check_value(text[i]);
        if (value >= 0 && value <= 9) {
            const int product = value * weight;
            sum += (uint32_t)(product / 10 + product % 10);
            weight = 3 - weight;
        }
    }
    return (10 - sum % 10) % 10;
}

static uint32_t mod97_of(const char *text, size_t length) {
    uint32_t rest = 0;
    for (size_t i = 0; i < length; i++) {
        const int value = check_value(text[i]);
        if (value >= 0) {
            rest = (rest * (value > 9 ? 100 : 10) + (uint32_t)value) % 97;
        }
    }
    return 98 - rest * 100 % 97;
}

uint32_t firn__check_of(int check, const char *text, size_t length) {
    switch (check) {
    case FIRN__CHECK_DAMM:
        return damm_of(text, length);
    case FIRN__CHECK_LUHN:
        return luhn_of(text, length);
    case FIRN__CHECK_MOD97:
        return mod97_of(text, length);
    default:
        return 0;
    }
}
