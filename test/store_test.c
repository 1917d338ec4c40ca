/* SPDX-License-Identifier: MIT */
/* The conformance test of the store's verbs: every check runs against every engine of the table
 * below. The failures of one engine have their own tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "stores.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS   8
#define PROCESSES 4

/* ---- short words for the verbs -------------------------------------------------------------- */

static firn_request ask(const char *key, int64_t count, int64_t earliest, int64_t latest,
                        uint64_t grant) {
    firn_request request = {"snow", ROW, key, count, earliest, latest, grant, "a note", 0};
    return request;
}

static void granted(firn_store *store, firn_request request, int64_t expected) {
    firn_error error = {0};
    firn_mark held = {-3, 3};
    int64_t first = -1;
    if (firn_store_reserve(store, &request, &first, &held, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(first, expected);
}

static void refused(firn_store *store, firn_request request, int code, firn_mark expected) {
    firn_error error = {0};
    firn_mark held = {-3, 3};
    int64_t first = -1;
    assert_int_equal(firn_store_reserve(store, &request, &first, &held, &error), code);
    assert_int_equal(error.code, code);
    assert_true(strlen(error.text) > 10 && strlen(error.text) < sizeof error.text);
    assert_int_equal(first, -1);
    assert_int_equal(held.high, expected.high);
    assert_true(held.grant == expected.grant);
}

static const firn_mark untouched = {-3, 3};

/* Reads the mark of a key without changing it: an existing key is busy for a request that must
 * start at 0. */
static void stands_at(firn_store *store, const char *key, int64_t high, uint64_t grant) {
    refused(store, ask(key, 1, 0, 0, UINT64_MAX - 1), FIRN_EBUSY, (firn_mark){high, grant});
}

static int give_back(firn_store *store, const char *key, int64_t mark, uint64_t grant,
                     int64_t high) {
    firn_error error = {0};
    const firn_mark mine = {mark, grant};
    int code = firn_store_give_back(store, "snow", key, &mine, high, &error);
    assert_int_equal(error.code, code);
    return code;
}

/* ---- reserve -------------------------------------------------------------------------------- */

static void begins_at_earliest(void **state) {
    firn_store *store = store_of(state);
    granted(store, ask("1", 10, 0, 0, 11), 0);
    granted(store, ask("2", 10, 1000, 2000, 12), 1000);
    granted(store, ask("3", 10, 2000, 2000, 13), 2000);
    stands_at(store, "1", 10, 11);
    stands_at(store, "2", 1010, 12);
    stands_at(store, "3", 2010, 13);
}

static void begins_at_the_later(void **state) {
    firn_store *store = store_of(state);
    granted(store, ask("1", 10, 100, 100, 11), 100);
    granted(store, ask("1", 5, 50, 200, 12), 110);  /* the mark is later */
    granted(store, ask("1", 5, 150, 200, 13), 150); /* earliest is later: a gap is left */
    granted(store, ask("1", 5, 155, 155, 14), 155); /* both: a renewal at its own end */
    stands_at(store, "1", 160, 14);
}

static void busy_tells(void **state) {
    firn_store *store = store_of(state);
    granted(store, ask("1", 10, 100, 100, 11), 100);
    refused(store, ask("1", 10, 0, 109, 12), FIRN_EBUSY, (firn_mark){110, 11});
    refused(store, ask("1", 10, 109, 109, 12), FIRN_EBUSY, (firn_mark){110, 11});
    stands_at(store, "1", 110, 11);
    granted(store, ask("1", 10, 0, 110, 12), 110);
}

static void takes_every_bound(void **state) {
    firn_store *store = store_of(state);
    const firn_request bad[] = {
        ask("1", 0, 0, 0, 11),         ask("1", -1, 0, 0, 11),
        ask("1", 1, -1, 0, 11),        ask("1", 1, -1, -1, 11),
        ask("1", 1, 1, 0, 11),         ask("1", 1, 0, SLOTS, 11),
        ask("1", 2, 0, SLOTS - 1, 11), ask("1", SLOTS, 0, 1, 11),
        ask("1", SLOTS + 1, 0, 0, 11), ask("1", INT64_MAX, 0, 0, 11),
        ask("1", INT64_MIN, 0, 0, 11), ask("1", 1, INT64_MIN, 0, 11),
        ask("1", 1, 0, INT64_MAX, 11), ask("1", INT64_MAX, 0, INT64_MAX, 11),
        ask("1", 1, 0, INT64_MIN, 11), ask("1", 1, INT64_MAX, INT64_MAX, 11),
        ask("1", INT64_MIN, 0, 1, 11), ask("1", SLOTS - 1, SLOTS, SLOTS, 11),
        ask("1", 1, SLOTS, SLOTS, 11), ask("1", INT64_MIN, 0, INT64_MIN, 11),
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        refused(store, bad[i], FIRN_ERANGE, untouched);
    }
    granted(store, ask("1", 1, 0, 0, 11), 0); /* the key is new still */
    granted(store, ask("2", SLOTS, 0, 0, 11), 0);
    stands_at(store, "2", SLOTS, 11);
}

static void exact_to_the_last_slot(void **state) {
    static const int64_t places[] = {(INT64_C(1) << 53) - 1,
                                     (INT64_C(1) << 53) + 1,
                                     (INT64_C(1) << 53) + 3,
                                     (INT64_C(1) << 60) + 1,
                                     SLOTS - 3,
                                     SLOTS - 2};
    static const uint64_t grants[] = {1,          (UINT64_C(1) << 53) + 1, INT64_MAX,
                                      UINT64_MAX, UINT64_C(1) << 63,       UINT64_MAX - 2};
    firn_store *store = store_of(state);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        granted(store, ask("1", 1, places[i], places[i], grants[i]), places[i]);
        stands_at(store, "1", places[i] + 1, grants[i]);
        refused(store, ask("1", 1, places[i], places[i], 5), FIRN_EBUSY,
                (firn_mark){places[i] + 1, grants[i]});
    }
    granted(store, ask("1", 1, 0, SLOTS - 1, 7), SLOTS - 1);
    stands_at(store, "1", SLOTS, 7);
    refused(store, ask("1", 1, 0, SLOTS - 1, 8), FIRN_EBUSY, (firn_mark){SLOTS, 7});
}

/* After an unknown outcome the same request goes out again: [high - count, high) is the caller's
 * then. */
static void the_same_again(void **state) {
    firn_store *store = store_of(state);
    granted(store, ask("1", 10, 100, 100, 11), 100);
    refused(store, ask("1", 10, 100, 100, 11), FIRN_EBUSY, (firn_mark){110, 11});
    refused(store, ask("1", 10, 100, 100, 11), FIRN_EBUSY, (firn_mark){110, 11});
    granted(store, ask("1", 10, 110, 110, 12), 110);
    refused(store, ask("1", 10, 100, 100, 11), FIRN_EBUSY, (firn_mark){120, 12});
}

/* ---- give back ------------------------------------------------------------------------------ */

static void given_back_is_free(void **state) {
    firn_store *store = store_of(state);
    granted(store, ask("1", 100, 1000, 1000, 11), 1000);
    assert_int_equal(give_back(store, "1", 1100, 11, 1040), FIRN_OK);
    stands_at(store, "1", 1040, 0);
    granted(store, ask("1", 10, 1000, 1040, 12), 1040);
    assert_int_equal(give_back(store, "1", 1050, 12, 1050), FIRN_OK); /* nothing left to give */
    stands_at(store, "1", 1050, 0);
}

static void given_back_by_its_holder(void **state) {
    firn_store *store = store_of(state);
    granted(store, ask("1", 100, 1000, 1000, 11), 1000);
    assert_int_equal(give_back(store, "1", 1100, 12, 1040), FIRN_EBUSY); /* another's grant */
    assert_int_equal(give_back(store, "1", 1101, 11, 1040), FIRN_EBUSY); /* another mark */
    assert_int_equal(give_back(store, "1", 1099, 11, 1040), FIRN_EBUSY);
    assert_int_equal(give_back(store, "2", 1100, 11, 1040), FIRN_EBUSY); /* no such key */
    stands_at(store, "1", 1100, 11);
    granted(store, ask("1", 100, 1100, 1100, 13), 1100);
    assert_int_equal(give_back(store, "1", 1100, 11, 1040), FIRN_EBUSY); /* somebody came after */
    stands_at(store, "1", 1200, 13);
}

static void given_back_once(void **state) {
    firn_store *store = store_of(state);
    granted(store, ask("1", 100, 1000, 1000, 11), 1000);
    assert_int_equal(give_back(store, "1", 1100, 11, 1040), FIRN_OK);
    assert_int_equal(give_back(store, "1", 1100, 11, 1040), FIRN_EBUSY);
    assert_int_equal(give_back(store, "1", 1040, 11, 1000), FIRN_EBUSY);
    /* The mark is the same, but the grant is another one: a late copy must find that out. */
    granted(store, ask("1", 60, 1040, 1040, 12), 1040);
    assert_int_equal(give_back(store, "1", 1100, 11, 1040), FIRN_EBUSY);
    stands_at(store, "1", 1100, 12);
}

static void never_raised(void **state) {
    firn_store *store = store_of(state);
    granted(store, ask("1", 100, 1000, 1000, 11), 1000);
    assert_int_not_equal(give_back(store, "1", 1100, 11, 1101), FIRN_OK);
    assert_int_not_equal(give_back(store, "1", 1100, 11, SLOTS + 1), FIRN_OK);
    assert_int_not_equal(give_back(store, "1", 1100, 11, -1), FIRN_OK);
    stands_at(store, "1", 1100, 11);
}

/* ---- list and namespaces -------------------------------------------------------------------- */

typedef struct listing {
    char text[2048];
    int lines, stop_after;
} listing;

static int note_line(void *context, const firn_holding *holding) {
    listing *list = context;
    size_t length = strlen(list->text);
    snprintf(list->text + length, sizeof list->text - length, "%s %s %lld %llu %s %s\n",
             holding->ns, holding->key, (long long)holding->mark.high,
             (unsigned long long)holding->mark.grant, holding->note, holding->layout);
    return ++list->lines == list->stop_after ? -99 : 0;
}

static void reserve_in(firn_store *store, const char *ns, const char *row, const char *key,
                       uint64_t grant, const char *note) {
    firn_request request = {ns, row, key, 5, 10, 10, grant, note, 0};
    granted(store, request, 10);
}

static void listed(firn_store *store, const char *ns, const char *expected) {
    listing list = {{0}, 0, 0};
    firn_error error = {0};
    assert_int_equal(firn_store_list(store, ns, note_line, &list, &error), FIRN_OK);
    assert_string_equal(list.text, expected);
}

static void lists_in_order(void **state) {
    firn_store *store = store_of(state);
    listing list = {{0}, 0, 2};
    listed(store, NULL, "");
    reserve_in(store, "b", "row-b", "9", 1, "one");
    reserve_in(store, "b", "row-b", "10", 2, "two");
    reserve_in(store, "a", "row-a", "orders", UINT64_MAX, "three");
    reserve_in(store, "b", "row-b", "10@77", 4, "");
    reserve_in(store, "B", "row-B", "1", 5, "five");
    listed(store, "b", "b 10 15 2 two row-b\nb 10@77 15 4  row-b\nb 9 15 1 one row-b\n");
    listed(store, "nobody", "");
    listed(store, NULL,
           "B 1 15 5 five row-B\na orders 15 18446744073709551615 three row-a\n"
           "b 10 15 2 two row-b\nb 10@77 15 4  row-b\nb 9 15 1 one row-b\n");
    assert_int_equal(firn_store_list(store, NULL, note_line, &list, NULL), -99);
    assert_int_equal(list.lines, 2);
}

static void lists_the_last_note(void **state) {
    firn_store *store = store_of(state);
    const firn_mark mine = {15, 2};
    firn_request again = {"a", "row-a", "1", 5, 10, 15, 3, "after", 0};
    reserve_in(store, "a", "row-a", "1", 2, "before");
    assert_int_equal(firn_store_give_back(store, "a", "1", &mine, 0, NULL), FIRN_OK);
    listed(store, "a", "a 1 0 0 before row-a\n"); /* given back wholly, but used */
    granted(store, again, 10);
    listed(store, "a", "a 1 15 3 after row-a\n");
}

static void names_are_taken_as_they_are(void **state) {
    static const char *const names[] = {"it's",     "a\"b", "%s%n", "a b", "x;DROP TABLE mark",
                                        "\xc3\xa4", "A",    "\\",   "a*",  "?1"};
    firn_store *store = store_of(state);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        reserve_in(store, names[i], names[i], names[i], i + 1, names[i]);
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char line[100];
        snprintf(line, sizeof line, "%s %s 15 %zu %s %s\n", names[i], names[i], i + 1, names[i],
                 names[i]);
        listed(store, names[i], line);
    }
}

