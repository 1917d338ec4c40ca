/* SPDX-License-Identifier: MIT */
/* Forks on kernels that wipe memory and on others: each scheme, each way to copy the process, and a
 * madvise that fails silently. Only memory stores and no threads, so that it runs on other
 * processors, and under qemu-user, whose madvise did nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "issued.h"

#define IDS      40 /* of each process and generator */
#define CHILDREN 4
#define LOG      20000

/* ---- a madvise that does nothing ------------------------------------------------------------ */

/* The behaviour of madvise here. Defined before the first use, because the library checks it
 * once. */
static enum lie {
    HONEST,
    ALWAYS_0, /* to any advice, as qemu-user */
    ABSENT,   /* Linux before 4.14 */
    SAYS_0,   /* to the one advice, and judges the others as Linux does */
    JUDGES    /* as Linux in every answer: only a child can tell */
} lie;

int madvise(void *context, size_t size, int advice) {
    bool wipe = advice == MADV_WIPEONFORK;
    if (lie == ALWAYS_0 || (lie == SAYS_0 && wipe)) {
        return 0;
    }
    if (lie == ABSENT && wipe) {
        errno = EINVAL;
        return -1;
    }
    int result = (int)syscall(SYS_madvise, context, size, advice);
    if (lie == JUDGES && wipe && result == 0) {
        syscall(SYS_madvise, context, size, MADV_KEEPONFORK);
    }
    return result;
}

/* Runs a check in its own process, where the library has not asked yet. */
static int in_process(enum lie how, int (*check)(void)) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(HUNG_S);
        lie = how;
        _exit(check());
    }
    return end_of(child);
}

/* ---- copies of a process -------------------------------------------------------------------- */

static pid_t raw_clone(void) {
#ifdef __s390x__ /* takes the stack first */
    return (pid_t)syscall(SYS_clone, NULL, (long)SIGCHLD, NULL, NULL, NULL);
#else
    return (pid_t)syscall(SYS_clone, (long)SIGCHLD, NULL, NULL, NULL, NULL);
#endif
}

static pid_t libc_fork(void) {
    return fork();
}

static pid_t bare_fork(void) {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 34)
    return _Fork();
#else
    return raw_clone();
#endif
}

typedef pid_t copy(void);

/* ---- generators ----------------------------------------------------------------------------- */

/* Rows that need no store, and whose random bits do not meet by chance. */
static const char *const rows[] = {"uuid4",     "uuid7",  "ulid",   "uuid1", "uuid6",
                                   "objectid",  "xid",    "ksuid",  "flake", "locality",
                                   "timeflake", "pushid", "scru128"};
#define ROWS (sizeof rows / sizeof rows[0])

static firn_gen *gens[ROWS];

static int open_all(void) {
    for (size_t i = 0; i < ROWS; i++) {
        firn_error error = {0};
        if (firn_open(&gens[i], rows[i], "", &error) != FIRN_OK) {
            fprintf(stderr, "# %s: %s\n", rows[i], error.text);
            return 1;
        }
    }
    return 0;
}

/* The IDs of all schemes go into one log: equal ones are from one scheme. */
static int issue_all(issued *log) {
    for (unsigned k = 0; k < ROWS; k++) {
        firn_id ids[IDS];
        firn_error error = {0};
        for (int i = 0; i < IDS; i++) {
            int code = i < IDS / 2 ? firn_next(gens[k], &ids[i], &error)
                                   : firn_next_n(gens[k], &ids[i], 1, &error);
            if (code != FIRN_OK) {
                fprintf(stderr, "# %s: %s\n", firn_gen_scheme(gens[k])->name, error.text);
                return 1;
            }
            /* 128 bits into 64, so that what differs differs here too, by all chance */
            uint64_t mixed = (ids[i].low ^ (uint64_t)k << 56) * 0x9e3779b97f4a7c15;
            issued_add(log, mixed ^ ids[i].high * 0xc2b2ae3d27d4eb4f ^ ids[i].top);
        }
    }
    return 0;
}

