/* SPDX-License-Identifier: MIT */
/* Words: see word.h. */
#include "word.h"

#include <string.h>
#include <strings.h>

bool word_is(word it, const char *name) {
    return strlen(name) == it.length && strncasecmp(it.text, name, it.length) == 0;
}

bool word_copy(word it, char *text, size_t size) {
    if (it.length >= size || memchr(it.text, '\0', it.length) != NULL) {
        return false;
    }
    memcpy(text, it.text, it.length);
    text[it.length] = '\0';
    return true;
}
