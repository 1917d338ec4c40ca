/* SPDX-License-Identifier: MIT */
/* Times as they were written: see moments.h. The calendar is the library's, which reads
 * each date once; zones are zone.c's. */
#include "moments.h"

#include "command.h"

#include <stdio.h>
#include <string.h>

/* The ways to write a date and a time of day. Each letter means a part:
 *     Y 2000   M 01..12   D 01..31   b Jan   d 1..31, blank-padded or not   w Mon
 *     h m s    two digits each; s with a fraction after a point or a comma, up to nine digits
 *     T        T, or one or two blanks
 *     I        nothing, if a T follows eight more: other digits are not a date
 * and everything else for itself. A zone may follow each of them. */
static const char *const forms[] = {
    "Y-M-DTh:m:s",    /* RFC 3339, ISO 8601, SQL, most logs */
    "d/b/Y:h:m:s",    /* the common log format of web servers */
    "b d h:m:s Y",    /* syslog with a year: at the end, */
    "b d Y h:m:s",    /* behind the date, */
    "Y b d h:m:s",    /* or in front */
    "w b d h:m:s Y",  /* ctime */
    "w, d b Y h:m:s", /* mail and HTTP, RFC 5322 */
    "Y/M/D h:m:s",    /* nginx's error log */
    "IYMDThms",       /* the basic form of ISO 8601 */
    "Y-M-DTh:m",      /* spreadsheets */
    "Y-M-D",          /* a date alone is the start of its day */
};
/* The last two could be the beginning of another form in a longer text. */
enum { FORMS = sizeof forms / sizeof forms[0], FORM_DATE = FORMS - 1, FORM_MINUTE = FORMS - 2 };

/* Names of zones that mean several; they only repeat what --zone says. */
static const char *const vague[] = {
    "ACDT", "ACST", "ADT", "AEDT", "AEST", "AKDT", "AKST", "AST", "AWST", "BST", "CAT",
    "CDT",  "CEST", "CET", "CST",  "EAT",  "EDT",  "EEST", "EET", "EST",  "HKT", "HST",
    "IDT",  "IST",  "JST", "KST",  "MDT",  "MEST", "MET",  "MSK", "MST",  "NDT", "NST",
    "NZDT", "NZST", "PDT", "PKT",  "PST",  "SAST", "SGT",  "WAT", "WEST", "WET", "WIB",
};

enum zone_kind { ZONE_BARE, ZONE_TOLD };

/* The parts of a time, as they are read. */
typedef struct parts {
    const char *start, *end;
    const char *why; /* what is wrong with a part that is otherwise of its form, or NULL */
    int32_t year, month, day, hour, minute, second, ns;
    enum zone_kind kind;
    bool is_date;   /* without a time of day */
    int32_t offset; /* of ZONE_TOLD */
} parts;

/* ---- parts ---------------------------------------------------------------------------------- */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool digit_next(const parts *p) {
    return p->start < p->end && is_digit(*p->start);
}

/* `count` digits of a number least..most; a number outside of that has a reason. */
static bool take_number(parts *p, int count, int32_t least, int32_t most, int32_t *out,
                        const char *why) {
    int32_t number = 0;
    if (p->end - p->start < count) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        if (!is_digit(p->start[i])) {
            return false;
        }
        number = number * 10 + (p->start[i] - '0');
    }
    p->start += count;
    *out = number;
    if (number < least || number > most) {
        p->why = why;
        return false;
    }
    return true;
}

/* Reads one of `count` names of three letters each; *out is its place from 1. */
static bool take_name(parts *p, const char *names, int32_t count, int32_t *out) {
    for (int32_t i = 0; i < count && p->end - p->start >= 3; i++) {
        if (memcmp(p->start, names + (size_t)i * 3, 3) == 0) {
            p->start += 3;
            *out = i + 1;
            return true;
        }
    }
    return false;
}

static bool take_day(parts *p) {
    static const char why[] = "the day must be 1 to 31";
    p->start += p->start < p->end && *p->start == ' ';
    bool two = p->end - p->start >= 2 && is_digit(p->start[1]);
    return take_number(p, two ? 2 : 1, 1, 31, &p->day, why);
}

/* A point, or the comma of some locales and of Python's logging. */
static bool take_fraction(parts *p) {
    int32_t unit = 100000000;
    if (p->end - p->start < 2 || (*p->start != '.' && *p->start != ',') || !is_digit(p->start[1])) {
        return true;
    }
    for (p->start++; digit_next(p); p->start++, unit /= 10) {
        if (unit == 0) {
            p->why = "a second has at most nine digits after the point";
            return false;
        }
        p->ns += unit * (*p->start - '0');
    }
    return true;
}

