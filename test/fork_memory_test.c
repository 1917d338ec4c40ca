/* SPDX-License-Identifier: MIT */
/* Wiped memory, call by call: which answers of the kernel are believed, what is mapped and
 * unmapped, what a child finds, and who waits for whom. The library asks the kernel once, so each
 * check has its own process; the linker replaces libc's functions with those here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/syscall.h>

#include "fork_memory.h"
#include "issued.h"

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "# line %d: %s\n", __LINE__, #condition);                              \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

/* ---- what the library calls ------------------------------------------------------------------ */

/* The kernel's answer to an advice; errno is set in any case, as if by an earlier failure. */
typedef struct answer {
    int result, error;
} answer;

static struct {
    answer shared, invalid, wipe;
    bool really; /* asks the kernel instead */
} kernel;

enum { LIVE = 64 };
static struct {
    void *at;
    size_t size;
    bool shared;
} live[LIVE];                                                    /* what the library has mapped */
static int maps, callocs, map_fails, calloc_fails, atfork_fails; /* a count from 1; 0: none fails */
static void (*in_map)(void), (*in_calloc)(void), (*in_yield)(void),
    (*in_atfork)(void); /* once each */

static void once(void (**what)(void)) {
    void (*run)(void) = *what;
    *what = NULL;
    if (run != NULL) {
        run();
    }
}

static int live_count(void) {
    int count = 0;
    for (int i = 0; i < LIVE; i++) {
        count += live[i].at != NULL;
    }
    return count;
}

static int entry(const void *context) {
    for (int i = 0; i < LIVE; i++) {
        if (live[i].at == context) {
            return i;
        }
    }
    EXPECT(!"found");
    return 0;
}

void *__real_mmap64(void *context, size_t size, int may, int kind, int file, off_t from);
void *__wrap_mmap64(void *context, size_t size, int may, int kind, int file, off_t from);
void *__wrap_mmap64(void *context, size_t size, int may, int kind, int file, off_t from) {
    if (file >= 0) { /* test/mutate's */
        return __real_mmap64(context, size, may, kind, file, from);
    }
    once(&in_map);
    if (++maps == map_fails) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    EXPECT(kind & MAP_ANONYMOUS);
    EXPECT((context != NULL) == ((kind & MAP_FIXED) != 0) && may == (PROT_READ | PROT_WRITE));
    EXPECT((kind & MAP_TYPE) == MAP_SHARED || (kind & MAP_TYPE) == MAP_PRIVATE);
    void *found = __real_mmap64(context, size, may, kind, file, from);
    EXPECT(found != MAP_FAILED && (context == NULL || found == context));
    int i = entry(context); /* of the memory that it replaces, or free */
    EXPECT(context == NULL || live[i].size == size);
    live[i].at = found;
    live[i].size = size;
    live[i].shared = (kind & MAP_TYPE) == MAP_SHARED;
    return found;
}

int __real_munmap(void *context, size_t size);
int __wrap_munmap(void *context, size_t size);
int __wrap_munmap(void *context, size_t size) {
    EXPECT(context != NULL && context != MAP_FAILED);
    int i = entry(context);
    EXPECT(live[i].size == size);
    live[i].at = NULL;
    return __real_munmap(context, size);
}

int __real_madvise(void *context, size_t size, int advice);
int __wrap_madvise(void *context, size_t size, int advice);
int __wrap_madvise(void *context, size_t size, int advice) {
    int i = entry(context);
    EXPECT(live[i].size == size);
    answer self = advice != MADV_WIPEONFORK ? kernel.invalid
                  : live[i].shared          ? kernel.shared
                                            : kernel.wipe;
    if (kernel.really) {
        return __real_madvise(context, size, advice);
    }
    errno = self.error;
    return self.result;
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size) {
    once(&in_calloc);
    if (++callocs == calloc_fails) {
        errno = ENOMEM;
        return NULL;
    }
    return __real_calloc(count, size);
}

int __real_pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void));
int __wrap_pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void));
int __wrap_pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void)) {
    int code = atfork_fails ? ENOMEM : __real_pthread_atfork(before, parent, child);
    once(&in_atfork);
    return code;
}

int __wrap_sched_yield(void);
int __wrap_sched_yield(void) {
    once(&in_yield);
    return (int)syscall(SYS_sched_yield);
}

/* ---- each in its own process ----------------------------------------------------------------- */

