/* SPDX-License-Identifier: MIT */
#include "systemd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The number in a variable; -1: it is not set, or not a number. */
static int64_t number_of(const char *variable) {
    const char *text = getenv(variable);
    if (text == NULL || text[0] < '0' || text[0] > '9') {
        return -1;
    }
    char *end = NULL;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    return *end == '\0' && errno == 0 ? number : -1;
}

/* Copies the names between colons; a socket without one is "unknown", as in
 * sd_listen_fds_with_names(3). */
static void copy_names(char names[][SYSTEMD_NAME], int count, const char *text) {
    for (int i = 0; i < count; i++) {
        size_t length = text != NULL ? strcspn(text, ":") : 0;
        snprintf(names[i], SYSTEMD_NAME, "%.*s", length > 0 ? (int)length : 7,
                 length > 0 ? text : "unknown");
        text = text != NULL && text[length] == ':' ? text + length + 1 : NULL;
    }
}

int systemd_sockets(char names[][SYSTEMD_NAME], int room) {
    int64_t pid = number_of("LISTEN_PID"), count = number_of("LISTEN_FDS");
    bool is_ours = pid == getpid() && getenv("LISTEN_FDS") != NULL;
    if (is_ours && count > 0 && count <= INT_MAX - SYSTEMD_FIRST) {
        for (int i = 0; i < count; i++) {
            if (fcntl(SYSTEMD_FIRST + i, F_SETFD, FD_CLOEXEC) != 0) {
                count = -1;
            }
        }
        copy_names(names, count < room ? (int)count : room, getenv("LISTEN_FDNAMES"));
    } else if (is_ours && count != 0) {
        count = -1;
    }
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    return is_ours ? (int)count : 0;
}

static bool has_option(int fd, int option, int expected) {
    int value = 0;
    socklen_t size = sizeof value;
    return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 && value == expected;
}

bool systemd_listens(int fd) {
    return has_option(fd, SO_TYPE, SOCK_STREAM) && has_option(fd, SO_ACCEPTCONN, 1);
}

void systemd_notify(const char *format, ...) {
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un self = {.sun_family = AF_UNIX};
    size_t length = path != NULL ? strlen(path) : 0;
    if (length < 2 || length >= sizeof self.sun_path || (path[0] != '/' && path[0] != '@')) {
        return;
    }
    memcpy(self.sun_path, path, length);
    if (path[0] == '@') { /* an abstract name */
        self.sun_path[0] = '\0';
    }
    char text[1000];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && size > 0 && (size_t)size < sizeof text) {
        sendto(fd, text, (size_t)size, MSG_NOSIGNAL, (struct sockaddr *)&self,
               (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
    }
    if (fd >= 0) {
        close(fd);
    }
}

uint64_t systemd_watchdog_us(void) {
    int64_t us = number_of("WATCHDOG_USEC"), pid = number_of("WATCHDOG_PID");
    bool is_ours = getenv("WATCHDOG_PID") == NULL || pid == getpid();
    return is_ours && us > 0 ? (uint64_t)us : 0;
}
