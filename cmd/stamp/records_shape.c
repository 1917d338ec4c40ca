/* SPDX-License-Identifier: MIT */
/* The shape of a JSON line: see records_shape.h. */
#include "records_shape.h"

#include "bytes.h"

#include <jansson.h>

enum { NUMBER_MOST = 300 }; /* characters: 10^300 is still a double, for jansson refuses 10^309 */

/* ---- the walk over accepted text ------------------------------------------------------------ */

const char *shape_skip_blank(const char *position) {
    while (*position == ' ' || *position == '\t' || *position == '\r' || *position == '\n') {
        position++;
    }
    return position;
}

const char *shape_skip_string(const char *position) {
    for (position++; *position != '"'; position++) {
        position += *position == '\\';
    }
    return position + 1;
}

const char *shape_skip_word(const char *position) {
    while (strchr(",}] \t\r\n", *position) == NULL) {
        position++;
    }
    return position;
}

/* ---- learning ------------------------------------------------------------------------------- */

/* Behind the value at `position` if it is a scalar, else `position`. What a colon follows is a
 * name. */
static const char *skip_scalar(const char *position) {
    if (*position == '"') {
        const char *end = shape_skip_string(position);
        return *shape_skip_blank(end) == ':' ? position : end;
    }
    return strchr("{}[],: \t\r\n", *position) == NULL ? shape_skip_word(position) : position;
}

bool shape_learn(json_shape *shape, const char *line, size_t size,
                 json_piece values[SHAPE_VALUES]) {
    const char *position = line, *end = line + size;
    const char *close = end - 1; /* the last bracket: no walk leads beyond it */
    size_t length = 0;
    shape->count = 0;
    while (close > line && *close != '}') {
        close--;
    }
    size_t count = 0;
    while (position < end) {
        const char *next = position < close ? skip_scalar(position) : position;
        if (next > position) {
            if (count == SHAPE_VALUES) {
                return false;
            }
            shape->end[count] = (uint16_t)length;
            values[count++] = (json_piece){position, (size_t)(next - position)};
            position = next;
            continue;
        }
        next = position < close && *position == '"' ? shape_skip_string(position) : position + 1;
        if (length + (size_t)(next - position) > SHAPE_TEXT) {
            return false;
        }
        memcpy(shape->text + length, position, (size_t)(next - position));
        length += (size_t)(next - position);
        position = next;
    }
    shape->end[count] = (uint16_t)length;
    shape->count = count;
    return count > 0;
}

/* ---- matching ------------------------------------------------------------------------------- */

/* The first byte that is not a plain character of a string: a quote, a backslash, a control
 * character or a part of UTF-8; or `end`. */
static const char *skip_plain(const char *position, const char *end, const char *limit) {
    while (limit - position >= BYTES_STEP) {
        const bytes all = bytes_load(position);
        const bytes sign = bytes_or(bytes_equal(all, '"'), bytes_equal(all, '\\'));
        uint64_t marks = bytes_marks(bytes_or(bytes_or(bytes_below(all, ' '), sign), all));
        if (marks != 0) {
            position += bytes_first(marks);
            return position < end ? position : end;
        }
        position += BYTES_STEP;
    }
    while (position < end && *position >= ' ' && *position < 127 && *position != '"' &&
           *position != '\\') {
        position++;
    }
    return position < end ? position : end;
}

/* Behind a string that jansson accepts, or NULL. */
static const char *skip_judged(const char *position, const char *end) {
    const char *close = position + 1;
    while (close < end && *close != '"') {
        close += *close == '\\' ? 2 : 1;
    }
    if (close >= end) {
        return NULL;
    }
    json_t *string = json_loadb(position, (size_t)(close - position) + 1,
                                JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    bool valid = json_is_string(string);
    json_decref(string);
    return valid ? close + 1 : NULL;
}

static const char *skip_digits(const char *position, const char *end) {
    while (position < end && *position >= '0' && *position <= '9') {
        position++;
    }
    return position;
}

/* The end of a number such as -12.50, or NULL: not a number, or jansson must check it. */
static const char *skip_number(const char *position, const char *end) {
    const char *first = position + (position < end && *position == '-'),
               *next = skip_digits(first, end);
    if (next == first || (*first == '0' && next > first + 1)) {
        return NULL;
    }
    if (next < end && *next == '.') {
        const char *fraction = next + 1;
        next = skip_digits(fraction, end);
        if (next == fraction) {
            return NULL;
        }
    }
    return next - position <= NUMBER_MOST ? next : NULL;
}

static const char *skip_value(const char *position, const char *end, const char *limit) {
    static const char *const words[] = {"true", "false", "null"};
    if (*position == '"') {
        const char *close = skip_plain(position + 1, end, limit);
        return close < end && *close == '"' ? close + 1 : skip_judged(position, end);
    }
    for (size_t i = 0; *position >= 'a' && i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(end - position) >= length && memcmp(position, words[i], length) == 0) {
            return position + length;
        }
    }
    return skip_number(position, end);
}

bool shape_match(const json_shape *shape, const char *line, size_t size, const char *limit,
                 json_piece values[SHAPE_VALUES]) {
    const char *position = line, *end = line + size, *text = shape->text;
    for (size_t i = 0;; i++) {
        size_t length = (size_t)(shape->text + shape->end[i] - text);
        if ((size_t)(end - position) < length || memcmp(position, text, length) != 0) {
            return false;
        }
        position += length;
        text += length;
        if (i == shape->count || position == end) {
            return i == shape->count && position == end;
        }
        const char *next = skip_value(position, end, limit);
        if (next == NULL) {
            return false;
        }
        values[i] = (json_piece){position, (size_t)(next - position)};
        position = next;
    }
}
