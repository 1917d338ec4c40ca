/* SPDX-License-Identifier: MIT */
/* Every system call that can fail: memory, mappings, randomness, clocks, thread keys, modules. Each
 * scenario runs once for each such call, in its own process in which that call fails (the linker
 * replaces libc's functions with those here). The library fails with a code and an error text, or
 * does without; it leaves its results unchanged, leaks nothing, and works again afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <firn/firn.h>

#include <dlfcn.h>
#include <errno.h>
#include <ifaddrs.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "folder.h"
#include "refused.h"
#include "sanitized.h"

#define CALLS_MOST 2000                /* of one scenario */
#define STEP       (SANITIZED ? 5 : 1) /* looking for leaks takes a tenth of a second for each process */

/* ---- calls that fail ------------------------------------------------------------------------ */

static long failing; /* which call fails, counted from 1; 0: none */
static long calls;   /* since it was set */
static long pieces;  /* of memory that the library has */

static const char *refused = ""; /* its name */

static bool fails(const char *name) {
    if (failing == 0 || ++calls != failing) {
        return false;
    }
    refused = name;
    return true;
}

static void *kept(void *piece) {
    pieces += piece != NULL;
    return piece;
}

#define WRAPPED_MEMORY(name, parameters, arguments)                                                \
    void *__real_##name parameters;                                                                \
    void *__wrap_##name parameters;                                                                \
    void *__wrap_##name parameters {                                                               \
        return fails(#name) ? refused_memory() : kept(__real_##name arguments);                    \
    }

WRAPPED_MEMORY(malloc, (size_t size), (size))
WRAPPED_MEMORY(calloc, (size_t count, size_t size), (count, size))
WRAPPED_MEMORY(strdup, (const char *text), (text))
WRAPPED(void *, mmap64, (void *context, size_t size, int may, int kind, int file, off_t from),
        (context, size, may, kind, file, from), (errno = ENOMEM, MAP_FAILED))
WRAPPED(int, madvise, (void *memory, size_t size, int advice), (memory, size, advice),
        refused_call(ENOMEM))
WRAPPED(ssize_t, getrandom, (void *out, size_t size, unsigned flags), (out, size, flags),
        refused_call(ENOSYS))
WRAPPED(int, clock_gettime, (clockid_t id, struct timespec *now), (id, now), refused_call(EINVAL))
WRAPPED(int, nanosleep, (const struct timespec *rest, struct timespec *left), (rest, left),
        refused_call(EINVAL))
WRAPPED(int, getifaddrs, (struct ifaddrs * *list), (list), refused_call(EMFILE))
WRAPPED(FILE *, fopen64, (const char *path, const char *how), (path, how), NULL)
WRAPPED(int, pthread_key_create, (pthread_key_t * key, void (*end)(void *)), (key, end), ENOMEM)
WRAPPED(int, pthread_setspecific, (pthread_key_t key, const void *value), (key, value), ENOMEM)
WRAPPED(int, pthread_mutex_init, (pthread_mutex_t * lock, const pthread_mutexattr_t *kind),
        (lock, kind), ENOMEM)
WRAPPED(void *, dlopen, (const char *path, int flags), (path, flags), NULL)
WRAPPED(void *, dlsym, (void *library, const char *name), (library, name), NULL)

void *__real_realloc(void *piece, size_t size);
void *__wrap_realloc(void *piece, size_t size);
void *__wrap_realloc(void *piece, size_t size) {
    if (fails("realloc")) {
        return refused_memory();
    }
    pieces += piece == NULL;
    return __real_realloc(piece, size);
}

void __real_free(void *piece);
void __wrap_free(void *piece);
void __wrap_free(void *piece) {
    pieces -= piece != NULL;
    __real_free(piece);
}

/* ---- what is judged ------------------------------------------------------------------------- */

static const char *now_doing = "";

static void broken(const char *what, const char *text) {
    fprintf(stderr, "# %s, call %ld refused, %s: %s%s\n", now_doing, calls, refused, what, text);
    exit(2);
}

