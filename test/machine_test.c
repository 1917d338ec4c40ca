/* SPDX-License-Identifier: MIT */
/* The reserve of a machine: a shared store that goes away, processes that start then, copies of
 * the local file, refills whose replies are lost. Each rule has a test that fails without it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <execinfo.h>
#include <fcntl.h>

#include "away.h"
#include "law.h"
#include "machine.h"
#include "short.h"

#define LAYOUT "time:41/ms@@2024-01-01 node:4 sequence:2" /* 4 slots a tick */
#define KEYS   "ns=r reach=1h reserve=1h unsafe=1 max_wait=0"

static bool no_machine_id; /* in no place */
static bool empty_id;      /* its file is empty */
static bool disk_is_full;  /* the file of the reserve cannot be locked or written */
static bool forgets;       /* the shared store forgot the losses that it knew */
static bool no_origin;     /* of the shared store, as of servers of SQL: only marks tell it */

FILE *__real_fopen64(const char *path, const char *how);
FILE *__wrap_fopen64(const char *path, const char *how);
FILE *__wrap_fopen64(const char *path, const char *how) {
    const bool is_id = strstr(path, "machine-id") != NULL;
    return is_id && no_machine_id ? NULL
                                  : __real_fopen64(is_id && empty_id ? "/dev/null" : path, how);
}

/* The tests' store, a memory store with methods that fail, counts as one with firn's law; with
 * `of_program` it counts as a program's. */
static bool of_program;
bool __real_firn__store_has_law(const firn_store *store);
bool __wrap_firn__store_has_law(const firn_store *store);
bool __wrap_firn__store_has_law(const firn_store *store) {
    return !of_program || __real_firn__store_has_law(store);
}

static int begin_machines(void **state) {
    no_machine_id = empty_id = of_program = no_origin = forgets = false;
    return begin_world(state);
}

/* ---- processes ------------------------------------------------------------------------------- */

static int try_process(firn_gen **gen, const char *path, const char *more, firn_error *error) {
    char keys[900];
    snprintf(keys, sizeof keys, KEYS " reserve_path=%s %s", path, more);
    return try_open(gen, LAYOUT, keys, false, error);
}

static firn_gen *process_of(const char *path, const char *more) {
    firn_gen *gen = NULL;
    firn_error error = {0};
    if (try_process(&gen, path, more, &error) != FIRN_OK) {
        fail_msg("no process: %s", error.text);
    }
    return gen;
}

static firn_gen *process(void) {
    return process_of(file, "");
}

static void denied_process(const char *path, const char *more, int code, const char *words) {
    firn_gen *gen = NULL;
    firn_error error = {0};
    if (try_process(&gen, path, more, &error) == FIRN_OK) {
        fail_msg("a process was opened: %s", more);
    }
    error_text(&error, code, words);
}

/* As kill -9: nothing is given back. */
static void kill_process(firn_gen *gen) {
    firn__gen_dispose(gen);
}

static int take(firn_gen *gen, firn_error *error) {
    firn_id id;
    int code = firn_next(gen, &id, error);
    if (code == FIRN_OK) {
        keep_id(id.low);
    }
    return code;
}

static void takes(firn_gen *gen) {
    firn_error error = {0};
    if (take(gen, &error) != FIRN_OK) {
        fail_msg("no ID: %s", error.text);
    }
}

static uint64_t node_of(firn_gen *gen) {
    firn_status status = {.size = sizeof status};
    firn_gen_status(gen, &status);
    assert_true(status.held);
    return status.node;
}

static char *key_of(firn_gen *gen) {
    static char key[FIRN_KEY_SIZE];
    snprintf(key, sizeof key, "%" PRIu64, node_of(gen));
    return key;
}

/* A process that has issued, of a reserve with one node, whose key it writes. */
static firn_gen *issuing(char key[FIRN_KEY_SIZE]) {
    firn_gen *gen = process_of(file, "reserve_nodes=1");
    takes(gen);
    strcpy(key, key_of(gen));
    return gen;
}

static firn__right right_of(firn_gen *gen, const char *key) {
    firn_records seen;
    firn__right right;
    assert_int_equal(firn__machine_begin(gen->machine, &seen, key, NULL), FIRN_OK);
    firn__right_read(&right, &seen);
    assert_int_equal(firn__machine_end(gen->machine, FIRN_OK), FIRN_OK);
    return right;
}

static firn__pending pending_of(firn_gen *gen, const char *key) {
    char name[FIRN_KEY_SIZE];
    firn_records seen;
    firn__pending pending;
    assert_int_equal(firn__machine_begin(gen->machine, &seen, firn__pending_key(name, key), NULL),
                     FIRN_OK);
    firn__pending_read(&pending, &seen);
    assert_int_equal(firn__machine_end(gen->machine, FIRN_OK), FIRN_OK);
    return pending;
}

static void refill_of(firn_gen *gen, const char *key, int wanted) {
    firn_mark held;
    firn_error error = {0};
    int code = firn__machine_refill(gen->machine, key, NULL, &held, &error);
    if (code != wanted) {
        fail_msg("%s, not %s: %s", firn_errname(code), firn_errname(wanted), error.text);
    }
}

/* Its reply is lost. */
static void refill_unheard(firn_gen *gen, const char *key) {
    unheard = true;
    refill_of(gen, key, FIRN_EUNKNOWN);
    unheard = false;
}

static void write_right_of(firn_gen *gen, const char *key, const firn__right *right) {
    char note[FIRN_NOTE_SIZE];
    firn_records seen;
    assert_int_equal(firn__machine_begin(gen->machine, &seen, key, NULL), FIRN_OK);
    assert_int_equal(
        firn__machine_end(gen->machine, firn__machine_write(gen->machine, &seen, right->mark,
                                                            firn__right_write(note, right), NULL)),
        FIRN_OK);
}

static int64_t slot_now(const firn_gen *gen) {
    const firn_time now = present(&world.clock);
    int64_t slot;
    assert_int_equal(firn__reach_slot(gen, &now, 0, 0, &slot, NULL), FIRN_OK);
    return slot;
}

/* Time goes by while a process issues; returns after how many steps it could not. */
static int64_t run_for(firn_gen *gen, int64_t ns, int64_t step_ns) {
    for (int64_t i = 0; i * step_ns < ns; i++) {
        if (take(gen, NULL) != FIRN_OK) {
            return i;
        }
        pass(&world.clock, step_ns);
    }
    return ns / step_ns;
}

/* ---- the store is away ----------------------------------------------------------------------- */

static void a_process_outlives_its_store_for_an_hour(void **state) {
    (void)state;
    firn_gen *gen = process();
    takes(gen);
    away = true;
    const int64_t seconds = run_for(gen, 2 * HOUR, SECOND);
    assert_in_range(seconds, 3600 - 12, 3601);
    firn_error error = {0};
    assert_int_equal(take(gen, &error), FIRN_ESTORE);
    assert_non_null(strstr(error.text, "away"));
    away = false;
    pass(&world.clock, MINUTE);
    takes(gen);
    nothing_twice();
    closed(gen);
}

/* The slots of a reserve are ahead of its processes: each is issued at its time, or not at all. */
static void no_slot_of_a_reserve_is_issued_after_its_time(void **state) {
    static const int64_t pauses_ns[] = {0, 300000, MS, SECOND, 0, 11 * SECOND, 2 * SECOND};
    (void)state;
    firn_gen *gen = process();
    takes(gen);
    away = true;
    for (size_t i = 0; i < 280; i++) {
        if (i % 28 == 27) {
            kill_process(gen);
            gen = process();
        }
        pass(&world.clock, pauses_ns[i % 7]);
        takes(gen);
        const firn_time now = present(&world.clock);
        firn_time then;
        firn_scheme_time(&gen->scheme, ids[issued - 1] >> 6, &then);
        const int64_t ahead_ns = (then.sec - now.sec) * SECOND + then.ns - now.ns;
        assert_true(ahead_ns > -MS && ahead_ns <= SECOND); /* a tick, and max_lead */
    }
    nothing_twice();
    closed(gen);
}

/* Each minute, so nearly the whole hour is always in hand. */
static void the_reserve_is_refilled_in_time(void **state) {
    (void)state;
    firn_gen *gen = process();
    const uint64_t minutes = 240 / (uint64_t)short_step(4);
    for (uint64_t i = 0; i < minutes; i++) {
        assert_int_equal(run_for(gen, MINUTE, 5 * SECOND), 12);
        firn_status status = {.size = sizeof status};
        firn_gen_status(gen, &status);
        assert_in_range(status.reserve_ms, 58 * 60000, 3600000);
    }
    assert_in_range(world.log.reserves, minutes * 3 / 2, 2 * (minutes + 2)); /* two nodes */
    away = true;
    assert_int_equal(run_for(gen, 3 * MINUTE, 5 * SECOND), 36);
    firn_status status = {.size = sizeof status};
    firn_gen_status(gen, &status);
    assert_in_range(status.reserve_failures, 2, 36);
    nothing_twice();
    closed(gen);
}

/* From half of it on. */
static void a_short_reserve_is_refilled_in_time(void **state) {
    (void)state;
    firn_gen *gen = process_of(file, "reserve=20s reserve_nodes=1");
    for (int s = 0; s < 60; s++) {
        firn_status status = {.size = sizeof status};
        takes(gen);
        firn_gen_status(gen, &status);
        assert_in_range(status.reserve_ms, s == 0 ? 19000 : 1000, 20000);
        pass(&world.clock, SECOND);
    }
    assert_in_range(world.log.reserves, 4, 8);
    closed(gen);
}

/* Not earlier: a refill each 40 s, since the reserve is looked at each 10 s. */
static void a_reserve_of_a_minute_is_refilled_from_half_of_it_on(void **state) {
    (void)state;
    firn_gen *gen = process_of(file, "reserve=1min reserve_nodes=1");
    for (int s = 0; s < 600; s++) {
        firn_status status = {.size = sizeof status};
        takes(gen);
        firn_gen_status(gen, &status);
        assert_in_range(status.reserve_ms, 18000, 60000);
        pass(&world.clock, SECOND);
    }
    assert_in_range(world.log.reserves, 14, 17);
    nothing_twice();
    closed(gen);
}

/* Other processes have the other nodes, except the last one, which is kept for back-dated IDs. */
static void a_second_node_that_is_not_free_is_a_failure(void **state) {
    static const char four[] = "time:41/ms@@2024-01-01 node:2 sequence:4";
    (void)state;
    char keys[900];
    firn_error error = {0};
    firn_status status = {.size = sizeof status};
    firn_gen *gen = NULL, *others[2];
    for (int i = 0; i < 2; i++) {
        others[i] = opened(four, "ns=r reach=1h unsafe=1 max_wait=0");
        takes(others[i]);
    }
    snprintf(keys, sizeof keys, KEYS " reserve_path=%s", file);
    if (try_open(&gen, four, keys, false, &error) != FIRN_OK) {
        fail_msg("no process: %s", error.text);
    }
    for (int s = 0; s < 60; s++) {
        takes(gen);
        takes(others[0]);
        takes(others[1]);
        pass(&world.clock, SECOND);
    }
    firn_gen_status(gen, &status);
    assert_in_range(status.reserve_failures, 1, 10);
    nothing_twice();
    closed(gen);
    closed(others[0]);
    closed(others[1]);
}

/* The store is back after a long time, and slow. No call waits for all the refills, and each node
 * has its refill soon. */
static void a_slow_store_delays_no_call_for_long(void **state) {
    (void)state;
    firn_gen *gen = process_of(file, "reserve_nodes=9");
    firn__machine_list list;
    assert_int_equal(run_for(gen, 3 * MINUTE, SECOND), 180);
    away = true;
    assert_int_equal(run_for(gen, 10 * MINUTE, SECOND), 600);
    away = false;
    slow_ns = SECOND;
    for (int s = 0; s < 90; s++) {
        const int64_t before = slot_now(gen);
        takes(gen);
        assert_in_range(slot_now(gen) - before, 0, 4 * 2000);
        pass(&world.clock, SECOND);
    }
    assert_int_equal(firn__machine_nodes(gen->machine, &list, NULL), FIRN_OK);
    assert_int_equal(list.count, 9);
    for (size_t i = 0; i < list.count; i++) {
        assert_in_range((list.node[i].right.ceiling - slot_now(gen)) / firn__slots_of(gen, 60000),
                        58, 60);
    }
    nothing_twice();
    closed(gen);
}

static void a_process_that_starts_meanwhile_takes_the_other_node(void **state) {
    (void)state;
    firn_gen *first = process();
    takes(first);
    away = true;
    const uint64_t node = node_of(first);
    kill_process(first);
    firn_gen *second = process(); /* in the same moment */
    takes(second);
    assert_int_not_equal(node_of(second), node);
    kill_process(second);
    denied_process(file, "", FIRN_EBUSY, "each node of the reserve of this machine is in use");
    pass(&world.clock, 11 * SECOND); /* the windows are over */
    for (int i = 0; i < 20; i++) {
        firn_gen *next = process();
        assert_int_equal(run_for(next, 20 * SECOND, SECOND), 20);
        closed(next); /* gives its window back to the reserve */
    }
    assert_int_equal(told, 0);
    nothing_twice();
}

/* A process beyond reserve_nodes renews its window from the store. */
static void a_window_from_the_store_is_renewed(void **state) {
    (void)state;
    firn_gen *gen = process_of(file, "reserve_nodes=1"),
             *more = process_of(file, "reserve_nodes=1");
    takes(gen);
    takes(more);
    const uint64_t node = node_of(more);
    assert_int_equal(right_of(gen, key_of(more)).state, 0);
    for (int s = 0; s < 60; s++) {
        takes(gen);
        takes(more);
        pass(&world.clock, SECOND);
    }
    assert_int_equal(node_of(more), node);
    nothing_twice();
    closed(gen);
    closed(more);
}

/* Many that begin at once claim a spare each; those are not refilled. */
static void surplus_nodes_run_out(void **state) {
    (void)state;
    firn_gen *gen = process_of(file, "reserve_nodes=4");
    takes(gen);
    for (int i = 0; i < 12; i++) {
        pass(&world.clock, 11 * SECOND);
        takes(gen);
    }
    firn__machine_list list;
    assert_int_equal(firn__machine_nodes(gen->machine, &list, NULL), FIRN_OK);
    assert_int_equal(list.count, 4);
    closed(gen);
    gen = process_of(file, "reserve_nodes=1");
    assert_int_equal(run_for(gen, 90 * MINUTE, 9 * SECOND), 600);
    assert_int_equal(firn__machine_nodes(gen->machine, &list, NULL), FIRN_OK);
    assert_in_range(list.count, 1, 2); /* a node in use stays, too */
    closed(gen);
}

/* Others that are there when the store goes away, too. */
static void more_processes_than_nodes_have_nodes_of_their_own(void **state) {
    (void)state;
    firn_gen *gen[3];
    for (int i = 0; i < 3; i++) {
        gen[i] = process();
        takes(gen[i]);
    }
    int in_reserve = 0;
    for (int i = 0; i < 3; i++) {
        in_reserve += right_of(gen[i], key_of(gen[i])).state == FIRN__RIGHT_OPEN;
    }
    assert_int_equal(in_reserve, 2);
    away = true;
    int64_t lasts[3];
    for (int i = 0; i < 3; i++) {
        lasts[i] = 0;
    }
    for (int s = 0; s < 60; s++) {
        for (int i = 0; i < 3; i++) {
            lasts[i] += take(gen[i], NULL) == FIRN_OK;
        }
        pass(&world.clock, SECOND);
    }
    int live = 0;
    for (int i = 0; i < 3; i++) {
        live += lasts[i] == 60;
    }
    assert_int_equal(live, 2);
    away = false;
    nothing_twice();
    for (int i = 0; i < 3; i++) {
        closed(gen[i]);
    }
}

static void what_is_not_in_the_reserve_is_refused(void **state) {
    (void)state;
    firn_gen *gen = process();
    firn_id id;
    firn_error error = {0};
    const firn_time past = time_after(present(&world.clock), -DAY);
    takes(gen);
    away = true;
    assert_int_equal(firn_at(gen, &past, &id, 1, &error), FIRN_ESTORE);
    assert_non_null(strstr(error.text, "away"));
    firn_gen *other = NULL;
    char keys[600];
    snprintf(keys, sizeof keys, "ns=new reach=1h reserve=1h unsafe=1 max_wait=0 reserve_path=%s",
             file);
    assert_int_equal(try_open(&other, LAYOUT, keys, false, &error), FIRN_ESTORE);
    takes(gen);
    closed(gen);
}

static void a_reserve_needs_its_reach_and_claimed_nodes(void **state) {
    (void)state;
    refused(LAYOUT, "ns=a reserve=1h", FIRN_ERANGE, "are above 14s");
    refused(LAYOUT, "ns=a reserve=1h reach=10min", FIRN_ERANGE, "set reach=1h for a new namespace");
    refused(LAYOUT, "ns=a reserve=11min reach=10min", FIRN_ERANGE, "set reach=1h");
    refused(LAYOUT, "ns=a reserve=1h reach=1h node=3", FIRN_EUSAGE, "that firn claims");
    refused("uuid7", "reserve=1h", FIRN_EUSAGE, "that firn claims");
    refused("snowflake", "reserve=1h reach=1h worker=ticket", FIRN_EUSAGE, "that firn claims");
    refused(LAYOUT, "ns=a reserve=1h reach=1h mode=online", FIRN_EUSAGE, "set mode=window");
    refused(LAYOUT, "ns=a reserve=61min reach=1h", FIRN_ERANGE, "10s to 1h");
    refused(LAYOUT, "ns=a reserve=1h reach=1h reserve_path=/proc/none/reserve.db", FIRN_ESTORE, "");
}

/* Windows are short, with any `window`, because a closed reserve ends them. */
static void windows_from_a_reserve_are_short(void **state) {
    (void)state;
    firn_gen *gen = process_of(file, "window=10min");
    firn_status status = {.size = sizeof status};
    takes(gen);
    firn_gen_status(gen, &status);
    assert_true(status.end - slot_now(gen) <= firn__slots_of(gen, 10000));
    closed(gen);
}

/* ---- clocks ---------------------------------------------------------------------------------- */

static void no_slot_is_later_than_the_clock_that_is_known(void **state) {
    (void)state;
    firn_gen *gen = process();
    takes(gen);
    away = true;
    pass(&world.clock, 5 * MINUTE);
    takes(gen);
    step(&world.clock, 10 * MINUTE); /* somebody sets the clock of this machine */
    pass(&world.clock, 20 * SECOND);
    firn_error error = {0};
    assert_int_equal(take(gen, &error), FIRN_ECLOCK);
    denied_process(file, "", FIRN_ECLOCK, "fix the wrong clock");
    step(&world.clock, -10 * MINUTE);
    pass(&world.clock, 20 * SECOND);
    takes(gen);
    closed(gen);
}

/* Of a machine that was paused, CLOCK_BOOTTIME lacks the pause: the store's clock is read again. */
static void a_pause_of_the_machine_is_no_wrong_clock(void **state) {
    (void)state;
    firn_gen *gen = process();
    takes(gen);
    pass(&world.clock, MINUTE);
    takes(gen);
    step(&world.clock, MINUTE);
    firn_gen *other = process();
    takes(other);
    int failed = 0;
    for (int s = 0; s < 100; s++) {
        pass(&world.clock, SECOND);
        failed += take(gen, NULL) != FIRN_OK;
    }
    assert_in_range(failed, 0, 12);
    closed(gen);
    closed(other);
}

/* Nor after many small steps, which a window that is renewed in time would follow. */
static void a_clock_that_creeps_ahead_is_noticed(void **state) {
    (void)state;
    firn_gen *gen = process();
    takes(gen);
    away = true;
    int steps = 0;
    while (steps < 60 && take(gen, NULL) == FIRN_OK) {
        step(&world.clock, SECOND);
        pass(&world.clock, 4 * SECOND);
        steps++;
    }
    assert_in_range(steps, 3, 10);
    closed(gen);
}

/* The binding of another boot, as a clone of the disk finds it too. */
static void bind_elsewhere(firn_gen *gen) {
    firn__binding binding;
    assert_int_equal(firn__binding_read(gen->machine, &binding, NULL), FIRN_OK);
    assert_true(binding.known);
    binding.boot ^= 1;
    assert_int_equal(firn__binding_write(gen->machine, &binding, NULL), FIRN_OK);
}

/* As after another boot: CLOCK_BOOTTIME says nothing about the last refill. */
static void reboot(firn_gen *gen) {
    bind_elsewhere(gen);
    firn__machine_list list;
    assert_int_equal(firn__machine_nodes(gen->machine, &list, NULL), FIRN_OK);
    for (size_t i = 0; i < list.count; i++) {
        list.node[i].right.boot ^= 1;
        write_right_of(gen, list.node[i].key, &list.node[i].right);
    }
    kill_process(gen);
    atomic_store(&world.clock.steady_ns, 5 * SECOND);
}

static void after_a_boot_the_clock_must_be_within_the_reserve(void **state) {
    (void)state;
    firn_gen *gen = process();
    takes(gen);
    pass(&world.clock, 10 * MINUTE);
    away = true;
    reboot(gen);
    step(&world.clock, -11 * MINUTE); /* before the last refill */
    denied_process(file, "", FIRN_ESTORE, "away");
    step(&world.clock, 2 * HOUR); /* after the end of the reserve */
    denied_process(file, "", FIRN_ESTORE, "away");
    step(&world.clock, 11 * MINUTE - 2 * HOUR);
    denied_process(file, "", FIRN_EBUSY, "in use"); /* windows that the file lost may run */
    pass(&world.clock, 12 * SECOND);
    gen = process();
    assert_in_range(run_for(gen, 2 * HOUR, SECOND), 49 * 60 - 12, 51 * 60);
    nothing_twice();
    kill_process(gen);
}

