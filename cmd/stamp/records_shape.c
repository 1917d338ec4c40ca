/* SPDX-License-Identifier: MIT */
/* The shape of a JSON line: see records_shape.h. */
#include "records_shape.h"

#include "bytes.h"

#include <jansson.h>

enum { NUMBER_MOST = 300 }; /* characters: 10^300 is still a double, for jansson refuses 10^309 */

/* ---- the walk over accepted text ------------------------------------------------------------ */

const char *shape_skip_blank(const char *at) {
    while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n') {
        at++;
    }
    return at;
}

const char *shape_skip_string(const char *at) {
    for (at++; *at != '"'; at++) {
        at += *at == '\\';
    }
    return at + 1;
}

const char *shape_skip_word(const char *at) {
    while (strchr(",}] \t\r\n", *at) == NULL) {
        at++;
    }
    return at;
}

/* ---- learning ------------------------------------------------------------------------------- */

/* Behind the value at `at` if it is a scalar, else `at`. What a colon follows is a name. */
static const char *skip_scalar(const char *at) {
    if (*at == '"') {
        const char *end = shape_skip_string(at);
        return *shape_skip_blank(end) == ':' ? at : end;
    }
    return strchr("{}[],: \t\r\n", *at) == NULL ? shape_skip_word(at) : at;
}

bool shape_learn(shape *of, const char *line, size_t size, piece values[SHAPE_VALUES]) {
    const char *at = line, *end = line + size;
    const char *close = end - 1; /* the last bracket: no walk leads beyond it */
    size_t length = 0;
    of->count = 0;
    while (close > line && *close != '}') {
        close--;
    }
    size_t count = 0;
    while (at < end) {
        const char *next = at < close ? skip_scalar(at) : at;
        if (next > at) {
            if (count == SHAPE_VALUES) {
                return false;
            }
            of->end[count] = (uint16_t)length;
            values[count++] = (piece){at, (size_t)(next - at)};
            at = next;
            continue;
        }
        next = at < close && *at == '"' ? shape_skip_string(at) : at + 1;
        if (length + (size_t)(next - at) > SHAPE_TEXT) {
            return false;
        }
        memcpy(of->text + length, at, (size_t)(next - at));
        length += (size_t)(next - at);
        at = next;
    }
    of->end[count] = (uint16_t)length;
    of->count = count;
    return count > 0;
}

/* ---- matching ------------------------------------------------------------------------------- */

/* The first byte that is not a plain character of a string: a quote, a backslash, a control
 * character or a part of UTF-8; or `end`. */
static const char *skip_plain(const char *at, const char *end, const char *limit) {
    while (limit - at >= BYTES_STEP) {
        const bytes all = bytes_load(at);
        const bytes sign = bytes_or(bytes_equal(all, '"'), bytes_equal(all, '\\'));
        uint64_t marks = bytes_marks(bytes_or(bytes_or(bytes_below(all, ' '), sign), all));
        if (marks != 0) {
            at += bytes_first(marks);
            return at < end ? at : end;
        }
        at += BYTES_STEP;
    }
    while (at < end && *at >= ' ' && *at < 127 && *at != '"' && *at != '\\') {
        at++;
    }
    return at < end ? at : end;
}

/* Behind a string that jansson accepts, or NULL. */
static const char *skip_judged(const char *at, const char *end) {
    const char *close = at + 1;
    while (close < end && *close != '"') {
        close += *close == '\\' ? 2 : 1;
    }
    if (close >= end) {
        return NULL;
    }
    json_t *string =
        json_loadb(at, (size_t)(close - at) + 1, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    bool valid = json_is_string(string);
    json_decref(string);
    return valid ? close + 1 : NULL;
}

static const char *skip_digits(const char *at, const char *end) {
    while (at < end && *at >= '0' && *at <= '9') {
        at++;
    }
    return at;
}

/* The end of a number such as -12.50, or NULL: not a number, or jansson must check it. */
static const char *skip_number(const char *at, const char *end) {
    const char *first = at + (at < end && *at == '-'), *next = skip_digits(first, end);
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
    return next - at <= NUMBER_MOST ? next : NULL;
}

static const char *skip_value(const char *at, const char *end, const char *limit) {
    static const char *const words[] = {"true", "false", "null"};
    if (*at == '"') {
        const char *close = skip_plain(at + 1, end, limit);
        return close < end && *close == '"' ? close + 1 : skip_judged(at, end);
    }
    for (size_t i = 0; *at >= 'a' && i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(end - at) >= length && memcmp(at, words[i], length) == 0) {
            return at + length;
        }
    }
    return skip_number(at, end);
}

bool shape_match(const shape *of, const char *line, size_t size, const char *limit,
                 piece values[SHAPE_VALUES]) {
    const char *at = line, *end = line + size, *text = of->text;
    for (size_t i = 0;; i++) {
        size_t length = (size_t)(of->text + of->end[i] - text);
        if ((size_t)(end - at) < length || memcmp(at, text, length) != 0) {
            return false;
        }
        at += length;
        text += length;
        if (i == of->count || at == end) {
            return i == of->count && at == end;
        }
        const char *next = skip_value(at, end, limit);
        if (next == NULL) {
            return false;
        }
        values[i] = (piece){at, (size_t)(next - at)};
        at = next;
    }
}
