/* SPDX-License-Identifier: MIT */
/* A generator that processes share: its windows and the renewer's state are in the caller's memory.
 * IDs are issued by the same compare-and-swap as in one process, so a process killed at any
 * instruction leaves a correct cursor. Renewals are under a robust lock, and each of their steps
 * may be the last one:
 * - A window belongs to one node as long as the memory exists, and its cursor and its end only
 * rise. So a thread that
 *   slept on an old window finds it closed, or finds slots that are all the generator's.
 * - The request of a renewal or a claim is written down before it is sent. If the process is killed
 * in between, the next one sends the same again. A claim that was granted but not put in place yet
 * is lost, and its slots with it. Uses the clock only to wait, and does not issue. */
#include "duration.h"
#include "error.h"
#include "gen.h"
#include "hash.h"
#include "store.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NODES  256        /* that memory of firn_shared_size() has room for */
#define FIXED  2048       /* bytes that are enough for one node: firn.h */
#define READY  UINT64_MAX /* of `maker` */
#define NAP_NS INT64_C(1000000)

/* All zero: nobody has opened it. No pointers, so each process may map it where it likes. */
typedef struct firn__shared {
    _Atomic uint64_t config; /* a digest of the settings that must agree; 0: nothing yet */
    _Atomic uint64_t maker;  /* who prepares the lock: see maker_of; READY: it is prepared */
    _Atomic uint32_t chosen; /* 1 + the index of the window that is issued from; 0: none */
    _Atomic uint64_t era;    /* changes whenever `chosen` does: see firn__event */
    pthread_mutex_t lock;    /* robust, between processes: the renewal lock. Of all that follows: */
    uint32_t count;          /* windows that have a node; only rises */
    firn__node_history past;
    firn__claim claim;
    firn__window windows[]; /* but cursor, soft and end are atomic, and base does not change */
} firn__shared;

static_assert(sizeof(firn__shared) + sizeof(firn__window) <= FIXED, "firn.h promises it");

size_t firn_shared_size(void) {
    return sizeof(firn__shared) + NODES * sizeof(firn__window);
}

/* Nodes that the memory has room for. */
static uint32_t room_of(const firn_gen *gen) {
    return gen->fixed ? 1 : NODES;
}

/* ---- who may share --------------------------------------------------------------------------- */

/* The folder of an embedded store: processes of other folders or containers have another one under
 * the same path. The folder at the time of opening, because a process may change its folder
 * later. */
static void find_place(firn_gen *gen) {
    const char *url = firn__store_url(gen->store), *path = strchr(url, ':') + 1;
    const char *end = strrchr(path, '?'), *slash;
    char folder[PATH_MAX + 2];
    struct stat found;
    size_t length = end != NULL ? (size_t)(end - path) : strlen(path);
    slash = memrchr(path, '/', length);
    snprintf(folder, sizeof folder, "%.*s.", slash != NULL ? (int)(slash + 1 - path) : 0, path);
    if (firn__store_embedded(gen->store) && stat(folder, &found) == 0) {
        gen->shared_place[0] = (uint64_t)found.st_dev;
        gen->shared_place[1] = (uint64_t)found.st_ino;
    }
}

/* Of all that must be the same in each process for slots, IDs and marks to mean the same. The PID
 * namespace too: the kernel and libc know the holder of a robust lock by its number there. */
static uint64_t digest_of(const firn_gen *gen) {
    struct stat pids = {0};
    stat("/proc/self/ns/pid", &pids); /* without /proc nothing is known, and 0 is everybody's */
    char layout[FIRN_LAYOUT_SIZE];
    const char *texts[] = {FIRN_VERSION, gen->scheme.name, firn_scheme_layout(layout, &gen->scheme),
                           gen->ns,      gen->layout,      firn__store_url(gen->store)};
    const uint64_t numbers[] = {firn_shared_size(),     gen->pinned,
                                gen->pin_mask,          gen->window_ticks,
                                gen->lead_ticks,        gen->back_ticks,
                                gen->tick_end,          (uint64_t)gen->start,
                                gen->start_below,       (uint64_t)gen->keys.back_,
                                gen->kept.fields.given, (uint64_t)pids.st_ino,
                                gen->shared_place[0],   gen->shared_place[1]};
    uint64_t digest = FIRN__HASH_START;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        digest = firn__hash(digest, texts[i], strlen(texts[i]) + 1);
    }
    digest = firn__hash(digest, numbers, sizeof numbers);
    for (uint32_t i = 0; i < gen->scheme.slice_count; i++) {
        const uint64_t *field = &gen->kept.fields.value[i].low;
        digest = firn__hash(digest, field, sizeof *field);
    }
    return digest | 1;
}

