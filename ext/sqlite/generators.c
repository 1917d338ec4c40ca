/* SPDX-License-Identifier: MIT */
/* Functions that issue: one per scheme, firn_new for all, firn_stamp for back-dated IDs, and the
 * connection's settings. None is DETERMINISTIC. Live ones without options are INNOCUOUS, so that
 * DEFAULT clauses and triggers can use them with any trusted_schema. Options may name a node, a
 * namespace or a layout, so the same functions with options are DIRECTONLY, as are those that take
 * nodes permanently or name files: no schema can use them. */
#include "extension.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEMES_MOST = 64 };

/* A scheme's function, until SQLite releases it. */
typedef struct scheme_function {
    sql_connection *connection;
    const firn_scheme *scheme;
    int result_kind;
    uint64_t era;    /* the connection's when `plain` was found */
    firn_gen *plain; /* without options */
} scheme_function;

/* ---- one per scheme ------------------------------------------------------------------------- */

static void drop_function(void *context) {
    scheme_function *scheme = context;
    connection_drop(scheme->connection);
    free(scheme);
}

static int find_plain(scheme_function *scheme, firn_error *error) {
    sql_value name = {.text = scheme->scheme->name, .length = strlen(scheme->scheme->name)};
    int code =
        connection_gen(scheme->connection, name, (sql_value){.text = ""}, &scheme->plain, error);
    scheme->era = scheme->connection->era;
    scheme->plain = code == FIRN_OK ? scheme->plain : NULL;
    return code;
}

static inline int plain_gen(scheme_function *scheme, firn_gen **gen, firn_error *error) {
    int code = scheme->plain == NULL || scheme->era != scheme->connection->era
                   ? find_plain(scheme, error)
                   : FIRN_OK;
    *gen = scheme->plain;
    return code;
}

/* Options are TEXT; an INTEGER is the node. */
static int options_of(sql_value *options, char room[32], sqlite3_value **values, int i,
                      firn_error *error) {
    sqlite3_value *value = values[i];
    if (sqlite3_value_type(value) == SQLITE_INTEGER) {
        options->text = room;
        options->length = (size_t)snprintf(room, 32, "node=%lld", sqlite3_value_int64(value));
        return FIRN_OK;
    }
    return text_of(options, value, i, error);
}

/* DIRECTONLY */
static int gen_of(scheme_function *scheme, firn_gen **gen, sqlite3_value **values, int i,
                  bool *allowed, firn_error *error) {
    char room[32];
    sql_value options,
        name = {.text = scheme->scheme->name, .length = strlen(scheme->scheme->name)};
    scheme->connection->used = true;
    int code = options_of(&options, room, values, i, error);
    *allowed = code == FIRN_OK && sql_unsigned(options.text);
    return code == FIRN_OK ? connection_gen(scheme->connection, name, options, gen, error) : code;
}

/* The next ID. */
static int next_id(sql_connection *connection, firn_gen *gen, firn_id *id, firn_error *error) {
    int code = firn_next(gen, id, error);
    return code == FIRN_OK ? code : connection_failed(connection, code, error);
}

/* snowflake(), snowflake(OPTIONS), snowflake(NODE) */
static void issue(sqlite3_context *context, int count, sqlite3_value **values) {
    scheme_function *scheme = sqlite3_user_data(context);
    firn_error *error =
        &scheme->connection->call.error; /* on the stack it would be zeroed for each row */
    firn_gen *gen = NULL;
    firn_id id;
    bool allowed = false;
    int code = count == 0 ? plain_gen(scheme, &gen, error)
                          : gen_of(scheme, &gen, values, 0, &allowed, error);
    if (code == FIRN_OK) {
        code = next_id(scheme->connection, gen, &id, error);
    }
    code = code == FIRN_OK ? sign_check(scheme->result_kind, scheme->scheme, &id, allowed, error)
                           : code;
    if (code == FIRN_OK) {
        result_id(context, &id, scheme->scheme->form, scheme->result_kind);
    } else {
        result_error(context, error);
    }
}

