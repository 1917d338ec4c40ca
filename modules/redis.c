/* SPDX-License-Identifier: MIT */
/* The store on Redis: each verb is one script on one connection of the handle's own, written and
 * read through hiredis's formatter and reader; the socket is ours, so that every wait is bounded
 * and GnuTLS can stand between. Nothing is ever sent twice. Takes nothing from libfirn.
 *
 * What it makes: {PREFIX}, the set of namespaces; {PREFIX}:, a hash with the fields identity (the run ID
 * of the server) and losses (how often the store was found gone back: another run ID, or a handle that
 * saw more); {PREFIX}:NS, a hash with the fields layout, losses (when it was last reserved from), floor, and
 * for each key "high KEY", "grant KEY" and "note KEY". The braces keep all of them in one slot of a
 * cluster. */
#include "module.h"
#include "redis_lua.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT          6379
#define REPLY_MOST    (16 << 20) /* bytes of one reply */
#define ADDRESSES     4          /* of a host that are tried */
#define LIST_CHUNK    64         /* keys that one command of a listing asks for */
#define LIST_ROUNDS   1000000    /* replies of one scan */
#define ARGUMENTS_MAX (3 * LIST_CHUNK + 8)
#define NUMBER_SIZE   24
#define RETURNED_MAX  3 /* texts that a script returns */

/* A script, and how EVALSHA calls it. */
typedef struct script {
    const char *text;
    char sha[41];
} script;

typedef struct store {
    module_url url;
    int64_t database, connect_ms, call_ms, unsafe, counters, tls, verify;
    const char *prefix;
    char index[64]; /* the key of the set of namespaces */
    firn_store_options options;
    script reserve, give_back, count;
    gnutls_certificate_credentials_t trust; /* NULL without TLS */
    module_seen seen;
    module_last last;
    char losses[24]; /* of the store when this handle last reserved; "": it knows nothing */
    module_retry retry;
    char why[120]; /* the last connection failed */
    const char *caution;
    module_lookup *lookups[MODULE_HOSTS_MAX];
    size_t host; /* the one that is tried first */
    pid_t pid;   /* whose connection this is */
    int fd;      /* -1: none */
    gnutls_session_t session;
    redisReader *reader;
} store;

FIRN_API extern const firn_store_ops firn_store_module;

/* The failpoints of one write. */
typedef struct points {
    const char *before, *sent, *committed;
} points;

static const points reserve_points = {"reserve.before", "reserve.sent", "reserve.committed"};
static const points give_back_points = {"give_back.before", "give_back.sent",
                                        "give_back.committed"};

/* ---- scripts --------------------------------------------------------------------------------- */

static int load_script(script *out, const char *text, firn_error *error) {
    unsigned char digest[20];
    if (gnutls_hash_fast(GNUTLS_DIG_SHA1, text, strlen(text), digest) != 0) {
        return module_fail(error, FIRN_ESYSTEM,
                           "GnuTLS refuses SHA-1, by which Redis names its "
                           "scripts: allow it");
    }
    out->text = text;
    for (size_t i = 0; i < sizeof digest; i++) {
        snprintf(out->sha + 2 * i, 3, "%02x", digest[i]);
    }
    return FIRN_OK;
}

/* ---- what may lose marks --------------------------------------------------------------------- */

/* Each is refused, or with unsafe=1 told as a caution; the first that applies. */
static const struct hazard {
    const char *sentence, *cure;
} hazards[] = {
    {"CONFIG GET is forbidden, so nobody knows whether Redis keeps what it acknowledges",
     "allow this user +config|get"},
    {"appendonly is not yes, so Redis forgets marks when it restarts",
     "set appendonly yes and appendfsync always in its file"},
    {"appendfsync is not always, so Redis forgets the last marks when it crashes",
     "set appendfsync always in its file"},
    {"no-appendfsync-on-rewrite is yes, so Redis may forget marks when it crashes",
     "set it to no in its file"},
    {"maxmemory-policy is not noeviction, so Redis may drop marks when memory is short",
     "set it to noeviction"},
    {"Redis is a member of a cluster, whose failover forgets marks", "use a server of its own"},
    {"Redis has replicas, and a failover forgets the marks that they lack",
     "use a server without replicas"},
};

enum {
    HAZARD_HIDDEN,
    HAZARD_NO_LOG,
    HAZARD_SYNC,
    HAZARD_REWRITE,
    HAZARD_EVICTS,
    HAZARD_CLUSTER,
    HAZARD_REPLICAS,
    HAZARDS
};

_Static_assert(sizeof hazards / sizeof hazards[0] == HAZARDS, "a line for each");

/* ---- connection: bytes ----------------------------------------------------------------------- */

/* Closes without a word. After a fork the session and the reader may be in the middle of something
 * and are left behind. */
static void drop(store *self, bool forked) {
    if (self->fd >= 0) {
        close(self->fd);
    }
    if (!forked && self->session != NULL) {
        gnutls_deinit(self->session);
    }
    if (!forked && self->reader != NULL) {
        redisReaderFree(self->reader);
    }
    if (forked) {
        memset(self->lookups, 0, sizeof self->lookups); /* nobody works on them here */
    }
    self->fd = -1;
    self->session = NULL;
    self->reader = NULL;
}

/* Waits until the socket can do what the events say. False: not before the deadline. */
static bool await(int fd, short events, int64_t deadline_ms) {
    for (;;) {
        int64_t left = deadline_ms - module_now_ms();
        struct pollfd ready = {fd, events, 0};
        int result = left > 0 ? poll(&ready, 1, (int)left) : 0;
        if (result > 0) {
            return true;
        }
        if (left <= 0 || (result < 0 && errno != EINTR)) {
            errno = ETIMEDOUT;
            return false;
        }
    }
}

/* What GnuTLS or the system said: > 0 bytes, 0 the other end closed, -1 wait for `events`, -2 it
 * failed. */
