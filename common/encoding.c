/* SPDX-License-Identifier: MIT */
#include "encoding.h"

#include <string.h>

int encoding_find(const char *name) {
    return strcmp(name, "base64") == 0      ? ENCODING_BASE64
           : strcmp(name, "base64url") == 0 ? ENCODING_BASE64URL
                                            : firn_form_find(name);
}

char *encoding_write(char text[FIRN_TEXT_SIZE], const firn_id *id, int form) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    const char *last = form == ENCODING_BASE64 ? "+/" : "-_";
    uint8_t bytes[20 + 2] = {0}; /* zeros fill the last group */
    size_t at = 0;
    if (form < FIRN_FORM_COUNT) {
        return firn_format(text, id, form);
    }
    const size_t size = firn_id_bytes(bytes, id);
    for (size_t i = 0; i < size; i += 3) {
        const unsigned group =
            (unsigned)bytes[i] << 16 | (unsigned)bytes[i + 1] << 8 | bytes[i + 2];
        for (unsigned j = 0; j < 4; j++) {
            const unsigned digit = group >> (18 - 6 * j) & 63;
            text[at++] = digit < 62 ? digits[digit] : last[digit - 62];
        }
    }
    at -= (3 - size % 3) % 3;
    while (form == ENCODING_BASE64 && at % 4 != 0) {
        text[at++] = '=';
    }
    text[at] = '\0';
    return text;
}
