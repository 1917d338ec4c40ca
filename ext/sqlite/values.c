/* SPDX-License-Identifier: MIT */
/* Converts SQL values. Refuses floating point for IDs and times: a REAL has 53 bits, current IDs
 * have more. */
#include "extension.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void result_error(sqlite3_context *context, const firn_error *error) {
    sqlite3_result_error(context, error->text, -1);
}

/* ---- out ------------------------------------------------------------------------------------ */

static void result_text(sqlite3_context *context, const firn_id *id, int form) {
    char text[FIRN_TEXT_SIZE] UNWIPED;
    firn_format(text, id, form);
    if (text[0] == '\0') {
        sqlite3_result_error(
            context,
            "this ID cannot be written in that form: its time or its digits are out of range", -1);
        return;
    }
    size_t length = form == FIRN_FORM_UUID ? 36 : strlen(text);
    sqlite3_result_text(context, text, (int)length, SQLITE_TRANSIENT);
}

void result_id(sqlite3_context *context, const firn_id *id, int form, int as) {
    if (as == AS_INTEGER || (as == AS_OWN && id->bits <= 64)) {
        sqlite3_result_int64(context, (sqlite3_int64)id->low);
    } else if (as == AS_BLOB) {
        uint8_t bytes[20];
        const uint64_t words[2] = {htobe64(id->high), htobe64(id->low)};
        bool wide = id->bits == 128; /* most are, and two stores are faster than a loop */
        int size = wide ? 16 : (int)firn_id_bytes(bytes, id);
        sqlite3_result_blob(context, wide ? (const void *)words : bytes, size, SQLITE_TRANSIENT);
    } else {
        result_text(context, id, as < 0 ? form : as);
    }
}

int as_of(int *as, sqlite3_value *value, firn_error *error) {
    static const struct {
        const char *name;
        int as;
    } kinds[] = {{"integer", AS_INTEGER}, {"text", AS_TEXT}, {"blob", AS_BLOB}};
    line text;
    int code = text_of(&text, value, "the kind of ID", error);
    if (code != FIRN_OK) {
        return code;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(text.at, kinds[i].name) == 0) {
            *as = kinds[i].as;
            return FIRN_OK;
        }
    }
    *as = firn_form_find(text.at);
    return *as >= 0
               ? FIRN_OK
               : set_error(
                     error, FIRN_EUSAGE,
                     "'%.40s' is not a valid kind: use integer, text, blob, or a form: dec hex "
                     "uuid urn braced base32 base32hex base36 base58 base62 bin",
                     text.at);
}

int as_check(int as, const firn_scheme *scheme, firn_error *error) {
    if (as == AS_INTEGER && scheme->bits > 64) {
        return set_error(error, FIRN_EUSAGE,
                         "%s has %u bits, an INTEGER has 64: use 'blob' or a form", scheme->name,
                         scheme->bits);
    }
    if (as >= 0 && firn_form_width(as, scheme->bits) == 0) {
        return set_error(error, FIRN_EUSAGE,
                         "an ID of %u bits cannot be written as %s: choose another form",
                         scheme->bits, firn_form_name(as));
    }
    return FIRN_OK;
}

/* ---- in ------------------------------------------------------------------------------------- */

int text_of(line *text, sqlite3_value *value, const char *what, firn_error *error) {
    if (sqlite3_value_type(value) != SQLITE_TEXT) {
        return set_error(error, FIRN_EUSAGE, "%s is not TEXT: give it in quotes", what);
    }
    text->at = (const char *)sqlite3_value_text(value);
    text->length = (size_t)sqlite3_value_bytes(value);
    if (text->at == NULL) {
        return set_error(error, FIRN_EMEMORY, "out of memory for %s", what);
    }
    if (strlen(text->at) != text->length) {
        return set_error(error, FIRN_EUSAGE, "%s contains a zero byte: remove it", what);
    }
    return FIRN_OK;
}

/* SQLite's times have no offset and perhaps no seconds; they are UTC. */
static int time_of_text(firn_time *time, line text, firn_error *error) {
    char whole[FIRN_TIME_SIZE];
    if (text.length == sizeof "2024-01-01 10:00" - 1 && text.at[13] == ':') {
        int length = snprintf(whole, sizeof whole, "%s:00Z", text.at);
        if (firn_time_parse(time, whole, (size_t)length, NULL) == FIRN_OK) {
            return FIRN_OK;
        }
    }
    return sql_time(time, text.at, text.length, error);
}

