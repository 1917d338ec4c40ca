/* SPDX-License-Identifier: MIT */
/* The store on ZooKeeper: a znode for the store itself, one for each namespace, below it one for each
 * key, changed only while the versions of all three are those that were looked at. Takes nothing from libfirn; checks no bounds
 * (the wrapper does) and has no clock of its own. */
#include "module.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#define PORT          2181
#define ROOT          "firn" /* without a path in the URL */
#define ROOT_MOST     200    /* bytes of the path in the URL */
#define PATH_SIZE     1300   /* a root, an escaped namespace (3 * 255), an escaped key (3 * 63) */
#define RECORD_SIZE   900    /* numbers and a row, or numbers and a note */
#define HOSTS_SIZE    4200
#define REMEMBERED    16  /* keys whose state is kept: as many as a generator has nodes */
#define ROUNDS        200 /* of compare-and-set, each lost to somebody who won */
#define SESSION_MS    4000
#define QUICK_MS      500 /* a failure that took no longer was no wait for an answer */
#define OPS_MOST      3
#define STORE_NAME    "%store" /* beside the namespaces, none of which has a name like that */
#define CHILDREN_MOST 1000000

/* What the znodes of the store, of a namespace and of a key hold, as they were looked at. */
typedef struct state {
    char ns_path[PATH_SIZE], path[PATH_SIZE];
    bool store_found, ns_found, found;
    bool all_new;  /* names without a record are new ones: see MODULE_ALL_NAMES */
    bool fresh;    /* read after everything that was acknowledged before */
    bool outdated; /* was changed by somebody since */
    int store_version, ns_version, version;
    uint64_t origin;            /* a random number, drawn when the store was made */
    int64_t losses;             /* how often the store is known to have gone back */
    int64_t ns_losses;          /* how often it had when the namespace was last reserved from */
    int64_t floor, high, mzxid; /* mzxid 0: not known */
    uint64_t grant;
    char layout[FIRN_LAYOUT_SIZE], note[FIRN_NOTE_SIZE];
} state;

/* A request to the library and its answer. The library's thread may come late, when nobody waits
 * any more, so that it is freed by the last of the two. */
typedef struct call {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int holders;
    bool done;
    int code; /* of the library; of a session's call its state */
    char *data;
    int length;
    struct Stat stat;
    struct String_vector children;
    zoo_op_result_t results[OPS_MOST];
    struct Stat stats[OPS_MOST];
} call;

typedef struct store {
    module_url url;
    char root[ROOT_MOST + 2]; /* begins with a /, ends without one */
    module_lookup *lookups[MODULE_HOSTS_MAX];
    char *login;         /* user:password, or NULL */
    const char *no_host; /* why no address of a host was found at the last connecting, or NULL */
    int connect_timeout_ms, timeout_ms;
    pid_t pid;
    module_retry retry;
    zhandle_t *handle; /* NULL: not connected */
    call *session;     /* what the handle's watcher tells */
    bool rooted;       /* the root was seen or made */
    int64_t newest;    /* the greatest zxid seen */
    bool suspect;      /* what was answered contradicts what this handle knows */
    uint64_t origin;   /* of the store that this handle knows; 0: none yet */
    int64_t losses;    /* the most that were seen there */
    state known[REMEMBERED];
    size_t oldest;  /* of them */
    unsigned seed;  /* of jitter */
    int64_t end_ms; /* of the verb that is under way: see module_verb_end */
    module_seen seen;
    firn_store_options options;
} store;

FIRN_API extern const firn_store_ops firn_store_module;

/* ---- failures in words ----------------------------------------------------------------------- */

/* What the library says, and what to do about it. `refused`: the server did not carry it out. */
static const struct {
    int code;
    bool refused;
    const char *what, *cure;
} explanations[] = {
    {ZNOAUTH, true, "does not allow it", "give user:password@ in the URL, or another path"},
    {ZINVALIDACL, true, "does not take these rights", "give user:password@ in the URL"},
    {ZNOTREADONLY, true, "is read only, a part without the others", "bring the others back"},
    {ZTHROTTLEDOP, true, "has too much to do", "ask again"},
    {ZMARSHALLINGERROR, true, "cannot be asked that", "give this process more memory"},
    {ZBADARGUMENTS, true, "does not take that path", "use another path in the URL"},
    {ZNOCHILDRENFOREPHEMERALS, true, "has an ephemeral znode there", "use another path"},
    {ZINVALIDSTATE, true, "is not connected", "start it, or name another host"},
    {ZAUTHFAILED, true, "does not know user and password", "correct user:password@ in the URL"},
    {ZOPERATIONTIMEOUT, false, "does not answer", "look at it, or give more timeout_ms"},
    {ZCONNECTIONLOSS, false, "cut the connection", "start it, or name another host"},
    {ZSESSIONEXPIRED, false, "ended the session", "ask again"},
};

/* `sent`: a write was under way, so that only a refusal tells that it does not count. */
static int explain(const store *self, int code, bool sent, firn_error *error) {
    const char *what = zerror(code), *cure = "look at its log";
    bool refused = false;
    for (size_t i = 0; i < sizeof explanations / sizeof explanations[0]; i++) {
        if (explanations[i].code == code) {
            what = explanations[i].what;
            cure = explanations[i].cure;
            refused = explanations[i].refused;
        }
    }
    return sent && !refused
               ? module_fail(error, FIRN_EUNKNOWN,
                             "%.90s %.40s before it said whether it counts: ask again with the "
                             "same grant",
                             self->url.shown, what)
               : module_fail(error, FIRN_ESTORE, "%.90s %.40s: %s", self->url.shown, what, cure);
}

static int no_memory(firn_error *error) {
    return module_fail(error, FIRN_EMEMORY, "out of memory: give this process more");
}

static int not_ours(const store *self, const char *path, firn_error *error) {
    return module_fail(error, FIRN_ESTORE,
                       "%.80s has a znode %.60s that is not firn's: use another path in the URL",
                       self->url.shown, path);
}

static int point(const store *self, const char *name, firn_error *error) {
    return module_point(&self->options, self->pid, name, error);
}

/* ---- calls of the library -------------------------------------------------------------------- */