static const answer yes = {0, EINVAL}, no = {-1, EINVAL}, otherwise = {-1, ENOMEM};

static int ended(void (*check)(void)) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(HUNG_S);
        check();
        _exit(0);
    }
    return end_of(child);
}

static void passes(void (*check)(void)) {
    assert_int_equal(ended(check), 0);
}

static void wiping(void) {
    kernel.really = true;
    if (firn__wiped_watch()) {
        _exit(0); /* this kernel wipes nothing */
    }
}

static void watching(void) {
    kernel.shared = kernel.invalid = kernel.wipe = yes;
    EXPECT(firn__wiped_watch());
}

static char *wiped(size_t size) {
    int code = -1;
    firn_error error = {0};
    char *page = firn__wiped(size, &code, &error);
    EXPECT(page != NULL && code == FIRN_OK);
    for (size_t i = 0; i < size; i++) {
        EXPECT(page[i] == 0);
    }
    return page;
}

static void no_memory(size_t size) {
    int code = -1;
    firn_error error = {0};
    EXPECT(firn__wiped(size, &code, &error) == NULL && code == FIRN_EMEMORY);
    EXPECT(error.code == FIRN_EMEMORY && strstr(error.text, "memory") != NULL);
}

/* ---- the kernel's word ----------------------------------------------------------------------- */

static bool believes; /* and: */
static int probes;

static void asks(void) {
    EXPECT(firn__wiped_watch() == !believes && firn__wiped_watch() == !believes);
    EXPECT(live_count() == 1); /* the canary */
    for (int i = 0; i < LIVE; i++) {
        EXPECT(live[i].at == NULL || (live[i].shared == !believes && *(char *)live[i].at != 0));
    }
    wiped(1);
    EXPECT(live_count() == 2);
}

static void a_kernel_that_does_not_judge_is_not_believed(void **state) {
    const answer each[] = {yes, no, otherwise};
    (void)state;
    for (int i = 0; i < 27; i++) {
        kernel.shared = each[i % 3];
        kernel.invalid = each[i / 3 % 3];
        kernel.wipe = each[i / 9];
        believes = i % 3 == 1 && i / 3 % 3 == 1 && i / 9 == 0;
        passes(asks);
    }
    kernel.shared = kernel.invalid = no;
    kernel.wipe = yes;
    believes = false;
    for (map_fails = 1; map_fails <= 2; map_fails++) { /* the page, the shared page */
        passes(asks);
    }
    map_fails = 0;
    memset(&kernel, 0, sizeof kernel);
}

static void refuse_all(void) {
    kernel.shared = kernel.invalid = no;
    kernel.wipe = probes == 0 ? yes : no;
    firn__wiped_watch();
    int had = live_count(), mapped = maps;
    no_memory(100);
    EXPECT(live_count() == had && maps == mapped);
}

static void without_a_canary_no_memory_is_handed_out(void **state) {
    (void)state;
    for (probes = 0; probes < 2; probes++) { /* on kernels that wipe, and on others */
        atfork_fails = 1;
        passes(refuse_all);
        atfork_fails = 0;
        calloc_fails = callocs + 1;
        passes(refuse_all);
        calloc_fails = 0;
    }
    map_fails = 3; /* after the two probes, what forks are watched with */
    passes(refuse_all);
    map_fails = 0;
    probes = 0;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void sizes_are_whole(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = page - sizeof(void *);
    const size_t sizes[] = {1, room - 1, room, room + 1, page, page + room, page + room + 1};
    const size_t pages[] = {1, 1, 1, 2, 2, 2, 3};
    wiping();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *position = wiped(sizes[i]);
        EXPECT(live[entry(position)].size == pages[i] * page);
        memset(position, 1, sizes[i]);
        firn__wiped_free(position, sizes[i]);
        EXPECT(live_count() == 1);
    }
}

static void what_is_freed_is_used_again(void) {
    wiping();
    int had = callocs;
    char *word = wiped(100), *two = wiped(100);
    EXPECT(callocs == had + 2);
    firn__wiped_free(word, 100);
    firn__wiped_free(two, 100);
    for (int i = 0; i < 3; i++) {
        word = wiped(5000);
        two = wiped(100);
        EXPECT(callocs == had + 2);
        firn__wiped_free(word, 5000);
        firn__wiped_free(two, 100);
    }
    word = wiped(100), two = wiped(100);
    calloc_fails = callocs + 1;
    no_memory(100);
    EXPECT(live_count() == 3);
    map_fails = maps + 1;
    no_memory(100);
    EXPECT(live_count() == 3);
}