static ssize_t outcome(const store *self, ssize_t result, short wish, short *events) {
    *events = wish;
    if (self->session == NULL) {
        return result >= 0                                                 ? result
               : errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? -1
                                                                           : -2;
    }
    if (result == GNUTLS_E_AGAIN || result == GNUTLS_E_INTERRUPTED) {
        *events = gnutls_record_get_direction(self->session) == 1 ? POLLOUT : POLLIN;
        return -1;
    }
    errno = result < 0 ? EPROTO : 0;
    return result >= 0 ? result : -2;
}

/* False leaves errno; what arrived of a command that is not whole is never carried out. */
static bool send_all(const store *self, const char *buf, size_t length, int64_t deadline_ms) {
    size_t at = 0;
    while (at < length) {
        short events;
        ssize_t result = self->session != NULL
                             ? gnutls_record_send(self->session, buf + at, length - at)
                             : send(self->fd, buf + at, length - at, MSG_NOSIGNAL);
        result = outcome(self, result, POLLOUT, &events);
        if (result == -2 || (result == -1 && !await(self->fd, events, deadline_ms))) {
            return false;
        }
        at += result > 0 ? (size_t)result : 0;
    }
    return true;
}

static ssize_t receive_some(const store *self, char *buf, size_t size, short *events) {
    ssize_t result = self->session != NULL ? gnutls_record_recv(self->session, buf, size)
                                           : recv(self->fd, buf, size, MSG_DONTWAIT);
    return outcome(self, result, POLLIN, events);
}

/* One reply. NULL leaves errno. */
static redisReply *receive(const store *self, int64_t deadline_ms) {
    char buf[16384];
    void *reply = NULL;
    size_t total = 0;
    while (redisReaderGetReply(self->reader, &reply) == REDIS_OK && reply == NULL) {
        short events;
        ssize_t result = receive_some(self, buf, sizeof buf, &events);
        if (result == -2 || (result == -1 && !await(self->fd, events, deadline_ms))) {
            return NULL;
        }
        if (result == 0) {
            errno = ECONNRESET;
            return NULL;
        }
        total += result > 0 ? (size_t)result : 0;
        if (total > REPLY_MOST ||
            (result > 0 && redisReaderFeed(self->reader, buf, (size_t)result) != REDIS_OK)) {
            break;
        }
    }
    errno = reply == NULL ? EPROTO : 0;
    return reply;
}

/* Did the other end close while nobody looked, or say what nobody asked for? Nothing is lost by
 * connecting anew before a command is written. */
static bool is_stale(const store *self) {
    char byte;
    short events;
    return self->reader->pos != self->reader->len || receive_some(self, &byte, 1, &events) != -1;
}

/* ---- connection: hosts ----------------------------------------------------------------------- */

