/* SPDX-License-Identifier: MIT */
/* Replies that are not read yet: see unsent.h. */
#include "unsent.h"

#include "config/setting.h"

#include <stdatomic.h>

static _Atomic int64_t unsent_bytes;

void unsent_add(int64_t bytes) {
    atomic_fetch_add_explicit(&unsent_bytes, bytes, memory_order_relaxed);
}

bool unsent_is_full(void) {
    return atomic_load_explicit(&unsent_bytes, memory_order_relaxed) >=
           settings_now()->replies_mib * (INT64_C(1) << 20);
}
