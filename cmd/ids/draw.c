/* SPDX-License-Identifier: MIT */
/* The bits of a scheme in boxes: 32 bits per line, two columns per bit, positions above, names
 * inside. */
#include "ids.h"
#include "shared/color.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BITS = 32, LINE_COLUMNS = LINE_BITS * 2 + 1, INDENT = 2 };

/* The part of a slice in one line of the drawing. */
typedef struct piece {
    uint32_t slice;
    uint32_t high, low; /* positions in the ID, inclusive */
    uint32_t offset;    /* of `low` within the slice */
} piece;

/* Cuts the slices at multiples of 32; at most one more piece a line than slices. */
static size_t cut(piece pieces[FIRN_SLICES_MAX + 8], const firn_scheme *scheme) {
    size_t count = 0;
    uint32_t end = scheme->bits;
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        uint32_t low = end - scheme->slices[i].bits;
        while (end > low) {
            uint32_t edge = (end - 1) / LINE_BITS * LINE_BITS;
            uint32_t from = edge > low ? edge : low;
            pieces[count++] = (piece){i, end - 1, from, from - low};
            end = from;
        }
    }
    return count;
}

/* The text in a box: the longest that fits. */
static void label(char text[64], const firn_scheme *scheme, const piece *part, size_t room) {
    const firn_slice *slice = &scheme->slices[part->slice];
    uint32_t bits = part->high - part->low + 1;
    char ways[3][64] = {"", "", ""};
    if (slice->role == FIRN_ROLE_CONST) {
        snprintf(ways[0], sizeof ways[0], "%s=%" PRIu64, slice->name, slice->value);
        snprintf(ways[1], sizeof ways[1], slice->value < 10 ? "%" PRIu64 : "0x%" PRIx64,
                 slice->value);
        snprintf(ways[2], sizeof ways[2], "%" PRIx64, slice->value);
        if (slice->name[0] == '\0') {
            memcpy(ways[0], ways[1], sizeof ways[0]);
        }
    } else {
        uint32_t low = slice->from + part->offset;
        uint32_t width = firn_scheme_width(scheme, firn_scheme_first(scheme, part->slice));
        if (slice->group > 0) {
            snprintf(ways[0], sizeof ways[0], "%s, mirrored by %u", slice->name, slice->group);
        } else if (bits == width) {
            snprintf(ways[0], sizeof ways[0], "%s:%u", slice->name, bits);
        } else {
            snprintf(ways[0], sizeof ways[0], "%s %u..%u", slice->name, low + bits - 1, low);
        }
        snprintf(ways[1], sizeof ways[1], "%s", slice->name);
        bool marked = room > 4; /* a name that is cut short says so, where there is room for it */
        snprintf(ways[2], sizeof ways[2], "%.*s%s", (int)(room < 60 ? room - 2 * marked : 58),
                 slice->name, marked ? ".." : "");
    }
    for (int i = 0; i < 3; i++) {
        if (strlen(ways[i]) <= room) {
            memcpy(text, ways[i], 64);
            return;
        }
    }
    text[0] = '\0';
}

/* Column of the left edge of a bit; lines shorter than 32 bits are at the right. */
static size_t column_of(uint32_t position) {
    return INDENT + (LINE_BITS - 1 - position % LINE_BITS) * 2;
}

static void put_line(output *out, const char *line, size_t size) {
    while (size > 0 && line[size - 1] == ' ') {
        size--;
    }
    output_bytes(out, line, size);
    output_bytes(out, "\n", 1);
}

/* Positions above the boxes: the first bit of each where there is room, and the last of the
 * line. */
static void put_numbers(output *out, const piece *pieces, size_t count) {
    char line[INDENT + LINE_COLUMNS + 8];
    char number[12];
    size_t used = 0, size;
    memset(line, ' ', sizeof line);
    for (size_t i = 0; i < count; i++) {
        size_t position = column_of(pieces[i].high);
        size = (size_t)snprintf(number, sizeof number, "%" PRIu32, pieces[i].high);
        if (position > used || used == 0) {
            memcpy(line + position, number, size);
            used = position + size;
        }
    }
    size = (size_t)snprintf(number, sizeof number, "%" PRIu32, pieces[count - 1].low);
    size_t position = column_of(pieces[count - 1].low) + 2 - size;
    if (position > used) {
        memcpy(line + position, number, size);
    }
    put_line(out, line, sizeof line);
}

static void put_rule(output *out, const piece *pieces, size_t count) {
    char line[INDENT + LINE_COLUMNS + 8];
    size_t left = column_of(pieces[0].high), right = column_of(pieces[count - 1].low) + 2;
    memset(line, ' ', sizeof line);
    memset(line + left, '-', right - left);
    for (size_t i = 0; i < count; i++) {
        line[column_of(pieces[i].high)] = '+';
    }
    line[right] = '+';
    put_line(out, line, sizeof line);
}

static void put_boxes(session *s, const firn_scheme *scheme, const piece *pieces, size_t count) {
    enum tone tones[FIRN_SLICES_MAX];
    color_fields(tones, scheme);
    output_print(&s->out, "%*s", (int)column_of(pieces[0].high), "");
    for (size_t i = 0; i < count; i++) {
        char text[64];
        size_t room = column_of(pieces[i].low) + 1 - column_of(pieces[i].high);
        label(text, scheme, &pieces[i], room);
        size_t length = strlen(text), left = (room - length) / 2;
        output_print(&s->out, "|%*s%s%s%s%*s", (int)left, "", color_of(s, tones[pieces[i].slice]),
                     text, color_plain(s), (int)(room - length - left), "");
    }
    output_text(&s->out, "|\n");
}

void draw_scheme(session *s, const firn_scheme *scheme) {
    output *out = &s->out;
    piece pieces[FIRN_SLICES_MAX + 8];
    size_t count = cut(pieces, scheme);
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first + 1;
             next < count && pieces[next].high / LINE_BITS == pieces[first].high / LINE_BITS;
             next++) {
        }
        put_numbers(out, pieces + first, next - first);
        put_rule(out, pieces + first, next - first);
        put_boxes(s, scheme, pieces + first, next - first);
        put_rule(out, pieces + first, next - first);
    }
}