/* While the store is there, another boot may be a clone of the disk. */
static void a_boot_while_the_store_is_there_claims_other_nodes(void **state) {
    (void)state;
    char copy[400];
    same_inode = true;
    firn_gen *gen = process_of(file, "reserve_nodes=1");
    takes(gen);
    bind_elsewhere(gen); /* in the clone's boot, this was another one */
    copy_file(copy, "clone.db");
    pass(&world.clock, 11 * SECOND); /* its windows are over */
    firn_gen *clone = process_of(copy, "reserve_nodes=1");
    takes(clone);
    assert_int_not_equal(node_of(clone), node_of(gen));
    for (int s = 0; s < 600; s++) {
        takes(gen);
        takes(clone);
        pass(&world.clock, SECOND);
    }
    nothing_twice();
    closed(gen);
    closed(clone);
}

/* The clone booted while the store was away. Both notice within a minute and a half after it is
 * back. */
static void a_clone_is_noticed_when_the_store_is_back(void **state) {
    (void)state;
    char copy[400];
    same_inode = true;
    firn_gen *gen = process_of(file, "reserve_nodes=1");
    takes(gen);
    bind_elsewhere(gen);
    copy_file(copy, "clone.db");
    away = true;
    denied_process(copy, "reserve_nodes=1", FIRN_EBUSY, "in use");
    pass(&world.clock, 12 * SECOND);
    firn_gen *clone = process_of(copy, "reserve_nodes=1");
    for (int s = 0; s < 100; s++) {
        takes(gen);
        takes(clone);
        pass(&world.clock, SECOND);
    }
    assert_int_equal(node_of(clone), node_of(gen));
    away = false;
    for (int s = 0; s < 90; s++) {
        takes(gen);
        takes(clone);
        pass(&world.clock, SECOND);
    }
    issued = 0;
    for (int s = 0; s < 600; s++) {
        takes(gen);
        takes(clone);
        pass(&world.clock, SECOND);
    }
    assert_int_not_equal(node_of(clone), node_of(gen));
    nothing_twice();
    closed(gen);
    closed(clone);
}

/* ---- whose file ------------------------------------------------------------------------------ */

static void a_copy_of_the_file_grants_nothing(void **state) {
    (void)state;
    char copy[400];
    firn_gen *gen = process();
    takes(gen);
    const uint64_t node = node_of(gen);
    copy_file(copy, "copy.db");
    away = true;
    denied_process(copy, "", FIRN_ESTORE,
                   "is a copy, and the store is away: wait for the store, or set "
                   "reserve_trust=1");
    away = false;
    firn_gen *other = process_of(copy, "");
    assert_int_not_equal(node_of(other), node);
    for (int i = 0; i < 600; i += short_step(5)) { /* neither disturbs the other */
        takes(gen);
        takes(other);
        pass(&world.clock, 10 * SECOND);
    }
    assert_int_equal(node_of(gen), node);
    nothing_twice();
    closed(gen);
    closed(other);
}

/* The store was made again: it answers, and has no node. */
static void a_copy_beside_an_empty_store_is_closed(void **state) {
    (void)state;
    char copy[400], key[FIRN_KEY_SIZE];
    firn_gen *gen = issuing(key);
    copy_file(copy, "copy.db");
    firn_store *before = world.log.real;
    assert_int_equal(firn_store_open(&world.log.real, "memory:", NULL, NULL), FIRN_OK);
    firn_gen *other = process_of(copy, "reserve_nodes=1");
    assert_int_equal(right_of(other, key).state, FIRN__RIGHT_CLOSED);
    assert_int_equal(right_of(gen, key).state, FIRN__RIGHT_OPEN);
    kill_process(gen);
    kill_process(other);
    firn_store_close(before);
}

static void a_copy_that_is_trusted_goes_on(void **state) {
    (void)state;
    char copy[400];
    firn_gen *gen = process();
    takes(gen);
    kill_process(gen);
    pass(&world.clock, MINUTE);
    copy_file(copy, "moved.db"); /* to another machine, and this one is gone */
    away = true;
    gen = process_of(copy, "reserve_trust=1");
    assert_int_equal(run_for(gen, 10 * MINUTE, SECOND), 600);
    kill_process(gen);
    pass(&world.clock, MINUTE);
    gen = process_of(copy, ""); /* the file is this machine's now */
    takes(gen);
    nothing_twice();
    kill_process(gen);
}

/* Left in the keys for ever, the setting changes nothing while the store is there. */
static void a_trusted_copy_is_closed_while_the_store_is_there(void **state) {
    (void)state;
    char copy[400];
    firn_gen *gen = process_of(file, "reserve_nodes=1 reserve_trust=1");
    takes(gen);
    copy_file(copy, "copy.db");
    pass(&world.clock, 11 * SECOND);
    firn_gen *other = process_of(copy, "reserve_nodes=1 reserve_trust=1");
    takes(other);
    assert_int_not_equal(node_of(other), node_of(gen));
    assert_int_equal(right_of(other, key_of(gen)).state, FIRN__RIGHT_CLOSED);
    closed(gen);
    closed(other);
}

/* A copy must not send a refill that was pending in the original. */
static void a_copy_forgets_pending_refills(void **state) {
    (void)state;
    char copy[400], key[FIRN_KEY_SIZE];
    firn_gen *gen = issuing(key);
    pass(&world.clock, 10 * MINUTE);
    unheard = true;
    firn_mark held;
    assert_int_equal(firn__machine_refill(gen->machine, key, NULL, &held, NULL), FIRN_EUNKNOWN);
    unheard = false;
    assert_int_not_equal(pending_of(gen, key).grant, 0);
    copy_file(copy, "copy.db");
    firn_gen *other = process_of(copy, "reserve_nodes=1");
    assert_int_equal(pending_of(other, key).grant, 0);
    assert_int_not_equal(pending_of(gen, key).grant, 0);
    kill_process(gen);
    kill_process(other);
}

/* Closed rights are many after a while, and may come first in a listing. */
static void closed_rights_do_not_hide_open_ones(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_gen *gen = process_of(file, "reserve_nodes=1");
    takes(gen);
    for (int i = 0; i < FIRN__MACHINE_NODES + 9; i++) {
        const firn__right right = {.state = FIRN__RIGHT_CLOSED, .ceiling = 5, .first = 1, .end = 5};
        snprintf(key, sizeof key, "%d", 0x10000 + i);
        write_right_of(gen, key, &right);
        snprintf(key, sizeof key, "00%d", i);
        write_right_of(gen, key, &right);
    }
    firn__machine_list list;
    assert_int_equal(firn__machine_nodes(gen->machine, &list, NULL), FIRN_OK);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.node[0].key, key_of(gen));
    for (int i = 0; i < FIRN__MACHINE_NODES; i++) {
        const int64_t end = slot_now(gen) + 9;
        const firn__right right = {.state = FIRN__RIGHT_OPEN, .ceiling = end, .end = end};
        snprintf(key, sizeof key, "%d", 0x10000 + i);
        write_right_of(gen, key, &right);
    }
    assert_int_equal(firn__machine_nodes(gen->machine, &list, NULL), FIRN_ERANGE);
    gen->machine->clocked = false; /* then nobody knows which are over */
    assert_int_equal(firn__machine_nodes(gen->machine, &list, NULL), FIRN_OK);
    gen->machine->clocked = true;
    assert_int_equal(firn__machine_shut_all(gen->machine, -1, NULL), FIRN_OK);
    assert_int_equal(firn__machine_nodes(gen->machine, &list, NULL), FIRN_OK);
    assert_int_equal(list.count, 0);
    const firn__right closed_one = {
        .state = FIRN__RIGHT_CLOSED, .mark = {4, 9}, .ceiling = 5, .end = 5};
    write_right_of(gen, "1234567890", &closed_one); /* as long as the key of a refill */
    assert_int_equal(firn__machine_strike_all(gen->machine, NULL), FIRN_OK);
    const firn__right still = right_of(gen, "1234567890");
    assert_memory_equal(&still, &closed_one, sizeof still);
    kill_process(gen);
}

/* The shared store grants nodes that no reserve has, to a process that runs and to one that starts. */
static void on_a_full_disk_the_store_grants_other_nodes(void **state) {
    (void)state;
    firn_gen *gen = process();
    takes(gen);
    const uint64_t node = node_of(gen);
    disk_is_full = true;
    firn_gen *other = process();
    const bool noticed = strstr(world.notice, "this process continues without its reserve") != NULL;
    int64_t failed = 0;
    for (int s = 0; s < 120; s++) {
        failed += take(gen, NULL) != FIRN_OK;
        failed += take(other, NULL) != FIRN_OK;
        pass(&world.clock, SECOND);
    }
    const uint64_t now = node_of(gen), others = node_of(other);
    disk_is_full = false;
    assert_true(noticed);
    assert_in_range(failed, 0, 5);
    assert_int_not_equal(now, node);
    assert_int_not_equal(now, others);
    firn_gen *next = process();
    for (int s = 0; s < 60; s++) {
        takes(gen);
        takes(other);
        takes(next);
        pass(&world.clock, SECOND);
    }
    nothing_twice();
    away = true;
    disk_is_full = true;
    firn_error error = {0};
    firn_gen *late = NULL;
    const int code = try_process(&late, file, "", &error);
    disk_is_full = false;
    away = false;
    assert_int_equal(code, FIRN_ESTORE);
    closed(gen);
    closed(other);
    closed(next);
}

/* Put back in its place, with all that is older than its count. Windows may still run that it does
 * not know. */
static void an_older_copy_that_was_put_back_waits_for_them(void **state) {
    (void)state;
    char copy[400], command[1700];
    firn_gen *gen = process_of(file, "reserve_nodes=1");
    takes(gen);
    closed(gen);
    copy_file(copy, "backup.db");
    pass(&world.clock, SECOND);
    gen = process_of(file, "reserve_nodes=1");
    assert_int_equal(run_for(gen, 20 * SECOND, SECOND), 20);
    kill_process(gen);
    away = true;
    snprintf(command, sizeof command, "cat '%s' >'%s' && rm -f '%s-wal' '%s-shm'", copy, file, file,
             file);
    assert_int_equal(system(command), 0);
    firn_error error = {0};
    assert_int_not_equal(try_process(&gen, file, "reserve_nodes=1", &error), FIRN_OK);
    pass(&world.clock, 14 * SECOND);
    assert_int_not_equal(try_process(&gen, file, "reserve_nodes=1", &error), FIRN_OK);
    pass(&world.clock, 4 * SECOND);
    gen = process_of(file, "reserve_nodes=1");
    assert_int_equal(run_for(gen, MINUTE, SECOND), 60);
    nothing_twice();
    closed(gen);
}

/* Both were trusted. The first that refills keeps the node; the other notices, and issues nothing more. */
static void a_foreign_grant_closes_the_reserve(void **state) {
    (void)state;
    char copy[400];
    firn_gen *gen = process_of(file, "reserve_nodes=1");
    takes(gen);
    const uint64_t node = node_of(gen);
    copy_file(copy, "thief.db");
    firn_gen *thief = NULL;
    pass(&world.clock, 31 * MINUTE);
    away = true;
    thief = process_of(copy, "reserve_trust=1 reserve_nodes=1");
    away = false;
    pass(&world.clock, 11 * SECOND);
    takes(thief); /* refills */
    char key[FIRN_KEY_SIZE];
    snprintf(key, sizeof key, "%" PRIu64, node);
    assert_int_equal(node_of(thief), node);
    const firn__right theirs = right_of(thief, key);
    assert_true(theirs.ceiling > right_of(gen, key).ceiling);
    issued = 0; /* from here on, nothing is issued twice */
    pass(&world.clock, 11 * SECOND);
    takes(gen); /* the process meets the grant */
    pass(&world.clock, 11 * SECOND);
    takes(gen);
    const firn__right ours = right_of(gen, key);
    assert_int_equal(ours.state, FIRN__RIGHT_CLOSED);
    assert_int_equal(ours.ceiling, ours.mark.high);
    assert_int_equal(ours.epoch, 1);
    assert_non_null(strstr(world.notice, "node"));
    assert_int_not_equal(node_of(gen), node);
    closed(gen);
    closed(thief);
}

/* The process that itself meets the foreign grant issues nothing more of its window. */
static void who_meets_a_foreign_grant_drops_the_window(void **state) {
    (void)state;
    char copy[400];
    firn_gen *gen = process_of(file, "reserve_nodes=1");
    takes(gen);
    const uint64_t node = node_of(gen);
    copy_file(copy, "thief.db");
    away = true;
    pass(&world.clock, 5 * MINUTE);
    firn_gen *thief = process_of(copy, "reserve_trust=1 reserve_nodes=1");
    away = false;
    takes(thief); /* a clone that nobody could notice refills first */
    char key[FIRN_KEY_SIZE];
    strcpy(key, key_of(thief));
    assert_string_equal(key_of(gen), key);
    firn_mark held;
    pass(&world.clock, 70 * SECOND);
    assert_int_equal(firn__machine_refill(thief->machine, key, NULL, &held, NULL), FIRN_OK);
    takes(gen);
    takes(gen);
    assert_int_equal(right_of(gen, key).state, FIRN__RIGHT_CLOSED);
    assert_int_not_equal(node_of(gen), node);
    closed(gen);
    closed(thief);
}

/* Likewise a process whose window ends at the ceiling. */
static void a_foreign_grant_at_the_ceiling_drops_the_window(void **state) {
    (void)state;
    char copy[400], key[FIRN_KEY_SIZE];
    firn_gen *gen = process_of(file, "reserve_nodes=1");
    takes(gen);
    const uint64_t node = node_of(gen);
    strcpy(key, key_of(gen));
    copy_file(copy, "thief.db");
    away = true;
    pass(&world.clock, 11 * SECOND);
    firn_gen *thief = process_of(copy, "reserve_trust=1 reserve_nodes=1");
    run_for(gen, 59 * MINUTE + 41 * SECOND, 4 * SECOND);
    away = false;
    refill_of(thief, key, FIRN_OK);
    bool shut = false;
    for (int s = 0; s < 20; s++) {
        const bool issues = take(gen, NULL) == FIRN_OK;
        assert_false(shut && issues && node_of(gen) == node);
        shut = right_of(gen, key).state == FIRN__RIGHT_CLOSED;
        pass(&world.clock, SECOND / 2);
    }
    assert_true(shut);
    kill_process(gen);
    kill_process(thief);
}

/* Another process of the machine met the foreign grant: at the next renewal nothing more of the
 * window is issued, although the store is away. */
static void a_window_of_a_closed_reserve_is_dropped(void **state) {
    (void)state;
    firn_gen *gen = process(), *other = process();
    takes(gen);
    const uint64_t node = node_of(gen);
    char key[FIRN_KEY_SIZE];
    strcpy(key, key_of(gen));
    pass(&world.clock, 6 * SECOND);
    assert_int_equal(firn__machine_shut(other->machine, key, INT64_MAX, NULL), FIRN_OK);
    assert_true(right_of(gen, key).mark.high > slot_now(gen) + 4000);
    away = true;
    (void)take(gen, NULL); /* the call that renews */
    assert_int_not_equal(take(gen, NULL), FIRN_OK);
    away = false;
    takes(gen);
    assert_int_not_equal(node_of(gen), node);
    nothing_twice();
    closed(gen);
    closed(other);
}

/* ---- refills --------------------------------------------------------------------------------- */

static char watched_key[FIRN_KEY_SIZE];

static void two_processes_refill_once(void **state) {
    (void)state;
    firn_gen *one = process(), *two = process();
    takes(one);
    takes(two);
    pass(&world.clock, 35 * MINUTE);
    const int before = world.log.reserves;
    takes(one);
    takes(two);
    assert_int_equal(world.log.reserves - before, 2); /* a node each */
    assert_int_equal(right_of(one, key_of(one)).state, FIRN__RIGHT_OPEN);
    assert_int_equal(right_of(two, key_of(two)).state, FIRN__RIGHT_OPEN);
    nothing_twice();
    closed(one);
    closed(two);
}

/* The grant is in the file before it is sent, and the same is sent again. */
static void a_refill_whose_reply_is_lost_is_sent_again(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_gen *gen = issuing(key);
    const firn__right before = right_of(gen, key);
    pass(&world.clock, 10 * MINUTE);
    refill_unheard(gen, key);
    const firn__pending pending = pending_of(gen, key);
    assert_int_equal(pending.grant, world.log.grants[0]);
    assert_int_equal(pending.earliest, before.end);
    assert_int_equal(right_of(gen, key).ceiling, before.ceiling);
    refill_of(gen, key, FIRN_OK); /* its own: no fence */
    assert_int_equal(world.log.grants[0], pending.grant);
    const firn__right after = right_of(gen, key);
    assert_int_equal(after.ceiling, before.end + pending.count);
    assert_true(after.twice);
    assert_int_equal(pending_of(gen, key).grant, 0);
    closed(gen);
}

/* A refill that another process left pending counts after one more with a fresh grant. */
static void a_pending_refill_of_another_process_is_fenced(void **state) {
    (void)state;
    firn_gen *gen = process_of(file, "reserve_nodes=1");
    takes(gen);
    char key[FIRN_KEY_SIZE], copy[400];
    strcpy(key, key_of(gen));
    const int64_t ceiling = right_of(gen, key).ceiling;
    pass(&world.clock, 20 * MINUTE);
    refill_unheard(gen, key);
    const firn__pending pending = pending_of(gen, key);
    kill_process(gen);
    copy_file(copy, "copy.db"); /* while it is pending */
    pass(&world.clock, 5 * SECOND);
    gen = process_of(file, "reserve_nodes=1");
    refill_of(gen, key, FIRN_EWINDOW); /* the sender may still wait for the reply */
    pass(&world.clock, 11 * SECOND);
    away = true;
    firn_gen *thief = process_of(copy, "reserve_nodes=1 reserve_trust=1");
    away = false;
    const int before = world.log.reserves;
    refill_of(gen, key, FIRN_OK);
    assert_int_equal(world.log.reserves - before, 2);
    assert_int_equal(world.log.grants[1], pending.grant);
    const firn__right ours = right_of(gen, key);
    assert_true(ours.ceiling > ceiling);
    assert_int_equal(ours.ceiling, ours.end);
    refill_of(thief, key, FIRN_EBUSY);
    const firn__right theirs = right_of(thief, key);
    assert_true(theirs.ceiling <= ceiling); /* nothing of the refill is theirs */
    assert_int_equal(theirs.state, FIRN__RIGHT_CLOSED);
    kill_process(gen);
    kill_process(thief);
}

static void a_settled_refill_without_its_fence_counts_for_nothing(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_gen *gen = issuing(key);
    const firn__right before = right_of(gen, key);
    pass(&world.clock, 20 * MINUTE);
    refill_unheard(gen, key);
    kill_process(gen);
    pass(&world.clock, 16 * SECOND);
    away = true;
    gen = process_of(file, "reserve_nodes=1");
    answers = 1; /* for the settling, and the fence is not even sent */
    away = false;
    refill_of(gen, key, FIRN_ESTORE);
    const firn__right after = right_of(gen, key);
    assert_int_equal(after.ceiling, before.ceiling);
    assert_true(after.end > before.end);
    away = false;
    refill_of(gen, key, FIRN_OK);
    assert_int_equal(right_of(gen, key).ceiling, right_of(gen, key).end);
    closed(gen);
}

/* The process was stopped for so long that another one took the refill over. */
static firn_gen *faster;

static void keep_open(void *self) {
    (void)self;
}

static uint64_t left_pending;

static void refill_first(void) {
    pass(&world.clock, 16 * SECOND);
    refill_of(faster, watched_key, FIRN_OK);
    pass(&world.clock, 10 * MINUTE);
    refill_unheard(faster, watched_key); /* not struck out by the second process */
    left_pending = pending_of(faster, watched_key).grant;
}

static void who_comes_second_finds_the_refill_done(void **state) {
    (void)state;
    static firn_store_ops ops; /* a separate handle, since a call holds the other one's lock */
    ops = shared_ops;
    ops.close = keep_open;
    firn_store *usual = world.store, *another;
    assert_int_equal(firn_store_wrap(&another, &ops, &world.log, NULL), FIRN_OK);
    firn_gen *gen = process_of(file, "reserve_nodes=1");
    world.store = another;
    faster = process_of(file, "reserve_nodes=1");
    world.store = usual;
    takes(gen);
    strcpy(watched_key, key_of(gen));
    const int64_t ceiling = right_of(gen, watched_key).ceiling;
    pass(&world.clock, 20 * MINUTE);
    at_reserve = refill_first;
    refill_of(gen, watched_key, FIRN_OK);
    const firn__right right = right_of(gen, watched_key);
    assert_int_equal(right.state, FIRN__RIGHT_OPEN);
    assert_true(right.ceiling > ceiling);
    assert_int_equal(right.ceiling, right.end);
    assert_true(left_pending != 0);
    assert_int_equal(pending_of(gen, watched_key).grant, left_pending);
    closed(gen);
    closed(faster);
    firn_store_close(another);
}

/* While the fence cannot be sent, the slots that it protects are not granted. */
static void the_slots_behind_the_fence_wait_for_it(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_gen *gen = issuing(key);
    firn__right right = right_of(gen, key);
    const int64_t ceiling = slot_now(gen) + firn__slots_of(gen, 60000);
    right.ceiling = ceiling; /* as settled, and not fenced yet */
    write_right_of(gen, key, &right);
    away = true;
    assert_in_range(run_for(gen, HOUR, SECOND), 48, 61);
    assert_true(right_of(gen, key).mark.high <= ceiling);
    away = false;
    pass(&world.clock, 11 * SECOND);
    takes(gen);
    right = right_of(gen, key);
    assert_int_equal(right.ceiling, right.end);
    closed(gen);
}

