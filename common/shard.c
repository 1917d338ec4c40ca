/* SPDX-License-Identifier: MIT */
#include "shard.h"

uint64_t fmix64(uint64_t word) {
    word = (word ^ word >> 33) * UINT64_C(0xff51afd7ed558ccd);
    word = (word ^ word >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return word ^ word >> 33;
}

uint32_t shard_by_hash(const firn_id *id, uint32_t shards) {
    uint64_t hash = id->bits > 128 ? fmix64(id->top) : 0;
    hash = id->bits > 64 ? fmix64(hash ^ id->high) : hash;
    return (uint32_t)(fmix64(hash ^ id->low) % shards);
}
