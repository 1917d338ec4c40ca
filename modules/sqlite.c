/* SPDX-License-Identifier: MIT */
/* The embedded store: the verbs on one SQLite file, each a transaction of its own on a connection
 * of its own, so that no handle exists at a fork. Takes nothing from libfirn; checks no bounds
 * (the wrapper does) and knows no clock. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <firn/firn.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define SCHEMA_VERSION 1
#define OLDEST_SQLITE  3037000 /* the first with STRICT tables */
#define BUSY_MS        10000   /* how long a verb waits for another process without busy_ms= */

/* The log stays behind when a connection closes (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE): copying it
 * into the database and deleting it each time made a reserve cost 1000 us instead of 490, where
 * one sync costs 75. The next connection reads the log again from its start, 2 us a page, so it is
 * emptied as soon as a commit leaves this many pages in it. */
#define LOG_PAGES 16

/* Small pages, since a reservation changes one row, and each commit writes the whole page into the
 * log. */
static const char schema[] =
    "PRAGMA page_size=1024;"
    "PRAGMA synchronous=EXTRA;"
    "BEGIN;"
    "CREATE TABLE meta(version INTEGER NOT NULL) STRICT;"
    "INSERT INTO meta VALUES(1);"
    "CREATE TABLE namespace(name TEXT NOT NULL PRIMARY KEY, row TEXT NOT NULL)"
    " STRICT, WITHOUT ROWID;"
    "CREATE TABLE mark(ns TEXT NOT NULL, key TEXT NOT NULL,"
    " high INTEGER NOT NULL CHECK(typeof(high)='integer' AND high BETWEEN 0 AND "
    "4611686018427387904),"
    " \"grant\" INTEGER NOT NULL, note TEXT NOT NULL, PRIMARY KEY(ns, key)) STRICT, WITHOUT ROWID;"
    "COMMIT;"
    "PRAGMA journal_mode=WAL";
_Static_assert(SCHEMA_VERSION == 1 && FIRN_SLOT_MAX == 4611686018427387904, "the schema says both");

/* The whole of reserve: ?3 count, ?4 earliest, ?5 latest. No row comes back from a busy key. */
static const char reserve_sql[] =
    "INSERT INTO mark(ns, key, high, \"grant\", note) VALUES(?1, ?2, ?4 + ?3, ?6, ?7)"
    " ON CONFLICT(ns, key) DO UPDATE"
    " SET high = max(high, ?4) + ?3, \"grant\" = ?6, note = ?7"
    " WHERE max(high, ?4) <= ?5 RETURNING high";

/* ?3, ?4: the mark as the caller was granted it; ?5: where it stopped. */
static const char give_back_sql[] = "UPDATE mark SET high = ?5, \"grant\" = 0"
                                    " WHERE ns = ?1 AND key = ?2 AND high = ?3 AND \"grant\" = ?4"
                                    " AND ?5 <= high RETURNING high";

static const char list_sql[] = "SELECT m.ns, n.row, m.key, m.note, m.high, m.\"grant\""
                               " FROM mark m JOIN namespace n ON n.name = m.ns"
                               " WHERE ?1 IS NULL OR m.ns = ?1 ORDER BY m.ns, m.key";

#define PATH_ROOM (PATH_MAX - 32) /* a path and its zero; what stands behind it fits PATH_MAX */

typedef struct store {
    char path[PATH_ROOM]; /* absolute */
    char *vfs;            /* or NULL */
    bool unsafe;
    int busy_ms;
    bool checked; /* once found undamaged */
    dev_t device; /* of the file when it was opened */
    ino_t inode;
    void (*failpoint)(void *self, const char *name);
    void *failpoint_self;
} store;

FIRN_API extern const firn_store_ops firn_store_module;

/* One verb under way. */
typedef struct session {
    store *store;
    sqlite3 *db;
    firn_error *error;
} session;

/* The failpoints of one write. */
typedef struct points {
    const char *before, *written, *committed;
} points;

static const points reserve_points = {"reserve.before", "reserve.written", "reserve.committed"};
static const points give_back_points = {"give_back.before", "give_back.written",
                                        "give_back.committed"};

/* ---- failures in words ---------------------------------------------------------------------- */