/* A socket that is connected, or -1 with errno. */
static int dial(const struct addrinfo *to, int64_t deadline_ms) {
    const int on = 1, idle_s = 30;
    int failure = 0;
    socklen_t size = sizeof failure;
    int fd = socket(to->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    if (connect(fd, to->ai_addr, to->ai_addrlen) == 0) {
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

/* 0: encrypted, and the other end is who it should be. Else GnuTLS's reason. */
static int secure(store *self, const module_host *host, int64_t deadline_ms) {
    int result = gnutls_init(&self->session, GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL);
    if (result != 0) {
        self->session = NULL;
        return result;
    }
    gnutls_set_default_priority(self->session);
    gnutls_credentials_set(self->session, GNUTLS_CRD_CERTIFICATE, self->trust);
    if (!is_address(host->name)) {
        gnutls_server_name_set(self->session, GNUTLS_NAME_DNS, host->name, strlen(host->name));
    }
    if (self->verify) {
        gnutls_session_set_verify_cert(self->session, host->name, 0);
    }
    gnutls_transport_set_int(self->session, self->fd);
    for (;;) {
        result = gnutls_handshake(self->session);
        if (result == 0 || (result != GNUTLS_E_AGAIN && gnutls_error_is_fatal(result))) {
            return result;
        }
        if (result == GNUTLS_E_AGAIN &&
            !await(self->fd, gnutls_record_get_direction(self->session) == 1 ? POLLOUT : POLLIN,
                   deadline_ms)) {
            return GNUTLS_E_TIMEDOUT;
        }
    }
}

/* ---- connection: the first words ------------------------------------------------------------- */

static int failed(const store *self, firn_error *error, const char *why) {
    return module_fail(error, FIRN_ESTORE,
                       "store %.60s cannot be used (%.90s): start it, or look at its log",
                       self->url.shown, why);
}

/* The value of a line of INFO, "" where it is not. */
static void info_field(char *out, size_t size, const redisReply *info, const char *name) {
    size_t length = strlen(name);
    out[0] = '\0';
    for (const char *line = info->str; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && line[length] == ':') {
            snprintf(out, size, "%.*s", (int)strcspn(line + length + 1, "\r\n"), line + length + 1);
            return;
        }
    }
}

static bool info_is(const redisReply *info, const char *name, const char *value) {
    char text[64];
    info_field(text, sizeof text, info, name);
    return strcmp(text, value) == 0;
}

static bool is_text(const redisReply *reply) {
    return reply->type == REDIS_REPLY_STRING || reply->type == REDIS_REPLY_STATUS;
}

static bool config_is(const redisReply *config, const char *name, const char *value) {
    for (size_t i = 0; i + 1 < config->elements; i += 2) {
        if (is_text(config->element[i]) && is_text(config->element[i + 1]) &&
            strcmp(config->element[i]->str, name) == 0) {
            return strcmp(config->element[i + 1]->str, value) == 0;
        }
    }
    return false;
}

/* The first hazard that applies, or HAZARDS. */
static int judge(const redisReply *info, const redisReply *config) {
    const bool told = config->type == REDIS_REPLY_ARRAY && config->elements > 0;
    const bool found[HAZARDS] = {
        [HAZARD_HIDDEN] = !told,
        [HAZARD_NO_LOG] = !info_is(info, "aof_enabled", "1"),
        [HAZARD_SYNC] = told && !config_is(config, "appendfsync", "always"),
        [HAZARD_REWRITE] = told && !config_is(config, "no-appendfsync-on-rewrite", "no"),
        [HAZARD_EVICTS] = !info_is(info, "maxmemory_policy", "noeviction"),
        [HAZARD_CLUSTER] = info_is(info, "cluster_enabled", "1"),
        [HAZARD_REPLICAS] = !info_is(info, "connected_slaves", "0"),
    };
    int at =
        found[HAZARD_NO_LOG] ? HAZARD_NO_LOG : 0; /* tells more than that CONFIG is forbidden */
    while (at < HAZARDS && !found[at]) {
        at++;
    }
    return at;
}

/* Is this a server that may keep marks at all, and does it? */
static int examine(store *self, const redisReply *info, const redisReply *config,
                   firn_error *error) {
    char identity[64];
    if (!is_text(info)) {
        return module_fail(error, FIRN_ESTORE,
                           "store %.60s refuses INFO (%.60s): allow this user +info",
                           self->url.shown, info->str != NULL ? info->str : "?");
    }
    if (!info_is(info, "role", "master")) {
        return module_fail(error, FIRN_ESTORE,
                           "store %.60s is a replica or a sentinel, which takes no writes: name "
                           "the primary server",
                           self->url.shown);
    }
    if (!info_is(info, "loading", "0")) {
        return failed(self, error, "it is loading its data");
    }
    info_field(identity, sizeof identity, info, "run_id");
    if (identity[0] == '\0') {
        return failed(self, error, "INFO tells no run_id");
    }
    int hazard = judge(info, config);
    if (hazard < HAZARDS && !self->unsafe) {
        return module_fail(error, FIRN_ESTORE,
                           "store %.40s: %s: %s, or take the risk with unsafe=1", self->url.shown,
                           hazards[hazard].sentence, hazards[hazard].cure);
    }
    self->caution = hazard < HAZARDS ? hazards[hazard].sentence : NULL;
    return FIRN_OK;
}

/* Commands that go out together. */
typedef struct batch {
    char *buf;
    size_t length;
    bool failed;
} batch;

static void batch_free(batch *out) {
    if (out->buf != NULL) {
        explicit_bzero(out->buf, out->length); /* a password may be in it */
        free(out->buf);
    }
}

static void batch_add(batch *out, int count, const char **arguments) {
    char *command = NULL;
    int length = redisFormatCommandArgv(&command, count, arguments, NULL);
    char *more = length > 0 ? malloc(out->length + (size_t)length) : NULL;
    if (more == NULL) {
        out->failed = true;
    } else {
        memcpy(more + out->length, command, (size_t)length);
        if (out->buf != NULL) {
            memcpy(more, out->buf, out->length);
        }
        size_t whole = out->length + (size_t)length;
        batch_free(out);
        out->buf = more;
        out->length = whole;
    }
    if (length > 0) {
        explicit_bzero(command, (size_t)length);
        redisFreeCommand(command);
    }
}

enum { HELLO_LOGIN, HELLO_SELECT, HELLO_INFO, HELLO_CONFIG, HELLO_SLOT, HELLOS };

static int judge_hello(store *self, redisReply **replies, firn_error *error) {
    static const char *const what[] = {"the login", "the database", NULL, NULL, NULL};
    for (int i = HELLO_LOGIN; i <= HELLO_SELECT; i++) {
        if (replies[i] != NULL && replies[i]->type == REDIS_REPLY_ERROR) {
            /* Only the first word: an engine may repeat what it was sent. */
            return module_fail(error, FIRN_ESTORE,
                               "store %.60s refuses %s (%.*s): look at user, password and path of "
                               "the URL",
                               self->url.shown, what[i], (int)strcspn(replies[i]->str, " "),
                               replies[i]->str);
        }
    }
    if (replies[HELLO_INFO]->type == REDIS_REPLY_ERROR &&
        strncmp(replies[HELLO_INFO]->str, "NOAUTH", 6) == 0) {
        return module_fail(error, FIRN_ESTORE,
                           "store %.60s wants a password: give it by URL, password-file= or "
                           "REDISCLI_AUTH",
                           self->url.shown);
    }
    int code = examine(self, replies[HELLO_INFO], replies[HELLO_CONFIG], error);
    const redisReply *slot = replies[HELLO_SLOT];
    if (code == FIRN_OK && slot != NULL &&
        slot->type == REDIS_REPLY_ERROR) { /* MOVED names the host to take */
        code = failed(self, error, slot->str);
    }
    return code;
}

/* Logs in, and learns what this server is: one exchange. */
static int hello(store *self, int64_t deadline_ms, firn_error *error) {
    char database[NUMBER_SIZE];
    const bool login = self->url.password != NULL, select = self->database != 0;
    const bool slot = !self->counters; /* is it this member's of a cluster? */
    snprintf(database, sizeof database, "%" PRId64, self->database);
    const char *with_user[] = {"AUTH", self->url.user, self->url.password};
    const char *without[] = {"AUTH", self->url.password};
    batch out = {NULL, 0, false};
    if (login && self->url.user != NULL) {
        batch_add(&out, 3, with_user);
    } else if (login) {
        batch_add(&out, 2, without);
    }
    if (select) {
        batch_add(&out, 2, (const char *[]){"SELECT", database});
    }
    batch_add(&out, 1, (const char *[]){"INFO"});
    batch_add(&out, 3, (const char *[]){"CONFIG", "GET", "*append*"});
    if (slot) {
        batch_add(&out, 2, (const char *[]){"EXISTS", self->index});
    }
    bool sent = !out.failed && send_all(self, out.buf, out.length, deadline_ms);
    int number = out.failed ? ENOMEM : errno;
    batch_free(&out);
    redisReply *replies[HELLOS] = {NULL};
    for (int i = 0; i < HELLOS && sent; i++) {
        bool asked = i == HELLO_LOGIN    ? login
                     : i == HELLO_SELECT ? select
                     : i == HELLO_SLOT   ? slot
                                         : true;
        replies[i] = asked ? receive(self, deadline_ms) : NULL;
        sent = !asked || replies[i] != NULL;
        number = errno;
    }
    int code = sent ? judge_hello(self, replies, error) : failed(self, error, strerror(number));
    for (int i = 0; i < HELLOS; i++) {
        if (replies[i] != NULL) {
            freeReplyObject(replies[i]);
        }
    }
    return code;
}

/* The other end is not who it should be, or does not take us: what is wrong, and the cure. */
static int insecure(store *self, int result, firn_error *error) {
    gnutls_datum_t said = {NULL, 0};
    if (result == GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR &&
        gnutls_certificate_verification_status_print(
            gnutls_session_get_verify_cert_status(self->session),
            gnutls_certificate_type_get(self->session), &said, 0) == 0) {
        module_fail(error, FIRN_ESTORE,
                    "store %.40s is not who it should be (%.70s): look at its certificate, or name "
                    "its authority by ca=FILE",
                    self->url.shown, (const char *)said.data);
        gnutls_free(said.data);
        return FIRN_ESTORE;
    }
    return module_fail(error, FIRN_ESTORE,
                       "store %.60s speaks no TLS with us (%.60s): look at tls=, cert= and key=",
                       self->url.shown, gnutls_strerror(result));
}

static int connect_address(store *self, const module_host *host, const struct addrinfo *to,
                           int64_t deadline_ms, firn_error *error) {
    self->fd = dial(to, deadline_ms);
    if (self->fd < 0) {
        return failed(self, error, strerror(errno));
    }
    int result = self->tls ? secure(self, host, deadline_ms) : 0;
    if (result != 0) {
        return insecure(self, result, error);
    }
    self->reader = redisReaderCreate();
    if (self->reader == NULL) {
        return module_fail(error, FIRN_EMEMORY, "out of memory");
    }
    return hello(self, deadline_ms, error);
}

static int connect_host(store *self, size_t at, int64_t deadline_ms, firn_error *error) {
    const char *why = NULL;
    const module_host *host = &self->url.hosts[at];
    struct addrinfo *found = module_resolve(&self->lookups[at], host->name,
                                            host->port != 0 ? host->port : PORT, deadline_ms, &why);
    const struct addrinfo *to = found;
    if (found == NULL) {
        return module_fail(
            error, FIRN_ESTORE,
            "host %.60s of store %.60s is not found (%.40s): correct the name in the URL",
            host->name, self->url.shown, why);
    }
    int code = FIRN_ESTORE;
    for (int i = 0; i < ADDRESSES && to != NULL && code != FIRN_OK; i++, to = to->ai_next) {
        int64_t now_ms = module_now_ms();
        int64_t share = (deadline_ms - now_ms) / (to->ai_next != NULL ? 2 : 1);
        code = connect_address(self, host, to, now_ms + share, error);
        if (code != FIRN_OK) {
            drop(self, false);
        }
    }
    freeaddrinfo(found);
    return code;
}

/* Every host in its turn, from the one that worked last, each with an equal share of what is left
 * of the bound. */
static int connect_any(store *self, firn_error *error) {
    const size_t hosts = self->url.host_count;
    int64_t deadline_ms = module_now_ms() + self->connect_ms;
    firn_error last = {0};
    int code = FIRN_ESTORE;
    for (size_t i = 0; i < hosts; i++) {
        size_t at = (self->host + i) % hosts;
        int64_t now_ms = module_now_ms();
        int64_t share = (deadline_ms - now_ms) / (int64_t)(hosts - i);
        code = connect_host(self, at, now_ms + share, &last);
        if (code == FIRN_OK) {
            self->host = at;
            module_retry_worked(&self->retry);
            return FIRN_OK;
        }
    }
    module_retry_failed(&self->retry);
    snprintf(self->why, sizeof self->why, "%.119s", last.text);
    return module_fail(error, code, "%s", last.text);
}

/* A connection of this process's own on which nothing is under way. */
static int ready(store *self, firn_error *error) {
    if (module_forked(&self->pid)) {
        drop(self, true);
        module_forget(&self->last); /* the parent may give it back */
        module_retry_worked(&self->retry);
    }
    if (self->fd >= 0 && is_stale(self)) {
        drop(self, false);
    }
    if (self->fd >= 0) {
        return FIRN_OK;
    }
    if (module_retry_waits(&self->retry)) {
        return module_fail(error, FIRN_ESTORE, "%.119s (tried again within a second)", self->why);
    }
    return connect_any(self, error);
}

/* ---- commands -------------------------------------------------------------------------------- */

static int gone(store *self, int code, const char *why, firn_error *error) {
    drop(self, false);
    return code == FIRN_EUNKNOWN
               ? module_fail(error, code,
                             "store %.60s did not answer (%.60s), perhaps after it did what it was "
                             "asked: ask again with the same grant",
                             self->url.shown, why)
               : module_fail(error, code, "store %.60s is not reachable (%.60s): look at it",
                             self->url.shown, why);
}

/* Sends one command on the connection that is there and reads its reply; `at` are the failpoints of
 * a write, NULL for a read. */
static int exchange(store *self, redisReply **reply, int count, const char **arguments,
                    const points *at, firn_error *error) {
    char *command = NULL;
    int code = at != NULL ? module_point(&self->options, self->pid, at->before, error) : FIRN_OK;
    if (code != FIRN_OK) {
        return code;
    }
    int length = redisFormatCommandArgv(&command, count, arguments, NULL);
    if (length < 0) {
        return module_fail(error, FIRN_EMEMORY, "out of memory");
    }
    int64_t deadline_ms = module_now_ms() + self->call_ms;
    bool sent = send_all(self, command, (size_t)length, deadline_ms);
    redisFreeCommand(command);
    if (!sent) {
        return gone(self, FIRN_ESTORE, strerror(errno), error);
    }
    if (at != NULL &&
        (code = module_point(&self->options, self->pid, at->sent, error)) != FIRN_OK) {
        return code;
    }
    *reply = receive(self, deadline_ms);
    return *reply != NULL
               ? FIRN_OK
               : gone(self, at != NULL ? FIRN_EUNKNOWN : FIRN_ESTORE, strerror(errno), error);
}

/* The same for a read, which may be the first command. */
static int ask(store *self, redisReply **reply, int count, const char **arguments,
               firn_error *error) {
    int code = ready(self, error);
    return code != FIRN_OK ? code : exchange(self, reply, count, arguments, NULL, error);
}

static bool is_error(const redisReply *reply, const char *word) {
    return reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, word, strlen(word)) == 0;
}

/* An error reply proves that the mark was not granted. The next verb looks at the server anew. */
static int refused(store *self, redisReply *reply, firn_error *error) {
    int code = module_fail(
        error, FIRN_ESTORE, "store %.50s refuses (%.100s): see docs/reference/stores.md",
        self->url.shown, reply->type == REDIS_REPLY_ERROR ? reply->str : "an unknown answer");
    freeReplyObject(reply);
    drop(self, false);
    return code;
}

/* Runs a script that returns texts. Where the server has forgotten it, which proves that it did not
 * run, it is told the text, on this same connection. On FIRN_OK the caller frees the reply. */
static int evaluate(store *self, redisReply **reply, const script *what, int keys, int count,
                    const char **arguments, const points *at, firn_error *error) {
    char number[NUMBER_SIZE];
    const char *words[ARGUMENTS_MAX] = {"EVALSHA", what->sha, number};
    redisReply *got = NULL;
    snprintf(number, sizeof number, "%d", keys);
    for (int i = 0; i < count; i++) {
        words[i + 3] = arguments[i];
    }
    int code = exchange(self, &got, count + 3, words, at, error);
    if (code == FIRN_OK && is_error(got, "NOSCRIPT")) {
        freeReplyObject(got);
        words[0] = "EVAL";
        words[1] = what->text;
        code = exchange(self, &got, count + 3, words, at, error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    bool right = got->type == REDIS_REPLY_ARRAY && got->elements >= 1;
    for (size_t i = 0; right && i < got->elements; i++) {
        right = is_text(got->element[i]);
    }
    if (!right) {
        return refused(self, got, error);
    }
    *reply = got;
    return FIRN_OK;
}

static bool says(const redisReply *reply, const char *word, size_t elements) {
    return strcmp(reply->element[0]->str, word) == 0 && reply->elements == elements;
}

static bool read_slot(int64_t *out, const redisReply *text) {
    return module_int64(out, text->str, text->len) && *out <= FIRN_SLOT_MAX;
}

static void namespace_key(char out[FIRN_NS_SIZE + 64], const store *self, const char *ns) {
    snprintf(out, FIRN_NS_SIZE + 64, "{%s}:%s", self->prefix, ns);
}

/* ---- plain counters -------------------------------------------------------------------------- */

static int counter_name(const char **name, const char *ns, const char *key, const char *row,
                        firn_error *error) {
    static const char prefix[] = "integer ";
    if (strncmp(ns, prefix, sizeof prefix - 1) != 0 || strcmp(key, "1") != 0 ||
        (row != NULL && strcmp(row, "integer") != 0)) {
        return module_fail(error, FIRN_EUSAGE,
                           "counters=1 knows integers that count by 1 only, and %.40s is something "
                           "else: leave counters out of its URL",
                           ns);
    }
    *name = ns + sizeof prefix - 1;
    return FIRN_OK;
}

static int counter_refused(const redisReply *reply, const firn_request *request, const char *name,
                           firn_mark *held, firn_error *error) {
    int64_t old;
    if (says(reply, "expires", 1)) {
        return module_fail(error, FIRN_ESTORE,
                           "the counter %.60s expires, and would repeat after that: PERSIST it",
                           name);
    }
    if (says(reply, "busy", 2) && read_slot(&old, reply->element[1]) && old < FIRN_SLOT_MAX) {
        *held = (firn_mark){old + 1, 0};
        return module_fail(error, FIRN_EBUSY,
                           "the counter %.60s stands at %" PRId64 ", past %" PRId64, name, old,
                           request->latest);
    }
    return module_fail(error, FIRN_ESTORE,
                       "the key %.60s is no counter of 0 to 2^62 (%.40s): name another integer",
                       name, reply->elements > 1 ? reply->element[1]->str : "");
}

/* The counter holds the last number given, so slots begin one behind it. An unknown outcome loses
 * a block: nothing tells later whose it was. */
static int counter_reserve(store *self, const firn_request *request, int64_t *first,
                           firn_mark *held, firn_error *error) {
    const char *name;
    char count[NUMBER_SIZE], least[NUMBER_SIZE], most[NUMBER_SIZE] = ""; /* "" is before 0 */
    redisReply *reply;
    int64_t before;
    int code = counter_name(&name, request->ns, request->key, request->layout, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = ready(self, error);
    if (code != FIRN_OK) {
        return code;
    }
    snprintf(count, sizeof count, "%" PRId64, request->count);
    snprintf(least, sizeof least, "%" PRId64, request->earliest > 0 ? request->earliest - 1 : 0);
    if (request->latest > 0) {
        snprintf(most, sizeof most, "%" PRId64, request->latest - 1);
    }
    const char *arguments[] = {name, count, least, most};
    code = evaluate(self, &reply, &self->count, 1, 4, arguments, &reserve_points, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (!says(reply, "ok", 2) || !read_slot(&before, reply->element[1])) {
        code = counter_refused(reply, request, name, held, error);
    } else if ((code = module_point(&self->options, self->pid, reserve_points.committed, error)) ==
               FIRN_OK) {
        *first = before + 1;
    }
    freeReplyObject(reply);
    return code;
}

static int counter_list(store *self, const char *ns, firn_visit *visit, void *context,
                        firn_error *error) {
    const char *name;
    redisReply *reply;
    int64_t value;
    if (ns == NULL) {
        return module_fail(error, FIRN_EUSAGE,
                           "plain counters stand among other keys and are listed by name only: "
                           "say ns='integer NAME'");
    }
    int code = counter_name(&name, ns, "1", NULL, error);
    if (code == FIRN_OK) {
        code = ask(self, &reply, 2, (const char *[]){"GET", name}, error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    if (reply->type == REDIS_REPLY_NIL) {
        freeReplyObject(reply);
        return FIRN_OK;
    }
    if (!is_text(reply) || !read_slot(&value, reply) || value == FIRN_SLOT_MAX) {
        return refused(self, reply, error);
    }
    freeReplyObject(reply);
    const firn_holding holding = {ns, "integer", "1", "", {value + 1, 0}};
    return visit(context, &holding);
}

/* ---- verbs ----------------------------------------------------------------------------------- */

static int busy(const redisReply *reply, const firn_request *request, firn_mark *held,
                firn_error *error) {
    firn_mark mark;
    int64_t floor;
    if (!read_slot(&mark.high, reply->element[1]) || !read_slot(&floor, reply->element[3]) ||
        !module_uint64(&mark.grant, reply->element[2]->str, reply->element[2]->len)) {
        return module_fail(error, FIRN_ESTORE, "the mark of %.24s/%.63s is damaged: look at it",
                           request->ns, request->key);
    }
    module_busy(held, &mark, floor);
    return module_refuse_busy(error, request, held->high);
}

/* What the handle knows counts no more once the store has lost more than when it was learnt. */
static void take_losses(store *self, const redisReply *reply) {
    const char *losses = reply->element[reply->elements - 1]->str;
    if (strcmp(losses, self->losses) != 0) {
        memset(&self->seen, 0, sizeof self->seen);
        module_forget(&self->last);
        self->losses[0] = '\0';
    }
}

static int granted(store *self, const redisReply *reply, const firn_request *request,
                   int64_t *first, firn_mark *held, firn_error *error) {
    int64_t slot, losses;
    if (says(reply, "layout", 2)) {
        return module_other_row(error, request, reply->element[1]->str);
    }
    const redisReply *last = reply->element[reply->elements - 1];
    bool counted = module_int64(&losses, last->str, last->len);
    if (counted && says(reply, "changed", 2)) {
        take_losses(self, reply);
        return module_refuse_changed(error, self->url.shown, request->ns);
    }
    if (counted && says(reply, "busy", 5)) {
        take_losses(self, reply);
        return busy(reply, request, held, error);
    }
    if (!counted || !says(reply, "ok", 3) || !read_slot(&slot, reply->element[1])) {
        return module_fail(error, FIRN_EUNKNOWN,
                           "store %.60s answers what nobody understands: look at it",
                           self->url.shown);
    }
    take_losses(self, reply);
    snprintf(self->losses, sizeof self->losses, "%" PRId64, losses);
    module_see(&self->seen, request->ns);
    module_remember(&self->last, request, slot + request->count);
    int code = module_point(&self->options, self->pid, reserve_points.committed, error);
    if (code == FIRN_OK) {
        *first = slot;
    }
    return code;
}

static int redis_reserve(void *of, const firn_request *request, int64_t *first, firn_mark *held,
                         firn_error *error) {
    store *self = of;
    char ns[FIRN_NS_SIZE + 64], own[FIRN_NS_SIZE + 64], all[FIRN_NS_SIZE + 64];
    char count[NUMBER_SIZE], earliest[NUMBER_SIZE], latest[NUMBER_SIZE], grant[NUMBER_SIZE];
    char guard[NUMBER_SIZE], least[NUMBER_SIZE];
    redisReply *reply;
    if (self->counters) {
        return counter_reserve(self, request, first, held, error);
    }
    namespace_key(ns, self, request->ns);
    namespace_key(own, self, "");
    namespace_key(all, self, MODULE_ALL_NAMES);
    snprintf(count, sizeof count, "%" PRId64, request->count);
    snprintf(earliest, sizeof earliest, "%" PRId64, request->earliest);
    snprintf(latest, sizeof latest, "%" PRId64, request->latest);
    snprintf(grant, sizeof grant, "%" PRIu64, request->grant);
    snprintf(guard, sizeof guard, "%" PRId64, request->guard > 0 ? request->guard : 0);
    int code = ready(self, error);
    if (code != FIRN_OK) {
        return code;
    }
    snprintf(least, sizeof least, "%" PRId64, module_least(&self->last, request->ns, request->key));
    const char *arguments[] = {ns,           self->index,
                               own,          all,
                               request->ns,  request->layout,
                               request->key, count,
                               earliest,     latest,
                               grant,        request->note != NULL ? request->note : "",
                               guard,        module_was_seen(&self->seen, request->ns) ? "1" : "0",
                               least,        self->losses};
    code = evaluate(self, &reply, &self->reserve, 4, 16, arguments, &reserve_points, error);
    if (code == FIRN_OK) {
        code = granted(self, reply, request, first, held, error);
        freeReplyObject(reply);
    }
    return code;
}

static int redis_give_back(void *of, const char *ns, const char *key, const firn_mark *mine,
                           int64_t high, firn_error *error) {
    store *self = of;
    char name[FIRN_NS_SIZE + 64], mark[NUMBER_SIZE], grant[NUMBER_SIZE], stopped[NUMBER_SIZE];
    redisReply *reply;
    if (self->counters) {
        return module_fail(error, FIRN_EBUSY,
                           "a plain counter does not tell who counted last: nothing is given back");
    }
    namespace_key(name, self, ns);
    snprintf(mark, sizeof mark, "%" PRId64, mine->high);
    snprintf(grant, sizeof grant, "%" PRIu64, mine->grant);
    snprintf(stopped, sizeof stopped, "%" PRId64, high);
    module_forget(&self->last);
    const char *arguments[] = {name, key, mark, grant, stopped};
    int code = ready(self, error);
    if (code == FIRN_OK) {
        code = evaluate(self, &reply, &self->give_back, 1, 5, arguments, &give_back_points, error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    code = says(reply, "ok", 2)
               ? module_point(&self->options, self->pid, give_back_points.committed, error)
               : module_refuse_give_back(error, ns, key, mine);
    freeReplyObject(reply);
    return code;
}

static int redis_now(void *of, firn_time *now, firn_error *error) {
    store *self = of;
    redisReply *reply;
    int64_t sec, us;
    int code = ask(self, &reply, 1, (const char *[]){"TIME"}, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 || !is_text(reply->element[0]) ||
        !is_text(reply->element[1]) ||
        !module_int64(&sec, reply->element[0]->str, reply->element[0]->len) ||
        !module_int64(&us, reply->element[1]->str, reply->element[1]->len) || us > 999999) {
        return refused(self, reply, error);
    }
    freeReplyObject(reply);
    *now = (firn_time){sec, (int32_t)us * 1000};
    return FIRN_OK;
}

/* ---- list ------------------------------------------------------------------------------------ */

/* Names that grow in number. */
typedef struct names {
    char **items;
    size_t count, room;
} names;

static void names_free(names *all) {
    for (size_t i = 0; i < all->count; i++) {
        free(all->items[i]);
    }
    free(all->items);
}

static bool names_add(names *all, const char *name) {
    if (all->count == all->room) {
        size_t room = all->room * 2 + 64;
        char **items = realloc(all->items, room * sizeof *items);
        if (items == NULL) {
            return false;
        }
        all->items = items;
        all->room = room;
    }
    all->items[all->count] = strdup(name);
    return all->items[all->count++] != NULL;
}

static int by_bytes(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In order of their bytes, each once: a scan may tell a name twice. */
static void names_sort(names *all) {
    size_t kept = 0;
    if (all->count > 0) {
        qsort(all->items, all->count, sizeof *all->items, by_bytes);
    }
    for (size_t i = 0; i < all->count; i++) {
        if (kept > 0 && strcmp(all->items[kept - 1], all->items[i]) == 0) {
            free(all->items[i]);
        } else {
            all->items[kept++] = all->items[i];
        }
    }
    all->count = kept;
}

/* Everything in a set, or the keys of a namespace's hash: what was there from the first reply to
 * the last one is told, in replies that block the server for no long time. */
static int scan(store *self, names *all, const char *command, const char *key, const char *match,
                firn_error *error) {
    char cursor[NUMBER_SIZE] = "0";
    const size_t step = strcmp(command, "HSCAN") == 0 ? 2 : 1, skip = strcspn(match, "*");
    for (int i = 0; i < LIST_ROUNDS; i++) {
        redisReply *reply;
        const char *words[] = {command, key, cursor, "MATCH", match, "COUNT", "512"};
        int code = ask(self, &reply, 7, words, error);
        if (code != FIRN_OK) {
            return code;
        }
        if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 ||
            !is_text(reply->element[0]) || reply->element[1]->type != REDIS_REPLY_ARRAY) {
            return refused(self, reply, error);
        }
        const redisReply *part = reply->element[1];
        bool added = true;
        for (size_t j = 0; j < part->elements && added; j += step) {
            added = is_text(part->element[j]) && strlen(part->element[j]->str) >= skip &&
                    names_add(all, part->element[j]->str + skip);
        }
        snprintf(cursor, sizeof cursor, "%.20s", reply->element[0]->str);
        freeReplyObject(reply);
        if (!added) {
            return module_fail(error, FIRN_EMEMORY, "out of memory for a listing");
        }
        if (strcmp(cursor, "0") == 0) {
            names_sort(all);
            return FIRN_OK;
        }
    }
    return failed(self, error, "a scan does not end");
}

static int visit_part(const redisReply *part, const char *ns, char *const *keys, size_t count,
                      firn_visit *visit, void *context, firn_error *error) {
    const redisReply *row = part->element[0];
    for (size_t i = 0; i < count; i++) {
        const redisReply *high = part->element[1 + 3 * i], *grant = part->element[2 + 3 * i],
                         *note = part->element[3 + 3 * i];
        firn_holding holding = {ns, row->str, keys[i], note->str, {0, 0}};
        if (!is_text(row) || !is_text(high) || !is_text(grant) || !is_text(note) ||
            !read_slot(&holding.mark.high, high) ||
            !module_uint64(&holding.mark.grant, grant->str, grant->len)) {
            return module_fail(error, FIRN_ESTORE, "the mark of %.24s/%.63s is damaged: look at it",
                               ns, keys[i]);
        }
        int code = visit(context, &holding);
        if (code != FIRN_OK) {
            return code;
        }
    }
    return FIRN_OK;
}

/* High, grant and note of a few keys, all of one moment. */
static int list_part(store *self, const char *ns, char *const *keys, size_t count,
                     firn_visit *visit, void *context, firn_error *error) {
    static const char *const fields[] = {"high", "grant", "note"};
    char name[FIRN_NS_SIZE + 64], texts[3 * LIST_CHUNK][FIRN_KEY_SIZE + 8];
    const char *words[ARGUMENTS_MAX] = {"HMGET", name, "layout"};
    redisReply *reply;
    namespace_key(name, self, ns);
    for (size_t i = 0; i < 3 * count; i++) {
        snprintf(texts[i], sizeof texts[i], "%s %.63s", fields[i % 3], keys[i / 3]);
        words[3 + i] = texts[i];
    }
    int code = ask(self, &reply, (int)(3 + 3 * count), words, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 1 + 3 * count) {
        return refused(self, reply, error);
    }
    code = visit_part(reply, ns, keys, count, visit, context, error);
    freeReplyObject(reply);
    return code;
}

static int list_namespace(store *self, const char *ns, firn_visit *visit, void *context,
                          firn_error *error) {
    char name[FIRN_NS_SIZE + 64];
    names keys = {NULL, 0, 0};
    namespace_key(name, self, ns);
    int code = scan(self, &keys, "HSCAN", name, "high *", error);
    for (size_t i = 0; i < keys.count && code == FIRN_OK; i += LIST_CHUNK) {
        size_t left = keys.count - i;
        code = list_part(self, ns, keys.items + i, left < LIST_CHUNK ? left : LIST_CHUNK, visit,
                         context, error);
    }
    names_free(&keys);
    return code;
}

static int redis_list(void *of, const char *ns, firn_visit *visit, void *context,
                      firn_error *error) {
    store *self = of;
    names all = {NULL, 0, 0};
    if (self->counters) {
        return counter_list(self, ns, visit, context, error);
    }
    if (ns != NULL) {
        return list_namespace(self, ns, visit, context, error);
    }
    int code = scan(self, &all, "SSCAN", self->index, "*", error);
    for (size_t i = 0; i < all.count && code == FIRN_OK; i++) {
        code = list_namespace(self, all.items[i], visit, context, error);
    }
    names_free(&all);
    return code;
}

/* ---- open and close -------------------------------------------------------------------------- */

static const char parameters[] = "connect_timeout_ms timeout_ms prefix counters tls ca cert key "
                                 "verify password-file unsafe";

static int read_numbers(store *self, bool secure_scheme, firn_error *error) {
    const struct {
        const char *name;
        int64_t *out, initial, least, most;
    } numbers[] = {
        {"connect_timeout_ms", &self->connect_ms, MODULE_TIMEOUT_MS, 1, 3600000},
        {"timeout_ms", &self->call_ms, MODULE_TIMEOUT_MS, 1, 3600000},
        {"counters", &self->counters, 0, 0, 1},
        {"tls", &self->tls, secure_scheme, 0, 1},
        {"verify", &self->verify, 1, 0, 1},
        {"unsafe", &self->unsafe, self->unsafe, 0, 1},
    };
    int code = FIRN_OK;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && code == FIRN_OK; i++) {
        code = module_param_number(numbers[i].out, &self->url, numbers[i].name, numbers[i].initial,
                                   numbers[i].least, numbers[i].most, error);
    }
    const char *path = self->url.path;
    if (code == FIRN_OK && path != NULL &&
        (!module_int64(&self->database, path, strlen(path)) || self->database > 65535)) {
        code =
            module_fail(error, FIRN_EUSAGE,
                        "the store's URL has the path /%.40s: give the number of a database", path);
    }
    return code;
}

static int trust(store *self, const char *ca, const char *cert, const char *key,
                 firn_error *error) {
    if (gnutls_certificate_allocate_credentials(&self->trust) != 0) {
        self->trust = NULL;
        return module_fail(error, FIRN_EMEMORY, "out of memory");
    }
    int result = ca != NULL
                     ? gnutls_certificate_set_x509_trust_file(self->trust, ca, GNUTLS_X509_FMT_PEM)
                     : gnutls_certificate_set_x509_system_trust(self->trust);
    if (result < 0 || (ca != NULL && result == 0)) {
        return module_fail(error, FIRN_EUSAGE, "ca=%.80s cannot be read (%.60s): give a PEM file",
                           ca != NULL ? ca : "", gnutls_strerror(result));
    }
    result = cert != NULL
                 ? gnutls_certificate_set_x509_key_file(self->trust, cert, key, GNUTLS_X509_FMT_PEM)
                 : 0;
    return result >= 0
               ? FIRN_OK
               : module_fail(error, FIRN_EUSAGE,
                             "cert=%.60s with key=%.60s cannot be used (%.40s): give PEM files",
                             cert, key, gnutls_strerror(result));
}

static int read_tls(store *self, firn_error *error) {
    const char *ca = module_param(&self->url, "ca"), *cert = module_param(&self->url, "cert"),
               *key = module_param(&self->url, "key");
    if (!self->tls) {
        return ca == NULL && cert == NULL && key == NULL && self->verify
                   ? FIRN_OK
                   : module_fail(error, FIRN_EUSAGE,
                                 "ca, cert, key and verify are for TLS: add tls=1");
    }
    if ((cert == NULL) != (key == NULL)) {
        return module_fail(error, FIRN_EUSAGE, "cert and key go together: give both");
    }
    return trust(self, ca, cert, key, error);
}

static int read_url(store *self, const char *url, firn_error *error) {
    int code = module_url_parse(&self->url, url, error);
    if (code == FIRN_OK) {
        code = read_numbers(self, strncmp(url, "rediss:", 7) == 0, error);
    }
    if (code == FIRN_OK) {
        code = module_param_name(&self->prefix, &self->url, "prefix", "firn", error);
    }
    if (code == FIRN_OK) {
        code = module_password(&self->url, "REDISCLI_AUTH", error);
    }
    if (code == FIRN_OK) {
        code = read_tls(self, error);
    }
    if (code == FIRN_OK) {
        code = module_params_done(&self->url, parameters, error);
    }
    if (code == FIRN_OK && self->url.host_count == 0) {
        code = module_fail(error, FIRN_EUSAGE,
                           "the store's URL names no host: write redis://HOST:PORT");
    }
    return code;
}

static void redis_close(void *of) {
    store *self = of;
    drop(self, module_forked(&self->pid));
    for (size_t i = 0; i < MODULE_HOSTS_MAX; i++) {
        module_lookup_leave(self->lookups[i]);
    }
    if (self->trust != NULL) {
        gnutls_certificate_free_credentials(self->trust);
    }
    module_url_free(&self->url);
    free(self);
}

static int redis_open(void **out, const char *url, const firn_store_options *options,
                      firn_error *error) {
    store *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return module_fail(error, FIRN_EMEMORY, "out of memory for a store");
    }
    self->fd = -1;
    self->options = *options;
    self->unsafe = options->unsafe;
    int code = read_url(self, url, error);
    if (code == FIRN_OK) {
        snprintf(self->index, sizeof self->index, "{%s}", self->prefix);
        code = load_script(&self->reserve, reserve_lua, error);
    }
    if (code == FIRN_OK) {
        code = load_script(&self->give_back, give_back_lua, error);
    }
    if (code == FIRN_OK) {
        code = load_script(&self->count, count_lua, error);
    }
    if (code == FIRN_OK) {
        code = ready(self, error);
    }
    if (code != FIRN_OK) {
        redis_close(self);
        return code;
    }
    *out = self;
    return FIRN_OK;
}

static const char *redis_caution(void *of) {
    const store *self = of;
    return self->caution;
}

const firn_store_ops firn_store_module = {
    .version = 1,
    .scheme = "redis",
    .open = redis_open,
    .reserve = redis_reserve,
    .give_back = redis_give_back,
    .list = redis_list,
    .now = redis_now,
    .caution = redis_caution,
    .close = redis_close,
};
