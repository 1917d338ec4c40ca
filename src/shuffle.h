/* SPDX-License-Identifier: MIT */
/* Numbers of so many decimal digits in disguise: a keyed permutation, another one for each tick, by
 * which node and sequence of time-random look like random digits and still never clash. A
 * disguise, no secret: the key lies in the store. */
#ifndef FIRN_SHUFFLE_H
#define FIRN_SHUFFLE_H

#include "scheme.h"

typedef struct firn__shuffle {
    uint64_t key[2];
    uint32_t digits; /* 1..18; 0: nothing is shuffled */
} firn__shuffle;

/* SipHash-2-4 of the 16 bytes of two words, each least significant byte first. */
uint64_t firn__siphash(const uint64_t key[2], uint64_t first, uint64_t second);
/* The place of `number` (below 10^digits) in the permutation of this tick. */
uint64_t firn__shuffled(const firn__shuffle *shuffle, uint64_t tick, uint64_t number);
/* Shuffles the digits of a packed ID of that many. */
void firn__shuffle_id(const firn__shuffle *shuffle, uint64_t tick, firn_id *id);
/* The row of time-random whose digits node and sequence share; firn__shuffle_id makes IDs of
 * time-random of its. */
firn_scheme firn__shuffle_row(uint32_t digits);
/* Reads and writes "digits key=..." with 32 hex digits, as it is stored with a namespace. */
#define FIRN__SHUFFLE_SIZE 48
bool firn__shuffle_read(firn__shuffle *shuffle, const char *row);
char *firn__shuffle_write(char row[FIRN__SHUFFLE_SIZE], const firn__shuffle *shuffle);

#endif
