/* SPDX-License-Identifier: MIT */
/* A file as lines, in a buffer of the caller that moves on. Knows no text. */
#ifndef FIRN_LINE_WINDOW_H
#define FIRN_LINE_WINDOW_H

#include <firn/firn.h>

#include <stdbool.h>
#include <stddef.h>

enum { LINE_SIZE = 4096 }; /* longest line and its zero */

typedef struct line_window {
    int file;
    size_t start, end; /* what is read and was not used yet */
    bool ended;        /* nothing follows */
    bool cut;          /* the present line is too long, and its beginning is gone */
    bool begun;        /* a byte order mark was looked for */
    char *buffer;
    size_t size; /* above LINE_SIZE */
} line_window;

/* A note, once, if the file is standard input and a terminal: the command waits for somebody who
 * types. */
void note_terminal(int file);
/* The name of an input for people: a path, or - for standard input. */
const char *input_name(const char *name);
/* FIRN_EIO: it cannot be read, for the reason in errno. */
int input_failed(const char *name, firn_error *error);
/* Opens an input and forgets what was read of another one. False: errno says why. */
bool window_open(line_window *in, const char *name);
void window_close(line_window *in);
/* Appends to the unread bytes, which move to the front. False: errno says why. */
bool window_fill(line_window *in);
/* Fills the window. A FIRN_E code. */
typedef int window_more(void *context, firn_error *error);
/* The next line without its end, the first one without a byte order mark of UTF-8, after which
 * there is a spare byte; *text is NULL after the last one. FIRN_ETEXT for a line that is too long,
 * which is skipped, or has a zero byte; codes of `more`. */
int window_line(line_window *in, window_more *more, void *context, char **text, size_t *length,
                firn_error *error);

#endif
