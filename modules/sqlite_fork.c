/* SPDX-License-Identifier: MIT */
/* The embedded store and fork. SQLite keeps locks, open files and mutexes per process, not per
 * connection. A child forked while any thread was inside SQLite, through this module or the program
 * itself, must never enter it again, with any handle: it would wait for ever for a mutex of a
 * thread that it does not have. A child must also not use a file that its parent had open in
 * SQLite, which would believe that the child has the parent's locks. */
#include "sqlite.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#define FREE_MS 50 /* no thread of a living process holds one of SQLite's mutexes for so long */

/* Processes by module_process; 0: none. */
static _Atomic int64_t
    process; /* this one, or the parent if this is a child that did not enter yet */
static _Atomic int64_t child; /* this one, if its parent had loaded this module */
static _Atomic int64_t shut;  /* this one, if it must not enter SQLite */

bool sqlite_mine(void) {
    return atomic_load_explicit(&process, memory_order_seq_cst) == module_process();
}

int sqlite_forked(firn_error *error) {
    return module_fail(error, FIRN_EFORKED,
                       "this process was forked during a call of the store, so its locks are not"
                       " its own: call exec, or fork between calls");
}

static int forked_inside(firn_error *error) {
    return module_fail(error, FIRN_EFORKED,
                       "this process was forked while another thread was inside SQLite, so its"
                       " mutexes stay locked here: call exec, or fork before threads use SQLite");
}

static int forked_with(const sqlite_store *store, firn_error *error) {
    return module_fail(error, FIRN_EFORKED,
                       "this process has inherited store %s open, with locks that are not its own:"
                       " call exec, or close it before the fork",
                       sqlite_tail(store->path));
}

/* Was each of SQLite's mutexes free at some moment? In a child whose parent had a thread inside,
 * its mutex never is. */
static bool mutexes_are_free(void) {
    for (int id = SQLITE_MUTEX_STATIC_MAIN; id <= SQLITE_MUTEX_STATIC_VFS3; id++) {
        sqlite3_mutex *mutex = sqlite3_mutex_alloc(id);
        bool free = false;
        for (int i = 0; i <= FREE_MS && !free && mutex != NULL; i++) {
            free = sqlite3_mutex_try(mutex) == SQLITE_OK;
            if (!free) {
                nanosleep(&(struct timespec){0, 1000000}, NULL);
            }
        }
        if (free) {
            sqlite3_mutex_leave(mutex);
        } else if (mutex != NULL) {
            return false;
        }
    }
    return true;
}

static bool is_of(const sqlite_store *store, int file) {
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    struct stat opened, named;
    bool same = false;
    if (fstat(file, &opened) != 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0] && !same; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s%s", store->path, suffixes[i]);
        same = stat(path, &named) == 0 && named.st_dev == opened.st_dev &&
               named.st_ino == opened.st_ino;
    }
    return same;
}

/* Does this process have one of the store's files open? Between verbs this module has none. */
static bool has_inherited(const sqlite_store *store) {
    DIR *open_files = opendir("/proc/self/fd");
    bool found = false;
    if (open_files == NULL) {
        for (int file = 0; file < 65536 && !found; file++) {
            found = is_of(store, file);
        }
        return found;
    }
    for (struct dirent *item; !found && (item = readdir(open_files)) != NULL;) {
        char *end;
        long file = strtol(item->d_name, &end, 10);
        found = *end == '\0' && end != item->d_name && is_of(store, (int)file);
    }
    closedir(open_files);
    return found;
}

#ifdef FIRN_SQLITE
#define MAY_BE_PROGRAM true /* a program is never unloaded, and cannot be opened as a library */
#else
#define MAY_BE_PROGRAM false
#endif

/* The module is never unloaded: SQLite may stay loaded for others, and the guard's state with
 * it. */
static bool stays_loaded(void) {
#ifdef FIRN_STATIC
    return true;
#else
    Dl_info self;
    bool kept = dladdr((const void *)(uintptr_t)stays_loaded, &self) != 0 &&
                dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE) != NULL;
    return kept || MAY_BE_PROGRAM;
#endif
}

/* Created by the first open and kept. */
int sqlite_guard(firn_error *error) {
    int64_t none = 0;
    if (atomic_load_explicit(&process, memory_order_seq_cst) != 0) {
        return FIRN_OK;
    }
    if (!stays_loaded()) {
        return module_fail(error, FIRN_ESYSTEM,
                           "the sqlite module cannot be kept loaded: install it again");
    }
    if (!mutexes_are_free() || sqlite3_initialize() != SQLITE_OK) {
        return forked_inside(error);
    }
    int code = module_mark(error);
    if (code == FIRN_OK) {
        atomic_compare_exchange_strong_explicit(&process, &none, module_process(),
                                                memory_order_seq_cst, memory_order_seq_cst);
    }
    return code;
}

/* A child forked between verbs takes over. Reads the count before it checks the process again: a
 * thread that increased the count in this process has set it first. */
int sqlite_enter(sqlite_store *store, firn_error *error) {
    const int64_t me = module_process();
    if (!sqlite_mine()) {
        if (module_insiders() != 0 && !sqlite_mine()) {
            return sqlite_forked(error);
        }
        if (atomic_load_explicit(&shut, memory_order_seq_cst) == me || !mutexes_are_free()) {
            atomic_store_explicit(&shut, me, memory_order_seq_cst);
            return forked_inside(error);
        }
        atomic_store_explicit(&child, me, memory_order_seq_cst);
        atomic_store_explicit(&process, me, memory_order_seq_cst);
    }
    if (atomic_load_explicit(&child, memory_order_seq_cst) == me && store->cleared != me &&
        store->inode != 0) {
        if (has_inherited(store)) {
            return forked_with(store, error);
        }
        store->cleared = me;
    }
    sqlite_hold_signal();
    module_inside();
    return FIRN_OK;
}

void sqlite_leave(void) {
    module_outside();
    sqlite_release_signal();
}

int sqlite_point(const sqlite_store *store, const char *name, firn_error *error) {
    if (store->options.failpoint != NULL && name != NULL) {
        store->options.failpoint(store->options.failpoint_self, name);
    }
    return sqlite_mine() ? FIRN_OK : sqlite_forked(error);
}
