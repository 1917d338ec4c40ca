/* SPDX-License-Identifier: MIT */
/* Integers, for the inside of the library and its tests: the rule by which a segment's step
 * adapts. */
#ifndef FIRN_SEGMENT_H
#define FIRN_SEGMENT_H

#include "stock.h"

enum { FIRN__SERIAL, FIRN__TICKET, FIRN__SEGMENT };

#define FIRN__STEP_MAX 1000000

/* The keys of a segment, checked. Read only after opening. */
typedef struct firn__segment_keys {
    int64_t kind, step, increment, offset, start, end, adapt;
    firn__stock_keys reserve;
} firn__segment_keys;

/* Reads them, and checks the name. FIRN_EUSAGE, FIRN_ERANGE. */
int firn__segment_read(firn__segment_keys *keys, const char *name, const char *text,
                       firn_error *error);

/* 1..63 bytes of UTF-8. `owner`: "a segment", for errors. FIRN_EUSAGE, FIRN_ERANGE. */
int firn__name_check(const char *name, const char *owner, firn_error *error);

/* Leaf's rule: a segment that lasted under 15 min doubles the step, unless the double passes 1
 * 000 000; under 30 min it stays; else it is halved, unless that is below the least. */
int64_t firn__segment_next_step(int64_t step, int64_t least, int64_t age_ms);

/* The same for blocks of a reserve, which cost no round trip: under 5 s, and over 20 s, down to 10.
 * So a process that is killed loses what it uses in some seconds. */
int64_t firn__segment_local_step(int64_t step, int64_t age_ms);

/* Where a segment's slots are, if not under the name of an integer. */
typedef struct firn__segment_place {
    const char *ns, *layout, *key;
} firn__segment_place;

/* Opens a segment of that place. The keys are checked already. */
int firn__segment_make(firn_segment **segment, const firn__segment_place *place,
                       const firn__segment_keys *keys, firn_store *store, const firn_clock *clock,
                       firn_error *error);
/* firn_segment_advance with a guard as firn_request has; 0: FIRN_EBACK stays. */
int firn__segment_advance(firn_segment *segment, int64_t from, int64_t guard, int64_t *next,
                          firn_error *error);
/* Its reserve; NULL: none. Of the tests. */
firn__stock *firn__segment_stock(const firn_segment *segment);
/* The mark that the store had when it last refused a block; 0: it never did. */
int64_t firn__segment_held(const firn_segment *segment);

#endif
