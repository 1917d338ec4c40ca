/* SPDX-License-Identifier: MIT */
/* Wrappers of functions, which refuse a call when fails(NAME) says so. The linker puts them before
 * the real functions (ld(1), --wrap), for the calls that CMakeLists.txt lists. Nothing here
 * tests. */
#ifndef FIRN_TEST_REFUSED_H
#define FIRN_TEST_REFUSED_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

static bool fails(const char *name); /* the test's */

static inline void *refused_memory(void) {
    errno = ENOMEM;
    return NULL;
}

static inline int refused_call(int why) {
    errno = why;
    return -1;
}

/* Wrappers of functions are called __wrap_NAME, the real ones __real_NAME. */
#define WRAPPED(type, name, parameters, arguments, refusal)                                        \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters {                                                                \
        return fails(#name) ? (refusal) : __real_##name arguments;                                 \
    }

#endif