static void namespaces_are_apart(void **state) {
    firn_store *store = store_of(state);
    reserve_in(store, "a", "row-a", "1", 1, "");
    reserve_in(store, "b", "row-a", "1", 2, "");
    reserve_in(store, "ab", "row-a", "1", 3, "");
    reserve_in(store, "a", "row-a", "b1", 4, "");
    reserve_in(store, "A", "row-a", "1", 5, "");
}

static void another_row_is_refused(void **state) {
    firn_store *store = store_of(state);
    firn_request other = ask("2", 1, 0, 0, 12);
    firn_error error = {0};
    int64_t first = -1;
    firn_mark held = untouched;
    granted(store, ask("1", 10, 100, 100, 11), 100);
    other.layout = "0x0:1 time:41/ms@@2024-01-01 node:8 sequence:14";
    assert_int_equal(firn_store_reserve(store, &other, &first, &held, &error), FIRN_ENAMESPACE);
    assert_int_equal(error.code, FIRN_ENAMESPACE);
    assert_int_equal(first, -1);
    assert_non_null(strstr(error.text, "node:10"));
    assert_non_null(strstr(error.text, "node:8"));
    assert_non_null(strstr(error.text, "ns="));
    listed(store, "snow", "snow 1 110 11 a note " ROW "\n");
    other.ns = "other";
    granted(store, other, 0);
}

