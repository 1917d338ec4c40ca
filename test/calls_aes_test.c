/* SPDX-License-Identifier: MIT */
/* Fails each call of the AES module (calls.h). A function must say so with FIRN_ESYSTEM or NULL, and
 * give the right bytes the next time: wrong ones would be keys and IDs that repeat. */
#include "calls.h"

#include <firn/cipher.h>
#include <openssl/evp.h>

CALL(OSSL_LIB_CTX *, OSSL_LIB_CTX_new, (void), (), 1, NULL)
CALL(EVP_CIPHER *, EVP_CIPHER_fetch, (OSSL_LIB_CTX * library, const char *kind, const char *source),
     (library, kind, source), 1, NULL)
CALL(EVP_MD *, EVP_MD_fetch, (OSSL_LIB_CTX * library, const char *kind, const char *source),
     (library, kind, source), 1, NULL)
CALL(EVP_CIPHER_CTX *, EVP_CIPHER_CTX_new, (void), (), 1, NULL)
CALL(int, EVP_EncryptInit_ex2,
     (EVP_CIPHER_CTX * context, const EVP_CIPHER *kind, const unsigned char *key,
      const unsigned char *vector, const OSSL_PARAM parameters[]),
     (context, kind, key, vector, parameters), 1, 0)
CALL(EVP_MD_CTX *, EVP_MD_CTX_new, (void), (), 1, NULL)
CALL(int, EVP_DigestInit_ex2,
     (EVP_MD_CTX * context, const EVP_MD *kind, const OSSL_PARAM parameters[]),
     (context, kind, parameters), 1, 0)
CALL(int, EVP_DigestUpdate, (EVP_MD_CTX * context, const void *bytes, size_t size),
     (context, bytes, size), 1, 0)
CALL(int, EVP_DigestFinal_ex, (EVP_MD_CTX * context, unsigned char *digest, unsigned *size),
     (context, digest, size), 1, 0)

/* A failure, and a block too few. */
CALL_BY_HAND(int, EVP_EncryptUpdate,
             (EVP_CIPHER_CTX * context, unsigned char *out, int *size, const unsigned char *in,
              int length)) {
    const int which = calls_answer("EVP_EncryptUpdate", 2, 2);
    const int done = which == 1 ? 0 : __real_EVP_EncryptUpdate(context, out, size, in, length);
    *size -= which == 2 ? 16 : 0;
    return done;
}

FIRN_API extern const firn_stream_ops firn_stream_module;

/* AES-256 of a block of zeros with a key of zeros (NIST AESAVS, appendix B), SHA-256 of "abc" (FIPS
 * 180-2, appendix B.1). */
static const uint8_t block_of_zeros[16] = {0xdc, 0x95, 0xc0, 0x78, 0xa2, 0x40, 0x89, 0x89,
                                           0xad, 0x48, 0xa2, 0x14, 0x92, 0x84, 0x20, 0x87};
static const uint8_t digest_of_abc[32] = {
    0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40, 0xde, 0x5d, 0xae, 0x22, 0x23,
    0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad};

static void *opened[64]; /* a module keeps its algorithms */
static int failures;     /* of this run */

static bool worked(int code) {
    assert_true(code == FIRN_OK || code == FIRN_ESYSTEM);
    failures += code != FIRN_OK;
    assert_in_range(failures, 0, 1);
    return code == FIRN_OK;
}

static void use(void *context) {
    static const uint8_t key[32], counter[16];
    static size_t count;
    const firn_stream_ops *aes = &firn_stream_module;
    void *self = NULL, *hasher;
    (void)context;
    failures = 0;
    while (!worked(aes->open(&self))) {
        assert_null(self);
    }
    assert_true(count < sizeof opened / sizeof *opened);
    opened[count++] = self;
    uint8_t bytes[32], digest[32];
    do {
        memset(bytes, 0, sizeof bytes);
    } while (!worked(aes->stream(self, bytes, sizeof bytes, key, counter)));
    assert_memory_equal(bytes, block_of_zeros, sizeof block_of_zeros);
    do {
        hasher = aes->hasher_open(self);
    } while (!worked(hasher != NULL ? FIRN_OK : FIRN_ESYSTEM));
    while (!worked(aes->hash(hasher, digest, "abc", 3))) {
    }
    assert_memory_equal(digest, digest_of_abc, sizeof digest);
    aes->hasher_close(hasher);
    assert_int_equal(failures, call_place != 0);
}

static void each_call_fails(void **state) {
    (void)state;
    assert_true(calls_sweep(use, NULL) > 12);
}

/* Nor is a part of it taken: 2^32 + 16 bytes look like 16 to libcrypto, which counts with an int. */
static void a_stream_that_is_too_long_is_refused(void **state) {
    static const uint8_t key[32], counter[16], before[16];
    uint8_t bytes[16] = {0};
    const size_t sizes[] = {(size_t)INT32_MAX + 1, (size_t)UINT32_MAX + 1 + sizeof bytes};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_int_equal(firn_stream_module.stream(opened[0], bytes, sizes[i], key, counter),
                         FIRN_ESYSTEM);
        assert_memory_equal(bytes, before, sizeof bytes);
    }
    firn_stream_module.hasher_close(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_fails),
        cmocka_unit_test(a_stream_that_is_too_long_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
