/* SPDX-License-Identifier: MIT */
/* Counts what `firn stamp` did, for one closing line. */
#ifndef FIRN_TALLY_H
#define FIRN_TALLY_H

#include "command.h"
#include "moments.h"

#include <time.h>

typedef struct stamp_tally {
    uint64_t records, ids;
    uint64_t bad; /* records without an ID (--on-error) */
    uint64_t bad_line;
    firn_error bad_one; /* of the first of them */
    uint64_t shifted;
    int64_t shift_ns;    /* the largest shift */
    uint64_t shift_line; /* and its line */
} stamp_tally;

/* The closing line, as a note. `skipped`: bad records were left out. */
void tally_tell(const stamp_tally *tally, session *s, const record_times *times,
                const struct timespec *begun, bool skipped);

#endif
