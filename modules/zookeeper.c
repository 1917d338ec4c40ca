/* SPDX-License-Identifier: MIT */
/* The store on ZooKeeper: one znode for the store, one per namespace, and below it one per key. A
 * write succeeds only while all three have the versions that were read. */
#include "zookeeper.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOT   "firn" /* without a path in the URL */
#define ROUNDS 200    /* tries of a write that other writers made outdated */

FIRN_API extern const firn_store_ops firn_store_module;

/* ---- rounds ---------------------------------------------------------------------------------- */

/* A verb in progress. */
typedef struct turn {
    store *store;
    const char *ns, *key;
    state seen;
    firn_error *error;
    const firn_request *request; /* of a reservation, with its results */
    int64_t *first;
    firn_mark *held;
    const firn_mark *mine; /* is lowered to `high` */
    int64_t high;
    const firn_relabel *wish; /* a layout is replaced */
    int64_t *floor;
    bool declares;   /* the wish is only to declare a loss, */
    int64_t counted; /* which is the next after these; -1: not known yet */
} turn;

enum { AGAIN = 1 }; /* another writer was faster: read again */

/* Runs rounds, which decide by t->seen and write. */
static int in_rounds(turn *t, int (*round)(turn *)) {
    store *self = t->store;
    int code = zk_enter(self, t->error);
    zk_name(self, &t->seen, t->ns, t->key);
    if (code == FIRN_OK) {
        code = zk_first_look(self, &t->seen, t->error);
    }
    for (int i = 0; code == FIRN_OK && i < ROUNDS; i++) {
        code = round(t);
        if (code != AGAIN) {
            return code;
        }
        state *at = zk_known(self, t->seen.path);
        if (at != NULL) {
            at->outdated = true;
        }
        self->rooted = false; /* somebody may have removed it */
        if (i > 0) {
            module_nap(i);
        }
        code = zk_look(self, &t->seen, true, t->error);
    }
    return code != FIRN_OK ? code
                           : module_refuse_contended(t->error, self->link.url.shown,
                                                     t->wish != NULL ? t->ns : t->key);
}

/* Does ZooKeeper show that the store lost reservations? A znode's zxid never falls in one history, keys are
 * never removed, and the store's origin never changes. Reservations made by this handle before
 * another one noticed do not count. */
static bool gone_back(store *self, const state *it) {
    const state *at = zk_known(self, it->path);
    if (it->origin == self->origin && it->losses > self->losses) {
        zk_forget(self);
    }
    return self->suspect || (it->ns_found && !it->store_found) ||
           (self->origin != 0 && (it->origin != self->origin || it->losses < self->losses)) ||
           (at != NULL && at->found && (!it->found || it->mzxid < at->mzxid));
}

