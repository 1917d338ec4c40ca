/* SPDX-License-Identifier: MIT */
/* Namespaces that are closed (common/closing.h), on every engine: during reservations, and
 * while a store moves to another one and is killed at each of its writes. */
#include "short.h"
#include "stores.h"

#include "../common/closing.c"
#include "../common/closing_move.c"
#include "../common/errors.c"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#ifdef __SANITIZE_THREAD__
/* ZooKeeper's library writes addresses for its log into one buffer of all threads. */
__attribute__((visibility("default"))) const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void) {
    return "race:libzookeeper_mt.so\n";
}
#endif

#define CLOSED  "closed (for a test): " ROW
#define SHUT    "closed (for a test): integer"
#define WORKERS 4
#define LATEST  ((int64_t)1 << 40)

/* ---- short words ----------------------------------------------------------------------------- */

static int take(firn_store *store, const char *ns, const char *layout, const char *key,
                int64_t *first, firn_error *error) {
    static _Atomic uint64_t grant = 1;
    const firn_request request = {ns, layout, key, 10, 0, LATEST, grant++, "a note", 0};
    firn_mark held;
    return firn_store_reserve(store, &request, first, &held, error);
}

static int64_t taken(firn_store *store, const char *ns, const char *key) {
    firn_error error = {0};
    int64_t first = -1;
    if (take(store, ns, ROW, key, &first, &error) != FIRN_OK) {
        fail_msg("%s/%s: %s", ns, key, error.text);
    }
    return first;
}

static void refused(firn_store *store, const char *ns, const char *key, const char *words) {
    firn_error error = {0};
    int64_t first = -1;
    assert_int_equal(take(store, ns, ROW, key, &first, &error), FIRN_ESTORE);
    if (strstr(error.text, words) == NULL) {
        fail_msg("'%s' is not in: %s", words, error.text);
    }
}

static void relabelled(firn_store *store, const char *ns, const char *from, const char *to,
                       int64_t floor, int64_t stored) {
    firn_error error = {0};
    const firn_relabel change = {ns, from, to, floor};
    int64_t got = -1;
    if (firn_store_relabel(store, &change, &got, &error) != FIRN_OK) {
        fail_msg("%s: %s", ns, error.text);
    }
    assert_int_equal(got, stored);
}

static void not_relabelled(firn_store *store, const char *ns, const char *text, int code) {
    firn_error error = {0};
    const firn_relabel change = {ns, text, CLOSED, 0};
    int64_t got = -1;
    assert_int_equal(firn_store_relabel(store, &change, &got, &error), code);
    assert_true(strlen(error.text) > 10 && strlen(error.text) < sizeof error.text);
    assert_int_equal(got, -1);
}

/* The sum of all marks, and how many namespaces there are. */
typedef struct total {
    int64_t high;
    int spaces, empty;
    char last[FIRN_NS_SIZE];
} total;

static int count_one(void *context, const firn_holding *holding) {
    total *sum = context;
    assert_true(strcmp(sum->last, holding->ns) <= 0);
    sum->spaces += strcmp(sum->last, holding->ns) != 0;
    sum->empty += holding->key[0] == '\0';
    sum->high += holding->mark.high;
    snprintf(sum->last, sizeof sum->last, "%s", holding->ns);
    return 0;
}