static int fail(firn_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int fail(firn_error *error, int code, const char *format, ...) {
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->text, 201, format, arguments);
        va_end(arguments);
        for (char *c = error->text; *c != '\0'; c++) {
            if ((unsigned char)*c < ' ' || *c == 127) {
                *c = '?'; /* one line, whatever path or row held */
            }
        }
        error->code = code;
    }
    return code;
}

/* The end of a long path, which tells more than its beginning and leaves room for the cure. */
static const char *tail(const char *path) {
    size_t length = strlen(path);
    return length <= 72 ? path : path + length - 72;
}

static const char damage_cure[] =
    "its marks are lost: use a new path and nodes never used, or wait";

/* Why SQLite would not, and what to do about it. */
static const struct {
    int result;
    const char *what, *cure;
} explanations[] = {
    {SQLITE_BUSY, "is locked by another process", "end the one that holds it (fuser names it)"},
    {SQLITE_PROTOCOL, "is locked by another process", "end the one that holds it (fuser names it)"},
    {SQLITE_READONLY, "cannot be written", "allow this user to write the file and its folder"},
    {SQLITE_PERM, "cannot be written", "allow this user to write the file and its folder"},
    {SQLITE_CANTOPEN, "cannot be opened", "allow this user to write the file and its folder"},
    {SQLITE_NOTADB, "is not a database",
     "name another path (docs/stores.md: an old copy repeats IDs)"},
    {SQLITE_CORRUPT, "is damaged", damage_cure},
    {SQLITE_ERROR, "is not firn's", "name another path (docs/stores.md: an old copy repeats IDs)"},
    {SQLITE_FULL, "found the disk full", "make room on it"},
    {SQLITE_IOERR, "met a failure of input or output", "look at the disk and its space"},
    {SQLITE_NOMEM, "is out of memory", "give this process more"},
};

static int explain(const session *s, int result) {
    const char *path = tail(s->store->path), *why;
    int primary = result & 0xff;
    int number = s->db != NULL ? sqlite3_system_errno(s->db) : 0;
    char waited[32];
    if (primary == SQLITE_BUSY || primary == SQLITE_PROTOCOL) {
        snprintf(waited, sizeof waited, "waited %d ms", s->store->busy_ms);
        why = waited;
    } else if (number != 0 && (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN)) {
        why = strerror(number);
    } else {
        why = s->db != NULL ? sqlite3_errmsg(s->db) : sqlite3_errstr(result);
    }
    for (size_t i = 0; i < sizeof explanations / sizeof explanations[0]; i++) {
        if (explanations[i].result == primary) {
            return fail(s->error, primary == SQLITE_NOMEM ? FIRN_EMEMORY : FIRN_ESTORE,
                        "store %s %s (%.40s): %s", path, explanations[i].what, why,
                        explanations[i].cure);
        }
    }
    return fail(s->error, FIRN_ESTORE, "store %s failed (%.60s, %d): name another path", path, why,
                result);
}

/* ---- fork ----------------------------------------------------------------------------------- */

/* SQLite keeps locks, open files and mutexes for the process, not for the connection. A child that
 * was forked while any thread was inside it must never enter it again, whichever handle it uses,
 * so this guard is the process's too. */
static _Atomic int verbs_under_way;    /* copied by a fork: how many were at that moment */
static _Atomic(_Atomic int *) is_mine; /* a page that holds this process's number, 0 in a child */

/* By the number too: some kernels only say that they wipe the page (qemu-user answers 0 to any
 * advice). */
static bool mine(void) {
    return atomic_load(atomic_load(&is_mine)) == getpid();
}

/* Made by the first open and kept: this module is never unloaded, since SQLite may stay loaded for
 * somebody else, and with it what the guard knows. */
static int make_guard(firn_error *error) {
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    _Atomic int *page, *none = NULL;
    Dl_info self;
    if (atomic_load(&is_mine) != NULL) {
        return FIRN_OK;
    }
    if (dladdr(&firn_store_module, &self) == 0 ||
        dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE) == NULL) {
        return fail(error, FIRN_ESYSTEM,
                    "the sqlite module cannot be kept loaded: install it again");
    }
    page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        return fail(error, FIRN_EMEMORY, "out of memory: give this process more");
    }
    madvise(page, size, MADV_WIPEONFORK); /* where it is missing the number tells */
    atomic_store(page, getpid());
    if (!atomic_compare_exchange_strong(&is_mine, &none, page)) {
        munmap(page, size); /* another thread was first */
    }
    return FIRN_OK;
}

