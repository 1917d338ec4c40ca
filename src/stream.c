/* SPDX-License-Identifier: MIT */
/* Loading and testing the cipher: see stream.h. Does not know who uses it. */
#include "stream.h"

#include "module.h"

#include <sha2.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>

enum { UNKNOWN, LOADING, USABLE, MISSING };

static _Atomic int state = UNKNOWN;
static const firn_stream_ops *used; /* once USABLE */
static void *cipher;

/* Zeros under a key of zeros: the blocks 0, 1 and 2 are the hash key, the tag of test case 13 and
 * the ciphertext of test case 14 in "The Galois/Counter Mode of Operation (GCM)" of McGrew and
 * Viega. Ciphers compute several blocks at once, so there is a long stream too, of 251 blocks,
 * under the key of FIPS 197, C.3: its SHA-256. */
static const uint8_t first_blocks[48] = {
    0xdc, 0x95, 0xc0, 0x78, 0xa2, 0x40, 0x89, 0x89, 0xad, 0x48, 0xa2, 0x14, 0x92, 0x84, 0x20, 0x87,
    0x53, 0x0f, 0x8a, 0xfb, 0xc7, 0x45, 0x36, 0xb9, 0xa9, 0x63, 0xb4, 0xf1, 0xc4, 0xcb, 0x73, 0x8b,
    0xce, 0xa7, 0x40, 0x3d, 0x4d, 0x60, 0x6b, 0x6e, 0x07, 0x4e, 0xc5, 0xd3, 0xba, 0xf3, 0x9d, 0x18};
static const uint8_t long_digest[SHA256_DIGEST_LENGTH] = {
    0xa2, 0xb6, 0x2a, 0x62, 0xd1, 0x8a, 0x57, 0x60, 0xf2, 0x9b, 0x03, 0x1a, 0xf2, 0xc9, 0x5b, 0x53,
    0xdf, 0x7e, 0x50, 0x20, 0xc6, 0xe4, 0x23, 0x95, 0xf8, 0x49, 0x68, 0xed, 0x3c, 0x23, 0xc9, 0x1b};

/* SHA-256 of these bytes, as libmd computes it. */
static bool hashes_as(const firn_stream_ops *ops, void *self, const uint8_t *bytes, size_t size,
                      const uint8_t expected[SHA256_DIGEST_LENGTH]) {
    uint8_t digest[SHA256_DIGEST_LENGTH] = {0};
    void *hasher = ops->hasher_open(self);
    bool fine = hasher != NULL;
    for (int i = 0; i < 2 && fine; i++) { /* twice: it keeps nothing of the first */
        fine = ops->hash(hasher, digest, bytes, size) == FIRN_OK &&
               memcmp(digest, expected, sizeof digest) == 0;
        memset(digest, 0, sizeof digest);
    }
    ops->hasher_close(hasher);
    return fine;
}

bool firn__stream_test(const firn_stream_ops *ops, void *self) {
    enum { LONG = 4016 };
    uint8_t bytes[LONG] = {0}, key[32] = {0}, counter[16] = {0}, digest[SHA256_DIGEST_LENGTH];
    SHA2_CTX context;
    if (ops->stream(self, bytes, sizeof first_blocks, key, counter) != FIRN_OK ||
        memcmp(bytes, first_blocks, sizeof first_blocks) != 0) {
        return false;
    }
    memset(bytes, 0, sizeof bytes);
    counter[15] = 1;
    if (ops->stream(self, bytes, 32, key, counter) != FIRN_OK ||
        memcmp(bytes, first_blocks + 16, 32) != 0) {
        return false;
    }
    memset(bytes, 0, sizeof bytes);
    counter[15] = 0;
    for (uint8_t i = 0; i < sizeof key; i++) {
        key[i] = i;
    }
    if (ops->stream(self, bytes, sizeof bytes, key, counter) != FIRN_OK) {
        return false;
    }
    SHA256Init(&context);
    SHA256Update(&context, bytes, sizeof bytes);
    SHA256Final(digest, &context);
    return memcmp(digest, long_digest, sizeof digest) == 0 &&
           hashes_as(ops, self, bytes, sizeof bytes, long_digest);
}

static int load_aes(void) {
    char why[FIRN__MODULE_WHY];
    bool is_static = getauxval(AT_BASE) == 0; /* dlopen would bring a second libc */
    void *library = is_static ? NULL : firn__module_open("aes", NULL, why);
    const firn_stream_ops *ops =
        library != NULL ? firn__module_symbol(library, "firn_stream_module") : NULL;
    if (ops == NULL || ops->version != 3 || strcmp(ops->name, "aes") != 0 ||
        ops->open(&cipher) != FIRN_OK || !firn__stream_test(ops, cipher)) {
        return MISSING;
    }
    used = ops;
    return USABLE;
}

bool firn__stream_ready(bool load_it) {
    int now = atomic_load_explicit(&state, memory_order_acquire);
    if (now == UNKNOWN && load_it &&
        atomic_compare_exchange_strong_explicit(&state, &now, LOADING, memory_order_acquire,
                                                memory_order_acquire)) {
        now = load_aes();
        atomic_store_explicit(&state, now, memory_order_release);
    }
    return now == USABLE;
}

bool firn__stream(void *bytes, size_t size, const uint8_t key[32], const uint8_t counter[16]) {
    return used->stream(cipher, bytes, size, key, counter) == FIRN_OK;
}

void *firn__hasher_open(void) {
    return used->hasher_open(cipher);
}

bool firn__hasher_digest(void *hasher, uint8_t digest[32], const void *bytes, size_t size) {
    return used->hash(hasher, digest, bytes, size) == FIRN_OK;
}

void firn__hasher_close(void *hasher) {
    if (hasher != NULL) {
        used->hasher_close(hasher);
    }
}
