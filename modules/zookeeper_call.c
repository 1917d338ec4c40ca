/* SPDX-License-Identifier: MIT */
/* How the ZooKeeper store calls the C library: time limits, sessions and forks, and the library's
 * codes as text. */
#include "zookeeper.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORT          2181
#define HOSTS_SIZE    4200
#define SESSION_MS    4000
#define CHILDREN_MOST 1000000

/* ---- errors ---------------------------------------------------------------------------------- */

/* By the library's code: what is wrong, and what to do. `refused`: nothing was carried out. */
static const struct {
    int code;
    bool refused;
    const char *what, *cure;
} explanations[] = {
    {ZNOAUTH, true, "does not allow it", "give user:password@ in the URL, or another path"},
    {ZINVALIDACL, true, "does not accept these rights", "give user:password@ in the URL"},
    {ZNOTREADONLY, true, "is a read-only part of its ensemble", "start the others"},
    {ZTHROTTLEDOP, true, "is overloaded", "try again"},
    {ZMARSHALLINGERROR, true, "cannot be sent the request", "give this process more memory"},
    {ZBADARGUMENTS, true, "does not accept that path", "use another path in the URL"},
    {ZNOCHILDRENFOREPHEMERALS, true, "has an ephemeral znode there", "use another path"},
    {ZINVALIDSTATE, true, "is not connected", "start it, or name another host"},
    {ZAUTHFAILED, true, "refuses user and password", "correct user:password@ in the URL"},
    {ZOPERATIONTIMEOUT, false, "does not answer", "start it, or raise timeout"},
    {ZCONNECTIONLOSS, false, "cut the connection", "start it, or name another host"},
    {ZSESSIONEXPIRED, false, "ended the session", "try again"},
};

int zk_explain(const store *self, int code, bool sent, firn_error *error) {
    const char *what = zerror(code), *cure = "read its log";
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
                             "%.90s %.40s before it confirmed the write: send the same request "
                             "again with the same grant",
                             self->link.url.shown, what)
               : module_fail(error, FIRN_ESTORE, "%.90s %.40s: %s", self->link.url.shown, what,
                             cure);
}

/* ---- calls ----------------------------------------------------------------------------------- */

call *zk_call(int holders) {
    call *it = calloc(1, sizeof *it);
    if (it != NULL) {
        pthread_mutex_init(&it->lock, NULL);
        module_cond_init(&it->changed);
        it->holders = holders;
    }
    return it;
}

