/* SPDX-License-Identifier: MIT */
/* Numbers as people write and read them: amounts of options, the figures, limits and odds of `firn
 * choose` and `firn odds`. */
#ifndef FIRN_NUMBERS_H
#define FIRN_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

/* Only decimal digits, at most 2^64 - 1. */
bool number_whole(uint64_t *number, const char *text);
/* Decimals with a point and perhaps an exponent, no sign; *rest is what follows. 0: not a
 * number. */
double number_read(const char *text, const char **rest);
/* The same with k, M or G, as far as `letters` has them: 10^3, 10^6 or 10^9. */
double number_amount(const char *text, const char *letters, const char **rest);

enum { NUMBER_SIZE = 32 };

/* 4,096,000 below 10^12 if it is whole, and rounded to a whole number from 100 on; other numbers
 * with three digits, as 4.82, 0.498, 3.13e-17 or 4.6e18. `value` is not negative. Returns
 * `text`. */
char *number_text(char text[NUMBER_SIZE], double value);

#endif
