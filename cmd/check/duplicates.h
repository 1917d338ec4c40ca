/* SPDX-License-Identifier: MIT */
/* Duplicates among IDs that come in any order: exact, in bounded memory. Keeps IDs and finds lines;
 * reads no stream. */
#ifndef FIRN_DUPLICATES_H
#define FIRN_DUPLICATES_H

#include "shared/progress.h"
#include "spill.h"
#include "stream.h"

enum {
    DUPLICATES_PARTS = 255,
    DUPLICATES_SHOWN = 10, /* that are named */
    DUPLICATES_WORDS = 3
};

/* An ID as words, most significant first; only the first `words` count. */
typedef struct id_key {
    uint64_t word[DUPLICATES_WORDS];
} id_key;

/* An ID that was there before: the lines of its first and of this occurrence, counted over all
 * files from 0, and how the log finds them. */
typedef struct repeated_id {
    id_key key;
    uint64_t first, again;
    uint64_t first_index, index; /* among the IDs of its part */
    uint32_t part;
} repeated_id;

/* The first repeats of one part, by index. */
typedef struct part_repeats {
    uint32_t count;
    uint64_t index[DUPLICATES_SHOWN];
} part_repeats;

typedef struct duplicate_finder {
    disk_spill kept;
    uint32_t words; /* of an ID */
    uint64_t seed;  /* drawn for each process */
    uint64_t memory;
    uint8_t *scratch; /* a block */
    uint64_t *table;
    size_t max_places; /* a power of two */
    part_repeats parts[DUPLICATES_PARTS];

    uint64_t count; /* the result */
    repeated_id shown[DUPLICATES_SHOWN];
    size_t shown_count;
} duplicate_finder;

/* Room for IDs of `words` words in `memory` bytes; once. FIRN_EMEMORY. */
int duplicates_open(duplicate_finder *finder, uint32_t words, uint64_t memory, firn_error *error);
/* Keeps a batch; one batch after the other has all lines from 0 on. FIRN_EMEMORY, FIRN_EIO. */
int duplicates_keep(duplicate_finder *finder, const id_batch *batch, firn_error *error);
/* Fills the result, after the last batch. FIRN_EMEMORY, FIRN_EIO. */
int duplicates_find(duplicate_finder *finder, firn_error *error);
void duplicates_close(duplicate_finder *finder);
/* The words of an ID, most significant first. */
void duplicates_key(id_key *key, const firn_id *id, uint32_t words);

#endif
