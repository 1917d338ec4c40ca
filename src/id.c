/* SPDX-License-Identifier: MIT */
/* IDs as values: compared, and to and from bytes. Text is in text.c and parse.c, fields are in
 * fields.c. */
#include "bits.h"
#include "error.h"

#include <endian.h>
#include <inttypes.h>
#include <string.h>

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
    const uint32_t top = htobe32(id->top);
    const uint64_t high = htobe64(id->high), low = htobe64(id->low);
    uint8_t all[20];
    memcpy(all, &top, 4);
    memcpy(all + 4, &high, 8);
    memcpy(all + 12, &low, 8);
    size_t length = (id->bits + 7) / 8;
    memcpy(out, all + sizeof all - length, length);
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