static void a_refusal_leaves_nothing(void) {
    int code = 0;
    firn_error error = {0};
    kernel.shared = kernel.invalid = no;
    kernel.wipe = yes;
    EXPECT(!firn__wiped_watch());
    kernel.wipe = otherwise;
    EXPECT(firn__wiped(100, &code, &error) == NULL && code == FIRN_ESYSTEM);
    EXPECT(strstr(error.text, "100 bytes") != NULL && live_count() == 1);
}

static void memory_is_mapped_and_unmapped_as_a_whole(void **state) {
    (void)state;
    passes(sizes_are_whole);
    passes(what_is_freed_is_used_again);
    passes(a_refusal_leaves_nothing);
}

/* ---- children -------------------------------------------------------------------------------- */

static pid_t copy(bool bare) {
    pid_t child = bare ? (pid_t)syscall(SYS_clone, (long)SIGCHLD, NULL, NULL, NULL, NULL) : fork();
    if (child == 0) {
        alarm(HUNG_S);
    }
    return child;
}

/* Checks the memory in a child, and in the child's own child, by fork and by clone. */
static void family(char *kept[3], const size_t sizes[3], int depth, bool bare) {
    for (int i = 0; i < 3; i++) {
        for (size_t position = 0; position < sizes[i]; position++) {
            EXPECT(kept[i][position] == 0);
        }
        memset(kept[i], 7 + depth, sizes[i]);
    }
    if (depth < 2) {
        pid_t child = copy(bare);
        if (child == 0) {
            int had = maps;
            firn__wiped_look();
            /* these and the canary, once; fork's handler has done so before */
            EXPECT(maps == had + (firn__wiped_watch() && bare ? 4 : 0));
            had = maps;
            firn__wiped_look();
            EXPECT(maps == had);
            family(kept, sizes, depth + 1, bare);
            _exit(0);
        }
        EXPECT(end_of(child) == 0);
    }
    for (int i = 0; i < 3; i++) {
        for (size_t position = 0; position < sizes[i]; position++) {
            EXPECT(kept[i][position] == 7 + depth); /* a child writes into its own */
        }
    }
    if (depth > 0) { /* the entries were wiped with the rest */
        for (int i = 0; i < 3; i++) {
            int had = live_count();
            firn__wiped_free(kept[i], sizes[i]);
            EXPECT(live_count() == had - 1);
        }
        int had = callocs;
        for (int i = 0; i < 3; i++) {
            kept[i] = wiped(sizes[i]);
        }
        EXPECT(callocs == had); /* their entries were found */
    }
}

static bool bare_copies;

static void families(void) {
    const size_t sizes[3] = {100, 10000, 4088};
    char *kept[3] = {wiped(100), wiped(10000), wiped(4088)};
    family(kept, sizes, 0, bare_copies);
}

static void wiped_families(void) {
    wiping();
    families();
}

static void watched_families(void) {
    watching();
    families();
}

/* Memory that a child frees is no longer mapped again in its own children, and all other memory
 * is. */
static void a_child_frees(void) {
    watching();
    char *kept[3] = {wiped(100), wiped(100), wiped(100)};
    for (int freed = 0; freed < 3; freed++) {
        pid_t child = copy(true);
        if (child == 0) {
            firn__wiped_look();
            for (int i = 0; i < 3; i++) {
                *kept[i] = 5;
            }
            firn__wiped_free(kept[freed], 100);
            pid_t grandchild = copy(true);
            if (grandchild == 0) {
                int had = maps;
                firn__wiped_look();
                EXPECT(maps == had + 3 && *kept[(freed + 1) % 3] == 0 &&
                       *kept[(freed + 2) % 3] == 0);
                _exit(0);
            }
            EXPECT(end_of(grandchild) == 0);
            _exit(0);
        }
        EXPECT(end_of(child) == 0);
    }
}

/* Freed memory is another's: a child maps nothing over it. */
static void freed_is_left_alone(void) {
    watching();
    char *word = wiped(100), *two = wiped(100);
    firn__wiped_free(word, 100);
    int kind = MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED;
    EXPECT(__real_mmap64(word, 100, PROT_READ | PROT_WRITE, kind, -1, 0) == word);
    *word = 5;
    *two = 5;
    pid_t child = copy(false);
    if (child == 0) {
        EXPECT(*word == 5 && *two == 0);
        _exit(0);
    }
    EXPECT(end_of(child) == 0);
}

