/* SPDX-License-Identifier: MIT */
/* Which requests that wait for a window or the clock failed in a round, so that the others of the
 * same generator, which would fail as well, are not tried: thousands may wait. */
#ifndef FIRN_TRIED_H
#define FIRN_TRIED_H

#include "core/request.h"

enum { TRIED_ROWS = 16 };

typedef struct tried {
    struct {
        const void *from; /* the generator or segment */
        int64_t least;    /* the least count that failed; 0: none did */
    } rows[TRIED_ROWS];
} tried;

static inline const void *tried_source(const request *it) {
    return it->generator != NULL ? (const void *)it->generator : (const void *)it->segment;
}

static inline size_t tried_row(const void *from) {
    return ((uintptr_t)from >> 6) * 0x9E3779B97F4A7C15 >> 60;
}

/* A smaller request may succeed although a larger one failed. */
static inline bool tried_may_pass(const tried *it, const void *from, int64_t count) {
    size_t row = tried_row(from);
    return it->rows[row].from != from || count < it->rows[row].least;
}

static inline void tried_note(tried *it, const void *from, int64_t count) {
    size_t row = tried_row(from);
    it->rows[row].from = from;
    it->rows[row].least = count;
}

#endif
