/* SPDX-License-Identifier: MIT */
/* The store on etcd where it is unlike others: clusters of one and of three members, clusters that
 * were restored, logins, TLS, replies that get lost. The verbs as such are store_test.c's. */
#include "asking.h"

#include <arpa/inet.h>

static test_engine *server;

/* A URL of the server with a prefix of the test's own; lives until the fourth call after this. */
static const char *url_of(const char *prefix, const char *more) {
    static char urls[4][500];
    static unsigned next;
    char *url = urls[next++ % 4];
    server = needed("etcd", 1, "");
    snprintf(url, sizeof urls[0], "%s?prefix=%s/%s", server->url, prefix, more);
    return url;
}

/* ---- the gateway, as anybody may use it ------------------------------------------------------ */

static int dial(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static char login[1500]; /* a header line of every post, or "" */

/* Posts to etcd; `format` makes the body. The answer is kept until the next call. */
__attribute__((format(printf, 3, 4))) static const char *post(int port, const char *path,
                                                              const char *format, ...) {
    static char answer[20000];
    char body[4000], head[2000];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(body, sizeof body, format, arguments);
    va_end(arguments);
    snprintf(head, sizeof head, "POST %s HTTP/1.0\r\n%sContent-Length: %d\r\n\r\n", path, login,
             length);
    int fd = dial(port);
    assert_int_equal(write(fd, head, strlen(head)), strlen(head));
    assert_int_equal(write(fd, body, (size_t)length), length);
    size_t got = 0;
    for (ssize_t n = 1; n > 0 && got<sizeof answer - 1; got += n> 0 ? (size_t)n : 0) {
        n = read(fd, answer + got, sizeof answer - 1 - got);
    }
    answer[got] = '\0';
    close(fd);
    return answer;
}

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void encode(char *out, const char *text) {
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i += 3) {
        unsigned char part[3] = {0};
        memcpy(part, text + i, length - i < 3 ? length - i : 3);
        const unsigned bits = (unsigned)part[0] << 16 | (unsigned)part[1] << 8 | part[2];
        for (int j = 0; j < 4; j++) {
            *out++ = (size_t)j > length - i ? '=' : letters[bits >> (18 - 6 * j) & 63];
        }
    }
    *out = '\0';
}

static void decode(char *out, const char *text, size_t length) {
    unsigned bits = 0;
    int have = 0;
    for (size_t i = 0; i < length && text[i] != '='; i++) {
        bits = bits << 6 | (unsigned)(strchr(letters, text[i]) - letters);
        have += 6;
        if (have >= 8) {
            have -= 8;
            *out++ = (char)(bits >> have & 255);
        }
    }
    *out = '\0';
}

/* A record as text. */
static void get_record(char record[800], const char *key) {
    char name[300];
    encode(name, key);
    const char *answer = post(url_port(server->url), "/v3/kv/range", "{\"key\":\"%s\"}", name);
    const char *value = strstr(answer, "\"value\":\"");
    assert_non_null(value);
    value += strlen("\"value\":\"");
    decode(record, value, strcspn(value, "\""));
}

static void put_record(const char *key, const char *record) {
    char name[300], value[1200];
    encode(name, key);
    encode(value, record);
    const char *answer =
        post(url_port(server->url), "/v3/kv/put", "{\"key\":\"%s\",\"value\":\"%s\"}", name, value);
    assert_non_null(strstr(answer, "200 OK"));
}

/* ---- clusters -------------------------------------------------------------------------------- */

static void one_member_is_cautioned(void **state) {
    (void)state;
    firn_store *store = open_store("%s", url_of("caution", ""));
    assert_non_null(strstr(firn_store_caution(store), "one voting member"));
    firn_store_close(store);
}

static void the_record_is_plain(void **state) {
    char record[800];
    (void)state;
    firn_store *store = open_store("%s", url_of("record", ""));
    drawn(store, "snow", 1, 0, 0);
    get_record(record, "record/namespace/snow");
    assert_int_equal(strncmp(record, "0 ", 2), 0);
    assert_non_null(strstr(record, ROW));
    firn_store_close(store);
}

