/* SPDX-License-Identifier: MIT */
/* SHA-256 as text. */
#ifndef FIRN_SHA256_H
#define FIRN_SHA256_H

#include <sha2.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { SHA256_TEXT_SIZE = SHA256_DIGEST_LENGTH * 2 + 1 };

/* Writes lower-case digits and a zero. */
static inline void sha256_text(char out[SHA256_TEXT_SIZE], const void *bytes, size_t size) {
    uint8_t hash[SHA256_DIGEST_LENGTH];
    SHA2_CTX context;
    SHA256Init(&context);
    SHA256Update(&context, bytes, size);
    SHA256Final(hash, &context);
    for (size_t i = 0; i < sizeof hash; i++) {
        snprintf(out + 2 * i, 3, "%02x", hash[i]);
    }
}

#endif
