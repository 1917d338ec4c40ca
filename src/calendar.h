/* SPDX-License-Identifier: MIT */
/* The Gregorian calendar, extended to all years: days since 1970 and their dates. Knows no time of
 * the day and no zone. */
#ifndef FIRN_CALENDAR_H
#define FIRN_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

/* A day of the Gregorian calendar, extended to all years. */
typedef struct firn__date {
    int64_t year;
    int32_t month; /* 1..12 */
    int32_t day;   /* 1..31 */
} firn__date;

/* Years begin in March, so the leap day is the last day of its year. Each era of 400 years has
 * 146097 days. Day 0 is 1970-01-01, day -719468 is 0000-03-01. */
enum { FIRN__ERA = 146097, FIRN__MARCH_0 = 719468 };

enum { FIRN__DAY_S = 86400 };

static inline int64_t firn__floor_div(int64_t a, int64_t b) {
    return a / b - (a % b < 0);
}

static inline firn__date firn__date_of(int64_t days) {
    int64_t era = firn__floor_div(days + FIRN__MARCH_0, FIRN__ERA);
    int32_t day = (int32_t)(days + FIRN__MARCH_0 - era * FIRN__ERA); /* of the era, 0..146096 */
    int32_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    int32_t rest = day - (365 * year + year / 4 - year / 100); /* of the year, 0..365 */
    int32_t month = (5 * rest + 2) / 153;                      /* 0 is March */
    firn__date out = {era * 400 + year, month < 10 ? month + 3 : month - 9, 0};
    out.day = rest - (153 * month + 2) / 5 + 1;
    out.year += out.month <= 2;
    return out;
}

static inline int64_t firn__days_of(const firn__date *when) {
    int64_t march = when->year - (when->month <= 2), era = firn__floor_div(march, 400);
    int64_t year = march - era * 400;
    int64_t month = when->month > 2 ? when->month - 3 : when->month + 9;
    return era * FIRN__ERA + 365 * year + year / 4 - year / 100 + (153 * month + 2) / 5 +
           when->day - 1 - FIRN__MARCH_0;
}

static inline int32_t firn__days_in_month(int64_t year, int32_t month) {
    static const int8_t days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

#endif
