/* SPDX-License-Identifier: MIT */
/* HKDF-SHA256 of RFC 5869 without salt: keys of one purpose each from one secret key. */
#ifndef FIRN_HKDF_H
#define FIRN_HKDF_H

#include <stddef.h>
#include <stdint.h>

/* The key of `size` bytes, 1 to 32, that belongs to the secret and to `info`, which names the
 * purpose. Erases what it computed on the way. */
void firn__hkdf(uint8_t *out, size_t size, const void *secret, size_t secret_size, const void *info,
                size_t info_size);

#endif
