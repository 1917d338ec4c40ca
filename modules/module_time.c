/* SPDX-License-Identifier: MIT */
/* Time, waiting, random numbers and forks. */
#include "module.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define RETRY_MS      50
#define RETRY_MOST_MS 1000
#define FORK_MS       5000 /* how long a fork waits at most */

int64_t module_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int module_clock(firn_time *now, int64_t us, const char *where, firn_error *error) {
    if (us < 0) {
        return module_fail(error, FIRN_ESTORE, "the clock of store %.60s is before 1970: set it",
                           where);
    }
    *now = (firn_time){us / 1000000, (int32_t)(us % 1000000 * 1000)};
    return FIRN_OK;
}

short module_await(int descriptor, short events, int64_t deadline_ms) {
    for (int i = 0; i < 1000; i++) { /* signals can interrupt it */
        struct pollfd poll_fd = {descriptor, events, 0};
        int64_t left_ms = deadline_ms - module_now_ms();
        int ready = poll(&poll_fd, 1, left_ms > 0 ? (int)left_ms : 0);
        if (ready != -1) {
            return ready > 0 ? poll_fd.revents : 0;
        }
    }
    return 0;
}

void module_cond_init(pthread_cond_t *cond) {
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &steady);
    pthread_condattr_destroy(&steady);
}

bool module_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t deadline_ms) {
    struct timespec until;
    int64_t left_ms = deadline_ms - module_now_ms();
    left_ms = left_ms > 0 ? left_ms : 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + left_ms % 1000 * 1000000;
    until.tv_sec += left_ms / 1000 + ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    return pthread_cond_timedwait(cond, lock, &until) != ETIMEDOUT;
}

int module_random(uint64_t *out, firn_error *error) {
    do {
        if (getrandom(out, sizeof *out, 0) != sizeof *out) {
            return module_advise(error, FIRN_ESYSTEM, FIRN_CURE_TRY_AGAIN,
                                 "the kernel gives no random bytes (%s): try again",
                                 strerror(errno));
        }
    } while (*out == 0);
    return FIRN_OK;
}

void module_sleep_below(int64_t most_ms) {
    uint64_t random = 1;
    (void)module_random(&random, NULL);
    const int64_t us = (int64_t)(random % (uint64_t)(most_ms * 1000));
    const struct timespec nap = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&nap, NULL);
}

void module_sleep_randomly(int round) {
    module_sleep_below(INT64_C(1) << (round < 5 ? round : 5));
}

bool module_retry_waits(const module_retry *retry) {
    return retry->failures > 0 && module_now_ms() < retry->next_ms;
}

void module_retry_failed(module_retry *retry) {
    int64_t wait_ms = retry->failures == 0
                          ? 0
                          : (int64_t)RETRY_MS << (retry->failures < 6 ? retry->failures - 1 : 5);
    retry->next_ms = module_now_ms() + (wait_ms < RETRY_MOST_MS ? wait_ms : RETRY_MOST_MS);
    retry->failures += retry->failures < INT_MAX;
}

void module_retry_worked(module_retry *retry) {
    *retry = (module_retry){0, 0};
}

/* A page with the number of this process in its line of forks; zero in a child that has no number
 * yet. If a kernel does not wipe it, the count of forks and the process ID show a child, but not
 * the child of a raw clone that has the ID of its parent. */
static _Atomic(_Atomic int64_t *) mark;
static _Atomic int64_t numbers_given; /* given so far; a child continues */
static _Atomic int64_t forks;         /* by fork() */

/* Calls under way whose state a child cannot use, and FORK for each fork that waits for their end:
 * one word, so that no call is counted that only looks whether a fork waits. */
#define FORK (INT64_C(1) << 32)
static _Atomic int64_t insiders;
static _Atomic int inherited;    /* of the calls: in threads of the parent, which never end here */
static _Thread_local int inside; /* of this thread */

static void nap_ms(void) {
    nanosleep(&(struct timespec){0, 1000000}, NULL);
}

/* Calls of other threads begin after the fork, at the latest after FORK_MS. */
void module_inside(void) {
    const int64_t end_ms = module_now_ms() + FORK_MS;
    while (inside == 0) {
        int64_t found = atomic_load_explicit(&insiders, memory_order_seq_cst);
        if (found >= FORK && module_now_ms() < end_ms) {
            nap_ms();
        } else if (atomic_compare_exchange_weak_explicit(
                       &insiders, &found, found + 1, memory_order_seq_cst, memory_order_seq_cst)) {
            inside = 1;
            return;
        }
    }
    atomic_fetch_add_explicit(&insiders, 1, memory_order_seq_cst);
    inside++;
}

void module_outside(void) {
    atomic_fetch_sub_explicit(&insiders, 1, memory_order_seq_cst);
    inside--;
}

int module_insiders(void) {
    return (int)(atomic_load_explicit(&insiders, memory_order_seq_cst) % FORK);
}

/* Before a fork: waits for the calls of other threads. */
static void await_calls(void) {
    const int64_t end_ms = module_now_ms() + FORK_MS;
    atomic_fetch_add_explicit(&insiders, FORK, memory_order_seq_cst);
    while (inside == 0 &&
           module_insiders() > atomic_load_explicit(&inherited, memory_order_seq_cst) &&
           module_now_ms() < end_ms) {
        nap_ms();
    }
}

static void in_parent(void) {
    atomic_fetch_sub_explicit(&insiders, FORK, memory_order_seq_cst);
}

static void count_child(void) {
    atomic_store_explicit(&inherited, module_insiders(), memory_order_seq_cst);
    atomic_store_explicit(&insiders, module_insiders(), memory_order_seq_cst);
    atomic_fetch_add_explicit(&forks, 1, memory_order_seq_cst);
}

int module_mark(firn_error *error) {
    const size_t size = (size_t)sysconf(_SC_PAGESIZE);
    _Atomic int64_t *page, *none = NULL;
    if (atomic_load_explicit(&mark, memory_order_seq_cst) != NULL) {
        return FIRN_OK;
    }
    page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        return module_no_memory(error);
    }
    madvise(page, size, MADV_WIPEONFORK);
    if (!atomic_compare_exchange_strong_explicit(&mark, &none, page, memory_order_seq_cst,
                                                 memory_order_seq_cst)) {
        munmap(page, size); /* another thread was first */
        return FIRN_OK;
    }
    return pthread_atfork(await_calls, in_parent, count_child) == 0 ? FIRN_OK
                                                                    : module_no_memory(error);
}

int64_t module_process(void) {
    _Atomic int64_t *page = atomic_load_explicit(&mark, memory_order_seq_cst);
    int64_t number = atomic_load_explicit(page, memory_order_seq_cst), none = 0;
    if (number == 0) {
        number = atomic_fetch_add_explicit(&numbers_given, 1, memory_order_seq_cst) + 1;
        number = atomic_compare_exchange_strong_explicit(page, &none, number, memory_order_seq_cst,
                                                         memory_order_seq_cst)
                     ? number
                     : none;
    }
    return (number + atomic_load_explicit(&forks, memory_order_seq_cst)) << 32 | getpid();
}

bool module_forked(int64_t *process) {
    int64_t now = module_process();
    bool other = *process != 0 && *process != now;
    *process = now;
    return other;
}
