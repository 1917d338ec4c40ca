/* SPDX-License-Identifier: MIT */
/* Series of several processes on one store, SQLite and Redis: clocks on both sides of midnight,
 * processes and engines that are killed, periods that are pruned, a store that was restored. A number that two
 * processes have is found. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "engines.h"
#include "folder.h"
#include "short.h"
#include "simulated.h"

#define DAILY      "template={year}-{month}-{day}-{counter:6} "
#define LINE       32 /* of a number and its end */
#define LINES_MOST 40000
#define CHILDREN   5
#define WAIT_MS    60000

/* ---- short words ----------------------------------------------------------------------------- */

static firn_time time_of(const char *text) {
    firn_time time = {0};
    assert_int_equal(firn_time_parse(&time, text, strlen(text), NULL), FIRN_OK);
    return time;
}

static firn_store *store_at(const char *where) {
    const firn_store_options options = {
        .module_dir = FIRN_BUILD_DIR "/firn", .unsafe = true, .wait_ms = WAIT_MS};
    firn_store *store = NULL;
    firn_error error = {0};
    if (firn_store_open(&store, where, &options, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return store;
}

/* The URL of SQLite in the folder, or of a Redis; NULL: no Redis is installed. */
static const char *place_of(const char *kind) {
    if (strcmp(kind, "sqlite") == 0) {
        return url;
    }
    const test_engine *engine = engine_of(kind, 0, "");
    if (engine == NULL) {
        assert_true(engine_missing(kind, 0));
        print_message("skipped: no %s\n", kind);
        return NULL;
    }
    return engine->url;
}

/* ---- lines that processes wrote -------------------------------------------------------------- */

static char written[LINES_MOST][LINE];
static size_t count_written;

static int by_text(const void *a, const void *b) {
    return strcmp(a, b);
}

/* How many numbers were issued twice. */
static size_t doubles(void) {
    size_t twice = 0;
    qsort(written, count_written, LINE, by_text);
    for (size_t i = 1; i < count_written; i++) {
        twice += strcmp(written[i - 1], written[i]) == 0;
    }
    return twice;
}

static void planted_double(void **state) {
    (void)state;
    count_written = 3;
    strcpy(written[0], "2025-10-09-000002");
    strcpy(written[1], "2025-10-09-000001");
    strcpy(written[2], "2025-10-10-000002");
    assert_int_equal(doubles(), 0);
    strcpy(written[1], "2025-10-10-000002");
    assert_int_equal(doubles(), 1);
}

/* Lines of the same length arrive whole: they are shorter than PIPE_BUF. False: the end. */
static bool read_line(int file) {
    char line[LINE] = "";
    size_t size = 0;
    while (size < LINE) {
        struct pollfd waiting = {file, POLLIN, 0};
        assert_int_equal(poll(&waiting, 1, WAIT_MS), 1);
        const ssize_t got = read(file, line + size, LINE - size);
        if (got <= 0) {
            return false;
        }
        size += (size_t)got;
    }
    assert_true(count_written < LINES_MOST);
    memcpy(written[count_written++], line, LINE);
    return true;
}

static void write_line(int file, const char *text) {
    char line[LINE] = "";
    snprintf(line, sizeof line, "%.31s", text);
    if (write(file, line, sizeof line) != sizeof line) {
        _exit(9);
    }
}

/* ---- both sides of midnight ------------------------------------------------------------------ */

/* The time of all processes, in their shared memory: each number takes 20 ms of it, so that they
 * pass midnight together at any speed. The clock of a process differs from it by `off_ms`. */
static simulated *shared_clock;

typedef struct differing {
    simulated *shared;
    int64_t off_ms;
} differing;

static int differing_wall(void *self, firn_time *now) {
    const differing *mine = self;
    *now = time_after(present(mine->shared), mine->off_ms * MS);
    return FIRN_OK;
}

static int differing_steady(void *self, int64_t *ns) {
    const differing *mine = self;
    return simulated_steady(mine->shared, ns);
}

static int differing_pause(void *self, int64_t ns) {
    (void)self;
    (void)ns;
    return FIRN_OK;
}

/* A process issues numbers until 2 s after midnight. It ends with 0 if each was in the period of
 * its own time: the clocks differ by up to 0.9 s, so the number may have the date of 2 s later. */
static int pass_midnight(const char *where, const char *keys, int64_t off_ms, int file) {
    differing mine = {shared_clock, off_ms};
    const firn_clock hands = {1, &mine, differing_wall, differing_steady, differing_pause};
    const firn_time end = time_of("2025-10-09T00:00:02Z");
    firn_store *store = store_at(where);
    firn_series *series = NULL;
    firn_error error = {0};
    firn_time now = present(shared_clock);
    if (firn_series_open(&series, "midnight", keys, store, &hands, &error) != FIRN_OK) {
        return 2;
    }
    while (firn_time_cmp(&now, &end) < 0) {
        char text[1][FIRN_SERIES_SIZE], day[FIRN_TIME_SIZE], later_day[FIRN_TIME_SIZE];
        differing_wall(&mine, &now);
        firn_time_format(day, &now, 0);
        if (firn_series_next(series, NULL, text, 1, &error) != FIRN_OK) {
            fprintf(stderr, "# %s\n", error.text);
            return 3;
        }
        pass(shared_clock, 20 * MS);
        differing_wall(&mine, &now);
        now = time_after(now, 2 * SECOND);
        firn_time_format(later_day, &now, 0);
        if (strncmp(text[0], day, 10) != 0 && strncmp(text[0], later_day, 10) != 0) {
            fprintf(stderr, "# %s at %s\n", text[0], day);
            return 4;
        }
        write_line(file, text[0]);
        now = present(shared_clock);
    }
    return firn_series_close(series, &error) == FIRN_OK ? 0 : 5;
}

static void midnight_on(const char *kind, const char *keys) {
    const char *where = place_of(kind);
    int ends[2];
    pid_t children[CHILDREN];
    if (where == NULL) {
        return;
    }
    count_written = 0;
    shared_clock =
        mmap(NULL, sizeof *shared_clock, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared_clock != MAP_FAILED);
    shared_clock->base = time_of("2025-10-08T23:59:58Z");
    firn_store_close(store_at(where)); /* makes it */
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) { /* 450 ms slow to 450 ms fast */
            _exit(pass_midnight(where, keys, 225 * (i - CHILDREN / 2), ends[1]));
        }
    }
    close(ends[1]);
    while (read_line(ends[0])) {
    }
    close(ends[0]);
    for (int i = 0; i < CHILDREN; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    munmap(shared_clock, sizeof *shared_clock);
    assert_true(count_written >= 200);
    assert_int_equal(doubles(), 0);
    assert_memory_equal(written[0], "2025-10-08-000001", 18);
    assert_memory_equal(written[count_written - 1], "2025-10-09", 10);
}

static void processes_pass_midnight(void **state) {
    (void)state;
    midnight_on("sqlite", DAILY);
    midnight_on("redis", DAILY "block=3");
}

static void processes_of_a_late_series_pass_midnight(void **state) {
    (void)state;
    midnight_on("sqlite", DAILY "late=1 block=2");
}

/* ---- processes that are killed --------------------------------------------------------------- */

/* Issues numbers until it is killed. `goes_on`: after an error, too. */
static int issue_until_killed(const char *where, bool goes_on, int file) {
    simulated clock = {.base = time_of("2025-10-08T23:59:58Z"), .step_ns = 5 * MS};
    const firn_clock hands = clock_on(&clock);
    firn_store *store = store_at(where);
    firn_series *series = NULL;
    firn_error error = {0};
    int code = firn_series_open(&series, "killed", DAILY "late=9 block=4", store, &hands, &error);
    while (code == FIRN_OK) {
        char texts[3][FIRN_SERIES_SIZE];
        code = firn_series_next(series, NULL, texts, 3, &error);
        for (int i = 0; code == FIRN_OK && i < 3; i++) {
            write_line(file, texts[i]);
        }
        if (goes_on && code != FIRN_OK) {
            code = FIRN_OK;
            nanosleep(&(struct timespec){0, 20 * MS}, NULL);
        }
    }
    fprintf(stderr, "# %s\n", error.text);
    return 1;
}

static pid_t begin_killed(const char *where, bool goes_on, const int ends[2]) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        _exit(issue_until_killed(where, goes_on, ends[1]));
    }
    return child;
}

