/* SPDX-License-Identifier: MIT */
/* A mask as mask_open.c makes it and mask.c uses it. Knows keys, widths and forms, no file. */
#ifndef FIRN_MASK_H
#define FIRN_MASK_H

#include "mask_key.h"
#include "permutation.h"

/* 2^20 is the first power of two above 10^6, the smallest domain that NIST SP 800-38G allows.
 * `width=uuid8` leaves four bits of a UUID for the number of the key. */
enum { BITS_LEAST = 20, BITS_MOST = 128, UUID_BITS = 122, UUID8_BITS = 118, NAME_MOST = 63 };
enum { MAC_BITS = 20, MAC_LETTERS = MAC_BITS / 5, PREFIX_MOST = 20 };
enum { PRINT_BYTES = 4, PRINT_DIGITS = 2 * PRINT_BYTES }; /* of a fingerprint */
enum { PRINTS_SIZE = FIRN__MASK_KEYS * (PRINT_DIGITS + 1) };

/* The keys that a mask derives from one secret key. */
typedef struct firn__mask_own {
    firn__permutation permutation;
    int64_t number; /* of the secret key */
    uint8_t mac_key[32];
} firn__mask_own;

struct firn_mask {
    firn__mask_own keys[FIRN__MASK_KEYS];
    size_t count, writer; /* of `keys`; only keys[writer] masks, all unmask */
    uint32_t bits;        /* of the domain: 20..128; 122 or 118 for a UUID */
    int64_t version;      /* of the UUIDs that are masked; 0: the mask takes integers */
    int64_t key_number;   /* of the key that masks; -1: not given */
    int from, as;         /* forms of IDs and of masked IDs; -1: not given */
    int64_t mac;          /* 1: masked texts end with a MAC; -1: not given */
    bool is_uuid47;       /* no permutation: sip_key changes the time */
    bool is_uuid8;        /* the first four bits of a masked UUID are the number of its key */
    uint64_t sip_key[2];
    char prefix[PREFIX_MOST + 1]; /* of masked texts, before the number of the key; "": neither */
    char name[NAME_MOST + 1];     /* "": not given */
    char prints[PRINTS_SIZE], expected[PRINTS_SIZE]; /* fingerprints, with commas between them, one
                                                      * for each key; expected "": any */
};

#endif
