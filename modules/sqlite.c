/* SPDX-License-Identifier: MIT */
/* The embedded store: its URL and the verbs on one SQLite file. */
#include "sqlite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FIRN_API extern const firn_store_ops firn_store_module;

#define OLDEST_SQLITE 3037000 /* the first with STRICT tables */
#define BUSY_MS       5000 /* how long a verb waits for other processes; default of max_wait_ms */

/* The whole of reserve: ?3 count, ?4 earliest, ?5 latest. No row comes back from a busy key. */
static const char reserve_sql[] =
    "INSERT INTO mark(ns, key, high, \"grant\", note) VALUES(?1, ?2, ?4 + ?3, ?6, ?7)"
    " ON CONFLICT(ns, key) DO UPDATE"
    " SET high = max(high, ?4) + ?3, \"grant\" = ?6, note = ?7"
    " WHERE max(high, ?4) <= ?5 RETURNING high";

/* ?3, ?4: the mark as granted to the caller; ?5: where it stopped. */
static const char give_back_sql[] = "UPDATE mark SET high = ?5, \"grant\" = 0"
                                    " WHERE ns = ?1 AND key = ?2 AND high = ?3 AND \"grant\" = ?4"
                                    " AND ?5 <= high RETURNING high";

/* The layout's column is called row before schema 3, and schema 1 has no floor. */
static const char list_sql[] =
    "SELECT n.name, n.%s, ifnull(m.key, ''), ifnull(m.note, ''), ifnull(m.high, 0),"
    " ifnull(m.\"grant\", 0), %s FROM namespace n LEFT JOIN mark m ON m.ns = n.name"
    " WHERE ?1 IS NULL OR m.ns = ?1 ORDER BY n.name, m.key";

/* ---- open ------------------------------------------------------------------------------------ */

/* The parameters after the path: sqlite:PATH?busy_ms=500&create=no&unsafe=1 */
static int parse_keys(store *it, char *keys, firn_error *error) {
    char *rest = keys;
    for (char *key; (key = strtok_r(rest, "&", &rest)) != NULL;) {
        char digits[7], end;
        if (sscanf(key, "busy_ms=%6[0-9]%c", digits, &end) == 1) {
            it->busy_ms = atoi(digits);
        } else if (sscanf(key, "unsafe=%1[01]%c", digits, &end) == 1) {
            it->unsafe |= *digits == '1';
        } else if (strcmp(key, "create=yes") == 0 || strcmp(key, "create=no") == 0) {
            it->create = it->folders = key[strlen("create=")] == 'y';
        } else {
            return module_fail(error, FIRN_EUSAGE,
                               "a sqlite store has no parameter '%.60s': use busy_ms=0..999999,"
                               " create=yes|no, unsafe=0|1",
                               key);
        }
    }
    return FIRN_OK;
}

static void sqlite_close(void *self) {
    store *it = self;
    sqlite_tidy(it);
    free(it->vfs);
    free(it);
}

static int set_up(store *it, const char *url, firn_error *error) {
    char path[2 * PATH_MAX], *keys;
    int code = FIRN_OK;
    snprintf(path, sizeof path, "%s", strncmp(url, "sqlite:", 7) == 0 ? url + 7 : url);
    if ((keys = strrchr(path, '?')) != NULL) {
        *keys++ = '\0';
        code = parse_keys(it, keys, error);
    }
    if (code == FIRN_OK) {
        code = sqlite_settle_path(it, path, error);
    }
    if (code == FIRN_OK) {
        code = sqlite_find_or_make(it, error);
    }
    return code == FIRN_OK ? sqlite_settle_file(it, error) : code;
}

static int sqlite_open(void **self, const char *url, const firn_store_options *options,
                       firn_error *error) {
    static const firn_store_options none;
    store *it;
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
    it = calloc(1, sizeof *it);
    if (it == NULL || (options->vfs != NULL && (it->vfs = strdup(options->vfs)) == NULL)) {
        free(it);
        return module_no_memory(error);
    }
    it->options = *options;
    it->busy_ms = options->wait_ms > 0 ? options->wait_ms : BUSY_MS;
    it->unsafe = options->unsafe;
    it->create = !options->must_exist;
    code = set_up(it, url, error);
    if (code != FIRN_OK) {
        sqlite_close(it);
        return code;
    }
    *self = it;
    return FIRN_OK;
}

