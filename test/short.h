/* SPDX-License-Identifier: MIT */
/* With test/run-all --short, a test that tries many values or places tries some of them: make
 * test-long tries all. */
#ifndef FIRN_TEST_SHORT_H
#define FIRN_TEST_SHORT_H

#include <stdlib.h>

/* The step of a loop: 1, or `step` in the short form. */
static inline int short_step(int step) {
    return getenv("TEST_SHORT") != NULL ? step : 1;
}

#endif
