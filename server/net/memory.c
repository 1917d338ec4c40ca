/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include "config/setting.h"

#include <stdatomic.h>

static _Atomic int64_t held;

void memory_hold(int64_t bytes) {
    atomic_fetch_add_explicit(&held, bytes, memory_order_relaxed);
}

int64_t memory_held(void) {
    return atomic_load_explicit(&held, memory_order_relaxed);
}

bool memory_is_full(void) {
    return memory_held() >= settings_now()->clients_mib * (INT64_C(1) << 20);
}