static call *call_new(int holders) {
    call *it = calloc(1, sizeof *it);
    pthread_condattr_t steady;
    if (it != NULL) {
        pthread_mutex_init(&it->lock, NULL);
        pthread_condattr_init(&steady);
        pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
        pthread_cond_init(&it->changed, &steady);
        pthread_condattr_destroy(&steady);
        it->holders = holders;
    }
    return it;
}

static void call_leave(call *it) {
    pthread_mutex_lock(&it->lock);
    bool last = --it->holders == 0;
    pthread_mutex_unlock(&it->lock);
    if (last) {
        for (int i = 0; i < it->children.count; i++) {
            free(it->children.data[i]);
        }
        free(it->children.data);
        free(it->data);
        pthread_mutex_destroy(&it->lock);
        pthread_cond_destroy(&it->changed);
        free(it);
    }
}

/* Waits until the library has answered; then what it says, else ZOPERATIONTIMEOUT. */
static int call_wait(call *it, int wait_ms) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += wait_ms / 1000;
    until.tv_nsec += wait_ms % 1000 * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&it->lock);
    int late = 0;
    while (!it->done && late != ETIMEDOUT) {
        late = pthread_cond_timedwait(&it->changed, &it->lock, &until);
    }
    int code = it->done ? it->code : ZOPERATIONTIMEOUT;
    pthread_mutex_unlock(&it->lock);
    return code;
}

static void call_done(call *it, int code) {
    pthread_mutex_lock(&it->lock);
    it->done = true;
    it->code = code;
    pthread_cond_broadcast(&it->changed);
    pthread_mutex_unlock(&it->lock);
    call_leave(it);
}

/* These run in the library's thread, and may wait for nothing. */

static void on_data(int code, const char *value, int length, const struct Stat *stat,
                    const void *data) {
    call *it = (call *)(uintptr_t)data;
    if (code == ZOK) {
        it->length = length > 0 ? length : 0; /* -1: a znode without data */
        it->stat = *stat;
        it->data = malloc((size_t)it->length + 1);
        if (it->data == NULL) {
            code = ZSYSTEMERROR;
        } else {
            memcpy(it->data, length > 0 ? value : "", (size_t)it->length);
            it->data[it->length] = '\0';
        }
    }
    call_done(it, code);
}

static void on_stat(int code, const struct Stat *stat, const void *data) {
    call *it = (call *)(uintptr_t)data;
    if (code == ZOK) {
        it->stat = *stat;
    }
    call_done(it, code);
}

static void on_children(int code, const struct String_vector *strings, const void *data) {
    call *it = (call *)(uintptr_t)data;
    int count = code == ZOK && strings != NULL ? strings->count : 0;
    if (count > CHILDREN_MOST) {
        count = 0;
        code = ZSYSTEMERROR;
    }
    it->children.data = calloc((size_t)count + 1, sizeof *it->children.data);
    for (int i = 0; i < count && it->children.data != NULL; i++) {
        it->children.data[i] = strdup(strings->data[i]);
        if (it->children.data[i] == NULL) {
            break;
        }
        it->children.count++;
    }
    call_done(it, it->children.count < count ? ZSYSTEMERROR : code);
}

static void on_string(int code, const char *value, const void *data) {
    (void)value;
    call_done((call *)(uintptr_t)data, code);
}

static void on_done(int code, const void *data) {
    call_done((call *)(uintptr_t)data, code);
}

static void on_session(zhandle_t *handle, int type, int now, const char *path, void *context) {
    call *it = context;
    (void)handle;
    (void)path;
    if (type == ZOO_SESSION_EVENT) {
        pthread_mutex_lock(&it->lock);
        it->code = now;
        it->done = now == ZOO_CONNECTED_STATE || now == ZOO_AUTH_FAILED_STATE ||
                   now == ZOO_EXPIRED_SESSION_STATE;
        pthread_cond_broadcast(&it->changed);
        pthread_mutex_unlock(&it->lock);
    }
}

/* The library would write its log to stderr. */
static void on_log(const char *message) {
    (void)message;
}

/* ---- connecting ------------------------------------------------------------------------------ */

static void disconnect(store *self) {
    if (self->handle != NULL) {
        /* Ends its threads first; waits up to 1.5 s for a server that does not answer. */
        zookeeper_close(self->handle);
        self->handle = NULL;
    }
    if (self->session != NULL) {
        call_leave(self->session);
        self->session = NULL;
    }
}

/* Of all that was known of the engine. */
static void forget(store *self) {
    self->newest = 0;
    self->suspect = false;
    self->origin = 0;
    self->losses = 0;
    memset(self->known, 0, sizeof self->known);
    memset(&self->seen, 0, sizeof self->seen);
}

/* A child of a fork has none of the library's threads, and their locks may be held for good:
 * everything of the library's is left behind, with the socket, which is closed by exec. What is
 * remembered may have been half written. */
static void abandon(store *self) {
    self->handle = NULL;
    self->session = NULL;
    self->rooted = false;
    forget(self);
    memset(self->lookups, 0, sizeof self->lookups); /* nobody works on them here */
    module_retry_worked(&self->retry);
}

static int failed_to_connect(store *self, int answer, firn_error *error) {
    disconnect(self);
    module_retry_failed(&self->retry);
    if (answer == ZOO_AUTH_FAILED_STATE) {
        return explain(self, ZAUTHFAILED, false, error);
    }
    if (self->no_host != NULL) {
        return module_fail(error, FIRN_ESTORE,
                           "the host of %.90s is not found (%.60s): correct the name in the URL",
                           self->url.shown, self->no_host);
    }
    return module_fail(error, FIRN_ESTORE,
                       "%.90s cannot be reached (tried for %d ms): start it, or name another host",
                       self->url.shown, self->connect_timeout_ms);
}

/* The C library looks hosts up under a lock that a forked child inherits as it is, and would wait
 * for for ever. So that is done only while a connection is made, by a thread of ours, and a child
 * that was forked in the midst of it makes none. */
static _Atomic int connecting;
static _Atomic bool lost_by_fork;

static void in_child(void) {
    if (atomic_exchange(&connecting, 0) != 0) {
        atomic_store(&lost_by_fork, true);
    }
}

static void watch_forks(void) {
    pthread_atfork(NULL, NULL, in_child);
}

static int log_in(store *self) {
    return self->login == NULL ? ZOK
                               : zoo_add_auth(self->handle, "digest", self->login,
                                              (int)strlen(self->login), NULL, NULL);
}

