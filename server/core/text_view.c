/* SPDX-License-Identifier: MIT */
#include "text_view.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

bool word_is_same(word a, word b) {
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

bool word_is(word it, const char *name) {
    return strlen(name) == it.length && strncasecmp(it.text, name, it.length) == 0;
}

bool word_is_in(word it, const char *const *names) {
    while (*names != NULL && !word_is(it, *names)) {
        names++;
    }
    return *names != NULL;
}

bool word_copy(word it, char *text, size_t size) {
    if (it.length >= size || memchr(it.text, '\0', it.length) != NULL) {
        return false;
    }
    memcpy(text, it.text, it.length);
    text[it.length] = '\0';
    return true;
}

size_t utf8_size(const char *text, size_t length) {
    const unsigned char *at = (const unsigned char *)text;
    size_t size = at[0] < 0x80   ? 1
                  : at[0] < 0xc2 ? 0
                  : at[0] < 0xe0 ? 2
                  : at[0] < 0xf0 ? 3
                  : at[0] < 0xf5 ? 4
                                 : 0;
    for (size_t i = 1; i < size; i++) {
        if (i >= length || (at[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool overlong = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
    bool beyond = (at[0] == 0xed && at[1] >= 0xa0) || (at[0] == 0xf4 && at[1] >= 0x90);
    return overlong || beyond ? 0 : size;
}
