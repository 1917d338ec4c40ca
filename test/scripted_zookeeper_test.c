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

static struct addrinfo *lie_resolve(const char **why);
#undef module_link_resolve
#define module_link_resolve(link, host, port, deadline_ms, why)                                    \
    ((void)(link), (void)(host), (void)(port), (void)(deadline_ms), lie_resolve(why))
static int64_t waited_until_ms; /* if an answer had not come */
/* Every answer comes before the library's function returns, or with the end of the session. */
#define module_cond_wait(cond, lock, deadline_ms)                                                  \
    ((void)(cond), (void)(lock), waited_until_ms = (deadline_ms), false)
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
static const struct ACL_vector *given_acl; /* to the last znode that was made */
static bool compares;                      /* false: injected bug, versions are not compared */

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
            given_acl = ops[i].create_op.acl;
            assert_true(ops[i].create_op.buf == NULL && ops[i].create_op.buflen == 0);
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

static int connected_state; /* of each new session; 0: no event comes */

static void server_new(void) {
    connected_state = ZOO_CONNECTED_STATE;
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

static session *session_of(zhandle_t *handle) {
    return (session *)(void *)handle;
}

static int failing_call; /* of those that make a session; 0: none */
static bool unknown_host;
static char given_hosts[80], given_login[40]; /* to the library */
static int given_ms;

static struct addrinfo *lie_resolve(const char **why) {
    const struct addrinfo numeric = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
                                     .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    *why = "no such name";
    if (!unknown_host) {
        assert_int_equal(getaddrinfo("127.0.0.1", "2181", &numeric, &found), 0);
    }
    return found;
}

zhandle_t *zookeeper_init2(const char *host, watcher_fn fn, int recv_timeout,
                           const clientid_t *clientid, void *context, int flags,
                           log_callback_fn log_callback) {
    session *s = sessions;
    (void)clientid, (void)flags, (void)log_callback;
    snprintf(given_hosts, sizeof given_hosts, "%s", host);
    given_ms = recv_timeout;
    if (failing_call == 1) {
        return NULL;
    }
    while (s->used) {
        s++;
        assert_true(s < sessions + sizeof sessions / sizeof *sessions);
    }
    *s = (session){.used = true,
                   .connected = connected_state == ZOO_CONNECTED_STATE && (!faults || !ONE_IN(20)),
                   .follower = (int)(chance() % FOLLOWERS),
                   .watcher = fn,
                   .context = context};
    if (s->connected || connected_state != ZOO_CONNECTED_STATE) {
        fn((zhandle_t *)s, ZOO_SESSION_EVENT, connected_state, "", context);
    }
    return (zhandle_t *)s;
}

int zoo_add_auth(zhandle_t *handle, const char *scheme, const char *login, int length,
                 void_completion_t done, const void *context) {
    (void)handle, (void)done, (void)context;
    snprintf(given_login, sizeof given_login, "%s %.*s", scheme, length, login);
    return failing_call == 3 ? ZINVALIDSTATE : ZOK;
}

int zoo_set_servers_resolution_delay(zhandle_t *handle, int delay_ms) {
    (void)delay_ms;
    assert_non_null(handle);
    return failing_call == 2 ? ZBADARGUMENTS : ZOK;
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

static struct {
    int count; /* this many requests have no chance, */
    enum fate fate;
    int code;    /* but this answer, as draw_fate says, */
    bool queues; /* or the library does not take them */
} planned;

static void plan(int count, enum fate fate, int code) {
    planned.count = count;
    planned.fate = fate;
    planned.code = code;
    planned.queues = true;
}

/* The fate of a request, after which the ensemble carries it out, or not. *code: what the client
 * hears; -1: nothing. */
static enum fate draw_fate(session *s, int *code) {
    scripted_disturb();
    enum fate fate = faults && ONE_IN(10) ? (enum fate)(chance() % FATES) : ANSWERED;
    fate = s->connected ? fate : CUT;
    if (planned.count > 0) {
        planned.count--;
        *code = planned.code;
        return planned.fate;
    }
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
    assert_int_equal(watch, 0);
    (void)draw_fate(s, &code);
    if (code != ZOK && !planned.queues) {
        return code;
    }
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

static int creations;

/* Makes the root. */
int zoo_acreate(zhandle_t *handle, const char *path, const char *value, int length,
                const struct ACL_vector *acl, int mode, string_completion_t done,
                const void *context) {
    session *s = session_of(handle);
    zoo_op_t op;
    int code;
    creations++;
    assert_true(done == zk_on_string);
    assert_int_equal(length, 0);
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
    if (code != ZOK && !planned.queues) {
        return code;
    }
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
    *out = (firn_records){.losses = 3, .layout = "", .note = ""};
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
    assert_ptr_equal(given_acl, &ZOO_OPEN_ACL_UNSAFE);
    for (int i = OWN_STORE; i <= OWN_KEY; i++) {
        assert_int_equal(step_next->own[i], 0);
    }
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
    assert_true(self->newest == live.zxid); /* of the namespace, although the key is older */
    assert_true(step_next->stamp < live.zxid);
    /* which another client may raise in between, or which does not exist */
    for (int i = 0; i < 2; i++) {
        next = seen;
        next.floor = 5 - i;
        find(&live, paths[2])->version += i == 0;
        assert_int_equal(firn_store_driver.write(self, &seen, &next, 3, FIRN_VERB_RELABEL, NULL),
                         FIRN_OK);
        seen = step_names;
        seen.key = "1";
        assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
        assert_int_equal(seen.floor, 5 - i);
    }
    seen = step_names;
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

/* A namespace that is new to a store whose names are all known. */
static void records_of_a_new_name(void **state) {
    void *self = steps_begin();
    const firn_records names = {.ns = "guarded", .key = "1", .alive = &is_alive};
    firn_records seen = step_names, next;
    (void)state;
    creations = 0;
    assert_int_equal(step(self, FIRN_VERB_RESERVE, 7, "one", 5, (firn_mark){30, 3}), FIRN_OK);
    live.zxid++;
    put_data("/firn/integer%20%2A", "1 0 0\n" SHUT, (int)strlen("1 0 0\n" SHUT), NULL);
    assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
    assert_true(seen.ns_known && seen.key_known && !seen.all_new && seen.shut == NULL);
    assert_string_equal(seen.layout, "one");
    assert_string_equal(seen.note, "a client");
    seen = names;
    assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
    assert_true(seen.known && !seen.ns_known && !seen.key_known && seen.all_new);
    assert_string_equal(seen.layout, "");
    assert_string_equal(seen.note, "");
    assert_string_equal(seen.shut, SHUT);
    assert_int_equal(((zookeeper_store *)self)->newest, live.zxid);
    assert_int_equal(creations, 1); /* of the root */
    next = seen;
    next.layout = "one";
    assert_int_equal(firn_store_driver.write(self, &seen, &next, 6, FIRN_VERB_RESERVE, NULL),
                     FIRN_OK);
    assert_int_equal(creations, 1);
    module_close(self);
}

/* A connection that was dead already is replaced before anything is written. */
static void records_without_an_answer(void **state) {
    zookeeper_store *self = steps_begin();
    firn_records seen = step_names;
    (void)state;
    assert_int_equal(step(self, FIRN_VERB_RESERVE, 7, "one", 5, (firn_mark){30, 3}), FIRN_OK);
    const uint64_t before = self->connections;
    plan(1, LOST, ZCONNECTIONLOSS);
    assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
    assert_true(seen.known && seen.mark.high == 30 && self->connections == before + 1);
    assert_true(zookeeper_usable(self, &seen));
    plan(2, LOST, ZCONNECTIONLOSS);
    module_retry_worked(&self->link.retry);
    assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_ESTORE);
    assert_true(self->handle == NULL && planned.count == 0);
    module_retry_worked(&self->link.retry);
    assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, NULL), FIRN_OK);
    self->link.end_ms = 0;
    assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_ESTORE);
    assert_non_null(self->handle);
    module_close(self);
}

