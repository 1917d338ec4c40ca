/* SPDX-License-Identifier: MIT */
/* SQL for the tests of one engine, through that engine's own client. Nothing here tests. */
#ifndef FIRN_TEST_SQL_H
#define FIRN_TEST_SQL_H

#include "asking.h"

#include <fcntl.h>
#include <signal.h>

#define SQL_ANSWER 4000 /* bytes of an answer and its zero */

/* The client's command; it reads statements from its input and prints bare values. */
static const char *sql_client(const test_engine *server) {
    static char command[400];
    if (strcmp(server->kind, "mysql") == 0) {
        snprintf(command, sizeof command,
                 "mariadb --no-defaults --skip-ssl-verify-server-cert -h 127.0.0.1 -P %d -u root "
                 "-BN firn",
                 url_port(server->url));
    } else {
        snprintf(command, sizeof command, "psql -XAtq -v ON_ERROR_STOP=1 '%s'", server->url);
    }
    return command;
}

/* Runs statements; all that they print, without the last newline, lives until the next call. */
__attribute__((format(printf, 2, 3))) static const char *sql(const test_engine *server,
                                                             const char *format, ...) {
    static char answer[SQL_ANSWER];
    char text[1500], command[2000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(command, sizeof command, "%s 2>&1 <<'END'\n%s\nEND\n", sql_client(server), text);
    fflush(NULL);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    size_t length = fread(answer, 1, sizeof answer - 1, out);
    answer[length] = '\0';
    while (length > 0 && answer[length - 1] == '\n') {
        answer[--length] = '\0';
    }
    int status = pclose(out);
    if (status != 0) {
        fail_msg("%s\n%s", text, answer);
    }
    return answer;
}

/* Asks until the answer is not 0. */
static void await_sql(const test_engine *server, const char *text) {
    for (double end_s = now_s() + PATIENCE_S; now_s() < end_s; nap()) {
        if (strcmp(sql(server, "%s", text), "0") != 0) {
            return;
        }
    }
    fail_msg("0 for ever: %s", text);
}

/* A client next to this process. */
typedef struct session {
    pid_t pid;
    int input;
} session;

/* Runs statements, lines of them, in a client that waits for more until sql_end; what it prints
 * goes to `path`. */
static session sql_begin(const test_engine *server, const char *path, const char *text) {
    int pipes[2];
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(pipes[0], 0);
        dup2(out, 1);
        execl("/bin/sh", "sh", "-c", sql_client(server), (char *)NULL);
        _exit(127);
    }
    close(pipes[0]);
    assert_int_equal(write(pipes[1], text, strlen(text)), strlen(text));
    return (session){child, pipes[1]};
}

/* Its last statements, if any, and its end. */
static void sql_end(session self, const char *text) {
    int status = -1;
    assert_int_equal(write(self.input, text, strlen(text)), strlen(text));
    close(self.input);
    assert_int_equal(waitpid(self.pid, &status, 0), self.pid);
    assert_int_equal(status, 0);
}

static char certificate_folder[300];

/* Certificates of make_certificates, and own.key, which only the engine can read: it belongs to its
 * unprivileged user if the tests run as root. */
static void make_own_certificates(void) {
    snprintf(certificate_folder, sizeof certificate_folder, "/tmp/firn-tls-XXXXXX");
    assert_non_null(mkdtemp(certificate_folder));
    assert_true(make_certificates(certificate_folder));
    assert_true(run("cd '%s' && cp server.key own.key && chmod 600 own.key &&"
                    " { [ \"$(id -u)\" != 0 ] || chown nobody own.key; }",
                    certificate_folder));
}

static int remove_certificates(void **state) {
    (void)state;
    return certificate_folder[0] == '\0' || run("rm -rf '%s'", certificate_folder) ? 0 : 1;
}

/* Processes that open the same new store at once: how many could not. */
static int open_at_once(const char *url, int processes) {
    int failures = 0, pipes[2];
    char go;
    assert_int_equal(pipe(pipes), 0);
    fflush(NULL);
    for (int i = 0; i < processes; i++) {
        if (fork() == 0) {
            firn_store *store = NULL;
            close(pipes[1]);
            firn_error error = {0};
            bool failed = read(pipes[0], &go, 1) != 0 || try_open(&store, url, NULL, &error) != 0;
            fputs(error.text, stderr);
            _exit(failed);
        }
    }
    close(pipes[0]);
    close(pipes[1]); /* now */
    for (int i = 0; i < processes; i++) {
        int status = -1;
        wait(&status);
        failures += status != 0;
    }
    return failures;
}

/* A listing of many keys, looked through in order. */
typedef struct lines {
    int count, stop_after;
    char last[FIRN_KEY_SIZE];
} lines;

static int count_line(void *context, const firn_holding *holding) {
    lines *self = context;
    assert_true(strcmp(holding->key, self->last) > 0);
    snprintf(self->last, sizeof self->last, "%s", holding->key);
    return ++self->count == self->stop_after ? -77 : 0;
}

