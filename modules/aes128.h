/* SPDX-License-Identifier: MIT */
/* AES-128 (FIPS 197) in blocks, under the names of libcrypto, for ff1.c where FIRN_FF1 makes that a part of the library: in
 * WebAssembly, in firn.c, and so in the packages for languages. It is not a general cipher. No table is read and no branch taken by
 * key or data, so that the time says nothing of them: the S-box is computed, for eight bytes in a word at once. A part of ff1.c, and
 * so without a guard. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct aes128 {
    uint8_t keys[11][16]; /* of the rounds */
} aes128;

#define EIGHT(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Eight products by x in GF(2^8). */
static uint64_t twice(uint64_t a) {
    return (a & EIGHT(0x7f)) << 1 ^ (a >> 7 & EIGHT(1)) * 0x1b;
}

static uint64_t product(uint64_t a, uint64_t b) {
    uint64_t out = 0;
    for (int i = 0; i < 8; i++, a = twice(a)) {
        out ^= a & (b >> i & EIGHT(1)) * 0xff;
    }
    return out;
}

static uint64_t turned(uint64_t a, int count) {
    return (a << count & EIGHT(0xff << count & 0xff)) |
           (a >> (8 - count) & EIGHT(0xff >> (8 - count)));
}

/* The S-box of eight bytes: the inverse, a^254, and an affine map. */
static uint64_t substitute(uint64_t a) {
    uint64_t out = a;
    for (int i = 0; i < 6; i++) { /* a^127 */
        out = product(product(out, out), a);
    }
    out = product(out, out);
    return out ^ turned(out, 1) ^ turned(out, 2) ^ turned(out, 3) ^ turned(out, 4) ^ EIGHT(0x63);
}

static void substitute_all(uint8_t bytes[16]) {
    uint64_t words[2];
    memcpy(words, bytes, 16);
    words[0] = substitute(words[0]);
    words[1] = substitute(words[1]);
    memcpy(bytes, words, 16);
}

static aes128 *aes128_new(void) {
    return calloc(1, sizeof(aes128));
}

/* Erases the key. */
static void aes128_free(aes128 *context) {
    if (context != NULL) {
        explicit_bzero(context, sizeof *context);
        free(context);
    }
}

static int aes128_key(aes128 *context, const uint8_t key[16]) {
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

static void encrypt_block(const aes128 *context, uint8_t out[16], const uint8_t in[16]) {
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

/* The same by the instructions of the processor, which are a hundred times as fast. */
#ifdef __x86_64__
#include <wmmintrin.h>
static bool has_instructions(void) {
    return __builtin_cpu_supports("aes") != 0;
}

__attribute__((target("aes"))) static void encrypt_quickly(const aes128 *context, uint8_t out[16],
                                                           const uint8_t in[16]) {
    __m128i keys[11], state;
    memcpy(keys, context->keys, sizeof keys);
    memcpy(&state, in, 16);
    state = _mm_xor_si128(state, keys[0]);
    for (int round = 1; round < 10; round++) {
        state = _mm_aesenc_si128(state, keys[round]);
    }
    state = _mm_aesenclast_si128(state, keys[10]);
    memcpy(out, &state, 16);
    explicit_bzero(keys, sizeof keys);
}
#else
static bool has_instructions(void) {
    return false;
}
#define encrypt_quickly encrypt_block
#endif

/* `size` is a multiple of 16; `out` may be `in`. Returns 1. */
static int aes128_encrypt(aes128 *context, uint8_t *out, int *written, const uint8_t *in,
                          int size) {
    const bool quickly = has_instructions();
    for (int i = 0; i < size; i += 16) {
        if (quickly) {
            encrypt_quickly(context, out + i, in + i);
        } else {
            encrypt_block(context, out + i, in + i);
        }
    }
    *written = size;
    return size % 16 == 0;
}

#define EVP_CIPHER_CTX                                     aes128
#define EVP_CIPHER_CTX_new                                 aes128_new
#define EVP_CIPHER_CTX_free                                aes128_free
#define EVP_EncryptUpdate                                  aes128_encrypt
#define EVP_EncryptInit_ex(context, kind, engine, key, iv) aes128_key(context, key)
#define EVP_CIPHER_CTX_set_padding(context, padding)       1
#define OPENSSL_cleanse(memory, size)                      explicit_bzero(memory, size)
