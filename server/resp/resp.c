/* SPDX-License-Identifier: MIT */
#include "resp.h"

#include "core/decimal.h"
#include "core/text_view.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const resp_limits resp_limits_client = {RESP_WORDS_MAX, RESP_BULK_MAX, RESP_SKIPPED_MAX,
                                        RESP_COMMAND_MAX};
/* Enough for HELLO 3 AUTH user token SETNAME name. */
const resp_limits resp_limits_unauthenticated = {8, 1024, 8, 4096};

/* ---- reader ---------------------------------------------------------------------------------- */

static enum resp_state bad(resp_command *out, const char *trouble) {
    out->trouble = trouble;
    return RESP_BAD;
}

static enum resp_state more(resp_command *out, size_t size) {
    if (size > RESP_COMMAND_MAX) { /* larger ones are never buffered */
        return bad(out, "command too large");
    }
    out->size = size;
    return RESP_MORE;
}

/* Reads "*12\r\n" at *position and advances it. Only digits, no padding. A number above `most` is refused
 * before all digits have arrived. */
static enum resp_state read_head(resp_command *out, const char *bytes, size_t length,
                                 size_t *position, char mark, size_t most, const char *trouble,
                                 size_t *value) {
    size_t i = *position, number = 0, digits = 0;
    if (i == length) {
        return more(out, length + 1);
    }
    if (bytes[i++] != mark) {
        /* resp_read has checked for '*' */
        return bad(out, "expected '$': a command is a flat array of bulk strings");
    }
    for (; i < length && bytes[i] >= '0' && bytes[i] <= '9'; i++, digits++) {
        number = number * 10 + (size_t)(bytes[i] - '0');
        if (number > most || (digits > 0 && bytes[*position + 1] == '0')) {
            return bad(out, trouble);
        }
    }
    if (i < length && (digits == 0 || bytes[i] != '\r')) {
        return bad(out, trouble);
    }
    if (i + 1 < length && bytes[i + 1] != '\n') {
        return bad(out, trouble);
    }
    if (i + 1 >= length) {
        return more(out, length + 1);
    }
    *position = i + 2;
    *value = number;
    return RESP_COMMAND;
}

static enum resp_state read_array(resp_command *out, const char *bytes, size_t length,
                                  const resp_limits *limits) {
    size_t position = 0, count = 0;
    static const char trouble[] = "invalid multibulk length";
    size_t most = limits->skipped > limits->words ? limits->skipped : limits->words;
    out->count = 0;
    out->is_long = false;
    if (length > 1 && bytes[1] == '-') { /* as an empty one */
        position = 1;
        enum resp_state state =
            read_head(out, bytes, length, &position, '-', RESP_BULK_MAX, trouble, &count);
        out->size = state == RESP_COMMAND ? position : out->size;
        return state;
    }
    enum resp_state state = read_head(out, bytes, length, &position, '*', most, trouble, &count);
    out->is_long = count > limits->words;
    for (size_t i = 0; state == RESP_COMMAND && i < count; i++) {
        size_t size = 0;
        state = read_head(out, bytes, length, &position, '$', limits->bulk, "invalid bulk length",
                          &size);
        if (state != RESP_COMMAND) {
            break;
        }
        if (position + size + 2 > RESP_COMMAND_MAX) {
            return bad(out, "command too large");
        }
        if (length > position + size && bytes[position + size] != '\r') {
            return bad(out, "expected CR LF after a bulk string");
        }
        if (length > position + size + 1 && bytes[position + size + 1] != '\n') {
            return bad(out, "expected CR LF after a bulk string");
        }
        if (length < position + size + 2) {
            return more(out, length <= position + size ? position + size + 1 : length + 1);
        }
        if (i < limits->words) {
            out->words[i] = (word){bytes + position, size};
            out->count = i + 1;
        }
        position += size + 2;
    }
    if (state == RESP_COMMAND) {
        out->size = position;
    }
    return state;
}

static int hex_digit(char c) {
    return isxdigit((unsigned char)c) == 0  ? -1
           : isdigit((unsigned char)c) != 0 ? c - '0'
                                            : tolower((unsigned char)c) - 'a' + 10;
}