/* Adds a host's addresses to the list that the library takes. Nothing but what was added before:
 * there is no room. */
static size_t add_addresses(char hosts[HOSTS_SIZE], size_t length, const struct addrinfo *at) {
    for (; at != NULL; at = at->ai_next) {
        char name[64], port[8];
        if (getnameinfo(at->ai_addr, at->ai_addrlen, name, sizeof name, port, sizeof port,
                        NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
            continue;
        }
        bool bare = strchr(name, ':') == NULL;
        int more = snprintf(hosts + length, HOSTS_SIZE - length, "%s%s%s%s:%s",
                            length > 0 ? "," : "", bare ? "" : "[", name, bare ? "" : "]", port);
        if (more < 0 || (size_t)more >= HOSTS_SIZE - length) {
            hosts[length] = '\0';
            return length;
        }
        length += (size_t)more;
    }
    return length;
}

/* The addresses of all hosts whose names are known before the deadline. False: of none. */
static bool find_hosts(store *self, char hosts[HOSTS_SIZE], int64_t deadline_ms) {
    size_t length = 0;
    self->no_host = NULL;
    for (size_t i = 0; i < self->url.host_count; i++) {
        const module_host *host = &self->url.hosts[i];
        int64_t now_ms = module_now_ms();
        int64_t share_ms = (deadline_ms - now_ms) / (int64_t)(self->url.host_count - i + 1);
        const char *why = NULL;
        struct addrinfo *found =
            module_resolve(&self->lookups[i], host->name, host->port > 0 ? host->port : PORT,
                           now_ms + share_ms, &why);
        if (found != NULL) {
            length = add_addresses(hosts, length, found);
            freeaddrinfo(found);
        } else {
            self->no_host = why;
        }
    }
    self->no_host = length > 0 ? NULL : self->no_host;
    return length > 0;
}

/* Returns the session's state, 0: there is none. The library gets addresses, since it would wait for
 * names as long as that takes. */
static int begin_session(store *self) {
    int session_ms = 2 * self->timeout_ms > SESSION_MS ? 2 * self->timeout_ms : SESSION_MS;
    int64_t deadline_ms = module_now_ms() + self->connect_timeout_ms;
    char hosts[HOSTS_SIZE];
    if (!find_hosts(self, hosts, deadline_ms)) {
        return 0;
    }
    self->handle = zookeeper_init2(hosts, on_session, session_ms, NULL, self->session,
                                   ZOO_NO_LOG_CLIENTENV, on_log);
    if (self->handle == NULL || zoo_set_servers_resolution_delay(self->handle, -1) != ZOK ||
        log_in(self) != ZOK) {
        return 0;
    }
    int64_t left_ms = deadline_ms - module_now_ms();
    return call_wait(self->session, left_ms > 0 ? (int)left_ms : 0);
}

static int make_connection(store *self, firn_error *error) {
    if (module_retry_waits(&self->retry)) {
        return module_fail(error, FIRN_ESTORE,
                           "%.90s cannot be reached, and is tried again in less than a second",
                           self->url.shown);
    }
    if (atomic_load(&lost_by_fork)) {
        return module_fail(error, FIRN_EFORKED,
                           "this process was forked while a store was connected: call exec, or "
                           "fork between calls");
    }
    self->session = call_new(1);
    if (self->session == NULL) {
        return no_memory(error);
    }
    atomic_fetch_add(&connecting, 1);
    int answer = begin_session(self);
    atomic_fetch_sub(&connecting, 1);
    if (answer != ZOO_CONNECTED_STATE) {
        return failed_to_connect(self, answer, error);
    }
    module_retry_worked(&self->retry);
    /* Behind another connection may be another history, in which a znode can have the version that
     * is remembered and hold something else. */
    for (size_t i = 0; i < REMEMBERED; i++) {
        self->known[i].outdated = true;
    }
    return FIRN_OK;
}

static void begin_verb(store *self) {
    self->end_ms = module_verb_end(&self->options, self->connect_timeout_ms, self->timeout_ms);
}

static bool is_late(const store *self) {
    return module_in_time(self->end_ms, self->url.shown, NULL) != FIRN_OK;
}

/* A handle that lost its connection is not used again, although it would connect by itself: what
 * is asked then would wait in it, and might be sent when nobody waits for it any more. */
static int enter(store *self, firn_error *error) {
    begin_verb(self);
    if (module_forked(&self->pid)) {
        abandon(self);
    }
    if (self->handle != NULL && zoo_state(self->handle) != ZOO_CONNECTED_STATE) {
        disconnect(self);
    }
    return self->handle != NULL ? FIRN_OK : make_connection(self, error);
}

/* After an answer that leaves the connection in doubt. */
static int settle(store *self, int code) {
    if (code == ZCONNECTIONLOSS || code == ZOPERATIONTIMEOUT || code == ZSESSIONEXPIRED ||
        code == ZINVALIDSTATE || code == ZCLOSING || code == ZAUTHFAILED || code == ZSESSIONMOVED) {
        disconnect(self);
        module_retry_failed(&self->retry);
    }
    return code;
}

/* ---- single requests: each returns what the library says -------------------------------------- */

/* Sends and waits; `queued` is what the library said to the request. Not queued, it never calls
 * back. */
static int answer(store *self, call *it, int queued) {
    if (queued != ZOK) {
        it->holders = 1;
        return settle(self, queued);
    }
    return settle(self, call_wait(it, self->timeout_ms));
}

/* Reads a znode into a call that the caller leaves, or NULL. */
static int read_znode(call **out, store *self, const char *path) {
    if (is_late(self)) {
        *out = NULL;
        return ZOPERATIONTIMEOUT;
    }
    call *it = *out = call_new(2);
    if (it == NULL) {
        return ZSYSTEMERROR;
    }
    int code = answer(self, it, zoo_aget(self->handle, path, 0, on_data, it));
    if (code == ZOK && it->stat.mzxid > self->newest) {
        self->newest = it->stat.mzxid;
    }
    return code;
}

/* What is read after this is at least as new as everything acknowledged before it. */
static int synchronise(store *self) {
    call *it = call_new(2);
    if (it == NULL) {
        return ZSYSTEMERROR;
    }
    int code = answer(self, it, zoo_async(self->handle, self->root, on_string, it));
    call_leave(it);
    return code;
}

static const struct ACL_vector *rights(const store *self) {
    return self->login != NULL ? &ZOO_CREATOR_ALL_ACL : &ZOO_OPEN_ACL_UNSAFE;
}

/* Makes the root and what lies above it. */
static int make_root(store *self) {
    char path[ROOT_MOST + 2];
    int code = ZOK;
    for (size_t i = 1; i <= strlen(self->root) && (code == ZOK || code == ZNODEEXISTS); i++) {
        if (self->root[i] != '/' && self->root[i] != '\0') {
            continue;
        }
        snprintf(path, sizeof path, "%.*s", (int)i, self->root);
        call *it = call_new(2);
        if (it == NULL) {
            return ZSYSTEMERROR;
        }
        code = answer(
            self, it,
            zoo_acreate(self->handle, path, "", 0, rights(self), ZOO_PERSISTENT, on_string, it));
        call_leave(it);
    }
    self->rooted = code == ZOK || code == ZNODEEXISTS;
    return self->rooted ? ZOK : code;
}

/* ---- names and records ------------------------------------------------------------------------ */

/* Letters, digits, - _ and @ as they are, anything else as %XX: neither "." nor "/" may be part of
 * a znode's name, and names are bytes here. */
static char *escape(char *to, const char *name) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_@";
    static const char digits[] = "0123456789ABCDEF";
    for (; *name != '\0'; name++) {
        if (strchr(plain, *name) != NULL) {
            *to++ = *name;
        } else {
            *to++ = '%';
            *to++ = digits[(unsigned char)*name >> 4];
            *to++ = digits[*name & 15];
        }
    }
    *to = '\0';
    return to;
}

