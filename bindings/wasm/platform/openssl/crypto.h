/* SPDX-License-Identifier: MIT */
#ifndef FIRN_WASM_CRYPTO_H
#define FIRN_WASM_CRYPTO_H

#include <string.h>
#define OPENSSL_cleanse(at, size) explicit_bzero(at, size)

#endif
