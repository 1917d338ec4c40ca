/* SPDX-License-Identifier: MIT */
/* The driver of ZooKeeper: one znode for the store, one per namespace, and below it one per key. A
 * write succeeds only while all three have the versions that were read. */
#include "zookeeper.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOT     "firn" /* without a path in the URL */
#define ROUNDS   200    /* tries of a write that other writers made outdated */
#define QUICK_MS 500    /* a faster failure did not wait for an answer */

/* ---- records --------------------------------------------------------------------------------- */

/* On a new connection if that one is dead: no write was sent yet. */
static int zookeeper_read(void *handle, firn_records *seen, bool surely, firn_error *error) {
    const zookeeper_store *store = handle;
    const int64_t begun_ms = module_now_ms();
    int code = zk_look(handle, seen, surely, error);
    if (code == FIRN_ESTORE && store->handle == NULL && module_now_ms() - begun_ms < QUICK_MS) {
        code = zk_enter(handle, error);
        code = code == FIRN_OK ? zk_look(handle, seen, surely, error) : code;
    }
    return code;
}

static bool zookeeper_usable(void *handle, const firn_records *seen) {
    const zookeeper_store *store = handle;
    return seen->own[OWN_CONNECTION] == store->connections && !store->suspect;
}

/* A zxid never falls in one history. */
static bool zookeeper_lost(void *handle, const firn_records *seen) {
    (void)seen;
    return ((const zookeeper_store *)handle)->suspect;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Has another writer changed what was read? */
static bool was_late(int code) {
    return code == ZBADVERSION || code == ZNODEEXISTS || code == ZNONODE;
}

/* Versions wrap around, and the server takes -1 for any version: a key with that version is not
 * protected, so the namespace's record is written with it. */
#define ANY_VERSION (-1)

/* The operations of a write, and their texts. The records are
 *     store      1 LOSSES ORIGIN <newline>
 *     namespace  1 FLOOR LOSSES <newline> LAYOUT
 *     key        1 HIGH GRANT <newline> NOTE */
typedef struct change {
    zoo_op_t ops[ZK_OPS_MOST];
    zookeeper_paths paths;
    char records[ZK_OPS_MOST][ZK_RECORD_SIZE];
} change;

/* Records that stay are checked, except a key. Sets the versions of `next`; `call` gets the stats.
 * Returns the number of operations. */
static int compose(const zookeeper_store *store, change *out, zookeeper_call *call,
                   const firn_records *seen, firn_records *next, int which) {
    const bool key = (which & FIRN_RECORD_KEY) != 0;
    const bool unprotected = key && seen->key_known && (int)seen->own[OWN_KEY] == ANY_VERSION;
    const bool known[] = {seen->known, seen->ns_known, seen->key_known};
    const bool written[] = {(which & FIRN_RECORD_STORE) != 0,
                            (which & FIRN_RECORD_NS) != 0 || unprotected, key};
    const char *const paths[] = {out->paths.store, out->paths.ns, out->paths.key};
    zk_name(store, &out->paths, seen->ns, seen->key);
    const int lengths[] = {
        snprintf(out->records[0], ZK_RECORD_SIZE, "1 %" PRId64 " %" PRIu64 "\n", next->losses,
                 next->origin),
        snprintf(out->records[1], ZK_RECORD_SIZE, "1 %" PRId64 " %" PRId64 "\n%s", next->floor,
                 next->ns_losses, next->layout),
        snprintf(out->records[2], ZK_RECORD_SIZE, "1 %" PRId64 " %" PRIu64 "\n%.*s",
                 next->mark.high, next->mark.grant, FIRN_NOTE_SIZE - 1, next->note)};
    int count = 0;
    for (int i = 0; i < ZK_OPS_MOST; i++) {
        zoo_op_t *op = &out->ops[count];
        const int version = (int)seen->own[OWN_STORE + i];
        if (written[i] && known[i]) {
            zoo_set_op_init(op, paths[i], out->records[i], lengths[i], version,
                            &call->stats[count]);
        } else if (written[i]) {
            zoo_create_op_init(op, paths[i], out->records[i], lengths[i], zk_rights(store),
                               ZOO_PERSISTENT, NULL, 0);
        } else if (known[i] && paths[i] != out->paths.key) {
            zoo_check_op_init(op, paths[i], version);
        } else {
            continue;
        }
        next->own[OWN_STORE + i] = known[i] ? (uint32_t)version + written[i] : 0;
        count++;
    }
    return count;
}

/* The outcome of a write with this code. */
static int outcome(zookeeper_store *store, int code, int64_t mzxid, bool loss, bool sent,
                   firn_error *error) {
    if (was_late(code)) {
        store->rooted = false; /* somebody may have removed it */
        return FIRN_WRITE_CHANGED;
    }
    if (code != ZOK) {
        return zk_explain(store, code, sent, error);
    }
    if (mzxid != 0 && mzxid <= store->newest && !loss) {
        store->suspect = true; /* another history: what it was granted is never used */
        return FIRN_WRITE_FOREIGN;
    }
    store->newest = module_later(mzxid, store->newest);
    return FIRN_OK;
}

static int zookeeper_write(void *handle, const firn_records *seen, firn_records *next, int which,
                           firn_verb verb, firn_error *error) {
    zookeeper_store *store = handle;
    const module_points *points = &firn__module_points[verb];
    change made;
    int code = seen->known ? FIRN_OK : module_random(&next->origin, error);
    code = code == FIRN_OK ? module_point(&store->link, points->before, error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    int answer = store->rooted || seen->ns_known ? ZOK : zk_make_root(store);
    if (answer != ZOK) {
        return was_late(answer) ? FIRN_WRITE_CHANGED : zk_explain(store, answer, false, error);
    }
    zookeeper_call *call = zk_call(2); /* its stats can be written after the deadline */
    if (call == NULL) {
        return module_no_memory(error);
    }
    const int count = compose(store, &made, call, seen, next, which);
    answer = zoo_amulti(store->handle, count, made.ops, call->results, zk_on_done, call);
    if (answer == ZOK && module_point(&store->link, points->request_sent, error) != FIRN_OK) {
        return FIRN_EFORKED; /* in a forked child the library has no thread */
    }
    answer = zk_answer(store, call, answer);
    const int64_t mzxid = answer == ZOK ? call->stats[count - 1].mzxid : 0;
    zk_leave(call);
    code = outcome(store, answer, mzxid, next->losses > seen->losses, which != FIRN_RECORD_STORE,
                   error);
    if (code != FIRN_OK) {
        return code;
    }
    next->stamp = (which & FIRN_RECORD_KEY) != 0 ? mzxid : next->stamp;
    return module_point(&store->link, points->committed, error);
}

/* ---- list and now ---------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names below a znode, sorted by bytes; none if it does not exist. */
static int list_names(zookeeper_call **out, zookeeper_store *store, const char *path, size_t size,
                      firn_error *error) {
    int code = ZK_ASK(store, *out, zoo_aget_children(store->handle, path, 0, zk_on_children, *out));
    if (code != ZOK) {
        return code == ZNONODE ? FIRN_OK : zk_explain(store, code, false, error);
    }
    zookeeper_call *call = *out;
    for (int i = 0; i < call->children.count; i++) {
        char *name = call->children.data[i]; /* never becomes longer */
        if (strcmp(name, ZK_STORE_NAME) != 0 && !zk_unescape(name, size, name)) {
            return zk_not_ours(store, name, error);
        }
    }
    qsort(call->children.data, (size_t)call->children.count, sizeof *call->children.data, by_name);
    return FIRN_OK;
}

/* Shows a key, or a namespace that has none ("" for the key). */
static int visit_key(zookeeper_store *store, const char *ns, const char *key, firn_visit *visit,
                     void *context, firn_error *error) {
    firn_records seen = {.ns = ns, .key = key[0] != '\0' ? key : "1"};
    module_link_deadline(&store->link); /* the visitor may be slow */
    int code = zk_look(store, &seen, false, error);
    if (code != FIRN_OK || !seen.ns_known || (key[0] != '\0' && !seen.key_known)) {
        return code;
    }
    if (key[0] == '\0') { /* somebody may just have made the key that was looked for */
        seen.note = "";
        seen.mark = (firn_mark){0, 0};
    }
    const firn_holding holding = {ns, seen.layout, key, seen.note, seen.mark, seen.floor};
    return visit(context, &holding);
}

static int visit_ns(zookeeper_store *store, const char *ns, bool whole, firn_visit *visit,
                    void *context, firn_error *error) {
    zookeeper_paths paths;
    zookeeper_call *keys = NULL;
    zk_name(store, &paths, ns, "");
    int code = list_names(&keys, store, paths.ns, FIRN_KEY_SIZE, error);
    for (int i = 0; code == FIRN_OK && i < keys->children.count; i++) {
        code = visit_key(store, ns, keys->children.data[i], visit, context, error);
    }
    if (code == FIRN_OK && whole && keys->children.count == 0) {
        code = visit_key(store, ns, "", visit, context, error);
    }
    if (module_process() == store->link.process) {
        zk_leave(keys);
    }
    return code;
}

static int zookeeper_list(void *handle, const char *ns, firn_visit *visit, void *context,
                          firn_error *error) {
    zookeeper_store *store = handle;
    zookeeper_call *all = NULL;
    int code = zk_enter(store, error);
    if (code != FIRN_OK) {
        return code;
    }
    int answered = zk_synchronise(store);
    if (answered != ZOK && answered != ZNONODE) {
        return zk_explain(store, answered, false, error);
    }
    if (ns != NULL) {
        return visit_ns(store, ns, false, visit, context, error);
    }
    code = list_names(&all, store, store->root, FIRN_NS_SIZE, error);
    for (int i = 0; code == FIRN_OK && i < all->children.count; i++) {
        if (strcmp(all->children.data[i], ZK_STORE_NAME) == 0) {
            continue;
        }
        code = visit_ns(store, all->children.data[i], true, visit, context, error);
    }
    if (module_process() == store->link.process) {
        zk_leave(all);
    }
    return code;
}

/* Writes the root's own data again, which may be another program's. */
static int touch_root(zookeeper_store *store, firn_time *now) {
    zookeeper_call *was = NULL, *call = NULL;
    int code = zk_read(&was, store, store->root);
    if (code == ZOK) {
        code = ZK_ASK(store, call,
                      zoo_aset(store->handle, store->root, was->data, was->length,
                               was->stat.version, zk_on_stat, call));
    }
    if (code == ZOK) {
        now->sec = call->stat.mtime / 1000;
        now->ns = (int32_t)(call->stat.mtime % 1000 * 1000000);
    }
    zk_leave(call);
    zk_leave(was);
    return code;
}

/* The leader records its time at every write, so this writes something. */
static int zookeeper_now(void *handle, firn_time *now, firn_error *error) {
    zookeeper_store *store = handle;
    int code = zk_enter(store, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = store->rooted ? ZOK : zk_make_root(store);
    code = code == ZOK ? touch_root(store, now) : code;
    for (int round = 1;
         code == ZBADVERSION && round < ROUNDS && module_in_time(&store->link, NULL) == FIRN_OK;
         round++) {
        module_sleep_randomly(round);
        code = touch_root(store, now);
    }
    return code == ZOK ? FIRN_OK : zk_explain(store, code, false, error);
}

/* ---- open ------------------------------------------------------------------------------------ */

static int take_hosts(const zookeeper_store *store, firn_error *error) {
    for (size_t i = 0; i < store->link.url.host_count; i++) {
        const module_host *host = &store->link.url.hosts[i];
        if (strlen(host->name) > 255 || strpbrk(host->name, ",/ ") != NULL) {
            return module_fail(error, FIRN_EUSAGE,
                               "the store's URL has '%.60s', which is not a valid host: write "
                               "zookeeper://HOST[:PORT][,HOST...][/PATH]",
                               host->name);
        }
    }
    return store->link.url.host_count > 0 ? FIRN_OK
                                          : module_fail(error, FIRN_EUSAGE,
                                                        "the store's URL names no host: write "
                                                        "zookeeper://HOST[:PORT][,HOST...][/PATH]");
}

/* The path of a znode: names between single slashes, without . and .., and not ZooKeeper's own. */
static int take_root(zookeeper_store *store, firn_error *error) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_/.";
    const char *path = store->link.url.path != NULL ? store->link.url.path : ROOT;
    size_t length = strlen(path);
    snprintf(store->root, sizeof store->root, "/%s", path);
    if (length > ZK_ROOT_MOST || strspn(path, plain) != length || path[length - 1] == '/' ||
        path[0] == '/' || strstr(path, "//") != NULL || strstr(store->root, "/.") != NULL ||
        strcmp(path, "zookeeper") == 0 || strncmp(path, "zookeeper/", 10) == 0) {
        return module_fail(
            error, FIRN_EUSAGE,
            "the store's URL has the path '%.60s': give 1 to %d letters, digits, - _ "
            ". and single /, not /zookeeper",
            path, ZK_ROOT_MOST);
    }
    return FIRN_OK;
}

static int take_login(zookeeper_store *store, firn_error *error) {
    int code = module_password(&store->link.url, "FIRN_ZOOKEEPER_PASSWORD", error);
    if (code != FIRN_OK || (store->link.url.user == NULL && store->link.url.password == NULL)) {
        return code;
    }
    if (store->link.url.user == NULL || store->link.url.password == NULL) {
        return module_fail(
            error, FIRN_EUSAGE,
            "the store's URL has a user or a password alone: give user:password@, or "
            "user@ and password-file= or FIRN_ZOOKEEPER_PASSWORD");
    }
    return asprintf(&store->login, "%s:%s", store->link.url.user, store->link.url.password) < 0
               ? module_no_memory(error)
               : FIRN_OK;
}

static int set_up(void *handle, firn_error *error) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    zookeeper_store *store = handle;
    pthread_once(&once, zk_watch_forks);
    if (module_param(&store->link.url, "tls") != NULL) {
        return module_fail(error, FIRN_EUSAGE,
                           "Debian's ZooKeeper library has no TLS: omit tls=, and use a tunnel "
                           "where others can listen");
    }
    int code = take_hosts(store, error);
    code = code == FIRN_OK ? take_root(store, error) : code;
    return code == FIRN_OK ? take_login(store, error) : code;
}

static void clean(void *handle) {
    zookeeper_store *store = handle;
    if (store->login != NULL) {
        explicit_bzero(store->login, strlen(store->login));
        free(store->login);
    }
}

/* Opening does not connect, so that the server can start later. */
static const module_engine engine = {
    .size = sizeof(zookeeper_store),
    .parameters = "connect_timeout timeout password-file unsafe",
    .set_up = set_up,
    .ready = zk_enter,
    .lazy = true,
    .hang_up = zk_hang_up,
    .clean = clean,
};

static int zookeeper_open(void **self, const char *url, const firn_store_options *options,
                          firn_error *error) {
    return module_open(self, &engine, url, options, error);
}

const firn_driver firn_store_driver = {
    .version = FIRN_DRIVER_VERSION,
    .scheme = "zookeeper",
    .lasts = true,
    .open = zookeeper_open,
    .begin = module_begin,
    .read = zookeeper_read,
    .usable = zookeeper_usable,
    .lost = zookeeper_lost,
    .write = zookeeper_write,
    .wait = module_sleep_randomly,
    .forget = zk_forget,
    .where = module_where,
    .list = zookeeper_list,
    .now = zookeeper_now,
    .close = module_close,
};
