/* SPDX-License-Identifier: MIT */
/* AES-256 in counter mode from libcrypto, for the random generator of src/entropy.c. Keeps no key
 * and no state between calls. Uses nothing of libfirn. */
#include <firn/cipher.h>

#include <openssl/evp.h>

FIRN_API extern const firn_stream_ops firn_stream_module;

/* From a library context of firn's own: it reads no openssl.cnf, and the program's own use of
 * libcrypto does not change it. Both stay until the process ends. */
static int aes_open(void **self) {
    OSSL_LIB_CTX *library = OSSL_LIB_CTX_new();
    EVP_CIPHER *cipher = library != NULL ? EVP_CIPHER_fetch(library, "AES-256-CTR", NULL) : NULL;
    if (cipher == NULL) {
        OSSL_LIB_CTX_free(library);
        return FIRN_ESYSTEM;
    }
    *self = cipher;
    return FIRN_OK;
}

/* libcrypto keeps the expanded key on the heap, so each call has its own context, which the free
 * erases. */
static int aes_stream(void *self, void *bytes, size_t size, const uint8_t key[32],
                      const uint8_t counter[16]) {
    int done = 0;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    bool fine = context != NULL && size <= INT32_MAX &&
                EVP_EncryptInit_ex2(context, self, key, counter, NULL) == 1 &&
                EVP_EncryptUpdate(context, bytes, &done, bytes, (int)size) == 1 &&
                (size_t)done == size;
    EVP_CIPHER_CTX_free(context);
    return fine ? FIRN_OK : FIRN_ESYSTEM;
}

const firn_stream_ops firn_stream_module = {
    .version = 2,
    .name = "aes",
    .open = aes_open,
    .stream = aes_stream,
};