/* A copy of the process took over the pending refill: the first sending meets its own grant. */
static void a_refill_that_met_its_own_grant_is_left_to_the_fence(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_gen *gen = issuing(key);
    pass(&world.clock, 10 * MINUTE);
    const int64_t ceiling = right_of(gen, key).ceiling;
    world.log.fate = FATE_TWIN;
    world.log.fated = 1;
    refill_of(gen, key, FIRN_EWINDOW);
    assert_int_equal(right_of(gen, key).ceiling, ceiling);
    assert_int_not_equal(pending_of(gen, key).grant, 0);
    pass(&world.clock, 16 * SECOND);
    const int before = world.log.reserves;
    refill_of(gen, key, FIRN_OK);
    assert_int_equal(world.log.reserves - before, 2);
    assert_true(right_of(gen, key).ceiling > ceiling);
    closed(gen);
}

/* Somebody else had the node after the reserve was over, up to the middle of this tick. */
static void a_refill_that_is_no_continuation_raises_the_mark(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_gen *gen = issuing(key);
    pass(&world.clock, 3 * HOUR);
    firn_mark held;
    int64_t first, now = slot_now(gen);
    const firn_request other = {.ns = "r",
                                .layout = gen->kept.stored,
                                .key = key,
                                .count = 3,
                                .earliest = now,
                                .latest = now,
                                .grant = 99,
                                .note = "another"};
    assert_int_equal(firn_store_reserve(world.log.real, &other, &first, &held, NULL), FIRN_OK);
    refill_of(gen, key, FIRN_OK);
    const firn__right right = right_of(gen, key);
    assert_int_equal(right.mark.high, now + 3);
    assert_int_equal(right.first, now + 3);
    closed(gen);
}

/* ---- the store lost reservations ------------------------------------------------------------- */

static void a_mark_below_the_ceiling_is_a_loss_for_everybody(void **state) {
    (void)state;
    firn_store *lossy;
    firn_store_options options = {.unsafe = true};
    assert_int_equal(firn_store_open(&lossy, url, &options, NULL), FIRN_OK);
    firn_store *usual = world.store;
    world.store = lossy;
    char key[FIRN_KEY_SIZE];
    firn_gen *gen = issuing(key);
    const firn__right right = right_of(gen, key);
    const firn_mark mine = {right.end, right.grant};
    firn_store *operator;
    assert_int_equal(firn_store_open(&operator, url, &options, NULL), FIRN_OK);
    assert_int_equal(firn_store_give_back(operator, "r", key, &mine, right.first + 8, NULL),
                     FIRN_OK);
    kill_process(gen); /* after a restart only the file remembers */
    firn_store_close(lossy);
    assert_int_equal(firn_store_open(&lossy, url, &options, NULL), FIRN_OK);
    world.store = lossy;
    pass(&world.clock, 10 * MINUTE);
    gen = process_of(file, "reserve_nodes=1");
    takes(gen);
    assert_string_equal(key_of(gen), key);
    refill_of(gen, key, FIRN_EBUSY);
    assert_non_null(strstr(world.notice, "has lost reservations"));
    assert_int_equal(right_of(gen, key).state, FIRN__RIGHT_OPEN); /* the machine keeps its slots */
    takes(gen);
    firn_gen *other = NULL;
    firn_error error = {0};
    assert_int_equal(try_open(&other, LAYOUT, "ns=r reach=1h unsafe=1 max_wait=0", false, &error),
                     FIRN_EBUSY);
    assert_non_null(strstr(error.text, "no ID of r is issued before"));
    refill_of(gen, key, FIRN_EBUSY); /* the floor: still its own */
    assert_int_equal(right_of(gen, key).state, FIRN__RIGHT_OPEN);
    takes(gen);
    closed(gen);
    firn_store_close(operator);
    firn_store_close(lossy);
    world.store = usual;
}

/* An older copy of the store has older marks of this machine, except of a node that it granted to
 * somebody before it knew of the loss. */
static void lose_reservations(char state_of_own) {
    char key[2][FIRN_KEY_SIZE];
    firn_store *usual = world.store, *store;
    firn_store_options options = {.unsafe = true};
    firn_mark held;
    firn_records seen;
    int64_t first;
    assert_int_equal(firn_store_open(&store, url, &options, NULL), FIRN_OK);
    world.store = store;
    firn_gen *gen = process(), *other = process();
    takes(gen);
    takes(other);
    strcpy(key[0], key_of(gen));
    strcpy(key[1], key_of(other));
    firn_request theirs = {.ns = "r",
                           .key = key[1],
                           .count = 80000,
                           .grant = 99,
                           .note = "reserve: another, file 0123456789abcdef"};
    firn_store *operator;
    assert_int_equal(firn_store_open(&operator, url, &options, NULL), FIRN_OK);
    for (int i = 0; i < 2; i++) {
        const firn__right right = right_of(gen, key[i]);
        const firn_mark mine = {right.end, right.grant};
        assert_int_equal(right.state, FIRN__RIGHT_OPEN);
        theirs.earliest = theirs.latest = right.first + 80000;
        assert_int_equal(firn_store_give_back(operator, "r", key[i], &mine, theirs.earliest, NULL),
                         FIRN_OK);
    }
    theirs.layout = gen->kept.stored;
    assert_int_equal(firn_store_reserve(operator, & theirs, &first, &held, NULL), FIRN_OK);
    kill_process(gen); /* after a restart only the file remembers */
    kill_process(other);
    firn_store_close(store);
    assert_int_equal(firn_store_open(&store, url, &options, NULL), FIRN_OK);
    world.store = store;
    pass(&world.clock, 12 * SECOND);
    gen = process();
    refill_of(gen, key[0], FIRN_EBUSY);
    assert_non_null(strstr(world.notice, "has lost reservations"));
    assert_int_equal(right_of(gen, key[0]).state, state_of_own);
    assert_int_equal(right_of(gen, key[1]).state, FIRN__RIGHT_CLOSED);
    assert_int_equal(firn__store_known(store, "r", key[0], &seen, NULL), FIRN_OK);
    const int64_t losses = seen.losses;
    kill_process(gen);
    pass(&world.clock, 12 * SECOND);
    if (state_of_own == FIRN__RIGHT_OPEN) {
        gen = process();
        assert_int_equal(run_for(gen, 5 * MINUTE, SECOND), 300);
        assert_int_equal(right_of(gen, key[0]).state, FIRN__RIGHT_OPEN);
        kill_process(gen);
    }
    assert_int_equal(firn__store_known(store, "r", key[0], &seen, NULL), FIRN_OK);
    assert_int_equal(seen.losses, losses); /* another one would move the guard */
    nothing_twice();
    firn_store_close(operator);
    firn_store_close(store);
    world.store = usual;
}

static void after_a_loss_the_reserve_keeps_what_is_its_own(void **state) {
    (void)state;
    lose_reservations(FIRN__RIGHT_OPEN);
}

static void without_an_inode_nothing_is_its_own(void **state) {
    (void)state;
    no_inode = true;
    lose_reservations(FIRN__RIGHT_CLOSED);
}

/* The files of two containers may have the same inode and no birth. */
static void without_a_machine_id_nothing_is_its_own(void **state) {
    (void)state;
    no_machine_id = true;
    lose_reservations(FIRN__RIGHT_CLOSED);
}

/* Another process declares the loss, after the older store granted a node of this machine to
 * somebody else's reserve. */
static void after_a_loss_that_others_declare_no_node_is_held_twice(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_store *usual = world.store, *store, *operator;
    const firn_store_options options = {.unsafe = true};
    firn_mark held;
    int64_t first;
    assert_int_equal(firn_store_open(&store, url, &options, NULL), FIRN_OK);
    assert_int_equal(firn_store_open(&operator, url, &options, NULL), FIRN_OK);
    world.store = store;
    firn_gen *gen = process_of(file, "reserve_nodes=1");
    takes(gen);
    strcpy(key, key_of(gen));
    const firn__right right = right_of(gen, key);
    const firn_mark mine = {right.end, right.grant};
    const firn_request theirs = {.ns = "r",
                                 .layout = gen->kept.stored,
                                 .key = key,
                                 .count = 80000,
                                 .earliest = right.first + 80000,
                                 .latest = right.first + 80000,
                                 .grant = 99,
                                 .note = "reserve: another, file 0123456789abcdef"};
    assert_int_equal(firn_store_give_back(operator, "r", key, &mine, right.first + 8, NULL),
                     FIRN_OK);
    assert_int_equal(firn_store_reserve(operator, & theirs, &first, &held, NULL), FIRN_OK);
    assert_int_equal(firn__machine_declare(operator, NULL), FIRN_OK);
    (void)run_for(gen, 3 * MINUTE, SECOND);
    assert_int_equal(right_of(gen, key).state, FIRN__RIGHT_CLOSED);
    nothing_twice();
    kill_process(gen);
    firn_store_close(operator);
    firn_store_close(store);
    world.store = usual;
}

/* ---- which store ----------------------------------------------------------------------------- */

static firn_store *store_at(const char *url_of) {
    firn_store *store;
    firn_store_options options = {.unsafe = true};
    assert_int_equal(firn_store_open(&store, url_of, &options, NULL), FIRN_OK);
    return store;
}

/* Made again under the same URL: it does not know what the reserve holds. */
static void the_reserve_of_another_store_is_closed(void **state) {
    (void)state;
    char command[700], key[FIRN_KEY_SIZE];
    firn_store *usual = world.store, *first = store_at(url);
    world.store = first;
    firn_gen *gen = process_of(file, "reserve_nodes=1");
    takes(gen);
    pass(&world.clock, 90 * SECOND);
    takes(gen);
    strcpy(key, key_of(gen));
    assert_int_equal(right_of(gen, key).state, FIRN__RIGHT_OPEN);
    kill_process(gen);
    firn_store_close(first);
    snprintf(command, sizeof command, "rm -f '%s'*", url + strlen("sqlite:"));
    assert_int_equal(system(command), 0);
    firn_store *second = store_at(url);
    world.store = second;
    firn_gen *plain = NULL; /* makes the namespace */
    assert_int_equal(try_open(&plain, LAYOUT, "ns=r reach=1h unsafe=1 max_wait=0", false, NULL),
                     FIRN_OK);
    pass(&world.clock, 11 * SECOND);
    gen = process_of(file, "reserve_nodes=1");
    assert_non_null(strstr(world.notice, "so it is another store"));
    takes(gen);
    assert_true(strcmp(key_of(gen), key) != 0 || right_of(gen, key).first >= slot_now(gen) - 4000);
    closed(plain);
    closed(gen);
    firn_store_close(second);
    world.store = usual;
}

/* Another store, where another machine has the node. */
static firn_gen *held_elsewhere(const char *key, const char *reserve) {
    char keys[900];
    firn_mark held;
    snprintf(keys, sizeof keys,
             "ns=r reach=1h unsafe=1 max_wait=0 reserve=%s reserve_nodes=1 reserve_path=%s/%s.db",
             reserve, folder, reserve);
    firn_gen *gen = opened(LAYOUT, keys);
    const int64_t now = slot_now(gen);
    const firn_request claim = {.earliest = now, .latest = now};
    takes(gen);
    (void)firn__machine_refill(gen->machine, key, &claim, &held,
                               NULL); /* the right may have this node already */
    assert_int_equal(right_of(gen, key).state, FIRN__RIGHT_OPEN);
    return gen;
}

/* As a process leaves it that ended while its refill was under way. */
static void leave_refill(firn_gen *gen, const char *key, uint64_t grant) {
    char name[FIRN_KEY_SIZE], note[FIRN_NOTE_SIZE];
    firn_records seen;
    const firn__right right = right_of(gen, key);
    const firn__pending pending = {
        .grant = grant, .earliest = right.end, .latest = right.end, .count = 9, .instance = 1};
    assert_int_equal(firn__machine_begin(gen->machine, &seen, firn__pending_key(name, key), NULL),
                     FIRN_OK);
    const int code = firn__machine_write(gen->machine, &seen, (firn_mark){right.end, grant},
                                         firn__pending_write(note, &pending), NULL);
    assert_int_equal(firn__machine_end(gen->machine, code), FIRN_OK);
}

/* Without an origin in the store's records, only the marks show whose store it is. Of the next
 * refill, a minute later, they would show the same. */
static void at_open_the_store_must_know_the_right(void **state) {
    static const struct {
        const char *reserve; /* of the machine that has the node; NULL: nobody has it */
        bool pending, over;
    } cases[] = {{NULL, false, false}, {NULL, true, false},     {"1h", false, false},
                 {"1h", true, false},  {"10min", false, false}, {"10min", true, false},
                 {"1h", false, true}};
    (void)state;
    firn_store *usual = world.store;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[600], key[FIRN_KEY_SIZE];
        snprintf(path, sizeof path, "%s/own%zu.db", folder, i);
        firn_store *first = world.store = store_at("memory:here");
        firn_gen *gen = process_of(path, "reserve_nodes=1"), *theirs = NULL;
        takes(gen);
        strcpy(key, key_of(gen));
        const firn__right before = right_of(gen, key);
        if (cases[i].pending) {
            leave_refill(gen, key, 77);
        }
        kill_process(gen);
        pass(&world.clock, cases[i].over ? 3 * HOUR : 12 * SECOND);
        firn_store *second = world.store = store_at("memory:here");
        if (cases[i].reserve != NULL) {
            theirs = held_elsewhere(key, cases[i].reserve);
        }
        gen = process_of(path, "reserve_nodes=1");
        const firn__right after = right_of(gen, key);
        assert_true(after.state == FIRN__RIGHT_CLOSED || after.grant != before.grant);
        assert_int_equal(after.epoch, before.epoch + 1);
        if (cases[i].reserve == NULL) { /* and the store hears of it */
            assert_non_null(strstr(world.notice, "has lost reservations"));
        }
        kill_process(gen);
        if (theirs != NULL) {
            kill_process(theirs);
        }
        firn_store_close(first);
        firn_store_close(second);
        snprintf(path, sizeof path, "rm -f '%s'/1h.db* '%s'/10min.db*", folder, folder);
        assert_int_equal(system(path), 0);
    }
    world.store = usual;
}

/* The reply was lost with the process: the mark is not the right's, but its pending refill's. */
static void a_pending_refill_at_open_is_no_other_holder(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_mark held;
    int64_t first;
    firn_store *usual = world.store, *store = store_at("memory:here");
    world.store = store;
    firn_gen *gen = issuing(key);
    const firn__right right = right_of(gen, key);
    const firn_request refill = {.ns = "r",
                                 .layout = gen->kept.stored,
                                 .key = key,
                                 .count = 9,
                                 .earliest = right.end,
                                 .latest = right.end,
                                 .grant = 77,
                                 .note = "",
                                 .own = {right.end, right.grant}};
    leave_refill(gen, key, 77);
    assert_int_equal(firn_store_reserve(store, &refill, &first, &held, NULL), FIRN_OK);
    kill_process(gen);
    pass(&world.clock, 20 * SECOND);
    gen = process_of(file, "reserve_nodes=1");
    assert_int_equal(right_of(gen, key).state, FIRN__RIGHT_OPEN);
    takes(gen);
    assert_string_equal(key_of(gen), key);
    kill_process(gen);
    firn_store_close(store);
    world.store = usual;
}

/* ---- claims that were narrowed --------------------------------------------------------------- */

#define WIDE "time:41/ms@@2024-01-01 node:10 sequence:2"

static firn_gen *wide_process(void) {
    char keys[900];
    snprintf(keys, sizeof keys, KEYS " reserve_path=%s", file);
    return opened(WIDE, keys);
}

/* "firn nodes claim". */
static void narrow(const firn_gen *gen, const char *claims) {
    char layout[FIRN_LAYOUT_SIZE + 40];
    firn_store *operator= store_at(url);
    int64_t floor;
    snprintf(layout, sizeof layout, "claim=%s %s", claims, gen->kept.stored);
    const firn_relabel change = {"r", gen->kept.stored, layout, 0, false};
    assert_int_equal(firn_store_relabel(operator, & change, &floor, NULL), FIRN_OK);
    firn_store_close(operator);
}

static void excluded_nodes_leave_the_reserve(void **state) {
    (void)state;
    firn__machine_list list;
    firn_store *usual = world.store, *store = store_at(url);
    world.store = store;
    firn_gen *gen = wide_process();
    takes(gen);
    assert_true(node_of(gen) < 1000);
    narrow(gen, "1000..1009");
    for (int s = 0; s < 120; s++) {
        (void)take(gen, NULL);
        pass(&world.clock, SECOND);
    }
    assert_int_equal(firn__machine_nodes(gen->machine, &list, NULL), FIRN_OK);
    assert_int_equal(list.count, 2);
    for (size_t i = 0; i < list.count; i++) {
        assert_in_range(strtoull(list.node[i].key, NULL, 10), 1000, 1009);
    }
    takes(gen);
    assert_in_range(node_of(gen), 1000, 1009);
    nothing_twice();
    closed(gen);
    firn_store_close(store);
    world.store = usual;
}

/* Of claims that still have the node a refill learns, and the right stays. */
static void a_refill_learns_of_narrowed_claims(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_store *usual = world.store, *store = store_at(url);
    world.store = store;
    firn_gen *gen = wide_process();
    takes(gen);
    strcpy(key, key_of(gen));
    assert_true(node_of(gen) < 1000);
    narrow(gen, "0..999");
    pass(&world.clock, 10 * MINUTE);
    refill_of(gen, key, FIRN_OK);
    assert_int_equal(right_of(gen, key).state, FIRN__RIGHT_OPEN);
    assert_int_equal(right_of(gen, key).epoch, 0);
    kill_process(gen);
    firn_store_close(store);
    world.store = usual;
}

static const firn_holding *early; /* of the first page of the next listing */

static int list_by_pages(void *self, const char *ns, firn_visit *visit, void *context,
                         firn_error *error) {
    const firn_holding *page = early;
    early = NULL;
    const int code = page != NULL ? visit(context, page) : FIRN_OK;
    return code == FIRN_OK ? shared_list(self, ns, visit, context, error) : code;
}

/* The claims are narrowed between two pages of the listing that looks for a spare node. */
static void a_node_that_is_excluded_meanwhile_is_no_spare(void **state) {
    static firn_store_ops ops;
    char key[FIRN_KEY_SIZE] = "0", wide[FIRN_LAYOUT_SIZE], narrowed[FIRN_LAYOUT_SIZE + 40];
    const firn_holding page = {.ns = "r", .layout = wide, .key = key, .note = ""};
    firn__machine_list list;
    int64_t floor;
    (void)state;
    firn_store *usual = world.store, *memory = world.log.real;
    world.log.real = store_at(url);
    ops = shared_ops;
    ops.list = list_by_pages;
    assert_int_equal(firn_store_wrap(&world.store, &ops, &world.log, NULL), FIRN_OK);
    firn_gen *gen = process();
    takes(gen);
    snprintf(wide, sizeof wide, "%s", gen->kept.stored);
    snprintf(narrowed, sizeof narrowed, "claim=8..15 %s", wide);
    const firn_relabel change = {"r", wide, narrowed, 0, false};
    assert_int_equal(firn_store_relabel(world.log.real, &change, &floor, NULL), FIRN_OK);
    (void)run_for(gen, 2 * MINUTE, SECOND);
    while (right_of(gen, key).state != 0) {
        key[0]++;
    }
    assert_int_equal(firn__machine_nodes(gen->machine, &list, NULL), FIRN_OK);
    assert_int_equal(list.count, 2);
    for (size_t i = 0; i < 2; i++) { /* of the two nodes one remains */
        if (strtoull(list.node[i].key, NULL, 10) != node_of(gen)) {
            assert_int_equal(firn__machine_shut(gen->machine, list.node[i].key, INT64_MAX, NULL),
                             FIRN_OK);
        }
    }
    early = &page;
    for (int s = 0; s < 120 && early != NULL; s++) {
        pass(&world.clock, SECOND);
        takes(gen);
    }
    assert_null(early);
    assert_int_equal(right_of(gen, key).state, 0);
    (void)run_for(gen, MINUTE, SECOND);
    assert_int_equal(firn__machine_nodes(gen->machine, &list, NULL), FIRN_OK);
    assert_int_equal(list.count, 2);
    nothing_twice();
    closed(gen);
    firn_store_close(world.store);
    world.store = usual;
    world.log.real = memory;
}

/* Somebody else's layout, of a namespace without nodes: only the listing of all has it. */
static void another_layout_without_nodes_is_refused(void **state) {
    static const char shut[] = "closed (to try): time:40/ms@@2024-01-01 node:4 sequence:3";
    const firn_relabel closes = {"r", NULL, shut, 0, false};
    const firn_relabel opens = {"r", shut, strstr(shut, "time:"), 0, false};
    int64_t floor;
    (void)state;
    firn_store *usual = world.store;
    world.store = store_at(url);
    assert_int_equal(firn_store_relabel(world.store, &closes, &floor, NULL), FIRN_OK);
    assert_int_equal(firn_store_relabel(world.store, &opens, &floor, NULL), FIRN_OK);
    denied_process(file, "", FIRN_ENAMESPACE, "has layout");
    firn_store_close(world.store);
    world.store = usual;
}

/* The file still has the excluded node when the process starts. */
static void who_starts_takes_no_excluded_node(void **state) {
    (void)state;
    firn_store *usual = world.store, *store = store_at(url);
    world.store = store;
    firn_gen *gen = wide_process();
    takes(gen);
    narrow(gen, "1000..1009");
    kill_process(gen);
    pass(&world.clock, 11 * SECOND);
    gen = wide_process();
    takes(gen);
    assert_in_range(node_of(gen), 1000, 1009);
    closed(gen);
    firn_store_close(store);
    world.store = usual;
}

