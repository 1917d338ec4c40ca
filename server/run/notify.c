/* SPDX-License-Identifier: MIT */
#include "notify.h"

#include "net/systemd.h"

#include <inttypes.h>
#include <time.h>

void notify_ready(const char *status) {
    systemd_notify("READY=1\nSTATUS=%s", status);
}

/* systemd needs the time to tell this READY from an older one. */
void notify_reloading(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    systemd_notify("RELOADING=1\nMONOTONIC_USEC=%" PRId64,
                   (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000);
}

void notify_stopping(int64_t ms) {
    systemd_notify("STOPPING=1\nSTATUS=stopping\nEXTEND_TIMEOUT_USEC=%" PRId64, ms * 1000);
}

void notify_status(const char *status) {
    systemd_notify("STATUS=%s", status);
}

void notify_alive(void) {
    systemd_notify("WATCHDOG=1");
}

int64_t notify_watchdog_ms(void) {
    return (int64_t)(systemd_watchdog_us() / 1000);
}
