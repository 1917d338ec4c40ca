/* SPDX-License-Identifier: MIT */
/* What `show --json` says of an ID, as an object of jansson's. Decides only what is a number and
 * what a string. Needs only firn.h. */
#ifndef FIRN_OBJECT_H
#define FIRN_OBJECT_H

#include "reading.h"

#include <firn/firn.h>
#include <jansson.h>

/* Fields up to 32 bits are numbers, wider ones and random bits strings. NULL: out of memory. The
 * caller lets go of it. */
json_t *object_of_id(const char *text, const firn_reading *readings, size_t count);
/* The same of a text that was read: `id` is the canonical text. Without a plausible reading `scheme` is
 * null, and `what` and `remark` say what the text is (remark.h); else `remark` is there only when
 * there is something to remark. `all`: the candidates by chance too. `named`: the scheme was, so that
 * nothing is to remark. */
json_t *object_of_text(const char *text, const firn_reading *readings, id_counts counts, bool all,
                       bool named);
/* A string of text that somebody else made, which need not be UTF-8. */
json_t *json_foreign(const char *text);

/* NULL: out of memory. The caller lets go of it. */
json_t *object_of_scheme(const firn_scheme *scheme);

#endif
