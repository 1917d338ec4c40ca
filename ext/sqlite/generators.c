/* SPDX-License-Identifier: MIT */
/* Functions that issue: one per scheme, firn_new for all, firn_stamp for back-dated IDs, and the
 * connection's settings. None is DETERMINISTIC. Live ones are INNOCUOUS, so that DEFAULT clauses
 * and triggers can use them whatever trusted_schema is; functions that take nodes permanently or
 * name files are DIRECTONLY, so that no schema can use them. */
#include "extension.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEMES_MOST = 64, PREFIX_MOST = 63 };

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
    line name = {it->scheme->name, strlen(it->scheme->name)};
    int code = connection_gen(it->of, name, (line){"", 0}, &it->plain, error);
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
static int options_of(line *options, char room[32], sqlite3_value *value, firn_error *error) {
    if (sqlite3_value_type(value) == SQLITE_INTEGER) {
        options->at = room;
        options->length = (size_t)snprintf(room, 32, "node=%lld", sqlite3_value_int64(value));
        return FIRN_OK;
    }
    return text_of(options, value, "the options", error);
}

static int gen_of(scheme_function *it, firn_gen **gen, sqlite3_value *value, firn_error *error) {
    char room[32];
    line options, name = {it->scheme->name, strlen(it->scheme->name)};
    int code = options_of(&options, room, value, error);
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
    firn_error *error = &it->of->error; /* on the stack it would be zeroed for each row */
    firn_gen *gen = NULL;
    firn_id id;
    int code = count == 0 ? plain_gen(it, &gen, error) : gen_of(it, &gen, values[0], error);
    if (code == FIRN_OK) {
        code = next_id(it->of, gen, &id, error);
    }
    if (code == FIRN_OK) {
        result_id(context, &id, it->scheme->form, it->as);
    } else {
        result_error(context, error);
    }
}

/* TypeID 0.3: at most 63 of a-z and _, a letter at both ends; no prefix, no _. */
static int check_prefix(line prefix, firn_error *error) {
    bool fits =
        prefix.length <= PREFIX_MOST &&
        strspn(prefix.at, "abcdefghijklmnopqrstuvwxyz_") == prefix.length &&
        (prefix.length == 0 || (prefix.at[0] != '_' && prefix.at[prefix.length - 1] != '_'));
    return fits
               ? FIRN_OK
               : set_error(
                     error, FIRN_EUSAGE,
                     "'%.70s' is not a valid prefix: use at most 63 of a-z and _, with a letter at "
                     "both ends",
                     prefix.at);
}

