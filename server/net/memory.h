/* SPDX-License-Identifier: MIT */
/* The memory of all clients: incomplete commands, open batches and unread replies. One sum for both
 * listeners, limited by clients_mib. Any thread. */
#ifndef FIRN_MEMORY_H
#define FIRN_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#define MEMORY_IS_FULL                                                                             \
    "the memory for clients is used up (clients_mib): send smaller batches, or try again later"

#define CLIENTS_ARE_FULL                                                                           \
    "the memory for clients is used up (clients_mib): ask for at most 64 IDs, or try again later"
#define BODIES_ARE_FULL                                                                            \
    "the memory for clients is used up (clients_mib): send at most 4096 bytes, or try again later"

/* Each client may have this much even if the sum is full, so that small requests are always
 * served. */
#define MEMORY_LEAST 4096

/* Below 0: it is free again. */
void memory_hold(int64_t bytes);
int64_t memory_held(void);
/* Logs it; ask only when that refuses something. */
bool memory_is_full(void);

#endif
