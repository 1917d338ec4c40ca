/* SPDX-License-Identifier: MIT */
/* Lists in a text: "a, b, c". Cut where the room ends. */
#ifndef FIRN_JOIN_H
#define FIRN_JOIN_H

#include <stddef.h>

/* Appends to a text, which is zero-terminated and has room for `size` bytes, after `between` unless
 * it is empty. */
void text_join(char *text, size_t size, const char *between, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
