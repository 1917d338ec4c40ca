/* SPDX-License-Identifier: MIT */
/* Values of a processor that a copy of a machine's memory does not have: the cycle counter and
 * random numbers. Nothing is drawn from it alone: entropy.c mixes it with the kernel's bytes, which
 * alone decide how strong the result is. */
#ifndef FIRN_PROCESSOR_H
#define FIRN_PROCESSOR_H

#include <stdint.h>

typedef struct firn__noise {
    uint64_t cycles; /* the counter; where a processor has no counter, a clock in ns */
    uint64_t drawn;  /* of RDRAND or RNDR; 0 where these are missing or fail */
} firn__noise;

firn__noise firn__processor_noise(void);
/* Replaces `seed` by the SHA-256 of the seed and the noise. */
void firn__processor_hash(uint8_t seed[32], const firn__noise *noise);

#endif
