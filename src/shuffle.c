/* SPDX-License-Identifier: MIT */
/* The permutation: a Feistel network of ten rounds over two decimal halves, added modulo their
 * powers of ten (as in FF1), so it permutes exactly the numbers of that many digits. The round
 * function is SipHash-2-4 of tick, round and half. */
#include "shuffle.h"

#include "date_form.h"
#include "number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 10, NODE_BITS = 10, SEQUENCE_BITS = 12 };

static inline uint64_t rotate(uint64_t word, int count) {
    return word << count | word >> (64 - count);
}

static inline void sip_rounds(uint64_t v[4], int rounds) {
    for (int i = 0; i < rounds; i++) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] = rotate(v[2], 32);
    }
}

uint64_t firn__siphash(const uint64_t key[2], const uint64_t *words, size_t count) {
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
                     key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573};
    for (size_t i = 0; i < count; i++) {
        v[3] ^= words[i];
        sip_rounds(v, 2);
        v[0] ^= words[i];
    }
    v[2] ^= 0xff;
    sip_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t firn__shuffled(const firn__shuffle *shuffle, uint64_t tick, uint64_t number) {
    const uint64_t power[2] = {firn__power_of_ten(shuffle->digits / 2),
                               firn__power_of_ten(shuffle->digits - shuffle->digits / 2)};
    uint64_t a = number / power[1], b = number % power[1];
    for (uint64_t i = 0; i < ROUNDS; i++) {
        const uint64_t words[3] = {tick, i << 56 | b, UINT64_C(16) << 56};
        uint64_t sum = a + firn__siphash(shuffle->key, words, 3) % power[i % 2];
        a = b;
        b = sum % power[i % 2];
    }
    return a * power[1] + b;
}

void firn__shuffle_id(const firn__shuffle *shuffle, uint64_t tick, firn_id *id) {
    uint32_t bits = firn__dated_bits(shuffle->digits);
    firn_value number = firn__get(id, 0, bits);
    number.low = firn__shuffled(shuffle, tick, number.low);
    *id = (firn_id){0, 0, 0, FIRN__DATED_TIME + bits};
    firn__push(id, (firn_value){tick, 0}, FIRN__DATED_TIME);
    firn__push(id, number, bits);
}

firn_scheme firn__shuffle_scheme(uint32_t digits) {
    uint32_t bits = firn__dated_bits(digits), used = bits - 1; /* 2^used is below 10^digits */
    uint32_t node = (used + 1) / 2 < NODE_BITS ? (used + 1) / 2 : NODE_BITS;
    uint32_t sequence = used - node < SEQUENCE_BITS ? used - node : SEQUENCE_BITS;
    firn_scheme scheme = *firn__scheme_digits(digits);
    scheme.slice_count = 4;
    scheme.slices[1] =
        (firn_slice){"", FIRN_ROLE_CONST, (uint8_t)(bits - node - sequence), 0, 0, 0};
    scheme.slices[2] = (firn_slice){"node", FIRN_ROLE_NODE, (uint8_t)node, 0, 0, 0};
    scheme.slices[3] = (firn_slice){"sequence", FIRN_ROLE_SEQUENCE, (uint8_t)sequence, 0, 0, 0};
    scheme.node_rule = FIRN_NODE_REQUIRED;
    scheme.packer = -1;
    return scheme;
}

static const char lead[] = "digits key=";

char *firn__shuffle_write(char layout[FIRN__SHUFFLE_SIZE], const firn__shuffle *shuffle) {
    snprintf(layout, FIRN__SHUFFLE_SIZE, "%s%016" PRIx64 "%016" PRIx64, lead, shuffle->key[0],
             shuffle->key[1]);
    return layout;
}

bool firn__shuffle_read(firn__shuffle *shuffle, const char *layout) {
    const size_t start = sizeof lead - 1;
    firn_id key;
    if (strncmp(layout, lead, start) != 0 || firn_parse(&key, FIRN_FORM_HEX, 128, layout + start,
                                                        strlen(layout + start), NULL) != FIRN_OK) {
        return false;
    }
    shuffle->key[0] = key.high;
    shuffle->key[1] = key.low;
    return true;
}
