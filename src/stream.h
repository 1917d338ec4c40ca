/* SPDX-License-Identifier: MIT */
/* The cipher of the random generator and a fast SHA-256: the module `aes`, loaded once a process and
 * tested before it is used. */
#ifndef FIRN_STREAM_H
#define FIRN_STREAM_H

#include <firn/cipher.h>

/* Whether there is a cipher. The first call with `load` loads the module, in about 2 ms, while
 * other threads get false. Only where firn__wiped_may_load. */
bool firn__stream_ready(bool load);
/* With a cipher: XORs `bytes` with the stream of the key from that counter on. False: it fails, and
 * `bytes` may have changed. */
bool firn__stream(void *bytes, size_t size, const uint8_t key[32], const uint8_t counter[16]);

/* With a cipher: SHA-256 for one thread at a time; NULL: no memory. */
void *firn__hasher_open(void);
/* False: it fails. */
bool firn__hasher_digest(void *hasher, uint8_t digest[32], const void *bytes, size_t size);
/* Erases what it hashed; of NULL too. */
void firn__hasher_close(void *hasher);

/* Whether a cipher computes AES-256-CTR, and SHA-256: known answers. */
bool firn__stream_test(const firn_stream_ops *ops, void *self);

#endif