/* "firn nodes resume --all-stopped" of somebody who forgot the reserve. */
static void a_floor_below_the_ceiling_closes_the_reserve(void **state) {
    (void)state;
    const firn_relabel loss = {FIRN_ALL_NAMES, FIRN__GONE_BACK, FIRN__GONE_BACK, 0, false};
    char key[FIRN_KEY_SIZE];
    int64_t floor;
    firn_store *usual = world.store, *lossy = store_at(url);
    world.store = lossy;
    firn_gen *gen = process_of(file, "reserve_nodes=1");
    takes(gen);
    pass(&world.clock, 90 * SECOND);
    takes(gen);
    strcpy(key, key_of(gen));
    assert_int_equal(firn_store_relabel(lossy, &loss, &floor, NULL), FIRN_OK);
    firn__binding binding;
    pass(&world.clock, 61 * SECOND);
    takes(gen); /* the refill sets the floor, and the reserve stays */
    pass(&world.clock, 61 * SECOND);
    takes(gen);
    assert_int_equal(right_of(gen, key).state, FIRN__RIGHT_OPEN);
    assert_int_equal(firn__binding_read(gen->machine, &binding, NULL), FIRN_OK);
    assert_true(binding.losses > 0);
    binding.losses--; /* as if only now seen, */
    assert_int_equal(firn__binding_write(gen->machine, &binding, NULL), FIRN_OK);
    firn__right right = right_of(gen, key);
    right.ceiling = right.end = right.end + 3 * firn__slots_of(gen, HOUR / 1000000);
    write_right_of(gen, key, &right); /* with the floor below the ceiling */
    assert_int_equal(firn__machine_identify(gen->machine, true, NULL), FIRN_OK);
    assert_int_equal(right_of(gen, key).state, FIRN__RIGHT_CLOSED);
    kill_process(gen);
    firn_store_close(lossy);
    world.store = usual;
}

/* In two folders, a relative path names two stores. */
static void a_relative_path_is_settled(void **state) {
    (void)state;
    char before[4096], a[600], b[600], ns[2][FIRN_NS_SIZE];
    firn_store *usual = world.store;
    assert_non_null(getcwd(before, sizeof before));
    snprintf(a, sizeof a, "%s/a", folder);
    snprintf(b, sizeof b, "%s/b", folder);
    assert_int_equal(mkdir(a, 0700) | mkdir(b, 0700), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(chdir(i == 0 ? a : b), 0);
        world.store = store_at("sqlite:s.db");
        firn_gen *gen = process();
        takes(gen);
        snprintf(ns[i], FIRN_NS_SIZE, "%s", gen->machine->ns);
        kill_process(gen);
        firn_store_close(world.store);
    }
    assert_int_equal(chdir(before), 0);
    assert_string_not_equal(ns[0], ns[1]);
    strcat(strcpy(before, "sqlite:"), a); /* the same store by its whole path, and with a key */
    world.store = store_at(strcat(before, "/s.db?create=yes"));
    firn_gen *gen = process();
    assert_string_equal(gen->machine->ns, ns[0]);
    kill_process(gen);
    firn_store_close(world.store);
    world.store = usual;
}

/* Only of a file the keys of its URL name no other store. */
static void each_url_of_a_server_has_its_own_reserve(void **state) {
    static const char *const urls[] = {"elsewhere://here", "someplace://here",
                                       "elsewhere://here?prefix=a", "elsewhere://here?prefix=b"};
    enum { COUNT_OF_URLS = sizeof urls / sizeof *urls };
    static firn_store_ops ops[COUNT_OF_URLS];
    char ns[COUNT_OF_URLS][FIRN_NS_SIZE];
    (void)state;
    firn_store *usual = world.store;
    for (size_t i = 0; i < COUNT_OF_URLS; i++) {
        ops[i] = shared_ops;
        ops[i].scheme = urls[i];
        ops[i].close = keep_open;
        assert_int_equal(firn_store_wrap(&world.store, &ops[i], &world.log, NULL), FIRN_OK);
        firn_gen *gen = process();
        snprintf(ns[i], FIRN_NS_SIZE, "%s", gen->machine->ns);
        kill_process(gen);
        firn_store_close(world.store);
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(ns[k], ns[i]);
        }
    }
    world.store = usual;
}

static void a_store_without_a_place_has_no_reserve(void **state) {
    static firn_store_ops ops;
    (void)state;
    firn_store *usual = world.store;
    ops = shared_ops;
    ops.scheme = "elsewhere";
    ops.close = keep_open;
    assert_int_equal(firn_store_wrap(&world.store, &ops, &world.log, NULL), FIRN_OK);
    denied_process(file, "", FIRN_ESTORE, "a reserve needs a store with a place");
    firn_store_close(world.store);
    world.store = usual;
}

static void a_job_holds_no_reserve(void **state) {
    (void)state;
    firn_job *job;
    firn_error error = {0};
    const firn_job_config config = {
        .size = sizeof config, .scheme = LAYOUT, .keys = KEYS, .seed = "s"};
    assert_int_equal(firn_job_open(&job, &config, &error), FIRN_EUSAGE);
    assert_non_null(strstr(error.text, "a job holds no reserve"));
}

/* The loss cannot be declared in a store of a program, so nobody else keeps away from the slots. */
static void a_loss_that_cannot_be_declared_closes_the_right(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_gen *gen = issuing(key);
    const firn__right right = right_of(gen, key);
    const firn_mark mine = {right.end, right.grant};
    assert_int_equal(firn_store_give_back(world.log.real, "r", key, &mine, right.first + 8, NULL),
                     FIRN_OK);
    pass(&world.clock, 5 * MINUTE);
    takes(gen);
    assert_non_null(strstr(world.notice, "has lost reservations"));
    assert_int_equal(right_of(gen, key).epoch, 1); /* closed; the store may grant another right */
    assert_true(right_of(gen, key).grant != right.grant);
    closed(gen);
}

/* More than the list has room for, after many nodes were claimed. Their time is over. */
static void rights_that_are_over_stop_nobody(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_gen *gen = process_of(file, "reserve_nodes=2");
    takes(gen);
    for (int i = 0; i < FIRN__MACHINE_NODES + 9; i++) {
        const firn__right right = {
            .state = FIRN__RIGHT_OPEN, .ceiling = 5, .first = 1, .end = 5, .boot = 1};
        snprintf(key, sizeof key, "00%d", i);
        write_right_of(gen, key, &right);
    }
    assert_int_equal(run_for(gen, 5 * MINUTE, SECOND), 300);
    away = true;
    firn_gen *other = process_of(file, "reserve_nodes=2");
    closed(other);
    assert_in_range(run_for(gen, HOUR, SECOND), 58 * 60, 3600);
    closed(gen);
}

/* The first one that is listed gives way, too. */
static void a_right_that_is_over_makes_room(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn__machine_list list;
    firn_gen *gen = process();
    const int64_t end = slot_now(gen) + 1000;
    assert_int_equal(firn__machine_shut_all(gen->machine, -1, NULL), FIRN_OK);
    for (int i = 0; i <= FIRN__MACHINE_NODES; i++) {
        const int64_t over = i == 0 ? 5 : i == FIRN__MACHINE_NODES ? 9 : end;
        const firn__right right = {
            .state = FIRN__RIGHT_OPEN, .ceiling = over, .end = over, .boot = 1};
        snprintf(key, sizeof key, "%03d", i);
        write_right_of(gen, key, &right);
    }
    assert_int_equal(firn__machine_nodes(gen->machine, &list, NULL), FIRN_OK);
    assert_int_equal(list.count, FIRN__MACHINE_NODES);
    for (size_t i = 0; i < list.count; i++) {
        assert_int_not_equal(list.node[i].right.ceiling, 5);
    }
    kill_process(gen);
}

/* A machine that booted without its store believed its own clock, which is then set right. */
static void a_clock_that_is_corrected_after_a_boot_is_believed(void **state) {
    (void)state;
    firn_gen *gen = process();
    takes(gen);
    pass(&world.clock, 10 * MINUTE);
    away = true;
    reboot(gen);
    step(&world.clock, 5 * SECOND);
    denied_process(file, "", FIRN_EBUSY, "in use");
    pass(&world.clock, 12 * SECOND);
    gen = process();
    takes(gen);
    step(&world.clock, -5 * SECOND);
    int failed = 0;
    for (int s = 0; s < 60; s++) {
        pass(&world.clock, SECOND);
        failed += take(gen, NULL) != FIRN_OK;
    }
    assert_in_range(failed, 0, 12);
    nothing_twice();
    closed(gen);
}

/* In another time namespace, CLOCK_BOOTTIME is another one: the last refill seems to be later. */
static void a_refill_of_another_time_namespace_is_no_clock(void **state) {
    (void)state;
    firn__machine_list list;
    firn_error error = {0};
    firn_gen *gen = process();
    takes(gen);
    pass(&world.clock, 10 * MINUTE);
    away = true;
    reboot(gen);
    denied_process(file, "", FIRN_EBUSY, "in use");
    pass(&world.clock, 12 * SECOND);
    gen = process();
    takes(gen);
    pass(&world.clock, 5 * SECOND);
    assert_int_equal(firn__machine_nodes(gen->machine, &list, NULL), FIRN_OK);
    for (size_t i = 0; i < list.count; i++) {
        firn__right *right = &list.node[i].right;
        right->there_ms = (present(&world.clock).sec + 11) * 1000;
        right->read_ms = firn__machine_steady_ns(gen->machine) / 1000000 + 9000;
        right->boot = gen->machine->boot;
        write_right_of(gen, list.node[i].key, right);
    }
    step(&world.clock, 3 * SECOND);
    pass(&world.clock, 7 * SECOND);
    assert_int_equal(take(gen, &error), FIRN_ESTORE);
    error_text(&error, FIRN_ESTORE, "away");
    away = false;
    takes(gen);
    nothing_twice();
    closed(gen);
}

/* A call of a store that hangs takes a second, and a process may have many reserves. */
static void a_store_that_does_not_answer_is_left_alone(void **state) {
    (void)state;
    assert_false(firn__store_is_paused("redis://one"));
    firn__store_pause("redis://one", false);
    assert_true(firn__store_is_paused("redis://one"));
    assert_true(firn__store_was_away("redis://one"));
    assert_false(firn__store_is_paused("redis://another"));
    firn__store_pause("redis://another", true);
    assert_true(firn__store_is_paused("redis://one"));
    firn__store_pause("redis://one", true);
    assert_false(firn__store_is_paused("redis://one"));
}

/* Of the system's clock only: a test's clock does not say when the pause is over. */
static void a_store_without_an_answer_is_a_pause(void **state) {
    (void)state;
    static const int codes[] = {FIRN_ESTORE, FIRN_EBUSY, FIRN_EUNKNOWN, FIRN_OK};
    firn_gen *gen = process();
    const firn_clock *usual = gen->clock;
    firn__machine_heard(gen->machine, FIRN_ESTORE);
    assert_false(firn__store_is_paused(firn__store_url(gen->machine->shared)));
    gen->clock = &firn__clock_system;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        firn__machine_heard(gen->machine, codes[i]);
        assert_int_equal(firn__machine_is_paused(gen->machine), i % 2 == 0);
    }
    firn__machine_heard(gen->machine, FIRN_ESTORE);
    gen->clock = usual;
    assert_false(firn__machine_is_paused(gen->machine));
    firn__store_pause(firn__store_url(gen->machine->shared), true);
    closed(gen);
}

/* Made again after a loss, by somebody who does not want a reach of 1 h and waits less for it. */
static void a_namespace_with_another_reach_closes_the_reserve(void **state) {
    (void)state;
    firn_gen *gen = process_of(file, "reserve_nodes=1");
    takes(gen);
    const uint64_t node = node_of(gen);
    char key[FIRN_KEY_SIZE];
    strcpy(key, key_of(gen));
    firn_store *before = world.log.real;
    assert_int_equal(firn_store_open(&world.log.real, "memory:", NULL, NULL), FIRN_OK);
    closed(opened(LAYOUT, "ns=r unsafe=1 max_wait=0"));
    for (int s = 0; s < 90; s++) {
        (void)take(gen, NULL);
        pass(&world.clock, SECOND);
    }
    firn__right right = right_of(gen, key);
    assert_int_equal(right.state, FIRN__RIGHT_CLOSED);
    assert_int_equal(take(gen, NULL), FIRN_ENAMESPACE);
    (void)node;
    kill_process(gen);
    firn_store_close(before);
}

/* ---- nodes of reserves ----------------------------------------------------------------------- */

#define SPLIT "reserve_claim=8..15" /* of 16 */
#define OTHER "ns=r reach=1h unsafe=1 max_wait=0 " SPLIT

static void reserves_claim_their_nodes_and_others_the_rest(void **state) {
    (void)state;
    firn_gen *gen[8];
    firn_error error = {0};
    for (int i = 0; i < 8; i += 2) {
        char path[500];
        snprintf(path, sizeof path, "%s%d", file, i);
        gen[i] = process_of(path, SPLIT " reserve_nodes=1");
        gen[i + 1] = opened(LAYOUT, OTHER);
        takes(gen[i]);
        takes(gen[i + 1]);
        assert_in_range(node_of(gen[i]), 8, 15);
        assert_in_range(node_of(gen[i + 1]), 0, 7);
    }
    for (int i = 0; i < 3; i++) { /* three more, and the last one is history's */
        firn_gen *more = opened(LAYOUT, OTHER);
        takes(more);
        kill_process(more);
    }
    firn_gen *none = NULL;
    assert_int_equal(try_open(&none, LAYOUT, OTHER, false, &error), FIRN_EBUSY);
    assert_non_null(strstr(error.text, "no node of r from 0..7 is free"));
    firn_id id;
    const firn_time past = time_after(present(&world.clock), -DAY);
    assert_int_equal(firn_at(gen[0], &past, &id, 1, NULL), FIRN_OK);
    assert_in_range(id.low >> 2 & 15, 0, 7);
    nothing_twice();
    for (int i = 0; i < 8; i++) {
        closed(gen[i]);
    }
}

/* More processes than the reserve has nodes. */
static void a_process_beyond_the_reserve_has_another_node(void **state) {
    (void)state;
    firn_gen *gen = process_of(file, SPLIT " reserve_nodes=1"),
             *more = process_of(file, SPLIT " reserve_nodes=1");
    takes(gen);
    takes(more);
    assert_in_range(node_of(gen), 8, 15);
    assert_in_range(node_of(more), 0, 7);
    assert_int_equal(run_for(more, MINUTE, SECOND), 60);
    assert_in_range(node_of(more), 0, 7);
    kill_process(gen);
    away = true; /* then it moves to the node that is free */
    int failed = 0;
    for (int s = 0; s < 60; s++) {
        failed += take(more, NULL) != FIRN_OK;
        pass(&world.clock, SECOND);
    }
    assert_in_range(failed, 0, 1);
    assert_in_range(node_of(more), 8, 15);
    nothing_twice();
    kill_process(more);
}

static void a_process_without_the_nodes_of_reserves_is_refused(void **state) {
    static const char *const other[] = {"ns=r unsafe=1 max_wait=0",
                                        "ns=r reach=1h unsafe=1 max_wait=0",
                                        "ns=r reach=10min unsafe=1 max_wait=0",
                                        "ns=r reach=1h reserve_claim=9..15 unsafe=1 max_wait=0"};
    (void)state;
    firn_gen *gen = opened(LAYOUT, OTHER);
    takes(gen);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        refused(LAYOUT, other[i], FIRN_ENAMESPACE, "set reserve_claim=8..15 reach=1h");
    }
    closed(gen);
    gen = opened(LAYOUT, "ns=s reach=1h unsafe=1 max_wait=0");
    takes(gen);
    refused(LAYOUT, "ns=s reach=1h unsafe=1 max_wait=0 " SPLIT, FIRN_ENAMESPACE,
            "leave reserve_claim out");
    closed(gen);
}

static void nodes_of_reserves_are_one_end_of_the_nodes(void **state) {
    (void)state;
    refused(LAYOUT, "ns=a reserve_claim=8..15", FIRN_EUSAGE, "set reach=1h too");
    refused(LAYOUT, "ns=a reserve_claim=8..15 reach=10min", FIRN_EUSAGE, "set reach=1h too");
    refused(LAYOUT, "ns=a reach=1h reserve_claim=8", FIRN_EUSAGE, "not a range of nodes");
    refused(LAYOUT, "ns=a reach=1h reserve_claim=8..15x", FIRN_EUSAGE, "not a range of nodes");
    refused(LAYOUT, "ns=a reach=1h reserve_claim=8..16", FIRN_ERANGE, "one end of the nodes 0..15");
    refused(LAYOUT, "ns=a reach=1h reserve_claim=8..14", FIRN_ERANGE, "or end at 15");
    refused(LAYOUT, "ns=a reach=1h reserve_claim=0..15", FIRN_ERANGE, "leave nodes for others");
    refused("uuid7", "reserve_claim=8..15", FIRN_EUSAGE, "leave it out");
    refused(LAYOUT, OTHER " window=15s", FIRN_ERANGE, "together are above 14s");
    refused("snowflake", "ns=b reach=1h reserve=1h reserve_claim=992..1023 datacenter=1 unsafe=1",
            FIRN_EUSAGE, "leave reserve out, or give other fields");
    refused("snowflake", "ns=b reach=1h reserve_claim=992..1023 datacenter=31 unsafe=1",
            FIRN_EUSAGE, "no node outside of reserve_claim=992..1023 has the fields");
    closed(opened("snowflake", "ns=b reach=1h reserve_claim=992..1023 node=992 unsafe=1"));
    closed(opened(LAYOUT, "ns=a reach=1h reserve_claim=0..7 unsafe=1"));
    of_program = true;
    refused(LAYOUT, OTHER, FIRN_EUSAGE, "is a program's");
}

/* A process of the machine with other settings has another part of the file: nothing of this reserve
 * is granted to it, or closed by its refusal. */
static void a_refused_process_of_the_machine_leaves_the_reserve(void **state) {
    static const char *const other[] = {"", "reserve_claim=0..7", "reserve_claim=9..15"};
    (void)state;
    firn_gen *gen = process_of(file, SPLIT " reserve_nodes=1");
    takes(gen);
    char key[FIRN_KEY_SIZE];
    strcpy(key, key_of(gen));
    for (size_t i = 0; i < 2 * sizeof other / sizeof *other; i++) {
        firn_gen *wrong = NULL;
        int code = try_process(&wrong, file, other[i / 2], NULL);
        code = code == FIRN_OK ? take(wrong, NULL) : code;
        assert_int_equal(code, FIRN_ENAMESPACE);
        if (wrong != NULL) {
            kill_process(wrong);
        }
        assert_int_equal(right_of(gen, key).state, FIRN__RIGHT_OPEN);
        pass(&world.clock, (i % 2 == 0 ? 11 : 0) * SECOND); /* the window is over */
        if (i % 2 == 1) {
            takes(gen);
        }
    }
    away = true;
    takes(gen);
    assert_string_equal(key_of(gen), key);
    nothing_twice();
    kill_process(gen);
}

