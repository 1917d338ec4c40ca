/* SPDX-License-Identifier: MIT */
/* MD5, SHA-1 and SHA-256 under the names of libmd, which the library uses elsewhere. md5.h, sha1.h
 * and sha2.h include this file. */
#ifndef FIRN_WASM_DIGEST_H
#define FIRN_WASM_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define MD5_DIGEST_LENGTH    16
#define SHA1_DIGEST_LENGTH   20
#define SHA256_DIGEST_LENGTH 32

typedef struct digest {
    uint32_t state[8];
    uint64_t count; /* bytes so far */
    uint8_t buffer[64];
} MD5_CTX, SHA1_CTX, SHA2_CTX;

void MD5Init(MD5_CTX *context);
void MD5Update(MD5_CTX *context, const uint8_t *bytes, size_t size);
void MD5Final(uint8_t out[MD5_DIGEST_LENGTH], MD5_CTX *context);
void SHA1Init(SHA1_CTX *context);
void SHA1Update(SHA1_CTX *context, const uint8_t *bytes, size_t size);
void SHA1Final(uint8_t out[SHA1_DIGEST_LENGTH], SHA1_CTX *context);
void SHA256Init(SHA2_CTX *context);
void SHA256Update(SHA2_CTX *context, const uint8_t *bytes, size_t size);
void SHA256Final(uint8_t out[SHA256_DIGEST_LENGTH], SHA2_CTX *context);

#endif
