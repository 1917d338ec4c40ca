/* SPDX-License-Identifier: MIT */
/* A piece of text in a buffer owned by something else, without a terminator. */
#ifndef FIRN_TEXT_VIEW_H
#define FIRN_TEXT_VIEW_H

#include "../src/utf8.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct word {
    const char *text;
    size_t length;
} word;

static inline word word_of(const char *text) {
    return (word){text, strlen(text)};
}
bool word_is_same(word a, word b);
/* Ignores letter case. */
bool word_is(word text, const char *name);
/* Is the word among the names, which end with NULL? */
bool word_is_in(word text, const char *const *names);
/* Copies it with a terminator; false: longer than `size` - 1, or it contains a zero byte. */
bool word_copy(word value, char *text, size_t size);
/* Copies a word to look a name up, as an error shows it: cut to `size` > 0, with ? for zero bytes.
 * No name has a ?, and each is shorter than `size`, so the text is a name only if the word is it.
 * Returns `text`. */
const char *word_named(word value, char *text, size_t size);
/* The length for "%.*s" in an error. */
static inline int word_shown(word text) {
    return (int)(text.length < 60 ? text.length : 60);
}

/* Does the text begin with a blank, a control character or a character without a form? False for
 * bytes that are not UTF-8. */
bool utf8_is_hidden(const char *text, size_t length);

#endif
