/* SPDX-License-Identifier: MIT */
/* Fails each call of the Redis module: calls_store.h. */
#define CALLERS 8
#define CALLS_DRIVER
#include "calls_store.h"

#include "asking.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <hiredis/hiredis.h>

CALL(redisReader *, redisReaderCreate, (void), (), 1, NULL)
CALL(int, redisReaderFeed, (redisReader * reader, const char *buf, size_t size),
     (reader, buf, size), 1, REDIS_ERR)
CALL(int, getsockopt, (int file, int level, int name, void *value, socklen_t *size),
     (file, level, name, value, size), 1, -1)
CALL(int, gnutls_certificate_set_x509_trust_file,
     (gnutls_certificate_credentials_t trust, const char *file, gnutls_x509_crt_fmt_t kind),
     (trust, file, kind), 2, -1, 0)
CALL(int, gnutls_certificate_set_x509_key_file,
     (gnutls_certificate_credentials_t trust, const char *file, const char *key,
      gnutls_x509_crt_fmt_t kind),
     (trust, file, key, kind), 1, -1)
CALL(int, gnutls_init, (gnutls_session_t * session, unsigned flags), (session, flags), 1,
     GNUTLS_E_MEMORY_ERROR)
CALL(int, gnutls_hash_fast,
     (gnutls_digest_algorithm_t kind, const void *text, size_t size, void *digest),
     (kind, text, size, digest), 1, -1)
CALL(int, gnutls_certificate_allocate_credentials, (gnutls_certificate_credentials_t * made),
     (made), 1, GNUTLS_E_MEMORY_ERROR)
CALL(int, gnutls_handshake, (gnutls_session_t session), (session), 4, GNUTLS_E_INTERRUPTED,
     GNUTLS_E_WARNING_ALERT_RECEIVED, GNUTLS_E_FATAL_ALERT_RECEIVED,
     GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR)
CALL(ssize_t, gnutls_record_recv, (gnutls_session_t session, void *buf, size_t size),
     (session, buf, size), 4, GNUTLS_E_AGAIN, GNUTLS_E_INTERRUPTED, GNUTLS_E_DECRYPTION_FAILED, 0)
CALL(ssize_t, gnutls_record_send, (gnutls_session_t session, const void *buf, size_t size),
     (session, buf, size), 3, GNUTLS_E_AGAIN, GNUTLS_E_INTERRUPTED, GNUTLS_E_PUSH_ERROR)

CALL_BY_HAND(long long, redisFormatCommandArgv,
             (char **command, int count, const char **texts, const size_t *sizes)) {
    return calls_answer("redisFormatCommandArgv", 1, 1) != 0
               ? -1
               : __real_redisFormatCommandArgv(command, count, texts, sizes);
}

/* Succeeds at once, or is refused. */
CALL_BY_HAND(int, connect, (int file, const struct sockaddr *address, socklen_t size)) {
    int which = calls_answer("connect", 2, 2);
    if (which == 2) {
        errno = ECONNREFUSED;
        return -1;
    }
    int result = __real_connect(file, address, size);
    if (which == 1) {
        struct pollfd ready = {file, POLLOUT, 0};
        return __real_poll(&ready, 1, 10000) == 1 ? 0 : -1;
    }
    return result;
}

CALL_BY_HAND(ssize_t, recv, (int file, void *buf, size_t size, int flags)) {
    static const int errors[] = {ECONNRESET, EAGAIN, EINTR};
    int which = calls_answer("recv", 4, 4);
    if (which == 0 || which == 4) {
        return which == 0 ? __real_recv(file, buf, size, flags) : 0;
    }
    errno = errors[which - 1];
    return -1;
}

/* Errors, or a part of the bytes. */
CALL_BY_HAND(ssize_t, send, (int file, const void *buf, size_t size, int flags)) {
    static const int errors[] = {EPIPE, EAGAIN, EINTR};
    int which = calls_answer("send", 4, 4);
    if (which == 0 || which == 4) {
        return __real_send(file, buf, which == 4 ? 1 : size, flags);
    }
    errno = errors[which - 1];
    return -1;
}

