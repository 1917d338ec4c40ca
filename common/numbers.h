/* SPDX-License-Identifier: MIT */
/* Numbers as people read them: the figures, limits and odds of `firn choose` and `firn odds`. */
#ifndef FIRN_NUMBERS_H
#define FIRN_NUMBERS_H

enum { NUMBER_SIZE = 32 };

/* 4,096,000 below 10^12 if it is whole, and rounded to a whole number from 100 on; other numbers with three
 * digits, as 4.82, 0.498, 3.13e-17 or 4.6e18. `value` is not negative. Returns `text`. */
char *number_text(char text[NUMBER_SIZE], double value);

#endif
