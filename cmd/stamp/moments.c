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
    "Y-M-D",          /* a date alone is the start of its day */
};
enum { FORMS = sizeof forms / sizeof forms[0], FORM_DATE = FORMS - 1 };

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
    const char *at, *end;
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
    return p->at < p->end && is_digit(*p->at);
}

/* `count` digits of a number least..most; a number outside of that has a reason. */
static bool take_number(parts *p, int count, int32_t least, int32_t most, int32_t *out,
                        const char *why) {
    int32_t number = 0;
    if (p->end - p->at < count) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        if (!is_digit(p->at[i])) {
            return false;
        }
        number = number * 10 + (p->at[i] - '0');
    }
    p->at += count;
    *out = number;
    if (number < least || number > most) {
        p->why = why;
        return false;
    }
    return true;
}

/* One of `count` names of three letters each; its place from 1. */
static bool take_name(parts *p, const char *names, int32_t count, int32_t *out) {
    for (int32_t i = 0; i < count && p->end - p->at >= 3; i++) {
        if (memcmp(p->at, names + (size_t)i * 3, 3) == 0) {
            p->at += 3;
            *out = i + 1;
            return true;
        }
    }
    return false;
}

static bool take_day(parts *p) {
    static const char why[] = "the day must be 1 to 31";
    p->at += p->at < p->end && *p->at == ' ';
    bool two = p->end - p->at >= 2 && is_digit(p->at[1]);
    return take_number(p, two ? 2 : 1, 1, 31, &p->day, why);
}

/* A point, or the comma of some locales and of Python's logging. */
static bool take_fraction(parts *p) {
    int32_t unit = 100000000;
    if (p->end - p->at < 2 || (*p->at != '.' && *p->at != ',') || !is_digit(p->at[1])) {
        return true;
    }
    for (p->at++; digit_next(p); p->at++, unit /= 10) {
        if (unit == 0) {
            p->why = "a second has at most nine digits after the point";
            return false;
        }
        p->ns += unit * (*p->at - '0');
    }
    return true;
}