static int digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* False: not a name that escape made, of less than `size` bytes. */
static bool unescape(char *to, size_t size, const char *name) {
    for (; *name != '\0' && size > 1; name++, to++, size--) {
        *to = *name;
        if (*name == '%') {
            int high = digit(name[1]), low = high >= 0 ? digit(name[2]) : -1;
            if (low < 0) {
                return false;
            }
            *to = (char)(high * 16 + low);
            name += 2;
        }
    }
    *to = '\0';
    return *name == '\0' && size > 0;
}

static void name_paths(const store *self, state *it, const char *ns, const char *key) {
    memset(it, 0, sizeof *it);
    char *end = stpcpy(stpcpy(it->ns_path, self->root), "/");
    escape(end, ns);
    end = stpcpy(stpcpy(it->path, it->ns_path), "/");
    escape(end, key);
}

/* The records, as people and other programs may read them:
 *     the store   1 LOSSES ORIGIN <newline>
 *     namespace   1 FLOOR LOSSES <newline> ROW
 *     key         1 HIGH GRANT <newline> NOTE                                                     */

static int write_store(char record[RECORD_SIZE], int64_t losses, uint64_t origin) {
    return snprintf(record, RECORD_SIZE, "1 %" PRId64 " %" PRIu64 "\n", losses, origin);
}

static int write_ns(char record[RECORD_SIZE], int64_t floor, int64_t losses, const char *row) {
    return snprintf(record, RECORD_SIZE, "1 %" PRId64 " %" PRId64 "\n%s", floor, losses, row);
}

static int write_mark(char record[RECORD_SIZE], int64_t high, uint64_t grant, const char *note) {
    return snprintf(record, RECORD_SIZE, "1 %" PRId64 " %" PRIu64 "\n%s", high, grant, note);
}

/* The three words of a record's first line, and what follows it. */
static bool split(const call *it, const char *words[2], size_t lengths[2], const char **rest) {
    const char *line = memchr(it->data, '\n', (size_t)it->length);
    const char *blank = line != NULL && line - it->data > 2
                            ? memchr(it->data + 2, ' ', (size_t)(line - it->data - 2))
                            : NULL;
    if (blank == NULL || memcmp(it->data, "1 ", 2) != 0 || strlen(it->data) != (size_t)it->length) {
        return false;
    }
    words[0] = it->data + 2;
    lengths[0] = (size_t)(blank - words[0]);
    words[1] = blank + 1;
    lengths[1] = (size_t)(line - words[1]);
    *rest = line + 1;
    return true;
}

static bool read_store(state *to, const call *it) {
    const char *words[2], *rest;
    size_t lengths[2];
    to->store_version = it->stat.version;
    to->store_found = split(it, words, lengths, &rest) &&
                      module_int64(&to->losses, words[0], lengths[0]) && to->losses < INT64_MAX &&
                      module_uint64(&to->origin, words[1], lengths[1]) && to->origin != 0;
    return to->store_found;
}

static bool read_ns(state *to, const call *it) {
    const char *words[2], *rest;
    size_t lengths[2];
    if (!split(it, words, lengths, &rest) || !module_int64(&to->floor, words[0], lengths[0]) ||
        to->floor > FIRN_SLOT_MAX || !module_int64(&to->ns_losses, words[1], lengths[1]) ||
        strlen(rest) >= sizeof to->layout) {
        return false;
    }
    to->ns_version = it->stat.version;
    to->ns_found = true;
    strcpy(to->layout, rest);
    return true;
}

static bool read_mark(state *to, const call *it) {
    const char *words[2], *rest;
    size_t lengths[2];
    if (!split(it, words, lengths, &rest) || !module_int64(&to->high, words[0], lengths[0]) ||
        to->high > FIRN_SLOT_MAX || !module_uint64(&to->grant, words[1], lengths[1]) ||
        strlen(rest) >= sizeof to->note) {
        return false;
    }
    to->version = it->stat.version;
    to->mzxid = it->stat.mzxid;
    to->found = true;
    strcpy(to->note, rest);
    return true;
}

/* ---- what is remembered ------------------------------------------------------------------------ */

static state *known(store *self, const char *path) {
    for (size_t i = 0; i < REMEMBERED; i++) {
        if (strcmp(self->known[i].path, path) == 0) {
            return &self->known[i];
        }
    }
    return NULL;
}

static void remember(store *self, const state *it) {
    state *at = known(self, it->path);
    if (at == NULL) {
        at = &self->known[self->oldest++ % REMEMBERED];
    }
    *at = *it;
    at->fresh = false; /* somebody may come in between */
}

/* ---- looking ----------------------------------------------------------------------------------- */

