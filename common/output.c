/* SPDX-License-Identifier: MIT */
/* Prints no error; main.c reports output->error at the end. */
#include "output.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool output_dead(const output *out) {
    return out->gone || out->error != 0;
}

/* Returns how many bytes the next write takes: all; into a pipe at most PIPE_BUF, as whole lines.
 * Several processes may write to a pipe, which keeps only PIPE_BUF bytes of a write together. */
static size_t piece(const output *out, int file, size_t done) {
    struct stat about;
    size_t left = out->length - done, length = left;
    if (left <= PIPE_BUF || fstat(file, &about) != 0 || !S_ISFIFO(about.st_mode)) {
        return left;
    }
    for (length = PIPE_BUF; length > 0 && out->buffer[done + length - 1] != '\n';) {
        length--;
    }
    return length > 0 ? length : left;
}

void output_flush(output *out) {
    int file = out->file > 0 ? out->file : STDOUT_FILENO;
    size_t done = 0;
    while (done < out->length && !output_dead(out)) {
        if (out->stop != NULL && out->stop()) {
            out->gone = true;
            break;
        }
        ssize_t written = write(file, out->buffer + done, piece(out, file, done));
        if (written >= 0) {
            done += (size_t)written;
        } else if (errno == EPIPE) {
            out->gone = true;
        } else if (errno != EINTR) { /* a signal does not stop this batch */
            out->error = errno;
        }
    }
    out->length = 0;
}

char *output_room(output *out) {
    if (out->length > OUTPUT_SIZE) {
        output_flush(out);
    }
    return out->buffer + out->length;
}

void output_bytes(output *out, const void *bytes, size_t size) {
    const char *position = bytes;
    while (size > 0) {
        size_t part = size < OUTPUT_ROOM ? size : OUTPUT_ROOM;
        memcpy(output_room(out), position, part);
        out->length += part;
        position += part;
        size -= part;
    }
}

void output_text(output *out, const char *text) {
    output_bytes(out, text, strlen(text));
}

void output_print(output *out, const char *format, ...) {
    char *room = output_room(out);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(room, OUTPUT_ROOM, format, arguments);
    va_end(arguments);
    if (length > 0) {
        out->length += (size_t)length < OUTPUT_ROOM ? (size_t)length : OUTPUT_ROOM - 1;
    }
}

/* Columns of a text, without escape sequences of colours. */
static size_t columns_of(const char *text) {
    size_t columns = 0;
    for (; *text != '\0'; text++) {
        if (*text == '\033') {
            text += strcspn(text, "m");
        } else {
            columns++;
        }
        if (*text == '\0') {
            break;
        }
    }
    return columns;
}

void output_wrap(output *out, const char *lead, size_t indent, const char *text) {
    enum { WIDTH = 80 };
    size_t column = columns_of(lead);
    bool first = true; /* of the line: a word that is too long gets its own line */
    output_text(out, lead);
    for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
        size_t length = strcspn(text, " ");
        if (!first && column + 1 + length > WIDTH) {
            output_bytes(out, "\n", 1);
            if (indent > 0) {
                output_pad(out, 0, indent);
            }
            column = indent;
            first = true;
        }
        output_bytes(out, " ", !first);
        output_bytes(out, text, length);
        column += !first + length;
        first = false;
        text += length;
    }
    output_bytes(out, "\n", 1);
}

void output_pad(output *out, size_t column, size_t wanted) {
    do {
        output_bytes(out, " ", 1);
    } while (++column < wanted);
}
