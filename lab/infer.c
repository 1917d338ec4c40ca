/* SPDX-License-Identifier: MIT */
/* See infer.h. Small samples are computed exactly, by inverting the distribution of the sample;
 * large ones by a normal distribution of the same mean and variance. docs/reference/streams.md
 * names the formulas, test/lab_estimate.sh measures how often the intervals contain the truth. */
#include "infer.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum {
    SUM_EXACT = 200,    /* greater sums are computed in steps of a 200th, */
    FEW = 30,           /* and for more numbers they are normal enough; so are more repetitions */
    KINDS_EXACT = 1000, /* more draws are normal enough */
    HALVINGS = 100
};

static const double tail = 0.025;  /* on each side of a two-sided interval */
static const double sigmas = 1.96; /* of a normal distribution with these tails */

/* ---- the German tank problem ----------------------------------------------------------------- */

/* The logarithm of the probability that all of `count` numbers out of 1..total are <= greatest. */
static double ln_below(double count, double greatest, double total) {
    double sum = 0;
    if (count <= 1000) {
        for (double i = 0; i < count; i++) {
            sum += log((greatest - i) / (total - i));
        }
        return sum;
    }
    if (greatest < 1e12) {
        return lgamma(greatest + 1) - lgamma(greatest - count + 1) - lgamma(total + 1) +
               lgamma(total - count + 1);
    }
    return count * log(greatest / total);
}

