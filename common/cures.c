/* SPDX-License-Identifier: MIT */
/* Cures in the words of the command, the server and PostgreSQL, which the library does not know. */
#include "errors.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const words[][SURFACE_COUNT] = {
#define CURE(name, command, server, postgres) [FIRN_CURE_##name] = {command, server, postgres},
#include "cures.def"
#undef CURE
};

const char *cure_words(int cure, enum surface surface) {
    return cure > 0 && (size_t)cure < sizeof words / sizeof *words ? words[cure][surface] : NULL;
}

void replace_cure(firn_error *error, const char *format, ...) {
    char cure[sizeof error->text];
    const firn_error was = *error;
    const int length = was.cure_at > 0 ? was.cure_at - 2 : (int)strlen(was.text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(cure, sizeof cure, format, arguments);
    va_end(arguments);
    firn_error_set(error, was.code, was.cure, "%.*s: %s", length, was.text, cure);
    error->value = was.value;
    error->limit = was.limit;
}

void translate_error(firn_error *error, enum surface surface) {
    static const char hole[] = "{value}";
    const char *text = cure_words(error->cure, surface);
    const char *position = text != NULL ? strstr(text, hole) : NULL;
    if (text == NULL || error->cure_at == 0) {
        return;
    }
    if (position == NULL) {
        replace_cure(error, "%s", text);
        return;
    }
    const size_t length = error->cure_at + strlen(text) - (sizeof hole - 1) + error->value.length;
    if (error->value.length > 0 && length < sizeof error->text) { /* or the library's words stay */
        char value[sizeof error->text];
        snprintf(value, sizeof value, "%.*s", error->value.length, error->text + error->value.at);
        replace_cure(error, "%.*s%s%s", (int)(position - text), text, value,
                     position + sizeof hole - 1);
    }
}