/* ---- many at once --------------------------------------------------------------------------- */

typedef struct span {
    int64_t first, count;
} span;

static int by_first(const void *a, const void *b) {
    int64_t x = ((const span *)a)->first, y = ((const span *)b)->first;
    return x < y ? -1 : x > y;
}

/* The slots that more than one span holds; `total`: of all slots. */
static int64_t overlaps(span *spans, size_t n, int64_t *total) {
    int64_t end = 0, twice = 0;
    *total = 0;
    qsort(spans, n, sizeof *spans, by_first);
    for (size_t i = 0; i < n; i++) {
        int64_t own_end = spans[i].first + spans[i].count;
        if (spans[i].first < end) {
            twice += (own_end < end ? own_end : end) - spans[i].first;
        }
        end = own_end > end ? own_end : end;
        *total += spans[i].count;
    }
    return twice;
}

static void overlaps_are_found(void **state) {
    span spans[] = {{20, 10}, {0, 10}, {10, 10}, {40, 5}};
    int64_t total;
    (void)state;
    assert_int_equal(overlaps(spans, 4, &total), 0);
    assert_int_equal(total, 35);
    spans[3].first = 29; /* an injected overlap */
    assert_int_equal(overlaps(spans, 4, &total), 1);
    spans[3] = (span){0, 30};
    assert_int_equal(overlaps(spans, 4, &total), 30);
}

/* A thread of many that draw from the same key. */
typedef struct hand {
    firn_store *store;
    span *spans;
    int rounds, index;
    int failures;
    pthread_t thread;
} hand;

static void *draw(void *argument) {
    hand *h = argument;
    for (int i = 0; i < h->rounds; i++) {
        firn_request request = ask("key", 1 + (i * 7 + h->index) % 5, 0, SLOTS - 10,
                                   (uint64_t)(h->index * 1000000 + i + 1));
        firn_error error = {0};
        firn_mark held;
        h->spans[i].count = request.count;
        int code, tries = 0;
        do { /* on a loaded machine a handle may lose all rounds of its five seconds */
            code = firn_store_reserve(h->store, &request, &h->spans[i].first, &held, &error);
        } while (code == FIRN_ESTORE && error.cure == FIRN_CURE_TRY_AGAIN && ++tries < 20);
        if (code != FIRN_OK) {
            h->failures++;
            print_message("# %s\n", error.text);
        }
    }
    return NULL;
}

