/* SPDX-License-Identifier: MIT */
/* Windows on a real SQLite file, through the public calls: what kills, pauses, steps of the clock
 * and forks leave unique. One thread a process here; several are windows_threads_test.c's, the
 * protocol alone is the simulation's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "folder.h"
#include "issued.h"

#define WINDOW  (2 * SECOND)                                /* of the embedded store */
#define FEW     "time:41/ms@@2024-01-01 node:2 sequence:12" /* four nodes, one for history */
#define FEW_NS  "few"
#define NODE_OF 12 /* the lowest bit of the node in both layouts */

/* ---- generators ----------------------------------------------------------------------------- */

typedef struct opening {
    const char *scheme, *keys;
    hands *hands; /* NULL: the system's clock */
    void (*failpoint)(void *self, const char *name);
    void *failpoint_self;
} opening;

/* The clock must outlive the generator, so it is copied to where nothing is freed. */
static int open_gen(firn_gen **gen, opening how, firn_error *error) {
    static firn_clock clocks[64];
    static unsigned used;
    firn_clock *clock = &clocks[used++ % 64];
    firn_store_options options = {.module_dir = FIRN_BUILD_DIR "/firn",
                                  .unsafe = true, /* the build folder may be on an overlay */
                                  .failpoint = how.failpoint,
                                  .failpoint_self = how.failpoint_self};
    firn_config config = {.size = sizeof config,
                          .scheme = how.scheme,
                          .keys = how.keys,
                          .store_url = url,
                          .store_options = &options,
                          .clock = how.hands != NULL ? clock : NULL};
    if (how.hands != NULL) {
        *clock = clock_of(how.hands);
    }
    return firn_open_with(gen, &config, error);
}