static void a_restart_changes_nothing(void **state) {
    (void)state;
    firn_store *store = open_store("%s", url_of("restart", ""));
    drawn(store, "snow", 1, 0, 0);
    assert_true(engine_do(server, "kill", 0));
    not_drawn_soon(store, "snow", 2, "cannot be used");
    assert_true(engine_do(server, "restart", 0));
    drawn_at_last(store, "snow", 3);
    assert_int_equal(mark_of(store, "snow").high, 20); /* without guard: the same cluster */
    firn_store_close(store);
    store = open_store("%s", url_of("restart", ""));
    drawn(store, "snow", 4, 0, 20);
    firn_store_close(store);
}

/* `number`: of the store's record 2 the cluster's ID, 3 the term. */
static void plant(const char *key, int number, const char *with) {
    char record[800], planted[900];
    get_record(record, key);
    const char *position = record;
    for (int i = 1; i < number; i++) {
        position = strchr(position, ' ') + 1;
    }
    snprintf(planted, sizeof planted, "%.*s%s%s", (int)(position - record), record, with,
             strchr(position, ' '));
    put_record(key, planted);
}

static void another_cluster_is_guarded(void **state) {
    static const struct {
        int number;
        const char *with;
    } plants[] = {{2, "18446744073709551615"}, {3, "999"}};
    const int64_t guard = (INT64_C(1) << 60) + 3; /* no double holds it */
    (void)state;
    for (size_t i = 0; i < sizeof plants / sizeof plants[0]; i++) {
        char prefix[20], key[60];
        snprintf(prefix, sizeof prefix, "other%zu", i);
        snprintf(key, sizeof key, "%s/store", prefix);
        firn_store *old = open_store("%s", url_of(prefix, "")); /* remembers what it read */
        drawn(old, "snow", 1, 0, 0);
        plant(key, plants[i].number, plants[i].with);
        firn_store *store = open_store("%s", url_of(prefix, ""));
        not_drawn(store, "snow", 2, FIRN_EBACK, "has changed or lost reservations");
        not_drawn(old, "snow", 3, FIRN_EBACK, "has changed or lost reservations");
        drawn(store, "snow", 4, guard, guard);
        drawn(old, "snow", 5, guard + 1000, guard + 10); /* once is enough */
        drawn(store, "snow", 6, 0, guard + 20);
        drawn(store, "new", 7, guard, guard); /* the namespace may have been lost */
        drawn(store, "new", 8, 0, guard + 10);
        firn_store_close(store);
        firn_store_close(old);
    }
}

/* Members that come, go or are replaced one at a time are normal; two that are gone at once are
 * what is left after --force-new-cluster. */
static void members_that_are_gone(void **state) {
    static const struct {
        const char *before; /* in the record, with the only member that there is */
        bool doubted;
    } lists[] = {{"", false},      {" ", false},        {" 111", false},
                 {" 111,", false}, {" 111,222,", true}, {" 111,222", true}};
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        char prefix[20], key[60], record[800], planted[900], now[800];
        snprintf(prefix, sizeof prefix, "members%zu", i);
        snprintf(key, sizeof key, "%s/store", prefix);
        firn_store *old = open_store("%s", url_of(prefix, "")), *store;
        drawn(old, "snow", 1, 0, 0);
        get_record(record, key);
        char *members = strrchr(record, ' ');
        const char *before = lists[i].before;
        size_t length = strlen(before);
        bool with_own = length > 0 && before[length - 1] != '1' && before[length - 1] != '2';
        snprintf(planted, sizeof planted, "%.*s%s%s", (int)(members - record), record, before,
                 with_own ? members + 1 : "");
        put_record(key, planted);
        store = open_store("%s", url_of(prefix, ""));
        if (lists[i].doubted) {
            not_drawn(store, "snow", 2, FIRN_EBACK, "has changed or lost reservations");
            not_drawn(old, "snow", 3, FIRN_EBACK, "has changed or lost reservations");
            drawn(store, "snow", 4, 500, 500);
            drawn(old, "snow", 5, 1000, 510); /* once is enough */
        } else {
            drawn(store, "snow", 2, 0, 10);
            drawn(old, "snow", 3, 0, 20);
        }
        get_record(now, key);
        assert_string_equal(strrchr(now, ' '), members);
        firn_store_close(store);
        firn_store_close(old);
    }
}

