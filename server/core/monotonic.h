/* SPDX-License-Identifier: MIT */
/* CLOCK_MONOTONIC in milliseconds: for waits and ages, never for IDs. */
#ifndef FIRN_MONOTONIC_H
#define FIRN_MONOTONIC_H

#include <stdint.h>
#include <time.h>

static inline int64_t monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t monotonic_ms(void) {
    return monotonic_ns() / 1000000;
}

#endif