/* The outcome of a write of a key, by its answer; -1: no answer until the deadline. */
static void records_of_each_answer(void **state) {
    static const struct {
        enum fate fate;
        int code;
        bool queues;
        int outcome;  /* of the write */
        bool cut;     /* the connection is in doubt */
        bool written; /* after all */
        const char *says;
    } answers[] = {
        {ANSWERED, ZOK, true, FIRN_OK, false, true, ""},
        {LOST, -1, true, FIRN_EUNKNOWN, true, false, "does not answer before it confirmed"},
        {UNHEARD, -1, true, FIRN_EUNKNOWN, true, true, "does not answer before it confirmed"},
        {UNHEARD, ZCONNECTIONLOSS, true, FIRN_EUNKNOWN, true, true, "cut the connection before"},
        {LOST, ZSESSIONEXPIRED, true, FIRN_EUNKNOWN, true, false, "ended the session before"},
        {LOST, ZSESSIONMOVED, true, FIRN_EUNKNOWN, true, false, "before it confirmed the write"},
        {LOST, ZCLOSING, true, FIRN_EUNKNOWN, true, false, "before it confirmed the write"},
        {LOST, ZAPIERROR, true, FIRN_EUNKNOWN, false, false, "before it confirmed the write"},
        {LOST, ZNOAUTH, true, FIRN_ESTORE, false, false, "does not allow it: give user:password@"},
        {LOST, ZAUTHFAILED, true, FIRN_ESTORE, true, false, "refuses user and password: correct"},
        {LOST, ZINVALIDSTATE, false, FIRN_ESTORE, true, false, "is not connected: start it"},
        {LOST, ZMARSHALLINGERROR, false, FIRN_ESTORE, false, false, "more memory"},
        {LOST, ZBADVERSION, true, FIRN_WRITE_CHANGED, false, false, ""},
        {LOST, ZNODEEXISTS, true, FIRN_WRITE_CHANGED, false, false, ""},
        {LOST, ZNONODE, true, FIRN_WRITE_CHANGED, false, false, ""},
    };
    zookeeper_store *self = steps_begin();
    (void)state;
    assert_int_equal(step(self, FIRN_VERB_RESERVE, 7, "one", 5, (firn_mark){30, 3}), FIRN_OK);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        firn_records seen = step_names, next;
        firn_error error = {0};
        module_retry_worked(&self->link.retry);
        assert_int_equal(firn_store_driver.begin(self, &seen, FIRN_VERB_RESERVE, NULL), FIRN_OK);
        assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
        next = seen;
        next.mark.high++;
        plan(1, answers[i].fate, answers[i].code);
        planned.queues = answers[i].queues;
        const int64_t before = live.zxid, high = server_mark(1, 1), begun_ms = module_now_ms();
        assert_int_equal(
            firn_store_driver.write(self, &seen, &next, FIRN_RECORD_KEY, FIRN_VERB_RESERVE, &error),
            answers[i].outcome);
        assert_non_null(strstr(error.text, answers[i].says));
        assert_true(answers[i].code != -1 || waited_until_ms > begun_ms);
        assert_int_equal(self->handle == NULL, answers[i].cut);
        assert_int_equal(self->link.retry.failures, answers[i].cut);
        assert_int_equal(live.zxid, before + answers[i].written);
        assert_int_equal(server_mark(1, 1), high + answers[i].written);
        assert_int_equal(next.stamp, answers[i].outcome == FIRN_OK ? live.zxid : seen.stamp);
    }
    /* the root is made before anything that may be done */
    firn_records unknown = {.ns = "guarded", .key = "1", .alive = &is_alive};
    module_retry_worked(&self->link.retry);
    assert_int_equal(firn_store_driver.begin(self, &unknown, FIRN_VERB_RESERVE, NULL), FIRN_OK);
    assert_int_equal(firn_store_driver.read(self, &unknown, true, NULL), FIRN_OK);
    for (int i = 0; i < 2; i++) {
        firn_records next = unknown;
        plan(1, LOST, i == 0 ? ZNONODE : ZCONNECTIONLOSS);
        self->rooted = false;
        assert_int_equal(firn_store_driver.write(self, &unknown, &next, 7, FIRN_VERB_RESERVE, NULL),
                         i == 0 ? FIRN_WRITE_CHANGED : FIRN_ESTORE);
    }
    module_retry_worked(&self->link.retry);
    /* a count of losses may be sent again, so an unknown outcome is a failure */
    firn_records seen = step_names, next;
    assert_int_equal(firn_store_driver.begin(self, &seen, FIRN_VERB_RESERVE, NULL), FIRN_OK);
    assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
    next = seen;
    next.losses++;
    plan(1, UNHEARD, ZCONNECTIONLOSS);
    assert_int_equal(
        firn_store_driver.write(self, &seen, &next, FIRN_RECORD_STORE, FIRN_VERB_RESERVE, NULL),
        FIRN_ESTORE);
    module_close(self);
}

