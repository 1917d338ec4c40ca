/* SPDX-License-Identifier: MIT */
/* How long a reading of the clock may be used again, by a simulated cycle counter: its rate is
 * learned, and learned again after it has changed, as it does when a machine moves to another
 * host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>

#include "clock.h"

#define STALE_US 100
#define US       INT64_C(1000)
#define SECOND   INT64_C(1000000000)

static struct {
    int64_t ns;       /* of the steady clock */
    uint64_t cycles;  /* of the counter */
    uint64_t per_us;  /* its rate */
    int64_t reads_ns; /* what each reading takes */
} machine;

static void pass(int64_t ns) {
    machine.ns += ns;
    machine.cycles += (uint64_t)ns * machine.per_us / 1000;
}

static uint64_t counter(void) {
    pass(machine.reads_ns);
    return machine.cycles;
}

static int read_steady(void *self, int64_t *ns) {
    (void)self;
    pass(machine.reads_ns);
    *ns = machine.ns;
    return FIRN_OK;
}

static const firn_clock steady = {.version = 1, .steady = read_steady};

static void begin(firn__watch *watch, uint64_t per_us) {
    *watch = (firn__watch){.anchored = false};
    machine.ns = SECOND;
    machine.cycles = 1000000000;
    machine.per_us = per_us;
    machine.reads_ns = 50;
    firn__watch_learn(watch, &steady, counter, STALE_US);
    assert_true(atomic_load(&watch->stale_cycles) == 0);
    pass(3000 * US);
    firn__watch_learn(watch, &steady, counter, STALE_US);
}

/* How long a reading lives now, in ns. */
static int64_t life(firn__watch *watch) {
    return (int64_t)(atomic_load(&watch->stale_cycles) * 1000 / machine.per_us);
}

static bool is_full(firn__watch *watch) {
    return life(watch) <= STALE_US * US && life(watch) > STALE_US * US * 8 / 10;
}

/* A thread that issues all the time: judged at least every 5 s, and whenever no life is known.
 * Returns for how long after now readings lived longer than they may. */
static int64_t issue_for(firn__watch *watch, int64_t ns) {
    int64_t from = machine.ns, wrong = 0, judged = machine.ns;
    while (machine.ns - from < ns) {
        pass(100 * US);
        if (life(watch) == 0 || machine.ns - judged >= 5 * SECOND) {
            firn__watch_learn(watch, &steady, counter, STALE_US);
            judged = machine.ns;
        }
        wrong = life(watch) > STALE_US * US ? machine.ns - from : wrong;
    }
    return wrong;
}

static void a_rate_is_learned(void **state) {
    static const uint64_t rates[] = {1, 24, 62, 1000, 2400, 3600, 100000};
    (void)state;
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        firn__watch watch;
        begin(&watch, rates[i]);
        assert_true(is_full(&watch));
        assert_int_equal(issue_for(&watch, 30 * SECOND), 0); /* and stays so */
        assert_true(is_full(&watch));
    }
}

static void a_changed_rate_is_learned_again(void **state) {
    static const uint64_t rates[] = {3000, 1000, 2400, 24, 3600, 2900, 3400, 1, 62};
    firn__watch watch;
    (void)state;
    begin(&watch, rates[0]);
    for (size_t i = 1; i < sizeof rates / sizeof rates[0]; i++) {
        assert_int_equal(issue_for(&watch, (int64_t)(7 + i) * SECOND), 0);
        machine.per_us = rates[i];
        assert_true(issue_for(&watch, 20 * SECOND) <= 6 * SECOND);
        if (rates[i] > 1) {
            assert_true(is_full(&watch));
        }
    }
}

/* A change that one check cannot see in full, because most of its interval is earlier. */
static void a_late_change_is_noticed_by_the_next_check(void **state) {
    firn__watch watch;
    (void)state;
    begin(&watch, 3000);
    assert_int_equal(issue_for(&watch, 9900 * SECOND / 1000), 0);
    machine.per_us = 2000;
    assert_true(issue_for(&watch, 20 * SECOND) <= 11 * SECOND);
    assert_true(is_full(&watch));
}

static void a_counter_that_starts_again(void **state) {
    firn__watch watch;
    (void)state;
    begin(&watch, 3000);
    machine.cycles = 17;
    pass(2 * SECOND);
    firn__watch_learn(&watch, &steady, counter, STALE_US);
    assert_int_equal(atomic_load(&watch.stale_cycles), 0); /* nothing is used again */
    assert_int_equal(issue_for(&watch, SECOND), 0);
    assert_true(is_full(&watch));
    machine.per_us = UINT64_C(1) << 50; /* no counter runs like that */
    pass(2 * SECOND);
    firn__watch_learn(&watch, &steady, counter, STALE_US);
    assert_int_equal(atomic_load(&watch.stale_cycles), 0);
}

