/* SPDX-License-Identifier: MIT */
/* Texts by vectors of 16 bytes, for 64-bit ARM: see simd.h. */
#include "simd.h"

#ifdef FIRN__SIMD_NEON

#include "forms.h"

#include <arm_neon.h>

#define TARGET
#define INLINE static inline __attribute__((always_inline))

typedef uint8x16_t vector;

INLINE vector load(const void *source) {
    return vld1q_u8((const uint8_t *)source);
}
INLINE void store(char *out, vector x) {
    vst1q_u8((uint8_t *)out, x);
}
INLINE vector words(uint64_t first, uint64_t second) {
    return vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(first), vcreate_u64(second)));
}
INLINE uint64_t word0(vector x) {
    return vgetq_lane_u64(vreinterpretq_u64_u8(x), 0);
}
INLINE uint64_t word1(vector x) {
    return vgetq_lane_u64(vreinterpretq_u64_u8(x), 1);
}

/* ---- hex and uuid ---------------------------------------------------------------------------- */

enum { NO = 255 }; /* an index outside of a table gives 0 */

/* The 32 hex digits of 16 bytes. */
INLINE void hex_digits(vector *a, vector *b, uint64_t high, uint64_t low) {
    const vector digits = load(digits_hex);
    vector bytes = vrev64q_u8(words(high, low));
    vector upper = vshrq_n_u8(bytes, 4), lower = vandq_u8(bytes, vdupq_n_u8(15));
    *a = vqtbl1q_u8(digits, vzip1q_u8(upper, lower));
    *b = vqtbl1q_u8(digits, vzip2q_u8(upper, lower));
}

/* Three stores: characters 0 to 15, 16 to 31, and 20 to 35. */
INLINE void put_uuid(char *out, uint64_t high, uint64_t low) {
    static const uint8_t places0[] = {0, 1, 2, 3, 4, 5, 6, 7, NO, 8, 9, 10, 11, NO, 12, 13};
    static const uint8_t dashes0[] = {0, 0, 0, 0, 0, 0, 0, 0, '-', 0, 0, 0, 0, '-', 0, 0};
    static const uint8_t places1[] = {0, 1, NO, 2, 3, 4, 5, NO, 6, 7, 8, 9, 10, 11, 12, 13};
    static const uint8_t dashes1[] = {0, 0, '-', 0, 0, 0, 0, '-', 0, 0, 0, 0, 0, 0, 0, 0};
    static const uint8_t places2[] = {1, 2, 3, NO, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    vector a, b;
    hex_digits(&a, &b, high, low);
    vector last = vsetq_lane_u8('-', vqtbl1q_u8(b, load(places2)), 3);
    store(out, vorrq_u8(vqtbl1q_u8(a, load(places0)), load(dashes0)));
    store(out + 16, vorrq_u8(vqtbl1q_u8(vextq_u8(a, b, 14), load(places1)), load(dashes1)));
    store(out + 20, last);
}

/* The values of 16 hex digits; another character has more than 15. */
INLINE vector hex_values(vector c) {
    vector digit = vsubq_u8(c, vdupq_n_u8('0'));
    vector letter = vsubq_u8(vorrq_u8(c, vdupq_n_u8(0x20)), vdupq_n_u8('a'));
    digit = vorrq_u8(digit, vcgtq_u8(digit, vdupq_n_u8(9))); /* 255: not a digit */
    return vminq_u8(digit, vqaddq_u8(letter, vdupq_n_u8(10)));
}

INLINE bool are_hex(vector a, vector b) {
    return vmaxvq_u8(vmaxq_u8(a, b)) <= 15;
}

/* The bytes of 32 values, as two words. */
INLINE void hex_words(uint64_t *high, uint64_t *low, vector a, vector b) {
    vector bytes = vorrq_u8(vshlq_n_u8(vuzp1q_u8(a, b), 4), vuzp2q_u8(a, b));
    bytes = vrev64q_u8(bytes);
    *high = word0(bytes);
    *low = word1(bytes);
}

INLINE bool get_uuid(uint64_t *high, uint64_t *low, const char *text) {
    static const uint8_t places0[] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 14, 15, NO, NO};
    static const uint8_t places1[] = {NO, 0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    vector a = vqtbl1q_u8(load(text), load(places0)),
           b = vqtbl1q_u8(load(text + 20), load(places1));
    a = vsetq_lane_u8((uint8_t)text[16], a, 14);
    a = vsetq_lane_u8((uint8_t)text[17], a, 15);
    b = vsetq_lane_u8((uint8_t)text[19], b, 0);
    a = hex_values(a);
    b = hex_values(b);
    hex_words(high, low, a, b);
    return are_hex(a, b) && text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-';
}

/* ---- base32 ---------------------------------------------------------------------------------- */

/* Twice 40 bits as twice 8 values of 5 bits, most significant first: halves, quarters, eighths. */
INLINE void put_eights(char *out, uint64_t first, uint64_t second, const char *digits) {
    uint64x2_t x = vreinterpretq_u64_u8(words(first, second));
    x = vorrq_u64(vshlq_n_u64(vshrq_n_u64(x, 20), 32), vandq_u64(x, vdupq_n_u64(0xfffff)));
    uint32x4_t y = vreinterpretq_u32_u64(x);
    y = vorrq_u32(vshlq_n_u32(vshrq_n_u32(y, 10), 16), vandq_u32(y, vdupq_n_u32(0x3ff)));
    uint16x8_t z = vreinterpretq_u16_u32(y);
    z = vorrq_u16(vshlq_n_u16(vshrq_n_u16(z, 5), 8), vandq_u16(z, vdupq_n_u16(0x1f)));
    const uint8x16x2_t table = {{load(digits), load(digits + 16)}};
    store(out, vqtbl2q_u8(table, vrev64q_u8(vreinterpretq_u8_u16(z))));
}

/* The values of characters 0x30 to 0x7f, and 0 for all others. */
INLINE vector load_values(const char *text, const uint8_t *values) {
    const uint8x16x4_t rows = {
        {load(values + 0x30), load(values + 0x40), load(values + 0x50), load(values + 0x60)}};
    vector position = vsubq_u8(load(text), vdupq_n_u8(0x30));
    vector out = vqtbl4q_u8(rows, position);
    return vqtbx1q_u8(out, load(values + 0x70), vsubq_u8(position, vdupq_n_u8(0x40)));
}

INLINE bool are_digits(vector a, vector b) {
    return vminvq_u8(vandq_u8(a, b)) >= IS;
}

INLINE void get_eights(uint64_t *first, uint64_t *second, vector values) {
    uint16x8_t x = vreinterpretq_u16_u8(vandq_u8(values, vdupq_n_u8(31)));
    x = vorrq_u16(vshlq_n_u16(vandq_u16(x, vdupq_n_u16(31)), 5), vshrq_n_u16(x, 8));
    uint32x4_t y = vreinterpretq_u32_u16(x);
    y = vorrq_u32(vshlq_n_u32(vandq_u32(y, vdupq_n_u32(0x3ff)), 10), vshrq_n_u32(y, 16));
    uint64x2_t z = vreinterpretq_u64_u32(y);
    z = vorrq_u64(vshlq_n_u64(vandq_u64(z, vdupq_n_u64(0xfffff)), 20), vshrq_n_u64(z, 32));
    *first = vgetq_lane_u64(z, 0);
    *second = vgetq_lane_u64(z, 1);
}

#define VERSION firn__simd_neon
#define NAME    "neon"
#include "simd_forms.h"

#endif