static int check_kind(const firn_gen *gen, firn_error *error) {
    const char *why = gen->kind != FIRN__KIND_SLOTS || gen->drawn != 0
                          ? "its IDs are not one slot each"
                      : !firn__reserves(gen)                 ? "it reserves nothing: set its node"
                      : gen->keys.nodes > 1                  ? "nodes= is more than 1"
                      : gen->ticket_field >= 0               ? "a ticket is one process's"
                      : gen->shuffle.digits > 0              ? "its nodes share digits"
                      : gen->keys.mode_ == FIRN__MODE_ONLINE ? "mode=online holds no window"
                      : gen->keys.ordering_ != FIRN__ORDERING_STRICT ? "ordering= is not strict"
                                                                     : NULL;
    return why == NULL
               ? FIRN_OK
               : firn_error_set(error, FIRN_EUSAGE, FIRN_CURE_OPEN_OWN,
                                "%s cannot be shared between processes, %s: open one generator "
                                "in each process",
                                gen->scheme.name, why);
}

/* ---- the lock -------------------------------------------------------------------------------- */

static int make_lock(pthread_mutex_t *lock) {
    pthread_mutexattr_t kind;
    int code = pthread_mutexattr_init(&kind);
    if (code == 0) {
        code = pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
        code = code == 0 ? pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST) : code;
        code = code == 0 ? pthread_mutex_init(lock, &kind) : code;
        pthread_mutexattr_destroy(&kind);
    }
    return code;
}

/* When a thread began, in ticks since the start of the machine, without the upper bits; 0: unknown.
 * Of /proc of another PID namespace nothing is believed. */
static uint32_t began(uint32_t thread) {
    char path[32], text[512];
    ssize_t length = readlink("/proc/self", path, sizeof path - 1);
    path[length < 0 ? 0 : length] = '\0';
    if (strtol(path, NULL, 10) != getpid()) {
        return 0;
    }
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/stat", thread);
    FILE *file = fopen(path, "re");
    size_t size = file == NULL ? 0 : fread(text, 1, sizeof text - 1, file);
    if (file != NULL) {
        fclose(file);
    }
    text[size] = '\0';
    const char *position = strrchr(text, ')'); /* its name may have blanks */
    for (int field = 2; position != NULL && field < 22; field++) {
        position = strchr(position + 1, ' ');
    }
    return position == NULL ? 0 : (uint32_t)strtoull(position, NULL, 10);
}

/* A thread's number, and when the thread began: numbers come again. */
static uint64_t maker_of(uint32_t thread) {
    return (uint64_t)began(thread) << 32 | thread;
}

static bool is_gone(uint64_t maker) {
    const uint32_t thread = (uint32_t)maker, then = (uint32_t)(maker >> 32), now = began(thread);
    return (kill((pid_t)thread, 0) != 0 && errno == ESRCH) ||
           (then != 0 && now != 0 && then != now);
}

/* The first process prepares the lock. If that process ends before the lock is ready, the next one
 * prepares it. */
