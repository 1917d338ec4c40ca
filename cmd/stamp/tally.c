/* SPDX-License-Identifier: MIT */
/* The closing line of `firn stamp`: see tally.h. */
#include "tally.h"

#include "join.h"

#include <inttypes.h>
#include <stdio.h>

void tally_tell(const stamp_tally *tally, session *s, const record_times *times,
                const struct timespec *begun, bool skipped) {
    char line[480] = "";
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t ms =
        (now.tv_sec - begun->tv_sec) * INT64_C(1000) + (now.tv_nsec - begun->tv_nsec) / 1000000;
    text_join(line, sizeof line, "; ", "%" PRIu64 " record%s, %" PRIu64 " ID%s in %" PRId64 ".%d s",
              tally->records, plural(tally->records), tally->ids, plural(tally->ids), ms / 1000,
              (int)(ms % 1000 / 100));
    if (tally->shifted > 0) {
        bool whole = tally->shift_ns >= 1000000;
        text_join(
            line, sizeof line, "; ",
            "%" PRIu64 " moved to a later tick, line %" PRIu64 " the furthest: %" PRId64 " %s",
            tally->shifted, tally->shift_line,
            whole ? (tally->shift_ns + 999999) / 1000000 : tally->shift_ns, whole ? "ms" : "ns");
    }
    if (times->twice > 0) {
        text_join(line, sizeof line, "; ",
                  "%" PRIu64 " local time%s occurred twice: the earlier one was used", times->twice,
                  plural(times->twice));
    }
    if (times->bare > 0 && !times->zone_told) {
        text_join(line, sizeof line, "; ",
                  "%" PRIu64 " time%s without a zone read as UTC: --zone sets another", times->bare,
                  plural(times->bare));
    }
    if (tally->bad > 0) {
        text_join(line, sizeof line, "; ", "%" PRIu64 " %s, the first is line %" PRIu64 ": %s",
                  tally->bad, skipped ? "skipped" : "without an ID", tally->bad_line,
                  tally->bad_one.text);
    }
    tell_note(s, line);
}