static int forked(firn_error *error) {
    return fail(error, FIRN_EFORKED,
                "this process was forked while the store was at work, so its locks are not"
                " its own: call exec, or fork between calls");
}

/* A child forked between verbs makes the page its own. The count is read before the page is looked
 * at again: whoever raised it in this process had set the page first. */
static int enter(firn_error *error) {
    if (!mine()) {
        if (atomic_load(&verbs_under_way) != 0 && !mine()) {
            return forked(error);
        }
        atomic_store(atomic_load(&is_mine), getpid());
    }
    atomic_fetch_add(&verbs_under_way, 1);
    return FIRN_OK;
}

static void leave(void) {
    atomic_fetch_sub(&verbs_under_way, 1);
}

/* Calls a failpoint. The child of a fork in there comes back too, and must touch nothing. */
static int point(const store *self, const char *name, firn_error *error) {
    if (self->failpoint != NULL) {
        self->failpoint(self->failpoint_self, name);
    }
    return mine() ? FIRN_OK : forked(error);
}

/* ---- place ---------------------------------------------------------------------------------- */

/* File systems that forget what they acknowledged, or whose locks cannot be trusted; numbers of
 * linux/magic.h. */
static const struct {
    uint32_t type;
    const char *name, *why;
} places[] = {
    {0x01021994, "tmpfs", "forgets at a restart"},
    {0x858458f6, "ramfs", "forgets at a restart"},
    {0x794c7630, "overlay", "goes with its container"},
    {0x00006969, "NFS", "has no locks to rely on"},
    {0x0000517b, "SMB", "has no locks to rely on"},
    {0xfe534d42, "SMB", "has no locks to rely on"},
    {0xff534d42, "CIFS", "has no locks to rely on"},
    {0x01021997, "9p", "has no locks to rely on"},
    {0x65735546, "FUSE", "hides what it keeps"},
    {0x786f4256, "vboxsf", "has no locks to rely on"},
    {0x5346414f, "AFS", "has no locks to rely on"},
    {0x73757245, "Coda", "has no locks to rely on"},
    {0x00c36400, "Ceph", "shares no memory between hosts"},
};

/* Judges the file, or the nearest folder above it that exists: there it would be made. */
static int check_place(const store *self, const char *path, firn_error *error) {
    char at[PATH_MAX];
    struct statfs place;
    snprintf(at, sizeof at, "%s", path);
    while (statfs(at, &place) != 0) {
        char *slash = strrchr(at, '/');
        if (errno != ENOENT || strcmp(at, ".") == 0 || strcmp(at, "/") == 0) {
            return fail(error, FIRN_ESTORE, "store %s cannot be reached (%s): name another path",
                        tail(path), strerror(errno));
        }
        if (slash == NULL) {
            strcpy(at, ".");
        } else {
            slash[slash == at] = '\0'; /* what is left of "/name" is "/" */
        }
    }
    for (size_t i = 0; i < sizeof places / sizeof places[0] && !self->unsafe; i++) {
        if (places[i].type == (uint32_t)place.f_type) {
            return fail(error, FIRN_ESTORE,
                        "store %s is on %s, which %s: name a path on a local disk or a volume"
                        " (--store sqlite:PATH), or take the risk with unsafe=1",
                        tail(path), places[i].name, places[i].why);
        }
    }
    return FIRN_OK;
}

/* Makes the folders of a path that are missing, for this user alone. */
static int make_folders(const char *path, firn_error *error) {
    char at[PATH_MAX];
    snprintf(at, sizeof at, "%s", path);
    for (char *slash = strchr(at + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(at, 0700) == 0) {
            chmod(at, 0700); /* a umask may have taken our own rights too */
        } else if (errno != EEXIST && access(at, X_OK) != 0) {
            return fail(error, FIRN_ESTORE, "folder %s cannot be made (%s): make it by hand",
                        tail(at), strerror(errno));
        }
        *slash = '/';
    }
    return FIRN_OK;
}

/* What may not be read was not made by us, and is left as it is. */
static int sync_folder(const char *path) {
    int result = 0, folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        result = fsync(folder) == 0 || errno == EINVAL ? 0 : -1;
        close(folder);
    }
    return result;
}

/* Before a namespace's first mark is acknowledged, every folder on the way to it must last as long
 * as the mark. SQLite syncs the file and its own folder only. */
