/* SPDX-License-Identifier: MIT */
/* A signal handler that forks at each instruction of a call: the processor's trap flag stops the
 * call after every instruction, and at some of them the handler forks; other calls fork at the
 * others. One kind of child issues inside the handler, the other returns from it and finishes the
 * call. No ID and no integer may be issued twice, what a store granted to the parent stays with the
 * parent, and nobody crashes or hangs. On other processors and with sanitizers the handler forks
 * only at the beginning of each call; forks_pure_test.c forks at random moments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "entropy.h"
#include "issued.h"
#include "sanitized.h"
#include "short.h"

#if defined(__x86_64__) && !SANITIZED /* whose code has many more instructions */
#include <ucontext.h>
#define TRAP_FLAG 0x100
#define GAP       32 /* calls: each forks at other instructions */
/* Leaves the red zone alone: the compiler may keep values below the stack pointer. */
#define SET_FLAGS(change)                                                                          \
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\t" change                                 \
                     " (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" ::                               \
                         : "memory", "cc")
#define START_STEPS() SET_FLAGS("orq $0x100,")
#define END_STEPS()   SET_FLAGS("andq $~0x100,")
#define END_CHILDS(context)                                                                        \
    (((ucontext_t *)(context))->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG)
#else
#define GAP                 1
#define START_STEPS()       raise(SIGTRAP)
#define END_STEPS()         (void)0
#define END_CHILDS(context) (void)(context)
#endif

#define LOG     2000000
#define FORKS   1000 /* of one call: at most */
#define AT_ONCE 3
#define SLOW_MS 1000 /* a call that takes longer may fail by one of its limits */
#define SLOW    6
#define YOUNG   "stale=1000000us" /* an instruction takes microseconds here */
#define OLD     "stale=1us"

typedef struct fork_subject fork_subject;

/* The called functions. Generators are opened in this order, and a thread remembers 4: the one 4
 * lines on takes its place. */
struct fork_subject {
    const char *name;
    int (*issue)(fork_subject *subject, firn_id *ids);
    const char *scheme, *keys;
    bool stored; /* granted by the memory store, which is the parent's: children get FIRN_EFORKED */
    bool replaced;  /* the generator that shares its place is used before each call */
    bool fresh;     /* opened before each call, which then claims a node */
    bool several;   /* a call issues AT_ONCE IDs */
    bool parted;    /* random bytes for one ID are left, so that the others need a second draw */
    bool allocates; /* memory, which nobody may do in a handler: children only finish the call */
    firn_gen *gen;
    firn_block *block;
    firn_segment *segment;
};

static int next_id(fork_subject *subject, firn_id *id) {
    return firn_next(subject->gen, id, NULL);
}

static int next_n(fork_subject *subject, firn_id *ids) {
    return firn_next_n(subject->gen, ids, AT_ONCE, NULL);
}

static int next_numbers(fork_subject *subject, firn_id *ids) {
    uint64_t numbers[AT_ONCE];
    int code = firn_next_u64(subject->gen, numbers, AT_ONCE, NULL);
    for (int i = 0; i < AT_ONCE; i++) {
        ids[i] = (firn_id){numbers[i], 0, 0, 64};
    }
    return code;
}

static int back_dated(fork_subject *subject, firn_id *ids) {
    const firn_time noon = {NOON_SEC, 0};
    return firn_at(subject->gen, &noon, ids, AT_ONCE, NULL);
}

static int next_of_block(fork_subject *subject, firn_id *id) {
    *id = (firn_id){0, 0, 0, 128};
    return firn_block_next(subject->block, &id->low, NULL);
}

static int next_integer(fork_subject *subject, firn_id *id) {
    int64_t value = 0;
    int code = firn_segment_next(subject->segment, &value, NULL);
    *id = (firn_id){(uint64_t)value, 0, 0, 64};
    return code;
}

static fork_subject subjects[] = {
    {"uuid7", next_id, "uuid7", YOUNG, .replaced = false},
    {"snowflake", next_id, "snowflake", "node=1 " YOUNG, .stored = true},
    {"snowflake, by blocks", next_id, "snowflake", "node=2 ordering=thread " YOUNG, .stored = true},
    {"uuid1", next_id, "uuid1", YOUNG, .replaced = false},
    {"uuid7, its place taken", next_id, "uuid7", YOUNG, .replaced = true},
    {"snowflake, its place taken", next_id, "snowflake", "node=3 " YOUNG, .stored = true,
     .replaced = true},
    {"snowflake, by blocks, its place taken", next_id, "snowflake", "node=4 ordering=thread " YOUNG,
     .stored = true, .replaced = true},
    {"uuid7, the clock is read", next_id, "uuid7", OLD, .replaced = false},
    {"ulid", next_id, "ulid", OLD, .replaced = false},
    {"objectid", next_id, "objectid", OLD, .replaced = false},
    {"snowflake, the clock is read", next_id, "snowflake", "node=5 " OLD, .stored = true},
    {"uuid4", next_id, "uuid4", "", .replaced = false},
    {"snowflake, a node is claimed", next_id, "snowflake", YOUNG, .stored = true, .fresh = true},
    {"a block of uuid7", next_of_block, "uuid7", YOUNG, .replaced = false},
    {"objectid, several", next_n, "objectid", OLD, .several = true},
    {"ulid, several", next_n, "ulid", OLD, .several = true},
    {"uuid7, several", next_n, "uuid7", YOUNG, .several = true},
    {"snowflake, several", next_numbers, "snowflake", "node=6 " OLD, .stored = true,
     .several = true},
    {"objectid, back-dated", back_dated, "objectid", YOUNG, .several = true, .allocates = true},
    {"snowflake, back-dated", back_dated, "snowflake", YOUNG, .stored = true, .several = true,
     .allocates = true},
    {"integers", next_integer, NULL, "step=100", .stored = true},
    {"integers, each fetched", next_integer, NULL, "step=2", .stored = true},
    {"uuid7, several, of two draws", next_n, "uuid7", YOUNG, .several = true, .parted = true},
    {"uuid7, several, each of its own draw", next_n, "uuid7", "entropy=system " YOUNG,
     .several = true},
    {"uuid7, back-dated", back_dated, "uuid7", YOUNG, .several = true, .allocates = true},
};
#define SUBJECTS (sizeof subjects / sizeof subjects[0])

static firn_store *memory;
static issued *all_ids;
static volatile long step, offset,
    gap; /* instructions of this call; the handler forks at offset, offset + gap, ... */
static volatile int bad_child, forks;
static volatile bool in_child;
static fork_subject *called;
static bool returns; /* children finish the call */
/* The result of the interrupted call in each child: the same as the parent if the fork came at the
 * end of the call. */
static struct {
    int code;
    firn_id ids[AT_ONCE];
} * finished;

static size_t count_of(const fork_subject *subject) {
    return subject->several ? AT_ONCE : 1;
}

static void log_ids(const fork_subject *subject, const firn_id *ids) {
    for (const firn_id *id = ids; id < ids + count_of(subject); id++) {
        uint64_t mixed = (id->low ^ (uint64_t)(subject - subjects) << 56) * 0x9e3779b97f4a7c15;
        issued_add(all_ids, mixed ^ id->high * 0xc2b2ae3d27d4eb4f ^ id->top);
    }
}

static bool are_same(const fork_subject *subject, const firn_id *ids, const firn_id *others) {
    bool same = true;
    for (size_t i = 0; i < count_of(subject); i++) {
        same = same && firn_id_cmp(&ids[i], &others[i]) == 0;
    }
    return same;
}

static int issue_from(fork_subject *subject, int n) {
    const int expected = in_child && subject->stored ? FIRN_EFORKED : FIRN_OK;
    for (int i = 0; i < n; i++) {
        firn_id ids[AT_ONCE];
        int code = subject->issue(subject, ids);
        if (code != expected) {
            fprintf(stderr, "# %s: %s\n", subject->name, firn_strerror(code));
            return 1;
        }
        if (code == FIRN_OK) {
            log_ids(subject, ids);
        }
    }
    return 0;
}

/* More IDs of the interrupted call, of all other calls, and again. */
static int issue_in_child(void) {
    int bad = issue_from(called, 2);
    for (size_t k = 0; k < SUBJECTS; k++) {
        bad |= issue_from(&subjects[k], 1);
    }
    return bad | issue_from(called, 2);
}

static void at_instruction(int signal, siginfo_t *info, void *context) {
    (void)signal;
    (void)info;
    if (++step % gap != offset || forks == FORKS) {
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        alarm(HUNG_S);
        in_child = true;
        if (!returns) {
            _exit(issue_in_child());
        }
        END_CHILDS(context);
        return;
    }
    int bad = end_of(child);
    forks++;
    if (bad != 0 && bad_child == 0) {
        fprintf(stderr, "# instruction %ld: the child ended with %d\n", step, bad);
        bad_child = bad;
    }
}

static int64_t steady_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Of a window, of the difference between clocks, of the time for a store. */
static bool is_limit(int code) {
    return code == FIRN_EWINDOW || code == FIRN_ECLOCK || code == FIRN_ESTORE;
}

/* Returns SLOW if the forks took so long that the call had to fail. */
static int one_call(fork_subject *subject) {
    firn_id ids[AT_ONCE];
    const int64_t begun_ms = steady_ms();
    step = 0;
    forks = 0;
    if (subject->parted) {
        firn__block_here->left = 16;
    }
    START_STEPS();
    int code = subject->issue(subject, ids);
    END_STEPS();
    if (in_child) {
        finished[forks].code = code;
        memcpy(finished[forks].ids, ids, sizeof ids);
        _exit(issue_in_child()); /* the interrupted call may fail in any way */
    }
    if (bad_child == 0 && is_limit(code) && steady_ms() - begun_ms > SLOW_MS) {
        return SLOW;
    }
    if (code != FIRN_OK || bad_child != 0) {
        fprintf(stderr, "# %s: %s\n", subject->name, firn_strerror(code));
        return code != FIRN_OK ? 3 : bad_child;
    }
    log_ids(subject, ids);
    for (int i = 0; returns && i < forks; i++) {
        if (finished[i].code == FIRN_OK && !are_same(subject, finished[i].ids, ids)) {
            log_ids(subject, finished[i].ids);
        }
    }
    return issue_from(subject, 1);
}

static int open_subject(fork_subject *subject) {
    firn_error error = {0};
    firn_config config = {.size = sizeof config, .scheme = subject->scheme, .keys = subject->keys};
    config.store = subject->stored ? memory : NULL;
    int code = subject->scheme == NULL
                   ? firn_segment_open(&subject->segment, strchr(subject->keys, '=') + 1,
                                       subject->keys, memory, NULL, &error)
                   : firn_open_with(&subject->gen, &config, &error);
    if (code == FIRN_OK && subject->issue == next_of_block) {
        code = firn_block_open(&subject->block, subject->gen, 1000000, &error);
    }
    if (code != FIRN_OK) {
        fprintf(stderr, "# %s: %s\n", subject->name, error.text);
    }
    return code;
}

static int one_offset(fork_subject *subject) {
    int bad = 0;
    if (subject->fresh) {
        firn_close(subject->gen, NULL);
        bad = open_subject(subject);
    }
    for (size_t k = 0; subject->replaced && k < SUBJECTS; k++) {
        bad |=
            &subjects[k] != subject && subjects[k].scheme != NULL ? issue_from(&subjects[k], 1) : 0;
    }
    return bad != 0 ? bad : one_call(subject);
}

static int each_instruction(fork_subject *subject) {
    gap = GAP;
    for (offset = 0; offset < GAP; offset += short_step(11)) {
        int bad = one_offset(subject);
        while (bad == SLOW && gap < 64 * GAP) { /* a busy machine: fewer forks in a call */
            gap *= 2;
            fprintf(stderr, "# %s: a fork at each %ld instructions\n", subject->name, gap);
            bad = one_offset(subject);
        }
        if (bad != 0 || step < GAP) {
            fprintf(stderr, "# %s, %ld instructions, %s\n", subject->name, step,
                    returns ? "the child returned" : "in the handler");
            return bad != 0 ? bad : 4; /* 4: nothing was stopped */
        }
    }
    return 0;
}

static int in_process(fork_subject *subject) {
    struct sigaction trap = {.sa_sigaction = at_instruction, .sa_flags = SA_SIGINFO};
    signal(SIGSEGV, SIG_DFL); /* not cmocka's handler, which would continue with its next test */
    signal(SIGABRT, SIG_DFL);
    all_ids = issued_new(LOG);
    finished = shared_memory(FORKS * sizeof *finished);
    called = subject;
    int bad = sigaction(SIGTRAP, &trap, NULL) | firn_store_open(&memory, "memory:", NULL, NULL);
    for (size_t k = 0; k < SUBJECTS && bad == 0; k++) {
        bad = open_subject(&subjects[k]);
    }
    for (size_t k = 0; k < 10 * SUBJECTS && bad == 0; k++) {
        bad = issue_from(&subjects[k % SUBJECTS], 1); /* clocks are read, memory is there */
    }
    for (int way = subject->allocates; way < 2 && bad == 0; way++) {
        returns = way == 1;
        bad = each_instruction(subject);
    }
    return bad != 0 ? bad : duplicates(all_ids) == 0 ? 0 : 5;
}

static void no_instruction_is_unsafe(void **state) {
    fflush(NULL);
    pid_t alone = fork();
    if (alone == 0) {
        alarm(15 * HUNG_S);
        _exit(in_process(*state));
    }
    assert_int_equal(end_of(alone), 0);
}

int main(void) {
#ifdef ONLY
    cmocka_set_test_filter(ONLY);
#endif
    struct CMUnitTest tests[SUBJECTS];
    for (size_t k = 0; k < SUBJECTS; k++) {
        tests[k] = (struct CMUnitTest){subjects[k].name, no_instruction_is_unsafe, NULL, NULL,
                                       &subjects[k]};
    }
    return _cmocka_run_group_tests("a handler forks at each instruction", tests, SUBJECTS, NULL,
                                   NULL);
}
