/* SPDX-License-Identifier: MIT */
/* Failures and notes on standard error, and the table from the library's codes to exit
 * statuses. Decides nothing about going on or stopping. */
#include "command.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* One line for each code of FIRN_ERRORS; the names are checked below. */
#define STATUSES(X)                                                                                \
    X(USAGE, STATUS_USAGE)                                                                         \
    X(RANGE, STATUS_NO)                                                                            \
    X(LAYOUT, STATUS_NO)                                                                           \
    X(TEXT, STATUS_NO)                                                                             \
    X(MISMATCH, STATUS_NO)                                                                         \
    X(ROW, STATUS_USAGE)                                                                           \
    X(BUSY, STATUS_BUSY)                                                                           \
    X(EXHAUSTED, STATUS_BUSY)                                                                      \
    X(WINDOW, STATUS_BUSY)                                                                         \
    X(CLOCK, STATUS_CLOCK)                                                                         \
    X(STORE, STATUS_STORE)                                                                         \
    X(UNKNOWN, STATUS_STORE)                                                                       \
    X(FORKED, STATUS_BUSY)                                                                         \
    X(CLONED, STATUS_BUSY)                                                                         \
    X(ENTROPY, STATUS_IO)                                                                          \
    X(MEMORY, STATUS_IO)                                                                           \
    X(IO, STATUS_IO)                                                                               \
    X(UNSORTED, STATUS_USAGE)                                                                      \
    X(SYSTEM, STATUS_IO)

#define ONE(...) +1
_Static_assert((0 STATUSES(ONE)) == (0 FIRN_ERRORS(ONE)), "each code of the library has a status");
#undef ONE

int status_of(int code) {
    switch (code) {
    case FIRN_OK:
        return STATUS_DONE;
#define CASE(name, status)                                                                         \
    case FIRN_E##name:                                                                             \
        return status;
        STATUSES(CASE)
#undef CASE
    default:
        return STATUS_IO;
    }
}

/* Written at once, so that lines of several processes do not mix. */
void tell(const char *lead, const char *text) {
    char line[512];
    int length = snprintf(line, sizeof line - 1, "%s%s", lead, text);
    size_t size = length < 0 ? 0 : (size_t)length;
    if (size > sizeof line - 2) {
        size = sizeof line - 2;
    }
    line[size] = '\0';
    make_plain(line);
    line[size] = '\n';
    if (write(STDERR_FILENO, line, size + 1) < 0) {
        return; /* nowhere left to say so */
    }
}

int fail(session *s, const firn_error *error) {
    output_flush(&s->out);
    tell("firn: ", error->text);
    return status_of(error->code);
}

int fail_usage(session *s, const char *format, ...) {
    firn_error error = {FIRN_EUSAGE, ""};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error.text, sizeof error.text, format, arguments);
    va_end(arguments);
    return fail(s, &error);
}

int argument_code(int code, firn_error *error) {
    if (code == FIRN_ETEXT) {
        code = FIRN_EUSAGE;
        error->code = code;
    }
    return code;
}

void tell_note(void *self, const char *text) {
    session *s = self;
    output_flush(&s->out);
    tell("firn: note: ", text);
}

/* ---- nearest names -------------------------------------------------------------------------- */

/* Edits (insert, delete, change, swap of neighbours) between two words of at most 31
 * characters. */
static size_t edits(const char *a, const char *b) {
    size_t rows[3][32];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    size_t length = strlen(b);
    if (length > 31 || strlen(a) > 31) {
        return 99;
    }
    for (size_t j = 0; j <= length; j++) {
        above[j] = j;
    }
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
            best = above[j] + 1 < best ? above[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < best) {
                best = before[j - 2] + 1;
            }
            row[j] = best;
        }
        size_t *free_row = before;
        before = above;
        above = row;
        row = free_row;
    }
    return above[length];
}

const char *nearest(const char *name, const char *const *names) {
    const char *found = NULL;
    size_t least = 99;
    for (; *names != NULL; names++) {
        size_t distance = edits(name, *names);
        if (distance < least) {
            least = distance;
            found = *names;
        }
    }
    return found != NULL && least <= 1 + strlen(found) / 3 && least < strlen(name) ? found : NULL;
}
