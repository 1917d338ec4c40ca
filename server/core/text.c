/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *text_room(text_out *to, size_t size) {
    size_t room = to->room;
    if (to->failed || to->room - to->length >= size) {
        return to->failed ? NULL : to->bytes + to->length;
    }
    for (room = room < 256 ? 256 : room; room - to->length < size;) {
        room *= 2;
    }
    char *bytes = realloc(to->bytes, room);
    if (bytes == NULL) {
        to->failed = true;
        return NULL;
    }
    to->bytes = bytes;
    to->room = room;
    return bytes + to->length;
}

void text_add(text_out *to, const char *bytes, size_t size) {
    char *at = size > 0 ? text_room(to, size) : NULL; /* `bytes` may still be NULL */
    if (at != NULL) {
        memcpy(at, bytes, size);
        to->length += size;
    }
}

void text_print(text_out *to, const char *format, ...) {
    va_list words;
    char *at = text_room(to, 1001);
    if (at == NULL) {
        return;
    }
    va_start(words, format);
    int length = vsnprintf(at, 1001, format, words);
    va_end(words);
    to->length += length < 0 ? 0 : length > 1000 ? 1000 : (size_t)length;
}