void zk_leave(call *it) {
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

/* The library's code, or ZOPERATIONTIMEOUT. */
static int call_wait(call *it, int64_t deadline_ms) {
    pthread_mutex_lock(&it->lock);
    while (!it->done && module_cond_wait(&it->changed, &it->lock, deadline_ms)) {
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
    zk_leave(it);
}

/* The callbacks run in the library's thread, and must not wait. */

void zk_on_data(int code, const char *value, int length, const struct Stat *stat,
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

void zk_on_stat(int code, const struct Stat *stat, const void *data) {
    call *it = (call *)(uintptr_t)data;
    if (code == ZOK) {
        it->stat = *stat;
    }
    call_done(it, code);
}

void zk_on_children(int code, const struct String_vector *strings, const void *data) {
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

void zk_on_string(int code, const char *value, const void *data) {
    (void)value;
    call_done((call *)(uintptr_t)data, code);
}

void zk_on_done(int code, const void *data) {
    call_done((call *)(uintptr_t)data, code);
}

static void on_session(zhandle_t *handle, int type, int now, const char *path, void *context) {
    call *it = context;
    (void)handle;
    (void)path;
    if (type == ZOO_SESSION_EVENT) {
        pthread_mutex_lock(&it->lock);
        it->cut = it->cut || (it->done && it->code == ZOO_CONNECTED_STATE && now != it->code);
        it->code = now;
        it->done = now == ZOO_CONNECTED_STATE || now == ZOO_AUTH_FAILED_STATE ||
                   now == ZOO_EXPIRED_SESSION_STATE;
        pthread_cond_broadcast(&it->changed);
        pthread_mutex_unlock(&it->lock);
    }
}

/* Instead of a log on stderr. */
static void on_log(const char *message) {
    (void)message;
}

/* ---- connecting ------------------------------------------------------------------------------ */

void zk_forget(void *of) {
    store *self = of;
    self->newest = 0;
    self->suspect = false;
}

/* A forked child has none of the library's threads, and their locks may stay locked: everything of
 * the library is abandoned, with the socket, which exec closes. What the handle remembers may be
 * incomplete. */
void zk_hang_up(void *of, bool forked) {
    store *self = of;
    if (forked) {
        self->handle = NULL;
        self->session = NULL;
        self->rooted = false;
        zk_forget(self);
    }
    if (self->handle != NULL) {
        zookeeper_close(self->handle); /* up to 1.5 s if the server does not answer */
        self->handle = NULL;
    }
    if (self->session != NULL) {
        zk_leave(self->session);
        self->session = NULL;
    }
}

static int failed_to_connect(store *self, int answer, firn_error *error) {
    zk_hang_up(self, false);
    if (answer == ZOO_AUTH_FAILED_STATE) {
        return zk_explain(self, ZAUTHFAILED, false, error);
    }
    if (self->no_host != NULL) {
        return module_fail(error, FIRN_ESTORE,
                           "the host of %.90s is not found (%.60s): correct the name in the URL",
                           self->link.url.shown, self->no_host);
    }
    return module_fail(error, FIRN_ESTORE,
                       "%.90s cannot be reached (tried for %" PRId64
                       " ms): start it, or name another host",
                       self->link.url.shown, self->link.connect_ms);
}

/* The C library looks names up under a lock, which a forked child may inherit locked. So names are
 * looked up only while connecting, a fork waits for that, and a child that was forked nevertheless never connects. */
static _Atomic bool lost_by_fork;

static void in_child(void) {
    if (module_insiders() != 0) {
        atomic_store_explicit(&lost_by_fork, true, memory_order_seq_cst);
    }
}

void zk_watch_forks(void) {
    pthread_atfork(NULL, NULL, in_child);
}

static int log_in(store *self) {
    return self->login == NULL ? ZOK
                               : zoo_add_auth(self->handle, "digest", self->login,
                                              (int)strlen(self->login), NULL, NULL);
}

/* Adds a host's addresses to the list, as far as there is room. */
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

/* The addresses of all hosts found before the deadline. False: none. */
static bool find_hosts(store *self, char hosts[HOSTS_SIZE], int64_t deadline_ms) {
    size_t length = 0;
    self->no_host = NULL;
    for (size_t i = 0; i < self->link.url.host_count; i++) {
        int64_t now_ms = module_now_ms();
        int64_t share_ms = (deadline_ms - now_ms) / (int64_t)(self->link.url.host_count - i + 1);
        const char *why = NULL;
        struct addrinfo *found = module_link_resolve(&self->link, i, PORT, now_ms + share_ms, &why);
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

/* Returns the session's state; 0: none. The library gets addresses, since it would look names up without
 * a time limit. */
static int begin_session(store *self) {
    int session_ms = (int)(2 * self->link.timeout_ms);
    session_ms = session_ms > SESSION_MS ? session_ms : SESSION_MS;
    int64_t deadline_ms = module_now_ms() + self->link.connect_ms;
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
    return call_wait(self->session, deadline_ms);
}

static int make_connection(store *self, firn_error *error) {
    firn_error own = {0};
    int code = module_link_waits(&self->link, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (atomic_load_explicit(&lost_by_fork, memory_order_seq_cst)) {
        return module_fail(error, FIRN_EFORKED,
                           "this process was forked while a store was connected: call exec, or "
                           "fork between calls");
    }
    self->session = zk_call(1);
    if (self->session == NULL) {
        return module_no_memory(error);
    }
    module_inside();
    int answer = begin_session(self);
    module_outside();
    if (answer != ZOO_CONNECTED_STATE) {
        code = failed_to_connect(self, answer, &own);
        module_link_failed(&self->link, code, &own);
        return module_copy(error, code, &own);
    }
    module_retry_worked(&self->link.retry);
    self->connections++;
    return FIRN_OK;
}

/* Has the handle the connection that it was made with? The library may have made another one since, to a server of
 * another history. */
static bool is_connected(const store *self) {
    pthread_mutex_lock(&self->session->lock);
    const bool cut = self->session->cut;
    pthread_mutex_unlock(&self->session->lock);
    return !cut && zoo_state(self->handle) == ZOO_CONNECTED_STATE;
}

/* A handle that lost its connection is not used again, although the library would reconnect it: a
 * request would wait in it and could be sent after its caller gave up. */
int zk_enter(store *self, firn_error *error) {
    if (module_link_begin(&self->link)) {
        zk_hang_up(self, true);
    }
    if (self->handle != NULL && !is_connected(self)) {
        zk_hang_up(self, false);
    }
    return self->handle != NULL ? FIRN_OK : make_connection(self, error);
}

/* Disconnects after an answer that leaves the connection in doubt. */
static int settle(store *self, int code) {
    if (code == ZCONNECTIONLOSS || code == ZOPERATIONTIMEOUT || code == ZSESSIONEXPIRED ||
        code == ZINVALIDSTATE || code == ZCLOSING || code == ZAUTHFAILED || code == ZSESSIONMOVED) {
        zk_hang_up(self, false);
        module_retry_failed(&self->link.retry);
    }
    return code;
}

int zk_answer(store *self, call *it, int queued) {
    if (queued != ZOK) {
        it->holders = 1; /* the library never calls back */
        return settle(self, queued);
    }
    return settle(self, call_wait(it, module_now_ms() + self->link.timeout_ms));
}
