/* SPDX-License-Identifier: MIT */
/* Integers taken from the store in blocks and written as they come. Does not know how an integer is
 * written. */
#ifndef FIRN_BLOCKS_H
#define FIRN_BLOCKS_H

#include "command.h"

/* Writes what belongs in the place of an integer. A FIRN_E code. */
typedef int block_put(session *s, void *context, int64_t value, firn_error *error);

/* start= applies to a new key: a note if the next integer is beyond it. An exit status. */
int blocks_note_start(session *s, firn_segment *range, int64_t start);

/* Takes `count` integers, at most `most` at a time, each block written only when the store has
 * granted it; shows progress, stops at a signal. An exit status. */
int blocks_take(session *s, firn_segment *range, int64_t count, int64_t most, block_put *put,
                void *context);

#endif
