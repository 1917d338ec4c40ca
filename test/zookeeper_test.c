/* SPDX-License-Identifier: MIT */
/* The peculiarities of ZooKeeper: its URLs, rights, records, clock and several hosts. store_test.c
 * tests the behaviour of every engine, engine_faults_test.c the faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engines.h"
#include "proxy.h"

#include <cmocka.h>
#include <fcntl.h>
#include <firn/firn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROW     "0x0:1 time:41/ms node:10 sequence:12"
#define PATIENT "timeout=60s&connect_timeout=60s" /* nobody waits for one to pass */

static const firn_store_options options = {.module_dir = FIRN_BUILD_DIR "/firn"};

/* "127.0.0.1:PORT" of the server. */
static const char *place(void) {
    test_engine *server = engine_of("zookeeper", 1, "");
    if (server == NULL) {
        assert_true(engine_missing("zookeeper", 1));
        skip();
    }
    return strstr(server->url, "//") + 2;
}

/* With long time-outs, unless the URL has its own parameters. */
static int opened(firn_store **store, const char *text, firn_error *error) {
    char url[500];
    snprintf(url, sizeof url, "%s%s", text, strchr(text, '?') == NULL ? "?" PATIENT : "");
    return firn_store_open(store, url, &options, error);
}

static int reserve(const char *url, const char *ns, int64_t *first, firn_error *error) {
    firn_request request = {ns, ROW, "1", 10, 0, 1000, 7, "a note", 0};
    firn_store *store = NULL;
    firn_mark held;
    int code = opened(&store, url, error);
    if (code == FIRN_OK) {
        code = firn_store_reserve(store, &request, first, &held, error);
        firn_store_close(store);
    }
    return code;
}

static void refused(const char *url, int code, const char *text) {
    firn_error error = {0};
    int64_t first = -1;
    assert_int_equal(reserve(url, "snow", &first, &error), code);
    assert_int_equal(first, -1);
    if (strstr(error.text, text) == NULL) {
        fail_msg("'%s' lacks '%s'", error.text, text);
    }
}

