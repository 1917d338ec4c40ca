/* SPDX-License-Identifier: MIT */
/* Streams of words or lines: see lines.h. Output is flushed before input is waited for, so a
 * pipe that trickles is answered at once and one that floods is written in large pieces. */
#include "lines.h"

#include "json.h"
#include "progress.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* The bytes that lines_ahead reads: words, or the beginning of standard input. */
static char buffer[1 << 16]; /* static for its size */
static line_window in = {.file = STDIN_FILENO, .buffer = buffer, .size = sizeof buffer};
static char **words_left;
static size_t words_left_count;

bool lines_ahead(size_t i, const char **text) {
    static char line[LINE_SIZE];
    if (words_left != NULL) {
        *text = i < words_left_count ? words_left[i] : NULL;
        return i < words_left_count;
    }
    static size_t position, next; /* of line i, so that a loop over all lines is one pass */
    position = i == 0 ? in.start : next;
    const char *start = in.buffer + position;
    const char *newline = position < in.end ? memchr(start, '\n', in.end - position) : NULL;
    if (newline == NULL || newline - start >= LINE_SIZE) {
        return false;
    }
    size_t size = (size_t)(newline - start);
    next = position + size + 1;
    size -= size > 0 && start[size - 1] == '\r';
    memcpy(line, start, size);
    line[size] = '\0';
    *text = line;
    return true;
}

static int refill(void *out, firn_error *error) {
    output_flush(out);
    return window_fill(&in)
               ? FIRN_OK
               : set_error(error, FIRN_EIO, "cannot read standard input: %s: redirect a file",
                           strerror(errno));
}

/* The output for a bad line with --keep-going. */
static void write_error(session *s, const firn_error *error) {
    firn_error told = *error;
    translate_error(&told, SURFACE_COMMAND);
    if (s->option[OPTION_JSON] != NULL) {
        json_line(&s->out, json_pack("{s:o}", "error", json_foreign(told.text)));
    } else {
        output_print(&s->out, "error: %s\n", told.text);
    }
}

static int do_words(session *s, char **words, size_t count, line_work *work, void *context) {
    int status = STATUS_DONE;
    for (size_t i = 0; i < count && !output_dead(&s->out); i++) {
        firn_error error;
        words_left = words + i + 1;
        words_left_count = count - i - 1;
        int code = work(s, context, words[i], strlen(words[i]), &error);
        if (code == FIRN_OK) {
            continue;
        }
        if (s->option[OPTION_KEEP_GOING] == NULL) {
            return fail(s, &error);
        }
        write_error(s, &error);
        status = STATUS_NO;
    }
    return status;
}

int lines_do(session *s, char **words, size_t count, line_work *work, void *context) {
    progress shown = {0};
    int status = STATUS_DONE;
    if (words != NULL && !(count == 1 && strcmp(words[0], "-") == 0)) {
        return do_words(s, words, count, work, context);
    }
    for (uint64_t number = 1; !output_dead(&s->out); number++) {
        firn_error error;
        char *text;
        size_t length;
        int code = window_line(&in, refill, &s->out, &text, &length, &error);
        if (code == FIRN_OK && text == NULL) {
            break;
        }
        if (code == FIRN_OK) {
            text[length] = '\0';
            code = work(s, context, text, length, &error);
        }
        if (code != FIRN_OK && (s->option[OPTION_KEEP_GOING] == NULL || code == FIRN_EIO)) {
            progress_end(&shown);
            if (code != FIRN_EIO) {
                prefix_error(&error, code, &error, "line %" PRIu64 ": ", number);
            }
            return fail(s, &error);
        }
        if (code != FIRN_OK) {
            write_error(s, &error);
            status = STATUS_NO;
        }
        if (number % 4096 == 0) {
            progress_show(&shown, (int64_t)number, 0);
        }
    }
    progress_end(&shown);
    return status;
}
