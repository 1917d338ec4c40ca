/* SPDX-License-Identifier: MIT */
/* Pearson's test of counts that should be equal: how far off they are, and how often chance alone
 * is as far off. Mathematics only. */
#ifndef FIRN_CHISQUARE_H
#define FIRN_CHISQUARE_H

#include <stddef.h>
#include <stdint.h>

/* The sum of (found - expected)^2 / expected over `count` shards; 0 when all are empty. */
double chisquare_value(const uint64_t *found, size_t count);
/* The odds that equal shards give this value or a greater one: 0..1. `freedom` is the number of
 * shards less 1, at least 1. */
double chisquare_odds(double value, double freedom);

#endif
