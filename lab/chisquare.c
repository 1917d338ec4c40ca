/* SPDX-License-Identifier: MIT */
/* See chisquare.h. The odds are the upper incomplete gamma function Q(freedom / 2, value / 2): a
 * power series below its middle, a continued fraction above. */
#include "chisquare.h"

#include <math.h>

/* Both need some multiple of sqrt(a) steps; a is at most 32768. */
enum { STEPS = 100000 };
#define EXACT 1e-15

double chisquare_value(const uint64_t *found, size_t count) {
    double total = 0, sum = 0;
    for (size_t i = 0; i < count; i++) {
        total += (double)found[i];
    }
    double expected = total / (double)count;
    for (size_t i = 0; i < count && total > 0; i++) {
        double off = (double)found[i] - expected;
        sum += off * off / expected;
    }
    return sum;
}

/* P(a, x) = e^-x x^a / Gamma(a + 1) * (1 + x/(a+1) + x^2/((a+1)(a+2)) + ...) */
static double lower(double a, double x) {
    double term = 1, sum = 1;
    for (int i = 1; i < STEPS && term > sum * EXACT; i++) {
        term *= x / (a + i);
        sum += term;
    }
    return sum * exp(a * log(x) - x - lgamma(a + 1));
}

/* Q(a, x) = e^-x x^a / Gamma(a) * 1/(x+1-a - 1(1-a)/(x+3-a - 2(2-a)/(x+5-a - ...))), from the left
 * by the quotients of neighbouring convergents. */
static double upper(double a, double x) {
    double b = x + 1 - a, quotient = 1 / b, inverse = 1e300, value = quotient;
    for (int i = 1; i < STEPS; i++) {
        double numerator = -i * (i - a);
        b += 2;
        quotient = 1 / (numerator * quotient + b);
        inverse = b + numerator / inverse;
        value *= quotient * inverse;
        if (fabs(quotient * inverse - 1) < EXACT) {
            break;
        }
    }
    return value * exp(a * log(x) - x - lgamma(a));
}

double chisquare_odds(double value, double freedom) {
    double a = freedom / 2, x = value / 2;
    if (x <= 0) {
        return 1;
    }
    double odds = x < a + 1 ? 1 - lower(a, x) : upper(a, x);
    return odds < 0 ? 0 : odds > 1 ? 1 : odds;
}