static int sync_folders(const session *s) {
    char at[PATH_MAX], *slash;
    int result = 0;
    snprintf(at, sizeof at, "%s", s->store->path);
    while (result == 0 && (slash = strrchr(at, '/')) != at) {
        *slash = '\0';
        result = sync_folder(at);
    }
    if (result != 0 || sync_folder("/") != 0) {
        return fail(s->error, FIRN_ESTORE, "folder %s cannot be synced (%s): look at the disk",
                    tail(at), strerror(errno));
    }
    return FIRN_OK;
}

/* ---- the file ------------------------------------------------------------------------------- */

static int attach(session *s, const char *path) {
    int result =
        sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, s->store->vfs);
    if (result == SQLITE_OK) {
        sqlite3_extended_result_codes(s->db, 1);
        sqlite3_busy_timeout(s->db, s->store->busy_ms);
    }
    return result;
}

/* Removes what a failed creation left. */
static void remove_all(const char *path) {
    static const char *const suffixes[] = {"", "-journal", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char name[PATH_MAX + 16];
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        unlink(name);
    }
}

static int fill_file(store *self, const char *path, firn_error *error) {
    session s = {self, NULL, error};
    int code = FIRN_OK, result = attach(&s, path);
    if (result == SQLITE_OK) {
        result = sqlite3_exec(s.db, schema, NULL, NULL, NULL);
    }
    if (result != SQLITE_OK) {
        code = explain(&s, result);
    }
    sqlite3_close(s.db);
    return code;
}

/* The database comes into its folder whole, by link(2): nobody ever sees it half made, and an
 * empty file is known to be one that was cut off. It is made by ourselves first, since SQLite
 * would ask the umask. */
static int make_file(store *self, firn_error *error) {
    char path[PATH_MAX + 8];
    int file, code;
    snprintf(path, sizeof path, "%s.XXXXXX", self->path);
    file = mkostemp(path, O_CLOEXEC);
    if (file < 0) {
        return fail(error, FIRN_ESTORE,
                    "store %s cannot be made (%s): make its folder one that this user can write",
                    tail(self->path), strerror(errno));
    }
    fchmod(file, 0600);
    close(file); /* before SQLite has locks on it, which this would drop */
    code = point(self, "create.before", error);
    if (code == FIRN_OK) {
        code = fill_file(self, path, error);
    }
    if (code == FIRN_OK) {
        code = point(self, "create.written", error);
    }
    if (code == FIRN_OK && link(path, self->path) != 0 && errno != EEXIST) {
        code = fail(error, FIRN_ESTORE, "store %s cannot be made (%s): name another path",
                    tail(self->path), strerror(errno));
    }
    if (code != FIRN_EFORKED) {
        remove_all(path);
    }
    return code == FIRN_OK ? point(self, "create.committed", error) : code;
}

static int find_or_make_file(store *self, firn_error *error) {
    struct stat file;
    int code;
    if (access(self->path, F_OK) != 0 && errno == ENOENT) {
        code = enter(error);
        if (code != FIRN_OK) {
            return code;
        }
        code = make_file(self, error);
        if (code != FIRN_EFORKED) {
            leave();
        }
        if (code != FIRN_OK) {
            return code;
        }
    }
    if (stat(self->path, &file) != 0 || !S_ISREG(file.st_mode)) {
        return fail(error, FIRN_ESTORE, "store %s is not a file that can be reached: name another",
                    tail(self->path));
    }
    self->device = file.st_dev;
    self->inode = file.st_ino;
    return check_place(self, self->path, error);
}

/* ---- open ----------------------------------------------------------------------------------- */

/* What may stand behind the path: sqlite:PATH?busy_ms=500&unsafe=1 */
static int parse_keys(store *self, char *keys, firn_error *error) {
    char *rest = keys;
    for (char *key; (key = strtok_r(rest, "&", &rest)) != NULL;) {
        char digits[7], end;
        if (sscanf(key, "busy_ms=%6[0-9]%c", digits, &end) == 1) {
            self->busy_ms = atoi(digits);
        } else if (sscanf(key, "unsafe=%1[01]%c", digits, &end) == 1) {
            self->unsafe |= *digits == '1';
        } else {
            return fail(error, FIRN_EUSAGE,
                        "'%.60s' is unknown to a sqlite store: use busy_ms=0..999999, unsafe=1",
                        key);
        }
    }
    return FIRN_OK;
}

