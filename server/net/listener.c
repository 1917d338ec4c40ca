/* SPDX-License-Identifier: MIT */
#include "listener.h"

#include "errors.h"
#include "systemd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    BACKLOG = 4096,     /* limited by net.core.somaxconn */
    LOCK_TRIES = 100,   /* 10 ms each */
    ADDRESS_SIZE = 300, /* longest address of a setting */
    HANDED_MAX = 64     /* maximum from systemd */
};

/* ---- addresses ------------------------------------------------------------------------------ */

typedef struct listen_address {
    char text[ADDRESS_SIZE]; /* as configured */
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un local;
        struct sockaddr_storage room;
    } socket;
    socklen_t size;
} listen_address;

static int bad_address(const char *text, firn_error *error) {
    return set_error(error, FIRN_EUSAGE,
                     "'%.60s' is not a valid address: use HOST:PORT with a numeric host or "
                     "localhost, [HOST]:PORT, unix:PATH, or none",
                     text);
}

static int read_path(listen_address *out, const char *path, firn_error *error) {
    struct sockaddr_un *local = &out->socket.local;
    if (path[0] != '/' || strlen(path) >= sizeof local->sun_path) {
        return set_error(error, FIRN_EUSAGE,
                         "'%.60s' is not a valid socket path: use unix: and an absolute path of at "
                         "most %zu bytes",
                         out->text, sizeof local->sun_path - 1);
    }
    local->sun_family = AF_UNIX;
    memcpy(local->sun_path, path, strlen(path) + 1);
    out->size = (socklen_t)sizeof *local;
    return FIRN_OK;
}

/* No names except localhost: an address must not depend on a name server. */
static int read_host(listen_address *out, firn_error *error) {
    char host[ADDRESS_SIZE];
    const char *text = out->text, *colon = strrchr(text, ':');
    bool bracketed = text[0] == '[';
    if (colon == NULL || colon == text || colon[1] == '\0' ||
        colon[1 + strspn(colon + 1, "0123456789")] != '\0' || (bracketed && colon[-1] != ']')) {
        return bad_address(text, error);
    }
    if (strlen(colon + 1) > 5 || atoi(colon + 1) > 65535) {
        return set_error(error, FIRN_ERANGE,
                         "the port of %.60s is out of range: use 1 to 65535, or 0 for a free port",
                         text);
    }
    size_t length = (size_t)(colon - text) - (bracketed ? 2 : 0);
    snprintf(host, sizeof host, "%.*s", (int)length, text + bracketed);
    if (strcmp(host, "localhost") == 0) {
        snprintf(host, sizeof host, "127.0.0.1");
    }
    if (!bracketed && inet_pton(AF_INET, host, &(struct in_addr){0}) != 1) { /* refuses 127.1 */
        return bad_address(text, error);
    }
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                             .ai_family = bracketed ? AF_INET6 : AF_INET,
                             .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    if (length == 0 || getaddrinfo(host, colon + 1, &hints, &found) != 0) {
        return bad_address(text, error);
    }
    memcpy(&out->socket, found->ai_addr, found->ai_addrlen);
    out->size = found->ai_addrlen;
    freeaddrinfo(found);
    return FIRN_OK;
}

/* Parses the next address and advances *rest. 1: found, 0: end, or a FIRN_E code. */
static int next_address(listen_address *out, const char **rest, firn_error *error) {
    *rest += strspn(*rest, " \t,");
    size_t length = strcspn(*rest, " \t,");
    if (length == 0) {
        return 0;
    }
    memset(out, 0, sizeof *out);
    snprintf(out->text, sizeof out->text, "%.*s", (int)length, *rest);
    if (length >= sizeof out->text) {
        return bad_address(out->text, error);
    }
    *rest += length;
    int code = strncmp(out->text, "unix:", 5) == 0 ? read_path(out, out->text + 5, error)
                                                   : read_host(out, error);
    return code == FIRN_OK ? 1 : code;
}