/* ---- reserve --------------------------------------------------------------------------------- */

/* A reservation in progress. */
typedef struct reservation {
    session s;
    const firn_request *request;
    sqlite3_stmt *mark, *write;
    record namespace;
    module_kept kept;
    char shut[FIRN_LAYOUT_SIZE];
    bool new_key, synced;
    bool renewed; /* the namespace's record is written, even if the key is busy */
    int refused;  /* the law's refusal, which does not hide that the store lost reservations */
} reservation;

/* Everything slow, before the transaction that others wait for. */
static int prepare(reservation *r) {
    const firn_request *request = r->request;
    int result = sqlite_prepare(&r->s, &r->mark,
                                "SELECT high, \"grant\" FROM mark WHERE ns = ?1 AND key = ?2", "tt",
                                request->ns, request->key);
    if (result == SQLITE_OK) {
        result =
            sqlite_prepare(&r->s, &r->write, reserve_sql, "ttiiiit", request->ns, request->key,
                           request->count, request->earliest, request->latest,
                           (int64_t)request->grant, request->note != NULL ? request->note : "");
    }
    return result == SQLITE_OK ? FIRN_OK : sqlite_explain(&r->s, result);
}

static int read_mark(reservation *r) {
    int result = sqlite3_step(r->mark);
    r->new_key = result == SQLITE_DONE;
    r->kept.mark = (firn_mark){0, 0};
    if (result == SQLITE_ROW) {
        r->kept.mark.high = sqlite3_column_int64(r->mark, 0);
        r->kept.mark.grant = (uint64_t)sqlite3_column_int64(r->mark, 1);
    }
    sqlite3_reset(r->mark);
    return r->new_key || result == SQLITE_ROW ? FIRN_OK : sqlite_explain(&r->s, result);
}

static int keep_verdict(void *context, int columns, char **texts, char **names) {
    (void)columns;
    (void)names;
    snprintf(context, 48, "%s", texts[0] != NULL ? texts[0] : "");
    return 0;
}

/* Before this handle creates its first key: a file that lost a page, or its end, has lost marks. */
static int check_whole(session *s) {
    char verdict[48] = "";
    if (s->store->checked) {
        return FIRN_OK;
    }
    int result = sqlite3_exec(s->db, "PRAGMA quick_check(1)", keep_verdict, verdict, NULL);
    if (result != SQLITE_OK) {
        return sqlite_explain(s, result);
    }
    if (strcmp(verdict, "ok") != 0) {
        return module_fail(s->error, FIRN_ESTORE,
                           "store %s is damaged (%s): its marks are lost: use a new path and nodes"
                           " never used, or wait",
                           sqlite_tail(s->store->path), verdict);
    }
    s->store->checked = true;
    return FIRN_OK;
}

/* What the first use of a key or namespace needs from the disk. */
static int look_ahead(reservation *r) {
    int code = FIRN_OK;
    if (!r->s.store->checked) {
        code = read_mark(r);
        if (code == FIRN_OK && r->new_key) {
            code = check_whole(&r->s);
        }
    }
    if (code == FIRN_OK && !module_remembers_ns(&r->s.store->memory, r->request->ns)) {
        sqlite3_stmt *found = NULL;
        int result = sqlite_prepare(&r->s, &found, "SELECT 1 FROM namespace WHERE name = ?1", "t",
                                    r->request->ns);
        if (result == SQLITE_OK) {
            result = sqlite3_step(found);
        }
        sqlite3_finalize(found);
        if (result == SQLITE_DONE) {
            code = sqlite_sync_folders(&r->s);
            r->synced = code == FIRN_OK;
        } else if (result != SQLITE_ROW) {
            code = sqlite_explain(&r->s, result);
        }
    }
    return code;
}

static int write_namespace(reservation *r, int64_t floor) {
    const firn_request *request = r->request;
    int code = FIRN_OK;
    if (!r->kept.known) {
        code = sqlite_point(r->s.store, "namespace.before", r->s.error);
        if (code == FIRN_OK && !r->synced) {
            code = sqlite_sync_folders(&r->s);
        }
    }
    if (code != FIRN_OK) {
        return code;
    }
    code = sqlite_write_record(&r->s, request->ns, request->layout, r->s.history, floor);
    r->renewed = true;
    return code != FIRN_OK || r->kept.known
               ? code
               : sqlite_point(r->s.store, "namespace.written", r->s.error);
}