/* The character after a backslash in ""; advances `position` to its last byte. */
static char read_escape(const char **position, const char *end) {
    static const char names[] = "nrtba", values[] = "\n\r\t\b\a";
    const char *c = *position;
    if (*c == 'x' && end - c > 2 && hex_digit(c[1]) >= 0 && hex_digit(c[2]) >= 0) {
        *position += 2;
        return (char)(hex_digit(c[1]) << 4 | hex_digit(c[2]));
    }
    const char *name = memchr(names, *c, sizeof names - 1);
    return name == NULL ? *c : values[name - names];
}

static bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0';
}

/* Reads a word with quotes from *position, writes it at *put. False: unbalanced quotes, or a character
 * right after a closing one. */
static bool read_quoted(const char **position, const char *end, char **put) {
    const char *c = *position;
    char quote = 0;
    for (; c < end && (quote != 0 || !is_blank(*c)); c++) {
        if (quote == 0 && (*c == '"' || *c == '\'')) {
            quote = *c;
        } else if (quote != 0 && *c == quote) {
            quote = 0;
            if (c + 1 < end && !is_blank(c[1])) {
                return false;
            }
        } else if (quote == '"' && *c == '\\' && c + 1 < end) {
            c++;
            *(*put)++ = read_escape(&c, end);
        } else if (quote == '\'' && *c == '\\' && c + 1 < end && c[1] == '\'') {
            *(*put)++ = *++c;
        } else {
            *(*put)++ = *c;
        }
    }
    *position = c;
    return quote == 0;
}

/* An inline command, ended by LF or CR LF, as people type with nc. */
static enum resp_state read_line(resp_command *out, const char *bytes, size_t length,
                                 const resp_limits *limits) {
    size_t most = length < RESP_INLINE_MAX ? length : RESP_INLINE_MAX;
    const char *end = memchr(bytes, '\n', most), *position = bytes;
    if ((unsigned char)*bytes < ' ' && !is_blank(*bytes)) {
        return bad(out, "neither a command nor text: does the client use TLS on a plain port?");
    }
    if (end == NULL) {
        return most < RESP_INLINE_MAX ? more(out, length + 1) : bad(out, "too big inline request");
    }
    char *put = out->line;
    out->is_long = false;
    out->count = 0;
    out->size = (size_t)(end - bytes) + 1;
    for (;;) {
        while (position < end && is_blank(*position)) {
            position++;
        }
        if (position == end) {
            return RESP_COMMAND;
        }
        char *text = put;
        if (!read_quoted(&position, end, &put)) {
            return bad(out, "unbalanced quotes in request");
        }
        if ((size_t)(put - text) > limits->bulk) {
            return bad(out, "too big inline request");
        }
        if (out->count == limits->words) {
            out->is_long = true; /* its line ends the command */
            continue;
        }
        out->words[out->count++] = (word){text, (size_t)(put - text)};
    }
}

enum resp_state resp_read(resp_command *out, const char *bytes, size_t length,
                          const resp_limits *limits) {
    assert(length > 0);
    assert(limits->words <= RESP_WORDS_MAX && limits->bulk <= RESP_BULK_MAX);
    assert(limits->size <= RESP_COMMAND_MAX);
    out->is_inline = *bytes != '*';
    enum resp_state state = out->is_inline ? read_line(out, bytes, length, limits)
                                           : read_array(out, bytes, length, limits);
    return state != RESP_BAD && out->size > limits->size ? bad(out, "command too large") : state;
}

/* ---- writer ---------------------------------------------------------------------------------- */

#define HEAD_SIZE 24 /* a type, a number and CR LF; numbers are written eight bytes at a time */

void resp_out_free(resp_out *out) {
    free(out->text);
    *out = (resp_out){.version = out->version};
}

/* Room for `size` more bytes; NULL, and failed: too long, or out of memory. */
static char *room_for(resp_out *out, size_t size) {
    if (out->failed) {
        return NULL;
    }
    if (size > out->room - out->length) {
        size_t room = out->room < 4096 ? 4096 : out->room;
        while (room - out->length < size && room <= RESP_OUT_MAX) {
            room *= 2;
        }
        char *text = room <= RESP_OUT_MAX ? realloc(out->text, room) : NULL;
        if (text == NULL) {
            out->failed = true;
            return NULL;
        }
        out->text = text;
        out->room = room;
    }
    return out->text + out->length;
}

