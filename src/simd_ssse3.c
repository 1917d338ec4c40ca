/* SPDX-License-Identifier: MIT */
/* Texts by vectors of 16 bytes, for x86-64 with SSSE3: see simd.h. AVX2 is not faster
 * for one text at a time.
 *
 * An ID is loaded as two words of 64 bits: one load of 16 bytes would wait for the two stores of an
 * ID that was just made. */
#include "simd.h"

#ifdef FIRN__SIMD_X86

#include "bits.h"
#include "forms.h"

#include <string.h>
#include <tmmintrin.h>

#define TARGET __attribute__((target("ssse3")))
#define INLINE TARGET static inline __attribute__((always_inline))

typedef __m128i vector;

INLINE __m128i all(char c) {
    return _mm_set1_epi8(c);
}
INLINE __m128i load(const void *source) {
    return _mm_loadu_si128((const __m128i *)source);
}
INLINE void store(void *out, __m128i x) {
    _mm_storeu_si128((__m128i *)out, x);
}
INLINE __m128i words(uint64_t first, uint64_t second) {
    return _mm_set_epi64x((int64_t)second, (int64_t)first);
}
INLINE uint64_t word0(__m128i x) {
    return (uint64_t)_mm_cvtsi128_si64(x);
}
INLINE uint64_t word1(__m128i x) {
    return word0(_mm_unpackhi_epi64(x, x));
}

/* ---- hex and uuid ---------------------------------------------------------------------------- */

enum { NO = -128 }; /* a place that a shuffle leaves 0 */

/* The 32 hex digits of 16 bytes. */
INLINE void hex_digits(__m128i *a, __m128i *b, uint64_t high, uint64_t low) {
    __m128i bytes = words(__builtin_bswap64(high), __builtin_bswap64(low));
    __m128i upper = _mm_and_si128(_mm_srli_epi16(bytes, 4), all(15));
    __m128i lower = _mm_and_si128(bytes, all(15));
    *a = _mm_shuffle_epi8(load(digits_hex), _mm_unpacklo_epi8(upper, lower));
    *b = _mm_shuffle_epi8(load(digits_hex), _mm_unpackhi_epi8(upper, lower));
}

/* The text is 0 to 15, 16 to 31, and the last four characters. */
INLINE void put_uuid(char *out, uint64_t high, uint64_t low) {
    const __m128i places0 = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, NO, 8, 9, 10, 11, NO, 12, 13);
    const __m128i dashes0 = _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, '-', 0, 0, 0, 0, '-', 0, 0);
    const __m128i places1 = _mm_setr_epi8(0, 1, NO, 2, 3, 4, 5, NO, 6, 7, 8, 9, 10, 11, 12, 13);
    const __m128i dashes1 = _mm_setr_epi8(0, 0, '-', 0, 0, 0, 0, '-', 0, 0, 0, 0, 0, 0, 0, 0);
    __m128i a, b;
    hex_digits(&a, &b, high, low);
    uint32_t last = (uint32_t)_mm_cvtsi128_si32(_mm_srli_si128(b, 12));
    store(out, _mm_or_si128(_mm_shuffle_epi8(a, places0), dashes0));
    store(out + 16, _mm_or_si128(_mm_shuffle_epi8(_mm_alignr_epi8(b, a, 14), places1), dashes1));
    memcpy(out + 32, &last, 4);
}

/* The values of 16 hex digits; another character has more than 15. */
INLINE __m128i hex_values(__m128i c) {
    /* 0xf6 + 0..9, less 6: everything else is below 0xf0 */
    __m128i digit = _mm_subs_epu8(_mm_add_epi8(c, all((char)(0xff - '9'))), all(6));
    __m128i letter = _mm_sub_epi8(_mm_and_si128(c, all((char)0xdf)), all('A'));
    return _mm_min_epu8(_mm_sub_epi8(digit, all((char)0xf0)), _mm_adds_epu8(letter, all(10)));
}

INLINE bool are_hex(__m128i a, __m128i b) {
    return _mm_movemask_epi8(_mm_adds_epu8(_mm_or_si128(a, b), all(0x70))) == 0;
}

/* The bytes of 32 values, as two words. */
INLINE void hex_words(uint64_t *high, uint64_t *low, __m128i a, __m128i b) {
    const __m128i pairs = _mm_set1_epi16(0x0110); /* 16 times the first, and the second */
    __m128i bytes = _mm_packus_epi16(_mm_maddubs_epi16(a, pairs), _mm_maddubs_epi16(b, pairs));
    *high = __builtin_bswap64(word0(bytes));
    *low = __builtin_bswap64(word1(bytes));
}

