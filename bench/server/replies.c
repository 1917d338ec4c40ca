/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "replies.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* How many bytes were read: none when the end is not there yet. */
enum { MORE = 0, BROKEN = -1 };

static ptrdiff_t broken(replies *it, const char *what, const char *text, size_t length) {
    int shown = length < 100 ? (int)length : 100;
    snprintf(it->trouble, sizeof it->trouble, "%s: %.*s", what, shown, text);
    return BROKEN;
}

static void take(replies *it, const char *text, size_t length) {
    it->ids++;
    if (it->take != NULL) {
        it->take(it->self, text, length);
    }
}

/* Something is whole: a reply, or an element of an array, which may be its last one. */
static void finish_one(replies *it) {
    while (it->depth > 0) {
        if (--it->missing[it->depth - 1] > 0) {
            return;
        }
        it->depth--;
    }
    it->whole++;
}

/* A decimal number up to the line's end; false: not a number, or below 0. */
static bool read_length(const char *text, size_t length, uint64_t *out) {
    uint64_t value = 0;
    if (length == 0 || length > 18) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned char)text[i] - (unsigned)'0';
        if (digit > 9) {
            return false;
        }
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

static ptrdiff_t read_bulk(replies *it, const char *text, size_t length, size_t line) {
    uint64_t size = 0;
    if (!read_length(text + 1, line - 3, &size)) {
        return broken(it, "no string", text, line - 2);
    }
    if (size > REST_SIZE || length < line + size + 2) {
        return size > REST_SIZE ? broken(it, "a string that is too long", text, line - 2) : MORE;
    }
    if (memcmp(text + line + size, "\r\n", 2) != 0) {
        return broken(it, "a string does not end where it should", text, line + size);
    }
    take(it, text + line, size);
    finish_one(it);
    return (ptrdiff_t)(line + size + 2);
}

static ptrdiff_t read_array(replies *it, const char *text, size_t line) {
    uint64_t count = 0;
    if (!read_length(text + 1, line - 3, &count) || it->depth == DEPTH_MAX) {
        return broken(it, "no array", text, line - 2);
    }
    if (count == 0) {
        finish_one(it);
    } else {
        it->missing[it->depth++] = count;
    }
    return (ptrdiff_t)line;
}

/* A line, or a string with its line before it. */
static ptrdiff_t read_resp(replies *it, const char *text, size_t length) {
    const char *end = memchr(text, '\n', length);
    if (end == NULL) {
        return MORE;
    }
    size_t line = (size_t)(end - text) + 1;
    if (line < 3 || end[-1] != '\r') {
        return broken(it, "not a RESP line", text, line);
    }
    switch (text[0]) {
    case ':':
        take(it, text + 1, line - 3);
        finish_one(it);
        return (ptrdiff_t)line;
    case '+':
        finish_one(it);
        return (ptrdiff_t)line;
    case '$':
        return read_bulk(it, text, length, line);
    case '*':
        return read_array(it, text, line);
    default:
        return broken(it, text[0] == '-' ? "an error" : "no reply", text, line - 2);
    }
}

/* An HTTP reply with a body of one ID per line. */
static ptrdiff_t read_http(replies *it, const char *text, size_t length) {
    static const char good[] = "HTTP/1.1 200 ", name[] = "\r\nContent-Length: ";
    const char *end = memmem(text, length, "\r\n\r\n", 4);
    if (end == NULL) {
        return MORE;
    }
    size_t head = (size_t)(end - text) + 4;
    if (head < sizeof good || memcmp(text, good, sizeof good - 1) != 0) {
        return broken(it, "no 200", text, strcspn(text, "\r"));
    }
    const char *field = memmem(text, head, name, sizeof name - 1);
    uint64_t size = 0;
    const char *value = field == NULL ? text : field + sizeof name - 1;
    if (!read_length(value, strcspn(value, "\r"), &size) || size > REST_SIZE) {
        return broken(it, "no Content-Length", text, strcspn(text, "\r"));
    }
    if (length < head + size) {
        return MORE;
    }
    for (const char *at = text + head, *stop = at + size; at < stop;) {
        const char *line = memchr(at, '\n', (size_t)(stop - at));
        line = line == NULL ? stop : line;
        take(it, at, (size_t)(line - at));
        at = line + 1;
    }
    it->whole++;
    return (ptrdiff_t)(head + size);
}

bool replies_read(replies *it, const char *bytes, size_t length) {
    size_t at = 0;
    while (at < length) {
        ptrdiff_t took = it->is_http ? read_http(it, bytes + at, length - at)
                                     : read_resp(it, bytes + at, length - at);
        if (took == BROKEN) {
            return false;
        }
        if (took == MORE) {
            break;
        }
        at += (size_t)took;
    }
    it->rest = length - at;
    if (it->rest > REST_SIZE) {
        return broken(it, "a reply that is too long", bytes + at, 40) != BROKEN;
    }
    return true;
}
