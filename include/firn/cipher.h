/* SPDX-License-Identifier: MIT */
/* What firn's two modules with a cipher export. Between libfirn and its modules; not installed. */
#ifndef FIRN_CIPHER_H
#define FIRN_CIPHER_H

#include <firn/firn.h>

/* The cipher of the random generator, which a module exports as `firn_stream_module`. Called by any
 * thread, at the same time. A module uses no function of libfirn. */
typedef struct firn_stream_ops {
    uint32_t version;         /* 2 */
    const char *name;         /* "aes" */
    int (*open)(void **self); /* once a process */
    /* XORs `bytes` with AES-256 in counter mode, from `counter` on, which is big-endian. `size` is
     * a multiple of 16. Erases its copies of the key, and keeps nothing. */
    int (*stream)(void *self, void *bytes, size_t size, const uint8_t key[32],
                  const uint8_t counter[16]);
} firn_stream_ops;

/* A cipher over decimal numbers of a fixed length, which a module exports as `firn_cipher_module`.
 * One call at a time per handle. A module uses no function of libfirn. */
typedef struct firn_cipher_ops {
    uint32_t version; /* 1 */
    const char *name; /* "ff1" */
    int (*open)(void **self, const uint8_t key[16], uint32_t digits, const uint8_t *tweak,
                size_t tweak_size, firn_error *error); /* copies the key */
    int (*encrypt)(void *self, uint64_t *out, uint64_t in, firn_error *error);
    int (*decrypt)(void *self, uint64_t *out, uint64_t in, firn_error *error);
    void (*close)(void *self); /* erases the key */
} firn_cipher_ops;

#endif