/* Children and a grandchild of each, by one way. */
static int copied(issued *log, copy *make) {
    int bad = issue_all(log);
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = make();
        if (child == 0) {
            alarm(HUNG_S);
            bad = i % 2 == 0 ? issue_all(log) : 0; /* a child that issued, and one that did not */
            child = make();
            if (child == 0) {
                alarm(HUNG_S);
                _exit(issue_all(log));
            }
            bad |= end_of(child);
            _exit(bad | issue_all(log));
        }
        bad |= issue_all(log); /* at the same time as the child */
        bad |= end_of(child);
    }
    return bad | issue_all(log);
}

static int each_copy(void) {
    issued *log = issued_new(LOG * 2);
    int bad = open_all();
    for (int i = 0; i < 3 && bad == 0; i++) {
        /* what only a handler can tell, only fork calls */
        copy *way = i == 0 || lie == JUDGES ? libc_fork : i == 1 ? bare_fork : raw_clone;
        bad = copied(log, way);
    }
    if (bad != 0) {
        return bad;
    }
    size_t twice = duplicates(log);
    if (twice > 0) {
        fprintf(stderr, "# %zu of %zu IDs were issued twice\n", twice, atomic_load(&log->count));
    }
    return twice > 0 ? 3 : 0;
}

static void copies_repeat_nothing(void **state) {
    assert_int_equal(in_process(*(enum lie *)*state, each_copy), 0);
}

/* ---- what stays with the parent ------------------------------------------------------------- */

static firn_store *memory;
static firn_gen *fixed;
static firn_segment *integers;

static int told_in_child(void) {
    firn_error error = {0};
    firn_id id;
    int64_t value = -1, left;
    firn_status status = {.size = sizeof status};
    firn_gen_status(fixed, &status);
    if (status.held) {
        return 10;
    }
    if (firn_next(fixed, &id, &error) != FIRN_EFORKED || strstr(error.text, "parent") == NULL) {
        fprintf(stderr, "# %s\n", error.text);
        return 11;
    }
    left = firn_segment_left(integers);
    if (left != 0) {
        return 12;
    }
    if (firn_segment_next(integers, &value, &error) != FIRN_EFORKED || value != -1) {
        return 13;
    }
    int code = firn_segment_take(integers, 1, &value, &left, NULL, &error);
    if (code != FIRN_EWINDOW) {
        return 14;
    }
    firn_mark held;
    firn_request request = {.ns = "a", .layout = "b", .key = "c", .count = 1, .grant = 5};
    if (firn_store_reserve(memory, &request, &value, &held, &error) != FIRN_EFORKED) {
        return 15;
    }
    return firn_close(fixed, &error) == FIRN_OK ? 0 : 16;
}

static int stays(void) {
    firn_error error = {0};
    firn_id id, after;
    int64_t value, two;
    firn_config config = {.size = sizeof config, .scheme = "snowflake", .keys = "node=7"};
    if (firn_store_open(&memory, "memory:", NULL, &error) != FIRN_OK) {
        return 1;
    }
    config.store = memory;
    if (firn_open_with(&fixed, &config, &error) != FIRN_OK ||
        firn_segment_open(&integers, "orders", "step=100", memory, NULL, &error) != FIRN_OK ||
        firn_next(fixed, &id, &error) != FIRN_OK ||
        firn_segment_next(integers, &value, &error) != FIRN_OK) {
        fprintf(stderr, "# %s\n", error.text);
        return 2;
    }
    for (int i = 0; i < 3; i++) {
        copy *way = i == 0 || lie == JUDGES ? libc_fork : i == 1 ? bare_fork : raw_clone;
        pid_t child = way();
        if (child == 0) {
            alarm(HUNG_S);
            _exit(told_in_child());
        }
        int bad = end_of(child);
        if (bad != 0) {
            return bad;
        }
    }
    bool goes_on = firn_next(fixed, &after, &error) == FIRN_OK && firn_id_cmp(&id, &after) < 0 &&
                   firn_segment_next(integers, &two, &error) == FIRN_OK && two == value + 1;
    firn_segment_close(integers, NULL);
    firn_close(fixed, NULL);
    firn_store_close(memory);
    return goes_on ? 0 : 3;
}

