/* SPDX-License-Identifier: MIT */
/* Creates and upgrades the database file. */
#include "sqlite.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Small pages: a reservation changes two of them, and each commit writes whole pages into the
 * log. */
static const char schema[] =
    "PRAGMA page_size=1024;"
    "PRAGMA synchronous=EXTRA;"
    "BEGIN;"
    "CREATE TABLE meta(version INTEGER NOT NULL, identity INTEGER NOT NULL DEFAULT 0,"
    " history INTEGER NOT NULL DEFAULT 0) STRICT;"
    "INSERT INTO meta VALUES(3, %" PRId64 ", 0);"
    "CREATE TABLE namespace(name TEXT NOT NULL PRIMARY KEY, layout TEXT NOT NULL,"
    " history INTEGER NOT NULL DEFAULT 0, floor INTEGER NOT NULL DEFAULT 0)"
    " STRICT, WITHOUT ROWID;"
    "CREATE TABLE mark(ns TEXT NOT NULL, key TEXT NOT NULL,"
    " high INTEGER NOT NULL CHECK(typeof(high)='integer' AND high BETWEEN 0 AND "
    "4611686018427387904),"
    " \"grant\" INTEGER NOT NULL, note TEXT NOT NULL, PRIMARY KEY(ns, key)) STRICT, WITHOUT ROWID;"
    "COMMIT;"
    "PRAGMA journal_mode=WAL";
_Static_assert(FIRN_SLOT_MAX == 4611686018427387904, "the schema says so");

/* From schema 1 to 2, and from 2 to 3, in one transaction. */
static const char from_1[] = "ALTER TABLE meta ADD COLUMN identity INTEGER NOT NULL DEFAULT 0;"
                             "ALTER TABLE meta ADD COLUMN history INTEGER NOT NULL DEFAULT 0;"
                             "ALTER TABLE namespace ADD COLUMN history INTEGER NOT NULL DEFAULT 0;"
                             "ALTER TABLE namespace ADD COLUMN floor INTEGER NOT NULL DEFAULT 0;"
                             "UPDATE meta SET identity = %" PRId64 ", history = %" PRId64 ";"
                             "PRAGMA user_version = %" PRId32 ";";
static const char from_2[] = "ALTER TABLE namespace RENAME COLUMN row TO layout;"
                             "UPDATE meta SET version = 3;"
                             "COMMIT";

int sqlite_draw(int64_t *out, firn_error *error) {
    uint64_t drawn;
    int code = module_random(&drawn, error); /* 0 is not an identity */
    *out = code == FIRN_OK ? (int64_t)drawn : 0;
    return code;
}

/* ---- a new file ------------------------------------------------------------------------------ */

#define NEW    "-new." /* in the name of a file that is not complete */
#define LEFT_S 3600

/* Removes what a failed creation left. */
static void remove_all(const char *path) {
    static const char *const suffixes[] = {"", "-journal", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char name[PATH_MAX + 32];
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        unlink(name);
    }
}

/* Removes what creators that were killed left, after an hour: a creator takes seconds, and if it
 * was stopped for so long, giving the file its name fails. */
