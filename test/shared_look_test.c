/* SPDX-License-Identifier: MIT */
/* A thread looks at a shared generator while another process renews it and another thread takes the
 * renewal lock: at each atomic operation of the look, one run. The simulation meets the failing
 * order about once in 45,000 seeds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../sim/preempt.h"
#include "../src/shared.c"

static struct {
    firn_gen *gen;
    firn__window *window; /* what the other process opens */
    int at, passed;       /* the operation to interrupt, and those begun; at 0: none */
    bool locked;
    firn__window *seen; /* by the thread that has the lock */
} run;

void sim_preempt(void) {
    if (run.at == 0 || ++run.passed != run.at) {
        return;
    }
    run.at = 0;
    firn__shared_choose(run.gen, run.window);
    run.locked = firn__renewal_lock(run.gen, false, NULL) == FIRN_OK;
    run.seen = run.locked ? firn__window_of(run.gen, 0) : NULL;
}

bool sim_spurious(void) {
    return false;
}

bool sim_after(bool value) {
    return value;
}

static void an_older_look_replaces_no_newer_one(void **state) {
    static _Alignas(64) uint8_t memory[1 << 18];
    firn_store *store;
    firn_id id;
    (void)state;
    assert_true(firn_shared_size() <= sizeof memory);
    assert_int_equal(firn_store_open(&store, "memory:", NULL, NULL), FIRN_OK);
    const firn_config config = {.size = sizeof config,
                                .scheme = "snowflake",
                                .keys = "node=5",
                                .store = store,
                                .shared = memory,
                                .shared_size = firn_shared_size()};
    assert_int_equal(firn_open_with(&run.gen, &config, NULL), FIRN_OK);
    assert_int_equal(firn_next(run.gen, &id, NULL), FIRN_OK);
    run.window = firn__window_of(run.gen, 0);
    assert_non_null(run.window);
    int interrupted = 0;
    for (int position = 1; position <= 8; position++) {
        firn__shared_choose(run.gen, NULL); /* a process is about to renew */
        firn__shared_look(run.gen);
        assert_null(firn__window_of(run.gen, 0));
        run.locked = false;
        run.passed = 0;
        run.at = position;
        firn__shared_look(run.gen);
        interrupted += run.at == 0;
        run.at = 0;
        if (run.locked) {
            assert_ptr_equal(run.seen, run.window);
            assert_ptr_equal(firn__window_of(run.gen, 0), run.seen);
            firn__renewal_unlock(run.gen);
        }
        firn__shared_choose(run.gen, run.window);
        firn__shared_look(run.gen);
        assert_ptr_equal(firn__window_of(run.gen, 0), run.window);
    }
    assert_true(interrupted >= 2); /* its load and its store */
    assert_int_equal(firn_close(run.gen, NULL), FIRN_OK);
    firn_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_older_look_replaces_no_newer_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