static int prepare_lock(const firn_gen *gen, firn_error *error) {
    firn__shared *shared = gen->shared;
    const uint64_t me = maker_of((uint32_t)syscall(SYS_gettid));
    uint64_t maker = 0;
    for (int64_t left = gen->keys.max_wait_ms; left >= 0; left--) {
        maker = atomic_load_explicit(&shared->maker, memory_order_acquire);
        if (maker == READY) {
            return FIRN_OK;
        }
        bool gone = maker == 0 || (uint32_t)maker == (uint32_t)me || is_gone(maker);
        if (gone && atomic_compare_exchange_strong_explicit(
                        &shared->maker, &maker, me, memory_order_acq_rel, memory_order_acquire)) {
            if (make_lock(&shared->lock) != 0) {
                return firn_error_set(error, FIRN_ESYSTEM, FIRN_CURE_OPEN_OWN,
                                      "the system has no robust locks between processes: open one "
                                      "generator in each process");
            }
            atomic_store_explicit(&shared->maker, READY, memory_order_release);
            return FIRN_OK;
        }
        gen->clock->pause(gen->clock->self, NAP_NS);
    }
    return firn__fail(error, FIRN_EBUSY,
                      "thread %" PRIu32 " began to prepare the shared memory of %s and has not "
                      "finished: end its process if it uses this memory too, or use new memory",
                      (uint32_t)maker, gen->ns);
}

/* Waits in naps, by the generator's clock: steps of the system's clock do not matter. */
static int lock_shared(firn_gen *gen, bool patient, firn_error *error) {
    int64_t left = gen->keys.max_wait_ms;
    int code = pthread_mutex_trylock(&gen->shared->lock);
    for (; code == EBUSY && patient && left > 0; left--) {
        gen->clock->pause(gen->clock->self, NAP_NS);
        code = pthread_mutex_trylock(&gen->shared->lock);
    }
    if (code == EOWNERDEAD) { /* each state that it can have left is a right one: see the top */
        code = pthread_mutex_consistent(&gen->shared->lock);
    }
    return code == 0 ? FIRN_OK
                     : firn__fail(error, FIRN_EWINDOW,
                                  "another process holds the renewal of %s for longer than "
                                  "max_wait=%s: see whether it is stopped, or its store "
                                  "hangs",
                                  gen->ns, FIRN__MS(gen->keys.max_wait_ms));
}

/* Under the lock of this process: else a slow thread could store an older window over an open
 * one. */
static void look_at_chosen(const firn_gen *gen) {
    uint32_t chosen = atomic_load_explicit(&gen->shared->chosen, memory_order_acquire);
    firn__window *window =
        chosen == 0 || chosen > room_of(gen) ? NULL : &gen->shared->windows[chosen - 1];
    if (window != NULL && firn__window_is_shut(window)) {
        window = NULL; /* the choice is being changed, or the process that changed it was killed */
    }
    atomic_store_explicit(&gen->live->any.windows[0], window, memory_order_release);
}

int firn__renewal_lock(firn_gen *gen, bool patient, firn_error *error) {
    if (patient) {
        pthread_mutex_lock(&gen->live->locked.lock);
    } else if (pthread_mutex_trylock(&gen->live->locked.lock) != 0) {
        return firn_error_set(error, FIRN_EWINDOW, FIRN_CURE_TRY_AGAIN,
                              "the renewal of %s is under way: try again", gen->ns);
    }
    if (gen->shared == NULL) {
        return FIRN_OK;
    }
    int code = lock_shared(gen, patient, error);
    if (code != FIRN_OK) {
        pthread_mutex_unlock(&gen->live->locked.lock);
        return code;
    }
    look_at_chosen(gen);
    return FIRN_OK;
}

void firn__renewal_unlock(firn_gen *gen) {
    if (gen->shared != NULL) {
        pthread_mutex_unlock(&gen->shared->lock);
    }
    pthread_mutex_unlock(&gen->live->locked.lock);
}

/* ---- windows --------------------------------------------------------------------------------- */

void firn__shared_look(const firn_gen *gen) {
    if (gen->shared != NULL && pthread_mutex_trylock(&gen->live->locked.lock) == 0) {
        look_at_chosen(gen); /* otherwise the thread that has the lock has looked */
        pthread_mutex_unlock(&gen->live->locked.lock);
    }
}

firn__claim *firn__shared_claim(const firn_gen *gen) {
    return gen->shared != NULL ? &gen->shared->claim : NULL;
}

