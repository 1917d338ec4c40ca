/* SPDX-License-Identifier: MIT */
/* The driver of etcd over a scripted cluster: see scripted.h. In place of libcurl there is a cluster
 * that carries out transactions of the JSON gateway; test/etcd_test.c runs a real one. */
#include "../fuzz/lying.h"
#include "scripted.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <limits.h>

/* A handle of libcurl, with its kept connection. */
typedef struct lie_curl {
    bool used, connected;
    void *call; /* what the module hands over for the answer */
    long connects, status;
} lie_curl;

enum { CURLS = 64 };
static lie_curl curls[CURLS];

static CURL *lie_make(void);
static CURLcode lie_set(CURL *curl, CURLoption option, uintptr_t value);
static CURLcode lie_info(const CURL *curl, CURLINFO info, long *out);
static CURLcode lie_perform(CURL *curl);
static void lie_clean(CURL *curl);

#undef curl_easy_setopt
#undef curl_easy_getinfo
#define curl_easy_setopt(curl, option, value) lie_set(curl, option, (uintptr_t)(value))
#define curl_easy_getinfo(curl, info, out)    lie_info(curl, info, out)
#define curl_easy_perform(curl)               lie_perform(curl)
#define curl_easy_init()                      lie_make()
#define curl_easy_cleanup(curl)               lie_clean(curl)
#include "../modules/etcd.c"
#include "../modules/etcd_http.c"
#include "../modules/etcd_record.c"

/* ---- the cluster ----------------------------------------------------------------------------- */

enum {
    NS_PAIRS = 1,
    MARK_PAIRS = NS_PAIRS + SPACES,
    PAIRS = MARK_PAIRS + SPACES * KEYS,
    MEMBERS = 3
};

typedef struct pair {
    char text[200];
    int64_t revision; /* of its last change; 0: absent */
} pair;

typedef struct cluster {
    uint64_t id, term, members[MEMBERS];
    int64_t revision;
    pair pairs[PAIRS];
} cluster;

enum { LATE = 4, REQUEST = 4096, FIRST_TERM = 100000 }; /* no elections after a restore reach it */

static cluster live, saved;
static uint64_t ids;
static char late[LATE][REQUEST];
static int late_count;
static bool compares; /* false: injected bug, revisions and the mark are not compared */
static bool tells;    /* false: injected bug, answers show the first cluster and term */

/* The record with a name in base64; -1: no such record in these tests. */
static int pair_of(const json_t *name) {
    char text[ETCD_NAME_SIZE];
    size_t length = 0;
    assert_true(etcd_plain(text, sizeof text, &length, name));
    if (strcmp(text, "firn/store") == 0) {
        return 0;
    }
    const char *ns = strchr(strchr(text, '/') + 1, '/') + 1;
    const int place = scripted_index(space_names, ns);
    return strcmp(ns, FIRN_ALL_NAMES) == 0 ? -1
           : strncmp(text, "firn/namespace/", 15) == 0
               ? NS_PAIRS + place
               : MARK_PAIRS + place * KEYS + scripted_index(key_names, ns + strlen(ns) + 1);
}

static json_t *unsigned_text(uint64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    return json_string(text);
}

static bool headless; /* an answer has no header */

static json_t *header(void) {
    if (headless) {
        return json_object();
    }
    return json_pack("{s:{s:o, s:o, s:o}}", "header", "cluster_id",
                     unsigned_text(tells ? live.id : 1), "raft_term",
                     unsigned_text(tells ? live.term : FIRST_TERM), "revision",
                     unsigned_text((uint64_t)live.revision));
}

static json_t *range(const json_t *request) {
    const int i = pair_of(json_object_get(request, "key"));
    const pair *found = i >= 0 && live.pairs[i].revision > 0 ? &live.pairs[i] : NULL;
    scripted_read();
    return found == NULL ? json_pack("{s:{}}", "response_range")
                         : json_pack("{s:{s:[{s:o, s:o}]}}", "response_range", "kvs",
                                     "mod_revision", unsigned_text((uint64_t)found->revision),
                                     "value", etcd_base64(found->text, strlen(found->text)));
}

static bool holds(const json_t *compare) {
    char text[ETCD_RECORD_SIZE];
    size_t length;
    const pair *found = &live.pairs[pair_of(json_object_get(compare, "key"))];
    const char *revision = json_string_value(json_object_get(compare, "modRevision"));
    if (revision != NULL) {
        return found->revision == atoll(revision);
    }
    return etcd_plain(text, sizeof text, &length, json_object_get(compare, "value")) &&
           strcmp(text, found->text) == 0;
}

static void put(const json_t *request) {
    const int i = pair_of(json_object_get(request, "key"));
    size_t length;
    assert_true(etcd_plain(live.pairs[i].text, sizeof live.pairs[i].text, &length,
                           json_object_get(request, "value")));
    live.pairs[i].revision = live.revision;
    if (i >= MARK_PAIRS) {
        scripted_raise((i - MARK_PAIRS) / KEYS, atoll(live.pairs[i].text));
    }
}

