/* SPDX-License-Identifier: MIT */
/* Streams that are only added to and then read again: in memory up to a budget, beyond it in one
 * temporary file that has no name. Knows bytes of a fixed unit, not what they mean. */
#ifndef FIRN_SPILL_H
#define FIRN_SPILL_H

#include <firn/firn.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { SPILL_STREAMS = 256 };

typedef struct spill_stream {
    uint8_t *start, *next, *end; /* the open block; all NULL before the first */
    uint64_t *blocks;            /* the full ones: first those in memory, then places in the file */
    size_t count, kept, room;    /* of blocks; how many are in memory; room for */
} spill_stream;

typedef struct disk_spill {
    size_t block;      /* bytes of a block, a multiple of 32 units */
    size_t unit;       /* bytes */
    size_t used, most; /* blocks in memory; how many may be */
    uint8_t *region;   /* of huge pages, for the blocks after the first of each stream, or NULL */
    size_t taken, region_size; /* bytes */
    int file;                  /* -1: none yet */
    uint64_t length;           /* of the file, bytes */
    spill_stream streams[SPILL_STREAMS];
} disk_spill;

/* About `memory` bytes for blocks, of units of `unit` bytes. Cannot fail; the first block is taken
 * when something is added. */
void spill_open(disk_spill *spill, size_t memory, size_t unit);
void spill_close(disk_spill *spill);
/* Makes room in a stream whose open block is full. FIRN_EMEMORY, FIRN_EIO. */
int spill_turn(disk_spill *spill, spill_stream *stream, firn_error *error);
/* FIRN_EMEMORY, with how to need less. */
int spill_no_memory(firn_error *error);

/* How many units a stream holds. */
static inline uint64_t spill_units(const disk_spill *spill, const spill_stream *stream) {
    uint64_t bytes =
        (uint64_t)stream->count * spill->block + (uint64_t)(stream->next - stream->start);
    return bytes / spill->unit;
}

/* The i-th block, 0 up to and with `count`, which is the open one; *bytes is how much is in it.
 * `scratch` has room for a block. NULL: it cannot be read, and `error` says why. */
const uint8_t *spill_block(const disk_spill *spill, const spill_stream *stream, size_t i,
                           uint8_t *scratch, size_t *bytes, firn_error *error);

#endif
