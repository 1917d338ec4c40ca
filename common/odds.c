/* SPDX-License-Identifier: MIT */
/* See odds.h. Computed with logarithms, so that odds of 1e-30 are as exact as one half. */
#include "odds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- logarithms ---------------------------------------------------------------------------- */

/* log(1 + x) - x, which is -x^2/2 + x^3/3 - ... */
static double log1p_less(double x) {
    double sum = 0, power = x;
    if (x > 0.01) {
        return log1p(x) - x;
    }
    for (int k = 2; k < 12; k++) {
        power *= -x;
        sum += power / k;
    }
    return sum;
}

/* (1 - u) log(1 - u) + u, which is u^2/2 + u^3/6 + ... + u^k/(k (k-1)) + ... */
static double fall(double u) {
    double sum = 0, power = u;
    if (u > 0.01) {
        return (1 - u) * log1p(-u) + u;
    }
    for (int k = 2; k < 12; k++) {
        power *= u;
        sum += power / (k * (k - 1));
    }
    return sum;
}

/* The logarithm of (1 - first/S) (1 - (first+1)/S) ... of `count` factors: one by one, or their
 * integral with the first two corrections of Euler and Maclaurin, which leave no error that shows
 * in more than 10000. */
static double ln_product(double first, double count, double space) {
    double end = first + count, sum = 0;
    if (count < 1) {
        return 0;
    }
    if (end - 1 >= space) {
        return -INFINITY;
    }
    if (count > 1e4) {
        end = end < space ? end : space - 1;
        double ends = log1p(-end / space) - log1p(-first / space);
        double slopes = 1 / (space - first) - 1 / (space - end);
        return -space * (fall(end / space) - fall(first / space)) - ends / 2 + slopes / 12;
    }
    for (double i = first; i < end; i++) {
        sum += log1p(-i / space);
    }
    return sum;
}

/* ---- models -------------------------------------------------------------------------------- */

/* How many ticks the seconds are, and how many IDs come in each. */
double odds_ticks(const odds *plan, double seconds, double *each) {
    if (plan->tick == 0 || seconds < plan->tick) {
        *each = plan->rate * seconds;
        return 1;
    }
    *each = plan->rate * plan->tick;
    return seconds / plan->tick;
}

/* IDs come at random times, so how many have one value is a Poisson number of mean m/S. */
static double none_drawn(const odds *plan, double amount) {
    double each;
    if (plan->count > 0) {
        return ln_product(0, floor(amount), plan->space);
    }
    double ticks = odds_ticks(plan, amount, &each);
    return ticks * plan->space * log1p_less(each / plan->space);
}

/* Two IDs of two nodes, of one tick. */
static double none_started(const odds *plan, double amount) {
    double each = amount, ticks = plan->count > 0 ? 1 : odds_ticks(plan, amount, &each);
    double pairs = each * each / 2 * (1 - 1 / plan->nodes);
    return -ticks * pairs / plan->space / plan->starts;
}

/* Runs of a tick, one per node, at random places. A run of k IDs blocks one of l at k + l - 1
 * places. */
static double none_next(const odds *plan, double amount) {
    double each = amount;
    if (plan->count > 0) {
        double runs = plan->nodes < amount ? plan->nodes : floor(amount);
        return ln_product(floor(amount) - runs + 1, runs - 1, plan->space);
    }
    double ticks = odds_ticks(plan, amount, &each), mean = each / plan->nodes, some = -expm1(-mean);
    double ways = mean < 1e-5 ? mean * mean : 2 * mean * some - some * some;
    return -ticks * plan->nodes * (plan->nodes - 1) / 2 * ways / plan->space;
}

static double none_equal(const odds *plan, double amount) {
    return ln_product(0, floor(amount), plan->space);
}

#define PRODUCT "1 - (1 - 1/S) (1 - 2/S) ... (1 - (n-1)/S)"
#define DRAWN   "1 - ((1 + m/S) e^(-m/S))^(S T)"

static const odds_model models[] = {
    [ODDS_RESERVED] = {"reserved", "a store reserves each slot: no two IDs are equal", "none",
                       "none", NULL, false, true},
    [ODDS_DIGEST] = {"digest", "equal names give equal IDs; two names may have the same digest",
                     DRAWN, PRODUCT, none_drawn, false, false},
    [ODDS_DRAWN] = {"drawn", "each ID is random", DRAWN, PRODUCT, none_drawn, false, false},
    [ODDS_STARTED] = {"started",
                      "a node counts from a random start, so only IDs of two nodes can collide",
                      "1 - e^(-T m^2/2 (1 - 1/N) / (S B)), at most",
                      "1 - e^(-n^2/2 (1 - 1/N) / (S B)), at most", none_started, false, true},
    [ODDS_NEXT] = {"next",
                   "a node increments its random number, so only IDs of two nodes can collide",
                   "1 - e^(-T N(N-1)/2 (2 a q - q^2) / S), a = m/N, q = 1 - e^-a",
                   "1 - (1 - (n-N+1)/S) ... (1 - (n-1)/S)", none_next, false, true},
    [ODDS_NODES] =
        {"nodes",
         "each node draws its number once; nodes with the same number may repeat each other's IDs",
         "1 - (1 - 1/S) (1 - 2/S) ... (1 - (N-1)/S), at most",
         "1 - (1 - 1/S) (1 - 2/S) ... (1 - (N-1)/S), at most", none_equal, true, true},
};

