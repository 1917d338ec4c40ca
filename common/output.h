/* SPDX-License-Identifier: MIT */
/* Standard output through one buffer, flushed when it is full, before waiting for input, and at
 * the end. Knows bytes only; what a line means, and whether its grant is durable, is the
 * caller's affair. */
#ifndef FIRN_OUTPUT_H
#define FIRN_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

enum { OUTPUT_SIZE = 1 << 17, OUTPUT_ROOM = 2048 };

/* The zero value writes to standard output. */
typedef struct output {
    size_t length;
    int file;  /* where to write to instead of standard output, or 0 */
    bool gone; /* the reader has closed the pipe: nothing is left to do, and nothing is wrong */
    int error; /* errno of the write that failed, or 0 */
    char buffer[OUTPUT_SIZE + OUTPUT_ROOM];
} output;

/* Where at least OUTPUT_ROOM bytes may be written; the caller adds to `length` how many were. */
char *output_room(output *out);
void output_bytes(output *out, const void *bytes, size_t size);
void output_text(output *out, const char *text);
/* At most OUTPUT_ROOM - 1 bytes; the rest is cut. */
void output_print(output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A paragraph: `lead`, then `text`, broken at blanks so that no line is wider than 80
 * columns; the lines that follow are indented by `indent`. Ends the line. */
void output_wrap(output *out, const char *lead, size_t indent, const char *text);
/* Spaces up to a column; at least one. `column` counts what the line holds so far. */
void output_pad(output *out, size_t column, size_t wanted);
void output_flush(output *out);
/* Will nothing that is written arrive any more? */
bool output_dead(const output *out);

#endif