/* A failure has a code and one line of words. */
static int judge(int code, const firn_error *error) {
    if (code == FIRN_OK) {
        return code;
    }
    if (error->code != code || strcmp(firn_errname(code), firn_errname(1)) == 0) {
        fprintf(stderr, "# %s, not %s\n", firn_errname(code), firn_errname(error->code));
        broken("the code is another than that of the error: ", error->text);
    }
    if (error->text[0] == '\0' || strlen(error->text) >= sizeof error->text ||
        strchr(error->text, '\n') != NULL) {
        broken("no sentence says why: ", error->text);
    }
    return code;
}

/* ---- scenarios ------------------------------------------------------------------------------ */

typedef struct failing_scenario {
    const char *title;
    int (*run)(const struct failing_scenario *self);
    const char *scheme, *keys, *store;
    int code; /* if no call is refused */
} failing_scenario;

static firn_store *open_store(const failing_scenario *scenario, int *code) {
    const firn_store_options options = {.module_dir = FIRN_BUILD_DIR "/firn", .unsafe = true};
    firn_error error = {0};
    firn_store *store = NULL;
    *code = judge(firn_store_open(&store, scenario->store, &options, &error), &error);
    if (*code != FIRN_OK && store != NULL) {
        broken("a store that is not opened was handed out", "");
    }
    return store;
}

static int take_block(firn_gen *gen) {
    firn_error error = {0};
    firn_block *block = NULL;
    uint8_t id[20];
    int code = judge(firn_block_open(&block, gen, 0, &error), &error);
    for (int i = 0; code == FIRN_OK && i < 2; i++) {
        code = judge(firn_block_next(block, id, &error), &error);
    }
    firn_block_close(block);
    return code;
}

static int issue_some(firn_gen *gen) {
    const firn_id before = {11, 22, 33, 44};
    const firn_time past = {1700000000, 0};
    firn_error error = {0};
    firn_id ids[40];
    for (int i = 0; i < 6; i++) {
        memcpy(ids, &before, sizeof before);
        size_t n = i % 3 == 0 ? 1 : 40;
        int code = i % 3 == 0   ? firn_next(gen, ids, &error)
                   : i % 3 == 1 ? firn_next_n(gen, ids, n, &error)
                                : firn_at(gen, &past, ids, n, &error);
        if (judge(code, &error) != FIRN_OK) {
            if (firn_id_cmp(ids, &before) != 0) {
                broken("there is an ID beside the error: ", error.text);
            }
            return code;
        }
    }
    firn_status status = {.size = sizeof status};
    firn_gen_status(gen, &status);
    return take_block(gen);
}

static int generate(const failing_scenario *scenario) {
    firn_error error = {0};
    firn_gen *gen = NULL;
    int code;
    firn_store *store = open_store(scenario, &code);
    if (code != FIRN_OK) {
        return code;
    }
    const firn_config config = {
        .size = sizeof config, .scheme = scenario->scheme, .keys = scenario->keys, .store = store};
    code = judge(firn_open_with(&gen, &config, &error), &error);
    if (code == FIRN_OK) {
        code = issue_some(gen);
        int64_t wait_ms;
        if (code == FIRN_OK) {
            code = judge(firn_gen_step(gen, &wait_ms, &error), &error);
        }
        int closed = judge(firn_close(gen, &error), &error);
        code = code == FIRN_OK ? closed : code;
    } else if (gen != NULL) {
        broken("a generator that is not opened was handed out", "");
    }
    firn_store_close(store);
    return code;
}

/* With its own store, as the simplest call has it. */
static int open_alone(const failing_scenario *scenario) {
    firn_error error = {0};
    firn_gen *gen = NULL;
    int code = judge(firn_open(&gen, scenario->scheme, scenario->keys, &error), &error);
    if (code != FIRN_OK) {
        return code;
    }
    code = issue_some(gen);
    int closed = judge(firn_close(gen, &error), &error);
    return code == FIRN_OK ? closed : code;
}