/* The member that is paused may have been the leader: until the others have chosen a new one they
 * refuse at once, and a request then waits for the paused one until its time is over. */
static void await_leader(const test_engine *three) {
    firn_error error = {0};
    firn_mark none;
    for (int i = 0; i < 600; i++) {
        firn_store *store = NULL;
        char url[ENGINE_URL_SIZE + 20];
        snprintf(url, sizeof url, "%s?timeout=3s", three->url);
        int code = try_open(&store, url, NULL, &error);
        if (code == FIRN_OK) {
            code = firn_store_list(store, "none", keep_mark, &none, &error);
            firn_store_close(store);
        }
        if (code == FIRN_OK) {
            return;
        }
        nap();
    }
    fail_msg("no leader: %s", error.text);
}

/* The quorum is lost, and somebody makes a new cluster of a member that lacks the last
 * reservations. */
static void a_member_that_lagged(void **state) {
    (void)state;
    test_engine *three = needed("etcd3", 3, "");
    firn_store *store = open_store("%s", three->url);
    drawn(store, "snow", 1, 0, 0);
    drawn(store, "moon", 2, 0, 0);
    firn_store_close(store);
    assert_true(engine_do(three, "pause", 3));
    await_leader(three);
    store = open_store("%s", three->url);
    drawn(store, "snow", 3, 0, 10);
    drawn(store, "snow", 4, 0, 20);
    firn_store_close(store);
    assert_true(engine_do(three, "kill", 0));
    assert_true(run("printf '%%s\\n' --force-new-cluster >>'%s/options'", three->folder));
    assert_true(engine_do(three, "restart", 3));
    store = open_store("%s", three->url);
    not_drawn(store, "snow", 5, FIRN_EBACK, "has changed or lost reservations");
    firn_store *other = open_store("%s", three->url);
    not_drawn(other, "moon", 6, FIRN_EBACK, "has changed or lost reservations");
    drawn(other, "snow", 7, 500, 500);
    drawn(store, "snow", 8, 0, 510);
    firn_store_close(store);
    firn_store_close(other);
}

/* A new cluster in the place of the old one counts revisions from the beginning: the mark that has
 * the remembered revision there is another one, and is not lowered. */
static void a_new_cluster_keeps_its_marks(void **state) {
    firn_request request = {"snow", ROW, "1", 500, 0, 1000, 2, "", 0};
    firn_error error = {0};
    firn_mark held;
    int64_t first = -1;
    (void)state;
    test_engine *engine = needed("etcd", 9, "");
    firn_store *old = open_store("%s", engine->url);
    drawn(old, "snow", 1, 0, 0);
    assert_true(engine_do(engine, "kill", 0));
    assert_true(
        run("rm -r '%s/data/e1' && printf '%%s\\n' --initial-cluster-token another >'%s/options'",
            engine->folder, engine->folder));
    assert_true(engine_do(engine, "restart", 0));
    firn_store *store = open_store("%s", engine->url);
    assert_int_equal(firn_store_reserve(store, &request, &first, &held, &error), FIRN_OK);
    assert_int_equal(first, 0);
    not_drawn(old, "snow", 3, FIRN_EBACK,
              "has changed or lost reservations"); /* the handle knows another store */
    drawn(old, "snow", 4, 100, 500);
    assert_int_equal(mark_of(store, "snow").high, 510);
    firn_store_close(store);
    firn_store_close(old);
}

