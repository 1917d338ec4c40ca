/* SPDX-License-Identifier: MIT */
/* The bytes of the Redis store: hiredis formats commands and reads replies; the socket is the
 * module's, so that every wait is limited and GnuTLS can encrypt. */
#include "redis.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REPLY_MOST    (16 << 20) /* bytes of one reply */
#define ELEMENTS_MOST 100000     /* of an array in it; a listing's has some thousand */

#if HIREDIS_MAJOR >= 1
typedef size_t element_count;
#else
typedef int element_count;
#endif

/* ---- bytes ----------------------------------------------------------------------------------- */

int redis_failed(const redis_store *store, firn_error *error, const char *why) {
    return module_fail(error, FIRN_ESTORE,
                       "store %.60s cannot be used (%.90s): start it, or read its log",
                       store->link.url.shown, why);
}

void redis_hang_up(void *self, bool forked) {
    redis_store *store = self;
    if (store->link.socket >= 0) {
        close(store->link.socket);
    }
    /* After a fork the session and the reader may be inconsistent and are not freed. */
    if (!forked && store->session != NULL) {
        gnutls_deinit(store->session);
    }
    if (!forked && store->reader != NULL) {
        redisReaderFree(store->reader);
    }
    store->link.socket = -1;
    store->session = NULL;
    store->reader = NULL;
}

static bool await(int fd, short events, int64_t deadline_ms) {
    if (module_await(fd, events, deadline_ms) != 0) {
        return true;
    }
    errno = ETIMEDOUT;
    return false;
}

/* The result of GnuTLS or the system: > 0 bytes, 0 the server closed, -1 wait for `events`, -2
 * failed. */
static ssize_t outcome(const redis_store *store, ssize_t result, short wish, short *events) {
    *events = wish;
    if (store->session == NULL) {
        return result >= 0                                                 ? result
               : errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? -1
                                                                           : -2;
    }
    if (result == GNUTLS_E_AGAIN || result == GNUTLS_E_INTERRUPTED) {
        *events = gnutls_record_get_direction(store->session) == 1 ? POLLOUT : POLLIN;
        return -1;
    }
    errno = result < 0 ? EPROTO : 0;
    return result >= 0 ? result : -2;
}

bool redis_send(const redis_store *store, const char *buf, size_t length, int64_t deadline_ms) {
    size_t position = 0;
    while (position < length) {
        short events;
        ssize_t result =
            store->session != NULL
                ? gnutls_record_send(store->session, buf + position, length - position)
                : send(store->link.socket, buf + position, length - position, MSG_NOSIGNAL);
        result = outcome(store, result, POLLOUT, &events);
        if (result == -2 || (result == -1 && !await(store->link.socket, events, deadline_ms))) {
            return false;
        }
        position += result > 0 ? (size_t)result : 0;
    }
    return true;
}

static ssize_t receive_some(const redis_store *store, char *buf, size_t size, short *events) {
    ssize_t result = store->session != NULL ? gnutls_record_recv(store->session, buf, size)
                                            : recv(store->link.socket, buf, size, MSG_DONTWAIT);
    return outcome(store, result, POLLIN, events);
}

redisReply *redis_receive(const redis_store *store, int64_t deadline_ms) {
    char buf[16384];
    void *reply = NULL;
    size_t total = 0;
    while (redisReaderGetReply(store->reader, &reply) == REDIS_OK && reply == NULL) {
        short events;
        ssize_t result = receive_some(store, buf, sizeof buf, &events);
        if (result == -2 || (result == -1 && !await(store->link.socket, events, deadline_ms))) {
            return NULL;
        }
        if (result == 0) {
            errno = ECONNRESET;
            return NULL;
        }
        total += result > 0 ? (size_t)result : 0;
        if (total > REPLY_MOST ||
            (result > 0 && redisReaderFeed(store->reader, buf, (size_t)result) != REDIS_OK)) {
            break;
        }
    }
    errno = reply == NULL ? EPROTO : 0;
    return reply;
}

bool redis_is_open(void *self) {
    const redis_store *store = self;
    char byte;
    short events;
    return store->link.socket >= 0 && store->reader->pos == store->reader->len &&
           receive_some(store, &byte, 1, &events) == -1;
}

/* ---- connecting ------------------------------------------------------------------------------ */

/* A connected socket, or -1 with errno. */
static int open_socket(const struct addrinfo *address, int64_t deadline_ms) {
    const int enabled = 1, idle_s = 30;
    int failure = 0;
    socklen_t size = sizeof failure;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &enabled, sizeof enabled);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &enabled, sizeof enabled);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    if (connect(fd, address->ai_addr, address->ai_addrlen) == 0) {
        return fd;
    }
    if (errno == EINPROGRESS && await(fd, POLLOUT, deadline_ms) &&
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size) == 0) {
        errno = failure;
    }
    if (errno != 0) {
        failure = errno;
        close(fd);
        errno = failure;
        return -1;
    }
    return fd;
}

