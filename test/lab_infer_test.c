/* SPDX-License-Identifier: MIT */
/* Estimates of the whole from a sample: the figures of `firn estimate`. The known answers are
 * exact, computed from the definitions with Python's integers, fractions and 50 decimal digits.
 * test/lab_estimate.sh measures how often the intervals contain the truth. */
#include "infer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { LENGTH = 8 };

/* By at most `part` of the expected value. */
static void near(double got, double expected, double part) {
    if (!(fabs(got - expected) <= part * fabs(expected))) {
        fail_msg("%.17g, expected %.17g, at most %g of it apart", got, expected, part);
    }
}

static void same(double got, double expected) {
    if (got != expected) {
        fail_msg("%.17g, expected %.17g", got, expected);
    }
}

/* ---- integers -------------------------------------------------------------------------------- */

/* high: the greatest N with C(greatest, count) / C(N, count) > 1/20. */
static void total_is_exact(void **state) {
    static const struct {
        uint64_t count, greatest;
        double best, high;
    } cases[] = {
        {1, 1, 1, 19},
        {2, 2, 2, 6},
        {2, 7, 9.5, 29},
        {3, 3, 3, 5},
        {5, 100, 119, 180},
        {1000, 1000, 1000, 1000},
        {1001, 1001, 1001, 1001}, /* computed another way from here on */
        {2000, 2000, 2000, 2000},
        {2000, 1000000, 1000499, 1001497},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        estimate total = infer_total(cases[i].count, cases[i].greatest);
        same(total.best, cases[i].best);
        same(total.low, (double)cases[i].greatest);
        same(total.high, cases[i].high);
    }
}

static void total_of_great_integers(void **state) {
    (void)state;
    estimate total = infer_total(15, UINT64_C(1000000000000));
    near(total.best, 1066666666665.67, 1e-12);
    near(total.high, 1221055300066.0, 1e-9);
    total = infer_total(5000, UINT64_C(100000000000));
    near(total.best, 100019999999.0, 1e-12);
    near(total.high, 100059932596.0, 1e-7);
    total = infer_total(1, UINT64_MAX);
    near(total.best, 2 * 18446744073709551615.0, 1e-12);
    same(total.low, 18446744073709551615.0);
    near(total.high, 20 * 18446744073709551615.0, 1e-9);
    total = infer_total(2, UINT64_MAX);
    near(total.best, 2.7670116110564327e19, 1e-12);
    near(total.high, 8.2496347424711897e19, 1e-9);
    total = infer_total(2000, UINT64_MAX); /* (greatest / N)^2000 = 1/20 */
    near(total.high, 18446744073709551615.0 * pow(20, 1.0 / 2000), 1e-9);
}

/* ---- counts ---------------------------------------------------------------------------------- */

static void mean_of_no_event(void **state) {
    (void)state;
    estimate mean = infer_mean(0);
    same(mean.best, 0);
    same(mean.low, 0);
    near(mean.high, 3.6888794541139363, 0.01); /* -ln 0.025 */
}

/* Exact limits of a Poisson mean; Wilson and Hilferty's formula is coarse below 5. */
static void mean_of_a_few_and_of_many(void **state) {
    static const struct {
        double count, low, high, part;
    } cases[] = {
        {2, 0.2422092785439649, 7.224687667723961, 0.15},
        {5, 1.6234863901184204, 11.668332079322669, 0.02},
        {10, 4.7953886961324335, 18.39035604201778, 0.005},
        {100, 81.36399125092314, 121.62679379242638, 0.0005},
        {1e15, 1e15 - 1.96 * 31622776.6, 1e15 + 1.96 * 31622776.6, 1e-12},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        estimate mean = infer_mean(cases[i].count);
        same(mean.best, cases[i].count);
        near(mean.low, cases[i].low, cases[i].part);
        near(mean.high, cases[i].high, cases[i].part);
    }
    estimate item = infer_mean(1);
    assert_true(item.low > 0 && item.low < 0.0254); /* exact: 0.0253 */
    near(item.high, 5.571643390938899, 0.01);
}

/* ---- sequence numbers ------------------------------------------------------------------------ */

/* Each event is preceded by j others of its tick with P(Poisson(mean) > j) / mean. */
static void density_is_exact(void **state) {
    static const struct {
        uint64_t count, sum;
        double best, low, high;
    } cases[] = {
        {1, 0, 0, 0, 40},
        {5, 0, 0, 0, 1.714879312268154},
        {1000, 0, 0, 0, 0.007382300436142781},
        {1, 1, 2, 0.05085109750176898, 80},
        {2, 3, 3, 0.5588206883297594, 19.99999149424128},
        {10, 12, 2.4, 1.157476978478572, 4.931290577408556},
        {30, 40, 80.0 / 30, 1.812148670211503, 3.9317126287955695},
        {3, 60, 40, 22.487666424326168, 116.67834803658107},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        estimate density = infer_density(cases[i].count, cases[i].sum);
        near(density.best, cases[i].best, 1e-12);
        near(density.low, cases[i].low, 1e-6);
        near(density.high, cases[i].high, 1e-6);
    }
}