/* Is it a date of eight digits and a T? */
static bool basic_next(const parts *p) {
    return p->end - p->at > 8 && (p->at[8] == 'T' || p->at[8] == 't');
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
        if (p->at < p->end && (*p->at == 'T' || *p->at == 't' || *p->at == ' ')) {
            bool blank = *p->at++ == ' ';
            p->at += blank && p->at < p->end && *p->at == ' ';
            return true;
        }
        return false;
    case 'I':
        return basic_next(p);
    default:
        return p->at < p->end && *p->at++ == part;
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

/* What may follow a time in a longer text: nothing that could belong to it. */
static bool ends(const char *at, const char *end) {
    return at == end || (!is_digit(*at) && !is_letter(*at) && strchr(".+-/_", *at) == NULL);
}

/* The length of `word` if it is here and ends here, else 0. */
static size_t word_here(const char *at, const char *end, const char *word) {
    size_t length = strlen(word);
    return (size_t)(end - at) >= length && memcmp(at, word, length) == 0 && ends(at + length, end)
               ? length
               : 0;
}

/* +hh:mm or +hhmm, and directly after the time +hh too. */
static bool take_offset(parts *p, const char *at, bool blank) {
    int32_t hours, minutes = 0;
    parts q = *p;
    q.at = at + 1;
    if (!take_number(&q, 2, 0, 23, &hours, "the hours of an offset must be 00 to 23")) {
        p->why = q.why;
        return false;
    }
    bool colon = q.at < q.end && *q.at == ':';
    q.at += colon;
    if (colon || digit_next(&q)) {
        if (!take_number(&q, 2, 0, 59, &minutes, "the minutes of an offset must be 00 to 59")) {
            p->why = q.why;
            return false;
        }
    } else if (blank) {
        return false;
    }
    if (!ends(q.at, q.end)) {
        return false;
    }
    p->at = q.at;
    p->kind = ZONE_TOLD;
    p->offset = (hours * 3600 + minutes * 60) * (*at == '-' ? -1 : 1);
    return true;
}

/* What follows the time of day, if it is a zone. */
static void take_zone(parts *p, bool zone_told) {
    bool blank = p->end - p->at >= 2 && *p->at == ' ';
    const char *at = p->at + blank;
    size_t length = 0;
    if (at == p->end) {
        return;
    }
    if (*at == '+' || *at == '-') {
        take_offset(p, at, blank);
        return;
    }
    if ((length = word_here(at, p->end, "Z")) > 0 || (length = word_here(at, p->end, "z")) > 0 ||
        (length = word_here(at, p->end, "UTC")) > 0 ||
        (length = word_here(at, p->end, "GMT")) > 0) {
        p->at = at + length;
        p->kind = ZONE_TOLD;
        return;
    }
    for (size_t i = 0; i < sizeof vague / sizeof vague[0] && blank && *at >= 'A'; i++) {
        if ((length = word_here(at, p->end, vague[i])) > 0) {
            p->why = zone_told ? p->why : "this zone abbreviation is ambiguous: set --zone";
            p->at = at + length;
            return;
        }
    }
}

/* ---- times ---------------------------------------------------------------------------------- */

/* The first second of a day, in UTC; false: there is no such day. */
static bool find_day(moments *m, uint32_t year, uint32_t month, uint32_t day, int64_t *first) {
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
static bool resolve(moments *m, parts *p, firn_time *time, bool *twice) {
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
    const char *start = p->at;
    int64_t number = 0, unit;
    bool basic = basic_next(p); /* has its own reason */
    for (; digit_next(p) && p->at - start < 17; p->at++) {
        number = number * 10 + (*p->at - '0');
    }
    switch (p->at - start) {
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
        if (p->at - start > 4 && !basic) {
            p->why =
                "10 digits are seconds, 13 ms, 16 us since 1970: write other times as @SECONDS";
        }
        return false;
    }
    time->sec = number / unit;
    time->ns = (int32_t)(number % unit * (1000000000 / unit));
    if (unit == 1) {
        p->ns = 0;
        if (p->at < p->end && *p->at == '.' && !take_fraction(p)) {
            return false;
        }
        time->ns = p->ns;
    }
    p->kind = ZONE_TOLD;
    return true;
}

/* @SECONDS[.FRACTION] and @NUMBERms, as the command takes them everywhere. */
static bool take_seconds(parts *p, firn_time *time) {
    const char *start = p->at++;
    while (p->at < p->end && (is_digit(*p->at) || memchr(".-mnsu", *p->at, 6) != NULL)) {
        p->at++;
    }
    p->kind = ZONE_TOLD;
    return firn_time_parse(time, start, (size_t)(p->at - start), NULL) == FIRN_OK;
}

static bool take_number_time(parts *p, firn_time *time) {
    return *p->at == '@' ? take_seconds(p, time) : take_epoch(p, time);
}

/* ---- the usual form ------------------------------------------------------------------------- */

/* Two digits; sets *odd if they are others. */
static inline uint32_t two_digits(const char *at, uint32_t *odd) {
    uint32_t tens = (uint32_t)at[0] - '0', ones = (uint32_t)at[1] - '0';
    *odd |= tens > 9 || ones > 9;
    return tens * 10 + ones;
}

/* The first second of a minute, YYYY-MM-DDThh:mm: most times are of the minute of the time before. False: it is something
 * else. */
static bool read_minute(moments *m, const char *text, int64_t *first) {
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

/* YYYY-MM-DDThh:mm:ss[.fraction][Z], as forms[0] with nothing unusual: no other zone, no leap second,
 * no named zone to ask. False: it is something else, which read_parts reads or gives the reason for. */
static bool read_usual(moments *m, const char *text, size_t length, firn_time *time, bool *bare) {
    uint32_t odd = 0, unit = 100000000, ns = 0;
    int64_t first;
    if (length < 19 || text[16] != ':' || !read_minute(m, text, &first)) {
        return false;
    }
    uint32_t second = two_digits(text + 17, &odd);
    const char *at = text + 19, *end = text + length;
    if (at < end && (*at == '.' || *at == ',')) {
        for (at++; at < end && is_digit(*at) && unit > 0; at++, unit /= 10) {
            ns += unit * (uint32_t)(*at - '0');
        }
        odd |= at == text + 20;
    }
    *bare = at == end;
    odd |= at < end && (at + 1 != end || (*at != 'Z' && *at != 'z'));
    if (odd || second > 59 || (*bare && m->zone.named)) {
        return false;
    }
    *time = (firn_time){first + second - (*bare ? m->zone.offset : 0), (int32_t)ns};
    m->form = 0;
    return true;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Tries every form, the last one's first. Reports the last of several reasons. */
static bool read_parts(moments *m, parts *p, bool open, firn_time *time, bool *twice) {
    const parts fresh = *p;
    const char *why = NULL;
    for (size_t i = 0; i <= FORMS + 1; i++) {
        size_t form = i == 0 ? m->form : i - 1;
        *p = fresh;
        *twice = false;
        bool numeric = form == FORMS;
        if (form == FORM_DATE && open) {
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
        if (fine && (open ? ends(p->at, p->end) : p->at == p->end)) {
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
    for (char *at = shown; *at != '\0'; at++) {
        *at = (unsigned char)*at > 126 ? '?' : *at; /* the text may not be UTF-8 */
    }
    return set_error(error, FIRN_ETEXT, "'%s' is not a time: %s", shown,
                     why != NULL && why[0] != '\0'
                         ? why
                         : "use RFC 3339, YYYY-MM-DD [hh:mm:ss], 10/Oct/2000:13:55:36 -0700, "
                           "syslog with a year, or 10, 13 or 16 digits");
}

static void count(moments *m, bool bare, bool twice) {
    m->bare += bare;
    m->twice += twice;
}

int moments_read(moments *m, const char *text, size_t length, size_t *used, firn_time *time,
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
    parts p = {.at = text, .end = text + length};
    if (length == 0 || !read_parts(m, &p, open, time, &twice)) {
        return no_time(text, length, p.why, error);
    }
    count(m, p.kind == ZONE_BARE, twice);
    if (open) {
        *used = (size_t)(p.at - text);
    } else if (length <= MOMENTS_LAST) {
        memcpy(m->last, text, length);
        m->last_length = length;
        m->last_time = *time;
        m->last_bare = p.kind == ZONE_BARE;
        m->last_twice = twice;
    }
    return FIRN_OK;
}

int moments_open(moments *m, const char *zone_name, firn_error *error) {
    memset(m, 0, sizeof *m);
    m->zone_told = zone_name != NULL;
    return zone_open(&m->zone, zone_name != NULL ? zone_name : "UTC", error);
}