static void a_fixed_node_stays(void **state) {
    assert_int_equal(in_process(*(enum lie *)*state, stays), 0);
}

/* ---- in the midst of a call ------------------------------------------------------------------ */

/* A child that a signal handler forks while its parent is inside the library: neither hangs, and
 * both continue. */
static issued *shared_log;
static _Atomic int forked_inside;
static pid_t inside;

static void fork_in_handler(int signal) {
    (void)signal;
    if (inside != 0 || atomic_load(&forked_inside) >= 20) {
        return;
    }
    inside = fork();
    if (inside == 0) {
        alarm(HUNG_S);
        _exit(issue_all(shared_log));
    }
    atomic_fetch_add(&forked_inside, 1);
}

static int in_handlers(void) {
    shared_log = issued_new(LOG * 200);
    signal(SIGVTALRM, fork_in_handler);
    /* The first IDs map windows, and libcrypto is loaded after 1 MiB: a child that is forked inside
     * malloc cannot use malloc. */
    static firn_id many[1 << 16];
    int bad = open_all();
    for (int i = 0; i < 2 && bad == 0; i++) {
        bad = issue_all(shared_log) | firn_next_n(gens[0], many, 1 << 16, NULL);
    }
    if (bad != 0) {
        return 1;
    }
    struct itimerval often = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_VIRTUAL, &often, NULL); /* by the time that this process computes */
    for (int i = 0; i < 3000 && atomic_load(&forked_inside) < 20; i++) {
        if (issue_all(shared_log) != 0) {
            return 2;
        }
        if (inside != 0) {
            bad = end_of(inside);
            if (bad != 0) {
                return bad;
            }
            inside = 0;
        }
    }
    if (atomic_load(&forked_inside) == 0) {
        return 4;
    }
    return duplicates(shared_log) == 0 ? 0 : 3;
}

static void handlers_may_fork(void **state) {
    assert_int_equal(in_process(*(enum lie *)*state, in_handlers), 0);
}

/* ---- control -------------------------------------------------------------------------------- */

/* The replaced madvise works: memory to be wiped is not. */
static int is_wiped(void) {
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(page, 4096, MADV_WIPEONFORK);
    *page = 1;
    pid_t child = fork();
    if (child == 0) {
        _exit(*page);
    }
    return end_of(child);
}

static void madvise_does_nothing(void **state) {
    (void)state;
    for (enum lie how = ALWAYS_0; how <= JUDGES; how++) {
        assert_int_equal(in_process(how, is_wiped), 1);
    }
}

int main(void) {
    static enum lie lies[] = {HONEST, ALWAYS_0, ABSENT, SAYS_0, JUDGES};
#define CHECK(name, run)                                                                           \
    {name ": this kernel", run, NULL, NULL, &lies[0]},                                             \
        {name ": madvise answers 0 to anything", run, NULL, NULL, &lies[1]},                       \
        {name ": a kernel without MADV_WIPEONFORK", run, NULL, NULL, &lies[2]},                    \
        {name ": madvise only says that it wipes", run, NULL, NULL, &lies[3]}, {                   \
        name ": madvise judges, says so, and does not wipe", run, NULL, NULL, &lies[4]             \
    }
    const struct CMUnitTest tests[] = {
        {"control: the madvise does nothing", madvise_does_nothing, NULL, NULL, NULL},
        CHECK("children repeat no ID", copies_repeat_nothing),
        CHECK("a fixed node and integers stay with the parent", a_fixed_node_stays),
        CHECK("a handler of a signal may fork", handlers_may_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
