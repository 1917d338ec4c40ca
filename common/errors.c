/* SPDX-License-Identifier: MIT */
#include "errors.h"

#include "../src/error_text.h"

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

void set_error_list(firn_error *error, int code, const char *format, va_list arguments) {
    firn__error_write(error, code, FIRN_CURE_NONE, format, arguments);
}

int prefix_error(firn_error *error, int code, const firn_error *why, const char *format, ...) {
    char before[sizeof why->text];
    firn_error from = *why, made;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(before, sizeof before, format, arguments);
    va_end(arguments);
    if (from.cure_at == 0) {
        firn_error_set(&made, code, from.cure, "%s%s", before, from.text);
    } else {
        firn_error_set(&made, code, from.cure, "%s%.*s: %s", before, from.cure_at - 2, from.text,
                       from.text + from.cure_at);
    }
    const size_t length = strlen(before);
    firn_span *spans[] = {&from.value, &from.limit}, *out[] = {&made.value, &made.limit};
    for (int i = 0; i < 2; i++) {
        size_t position = spans[i]->at + length;
        if (spans[i]->length > 0 && position + spans[i]->length < strlen(made.text)) {
            *out[i] = (firn_span){(uint16_t)position, spans[i]->length};
        }
    }
    *error = made;
    return code;
}

int suffix_error(firn_error *error, const char *format, ...) {
    char after[sizeof error->text];
    const size_t length = strlen(error->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(after, sizeof after, format, arguments);
    va_end(arguments);
    make_plain(after);
    if (length + strlen(after) < sizeof error->text) {
        memcpy(error->text + length, after, strlen(after) + 1);
    }
    return error->code;
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
    X(BACK, STATUS_STORE)                                                                          \
    X(TAKEN, STATUS_USAGE)                                                                         \
    X(END, STATUS_NO)                                                                              \
    X(FULL, STATUS_NO)

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