estimate infer_total(uint64_t count, uint64_t greatest) {
    const double k = (double)count, m = (double)greatest, log_tail = log(2 * tail);
    double low = m, high = m * 2;
    while (ln_below(k, m, high) > log_tail) {
        high *= 2;
    }
    for (int i = 0; i < HALVINGS && high - low > 0.5; i++) {
        double middle = floor((low + high) / 2);
        if (middle <= low) {
            break;
        }
        if (ln_below(k, m, middle) > log_tail) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return (estimate){m + m / k - 1, m, low};
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* The quantiles of the gamma distribution, by Wilson and Hilferty's cube. */
estimate infer_mean(double count) {
    double below = 1 - 1 / (9 * count) - sigmas / (3 * sqrt(count));
    double next = count + 1, above = 1 - 1 / (9 * next) + sigmas / (3 * sqrt(next));
    return (estimate){count, count > 0 && below > 0 ? count * below * below * below : 0,
                      next * above * above * above};
}

/* ---- sequence numbers ------------------------------------------------------------------------ */

/* a <- a * b, as far as SUM_EXACT. */
static void multiply(double *a, const double *b, size_t size) {
    double product[SUM_EXACT + 1] = {0};
    for (size_t i = 0; i < size; i++) {
        for (size_t j = 0; i + j < size; j++) {
            product[i + j] += a[i] * b[j];
        }
    }
    memcpy(a, product, size * sizeof *a);
}

static double normal_below(double x) {
    /* Abramowitz and Stegun 26.2.17, error below 1e-7 */
    double t = 1 / (1 + 0.2316419 * fabs(x));
    double series =
        t * (0.319381530 +
             t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
    double upper = 0.3989422804014327 * exp(-x * x / 2) * series;
    return x < 0 ? upper : 1 - upper;
}

/* Of many events a tick, P(Poisson(mean) > j) / mean, summed over all j > from. */
static double chance_beyond(double from, double mean) {
    const double sigma = sqrt(mean), z = (mean - from) / sigma;
    const double density = 0.3989422804014327 * exp(-z * z / 2);
    return from <= 0 ? 1 : (sigma * density + (mean - from) * normal_below(z)) / mean;
}

/* The chances of the number of events before one, in steps of `step`: j with P(Poisson(mean) > j) /
 * mean. */
static void fill_chances(double *chance, size_t size, double mean, double step) {
    double above = 0, last = mean + 12 * sqrt(mean) + 40;
    if (step > 1) {
        for (size_t i = 0; i < size; i++) {
            const double middle = (double)i * step + 0.5; /* j is the integer part */
            chance[i] =
                chance_beyond(middle - step / 2, mean) - chance_beyond(middle + step / 2, mean);
        }
        return;
    }
    last = last < (double)size + 1 ? (double)size + 1 : ceil(last);
    for (double k = last; k >= 1; k--) { /* from the small terms on */
        above += exp(k * log(mean) - mean - lgamma(k + 1));
        if (k <= (double)size) {
            chance[(size_t)k - 1] = above / mean;
        }
    }
}

/* The probability that the sum is at most `sum`. */
static double sum_below(uint64_t count, uint64_t sum, double mean) {
    double power[SUM_EXACT + 1], result[SUM_EXACT + 1] = {1}, total = 0;
    const double step = sum > SUM_EXACT ? (double)sum / SUM_EXACT : 1;
    const size_t size = (sum > SUM_EXACT ? SUM_EXACT : (size_t)sum) + 1;
    fill_chances(power, size, mean, step);
    for (uint64_t left = count; left > 0; left /= 2) {
        if (left % 2 == 1) {
            multiply(result, power, size);
        }
        multiply(power, power, size);
    }
    for (size_t i = 0; i < size; i++) {
        total += result[i];
    }
    return total - result[size - 1] * (1 - 1 / step) / 2; /* of the last step, what is <= sum */
}

/* The mean at which the sum is at most `sum` with this probability. */
static double density_at(uint64_t count, uint64_t sum, double probability) {
    double low = 1e-9, high = 1;
    while (sum_below(count, sum, high) > probability) {
        low = high;
        high *= 2;
    }
    for (int i = 0; i < 40; i++) {
        double middle = (low + high) / 2;
        if (sum_below(count, sum, middle) > probability) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

estimate infer_density(uint64_t count, uint64_t sum) {
    const double n = (double)count, mean = (double)sum / n;
    if (sum <= SUM_EXACT || count <= FEW) {
        double low = sum == 0 ? 0 : density_at(count, sum - 1, 1 - tail);
        return (estimate){2 * mean, low, density_at(count, sum, tail)};
    }
    /* (mean - a/2)^2 = sigmas^2 (a^2/12 + a/2) / n, solved for a */
    const double z = sigmas * sigmas / n, square = 0.25 - z / 12, linear = -mean - z / 2;
    const double root = sqrt(linear * linear - 4 * square * mean * mean);
    return (estimate){2 * mean, (-linear - root) / (2 * square), (-linear + root) / (2 * square)};
}

/* ---- kinds ----------------------------------------------------------------------------------- */

/* The probability of at most `different` kinds in `count` draws of `total` kinds; *less: of
 * fewer. */
static double kinds_exact(uint64_t count, uint64_t different, double total, double *less) {
    double chance[KINDS_EXACT + 1] = {0}, sum = 0;
    chance[0] = 1;
    for (uint64_t i = 0; i < count; i++) {
        for (uint64_t j = i + 1 < different ? i + 1 : different; j > 0; j--) {
            double fresh = total > (double)(j - 1) ? (total - (double)(j - 1)) / total : 0;
            chance[j] = chance[j] * ((double)j / total) + chance[j - 1] * fresh;
        }
        chance[0] = 0;
    }
    for (uint64_t j = 0; j < different; j++) {
        sum += chance[j];
    }
    *less = sum;
    return sum + chance[different];
}

/* How many kinds are expected. */
static double kinds_mean(double count, double total) {
    return total <= 1 ? 1 : -total * expm1(count * log1p(-1 / total));
}

static double kinds_below(uint64_t count, uint64_t different, double total, double *less) {
    if (count <= KINDS_EXACT) {
        return kinds_exact(count, different, total, less);
    }
    const double n = (double)count, d = (double)different, mean = kinds_mean(n, total);
    if (count - different < FEW) { /* the number of repetitions is Poisson's */
        double repeated = n - mean, term = exp(-repeated), fewer = 0;
        for (uint64_t i = 0; i < count - different; i++) {
            fewer += term;
            term *= repeated / (double)(i + 1);
        }
        *less = 1 - fewer - term;
        return 1 - fewer;
    }
    const double value = total - mean; /* kinds that are missing */
    const double two = total < 2.5 ? 0 : total * (total - 1) * exp(n * log1p(-2 / total));
    const double spread = value + two - value * value;
    const double sigma = spread > 1e-9 ? sqrt(spread) : 3e-5;
    *less = normal_below((d - 0.5 - mean) / sigma);
    return normal_below((d + 0.5 - mean) / sigma);
}

/* The greatest total at which it is not too improbable to have seen only `different` kinds, or
 * (above false) the least at which it is not too improbable to have seen that many. */
static double kinds_limit(uint64_t count, uint64_t different, double most, bool above) {
    double low = (double)different, high = most;
    for (int i = 0; i < HALVINGS && high - low > 1; i++) {
        double less, middle = floor(high > 4 * low ? sqrt(low * high) : (low + high) / 2);
        double below = kinds_below(count, different, middle, &less);
        if (above ? below > tail : 1 - less <= tail) {
            low = middle;
        } else {
            high = middle;
        }
    }
    double less;
    if (above) {
        return kinds_below(count, different, high, &less) > tail ? high : low;
    }
    kinds_below(count, different, low, &less);
    return 1 - less > tail ? low : high;
}

estimate infer_kinds(uint64_t count, uint64_t different, double most) {
    const double n = (double)count, d = (double)different;
    double low = d, high = most;
    for (int i = 0; i < HALVINGS && different < count; i++) {
        double middle = (low + high) / 2;
        if (kinds_mean(n, middle) < d) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return (estimate){different < count ? high : INFINITY,
                      kinds_limit(count, different, most, false),
                      kinds_limit(count, different, most, true)};
}

/* ---- lines ----------------------------------------------------------------------------------- */

estimate infer_slope(const double *x, const double *y, size_t count) {
    /* two-sided 95 % of Student's t, by degrees of freedom */
    static const double student[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                     2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                     2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                     2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
    const double n = (double)count;
    double mean_x = 0, mean_y = 0, xx = 0, xy = 0, rest = 0;
    for (size_t i = 0; i < count; i++) {
        mean_x += x[i] / n;
        mean_y += y[i] / n;
    }
    for (size_t i = 0; i < count; i++) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
    }
    if (count < 3 || xx <= 0) {
        return (estimate){NAN, -INFINITY, INFINITY};
    }
    const double slope = xy / xx;
    for (size_t i = 0; i < count; i++) {
        double off = y[i] - mean_y - slope * (x[i] - mean_x);
        rest += off * off;
    }
    const size_t freedom = count - 2;
    const double t = freedom <= 30 ? student[freedom - 1] : sigmas + 2.4 / (double)freedom;
    const double error = t * sqrt(rest / (double)freedom / xx);
    return (estimate){slope, slope - error, slope + error};
}

uint64_t common_divisor(uint64_t a, uint64_t b) {
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}
