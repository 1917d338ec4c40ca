/* SPDX-License-Identifier: MIT */
/* make coverage includes this before each file: a process that ends by _exit writes what it has
 * run, too. */
#include <unistd.h>

void __gcov_dump(void);

static inline __attribute__((noreturn)) void counted_exit(int status) {
    __gcov_dump();
    _exit(status);
}
#define _exit counted_exit
