/* SPDX-License-Identifier: MIT */
/* The meaning of a mark in a store: slots and their times. Changes nothing. */
#ifndef FIRN_MARK_H
#define FIRN_MARK_H

#include <firn/firn.h>

#include <jansson.h>

enum mark_kind {
    MARK_NODE,
    MARK_HISTORY,
    MARK_JOB,
    MARK_TICK,
    MARK_INTEGER,
    MARK_RECORD,
    MARK_SERIES,
    MARK_OTHER
};

/* A holding in words. */
typedef struct mark_told {
    enum mark_kind kind;
    char fields[128]; /* datacenter=1 worker=3 */
    char mark[FIRN_TIME_SIZE];
    char unix_ns[FIRN_TIME_SIZE];
    char distance[40];
    bool timed;
    bool guarded;               /* the floor of the namespace is later than now */
    char floor[FIRN_TIME_SIZE]; /* "": none */
    char floor_distance[40];
} mark_told;

/* The scheme of the stored layout, with the roles of its fields if it is a known one. A FIRN_E
 * code: not a scheme (integers, jobs). */
int mark_scheme(firn_scheme *scheme, const char *layout);
/* Are the slots of a namespace times? No: integers, jobs, and the ticks of back-dated IDs, whose
 * layout has a time, but whose marks count the IDs of one tick. */
bool mark_is_timed(firn_scheme *scheme, const char *ns, const char *layout);
/* How far ahead of the store's clock a reservation of the layout may end, in seconds. */
int64_t mark_reach_s(const char *layout);
/* How far ahead of the store's clock a floor of the layout may protect reservations, in seconds: its
 * reach, at least the longest reach without a reserve, since a lost record may have had that one,
 * and 15 s, since builds before the first release reserved further ahead. */
int mark_guard_s(const char *layout);
/* Of the joined node. */
uint32_t mark_node_bits(const firn_scheme *scheme);
/* Slot = tick << this. */
uint32_t mark_shift(const firn_scheme *scheme);
/* The first slot after the layout; the next two are the marks of back-dated IDs and jobs. */
int64_t mark_layout_end(const firn_scheme *scheme);
/* "1.3 s ahead", "3.5 h ago". Returns `text`. */
char *mark_distance(char text[40], const firn_time *mark, const firn_time *now);
firn_time mark_now(void);
/* The store's clock; a store without one has this machine's. */
int mark_store_now(firn_store *store, firn_time *now, firn_error *error);

/* Explains a holding at the time `now`. */
void mark_tell(mark_told *out, const firn_holding *holding, const firn_time *now);
/* An object as `nodes --json` prints. NULL: out of memory. The caller releases it. */
json_t *object_of_mark(const firn_holding *holding, const mark_told *what);

#endif
