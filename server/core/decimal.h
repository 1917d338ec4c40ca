/* SPDX-License-Identifier: MIT */
/* Numbers as decimal text, eight digits per step without tables or loops. Adds no terminator. */
#ifndef FIRN_DECIMAL_H
#define FIRN_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DECIMAL_MAX 20 /* digits of a 64-bit number, or 19 and a sign */

/* The eight digits of n < 10^8 as bytes 0..9, the first one lowest. n is split into lanes of four
 * digits, then of two, then of one, with one multiplication per step. 5243 / 2^19 is 1/100 below
 * 43698, 103 / 2^10 is 1/10 below 178. */
static inline uint64_t decimal_lanes(uint32_t n) {
    uint64_t lanes = n / 10000 | (uint64_t)(n % 10000) << 32;
    uint64_t high = lanes * 5243 >> 19 & UINT64_C(0x0000007f0000007f);
    lanes = high | (lanes - high * 100) << 16;
    high = lanes * 103 >> 10 & UINT64_C(0x000f000f000f000f);
    return high | (lanes - high * 10) << 8;
}

static inline void decimal_store(char *out, uint64_t lanes) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    lanes = __builtin_bswap64(lanes);
#endif
    memcpy(out, &lanes, sizeof lanes);
}

/* Eight digits, leading zeros too. */
static inline void decimal_eight(char *out, uint32_t n) {
    decimal_store(out, decimal_lanes(n) | UINT64_C(0x3030303030303030));
}

/* n < 10^8 without leading zeros; writes eight bytes and returns how many are digits. */
static inline size_t decimal_short(char *out, uint32_t n) {
    uint64_t lanes = decimal_lanes(n);
    /* The top bit marks the last digit, which is written even if it is 0. */
    unsigned zeros = (unsigned)__builtin_ctzll(lanes | UINT64_C(1) << 56) / 8;
    decimal_store(out, (lanes | UINT64_C(0x3030303030303030)) >> zeros * 8);
    return 8 - zeros;
}

/* Any number; writes up to 24 bytes and returns how many are digits. */
static inline size_t decimal_write(char *out, uint64_t n) {
    if (n < 100000000) {
        return decimal_short(out, (uint32_t)n);
    }
    uint64_t head = n / 100000000;
    size_t length;
    if (head < 100000000) {
        length = decimal_short(out, (uint32_t)head);
    } else {
        length = decimal_short(out, (uint32_t)(head / 100000000));
        decimal_eight(out + length, (uint32_t)(head % 100000000));
        length += 8;
    }
    decimal_eight(out + length, (uint32_t)(n % 100000000));
    return length + 8;
}

/* With a - if signed and negative; writes up to 25 bytes. */
static inline size_t decimal_write_signed(char *out, uint64_t n, bool is_signed) {
    size_t minus = is_signed && n > INT64_MAX;
    out[0] = '-';
    return minus + decimal_write(out + minus, minus != 0 ? 0 - n : n);
}

#endif
