/* SPDX-License-Identifier: MIT */
/* firn_number: dated numbers of a series, from the store. A number is the caller's for ever, so a
 * rollback leaves a gap. With a name alone it is INNOCUOUS, for DEFAULT clauses and triggers, as the
 * generators are; with a definition or a time it is DIRECTONLY: no schema defines a series. */
#include "extension.h"

#include "series_day.h"

#include <string.h>

/* The series of the name in the first argument; `keys` are its definition, or "". */
static int number_of(sql_connection *connection, char text[FIRN_SERIES_SIZE], sqlite3_value *name,
                     sql_value keys, sqlite3_value *time, firn_error *error) {
    sql_value series, moment;
    firn_series *open = NULL;
    firn_time at;
    int code = text_of(&series, name, 0, error);
    code = code == FIRN_OK ? connection_series(connection, series, keys, &open, error) : code;
    if (code == FIRN_OK && time != NULL && sqlite3_value_type(time) == SQLITE_TEXT &&
        sqlite3_value_bytes(time) == sizeof "2026-11-20" - 1) {
        code = text_of(&moment, time, 2, error);
        code =
            code == FIRN_OK ? series_day_read(&at, open, moment.text, moment.length, error) : code;
    } else if (code == FIRN_OK && time != NULL) {
        code = time_of(&at, time, 2, error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    code = firn_series_next(open, time != NULL ? &at : NULL, (char(*)[FIRN_SERIES_SIZE])text, 1,
                            error);
    return code == FIRN_OK ? code : connection_failed(connection, code, error);
}

static void put_number(sqlite3_context *context, int code, const char *text,
                       const firn_error *error) {
    if (code == FIRN_OK) {
        sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
    } else {
        result_error(context, error);
    }
}

/* firn_number(SERIES) */
static void number_plain(sqlite3_context *context, int count, sqlite3_value **values) {
    char text[FIRN_SERIES_SIZE];
    firn_error error UNWIPED;
    (void)count;
    const int code = number_of(sqlite3_user_data(context), text, values[0], (sql_value){.text = ""},
                               NULL, &error);
    put_number(context, code, text, &error);
}

/* firn_number(SERIES, DEFINITION [, TIME]) */
static void number(sqlite3_context *context, int count, sqlite3_value **values) {
    sql_connection *connection = sqlite3_user_data(context);
    char text[FIRN_SERIES_SIZE];
    sql_value keys;
    firn_error error UNWIPED;
    connection->used = true;
    int code = sqlite3_value_type(values[1]) != SQLITE_NULL
                   ? text_of(&keys, values[1], 1, &error)
                   : set_error(&error, FIRN_EUSAGE,
                               "the definition is NULL: write '' for the definition in the store");
    code = code == FIRN_OK
               ? number_of(connection, text, values[0], keys, count > 2 ? values[2] : NULL, &error)
               : code;
    put_number(context, code, text, &error);
}

static const function_row rows[] = {
#define SQLITE_NUMBER(name, flags, call, types, arguments) {#name, types, flags, call},
#include "../functions.def"
};

int add_numbers(sql_connection *connection) {
    return add_functions(connection, rows, sizeof rows / sizeof rows[0]);
}
