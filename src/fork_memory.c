/* SPDX-License-Identifier: MIT */
/* Memory that a fork wipes. The kernel does it (MADV_WIPEONFORK), also for _Fork and raw clone.
 * Some kernels accept the advice and do nothing, as qemu-user of Debian 12 does, so the first use
 * checks it. Where the kernel does not wipe, parent and child share the memory, so that no slot is
 * repeated even if the fork goes unnoticed. A child that notices it (by a handler of fork(), or by
 * its process number at its first call) puts zeros in the memory's place. Does not know its
 * content. */
#include "fork_memory.h"

#include "error.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__has_include)
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define SINGLE __libc_single_threaded
#endif
#endif
#ifndef SINGLE
#define SINGLE false /* nobody can tell */
#endif

#define NO_ADVICE 0x7f17 /* of no kernel */

/* A piece of wiped memory. The list of all only grows, and a child reads it without the lock. */
typedef struct wiped_region {
    _Atomic(void *) memory; /* NULL: the entry is free */
    size_t size;
    void (*renew)(void *page); /* or NULL; with the lock held */
    enum firn__renew_rank rank;
    struct wiped_region *next, *next_free;
} wiped_region;

static _Atomic(wiped_region *) regions;
static wiped_region *free_regions;
/* Of one process: wiped in its children, except while watching. */
typedef struct own {
    _Atomic char canary;    /* 1: what a child finds here is proof */
    _Atomic pid_t holder;   /* the process that changes the lists; 0: none */
    _Atomic pid_t may_load; /* the process in which no lock of another library can be orphaned */
} own;

static own unwiped; /* while watching, and before it is known */
static _Atomic(own *) mine = &unwiped;
static _Atomic(_Atomic char *) canary; /* NULL: not ready */
static _Atomic bool watch;
static _Atomic pid_t owner; /* whose the regions are; only while watching */
static _Atomic pid_t wiper; /* the process that is zeroing them */
static pthread_once_t prepared_once = PTHREAD_ONCE_INIT;
static _Atomic bool forks_alone; /* the process that forks has one thread */

static own *of_process(void) {
    return atomic_load_explicit(&mine, memory_order_acquire);
}

static void *map_zeros(void *memory, size_t size) {
    int kind = atomic_load_explicit(&watch, memory_order_acquire) ? MAP_SHARED : MAP_PRIVATE;
    return mmap(memory, size, PROT_READ | PROT_WRITE,
                kind | MAP_ANONYMOUS | (memory != NULL ? MAP_FIXED : 0), -1, 0);
}

/* Zeros in place of everything that was inherited. Safe in a handler of fork. */
static void wipe_all(void) {
    for (wiped_region *region = atomic_load_explicit(&regions, memory_order_acquire);
         region != NULL; region = region->next) {
        void *memory = atomic_load_explicit(&region->memory, memory_order_acquire);
        if (memory != NULL && map_zeros(memory, region->size) == MAP_FAILED) {
            abort(); /* the child would use its parent's memory */
        }
    }
}

/* By the wiper: once, although two threads may have seen the old owner. */
static void become_owner(pid_t me) {
    if (atomic_load_explicit(&owner, memory_order_acquire) != me) {
        wipe_all();
        atomic_store_explicit(atomic_load_explicit(&canary, memory_order_acquire), 1,
                              memory_order_release);
        atomic_store_explicit(&owner, me, memory_order_release);
    }
    atomic_store_explicit(&wiper, 0, memory_order_release);
}

static void before_fork(void) {
    bool alone =
        SINGLE && atomic_load_explicit(&of_process()->may_load, memory_order_seq_cst) == getpid();
    atomic_store_explicit(&forks_alone, alone, memory_order_seq_cst);
}

/* Runs in each child of fork(), but not of _Fork and clone. */
static void in_child(void) {
    bool alone = atomic_load_explicit(&forks_alone, memory_order_seq_cst);
    atomic_store_explicit(&of_process()->holder, 0,
                          memory_order_release); /* a thread of the child may have this number */
    atomic_store_explicit(&of_process()->may_load, alone ? getpid() : 0, memory_order_seq_cst);
    _Atomic char *alive = atomic_load_explicit(&canary, memory_order_acquire);
    if (alive == NULL || atomic_load_explicit(alive, memory_order_acquire) == 0) {
        return;
    }
    atomic_store_explicit(&watch, true,
                          memory_order_release); /* the kernel accepted the flag and did not wipe */
    become_owner(getpid());
}

/* A kernel that knows the advice refuses it for shared memory, and refuses invalid advice. */
static bool kernel_wipes(void *page, size_t size) {
    void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool judges = shared != MAP_FAILED && madvise(shared, size, MADV_WIPEONFORK) != 0 &&
                  errno == EINVAL && madvise(page, size, NO_ADVICE) != 0 && errno == EINVAL;
    if (shared != MAP_FAILED) {
        munmap(shared, size);
    }
    return judges && madvise(page, size, MADV_WIPEONFORK) == 0;
}

/* A child may inherit the lock from a thread that it does not have, unless it is wiped: it is the
 * holder's process that counts. What such a thread was changing is whole between any two stores. */
static void lock_lists(void) {
    pid_t me = getpid(), other = 0;
    while (!atomic_compare_exchange_weak_explicit(&of_process()->holder, &other, me,
                                                  memory_order_acquire, memory_order_relaxed)) {
        if (other == me) {
            sched_yield();
            other = 0;
        }
    }
}

static void unlock_lists(void) {
    atomic_store_explicit(&of_process()->holder, 0, memory_order_release);
}

