/* SPDX-License-Identifier: MIT */
/* The library knows the rules of a zone; this file only tries offsets: one is right for a local time
 * if the resulting time has that offset. */
#include "zone.h"

#include <string.h>

enum { FAR_S = 16 * 3600 }; /* no offset is as large */

int zone_open(time_zone_rules *zone, const char *name, firn_error *error) {
    memset(zone, 0, sizeof *zone);
    int code = firn_zone_open(&zone->rules, name, error);
    if (code == FIRN_OK) {
        zone->named =
            strcmp(name, "UTC") != 0 && strcmp(name, "Z") != 0 && strchr("+-", name[0]) == NULL;
        zone->offset = firn_zone_offset(zone->rules, 0);
    }
    return code;
}

void zone_close(time_zone_rules *zone) {
    firn_zone_close(zone->rules);
}

/* ---- local times ---------------------------------------------------------------------------- */

/* Of the offsets that hold around a local time, those with which it occurs. */
static zone_minute look_up(const firn_zone *rules, int64_t local) {
    int32_t before = firn_zone_offset(rules, local - FAR_S),
            after = firn_zone_offset(rules, local + FAR_S);
    int32_t tried[] = {before, after, firn_zone_offset(rules, local - before),
                       firn_zone_offset(rules, local - after)};
    zone_minute found = {0, 0, true, false};
    for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++) {
        if (firn_zone_offset(rules, local - tried[i]) != tried[i]) {
            continue;
        }
        found.twice = found.twice || (!found.gap && tried[i] != found.offset);
        if (found.gap || tried[i] > found.offset) { /* the greater offset is the earlier time */
            found.offset = tried[i];
        }
        found.gap = false;
    }
    return found;
}

/* Offsets of before there was a rule change within a minute; only whole ones are kept. */
static zone_minute look_up_minute(time_zone_rules *zone, int64_t local) {
    int64_t minute = local >= 0 ? local / 60 : -1 - (-1 - local) / 60;
    zone_minute *kept = &zone->minutes[(uint64_t)minute % ZONE_CACHE];
    if (kept->minute == minute + 1 && minute != -1) {
        return *kept;
    }
    zone_minute found = look_up(zone->rules, local), first = look_up(zone->rules, minute * 60),
                last = look_up(zone->rules, minute * 60 + 59);
    if (first.gap == last.gap && first.offset == last.offset && first.twice == last.twice) {
        *kept = found;
        kept->minute = minute + 1;
    }
    return found;
}

bool zone_utc(time_zone_rules *zone, int64_t local, int64_t *utc, bool *twice) {
    *twice = false;
    if (!zone->named) {
        *utc = local - zone->offset;
        return true;
    }
    zone_minute found = look_up_minute(zone, local);
    *utc = local - found.offset;
    *twice = found.twice;
    return !found.gap;
}