/* Its process was forked at a failpoint of a write: the child says nothing and waits for nothing. */
static void fork_at(void *self, const char *name) {
    zookeeper_store *store = self;
    store->link.process += strcmp(name, passed) == 0;
}

static void records_of_a_forked_child(void **state) {
    static const char *const points[] = {"reserve.before", "reserve.sent", "reserve.committed"};
    zookeeper_store *self = steps_begin();
    (void)state;
    assert_int_equal(step(self, FIRN_VERB_RESERVE, 7, "one", 5, (firn_mark){30, 3}), FIRN_OK);
    self->link.options.failpoint = fork_at;
    self->link.options.failpoint_self = self;
    for (int i = 0; i < 3; i++) {
        firn_records seen = step_names, next;
        firn_error error = {0};
        const int64_t process = self->link.process;
        assert_int_equal(firn_store_driver.begin(self, &seen, FIRN_VERB_RESERVE, NULL), FIRN_OK);
        assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
        next = seen;
        snprintf(passed, sizeof passed, "%s", points[i]);
        const int64_t before = live.zxid;
        plan(1, UNHEARD, i == 2 ? ZOK : -1);
        assert_int_equal(
            firn_store_driver.write(self, &seen, &next, FIRN_RECORD_KEY, FIRN_VERB_RESERVE, &error),
            FIRN_EFORKED);
        assert_int_equal(error.code, FIRN_EFORKED);
        assert_int_equal(live.zxid, before + (i > 0));
        assert_non_null(self->handle);
        planned.count = 0;
        self->link.process = process;
        if (i == 1) { /* the child's */
            zk_leave((zookeeper_call *)(uintptr_t)session_of(self->handle)->requests[0].context);
        }
    }
    module_close(self);
}

