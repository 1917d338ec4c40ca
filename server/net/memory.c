/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include "core/log.h"
#include "settings/setting.h"

#include <stdatomic.h>

static _Atomic int64_t held;

void memory_hold(int64_t bytes) {
    atomic_fetch_add_explicit(&held, bytes, memory_order_relaxed);
}

int64_t memory_held(void) {
    return atomic_load_explicit(&held, memory_order_relaxed);
}

bool memory_is_full(void) {
    static log_gate gate;
    char count[LOG_COUNT_SIZE];
    bool full = memory_held() >= settings_now()->clients_mib * (INT64_C(1) << 20);
    if (full && log_gate_opens(&gate, count)) {
        log_event(LOG_LEVEL_WARNING, "the memory for clients is used up", "setting", "clients_mib",
                  "count", count, NULL);
    }
    return full;
}
