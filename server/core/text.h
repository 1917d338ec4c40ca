/* SPDX-License-Identifier: MIT */
/* A text that grows as it is written. Out of memory it stays as it is and says so. */
#ifndef FIRN_TEXT_H
#define FIRN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct text_out {
    char *bytes; /* malloc's; no zero behind them */
    size_t length, room;
    bool failed;
} text_out;

/* Room for `size` more bytes after the end; NULL: out of memory. */
char *text_room(text_out *to, size_t size);
void text_add(text_out *to, const char *bytes, size_t size);
/* At most 1000 bytes at once. */
void text_print(text_out *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
