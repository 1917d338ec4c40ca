/* SPDX-License-Identifier: MIT */
/* Fails each call of a store's module (calls.h) while it opens, reserves, gives back, lists and
 * closes. The store must answer with a code and a sentence, and must not grant a slot twice. */
#ifndef FIRN_TEST_CALLS_STORE_H
#define FIRN_TEST_CALLS_STORE_H

#include "calls.h"

#include <firn/firn.h>
#include <signal.h>
#include <sys/wait.h>

#include "engines.h"

#define LAYOUT "0x0:1 time:41/ms node:10 sequence:12"

/* ---- one run -------------------------------------------------------------------------------- */

typedef struct calls_scenario {
    const char *title;
    const char
        *url; /* a URL, or what is appended to the engine's; # becomes the number of the run */
    const char *host;   /* in the place of 127.0.0.1, perhaps with a login; or NULL */
    const char *ns;     /* NULL: another one in each run */
    bool list_all;      /* list all namespaces */
    bool cut;           /* connections break between verbs */
    bool apart;         /* each run is in its own process */
    int64_t count;      /* of a reservation; 0: 10 */
    const char *layout; /* NULL: LAYOUT */
    void (*prepare)(const test_engine *); /* or NULL */
} calls_scenario;

#ifdef CALLS_DRIVER /* the module has a driver: the engine runs it */
#include "../src/engine.h"

extern const firn_driver firn_store_driver;
#define CALLS_OPEN firn_store_driver.open

static int calls_wrap(firn_store **store, void *driven, firn_error *error) {
    void *self = NULL;
    int code = firn__engine_make(&self, &firn_store_driver, driven, error);
    return code == FIRN_OK ? firn_store_wrap(store, &firn__engine_ops, self, error) : code;
}
#else
extern const firn_store_ops firn_store_module;
#define CALLS_OPEN firn_store_module.open

static int calls_wrap(firn_store **store, void *self, firn_error *error) {
    return firn_store_wrap(store, &firn_store_module, self, error);
}
#endif

static const calls_scenario *calls_running;
static int64_t granted_end; /* of all that this run was granted and may have issued */
static pid_t calls_parent;  /* of a child that calls_fork made, else 0 */
static const char *calls_kind, *calls_options;
static const char *calls_base; /* the engine's URL */
static CMFixtureFunction calls_enter, calls_leave;
static bool (*calls_left_open)(void); /* is its session in a transaction? NULL: not known */
static const char *calls_hasty = "timeout=300ms&connect_timeout=300ms";
static const char *calls_patient = "timeout=60s&connect_timeout=60s";

static void calls_broken(const char *what, const char *text) {
    calls_calm();
    if (calls_parent != 0) {
        fprintf(stderr, "# in a child: %s: %s%s\n", calls_running->title, what, text);
        _exit(1);
    }
    fail_msg("%s: %s, answer %d: %s%s", calls_running->title, call_name, call_answer, what, text);
}

/* cmocka's handlers would continue with the next test. */
static void calls_begin_child(pid_t parent) {
    const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++) {
        signal(crashes[i], SIG_DFL);
    }
    calls_parent = parent;
    alarm(60);
}

/* A process forks between two verbs, in a failpoint or in a callback. The child continues the run,
 * then the parent does. The child leaks the parent's connection on purpose. */
static void calls_fork(void) {
    int status;
    if (SANITIZED || calls_parent != 0 || calls_answer("fork", 1, 1) == 0) {
        return;
    }
    fflush(NULL);
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        calls_begin_child(parent);
        return;
    }
    if (waitpid(child, &status, 0) != child || status != 0) {
        calls_broken("the child ended otherwise than it should", "");
    }
}

static void calls_point(void *self, const char *name) {
    (void)self;
    (void)name;
    calls_fork();
}

static firn_error calls_last; /* the last failure */

/* After a verb. */
static int calls_judge(int code, const firn_error *error) {
    if (calls_parent == 0 && calls_left_open != NULL && calls_left_open()) {
        calls_broken("a transaction stays open", "");
    }
    if (code == FIRN_OK) {
        return code;
    }
    calls_last = *error;
    calls_failed = true;
    if (error->code != code || strcmp(firn_errname(code), firn_errname(1)) == 0) {
        calls_broken("the code is not that of the error: ", error->text);
    }
    if (error->text[0] == '\0' || strlen(error->text) >= sizeof error->text ||
        strchr(error->text, '\n') != NULL) {
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
    firn_error error = {0};
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

/* Asks as a generator does: again after an unknown outcome, with a guard when the store lost
 * reservations. */
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
        shutdown(file, SHUT_RDWR); /* fails unless it is a socket */
    }
}

