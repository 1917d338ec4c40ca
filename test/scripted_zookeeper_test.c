/* SPDX-License-Identifier: MIT */
/* The driver of ZooKeeper over a scripted ensemble: see scripted.h. The program has its own functions
 * of the C library, over an ensemble whose followers lag; test/zookeeper_test.c runs a
 * real one. The ensemble has no identity, so an older copy of it is noticed only by a process that
 * saw more. */
#define LIE_RESOLVES
#include "../fuzz/lying.h"

#include <netdb.h>
#include <zookeeper/zookeeper.h>

#include "scripted.h"

static struct addrinfo *lie_resolve(void);
#undef module_link_resolve
#define module_link_resolve(link, host, port, deadline_ms, why)                                    \
    ((void)(link), (void)(host), (void)(port), (void)(deadline_ms), (void)(why), lie_resolve())
/* Every answer comes before the library's function returns, or with the end of the session. */
#define module_cond_wait(cond, lock, deadline_ms)                                                  \
    ((void)(cond), (void)(lock), (void)(deadline_ms), false)
#include "../modules/zookeeper.c"
#include "../modules/zookeeper_call.c"
#include "../modules/zookeeper_record.c"

/* ---- the ensemble ---------------------------------------------------------------------------- */

enum { NODES = 1 + 1 + SPACES + SPACES * KEYS, DATA = 300, FOLLOWERS = 3, LATE = 4, PENDING = 16 };

typedef struct node {
    char path[80], data[DATA];
    int length, version;
    int64_t mzxid; /* 0: absent */
} node;

typedef struct ensemble {
    int64_t zxid;
    node nodes[NODES];
} ensemble;

typedef struct session {
    bool used, connected;
    int follower;
    watcher_fn watcher;
    void *context;
    int pending; /* requests without an answer */
    struct {
        void_completion_t done;
        data_completion_t got;
        const void *context;
    } requests[PENDING];
} session;

/* A transaction, with copies of its texts. */
typedef struct letter {
    int count;
    zoo_op_t ops[ZK_OPS_MOST];
    char paths[ZK_OPS_MOST][80], data[ZK_OPS_MOST][DATA];
} letter;

static ensemble live, saved, followers[FOLLOWERS]; /* what each of them has applied so far */
static session sessions[64];
static letter late[LATE];
static int late_count;
static bool compares; /* false: injected bug, versions are not compared */

static node *find(ensemble *in, const char *path) {
    for (int i = 0; i < NODES; i++) {
        if (in->nodes[i].mzxid != 0 && strcmp(in->nodes[i].path, path) == 0) {
            return &in->nodes[i];
        }
    }
    return NULL;
}

static node *make_node(const char *path) {
    node *free_node = live.nodes;
    while (free_node->mzxid != 0) {
        free_node++;
        assert_true(free_node < live.nodes + NODES);
    }
    *free_node = (node){.version = -1};
    snprintf(free_node->path, sizeof free_node->path, "%s", path);
    return free_node;
}

static const char *path_of(const zoo_op_t *op) {
    return op->type == ZOO_CREATE_OP    ? op->create_op.path
           : op->type == ZOO_SETDATA_OP ? op->set_op.path
                                        : op->check_op.path;
}

/* ZOK: it can be carried out. */
static int check_op(const zoo_op_t *op) {
    const node *found = find(&live, path_of(op));
    if (op->type == ZOO_CREATE_OP) {
        char parent[80];
        snprintf(parent, sizeof parent, "%s", path_of(op));
        *strrchr(parent, '/') = '\0';
        return found != NULL                                      ? ZNODEEXISTS
               : parent[0] != '\0' && find(&live, parent) == NULL ? ZNONODE
                                                                  : ZOK;
    }
    const int version = op->type == ZOO_SETDATA_OP ? op->set_op.version : op->check_op.version;
    return found == NULL                                                     ? ZNONODE
           : version != ANY_VERSION && version != found->version && compares ? ZBADVERSION
                                                                             : ZOK;
}