/* Carries out a transaction, and returns its answer. */
static json_t *carry_out(const char *body) {
    json_t *request = json_loads(body, 0, NULL), *responses = json_array(), *item;
    size_t i;
    bool done = true, writes = false;
    if (request == NULL) { /* jansson leaves something out if it lacks memory for it */
        json_decref(responses);
        return json_pack("{s:s, s:i}", "error", "invalid character", "code", CODE_INVALID);
    }
    json_array_foreach(json_object_get(request, "compare"), i, item) {
        done = done && (holds(item) || !compares);
    }
    json_array_foreach(json_object_get(request, "success"), i, item) {
        const json_t *range_of_it = json_object_get(item, "requestRange"),
                     *put_of_it = json_object_get(item, "requestPut");
        live.revision += done && put_of_it != NULL && !writes;
        writes |= put_of_it != NULL;
        if (range_of_it != NULL) {
            json_array_append_new(responses, range(range_of_it));
        } else if (done) {
            put(put_of_it);
        }
    }
    json_decref(request);
    json_t *answer = header();
    json_object_set_new(answer, "succeeded", json_boolean(done));
    json_object_set_new(answer, "responses", responses);
    return answer;
}

static json_t *list_members(void) {
    json_t *answer = header(), *members = json_array();
    for (int i = 0; i < MEMBERS && live.members[i] != 0; i++) {
        json_array_append_new(members, json_pack("{s:o}", "ID", unsigned_text(live.members[i])));
    }
    json_object_set_new(answer, "members", members);
    return answer;
}

static void server_deliver(void) {
    if (late_count > 0) {
        const int i = (int)(chance() % (unsigned)late_count);
        json_decref(carry_out(late[i]));
        memcpy(late[i], late[--late_count], REQUEST);
    }
}

static void server_forget(void) {
    late_count = 0;
}

static void break_connections(bool all) {
    for (int i = 0; i < CURLS; i++) {
        curls[i].connected &= !all && ONE_IN(3); /* else a proxy keeps it */
    }
}

/* A new leader. */
static void server_restart(void) {
    live.term++;
    break_connections(false);
}

static void server_save(void) {
    saved = live;
}

static void draw_members(void) {
    for (int i = 0; i < MEMBERS; i++) {
        live.members[i] = ++ids;
    }
}

/* Does the copy's record of the store show a restore with the same name, whose terms begin again? Or
 * that one member went on without the other two? As the manual says. */
static bool is_noticed(bool by_term) {
    char members[70];
    unsigned long long term = 0;
    sscanf(saved.pairs[0].text, "%*s %*s %llu", &term);
    snprintf(members, sizeof members, "%" PRIu64 ",%" PRIu64 ",%" PRIu64, saved.members[0],
             saved.members[1], saved.members[2]);
    return by_term ? term >= FIRST_TERM : strstr(saved.pairs[0].text, members) != NULL;
}

/* Restored as another cluster, or as the same one, or with --force-new-cluster, which shows on a new
 * connection. */
static void server_go_back(void) {
    const cluster before = live;
    const uint64_t kind = chance() % 3;
    const bool same = kind == 1 && is_noticed(true), alone = kind == 2 && is_noticed(false);
    live = saved;
    live.id = same || alone ? before.id : ++ids;
    live.term = alone ? before.term + 1 : 2;
    if (alone) {
        live.members[1] = live.members[2] = 0;
    } else {
        draw_members();
    }
    break_connections(alone);
}

static void server_new(void) {
    memset(&live, 0, sizeof live);
    live.id = 1;
    live.term = FIRST_TERM;
    live.revision = 1;
    late_count = 0;
    draw_members();
    break_connections(true);
}

static int64_t server_mark(int ns, int key) {
    return atoll(live.pairs[MARK_PAIRS + ns * KEYS + key].text);
}

/* ---- libcurl --------------------------------------------------------------------------------- */

static CURL *lie_make(void) {
    int i = 0;
    while (curls[i].used) {
        i++;
        assert_true(i < CURLS);
    }
    curls[i] = (lie_curl){.used = true};
    return (CURL *)&curls[i];
}

static void lie_clean(CURL *curl) {
    ((lie_curl *)curl)->used = false;
}

static CURLcode lie_set(CURL *curl, CURLoption option, uintptr_t value) {
    lie_curl *self = (lie_curl *)curl;
    self->call = option == CURLOPT_WRITEDATA ? (void *)value : self->call;
    return CURLE_OK;
}

static CURLcode lie_info(const CURL *curl, CURLINFO info, long *out) {
    const lie_curl *self = (const lie_curl *)curl;
    *out = info == CURLINFO_NUM_CONNECTS ? self->connects : self->status;
    return CURLE_OK;
}

enum fate { ANSWERED, LOST, LATER, UNHEARD, NO_LEADER, DOUBLED, UNREACHED, FATES };

static enum fate next_fate = ANSWERED; /* without chance */
static int in_cluster;                 /* this deep */