/* The data of a member are put back: same cluster, same term, and only who saw more can tell. */
static void old_data_are_guarded(void **state) {
    (void)state;
    firn_store *store = open_store("%s", url_of("old", ""));
    drawn(store, "snow", 1, 0, 0);
    assert_true(engine_do(server, "kill", 0));
    assert_true(run("cp -a '%s/data/e1' '%s/data/old'", server->folder, server->folder));
    assert_true(engine_do(server, "restart", 0));
    drawn_at_last(store, "snow", 2);
    for (uint64_t i = 3; i < 20; i++) {
        drawn(store, "snow", i, 0, (int64_t)(i - 1) * 10);
    }
    assert_true(engine_do(server, "kill", 0));
    assert_true(run("cd '%s/data/' && rm -r e1 && mv old e1", server->folder));
    assert_true(engine_do(server, "restart", 0));
    assert_int_equal(mark_of(store, "snow").high, 10); /* the store did go back */
    not_drawn(store, "snow", 21, FIRN_EBACK, "has changed or lost reservations");
    drawn(store, "snow", 22, 1000, 1000);
    drawn(store, "snow", 23, 0, 1010);
    firn_store *other = open_store("%s", url_of("old", ""));
    drawn(other, "snow", 24, 0, 1020); /* which profits from what the first one saw */
    firn_store_close(other);
    firn_store_close(store);
}

static void a_lost_namespace_is_guarded(void **state) {
    (void)state;
    firn_store *store = open_store("%s", url_of("lost", ""));
    drawn(store, "snow", 1, 0, 0);
    char text[100], end[100];
    encode(text, "lost/");
    encode(end, "lost0");
    post(url_port(server->url), "/v3/kv/deleterange", "{\"key\":\"%s\",\"range_end\":\"%s\"}", text,
         end);
    not_drawn(store, "snow", 2, FIRN_EBACK, "has changed or lost reservations");
    not_drawn(store, "other", 3, FIRN_EBACK, "has changed or lost reservations"); /* who knows? */
    drawn(store, "snow", 4, 1000, 1000);
    firn_store_close(store);
}