/* A child of a generator's process has its own memory, randomness and window. */
static int issue_in_child(const failing_scenario *scenario) {
    firn_error error = {0};
    firn_gen *gen = NULL;
    firn_id id;
    long wanted = failing, status;
    int code, answer;
    failing = 0;
    firn_store *store = open_store(scenario, &code);
    const firn_config config = {
        .size = sizeof config, .scheme = scenario->scheme, .keys = scenario->keys, .store = store};
    if (code != FIRN_OK || firn_open_with(&gen, &config, &error) != FIRN_OK ||
        firn_next(gen, &id, &error) != FIRN_OK) {
        broken("the parent issues: ", error.text);
    }
    pid_t child = fork();
    if (child == 0) {
        failing = wanted;
        calls = 0;
        code = issue_some(gen);
        firn_close(gen, NULL);
        firn_store_close(store);
        code = calls < failing ? 3 : code != FIRN_OK ? 1 : 0;
        failing = 0; /* gcov allocates when the process ends */
        if (SANITIZED) {
            _exit(code); /* a child leaks a few bytes of its parent's on purpose (src/now.c) */
        }
        exit(code);
    }
    waitpid(child, &answer, 0);
    status = WIFEXITED(answer) ? WEXITSTATUS(answer) : 99;
    if (status != 3 && status != 1 && status != 0) {
        broken("the child crashed, or lost memory", "");
    }
    calls = status == 3 ? 0 : wanted;
    failing = wanted;
    code = judge(firn_close(gen, &error), &error);
    firn_store_close(store);
    return status == 1 ? FIRN_ESYSTEM : code;
}

static int do_job(const failing_scenario *scenario) {
    firn_error error = {0};
    firn_job *job = NULL;
    int code;
    firn_store *store = open_store(scenario, &code);
    if (code != FIRN_OK) {
        return code;
    }
    const firn_job_config config = {.size = sizeof config,
                                    .scheme = scenario->scheme,
                                    .keys = scenario->keys,
                                    .store = store,
                                    .name = "orders-2019",
                                    .digest = 7,
                                    .seed = "seed",
                                    .shift_ms = 1000,
                                    .disorder_ms = 5000};
    code = judge(firn_job_open(&job, &config, &error), &error);
    for (int i = 0; code == FIRN_OK && i < 1500; i++) {
        const firn_time time = {1600000000 + i, 0}; /* the table of ticks grows, and forgets */
        firn_id id;
        int64_t shift_ns;
        code = judge(firn_job_next(job, &time, &id, &shift_ns, &error), &error);
    }
    firn_job_close(job);
    firn_store_close(store);
    return code;
}

static int count(const failing_scenario *scenario) {
    firn_error error = {0};
    firn_segment *range = NULL;
    int64_t value, wait_ms;
    int code;
    firn_store *store = open_store(scenario, &code);
    if (code != FIRN_OK) {
        return code;
    }
    code = judge(firn_segment_open(&range, "orders", scenario->keys, store, NULL, &error), &error);
    for (int i = 0; code == FIRN_OK && i < 20; i++) {
        code = judge(firn_segment_next(range, &value, &error), &error);
    }
    if (code == FIRN_OK) {
        code = judge(firn_segment_block(range, 10, &value, &error), &error);
    }
    if (code == FIRN_OK) {
        code = judge(firn_segment_step(range, &wait_ms, &error), &error);
    }
    if (code == FIRN_OK) {
        code = judge(firn_segment_advance(range, 5000, &value, &error), &error);
    }
    if (range != NULL) {
        int closed = judge(firn_segment_close(range, &error), &error);
        code = code == FIRN_OK ? closed : code;
    }
    firn_store_close(store);
    return code;
}

static int number(const failing_scenario *scenario) {
    const uint8_t key[16] = {1, 2, 3};
    firn_error error = {0};
    firn_order *order = NULL;
    char text[FIRN_ORDER_SIZE];
    uint64_t back;
    int code =
        judge(firn_order_open(&order, scenario->keys, key, FIRN_BUILD_DIR "/firn", &error), &error);
    if (code == FIRN_OK) {
        code = judge(firn_order_write(order, text, 1234, &error), &error);
    }
    if (code == FIRN_OK) {
        code = judge(firn_order_read(order, &back, text, strlen(text), &error), &error);
    }
    firn_order_close(order);
    return code;
}

