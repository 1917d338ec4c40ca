/* SPDX-License-Identifier: MIT */
/* Pure functions: DETERMINISTIC and INNOCUOUS, usable in generated columns, CHECK constraints and
 * indexes on expressions. NULL in, NULL out. Converts arguments and answers of
 * ext/common/call.c. */
#include "extension.h"

#include <stdlib.h>
#include <string.h>

/* ---- arguments ------------------------------------------------------------------------------- */

/* Kept with the statement if possible; otherwise each row parses it again. */
static void keep_scheme(sqlite3_context *context, int i, const firn_scheme *scheme) {
    firn_scheme *copy = malloc(sizeof *copy);
    if (copy != NULL) {
        *copy = *scheme;
        sqlite3_set_auxdata(context, i, copy, free);
    }
}

/* Parsed once per statement if it is constant; valid during the call. */
static int scheme_of(const firn_scheme **scheme, sqlite3_context *context, sqlite3_value *value,
                     int i, firn_error *error) {
    sql_connection *connection = sqlite3_user_data(context);
    sql_value text;
    *scheme = sqlite3_get_auxdata(context, i);
    if (*scheme != NULL) {
        return FIRN_OK;
    }
    int code = text_of(&text, value, i, error);
    code =
        code == FIRN_OK ? sql_scheme(&connection->schemes[i], text.text, text.length, error) : code;
    if (code == FIRN_OK) {
        keep_scheme(context, i, &connection->schemes[i]);
        *scheme = &connection->schemes[i];
    }
    return code;
}

static int integer_of(sql_value *out, sqlite3_value *value, int i, bool flag, firn_error *error) {
    out->type = SQL_INTEGER;
    out->integer = sqlite3_value_int64(value);
    if (sqlite3_value_type(value) != SQLITE_INTEGER || (flag && (out->integer & ~1) != 0)) {
        return set_error(error, flag ? FIRN_ERANGE : FIRN_EUSAGE,
                         "argument %d is not valid: give an INTEGER%s", i + 1,
                         flag ? ", 0 or 1" : "");
    }
    return FIRN_OK;
}

static void bytes_of(sql_value *out, sqlite3_value *value) {
    const char *bytes = sqlite3_value_blob(value); /* of TEXT, its UTF-8 */
    out->type = SQL_BYTES;
    out->text = bytes != NULL ? bytes : "";
    out->length = (size_t)sqlite3_value_bytes(value);
}

static int id_of(sql_value *out, sqlite3_value *value, firn_error *error) {
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        out->type = SQL_INTEGER;
        out->integer = sqlite3_value_int64(value);
        return FIRN_OK;
    case SQLITE_TEXT:
        return text_of(out, value, 0, error);
    case SQLITE_BLOB:
        bytes_of(out, value);
        return FIRN_OK;
    default:
        return set_error(error, FIRN_EUSAGE,
                         "an ID cannot be REAL, which is not exact: give INTEGER, TEXT or BLOB");
    }
}

/* A kind, a form or a scheme. */
static int target_of(sql_connection *connection, sqlite3_value *value, int i) {
    sql_call *call = &connection->call;
    sql_value text;
    int code = text_of(&text, value, i, &call->error);
    if (code == FIRN_OK && kind_of(&connection->result_kind, text.text)) {
        call->target.form = SQL_OWN_FORM;
        return FIRN_OK;
    }
    code = code == FIRN_OK ? pure_target_find(&call->target, text.text, &call->error) : code;
    connection->result_kind =
        code == FIRN_OK && call->target.form >= 0 ? call->target.form : AS_OWN;
    return code;
}

/* Letters as in ext/functions.def. */
static int argument_of(sql_connection *connection, sqlite3_context *context, sqlite3_value *value,
                       int i, int letter) {
    sql_call *call = &connection->call;
    sql_value *out = &call->arguments[i];
    firn_error *error = &call->error;
    switch (letter) {
    case 'd':
        return id_of(out, value, error);
    case 'f':
        return target_of(connection, value, i);
    case 'i':
    case 'o':
        return integer_of(out, value, i, letter == 'o', error);
    case 'k':
        return as_of(&connection->result_kind, value, i, error);
    case 'm':
        return time_of(&call->time, value, i, error);
    case 'n':
        bytes_of(out, value);
        return FIRN_OK;
    case 's':
        return scheme_of(&call->scheme, context, value, i, error);
    case 't':
        return text_of(out, value, i, error);
    case 'u':
        connection->result_kind = sqlite3_value_type(value) == SQLITE_BLOB ? AS_BLOB : AS_TEXT;
        return id_of(out, value, error);
    default: /* b */
        bytes_of(out, value);
        return sqlite3_value_type(value) == SQLITE_BLOB
                   ? FIRN_OK
                   : set_error(error, FIRN_EMISMATCH, "argument %d is not a BLOB", i + 1);
    }
}

