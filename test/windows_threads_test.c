/* SPDX-License-Identifier: MIT */
/* Several threads on one generator whose windows come from a real SQLite file; runs under the
 * thread sanitizer too. Forks of a process with threads are here, the other forks in
 * windows_test.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "folder.h"
#include "issued.h"
#include "sanitized.h"

#define THREADS 8

static firn_gen *opened(const char *keys) {
    const firn_store_options options = {.module_dir = FIRN_BUILD_DIR "/firn", .unsafe = true};
    const firn_config config = {.size = sizeof config,
                                .scheme = "snowflake",
                                .keys = keys,
                                .store_url = url,
                                .store_options = &options};
    firn_gen *gen = NULL;
    firn_error error = {0};
    if (firn_open_with(&gen, &config, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return gen;
}

/* ---- many threads --------------------------------------------------------------------------- */

typedef struct hand {
    firn_gen *gen;
    uint64_t *ids;
    size_t n, falls; /* falls: how often an ID was not greater than the one before */
    int index, code;
    pthread_t thread;
    _Atomic uint64_t *latest; /* an ID that some thread had before, or NULL */
} hand;

/* Single calls and small lots by turns. With `latest`, all IDs issued before this call began must
 * be less. */
static void *draw(void *argument) {
    hand *h = argument;
    uint64_t last = 0;
    for (size_t i = 0; i < h->n && h->code == FIRN_OK;) {
        size_t lot = i % 7 == 0 && h->n - i >= 13 ? 13 : 1;
        uint64_t before = h->latest != NULL ? atomic_load(h->latest) : 0;
        h->code = firn_next_u64(h->gen, h->ids + i, lot, NULL);
        for (size_t j = i; j < i + lot && h->code == FIRN_OK; j++) {
            h->falls += h->ids[j] <= last || h->ids[j] <= before;
            last = h->ids[j];
        }
        if (h->latest != NULL) {
            atomic_store(h->latest, last);
        }
        i += lot;
    }
    return NULL;
}

