/* SPDX-License-Identifier: MIT */
/* Runs a module once for each call that it makes to the system or to its client library. In each run (open, reserve,
 * give back, list, close) one of these calls fails, or returns something else. The store must answer with a code and a
 * sentence, and must not grant a slot twice. ld(1), --wrap, puts the functions of this header before the real ones;
 * CMakeLists.txt takes their names from the lines that begin with CALL. */
#ifndef FIRN_TEST_CALLS_H
#define FIRN_TEST_CALLS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <firn/firn.h>

#include <errno.h>
#include <execinfo.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "engines.h"
#include "sanitized.h"

#define LAYOUT      "0x0:1 time:41/ms node:10 sequence:12"
#define PLACES_MOST 4096
#ifndef CALLERS
#define CALLERS 6 /* of a call, that tell its place */
#endif

/* ---- calls that fail ------------------------------------------------------------------------ */

/* A place is a call and its callers. A run fails the first call whose place is not done. */
static uint64_t places_done[PLACES_MOST]; /* failed in every way */
static size_t places_count;

static atomic_flag call_lock = ATOMIC_FLAG_INIT; /* libraries have threads */
static bool calls_watched;                       /* no call of this run has failed yet */
static uint64_t call_place;                      /* of the call that failed, 0: none */
static const char *call_name;
static int call_answers;    /* how many wrong answers it has */
static int call_answer = 1; /* which of them it gives, from 1 */
static bool call_lied;      /* that answer is not a failure, but wrong data */

/* Inlining leaves fewer callers. */
#if SANITIZED
#define DEPTH (2 + CALLERS / 2)
#elif defined(__OPTIMIZE__)
#define DEPTH (2 + CALLERS * 2 / 3)
#else
#define DEPTH (2 + CALLERS)
#endif

static uint64_t place_of(const char *name) {
    void *callers[DEPTH];
    int count = backtrace(callers, DEPTH);
    uint64_t sum = (uintptr_t)name;
    for (int i = 2; i < count; i++) {
        sum = sum * UINT64_C(1099511628211) + (uintptr_t)callers[i];
    }
    return sum | 1;
}

static bool is_done(uint64_t place) {
    for (size_t i = 0; i < places_count; i++) {
        if (places_done[i] == place) {
            return true;
        }
    }
    return false;
}

/* Returns the wrong answer to give, from 1, or 0: none. The first `failures` answers report a failure. */
__attribute__((noinline)) static int calls_answer(const char *name, int failures, int answers) {
    if (!calls_watched) {
        return 0;
    }
    uint64_t place = place_of(name);
    int which = 0;
    while (atomic_flag_test_and_set(&call_lock)) {
    }
    if (calls_watched && answers > 0 && !is_done(place)) {
        calls_watched = false;
        call_place = place;
        call_name = name;
        call_answers = answers;
        call_lied = call_answer > failures;
        which = call_answer <= answers ? call_answer : 1;
    }
    atomic_flag_clear(&call_lock);
    errno = which != 0 ? ECONNRESET : errno;
    return which;
}

/* A wrapper: type, name, parameters and arguments of the function, the number of failures, then all wrong answers,
 * failures first. */