/* Disjoint and without gaps: the mark is exactly their sum. */
static void fair_shares(firn_store *store, span *spans, size_t n) {
    int64_t total;
    firn_mark held = {0, 0};
    firn_request request = ask("key", 1, 0, 0, UINT64_MAX);
    assert_int_equal(overlaps(spans, n, &total), 0);
    assert_int_equal(firn_store_reserve(store, &request, &total, &held, NULL), FIRN_EBUSY);
    assert_int_equal(held.high, total);
}

static void threads_share_a_key(void **state) {
    firn_store *store = store_of(state);
    int rounds = ((bench *)*state)->row->rounds;
    span *spans = calloc((size_t)(THREADS * rounds), sizeof *spans);
    hand hands[THREADS];
    for (int i = 0; i < THREADS; i++) {
        hands[i] = (hand){store, spans + i * rounds, rounds, i, 0, 0};
        assert_int_equal(pthread_create(&hands[i].thread, NULL, draw, &hands[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(hands[i].thread, NULL);
        assert_int_equal(hands[i].failures, 0);
    }
    fair_shares(store, spans, (size_t)(THREADS * rounds));
    free(spans);
}

/* Each on its own handle, half of them on one that was opened before the fork. */
static void draw_in_a_child(const bench *b, span *spans, int index) {
    hand h = {b->store, spans, b->row->rounds, index, 0, 0};
    firn_error error;
    if (index % 2 == 1 && open_store(&h.store, b->url, &error) != FIRN_OK) {
        _exit(2);
    }
    draw(&h);
    _exit(h.failures != 0);
}

static void processes_share_a_key(void **state) {
    firn_store *store = store_of(state);
    const bench *b = *state;
    size_t n = (size_t)(PROCESSES * b->row->rounds), size = n * sizeof(span);
    span *spans;
    pid_t children[PROCESSES];
    spans = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(spans, MAP_FAILED);
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            draw_in_a_child(b, spans + i * b->row->rounds, i);
        }
        assert_true(children[i] > 0);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    fair_shares(store, spans, n);
    munmap(spans, size);
}

/* A store that is not shared with the child says so there, instead of granting from a copy. */
static void a_child_is_refused(void **state) {
    firn_store *store = store_of(state);
    int status = -1;
    pid_t child;
    granted(store, ask("1", 10, 0, 0, 11), 0);
    child = fork();
    if (child == 0) {
        firn_request request = ask("1", 10, 10, 10, 12);
        firn_error error = {0};
        firn_mark held;
        int64_t first = -1;
        int code = firn_store_reserve(store, &request, &first, &held, &error);
        firn_mark mine = {20, 12};
        int back = firn_store_give_back(store, "snow", "1", &mine, 20, NULL);
        bool right = ((bench *)*state)->row->shared
                         ? code == FIRN_OK && first == 10 && back == FIRN_OK
                         : code == FIRN_EFORKED && first == -1 && strlen(error.text) > 10 &&
                               back == FIRN_EFORKED;
        firn_store_close(store);
        _exit(right ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    granted(store, ask("1", 10, 20, 20, 13), 20);
}

/* No handler of fork runs in the child, which is process 1 as its parent is. 0: the child. */
static pid_t clone_apart(void) {
    return (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0);
}

/* Process 1 of a namespace, and its child, both with a handle that was connected before. */
static void draw_as_process_1(const bench *b, span *spans) {
    hand h = {NULL, spans, b->row->rounds, 0, 0, 0};
    firn_request request = ask("before", 1, 0, 0, 1);
    firn_mark held;
    int64_t first;
    int status = -1;
    if (open_store(&h.store, b->url, NULL) != FIRN_OK ||
        firn_store_reserve(h.store, &request, &first, &held, NULL) != FIRN_OK) {
        _exit(2);
    }
    pid_t child = clone_apart();
    if (child == 0) {
        alarm(5 * AGAIN_S); /* should it hang */
        h.spans += h.rounds;
        h.index = 1;
    }
    draw(&h);
    if (child > 0 && (waitpid(child, &status, 0) != child || status != 0)) {
        _exit(3);
    }
    _exit(child < 0 ? ENGINE_NOT_HERE : h.failures != 0);
}

static void raw_clones_share_a_key(void **state) {
    firn_store *store = store_of(state);
    const bench *b = *state;
    const size_t n = 2 * (size_t)b->row->rounds, size = n * sizeof(span);
    span *spans = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = -1;
    assert_ptr_not_equal(spans, MAP_FAILED);
    fflush(NULL);
    pid_t outer = fork();
    if (outer == 0) {
        pid_t inner = unshare(CLONE_NEWPID) == 0 ? fork() : -1;
        if (inner == 0) {
            draw_as_process_1(b, spans);
        }
        _exit(inner < 0                             ? ENGINE_NOT_HERE
              : waitpid(inner, &status, 0) != inner ? 4
              : WIFEXITED(status) && status != 0    ? WEXITSTATUS(status)
              : status != 0                         ? 5
                                                    : 0);
    }
    assert_int_equal(waitpid(outer, &status, 0), outer);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == ENGINE_NOT_HERE) {
        print_message("# this process may not make a PID namespace\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
    fair_shares(store, spans, n);
    munmap(spans, size);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Two handles on one store are one store, in turns, so that what a handle remembers is old. */
static void two_handles(void **state) {
    firn_store *store = store_of(state), *other = NULL;
    assert_int_equal(open_store(&other, ((bench *)*state)->url, NULL), FIRN_OK);
    for (int i = 0; i < 20; i++) {
        granted(i % 3 == 0 ? store : other, ask("1", 10, 0, 1000, (uint64_t)i + 1), i * 10);
    }
    stands_at(store, "1", 200, 20);
    refused(other, ask("1", 10, 0, 100, 30), FIRN_EBUSY, (firn_mark){200, 20});
    assert_int_equal(give_back(other, "1", 200, 20, 195), FIRN_OK);
    stands_at(store, "1", 195, 0);
    granted(store, ask("1", 10, 195, 195, 31), 195);
    assert_int_equal(give_back(other, "1", 195, 20, 190), FIRN_EBUSY);
    firn_store_close(other);
    stands_at(store, "1", 205, 31);
}

static void kept_after_closing(void **state) {
    firn_store *store = store_of(state);
    bench *b = *state;
    granted(store, ask("1", 10, 100, 100, 11), 100);
    firn_store_close(store);
    b->store = NULL;
    assert_int_equal(open_store(&b->store, b->url, NULL), FIRN_OK);
    stands_at(b->store, "1", 110, 11);
    granted(b->store, ask("1", 10, 0, 110, 12), 110);
}

/* Names of all the bytes that are allowed, with blanks and letters of several bytes. */
static void long_names(void **state) {
    firn_store *store = store_of(state);
    char ns[FIRN_NS_SIZE] = "", row[FIRN_LAYOUT_SIZE] = "", key[FIRN_KEY_SIZE] = "",
         note[FIRN_NOTE_SIZE] = "", line[2048];
    for (size_t i = 0; i + 5 < sizeof ns; i += 5) {
        memcpy(ns + i, " \xc3\xa4/.", 5);
    }
    memset(row, 'r', sizeof row - 1);
    memset(key, 'k', sizeof key - 1);
    memset(note, 'n', sizeof note - 1);
    memcpy(row + 7, " \xe2\x82\xac ", 5);
    memcpy(key + 7, " \xe2\x82\xac/", 5);
    memcpy(note + 7, " \xe2\x82\xac ", 5);
    assert_int_equal(strlen(ns), FIRN_NS_SIZE - 1);
    reserve_in(store, ns, row, key, 1, note);
    snprintf(line, sizeof line, "%s %s 15 1 %s %s\n", ns, key, note, row);
    listed(store, ns, line);
    ns[FIRN_NS_SIZE - 2] = 'x'; /* the last byte is part of it */
    reserve_in(store, ns, "another", key, 2, "");
}

static void unknown_parameters(void **state) {
    const bench *b = *state;
    firn_store *store = NULL;
    firn_error error = {0};
    char url[900];
    store_of(state);
    snprintf(url, sizeof url, "%s%cnonsense=1", b->url, strchr(b->url, '?') != NULL ? '&' : '?');
    assert_int_equal(open_store(&store, url, &error), FIRN_EUSAGE);
    assert_non_null(strstr(error.text, "nonsense"));
    assert_true(strlen(error.text) < sizeof error.text);
}

/* The first words of a URL with a password in it, to a server that is not there or, `host` NULL, to
 * the running one; some servers let everybody in. */
static void fails_without_password(const bench *b, const char *host) {
    const char *rest = strstr(b->url, "://") + 3, *position = strchr(rest, '@');
    firn_store *store = NULL;
    firn_error error = {0};
    firn_request request = ask("1", 1, 0, 0, 1);
    firn_mark held;
    int64_t first;
    char url[900];
    rest = position != NULL ? position + 1 : rest;
    rest = host != NULL ? strpbrk(rest, "/?") : rest;
    snprintf(url, sizeof url, "%s://somebody:Tr0ub4dor@%s%s", b->row->name,
             host != NULL ? host : "", rest);
    if (host != NULL) { /* where it is waited for */
        *strstr(url, "timeout=") = '\0';
        url[strlen(url) - 1] = '\0';
    }
    int code = open_store(&store, url, &error);
    if (code == FIRN_OK) {
        code = firn_store_reserve(store, &request, &first, &held, &error);
        firn_store_close(store);
    }
    assert_true(host == NULL || code == FIRN_ESTORE);
    assert_true(strlen(error.text) < sizeof error.text);
    if (strstr(error.text, "Tr0ub4dor") != NULL) {
        fail_msg("%s", error.text);
    }
}

static void passwords_are_not_shown(void **state) {
    store_of(state);
    fails_without_password(*state, "127.0.0.1:1");
    fails_without_password(*state, NULL);
}

/* ---- engines that lose reservations ---------------------------------------------------------- */

static firn_request guarded(const char *key, int64_t latest, int64_t guard) {
    firn_request request = ask(key, 10, 0, latest, 50);
    request.guard = guard;
    return request;
}

/* The law: no slot before the guard of the first who comes with one, and until then nobody without
 * one is served. */
static void goes_back(void **state) {
    firn_store *store = store_of(state);
    const bench *b = *state;
    firn_error error = {0};
    firn_mark held = untouched;
    int64_t first = -1;
    granted(store, ask("1", 10, 100, 100, 11), 100);
    granted(store, ask("2", 10, 100, 100, 12), 100);
    assert_true(engine_or_file(b, "save"));
    /* With a guard, since to some a restart is reason enough for doubt. */
    assert_int_equal(reserve_soon(store, guarded("1", 1000, 110), &first, &held, &error), FIRN_OK);
    assert_int_equal(first, 110);
    assert_true(engine_or_file(b, "restore")); /* knows nothing of that one */

    assert_int_equal(reserve_soon(store, guarded("1", 1000, 0), &first, &held, &error), FIRN_EBACK);
    assert_non_null(strstr(error.text, "has changed or lost reservations"));
    assert_int_equal(reserve_soon(store, guarded("1", 4999, 5000), &first, &held, &error),
                     FIRN_EBUSY);
    assert_int_equal(held.high, 5000);
    assert_int_equal(held.grant, 0); /* nobody's window ends there */
    assert_int_equal(first, 110);

    granted(store, guarded("1", 9000, 6000), 5000); /* the floor stays where it was */
    granted(store, guarded("2", 9000, 0), 5000);
    granted(store, guarded("3", 9000, 0), 5000);
    granted(store, guarded("1", 9000, 0), 5010);
}

static firn_request url_of(const char *ns, int64_t count, int64_t guard) {
    static uint64_t grant = 70;
    const bool integer = strncmp(ns, "integer ", 8) == 0;
    return (firn_request){ns,   integer ? "integer" : ROW, "1", count, 0, SLOTS / 2, grant += 2, "",
                          guard};
}

static void gone_back(firn_store *store, const char *ns) {
    firn_error error = {0};
    firn_mark held = untouched;
    int64_t first = -1;
    firn_request request = url_of(ns, 10, 0);
    int code = firn_store_reserve(store, &request, &first, &held, &error);
    if (code != FIRN_EBACK) {
        fail_msg("%s: %s, first %lld (%s)", ns, firn_strerror(code), (long long)first, error.text);
    }
    assert_int_equal(first, -1);
}

static void advanced(firn_store *store, const char *name, int64_t end) {
    firn_segment *range = NULL;
    firn_error error = {0};
    int64_t value = -1;
    assert_int_equal(firn_segment_open(&range, name, "kind=serial", store, NULL, &error), FIRN_OK);
    assert_int_equal(firn_segment_next(range, &value, &error), FIRN_EBACK);
    assert_int_equal(value, -1);
    assert_int_equal(firn_segment_advance(range, end, &value, &error), FIRN_OK);
    assert_int_equal(firn_segment_next(range, &value, &error), FIRN_OK);
    assert_int_equal(value, end);
    assert_int_equal(firn_segment_close(range, &error), FIRN_OK);
}

static firn_segment *tickets(firn_store *store, const char *name, int64_t offset) {
    firn_segment *range = NULL;
    char keys[64];
    snprintf(keys, sizeof keys, "kind=ticket increment=2 offset=%" PRId64, offset);
    assert_int_equal(firn_segment_open(&range, name, keys, store, NULL, NULL), FIRN_OK);
    return range;
}

static int64_t ticket(firn_segment *range) {
    firn_error error = {0};
    int64_t value = -1;
    if (firn_segment_next(range, &value, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return value;
}

/* To advance one server of a ticket is to advance all of them: none hands out again what another
 * one did before. */
static void tickets_advance(firn_segment *segment, firn_segment *two, int64_t last) {
    firn_error error = {0};
    int64_t next = -1;
    assert_int_equal(firn_segment_next(segment, &next, &error), FIRN_EBACK);
    assert_int_equal(firn_segment_advance(two, last + 1, &next, &error), FIRN_OK);
    assert_true(next > last);
    assert_true(ticket(segment) > last);
    assert_true(ticket(two) >= next);
}

/* One holder notices the loss; then every handle has seen it, also one that never reserved, for
 * every namespace, also one that was lost altogether. */
static void all_are_informed(void **state) {
    firn_store *holder = store_of(state), *idle = NULL, *fresh = NULL;
    const bench *b = *state;
    firn_error error = {0};
    firn_mark held = untouched;
    int64_t first = -1, value = -1;
    granted(holder, url_of("integer orders", 3000, 0), 0);
    granted(holder, url_of("moon", 10, 0), 0);
    granted(holder, url_of("snow", 10, 0), 0);
    firn_segment *segment = tickets(holder, "photos", 1), *two = tickets(holder, "photos", 2),
                 *lost;
    assert_true(ticket(segment) == 1 && ticket(two) == 2);
    assert_true(engine_or_file(b, "save"));
    assert_int_equal(reserve_soon(holder, url_of("snow", 10, 100), &first, &held, &error), FIRN_OK);
    granted(holder, url_of("integer orders", 3000, 3000), 3000);
    granted(holder, url_of("integer late", 10, 1000), 1000 * (first > 10));
    granted(holder, url_of("snow", 10, 100), first + 10);
    assert_int_equal(firn_segment_advance(segment, 7, &value, &error), FIRN_OK);
    assert_true(ticket(segment) == 7 && ticket(segment) == 9);
    assert_int_equal(open_store(&idle, b->url, &error), FIRN_OK);
    assert_true(engine_or_file(b, "restore"));

    assert_int_equal(reserve_soon(holder, url_of("snow", 10, 5000), &first, &held, &error),
                     FIRN_OK);
    assert_int_equal(first, 5000);

    assert_int_equal(open_store(&fresh, b->url, &error), FIRN_OK);
    gone_back(idle, "integer orders");
    gone_back(fresh, "integer orders");
    gone_back(fresh, "integer late");
    gone_back(holder, "integer orders");
    gone_back(fresh, "moon");
    granted(fresh, url_of("moon", 10, 6000), 6000);
    granted(idle, url_of("moon", 10, 0), 6010);
    granted(idle, url_of("new", 10, 7000), 7000); /* a name that is not known may have been lost */
    granted(fresh, url_of("new", 10, 0), 7010);

    advanced(fresh, "orders", 6001);
    granted(holder, url_of("integer orders", 10, 0), 6002);
    granted(idle, url_of("integer orders", 10, 0), 6012);
    advanced(idle, "late", 1011);
    tickets_advance(segment, two, 9);
    lost = tickets(fresh, "lost", 1); /* from the first number on, too */
    assert_int_equal(firn_segment_next(lost, &value, &error), FIRN_EBACK);
    assert_int_equal(firn_segment_advance(lost, 1, &value, &error), FIRN_OK);
    assert_true(ticket(lost) == value && value >= 1);
    gone_back(fresh, "integer later");
    advanced(fresh, "*", 1); /* no other name was lost */
    granted(fresh, url_of("integer later", 10, 0), 0);
    granted(idle, url_of("newer", 10, 0), 0);
    granted(idle, url_of("integer late", 10, 0), 1012);
    firn_segment_close(segment, NULL);
    firn_segment_close(two, NULL);
    firn_segment_close(lost, NULL);
    firn_store_close(idle);
    firn_store_close(fresh);
}

static void declare_loss(firn_store *store) {
    const firn_relabel loss = {"integer *", "gone back", "gone back", 0, false};
    int64_t unused = -1;
    firn_error error = {0};
    if (firn_store_relabel(store, &loss, &unused, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
}

/* An operator says that the store lost reservations (firn nodes lost), and then that it lost none
 * (firn nodes trust): a guard below every mark ends the doubt. */
static void losses_are_declared(void **state) {
    firn_store *store = store_of(state), *other = NULL;
    firn_error error = {0};
    firn_mark held = untouched;
    int64_t first = -1;
    assert_int_equal(open_store(&other, ((bench *)*state)->url, NULL), FIRN_OK);
    granted(store, url_of("integer orders", 10, 0), 0);
    granted(other, url_of("snow", 10, 0), 0);
    for (int64_t i = 0; i < 2; i++) {
        declare_loss(other);
        gone_back(store, "integer orders");
        gone_back(other, "snow");
        gone_back(store, "integer late");
        firn_request trust = url_of("integer orders", 1, 1);
        trust.latest = 0;
        assert_int_equal(firn_store_reserve(store, &trust, &first, &held, &error), FIRN_EBUSY);
        assert_int_equal(held.high, 10 * (i + 1));
        granted(other, url_of("integer orders", 10, 0), 10 * (i + 1));
        granted(other, url_of("snow", 10, 1), 20 * i + 10);
        granted(store, url_of("snow", 10, 0), 20 * i + 20);
    }
    firn_store_close(other);
}

/* ---- a floor that is lowered ----------------------------------------------------------------- */

static int lower_from(firn_store *store, const char *from, const char *to, int64_t floor,
                      int64_t *stored) {
    const firn_relabel change = {"snow", from, to, floor, true};
    firn_error error = {0};
    int code = firn_store_relabel(store, &change, stored, &error);
    if (code != FIRN_OK && strlen(error.text) <= 10) {
        fail_msg("an error without words: %s", error.text);
    }
    return code;
}

static void lowered(firn_store *store, int64_t floor) {
    int64_t stored = -1;
    assert_int_equal(lower_from(store, ROW, ROW, floor, &stored), FIRN_OK);
    assert_int_equal(stored, floor);
}

#define WRONG 90000 /* the guard of a process whose clock was wrong */

/* One handle noticed a loss, and its clock was wrong; another one is to issue again. */
static void poison(firn_store *store) {
    declare_loss(store);
    refused(store, guarded("1", 9000, WRONG), FIRN_EBUSY, (firn_mark){WRONG, 0});
}

static firn_store *second(void **state) {
    firn_store *other = NULL;
    assert_int_equal(open_store(&other, ((bench *)*state)->url, NULL), FIRN_OK);
    return other;
}

/* A handle's memory of the floor does not count, be it the higher or the lower one. */
static void floors_are_lowered(void **state) {
    firn_store *store = store_of(state), *other = second(state);
    granted(store, ask("1", 10, 100, 100, 11), 100);
    granted(other, ask("2", 10, 100, 100, 12), 100);
    poison(other);
    refused(store, guarded("2", 9000, 0), FIRN_EBUSY, (firn_mark){WRONG, 0});
    for (int i = 0; i < 2; i++) { /* the second time as after an unknown outcome */
        lowered(store, 2000);
    }
    refused(other, guarded("1", 1999, 0), FIRN_EBUSY, (firn_mark){2000, 0});
    granted(other, guarded("1", 9000, 0), 2000);
    granted(store, guarded("2", 9000, 0), 2000);
    granted(store, guarded("3", 9000, 0), 2000);
    lowered(other, 1000); /* below a floor nothing was promised, unlike below a mark */
    granted(store, guarded("4", 9000, 0), 1000);
    granted(other, guarded("1", 9000, 0), 2010);
    firn_store_close(other);
}

/* Marks stay, so what somebody holds is granted to nobody else, wherever the floor is. */
static void holders_keep_marks(void **state) {
    firn_store *holder = store_of(state), *other = second(state);
    granted(holder, ask("1", 10, 100, 100, 11), 100);
    poison(other);
    granted(holder, ask("1", 10, 0, WRONG, 21), WRONG);
    lowered(other, 2000);
    refused(other, ask("1", 10, 0, 9000, 22), FIRN_EBUSY, (firn_mark){WRONG + 10, 21});
    granted(holder, ask("1", 10, WRONG + 10, WRONG + 10, 23), WRONG + 10);
    assert_int_equal(give_back(holder, "1", WRONG + 20, 23, WRONG + 12), FIRN_OK);
    granted(other, ask("1", 10, 0, SLOTS / 2, 24), WRONG + 12);
    firn_store_close(other);
}

/* A loss that comes later is guarded as if the floor had never been lowered, and a loss that nobody
 * has answered with a guard lets nobody lower. */
static void losses_outlast_lowering(void **state) {
    firn_store *store = store_of(state), *other = second(state);
    int64_t stored = -1;
    granted(store, ask("1", 10, 100, 100, 11), 100);
    poison(other);
    lowered(store, 2000);
    granted(store, guarded("1", 9000, 0), 2000);
    declare_loss(other);
    assert_int_equal(lower_from(store, ROW, ROW, 1000, &stored), FIRN_EBACK);
    assert_int_equal(stored, -1);
    gone_back(store, "snow");
    refused(store, guarded("2", 9000, 50000), FIRN_EBUSY, (firn_mark){50000, 0});
    refused(other, guarded("1", 9000, 0), FIRN_EBUSY, (firn_mark){50000, 0});
    const firn_relabel raise = {"snow", ROW, ROW, 3000, false};
    assert_int_equal(firn_store_relabel(store, &raise, &stored, NULL), FIRN_OK);
    assert_int_equal(stored, 50000); /* without `lowers` the greater floor stays */
    firn_store_close(other);
}

/* A floor is lowered of the namespace that was seen, or of none; and together with its layout. */
static void lowers_what_was_seen(void **state) {
    firn_store *store = store_of(state), *other = second(state);
    static const char closed[] = "closed (here): " ROW;
    const firn_relabel shut = {"snow", ROW, closed, 0, false};
    int64_t stored = -1;
    assert_int_equal(lower_from(store, ROW, ROW, 1000, &stored), FIRN_ENAMESPACE);
    granted(store, ask("1", 10, 100, 100, 11), 100);
    poison(other);
    assert_int_equal(firn_store_relabel(other, &shut, &stored, NULL), FIRN_OK);
    stored = -1;
    assert_int_equal(lower_from(store, ROW, ROW, 1000, &stored), FIRN_ENAMESPACE);
    assert_int_equal(stored, -1);
    assert_int_equal(lower_from(store, closed, ROW, 1000, &stored), FIRN_OK);
    assert_int_equal(stored, 1000);
    granted(other, guarded("1", 9000, 0), 1000);
    firn_store_close(other);
}

/* ---- the table of checks -------------------------------------------------------------------- */

static bool is_shared(const struct row *row) {
    return row->shared;
}

static bool is_server(const struct row *row) {
    return row->apart != NULL;
}

/* The thread sanitizer ends a child of a process with threads that starts another one, as
 * ZooKeeper's library does. */
static bool forks(const struct row *row) {
#ifdef __SANITIZE_THREAD__
    return strcmp(row->name, "zookeeper") != 0;
#else
    return row->name != NULL;
#endif
}

static bool forks_shared(const struct row *row) {
    return is_shared(row) && forks(row);
}

static bool tells_back(const struct row *row) {
    return row->tells_back;
}

static const struct check checks[] = {
    {"the first grant of a key begins at earliest", begins_at_earliest, NULL},
    {"a grant begins at the later of mark and earliest", begins_at_the_later, NULL},
    {"a busy key tells its mark and grant, and keeps them", busy_tells, NULL},
    {"bounds and counts outside the slots are refused", takes_every_bound, NULL},
    {"marks up to the last slot and grants of 64 bits are exact", exact_to_the_last_slot, NULL},
    {"the same request again gets its own grant", the_same_again, NULL},
    {"what was given back is granted again", given_back_is_free, NULL},
    {"only the holder of mark and grant gives back", given_back_by_its_holder, NULL},
    {"a window is given back once", given_back_once, NULL},
    {"giving back never raises a mark", never_raised, NULL},
    {"every key is listed, by namespace and key", lists_in_order, NULL},
    {"the list has the last note, and keys that were given back", lists_the_last_note, NULL},
    {"names are taken as they are", names_are_taken_as_they_are, NULL},
    {"the same key of two namespaces is two keys", namespaces_are_apart, NULL},
    {"a namespace is refused to another row", another_row_is_refused, NULL},
    {"8 threads get their own slots, and no slot is lost", threads_share_a_key, NULL},
    {"4 processes get their own slots, and no slot is lost", processes_share_a_key, is_shared},
    {"a forked child shares the store or is refused", a_child_is_refused, forks},
    {"a raw clone of process 1 gets its own slots", raw_clones_share_a_key, forks_shared},
    {"two handles are one store", two_handles, is_shared},
    {"what was granted is kept after closing", kept_after_closing, is_shared},
    {"names of all the bytes that are allowed", long_names, NULL},
    {"an unknown parameter is refused by its name", unknown_parameters, is_shared},
    {"a password is never shown", passwords_are_not_shown, is_server},
    {"an engine that loses reservations grants nothing twice", goes_back, tells_back},
    {"a loss that is declared is known, and ends when the store is trusted", losses_are_declared,
     is_shared},
    {"a floor that is lowered is lowered for every handle", floors_are_lowered, is_shared},
    {"who holds a node keeps its mark when the floor is lowered", holders_keep_marks, is_shared},
    {"a loss after the lowering is guarded", losses_outlast_lowering, is_shared},
    {"a floor is lowered of a namespace as it was seen", lowers_what_was_seen, is_shared},
    {"once one holder knows that the store lost reservations, all do", all_are_informed,
     tells_back},
};

#define CHECKS (sizeof checks / sizeof checks[0])

/* With an argument, only the checks whose sentence fits it: 'redis: *'. */
int main(int count, char **arguments) {
    static char names[ENGINES * CHECKS][CHECK_NAME];
    struct CMUnitTest tests[ENGINES * CHECKS + 1] = {
        {"control: an injected overlap is found", overlaps_are_found, NULL, NULL, NULL}};
    for (size_t i = 0; i < ENGINES * CHECKS; i++) {
        add_check(&tests[i + 1], names[i], checks, CHECKS, i);
    }
    if (count > 1) {
        cmocka_set_test_filter(arguments[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
