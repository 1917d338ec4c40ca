/* SPDX-License-Identifier: MIT */
/* Connections of the embedded store: opening, waiting for locks, statements, and failures as
 * text. */
#include "sqlite.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* since Linux 5.14; older ones answer EINVAL */
#endif

/* ---- failures as text ------------------------------------------------------------------------ */

const char *sqlite_tail(const char *path) {
    size_t length = strlen(path);
    return length <= 72 ? path : path + length - 72;
}

/* By SQLite's result: what is wrong, and what to do. */
static const struct {
    int result;
    const char *what, *cure;
} explanations[] = {
    {SQLITE_READONLY, "cannot be written", "allow this user to write the file and its folder"},
    {SQLITE_PERM, "cannot be written", "allow this user to write the file and its folder"},
    {SQLITE_CANTOPEN, "cannot be opened", "allow this user to write the file and its folder"},
    {SQLITE_NOTADB, "is not a database",
     "name another path (docs/reference/stores.md: an old copy repeats IDs)"},
    {SQLITE_CORRUPT, "is damaged",
     "its marks are lost: use a new path and nodes never used, or wait"},
    {SQLITE_ERROR, "is not firn's",
     "name another path (docs/reference/stores.md: an old copy repeats IDs)"},
    {SQLITE_FULL, "has a full disk", "free space on it"},
    {SQLITE_IOERR, "cannot be read or written", "check the disk and its space"},
    {SQLITE_NOMEM, "is out of memory", "give this process more memory"},
};

/* Names the process that holds the lock, if it is visible. */
static int locked(const sqlite_session *session) {
    char name[32];
    bool stopped;
    pid_t pid = sqlite_holder(session->store, name, &stopped);
    const char *path = sqlite_tail(session->store->path);
    int64_t waited_ms = module_now_ms() - session->store->waits_ms;
    if (pid == 0) {
        return module_fail(session->error, FIRN_ESTORE,
                           "store %s is locked by another process (waited %" PRId64
                           " ms): end the process that holds it (fuser names it)",
                           path, waited_ms);
    }
    return stopped ? module_fail(session->error, FIRN_ESTORE,
                                 "store %s is locked by process %d (%s), which is stopped (waited"
                                 " %" PRId64 " ms): continue it (kill -CONT %d) or end it",
                                 path, (int)pid, name, waited_ms, (int)pid)
                   : module_fail(session->error, FIRN_ESTORE,
                                 "store %s is locked by process %d (%s) (waited %" PRId64
                                 " ms): wait, or end it",
                                 path, (int)pid, name, waited_ms);
}

int sqlite_explain(const sqlite_session *session, int result) {
    const char *path = sqlite_tail(session->store->path), *why;
    int primary = result & 0xff;
    int number = session->db != NULL ? sqlite3_system_errno(session->db) : 0;
    if (primary == SQLITE_BUSY || primary == SQLITE_PROTOCOL) {
        session->store->hurry_ms = module_now_ms() + session->store->busy_ms;
        return locked(session);
    }
    if (number != 0 && (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN)) {
        why = strerror(number);
    } else {
        /* the connection's text belongs to its last call, which may be another one, and have
         * worked */
        const bool last = session->db != NULL && (sqlite3_errcode(session->db) & 0xff) == primary;
        why = last ? sqlite3_errmsg(session->db) : sqlite3_errstr(result);
    }
    if (primary == SQLITE_CANTOPEN && (number == EMFILE || number == ENFILE)) {
        return module_fail(session->error, FIRN_ESTORE,
                           "store %s cannot be opened (%.40s): raise the limit of open files "
                           "(ulimit -n)",
                           path, why);
    }
    for (size_t i = 0; i < sizeof explanations / sizeof explanations[0]; i++) {
        if (explanations[i].result == primary) {
            const bool disk = primary == SQLITE_FULL || primary == SQLITE_IOERR;
            return module_advise(
                session->error, primary == SQLITE_NOMEM ? FIRN_EMEMORY : FIRN_ESTORE,
                disk ? FIRN_CURE_CHECK_STORE : FIRN_CURE_NONE, "store %s %s (%.40s): %s", path,
                explanations[i].what, why, explanations[i].cure);
        }
    }
    return module_fail(session->error, FIRN_ESTORE,
                       "store %s failed (%.60s, %d): name another path", path, why, result);
}