/* ---- connecting ------------------------------------------------------------------------------ */

static void assert_refused(zookeeper_store *store, int code, const char *says) {
    firn_error error = {0};
    module_retry_worked(&store->link.retry);
    assert_int_equal(zk_enter(store, &error), code);
    if (strstr(error.text, says) == NULL) {
        fail_msg("not '%s': %s", says, error.text);
    }
    assert_true(store->handle == NULL && store->session == NULL && module_insiders() == 0);
}

static void records_need_a_session(void **state) {
    zookeeper_store *store = take_url(&engine, &(url_case){"zookeeper://u:p@h,i", NULL});
    (void)state;
    faults = false;
    server_new();
    connected_state = 0;
    const int64_t begun_ms = module_now_ms();
    assert_refused(store, FIRN_ESTORE, "cannot be reached (tried for ");
    assert_true(waited_until_ms > begun_ms);
    assert_int_equal(store->link.retry.failures, 1);
    connected_state = ZOO_EXPIRED_SESSION_STATE;
    assert_refused(store, FIRN_ESTORE, "cannot be reached (tried for ");
    connected_state = ZOO_AUTH_FAILED_STATE;
    assert_refused(store, FIRN_ESTORE, "refuses user and password");
    connected_state = ZOO_CONNECTED_STATE;
    for (int call = 1; call <= 3; call++) {
        failing_call = call;
        assert_refused(store, FIRN_ESTORE, "cannot be reached (tried for ");
    }
    failing_call = 0;
    unknown_host = true;
    assert_refused(store, FIRN_ESTORE, "is not found (no such name): correct the name");
    unknown_host = false;
    connected_state = 0;
    assert_refused(store, FIRN_ESTORE, "cannot be reached (tried for ");
    connected_state = ZOO_CONNECTED_STATE;
    atomic_store(&lost_by_fork, true);
    assert_refused(store, FIRN_EFORKED, "was forked while a store was connected");
    atomic_store(&lost_by_fork, false);
    /* another try is too early */
    given_hosts[0] = '\0';
    store->link.retry = (module_retry){1, module_now_ms() + 60000};
    assert_int_equal(zk_enter(store, NULL), FIRN_ESTORE);
    assert_string_equal(given_hosts, "");
    store->link.retry.next_ms = 0;
    /* the hosts, the limit and the login that the library gets */
    store->link.timeout_ms = 1999;
    assert_int_equal(zk_enter(store, NULL), FIRN_OK);
    assert_string_equal(given_hosts, "127.0.0.1:2181,127.0.0.1:2181");
    assert_string_equal(given_login, "digest u:p");
    assert_int_equal(given_ms, 4000);
    assert_true(store->connections == 1 && store->link.retry.failures == 0);
    assert_int_equal(module_insiders(), 0);
    assert_int_equal(zk_enter(store, NULL), FIRN_OK);
    assert_int_equal(store->connections, 1);
    /* which neither another event nor the same state ends */
    session *first = session_of(store->handle);
    first->watcher(store->handle, ZOO_CHANGED_EVENT, ZOO_CONNECTING_STATE, "/x", first->context);
    first->watcher(store->handle, ZOO_SESSION_EVENT, ZOO_CONNECTED_STATE, "", first->context);
    assert_int_equal(zk_enter(store, NULL), FIRN_OK);
    assert_int_equal(store->connections, 1);
    /* another one after the library has lost it, even if it has made its own since */
    store->link.timeout_ms = 2001;
    for (int reconnects = 0; reconnects < 2; reconnects++) {
        session *before = session_of(store->handle);
        cut(before, reconnects);
        assert_int_equal(zk_enter(store, NULL), FIRN_OK);
        assert_int_equal(store->connections, 2 + reconnects);
        assert_int_equal(given_ms, 4002);
    }
    /* a forked child leaves the parent's connection alone */
    session *parents = session_of(store->handle);
    zookeeper_call *call = store->session;
    store->newest = 7;
    store->suspect = store->rooted = true;
    zk_hang_up(store, true);
    assert_true(parents->used && store->handle == NULL && store->session == NULL);
    assert_true(!store->rooted && !store->suspect && store->newest == 0);
    for (int i = 0; i < 2; i++) {
        store->handle = (zhandle_t *)(void *)parents;
        store->session = call;
        store->link.process += i == 0;
        assert_int_equal(zk_enter(store, NULL), FIRN_OK);
        assert_int_equal(session_of(store->handle) != parents, i == 0);
        assert_true(parents->used);
        store->rooted = true;
        zk_hang_up(store, false);
    }
    assert_true(!parents->used && store->rooted);
    module_close(store);
}

