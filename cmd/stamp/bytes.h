/* SPDX-License-Identifier: MIT */
/* Eight bytes of text at a time: which of them are of some kind. */
#ifndef FIRN_BYTES_H
#define FIRN_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

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

/* The byte of the lowest mark; there is one. */
static inline size_t bytes_first(uint64_t marks) {
    return (size_t)__builtin_ctzll(marks) / BYTES_MARK;
}

#endif
