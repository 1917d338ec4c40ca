/* SPDX-License-Identifier: MIT */
/* firn_mask and firn_unmask: the masks of the file that the program named by firn_config('masks',
 * FILE). DETERMINISTIC, for generated columns and indexes, because a name has one key for ever. No
 * schema unmasks anything, and with trusted_schema = OFF none masks: a schema may be a stranger's. */
#include "extension.h"

#include <string.h>

/* An ID of the mask: INTEGER, TEXT in its form, or BLOB; with `back` it is masked, and turned back if
 * it is TEXT. */
static int id_of(firn_id *id, sqlite3_value *value, const listed_mask *mask, bool back,
                 firn_error *error) {
    const int type = sqlite3_value_type(value);
    if (type == SQLITE_INTEGER && mask->bits <= 64) {
        *id = (firn_id){.low = (uint64_t)sqlite3_value_int64(value), .bits = 64};
        return FIRN_OK;
    }
    if (type == SQLITE_BLOB && mask->bits == 128 && sqlite3_value_bytes(value) == 16) {
        return firn_id_from_bytes(id, sqlite3_value_blob(value), 128, error);
    }
    sql_value text;
    return type == SQLITE_TEXT && text_of(&text, value, 0, error) == FIRN_OK
               ? (back ? mask_list_unmask(mask, id, text.text, text.length, error)
                       : firn_parse(id, mask->from, mask->bits, text.text, text.length, error))
           : type == SQLITE_TEXT
               ? error->code
               : set_error(error, FIRN_EUSAGE, "mask %s has %u bits: give %s or TEXT in its form",
                           mask->name, (unsigned)mask->bits,
                           mask->bits <= 64 ? "INTEGER" : "a BLOB of 16 bytes");
}

static void turn(sqlite3_context *context, sqlite3_value **values, bool back) {
    const sql_connection *connection = sqlite3_user_data(context);
    const listed_mask *found = NULL;
    firn_error error;
    sql_value name;
    firn_id id;
    if (sqlite3_value_type(values[0]) == SQLITE_NULL ||
        sqlite3_value_type(values[1]) == SQLITE_NULL) {
        return; /* NULL */
    }
    int code = connection->masks.count > 0
                   ? text_of(&name, values[1], 1, &error)
                   : set_error(&error, FIRN_EUSAGE,
                               "this connection has no masks: run SELECT firn_config('masks', "
                               "FILE) first");
    if (code == FIRN_OK) {
        found = mask_list_find(&connection->masks, name.text, name.length, &error);
        code = found != NULL ? FIRN_OK : error.code;
    }
    code = code == FIRN_OK && !back ? mask_list_check_lasts(found, &error) : code;
    code = code == FIRN_OK ? id_of(&id, values[0], found, back, &error) : code;
    const bool is_text = sqlite3_value_type(values[0]) == SQLITE_TEXT;
    if (code == FIRN_OK && !(back && is_text)) {
        code = (back ? firn_mask_undo : firn_mask_apply)(found->mask, &id, &id, 1, &error);
    }
    if (code != FIRN_OK) {
        result_error(context, &error);
        return;
    }
    const int form = back ? found->from : found->as;
    const bool blob = sqlite3_value_type(values[0]) == SQLITE_BLOB;
    char text[FIRN_TEXT_SIZE + FIRN_MASK_FRAME_SIZE], before[FIRN_MASK_FRAME_SIZE],
        mac[FIRN_MASK_FRAME_SIZE] = "";
    if (!back && !blob) {
        firn_mask_frame(found->mask, before, mac, &id);
    }
    if (mac[0] == '\0') {
        result_id(context, &id, form, blob ? AS_BLOB : form == FIRN_FORM_DEC ? AS_OWN : form);
        return;
    }
    firn_format(text, &id, form);
    strcat(text, mac);
    sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

static void mask(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    turn(context, values, false);
}

static void unmask(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    turn(context, values, true);
}

enum { mask_flags = 0, unmask_flags = SQLITE_DIRECTONLY };
static const function_row rows[] = {
#define SQLITE_MASK(name, call, types, arguments)                                                  \
    {#name, types, SQLITE_DETERMINISTIC | call##_flags, call},
#include "../functions.def"
};

int add_masks(sql_connection *connection) {
    return add_functions(connection, rows, sizeof rows / sizeof rows[0]);
}