/* Makes the folder, and the path absolute: later a process may have changed its own folder. */
static int settle_path(store *self, const char *path, firn_error *error) {
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    char folder[PATH_MAX], real[PATH_MAX];
    int code, length;
    if (strlen(path) >= PATH_ROOM) {
        return fail(error, FIRN_EUSAGE, "the path of the store has %zu bytes: use at most %d",
                    strlen(path), PATH_ROOM - 1);
    }
    if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        return fail(error, FIRN_EUSAGE, "'sqlite:%s' names no file: use sqlite:PATH", tail(path));
    }
    if ((code = check_place(self, path, error)) != FIRN_OK ||
        (code = make_folders(path, error)) != FIRN_OK) {
        return code;
    }
    snprintf(folder, sizeof folder, "%.*s.", (int)(name - path), path);
    if (realpath(folder, real) == NULL) {
        return fail(error, FIRN_ESTORE, "folder %s cannot be reached (%s): name another",
                    tail(folder), strerror(errno));
    }
    length = snprintf(self->path, sizeof self->path, "%s/%s", real[1] == '\0' ? "" : real, name);
    return length < PATH_ROOM ? FIRN_OK
                              : fail(error, FIRN_EUSAGE, "%s is a long path of %d bytes: use %d",
                                     tail(path), length, PATH_ROOM - 1);
}

static void sqlite_close(void *self) {
    store *it = self;
    free(it->vfs);
    free(it);
}

static int set_up(store *self, const char *url, firn_error *error) {
    char path[2 * PATH_MAX], *keys;
    int code = FIRN_OK;
    snprintf(path, sizeof path, "%s", strncmp(url, "sqlite:", 7) == 0 ? url + 7 : url);
    if ((keys = strrchr(path, '?')) != NULL) {
        *keys++ = '\0';
        code = parse_keys(self, keys, error);
    }
    if (code == FIRN_OK) {
        code = settle_path(self, path, error);
    }
    return code == FIRN_OK ? find_or_make_file(self, error) : code;
}

static int sqlite_open(void **self, const char *url, const firn_store_options *options,
                       firn_error *error) {
    static const firn_store_options none;
    store *it;
    int code = make_guard(error);
    if (code == FIRN_OK && sqlite3_libversion_number() < OLDEST_SQLITE) {
        code = fail(error, FIRN_ESYSTEM, "SQLite is %s: use 3.37 or newer", sqlite3_libversion());
    }
    if (code != FIRN_OK) {
        return code;
    }
    options = options != NULL ? options : &none;
    it = calloc(1, sizeof *it);
    if (it == NULL || (options->vfs != NULL && (it->vfs = strdup(options->vfs)) == NULL)) {
        free(it);
        return fail(error, FIRN_EMEMORY, "out of memory: give this process more");
    }
    it->busy_ms = BUSY_MS;
    it->unsafe = options->unsafe;
    it->failpoint = options->failpoint;
    it->failpoint_self = options->failpoint_self;
    code = set_up(it, url, error);
    if (code != FIRN_OK) {
        sqlite_close(it);
        return code;
    }
    *self = it;
    return FIRN_OK;
}

/* ---- one transaction ------------------------------------------------------------------------ */

/* Called after a commit with the length of the log. Best effort, and without waiting: while
 * somebody reads the old state the log grows on, and the next commit tries again. */
static int shorten_log(void *self, sqlite3 *db, const char *name, int pages) {
    const store *it = self;
    if (pages >= LOG_PAGES && point(it, "checkpoint.before", NULL) == FIRN_OK) {
        sqlite3_busy_timeout(db, 0);
        sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
        (void)point(it, "checkpoint.committed", NULL);
    }
    return SQLITE_OK;
}

