/* SPDX-License-Identifier: MIT */
/* Which of so many shards an ID falls into by a hash that every extension and the command share.
 * Needs only firn.h. */
#ifndef FIRN_SHARD_H
#define FIRN_SHARD_H

#include <firn/firn.h>

/* The last step of MurmurHash3, published by its author as a mixer of 64 bits. */
uint64_t fmix64(uint64_t word);
/* Words most significant first; of 64 bits it is fmix64(id) modulo shards, 1 or more. */
uint32_t shard_by_hash(const firn_id *id, uint32_t shards);

#endif
