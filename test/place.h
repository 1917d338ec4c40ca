/* SPDX-License-Identifier: MIT */
/* Where a test makes its folder. Contains no tests. */
#ifndef FIRN_TEST_PLACE_H
#define FIRN_TEST_PLACE_H

#include <stdlib.h>
#include <unistd.h>

static inline const char *place_of_tests(void) {
    const char *given = getenv("TMPDIR");
    return given != NULL ? given : FIRN_BUILD_DIR;
}

/* In memory if possible: nobody waits for a disk. */
static inline const char *place_in_memory(void) {
    return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : place_of_tests();
}

#endif
