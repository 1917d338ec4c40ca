/* SPDX-License-Identifier: MIT */
/* Objects a line each, written by jansson so that every text is quoted rightly. An ID is always
 * a string. */
#ifndef FIRN_JSON_H
#define FIRN_JSON_H

#include "command.h"
#include "object.h"

#include <jansson.h>

/* Before any object is made. */
void json_begin(void);
/* Writes the object as a line and releases it. NULL: out of memory, which ends the process (status
 * 6): an incomplete line would be wrong. */
void json_line(output *out, json_t *object);

/* What `show --json` says of an ID. Fields up to 32 bits are numbers, wider ones and random
 * bits strings. */
void json_put_id(output *out, const char *text, const firn_reading *readings, size_t count);
/* The same of a text that was read. */
void json_put_text(output *out, const char *text, const firn_reading *readings, id_counts counts,
                   const id_matches *matches, bool all, bool named);
void json_put_error(output *out, const firn_error *error);
void json_put_scheme(output *out, const firn_scheme *scheme);

#endif
