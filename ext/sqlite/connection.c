/* SPDX-License-Identifier: MIT */
/* The state of a connection: generators, back-dating jobs, the store, notices. Decides which
 * options a call may have and which belong to the connection. */
#include "extension.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { KEYS_SIZE = 2 * SQL_TEXT_SIZE, SHIFT_MS = 1000, SHIFT_MOST = 86400000 };

static const char blanks[] = " \t\n";

/* ---- life ----------------------------------------------------------------------------------- */

sql_connection *connection_new(sqlite3 *db) {
    sql_connection *connection = calloc(1, sizeof *connection);
    if (connection != NULL) {
        connection->db = db;
        connection->uses = 1;
    }
    return connection;
}

/* Releases the list. IDs that are not given back expire. */
static void close_list(held_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        firn_close(list->all[i].gen, NULL);
        firn_job_close(list->all[i].job);
        firn_series_close(list->all[i].series, NULL);
        firn_store_close(list->all[i].store);
        free(list->all[i].scheme);
        free(list->all[i].options);
    }
    list->count = 0;
}

void connection_close_gens(sql_connection *connection) {
    connection->era++;
    close_list(&connection->gens);
    close_list(&connection->series);
}

void connection_close_jobs(sql_connection *connection) {
    close_list(&connection->jobs);
}

void connection_drop(void *context) {
    sql_connection *connection = context;
    if (--connection->uses > 0) {
        return;
    }
    connection_close_gens(connection);
    connection_close_jobs(connection);
    for (size_t i = 0; i < connection->notice_count; i++) {
        free(connection->notices[i]);
    }
    mask_list_free(&connection->masks);
    free(connection->masks_file);
    free(connection->store);
    free(connection->node);
    free(connection);
}

int add_functions(sql_connection *connection, const function_row *rows, size_t count) {
    int code = SQLITE_OK;
    for (size_t i = 0; i < count && code == SQLITE_OK; i++) {
        const int most = (int)strlen(rows[i].types);
        for (int n = sql_needed(rows[i].types); n <= most && code == SQLITE_OK; n++) {
            connection->uses++; /* SQLite releases it, also on failure */
            code = sqlite3_create_function_v2(connection->db, rows[i].name, n,
                                              SQLITE_UTF8 | rows[i].flags, connection, rows[i].call,
                                              NULL, NULL, connection_drop);
        }
    }
    return code;
}

/* A notice, for SQLite's log and firn_notices(). The oldest is dropped. */
static void notice(void *context, const char *text) {
    sql_connection *connection = context;
    char *copy = strdup(text);
    sqlite3_log(SQLITE_NOTICE, "firn: %s", text);
    if (copy == NULL) {
        return;
    }
    if (connection->notice_count == NOTICES_MOST) {
        free(connection->notices[0]);
        memmove(connection->notices, connection->notices + 1,
                sizeof connection->notices - sizeof connection->notices[0]);
        connection->notice_count--;
    }
    connection->notices[connection->notice_count++] = copy;
}

/* ---- the store ------------------------------------------------------------------------------ */

static const char *store_url(const sql_connection *connection) {
    const char *environment = secure_getenv("FIRN_STORE");
    if (connection->store != NULL) {
        return connection->store;
    }
    return environment != NULL && environment[0] != '\0' ? environment : NULL;
}

/* Does this database contain the tables of a firn store? */
static bool is_store(sqlite3 *db, const char *name) {
    sqlite3_stmt *statement = NULL;
    bool found = false;
    char *sql = sqlite3_mprintf("SELECT count(*) = 3 FROM \"%w\".sqlite_master WHERE type = 'table'"
                                " AND name IN ('meta', 'namespace', 'mark')",
                                name);
    if (sql != NULL && sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW) {
        found = sqlite3_column_int(statement, 0) == 1;
    }
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    return found;
}

/* The store must not be open in this connection. Its verbs use separate connections: they would
 * wait for this one's write lock, and in a program with its own SQLite, closing theirs would drop
 * this one's locks. */
static int check_apart(sql_connection *connection, firn_error *error) {
    sqlite3_stmt *statement = NULL;
    int code = FIRN_OK;
    sqlite3_prepare_v2(connection->db, "PRAGMA database_list", -1, &statement, NULL);
    while (code == FIRN_OK && statement != NULL && sqlite3_step(statement) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 1);
        if (name != NULL && is_store(connection->db, name)) {
            code = set_error(error, FIRN_ESTORE,
                             "this connection has a firn store open as '%.40s', and IDs cannot be "
                             "issued from inside it: keep the rows in another file, or "
                             "DETACH it",
                             name);
        }
    }
    sqlite3_finalize(statement);
    return code;
}

