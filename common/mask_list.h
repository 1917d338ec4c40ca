/* SPDX-License-Identifier: MIT */
/* The file of masks that a server or a database may use: a line for each, such as
 *     name=orders width=uuid key_file=mask.key fingerprint=1a2b3c4d as=base58
 * with the keys of firn_mask_load. The file has no secret. */
#ifndef FIRN_MASK_LIST_H
#define FIRN_MASK_LIST_H

#include <firn/firn.h>

enum { MASK_NAME_SIZE = 64 };

typedef struct listed_mask {
    char name[MASK_NAME_SIZE];
    firn_mask *mask; /* one thread at a time */
    uint32_t bits;   /* for firn_parse */
    int version;     /* of the UUIDs that it takes; 0: not UUIDs */
    bool rotates;    /* the key that masks may change: no mask of a column or an index */
    int from, as;    /* the forms of an ID and of a masked ID */
} listed_mask;

typedef struct mask_list {
    listed_mask *all;
    size_t count;
} mask_list;

/* Opens every mask of the file. A key file is in the folder of the list, unless its path is
 * absolute. A mask without a fingerprint is refused, because a name has one key for ever; the error
 * has the fingerprint. FIRN_EUSAGE, FIRN_ERANGE: with the line; FIRN_EIO, FIRN_ESYSTEM. */
int mask_list_read(mask_list *list, const char *path, firn_error *error);
/* NULL: there is no such mask; `error` says so, and the nearest name. */
listed_mask *mask_list_find(const mask_list *list, const char *name, size_t length,
                            firn_error *error);
/* For columns and indexes, which need one key for ever: FIRN_EUSAGE if the mask's key may change. */
int mask_list_check_lasts(const listed_mask *mask, firn_error *error);
/* The ID of a masked text, as firn_mask_read. */
int mask_list_unmask(const listed_mask *mask, firn_id *id, const char *text, size_t length,
                     firn_error *error);
/* Erases the keys. */
void mask_list_free(mask_list *list);

#endif