/* Prepares a statement and binds values that outlive it: t a text, i an int64_t. */
static int prepare(const session *s, sqlite3_stmt **statement, const char *sql, const char *types,
                   ...) {
    va_list values;
    int result = sqlite3_prepare_v2(s->db, sql, -1, statement, NULL);
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

static int check_version(const session *s) {
    sqlite3_stmt *statement;
    int result = prepare(s, &statement, "SELECT version FROM meta", "");
    int64_t version = SCHEMA_VERSION;
    int code = FIRN_OK;
    if (result == SQLITE_OK && (result = sqlite3_step(statement)) == SQLITE_ROW) {
        version = sqlite3_column_int64(statement, 0);
    }
    if (result != SQLITE_ROW) {
        code = explain(s, result == SQLITE_DONE ? SQLITE_ERROR : result);
    } else if (version != SCHEMA_VERSION) {
        code = fail(s->error, FIRN_ESTORE,
                    "store %s has schema %lld and this firn knows %d only: use a newer firn",
                    tail(s->store->path), (long long)version, SCHEMA_VERSION);
    }
    sqlite3_finalize(statement);
    return code;
}

/* The file that this handle was opened on holds the marks; another one under its name knows
 * nothing of them. */
static int check_file(const store *self, firn_error *error) {
    struct stat file;
    if (stat(self->path, &file) != 0) {
        return fail(error, FIRN_ESTORE, "store %s is gone (%s): bring it back and start again",
                    tail(self->path), strerror(errno));
    }
    if (file.st_dev != self->device || file.st_ino != self->inode) {
        return fail(error, FIRN_ESTORE, "store %s was replaced while in use: start again",
                    tail(self->path));
    }
    return FIRN_OK;
}

/* Closes without a checkpoint; an open transaction is rolled back. A child of a fork leaves all of
 * it alone. */
static int finish(session *s, int code) {
    if (mine()) {
        sqlite3_close(s->db);
        leave();
    }
    return code;
}

/* Opens a connection and a transaction; after a failure nothing is open. synchronous=EXTRA is FULL
 * as long as the file is in WAL mode, and also holds when somebody took it out of that. */
static int start(session *s, store *self, const char *begin, firn_error *error) {
    int result, on = 1, code = enter(error);
    *s = (session){self, NULL, error};
    if (code != FIRN_OK) {
        return code;
    }
    if ((code = check_file(self, error)) != FIRN_OK) {
        return finish(s, code);
    }
    if ((result = attach(s, self->path)) == SQLITE_OK) {
        sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, on, &on);
        sqlite3_wal_hook(s->db, shorten_log, self);
        result = sqlite3_exec(s->db, "PRAGMA synchronous=EXTRA", NULL, NULL, NULL);
    }
    if (result == SQLITE_OK) {
        result = sqlite3_exec(s->db, begin, NULL, NULL, NULL);
    }
    code = result == SQLITE_OK ? check_version(s) : explain(s, result);
    return code == FIRN_OK ? code : finish(s, code);
}

/* Ends every doubt about what the log holds: takes back the open transaction, brings the rest into
 * the database, syncs that, and empties the log. A commit whose sync failed lies behind the log's
 * end, where a later connection might find it; and what was read from a log whose sync failed may
 * be in memory only. Neither survives this. */
