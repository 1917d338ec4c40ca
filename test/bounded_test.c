/* SPDX-License-Identifier: MIT */
/* A store whose every answer comes late, but in time for its own time-out, holds no call longer
 * than max_wait and what is under way. Each answer is stalled by a proxy; a verb needs many of
 * them. */
#include "engines.h"
#include "proxy.h"

#include "../modules/module.h"

#include <dlfcn.h>
#include <firn/firn.h>
#include <netdb.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define STALL_MS 900
/* A verb begins nothing after connect_timeout and timeout, which are more than max_wait. Without
 * that bound MariaDB is opened in 11 s at the least. */
#define MOST_MS 9000

static int64_t now_ms(void) {
    return proxy_now_ms();
}

/* The URL with the proxy's port for the engine's. */
static void through(char out[ENGINE_URL_SIZE + 40], const char *url, int port, const char *more) {
    const char *colon = strrchr(url, ':');
    const char *rest = colon + 1 + strspn(colon + 1, "0123456789");
    snprintf(out, ENGINE_URL_SIZE + 40, "%.*s:%d%s%s%s", (int)(colon - url), url, port, rest,
             strchr(rest, '?') != NULL ? "&" : "?", more);
}

static void a_slow_engine_is_bounded(const char *kind, const char *more) {
    static test_proxy between;
    char url[ENGINE_URL_SIZE + 40];
    firn_error error = {0};
    firn_gen *gen = NULL;
    firn_id id;
    test_engine *server = engine_of(kind, 0, "");
    if (server == NULL) {
        assert_true(engine_missing(kind, 0));
        skip();
    }
    assert_true(proxy_start(&between, atoi(strrchr(server->url, ':') + 1)));
    through(url, server->url, between.port, more);
    firn_config config = {.size = sizeof config,
                          .scheme = "snowflake",
                          .keys = "max_wait=1s window=200ms",
                          .store_url = url};
    atomic_store(&between.stall_ms, STALL_MS);
    atomic_store(&between.fault, PROXY_STALLED);
    int64_t begun_ms = now_ms();
    int code = firn_open_with(&gen, &config, &error);
    int64_t took_ms = now_ms() - begun_ms;
    printf("# %s: open %d in %ld ms: %s\n", kind, code, (long)took_ms, error.text);
    assert_true(took_ms < MOST_MS);
    atomic_store(&between.fault, PROXY_NONE);
    for (int i = 0; gen == NULL && i < 100; i++) { /* of a slow machine */
        code = firn_open_with(&gen, &config, &error);
    }
    assert_int_equal(code, FIRN_OK);
    atomic_store(&between.fault, PROXY_DEAF);
    begun_ms = now_ms();
    while (firn_next(gen, &id, &error) == FIRN_OK) { /* until the window ends */
        assert_true(now_ms() - begun_ms < 3 * MOST_MS);
    }
    begun_ms = now_ms();
    firn_next(gen, &id, &error);
    took_ms = now_ms() - begun_ms;
    printf("# %s: next in %ld ms: %s\n", kind, (long)took_ms, error.text);
    assert_true(took_ms < MOST_MS);
    begun_ms = now_ms();
    firn_close(gen, &error);
    printf("# %s: close in %ld ms\n", kind, (long)(now_ms() - begun_ms));
    assert_true(now_ms() - begun_ms < MOST_MS);
    atomic_store(&between.fault, PROXY_NONE);
    proxy_stop(&between);
}

static void a_slow_mysql_is_bounded(void **state) {
    (void)state;
    a_slow_engine_is_bounded("mysql", "tls=off&connect_timeout=3s");
}

static void a_slow_postgres_is_bounded(void **state) {
    (void)state;
    a_slow_engine_is_bounded("postgres", "tls=off&connect_timeout=3s");
}

static void a_slow_etcd_is_bounded(void **state) {
    (void)state;
    a_slow_engine_is_bounded("etcd", "timeout=1s");
}

static void a_slow_zookeeper_is_bounded(void **state) {
    (void)state;
    a_slow_engine_is_bounded("zookeeper", "timeout=1s");
}

static void a_slow_redis_is_bounded(void **state) {
    (void)state;
    a_slow_engine_is_bounded("redis", "timeout=1s");
}

/* Replaces the C library's, for the modules and their libraries too: a name server does not
 * answer. */