/* A kernel that answers as Linux does, and wipes nothing. */
static void a_liar_is_found_out(void) {
    kernel.shared = kernel.invalid = no;
    kernel.wipe = yes;
    EXPECT(!firn__wiped_watch());
    char *page = wiped(100);
    *page = 5;
    pid_t child = copy(false);
    if (child == 0) {
        EXPECT(firn__wiped_watch() && *page == 0);
        pid_t grandchild = copy(true);
        if (grandchild == 0) {
            *wiped(1) = 1;
            firn__wiped_look();
            EXPECT(*page == 0);
            _exit(0);
        }
        EXPECT(end_of(grandchild) == 0);
        _exit(0);
    }
    EXPECT(end_of(child) == 0 && *page == 5);
}

static void children_find_zeros(void **state) {
    (void)state;
    for (int bare = 0; bare < 2; bare++) {
        bare_copies = bare == 1;
        passes(wiped_families);
        passes(watched_families);
    }
    passes(a_child_frees);
    passes(freed_is_left_alone);
    passes(a_liar_is_found_out);
}

static void cannot_wipe(void) {
    watching();
    *wiped(100) = 5;
    map_fails = maps + 1;
    pid_t child = copy(false);
    if (child == 0) {
        _exit(0);
    }
    EXPECT(end_of(child) == 1000 + SIGABRT);
}

static void a_child_that_cannot_wipe_ends(void **state) {
    (void)state;
    passes(cannot_wipe);
}

/* ---- who waits for whom ---------------------------------------------------------------------- */

static sem_t turns;
static pthread_t other;
static _Atomic bool other_done;

static void tell(void) {
    in_yield = tell; /* each time */
    sem_post(&turns);
}

static void *takes_memory(void *unused) {
    wiped(100);
    atomic_store(&other_done, true);
    tell();
    return unused;
}

static void *looks(void *unused) {
    firn__wiped_look();
    atomic_store(&other_done, true);
    tell();
    return unused;
}

/* Inside the lock: another thread tries and tries again, and is not let in. */
static void start(void *(*run)(void *)) {
    sem_init(&turns, 0, 0);
    in_yield = tell;
    EXPECT(pthread_create(&other, NULL, run, NULL) == 0);
    for (int i = 0; i < 4; i++) {
        sem_wait(&turns);
    }
    EXPECT(!atomic_load(&other_done));
}

static void start_taking(void) {
    start(takes_memory);
}

static void start_looking(void) {
    start(looks);
}

/* Inside the lock: a child does not have the thread that holds it. */
static void copy_inside(void) {
    pid_t child = copy(true);
    if (child == 0) {
        firn__wiped_look();
        wiped(100);
        wiped(100);
        _exit(0);
    }
    EXPECT(end_of(child) == 0);
}

static void two_threads(void) {
    watching();
    wiped(100);
    in_calloc = start_taking;
    wiped(100);
    pthread_join(other, NULL);
    EXPECT(live_count() == 4);
}

static void a_fork_inside(void) {
    watching();
    in_calloc = copy_inside;
    wiped(100);
}

static void two_look(void) {
    watching();
    *wiped(100) = 5;
    pid_t child = copy(true);
    if (child == 0) {
        int had = maps;
        in_map = start_looking;
        firn__wiped_look();
        pthread_join(other, NULL);
        EXPECT(maps == had + 2);
        _exit(0);
    }
    EXPECT(end_of(child) == 0);
}

static void one_thread_at_a_time(void **state) {
    (void)state;
    passes(two_threads);
    passes(a_fork_inside);
    passes(two_look);
}

/* By another thread, while the first one asks the kernel. */
static void fork_between(void) {
    pid_t child = copy(false);
    if (child == 0) {
        _exit(0);
    }
    EXPECT(end_of(child) == 0);
}

static void a_fork_at_the_beginning(void) {
    in_atfork = fork_between;
    watching();
    EXPECT(in_atfork == NULL);
    wiped(1);
}

static void a_child_is_forked_before_memory_is_ready(void **state) {
    (void)state;
    passes(a_fork_at_the_beginning);
}

/* ---- process 1 of a container ---------------------------------------------------------------- */