/* Is it a date of eight digits and a T? */
static bool basic_next(const parts *p) {
    return p->end - p->start > 8 && (p->start[8] == 'T' || p->start[8] == 't');
}

static bool take_part(parts *p, char part) {
    int32_t weekday;
    switch (part) {
    case 'Y':
        return take_number(p, 4, 0, 9999, &p->year, "");
    case 'M':
        return take_number(p, 2, 1, 12, &p->month, "the month must be 01 to 12");
    case 'D':
        return take_number(p, 2, 1, 31, &p->day, "the day must be 01 to 31");
    case 'b':
        return take_name(p, "JanFebMarAprMayJunJulAugSepOctNovDec", 12, &p->month);
    case 'w':
        return take_name(p, "MonTueWedThuFriSatSun", 7, &weekday);
    case 'd':
        return take_day(p);
    case 'h':
        return take_number(p, 2, 0, 23, &p->hour, "the hour must be 00 to 23");
    case 'm':
        return take_number(p, 2, 0, 59, &p->minute, "the minute must be 00 to 59");
    case 's':
        return take_number(p, 2, 0, 60, &p->second,
                           "the second must be 00 to 59, or 60 for a leap second") &&
               take_fraction(p);
    case 'T':
        if (p->start < p->end && (*p->start == 'T' || *p->start == 't' || *p->start == ' ')) {
            bool blank = *p->start++ == ' ';
            p->start += blank && p->start < p->end && *p->start == ' ';
            return true;
        }
        return false;
    case 'I':
        return basic_next(p);
    default:
        return p->start < p->end && *p->start++ == part;
    }
}

static bool take_form(parts *p, const char *form) {
    for (; *form != '\0'; form++) {
        if (!take_part(p, *form)) {
            return false;
        }
    }
    return true;
}

/* ---- zones ---------------------------------------------------------------------------------- */

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A time in a longer text must be followed by nothing that could belong to the time. */
static bool ends(const char *position, const char *end) {
    return position == end ||
           (!is_digit(*position) && !is_letter(*position) && strchr(".+-/_", *position) == NULL);
}

/* The length of `word` if it is here and ends here, else 0. */
static size_t word_here(const char *position, const char *end, const char *word) {
    size_t length = strlen(word);
    return (size_t)(end - position) >= length && memcmp(position, word, length) == 0 &&
                   ends(position + length, end)
               ? length
               : 0;
}

/* +hh:mm or +hhmm, and directly after the time +hh too. */
static bool take_offset(parts *p, const char *position, bool blank) {
    int32_t hours, minutes = 0;
    parts q = *p;
    q.start = position + 1;
    if (!take_number(&q, 2, 0, 23, &hours, "the hours of an offset must be 00 to 23")) {
        p->why = q.why;
        return false;
    }
    bool colon = q.start < q.end && *q.start == ':';
    q.start += colon;
    if (colon || digit_next(&q)) {
        if (!take_number(&q, 2, 0, 59, &minutes, "the minutes of an offset must be 00 to 59")) {
            p->why = q.why;
            return false;
        }
    } else if (blank) {
        return false;
    }
    if (!ends(q.start, q.end)) {
        return false;
    }
    p->start = q.start;
    p->kind = ZONE_TOLD;
    p->offset = (hours * 3600 + minutes * 60) * (*position == '-' ? -1 : 1);
    return true;
}

/* Reads a zone after the time of day. */
static void take_zone(parts *p, bool zone_told) {
    bool blank = p->end - p->start >= 2 && *p->start == ' ';
    const char *position = p->start + blank;
    size_t length = 0;
    if (position == p->end) {
        return;
    }
    if (*position == '+' || *position == '-') {
        take_offset(p, position, blank);
        return;
    }
    if ((length = word_here(position, p->end, "Z")) > 0 ||
        (length = word_here(position, p->end, "z")) > 0 ||
        (length = word_here(position, p->end, "UTC")) > 0 ||
        (length = word_here(position, p->end, "GMT")) > 0) {
        p->start = position + length;
        p->kind = ZONE_TOLD;
        return;
    }
    for (size_t i = 0; i < sizeof vague / sizeof vague[0] && blank && *position >= 'A'; i++) {
        if ((length = word_here(position, p->end, vague[i])) > 0) {
            p->why = zone_told ? p->why : "this zone abbreviation is ambiguous: set --zone";
            p->start = position + length;
            return;
        }
    }
}

/* ---- times ---------------------------------------------------------------------------------- */

/* The first second of a day, in UTC; false: there is no such day. */
static bool find_day(record_times *m, uint32_t year, uint32_t month, uint32_t day, int64_t *first) {
    uint32_t date = year << 9 | month << 5 | day;
    moments_day *kept = &m->days[date % MOMENTS_DAYS];
    if (kept->date != date) {
        char text[16];
        firn_time time;
        int length = snprintf(text, sizeof text, "%04u-%02u-%02u", year, month, day);
        if (firn_time_parse(&time, text, (size_t)length, NULL) != FIRN_OK) {
            return false;
        }
        *kept = (moments_day){date, time.sec};
    }
    *first = kept->first;
    return true;
}

