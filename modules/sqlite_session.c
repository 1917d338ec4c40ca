/* SPDX-License-Identifier: MIT */
/* The transaction of one verb: starts it, checks the store before anything is granted, ends it. */
#include "sqlite.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* The log stays when a verb's connection closes (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE): copying it into
 * the database and deleting it each time made a reservation cost 1000 us instead of 490, with one
 * sync at 75. The next connection reads the log from its start, 2 us per page, so it is emptied
 * when a commit leaves this many pages: two per verb. */
#define LOG_PAGES 32

/* ---- a connection ---------------------------------------------------------------------------- */

/* Called after a commit with the length of the log. Best effort, without waiting: the next commit
 * tries again. */
static int shorten_log(void *self, sqlite3 *db, const char *name, int pages) {
    sqlite_session *session = self;
    if (pages >= LOG_PAGES && sqlite_point(session->store, "checkpoint.before", NULL) == FIRN_OK) {
        session->deadline_ms = 0;
        session->emptied = sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_TRUNCATE, NULL,
                                                     NULL) == SQLITE_OK;
        (void)sqlite_point(session->store, "checkpoint.committed", NULL);
    }
    return SQLITE_OK;
}

enum { TRIGGER_SIZE = 48 };

/* The row of meta, filled up where an older schema lacks columns, and a trigger on one of our
 * tables, or ''. */
static const char meta_sql[] =
    "SELECT *, 0, 0, (SELECT ifnull(min(name), '') FROM sqlite_master WHERE type = 'trigger'"
    " AND tbl_name COLLATE NOCASE IN ('meta', 'namespace', 'mark')) FROM meta";

static int no_meta(const sqlite_session *session, int result) {
    return result != SQLITE_DONE
               ? sqlite_explain(session, result)
               : module_fail(session->error, FIRN_ESTORE,
                             "store %s is not firn's (its table meta is empty): name another path "
                             "(docs/reference/stores.md: an old copy repeats IDs)",
                             sqlite_tail(session->store->path));
}

/* Reads meta's row, and the name of a trigger on one of the tables (""); 0: this firn knows the
 * schema. */
static int read_meta(sqlite_session *session, int64_t *version, char trigger[TRIGGER_SIZE]) {
    int result = sqlite3_step(session->meta);
    if (result == SQLITE_ROW) {
        const int last = sqlite3_column_count(session->meta) - 1;
        const char *found = (const char *)sqlite3_column_text(session->meta, last);
        *version = sqlite3_column_int64(session->meta, 0);
        session->identity =
            sqlite3_column_int64(session->meta, 1); /* 0 where there is no such column */
        session->history = sqlite3_column_int64(session->meta, 2);
        snprintf(trigger, TRIGGER_SIZE, "%s", found != NULL ? found : "");
        result = found != NULL ? SQLITE_ROW : SQLITE_NOMEM;
    }
    sqlite3_reset(session->meta);
    if (result != SQLITE_ROW) {
        return no_meta(session, result);
    }
    return *version >= 1 && *version <= SCHEMA_VERSION
               ? FIRN_OK
               : module_fail(session->error, FIRN_ESTORE,
                             "store %s has schema %" PRId64
                             " and this firn knows 1 to %d: use a newer firn",
                             sqlite_tail(session->store->path), *version, SCHEMA_VERSION);
}

/* A trigger runs in the transaction of each write, and can change the marks that firn grants. */
static int refuse_trigger(const sqlite_session *session, const char *name) {
    return name[0] == '\0'
               ? FIRN_OK
               : module_fail(session->error, FIRN_ESTORE,
                             "store %s has a trigger that can change what firn writes: run DROP "
                             "TRIGGER \"%.30s\" in it",
                             sqlite_tail(session->store->path), name);
}

int sqlite_finish(sqlite_session *session, int code) {
    if (sqlite_mine()) {
        sqlite3_finalize(session->meta);
        sqlite3_close(session->db);
        sqlite_end_turn(session);
        sqlite_leave();
    } else {
        sqlite_release_signal();
    }
    return code;
}

