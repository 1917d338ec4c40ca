/* SPDX-License-Identifier: MIT */
/* Milliseconds of the clock that never steps: for waits and ages, not for IDs. */
#ifndef FIRN_STEADY_H
#define FIRN_STEADY_H

#include <stdint.h>
#include <time.h>

static inline int64_t steady_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

#endif
