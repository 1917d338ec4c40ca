/* SPDX-License-Identifier: MIT */
/* Failures: the one list expanded to names and sentences, and the filling of a firn_error.
 * Decides nothing. */
#include "error.h"

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