static total total_of(firn_store *store) {
    firn_error error = {0};
    total sum = {0, 0, 0, ""};
    if (firn_store_list(store, NULL, count_one, &sum, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return sum;
}

/* ---- one namespace --------------------------------------------------------------------------- */

static void closed_refuses(void **state) {
    firn_store *store = store_of(state);
    int64_t first = -1;
    firn_error error;
    assert_int_equal(taken(store, "snow", "1"), 0);
    relabelled(store, "snow", ROW, CLOSED, 0, 0);
    relabelled(store, "snow", ROW, CLOSED, 0, 0); /* again */
    refused(store, "snow", "1", "namespace snow is closed (for a test)");
    refused(store, "snow", "2", "is closed");
    assert_int_equal(taken(store, "other", "1"), 0);
    assert_int_equal(take(store, "snow", CLOSED, "1", &first, &error), FIRN_OK);
    assert_int_equal(first, 10);
    relabelled(store, "snow", CLOSED, ROW, 100, 100);
    assert_int_equal(taken(store, "snow", "1"), 100);
    assert_int_equal(taken(store, "snow", "2"), 100);
    relabelled(store, "snow", ROW, CLOSED, 50, 100);
}

static void others_are_refused(void **state) {
    firn_store *store = store_of(state);
    not_relabelled(store, "snow", ROW, FIRN_ENAMESPACE); /* not known */
    taken(store, "snow", "1");
    not_relabelled(store, "snow", NULL, FIRN_ENAMESPACE);
    not_relabelled(store, "snow", "closed (another time): " ROW, FIRN_ENAMESPACE);
    assert_int_equal(taken(store, "snow", "1"), 10);
}

/* Writes that a change of layout has sent, by the failpoints. */
static int relabels_sent;

static void count_relabels(void *self, const char *name) {
    (void)self;
    relabels_sent += strcmp(name, "relabel.committed") == 0;
}

/* The first sending may be visible to all and on no disk: each repetition writes and waits again,
 * whether the namespace has marks or not. */
static void a_repeated_change_is_written(void **state) {
    const bench *b = *state;
    firn_store_options options = store_options();
    firn_store *again;
    firn_error error = {0};
    options.failpoint = count_relabels;
    taken(store_of(state), "snow", "1");
    relabelled(b->store, "snow", ROW, CLOSED, 0, 0);
    relabelled(b->store, "empty", NULL, CLOSED, 0, 0);
    assert_int_equal(firn_store_open(&again, b->url, &options, &error), FIRN_OK);
    relabels_sent = 0;
    for (int i = 1; i <= 3; i++) {
        relabelled(again, "snow", ROW, CLOSED, 0, 0);
        relabelled(again, "empty", NULL, CLOSED, 0, 0);
        assert_int_equal(relabels_sent, 2 * i);
    }
    relabelled(again, "snow", CLOSED, ROW, 0, 0);
    relabelled(again, "snow", CLOSED, ROW, 0, 0);
    assert_int_equal(relabels_sent, 8);
    firn_store_close(again);
    assert_int_equal(taken(b->store, "snow", "1"), 10);
}

/* The same layout, closed or open: nothing else is written. */
static void only_closes_and_opens(void **state) {
    static const char *const pairs[][2] = {
        {ROW, "0x0:1 time:41/ms node:10 sequence:12"},
        {ROW, "closed (for a test): integer"},
        {CLOSED, "integer"},
        {ROW, "closed (without an end"},
        {ROW, "claim=9..3 " ROW},
        {ROW, "claim=0..9 integer"},
        {NULL, "claim=0..9 " ROW},
        {NULL, ROW},
    };
    firn_store *store = store_of(state);
    firn_error error = {0};
    int64_t floor = -1;
    taken(store, "snow", "1");
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const firn_relabel change = {"snow", pairs[i][0], pairs[i][1], 0};
        assert_int_equal(firn_store_relabel(store, &change, &floor, &error), FIRN_EUSAGE);
        assert_non_null(strstr(error.text, "can be closed, opened or confined"));
    }
    assert_int_equal(floor, -1);
    assert_int_equal(taken(store, "snow", "1"), 10);
    relabelled(store, "snow", ROW, CLOSED, 0, 0);
    relabelled(store, "snow", CLOSED, "closed (again): " CLOSED, 0, 0);
    relabelled(store, "snow", "closed (again): " CLOSED, ROW, 0, 0);
    assert_int_equal(taken(store, "snow", "1"), 20);
}

static void new_names_are_shut(void **state) {
    firn_store *store = store_of(state);
    firn_error error;
    int64_t first = -1;
    assert_int_equal(taken(store, "known", "1"), 0);
    relabelled(store, ALL_NAMES, NULL, SHUT, 0, 0);
    refused(store, "new", "1", "is closed (for a test, with 'integer *')");
    assert_int_equal(taken(store, "known", "2"), 0);
    assert_int_equal(take(store, "new", CLOSED, "1", &first, &error), FIRN_OK);
    refused(store, "new", "1", "is closed");
    relabelled(store, "moved", NULL, CLOSED, 0, 0);
    relabelled(store, ALL_NAMES, SHUT, ALL_OPEN, 0, 0);
    assert_int_equal(taken(store, "newer", "1"), 0);
    refused(store, "moved", "1", "is closed");
}

static void empty_ones_are_listed(void **state) {
    firn_store *store = store_of(state);
    relabelled(store, "a", NULL, CLOSED, 0, 0);
    taken(store, "b", "1");
    taken(store, "b", "2");
    relabelled(store, "c", NULL, CLOSED, 0, 0);
    relabelled(store, "d", NULL, CLOSED, 0, 0);
    total sum = total_of(store);
    assert_int_equal(sum.spaces, 4);
    assert_int_equal(sum.empty, 3);
    assert_int_equal(sum.high, 20);
}

/* A record of a store that lost reservations does not show the reservations. */
static void doubt_is_refused(void **state) {
    firn_store *store = store_of(state);
    const bench *b = *state;
    firn_error error = {0};
    firn_mark held;
    int64_t first = -1;
    firn_request request = {"snow", ROW, "1", 10, 0, LATEST, 7, "", 110};
    taken(store, "snow", "1");
    taken(store, "moon", "1");
    assert_true(engine_or_file(b, "save"));
    assert_int_equal(reserve_soon(store, request, &first, &held, &error), FIRN_OK);
    taken(store, "snow", "1");
    assert_true(engine_or_file(b, "restore"));
    request.guard = 200;
    assert_int_equal(reserve_soon(store, request, &first, &held, &error), FIRN_OK);
    assert_int_equal(first, 200);
    not_relabelled(store, "moon", ROW, FIRN_EBACK);
    not_relabelled(store, ALL_NAMES, NULL, FIRN_EBACK);
    relabelled(store, "snow", ROW, CLOSED, 0, 200); /* its doubt is resolved */
}

static void declare_loss(firn_store *store) {
    relabelled(store, ALL_NAMES, "gone back", "gone back", 0, 0);
}

#define FORGOTTEN "closed (forgotten 2026-01-01): "

/* A namespace that an operator closed can be opened after a loss, or nothing could be done about
 * it: a closed one grants nothing, be it with a guard. The doubt stays, and so does the mark. */
static void a_forgotten_one_is_opened_in_doubt(void **state) {
    firn_store *store = store_of(state);
    firn_error error = {0};
    firn_mark held;
    int64_t first = -1;
    firn_request request = {"snow", ROW, "1", 10, 0, LATEST, 99, "", 0};
    const firn_relabel lower = {"snow", FORGOTTEN ROW, ROW, 0, true};
    taken(store, "snow", "1");
    taken(store, "moon", "1");
    assert_int_equal(take(store, ALL_NAMES, "integer", "1", &first, &error), FIRN_OK);
    relabelled(store, "snow", ROW, FORGOTTEN ROW, 7, 7);
    relabelled(store, "moon", ROW, CLOSED, 0, 0);
    relabelled(store, ALL_NAMES, "integer", FORGOTTEN "integer", 0, 0);
    declare_loss(store);
    not_relabelled(store, "moon", CLOSED, FIRN_EBACK);
    assert_int_equal(firn_store_relabel(store, &lower, &first, &error), FIRN_EBACK);
    for (int i = 0; i < 2; i++) { /* the second time as after an unknown outcome */
        relabelled(store, "snow", FORGOTTEN ROW, ROW, 0, 7);
        assert_int_equal(firn_store_reserve(store, &request, &first, &held, &error), FIRN_EBACK);
    }
    refused(store, "new", "1", "the operator of the store must accept new names again");
    relabelled(store, ALL_NAMES, FORGOTTEN "integer", "integer", 0, 0);
    assert_int_equal(take(store, "new", ROW, "1", &first, &error), FIRN_EBACK);
    request.guard = 500;
    assert_int_equal(firn_store_reserve(store, &request, &first, &held, &error), FIRN_OK);
    assert_int_equal(first, 500);
    assert_int_equal(taken(store, "snow", "2"), 500);
    firn_request all = {ALL_NAMES, "integer", "1", 1, 0, LATEST, 98, "", 20};
    assert_int_equal(firn_store_reserve(store, &all, &first, &held, &error), FIRN_OK);
    assert_int_equal(first, 20);
    assert_int_equal(taken(store, "new", "1"), 0);
}

/* A handle that meets a closed namespace first tells everybody what it has noticed. */
static void a_refusal_tells_of_a_loss(void **state) {
    firn_store *store = store_of(state);
    const bench *b = *state;
    firn_error error = {0};
    firn_mark held;
    int64_t first = -1;
    taken(store, "moon", "1");
    taken(store, "snow", "1");
    relabelled(store, "snow", ROW, CLOSED, 0, 0);
    assert_true(engine_or_file(b, "save"));
    firn_request request = {"snow", CLOSED, "1", 10, 0, LATEST, 7, "", 50};
    assert_int_equal(reserve_soon(store, request, &first, &held, &error), FIRN_OK);
    assert_true(engine_or_file(b, "restore"));
    if (b->row == &rows[1]) { /* from here on only this handle knows */
        char count[300];
        snprintf(count, sizeof count, "%s/firn.db-count", b->folder);
        assert_int_equal(unlink(count), 0);
    }
    request = (firn_request){"snow", ROW, "1", 10, 0, LATEST, 9, "", 0};
    const time_t end = time(NULL) + AGAIN_S;
    do { /* until the engine is there again */
        request.grant++;
        assert_int_equal(firn_store_reserve(store, &request, &first, &held, &error), FIRN_ESTORE);
    } while (strstr(error.text, "is closed") == NULL && time(NULL) < end);
    assert_non_null(strstr(error.text, "is closed (for a test)"));
    firn_store *other;
    assert_int_equal(open_store(&other, b->url, &error), FIRN_OK);
    not_relabelled(other, "moon", ROW, FIRN_EBACK);
    firn_store_close(other);
}

/* ---- confined claims ------------------------------------------------------------------------- */

#define SNOW "time:41/ms@@2024-01-01T00:00:00Z node:10 sequence:12"
#define LOW  "claim=0..511 " SNOW
#define HIGH "claim=512..1023 " SNOW

static firn_gen *open_gen(firn_store *store, const char *keys) {
    const firn_config config = {
        .size = sizeof config, .scheme = SNOW, .keys = keys, .store = store};
    firn_error error = {0};
    firn_gen *gen;
    if (firn_open_with(&gen, &config, &error) != FIRN_OK) {
        fail_msg("%s: %s", keys, error.text);
    }
    return gen;
}

static uint64_t node_of(firn_gen *gen) {
    firn_error error = {0};
    firn_fields fields;
    firn_id id;
    if (firn_next(gen, &id, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(firn_unpack(&fields, firn_gen_scheme(gen), &id, &error), FIRN_OK);
    return fields.value[firn_scheme_field(firn_gen_scheme(gen), "node")].low;
}

typedef struct sought {
    char key[24];
    int64_t high;
} sought;

static int see_sought(void *context, const firn_holding *holding) {
    sought *self = context;
    self->high = strcmp(holding->key, self->key) == 0 ? holding->mark.high : self->high;
    return 0;
}

static int64_t mark_of(firn_store *store, uint64_t node) {
    sought self = {.high = -1};
    snprintf(self.key, sizeof self.key, "%" PRIu64, node);
    assert_int_equal(firn_store_list(store, "snow", see_sought, &self, NULL), FIRN_OK);
    return self.high;
}

/* A holder of another node finishes its window, does not renew it and claims a node inside; a given
 * node stays. */
static void claims_are_confined(void **state) {
    firn_store *store = store_of(state);
    firn_error error = {0};
    int64_t first = -1;
    firn_gen *gen = open_gen(store, "ns=snow window=2s max_wait=60s");
    const uint64_t node = node_of(gen);
    const bool low = node < 512;
    char keys[80];
    snprintf(keys, sizeof keys, "ns=snow node=%d window=2s max_wait=60s", low ? 5 : 700);
    firn_gen *given = open_gen(store, keys);
    relabelled(store, "snow", SNOW, low ? HIGH : LOW, 0, 0);
    const int64_t mark = mark_of(store, node);
    assert_int_equal(take(store, "snow", SNOW, "1", &first, &error), FIRN_ENAMESPACE); /* old */
    for (const time_t end = time(NULL) + AGAIN_S; node_of(gen) == node && time(NULL) < end;) {
        usleep(1000);
    }
    assert_int_equal(node_of(gen) < 512, !low);
    assert_int_equal(mark_of(store, node), mark);
    assert_int_equal(node_of(given), low ? 5 : 700);
    relabelled(store, "snow", low ? HIGH : LOW, SNOW, 0, 0); /* and back */
    assert_int_equal(firn_close(given, &error), FIRN_OK);
    assert_int_equal(firn_close(gen, &error), FIRN_OK);
    given = open_gen(store, keys);
    assert_int_equal(node_of(given), low ? 5 : 700);
    assert_int_equal(firn_close(given, &error), FIRN_OK);
}

/* A generator finds the nodes to claim also where the namespace has no key, and after it was
 * closed. */
static void claims_are_found_without_a_key(void **state) {
    firn_store *store = store_of(state);
    relabelled(store, "snow", NULL, "closed (for a test): claim=3..5 " SNOW, 0, 0);
    refused(store, "snow", "1", "is closed");
    relabelled(store, "snow", "closed (for a test): claim=3..5 " SNOW, "claim=3..5 " SNOW, 0, 0);
    for (int i = 0; i < 2; i++) {
        firn_error error;
        firn_gen *gen = open_gen(store, "ns=snow window=1s");
        const uint64_t node = node_of(gen);
        assert_true(node >= 3 && node <= 5);
        assert_int_equal(firn_close(gen, &error), FIRN_OK);
    }
}

/* ---- during reservations ------------------------------------------------------------------ */

typedef struct close_worker {
    pthread_t thread;
    firn_store *store;
    bool names; /* a new namespace each time, else a new key */
    int number, round;
    _Atomic int granted, refused;
} close_worker;

/* Reserves until it is refused three times. */
static void *work(void *context) {
    close_worker *worker = context;
    for (int i = 0; i < 100000 && worker->refused < 3; i++) {
        char ns[40], key[20];
        firn_error error;
        int64_t first;
        snprintf(ns, sizeof ns, worker->names ? "new-%d-%d-%d" : "snow", worker->round,
                 worker->number, i);
        snprintf(key, sizeof key, "%d-%d", worker->number, worker->names ? 0 : i % 5);
        int code = take(worker->store, ns, ROW, key, &first, &error);
        if (code == FIRN_OK) {
            worker->granted++;
        } else if (code == FIRN_ESTORE && strstr(error.text, "is closed") != NULL) {
            worker->refused++;
        }
    }
    return NULL;
}

/* Nothing is granted after the change has returned. */
static void run_beside(bench *b, const char *ns, const char *open, const char *shut, bool names) {
    static close_worker workers[WORKERS];
    for (int round = 0; round < 4; round++) {
        total before, after;
        for (int i = 0; i < WORKERS; i++) {
            firn_error error;
            workers[i] = (close_worker){.names = names, .number = i, .round = round};
            assert_int_equal(open_store(&workers[i].store, b->url, &error), FIRN_OK);
            assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
        }
        for (int i = 0; i < WORKERS; i++) {
            while (workers[i].granted < 3) {
                sched_yield();
            }
        }
        relabelled(b->store, ns, open, shut, 0, 0);
        before = total_of(b->store);
        for (int i = 0; i < WORKERS; i++) {
            pthread_join(workers[i].thread, NULL);
            assert_true(workers[i].refused >= 3);
            firn_store_close(workers[i].store);
        }
        after = total_of(b->store);
        assert_int_equal(after.spaces, before.spaces);
        if (!names) { /* else one of them had its record, and no mark yet */
            assert_int_equal(after.high, before.high);
        }
        relabelled(b->store, ns, shut, open, 0, 0);
    }
}

static void closes_beside_reservations(void **state) {
    taken(store_of(state), "snow", "first");
    run_beside(*state, "snow", ROW, CLOSED, false);
}

static void shuts_beside_new_names(void **state) {
    relabelled(store_of(state), ALL_NAMES, NULL, SHUT, 0, 0);
    relabelled(store_of(state), ALL_NAMES, SHUT, ALL_OPEN, 0, 0);
    run_beside(*state, ALL_NAMES, ALL_OPEN, SHUT, true);
}

/* ---- a move that is killed ------------------------------------------------------------------- */

#define SPACES 4 /* three, and one that is new after the kill */

/* The granted slots, by namespace: [0, end). */
static int64_t ends[SPACES];
static int kill_after; /* writes */

/* kill_after counts changes of layouts only. */
static void die_at_change(void *self, const char *name) {
    (void)self;
    if (strcmp(name, "relabel.committed") == 0 && --kill_after == 0) {
        raise(SIGKILL);
    }
}

static void perhaps_die(void *self, const char *name) {
    (void)self;
    if (strstr(name, ".before") == NULL && --kill_after == 0) {
        raise(SIGKILL);
    }
}

typedef void failpoint(void *self, const char *name);
static failpoint *killer = perhaps_die;

static void open_ends(closing_end pair[2], const char *urls[2], failpoint *point) {
    static const char *const names[2] = {"store://from", "store://to"};
    for (int i = 0; i < 2; i++) {
        firn_error error;
        firn_store_options options = store_options();
        options.failpoint = point;
        pair[i].name = names[i];
        if (firn_store_open(&pair[i].store, urls[i], &options, &error) != FIRN_OK) {
            fail_msg("%s", error.text);
        }
    }
}

static void close_ends(closing_end pair[2]) {
    firn_store_close(pair[0].store);
    firn_store_close(pair[1].store);
}

/* Both stores are asked for slots of each namespace: at most one grants, after everything
 * before. */
static void judge(closing_end pair[2], int kill, bool over) {
    for (int i = 0; i < SPACES; i++) {
        char ns[20];
        int granted = 0;
        snprintf(ns, sizeof ns, i < SPACES - 1 ? "ns%d" : "new%d", i);
        for (int end = 0; end < 2; end++) {
            firn_error error = {0};
            int64_t first = -1;
            if (end == 1 && total_of(pair[1].store).spaces == 0) {
                continue; /* the move has not begun there: any store is open */
            }
            int code = take(pair[end].store, ns, ROW, "7", &first, &error);
            if (code == FIRN_OK && first < ends[i]) {
                fail_msg("killed at %d: %s repeats %" PRId64, kill, ns, first);
            } else if (code == FIRN_OK) {
                ends[i] = first + 10;
                granted++;
            } else if (strstr(error.text, "is closed") == NULL) {
                fail_msg("killed at %d: %s: %s", kill, ns, error.text);
            }
            if (over && (code == FIRN_OK) != (end == 1)) {
                fail_msg("%s: store %d answers %d after the move: %s", ns, end, code, error.text);
            }
        }
        if (granted > 1) {
            fail_msg("killed at %d: both stores grant slots of %s", kill, ns);
        }
    }
}

static void move_in_child(const char *urls[2], int kill) {
    closing_end pair[2];
    closing_moved moved;
    firn_error error;
    kill_after = kill;
    open_ends(pair, urls, killer);
    _exit(closing_move(&pair[0], &pair[1], &moved, &error) == FIRN_OK ? 0 : 1);
}

/* Moves in a child, which dies at its write number `kill`. False: it has fewer writes. */
static bool move_and_die(const char *urls[2], int kill) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        move_in_child(urls, kill);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status)) {
        assert_int_equal(WEXITSTATUS(status), 0);
        return false;
    }
    assert_int_equal(WTERMSIG(status), SIGKILL);
    return true;
}

