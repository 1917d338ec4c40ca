/* SPDX-License-Identifier: MIT */
/* The distance between two names. Knows no list of names: firn_nearest gets one. */
#ifndef FIRN_NEAREST_H
#define FIRN_NEAREST_H

#include <firn/firn.h>

#define FIRN__TOO_LONG 99 /* the distance if a word has more than 31 characters */

/* How many edits turn `a` into `b`: a character inserted, deleted or changed, or two neighbours
 * swapped. Letters of `a` count in either case; `b` is in lower case. */
unsigned firn__edits(const char *a, const char *b);
/* FIRN_EUSAGE: "OWNER HAS_NO 'name': did you mean `...`?", or `cure` if no name is near, in the
 * words of the list if `what_to_do` is NULL. */
int firn__refuse_unknown(firn_error *error, const char *owner, const char *has_no, const char *name,
                         const char *const *names, int cure, const char *what_to_do);

#endif