static bool is_none(const char *addresses) {
    return addresses[strspn(addresses, " \t")] == '\0' || strcmp(addresses, "none") == 0;
}

int addresses_check(const char *addresses, firn_error *error) {
    listen_address address;
    int count = 0, code = 1;
    while (!is_none(addresses) && (code = next_address(&address, &addresses, error)) == 1) {
        if (++count > LISTENERS_MAX) {
            return set_error(error, FIRN_ERANGE,
                             "%d addresses are more than the maximum of %d: use fewer", count,
                             LISTENERS_MAX);
        }
    }
    return code < 0 ? code : FIRN_OK;
}

static bool reaches_out(const listen_address *address) {
    const struct in6_addr *v6 = &address->socket.v6.sin6_addr;
    switch (address->socket.any.sa_family) {
    case AF_UNIX:
        return false;
    case AF_INET:
        return ntohl(address->socket.v4.sin_addr.s_addr) >> 24 != 127;
    default:
        return !IN6_IS_ADDR_LOOPBACK(v6) && !(IN6_IS_ADDR_V4MAPPED(v6) && v6->s6_addr[12] == 127);
    }
}

/* Unreadable addresses are reported by addresses_check. */
bool address_is_public(const char *addresses) {
    listen_address address;
    firn_error error;
    while (!is_none(addresses) && next_address(&address, &addresses, &error) == 1) {
        if (reaches_out(&address)) {
            return true;
        }
    }
    return false;
}

/* ---- sockets -------------------------------------------------------------------------------- */

static int refused(const char *what, int number, firn_error *error) {
    const char *cure = "use another address";
    switch (number) {
    case EADDRINUSE:
        cure = "another process listens there: stop it, or set --resp or --http";
        break;
    case EEXIST:
        cure = "it is not a socket: remove it, or use another path";
        break;
    case EACCES:
    case EPERM:
        cure = "this process lacks the permission: use another address, or grant the permission";
        break;
    case EADDRNOTAVAIL:
        cure = "no interface has this address: use an address of this machine";
        break;
    case ENOENT:
        cure = "its directory is missing: create it";
        break;
    default:
        break;
    }
    return set_error(error, FIRN_ESYSTEM, "cannot listen on %.80s: %s: %s", what, strerror(number),
                     cure);
}

/* Writes the address with the actual port. */
static void name_listener(server_listener *listener) {
    struct sockaddr_storage room = {0};
    struct sockaddr *address = (struct sockaddr *)&room;
    socklen_t size = sizeof room;
    char host[INET6_ADDRSTRLEN + 20], port[8];
    if (getsockname(listener->fd, address, &size) != 0) {
        return;
    }
    listener->is_unix = address->sa_family == AF_UNIX;
    if (listener->is_unix) {
        const struct sockaddr_un *local = (const struct sockaddr_un *)&room;
        snprintf(listener->address, sizeof listener->address, "unix:%.107s", local->sun_path);
    } else if (getnameinfo(address, size, host, sizeof host, port, sizeof port,
                           NI_NUMERICHOST | NI_NUMERICSERV) == 0) {
        bool v6 = address->sa_family == AF_INET6;
        snprintf(listener->address, sizeof listener->address, "%s%s%s:%s", v6 ? "[" : "", host,
                 v6 ? "]" : "", port);
    }
}

static int set_on(int fd, int level, int option) {
    return setsockopt(fd, level, option, &(int){1}, sizeof(int));
}

/* `together`: with SO_REUSEPORT. */
static int bind_one(const listen_address *address, bool together) {
    int family = address->socket.any.sa_family;
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -1;
    }
    bool fine = set_on(fd, SOL_SOCKET, SO_REUSEADDR) == 0 &&
                (family != AF_INET6 || set_on(fd, IPPROTO_IPV6, IPV6_V6ONLY) == 0) &&
                (!together || set_on(fd, SOL_SOCKET, SO_REUSEPORT) == 0) &&
                bind(fd, &address->socket.any, address->size) == 0;
    if (!fine) {
        int number = errno;
        close(fd);
        errno = number;
        return -1;
    }
    return fd;
}

