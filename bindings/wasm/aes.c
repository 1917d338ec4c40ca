/* SPDX-License-Identifier: MIT */
/* AES-128 (FIPS 197), one block at a time, for order numbers and masks. No table is read and no branch taken
 * by key or data, so the time says nothing of them: the S-box is computed, eight bytes side by side
 * in a word. */
#include "platform/openssl/crypto.h"
#include "platform/openssl/evp.h"

#include <stdlib.h>

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Eight products by x in GF(2^8). */
static uint64_t twice(uint64_t a) {
    return (a & EACH(0x7f)) << 1 ^ (a >> 7 & EACH(1)) * 0x1b;
}

static uint64_t product(uint64_t a, uint64_t b) {
    uint64_t out = 0;
    for (int i = 0; i < 8; i++, a = twice(a)) {
        out ^= a & (b >> i & EACH(1)) * 0xff;
    }
    return out;
}

static uint64_t turned(uint64_t a, int count) {
    return (a << count & EACH(0xff << count & 0xff)) |
           (a >> (8 - count) & EACH(0xff >> (8 - count)));
}

/* The S-box of eight bytes: the inverse, a^254, and an affine map. */
static uint64_t substitute(uint64_t a) {
    uint64_t out = a;
    for (int i = 0; i < 6; i++) { /* a^127 */
        out = product(product(out, out), a);
    }
    out = product(out, out);
    return out ^ turned(out, 1) ^ turned(out, 2) ^ turned(out, 3) ^ turned(out, 4) ^ EACH(0x63);
}

static void substitute_all(uint8_t bytes[16]) {
    uint64_t words[2];
    memcpy(words, bytes, 16);
    words[0] = substitute(words[0]);
    words[1] = substitute(words[1]);
    memcpy(bytes, words, 16);
}

EVP_CIPHER_CTX *EVP_CIPHER_CTX_new(void) {
    return calloc(1, sizeof(EVP_CIPHER_CTX));
}

void EVP_CIPHER_CTX_free(EVP_CIPHER_CTX *context) {
    if (context != NULL) {
        explicit_bzero(context, sizeof *context);
        free(context);
    }
}

int EVP_EncryptInit_ex(EVP_CIPHER_CTX *context, const void *cipher, const void *engine,
                       const uint8_t key[16], const uint8_t *iv) {
    (void)cipher, (void)engine, (void)iv;
    uint8_t constant = 1;
    memcpy(context->keys[0], key, 16);
    for (int round = 1; round <= 10; round++) {
        const uint8_t *last = context->keys[round - 1];
        uint8_t *next = context->keys[round], word[16] = {last[13], last[14], last[15], last[12]};
        substitute_all(word);
        word[0] ^= constant;
        constant = (uint8_t)(constant << 1 ^ (constant >> 7) * 0x1b);
        for (int i = 0; i < 16; i++) {
            next[i] = last[i] ^ (i < 4 ? word[i] : next[i - 4]);
        }
    }
    return 1;
}

static void encrypt_block(const EVP_CIPHER_CTX *context, uint8_t out[16], const uint8_t in[16]) {
    uint8_t state[16], moved[16];
    for (int i = 0; i < 16; i++) {
        state[i] = in[i] ^ context->keys[0][i];
    }
    for (int round = 1; round <= 10; round++) {
        substitute_all(state);
        for (int i = 0; i < 16; i++) {
            moved[i] = state[5 * i % 16]; /* the rows of columns of four */
        }
        for (int i = 0; i < 16; i++) {
            const uint8_t *column = moved + i / 4 * 4;
            uint8_t a = column[i % 4], b = column[(i + 1) % 4];
            uint8_t mixed = (uint8_t)twice(a ^ b) ^ b ^ column[(i + 2) % 4] ^ column[(i + 3) % 4];
            state[i] = (round < 10 ? mixed : a) ^ context->keys[round][i];
        }
    }
    memcpy(out, state, 16);
}

int EVP_EncryptUpdate(EVP_CIPHER_CTX *context, uint8_t *out, int *written, const uint8_t *in,
                      int size) {
    for (int i = 0; i < size; i += 16) {
        encrypt_block(context, out + i, in + i);
    }
    *written = size;
    return size % 16 == 0;
}
