/* SPDX-License-Identifier: MIT */
/* Converts SQL values. Refuses floating point for IDs and times: a REAL has 53 bits, current IDs
 * have more. */
#include "extension.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

void result_error(sqlite3_context *context, const firn_error *error) {
    sqlite3_result_error(context, error->text, -1);
}

/* ---- out ------------------------------------------------------------------------------------ */

static void result_text(sqlite3_context *context, const firn_id *id, int form) {
    char text[FIRN_TEXT_SIZE] UNWIPED;
    firn_format(text, id, form);
    if (text[0] == '\0') {
        firn_error error;
        pure_form_refuse(form, &error);
        result_error(context, &error);
        return;
    }
    size_t length = form == FIRN_FORM_UUID ? 36 : strlen(text);
    sqlite3_result_text(context, text, (int)length, SQLITE_TRANSIENT);
}

void result_id(sqlite3_context *context, const firn_id *id, int form, int kind) {
    if (kind == AS_INTEGER || (kind == AS_OWN && id->bits <= 64)) {
        sqlite3_result_int64(context, (sqlite3_int64)id->low);
    } else if (kind == AS_BLOB) {
        uint8_t bytes[20];
        const uint64_t words[2] = {htobe64(id->high), htobe64(id->low)};
        bool wide = id->bits == 128; /* most are, and two stores are faster than a loop */
        int size = wide ? 16 : (int)firn_id_bytes(bytes, id);
        sqlite3_result_blob(context, wide ? (const void *)words : bytes, size, SQLITE_TRANSIENT);
    } else {
        result_text(context, id, kind < 0 ? form : kind);
    }
}

int sign_check(int kind, const firn_scheme *scheme, const firn_id *id, bool allowed,
               firn_error *error) {
    int64_t value;
    bool integer = kind == AS_INTEGER || kind == AS_OWN || kind == FIRN_FORM_DEC;
    return id->low > INT64_MAX && id->bits <= 64 && integer
               ? sql_integer(&value, scheme, id, allowed, error)
               : FIRN_OK;
}

bool kind_of(int *form, const char *name) {
    static const struct {
        const char *name;
        int as;
    } kinds[] = {{"integer", AS_INTEGER}, {"text", AS_TEXT}, {"blob", AS_BLOB}};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        if (strcmp(name, kinds[k].name) == 0) {
            *form = kinds[k].as;
            return true;
        }
    }
    return false;
}

int as_of(int *form, sqlite3_value *value, int i, firn_error *error) {
    sql_value text;
    int code = text_of(&text, value, i, error);
    return code != FIRN_OK || kind_of(form, text.text) ? code : pure_form(form, text.text, error);
}

int as_check(int kind, const firn_scheme *scheme, firn_error *error) {
    if (kind == AS_INTEGER && scheme->bits > 64) {
        return set_error(error, FIRN_EUSAGE,
                         "%s has %u bits, an INTEGER has 64: use 'blob' or a form", scheme->name,
                         scheme->bits);
    }
    return kind >= 0 ? pure_form_check(kind, scheme, scheme->bits, error) : FIRN_OK;
}

/* ---- in ------------------------------------------------------------------------------------- */

int text_of(sql_value *text, sqlite3_value *value, int i, firn_error *error) {
    if (sqlite3_value_type(value) != SQLITE_TEXT) {
        return set_error(error, FIRN_EUSAGE, "argument %d is not TEXT: give it in quotes", i + 1);
    }
    text->type = SQL_TEXT;
    text->text = (const char *)sqlite3_value_text(value);
    text->length = (size_t)sqlite3_value_bytes(value);
    if (text->text == NULL) {
        return out_of_memory(error);
    }
    return strlen(text->text) == text->length
               ? FIRN_OK
               : set_error(error, FIRN_EUSAGE, "argument %d contains a zero byte: remove it",
                           i + 1);
}

/* SQLite's times have no offset and perhaps no seconds; they are UTC. */
static int time_of_text(firn_time *time, sql_value text, firn_error *error) {
    char whole[FIRN_TIME_SIZE];
    if (text.length == sizeof "2024-01-01 10:00" - 1 && text.text[13] == ':') {
        int length = snprintf(whole, sizeof whole, "%s:00Z", text.text);
        if (firn_time_parse(time, whole, (size_t)length, NULL) == FIRN_OK) {
            return FIRN_OK;
        }
    }
    return sql_time(time, text.text, text.length, error);
}

int time_of(firn_time *time, sqlite3_value *value, int i, firn_error *error) {
    sql_value text;
    int code;
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        *time = (firn_time){sqlite3_value_int64(value), 0};
        return FIRN_OK;
    case SQLITE_TEXT:
        code = text_of(&text, value, i, error);
        return code == FIRN_OK ? time_of_text(time, text, error) : code;
    case SQLITE_FLOAT:
        return set_error(error, FIRN_EUSAGE,
                         "a time cannot be REAL, which is not exact: give TEXT ('@1700000000.5' is "
                         "one) or INTEGER seconds");
    default:
        return set_error(error, FIRN_EUSAGE,
                         "a time cannot be a BLOB: give TEXT ('2024-01-01T10:00:00Z') or INTEGER "
                         "seconds");
    }
}
