/* SPDX-License-Identifier: MIT */
/* The text form that begins with a date: yyyyMMddHHmmssSSS in UTC, then the random digits of
 * time-random, or member and sequence of time-member. The date and the sequence have fixed
 * lengths, so each text has one reading. */
#include "date_form.h"

#include "bits.h"
#include "error.h"
#include "number.h"

#include <stdio.h>
#include <string.h>

enum { CALENDAR = FIRN__DATED_CALENDAR, COUNT = FIRN__DATED_COUNT, MEMBER_DIGITS = 19 };

/* Bits of 10^n - 1. */
static const uint8_t digit_bits[FIRN__DATED_DIGITS + 1] = {0,  4,  7,  10, 14, 17, 20, 24, 27, 30,
                                                           34, 37, 40, 44, 47, 50, 54, 57, 60};

uint32_t firn__dated_bits(uint32_t digits) {
    return digit_bits[digits];
}

uint32_t firn__dated_digits(uint32_t bits) {
    for (uint32_t digits = 1; digits <= FIRN__DATED_DIGITS; digits++) {
        if (bits == FIRN__DATED_TIME + (uint32_t)digit_bits[digits]) {
            return digits;
        }
    }
    return 0;
}

size_t firn__dated_width(uint32_t bits) {
    uint32_t digits = bits == FIRN__DATED_MEMBER ? MEMBER_DIGITS + COUNT : firn__dated_digits(bits);
    return digits == 0 ? 0 : CALENDAR + digits;
}

/* ---- writing ------------------------------------------------------------------------------- */

static void put_calendar(char *out, uint64_t ms) {
    char text[FIRN_TIME_SIZE];
    firn_time time = {(int64_t)(ms / 1000), (int32_t)(ms % 1000 * 1000000)};
    firn_time_format(text, &time, 3);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c >= '0' && *c <= '9') {
            *out++ = *c;
        }
    }
}

static void put_padded(char *out, uint64_t number, uint32_t digits) {
    for (; digits > 0; number /= 10) {
        out[--digits] = (char)('0' + number % 10);
    }
}

size_t firn__dated_write(char *out, const firn_id *id) {
    if (firn__dated_width(id->bits) == 0) {
        return 0;
    }
    uint32_t digits = firn__dated_digits(id->bits), below = id->bits - FIRN__DATED_TIME;
    uint64_t ms = firn__get(id, below, FIRN__DATED_TIME).low;
    if (ms >= FIRN__DATED_END) {
        return 0;
    }
    if (digits == 0) {
        uint64_t member = firn__get(id, FIRN__DATED_SEQUENCE, below - FIRN__DATED_SEQUENCE).low;
        size_t length = CALENDAR + firn__number_put(out + CALENDAR, member);
        put_calendar(out, ms);
        put_padded(out + length, firn__get(id, 0, FIRN__DATED_SEQUENCE).low, COUNT);
        return length + COUNT;
    }
    uint64_t number = firn__get(id, 0, below).low;
    if (number >= firn__power_of_ten(digits)) {
        return 0;
    }
    put_calendar(out, ms);
    put_padded(out + CALENDAR, number, digits);
    return CALENDAR + digits;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Up to 19 digits. */
static uint64_t number_of(const char *text, size_t digits) {
    uint64_t number = 0;
    for (size_t i = 0; i < digits; i++) {
        number = number * 10 + (uint64_t)(text[i] - '0');
    }
    return number;
}

/* A part of the date, and the message if it is out of range. */
static const struct {
    uint8_t at, digits;
    uint16_t least, most;
    const char *why;
} parts[] = {{0, 4, 1970, 9999, "the year must be 1970 to 9999"},
             {4, 2, 1, 12, "the month must be 01 to 12"},
             {6, 2, 1, 31, "the day must be 01 to 31"},
             {8, 2, 0, 23, "the hour must be 00 to 23"},
             {10, 2, 0, 59, "the minute must be 00 to 59"},
             {12, 2, 0, 59, "the second must be 00 to 59"}};

/* Reads 17 digits. NULL, or why they are not a valid date; *position is then where. */
static const char *get_calendar(uint64_t *ms, const char *text, size_t *position) {
    char usual[FIRN_TIME_SIZE];
    firn_time time;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        uint64_t number = number_of(text + parts[i].at, parts[i].digits);
        if (number < parts[i].least || number > parts[i].most) {
            *position = parts[i].at;
            return parts[i].why;
        }
    }
    snprintf(usual, sizeof usual, "%.4s-%.2s-%.2sT%.2s:%.2s:%.2s.%.3sZ", text, text + 4, text + 6,
             text + 8, text + 10, text + 12, text + 14);
    if (firn_time_parse(&time, usual, strlen(usual), NULL) != FIRN_OK) {
        *position = 6;
        return "the month has fewer days";
    }
    *ms = (uint64_t)time.sec * 1000 + (uint64_t)time.ns / 1000000;
    return NULL;
}

