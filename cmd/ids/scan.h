/* SPDX-License-Identifier: MIT */
/* Finds IDs in any bytes: words of a length and an alphabet that IDs have, confirmed by firn_guess,
 * or by firn_parse if a scheme is named. Reads a piece of text in memory; find.c does input and
 * output. */
#ifndef FIRN_SCAN_H
#define FIRN_SCAN_H

#include "reading.h"

enum {
    SCAN_MAX = 1 << 18,    /* bytes of a piece */
    SCAN_CONTEXT = 128,    /* bytes before a piece that decide about its first word */
    SCAN_WORD_MIN = 8,     /* shorter words are never IDs */
    SCAN_TEXT_MAX = 128,   /* longer ones neither; with a prefix */
    SCAN_INTEGER_MIN = 15, /* digits of an integer that may be an ID of 64 bits */
    SCAN_INTEGER_MAX = 20
};

/* The IDs to find. */
typedef struct scan_want {
    const firn_scheme *scheme; /* NULL: IDs of all schemes */
    int form;                  /* of `scheme`; -1: its own, and decimal or hex */
    bool all;                  /* of all schemes: plausible words too, such as integers */
    bool limited;              /* only IDs with a time in [since, until) */
    firn_time since, until;
} scan_want;

typedef struct text_scan {
    const scan_want *want;
    const char *text;
    size_t length, offset, limit;

    /* the ID that was found: */
    size_t start, end; /* its place in the text */
    firn_reading readings[FIRN_READINGS_MAX];
    id_counts counts;
    bool timed;
    firn_time time;

    uint64_t integers; /* words of 15 to 20 digits that were not looked at, in all texts so far */
    uint64_t word[SCAN_MAX / 64 + 2]; /* bit i: byte i is a letter or a digit */
} text_scan;

/* Text of at most SCAN_MAX bytes, the first `from` of them scanned already. Words that begin
 * at `limit` or later are left for the next piece. */
void scan_begin(text_scan *scan, const scan_want *want, const char *text, size_t from, size_t limit,
                size_t length);
/* The next ID. False: none is left. */
bool scan_next(text_scan *scan);
/* Where the word begins that may continue after the text: `length`, if the text ends with none. */
size_t scan_hold(const char *text, size_t length);

#endif
