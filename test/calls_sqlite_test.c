/* SPDX-License-Identifier: MIT */
/* Fails each call of the SQLite module: calls_store.h. */
#define CALLERS 8
#define CALLS_DRIVER
#include "calls_store.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "folder.h"

/* ---- the system ----------------------------------------------------------------------------- */

CALL(int, statfs64, (const char *path, struct statfs64 *out), (path, out), 1, -1)
CALL(char *, realpath, (const char *path, char *out), (path, out), 1, NULL)
CALL(int, stat64, (const char *path, struct stat64 *out), (path, out), 1, -1)
CALL(int, fstat64, (int file, struct stat64 *out), (file, out), 1, -1)
CALL(int, fsync, (int file), (file), 1, -1)
CALL(int, link, (const char *from, const char *to), (from, to), 1, -1)
CALL(int, mkostemp64, (char *path, int flags), (path, flags), 1, -1)
CALL(int, mkdir, (const char *path, mode_t mode), (path, mode), 1, -1)
CALL(int, access, (const char *path, int how), (path, how), 1, -1)
CALL(ssize_t, pread64, (int file, void *out, size_t size, off64_t at), (file, out, size, at), 1, -1)
CALL(ssize_t, pwrite64, (int file, const void *from, size_t size, off64_t at),
     (file, from, size, at), 1, -1)
CALL(void *, mmap64, (void *at, size_t size, int may, int kind, int file, off64_t from),
     (at, size, may, kind, file, from), 1, MAP_FAILED)
CALL(int, dladdr, (const void *at, Dl_info *out), (at, out), 1, 0)
CALL(FILE *, fopen64, (const char *path, const char *how), (path, how), 1, NULL)

/* The module is a part of this program, which cannot be unloaded. */
CALL_BY_HAND(void *, dlopen, (const char *path, int flags)) {
    return calls_answer("dlopen", 1, 1) != 0 ? NULL
                                             : __real_dlopen(path != NULL ? NULL : path, flags);
}

/* No such call in this kernel, or a file system without it. */
CALL_BY_HAND(int, renameat2,
             (int from_folder, const char *from, int to_folder, const char *to, unsigned flags)) {
    int which = calls_answer("renameat2", 3, 3);
    errno = which == 1 ? EINVAL : which == 2 ? ENOSYS : which == 3 ? EEXIST : errno;
    return which == 0 ? __real_renameat2(from_folder, from, to_folder, to, flags) : -1;
}

/* The count may be read by its owner only. */
CALL_BY_HAND(int, faccessat, (int at, const char *path, int how, int flags)) {
    int which = calls_answer("faccessat", 2, 2);
    errno = which == 1 ? EACCES : which == 2 ? ENOENT : errno;
    return which == 0 ? __real_faccessat(at, path, how, flags) : -1;
}

/* An error; an old kernel, which does not report the mount; another mount, device or file. */
CALL_BY_HAND(int, statx, (int at, const char *path, int flags, unsigned mask, struct statx *out)) {
    int which = calls_answer("statx", 2, 7);
    int result = __real_statx(at, path, flags, mask, out);
    if (which == 1) {
        errno = ENOENT;
        return -1;
    }
    out->stx_mask &= which == 2 ? ~(unsigned)STATX_MNT_ID : ~0U;
    out->stx_mnt_id += which == 3;
    out->stx_dev_minor += which == 4;
    out->stx_ino += which == 5;
    out->stx_nlink = which == 6 ? 2 : which == 7 ? 0 : out->stx_nlink;
    return result;
}

CALL_BY_HAND(int, open64, (const char *path, int flags, ...)) {
    va_list arguments;
    va_start(arguments, flags);
    int mode = (flags & O_CREAT) != 0 ? va_arg(arguments, int) : 0;
    va_end(arguments);
    int which = calls_answer("open", 2, 2);
    errno = which == 1 ? EACCES : which == 2 ? EMFILE : errno;
    return which == 0 ? __real_open64(path, flags, mode) : -1;
}

