/* SPDX-License-Identifier: MIT */
/* When the server began, and whether it ends: see server.h. */
#include "server.h"

#include <stdatomic.h>
#include <time.h>

static struct timespec began; /* written before any thread starts */
static atomic_bool ending;

void server_begin(void) {
    clock_gettime(CLOCK_BOOTTIME, &began);
}

int64_t server_uptime_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec - (int64_t)began.tv_sec;
}

void server_end(void) {
    atomic_store(&ending, true);
}

bool server_is_ending(void) {
    return atomic_load_explicit(&ending, memory_order_relaxed);
}
