/* SPDX-License-Identifier: MIT */
/* Where times without a zone are from: UTC, an offset, or a name of the zone database. Local times
 * to UTC; the rules are the library's. */
#ifndef FIRN_ZONE_H
#define FIRN_ZONE_H

#include <firn/firn.h>

enum { ZONE_CACHE = 1024 };

/* A minute of local time, as a zone maps it. */
typedef struct zone_minute {
    int64_t minute; /* since 1970, of local time; plus 1, since 0 marks an empty entry */
    int32_t offset; /* s east of UTC */
    bool gap;       /* the minute never occurs */
    bool twice;     /* the minute occurs twice, and the earlier is meant */
} zone_minute;

typedef struct time_zone_rules {
    firn_zone *rules;
    bool named;     /* the offset changes; else: */
    int32_t offset; /* s east of UTC, -86399..86399 */
    zone_minute minutes[ZONE_CACHE];
} time_zone_rules;

/* UTC, +hh:mm or a name like Europe/Berlin. FIRN_EUSAGE; FIRN_ESYSTEM: no zone database. */
int zone_open(time_zone_rules *zone, const char *name, firn_error *error);
void zone_close(time_zone_rules *zone);
/* `local`: seconds since 1970 of the local time. False: it never occurs. If it occurs twice, the
 * earlier one. */
bool zone_utc(time_zone_rules *zone, int64_t local, int64_t *utc, bool *twice);

#endif
