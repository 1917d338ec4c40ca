/* SPDX-License-Identifier: MIT */
/* JSON as lines for shell scripts, if a client accepts text/plain:
 *
 *     ["a", "b"]                            one per line
 *     [["a", "b"], ["c", "d"]]              one array per line, blanks between elements
 *     {"least": "a", "greatest": "b"}       only strings: one per line, without names
 *     {"bits": 64, "fields": {"worker": 26}, "candidates": ["a", "b"]}
 * name value: `bits 64`, `fields.worker 26`, `candidates a b`
 *     [{...}, {...}]                        each as above, with empty lines between
 *
 * null and empty values are `none`. Names in arrays have an index, `slices.0.bits`. Strings with
 * control characters are written as in JSON. */
#ifndef FIRN_JSON_LINES_H
#define FIRN_JSON_LINES_H

#include "text.h"

#include <jansson.h>

void json_lines_write(text_out *to, json_t *from);

#endif
