/* SPDX-License-Identifier: MIT */
/* The embedded store and fork. SQLite keeps locks, open files and mutexes for the process, not for
 * the connection. A child that was forked while any thread was inside it must never enter it again,
 * whichever handle it uses. */
#include "sqlite.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

static _Atomic int verbs_under_way;      /* copied by a fork: how many were at that moment */
static _Atomic(_Atomic pid_t *) process; /* a page that holds our own ID, and 0 in a forked child;
                                          * where a fork copies it all the same, the parent's */

bool sqlite_mine(void) {
    return atomic_load(atomic_load(&process)) == getpid();
}

/* Made by the first open and kept: this module is never unloaded, since SQLite may stay loaded for
 * somebody else, and with it what the guard knows. */
int sqlite_guard(firn_error *error) {
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    _Atomic pid_t *page, *none = NULL;
    Dl_info self;
    if (atomic_load(&process) != NULL) {
        return FIRN_OK;
    }
    if (dladdr((const void *)(uintptr_t)sqlite_guard, &self) == 0 ||
        dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE) == NULL) {
        return module_fail(error, FIRN_ESYSTEM,
                           "the sqlite module cannot be kept loaded: install it again");
    }
    page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        return module_fail(error, FIRN_EMEMORY, "out of memory: give this process more");
    }
    madvise(page, size, MADV_WIPEONFORK); /* where it is missing the number tells */
    atomic_store(page, getpid());
    if (!atomic_compare_exchange_strong(&process, &none, page)) {
        munmap(page, size); /* another thread was first */
    }
    return FIRN_OK;
}

int sqlite_forked(firn_error *error) {
    return module_fail(error, FIRN_EFORKED,
                       "this process was forked while the store was at work, so its locks are not"
                       " its own: call exec, or fork between calls");
}

/* A child forked between verbs makes the page its own. The count is read before the page is looked
 * at again: whoever raised it in this process had set the page first. */
int sqlite_enter(const store *it, firn_error *error) {
    (void)it;
    if (!sqlite_mine()) {
        if (atomic_load(&verbs_under_way) != 0 && !sqlite_mine()) {
            return sqlite_forked(error);
        }
        atomic_store(atomic_load(&process), getpid());
    }
    atomic_fetch_add(&verbs_under_way, 1);
    return FIRN_OK;
}

void sqlite_leave(void) {
    atomic_fetch_sub(&verbs_under_way, 1);
}

int sqlite_point(const store *it, const char *name, firn_error *error) {
    if (it->options.failpoint != NULL) {
        it->options.failpoint(it->options.failpoint_self, name);
    }
    return sqlite_mine() ? FIRN_OK : sqlite_forked(error);
}
