/* SPDX-License-Identifier: MIT */
/* Estimates of the whole from a sample, with 95 % intervals. Pure numbers: this file knows no IDs.
 */
#ifndef FIRN_INFER_H
#define FIRN_INFER_H

#include <stddef.h>
#include <stdint.h>

/* A best value and the interval; INFINITY: no upper limit, or (best) no finite value fits. */
typedef struct estimate {
    double best, low, high;
} estimate;

/* How many integers 1..N exist, if `count` different ones were drawn and the greatest is `greatest`
 * (the German tank problem): the minimum-variance unbiased estimate and [greatest, high]. */
estimate infer_total(uint64_t count, uint64_t greatest);
/* The mean of a Poisson number that came out as `count`. */
estimate infer_mean(double count);
/* The mean number of events per tick, if `count` events were drawn at random, each of another tick,
 * and `sum` events preceded them in their ticks. Events are a Poisson process. */
estimate infer_density(uint64_t count, uint64_t sum);
/* How many equally frequent kinds exist, at most `most`, if `count` draws gave `different` ones. */
estimate infer_kinds(uint64_t count, uint64_t different, double most);
/* The slope of a line through points, and its interval. Needs three points. */
estimate infer_slope(const double *x, const double *y, size_t count);

/* The greatest common divisor: x for 0 and x. */
uint64_t common_divisor(uint64_t a, uint64_t b);

#endif
