/* SPDX-License-Identifier: MIT */
/* A generator that processes share (firn_config.shared): one cursor and one node for all, even if
 * processes are killed, stopped or forked. The store is in shared memory too, and consistent at
 * each instruction, so that a process can be killed inside it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <firn/firn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sanitized.h"

enum { LOG = 1 << 20, NODES = 1024, ALARM_S = 120 };

/* ---- what the processes share ---------------------------------------------------------------- */

typedef struct mark {
    _Atomic uint32_t which; /* of the two that counts */
    firn_mark copies[2];
} mark;

typedef struct world {
    _Atomic uint64_t count; /* of the log */
    _Atomic uint64_t log[LOG];
    mark marks[NODES];
    _Atomic uint64_t reserves;
    _Atomic bool stops;       /* the next reserve stops its process */
    _Atomic bool dies;        /* the next reserve is carried out and kills its process */
    _Atomic int unsure;       /* this many reserves are carried out and report an unknown outcome */
    _Atomic int64_t offset_s; /* of the clock */
    _Atomic bool over;
    _Alignas(64) uint8_t memory[1 << 18];
} world;

static world *all;
static bool rival; /* a generator that is not shared is at work */

static int store_reserve(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                         firn_error *error) {
    mark *state = &all->marks[strtoul(request->key, NULL, 10) % NODES];
    uint32_t which = atomic_load(&state->which);
    firn_mark now = state->copies[which];
    (void)self, (void)error;
    atomic_fetch_add(&all->reserves, 1);
    if (atomic_exchange(&all->stops, false)) {
        raise(SIGSTOP);
    }
    int64_t from = now.high > request->earliest ? now.high : request->earliest;
    bool before = now.grant == request->grant;
    *held = now;
    if (!before && from > request->latest) {
        return FIRN_EBUSY;
    }
    if (!before) {
        state->copies[1 - which] = (firn_mark){from + request->count, request->grant};
        atomic_store(&state->which, 1 - which);
    }
    *first = from;
    if (atomic_exchange(&all->dies, false)) {
        raise(SIGKILL);
    }
    if (atomic_load(&all->unsure) > 0) {
        atomic_fetch_sub(&all->unsure, 1);
        return FIRN_EUNKNOWN;
    }
    return before ? FIRN_EBUSY : FIRN_OK;
}

/* Of the rivals only: a shared window is never given back. */
static int store_give_back(void *self, const char *ns, const char *key, const firn_mark *mine,
                           int64_t high, firn_error *error) {
    mark *state = &all->marks[strtoul(key, NULL, 10) % NODES];
    uint32_t which = atomic_load(&state->which);
    firn_mark now = state->copies[which];
    (void)self, (void)ns, (void)error;
    if (!rival || now.high != mine->high || now.grant != mine->grant) {
        return rival ? FIRN_EBUSY : FIRN_EUSAGE;
    }
    state->copies[1 - which] = (firn_mark){high, 0};
    atomic_store(&state->which, 1 - which);
    return FIRN_OK;
}

static int store_list(void *self, const char *ns, firn_visit *visit, void *context,
                      firn_error *error) {
    (void)self, (void)error;
    for (int i = 0; i < NODES; i++) {
        char key[16];
        firn_holding holding = {.ns = ns, .layout = "", .key = key, .note = ""};
        holding.mark = all->marks[i].copies[atomic_load(&all->marks[i].which)];
        snprintf(key, sizeof key, "%d", i);
        int code = holding.mark.high == 0 ? 0 : visit(context, &holding);
        if (code != 0) {
            return code;
        }
    }
    return FIRN_OK;
}

static void store_close(void *self) {
    (void)self;
}

static const firn_store_ops ops = {.version = FIRN_STORE_OPS_VERSION,
                                   .scheme = "test",
                                   .reserve = store_reserve,
                                   .give_back = store_give_back,
                                   .list = store_list,
                                   .close = store_close};

