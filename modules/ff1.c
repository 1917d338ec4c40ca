/* SPDX-License-Identifier: MIT */
/* FF1 of NIST SP 800-38G over numbers of 6 to 19 decimal digits: a permutation chosen by a key of
 * 128 bits and a tweak. AES is libcrypto's, used by nothing else in firn; the rounds are here. Uses
 * nothing of libfirn. */
#include "module.h"

#include <firn/cipher.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 10, BLOCK = 16, TWEAK_MAX = 32, MESSAGE_MAX = TWEAK_MAX + 2 * BLOCK };
enum {
    DIGITS_LEAST = 6,
    DIGITS_MOST = 19
}; /* 10^6 is the smallest domain that the standard allows */

/* Shared by one key, tweak and length; the names are the standard's. */
typedef struct cipher {
    EVP_CIPHER_CTX *aes;
    uint64_t power[2];      /* of ten: 10^u and 10^v, u + v digits in all */
    size_t b;               /* bytes of a half as a number, 3..5 */
    size_t d;               /* bytes of a round's number: 8 or 12 */
    uint8_t chained[BLOCK]; /* the cipher's block after P */
    uint8_t q[MESSAGE_MAX]; /* Q, without the round and the half at its end */
    size_t q_size;
} cipher;

FIRN_API extern const firn_cipher_ops firn_cipher_module;

/* The next block of a CBC-MAC. */
static bool chain(const cipher *c, uint8_t block[BLOCK], const uint8_t *message) {
    uint8_t mixed[BLOCK];
    int size = 0;
    for (int i = 0; i < BLOCK; i++) {
        mixed[i] = block[i] ^ message[i];
    }
    return EVP_EncryptUpdate(c->aes, block, &size, mixed, BLOCK) == 1 && size == BLOCK;
}

/* The number of a round: the first d bytes of the MAC, modulo one of the powers. */
static bool round_number(const cipher *c, uint64_t *number, uint8_t i, uint64_t half,
                         uint64_t power) {
    uint8_t block[BLOCK], q[MESSAGE_MAX];
    bool done = true;
    memcpy(block, c->chained, BLOCK);
    memcpy(q, c->q, c->q_size);
    q[c->q_size - c->b - 1] = i;
    for (size_t j = 0; j < c->b; j++, half >>= 8) {
        q[c->q_size - 1 - j] = (uint8_t)(half & 0xff);
    }
    for (size_t position = 0; done && position < c->q_size; position += BLOCK) {
        done = chain(c, block, q + position);
    }
    *number = 0;
    for (size_t j = 0; j < c->d; j++) { /* the power has at most 34 bits: nothing overflows */
        *number = (*number << 8 | block[j]) % power;
    }
    return done;
}

static int failed(firn_error *error) {
    return module_fail(error, FIRN_ESYSTEM, "libcrypto gives no AES-128: install OpenSSL's own");
}

static int ff1_encrypt(void *self, uint64_t *out, uint64_t in, firn_error *error) {
    const cipher *c = self;
    uint64_t a = in / c->power[1], b = in % c->power[1];
    for (uint8_t i = 0; i < ROUNDS; i++) {
        uint64_t power = c->power[i % 2], y;
        if (!round_number(c, &y, i, b, power)) {
            return failed(error);
        }
        y = (a + y) % power;
        a = b;
        b = y;
    }
    *out = a * c->power[1] + b;
    return FIRN_OK;
}

static int ff1_decrypt(void *self, uint64_t *out, uint64_t in, firn_error *error) {
    const cipher *c = self;
    uint64_t a = in / c->power[1], b = in % c->power[1];
    for (uint8_t i = ROUNDS; i-- > 0;) {
        uint64_t power = c->power[i % 2], y;
        if (!round_number(c, &y, i, a, power)) {
            return failed(error);
        }
        y = (b + power - y) % power;
        b = a;
        a = y;
    }
    *out = a * c->power[1] + b;
    return FIRN_OK;
}

/* What follows from the number of digits and the tweak. */
static bool prepare(cipher *c, uint32_t digits, const uint8_t *tweak, size_t tweak_size) {
    const uint32_t u = digits / 2, v = digits - u;
    uint32_t bits = 0;
    uint8_t p[BLOCK] = {1, 2,  1,      0,
                        0, 10, ROUNDS, (uint8_t)u,
                        0, 0,  0,      (uint8_t)digits,
                        0, 0,  0,      (uint8_t)tweak_size};
    c->power[0] = c->power[1] = 1;
    for (uint32_t i = 0; i < v; i++) {
        c->power[0] *= i < u ? 10 : 1;
        c->power[1] *= 10;
    }
    while (UINT64_C(1) << bits < c->power[1]) {
        bits++;
    }
    c->b = (bits + 7) / 8;
    c->d = (c->b + 3) / 4 * 4 + 4;
    c->q_size = (tweak_size + 1 + c->b + BLOCK - 1) / BLOCK * BLOCK; /* zero padding */
    if (tweak_size > 0) {
        memcpy(c->q, tweak, tweak_size);
    }
    return chain(c, c->chained, p);
}

static void ff1_close(void *self) {
    cipher *c = self;
    EVP_CIPHER_CTX_free(c->aes); /* wipes the key */
    OPENSSL_cleanse(c, sizeof *c);
    free(c);
}

static int ff1_open(void **self, const uint8_t key[16], uint32_t digits, const uint8_t *tweak,
                    size_t tweak_size, firn_error *error) {
    if (digits < DIGITS_LEAST || digits > DIGITS_MOST || tweak_size > TWEAK_MAX) {
        return module_fail(error, FIRN_ERANGE,
                           "FF1 of %u digits with a tweak of %zu bytes: %d to %d, at most %d",
                           (unsigned)digits, tweak_size, DIGITS_LEAST, DIGITS_MOST, TWEAK_MAX);
    }
    cipher *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return module_fail(error, FIRN_EMEMORY, "out of memory for a cipher");
    }
    c->aes = EVP_CIPHER_CTX_new();
    if (c->aes == NULL || EVP_EncryptInit_ex(c->aes, EVP_aes_128_ecb(), NULL, key, NULL) != 1 ||
        EVP_CIPHER_CTX_set_padding(c->aes, 0) != 1 || !prepare(c, digits, tweak, tweak_size)) {
        ff1_close(c);
        return failed(error);
    }
    *self = c;
    return FIRN_OK;
}

const firn_cipher_ops firn_cipher_module = {
    .version = 1,
    .name = "ff1",
    .open = ff1_open,
    .encrypt = ff1_encrypt,
    .decrypt = ff1_decrypt,
    .close = ff1_close,
};
