/* SPDX-License-Identifier: MIT */
/* The text form that begins with the calendar, for the inside of the library: which widths it has,
 * and how many digits stand behind the milliseconds. Knows time as 48 bits of ms since 1970, and
 * no scheme. */
#ifndef FIRN_DATED_H
#define FIRN_DATED_H

#include <firn/firn.h>

/* The first millisecond whose year has more than four digits. */
#define FIRN__DATED_END UINT64_C(253402300800000)

enum {
    FIRN__DATED_CALENDAR = 17, /* characters of yyyyMMddHHmmssSSS */
    FIRN__DATED_TIME = 48,     /* bits of the time */
    FIRN__DATED_SEQUENCE = 9,  /* bits of time-member's sequence, and its digits: */
    FIRN__DATED_COUNT = 3,
    FIRN__DATED_MEMBER = 120, /* bits of an ID of time-member */
    FIRN__DATED_DIGITS = 18   /* random digits of time-random, at most */
};

/* Bits that hold numbers of so many decimal digits (1..18), of a row whose name is time-random. */
uint32_t firn__dated_bits(uint32_t digits);
/* How many random digits an ID of this width has; 0: it is none of time-random. */
uint32_t firn__dated_digits(uint32_t bits);
/* 10 to the power of n, 0..19. */
uint64_t firn__power_of_ten(uint32_t n);

/* Characters of an ID of this width, at most; 0: not a width of this form. */
size_t firn__dated_width(uint32_t bits);
/* Writes without a zero, returns how many; 0: the time or the digits are out of bounds. */
size_t firn__dated_write(char *out, const firn_id *id);
/* Reads an ID of id->bits; false for anything but the one text of an ID. */
bool firn__dated_read(firn_id *id, const char *text, size_t length);
/* Says what is wrong with a text that is not read. */
int firn__dated_refuse(firn_error *error, uint32_t bits, const char *text, size_t length);

#endif
