/* SPDX-License-Identifier: MIT */
/* Ticks counted in memory: one word for each tick that had an ID. What the word says is its
 * owner's business: history.c keeps the next count there, job.c also where a full tick runs on. */
#ifndef FIRN_TICKS_H
#define FIRN_TICKS_H

#include <firn/firn.h>

/* A table of pairs, open addressing. Four ticks in a row have their places side by side, in one
 * line of the cache, and the fours lie scattered by their highest hashed bits: a table twice the
 * size has them in the same order, so that growing walks both from end to end. */
typedef struct firn__ticks {
    uint64_t *pairs;   /* tick + 1 (0: free) and the word, which is 0 at first */
    size_t used, size; /* pairs; size is 0 or a power of two */
    uint32_t shift;    /* of the hash: 64 - the bits of size / 4 */
} firn__ticks;

/* Makes room for one more tick. A table that is three quarters full first forgets the ticks
 * before `from`, and is doubled if that leaves it more than half of that. FIRN_EMEMORY. */
int firn__ticks_room(firn__ticks *ticks, uint64_t from, firn_error *error);
void firn__ticks_free(firn__ticks *ticks);

/* Where `tick` has its pair, or would have it. Needs room; the table is never full, so it ends. */
static inline uint64_t *firn__ticks_pair(const firn__ticks *ticks, uint64_t tick) {
    size_t at = (size_t)((tick >> 2) * 0x9e3779b97f4a7c15 >> ticks->shift) * 4 + (tick & 3);
    while (ticks->pairs[2 * at] != 0 && ticks->pairs[2 * at] != tick + 1) {
        at = (at + 1) & (ticks->size - 1);
    }
    return ticks->pairs + 2 * at;
}

/* Makes the pair that was found for `tick` its own. */
static inline void firn__ticks_keep(firn__ticks *ticks, uint64_t *pair, uint64_t tick) {
    ticks->used += pair[0] == 0;
    pair[0] = tick + 1;
}

#endif
