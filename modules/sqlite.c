/* SPDX-License-Identifier: MIT */
/* The embedded store: its URL and the verbs on one SQLite file. */
#include "sqlite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OLDEST_SQLITE 3037000 /* the first with STRICT tables */
#define BUSY_MS       5000    /* how long a verb waits for other processes; default of max_wait */

static const char mark_sql[] =
    "SELECT high, mark.\"grant\", note FROM mark WHERE ns = ?1 AND key = ?2";

/* Over the mark ?6 with the grant ?7, or where there is no mark. No row comes back from another
 * one. */
static const char write_sql[] =
    "INSERT INTO mark(ns, key, high, \"grant\", note) VALUES(?1, ?2, ?3, ?4, ?5)"
    " ON CONFLICT(ns, key) DO UPDATE SET high = ?3, \"grant\" = ?4, note = ?5"
    " WHERE high = ?6 AND \"grant\" = ?7 RETURNING high";

/* The layout's column is called row before schema 3, and schema 1 has no floor. */
static const char list_sql[] =
    "SELECT n.name, n.%s, ifnull(m.key, ''), ifnull(m.note, ''), ifnull(m.high, 0),"
    " ifnull(m.\"grant\", 0), %s FROM namespace n LEFT JOIN mark m ON m.ns = n.name"
    " WHERE ?1 IS NULL OR m.ns = ?1 ORDER BY n.name, m.key";

/* A handle, and its verb in progress. */
typedef struct driven {
    sqlite_store store; /* first */
    char where[64];
    sqlite_session s;
    sqlite3_stmt *mark, *write;
    record namespace;
    char shut[FIRN_LAYOUT_SIZE], note[FIRN_NOTE_SIZE];
    bool synced; /* the folders of the path */
} driven;

/* ---- open ------------------------------------------------------------------------------------ */

/* The parameters after the path: sqlite:PATH?busy=500ms&create=no&unsafe=1 */
static int parse_keys(sqlite_store *store, char *keys, firn_error *error) {
    char *rest = keys;
    for (char *key; (key = strtok_r(rest, "&", &rest)) != NULL;) {
        char digits[2], end;
        int code = FIRN_OK;
        if (strncmp(key, "busy=", strlen("busy=")) == 0) {
            code = firn__duration_set(&store->busy_ms,
                                      "in the store's URL, busy=", key + strlen("busy="), "ms", 0,
                                      600000, error);
        } else if (sscanf(key, "unsafe=%1[01]%c", digits, &end) == 1) {
            store->unsafe |= *digits == '1';
        } else if (strcmp(key, "create=yes") == 0 || strcmp(key, "create=no") == 0) {
            store->create = store->folders = key[strlen("create=")] == 'y';
        } else if (strncmp(key, "unsafe=", strlen("unsafe=")) == 0 ||
                   strncmp(key, "create=", strlen("create=")) == 0) {
            code = module_fail(error, FIRN_EUSAGE,
                               "the store's URL has %.40s: use create=yes|no or unsafe=0|1", key);
        } else {
            const char *name = strsep(&key, "=");
            code = module_param_unknown(name, key != NULL ? key : "",
                                        "busy=DURATION, create=yes|no, unsafe=0|1", error);
        }
        if (code != FIRN_OK) {
            return code;
        }
    }
    return FIRN_OK;
}

static void sqlite_close(void *self) {
    sqlite_store *store = self;
    sqlite_tidy(store);
    free(store->vfs);
    free(store);
}

static int set_up(sqlite_store *store, const char *url, firn_error *error) {
    char path[2 * PATH_MAX], *keys;
    int code = FIRN_OK;
    snprintf(path, sizeof path, "%s", strncmp(url, "sqlite:", 7) == 0 ? url + 7 : url);
    if ((keys = strrchr(path, '?')) != NULL) {
        *keys++ = '\0';
        code = parse_keys(store, keys, error);
    }
    code = code == FIRN_OK ? sqlite_settle_path(store, path, error) : code;
    code = code == FIRN_OK ? sqlite_find_or_make(store, error) : code;
    return code == FIRN_OK ? sqlite_settle_file(store, error) : code;
}

