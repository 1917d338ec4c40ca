/* SPDX-License-Identifier: MIT */
/* IDs as values: compared, and to and from bytes. Text is in text.c and parse.c, fields are in
 * fields.c. */
#include "bits.h"
#include "error.h"

#include <inttypes.h>

int firn_id_cmp(const firn_id *a, const firn_id *b) {
    if (a->top != b->top) {
        return a->top < b->top ? -1 : 1;
    }
    if (a->high != b->high) {
        return a->high < b->high ? -1 : 1;
    }
    return a->low < b->low ? -1 : a->low > b->low;
}

size_t firn_id_bytes(uint8_t out[20], const firn_id *id) {
    size_t length = (id->bits + 7) / 8;
    for (size_t i = 0; i < length; i++) {
        out[i] = (uint8_t)firn__get(id, (uint32_t)(length - 1 - i) * 8, 8).low;
    }
    return length;
}

int firn_id_from_bytes(firn_id *id, const uint8_t *bytes, uint32_t bits, firn_error *error) {
    firn_id out = {0, 0, 0, bits};
    if (bits < 1 || bits > 160) {
        return firn__fail(error, FIRN_ERANGE,
                          "an ID of %" PRIu32 " bits is out of range (1 to 160)", bits);
    }
    if (bits % 8 != 0 && bytes[0] >> bits % 8 != 0) {
        return firn__fail(error, FIRN_ERANGE,
                          "a bit above the %" PRIu32 " bits of the ID is set: clear it", bits);
    }
    for (size_t i = 0; i < (bits + 7) / 8; i++) {
        firn__push(&out, (firn_value){bytes[i], 0}, 8);
    }
    *id = out;
    return FIRN_OK;
}
