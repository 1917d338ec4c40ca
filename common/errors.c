/* SPDX-License-Identifier: MIT */
#include "errors.h"

#include <firn/firn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void make_plain(char *text) {
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ' || *text == 127) {
            *text = '?';
        }
    }
}

int set_error(firn_error *error, int code, const char *format, ...) {
    char text[sizeof error->text]; /* arguments may point into `error` */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    make_plain(text);
    memcpy(error->text, text, sizeof text);
    error->code = code;
    return code;
}

const char *did_you_mean(char out[ADVICE_SIZE], const char *near, const char *otherwise) {
    snprintf(out, ADVICE_SIZE, near != NULL ? "did you mean `%s`?" : "%s",
             near != NULL ? near : otherwise);
    return out;
}

int out_of_memory(firn_error *error) {
    return set_error(error, FIRN_EMEMORY, "out of memory: raise the memory limit of this process");
}

/* ---- exit statuses --------------------------------------------------------------------------- */

/* One line per code of FIRN_ERRORS. */
#define STATUSES(X)                                                                                \
    X(USAGE, STATUS_USAGE)                                                                         \
    X(RANGE, STATUS_NO)                                                                            \
    X(LAYOUT, STATUS_NO)                                                                           \
    X(TEXT, STATUS_NO)                                                                             \
    X(MISMATCH, STATUS_NO)                                                                         \
    X(NAMESPACE, STATUS_USAGE)                                                                     \
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
    X(SYSTEM, STATUS_IO)                                                                           \
    X(BACK, STATUS_STORE)

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
