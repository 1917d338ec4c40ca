/* SPDX-License-Identifier: MIT */
/* Describes texts that are probably not IDs: UUIDs of other variants, integers, hashes. Needs only
 * firn.h. */
#ifndef FIRN_REMARK_H
#define FIRN_REMARK_H

#include <firn/firn.h>

enum { REMARK_SIZE = 160 };

/* Writes "a plain integer; as epoch ms it is 2024-05-01T00:00:00.000Z", or "". Returns the kind:
 * integer, uuid, hex, none. */
const char *remark_on(char remark[REMARK_SIZE], const char *text, size_t length);

/* Says how a plausible reading is unusual: a TypeID of another version than 7, its time, or another
 * meaning of the number; the first only, if the scheme was named. Returns `remark`, perhaps "". */
char *remark_on_reading(char remark[REMARK_SIZE], const firn_reading *reading, const char *text,
                        bool named);

#endif
