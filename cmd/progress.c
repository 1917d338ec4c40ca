/* SPDX-License-Identifier: MIT */
/* How far long work has come: see progress.h. Counts nothing itself. */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_MS = 1000, EACH_MS = 200 };

static void put(const char *text, int length) {
    if (length > 0 && write(STDERR_FILENO, text, (size_t)length) < 0) {
        return; /* it was for people, and they are gone */
    }
}

void progress_show(progress *shown, int64_t done, int64_t total) {
    struct timespec now;
    char line[96];
    if (!shown->known) {
        shown->known = true;
        shown->wanted = isatty(STDERR_FILENO) == 1 && isatty(STDOUT_FILENO) == 0;
    }
    if (!shown->wanted || clock_gettime(CLOCK_MONOTONIC, &now) != 0) {
        return;
    }
    int64_t now_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    if (shown->next_ms == 0) {
        shown->next_ms = now_ms + FIRST_MS;
    }
    if (now_ms < shown->next_ms) {
        return;
    }
    shown->next_ms = now_ms + EACH_MS;
    shown->written = true;
    if (total > 0) {
        put(line, snprintf(line, sizeof line, "\r%" PRId64 " of %" PRId64 " (%d %%)", done, total,
                           (int)((double)done * 100 / (double)total)));
    } else {
        put(line, snprintf(line, sizeof line, "\r%" PRId64, done));
    }
}

void progress_end(progress *shown) {
    if (shown->written) {
        put("\r\033[K", 4);
        shown->written = false;
    }
}
