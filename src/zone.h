/* SPDX-License-Identifier: MIT */
/* Time zones, for the inside of the library: the offset of local time, and since when. */
#ifndef FIRN_ZONE_H
#define FIRN_ZONE_H

#include <firn/firn.h>

/* The offset at a time. */
typedef struct firn__offset {
    int32_t offset;  /* s east of UTC */
    int32_t earlier; /* the offset before `since` */
    int64_t since;   /* when the offset began, in s since 1970; INT64_MIN: it always was */
} firn__offset;

firn__offset firn__zone_look(const firn_zone *zone, int64_t sec);

#endif
