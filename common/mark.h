/* SPDX-License-Identifier: MIT */
/* What a mark in a store means: slots and their times. Shared by the listing, by
 * freeing a node and by the server; changes nothing. */
#ifndef FIRN_MARK_H
#define FIRN_MARK_H

#include <firn/firn.h>

#include <jansson.h>

enum mark_kind { MARK_NODE, MARK_HISTORY, MARK_JOB, MARK_TICK, MARK_INTEGER, MARK_RECORD };

/* What a holding says, in words. */
typedef struct mark_told {
    enum mark_kind kind;
    char fields[128]; /* datacenter=1 worker=3 */
    char mark[FIRN_TIME_SIZE];
    char unix_ns[FIRN_TIME_SIZE];
    char distance[40];
    bool timed;
} mark_told;

/* The scheme whose layout is stored, with the roles of its fields; else the layout as it is
 * written. A FIRN_E code: no scheme (integers, records of jobs). */
int mark_scheme(firn_scheme *scheme, const char *layout);
/* A slot is tick << this. */
uint32_t mark_shift(const firn_scheme *scheme);
/* The first slot after the layout; the next two are the marks of history and jobs. */
int64_t mark_layout_end(const firn_scheme *scheme);
/* "1.3 s ahead", "3.5 h ago": in the largest unit that it fills. Returns `text`. */
char *mark_distance(char text[40], const firn_time *mark, const firn_time *now);
firn_time mark_now(void);

/* What the mark of a holding means, seen from `now`. */
void mark_tell(mark_told *out, const firn_holding *holding, const firn_time *now);
/* What `nodes --json` says of it. NULL: out of memory. The caller lets go of it. */
json_t *object_of_mark(const firn_holding *holding, const mark_told *what);

#endif