static void sweep(const sqlite_store *store) {
    const char *name = strrchr(store->path, '/') + 1;
    const size_t length = strlen(name), fresh = sizeof NEW - 1;
    DIR *folder = opendir(store->folder);
    struct dirent *entry;
    for (int i = 0; folder != NULL && i < 100000 && (entry = readdir(folder)) != NULL; i++) {
        struct stat found;
        if (strncmp(entry->d_name, name, length) == 0 &&
            strncmp(entry->d_name + length, NEW, fresh) == 0 &&
            fstatat(dirfd(folder), entry->d_name, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(found.st_mode) && found.st_mtime + LEFT_S < time(NULL)) {
            unlinkat(dirfd(folder), entry->d_name, 0);
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
}

static int fill_file(sqlite_store *store, const char *path, firn_error *error) {
    int64_t now_ms = module_now_ms();
    sqlite_session session = {
        .store = store, .error = error, .deadline_ms = now_ms + store->busy_ms};
    char sql[sizeof schema + 24];
    int64_t identity;
    int result, code = sqlite_draw(&identity, error);
    if (code != FIRN_OK) {
        return code;
    }
    store->waits_ms = now_ms;
    snprintf(sql, sizeof sql, schema, identity);
    if ((result = sqlite_attach(&session, path)) == SQLITE_OK) {
        result = sqlite3_exec(session.db, sql, NULL, NULL, NULL);
    }
    code = result == SQLITE_OK ? FIRN_OK : sqlite_explain(&session, result);
    sqlite3_close(session.db);
    return code;
}

/* Gives the file its name in one step that never replaces another file, without a moment in which
 * it has two names. Where the file system cannot, link(2) does, with such a moment. */
static int give_name(const char *path, const sqlite_store *store, bool *made, firn_error *error) {
    *made = true;
    if (renameat2(AT_FDCWD, path, AT_FDCWD, store->path, RENAME_NOREPLACE) == 0 ||
        (errno == EINVAL && link(path, store->path) == 0)) {
        return FIRN_OK;
    }
    *made = false;
    return errno == EEXIST ? FIRN_OK
                           : module_fail(error, FIRN_ESTORE,
                                         "store %s cannot be created (%s): name another path",
                                         sqlite_tail(store->path), strerror(errno));
}

/* A store that root makes in the folder of another user, such as the server's, is that user's. */
static void give_to_folder(int file, const char *path) {
    char folder[PATH_MAX + 16];
    struct stat status;
    snprintf(folder, sizeof folder, "%s", path);
    if (geteuid() == 0 && stat(dirname(folder), &status) == 0 && status.st_uid != 0) {
        int result = fchown(file, status.st_uid, status.st_gid);
        (void)result; /* opening reports a file that stays unreadable */
    }
}

/* The database is complete when it gets its name, so an empty file is a truncated one. firn creates
 * the file, because SQLite would use the umask. */
static int make_file(sqlite_store *store, firn_error *error) {
    char path[PATH_MAX + 16];
    int file, code;
    bool made = false;
    sweep(store);
    snprintf(path, sizeof path, "%s" NEW "XXXXXX", store->path);
    file = mkostemp(path, O_CLOEXEC);
    if (file < 0) {
        return module_fail(error, FIRN_ESTORE,
                           "store %s cannot be created (%s): let this user write its folder",
                           sqlite_tail(store->path), strerror(errno));
    }
    fchmod(file, 0600);
    give_to_folder(file, path);
    close(file); /* before SQLite has locks on it, which closing would drop */
    code = sqlite_point(store, "create.before", error);
    code = code == FIRN_OK ? fill_file(store, path, error) : code;
    code = code == FIRN_OK ? sqlite_point(store, "create.written", error) : code;
    code = code == FIRN_OK ? give_name(path, store, &made, error) : code;
    if (code != FIRN_EFORKED) {
        remove_all(path);
    }
    if (code == FIRN_OK && made) {
        sqlite_tally_make(store);
    }
    if (code == FIRN_OK && made && store->options.notice != NULL) {
        char text[PATH_MAX + 64];
        snprintf(text, sizeof text, "created a new store at %s", store->path);
        store->options.notice(store->options.notice_self, text);
    }
    return code == FIRN_OK ? sqlite_point(store, "create.committed", error) : code;
}

static bool is_missing(const char *path) {
    return access(path, F_OK) != 0 && errno == ENOENT;
}

/* A log without a database is left if the database was removed after a crash. SQLite would copy it
 * into the new file. */
static int check_log(const sqlite_store *store, firn_error *error) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s-wal", store->path);
    if (is_missing(path) ||
        !is_missing(store->path)) { /* else another process has just created both */
        return FIRN_OK;
    }
    return module_fail(error, FIRN_ESTORE,
                       "store %s is missing, but its log %s is there: bring the store back, or"
                       " remove the log too",
                       sqlite_tail(store->path), strrchr(path, '/') + 1);
}

/* A count that was just written without its database: somebody removed the database, and processes
 * may still issue from windows that they reserved in it. WINDOW_S is longer than each: a window
 * ends at most 14 s ahead, or 20 s in builds before the first release. */
static int check_count(const sqlite_store *store, firn_error *error) {
    enum { WINDOW_S = 25 };
    struct stat count;
    sqlite_tally old;
    if (!sqlite_tally_look(store, &count) || !sqlite_tally_read(store, &old)) {
        return FIRN_OK;
    }
    int64_t left_s = (int64_t)count.st_mtime + WINDOW_S - (int64_t)time(NULL);
    if (left_s <= 0 || !is_missing(store->path)) { /* else another process has just created both */
        return FIRN_OK;
    }
    return module_fail(error, FIRN_ESTORE,
                       "store %s is missing, but was used %" PRId64
                       " s ago, and its processes may still issue IDs: bring it back, or end them"
                       " and wait %" PRId64 " s",
                       sqlite_tail(store->path), WINDOW_S - left_s, left_s);
}

int sqlite_find_or_make(sqlite_store *store, firn_error *error) {
    int code;
    if (!is_missing(store->path)) {
        return FIRN_OK;
    }
    if (!store->create) {
        return sqlite_no_store(store->path, error);
    }
    if ((code = check_log(store, error)) != FIRN_OK ||
        (code = check_count(store, error)) != FIRN_OK ||
        (code = sqlite_enter(store, error)) != FIRN_OK) {
        return code;
    }
    code = make_file(store, error);
    if (code != FIRN_EFORKED) {
        sqlite_leave();
    } else {
        sqlite_release_signal();
    }
    return code;
}

/* ---- an older file --------------------------------------------------------------------------- */

/* Another process may have upgraded the file already. */
static bool is_old(const sqlite_session *session) {
    bool old = sqlite3_step(session->meta) != SQLITE_ROW ||
               sqlite3_column_int64(session->meta, 0) != SCHEMA_VERSION;
    sqlite3_reset(session->meta);
    return old;
}

/* A file of schema 1 has no identity. If a count exists next to it, the file is an older copy. */
static int compose_from_1(const sqlite_session *session, char *sql, size_t size) {
    int64_t identity, history = 0;
    sqlite_tally seen = {0};
    int code = sqlite_draw(&identity, session->error);
    if (code == FIRN_OK && sqlite_tally_read(session->store, &seen)) {
        identity = seen.identity;
        code = sqlite_draw(&history, session->error);
        history = 1 + (history & INT32_MAX);
    }
    snprintf(sql, size, from_1, identity, history, (int32_t)seen.count);
    return code;
}

int sqlite_upgrade(const sqlite_session *session, int64_t version) {
    char first[sizeof from_1 + 64] = "", sql[sizeof first + sizeof from_2 + 24];
    int code = version == 1 ? compose_from_1(session, first, sizeof first) : FIRN_OK;
    code = code == FIRN_OK ? sqlite_point(session->store, "upgrade.before", session->error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    snprintf(sql, sizeof sql, "BEGIN IMMEDIATE;%s%s", first, from_2);
    int result = sqlite3_exec(session->db, sql, NULL, NULL, NULL);
    if (result != SQLITE_OK) {
        code = sqlite_explain(session, result);
        if (!sqlite3_get_autocommit(session->db)) {
            sqlite3_exec(session->db, "ROLLBACK", NULL, NULL, NULL);
        }
        return is_old(session) ? code : FIRN_OK;
    }
    return sqlite_point(session->store, "upgrade.committed", session->error);
}
