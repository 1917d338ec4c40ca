/* SPDX-License-Identifier: MIT */
/* firn_renew_identity: a process that runs twice. A copy of a process is made by a raw fork whose
 * memory the kernel does not wipe, so that it continues where its parent is, as a copy of a virtual
 * machine does. Each check has its own process, because the library asks the kernel once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "entropy.h"
#include "folder.h"
#include "fork_memory.h"
#include "in_child.h"
#include "issued.h"
#include "now.h"

static bool unwiped; /* the kernel does not wipe, and the library does not learn it */

int __real_madvise(void *context, size_t size, int advice);
int __wrap_madvise(void *context, size_t size, int advice);
int __wrap_madvise(void *context, size_t size, int advice) {
    int code = __real_madvise(context, size, advice);
    return code == 0 && unwiped && advice == MADV_WIPEONFORK
               ? __real_madvise(context, size, MADV_KEEPONFORK)
               : code;
}

static void in_process(int (*check)(void)) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(HUNG_S);
        _exit(check());
    }
    assert_int_equal(end_of(child), 0);
}

static int open_one(firn_gen **gen, const char *scheme, const char *keys) {
    firn_error error = {0};
    const firn_config config = {
        .size = sizeof config, .scheme = scheme, .keys = keys, .store_url = url};
    int code = firn_open_with(gen, &config, &error);
    if (code != FIRN_OK) {
        fprintf(stderr, "# %s: %s\n", scheme, error.text);
    }
    return code;
}

/* ---- copies ---------------------------------------------------------------------------------- */

static const char *const schemes[] = {"snowflake", "uuid4", "uuid7",   "ulid",
                                      "objectid",  "xid",   "scru128", "uuid1"};
enum { SCHEMES = sizeof schemes / sizeof schemes[0], EACH = 200 };
static firn_gen *gens[SCHEMES];
static firn_segment *segment;
static issued *record;

/* IDs that come from what the process has prepared. */
static int issue_all(firn_block *page) {
    firn_error error = {0};
    for (uint64_t i = 0; i < SCHEMES; i++) {
        for (int k = 0; k < EACH; k++) {
            firn_id id;
            int code = firn_next(gens[i], &id, &error);
            if (code == FIRN_OK) {
                issued_add(record, id.low * 31 + id.high * 0xc2b2ae3d27d4eb4f + id.top + i);
            } else { /* each renewal begins a tick, which lasts a second for some */
                CHECK(code == FIRN_EEXHAUSTED);
            }
        }
    }
    for (int k = 0; k < EACH; k++) {
        uint64_t id;
        int64_t value;
        CHECK(firn_block_next(page, &id, &error) == FIRN_OK);
        issued_add(record, id * 31); /* snowflakes, as the first scheme's */
        CHECK(firn_segment_next(segment, &value, &error) == FIRN_OK);
        issued_add(record, (uint64_t)value << 20 | 0xabcde);
    }
    return 0;
}

static int open_all(firn_block **page) {
    firn_store *store;
    record = issued_new(1 << 16);
    for (int i = 0; i < SCHEMES; i++) {
        CHECK(open_one(&gens[i], schemes[i], "max_wait=1s") == FIRN_OK);
    }
    CHECK(firn_block_open(page, gens[0], 1000000, NULL) == FIRN_OK);
    CHECK(firn_store_open(&store, url, NULL, NULL) == FIRN_OK);
    CHECK(firn_segment_open(&segment, "orders", "kind=segment step=10000", store, NULL, NULL) ==
          FIRN_OK);
    return issue_all(*page);
}

/* Both copies continue; the copy first calls the function, if `renews`. */
static int run_twice(bool renews) {
    firn_block *page;
    unwiped = true;
    CHECK(open_all(&page) == 0);
    pid_t copy = _Fork();
    if (copy == 0) {
        alarm(HUNG_S);
        if (renews) {
            firn_renew_identity();
        }
        _exit(issue_all(page));
    }
    CHECK(issue_all(page) == 0 && end_of(copy) == 0);
    CHECK((duplicates(record) == 0) == renews);
    return 0;
}

static int copy_renewed(void) {
    return run_twice(true);
}

static int copy_unaware(void) { /* so that the first check can find something */
    return run_twice(false);
}

static void a_copy_that_renews_repeats_nothing(void **state) {
    (void)state;
    in_process(copy_renewed);
    in_process(copy_unaware);
}