/* A thread that is held up between two readings takes the counter for slower, never for faster. */
static void readings_that_take_long(void **state) {
    (void)state;
    for (int64_t ns = 0; ns <= 3000 * US; ns += 100 * US) {
        firn__watch watch;
        begin(&watch, 3000);
        atomic_store(&watch.stale_cycles, 0);
        machine.reads_ns = ns;
        firn__watch_learn(&watch, &steady, counter, STALE_US);
        pass(4000 * US);
        firn__watch_learn(&watch, &steady, counter, STALE_US);
        assert_true(life(&watch) <= STALE_US * US);
    }
}

/* Neither a steady clock that cannot be read or steps back, nor a counter that does not move or
 * runs too fast. */
static void what_is_no_clock_gives_no_life(void **state) {
    static const struct {
        int64_t ns;
        uint64_t cycles;
    } rows[] = {{-SECOND, 3000}, {SECOND, 0}, {3000 * US, UINT64_C(1) << 58}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        firn__watch watch;
        begin(&watch, 3000);
        machine.reads_ns = 0;
        atomic_store(&watch.stale_cycles, i == 2 ? 0 : 300);
        firn__watch_learn(&watch, &steady, counter, 1000000);
        machine.ns += rows[i].ns;
        machine.cycles += rows[i].cycles;
        firn__watch_learn(&watch, &steady, counter, 1000000);
        assert_true(atomic_load(&watch.stale_cycles) == 0);
    }
}

static void differences_of_times_are_capped(void **state) {
    static const int64_t most = INT64_C(9200000000) * SECOND;
    static const struct {
        firn_time a, b;
        int64_t ns;
    } rows[] = {{{5, 7}, {3, 9}, 2 * SECOND - 2},
                {{INT64_MAX, 0}, {INT64_MIN, 0}, INT64_C(9200000000) * SECOND},
                {{INT64_MIN, 0}, {INT64_MAX, 0}, INT64_C(-9200000000) * SECOND},
                {{9200000000, 5}, {0, 0}, INT64_C(9200000000) * SECOND + 5},
                {{9200000001, 5}, {0, 0}, INT64_C(9200000000) * SECOND},
                {{-9200000001, 5}, {0, 0}, INT64_C(-9200000000) * SECOND}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(firn__time_since(&rows[i].a, &rows[i].b), rows[i].ns);
    }
    for (int64_t k = -7; k <= 7; k++) {
        const int64_t ns = k * (most / 7 - 1);
        const firn_time from = {1760000000, 123456789}, to = firn__time_after(&from, ns);
        assert_true(to.ns >= 0 && to.ns < SECOND);
        assert_int_equal(firn__time_since(&to, &from), ns);
    }
}

static firn_time shown; /* by the wall clock */

static int read_shown(void *self, firn_time *now) {
    (void)self;
    *now = shown;
    return FIRN_OK;
}

/* After a jump of 10 s, and 2 s at the same distance; another jump, further or back, begins them
 * again. */
static void a_jump_is_believed_once_it_has_held(void **state) {
    static const int64_t jumps[][3] = {{10, 10, 10}, {10, 12, 12}, {12, 10, 10}};
    const firn_clock clock = {.version = 1, .wall = read_shown, .steady = read_steady};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        firn__watch watch = {.anchored = false};
        const firn_time begin_at = {1760000000, 0};
        uint64_t steps;
        firn_time wall;
        machine.ns = SECOND;
        machine.reads_ns = 0;
        shown = begin_at;
        assert_int_equal(firn__watch_judge(&watch, &clock, 0, &wall, &steps, NULL), FIRN_OK);
        for (int64_t k = 0; k < 5; k++) { /* a second each; the first jump is seen at once */
            const int64_t jump = jumps[i][k < 2 ? k : 2];
            machine.ns = SECOND + k * SECOND;
            shown.sec = begin_at.sec + k + jump;
            assert_int_equal(firn__watch_judge(&watch, &clock, 0, &wall, &steps, NULL), FIRN_OK);
            const bool believed = k >= (i == 0 ? 2 : 3);
            assert_int_equal(wall.sec, begin_at.sec + k + (believed ? jump : 0));
        }
        assert_int_equal(atomic_load(&watch.jumped), i == 0 ? 1 : 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        {"the rate of the cycle counter is learned", a_rate_is_learned, NULL, NULL, NULL},
        {"a rate that changed is learned again", a_changed_rate_is_learned_again, NULL, NULL, NULL},
        {"a late change is noticed by the next check", a_late_change_is_noticed_by_the_next_check,
         NULL, NULL, NULL},
        {"a counter that starts again is not believed", a_counter_that_starts_again, NULL, NULL,
         NULL},
        {"readings that take long make lives shorter", readings_that_take_long, NULL, NULL, NULL},
        {"what is no clock or counter gives no life", what_is_no_clock_gives_no_life, NULL, NULL,
         NULL},
        {"differences of times are capped", differences_of_times_are_capped, NULL, NULL, NULL},
        {"a jump is believed once it has held", a_jump_is_believed_once_it_has_held, NULL, NULL,
         NULL},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
