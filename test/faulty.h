/* SPDX-License-Identifier: MIT */
/* A SQLite VFS over the default one that fails the n-th system call, and keeps next to each file
 * what a power cut would leave of it. Replaces the disk in tests; knows nothing of the store. */
#ifndef FIRN_TEST_FAULTY_H
#define FIRN_TEST_FAULTY_H

#include <dlfcn.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FAULTY_NAME "firn-faulty"
#define BLOCK       512 /* what a disk writes whole */
#define BLOCKS      512 /* files of up to 256 KiB */

/* SQLite as the module loads it: the tests are linked with libfirn alone. */
static struct {
    int (*open_v2)(const char *, sqlite3 **, int, const char *);
    int (*exec)(sqlite3 *, const char *, int (*)(void *, int, char **, char **), void *, char **);
    int (*close)(sqlite3 *);
    int (*config)(int, ...);
    int (*vfs_register)(sqlite3_vfs *, int);
    sqlite3_vfs *(*vfs_find)(const char *);
} lite;

static bool lite_load(void) {
    void *library = dlopen("libsqlite3.so.0", RTLD_NOW);
    const struct {
        void *to;
        const char *name;
    } symbols[] = {
        {&lite.open_v2, "sqlite3_open_v2"},   {&lite.exec, "sqlite3_exec"},
        {&lite.close, "sqlite3_close"},       {&lite.config, "sqlite3_config"},
        {&lite.vfs_find, "sqlite3_vfs_find"}, {&lite.vfs_register, "sqlite3_vfs_register"}};
    for (size_t i = 0; library != NULL && i < sizeof symbols / sizeof symbols[0]; i++) {
        void *symbol = dlsym(library, symbols[i].name);
        if (symbol == NULL) {
            return false;
        }
        memcpy(symbols[i].to, &symbol, sizeof symbol); /* C has no cast to a function */
    }
    return library != NULL;
}

/* ---- when to fail --------------------------------------------------------------------------- */

enum fault { FAULT_IO, FAULT_FULL, FAULT_MEMORY, FAULT_BUSY, FAULT_SYNC };

static struct {
    enum fault kind;
    bool sticky; /* from the n-th on all fail */
    int at;      /* the n-th fails; 0: none */
    int seen;
    bool fired;
} fault;

static bool (*faulty_asks)(enum fault); /* decides instead, if it is set */

static bool due(enum fault kind) {
    if (faulty_asks != NULL) {
        return faulty_asks(kind);
    }
    if (fault.at == 0 || fault.kind != kind) {
        return false;
    }
    fault.seen++;
    if (fault.seen != fault.at && !(fault.sticky && fault.seen > fault.at)) {
        return false;
    }
    fault.fired = true;
    return true;
}

/* ---- what a power cut leaves ---------------------------------------------------------------- */

/* `durable` gets the blocks that were written since the last sync when a sync succeeds. After a
 * sync that failed they are clean as far as Linux is concerned, and never reach the disk. */
static struct image {
    char path[512];
    uint8_t durable[BLOCK * BLOCKS];
    int64_t durable_size;
    bool dirty[BLOCKS];
} images[4];

static void image_read(struct image *self, const char *path, bool everything) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    self->durable_size = file < 0 ? 0 : (int64_t)lseek(file, 0, SEEK_END);
    for (int i = 0; i < BLOCKS && file >= 0; i++) {
        if (everything || self->dirty[i]) {
            memset(self->durable + i * BLOCK, 0, BLOCK);
            if (pread(file, self->durable + i * BLOCK, BLOCK, i * BLOCK) < 0) {
                abort();
            }
        }
    }
    memset(self->dirty, 0, sizeof self->dirty);
    if (file >= 0) {
        close(file);
    }
}

static struct image *image_of(const char *path) {
    for (size_t i = 0; i < sizeof images / sizeof images[0]; i++) {
        if (strcmp(images[i].path, path) == 0) {
            return &images[i];
        }
        if (images[i].path[0] == '\0') {
            snprintf(images[i].path, sizeof images[i].path, "%s", path);
            image_read(&images[i], path, true);
            return &images[i];
        }
    }
    abort();
}

/* Everything in the files is on disk now. */
static void images_forget(void) {
    for (size_t i = 0; i < sizeof images / sizeof images[0]; i++) {
        images[i].path[0] = '\0';
    }
}

