/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *text_room(text_out *out, size_t size) {
    size_t room = out->room;
    if (out->failed || out->room - out->length >= size) {
        return out->failed ? NULL : out->bytes + out->length;
    }
    for (room = room < 256 ? 256 : room; room - out->length < size;) {
        room *= 2;
    }
    char *bytes = realloc(out->bytes, room);
    if (bytes == NULL) {
        out->failed = true;
        return NULL;
    }
    out->bytes = bytes;
    out->room = room;
    return bytes + out->length;
}

void text_add(text_out *out, const char *bytes, size_t size) {
    char *position = size > 0 ? text_room(out, size) : NULL; /* `bytes` may still be NULL */
    if (position != NULL) {
        memcpy(position, bytes, size);
        out->length += size;
    }
}

void text_print(text_out *out, const char *format, ...) {
    va_list words;
    char *position = text_room(out, 1001);
    if (position == NULL) {
        return;
    }
    va_start(words, format);
    int length = vsnprintf(position, 1001, format, words);
    va_end(words);
    out->length += length < 0 ? 0 : length > 1000 ? 1000 : (size_t)length;
}