static bool is_address(const char *name) {
    return strchr(name, ':') != NULL || strspn(name, "0123456789.") == strlen(name);
}

/* 0: encrypted, and the certificate is valid. Else GnuTLS's reason. */
static int secure(redis_store *store, const module_host *host, int64_t deadline_ms) {
    int result = gnutls_init(&store->session, GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL);
    if (result != 0) {
        store->session = NULL;
        return result;
    }
    gnutls_set_default_priority(store->session);
    gnutls_credentials_set(store->session, GNUTLS_CRD_CERTIFICATE, store->trust);
    if (!is_address(host->name)) {
        gnutls_server_name_set(store->session, GNUTLS_NAME_DNS, host->name, strlen(host->name));
    }
    if (store->tls.verify) {
        gnutls_session_set_verify_cert(store->session, host->name, 0);
    }
    gnutls_transport_set_int(store->session, store->link.socket);
    for (;;) {
        result = gnutls_handshake(store->session);
        if (result == 0 || gnutls_error_is_fatal(result)) {
            return result;
        }
        short events = gnutls_record_get_direction(store->session) == 1 ? POLLOUT : POLLIN;
        if (module_now_ms() >= deadline_ms ||
            (result == GNUTLS_E_AGAIN && !await(store->link.socket, events, deadline_ms))) {
            return GNUTLS_E_TIMEDOUT;
        }
    }
}

static int insecure(redis_store *store, int result, firn_error *error) {
    gnutls_datum_t datum = {NULL, 0};
    if (result == GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR &&
        gnutls_certificate_verification_status_print(
            gnutls_session_get_verify_cert_status(store->session),
            gnutls_certificate_type_get(store->session), &datum, 0) == 0) {
        module_fail(error, FIRN_ESTORE,
                    "store %.40s has a certificate that is not valid (%.70s): renew it, or name "
                    "its authority with ca=FILE",
                    store->link.url.shown, (const char *)datum.data);
        gnutls_free(datum.data);
        return FIRN_ESTORE;
    }
    return module_fail(error, FIRN_ESTORE,
                       "store %.60s does not accept TLS (%.60s): check tls=, cert= and key=",
                       store->link.url.shown, gnutls_strerror(result));
}

/* hiredis allocates an array by its announced length, before any element has arrived. */
static void *create_array(const redisReadTask *task, element_count count) {
    const redis_store *store = task->privdata;
    return count <= ELEMENTS_MOST ? store->unlimited.createArray(task, count) : NULL;
}

int redis_make_reader(redis_store *store, firn_error *error) {
    store->reader = redisReaderCreate();
    if (store->reader == NULL) {
        return module_no_memory(error);
    }
    store->limited = store->unlimited = *store->reader->fn;
    store->limited.createArray = create_array;
    store->reader->fn = &store->limited;
    store->reader->privdata = store;
    return FIRN_OK;
}

int redis_dial(redis_store *store, const module_host *host, const struct addrinfo *address,
               int64_t deadline_ms, firn_error *error) {
    store->link.socket = open_socket(address, deadline_ms);
    if (store->link.socket < 0) {
        return redis_failed(store, error, strerror(errno));
    }
    int result = store->tls.enabled ? secure(store, host, deadline_ms) : 0;
    if (result != 0) {
        return insecure(store, result, error);
    }
    return redis_make_reader(store, error);
}

int redis_trust(redis_store *store, firn_error *error) {
    const char *ca = store->tls.ca, *cert = store->tls.cert, *key = store->tls.key;
    if (!store->tls.enabled) {
        return FIRN_OK;
    }
    if (gnutls_certificate_allocate_credentials(&store->trust) != 0) {
        store->trust = NULL;
        return module_no_memory(error);
    }
    int result = ca != NULL
                     ? gnutls_certificate_set_x509_trust_file(store->trust, ca, GNUTLS_X509_FMT_PEM)
                     : gnutls_certificate_set_x509_system_trust(store->trust);
    if (result < 0 || (ca != NULL && result == 0)) {
        return module_fail(error, FIRN_EUSAGE, "ca=%.80s cannot be read (%.60s): give a PEM file",
                           ca != NULL ? ca : "", gnutls_strerror(result));
    }
    result = cert != NULL ? gnutls_certificate_set_x509_key_file(store->trust, cert, key,
                                                                 GNUTLS_X509_FMT_PEM)
                          : 0;
    return result >= 0
               ? FIRN_OK
               : module_fail(error, FIRN_EUSAGE,
                             "cert=%.60s with key=%.60s cannot be used (%.40s): give PEM files",
                             cert, key, gnutls_strerror(result));
}
