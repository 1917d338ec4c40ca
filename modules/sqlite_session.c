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
static int shorten_log(void *of, sqlite3 *db, const char *name, int pages) {
    session *s = of;
    if (pages >= LOG_PAGES && sqlite_point(s->store, "checkpoint.before", NULL) == FIRN_OK) {
        s->deadline_ms = 0;
        s->emptied = sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL) ==
                     SQLITE_OK;
        (void)sqlite_point(s->store, "checkpoint.committed", NULL);
    }
    return SQLITE_OK;
}

enum { TRIGGER_SIZE = 48 };

/* The row of meta, filled up where an older schema lacks columns, and a trigger on one of our tables, or ''. */
static const char meta_sql[] =
    "SELECT *, 0, 0, (SELECT ifnull(min(name), '') FROM sqlite_master WHERE type = 'trigger'"
    " AND tbl_name COLLATE NOCASE IN ('meta', 'namespace', 'mark')) FROM meta";

static int no_meta(const session *s, int result) {
    return result != SQLITE_DONE
               ? sqlite_explain(s, result)
               : module_fail(s->error, FIRN_ESTORE,
                             "store %s is not firn's (its table meta is empty): name another path "
                             "(docs/reference/stores.md: an old copy repeats IDs)",
                             sqlite_tail(s->store->path));
}

/* Reads meta's row, and the name of a trigger on one of the tables (""); 0: this firn knows the schema. */
static int read_meta(session *s, int64_t *version, char trigger[TRIGGER_SIZE]) {
    int result = sqlite3_step(s->meta);
    if (result == SQLITE_ROW) {
        const int last = sqlite3_column_count(s->meta) - 1;
        const char *found = (const char *)sqlite3_column_text(s->meta, last);
        *version = sqlite3_column_int64(s->meta, 0);
        s->identity = sqlite3_column_int64(s->meta, 1); /* 0 where there is no such column */
        s->history = sqlite3_column_int64(s->meta, 2);
        snprintf(trigger, TRIGGER_SIZE, "%s", found != NULL ? found : "");
        result = found != NULL ? SQLITE_ROW : SQLITE_NOMEM;
    }
    sqlite3_reset(s->meta);
    if (result != SQLITE_ROW) {
        return no_meta(s, result);
    }
    return *version >= 1 && *version <= SCHEMA_VERSION
               ? FIRN_OK
               : module_fail(s->error, FIRN_ESTORE,
                             "store %s has schema %" PRId64
                             " and this firn knows 1 to %d: use a newer firn",
                             sqlite_tail(s->store->path), *version, SCHEMA_VERSION);
}

/* A trigger runs in the transaction of each write, and can change the marks that firn grants. */
static int refuse_trigger(const session *s, const char *name) {
    return name[0] == '\0'
               ? FIRN_OK
               : module_fail(s->error, FIRN_ESTORE,
                             "store %s has a trigger that can change what firn writes: run DROP "
                             "TRIGGER \"%.30s\" in it",
                             sqlite_tail(s->store->path), name);
}

int sqlite_finish(session *s, int code) {
    if (sqlite_mine()) {
        sqlite3_finalize(s->meta);
        sqlite3_close(s->db);
        sqlite_end_turn(s);
        sqlite_leave();
    } else {
        sqlite_release_signal();
    }
    return code;
}

/* synchronous=EXTRA equals FULL in WAL mode, and also holds if somebody changed the mode. */
static int open_connection(session *s) {
    int on = 1, result = sqlite_attach(s, s->store->path);
    if (result == SQLITE_OK) {
        sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, on, &on);
        sqlite3_wal_hook(s->db, shorten_log, s);
        result = sqlite3_exec(s->db, "PRAGMA synchronous=EXTRA", NULL, NULL, NULL);
    }
    if (result == SQLITE_OK) {
        result = sqlite_prepare(s, &s->meta, meta_sql, "");
    }
    return result == SQLITE_OK ? FIRN_OK : sqlite_explain(s, result);
}

static int take_turn(session *s, bool reads) {
    int result = sqlite_take_turn(s);
    if (result == SQLITE_BUSY && reads) {
        sqlite_end_turn(s);
        s->store->hurry_ms = module_now_ms() + s->store->busy_ms;
        return FIRN_OK;
    }
    if (result == SQLITE_CANTOPEN) {
        return sqlite_no_tally(s->store, errno, s->error);
    }
    return result == SQLITE_OK ? FIRN_OK : sqlite_explain(s, result);
}