static void put_data(const char *path, const char *data, int length, struct Stat *stat) {
    node *changed = find(&live, path);
    changed = changed != NULL ? changed : make_node(path);
    assert_in_range(length, 0, DATA - 1);
    memcpy(changed->data, data, (size_t)length);
    changed->data[length] = '\0';
    changed->length = length;
    changed->version++;
    changed->mzxid = live.zxid;
    if (stat != NULL) {
        *stat = (struct Stat){.mzxid = live.zxid, .version = changed->version};
    }
    const char *key = strrchr(path, '/') + 1;
    if (strcmp(key, key_names[0]) == 0 || strcmp(key, key_names[1]) == 0) {
        scripted_raise(strstr(path, space_names[0]) != NULL ? 0 : 1, atoll(data + 2));
    }
}

static int carry_out(int count, const zoo_op_t *ops) {
    ensemble before = live;
    int code = ZOK;
    live.zxid++;
    for (int i = 0; i < count && code == ZOK; i++) {
        code = check_op(&ops[i]);
        if (code == ZOK && ops[i].type == ZOO_CREATE_OP) {
            put_data(path_of(&ops[i]), ops[i].create_op.data, ops[i].create_op.datalen, NULL);
        } else if (code == ZOK && ops[i].type == ZOO_SETDATA_OP) {
            put_data(path_of(&ops[i]), ops[i].set_op.data, ops[i].set_op.datalen,
                     ops[i].set_op.stat);
        }
    }
    live = code == ZOK ? live : before;
    return code;
}

static void keep_letter(int count, const zoo_op_t *ops) {
    letter *out = &late[late_count++];
    out->count = count;
    for (int i = 0; i < count; i++) {
        zoo_op_t *op = &out->ops[i];
        *op = ops[i];
        snprintf(out->paths[i], sizeof out->paths[i], "%s", path_of(op));
        if (op->type == ZOO_CREATE_OP) {
            memcpy(out->data[i], op->create_op.data, (size_t)op->create_op.datalen);
        } else if (op->type == ZOO_SETDATA_OP) {
            memcpy(out->data[i], op->set_op.data, (size_t)op->set_op.datalen);
        }
    }
}

static void server_deliver(void) {
    if (late_count > 0) {
        letter it = late[chance() % (unsigned)late_count];
        for (int i = 0; i < it.count; i++) { /* the texts moved */
            if (it.ops[i].type == ZOO_CREATE_OP) {
                it.ops[i].create_op.path = it.paths[i];
                it.ops[i].create_op.data = it.data[i];
            } else if (it.ops[i].type == ZOO_SETDATA_OP) {
                it.ops[i].set_op.path = it.paths[i];
                it.ops[i].set_op.data = it.data[i];
                it.ops[i].set_op.stat = NULL;
            } else {
                it.ops[i].check_op.path = it.paths[i];
            }
        }
        late_count -= carry_out(it.count, it.ops) == ZOK; /* the last one waits for another time */
    }
    followers[chance() % FOLLOWERS] = live;
}

static void server_forget(void) {
    late_count = 0;
}

static void cut(session *s, bool reconnects) {
    if (s->used && s->connected) {
        s->connected = false;
        s->watcher((zhandle_t *)s, ZOO_SESSION_EVENT, ZOO_CONNECTING_STATE, "", s->context);
        if (reconnects) { /* as the library does, to any follower that is as new as the last one */
            followers[s->follower] = live;
            s->connected = true;
            s->watcher((zhandle_t *)s, ZOO_SESSION_EVENT, ZOO_CONNECTED_STATE, "", s->context);
        }
    }
}

static void server_restart(void) {
    for (size_t i = 0; i < sizeof sessions / sizeof *sessions; i++) {
        cut(&sessions[i], ONE_IN(2));
    }
}

static void server_save(void) {
    saved = live;
}

static void server_go_back(void) {
    if (one_process) {
        live = saved;
        for (int i = 0; i < FOLLOWERS; i++) {
            followers[i] = live;
        }
        late_count = 0;
    }
    server_restart();
}

static void server_new(void) {
    memset(&live, 0, sizeof live);
    memset(followers, 0, sizeof followers);
    late_count = 0;
    live.zxid = 100;
}

