/* SPDX-License-Identifier: MIT */
/* The driver of MariaDB and MySQL: how records are read and written, on a connection that is kept
 * open. sql.c has the order of its statements.
 *
 * The records keep the identity of the server or cluster. The store has lost reservations if its
 * record has another one (losses is 1, and otherwise 0), and a namespace is in doubt if its record
 * has another one. The identity is never written back into the store's record, so that losses never
 * fall.
 *
 * A mark's seal is the identity, a blank and the layout of its namespace. A mark is sealed once it
 * is raised past the floor. */
#include "mysql.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEAL_SIZE (MARIA_IDENTITY_SIZE + FIRN_LAYOUT_SIZE)

/* ---- open ------------------------------------------------------------------------------------ */

/* libmariadb ignores authorities and revocations unless it verifies, and sends a client's
 * certificate only if the server happens to offer TLS. */
static int check_tls(const mysql_store *store, firn_error *error) {
    const bool verifies = store->tls != NULL && strcmp(store->tls, "verify") == 0;
    const bool requires = verifies || (store->tls != NULL && strcmp(store->tls, "require") == 0);
    int code = FIRN_OK;
    for (size_t i = 0; i < MARIA_TLS_FILES && code == FIRN_OK; i++) {
        const char *name = maria_tls_files[i];
        const bool own = name[0] == 'k' || strcmp(name, "cert") == 0; /* key, cert */
        code = module_needs(name, store->tls_files[i] != NULL,
                            own ? "tls=verify or tls=require" : "tls=verify",
                            own ? requires : verifies, error);
    }
    return code;
}

static int set_up(void *self, firn_error *error) {
    mysql_store *store = self;
    int code = module_param_name(&store->table, &store->link.url, "table", "firn", error);
    code = code == FIRN_OK ? module_param_tls(&store->tls, &store->link.url, error) : code;
    if (code == FIRN_OK) {
        code = module_param_file(&store->defaults, &store->link.url, "defaults-file", error);
    }
    store->path = module_param(&store->link.url, "socket");
    for (size_t i = 0; i < MARIA_TLS_FILES && code == FIRN_OK; i++) {
        code = module_param_file(&store->tls_files[i], &store->link.url, maria_tls_files[i], error);
    }
    code = code == FIRN_OK ? check_tls(store, error) : code;
    code = code == FIRN_OK ? maria_foreign_read_params(store, error) : code;
    return code != FIRN_OK || store->link.url.path != NULL || store->defaults != NULL
               ? code
               : module_fail(error, FIRN_EUSAGE,
                             "the store's URL names no database: write mysql://HOST/DATABASE");
}

static const module_engine engine = {
    .size = sizeof(mysql_store),
    .parameters = "table leaf tickets stub worker_node connect_timeout timeout tls ca cert "
                  "key crl socket defaults-file unsafe",
    .set_up = set_up,
    .ready = module_ready,
    .is_open = maria_is_open,
    .dial = maria_dial,
    .hang_up = maria_hang_up,
};

static int store_open(void **self, const char *url, const firn_store_options *options,
                      firn_error *error) {
    return module_open(self, &engine, url, options, error);
}

/* ---- read ------------------------------------------------------------------------------------ */

static void make_seal(const mysql_store *store, char seal[SEAL_SIZE], const char *layout) {
    snprintf(seal, SEAL_SIZE, "%s %s", store->identity, layout);
}

/* The driver's part of the records. */
enum { OWN_SEALED };

sql_state *sql_of(void *self) {
    return &((mysql_store *)self)->sql;
}

int sql_begin(void *self, firn_error *error) {
    sql_of(self)->inside = true;
    int code = maria_run(self, error, "START TRANSACTION");
    return code == FIRN_OK ? maria_run(self, error, lock_sql) : code;
}

int sql_roll_back(void *self, firn_error *error) {
    sql_of(self)->inside = false;
    int code = maria_run(self, error, rollback_sql);
    if (code != FIRN_OK) {
        maria_hang_up(self, false);
    }
    return code;
}

int sql_start(void *self, firn_error *error) {
    const sql_state *sql = sql_of(self);
    bool lost;
    return sql->last_high == 0 && sql->verb != FIRN_VERB_GIVE_BACK
               ? maria_check_table(self, &lost, error)
               : FIRN_OK; /* else the mark is checked */
}