/* The first copy binds without SO_REUSEPORT, which fails if another server of this user has the
 * address; the others may then share it. */
static int open_tcp(server_listener out[], listen_address *address, int copies) {
    for (int i = 0; i < copies; i++) {
        out[i] = (server_listener){.fd = bind_one(address, i > 0)};
        if (out[i].fd < 0 ||
            (i == 0 && copies > 1 && set_on(out[i].fd, SOL_SOCKET, SO_REUSEPORT) != 0) ||
            listen(out[i].fd, BACKLOG) != 0) {
            int number = errno;
            listeners_close(out, i + (out[i].fd >= 0));
            errno = number;
            return -1;
        }
        name_listener(&out[i]);
        socklen_t size = sizeof address->socket;
        if (i == 0) {
            getsockname(out[i].fd, &address->socket.any, &size); /* the port chosen for 0 */
        }
    }
    return copies;
}

/* Duplicates one socket. */
static int duplicate(server_listener out[], int copies) {
    for (int i = 1; i < copies; i++) {
        out[i] = out[0];
        out[i].inode = 0; /* only the first removes the file */
        out[i].fd = fcntl(out[0].fd, F_DUPFD_CLOEXEC, 3);
        if (out[i].fd < 0) {
            int number = errno;
            listeners_close(out, i);
            errno = number;
            return -1;
        }
    }
    return copies;
}

/* ---- unix sockets --------------------------------------------------------------------------- */

/* Two servers that start at once must not remove each other's new socket: the lock of the folder
 * covers check, removal, bind and listen. Returns the folder's descriptor, or -1. */
static int lock_folder(const char *path) {
    char folder[sizeof(struct sockaddr_un)];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path) + 1, path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
        if (errno != EWOULDBLOCK || i == LOCK_TRIES) {
            close(fd);
            errno = EADDRINUSE;
            return -1;
        }
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return fd;
}