static void records_at_many_addresses(void **state) {
    char hosts[HOSTS_SIZE] = "", longest[HOSTS_SIZE] = "";
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(2181)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(99)};
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    struct addrinfo last = {.ai_addr = (void *)&four, .ai_addrlen = sizeof four},
                    middle = {.ai_addr = &none, .ai_addrlen = sizeof none, .ai_next = &last},
                    first = {.ai_addr = (void *)&six, .ai_addrlen = sizeof six, .ai_next = &middle};
    size_t length;
    (void)state;
    four.sin_addr.s_addr = htonl(0x7f000001);
    six.sin6_addr = in6addr_loopback;
    length = add_addresses(hosts, 0, &first);
    assert_string_equal(hosts, "[::1]:99,127.0.0.1:2181");
    assert_int_equal(length, strlen(hosts));
    /* as far as there is room */
    for (size_t room = 14; room <= 15; room++) {
        memset(longest, 'h', HOSTS_SIZE - 1 - room);
        longest[HOSTS_SIZE - 1 - room] = '\0';
        const size_t before = strlen(longest);
        length = add_addresses(longest, before, &last);
        assert_int_equal(length, strlen(longest));
        assert_int_equal(length - before, room < 15 ? 0 : strlen(",127.0.0.1:2181"));
    }
}