/* Sums above 200 are computed in steps. */
static void density_in_steps(void **state) {
    static const struct {
        uint64_t count, sum;
        double low, high;
    } cases[] = {
        {1, 201, 199.64913940429688, 8080.0009765625},
        {1, 4000, 4001.5 / 0.975,
         160040}, /* (sum + 1) / mean is the probability of at most `sum` */
        {2, 400, 222.82528686523438, 1795.561279296875},
        {5, 300, 78.40582275390625, 243.10067749023438},
        {10, 400, 57.93366241455078, 125.66818237304688},
        {30, 201, 10.564695358276367, 17.549880981445312},
        {30, 300, 16.014053344726562, 25.877334594726562},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        estimate density = infer_density(cases[i].count, cases[i].sum);
        near(density.best, 2 * (double)cases[i].sum / (double)cases[i].count, 1e-12);
        near(density.low, cases[i].low, 0.003);
        near(density.high, cases[i].high, 0.003);
    }
}

/* Far above one event a tick, the number before an event is uniform: its sum has a triangular or
 * normal distribution. */
static void density_of_great_sums(void **state) {
    (void)state;
    const double sum = 9223372036854775808.0;
    estimate density = infer_density(1, UINT64_C(1) << 63);
    near(density.best, 2 * sum, 1e-12);
    near(density.low, sum / 0.975, 0.001); /* sum / mean is uniform in 0..1 */
    near(density.high, sum / 0.025, 0.001);
    density = infer_density(2, UINT64_MAX);
    near(density.best, 18446744073709551615.0, 1e-12);
    near(density.low, 18446744073709551615.0 / (2 - sqrt(0.05)),
         0.001); /* the sum of two: a triangle */
    near(density.high, 18446744073709551615.0 / sqrt(0.05), 0.001);
    density = infer_density(10000, UINT64_C(5000000000000)); /* mean / sqrt(12 n) on each side */
    near(density.best, 1e9, 1e-12);
    near(density.low, 1e9 * (1 - 1.96 / sqrt(30000)), 2e-4);
    near(density.high, 1e9 * (1 + 1.96 / sqrt(30000)), 2e-4);
}

/* On both sides of the limit between the exact and the normal computation. */
static void density_has_no_step_between_its_methods(void **state) {
    (void)state;
    estimate exact = infer_density(31, 200), normal = infer_density(31, 201);
    near(normal.low, exact.low, 0.04);
    near(normal.high, exact.high, 0.04);
    exact = infer_density(30, 3000);
    normal = infer_density(31, 3100);
    near(normal.low, exact.low, 0.04);
    near(normal.high, exact.high, 0.04);
}

/* ---- kinds ----------------------------------------------------------------------------------- */

/* low: the least N with P(at least `different`) > 0.025; high: the greatest with P(at most) >
 * 0.025. */
static void kinds_are_exact(void **state) {
    static const struct {
        uint64_t count, different;
        double most, best, low, high;
    } cases[] = {
        {1, 1, 1024, INFINITY, 1, 1024},
        {5, 1, 1024, 1, 1, 2},
        {10, 5, 1024, 5.940264200705647, 5, 15},
        {10, 10, 1024, INFINITY, 16, 1024},
        {20, 15, 281474976710656.0, 31.677869642364662, 18, 91},
        {100, 1, 32, 1, 1, 1},
        {60, 32, 32, 32, 32, 32},
        {60, 31, 32, 32, 32, 32},
        {1000, 300, 65536, 312.7086517778955, 306, 321},
        {1500, 1, 1024, 1, 1, 1}, /* an approximation from here on */
        {3000, 1024, 1024, 1024, 1024, 1024},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        estimate kinds = infer_kinds(cases[i].count, cases[i].different, cases[i].most);
        if (isinf(cases[i].best)) {
            assert_true(isinf(kinds.best) && kinds.best > 0);
        } else {
            near(kinds.best, cases[i].best, 1e-6);
        }
        same(kinds.low, cases[i].low);
        same(kinds.high, cases[i].high);
    }
}

/* Above 1000 draws: few repetitions have Poisson's distribution, more than 30 a normal one. */
static void kinds_of_many_draws(void **state) {
    static const struct {
        uint64_t different;
        double low, high;
    } cases[] = {
        {250, 250, 253},
        {1000, 1608, 1837},
        {1400, 8915, 13096},
        {1470, 26049, 54610},
        {1495, 96422, 690528},
        {1499, 202102, 44406002},
        {1500, 305268, 4294967296},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        estimate kinds = infer_kinds(1500, cases[i].different, 4294967296.0);
        near(kinds.low, cases[i].low, 0.02);
        near(kinds.high, cases[i].high, 0.02);
        assert_true(kinds.low <= kinds.best && kinds.best >= (double)cases[i].different);
        assert_true(isinf(kinds.best) == (cases[i].different == 1500));
    }
}