/* A store with 600 keys lists them in order, stops when requested, and works afterwards. */
static void lists_many(firn_store *store) {
    lines all = {0, 0, ""}, some = {0, 300, ""};
    for (int i = 0; i < 600; i++) {
        char key[12];
        firn_mark held;
        int64_t first;
        snprintf(key, sizeof key, "%d", i);
        const firn_request request = {"many", ROW, key, 1, 0, 9, (uint64_t)i + 1, "", 0};
        assert_int_equal(firn_store_reserve(store, &request, &first, &held, NULL), FIRN_OK);
    }
    assert_int_equal(firn_store_list(store, NULL, count_line, &all, NULL), FIRN_OK);
    assert_int_equal(all.count, 600);
    assert_int_equal(firn_store_list(store, "many", count_line, &some, NULL), -77);
    assert_int_equal(some.count, 300);
    drawn(store, "another", 1, 0, 0);
}

static const char *own_url;

static void send_own_again(void) {
    firn_store *store = open_store("%s", own_url);
    firn_mark held;
    int64_t first;
    assert_int_equal(draw(store, "own", 10, 7, 0, &first, &held, NULL), FIRN_OK);
    firn_store_close(store);
}

/* The first sending of a request is carried out only when the second begins the transaction for a
 * new name: that finds its own grant. */
static void meets_its_own_inside(const char *url) {
    mishap late = {"reserve.before", send_own_again, ""};
    const firn_request request = {"own", ROW, "1", 10, 10, 10, 7, "", 0};
    firn_store *store = NULL;
    firn_error error = {0};
    firn_mark held = {0, 0};
    int64_t first;
    own_url = url;
    assert_int_equal(try_open(&store, url, &late, &error), FIRN_OK);
    assert_int_equal(firn_store_reserve(store, &request, &first, &held, &error), FIRN_EBUSY);
    assert_int_equal(held.high, 20);
    assert_int_equal(held.grant, 7);
    assert_string_equal(late.hits, "reserve.before ");
    firn_store_close(store);
}

/* Tables of an older firn, whose column `layout` had another name, are refused, and nothing is
 * reserved from them. */
static void older_tables_are_refused(const test_engine *server, const char *url,
                                     const char *table) {
    const char *quote = strcmp(server->kind, "mysql") == 0 ? "`" : "";
    firn_store *store = open_store("%s", url);
    drawn(store, "older", 1, 0, 0);
    sql(server, "ALTER TABLE %s_namespace RENAME COLUMN layout TO %srow%s;", table, quote, quote);
    not_drawn(store, "other", 2, FIRN_ESTORE, "older firn");
    firn_error error = {0};
    assert_int_equal(firn_store_list(store, NULL, keep_mark, NULL, &error), FIRN_ESTORE);
    assert_non_null(strstr(error.text, "older firn"));
    firn_store_close(store);
    if (try_open(&store, url, NULL, &error) == FIRN_OK) {
        not_drawn(store, "older", 3, FIRN_ESTORE, "older firn");
        firn_store_close(store);
    }
    assert_non_null(strstr(error.text, "older firn"));
    sql(server, "ALTER TABLE %s_namespace RENAME COLUMN %srow%s TO layout;", table, quote, quote);
    store = open_store("%s", url);
    drawn(store, "older", 4, 0, 10);
    firn_store_close(store);
}

/* A parent may lower the mark that its child has inherited the memory of: the child must not take
 * the engine for one that has lost reservations, which would stop everybody's integers. */
__attribute__((unused)) static void gives_back_beside_a_child(const char *url) {
    const firn_mark mine = {20, 2};
    firn_store *store = open_store("%s", url);
    int status = -1;
    drawn(store, "fork", 1, 0, 0);
    drawn(store, "fork", 2, 0, 10);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        firn_error error = {0};
        firn_mark held;
        firn_time now;
        int64_t first = -1;
        raise(SIGSTOP);                          /* until the parent has given back */
        (void)firn_store_now(store, &now, NULL); /* any verb connects */
        int code = draw(store, "fork", 0, 3, 0, &first, &held, &error);
        fputs(error.text, stderr);
        _exit(code == FIRN_OK && first == 15 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    int code = firn_store_give_back(store, "fork", "1", &mine, 15, NULL);
    kill(child, SIGCONT);
    assert_int_equal(code, FIRN_OK);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    firn_store_close(store);
}

/* The child of a fork in a failpoint is refused in that call, then reserves on its own; the
 * parent's call continues. */
static pid_t parents_pid;

static void fork_here(void) {
    if (getpid() == parents_pid) {
        fork();
    }
}

static void forks_inside(const char *url, const char *point) {
    firn_store *store = NULL;
    firn_error error = {0};
    firn_mark held;
    int64_t first = -1;
    int status = -1;
    mishap fork_at = {NULL, fork_here, ""};
    parents_pid = getpid();
    assert_int_equal(try_open(&store, url, &fork_at, &error), FIRN_OK);
    drawn(store, "fork", 10, 0, 0);
    fork_at.name = point;
    int code = draw(store, "fork", 0, 11, 0, &first, &held, &error);
    if (getpid() != parents_pid) {
        fork_at.name = NULL;
        bool told = code == FIRN_EFORKED;
        code = draw(store, "child", 0, 12, 0, &first, &held, &error);
        firn_store_close(store);
        _exit(told && code == FIRN_OK && first == 0 ? 0 : 1);
    }
    assert_int_equal(wait(&status) > 0 ? status : -1, 0);
    assert_int_equal(code, FIRN_OK);
    assert_int_equal(first, 10);
    fork_at.name = NULL;
    drawn(store, "fork", 13, 0, 20); /* the parent's connection is as it was */
    firn_store_close(store);
}

#endif
