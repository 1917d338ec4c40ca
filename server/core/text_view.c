/* SPDX-License-Identifier: MIT */
#include "text_view.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

bool word_is_same(word a, word b) {
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

bool word_is(word text, const char *name) {
    return strlen(name) == text.length && strncasecmp(text.text, name, text.length) == 0;
}

bool word_is_in(word text, const char *const *names) {
    while (*names != NULL && !word_is(text, *names)) {
        names++;
    }
    return *names != NULL;
}

bool word_copy(word value, char *text, size_t size) {
    if (value.length >= size || memchr(value.text, '\0', value.length) != NULL) {
        return false;
    }
    memcpy(text, value.text, value.length);
    text[value.length] = '\0';
    return true;
}

const char *word_named(word value, char *text, size_t size) {
    const size_t length = value.length < size ? value.length : size - 1;
    memcpy(text, value.text, length);
    text[length] = '\0';
    for (size_t i = 0; i < length; i++) {
        text[i] = text[i] != '\0' ? text[i] : '?';
    }
    return text;
}

/* Blanks, control characters (U+0080..9F too, which some terminals obey), the ends of lines and
 * paragraphs, and characters without a form, such as U+202E, which turns the text after it round:
 * categories Cc, Cf, Zl and Zp of Unicode 15. */
static const struct {
    uint32_t first, last;
} hidden[] = {{0, ' '},           {0x7f, 0xa0},       {0xad, 0xad},       {0x600, 0x605},
              {0x61c, 0x61c},     {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},
              {0x8e2, 0x8e2},     {0x180e, 0x180e},   {0x200b, 0x200f},   {0x2028, 0x202e},
              {0x2060, 0x206f},   {0xfeff, 0xfeff},   {0xfff9, 0xfffb},   {0x110bd, 0x110bd},
              {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
              {0xe0000, 0xe007f}};

bool utf8_is_hidden(const char *text, size_t length) {
    const unsigned char *position = (const unsigned char *)text;
    size_t size = firn__utf8_size(text, length);
    uint32_t code = size <= 1 ? position[0] : position[0] & (0x7fU >> size);
    for (size_t i = 1; i < size; i++) {
        code = code << 6 | (position[i] & 0x3fU);
    }
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden && size > 0; i++) {
        if (code >= hidden[i].first && code <= hidden[i].last) {
            return true;
        }
    }
    return false;
}
