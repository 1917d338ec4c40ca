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
        return; /* the line was for people, and they are gone */
    }
}

/* "1:23:45" or "3:05" */
static void format_left(char text[24], int64_t seconds) {
    if (seconds >= 3600) {
        snprintf(text, 24, "%" PRId64 ":%02d:%02d", seconds / 3600, (int)(seconds / 60 % 60),
                 (int)(seconds % 60));
    } else {
        snprintf(text, 24, "%d:%02d", (int)(seconds / 60), (int)(seconds % 60));
    }
}

/* At most 79 columns: label, bar and share where the end is known, rate and time left. */
static int format_line(char line[128], const progress *shown, int64_t done, int64_t total,
                       int64_t now_ms) {
    static const char bar[] = "####################....................";
    double seconds = (double)(now_ms - shown->begun_ms) / 1000;
    double rate = seconds > 0 ? (double)done / seconds : 0;
    char unit = rate >= 1e6 ? 'M' : rate >= 1e3 ? 'k' : ' ', left[24] = "";
    rate /= rate >= 1e6 ? 1e6 : rate >= 1e3 ? 1e3 : 1;
    const char *label = shown->label != NULL ? shown->label : "";
    const char *gap = label[0] != '\0' ? ": " : "";
    if (total <= 0) {
        return snprintf(line, 128, "\r%.24s%s%" PRId64 ", %.1f %c/s\033[K", label, gap, done, rate,
                        unit);
    }
    double share = done < total ? (double)done / (double)total : 1;
    format_left(left, share > 0 ? (int64_t)(seconds / share - seconds) : 0);
    return snprintf(line, 128, "\r%.24s%s[%.20s] %d %%, %.1f %c/s, %s left\033[K", label, gap,
                    bar + 20 - (int)(share * 20), (int)(share * 100), rate, unit, left);
}

void progress_show(progress *shown, int64_t done, int64_t total) {
    struct timespec now;
    char line[128];
    if (!shown->known) {
        shown->known = true;
        shown->wanted = isatty(STDERR_FILENO) == 1 && isatty(STDOUT_FILENO) == 0;
    }
    if (!shown->wanted || clock_gettime(CLOCK_MONOTONIC, &now) != 0) {
        return;
    }
    int64_t now_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    if (shown->next_ms == 0) {
        shown->begun_ms = now_ms;
        shown->next_ms = now_ms + FIRST_MS;
    }
    if (now_ms < shown->next_ms) {
        return;
    }
    shown->next_ms = now_ms + EACH_MS;
    shown->written = true;
    put(line, format_line(line, shown, done, total, now_ms));
}

void progress_end(progress *shown) {
    if (shown->written) {
        put("\r\033[K", 4);
        shown->written = false;
    }
}
