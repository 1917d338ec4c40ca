/* SPDX-License-Identifier: MIT */
#include "join.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void text_join(char *text, size_t size, const char *between, const char *format, ...) {
    va_list arguments;
    size_t length = strlen(text);
    if (length > 0) {
        snprintf(text + length, size - length, "%s", between);
        length = strlen(text);
    }
    va_start(arguments, format);
    vsnprintf(text + length, size - length, format, arguments);
    va_end(arguments);
}
