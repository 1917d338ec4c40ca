/* SPDX-License-Identifier: MIT */
/* Failures in words, for the inside of the library: one call fills a firn_error, one finds the
 * nearest known name. */
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

#endif
