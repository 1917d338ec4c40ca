/* SPDX-License-Identifier: MIT */
/* UTF-8 as RFC 3629 defines it. */
#ifndef FIRN_UTF8_H
#define FIRN_UTF8_H

#include <stddef.h>

/* The bytes of the character at `text`, 1..4, or 0: there is no valid one within `length` >= 1 bytes. Reads
 * no byte after the first that is not part of the character. */
size_t utf8_size(const char *text, size_t length);

#endif
