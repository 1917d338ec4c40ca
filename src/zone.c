/* SPDX-License-Identifier: MIT */
/* Time zones: UTC, an offset, or a file of the system's zone database (RFC 9636), read once. The C
 * library's zone belongs to the process, so a library must not set it. */
#include "zone.h"

#include "calendar.h"
#include "error.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FILE_MOST = 1 << 16, /* bytes: the longest file of the database has about 4000 */
    HEADER = 44,
    TYPES_MOST = 256,
    RULE_TIME_MOST = 167 * 3600 /* s: the time of a rule is within a week of its day */
};

/* The day of a year on which the offset changes, and the local time. */
typedef struct zone_rule {
    /* 'M': the weekday of a week of a month; 'J': a day from 1, without leap days; 'n': a day from
     * 0. */
    char kind;
    int32_t month, week; /* 1..12; 1..5, 5 is the last */
    int32_t day;         /* the weekday from 0, Sunday, or the day */
    int32_t seconds;     /* after midnight */
} zone_rule;

/* The rule after the last change of the file: a TZ string of POSIX. */
typedef struct zone_footer {
    bool is, summer; /* the file has a rule; the rule has summer time */
    int32_t offset, summer_offset;
    zone_rule begin, end; /* of summer time */
} zone_footer;

struct firn_zone {
    int32_t fixed;  /* s east of UTC, if `count` is 0 and there is no footer */
    size_t count;   /* of the changes: */
    int64_t *times; /* ascending */
    uint8_t *types; /* of the offset from then on */
    int32_t offsets[TYPES_MOST];
    zone_footer footer;
};

/* ---- the names ------------------------------------------------------------------------------- */

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

static const char *zone_folder(void) {
    const char *given = getenv("TZDIR");
    return given != NULL && given[0] != '\0' ? given : "/usr/share/zoneinfo";
}

/* The bytes of a file of the database; 0: no such file. */
static size_t read_zone_file(uint8_t *out, const char *name) {
    char path[512];
    size_t size = 0;
    if (snprintf(path, sizeof path, "%s/%s", zone_folder(), name) >= (int)sizeof path) {
        return 0;
    }
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a named pipe is not waited for */
    ssize_t got = file >= 0 ? 1 : 0;
    while (got > 0 && size < FILE_MOST) {
        got = read(file, out + size, FILE_MOST - size);
        size += got > 0 ? (size_t)got : 0;
    }
    if (file >= 0) {
        close(file);
    }
    return got == 0 ? size : 0;
}

/* ---- the rule of the footer ------------------------------------------------------------------ */

/* A number of at most three digits; false: no digit, or a number above `most`. */
static bool take_rule_number(const char **at, int32_t most, int32_t *out) {
    const char *begin = *at;
    int32_t number = 0;
    for (; **at >= '0' && **at <= '9' && *at - begin < 3; (*at)++) {
        number = number * 10 + (**at - '0');
    }
    *out = number;
    return *at > begin && number <= most;
}

/* [+-]h[:mm[:ss]] in seconds. */
static bool take_span(const char **at, int32_t *out) {
    int32_t part, sum = 0;
    bool more = true;
    const int32_t sign = **at == '-' ? -1 : 1;
    *at += **at == '-' || **at == '+';
    for (int32_t unit = 3600; more; unit /= 60) {
        if (!take_rule_number(at, unit == 3600 ? 167 : 59, &part)) {
            return false;
        }
        sum += part * unit;
        more = unit > 1 && **at == ':';
        *at += more;
    }
    *out = sign * sum;
    return true;
}

/* The abbreviation, which nobody reads: letters, or anything in <>. */
static bool skip_name(const char **at) {
    const char *begin = *at;
    if (**at == '<') {
        *at += strcspn(*at, ">");
        *at += **at == '>';
        return (*at)[-1] == '>';
    }
    while ((**at >= 'a' && **at <= 'z') || (**at >= 'A' && **at <= 'Z')) {
        (*at)++;
    }
    return *at - begin >= 3;
}

static bool take_rule(const char **at, zone_rule *rule) {
    if (*(*at)++ != ',') {
        return false; /* perhaps the end of the text */
    }
    bool good;
    rule->kind = **at == 'M' || **at == 'J' ? *(*at)++ : 'n';
    if (rule->kind == 'M') {
        good = take_rule_number(at, 12, &rule->month) && rule->month > 0 && *(*at)++ == '.' &&
               take_rule_number(at, 5, &rule->week) && rule->week > 0 && *(*at)++ == '.' &&
               take_rule_number(at, 6, &rule->day);
    } else {
        good = take_rule_number(at, 365, &rule->day) && (rule->kind == 'n' || rule->day > 0);
    }
    rule->seconds = 7200;
    return good && (**at != '/' || ((*at)++, take_span(at, &rule->seconds)));
}