/* Data of the library's callbacks. */
static void records_are_data_of_znodes(void **state) {
    static const struct Stat stat = {.version = 3};
    (void)state;
    for (int code = ZOK; code >= ZNONODE; code += ZNONODE) {
        for (int length = -1; length < 3; length++) {
            zookeeper_call *call = zk_call(2);
            assert_non_null(call);
            zk_on_data(code, length < 0 ? NULL : "ab", length, &stat, call);
            assert_true(call->done && call->code == code && call->holders == 1);
            assert_int_equal(call_wait(call, 0), code);
            assert_int_equal(call->data != NULL, code == ZOK);
            assert_int_equal(call->length, code == ZOK && length > 0 ? length : 0);
            if (code == ZOK) {
                assert_int_equal(strlen(call->data), call->length);
                assert_int_equal(call->stat.version, 3);
            }
            zk_leave(call);
        }
    }
    zookeeper_call *call = zk_call(1);
    assert_non_null(call);
    assert_int_equal(call_wait(call, 0), ZOPERATIONTIMEOUT);
    /* a session begins, or cannot */
    const int states[] = {ZOO_CONNECTING_STATE, ZOO_ASSOCIATING_STATE, ZOO_CONNECTED_STATE,
                          ZOO_AUTH_FAILED_STATE, ZOO_EXPIRED_SESSION_STATE};
    for (int i = 0; i < 5; i++) {
        on_session(NULL, ZOO_SESSION_EVENT, states[i], "", call);
        assert_int_equal(call->done, i >= 2);
        assert_int_equal(call->code, states[i]);
        assert_int_equal(call->cut, i > 2);
    }
    zk_leave(call);
    /* a fork while a store connects is noticed in the child */
    in_child();
    assert_false(atomic_load(&lost_by_fork));
    module_inside();
    in_child();
    module_outside();
    assert_true(atomic_load(&lost_by_fork));
    atomic_store(&lost_by_fork, false);
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
        const size_t length = strlen(names[i].name);
        memset(&paths, 'z', sizeof paths);
        memset(out, 'z', sizeof out);
        escape(paths.ns, names[i].name);
        assert_string_equal(paths.ns, names[i].node);
        assert_false(zk_unescape(out, length, paths.ns));
        assert_int_equal(out[length], 'z');
        assert_true(zk_unescape(out, length + 1, paths.ns));
        assert_string_equal(out, names[i].name);
        assert_true(zk_unescape(out, sizeof out, paths.ns));
        assert_string_equal(out, names[i].name);
    }
    for (int i = 1; i < 256; i++) {
        const char byte[] = {(char)i, '\0'};
        escape(paths.ns, byte);
        assert_true(zk_unescape(out, sizeof out, paths.ns));
        assert_string_equal(out, byte);
    }
    assert_false(zk_unescape(out, 0, ""));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(zk_unescape(out, sizeof out, bad[i]));
    }
}

/* The root is made with the znodes above it, some of which exist. */
static void records_are_below_a_root(void **state) {
    zookeeper_store *store = take_url(&engine, &(url_case){"zookeeper://u:p@h/a/b/c", NULL});
    (void)state;
    faults = false;
    server_new();
    assert_int_equal(zk_enter(store, NULL), FIRN_OK);
    plan(2, LOST, ZNOAUTH);
    assert_int_equal(zk_make_root(store), ZNOAUTH);
    assert_true(planned.count == 1 && !store->rooted);
    planned.count = 0;
    put_data("/a", "theirs", 6, NULL);
    assert_int_equal(zk_make_root(store), ZOK);
    assert_true(store->rooted);
    assert_node("/a", "theirs", 0);
    assert_node("/a/b", "", 0);
    assert_node("/a/b/c", "", 0);
    assert_ptr_equal(given_acl, &ZOO_CREATOR_ALL_ACL); /* nobody else may write */
    assert_int_equal(zk_make_root(store), ZOK);
    module_close(store);
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
        {"zookeeper://h/a", NULL},
        {"zookeeper://h/", NULL},
        {"zookeeper://u@h?password-file=/nowhere", "/nowhere"},
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
    char url[ZK_ROOT_MOST + 80];
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
    for (int length = 255; length <= 256; length++) {
        snprintf(url, sizeof url, "zookeeper://%0*d", length, 1);
        take_urls(&engine, &(url_case){url, length > 255 ? "valid host" : NULL}, 1);
    }
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
        cmocka_unit_test(records_are_below_a_root),
        cmocka_unit_test(records_are_at_a_url),
        cmocka_unit_test_setup(records_of_each_step, begin_program),
        cmocka_unit_test_setup(records_of_a_new_name, begin_program),
        cmocka_unit_test_setup(records_without_an_answer, begin_program),
        cmocka_unit_test_setup(records_of_each_answer, begin_program),
        cmocka_unit_test_setup(records_of_a_forked_child, begin_program),
        cmocka_unit_test(records_need_a_session),
        cmocka_unit_test(records_at_many_addresses),
        cmocka_unit_test(records_are_data_of_znodes),
        cmocka_unit_test_setup(answers_are_torn, begin_program),
        cmocka_unit_test_setup(a_process_notices_older_copies, begin_program),
        cmocka_unit_test_setup(a_guess_is_found, begin_program),
        cmocka_unit_test_setup(a_missing_comparison_is_found, begin_program),
        cmocka_unit_test_setup(a_hidden_loss_is_found, begin_program),
    };
    scripted_choose(count, arguments);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
