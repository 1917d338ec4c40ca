/* SPDX-License-Identifier: MIT */
/* Many bytes of text at a time: which of them are of some kind. Vectors where every processor of
 * the kind has them, else a word. */
#ifndef FIRN_BYTES_H
#define FIRN_BYTES_H

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>

typedef __m128i bytes; /* of a result, only the top bit of each byte counts */
enum { BYTES_STEP = 16, BYTES_MARK = 1 };

static inline bytes bytes_load(const char *text) {
    return _mm_loadu_si128((const void *)text);
}
static inline bytes bytes_equal(bytes all, char c) {
    return _mm_cmpeq_epi8(all, _mm_set1_epi8(c));
}
/* Below `limit`, 1 to 128. */
static inline bytes bytes_below(bytes all, int limit) {
    return _mm_cmpeq_epi8(_mm_min_epu8(all, _mm_set1_epi8((char)(limit - 1))), all);
}
static inline bytes bytes_or(bytes a, bytes b) {
    return _mm_or_si128(a, b);
}
/* BYTES_MARK bits for each byte, the first byte lowest; one of them is set if its top bit is. */
static inline uint64_t bytes_marks(bytes found) {
    return (uint64_t)_mm_movemask_epi8(found);
}

#else
#include <endian.h>

typedef uint64_t bytes;
enum { BYTES_STEP = 8, BYTES_MARK = 8 };
#define BYTES_EACH(byte) (UINT64_C(0x0101010101010101) * (uint8_t)(byte))

static inline bytes bytes_load(const char *text) {
    uint64_t word;
    memcpy(&word, text, sizeof word);
    return le64toh(word);
}
static inline bytes bytes_below(bytes all, int limit) {
    return ~(((all & BYTES_EACH(0x7f)) + BYTES_EACH(128 - limit)) | all);
}
static inline bytes bytes_equal(bytes all, char c) {
    return bytes_below(all ^ BYTES_EACH(c), 1);
}
static inline bytes bytes_or(bytes a, bytes b) {
    return a | b;
}
static inline uint64_t bytes_marks(bytes found) {
    return found & BYTES_EACH(0x80);
}
#endif

/* The byte of the lowest mark; there is one. */
static inline size_t bytes_first(uint64_t marks) {
    return (size_t)__builtin_ctzll(marks) / BYTES_MARK;
}

#endif
