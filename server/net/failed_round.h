/* SPDX-License-Identifier: MIT */
/* Which requests that wait for a window or the clock failed in a round, so that the others of the
 * same generator, which would fail as well, are not tried: thousands may wait. */
#ifndef FIRN_FAILED_ROUND_H
#define FIRN_FAILED_ROUND_H

#include "core/request.h"

enum { TRIED_ROWS = 16 };

typedef struct failed_round {
    struct {
        const void *from; /* the generator or segment */
        int64_t least;    /* the least count that failed; 0: none did */
    } rows[TRIED_ROWS];
} failed_round;

static inline const void *tried_source(const server_request *request) {
    return request->generator != NULL ? (const void *)request->generator
                                      : (const void *)request->segment;
}

static inline size_t tried_row(const void *source) {
    return ((uintptr_t)source >> 6) * 0x9E3779B97F4A7C15 >> 60;
}

/* A smaller request may succeed although a larger one failed. */
static inline bool tried_may_pass(const failed_round *round, const void *source, int64_t count) {
    size_t row = tried_row(source);
    return round->rows[row].from != source || count < round->rows[row].least;
}

static inline void tried_note(failed_round *round, const void *source, int64_t count) {
    size_t row = tried_row(source);
    round->rows[row].from = source;
    round->rows[row].least = count;
}

#endif