/* n^2 / 2N repetitions are expected: none is improbable below N = n^2 / (2 * 3.68888). */
static void kinds_of_great_numbers(void **state) {
    (void)state;
    estimate kinds = infer_kinds(UINT64_C(1) << 30, UINT64_C(1) << 30, 18446744073709551616.0);
    assert_true(isinf(kinds.best));
    near(kinds.low, 0x1p60 / 2 / 3.6888794541139363, 0.001);
    same(kinds.high, 18446744073709551616.0);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void slope_of_a_line(void **state) {
    static const double x[LENGTH] = {0, 1, 2, 3, 4, 5, 6, 7},
                        y[LENGTH] = {5, 3, 1, -1, -3, -5, -7, -9};
    (void)state;
    estimate slope = infer_slope(x, y, LENGTH);
    near(slope.best, -2, 1e-12);
    near(slope.low, -2, 1e-12);
    near(slope.high, -2, 1e-12);
}

static void slope_of_points_beside_a_line(void **state) {
    static const double x[] = {3, 0, 4, 1, 2}, y[] = {3, 0, 5, 1, 1}; /* in any order */
    (void)state;
    estimate slope = infer_slope(x, y, 5); /* 6/5 -+ 3.182 sqrt(8/5 / 3 / 10) */
    near(slope.best, 1.2, 1e-12);
    near(slope.low, 0.46514857737544424, 1e-9);
    near(slope.high, 1.9348514226245557, 1e-9);
    slope = infer_slope(x, y, 3); /* 31/26 -+ 12.706 sqrt(9/26 / (26/3)) */
    near(slope.best, 31.0 / 26, 1e-12);
    near(slope.low, 31.0 / 26 - 12.706 * sqrt(27.0) / 26, 1e-9);
    near(slope.high, 31.0 / 26 + 12.706 * sqrt(27.0) / 26, 1e-9);
}

/* 100 points, 98 degrees of freedom: 1.984 of Student's t. */
static void slope_of_many_points(void **state) {
    double x[100], y[100];
    (void)state;
    for (int i = 0; i < 100; i++) {
        x[i] = i / 4; /* of each x two points above and two below the line */
        y[i] = 1e6 + 3 * x[i] + (i % 4 < 2 ? 1 : -1);
    }
    estimate slope = infer_slope(x, y, 100);
    near(slope.best, 3, 1e-9);
    const double half = 1.984467 * sqrt(100.0 / 98 / 5200); /* xx = 4 * 25 * (25^2 - 1) / 12 */
    near(slope.low, 3 - half, 1e-4);
    near(slope.high, 3 + half, 1e-4);
}

static void slope_needs_three_points_and_two_places(void **state) {
    static const double x[] = {1, 2, 3}, item[] = {5, 5, 5};
    (void)state;
    for (size_t count = 0; count <= 3; count++) {
        estimate slope = infer_slope(count < 3 ? x : item, x, count);
        assert_true(isnan(slope.best));
        same(slope.low, -INFINITY);
        same(slope.high, INFINITY);
    }
}

/* ---- the common divisor ---------------------------------------------------------------------- */

static void common_divisor_up_to_the_greatest_integer(void **state) {
    (void)state;
    assert_int_equal(common_divisor(0, 0), 0);
    assert_int_equal(common_divisor(0, 12), 12);
    assert_int_equal(common_divisor(12, 0), 12);
    assert_int_equal(common_divisor(12, 18), 6);
    assert_int_equal(common_divisor(18, 12), 6);
    assert_int_equal(common_divisor(35, 64), 1);
    assert_true(common_divisor(UINT64_MAX, UINT64_MAX) == UINT64_MAX);
    assert_true(common_divisor(UINT64_MAX, UINT64_MAX - 1) == 1);
    assert_true(common_divisor(UINT64_MAX, UINT64_C(4294967295)) == 4294967295);
    assert_true(common_divisor(UINT64_C(1) << 63, UINT64_C(3) << 62) == UINT64_C(1) << 62);
    /* neighbours of Fibonacci's series take the most steps */
    assert_true(common_divisor(UINT64_C(12200160415121876738), UINT64_C(7540113804746346429)) == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(total_is_exact),
        cmocka_unit_test(total_of_great_integers),
        cmocka_unit_test(mean_of_no_event),
        cmocka_unit_test(mean_of_a_few_and_of_many),
        cmocka_unit_test(density_is_exact),
        cmocka_unit_test(density_in_steps),
        cmocka_unit_test(density_of_great_sums),
        cmocka_unit_test(density_has_no_step_between_its_methods),
        cmocka_unit_test(kinds_are_exact),
        cmocka_unit_test(kinds_of_many_draws),
        cmocka_unit_test(kinds_of_great_numbers),
        cmocka_unit_test(slope_of_a_line),
        cmocka_unit_test(slope_of_points_beside_a_line),
        cmocka_unit_test(slope_of_many_points),
        cmocka_unit_test(slope_needs_three_points_and_two_places),
        cmocka_unit_test(common_divisor_up_to_the_greatest_integer),
    };
    return cmocka_run_group_tests_name("infer", tests, NULL, NULL);
}