static int64_t server_mark(int ns, int key) {
    char path[80];
    snprintf(path, sizeof path, "/firn/%s/%s", space_names[ns], key_names[key]);
    const node *found = find(&live, path);
    return found != NULL ? atoll(found->data + 2) : 0;
}

/* ---- the library ----------------------------------------------------------------------------- */

static struct addrinfo *lie_resolve(void) {
    const struct addrinfo numeric = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
                                     .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    assert_int_equal(getaddrinfo("127.0.0.1", "2181", &numeric, &found), 0);
    return found;
}

static session *session_of(zhandle_t *handle) {
    return (session *)(void *)handle;
}

zhandle_t *zookeeper_init2(const char *host, watcher_fn fn, int recv_timeout,
                           const clientid_t *clientid, void *context, int flags,
                           log_callback_fn log_callback) {
    session *s = sessions;
    (void)host, (void)recv_timeout, (void)clientid, (void)flags, (void)log_callback;
    while (s->used) {
        s++;
        assert_true(s < sessions + sizeof sessions / sizeof *sessions);
    }
    *s = (session){.used = true,
                   .connected = !faults || !ONE_IN(20),
                   .follower = (int)(chance() % FOLLOWERS),
                   .watcher = fn,
                   .context = context};
    if (s->connected) {
        fn((zhandle_t *)s, ZOO_SESSION_EVENT, ZOO_CONNECTED_STATE, "", context);
    }
    return (zhandle_t *)s;
}

int zoo_set_servers_resolution_delay(zhandle_t *handle, int delay_ms) {
    (void)handle, (void)delay_ms;
    return ZOK;
}

int zoo_state(zhandle_t *handle) {
    return session_of(handle)->connected ? ZOO_CONNECTED_STATE : ZOO_CONNECTING_STATE;
}

int zookeeper_close(zhandle_t *handle) {
    session *s = session_of(handle);
    for (int i = 0; i < s->pending; i++) {
        if (s->requests[i].got != NULL) {
            s->requests[i].got(ZCLOSING, NULL, -1, NULL, s->requests[i].context);
        } else {
            s->requests[i].done(ZCLOSING, s->requests[i].context);
        }
    }
    s->used = false;
    return ZOK;
}

enum fate { ANSWERED, LOST, LATER, UNHEARD, CUT, FATES };

/* The fate of a request, after which the ensemble carries it out, or not. *code: what the client
 * hears; -1: nothing. */
static enum fate draw_fate(session *s, int *code) {
    scripted_disturb();
    enum fate fate = faults && ONE_IN(10) ? (enum fate)(chance() % FATES) : ANSWERED;
    fate = s->connected ? fate : CUT;
    *code = fate == ANSWERED ? ZOK : fate == CUT || ONE_IN(2) ? ZCONNECTIONLOSS : -1;
    if (fate == CUT) {
        cut(s, ONE_IN(2));
    }
    return fate;
}

/* The client waits until its deadline. */
static void hold(session *s, void_completion_t done, data_completion_t got, const void *context) {
    assert_true(s->pending < PENDING);
    s->requests[s->pending].done = done;
    s->requests[s->pending].got = got;
    s->requests[s->pending++].context = context;
}

int zoo_aget(zhandle_t *handle, const char *path, int watch, data_completion_t done,
             const void *context) {
    session *s = session_of(handle);
    int code;
    (void)watch;
    (void)draw_fate(s, &code);
    const node *found = find(&followers[s->follower], path);
    struct Stat stat = {0};
    scripted_read();
    if (code == ZOK && found != NULL) {
        stat.version = found->version;
        stat.mzxid = found->mzxid;
        done(ZOK, found->data, found->length, &stat, context);
    } else if (code == -1) {
        hold(s, NULL, done, context);
    } else {
        done(code == ZOK ? ZNONODE : code, NULL, -1, NULL, context);
    }
    scripted_disturb();
    return ZOK;
}

static void answer(session *s, int code, void_completion_t done, const void *context) {
    if (code == -1) {
        hold(s, done, NULL, context);
    } else {
        done(code, context);
    }
    scripted_disturb();
}

/* zk_on_string as the other completions. */
static void string_done(int code, const void *context) {
    zk_on_string(code, NULL, context);
}

