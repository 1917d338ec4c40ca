/* SPDX-License-Identifier: MIT */
/* Checks in a child process, which must not end as a test of its parent. */
#ifndef FIRN_TEST_IN_CHILD_H
#define FIRN_TEST_IN_CHILD_H

#include <stdio.h>

/* Returns 1, and prints the condition, if it does not hold. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "# %s:%d: %s\n", __FILE__, __LINE__, #condition);                      \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

#endif
