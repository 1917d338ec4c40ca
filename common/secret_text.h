/* SPDX-License-Identifier: MIT */
/* A secret key where the name of a file or a setting belongs: errors do not quote such a text. */
#ifndef FIRN_SECRET_TEXT_H
#define FIRN_SECRET_TEXT_H

#include <stdbool.h>
#include <string.h>

enum { SECRET_DIGITS_LEAST = 32 };

/* Has the text hex digits in a row as a key has? */
static inline bool has_secret_text(const char *text) {
    size_t digits = 0;
    for (; *text != '\0' && digits < SECRET_DIGITS_LEAST; text++) {
        digits = strchr("0123456789abcdefABCDEF", *text) != NULL ? digits + 1 : 0;
    }
    return digits == SECRET_DIGITS_LEAST;
}

#endif