static CURLcode perform(CURL *curl) {
    lie_curl *self = (lie_curl *)curl;
    etcd_call *call = self->call;
    const enum fate fate = faults && ONE_IN(8) ? (enum fate)(chance() % FATES) : next_fate;
    scripted_disturb();
    self->status = 0;
    self->connects = !self->connected;
    if (fate == UNREACHED && !self->connected) {
        return CURLE_COULDNT_CONNECT;
    }
    self->connected = true;
    assert_int_equal(begin_request(call, NULL, NULL, 0, 0), CURL_PREREQFUNC_OK);
    const bool lists = strcmp(call->body, "{}") == 0;
    json_t *answer = NULL;
    if (fate == LATER && late_count < LATE && !lists) {
        snprintf(late[late_count++], REQUEST, "%s", call->body);
    } else if (fate == NO_LEADER) {
        answer = json_pack("{s:s, s:i}", "error", "etcdserver: no leader", "code", 14);
    } else if (fate != LOST && fate != LATER) {
        answer = lists ? list_members() : carry_out(call->body);
    }
    if (fate == DOUBLED && !lists) { /* by a proxy, whose first answer is lost */
        json_decref(answer);
        answer = carry_out(call->body);
    }
    scripted_disturb();
    if (answer == NULL || fate == UNHEARD) {
        json_decref(answer);
        self->connected = self->connected && ONE_IN(2);
        return self->connected ? CURLE_OPERATION_TIMEDOUT : CURLE_RECV_ERROR;
    }
    char *text = json_dumps(answer, 0);
    const bool refused = json_object_get(answer, "code") != NULL;
    json_decref(answer);
    assert_int_equal(take_answer(text, 1, strlen(text), call), strlen(text));
    free(text);
    self->status = fate == NO_LEADER ? 503 : refused ? 400 : 200;
    return CURLE_OK;
}

static int requests, failing_request; /* this one gets no answer */

static CURLcode lie_perform(CURL *curl) {
    in_cluster++;
    requests++;
    const CURLcode code = requests == failing_request ? CURLE_OPERATION_TIMEDOUT : perform(curl);
    in_cluster--;
    return code;
}

static void *driver_handle(void) {
    void *self = calloc(1, sizeof(etcd_store));
    module_link *link = self;
    assert_non_null(self);
    assert_int_equal(module_link_read(link, "etcd://h", NULL, NULL), FIRN_OK);
    assert_int_equal(set_up(self, NULL), FIRN_OK);
    link->engine = &engine;
    link->socket = -1;
    return self;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static int begin_program(void **state) {
    compares = tells = true;
    return start_over(state);
}

static int foreign_is_done(void *self, const firn_records *seen, firn_records *next, int which,
                           firn_verb verb, firn_error *error) {
    const int code = etcd_write(self, seen, next, which, verb, error);
    return code == FIRN_WRITE_FOREIGN ? FIRN_OK : code;
}

static void a_write_to_another_cluster_is_found(void **state) {
    firn_driver driver = firn_store_driver;
    (void)state;
    driver.write = foreign_is_done;
    finds(&driver);
}

static void a_hidden_loss_is_found(void **state) {
    (void)state;
    tells = false;
    finds(&firn_store_driver);
}

static void a_missing_comparison_is_found(void **state) {
    (void)state;
    compares = false;
    finds(&firn_store_driver);
}

static json_t *range_with(int64_t revision, const char *text) {
    return text == NULL
               ? json_pack("{s:{}}", "response_range")
               : json_pack("{s:{s:[{s:o, s:o}]}}", "response_range", "kvs", "mod_revision",
                           etcd_number(revision), "value", etcd_base64(text, strlen(text)));
}

/* The records that an answer has; false: they are not firn's. */
static bool taken_at(int64_t revision, firn_records *out, const char *own, const char *ns,
                     const char *mark, const char *all) {
    static etcd_store store;
    json_t *answer = json_pack("{s:[o, o, o, o]}", "responses", range_with(revision, own),
                               range_with(revision * 12 / 11, ns),
                               range_with(revision * 13 / 11, mark), range_with(revision, all));
    memset(out, 0, sizeof *out);
    const bool right = take_records(&store, out, answer);
    json_decref(answer);
    return right;
}

static bool taken(firn_records *out, const char *own, const char *ns, const char *mark,
                  const char *all) {
    return taken_at(11, out, own, ns, mark, all);
}

static void records_are_those_of_the_answer(void **state) {
    firn_records out;
    (void)state;
    assert_true(
        taken(&out, "3 77 5 9 1,2", "7 2 a layout", "12 18446744073709551615 a note", NULL));
    assert_true(out.fresh && out.known && out.ns_known && out.key_known);
    assert_true(out.losses == 3 && out.origin == 9 && out.ns_losses == 2 && out.floor == 7);
    assert_true(out.mark.high == 12 && out.mark.grant == UINT64_MAX && out.stamp == 13);
    assert_true(!out.all_new && out.shut == NULL);
    assert_string_equal(out.layout, "a layout");
    assert_string_equal(out.note, "a note");
    const etcd_records own = etcd_own(&out);
    assert_true(own.store_revision == 11 && own.ns_revision == 12 && own.mark_revision == 13);
    assert_true(own.cluster == 77 && own.term == 5 && own.voters.count == 2);
    assert_true(own.voters.ids[0] == 1 && own.voters.ids[1] == 2);
    assert_true(taken(&out, "3 77 5 9", NULL, NULL, "0 3 integer"));
    assert_true(out.all_new && out.shut == NULL && !out.ns_known && !out.key_known);
    assert_int_equal(etcd_own(&out).voters.count, 0);
    assert_true(taken(&out, "3 77 5 9", NULL, NULL, "0 2 closed (a test): integer"));
    assert_false(out.all_new);
    assert_string_equal(out.shut, "closed (a test): integer");
    assert_true(taken(&out, "3 77 5 9", NULL, NULL, NULL) && out.shut == NULL);
    assert_true(taken_at(1, &out, "3 77 5 9", NULL, NULL, "0 3 closed (a test): integer"));
    assert_true(out.all_new && out.shut != NULL);
    assert_int_equal(taken_at(1, &out, "3 77 5 9", "0 3 l", "1 1 n", "0 3 integer"), true);
    assert_true(out.losses == 3 && out.ns_losses == 3 && out.mark.high == 1);
    assert_true(out.known && out.ns_known && out.key_known && out.all_new);
    assert_true(taken(&out, NULL, NULL, NULL, NULL));
    assert_true(!out.known && !out.all_new && out.stamp == 0 && out.losses == 0);
    assert_null(out.shut);
    assert_string_equal(out.layout, "");
    assert_string_equal(out.note, "");
}

static void records_at_their_bounds(void **state) {
    char text[FIRN_LAYOUT_SIZE + 20];
    firn_records out;
    (void)state;
    assert_true(taken(&out, "9223372036854775806 1 1 1", NULL, NULL, NULL));
    assert_false(taken(&out, "9223372036854775807 1 1 1", NULL, NULL, NULL));
    assert_true(taken(&out, NULL, "4611686018427387904 9223372036854775807 l", NULL, NULL));
    assert_false(taken(&out, NULL, "4611686018427387905 0 l", NULL, NULL));
    assert_false(taken(&out, NULL, "0 9223372036854775808 l", NULL, NULL));
    assert_true(taken(&out, NULL, NULL, "4611686018427387904 0 n", NULL));
    assert_false(taken(&out, NULL, NULL, "4611686018427387905 0 n", NULL));
    memset(text, 't', sizeof text);
    memcpy(text, "0 0 ", 4);
    for (int key = 0; key < 2; key++) {
        const size_t most = 4 + (key ? FIRN_NOTE_SIZE : FIRN_LAYOUT_SIZE) - 1;
        text[most] = '\0';
        assert_true(taken(&out, NULL, key ? NULL : text, key ? text : NULL, NULL));
        text[most] = 't';
        text[most + 1] = '\0';
        assert_false(taken(&out, NULL, key ? NULL : text, key ? text : NULL, NULL));
        text[most + 1] = 't';
    }
}

static void records_that_are_damaged(void **state) {
    static const char *const texts[] = {"",      "3",       "x 1 1 1",   "3 x 1 1",    "3 1 x 1",
                                        "3 1 1", "3 1 1 x", "3 1 1 1 x", "3 1 1 1 1,x"};
    firn_records out;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_false(taken(&out, texts[i], NULL, NULL, NULL));
    }
    assert_false(taken(&out, NULL, "x 0 l", NULL, NULL) || taken(&out, NULL, "0 x l", NULL, NULL));
    assert_false(taken(&out, NULL, NULL, "x 0 n", NULL) || taken(&out, NULL, NULL, "0 x n", NULL));
    assert_false(taken(&out, NULL, NULL, NULL, "0 x l"));
    assert_false(
        taken(&out, "3 1 1 1 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", NULL, NULL, NULL));
    assert_true(taken(&out, "3 1 1 1 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16", NULL, NULL, NULL));
    assert_int_equal(etcd_own(&out).voters.count, 16);
}