static void fill(const char *url) {
    firn_store *store;
    firn_error error;
    assert_int_equal(open_store(&store, url, &error), FIRN_OK);
    for (int i = 0; i < SPACES - 1; i++) {
        char ns[20];
        snprintf(ns, sizeof ns, "ns%d", i);
        taken(store, ns, "7");
        taken(store, ns, "8");
        ends[i] = 10;
    }
    ends[SPACES - 1] = 0;
    firn_store_close(store);
}

/* The URL of a store that was not used before. */
static void fresh_url(char out[500], const bench *b, int number) {
    char name[16];
    snprintf(name, sizeof name, "m%d", number);
    store_url(out, 500, b, name);
}

static void move_between(const bench *b, bool out) {
    static int number;
    const bench file = {.row = &rows[1]};
    bench other = file;
    closing_end pair[2];
    /* Servers differ little in where they can be killed, and each move on one takes its time. */
    const int step = b->row != &rows[1] ? 6 * short_step(5) : short_step(3);
    int kill = 1 + number % step;
    snprintf(other.folder, sizeof other.folder, "%s", b->folder);
    for (bool died = true; died; kill += step) {
        char own[500], others[500];
        firn_error error = {0};
        closing_moved moved;
        fresh_url(own, b, ++number);
        fresh_url(others, &other, ++number);
        const char *urls[2] = {out ? own : others, out ? others : own};
        fill(urls[0]);
        died = move_and_die(urls, kill);
        open_ends(pair, urls, NULL);
        judge(pair, kill, !died);
        if (closing_move(&pair[0], &pair[1], &moved, &error) != FIRN_OK) {
            fail_msg("killed at %d, then: %s", kill, error.text);
        }
        judge(pair, kill, true);
        close_ends(pair);
    }
    print_message("# %s a file: killed at every %d. of %d points\n", out ? "to" : "from", step,
                  kill - step - 1);
    assert_true(kill > 20);
}

