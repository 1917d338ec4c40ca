/* SPDX-License-Identifier: MIT */
/* Ticks in memory: one word for each tick that had an ID. issue_backdated.c keeps the next count in
 * the word, job.c also where to look for room after a full tick. */
#ifndef FIRN_TICKS_H
#define FIRN_TICKS_H

#include <firn/firn.h>

/* Pairs: tick + 1 (0: free) and the word, which is 0 at first. Each tick above all ticks before it
 * is appended to `run`, which therefore ascends, and most records come by time; the others are in a
 * hash table with open addressing. Four consecutive ticks are side by side there, in one cache
 * line. The highest bits of the hash place the groups of four: a table of twice the size has them
 * in the same order, so growing walks both tables from end to end. */
typedef struct firn__ticks {
    uint64_t *pairs;   /* the table */
    size_t used, size; /* pairs; size is 0 or a power of two */
    uint32_t shift;    /* of the hash: 64 - the bits of size / 4 */
    uint64_t *run;
    size_t run_used, run_size; /* pairs; the one after the last is zero */
    size_t near; /* where a tick was looked for in the run; the next one is often near */
} firn__ticks;

/* Makes room for one more tick. A run that is full and a table that is three quarters full forget
 * the ticks before `from`, and are doubled if more than half of the pairs remain. FIRN_EMEMORY. */
int firn__ticks_make_room(firn__ticks *ticks, uint64_t from, firn_error *error);
void firn__ticks_free(firn__ticks *ticks);
/* The pair of a tick that is below the last one of the run, or the free pair for it. */
uint64_t *firn__ticks_find(firn__ticks *ticks, uint64_t tick);

static inline bool firn__ticks_full(const firn__ticks *ticks) {
    return ticks->run_used + 1 >= ticks->run_size || ticks->used >= ticks->size / 4 * 3;
}

/* The pair of `tick`, or the free pair for it; there is room. */
static inline uint64_t *firn__ticks_pair(firn__ticks *ticks, uint64_t tick) {
    uint64_t *free_pair = ticks->run + 2 * ticks->run_used;
    uint64_t last = ticks->run_used > 0 ? free_pair[-2] : 0;
    if (tick + 1 > last) {
        return free_pair;
    }
    return tick + 1 == last ? free_pair - 2 : firn__ticks_find(ticks, tick);
}

/* Marks the pair that was found for `tick` as used. */
static inline void firn__ticks_keep(firn__ticks *ticks, uint64_t *pair, uint64_t tick) {
    bool is_free = pair[0] == 0, in_run = pair == ticks->run + 2 * ticks->run_used;
    ticks->run_used += is_free && in_run;
    ticks->used += is_free && !in_run;
    pair[0] = tick + 1;
}

#endif
