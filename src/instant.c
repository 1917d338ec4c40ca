/* SPDX-License-Identifier: MIT */
/* Times: RFC 3339 and @SECONDS text to exact seconds and nanoseconds and back, with integers only.
 * Every second of 64 bits has a text. Reads no clock and knows no scheme. */
#include "instant.h"

#include "calendar.h"
#include "error.h"
#include "number.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { DAY = 86400, BILLION = 1000000000 };

/* Every second of 64 bits is in the years -292277022657 to 292277026596. */
#define YEAR_MAX INT64_C(292277026596)

int firn__time_check(const firn_time *time, firn_error *error) {
    return time->ns >= 0 && time->ns < BILLION
               ? FIRN_OK
               : firn__fail(error, FIRN_ERANGE,
                            "%" PRId32 " ns are out of range (0 to 999999999): carry the rest into "
                            "the seconds",
                            time->ns);
}

int firn_time_cmp(const firn_time *a, const firn_time *b) {
    if (a->sec != b->sec) {
        return a->sec < b->sec ? -1 : 1;
    }
    return a->ns < b->ns ? -1 : a->ns > b->ns;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* A number in `width` digits or more; returns the end. */
static char *put(char *out, uint64_t number, size_t width) {
    char digits[24];
    size_t length = firn__number_put(digits, number);
    for (; length < width; width--) {
        *out++ = '0';
    }
    memcpy(out, digits, length);
    return out + length;
}

static char *put_year(char *out, int64_t year) {
    if (year >= 0 && year <= 9999) {
        return put(out, (uint64_t)year, 4);
    }
    *out++ = year < 0 ? '-' : '+';
    return put(out, (uint64_t)(year < 0 ? -year : year), 5);
}

char *firn_time_format(char text[FIRN_TIME_SIZE], const firn_time *time, int digits) {
    assert(time->ns >= 0 && time->ns < BILLION);
    int64_t days = firn__floor_div(time->sec, DAY);
    uint64_t second = (uint64_t)(time->sec % DAY + (time->sec % DAY < 0 ? DAY : 0));
    firn__date when = firn__date_of(days);
    char *out = put_year(text, when.year);
    *out++ = '-';
    out = put(out, (uint64_t)when.month, 2);
    *out++ = '-';
    out = put(out, (uint64_t)when.day, 2);
    *out++ = 'T';
    out = put(out, second / 3600, 2);
    *out++ = ':';
    out = put(out, second / 60 % 60, 2);
    *out++ = ':';
    out = put(out, second % 60, 2);
    if (digits > 0) {
        *out++ = '.';
        put(out, (uint64_t)time->ns, 9);
        out += digits < 9 ? digits : 9;
    }
    *out++ = 'Z';
    *out = '\0';
    return text;
}

char *firn_time_unix_ns(char text[FIRN_TIME_SIZE], const firn_time *time) {
    assert(time->ns >= 0 && time->ns < BILLION);
    char *out = text;
    uint64_t sec = (uint64_t)time->sec, ns = (uint64_t)time->ns;
    if (time->sec < 0) { /* {-1, 500000000} is -0.5 s */
        *out++ = '-';
        sec = 0 - sec - (ns > 0);
        ns = ns > 0 ? BILLION - ns : 0;
    }
    if (sec > 0) {
        out = put(out, sec, 1);
    }
    out = put(out, ns, sec > 0 ? 9 : 1);
    *out = '\0';
    return text;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* A text and the position of the reader. After an error, `failed` is its code and nothing more is
 * read. */
typedef struct {
    const char *text;
    size_t length;
    size_t position;
    int failed;
    firn_error *error;
} reader;

static void fail(reader *in, size_t position, const char *why) {
    if (in->failed == FIRN_OK) {
        in->failed = firn__refuse(in->error, in->text, in->length, position, why);
    }
}

static bool next_is(const reader *in, char c) {
    return in->failed == FIRN_OK && in->position < in->length && in->text[in->position] == c;
}

static bool next_is_digit(const reader *in) {
    return in->failed == FIRN_OK && in->position < in->length && in->text[in->position] >= '0' &&
           in->text[in->position] <= '9';
}

static bool take_char(reader *in, char c) {
    bool is = next_is(in, c);
    in->position += is;
    return is;
}

static void expect(reader *in, char c, const char *why) {
    if (!take_char(in, c)) {
        fail(in, in->position, why);
    }
}

/* `count` digits. */
static int32_t take_digits(reader *in, int count, const char *why) {
    int32_t number = 0;
    for (; count > 0; count--) {
        if (!next_is_digit(in)) {
            fail(in, in->position, why);
            return 0;
        }
        number = number * 10 + (in->text[in->position++] - '0');
    }
    return number;
}

/* A number of two digits, least..most. */
static int32_t take_two(reader *in, int32_t least, int32_t most, const char *why) {
    size_t start = in->position;
    int32_t number = take_digits(in, 2, why);
    if (number < least || number > most) {
        fail(in, start, why);
    }
    return number;
}

/* A decimal number of one digit or more, at most `most`, which has two digits or more. */
static uint64_t take_number(reader *in, uint64_t most, const char *why) {
    uint64_t number = 0;
    if (!next_is_digit(in)) {
        fail(in, in->position, "a digit is needed");
    }
    for (; next_is_digit(in); in->position++) {
        uint64_t digit = (uint64_t)(in->text[in->position] - '0');
        if (number > (most - digit) / 10) {
            fail(in, in->position, why);
            return 0;
        }
        number = number * 10 + digit;
    }
    return number;
}

/* The digits after a point, if there is one, in nanoseconds. */
static int32_t take_fraction(reader *in) {
    int32_t ns = 0, unit = BILLION;
    if (!take_char(in, '.')) {
        return 0;
    }
    if (!next_is_digit(in)) {
        fail(in, in->position, "a digit must follow the point");
    }
    for (; next_is_digit(in); in->position++) {
        unit /= 10;
        if (unit == 0) {
            fail(in, in->position, "a second has at most nine decimals");
            return 0;
        }
        ns += unit * (in->text[in->position] - '0');
    }
    return ns;
}

/* Four digits, or a sign and five or more. */
static int64_t take_year(reader *in) {
    static const char why[] =
        "a year has four digits, or a sign and five or more: write 2024-01-31";
    static const char far[] = "years reach from -292277022657 to +292277026596";
    static const char forms[] = "write 2024-01-31, 2024-01-31T12:00:00Z or @SECONDS since 1970";
    bool negative = next_is(in, '-');
    if (!negative && !next_is(in, '+')) {
        return take_digits(in, 4, next_is_digit(in) ? why : forms);
    }
    size_t start = ++in->position;
    int64_t year = (int64_t)take_number(in, (uint64_t)YEAR_MAX, far);
    if (in->position - start < 5) {
        fail(in, in->position, why);
    }
    if (negative && year == 0) {
        fail(in, start, "write the year 0 as 0000, or with +");
    }
    return negative ? -year : year;
}

static void take_date(reader *in, firn__date *when) {
    when->year = take_year(in);
    expect(in, '-', "'-' is needed after the year (above 9999 it begins with +): write 2024-01-31");
    when->month = take_two(in, 1, 12, "the month must be 01 to 12");
    expect(in, '-', "'-' is needed after the month");
    size_t start = in->position;
    when->day = take_two(in, 1, 31, "the day must be 01 to 31");
    if (in->failed == FIRN_OK && when->day > firn__days_in_month(when->year, when->month)) {
        fail(in, start, "the month has fewer days");
    }
}

/* hh:mm:ss[.fraction], in seconds. */
static int32_t take_clock(reader *in, int32_t *ns) {
    int32_t hour = take_two(in, 0, 23, "the hour must be 00 to 23");
    expect(in, ':', "':' is needed after the hour");
    int32_t minute = take_two(in, 0, 59, "the minute must be 00 to 59");
    expect(in, ':', "':' and the seconds are needed: write 12:00:00Z");
    size_t start = in->position;
    int32_t second = take_two(in, 0, 60, "the second must be 00 to 59");
    if (second == 60) {
        fail(in, start, "leap seconds are not supported: write 59, or 00 of the next minute");
    }
    *ns = take_fraction(in);
    return hour * 3600 + minute * 60 + second;
}

/* Z or +hh:mm, in seconds. */
static int32_t take_offset(reader *in) {
    if (take_char(in, 'Z') || take_char(in, 'z')) {
        return 0;
    }
    bool west = next_is(in, '-');
    if (!west && !next_is(in, '+')) {
        fail(in, in->position, "an offset is needed: Z for UTC, or +hh:mm or -hh:mm");
        return 0;
    }
    in->position++;
    int32_t hour = take_two(in, 0, 23, "the hours of the offset must be 00 to 23");
    expect(in, ':', "':' is needed between hours and minutes of the offset");
    int32_t minute = take_two(in, 0, 59, "the minutes of the offset must be 00 to 59");
    return (hour * 60 + minute) * (west ? -60 : 60);
}

/* Days and seconds (-DAY < seconds < 2 * DAY) to seconds. Times before 1970 are mirrored (-1 - x)
 * and mirrored back, so one check covers both ends. */
static void join(reader *in, firn_time *time, int64_t days, int32_t seconds) {
    if (seconds < 0 || seconds >= DAY) {
        days += seconds < 0 ? -1 : 1;
        seconds += seconds < 0 ? DAY : -DAY;
    }
    bool before = days < 0;
    days = before ? -1 - days : days;
    seconds = before ? DAY - 1 - seconds : seconds;
    if (days > INT64_MAX / DAY || (days == INT64_MAX / DAY && seconds > INT64_MAX % DAY)) {
        fail(in, 0, "the time is out of range of 64-bit seconds");
        return;
    }
    time->sec = days * DAY + seconds;
    time->sec = before ? -1 - time->sec : time->sec;
}

static void take_rfc3339(reader *in, firn_time *time) {
    firn__date when = {0, 1, 1};
    int32_t seconds = 0;
    take_date(in, &when);
    if (in->failed == FIRN_OK && in->position < in->length) {
        const bool blank = !take_char(in, 'T') && !take_char(in, 't');
        if (blank) {
            expect(in, ' ', "'T' and a time are needed after a date");
        }
        seconds = take_clock(in, &time->ns);
        /* A spreadsheet writes a blank and no offset: UTC, as for a date. */
        if (!blank || in->position < in->length) {
            seconds -= take_offset(in);
        }
    }
    if (in->failed == FIRN_OK) {
        join(in, time, firn__days_of(&when), seconds);
    }
}

/* The ns of `number` units, which becomes seconds, if ms, us or ns follow. */
static int32_t take_unit(reader *in, uint64_t *number) {
    static const struct {
        const char *name;
        uint32_t per_second;
    } units[] = {{"ms", 1000}, {"us", 1000000}, {"ns", BILLION}};
    for (size_t i = 0; in->failed == FIRN_OK && i < sizeof units / sizeof *units; i++) {
        if (in->length - in->position == 2 &&
            memcmp(in->text + in->position, units[i].name, 2) == 0) {
            const uint64_t part = *number % units[i].per_second;
            in->position += 2;
            *number /= units[i].per_second;
            return (int32_t)(part * (BILLION / units[i].per_second));
        }
    }
    return 0;
}

/* @SECONDS[.FRACTION], or a whole number with a unit, as @1288834974657ms */
static void take_unix(reader *in, firn_time *time) {
    in->position++;
    size_t start = in->position;
    bool negative = take_char(in, '-');
    uint64_t most = (uint64_t)INT64_MAX + negative;
    uint64_t seconds = take_number(in, most, "the time is out of range of 64-bit seconds");
    time->ns = next_is(in, '.') ? take_fraction(in) : take_unit(in, &seconds);
    if (negative && time->ns > 0) {
        if (seconds == most) {
            fail(in, start, "the time is out of range of 64-bit seconds");
            return;
        }
        seconds++;
        time->ns = BILLION - time->ns;
    }
    time->sec = negative && seconds > 0 ? -1 - (int64_t)(seconds - 1) : (int64_t)seconds;
}

int firn_time_parse(firn_time *time, const char *text, size_t length, firn_error *error) {
    reader in = {text, length, 0, FIRN_OK, error};
    firn_time read = {0, 0};
    size_t digits = 0;
    while (digits < length && text[digits] >= '0' && text[digits] <= '9') {
        digits++;
    }
    if (digits == length && digits > 11 && digits < 16) {
        return firn__fail(error, FIRN_ETEXT,
                          "'%.*s' is not a valid time: write milliseconds since 1970 as @%.*sms",
                          length < 16 ? (int)length : 16, text, length < 16 ? (int)length : 16,
                          text);
    }
    if (digits == length && digits > 4) {
        return firn__fail(error, FIRN_ETEXT,
                          "'%.*s' is not a valid time: write seconds since 1970 as @SECONDS",
                          length < 40 ? (int)length : 40, text);
    }
    if (next_is(&in, '@')) {
        take_unix(&in, &read);
    } else {
        take_rfc3339(&in, &read);
    }
    if (in.failed == FIRN_OK && in.position < length) {
        fail(&in, in.position, "the time ends before this character");
    }
    if (in.failed == FIRN_OK) {
        *time = read;
    }
    return in.failed;
}