enum { NO_NAMESPACE = 77 };

static void hangs(int signal) { /* process 1 ignores signals without a handler */
    (void)signal;
    _exit(1);
}

static _Atomic int rounds; /* of the other thread */

static void *waits(void *unused) {
    atomic_fetch_add(&rounds, 1);
    pause();
    return unused;
}

static void *takes_without_end(void *unused) {
    for (;; atomic_fetch_add(&rounds, 1)) {
        firn__wiped_free(wiped(100), 100);
    }
    return unused;
}

/* Runs a check as process 1, whose parent has this other thread, or none. */
static void first(void (*check)(void), void *(*beside)(void *)) {
    pthread_t thread;
    unshare(
        CLONE_NEWUSER); /* a chroot has none, its root needs no namespace, and process 1 has one */
    firn__wiped_watch();
    if (beside != NULL) {
        EXPECT(pthread_create(&thread, NULL, beside, NULL) == 0);
        while (atomic_load(&rounds) == 0) {
            sched_yield();
        }
    }
    if (unshare(CLONE_NEWPID) != 0) {
        _exit(NO_NAMESPACE);
    }
    pid_t child = copy(
        beside == NULL ||
        !firn__wiped_watch()); /* if nothing is wiped, fork's handlers matter to other threads */
    if (child == 0) {
        signal(SIGALRM, hangs);
        alarm(HUNG_S);
        EXPECT(getpid() == 1);
        check();
        _exit(0);
    }
    int status = end_of(child);
    if (status == NO_NAMESPACE) {
        _exit(status);
    }
    EXPECT(status == 0);
}

static void takes_and_frees(void) {
    for (int i = 0; i < 3; i++) {
        firn__wiped_free(wiped(100), 100);
    }
    wiped(100);
}

static void takes_and_frees_first(void) {
    first(takes_and_frees, NULL);
}

static void two_threads_first(void) {
    first(two_threads, NULL);
}

static void looks_first(void) {
    watching();
    wiped(100);
    pid_t child = copy(true);
    if (child == 0) {
        firn__wiped_look();
        first(firn__wiped_look, NULL);
        _exit(0);
    }
    int status = end_of(child);
    if (status == NO_NAMESPACE) {
        _exit(status);
    }
    EXPECT(status == 0);
}

static void loads_nothing(void) {
    EXPECT(!firn__wiped_may_load());
}

static void loads_nothing_first(void) {
    first(loads_nothing, waits);
}

/* As process 1: its child has the same number, in its own namespace. */
static void forks_amid_taking(void) {
    first(takes_and_frees, takes_without_end);
}

static void forks_as_the_same_number(void) {
    first(forks_amid_taking, NULL);
}

__attribute__((unused)) static void a_child_of_process_1_with_its_number_does_not_hang(
    void **state) {
    (void)state;
    for (int i = 0; i < 300; i++) {
        kernel.really = i % 2 == 0;
        int status = ended(forks_as_the_same_number);
        kernel.really = false;
        if (status == NO_NAMESPACE) {
            skip();
        }
        assert_int_equal(status, 0);
    }
}

__attribute__((unused)) static void process_1_neither_hangs_nor_loads(void **state) {
    void (*const checks[])(void) = {takes_and_frees_first, loads_nothing_first, two_threads_first,
                                    looks_first};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof checks / sizeof *checks; i++) {
        kernel.really = i % 2 == 0 && i < 4; /* the last two have their own answers */
        int status = ended(checks[i / 2]);
        kernel.really = false;
        if (status == NO_NAMESPACE) { /* no user namespaces here */
            skip();
        }
        assert_int_equal(status, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_that_does_not_judge_is_not_believed),
        cmocka_unit_test(without_a_canary_no_memory_is_handed_out),
        cmocka_unit_test(memory_is_mapped_and_unmapped_as_a_whole),
        cmocka_unit_test(children_find_zeros),
        cmocka_unit_test(a_child_that_cannot_wipe_ends),
        cmocka_unit_test(one_thread_at_a_time),
        cmocka_unit_test(a_child_is_forked_before_memory_is_ready),
#ifndef __SANITIZE_THREAD__ /* which has its own thread: no user namespace then */
        cmocka_unit_test(process_1_neither_hangs_nor_loads),
        cmocka_unit_test(a_child_of_process_1_with_its_number_does_not_hang),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
