/* SPDX-License-Identifier: MIT */
/* A hash that assigns IDs to shards, the same in the command, the server and the extensions. */
#ifndef FIRN_SHARD_H
#define FIRN_SHARD_H

#include <firn/firn.h>

/* The finalizer of MurmurHash3. */
uint64_t fmix64(uint64_t word);
/* Mixes the words, most significant first; for 64 bits fmix64(id) modulo `shards` (1 or more). */
uint32_t shard_by_hash(const firn_id *id, uint32_t shards);

#endif
