/* SPDX-License-Identifier: MIT */
/* A keyed permutation of the numbers with a fixed count of decimal digits, another one for each
 * tick. It makes node and sequence of time-random look random, and keeps them unique. It is not
 * secret: the key is in the store. */
#ifndef FIRN_SHUFFLE_H
#define FIRN_SHUFFLE_H

#include "scheme.h"

typedef struct firn__shuffle {
    uint64_t key[2];
    uint32_t digits; /* 1..18; 0: nothing is shuffled */
} firn__shuffle;

/* SipHash-2-4 of a message as words of its bytes, each least significant byte first. The highest
 * byte of the last word is the number of bytes, the message has the others. */
uint64_t firn__siphash(const uint64_t key[2], const uint64_t *words, size_t count);
/* The image of `number` (below 10^digits) in the permutation of this tick. */
uint64_t firn__shuffled(const firn__shuffle *shuffle, uint64_t tick, uint64_t number);
/* Permutes the digits of a packed ID. */
void firn__shuffle_id(const firn__shuffle *shuffle, uint64_t tick, firn_id *id);
/* time-random with node and sequence in place of its random digits; firn__shuffle_id turns such IDs
 * into IDs of time-random. */
firn_scheme firn__shuffle_scheme(uint32_t digits);
/* Reads and writes "digits key=..." with 32 hex digits, the layout of its namespace in the
 * store. */
#define FIRN__SHUFFLE_SIZE 48
bool firn__shuffle_read(firn__shuffle *shuffle, const char *layout);
char *firn__shuffle_write(char layout[FIRN__SHUFFLE_SIZE], const firn__shuffle *shuffle);

#endif
