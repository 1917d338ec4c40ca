/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "replies.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* How many bytes were read: none when the end is not there yet. */
enum { MORE = 0, BROKEN = -1 };

static ptrdiff_t broken(load_replies *replies, const char *what, const char *text, size_t length) {
    int shown = length < 100 ? (int)length : 100;
    snprintf(replies->trouble, sizeof replies->trouble, "%s: %.*s", what, shown, text);
    return BROKEN;
}

static void take(load_replies *replies, const char *text, size_t length) {
    replies->ids++;
    if (replies->take != NULL) {
        replies->take(replies->self, text, length);
    }
}

/* Something is whole: a reply, or an element of an array, which may be its last one. */
static void finish_one(load_replies *replies) {
    while (replies->depth > 0) {
        if (--replies->missing[replies->depth - 1] > 0) {
            return;
        }
        replies->depth--;
    }
    replies->whole++;
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

static ptrdiff_t read_bulk(load_replies *replies, const char *text, size_t length, size_t line) {
    uint64_t size = 0;
    if (!read_length(text + 1, line - 3, &size)) {
        return broken(replies, "no string", text, line - 2);
    }
    if (size > REST_SIZE || length < line + size + 2) {
        return size > REST_SIZE ? broken(replies, "a string that is too long", text, line - 2)
                                : MORE;
    }
    if (memcmp(text + line + size, "\r\n", 2) != 0) {
        return broken(replies, "a string does not end where it should", text, line + size);
    }
    take(replies, text + line, size);
    finish_one(replies);
    return (ptrdiff_t)(line + size + 2);
}

static ptrdiff_t read_array(load_replies *replies, const char *text, size_t line) {
    uint64_t count = 0;
    if (!read_length(text + 1, line - 3, &count) || replies->depth == DEPTH_MAX) {
        return broken(replies, "no array", text, line - 2);
    }
    if (count == 0) {
        finish_one(replies);
    } else {
        replies->missing[replies->depth++] = count;
    }
    return (ptrdiff_t)line;
}

/* A line, or a string with its line before it. */
static ptrdiff_t read_resp(load_replies *replies, const char *text, size_t length) {
    const char *end = memchr(text, '\n', length);
    if (end == NULL) {
        return MORE;
    }
    size_t line = (size_t)(end - text) + 1;
    if (line < 3 || end[-1] != '\r') {
        return broken(replies, "not a RESP line", text, line);
    }
    switch (text[0]) {
    case ':':
        take(replies, text + 1, line - 3);
        finish_one(replies);
        return (ptrdiff_t)line;
    case '+':
        finish_one(replies);
        return (ptrdiff_t)line;
    case '$':
        return read_bulk(replies, text, length, line);
    case '*':
        return read_array(replies, text, line);
    default:
        return broken(replies, text[0] == '-' ? "an error" : "no reply", text, line - 2);
    }
}

/* An HTTP reply with a body of one ID per line. */
static ptrdiff_t read_http(load_replies *replies, const char *text, size_t length) {
    static const char good[] = "HTTP/1.1 200 ", name[] = "\r\nContent-Length: ";
    const char *end = memmem(text, length, "\r\n\r\n", 4);
    if (end == NULL) {
        return MORE;
    }
    size_t head = (size_t)(end - text) + 4;
    if (head < sizeof good || memcmp(text, good, sizeof good - 1) != 0) {
        return broken(replies, "no 200", text, strcspn(text, "\r"));
    }
    const char *field = memmem(text, head, name, sizeof name - 1);
    uint64_t size = 0;
    const char *value = field == NULL ? text : field + sizeof name - 1;
    if (!read_length(value, strcspn(value, "\r"), &size) || size > REST_SIZE) {
        return broken(replies, "no Content-Length", text, strcspn(text, "\r"));
    }
    if (length < head + size) {
        return MORE;
    }
    for (const char *position = text + head, *stop = position + size; position < stop;) {
        const char *line = memchr(position, '\n', (size_t)(stop - position));
        line = line == NULL ? stop : line;
        take(replies, position, (size_t)(line - position));
        position = line + 1;
    }
    replies->whole++;
    return (ptrdiff_t)(head + size);
}

bool replies_read(load_replies *replies, const char *bytes, size_t length) {
    size_t position = 0;
    while (position < length) {
        ptrdiff_t took = replies->is_http ? read_http(replies, bytes + position, length - position)
                                          : read_resp(replies, bytes + position, length - position);
        if (took == BROKEN) {
            return false;
        }
        if (took == MORE) {
            break;
        }
        position += (size_t)took;
    }
    replies->rest = length - position;
    if (replies->rest > REST_SIZE) {
        return broken(replies, "a reply that is too long", bytes + position, 40) != BROKEN;
    }
    return true;
}
