/* SPDX-License-Identifier: MIT */
/* A permutation of all numbers of one length, chosen by a key: FF1, from its module. Knows digits
 * and bits, not what they mean. */
#ifndef FIRN_PERMUTATION_H
#define FIRN_PERMUTATION_H

#include <firn/cipher.h>

/* All zero: not open. */
typedef struct firn__permutation {
    const firn_cipher_ops *ops;
    void *cipher, *library;
} firn__permutation;

/* Loads the module, from `dir` (may be NULL) first; its other values are in <firn/cipher.h>.
 * `users` need it: the first words of an error. On failure close it, too. FIRN_ESYSTEM,
 * FIRN_EMEMORY, FIRN_ERANGE. */
int firn__permutation_load(firn__permutation *permutation, const char *users, const char *dir,
                           firn_error *error);
/* Frees, and erases the key. */
void firn__permutation_close(firn__permutation *permutation);

#endif
