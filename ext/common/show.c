/* SPDX-License-Identifier: MIT */
/* firn_show for SQLite and MariaDB: the JSON of `firn show --json`. PostgreSQL exports functions with the names of the
 * JSON library, so its extension has a function of its own (ext/postgres/show_jsonb.c). */
#include "call.h"
#include "errors.h"
#include "object.h"

int sql_show(sql_call *it) {
    int code = sql_read(it);
    if (code != FIRN_OK) {
        return code;
    }
    json_t *object =
        object_of_text(sql_subject(it), it->readings, it->counts, NULL, false, it->scheme != NULL);
    it->type = SQL_TEXT;
    it->length = object != NULL ? json_dumpb(object, it->text, sizeof it->text, JSON_COMPACT) : 0;
    json_decref(object);
    return it->length > 0 && it->length <= sizeof it->text ? FIRN_OK : out_of_memory(&it->error);
}
