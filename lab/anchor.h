/* SPDX-License-Identifier: MIT */
/* The anchor of a chain: its last line, as a store keeps it. The mark of the key "head" in the
 * namespace "anchor SERIES" is the slot of the number, so it only rises, and the note of the mark is
 * the hash. Knows nothing of lines. */
#ifndef FIRN_ANCHOR_H
#define FIRN_ANCHOR_H

#include <firn/firn.h>

enum { ANCHOR_HASH = 64 };

typedef struct chain_anchor {
    int64_t number; /* 0: the store has none */
    char hash[ANCHOR_HASH + 1];
} chain_anchor;

/* FIRN_ETEXT: the note is not a hash; errors of a store. */
int anchor_read(chain_anchor *anchor, firn_store *store, const char *series, firn_error *error);
/* FIRN_EBUSY: the store has this number or a later one. FIRN_ERANGE: number 0, or above the
 * greatest slot. Errors of a store. */
int anchor_move(firn_store *store, const char *series, const chain_anchor *to, firn_error *error);

#endif