/* ---- answers --------------------------------------------------------------------------------- */

static int answer_id(sql_connection *connection, sqlite3_context *context) {
    sql_call *call = &connection->call;
    const firn_scheme *scheme = call->scheme != NULL ? call->scheme : call->readings[0].scheme;
    bool integer = connection->result_kind == AS_INTEGER ||
                   (connection->result_kind == AS_OWN && call->id.bits <= 64);
    int64_t value;
    int code = connection->result_kind == AS_OWN
                   ? FIRN_OK
                   : as_check(connection->result_kind, scheme, &call->error);
    if (code == FIRN_OK && call->sorted && integer) {
        code = sql_integer(&value, scheme, &call->id, false, &call->error);
    }
    if (code == FIRN_OK) {
        result_id(context, &call->id, call->form, connection->result_kind);
    }
    return code;
}

static int answer_of(sql_connection *connection, sqlite3_context *context) {
    const sql_call *call = &connection->call;
    char text[FIRN_TIME_SIZE];
    switch (call->type) {
    case SQL_ID:
        return answer_id(connection, context);
    case SQL_INTEGER:
        sqlite3_result_int64(context, call->integer);
        return FIRN_OK;
    case SQL_BYTES:
        sqlite3_result_blob(context, call->text, (int)call->length, SQLITE_TRANSIENT);
        return FIRN_OK;
    case SQL_TIME:
        sqlite3_result_text(context, firn_time_format(text, &call->time, call->digits), -1,
                            SQLITE_TRANSIENT);
        return FIRN_OK;
    default:
        sqlite3_result_text(context, call->text, (int)call->length, SQLITE_TRANSIENT);
        return FIRN_OK;
    }
}

/* -1: the answer is a number or bytes. */
static int form_of_answer(const sql_connection *connection) {
    const firn_scheme *scheme = connection->call.scheme;
    const bool is_text =
        scheme != NULL && (connection->result_kind == AS_TEXT ||
                           (connection->result_kind == AS_OWN && scheme->bits > 64));
    return connection->result_kind >= 0 ? connection->result_kind : is_text ? scheme->form : -1;
}

static void answer(sqlite3_context *context, int count, sqlite3_value **values, const char *types,
                   sql_function *work) {
    sql_connection *connection = sqlite3_user_data(context);
    for (int i = 0; i < count; i++) {
        if (sqlite3_value_type(values[i]) == SQLITE_NULL) {
            return; /* NULL */
        }
    }
    int code = FIRN_OK;
    connection->call.scheme = NULL;
    connection->result_kind = AS_OWN;
    for (int i = 0; i < count && code == FIRN_OK; i++) {
        code = argument_of(connection, context, values[i], i, types[i] | ' ');
    }
    for (int i = count; types[i] != '\0'; i++) {
        connection->call.arguments[i] = (sql_value){.text = ""};
    }
    connection->call.form = form_of_answer(connection);
    code = code == FIRN_OK ? work(&connection->call) : code;
    code = code == FIRN_OK ? answer_of(connection, context) : code;
    if (code != FIRN_OK) {
        result_error(context, &connection->call.error);
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

#define PURE (SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS)

#define SQLITE_PURE(name, call, types, arguments)                                                  \
    static void call(sqlite3_context *context, int count, sqlite3_value **values) {                \
        answer(context, count, values, types, sql_##call);                                         \
    }
#include "../functions.def"

static const function_row rows[] = {
#define SQLITE_PURE(name, call, types, arguments) {#name, types, PURE, call},
#include "../functions.def"
};

int add_readers(sql_connection *connection) {
    return add_functions(connection, rows, sizeof rows / sizeof rows[0]);
}