static const char *or_empty(const char *text) {
    return text != NULL ? text : "";
}

/* The columns of read_sql. */
enum {
    READ_STORE,
    READ_ALL,
    READ_ALL_LAYOUT,
    READ_LAYOUT,
    READ_IDENTITY,
    READ_FLOOR,
    READ_HIGH,
    READ_GRANT,
    READ_SEAL,
    READ_COLUMNS
};

static void take_records(mysql_store *store, firn_records *seen, const MYSQL_ROW row) {
    char seal[SEAL_SIZE];
    snprintf(store->sql.layout, sizeof store->sql.layout, "%s", or_empty(row[READ_LAYOUT]));
    snprintf(store->sql.shut, sizeof store->sql.shut, "%s", or_empty(row[READ_ALL_LAYOUT]));
    make_seal(store, seal, store->sql.layout);
    seen->fresh = true;
    seen->known = strcmp(or_empty(row[READ_STORE]), "new") != 0;
    seen->losses = seen->known && strcmp(or_empty(row[READ_STORE]), store->identity) != 0;
    seen->all_new = strcmp(or_empty(row[READ_ALL]), store->identity) == 0;
    seen->shut = firn_layout_closed(store->sql.shut) ? store->sql.shut : NULL;
    seen->ns_known = row[READ_LAYOUT] != NULL;
    seen->layout = store->sql.layout;
    seen->ns_losses =
        seen->losses - (strcmp(or_empty(row[READ_IDENTITY]), store->identity) == 0 ? 0 : 1);
    seen->floor = sql_number(row[READ_FLOOR]);
    seen->key_known = row[READ_HIGH] != NULL;
    seen->mark.high = sql_number(row[READ_HIGH]);
    seen->mark.grant = strtoull(or_empty(row[READ_GRANT]), NULL, 10);
    seen->note = ""; /* no write needs it */
    seen->own[OWN_SEALED] = strcmp(or_empty(row[READ_SEAL]), seal) == 0;
}

static int store_read(void *self, firn_records *seen, bool surely, firn_error *error) {
    mysql_store *store = self;
    mysql_reply found;
    (void)surely; /* each read shows every earlier commit */
    int code = maria_read(store, &found, error, read_sql, seen->ns, seen->ns, seen->key);
    if (code == FIRN_WRITE_CHANGED) {
        /* A cluster can roll back the verb's transaction at any statement: the next write begins
         * another. */
        code = maria_read(store, &found, error, read_sql, seen->ns, seen->ns, seen->key);
    }
    const MYSQL_ROW row = code == FIRN_OK ? maria_next_row(&found, READ_COLUMNS) : NULL;
    if (row != NULL) {
        take_records(store, seen, row);
    } else if (code == FIRN_OK) {
        code = module_unreachable(error, where(store), "a read had no row");
    }
    maria_reply_free(&found);
    return code;
}

/* ---- write ----------------------------------------------------------------------------------- */

static void compose_raise(const mysql_store *store, mysql_statement *statement,
                          const firn_records *seen, const firn_records *next,
                          const firn_raise *raise, bool exactly) {
    char seal[SEAL_SIZE], note[FIRN_NOTE_SIZE];
    const int64_t compared = exactly || raise->grant != 0 ? raise->min : -1; /* by its grant, too */
    const uint64_t also = exactly ? raise->grant : 0;
    snprintf(note, sizeof note, "%s", next->note);
    make_seal(store, seal, next->layout);
    if (!seen->key_known) {
        maria_compose(store, statement, begin_sql, next->ns, next->key, raise->low, raise->count,
                      next->mark.grant, note, next->ns, next->layout, next->floor, store->identity);
    } else if (next->own[OWN_SEALED] != 0) {
        maria_compose(store, statement, again_sql, raise->low, raise->count, next->mark.grant, note,
                      next->ns, next->key, raise->min, raise->most, compared, also, raise->grant,
                      seal);
    } else {
        maria_compose(store, statement, raise_sql, raise->low, raise->count, next->mark.grant, note,
                      next->ns, next->key, raise->min, raise->most, compared, also, raise->grant,
                      next->ns, next->layout, next->floor, store->identity);
    }
}

/* The answer has the mark as it was computed. A trigger that this user may not see can store
 * another one; the answer is 0 then, or the mark differs. */
