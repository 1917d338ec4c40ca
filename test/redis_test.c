/* SPDX-License-Identifier: MIT */
/* The store on Redis where it is unlike others: servers that may lose marks, another run of the
 * server, plain counters, logins, TLS, replies that get lost. The verbs as such are
 * store_test.c's. */
#include "asking.h"

#include <fcntl.h>
#include <signal.h>

#define INTEGER "integer"

static test_engine *server;

static int start_server(void **state) {
    (void)state;
    server = engine_of("redis", 1, "");
    return 0;
}

/* The answer of redis-cli to a command, one line. */
__attribute__((format(printf, 2, 3))) static void cli(char answer[100], const char *format, ...) {
    char command[600];
    va_list arguments;
    int length =
        snprintf(command, sizeof command, "redis-cli -p %d ", atoi(strrchr(server->url, ':') + 1));
    va_start(arguments, format);
    vsnprintf(command + length, sizeof command - (size_t)length, format, arguments);
    va_end(arguments);
    strcat(command, " 2>&1");
    FILE *out = popen(command, "r");
    assert_non_null(out);
    answer[0] = '\0';
    if (fgets(answer, 100, out) != NULL) {
        answer[strcspn(answer, "\n")] = '\0';
    }
    pclose(out);
}

static void set(const char *name, const char *value) {
    char answer[100];
    cli(answer, "CONFIG SET %s '%s'", name, value);
    assert_string_equal(answer, "OK");
}

/* A URL of the server with a prefix of the test's own; lives until the fourth call after this. */
static const char *url_of(const char *prefix, const char *more) {
    static char urls[4][500];
    static unsigned next;
    char *url = urls[next++ % 4];
    server = needed("redis", 1, "");
    snprintf(url, sizeof urls[0], "%s?prefix=%s%s", server->url, prefix, more);
    return url;
}

/* ---- what may lose marks --------------------------------------------------------------------- */