static int check_url(const sql_connection *connection, firn_error *error) {
    const char *url = store_url(connection);
    if (url != NULL && strncmp(url, "memory:", 7) == 0) {
        return set_error(error, FIRN_EUSAGE,
                         "the store %.40s is not shared, so two connections would "
                         "repeat IDs: name a file, sqlite:PATH",
                         url);
    }
    return FIRN_OK;
}

/* ---- schemes and options -------------------------------------------------------------------- */

/* The parsed arguments of a call. */
typedef struct wanted {
    firn_scheme scheme;
    char name[SQL_TEXT_SIZE]; /* or a layout */
    char keys[KEYS_SIZE];
    bool reserved; /* the scheme reserves slots in a store */
} wanted;

/* Do the options contain one of these names (separated by blanks)? */
static bool has_any(const char *options, const char *names) {
    char copy[FIRN_NAME_SIZE], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", names != NULL ? names : "");
    for (char *name = strtok_r(copy, blanks, &rest); name != NULL;
         name = strtok_r(NULL, blanks, &rest)) {
        if (sql_has(options, name)) {
            return true;
        }
    }
    return false;
}

static int add_keys(wanted *w, const char *keys, const char *value, firn_error *error) {
    size_t position = strlen(w->keys), room = sizeof w->keys - position;
    int length = snprintf(w->keys + position, room, "%s%s%s", position > 0 ? " " : "", keys, value);
    return length >= 0 && (size_t)length < room
               ? FIRN_OK
               : set_error(error, FIRN_EUSAGE,
                           "scheme and options are too long: at most %d "
                           "characters each",
                           SQL_TEXT_SIZE - 1);
}

/* Schemas contain options, and a schema may come from a stranger: only the program decides where
 * marks are kept, and whether they may be lost. */
static int check_options(const char *options, firn_error *error) {
    static const char *const kept[] = {"store", "unsafe"};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        if (sql_has(options, kept[i])) {
            return set_error(error, FIRN_EUSAGE,
                             "%s is set for a connection, not in a call: SELECT "
                             "firn_config('%s', ...)",
                             kept[i], kept[i]);
        }
    }
    return FIRN_OK;
}

static int split(wanted *w, sql_value scheme, firn_error *error) {
    char keys[SQL_TEXT_SIZE];
    int code = sql_split(&w->scheme, w->name, keys, scheme.text, scheme.length, error);
    w->keys[0] = '\0';
    return code == FIRN_OK && keys[0] != '\0' ? add_keys(w, keys, "", error) : code;
}

