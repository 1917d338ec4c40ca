/* SPDX-License-Identifier: MIT */
/* The cipher of the random generator: the module `aes`, loaded once a process and tested before it
 * is used. */
#ifndef FIRN_STREAM_H
#define FIRN_STREAM_H

#include <firn/cipher.h>

/* Whether there is a cipher. The first call with `load` loads the module, in about 2 ms, while
 * other threads get false. Only where firn__wiped_may_load. */
bool firn__stream_ready(bool load);
/* With a cipher: XORs `bytes` with the stream of the key from that counter on. False: it fails, and
 * `bytes` may have changed. */
bool firn__stream(void *bytes, size_t size, const uint8_t key[32], const uint8_t counter[16]);

/* Whether a cipher computes AES-256-CTR: known answers. */
bool firn__stream_test(const firn_stream_ops *ops, void *self);

#endif