static const char *key_file(void) {
    static const char path[] = "key";
    FILE *file = fopen(path, "w");
    if (file != NULL) {
        fprintf(file, "1 %064d\n", 7);
        fclose(file);
        chmod(path, 0600);
    }
    return path;
}

static int mask(const failing_scenario *scenario) {
    firn_error error = {0};
    firn_mask *mask = NULL;
    firn_id id = {.low = 1234}, masked = {0};
    char text[FIRN_TEXT_SIZE], back[FIRN_TEXT_SIZE];
    int code = judge(
        firn_mask_load(&mask, scenario->keys, key_file(), FIRN_BUILD_DIR "/firn", &error), &error);
    if (code == FIRN_OK) {
        id.bits = (uint8_t)firn_mask_bits(mask);
        code = judge(firn_mask_apply(mask, &masked, &id, 1, &error), &error);
    }
    if (code == FIRN_OK) {
        code = judge(firn_mask_write(mask, text, "1234", 4, &error), &error);
    }
    if (code == FIRN_OK) {
        code = judge(firn_mask_read(mask, back, text, strlen(text), &error), &error);
    }
    firn_mask_close(mask);
    return code;
}

static int number_dates(const failing_scenario *scenario) {
    firn_error error = {0};
    firn_series *series = NULL;
    char texts[2][FIRN_SERIES_SIZE], keys[200];
    int code;
    firn_store *store = open_store(scenario, &code);
    if (code != FIRN_OK) {
        return code;
    }
    snprintf(keys, sizeof keys, "%s key_file=%s", scenario->keys, key_file());
    code = judge(firn_series_open(&series, "invoices", keys, store, NULL, &error), &error);
    for (int i = 0; code == FIRN_OK && i < 3; i++) {
        code = judge(firn_series_next(series, NULL, texts, 2, &error), &error);
    }
    if (code == FIRN_OK) {
        code = judge(firn_series_peek(series, NULL, texts[0], &error), &error);
    }
    if (code == FIRN_OK) {
        code = judge(firn_series_advance(series, NULL, 50, &error), &error);
    }
    if (series != NULL) {
        int closed = judge(firn_series_close(series, &error), &error);
        code = code == FIRN_OK ? closed : code;
    }
    firn_store_close(store);
    return code;
}

