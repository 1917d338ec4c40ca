/* SPDX-License-Identifier: MIT */
/* The shape of a JSON line: its text without its scalar values. The line was accepted by jansson,
 * and a line that differs from it in scalar values alone is as valid, so it need not be parsed
 * again. A shape judges only the values that are obvious: plain ASCII strings and short decimal
 * numbers; jansson judges every other string. */
#ifndef FIRN_RECORDS_SHAPE_H
#define FIRN_RECORDS_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A longer line, or one with more values, has no shape. */
enum { SHAPE_TEXT = 1000, SHAPE_VALUES = 48 };

/* A piece of a line. */
typedef struct json_piece {
    const char *text;
    size_t length;
} json_piece;

typedef struct json_shape {
    size_t count;                   /* values; 0: no shape */
    uint16_t end[SHAPE_VALUES + 1]; /* in `text`: the part before each value, and the rest */
    char text[SHAPE_TEXT];
} json_shape;

/* Learns the shape of a line that jansson has accepted as an object, and where its values are.
 * False: it has none. */
bool shape_learn(json_shape *shape, const char *line, size_t size, json_piece values[SHAPE_VALUES]);
/* Has the line this shape? Then it is valid JSON, and `values` has the places of its values.
 * `limit`: memory can be read up to here, at least to the end of the line. */
bool shape_match(const json_shape *shape, const char *line, size_t size, const char *limit,
                 json_piece values[SHAPE_VALUES]);

/* The walk over accepted text. */
const char *shape_skip_blank(const char *position);
/* Behind the string whose opening quote is at `position`. */
const char *shape_skip_string(const char *position);
/* Behind the number or the word at `position`. */
const char *shape_skip_word(const char *position);

#endif
