/* SPDX-License-Identifier: MIT */
/* A growing text. If memory runs out it keeps what it has and sets `failed`. */
#ifndef FIRN_TEXT_H
#define FIRN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct text_out {
    char *bytes; /* from malloc, without a terminator */
    size_t length, room;
    bool failed;
} text_out;

/* Room for `size` more bytes after the end; NULL: out of memory. */
char *text_room(text_out *out, size_t size);
void text_add(text_out *out, const char *bytes, size_t size);
/* At most 1000 bytes per call. */
void text_print(text_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
