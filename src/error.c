/* SPDX-License-Identifier: MIT */
/* Failures: the one list expanded to names and sentences, and the filling of a firn_error.
 * Decides nothing. */
#include "error.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *firn_version(void) {
    return FIRN_VERSION;
}

const char *firn_strerror(int code) {
    switch (code) {
    case FIRN_OK:
        return "done";
#define FIRN_X(name, value, text)                                                                  \
    case (value):                                                                                  \
        return text;
        FIRN_ERRORS(FIRN_X)
#undef FIRN_X
    default:
        return "an unknown error";
    }
}

const char *firn_errname(int code) {
    switch (code) {
    case FIRN_OK:
        return "OK";
#define FIRN_X(name, value, text)                                                                  \
    case (value):                                                                                  \
        return #name;
        FIRN_ERRORS(FIRN_X)
#undef FIRN_X
    default:
        return "?";
    }
}

int firn__fail(firn_error *error, int code, const char *format, ...) {
    if (error != NULL) {
        char text[sizeof error->text]; /* arguments may lie in `error` itself */
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, 201, format, arguments);
        va_end(arguments);
        for (char *c = text; *c != '\0'; c++) {
            if ((unsigned char)*c < ' ' || *c == 127) {
                *c = '?'; /* one line, whatever the caller's text held */
            }
        }
        memcpy(error->text, text, sizeof text);
        error->code = code;
    }
    return code;
}

unsigned firn__edits(const char *a, const char *b) {
    unsigned row[32];
    size_t length = strlen(b);
    if (length > 31 || strlen(a) > 31) {
        return 99;
    }
    for (unsigned j = 0; j <= length; j++) {
        row[j] = j;
    }
    for (unsigned i = 1; a[i - 1] != '\0'; i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= length; j++) {
            unsigned best = diagonal + (tolower((unsigned char)a[i - 1]) != b[j - 1]);
            if (row[j] + 1 < best) {
                best = row[j] + 1;
            }
            if (row[j - 1] + 1 < best) {
                best = row[j - 1] + 1;
            }
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[length];
}

const char *firn__nearest(const char *name, const char *const *names) {
    const char *nearest = NULL;
    unsigned least = 99;
    for (; *names != NULL; names++) {
        unsigned distance = firn__edits(name, *names);
        if (distance < least) {
            least = distance;
            nearest = *names;
        }
    }
    return nearest != NULL && least <= 2 + strlen(nearest) / 4 && least < strlen(nearest) ? nearest
                                                                                          : NULL;
}
