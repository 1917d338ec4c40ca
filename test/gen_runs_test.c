/* SPDX-License-Identifier: MIT */
/* IDs of a run, by the system's clock: their random bits, also where the thread's block is filled
 * again in the middle of a call, and where a new tick starts. And how many IDs one call can
 * issue. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generating.h"

#include "error.h"
#include "issue.h"

#define YOUNG "stale=1000000us " /* no reading is too old */

int __real_firn__entropy_fill(const firn_entropy *source, void *out, size_t size,
                              firn_error *error);
int __wrap_firn__entropy_fill(const firn_entropy *source, void *out, size_t size,
                              firn_error *error);

static int fills;
static size_t last_size;
static bool fill_fails;
static firn_gen *at_fill; /* whose era changes, once */

int __wrap_firn__entropy_fill(const firn_entropy *source, void *out, size_t size,
                              firn_error *error) {
    fills++;
    last_size = size;
    if (fill_fails) {
        return firn__fail(error, FIRN_EENTROPY, "no random bytes: none in this test");
    }
    if (at_fill != NULL) {
        firn__event(at_fill);
        at_fill = NULL;
    }
    return __real_firn__entropy_fill(source, out, size, error);
}

static bool has_runs(const firn_gen *gen) {
    return gen->way ==
           FIRN__WAY_RUN; /* else the kernel trusts no cycle counter, or forks are seen otherwise */
}

/* With a rate of the cycle counter that is known: until then calls go the usual way. */
static firn_gen *opened_by_the_system(const char *scheme, const char *keys) {
    const firn_config config = {
        .size = sizeof config, .scheme = scheme, .keys = keys, .store = world.store};
    firn_error error = {0};
    firn_gen *gen = NULL;
    if (firn_open_with(&gen, &config, &error) != FIRN_OK) {
        fail_msg("%s %s: %s", scheme, keys, error.text);
    }
    uint64_t tick = 0;
    for (int k = 0;
         k < 5000000 && has_runs(gen) && atomic_load(&gen->live->watch.stale_cycles) == 0; k++) {
        assert_int_equal(firn__gen_now(gen, &tick, &error), FIRN_OK);
    }
    next(gen);
    return gen;
}

static void empty_block(void) {
    if (firn__block_here != NULL) {
        firn__block_here->left = 0;
    }
}

static const struct {
    const char *scheme;
    uint32_t bits;
} rows[] = {{"time:42/ms@@2020-01-01 sequence:20 random:8", 8},
            {"time:42/ms@@2020-01-01 sequence:20 random:48", 48},
            {"time:42/ms@@2020-01-01 sequence:14 random:72", 72},
            {"time:42/ms@@2020-01-01 sequence:12 random:74", 74}};

static void each_random_bit_of_a_run_is_drawn(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int emptied = 0; emptied < 2; emptied++) {
            firn_gen *gen = opened_by_the_system(rows[i].scheme, YOUNG "start=zero");
            const int position = role(&gen->scheme, FIRN_ROLE_RANDOM);
            firn_value set = {0, 0}, clear = {0, 0};
            for (int k = 0; k < 100; k++) {
                if (emptied == 1) {
                    empty_block();
                }
                const firn_id id = next(gen);
                const firn_value random = fields_of(gen, &id).value[position];
                set = (firn_value){set.low | random.low, set.high | random.high};
                clear = (firn_value){clear.low | ~random.low, clear.high | ~random.high};
            }
            const uint64_t low = ones(rows[i].bits);
            const uint64_t high = rows[i].bits <= 64 ? 0 : ones(rows[i].bits - 64);
            assert_true(set.low == low && set.high == high);
            assert_true((clear.low & low) == low && (clear.high & high) == high);
            closed(gen);
        }
    }
}

