/* SPDX-License-Identifier: MIT */
/* Waits that have a limit and that the server interrupts. Knows no shared memory. */
#include "extension.h"

#include "miscadmin.h"
#include "utils/wait_event.h"

#include <time.h>

int64 firn_patience_left(firn_patience *waited) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64 now_ms = now.tv_sec * INT64CONST(1000) + now.tv_nsec / 1000000;
    *waited = *waited == 0 ? now_ms : *waited;
    return firn_setting_max_wait_ms - (now_ms - *waited);
}

uint32 firn_wait_event(enum firn_wait what) {
#if PG_VERSION_NUM >= 170000
    static const char *const names[] = {"FirnRequests", "FirnRenewer", "FirnClock"};
    static uint32 events[lengthof(names)];
    if (events[what] == 0) {
        events[what] = WaitEventExtensionNew(names[what]);
    }
    return events[what];
#else
    (void)what;
    return PG_WAIT_EXTENSION;
#endif
}

void firn_nap(int64 ms) {
    (void)WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, (long)ms,
                    firn_wait_event(FIRN_WAIT_CLOCK));
    ResetLatch(MyLatch);
    CHECK_FOR_INTERRUPTS();
}