/* Second 60 is the last moment of second 59. */
static bool resolve(record_times *m, parts *p, firn_time *time, bool *twice) {
    bool leap = p->second == 60;
    int64_t local;
    *twice = false;
    if (!find_day(m, (uint32_t)p->year, (uint32_t)p->month, (uint32_t)p->day, &local)) {
        p->why = "the month has fewer days";
        return false;
    }
    local += p->hour * 3600 + p->minute * 60 + (leap ? 59 : p->second);
    if (p->kind == ZONE_TOLD) {
        time->sec = local - p->offset;
    } else {
        bool found = zone_utc(&m->zone, local, &time->sec, twice);
        for (int i = 0; i < 8 && !found && p->is_date; i++) { /* a day may begin at one o'clock */
            local += 1800;
            found = zone_utc(&m->zone, local, &time->sec, twice);
        }
        if (!found) {
            p->why = "this local time never occurred, because clocks skipped it";
            return false;
        }
    }
    time->ns = leap ? 999999999 : p->ns;
    return true;
}

/* Seconds, milliseconds or microseconds since 1970, by the number of digits. */
static bool take_epoch(parts *p, firn_time *time) {
    const char *start = p->start;
    int64_t number = 0, unit;
    bool basic = basic_next(p); /* has its own reason */
    for (; digit_next(p) && p->start - start < 17; p->start++) {
        number = number * 10 + (*p->start - '0');
    }
    switch (p->start - start) {
    case 10:
        unit = 1;
        break;
    case 13:
        unit = 1000;
        break;
    case 16:
        unit = 1000000;
        break;
    default:
        if (p->start - start > 4 && !basic) {
            p->why =
                "10 digits are seconds, 13 ms, 16 us since 1970: write other times as @SECONDS";
        }
        return false;
    }
    time->sec = number / unit;
    time->ns = (int32_t)(number % unit * (1000000000 / unit));
    if (unit == 1) {
        p->ns = 0;
        if (p->start < p->end && *p->start == '.' && !take_fraction(p)) {
            return false;
        }
        time->ns = p->ns;
    }
    p->kind = ZONE_TOLD;
    return true;
}

/* @SECONDS[.FRACTION] and @NUMBERms, as the command takes them everywhere. */
static bool take_seconds(parts *p, firn_time *time) {
    const char *start = p->start++;
    while (p->start < p->end && (is_digit(*p->start) || memchr(".-mnsu", *p->start, 6) != NULL)) {
        p->start++;
    }
    p->kind = ZONE_TOLD;
    return firn_time_parse(time, start, (size_t)(p->start - start), NULL) == FIRN_OK;
}

static bool take_number_time(parts *p, firn_time *time) {
    return *p->start == '@' ? take_seconds(p, time) : take_epoch(p, time);
}

/* ---- the usual form ------------------------------------------------------------------------- */

/* Two digits; sets *odd if they are others. */
static inline uint32_t two_digits(const char *position, uint32_t *odd) {
    uint32_t tens = (uint32_t)position[0] - '0', ones = (uint32_t)position[1] - '0';
    *odd |= tens > 9 || ones > 9;
    return tens * 10 + ones;
}

/* The first second of a minute, YYYY-MM-DDThh:mm: most times are of the minute of the time before.
 * False: it is something else. */
static bool read_minute(record_times *m, const char *text, int64_t *first) {
    uint32_t odd = 0;
    if (m->minute[0] != '\0' && memcmp(text, m->minute, MOMENTS_MINUTE) == 0) {
        *first = m->minute_first;
        return true;
    }
    if (text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != ' ') ||
        text[13] != ':') {
        return false;
    }
    uint32_t year = two_digits(text, &odd) * 100 + two_digits(text + 2, &odd);
    uint32_t month = two_digits(text + 5, &odd), day = two_digits(text + 8, &odd);
    uint32_t hour = two_digits(text + 11, &odd), minute = two_digits(text + 14, &odd);
    if (odd || month - 1 > 11 || day - 1 > 30 || hour > 23 || minute > 59 ||
        !find_day(m, year, month, day, first)) {
        return false;
    }
    *first += hour * 3600 + minute * 60;
    memcpy(m->minute, text, MOMENTS_MINUTE);
    m->minute_first = *first;
    return true;
}

/* YYYY-MM-DDThh:mm:ss[.fraction][Z], as forms[0] with nothing unusual: no other zone, no leap
 * second, no named zone to ask. False: it is something else, which read_parts reads or gives the
 * reason for. */
