/* SPDX-License-Identifier: MIT */
#include "probe.h"

#include "core/monotonic.h"
#include "errors.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { LIMIT_MS = 3000, REPLY_SIZE = 4096, ADDRESS_SIZE = 256 };

/* ---- which address --------------------------------------------------------------------------- */

static bool is_unix(const char *address) {
    return strncmp(address, "unix:", 5) == 0;
}

/* A unix socket of the list, or its first address; "": none. */
static void choose(char address[ADDRESS_SIZE], const char *list) {
    static const char blanks[] = " \t";
    address[0] = '\0';
    for (list += strspn(list, blanks); *list != '\0'; list += strspn(list, blanks)) {
        size_t length = strcspn(list, blanks);
        bool is_none = length == 4 && strncmp(list, "none", 4) == 0;
        if (!is_none && (address[0] == '\0' || (is_unix(list) && !is_unix(address)))) {
            snprintf(address, ADDRESS_SIZE, "%.*s", (int)length, list);
        }
        list += length;
    }
}

/* ---- the connection -------------------------------------------------------------------------- */

static bool await(int fd, short what, int64_t until_ms) {
    struct pollfd poll_fd = {.fd = fd, .events = what};
    int64_t left_ms = until_ms - monotonic_ms();
    return left_ms > 0 && poll(&poll_fd, 1, (int)left_ms) == 1;
}

/* -1: not connected, with errno. */
static int connect_to(const struct sockaddr *peer, socklen_t length, int64_t until_ms) {
    int fd = socket(peer->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), why = 0;
    socklen_t size = sizeof why;
    if (fd < 0) {
        return -1;
    }
    if (connect(fd, peer, length) == 0) {
        return fd;
    }
    why = errno;
    if (why == EINPROGRESS && !await(fd, POLLOUT, until_ms)) {
        why = ETIMEDOUT;
    } else if (why == EINPROGRESS) {
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &size);
    }
    if (why == 0) {
        return fd;
    }
    close(fd);
    errno = why;
    return -1;
}

static int connect_unix(const char *path, int64_t until_ms) {
    struct sockaddr_un peer = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof peer.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(peer.sun_path, path, strlen(path) + 1);
    return connect_to((const struct sockaddr *)&peer, sizeof peer, until_ms);
}

/* HOST:PORT or [HOST]:PORT; a server that listens on every address also does on the loopback. */
static int connect_tcp(const char *address, int64_t until_ms) {
    char host[ADDRESS_SIZE];
    const char *colon = strrchr(address, ':');
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    size_t bracket = address[0] == '[';
    if (colon == NULL || strcmp(colon, ":0") == 0 || colon < address + 2 * bracket) {
        errno = EDESTADDRREQ; /* port 0: only the server's log has its port */
        return -1;
    }
    snprintf(host, sizeof host, "%.*s", (int)((size_t)(colon - address) - 2 * bracket),
             address + bracket);
    const char *out = strcmp(host, "0.0.0.0") == 0 ? "127.0.0.1"
                      : strcmp(host, "::") == 0    ? "::1"
                                                   : host;
    if (getaddrinfo(out, colon + 1, &hints, &found) != 0) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    int fd = connect_to(found->ai_addr, found->ai_addrlen, until_ms);
    freeaddrinfo(found);
    return fd;
}

/* ---- the question ---------------------------------------------------------------------------- */

/* Until the server closes, or the reply has a whole line if `one_line`. */
static long talk(int fd, const char *request, bool one_line, char *reply, size_t room,
                 int64_t until_ms) {
    size_t got = 0, length = strlen(request);
    if (send(fd, request, length, MSG_NOSIGNAL) != (ssize_t)length) {
        return -1;
    }
    while (got < room && await(fd, POLLIN, until_ms)) {
        ssize_t n = recv(fd, reply + got, room - got, 0);
        if (n <= 0) {
            break;
        }
        got += (size_t)n;
        if (one_line && memchr(reply, '\n', got) != NULL) {
            break;
        }
    }
    return (long)got;
}

static int not_ready(const char *address, const char *why, firn_error *error) {
    return set_error(error, FIRN_EBUSY, "%.40s is not ready: %.360s", address, why);
}

/* The reason in a problem of RFC 9457. */
static int refuse_reply(const char *address, char *reply, firn_error *error) {
    char *detail = strstr(reply, "\"detail\":\"");
    if (detail != NULL) {
        detail += strlen("\"detail\":\"");
        detail[strcspn(detail, "\"\\")] = '\0';
    } else {
        reply[strcspn(reply, "\r\n")] = '\0';
    }
    return not_ready(address,
                     detail != NULL     ? detail
                     : reply[0] != '\0' ? reply
                                        : "no reply",
                     error);
}

static int ask(const char *address, bool http, bool tls, firn_error *error) {
    static const char *const requests[] = {
        "*1\r\n$4\r\nPING\r\n",
        "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"};
    char reply[REPLY_SIZE + 1];
    int64_t until_ms = monotonic_ms() + LIMIT_MS;
    int fd =
        is_unix(address) ? connect_unix(address + 5, until_ms) : connect_tcp(address, until_ms);
    if (fd < 0) {
        return not_ready(address, strerror(errno), error);
    }
    bool secure = tls && !is_unix(address);
    long got = secure ? probe_tls(fd, requests[http], reply, REPLY_SIZE, until_ms)
                      : talk(fd, requests[http], !http, reply, REPLY_SIZE, until_ms);
    close(fd);
    reply[got > 0 ? got : 0] = '\0';
    bool ready = http ? strncmp(reply, "HTTP/1.1 200 ", 13) == 0
                      : strncmp(reply, "+PONG", 5) == 0 || strncmp(reply, "-NOAUTH", 7) == 0;
    return ready ? FIRN_OK : refuse_reply(address, reply, error);
}

int probe_ready(const server_settings *set, firn_error *error) {
    char address[ADDRESS_SIZE];
    bool tls = set->tls_cert[0] != '\0';
    choose(address, set->http);
    bool http = address[0] != '\0';
    if (!http) {
        choose(address, set->resp);
    }
    if (address[0] == '\0') {
        return set_error(error, FIRN_EUSAGE,
                         "resp = none and http = none: set an address for one of them");
    }
    if (set->tls_client_ca[0] != '\0' && !is_unix(address)) {
        return set_error(error, FIRN_EUSAGE,
                         "%.80s requires a client certificate: add a unix socket for this check, "
                         "such as http = %.80s unix:/run/firn/http",
                         address, address);
    }
    return ask(address, http, tls, error);
}