static int look_at(store *self, const char *path, state *to, bool (*read)(state *, const call *),
                   firn_error *error) {
    call *it = NULL;
    int code = read_znode(&it, self, path);
    int result = code == ZOK       ? (read(to, it) ? FIRN_OK : not_ours(self, path, error))
                 : code == ZNONODE ? FIRN_OK
                                   : explain(self, code, false, error);
    if (it != NULL) {
        call_leave(it);
    }
    return result;
}

/* Were all names dealt with since the store went back? */
static int look_at_all(store *self, state *to, firn_error *error) {
    state all;
    name_paths(self, &all, MODULE_ALL_NAMES, "1");
    int code = look_at(self, all.ns_path, &all, read_ns, error);
    to->all_new = code == FIRN_OK && all.ns_found && all.ns_losses == to->losses;
    return code;
}

/* Reads the znodes; `fresh`: not before everything acknowledged is in sight. */
static int look(store *self, state *to, bool fresh, firn_error *error) {
    int code = fresh ? synchronise(self) : ZOK;
    if (code != ZOK && code != ZNONODE) {
        return explain(self, code, false, error);
    }
    char path[PATH_SIZE];
    to->store_found = to->ns_found = to->found = to->all_new = false;
    to->floor = to->high = to->mzxid = to->losses = to->ns_losses = 0;
    to->grant = to->origin = 0;
    to->fresh = fresh;
    snprintf(path, sizeof path, "%s/%s", self->root, STORE_NAME);
    code = look_at(self, path, to, read_store, error);
    code = code != FIRN_OK ? code : look_at(self, to->ns_path, to, read_ns, error);
    code = code != FIRN_OK ? code : look_at(self, to->path, to, read_mark, error);
    return code == FIRN_OK && !to->ns_found && to->losses > 0 ? look_at_all(self, to, error) : code;
}

/* The first look at a key: what is remembered of it, else what the server that we are connected to
 * has. A connection that turns out to be dead is made anew once: nothing was sent yet. */
static int first_look(store *self, state *to, firn_error *error) {
    const state *at = known(self, to->path);
    if (at != NULL && !at->outdated && !self->suspect) {
        *to = *at;
        return FIRN_OK;
    }
    int64_t begun_ms = module_now_ms();
    int code = look(self, to, at != NULL, error);
    if (code == FIRN_ESTORE && self->handle == NULL && module_now_ms() - begun_ms < QUICK_MS) {
        code = enter(self, error);
        code = code == FIRN_OK ? look(self, to, at != NULL, error) : code;
    }
    return code;
}

/* Does what was read contradict what this handle knows? A znode's zxid never falls in one history,
 * neither a namespace nor a key ever goes, and the store stays the same. What was reserved before the
 * store was last found gone back is no news: everybody was told. */
static bool gone_back(store *self, const state *it, const char *ns) {
    const state *at = known(self, it->path);
    if (it->origin == self->origin && it->losses > self->losses) {
        forget(self);
    }
    return self->suspect || (it->ns_found && !it->store_found) ||
           (self->origin != 0 && (it->origin != self->origin || it->losses < self->losses)) ||
           (!it->ns_found && module_was_seen(&self->seen, ns)) ||
           (at != NULL && at->found && (!it->found || it->mzxid < at->mzxid));
}

/* ---- writing ----------------------------------------------------------------------------------- */

/* Sends all of the operations or none. */
static int commit(store *self, zoo_op_t *ops, int count, int64_t *mzxid) {
    call *it = call_new(2);
    if (it == NULL) {
        return ZMARSHALLINGERROR; /* nothing was sent */
    }
    for (int i = 0; i < count; i++) {
        if (ops[i].type == ZOO_SETDATA_OP) {
            ops[i].set_op.stat = &it->stats[i]; /* may be written after we gave up */
        }
    }
    int queued = zoo_amulti(self->handle, count, ops, it->results, on_done, it);
    int code = queued == ZOK ? point(self, "reserve.sent", NULL) : ZOK;
    if (code == FIRN_EFORKED) {
        return code; /* the library's thread is in the parent */
    }
    code = answer(self, it, queued);
    *mzxid = code == ZOK ? it->stats[count - 1].mzxid : 0;
    call_leave(it);
    return code;
}

/* Did somebody else change what was looked at? */
static bool was_late(int code) {
    return code == ZBADVERSION || code == ZNODEEXISTS || code == ZNONODE;
}

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Adds the operation that writes the store's record. */
static void put_store(store *self, zoo_op_t *op, const state *it, char path[PATH_SIZE],
                      const char *record, int length) {
    snprintf(path, PATH_SIZE, "%s/%s", self->root, STORE_NAME);
    if (it->store_found) {
        zoo_set_op_init(op, path, record, length, it->store_version, NULL);
    } else {
        zoo_create_op_init(op, path, record, length, rights(self), ZOO_PERSISTENT, NULL, 0);
    }
}

static uint64_t draw_origin(void) {
    uint64_t drawn = 0;
    return getrandom(&drawn, sizeof drawn, 0) == sizeof drawn ? drawn | 1
                                                              : (uint64_t)module_now_ms() << 16 | 1;
}

/* Tells everybody, in the store's record, that marks were lost: the law of module.h is then applied
 * to every namespace. */
static int tell_back(store *self, const state *it, firn_error *error) {
    char record[RECORD_SIZE], path[PATH_SIZE];
    zoo_op_t op;
    int64_t mzxid, losses = later(later(it->losses, it->ns_losses), self->losses) + 1;
    int code = self->rooted ? ZOK : make_root(self);
    put_store(self, &op, it, path, record,
              write_store(record, losses, it->store_found ? it->origin : draw_origin()));
    code = code == ZOK ? commit(self, &op, 1, &mzxid) : code;
    if (code != ZOK && !was_late(code)) {
        return code == FIRN_EFORKED ? code : explain(self, code, false, error);
    }
    if (code == ZOK) {
        forget(self);
    }
    return FIRN_OK;
}

/* Short, random and growing, so that those who contend do not meet again. */
static void pause_for_others(store *self, int round) {
    long most_us = 1000L << (round < 4 ? round : 4);
    struct timespec nap = {0, rand_r(&self->seed) % most_us * 1000};
    nanosleep(&nap, NULL);
}

/* One reservation under way. */
typedef struct turn {
    store *store;
    const firn_request *request;
    state seen;
    int64_t first, *out;
    firn_mark *held;
    firn_error *error;
} turn;

