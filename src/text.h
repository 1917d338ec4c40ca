/* SPDX-License-Identifier: MIT */
/* Text, for the inside of the library: writers that tell the length, and the sentence about a
 * text that is refused. Knows no scheme. */
#ifndef FIRN_TEXT_H
#define FIRN_TEXT_H

#include <firn/firn.h>

/* firn_format, telling how many characters were written (0: the form does not take the width).
 * `out` has room for FIRN_TEXT_SIZE characters; those after the terminating zero may be
 * overwritten too. */
size_t firn__format(char out[FIRN_TEXT_SIZE], const firn_id *id, int form);

/* Writes a number in decimal without a zero at its end; up to 20 characters, of room for 24.
 * Returns how many. */
size_t firn__format_u64(char *out, uint64_t number);

/* Fails with FIRN_ETEXT: the character at `at`, counted from 0 (the end of the text where that
 * is `length`), and why it cannot stand there. */
int firn__refuse(firn_error *error, const char *text, size_t length, size_t at, const char *why);

#endif