static int wall(void *self, firn_time *now) {
    struct timespec read;
    (void)self;
    clock_gettime(CLOCK_REALTIME, &read);
    *now = (firn_time){read.tv_sec + atomic_load(&all->offset_s), (int32_t)read.tv_nsec};
    return FIRN_OK;
}

static int steady(void *self, int64_t *ns) {
    struct timespec read;
    (void)self;
    clock_gettime(CLOCK_BOOTTIME, &read);
    *ns = read.tv_sec * INT64_C(1000000000) + read.tv_nsec;
    return FIRN_OK;
}

static int nap(void *self, int64_t ns) {
    struct timespec rest = {0, (long)ns};
    (void)self;
    nanosleep(&rest, NULL);
    return FIRN_OK;
}

static const firn_clock hands = {.version = 1, .wall = wall, .steady = steady, .pause = nap};

static firn_store *store; /* of this process and its children */

static int try_open(firn_gen **gen, const char *scheme, const char *keys, size_t size,
                    firn_error *error) {
    if (store == NULL && firn_store_wrap(&store, &ops, NULL, error) != FIRN_OK) {
        return FIRN_EMEMORY;
    }
    const firn_config config = {.size = sizeof config,
                                .scheme = scheme,
                                .keys = keys,
                                .store = store,
                                .clock = &hands,
                                .note = "test",
                                .shared = rival ? NULL : all->memory,
                                .shared_size = size};
    return firn_open_with(gen, &config, error);
}

/* Short windows, so that there are many renewals; every process opens it so. */
static const char *const hasty = "window=20ms full=wait max_wait=20s";

static firn_gen *opened(const char *keys) {
    firn_gen *gen;
    firn_error error = {0};
    if (try_open(&gen, "snowflake", keys, firn_shared_size(), &error) != FIRN_OK) {
        fprintf(stderr, "%s: %s\n", keys, error.text);
        abort();
    }
    return gen;
}

/* Writes one ID into the log; checks its order among those that this process issued. */
static void issue(firn_gen *gen, uint64_t *last) {
    firn_id id;
    firn_error error = {0};
    if (firn_next(gen, &id, &error) != FIRN_OK) {
        fprintf(stderr, "%s\n", error.text);
        abort();
    }
    if (id.low <= *last) {
        fprintf(stderr, "%llu after %llu\n", (unsigned long long)id.low, (unsigned long long)*last);
        abort();
    }
    *last = id.low;
    atomic_store(&all->log[atomic_fetch_add(&all->count, 1) % LOG], id.low);
}

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* How many IDs of the log are there twice. */
static size_t twice(void) {
    size_t count = (size_t)atomic_load(&all->count), found = 0;
    count = count < LOG ? count : LOG;
    uint64_t *sorted = malloc(count * sizeof *sorted + 1);
    for (size_t i = 0; i < count; i++) {
        sorted[i] = atomic_load(&all->log[i]);
    }
    qsort(sorted, count, sizeof *sorted, compare);
    for (size_t i = 1; i < count; i++) { /* 0: killed before it was written */
        found += sorted[i] == sorted[i - 1] && sorted[i] != 0;
    }
    free(sorted);
    return found;
}

static int nodes_used(void) {
    int used = 0;
    for (int i = 0; i < NODES; i++) {
        used += atomic_load(&all->marks[i].which) != 0 || all->marks[i].copies[0].high != 0;
    }
    return used;
}

static int begin(void **state) {
    (void)state;
    all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return all == MAP_FAILED || firn_shared_size() > sizeof all->memory;
}

static int end(void **state) {
    (void)state;
    return munmap(all, sizeof *all);
}

static pid_t started(void (*work)(void *), void *argument) {
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(ALARM_S);
        work(argument);
        _exit(0);
    }
    return child;
}

