/* SPDX-License-Identifier: MIT */
/* AES-128 in blocks under the names of libcrypto, which modules/ff1.c uses elsewhere. */
#ifndef FIRN_WASM_EVP_H
#define FIRN_WASM_EVP_H

#include <stddef.h>
#include <stdint.h>

typedef struct EVP_CIPHER_CTX {
    uint8_t keys[11][16]; /* of the rounds */
} EVP_CIPHER_CTX;

EVP_CIPHER_CTX *EVP_CIPHER_CTX_new(void);
void EVP_CIPHER_CTX_free(EVP_CIPHER_CTX *context); /* erases the key */
/* `cipher`, `engine` and `iv` are not used: the only cipher is AES-128. */
int EVP_EncryptInit_ex(EVP_CIPHER_CTX *context, const void *cipher, const void *engine,
                       const uint8_t key[16], const uint8_t *iv);
/* `size` is a multiple of 16; `out` may be `in`. */
int EVP_EncryptUpdate(EVP_CIPHER_CTX *context, uint8_t *out, int *written, const uint8_t *in,
                      int size);
static inline const void *EVP_aes_128_ecb(void) {
    return NULL;
}
static inline int EVP_CIPHER_CTX_set_padding(EVP_CIPHER_CTX *context, int padding) {
    (void)context, (void)padding;
    return 1;
}

#endif
