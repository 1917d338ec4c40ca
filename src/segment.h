/* SPDX-License-Identifier: MIT */
/* Integers, for the inside of the library and its tests: the rule by which a segment's step
 * adapts. */
#ifndef FIRN_SEGMENT_H
#define FIRN_SEGMENT_H

#include <stdint.h>

/* Leaf's rule: a segment that lasted under 15 min doubles the step, unless the double passes 1
 * 000 000; under 30 min it stays; else it is halved, unless that is below the least. */
int64_t firn__segment_next_step(int64_t step, int64_t least, int64_t age_ms);

#endif
