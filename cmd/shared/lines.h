/* SPDX-License-Identifier: MIT */
/* Streams: a piece of work done for each operand, or for each line of standard input, in
 * constant memory. Knows lines and what a bad one means, not what is in them. */
#ifndef FIRN_LINES_H
#define FIRN_LINES_H

#include "command.h"
#include "line_window.h"

/* Writes what belongs in the place of `text`, or fails and writes nothing. A FIRN_E code. */
typedef int line_work(session *s, void *context, const char *text, size_t length,
                      firn_error *error);

/* For `count` words, or the lines of standard input when `words` is NULL; stops at the first
 * failure unless --keep-going. An exit status. */
int lines_do(session *s, char **words, size_t count, line_work *work, void *context);

/* For a line_work: the i-th word or line after the current one, from 0, zero-terminated and without
 * its end, valid until the next call. False: the end, or not completely read. */
bool lines_ahead(size_t i, const char **text);

#endif
