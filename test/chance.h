/* SPDX-License-Identifier: MIT */
/* Pseudo-random numbers that are the same in every run: xorshift64*, seeded before each test. Not
 * for the library. */
#ifndef FIRN_TEST_CHANCE_H
#define FIRN_TEST_CHANCE_H

#include <stdint.h>

static uint64_t seed;

static uint64_t chance(void) {
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return seed * UINT64_C(0x2545f4914f6cdd1d);
}

static int start_over(void **state) {
    (void)state;
    seed = 20261121;
    return 0;
}

#endif
