/* SPDX-License-Identifier: MIT */
/* firn_show for SQLite and MariaDB: the JSON of `firn show --json`. PostgreSQL exports functions
 * with the names of the JSON library, so its extension has a function of its own
 * (ext/postgres/show_jsonb.c). */
#include "call.h"
#include "errors.h"
#include "object.h"

int sql_show(sql_call *call) {
    int code = sql_read(call);
    if (code != FIRN_OK) {
        return code;
    }
    json_t *object = object_of_text(sql_subject(call), call->readings, call->counts, NULL, false,
                                    call->scheme != NULL);
    call->type = SQL_TEXT;
    call->length =
        object != NULL ? json_dumpb(object, call->text, sizeof call->text, JSON_COMPACT) : 0;
    json_decref(object);
    return call->length > 0 && call->length <= sizeof call->text ? FIRN_OK
                                                                 : out_of_memory(&call->error);
}