/* typeid(PREFIX [, OPTIONS]) */
static void issue_prefixed(sqlite3_context *context, int count, sqlite3_value **values) {
    scheme_function *scheme = sqlite3_user_data(context);
    char text[SQL_TEXT_SIZE];
    firn_gen *gen = NULL;
    firn_error error;
    firn_id id;
    bool allowed;
    sql_value prefix;
    int code = text_of(&prefix, values[0], 0, &error);
    if (code == FIRN_OK) {
        code = count == 1 ? plain_gen(scheme, &gen, &error)
                          : gen_of(scheme, &gen, values, 1, &allowed, &error);
    }
    code = code == FIRN_OK ? next_id(scheme->connection, gen, &id, &error) : code;
    code = code == FIRN_OK ? sql_typeid(text, prefix.text, prefix.length, &id, &error) : code;
    if (code == FIRN_OK) {
        sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
    } else {
        result_error(context, &error);
    }
}

static int add_scheme_function(sql_connection *connection, const char *name,
                               const firn_scheme *scheme, int kind, int arguments) {
    scheme_function *bound = calloc(1, sizeof *bound);
    if (bound == NULL) {
        return SQLITE_NOMEM;
    }
    bool prefixed = scheme->form == FIRN_FORM_TYPEID && kind != AS_BLOB;
    *bound = (scheme_function){.connection = connection, .scheme = scheme, .result_kind = kind};
    connection->uses++;
    int flags = SQLITE_UTF8 | (arguments > 0 ? SQLITE_DIRECTONLY : SQLITE_INNOCUOUS);
    return sqlite3_create_function_v2(connection->db, name, arguments + prefixed, flags, bound,
                                      prefixed ? issue_prefixed : issue, NULL, NULL, drop_function);
}

/* NAME is the scheme's with _ for -; schemes over 64 bits also have NAME_blob. */
static int add_scheme(sql_connection *connection, const firn_scheme *scheme, const char *called) {
    char name[FIRN_NAME_SIZE + 8];
    int code = SQLITE_OK;
    for (int wide = 0; wide <= (scheme->bits > 64); wide++) {
        snprintf(name, sizeof name, "%s%s", called, wide ? "_blob" : "");
        for (char *c = name; *c != '\0'; c++) {
            *c = *c == '-' ? '_' : *c;
        }
        for (int arguments = 0; arguments <= 1 && code == SQLITE_OK; arguments++) {
            code =
                add_scheme_function(connection, name, scheme, wide ? AS_BLOB : AS_OWN, arguments);
        }
    }
    return code;
}

/* Can it be issued without a key or a name to hash? */
static bool is_issued(const firn_scheme *scheme) {
    return !scheme->read_only && !scheme->keyed && scheme_index(scheme, FIRN_ROLE_DIGEST) < 0;
}

static int add_schemes(sql_connection *connection) {
    const firn_scheme *scheme;
    int code = SQLITE_OK;
    for (size_t i = 0; (scheme = firn_scheme_at(i)) != NULL && code == SQLITE_OK; i++) {
        assert(i < SCHEMES_MOST);
        code = is_issued(scheme) ? add_scheme(connection, scheme, scheme->name) : SQLITE_OK;
    }
    return code == SQLITE_OK ? add_scheme(connection, firn_scheme_find("lable-sequential"), "lable")
                             : code;
}

/* ---- any scheme ----------------------------------------------------------------------------- */

/* The optional last arguments of firn_new and firn_stamp, from i on: options and kind. */
static int rest_of(sql_value *options, char room[32], int *form, int i, int count,
                   sqlite3_value **values, firn_error *error) {
    *options = (sql_value){.text = ""};
    *form = AS_OWN;
    int code = count > i ? options_of(options, room, values, i, error) : FIRN_OK;
    return code == FIRN_OK && count > i + 1 ? as_of(form, values[i + 1], i + 1, error) : code;
}

/* An ID, a TypeID as text with the prefix of its options. */
static void put_issued(sqlite3_context *context, const firn_gen *gen, const firn_id *id, int kind) {
    const int form = firn_gen_scheme(gen)->form;
    char text[FIRN_TEXT_SIZE];
    if (form == FIRN_FORM_TYPEID && (kind == AS_OWN || kind == AS_TEXT)) {
        firn_prefix_format(text, firn_gen_prefix(gen), id);
        sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
    } else {
        result_id(context, id, form, kind);
    }
}

