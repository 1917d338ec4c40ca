/* SPDX-License-Identifier: MIT */
/* Exports of firn's two modules with a cipher. Between libfirn and its modules; not installed. */
#ifndef FIRN_CIPHER_H
#define FIRN_CIPHER_H

#include <firn/firn.h>

/* The cipher of the random generator, and SHA-256, which is several times as fast as libmd's where
 * the processor has instructions for it. A module exports them as `firn_stream_module`. Called by
 * any thread, at the same time. A module uses no function of libfirn. */
typedef struct firn_stream_ops {
    uint32_t version;         /* 3 */
    const char *name;         /* "aes" */
    int (*open)(void **self); /* once a process */
    /* XORs `bytes` with AES-256 in counter mode, from `counter` on, which is big-endian. `size` is
     * a multiple of 16. Erases its copies of the key, and keeps nothing. */
    int (*stream)(void *self, void *bytes, size_t size, const uint8_t key[32],
                  const uint8_t counter[16]);
    void *(*hasher_open)(void *self); /* for one thread at a time; NULL: no memory */
    int (*hash)(void *hasher, uint8_t digest[32], const void *bytes, size_t size);
    void (*hasher_close)(void *hasher); /* erases what it hashed; of NULL too */
} firn_stream_ops;

/* A number of `length` digits as two: its first length / 2 digits, and all others. */
typedef struct firn_halves {
    uint64_t first, second;
} firn_halves;

/* A cipher over numbers of a fixed length, which a module exports as `firn_cipher_module`. One call
 * at a time per handle. A module uses no function of libfirn. */
typedef struct firn_cipher_ops {
    uint32_t version; /* 2 */
    const char *name; /* "ff1" */
    /* Copies the key. `radix` 10: `length` 6..19; `radix` 2: `length` 20..128. */
    int (*open)(void **self, const uint8_t key[16], uint32_t radix, uint32_t length,
                const uint8_t *tweak, size_t tweak_size, firn_error *error);
    /* Encrypts `count` numbers, or decrypts them, in place; they mean nothing after an error. */
    int (*encrypt)(void *self, firn_halves *numbers, size_t count, firn_error *error);
    int (*decrypt)(void *self, firn_halves *numbers, size_t count, firn_error *error);
    void (*close)(void *self); /* erases the key */
} firn_cipher_ops;

#endif
