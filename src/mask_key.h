/* SPDX-License-Identifier: MIT */
/* The secret key of a file of `firn mask keygen`, for masks and for series with masked counters. */
#ifndef FIRN_MASK_KEY_H
#define FIRN_MASK_KEY_H

#include <firn/firn.h>

/* The key of a file, and "key_number=" with its number. Erase it after use. */
typedef struct firn__mask_key {
    uint8_t bytes[FIRN_MASK_KEY_SIZE];
    char number[32];
    bool is_half; /* the second half is zeros */
} firn__mask_key;

/* FIRN_EUSAGE: not such a file, or others can read it; FIRN_EIO. */
int firn__mask_key_read(firn__mask_key *key, const char *file, firn_error *error);

#endif