static void put_new(sqlite3_context *context, sql_connection *connection, sql_value scheme,
                    sql_value options, int kind, firn_error *error) {
    firn_gen *gen = NULL;
    firn_id id;
    int code = connection_gen(connection, scheme, options, &gen, error);
    code = code == FIRN_OK ? as_check(kind, firn_gen_scheme(gen), error) : code;
    code = code == FIRN_OK ? next_id(connection, gen, &id, error) : code;
    code = code == FIRN_OK
               ? sign_check(kind, firn_gen_scheme(gen), &id, sql_unsigned(options.text), error)
               : code;
    if (code == FIRN_OK) {
        put_issued(context, gen, &id, kind);
    } else {
        result_error(context, error);
    }
}

/* firn_new(SCHEME): only its name, because a schema may call this. */
static void new_plain(sqlite3_context *context, int count, sqlite3_value **values) {
    sql_connection *connection = sqlite3_user_data(context);
    firn_error error UNWIPED;
    sql_value scheme;
    int code = text_of(&scheme, values[0], 0, &error);
    (void)count;
    if (code == FIRN_OK && firn_scheme_find(scheme.text) == NULL) {
        code = sql_scheme(&connection->schemes[0], scheme.text, scheme.length, &error);
        code = code == FIRN_OK
                   ? set_error(&error, FIRN_EUSAGE,
                               "'%.60s' is not only the name of a scheme, and this may be a call "
                               "of the schema: write firn_new(scheme, '') in a statement",
                               scheme.text)
                   : code;
    }
    if (code == FIRN_OK) {
        put_new(context, connection, scheme, (sql_value){.text = ""}, AS_OWN, &error);
    } else {
        result_error(context, &error);
    }
}

/* firn_new(SCHEME, OPTIONS [, KIND]) */
static void new_id(sqlite3_context *context, int count, sqlite3_value **values) {
    sql_connection *connection = sqlite3_user_data(context);
    char room[32];
    sql_value scheme, options;
    firn_error error UNWIPED;
    int kind;
    connection->used = true;
    int code = text_of(&scheme, values[0], 0, &error);
    code = code == FIRN_OK ? rest_of(&options, room, &kind, 1, count, values, &error) : code;
    if (code == FIRN_OK) {
        put_new(context, connection, scheme, options, kind, &error);
    } else {
        result_error(context, &error);
    }
}

/* firn_stamp(SCHEME, TIME [, OPTIONS [, KIND]]): the ID of the next old row. */
static void stamp(sqlite3_context *context, int count, sqlite3_value **values) {
    sql_connection *connection = sqlite3_user_data(context);
    connection->used = true;
    char room[32];
    sql_value scheme, options;
    firn_job *job = NULL;
    firn_error error UNWIPED;
    firn_time time;
    firn_id id;
    int64_t shift_ns;
    int kind;
    int code = text_of(&scheme, values[0], 0, &error);
    if (sqlite3_value_type(values[1]) == SQLITE_NULL) {
        code = set_error(&error, FIRN_EUSAGE,
                         "firn_stamp got NULL for the time: add WHERE ... IS NOT NULL");
    }
    code = code == FIRN_OK ? time_of(&time, values[1], 1, &error) : code;
    code = code == FIRN_OK ? rest_of(&options, room, &kind, 2, count, values, &error) : code;
    code = code == FIRN_OK ? connection_job(connection, scheme, options, &job, &error) : code;
    code = code == FIRN_OK ? as_check(kind, firn_job_scheme(job), &error) : code;
    code = code == FIRN_OK ? firn_job_next(job, &time, &id, &shift_ns, &error) : code;
    code = code == FIRN_OK
               ? sign_check(kind, firn_job_scheme(job), &id, sql_unsigned(options.text), &error)
               : code;
    if (code == FIRN_OK) {
        result_id(context, &id, firn_job_scheme(job)->form, kind);
    } else {
        result_error(context, &error);
    }
}

/* firn_stamp_end(): ends the connection's jobs and returns their number. */
static void stamp_end(sqlite3_context *context, int count, sqlite3_value **values) {
    sql_connection *connection = sqlite3_user_data(context);
    (void)count;
    (void)values;
    sqlite3_result_int64(context, (sqlite3_int64)connection->jobs.count);
    connection_close_jobs(connection);
}