static module_kept kept_of(store *self, const state *seen) {
    return (module_kept){
        .back = gone_back(self, seen),
        .known = seen->ns_found,
        .current = seen->ns_losses == seen->losses,
        .complete = seen->losses == 0 || seen->all_new,
        .layout = seen->layout,
        .shut = seen->shut[0] != '\0' ? seen->shut : NULL,
        .floor = seen->floor,
        .mark = {seen->high, seen->grant},
    };
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Carries out all operations or none. */
static int commit(store *self, zoo_op_t *ops, int count, const module_points *at, int64_t *mzxid) {
    call *it = zk_call(2);
    if (it == NULL) {
        return ZMARSHALLINGERROR; /* nothing was sent */
    }
    for (int i = 0; i < count; i++) {
        if (ops[i].type == ZOO_SETDATA_OP) {
            ops[i].set_op.stat = &it->stats[i]; /* can be written after the deadline */
        }
    }
    int queued = zoo_amulti(self->handle, count, ops, it->results, zk_on_done, it);
    int code = queued == ZOK ? module_point(&self->link, at->sent, NULL) : ZOK;
    if (code == FIRN_EFORKED) {
        return code; /* in a forked child the library has no thread */
    }
    code = zk_answer(self, it, queued);
    *mzxid = code == ZOK ? it->stats[count - 1].mzxid : 0;
    zk_leave(it);
    return code;
}

/* Has another writer changed what was read? */
static bool was_late(int code) {
    return code == ZBADVERSION || code == ZNODEEXISTS || code == ZNONODE;
}

/* The outcome of a commit of a grant or a layout. AGAIN: nothing was written, or it does not count. */
static int committed(store *self, int code, int64_t mzxid, firn_error *error) {
    if (code == FIRN_EFORKED) {
        return module_point(&self->link, NULL, error);
    }
    if (was_late(code)) {
        return AGAIN;
    }
    if (code != ZOK) {
        return zk_explain(self, code, true, error);
    }
    if (mzxid > 0 && mzxid <= self->newest) {
        self->suspect = true; /* another history: what it was granted is never used */
        return AGAIN;
    }
    self->newest = module_later(mzxid, self->newest);
    return FIRN_OK;
}

/* Adds the operation that writes a record; `found`: over the one of that version. */
static void put(const store *self, zoo_op_t *op, const char *path, bool found, int version,
                const char *record, int length) {
    if (found) {
        zoo_set_op_init(op, path, record, length, version, NULL);
    } else {
        zoo_create_op_init(op, path, record, length, zk_rights(self), ZOO_PERSISTENT, NULL, 0);
    }
}

/* The same for the store's record. */
static void put_store(const store *self, zoo_op_t *op, const state *it, char path[ZK_PATH_SIZE],
                      const char *record, int length) {
    snprintf(path, ZK_PATH_SIZE, "%s/%s", self->root, ZK_STORE_NAME);
    put(self, op, path, it->store_found, it->store_version, record, length);
}

/* Writes into the store's record that it lost reservations. */
static int tell_back(store *self, const state *it, firn_error *error) {
    char record[ZK_RECORD_SIZE], path[ZK_PATH_SIZE];
    zoo_op_t op;
    uint64_t origin = it->origin;
    int64_t mzxid, losses = module_later(module_later(it->losses, it->ns_losses), self->losses) + 1;
    if (!it->store_found && module_random(&origin, error) != FIRN_OK) {
        return FIRN_ESYSTEM;
    }
    int code = self->rooted ? ZOK : zk_make_root(self);
    put_store(self, &op, it, path, record, zk_write_store(record, losses, origin));
    code = code == ZOK ? commit(self, &op, 1, &module_reserve_points, &mzxid) : code;
    if (code != ZOK && !was_late(code)) {
        return code == FIRN_EFORKED ? module_point(&self->link, NULL, error)
                                    : zk_explain(self, code, false, error);
    }
    if (code == ZOK) {
        zk_forget(self);
    }
    return FIRN_OK;
}

/* Versions wrap around, and the server takes -1 for any version: a key with that version is not
 * protected. */
#define ANY_VERSION (-1)

static int next_version(int version) {
    return (int)((unsigned)version + 1);
}

/* The operations of a turn, and their texts. */
typedef struct change {
    zoo_op_t ops[ZK_OPS_MOST];
    char store_path[ZK_PATH_SIZE];
    char store_record[ZK_RECORD_SIZE], ns_record[ZK_RECORD_SIZE], record[ZK_RECORD_SIZE];
    bool rewrites; /* the namespace's record, if it exists */
} change;

static void compose(const turn *t, change *out, uint64_t origin, int64_t floor, int64_t high,
                    bool renew) {
    const firn_request *request = t->request;
    const state *seen = &t->seen;
    out->rewrites = renew || (seen->found && seen->version == ANY_VERSION);
    int length = zk_write_store(out->store_record, 0, origin);
    put_store(t->store, &out->ops[0], seen, out->store_path, out->store_record, length);
    if (seen->store_found) {
        zoo_check_op_init(&out->ops[0], out->store_path, seen->store_version);
    }
    length = zk_write_ns(out->ns_record, floor, seen->losses, request->layout);
    put(t->store, &out->ops[1], seen->ns_path, seen->ns_found, seen->ns_version, out->ns_record,
        length);
    if (seen->ns_found && !out->rewrites) {
        zoo_check_op_init(&out->ops[1], seen->ns_path, seen->ns_version);
    }
    length = zk_write_mark(out->record, high, request->grant,
                           request->note != NULL ? request->note : "");
    put(t->store, &out->ops[2], seen->path, seen->found, seen->version, out->record, length);
}

/* The state after the change. */
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

/* Writes a grant (`high` is its end), or only the namespace's record (`high` is -1). */
static int write_turn(turn *t, int64_t floor, int64_t high, bool renew) {
    change it;
    int64_t mzxid = 0;
    uint64_t origin = t->seen.origin;
    int code = t->seen.store_found ? FIRN_OK : module_random(&origin, t->error);
    if (code == FIRN_OK) {
        code = module_point(&t->store->link, "reserve.before", t->error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    compose(t, &it, origin, floor, high, renew);
    code = commit(t->store, it.ops, high < 0 ? 2 : 3, &module_reserve_points, &mzxid);
    code = committed(t->store, code, mzxid, t->error);
    if (code != FIRN_OK) {
        return code;
    }
    take_over(t, &it, origin, floor, high);
    t->seen.mzxid = high >= 0 ? mzxid : t->seen.mzxid;
    t->store->origin = origin;
    t->store->losses = t->seen.losses;
    zk_remember(t->store, &t->seen);
    module_remember_ns(&t->store->link.memory, t->request->ns);
    return FIRN_OK;
}

/* Decides by the state and writes the verdict. AGAIN: read again. */
static int decide(turn *t) {
    const state *seen = &t->seen;
    const module_kept kept = kept_of(t->store, seen);
    module_verdict verdict;
    firn_mark mark;
    int code = module_decide(&verdict, &kept, &t->store->link.memory, t->request,
                             t->store->link.url.shown, &mark, t->error);
    if ((code != FIRN_OK || verdict.back) && !seen->fresh) {
        return AGAIN; /* a remembered state refuses nothing */
    }
    if (verdict.back) {
        code = tell_back(t->store, seen, t->error);
        return code == FIRN_OK ? AGAIN : code;
    }
    *t->held = code == FIRN_EBUSY ? mark : *t->held;
    if (code != FIRN_OK && (code != FIRN_EBUSY || !verdict.renew)) {
        return code;
    }
    int made = t->store->rooted || seen->ns_found ? ZOK : zk_make_root(t->store);
    if (made != ZOK) {
        return zk_explain(t->store, made, false, t->error);
    }
    int64_t high = code == FIRN_OK ? verdict.first + t->request->count : -1;
    firn_error own = {0}, *error = t->error;
    t->error = &own;
    int written = write_turn(t, verdict.floor, high, verdict.renew);
    t->error = error;
    if (written != FIRN_OK) {
        return written == AGAIN ? AGAIN : module_copy(error, written, &own);
    }
    if (code != FIRN_OK) {
        return code;
    }
    *t->first = verdict.first;
    return module_point(&t->store->link, "reserve.committed", error);
}

static int zookeeper_reserve(void *handle, const firn_request *request, int64_t *first,
                             firn_mark *held, firn_error *error) {
    turn t = {.store = handle,
              .ns = request->ns,
              .key = request->key,
              .error = error,
              .request = request,
              .first = first,
              .held = held};
    return in_rounds(&t, decide);
}

/* ---- give back ------------------------------------------------------------------------------- */

static int lower(turn *t) {
    store *self = t->store;
    state *seen = &t->seen;
    char record[ZK_RECORD_SIZE];
    bool is_mine = seen->found && seen->high == t->mine->high && seen->grant == t->mine->grant;
    if ((!is_mine && seen->fresh) || seen->version == ANY_VERSION) {
        return module_refuse_give_back(t->error, t->ns, t->key, t->mine);
    }
    int code =
        is_mine ? module_point(&self->link, module_give_back_points.before, t->error) : AGAIN;
    if (code != FIRN_OK) {
        return code;
    }
    call *it = zk_call(2);
    if (it == NULL) {
        return module_no_memory(t->error);
    }
    int length = zk_write_mark(record, t->high, 0, seen->note);
    int queued = zoo_aset(self->handle, seen->path, record, length, seen->version, zk_on_stat, it);
    code = module_point(&self->link, module_give_back_points.sent, t->error);
    if (code != FIRN_OK) {
        return code;
    }
    code = zk_answer(self, it, queued);
    seen->mzxid = it->stat.mzxid;
    zk_leave(it);
    if (code != ZOK) {
        return was_late(code) ? AGAIN : zk_explain(self, code, true, t->error);
    }
    seen->version = next_version(seen->version);
    seen->high = t->high;
    seen->grant = 0;
    zk_remember(self, seen);
    return module_point(&self->link, module_give_back_points.committed, t->error);
}

static int zookeeper_give_back(void *handle, const char *ns, const char *key, const firn_mark *mine,
                               int64_t high, firn_error *error) {
    turn t = {.store = handle, .ns = ns, .key = key, .error = error, .mine = mine, .high = high};
    return in_rounds(&t, lower);
}

/* ---- layouts --------------------------------------------------------------------------------- */

/* Writes the namespace's record, and the store's, whose version each reservation of an unknown
 * namespace checks. */
static int write_layout(store *self, const state *seen, const firn_relabel *wish, int64_t floor,
                        firn_error *error) {
    zoo_op_t ops[2];
    char path[ZK_PATH_SIZE], own[ZK_RECORD_SIZE], record[ZK_RECORD_SIZE];
    uint64_t origin = seen->origin;
    int64_t mzxid;
    int code = seen->store_found ? FIRN_OK : module_random(&origin, error);
    if (code == FIRN_OK) {
        code = module_point(&self->link, module_relabel_points.before, error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    int made = self->rooted || seen->ns_found ? ZOK : zk_make_root(self);
    put_store(self, &ops[0], seen, path, own, zk_write_store(own, seen->losses, origin));
    const int64_t losses = seen->ns_found ? seen->ns_losses : seen->losses;
    int length = zk_write_ns(record, floor, losses, wish->to);
    put(self, &ops[1], seen->ns_path, seen->ns_found, seen->ns_version, record, length);
    if (made != ZOK) {
        return was_late(made) ? AGAIN : zk_explain(self, made, false, error);
    }
    code = commit(self, ops, 2, &module_relabel_points, &mzxid);
    code = committed(self, code, mzxid, error);
    return code == FIRN_OK ? module_point(&self->link, module_relabel_points.committed, error)
                           : code;
}

static int relabel(turn *t) {
    store *self = t->store;
    const module_kept kept = kept_of(self, &t->seen);
    if (!t->seen.fresh) {
        return AGAIN; /* a remembered state refuses nothing */
    }
    if (t->declares && t->counted >= 0 && t->seen.losses > t->counted) {
        return FIRN_OK;
    }
    t->counted = t->seen.losses;
    int code = module_decide_relabel(t->floor, &kept, t->wish, self->link.url.shown, t->error);
    if (kept.back || t->declares) {
        code = tell_back(self, &t->seen, t->error);
        return code == FIRN_OK ? AGAIN : code;
    }
    return code == FIRN_OK ? write_layout(self, &t->seen, t->wish, *t->floor, t->error) : code;
}

int firn_store_module_relabel(void *handle, const firn_relabel *wish, int64_t *floor,
                              firn_error *error) {
    turn t = {.store = handle,
              .ns = wish->ns,
              .key = "1",
              .error = error,
              .wish = wish,
              .floor = floor,
              .declares = module_declares_loss(wish),
              .counted = -1};
    return in_rounds(&t, relabel);
}

/* ---- list and now ---------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names below a znode, sorted by bytes; none if it does not exist. */
static int list_names(call **out, store *self, const char *path, size_t size, firn_error *error) {
    call *it = *out = zk_call(2);
    if (it == NULL) {
        return module_no_memory(error);
    }
    int code = zk_answer(self, it, zoo_aget_children(self->handle, path, 0, zk_on_children, it));
    if (code != ZOK) {
        it->children.count = code == ZNONODE ? 0 : it->children.count;
        return code == ZNONODE ? FIRN_OK : zk_explain(self, code, false, error);
    }
    for (int i = 0; i < it->children.count; i++) {
        char *name = it->children.data[i]; /* never becomes longer */
        if (strcmp(name, ZK_STORE_NAME) != 0 && !zk_unescape(name, size, name)) {
            return zk_not_ours(self, name, error);
        }
    }
    qsort(it->children.data, (size_t)it->children.count, sizeof *it->children.data, by_name);
    return FIRN_OK;
}

static int visit_key(store *self, const char *ns, const char *key, firn_visit *visit, void *context,
                     firn_error *error) {
    state seen;
    module_link_deadline(&self->link); /* the visitor may be slow */
    zk_name(self, &seen, ns, key);
    int code = zk_look(self, &seen, false, error);
    if (code != FIRN_OK || !seen.ns_found || !seen.found) {
        return code;
    }
    firn_holding holding = {ns, seen.layout, key, seen.note, {seen.high, seen.grant}, seen.floor};
    return module_show(&self->link, visit, context, &holding, error);
}

/* A namespace without a key. */
static int visit_empty(store *self, const char *ns, firn_visit *visit, void *context,
                       firn_error *error) {
    state seen;
    zk_name(self, &seen, ns, "1");
    int code = zk_look(self, &seen, false, error);
    const firn_holding holding = {ns, seen.layout, "", "", {0, 0}, seen.floor};
    return code == FIRN_OK && seen.ns_found
               ? module_show(&self->link, visit, context, &holding, error)
               : code;
}

static int visit_ns(store *self, const char *ns, bool whole, firn_visit *visit, void *context,
                    firn_error *error) {
    state at;
    call *keys = NULL;
    zk_name(self, &at, ns, "");
    int code = list_names(&keys, self, at.ns_path, FIRN_KEY_SIZE, error);
    for (int i = 0; code == FIRN_OK && i < keys->children.count; i++) {
        code = visit_key(self, ns, keys->children.data[i], visit, context, error);
    }
    if (code == FIRN_OK && whole && keys->children.count == 0) {
        code = visit_empty(self, ns, visit, context, error);
    }
    if (keys != NULL && module_process() == self->link.process) {
        zk_leave(keys);
    }
    return code;
}

static int zookeeper_list(void *handle, const char *ns, firn_visit *visit, void *context,
                          firn_error *error) {
    store *self = handle;
    call *all = NULL;
    int code = zk_enter(self, error);
    if (code != FIRN_OK) {
        return code;
    }
    int answered = zk_synchronise(self);
    if (answered != ZOK && answered != ZNONODE) {
        return zk_explain(self, answered, false, error);
    }
    if (ns != NULL) {
        return visit_ns(self, ns, false, visit, context, error);
    }
    code = list_names(&all, self, self->root, FIRN_NS_SIZE, error);
    for (int i = 0; code == FIRN_OK && i < all->children.count; i++) {
        if (strcmp(all->children.data[i], ZK_STORE_NAME) == 0) {
            continue;
        }
        code = visit_ns(self, all->children.data[i], true, visit, context, error);
    }
    if (all != NULL && module_process() == self->link.process) {
        zk_leave(all);
    }
    return code;
}

/* Writes the root's own data again, which may be another program's. */
static int touch_root(store *self, firn_time *now) {
    call *was = NULL, *it = zk_call(2);
    int code = it != NULL ? zk_read(&was, self, self->root) : ZSYSTEMERROR;
    int queued = code == ZOK ? zoo_aset(self->handle, self->root, was->data, was->length,
                                        was->stat.version, zk_on_stat, it)
                             : code;
    if (it != NULL && code == ZOK) {
        code = zk_answer(self, it, queued);
        now->sec = it->stat.mtime / 1000;
        now->ns = (int32_t)(it->stat.mtime % 1000 * 1000000);
        zk_leave(it);
    } else if (it != NULL) {
        it->holders = 1;
        zk_leave(it);
    }
    if (was != NULL) {
        zk_leave(was);
    }
    return code;
}

/* The leader records its time at every write, so this writes something. */
static int zookeeper_now(void *handle, firn_time *now, firn_error *error) {
    store *self = handle;
    int code = zk_enter(self, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = self->rooted ? ZOK : zk_make_root(self);
    code = code == ZOK ? touch_root(self, now) : code;
    for (int round = 1;
         code == ZBADVERSION && round < ROUNDS && module_in_time(&self->link, NULL) == FIRN_OK;
         round++) {
        module_nap(round);
        code = touch_root(self, now);
    }
    return code == ZOK ? FIRN_OK : zk_explain(self, code, false, error);
}

/* ---- open ------------------------------------------------------------------------------------ */

static int take_hosts(const store *self, firn_error *error) {
    for (size_t i = 0; i < self->link.url.host_count; i++) {
        const module_host *host = &self->link.url.hosts[i];
        if (strlen(host->name) > 255 || strpbrk(host->name, ",/ ") != NULL) {
            return module_fail(error, FIRN_EUSAGE,
                               "the store's URL has '%.60s', which is not a valid host: write "
                               "zookeeper://HOST[:PORT][,HOST...][/PATH]",
                               host->name);
        }
    }
    return self->link.url.host_count > 0 ? FIRN_OK
                                         : module_fail(error, FIRN_EUSAGE,
                                                       "the store's URL names no host: write "
                                                       "zookeeper://HOST[:PORT][,HOST...][/PATH]");
}

/* The path of a znode: names between single slashes, without . and .., and not ZooKeeper's own. */
static int take_root(store *self, firn_error *error) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_/.";
    const char *path = self->link.url.path != NULL ? self->link.url.path : ROOT;
    size_t length = strlen(path);
    snprintf(self->root, sizeof self->root, "/%s", path);
    if (length < 1 || length > ZK_ROOT_MOST || strspn(path, plain) != length ||
        path[length - 1] == '/' || path[0] == '/' || strstr(path, "//") != NULL ||
        strstr(self->root, "/.") != NULL || strcmp(path, "zookeeper") == 0 ||
        strncmp(path, "zookeeper/", 10) == 0) {
        return module_fail(
            error, FIRN_EUSAGE,
            "the store's URL has the path '%.60s': give 1 to %d letters, digits, - _ "
            ". and single /, not /zookeeper",
            path, ZK_ROOT_MOST);
    }
    return FIRN_OK;
}

static int take_login(store *self, firn_error *error) {
    int code = module_password(&self->link.url, "FIRN_ZOOKEEPER_PASSWORD", error);
    if (code != FIRN_OK || (self->link.url.user == NULL && self->link.url.password == NULL)) {
        return code;
    }
    if (self->link.url.user == NULL || self->link.url.password == NULL) {
        return module_fail(
            error, FIRN_EUSAGE,
            "the store's URL has a user or a password alone: give user:password@, or "
            "user@ and password-file= or FIRN_ZOOKEEPER_PASSWORD");
    }
    return asprintf(&self->login, "%s:%s", self->link.url.user, self->link.url.password) < 0
               ? module_no_memory(error)
               : FIRN_OK;
}

static int set_up(void *handle, firn_error *error) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    store *self = handle;
    pthread_once(&once, zk_watch_forks);
    if (module_param(&self->link.url, "tls") != NULL) {
        return module_fail(error, FIRN_EUSAGE,
                           "Debian's ZooKeeper library has no TLS: omit tls=, and use a tunnel "
                           "where others can listen");
    }
    int code = take_hosts(self, error);
    code = code == FIRN_OK ? take_root(self, error) : code;
    return code == FIRN_OK ? take_login(self, error) : code;
}

static void clean(void *handle) {
    store *self = handle;
    if (self->login != NULL) {
        explicit_bzero(self->login, strlen(self->login));
        free(self->login);
    }
}

/* Opening does not connect; the first verb does, so that the server can start later. */
static const module_engine engine = {
    .size = sizeof(store),
    .parameters = "connect_timeout_ms timeout_ms password-file unsafe",
    .set_up = set_up,
    .hang_up = zk_hang_up,
    .clean = clean,
};

static int zookeeper_open(void **handle, const char *url, const firn_store_options *options,
                          firn_error *error) {
    return module_open(handle, &engine, url, options, error);
}

const firn_store_ops firn_store_module = {
    .version = 1,
    .scheme = "zookeeper",
    .open = zookeeper_open,
    .reserve = zookeeper_reserve,
    .give_back = zookeeper_give_back,
    .list = zookeeper_list,
    .now = zookeeper_now,
    .close = module_close,
};
