/* SPDX-License-Identifier: MIT */
/* Durable integers: one firn_segment with its renewer and counters. Other segments are in
 * catalog.h. */
#ifndef FIRN_SEGMENT_H
#define FIRN_SEGMENT_H

#include "generator.h"

typedef struct server_segment server_segment;
struct server_segment {
    char name[NAME_SIZE];
    char keys[KEYS_SIZE];
    int64_t increment;
    bool configured;
    _Atomic bool late; /* as in generator.h */
    store_renewer *renewer;
    firn_store *own;             /* with a reserve, which is there without the store; else NULL */
    firn_segment *_Atomic range; /* NULL until it is open */
    _Atomic bool due;            /* listed: firn_segment_step has work */
    server_segment *next_due;    /* in the renewer's list */
    int64_t next_ms, pause_ms;   /* renewer: earliest retry after a failure */
    server_segment *next_kept;   /* with a reserve: in the renewer's list of these */
    int64_t look_ms;             /* renewer: the next look at the reserve */
    _Atomic int64_t kept, lasts_ms; /* integers in the reserve; -1: no reserve, or not seen yet */
    last_error failed;              /* as in generator.h */
    struct {
        _Alignas(
            64) _Atomic int64_t value; /* the greatest integer of this worker; INT64_MIN: none */
        _Atomic uint64_t issued;
    } tallies[WORKERS_MAX];
};

/* Not in a table yet. FIRN_EUSAGE, FIRN_ERANGE, FIRN_EMEMORY. */
int segment_make(server_segment **out, const char *name, const char *keys, firn_error *error);
void segment_free(server_segment *segment);
/* Renewer's thread: opens it and fetches its first block. */
int segment_open(server_segment *segment, firn_error *error);
/* Renewer's thread: exactly `count` integers in one block; calls the store if too few are left. */
int segment_fetch(server_segment *segment, int64_t count, int64_t *first, firn_error *error);

/* The last integer this server issued, or INT64_MIN. Any thread. */
int64_t segment_last(const server_segment *segment);
/* Number of integers this server issued. Any thread. */
uint64_t segment_issued(const server_segment *segment);

/* Counts `n` issued integers up to `last`, in any order. */
void segment_count(server_segment *segment, const server_worker *worker, int64_t last, uint64_t n);
/* Wakes the renewer, because the segment needs a block. Never waits. */
void segment_want(server_segment *segment);
/* Renewer's thread: steps the listed segments; *news: something was fetched. Returns after how many
 * ms to call again. */
int64_t segments_step(const store_renewer *renewer, bool *news);
/* Renewer's thread: gives the rest of the block back. */
void segment_close(server_segment *segment);
/* After renewers_stop: empties the lists. */
void segments_forget(void);

#endif