/* A socket without a server is left over from a killed one. */
static bool is_stale(const listen_address *address) {
    struct stat found;
    if (lstat(address->socket.local.sun_path, &found) != 0 || !S_ISSOCK(found.st_mode)) {
        return false;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool stale =
        fd >= 0 && connect(fd, &address->socket.any, address->size) != 0 && errno == ECONNREFUSED;
    if (fd >= 0) {
        close(fd);
    }
    return stale;
}

static int open_locked(server_listener *out, const listen_address *address, int mode) {
    const char *path = address->socket.local.sun_path;
    struct stat made;
    if (is_stale(address)) {
        unlink(path);
    }
    mode_t before = umask(0177); /* nobody can connect before chmod */
    *out = (server_listener){.fd = bind_one(address, false)};
    int number = errno;
    umask(before);
    if (out->fd < 0 && number == EADDRINUSE && lstat(path, &made) == 0 && !S_ISSOCK(made.st_mode)) {
        number = EEXIST;
    }
    errno = number;
    if (out->fd < 0) {
        return -1;
    }
    if (chmod(path, (mode_t)mode) != 0 || lstat(path, &made) != 0 ||
        listen(out->fd, BACKLOG) != 0) {
        number = errno;
        close(out->fd);
        unlink(path);
        errno = number;
        return -1;
    }
    out->device = made.st_dev;
    out->inode = made.st_ino;
    name_listener(out);
    return 1;
}

static int open_unix(server_listener out[], const listen_address *address, int copies, int mode) {
    int folder = lock_folder(address->socket.local.sun_path);
    if (folder < 0) {
        return -1;
    }
    int count = open_locked(out, address, mode);
    int number = errno;
    close(folder);
    errno = number;
    return count < 0 ? -1 : duplicate(out, copies);
}

/* ---- systemd -------------------------------------------------------------------------------- */

/* Sockets from systemd, read once because reading removes the variables. */
static struct {
    bool asked;
    int count;
    char names[HANDED_MAX][SYSTEMD_NAME];
} handed;

static bool is_protocol(const char *name) {
    return strcmp(name, "resp") == 0 || strcmp(name, "http") == 0;
}

/* Sockets of one protocol; 0: none. */
static int take_handed(server_listener out[], int room, const char *protocol, int copies,
                       firn_error *error) {
    int count = 0;
    if (!handed.asked) {
        handed.asked = true;
        handed.count = systemd_sockets(handed.names, HANDED_MAX);
    }
    if (handed.count < 0 || handed.count > HANDED_MAX) {
        return set_error(error, FIRN_ESYSTEM, "systemd passed %d sockets: pass 1 to %d",
                         handed.count, HANDED_MAX);
    }
    for (int i = 0; i < handed.count; i++) {
        int fd = SYSTEMD_FIRST + i;
        if (!is_protocol(handed.names[i])) {
            return set_error(error, FIRN_EUSAGE,
                             "systemd passed a socket named '%s': set FileDescriptorName=resp or "
                             "FileDescriptorName=http in its unit",
                             handed.names[i]);
        }
        if (strcmp(handed.names[i], protocol) != 0) {
            continue;
        }
        if (count + copies > room || !systemd_listens(fd) || fcntl(fd, F_SETFL, O_NONBLOCK) != 0) {
            return set_error(error, FIRN_ESYSTEM,
                             "descriptor %d that systemd passed is not a listening socket, or one "
                             "too many: set ListenStream= in its unit",
                             fd);
        }
        out[count] = (server_listener){.fd = fd, .inherited = true};
        name_listener(&out[count]);
        if (duplicate(out + count, copies) < 0) {
            return refused(out[count].address, errno, error);
        }
        count += copies;
    }
    return count;
}

/* ---- both ----------------------------------------------------------------------------------- */

int listeners_open(server_listener out[], int room, const char *protocol, const char *addresses,
                   int copies, int socket_mode, firn_error *error) {
    listen_address address;
    int more = 0, count = take_handed(out, room, protocol, copies, error);
    if (count != 0) {
        return count;
    }
    while (!is_none(addresses) && (more = next_address(&address, &addresses, error)) == 1) {
        int opened = 0;
        if (count + copies > room) {
            more =
                set_error(error, FIRN_ERANGE, "more than %d addresses: use fewer", room / copies);
            break;
        }
        opened = address.socket.any.sa_family == AF_UNIX
                     ? open_unix(out + count, &address, copies, socket_mode)
                     : open_tcp(out + count, &address, copies);
        if (opened < 0) {
            more = refused(address.text, errno, error);
            break;
        }
        count += copies;
    }
    if (more < 0) {
        listeners_close(out, count);
        return more;
    }
    return count;
}

static void remove_file(const server_listener *listener) {
    struct stat found;
    const char *path = listener->address + strlen("unix:");
    if (listener->is_unix && !listener->inherited && lstat(path, &found) == 0 &&
        found.st_dev == listener->device && found.st_ino == listener->inode) {
        unlink(path);
    }
}

/* The kernel completes connections until close(), and close() resets those that were not accepted.
 * So the first packet of each new connection (SYN in the flags of its header) is dropped. */
void listener_quiesce(server_listener *listener) {
    struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13),        /* the flags */
                                 BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 2, 0, 1), /* SYN? */
                                 BPF_STMT(BPF_RET | BPF_K, 0),                  /* drop it */
                                 BPF_STMT(BPF_RET | BPF_K, 0xffffffff)};
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    remove_file(listener);
    if (!listener->is_unix && !listener->inherited &&
        setsockopt(listener->fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0) {
        listen(listener->fd, 0); /* at most one more */
    }
}

void listener_close(server_listener *listener) {
    if (listener->fd >= 0) {
        close(listener->fd);
        listener->fd = -1;
    }
}

void listeners_close(server_listener all[], int count) {
    for (int i = 0; i < count; i++) {
        remove_file(&all[i]);
        listener_close(&all[i]);
    }
}