static void begin_three(const char *where, bool goes_on, int ends[2], pid_t children[3]) {
    count_written = 0;
    firn_store_close(store_at(where));
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    for (int i = 0; i < 3; i++) {
        children[i] = begin_killed(where, goes_on, ends);
    }
}

static void kill_one(pid_t child) {
    int status;
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status)); /* the process issued until then */
}

/* Reads the last lines that the processes wrote. */
static void ends_without_doubles(const int ends[2], size_t least) {
    close(ends[1]);
    while (read_line(ends[0])) {
    }
    close(ends[0]);
    assert_true(count_written >= least);
    assert_int_equal(doubles(), 0);
}

static void kills_on(const char *kind, int kills) {
    const char *where = place_of(kind);
    int ends[2];
    pid_t children[3];
    uint64_t seed = 20261127;
    if (where == NULL) {
        return;
    }
    begin_three(where, false, ends, children);
    for (int i = 0; i < kills + 3; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
        for (uint64_t lines = 5 + (seed >> 33) % 90; lines > 0; lines--) {
            assert_true(read_line(ends[0]));
        }
        kill_one(children[i % 3]);
        children[i % 3] = i < kills ? begin_killed(where, false, ends) : 0;
    }
    ends_without_doubles(ends, (size_t)kills * 5 + 1);
}

