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

int zk_explain(const zookeeper_store *store, int code, bool sent, firn_error *error) {
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
                             store->link.url.shown, what)
               : module_fail(error, FIRN_ESTORE, "%.90s %.40s: %s", store->link.url.shown, what,
                             cure);
}

/* ---- calls ----------------------------------------------------------------------------------- */

zookeeper_call *zk_call(int holders) {
    zookeeper_call *call = calloc(1, sizeof *call);
    if (call != NULL) {
        pthread_mutex_init(&call->lock, NULL);
        module_cond_init(&call->changed);
        call->holders = holders;
    }
    return call;
}

void zk_leave(zookeeper_call *call) {
    if (call == NULL) {
        return;
    }
    pthread_mutex_lock(&call->lock);
    bool last = --call->holders == 0;
    pthread_mutex_unlock(&call->lock);
    if (last) {
        for (int i = 0; i < call->children.count; i++) {
            free(call->children.data[i]);
        }
        free(call->children.data);
        free(call->data);
        pthread_mutex_destroy(&call->lock);
        pthread_cond_destroy(&call->changed);
        free(call);
    }
}

/* The library's code, or ZOPERATIONTIMEOUT. */
static int call_wait(zookeeper_call *call, int64_t deadline_ms) {
    pthread_mutex_lock(&call->lock);
    while (!call->done && module_cond_wait(&call->changed, &call->lock, deadline_ms)) {
    }
    int code = call->done ? call->code : ZOPERATIONTIMEOUT;
    pthread_mutex_unlock(&call->lock);
    return code;
}

static void call_done(zookeeper_call *call, int code) {
    pthread_mutex_lock(&call->lock);
    call->done = true;
    call->code = code;
    pthread_cond_broadcast(&call->changed);
    pthread_mutex_unlock(&call->lock);
    zk_leave(call);
}

/* The callbacks run in the library's thread, and must not wait. */

void zk_on_data(int code, const char *value, int length, const struct Stat *stat,
                const void *data) {
    zookeeper_call *call = (zookeeper_call *)(uintptr_t)data;
    if (code == ZOK) {
        call->length = length > 0 ? length : 0; /* -1: a znode without data */
        call->stat = *stat;
        call->data = malloc((size_t)call->length + 1);
        if (call->data == NULL) {
            code = ZSYSTEMERROR;
        } else {
            memcpy(call->data, length > 0 ? value : "", (size_t)call->length);
            call->data[call->length] = '\0';
        }
    }
    call_done(call, code);
}

void zk_on_stat(int code, const struct Stat *stat, const void *data) {
    zookeeper_call *call = (zookeeper_call *)(uintptr_t)data;
    if (code == ZOK) {
        call->stat = *stat;
    }
    call_done(call, code);
}

void zk_on_children(int code, const struct String_vector *strings, const void *data) {
    zookeeper_call *call = (zookeeper_call *)(uintptr_t)data;
    int count = code == ZOK && strings != NULL ? strings->count : 0;
    if (count > CHILDREN_MOST) {
        count = 0;
        code = ZSYSTEMERROR;
    }
    call->children.data = calloc((size_t)count + 1, sizeof *call->children.data);
    for (int i = 0; i < count && call->children.data != NULL; i++) {
        call->children.data[i] = strdup(strings->data[i]);
        if (call->children.data[i] == NULL) {
            break;
        }
        call->children.count++;
    }
    call_done(call, call->children.count < count ? ZSYSTEMERROR : code);
}

void zk_on_string(int code, const char *value, const void *data) {
    (void)value;
    call_done((zookeeper_call *)(uintptr_t)data, code);
}

void zk_on_done(int code, const void *data) {
    call_done((zookeeper_call *)(uintptr_t)data, code);
}

