/* SPDX-License-Identifier: MIT */
/* Input from systemd to the server: sockets, names, a socket for messages and a watchdog; well
 * formed or not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "net/systemd.h"

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { ROOM = 2 };

static char names[ROOM][SYSTEMD_NAME];

/* NULL: not set. "self" is this process. */
static void set(const char *variable, const char *value) {
    char self[20];
    snprintf(self, sizeof self, "%ld", (long)getpid());
    if (value == NULL) {
        unsetenv(variable);
    } else {
        setenv(variable, strcmp(value, "self") == 0 ? self : value, 1);
    }
}

static int sockets(const char *pid, const char *count, const char *called) {
    set("LISTEN_PID", pid);
    set("LISTEN_FDS", count);
    set("LISTEN_FDNAMES", called);
    memset(names, 0, sizeof names);
    int found = systemd_sockets(names, ROOM);
    assert_null(getenv("LISTEN_PID"));
    assert_null(getenv("LISTEN_FDS"));
    assert_null(getenv("LISTEN_FDNAMES"));
    return found;
}

static void only_what_is_ours_is_taken(void **state) {
    (void)state;
    assert_int_equal(sockets(NULL, NULL, NULL), 0);
    assert_int_equal(sockets(NULL, "1", NULL), 0);
    assert_int_equal(sockets("1", "1", NULL), 0);
    assert_int_equal(sockets("self", NULL, NULL), 0);
    assert_int_equal(sockets("self", "0", NULL), 0);
}

static void malformed_counts_are_refused(void **state) {
    static const char *const counts[] = {
        "",       "x", "-1", "1x", ":", "99999999999999999999", "2147483645" /* + 3: past an int */,
        "1000000" /* more than a process may open */};
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        assert_int_equal(sockets("self", counts[i], NULL), -1);
    }
}

/* Descriptors 3 to 5 for one call: closed on exec afterwards, as before it they are not. */
static int three_sockets(const char *called) {
    int kept[3];
    for (int i = 0; i < 3; i++) {
        kept[i] = fcntl(SYSTEMD_FIRST + i, F_DUPFD_CLOEXEC, 10);
        assert_int_equal(dup2(STDERR_FILENO, SYSTEMD_FIRST + i), SYSTEMD_FIRST + i);
    }
    int found = sockets("self", "3", called);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fcntl(SYSTEMD_FIRST + i, F_GETFD), FD_CLOEXEC);
        close(SYSTEMD_FIRST + i);
        if (kept[i] >= 0) {
            dup2(kept[i], SYSTEMD_FIRST + i);
            close(kept[i]);
        }
    }
    return found;
}

static void names_are_cut_and_may_be_missing(void **state) {
    static const struct {
        const char *called, *first, *second;
    } rows[] = {
        {NULL, "unknown", "unknown"},
        {"", "unknown", "unknown"},
        {"http", "http", "unknown"},
        {"http:resp:more", "http", "resp"},
        {":resp", "unknown", "resp"},
        {"http:", "http", "unknown"},
        {"a-name-of-more-than-15:resp", "a-name-of-more-", "resp"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(three_sockets(rows[i].called), 3);
        assert_string_equal(names[0], rows[i].first);
        assert_string_equal(names[1], rows[i].second);
    }
}

static void only_a_listening_stream_listens(void **state) {
    (void)state;
    struct sockaddr_un none = {.sun_family = AF_UNIX}; /* Linux chooses an abstract name */
    int stream = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int datagram = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_false(systemd_listens(stream));
    assert_int_equal(bind(stream, (struct sockaddr *)&none, sizeof(sa_family_t)), 0);
    assert_int_equal(listen(stream, 1), 0);
    assert_true(systemd_listens(stream));
    assert_false(systemd_listens(datagram));
    close(stream);
    close(datagram);
    assert_false(systemd_listens(stream));
}

/* A socket for messages, named `path` or, if it begins with @, abstractly. */
static int mailbox(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    memcpy(address.sun_path, path, length);
    address.sun_path[0] = path[0] == '@' ? '\0' : path[0];
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)),
                     0);
    return fd;
}

static void messages_reach_their_socket(void **state) {
    char path[100], text[100];
    const char *folder = getenv("TMPDIR");
    (void)state;
    for (int is_abstract = 0; is_abstract < 2; is_abstract++) {
        snprintf(path, sizeof path, "%s%s/firn-systemd-%ld", is_abstract ? "@" : "",
                 folder != NULL ? folder : "/tmp", (long)getpid());
        int fd = mailbox(path);
        set("NOTIFY_SOCKET", path);
        systemd_notify("STATUS=%d", 7);
        ssize_t size = recv(fd, text, sizeof text, 0);
        assert_int_equal(size, 8);
        assert_memory_equal(text, "STATUS=7", 8);
        systemd_notify("%*d", 1000,
                       1); /* too long: not sent, as a part might mean something else */
        assert_int_equal(recv(fd, text, sizeof text, 0), -1);
        close(fd);
        unlink(path);              /* an abstract name is gone by now */
        systemd_notify("READY=1"); /* nobody there: not waited for */
    }
}

static void a_name_that_is_none_is_left_alone(void **state) {
    char tall[200];
    memset(tall, 'a', sizeof tall - 1);
    tall[0] = '/';
    tall[sizeof tall - 1] = '\0';
    const char *const paths[] = {NULL, "", "/", "relative", "vsock:2:1", tall};
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        set("NOTIFY_SOCKET", paths[i]);
        systemd_notify("READY=1");
    }
    set("NOTIFY_SOCKET", NULL);
}

static void a_watchdog_may_be_of_another_process(void **state) {
    static const struct {
        const char *us, *pid;
        uint64_t expected;
    } rows[] = {{NULL, NULL, 0},    {"0", NULL, 0},    {"30000000", NULL, 30000000},
                {"5", "self", 5},   {"5", "1", 0},     {"5", "x", 0},
                {"5 s", "self", 0}, {"-5", "self", 0}, {"99999999999999999999", NULL, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        set("WATCHDOG_USEC", rows[i].us);
        set("WATCHDOG_PID", rows[i].pid);
        assert_int_equal(systemd_watchdog_us(), rows[i].expected);
    }
    set("WATCHDOG_USEC", NULL);
    set("WATCHDOG_PID", NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_ours_is_taken),
        cmocka_unit_test(malformed_counts_are_refused),
        cmocka_unit_test(names_are_cut_and_may_be_missing),
        cmocka_unit_test(only_a_listening_stream_listens),
        cmocka_unit_test(messages_reach_their_socket),
        cmocka_unit_test(a_name_that_is_none_is_left_alone),
        cmocka_unit_test(a_watchdog_may_be_of_another_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
