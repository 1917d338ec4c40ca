/* SPDX-License-Identifier: MIT */
/* crypto.getRandomValues of the host. */
#ifndef FIRN_WASM_RANDOM_H
#define FIRN_WASM_RANDOM_H

#include <sys/types.h>

ssize_t getrandom(void *out, size_t size, unsigned flags);

#endif