int sqlite_unknown(const sqlite_session *session, int result) {
    return module_fail(
        session->error, FIRN_EUNKNOWN,
        "store %s failed (%.50s), and it is unknown whether the write was done: check"
        " the disk, then send the request again with the same grant",
        sqlite_tail(session->store->path), sqlite3_errstr(result));
}

int sqlite_no_store(const char *path, firn_error *error) {
    return module_fail(error, FIRN_ESTORE,
                       "there is no store at %s: correct the path, or make one there"
                       " with create=yes (sqlite:PATH?create=yes)",
                       sqlite_tail(path));
}

/* ---- connections ----------------------------------------------------------------------------- */

/* SQLite also calls this function for each lock that it does not get. All locks share the verb's
 * time. */
int sqlite_wait(void *self, int tries) {
    static const int naps_ms[] = {1, 2, 5, 10, 15, 20, 25};
    const sqlite_session *session = self;
    int64_t left_ms = session->deadline_ms - module_now_ms();
    int64_t nap_ms = naps_ms[tries < 6 ? tries : 6];
    if (left_ms <= 0) {
        return 0;
    }
    nap_ms = nap_ms < left_ms ? nap_ms : left_ms;
    nanosleep(&(struct timespec){0, nap_ms * 1000000}, NULL);
    return 1;
}

/* SQLite makes FILE-shm longer with one byte in each 4096 bytes. On a file system with smaller
 * blocks the other blocks have no space on the disk yet, and if the disk is full, the first write to
 * the mapped memory ends the process (SIGBUS). Here the kernel reserves the space of these blocks, or
 * refuses. */
static int map_shared(sqlite3_file *file, int region, int size, int extend, void volatile **out) {
    const sqlite3_io_methods *real = ((const sqlite_methods *)(const void *)file->pMethods)->real;
    int result = real->xShmMap(file, region, size, extend, out);
    if (result == SQLITE_OK && *out != NULL) {
        const size_t before = (uintptr_t)*out % (uintptr_t)sysconf(_SC_PAGESIZE);
        uint8_t *const page = (uint8_t *)(uintptr_t)*out - before;
        if (madvise(page, (size_t)size + before, MADV_POPULATE_WRITE) != 0 && errno == EFAULT) {
            *out = NULL; /* else the connection uses this memory the next time, unasked */
            result = SQLITE_FULL;
        }
    }
    return result;
}

/* A VFS may free its methods when it closes the file. */
static int close_shared(sqlite3_file *file) {
    file->pMethods = ((const sqlite_methods *)(const void *)file->pMethods)->real;
    return file->pMethods->xClose(file);
}

static void reserve_shared(sqlite_session *session) {
    sqlite3_file *file = NULL;
    if (sqlite3_file_control(session->db, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK &&
        file->pMethods != NULL && file->pMethods->iVersion >= 2) {
        sqlite_methods *methods = &session->methods;
        const bool fetches = file->pMethods->iVersion > 2;
        methods->real = file->pMethods;
        memcpy(&methods->own, methods->real,
               fetches ? sizeof methods->own : offsetof(sqlite3_io_methods, xFetch));
        methods->own.iVersion = fetches ? 3 : 2; /* of later versions the copy lacks methods */
        methods->own.xShmMap = map_shared;
        methods->own.xClose = close_shared;
        file->pMethods = &methods->own;
    }
}

int sqlite_attach(sqlite_session *session, const char *path) {
    int result = sqlite3_open_v2(path, &session->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                                 session->store->vfs);
    if (result == SQLITE_OK) {
        sqlite3_extended_result_codes(session->db, 1);
        sqlite3_busy_handler(session->db, sqlite_wait, session);
        reserve_shared(session);
    }
    return result;
}

int sqlite_prepare(const sqlite_session *session, sqlite3_stmt **statement, const char *sql,
                   const char *types, ...) {
    va_list values;
    int result = sqlite3_prepare_v2(session->db, sql, -1, statement, NULL);
    va_start(values, types);
    for (int i = 0; types[i] != '\0' && result == SQLITE_OK; i++) {
        result = types[i] == 't'
                     ? sqlite3_bind_text(*statement, i + 1, va_arg(values, const char *), -1,
                                         SQLITE_STATIC)
                     : sqlite3_bind_int64(*statement, i + 1, va_arg(values, int64_t));
    }
    va_end(values);
    return result;
}