/* An answer with a pair whose revision and value are these; NULL: absent. */
static bool pair_taken(const char *revision, const char *value) {
    static etcd_store store;
    firn_records out = {0};
    json_t *found = json_object();
    if (revision != NULL) {
        json_object_set_new(found, "mod_revision", json_string(revision));
    }
    if (value != NULL) {
        json_object_set_new(found, "value", json_string(value));
    }
    json_t *answer =
        json_pack("{s:[{s:{s:[o]}}, o, o, o]}", "responses", "response_range", "kvs", found,
                  range_with(0, NULL), range_with(0, NULL), range_with(0, NULL));
    const bool right = take_records(&store, &out, answer);
    assert_int_equal(right, out.known);
    json_decref(answer);
    return right;
}

static void records_of_a_broken_answer(void **state) {
    static const char good[] = "MyA3NyA1IDk="; /* 3 77 5 9 */
    static etcd_store store;
    char longest[2 * ETCD_RECORD_SIZE];
    firn_records out = {0};
    (void)state;
    assert_true(pair_taken("1", good));
    assert_false(pair_taken(NULL, good) || pair_taken("0", good) || pair_taken("x", good));
    assert_false(pair_taken("9223372036854775808", good));
    assert_false(pair_taken("1", NULL) || pair_taken("1", "") || pair_taken("1", "?"));
    memset(longest, 'A', sizeof longest);
    longest[sizeof longest - 4] = '\0';
    assert_false(pair_taken("1", longest));
    for (int count = 0; count < 4; count++) { /* of the four ranges */
        json_t *responses = json_array(), *answer = json_pack("{s:o}", "responses", responses);
        for (int i = 0; i < 4; i++) {
            json_array_append_new(responses, i == count ? json_object() : range_with(0, NULL));
        }
        assert_false(take_records(&store, &out, answer));
        json_decref(answer);
    }
    assert_false(take_records(&store, &out, NULL));
}