static void draw_all(firn_gen *gen, issued *log, size_t each, _Atomic uint64_t *latest) {
    hand all[THREADS];
    atomic_store(&log->count, THREADS * each);
    for (int i = 0; i < THREADS; i++) {
        all[i] = (hand){gen, log->ids + (size_t)i * each, each, 0, i, 0, 0, latest};
        assert_int_equal(pthread_create(&all[i].thread, NULL, draw, &all[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(all[i].thread, NULL);
        assert_int_equal(all[i].code, FIRN_OK);
        assert_int_equal(all[i].falls, 0);
    }
}

static void threads_issue(const char *keys, bool ordered) {
    const size_t each = 100000;
    issued *log = issued_new(THREADS * each);
    firn_gen *gen = opened(keys);
    _Atomic uint64_t latest = 0;
    size_t twice;
    draw_all(gen, log, each, ordered ? &latest : NULL);
    twice = duplicates(log);
    assert_int_equal(twice, 0);
    assert_true(log->ids[0] != 0);
    assert_int_equal(firn_close(gen, NULL), FIRN_OK);
    issued_free(log);
}

static void in_strict_order(void **state) {
    (void)state;
    threads_issue("full=wait", true);
}

static void in_order_of_threads(void **state) {
    (void)state;
    threads_issue("full=wait ordering=thread", false);
}

static void through_short_windows(void **state) {
    (void)state;
    threads_issue("full=wait window=5ms", true);
}

static void by_the_exact_clock(void **state) {
    (void)state;
    threads_issue("full=wait clock=exact window=50ms", true);
}

/* Renewed by a renewer of the caller's while the others issue. */
typedef struct test_renewer {
    firn_gen *gen;
    _Atomic bool over;
    int failures;
} test_renewer;

static void *keep(void *argument) {
    test_renewer *renewer = argument;
    while (!atomic_load(&renewer->over)) {
        int64_t wait_ms;
        renewer->failures += firn_gen_step(renewer->gen, &wait_ms, NULL) != FIRN_OK;
        usleep(500);
    }
    return NULL;
}

static void beside_a_renewer(void **state) {
    const size_t each = 50000;
    issued *log = issued_new(THREADS * each);
    test_renewer renewer = {opened("full=wait window=20ms"), false, 0};
    pthread_t thread;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, keep, &renewer), 0);
    draw_all(renewer.gen, log, each, NULL);
    atomic_store(&renewer.over, true);
    pthread_join(thread, NULL);
    assert_int_equal(renewer.failures, 0);
    assert_int_equal(duplicates(log), 0);
    assert_int_equal(firn_close(renewer.gen, NULL), FIRN_OK);
    issued_free(log);
}

/* ---- fork and threads ----------------------------------------------------------------------- */

#if !SANITIZED /* sanitizers do not know children of processes with threads */

typedef struct thread_crowd {
    firn_gen *gen;
    issued *log;
    _Atomic bool over;
    _Atomic int failures;
} thread_crowd;

static void *go_on(void *argument) {
    thread_crowd *crowd = argument;
    while (!atomic_load(&crowd->over)) {
        uint64_t id;
        if (firn_next_u64(crowd->gen, &id, 1, NULL) != FIRN_OK) {
            atomic_fetch_add(&crowd->failures, 1);
        }
        issued_add(crowd->log, id);
        /* The log has room for the children too, however long a busy machine takes to fork them. */
        usleep(atomic_load(&crowd->log->count) < crowd->log->size / 2 ? 20 : 100000);
    }
    return NULL;
}

/* Either it has its own node, or the fork met the parent inside the store and it is refused. */
static int issue_in_child(const thread_crowd *crowd) {
    for (int i = 0; i < 200; i++) {
        uint64_t id;
        firn_error error = {0};
        int code = firn_next_u64(crowd->gen, &id, 1, &error);
        if (code != FIRN_OK) {
            return code == FIRN_EFORKED && strstr(error.text, "exec") != NULL ? 10 : 1;
        }
        issued_add(crowd->log, id);
    }
    return 0;
}

static void forks_beside_threads(void **state) {
    thread_crowd crowd = {opened("full=wait window=20ms"), issued_new(2000000), false, 0};
    pthread_t threads[4];
    int issuing = 0, told = 0;
    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, go_on, &crowd), 0);
    }
    for (int i = 0; i < 150 || (issuing == 0 && i < 3000); i++) {
        int end;
        pid_t child = fork();
        if (child == 0) {
            alarm(HUNG_S);
            _exit(issue_in_child(&crowd));
        }
        end = end_of(child);
        assert_true(end == 0 || end == 10);
        issuing += end == 0;
        told += end == 10;
    }
    atomic_store(&crowd.over, true);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    print_message("# %zu IDs; of the children %d issued and %d were told\n",
                  atomic_load(&crowd.log->count), issuing, told);
    assert_int_equal(atomic_load(&crowd.failures), 0);
    assert_true(issuing > 0);
    assert_int_equal(duplicates(crowd.log), 0);
    assert_int_equal(firn_close(crowd.gen, NULL), FIRN_OK);
    issued_free(crowd.log);
}
#endif

int main(void) {
#define CHECK(sentence, run)                                                                       \
    { sentence, run, set_up_in_memory, tear_down, NULL }
    const struct CMUnitTest tests[] = {
        CHECK("8 threads issue each ID once, a later call the greater one", in_strict_order),
        CHECK("ordering=thread: each ID once, in order within a thread", in_order_of_threads),
        CHECK("windows of 5 ms: the same through many renewals", through_short_windows),
        CHECK("clock=exact: the same", by_the_exact_clock),
        CHECK("beside a renewer that renews: each ID once", beside_a_renewer),
#if !SANITIZED
        CHECK("forked beside 4 threads, a child issues its own or is told", forks_beside_threads),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
