/* SPDX-License-Identifier: MIT */
/* The renewer's clock: it waits out a jump, so that a wrong reading does not push a mark into the future. */
#include "renewer.h"

#include "miscadmin.h"

#include <time.h>

enum { JUMP_MS = 5000, HOLD_MS = 2000 };

static int64 ms_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * INT64CONST(1000) + now.tv_nsec / 1000000;
}

void firn_hold(void) {
    int64 end = ms_of(CLOCK_BOOTTIME) + HOLD_MS, left = HOLD_MS;
    for (int i = 0; i < 100 && left > 0; i++) {
        pg_usleep((long)Min(left, HOLD_MS) * 1000L);
        CHECK_FOR_INTERRUPTS();
        left = end - ms_of(CLOCK_BOOTTIME);
    }
}

/* The wall clock against the one that never steps. */
static int64 offset_now(void) {
    int64 steady = ms_of(CLOCK_BOOTTIME);
    return ms_of(CLOCK_REALTIME) - steady;
}

void firn_await_clock(void) {
    static int64 offset;
    static bool known;
    int64 now = offset_now();
    if (known && now - offset > JUMP_MS) {
        ereport(LOG, (errmsg("firn: the clock jumped ahead by %.1f s; it is believed when it has "
                             "held for 2 s",
                             (double)(now - offset) / 1000)));
        firn_hold();
        now = offset_now();
    }
    offset = now;
    known = true;
}