/* A full store says so, and works again once there is room. */
static void no_space_is_left(void **state) {
    (void)state;
    test_engine *engine = needed("etcd", 8, "--quota-backend-bytes 300000");
    firn_store *store = open_store("%s", engine->url);
    char name[40], value[3001];
    drawn(store, "snow", 1, 0, 0);
    memset(value, 'A', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    const char *answer = "";
    for (int i = 0; i < 400 && strstr(answer, "space exceeded") == NULL; i++) {
        encode(name, "filler");
        answer = post(url_port(engine->url), "/v3/kv/put", "{\"key\":\"%s\",\"value\":\"%s\"}",
                      name, value);
    }
    assert_non_null(strstr(answer, "space exceeded"));
    not_drawn(store, "snow", 2, FIRN_EUNKNOWN, "has no space left");
    not_drawn(store, "snow", 3, FIRN_EUNKNOWN, "alarm disarm");
    firn_store_close(store);
}

static void three_members(void **state) {
    (void)state;
    test_engine *three = needed("etcd3", 1, "");
    char url[ENGINE_URL_SIZE + 20];
    snprintf(url, sizeof url, "%s?prefix=three/", three->url);
    firn_store *store = hurried_store(url, "snow", NULL);
    firn_error error = {0};
    firn_mark held;
    int64_t first;
    uint64_t grant = 1;
    assert_null(firn_store_caution(store));
    for (int member = 1; member <= 3; member++) { /* one of them is the leader */
        assert_true(engine_do(three, "kill", member));
        drawn_at_last(store, "snow", grant++);
        assert_true(engine_do(three, "restart", member));
    }
    drawn_at_last(store, "snow", grant++);
    assert_true(engine_do(three, "kill", 1) && engine_do(three, "kill", 3));
    for (int i = 0; i < 4; i++) {
        int code = draw(store, "snow", 0, grant++, 0, &first, &held, &error);
        assert_true(code == FIRN_ESTORE || code == FIRN_EUNKNOWN); /* there is no quorum */
    }
    assert_true(engine_do(three, "restart", 1) && engine_do(three, "restart", 3));
    drawn_at_last(store, "snow", grant);
    firn_mark mark = mark_of(store, "snow");
    assert_true(mark.grant == grant && mark.high >= 70);
    assert_true(mark.high < 1000); /* no leader's end made a guard hold */
    firn_store_close(store);
}

/* Nobody waits for a member that does not answer where another one does. */
static void a_stalled_member(void **state) {
    (void)state;
    test_engine *three = needed("etcd3", 1, "");
    char url[ENGINE_URL_SIZE + 20];
    snprintf(url, sizeof url, "%s?prefix=stalled/", three->url);
    firn_store *store = hurried_store(url, "snow", NULL);
    for (int member = 1; member <= 3; member++) {
        assert_true(engine_do(three, "pause", member));
        drawn_at_last(store, "snow", (uint64_t)member);
        assert_true(engine_do(three, "continue", member));
    }
    firn_store_close(store);
}

/* ---- logins and TLS -------------------------------------------------------------------------- */

static void logins(void **state) {
    char url[300];
    (void)state;
    test_engine *engine = needed("etcd", 2, "");
    int port = url_port(engine->url);
    post(port, "/v3/auth/user/add", "{\"name\":\"root\",\"password\":\"secret\"}");
    post(port, "/v3/auth/role/add", "{\"name\":\"root\"}");
    post(port, "/v3/auth/user/grant", "{\"user\":\"root\",\"role\":\"root\"}");
    assert_non_null(strstr(post(port, "/v3/auth/enable", "{}"), "200 OK"));
    firn_store *store = open_store("%s", engine->url);
    not_drawn(store, "snow", 1, FIRN_ESTORE, "needs a user (etcdserver: user name is empty)");
    not_drawn(store, "snow", 1, FIRN_ESTORE, "give USER:PASSWORD@ in the URL");
    firn_store_close(store);
    snprintf(url, sizeof url, "etcd://root:secretly@127.0.0.1:%d", port);
    not_opened(url, "authentication failed");
    not_opened(url, "refuses the login");
    store = open_store("etcd://root:secret@127.0.0.1:%d", port);
    drawn(store, "snow", 1, 0, 0);
    assert_true(engine_do(engine, "restart", 0)); /* which forgets every token */
    drawn_at_last(store, "snow", 2);
    assert_int_equal(mark_of(store, "snow").high, 20);
    firn_store_close(store);
    setenv("ETCDCTL_USER", "root:secret", 1);
    store = open_store("%s", engine->url);
    drawn(store, "snow", 3, 0, 20);
    firn_store_close(store);
    unsetenv("ETCDCTL_USER");
}

/* A signed token is good for the users that there were; when they change, it is renewed. */
static void signed_tokens(void **state) {
    char options[500], url[300], keys[200];
    (void)state;
    needed("etcd", 2, ""); /* a missing etcd is reported before anything is made */
    snprintf(keys, sizeof keys, "/tmp/firn-keys-%ld", (long)getpid()); /* its user must reach it */
    assert_true(run("mkdir '%s' && cd '%s' && exec >log 2>&1 && openssl genrsa -out private 4096 &&"
                    " openssl rsa -in private -pubout -out public && chmod 755 . && chmod 644 *",
                    keys, keys));
    snprintf(options, sizeof options,
             "--auth-token jwt,pub-key=%s/public,priv-key=%s/private,sign-method=RS256,ttl=10m",
             keys, keys);
    test_engine *engine = needed("etcd", 5, options);
    assert_true(run("rm -r '%s'", keys));
    int port = url_port(engine->url);
    post(port, "/v3/auth/user/add", "{\"name\":\"root\",\"password\":\"secret\"}");
    post(port, "/v3/auth/role/add", "{\"name\":\"root\"}");
    post(port, "/v3/auth/user/grant", "{\"user\":\"root\",\"role\":\"root\"}");
    assert_non_null(strstr(post(port, "/v3/auth/enable", "{}"), "200 OK"));
    snprintf(url, sizeof url, "etcd://root:secret@127.0.0.1:%d", port);
    firn_store *store = open_store("%s", url);
    drawn(store, "snow", 1, 0, 0);
    const char *answer =
        post(port, "/v3/auth/authenticate", "{\"name\":\"root\",\"password\":\"secret\"}");
    const char *token = strstr(answer, "\"token\":\"");
    assert_non_null(token);
    snprintf(login, sizeof login, "Authorization: %.*s\r\n", (int)strcspn(token + 9, "\""),
             token + 9);
    answer = post(port, "/v3/auth/user/add", "{\"name\":\"ann\",\"password\":\"secret\"}");
    login[0] = '\0';
    assert_non_null(strstr(answer, "200 OK"));
    drawn(store, "snow", 2, 0, 10);
    firn_store_close(store);
}

static void by_tls(void **state) {
    char folder[] = "/tmp/firn-etcd-tls-XXXXXX", more[200], url[600];
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_true(make_certificates(folder));
    test_engine *engine = needed("etcd", 3, "");
    int plain = url_port(engine->url), port = engine_spare_port(engine, 1);
    assert_true(run("printf '%%s\\n' --listen-client-urls http://127.0.0.1:%d,https://127.0.0.1:%d"
                    " --cert-file %s/server.pem --key-file %s/server.key"
                    " --trusted-ca-file %s/ca.pem --client-cert-auth >'%s/options'",
                    plain, port, folder, folder, folder, engine->folder));
    assert_true(engine_do(engine, "restart", 0));
    snprintf(more, sizeof more, "cert=%s/client.pem&key=%s/client.key", folder, folder);
    firn_store *store = open_store("etcd://127.0.0.1:%d?tls=1&ca=%s/ca.pem&%s", port, folder, more);
    for (uint64_t i = 1; i <= 20; i++) {
        drawn(store, "snow", i, 0, (int64_t)(i - 1) * 10);
    }
    assert_int_equal(mark_of(store, "snow").high, 200);
    firn_store_close(store);
    firn_store_close(open_store("etcd://127.0.0.1:%d?tls=1&verify=0&%s", port, more));
    snprintf(url, sizeof url, "etcd://127.0.0.1:%d?tls=1&%s", port, more);
    not_opened(url, "certificate"); /* nobody whom this machine trusts made it */
    snprintf(url, sizeof url, "etcd://localhost:%d?tls=1&ca=%s/ca.pem&%s", port, folder, more);
    not_opened(url, "has a certificate that is not valid");
    snprintf(url, sizeof url, "etcd://127.0.0.1:%d?tls=1&ca=%s/ca.pem", port, folder);
    not_opened(url, "cannot be used"); /* the server requires a login */
    snprintf(url, sizeof url, "etcd://127.0.0.1:%d?ca=%s/ca.pem", port, folder);
    not_opened(url, "tls=1");
    assert_true(run("rm -r '%s'", folder));
}

static void urls_are_checked(void **state) {
    (void)state;
    not_opened("etcd://", "no host");
    not_opened("etcd://127.0.0.1/path", "path");
    not_opened("etcd://127.0.0.1?timeout=3", "timeout");
    not_opened("etcd://127.0.0.1?tls=1&cert=a", "both");
    not_opened("etcd://a%0db:1", "not a valid host");
    not_opened("etcd://user:secret@127.0.0.1:1?connect_timeout=200ms", "cannot be used");
}

/* ---- faults ---------------------------------------------------------------------------------- */

static firn_store *rival;

static void a_rival_is_first(void) {
    int64_t first;
    firn_mark held;
    assert_int_equal(draw(rival, "snow", 0, 1000, 0, &first, &held, NULL), FIRN_OK);
}

/* Between a transaction's reading and its writing somebody else comes. */
static void a_conflict_is_tried_again(void **state) {
    mishap conflict = {NULL, a_rival_is_first, ""};
    firn_error error = {0};
    (void)state;
    firn_store *store = hurried_store(url_of("conflict", ""), "snow", &conflict);
    rival = open_store("%s", url_of("conflict", ""));
    int64_t first;
    firn_mark held;
    conflict.name = "reserve.before";
    conflict.act = a_rival_is_first;
    conflict.hits[0] = '\0';
    /* Each round has a rival before it, until the time is up; on a busy machine an answer may be too
     * late. */
    const double end_s = now_s() + PATIENCE_S;
    bool limited = false;
    while (!limited && now_s() < end_s) {
        const int code = draw(store, "snow", 0, 2, 0, &first, &held, &error);
        assert_true(code == FIRN_ESTORE || code == FIRN_EUNKNOWN);
        limited =
            code == FIRN_ESTORE && strstr(error.text, "other processes keep changing") != NULL;
    }
    assert_true(limited);
    firn_store_close(store);
    store = open_store("%s", url_of("conflict", ""));
    drawn(store, "snow", 3, 0, mark_of(rival, "snow").high);
    firn_store_close(rival);
    firn_store_close(store);
}

/* ---- names ----------------------------------------------------------------------------------- */

static int count_keys(void *context, const firn_holding *holding) {
    int *count = context;
    *count += strcmp(holding->ns, "caf\xe9") == 0;
    return 0;
}

static void names_are_bytes(void **state) {
    int count = 0;
    firn_error error = {0};
    (void)state;
    firn_store *store = open_store("%s", url_of("bytes", ""));
    drawn(store, "caf\xe9", 1, 0, 0); /* no UTF-8 */
    if (firn_store_list(store, NULL, count_keys, &count, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(count, 1);
    firn_store_close(store);
}

/* ---- the table of tests ---------------------------------------------------------------------- */

int main(void) {
    const struct CMUnitTest tests[] = {
        {"a cluster of one member is cautioned", one_member_is_cautioned, 0, 0, 0},
        {"a namespace's record is plain text", the_record_is_plain, 0, 0, 0},
        {"after a restart it continues automatically, unguarded", a_restart_changes_nothing, 0, 0,
         0},
        {"in another cluster, or an older term, the guard holds", another_cluster_is_guarded, 0, 0,
         0},
        {"members that are gone at once are doubted", members_that_are_gone, 0, 0, 0},
        {"a new cluster of a member that lagged is guarded", a_member_that_lagged, 0, 0, 0},
        {"a new cluster keeps its marks", a_new_cluster_keeps_its_marks, 0, 0, 0},
        {"after old data came back the guard holds", old_data_are_guarded, 0, 0, 0},
        {"a namespace that was lost is not new", a_lost_namespace_is_guarded, 0, 0, 0},
        {"a store without space says so", no_space_is_left, 0, 0, 0},
        {"three members: the leader killed, the quorum lost and back", three_members, 0, 0, 0},
        {"three members: one of them stalls", a_stalled_member, 0, 0, 0},
        {"logins by URL and environment; a token that expired; no message has them", logins, 0, 0,
         0},
        {"a signed token is renewed when users changed", signed_tokens, 0, 0, 0},
        {"TLS: who is there, and who asks", by_tls, 0, 0, 0},
        {"URLs are checked", urls_are_checked, 0, 0, 0},
        {"a conflict is tried again, with a limit", a_conflict_is_tried_again, 0, 0, 0},
        {"names of a listing may be any bytes", names_are_bytes, 0, 0, 0},
    };
    return cmocka_run_group_tests_name("etcd", tests, NULL, NULL);
}