/* Scheme and options as the library expects them. `live`: for a generator. */
static int want(const sql_connection *connection, wanted *w, sql_value scheme, sql_value options,
                bool live, firn_error *error) {
    char own[SQL_TEXT_SIZE]; /* arguments may be longer */
    int code = sql_copy(own, "the options", options.text, options.length, error);
    code = code == FIRN_OK ? check_options(own, error) : code;
    code = code == FIRN_OK ? split(w, scheme, error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    bool always = w->scheme.node_rule == FIRN_NODE_REQUIRED;
    w->reserved = always || sql_has(own, "node") || has_any(own, w->scheme.node_fields);
    if (live && always) { /* a statement waits for the next tick instead of failing */
        code = add_keys(w, "full=wait", "", error);
    }
    if (code == FIRN_OK && live && w->reserved && connection->unsafe) {
        code = add_keys(w, "unsafe=1", "", error);
    }
    if (code == FIRN_OK && live && always && connection->node != NULL &&
        !sql_has_node(own, &w->scheme)) {
        code = add_keys(w, "node=", connection->node, error);
    }
    return code == FIRN_OK ? add_keys(w, own, "", error) : code;
}

/* ---- generators and jobs -------------------------------------------------------------------- */

static bool is_text(const char *known, sql_value text) {
    return strlen(known) == text.length && memcmp(known, text.text, text.length) == 0;
}

typedef int opener(sql_connection *connection, held *h, sql_value scheme, sql_value options,
                   firn_error *error);

/* The one of scheme and options, opened on first use. NULL: see *error. */
static const held *hold(sql_connection *connection, held_list *list, sql_value scheme,
                        sql_value options, opener *open, firn_error *error) {
    for (size_t i = 0; i < list->count; i++) {
        held *h = &list->all[i];
        if (is_text(h->scheme, scheme) && is_text(h->options, options)) {
            return h;
        }
    }
    if (list->count == HELD_MOST) {
        set_error(error, FIRN_EUSAGE,
                  "this connection has %d %s of other schemes or options already: use fewer "
                  "different options",
                  HELD_MOST,
                  list == &connection->gens   ? "generators"
                  : list == &connection->jobs ? "jobs"
                                              : "series");
        return NULL;
    }
    held h = {.scheme = strndup(scheme.text, scheme.length),
              .options = strndup(options.text, options.length)};
    if (h.scheme == NULL || h.options == NULL) {
        out_of_memory(error);
    } else if (open(connection, &h, scheme, options, error) == FIRN_OK) {
        list->all[list->count] = h;
        return &list->all[list->count++];
    }
    free(h.scheme);
    free(h.options);
    return NULL;
}

static bool in_name(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* Does the statement call a function whose name begins so? */
static bool calls(const char *statement, const char *begin, size_t length) {
    for (const char *position = statement; *position != '\0'; position++) {
        const char *end = position;
        if (strncasecmp(position, begin, length) != 0 ||
            (position > statement && in_name(position[-1]))) {
            continue;
        }
        for (; in_name(*end); end++) {
        }
        if (end[strspn(end, " \t\n")] == '(') {
            return true;
        }
    }
    return false;
}

/* Does a statement that runs name the scheme's function, or firn_new? */
static bool is_asked(const sql_connection *connection, sql_value scheme) {
    const size_t length = strcspn(scheme.text, "-");
    for (sqlite3_stmt *stmt = NULL; (stmt = sqlite3_next_stmt(connection->db, stmt)) != NULL;) {
        const char *statement = sqlite3_stmt_busy(stmt) ? sqlite3_sql(stmt) : NULL;
        if (statement != NULL && (calls(statement, scheme.text, length) ||
                                  calls(statement, "firn_new", strlen("firn_new")))) {
            return true;
        }
    }
    return false;
}

/* Under trusted_schema = OFF, which the shell of Debian 13 begins with, a view or trigger of a
 * stranger must not create a store and take nodes in a program that never issues IDs. */
static int check_schema(const sql_connection *connection, sql_value scheme, firn_error *error) {
    int trusted = 1;
    if (!connection->used) {
        sqlite3_db_config(connection->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, -1, &trusted);
    }
    return trusted != 0 || is_asked(connection, scheme)
               ? FIRN_OK
               : set_error(error, FIRN_EUSAGE,
                           "trusted_schema is OFF and this may be a call of the schema, "
                           "which is not the first to use a store: run SELECT "
                           "firn_config('store') once in this connection");
}

static int check_store(sql_connection *connection, sql_value scheme, firn_error *error) {
    int code = check_schema(connection, scheme, error);
    code = code == FIRN_OK ? check_url(connection, error) : code;
    return code == FIRN_OK ? check_apart(connection, error) : code;
}

static int open_gen(sql_connection *connection, held *h, sql_value scheme, sql_value options,
                    firn_error *error) {
    wanted w;
    int code = want(connection, &w, scheme, options, true, error);
    code = code == FIRN_OK && w.reserved ? check_store(connection, scheme, error) : code;
    firn_config config = {.size = sizeof config,
                          .scheme = w.name,
                          .keys = w.keys,
                          .store_url = store_url(connection),
                          .notice = notice,
                          .notice_self = connection};
    return code == FIRN_OK ? firn_open_with(&h->gen, &config, error) : code;
}

int connection_gen(sql_connection *connection, sql_value scheme, sql_value options, firn_gen **gen,
                   firn_error *error) {
    const held *h = hold(connection, &connection->gens, scheme, options, open_gen, error);
    *gen = h != NULL ? h->gen : NULL;
    return h != NULL ? FIRN_OK : error->code;
}

int connection_failed(sql_connection *connection, int code, firn_error *error) {
    firn_error apart;
    bool store = code == FIRN_ESTORE || code == FIRN_EWINDOW || code == FIRN_EBUSY;
    if (store && check_apart(connection, &apart) != FIRN_OK) {
        *error = apart;
    }
    return code;
}

/* ---- series --------------------------------------------------------------------------------- */

/* A statement that runs must name firn_number, as for a generator. */
static int open_series(sql_connection *connection, held *h, sql_value name, sql_value keys,
                       firn_error *error) {
    const firn_store_options options = {
        .unsafe = connection->unsafe, .notice = notice, .notice_self = connection};
    char own[SQL_TEXT_SIZE], definition[SQL_TEXT_SIZE];
    int code = sql_copy(own, "the name of the series", name.text, name.length, error);
    code = code == FIRN_OK ? sql_copy(definition, "the definition", keys.text, keys.length, error)
                           : code;
    code = code == FIRN_OK
               ? check_store(connection, (sql_value){.text = "firn_number", .length = 11}, error)
               : code;
    code =
        code == FIRN_OK ? firn_store_open(&h->store, store_url(connection), &options, error) : code;
    if (code == FIRN_OK) {
        code = firn_series_open(&h->series, own, definition, h->store, NULL, error);
        if (code != FIRN_OK) {
            firn_store_close(h->store);
        }
    }
    return code;
}

int connection_series(sql_connection *connection, sql_value name, sql_value keys,
                      firn_series **series, firn_error *error) {
    const held *h = hold(connection, &connection->series, name, keys, open_series, error);
    *series = h != NULL ? h->series : NULL;
    return h != NULL ? FIRN_OK : error->code;
}

/* ---- jobs ----------------------------------------------------------------------------------- */

/* Options of a job that are not keys. */
typedef struct job_words {
    char name[64], seed[128], again[8];
    int64_t shift_ms;
    uint64_t digest;
    bool named;
} job_words;

/* Moves them out of the options; a store knows a job again by the rest, letter by letter. A job
 * without a name gets a random name and seed, so that nothing repeats it. */
static int take_words(job_words *words, char options[SQL_TEXT_SIZE], firn_error *error) {
    int code = sql_take(options, "job", words->name, sizeof words->name, error);
    code =
        code == FIRN_OK ? sql_take(options, "seed", words->seed, sizeof words->seed, error) : code;
    code = code == FIRN_OK ? sql_take(options, "again", words->again, sizeof words->again, error)
                           : code;
    code = code == FIRN_OK
               ? sql_take_duration(options, "max_shift", &words->shift_ms, SHIFT_MOST, error)
               : code;
    words->named = words->name[0] != '\0';
    if (code == FIRN_OK && words->again[0] != '\0' && strcmp(words->again, "1") != 0) {
        code = set_error(error, FIRN_EUSAGE, "again=%s is not valid: give again=1, or leave it out",
                         words->again);
    }
    if (code != FIRN_OK || words->named) {
        return code;
    }
    if (words->seed[0] != '\0') { /* a second job could use it */
        return set_error(error, FIRN_EUSAGE,
                         "seed= without job= would make the same random fields each time: add "
                         "job=NAME, or leave the seed out");
    }
    code = sql_draw(&words->digest, words->seed, error);
    snprintf(words->name, sizeof words->name, "sqlite %016" PRIx64, words->digest);
    return code;
}

/* Starting a named job again repeats its IDs from the first one: right if they were rolled back,
 * wrong otherwise. */
static int check_again(firn_job *job, const job_words *words, firn_error *error) {
    if (words->named && words->again[0] == '\0' && firn_job_again(job)) {
        return set_error(error, FIRN_ETAKEN,
                         "job %.63s was begun before: give another name, or again=1 if nothing "
                         "of it was kept and the rows come in the same order",
                         words->name);
    }
    return FIRN_OK;
}

/* The scheme's changes, then the options that are keys. */
static int open_job(sql_connection *connection, held *h, sql_value scheme, sql_value options,
                    firn_error *error) {
    firn_store_options store_options = {.unsafe = connection->unsafe};
    job_words words = {.shift_ms = SHIFT_MS};
    char own[SQL_TEXT_SIZE];
    wanted w;
    int code = sql_copy(own, "the options", options.text, options.length, error);
    code = code == FIRN_OK ? take_words(&words, own, error) : code;
    code = code == FIRN_OK ? want(connection, &w, scheme,
                                  (sql_value){.text = own, .length = strlen(own)}, false, error)
                           : code;
    if (code != FIRN_OK) {
        return code;
    }
    firn_job_config config = {.size = sizeof config,
                              .scheme = w.name,
                              .keys = w.keys,
                              .seed = words.seed,
                              .name = words.name,
                              .digest = words.digest,
                              .shift_ms = words.shift_ms,
                              .notice = notice,
                              .notice_self = connection};
    if (w.reserved || words.named) {
        code = check_store(connection, scheme, error);
        code = code == FIRN_OK
                   ? firn_store_open(&config.store, store_url(connection), &store_options, error)
                   : code;
    }
    code = code == FIRN_OK ? firn_job_open(&h->job, &config, error) : code;
    firn_store_close(config.store);
    if (code == FIRN_OK) {
        code = check_again(h->job, &words, error);
        if (code != FIRN_OK) {
            firn_job_close(h->job);
        }
    }
    return code;
}

int connection_job(sql_connection *connection, sql_value scheme, sql_value options, firn_job **job,
                   firn_error *error) {
    const held *h = hold(connection, &connection->jobs, scheme, options, open_job, error);
    *job = h != NULL ? h->job : NULL;
    return h != NULL ? FIRN_OK : error->code;
}
