/* SPDX-License-Identifier: MIT */
/* UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef FIRN_UTF8_H
#define FIRN_UTF8_H

#include <stddef.h>

/* The size of the character at `text`, 1..4; 0: the `length` >= 1 bytes do not begin with a whole
 * character. Reads no byte after the first invalid one. */
static inline size_t firn__utf8_size(const char *text, size_t length) {
    const unsigned char *byte = (const unsigned char *)text;
    size_t size = byte[0] < 0x80   ? 1
                  : byte[0] < 0xc2 ? 0
                  : byte[0] < 0xe0 ? 2
                  : byte[0] < 0xf0 ? 3
                  : byte[0] < 0xf5 ? 4
                                   : 0;
    for (size_t i = 1; i < size; i++) {
        if (i >= length || (byte[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    if ((byte[0] == 0xe0 && byte[1] < 0xa0) || (byte[0] == 0xed && byte[1] >= 0xa0) ||
        (byte[0] == 0xf0 && byte[1] < 0x90) || (byte[0] == 0xf4 && byte[1] >= 0x90)) {
        return 0;
    }
    return size;
}

#endif
