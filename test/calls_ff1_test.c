/* SPDX-License-Identifier: MIT */
/* Fails each call of the FF1 module (calls.h). The cipher must fail with FIRN_EMEMORY or
 * FIRN_ESYSTEM, or give the right number. */
#include "calls.h"

#include <firn/cipher.h>
#include <openssl/evp.h>

CALL(EVP_CIPHER_CTX *, EVP_CIPHER_CTX_new, (void), (), 1, NULL)
CALL(int, EVP_EncryptInit_ex,
     (EVP_CIPHER_CTX * context, const EVP_CIPHER *kind, ENGINE *engine, const unsigned char *key,
      const unsigned char *vector),
     (context, kind, engine, key, vector), 1, 0)
CALL(int, EVP_CIPHER_CTX_set_padding, (EVP_CIPHER_CTX * context, int padding), (context, padding),
     1, 0)
CALL(int, EVP_EncryptUpdate,
     (EVP_CIPHER_CTX * context, unsigned char *out, int *size, const unsigned char *in, int length),
     (context, out, size, in, length), 1, 0)

static const uint8_t key[16] = {1, 2, 3};

static void check(int code, const firn_error *error) {
    assert_true(code == FIRN_OK || code == FIRN_EMEMORY || code == FIRN_ESYSTEM);
    assert_true(code == FIRN_OK || (error->code == code && error->text[0] != '\0'));
}

static void use(void *context) {
    firn_error error = {0};
    void *self = NULL;
    firn_halves number = {123, 4567};
    (void)context;
    int code = firn_cipher_module.open(&self, key, 10, 7, key, sizeof key, &error);
    check(code, &error);
    if (code != FIRN_OK) {
        assert_null(self);
        return;
    }
    code = firn_cipher_module.encrypt(self, &number, 1, &error);
    check(code, &error);
    if (code == FIRN_OK) {
        code = firn_cipher_module.decrypt(self, &number, 1, &error);
        check(code, &error);
        assert_true(code != FIRN_OK || (number.first == 123 && number.second == 4567));
    }
    firn_cipher_module.close(self);
}

static void each_call_fails(void **state) {
    (void)state;
    assert_true(calls_sweep(use, NULL) > 5);
}

static void sizes_are_checked(void **state) {
    static const struct {
        uint32_t radix, length;
        size_t tweak_size;
    } wrong[] = {{10, 0, 0},   {10, 5, 0},         {10, 20, 0}, {10, UINT32_MAX, 0},
                 {10, 10, 33}, {10, 10, SIZE_MAX}, {2, 19, 0},  {2, 129, 0},
                 {2, 64, 33},  {3, 19, 0},         {0, 64, 0},  {256, 10, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        firn_error error = {0};
        void *self = NULL;
        assert_int_equal(firn_cipher_module.open(&self, key, wrong[i].radix, wrong[i].length, key,
                                                 wrong[i].tweak_size, &error),
                         FIRN_ERANGE);
        assert_int_equal(error.code, FIRN_ERANGE);
        assert_null(self);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_fails),
        cmocka_unit_test(sizes_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
