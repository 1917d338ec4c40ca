/* SPDX-License-Identifier: MIT */
/* A piece of text that lies in somebody else's buffer, without an end of its own. */
#ifndef FIRN_WORD_H
#define FIRN_WORD_H

#include <stdbool.h>
#include <stddef.h>

typedef struct word {
    const char *text;
    size_t length;
} word;

/* Letter case aside, as commands and their options are written. */
bool word_is(word it, const char *name);
/* Copies it with a zero behind; false: it is longer than `size` - 1, or holds a zero. */
bool word_copy(word it, char *text, size_t size);
/* The length for "%.*s" in a message, which need not hold all of what a client said. */
static inline int word_shown(word it) {
    return (int)(it.length < 60 ? it.length : 60);
}

/* The bytes of the character at `text`, 1..4, or 0: there is no valid one within `length` >= 1 bytes. Reads
 * no byte after the first that is not part of the character. */
size_t utf8_size(const char *text, size_t length);

#endif
