/* SPDX-License-Identifier: MIT */
/* Random bytes for the inside of the library, from the caller's source or from this thread's block:
 * docs/explanation/ randomness.md. Here is the short way, which takes bytes that are in the block;
 * entropy.c fills it. */
#ifndef FIRN_ENTROPY_H
#define FIRN_ENTROPY_H

#include "bits.h"
#include "thread_cache.h"

#include <stdatomic.h>
#include <string.h>

/* Fills `out` from `source`, or from the thread's block if it is NULL, and never from anything
 * weaker. FIRN_EENTROPY. */
int firn__entropy_fill(const firn_entropy *source, void *out, size_t size, firn_error *error);
/* A random number below `below` (at least 1), without bias. */
int firn__entropy_below(const firn_entropy *source, uint64_t *value, uint64_t below,
                        firn_error *error);
/* Drops the unused bytes of all threads. Any thread. */
void firn__entropy_drop(void);
/* A deterministic source for tests: the same seed gives the same bytes. `state` outlives it. */
firn_entropy firn__entropy_seeded(uint64_t *state);
/* entropy=system: the kernel alone. */
extern const firn_entropy firn__entropy_system;

/* ---- the short way --------------------------------------------------------------------------- */

/* Random bytes for one thread: one page, wiped at a fork and excluded from core dumps. A refill
 * writes `key` and `bytes` together. Used bytes are 0, and so is a missing `key`. */
typedef struct firn__block {
    uint64_t left; /* unused bytes, at the end of `bytes` */
    /* differs from refill to refill, also in a child; 0: wiped since. Another thread may set it to
     * 0: firn__entropy_drop */
    _Atomic uint64_t owner;
    uint64_t refills;
    uint64_t
        keeps; /* 1: no core dump has it, and this process may use libraries: a cipher may fill it */
    uint8_t seed[32];    /* only during a refill */
    uint8_t key[32];     /* of the next refill, mixed with a seed */
    uint8_t bytes[3984]; /* so that fork_memory.c needs one page */
} firn__block;

extern FIRN_TLS firn__block *firn__block_here; /* NULL: the thread has none yet */

static inline uint64_t firn__block_owner(const firn__block *block) {
    return atomic_load_explicit(&block->owner, memory_order_relaxed);
}

/* Whether nothing was wiped or refilled since: a signal handler may have forked between any two
 * steps. If so, what is left may have been used. */
static inline bool firn__block_intact(firn__block *block, uint64_t owner) {
    atomic_signal_fence(memory_order_seq_cst);
    if (owner != 0 && firn__block_owner(block) == owner) {
        return true;
    }
    block->left = 0;
    return false;
}

/* Read once: a fork between two readings would wipe it. */
static inline size_t firn__block_left(const firn__block *block) {
    return (size_t)((const volatile firn__block *)block)->left;
}

/* 8 bytes of the block, or 16. False: too few are left. */
static inline bool firn__block_take(firn_value *out, bool wide) {
    static const uint8_t zeros[16];
    firn__block *block = firn__block_here;
    if (block == NULL) {
        return false;
    }
    uint64_t owner = firn__block_owner(block);
    size_t left = firn__block_left(block);
    if (left < 16) {
        return false;
    }
    uint8_t *position = block->bytes + sizeof block->bytes - left;
    memcpy(&out->low, position, 8);
    if (wide) {
        memcpy(&out->high, position + 8, 8);
        memcpy(position, zeros, 16);
        block->left = left - 16;
    } else {
        memcpy(position, zeros, 8);
        block->left = left - 8;
    }
    return firn__block_intact(block, owner);
}

/* Bytes of the block that are read in place. */
typedef struct firn__bytes {
    uint8_t *bytes;
    size_t size;
    uint64_t owner;
} firn__bytes;

/* At most *n pieces of `size` (1..16) bytes; 16 bytes may be read from the beginning of each. *n:
 * how many, at least 1. Only where firn__wiped_watch is false. FIRN_EENTROPY. */
int firn__block_open(firn__bytes *bytes, size_t size, size_t *n, firn_error *error);
/* Erases them. False: they may have been used by others, so what was made of them is void. */
bool firn__block_close(firn__bytes *bytes);

/* `bits` (1..128) random bits. FIRN_EENTROPY. */
static inline int firn__entropy_bits(const firn_entropy *source, firn_value *value, uint32_t bits,
                                     firn_error *error) {
    firn_value out = {0, 0};
    bool wide = bits > 64;
    if (source != NULL || !firn__block_take(&out, wide)) {
        int code = firn__entropy_fill(source, &out, wide ? 16 : 8, error);
        if (code != FIRN_OK) {
            return code;
        }
    }
    value->low = out.low & firn__mask(wide ? 64 : bits);
    value->high = wide ? out.high & firn__mask(bits - 64) : 0;
    return FIRN_OK;
}

#endif
