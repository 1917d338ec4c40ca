/* SPDX-License-Identifier: MIT */
/* Errors: names and sentences from the list of firn.h, and the filling in of a firn_error. */
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
        char text[sizeof error->text]; /* an argument may point into `error` */
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, 201, format, arguments);
        va_end(arguments);
        for (char *c = text; *c != '\0'; c++) {
            if ((unsigned char)*c < ' ' || *c == 127) {
                *c = '?'; /* one line, with any arguments */
            }
        }
        memcpy(error->text, text, sizeof text);
        error->code = code;
    }
    return code;
}

int firn__refuse(firn_error *error, const char *text, size_t length, size_t at, const char *why) {
    if (length == 0) {
        return firn__fail(error, FIRN_ETEXT, "the text is empty: %s", why);
    }
    if (at >= length) {
        return firn__fail(error, FIRN_ETEXT, "text ends after %zu character%s: %s", length,
                          length == 1 ? "" : "s", why);
    }
    char shown[5];
    unsigned char c = (unsigned char)text[at];
    snprintf(shown, sizeof shown, c >= ' ' && c <= '~' ? "%c" : "\\x%02x", c);
    return firn__fail(error, FIRN_ETEXT, "character %zu of %zu is '%s': %s", at + 1, length, shown,
                      why);
}