static int read_back(mysql_store *store, const firn_records *next, int64_t high,
                     firn_error *error) {
    firn_records now = {.ns = next->ns, .key = next->key};
    if (store->proved && high > 0) {
        return FIRN_OK;
    }
    int code = store_read(store, &now, true, error);
    code = module_replace_code(error, code, FIRN_ESTORE, FIRN_EUNKNOWN); /* to be sent again */
    store->proved = code == FIRN_OK && high > 0 && now.mark.high >= high;
    return code != FIRN_OK || store->proved
               ? code
               : module_fail(
                     error, FIRN_ESTORE,
                     "store %.48s does not store what firn writes to %.40s_mark: look for a "
                     "trigger (SHOW TRIGGERS), and drop it",
                     where(store), store->table);
}

/* Sends a write of a mark as the verb's own transaction (`points`), or as a part of it. */
static int send_mark(mysql_store *store, const mysql_statement *statement,
                     const module_points *points, uint64_t *id, firn_error *error) {
    mysql_reply done;
    int code = maria_ask(store, statement, points, &done, error);
    code = points == NULL ? module_replace_code(error, code, FIRN_EUNKNOWN, FIRN_ESTORE) : code;
    maria_reply_free(&done);
    *id = done.insert_id;
    return code == FIRN_OK && done.affected != 1 ? FIRN_WRITE_CHANGED : code;
}

int sql_raise(void *self, const firn_records *seen, firn_records *next, const firn_raise *raise,
              bool exactly, const module_points *points, firn_error *error) {
    mysql_store *store = self;
    mysql_statement statement;
    uint64_t high;
    compose_raise(store, &statement, seen, next, raise, exactly);
    int code = send_mark(store, &statement, points, &high, error);
    if (code == FIRN_OK) {
        next->mark.high = (int64_t)high;
        next->own[OWN_SEALED] = seen->key_known;
    }
    return code;
}

int sql_lower(void *self, const firn_records *seen, firn_records *next, const module_points *points,
              firn_error *error) {
    mysql_store *store = self;
    mysql_statement statement;
    uint64_t none;
    next->own[OWN_SEALED] = 0;
    maria_compose(store, &statement, give_back_sql, next->mark.high, next->ns, next->key,
                  seen->mark.high, seen->mark.grant, next->mark.high);
    return send_mark(store, &statement, points, &none, error);
}

int sql_commit(void *self, const module_points *points, firn_error *error) {
    mysql_statement statement;
    mysql_reply done;
    maria_compose(self, &statement, commit_sql);
    statement.ends = true;
    int code = maria_ask(self, &statement, points, &done, error);
    maria_reply_free(&done);
    return code;
}

/* The tables may have been loaded from a dump, perhaps just before the write. The mark does not show
 * that: others may have reserved since the dump. */
static int check_table(mysql_store *store, firn_error *error) {
    bool lost = false; /* nothing is checked so soon */
    int code = module_now_ms() - store->checked_ms < MARIA_CHECK_MS
                   ? FIRN_OK
                   : maria_check_table(store, &lost, error);
    if (code != FIRN_OK) {
        maria_hang_up(store, false); /* a new connection checks it, too */
    }
    return code == FIRN_OK && lost ? FIRN_WRITE_FOREIGN
                                   : module_replace_code(error, code, FIRN_ESTORE, FIRN_EUNKNOWN);
}

int sql_prove(void *self, const firn_records *next, firn_error *error) {
    int code = read_back(self, next, next->mark.high, error);
    return code == FIRN_OK ? check_table(self, error) : code;
}

int sql_write_store(void *self, firn_records *next, bool lost, firn_error *error) {
    mysql_store *store = self;
    next->own[OWN_SEALED] = 0;
    return lost ? maria_run(store, error, doubt_sql, MODULE_GONE_BACK)
                : maria_run(store, error, born_sql, store->identity);
}

int sql_write_namespace(void *self, const firn_records *seen, firn_records *next,
                        firn_error *error) {
    const mysql_store *store = self;
    const int64_t current = next->ns_losses == next->losses;
    const int64_t lowers = store->sql.verb == FIRN_VERB_RELABEL;
    mysql_reply done;
    next->own[OWN_SEALED] = 0;
    int code = seen->ns_known
                   ? maria_read(self, &done, error, name_sql, next->layout, current,
                                store->identity, lowers, next->floor, next->floor, next->ns)
                   : maria_read(self, &done, error, name_first_sql, next->ns, next->layout,
                                store->identity, next->floor);
    maria_reply_free(&done);
    return code == FIRN_OK && !seen->ns_known && done.affected == 0 ? FIRN_WRITE_CHANGED : code;
}