int sqlite_start(session *s, store *it, bool reads, firn_error *error) {
    int64_t now_ms = module_now_ms();
    int code = sqlite_enter(it, error);
    bool hurry = now_ms < it->hurry_ms;
    *s = (session){
        .store = it, .error = error, .deadline_ms = hurry ? now_ms : now_ms + it->busy_ms};
    if (code != FIRN_OK) {
        return code;
    }
    it->waits_ms = hurry ? it->waits_ms : now_ms;
    code = sqlite_check_file(it, s, error);
    if (code == FIRN_OK) {
        code = take_turn(s, reads);
    }
    if (code == FIRN_OK) {
        code = open_connection(s);
    }
    return code == FIRN_OK ? code : sqlite_finish(s, code);
}

/* ---- the same store, and no older one -------------------------------------------------------- */

/* The count of the last commit is the user_version on the database's first page: in the log that
 * page is part of every commit, and without the log it is at a fixed place. */
static int read_count(session *s) {
    sqlite3_stmt *statement = NULL;
    int result = sqlite_prepare(s, &statement, "PRAGMA user_version", "");
    if (result == SQLITE_OK && (result = sqlite3_step(statement)) == SQLITE_ROW) {
        s->count = (uint32_t)sqlite3_column_int(statement, 0);
    }
    sqlite3_finalize(statement);
    return result == SQLITE_ROW ? FIRN_OK : sqlite_explain(s, result);
}