/* A run draws as many bytes as fit, and none while the block has bytes or no bit is random. */
static void a_run_draws_what_it_needs(void **state) {
    (void)state;
    for (size_t i = 0; i <= sizeof rows / sizeof rows[0]; i++) {
        const bool random = i < sizeof rows / sizeof rows[0];
        firn_gen *gen = opened_by_the_system(random ? rows[i].scheme
                                                    : "time:44/ms@@2020-01-01 node:30 sequence:14",
                                             random ? YOUNG "start=zero" : YOUNG "node=5");
        next(gen);
        empty_block();
        fills = 0;
        next(gen);
        if (has_runs(gen)) {
            assert_int_equal(fills, random ? 1 : 0);
            assert_true(!random || last_size == (gen->masked.size > 8 ? 16 : 8));
            fills = 0;
            next(gen);
            assert_int_equal(fills, 0);
        }
        closed(gen);
    }
}

static void a_run_without_random_bytes_issues_nothing(void **state) {
    (void)state;
    firn_gen *gen = opened_by_the_system(rows[1].scheme, YOUNG "start=zero");
    next(gen);
    empty_block();
    fill_fails = true;
    denied(gen, FIRN_EENTROPY, "no random bytes");
    fill_fails = false;
    next(gen);
    closed(gen);
}

/* As when a signal handler forked while the block was filled: the slot is the parent's. */
static void a_slot_of_another_era_is_dropped(void **state) {
    (void)state;
    firn_gen *gen = opened_by_the_system(rows[1].scheme, YOUNG "start=zero");
    const uint64_t last = next_slot(gen);
    empty_block();
    at_fill = gen;
    const uint64_t here = next_slot(gen);
    assert_null(at_fill);
    assert_true(!has_runs(gen) || here > last + 1);
    closed(gen);
}

/* The reading is of a later tick than the cursor, as after a call that failed. */
static void a_new_tick_starts_at_random(void **state) {
    size_t zeros = 0;
    (void)state;
    firn_gen *gen = opened_by_the_system("uuid7", YOUNG);
    for (int k = 0; k < 20; k++) {
        const uint64_t slot_now = next_slot(gen);
        firn__thread_view *seen = firn__thread_view_of(gen);
        seen->least = (firn__next_of(firn__window_of(gen, 0)) | gen->count_mask) + 1;
        const uint64_t begun = next_slot(gen);
        assert_true(begun > slot_now);
        zeros += (begun & gen->count_mask) == 0;
    }
    assert_true(zeros < 5);
    closed(gen);
}

/* A run of one bit, with other bits above it; it begins at either slot, since a batch takes
 * some. */
static void a_run_of_two_slots_ends_after_two(void **state) {
    (void)state;
    firn_gen *gen =
        opened_by_the_system("time:42/ms@@2020-01-01 random:48 sequence:1", YOUNG "start=zero");
    uint64_t last = next_slot(gen);
    for (int k = 0; k < 900; k++) {
        firn_id id;
        assert_int_equal(k % 3 == 0 ? firn_next_n(gen, &id, 1, NULL) : firn_next(gen, &id, NULL),
                         FIRN_OK);
        const uint64_t here = slot(gen, &id);
        assert_true(here > last);
        last = here;
    }
    closed(gen);
}

static void the_most_at_once_is_told(void **state) {
    static const struct {
        const char *scheme;
        bool endless;
    } most[] = {{"ulid", true},
                {"time:42/ms random:80", true},
                {"time:41/ms@@2020-01-01 counter:32", true},
                {"time:41/ms@@2020-01-01 counter:2", false}};
    (void)state;
    for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
        firn_error error = {0};
        firn_gen *gen;
        if (try_open(&gen, most[i].scheme, "unsigned=1", false, &error) != FIRN_OK) {
            fail_msg("%s: %s", most[i].scheme, error.text);
        }
        assert_int_equal(status_of(gen).max_count,
                         most[i].endless ? FIRN__AT_ONCE : gen->at_once << gen->count_bits);
        closed(gen);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_new, world_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(each_random_bit_of_a_run_is_drawn),
        TEST(a_run_draws_what_it_needs),
        TEST(a_run_without_random_bytes_issues_nothing),
        TEST(a_slot_of_another_era_is_dropped),
        TEST(a_new_tick_starts_at_random),
        TEST(a_run_of_two_slots_ends_after_two),
        TEST(the_most_at_once_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
