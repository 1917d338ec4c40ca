/* SPDX-License-Identifier: MIT */
/* Fills a thread's block of random bytes: from the kernel, and once a thread has used 1 MiB from a
 * cipher, whose key each refill replaces and mixes with bytes of the kernel. Each refill also mixes
 * in what the processor offers, so that two copies of a machine differ.
 * docs/explanation/randomness.md says why. */
#include "entropy.h"

#include "error.h"
#include "fork_memory.h"
#include "processor.h"
#include "stream.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/random.h>

#define LOADING                                                                                    \
    256 /* refills, 1 MiB: what they take from the kernel takes as long as loading a cipher, 3 ms */
#define STREAM           (sizeof(firn__block) - offsetof(firn__block, key)) /* key and bytes */
#define STREAM_OF(block) ((uint8_t *)(block) + offsetof(firn__block, key))

_Static_assert(sizeof(firn__block) <= 4096 - sizeof(void *), "fork_memory.c needs one page");
_Static_assert(STREAM % 16 == 0, "whole blocks of the cipher");

FIRN_TLS firn__block *firn__block_here;
static FIRN_TLS firn__block *of_kernel; /* for entropy=system: no cipher fills it */
static FIRN_TLS uint64_t last_owner;
static pthread_key_t at_exit; /* frees a thread's blocks when it ends */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool key_made;

/* ---- blocks ---------------------------------------------------------------------------------- */

static void release(firn__block **here) {
    if (*here != NULL) {
        explicit_bzero(*here, sizeof **here);
        firn__wiped_free(*here, sizeof **here);
        *here = NULL;
    }
}

static void release_all(void *any) {
    (void)any;
    release(&firn__block_here);
    release(&of_kernel);
}

/* Another thread's block, as a fork wipes it. A refill that is under way draws its bytes again. */
static void renew_block(void *block) {
    atomic_store_explicit(&((firn__block *)block)->owner, 0, memory_order_relaxed);
}

void firn__entropy_drop(void) {
    firn__wiped_renew(FIRN__RENEW_RANDOM);
}

void firn_renew_identity(void) {
    firn__wiped_renew(FIRN__RENEW_RANDOM);
    firn__wiped_renew(FIRN__RENEW_MARKS);
    firn__wiped_renew(FIRN__RENEW_RESERVED);
    firn__wiped_renew(FIRN__RENEW_ISSUED);
}

static void make_key(void) {
    key_made = pthread_key_create(&at_exit, release_all) == 0;
}

static int make_block(firn__block **here, firn_error *error) {
    int code;
    firn__block *block = firn__wiped(sizeof *block, &code, error);
    if (block == NULL) {
        return code;
    }
    pthread_once(&once, make_key);
    if (!key_made || pthread_setspecific(at_exit, block) != 0) {
        firn__wiped_free(block, sizeof *block);
        return firn__fail(error, FIRN_EMEMORY, "out of memory for a thread's entropy");
    }
    firn__wiped_renews(block, sizeof *block, FIRN__RENEW_RANDOM, renew_block);
    *here = block;
    return FIRN_OK;
}

/* ---- refills --------------------------------------------------------------------------------- */

static int system_fill(void *out, size_t size, firn_error *error) {
    for (size_t done = 0; done < size;) {
        ssize_t got = getrandom((uint8_t *)out + done, size - done, 0);
        if (got == 0 || (got < 0 && errno != EINTR)) { /* 0: a filter of system calls may say so */
            return firn__fail(error, FIRN_EENTROPY,
                              "the system provides no randomness (%s): no ID is issued",
                              got == 0 ? "getrandom gave no bytes" : strerror(errno));
        }
        done += got > 0 ? (size_t)got : 0;
    }
    return FIRN_OK;
}

/* False: the cipher did not write the bytes, which are 0. The cipher writes the key first, which
 * stays out of registers here: they are dumped. */
static bool is_written(const uint8_t bytes[16]) {
    uint64_t words[2];
    memcpy(words, bytes, sizeof words);
    return (words[0] | words[1]) != 0;
}

/* Key and bytes from the cipher, under the last key mixed with 32 bytes of the kernel. The noise is
 * the upper part of the first counter, so that two noises have no counter in common: the cipher is
 * the hash. *done: false if the cipher fails. */
static int stream_fill(firn__block *block, bool *done, firn_error *error) {
    uint8_t counter[16] = {0};
    int code = system_fill(block->seed, sizeof block->seed, error);
    if (code != FIRN_OK) {
        return code;
    }
    firn__noise noise = firn__processor_noise(); /* not before: the kernel would wait for it */
    for (size_t i = 0; i < sizeof block->seed; i++) {
        block->seed[i] ^= block->key[i];
        block->key[i] = 0;
    }
    memcpy(counter, &noise.cycles, 8);
    memcpy(counter + 8, &noise.drawn, 6); /* the other two bytes count the blocks of one refill */
    *done =
        firn__stream(STREAM_OF(block), STREAM, block->seed, counter) && is_written(block->bytes);
    explicit_bzero(block->seed, sizeof block->seed);
    return FIRN_OK;
}

/* Bytes of the kernel. Unless the kernel alone may decide them, XORed with 32 bytes that the
 * processor has changed. */
