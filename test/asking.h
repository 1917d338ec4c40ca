/* SPDX-License-Identifier: MIT */
/* Helpers for tests of one shared engine: reservations with and without a guard, lost replies,
 * ports, certificates. Contains no tests. */
#ifndef FIRN_TEST_ASKING_H
#define FIRN_TEST_ASKING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <firn/firn.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#include "engines.h"

#define ROW "0x0:1 time:41/ms@@2024-01-01 node:10 sequence:12"

/* Nothing here supposes that the machine is fast: the disk may take seconds for a commit. What is
 * to come is waited for, PATIENCE_S at most; what nobody waits for to pass has a longer bound. */
#define PATIENCE_S 30
#define UNHURRIED  "timeout=60s&connect_timeout=60s"
#define HURRIED_MS 600 /* of a store whose server hangs, which is waited for */

/* ---- waiting --------------------------------------------------------------------------------- */

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Between two looks. */
static void nap(void) {
    const struct timespec short_time = {0, 20000000};
    nanosleep(&short_time, NULL);
}

/* ---- stores ---------------------------------------------------------------------------------- */

/* The effects of failpoints, and how often each was hit. */
typedef struct mishap {
    const char *name; /* the failpoint that acts, or NULL */
    void (*act)(void);
    char hits[200];
} mishap;

static void meet_mishap(void *self, const char *name) {
    mishap *state = self;
    size_t length = strlen(state->hits);
    snprintf(state->hits + length, sizeof state->hits - length, "%s ", name);
    if (state->name != NULL && strcmp(state->name, name) == 0) {
        state->act();
    }
}

/* With longer time-outs than by default, unless the URL says its own. */
static int try_open(firn_store **store, const char *text, mishap *mishap_at, firn_error *error) {
    firn_store_options options = {.module_dir = FIRN_BUILD_DIR "/firn"};
    char url[1000];
    bool timed = strstr(text, "timeout=") != NULL;
    snprintf(url, sizeof url, "%s%s%s", text,
             timed                       ? ""
             : strchr(text, '?') != NULL ? "&"
                                         : "?",
             timed ? "" : UNHURRIED);
    if (mishap_at != NULL) {
        options.failpoint = meet_mishap;
        options.failpoint_self = mishap_at;
    }
    return firn_store_open(store, url, &options, error);
}

