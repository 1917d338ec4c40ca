/* SPDX-License-Identifier: MIT */
/* What is true of a text that is plausibly no ID of a scheme: a UUID of another variant, a plain
 * integer, a hash. Judges the text alone. Needs only firn.h. */
#ifndef FIRN_REMARK_H
#define FIRN_REMARK_H

#include <firn/firn.h>

enum { REMARK_SIZE = 160 };

/* "a plain integer; as epoch ms it is 2024-05-01T00:00:00.000Z", or "" when there is nothing to
 * say; returns the kind, a word that does not change: integer, uuid, hex, none. */
const char *remark_on(char remark[REMARK_SIZE], const char *text, size_t length);

/* What to know of a plausible reading of `text`: an unusual time, another meaning of the number.
 * Returns `remark`, "" for nothing. */
char *remark_on_reading(char remark[REMARK_SIZE], const firn_reading *reading, const char *text);

#endif
