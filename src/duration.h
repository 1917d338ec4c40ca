/* SPDX-License-Identifier: MIT */
/* Durations as text: a number and a unit, such as 5s or 1.5min. The library, its modules, the
 * command, the server and the SQL extensions include this file. */
#ifndef FIRN_DURATION_H
#define FIRN_DURATION_H

#include "error_text.h"

#include <inttypes.h>
#include <stdbool.h>

#define FIRN__DURATION_SIZE 32

/* The units that are written come first, the largest before the others. A year is 365.25 days. */
static const struct firn__unit {
    const char *name;
    int64_t us;
} firn__units[] = {{"d", 86400000000}, {"h", 3600000000}, {"min", 60000000},    {"s", 1000000},
                   {"ms", 1000},       {"us", 1},         {"y", 31557600000000}};
enum { FIRN__UNITS = sizeof firn__units / sizeof firn__units[0], FIRN__UNITS_WRITTEN = 6 };

/* The microseconds of a unit; 0: there is no such unit. */
static inline int64_t firn__unit_us(const char *name) {
    for (size_t i = 0; i < FIRN__UNITS; i++) {
        if (strcmp(firn__units[i].name, name) == 0) {
            return firn__units[i].us;
        }
    }
    return 0;
}

/* Reads a whole number of microseconds, 2^63 - 1 if it is larger; 0 needs no unit. False: not a
 * duration, or finer than a microsecond. */
static inline bool firn__duration_read(int64_t *us, const char *text) {
    static const char digits[] = "0123456789";
    const size_t whole = strspn(text, digits);
    const bool point = text[whole] == '.';
    const size_t decimals = point ? strspn(text + whole + 1, digits) : 0;
    const char *name = text + whole + point + decimals;
    int64_t unit = strcmp(text, "0") == 0 ? 1 : firn__unit_us(name), sum = 0;
    bool large = false;
    if (whole == 0 || (point && decimals == 0) || unit == 0) {
        return false;
    }
    for (const char *position = text; position < text + whole; position++) {
        large = large || __builtin_mul_overflow(sum, 10, &sum) ||
                __builtin_add_overflow(sum, *position - '0', &sum);
    }
    large = large || __builtin_mul_overflow(sum, unit, &sum);
    for (const char *position = text + whole + 1; position < name; position++) {
        if ((unit == 0 || unit % 10 != 0) && *position != '0') {
            return false;
        }
        unit /= 10;
        large = large || __builtin_add_overflow(sum, (*position - '0') * unit, &sum);
    }
    *us = large ? INT64_MAX : sum;
    return true;
}

/* The unit to add to a value of a key whose name had ended with `unit`; "": the value has one. */
static inline const char *firn__duration_unit(const char *value, const char *unit) {
    return value[strspn(value, "0123456789")] == '\0' ? unit : "";
}

/* Writes a duration as a whole number of the largest unit that fits; returns `text`. */
static inline char *firn__duration_write(char text[FIRN__DURATION_SIZE], int64_t us) {
    size_t i = us == 0 ? 3 : 0;
    while (i < FIRN__UNITS_WRITTEN - 1 && us % firn__units[i].us != 0) {
        i++;
    }
    snprintf(text, FIRN__DURATION_SIZE, "%" PRId64 "%s", us / firn__units[i].us,
             firn__units[i].name);
    return text;
}

/* The text of a duration of `ms`, until the end of the block. */
#define FIRN__MS(ms) firn__duration_write((char[FIRN__DURATION_SIZE]){""}, (ms)*1000)

__attribute__((format(printf, 3, 4))) static inline int firn__duration_refuse(firn_error *error,
                                                                              int code,
                                                                              const char *format,
                                                                              ...) {
    va_list arguments;
    va_start(arguments, format);
    firn__error_write(error, code, FIRN_CURE_NONE, format, arguments);
    va_end(arguments);
    return code;
}

/* Reads a duration as a whole number of `unit`, least..most. `before` precedes the errors, such as
 * "window=". FIRN_EUSAGE: not a duration; FIRN_ERANGE. */
static inline int firn__duration_set(int64_t *value, const char *before, const char *text,
                                     const char *unit, int64_t least, int64_t most,
                                     firn_error *error) {
    const int64_t unit_us = firn__unit_us(unit);
    char low[FIRN__DURATION_SIZE], high[FIRN__DURATION_SIZE];
    const size_t number = strspn(text, "0123456789.");
    int64_t us;
    if (number > 0 && strcmp(text + number, "m") == 0) {
        return firn__duration_refuse(error, FIRN_EUSAGE,
                                     "%s" FIRN__VALUE("%.40s") " has no such unit: write "
                                                               "%.40sin or %.40ss",
                                     before, text, text, text);
    }
    if (text[0] != '\0' && text[strspn(text, "0123456789")] == '\0' && strcmp(text, "0") != 0) {
        return firn__duration_refuse(error, FIRN_EUSAGE,
                                     "%s" FIRN__VALUE("%.40s") " has no unit: write %.40s%s",
                                     before, text, text, unit);
    }
    if (!firn__duration_read(&us, text)) {
        return firn__duration_refuse(
            error, FIRN_EUSAGE,
            "%s" FIRN__VALUE("%.40s") " is not a duration: write a number "
                                      "and us, ms, s, min, h or d, such as 5%s",
            before, text, unit);
    }
    if (us < least * unit_us || us > most * unit_us) {
        return firn__duration_refuse(error, FIRN_ERANGE,
                                     "%s" FIRN__VALUE("%.40s") " is out of range (" FIRN__LIMIT(
                                         "%s to %s") "): choose a duration in this range",
                                     before, text, firn__duration_write(low, least * unit_us),
                                     firn__duration_write(high, most * unit_us));
    }
    if (us % unit_us != 0) {
        return firn__duration_refuse(error, FIRN_EUSAGE,
                                     "%s" FIRN__VALUE("%.40s") " is not a whole number of %s: "
                                                               "round it, for example to %s",
                                     before, text, unit,
                                     firn__duration_write(high, us / unit_us * unit_us + unit_us));
    }
    *value = us / unit_us;
    return FIRN_OK;
}

#endif