static void on_session(zhandle_t *handle, int type, int now, const char *path, void *context) {
    zookeeper_call *call = context;
    (void)handle;
    (void)path;
    if (type == ZOO_SESSION_EVENT) {
        pthread_mutex_lock(&call->lock);
        call->cut =
            call->cut || (call->done && call->code == ZOO_CONNECTED_STATE && now != call->code);
        call->code = now;
        call->done = now == ZOO_CONNECTED_STATE || now == ZOO_AUTH_FAILED_STATE ||
                     now == ZOO_EXPIRED_SESSION_STATE;
        pthread_cond_broadcast(&call->changed);
        pthread_mutex_unlock(&call->lock);
    }
}

/* Instead of a log on stderr. */
static void on_log(const char *message) {
    (void)message;
}

/* ---- connecting ------------------------------------------------------------------------------ */

void zk_forget(void *self) {
    zookeeper_store *store = self;
    store->newest = 0;
    store->suspect = false;
}

/* A forked child has none of the library's threads, and their locks may stay locked: everything of
 * the library is abandoned, with the socket, which exec closes. What the handle remembers may be
 * incomplete. */
void zk_hang_up(void *self, bool forked) {
    zookeeper_store *store = self;
    if (forked) {
        store->handle = NULL;
        store->session = NULL;
        store->rooted = false;
        zk_forget(store);
    }
    if (store->handle != NULL) {
        zookeeper_close(store->handle); /* up to 1.5 s if the server does not answer */
        store->handle = NULL;
    }
    zk_leave(store->session);
    store->session = NULL;
}

static int failed_to_connect(zookeeper_store *store, int answer, firn_error *error) {
    zk_hang_up(store, false);
    if (answer == ZOO_AUTH_FAILED_STATE) {
        return zk_explain(store, ZAUTHFAILED, false, error);
    }
    if (store->no_host != NULL) {
        return module_fail(error, FIRN_ESTORE,
                           "the host of %.90s is not found (%.60s): correct the name in the URL",
                           store->link.url.shown, store->no_host);
    }
    return module_fail(error, FIRN_ESTORE,
                       "%.90s cannot be reached (tried for %" PRId64
                       " ms): start it, or name another host",
                       store->link.url.shown, store->link.connect_ms);
}

/* The C library looks names up under a lock, which a forked child may inherit locked. So names are
 * looked up only while connecting, a fork waits for that, and a child that was forked nevertheless
 * never connects. */
static _Atomic bool lost_by_fork;

static void in_child(void) {
    if (module_insiders() != 0) {
        atomic_store_explicit(&lost_by_fork, true, memory_order_seq_cst);
    }
}

void zk_watch_forks(void) {
    pthread_atfork(NULL, NULL, in_child);
}

static int log_in(zookeeper_store *store) {
    return store->login == NULL ? ZOK
                                : zoo_add_auth(store->handle, "digest", store->login,
                                               (int)strlen(store->login), NULL, NULL);
}

