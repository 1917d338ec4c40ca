/* SPDX-License-Identifier: MIT */
/* Durable integers under a key: one firn_segment with its renewer and its counters. Does not know
 * which other segments there are: see catalog.h. */
#ifndef FIRN_SEGMENT_H
#define FIRN_SEGMENT_H

#include "generator.h"

typedef struct segment segment;
struct segment {
    char name[NAME_SIZE];
    char keys[KEYS_SIZE];
    int64_t increment;
    bool configured;
    _Atomic bool late; /* as above */
    renewer *renewer;
    firn_segment *_Atomic range; /* NULL until it is open */
    _Atomic bool due;            /* firn_segment_step has something to do, and the renewer knows */
    segment *next_due;           /* in its renewer's list */
    int64_t next_ms, pause_ms;   /* the renewer's: after a failure it is not tried again before */
    last_error failed;           /* as above */
    struct {
        _Alignas(64) _Atomic int64_t value; /* the last integer by this worker; INT64_MIN: none */
        _Atomic uint64_t issued;
    } by[WORKERS_MAX];
};

/* A segment in no table yet. FIRN_EUSAGE, FIRN_ERANGE, FIRN_EMEMORY. */
int segment_make(segment **out, const char *name, const char *keys, firn_error *error);
void segment_free(segment *it);
/* In its renewer's thread: opens it and fetches its first block. */
int segment_open(segment *it, firn_error *error);
/* The same thread: exactly `count` integers in one block, fetched where too few are there. */
int segment_fetch(segment *it, int64_t count, int64_t *first, firn_error *error);

/* The last integer that this server issued of it, or INT64_MIN. Any thread. */
int64_t segment_last(const segment *it);
/* How many integers this server issued of it. Any thread. */
uint64_t segment_issued(const segment *it);
/* What its renewer last failed with; returns the code, 0: nothing. Any thread. */
int segment_trouble(const segment *it, firn_error *error);

/* A worker issued `n` of it. */
void segment_count(segment *it, const worker *by, int64_t last, uint64_t n);
/* A worker found a block due: its renewer looks at once. Never blocks. */
void segment_want(segment *it);
/* In the renewer's thread: steps those of its segments that are due; *news: something was fetched.
 * Returns after how many ms the next is due. */
int64_t segments_step(const renewer *of, bool *news);
/* In its renewer's thread: gives the rest of the block back. */
void segment_close(segment *it);
/* After renewers_stop: no segment is due any more. */
void segments_forget(void);

#endif