static void records_are_texts(void **state) {
    const char *at = "12";
    char out[8];
    size_t length = 0;
    uint64_t values[2];
    json_t *texts[] = {json_string("MTI="), json_string("?"), json_string(""), json_integer(1),
                       json_string("MQ==")};
    (void)state;
    assert_false(next_numbers(values, 1, &at)); /* a blank follows a number */
    at = "12 7 x";
    assert_true(next_numbers(values, 2, &at) && values[0] == 12 && values[1] == 7);
    assert_string_equal(at, "x");
    assert_true(etcd_plain(out, 3, &length, texts[0]) && length == 2);
    assert_string_equal(out, "12");
    assert_false(etcd_plain(out, 2, &length, texts[0]));
    assert_true(etcd_plain(out, 2, &length, texts[4]) && length == 1);
    assert_string_equal(out, "1");
    assert_false(etcd_plain(out, sizeof out, &length, texts[1]));
    assert_false(etcd_plain(out, 1, &length, texts[2]));
    assert_false(etcd_plain(out, sizeof out, &length, texts[3]));
    assert_false(etcd_plain(out, sizeof out, &length, NULL));
    for (int i = 0; i < 5; i++) {
        json_decref(texts[i]);
    }
}

static bool head_taken(etcd_store *store, const char *id, const char *term, const char *revision) {
    json_t *answer = json_pack("{s:{s:s*, s:s*, s:s*}}", "header", "cluster_id", id, "raft_term",
                               term, "revision", revision);
    assert_non_null(answer);
    const bool right = etcd_take_head(store, answer);
    json_decref(answer);
    return right;
}

static void records_have_a_head(void **state) {
    etcd_store *store = calloc(1, sizeof *store);
    json_t *none = json_object();
    (void)state;
    assert_non_null(store);
    assert_true(head_taken(store, "7", "2", "9"));
    assert_true(store->cluster == 7 && store->term == 2 && store->revision == 9);
    assert_false(etcd_take_head(store, none));
    assert_false(head_taken(store, "0", "2", "9") || head_taken(store, NULL, "2", "9"));
    assert_false(head_taken(store, "x", "2", "9") || head_taken(store, "7", "x", "9"));
    assert_false(head_taken(store, "7", "2", "0") || head_taken(store, "7", "2", "x"));
    assert_false(head_taken(store, "7", NULL, "9") || head_taken(store, "7", "0", "9"));
    assert_false(head_taken(store, "7", "2", "9223372036854775808"));
    assert_true(store->cluster == 7 && store->revision == 9);
    assert_true(head_taken(store, "7", "2", "1") && !store->suspect); /* nothing was reserved */
    store->reserved = true;
    assert_true(head_taken(store, "7", "1", "1") && head_taken(store, "7", "2", "9"));
    assert_false(store->suspect);
    assert_true(head_taken(store, "7", "2", "8") && store->suspect);
    store->suspect = false;
    assert_true(head_taken(store, "8", "2", "9") && store->suspect);
    json_decref(none);
    free(store);
}

/* The cluster that answers has ID 7, term 5 and perhaps other members than the store's record. */
static void records_that_show_a_loss(void **state) {
    static const struct {
        bool suspect, known;
        uint64_t cluster, term;
        voters recorded, listed;
        bool lost, changed;
    } cases[] = {
        {false, true, 7, 5, {{1, 2, 3}, 3}, {{1, 2, 3}, 3}, false, false},
        {true, true, 7, 5, {{1, 2, 3}, 3}, {{1, 2, 3}, 3}, true, false},
        {true, false, 0, 0, {{0}, 0}, {{1, 2, 3}, 3}, true, false},
        {false, false, 0, 9, {{4, 5}, 2}, {{1, 2, 3}, 3}, false, false},
        {false, true, 8, 5, {{1, 2, 3}, 3}, {{1, 2, 3}, 3}, true, false},
        {false, true, 7, 6, {{1, 2, 3}, 3}, {{1, 2, 3}, 3}, true, false},
        {false, true, 7, 4, {{1, 2, 3}, 3}, {{1, 2, 3}, 3}, false, true},
        {false, true, 7, 5, {{1, 2, 4}, 3}, {{1, 2, 3}, 3}, false, true},
        {false, true, 7, 5, {{1, 4, 5}, 3}, {{1, 2, 3}, 3}, true, true},
        {false, true, 7, 5, {{1, 2}, 2}, {{1, 2, 3}, 3}, false, true},
        {false, true, 7, 5, {{0}, 0}, {{1, 2, 3}, 3}, false, true},
        {false, true, 7, 5, {{4, 5, 6}, 3}, {{0}, 0}, false, false}, /* not listed */
        {false, true, 7, 5, {{2}, 1}, {{1}, 1}, false, true},
    };
    etcd_store *store = calloc(1, sizeof *store);
    (void)state;
    assert_non_null(store);
    store->cluster = 7;
    store->term = 5;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        firn_records seen = {.known = cases[i].known};
        const etcd_records own = {.store_revision = cases[i].known,
                                  .cluster = cases[i].cluster,
                                  .term = cases[i].term,
                                  .voters = cases[i].recorded};
        memcpy(seen.own, &own, sizeof own);
        store->suspect = cases[i].suspect;
        store->voters = cases[i].listed;
        assert_int_equal(etcd_lost(store, &seen), cases[i].lost);
        assert_int_equal(has_changed(store, &own), cases[i].changed);
    }
    free(store);
}

