/* SPDX-License-Identifier: MIT */
/* A secret key where the name of a file or a setting belongs: errors do not quote such a text. */
#ifndef FIRN_SECRET_TEXT_H
#define FIRN_SECRET_TEXT_H

#include <stdbool.h>
#include <string.h>

enum { FIRN__SECRET_DIGITS = 32 }; /* of the shortest key */

/* Has the text hex digits in a row as a key has? */
static inline bool firn__is_secret_text(const char *text) {
    size_t digits = 0;
    for (; *text != '\0' && digits < FIRN__SECRET_DIGITS; text++) {
        digits = strchr("0123456789abcdefABCDEF", *text) != NULL ? digits + 1 : 0;
    }
    return digits == FIRN__SECRET_DIGITS;
}

/* The same for the last part of a path. */
static inline bool firn__is_secret_path(const char *path) {
    const char *slash = strrchr(path, '/');
    return firn__is_secret_text(slash != NULL ? slash : path);
}

#endif