/* ---- SQLite --------------------------------------------------------------------------------- */

CALL(int, sqlite3_libversion_number, (void), (), 1, 3036000)
CALL(int, sqlite3_initialize, (void), (), 1, SQLITE_NOMEM)
CALL(int, sqlite3_open_v2, (const char *path, sqlite3 **db, int flags, const char *vfs),
     (path, db, flags, vfs), 3, SQLITE_CANTOPEN, SQLITE_NOMEM, SQLITE_PERM)
CALL(int, sqlite3_prepare_v2,
     (sqlite3 * db, const char *text, int length, sqlite3_stmt **out, const char **rest),
     (db, text, length, out, rest), 4, SQLITE_NOMEM, SQLITE_ERROR, SQLITE_NOTADB, SQLITE_MISUSE)
CALL(int, sqlite3_bind_int64, (sqlite3_stmt * statement, int at, sqlite3_int64 value),
     (statement, at, value), 1, SQLITE_NOMEM)
CALL(int, sqlite3_step, (sqlite3_stmt * statement), (statement), 5, SQLITE_BUSY, SQLITE_IOERR,
     SQLITE_CORRUPT, SQLITE_FULL, SQLITE_NOMEM, SQLITE_DONE)
CALL(const unsigned char *, sqlite3_column_text, (sqlite3_stmt * statement, int column),
     (statement, column), 1, NULL)
CALL(sqlite3_int64, sqlite3_column_int64, (sqlite3_stmt * statement, int column),
     (statement, column), 0, 0, -1, INT64_MAX)
CALL(int, sqlite3_column_int, (sqlite3_stmt * statement, int column), (statement, column), 0, 0, -1)
CALL(int, sqlite3_file_control, (sqlite3 * db, const char *name, int what, void *of),
     (db, name, what, of), 1, SQLITE_ERROR)
CALL(int, sqlite3_wal_checkpoint_v2,
     (sqlite3 * db, const char *name, int how, int *pages, int *done), (db, name, how, pages, done),
     1, SQLITE_BUSY)
CALL(int, sqlite3_mutex_try, (sqlite3_mutex * mutex), (mutex), 1, SQLITE_BUSY)
CALL(sqlite3_mutex *, sqlite3_mutex_alloc, (int id), (id), 1, NULL)

/* The call fails without an effect, or after it. */
CALL_BY_HAND(int, sqlite3_exec,
             (sqlite3 * db, const char *text, int (*each)(void *, int, char **, char **), void *of,
              char **why)) {
    static const int results[] = {SQLITE_BUSY, SQLITE_FULL, SQLITE_IOERR, SQLITE_IOERR};
    int which = calls_answer("sqlite3_exec", 4, 4);
    int result =
        which == 0 || which == 4 ? __real_sqlite3_exec(db, text, each, of, why) : SQLITE_OK;
    return which == 0 ? result : results[which - 1];
}

/* ---- scenarios ------------------------------------------------------------------------------ */

static const calls_scenario scenarios[] = {
    {.title = "a new process", .url = "/first#", .apart = true},
    {.title = "a new file", .url = "/new#", .list_all = true},
    {.title = "a file that is there", .url = "/there.db"},
    {.title = "a store that must exist", .url = "/missing#?create=no", .ns = "n1"},
};

static int enter(void **state) {
    calls_base = url;
    calls_hasty = "busy=300ms";
    calls_patient = "busy=60s";
    return set_up_in_memory(state) != 0 || (url[strlen(url) - strlen("/firn.db")] = '\0') != 0;
}

int main(int count, char **arguments) {
    calls_enter = enter;
    calls_leave = tear_down;
    return calls_main("sqlite", "", scenarios, sizeof scenarios / sizeof scenarios[0],
                      count > 1 ? arguments[1] : NULL);
}
