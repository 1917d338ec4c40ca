/* SPDX-License-Identifier: MIT */
/* The closing line of `firn stamp`: see tally.h. */
#include "tally.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* A line that grows; what exceeds it is cut. */
typedef struct note {
    char text[480];
    size_t length;
} note;

static void __attribute__((format(printf, 2, 3))) add(note *to, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(to->text + to->length, sizeof to->text - to->length, format, arguments);
    va_end(arguments);
    to->length += length > 0 ? (size_t)length : 0;
    to->length = to->length < sizeof to->text ? to->length : sizeof to->text - 1;
}

void tally_tell(const tally *it, session *s, const moments *times, const struct timespec *begun,
                bool skipped) {
    note line = {"", 0};
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t ms =
        (now.tv_sec - begun->tv_sec) * INT64_C(1000) + (now.tv_nsec - begun->tv_nsec) / 1000000;
    add(&line, "%" PRIu64 " record%s, %" PRIu64 " ID%s in %" PRId64 ".%d s", it->records,
        plural(it->records), it->ids, plural(it->ids), ms / 1000, (int)(ms % 1000 / 100));
    if (it->shifted > 0) {
        bool whole = it->shift_ns >= 1000000;
        add(&line,
            "; %" PRIu64 " moved to a later tick, line %" PRIu64 " the furthest: %" PRId64 " %s",
            it->shifted, it->shift_line, whole ? (it->shift_ns + 999999) / 1000000 : it->shift_ns,
            whole ? "ms" : "ns");
    }
    if (times->twice > 0) {
        add(&line, "; %" PRIu64 " local time%s occurred twice: the earlier one was used",
            times->twice, plural(times->twice));
    }
    if (times->bare > 0 && !times->zone_told) {
        add(&line, "; %" PRIu64 " time%s without a zone read as UTC: --zone sets another",
            times->bare, plural(times->bare));
    }
    if (it->bad > 0) {
        add(&line, "; %" PRIu64 " %s, the first is line %" PRIu64 ": %s", it->bad,
            skipped ? "skipped" : "without an ID", it->bad_line, it->bad_one.text);
    }
    tell_note(s, line.text);
}