void resp_raw(resp_out *out, const void *bytes, size_t length) {
    char *position = room_for(out, length);
    if (position != NULL) {
        memcpy(position, bytes, length);
        out->length += length;
    }
}

static char *write_end(char *position) {
    *position++ = '\r';
    *position++ = '\n';
    return position;
}

static char *write_head(char *position, char mark, int64_t value) {
    *position++ = mark;
    if (value < 0) {
        *position++ = '-';
    }
    position += decimal_write(position, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
    return write_end(position);
}

/* The head of a value of `parts` values. */
static void head(resp_out *out, char mark, int64_t value, int64_t parts) {
    out->whole += 1 - parts;
    char *position = room_for(out, HEAD_SIZE + 4);
    if (position != NULL) {
        out->length = (size_t)(write_head(position, mark, value) - out->text);
    }
}

static void line(resp_out *out, char mark, const char *text) {
    size_t length = strlen(text);
    out->whole++;
    char *position = room_for(out, length + 3);
    if (position != NULL) {
        *position++ = mark;
        memcpy(position, text, length);
        out->length = (size_t)(write_end(position + length) - out->text);
    }
}

/* Writes a line of valid UTF-8. */
static char *write_escaped(char *position, const char *text) {
    static const char hex[] = "0123456789abcdef";
    size_t length = strlen(text);
    for (size_t i = 0, size; i<length; i += size> 0 ? size : 1) {
        unsigned char c = (unsigned char)text[i];
        size = firn__utf8_size(text + i, length - i);
        if (size > 1 || (size == 1 && c >= ' ' && c != 127)) {
            memcpy(position, text + i, size);
            position += size;
        } else if (c == '\r' || c == '\n') {
            *position++ = ' ';
        } else {
            *position++ = '\\';
            *position++ = 'x';
            *position++ = hex[c >> 4];
            *position++ = hex[c & 15];
        }
    }
    return position;
}

void resp_status(resp_out *out, const char *text) {
    line(out, '+', text);
}

void resp_error(resp_out *out, const char *code, const char *text) {
    size_t length = strlen(code);
    out->whole++;
    char *position = room_for(out, length + 4 * strlen(text) + 4);
    if (position != NULL) {
        *position++ = '-';
        memcpy(position, code, length);
        position += length;
        *position++ = ' ';
        out->length = (size_t)(write_end(write_escaped(position, text)) - out->text);
    }
}

void resp_integer(resp_out *out, int64_t value) {
    head(out, ':', value, 0);
}

void resp_bulk(resp_out *out, const char *text, size_t length) {
    out->whole++;
    char *position = room_for(out, HEAD_SIZE + 4 + length + 2);
    if (position != NULL) {
        position = write_head(position, '$', (int64_t)length);
        memcpy(position, text, length);
        out->length = (size_t)(write_end(position + length) - out->text);
    }
}

void resp_text(resp_out *out, const char *text) {
    resp_bulk(out, text, strlen(text));
}

void resp_page(resp_out *out, const char *text, size_t length) {
    if (out->version != 3) {
        resp_bulk(out, text, length);
        return;
    }
    head(out, '=', (int64_t)length + 4, 0);
    char *position = room_for(out, length + 6);
    if (position != NULL) {
        memcpy(position, "txt:", 4);
        memcpy(position + 4, text, length);
        out->length = (size_t)(write_end(position + 4 + length) - out->text);
    }
}

void resp_null(resp_out *out) {
    line(out, out->version == 3 ? '_' : '$', out->version == 3 ? "" : "-1");
}

void resp_switch(resp_out *out, bool value) {
    if (out->version == 3) {
        line(out, '#', value ? "t" : "f");
    } else {
        resp_integer(out, value);
    }
}

void resp_double(resp_out *out, double value) {
    char text[32];
    snprintf(text, sizeof text, "%.15g", value);
    if (isnan(value) || isinf(value)) {
        strcpy(text, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    }
    if (out->version == 3) {
        line(out, ',', text);
    } else {
        resp_text(out, text);
    }
}

void resp_array(resp_out *out, size_t parts) {
    head(out, '*', (int64_t)parts, (int64_t)parts);
}

void resp_set(resp_out *out, size_t parts) {
    head(out, out->version == 3 ? '~' : '*', (int64_t)parts, (int64_t)parts);
}

void resp_map(resp_out *out, size_t pairs) {
    int64_t parts = (int64_t)pairs * 2;
    if (out->version == 3) {
        head(out, '%', (int64_t)pairs, parts);
    } else {
        head(out, '*', parts, parts);
    }
}

void resp_json(resp_out *out, json_t *value) {
    const char *key;
    json_t *part;
    size_t i;
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        resp_map(out, json_object_size(value));
        json_object_foreach(value, key, part) {
            resp_text(out, key);
            resp_json(out, part);
        }
        break;
    case JSON_ARRAY:
        resp_array(out, json_array_size(value));
        json_array_foreach(value, i, part) {
            resp_json(out, part);
        }
        break;
    case JSON_STRING:
        resp_bulk(out, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
        resp_integer(out, json_integer_value(value));
        break;
    case JSON_REAL:
        resp_double(out, json_real_value(value));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        resp_switch(out, json_is_true(value));
        break;
    default:
        resp_null(out);
    }
}

void resp_integers(resp_out *out, int64_t first, int64_t increment, size_t count) {
    out->whole += (int64_t)count;
    char *position = room_for(out, count * (HEAD_SIZE + 4));
    if (position == NULL) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        position = write_head(position, ':', first + (int64_t)i * increment);
    }
    out->length = (size_t)(position - out->text);
}

/* Numbers of 19 digits, as most IDs of 63 bits, take 26 bytes each: `$19`, CR LF and eleven digits
 * are equal for 10^8 consecutive numbers, so they are computed once and copied; eight digits and CR
 * LF follow. Returns how many it wrote: it stops at the first of another length. */
#define LONG_LEAST UINT64_C(1000000000000000000)

static size_t write_long(char *position, const uint64_t *numbers, size_t count, bool is_signed) {
    uint64_t most = is_signed ? INT64_MAX : UINT64_C(9999999999999999999);
    char same[16] = "$19\r\n";
    uint64_t base = 0;
    size_t i = 0;
    for (; i < count && numbers[i] >= LONG_LEAST && numbers[i] <= most; i++, position += 26) {
        uint64_t rest = numbers[i] - base;
        if (rest >= 100000000) { /* also if below the base */
            char digits[HEAD_SIZE];
            rest = numbers[i] % 100000000;
            base = numbers[i] - rest;
            decimal_write(digits, base / 100000000);
            memcpy(same + 5, digits, 11);
        }
        memcpy(position, same, 16);
        decimal_eight(position + 16, (uint32_t)rest);
        memcpy(position + 24, "\r\n", 2);
    }
    return i;
}

static char *write_number_bulk(char *position, uint64_t number, bool is_signed) {
    char digits[HEAD_SIZE + 1];
    size_t length = decimal_write_signed(digits, number, is_signed);
    position = write_head(position, '$', (int64_t)length);
    memcpy(position, digits, length);
    return write_end(position + length);
}

void resp_numbers(resp_out *out, const uint64_t *numbers, size_t count, bool is_signed) {
    out->whole += (int64_t)count;
    char *position = room_for(out, count * 28 + HEAD_SIZE);
    for (size_t i = 0; position != NULL && i < count;) {
        size_t run = write_long(position, numbers + i, count - i, is_signed);
        i += run;
        position += run * 26;
        if (i < count) {
            position = write_number_bulk(position, numbers[i++], is_signed);
        }
        out->length = (size_t)(position - out->text);
    }
}

/* Room for four digits of length is kept before the text, which is moved if fewer are needed. */
#define BEGIN_SIZE 7

char *resp_begin(resp_out *out, size_t most) {
    assert(most <= 9999);
    char *position = room_for(out, BEGIN_SIZE + most + HEAD_SIZE);
    return position == NULL ? NULL : position + BEGIN_SIZE;
}

void resp_end(resp_out *out, char *text, size_t length) {
    out->whole++;
    char digits[HEAD_SIZE], *position = out->text + out->length;
    size_t of_digits = decimal_write(digits, length);
    memmove(position + 1 + of_digits + 2, text, length);
    *position++ = '$';
    memcpy(position, digits, of_digits);
    out->length = (size_t)(write_end(write_end(position + of_digits) + length) - out->text);
}
