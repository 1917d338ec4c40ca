/* SPDX-License-Identifier: MIT */
/* How a firn_error is filled in: the library and its modules, which use nothing of each other, both
 * include this file. It reads formats, and never a text. */
#ifndef FIRN_ERROR_TEXT_H
#define FIRN_ERROR_TEXT_H

#include <firn/firn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* In a format: the value and the limit of the error. The marks are not written. */
#define FIRN__VALUE(format) "\1" format "\1"
#define FIRN__LIMIT(format) "\2" format "\2"

/* A format without its marks. Places are bytes of it; 0 means none, so marks are one higher. */
typedef struct firn__plan {
    char format[512];
    size_t length;
    size_t cure;       /* where ": " and the cure begin */
    size_t mark[2][2]; /* begin and end of value and limit */
} firn__plan;

static inline const char *firn__cure_words(int cure) {
    switch (cure) {
#define FIRN_X(name, value, words)                                                                 \
    case (value):                                                                                  \
        return words;
        FIRN_CURES(FIRN_X)
#undef FIRN_X
    default:
        return NULL;
    }
}

static inline void firn__plan_read(firn__plan *plan, const char *format, int cure) {
    const char *words = cure != FIRN_CURE_OTHER ? firn__cure_words(cure) : NULL;
    *plan = (firn__plan){.length = 0};
    for (; *format != '\0' && plan->length < sizeof plan->format - 1; format++) {
        if (*format == '\1' || *format == '\2') {
            size_t *mark = plan->mark[*format - 1];
            mark[mark[0] != 0] = plan->length + 1;
            continue;
        }
        if (format[0] == ':' && format[1] == ' ') {
            plan->cure = plan->length;
        }
        plan->format[plan->length++] = *format;
    }
    if (plan->cure == 0 && words != NULL) {
        plan->cure = plan->length;
        snprintf(plan->format + plan->length, sizeof plan->format - plan->length, ": %s", words);
    }
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wsuggest-attribute=format" /* PostgreSQL's flags ask for it */
#endif

/* How many bytes the first `length` bytes of the format write. */
static inline size_t firn__plan_measure(const firn__plan *plan, size_t length, va_list arguments) {
    char format[sizeof plan->format];
    va_list again;
    memcpy(format, plan->format, length);
    format[length] = '\0';
    va_copy(again, arguments);
    int written = vsnprintf(NULL, 0, format, again);
    va_end(again);
    return written > 0 ? (size_t)written : 0;
}

/* Writes a text of any length and returns its length, or room - 1 if it is longer than that. */
static inline size_t firn__plan_write(const firn__plan *plan, char *text, size_t room,
                                      va_list arguments) {
    va_list again;
    text[0] = '\0';
    va_copy(again, arguments);
    (void)vsnprintf(text, room, plan->format, again);
    va_end(again);
    char *end = text;
    for (; *end != '\0'; end++) {
        if ((unsigned char)*end < ' ' || *end == 127) {
            *end = '?'; /* one line, with any arguments */
        }
    }
    return (size_t)(end - text);
}

#pragma GCC diagnostic pop

/* A span of the text between two marks, unless it is beyond `end`. */
static inline firn_span firn__plan_span(const firn__plan *plan, const size_t mark[2], size_t end,
                                        va_list arguments) {
    size_t position = mark[1] != 0 ? firn__plan_measure(plan, mark[0] - 1, arguments) : end;
    size_t stop = mark[1] != 0 ? firn__plan_measure(plan, mark[1] - 1, arguments) : end;
    return stop > position && stop <= end
               ? (firn_span){(uint16_t)position, (uint16_t)(stop - position)}
               : (firn_span){0, 0};
}

/* Where a text may be cut at or before `position`: not inside a character of UTF-8. */
static inline size_t firn__character(const char *text, size_t position) {
    while (position > 0 && ((unsigned char)text[position] & 0xC0) == 0x80) {
        position--;
    }
    return position;
}

/* Puts `text` into the error. Where it is too long, "..." takes the place of the end of the
 * cause: the cure stays whole. Returns how many bytes of the beginning are as they were. */
static inline size_t firn__error_put(firn_error *error, const char *text, size_t length,
                                     size_t cure) {
    size_t most = sizeof error->text - 1, intact = length;
    if (length > most) {
        size_t tail = cure < length && length - cure < most / 2 ? length - cure : 0;
        intact = firn__character(text, most - tail - 3);
        memcpy(error->text, text, intact);
        memcpy(error->text + intact, "...", 3);
        memcpy(error->text + intact + 3, text + length - tail, tail);
        error->text[intact + 3 + tail] = '\0';
        error->cure_at = tail > 0 ? (uint16_t)(intact + 5) : 0;
        return intact;
    }
    memcpy(error->text, text, length);
    error->text[length] = '\0';
    error->cure_at = cure < length ? (uint16_t)(cure + 2) : 0;
    return intact;
}

static inline void firn__error_write(firn_error *error, int code, int cure, const char *format,
                                     va_list arguments) {
    char text[1024]; /* an argument may point into `error` */
    firn__plan plan;
    firn__plan_read(&plan, format, cure);
    size_t length = firn__plan_write(&plan, text, sizeof text, arguments);
    size_t end = plan.cure != 0 ? firn__plan_measure(&plan, plan.cure, arguments) : length;
    firn_error made = {.code = code};
    size_t intact = firn__error_put(&made, text, length, end);
    made.value = firn__plan_span(&plan, plan.mark[0], intact, arguments);
    made.limit = firn__plan_span(&plan, plan.mark[1], intact, arguments);
    made.cure = (uint16_t)(made.cure_at == 0 || cure != 0 ? cure : FIRN_CURE_OTHER);
    *error = made;
}

#endif