static int settle(const session *s) {
    sqlite3_file *log = NULL;
    int result = SQLITE_OK;
    if (!sqlite3_get_autocommit(s->db)) {
        result = sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    }
    if (result == SQLITE_OK) {
        result = sqlite3_wal_checkpoint_v2(s->db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    }
    if (result == SQLITE_OK) { /* SQLite leaves it to the next commit to make the cut last */
        result = sqlite3_file_control(s->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    }
    if (result == SQLITE_OK && log != NULL && log->pMethods != NULL) {
        result = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
    }
    return result;
}

static int unknown(const session *s, int result) {
    return fail(s->error, FIRN_EUNKNOWN,
                "store %s failed (%.50s) and does not say whether it counts: look at the"
                " disk, then ask again with the same grant",
                tail(s->store->path), sqlite3_errstr(result));
}

static int commit(session *s, const points *at) {
    int code = point(s->store, at->written, s->error), result;
    if (code != FIRN_OK) {
        return code;
    }
    result = sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);
    if (result != SQLITE_OK) {
        code = explain(s, result);
        return settle(s) == SQLITE_OK ? code : unknown(s, result);
    }
    return point(s->store, at->committed, s->error); /* the child of a fork has no part in it */
}

/* ---- verbs ---------------------------------------------------------------------------------- */

static int first_use(session *s, const firn_request *request) {
    sqlite3_stmt *statement;
    int result, code = point(s->store, "namespace.before", s->error);
    if (code != FIRN_OK || (code = sync_folders(s)) != FIRN_OK) {
        return code;
    }
    result = prepare(s, &statement, "INSERT INTO namespace(name, row) VALUES(?1, ?2)", "tt",
                     request->ns, request->row);
    if (result == SQLITE_OK) {
        result = sqlite3_step(statement);
    }
    code = result == SQLITE_DONE ? FIRN_OK : explain(s, result);
    sqlite3_finalize(statement);
    return code == FIRN_OK ? point(s->store, "namespace.written", s->error) : code;
}

static int other_row(const session *s, const firn_request *request, const char *row) {
    size_t same = 0;
    while (row[same] != '\0' && row[same] == request->row[same]) {
        same++;
    }
    /* Long rows are shown from a little before the place where they differ. */
    same = same < 24 || strlen(row) + strlen(request->row) < 96 ? 0 : same - 8;
    return fail(s->error, FIRN_EROW,
                "namespace %.24s holds row '%.48s', not '%.48s': use another ns= for this one",
                request->ns, row + same, request->row + same);
}

static int check_row(session *s, const firn_request *request) {
    sqlite3_stmt *statement;
    int result =
        prepare(s, &statement, "SELECT row FROM namespace WHERE name = ?1", "t", request->ns);
    int code = FIRN_OK;
    if (result == SQLITE_OK) {
        result = sqlite3_step(statement);
    }
    if (result == SQLITE_ROW) {
        const char *row = (const char *)sqlite3_column_text(statement, 0);
        if (row == NULL) {
            code = explain(s, SQLITE_NOMEM);
        } else if (strcmp(row, request->row) != 0) {
            code = other_row(s, request, row);
        }
    } else if (result != SQLITE_DONE) {
        code = explain(s, result);
    }
    sqlite3_finalize(statement);
    return result == SQLITE_DONE ? first_use(s, request) : code;
}

/* Runs a write that returns its new mark, or no row where its condition did not hold. The row
 * comes before the commit, so nothing counts yet; and only the step after it tells that the write
 * is complete. */
static int write_mark(const session *s, sqlite3_stmt *statement, bool *written, int64_t *high) {
    int result = sqlite3_step(statement);
    *written = result == SQLITE_ROW;
    if (*written) {
        *high = sqlite3_column_int64(statement, 0);
        result = sqlite3_step(statement);
    }
    return result == SQLITE_DONE ? FIRN_OK : explain(s, result);
}

static int read_mark(const session *s, const firn_request *request, firn_mark *mark, bool *found) {
    sqlite3_stmt *statement;
    int result =
        prepare(s, &statement, "SELECT high, \"grant\" FROM mark WHERE ns = ?1 AND key = ?2", "tt",
                request->ns, request->key);
    if (result == SQLITE_OK) {
        result = sqlite3_step(statement);
    }
    *found = result == SQLITE_ROW;
    if (*found) {
        mark->high = sqlite3_column_int64(statement, 0);
        mark->grant = (uint64_t)sqlite3_column_int64(statement, 1);
    }
    sqlite3_finalize(statement);
    return *found || result == SQLITE_DONE ? FIRN_OK : explain(s, result);
}

static int keep_verdict(void *context, int columns, char **texts, char **names) {
    (void)columns;
    (void)names;
    snprintf(context, 48, "%s", texts[0] != NULL ? texts[0] : "");
    return 0;
}

/* Before the first key of this handle starts from nothing: a file that lost a page, or the end of
 * one, would know nothing of its marks either. */
static int check_whole(const session *s) {
    char verdict[48] = "";
    int result = s->store->checked
                     ? SQLITE_OK
                     : sqlite3_exec(s->db, "PRAGMA quick_check(1)", keep_verdict, verdict, NULL);
    if (result != SQLITE_OK) {
        return explain(s, result);
    }
    if (!s->store->checked && strcmp(verdict, "ok") != 0) {
        return fail(s->error, FIRN_ESTORE, "store %s is damaged (%s): %s", tail(s->store->path),
                    verdict, damage_cure);
    }
    s->store->checked = true;
    return FIRN_OK;
}

/* Tells who holds the key, as this transaction sees it. Meeting its own grant the caller will take
 * the slots for granted, so they must be as durable as a grant. */
static int busy(const session *s, const firn_request *request, const firn_mark *mark,
                firn_mark *held) {
    int result;
    if (mark->grant == request->grant && (result = settle(s)) != SQLITE_OK) {
        return unknown(s, result);
    }
    *held = *mark;
    return fail(s->error, FIRN_EBUSY,
                "%.24s/%.63s is granted up to %lld, past %lld: use another node or wait",
                request->ns, request->key, (long long)mark->high, (long long)request->latest);
}

static int upsert(session *s, const firn_request *request, bool *written, int64_t *high) {
    sqlite3_stmt *statement;
    int code, result = prepare(s, &statement, reserve_sql, "ttiiiit", request->ns, request->key,
                               request->count, request->earliest, request->latest,
                               (int64_t)request->grant, request->note != NULL ? request->note : "");
    code = result == SQLITE_OK ? write_mark(s, statement, written, high) : explain(s, result);
    sqlite3_finalize(statement);
    return code;
}

static int reserve(session *s, const firn_request *request, int64_t *first, firn_mark *held) {
    firn_mark mark = {0, 0};
    bool found = false, written = false;
    int64_t high = 0;
    int code = check_row(s, request);
    if (code == FIRN_OK) {
        code = read_mark(s, request, &mark, &found);
    }
    if (code == FIRN_OK && !found) {
        code = check_whole(s);
    }
    if (code == FIRN_OK) {
        code = point(s->store, reserve_points.before, s->error);
    }
    if (code == FIRN_OK) {
        code = upsert(s, request, &written, &high);
    }
    if (code == FIRN_OK) {
        code = written ? commit(s, &reserve_points) : busy(s, request, &mark, held);
    }
    if (code == FIRN_OK) {
        *first = high - request->count;
    }
    return code;
}

static int sqlite_reserve(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                          firn_error *error) {
    session s;
    int code = start(&s, self, "BEGIN IMMEDIATE", error);
    return code != FIRN_OK ? code : finish(&s, reserve(&s, request, first, held));
}

static int give_back(session *s, const char *ns, const char *key, const firn_mark *mark,
                     int64_t high) {
    sqlite3_stmt *statement;
    bool written = false;
    int result, code = point(s->store, give_back_points.before, s->error);
    if (code != FIRN_OK) {
        return code;
    }
    result = prepare(s, &statement, give_back_sql, "ttiii", ns, key, mark->high,
                     (int64_t)mark->grant, high);
    code = result == SQLITE_OK ? write_mark(s, statement, &written, &high) : explain(s, result);
    sqlite3_finalize(statement);
    if (code == FIRN_OK && !written) {
        code = fail(s->error, FIRN_EBUSY,
                    "%.24s/%.63s was not given back: its mark is not %lld of this grant any more",
                    ns, key, (long long)mark->high);
    }
    return code == FIRN_OK ? commit(s, &give_back_points) : code;
}

static int sqlite_give_back(void *self, const char *ns, const char *key, const firn_mark *mark,
                            int64_t high, firn_error *error) {
    session s;
    int code = start(&s, self, "BEGIN IMMEDIATE", error);
    return code != FIRN_OK ? code : finish(&s, give_back(&s, ns, key, mark, high));
}

static int visit_rows(const session *s, sqlite3_stmt *statement, firn_visit *visit, void *context) {
    int result, code = FIRN_OK;
    while (code == FIRN_OK && (result = sqlite3_step(statement)) != SQLITE_DONE) {
        const char *text[4];
        if (result != SQLITE_ROW) {
            return explain(s, result);
        }
        for (int i = 0; i < 4; i++) {
            text[i] = (const char *)sqlite3_column_text(statement, i);
            if (text[i] == NULL) {
                return explain(s, SQLITE_NOMEM);
            }
        }
        firn_holding holding = {
            text[0],
            text[1],
            text[2],
            text[3],
            {sqlite3_column_int64(statement, 4), (uint64_t)sqlite3_column_int64(statement, 5)}};
        code = visit(context, &holding);
        if (!mine()) {
            return forked(s->error);
        }
    }
    return code;
}

static int sqlite_list(void *self, const char *ns, firn_visit *visit, void *context,
                       firn_error *error) {
    session s;
    sqlite3_stmt *statement = NULL;
    int result, code = start(&s, self, "BEGIN", error);
    if (code != FIRN_OK) {
        return code;
    }
    result = prepare(&s, &statement, list_sql, "t", ns);
    code = result == SQLITE_OK ? visit_rows(&s, statement, visit, context) : explain(&s, result);
    if (mine()) {
        sqlite3_finalize(statement);
    }
    return finish(&s, code);
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