/* Adds a host's addresses to the list, as far as there is room. */
static size_t add_addresses(char hosts[HOSTS_SIZE], size_t length, const struct addrinfo *address) {
    for (; address != NULL; address = address->ai_next) {
        char name[64], port[8];
        if (getnameinfo(address->ai_addr, address->ai_addrlen, name, sizeof name, port, sizeof port,
                        NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
            continue;
        }
        bool bare = strchr(name, ':') == NULL;
        int more = snprintf(hosts + length, HOSTS_SIZE - length, "%s%s%s%s:%s",
                            length > 0 ? "," : "", bare ? "" : "[", name, bare ? "" : "]", port);
        if ((size_t)more >= HOSTS_SIZE - length) {
            hosts[length] = '\0';
            return length;
        }
        length += (size_t)more;
    }
    return length;
}

/* The addresses of all hosts found before the deadline. False: none. */
static bool find_hosts(zookeeper_store *store, char hosts[HOSTS_SIZE], int64_t deadline_ms) {
    size_t length = 0;
    const char *why = NULL;
    for (size_t i = 0; i < store->link.url.host_count; i++) {
        int64_t now_ms = module_now_ms();
        int64_t share_ms = (deadline_ms - now_ms) / (int64_t)(store->link.url.host_count - i + 1);
        struct addrinfo *found =
            module_link_resolve(&store->link, i, PORT, now_ms + share_ms, &why);
        length = add_addresses(hosts, length, found);
        if (found != NULL) {
            freeaddrinfo(found);
        }
    }
    store->no_host = length > 0 ? NULL : why;
    return length > 0;
}

/* Returns the session's state; 0: none. The library gets addresses, since it would look names up
 * without a time limit. */
static int begin_session(zookeeper_store *store) {
    int session_ms = (int)(2 * store->link.timeout_ms);
    session_ms = session_ms > SESSION_MS ? session_ms : SESSION_MS;
    int64_t deadline_ms = module_now_ms() + store->link.connect_ms;
    char hosts[HOSTS_SIZE];
    if (!find_hosts(store, hosts, deadline_ms)) {
        return 0;
    }
    store->handle = zookeeper_init2(hosts, on_session, session_ms, NULL, store->session,
                                    ZOO_NO_LOG_CLIENTENV, on_log);
    if (store->handle == NULL || zoo_set_servers_resolution_delay(store->handle, -1) != ZOK ||
        log_in(store) != ZOK) {
        return 0;
    }
    return call_wait(store->session, deadline_ms);
}

static int make_connection(zookeeper_store *store, firn_error *error) {
    firn_error own = {0};
    int code = module_link_waits(&store->link, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (atomic_load_explicit(&lost_by_fork, memory_order_seq_cst)) {
        return module_fail(error, FIRN_EFORKED,
                           "this process was forked while a store was connected: call exec, or "
                           "fork between calls");
    }
    store->session = zk_call(1);
    if (store->session == NULL) {
        return module_no_memory(error);
    }
    module_inside();
    int answer = begin_session(store);
    module_outside();
    if (answer != ZOO_CONNECTED_STATE) {
        code = failed_to_connect(store, answer, &own);
        module_link_failed(&store->link, code, &own);
        return module_copy(error, code, &own);
    }
    module_retry_worked(&store->link.retry);
    store->connections++;
    return FIRN_OK;
}

/* Has the handle the connection that it was made with? The library may have made another one since,
 * to a server of another history. */
static bool is_connected(const zookeeper_store *store) {
    pthread_mutex_lock(&store->session->lock);
    const bool cut = store->session->cut;
    pthread_mutex_unlock(&store->session->lock);
    return !cut && zoo_state(store->handle) == ZOO_CONNECTED_STATE;
}

/* A handle that lost its connection is not used again, although the library would reconnect it: a
 * request would wait in it and could be sent after its caller gave up. */
int zk_enter(void *self, firn_error *error) {
    zookeeper_store *store = self;
    if (module_link_begin(&store->link)) {
        zk_hang_up(store, true);
    }
    if (store->handle != NULL && !is_connected(store)) {
        zk_hang_up(store, false);
    }
    return store->handle != NULL ? FIRN_OK : make_connection(store, error);
}

/* Disconnects after an answer that leaves the connection in doubt. */
static int settle(zookeeper_store *store, int code) {
    if (code == ZCONNECTIONLOSS || code == ZOPERATIONTIMEOUT || code == ZSESSIONEXPIRED ||
        code == ZINVALIDSTATE || code == ZCLOSING || code == ZAUTHFAILED || code == ZSESSIONMOVED) {
        zk_hang_up(store, false);
        module_retry_failed(&store->link.retry);
    }
    return code;
}

int zk_answer(zookeeper_store *store, zookeeper_call *call, int queued) {
    if (queued != ZOK) {
        call->holders = 1; /* the library never calls back */
        return settle(store, queued);
    }
    return settle(store, call_wait(call, module_now_ms() + store->link.timeout_ms));
}
