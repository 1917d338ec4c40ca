/* SPDX-License-Identifier: MIT */
/* The text form that begins with a date, for the inside of the library. Knows the time as 48 bits
 * of ms since 1970, and no scheme. */
#ifndef FIRN_DATE_FORM_H
#define FIRN_DATE_FORM_H

#include <firn/firn.h>

/* The first millisecond of the year 10000. */
#define FIRN__DATED_END UINT64_C(253402300800000)

enum {
    FIRN__DATED_CALENDAR = 17, /* characters of yyyyMMddHHmmssSSS */
    FIRN__DATED_TIME = 48,     /* bits of the time */
    FIRN__DATED_SEQUENCE = 9,  /* bits of time-member's sequence, and its digits: */
    FIRN__DATED_COUNT = 3,
    FIRN__DATED_MEMBER = 120, /* bits of an ID of time-member */
    FIRN__DATED_DIGITS = 18   /* random digits of time-random, at most */
};

/* How many bits a number of `digits` (1..18) decimal digits needs. */
uint32_t firn__dated_bits(uint32_t digits);
/* How many random digits an ID of this width has; 0: the width is not one of time-random. */
uint32_t firn__dated_digits(uint32_t bits);
/* The greatest number of characters of an ID of this width; 0: the form does not take the width. */
size_t firn__dated_width(uint32_t bits);
/* Writes the text without a zero and returns its length; 0: the time or the digits are too
 * great. */
size_t firn__dated_write(char *out, const firn_id *id);
/* Reads an ID of id->bits. False: the text is not exactly the text of an ID. */
bool firn__dated_read(firn_id *id, const char *text, size_t length);
/* FIRN_ETEXT: what is wrong with a text that firn__dated_read did not read. */
int firn__dated_refuse(firn_error *error, uint32_t bits, const char *text, size_t length);

#endif