/* synchronous=EXTRA equals FULL in WAL mode, and also holds if somebody changed the mode. */
static int open_connection(sqlite_session *session) {
    int enabled = 1, result = sqlite_attach(session, session->store->path);
    if (result == SQLITE_OK) {
        sqlite3_db_config(session->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, enabled, &enabled);
        sqlite3_wal_hook(session->db, shorten_log, session);
        result = sqlite3_exec(session->db, "PRAGMA synchronous=EXTRA", NULL, NULL, NULL);
    }
    if (result == SQLITE_OK) {
        result = sqlite_prepare(session, &session->meta, meta_sql, "");
    }
    return result == SQLITE_OK ? FIRN_OK : sqlite_explain(session, result);
}

static int take_turn(sqlite_session *session, bool reads) {
    int result = sqlite_take_turn(session);
    if (result == SQLITE_BUSY && reads) {
        sqlite_end_turn(session);
        session->store->hurry_ms = module_now_ms() + session->store->busy_ms;
        return FIRN_OK;
    }
    if (result == SQLITE_CANTOPEN) {
        return sqlite_no_tally(session->store, errno, session->error);
    }
    return result == SQLITE_OK ? FIRN_OK : sqlite_explain(session, result);
}

int sqlite_start(sqlite_session *session, sqlite_store *store, bool reads, firn_error *error) {
    int64_t now_ms = module_now_ms();
    int code = sqlite_enter(store, error);
    bool hurry = now_ms < store->hurry_ms;
    *session = (sqlite_session){
        .store = store, .error = error, .deadline_ms = hurry ? now_ms : now_ms + store->busy_ms};
    if (code != FIRN_OK) {
        return code;
    }
    store->waits_ms = hurry ? store->waits_ms : now_ms;
    code = sqlite_check_file(store, session, error);
    code = code == FIRN_OK ? take_turn(session, reads) : code;
    code = code == FIRN_OK ? open_connection(session) : code;
    return code == FIRN_OK ? code : sqlite_finish(session, code);
}

/* ---- the same store, and no older one -------------------------------------------------------- */

/* The count of the last commit is the user_version on the database's first page: in the log that
 * page is part of every commit, and without the log it is at a fixed place. */
static int read_count(sqlite_session *session) {
    sqlite3_stmt *statement = NULL;
    int result = sqlite_prepare(session, &statement, "PRAGMA user_version", "");
    if (result == SQLITE_OK && (result = sqlite3_step(statement)) == SQLITE_ROW) {
        session->count = (uint32_t)sqlite3_column_int(statement, 0);
    }
    sqlite3_finalize(statement);
    return result == SQLITE_ROW ? FIRN_OK : sqlite_explain(session, result);
}

