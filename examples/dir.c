/* SPDX-License-Identifier: MIT */
/* A store in a directory of a local file system, dir:PATH[?unsafe=1]. An example of a driver, which
 * docs/guides/own-store.md explains.
 *
 *     PATH/lock     flock: shared for a read, exclusive for a write; never removed
 *     PATH/rows     all records, sorted by namespace and key
 *
 * The rows never change: a write makes PATH/new, syncs it, and renames it. A process that is killed
 * leaves the old rows or the new ones. Each write copies all rows, of 0.9 KB, so this store is for
 * hundreds of keys, not for millions.
 *
 * The rows contain the inode and the time of birth of their own file. A file that was copied back,
 * or overwritten by an older one, has others than it contains. What nothing notices: rows that were
 * moved away and back, a hard link, and a snapshot of the whole file system. */
#include <errno.h>
#include <fcntl.h>
#include <firn/store.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define PATH_SIZE (PATH_MAX + 8)

/* The store's record has the namespace "" and the key "". A namespace's record has the key "". */
typedef struct mark_row {
    char ns[FIRN_NS_SIZE], key[FIRN_KEY_SIZE];
    char text[FIRN_LAYOUT_SIZE];       /* layout of a namespace, note of a key */
    int64_t losses, floor;             /* of the store and of namespaces; of namespaces */
    firn_mark mark;                    /* of a key */
    uint64_t origin, version, witness; /* of the store; of the file that has this row */
} mark_row;

typedef struct mark_rows {
    mark_row *all;
    size_t count;
    uint64_t witness; /* of the file that they were read from */
} mark_rows;

typedef struct dir {
    firn_store_options options;
    char path[PATH_MAX], lock[PATH_SIZE], rows[PATH_SIZE], made[PATH_SIZE];
    int64_t end_ms; /* deadline of the verb */
    mark_rows seen; /* by the last read: the texts of the records are in here */
    mark_rows now;  /* of the write in progress, under the lock */
} dir;

/* The driver's part of the records: the version of the store's record, and whether firn wrote
 * another file. */
enum { OWN_VERSION, OWN_LOST };

