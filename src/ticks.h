/* SPDX-License-Identifier: MIT */
/* Ticks in memory: one word for each tick that had an ID. history.c keeps the next count in the
 * word, job.c also where to look for room after a full tick. */
#ifndef FIRN_TICKS_H
#define FIRN_TICKS_H

#include <firn/firn.h>

/* A hash table of pairs with open addressing. Four consecutive ticks are side by side, in one
 * cache line. The highest bits of the hash place the groups of four: a table of twice the size has
 * them in the same order, so growing walks both tables from end to end. */
typedef struct firn__ticks {
    uint64_t *pairs;   /* tick + 1 (0: free) and the word, which is 0 at first */
    size_t used, size; /* pairs; size is 0 or a power of two */
    uint32_t shift;    /* of the hash: 64 - the bits of size / 4 */
} firn__ticks;

/* Makes room for one more tick. A table that is three quarters full forgets the ticks before
 * `from`, and is doubled if more than half of the pairs remain. FIRN_EMEMORY. */
int firn__ticks_room(firn__ticks *ticks, uint64_t from, firn_error *error);
void firn__ticks_free(firn__ticks *ticks);

/* The pair of `tick`, or the free pair for it. The table is never full, so the loop ends. */
static inline uint64_t *firn__ticks_pair(const firn__ticks *ticks, uint64_t tick) {
    size_t at = (size_t)((tick >> 2) * 0x9e3779b97f4a7c15 >> ticks->shift) * 4 + (tick & 3);
    while (ticks->pairs[2 * at] != 0 && ticks->pairs[2 * at] != tick + 1) {
        at = (at + 1) & (ticks->size - 1);
    }
    return ticks->pairs + 2 * at;
}

/* Marks the pair that was found for `tick` as used. */
static inline void firn__ticks_keep(firn__ticks *ticks, uint64_t *pair, uint64_t tick) {
    ticks->used += pair[0] == 0;
    pair[0] = tick + 1;
}

#endif
