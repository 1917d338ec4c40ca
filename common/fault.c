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
    char text[sizeof error->text]; /* arguments may be in `error` itself */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    make_plain(text);
    memcpy(error->text, text, sizeof text);
    error->code = code;
    return code;
}