int zoo_async(zhandle_t *handle, const char *path, string_completion_t done, const void *context) {
    session *s = session_of(handle);
    int code;
    (void)path;
    assert_true(done == zk_on_string);
    if (draw_fate(s, &code) == ANSWERED) {
        followers[s->follower] = live;
    }
    answer(s, code, string_done, context);
    return ZOK;
}

/* Makes the root. */
int zoo_acreate(zhandle_t *handle, const char *path, const char *value, int length,
                const struct ACL_vector *acl, int mode, string_completion_t done,
                const void *context) {
    session *s = session_of(handle);
    zoo_op_t op;
    int code;
    assert_true(done == zk_on_string);
    zoo_create_op_init(&op, path, value, length, acl, mode, NULL, 0);
    const enum fate fate = draw_fate(s, &code);
    if (fate == ANSWERED || fate == UNHEARD) {
        const int made = carry_out(1, &op);
        code = code == ZOK ? made : code;
    }
    answer(s, code, string_done, context);
    return ZOK;
}

int zoo_amulti(zhandle_t *handle, int count, const zoo_op_t *ops, zoo_op_result_t *results,
               void_completion_t done, const void *context) {
    session *s = session_of(handle);
    int code;
    (void)results;
    const enum fate fate = draw_fate(s, &code);
    if (fate == ANSWERED || fate == UNHEARD) {
        const int made = carry_out(count, ops);
        code = code == ZOK ? made : code;
        followers[s->follower] = live;
    } else if (fate == LATER && late_count < LATE) {
        keep_letter(count, ops);
    }
    answer(s, code, done, context);
    return ZOK;
}