static void assert_pair(int i, const char *text) {
    assert_string_equal(live.pairs[i].text, text);
}

static void records_of_each_step(void **state) {
    char text[200];
    etcd_store *self = steps_begin();
    const int mark = MARK_PAIRS + 3; /* the second key of the second namespace */
    (void)state;
    compares = tells = true;
    assert_int_equal(step(self, FIRN_VERB_RESERVE, 7, "one", 5, (firn_mark){30, UINT64_MAX}),
                     FIRN_OK);
    assert_string_equal(passed,
                        " reserve.before reserve.committed"); /* sent: see calls_etcd_test */
    snprintf(text, sizeof text, "0 1 %d %" PRIu64 " %" PRIu64 ",%" PRIu64 ",%" PRIu64, FIRST_TERM,
             step_next->origin, live.members[0], live.members[1], live.members[2]);
    assert_true(step_next->origin != 0 && step_next->known && step_next->stamp == 2);
    assert_pair(0, text);
    assert_pair(NS_PAIRS + 1, "5 0 one");
    assert_pair(mark, "30 18446744073709551615 a client");
    assert_true(self->reserved && !self->suspect);
    /* the key alone: the other records stay */
    assert_int_equal(step(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, "one", 5, (firn_mark){34, 3}),
                     FIRN_OK);
    assert_pair(mark, "34 3 a client");
    assert_int_equal(live.pairs[0].revision, 2);
    assert_int_equal(live.pairs[NS_PAIRS + 1].revision, 2);
    assert_int_equal(live.pairs[mark].revision, 3);
    const etcd_records own = etcd_own(step_next);
    assert_true(own.store_revision == 2 && own.ns_revision == 2 && own.mark_revision == 3);
    /* the store's record is written with a new term, or with other members */
    live.term++;
    assert_int_equal(step(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, "one", 5, (firn_mark){35, 3}),
                     FIRN_OK);
    assert_int_equal(live.pairs[0].revision, 4);
    live.members[0] = ++ids;
    assert_int_equal(etcd_look(self, NULL), FIRN_OK);
    assert_int_equal(step(self, FIRN_VERB_GIVE_BACK, FIRN_RECORD_KEY, "one", 5, (firn_mark){34, 0}),
                     FIRN_OK);
    assert_int_equal(live.pairs[0].revision, 5);
    assert_pair(mark, "34 0 a client");
    assert_true(self->reserved);
    firn_records seen = step_names, next;
    requests = 0;
    assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
    assert_int_equal(requests, 1);
    /* a client that knows an older list than the record has looks again */
    self->voters.ids[0]--;
    seen = step_names;
    assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
    assert_int_equal(requests, 3);
    const voters recorded = etcd_own(&seen).voters;
    assert_int_equal(etcd_gone(&self->voters, &recorded), 0);
    /* each record is compared, and the mark's text */
    for (int i = 0; i < 4; i++) {
        seen = next = *step_next;
        pair *compared = &live.pairs[i == 0 ? 0 : i == 1 ? NS_PAIRS + 1 : mark];
        const pair before = *compared;
        next.mark = (firn_mark){50, 1};
        next.note = "";
        i < 3 ? (void)compared->revision++ : (void)strcpy(compared->text, "34 1 a client");
        assert_int_equal(
            firn_store_driver.write(self, &seen, &next, FIRN_RECORD_KEY, FIRN_VERB_RESERVE, NULL),
            FIRN_WRITE_CHANGED);
        *compared = before;
    }
    /* a note is cut */
    write_long_note(self);
    assert_int_equal(strlen(live.pairs[mark].text), strlen("34 0 ") + FIRN_NOTE_SIZE - 1);
    /* an answer without a head; no answer */
    assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
    next = seen;
    headless = true;
    assert_int_equal(
        firn_store_driver.write(self, &seen, &next, FIRN_RECORD_KEY, FIRN_VERB_RESERVE, NULL),
        FIRN_EUNKNOWN);
    assert_int_equal(firn_store_driver.read(self, &next, true, NULL), FIRN_ESTORE);
    headless = false;
    const int64_t before = live.revision;
    for (int fate = LOST; fate < FATES; fate++) {
        assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, NULL),
                         FIRN_OK);
        assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
        next = seen;
        next_fate = (enum fate)fate;
        break_connections(true);
        const int code =
            firn_store_driver.write(self, &seen, &next, FIRN_RECORD_KEY, FIRN_VERB_RESERVE, NULL);
        next_fate = ANSWERED;
        assert_int_equal(code, fate == UNREACHED || fate == NO_LEADER ? FIRN_ESTORE
                               : fate == DOUBLED                      ? FIRN_WRITE_CHANGED
                                                                      : FIRN_EUNKNOWN);
        self->link.retry = (module_retry){0};
    }
    server_forget();
    assert_int_equal(live.revision, before + 2); /* unheard, and doubled */
    /* the answer of another cluster */
    assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
    next = seen;
    live.id++;
    assert_int_equal(
        firn_store_driver.write(self, &seen, &next, FIRN_RECORD_KEY, FIRN_VERB_RESERVE, NULL),
        FIRN_WRITE_FOREIGN);
    assert_true(self->suspect && etcd_lost(self, &seen));
    etcd_forget(self);
    assert_true(!self->suspect && !self->reserved);
    /* a loss is written, with this cluster */
    assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
    assert_true(etcd_lost(self, &seen)); /* the record has the other cluster */
    next = seen;
    next.losses++;
    self->suspect = true;
    assert_int_equal(
        firn_store_driver.write(self, &seen, &next, FIRN_RECORD_STORE, FIRN_VERB_RESERVE, NULL),
        FIRN_OK);
    assert_true(!self->suspect && !self->reserved && !etcd_lost(self, &next));
    snprintf(text, sizeof text, "1 %" PRIu64 " ", live.id);
    assert_int_equal(strncmp(live.pairs[0].text, text, strlen(text)), 0);
    /* the first write is carried out by another cluster */
    server_new();
    assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, NULL), FIRN_OK);
    seen = step_names;
    assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
    assert_false(seen.known || self->suspect);
    next = seen;
    live.id++;
    assert_int_equal(firn_store_driver.write(self, &seen, &next, 7, FIRN_VERB_RESERVE, NULL),
                     FIRN_WRITE_FOREIGN);
    assert_false(self->suspect);
    module_close(self);
}