static bool read_footer(zone_footer *footer, const char *text) {
    const char *at = text;
    int32_t west, summer_west;
    if (text[0] == '\0') {
        return true; /* the last offset stays */
    }
    footer->is = true;
    if (!skip_name(&at) || !take_span(&at, &west)) {
        return false;
    }
    footer->offset = -west;
    footer->summer = *at != '\0';
    if (!footer->summer) {
        return true;
    }
    if (!skip_name(&at)) {
        return false;
    }
    summer_west = west - 3600;
    if (*at != ',' && !take_span(&at, &summer_west)) {
        return false;
    }
    footer->summer_offset = -summer_west;
    return take_rule(&at, &footer->begin) && take_rule(&at, &footer->end) && *at == '\0';
}

/* The local time at which a rule applies in a year, in s since 1970. */
static int64_t rule_time(const zone_rule *rule, int64_t year) {
    firn__date first = {year, rule->kind == 'M' ? rule->month : 1, 1};
    int64_t day = firn__days_of(&first);
    if (rule->kind == 'M') {
        const int32_t weekday = (int32_t)(day + 4 - firn__floor_div(day + 4, 7) * 7);
        int32_t date = (rule->day - weekday + 7) % 7 + (rule->week - 1) * 7; /* from 0 */
        date -= date >= firn__days_in_month(year, rule->month) ? 7 : 0;
        day += date;
    } else if (rule->kind == 'J') {
        day += rule->day - 1 + (rule->day >= 60 && firn__days_in_month(year, 2) == 29);
    } else {
        day += rule->day;
    }
    return day * FIRN__DAY_S + rule->seconds;
}

/* The offset by the rule, and since when. The end of summer time of a year may be the beginning of
 * the next year's: then summer lasts. */
static firn__offset look_at_rule(const zone_footer *footer, int64_t sec) {
    firn__offset found = {footer->offset, footer->offset, INT64_MIN};
    if (!footer->summer) {
        return found;
    }
    const int64_t year = firn__date_of(firn__floor_div(sec, FIRN__DAY_S)).year;
    for (int64_t y = year - 2; y <= year + 1; y++) {
        const int64_t begin = rule_time(&footer->begin, y) - footer->offset;
        const int64_t end = rule_time(&footer->end, y) - footer->summer_offset;
        if (end <= sec && end >= found.since) {
            found = (firn__offset){footer->offset, footer->summer_offset, end};
        }
        if (begin <= sec && begin >= found.since) {
            found = (firn__offset){footer->summer_offset, footer->offset, begin};
        }
    }
    return found;
}

/* ---- the file -------------------------------------------------------------------------------- */

static int64_t signed_of(const uint8_t *bytes, size_t size) {
    uint64_t sum = bytes[0] & 0x80 ? UINT64_MAX : 0;
    for (size_t i = 0; i < size; i++) {
        sum = sum << 8 | bytes[i];
    }
    return (int64_t)sum;
}

/* The counts of a header, in its order. */
enum { UTC_MARKS, STANDARD_MARKS, LEAPS, TIMES, TYPES, LETTER_BYTES, COUNTS };

static bool read_counts(size_t counts[COUNTS], const uint8_t *header, size_t size) {
    if (size < HEADER || memcmp(header, "TZif", 4) != 0) {
        return false;
    }
    for (size_t i = 0; i < COUNTS; i++) {
        counts[i] = (size_t)signed_of(header + 20 + 4 * i, 4);
        if (counts[i] > FILE_MOST) {
            return false;
        }
    }
    return true;
}

static size_t block_size(const size_t counts[COUNTS], size_t width) {
    return counts[TIMES] * (width + 1) + counts[TYPES] * 6 + counts[LETTER_BYTES] +
           counts[LEAPS] * (width + 4) + counts[STANDARD_MARKS] + counts[UTC_MARKS];
}

static bool read_changes(firn_zone *zone, const size_t counts[COUNTS], const uint8_t *block,
                         size_t width) {
    const uint8_t *types = block + counts[TIMES] * width, *offsets = types + counts[TIMES];
    if (counts[TYPES] == 0 || counts[TYPES] > TYPES_MOST || counts[LEAPS] != 0) {
        return false;
    }
    for (size_t i = 0; i < counts[TYPES]; i++) {
        int64_t offset = signed_of(offsets + 6 * i, 4);
        if (offset < -RULE_TIME_MOST || offset > RULE_TIME_MOST) {
            return false;
        }
        zone->offsets[i] = (int32_t)offset;
    }
    zone->times = malloc((counts[TIMES] + 1) * sizeof *zone->times);
    zone->types = malloc(counts[TIMES] + 1);
    if (zone->times == NULL || zone->types == NULL) {
        return false;
    }
    for (size_t i = 0; i < counts[TIMES]; i++) {
        zone->times[i] = signed_of(block + i * width, width);
        zone->types[i] = types[i];
        if (types[i] >= counts[TYPES] || (i > 0 && zone->times[i] <= zone->times[i - 1])) {
            return false;
        }
    }
    zone->count = counts[TIMES];
    zone->fixed = zone->offsets[0];
    return true;
}

