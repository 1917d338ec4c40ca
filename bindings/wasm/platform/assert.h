/* SPDX-License-Identifier: MIT */
/* A broken promise stops the instance, without a text: lines that move must not change the
 * bytes. */
#undef assert
#define assert(condition) ((condition) ? (void)0 : __builtin_trap())
#define static_assert _Static_assert