int getaddrinfo(const char *name, const char *port, const struct addrinfo *hints,
                struct addrinfo **found) {
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");
    memcpy(&real, &symbol, sizeof real);
    if (name != NULL && strcmp(name, "db.example") == 0) {
        if (hints == NULL || (hints->ai_flags & AI_NUMERICHOST) == 0) {
            sleep(10);
        }
        return EAI_NONAME;
    }
    return real(name, port, hints, found);
}

/* The host comes from the URL, from MariaDB's defaults-file, or from libpq's environment. */
static void a_slow_name_server_is_bounded(void **state) {
    static const char *const urls[] = {"mysql://db.example/d", "postgres://db.example/d",
                                       "etcd://db.example",    "zookeeper://db.example",
                                       "redis://db.example",   "mysql:///d?defaults-file=",
                                       "postgres:///d"};
    char path[] = "/tmp/firn-bounded-XXXXXX", url[200];
    (void)state;
    FILE *file = fdopen(mkstemp(path), "w");
    assert_non_null(file);
    fputs("[mysqld]\nhost = 127.0.0.1\n[client]\nhost = 'db.example'\n", file);
    fclose(file);
    setenv("PGHOST", "/nowhere,db.example", 1);
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        snprintf(url, sizeof url, "%s%s", urls[i], strchr(urls[i], '=') != NULL ? path : "");
        const firn_store_options options = {.wait_ms = 500};
        const int64_t begun_ms = now_ms();
        firn_store *store = NULL;
        firn_error error = {0};
        firn_time now;
        int code = firn_store_open(&store, url, &options, &error);
        if (code == FIRN_OK) { /* the first verb connects */
            code = firn_store_now(store, &now, &error);
        }
        printf("# %s: %d in %ld ms: %s\n", url, code, (long)(now_ms() - begun_ms), error.text);
        assert_int_equal(code, FIRN_ESTORE);
        assert_true(now_ms() - begun_ms < 5000);
        firn_store_close(store);
    }
    unsetenv("PGHOST");
    unlink(path);
}

/* Process 1 of a container may have a child that is process 1 of another: more than the number must
 * differ. */
static void a_child_is_another_process_whatever_its_number(void **state) {
    (void)state;
    int64_t process = 0;
    assert_false(module_forked(&process));
    assert_false(module_forked(&process));
    pid_t child = fork();
    if (child == 0) {
        const bool differs = module_process() >> 32 != process >> 32;
        _exit(differs && module_forked(&process) && !module_forked(&process) ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_false(module_forked(&process));
}

/* The first verb after opening has what opening left of max_wait, but time for one answer; the
 * next ones have all of it. */
static void opening_and_a_verb_share_the_time(void **state) {
    const firn_store_options options = {.wait_ms = 60000};
    module_link link = {.process = 0};
    (void)state;
    assert_int_equal(module_link_read(&link, "redis://h?timeout=900ms", &options, NULL), FIRN_OK);
    const int64_t end_ms = link.end_ms;
    while (module_now_ms() < end_ms - 59990) { /* some of it passes */
    }
    assert_false(module_link_begin(&link)); /* opening */
    assert_int_equal(link.end_ms, end_ms);
    assert_false(module_link_begin(&link));
    assert_int_equal(link.end_ms, end_ms);
    assert_false(module_link_begin(&link));
    assert_true(link.end_ms > end_ms);
    link.shares = 1;
    link.open_end_ms = module_now_ms() + 10;
    assert_false(module_link_begin(&link));
    assert_in_range(link.end_ms - module_now_ms(), 1, 900);
    link.shares = 1;
    link.open_end_ms = module_now_ms(); /* the link was opened long ago */
    assert_false(module_link_begin(&link));
    assert_true(link.end_ms > end_ms);
    module_link_free(&link);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening_and_a_verb_share_the_time),
        cmocka_unit_test(a_child_is_another_process_whatever_its_number),
        cmocka_unit_test(a_slow_name_server_is_bounded),
        cmocka_unit_test(a_slow_mysql_is_bounded),
        cmocka_unit_test(a_slow_postgres_is_bounded),
        cmocka_unit_test(a_slow_etcd_is_bounded),
        cmocka_unit_test(a_slow_zookeeper_is_bounded),
        cmocka_unit_test(a_slow_redis_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