/* False: it is no such file, or out of memory. */
static bool read_database(firn_zone *zone, const uint8_t *bytes, size_t size) {
    size_t counts[COUNTS];
    char footer[128];
    if (!read_counts(counts, bytes, size) || block_size(counts, 4) > size - HEADER) {
        return false;
    }
    if (bytes[4] < '2') { /* an old file: times of 32 bits, and no rule */
        return read_changes(zone, counts, bytes + HEADER, 4);
    }
    const size_t first = HEADER + block_size(counts, 4);
    bytes += first;
    size -= first;
    if (!read_counts(counts, bytes, size) || block_size(counts, 8) > size - HEADER) {
        return false;
    }
    const uint8_t *end = bytes + HEADER + block_size(counts, 8);
    size -= (size_t)(end - bytes);
    const uint8_t *line = size > 1 ? memchr(end + 1, '\n', size - 1) : NULL;
    if (line == NULL || end[0] != '\n' || line - end > (ptrdiff_t)sizeof footer) {
        return false;
    }
    snprintf(footer, sizeof footer, "%.*s", (int)(line - end - 1), (const char *)end + 1);
    return read_footer(&zone->footer, footer) && read_changes(zone, counts, bytes + HEADER, 8);
}

static int open_named(firn_zone *zone, const char *name, firn_error *error) {
    uint8_t *bytes = malloc(FILE_MOST);
    if (bytes == NULL) {
        return firn__fail(error, FIRN_EMEMORY, "out of memory for a time zone");
    }
    const size_t size = is_plain_name(name) ? read_zone_file(bytes, name) : 0;
    const bool is = size > 0 && read_database(zone, bytes, size);
    free(bytes);
    if (is) {
        return FIRN_OK;
    }
    if (is_plain_name(name) && access(zone_folder(), R_OK) != 0) {
        return firn__fail(error, FIRN_ESYSTEM,
                          "there is no time zone database in %.80s: install tzdata, or use an "
                          "offset such as +01:00",
                          zone_folder());
    }
    return firn__fail(error, FIRN_EUSAGE,
                      "zone " FIRN__VALUE("%.60s") " is not valid: use UTC, +hh:mm, or a name such "
                                                   "as Europe/Berlin",
                      name);
}

int firn_zone_open(firn_zone **out, const char *name, firn_error *error) {
    int code = FIRN_OK;
    firn_zone *zone = calloc(1, sizeof *zone);
    if (zone == NULL) {
        return firn__fail(error, FIRN_EMEMORY, "out of memory for a time zone");
    }
    if (is_of_machine(name)) {
        code = firn__fail(error, FIRN_EUSAGE,
                          "zone " FIRN__VALUE("%.60s") " is another zone on another machine: name "
                                                       "the zone, such as Europe/Berlin",
                          name);
    } else if (strcmp(name, "UTC") != 0 && strcmp(name, "Z") != 0 &&
               !read_offset(name, &zone->fixed)) {
        code = open_named(zone, name, error);
    }
    if (code != FIRN_OK) {
        firn_zone_close(zone);
        return code;
    }
    *out = zone;
    return FIRN_OK;
}

void firn_zone_close(firn_zone *zone) {
    if (zone == NULL) {
        return;
    }
    free(zone->times);
    free(zone->types);
    free(zone);
}

/* ---- looking up ------------------------------------------------------------------------------ */

/* How many changes are at or before a time. */
static size_t changes_until(const firn_zone *zone, int64_t sec) {
    size_t low = 0, high = zone->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (zone->times[middle] <= sec) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

firn__offset firn__zone_look(const firn_zone *zone, int64_t sec) {
    const size_t after = changes_until(zone, sec);
    firn__offset found = {zone->fixed, zone->fixed, INT64_MIN};
    if (after > 0) {
        found = (firn__offset){zone->offsets[zone->types[after - 1]],
                               after > 1 ? zone->offsets[zone->types[after - 2]] : zone->fixed,
                               zone->times[after - 1]};
    }
    if (after == zone->count && zone->footer.is) {
        const firn__offset rule = look_at_rule(&zone->footer, sec);
        const bool newer = after == 0 || rule.since > found.since;
        found.offset = rule.offset;
        found.earlier = newer ? rule.earlier : found.earlier;
        found.since = newer ? rule.since : found.since;
    }
    return found;
}

int32_t firn_zone_offset(const firn_zone *zone, int64_t sec) {
    return firn__zone_look(zone, sec).offset;
}
