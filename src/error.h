/* SPDX-License-Identifier: MIT */
/* Errors, for the inside of the library. */
#ifndef FIRN_ERROR_H
#define FIRN_ERROR_H

#include <firn/firn.h>

#if defined(__GNUC__)
#define FIRN_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define FIRN_PRINTF(text, first)
#endif

/* Fills `error` (may be NULL) with one line of at most 200 bytes, and returns `code`. */
FIRN_PRINTF(3, 4) int firn__fail(firn_error *error, int code, const char *format, ...);

/* FIRN_ETEXT: the character at `at` (from 0; `length` is the end) is wrong, and why. */
int firn__refuse(firn_error *error, const char *text, size_t length, size_t at, const char *why);

#endif
