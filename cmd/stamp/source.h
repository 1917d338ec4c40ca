/* SPDX-License-Identifier: MIT */
/* A file or standard input as one long text that is read in order, in constant memory: a window
 * that moves on, and grows for a record that does not fit. Knows bytes, not records. */
#ifndef FIRN_SOURCE_H
#define FIRN_SOURCE_H

#include "command.h"

#include <sys/stat.h>

enum { SOURCE_SIZE = 1 << 20, SOURCE_MOST = 64 << 20 }; /* of the window, bytes */

typedef struct record_source {
    const char *name; /* for people */
    int file;
    bool regular;       /* the file can be read twice, and has a length: */
    struct stat before; /* when it was opened */
    off_t began;        /* where reading starts */
    char *buffer;
    size_t size;       /* of the buffer */
    size_t start, end; /* what is in it and was not used yet */
    bool ended;        /* the input has ended */
    uint64_t read;     /* bytes so far */
} record_source;

/* A path, or - for standard input. FIRN_EIO, FIRN_EMEMORY. */
int source_open(record_source *in, const char *path, firn_error *error);
/* Appends to the unread bytes, at least a byte unless the input has ended. FIRN_EIO; FIRN_ETEXT:
 * the window holds SOURCE_MOST bytes already; FIRN_EUNKNOWN: a signal came. */
int source_more(record_source *in, firn_error *error);
/* Adds the whole content to a digest; of a regular file, and before anything is read. */
typedef void source_visit(void *context, const void *bytes, size_t size);
int source_scan(record_source *in, source_visit *visit, void *context, firn_error *error);
/* Of a regular file: reads it from its beginning again. FIRN_EIO. */
int source_again(record_source *in, firn_error *error);
/* Of a regular file: FIRN_EIO when it is not what it was when it was opened. */
int source_unchanged(const record_source *in, firn_error *error);
void source_close(record_source *in);

static inline const char *source_text(const record_source *in) {
    return in->buffer + in->start;
}
static inline size_t source_length(const record_source *in) {
    return in->end - in->start;
}

#endif