static void calls_verbs(firn_store *store, const char *ns) {
    firn_error error = {0};
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
    firn_error error = {0};
    firn_store *store = NULL;
    void *self = NULL;
    int code = calls_judge(CALLS_OPEN(&self, url, &options, &error), &error);
    if (code == FIRN_OK) {
        bool watched = calls_watched;
        calls_watched = false;
        assert_int_equal(calls_wrap(&store, self, &error), FIRN_OK);
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
    firn_error error = {0};
    firn_store *store = NULL;
    void *self = NULL;
    calls_number++;
    if (CALLS_OPEN(&self, url, &options, &error) != FIRN_OK) {
        calls_broken("it cannot be opened any more: ", error.text);
    }
    assert_int_equal(calls_wrap(&store, self, &error), FIRN_OK);
    int code = calls_reserve_surely(store, ns, 11);
    firn_store_close(store);
    if (code != FIRN_OK && !call_lied) {
        calls_broken("nothing is granted any more: ", calls_last.text);
    }
}

struct report {
    uint64_t place;
    const char *name;
    int answers;
    bool failed;
};

static void one_call_fails(void *context) {
    const calls_scenario *scenario = calls_running = context;
    char url[800], patient[800], ns[FIRN_NS_SIZE];
    bool whole = strstr(scenario->url, "://") != NULL;
    const char *position = strstr(calls_base, "127.0.0.1");
    if (scenario->host != NULL) {
        snprintf(patient, sizeof patient, "%.*s%s%s%s", (int)(position - calls_base), calls_base,
                 scenario->host, position + 9, scenario->url);
    } else {
        snprintf(patient, sizeof patient, "%s%s", whole ? "" : calls_base, scenario->url);
    }
    char *number = strchr(patient, '#');
    if (number != NULL) {
        char rest[100];
        snprintf(rest, sizeof rest, "%s", number + 1);
        sprintf(number, "%d%.99s", calls_number, rest);
    }
    strcat(patient, strchr(patient, '?') == NULL ? "?" : "&");
    snprintf(url, sizeof url, "%.700s%s", patient, calls_patiently ? calls_patient : calls_hasty);
    strcat(patient, calls_patient);
    snprintf(ns, sizeof ns, "n%d", calls_number);
    granted_end = 0;
    calls_run(url, scenario->ns != NULL ? scenario->ns : ns);
    calls_calm();
    if (calls_parent != 0) {
        exit(0);
    }
    if (!call_lied && scenario->ns == NULL) {
        calls_verify(patient, ns);
    }
}

/* The same in a child, which reports what failed. */
static void one_call_fails_apart(void *context) {
    int status, ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        calls_begin_child(getppid());
        calls_running = context;
        char url[600];
        snprintf(url, sizeof url, "%s%.100s", calls_base, calls_running->url);
        sprintf(strchr(url, '#'), "%d?%s", calls_number,
                calls_patiently ? calls_patient : calls_hasty);
        calls_run(url, "n");
        calls_calm();
        const struct report report = {call_place, call_name, call_answers, calls_failed};
        exit(write(ends[1], &report, sizeof report) != sizeof report);
    }
    struct report report = {0, "nothing", 0, false};
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(read(ends[0], &report, sizeof report), sizeof report);
    close(ends[0]);
    close(ends[1]);
    call_place = report.place;
    call_name = report.name;
    call_answers = report.answers;
    calls_failed = report.failed;
}

static void each_call_fails(void **state) {
    const calls_scenario *scenario = *state;
    const test_engine *server =
        strcmp(calls_kind, "sqlite") != 0 ? engine_of(calls_kind, 1, calls_options) : NULL;
    if (strcmp(calls_kind, "sqlite") != 0) {
        if (server == NULL && engine_missing(calls_kind, 1)) {
            skip();
        }
        assert_non_null(server);
        calls_base = server->url;
    }
    if (scenario->prepare != NULL) {
        scenario->prepare(server);
    }
    long runs = calls_sweep(scenario->apart ? one_call_fails_apart : one_call_fails, *state);
    print_message("# %s: %zu places, %ld runs\n", scenario->title, places_count, runs);
    assert_true(places_count > 10);
}

/* Runs all scenarios on an engine that is started with `options`, or those whose title fits the
 * filter (may be NULL). */
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
    return _cmocka_run_group_tests(kind, tests, count, calls_enter, calls_leave);
}

#endif