int time_of(firn_time *time, sqlite3_value *value, firn_error *error) {
    line text;
    int code;
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        *time = (firn_time){sqlite3_value_int64(value), 0};
        return FIRN_OK;
    case SQLITE_TEXT:
        code = text_of(&text, value, "the instant", error);
        return code == FIRN_OK ? time_of_text(time, text, error) : code;
    case SQLITE_FLOAT:
        return set_error(error, FIRN_EUSAGE,
                         "a time cannot be REAL, which is not exact: give TEXT ('@1700000000.5' is "
                         "one) or INTEGER seconds");
    default:
        return set_error(error, FIRN_EUSAGE,
                         "an instant is TEXT ('2024-01-01T10:00:00Z') or INTEGER seconds: this is "
                         "a BLOB");
    }
}

static int bytes_of(firn_reading readings[FIRN_READINGS_MAX], id_counts *count,
                    const firn_scheme *scheme, sqlite3_value *value, firn_error *error) {
    const uint8_t *bytes = sqlite3_value_blob(value);
    uint32_t size = (uint32_t)sqlite3_value_bytes(value);
    char text[FIRN_TEXT_SIZE];
    firn_fields fields;
    firn_id id;
    bool fits = scheme != NULL ? size == (scheme->bits + 7) / 8
                               : size == 8 || size == 12 || size == 16 || size == 20;
    if (!fits) {
        return set_error(error, FIRN_EMISMATCH, "a BLOB of %u bytes is not an ID of %s: %s", size,
                         scheme != NULL ? scheme->name : "a known scheme",
                         scheme != NULL ? "name another scheme"
                                        : "an ID has 8, 12, 16 or 20 bytes");
    }
    int code = firn_id_from_bytes(&id, bytes, scheme != NULL ? scheme->bits : size * 8, error);
    if (code == FIRN_OK && scheme != NULL) {
        readings[0] = (firn_reading){scheme, scheme->form, id};
        *count = (id_counts){1, 1};
        return firn_unpack(&fields, scheme, &id, error);
    }
    if (code == FIRN_OK) {
        firn_format(text, &id, FIRN_FORM_HEX);
        count->all = firn_guess_all(readings, &count->plausible, text, strlen(text), FIRN_FORM_HEX);
    }
    return code != FIRN_OK || count->all > 0
               ? code
               : set_error(error, FIRN_ETEXT,
                           "x'%s' is not an ID of a known scheme: name its scheme too", text);
}

static int read_text(firn_reading readings[FIRN_READINGS_MAX], id_counts *count,
                     const firn_scheme *scheme, line text, firn_error *error) {
    id_reader reader = {.named = scheme != NULL, .form = -1, .cure = "name its scheme too"};
    if (scheme != NULL) {
        reader.scheme = *scheme;
    }
    int code = reader_look(&reader, readings, count, text.at, text.length, error);
    if (code == FIRN_OK && scheme != NULL) {
        readings[0].scheme = scheme; /* `reader` ends with this call */
    }
    return code;
}

int id_of(firn_reading readings[FIRN_READINGS_MAX], id_counts *count, const firn_scheme *scheme,
          sqlite3_value *value, firn_error *error) {
    line text;
    int code;
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        if (scheme != NULL && scheme->bits > 64) {
            return set_error(
                error, FIRN_EMISMATCH,
                "an INTEGER cannot be an ID of %s, which has %u bits: name another scheme",
                scheme->name, scheme->bits);
        }
        return sql_read_integer(readings, count, scheme, sqlite3_value_int64(value), error);
    case SQLITE_TEXT:
        code = text_of(&text, value, "the ID", error);
        return code == FIRN_OK ? read_text(readings, count, scheme, text, error) : code;
    case SQLITE_BLOB:
        return bytes_of(readings, count, scheme, value, error);
    default:
        return set_error(error, FIRN_EUSAGE,
                         "an ID cannot be REAL, which is not exact: give INTEGER, TEXT or BLOB");
    }
}

/* Kept with the statement if possible; otherwise each row parses it again. */
static void keep_scheme(sqlite3_context *context, int i, const firn_scheme *scheme) {
    firn_scheme *copy = malloc(sizeof *copy);
    if (copy != NULL) {
        *copy = *scheme;
        sqlite3_set_auxdata(context, i, copy, free);
    }
}

const firn_scheme *scheme_of(sqlite3_context *context, sqlite3_value **values, int i,
                             firn_error *error) {
    connection *it = sqlite3_user_data(context);
    const firn_scheme *known = sqlite3_get_auxdata(context, i);
    line text;
    if (known != NULL) {
        return known;
    }
    if (text_of(&text, values[i], "the scheme", error) != FIRN_OK ||
        sql_scheme(&it->schemes[i], text.at, text.length, error) != FIRN_OK) {
        return NULL;
    }
    keep_scheme(context, i, &it->schemes[i]);
    return &it->schemes[i];
}