/* Cuts the power: the files hold what was durable, and the shared memory is gone. */
static inline void images_restore(void) {
    for (size_t i = 0; i < sizeof images / sizeof images[0] && images[i].path[0] != '\0'; i++) {
        int file = open(images[i].path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        size_t size = (size_t)images[i].durable_size;
        if (file < 0 || write(file, images[i].durable, size) != (ssize_t)size) {
            abort();
        }
        close(file);
    }
    images_forget();
}

/* ---- files ---------------------------------------------------------------------------------- */

typedef struct faulty {
    sqlite3_file base;
    struct image *image; /* NULL: a file that nobody needs after a power cut */
    sqlite3_file *real;
} faulty;

static sqlite3_file *real_of(sqlite3_file *file) {
    return ((faulty *)(void *)file)->real;
}

/* A call that fails, or passes on to the real file. */
#define PASS_OR_FAIL(name, failure, parameters, ...)                                               \
    static int faulty_##name parameters {                                                          \
        return due(FAULT_IO) ? (failure) : real_of(file)->pMethods->name(__VA_ARGS__);             \
    }
#define PASS(name, parameters, ...)                                                                \
    static int faulty_##name parameters {                                                          \
        return real_of(file)->pMethods->name(__VA_ARGS__);                                         \
    }

PASS_OR_FAIL(xRead, SQLITE_IOERR_READ,
             (sqlite3_file * file, void *out, int size, sqlite3_int64 int64), real_of(file), out,
             size, int64)
PASS_OR_FAIL(xFileSize, SQLITE_IOERR_FSTAT, (sqlite3_file * file, sqlite3_int64 *size),
             real_of(file), size)
PASS(xUnlock, (sqlite3_file * file, int lock), real_of(file), lock)
PASS(xCheckReservedLock, (sqlite3_file * file, int *held), real_of(file), held)
PASS(xFileControl, (sqlite3_file * file, int op, void *argument), real_of(file), op, argument)
PASS(xSectorSize, (sqlite3_file * file), real_of(file))
PASS(xDeviceCharacteristics, (sqlite3_file * file), real_of(file))
PASS(xShmUnmap, (sqlite3_file * file, int delete), real_of(file), delete)
#undef PASS_OR_FAIL
#undef PASS

static int faulty_xClose(sqlite3_file *file) {
    int result = real_of(file)->pMethods->xClose(real_of(file));
    free(((faulty *)(void *)file)->real);
    free((void *)(uintptr_t)file->pMethods); /* as vfstrace of SQLite does */
    return result;
}

static int faulty_xLock(sqlite3_file *file, int lock) {
    return due(FAULT_BUSY) ? SQLITE_BUSY
           : due(FAULT_IO) ? SQLITE_IOERR_LOCK
                           : real_of(file)->pMethods->xLock(real_of(file), lock);
}

static int faulty_xShmLock(sqlite3_file *file, int position, int count, int flags) {
    bool lock = (flags & SQLITE_SHM_LOCK) != 0; /* to unlock never fails */
    return lock && due(FAULT_BUSY) ? SQLITE_BUSY
           : lock && due(FAULT_IO)
               ? SQLITE_IOERR_SHMLOCK
               : real_of(file)->pMethods->xShmLock(real_of(file), position, count, flags);
}

static volatile void *faulty_shares; /* instead of the memory that processes share; NULL: that */

static int faulty_xShmMap(sqlite3_file *file, int page, int size, int extend, void volatile **out) {
    int result = due(FAULT_IO)
                     ? SQLITE_IOERR_SHMMAP
                     : real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, out);
    if (result == SQLITE_OK && faulty_shares != NULL) {
        *out = faulty_shares;
    }
    return result;
}