static void granted(const char *url, const char *ns, int64_t expected) {
    firn_error error = {0};
    int64_t first = -1;
    if (reserve(url, ns, &first, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(first, expected);
}

static void urls_are_checked(void **state) {
    static const struct {
        const char *url, *text;
    } wrong[] = {
        {"zookeeper://h/?tls=1", "has no TLS"},
        {"zookeeper:///path", "host"},
        {"zookeeper://h/a//b", "path"},
        {"zookeeper://h/a/../b", "path"},
        {"zookeeper://h/a/", "path"},
        {"zookeeper://h/zookeeper", "path"},
        {"zookeeper://h/zookeeper/quota", "path"},
        {"zookeeper://h/a%20b", "path"},
        {"zookeeper://user@h", "alone"},
        {"zookeeper://h:0", "port"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        refused(wrong[i].url, FIRN_EUSAGE, wrong[i].text);
    }
    refused("zookeeper://h?timeout=0", FIRN_ERANGE, "timeout");
}

static void several_hosts(void **state) {
    char url[200];
    (void)state;
    snprintf(url, sizeof url, "zookeeper://127.0.0.1:1,%s,127.0.0.1:2/hosts/of/it", place());
    granted(url, "snow", 0);
    granted(url, "snow", 10);
    snprintf(url, sizeof url, "zookeeper://%s/hosts/of/it", place());
    granted(url, "snow", 20);
    snprintf(url, sizeof url, "zookeeper://%s/hosts/of", place()); /* another store */
    granted(url, "snow", 0);
}

/* Given a user, what is made is that user's alone. */
static void rights(void **state) {
    char open[200], mine[200], other[200];
    (void)state;
    snprintf(open, sizeof open, "zookeeper://%s/rights", place());
    snprintf(mine, sizeof mine, "zookeeper://anna:secret@%s/rights", place());
    snprintf(other, sizeof other, "zookeeper://anna:wrong@%s/rights", place());
    granted(mine, "snow", 0);
    granted(mine, "snow", 10);
    refused(open, FIRN_ESTORE, "does not allow it");
    refused(other, FIRN_ESTORE, "does not allow it");
    setenv("FIRN_ZOOKEEPER_PASSWORD", "secret", 1);
    snprintf(mine, sizeof mine, "zookeeper://anna@%s/rights", place());
    granted(mine, "snow", 20);
    unsetenv("FIRN_ZOOKEEPER_PASSWORD");
}

/* Neither when it works nor when nobody is there; the library would log. */
static void nothing_is_printed(void **state) {
    char url[200], folder[300];
    const char *parent = getenv("TMPDIR");
    firn_error error;
    int64_t first;
    (void)state;
    snprintf(url, sizeof url, "zookeeper://%s/silent", place());
    snprintf(folder, sizeof folder, "%s/firn-silent-%ld", parent != NULL ? parent : FIRN_BUILD_DIR,
             (long)getpid());
    fflush(stderr);
    int kept = dup(STDERR_FILENO), file = open(folder, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(kept >= 0 && file >= 0);
    dup2(file, STDERR_FILENO);
    int code = reserve(url, "snow", &first, &error);
    int other = reserve("zookeeper://127.0.0.1:1/?connect_timeout=300ms", "snow", &first, &error);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    off_t length = lseek(file, 0, SEEK_END);
    close(file);
    close(kept);
    unlink(folder);
    assert_int_equal(code, FIRN_OK);
    assert_int_equal(other, FIRN_ESTORE);
    assert_int_equal(length, 0);
}

/* The library connects again on its own, perhaps to a server of another history: what the store
 * knew of the first connection does not count on the second. */
static void another_connection_is_the_stores_own(void **state) {
    static test_proxy between;
    const firn_request request = {"snow", ROW, "1", 10, 0, 1000, 7, "a note", 0};
    const struct timespec nap = {0, 1000000};
    char url[200];
    firn_store *store = NULL;
    firn_error error = {0};
    firn_mark held;
    int64_t first = -1;
    (void)state;
    assert_true(proxy_start(&between, atoi(strrchr(place(), ':') + 1)));
    snprintf(url, sizeof url, "zookeeper://127.0.0.1:%d/again", between.port);
    assert_int_equal(opened(&store, url, &error), FIRN_OK);
    assert_int_equal(firn_store_reserve(store, &request, &first, &held, &error), FIRN_OK);
    assert_int_equal(atomic_load(&between.accepted), 1);
    const long answer = atomic_load(&between.replies);
    atomic_store(&between.cuts, true);
    int64_t begun_ms = proxy_now_ms();
    while ((atomic_load(&between.accepted) < 2 || atomic_load(&between.replies) == answer) &&
           proxy_now_ms() - begun_ms < 30000) {
        nanosleep(&nap, NULL);
    }
    const long before = atomic_load(&between.accepted);
    assert_in_range(before, 2, 1000);
    nanosleep(&nap, NULL); /* the library's thread may read the reply; the test holds without it */
    assert_int_equal(firn_store_reserve(store, &request, &first, &held, &error), FIRN_OK);
    assert_int_equal(first, 10);
    assert_in_range(atomic_load(&between.accepted), before + 1, 1000);
    firn_store_close(store);
    proxy_stop(&between);
}

static void returns_the_time(void **state) {
    char url[200];
    firn_store *store = NULL;
    firn_error error = {0};
    firn_time now;
    (void)state;
    snprintf(url, sizeof url, "zookeeper://%s/new/clock", place());
    assert_int_equal(opened(&store, url, &error), FIRN_OK);
    if (firn_store_now(store, &now, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    firn_store_close(store);
    assert_true(llabs(now.sec - (int64_t)time(NULL)) <= 600); /* the same machine's */
}

/* To ask for the time is to write, and what the path of the URL holds stays as it was. */
static void the_clock_changes_nothing(void **state) {
    char url[200];
    firn_store *store = NULL;
    firn_error error = {0};
    firn_time now;
    (void)state;
    snprintf(url, sizeof url, "zookeeper://%s/held", place());
    granted(url, "snow", 0); /* /held/snow has data */
    snprintf(url, sizeof url, "zookeeper://%s/held/snow", place());
    assert_int_equal(opened(&store, url, &error), FIRN_OK);
    assert_int_equal(firn_store_now(store, &now, &error), FIRN_OK);
    firn_store_close(store);
    snprintf(url, sizeof url, "zookeeper://%s/held", place());
    granted(url, "snow", 10);
}

/* ---- old data -------------------------------------------------------------------------------- */

static int draw(firn_store *store, const char *key, int64_t count, uint64_t grant, int64_t *first) {
    firn_request request = {"orders", ROW, key, count, 0, 1000, grant, "a note", 0};
    firn_error error;
    firn_mark held;
    *first = -1;
    return firn_store_reserve(store, &request, first, &held, &error);
}

static void drawn(firn_store *store, const char *key, int64_t count, uint64_t grant,
                  int64_t expected) {
    int64_t first;
    assert_int_equal(draw(store, key, count, grant, &first), FIRN_OK);
    assert_int_equal(first, expected);
}

/* A server of the test's own, and a handle that drew numbers from it. */
static test_engine *server_of(int number, firn_store **store) {
    firn_error error = {0};
    test_engine *engine = engine_of("zookeeper", number, "");
    if (engine == NULL) {
        assert_true(engine_missing("zookeeper", number));
        skip();
    }
    assert_int_equal(opened(store, engine->url, &error), FIRN_OK);
    drawn(*store, "1", 10, 1, 0);
    return engine;
}

/* A handle's grants are not granted to it again when the key itself was forgotten. */
static void a_lost_key_is_noticed(void **state) {
    firn_store *store = NULL;
    int64_t first;
    (void)state;
    test_engine *engine = server_of(2, &store);
    assert_true(engine_do(engine, "save", 0));
    drawn(store, "2", 10, 2, 0);
    assert_true(engine_do(engine, "restore", 0));
    assert_int_equal(draw(store, "2", 10, 3, &first),
                     FIRN_EBACK); /* once it has noticed, for all: */
    assert_int_equal(draw(store, "1", 10, 4, &first), FIRN_EBACK);
    firn_store_close(store);
}

/* In another history the same version belongs to something else, which is not lowered. */
static void a_new_ensemble_keeps_its_marks(void **state) {
    firn_store *store = NULL, *other = NULL;
    firn_mark held;
    int64_t first;
    char line[700];
    (void)state;
    test_engine *engine = server_of(3, &store);
    assert_true(engine_do(engine, "kill", 0));
    snprintf(line, sizeof line, "rm -r '%s/data/zk/version-2'", engine->folder);
    assert_int_equal(system(line), 0);
    assert_true(engine_do(engine, "restart", 0));
    assert_int_equal(opened(&other, engine->url, NULL), FIRN_OK);
    drawn(other, "1", 500, 2, 0);
    assert_int_equal(draw(store, "1", 10, 3, &first), FIRN_EBACK); /* of another store */
    assert_int_equal(draw(other, "1", 10, 4, &first), FIRN_EBACK);
    firn_request guarded = {"orders", ROW, "1", 10, 0, 1000, 5, "", 100};
    assert_int_equal(firn_store_reserve(store, &guarded, &first, &held, NULL), FIRN_OK);
    assert_int_equal(first, 500);
    drawn(other, "1", 10, 6, 510);
    firn_store_close(other);
    firn_store_close(store);
}

/* A namespace's records become another's only by their own path: a namespace read as a key
 * is refused. */
static void other_znodes_are_refused(void **state) {
    char url[200];
    (void)state;
    snprintf(url, sizeof url, "zookeeper://%s/foreign/snow", place());
    granted(url, "1", 0); /* makes /foreign/snow, without data, and /foreign/snow/1 */
    snprintf(url, sizeof url, "zookeeper://%s/foreign", place());
    refused(url, FIRN_ESTORE, "not firn's");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        {"wrong URLs are refused by what is wrong", urls_are_checked, NULL, NULL, NULL},
        {"several hosts and a path of several names", several_hosts, NULL, NULL, NULL},
        {"what a user made is that user's alone", rights, NULL, NULL, NULL},
        {"nothing is printed", nothing_is_printed, NULL, NULL, NULL},
        {"another connection is the store's own", another_connection_is_the_stores_own, NULL, NULL,
         NULL},
        {"the leader's clock is reported", returns_the_time, NULL, NULL, NULL},
        {"asking for the time changes nothing", the_clock_changes_nothing, NULL, NULL, NULL},
        {"a key that was lost is not a new one", a_lost_key_is_noticed, NULL, NULL, NULL},
        {"a new ensemble keeps its marks", a_new_ensemble_keeps_its_marks, NULL, NULL, NULL},
        {"znodes of others are refused", other_znodes_are_refused, NULL, NULL, NULL},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