static void *driver_handle(void) {
    void *self = calloc(1, sizeof(zookeeper_store));
    module_link *link = self;
    assert_non_null(self);
    assert_int_equal(module_link_read(link, "zookeeper://h", NULL, NULL), FIRN_OK);
    assert_int_equal(set_up(self, NULL), FIRN_OK);
    link->engine = &engine;
    link->socket = -1;
    return self;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static int begin_program(void **state) {
    compares = true;
    one_process = false;
    return start_over(state);
}

static void a_process_notices_older_copies(void **state) {
    (void)state;
    one_process = true;
    no_slot_is_granted_twice(&firn_store_driver);
}

static void a_missing_comparison_is_found(void **state) {
    (void)state;
    compares = false;
    finds(&firn_store_driver);
}

static int without_stamps(void *self, firn_records *seen, bool surely, firn_error *error) {
    const int code = zookeeper_read(self, seen, surely, error);
    seen->stamp = 0;
    return code;
}

static int without_stamps_written(void *self, const firn_records *seen, firn_records *next,
                                  int which, firn_verb verb, firn_error *error) {
    const int code = zookeeper_write(self, seen, next, which, verb, error);
    next->stamp = 0;
    return code == FIRN_WRITE_FOREIGN ? FIRN_OK : code;
}

static void a_hidden_loss_is_found(void **state) {
    firn_driver driver = firn_store_driver;
    (void)state;
    one_process = true;
    driver.read = without_stamps;
    driver.write = without_stamps_written;
    driver.lost = never_lost;
    finds(&driver);
}

/* The record in a znode; false: it is not firn's. */
static bool taken(enum znode znode, firn_records *out, const char *text, size_t length) {
    static zookeeper_store store;
    zookeeper_call call = {.data = (char *)(uintptr_t)text, .length = (int)length};
    call.stat.version = 4;
    call.stat.mzxid = 9;
    store.layout[0] = store.note[0] = store.shut[0] = '\0';
    *out = (firn_records){.losses = 3, .layout = store.layout, .note = store.note};
    const bool right = take(&store, znode, &call, out);
    assert_int_equal(out->own[OWN_STORE], znode == STORE ? 4 : 0);
    assert_int_equal(out->own[OWN_NS], znode == NAMESPACE ? 4 : 0);
    assert_int_equal(out->own[OWN_KEY], znode == KEY ? 4 : 0);
    assert_true(out->stamp == (znode == KEY ? 9 : 0));
    return right;
}

static bool taken_text(enum znode znode, firn_records *out, const char *text) {
    return taken(znode, out, text, strlen(text));
}

static void records_are_those_of_the_znodes(void **state) {
    firn_records out;
    (void)state;
    assert_true(taken_text(STORE, &out, "1 3 77\n") && out.known);
    assert_true(out.losses == 3 && out.origin == 77);
    assert_true(taken_text(NAMESPACE, &out, "1 5 2\na layout") && out.ns_known);
    assert_true(out.floor == 5 && out.ns_losses == 2);
    assert_string_equal(out.layout, "a layout");
    assert_true(taken_text(KEY, &out, "1 5 18446744073709551615\na note") && out.key_known);
    assert_true(out.mark.high == 5 && out.mark.grant == UINT64_MAX);
    assert_string_equal(out.note, "a note");
    assert_true(taken_text(ALL_NAMES, &out, "1 0 3\ninteger"));
    assert_true(out.all_new && out.shut == NULL && !out.ns_known);
    assert_true(taken_text(ALL_NAMES, &out, "1 0 2\nclosed (a test): integer") && !out.all_new);
    assert_string_equal(out.shut, "closed (a test): integer");
}

static void records_at_their_bounds(void **state) {
    char text[FIRN_LAYOUT_SIZE + 20];
    firn_records out;
    (void)state;
    assert_true(taken_text(STORE, &out, "1 9223372036854775806 1\n"));
    assert_false(taken_text(STORE, &out, "1 9223372036854775807 1\n") || out.known);
    assert_false(taken_text(STORE, &out, "1 0 0\n"));
    assert_true(taken_text(NAMESPACE, &out, "1 4611686018427387904 9223372036854775807\nl"));
    assert_false(taken_text(NAMESPACE, &out, "1 4611686018427387905 0\nl") || out.ns_known);
    assert_false(taken_text(NAMESPACE, &out, "1 0 9223372036854775808\nl"));
    assert_true(taken_text(KEY, &out, "1 4611686018427387904 0\nn"));
    assert_false(taken_text(KEY, &out, "1 4611686018427387905 0\nn") || out.key_known);
    assert_false(taken_text(ALL_NAMES, &out, "1 x 0\nl"));
    memset(text, 't', sizeof text);
    memcpy(text, "1 0 0\n", 6);
    for (int key = 0; key < 2; key++) {
        const size_t most = 6 + (key ? FIRN_NOTE_SIZE : FIRN_LAYOUT_SIZE) - 1;
        text[most] = '\0';
        assert_true(taken_text(key ? KEY : NAMESPACE, &out, text));
        text[most] = 't';
        text[most + 1] = '\0';
        assert_false(taken_text(key ? KEY : NAMESPACE, &out, text));
        text[most + 1] = 't';
    }
}

static void records_that_are_damaged(void **state) {
    static const char *const texts[] = {"",          "1",       "1 ",       "1 3 7",   "2 3 7\n",
                                        "1 3\n",     "1  7\n",  "1 3 \n",   "1 x 7\n", "1 3 x\n",
                                        "1 3 7 1\n", "\n1 3 7", "1\n3 7\n", "11 3 7\n"};
    static const char zero[] = "1 3 7\nt\0t";
    firn_records out;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_false(taken_text(STORE, &out, texts[i]));
        assert_false(taken_text(KEY, &out, texts[i]));
    }
    assert_false(taken(KEY, &out, zero, sizeof zero - 1));
}

static void assert_node(const char *path, const char *data, int version) {
    const node *found = find(&live, path);
    assert_non_null(found);
    assert_string_equal(found->data, data);
    assert_int_equal(found->version, version);
}