/* A copy of the store's file that is put back later. */
static firn_store *restarted(firn_store *store, const char *from, const char *to) {
    char command[1400];
    firn_store_close(store);
    snprintf(command, sizeof command, "cp '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
    return store_at(url);
}

static size_t rights_of(firn_gen *gen) {
    firn__machine_list list;
    size_t open = 0;
    assert_int_equal(firn__machine_nodes(gen->machine, &list, NULL), FIRN_OK);
    for (size_t i = 0; i < list.count; i++) {
        open += list.node[i].right.state == FIRN__RIGHT_OPEN;
    }
    return open;
}

/* Opens the generator, unless it is, and takes an ID. */
static bool tries(firn_gen **gen, const char *path) {
    const int code = *gen != NULL   ? FIRN_OK
                     : path != NULL ? try_process(gen, path, SPLIT " reserve_nodes=1", NULL)
                                    : try_open(gen, LAYOUT, OTHER, false, NULL);
    return code == FIRN_OK && take(*gen, NULL) == FIRN_OK;
}

/* The store loses five minutes. A machine continues from its reserve, and then with other nodes. A
 * machine whose reserve is empty, and a process that has none, wait for the short reach and get
 * other nodes. No node of reserves is granted before the long reach is over. */
static void a_loss_stops_other_nodes_for_the_short_reach_only(void **state) {
    (void)state;
    char copy[500], second[500];
    firn_store *usual = world.store, *store = store_at(url);
    snprintf(copy, sizeof copy, "%s/copy", folder);
    snprintf(second, sizeof second, "%s/second.db", folder);
    world.store = store;
    firn_gen *gen = process_of(file, SPLIT " reserve_nodes=1"), *other = opened(LAYOUT, OTHER);
    takes(gen);
    takes(other);
    kill_process(gen);
    kill_process(other);
    world.store = store = restarted(store, url + strlen("sqlite:"), copy);
    pass(&world.clock, 20 * SECOND);
    gen = process_of(file, SPLIT " reserve_nodes=1");
    other = opened(LAYOUT, OTHER);
    for (int s = 0; s < 300; s += 10) {
        takes(gen);
        takes(other);
        pass(&world.clock, 10 * SECOND);
    }
    const uint64_t node = node_of(gen);
    assert_in_range(node, 8, 15);
    kill_process(gen);
    kill_process(other);
    world.store = store = restarted(store, copy, url + strlen("sqlite:"));
    pass(&world.clock, 11 * SECOND); /* the windows are over */

    firn_gen *fresh = NULL;
    gen = other = NULL;
    int waited[3] = {0, 0, 0}, failed = 0, moved = 0, step_s = 6;
    for (int s = 0; s < 3900; s += step_s) {
        step_s = s >= 120 && s < 3480 ? 60 : 6; /* nothing new happens */
        const bool goes_on = tries(&gen, file);
        waited[0] += !goes_on && failed == 0 && s < 3000;
        failed += !goes_on && s >= 3000;
        waited[1] += !tries(&other, NULL);
        waited[2] += !tries(&fresh, second);
        if (s < 3000) {
            assert_int_equal(node_of(gen), node);
        }
        moved += s < 3612 && node_of(gen) < 8;
        if (s < 3612) {
            assert_true(fresh == NULL || (rights_of(fresh) == 0 && node_of(fresh) < 8));
            assert_true(other == NULL || node_of(other) < 8);
        }
        pass(&world.clock, step_s * SECOND);
    }
    assert_int_equal(waited[0], 0);
    assert_in_range(waited[1], 2, 4);
    assert_in_range(waited[2], 2, 4);
    assert_in_range(failed, 0, 2);
    assert_int_equal(rights_of(gen), 1); /* the guard is over */
    assert_int_equal(rights_of(fresh), 1);
    assert_in_range(moved, 1, 20);
    assert_in_range(node_of(gen), 8, 15);
    nothing_twice();
    kill_process(gen);
    kill_process(other);
    kill_process(fresh);
    firn_store_close(store);
    world.store = usual;
}

/* A node that is given may be one of them, and then waits as they do. */
static void a_given_node_of_reserves_waits_for_the_long_reach(void **state) {
    const firn_relabel loss = {FIRN_ALL_NAMES, FIRN__GONE_BACK, FIRN__GONE_BACK, 0, false};
    int64_t floor;
    (void)state;
    firn_store *usual = world.store, *store = store_at(url);
    world.store = store;
    firn_gen *gen = opened(LAYOUT, OTHER);
    takes(gen);
    kill_process(gen);
    assert_int_equal(firn_store_relabel(store, &loss, &floor, NULL), FIRN_OK);
    firn_gen *given[2] = {NULL, NULL};
    int waited[2] = {0, 0};
    for (int step = 0; step < 20; step++) {
        for (int i = 0; i < 2; i++) {
            const char *keys = i == 0 ? OTHER " node=3" : OTHER " node=9";
            waited[i] +=
                given[i] == NULL && try_open(&given[i], LAYOUT, keys, false, NULL) != FIRN_OK;
        }
        pass(&world.clock, (step == 6 ? 3560 : 5) * SECOND); /* to 3590 s, 26 s before the end */
    }
    assert_in_range(waited[0], 3, 4);
    assert_in_range(waited[1], 7 + 5, 7 + 6);
    for (int i = 0; i < 2; i++) {
        kill_process(given[i]);
    }
    firn_store_close(store);
    world.store = usual;
}

/* Nodes of reserves wait for the long guard, but another one is free as soon as its process ends. */
static void a_claim_says_that_the_other_nodes_are_in_use(void **state) {
    const firn_relabel loss = {FIRN_ALL_NAMES, FIRN__GONE_BACK, FIRN__GONE_BACK, 0, false};
    static const char keys[] = "ns=r reach=1h unsafe=1 max_wait=0 reserve_claim=2..15";
    firn_error error = {0};
    int64_t floor;
    (void)state;
    firn_store *usual = world.store, *store = store_at(url);
    world.store = store;
    firn_gen *gen = opened(LAYOUT, keys), *more = NULL;
    takes(gen); /* the other one is kept for history */
    assert_int_equal(firn_store_relabel(store, &loss, &floor, NULL), FIRN_OK);
    for (int s = 0; s < 40; s++) {
        (void)take(gen, NULL);
        pass(&world.clock, SECOND);
    }
    takes(gen);
    int code = try_process(&more, file, "reserve_claim=2..15", &error);
    code = code == FIRN_OK ? take(more, &error) : code;
    error_text(&error, FIRN_EBUSY, "no node of r from 0..1 is free");
    kill_process(gen);
    pass(&world.clock, 11 * SECOND);
    if (more == NULL) {
        more = process_of(file, "reserve_claim=2..15");
    }
    takes(more);
    assert_in_range(node_of(more), 0, 1);
    kill_process(more);
    firn_store_close(store);
    world.store = usual;
}

/* ---- give back ------------------------------------------------------------------------------- */

static int64_t shared_mark;

static int see_shared(void *context, const firn_holding *holding) {
    if (strcmp(holding->key, context) == 0) {
        shared_mark = holding->mark.high;
    }
    return 0;
}

static int64_t mark_in_store(const char *key) {
    char copy[FIRN_KEY_SIZE];
    snprintf(copy, sizeof copy, "%s", key);
    shared_mark = -1;
    assert_int_equal(firn_store_list(world.log.real, "r", see_shared, copy, NULL), FIRN_OK);
    return shared_mark;
}

/* After a quarter of an hour, all the refills go back together. */
static void a_reserve_is_given_back(void **state) {
    (void)state;
    char keys[2][FIRN_KEY_SIZE];
    firn__machine_list list;
    firn_status status = {.size = sizeof status};
    firn_gen *gen = process(), *other = process();
    for (int s = 0; s < 900; s++) {
        takes(gen);
        takes(other);
        pass(&world.clock, SECOND);
    }
    strcpy(keys[0], key_of(gen));
    strcpy(keys[1], key_of(other));
    firn_gen_status(gen, &status);
    assert_true(status.reserve_refills > 10);
    const firn__right held = right_of(gen, keys[1]);
    assert_int_equal(mark_in_store(keys[1]), held.end);
    assert_int_equal(firn_reserve_give_back(gen, NULL), FIRN_OK);
    assert_int_equal(firn__machine_nodes(gen->machine, &list, NULL), FIRN_OK);
    assert_int_equal(list.count, 0);
    for (int i = 0; i < 2; i++) { /* what a process was granted, and a window that none shows */
        const firn__right right = right_of(gen, keys[i]);
        assert_int_equal(right.state, FIRN__RIGHT_CLOSED);
        assert_in_range(mark_in_store(keys[i]), right.mark.high, slot_now(gen) + 4 * 14000);
    }
    firn_gen_status(gen, &status);
    assert_int_equal(status.reserve_ms, 0);
    const uint64_t node = node_of(other);
    takes(other); /* of its window, until the renewal */
    pass(&world.clock, 6 * SECOND);
    takes(other);
    takes(other);
    assert_int_not_equal(node_of(other), node);
    pass(&world.clock, 20 * SECOND); /* others have the nodes now, and the machine fills new ones */
    firn_gen *plain[3];
    for (int i = 0; i < 3; i++) {
        plain[i] = opened(LAYOUT, "ns=r reach=1h unsafe=1 max_wait=0");
        takes(plain[i]);
    }
    for (int s = 0; s < 120; s++) {
        for (int i = 0; i < 3; i++) {
            takes(plain[i]);
        }
        takes(gen);
        takes(other);
        pass(&world.clock, SECOND);
    }
    nothing_twice();
    for (int i = 0; i < 3; i++) {
        closed(plain[i]);
    }
    closed(gen);
    closed(other);
}

static void without_its_store_nothing_is_given_back(void **state) {
    (void)state;
    firn__machine_list list;
    firn_gen *gen = process(), *plain = opened(LAYOUT, "ns=r reach=1h unsafe=1 max_wait=0");
    firn_error error = {0};
    takes(gen);
    assert_int_equal(firn_reserve_give_back(plain, &error), FIRN_EUSAGE);
    assert_non_null(strstr(error.text, "has no reserve"));
    away = true;
    assert_int_equal(firn_reserve_give_back(gen, NULL), FIRN_ESTORE);
    assert_int_equal(firn__machine_nodes(gen->machine, &list, NULL), FIRN_OK);
    assert_int_equal(list.count, 2);
    away = false;
    closed(gen);
    closed(plain);
}

/* A refill under way may come later than the give back. */
static void a_pending_refill_is_not_given_back(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_gen *gen = issuing(key);
    pass(&world.clock, 10 * MINUTE);
    refill_unheard(gen, key);
    const int64_t mark = mark_in_store(key);
    const int before = told;
    assert_int_equal(firn_reserve_give_back(gen, NULL), FIRN_OK);
    assert_int_equal(told, before);
    assert_int_equal(mark_in_store(key), mark);
    assert_int_equal(right_of(gen, key).state, FIRN__RIGHT_CLOSED);
    kill_process(gen);
}

/* Nor a refill that was sent twice: a copy may be under way. */
static void a_refill_that_was_sent_twice_is_not_given_back(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_gen *gen = issuing(key);
    pass(&world.clock, 10 * MINUTE);
    refill_unheard(gen, key);
    refill_of(gen, key, FIRN_OK);
    const int before = told;
    assert_int_equal(firn_reserve_give_back(gen, NULL), FIRN_OK);
    assert_int_equal(told, before);
    pass(&world.clock, 20 * SECOND);
    gen->machine->tend_ns = 0;
    closed(gen);
}

/* Nor slots that still wait for their fence, nor what is over before a window may end. */
static void a_right_without_its_fence_is_not_given_back(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_gen *gen = issuing(key);
    for (int over = 0; over < 2; over++) {
        firn_mark held;
        pass(&world.clock, 2 * HOUR);
        const int64_t now = slot_now(gen);
        const firn_request claim = {.earliest = now, .latest = now + 4};
        assert_int_equal(firn__machine_refill(gen->machine, key, &claim, &held, NULL), FIRN_OK);
        firn__right right = right_of(gen, key);
        right.ceiling = over ? right.end : right.end - 4;
        write_right_of(gen, key, &right);
        pass(&world.clock, over ? HOUR - 10 * SECOND : 0);
        const int before = told;
        assert_int_equal(firn_reserve_give_back(gen, NULL), FIRN_OK);
        assert_int_equal(told, before);
        assert_int_equal(mark_in_store(key), right.end);
        assert_int_equal(right_of(gen, key).state, FIRN__RIGHT_CLOSED);
    }
    kill_process(gen);
}

/* A later refill is given back as far as its own first slot: a copy of the earlier one may still
 * arrive. */
static void a_give_back_ends_at_what_was_sent_twice(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_gen *gen = issuing(key);
    pass(&world.clock, 10 * MINUTE);
    refill_unheard(gen, key);
    refill_of(gen, key, FIRN_OK);
    pass(&world.clock, 10 * MINUTE);
    refill_of(gen, key, FIRN_OK);
    const firn__right right = right_of(gen, key);
    assert_true(!right.twice && right.first > slot_now(gen) + firn__slots_of(gen, HOUR / 2000000));
    assert_int_equal(mark_of(&world.log, "r", key), right.end);
    assert_int_equal(firn_reserve_give_back(gen, NULL), FIRN_OK);
    assert_int_equal(mark_of(&world.log, "r", key), right.first);
    kill_process(gen);
}

/* The refill was looked at while the right was open, and is written down after that was closed. */
static void a_refill_of_a_right_that_is_given_back_is_not_sent(void **state) {
    (void)state;
    firn_gen *gen = process_of(file, "reserve_nodes=1"), *other = process_of(file, "");
    takes(gen);
    char key[FIRN_KEY_SIZE];
    strcpy(key, key_of(gen));
    pass(&world.clock, 10 * MINUTE);
    refill_of(gen, key, FIRN_OK);
    const firn__right before = right_of(gen, key);
    assert_int_equal(firn_reserve_give_back(other, NULL), FIRN_OK);
    assert_true(mark_in_store(key) < before.end);
    const int reserves = world.log.reserves;
    refill_of(gen, key, FIRN_OK);
    assert_int_equal(world.log.reserves, reserves);
    assert_int_equal(pending_of(gen, key).grant, 0);
    kill_process(gen);
    kill_process(other);
}

static firn_gen *taker;

/* While the store hears of it, which may take long, a process of the machine continues. */
static void take_meanwhile(void) {
    void (*const again)(void) = at_give_back;
    at_give_back = NULL;
    for (int i = 0; i < 5; i++) {
        pass(&world.clock, 6 * SECOND);
        (void)take(taker, NULL);
    }
    at_give_back = again;
}

static void a_right_is_closed_before_the_store_hears_of_it(void **state) {
    static firn_store_ops ops;
    (void)state;
    ops = shared_ops;
    ops.close = keep_open;
    firn_store *usual = world.store, *another;
    assert_int_equal(firn_store_wrap(&another, &ops, &world.log, NULL), FIRN_OK);
    world.store = another;
    taker = process_of(file, "reserve_nodes=1");
    world.store = usual;
    takes(taker);
    firn_gen *gen = process_of(file, "reserve_nodes=1");
    assert_int_equal(right_of(gen, key_of(taker)).state, FIRN__RIGHT_OPEN);
    at_give_back = take_meanwhile;
    assert_int_equal(firn_reserve_give_back(gen, NULL), FIRN_OK);
    at_give_back = NULL;
    firn_gen *plain[16];
    size_t count = 0; /* another machine gets each node that is free */
    while (count < 16 && try_open(&plain[count], LAYOUT, "ns=r reach=1h unsafe=1 max_wait=0", false,
                                  NULL) == FIRN_OK) {
        count++;
    }
    assert_true(count > 8);
    for (int s = 0; s < 60; s++) {
        for (size_t i = 0; i < count; i++) {
            takes(plain[i]);
        }
        (void)take(taker, NULL);
        pass(&world.clock, SECOND);
    }
    nothing_twice();
    for (size_t i = 0; i < count; i++) {
        closed(plain[i]);
    }
    kill_process(gen);
    closed(taker);
    firn_store_close(another);
}

/* The handle of an idle process remembers a higher mark than the node has after another process
 * gave it back. */
static void give_back_beside_idle(const char *more) {
    firn_records seen;
    firn_store *usual = world.store, *stores[2] = {store_at(url), store_at(url)};
    world.store = stores[0];
    firn_gen *idle = process_of(file, more);
    takes(idle);
    pass(&world.clock, 65 * SECOND);
    takes(idle); /* refills */
    world.store = stores[1];
    firn_gen *other = process_of(file, more);
    takes(other);
    assert_int_equal(firn_reserve_give_back(other, NULL), FIRN_OK);
    for (int s = 0; s < 160; s++) {
        (void)take(other, NULL);
        if (s > 100) {
            (void)take(idle, NULL);
        }
        pass(&world.clock, SECOND);
    }
    assert_int_equal(firn__store_known(stores[1], "r", "0", &seen, NULL), FIRN_OK);
    assert_int_equal(seen.losses, 0);
    takes(idle);
    takes(other);
    nothing_twice();
    closed(idle);
    closed(other);
    firn_store_close(stores[0]);
    firn_store_close(stores[1]);
    world.store = usual;
}

static void a_give_back_is_no_loss_for_an_idle_process(void **state) {
    (void)state;
    give_back_beside_idle("reserve_nodes=1");
}

/* Nor is a refill of the node, which another process has claimed again for a shorter time. */
static void a_node_that_was_claimed_again_is_no_loss(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_mark held;
    firn_records seen;
    firn_store *usual = world.store, *stores[2] = {store_at(url), store_at(url)};
    world.store = stores[0];
    firn_gen *idle = process_of(file, "reserve_nodes=1");
    takes(idle);
    strcpy(key, key_of(idle));
    world.store = stores[1];
    char keys[900];
    snprintf(keys, sizeof keys,
             "ns=r reach=1h reserve=5min reserve_nodes=1 unsafe=1 max_wait=0 reserve_path=%s",
             file);
    firn_gen *other = opened(LAYOUT, keys);
    assert_int_equal(firn_reserve_give_back(other, NULL), FIRN_OK);
    pass(&world.clock, 20 * SECOND);
    const int64_t now = slot_now(other);
    const firn_request claim = {.earliest = now, .latest = now};
    assert_int_equal(firn__machine_refill(other->machine, key, &claim, &held, NULL), FIRN_OK);
    refill_of(idle, key, FIRN_OK);
    assert_int_equal(firn__store_known(stores[1], "r", key, &seen, NULL), FIRN_OK);
    assert_int_equal(seen.losses, 0);
    kill_process(idle);
    kill_process(other);
    firn_store_close(stores[0]);
    firn_store_close(stores[1]);
    world.store = usual;
}

/* A transaction of the local file that another process comes before. */
static firn_driver hasty;
static const firn_driver *patient;
static int hasty_at, hasty_seen; /* of the transactions of the refilled node */
static firn_gen *giver;

static int begin_second(void *self, const firn_records *names, firn_verb verb, firn_error *error) {
    if (strncmp(names->key, watched_key, strlen(watched_key)) == 0 && ++hasty_seen == hasty_at) {
        assert_int_equal(firn_reserve_give_back(giver, NULL), FIRN_OK);
    }
    return patient->begin(self, names, verb, error);
}

/* Another process gives the right back after the refill has read it (before transaction 2, which
 * writes the refill down; the second look is the only one that shows it), and after that (3). */
static void a_right_that_is_given_back_meanwhile_is_not_refilled(void **state) {
    (void)state;
    static firn_store_ops ops;
    ops = shared_ops;
    ops.close = keep_open;
    firn_store *usual = world.store, *another;
    assert_int_equal(firn_store_wrap(&another, &ops, &world.log, NULL), FIRN_OK);
    for (int way = 0; way < 3; way++) { /* lastly with a pending refill of another process */
        hasty_at = way == 0 ? 2 : 3;
        firn_gen *gen = process_of(file, "reserve_nodes=1");
        world.store = another;
        giver = process_of(file, "reserve_nodes=1");
        world.store = usual;
        takes(gen);
        strcpy(watched_key, key_of(gen));
        pass(&world.clock, 10 * MINUTE);
        const int64_t end = right_of(gen, watched_key).end;
        if (way == 2) {
            leave_refill(gen, watched_key, 77);
        }
        patient = gen->machine->driver;
        hasty = *patient;
        hasty.begin = begin_second;
        gen->machine->driver = &hasty;
        hasty_seen = 0;
        const int reserves = world.log.reserves;
        refill_of(gen, watched_key, FIRN_OK);
        gen->machine->driver = patient;
        assert_true(hasty_seen >= hasty_at);
        assert_int_equal(world.log.reserves, reserves);
        assert_int_equal(right_of(gen, watched_key).state, FIRN__RIGHT_CLOSED);
        assert_int_equal(pending_of(gen, watched_key).grant, way == 2 ? 77 : 0);
        assert_true(hasty_at == 2 ? mark_in_store(watched_key) < end
                                  : mark_in_store(watched_key) == end);
        pass(&world.clock, 11 * SECOND);
        takes(gen);
        pass(&world.clock, 2 * HOUR);
        kill_process(gen);
        kill_process(giver);
    }
    nothing_twice();
    firn_store_close(another);
}

/* The file was put back under its processes, and nothing shows that: it does not have the windows
 * that they hold. */
static void an_older_copy_gives_back_no_window(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_gen *gen = issuing(key);
    const firn__right right = right_of(gen, key);
    for (int s = 0; s < 30; s++) { /* no refill comes between */
        pass(&world.clock, SECOND);
        takes(gen);
    }
    firn_gen *other = process_of(file, "reserve_nodes=1");
    assert_true(right_of(gen, key).grant == right.grant);
    write_right_of(gen, key, &right);
    assert_true(right.mark.high < slot_now(other));
    const int before = told;
    assert_int_equal(firn_reserve_give_back(other, NULL), FIRN_OK);
    assert_int_equal(told, before + 1);
    firn_gen *plain[15];
    size_t count = 0;
    while (count < 15 && try_open(&plain[count], LAYOUT, "ns=r reach=1h unsafe=1 max_wait=0", false,
                                  NULL) == FIRN_OK) {
        count++;
    }
    for (int s = 0; s < 10; s++) {
        (void)take(gen, NULL);
        for (size_t i = 0; i < count; i++) {
            (void)take(plain[i], NULL);
        }
        pass(&world.clock, SECOND);
    }
    nothing_twice();
    kill_process(gen);
    kill_process(other);
    for (size_t i = 0; i < count; i++) {
        kill_process(plain[i]);
    }
}

/* ---- a store that is away when it is opened -------------------------------------------------- */

static int open_at(firn_gen **gen, const char *url_of, const char *keys, firn_error *error) {
    const firn_config config = {.size = sizeof config,
                                .scheme = LAYOUT,
                                .keys = keys,
                                .store_url = url_of,
                                .clock = &world.hands,
                                .entropy = &world.entropy,
                                .notice = hear,
                                .note = "test"};
    return firn_open_with(gen, &config, error);
}

static void a_store_that_was_away_at_open_comes_back(void **state) {
    (void)state;
    char here[500], gone[500], place[600], keys[900];
    firn_gen *gen = NULL, *other = NULL;
    snprintf(here, sizeof here, "%s/here", folder);
    snprintf(gone, sizeof gone, "%s/gone", folder);
    snprintf(place, sizeof place, "sqlite:%s/shared.db?create=yes", here);
    snprintf(keys, sizeof keys, KEYS " reserve_path=%s", file);
    firn_store_close(store_at(place));
    *strchr(place, '?') = '\0'; /* from here on it is not made again */
    assert_int_equal(open_at(&gen, place, keys, NULL), FIRN_OK);
    takes(gen);
    kill_process(gen);
    assert_int_equal(rename(here, gone), 0);
    assert_int_equal(open_at(&gen, place, keys, NULL), FIRN_OK);
    takes(gen);
    pass(&world.clock, 11 * SECOND); /* the window of the first process is over */
    assert_int_equal(open_at(&other, place, keys, NULL), FIRN_OK); /* and does not ask for it */
    takes(other);
    assert_int_equal(firn_reserve_give_back(gen, NULL), FIRN_ESTORE);
    assert_int_equal(rename(gone, here), 0);
    assert_int_equal(firn_reserve_give_back(gen, NULL), FIRN_OK);
    pass(&world.clock, 11 * SECOND);
    takes(other);
    nothing_twice();
    closed(gen);
    closed(other);
}

static int count_holding(void *context, const firn_holding *holding) {
    (void)holding;
    ++*(int *)context;
    return FIRN_OK;
}

/* Each verb opens the store, or says that it cannot. */
static void each_verb_opens_a_store_that_was_away(void **state) {
    (void)state;
    enum { RESERVE, GIVE_BACK, LIST, OTHERS, NOW, KNOWN, RELABEL, VERBS };
    for (int verb = 0; verb < VERBS; verb++) {
        char here[500], place[600];
        const firn_store_options options = {.unsafe = true, .later = true};
        const firn_request request = {
            .ns = "ns", .layout = LAYOUT, .key = "1", .count = 10, .latest = 5, .grant = 3};
        const firn_mark mine = {10, 5};
        const firn_relabel change = {"ns", NULL, "closed (moved to x): " LAYOUT, 0, false};
        firn_store *store;
        firn_time time;
        firn_records seen;
        firn_error error;
        firn_mark held;
        int64_t floor, first;
        int holdings = 0;
        snprintf(here, sizeof here, "%s/v%d", folder, verb);
        snprintf(place, sizeof place, "sqlite:%s/s.db", here);
        assert_int_equal(firn_store_open(&store, place, &options, NULL), FIRN_OK);
        firn__store_forget(store, "ns", "1"); /* a store that is away remembers nothing */
        for (int there = 0; there < 2; there++) {
            const int code =
                verb == RESERVE     ? firn_store_reserve(store, &request, &first, &held, &error)
                : verb == GIVE_BACK ? firn_store_give_back(store, "ns", "1", &mine, 5, &error)
                : verb == OTHERS    ? firn_store_others(store, count_holding, &holdings, &error)
                : verb == LIST      ? firn_store_list(store, NULL, count_holding, &holdings, &error)
                : verb == NOW       ? firn_store_now(store, &time, &error)
                : verb == KNOWN     ? firn__store_known(store, "ns", "1", &seen, &error)
                                    : firn_store_relabel(store, &change, &floor, &error);
            if (there == 0) {
                assert_int_equal(code, FIRN_ESTORE);
                strcat(place, "?create=yes");
                firn_store_close(store_at(place));
            } else { /* the store answers */
                assert_int_equal(code, verb == GIVE_BACK ? FIRN_EBUSY
                                       : verb == NOW     ? FIRN_ESYSTEM
                                                         : FIRN_OK);
            }
        }
        firn_store_close(store);
    }
    firn_store *store = NULL;
    firn_error error;
    const firn_store_options options = {.unsafe = true, .later = true};
    assert_int_equal(firn_store_open(&store, "nothing:x", &options, &error), FIRN_EUSAGE);
    assert_int_equal(firn_store_open(&store, "", &options, &error), FIRN_EUSAGE);
    assert_null(store);
}

static void a_store_of_a_program_names_no_others(void **state) {
    (void)state;
    int holdings = 0;
    assert_int_equal(firn_store_others(world.store, count_holding, &holdings, NULL), FIRN_OK);
    assert_int_equal(holdings, 0);
}

/* ---- where the file is ----------------------------------------------------------------------- */

/* A copy is not noticed then by its machine, and by its file as ever. */
static void a_machine_may_have_no_number(void **state) {
    (void)state;
    char copy[400];
    no_machine_id = true;
    firn_gen *gen = process();
    assert_non_null(strstr(world.notice, "this machine has no /etc/machine-id"));
    takes(gen);
    copy_file(copy, "copy.db");
    away = true;
    denied_process(copy, "", FIRN_ESTORE, "is a copy, and the store is away");
    empty_id = true;
    no_machine_id = false;
    denied_process(copy, "", FIRN_ESTORE, "is a copy, and the store is away");
    closed(gen);
}

/* The disk itself was moved: the file has the inode and the birth that it had. */
static void a_disk_of_another_machine_is_noticed(void **state) {
    (void)state;
    firn__binding binding;
    firn_gen *gen = process();
    takes(gen);
    assert_int_equal(firn__binding_read(gen->machine, &binding, NULL), FIRN_OK);
    binding.id ^= 2;
    assert_int_equal(firn__binding_write(gen->machine, &binding, NULL), FIRN_OK);
    away = true;
    denied_process(file, "", FIRN_ESTORE, "was made on another machine, and the store is away");
    closed(gen);
}

/* A binding that firn did not write names no machine, and a refill does not make it whole. */
static void a_damaged_binding_is_a_copy(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_records seen;
    firn_gen *gen = issuing(key);
    firn__binding binding;
    char cut[FIRN_NOTE_SIZE];
    assert_int_equal(firn__binding_read(gen->machine, &binding, NULL), FIRN_OK);
    snprintf(cut, sizeof cut, "%" PRIx64 " %" PRIx64 " %" PRIx32 " 1", binding.id, binding.file,
             binding.boot);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(firn__machine_begin(gen->machine, &seen, "machine", NULL), FIRN_OK);
        const int code =
            firn__machine_write(gen->machine, &seen, seen.mark, i == 0 ? "1 2 3 4" : cut, NULL);
        assert_int_equal(firn__machine_end(gen->machine, code), FIRN_OK);
        away = false;
        refill_of(gen, key, FIRN_OK);
        assert_int_equal(right_of(gen, key).state, FIRN__RIGHT_OPEN);
        away = true;
        denied_process(file, "", FIRN_ESTORE, "and the store is away");
    }
    closed(gen);
}

