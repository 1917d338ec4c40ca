/* SPDX-License-Identifier: MIT */
/* Errors: names and sentences from the lists of firn.h, and the filling in of a firn_error. */
#include "error.h"

#include "error_text.h"

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

const char *firn_curename(int cure) {
    switch (cure) {
    case FIRN_CURE_NONE:
        return "NONE";
#define FIRN_X(name, value, words)                                                                 \
    case (value):                                                                                  \
        return #name;
        FIRN_CURES(FIRN_X)
#undef FIRN_X
    default:
        return "?";
    }
}

int firn_error_set(firn_error *error, int code, int cure, const char *format, ...) {
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        firn__error_write(error, code, cure, format, arguments);
        va_end(arguments);
    }
    return code;
}

int firn__repeat(const firn_error *why, firn_error *error) {
    if (error != NULL) {
        *error = *why;
    }
    return why->code;
}

int firn__refuse(firn_error *error, const char *text, size_t length, size_t position,
                 const char *why) {
    if (length == 0) {
        return firn__fail(error, FIRN_ETEXT, "the text is empty: %s", why);
    }
    if (position >= length) {
        return firn__fail(error, FIRN_ETEXT,
                          "text ends after " FIRN__VALUE("%zu") " character%s: %s", length,
                          length == 1 ? "" : "s", why);
    }
    char shown[5];
    unsigned char c = (unsigned char)text[position];
    snprintf(shown, sizeof shown, c >= ' ' && c <= '~' ? "%c" : "\\x%02x", c);
    return firn__fail(error, FIRN_ETEXT, "character %zu of %zu is '" FIRN__VALUE("%s") "': %s",
                      position + 1, length, shown, why);
}