static int fail(const dir *d, int code, const char *what, firn_error *error) {
    return firn_driver_fail(error, code, "store %.200s: %s (%s)", d->path, what, strerror(errno));
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int by_names(const void *a, const void *b) {
    const mark_row *x = a, *y = b;
    const int order = strcmp(x->ns, y->ns);
    return order != 0 ? order : strcmp(x->key, y->key);
}

static mark_row none; /* in place of a row that does not exist */

static mark_row *find(const mark_rows *in, const char *ns, const char *key) {
    for (size_t i = 0; i < in->count; i++) {
        if (strcmp(in->all[i].ns, ns) == 0 && strcmp(in->all[i].key, key) == 0) {
            return &in->all[i];
        }
    }
    return &none;
}

/* Makes a row with these names and this text, otherwise empty. There is room. */
static mark_row *put(mark_rows *in, const char *ns, const char *key, const char *text) {
    mark_row *row = find(in, ns, key);
    row = row == &none ? &in->all[in->count++] : row;
    *row = none;
    snprintf(row->ns, sizeof row->ns, "%s", ns);
    snprintf(row->key, sizeof row->key, "%s", key);
    snprintf(row->text, key[0] != '\0' ? FIRN_NOTE_SIZE : FIRN_LAYOUT_SIZE, "%s", text);
    return row;
}

/* No other file, and no copy, ever has both again. 0: unknown. */
static uint64_t witness_of(int file) {
    struct statx about;
    const bool known = statx(file, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &about) == 0 &&
                       (about.stx_mask & STATX_BTIME) != 0;
    return known ? about.stx_ino ^ (uint64_t)about.stx_btime.tv_sec << 32 ^
                       about.stx_btime.tv_nsec * UINT64_C(0x9E3779B97F4A7C15)
                 : 0;
}

/* With room for the three rows that a write can add. */
static int load(mark_rows *out, const dir *d, firn_error *error) {
    struct stat about = {0};
    int file = open(d->rows, O_RDONLY | O_CLOEXEC);
    bool right = file >= 0 ? fstat(file, &about) == 0 && about.st_size > 0 : errno == ENOENT;
    const size_t size = (size_t)about.st_size;
    free(out->all);
    *out = (mark_rows){malloc(size + 3 * sizeof(mark_row)), size / sizeof(mark_row),
                       file >= 0 ? witness_of(file) : 0};
    right = right && out->all != NULL && size % sizeof(mark_row) == 0;
    if (file >= 0) {
        right = right && read(file, out->all, size) == (ssize_t)size;
        close(file);
    }
    return right ? FIRN_OK : fail(d, FIRN_ESTORE, "its rows cannot be read", error);
}

static bool sync_folder(const char *path) {
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool right = folder >= 0 && fsync(folder) == 0;
    return folder >= 0 && close(folder) == 0 && right;
}

/* Makes PATH/new, which nobody reads yet, sorted. A loss that is not counted yet stays visible. */
static bool save(mark_rows *rows, const dir *d, bool lost) {
    int file = open(d->made, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    const uint64_t witness = file < 0 || lost ? 0 : witness_of(file);
    const size_t size = rows->count * sizeof(mark_row);
    qsort(rows->all, rows->count, sizeof(mark_row), by_names);
    rows->all[0].witness = witness; /* the store's row is the first */
    const bool right = file >= 0 && (lost || witness != 0) &&
                       write(file, rows->all, size) == (ssize_t)size && fsync(file) == 0;
    return file >= 0 && close(file) == 0 && right;
}

/* ---- the lock -------------------------------------------------------------------------------- */

/* A lock belongs to all copies of its descriptor, and a child that any thread forked has a copy. So
 * closing does not unlock, and a child must not unlock what its parent has. */
static void unlock(int lock, bool child) {
    if (!child) {
        flock(lock, LOCK_UN);
    }
    close(lock);
}

/* Waits until the deadline, as the holder may be stopped; a process that is killed unlocks. Then
 * reads the rows. After a failure nothing is locked. */
static int lock_rows(int *lock, mark_rows *out, const dir *d, int how, firn_error *error) {
    *lock = open(d->lock, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    while (*lock >= 0 && flock(*lock, how | LOCK_NB) != 0) {
        if (now_ms() >= d->end_ms) {
            close(*lock);
            *lock = -1;
        }
        nanosleep(&(struct timespec){0, 500000}, NULL);
    }
    if (*lock < 0) {
        return fail(d, FIRN_ESTORE, "another process holds its lock", error);
    }
    int code = load(out, d, error);
    if (code != FIRN_OK) {
        unlock(*lock, false);
    }
    return code;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int dir_begin(void *self, const firn_records *names, firn_verb verb, firn_error *error) {
    dir *d = self;
    (void)names, (void)verb, (void)error;
    d->end_ms = now_ms() + (d->options.wait_ms > 0 ? d->options.wait_ms : 5000);
    return FIRN_OK;
}

static void fill(firn_records *out, const mark_rows *in) {
    const mark_row *store = find(in, "", ""), *all = find(in, FIRN_ALL_NAMES, "");
    const mark_row *ns = find(in, out->ns, ""), *key = find(in, out->ns, out->key);
    out->fresh = true; /* under the lock, so after everything that was acknowledged */
    out->known = store != &none;
    out->origin = store->origin;
    out->losses = store->losses;
    out->own[OWN_VERSION] = store->version;
    out->own[OWN_LOST] = store->witness != in->witness;
    out->all_new = all != &none && all->losses == store->losses;
    out->shut = firn_layout_closed(all->text) ? all->text : NULL;
    out->ns_known = ns != &none;
    out->layout = ns->text;
    out->ns_losses = ns->losses;
    out->floor = ns->floor;
    out->key_known = key != &none;
    out->mark = key->mark;
    out->note = key->text;
}

static int dir_read(void *self, firn_records *seen, bool surely, firn_error *error) {
    dir *d = self;
    int lock, code = lock_rows(&lock, &d->seen, d, LOCK_SH, error);
    (void)surely;
    if (code == FIRN_OK) {
        fill(seen, &d->seen);
        unlock(lock, false);
    }
    return code;
}

static bool dir_lost(void *self, const firn_records *seen) {
    (void)self;
    return seen->own[OWN_LOST] != 0;
}

/* The process that renamed the rows may have been killed before it synced the folder. */
static int dir_confirm(void *self, firn_error *error) {
    const dir *d = self;
    return sync_folder(d->path) ? FIRN_OK : fail(d, FIRN_ESTORE, "cannot sync", error);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Whole contents, the mark with its grant. The store's record needs a version, as it may be written
 * unchanged. */
static bool same_records(const firn_records *a, const firn_records *b) {
    const bool store = a->known == b->known && a->origin == b->origin && a->losses == b->losses &&
                       a->own[OWN_VERSION] == b->own[OWN_VERSION] &&
                       a->own[OWN_LOST] == b->own[OWN_LOST];
    const bool ns = a->ns_known == b->ns_known && strcmp(a->layout, b->layout) == 0 &&
                    a->ns_losses == b->ns_losses && a->floor == b->floor;
    const bool key = a->key_known == b->key_known && a->mark.high == b->mark.high &&
                     a->mark.grant == b->mark.grant;
    return store && ns && key;
}

/* Puts what `which` names into the rows. */
static void change(mark_rows *rows, firn_records *next, int which) {
    if ((which & FIRN_RECORD_STORE) != 0) {
        mark_row *row = put(rows, "", "", "");
        row->losses = next->losses;
        row->origin = next->origin;
        row->version = ++next->own[OWN_VERSION];
    }
    if ((which & FIRN_RECORD_NS) != 0) {
        mark_row *row = put(rows, next->ns, "", next->layout);
        row->losses = next->ns_losses;
        row->floor = next->floor;
    }
    if ((which & FIRN_RECORD_KEY) != 0) {
        put(rows, next->ns, next->key, next->note)->mark = next->mark;
    }
}

static int write_locked(dir *d, const firn_records *seen, firn_records *next, int which,
                        firn_verb verb, firn_error *error) {
    firn_records found = {.ns = seen->ns, .key = seen->key};
    fill(&found, &d->now);
    if (!same_records(seen, &found)) {
        return FIRN_WRITE_CHANGED;
    }
    if (!seen->known && getentropy(&next->origin, sizeof next->origin) != 0) {
        return fail(d, FIRN_ESYSTEM, "no random number", error);
    }
    change(&d->now, next, which);
    next->own[OWN_LOST] = seen->own[OWN_LOST] != 0 && next->losses <= seen->losses;
    if (!save(&d->now, d, next->own[OWN_LOST] != 0)) {
        return fail(d, FIRN_ESTORE, "cannot write", error);
    }
    int code = firn_driver_point(&d->options, seen, verb, FIRN_POINT_SENT, error);
    if (code == FIRN_OK && (rename(d->made, d->rows) != 0 || !sync_folder(d->path))) {
        code = fail(d, FIRN_EUNKNOWN, "cannot sync", error);
    }
    return code;
}

static int dir_write(void *self, const firn_records *seen, firn_records *next, int which,
                     firn_verb verb, firn_error *error) {
    dir *d = self;
    int lock, code = firn_driver_point(&d->options, seen, verb, FIRN_POINT_BEFORE, error);
    code = code == FIRN_OK ? lock_rows(&lock, &d->now, d, LOCK_EX, error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    code = write_locked(d, seen, next, which, verb, error);
    unlock(lock, code == FIRN_EFORKED);
    return code == FIRN_OK ? firn_driver_point(&d->options, seen, verb, FIRN_POINT_COMMITTED, error)
                           : code;
}

/* ---- listing --------------------------------------------------------------------------------- */

static int dir_list(void *self, const char *ns, firn_visit *visit, void *context,
                    firn_error *error) {
    mark_rows in = {0};
    int code = load(&in, self, error); /* without the lock: the rows never change */
    const mark_row *space = NULL;
    for (size_t i = 0; code == FIRN_OK && i < in.count; i++) {
        const mark_row *row = &in.all[i];
        space = row->key[0] == '\0' ? row : space; /* comes before its keys */
        const bool last = i + 1 == in.count || strcmp(in.all[i + 1].ns, row->ns) != 0;
        const bool wanted = ns != NULL ? strcmp(ns, row->ns) == 0 : row->ns[0] != '\0';
        if (wanted && (row != space || (ns == NULL && last))) {
            const char *note = row != space ? row->text : "";
            code = visit(context, &(firn_holding){row->ns, space->text, row->key, note, row->mark,
                                                  space->floor});
        }
    }
    free(in.all);
    return code;
}

/* ---- the handle ------------------------------------------------------------------------------ */

static const char *dir_where(void *self) {
    return ((const dir *)self)->path;
}

/* Local disks keep what was synced, and their locks are true. */
static const char *dir_caution(void *self) {
    struct statfs about = {0};
    statfs(((const dir *)self)->path, &about);
    const uint32_t type = (uint32_t)about.f_type; /* ext4, xfs, btrfs, zfs, f2fs */
    const bool safe = type == 0xEF53 || type == 0x58465342 || type == 0x9123683E ||
                      type == 0x2FC12FC1 || type == 0xF2F52010;
    return safe ? NULL : "its file system may lose what was synced";
}

static void dir_close(void *self) {
    free(((dir *)self)->seen.all);
    free(((dir *)self)->now.all);
    free(self);
}

static int settle(dir *d, const char *url, firn_error *error) {
    char path[PATH_MAX], above[PATH_SIZE];
    const char *parameter = strchr(url, '?');
    snprintf(path, sizeof path, "%s", url + strlen("dir:"));
    path[strcspn(path, "?")] = '\0';
    if (path[0] == '\0' || (parameter != NULL && strcmp(parameter, "?unsafe=1") != 0)) {
        return firn_driver_fail(error, FIRN_EUSAGE,
                                "'%.60s' is not a store: write dir:PATH or dir:PATH?unsafe=1",
                                parameter != NULL ? parameter + 1 : url);
    }
    const bool makes = !d->options.must_exist && mkdir(path, 0777) == 0;
    if (realpath(path, d->path) == NULL) {
        return fail(d, FIRN_ESTORE, "cannot be opened", error);
    }
    snprintf(d->lock, PATH_SIZE, "%s/lock", d->path);
    snprintf(d->rows, PATH_SIZE, "%s/rows", d->path);
    snprintf(d->made, PATH_SIZE, "%s/new", d->path);
    snprintf(above, PATH_SIZE, "%s/..", d->path);
    if (makes && !sync_folder(above)) {
        return fail(d, FIRN_ESTORE, "cannot sync the folder above", error);
    }
    const char *caution = dir_caution(d);
    return caution == NULL || d->options.unsafe || parameter != NULL
               ? FIRN_OK
               : firn_driver_fail(error, FIRN_ESTORE, "store %.200s: %s: use ext4, xfs or btrfs",
                                  d->path, caution);
}

static int dir_open(void **self, const char *url, const firn_store_options *options,
                    firn_error *error) {
    dir *d = calloc(1, sizeof *d);
    if (d == NULL) {
        return firn_driver_fail(error, FIRN_EMEMORY, "out of memory for a store");
    }
    d->options = *options;
    int code = settle(d, url, error);
    if (code != FIRN_OK) {
        dir_close(d);
        return code;
    }
    *self = d;
    return FIRN_OK;
}

const firn_driver firn_store_driver = {.version = FIRN_DRIVER_VERSION,
                                       .scheme = "dir",
                                       .lasts = true,
                                       .open = dir_open,
                                       .begin = dir_begin,
                                       .read = dir_read,
                                       .lost = dir_lost,
                                       .write = dir_write,
                                       .confirm = dir_confirm,
                                       .where = dir_where,
                                       .list = dir_list,
                                       .caution = dir_caution,
                                       .close = dir_close};
