/* SPDX-License-Identifier: MIT */
/* firn_mask and firn_unmask: the masks of the file that firn.masks names, which each process reads
 * once. Immutable as long as a name has one key, which its fingerprint in the file makes sure of. */
#include "extension.h"

#include "mask_list.h"

#include "miscadmin.h"

static mask_list masks;
static bool masks_known; /* of the present firn.masks */

void firn_masks_forget(void) {
    mask_list_free(&masks);
    masks_known = false;
}

/* The error names files of the server, which roles with EXECUTE need not know. */
static void fail_to_read(const firn_error *error) {
    if (superuser_arg(GetOuterUserId())) {
        firn_fail(error);
    }
    ereport(LOG_SERVER_ONLY, (errmsg("firn: %s", error->text)));
    firn_refuse(error->code, "the masks cannot be read: see the log of the server");
}

static const listed_mask *mask_named(const text *name) {
    firn_error error;
    if (!masks_known) {
        if (firn_setting_masks[0] == '\0') {
            firn_refuse(FIRN_EUSAGE, "this server has no masks: set firn.masks to a file in "
                                     "postgresql.conf and reload it, and remove firn.masks from "
                                     "the session's options, its role and its database");
        }
        if (mask_list_read(&masks, firn_setting_masks, &error) != FIRN_OK) {
            fail_to_read(&error);
        }
        masks_known = true;
    }
    const listed_mask *found =
        mask_list_find(&masks, VARDATA_ANY(name), (size_t)VARSIZE_ANY_EXHDR(name), &error);
    if (found == NULL) {
        firn_fail(&error);
    }
    return found;
}

static Datum turn(FunctionCallInfo fcinfo, enum firn_type type, bool back) {
    const listed_mask *found = mask_named(PG_GETARG_TEXT_PP(1));
    firn_error error;
    if (!back) {
        FIRN_CHECK(mask_list_check_lasts(found, &error));
    }
    if ((found->bits > 64) != (type == FIRN_AS_UUID)) {
        firn_refuse(FIRN_EUSAGE, "mask %s has %u bits, and %s: use another mask, or the other type",
                    found->name, found->bits,
                    type == FIRN_AS_UUID ? "a uuid has 128" : "a bigint has 64");
    }
    firn_id id = type == FIRN_AS_UUID ? firn_id_of_uuid(PG_GETARG_UUID_P(0))
                                      : (firn_id){.low = (uint64)PG_GETARG_INT64(0), .bits = 64};
    FIRN_CHECK((back ? firn_mask_undo : firn_mask_apply)(found->mask, &id, &id, 1, &error));
    id.bits = type == FIRN_AS_UUID ? 128 : 64;
    return firn_datum(&id, type, FIRN_FORM_DEC);
}

FIRN_ENTRY(mask_int, turn(fcinfo, FIRN_AS_INT, false))
FIRN_ENTRY(mask_uuid, turn(fcinfo, FIRN_AS_UUID, false))
FIRN_ENTRY(unmask_int, turn(fcinfo, FIRN_AS_INT, true))
FIRN_ENTRY(unmask_uuid, turn(fcinfo, FIRN_AS_UUID, true))