static void ended_well(pid_t child) {
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* ---- one cursor ------------------------------------------------------------------------------ */

static void issues_many(void *gen) {
    uint64_t last = 0;
    firn_gen *own = gen != NULL ? gen : opened(hasty);
    for (int i = 0; i < 8000; i++) {
        issue(own, &last);
    }
    firn_close(own, NULL);
}

static void processes_share_one_node(void **state) {
    pid_t children[6];
    (void)state;
    for (int i = 0; i < 6; i++) {
        children[i] = started(issues_many, NULL);
    }
    for (int i = 0; i < 6; i++) {
        ended_well(children[i]);
    }
    assert_int_equal(atomic_load(&all->count), 6 * 8000);
    assert_int_equal(twice(), 0);
    assert_true(nodes_used() <= 2); /* two, where the machine did nothing for a whole window */
    all->log[5] = all->log[6];
    assert_int_equal(twice(), 1); /* the check sees one */
}

static void children_continue_with_the_cursor_they_inherit(void **state) {
    static const char *const keys[] = {"full=wait max_wait=20s", "node=7 full=wait max_wait=20s"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        memset(all->memory, 0, sizeof all->memory);
        firn_gen *gen = opened(keys[k]);
        uint64_t last = 0;
        issue(gen, &last);
        pid_t value = started(issues_many, gen), other = started(issues_many, gen);
        for (int i = 0; i < 1000; i++) {
            issue(gen, &last);
        }
        ended_well(value);
        ended_well(other);
        assert_int_equal(firn_close(gen, NULL), FIRN_OK);
    }
    assert_int_equal(twice(), 0);
    assert_in_range(nodes_used(), 1, 2); /* one, if the claimed node is 7 too */
}

/* In between, other processes hold the node, ahead of the clock: the cursor continues after them,
 * in place. */
static void a_node_comes_back_after_what_others_issued(void **state) {
    static const char *const keys = "node=9 window=8ms full=wait max_wait=20s";
    uint64_t last = 0, theirs = 0;
    (void)state;
    firn_gen *gen = opened(keys);
    for (int i = 0; i < 5; i++) {
        issue(gen, &last);
        nap(NULL, 60000000);
        rival = true;
        firn_gen *other = opened(keys);
        for (int k = 0; k < 20000; k++) {
            issue(other, &theirs);
        }
        assert_int_equal(firn_close(other, NULL), FIRN_OK);
        rival = false;
        for (int k = 0; k < 2000; k++) {
            issue(gen, &last);
        }
        nap(NULL, 60000000);
        theirs = last;
    }
    assert_int_equal(twice(), 0);
    assert_int_equal(nodes_used(), 1);
    assert_int_equal(firn_close(gen, NULL), FIRN_OK);
}

static void *issues_in_a_thread(void *gen) {
    uint64_t last = 0;
    for (int i = 0; i < 5000; i++) {
        issue(gen, &last);
    }
    return NULL;
}

/* Two generators in one process are as two processes, and the thread sanitizer sees them. */
static void threads_of_two_generators_share_one_cursor(void **state) {
    firn_gen *gens[2] = {opened(hasty), opened(hasty)};
    pthread_t threads[4];
    (void)state;
    for (int i = 0; i < 4; i++) {
        pthread_create(&threads[i], NULL, issues_in_a_thread, gens[i % 2]);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(atomic_load(&all->count), 4 * 5000);
    assert_int_equal(twice(), 0);
    firn_close(gens[0], NULL);
    firn_close(gens[1], NULL);
}

/* ---- killed ---------------------------------------------------------------------------------- */

static void issues_until_it_is_over(void *unused) {
    uint64_t last = 0;
    firn_gen *gen = opened(hasty);
    (void)unused;
    while (!atomic_load(&all->over) && atomic_load(&all->count) < LOG - 10000) {
        issue(gen, &last);
        if (last % 16 == 0) {
            nap(NULL, 20000);
        }
    }
    firn_close(gen, NULL);
}

static void killed_processes_stop_nobody_and_repeat_nothing(void **state) {
    (void)state;
    pid_t lasting[2] = {started(issues_until_it_is_over, NULL),
                        started(issues_until_it_is_over, NULL)};
    unsigned seed = 12345;
    for (int i = 0; i < 120; i++) {
        pid_t child = started(issues_until_it_is_over, NULL);
        seed = seed * 1103515245 + 12345;
        nap(NULL, seed / 65536 % 6000 * 1000);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    uint64_t before = atomic_load(&all->count);
    for (int i = 0; i < 10000 && atomic_load(&all->count) < before + 100; i++) {
        nap(NULL, 1000000);
    }
    assert_true(atomic_load(&all->count) >= before + 100 || before > LOG / 2);
    atomic_store(&all->over, true);
    ended_well(lasting[0]);
    ended_well(lasting[1]);
    assert_int_equal(twice(), 0);
}

/* The killed operation: a claim, a renewal, and a claim after a pause; the first and the last from
 * the store's answer on. */
enum { CLAIM, RENEWAL, CLAIM_AGAIN, KINDS };

static void traced_work(void *kind) {
    uint64_t last = 0;
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    if (*(int *)kind == CLAIM) {
        memset(all->memory, 0, sizeof all->memory);
        atomic_store(&all->stops, true);
    }
    firn_gen *gen = opened(hasty);
    issue(gen, &last);
    nap(NULL, *(int *)kind == RENEWAL ? 13000000 : 60000000);
    if (*(int *)kind == RENEWAL) {
        raise(SIGSTOP);
    } else {
        atomic_store(&all->stops, true);
    }
    issue(gen, &last);
    _exit(0);
}

/* Runs that many instructions, then kills it. False: it ended before. */
static bool killed_after(pid_t child, long steps) {
    int status;
    waitpid(child, &status, 0);
    for (long i = 0; i < steps; i++) {
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0 ||
            waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
            return false;
        }
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return true;
}

static void a_process_killed_at_any_instruction_corrupts_nothing(void **state) {
    (void)state;
    unsigned seed = 99;
    long most[KINDS] = {2000, 6000, 2000}; /* instructions; found out by the way */
    int killed[KINDS] = {0};
    for (int i = 0; i < (SANITIZED ? 30 : 150); i++) {
        int kind = i % KINDS;
        seed = seed * 1103515245 + 12345;
        long steps = (long)(seed / 65536) % most[kind];
        if (killed_after(started(traced_work, &kind), steps)) {
            killed[kind]++;
        } else {
            most[kind] = steps > 200 ? steps : most[kind];
        }
        atomic_store(&all->stops, false);
        firn_gen *gen = opened(hasty); /* the next process continues */
        uint64_t last = 0;
        for (int k = 0; k < 20; k++) {
            issue(gen, &last);
        }
        firn_close(gen, NULL);
    }
    assert_true(killed[CLAIM] > 5 && killed[RENEWAL] > 5 && killed[CLAIM_AGAIN] > 5);
    assert_int_equal(twice(), 0);
}

/* A window much longer than the lead: another claim finds the node in use. */
static const char *const long_window = "node=5 window=10s max_wait=0";

static void claims_and_dies(void *unused) {
    firn_gen *gen;
    (void)unused;
    atomic_store(&all->dies, true);
    try_open(&gen, "snowflake", long_window, 2048, NULL);
}

static void a_claim_that_was_cut_short_is_sent_again(void **state) {
    int status;
    uint64_t last = 0;
    firn_gen *gen;
    firn_error error = {0};
    (void)state;
    pid_t child = started(claims_and_dies, NULL);
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(all->marks[5].copies[1].grant & 1, 1); /* carried out */
    assert_int_equal(try_open(&gen, "snowflake", long_window, 2048, &error), FIRN_OK);
    issue(gen, &last);
    assert_int_equal(firn_close(gen, NULL), FIRN_OK);
    assert_int_equal(atomic_load(&all->reserves), 2);
}

enum { SENDINGS = 3 }; /* of one request by one call */

/* The store carries the claim out and never says so, as one that answers later: the next call sends
 * the same again. */
static void a_claim_of_unknown_outcome_is_sent_again(void **state) {
    uint64_t last = 0;
    firn_gen *gen = NULL;
    firn_error error = {0};
    (void)state;
    atomic_store(&all->unsure, SENDINGS);
    assert_int_equal(try_open(&gen, "snowflake", long_window, 2048, &error), FIRN_EUNKNOWN);
    assert_int_equal(try_open(&gen, "snowflake", long_window, 2048, &error), FIRN_OK);
    assert_int_equal(atomic_load(&all->reserves), SENDINGS + 1);
    issue(gen, &last);
    firn_close(gen, NULL);
}

static void such_a_claim_is_dropped_when_the_clock_has_gone_elsewhere(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        uint64_t last = 0;
        firn_gen *gen = NULL;
        firn_error error = {0};
        memset(all->memory, 0, sizeof all->memory);
        atomic_store(&all->offset_s, 0);
        atomic_store(&all->unsure, SENDINGS);
        assert_int_equal(try_open(&gen, "snowflake", "", firn_shared_size(), &error),
                         FIRN_EUNKNOWN);
        atomic_store(&all->offset_s, i == 0 ? 3600 : -3600);
        gen = opened("");
        issue(gen, &last);
        firn_close(gen, NULL);
    }
}

/* ---- stopped --------------------------------------------------------------------------------- */

static void a_stopped_renewer_is_waited_for_in_bounded_time(void **state) {
    static const char *const keys = "window=20ms max_wait=300ms";
    firn_error error = {0};
    firn_id id;
    int code = FIRN_OK, status;
    (void)state;
    firn_gen *gen = opened(keys);
    atomic_store(&all->stops, true);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(ALARM_S);
        nap(NULL, 50000000);
        firn_next(opened(keys), &id, NULL);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_true(WIFSTOPPED(status));
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < 100000 && code == FIRN_OK; i++) {
        code = firn_next(gen, &id, &error);
        nap(NULL, 1000000);
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    assert_int_equal(code, FIRN_EWINDOW);
    assert_non_null(strstr(error.text, "another process holds the renewal"));
    int64_t wait_ms;
    assert_int_equal(firn_gen_step(gen, &wait_ms, &error), FIRN_EWINDOW); /* nor without the lock */
    assert_true(to.tv_sec - from.tv_sec < 60);
    kill(child, SIGCONT);
    ended_well(child);
    assert_int_equal(firn_next(gen, &id, &error), FIRN_OK);
    firn_close(gen, NULL);
}

/* ---- the clock ------------------------------------------------------------------------------- */

static void issues_over_a_step_back(void *unused) {
    uint64_t last = 0;
    firn_gen *gen = opened("full=wait max_wait=20s");
    (void)unused;
    for (int i = 0; i < 200; i++) {
        issue(gen, &last);
    }
    atomic_fetch_add(&all->reserves, 1000000); /* ready */
    while (!atomic_load(&all->over)) {
        nap(NULL, 1000000);
    }
    for (int i = 0; i < 200; i++) {
        last = 0; /* a node that was left may be followed by a lower one */
        issue(gen, &last);
    }
}

static void a_step_back_is_acted_on_once(void **state) {
    pid_t children[4];
    (void)state;
    for (int i = 0; i < 4; i++) {
        children[i] = started(issues_over_a_step_back, NULL);
    }
    for (int i = 0; i < 20000 && atomic_load(&all->reserves) < 4000000; i++) {
        nap(NULL, 1000000);
    }
    atomic_store(&all->offset_s, -3600);
    atomic_store(&all->over, true);
    for (int i = 0; i < 4; i++) {
        ended_well(children[i]);
    }
    assert_int_equal(twice(), 0);
    assert_int_equal(nodes_used(), 2);
}

/* The store is empty again and the clock back: it grants slots of the node before the issued
 * ones. */
static void a_store_that_grants_slots_again_is_reported(void **state) {
    firn_error error = {0};
    uint64_t last = 0;
    firn_id id;
    (void)state;
    firn_gen *gen = opened("node=7 back=leave max_wait=50ms");
    issue(gen, &last);
    memset(all->marks, 0, sizeof all->marks);
    atomic_store(&all->offset_s, -3600);
    assert_int_equal(firn_next(gen, &id, &error), FIRN_EBACK);
    assert_non_null(strstr(error.text, "grants slots again"));
    for (int i = 0; i < 3; i++) { /* the store has granted the window: what is left is to wait */
        assert_int_not_equal(firn_next(gen, &id, &error), FIRN_OK);
    }
    firn_close(gen, NULL);
}

/* ---- refused --------------------------------------------------------------------------------- */

static void refused(const char *scheme, const char *keys, size_t size, int code,
                    const char *words) {
    firn_gen *gen = NULL;
    firn_error error = {0};
    if (try_open(&gen, scheme, keys, size, &error) != code || strstr(error.text, words) == NULL) {
        fail_msg("%s '%s': %s", scheme, keys, error.text);
    }
    assert_null(gen);
}

static bool no_robust_locks;

int __real_pthread_mutexattr_setrobust(pthread_mutexattr_t *kind, int robust);
int __wrap_pthread_mutexattr_setrobust(pthread_mutexattr_t *kind, int robust) {
    return no_robust_locks ? ENOTSUP : __real_pthread_mutexattr_setrobust(kind, robust);
}

static void what_cannot_be_shared_is_refused(void **state) {
    size_t size = firn_shared_size();
    (void)state;
    no_robust_locks = true;
    refused("snowflake", "", size, FIRN_ESYSTEM, "no robust locks");
    no_robust_locks = false;
    refused("uuid7", "", size, FIRN_EUSAGE, "it reserves nothing");
    refused("objectid", "", size, FIRN_EUSAGE, "not one slot each");
    refused("snowflake", "nodes=2", size, FIRN_EUSAGE, "nodes= is more than 1");
    refused("snowflake", "mode=online", size, FIRN_EUSAGE, "mode=online holds no window");
    refused("snowflake", "worker=ticket", size, FIRN_EUSAGE, "a ticket is one process's");
    refused("time-random", "", size, FIRN_EUSAGE, "");
    refused("snowflake", "ordering=thread", size, FIRN_EUSAGE, "ordering= is not strict");
    refused("snowflake", "", size - 1, FIRN_EUSAGE, "give ");
    refused("snowflake", "node=3", 2047, FIRN_EUSAGE, "give 2048");
    firn_gen *gen = opened("");
    refused("snowflake", "node=3", size, FIRN_EUSAGE, "another generator's");
    refused("snowflake", "ns=other", size, FIRN_EUSAGE, "another generator's");
    refused("sonyflake", "", size, FIRN_EUSAGE, "another generator's");
    refused("snowflake", "max_lead=3s", size, FIRN_EUSAGE, "another generator's");
    firn_gen *same = opened("");
    firn_close(same, NULL);
    firn_close(gen, NULL);
}

static int open_in(const char *folder, firn_gen **gen, firn_error *error) {
    const firn_store_options modules = {.module_dir = FIRN_BUILD_DIR "/firn"};
    const firn_config config = {.size = sizeof config,
                                .scheme = "snowflake",
                                .keys = "unsafe=1",
                                .store_url = "sqlite:firn.db",
                                .store_options = &modules,
                                .shared = all->memory,
                                .shared_size = firn_shared_size()};
    assert_int_equal(chdir(folder), 0);
    return firn_open_with(gen, &config, error);
}

/* Two files have one URL: others who use the second one would not see the grants of the first. */
static void two_files_under_one_path_are_refused(void **state) {
    char home[4096], word[300], two[300], command[700];
    const char *parent = getenv("TMPDIR");
    firn_gen *gen = NULL, *other = NULL;
    firn_error error = {0};
    firn_id id;
    (void)state;
    snprintf(word, sizeof word, "%s/firn-shared.XXXXXX", parent != NULL ? parent : "/tmp");
    snprintf(two, sizeof two, "%s", word);
    assert_true(getcwd(home, sizeof home) != NULL && mkdtemp(word) != NULL && mkdtemp(two) != NULL);
    assert_int_equal(open_in(word, &gen, &error), FIRN_OK);
    assert_int_equal(open_in(two, &other, &error), FIRN_EUSAGE);
    assert_non_null(strstr(error.text, "another generator's"));
    assert_int_equal(firn_next(gen, &id, &error), FIRN_OK); /* whose process has moved since */
    assert_int_equal(open_in(word, &other, &error), FIRN_OK);
    firn_close(other, NULL);
    firn_close(gen, NULL);
    assert_int_equal(chdir(home), 0);
    snprintf(command, sizeof command, "rm -rf '%s' '%s'", word, two);
    assert_int_equal(system(command), 0);
}

/* In its own PID namespace, where the numbers of processes mean others. */
static void is_refused_elsewhere(void *inherited) {
    firn_gen *gen = NULL;
    firn_error error = {0};
    firn_id id;
    if (try_open(&gen, "snowflake", "", firn_shared_size(), &error) != FIRN_EUSAGE ||
        firn_next(inherited, &id, &error) != FIRN_EUSAGE ||
        strstr(error.text, "in one PID namespace") == NULL) {
        fprintf(stderr, "# %s\n", error.text);
        _exit(1);
    }
}

static void makes_a_namespace(void *gen) {
    if (unshare(CLONE_NEWPID) == 0) {
        ended_well(started(is_refused_elsewhere, gen));
        _exit(0);
    }
    _exit(errno == EPERM ? 2 : 1); /* 2: not allowed */
}

static void another_pid_namespace_is_refused(void **state) {
    int status = -1;
    (void)state;
    firn_gen *gen = opened("");
    pid_t child = started(makes_a_namespace, gen);
    assert_int_equal(waitpid(child, &status, 0), child);
    firn_close(gen, NULL);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
        skip();
    }
    assert_int_equal(status, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(processes_share_one_node, begin, end),
        cmocka_unit_test_setup_teardown(children_continue_with_the_cursor_they_inherit, begin, end),
        cmocka_unit_test_setup_teardown(a_node_comes_back_after_what_others_issued, begin, end),
        cmocka_unit_test_setup_teardown(threads_of_two_generators_share_one_cursor, begin, end),
        cmocka_unit_test_setup_teardown(killed_processes_stop_nobody_and_repeat_nothing, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_process_killed_at_any_instruction_corrupts_nothing, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_claim_that_was_cut_short_is_sent_again, begin, end),
        cmocka_unit_test_setup_teardown(a_claim_of_unknown_outcome_is_sent_again, begin, end),
        cmocka_unit_test_setup_teardown(such_a_claim_is_dropped_when_the_clock_has_gone_elsewhere,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_stopped_renewer_is_waited_for_in_bounded_time, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_step_back_is_acted_on_once, begin, end),
        cmocka_unit_test_setup_teardown(a_store_that_grants_slots_again_is_reported, begin, end),
        cmocka_unit_test_setup_teardown(what_cannot_be_shared_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(two_files_under_one_path_are_refused, begin, end),
        cmocka_unit_test_setup_teardown(another_pid_namespace_is_refused, begin, end)};
    alarm(3 * ALARM_S);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    firn_store_close(store);
    return failed;
}
