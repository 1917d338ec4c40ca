/* SPDX-License-Identifier: MIT */
/* Formats that firn recognises and does not issue, for the inside of the library: what the list
 * (formats.def) and the recognisers share. */
#ifndef FIRN_FORMATS_H
#define FIRN_FORMATS_H

#include <firn/recognize.h>

/* A text, and the alphabets that all its characters are in. */
typedef struct firn__look {
    const char *text;
    size_t length; /* 1..160 */
    uint32_t alphabets;
} firn__look;

enum { FIRN__CERTAIN_BITS = 20, FIRN__LIKELY_BITS = 6 };

/* Whether a text of the entry's length and alphabet has the format. Fills `out` except `format`,
 * `sure` and `leads`, and sets *bits: it is in the format by chance in 1 of 2^bits cases. */
typedef bool firn__recognizer(firn_match *out, int *bits, const firn__look *seen);

#define FORMAT(recogniser, ...) firn__recognizer firn__is_##recogniser;
#include "formats.def"

/* The end of a recogniser: sets *bits, and the reason, which is cut if it is too long. Returns
 * true. */
bool firn__matched(firn_match *out, int *bits, int chance, const char *reason, ...)
    __attribute__((format(printf, 4, 5)));
/* Adds a field; a value that is too long is cut. */
void firn__match_field(firn_match *out, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void firn__match_number(firn_match *out, const char *name, uint64_t number);
/* Sets the time, ms since 1970 with `digits` decimals shown. Returns whether it is in [2005,
 * 2045). */
bool firn__match_ms(firn_match *out, uint64_t ms, int digits);

/* Bitcoin's base58, and base64 with - and _. */
extern const char firn__base58[], firn__base64url[];
/* The number of `length` digits of an alphabet, of up to 128 bits. False: another character, or too
 * big. */
bool firn__read_digits(firn_id *id, const char *alphabet, const char *text, size_t length);

/* Writes the integers that a text encodes with the default alphabet, separated by blanks, if these
 * integers have no other text. */
bool firn__sqids_read(char *out, size_t size, const char *text, size_t length);
bool firn__hashids_read(char *out, size_t size, const char *text, size_t length);

#endif
