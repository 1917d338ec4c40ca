/* SPDX-License-Identifier: MIT */
/* Errors, for the inside of the library. */
#ifndef FIRN_ERROR_H
#define FIRN_ERROR_H

#include "error_text.h" // IWYU pragma: export

/* Fills `error` (may be NULL) with one line, "what is wrong: what to do", and returns `code`. A
 * cure of the list of firn.h is given to firn_error_set. */
#define firn__fail(error, code, ...) firn_error_set(error, code, FIRN_CURE_NONE, __VA_ARGS__)

/* Copies `why` to `error` (may be NULL), and returns its code. */
int firn__repeat(const firn_error *why, firn_error *error);

/* FIRN_ETEXT: the character at `position` (from 0; `length` is the end) is wrong, and why. */
int firn__refuse(firn_error *error, const char *text, size_t length, size_t position,
                 const char *why);

#endif
