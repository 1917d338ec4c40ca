/* SPDX-License-Identifier: MIT */
/* Long streams of IDs, one per line, in one form: files or standard input read in batches at tens
 * of millions of IDs per second. Parses lines only. */
#ifndef FIRN_STREAM_H
#define FIRN_STREAM_H

#include "ids/ids.h"
#include "shared/line_window.h"

#include <sys/types.h>

enum { STREAM_BATCH = 256 /* fits the nearest cache */, STREAM_SIZE = 1 << 18, STREAM_SLACK = 64 };
enum { PREFIXES_MAX = 1024 };

typedef struct id_stream {
    id_reader reader;
    bool known; /* the first line decided form and width: */
    int form;
    uint32_t bits;
    size_t lead;                /* 2: each line begins with 0x */
    bool minus;                 /* a number with a minus was read */
    uint64_t fixed[2], must[2]; /* of a named scheme: bits that are constant, and what they are;
                                 * the lower word first */

    bool
        whole; /* set by the caller: `top` of a TypeID is the index of its prefix, and any UUID is one: */
    uint32_t prefix_count, prefix_last; /* the last one that was found */
    char prefixes[PREFIXES_MAX][FIRN_PREFIX_SIZE];

    char **names; /* of files; - is standard input */
    size_t count, index;
    off_t begin;        /* where standard input was at first */
    uint64_t line;      /* how many lines of this file were read */
    uint64_t bad;       /* lines without an ID, of all files */
    firn_error bad_one; /* what was wrong with the first of them */
    bool keep_going;

    line_window window; /* of names[index]; file -1: not open */
    char buffer[STREAM_SIZE + STREAM_SLACK];
} id_stream;

/* A batch: lines that follow each other in one file. */
typedef struct id_batch {
    size_t file;   /* index of its name */
    uint64_t line; /* number of its first line, from 1 */
    size_t count;  /* 0: the stream is at its end */
    firn_id *ids;  /* STREAM_BATCH; an invalid line has 0 bits (only with --keep-going) */
} id_batch;

/* By --scheme, --epoch, --bits, --from, --keep-going; standard input when there is no name. An
 * exit status. */
int stream_open(session *s, id_stream *in, char **names, size_t count);
/* Takes a batch; *stop: the rest is not wanted. A FIRN_E code. */
typedef int stream_take(void *context, const id_batch *batch, bool *stop, firn_error *error);
/* Hands over all batches, and shows progress with a label (NULL: none). A FIRN_E code. */
int stream_each(id_stream *in, const char *label, stream_take *take, void *context,
                firn_error *error);
/* Can all of it be read a second time? */
bool stream_again_possible(id_stream *in);
/* Back to the beginning, as if nothing had been read. FIRN_EIO. */
int stream_again(id_stream *in, firn_error *error);
void stream_close(id_stream *in);
/* `FILE: line 7`, or `line 7` where there is one file only; returns `text`. */
char *stream_place(char text[128], const id_stream *in, size_t file, uint64_t line);
/* A line about the bad lines, if there are any. */
void stream_put_bad(output *out, const id_stream *in);
/* The ID in the form of the stream, a TypeID of `whole` with its prefix; returns `text`. */
char *stream_text(char text[FIRN_TEXT_SIZE + 2], const id_stream *in, const firn_id *id);

#endif