static bool read_usual(record_times *m, const char *text, size_t length, firn_time *time,
                       bool *bare) {
    uint32_t odd = 0, unit = 100000000, ns = 0;
    int64_t first;
    if (length < 19 || text[16] != ':' || !read_minute(m, text, &first)) {
        return false;
    }
    uint32_t second = two_digits(text + 17, &odd);
    const char *position = text + 19, *end = text + length;
    if (position < end && (*position == '.' || *position == ',')) {
        for (position++; position < end && is_digit(*position) && unit > 0;
             position++, unit /= 10) {
            ns += unit * (uint32_t)(*position - '0');
        }
        odd |= position == text + 20;
    }
    *bare = position == end;
    odd |= position < end && (position + 1 != end || (*position != 'Z' && *position != 'z'));
    if (odd || second > 59 || (*bare && m->zone.named)) {
        return false;
    }
    *time = (firn_time){first + second - (*bare ? m->zone.offset : 0), (int32_t)ns};
    m->form = 0;
    return true;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Tries every form, the last one's first. Reports the last of several reasons. */
static bool read_parts(record_times *m, parts *p, bool open, firn_time *time, bool *twice) {
    const parts fresh = *p;
    const char *why = NULL;
    for (size_t i = 0; i <= FORMS + 1; i++) {
        size_t form = i == 0 ? m->form : i - 1;
        *p = fresh;
        *twice = false;
        bool numeric = form == FORMS;
        if ((form == FORM_DATE || form == FORM_MINUTE) && open) {
            continue;
        }
        bool fine = numeric ? take_number_time(p, time) : take_form(p, forms[form]);
        p->is_date = fine && form == FORM_DATE;
        if (fine && !numeric) {
            if (!p->is_date) { /* an apparent offset after a date is an hour */
                take_zone(p, m->zone_told);
            }
            fine = p->why == NULL && resolve(m, p, time, twice);
        }
        if (fine && (open ? ends(p->start, p->end) : p->start == p->end)) {
            m->form = form;
            return true;
        }
        why = p->why != NULL ? p->why : why;
    }
    p->why = why;
    return false;
}

static int no_time(const char *text, size_t length, const char *why, firn_error *error) {
    enum { SHOWN = 36 };
    char shown[SHOWN + 4] = "";
    if (length == 0) {
        return set_error(error, FIRN_ETEXT,
                         "the time is empty: fill it in, or use --on-error skip");
    }
    snprintf(shown, sizeof shown, "%.*s%s", length > SHOWN ? SHOWN : (int)length, text,
             length > SHOWN ? "..." : "");
    for (char *position = shown; *position != '\0'; position++) {
        *position =
            (unsigned char)*position > 126 ? '?' : *position; /* the text may not be UTF-8 */
    }
    return set_error(error, FIRN_ETEXT, "'%s' is not a time: %s", shown,
                     why != NULL && why[0] != '\0'
                         ? why
                         : "use RFC 3339, YYYY-MM-DD [hh:mm[:ss]], 10/Oct/2000:13:55:36 -0700, "
                           "syslog with a year, or 10, 13 or 16 digits");
}

static void count(record_times *m, bool bare, bool twice) {
    m->bare += bare;
    m->twice += twice;
}

int moments_read(record_times *m, const char *text, size_t length, size_t *used, firn_time *time,
                 firn_error *error) {
    bool open = used != NULL, twice, bare;
    while (!open && length > 0 && *text == ' ') {
        text++;
        length--;
    }
    while (!open && length > 0 && text[length - 1] == ' ') {
        length--;
    }
    if (!open && length > 0 && length == m->last_length && memcmp(text, m->last, length) == 0) {
        *time = m->last_time;
        count(m, m->last_bare, m->last_twice);
        return FIRN_OK;
    }
    if (!open && read_usual(m, text, length, time, &bare)) {
        count(m, bare, false);
        return FIRN_OK;
    }
    parts p = {.start = text, .end = text + length};
    if (length == 0 || !read_parts(m, &p, open, time, &twice)) {
        return no_time(text, length, p.why, error);
    }
    count(m, p.kind == ZONE_BARE, twice);
    if (open) {
        *used = (size_t)(p.start - text);
    } else if (length <= MOMENTS_LAST) {
        memcpy(m->last, text, length);
        m->last_length = length;
        m->last_time = *time;
        m->last_bare = p.kind == ZONE_BARE;
        m->last_twice = twice;
    }
    return FIRN_OK;
}

int moments_open(record_times *m, const char *zone_name, firn_error *error) {
    memset(m, 0, sizeof *m);
    m->zone_told = zone_name != NULL;
    return zone_open(&m->zone, zone_name != NULL ? zone_name : "UTC", error);
}

void moments_close(record_times *m) {
    zone_close(&m->zone);
}