/* The same, of the file without its log. */
static int read_main(const session *s, uint32_t *count) {
    uint8_t bytes[4];
    sqlite3_file *file = NULL;
    int result = sqlite3_file_control(s->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (result == SQLITE_OK) {
        result = file->pMethods->xRead(file, bytes, sizeof bytes, 60);
    }
    *count =
        (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
    return result == SQLITE_OK ? FIRN_OK : sqlite_explain(s, result);
}

/* *behind: the database is older than its count, or its log hides that. Reads both again, because
 * another process may be writing one of them. */
static int compare(session *s, bool *behind) {
    tally seen;
    uint32_t without_log;
    int code = FIRN_OK;
    *behind = true;
    for (int i = 0; i < 3 && *behind && code == FIRN_OK; i++) {
        *behind = false;
        if (sqlite_tally_read(s->store, &seen) && seen.identity == s->identity &&
            (code = read_main(s, &without_log)) == FIRN_OK) {
            *behind = sqlite_before(s->count, seen.count) || sqlite_before(without_log, seen.main);
        }
    }
    if (*behind && sqlite_before(s->count, seen.count)) {
        s->count = seen.count; /* later commits count from here */
    }
    return code;
}

/* Above everything that this handle knows, so that a process with a lower one sees that the loss
 * was noticed; raised at random, so that two copies get different ones. */
static int64_t next_history(const session *s, int64_t random) {
    const store *it = s->store;
    int64_t last = it->known && it->history > s->history ? it->history : s->history;
    return (last > 0 ? last % (INT64_MAX / 2) : 0) + 1 + (random & INT32_MAX);
}

int sqlite_went_back(session *s) {
    char sql[64];
    int64_t random;
    int result, code = FIRN_OK;
    if (s->back) {
        return FIRN_OK;
    }
    if ((code = sqlite_draw(&random, s->error)) != FIRN_OK) {
        return code;
    }
    s->history = next_history(s, random);
    snprintf(sql, sizeof sql, "UPDATE meta SET history = %" PRId64, s->history);
    result = sqlite3_exec(s->db, sql, NULL, NULL, NULL);
    s->back = result == SQLITE_OK;
    return result == SQLITE_OK ? FIRN_OK : sqlite_explain(s, result);
}

static int check_identity(const session *s) {
    const store *it = s->store;
    return !it->known || it->identity == s->identity ? FIRN_OK : sqlite_replaced(it, s->error);
}

static void remember(store *it, const session *s) {
    it->identity = s->identity;
    it->history = s->history;
    it->known = true;
}

static int check_store(session *s) {
    store *it = s->store;
    s->back = false;
    bool behind = false, told = it->known && s->history > it->history;
    int code = check_identity(s);
    if (code == FIRN_OK) {
        code = sqlite_tally_check(it, s->error);
    }
    if (code == FIRN_OK) {
        code = read_count(s);
    }
    if (code == FIRN_OK) {
        code = compare(s, &behind);
    }
    if (code == FIRN_OK && s->inode != it->inode) {
        behind |= !told; /* a copy lacks the grants since it was made */
    }
    if (code == FIRN_OK && it->writer != 0 && sqlite_before(s->count, it->count)) {
        s->count = it->count;
        behind |= !told;
    }
    if (code == FIRN_OK) {
        remember(it, s);
    }
    s->behind = behind;
    return code;
}

int sqlite_begin(session *s) {
    int64_t version = 0;
    char trigger[TRIGGER_SIZE];
    int code = FIRN_OK;
    for (int i = 0; i < 2 && code == FIRN_OK; i++) {
        int result = sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
        if (result != SQLITE_OK) {
            return sqlite_explain(s, result);
        }
        s->store->hurry_ms = 0;
        /* Again, because the log is found by name too, and may by now be another file's. */
        code = sqlite_check_file(s->store, s, s->error);
        if (code == FIRN_OK) {
            code = read_meta(s, &version, trigger);
        }
        if (code == FIRN_OK) {
            code = refuse_trigger(s, trigger);
        }
        if (code != FIRN_OK || version == SCHEMA_VERSION) {
            return code == FIRN_OK ? check_store(s) : code;
        }
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
        code = sqlite_upgrade(s, version);
    }
    return code != FIRN_OK
               ? code
               : module_advise(s->error, FIRN_ESTORE, FIRN_CURE_TRY_AGAIN,
                               "store %s keeps changing: try again", sqlite_tail(s->store->path));
}

int sqlite_begin_to_read(session *s, int64_t *version) {
    int result = sqlite3_exec(s->db, "BEGIN", NULL, NULL, NULL);
    if (result != SQLITE_OK) {
        return sqlite_explain(s, result);
    }
    char trigger[TRIGGER_SIZE]; /* not refused: it changes no answer */
    int code = read_meta(s, version, trigger);
    sqlite_end_turn(s);
    return code == FIRN_OK ? check_identity(s) : code;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Rolls back the open transaction, copies the log into the database, syncs it, and empties the log.
 * A commit whose sync failed may be after the log's end, where a later connection could find it;
 * and what was read from a log whose sync failed may be in memory only. This removes both. */
int sqlite_settle(const session *s) {
    sqlite3_file *log = NULL;
    int result = SQLITE_OK;
    if (!sqlite3_get_autocommit(s->db)) {
        result = sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    }
    if (result == SQLITE_OK) {
        result = sqlite3_wal_checkpoint_v2(s->db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    }
    if (result == SQLITE_OK) { /* SQLite leaves making the truncation durable to the next commit */
        result = sqlite3_file_control(s->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
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

static void write_tally(const session *s) {
    const store *it = s->store;
    tally now = {it->identity, it->count, it->count}, old;
    if (!s->emptied) {
        bool known = sqlite_tally_read(it, &old) && old.identity == it->identity && !s->back;
        now.main = known ? old.main : long_ago(it->count);
    }
    sqlite_tally_write(it, &now);
}

int sqlite_commit(session *s, const char *written, const char *committed) {
    char sql[64];
    store *it = s->store;
    int code = sqlite_point(it, written, s->error), result;
    if (code != FIRN_OK) {
        return code;
    }
    s->count++;
    snprintf(sql, sizeof sql, "PRAGMA user_version = %" PRId32 "; COMMIT", (int32_t)s->count);
    result = sqlite3_exec(s->db, sql, NULL, NULL, NULL);
    if (result != SQLITE_OK) {
        code = sqlite_explain(s, result);
        return sqlite_settle(s) == SQLITE_OK ? code : sqlite_unknown(s, result);
    }
    code = sqlite_point(it, committed, s->error);
    if (code != FIRN_OK) {
        return code; /* a forked child has no part in it */
    }
    remember(it, s);
    it->inode = s->inode;
    it->count = s->count;
    it->writer = module_process();
    if (s->back &&
        sqlite_settle(s) == SQLITE_OK) { /* an older database under a newer log is found here */
        s->emptied = true;
    }
    write_tally(s);
    return FIRN_OK;
}

/* SQLite does it when the last connection closes: it locks the database, or changes nothing. */
void sqlite_tidy(store *it) {
    session s = {.store = it}; /* an expired deadline: it does not wait */
    char path[PATH_MAX];
    if (it->writer != module_process() || !sqlite_mine() || sqlite_enter(it, NULL) != FIRN_OK) {
        return;
    }
    if (sqlite_check_file(it, NULL, NULL) == FIRN_OK &&
        sqlite_point(it, "close.before", NULL) == FIRN_OK && sqlite_take_turn(&s) == SQLITE_OK &&
        sqlite_attach(&s, it->path) == SQLITE_OK) {
        sqlite3_exec(s.db, "PRAGMA synchronous=EXTRA; SELECT version FROM meta", NULL, NULL, NULL);
    }
    if (!sqlite_mine()) {
        sqlite_release_signal();
        return;
    }
    bool closed = s.db != NULL && sqlite3_close(s.db) == SQLITE_OK;
    if (closed && sqlite_point(it, "close.committed", NULL) == FIRN_OK) {
        snprintf(path, sizeof path, "%s-wal", it->path);
        s.emptied = access(path, F_OK) != 0;
        write_tally(&s);
    }
    if (sqlite_mine()) {
        sqlite_end_turn(&s);
        sqlite_leave();
    } else {
        sqlite_release_signal();
    }
}
