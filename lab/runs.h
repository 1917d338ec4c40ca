/* SPDX-License-Identifier: MIT */
/* Sorts any number of keys in bounded memory: sorted runs, in a temporary file (spill.h) if they do
 * not fit the memory, merged at the end. Knows words, not what they mean. */
#ifndef FIRN_RUNS_H
#define FIRN_RUNS_H

#include "check/spill.h"

enum { RUNS_WORDS_MAX = 3 };

typedef struct sorted_runs {
    disk_spill kept;
    size_t words; /* of a key, most significant first */
    uint64_t *chunk;
    size_t count, room; /* keys in the chunk */
    size_t run_count;
} sorted_runs;

/* Keys of `words` words in about `memory` bytes. FIRN_EMEMORY. */
int runs_open(sorted_runs *runs, size_t words, uint64_t memory, firn_error *error);
/* FIRN_EMEMORY: more keys than the memory can sort; FIRN_EIO. */
int runs_add(sorted_runs *runs, const uint64_t *key, firn_error *error);
typedef void runs_visit(void *context, const uint64_t *key);
/* Visits all keys in ascending order. FIRN_EMEMORY, FIRN_EIO. */
int runs_each(sorted_runs *runs, runs_visit *visit, void *context, firn_error *error);
void runs_close(sorted_runs *runs);

#endif
