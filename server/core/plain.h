/* SPDX-License-Identifier: MIT */
/* JSON as lines that shells can read, for whoever asks for plain text:
 *
 *     ["a", "b"]                            a line each
 *     [["a", "b"], ["c", "d"]]              a line each, with blanks between
 *     {"least": "a", "greatest": "b"}       nothing but strings: a line each, without names
 *     {"bits": 64, "fields": {"worker": 26}, "candidates": ["a", "b"]}
 *                                           name value: `bits 64`, `fields.worker 26`, `candidates a b`
 *     [{...}, {...}]                        the same of each, an empty line between two
 *
 * null and what is empty are `none`. Of objects in arrays the name has a number, `slices.0.bits`.
 * Strings with line ends or other control characters are written as JSON has them. */
#ifndef FIRN_PLAIN_H
#define FIRN_PLAIN_H

#include "text.h"

#include <jansson.h>

void plain_write(text_out *to, json_t *from);

#endif
