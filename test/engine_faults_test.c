/* SPDX-License-Identifier: MIT */
/* Failures of a network, a server and a client during a reservation on real engines: the
 * same request, sent again, finds out the result, and no slot is granted twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engines.h"
#include "proxy.h"
#include "sanitized.h"

#include <cmocka.h>
#include <firn/firn.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS     (SANITIZED ? 1 : 2) /* of each fault; ENGINE_ROUNDS=N makes it N, 1 to 1000 */
#define COUNT      10                  /* slots of a request */
#define SPANS_MOST 20000
#define HASTY_MS   400   /* time-outs behind the proxy, and what the server just needed besides */
#define LATE_MS    1100  /* how much longer something too late takes than that */
#define PATIENT_MS 60000 /* time-outs that nobody waits for; no disk is slower */
#define AGAIN_MS   60000 /* how long a store may take to serve again; far more than it does */

/* Each row is an engine; its URL's first host is the proxy's. */
static const struct row {
    const char *name, *apart; /* before and after the number that gives each check its own store */
    char joint;               /* before the parameters */
} rows[] = {
    {"postgres", "?table=f", '&'}, {"mysql", "?table=f", '&'}, {"redis", "?prefix=f", '&'},
    {"etcd", "?prefix=f", '&'},    {"zookeeper", "/f", '?'},
};

/* When something happens to a request, and what. */
enum doing { BY_PROXY, KILLS_SERVER, STOPS_SERVER };

/* The fate of the request when the connection was cut: certainly carried out, certainly not, or
 * either. */
enum outcome { DONE, NOT_DONE, EITHER, UNHARMED };

/* How long the client waits for its server. Only what never comes needs a HASTY one. */
enum patience { HASTY, PATIENT };

static const struct fault {
    const char *sentence, *point;
    enum doing doing;
    int proxy_fault, stall_ms; /* -1: LATE_MS more than the client waits */
    enum outcome outcome;
    enum patience patience;
} faults[] = {
    {"a reply that is lost", "reserve.before", BY_PROXY, PROXY_REPLY_LOST, 0, DONE, PATIENT},
    {"a network cut from the server", "reserve.before", BY_PROXY, PROXY_DEAF, 0, DONE, HASTY},
    {"a network cut to the server", "reserve.before", BY_PROXY, PROXY_MUTE, 0, NOT_DONE, HASTY},
    {"a connection that is cut", "reserve.before", BY_PROXY, PROXY_CUT, 0, NOT_DONE, PATIENT},
    {"a reply that takes 200 ms", "reserve.before", BY_PROXY, PROXY_STALLED, 200, UNHARMED,
     PATIENT},
    {"a reply that comes too late", "reserve.before", BY_PROXY, PROXY_STALLED, -1, DONE, HASTY},
    {"a request that comes too late", "reserve.before", BY_PROXY, PROXY_STALLED_SENT, -1, EITHER,
     HASTY},
    {"a server killed before it is asked", "reserve.before", KILLS_SERVER, 0, 0, EITHER, HASTY},
    {"a server killed when it was asked", "reserve.sent", KILLS_SERVER, 0, 0, EITHER, HASTY},
    {"a server stopped when it was asked", "reserve.sent", STOPS_SERVER, 0, 0, EITHER, HASTY},
};

#define ROWS   (sizeof rows / sizeof rows[0])
#define FAULTS (sizeof faults / sizeof faults[0])

static int rounds = ROUNDS;

/* ---- grants ---------------------------------------------------------------------------------- */

typedef struct span {
    int64_t first, count;
} span;

static int by_first(const void *a, const void *b) {
    int64_t x = ((const span *)a)->first, y = ((const span *)b)->first;
    return x < y ? -1 : x > y;
}

/* How many slots were granted twice. */
static int64_t overlaps(span *spans, size_t n) {
    int64_t end = 0, twice = 0;
    qsort(spans, n, sizeof *spans, by_first);
    for (size_t i = 0; i < n; i++) {
        int64_t own_end = spans[i].first + spans[i].count;
        twice += spans[i].first < end ? (own_end < end ? own_end : end) - spans[i].first : 0;
        end = own_end > end ? own_end : end;
    }
    return twice;
}

