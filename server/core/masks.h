/* SPDX-License-Identifier: MIT */
/* The masks that requests can use, from the file of the setting masks. Any thread; masks_load
 * replaces all at once. */
#ifndef FIRN_SERVER_MASKS_H
#define FIRN_SERVER_MASKS_H

#include "request.h"

#include <firn/firn.h>

typedef struct mask_forms {
    uint32_t bits;
    int version; /* of the UUIDs that it takes; 0: not UUIDs */
    int as;      /* the form of a masked ID */
} mask_forms;

/* Reads the file; NULL: no masks. On failure the old masks stay. Codes as mask_list_read. */
int masks_load(const char *path, firn_error *error);
/* Only checks. */
int masks_check(const char *path, firn_error *error);
/* FIRN_EUSAGE: there is no such mask. */
int masks_find(mask_forms *forms, word name, firn_error *error);
/* Masks the IDs of a reply in place; *form: of the masked ones, because a reload may have changed it.
 * Codes as masks_find and firn_mask_apply; no error shows an ID. */
int masks_apply(server_reply *reply, firn_id *ids, word name, int *form, firn_error *error);

#endif