static int sqlite_open(void **self, const char *url, const firn_store_options *options,
                       firn_error *error) {
    static const firn_store_options none;
    driven *d;
    sqlite_store *store;
    int code = sqlite_guard(error);
    if (code == FIRN_OK && sqlite3_libversion_number() < OLDEST_SQLITE) {
        code = module_fail(error, FIRN_ESYSTEM, "SQLite is %s: use 3.37 or newer",
                           sqlite3_libversion());
    }
    if (code == FIRN_OK && !sqlite_turns_begin()) {
        code = module_no_memory(error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    options = options != NULL ? options : &none;
    d = calloc(1, sizeof *d);
    store = d != NULL ? &d->store : NULL;
    if (store == NULL || (options->vfs != NULL && (store->vfs = strdup(options->vfs)) == NULL)) {
        free(store);
        return module_no_memory(error);
    }
    store->options = *options;
    store->busy_ms = options->wait_ms > 0 ? options->wait_ms : BUSY_MS;
    store->unsafe = options->unsafe;
    store->create = !options->must_exist;
    code = set_up(store, url, error);
    if (code != FIRN_OK) {
        sqlite_close(store);
        return code;
    }
    snprintf(d->where, sizeof d->where, "store %.40s", sqlite_tail(store->path));
    *self = store;
    return FIRN_OK;
}

/* ---- one verb -------------------------------------------------------------------------------- */

static int read_mark(driven *d, firn_records *seen) {
    int result = sqlite3_step(d->mark);
    seen->key_known = result == SQLITE_ROW;
    seen->mark = (firn_mark){0, 0};
    d->note[0] = '\0';
    if (seen->key_known) {
        const char *note = (const char *)sqlite3_column_text(d->mark, 2);
        seen->mark.high = sqlite3_column_int64(d->mark, 0);
        seen->mark.grant = (uint64_t)sqlite3_column_int64(d->mark, 1);
        snprintf(d->note, sizeof d->note, "%s", note != NULL ? note : "");
    }
    seen->note = d->note;
    sqlite3_reset(d->mark);
    return result == SQLITE_DONE || result == SQLITE_ROW ? FIRN_OK : sqlite_explain(&d->s, result);
}

static int keep_verdict(void *context, int columns, char **texts, char **names) {
    (void)columns;
    (void)names;
    snprintf(context, 48, "%s", texts[0] != NULL ? texts[0] : "");
    return 0;
}

/* Before this handle creates its first key: a file that lost a page, or its end, has lost marks. */
static int check_whole(sqlite_session *session) {
    char verdict[48] = "";
    if (session->store->checked) {
        return FIRN_OK;
    }
    int result = sqlite3_exec(session->db, "PRAGMA quick_check(1)", keep_verdict, verdict, NULL);
    if (result != SQLITE_OK) {
        return sqlite_explain(session, result);
    }
    if (strcmp(verdict, "ok") != 0) {
        return module_fail(session->error, FIRN_ESTORE,
                           "store %s is damaged (%s): its marks are lost: use a new path and nodes"
                           " never used, or wait",
                           sqlite_tail(session->store->path), verdict);
    }
    session->store->checked = true;
    return FIRN_OK;
}

/* Reads the pages that the first use of a key or namespace needs, before the transaction that
 * others wait for. */
static int look_ahead(driven *d, const firn_records *names) {
    firn_records seen;
    int code = FIRN_OK;
    if (!d->store.checked) {
        code = read_mark(d, &seen);
        if (code == FIRN_OK && !seen.key_known) {
            code = check_whole(&d->s);
        }
    }
    if (code == FIRN_OK && !names->used_before) {
        sqlite3_stmt *found = NULL;
        int result = sqlite_prepare(&d->s, &found, "SELECT 1 FROM namespace WHERE name = ?1", "t",
                                    names->ns);
        if (result == SQLITE_OK) {
            result = sqlite3_step(found);
        }
        sqlite3_finalize(found);
        if (result == SQLITE_DONE) {
            code = sqlite_sync_folders(&d->s);
            d->synced = code == FIRN_OK;
        } else if (result != SQLITE_ROW) {
            code = sqlite_explain(&d->s, result);
        }
    }
    return code;
}

static int sqlite_end(void *self, int code) {
    driven *d = self;
    if (sqlite_mine()) {
        sqlite3_finalize(d->mark);
        sqlite3_finalize(d->write);
    }
    return sqlite_finish(&d->s, code);
}

static int sqlite_prologue(void *self, const firn_records *names, firn_verb verb,
                           firn_error *error) {
    driven *d = self;
    int code = sqlite_start(&d->s, &d->store, false, error);
    d->mark = d->write = NULL;
    d->synced = false;
    if (code != FIRN_OK) {
        return code;
    }
    int result = verb == FIRN_VERB_RELABEL
                     ? SQLITE_OK
                     : sqlite_prepare(&d->s, &d->write, write_sql, "tt", names->ns, names->key);
    if (result == SQLITE_OK) {
        result = sqlite_prepare(&d->s, &d->mark, mark_sql, "tt", names->ns, names->key);
    }
    code = result == SQLITE_OK ? FIRN_OK : sqlite_explain(&d->s, result);
    if (code == FIRN_OK && verb == FIRN_VERB_RESERVE) {
        code = look_ahead(d, names);
    }
    return code == FIRN_OK ? code : sqlite_end(d, code);
}

/* In the verb's transaction, which begins here. */
static int sqlite_read(void *self, firn_records *seen, bool surely, firn_error *error) {
    driven *d = self;
    int code = sqlite3_get_autocommit(d->s.db) ? sqlite_begin(&d->s) : FIRN_OK;
    (void)surely;
    (void)error; /* the verb's */
    code = code == FIRN_OK ? sqlite_read_record(&d->s, &d->namespace, seen->ns) : code;
    code = code == FIRN_OK ? read_mark(d, seen) : code;
    if (code == FIRN_OK && !d->namespace.known) {
        code = sqlite_read_all_names(&d->s, &seen->all_new, d->shut);
        seen->shut = d->shut[0] != '\0' ? d->shut : NULL;
    }
    seen->fresh = seen->known = true;
    seen->origin = (uint64_t)d->s.identity;
    seen->losses = d->s.history;
    seen->ns_known = d->namespace.known;
    seen->layout = d->namespace.layout;
    seen->ns_losses = d->namespace.history;
    seen->floor = d->namespace.floor;
    return code;
}

static bool sqlite_lost(void *self, const firn_records *seen) {
    (void)seen;
    return ((const driven *)self)->s.behind;
}

static int write_namespace(driven *d, const firn_records *seen, const firn_records *next,
                           firn_verb verb) {
    const bool makes = !seen->ns_known, reserves = verb == FIRN_VERB_RESERVE;
    int code =
        makes && reserves ? sqlite_point(&d->store, "namespace.before", d->s.error) : FIRN_OK;
    if (code == FIRN_OK && makes && !d->synced) {
        code = sqlite_sync_folders(&d->s);
    }
    if (code == FIRN_OK && !reserves) {
        code = sqlite_point(&d->store, firn__module_points[FIRN_VERB_RELABEL].before, d->s.error);
    }
    if (code == FIRN_OK) {
        code = sqlite_write_record(&d->s, next->ns, next->layout, next->ns_losses, next->floor);
    }
    return code == FIRN_OK && makes && reserves
               ? sqlite_point(&d->store, "namespace.written", d->s.error)
               : code;
}

/* In the transaction: does the file have the mark that was just written? */
static int read_back(driven *d, const firn_mark *written) {
    firn_records now;
    int code = read_mark(d, &now);
    if (code != FIRN_OK || (now.mark.high == written->high && now.mark.grant == written->grant)) {
        return code;
    }
    return module_fail(d->s.error, FIRN_ESTORE,
                       "store %s has mark %" PRId64 " where %" PRId64
                       " was written: use a new path and nodes never used",
                       sqlite_tail(d->store.path), now.mark.high, written->high);
}

/* The row of the written mark comes before the commit; only the next step completes the write. */
static int write_mark(driven *d, const firn_records *seen, const firn_records *next) {
    sqlite3_bind_int64(d->write, 3, next->mark.high);
    sqlite3_bind_int64(d->write, 4, (int64_t)next->mark.grant);
    int result = sqlite3_bind_text(d->write, 5, next->note, -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(d->write, 6, seen->mark.high);
    sqlite3_bind_int64(d->write, 7, (int64_t)seen->mark.grant);
    result = result == SQLITE_OK ? sqlite3_step(d->write) : result;
    bool written = result == SQLITE_ROW;
    if (written) {
        result = sqlite3_step(d->write);
    }
    int code = result == SQLITE_DONE ? FIRN_OK : sqlite_explain(&d->s, result);
    if (code == FIRN_OK && !written) {
        code = sqlite_explain(&d->s, SQLITE_CORRUPT); /* its index does not match its content */
    }
    return code == FIRN_OK ? read_back(d, &next->mark) : code;
}

/* The store's loss gets its number here, and it is the namespace's if that is sound from now on. */
static int write_loss(driven *d, const firn_records *seen, firn_records *next) {
    const bool sound = next->ns_losses == next->losses;
    int code = next->losses > seen->losses ? sqlite_went_back(&d->s) : FIRN_OK;
    next->losses = d->s.history;
    next->ns_losses = sound ? d->s.history : next->ns_losses;
    return code;
}

static int sqlite_write(void *self, const firn_records *seen, firn_records *next, int which,
                        firn_verb verb, firn_error *error) {
    static const module_points points[] = {
        {"reserve.before", "reserve.written", "reserve.committed"},
        {"give_back.before", "give_back.written", "give_back.committed"},
        {NULL, "relabel.sent", "relabel.committed"}};
    driven *d = self;
    (void)error; /* the verb's */
    int code = write_loss(d, seen, next);
    if (code == FIRN_OK && (which & FIRN_RECORD_NS) != 0) {
        code = write_namespace(d, seen, next, verb);
    }
    if (code == FIRN_OK && (which & FIRN_RECORD_KEY) != 0 && !seen->key_known) {
        code = check_whole(&d->s);
    }
    code = code == FIRN_OK ? sqlite_point(&d->store, points[verb].before, d->s.error) : code;
    if (code == FIRN_OK && (which & FIRN_RECORD_KEY) != 0) {
        code = write_mark(d, seen, next);
    }
    return code == FIRN_OK ? sqlite_commit(&d->s, points[verb].request_sent, points[verb].committed)
                           : code;
}

/* The data that this transaction read can be lost: the sync of somebody's commit may have
 * failed. */
static int sqlite_confirm(void *self, firn_error *error) {
    driven *d = self;
    int result = sqlite_settle(&d->s);
    (void)error; /* the verb's */
    return result == SQLITE_OK ? FIRN_OK : sqlite_unknown(&d->s, result);
}

static const char *sqlite_where(void *self) {
    return ((const driven *)self)->where;
}

/* ---- list ------------------------------------------------------------------------------------ */

static int visit_rows(const sqlite_session *session, sqlite3_stmt *statement, firn_visit *visit,
                      void *context) {
    int result, code = FIRN_OK;
    while (code == FIRN_OK && (result = sqlite3_step(statement)) != SQLITE_DONE) {
        const char *text[4];
        if (result != SQLITE_ROW) {
            return sqlite_explain(session, result);
        }
        for (int i = 0; i < 4; i++) {
            text[i] = (const char *)sqlite3_column_text(statement, i);
            if (text[i] == NULL) {
                return sqlite_explain(session, SQLITE_NOMEM);
            }
        }
        firn_holding holding = {
            text[0],
            text[1],
            text[2],
            text[3],
            {sqlite3_column_int64(statement, 4), (uint64_t)sqlite3_column_int64(statement, 5)},
            sqlite3_column_int64(statement, 6)};
        code = visit(context, &holding);
        if (!sqlite_mine()) {
            return sqlite_forked(session->error);
        }
    }
    return code;
}

static int sqlite_list(void *self, const char *ns, firn_visit *visit, void *context,
                       firn_error *error) {
    sqlite_session session;
    sqlite3_stmt *statement = NULL;
    int64_t version;
    char sql[sizeof list_sql + 16];
    int result, code = sqlite_start(&session, self, true, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = sqlite_begin_to_read(&session, &version);
    if (code == FIRN_OK) {
        snprintf(sql, sizeof sql, list_sql, version < 3 ? "row" : "layout",
                 version < 2 ? "0" : "n.floor");
        result = sqlite_prepare(&session, &statement, sql, "t", ns);
        code = result == SQLITE_OK ? visit_rows(&session, statement, visit, context)
                                   : sqlite_explain(&session, result);
    }
    if (sqlite_mine()) {
        sqlite3_finalize(statement);
    }
    return sqlite_finish(&session, code);
}

const firn_driver firn_store_driver = {
    .version = FIRN_DRIVER_VERSION,
    .scheme = "sqlite",
    .locks = true,
    .lasts = true,
    .open = sqlite_open,
    .begin = sqlite_prologue,
    .read = sqlite_read,
    .lost = sqlite_lost,
    .write = sqlite_write,
    .confirm = sqlite_confirm,
    .end = sqlite_end,
    .where = sqlite_where,
    .list = sqlite_list,
    .close = sqlite_close,
};
