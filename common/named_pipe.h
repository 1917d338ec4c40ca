/* SPDX-License-Identifier: MIT */
/* Opening a named pipe (FIFO) waits until somebody writes to it, which may be never. A shell's
 * <(...) has its writer. */
#ifndef FIRN_NAMED_PIPE_H
#define FIRN_NAMED_PIPE_H

#include "errors.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

static inline int refuse_named_pipe(const char *path, firn_error *error) {
    struct stat about;
    struct statfs holds_it;
    if (stat(path, &about) != 0 || !S_ISFIFO(about.st_mode) || statfs(path, &holds_it) != 0 ||
        holds_it.f_type == PIPEFS_MAGIC) {
        return FIRN_OK;
    }
    return set_error(
        error, FIRN_EUSAGE,
        "%.100s is a named pipe, and reading one can take for ever: use a regular file", path);
}

#endif
