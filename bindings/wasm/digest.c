/* SPDX-License-Identifier: MIT */
/* MD5 (RFC 1321), SHA-1 and SHA-256 (FIPS 180-4): one buffer, three compressions. Small rather than
 * fast. */
#include "platform/md5.h"
#include "platform/sha1.h"
#include "platform/sha2.h"

#include <string.h>

typedef void compression(uint32_t state[8], const uint8_t block[64]);

static uint32_t left(uint32_t value, unsigned count) {
    return value << count | value >> (32 - count);
}

static uint32_t big(const uint8_t *position) {
    return (uint32_t)position[0] << 24 | (uint32_t)position[1] << 16 | (uint32_t)position[2] << 8 |
           position[3];
}

/* ---- the buffer ------------------------------------------------------------------------------ */

static void update(struct digest *context, const uint8_t *bytes, size_t size,
                   compression *compress) {
    size_t used = context->count % 64;
    context->count += size;
    while (size > 0) {
        size_t part = size < 64 - used ? size : 64 - used;
        memcpy(context->buffer + used, bytes, part);
        bytes += part;
        size -= part;
        used += part;
        if (used == 64) {
            compress(context->state, context->buffer);
            used = 0;
        }
    }
}

/* Writes `words` words of the state, each with its bytes turned by `turn`: 3 for big-endian. */
static void finish(uint8_t *out, struct digest *context, compression *compress, size_t words,
                   size_t turn) {
    static const uint8_t end[64] = {0x80};
    uint8_t length[8];
    uint64_t bits = context->count * 8;
    for (size_t i = 0; i < 8; i++) {
        length[i ^ (turn == 0 ? 0 : 7)] = (uint8_t)(bits >> 8 * i);
    }
    update(context, end, 1 + (119 - context->count % 64) % 64, compress);
    update(context, length, 8, compress);
    for (size_t i = 0; i < 4 * words; i++) {
        out[i ^ turn] = (uint8_t)(context->state[i / 4] >> 8 * (i % 4));
    }
    explicit_bzero(context, sizeof *context);
}

/* ---- MD5 ------------------------------------------------------------------------------------- */

static void md5(uint32_t state[8], const uint8_t block[64]) {
    /* 2^32 |sin i| */
    static const uint32_t k[64] = {
        0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613,
        0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193,
        0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d,
        0x02441453, 0xd8a1e681, 0xe7d3fbc8, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed,
        0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a, 0xfffa3942, 0x8771f681, 0x6d9d6122,
        0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa,
        0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665, 0xf4292244,
        0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
        0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb,
        0xeb86d391};
    static const uint8_t turns[4][4] = {
        {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t f, position, word;
        switch (i / 16) {
        case 0:
            f = (b & c) | (~b & d);
            position = i;
            break;
        case 1:
            f = (d & b) | (~d & c);
            position = 5 * i + 1;
            break;
        case 2:
            f = b ^ c ^ d;
            position = 3 * i + 5;
            break;
        default:
            f = c ^ (b | ~d);
            position = 7 * i;
        }
        memcpy(&word, block + position % 16 * 4, 4); /* little-endian, as WebAssembly is */
        word += f + a + k[i];
        a = d;
        d = c;
        c = b;
        b += left(word, turns[i / 16][i % 4]);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

void MD5Init(MD5_CTX *context) {
    *context = (MD5_CTX){.state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476}};
}

void MD5Update(MD5_CTX *context, const uint8_t *bytes, size_t size) {
    update(context, bytes, size, md5);
}

void MD5Final(uint8_t out[MD5_DIGEST_LENGTH], MD5_CTX *context) {
    finish(out, context, md5, 4, 0);
}

/* ---- SHA-1 ----------------------------------------------------------------------------------- */

static void sha1(uint32_t state[8], const uint8_t block[64]) {
    static const uint32_t k[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
    uint32_t w[80], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (uint32_t i = 0; i < 80; i++) {
        w[i] = i < 16 ? big(block + 4 * i) : left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
        uint32_t f = i < 20              ? (b & c) | (~b & d)
                     : i >= 40 && i < 60 ? (b & c) | (b & d) | (c & d)
                                         : b ^ c ^ d;
        uint32_t next = left(a, 5) + f + e + k[i / 20] + w[i];
        e = d;
        d = c;
        c = left(b, 30);
        b = a;
        a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

void SHA1Init(SHA1_CTX *context) {
    *context = (SHA1_CTX){.state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}};
}

void SHA1Update(SHA1_CTX *context, const uint8_t *bytes, size_t size) {
    update(context, bytes, size, sha1);
}

void SHA1Final(uint8_t out[SHA1_DIGEST_LENGTH], SHA1_CTX *context) {
    finish(out, context, sha1, 5, 3);
}

/* ---- SHA-256 --------------------------------------------------------------------------------- */

static void sha256(uint32_t state[8], const uint8_t block[64]) {
    /* of the cube roots of the first 64 primes */
    static const uint32_t k[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
        0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
        0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
        0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
        0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
        0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
        0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
        0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
        0xc67178f2};
    uint32_t w[64], s[8];
    memcpy(s, state, sizeof s);
    for (uint32_t i = 0; i < 64; i++) {
        if (i < 16) {
            w[i] = big(block + 4 * i);
        } else {
            uint32_t x = w[i - 15], y = w[i - 2];
            w[i] = w[i - 16] + w[i - 7] + (left(x, 25) ^ left(x, 14) ^ x >> 3) +
                   (left(y, 15) ^ left(y, 13) ^ y >> 10);
        }
        uint32_t value = s[7] + k[i] + w[i] + (left(s[4], 26) ^ left(s[4], 21) ^ left(s[4], 7)) +
                         ((s[4] & s[5]) ^ (~s[4] & s[6]));
        uint32_t two = (left(s[0], 30) ^ left(s[0], 19) ^ left(s[0], 10)) +
                       ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += value;
        s[0] = value + two;
    }
    for (uint32_t i = 0; i < 8; i++) {
        state[i] += s[i];
    }
}

void SHA256Init(SHA2_CTX *context) {
    *context = (SHA2_CTX){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                    0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void SHA256Update(SHA2_CTX *context, const uint8_t *bytes, size_t size) {
    update(context, bytes, size, sha256);
}

void SHA256Final(uint8_t out[SHA256_DIGEST_LENGTH], SHA2_CTX *context) {
    finish(out, context, sha256, 8, 3);
}