/* ---- what is renewed ------------------------------------------------------------------------- */

static uint64_t node_of(firn_gen *gen) {
    firn_status status = {.size = sizeof status};
    firn_gen_status(gen, &status);
    return status.node;
}

static int see_node(void) {
    firn_gen *gen;
    firn_id id;
    firn_error error = {0};
    /* The fixed nodes below are in datacenter 0. */
    CHECK(open_one(&gen, "snowflake", "datacenter=1") == FIRN_OK);
    CHECK(firn_next(gen, &id, NULL) == FIRN_OK);
    uint64_t node = node_of(gen), low = id.low;
    firn_renew_identity();
    CHECK(firn_next(gen, &id, &error) == FIRN_OK);
    CHECK(node_of(gen) != node && id.low >> 22 > low >> 22);
    CHECK(firn_close(gen, NULL) == FIRN_OK);
    /* a fixed node: the store refuses it until the window has passed */
    CHECK(open_one(&gen, "snowflake", "node=7 window=10s max_wait=0") == FIRN_OK);
    CHECK(firn_next(gen, &id, NULL) == FIRN_OK);
    firn_renew_identity();
    int code = firn_next(gen, &id, &error);
    CHECK(code == FIRN_EBUSY && strstr(error.text, "is in use until") != NULL);
    CHECK(firn_close(gen, NULL) == FIRN_OK); /* the memory of both windows is gone */
    firn_renew_identity();
    /* closed without another call: the other copy still has the window */
    const char keys[] = "node=8 window=10s max_wait=0";
    CHECK(open_one(&gen, "snowflake", keys) == FIRN_OK && firn_next(gen, &id, NULL) == FIRN_OK);
    firn_renew_identity();
    CHECK(firn_close(gen, NULL) == FIRN_OK);
    CHECK(open_one(&gen, "snowflake", keys) == FIRN_EBUSY);
    return 0;
}

static uint64_t milliseconds_of(const firn_id *id) {
    return id->bits == 128 ? id->high >> 16 : id->low >> 22;
}

/* Renewal that meets a window which another thread has just claimed in answer to the same
 * renewal. */
static int see_shut(void) {
    static const char *const names[] = {"snowflake", "ulid", "uuid7"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        firn_gen *gen;
        firn_id id, later;
        CHECK(open_one(&gen, names[i], NULL) == FIRN_OK && firn_next(gen, &id, NULL) == FIRN_OK);
        uint64_t node = node_of(gen);
        firn__window_shut(firn__window_of(gen, 0));
        do { /* an ID that begins no tick needs no window */
            CHECK(firn_next(gen, &later, NULL) == FIRN_OK);
            CHECK(memcmp(&id, &later, sizeof id) != 0);
        } while (milliseconds_of(&later) == milliseconds_of(&id));
        CHECK(!gen->reserved || node_of(gen) != node);
        int64_t wait_ms;
        firn__window_shut(firn__window_of(gen, 0));
        CHECK(firn_gen_step(gen, &wait_ms, NULL) == FIRN_OK);
        CHECK(!gen->reserved || !firn__window_is_shut(firn__window_of(gen, 0)));
        CHECK(firn_close(gen, NULL) == FIRN_OK);
    }
    return 0;
}

static void a_window_shut_at_its_claim_is_left(void **state) {
    (void)state;
    in_process(see_shut);
}

static void another_node_is_claimed(void **state) {
    (void)state;
    in_process(see_node);
}

static int see_random_bytes(void) {
    uint8_t bytes[16];
    CHECK(firn__entropy_fill(NULL, bytes, sizeof bytes, NULL) == FIRN_OK);
    uint64_t refills = firn__block_here->refills, left = firn__block_here->left;
    CHECK(firn__entropy_fill(NULL, bytes, sizeof bytes, NULL) == FIRN_OK);
    CHECK(firn__block_here->refills == refills && firn__block_here->left == left - sizeof bytes);
    firn_renew_identity();
    firn_value value;
    CHECK(!firn__block_take(&value, true));
    CHECK(firn__entropy_fill(NULL, bytes, sizeof bytes, NULL) == FIRN_OK);
    CHECK(firn__block_here->refills == refills + 1);
    return 0;
}

static void random_bytes_are_drawn_again(void **state) {
    (void)state;
    in_process(see_random_bytes);
}

