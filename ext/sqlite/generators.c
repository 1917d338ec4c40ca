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
    connection *of;
    const firn_scheme *scheme;
    int as;
    uint64_t era;    /* the connection's when `plain` was found */
    firn_gen *plain; /* without options */
} scheme_function;

/* ---- one per scheme ------------------------------------------------------------------------- */

static void drop_function(void *context) {
    scheme_function *it = context;
    connection_drop(it->of);
    free(it);
}

static int find_plain(scheme_function *it, firn_error *error) {
    sql_value name = {.text = it->scheme->name, .length = strlen(it->scheme->name)};
    int code = connection_gen(it->of, name, (sql_value){.text = ""}, &it->plain, error);
    it->era = it->of->era;
    it->plain = code == FIRN_OK ? it->plain : NULL;
    return code;
}

static inline int plain_gen(scheme_function *it, firn_gen **gen, firn_error *error) {
    int code = it->plain == NULL || it->era != it->of->era ? find_plain(it, error) : FIRN_OK;
    *gen = it->plain;
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
static int gen_of(scheme_function *it, firn_gen **gen, sqlite3_value **values, int i, bool *allowed,
                  firn_error *error) {
    char room[32];
    sql_value options, name = {.text = it->scheme->name, .length = strlen(it->scheme->name)};
    it->of->used = true;
    int code = options_of(&options, room, values, i, error);
    *allowed = code == FIRN_OK && sql_unsigned(options.text);
    return code == FIRN_OK ? connection_gen(it->of, name, options, gen, error) : code;
}

/* The next ID. */
static int next_id(connection *it, firn_gen *gen, firn_id *id, firn_error *error) {
    int code = firn_next(gen, id, error);
    return code == FIRN_OK ? code : connection_failed(it, code, error);
}

/* snowflake(), snowflake(OPTIONS), snowflake(NODE) */
static void issue(sqlite3_context *context, int count, sqlite3_value **values) {
    scheme_function *it = sqlite3_user_data(context);
    firn_error *error = &it->of->call.error; /* on the stack it would be zeroed for each row */
    firn_gen *gen = NULL;
    firn_id id;
    bool allowed = false;
    int code =
        count == 0 ? plain_gen(it, &gen, error) : gen_of(it, &gen, values, 0, &allowed, error);
    if (code == FIRN_OK) {
        code = next_id(it->of, gen, &id, error);
    }
    code = code == FIRN_OK ? sign_check(it->as, it->scheme, &id, allowed, error) : code;
    if (code == FIRN_OK) {
        result_id(context, &id, it->scheme->form, it->as);
    } else {
        result_error(context, error);
    }
}

/* typeid(PREFIX [, OPTIONS]) */
static void issue_prefixed(sqlite3_context *context, int count, sqlite3_value **values) {
    scheme_function *it = sqlite3_user_data(context);
    char text[SQL_TEXT_SIZE];
    firn_gen *gen = NULL;
    firn_error error;
    firn_id id;
    bool allowed;
    sql_value prefix;
    int code = text_of(&prefix, values[0], 0, &error);
    if (code == FIRN_OK) {
        code = count == 1 ? plain_gen(it, &gen, &error)
                          : gen_of(it, &gen, values, 1, &allowed, &error);
    }
    code = code == FIRN_OK ? next_id(it->of, gen, &id, &error) : code;
    code = code == FIRN_OK ? sql_typeid(text, prefix.text, prefix.length, &id, &error) : code;
    if (code == FIRN_OK) {
        sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
    } else {
        result_error(context, &error);
    }
}

static int add_scheme_function(connection *of, const char *name, const firn_scheme *scheme, int as,
                               int arguments) {
    scheme_function *it = calloc(1, sizeof *it);
    if (it == NULL) {
        return SQLITE_NOMEM;
    }
    bool prefixed = scheme->form == FIRN_FORM_TYPEID && as != AS_BLOB;
    *it = (scheme_function){.of = of, .scheme = scheme, .as = as};
    of->uses++;
    int flags = SQLITE_UTF8 | (arguments > 0 ? SQLITE_DIRECTONLY : SQLITE_INNOCUOUS);
    return sqlite3_create_function_v2(of->db, name, arguments + prefixed, flags, it,
                                      prefixed ? issue_prefixed : issue, NULL, NULL, drop_function);
}

/* NAME is the scheme's with _ for -; schemes over 64 bits also have NAME_blob. */
static int add_scheme(connection *of, const firn_scheme *scheme, const char *called) {
    char name[FIRN_NAME_SIZE + 8];
    int code = SQLITE_OK;
    for (int wide = 0; wide <= (scheme->bits > 64); wide++) {
        snprintf(name, sizeof name, "%s%s", called, wide ? "_blob" : "");
        for (char *c = name; *c != '\0'; c++) {
            *c = *c == '-' ? '_' : *c;
        }
        for (int arguments = 0; arguments <= 1 && code == SQLITE_OK; arguments++) {
            code = add_scheme_function(of, name, scheme, wide ? AS_BLOB : AS_OWN, arguments);
        }
    }
    return code;
}

/* Can it be issued without a key or a name to hash? */
static bool is_issued(const firn_scheme *scheme) {
    return !scheme->read_only && !scheme->keyed && scheme_index(scheme, FIRN_ROLE_DIGEST) < 0;
}

static int add_schemes(connection *it) {
    const firn_scheme *scheme;
    int code = SQLITE_OK;
    for (size_t i = 0; (scheme = firn_scheme_at(i)) != NULL && code == SQLITE_OK; i++) {
        assert(i < SCHEMES_MOST);
        code = is_issued(scheme) ? add_scheme(it, scheme, scheme->name) : SQLITE_OK;
    }
    return code == SQLITE_OK ? add_scheme(it, firn_scheme_find("lable-sequential"), "lable") : code;
}

/* ---- any scheme ----------------------------------------------------------------------------- */

/* The optional last arguments of firn_new and firn_stamp, from i on: options and kind. */
static int rest_of(sql_value *options, char room[32], int *as, int i, int count,
                   sqlite3_value **values, firn_error *error) {
    *options = (sql_value){.text = ""};
    *as = AS_OWN;
    int code = count > i ? options_of(options, room, values, i, error) : FIRN_OK;
    return code == FIRN_OK && count > i + 1 ? as_of(as, values[i + 1], i + 1, error) : code;
}

/* An ID, a TypeID as text with the prefix of its options. */
static void put_issued(sqlite3_context *context, const firn_gen *gen, const firn_id *id, int as) {
    const int form = firn_gen_scheme(gen)->form;
    char text[FIRN_TEXT_SIZE];
    if (form == FIRN_FORM_TYPEID && (as == AS_OWN || as == AS_TEXT)) {
        firn_prefix_format(text, firn_gen_prefix(gen), id);
        sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
    } else {
        result_id(context, id, form, as);
    }
}

static void put_new(sqlite3_context *context, connection *it, sql_value scheme, sql_value options,
                    int as, firn_error *error) {
    firn_gen *gen = NULL;
    firn_id id;
    int code = connection_gen(it, scheme, options, &gen, error);
    code = code == FIRN_OK ? as_check(as, firn_gen_scheme(gen), error) : code;
    code = code == FIRN_OK ? next_id(it, gen, &id, error) : code;
    code = code == FIRN_OK
               ? sign_check(as, firn_gen_scheme(gen), &id, sql_unsigned(options.text), error)
               : code;
    if (code == FIRN_OK) {
        put_issued(context, gen, &id, as);
    } else {
        result_error(context, error);
    }
}

/* firn_new(SCHEME): only its name, because a schema may call this. */
static void new_plain(sqlite3_context *context, int count, sqlite3_value **values) {
    connection *it = sqlite3_user_data(context);
    firn_error error UNWIPED;
    sql_value scheme;
    int code = text_of(&scheme, values[0], 0, &error);
    (void)count;
    if (code == FIRN_OK && firn_scheme_find(scheme.text) == NULL) {
        code = sql_scheme(&it->schemes[0], scheme.text, scheme.length, &error);
        code = code == FIRN_OK
                   ? set_error(&error, FIRN_EUSAGE,
                               "'%.60s' is not only the name of a scheme, and this may be a call "
                               "of the schema: write firn_new(scheme, '') in a statement",
                               scheme.text)
                   : code;
    }
    if (code == FIRN_OK) {
        put_new(context, it, scheme, (sql_value){.text = ""}, AS_OWN, &error);
    } else {
        result_error(context, &error);
    }
}

/* firn_new(SCHEME, OPTIONS [, KIND]) */
static void new_id(sqlite3_context *context, int count, sqlite3_value **values) {
    connection *it = sqlite3_user_data(context);
    char room[32];
    sql_value scheme, options;
    firn_error error UNWIPED;
    int as;
    it->used = true;
    int code = text_of(&scheme, values[0], 0, &error);
    code = code == FIRN_OK ? rest_of(&options, room, &as, 1, count, values, &error) : code;
    if (code == FIRN_OK) {
        put_new(context, it, scheme, options, as, &error);
    } else {
        result_error(context, &error);
    }
}

/* firn_stamp(SCHEME, TIME [, OPTIONS [, KIND]]): the ID of the next old row. */
static void stamp(sqlite3_context *context, int count, sqlite3_value **values) {
    connection *it = sqlite3_user_data(context);
    it->used = true;
    char room[32];
    sql_value scheme, options;
    firn_job *job = NULL;
    firn_error error UNWIPED;
    firn_time time;
    firn_id id;
    int64_t shift_ns;
    int as;
    int code = text_of(&scheme, values[0], 0, &error);
    if (sqlite3_value_type(values[1]) == SQLITE_NULL) {
        code = set_error(&error, FIRN_EUSAGE,
                         "firn_stamp got NULL for the time: add WHERE ... IS NOT NULL");
    }
    code = code == FIRN_OK ? time_of(&time, values[1], 1, &error) : code;
    code = code == FIRN_OK ? rest_of(&options, room, &as, 2, count, values, &error) : code;
    code = code == FIRN_OK ? connection_job(it, scheme, options, &job, &error) : code;
    code = code == FIRN_OK ? as_check(as, firn_job_scheme(job), &error) : code;
    code = code == FIRN_OK ? firn_job_next(job, &time, &id, &shift_ns, &error) : code;
    code = code == FIRN_OK
               ? sign_check(as, firn_job_scheme(job), &id, sql_unsigned(options.text), &error)
               : code;
    if (code == FIRN_OK) {
        result_id(context, &id, firn_job_scheme(job)->form, as);
    } else {
        result_error(context, &error);
    }
}

/* firn_stamp_end(): ends the connection's jobs and returns their number. */
static void stamp_end(sqlite3_context *context, int count, sqlite3_value **values) {
    connection *it = sqlite3_user_data(context);
    (void)count;
    (void)values;
    sqlite3_result_int64(context, (sqlite3_int64)it->jobs.count);
    connection_close_jobs(it);
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

/* `place`: of the store or the node; NULL: unsafe. */
static int set(connection *it, char **place, const char *value, firn_error *error) {
    if (place == NULL && strcmp(value, "0") != 0 && strcmp(value, "1") != 0) {
        return set_error(error, FIRN_ERANGE, "unsafe='%.40s' is not valid: give 0 or 1", value);
    }
    if (place == &it->node && (strlen(value) >= SQL_TEXT_SIZE / 2 || strpbrk(value, " \t\n"))) {
        return set_error(error, FIRN_EUSAGE,
                         "'%.40s' is not a valid node: give a number or ordinal", value);
    }
    if (place != NULL) {
        return replace(place, value, error);
    }
    it->unsafe = value[0] == '1';
    return FIRN_OK;
}

/* firn_config(NAME [, VALUE]): returns the setting. A new value closes the generators and applies
 * to those opened later. */
static void config(sqlite3_context *context, int count, sqlite3_value **values) {
    connection *it = sqlite3_user_data(context);
    firn_error error;
    sql_value name;
    it->used = true;
    int code = text_of(&name, values[0], 0, &error);
    const char *wanted = code == FIRN_OK ? name.text : "";
    char **place = strcmp(wanted, "store") == 0  ? &it->store
                   : strcmp(wanted, "node") == 0 ? &it->node
                                                 : NULL;
    if (code == FIRN_OK && place == NULL && strcmp(wanted, "unsafe") != 0) {
        code = set_error(&error, FIRN_EUSAGE, "'%.40s' is not a setting: use store, node or unsafe",
                         wanted);
    }
    if (code == FIRN_OK && count == 2) {
        const char *value = (const char *)sqlite3_value_text(values[1]);
        code = set(it, place, value != NULL ? value : "", &error);
        connection_close_gens(it);
    }
    if (code != FIRN_OK) {
        result_error(context, &error);
        return;
    }
    sqlite3_result_text(context,
                        place != NULL ? *place
                        : it->unsafe  ? "1"
                                      : "0",
                        -1, SQLITE_TRANSIENT);
}

/* firn_notices(): one per line, or NULL. */
static void notices(sqlite3_context *context, int count, sqlite3_value **values) {
    connection *it = sqlite3_user_data(context);
    sqlite3_str *text = sqlite3_str_new(it->db);
    (void)count;
    (void)values;
    for (size_t i = 0; i < it->notice_count; i++) {
        sqlite3_str_appendf(text, "%s%s", i > 0 ? "\n" : "", it->notices[i]);
    }
    sqlite3_result_text(context, sqlite3_str_finish(text), -1, sqlite3_free);
}

static const function_row rows[] = {
#define SQLITE_ISSUE(name, flags, call, types, arguments) {#name, types, flags, call},
#include "../functions.def"
};

int add_generators(connection *it) {
    int code = add_schemes(it);
    return code == SQLITE_OK ? add_functions(it, rows, sizeof rows / sizeof rows[0]) : code;
}