/* Room after the region's end for its entry, so that free finds it at once. */
static size_t whole_size(size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (size + sizeof(wiped_region *) + page - 1) / page * page;
}

static wiped_region **entry_of(void *memory, size_t whole) {
    return (wiped_region **)(void *)((char *)memory + whole - sizeof(wiped_region *));
}

static bool keep_region(void *memory, size_t whole) {
    lock_lists();
    wiped_region *region = free_regions;
    bool made = region == NULL && (region = calloc(1, sizeof *region)) != NULL;
    if (region != NULL) {
        region->size = whole;
        region->renew = NULL;
        atomic_store_explicit(&region->memory, memory, memory_order_release);
        if (made) {
            region->next = atomic_load_explicit(&regions, memory_order_acquire);
            atomic_store_explicit(&regions, region, memory_order_release);
        } else {
            free_regions = region->next_free;
        }
        *entry_of(memory, whole) = region;
    }
    unlock_lists();
    return region != NULL;
}

static void begin(void) {
    size_t size = whole_size(sizeof(own));
    own *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool wipes = page != MAP_FAILED && kernel_wipes(page, size);
    if (page != MAP_FAILED && !wipes) {
        munmap(page, size);
    }
    atomic_store_explicit(&watch, !wipes, memory_order_release);
    atomic_store_explicit(&owner, getpid(), memory_order_release);
    if (wipes) {
        atomic_store_explicit(&mine, page, memory_order_release);
    } else {
        page = map_zeros(NULL, size);
    }
    atomic_store_explicit(&of_process()->may_load, getpid(), memory_order_seq_cst);
    if (page == MAP_FAILED || !keep_region(page, size) ||
        pthread_atfork(before_fork, NULL, in_child) != 0) {
        return; /* canary stays NULL: nothing is wiped, and nothing handed out */
    }
    atomic_store_explicit(&page->canary, 1, memory_order_release);
    atomic_store_explicit(&canary, &page->canary, memory_order_release);
}

bool firn__wiped_watch(void) {
    pthread_once(&prepared_once, begin);
    return atomic_load_explicit(&watch, memory_order_relaxed);
}

void *firn__wiped(size_t size, int *code, firn_error *error) {
    bool watched = firn__wiped_watch();
    size_t whole = whole_size(size);
    void *page = atomic_load_explicit(&canary, memory_order_acquire) != NULL
                     ? map_zeros(NULL, whole)
                     : MAP_FAILED;
    if (page == MAP_FAILED || !keep_region(page, whole)) {
        if (page != MAP_FAILED) {
            munmap(page, whole);
        }
        *code = firn__fail(error, FIRN_EMEMORY, "out of memory: %zu bytes are not available", size);
        return NULL;
    }
    if (!watched && madvise(page, whole, MADV_WIPEONFORK) != 0) {
        firn__wiped_free(page, size);
        *code = firn__fail(error, FIRN_ESYSTEM,
                           "the kernel refuses to wipe %zu bytes on fork: raise vm.max_map_count",
                           size);
        return NULL;
    }
    *code = FIRN_OK;
    return page;
}

static wiped_region *find_region(void *page, size_t whole) {
    wiped_region *region = *entry_of(page, whole);
    for (region = region != NULL ? region : atomic_load_explicit(&regions, memory_order_acquire);
         region != NULL && atomic_load_explicit(&region->memory, memory_order_acquire) != page;) {
        region = region->next; /* only in a child, where the entry was wiped too */
    }
    return region;
}

void firn__wiped_free(void *page, size_t size) {
    size_t whole = whole_size(size);
    wiped_region *region = find_region(page, whole);
    if (region != NULL) { /* first: a child would map it again, and another thread renew it */
        lock_lists();
        atomic_store_explicit(&region->memory, NULL, memory_order_release);
        unlock_lists();
    }
    munmap(page, whole);
    if (region != NULL) {
        lock_lists();
        region->next_free = free_regions;
        free_regions = region;
        unlock_lists();
    }
}

/* ---- a copy of the process ------------------------------------------------------------------- */

void firn__wiped_renews(void *page, size_t size, enum firn__renew_rank rank,
                        void (*renew)(void *page)) {
    wiped_region *region = find_region(page, whole_size(size));
    lock_lists();
    region->renew = renew;
    region->rank = rank;
    unlock_lists();
}

void firn__wiped_renew(enum firn__renew_rank rank) {
    firn__wiped_look();
    lock_lists(); /* nobody frees a region during this time */
    for (wiped_region *region = atomic_load_explicit(&regions, memory_order_acquire);
         region != NULL; region = region->next) {
        void *memory = atomic_load_explicit(&region->memory, memory_order_acquire);
        if (memory != NULL && region->renew != NULL && region->rank == rank) {
            region->renew(memory);
        }
    }
    unlock_lists();
}

bool firn__wiped_may_load(void) {
    return atomic_load_explicit(&of_process()->may_load, memory_order_seq_cst) == getpid();
}

int64_t firn__process(void) {
    return getpid();
}

void firn__wiped_look(void) {
    if (!atomic_load_explicit(&watch, memory_order_relaxed)) {
        return;
    }
    pid_t me = getpid();
    while (atomic_load_explicit(&owner, memory_order_acquire) != me) {
        pid_t other = atomic_load_explicit(&wiper, memory_order_acquire);
        if (other != me && atomic_compare_exchange_strong_explicit(
                               &wiper, &other, me, memory_order_acquire, memory_order_relaxed)) {
            become_owner(me);
        } else {
            sched_yield(); /* another thread of this process is at it */
        }
    }
}