static int no_wall(void *self, firn_time *now) {
    (void)self, (void)now;
    return FIRN_ESYSTEM;
}

/* Between two refills the store's clock is enough. After a boot without the store, no clock is. */
static void without_a_clock_of_its_own_a_machine_believes_none(void **state) {
    (void)state;
    firn_time now;
    firn_gen *gen = process(), *next = NULL;
    takes(gen);
    int (*const usual)(void *, firn_time *) = world.hands.wall;
    world.hands.wall = no_wall;
    assert_int_equal(status_of(gen).reserve_ms, 0);
    assert_int_equal(firn_store_now(gen->store, &now, NULL), FIRN_OK);
    away = true;
    reboot(gen);
    assert_int_equal(try_process(&next, file, "", NULL), FIRN_ESTORE);
    world.hands.wall = usual;
}

/* The clock of the shared store is not known, and it does not answer. */
static void without_a_clock_nothing_is_granted(void **state) {
    (void)state;
    firn__machine_list list;
    int holdings = 0;
    firn_error error = {0};
    firn_gen *gen = process();
    takes(gen);
    away = true;
    pass(&world.clock, 11 * SECOND);
    gen->machine->clocked = false;
    assert_int_equal(firn_store_list(gen->store, gen->machine->ns, count_holding, &holdings, NULL),
                     FIRN_OK);
    assert_int_equal(holdings, 0);
    assert_int_equal(take(gen, &error), FIRN_ESTORE);
    away = false;
    takes(gen);
    assert_true(gen->machine->clocked);
    assert_int_equal(firn__machine_nodes(gen->machine, &list, NULL), FIRN_OK);
    assert_int_equal(firn_store_list(gen->store, gen->machine->ns, count_holding, &holdings, NULL),
                     FIRN_OK);
    assert_int_equal(holdings, list.count);
    closed(gen);
}

/* The local file has the namespace with another layout, as of a store that was made again. */
static void a_file_of_another_layout_is_left_alone(void **state) {
    (void)state;
    char keys[900];
    firn_store *usual = world.store, *first = world.store = store_at("memory:here");
    firn_gen *gen = process();
    takes(gen);
    kill_process(gen);
    firn_store *second = world.store = store_at("memory:here");
    pass(&world.clock, 12 * SECOND);
    snprintf(keys, sizeof keys, KEYS " reserve_path=%s", file);
    gen = opened("time:41/ms@@2024-01-01 node:5 sequence:2", keys);
    takes(gen);
    assert_int_equal(right_of(gen, key_of(gen)).state, 0); /* a window of the shared store */
    kill_process(gen);
    firn_store_close(first);
    firn_store_close(second);
    world.store = usual;
}

static void a_file_that_cannot_be_looked_at_is_a_copy(void **state) {
    (void)state;
    firn_gen *gen = process();
    takes(gen);
    closed(gen);
    pass(&world.clock, 11 * SECOND);
    away = no_inode = true;
    denied_process(file, "", FIRN_ESTORE, "is a copy, and the store is away");
}

/* Both copies of a process may settle what was pending, so neither sends it as its own. */
static void a_renewed_identity_is_another_sender(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_gen *gen = issuing(key);
    pass(&world.clock, 70 * SECOND);
    refill_unheard(gen, key);
    const firn__pending pending = pending_of(gen, key);
    assert_true(pending.grant != 0);
    firn_renew_identity();
    refill_of(gen, key, FIRN_EWINDOW); /* another sender's refill is under way */
    assert_true(pending_of(gen, key).grant == pending.grant);
    pass(&world.clock, 16 * SECOND);
    refill_of(gen, key, FIRN_OK);
    assert_true(pending_of(gen, key).grant != pending.grant);
    takes(gen);
    nothing_twice();
    kill_process(gen);
}

static void a_reserve_has_a_place(void **state) {
    (void)state;
    char long_path[5000], path[600];
    firn_error error;
    firn_gen *gen = NULL;
    int holdings = 0;
    setenv("XDG_STATE_HOME", folder, 1);
    assert_int_equal(firn_reserve_list(NULL, count_holding, &holdings, &error), FIRN_OK);
    assert_int_equal(holdings, 0); /* there is no file yet */
    assert_int_equal(try_open(&gen, LAYOUT, KEYS, false, &error), FIRN_OK);
    takes(gen);
    snprintf(path, sizeof path, "%s/firn/reserve.db", folder);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(firn_reserve_list(NULL, count_holding, &holdings, &error), FIRN_OK);
    assert_true(holdings > 0);
    const int open = holdings;
    assert_int_equal(firn__machine_shut(gen->machine, key_of(gen), INT64_MAX, NULL), FIRN_OK);
    holdings = 0;
    assert_int_equal(firn_reserve_list(path, count_holding, &holdings, &error), FIRN_OK);
    assert_int_equal(holdings, open - 1);
    kill_process(gen);
    holdings = 0;
    static const char *const names[] = {"r", "a-namespace-that-ends-otherwise"};
    for (size_t i = 0; i < 2; i++) { /* a store's file, without a reserve */
        char keys[200];
        firn_store *usual = world.store, *plain = world.store = store_at(url);
        snprintf(keys, sizeof keys, "ns=%s unsafe=1 max_wait=0", names[i]);
        gen = opened(LAYOUT, keys);
        takes(gen);
        kill_process(gen);
        firn_store_close(plain);
        world.store = usual;
    }
    assert_int_equal(firn_reserve_list(url + strlen("sqlite:"), count_holding, &holdings, &error),
                     FIRN_OK);
    assert_int_equal(holdings, 0);
    assert_int_equal(firn_reserve_list(folder, count_holding, NULL, &error), FIRN_ESTORE);
    memset(long_path, 'x', sizeof long_path - 1);
    long_path[0] = '/';
    long_path[sizeof long_path - 1] = '\0';
    assert_int_equal(firn_reserve_list(long_path, count_holding, NULL, &error), FIRN_ERANGE);
    error_text(&error, FIRN_ERANGE, "is too long: set a shorter one");
    assert_int_equal(firn_reserve_list("/nonexistent", count_holding, NULL, &error), FIRN_ESTORE);
    error_text(&error, FIRN_ESTORE, "set reserve_path");
    snprintf(path, sizeof path, "%s/no.db", folder);
    FILE *other = fopen(path, "w");
    assert_non_null(other);
    fprintf(other, "%01000d\n", 0);
    fclose(other);
    assert_int_equal(firn_reserve_list(path, count_holding, NULL, &error), FIRN_ESTORE);
    denied_process(path, "", FIRN_ESTORE, "no.db");
    setenv("XDG_STATE_HOME", long_path, 1);
    assert_int_equal(try_open(&gen, LAYOUT, KEYS, false, &error), FIRN_ERANGE);
    unsetenv("XDG_STATE_HOME");
}

static void shared_memory_holds_no_reserve(void **state) {
    (void)state;
    char keys[900];
    firn_error error;
    firn_gen *gen = NULL;
    void *memory = aligned_alloc(4096, (firn_shared_size() + 4095) / 4096 * 4096);
    assert_non_null(memory);
    memset(memory, 0, firn_shared_size());
    snprintf(keys, sizeof keys, KEYS " reserve_path=%s", file);
    const firn_config config = {.size = sizeof config,
                                .scheme = LAYOUT,
                                .keys = keys,
                                .store = world.store,
                                .shared = memory,
                                .shared_size = firn_shared_size()};
    assert_int_equal(firn_open_with(&gen, &config, &error), FIRN_EUSAGE);
    error_text(&error, FIRN_EUSAGE, "a generator in shared memory holds no reserve");
    free(memory);
}

/* ---- calls that fail ------------------------------------------------------------------------- */

#define PLACES  2000
#define CALLERS 7

/* A place is a call to the file or to the shared store, and its callers. In each life the first
 * place that did not fail before fails. */
static uint64_t places[PLACES];
static size_t places_count;
static bool may_fail, has_failed;
static int fails_in;    /* of random lives: how many calls until one fails; 0: none */
static bool fails_late; /* the call is carried out, and says that its outcome is unknown */

__attribute__((noinline)) static bool fails(void) {
    void *callers[CALLERS];
    uint64_t place = fails_late;
    if (fails_in > 0) {
        return --fails_in == 0;
    }
    if (!may_fail || has_failed) {
        return false;
    }
    const int count = backtrace(callers, CALLERS);
    for (int i = 1; i < count; i++) {
        place = place * UINT64_C(1099511628211) + (uintptr_t)callers[i];
    }
    for (size_t i = 0; i < places_count; i++) {
        if (places[i] == place) {
            return false;
        }
    }
    assert_true(places_count < PLACES);
    places[places_count++] = place;
    has_failed = places_count % (size_t)short_step(8) == 0;
    return has_failed;
}

static int not_done(firn_error *error) {
    if (error != NULL) {
        *error = (firn_error){.code = FIRN_ESTORE, .text = "injected: start it"};
    }
    return FIRN_ESTORE;
}

/* A call that changes nothing, */
#define FAILS_EARLY(error)                                                                         \
    if (!fails_late && fails()) {                                                                  \
        return not_done(error);                                                                    \
    }
/* and one after which nobody knows. */
static int fate(int code, firn_error *error) {
    if (!fails_late || code != FIRN_OK || !fails()) {
        return code;
    }
    (void)not_done(error);
    if (error != NULL) {
        error->code = FIRN_EUNKNOWN;
    }
    return FIRN_EUNKNOWN;
}

static firn_driver whole_driver, frail_driver; /* of the local file */

static int frail_begin(void *self, const firn_records *names, firn_verb verb, firn_error *error) {
    FAILS_EARLY(error)
    if (disk_is_full) {
        return firn_error_set(error, FIRN_ESTORE, FIRN_CURE_CHECK_STORE, "the disk is full");
    }
    return whole_driver.begin(self, names, verb, error);
}

static int frail_read(void *self, firn_records *seen, bool surely, firn_error *error) {
    FAILS_EARLY(error)
    return whole_driver.read(self, seen, surely, error);
}

static int frail_write(void *self, const firn_records *seen, firn_records *next, int which,
                       firn_verb verb, firn_error *error) {
    FAILS_EARLY(error)
    return whole_driver.write(self, seen, next, which, verb, error);
}

static int frail_end(void *self, int code) {
    if (code == FIRN_OK && !fails_late && fails()) {
        (void)whole_driver.end(self, FIRN_ESTORE);
        return FIRN_ESTORE;
    }
    return fate(whole_driver.end(self, code), NULL);
}

static int frail_list(void *self, const char *ns, firn_visit *visit, void *context,
                      firn_error *error) {
    FAILS_EARLY(error)
    return whole_driver.list(self, ns, visit, context, error);
}

static bool file_lost;

static bool frail_lost(void *self, const firn_records *seen) {
    return file_lost || (!fails_late && fails()) || whole_driver.lost(self, seen);
}

/* In place of the library's, which the linker calls __real_NAME. */
#define REPLACED(name, ...)                                                                        \
    int __real_##name(__VA_ARGS__);                                                                \
    int __wrap_##name(__VA_ARGS__);                                                                \
    int __wrap_##name(__VA_ARGS__)

REPLACED(firn__store_drive, void **library, const firn_driver **driver, void **self,
         const char *url_of, const firn_store_options *options, firn_error *error) {
    FAILS_EARLY(error)
    const int code = __real_firn__store_drive(library, driver, self, url_of, options, error);
    if (code == FIRN_OK) {
        whole_driver = frail_driver = **driver;
        frail_driver.begin = frail_begin;
        frail_driver.read = frail_read;
        frail_driver.write = frail_write;
        frail_driver.end = frail_end;
        frail_driver.list = frail_list;
        frail_driver.lost = frail_lost;
        *driver = &frail_driver;
    }
    return code;
}

static void (*at_known)(void);
static int known_seen;

/* Is it the shared store, and fails? */
static bool refuses(const firn_store *store) {
    return (may_fail || fails_in > 0) && store == world.store && (away || (!fails_late && fails()));
}

REPLACED(firn__store_known, firn_store *store, const char *ns, const char *key, firn_records *seen,
         firn_error *error) {
    if (refuses(store)) {
        return not_done(error);
    }
    if (at_known != NULL && ++known_seen == 2) { /* after the rights were listed */
        at_known();
    }
    const int code = __real_firn__store_known(store, ns, key, seen, error);
    seen->origin = no_origin ? 0 : seen->origin;
    seen->losses = forgets ? 0 : seen->losses;
    return code;
}

REPLACED(firn_store_reserve, firn_store *store, const firn_request *request, int64_t *first,
         firn_mark *held, firn_error *error) {
    if (refuses(store)) {
        return not_done(error);
    }
    const int code = __real_firn_store_reserve(store, request, first, held, error);
    return store == world.store ? fate(code, error) : code;
}

REPLACED(firn_store_give_back, firn_store *store, const char *ns, const char *key,
         const firn_mark *mine, int64_t high, firn_error *error) {
    if (refuses(store)) {
        return not_done(error);
    }
    const int code = __real_firn_store_give_back(store, ns, key, mine, high, error);
    return store == world.store ? fate(code, error) : code;
}

REPLACED(firn_store_list, firn_store *store, const char *ns, firn_visit *visit, void *context,
         firn_error *error) {
    return refuses(store) ? not_done(error)
                          : __real_firn_store_list(store, ns, visit, context, error);
}

REPLACED(firn_store_now, firn_store *store, firn_time *now, firn_error *error) {
    return refuses(store) ? not_done(error) : __real_firn_store_now(store, now, error);
}

REPLACED(firn_store_relabel, firn_store *store, const firn_relabel *change, int64_t *floor,
         firn_error *error) {
    return refuses(store) ? not_done(error)
                          : __real_firn_store_relabel(store, change, floor, error);
}

/* ---- refills that are not needed, or are not sent --------------------------------------------- */

static int grants_left; /* draws of a grant until one fails; 0: none */

REPLACED(firn__reserve_grant, const firn_entropy *entropy, uint64_t *grant, firn_error *error) {
    return grants_left > 0 && --grants_left == 0
               ? firn_error_set(error, FIRN_EENTROPY, FIRN_CURE_NONE, "no random bits: wait")
               : __real_firn__reserve_grant(entropy, grant, error);
}

static void no_refill_is_sent_without_need(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_gen *gen = issuing(key);
    refill_of(gen, key, FIRN_OK);
    const int sent = world.log.reserves;
    refill_of(gen, key, FIRN_OK);
    assert_int_equal(world.log.reserves, sent);
    firn__right right = right_of(gen, key);
    const int64_t end = right.end;
    right.ceiling = end - 1; /* the fence is missing, which is one slot */
    write_right_of(gen, key, &right);
    refill_of(gen, key, FIRN_OK);
    assert_int_equal(world.log.reserves, sent + 1);
    right = right_of(gen, key);
    assert_true(right.ceiling == end + 1 && right.end == end + 1);
    assert_int_equal(firn__machine_shut(gen->machine, key, end, NULL), FIRN_OK);
    assert_int_equal(right_of(gen, key).state, FIRN__RIGHT_OPEN); /* its ceiling is later */
    for (int i = 0; i < 2; i++) {
        assert_int_equal(firn__machine_shut(gen->machine, key, end + 1, NULL), FIRN_OK);
        assert_int_equal(right_of(gen, key).state, FIRN__RIGHT_CLOSED);
        assert_int_equal(right_of(gen, key).epoch, 1);
    }
    pass(&world.clock, 10 * MINUTE);
    refill_of(gen, key, FIRN_OK); /* only a claim opens it again */
    assert_int_equal(world.log.reserves, sent + 1);
    kill_process(gen);
}

/* A claim that finds a pending refill sends it again, but not as the one who had the node. */
static void a_closed_right_is_not_continued(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_mark held;
    firn_gen *gen = issuing(key);
    pass(&world.clock, 10 * MINUTE);
    refill_unheard(gen, key);
    const uint64_t grant = world.log.last.grant;
    assert_true(world.log.last.own.grant != 0);
    assert_int_equal(firn__machine_shut(gen->machine, key, INT64_MAX, NULL), FIRN_OK);
    const int64_t now = slot_now(gen);
    const firn_request claim = {.earliest = now, .latest = now + 3};
    (void)firn__machine_refill(gen->machine, key, &claim, &held, NULL);
    assert_int_equal(world.log.last.grant, grant);
    assert_int_equal(world.log.last.own.grant, 0);
    kill_process(gen);
}