/* Reads what the law needs. */
static int look(reservation *r) {
    int code = sqlite_read_record(&r->s, &r->namespace, r->request->ns);
    if (code == FIRN_OK) {
        code = read_mark(r);
    }
    r->kept.back = r->s.back;
    r->kept.known = r->namespace.known;
    r->kept.layout = r->namespace.layout;
    r->kept.current = r->namespace.history == r->s.history;
    r->kept.floor = r->namespace.floor;
    if (code == FIRN_OK && !r->kept.known) {
        code = sqlite_read_all_names(&r->s, &r->kept.complete, r->shut);
        r->kept.shut = r->shut[0] != '\0' ? r->shut : NULL;
    }
    return code;
}

/* Runs a write that returns the new mark, or no row if its condition failed. The row comes before
 * the commit; only the next step completes the write. */
static int write_mark(const session *s, sqlite3_stmt *statement, bool *written, int64_t *high) {
    int result = sqlite3_step(statement);
    *written = result == SQLITE_ROW;
    if (*written) {
        *high = sqlite3_column_int64(statement, 0);
        result = sqlite3_step(statement);
    }
    return result == SQLITE_DONE ? FIRN_OK : sqlite_explain(s, result);
}

/* In the transaction: does the file have the mark that this reservation granted? */
static int read_back(reservation *r, int64_t first, int64_t high) {
    const firn_request *request = r->request;
    int code = read_mark(r);
    if (code != FIRN_OK || (high == first + request->count && r->kept.mark.high == high &&
                            r->kept.mark.grant == request->grant)) {
        return code;
    }
    return module_fail(r->s.error, FIRN_ESTORE,
                       "store %s has mark %" PRId64 " where %" PRId64
                       " was written: use a new path and nodes never used",
                       sqlite_tail(r->s.store->path), r->kept.mark.high, first + request->count);
}

/* In the transaction: decides and writes the verdict, which may be busy. */
static int decide(reservation *r, int64_t *high, firn_mark *held) {
    const firn_request *request = r->request;
    module_verdict verdict;
    char where[64];
    bool written = false;
    int code = look(r);
    if (code != FIRN_OK) {
        return code;
    }
    snprintf(where, sizeof where, "store %.40s", sqlite_tail(r->s.store->path));
    int busy =
        module_decide(&verdict, &r->kept, &r->s.store->memory, request, where, held, r->s.error);
    r->refused = busy;
    if (busy != FIRN_ENAMESPACE && verdict.back) {
        code = sqlite_went_back(&r->s);
    }
    if (code != FIRN_OK || (busy != FIRN_OK && busy != FIRN_EBUSY)) {
        return code != FIRN_OK ? code : busy;
    }
    if (verdict.renew) {
        code = write_namespace(r, verdict.floor);
    }
    if (code == FIRN_OK && r->new_key) {
        code = check_whole(&r->s);
    }
    if (code == FIRN_OK) {
        code = sqlite_point(r->s.store, "reserve.before", r->s.error);
    }
    if (code == FIRN_OK && busy == FIRN_OK) {
        sqlite3_bind_int64(r->write, 4, verdict.first);
        code = write_mark(&r->s, r->write, &written, high);
    }
    if (code == FIRN_OK && busy == FIRN_OK && !written) {
        code = sqlite_explain(&r->s, SQLITE_CORRUPT); /* its index does not match its content */
    }
    if (code == FIRN_OK && written) {
        code = read_back(r, verdict.first, *high);
    }
    return code == FIRN_OK ? busy : code;
}

static int reserve(reservation *r, int64_t *first, firn_mark *held) {
    store *it = r->s.store;
    int64_t high = 0;
    int kept, code = prepare(r);
    if (code == FIRN_OK) {
        code = look_ahead(r);
    }
    if (code == FIRN_OK) {
        code = sqlite_begin(&r->s);
    }
    if (code != FIRN_OK) {
        return code;
    }
    code = decide(r, &high, held);
    bool keep =
        code == FIRN_OK || (code == FIRN_EBUSY && r->renewed) || (r->s.back && code == r->refused);
    if (keep && (kept = sqlite_commit(&r->s, "reserve.written", "reserve.committed")) != FIRN_OK) {
        return kept;
    }
    if (code == FIRN_OK || code == FIRN_EBUSY) {
        module_remember_ns(&it->memory, r->request->ns);
    }
    if (code == FIRN_OK) {
        *first = high - r->request->count;
        module_remember(&it->memory, r->request, high);
    }
    /* A caller that meets its own grant uses the slots, so the mark must be durable. */
    if (code == FIRN_EBUSY && held->grant == r->request->grant &&
        (kept = sqlite_settle(&r->s)) != SQLITE_OK) {
        *held = (firn_mark){0, 0};
        return sqlite_unknown(&r->s, kept);
    }
    return code;
}