static void moves_away(void **state) {
    store_of(state);
    move_between(*state, true);
}

static void moves_in(void **state) {
    store_of(state);
    move_between(*state, false);
}

/* The changes of a move of fill()'s namespaces: three checks, all names in the new store and in the
 * old one, then five of each namespace. */
enum { ALL_CLOSED = 5, FIRST_MADE = 6, FIRST_CLOSED = 7, SECOND_MADE = 11 };

/* From a new file to the store of the bench, both at rest. */
static void begin_move(bench *b, char text[500], int number, int kill) {
    const bench file = {.row = &rows[1]};
    bench other = file;
    const char *urls[2] = {text, b->url};
    store_of((void **)&b);
    snprintf(other.folder, sizeof other.folder, "%s", b->folder);
    fresh_url(text, &other, number);
    fill(text);
    killer = die_at_change;
    assert_true(move_and_die(urls, kill));
    killer = perhaps_die;
}

static int continue_move(const bench *b, const char *text, firn_error *error) {
    const char *urls[2] = {text, b->url};
    closing_end pair[2];
    closing_moved moved;
    open_ends(pair, urls, NULL);
    int code = closing_move(&pair[0], &pair[1], &moved, error);
    judge(pair, 0, code == FIRN_OK);
    close_ends(pair);
    return code;
}

