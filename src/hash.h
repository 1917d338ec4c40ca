/* SPDX-License-Identifier: MIT */
/* FNV-1a of 64 bits: a number for a text, for tables and comparisons. It finds mistakes, not
 * forgeries. */
#ifndef FIRN_HASH_H
#define FIRN_HASH_H

#include <stddef.h>
#include <stdint.h>

#define FIRN__HASH_START UINT64_C(0xcbf29ce484222325)

/* Continues the number `sum` of the bytes before these; of no bytes, it is FIRN__HASH_START. */
static inline uint64_t firn__hash(uint64_t sum, const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        sum = (sum ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
    }
    return sum;
}

#endif