INLINE bool get_uuid(uint64_t *high, uint64_t *low, const char *text) {
    const __m128i places0 = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 14, 15, NO, NO);
    const __m128i places1 = _mm_setr_epi8(NO, 0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m128i others =
        _mm_setr_epi8(0, -1, -1, -1, -1, 0, -1, -1, -1, -1, 0, -1, -1, -1, -1, 0);
    __m128i t0 = load(text), t16 = load(text + 16), t20 = load(text + 20);
    /* digits 14 and 15 are characters 16 and 17, digit 16 is character 19 */
    __m128i a = _mm_or_si128(_mm_shuffle_epi8(t0, places0), _mm_slli_si128(t16, 14));
    __m128i b =
        _mm_or_si128(_mm_shuffle_epi8(t20, places1), _mm_srli_si128(_mm_slli_si128(t16, 12), 15));
    a = hex_values(a);
    b = hex_values(b);
    __m128i dashes = _mm_unpacklo_epi64(_mm_srli_si128(t0, 8), t16);
    __m128i right = _mm_or_si128(_mm_cmpeq_epi8(dashes, all('-')), others);
    __m128i wrong = _mm_adds_epu8(_mm_or_si128(a, b), all(0x70));
    if (_mm_movemask_epi8(_mm_andnot_si128(wrong, right)) != 0xffff) {
        return false;
    }
    hex_words(high, low, a, b);
    return true;
}

/* ---- base32 ---------------------------------------------------------------------------------- */

/* Twice 40 bits as twice 8 values of 5 bits, most significant first: halves, quarters, eighths. */
INLINE __m128i spread(__m128i x) {
    x = _mm_or_si128(_mm_slli_epi64(_mm_and_si128(x, _mm_set1_epi64x(0xfffff00000)), 12),
                     _mm_and_si128(x, _mm_set1_epi64x(0xfffff)));
    x = _mm_or_si128(_mm_slli_epi64(_mm_and_si128(x, _mm_set1_epi32(0xffc00)), 6),
                     _mm_and_si128(x, _mm_set1_epi32(0x3ff)));
    x = _mm_or_si128(_mm_slli_epi64(_mm_and_si128(x, _mm_set1_epi16(0x3e0)), 3),
                     _mm_and_si128(x, _mm_set1_epi16(0x1f)));
    return _mm_shuffle_epi8(x, _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8));
}

/* A shuffle takes the lower four bits of an index, or gives 0 if its top bit is set. */
INLINE __m128i digits_of(__m128i values, const char *digits) {
    __m128i below = _mm_shuffle_epi8(load(digits), _mm_add_epi8(values, all(0x70)));
    __m128i above = _mm_shuffle_epi8(load(digits + 16), _mm_sub_epi8(values, all(16)));
    return _mm_or_si128(below, above);
}

INLINE void put_eights(char *out, uint64_t first, uint64_t second, const char *digits) {
    store(out, digits_of(spread(words(first, second)), digits));
}

/* The values of the characters 16 * row to 16 * row + 15, and 0 for all others. */
INLINE __m128i row_values(__m128i c, const uint8_t *values, int row) {
    __m128i m128i = _mm_adds_epu8(_mm_xor_si128(c, all((char)(16 * row))), all(0x70));
    return _mm_shuffle_epi8(load(values + 16 * row), m128i);
}

/* Digits and lower-case letters. `fold` is 0x40, which letters have, or 0. */
INLINE __m128i values_of(__m128i c, const uint8_t *values, __m128i fold) {
    c = _mm_or_si128(c, _mm_srli_epi16(_mm_and_si128(c, fold), 1));
    return _mm_or_si128(row_values(c, values, 3),
                        _mm_or_si128(row_values(c, values, 6), row_values(c, values, 7)));
}

/* Twice 8 values of 5 bits as twice 40 bits. */
INLINE __m128i gather(__m128i values) {
    __m128i x = _mm_and_si128(values, all(31));
    x = _mm_maddubs_epi16(x, _mm_set1_epi16(0x0120)); /* 32 times the first, and the second */
    x = _mm_madd_epi16(x, _mm_set1_epi32(0x00010400));
    return _mm_or_si128(_mm_srli_epi64(x, 32),
                        _mm_slli_epi64(_mm_and_si128(x, _mm_set1_epi64x(0xfffff)), 20));
}

INLINE vector load_values(const char *text, const uint8_t *values) {
    return values_of(load(text), values, all(values['A'] != 0 ? 0x40 : 0));
}

INLINE bool are_digits(vector a, vector b) {
    return _mm_movemask_epi8(_mm_and_si128(a, b)) == 0xffff;
}

INLINE void get_eights(uint64_t *first, uint64_t *second, vector values) {
    __m128i x = gather(values);
    *first = word0(x);
    *second = word1(x);
}

#define VERSION firn__simd_ssse3
#define NAME    "ssse3"
#include "simd_forms.h"

#endif