enum { AGAIN = 1 }; /* somebody was faster: look again */

/* Versions go round, and to the server -1 means any: then a key's own version holds nobody off. */
#define ANY_VERSION (-1)

static int next_version(int version) {
    return (int)((unsigned)version + 1);
}

/* The operations of a turn, and the texts that they point to. */
typedef struct change {
    zoo_op_t ops[OPS_MOST];
    char store_path[PATH_SIZE];
    char store_record[RECORD_SIZE], ns_record[RECORD_SIZE], record[RECORD_SIZE];
    bool rewrites; /* the namespace's record, where there is one */
} change;

static void compose(const turn *t, change *out, uint64_t origin, int64_t floor, int64_t high,
                    bool renew) {
    const firn_request *request = t->request;
    const state *seen = &t->seen;
    out->rewrites = renew || (seen->found && seen->version == ANY_VERSION);
    int length = write_store(out->store_record, 0, origin);
    put_store(t->store, &out->ops[0], seen, out->store_path, out->store_record, length);
    if (seen->store_found) {
        zoo_check_op_init(&out->ops[0], out->store_path, seen->store_version);
    }
    length = write_ns(out->ns_record, floor, seen->losses, request->layout);
    if (!seen->ns_found) {
        zoo_create_op_init(&out->ops[1], seen->ns_path, out->ns_record, length, rights(t->store),
                           ZOO_PERSISTENT, NULL, 0);
    } else if (out->rewrites) {
        zoo_set_op_init(&out->ops[1], seen->ns_path, out->ns_record, length, seen->ns_version,
                        NULL);
    } else {
        zoo_check_op_init(&out->ops[1], seen->ns_path, seen->ns_version);
    }
    length =
        write_mark(out->record, high, request->grant, request->note != NULL ? request->note : "");
    if (seen->found) {
        zoo_set_op_init(&out->ops[2], seen->path, out->record, length, seen->version, NULL);
    } else {
        zoo_create_op_init(&out->ops[2], seen->path, out->record, length, rights(t->store),
                           ZOO_PERSISTENT, NULL, 0);
    }
}

/* What is there once the change is written. */
static void take_over(turn *t, const change *made, uint64_t origin, int64_t floor, int64_t high) {
    state *seen = &t->seen;
    seen->store_version = seen->store_found ? seen->store_version : 0;
    seen->store_found = true;
    seen->origin = origin;
    seen->ns_version = !seen->ns_found  ? 0
                       : made->rewrites ? next_version(seen->ns_version)
                                        : seen->ns_version;
    seen->ns_found = true;
    seen->ns_losses = seen->losses;
    seen->floor = floor;
    strcpy(seen->layout, t->request->layout);
    if (high >= 0) {
        seen->version = seen->found ? next_version(seen->version) : 0;
        seen->found = true;
        seen->high = high;
        seen->grant = t->request->grant;
        snprintf(seen->note, sizeof seen->note, "%s",
                 t->request->note != NULL ? t->request->note : "");
    }
}

/* Writes a grant (`high` is its end), or only the namespace's new floor (`high` is -1). */
static int write_turn(turn *t, int64_t floor, int64_t high, bool renew) {
    change it;
    int64_t mzxid = 0;
    uint64_t origin = t->seen.store_found ? t->seen.origin : draw_origin();
    int code = point(t->store, "reserve.before", t->error);
    if (code != FIRN_OK) {
        return code;
    }
    compose(t, &it, origin, floor, high, renew);
    code = commit(t->store, it.ops, high < 0 ? 2 : 3, &mzxid);
    if (code == FIRN_EFORKED) {
        return module_fail(t->error, code, "this process was forked in a reservation: call exec");
    }
    if (was_late(code)) {
        return AGAIN;
    }
    if (code != ZOK) {
        return explain(t->store, code, true, t->error);
    }
    if (mzxid > 0 && mzxid <= t->store->newest) {
        t->store->suspect = true; /* a history in which what we saw never happened */
        return AGAIN;             /* nothing of this window is issued */
    }
    take_over(t, &it, origin, floor, high);
    t->seen.mzxid = high >= 0 ? mzxid : t->seen.mzxid;
    t->store->newest = later(mzxid, t->store->newest);
    t->store->origin = origin;
    t->store->losses = t->seen.losses;
    remember(t->store, &t->seen);
    module_see(&t->store->seen, t->request->ns);
    return FIRN_OK;
}

/* Applies the law of module.h to what was seen. */
static int decide(turn *t) {
    const state *seen = &t->seen;
    const module_kept kept = {
        .known = seen->ns_found,
        .doubted =
            seen->ns_found ? seen->ns_losses != seen->losses : seen->losses > 0 && !seen->all_new,
        .layout = seen->layout,
        .floor = seen->floor,
        .mark = {seen->high, seen->grant},
    };
    module_verdict verdict;
    int code = module_decide(&verdict, &kept, t->request, t->store->url.shown, t->held, t->error);
    if (code != FIRN_OK && !seen->fresh) {
        return AGAIN; /* no refusal from what may have changed since */
    }
    if (code != FIRN_OK && (code != FIRN_EBUSY || !verdict.renew)) {
        return code;
    }
    int made = t->store->rooted || seen->ns_found ? ZOK : make_root(t->store);
    if (made != ZOK) {
        return explain(t->store, made, false, t->error);
    }
    int64_t high = code == FIRN_OK ? verdict.first + t->request->count : -1;
    int written = write_turn(t, verdict.floor, high, verdict.renew);
    if (written != FIRN_OK || code != FIRN_OK) {
        return written != FIRN_OK ? written : code;
    }
    *t->out = verdict.first;
    return point(t->store, "reserve.committed", t->error);
}

static int outdated(store *self, const state *it, int round, firn_error *error, state *to) {
    state *at = known(self, it->path);
    if (at != NULL) {
        at->outdated = true;
    }
    self->rooted = false; /* somebody may have removed it */
    if (round > 0) {
        pause_for_others(self, round);
    }
    return look(self, to, true, error);
}