static void injected_overlap(void **state) {
    span spans[] = {{20, 10}, {0, 10}, {10, 10}};
    (void)state;
    assert_int_equal(overlaps(spans, 3), 0);
    spans[1].count = 12;
    assert_int_equal(overlaps(spans, 3), 2);
}

/* ---- one engine and its proxy ---------------------------------------------------------------- */

/* `near` is asked through the proxy and with a failpoint, `far` is another client of the server. */
typedef struct bench {
    const struct row *row;
    const struct fault *fault;
    test_engine *server;
    test_proxy *proxy;
    char near_url[400], far_url[400];
    firn_store *near, *far;
    span spans[SPANS_MOST];
    size_t count;
    uint64_t grant;
    int call_ms; /* of `near` */
    bool armed;
    int hits; /* of the failpoint */
} bench;

static bench here;

static void on_point(void *self, const char *name) {
    bench *b = self;
    if (!b->armed || strcmp(name, b->fault->point) != 0) {
        return;
    }
    b->armed = false;
    b->hits++;
    if (b->fault->doing == BY_PROXY) {
        int stall_ms = b->fault->stall_ms < 0 ? b->call_ms + LATE_MS : b->fault->stall_ms;
        atomic_store(&b->proxy->stall_ms, stall_ms);
        atomic_store(&b->proxy->fault, b->fault->proxy_fault);
    } else {
        engine_do(b->server, b->fault->doing == KILLS_SERVER ? "kill" : "pause", 0);
    }
}

