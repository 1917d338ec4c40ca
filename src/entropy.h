/* SPDX-License-Identifier: MIT */
/* Random bytes for the inside of the library, from the caller's source or the system. */
#ifndef FIRN_ENTROPY_H
#define FIRN_ENTROPY_H

#include <firn/firn.h>

/* Fills `out` from `source`, or from the system if it is NULL, and never from anything weaker.
 * FIRN_EENTROPY. */
int firn__entropy_fill(const firn_entropy *source, void *out, size_t size, firn_error *error);
/* `bits` (1..128) random bits. */
int firn__entropy_bits(const firn_entropy *source, firn_value *value, uint32_t bits,
                       firn_error *error);
/* A random number below `below` (at least 1), without bias. */
int firn__entropy_below(const firn_entropy *source, uint64_t *value, uint64_t below,
                        firn_error *error);
/* A deterministic source for tests: the same seed gives the same bytes. `state` outlives it. */
firn_entropy firn__entropy_seeded(uint64_t *state);

#endif
