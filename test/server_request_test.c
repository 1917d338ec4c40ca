/* SPDX-License-Identifier: MIT */
/* The heart of the server without its listeners: requests are read, answered, sent to renewers and
 * finished by threads that do as listeners do. Stores are real ones: memory: and sqlite files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/answer.h"
#include "core/catalog.h"
#include "core/log.h"
#include "core/server.h"

#include "folder.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define EACH 60000 /* IDs of a thread */
#else
#define EACH 300000
#endif
#define THREADS     4
#define PATIENCE_MS 60000  /* what takes longer hangs */
#define STOP_MS     200000 /* the server may give back a thousand blocks to a slow disk */

static server_worker *workers[THREADS + 1]; /* the last one is the test's own */

/* ---- a listener ------------------------------------------------------------------------------ */

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void nap(int ms) {
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}

/* A client's request and its outcome. */
typedef struct task_call {
    server_request request;
    server_reply reply;
    firn_error error;
    sent_task *sent; /* whose arrays the reply may point to */
    int tasks, naps;
    int64_t wait_ms;
} task_call;

static word w(const char *text) {
    return (word){text, strlen(text)};
}

/* A request of a verb, a name and keys with values in turn, then NULL. */
static task_call ask_for(server_worker *worker, enum verb verb, const char *name, ...) {
    task_call call = {.wait_ms = PATIENCE_MS};
    va_list words;
    const char *key;
    call.request.worker = worker;
    call.request.verb = verb;
    call.request.role = ROLE_ADMIN;
    call.request.name = w(name);
    va_start(words, name);
    while ((key = va_arg(words, const char *)) != NULL) {
        assert_true(request_add(&call.request, w(key), w(va_arg(words, const char *))));
    }
    va_end(words);
    return call;
}

static void ring(void *self) {
    sem_post(self);
}

/* A client that waits as long as it takes. */
static task_client patient(sem_t *bell) {
    return (task_client){.self = bell, .finished = ring, .until_ms = INT64_MAX};
}

static int run_task(task_call *call) {
    sem_t bell;
    sent_free(call->sent);
    call->sent = NULL;
    call->tasks++;
    sem_init(&bell, 0, 0);
    const task_client client = patient(&bell);
    int code = request_send(&call->request, &client, &call->sent, &call->error);
    if (code == FIRN_OK) {
        while (sem_wait(&bell) != 0) {
        }
        code = request_finish(call->sent, &call->reply, &call->error);
    }
    sem_destroy(&bell);
    return code;
}

/* Answers what was read, as often as it takes. */
static int answer(task_call *call, size_t times) {
    int64_t until = now_ns() + call->wait_ms * 1000000;
    int code = REQUEST_LATER;
    while (code == REQUEST_LATER) {
        code = request_answer(&call->request, times, &call->reply, &call->error);
        code = code == REQUEST_TASK ? run_task(call) : code;
        if (code == REQUEST_LATER) {
            if (now_ns() > until) {
                return call->error.code;
            }
            call->naps++;
            nap(1);
        }
    }
    return code;
}

static int ask(task_call *call) {
    int code = request_read(&call->request, &call->error);
    return code == FIRN_OK ? answer(call, 1) : code;
}

static void leave(task_call *call) {
    sent_free(call->sent);
    if (call->reply.kind == REPLY_JSON) {
        json_decref(call->reply.json);
    }
    *call = (task_call){0};
}

#define assert_answered(it, code)                                                                  \
    do {                                                                                           \
        int code_ = (code);                                                                        \
        if (code_ != FIRN_OK) {                                                                    \
            print_error("%s\n", (it)->error.text);                                                 \
        }                                                                                          \
        assert_int_equal(code_, FIRN_OK);                                                          \
    } while (0)

#define assert_refused(it, wanted, part)                                                           \
    do {                                                                                           \
        task_call it_ = (it);                                                                      \
        assert_int_equal(ask(&it_), wanted);                                                       \
        assert_int_equal(it_.error.code, wanted);                                                  \
        if (strstr(it_.error.text, part) == NULL) {                                                \
            print_error("'%s' does not say '%s'\n", it_.error.text, part);                         \
        }                                                                                          \
        assert_non_null(strstr(it_.error.text, part));                                             \
        leave(&it_);                                                                               \
    } while (0)

static server_worker *mine(void) {
    return workers[THREADS];
}

/* ---- before and after ------------------------------------------------------------------------ */

static int make_workers(void **state) {
    (void)state;
    for (int i = 0; i <= THREADS; i++) {
        workers[i] = worker_new(false);
    }
    return workers[THREADS] == NULL;
}

static int begin_with(const char *store, size_t max_generators, size_t max_segments,
                      size_t auto_create) {
    firn_error error;
    return catalog_begin(store, max_generators, max_segments, 8, auto_create, &error);
}

static int begin(void **state) {
    return set_up(state) != 0 || begin_with(url, 100, 100, 50) != FIRN_OK;
}

static int finish(void **state) {
    renewers_stop(STOP_MS);
    catalog_end();
    return tear_down(state);
}

/* ---- numbers that were issued ---------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static size_t duplicates(uint64_t *numbers, size_t n) {
    size_t twice = 0;
    qsort(numbers, n, sizeof *numbers, compare);
    for (size_t i = 1; i < n; i++) {
        twice += numbers[i] == numbers[i - 1];
    }
    return twice;
}

/* A thread that asks as a loop does, and keeps what it got. */
typedef struct hand {
    server_worker *by;
    enum verb verb;
    const char *name;
    uint64_t *numbers;
    size_t n, falls; /* falls: how often a number was not greater than the one before */
    int code;
    firn_error error;
    pthread_t thread;
} hand;

static void keep(hand *self, size_t *position, const server_reply *got) {
    for (size_t i = 0; i < got->count && *position < self->n; i++) {
        uint64_t number = got->kind == REPLY_NUMBERS
                              ? got->numbers[i]
                              : (uint64_t)(got->first + (int64_t)i * got->increment);
        self->falls += *position > 0 && number <= self->numbers[*position - 1];
        self->numbers[(*position)++] = number;
    }
}

/* Requests one ID at a time or 64 at once, sometimes an exclusive block. */
static void *work(void *self) {
    hand *state = self;
    task_call asking = ask_for(state->by, state->verb, state->name, NULL);
    task_call block = ask_for(state->by, VERB_BLOCK, state->name, "count", "37", NULL);
    state->code = request_read(&asking.request, &asking.error);
    for (size_t position = 0, turn = 0; position < state->n && state->code == FIRN_OK; turn++) {
        if (state->verb == VERB_NEXT && turn % 50 == 49) {
            state->code = ask(&block);
            if (state->code == FIRN_ESTORE) { /* an task tells an outage at once */
                state->code = FIRN_OK;
            }
            keep(state, &position, &block.reply);
            sent_free(block.sent);
            block.sent = NULL;
        } else {
            state->code = answer(&asking, 1 + turn % 64);
            keep(state, &position, &asking.reply);
        }
    }
    state->error = asking.error;
    leave(&asking);
    leave(&block);
    return NULL;
}

