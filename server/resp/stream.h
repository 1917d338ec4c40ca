/* SPDX-License-Identifier: MIT */
/* The rest of a large reply: its IDs are issued, and written a slice at a time, so that other
 * connections are served in between. */
#ifndef FIRN_STREAM_H
#define FIRN_STREAM_H

#include "commands.h"

typedef struct resp_stream resp_stream;

/* Is the reply large enough? */
bool stream_is_large(const client_question *ask, const server_reply *reply);
/* Writes the beginning of the reply and takes over its IDs. NULL: out of memory, nothing is
 * written. */
resp_stream *stream_begin(const client_question *ask, const server_reply *reply, resp_out *out);
/* IDs that are not written yet; NULL: 0. */
size_t stream_left(const resp_stream *stream);
/* Writes the next slice. True: it was the last. */
bool stream_write(resp_stream *stream, resp_out *out);
/* NULL: does nothing. */
void stream_free(resp_stream *stream);

#endif
