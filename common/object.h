/* SPDX-License-Identifier: MIT */
/* IDs and schemes as JSON objects, as `show --json` and `schemes --json` print them. Needs only
 * firn.h. */
#ifndef FIRN_OBJECT_H
#define FIRN_OBJECT_H

#include "reading.h"

#include <firn/firn.h>
#include <jansson.h>

/* How objects are written: on one line, 0.1 as 0.1 and not with 17 digits. */
#define OBJECT_DUMP (JSON_COMPACT | JSON_REAL_PRECISION(15))

/* Append an item, or set a member; each takes over both, which may be NULL. Return the array or
 * object; NULL: out of memory, and both are released. */
json_t *json_with(json_t *array, json_t *item);
json_t *json_set(json_t *object, const char *name, json_t *value);

/* Sets `prefix`, of a TypeID. Takes over `object`, and returns it or NULL. */
json_t *object_prefix(json_t *object, const char *text);
/* Fields up to 32 bits are numbers; wider ones and random bits are strings. `sure` is "named" for a
 * reading of FIRN_CERTAIN, which the caller knows to be right. A TypeID has a `prefix`. NULL: out
 * of memory. The caller releases it. */
json_t *object_of_id(const char *text, const firn_reading *readings, size_t count);
/* The object of a text; `id` is its canonical form. `sure` is "named" if the scheme was given, else
 * "certain", "likely", "possible" or "none". With the last two `scheme` is null, `what` and
 * `remark` describe the text (remark.h), and `readings` lists what it may be. `all`: includes
 * candidates that fit by chance. `named`: the scheme was given, so there is no remark. `matches`
 * become `formats`, and the text gets the time and fields of one that leads; may be NULL. */
json_t *object_of_text(const char *text, const firn_reading *readings, id_counts counts,
                       const id_matches *matches, bool all, bool named);
/* NULL: out of memory. The caller releases it. */
json_t *object_of_format(const firn_text_format *format);
/* A JSON string of any bytes: if they are not UTF-8, bytes above 126 become ?. */
json_t *json_foreign(const char *text);

/* NULL: out of memory. The caller releases it. */
json_t *object_of_scheme(const firn_scheme *scheme);

#endif
