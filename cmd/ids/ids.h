/* SPDX-License-Identifier: MIT */
/* IDs in and out: read from text by what fits, written in a form. Pure, except for the output; how
 * IDs are issued is in new.c, how they are written as objects in object.h of common/. */
#ifndef FIRN_IDS_H
#define FIRN_IDS_H

#include "command.h"
#include "reading.h"

/* How IDs are written: a form, and typeid's prefix. */
typedef struct id_writer {
    const firn_scheme *scheme;
    int form;
    size_t width; /* 0: ask the text */
    size_t prefix_length;
    char prefix[72]; /* with its _ */
} id_writer;

/* By --as and prefix=, else the scheme's own form. An exit status. */
int writer_open(session *s, const firn_scheme *scheme, id_writer *writer);
/* typeid's prefix. FIRN_EUSAGE: another form, or not a prefix. */
int writer_prefix(id_writer *writer, const char *prefix, firn_error *error);
/* Writes into `text` (of OUTPUT_ROOM bytes) with a final zero; returns the length. */
size_t writer_format(const id_writer *writer, char *text, const firn_id *id);
/* A line for each of n IDs; with --json an object. */
void writer_put(const id_writer *writer, session *s, const firn_id *ids, size_t n);

/* By --scheme with --epoch and --bits, and --from. An exit status. */
int reader_open(session *s, id_reader *reader);
/* A text that may be decimal or hex: reads ahead in the buffered part of the stream (lines.h) until
 * a line decides. */
void reader_look_ahead(id_reader *reader, const char *text, size_t length);

/* draw.c: the bits of a scheme in boxes of 32 a line, with names, widths and positions. */
void draw_scheme(session *s, const firn_scheme *scheme);

#endif