/* A namespace that the new store has already is its own. */
static void the_new_store_confines_its_claims(void **state) {
    static const char *const layouts[2] = {ROW, "claim=0..899 " ROW};
    char text[500];
    firn_error error = {0};
    bench *b = *state;
    begin_move(b, text, 600000, SECOND_MADE);
    for (int i = 0; i < 2; i++) { /* and back, for continue_move */
        const firn_relabel change = {"ns0", layouts[i], layouts[1 - i], 0, false};
        const char *urls[2] = {text, b->url};
        closing_end pair[2];
        closing_moved moved;
        int64_t floor;
        assert_int_equal(firn_store_relabel(b->store, &change, &floor, &error), FIRN_OK);
        open_ends(pair, urls, NULL);
        if (closing_move(&pair[0], &pair[1], &moved, &error) != FIRN_OK) {
            fail_msg("%s", error.text);
        }
        close_ends(pair);
    }
    assert_int_equal(continue_move(b, text, &error), FIRN_OK);
}

/* Until the engine is there again. By a separate handle: the library of ZooKeeper has threads once
 * it was asked, and a process with threads does not fork well. */
static void await_server(const bench *b) {
    const time_t end = time(NULL) + AGAIN_S;
    int code;
    do {
        total sum = {0, 0, 0, ""};
        firn_store *wanted;
        firn_error error;
        code = open_store(&wanted, b->url, &error);
        if (code == FIRN_OK) {
            code = firn_store_list(wanted, NULL, count_one, &sum, &error);
            firn_store_close(wanted);
        }
        nanosleep(&(struct timespec){0, 10 * 1000000}, NULL);
    } while (code != FIRN_OK && time(NULL) < end);
}

