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
__attribute__((unused)) static void make_own_certificates(void) {
    snprintf(certificate_folder, sizeof certificate_folder, "/tmp/firn-tls-XXXXXX");
    assert_non_null(mkdtemp(certificate_folder));
    assert_true(make_certificates(certificate_folder));
    assert_true(run("cd '%s' && cp server.key own.key && chmod 600 own.key &&"
                    " { [ \"$(id -u)\" != 0 ] || chown nobody own.key; }",
                    certificate_folder));
}

__attribute__((unused)) static int remove_certificates(void **state) {
    (void)state;
    return certificate_folder[0] == '\0' || run("rm -rf '%s'", certificate_folder) ? 0 : 1;
}

#endif