static void records_of_each_step(void **state) {
    char text[80];
    zookeeper_store *self = steps_begin();
    (void)state;
    assert_int_equal(step(self, FIRN_VERB_RESERVE, 7, "one", 5, (firn_mark){30, UINT64_MAX}),
                     FIRN_OK);
    assert_string_equal(passed, " reserve.before reserve.sent reserve.committed");
    assert_true(step_next->origin != 0 && self->rooted && self->newest == 0);
    snprintf(text, sizeof text, "1 0 %" PRIu64 "\n", step_next->origin);
    assert_node("/firn/%store", text, 0);
    assert_node("/firn/bare", "1 5 0\none", 0);
    assert_node("/firn/bare/2", "1 30 18446744073709551615\na client", 0);
    /* the key alone: the other records stay */
    assert_int_equal(step(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, "one", 5, (firn_mark){34, 3}),
                     FIRN_OK);
    assert_node("/firn/%store", text, 0);
    assert_node("/firn/bare", "1 5 0\none", 0);
    assert_node("/firn/bare/2", "1 34 3\na client", 1);
    assert_true(self->newest == live.zxid && step_next->stamp == live.zxid);
    assert_true(step_next->own[OWN_STORE] == 0 && step_next->own[OWN_KEY] == 1);
    assert_true(zookeeper_usable(self, step_next) && !zookeeper_lost(self, step_next));
    /* each record is compared */
    static const char *const paths[] = {"/firn/%store", "/firn/bare", "/firn/bare/2"};
    for (int i = 0; i < 3; i++) {
        firn_records seen = *step_next, next = seen;
        seen.own[OWN_KEY] = next.own[OWN_KEY] = 1;
        find(&live, paths[i])->version++;
        self->rooted = true;
        assert_int_equal(
            firn_store_driver.write(self, &seen, &next, FIRN_RECORD_KEY, FIRN_VERB_RESERVE, NULL),
            FIRN_WRITE_CHANGED);
        assert_false(self->rooted);
        find(&live, paths[i])->version--;
    }
    /* a version that the server takes for any: the namespace's record protects the key */
    find(&live, paths[2])->version = -1;
    assert_int_equal(step(self, FIRN_VERB_GIVE_BACK, FIRN_RECORD_KEY, "one", 5, (firn_mark){33, 0}),
                     FIRN_OK);
    assert_string_equal(passed, " give_back.before give_back.sent give_back.committed");
    assert_node("/firn/bare", "1 5 0\none", 1);
    assert_node("/firn/bare/2", "1 33 0\na client", 0);
    assert_true(step_next->own[OWN_NS] == 1 && step_next->own[OWN_KEY] == 0);
    /* a namespace without a key; a note is cut */
    assert_int_equal(step(self, FIRN_VERB_RELABEL, FIRN_RECORD_STORE | FIRN_RECORD_NS, SHUT, 4,
                          (firn_mark){33, 0}),
                     FIRN_OK);
    assert_node("/firn/%store", text, 1);
    assert_node("/firn/bare", "1 4 0\n" SHUT, 2);
    assert_node("/firn/bare/2", "1 33 0\na client", 0);
    firn_records seen = step_names, next;
    assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
    assert_true(seen.fresh && seen.known && seen.ns_known && seen.key_known && seen.floor == 4);
    write_long_note(self);
    assert_int_equal(find(&live, paths[2])->length, strlen("1 33 0\n") + FIRN_NOTE_SIZE - 1);
    /* an answer of an older history, except for a loss that is being counted */
    assert_int_equal(firn_store_driver.read(self, &seen, false, NULL), FIRN_OK);
    assert_false(seen.fresh);
    next = seen;
    self->newest = live.zxid + 1;
    assert_int_equal(
        firn_store_driver.write(self, &seen, &next, FIRN_RECORD_KEY, FIRN_VERB_RESERVE, NULL),
        FIRN_WRITE_FOREIGN);
    assert_true(self->suspect && zookeeper_lost(self, &seen) && !zookeeper_usable(self, &seen));
    zk_forget(self);
    assert_true(self->newest == 0 && !self->suspect);
    assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
    next = seen;
    next.losses++;
    self->newest = live.zxid + 9;
    assert_int_equal(firn_store_driver.write(self, &seen, &next, 7, FIRN_VERB_RESERVE, NULL),
                     FIRN_OK);
    assert_true(!self->suspect && self->newest == live.zxid + 8);
    /* another connection */
    assert_true(zookeeper_usable(self, &next));
    zk_hang_up(self, false);
    assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, NULL), FIRN_OK);
    assert_false(zookeeper_usable(self, &next));
    module_close(self);
}