/* The new store loses what the move did after `save`, a change of the first run, up to `kill`, a
 * change of the second. */
static int lose_the_new_store(void **state, int number, int save, int kill, firn_error *error) {
    bench *b = *state;
    char text[500];
    const char *urls[2] = {text, b->url};
    const time_t end = time(NULL) + AGAIN_S;
    int code;
    store_of(state);
    begin_move(b, text, number, save);
    assert_true(engine_or_file(b, "save"));
    await_server(b);
    killer = die_at_change;
    assert_true(move_and_die(urls, kill));
    killer = perhaps_die;
    if (kill >
        FIRST_CLOSED) { /* a handle that remembers, as some engines do not show that they lost reservations */
        ends[0] = taken(b->store, "ns0", "7") + 10;
    }
    assert_true(engine_or_file(b, "restore"));
    await_server(b);
    if (kill > FIRST_CLOSED) {
        const firn_request request = {"ns0", ROW, "7", 10, 0, LATEST, 77, "", 0};
        firn_mark held;
        int64_t first = -1;
        do {
            code = firn_store_reserve(b->store, &request, &first, &held, error);
        } while (strstr(error->text, "is closed") == NULL && code == FIRN_ESTORE &&
                 time(NULL) < end);
        assert_int_not_equal(code, FIRN_OK);
    }
    return continue_move(b, text, error);
}