/* Reads member and sequence into `id`, which has its time already. */
static const char *get_member(firn_id *id, const char *text, size_t length, size_t *position) {
    size_t digits = length - CALENDAR - COUNT;
    uint64_t member = number_of(text + CALENDAR, digits);
    uint64_t count = number_of(text + length - COUNT, COUNT);
    *position = CALENDAR;
    if (text[CALENDAR] == '0' && digits > 1) {
        return "a member must not begin with 0";
    }
    if (member > INT64_MAX) {
        return "a member is at most 9223372036854775807";
    }
    *position = length - COUNT;
    if (count > firn__mask(FIRN__DATED_SEQUENCE)) {
        return "the sequence, the last three digits, is at most 511";
    }
    firn__push(id, (firn_value){member, 0}, 63);
    firn__push(id, (firn_value){count, 0}, FIRN__DATED_SEQUENCE);
    return NULL;
}

/* NULL, or why the text is not valid, and at which character. */
static const char *get_all(firn_id *id, const char *text, size_t length, size_t *position) {
    firn_id read = {0, 0, 0, id->bits};
    uint32_t digits = firn__dated_digits(id->bits);
    size_t least = digits > 0 ? CALENDAR + digits : CALENDAR + 1 + COUNT;
    size_t most = firn__dated_width(id->bits);
    uint64_t ms = 0;
    for (*position = 0; *position < length && *position < most; (*position)++) {
        if (text[*position] < '0' || text[*position] > '9') {
            return "a decimal digit is needed";
        }
    }
    if (length < least || length > most) {
        *position = length < least ? length : most;
        return "";
    }
    const char *why = get_calendar(&ms, text, position);
    if (why != NULL) {
        return why;
    }
    firn__push(&read, (firn_value){ms, 0}, FIRN__DATED_TIME);
    if (digits > 0) {
        firn__push(&read, (firn_value){number_of(text + CALENDAR, digits), 0}, digit_bits[digits]);
    } else if ((why = get_member(&read, text, length, position)) != NULL) {
        return why;
    }
    *id = read;
    return NULL;
}

bool firn__dated_read(firn_id *id, const char *text, size_t length) {
    size_t position;
    return firn__dated_width(id->bits) > 0 && get_all(id, text, length, &position) == NULL;
}

int firn__dated_refuse(firn_error *error, uint32_t bits, const char *text, size_t length) {
    firn_id id = {0, 0, 0, bits};
    size_t position, most = firn__dated_width(bits);
    char count[64];
    const char *why = get_all(&id, text, length, &position);
    if (why[0] == '\0') {
        snprintf(count, sizeof count, "dated of %u bits has %s%zu digits", (unsigned)bits,
                 bits == FIRN__DATED_MEMBER ? "21 to " : "", most);
        why = count;
    }
    return firn__refuse(error, text, length, position, why);
}
