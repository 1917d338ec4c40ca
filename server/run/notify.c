/* SPDX-License-Identifier: MIT */
#include "notify.h"

#include <inttypes.h>
#include <systemd/sd-daemon.h>
#include <time.h>

void notify_ready(const char *status) {
    sd_notifyf(0, "READY=1\nSTATUS=%s", status);
}

/* systemd needs the time to tell this READY from an older one. */
void notify_reloading(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRId64,
               (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000);
}

void notify_stopping(int64_t ms) {
    sd_notifyf(0, "STOPPING=1\nSTATUS=stopping\nEXTEND_TIMEOUT_USEC=%" PRId64, ms * 1000);
}

void notify_status(const char *status) {
    sd_notifyf(0, "STATUS=%s", status);
}

void notify_alive(void) {
    sd_notify(0, "WATCHDOG=1");
}

int64_t notify_watchdog_ms(void) {
    uint64_t us = 0;
    return sd_watchdog_enabled(0, &us) > 0 ? (int64_t)(us / 1000) : 0;
}