static void the_new_store_goes_back(void **state) {
    firn_error error = {0};
    if (lose_the_new_store(state, 400000, FIRST_MADE, FIRST_CLOSED - 3, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
}

/* At change 11 of the second run one namespace is open, whether the server was restarted to save it
 * or not. */
static void what_was_granted_is_not_copied_again(void **state) {
    firn_error error = {0};
    assert_int_equal(lose_the_new_store(state, 400001, FIRST_MADE, 11, &error), FIRN_EBACK);
    assert_non_null(strstr(error.text, "restore a later copy"));
}

static void what_was_granted_and_lost_is_missed(void **state) {
    firn_error error = {0};
    assert_int_equal(lose_the_new_store(state, 400002, ALL_CLOSED, 11, &error), FIRN_EUSAGE);
    assert_non_null(strstr(error.text, "which has the later marks"));
}

#define FORGOTTEN_ROW FORGOTTEN ROW

/* A namespace is forgotten, or opened again, between two runs. */
static void the_layout_changes_between_runs(void **state) {
    static const char *const layouts[] = {ROW, FORGOTTEN_ROW, ROW};
    bench *b = *state;
    char text[500];
    firn_error error = {0};
    firn_store *old;
    store_of(state);
    begin_move(b, text, 500000, FIRST_MADE);
    const char *urls[2] = {text, b->url};
    assert_int_equal(open_store(&old, text, &error), FIRN_OK);
    for (int i = 0; i < 2; i++) {
        relabelled(old, "ns0", layouts[i], layouts[i + 1], 0, 0);
        killer = die_at_change;
        assert_true(move_and_die(urls, 3)); /* all names in both stores, and the first namespace */
        killer = perhaps_die;
    }
    relabelled(old, "ns1", ROW, FORGOTTEN_ROW, 0, 0);
    firn_store_close(old);
    closing_end pair[2];
    closing_moved moved;
    open_ends(pair, urls, NULL);
    if (closing_move(&pair[0], &pair[1], &moved, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    refused(pair[1].store, "ns1", "7", "is closed (forgotten");
    relabelled(pair[1].store, "ns1", FORGOTTEN_ROW, ROW, 0, 0);
    judge(pair, 0, true);
    close_ends(pair);
}

/* Another run of the move, in a child: it begins after this one's first write, continues at the
 * same time and dies at its write number `kill`. This one does not wait in a failpoint, where it
 * may hold what the other needs. */
static int met_pipe[2];

static pid_t prepare_to_meet(const char *urls[2], int kill) {
    char byte;
    assert_int_equal(pipe(met_pipe), 0);
    pid_t child = fork();
    if (child == 0) {
        close(met_pipe[1]);
        if (read(met_pipe[0], &byte, 1) == 1) {
            move_in_child(urls, kill);
        }
        _exit(2);
    }
    close(met_pipe[0]);
    return child;
}

static void meet(void *self, const char *name) {
    (void)self;
    if (met_pipe[1] >= 0 && strcmp(name, "relabel.committed") == 0) {
        assert_int_equal(write(met_pipe[1], "", 1), 1);
        close(met_pipe[1]);
        met_pipe[1] = -1;
    }
}

static void two_at_once(void **state) {
    static const int kills[] = {2, 4, 7, 11, 16, 25, 1000};
    const size_t step = (size_t)short_step(3);
    const bench *b = *state;
    const bench file = {.row = &rows[1]};
    bench other = file;
    store_of(state);
    snprintf(other.folder, sizeof other.folder, "%s", b->folder);
    for (size_t i = 0; i < sizeof kills / sizeof *kills; i += step) {
        char own[500], others[500];
        firn_error error = {0};
        closing_end pair[2];
        closing_moved moved;
        fresh_url(own, b, 200000 + (int)i);
        fresh_url(others, &other, 300000 + (int)i);
        const char *urls[2] = {own, others};
        fill(own);
        pid_t child = prepare_to_meet(urls, kills[i]);
        open_ends(pair, urls, meet);
        closing_move(&pair[0], &pair[1], &moved, &error);
        assert_int_equal(met_pipe[1], -1);
        assert_int_equal(waitpid(child, NULL, 0), child);
        judge(pair, kills[i], false);
        if (closing_move(&pair[0], &pair[1], &moved, &error) != FIRN_OK) {
            fail_msg("met at %d, then: %s", kills[i], error.text);
        }
        judge(pair, kills[i], true);
        close_ends(pair);
    }
}

static void unfit_ones_are_refused(void **state) {
    bench *b = *state;
    char url[500], closed[FIRN_LAYOUT_SIZE];
    firn_error error = {0};
    assert_int_equal(closing_write(closed, "moved to a): b", ROW, &error), FIRN_EUSAGE);
    closing_end pair[2] = {{store_of(state), "store://one"}, {NULL, "store://two"}};
    closing_moved moved;
    taken(b->store, "snow", "1");
    pair[1].store = pair[0].store;
    assert_int_equal(closing_move(&pair[0], &pair[1], &moved, &error), FIRN_EUSAGE);
    assert_int_equal(taken(b->store, "snow", "1"), 10);
    assert_int_equal(taken(b->store, "newer", "1"), 0);
    fresh_url(url, b, 100000);
    assert_int_equal(open_store(&pair[1].store, url, &error), FIRN_OK);
    taken(pair[1].store, "mine", "1");
    assert_int_equal(closing_move(&pair[0], &pair[1], &moved, &error), FIRN_EUSAGE);
    assert_non_null(strstr(error.text, "move to an empty store"));
    assert_int_equal(taken(b->store, "snow", "1"), 20);
    assert_int_equal(taken(b->store, "newest", "1"), 0);
    assert_int_equal(taken(pair[1].store, "more", "1"), 0);
    firn_store_close(pair[1].store);
    fresh_url(url, b, 100002); /* as a move leaves it, but "newer" has another layout there */
    assert_int_equal(open_store(&pair[1].store, url, &error), FIRN_OK);
    relabelled(pair[1].store, "newer", NULL, "closed (moving from store://one): other", 0, 0);
    assert_int_equal(closing_move(&pair[0], &pair[1], &moved, &error), FIRN_EUSAGE);
    assert_non_null(strstr(error.text, "namespace newer"));
    assert_int_equal(taken(b->store, "snow", "1"), 30);
    firn_store_close(pair[1].store);
    fresh_url(url, b, 100001); /* as a refused attempt leaves it */
    assert_int_equal(open_store(&pair[1].store, url, &error), FIRN_OK);
    relabelled(pair[1].store, ALL_NAMES, NULL, SHUT, 0, 0);
    relabelled(pair[1].store, ALL_NAMES, SHUT, ALL_OPEN, 0, 0);
    if (closing_move(&pair[0], &pair[1], &moved, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(taken(pair[1].store, "snow", "1"), 40);
    firn_store_close(pair[1].store);
}

static const struct check checks[] = {
    {"a closed namespace refuses until it is open again", closed_refuses},
    {"a layout that is not the stored one is not replaced", others_are_refused},
    {"a change that is repeated is written again", a_repeated_change_is_written},
    {"a layout becomes no other one", only_closes_and_opens},
    {"claims are confined, and holders outside do not renew", claims_are_confined},
    {"confined claims are found in a namespace without keys", claims_are_found_without_a_key},
    {"a namespace of a store that lost reservations is not touched", doubt_is_refused},
    {"a forgotten namespace is opened also after a loss, and stays doubted",
     a_forgotten_one_is_opened_in_doubt},
    {"a closed namespace does not hide that the store lost reservations",
     a_refusal_tells_of_a_loss},
    {"new names can be shut", new_names_are_shut},
    {"a namespace without a key is listed", empty_ones_are_listed},
    {"nothing is granted after a namespace was closed", closes_beside_reservations},
    {"no name is new after new names were shut", shuts_beside_new_names},
    {"a move to a file, killed at each write, repeats nothing", moves_away},
    {"a move from a file, killed at each write, repeats nothing", moves_in},
    {"a move continues after the new store lost reservations", the_new_store_goes_back},
    {"a namespace that the new store granted stays closed after it lost reservations",
     what_was_granted_is_not_copied_again},
    {"a namespace that the new store granted is missed after it lost reservations",
     what_was_granted_and_lost_is_missed},
    {"a move continues after a namespace was forgotten or opened", the_layout_changes_between_runs},
    {"a move continues after the new store confined its claims", the_new_store_confines_its_claims},
    {"two moves at once, one of them killed, repeat nothing", two_at_once},
    {"one store, and a store in use, are refused", unfit_ones_are_refused},
};
#define CHECKS (sizeof checks / sizeof checks[0])

int main(int count, char **arguments) {
    static char names[ENGINES * CHECKS][CHECK_NAME];
    static struct CMUnitTest tests[ENGINES * CHECKS];
    stores_fast = true;
    for (size_t i = 0; i < ENGINES * CHECKS; i++) {
        if (rows[i / CHECKS].shared) {
            add_check(&tests[i], names[i], checks, CHECKS, i);
        }
    }
    if (count > 1) {
        cmocka_set_test_filter(arguments[1]);
    }
    return cmocka_run_group_tests_name("closing", tests, NULL, NULL);
}
