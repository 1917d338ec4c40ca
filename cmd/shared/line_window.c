/* SPDX-License-Identifier: MIT */
/* See line_window.h. */
#include "line_window.h"

#include "command.h"
#include "errors.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

void note_terminal(int file) {
    static bool noted;
    if (!noted && file == STDIN_FILENO && isatty(file) == 1) {
        tell("firn: note: ", "reading from the terminal: end with Ctrl-D");
    }
    noted = true;
}

const char *input_name(const char *name) {
    return strcmp(name, "-") == 0 ? "standard input" : name;
}

int input_failed(const char *name, firn_error *error) {
    return set_error(error, FIRN_EIO, "cannot read %.80s: %s: choose a readable file",
                     input_name(name), strerror(errno));
}

bool window_open(line_window *in, const char *name) {
    bool standard = strcmp(name, "-") == 0;
    *in = (line_window){.buffer = in->buffer, .size = in->size};
    in->file = standard ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
    return in->file >= 0;
}

void window_close(line_window *in) {
    if (in->file > STDERR_FILENO) {
        close(in->file);
    }
    in->file = -1;
}

bool window_fill(line_window *in) {
    ssize_t got;
    note_terminal(in->file);
    memmove(in->buffer, in->buffer + in->start, in->end - in->start);
    in->end -= in->start;
    in->start = 0;
    do {
        got = read(in->file, in->buffer + in->end, in->size - in->end);
    } while (got < 0 && errno == EINTR);
    in->ended = got == 0;
    in->end += got > 0 ? (size_t)got : 0;
    return got >= 0;
}

/* Skips a byte order mark, as editors on Windows write one. */
static int skip_mark(line_window *in, window_more *more, void *context, firn_error *error) {
    static const char mark[3] = "\xef\xbb\xbf";
    while (!in->begun) {
        size_t size = in->end - in->start;
        bool is = memcmp(in->buffer + in->start, mark, size < 3 ? size : 3) == 0;
        if (is && size < 3 && !in->ended) {
            int code = more(context, error);
            if (code != FIRN_OK) {
                return code;
            }
            continue;
        }
        in->start += is && size >= 3 ? 3 : 0;
        in->begun = true;
    }
    return FIRN_OK;
}

int window_line(line_window *in, window_more *more, void *context, char **text, size_t *length,
                firn_error *error) {
    int code = skip_mark(in, more, context, error);
    *text = NULL;
    if (code != FIRN_OK) {
        return code;
    }
    for (;;) {
        char *start = in->buffer + in->start;
        size_t size = in->end - in->start;
        char *newline = memchr(start, '\n', size);
        if (newline == NULL && size >= LINE_SIZE) {
            in->cut = true;
            in->start = in->end;
            size = 0;
        }
        if (newline == NULL && !in->ended) {
            code = more(context, error);
            if (code != FIRN_OK) {
                return code;
            }
            continue;
        }
        if (newline == NULL && size == 0 && !in->cut) {
            return FIRN_OK;
        }
        size = newline != NULL ? (size_t)(newline - start) : size;
        in->start += size + (newline != NULL);
        if (in->cut || size >= LINE_SIZE) {
            in->cut = false;
            return set_error(error, FIRN_ETEXT, "the line is longer than %d bytes: shorten it",
                             LINE_SIZE - 1);
        }
        size -= size > 0 && start[size - 1] == '\r';
        if (memchr(start, '\0', size) != NULL) {
            return set_error(error, FIRN_ETEXT,
                             "the line contains a zero byte: send text, as UTF-8 and not UTF-16");
        }
        *text = start;
        *length = size;
        return FIRN_OK;
    }
}