/* ---- what is set for a connection ------------------------------------------------------------ */

static int replace(char **place, const char *value, firn_error *error) {
    char *copy = value[0] != '\0' ? strdup(value) : NULL;
    if (value[0] != '\0' && copy == NULL) {
        return out_of_memory(error);
    }
    free(*place);
    *place = copy;
    return FIRN_OK;
}

/* The masks of a file replace all others; "": none. */
static int set_masks(sql_connection *connection, const char *file, firn_error *error) {
    mask_list fresh = {NULL, 0};
    int code = file[0] != '\0' ? mask_list_read(&fresh, file, error) : FIRN_OK;
    code = code == FIRN_OK ? replace(&connection->masks_file, file, error) : code;
    if (code == FIRN_OK) {
        mask_list_free(&connection->masks);
        connection->masks = fresh;
    } else {
        mask_list_free(&fresh);
    }
    return code;
}

/* `place`: of a text; NULL: unsafe. */
static int set(sql_connection *connection, char **place, const char *value, firn_error *error) {
    if (place == &connection->masks_file) {
        return set_masks(connection, value, error);
    }
    if (place == NULL && strcmp(value, "0") != 0 && strcmp(value, "1") != 0) {
        return set_error(error, FIRN_ERANGE, "unsafe='%.40s' is not valid: give 0 or 1", value);
    }
    if (place == &connection->node &&
        (strlen(value) >= SQL_TEXT_SIZE / 2 || strpbrk(value, " \t\n"))) {
        return set_error(error, FIRN_EUSAGE,
                         "'%.40s' is not a valid node: give a number or ordinal", value);
    }
    if (place != NULL) {
        return replace(place, value, error);
    }
    connection->unsafe = value[0] == '1';
    return FIRN_OK;
}

/* firn_config(NAME [, VALUE]): returns the setting. A new value closes the generators and applies
 * to those opened later. */
static void config(sqlite3_context *context, int count, sqlite3_value **values) {
    sql_connection *connection = sqlite3_user_data(context);
    firn_error error;
    sql_value name;
    connection->used = true;
    int code = text_of(&name, values[0], 0, &error);
    const char *wanted = code == FIRN_OK ? name.text : "";
    char **place = strcmp(wanted, "store") == 0   ? &connection->store
                   : strcmp(wanted, "node") == 0  ? &connection->node
                   : strcmp(wanted, "masks") == 0 ? &connection->masks_file
                                                  : NULL;
    if (code == FIRN_OK && place == NULL && strcmp(wanted, "unsafe") != 0) {
        code = set_error(&error, FIRN_EUSAGE,
                         "'%.40s' is not a setting: use store, node, unsafe or masks", wanted);
    }
    if (code == FIRN_OK && count == 2) {
        const char *value = (const char *)sqlite3_value_text(values[1]);
        code = set(connection, place, value != NULL ? value : "", &error);
        connection_close_gens(connection);
    }
    if (code != FIRN_OK) {
        result_error(context, &error);
        return;
    }
    sqlite3_result_text(context,
                        place != NULL        ? *place
                        : connection->unsafe ? "1"
                                             : "0",
                        -1, SQLITE_TRANSIENT);
}

/* firn_notices(): one per line, or NULL. */
static void notices(sqlite3_context *context, int count, sqlite3_value **values) {
    sql_connection *connection = sqlite3_user_data(context);
    sqlite3_str *text = sqlite3_str_new(connection->db);
    (void)count;
    (void)values;
    for (size_t i = 0; i < connection->notice_count; i++) {
        sqlite3_str_appendf(text, "%s%s", i > 0 ? "\n" : "", connection->notices[i]);
    }
    sqlite3_result_text(context, sqlite3_str_finish(text), -1, sqlite3_free);
}

static const function_row rows[] = {
#define SQLITE_ISSUE(name, flags, call, types, arguments) {#name, types, flags, call},
#include "../functions.def"
};

int add_generators(sql_connection *connection) {
    int code = add_schemes(connection);
    return code == SQLITE_OK ? add_functions(connection, rows, sizeof rows / sizeof rows[0]) : code;
}
