/* SPDX-License-Identifier: MIT */
/* The rest of a large reply: its IDs are issued, and written a slice at a time, so that other
 * connections are served in between. */
#ifndef FIRN_STREAM_H
#define FIRN_STREAM_H

#include "commands.h"

typedef struct stream stream;

/* Is the reply large enough? */
bool stream_is_large(const question *ask, const reply *of);
/* Writes the beginning of the reply and takes over its IDs. NULL: out of memory, nothing is
 * written. */
stream *stream_begin(const question *ask, const reply *of, resp_out *out);
/* IDs that are not written yet; NULL: 0. */
size_t stream_left(const stream *it);
/* Writes the next slice. True: it was the last. */
bool stream_write(stream *it, resp_out *out);
/* NULL: does nothing. */
void stream_free(stream *it);

#endif
