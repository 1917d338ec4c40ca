/* SPDX-License-Identifier: MIT */
/* Included before every file of static programs: what musl 1.2.3 lacks. */
#ifndef FIRN_MUSL_H
#define FIRN_MUSL_H

#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef STATX_BASIC_STATS
#define __GLIBC__ 2 /* else this header defines again what is in <sys/stat.h> */
#include <linux/stat.h>
#undef __GLIBC__

static inline int statx(int folder, const char *path, int flags, unsigned mask, struct statx *out) {
    return (int)syscall(SYS_statx, folder, path, flags, mask, out);
}
#endif

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1

static inline int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
    return (int)syscall(SYS_renameat2, from, old, to, new, flags);
}
#endif

#endif