#define CALL_PROTOTYPES(type, name, parameters)                                                    \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters
#define CALL(type, name, parameters, arguments, failures, ...)                                     \
    CALL_PROTOTYPES(type, name, parameters) {                                                      \
        type answers[] = {__VA_ARGS__};                                                            \
        int which = calls_answer(#name, failures, (int)(sizeof answers / sizeof answers[0]));      \
        return which == 0 ? __real_##name arguments : answers[which - 1];                          \
    }
/* A wrapper whose body follows. */
#define CALL_BY_HAND(type, name, parameters) CALL_PROTOTYPES(type, name, parameters)

CALL(void *, malloc, (size_t size), (size), 1, NULL)
CALL(void *, calloc, (size_t count, size_t size), (count, size), 1, NULL)
CALL(void *, realloc, (void *piece, size_t size), (piece, size), 1, NULL)
CALL(char *, strdup, (const char *text), (text), 1, NULL)
CALL(char *, strndup, (const char *text, size_t length), (text, length), 1, NULL)
CALL(ssize_t, getrandom, (void *out, size_t size, unsigned flags), (out, size, flags), 1, -1)
CALL(int, socket, (int family, int kind, int protocol), (family, kind, protocol), 1, -1)

/* A timeout, a signal, an error. */
CALL_BY_HAND(int, poll, (struct pollfd * files, nfds_t count, int wait_ms)) {
    int which = calls_answer("poll", 3, 3);
    errno = which == 2 ? EINTR : which == 3 ? EINVAL : errno;
    return which == 0 ? __real_poll(files, count, wait_ms) : which == 1 ? 0 : -1;
}

/* After a failing "fork" the process looks like the child of a fork: getpid tells another pid. A process forks between
 * two verbs, in a failpoint or in a callback. The module leaks the parent's connection on purpose. */
static bool pid_changed;

static void calls_fork(void) {
    pid_changed = pid_changed || (!SANITIZED && calls_answer("fork", 1, 1) != 0);
}

CALL_BY_HAND(pid_t, getpid, (void)) {
    return __real_getpid() + pid_changed;
}

/* After a wrong answer the clock stays an hour ahead. */
static bool hour_passed;

CALL_BY_HAND(int, clock_gettime, (clockid_t id, struct timespec *now)) {
    int result = __real_clock_gettime(id, now);
    if (id == CLOCK_BOOTTIME) {
        hour_passed = hour_passed || calls_answer("clock_gettime", 1, 1) != 0;
        now->tv_sec += hour_passed ? 3600 : 0;
    }
    return result;
}

/* ---- one run -------------------------------------------------------------------------------- */

typedef struct calls_scenario {
    const char *title;
    const char *url;    /* appended to the engine's; a trailing # becomes the number of the run */
    const char *ns;     /* NULL: another one in each run */
    bool list_all;      /* list all namespaces */
    bool cut;           /* connections break between verbs */
    int64_t count;      /* of a reservation; 0: 10 */
    const char *layout; /* NULL: LAYOUT */
    void (*prepare)(const engine *); /* or NULL */
} calls_scenario;

extern const firn_store_ops firn_store_module;

static const calls_scenario *calls_running;
static int64_t granted_end; /* of all that this run was granted and may have issued */
static const char *calls_kind, *calls_options;
static const char *calls_base; /* the engine's URL */

static void calls_point(void *self, const char *name) {
    (void)self;
    (void)name;
    calls_fork();
}

static int calls_number; /* of the run */

static void calls_broken(const char *what, const char *text) {
    calls_watched = false;
    fail_msg("%s: %s, answer %d: %s%s", calls_running->title, call_name, call_answer, what, text);
}

static firn_error calls_last; /* the last failure */

static int calls_judge(int code, const firn_error *error) {
    if (code == FIRN_OK) {
        return code;
    }
    calls_last = *error;
    if (error->code != code || strcmp(firn_errname(code), firn_errname(1)) == 0) {
        calls_broken("the code is not that of the error: ", error->text);
    }
    if (error->text[0] == '\0' || strlen(error->text) > 200 || strchr(error->text, '\n') != NULL) {
        calls_broken("no sentence says why: ", error->text);
    }
    return code;
}

static int calls_visit(void *context, const firn_holding *holding) {
    int *lines = context;
    calls_fork();
    if (strlen(holding->ns) >= FIRN_NS_SIZE || strlen(holding->key) >= FIRN_KEY_SIZE) {
        calls_broken("a name that is too long: ", holding->ns);
    }
    return ++*lines >= 50;
}

static int64_t calls_count(void) {
    return calls_running->count > 0 ? calls_running->count : 10;
}

static int calls_reserve(firn_store *store, const char *ns, int64_t latest, uint64_t grant,
                         int64_t guard) {
    const int64_t count = calls_count();
    const char *layout = calls_running->layout != NULL ? calls_running->layout : LAYOUT;
    const char *note = grant % 2 != 0 ? "a note" : NULL;
    const firn_request request = {ns, layout, "1", count, 0, latest, grant, note, guard};
    firn_error error = {0, ""};
    firn_mark held = {-1, 1};
    int64_t first = -1;
#ifdef CALLS_NEEDED
    uint64_t failed_before = call_place;
#endif
    int code = calls_judge(firn_store_reserve(store, &request, &first, &held, &error), &error);
    if (code == FIRN_OK) {
#ifdef CALLS_NEEDED
        if (call_place != failed_before && !call_lied &&
            strncmp(call_name, CALLS_NEEDED, strlen(CALLS_NEEDED)) == 0) {
            calls_broken("it was granted all the same", "");
        }
#endif
        if (first < granted_end && !call_lied) {
            calls_broken("a slot was granted twice", "");
        }
        granted_end = first + count > granted_end ? first + count : granted_end;
    } else if (first != -1) {
        calls_broken("a failure granted something: ", error.text);
    }
    return code;
}

/* Asks as a generator does: again after an unknown outcome, with a guard when the store went back. */
static int calls_reserve_surely(firn_store *store, const char *ns, uint64_t grant) {
    const int64_t latest = FIRN_SLOT_MAX / 2;
    int code = calls_reserve(store, ns, latest, grant, 0);
    for (int i = 0; i < 2 && (code == FIRN_EUNKNOWN || code == FIRN_ESTORE); i++) {
        code = calls_reserve(store, ns, latest, grant, 0);
    }
    return code == FIRN_EBACK ? calls_reserve(store, ns, latest, grant, 1) : code;
}

/* Breaks all connections. */
static void calls_cut(void) {
    for (int file = 3; calls_running->cut && file < 256; file++) {
        shutdown(file, SHUT_RDWR); /* fails for what is no socket */
    }
}

static void calls_verbs(firn_store *store, const char *ns) {
    firn_error error = {0, ""};
    firn_time now;
    int lines = 0;
    calls_fork();
    if (calls_reserve_surely(store, ns, 7) == FIRN_OK) {
        const firn_mark mine = {granted_end, 7};
        calls_cut();
        calls_fork();
        calls_reserve(store, ns, 0, 7, 1); /* busy, with its own grant */
        calls_reserve(store, ns, 0, 8, 1);
        granted_end -= calls_count() / 2; /* the rest is never issued, given back or not */
        calls_judge(firn_store_give_back(store, ns, "1", &mine, granted_end, &error), &error);
        calls_cut();
        calls_fork();
        calls_reserve_surely(store, ns, 9);
    }
    calls_fork();
    int code =
        firn_store_list(store, calls_running->list_all ? NULL : ns, calls_visit, &lines, &error);
    calls_judge(code == 1 ? FIRN_OK : code, &error);
    code = calls_judge(firn_store_now(store, &now, &error), &error);
    if (code == FIRN_OK && (now.ns < 0 || now.ns > 999999999)) {
        calls_broken("no time", "");
    }
    firn_store_caution(store);
}

static void calls_run(const char *url, const char *ns) {
    const firn_store_options options = {.unsafe = true, .wait_ms = 1000, .failpoint = calls_point};
    firn_error error = {0, ""};
    firn_store *store = NULL;
    void *self = NULL;
    int code = calls_judge(firn_store_module.open(&self, url, &options, &error), &error);
    if (code == FIRN_OK) {
        bool watched = calls_watched;
        calls_watched = false;
        assert_int_equal(firn_store_wrap(&store, &firn_store_module, self, &error), FIRN_OK);
        calls_watched = watched;
        calls_verbs(store, ns);
        calls_fork();
        firn_store_close(store);
    }
}

/* ---- all runs ------------------------------------------------------------------------------- */

/* After the run, without failures: the store grants slots, and none that the run was granted. */
static void calls_verify(const char *url, const char *ns) {
    const firn_store_options options = {.unsafe = true, .wait_ms = 60000};
    firn_error error = {0, ""};
    firn_store *store = NULL;
    void *self = NULL;
    calls_number++;
    if (firn_store_module.open(&self, url, &options, &error) != FIRN_OK) {
        calls_broken("it cannot be opened any more: ", error.text);
    }
    assert_int_equal(firn_store_wrap(&store, &firn_store_module, self, &error), FIRN_OK);
    int code = calls_reserve_surely(store, ns, 11);
    firn_store_close(store);
    if (code != FIRN_OK && !call_lied) {
        calls_broken("nothing is granted any more: ", calls_last.text);
    }
}

static void each_call_fails(void **state) {
    const calls_scenario *it = calls_running = *state;
    char url[600], patient[700], ns[FIRN_NS_SIZE];
    long runs = 0;
    if (strcmp(calls_kind, "sqlite") != 0) {
        const engine *server = engine_of(calls_kind, 1, calls_options);
        if (server == NULL && engine_missing(calls_kind, 1)) {
            skip();
        }
        assert_non_null(server);
        calls_base = server->url;
        if (it->prepare != NULL) {
            it->prepare(server);
        }
    }
    place_of(""); /* once, since it loads a library */
    do {
        snprintf(patient, sizeof patient, "%s%s", calls_base, it->url);
        calls_number++;
        if (patient[strlen(patient) - 1] == '#') {
            sprintf(patient + strlen(patient) - 1, "%d", calls_number);
        }
        strcat(patient, strchr(patient, '?') == NULL ? "?" : "&");
        snprintf(url, sizeof url, "%.500stimeout_ms=300&connect_timeout_ms=300", patient);
        strcat(patient, "timeout_ms=60000&connect_timeout_ms=60000");
        snprintf(ns, sizeof ns, "n%d", calls_number);
        granted_end = 0;
        call_place = 0;
        call_name = "nothing";
        call_lied = false;
        calls_watched = true;
        calls_run(url, it->ns != NULL ? it->ns : ns);
        calls_watched = pid_changed = hour_passed = false;
        if (!call_lied && it->ns == NULL) {
            calls_verify(patient, ns);
        }
        runs++;
        if (call_place != 0 && ++call_answer > call_answers) {
            assert_true(places_count < PLACES_MOST);
            places_done[places_count++] = call_place;
            call_answer = 1;
        }
    } while (call_place != 0);
    print_message("# %s: %zu places, %ld runs\n", it->title, places_count, runs);
    assert_true(places_count > 10);
}

/* Runs all scenarios on an engine that is started with `options`, or those whose title fits the filter (may be NULL). */
static int calls_main(const char *kind, const char *options, const calls_scenario *scenarios,
                      size_t count, const char *filter) {
    enum { MOST = 16 };
    static struct CMUnitTest tests[MOST];
    calls_kind = kind;
    calls_options = options;
    for (size_t i = 0; i < count && i < MOST; i++) {
        tests[i] = (struct CMUnitTest){scenarios[i].title, each_call_fails, NULL, NULL,
                                       (void *)(uintptr_t)&scenarios[i]};
    }
    if (filter != NULL) {
        cmocka_set_test_filter(filter);
    }
    return _cmocka_run_group_tests(kind, tests, count, NULL, NULL);
}

#endif