/* The store's record has the members that were listed, or else those that it had. */
static void records_have_members(void **state) {
    etcd_store *self = steps_begin();
    char text[80];
    (void)state;
    compares = tells = true;
    live.members[1] = 0;
    const uint64_t alone = live.members[0];
    assert_int_equal(step(self, FIRN_VERB_RESERVE, 7, "one", 5, (firn_mark){30, 3}), FIRN_OK);
    for (int listed = 1; listed >= 0; listed--) {
        snprintf(text, sizeof text, "0 1 %d %" PRIu64 " %" PRIu64, FIRST_TERM, step_next->origin,
                 alone);
        assert_pair(0, text);
        self->voters.count = 0;
        assert_int_equal(step(self, FIRN_VERB_RESERVE, 7, "one", 5, (firn_mark){31, 3}), FIRN_OK);
    }
    /* who carried out a write on a new connection is asked afterwards */
    firn_records seen = step_names, next;
    for (int i = 0; i < 3; i++) {
        firn_error error = {0};
        self->link.retry = (module_retry){0};
        assert_int_equal(firn_store_driver.begin(self, &seen, FIRN_VERB_RESERVE, NULL), FIRN_OK);
        assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
        next = seen;
        if (i > 0) {
            break_connections(true);
        }
        requests = 0;
        failing_request = i == 2 ? 2 : 0;
        const int64_t before = live.revision;
        assert_int_equal(
            firn_store_driver.write(self, &seen, &next, FIRN_RECORD_KEY, FIRN_VERB_RESERVE, &error),
            i == 2 ? FIRN_EUNKNOWN : FIRN_OK);
        assert_int_equal(error.code, i == 2 ? FIRN_EUNKNOWN : FIRN_OK);
        assert_int_equal(requests, i == 0 ? 1 : 2);
        assert_int_equal(live.revision, before + 1);
        failing_request = 0;
        seen = step_names;
    }
    module_close(self);
}

/* Its process was forked at a failpoint of a write. */
static void fork_at(void *self, const char *name) {
    etcd_store *store = self;
    store->link.process += strcmp(name, passed) == 0;
}

static void records_of_a_forked_child(void **state) {
    static const char *const points[] = {"reserve.before", "reserve.committed"};
    etcd_store *self = steps_begin();
    (void)state;
    compares = tells = true;
    assert_int_equal(step(self, FIRN_VERB_RESERVE, 7, "one", 5, (firn_mark){30, 3}), FIRN_OK);
    self->link.options.failpoint = fork_at;
    self->link.options.failpoint_self = self;
    for (int i = 0; i < 2; i++) {
        firn_records seen = step_names, next;
        firn_error error = {0};
        assert_int_equal(firn_store_driver.begin(self, &seen, FIRN_VERB_RESERVE, NULL), FIRN_OK);
        assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
        next = seen;
        snprintf(passed, sizeof passed, "%s", points[i]);
        const int64_t before = live.revision, process = self->link.process;
        assert_int_equal(
            firn_store_driver.write(self, &seen, &next, FIRN_RECORD_KEY, FIRN_VERB_RESERVE, &error),
            FIRN_EFORKED);
        assert_int_equal(error.code, FIRN_EFORKED);
        assert_int_equal(live.revision, before + i);
        self->link.process = process;
    }
    module_close(self);
}

static long memory_left = LONG_MAX; /* then one allocation of the driver fails */

static void *allocate(size_t size) {
    if (in_cluster == 0 && memory_left-- == 0) {
        return NULL;
    }
    return malloc(size);
}

