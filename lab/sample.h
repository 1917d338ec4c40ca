/* SPDX-License-Identifier: MIT */
/* The IDs that `firn estimate` is given: read as one scheme, or as plain integers, with the times
 * at which they were seen. Sorted by ID, without duplicates. Reads and keeps; infers nothing. */
#ifndef FIRN_SAMPLE_H
#define FIRN_SAMPLE_H

#include "ids/ids.h"

enum { SAMPLE_MAX = 1000000, SAMPLE_SCHEMES = 16 };

/* An ID. */
typedef struct id_sighting {
    firn_id id;
    bool seen;      /* `time` is known */
    firn_time time; /* when somebody saw it */
    uint64_t order; /* of input */

    uint64_t tick, number, issuer; /* sample_unpack: number is the sequence, counter or integer */
} id_sighting;

typedef struct id_sample {
    id_reader reader;
    bool integers;                                 /* plain integers, not IDs of a scheme: */
    const firn_scheme *scheme;                     /* NULL for integers */
    const firn_scheme *candidates[SAMPLE_SCHEMES]; /* schemes that all IDs so far fit */
    size_t candidate_count;
    bool vague; /* the candidates read times, sequences or counters differently */
    int form;
    uint32_t bits;
    firn_time seen; /* --seen */
    bool has_seen;
    id_sighting *list;
    size_t count, room, given; /* given: with duplicates */
} id_sample;

/* Candidates whose newest time is not in the future come before others, which are dropped if there
 * are any. From the operands, or the lines of standard input, each an ID that a TIME may follow. An
 * exit status. */
int sample_read(session *s, id_sample *sample);
void sample_free(id_sample *sample);

#endif