int __real_redisReaderGetReply(redisReader *reader, void **out);

static void *parsed(const char *text) {
    redisReader *reader = __real_redisReaderCreate();
    void *reply = NULL;
    assert_int_equal(__real_redisReaderFeed(reader, text, strlen(text)), REDIS_OK);
    assert_int_equal(__real_redisReaderGetReply(reader, &reply), REDIS_OK);
    redisReaderFree(reader);
    assert_non_null(reply);
    return reply;
}

/* No reply; another reply; an array with another element. */
CALL_BY_HAND(int, redisReaderGetReply, (redisReader * reader, void **out)) {
    static const char *const wholes[] = {"$-1\r\n",        ":5\r\n",           "+OK\r\n",
                                         "*0\r\n",         "-ERR no\r\n",      "-NOSCRIPT no\r\n",
                                         "-NOAUTH no\r\n", "*1\r\n$1\r\nx\r\n"};
    static const char *const parts[] = {"$-1\r\n", "$1\r\nx\r\n",
                                        "$20\r\n99999999999999999999\r\n"};
    enum {
        WHOLES = sizeof wholes / sizeof wholes[0],
        PARTS = sizeof parts / sizeof parts[0],
        AT = 5
    };
    int result = __real_redisReaderGetReply(reader, out);
    if (result != REDIS_OK || *out == NULL) {
        return result;
    }
    int which = calls_answer("redisReaderGetReply", 1, 1 + WHOLES + PARTS * AT);
    redisReply *reply = *out;
    if (which == 0) {
        return result;
    }
    if (which == 1 || which <= 1 + WHOLES) {
        freeReplyObject(reply);
        *out = which == 1 ? NULL : parsed(wholes[which - 2]);
        return which == 1 ? REDIS_ERR : REDIS_OK;
    }
    which -= 2 + WHOLES;
    size_t position = (size_t)(which / PARTS);
    if (reply->type == REDIS_REPLY_ARRAY && position < reply->elements) {
        freeReplyObject(reply->element[position]);
        reply->element[position] = parsed(parts[which % PARTS]);
    }
    return result;
}

static char tls_url[400], certificates[] = "/tmp/firn-calls-redis-XXXXXX";

static void prepare_tls(const test_engine *engine) {
    snprintf(tls_url, sizeof tls_url,
             "rediss://127.0.0.1:%d?prefix=s&ca=%s/ca.pem&cert=%s/client.pem&key=%s/client.key",
             engine_spare_port(engine, 1), certificates, certificates, certificates);
}

static const calls_scenario scenarios[] = {
    {.title = "marks", .url = "?prefix=t"},
    {.title = "connections break", .url = "?prefix=t", .cut = true},
    {.title = "TLS", .url = tls_url, .cut = true, .prepare = prepare_tls},
    {.title = "a name", .url = "?prefix=t", .host = "localhost"},
    {.title = "a login", .url = "?prefix=t", .host = "u:p@localhost", .ns = "n1"},
    {.title = "a new prefix", .url = "/3?prefix=t#", .ns = "n1", .list_all = true},
    {.title = "counters", .url = "?counters=1", .ns = "integer orders", .layout = "integer"},
    {.title = "all counters", .url = "?counters=1", .ns = "snow", .list_all = true},
};

/* The engine listens with and without TLS. */
int main(int count, char **arguments) {
    char options[800], command[300];
    if (mkdtemp(certificates) == NULL || !make_certificates(certificates)) {
        printf("Bail out! no certificates\n");
        return 1;
    }
    snprintf(options, sizeof options,
             "--tls-ca-cert-file '%s/ca.pem' --tls-cert-file '%s/server.pem' "
             "--tls-key-file '%s/server.key'",
             certificates, certificates, certificates);
    int failed = calls_main("redis", options, scenarios, sizeof scenarios / sizeof scenarios[0],
                            count > 1 ? arguments[1] : NULL);
    snprintf(command, sizeof command, "rm -rf '%s'", certificates);
    return system(command) != 0 || failed != 0;
}