static firn_gen *opened(opening how) {
    firn_gen *gen = NULL;
    firn_error error = {0};
    if (open_gen(&gen, how, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return gen;
}

/* Issues `n` IDs into the log, or until the first failure, which is returned. If a generator has
 * run ahead of a clock moved by hand, the clock is moved. */
static int issue(firn_gen *gen, issued *log, int n, hands *move, firn_error *error) {
    for (int i = 0; i < n; i++) {
        uint64_t id;
        int code = firn_next_u64(gen, &id, 1, error);
        for (int tries = 0; code == FIRN_EEXHAUSTED && move != NULL && tries < 5000; tries++) {
            hands_pause(move, SECOND / 1000);
            code = firn_next_u64(gen, &id, 1, error);
        }
        if (code != FIRN_OK) {
            return code;
        }
        issued_add(log, id);
    }
    return FIRN_OK;
}

static void issued_all(firn_gen *gen, issued *log, int n, hands *move) {
    firn_error error = {0};
    if (issue(gen, log, n, move, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
}

static void all_unique(issued *log) {
    size_t twice = duplicates(log);
    if (twice != 0) {
        fail_msg("%zu of %zu IDs were issued twice", twice, atomic_load(&log->count));
    }
}

static uint64_t node_of(firn_gen *gen) {
    firn_status status = {.size = sizeof status};
    firn_gen_status(gen, &status);
    return status.node;
}

static hands *new_hands(int64_t step_ns) {
    hands *self = shared_memory(sizeof *self);
    self->step_ns = step_ns;
    return self;
}

static void nap_us(long us) {
    struct timespec nap = {0, us * 1000};
    nanosleep(&nap, NULL);
}

static void duplicates_are_found(void **state) {
    issued *log = issued_new(1000);
    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        issued_add(log, (i * 7919) % 1009 << 40);
    }
    log->ids[0] = 1;
    assert_int_equal(duplicates(log), 0);
    log->ids[500] = log->ids[400]; /* an injected duplicate */
    assert_int_equal(duplicates(log), 1);
    issued_free(log);
}

/* ---- several processes ---------------------------------------------------------------------- */

static void processes_share_a_store(void **state) {
    issued *log = issued_new(4 * 30000);
    pid_t children[4];
    (void)state;
    for (int i = 0; i < 4; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            const opening how = {"snowflake", i % 2 == 0 ? "full=wait" : "full=wait window=20ms",
                                 NULL, NULL, NULL};
            firn_gen *gen;
            firn_error error;
            alarm(HUNG_S);
            for (int j = 0; j < 3; j++) { /* opened and closed, so that windows are given back */
                if (open_gen(&gen, how, &error) != FIRN_OK ||
                    issue(gen, log, 10000, NULL, &error) != FIRN_OK ||
                    firn_close(gen, &error) != FIRN_OK) {
                    fprintf(stderr, "# %s\n", error.text);
                    _exit(1);
                }
            }
            _exit(0);
        }
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(end_of(children[i]), 0);
    }
    assert_int_equal(atomic_load(&log->count), 4 * 30000);
    all_unique(log);
    issued_free(log);
}

/* ---- SIGKILL and a clock that was set back -------------------------------------------------- */

static const char *const killpoints[] = {
    "create.before",       "create.written",    "create.committed",    "namespace.before",
    "namespace.written",   "reserve.before",    "reserve.written",     "reserve.committed",
    "give_back.before",    "give_back.written", "give_back.committed", "checkpoint.before",
    "checkpoint.committed"};

typedef struct window_killer {
    const char *point;
    int after, passed;
} window_killer;

static void die_here(void *self, const char *name) {
    window_killer *killer = self;
    if (strcmp(name, killer->point) == 0 && killer->passed++ == killer->after) {
        kill(getpid(), SIGKILL);
    }
}

/* Issues through many renewals, a give back and a new claim, until the failpoint kills it. */
static int issue_until_killed(const char *keys, hands *time, window_killer *killer, issued *log) {
    const opening how = {FEW, keys, time, die_here, killer};
    firn_gen *gen;
    firn_error error = {0};
    /* The log is emptied after 16 verbs or so, and removed at the end of each. */
    int count = strncmp(killer->point, "checkpoint", 10) == 0 ? 9000 : 1500;
    for (int i = 0; i < 3; i++) {
        int code = open_gen(&gen, how, &error);
        if (code == FIRN_EBUSY) {
            return 10; /* every node is in use: right after a step back */
        }
        if (code != FIRN_OK || (code = issue(gen, log, count, time, &error)) != FIRN_OK) {
            fprintf(stderr, "# %d %s\n", code, error.text);
            return 1;
        }
        if (firn_close(gen, &error) != FIRN_OK) {
            fprintf(stderr, "# %s\n", error.text);
            return 2;
        }
    }
    return 0;
}

static int in_a_child(const char *keys, hands *time, window_killer *killer, issued *log) {
    pid_t child = fork();
    if (child == 0) {
        alarm(HUNG_S);
        _exit(issue_until_killed(keys, time, killer, log));
    }
    return end_of(child);
}

/* Killed, and started again with the clock an hour back, again and again; then the time comes
 * right. */
static void killed_and_set_back(void **state) {
    issued *log = issued_new(13 * 16 * 9000);
    hands *time = new_hands(2000000); /* 2 ms a reading: a renewal every few hundred IDs */
    int busy = 0, kills = 0;
    const char *const keys = "ns=" FEW_NS " window=500ms max_wait=0";
    (void)state;
    for (size_t i = 0; i < sizeof killpoints / sizeof killpoints[0]; i++) {
        int hits = 0;
        bool once =
            strncmp(killpoints[i], "create", 6) == 0 || strncmp(killpoints[i], "name", 4) == 0;
        if (once) {
            tear_down(NULL); /* a store and its own IDs */
            mkdir(folder, 0700);
            all_unique(log);
            atomic_store(&log->count, 0);
        }
        for (int j = 0; j < (once ? 2 : 8); j++) {
            window_killer killer = {killpoints[i], j % 3, 0};
            int end = in_a_child(keys, time, &killer, log);
            assert_true(end == 1000 + SIGKILL || end == 10 || end == 0);
            hits += end == 1000 + SIGKILL;
            busy += end == 10;
            atomic_fetch_add(&time->offset_ns, j % 4 == 3 ? 2 * HOUR : -HOUR);
        }
        print_message("# %s: killed %d times\n", killpoints[i], hits);
        assert_true(hits > 0);
        kills += hits;
        atomic_fetch_add(&time->offset_ns, 6 * HOUR);
    }
    print_message("# %zu IDs, %d kills, every node in use %d times\n", atomic_load(&log->count),
                  kills, busy);
    all_unique(log);
    issued_free(log);
}

/* Killed from outside at any moment, also between two failpoints. */
static void killed_at_any_moment(void **state) {
    issued *log = issued_new(4000000);
    hands *time = new_hands(1000000);
    const opening how = {FEW, "ns=" FEW_NS " window=100ms max_wait=0", time, NULL, NULL};
    int killed = 0;
    (void)state;
    for (int round = 0; round < 60; round++) {
        size_t before = atomic_load(&log->count);
        pid_t child = fork();
        if (child == 0) {
            firn_gen *gen;
            alarm(HUNG_S);
            while (open_gen(&gen, how, NULL) != FIRN_OK) {
                hands_pause(time, HOUR / 10); /* every node is in use */
            }
            _exit(issue(gen, log, 50000, time, NULL) != FIRN_OK);
        }
        for (int i = 0; i < 100000 && atomic_load(&log->count) == before; i++) {
            nap_us(50);
        }
        nap_us(137 * round % 4000);
        kill(child, SIGKILL);
        killed += end_of(child) == 1000 + SIGKILL;
        atomic_fetch_add(&time->offset_ns, round % 3 == 2 ? 2 * HOUR : -HOUR);
    }
    print_message("# %zu IDs, %d kills\n", atomic_load(&log->count), killed);
    assert_true(killed > 30);
    all_unique(log);
    issued_free(log);
}

/* The mark of a fixed node is at the clock's time: nothing is issued before it, and the error says
 * until when. */
static void a_fixed_node_waits(void **state) {
    issued *log = issued_new(40000);
    hands *time = new_hands(100000);
    const opening how = {FEW, "node=1 ns=" FEW_NS, time, NULL, NULL};
    const opening hasty = {FEW, "node=1 max_wait=0 ns=" FEW_NS, time, NULL, NULL};
    firn_gen *gen = NULL;
    firn_error error = {0};
    pid_t child;
    (void)state;
    atomic_store(&time->offset_ns, 3 * HOUR);
    child = fork();
    if (child == 0) {
        issue(opened(how), log, 10000, time, &error);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(end_of(child), 1000 + SIGKILL);
    assert_int_equal(atomic_load(&log->count), 10000);
    atomic_store(&time->offset_ns, 2 * HOUR);
    assert_int_equal(open_gen(&gen, how, &error), FIRN_EBUSY); /* longer than max_wait */
    assert_non_null(strstr(error.text, "until") != NULL ? error.text : strstr(error.text, "up to"));
    assert_non_null(strstr(error.text, "another node"));
    atomic_store(&time->offset_ns, 3 * HOUR);
    gen = opened(how); /* waits until its mark is near */
    issued_all(gen, log, 10000, time);
    assert_int_equal(node_of(gen), 1);
    assert_int_equal(open_gen(&gen, hasty, &error), FIRN_EBUSY); /* the first one lives */
    all_unique(log);
    firn_close(gen, NULL);
    issued_free(log);
}

/* A clock that is set back while a generator runs: little is absorbed in order, much leaves the
 * node. */
static void set_back_while_it_runs(void **state) {
    issued *log = issued_new(100000);
    hands *time = new_hands(20000);
    const opening how = {FEW, "ns=" FEW_NS, time, NULL, NULL};
    firn_gen *gen = opened(how);
    firn_status status = {.size = sizeof status};
    uint64_t last;
    (void)state;
    issued_all(gen, log, 10000, time);
    last = log->ids[9999];
    atomic_fetch_add(&time->offset_ns, -SECOND * 9 / 10);
    issued_all(gen, log, 10000, time);
    assert_true(log->ids[10000] > last);
    firn_gen_status(gen, &status);
    assert_int_equal(status.steps_back_absorbed, 1);
    assert_int_equal(status.steps_back_left, 0);
    atomic_fetch_add(&time->offset_ns, -HOUR);
    issued_all(gen, log, 10000, time);
    firn_gen_status(gen, &status);
    assert_int_equal(status.steps_back_left, 1);
    atomic_fetch_add(&time->offset_ns, 2 * HOUR); /* not believed for 2 s */
    issued_all(gen, log, 10000, time);
    hands_pause(time, 3 * SECOND);
    issued_all(gen, log, 10000, time);
    all_unique(log);
    assert_int_equal(firn_close(gen, NULL), FIRN_OK);
    issued_free(log);
}

/* ---- pauses --------------------------------------------------------------------------------- */

/* Messages between holder and taker. */
typedef struct window_stage {
    _Atomic int round;   /* the parent's */
    _Atomic int reached; /* the holder's */
    _Atomic int refused; /* how often it found the node taken */
    _Atomic bool over;
} window_stage;

/* Issues as fast as it can, and is stopped anywhere. */
static int hold_node(const char *keys, hands *time, issued *log, window_stage *stage) {
    const opening how = {FEW, keys, time, NULL, NULL};
    firn_gen *gen;
    firn_error error;
    if (open_gen(&gen, how, &error) != FIRN_OK) {
        return 1;
    }
    while (!atomic_load(&stage->over)) {
        int code = issue(gen, log, 1, time, &error);
        if (code == FIRN_EBUSY) {
            atomic_fetch_add(&stage->refused, 1);
            hands_pause(time, SECOND / 100);
        } else if (code == FIRN_ESTORE && strstr(error.text, "too slowly") != NULL) {
            /* stopped between looking at the time and asking: a call is bounded, so the next one
             * asks */
        } else if (code != FIRN_OK) {
            fprintf(stderr, "# %d %s\n", code, error.text);
            return 2;
        }
        atomic_store(&stage->reached, atomic_load(&stage->round));
        if (atomic_load(&log->count) > log->size / 2) {
            nap_us(100); /* a slow machine: the log must do for all rounds */
        }
    }
    return 0;
}

/* Takes the holder's node while it is stopped, and keeps it until the holder has noticed. */
static bool take_node(pid_t holder, const opening *how, issued *log, window_stage *stage) {
    firn_gen *gen;
    firn_error error = {0};
    int refused = atomic_load(&stage->refused);
    if (open_gen(&gen, *how, &error) != FIRN_OK) {
        /* Stopped right after its own claim, or inside the store, which is locked then. */
        assert_true(error.code == FIRN_EBUSY ||
                    (error.code == FIRN_ESTORE && strstr(error.text, "locked") != NULL));
        kill(holder, SIGCONT);
        return false;
    }
    issued_all(gen, log, 5000, how->hands);
    kill(holder, SIGCONT);
    issued_all(gen, log, 5000, how->hands);
    for (int i = 0; i < 1000 && atomic_load(&stage->refused) == refused; i++) {
        nap_us(100);
    }
    firn_close(gen, NULL);
    return true;
}

/* The holder sleeps through several windows while another process takes its node, and continues: it
 * may finish its own window only. */
static void a_paused_holder(void **state) {
    issued *log = issued_new(4000000);
    hands *time = new_hands(1000);
    window_stage *stage = shared_memory(sizeof *stage);
    const opening how = {FEW, "node=2 max_wait=0 ns=" FEW_NS, time, NULL, NULL};
    int taken = 0, status = 0;
    pid_t child;
    (void)state;
    atomic_store(&stage->reached, -1);
    strcat(url, "?busy=300ms");
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* an alarm would not end it while it is stopped */
        _exit(hold_node(how.keys, time, log, stage));
    }
    for (int round = 1; round <= 40; round++) {
        for (int i = 0; i < 10000 && atomic_load(&stage->reached) < round - 1; i++) {
            nap_us(100);
        }
        nap_us(37 * round % 900);
        kill(child, SIGSTOP);
        assert_int_equal(waitpid(child, &status, WUNTRACED), child);
        assert_true(WIFSTOPPED(status));
        hands_pause(time, 3 * WINDOW + round * SECOND / 7);
        taken += take_node(child, &how, log, stage);
        atomic_store(&stage->round, round);
    }
    atomic_store(&stage->over, true);
    assert_int_equal(end_of(child), 0);
    print_message("# %zu IDs, the node taken %d times, the holder refused %d times\n",
                  atomic_load(&log->count), taken, atomic_load(&stage->refused));
    assert_true(taken > 10);
    assert_true(atomic_load(&stage->refused) > 10);
    all_unique(log);
    issued_free(log);
}

/* ---- a mark far ahead ----------------------------------------------------------------------- */

/* Somebody's clock was a year ahead once. */
static void hold_a_year_ahead(uint64_t node, hands *time) {
    char keys[64];
    firn_gen *gen;
    snprintf(keys, sizeof keys, "node=%d ns=" FEW_NS, (int)node);
    atomic_fetch_add(&time->offset_ns, 365 * 24 * HOUR);
    gen = opened((opening){FEW, keys, time, NULL, NULL});
    issued_all(gen, issued_new(10), 10, time);
    assert_int_equal(firn_close(gen, NULL), FIRN_OK);
    atomic_fetch_add(&time->offset_ns, -365 * 24 * HOUR);
}

static void a_mark_far_ahead(void **state) {
    issued *log = issued_new(100000);
    hands *time = new_hands(20000);
    const opening claim = {FEW, "max_wait=0 ns=" FEW_NS, time, NULL, NULL};
    firn_error error = {0};
    firn_gen *gen = NULL, *other;
    firn_id id;
    uint64_t node;
    (void)state;
    hold_a_year_ahead(0, time);
    hold_a_year_ahead(1, time);
    assert_int_equal(open_gen(&gen, (opening){FEW, "node=1 ns=" FEW_NS, time, NULL, NULL}, &error),
                     FIRN_EBUSY);
    gen = opened(claim);
    node = node_of(gen);
    assert_true(node == 2 || node == 3);
    issued_all(gen, log, 1000, time);
    assert_int_equal(open_gen(&other, claim, &error), FIRN_EBUSY); /* the last one is history's */
    atomic_fetch_add(&time->offset_ns, 366 * 24 * HOUR);           /* its time has come */
    /* The new time is believed after 2 s. Until then the jump may come from a copy, so another node
     * is needed, and none is free. */
    assert_int_equal(firn_next(gen, &id, &error), FIRN_EBUSY);
    hands_pause(time, 3 * SECOND);
    issued_all(gen, log, 10, time);
    other = opened(claim);
    assert_true(node_of(other) != node_of(gen));
    issued_all(other, log, 1000, time);
    all_unique(log);
    firn_close(gen, NULL);
    firn_close(other, NULL);
    issued_free(log);
}

/* ---- fork ----------------------------------------------------------------------------------- */

static pid_t raw_clone(void) {
    return (pid_t)syscall(SYS_clone, (long)SIGCHLD, NULL, NULL, NULL, NULL);
}

static const struct {
    const char *name;
    pid_t (*fork)(void);
} forks[] = {{"fork", fork},
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 34)
             {"_Fork", _Fork},
#endif
             {"clone", raw_clone}};

#define FORKS (sizeof forks / sizeof forks[0])

/* The child issues from the inherited generator, closes it, and the parent continues normally. */
static int issue_in_child(firn_gen *gen, issued *log, uint64_t parents_node) {
    firn_error error = {0};
    if (issue(gen, log, 3000, NULL, &error) != FIRN_OK) {
        fprintf(stderr, "# %s\n", error.text);
        return 1;
    }
    if (node_of(gen) == parents_node) {
        return 2;
    }
    return firn_close(gen, &error) == FIRN_OK ? 0 : 3;
}

static void a_claimed_node_is_not_inherited(void **state) {
    issued *log = issued_new(FORKS * 10 * 10000);
    (void)state;
    for (size_t i = 0; i < FORKS; i++) {
        firn_gen *gen = opened((opening){"snowflake", "full=wait window=50ms", NULL, NULL, NULL});
        for (int round = 0; round < 6; round++) {
            pid_t child;
            issued_all(gen, log, round * 100, NULL);
            child = forks[i].fork();
            if (child == 0) {
                alarm(HUNG_S);
                _exit(issue_in_child(gen, log, node_of(gen)));
            }
            issued_all(gen, log, 3000, NULL);
            assert_int_equal(end_of(child), 0);
            issued_all(gen, log, 100, NULL);
        }
        assert_int_equal(firn_close(gen, NULL), FIRN_OK);
        all_unique(log);
    }
    issued_free(log);
}

/* Refused, with the cure; closing it there takes nothing from the parent. */
static int refused_in_child(firn_gen *gen, hands *time) {
    firn_error error = {0};
    uint64_t id = 77;
    int code = firn_next_u64(gen, &id, 1, &error);
    bool told = (code == FIRN_EFORKED || code == FIRN_EBUSY) && error.code == code && id == 77 &&
                strstr(error.text, "another node") != NULL;
    if (!told) {
        fprintf(stderr, "# %d %s\n", code, error.text);
        return 1;
    }
    if (open_gen(&gen, (opening){FEW, "node=1 max_wait=0 ns=" FEW_NS, time, NULL, NULL}, &error) !=
        FIRN_EBUSY) {
        return 2; /* its own generator on the parent's node */
    }
    return open_gen(&gen, (opening){FEW, "node=2 ns=" FEW_NS, time, NULL, NULL}, &error) != FIRN_OK;
}

static void a_fixed_node_stays_with_the_parent(void **state) {
    issued *log = issued_new(FORKS * 2100);
    hands *time = new_hands(20000);
    (void)state;
    for (size_t i = 0; i < FORKS; i++) {
        firn_gen *gen = opened((opening){FEW, "node=1 ns=" FEW_NS, time, NULL, NULL});
        pid_t child;
        issued_all(gen, log, 1000, time);
        child = forks[i].fork();
        if (child == 0) {
            alarm(HUNG_S);
            _exit(refused_in_child(gen, time));
        }
        issued_all(gen, log, 1000, time);
        assert_int_equal(end_of(child), 0);
        child = forks[i].fork();
        if (child == 0) { /* the child only closes it */
            _exit(firn_close(gen, NULL) != FIRN_OK);
        }
        assert_int_equal(end_of(child), 0);
        issued_all(gen, log, 100, time);
        assert_int_equal(node_of(gen), 1);
        assert_int_equal(firn_close(gen, NULL), FIRN_OK);
        hands_pause(time, 2 * WINDOW);
        all_unique(log);
    }
    issued_free(log);
}

/* Grandchildren, each a child of one that issued and of one that did not. */
static void generations(void **state) {
    issued *log = issued_new(100000);
    firn_gen *gen = opened((opening){"snowflake", "full=wait", NULL, NULL, NULL});
    pid_t child;
    (void)state;
    issued_all(gen, log, 100, NULL);
    child = fork();
    if (child == 0) {
        int bad = 0;
        alarm(HUNG_S);
        for (int depth = 0; depth < 5; depth++) {
            bad |= depth % 2 == 0 && issue(gen, log, 500, NULL, NULL) != FIRN_OK;
            child = fork();
            if (child != 0) {
                bad |= issue(gen, log, 500, NULL, NULL) != FIRN_OK;
                _exit(end_of(child) | bad);
            }
        }
        _exit(bad | (issue(gen, log, 500, NULL, NULL) != FIRN_OK));
    }
    issued_all(gen, log, 1000, NULL);
    assert_int_equal(end_of(child), 0);
    assert_int_equal(atomic_load(&log->count), 100 + 1000 + 3 * 500 + 6 * 500);
    all_unique(log);
    firn_close(gen, NULL);
    issued_free(log);
}

/* ---- inside a call to the store ------------------------------------------------------------- */

typedef struct fork_point {
    firn_gen *gen;
    issued *log;
    const char *at;
    int forked, wrong;
} fork_point;

/* A child forked while its parent is inside the store may issue nothing, and does not hang. */
static void fork_here(void *self, const char *name) {
    fork_point *forker = self;
    pid_t child;
    if (forker->gen == NULL || strcmp(name, forker->at) != 0 || forker->forked++ >= 3) {
        return;
    }
    child = fork();
    if (child == 0) {
        firn_error error = {0};
        alarm(HUNG_S);
        _exit(issue(forker->gen, forker->log, 100, NULL, &error) == FIRN_EFORKED &&
                      strstr(error.text, "exec") != NULL
                  ? 0
                  : 1);
    }
    forker->wrong += end_of(child) != 0;
}

static void forked_inside_the_store(void **state) {
    static const char *const places[] = {"reserve.before", "reserve.written", "reserve.committed"};
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        issued *log = issued_new(100000);
        fork_point forker = {NULL, log, places[i], 0, 0};
        forker.gen =
            opened((opening){"snowflake", "full=wait window=10ms", NULL, fork_here, &forker});
        issued_all(forker.gen, log, 60000, NULL);
        assert_true(forker.forked > 0);
        assert_int_equal(forker.wrong, 0);
        all_unique(log);
        firn_close(forker.gen, NULL);
        issued_free(log);
    }
}

int main(void) {
#define CHECK(sentence, run)                                                                       \
    { sentence, run, set_up_in_memory, tear_down, NULL }
    const struct CMUnitTest tests[] = {
        CHECK("control: a planted duplicate is found", duplicates_are_found),
        CHECK("processes that share a store issue each ID once", processes_share_a_store),
        CHECK("killed at each failpoint and restarted an hour back: no ID twice",
              killed_and_set_back),
        CHECK("killed at any moment and restarted an hour back: no ID twice", killed_at_any_moment),
        CHECK("a fixed node waits for its mark, or tells until when", a_fixed_node_waits),
        CHECK("a clock set back while issuing: absorbed, or another node", set_back_while_it_runs),
        CHECK("a holder paused through windows finishes its own only", a_paused_holder),
        CHECK("a mark far ahead: the node is skipped until its time comes", a_mark_far_ahead),
        CHECK("fork, _Fork and clone: a child claims its own node",
              a_claimed_node_is_not_inherited),
        CHECK("fork, _Fork and clone: a fixed node stays with the parent",
              a_fixed_node_stays_with_the_parent),
        CHECK("children of children issue each ID once", generations),
        CHECK("a child forked inside the store is told so", forked_inside_the_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
