/* SPDX-License-Identifier: MIT */
/* Numbers as text: see number.h. */
#include "number.h"

#include <assert.h>
#include <string.h>

uint64_t firn__power_of_ten(uint32_t n) {
    assert(n <= 19);
    uint64_t power = 1;
    for (uint32_t i = 0; i < n; i++) {
        power *= 10;
    }
    return power;
}

/* A number below 10^8 without leading zeros: writes eight characters and returns how many count. */
static inline size_t put_first(char *out, uint32_t number) {
    uint32_t digits = 1u + (number >= 10) + (number >= 100) + (number >= 1000) + (number >= 10000) +
                      (number >= 100000) + (number >= 1000000) + (number >= 10000000);
    firn__put_eight(out, (firn__eight_decimals(number) + 0x3030303030303030) >> (64 - 8 * digits));
    return digits;
}

size_t firn__number_put(char *out, uint64_t number) {
    const uint32_t e8 = 100000000;
    size_t length = 0;
    if (number < e8) {
        return put_first(out, (uint32_t)number);
    }
    uint64_t upper = number / e8;
    if (upper < e8) {
        length = put_first(out, (uint32_t)upper);
    } else {
        length = put_first(out, (uint32_t)(upper / e8));
        firn__put_eight(out + length,
                        firn__eight_decimals((uint32_t)(upper % e8)) + 0x3030303030303030);
        length += 8;
    }
    firn__put_eight(out + length,
                    firn__eight_decimals((uint32_t)(number % e8)) + 0x3030303030303030);
    return length + 8;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool firn__value_append(firn_value *value, uint32_t base, uint32_t digit) {
    uint64_t low = (value->low & UINT32_MAX) * base + digit;
    uint64_t mid = (value->low >> 32) * base + (low >> 32);
    uint64_t high = (value->high & UINT32_MAX) * base + (mid >> 32);
    uint64_t top = (value->high >> 32) * base + (high >> 32);
    value->low = mid << 32 | (low & UINT32_MAX);
    value->high = top << 32 | (high & UINT32_MAX);
    return top >> 32 == 0;
}

/* aa:bb:cc:dd:ee:ff, or with dashes. */
static bool read_address(firn_value *value, const char *text) {
    firn_value out = {0, 0};
    for (int i = 0; i < 17; i++) {
        int digit = hex_digit(text[i]);
        if (i % 3 == 2 ? text[i] != text[2] || (text[i] != ':' && text[i] != '-') : digit < 0) {
            return false;
        }
        if (i % 3 != 2) {
            firn__value_append(&out, 16, (uint32_t)digit);
        }
    }
    *value = out;
    return text[17] == '\0';
}

bool firn__value_parse(firn_value *value, const char *text) {
    firn_value out = {0, 0};
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *position = text + (hex ? 2 : 0);
    if (strlen(text) == 17 && (text[2] == ':' || text[2] == '-')) {
        return read_address(value, text);
    }
    if (*position == '\0') {
        return false;
    }
    for (; *position != '\0'; position++) {
        int digit = hex_digit(*position);
        if (digit < 0 || digit >= (hex ? 16 : 10) ||
            !firn__value_append(&out, hex ? 16 : 10, (uint32_t)digit)) {
            return false;
        }
    }
    *value = out;
    return true;
}

bool firn__value_is_large(const char *text) {
    firn_value unused;
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = text + (hex ? 2 : 0);
    size_t length = strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789");
    return length > 0 && digits[length] == '\0' && !firn__value_parse(&unused, text);
}