static firn_store *open_store(const char *url, bool hooked) {
    const firn_store_options options = {.module_dir = FIRN_BUILD_DIR "/firn",
                                        .unsafe = true,
                                        .failpoint = hooked ? on_point : NULL,
                                        .failpoint_self = &here};
    firn_store *store = NULL;
    firn_error error = {0};
    int64_t begun_ms = proxy_now_ms();
    int code = FIRN_ESTORE; /* some connect when they are opened */
    while (code == FIRN_ESTORE && proxy_now_ms() - begun_ms < AGAIN_MS) {
        code = firn_store_open(&store, url, &options, &error);
    }
    if (code != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return store;
}

/* The port of the first host of a URL. */
static int port_of(const char *url) {
    const char *colon = strrchr(url, ':');
    return colon != NULL ? atoi(colon + 1) : 0;
}

static void take(firn_store *store);

static bool set_up_bench(const struct row *row, enum patience patience) {
    static int number;
    static test_proxy proxies;
    char module[800], before[200];
    bench *b = &here;
    memset(b, 0, sizeof *b);
    b->row = row;
    snprintf(module, sizeof module, FIRN_BUILD_DIR "/firn/%s.so", row->name);
    if (access(module, R_OK) != 0) {
        return false;
    }
    b->server = engine_of(row->name, 1, "");
    if (b->server == NULL) {
        assert_true(engine_missing(row->name, 1));
        return false;
    }
    b->proxy = &proxies;
    assert_true(proxy_start(b->proxy, port_of(b->server->url)));
    snprintf(before, sizeof before, "%.*s", (int)(strrchr(b->server->url, ':') - b->server->url),
             b->server->url);
    const char *slash = strchr(strrchr(b->server->url, ':'), '/');
    number++;
    snprintf(b->far_url, sizeof b->far_url, "%.199s%s%d%cconnect_timeout=%dms&timeout=%dms",
             b->server->url, row->apart, number, row->joint, PATIENT_MS, PATIENT_MS);
    b->far = open_store(b->far_url, false);
    int64_t begun_ms = proxy_now_ms();
    take(b->far);
    b->call_ms = patience == PATIENT ? PATIENT_MS : HASTY_MS + 2 * (int)(proxy_now_ms() - begun_ms);
    snprintf(b->near_url, sizeof b->near_url, "%s:%d%s%s%d%cconnect_timeout=%dms&timeout=%dms",
             before, b->proxy->port, slash != NULL ? slash : "", row->apart, number, row->joint,
             b->call_ms, b->call_ms);
    b->near = open_store(b->near_url, true);
    return true;
}

/* Also after a check that failed. */
static int tear_down(void **state) {
    (void)state;
    if (here.server != NULL) {
        engine_do(here.server, "continue", 0);
    }
    if (here.proxy != NULL) {
        firn_store_close(here.near);
        firn_store_close(here.far);
        proxy_stop(here.proxy);
    }
    memset(&here, 0, sizeof here);
    return 0;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static firn_request ask(uint64_t grant) {
    firn_request request = {"snow",    "0x0:1 time:41/ms node:10 sequence:12",
                            "1",       COUNT,
                            0,         FIRN_SLOT_MAX - COUNT,
                            grant,     "a note",
                            INT64_C(1)};
    return request;
}

static void keep(int64_t first) {
    assert_true(here.count < SPANS_MOST);
    here.spans[here.count++] = (span){first, COUNT};
}

/* The fate of a request that was sent again, and again. */
enum settled { NOW, BEFORE, NOW_OR_BEFORE };

/* Sends the request until the store reports its result. Any result counts as
 * granted. */
static enum settled settle(firn_store *store, firn_request request) {
    int64_t first = -1, begun_ms = proxy_now_ms();
    firn_mark held = {0, 0};
    firn_error error = {0};
    int code = FIRN_ESTORE;
    bool unknown = false; /* of a sending here */
    while ((code == FIRN_ESTORE || code == FIRN_EUNKNOWN) && proxy_now_ms() - begun_ms < AGAIN_MS) {
        const struct timespec nap = {0, 5 * 1000000};
        code = firn_store_reserve(store, &request, &first, &held, &error);
        unknown = unknown || code == FIRN_EUNKNOWN;
        if (code != FIRN_OK) {
            nanosleep(&nap, NULL);
        }
    }
    bool before = code == FIRN_EBUSY && held.grant == request.grant;
    if (code != FIRN_OK && !before) {
        fail_msg("%s", error.text);
    }
    keep(before ? held.high - COUNT : first);
    return !before ? NOW : unknown ? NOW_OR_BEFORE : BEFORE;
}

/* Takes a window on a store that nothing happens to. */
static void take(firn_store *store) {
    settle(store, ask(++here.grant));
}

/* The same request again must find its own grant, so it is bound to begin where it would have. */
static firn_request pinned(void) {
    firn_request request = ask(++here.grant);
    firn_mark held = {0, 0};
    int64_t first;
    firn_request probe = ask(UINT64_MAX);
    probe.latest = 0; /* busy for certain: returns the mark and changes nothing */
    assert_int_equal(firn_store_reserve(here.far, &probe, &first, &held, NULL), FIRN_EBUSY);
    request.earliest = request.latest = held.high;
    return request;
}

static void one_round(bench *b) {
    firn_error error = {0};
    firn_mark held;
    int64_t first = -1;
    take(b->near);
    firn_request request = pinned();
    b->armed = true;
    long met = atomic_load(&b->proxy->hits[b->fault->proxy_fault]);
    int code = firn_store_reserve(b->near, &request, &first, &held, &error);
    int64_t expected = request.latest;
    assert_false(b->armed); /* the fault came to it */
    if (b->fault->doing == BY_PROXY) {
        assert_true(proxy_met(b->proxy, b->fault->proxy_fault, met)); /* maybe after the client */
        atomic_store(&b->proxy->fault, PROXY_NONE);
    } else {
        assert_true(
            engine_do(b->server, b->fault->doing == KILLS_SERVER ? "restart" : "continue", 0));
    }
    if (b->fault->outcome == UNHARMED) {
        assert_int_equal(code, FIRN_OK);
        assert_int_equal(first, expected);
        keep(first);
        return;
    }
    if (b->fault->outcome == DONE && code != FIRN_EUNKNOWN) {
        fail_msg("%d, not unknown: %s", code, error.text);
    }
    assert_true(code == FIRN_EUNKNOWN || code == FIRN_ESTORE ||
                (code == FIRN_OK && b->fault->outcome == EITHER));
    assert_true(code == FIRN_OK || strlen(error.text) > 10);
    if (code == FIRN_OK) {
        keep(first);
    } else {
        enum settled found = settle(b->near, request);
        assert_false(b->fault->outcome == DONE && found == NOW);
        assert_false(b->fault->outcome == NOT_DONE && found == BEFORE);
        assert_int_equal(b->spans[b->count - 1].first, expected);
    }
    take(b->far);
    take(b->near);
}

static void survives(void **state) {
    size_t index = (size_t)(uintptr_t)*state;
    const struct fault *fault = &faults[index % FAULTS];
    if (!set_up_bench(&rows[index / FAULTS], fault->patience)) {
        skip();
    }
    here.fault = fault;
    int64_t begun_ms = proxy_now_ms();
    for (int i = 0; i < rounds; i++) {
        one_round(&here);
    }
    assert_int_equal(overlaps(here.spans, here.count), 0);
    long by_proxy = atomic_load(&here.proxy->hits[here.fault->proxy_fault]);
    print_message("# %s, %s: hit %d times, %ld messages, %zu grants, %" PRId64 " ms\n",
                  here.row->name, here.fault->sentence, here.hits, by_proxy, here.count,
                  proxy_now_ms() - begun_ms);
    assert_int_equal(here.hits, rounds);
    assert_true(here.fault->doing != BY_PROXY || by_proxy >= rounds);
}

/* ---- servers that are not there ---------------------------------------------- */

/* Nobody listens, then somebody does. */
static void refused_then_served(void **state) {
    if (!set_up_bench(&rows[(size_t)(uintptr_t)*state], HASTY)) {
        skip();
    }
    const struct timespec nap = {0, 100 * 1000000};
    firn_request request = ask(1);
    firn_error error = {0};
    firn_mark held;
    int64_t first;
    atomic_store(&here.proxy->fault, PROXY_REFUSED);
    assert_true(proxy_met(here.proxy, PROXY_REFUSED, 0));
    for (int i = 0; i < 5; i++) {
        nanosleep(&nap, NULL);
        assert_int_equal(firn_store_reserve(here.near, &request, &first, &held, &error),
                         FIRN_ESTORE);
    }
    assert_true(strlen(error.text) > 10);
    int64_t begun_ms = proxy_now_ms();
    atomic_store(&here.proxy->fault, PROXY_NONE);
    take(here.near);
    print_message("# %s, refused: hit %ld times, served %" PRId64 " ms after it was back\n",
                  here.row->name, atomic_load(&here.proxy->hits[PROXY_REFUSED]),
                  proxy_now_ms() - begun_ms);
}

/* With a pattern as of a shell, only the checks whose sentence fits it. */
int main(int count, char **arguments) {
    enum { EACH = FAULTS + 1 };
    static char names[ROWS * EACH][100];
    static struct CMUnitTest tests[ROWS * EACH + 1] = {
        {"control: an injected overlap is found", injected_overlap, NULL, NULL, NULL}};
    for (size_t i = 0; i < ROWS * EACH; i++) {
        size_t row = i / EACH, which = i % EACH;
        void *argument = (void *)(uintptr_t)(which < FAULTS ? row * FAULTS + which : row);
        const char *sentence =
            which < FAULTS ? faults[which].sentence : "a server that is not there yet";
        snprintf(names[i], sizeof names[i], "%s survives %s", rows[row].name, sentence);
        tests[i + 1] = (struct CMUnitTest){
            names[i], which < FAULTS ? survives : refused_then_served, NULL, tear_down, argument};
    }
    const char *given = getenv("ENGINE_ROUNDS");
    if (given != NULL && atoi(given) >= 1 && atoi(given) <= 1000) {
        rounds = atoi(given);
    }
    if (count > 1) {
        cmocka_set_test_filter(arguments[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