static int kernel_fill(firn__block *block, firn_error *error) {
    if (block == of_kernel) {
        return system_fill(block->bytes, sizeof block->bytes, error);
    }
    firn__noise noise = firn__processor_noise();
    int code = system_fill(STREAM_OF(block), STREAM, error);
    firn__processor_hash(block->key, &noise);
    for (size_t i = 0; i < sizeof block->bytes; i += 8) {
        uint64_t word, key;
        memcpy(&word, block->bytes + i, 8);
        memcpy(&key, block->key + i % sizeof block->key, 8);
        word ^= key;
        memcpy(block->bytes + i, &word, 8);
    }
    explicit_bzero(block->key, sizeof block->key);
    return code;
}

static int refill(firn__block *block, firn_error *error) {
    bool done = false;
    int code = FIRN_OK;
    if (firn__block_owner(block) ==
        0) { /* new, or a child's. A kernel that wipes also judges this advice */
        block->keeps = firn__wiped_may_load() && madvise(block, sizeof *block, MADV_DONTDUMP) == 0;
    }
    uint64_t owner = ++last_owner;
    atomic_store_explicit(&block->owner, owner, memory_order_relaxed);
    size_t left = firn__block_left(block);
    memset(block->bytes + sizeof block->bytes - left, 0, left);
    block->left = 0;
    if (block != of_kernel && block->keeps && firn__stream_ready(block->refills >= LOADING)) {
        code = stream_fill(block, &done, error);
    }
    if (code == FIRN_OK && !done) {
        code = kernel_fill(block, error);
    }
    if (code == FIRN_OK && firn__block_intact(block, owner)) {
        block->left = sizeof block->bytes;
        block->refills++;
    }
    return code;
}

static int caller_fill(const firn_entropy *source, void *out, size_t size, firn_error *error) {
    int code = source->fill(source->self, out, size);
    return code == FIRN_OK ? FIRN_OK
                           : firn__fail(error, code, "the entropy source of the caller failed: %s",
                                        firn_strerror(code));
}

int firn__entropy_fill(const firn_entropy *source, void *out, size_t size, firn_error *error) {
    firn__block **here = source == NULL ? &firn__block_here : &of_kernel;
    if (source != NULL && source != &firn__entropy_system) {
        return caller_fill(source, out, size, error);
    }
    if (size > sizeof(*here)->bytes / 4 ||
        firn__wiped_watch()) { /* keep nothing that a child could draw too */
        return system_fill(out, size, error);
    }
    int code = *here == NULL ? make_block(here, error) : FIRN_OK;
    bool taken = false;
    while (code == FIRN_OK && !taken) { /* again only after a fork in a handler */
        firn__block *block = *here;
        if (firn__block_owner(block) == 0 || block->left < size) {
            code = refill(block, error);
        }
        uint64_t owner = firn__block_owner(block);
        size_t left = firn__block_left(block);
        if (code == FIRN_OK && left >= size) {
            uint8_t *bytes = block->bytes + sizeof block->bytes - left;
            memcpy(out, bytes, size);
            memset(bytes, 0, size);
            block->left = left - size;
            taken = firn__block_intact(block, owner);
        }
    }
    return code;
}

int firn__block_open(firn__bytes *bytes, size_t size, size_t *n, firn_error *error) {
    int code = firn__block_here == NULL ? make_block(&firn__block_here, error) : FIRN_OK;
    for (firn__block *block = firn__block_here; code == FIRN_OK;) {
        uint64_t owner = firn__block_owner(block);
        size_t left = firn__block_left(block);
        if (owner != 0 && left >= 16) {
            size_t most = (left - 16) / size + 1;
            *n = *n < most ? *n : most;
            *bytes = (firn__bytes){block->bytes + sizeof block->bytes - left, *n * size, owner};
            block->left = left - bytes->size;
            return FIRN_OK;
        }
        code = refill(block, error);
    }
    return code;
}

bool firn__block_close(firn__bytes *bytes) {
    memset(bytes->bytes, 0, bytes->size);
    return firn__block_intact(firn__block_here, bytes->owner);
}

const firn_entropy firn__entropy_system = {.version = 1}; /* known by its address */

int firn__entropy_below(const firn_entropy *source, uint64_t *value, uint64_t below,
                        firn_error *error) {
    uint32_t bits = 1;
    while (bits < 64 && below - 1 > firn__mask(bits)) {
        bits++;
    }
    for (int i = 0; i < 128; i++) { /* each round is right with a chance of at least one half */
        firn_value drawn;
        int code = firn__entropy_bits(source, &drawn, bits, error);
        if (code != FIRN_OK) {
            return code;
        }
        if (drawn.low < below) {
            *value = drawn.low;
            return FIRN_OK;
        }
    }
    return firn__fail(error, FIRN_EENTROPY, "the entropy source repeats itself: no ID is issued");
}

/* splitmix64: for simulations, where the same seed must give the same run. */
static int seeded_fill(void *self, void *out, size_t size) {
    uint64_t *state = self;
    uint8_t *bytes = out;
    for (size_t i = 0; i < size; i++) {
        uint64_t z = *state += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        bytes[i] = (uint8_t)(z ^ z >> 31);
    }
    return FIRN_OK;
}

firn_entropy firn__entropy_seeded(uint64_t *state) {
    return (firn_entropy){.version = 1, .self = state, .fill = seeded_fill};
}