static void faulty_xShmBarrier(sqlite3_file *file) {
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

/* A write that fails has written the first half. */
static int faulty_xWrite(sqlite3_file *file, const void *source, int size, sqlite3_int64 int64) {
    struct image *image = ((faulty *)(void *)file)->image;
    bool full = due(FAULT_FULL), failed = due(FAULT_IO);
    int written = full || failed ? size / 2 : size, result;
    for (sqlite3_int64 i = int64 / BLOCK; image != NULL && i * BLOCK < int64 + written; i++) {
        if (i >= BLOCKS) {
            abort();
        }
        image->dirty[i] = true;
    }
    result = real_of(file)->pMethods->xWrite(real_of(file), source, written, int64);
    return full ? SQLITE_FULL : failed ? SQLITE_IOERR_WRITE : result;
}

static int faulty_xTruncate(sqlite3_file *file, sqlite3_int64 size) {
    return due(FAULT_IO) ? SQLITE_IOERR_TRUNCATE
                         : real_of(file)->pMethods->xTruncate(real_of(file), size);
}

/* Nothing waits for the real disk here. */
static int faulty_xSync(sqlite3_file *file, int flags) {
    struct image *image = ((faulty *)(void *)file)->image;
    (void)flags;
    if (due(FAULT_IO) || due(FAULT_SYNC)) {
        if (image != NULL) {
            memset(image->dirty, 0, sizeof image->dirty);
        }
        return SQLITE_IOERR_FSYNC;
    }
    if (image != NULL) {
        image_read(image, image->path, false);
    }
    return SQLITE_OK;
}

static const sqlite3_io_methods faulty_methods = {
    .iVersion = 2,
    .xClose = faulty_xClose,
    .xRead = faulty_xRead,
    .xWrite = faulty_xWrite,
    .xTruncate = faulty_xTruncate,
    .xSync = faulty_xSync,
    .xFileSize = faulty_xFileSize,
    .xLock = faulty_xLock,
    .xUnlock = faulty_xUnlock,
    .xCheckReservedLock = faulty_xCheckReservedLock,
    .xFileControl = faulty_xFileControl,
    .xSectorSize = faulty_xSectorSize,
    .xDeviceCharacteristics = faulty_xDeviceCharacteristics,
    .xShmMap = faulty_xShmMap,
    .xShmLock = faulty_xShmLock,
    .xShmBarrier = faulty_xShmBarrier,
    .xShmUnmap = faulty_xShmUnmap,
};

/* ---- the file system ------------------------------------------------------------------------ */

static sqlite3_vfs *real_vfs, faulty_vfs;
static void (*faulty_opens_log)(void);         /* called once, before the next log is opened */
static bool (*faulty_keeps)(const char *path); /* does a power cut change it? NULL: yes */

static int faulty_xOpen(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags,
                        int *out_flags) {
    faulty *self = (faulty *)(void *)file;
    bool kept = path != NULL && (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)) != 0 &&
                (faulty_keeps == NULL || faulty_keeps(path));
    int result;
    (void)vfs;
    self->base.pMethods = NULL;
    if (due(FAULT_IO)) {
        return SQLITE_CANTOPEN;
    }
    if ((flags & SQLITE_OPEN_WAL) != 0 && faulty_opens_log != NULL) {
        void (*call)(void) = faulty_opens_log;
        faulty_opens_log = NULL;
        call();
    }
    self->real = calloc(1, (size_t)real_vfs->szOsFile);
    sqlite3_io_methods *methods = malloc(sizeof *methods);
    if (self->real == NULL || methods == NULL) {
        abort();
    }
    result = real_vfs->xOpen(real_vfs, path, self->real, flags, out_flags);
    if (result == SQLITE_OK) {
        self->base.pMethods = memcpy(methods, &faulty_methods, sizeof faulty_methods);
        self->image = kept ? image_of(path) : NULL;
    } else {
        free(self->real);
        free(methods);
    }
    return result;
}

static int faulty_xDelete(sqlite3_vfs *vfs, const char *path, int sync) {
    (void)vfs;
    return due(FAULT_IO) ? SQLITE_IOERR_DELETE : real_vfs->xDelete(real_vfs, path, sync);
}

static int faulty_xAccess(sqlite3_vfs *vfs, const char *path, int flags, int *result) {
    (void)vfs;
    return due(FAULT_IO) ? SQLITE_IOERR_ACCESS : real_vfs->xAccess(real_vfs, path, flags, result);
}

static int faulty_xFullPathname(sqlite3_vfs *vfs, const char *path, int size, char *full) {
    (void)vfs;
    return due(FAULT_IO) ? SQLITE_CANTOPEN : real_vfs->xFullPathname(real_vfs, path, size, full);
}

static inline bool faulty_register(void) {
    real_vfs = lite.vfs_find(NULL);
    faulty_vfs = *real_vfs;
    faulty_vfs.szOsFile = (int)sizeof(faulty);
    faulty_vfs.pNext = NULL;
    faulty_vfs.zName = FAULTY_NAME;
    faulty_vfs.xOpen = faulty_xOpen;
    faulty_vfs.xDelete = faulty_xDelete;
    faulty_vfs.xAccess = faulty_xAccess;
    faulty_vfs.xFullPathname = faulty_xFullPathname;
    return lite.vfs_register(&faulty_vfs, 0) == SQLITE_OK;
}

/* ---- memory --------------------------------------------------------------------------------- */

static sqlite3_mem_methods real_memory;

static void *faulty_malloc(int size) {
    return due(FAULT_MEMORY) ? NULL : real_memory.xMalloc(size);
}

static void *faulty_realloc(void *old, int size) {
    return due(FAULT_MEMORY) ? NULL : real_memory.xRealloc(old, size);
}

/* Before SQLite is used for the first time. */
static inline bool faulty_memory(void) {
    sqlite3_mem_methods methods;
    if (lite.config(SQLITE_CONFIG_GETMALLOC, &real_memory) != SQLITE_OK) {
        return false;
    }
    methods = real_memory;
    methods.xMalloc = faulty_malloc;
    methods.xRealloc = faulty_realloc;
    return lite.config(SQLITE_CONFIG_MALLOC, &methods) == SQLITE_OK;
}

#endif
