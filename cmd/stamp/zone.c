/* SPDX-License-Identifier: MIT */
/* Rules of summer time are in the system's zone database; this file only tries offsets: one is
 * right for a local time if the resulting time has that offset. */
#include "zone.h"

#include "command.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FAR_S = 16 * 3600 }; /* no offset is as large */

/* ---- opening -------------------------------------------------------------------------------- */

/* +hh:mm, +hhmm or +hh. */
static bool read_offset(const char *text, int32_t *offset) {
    int digit[4] = {0}, count = 0;
    const char *position = text + 1;
    if (text[0] != '+' && text[0] != '-') {
        return false;
    }
    for (; count < 4 && *position >= '0' && *position <= '9'; position++) {
        digit[count++] = *position - '0';
        position += count == 2 && position[1] == ':' && position[2] != '\0';
    }
    int32_t hours = digit[0] * 10 + digit[1], minutes = digit[2] * 10 + digit[3];
    if (*position != '\0' || (count != 2 && count != 4) || hours > 23 || minutes > 59) {
        return false;
    }
    *offset = (hours * 3600 + minutes * 60) * (text[0] == '-' ? -1 : 1);
    return true;
}

/* A name is a path below the database's folder. "right/" counts leap seconds, which no ID does. */
static bool is_plain_name(const char *name) {
    size_t length = strlen(name);
    for (size_t i = 0; i < length; i++) {
        char c = name[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && strchr("_+-/", c) == NULL) {
            return false;
        }
    }
    return length > 0 && length < 64 && name[0] != '/' && strncmp(name, "right/", 6) != 0;
}

static const char *folder(void) {
    const char *given = getenv("TZDIR");
    return given != NULL && given[0] != '\0' ? given : "/usr/share/zoneinfo";
}

/* The C library takes what it does not know for UTC, so it is looked up here first. */
static bool is_in_database(const char *name) {
    char path[512], magic[4] = "";
    if (!is_plain_name(name) ||
        snprintf(path, sizeof path, "%s/%s", folder(), name) >= (int)sizeof path) {
        return false;
    }
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a named pipe is not waited for */
    bool is = file >= 0 && read(file, magic, sizeof magic) == sizeof magic &&
              memcmp(magic, "TZif", sizeof magic) == 0;
    if (file >= 0) {
        close(file);
    }
    return is;
}

/* The database's names for what the machine is set to, or leaves open: other machines read another
 * time. */
static bool is_of_machine(const char *name) {
    static const char *const names[] = {"localtime", "posixrules", "Factory"};
    const char *slash = strrchr(name, '/');
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(slash != NULL ? slash + 1 : name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

int zone_open(time_zone_rules *zone, const char *name, firn_error *error) {
    memset(zone, 0, sizeof *zone);
    if (strcmp(name, "UTC") == 0 || strcmp(name, "Z") == 0 || read_offset(name, &zone->offset)) {
        return FIRN_OK;
    }
    if (is_of_machine(name)) {
        return set_error(error, FIRN_EUSAGE,
                         "--zone %.60s is another zone on another machine: name the zone, such as "
                         "Europe/Berlin",
                         name);
    }
    if (is_in_database(name)) {
        zone->named = setenv("TZ", name, 1) == 0;
        tzset();
        return zone->named ? FIRN_OK : out_of_memory(error);
    }
    if (is_plain_name(name) && access(folder(), R_OK) != 0) {
        return set_error(
            error, FIRN_ESYSTEM,
            "there is no time zone database in %.80s: install tzdata, or use --zone +hh:mm",
            folder());
    }
    return set_error(error, FIRN_EUSAGE,
                     "--zone %.60s is not valid: use UTC, +hh:mm, or a name such as Europe/Berlin",
                     name);
}

/* ---- local times ---------------------------------------------------------------------------- */

static int32_t offset_at(int64_t utc) {
    time_t instant = (time_t)utc;
    struct tm fields;
    return localtime_r(&instant, &fields) != NULL ? (int32_t)fields.tm_gmtoff : 0;
}

/* Of the offsets that hold around a local time, those with which it occurs. */
static zone_minute look_up(int64_t local) {
    int32_t before = offset_at(local - FAR_S), after = offset_at(local + FAR_S);
    int32_t tried[] = {before, after, offset_at(local - before), offset_at(local - after)};
    zone_minute found = {0, 0, true, false};
    for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++) {
        if (offset_at(local - tried[i]) != tried[i]) {
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
    zone_minute found = look_up(local), first = look_up(minute * 60),
                last = look_up(minute * 60 + 59);
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