/* No process used it, so its refusal concerns no window. */
static void a_closed_right_without_a_grant_drops_no_window(void **state) {
    (void)state;
    firn__machine_list list;
    firn_mark held = {0};
    firn_error error = {0};
    int64_t first;
    size_t spare = 0;
    firn_gen *gen = process();
    takes(gen);
    assert_int_equal(firn__machine_nodes(gen->machine, &list, NULL), FIRN_OK);
    assert_int_equal(list.count, 2);
    spare += strcmp(list.node[0].key, key_of(gen)) == 0;
    const char *key = list.node[spare].key;
    assert_int_equal(list.node[spare].right.mark.grant, 0);
    assert_int_equal(firn__machine_shut(gen->machine, key, INT64_MAX, NULL), FIRN_OK);
    const int64_t now = slot_now(gen);
    const firn_request request = {.ns = gen->ns,
                                  .layout = gen->kept.stored,
                                  .key = key,
                                  .count = 4,
                                  .earliest = now,
                                  .latest = now + 3,
                                  .grant = 77,
                                  .note = "",
                                  .guard_tick_ns = gen->scheme.tick_ns};
    assert_int_equal(firn_store_reserve(gen->store, &request, &first, &held, &error), FIRN_EBUSY);
    assert_null(strstr(error.text, "its window is dropped"));
    assert_int_equal(held.high, list.node[spare].right.end);
    kill_process(gen);
}

/* A read is a transaction that ends. */
static void who_reads_the_file_leaves_it_to_others(void **state) {
    (void)state;
    firn_records seen;
    firn_gen *gen = process(), *other = process();
    assert_int_equal(firn__machine_read(gen->machine, &seen, "1", NULL), FIRN_OK);
    assert_int_equal(firn__machine_begin(other->machine, &seen, "1", NULL), FIRN_OK);
    assert_int_equal(firn__machine_end(other->machine, FIRN_OK), FIRN_OK);
    kill_process(gen);
    kill_process(other);
}

/* The sender of a pending refill has 15 s for it, in the same boot. */
static void a_pending_refill_is_left_to_its_sender_for_a_while(void **state) {
    static const struct {
        int64_t age_ms;
        bool boots;
        int code;
    } cases[] = {{0, false, FIRN_EWINDOW},
                 {14999, false, FIRN_EWINDOW},
                 {15000, false, FIRN_OK},
                 {-1, false, FIRN_OK},
                 {0, true, FIRN_OK}};
    (void)state;
    char key[FIRN_KEY_SIZE], name[FIRN_KEY_SIZE], note[FIRN_NOTE_SIZE];
    firn_gen *gen = issuing(key);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        firn_records seen;
        pass(&world.clock, 10 * MINUTE);
        const firn__right right = right_of(gen, key);
        const firn__pending pending = {.latest = right.end,
                                       .count = 9,
                                       .instance = 1,
                                       .sent_ms = firn__machine_steady_ns(gen->machine) / 1000000 -
                                                  cases[i].age_ms,
                                       .boot = gen->machine->boot ^ cases[i].boots};
        assert_int_equal(
            firn__machine_begin(gen->machine, &seen, firn__pending_key(name, key), NULL), FIRN_OK);
        const int code = firn__machine_write(gen->machine, &seen, (firn_mark){right.end, 77 + i},
                                             firn__pending_write(note, &pending), NULL);
        assert_int_equal(firn__machine_end(gen->machine, code), FIRN_OK);
        const int before = world.log.reserves;
        refill_of(gen, key, cases[i].code);
        assert_int_equal(world.log.reserves - before, cases[i].code == FIRN_OK ? 2 : 0);
    }
    closed(gen);
}

static void without_random_bits_nothing_is_refilled(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_gen *gen = issuing(key);
    const firn__right before = right_of(gen, key);
    pass(&world.clock, 10 * MINUTE);
    for (int i = 0; i < 2; i++) { /* of the handle, and of the refill */
        atomic_store(&gen->machine->life->instance, 0);
        grants_left = i + 1;
        refill_of(gen, key, FIRN_EENTROPY);
        assert_int_equal(grants_left, 0);
        assert_int_equal(atomic_load(&gen->machine->life->instance) != 0, i);
        assert_int_equal(pending_of(gen, key).grant, 0);
        assert_int_equal(right_of(gen, key).grant, before.grant);
    }
    refill_of(gen, key, FIRN_OK);
    closed(gen);
}

static void a_store_before_the_epoch_grants_nothing(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_gen *gen = issuing(key);
    step(&world.clock, -5 * 365 * DAY);
    refill_of(gen, key, FIRN_ECLOCK);
    assert_int_equal(firn_reserve_give_back(gen, NULL), FIRN_ECLOCK);
    assert_int_not_equal(take(gen, NULL), FIRN_OK);
    assert_int_equal(right_of(gen, key).state, FIRN__RIGHT_OPEN);
    kill_process(gen);
}

static void shut_meanwhile(void) {
    assert_int_equal(firn__machine_shut(faster->machine, watched_key, INT64_MAX, NULL), FIRN_OK);
}

/* Its process ends first: the refill, although it was granted, opens nothing. */
static void a_right_that_is_closed_during_a_refill_stays_closed(void **state) {
    (void)state;
    firn_gen *gen = issuing(watched_key);
    const firn__right before = right_of(gen, watched_key);
    faster = process_of(file, "reserve_nodes=1");
    pass(&world.clock, 10 * MINUTE);
    at_reserve = shut_meanwhile;
    refill_of(gen, watched_key, FIRN_OK);
    const firn__right after = right_of(gen, watched_key);
    assert_int_equal(after.state, FIRN__RIGHT_CLOSED);
    assert_true(after.end == before.end && after.grant == before.grant && after.epoch == 1);
    assert_int_equal(pending_of(gen, watched_key).grant, 0);
    kill_process(gen);
    kill_process(faster);
}

/* ---- each call of a case fails once ------------------------------------------------------------ */

static firn_store *beside; /* another handle of the shared store */

/* The store is an older copy: its mark is one of this machine. */
static void go_back(firn_gen *gen, const char *key) {
    const firn__right right = right_of(gen, key);
    const firn_mark mine = {right.end, right.grant};
    assert_int_equal(firn_store_give_back(beside, "r", key, &mine, right.first + 8, NULL), FIRN_OK);
}

/* Somebody else has the node after it. */
static void grant_to_another(firn_gen *gen, const char *key) {
    firn_mark held;
    int64_t first;
    const firn__right right = right_of(gen, key);
    const firn_request theirs = {.ns = "r",
                                 .layout = gen->kept.stored,
                                 .key = key,
                                 .count = 80000,
                                 .earliest = right.end,
                                 .latest = right.end,
                                 .grant = 99,
                                 .note = "another",
                                 .own = {right.end, right.grant}};
    assert_int_equal(firn_store_reserve(beside, &theirs, &first, &held, NULL), FIRN_OK);
}

static void lose_and_declare(firn_gen *gen, const char *key) {
    go_back(gen, key);
    assert_int_equal(firn__machine_declare(beside, NULL), FIRN_OK);
}

static void leave_one_pending(firn_gen *gen, const char *key) {
    leave_refill(gen, key, 77);
}

static void have_a_copy(firn_gen *gen, const char *key) {
    (void)gen, (void)key;
    world.log.fate = FATE_TWIN;
    world.log.fated = 1;
}

static void boot_elsewhere(firn_gen *gen, const char *key) {
    (void)key;
    bind_elsewhere(gen);
}

static void boot_without_the_store(firn_gen *gen, const char *key) {
    (void)key;
    bind_elsewhere(gen);
    away = true;
}

static void refill_it(firn_gen *gen, const char *key) {
    firn_mark held;
    (void)firn__machine_refill(gen->machine, key, NULL, &held, NULL);
}

static void give_it_back(firn_gen *gen, const char *key) {
    (void)key;
    (void)firn_reserve_give_back(gen, NULL);
}

static void open_it(firn_gen *gen, const char *key) {
    firn_gen *other = NULL;
    (void)gen, (void)key;
    if (try_process(&other, file, "reserve_nodes=1", NULL) == FIRN_OK) {
        (void)take(other, NULL);
        kill_process(other);
    }
}

static const struct failing_case {
    enum { OF_PROGRAM, IN_MEMORY, ON_DISK } store;
    void (*prepare)(firn_gen *gen, const char *key);
    void (*act)(firn_gen *gen, const char *key);
    bool unknown; /* the store may grant again what it lost, as long as nobody has declared that */
} failing_cases[] = {
    {OF_PROGRAM, have_a_copy, refill_it},          {OF_PROGRAM, leave_one_pending, refill_it},
    {OF_PROGRAM, leave_one_pending, give_it_back}, {IN_MEMORY, go_back, refill_it, true},
    {IN_MEMORY, go_back, open_it, true},           {IN_MEMORY, grant_to_another, refill_it},
    {IN_MEMORY, grant_to_another, open_it},        {ON_DISK, lose_and_declare, refill_it},
    {OF_PROGRAM, boot_elsewhere, open_it},         {OF_PROGRAM, boot_without_the_store, open_it}};

/* The n-th call of the file or of the shared store fails; returns whether there was one. */
static bool fail_once(const struct failing_case *it, int n) {
    char key[FIRN_KEY_SIZE];
    firn_store *usual = world.store, *shared = NULL;
    if (it->store != OF_PROGRAM) {
        shared = world.store = beside = store_at(it->store == ON_DISK ? url : "memory:here");
    }
    firn_gen *gen = issuing(key);
    pass(&world.clock, 12 * SECOND);
    it->prepare(gen, key);
    fails_in = n;
    it->act(gen, key);
    const bool met = fails_in == 0;
    fails_in = 0;
    away = false;
    firn_gen *plain = NULL, *next = NULL; /* both must wait for a guard after a loss */
    if (!it->unknown) {
        (void)try_open(&plain, LAYOUT, "ns=r reach=1h unsafe=1 max_wait=0", false, NULL);
    }
    (void)try_process(&next, file, "reserve_nodes=1", NULL);
    for (int s = 0; s < 12; s++) {
        (void)take(gen, NULL);
        (void)(plain != NULL && take(plain, NULL));
        (void)(next != NULL && take(next, NULL));
        pass(&world.clock, 7 * SECOND);
    }
    nothing_twice();
    pass(&world.clock, 3 * HOUR);
    takes(gen);
    kill_process(gen);
    if (plain != NULL) {
        closed(plain);
    }
    if (next != NULL) {
        kill_process(next);
    }
    if (shared != NULL) {
        world.store = usual;
        firn_store_close(shared);
    }
    return met;
}

static void a_failure_in_any_case_repeats_nothing(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof failing_cases / sizeof *failing_cases; i++) {
        int n = 1 + (int)i % short_step(9), last = n;
        for (bool met = true; met; last = n, n += short_step(61)) {
            met = false;
            for (int late = 0; late < 2; late++) {
                void *again = NULL;
                end_world(&again);
                assert_int_equal(begin_world(&again), 0);
                fails_late = late != 0;
                met = fail_once(&failing_cases[i], n) || met;
            }
        }
        assert_in_range(last, 3, 200);
    }
}

/* Each call of the file and of the store fails once, early: nothing may count that the store does
 * not know, whether the failure is reported or not. Afterwards the same works. */
static void a_refill_that_fails_counts_for_nothing(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_gen *gen = issuing(key);
    bool met = true;
    for (int n = 2; met; n++) { /* each second time a copy sends the same */
        firn_mark held;
        assert_true(n < 120);
        world.log.fate = FATE_TWIN;
        world.log.fated = n % 2;
        pass(&world.clock, n % 18 == 16 ? 2 * HOUR : 20 * SECOND); /* the right may be over */
        const firn__right before = right_of(gen, key);
        fails_in = n / 2;
        const int code = firn__machine_refill(gen->machine, key, NULL, &held, NULL);
        met = fails_in == 0 || n % 2 == 1;
        fails_in = 0;
        const firn__right after = right_of(gen, key);
        assert_int_equal(after.state, FIRN__RIGHT_OPEN);
        assert_true(after.ceiling <= mark_in_store(key));
        assert_true(after.grant != before.grant || after.ceiling == before.ceiling);
        assert_true(met || code == FIRN_OK);
    }
    closed(gen);
}

/* Slots that the store takes back are closed in the file before. */
static void a_give_back_that_fails_leaves_nothing_in_use(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_gen *gen = issuing(key);
    bool met = true;
    for (int n = 1; met; n++) {
        firn_mark held;
        assert_true(n < 60);
        pass(&world.clock, 2 * HOUR);
        const int64_t now = slot_now(gen);
        const firn_request claim = {.earliest = now, .latest = now + 4 * 20000};
        assert_int_equal(firn__machine_refill(gen->machine, key, &claim, &held, NULL), FIRN_OK);
        assert_int_equal(right_of(gen, key).state, FIRN__RIGHT_OPEN);
        fails_in = n;
        const int code = firn_reserve_give_back(gen, NULL);
        met = fails_in == 0;
        fails_in = 0;
        const firn__right right = right_of(gen, key);
        assert_true(right.ceiling <= mark_in_store(key));
        assert_true(code != FIRN_OK || right.state == FIRN__RIGHT_CLOSED);
        assert_true(met || code == FIRN_OK);
    }
    kill_process(gen);
}

/* The store lost reservations, and somebody else has a node of the machine. If a call fails while
 * the machine looks, either the look fails or the node is closed. */
static void a_look_that_fails_keeps_no_foreign_node(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_mark held;
    int64_t first;
    firn_store *usual = world.store;
    no_origin = true;
    beside = world.store = store_at(url);
    firn_gen *gen = issuing(key);
    firn__right right = right_of(gen, key);
    const firn_request theirs = {.ns = "r",
                                 .layout = gen->kept.stored,
                                 .key = key,
                                 .count = 80000,
                                 .earliest = right.first + 8,
                                 .latest = right.first + 8,
                                 .grant = 99,
                                 .note = "another"};
    go_back(gen, key);
    assert_int_equal(firn_store_reserve(beside, &theirs, &first, &held, NULL), FIRN_OK);
    for (int way = 0; way < 2; way++) { /* an older mark, or one of another holder */
        bool met = true;
        for (int n = 1; met; n++) {
            assert_true(n < 60);
            write_right_of(gen, key, &right);
            leave_refill(gen, key, 77);
            fails_in = n;
            const int code = firn__machine_identify(gen->machine, true, NULL);
            met = fails_in == 0;
            fails_in = 0;
            const bool kept = right_of(gen, key).state == FIRN__RIGHT_OPEN;
            assert_true(code != FIRN_OK || !kept);
            assert_true(met || code == FIRN_OK);
        }
        assert_int_equal(pending_of(gen, key).grant, 0);
        right.end = right.ceiling = right.first + 80008;
    }
    assert_non_null(strstr(world.notice, "has another holder"));
    kill_process(gen);
    world.store = usual;
    firn_store_close(beside);
}

/* Likewise a refill that meets another holder. */
static void a_refill_that_fails_keeps_no_foreign_node(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_store *usual = world.store;
    beside = world.store = store_at("memory:here");
    firn_gen *gen = issuing(key);
    const firn__right right = right_of(gen, key);
    grant_to_another(gen, key);
    bool met = true;
    for (int n = 1; met; n++) {
        firn_mark held;
        assert_true(n < 60);
        pass(&world.clock, 10 * SECOND);
        write_right_of(gen, key, &right);
        fails_in = n;
        const int code = firn__machine_refill(gen->machine, key, NULL, &held, NULL);
        met = fails_in == 0;
        fails_in = 0;
        const bool kept = right_of(gen, key).state == FIRN__RIGHT_OPEN;
        assert_int_not_equal(code, FIRN_OK);
        assert_true(met || (!kept && code == FIRN_EBUSY));
    }
    kill_process(gen);
    world.store = usual;
    firn_store_close(beside);
}

/* A process starts, or says why it does not. */
static void a_start_that_fails_says_why(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_gen *gen = issuing(key);
    for (int boots = 0; boots < 2; boots++) {
        bool met = true;
        for (int n = 1; met; n++) {
            firn_gen *other = NULL;
            firn_error error = {0};
            assert_true(n < 90);
            if (boots) {
                bind_elsewhere(gen);
            }
            away = boots != 0;
            fails_in = n;
            const int code = try_process(&other, file, "reserve_nodes=1", &error);
            met = fails_in == 0;
            fails_in = 0;
            away = false;
            if (code == FIRN_OK) {
                (void)take(other, NULL);
                kill_process(other);
            } else {
                assert_true(error.text[0] != '\0');
            }
            pass(&world.clock, 20 * SECOND);
        }
    }
    (void)take(gen, NULL);
    nothing_twice();
    kill_process(gen);
}

static int64_t losses_of(firn_store *store) {
    firn_records seen;
    assert_int_equal(firn__store_known(store, "r", "1", &seen, NULL), FIRN_OK);
    return seen.losses;
}

/* Another declaration would move the guard for everybody. */
static void a_loss_that_the_store_knows_is_not_declared_again(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE], first[] = "00", last[] = "99";
    firn_store *usual = world.store;
    no_origin = true;
    beside = world.store = store_at(url);
    firn_gen *gen = issuing(key);
    const firn__right right = right_of(gen, key);
    lose_and_declare(gen, key);
    const int64_t known = losses_of(beside);
    for (int floor_set = 0; floor_set < 2; floor_set++) {
        assert_int_equal(firn__machine_identify(gen->machine, true, NULL), FIRN_OK);
        assert_int_equal(losses_of(beside), known);
        assert_int_equal(right_of(gen, key).state, FIRN__RIGHT_OPEN); /* its mark is of this file */
        refill_of(gen, key, FIRN_EBUSY);                              /* sets the floor */
    }
    /* A right that ends after the floor was granted later: the store lost that, too. */
    firn__right later = right;
    later.ceiling = later.end = right.end + 3 * firn__slots_of(gen, HOUR / 1000000);
    for (int order = 0; order < 2; order++) {
        const int64_t before = losses_of(beside);
        write_right_of(gen, order == 0 ? first : last, &later);
        write_right_of(gen, order == 0 ? last : first, &right);
        assert_int_equal(firn__machine_identify(gen->machine, true, NULL), FIRN_OK);
        assert_true(losses_of(beside) > before);
        assert_int_equal(right_of(gen, first).state,
                         FIRN__RIGHT_CLOSED); /* the store has no mark */
        assert_int_equal(right_of(gen, last).state, FIRN__RIGHT_CLOSED);
        refill_of(gen, key, FIRN_EBUSY);
    }
    kill_process(gen);
    world.store = usual;
    firn_store_close(beside);
}

static void refill_beside(void) {
    at_known = NULL;
    refill_of(faster, watched_key, FIRN_OK);
}

/* Another process refills while the marks are compared. */
static void a_right_that_was_refilled_meanwhile_has_no_other_holder(void **state) {
    (void)state;
    firn_store *usual = world.store, *stores[2] = {store_at(url), store_at(url)};
    no_origin = true;
    world.store = stores[0];
    firn_gen *gen = issuing(watched_key);
    world.store = stores[1];
    faster = process_of(file, "reserve_nodes=1");
    assert_int_equal(firn__machine_identify(gen->machine, true, NULL), FIRN_OK);
    assert_int_equal(right_of(gen, watched_key).state, FIRN__RIGHT_OPEN);
    pass(&world.clock, 10 * MINUTE);
    known_seen = 0;
    at_known = refill_beside;
    assert_int_equal(firn__machine_identify(gen->machine, true, NULL), FIRN_OK);
    assert_null(at_known);
    assert_int_equal(right_of(gen, watched_key).state, FIRN__RIGHT_OPEN);
    kill_process(gen);
    kill_process(faster);
    for (int i = 0; i < 2; i++) {
        firn_store_close(stores[i]);
    }
    world.store = usual;
}

/* An older copy of the store, from before a loss that the machine knows. */
static void a_store_that_forgot_a_loss_learns_of_it(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_store *usual = world.store;
    beside = world.store = store_at(url);
    firn_gen *gen = issuing(key);
    const firn__right right = right_of(gen, key);
    lose_and_declare(gen, key);
    firn__binding known;
    assert_int_equal(firn__machine_identify(gen->machine, false, NULL), FIRN_OK);
    assert_int_equal(firn__binding_read(gen->machine, &known, NULL), FIRN_OK);
    assert_int_equal(known.losses, 0); /* weighed when the floor is set */
    assert_int_equal(right_of(gen, key).state, FIRN__RIGHT_OPEN);
    refill_of(gen, key, FIRN_EBUSY); /* sets the floor */
    assert_int_equal(firn__machine_identify(gen->machine, false, NULL), FIRN_OK);
    assert_int_equal(firn__binding_read(gen->machine, &known, NULL), FIRN_OK);
    assert_int_equal(known.losses, losses_of(beside));
    bool met = true;
    for (int n = 1; met; n++) {
        assert_true(n < 60);
        assert_int_equal(firn__binding_write(gen->machine, &known, NULL), FIRN_OK);
        write_right_of(gen, key, &right);
        const int64_t before = losses_of(beside);
        forgets = true;
        fails_in = n;
        const int code = firn__machine_identify(gen->machine, false, NULL);
        met = fails_in == 0;
        fails_in = 0;
        forgets = false;
        const bool kept = right_of(gen, key).state == FIRN__RIGHT_OPEN;
        assert_true(code != FIRN_OK || !kept || losses_of(beside) > before);
        assert_true(met || (code == FIRN_OK && kept));
    }
    firn__binding now;
    assert_int_equal(firn__binding_read(gen->machine, &now, NULL), FIRN_OK);
    assert_int_equal(now.losses, 0);
    known.origin = 1; /* of some engines the count is only "now": the machine believes it */
    assert_int_equal(firn__binding_write(gen->machine, &known, NULL), FIRN_OK);
    const int64_t before = losses_of(beside);
    forgets = no_origin = true;
    assert_int_equal(firn__machine_identify(gen->machine, false, NULL), FIRN_OK);
    forgets = no_origin = false;
    assert_int_equal(losses_of(beside), before);
    assert_int_equal(right_of(gen, key).state, FIRN__RIGHT_OPEN);
    kill_process(gen);
    world.store = usual;
    firn_store_close(beside);
}