/* The same, of the file without its log. */
static int read_main(const sqlite_session *session, uint32_t *count) {
    uint8_t bytes[4];
    sqlite3_file *file = NULL;
    int result = sqlite3_file_control(session->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (result == SQLITE_OK) {
        result = file->pMethods->xRead(file, bytes, sizeof bytes, 60);
    }
    *count =
        (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
    return result == SQLITE_OK ? FIRN_OK : sqlite_explain(session, result);
}

/* *behind: the database is older than its count, or its log hides that. Reads both again, because
 * another process may be writing one of them. */
static int compare(sqlite_session *session, bool *behind) {
    sqlite_tally seen;
    uint32_t without_log;
    int code = FIRN_OK;
    *behind = true;
    for (int i = 0; i < 3 && *behind && code == FIRN_OK; i++) {
        *behind = false;
        if (sqlite_tally_read(session->store, &seen) && seen.identity == session->identity &&
            (code = read_main(session, &without_log)) == FIRN_OK) {
            *behind =
                sqlite_before(session->count, seen.count) || sqlite_before(without_log, seen.main);
        }
    }
    if (*behind && sqlite_before(session->count, seen.count)) {
        session->count = seen.count; /* later commits count from here */
    }
    return code;
}

/* Above everything that this handle knows, so that a process with a lower one sees that the loss
 * was noticed; raised at random, so that two copies get different ones. */
static int64_t next_history(const sqlite_session *session, int64_t random) {
    const sqlite_store *store = session->store;
    int64_t last =
        store->known && store->history > session->history ? store->history : session->history;
    return (last > 0 ? last % (INT64_MAX / 2) : 0) + 1 + (random & INT32_MAX);
}

int sqlite_went_back(sqlite_session *session) {
    char sql[64];
    int64_t random;
    int result, code = FIRN_OK;
    if (session->back) {
        return FIRN_OK;
    }
    if ((code = sqlite_draw(&random, session->error)) != FIRN_OK) {
        return code;
    }
    session->history = next_history(session, random);
    snprintf(sql, sizeof sql, "UPDATE meta SET history = %" PRId64, session->history);
    result = sqlite3_exec(session->db, sql, NULL, NULL, NULL);
    session->back = result == SQLITE_OK;
    return result == SQLITE_OK ? FIRN_OK : sqlite_explain(session, result);
}

static int check_identity(const sqlite_session *session) {
    const sqlite_store *store = session->store;
    return !store->known || store->identity == session->identity
               ? FIRN_OK
               : sqlite_replaced(store, session->error);
}

static void remember_file(sqlite_store *store, const sqlite_session *session) {
    store->identity = session->identity;
    store->history = session->history;
    store->known = true;
}

static int check_store(sqlite_session *session) {
    sqlite_store *store = session->store;
    session->back = false;
    bool behind = false, told = store->known && session->history > store->history;
    int code = check_identity(session);
    code = code == FIRN_OK ? sqlite_tally_check(store, session->error) : code;
    code = code == FIRN_OK ? read_count(session) : code;
    code = code == FIRN_OK ? compare(session, &behind) : code;
    if (code == FIRN_OK && session->inode != store->inode) {
        behind |= !told; /* a copy lacks the grants since it was made */
    }
    if (code == FIRN_OK && store->writer != 0 && sqlite_before(session->count, store->count)) {
        session->count = store->count;
        behind |= !told;
    }
    if (code == FIRN_OK) {
        remember_file(store, session);
    }
    session->behind = behind;
    return code;
}

int sqlite_begin(sqlite_session *session) {
    int64_t version = 0;
    char trigger[TRIGGER_SIZE];
    int code = FIRN_OK;
    for (int i = 0; i < 2 && code == FIRN_OK; i++) {
        int result = sqlite3_exec(session->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
        if (result != SQLITE_OK) {
            return sqlite_explain(session, result);
        }
        session->store->hurry_ms = 0;
        /* Again, because the log is found by name too, and may by now be another file's. */
        code = sqlite_check_file(session->store, session, session->error);
        code = code == FIRN_OK ? read_meta(session, &version, trigger) : code;
        code = code == FIRN_OK ? refuse_trigger(session, trigger) : code;
        if (code != FIRN_OK || version == SCHEMA_VERSION) {
            return code == FIRN_OK ? check_store(session) : code;
        }
        sqlite3_exec(session->db, "ROLLBACK", NULL, NULL, NULL);
        code = sqlite_upgrade(session, version);
    }
    return code != FIRN_OK ? code
                           : module_advise(session->error, FIRN_ESTORE, FIRN_CURE_TRY_AGAIN,
                                           "store %s keeps changing: try again",
                                           sqlite_tail(session->store->path));
}

int sqlite_begin_to_read(sqlite_session *session, int64_t *version) {
    int result = sqlite3_exec(session->db, "BEGIN", NULL, NULL, NULL);
    if (result != SQLITE_OK) {
        return sqlite_explain(session, result);
    }
    char trigger[TRIGGER_SIZE]; /* not refused: it changes no answer */
    int code = read_meta(session, version, trigger);
    sqlite_end_turn(session);
    return code == FIRN_OK ? check_identity(session) : code;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Rolls back the open transaction, copies the log into the database, syncs it, and empties the log.
 * A commit whose sync failed may be after the log's end, where a later connection could find it;
 * and what was read from a log whose sync failed may be in memory only. This removes both. */
int sqlite_settle(const sqlite_session *session) {
    sqlite3_file *log = NULL;
    int result = SQLITE_OK;
    if (!sqlite3_get_autocommit(session->db)) {
        result = sqlite3_exec(session->db, "ROLLBACK", NULL, NULL, NULL);
    }
    if (result == SQLITE_OK) {
        result =
            sqlite3_wal_checkpoint_v2(session->db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    }
    if (result == SQLITE_OK) { /* SQLite leaves making the truncation durable to the next commit */
        result = sqlite3_file_control(session->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    }
    if (result == SQLITE_OK && log != NULL && log->pMethods != NULL) {
        result = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
    }
    return result;
}

/* `main` if it is unknown how much of the log is durable in the database. */
static uint32_t long_ago(uint32_t count) {
    return count - (UINT32_C(1) << 30);
}

static void write_tally(const sqlite_session *session) {
    const sqlite_store *store = session->store;
    sqlite_tally now = {store->identity, store->count, store->count}, old;
    if (!session->emptied) {
        bool known =
            sqlite_tally_read(store, &old) && old.identity == store->identity && !session->back;
        now.main = known ? old.main : long_ago(store->count);
    }
    sqlite_tally_write(store, &now);
}

int sqlite_commit(sqlite_session *session, const char *written, const char *committed) {
    char sql[64];
    sqlite_store *store = session->store;
    int code = sqlite_point(store, written, session->error), result;
    if (code != FIRN_OK) {
        return code;
    }
    session->count++;
    snprintf(sql, sizeof sql, "PRAGMA user_version = %" PRId32 "; COMMIT", (int32_t)session->count);
    result = sqlite3_exec(session->db, sql, NULL, NULL, NULL);
    if (result != SQLITE_OK) {
        code = sqlite_explain(session, result);
        return sqlite_settle(session) == SQLITE_OK ? code : sqlite_unknown(session, result);
    }
    code = sqlite_point(store, committed, session->error);
    if (code != FIRN_OK) {
        return code; /* a forked child has no part in it */
    }
    remember_file(store, session);
    store->inode = session->inode;
    store->count = session->count;
    store->writer = module_process();
    if (session->back && sqlite_settle(session) ==
                             SQLITE_OK) { /* an older database under a newer log is found here */
        session->emptied = true;
    }
    write_tally(session);
    return FIRN_OK;
}

/* SQLite does it when the last connection closes: it locks the database, or changes nothing. */
void sqlite_tidy(sqlite_store *store) {
    sqlite_session session = {.store = store}; /* an expired deadline: it does not wait */
    char path[PATH_MAX];
    if (store->writer != module_process() || !sqlite_mine() ||
        sqlite_enter(store, NULL) != FIRN_OK) {
        return;
    }
    if (sqlite_check_file(store, NULL, NULL) == FIRN_OK &&
        sqlite_point(store, "close.before", NULL) == FIRN_OK &&
        sqlite_take_turn(&session) == SQLITE_OK &&
        sqlite_attach(&session, store->path) == SQLITE_OK) {
        sqlite3_exec(session.db, "PRAGMA synchronous=EXTRA; SELECT version FROM meta", NULL, NULL,
                     NULL);
    }
    if (!sqlite_mine()) {
        sqlite_release_signal();
        return;
    }
    bool closed = session.db != NULL && sqlite3_close(session.db) == SQLITE_OK;
    if (closed && sqlite_point(store, "close.committed", NULL) == FIRN_OK) {
        snprintf(path, sizeof path, "%s-wal", store->path);
        session.emptied = access(path, F_OK) != 0;
        write_tally(&session);
    }
    if (sqlite_mine()) {
        sqlite_end_turn(&session);
        sqlite_leave();
    } else {
        sqlite_release_signal();
    }
}