/* All workers at once; returns how many numbers, and where. */
static size_t issue_together(enum verb verb, const char *name, uint64_t **all) {
    hand hands[THREADS] = {0};
    uint64_t *numbers = calloc((size_t)THREADS * EACH + 1, sizeof *numbers);
    assert_non_null(numbers);
    for (size_t i = 0; i < THREADS; i++) {
        hands[i].by = workers[i];
        hands[i].verb = verb;
        hands[i].name = name;
        hands[i].n = EACH;
        hands[i].numbers = numbers + i * EACH;
        assert_int_equal(pthread_create(&hands[i].thread, NULL, work, &hands[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(hands[i].thread, NULL);
        assert_answered(&hands[i], hands[i].code);
        assert_int_equal(hands[i].falls, 0);
    }
    *all = numbers;
    return (size_t)THREADS * EACH;
}

/* ---- issuing --------------------------------------------------------------------------------- */

static void a_scheme_is_opened_when_somebody_first_requests_it(void **state) {
    (void)state;
    task_call call = ask_for(mine(), VERB_NEW, "snowflake", NULL);
    assert_null(catalog_generator(w("snowflake")));
    assert_answered(&call, ask(&call));
    assert_int_equal(call.tasks, 1);
    assert_int_equal(call.reply.kind, REPLY_NUMBERS);
    assert_int_equal(call.reply.count, 1);
    assert_true(call.reply.numbers[0] > 0);
    assert_non_null(catalog_generator(w("snowflake")));
    leave(&call);
    call = ask_for(mine(), VERB_NEW, "snowflake", "COUNT", "1000", NULL);
    assert_answered(&call, ask(&call));
    assert_int_equal(call.tasks, 0);
    assert_int_equal(call.reply.count, 1000);
    assert_int_equal(generator_issued(catalog_generator(w("snowflake"))), 1001);
    leave(&call);
}

static void schemes_without_a_node_touch_no_store(void **state) {
    (void)state;
    task_call call = ask_for(mine(), VERB_NEW, "uuid7", "n", "3", NULL);
    char text[FIRN_TEXT_SIZE + 66];
    renewer_state store;
    assert_answered(&call, ask(&call));
    assert_int_equal(call.tasks, 0);
    assert_int_equal(call.reply.kind, REPLY_IDS);
    assert_int_equal(reply_write_id(text, &call.request, &call.reply, 2), 36);
    assert_int_equal(text[14], '7');
    leave(&call);
    assert_false(renewer_look(0, &store));
    assert_int_not_equal(access(url + strlen("sqlite:"), F_OK), 0);
}

static void threads_never_issue_an_id_twice(void **state) {
    (void)state;
    uint64_t *all;
    task_call first = ask_for(mine(), VERB_NEW, "snowflake", NULL);
    assert_answered(&first, ask(&first));
    leave(&first);
    size_t n = issue_together(VERB_NEW, "snowflake", &all);
    assert_int_equal(duplicates(all, n), 0);
    all[n] = all[n / 2]; /* an injected duplicate: it must be found */
    assert_int_equal(duplicates(all, n + 1), 1);
    free(all);
}

static void threads_never_hand_out_an_integer_twice(void **state) {
    (void)state;
    uint64_t *all;
    task_call first = ask_for(mine(), VERB_NEXT, "orders", NULL);
    assert_answered(&first, ask(&first));
    leave(&first);
    size_t n = issue_together(VERB_NEXT, "orders", &all);
    assert_int_equal(duplicates(all, n), 0);
    all[n] = all[n / 3];
    assert_int_equal(duplicates(all, n + 1), 1);
    free(all);
}

static void *open_one(void *self) {
    task_call *call = self;
    call->error.code = ask(call);
    return NULL;
}

static void tasks_that_race_open_one_generator(void **state) {
    (void)state;
    task_call all[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        all[i] = ask_for(workers[i], i % 2 ? VERB_NEXT : VERB_NEW, i % 2 ? "racing" : "tsid", NULL);
        assert_int_equal(pthread_create(&threads[i], NULL, open_one, &all[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_answered(&all[i], all[i].error.code);
        leave(&all[i]);
    }
    assert_non_null(catalog_generator_at(0));
    assert_null(catalog_generator_at(1));
    assert_non_null(catalog_segment_at(0));
    assert_null(catalog_segment_at(1));
}

/* Each of the segments is a call of the store, a thousand at once are many rounds of the
 * renewer. */
static void a_task_does_not_wait_for_all_segments_that_need_it(void **state) {
    enum { MANY = 1000 };
    (void)state;
    firn_error error;
    size_t open = 0;
    catalog_end();
    assert_int_equal(begin_with(url, 10, MANY + 1, 1), FIRN_OK);
    for (int i = 0; i < MANY; i++) {
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "due%d", i);
        assert_int_equal(catalog_add_segment(name, "", NULL, &error), FIRN_OK);
    }
    nap(30); /* the renewer is at it */
    task_call asking = ask_for(mine(), VERB_NEXT, "another", NULL);
    assert_answered(&asking, ask(&asking));
    leave(&asking);
    for (size_t i = 0; i < MANY; i++) {
        open += atomic_load(&catalog_segment_at(i)->range) != NULL;
    }
    assert_true(open < MANY);
    for (int i = 0; i < PATIENCE_MS && open < MANY; i++) { /* and they have their turn too */
        size_t before = open;
        nap(1);
        open = 0;
        for (size_t j = 0; j < MANY; j++) {
            open += atomic_load(&catalog_segment_at(j)->range) != NULL;
        }
        i = open > before ? 0 : i; /* a slow disk is not a hang */
    }
    assert_int_equal(open, MANY);
}

static void the_reply_to_many_integers_is_the_last_of_them(void **state) {
    (void)state;
    task_call last = ask_for(mine(), VERB_LAST, "k", NULL),
              asking = ask_for(mine(), VERB_NEXT, "k", NULL);
    assert_answered(&last, ask(&last));
    assert_int_equal(last.reply.kind, REPLY_NIL);
    assert_answered(&asking, ask(&asking));
    assert_int_equal(asking.reply.kind, REPLY_INTEGER);
    assert_int_equal(asking.reply.first, 1);
    leave(&asking);
    asking = ask_for(mine(), VERB_NEXT, "k", "count", "10", NULL);
    assert_answered(&asking, ask(&asking));
    assert_int_equal(asking.reply.first, 11); /* 2 to 11 */
    leave(&asking);
    asking = ask_for(mine(), VERB_NEXT, "k", "count", "5000000", NULL); /* more than fetched */
    assert_answered(&asking, ask(&asking));
    assert_int_equal(asking.tasks, 1);
    int64_t end = asking.reply.first;
    assert_true(end >= 5000011);
    leave(&asking);
    assert_answered(&last, ask(&last));
    assert_int_equal(last.reply.kind, REPLY_INTEGER);
    assert_int_equal(last.reply.first, end);
    asking = ask_for(mine(), VERB_BLOCK, "k", "count", "7", NULL);
    assert_answered(&asking, ask(&asking));
    assert_int_equal(asking.reply.kind, REPLY_RUN);
    assert_true(asking.reply.first > end);
    assert_int_equal(asking.reply.run, 7);
    assert_int_equal(segment_issued(catalog_segment(w("k"))), 1 + 10 + 5000000 + 7);
    leave(&asking);
    leave(&last);
}

static void a_name_may_be_a_segment_and_a_generator(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        task_call id = ask_for(mine(), VERB_NEW, "snowflake", NULL),
                  next = ask_for(mine(), VERB_NEXT, i == 0 ? "tsid" : "snowflake", NULL),
                  block = ask_for(mine(), VERB_BLOCK, "snowflake", NULL),
                  runs = ask_for(mine(), VERB_RUNS, "snowflake", NULL);
        assert_answered(&next, ask(&next));
        assert_int_equal(next.reply.kind, REPLY_INTEGER);
        assert_answered(&id, ask(&id));
        assert_int_equal(id.reply.kind, REPLY_NUMBERS);
        assert_answered(&block, ask(&block));
        assert_int_equal(block.reply.kind, REPLY_RUN);
        assert_answered(&runs, ask(&runs));
        assert_int_equal(runs.reply.kind, REPLY_JSON);
        leave(&id);
        leave(&next);
        leave(&block);
        leave(&runs);
    }
    assert_null(catalog_generator(w("tsid")));
    assert_null(catalog_segment((word){"snowflake\0", 10}));
}

static void runs_are_of_consecutive_ids(void **state) {
    (void)state;
    task_call call = ask_for(mine(), VERB_RUNS, "snowflake", "count", "10000", NULL);
    uint64_t sum = 0, before = 0;
    assert_answered(&call, ask(&call));
    assert_int_equal(call.reply.kind, REPLY_JSON);
    for (size_t i = 0; i < json_array_size(call.reply.json); i++) {
        const json_t *run = json_array_get(call.reply.json, i);
        uint64_t first = strtoull(json_string_value(json_array_get(run, 0)), NULL, 10);
        uint64_t last = strtoull(json_string_value(json_array_get(run, 1)), NULL, 10);
        assert_true(first > before && last >= first);
        sum += last - first + 1;
        before = last;
    }
    assert_int_equal(sum, 10000);
    assert_true(json_array_size(call.reply.json) <= 4);
    leave(&call);
}

static void a_generator_of_the_configuration_keeps_its_keys(void **state) {
    (void)state;
    firn_error error;
    task_call call;
    assert_int_equal(catalog_add_generator("users", "snowflake", "datacenter=1 worker=7 ns=users",
                                           NULL, "hex", NULL, &error),
                     FIRN_OK);
    assert_int_equal(catalog_add_generator("users", "uuid7", "", NULL, NULL, NULL, &error),
                     FIRN_EUSAGE);
    assert_int_equal(
        catalog_add_generator("bad", "snowflake", "worker=99", NULL, NULL, NULL, &error),
        FIRN_ERANGE);
    assert_int_equal(
        catalog_add_generator("bad", "snowflake", "worken=9", NULL, NULL, NULL, &error),
        FIRN_EUSAGE);
    assert_int_equal(catalog_add_generator("things", "typeid", "", NULL, NULL, "thing", &error),
                     FIRN_OK);
    assert_int_equal(catalog_add_segment("bad", "stop=1", NULL, &error), FIRN_EUSAGE);
    assert_int_equal(catalog_add_segment("even", "kind=ticket increment=2 offset=2", NULL, &error),
                     FIRN_OK);
    assert_null(catalog_generator(w("bad")));
    call = ask_for(mine(), VERB_NEW, "users", NULL);
    char text[FIRN_TEXT_SIZE + 66];
    assert_answered(&call, ask(&call));
    assert_int_equal(call.reply.kind, REPLY_IDS);
    assert_int_equal(reply_write_id(text, &call.request, &call.reply, 0), 16);
    assert_int_equal(call.reply.ids[0].low >> 12 & 1023, 1 << 5 | 7);
    leave(&call);
    call = ask_for(mine(), VERB_NEW, "users", "as", "dec", NULL);
    assert_answered(&call, ask(&call));
    assert_int_equal(call.reply.kind, REPLY_NUMBERS);
    leave(&call);
    call = ask_for(mine(), VERB_NEW, "things", NULL);
    assert_answered(&call, ask(&call));
    text[reply_write_id(text, &call.request, &call.reply, 0)] = '\0';
    assert_memory_equal(text, "thing_", 6);
    assert_int_equal(strlen(text), 32);
    leave(&call);
    for (int64_t wanted = 2; wanted < 8; wanted += 2) {
        call = ask_for(mine(), VERB_NEXT, "even", NULL);
        assert_answered(&call, ask(&call));
        assert_int_equal(call.reply.first, wanted);
        leave(&call);
    }
}

/* How long a window lasts is known with reach=10min, too. */
static void a_window_of_minutes_is_one(void **state) {
    (void)state;
    firn_error error;
    assert_int_equal(catalog_add_generator("long", "snowflake", "ns=long reach=10min window=10min",
                                           NULL, NULL, NULL, &error),
                     FIRN_OK);
    task_call call = ask_for(mine(), VERB_NEW, "long", NULL);
    assert_answered(&call, ask(&call));
    leave(&call);
    const int64_t left = generator_window_ms(catalog_generator(w("long")));
    assert_in_range(left, 1, WINDOW_MOST_MS - 1);
    call = ask_for(mine(), VERB_STATUS, "", NULL);
    assert_answered(&call, ask(&call));
    const json_t *first = json_array_get(json_object_get(call.reply.json, "generators"), 0);
    assert_string_equal(json_string_value(json_object_get(first, "name")), "long");
    assert_true(json_is_integer(json_object_get(first, "window_ms")));
    leave(&call);
}

static void back_dated_ids_carry_their_instant(void **state) {
    (void)state;
    static const char *const names[] = {"snowflake", "uuid7", "ulid", "ksuid"};
    for (size_t i = 0; i < 4; i++) {
        task_call call =
            ask_for(mine(), VERB_NEW, names[i], "time", "2021-03-04T05:06:07Z", "n", "200", NULL);
        firn_fields fields = {0};
        firn_time time;
        const firn_scheme *scheme = firn_scheme_find(names[i]);
        assert_answered(&call, ask(&call));
        assert_int_equal(call.reply.count, 200);
        for (size_t j = 0; j < 200; j++) {
            assert_int_equal(firn_unpack(&fields, scheme, &call.reply.ids[j], NULL), FIRN_OK);
            int time_index = firn_scheme_field(scheme, "time");
            firn_scheme_time(scheme, fields.value[time_index].low, &time);
            assert_int_equal(time.sec, 1614834367);
            assert_true(j == 0 || firn_id_cmp(&call.reply.ids[j], &call.reply.ids[j - 1]) != 0);
        }
        leave(&call);
    }
}

static void a_name_always_has_the_same_uuid5(void **state) {
    (void)state;
    char text[FIRN_TEXT_SIZE + 66];
    task_call call =
        ask_for(mine(), VERB_NEW, "uuid5", "namespace", "dns", "name", "www.example.com", NULL);
    assert_answered(&call, ask(&call));
    text[reply_write_id(text, &call.request, &call.reply, 0)] = '\0';
    assert_string_equal(text, "2ed6657d-e927-568b-95e1-2665a8aea6a2"); /* RFC 9562, A.4 */
    leave(&call);
    assert_refused(ask_for(mine(), VERB_NEW, "uuid5", "name", "x", NULL), FIRN_EUSAGE, "NAMESPACE");
    assert_refused(ask_for(mine(), VERB_NEW, "uuid3", "namespace", "dns", NULL), FIRN_EUSAGE,
                   "needs a name");
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void what_is_wrong_is_refused_with_its_cure(void **state) {
    (void)state;
    server_worker *worker = mine();
    server_request nobody = {.worker = worker, .verb = VERB_NEW, .name = w("uuid7")};
    firn_error error;
    assert_int_equal(request_read(&nobody, &error), FIRN_EUSAGE);
    assert_refused(ask_for(worker, VERB_NEW, "snowflage", NULL), FIRN_EUSAGE,
                   "did you mean `snowflake`?");
    assert_refused(ask_for(worker, VERB_NEW, "", NULL), FIRN_EUSAGE, "is missing");
    assert_refused(ask_for(worker, VERB_NEW, "uuid2", NULL), FIRN_EUSAGE, "does not generate them");
    assert_refused(ask_for(worker, VERB_NEW, "order", NULL), FIRN_EUSAGE, "key");
    assert_refused(ask_for(worker, VERB_NEW, "time-member", NULL), FIRN_EUSAGE, "[generator NAME]");
    assert_refused(ask_for(worker, VERB_NEW, "snowflake", "worker", "3", NULL), FIRN_EUSAGE,
                   "firn.ini");
    assert_refused(ask_for(worker, VERB_NEW, "snowflake", "ns", "x", NULL), FIRN_EUSAGE,
                   "firn.ini");
    assert_refused(ask_for(worker, VERB_NEW, "snowflake", "cuont", "3", NULL), FIRN_EUSAGE,
                   "did you mean `COUNT`?");
    assert_refused(ask_for(worker, VERB_NEW, "snowflake", "count", "0", NULL), FIRN_ERANGE,
                   "COUNT 0 is out of range: use 1 to 65536");
    assert_refused(ask_for(worker, VERB_NEW, "uuid7", "count", "65537", NULL), FIRN_ERANGE,
                   "1 to 65536");
    assert_refused(ask_for(worker, VERB_NEW, "uuid7", "count", "-1", NULL), FIRN_ERANGE,
                   "COUNT -1 is out of range: use 1 to 65536");
    assert_refused(ask_for(worker, VERB_NEW, "uuid7", "count", "-", NULL), FIRN_EUSAGE,
                   "COUNT - is not a number");
    assert_refused(ask_for(worker, VERB_NEW, "uuid7", "count", "2x", NULL), FIRN_EUSAGE,
                   "COUNT 2x is not a number: use 1 to 65536");
    assert_refused(ask_for(worker, VERB_NEW, "uuid7", "count", "99999999999999999999", NULL),
                   FIRN_ERANGE, "1 to 65536");
    assert_refused(ask_for(worker, VERB_NEW, "uuid7", "count", "1", "count", "2", NULL),
                   FIRN_EUSAGE, "twice");
    assert_refused(ask_for(worker, VERB_NEW, "uuid4", "time", "2020-01-01T00:00:00Z", NULL),
                   FIRN_EUSAGE, "contain no time");
    assert_refused(ask_for(worker, VERB_NEW, "uuid7", "time", "yesterday", NULL), FIRN_ETEXT,
                   "time=yesterday");
    assert_refused(ask_for(worker, VERB_NEW, "snowflake", "time", "1999-01-01T00:00:00Z", NULL),
                   FIRN_ELAYOUT, "");
    task_call early = ask_for(worker, VERB_NEW, "snowflake", "time", "1999-01-01T00:00:00Z", NULL);
    assert_int_equal(ask(&early), FIRN_ELAYOUT); /* the advice is for clients */
    translate_error(&early.error, SURFACE_SERVER);
    assert_null(strstr(early.error.text, "epoch="));
    assert_null(strstr(early.error.text, "bits="));
    assert_refused(ask_for(worker, VERB_NEW, "qqqqqqqqqqqq", NULL), FIRN_EUSAGE,
                   "there is no generator 'qqqqqqqqqqqq'");
    assert_refused(
        ask_for(worker, VERB_NEW, "js53", "time", "2026-01-01T00:00:00Z", "n", "5000", NULL),
        FIRN_ERANGE, "at most 4096 at once");
    assert_refused(ask_for(worker, VERB_NEW, "snowflake", "as", "uuid", NULL), FIRN_EUSAGE,
                   "an ID of 64 bits has no form");
    assert_refused(ask_for(worker, VERB_NEW, "uuid7", "prefix", "user", NULL), FIRN_EUSAGE,
                   "applies to the form typeid");
    assert_refused(ask_for(worker, VERB_NEXT, "k", "count", "0", NULL), FIRN_ERANGE, "1 to");
    assert_refused(ask_for(worker, VERB_NEXT, "k", "count", "9223372036854775807", NULL),
                   FIRN_ERANGE, "1 to 2305843009213693952");
    assert_refused(ask_for(worker, VERB_NEXT, "a b", NULL), FIRN_EUSAGE, "blanks");
    assert_refused(ask_for(worker, VERB_NEXT, "", NULL), FIRN_ERANGE, "1 to 63");
    assert_refused(ask_for(worker, VERB_RUNS, "uuid7", NULL), FIRN_EUSAGE, "128");
    assert_null(catalog_segment_at(0));
}

static void a_request_takes_no_more_integers_than_it_may(void **state) {
    (void)state;
    catalog_allow_block(1000);
    assert_refused(ask_for(mine(), VERB_NEXT, "k", "count", "1001", NULL), FIRN_ERANGE,
                   "COUNT 1001 is out of range: use 1 to 1000 (max_block)");
    assert_refused(ask_for(mine(), VERB_BLOCK, "k", "n", "1001", NULL), FIRN_ERANGE, "max_block");
    assert_null(catalog_segment(w("k")));
    task_call call = ask_for(mine(), VERB_NEXT, "k", "count", "1000", NULL);
    assert_answered(&call, ask(&call));
    leave(&call);
    catalog_allow_block(INT64_C(1) << 61);
    call = ask_for(mine(), VERB_NEXT, "k", "count", "1001", NULL);
    assert_answered(&call, ask(&call));
    leave(&call);
}

static void names_of_the_other_kind_say_what_to_ask(void **state) {
    (void)state;
    firn_error error;
    catalog_allow(0);
    assert_int_equal(catalog_add_generator("ids", "tsid", "", NULL, NULL, NULL, &error), FIRN_OK);
    assert_int_equal(catalog_add_segment("orders", "", NULL, &error), FIRN_OK);
    assert_refused(ask_for(mine(), VERB_NEXT, "ids", NULL), FIRN_EUSAGE,
                   "'ids' is a generator, not a segment: use FIRN.NEW ids");
    assert_refused(ask_for(mine(), VERB_NEXT, "uuid7", NULL), FIRN_EUSAGE,
                   "'uuid7' is a scheme, not a segment: use FIRN.NEW uuid7");
    assert_refused(ask_for(mine(), VERB_RUNS, "qqqqqqqqqqqq", NULL), FIRN_EUSAGE,
                   "there is no scheme 'qqqqqqqqqqqq'");
    assert_refused(ask_for(mine(), VERB_NEW, "orders", NULL), FIRN_EUSAGE,
                   "'orders' is a segment, not a generator: use INCR orders");
    catalog_allow(50);
    assert_refused(ask_for(mine(), VERB_NEXT, "ids", NULL), FIRN_EUSAGE, "'ids' is a generator");
    assert_refused(ask_for(mine(), VERB_BLOCK, "ids", NULL), FIRN_EUSAGE, "'ids' is a generator");
    assert_null(catalog_segment((word){"ids", 3}));
}

static void what_is_checked_only_is_not_added(void **state) {
    (void)state;
    firn_error error;
    assert_int_equal(catalog_check_generator("g", "snowflake", "", NULL, NULL, NULL, &error),
                     FIRN_OK);
    assert_int_equal(catalog_check_generator("g", "uuid7", "", NULL, NULL, NULL, &error), FIRN_OK);
    assert_int_equal(catalog_check_segment("s", "start=5", NULL, &error), FIRN_OK);
    assert_int_equal(catalog_check_generator("g", "snowflake", "foo=1", NULL, NULL, NULL, &error),
                     FIRN_EUSAGE);
    assert_int_equal(catalog_check_generator("g", "uuid7", "", "nosuch://x", NULL, NULL, &error),
                     FIRN_EUSAGE);
    assert_int_equal(catalog_check_segment("s", "foo=1", NULL, &error), FIRN_EUSAGE);
    assert_int_equal(catalog_check_segment("s", "", "sqlite", &error), FIRN_EUSAGE);
    assert_null(catalog_generator_at(0));
    assert_null(catalog_segment_at(0));
}

static void segments_are_made_on_demand_up_to_a_limit(void **state) {
    (void)state;
    catalog_allow(2);
    task_call call = ask_for(mine(), VERB_NEXT, "a", NULL);
    assert_answered(&call, ask(&call));
    leave(&call);
    call = ask_for(mine(), VERB_NEXT, "b", NULL);
    assert_answered(&call, ask(&call));
    leave(&call);
    assert_refused(ask_for(mine(), VERB_NEXT, "c", NULL), FIRN_ERANGE, "max_auto_create");
    catalog_allow(0);
    assert_refused(ask_for(mine(), VERB_NEXT, "c", NULL), FIRN_EUSAGE, "[segment NAME]");
    call = ask_for(mine(), VERB_NEXT, "b", NULL);
    assert_answered(&call, ask(&call));
    assert_int_equal(call.reply.first, 2);
    leave(&call);
}

static void generators_are_opened_up_to_a_bound(void **state) {
    (void)state;
    renewers_stop(STOP_MS);
    catalog_end();
    assert_int_equal(begin_with(url, 1, 1, 0), FIRN_OK);
    task_call call = ask_for(mine(), VERB_NEW, "tsid", NULL);
    assert_answered(&call, ask(&call));
    leave(&call);
    assert_refused(ask_for(mine(), VERB_NEW, "snowflake", NULL), FIRN_ERANGE, "max_generators");
    assert_refused(ask_for(mine(), VERB_NEW, "uuid7", NULL), FIRN_ERANGE, "max_generators");
}

static void what_is_exhausted_waits_unless_it_is_set_to_fail(void **state) {
    (void)state;
    firn_error error;
    const char *row = "0x0:1 time:41/ms node:10 sequence:2"; /* 4 IDs a ms */
    assert_int_equal(catalog_add_generator("fails", row, "full=fail max_back=0 max_lead=0", NULL,
                                           NULL, NULL, &error),
                     FIRN_OK);
    assert_int_equal(catalog_add_generator("waits", row, "full=wait max_back=0 max_lead=0", NULL,
                                           NULL, NULL, &error),
                     FIRN_OK);
    int seen[2] = {0, 0};
    const char *const names[] = {"fails", "waits"};
    for (int k = 0; k < 2; k++) {
        task_call call = ask_for(mine(), VERB_NEW, names[k], NULL);
        assert_answered(&call, ask(&call));
        for (int i = 0; i < 1000 && seen[k] == 0; i++) {
            int64_t since = now_ns();
            int code = request_answer(&call.request, 4, &call.reply, &call.error);
            assert_true(now_ns() - since < 2000000000); /* the caller never sleeps for max_wait */
            if (code != FIRN_OK) {
                assert_int_equal(call.error.code, FIRN_EEXHAUSTED);
                seen[k] = code;
            }
        }
        leave(&call);
    }
    assert_int_equal(seen[0], FIRN_EEXHAUSTED);
    assert_int_equal(seen[1], REQUEST_LATER);
}

/* ---- stores that go -------------------------------------------------------------------------- */

static char gone[300];

static void take_store_away(void) {
    snprintf(gone, sizeof gone, "%.250s.gone", folder);
    assert_int_equal(rename(folder, gone), 0);
}

static void bring_store_back(void) {
    assert_int_equal(rename(gone, folder), 0);
}

static void issuing_continues_through_an_outage_as_windows_allow(void **state) {
    (void)state;
    firn_error error;
    char why[SERVER_WHY_SIZE] = "";
    uint64_t last = 0;
    assert_int_equal(
        catalog_add_generator("g", "snowflake", "window=1500ms", NULL, NULL, NULL, &error),
        FIRN_OK);
    assert_int_equal(catalog_add_segment("s", "step=50", NULL, &error), FIRN_OK);
    task_call id = ask_for(mine(), VERB_NEW, "g", NULL),
              next = ask_for(mine(), VERB_NEXT, "s", NULL);
    assert_answered(&id, ask(&id));
    assert_answered(&next, ask(&next));
    for (int i = 0; i < PATIENCE_MS && !catalog_ready(why); i++) {
        nap(1);
    }
    assert_true(catalog_ready(why));
    take_store_away();
    assert_answered(&id, answer(&id, 1));
    last = id.reply.numbers[0];
    assert_answered(&next, answer(&next, 1));
    int64_t integer = next.reply.first;
    id.wait_ms = next.wait_ms = 0;
    int code = FIRN_OK;
    /* until the window is used up, and the renewer has found out why */
    for (int i = 0; i < PATIENCE_MS && code != FIRN_ESTORE; i++) {
        code = answer(&id, 1);
        if (code == FIRN_OK) {
            assert_true(id.reply.numbers[0] > last);
            last = id.reply.numbers[0];
        }
        nap(1);
    }
    assert_int_equal(code, FIRN_ESTORE); /* in the store's words */
    code = FIRN_OK;
    for (int i = 0; i < PATIENCE_MS && code != FIRN_ESTORE; i++) {
        code = answer(&next, 1);
        if (code == FIRN_OK) {
            assert_true(next.reply.first > integer);
            integer = next.reply.first;
        }
        nap(i % 100 == 99 || code != FIRN_OK);
    }
    assert_int_equal(code, FIRN_ESTORE);
    assert_false(catalog_ready(why));
    assert_true(strlen(why) > 0);
    renewer_state store;
    assert_true(renewer_look(0, &store));
    assert_false(store.usable);
    assert_true(store.failures > 0);
    bring_store_back();
    id.wait_ms = next.wait_ms = PATIENCE_MS;
    assert_answered(&id, answer(&id, 1));
    assert_true(id.reply.numbers[0] > last);
    assert_answered(&next, answer(&next, 1));
    assert_true(next.reply.first > integer);
    leave(&id);
    leave(&next);
    for (int i = 0; i < PATIENCE_MS && !catalog_ready(why); i++) {
        nap(1);
    }
    assert_true(catalog_ready(why));
    assert_true(renewer_look(0, &store));
    assert_true(store.usable);
}

static void threads_repeat_nothing_through_outages(void **state) {
    firn_error error;
    renewer_state store = {.failures = 0};
    char why[SERVER_WHY_SIZE];
    hand hands[THREADS] = {0};
    uint64_t *numbers = calloc((size_t)THREADS * EACH / 2, sizeof *numbers);
    (void)state;
    assert_non_null(numbers);
    assert_int_equal(catalog_add_generator("g", "0x0:1 time:41/ms node:14 sequence:8",
                                           "window=60ms max_back=20ms max_lead=20ms", NULL, NULL,
                                           NULL, &error),
                     FIRN_OK);
    assert_int_equal(catalog_add_segment("s", "step=500 adapt=0", NULL, &error), FIRN_OK);
    for (size_t i = 0; i < THREADS; i++) {
        hands[i].by = workers[i];
        hands[i].verb = i % 2 ? VERB_NEXT : VERB_NEW;
        hands[i].name = i % 2 ? "s" : "g";
        hands[i].n = EACH / 2;
        hands[i].numbers = numbers + (i / 2 + (i % 2) * (THREADS / 2)) * (EACH / 2);
        assert_int_equal(pthread_create(&hands[i].thread, NULL, work, &hands[i]), 0);
    }
    for (int i = 0; i < PATIENCE_MS && !catalog_ready(why);
         i++) { /* else there is nothing to take */
        nap(1);
    }
    for (int i = 0; i < 60 && (i < 3 || store.failures == 0); i++) {
        nap(100);
        take_store_away();
        nap(150);
        bring_store_back();
        assert_true(renewer_look(0, &store));
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(hands[i].thread, NULL);
        assert_answered(&hands[i], hands[i].code);
        assert_int_equal(hands[i].falls, 0);
    }
    const size_t half = (size_t)THREADS / 2 * (EACH / 2);
    assert_int_equal(duplicates(numbers, half), 0);
    assert_int_equal(duplicates(numbers + half, half), 0);
    assert_true(store.failures > 0);
    free(numbers);
}

/* A server that takes connections and says nothing. */
static int open_silent(int *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

static void a_store_that_hangs_holds_up_no_other(void **state) {
    firn_error error;
    char silent[64];
    int port, fd = open_silent(&port);
    renewer_state item = {0};
    (void)state;
    snprintf(silent, sizeof silent, "redis://127.0.0.1:%d/", port);
    assert_int_equal(catalog_add_segment("slow", "", silent, &error), FIRN_OK);
    for (int i = 0; i < PATIENCE_MS && item.busy_ms == 0; i++) { /* until its renewer hangs in it */
        nap(1);
        assert_true(renewer_look(0, &item));
    }
    task_call slow = ask_for(mine(), VERB_NEXT, "slow", NULL);
    assert_int_equal(request_read(&slow.request, &slow.error), FIRN_OK);
    int64_t since = now_ns();
    assert_int_equal(request_answer(&slow.request, 1, &slow.reply, &slow.error), REQUEST_LATER);
    assert_true(now_ns() - since < 500000000); /* the call did not wait for the store */
    leave(&slow);
    for (int i = 0; i < 5; i++) {
        task_call fast = ask_for(mine(), VERB_NEXT, "fast", NULL);
        assert_answered(&fast, ask(&fast));
        leave(&fast);
    }
    slow = ask_for(mine(), VERB_NEXT, "slow", NULL);
    slow.wait_ms = 3000;
    assert_int_equal(ask(&slow), FIRN_ESTORE);
    leave(&slow);
    close(fd);
}

static void tasks_fail_in_the_stores_words_while_it_is_out(void **state) {
    (void)state;
    firn_error error;
    task_call call = ask_for(mine(), VERB_NEXT, "before", NULL);
    assert_answered(&call, ask(&call));
    leave(&call);
    take_store_away();
    call = ask_for(mine(), VERB_NEXT, "after", NULL);
    assert_int_equal(ask(&call), FIRN_ESTORE);
    leave(&call);
    call = ask_for(mine(), VERB_NEW, "snowflake", NULL);
    assert_int_equal(ask(&call), FIRN_ESTORE);
    leave(&call);
    assert_null(catalog_segment(w("after")));
    assert_null(catalog_generator(w("snowflake")));
    assert_int_equal(catalog_add_generator("later", "tsid", "", NULL, NULL, NULL, &error), FIRN_OK);
    bring_store_back();
    const char *const names[] = {"snowflake", "later"};
    for (int i = 0; i < 2; i++) {
        call = ask_for(mine(), VERB_NEW, names[i], NULL);
        assert_answered(&call, ask(&call));
        leave(&call);
    }
}

static void an_task_whose_client_is_gone_costs_numbers_only(void **state) {
    (void)state;
    sem_t bell;
    int64_t before;
    task_call call = ask_for(mine(), VERB_NEXT, "k", NULL);
    assert_answered(&call, ask(&call));
    before = call.reply.first;
    leave(&call);
    call = ask_for(mine(), VERB_NEXT, "k", "count", "3000000", NULL);
    assert_int_equal(request_read(&call.request, &call.error), FIRN_OK);
    assert_int_equal(request_answer(&call.request, 1, &call.reply, &call.error), REQUEST_TASK);
    sem_init(&bell, 0, 0);
    const task_client client = patient(&bell);
    assert_int_equal(request_send(&call.request, &client, &call.sent, &call.error), FIRN_OK);
    while (sem_wait(&bell) != 0) {
    }
    sem_destroy(&bell);
    leave(&call); /* never finished */
    call = ask_for(mine(), VERB_NEXT, "k", NULL);
    assert_answered(&call, ask(&call));
    assert_true(call.reply.first > before + 3000000);
    leave(&call);
}

/* ---- the queue of a renewer ------------------------------------------------------------------ */

/* A task that only notes that it was there. */
typedef struct entry {
    renewer_task task; /* first */
    char name;
    enum task_need need;
    sem_t *holds; /* runs until this is posted; NULL: not */
} entry;

static char order[TASKS_MAX + 10]; /* the names, a capital for those that were refused */
static size_t ordered;
static sem_t begun, ended;

static void note_entry(const entry *self, bool ran) {
    order[ordered++] = ran ? self->name : (char)(self->name - 'a' + 'A');
}

static enum task_need wish_entry(renewer_task *self, firn_error *why) {
    why->code = FIRN_ESTORE;
    return ((entry *)self)->need;
}

static void run_entry(renewer_task *self) {
    entry *state = (entry *)self;
    if (state->holds != NULL) {
        sem_post(&begun);
        while (sem_wait(state->holds) != 0) {
        }
    } else {
        note_entry(state, true);
    }
}

static void refuse_entry(renewer_task *self, const firn_error *why) {
    (void)why;
    note_entry((entry *)self, false);
}

static void done_entry(renewer_task *self) {
    (void)self;
    sem_post(&ended);
}

static entry make_entry(char name, enum task_need need) {
    return (entry){.task = {.need = wish_entry,
                            .run = run_entry,
                            .refuse = refuse_entry,
                            .done = done_entry,
                            .client = (uint64_t)name},
                   .name = name,
                   .need = need};
}

/* Sends all while the renewer is busy, so that they queue, and then lets it work. */
static void run_entries(entry *all, size_t count, const entry *taken_back) {
    sem_t hold;
    store_renewer *renewer = catalog_renewer(NULL);
    entry first = make_entry('-', NEED_STAYS);
    first.holds = &hold;
    ordered = 0;
    sem_init(&hold, 0, 0);
    sem_init(&begun, 0, 0);
    sem_init(&ended, 0, 0);
    list_clear(&first.task.place);
    assert_true(renewer_send(renewer, &first.task));
    while (sem_wait(&begun) != 0) {
    }
    for (size_t i = 0; i < count; i++) {
        list_clear(&all[i].task.place);
        assert_true(renewer_send(renewer, &all[i].task));
    }
    if (taken_back != NULL) {
        assert_true(renewer_take_back(renewer, (renewer_task *)(uintptr_t)&taken_back->task));
        assert_false(renewer_take_back(renewer, (renewer_task *)(uintptr_t)&taken_back->task));
        count--;
    }
    sem_post(&hold);
    for (size_t i = 0; i < count + 1; i++) {
        while (sem_wait(&ended) != 0) {
        }
    }
    order[ordered] = '\0';
    sem_destroy(&hold);
    sem_destroy(&begun);
    sem_destroy(&ended);
}

static void clients_of_a_store_take_turns(void **state) {
    entry all[9];
    (void)state;
    for (size_t i = 0; i < 9; i++) {
        all[i] = make_entry("aaaaabbac"[i], NEED_STAYS);
    }
    run_entries(all, 9, NULL);
    assert_string_equal(order, "abcabaaaa");
    run_entries(all, 9, &all[1]); /* the others keep their places */
    assert_string_equal(order, "abcbaaaa");
}

static void what_nobody_wants_any_more_is_not_run(void **state) {
    entry all[6];
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        all[i] = make_entry("abcdef"[i], i == 1 ? NEED_IS_OVER : i == 0 ? NEED_FADES : NEED_STAYS);
    }
    run_entries(all, 6, NULL); /* a may have left, so the others go first */
    assert_string_equal(order, "Bcdefa");
}

static void a_full_queue_refuses_those_who_have_most(void **state) {
    static entry all[TASKS_MAX + 1];
    (void)state;
    for (size_t i = 0; i < TASKS_MAX + 1; i++) {
        all[i] = make_entry(i < TASKS_MAX ? 'a' : 'b', NEED_STAYS);
    }
    run_entries(all, TASKS_MAX + 1, NULL);
    assert_int_equal(strlen(order), TASKS_MAX + 1);
    assert_memory_equal(order, "Aab", 3);
}

/* The store's record of a key of a namespace. */
typedef struct look {
    const char *ns;
    int64_t high;
    uint64_t grant;
    int found;
} look;

static int see(void *context, const firn_holding *holding) {
    look *self = context;
    if (strcmp(holding->ns, self->ns) == 0) {
        self->high = holding->mark.high;
        self->grant = holding->mark.grant;
        self->found++;
    }
    return 0;
}

static look look_at(const char *ns) {
    look self = {.ns = ns};
    firn_store *store;
    assert_int_equal(firn_store_open(&store, url, NULL, NULL), FIRN_OK);
    assert_int_equal(firn_store_list(store, NULL, see, &self, NULL), FIRN_OK);
    firn_store_close(store);
    return self;
}

static void what_was_not_issued_is_given_back_at_the_end(void **state) {
    (void)state;
    task_call id = ask_for(mine(), VERB_NEW, "snowflake", NULL),
              next = ask_for(mine(), VERB_NEXT, "k", NULL);
    assert_answered(&id, ask(&id));
    assert_answered(&next, ask(&next));
    leave(&id);
    leave(&next);
    look node = look_at("snowflake"), integer = look_at("integer k");
    assert_int_equal(node.found, 1);
    assert_int_not_equal(node.grant, 0);
    assert_true(integer.high >= 1001);
    renewers_stop(STOP_MS);
    look after = look_at("snowflake"), integer_after = look_at("integer k");
    assert_int_equal(after.grant, 0);
    assert_true(after.high < node.high);
    assert_true(integer_after.high < integer.high);
    assert_int_equal(integer_after.high, 2);
}

static void two_servers_on_one_store_share_its_integers(void **state) {
    (void)state;
    firn_error error;
    char other[330];
    snprintf(other, sizeof other, "%s?busy=9s", url); /* another URL: another renewer */
    assert_int_equal(catalog_add_segment("k", "", NULL, &error), FIRN_OK);
    task_call call = ask_for(mine(), VERB_NEXT, "k", NULL);
    assert_answered(&call, ask(&call));
    leave(&call);
    firn_store *store;
    firn_segment *range;
    int64_t value;
    assert_int_equal(firn_store_open(&store, other, NULL, &error), FIRN_OK);
    assert_int_equal(firn_segment_open(&range, "k", "", store, NULL, &error), FIRN_OK);
    assert_int_equal(firn_segment_next(range, &value, &error), FIRN_OK);
    assert_true(value > 1000);
    firn_segment_close(range, NULL);
    firn_store_close(store);
}

/* ---- reading and status ---------------------------------------------------------------------- */

static const char *member(const json_t *object, const char *name) {
    return json_string_value(json_object_get(object, name));
}

static void ids_are_packed_shown_bounded_and_converted(void **state) {
    (void)state;
    char text[FIRN_TEXT_SIZE + 66];
    task_call call = ask_for(mine(), VERB_PACK, "snowflake", "time", "2020-01-02T03:04:05Z",
                             "datacenter", "1", "worker", "2", "sequence", "3", NULL);
    assert_answered(&call, ask(&call));
    text[reply_write_id(text, &call.request, &call.reply, 0)] = '\0';
    leave(&call);
    call = ask_for(mine(), VERB_SHOW, text, "scheme", "snowflake", NULL);
    assert_answered(&call, ask(&call));
    assert_string_equal(member(call.reply.json, "id"), text);
    assert_string_equal(member(call.reply.json, "time"), "2020-01-02T03:04:05.000Z");
    const json_t *fields = json_object_get(call.reply.json, "fields");
    assert_int_equal(json_integer_value(json_object_get(fields, "worker")), 2);
    leave(&call);
    call = ask_for(mine(), VERB_RANGE, "snowflake", "from", "2020-01-02T03:04:05Z", "to",
                   "2020-01-02T03:04:06Z", NULL);
    assert_answered(&call, ask(&call));
    assert_true(strcmp(member(call.reply.json, "least"), text) < 0);
    assert_true(strcmp(member(call.reply.json, "greatest"), text) > 0);
    leave(&call);
    call =
        ask_for(mine(), VERB_CONVERT, "c232ab00-9414-11ec-b3c8-9f6bdeced846", "to", "uuid6", NULL);
    assert_answered(&call, ask(&call));
    text[reply_write_id(text, &call.request, &call.reply, 0)] = '\0';
    assert_string_equal(text, "1ec9414c-232a-6b00-b3c8-9f6bdeced846"); /* RFC 9562, A.1 and A.5 */
    leave(&call);
    call = ask_for(mine(), VERB_CONVERT, "c232ab00-9414-11ec-b3c8-9f6bdeced846", "to", "hex", NULL);
    assert_answered(&call, ask(&call));
    text[reply_write_id(text, &call.request, &call.reply, 0)] = '\0';
    assert_string_equal(text, "c232ab00941411ecb3c89f6bdeced846");
    leave(&call);
    call = ask_for(mine(), VERB_SCHEMES, "", NULL);
    assert_answered(&call, ask(&call));
    assert_true(json_array_size(call.reply.json) > 25);
    assert_true(call.reply.is_table);
    const json_t *table = call.reply.json;
    leave(&call);
    call = ask_for(mine(), VERB_SCHEMES, "", NULL);
    assert_answered(&call, ask(&call));
    assert_ptr_equal(call.reply.json, table); /* made once */
    leave(&call);
    call = ask_for(mine(), VERB_SCHEMES, "xid", NULL);
    assert_answered(&call, ask(&call));
    assert_string_equal(member(call.reply.json, "name"), "xid");
    leave(&call);
    assert_refused(ask_for(mine(), VERB_PACK, "snowflake", "worker", "2", NULL), FIRN_EUSAGE, "");
    assert_refused(ask_for(mine(), VERB_SHOW, "no id at all!", NULL), FIRN_ETEXT, "not an ID");
    assert_refused(ask_for(mine(), VERB_SHOW, "1", "cheme", "tsid", NULL), FIRN_EUSAGE,
                   "did you mean `SCHEME`?");
    assert_refused(ask_for(mine(), VERB_RANGE, "snowflake", "from", "2020-01-02T03:04:05Z", NULL),
                   FIRN_EUSAGE, "to is missing");
    assert_refused(ask_for(mine(), VERB_CONVERT, "1", NULL), FIRN_EUSAGE, "the target is missing");
}

static void status_spread_and_nodes_list_everything(void **state) {
    (void)state;
    task_call id = ask_for(mine(), VERB_NEW, "snowflake", "count", "40", NULL),
              next = ask_for(mine(), VERB_NEXT, "k", NULL);
    for (int i = 0; i < 20; i++) {
        assert_answered(&id, ask(&id));
    }
    assert_answered(&next, ask(&next));
    task_call call = ask_for(mine(), VERB_STATUS, "", NULL);
    assert_answered(&call, ask(&call));
    const json_t *generators = json_object_get(call.reply.json, "generators");
    const json_t *first = json_array_get(generators, 0);
    assert_string_equal(member(first, "name"), "snowflake");
    assert_true(json_is_true(json_object_get(first, "held")));
    assert_int_equal(json_integer_value(json_object_get(first, "issued")), 800);
    int64_t left = json_integer_value(json_object_get(first, "window_ms"));
    assert_in_range(left, 1, 30000);
    const json_t *segments = json_object_get(call.reply.json, "segments");
    assert_string_equal(member(json_array_get(segments, 0), "last"), "1");
    assert_true(json_is_true(json_object_get(call.reply.json, "ready")));
    leave(&call);
    call = ask_for(mine(), VERB_SPREAD, "snowflake", "shards", "8", NULL);
    assert_answered(&call, ask(&call));
    int64_t sum = 0;
    for (size_t i = 0; i < 8; i++) {
        sum += json_integer_value(json_array_get(json_object_get(call.reply.json, "hash"), i));
    }
    assert_int_equal(sum, 160);
    assert_int_equal(json_integer_value(json_object_get(call.reply.json, "ids")), 160);
    leave(&call);
    call = ask_for(mine(), VERB_NODES, "", NULL);
    assert_answered(&call, ask(&call));
    assert_int_equal(json_array_size(call.reply.json), 2);
    leave(&call);
    leave(&id);
    leave(&next);
}

static void a_store_that_is_invalid_is_refused_at_once(void **state) {
    (void)state;
    firn_error error;
    store_renewer *renewer, *two, *three;
    assert_int_equal(catalog_add_segment("k", "", "cassandra://x", &error), FIRN_EUSAGE);
    assert_null(catalog_segment(w("k")));
    assert_int_equal(renewer_of(&renewer, "memory:", &error), FIRN_OK);
    assert_int_equal(renewer_of(&two, "memory:", &error), FIRN_OK);
    assert_int_equal(renewer_of(&three, url, &error), FIRN_OK);
    assert_ptr_equal(renewer, two);
    assert_ptr_not_equal(renewer, three);
}

static void a_password_of_a_store_is_shown_to_nobody(void **state) {
    (void)state;
    firn_error error;
    store_renewer *renewer;
    renewer_state seen;
    assert_int_equal(
        renewer_of(&renewer, "redis://user:se@cret@127.0.0.1:1/?password=secret", &error), FIRN_OK);
    assert_true(renewer_look(0, &seen));
    assert_string_equal(seen.url, "redis://127.0.0.1:1/");
}

/* ---- figures --------------------------------------------------------------------------------- */

/* The best of some runs: others use the machine too. */
static double time_of(task_call *call, size_t times, size_t rounds) {
    double best = 1e9;
    for (int run = 0; run < 10; run++) {
        int64_t since = now_ns();
        size_t got = 0;
        for (size_t i = 0; i < rounds; i++) {
            int code = request_answer(&call->request, times, &call->reply, &call->error);
            for (int j = 0; j < 10000 && code == REQUEST_LATER; j++) { /* a machine that is busy */
                nap(1);
                code = request_answer(&call->request, times, &call->reply, &call->error);
            }
            assert_int_equal(code, FIRN_OK);
            got += call->reply.count;
        }
        double value = (double)(now_ns() - since) / (double)got;
        best = value < best ? value : best;
    }
    return best;
}

static void what_an_answer_costs_is_printed(void **state) {
    (void)state;
    firn_error error;
    const char *wide = "0x0:1 time:41/ms node:4 sequence:18";
    assert_int_equal(catalog_add_generator("wide", wide, "", NULL, NULL, NULL, &error), FIRN_OK);
    assert_int_equal(catalog_add_segment("s", "step=1000000", NULL, &error), FIRN_OK);
    task_call id = ask_for(mine(), VERB_NEW, "wide", NULL),
              next = ask_for(mine(), VERB_NEXT, "s", NULL);
    task_call uuid = ask_for(mine(), VERB_NEW, "uuid7", NULL);
    assert_answered(&id, ask(&id));
    assert_answered(&next, ask(&next));
    assert_answered(&uuid, ask(&uuid));
    nap(50);
    print_message(
        "# ns an ID: new x64 %.2f, new x16 %.2f, new x1 %.1f, uuid7 x64 %.1f, uuid7 x1 %.1f\n",
        time_of(&id, 64, 1000), time_of(&id, 16, 1000), time_of(&id, 1, 5000),
        time_of(&uuid, 64, 200), time_of(&uuid, 1, 2000));
    print_message("# ns an integer: next x64 %.2f, next x1 %.1f\n", time_of(&next, 64, 500),
                  time_of(&next, 1, 5000));
    double best = 1e9;
    for (int run = 0; run < 10; run++) {
        int64_t since = now_ns();
        for (int i = 0; i < 10000; i++) {
            assert_int_equal(request_read(&id.request, &id.error), FIRN_OK);
        }
        double value = (double)(now_ns() - since) / 10000;
        best = value < best ? value : best;
    }
    print_message("# ns a request_read without words: %.1f\n", best);
    leave(&id);
    leave(&next);
    leave(&uuid);
}

static void a_cure_whose_value_does_not_fit_stays_the_librarys(void **state) {
    (void)state;
    firn_error error;
    for (int length = 20; length <= 240; length += 220) {
        firn_error_set(&error, FIRN_EBACK, FIRN_CURE_ADVANCE,
                       "the store lost what it had granted of " ERROR_VALUE("%0*d") "%100s", length,
                       7, "");
        translate_error(&error, SURFACE_COMMAND);
        const char *cure = length == 20 ? "run firn segment advance '0000" : "advance the segment ";
        assert_ptr_equal(strstr(error.text + error.cure_at, cure), error.text + error.cure_at);
        assert_null(strstr(error.text, "..."));
        assert_int_equal(error.value.length, length);
    }
}

/* Each byte is escaped, and it is the reason of a store with the longest URL. */
static void a_log_line_has_the_longest_error(void **state) {
    (void)state;
    char why[SERVER_WHY_SIZE], line[8192];
    int ends[2], was = dup(STDERR_FILENO);
    memset(why, '"', sizeof why - 1);
    why[sizeof why - 1] = '\0';
    for (int as_json = 0; as_json < 2; as_json++) {
        assert_int_equal(pipe(ends), 0);
        log_set(LOG_LEVEL_INFO, as_json);
        dup2(ends[1], STDERR_FILENO);
        log_event(LOG_LEVEL_WARNING, "not ready", "why", why, "last", "whole", NULL);
        dup2(was, STDERR_FILENO);
        ssize_t length = read(ends[0], line, sizeof line - 1);
        assert_true(length > 0);
        line[length] = '\0';
        assert_non_null(strstr(line, as_json ? ",\"last\":\"whole\"}\n" : " last=whole\n"));
        close(ends[0]);
        close(ends[1]);
    }
    close(was);
    log_set(LOG_LEVEL_INFO, false);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_scheme_is_opened_when_somebody_first_requests_it),
        TEST(schemes_without_a_node_touch_no_store),
        TEST(threads_never_issue_an_id_twice),
        TEST(threads_never_hand_out_an_integer_twice),
        TEST(tasks_that_race_open_one_generator),
        TEST(a_task_does_not_wait_for_all_segments_that_need_it),
        TEST(the_reply_to_many_integers_is_the_last_of_them),
        TEST(a_name_may_be_a_segment_and_a_generator),
        TEST(runs_are_of_consecutive_ids),
        TEST(a_generator_of_the_configuration_keeps_its_keys),
        TEST(a_window_of_minutes_is_one),
        TEST(back_dated_ids_carry_their_instant),
        TEST(a_name_always_has_the_same_uuid5),
        TEST(what_is_wrong_is_refused_with_its_cure),
        TEST(a_request_takes_no_more_integers_than_it_may),
        TEST(names_of_the_other_kind_say_what_to_ask),
        TEST(what_is_checked_only_is_not_added),
        TEST(segments_are_made_on_demand_up_to_a_limit),
        TEST(generators_are_opened_up_to_a_bound),
        TEST(what_is_exhausted_waits_unless_it_is_set_to_fail),
        TEST(issuing_continues_through_an_outage_as_windows_allow),
        TEST(threads_repeat_nothing_through_outages),
        TEST(a_store_that_hangs_holds_up_no_other),
        TEST(tasks_fail_in_the_stores_words_while_it_is_out),
        TEST(an_task_whose_client_is_gone_costs_numbers_only),
        TEST(clients_of_a_store_take_turns),
        TEST(what_nobody_wants_any_more_is_not_run),
        TEST(a_full_queue_refuses_those_who_have_most),
        TEST(what_was_not_issued_is_given_back_at_the_end),
        TEST(two_servers_on_one_store_share_its_integers),
        TEST(ids_are_packed_shown_bounded_and_converted),
        TEST(status_spread_and_nodes_list_everything),
        TEST(a_store_that_is_invalid_is_refused_at_once),
        TEST(a_password_of_a_store_is_shown_to_nobody),
        TEST(a_cure_whose_value_does_not_fit_stays_the_librarys),
        TEST(a_log_line_has_the_longest_error),
        TEST(what_an_answer_costs_is_printed),
    };
    return cmocka_run_group_tests(tests, make_workers, NULL);
}