static void killed_processes_repeat_no_number(void **state) {
    (void)state;
    kills_on("sqlite", 90 / short_step(6));
    kills_on("redis", 90 / short_step(6));
}

static void read_lines(int file, int count) {
    for (int i = 0; i < count; i++) {
        assert_true(read_line(file));
    }
}

static void engine_killed_on(const char *kind) {
    const char *where = place_of(kind);
    int ends[2];
    pid_t children[3];
    if (where == NULL) {
        return;
    }
    begin_three(where, true, ends, children);
    for (int i = 0; i < 3; i++) {
        read_lines(ends[0], 100);
        assert_true(engine_do(engine_of(kind, 0, ""), "kill", 0));
        assert_true(engine_do(engine_of(kind, 0, ""), "restart", 0));
    }
    read_lines(ends[0], 100);
    for (int i = 0; i < 3; i++) {
        kill_one(children[i]);
    }
    ends_without_doubles(ends, 400);
}

static void killed_engines_repeat_no_number(void **state) {
    (void)state;
    if (short_step(2) == 1) { /* starts two engines */
        engine_killed_on("postgres");
        engine_killed_on("mysql");
    }
}

/* ---- a store that lasts ---------------------------------------------------------------------- */

static firn_series *opened(firn_store *store, const firn_clock *hands, const char *keys) {
    firn_series *series = NULL;
    firn_error error = {0};
    if (firn_series_open(&series, "invoices", keys, store, hands, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return series;
}

static void gives(firn_series *series, const char *at, int code, const char *wanted) {
    char text[1][FIRN_SERIES_SIZE] = {""};
    firn_error error = {0};
    const firn_time time = at != NULL ? time_of(at) : (firn_time){0};
    if (firn_series_next(series, at != NULL ? &time : NULL, text, 1, &error) != code) {
        fail_msg("%s: %s", wanted, error.text);
    }
    if (strstr(code == FIRN_OK ? text[0] : error.text, wanted) == NULL) {
        fail_msg("expected '%s', got '%s%s'", wanted, text[0], error.text);
    }
}

static void prune_on(const char *kind) {
    const char *where = place_of(kind);
    simulated clock = {.base = time_of("2025-10-09T12:00:00Z")};
    const firn_clock hands = clock_on(&clock);
    firn_error error = {0};
    const firn_time ninth = time_of("2025-10-09T15:00:00Z");
    const firn_time first = time_of("2025-10-01T15:00:00Z");
    if (where == NULL) {
        return;
    }
    firn_store *store = store_at(where);
    firn_series *series = opened(store, &hands, DAILY "late=366");
    gives(series, "2025-10-07T12:00:00Z", FIRN_OK, "2025-10-07-000001");
    gives(series, NULL, FIRN_OK, "2025-10-09-000001");
    assert_int_equal(firn_series_prune(series, &ninth, &error), FIRN_OK);
    for (int i = 2; i < 4; i++) {
        gives(series, "2025-10-07T12:00:00Z", FIRN_EEND, "since the store is at 2025-10-09");
        gives(series, "2025-10-08T12:00:00Z", FIRN_EEND, "since the store is at 2025-10-09");
        gives(series, NULL, FIRN_OK, i == 2 ? "2025-10-09-000002" : "2025-10-09-000003");
        assert_int_equal(firn_series_prune(series, &first, &error), FIRN_OK); /* opens nothing */
    }
    assert_int_equal(firn_series_close(series, NULL), FIRN_OK);
    firn_store_close(store);
    store = store_at(where);
    series = opened(store, &hands, NULL); /* another process, another day */
    pass(&clock, DAY);
    gives(series, "2025-10-08T12:00:00Z", FIRN_EEND, "is closed");
    gives(series, NULL, FIRN_OK, "2025-10-10-000001");
    assert_int_equal(firn_series_close(series, NULL), FIRN_OK);
    firn_store_close(store);
}

static void a_pruned_period_is_closed_for_ever(void **state) {
    (void)state;
    prune_on("sqlite");
    prune_on("redis");
}

static void a_restored_store_waits_for_the_operator(void **state) {
    (void)state;
    simulated clock = {.base = time_of("2025-10-09T12:00:00Z")};
    const firn_clock hands = clock_on(&clock);
    char command[1000];
    firn_error error = {0};
    firn_store *store = store_at(url);
    firn_series *series = opened(store, &hands, DAILY "late=2");
    gives(series, NULL, FIRN_OK, "2025-10-09-000001");
    assert_int_equal(firn_series_close(series, NULL), FIRN_OK);
    firn_store_close(store);
    snprintf(command, sizeof command, "cp '%s'/firn.db '%s'/copy.db", folder, folder);
    assert_int_equal(system(command), 0);
    store = store_at(url);
    series = opened(store, &hands, NULL);
    gives(series, NULL, FIRN_OK, "2025-10-09-000002");
    gives(series, "2025-10-08T12:00:00Z", FIRN_OK, "2025-10-08-000001");
    assert_int_equal(firn_series_close(series, NULL), FIRN_OK);
    firn_store_close(store);
    snprintf(command, sizeof command,
             "cd '%s' && rm -f firn.db-wal firn.db-shm && mv copy.db firn.db", folder);
    assert_int_equal(system(command), 0);
    store = store_at(url);
    series = opened(store, &hands, NULL);
    gives(series, NULL, FIRN_EBACK, "advance its present period above every number handed out");
    gives(series, "2025-10-08T12:00:00Z", FIRN_EBACK, "advance its present period");
    assert_int_equal(firn_series_prune(series, &(firn_time){0, 0}, &error), FIRN_EBACK);
    assert_int_equal(firn_series_advance(series, NULL, 3, &error), FIRN_OK);
    gives(series, NULL, FIRN_OK, "2025-10-09-000003");
    gives(series, "2025-10-08T12:00:00Z", FIRN_EEND, "is closed");
    pass(&clock, DAY);
    gives(series, NULL, FIRN_OK, "2025-10-10-000001");
    assert_int_equal(firn_series_close(series, NULL), FIRN_OK);
    firn_store_close(store);
}

/* A child that fork() made issues numbers too, and none of its parent's block. */
static void a_forked_child_has_its_own_counters(void **state) {
    (void)state;
    simulated clock = {.base = time_of("2025-10-09T12:00:00Z")};
    const firn_clock hands = clock_on(&clock);
    int status;
    firn_store *store = store_at(url);
    firn_series *series = opened(store, &hands, DAILY "block=5");
    gives(series, NULL, FIRN_OK, "2025-10-09-000001");
    pid_t child = fork();
    if (child == 0) {
        char text[1][FIRN_SERIES_SIZE];
        _exit(firn_series_next(series, NULL, text, 1, NULL) == FIRN_OK &&
                      strcmp(text[0], "2025-10-09-000006") == 0 &&
                      firn_series_close(series, NULL) == FIRN_OK
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    gives(series, NULL, FIRN_OK, "2025-10-09-000002");
    assert_int_equal(firn_series_close(series, NULL), FIRN_OK);
    firn_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_double),
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(processes_pass_midnight),
        TEST(processes_of_a_late_series_pass_midnight),
        TEST(killed_processes_repeat_no_number),
        TEST(killed_engines_repeat_no_number),
        TEST(a_pruned_period_is_closed_for_ever),
        TEST(a_restored_store_waits_for_the_operator),
        TEST(a_forked_child_has_its_own_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