static void settings_that_forget(void **state) {
    static const struct {
        const char *name, *bad, *good, *what;
    } settings[] = {
        {"appendonly", "no", "yes", "appendonly"},
        {"appendfsync", "everysec", "always", "appendfsync"},
        {"appendfsync", "no", "always", "appendfsync"},
        {"no-appendfsync-on-rewrite", "yes", "no", "no-appendfsync-on-rewrite"},
        {"maxmemory-policy", "allkeys-lru", "noeviction", "maxmemory-policy"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        const char *url = url_of("settings", ""), *unsafe = url_of("settings", "&unsafe=1");
        set(settings[i].name, settings[i].bad);
        not_opened(url, settings[i].what);
        not_opened(url, "unsafe=1");
        firn_store *store = open_store("%s", unsafe);
        assert_non_null(strstr(firn_store_caution(store), settings[i].what));
        set(settings[i].name, settings[i].good);
        firn_store_close(store);
        store = open_store("%s", url);
        assert_null(firn_store_caution(store));
        firn_store_close(store);
    }
}

static void settings_that_cannot_be_seen(void **state) {
    char answer[100], url[400];
    (void)state;
    url_of("hidden", "");
    cli(answer, "ACL SETUSER limited on '>secret' '~*' +@all -config");
    assert_string_equal(answer, "OK");
    snprintf(url, sizeof url, "redis://limited:secret@127.0.0.1:%d/?prefix=hidden",
             url_port(server->url));
    not_opened(url, "CONFIG GET is forbidden");
    firn_store *store = open_store("%s&unsafe=1", url);
    assert_non_null(strstr(firn_store_caution(store), "CONFIG GET"));
    drawn(store, "snow", 1, 0, 0);
    firn_store_close(store);
}

/* Until the server has this many replicas. */
static void await_replicas(int count) {
    char answer[100] = "", expected[40];
    snprintf(expected, sizeof expected, "connected_slaves:%d", count);
    for (double end_s = now_s() + PATIENCE_S; strcmp(answer, expected) != 0; nap()) {
        cli(answer, "INFO replication | tr -d '\\r' | grep connected_slaves");
        assert_true(now_s() < end_s);
    }
}

static void servers_that_fail_over(void **state) {
    char options[100];
    (void)state;
    const char *url = url_of("replicas", "");
    snprintf(options, sizeof options, "--replicaof 127.0.0.1 %d", url_port(server->url));
    const test_engine *replica = needed("redis", 2, options);
    not_opened(replica->url, "replica");
    char unsafe[300];
    snprintf(unsafe, sizeof unsafe, "%s?unsafe=1", replica->url);
    not_opened(unsafe, "replica");
    await_replicas(1);
    not_opened(url, "replicas");
    firn_store *store = open_store("%s", url_of("replicas", "&unsafe=1"));
    assert_non_null(strstr(firn_store_caution(store), "replicas"));
    firn_store_close(store);
    /* Of several hosts the replica is passed over. */
    store = open_store("redis://127.0.0.1:%d,127.0.0.1:%d/?prefix=replicas&unsafe=1",
                       url_port(replica->url), url_port(server->url));
    drawn(store, "snow", 1, 0, 0);
    firn_store_close(store);
    engine_run(NULL, 0, "kill '%s'", replica->folder);
    await_replicas(0);
}

static void clusters(void **state) {
    (void)state;
    const test_engine *engine = needed("redis", 3, "--cluster-enabled yes");
    int port = url_port(engine->url);
    not_opened(engine->url, "cluster");
    assert_true(run("redis-cli -p %d CLUSTER ADDSLOTSRANGE 0 16383 >/dev/null", port));
    firn_store *store = NULL;
    firn_error error = {0};
    char url[300];
    snprintf(url, sizeof url, "%s?unsafe=1", engine->url);
    /* Until it has found that its slots are all there. */
    for (double end_s = now_s() + PATIENCE_S; try_open(&store, url, NULL, &error) != FIRN_OK;
         nap()) {
        assert_true(now_s() < end_s);
    }
    assert_non_null(strstr(firn_store_caution(store), "cluster"));
    drawn(store, "snow", 1, 0, 0); /* all its keys are in one slot, else the script is refused */
    assert_int_equal(mark_of(store, "snow").high, 10);
    firn_store_close(store);
}

/* ---- another run ----------------------------------------------------------------------------- */

static void another_run_is_guarded(void **state) {
    const int64_t guard = (INT64_C(1) << 60) + 3; /* no double holds it */
    (void)state;
    firn_store *store = open_store("%s", url_of("runs", ""));
    drawn(store, "snow", 1, 0, 0);
    drawn(store, "orders", 2, 0, 0);
    assert_true(engine_do(server, "restart", 0));
    not_drawn(store, "snow", 3, FIRN_EBACK, "has changed or lost reservations");
    not_drawn(store, "orders", 4, FIRN_EBACK, "has changed or lost reservations");
    drawn(store, "snow", 5, guard, guard);
    drawn(store, "snow", 6, guard + 1000, guard + 10); /* once is enough */
    not_drawn(store, "orders", 7, FIRN_EBACK, "has changed or lost reservations");
    drawn(store, "orders", 8, 500, 500);
    drawn(store, "orders", 9, 0, 510);
    firn_store_close(store);
}

/* The floor applies to every key of the namespace, and has no grant. */
static void another_run_guards_every_key(void **state) {
    firn_request request = {"snow", ROW, "1", 10, 0, 0, 1, "", 0};
    firn_error error = {0};
    firn_mark held = {0, 0};
    int64_t first = -1;
    (void)state;
    firn_store *store = open_store("%s", url_of("keys", ""));
    assert_int_equal(firn_store_reserve(store, &request, &first, &held, &error), FIRN_OK);
    assert_true(engine_do(server, "restart", 0));
    request.guard = 1000;
    request.latest = 900;
    assert_int_equal(firn_store_reserve(store, &request, &first, &held, &error), FIRN_EBUSY);
    assert_int_equal(held.high, 1000);
    assert_true(held.grant == 0); /* though the mark's is the request's own */
    request.key = "2";
    request.guard = 0;
    assert_int_equal(firn_store_reserve(store, &request, &first, &held, &error), FIRN_EBUSY);
    request.latest = 2000;
    assert_int_equal(firn_store_reserve(store, &request, &first, &held, &error), FIRN_OK);
    assert_int_equal(first, 1000);
    firn_store_close(store);
}

static void an_old_snapshot_is_guarded(void **state) {
    (void)state;
    firn_store *store = open_store("%s", url_of("snapshot", ""));
    drawn(store, "snow", 1, 0, 0);
    assert_true(run("cp -a '%s/data/appendonlydir' '%s/old'", server->folder, server->folder));
    drawn(store, "snow", 2, 0, 10);
    assert_true(engine_do(server, "kill", 0));
    assert_true(run("rm -r '%s/data/appendonlydir' && mv '%s/old' '%s/data/appendonlydir'",
                    server->folder, server->folder, server->folder));
    assert_true(engine_do(server, "restart", 0));
    not_drawn(store, "snow", 3, FIRN_EBACK, "has changed or lost reservations");
    assert_int_equal(mark_of(store, "snow").high, 10); /* the store did go back */
    drawn(store, "snow", 4, 1000, 1000);
    firn_store_close(store);
}

static void a_lost_namespace_is_guarded(void **state) {
    char answer[100];
    (void)state;
    firn_store *store = open_store("%s", url_of("lost", ""));
    drawn(store, "snow", 1, 0, 0);
    cli(answer, "DEL '{lost}' '{lost}:snow'");
    not_drawn(store, "snow", 2, FIRN_EBACK, "has changed or lost reservations");
    not_drawn(store, "other", 3, FIRN_EBACK, "has changed or lost reservations"); /* who knows? */
    drawn(store, "snow", 4, 1000, 1000);
    firn_store_close(store);
}

/* ---- exchanges ------------------------------------------------------------------------------- */

static int scripts_run(void) {
    char answer[100];
    cli(answer, "INFO commandstats | grep cmdstat_evalsha: | sed 's/.*:calls=//; s/,.*//'");
    return atoi(answer);
}

/* Also if another process raises the same mark in turns. */
static void a_renewal_is_one_script(void **state) {
    (void)state;
    firn_store *store = open_store("%s", url_of("turns", ""));
    firn_store *two = open_store("%s", url_of("turns", ""));
    drawn(store, "snow", 1, 0, 0);
    drawn(two, "snow", 2, 0, 10);
    const int before = scripts_run();
    for (int i = 2; i < 12; i++) {
        drawn(i % 2 == 0 ? store : two, "snow", (uint64_t)i + 1, 0, (int64_t)10 * i);
    }
    assert_int_equal(scripts_run() - before, 10);
    firn_store_close(store);
    firn_store_close(two);
}

static void raise_hot(void) {
    char answer[100];
    cli(answer, "HINCRBY '{hot}:snow' 'high 1' 10");
}

/* Others raise the mark between each read and the write after it: a write of other records than the
 * mark is not late. */
static void a_hot_mark_delays_no_other_record(void **state) {
    mishap raised = {"reserve.before", raise_hot, ""};
    const firn_relabel change = {"snow", ROW, "closed (for a test): " ROW, 0, false};
    firn_store *store = NULL;
    firn_error error = {0};
    int64_t floor;
    char answer[100];
    (void)state;
    assert_int_equal(try_open(&store, url_of("hot", ""), &raised, &error), FIRN_OK);
    raised.name = NULL;
    drawn(store, "snow", 1, 0, 0);
    raised = (mishap){"relabel.before", raise_hot, ""};
    assert_int_equal(firn_store_relabel(store, &change, &floor, &error), FIRN_OK);
    cli(answer, "HSET '{hot}:snow' layout '" ROW "'");
    cli(answer, "HSET '{hot}:' identity another");
    raised = (mishap){"reserve.before", raise_hot, ""};
    not_drawn(store, "snow", 2, FIRN_EBACK, "has changed or lost reservations");
    cli(answer, "HGET '{hot}:' losses");
    assert_string_equal(answer, "1");
    firn_store_close(store);
}

/* ---- logins ---------------------------------------------------------------------------------- */

/* An older firn called the field of the layout by another name. */
static void an_older_namespace_is_refused(void **state) {
    char answer[100];
    (void)state;
    firn_store *store = open_store("%s", url_of("older", ""));
    drawn(store, "snow", 1, 0, 0);
    cli(answer, "HDEL '{older}:snow' layout");
    cli(answer, "HSET '{older}:snow' row '" ROW "'");
    not_drawn(store, "snow", 2, FIRN_ENAMESPACE, "has no layout");
    const firn_relabel change = {"snow", NULL, "closed (for a test): " ROW, 0};
    firn_error error;
    int64_t floor;
    assert_int_equal(firn_store_relabel(store, &change, &floor, &error), FIRN_ENAMESPACE);
    assert_non_null(strstr(error.text, "is damaged or of an older firn"));
    cli(answer, "HSET '{older}:snow' layout '" ROW "'");
    drawn(store, "snow", 3, 0, 10);
    firn_store_close(store);
}

static void logins(void **state) {
    char path[400], answer[100], url[600];
    (void)state;
    url_of("login", "");
    int port = url_port(server->url);
    cli(answer, "ACL SETUSER ann on '>secret:/@' '~*' +@all");
    assert_string_equal(answer, "OK");
    set("requirepass", "secret");
    snprintf(url, sizeof url, "redis://127.0.0.1:%d/?prefix=login", port);
    not_opened(url, "needs a password");
    snprintf(url, sizeof url, "redis://:secretly@127.0.0.1:%d/?prefix=login", port);
    not_opened(url, "WRONGPASS");
    snprintf(url, sizeof url, "redis://127.0.0.1:%d/?prefix=login&password-file=/nowhere", port);
    not_opened(url, "password-file=/nowhere");
    /* Nor if the URL is wrong and the password is in another place. */
    not_opened("Redis://ann:secret@127.0.0.1/", "'Redis' is not a kind of store");
    not_opened("redis://ann:12/secret@127.0.0.1/", "after a /");
    firn_store_close(open_store("redis://:secret@127.0.0.1:%d/?prefix=login", port));
    firn_store_close(open_store("redis://ann:secret%%3a%%2F%%40@127.0.0.1:%d/?prefix=login", port));
    snprintf(path, sizeof path, "%s/password", server->folder);
    assert_true(run("echo secret >'%s'", path));
    firn_store_close(open_store("redis://127.0.0.1:%d/?prefix=login&password-file=%s", port, path));
    setenv("REDISCLI_AUTH", "secret", 1);
    firn_store_close(open_store("redis://127.0.0.1:%d/?prefix=login", port));
    cli(answer, "CONFIG SET requirepass ''");
    unsetenv("REDISCLI_AUTH");
    assert_string_equal(answer, "OK");
}

/* The permissions that docs/reference/stores.md names. */
static void few_permissions(void **state) {
    static const char few[] = "+eval +evalsha +hmget +hset +hincrby +hscan +sscan +sadd +exists "
                              "+info +time \"+config|get\"";
    char answer[100];
    firn_time now;
    (void)state;
    url_of("few", "");
    cli(answer, "ACL SETUSER few on '>secret' '~{few}*' -@all %s", few);
    assert_string_equal(answer, "OK");
    firn_store *store =
        open_store("redis://few:secret@127.0.0.1:%d/?prefix=few", url_port(server->url));
    drawn(store, "snow", 1, 0, 0);
    const firn_mark mine = {10, 1};
    assert_int_equal(firn_store_give_back(store, "snow", "1", &mine, 0, NULL), FIRN_OK);
    assert_int_equal(mark_of(store, "snow").high, 0);
    assert_int_equal(firn_store_list(store, NULL, keep_mark, &(firn_mark){0}, NULL), FIRN_OK);
    assert_int_equal(firn_store_now(store, &now, NULL), FIRN_OK);
    firn_store_close(store);
}

static void databases_are_apart(void **state) {
    (void)state;
    url_of("databases", "");
    int port = url_port(server->url);
    firn_store *zero = open_store("redis://127.0.0.1:%d?prefix=databases", port);
    firn_store *seven = open_store("redis://127.0.0.1:%d/7?prefix=databases", port);
    char url[200];
    drawn(zero, "snow", 1, 0, 0);
    drawn(seven, "snow", 2, 0, 0);
    firn_store_close(zero);
    firn_store_close(seven);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d/99", port);
    not_opened(url, "the database");
    snprintf(url, sizeof url, "redis://127.0.0.1:%d/x", port);
    not_opened(url, "number of a database");
    snprintf(url, sizeof url, "redis://127.0.0.1:%d/?prefx=a", port);
    not_opened(url, "prefx");
}

static void by_tls(void **state) {
    char folder[] = "/tmp/firn-redis-tls-XXXXXX", options[600], url[600];
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_true(make_certificates(folder));
    snprintf(options, sizeof options,
             "--tls-ca-cert-file '%s/ca.pem' --tls-cert-file '%s/server.pem' "
             "--tls-key-file '%s/server.key'",
             folder, folder, folder);
    const test_engine *engine = needed("redis", 4, options);
    int port = engine_spare_port(engine, 1);
    char more[200];
    snprintf(more, sizeof more, "cert=%s/client.pem&key=%s/client.key", folder, folder);
    firn_store *store =
        open_store("redis://127.0.0.1:%d/?tls=1&ca=%s/ca.pem&%s", port, folder, more);
    for (uint64_t i = 1; i <= 20; i++) {
        drawn(store, "snow", i, 0, (int64_t)(i - 1) * 10);
    }
    assert_int_equal(mark_of(store, "snow").high, 200);
    firn_store_close(store);
    store = open_store("rediss://127.0.0.1:%d/?ca=%s/ca.pem&%s", port, folder, more);
    drawn(store, "snow", 21, 0, 200);
    firn_store_close(store);
    firn_store_close(open_store("rediss://127.0.0.1:%d/?verify=0&%s", port, more));
    snprintf(url, sizeof url, "rediss://127.0.0.1:%d/?%s", port, more);
    not_opened(url, "The certificate is NOT trusted"); /* nobody whom this machine trusts made it */
    not_opened(url, "ca=FILE");
    snprintf(url, sizeof url, "rediss://localhost:%d/?ca=%s/ca.pem&%s", port, folder, more);
    not_opened(url, "certificate"); /* the certificate is another server's */
    snprintf(url, sizeof url, "rediss://127.0.0.1:%d/?ca=%s/ca.pem", port, folder);
    not_opened(url, "cannot be used"); /* the server requires a login */
    snprintf(url, sizeof url, "rediss://127.0.0.1:%d/?connect_timeout=300ms",
             url_port(engine->url));
    not_opened(url, "does not accept TLS"); /* the others have the same port */
    snprintf(url, sizeof url, "redis://127.0.0.1:%d/?ca=%s/ca.pem", port, folder);
    not_opened(url, "tls=1");
    assert_true(run("rm -r '%s'", folder));
}

/* ---- faults ---------------------------------------------------------------------------------- */

static void forgotten_scripts_are_sent_again(void **state) {
    char answer[100];
    (void)state;
    firn_store *store = open_store("%s", url_of("scripts", ""));
    drawn(store, "snow", 1, 0, 0);
    cli(answer, "SCRIPT FLUSH");
    drawn(store, "snow", 2, 0, 10);
    firn_store_close(store);
}

static void back_after_a_restart(void **state) {
    (void)state;
    firn_store *store = open_store("%s", url_of("back", ""));
    drawn(store, "snow", 1, 0, 0);
    assert_true(engine_do(server, "kill", 0));
    not_drawn_soon(store, "snow", 2, "refused");
    /* Soon nobody is asked any more for a while: how soon depends on how busy this machine is. */
    bool waits = false;
    for (uint64_t i = 0; i < 50 && !waits; i++) {
        firn_error error = {0};
        firn_mark held;
        int64_t first = -1;
        assert_int_equal(draw(store, "snow", 0, 3 + i, 0, &first, &held, &error), FIRN_ESTORE);
        waits = strstr(error.text, "retried within") != NULL;
        assert_true(waits || strstr(error.text, "refused") != NULL);
    }
    assert_true(waits);
    assert_true(engine_do(server, "restart", 0));
    drawn_at_last(store, "snow", 99);
    firn_store_close(store);
}

/* A server's name is looked up by a thread, which is the parent's: the child needs another one. */
static void a_child_finds_the_name(void **state) {
    int status = -1;
    (void)state;
    url_of("named", "");
    firn_store *store = open_store("redis://localhost:%d/?prefix=named", url_port(server->url));
    pid_t born = fork();
    if (born == 0) {
        firn_error error = {0};
        firn_mark held;
        int64_t first = -1;
        int code = draw(store, "snow", 0, 1, 0, &first, &held, &error);
        firn_store_close(store);
        _exit(code == FIRN_OK && first == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(born, &status, 0), born);
    assert_int_equal(status, 0);
    drawn(store, "snow", 2, 0, 10);
    firn_store_close(store);
}

/* ---- plain counters -------------------------------------------------------------------------- */

static firn_segment *range_of(firn_store *store, const char *name, const char *keys) {
    firn_segment *range = NULL;
    firn_error error = {0};
    if (firn_segment_open(&range, name, keys, store, NULL, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return range;
}

static void next_is(firn_segment *range, int64_t expected) {
    int64_t value = -1;
    firn_error error = {0};
    if (firn_segment_next(range, &value, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(value, expected);
}

static void count_is(const char *name, const char *expected) {
    char answer[100];
    cli(answer, "GET %s", name);
    assert_string_equal(answer, expected);
}

static void counters_are_increments(void **state) {
    char answer[100];
    (void)state;
    firn_store *store = open_store("%s", url_of("counters", "&counters=1"));
    firn_segment *serial = range_of(store, "orders", "kind=serial");
    cli(answer, "DEL orders bills");
    next_is(serial, 1);
    count_is("orders", "1");
    cli(answer, "INCR orders"); /* 2 is theirs */
    next_is(serial, 3);
    cli(answer, "INCRBY orders 10");
    next_is(serial, 14);
    count_is("orders", "14");
    firn_segment_close(serial, NULL);
    firn_segment *started = range_of(store, "bills", "kind=serial start=9007199254740993 step=2");
    next_is(started, INT64_C(9007199254740993));
    next_is(started, INT64_C(9007199254740994));
    count_is("bills", "9007199254740994");
    cli(answer, "INCR bills");
    assert_string_equal(answer, "9007199254740995");
    next_is(started, INT64_C(9007199254740996));
    firn_segment_close(started, NULL); /* gives nothing back: it is not known who counted last */
    count_is("bills", "9007199254740997");
    assert_int_equal(mark_of(store, "integer bills").high, INT64_C(9007199254740998));
    firn_store_close(store);
}

static void counters_end(void **state) {
    char answer[100];
    int64_t value;
    firn_error error = {0};
    (void)state;
    firn_store *store = open_store("%s", url_of("counters", "&counters=1"));
    cli(answer, "SET few 7");
    firn_segment *few = range_of(store, "few", "kind=segment step=100 end=9");
    next_is(few, 8);
    next_is(few, 9);
    assert_int_equal(firn_segment_next(few, &value, &error), FIRN_EEND);
    count_is("few", "9");
    firn_segment_close(few, NULL);
    firn_store_close(store);
}

static void counters_refuse(void **state) {
    static const struct {
        const char *value, *what;
    } bad[] = {{"abc", "not a counter"},
               {"-3", "not a counter"},
               {"1.5", "not a counter"},
               {"007", "not a counter"},
               {"99999999999999999999", "not a counter"},
               {"5 EX 1000", "PERSIST"}};
    char answer[100];
    (void)state;
    firn_store *store = open_store("%s", url_of("counters", "&counters=1"));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        firn_request request = {"integer odd", INTEGER, "1", 1, 1, FIRN_SLOT_MAX - 1, 5, "", 0};
        firn_error error = {0};
        firn_mark held;
        int64_t first = -1;
        cli(answer, "SET odd %s", bad[i].value);
        assert_int_equal(firn_store_reserve(store, &request, &first, &held, &error), FIRN_ESTORE);
        assert_non_null(strstr(error.text, bad[i].what));
    }
    not_drawn(store, "snow", 1, FIRN_EUSAGE, "counters=1");
    not_drawn(store, "integer odd", 1, FIRN_EUSAGE,
              "counters=1"); /* its layout is not an integer's */
    assert_int_equal(firn_store_list(store, NULL, keep_mark, NULL, NULL), FIRN_EUSAGE);
    firn_store_close(store);
}

#define TOGETHER 3000

/* Other clients count on the same key at the same time: every integer from 1 on is given once. */
static void counters_are_shared(void **state) {
    static char seen[3 * TOGETHER];
    char answer[100], path[400];
    int64_t value, highest = 0;
    (void)state;
    firn_store *store = open_store("%s", url_of("counters", "&counters=1"));
    cli(answer, "DEL shared");
    snprintf(path, sizeof path, "%s/counted", server->folder);
    const pid_t child = fork();
    if (child == 0) {
        _exit(run("redis-cli -p %d -r %d INCR shared >'%s'", url_port(server->url), TOGETHER, path)
                  ? 0
                  : 1);
    }
    firn_segment *range = range_of(store, "shared", "kind=segment step=7 adapt=0");
    for (int i = 0; i < TOGETHER; i++) {
        assert_int_equal(firn_segment_next(range, &value, NULL), FIRN_OK);
        assert_true(value >= 1 && value < (int64_t)sizeof seen);
        assert_int_equal(seen[value]++, 0);
        highest = value > highest ? value : highest;
    }
    int status = -1, theirs = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    FILE *counted = fopen(path, "re");
    assert_non_null(counted);
    for (; fgets(answer, sizeof answer, counted) != NULL; theirs++) {
        value = atoll(answer);
        assert_true(value >= 1 && value < (int64_t)sizeof seen);
        assert_int_equal(seen[value]++, 0);
    }
    fclose(counted);
    assert_int_equal(theirs, TOGETHER);
    firn_segment_close(range, NULL);
    firn_store_close(store);
}

/* ---- the table of tests ---------------------------------------------------------------------- */

int main(void) {
    const struct CMUnitTest tests[] = {
        {"settings that forget are refused, or cautioned", settings_that_forget, 0, 0, 0},
        {"settings that cannot be seen are refused", settings_that_cannot_be_seen, 0, 0, 0},
        {"replicas are refused, and primaries that have some", servers_that_fail_over, 0, 0, 0},
        {"clusters are refused; all keys are in one slot", clusters, 0, 0, 0},
        {"after another run nothing is granted before the guard", another_run_is_guarded, 0, 0, 0},
        {"the guard applies to every key", another_run_guards_every_key, 0, 0, 0},
        {"an old snapshot grants nothing before the guard", an_old_snapshot_is_guarded, 0, 0, 0},
        {"a namespace that was lost is not new", a_lost_namespace_is_guarded, 0, 0, 0},
        {"a renewal is one script", a_renewal_is_one_script, 0, 0, 0},
        {"a hot mark delays no other record", a_hot_mark_delays_no_other_record, 0, 0, 0},
        {"a namespace of an older firn is refused", an_older_namespace_is_refused, 0, 0, 0},
        {"logins by URL, file and environment; no message has them", logins, 0, 0, 0},
        {"the permissions of the documentation are enough", few_permissions, 0, 0, 0},
        {"databases are apart, parameters are known", databases_are_apart, 0, 0, 0},
        {"TLS: who is there, and who asks", by_tls, 0, 0, 0},
        {"scripts that the server forgot are sent again", forgotten_scripts_are_sent_again, 0, 0,
         0},
        {"after a restart it continues automatically", back_after_a_restart, 0, 0, 0},
        {"a child finds the server by its name", a_child_finds_the_name, 0, 0, 0},
        {"plain counters are what INCR counts", counters_are_increments, 0, 0, 0},
        {"plain counters end", counters_end, 0, 0, 0},
        {"anything but a plain counter is refused", counters_refuse, 0, 0, 0},
        {"plain counters are shared with other clients", counters_are_shared, 0, 0, 0},
    };
    return cmocka_run_group_tests_name("redis", tests, start_server, NULL);
}