/* A cluster compares written rows. A change of a namespace writes the marks that it sees, so a
 * raise on another server conflicts with it; a new mark does only because its transaction locks the
 * store. */
static int store_add(void *self, const firn_records *seen, firn_records *next,
                     const firn_raise *raise, firn_error *error) {
    if (sql_of(self)->inside || seen->key_known || !maria_in_cluster(self)) {
        return sql_add(self, seen, next, raise, error);
    }
    int code = sql_begin_inside(self, error);
    return code == FIRN_OK ? FIRN_WRITE_CHANGED : code;
}

int sql_settle(void *self, firn_error *error) {
    const firn_records *names = sql_of(self)->names;
    mysql_reply done;
    int code = maria_read(self, &done, error, settle_sql, names->ns, names->key);
    maria_reply_free(&done);
    return code == FIRN_OK && done.affected != 1
               ? module_unknown(error, where(self), "its mark is gone")
               : code;
}

/* A change of layouts has written, and is durable with all that came before. */
static int store_confirm(void *self, firn_error *error) {
    return sql_of(self)->verb == FIRN_VERB_RELABEL ? FIRN_OK : sql_confirm(self, error);
}

static const char *store_source(void *self, const char *ns) {
    mysql_store *store = self;
    snprintf(store->source, sizeof store->source, "table %.48s", store->foreign);
    return maria_is_foreign(store, ns) ? store->source : NULL;
}

/* ---- list and now ---------------------------------------------------------------------------- */

static bool compose_page(const mysql_store *store, mysql_statement *statement,
                         const sql_listing *list) {
    const int64_t rows = SQL_PAGE_ROWS;
    if (store->shape == LEAF || store->shape == TICKETS ||
        (list->ns != NULL && maria_is_foreign(store, list->ns))) {
        return maria_foreign_page(store, statement, list->ns, list->last_ns, rows);
    }
    if (list->ns != NULL) {
        maria_compose(store, statement, list_one_sql, list->ns, list->last_key, rows);
    } else {
        maria_compose(store, statement, list_all_sql, list->last_ns, list->last_ns, list->last_key,
                      rows, list->last_ns, rows, rows);
    }
    return true;
}

int sql_page(void *self, sql_listing *list, firn_error *error) {
    mysql_statement statement;
    mysql_reply page;
    MYSQL_ROW row;
    if (!compose_page(self, &statement, list)) {
        return FIRN_OK;
    }
    int code = maria_ask(self, &statement, NULL, &page, error);
    code = module_replace_code(error, code, FIRN_EUNKNOWN, FIRN_ESTORE);
    while (code == FIRN_OK && (row = maria_next_row(&page, 7)) != NULL) {
        code = sql_show(list, (const char *const *)row);
    }
    maria_reply_free(&page);
    return code;
}

static int store_now(void *self, firn_time *now, firn_error *error) {
    mysql_store *store = self;
    mysql_reply reply = {.rows = NULL};
    int code = module_ready(store, error);
    if (code == FIRN_OK) {
        code = maria_read(store, &reply, error,
                          "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))");
    }
    if (code == FIRN_OK) {
        MYSQL_ROW row = maria_next_row(&reply, 1);
        code = row != NULL && row[0] != NULL
                   ? module_clock(now, sql_number(row[0]), where(store), error)
                   : module_unreachable(error, where(store), "its clock has no time");
    }
    maria_reply_free(&reply);
    return code;
}

const firn_driver firn_store_driver = {
    .version = FIRN_DRIVER_VERSION,
    .scheme = "mysql",
    .lasts = true,
    .open = store_open,
    .copied = sql_forget,
    .begin = sql_begin_verb,
    .read = store_read,
    .lost = sql_lost,
    .write = sql_write,
    .add = store_add,
    .confirm = store_confirm,
    .end = sql_end,
    .forget = sql_forget,
    .source = store_source,
    .take = maria_take,
    .where = module_where,
    .list = sql_list,
    .now = store_now,
    .caution = module_caution,
    .close = module_close,
};
