/* SPDX-License-Identifier: MIT */
/* Numbers as text: decimal, 0x hex and colon-separated hex. Knows no field and no ID. */
#ifndef FIRN_NUMBER_H
#define FIRN_NUMBER_H

#include <firn/firn.h>

/* The first character is in the lowest byte of a word. Written out byte by byte, because compilers
 * make one store of this form. */
static inline void firn__put_four(char *out, uint32_t word) {
    out[0] = (char)(word & 0xff);
    out[1] = (char)(word >> 8 & 0xff);
    out[2] = (char)(word >> 16 & 0xff);
    out[3] = (char)(word >> 24);
}

static inline void firn__put_eight(char *out, uint64_t word) {
    firn__put_four(out, (uint32_t)(word & UINT32_MAX));
    firn__put_four(out + 4, (uint32_t)(word >> 32));
}

/* The eight decimal digits of a number below 10^8, one a byte. One multiplication divides all lanes
 * of the word at once. */
static inline uint64_t firn__eight_decimals(uint32_t number) {
    uint64_t lanes = number / 10000 | (uint64_t)(number % 10000) << 32;
    uint64_t above = (lanes * 10486 >> 20) & 0x0000007f0000007f; /* 10486 / 2^20: 1 / 100 */
    lanes = above | (lanes - above * 100) << 16;
    above = (lanes * 103 >> 10) & 0x000f000f000f000f; /* 103 / 2^10: 1 / 10 */
    return above | (lanes - above * 10) << 8;
}

/* Writes a decimal number without a zero at its end: up to 20 characters, of room for 24. Returns
 * how many. */
size_t firn__number_put(char *out, uint64_t number);
/* value * base + digit; the base is below 2^32. False: the result has more than 128 bits. */
bool firn__value_append(firn_value *value, uint32_t base, uint32_t digit);
/* Reads a decimal, 0x hex or address (six bytes of two hex digits, with : or - between). False: not
 * a number, or more than 128 bits. */
bool firn__value_parse(firn_value *value, const char *text);
/* A decimal or 0x hex of more than 128 bits? */
bool firn__value_is_large(const char *text);
/* 10 to the power of n, 0..19. */
uint64_t firn__power_of_ten(uint32_t n);

#endif
