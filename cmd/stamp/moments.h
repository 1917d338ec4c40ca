/* SPDX-License-Identifier: MIT */
/* Times as people and programs have written them into tables and logs, read exactly. What they
 * are the times of is the caller's affair; the ways of writing are one list. */
#ifndef FIRN_MOMENTS_H
#define FIRN_MOMENTS_H

#include "zone.h"

enum { MOMENTS_DAYS = 1024, MOMENTS_LAST = 40, MOMENTS_MINUTE = 16 };

/* A date whose days since 1970 are known. */
typedef struct moments_day {
    uint32_t date; /* year, month, day; 0: none */
    int64_t first; /* second, in UTC */
} moments_day;

typedef struct record_times {
    time_zone_rules zone; /* of times that name none */
    bool zone_told;       /* by the user */
    uint64_t bare;        /* times without a zone so far */
    uint64_t twice;       /* of those, local times that occurred twice: the earlier was taken */
    size_t form;          /* of the last time: most are the same */
    moments_day days[MOMENTS_DAYS];

    char minute[MOMENTS_MINUTE]; /* YYYY-MM-DDThh:mm of the last time, or zeros */
    int64_t minute_first;        /* its first second, in UTC */

    /* The last text and its time: records with the same time follow each other. */
    char last[MOMENTS_LAST];
    size_t last_length;
    firn_time last_time;
    bool last_bare, last_twice;
} record_times;

/* `zone_name` NULL: UTC. FIRN_EUSAGE, FIRN_ESYSTEM. */
int moments_open(record_times *m, const char *zone_name, firn_error *error);
void moments_close(record_times *m);
/* Reads a time. `used` NULL: `text` contains nothing else except surrounding blanks; else a
 * delimiter may follow, and *used is the length read. FIRN_ETEXT. */
int moments_read(record_times *m, const char *text, size_t length, size_t *used, firn_time *time,
                 firn_error *error);

#endif
