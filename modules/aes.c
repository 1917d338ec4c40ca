/* SPDX-License-Identifier: MIT */
/* AES-256 in counter mode from libcrypto, for the random generator of src/entropy.c, and SHA-256, for
 * jobs. The cipher keeps no key and no state between calls. Uses nothing of libfirn. */
#include <firn/cipher.h>

#include <openssl/evp.h>
#include <stdlib.h>

FIRN_API extern const firn_stream_ops firn_stream_module;

typedef struct algorithms {
    EVP_CIPHER *cipher;
    EVP_MD *hash;
} algorithms;

/* From a library context of firn's own: it reads no openssl.cnf, and the program's own use of
 * libcrypto does not change it. They stay until the process ends. */
static int aes_open(void **self) {
    algorithms *both = calloc(1, sizeof *both); /* a process may have two copies of libfirn */
    OSSL_LIB_CTX *library = both != NULL ? OSSL_LIB_CTX_new() : NULL;
    if (library != NULL) {
        both->cipher = EVP_CIPHER_fetch(library, "AES-256-CTR", NULL);
        both->hash = EVP_MD_fetch(library, "SHA256", NULL);
    }
    if (library != NULL && both->cipher != NULL && both->hash != NULL) {
        *self = both;
        return FIRN_OK;
    }
    if (library != NULL) {
        EVP_CIPHER_free(both->cipher);
        EVP_MD_free(both->hash);
        OSSL_LIB_CTX_free(library);
    }
    free(both);
    return FIRN_ESYSTEM;
}

/* libcrypto keeps the expanded key on the heap, so each call has its own context, which the free
 * erases. */
static int aes_stream(void *self, void *bytes, size_t size, const uint8_t key[32],
                      const uint8_t counter[16]) {
    const algorithms *both = self;
    int done = 0;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    bool fine = context != NULL && size <= INT32_MAX &&
                EVP_EncryptInit_ex2(context, both->cipher, key, counter, NULL) == 1 &&
                EVP_EncryptUpdate(context, bytes, &done, bytes, (int)size) == 1 &&
                (size_t)done == size;
    EVP_CIPHER_CTX_free(context);
    return fine ? FIRN_OK : FIRN_ESYSTEM;
}

/* The context keeps the algorithm, so each digest begins without a search for it. */
static void *sha256_open(void *self) {
    const algorithms *both = self;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (context != NULL && EVP_DigestInit_ex2(context, both->hash, NULL) != 1) {
        EVP_MD_CTX_free(context);
        return NULL;
    }
    return context;
}

static int sha256_hash(void *hasher, uint8_t digest[32], const void *bytes, size_t size) {
    bool fine = EVP_DigestInit_ex2(hasher, NULL, NULL) == 1 &&
                EVP_DigestUpdate(hasher, bytes, size) == 1 &&
                EVP_DigestFinal_ex(hasher, digest, NULL) == 1;
    return fine ? FIRN_OK : FIRN_ESYSTEM;
}

static void sha256_close(void *hasher) {
    EVP_MD_CTX_free(hasher);
}

const firn_stream_ops firn_stream_module = {
    .version = 3,
    .name = "aes",
    .open = aes_open,
    .stream = aes_stream,
    .hasher_open = sha256_open,
    .hash = sha256_hash,
    .hasher_close = sha256_close,
};