/* `format` makes the URL. */
__attribute__((unused, format(printf, 1, 2))) static firn_store *open_store(const char *format,
                                                                            ...) {
    char url[900];
    firn_store *store = NULL;
    firn_error error = {0};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(url, sizeof url, format, arguments);
    va_end(arguments);
    if (try_open(&store, url, NULL, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return store;
}

/* Opening fails with FIRN_ESTORE or FIRN_EUSAGE and one line that holds `what` and no password. */
__attribute__((unused)) static void not_opened(const char *url, const char *what) {
    firn_store *store = NULL;
    firn_error error = {0};
    int code = try_open(&store, url, NULL, &error);
    if (code == FIRN_OK) {
        firn_store_close(store);
        fail_msg("%s was opened", url);
    }
    if ((code != FIRN_ESTORE && code != FIRN_EUSAGE) || strstr(error.text, what) == NULL ||
        strstr(error.text, ": ") == NULL || strlen(error.text) >= sizeof error.text ||
        strstr(error.text, "secret") != NULL) {
        fail_msg("%d '%s' does not say '%s'", code, error.text, what);
    }
}

/* 10 slots of a namespace's key 1, not before `earliest`. */
static int draw(firn_store *store, const char *ns, int64_t earliest, uint64_t grant, int64_t guard,
                int64_t *first, firn_mark *held, firn_error *error) {
    const firn_request request = {ns,    ROW,      "1",  10, earliest, FIRN_SLOT_MAX - 10,
                                  grant, "a note", guard};
    return firn_store_reserve(store, &request, first, held, error);
}

__attribute__((unused)) static void drawn(firn_store *store, const char *ns, uint64_t grant,
                                          int64_t guard, int64_t expected) {
    firn_error error = {0};
    firn_mark held;
    int64_t first = -1;
    if (draw(store, ns, 0, grant, guard, &first, &held, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(first, expected);
}

__attribute__((unused)) static void not_drawn(firn_store *store, const char *ns, uint64_t grant,
                                              int code, const char *what) {
    firn_error error = {0};
    firn_mark held;
    int64_t first = -1;
    int got = draw(store, ns, 0, grant, 0, &first, &held, &error);
    if (got != code || strstr(error.text, what) == NULL ||
        strlen(error.text) >= sizeof error.text || strstr(error.text, "secret") != NULL) {
        fail_msg("%d '%s' is not %d '%s'", got, error.text, code, what);
    }
    assert_int_equal(first, -1);
}

static int keep_mark(void *context, const firn_holding *holding) {
    firn_mark *mark = context;
    *mark = holding->mark;
    return 0;
}

/* The mark of key 1 of a namespace, from the listing. */
__attribute__((unused)) static firn_mark mark_of(firn_store *store, const char *ns) {
    firn_mark mark = {-1, 0};
    firn_error error = {0};
    if (firn_store_list(store, ns, keep_mark, &mark, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return mark;
}

/* By a handle whose engine was ended: the end of its connection arrives before the request is sent
 * (a new connection is refused), during it (the send fails), or afterwards (the outcome is
 * unknown). */
__attribute__((unused)) static void not_drawn_soon(firn_store *store, const char *ns,
                                                   uint64_t grant, const char *what) {
    firn_error error = {0};
    firn_mark held;
    int64_t first = -1;
    if (draw(store, ns, 0, grant, 0, &first, &held, &error) != FIRN_EUNKNOWN &&
        strstr(error.text, what) == NULL && strstr(error.text, "Broken pipe") == NULL &&
        strstr(error.text, "Connection reset") == NULL) {
        fail_msg("%s", error.text);
    }
    not_drawn(store, ns, grant, FIRN_ESTORE, what);
}

/* Retries until it is granted: a restarted engine is found again. */
__attribute__((unused)) static void drawn_at_last(firn_store *store, const char *ns,
                                                  uint64_t grant) {
    firn_error error = {0};
    firn_mark held;
    int64_t first = -1;
    for (double end_s = now_s() + 2 * PATIENCE_S; now_s() < end_s; nap()) {
        int code = draw(store, ns, 0, grant, FIRN_SLOT_MAX / 2, &first, &held, &error);
        if (code == FIRN_OK) {
            return;
        }
        assert_true(code == FIRN_ESTORE || code == FIRN_EUNKNOWN);
    }
    fail_msg("%s", error.text);
}

/* Reserves from the namespace and opens the store again, with timeouts of several times what the
 * server has just needed, so that only a hanging one exceeds them. `url` has a parameter. */
__attribute__((unused)) static firn_store *hurried_store(const char *url, const char *ns,
                                                         mishap *mishap_at) {
    firn_store *store = open_store("%s&" UNHURRIED, url);
    firn_error error = {0};
    char hurried[900];
    double begun_s = now_s();
    drawn_at_last(store, ns, 1001);
    int most_ms = HURRIED_MS + (int)(4000 * (now_s() - begun_s));
    firn_store_close(store);
    snprintf(hurried, sizeof hurried, "%s&timeout=%dms&connect_timeout=%dms", url, most_ms,
             most_ms);
    double end_s = now_s() + PATIENCE_S;
    while (try_open(&store, hurried, mishap_at, &error) != FIRN_OK) {
        if (now_s() > end_s) {
            fail_msg("%s", error.text);
        }
        nap();
    }
    drawn_at_last(store, ns, 1002);
    return store;
}

/* How far the engine's clock is from ours, in seconds, for certain: it was asked somewhere between
 * two looks at ours. */
__attribute__((unused)) static double clock_apart(firn_store *store) {
    struct timespec before, after;
    firn_time theirs = {0, 0};
    clock_gettime(CLOCK_REALTIME, &before);
    assert_int_equal(firn_store_now(store, &theirs, NULL), FIRN_OK);
    clock_gettime(CLOCK_REALTIME, &after);
    double theirs_s = (double)theirs.sec + theirs.ns / 1e9,
           early = (double)before.tv_sec + (double)before.tv_nsec / 1e9 - theirs_s,
           late = theirs_s - (double)after.tv_sec - (double)after.tv_nsec / 1e9;
    return early > 0 ? early : late > 0 ? late : 0;
}

/* ---- sockets --------------------------------------------------------------------------------- */

static int peer_port(int fd) {
    struct sockaddr_in peer;
    socklen_t size = sizeof peer;
    return getpeername(fd, (struct sockaddr *)&peer, &size) == 0 && peer.sin_family == AF_INET
               ? ntohs(peer.sin_port)
               : 0;
}

__attribute__((unused)) static int url_port(const char *url) {
    return atoi(strrchr(url, ':') + 1);
}

/* Waits until a reply has arrived on one of the connections to the port, and so the request is
 * carried out. */
static bool replied(int port) {
    struct pollfd fds[256];
    nfds_t count = 0;
    for (int fd = 3; fd < 256; fd++) {
        if (peer_port(fd) == port) {
            fds[count++] = (struct pollfd){fd, POLLIN, 0};
        }
    }
    return poll(fds, count, PATIENCE_S * 1000) > 0;
}

/* Replaces each connection of this process to the port with one whose other end is
 * closed: the request was carried out, and its reply is never read. Returns how many there were, or
 * 0 when no reply came. */
__attribute__((unused)) static int lose_replies(int port) {
    int count = 0, pair[2];
    for (int fd = replied(port) ? 3 : 256; fd < 256; fd++) {
        if (peer_port(fd) == port && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0) {
            close(pair[1]);
            dup2(pair[0], fd);
            close(pair[0]);
            count++;
        }
    }
    return count;
}

/* A port that nobody listens at: this process keeps it, and does not listen either. */
__attribute__((unused)) static int silent_port(void) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bool bound = bind(fd, (struct sockaddr *)&address, size) == 0 &&
                 getsockname(fd, (struct sockaddr *)&address, &size) == 0;
    return bound ? ntohs(address.sin_port) : 0;
}

/* ---- commands -------------------------------------------------------------------------------- */

__attribute__((unused, format(printf, 1, 2))) static bool run(const char *format, ...) {
    char command[2000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    fflush(NULL);
    return system(command) == 0;
}

/* A certificate authority, and certificates of a server at 127.0.0.1 and of a client, in a folder
 * that the engine's user may read: ca.pem server.pem server.key client.pem client.key. */
__attribute__((unused)) static bool make_certificates(const char *folder) {
    return run("cd '%s' && exec >openssl.log 2>&1 &&"
               " openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
               "  -keyout ca.key -out ca.pem -days 2 -subj /CN=ca &&"
               " for who in server client; do"
               "  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
               "   -keyout $who.key -out $who.csr -subj /CN=$who &&"
               "  printf 'subjectAltName=IP:127.0.0.1\\n' >names &&"
               "  openssl x509 -req -in $who.csr -CA ca.pem -CAkey ca.key -CAcreateserial"
               "   -days 2 -extfile names -out $who.pem || exit 1; done && chmod 755 . &&"
               " chmod 644 *.key *.pem",
               folder);
}

/* The engine, or the test is skipped; one that is installed and does not start is a failure. */
__attribute__((unused)) static test_engine *needed(const char *kind, int number,
                                                   const char *options) {
    test_engine *engine = engine_of(kind, number, options);
    if (engine == NULL) {
        assert_true(engine_missing(kind, number));
        skip();
    }
    return engine;
}

#endif
