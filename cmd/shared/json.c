/* SPDX-License-Identifier: MIT */
/* Objects a line each: see json.h. Decides only what is a number and what a string. */
#include "json.h"

#include "object.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Memory of jansson: the object of a line is released before the next one is made, so nothing has to be
 * searched for. More than fits comes from malloc. */
static struct {
    size_t used, live; /* bytes; allocations that were not released */
    _Alignas(max_align_t) char bytes[1 << 15];
} arena;

static void *take_memory(size_t size) {
    const size_t room = (size + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);
    if (room < size || room > sizeof arena.bytes - arena.used) {
        return malloc(size);
    }
    arena.live++;
    arena.used += room;
    return arena.bytes + arena.used - room;
}

static void release_memory(void *memory) {
    const uintptr_t at = (uintptr_t)memory, from = (uintptr_t)arena.bytes;
    if (at < from || at >= from + sizeof arena.bytes) {
        free(memory);
    } else if (--arena.live == 0) {
        arena.used = 0;
    }
}

void json_begin(void) {
    json_set_alloc_funcs(take_memory, release_memory);
    json_object_seed(1); /* jansson would draw a seed of the system, and reading is pure */
}

/* ---- objects as text ------------------------------------------------------------------------- */

/* The character after the backslash for one that a string must not have; or 0. */
static inline char escape_of(char c) {
    switch (c) {
    case '"':
    case '\\':
        return c;
    case '\b':
        return 'b';
    case '\f':
        return 'f';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    default:
        return '\0';
    }
}

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Not 0: one of eight characters must be quoted. */
static inline uint64_t has_odd(uint64_t text) {
    uint64_t quote = text ^ EACH_BYTE('"'), slash = text ^ EACH_BYTE('\\');
    return (((text - EACH_BYTE(' ')) & ~text) | ((quote - EACH_BYTE(1)) & ~quote) |
            ((slash - EACH_BYTE(1)) & ~slash)) &
           EACH_BYTE(0x80);
}

static inline void put_char(output *out, char c) {
    *output_room(out) = c;
    out->length++;
}

/* What jansson writes with OBJECT_DUMP, without its call for each character; json_string has seen that the
 * text is UTF-8. */
static void put_string(output *out, const char *text, size_t length) {
    enum { PART = OUTPUT_ROOM / 8 }; /* a character becomes six at most */
    const char *end = text + length;
    put_char(out, '"');
    while (text < end) {
        char *room = output_room(out), *at = room;
        const char *until = end - text < PART ? end : text + PART;
        while (text < until) {
            uint64_t word = EACH_BYTE('"');
            if (until - text >= 8) {
                memcpy(&word, text, 8);
            }
            if (has_odd(word) == 0) {
                memcpy(at, &word, 8);
                text += 8;
                at += 8;
                continue;
            }
            const char c = *text++, escape = escape_of(c);
            if (escape != '\0') {
                *at++ = '\\';
                *at++ = escape;
            } else if ((unsigned char)c < ' ') {
                at += sprintf(at, "\\u%04X", (unsigned)(unsigned char)c);
            } else {
                *at++ = c;
            }
        }
        out->length += (size_t)(at - room);
    }
    put_char(out, '"');
}

static bool put_value(output *out, json_t *value);

static bool put_members(output *out, json_t *object) {
    const char *key;
    json_t *member;
    bool done = true, first = true;
    json_object_foreach(object, key, member) {
        put_char(out, first ? '{' : ',');
        put_string(out, key, strlen(key));
        put_char(out, ':');
        done = done && put_value(out, member);
        first = false;
    }
    output_bytes(out, first ? "{}" : "}", first ? 2 : 1);
    return done;
}

static int add_bytes(const char *bytes, size_t size, void *out) {
    output_bytes(out, bytes, size);
    return 0;
}

static bool put_value(output *out, json_t *value) {
    bool done = true;
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return put_members(out, value);
    case JSON_ARRAY:
        put_char(out, '[');
        for (size_t i = 0; i < json_array_size(value); i++) {
            output_bytes(out, ",", i > 0);
            done = done && put_value(out, json_array_get(value, i));
        }
        put_char(out, ']');
        return done;
    case JSON_STRING:
        put_string(out, json_string_value(value), json_string_length(value));
        return true;
    case JSON_INTEGER:
        output_print(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        return true;
    default:
        return json_dump_callback(value, add_bytes, out, OBJECT_DUMP | JSON_ENCODE_ANY) == 0;
    }
}

void json_line(output *out, json_t *object) {
    if (object == NULL || !put_value(out, object)) {
        tell("firn: ", "out of memory: allow the process more memory");
        exit(STATUS_IO);
    }
    output_bytes(out, "\n", 1);
    json_decref(object);
}

/* ---- IDs ------------------------------------------------------------------------------------ */

void json_put_id(output *out, const char *text, const firn_reading *readings, size_t count) {
    json_line(out, object_of_id(text, readings, count));
}

void json_put_text(output *out, const char *text, const firn_reading *readings, id_counts counts,
                   const id_matches *matches, bool all, bool named) {
    json_line(out, object_of_text(text, readings, counts, matches, all, named));
}

void json_put_error(output *out, const firn_error *error) {
    json_line(out, json_pack("{s:o}", "error", json_foreign(error->text)));
}

void json_put_scheme(output *out, const firn_scheme *scheme) {
    json_line(out, object_of_scheme(scheme));
}