static void records_have_names(void **state) {
    static const struct {
        const char *name, *node;
    } names[] = {{"integer orders", "integer%20orders"},
                 {"a/b.c", "a%2Fb%2Ec"},
                 {"Az09-_@", "Az09-_@"},
                 {"\xff\x0f", "%FF%0F"}};
    static const char *const bad[] = {"%", "%4", "%4g", "%g4", "%4a", "%%"};
    zookeeper_store store = {.root = "/r"};
    zookeeper_paths paths;
    char out[20];
    (void)state;
    zk_name(&store, &paths, "a.b", "7@8");
    assert_string_equal(paths.store, "/r/%store");
    assert_string_equal(paths.ns, "/r/a%2Eb");
    assert_string_equal(paths.key, "/r/a%2Eb/7@8");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        escape(paths.ns, names[i].name);
        assert_string_equal(paths.ns, names[i].node);
        assert_true(zk_unescape(out, sizeof out, paths.ns));
        assert_string_equal(out, names[i].name);
        assert_true(zk_unescape(out, strlen(names[i].name) + 1, paths.ns));
        assert_false(zk_unescape(out, strlen(names[i].name), paths.ns));
    }
    assert_false(zk_unescape(out, 0, ""));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(zk_unescape(out, sizeof out, bad[i]));
    }
}

static void records_are_at_a_url(void **state) {
    static const url_case urls[] = {
        {"zookeeper://h", NULL},
        {"zookeeper:///p", "names no host"},
        {"zookeeper://a%2Cb", "valid host"},
        {"zookeeper://g,a%20b", "valid host"},
        {"zookeeper://h/a/b-c_d.e", NULL},
        {"zookeeper://h/zookeepers", NULL},
        {"zookeeper://h/zookeeper", "the path"},
        {"zookeeper://h/zookeeper/x", "the path"},
        {"zookeeper://h//a", "the path"},
        {"zookeeper://h/a/", "the path"},
        {"zookeeper://h/a//b", "the path"},
        {"zookeeper://h/.", "the path"},
        {"zookeeper://h/a/..", "the path"},
        {"zookeeper://h/a%20b", "the path"},
        {"zookeeper://u@h", "alone"},
        {"zookeeper://:p@h", "alone"},
        {"zookeeper://h?tls=1", "no TLS"},
        {"zookeeper://h?prefix=x", "prefix"},
    };
    char url[ZK_ROOT_MOST + 40];
    (void)state;
    unsetenv("FIRN_ZOOKEEPER_PASSWORD");
    take_urls(&engine, urls, sizeof urls / sizeof *urls);
    zookeeper_store *store = take_url(&engine, &(url_case){"zookeeper://u:p@h", NULL});
    assert_string_equal(store->login, "u:p");
    assert_string_equal(store->root, "/firn");
    module_close(store);
    store = take_url(&engine, &(url_case){"zookeeper://h/a/b", NULL});
    assert_string_equal(store->root, "/a/b");
    assert_null(store->login);
    module_close(store);
    for (int length = ZK_ROOT_MOST; length <= ZK_ROOT_MOST + 1; length++) {
        snprintf(url, sizeof url, "zookeeper://h/%0*d", length, 1);
        take_urls(&engine, &(url_case){url, length > ZK_ROOT_MOST ? "the path" : NULL}, 1);
    }
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_those_of_the_znodes),
        cmocka_unit_test(records_at_their_bounds),
        cmocka_unit_test(records_that_are_damaged),
        cmocka_unit_test(records_have_names),
        cmocka_unit_test(records_are_at_a_url),
        cmocka_unit_test_setup(records_of_each_step, begin_program),
        cmocka_unit_test_setup(answers_are_torn, begin_program),
        cmocka_unit_test_setup(a_process_notices_older_copies, begin_program),
        cmocka_unit_test_setup(a_guess_is_found, begin_program),
        cmocka_unit_test_setup(a_missing_comparison_is_found, begin_program),
        cmocka_unit_test_setup(a_hidden_loss_is_found, begin_program),
    };
    scripted_choose(count, arguments);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
