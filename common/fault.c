/* SPDX-License-Identifier: MIT */
/* An error's text, made: see fault.h. */
#include "fault.h"

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
    char text[sizeof error->text]; /* arguments may lie in `error` itself */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    make_plain(text);
    memcpy(error->text, text, sizeof text);
    error->code = code;
    return code;
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
