/* SPDX-License-Identifier: MIT */
/* HKDF-SHA256: see hkdf.h. RFC 5869 and RFC 2104 have the names. */
#include "hkdf.h"

#include <assert.h>
#include <sha2.h>
#include <string.h>

enum { BLOCK = 64, HASH = SHA256_DIGEST_LENGTH };

/* HMAC of a text and a last byte, which is left out if it is 0. */
static void hmac(uint8_t out[HASH], const uint8_t key[HASH], const void *text, size_t size,
                 uint8_t last) {
    uint8_t inner[BLOCK], outer[BLOCK];
    SHA2_CTX context;
    for (int i = 0; i < BLOCK; i++) {
        const uint8_t byte = i < HASH ? key[i] : 0;
        inner[i] = byte ^ 0x36;
        outer[i] = byte ^ 0x5c;
    }
    SHA256Init(&context);
    SHA256Update(&context, inner, BLOCK);
    SHA256Update(&context, text, size);
    SHA256Update(&context, &last, last != 0);
    SHA256Final(out, &context);
    SHA256Init(&context);
    SHA256Update(&context, outer, BLOCK);
    SHA256Update(&context, out, HASH);
    SHA256Final(out, &context);
    explicit_bzero(inner, sizeof inner);
    explicit_bzero(outer, sizeof outer);
    explicit_bzero(&context, sizeof context);
}

void firn__hkdf(uint8_t *out, size_t size, const void *secret, size_t secret_size, const void *info,
                size_t info_size) {
    static const uint8_t no_salt[HASH];
    uint8_t prk[HASH], first[HASH]; /* T(1) */
    assert(size > 0 && size <= HASH);
    hmac(prk, no_salt, secret, secret_size, 0);
    hmac(first, prk, info, info_size, 1);
    memcpy(out, first, size);
    explicit_bzero(prk, sizeof prk);
    explicit_bzero(first, sizeof first);
}