/* typeid(PREFIX [, OPTIONS]) */
static void issue_prefixed(sqlite3_context *context, int count, sqlite3_value **values) {
    scheme_function *it = sqlite3_user_data(context);
    char text[PREFIX_MOST + 2 + FIRN_TEXT_SIZE];
    firn_gen *gen = NULL;
    firn_error error;
    firn_id id;
    line prefix;
    int code = text_of(&prefix, values[0], "the prefix", &error);
    code = code == FIRN_OK ? check_prefix(prefix, &error) : code;
    if (code == FIRN_OK) {
        code = count == 1 ? plain_gen(it, &gen, &error) : gen_of(it, &gen, values[1], &error);
    }
    code = code == FIRN_OK ? next_id(it->of, gen, &id, &error) : code;
    if (code != FIRN_OK) {
        result_error(context, &error);
        return;
    }
    size_t length = prefix.length + (prefix.length > 0);
    snprintf(text, sizeof text, "%s%s", prefix.at, prefix.length > 0 ? "_" : "");
    firn_format(text + length, &id, FIRN_FORM_TYPEID);
    sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
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
    return sqlite3_create_function_v2(of->db, name, arguments + prefixed,
                                      SQLITE_UTF8 | SQLITE_INNOCUOUS, it,
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

/* The optional last arguments of firn_new and firn_stamp: options and kind. */
static int rest_of(line *options, char room[32], int *as, int count, sqlite3_value **values,
                   firn_error *error) {
    *options = (line){"", 0};
    *as = AS_OWN;
    int code = count > 0 ? options_of(options, room, values[0], error) : FIRN_OK;
    return code == FIRN_OK && count > 1 ? as_of(as, values[1], error) : code;
}

/* firn_new(SCHEME [, OPTIONS [, KIND]]) */
static void new_id(sqlite3_context *context, int count, sqlite3_value **values) {
    connection *it = sqlite3_user_data(context);
    char room[32];
    line scheme, options;
    firn_gen *gen = NULL;
    firn_error error UNWIPED;
    firn_id id;
    int as;
    int code = text_of(&scheme, values[0], "the scheme", &error);
    code = code == FIRN_OK ? rest_of(&options, room, &as, count - 1, values + 1, &error) : code;
    code = code == FIRN_OK ? connection_gen(it, scheme, options, &gen, &error) : code;
    code = code == FIRN_OK ? as_check(as, firn_gen_scheme(gen), &error) : code;
    code = code == FIRN_OK ? next_id(it, gen, &id, &error) : code;
    if (code == FIRN_OK) {
        result_id(context, &id, firn_gen_scheme(gen)->form, as);
    } else {
        result_error(context, &error);
    }
}

/* firn_stamp(SCHEME, TIME [, OPTIONS [, KIND]]): the ID of the next old row. */
static void stamp(sqlite3_context *context, int count, sqlite3_value **values) {
    connection *it = sqlite3_user_data(context);
    char room[32];
    line scheme, options;
    firn_job *job = NULL;
    firn_error error UNWIPED;
    firn_time time;
    firn_id id;
    int64_t shift_ns;
    int as;
    int code = text_of(&scheme, values[0], "the scheme", &error);
    if (sqlite3_value_type(values[1]) == SQLITE_NULL) {
        code = set_error(&error, FIRN_EUSAGE,
                         "firn_stamp got NULL for the time: add WHERE ... IS NOT NULL");
    }
    code = code == FIRN_OK ? time_of(&time, values[1], &error) : code;
    code = code == FIRN_OK ? rest_of(&options, room, &as, count - 2, values + 2, &error) : code;
    code = code == FIRN_OK ? connection_job(it, scheme, options, &job, &error) : code;
    code = code == FIRN_OK ? as_check(as, firn_job_scheme(job), &error) : code;
    code = code == FIRN_OK ? firn_job_next(job, &time, &id, &shift_ns, &error) : code;
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
    sqlite3_result_int64(context, (sqlite3_int64)it->job_count);
    connection_close_jobs(it);
}

/* ---- what is set for a connection ------------------------------------------------------------ */

typedef struct setting {
    const char *name;
    int (*set)(connection *it, const char *value, firn_error *error);
    const char *(*get)(const connection *it);
} setting;

static int replace(char **place, const char *value, firn_error *error) {
    char *copy = value[0] != '\0' ? strdup(value) : NULL;
    if (value[0] != '\0' && copy == NULL) {
        return set_error(error, FIRN_EMEMORY, "out of memory for a setting");
    }
    free(*place);
    *place = copy;
    return FIRN_OK;
}

static int set_store(connection *it, const char *value, firn_error *error) {
    return replace(&it->store, value, error);
}

static int set_node(connection *it, const char *value, firn_error *error) {
    if (strlen(value) >= SQL_TEXT_SIZE / 2 || strpbrk(value, " \t\n") != NULL) {
        return set_error(error, FIRN_EUSAGE,
                         "'%.40s' is not a valid node: give a number or ordinal", value);
    }
    return replace(&it->node, value, error);
}

static int set_unsafe(connection *it, const char *value, firn_error *error) {
    if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0) {
        return set_error(error, FIRN_ERANGE, "unsafe='%.40s' is not valid: give 0 or 1", value);
    }
    it->unsafe = value[0] == '1';
    return FIRN_OK;
}

static const char *get_store(const connection *it) {
    return it->store;
}

static const char *get_node(const connection *it) {
    return it->node;
}

static const char *get_unsafe(const connection *it) {
    return it->unsafe ? "1" : "0";
}

static const setting settings[] = {{"store", set_store, get_store},
                                   {"node", set_node, get_node},
                                   {"unsafe", set_unsafe, get_unsafe}};

static const setting *setting_of(sqlite3_value *value, firn_error *error) {
    line name;
    if (text_of(&name, value, "the setting", error) != FIRN_OK) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        if (strcmp(settings[i].name, name.at) == 0) {
            return &settings[i];
        }
    }
    set_error(error, FIRN_EUSAGE, "there is no setting '%.40s': store, node, unsafe", name.at);
    return NULL;
}

/* firn_config(NAME [, VALUE]): returns the setting. A new value closes the generators and applies
 * to those opened later. */
static void config(sqlite3_context *context, int count, sqlite3_value **values) {
    connection *it = sqlite3_user_data(context);
    firn_error error;
    const setting *s = setting_of(values[0], &error);
    int code = s != NULL ? FIRN_OK : error.code;
    if (code == FIRN_OK && count == 2) {
        const char *value = (const char *)sqlite3_value_text(values[1]);
        code = s->set(it, value != NULL ? value : "", &error);
        connection_close_gens(it);
    }
    if (code != FIRN_OK) {
        result_error(context, &error);
        return;
    }
    sqlite3_result_text(context, s->get(it), -1, SQLITE_TRANSIENT);
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
#define SQLITE_ISSUE(name, least, most, flags, call, arguments) {#name, least, most, flags, call},
#include "../functions.def"
};

int add_generators(connection *it) {
    int code = add_schemes(it);
    return code == SQLITE_OK ? add_functions(it, rows, sizeof rows / sizeof rows[0]) : code;
}