/* The counter of another machine: it is before what this thread has read. */
static int see_counter(void) {
    firn_gen *gen;
    firn_id id;
    CHECK(open_one(&gen, "snowflake", NULL) == FIRN_OK && firn_next(gen, &id, NULL) == FIRN_OK);
    if (!gen->cycles) {
        fprintf(stderr, "# the kernel does not vouch for the cycle counter of this machine\n");
        return 0;
    }
    for (int i = 0; i < 2; i++) {
        uint8_t bytes[16];
        CHECK(firn__entropy_fill(NULL, bytes, sizeof bytes, NULL) == FIRN_OK);
        uint64_t node = node_of(gen), refills = firn__block_here->refills;
        firn__thread_view_of(gen)->counter += UINT64_C(1)
                                              << (i == 0 ? 40 : 10); /* cores differ by less */
        CHECK(firn_next(gen, &id, NULL) == FIRN_OK);
        CHECK((node_of(gen) != node) == (i == 0));
        CHECK(firn__entropy_fill(NULL, bytes, sizeof bytes, NULL) == FIRN_OK);
        CHECK((firn__block_here->refills == refills + 1) == (i == 0));
    }
    return 0;
}

static void a_counter_that_goes_back_is_a_sign(void **state) {
    (void)state;
    in_process(see_counter);
}

/* ---- order ----------------------------------------------------------------------------------- */

static char order[5];

static void renew_random(void *page) {
    (void)page;
    strcat(order, "r");
}

static void renew_reserved(void *page) {
    (void)page;
    strcat(order, "s");
}

static void renew_marks(void *page) {
    (void)page;
    strcat(order, "m");
}

static void renew_issued(void *page) {
    (void)page;
    strcat(order, "i");
}

/* In any order of making: else a thread that draws in between takes what the copies share. */
static int see_order(void) {
    static void (*const renews[])(void *) = {renew_random, renew_marks, renew_reserved,
                                             renew_issued};
    for (int shift = 0; shift < 4; shift++) {
        void *pages[4];
        order[0] = '\0';
        for (int i = 0; i < 4; i++) {
            int code, rank = (i + shift) % 4;
            pages[i] = firn__wiped(64, &code, NULL);
            CHECK(pages[i] != NULL);
            firn__wiped_renews(pages[i], 64, (enum firn__renew_rank)rank, renews[rank]);
        }
        firn_renew_identity();
        for (int i = 0; i < 4; i++) {
            firn__wiped_free(pages[i], 64);
        }
        CHECK(strcmp(order, "rmsi") == 0);
    }
    return 0;
}

static void random_bytes_are_renewed_first_and_ids_last(void **state) {
    (void)state;
    in_process(see_order);
}

/* ---- threads --------------------------------------------------------------------------------- */

static _Atomic bool renewing;
static _Atomic int running;

static void *work(void *bad) {
    firn_block *page;
    *(int *)bad = firn_block_open(&page, gens[0], 1000000, NULL);
    atomic_fetch_add(&running, 1);
    while (*(int *)bad == 0 && atomic_load(&renewing)) {
        *(int *)bad = issue_all(page);
    }
    return NULL;
}

static int issue_in_threads(void) {
    pthread_t threads[3];
    int bad[3];
    firn_block *page;
    CHECK(open_all(&page) == 0);
    issued_free(record);
    record = issued_new(1 << 26);
    atomic_store(&renewing, true);
    for (int i = 0; i < 3; i++) {
        CHECK(pthread_create(&threads[i], NULL, work, &bad[i]) == 0);
    }
    while (atomic_load(&running) < 3) {
        sched_yield();
    }
    for (int i = 0; i < 50; i++) {
        firn_renew_identity();
        usleep(1000);
    }
    atomic_store(&renewing, false);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        CHECK(bad[i] == 0);
    }
    CHECK(duplicates(record) == 0);
    return 0;
}

static void threads_issue_meanwhile(void **state) {
    (void)state;
    in_process(issue_in_threads);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_copy_that_renews_repeats_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_node_is_claimed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_window_shut_at_its_claim_is_left, set_up, tear_down),
        cmocka_unit_test_setup_teardown(random_bytes_are_drawn_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_counter_that_goes_back_is_a_sign, set_up, tear_down),
        cmocka_unit_test(random_bytes_are_renewed_first_and_ids_last),
        cmocka_unit_test_setup_teardown(threads_issue_meanwhile, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