/* ---- random lives ---------------------------------------------------------------------------- */

/* Ticks of a second, and few nodes: two holders of one node issue the same IDs. */
#define LIFE_LAYOUT "time:32/s@@2024-01-01 node:3 sequence:3"
#define LIFE_KEYS   "ns=r reach=1h reserve=2min reserve_nodes=2 unsafe=1 max_wait=0 reserve_path=%s"
enum { MACHINES = 3, PROCESSES = 3, LIFE_STEPS = 600 };

typedef struct life {
    uint64_t seed;
    char path[MACHINES][400];
    firn_gen *gen[MACHINES + 1][PROCESSES]; /* the last ones have no reserve */
    size_t copies;
    /* Each machine has its own clock; world.clock is the store's. */
    simulated clock[MACHINES + 1];
    firn_clock hands[MACHINES + 1];
    int64_t stepped_ns[MACHINES + 1]; /* how far the clock was set, in all */
    int sets;
} life;

static uint64_t draw(life *self, uint64_t below) {
    self->seed ^= self->seed << 13;
    self->seed ^= self->seed >> 7;
    self->seed ^= self->seed << 17;
    return (self->seed >> 11) % below;
}

static void begin_one(life *self, size_t m, size_t p) {
    char keys[900] = "ns=r reach=1h unsafe=1 max_wait=0";
    if (m < MACHINES) {
        snprintf(keys, sizeof keys, LIFE_KEYS, self->path[m]);
    }
    if (try_open_by(&self->hands[m], &self->gen[m][p], LIFE_LAYOUT, keys, false, NULL) != FIRN_OK) {
        self->gen[m][p] = NULL;
    }
}

static void end_one(life *self, size_t m, size_t p, bool killed) {
    if (self->gen[m][p] != NULL && killed) {
        kill_process(self->gen[m][p]);
    } else if (self->gen[m][p] != NULL) {
        (void)firn_close(self->gen[m][p], NULL);
    }
    self->gen[m][p] = NULL;
}

/* The disk of a machine is copied to another one, whose processes have ended. The store is there when
 * that begins, so it notices. */
static void copy_disk(life *self, size_t from, size_t to) {
    char name[40], copy[400];
    for (size_t p = 0; p < PROCESSES; p++) {
        end_one(self, to, p, true);
    }
    snprintf(name, sizeof name, "copy%zu.db", self->copies++);
    strcpy(file, self->path[from]);
    copy_file(copy, name);
    strcpy(self->path[to], copy);
    begin_one(self, to, 0);
}

static void restart_machine(life *self, size_t m) {
    for (size_t p = 0; p < PROCESSES; p++) {
        if (self->gen[m][p] != NULL && p == 0) {
            fails_in = 0;
            bind_elsewhere(self->gen[m][p]);
        }
        end_one(self, m, p, true);
    }
}

/* Somebody sets a machine's clock wrong by up to an hour, or right. */
static void set_clock(life *self, size_t m) {
    const int64_t right_ns = atomic_load(&world.clock.wall_ns);
    int64_t by_ns = right_ns - atomic_load(&self->clock[m].wall_ns);
    if (by_ns == 0 || draw(self, 2) == 0) {
        by_ns = (int64_t)draw(self, draw(self, 2) == 0 ? 5000 : 3600000) * 1000000;
        by_ns = draw(self, 2) == 0 ? by_ns : -by_ns;
    }
    step(&self->clock[m], by_ns);
    self->stepped_ns[m] += by_ns < 0 ? -by_ns : by_ns;
    self->sets++;
}

static void time_passes(life *self, int64_t ns) {
    pass(&world.clock, ns);
    for (size_t m = 0; m <= MACHINES; m++) {
        pass(&self->clock[m], ns);
    }
}

/* The time of an ID is at most a window's rest older than the call, and max_lead ahead, apart from
 * what the machine's clock was set by. */
static void check_time(const life *self, size_t m, const firn_gen *gen, uint64_t id) {
    const firn_time now = present(&self->clock[m]);
    firn_time time;
    firn_scheme_time(&gen->scheme, id >> 6, &time);
    const int64_t most_ns = 2 * SECOND + self->stepped_ns[m];
    assert_in_range(firn__time_since(&time, &now) + most_ns, 0, 2 * most_ns);
}

static void live_on(life *self) {
    const size_t m = draw(self, MACHINES + 1), p = draw(self, PROCESSES);
    const uint64_t what = draw(self, 100);
    firn_gen **gen = &self->gen[m][p];
    time_passes(self, what < 2 ? 100 * SECOND : (int64_t)draw(self, 4000) * 1000000);
    if (draw(self, 12) == 0) {
        away = draw(self, 3) == 0;
        unheard = !away && draw(self, 4) == 0;
        answers = draw(self, 6) == 0 ? (int)draw(self, 4) + 1 : 0;
    }
    if (draw(self, 10) == 0) {
        fails_in = (int)draw(self, 40) + 1;
        fails_late = draw(self, 2) == 0;
    }
    if (*gen == NULL) {
        begin_one(self, m, p);
    } else if (what < 6) {
        end_one(self, m, p, what < 3);
    } else if (what < 10 && m < MACHINES) {
        (void)firn_reserve_give_back(*gen, NULL);
    } else if (what < 12 && m < MACHINES) {
        restart_machine(self, m);
    } else if (what == 12 && m < MACHINES && !away) {
        unheard = false;
        answers = fails_in = 0;
        copy_disk(self, m, (m + 1) % MACHINES);
    } else if (what == 13) {
        set_clock(self, m);
    }
    for (size_t i = 0; i < (MACHINES + 1) * PROCESSES; i++) {
        firn_gen *each = self->gen[i / PROCESSES][i % PROCESSES];
        if (each != NULL && take(each, NULL) == FIRN_OK) {
            check_time(self, i / PROCESSES, each, ids[issued - 1]);
        }
    }
}

static void random_lives_repeat_nothing(void **state) {
    (void)state;
    const char *given = getenv("SEEDS"), *short_form = getenv("TEST_SHORT");
    const uint64_t seeds = given != NULL ? strtoull(given, NULL, 10) : short_form != NULL ? 4 : 12;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        void *again = NULL;
        life self = {.seed = seed * UINT64_C(0x9e3779b97f4a7c15)};
        if (seed > 1) {
            end_world(&again);
            begin_world(&again);
        }
        for (size_t m = 0; m < MACHINES; m++) {
            snprintf(self.path[m], sizeof self.path[m], "%s/machine%zu.db", folder, m);
        }
        for (size_t m = 0; m <= MACHINES; m++) {
            self.clock[m] = world.clock;
            self.hands[m] = clock_on(&self.clock[m]);
        }
        for (int i = 0; i < LIFE_STEPS; i++) {
            live_on(&self);
        }
        print_message("# seed %" PRIu64 ": %zu IDs, %d give backs, %zu copies, %d clocks set\n",
                      seed, issued, told, self.copies, self.sets);
        nothing_twice();
        fails_in = 0;
        for (size_t m = 0; m <= MACHINES; m++) {
            for (size_t p = 0; p < PROCESSES; p++) {
                end_one(&self, m, p, true);
            }
        }
    }
}

/* ---- each call fails once --------------------------------------------------------------------- */

/* Two processes of a machine and one without a reserve: the store goes away and comes back, slots
 * are given back, the machine boots. */
static void live_with_a_failure(void) {
    enum { ALL = 3, STEPS = 14 };
    firn_gen *gen[ALL] = {NULL};
    for (int s = 0; s < STEPS; s++) {
        away = s == 3 || s == 4 || s == 11;
        for (int p = 0; p < ALL; p++) {
            if (gen[p] == NULL &&
                (p < 2 ? try_process(&gen[p], file, "reserve_nodes=1", NULL)
                       : try_open(&gen[p], LAYOUT, "ns=r reach=1h unsafe=1 max_wait=0", false,
                                  NULL)) != FIRN_OK) {
                gen[p] = NULL;
            }
            if (gen[p] != NULL) {
                (void)take(gen[p], NULL);
            }
        }
        if (s == 6 && gen[0] != NULL) {
            (void)firn_reserve_give_back(gen[0], NULL);
        }
        if (s == 8 && gen[1] != NULL) {
            (void)firn_close(gen[1], NULL);
            gen[1] = NULL;
        }
        if (s == 10 && gen[0] != NULL) {
            may_fail = false;
            bind_elsewhere(gen[0]);
            may_fail = true;
            for (int p = 0; p < 2; p++) {
                if (gen[p] != NULL) {
                    kill_process(gen[p]);
                }
                gen[p] = NULL;
            }
        }
        pass(&world.clock, s % 3 == 0 ? 70 * SECOND : 11 * SECOND);
    }
    may_fail = false;
    for (int p = 0; p < ALL; p++) {
        if (gen[p] != NULL) {
            kill_process(gen[p]);
        }
    }
}

/* Nothing is issued twice, and when the store and the file are well again, the machine issues. */
static void each_call_may_fail(void **state) {
    (void)state;
    size_t lives = 0, all = 0;
    for (int late = 0; late < 2; late++) {
        do {
            void *again = NULL;
            if (lives++ > 0) {
                end_world(&again);
                assert_int_equal(begin_world(&again), 0);
            }
            firn_store *usual = world.store, *shared = world.store = store_at("memory:here");
            fails_late = late != 0;
            has_failed = false;
            may_fail = true;
            live_with_a_failure();
            pass(&world.clock, 3 * HOUR);
            firn_gen *gen = process();
            takes(gen);
            closed(gen);
            nothing_twice();
            world.store = usual;
            firn_store_close(shared);
        } while (has_failed);
        print_message("# %zu places, %zu lives\n", places_count - all, lives);
        assert_true(places_count - all > 10);
        all = places_count;
    }
}

/* ---- records --------------------------------------------------------------------------------- */

static void a_damaged_note_is_no_right(void **state) {
    static const char *const notes[] = {
        "",
        "o0",
        "x0 5 1 5 9 0 0 1 0",
        "o0 6 1 5 9 0 0 1 0",
        "o0 5 6 5 9 0 0 1 0",
        "o0 5 1 5 9 0 0 1 0 more",
        "o0 5 1 ffffffffffffffff 9 0 0 1 0",
    };
    firn__right right;
    (void)state;
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        const firn_records seen = {.key_known = true, .note = notes[i]};
        firn__right_read(&right, &seen);
        assert_int_equal(right.state, 0);
    }
    const firn__right written = {.state = FIRN__RIGHT_OPEN,
                                 .twice = true,
                                 .ceiling = FIRN_SLOT_MAX - 1,
                                 .first = FIRN_SLOT_MAX - 2,
                                 .end = FIRN_SLOT_MAX,
                                 .grant = UINT64_MAX,
                                 .there_ms = INT64_C(9999999999999),
                                 .read_ms = INT64_C(9999999999999),
                                 .boot = UINT32_MAX,
                                 .epoch = UINT32_MAX};
    char note[FIRN_NOTE_SIZE];
    firn__right_write(note, &written);
    assert_true(strlen(note) < FIRN_NOTE_SIZE - 1);
    const firn_records seen = {.key_known = true, .note = note};
    firn__right_read(&right, &seen);
    assert_memory_equal(&right, &written, sizeof right);
    const firn__right empty = {.state = FIRN__RIGHT_CLOSED, .ceiling = 9, .first = 9, .end = 9};
    firn__right_write(note, &empty);
    firn__right_read(&right, &seen);
    assert_memory_equal(&right, &empty, sizeof right);
}

static void a_damaged_note_is_no_refill(void **state) {
    (void)state;
    const firn_records good = {.key_known = true, .note = "5 1 7 0 0", .mark = {4, 1}};
    firn_records wrong[] = {good, good, good};
    firn__pending pending;
    firn__pending_read(&pending, &good);
    assert_true(pending.grant == 1 && pending.earliest == 4 && pending.latest == 5);
    wrong[0].key_known = false;
    wrong[1].mark.grant = 0;
    wrong[2].note = "5 1 7 0";
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        firn__pending_read(&pending, &wrong[i]);
        assert_true(pending.grant == 0 && pending.latest == 0 && pending.count == 0);
    }
}

/* The next record of the file has the loss: a later process does not see it otherwise. */
static void a_loss_of_the_file_is_counted(void **state) {
    (void)state;
    char key[FIRN_KEY_SIZE];
    firn_gen *gen = process_of(file, "reserve_nodes=1");
    firn_records seen; /* the binding of the file is the first thing in it */
    assert_int_equal(firn__machine_begin(gen->machine, &seen, "1", NULL), FIRN_OK);
    assert_true(seen.ns_known && seen.ns_losses == seen.losses);
    assert_string_equal(seen.layout, gen->layout);
    assert_int_equal(firn__machine_end(gen->machine, FIRN_OK), FIRN_OK);
    takes(gen);
    strcpy(key, key_of(gen));
    const firn__right right = right_of(gen, key);
    for (int lost = 0; lost < 2; lost++) {
        assert_int_equal(firn__machine_begin(gen->machine, &seen, key, NULL), FIRN_OK);
        const int64_t before = seen.losses;
        assert_int_equal(firn__machine_end(gen->machine, FIRN_OK), FIRN_OK);
        file_lost = lost != 0;
        write_right_of(gen, key, &right);
        file_lost = false;
        assert_int_equal(firn__machine_begin(gen->machine, &seen, key, NULL), FIRN_OK);
        assert_true(lost ? seen.losses > before : seen.losses == before);
        assert_int_equal(firn__machine_end(gen->machine, FIRN_OK), FIRN_OK);
    }
    write_right_of(gen, key, &right); /* which ends no doubt: only a window after the guard does */
    assert_int_equal(firn__machine_begin(gen->machine, &seen, key, NULL), FIRN_OK);
    assert_true(seen.ns_losses < seen.losses);
    assert_int_equal(firn__machine_end(gen->machine, FIRN_OK), FIRN_OK);
    kill_process(gen);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_machines, end_world)
int main(int count, char **words) {
    const struct CMUnitTest tests[] = {
        TEST(a_process_outlives_its_store_for_an_hour),
        TEST(no_slot_of_a_reserve_is_issued_after_its_time),
        TEST(the_reserve_is_refilled_in_time),
        TEST(a_short_reserve_is_refilled_in_time),
        TEST(a_reserve_of_a_minute_is_refilled_from_half_of_it_on),
        TEST(a_second_node_that_is_not_free_is_a_failure),
        TEST(a_slow_store_delays_no_call_for_long),
        TEST(a_process_that_starts_meanwhile_takes_the_other_node),
        TEST(more_processes_than_nodes_have_nodes_of_their_own),
        TEST(what_is_not_in_the_reserve_is_refused),
        TEST(a_reserve_needs_its_reach_and_claimed_nodes),
        TEST(windows_from_a_reserve_are_short),
        TEST(no_slot_is_later_than_the_clock_that_is_known),
        TEST(a_clock_that_creeps_ahead_is_noticed),
        TEST(after_a_boot_the_clock_must_be_within_the_reserve),
        TEST(a_copy_of_the_file_grants_nothing),
        TEST(a_copy_beside_an_empty_store_is_closed),
        TEST(a_copy_that_is_trusted_goes_on),
        TEST(on_a_full_disk_the_store_grants_other_nodes),
        TEST(an_older_copy_that_was_put_back_waits_for_them),
        TEST(a_foreign_grant_closes_the_reserve),
        TEST(a_window_of_a_closed_reserve_is_dropped),
        TEST(two_processes_refill_once),
        TEST(a_refill_whose_reply_is_lost_is_sent_again),
        TEST(a_pending_refill_of_another_process_is_fenced),
        TEST(a_settled_refill_without_its_fence_counts_for_nothing),
        TEST(who_comes_second_finds_the_refill_done),
        TEST(the_slots_behind_the_fence_wait_for_it),
        TEST(a_refill_that_met_its_own_grant_is_left_to_the_fence),
        TEST(a_refill_that_is_no_continuation_raises_the_mark),
        TEST(a_mark_below_the_ceiling_is_a_loss_for_everybody),
        TEST(after_a_loss_the_reserve_keeps_what_is_its_own),
        TEST(without_a_machine_id_nothing_is_its_own),
        TEST(without_an_inode_nothing_is_its_own),
        TEST(after_a_loss_that_others_declare_no_node_is_held_twice),
        TEST(a_boot_while_the_store_is_there_claims_other_nodes),
        TEST(a_clone_is_noticed_when_the_store_is_back),
        TEST(a_trusted_copy_is_closed_while_the_store_is_there),
        TEST(a_copy_forgets_pending_refills),
        TEST(closed_rights_do_not_hide_open_ones),
        TEST(a_window_from_the_store_is_renewed),
        TEST(surplus_nodes_run_out),
        TEST(who_meets_a_foreign_grant_drops_the_window),
        TEST(a_foreign_grant_at_the_ceiling_drops_the_window),
        TEST(a_pause_of_the_machine_is_no_wrong_clock),
        TEST(the_reserve_of_another_store_is_closed),
        TEST(a_floor_below_the_ceiling_closes_the_reserve),
        TEST(a_relative_path_is_settled),
        TEST(each_url_of_a_server_has_its_own_reserve),
        TEST(a_store_without_a_place_has_no_reserve),
        TEST(a_job_holds_no_reserve),
        TEST(a_namespace_with_another_reach_closes_the_reserve),
        TEST(a_loss_that_cannot_be_declared_closes_the_right),
        TEST(rights_that_are_over_stop_nobody),
        TEST(a_right_that_is_over_makes_room),
        TEST(a_clock_that_is_corrected_after_a_boot_is_believed),
        TEST(a_refill_of_another_time_namespace_is_no_clock),
        TEST(a_store_that_does_not_answer_is_left_alone),
        TEST(a_store_without_an_answer_is_a_pause),
        TEST(a_reserve_is_given_back),
        TEST(without_its_store_nothing_is_given_back),
        TEST(a_pending_refill_is_not_given_back),
        TEST(a_refill_that_was_sent_twice_is_not_given_back),
        TEST(a_right_without_its_fence_is_not_given_back),
        TEST(a_give_back_ends_at_what_was_sent_twice),
        TEST(a_refill_of_a_right_that_is_given_back_is_not_sent),
        TEST(a_right_is_closed_before_the_store_hears_of_it),
        TEST(at_open_the_store_must_know_the_right),
        TEST(a_pending_refill_at_open_is_no_other_holder),
        TEST(excluded_nodes_leave_the_reserve),
        TEST(who_starts_takes_no_excluded_node),
        TEST(a_refill_learns_of_narrowed_claims),
        TEST(a_node_that_is_excluded_meanwhile_is_no_spare),
        TEST(another_layout_without_nodes_is_refused),
        TEST(a_give_back_is_no_loss_for_an_idle_process),
        TEST(a_node_that_was_claimed_again_is_no_loss),
        TEST(a_right_that_is_given_back_meanwhile_is_not_refilled),
        TEST(an_older_copy_gives_back_no_window),
        TEST(a_store_that_was_away_at_open_comes_back),
        TEST(each_verb_opens_a_store_that_was_away),
        TEST(a_store_of_a_program_names_no_others),
        TEST(a_machine_may_have_no_number),
        TEST(without_a_clock_of_its_own_a_machine_believes_none),
        TEST(a_damaged_binding_is_a_copy),
        TEST(a_disk_of_another_machine_is_noticed),
        TEST(without_a_clock_nothing_is_granted),
        TEST(a_file_of_another_layout_is_left_alone),
        TEST(a_file_that_cannot_be_looked_at_is_a_copy),
        TEST(a_renewed_identity_is_another_sender),
        TEST(a_reserve_has_a_place),
        TEST(shared_memory_holds_no_reserve),
        TEST(no_refill_is_sent_without_need),
        TEST(a_closed_right_is_not_continued),
        TEST(a_closed_right_without_a_grant_drops_no_window),
        TEST(who_reads_the_file_leaves_it_to_others),
        TEST(a_pending_refill_is_left_to_its_sender_for_a_while),
        TEST(without_random_bits_nothing_is_refilled),
        TEST(a_store_before_the_epoch_grants_nothing),
        TEST(a_right_that_is_closed_during_a_refill_stays_closed),
        TEST(a_failure_in_any_case_repeats_nothing),
        TEST(a_refill_that_fails_counts_for_nothing),
        TEST(a_give_back_that_fails_leaves_nothing_in_use),
        TEST(a_look_that_fails_keeps_no_foreign_node),
        TEST(a_refill_that_fails_keeps_no_foreign_node),
        TEST(a_start_that_fails_says_why),
        TEST(a_loss_that_the_store_knows_is_not_declared_again),
        TEST(a_right_that_was_refilled_meanwhile_has_no_other_holder),
        TEST(a_store_that_forgot_a_loss_learns_of_it),
        TEST(random_lives_repeat_nothing),
        TEST(each_call_may_fail),
        TEST(a_damaged_note_is_no_right),
        TEST(a_damaged_note_is_no_refill),
        TEST(a_loss_of_the_file_is_counted),
        TEST(reserves_claim_their_nodes_and_others_the_rest),
        TEST(a_process_beyond_the_reserve_has_another_node),
        TEST(a_process_without_the_nodes_of_reserves_is_refused),
        TEST(nodes_of_reserves_are_one_end_of_the_nodes),
        TEST(a_refused_process_of_the_machine_leaves_the_reserve),
        TEST(a_loss_stops_other_nodes_for_the_short_reach_only),
        TEST(a_claim_says_that_the_other_nodes_are_in_use),
        TEST(a_given_node_of_reserves_waits_for_the_long_reach),
    };
    if (count > 1) {
        cmocka_set_test_filter(words[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