/* A write that lacks memory at any place is not done, or it is whole. */
static void records_without_memory(void **state) {
    void *self = steps_begin();
    int code = FIRN_ESTORE, refused = -1;
    (void)state;
    compares = tells = true;
    assert_int_equal(step(self, FIRN_VERB_RESERVE, 7, "one", 5, (firn_mark){30, 7}), FIRN_OK);
    const firn_records seen = *step_next;
    json_set_alloc_funcs(allocate, free);
    for (; code != FIRN_OK; refused++) {
        firn_records next = seen;
        const int64_t before = live.revision;
        next.losses = 1;
        next.floor = 6;
        next.mark.high = 31;
        next.note = "";
        memory_left = refused + 1;
        code = firn_store_driver.write(self, &seen, &next, 7, FIRN_VERB_RESERVE, NULL);
        memory_left = LONG_MAX;
        assert_true(code == FIRN_OK || code == FIRN_EMEMORY || code == FIRN_EUNKNOWN ||
                    code == FIRN_ESTORE);
        const bool whole = strncmp(live.pairs[0].text, "1 ", 2) == 0 &&
                           strcmp(live.pairs[NS_PAIRS + 1].text, "6 0 one") == 0 &&
                           strcmp(live.pairs[MARK_PAIRS + 3].text, "31 7 ") == 0;
        assert_int_equal(live.revision > before, whole);
        assert_true(whole || code == FIRN_EMEMORY || code == FIRN_ESTORE);
        code = whole ? FIRN_OK : code;
    }
    json_set_alloc_funcs(malloc, free);
    assert_true(refused > 40);
    module_close(self);
}

static void records_are_at_a_url(void **state) {
    static const url_case urls[] = {
        {"etcd://h", NULL},
        {"etcd://h:1,g", NULL},
        {"etcd://", "names no host"},
        {"etcd://h/p", "or a path"},
        {"etcd://a%20b", "valid host"},
        {"etcd://g,a%2Fb", "valid host"},
        {"etcd://h?tls=1", NULL},
        {"etcd://h?ca=/x", "tls=1"},
        {"etcd://h?table=x", "table"},
    };
    static const struct {
        const char *url, *user, *password; /* of the store, with ETCDCTL_USER=u:p */
    } logins[] = {{"etcd://h", "u", "p"}, {"etcd://v@h", "v", NULL}, {"etcd://v:q@h", "v", "q"}};
    char url[300];
    (void)state;
    unsetenv("ETCDCTL_USER");
    unsetenv("ETCDCTL_PASSWORD");
    take_urls(&engine, urls, sizeof urls / sizeof *urls);
    for (int length = 255; length <= 256; length++) {
        snprintf(url, sizeof url, "etcd://%0*d", length, 1);
        take_urls(&engine, &(url_case){url, length > 255 ? "valid host" : NULL}, 1);
    }
    for (int length = ETCD_PREFIX_MOST; length <= ETCD_PREFIX_MOST + 1; length++) {
        snprintf(url, sizeof url, "etcd://h?prefix=%0*d", length, 1);
        take_urls(&engine, &(url_case){url, length > ETCD_PREFIX_MOST ? "100 bytes" : NULL}, 1);
    }
    setenv("ETCDCTL_USER", "u:p", 1);
    for (size_t i = 0; i < sizeof logins / sizeof *logins; i++) {
        etcd_store *store = take_url(&engine, &(url_case){logins[i].url, NULL});
        assert_string_equal(store->prefix, "firn/");
        assert_string_equal(store->link.url.user, logins[i].user);
        assert_int_equal(store->link.url.password != NULL, logins[i].password != NULL);
        if (logins[i].password != NULL) {
            assert_string_equal(store->link.url.password, logins[i].password);
        }
        module_close(store);
    }
    setenv("ETCDCTL_USER", "u", 1);
    setenv("ETCDCTL_PASSWORD", "r", 1);
    etcd_store *store = take_url(&engine, &(url_case){"etcd://h?prefix=x", NULL});
    assert_string_equal(store->prefix, "x");
    assert_string_equal(store->link.url.user, "u");
    assert_string_equal(store->link.url.password, "r");
    module_close(store);
    setenv("ETCDCTL_USER", "", 1);
    store = take_url(&engine, &(url_case){"etcd://h", NULL});
    assert_null(store->link.url.user);
    module_close(store);
    unsetenv("ETCDCTL_USER");
    unsetenv("ETCDCTL_PASSWORD");
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_those_of_the_answer),
        cmocka_unit_test(records_at_their_bounds),
        cmocka_unit_test(records_that_are_damaged),
        cmocka_unit_test(records_of_a_broken_answer),
        cmocka_unit_test(records_are_texts),
        cmocka_unit_test(records_have_a_head),
        cmocka_unit_test(records_that_show_a_loss),
        cmocka_unit_test(records_of_each_step),
        cmocka_unit_test(records_have_members),
        cmocka_unit_test(records_of_a_forked_child),
        cmocka_unit_test(records_without_memory),
        cmocka_unit_test(records_are_at_a_url),
        cmocka_unit_test_setup(answers_are_torn, begin_program),
        cmocka_unit_test_setup(a_guess_is_found, begin_program),
        cmocka_unit_test_setup(a_write_to_another_cluster_is_found, begin_program),
        cmocka_unit_test_setup(a_hidden_loss_is_found, begin_program),
        cmocka_unit_test_setup(a_missing_comparison_is_found, begin_program),
    };
    scripted_choose(count, arguments);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
