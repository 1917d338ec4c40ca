/* SPDX-License-Identifier: MIT */
/* Standard output through one buffer, flushed when it is full, before waiting for input, and at the
 * end. The caller flushes only IDs whose reservation is durable. */
#ifndef FIRN_OUTPUT_H
#define FIRN_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

enum { OUTPUT_SIZE = 1 << 18, OUTPUT_ROOM = 2048 };

/* Zero: writes to standard output. */
typedef struct output {
    size_t length;
    int file;  /* another descriptor, or 0 */
    bool gone; /* the reader closed the pipe, or `stop` was true: not an error */
    int error; /* errno of the failed write, or 0 */
    bool (*stop)(
        void); /* drop what the reader does not take? Asked before and after each write; NULL:
                           never */
    char buffer[OUTPUT_SIZE + OUTPUT_ROOM];
} output;

/* Room for at least OUTPUT_ROOM bytes; the caller adds the bytes used to `length`. */
char *output_room(output *out);
void output_bytes(output *out, const void *bytes, size_t size);
void output_text(output *out, const char *text);
/* At most OUTPUT_ROOM - 1 bytes; longer text is cut. */
void output_print(output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A paragraph: `lead`, then `text` in lines of at most 80 columns; continuation lines are indented
 * by `indent`. Ends the line. */
void output_wrap(output *out, const char *lead, size_t indent, const char *text);
/* Spaces up to column `wanted`, at least one; `column` is the present one. */
void output_pad(output *out, size_t column, size_t wanted);
void output_flush(output *out);
/* Has the output failed or been closed? */
bool output_dead(const output *out);

#endif