static failing_scenario scenarios[] = {
    {"snowflake", generate, "snowflake", "", "memory:"},
    {"a fixed node", generate, "snowflake", "worker=3 datacenter=1", "memory:", FIRN_ETAKEN},
    {"order by thread", generate, "snowflake", "ordering=thread nodes=3", "memory:"},
    {"online, with a job's history", generate, "snowflake", "mode=online history=job", "memory:"},
    {"a clock read each time", generate, "snowflake", "clock=exact full=wait", "memory:"},
    {"the kernel's coarse clock", generate, "snowflake", "clock=tick start=random:8", "memory:"},
    {"a full tick is waited for", generate, "lable-sequential", "full=wait max_lead=0 max_back=0",
     "memory:", FIRN_EFULL},
    {"uuid7", generate, "uuid7", "", "memory:"},
    {"ulid", generate, "ulid", "", "memory:"},
    {"uuid4", generate, "uuid4", "", "memory:", FIRN_EUSAGE},
    {"ksuid", generate, "ksuid", "", "memory:"},
    {"uuid1", generate, "uuid1", "", "memory:"},
    {"uuid1 of this machine", generate, "uuid1", "node=host", "memory:"},
    {"a node of the address", generate, "sonyflake", "node=ip", "memory:", FIRN_ETAKEN},
    {"objectid", generate, "objectid", "", "memory:"},
    {"locality-sequential", generate, "locality-sequential", "", "memory:"},
    {"a layout of one's own", generate, "time:41/ms@@2024-01-01 node:10 sequence:12", "node=5",
     "memory:", FIRN_ELAYOUT},
    {"time-random", generate, "time-random", "digits=9", "memory:"},
    {"time-random that is shuffled", generate, "time-random", "node=7", "memory:", FIRN_ETAKEN},
    {"a store in a file", generate, "snowflake", "", "sqlite:firn.db"},
    {"all by itself", open_alone, "snowflake", "store=sqlite:own.db unsafe=1", NULL},
    {"all by itself in memory", open_alone, "leaf", "store=memory:", NULL},
    {"a child of snowflake's", issue_in_child, "snowflake", "", "sqlite:child.db"},
    {"a child of uuid7's", issue_in_child, "uuid7", "", "memory:"},
    {"a job", do_job, "snowflake", "", "memory:"},
    {"a job with random parts", do_job, "uuid7", "", "memory:"},
    {"a job of a given node", do_job, "snowflake", "node=9", "memory:"},
    {"serial integers", count, NULL, "kind=serial", "memory:"},
    {"tickets", count, NULL, "kind=ticket increment=2 offset=1", "memory:"},
    {"segments", count, NULL, "kind=segment step=5", "memory:"},
    {"order numbers", number, NULL, "digits=8 check=1", NULL},
    {"masks", mask, NULL, "name=orders mac=20", NULL},
    {"a series", number_dates, NULL, "template={year}-{counter:8} zone=Europe/Berlin block=3",
     "memory:"},
    {"a reserve", generate, "snowflake", "ns=r reach=1h reserve=1h reserve_path=r.db unsafe=1",
     "sqlite:shared.db"},
    {"segments in a reserve", count, NULL, "kind=segment reserve=1h reserve_path=s.db unsafe=1",
     "sqlite:shared.db"},
    {"a reserve whose store is away", open_alone, "snowflake",
     "ns=r reach=1h reserve=1h reserve_path=away.db unsafe=1 store=sqlite:/proc/none/own.db", NULL,
     FIRN_ESTORE},
};

/* ---- one process for each call -------------------------------------------------------------- */

/* 0: all went well although a call was refused, 1: it failed as it should, 3: there was no such
 * call. */
static int run_once(const failing_scenario *scenario, long which) {
    pid_t child = fork();
    int status;
    assert_true(child >= 0);
    if (child == 0) {
        const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
        for (size_t i = 0; i < 4; i++) {
            signal(crashes[i], SIG_DFL); /* cmocka's handlers would continue with the next test */
        }
        alarm(60);
        now_doing = scenario->title;
        failing = which;
        int code = scenario->run(scenario);
        bool met = calls >= which;
        failing = 0;
        if (!met && code != scenario->code) {
            broken("no call was refused, and it ends with ", firn_errname(code));
        }
        scenario->run(
            scenario); /* judges once more; what is set up once for a process may stay refused */
        long left = pieces;
        scenario->run(scenario);
        if (pieces > left) {
            broken("memory is lost", "");
        }
        exit(!met ? 3 : code != FIRN_OK ? 1 : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 3 || WEXITSTATUS(status) == 2) {
        fail_msg("%s, call %ld refused: status %x", scenario->title, which, (unsigned)status);
    }
    return WEXITSTATUS(status);
}

static void each_call_may_be_refused(void **state) {
    const failing_scenario *scenario = *state;
    long failures = 0, which = 1;
    for (int told; (told = run_once(scenario, which)) != 3; which += STEP) {
        failures += told == 1;
        assert_true(which < CALLS_MOST);
    }
    assert_true(which > 1);
    assert_true(failures > 0 || STEP > 1); /* the calls that matter may be between two steps */
}

static int enter_folder(void **state) {
    return set_up_in_memory(state) != 0 || chdir(folder) != 0;
}

static int leave_folder(void **state) {
    return chdir("/") != 0 || tear_down(state) != 0;
}

int main(int count_of_arguments, char **arguments) {
    enum { COUNT = sizeof scenarios / sizeof scenarios[0] };
    static struct CMUnitTest tests[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        tests[i] = (struct CMUnitTest){scenarios[i].title, each_call_may_be_refused, NULL, NULL,
                                       &scenarios[i]};
    }
    if (count_of_arguments > 1) {
        cmocka_set_test_filter(arguments[1]); /* a title */
    }
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