void firn__shared_choose(firn_gen *gen, const firn__window *window) {
    if (gen->shared != NULL) {
        uint32_t chosen = window == NULL ? 0 : (uint32_t)(window - gen->shared->windows) + 1;
        atomic_store_explicit(&gen->shared->chosen, chosen, memory_order_release);
        atomic_fetch_add_explicit(&gen->shared->era, 1, memory_order_acq_rel);
    }
}

static firn__window *window_of_node(const firn_gen *gen, uint64_t node) {
    for (uint32_t i = 0; i < gen->shared->count; i++) {
        if (gen->shared->windows[i].node == node) {
            return &gen->shared->windows[i];
        }
    }
    return NULL;
}

bool firn__shared_refuses(const firn_gen *gen, uint64_t node) {
    return gen->shared != NULL && gen->shared->count == room_of(gen) &&
           window_of_node(gen, node) == NULL;
}

/* The first window of a node. */
static int add(const firn_gen *gen, const firn__window *claimed, firn__window **placed,
               firn_error *error) {
    firn__shared *shared = gen->shared;
    if (shared->count == room_of(gen)) {
        return firn__fail(error, FIRN_EEND,
                          "%s used %" PRIu32
                          " nodes in this shared memory, which has no room for another: use new "
                          "memory",
                          gen->ns, shared->count);
    }
    firn__window *window = &shared->windows[shared->count];
    memcpy((void *)window, (const void *)claimed, sizeof *window); /* nobody looks at it yet */
    atomic_store_explicit(&window->cursor, (uint64_t)claimed->first, memory_order_relaxed);
    atomic_thread_fence(memory_order_release); /* a process that is killed here has added nothing */
    shared->count++;
    *placed = window;
    return FIRN_OK;
}

int firn__shared_place(firn_gen *gen, const firn__window *claimed, firn__window **placed,
                       firn_error *error) {
    firn__window *window = window_of_node(gen, claimed->node);
    if (window == NULL) {
        return add(gen, claimed, placed, error);
    }
    int64_t shift = firn__slots_of(gen, claimed->base_tick - window->base_tick);
    int64_t first = claimed->first + shift, end = firn__end_of(claimed) + shift;
    assert(firn__window_is_shut(window));
    if (first < firn__end_of(window)) {
        return firn_error_set(error, FIRN_EBACK, FIRN_CURE_CHECK_DUPLICATES,
                              "the store of %s has lost reservations and grants slots again",
                              gen->ns);
    }
    window->grant = claimed->grant;
    window->twice = true; /* so that nothing of it is ever given back */
    window->lost = false;
    window->pending_grant = 0;
    atomic_store_explicit(&window->end, end, memory_order_release);
    *placed = window;
    return FIRN_OK;
}

int firn__shared_join(const firn_gen *gen, firn_error *error) {
    uint64_t theirs = 0, mine = digest_of(gen);
    return atomic_compare_exchange_strong_explicit(&gen->shared->config, &theirs, mine,
                                                   memory_order_acq_rel, memory_order_acquire) ||
                   theirs == mine
               ? FIRN_OK
               : firn__fail(error, FIRN_EUSAGE,
                            "the shared memory is another generator's: open all that share it with "
                            "the same scheme, keys, store and version of firn, in one PID "
                            "namespace, and zeros for a new one");
}

int firn__shared_attach(firn_gen *gen, void *memory, size_t size, firn_error *error) {
    size_t least = gen->fixed ? FIXED : firn_shared_size();
    int code = check_kind(gen, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (size < least || (uintptr_t)memory % _Alignof(firn__shared) != 0) {
        return firn__fail(error, FIRN_EUSAGE,
                          "the shared memory has %zu bytes, or is not aligned to %zu: give %zu",
                          size, _Alignof(firn__shared), least);
    }
    gen->shared = memory;
    find_place(gen);
    code = firn__shared_join(gen, error);
    if (code != FIRN_OK) {
        gen->shared = NULL;
        return code;
    }
    gen->past = &gen->shared->past;
    gen->live->any.is_shared = true;
    gen->shared_era = &gen->shared->era;
    return prepare_lock(gen, error);
}
