/* SPDX-License-Identifier: MIT */
/* The secret keys of a file of `firn mask keygen`, for masks and for series with masked counters. */
#ifndef FIRN_MASK_KEY_H
#define FIRN_MASK_KEY_H

#include <firn/firn.h>

enum { FIRN__MASK_KEYS = 16 }; /* maximum number of keys in a file */

/* A key of a file, its number, and "key_number=" with the number as the file has it. Erase it after
 * use. */
typedef struct firn__mask_key {
    uint8_t bytes[FIRN_MASK_KEY_SIZE];
    int64_t value;
    char number[32];
    bool is_half; /* the second half is zeros */
} firn__mask_key;

/* All keys of a file, and how many. FIRN_EUSAGE: not such a file, or others can read it, or two keys
 * have one number; FIRN_EIO. Erase `keys` also after a failure. */
int firn__mask_keys_read(firn__mask_key keys[FIRN__MASK_KEYS], size_t *count, const char *file,
                         firn_error *error);
/* The same of a file with exactly one key. */
int firn__mask_key_read(firn__mask_key *key, const char *file, firn_error *error);
/* firn_mask_open with the keys of a file. `file` NULL: one key, whose number `text` has. */
int firn__mask_make(firn_mask **out, const char *text, const firn__mask_key *keys, size_t count,
                    const char *file, const char *module_dir, firn_error *error);

#endif