static int sqlite_reserve(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                          firn_error *error) {
    reservation r = {.request = request};
    int code = sqlite_start(&r.s, self, false, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = reserve(&r, first, held);
    if (sqlite_mine()) {
        sqlite3_finalize(r.mark);
        sqlite3_finalize(r.write);
    }
    return sqlite_finish(&r.s, code);
}

/* ---- give back ------------------------------------------------------------------------------- */

static int give_back(session *s, sqlite3_stmt *statement, const char *ns, const char *key,
                     const firn_mark *mark) {
    bool written = false;
    int64_t high;
    int code = sqlite_begin(s);
    if (code == FIRN_OK) {
        code = sqlite_point(s->store, "give_back.before", s->error);
    }
    if (code == FIRN_OK) {
        code = write_mark(s, statement, &written, &high);
    }
    if (code == FIRN_OK && (written || s->back)) {
        module_forget_last(&s->store->memory);
        code = sqlite_commit(s, "give_back.written", "give_back.committed");
    }
    return code == FIRN_OK && !written ? module_refuse_give_back(s->error, ns, key, mark) : code;
}

static int sqlite_give_back(void *self, const char *ns, const char *key, const firn_mark *mark,
                            int64_t high, firn_error *error) {
    session s;
    sqlite3_stmt *statement = NULL;
    int code = sqlite_start(&s, self, false, error);
    if (code != FIRN_OK) {
        return code;
    }
    int result = sqlite_prepare(&s, &statement, give_back_sql, "ttiii", ns, key, mark->high,
                                (int64_t)mark->grant, high);
    code =
        result == SQLITE_OK ? give_back(&s, statement, ns, key, mark) : sqlite_explain(&s, result);
    if (sqlite_mine()) {
        sqlite3_finalize(statement);
    }
    return sqlite_finish(&s, code);
}

/* ---- list ------------------------------------------------------------------------------------ */

static int visit_rows(const session *s, sqlite3_stmt *statement, firn_visit *visit, void *context) {
    int result, code = FIRN_OK;
    while (code == FIRN_OK && (result = sqlite3_step(statement)) != SQLITE_DONE) {
        const char *text[4];
        if (result != SQLITE_ROW) {
            return sqlite_explain(s, result);
        }
        for (int i = 0; i < 4; i++) {
            text[i] = (const char *)sqlite3_column_text(statement, i);
            if (text[i] == NULL) {
                return sqlite_explain(s, SQLITE_NOMEM);
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
            return sqlite_forked(s->error);
        }
    }
    return code;
}

static int sqlite_list(void *self, const char *ns, firn_visit *visit, void *context,
                       firn_error *error) {
    session s;
    sqlite3_stmt *statement = NULL;
    int64_t version;
    char sql[sizeof list_sql + 16];
    int result, code = sqlite_start(&s, self, true, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = sqlite_begin_to_read(&s, &version);
    if (code == FIRN_OK) {
        snprintf(sql, sizeof sql, list_sql, version < 3 ? "row" : "layout",
                 version < 2 ? "0" : "n.floor");
        result = sqlite_prepare(&s, &statement, sql, "t", ns);
        code = result == SQLITE_OK ? visit_rows(&s, statement, visit, context)
                                   : sqlite_explain(&s, result);
    }
    if (sqlite_mine()) {
        sqlite3_finalize(statement);
    }
    return sqlite_finish(&s, code);
}

const firn_store_ops firn_store_module = {
    .version = 1,
    .scheme = "sqlite",
    .open = sqlite_open,
    .reserve = sqlite_reserve,
    .give_back = sqlite_give_back,
    .list = sqlite_list,
    .now = NULL,
    .close = sqlite_close,
};