/* ---- which model --------------------------------------------------------------------------- */

/* The values of all fields of a role that are not given, as one number; 1: there are no such
 * fields. */
double odds_space(const firn_scheme *scheme, int role, uint32_t given) {
    double space = 1;
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        if (scheme->slices[i].role != role || firn_scheme_first(scheme, i) != i ||
            (given & 1u << i) != 0) {
            continue;
        }
        firn_value most = firn_scheme_max(scheme, i);
        double values = ldexp((double)most.high, 64) + (double)most.low + 1;
        space *= role == FIRN_ROLE_ADDRESS ? values / 2 : values; /* a random one is multicast */
    }
    return space;
}

/* Are all the fields given that make the node a reserved one? */
static bool node_given(const firn_scheme *scheme, uint32_t given) {
    const char *position = scheme->node_fields;
    while (position != NULL && *position != '\0') {
        char name[FIRN_NAME_SIZE];
        size_t length = strcspn(position, " ");
        snprintf(name, sizeof name, "%.*s", (int)length, position);
        int field = firn_scheme_field(scheme, name);
        if (field < 0 || (given & 1u << field) == 0) {
            return false;
        }
        position += length + (position[length] == ' ');
    }
    return position != NULL;
}

static int model_of(odds *plan, uint32_t given) {
    const firn_scheme *scheme = plan->scheme;
    double random = odds_space(scheme, FIRN_ROLE_RANDOM, given);
    double digest = odds_space(scheme, FIRN_ROLE_DIGEST, given);
    double process = odds_space(scheme, FIRN_ROLE_PROCESS, given);
    bool reserved = scheme->node_rule == FIRN_NODE_OPTIONAL && node_given(scheme, given);
    reserved = reserved || (odds_shares_digits(scheme) && (given & ODDS_NODE) != 0);
    plan->space = random;
    if (scheme->node_rule == FIRN_NODE_REQUIRED || reserved || scheme->keyed) {
        return ODDS_RESERVED;
    }
    if (digest > 1) {
        plan->space = digest;
        return ODDS_DIGEST;
    }
    if (random == 1 && (scheme->node_rule == FIRN_NODE_OPTIONAL || process > 1)) {
        plan->space = process * odds_space(scheme, FIRN_ROLE_NODE, given) *
                      odds_space(scheme, FIRN_ROLE_ADDRESS, given);
        return ODDS_NODES;
    }
    if (odds_space(scheme, FIRN_ROLE_SEQUENCE, given) > 1 ||
        odds_space(scheme, FIRN_ROLE_COUNTER, given) > 1) {
        return ODDS_STARTED;
    }
    return scheme->monotonic ? ODDS_NEXT : ODDS_DRAWN;
}

/* How many IDs one node can issue per tick. */
static double most_of(const firn_scheme *scheme, uint32_t given) {
    double count = odds_space(scheme, FIRN_ROLE_SEQUENCE, given);
    if (scheme->tick_ns == 0) {
        return 0;
    }
    if (count > 1 && scheme->start == FIRN_START_RANDOM) {
        count -= (double)scheme->start_below - 1; /* from the highest start */
    }
    count = count > 1 ? count : odds_space(scheme, FIRN_ROLE_COUNTER, given);
    bool drawn = odds_space(scheme, FIRN_ROLE_RANDOM, given) > 1;
    return count > 1 || !drawn ? count : 0;
}

void odds_begin(odds *plan, const firn_scheme *scheme, uint32_t given) {
    plan->scheme = scheme;
    plan->starts = scheme->start == FIRN_START_RANDOM ? (double)scheme->start_below : 1;
    plan->model = &models[model_of(plan, given)];
    plan->tick = scheme->tick_ns / 1e9;
    plan->most = most_of(scheme, given);
}

/* ---- answers ------------------------------------------------------------------------------- */

bool odds_is(const odds *plan, int model) {
    return plan->model == &models[model];
}

bool odds_shares_digits(const firn_scheme *scheme) {
    return scheme->form == FIRN_FORM_DATED && scheme->node_rule == FIRN_NODE_NONE;
}

static double odds_at(const odds *plan, double amount) {
    return plan->model->none == NULL ? 0 : 0 - expm1(plan->model->none(plan, amount));
}

double odds_now(const odds *plan) {
    double amount = plan->count > 0 ? plan->count : plan->seconds;
    return odds_at(plan, plan->model->of_nodes ? plan->nodes : amount);
}

double odds_reach(const odds *plan, double goal) {
    double low = -15, high = 60; /* decimal exponents */
    if (plan->model->none == NULL || odds_at(plan, pow(10, high)) < goal) {
        return INFINITY;
    }
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (odds_at(plan, pow(10, middle)) < goal) {
            low = middle;
        } else {
            high = middle;
        }
    }
    double amount = pow(10, high);
    return plan->model->of_nodes || plan->count > 0 ? ceil(amount * (1 - 1e-12)) : amount;
}

bool odds_waits(const odds *plan) {
    double each = plan->count > 0 ? plan->count : plan->rate * plan->tick;
    return plan->most > 0 && each / plan->nodes > plan->most;
}