static int zookeeper_reserve(void *handle, const firn_request *request, int64_t *first,
                             firn_mark *held, firn_error *error) {
    store *self = handle;
    turn t = {.store = self, .request = request, .out = first, .held = held, .error = error};
    int code = enter(self, error);
    if (code != FIRN_OK) {
        return code;
    }
    name_paths(self, &t.seen, request->ns, request->key);
    code = first_look(self, &t.seen, error);
    for (int round = 0; code == FIRN_OK && round < ROUNDS; round++) {
        if (gone_back(self, &t.seen, request->ns)) {
            code = t.seen.fresh ? tell_back(self, &t.seen, error) : FIRN_OK;
            code = code == FIRN_OK ? AGAIN : code;
        } else {
            code = decide(&t);
        }
        if (code != AGAIN) {
            return code;
        }
        code = outdated(self, &t.seen, round, error, &t.seen);
    }
    return code != FIRN_OK
               ? code
               : module_fail(error, FIRN_ESTORE, "%.90s: others were faster %d times: ask again",
                             self->url.shown, ROUNDS);
}

/* ---- give back --------------------------------------------------------------------------------- */

static int lower(store *self, state *seen, int64_t high, firn_error *error) {
    char record[RECORD_SIZE];
    int length = write_mark(record, high, 0, seen->note);
    int code = point(self, "give_back.before", error);
    if (code != FIRN_OK) {
        return code;
    }
    call *it = call_new(2);
    if (it == NULL) {
        return no_memory(error);
    }
    int queued = zoo_aset(self->handle, seen->path, record, length, seen->version, on_stat, it);
    code = point(self, "give_back.sent", error);
    if (code != FIRN_OK) {
        return code;
    }
    code = answer(self, it, queued);
    seen->mzxid = it->stat.mzxid;
    call_leave(it);
    if (code != ZOK) {
        return was_late(code) ? AGAIN : explain(self, code, true, error);
    }
    seen->version = next_version(seen->version);
    seen->high = high;
    seen->grant = 0;
    remember(self, seen);
    return point(self, "give_back.committed", error);
}

static int zookeeper_give_back(void *handle, const char *ns, const char *key, const firn_mark *mine,
                               int64_t high, firn_error *error) {
    store *self = handle;
    state seen;
    int code = enter(self, error);
    if (code != FIRN_OK) {
        return code;
    }
    name_paths(self, &seen, ns, key);
    code = first_look(self, &seen, error);
    for (int round = 0; code == FIRN_OK && round < ROUNDS; round++) {
        bool is_mine = seen.found && seen.high == mine->high && seen.grant == mine->grant;
        if ((!is_mine && seen.fresh) || seen.version == ANY_VERSION) {
            return module_refuse_give_back(error, ns, key, mine);
        }
        code = is_mine ? lower(self, &seen, high, error) : AGAIN;
        if (code != AGAIN) {
            return code;
        }
        code = outdated(self, &seen, round, error, &seen);
    }
    return code != FIRN_OK
               ? code
               : module_fail(error, FIRN_ESTORE, "%.90s: others were faster %d times: ask again",
                             self->url.shown, ROUNDS);
}

/* ---- list and now ------------------------------------------------------------------------------ */

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names below a znode, in the order of their bytes; none when it does not exist. */
static int list_names(call **out, store *self, const char *path, size_t size, firn_error *error) {
    call *it = *out = call_new(2);
    if (it == NULL) {
        return no_memory(error);
    }
    int code = answer(self, it, zoo_aget_children(self->handle, path, 0, on_children, it));
    if (code != ZOK) {
        it->children.count = code == ZNONODE ? 0 : it->children.count;
        return code == ZNONODE ? FIRN_OK : explain(self, code, false, error);
    }
    for (int i = 0; i < it->children.count; i++) {
        char *name = it->children.data[i]; /* becomes shorter, if anything */
        if (strcmp(name, STORE_NAME) != 0 && !unescape(name, size, name)) {
            return not_ours(self, name, error);
        }
    }
    qsort(it->children.data, (size_t)it->children.count, sizeof *it->children.data, by_name);
    return FIRN_OK;
}

static int visit_key(store *self, const char *ns, const char *key, firn_visit *visit, void *context,
                     firn_error *error) {
    state seen;
    begin_verb(self); /* whoever was shown the last one may have taken his time */
    name_paths(self, &seen, ns, key);
    int code = look(self, &seen, false, error);
    if (code != FIRN_OK || !seen.ns_found || !seen.found) {
        return code;
    }
    firn_holding holding = {ns, seen.layout, key, seen.note, {seen.high, seen.grant}};
    code = visit(context, &holding);
    return getpid() == self->pid ? code : point(self, "list.forked", error);
}

static int visit_ns(store *self, const char *ns, firn_visit *visit, void *context,
                    firn_error *error) {
    state at;
    call *keys = NULL;
    name_paths(self, &at, ns, "");
    int code = list_names(&keys, self, at.ns_path, FIRN_KEY_SIZE, error);
    for (int i = 0; code == FIRN_OK && i < keys->children.count; i++) {
        code = visit_key(self, ns, keys->children.data[i], visit, context, error);
    }
    if (keys != NULL && getpid() == self->pid) {
        call_leave(keys);
    }
    return code;
}

static int zookeeper_list(void *handle, const char *ns, firn_visit *visit, void *context,
                          firn_error *error) {
    store *self = handle;
    call *all = NULL;
    int code = enter(self, error);
    if (code != FIRN_OK) {
        return code;
    }
    int answered = synchronise(self);
    if (answered != ZOK && answered != ZNONODE) {
        return explain(self, answered, false, error);
    }
    if (ns != NULL) {
        return visit_ns(self, ns, visit, context, error);
    }
    code = list_names(&all, self, self->root, FIRN_NS_SIZE, error);
    for (int i = 0; code == FIRN_OK && i < all->children.count; i++) {
        if (strcmp(all->children.data[i], STORE_NAME) == 0) {
            continue;
        }
        code = visit_ns(self, all->children.data[i], visit, context, error);
    }
    if (all != NULL && getpid() == self->pid) {
        call_leave(all);
    }
    return code;
}

/* Writes what the root holds, which may be somebody else's, once more. */
static int touch_root(store *self, firn_time *now) {
    call *was = NULL, *it = call_new(2);
    int code = it != NULL ? read_znode(&was, self, self->root) : ZSYSTEMERROR;
    int queued = code == ZOK ? zoo_aset(self->handle, self->root, was->data, was->length,
                                        was->stat.version, on_stat, it)
                             : code;
    if (it != NULL && code == ZOK) {
        code = answer(self, it, queued);
        now->sec = it->stat.mtime / 1000;
        now->ns = (int32_t)(it->stat.mtime % 1000 * 1000000);
        call_leave(it);
    } else if (it != NULL) {
        it->holders = 1;
        call_leave(it);
    }
    if (was != NULL) {
        call_leave(was);
    }
    return code;
}

