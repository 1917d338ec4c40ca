/* SPDX-License-Identifier: MIT */
/* FF1 of NIST SP 800-38G over numbers of 6 to 19 decimal digits, or of 20 to 128 bits: a
 * permutation chosen by a key of 128 bits and a tweak. AES is libcrypto's, or the one of aes128.h where FIRN_FF1
 * makes the cipher a part of the library; the rounds are here. Uses nothing of libfirn. */
#include "module.h"

#ifdef FIRN_FF1
#include "aes128.h"
#else
#include <openssl/crypto.h>
#include <openssl/evp.h>
#endif

#include <endian.h>
#include <firn/cipher.h>
#include <stdlib.h>
#include <string.h>

enum {
    FF1_ROUNDS = 10,
    AES_BLOCK = 16,
    FF1_TWEAK_MAX = 32,
    FF1_MESSAGE_MAX = FF1_TWEAK_MAX + 2 * AES_BLOCK
};
enum { FF1_BATCH = 64 }; /* numbers whose blocks of one round are one call of libcrypto */

/* The standard's smallest domain has 10^6 numbers; the greatest ones have halves of 64 bits. */
static const struct { uint32_t radix, least, most; } lengths[] = {{10, 6, 19}, {2, 20, 128}};

/* Shared by one key, tweak and length; the names are the standard's. */
typedef struct ff1_cipher {
    EVP_CIPHER_CTX *aes;
    bool binary;       /* radix 2; else 10 */
    uint64_t power[2]; /* of the radix: to u and to v, u + v digits in all; 0: 2^64 */
    size_t b;          /* bytes of a half as a number, 2..8 */
    size_t d;          /* bytes of a round's number: 8 or 12 */
    uint8_t
        last[AES_BLOCK]; /* the last block that a round encrypts, before the round's number and the
                          * half are in its end: all else is the same in every round */
} ff1_cipher;

static bool encrypt_blocks(const ff1_cipher *c, uint8_t (*blocks)[AES_BLOCK], size_t count) {
    int size = 0, wanted = (int)count * AES_BLOCK;
    return EVP_EncryptUpdate(c->aes, blocks[0], &size, blocks[0], wanted) == 1 && size == wanted;
}

/* Eight bytes, the most significant first. */
static uint64_t load_big(const uint8_t bytes[8]) {
    uint64_t number;
    memcpy(&number, bytes, 8);
    return be64toh(number);
}

typedef uint64_t word_pair __attribute__((vector_size(AES_BLOCK)));

static uint64_t modulo_power(const ff1_cipher *c, uint64_t number, uint64_t power) {
    return c->binary ? number & (power - 1) : number % power;
}

/* The number of a round: the first d bytes of a CBC-MAC, modulo one of the powers. */
static uint64_t round_number(const ff1_cipher *c, const uint8_t mac[AES_BLOCK], uint64_t power) {
    uint64_t number = 0;
    if (c->binary) { /* 2^64 is a multiple of the power */
        return load_big(mac + c->d - 8) & (power - 1);
    }
    for (size_t i = 0; i < c->d; i += 2) { /* the power has at most 34 bits: nothing overflows */
        number = (number << 16 | (uint64_t)mac[i] << 8 | mac[i + 1]) % power;
    }
    return number;
}

/* Round i of one batch. The block of a number depends on the half that the round keeps. */
static bool do_round(const ff1_cipher *c, uint8_t (*blocks)[AES_BLOCK], uint8_t i,
                     firn_halves *numbers, size_t count, bool back) {
    const uint64_t power = c->power[i % 2];
    uint8_t last[AES_BLOCK];
    uint64_t first_half;
    memcpy(last, c->last, AES_BLOCK);
    last[AES_BLOCK - 1 - c->b] ^= i;
    memcpy(&first_half, last, sizeof first_half);
    const uint64_t second_half = load_big(last + AES_BLOCK - 8);
    for (size_t n = 0; n < count; n++) { /* in one store, which AES can read at once */
        const uint64_t kept = back ? numbers[n].first : numbers[n].second;
        const word_pair block = {first_half, htobe64(second_half ^ kept)};
        memcpy(blocks[n], &block, AES_BLOCK);
    }
    if (!encrypt_blocks(c, blocks, count)) {
        return false;
    }
    for (size_t n = 0; n < count; n++) {
        const firn_halves in = numbers[n];
        const uint64_t y = round_number(c, blocks[n], power);
        numbers[n] = back ? (firn_halves){modulo_power(c, in.second + power - y, power), in.first}
                          : (firn_halves){in.second, modulo_power(c, in.first + y, power)};
    }
    return true;
}

static int failed(firn_error *error) {
    return module_fail(error, FIRN_ESYSTEM, "libcrypto gives no AES-128: install OpenSSL's own");
}

/* Erases the blocks. */
static bool do_batch(const ff1_cipher *c, uint8_t (*blocks)[AES_BLOCK], firn_halves *numbers,
                     size_t count, bool back) {
    bool good = true;
    for (uint8_t i = 0; good && i < FF1_ROUNDS; i++) {
        const uint8_t round = back ? (uint8_t)(FF1_ROUNDS - 1 - i) : i;
        good = do_round(c, blocks, round, numbers, count, back);
    }
    OPENSSL_cleanse(blocks, count * AES_BLOCK);
    return good;
}