/* The leader's wall clock, which it notes at every write: so something is written. */
static int zookeeper_now(void *handle, firn_time *now, firn_error *error) {
    store *self = handle;
    int code = enter(self, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = self->rooted ? ZOK : make_root(self);
    code = code == ZOK ? touch_root(self, now) : code;
    for (int round = 1; code == ZBADVERSION && round < ROUNDS && !is_late(self); round++) {
        pause_for_others(self, round);
        code = touch_root(self, now);
    }
    return code == ZOK ? FIRN_OK : explain(self, code, false, error);
}

/* ---- open and close ---------------------------------------------------------------------------- */

static void zookeeper_close_store(void *handle) {
    store *self = handle;
    if (module_forked(&self->pid)) {
        abandon(self);
    }
    disconnect(self);
    for (size_t i = 0; i < MODULE_HOSTS_MAX; i++) {
        module_lookup_leave(self->lookups[i]);
    }
    if (self->login != NULL) {
        explicit_bzero(self->login, strlen(self->login));
        free(self->login);
    }
    module_url_free(&self->url);
    free(self);
}

static int take_numbers(store *self, firn_error *error) {
    int64_t connect_ms, call_ms, unsafe;
    int code = module_param_number(&connect_ms, &self->url, "connect_timeout_ms", MODULE_TIMEOUT_MS,
                                   1, 3600000, error);
    if (code == FIRN_OK) {
        code = module_param_number(&call_ms, &self->url, "timeout_ms", MODULE_TIMEOUT_MS, 1,
                                   3600000, error);
    }
    if (code == FIRN_OK) {
        code = module_param_number(&unsafe, &self->url, "unsafe", 0, 0, 1, error);
    }
    if (code == FIRN_OK) {
        self->connect_timeout_ms = (int)connect_ms;
        self->timeout_ms = (int)call_ms;
    }
    return code;
}

static int take_hosts(const store *self, firn_error *error) {
    for (size_t i = 0; i < self->url.host_count; i++) {
        const module_host *host = &self->url.hosts[i];
        if (strlen(host->name) > 255 || strpbrk(host->name, ",/ ") != NULL) {
            return module_fail(error, FIRN_EUSAGE,
                               "the store's URL has '%.60s', which is not a valid host: write "
                               "zookeeper://HOST[:PORT][,HOST...][/PATH]",
                               host->name);
        }
    }
    return self->url.host_count > 0 ? FIRN_OK
                                    : module_fail(error, FIRN_EUSAGE,
                                                  "the store's URL names no host: write "
                                                  "zookeeper://HOST[:PORT][,HOST...][/PATH]");
}

/* The path of a znode: names between single slashes, none of them . or .. or made of what ZooKeeper
 * keeps for itself. */
static int take_root(store *self, firn_error *error) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_/.";
    const char *path = self->url.path != NULL ? self->url.path : ROOT;
    size_t length = strlen(path);
    snprintf(self->root, sizeof self->root, "/%s", path);
    if (length < 1 || length > ROOT_MOST || strspn(path, plain) != length ||
        path[length - 1] == '/' || path[0] == '/' || strstr(path, "//") != NULL ||
        strstr(self->root, "/.") != NULL || strcmp(path, "zookeeper") == 0 ||
        strncmp(path, "zookeeper/", 10) == 0) {
        return module_fail(error, FIRN_EUSAGE,
                           "the store's URL has the path '%.60s': give 1..%d letters, digits, - _ "
                           ". and single /, not /zookeeper",
                           path, ROOT_MOST);
    }
    return FIRN_OK;
}

static int take_login(store *self, firn_error *error) {
    int code = module_password(&self->url, "FIRN_ZOOKEEPER_PASSWORD", error);
    if (code != FIRN_OK || (self->url.user == NULL && self->url.password == NULL)) {
        return code;
    }
    if (self->url.user == NULL || self->url.password == NULL) {
        return module_fail(error, FIRN_EUSAGE,
                           "the store has a user or a password alone: give user:password@, or "
                           "user@ and password-file= or FIRN_ZOOKEEPER_PASSWORD");
    }
    return asprintf(&self->login, "%s:%s", self->url.user, self->url.password) < 0
               ? no_memory(error)
               : FIRN_OK;
}

static int set_up(store *self, const char *url, firn_error *error) {
    int code = module_url_parse(&self->url, url, error);
    if (code == FIRN_OK && module_param(&self->url, "tls") != NULL) {
        return module_fail(error, FIRN_EUSAGE,
                           "Debian's ZooKeeper library has no TLS: leave tls= out, and go through "
                           "a tunnel where others can listen");
    }
    code = code == FIRN_OK ? take_hosts(self, error) : code;
    code = code == FIRN_OK ? take_root(self, error) : code;
    code = code == FIRN_OK ? take_login(self, error) : code;
    code = code == FIRN_OK ? take_numbers(self, error) : code;
    return code == FIRN_OK
               ? module_params_done(&self->url,
                                    "connect_timeout_ms timeout_ms password-file unsafe", error)
               : code;
}

/* Connects to nothing yet: a server that starts later is found by the first verb after that. */
static int zookeeper_open(void **handle, const char *url, const firn_store_options *options,
                          firn_error *error) {
    store *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return no_memory(error);
    }
    if (options != NULL) {
        self->options = *options;
    }
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    module_forked(&self->pid);
    self->seed = (unsigned)self->pid ^ (unsigned)(uintptr_t)self ^ (unsigned)module_now_ms();
    int code = set_up(self, url, error);
    if (code != FIRN_OK) {
        zookeeper_close_store(self);
        return code;
    }
    *handle = self;
    return FIRN_OK;
}

const firn_store_ops firn_store_module = {
    .version = 1,
    .scheme = "zookeeper",
    .open = zookeeper_open,
    .reserve = zookeeper_reserve,
    .give_back = zookeeper_give_back,
    .list = zookeeper_list,
    .now = zookeeper_now,
    .close = zookeeper_close_store,
};