static bool do_many(const ff1_cipher *c, firn_halves *numbers, size_t count, bool back) {
    uint8_t blocks[FF1_BATCH][AES_BLOCK];
    bool good = true;
    for (size_t done = 0, size; good && done < count; done += size) {
        size = count - done < FF1_BATCH ? count - done : FF1_BATCH;
        good = do_batch(c, blocks, numbers + done, size, back);
    }
    return good;
}

/* One number needs no room for many, which the compiler would write zeros to. */
static int do_rounds(const ff1_cipher *c, firn_halves *numbers, size_t count, bool back,
                     firn_error *error) {
    uint8_t block[1][AES_BLOCK];
    const bool good =
        count == 1 ? do_batch(c, block, numbers, 1, back) : do_many(c, numbers, count, back);
    return good ? FIRN_OK : failed(error);
}

static int ff1_encrypt(void *self, firn_halves *numbers, size_t count, firn_error *error) {
    return do_rounds(self, numbers, count, false, error);
}

static int ff1_decrypt(void *self, firn_halves *numbers, size_t count, firn_error *error) {
    return do_rounds(self, numbers, count, true, error);
}

/* The widths that follow from u and v. */
static void measure(ff1_cipher *c, uint32_t radix, uint32_t u, uint32_t v) {
    uint32_t bits = 0;
    c->binary = radix == 2;
    c->power[0] = c->power[1] = 1;
    for (uint32_t i = 0; i < v; i++) {
        c->power[0] *= i < u ? radix : 1;
        c->power[1] *= radix;
    }
    while (bits < 64 && (c->power[1] - 1) >> bits > 0) {
        bits++;
    }
    c->b = (bits + 7) / 8;
    c->d = (c->b + 3) / 4 * 4 + 4;
}

/* Computes the values that follow from the number of digits and the tweak: the MAC of P and of all
 * blocks of Q but the last one, and what is in that. */
static bool prepare(ff1_cipher *c, uint32_t radix, uint32_t length, const uint8_t *tweak,
                    size_t tweak_size) {
    const uint32_t u = length / 2;
    uint8_t mac[1][AES_BLOCK] = {{1, 2, 1, 0, 0, (uint8_t)radix, FF1_ROUNDS, (uint8_t)u, 0, 0, 0,
                                  (uint8_t)length, 0, 0, 0, (uint8_t)tweak_size}};
    uint8_t q[FF1_MESSAGE_MAX] = {0};
    measure(c, radix, u, length - u);
    const size_t q_size =
        (tweak_size + 1 + c->b + AES_BLOCK - 1) / AES_BLOCK * AES_BLOCK; /* zero padding */
    if (tweak_size > 0) {
        memcpy(q, tweak, tweak_size);
    }
    for (size_t position = 0; position < q_size; position += AES_BLOCK) {
        if (!encrypt_blocks(c, mac, 1)) {
            return false;
        }
        for (size_t i = 0; i < AES_BLOCK; i++) {
            mac[0][i] ^= q[position + i];
        }
    }
    memcpy(c->last, mac[0], AES_BLOCK);
    return true;
}

static void ff1_close(void *self) {
    ff1_cipher *c = self;
    EVP_CIPHER_CTX_free(c->aes); /* wipes the key */
    OPENSSL_cleanse(c, sizeof *c);
    free(c);
}

static int check_sizes(uint32_t radix, uint32_t length, size_t tweak_size, firn_error *error) {
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        if (lengths[i].radix == radix && length >= lengths[i].least && length <= lengths[i].most &&
            tweak_size <= FF1_TWEAK_MAX) {
            return FIRN_OK;
        }
    }
    return module_fail(error, FIRN_ERANGE,
                       "FF1 of %u digits of radix %u with a tweak of %zu bytes: 6 to 19 of radix "
                       "10, or 20 to 128 of radix 2, and a tweak of at most %d",
                       (unsigned)length, (unsigned)radix, tweak_size, FF1_TWEAK_MAX);
}

static int ff1_open(void **self, const uint8_t key[16], uint32_t radix, uint32_t length,
                    const uint8_t *tweak, size_t tweak_size, firn_error *error) {
    int code = check_sizes(radix, length, tweak_size, error);
    if (code != FIRN_OK) {
        return code;
    }
    ff1_cipher *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return module_fail(error, FIRN_EMEMORY, "out of memory for a cipher");
    }
    c->aes = EVP_CIPHER_CTX_new();
    if (c->aes == NULL || EVP_EncryptInit_ex(c->aes, EVP_aes_128_ecb(), NULL, key, NULL) != 1 ||
        EVP_CIPHER_CTX_set_padding(c->aes, 0) != 1 ||
        !prepare(c, radix, length, tweak, tweak_size)) {
        ff1_close(c);
        return failed(error);
    }
    *self = c;
    return FIRN_OK;
}

const firn_cipher_ops firn_cipher_module = {
    .version = 2,
    .name = "ff1",
    .open = ff1_open,
    .encrypt = ff1_encrypt,
    .decrypt = ff1_decrypt,
    .close = ff1_close,
};
