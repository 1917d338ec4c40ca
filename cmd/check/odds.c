/* SPDX-License-Identifier: MIT */
/* `firn odds`: how likely two IDs of a scheme collide, with the formula. A layout of models; the
 * scheme decides which one applies. Computed with logarithms, so that odds of 1e-30 are as exact as
 * one half. Draws nothing. */
#include "maths.h"
#include "shared/amounts.h"
#include "shared/json.h"
#include "shared/operands.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What the odds are made of. */
typedef struct chances {
    firn_scheme scheme;
    const struct model *model;
    double rate;    /* IDs per second, of all nodes */
    double nodes;   /* that make them in equal parts */
    double seconds; /* for so long */
    double count;   /* instead of a rate: this many in one tick; 0: not given */
    double tick;    /* seconds; 0: no tick */
    double space;   /* S: how many values the random part has */
    double starts;  /* how many values the sequence of a tick starts at */
    double most;    /* IDs a tick of one node; 0: no bound */
} chances;

/* The logarithm of the odds that no two are equal, with `amount` in the place of what the model
 * depends on: seconds, IDs or nodes. */
typedef double ln_none(const chances *it, double amount);

typedef struct model {
    const char *name;
    const char *why;
    const char *formula; /* of a rate */
    const char *exact;   /* of a count */
    ln_none *none;       /* NULL: there are no odds */
    bool of_nodes;       /* depends on nodes, not on time */
    bool alone;          /* one node alone never repeats itself */
} model;

/* ---- logarithms ---------------------------------------------------------------------------- */

/* log(1 + x) - x, which is -x^2/2 + x^3/3 - ... */
static double log1p_less(double x) {
    double sum = 0, power = x;
    if (x > 0.01) {
        return maths_log1p(x) - x;
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
        return (1 - u) * maths_log1p(-u) + u;
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
        double ends = maths_log1p(-end / space) - maths_log1p(-first / space);
        double slopes = 1 / (space - first) - 1 / (space - end);
        return -space * (fall(end / space) - fall(first / space)) - ends / 2 + slopes / 12;
    }
    for (double i = first; i < end; i++) {
        sum += maths_log1p(-i / space);
    }
    return sum;
}

/* ---- models -------------------------------------------------------------------------------- */

/* How many ticks the seconds are, and how many IDs come in each. */
static double ticks_of(const chances *it, double seconds, double *each) {
    if (it->tick == 0 || seconds < it->tick) {
        *each = it->rate * seconds;
        return 1;
    }
    *each = it->rate * it->tick;
    return seconds / it->tick;
}

/* IDs come at random instants, so how many have one value is a Poisson number of mean m/S. */
static double none_drawn(const chances *it, double amount) {
    double each;
    if (it->count > 0) {
        return ln_product(0, maths_floor(amount), it->space);
    }
    double ticks = ticks_of(it, amount, &each);
    return ticks * it->space * log1p_less(each / it->space);
}

/* Two IDs of two nodes, of one tick. */
static double none_started(const chances *it, double amount) {
    double each = amount, ticks = it->count > 0 ? 1 : ticks_of(it, amount, &each);
    double pairs = each * each / 2 * (1 - 1 / it->nodes);
    return -ticks * pairs / it->space / it->starts;
}

/* Runs of a tick, one per node, at random places. A run of k IDs blocks one of l at k + l - 1
 * places. */
static double none_next(const chances *it, double amount) {
    double each = amount;
    if (it->count > 0) {
        double runs = it->nodes < amount ? it->nodes : maths_floor(amount);
        return ln_product(maths_floor(amount) - runs + 1, runs - 1, it->space);
    }
    double ticks = ticks_of(it, amount, &each), mean = each / it->nodes, some = -maths_expm1(-mean);
    double ways = mean < 1e-5 ? mean * mean : 2 * mean * some - some * some;
    return -ticks * it->nodes * (it->nodes - 1) / 2 * ways / it->space;
}

static double none_equal(const chances *it, double amount) {
    return ln_product(0, maths_floor(amount), it->space);
}

enum { MODEL_RESERVED, MODEL_DIGEST, MODEL_DRAWN, MODEL_STARTED, MODEL_NEXT, MODEL_NODES };

#define PRODUCT "1 - (1 - 1/S) (1 - 2/S) ... (1 - (n-1)/S)"
#define DRAWN   "1 - ((1 + m/S) e^(-m/S))^(S T)"

static const model models[] = {
    [MODEL_RESERVED] = {"reserved", "a store reserves each slot: no two IDs are equal", "none",
                        "none", NULL, false, true},
    [MODEL_DIGEST] = {"digest", "equal names give equal IDs; two names may have the same digest",
                      DRAWN, PRODUCT, none_drawn, false, false},
    [MODEL_DRAWN] = {"drawn", "each ID is random", DRAWN, PRODUCT, none_drawn, false, false},
    [MODEL_STARTED] = {"started",
                       "a node counts from a random start, so only IDs of two nodes can collide",
                       "1 - e^(-T m^2/2 (1 - 1/N) / (S B)), at most",
                       "1 - e^(-n^2/2 (1 - 1/N) / (S B)), at most", none_started, false, true},
    [MODEL_NEXT] = {"next",
                    "a node increments its random number, so only IDs of two nodes can collide",
                    "1 - e^(-T N(N-1)/2 (2 a q - q^2) / S), a = m/N, q = 1 - e^-a",
                    "1 - (1 - (n-N+1)/S) ... (1 - (n-1)/S)", none_next, false, true},
    [MODEL_NODES] =
        {"nodes",
         "each node draws its number once; nodes with the same number may repeat each other's IDs",
         "1 - (1 - 1/S) (1 - 2/S) ... (1 - (N-1)/S), at most",
         "1 - (1 - 1/S) (1 - 2/S) ... (1 - (N-1)/S), at most", none_equal, true, true},
};

/* ---- which model --------------------------------------------------------------------------- */

/* The values of all fields of a role that no key gives, as one number; 1 if there are no such fields. */
static double space_of(const session *s, const firn_scheme *scheme, int role) {
    double space = 1;
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        if (slice->role != role || firn_scheme_first(scheme, i) != i ||
            operand_value(s, slice->name) != NULL) {
            continue;
        }
        firn_value most = firn_scheme_max(scheme, i);
        double values = maths_ldexp((double)most.high, 64) + (double)most.low + 1;
        space *= role == FIRN_ROLE_ADDRESS ? values / 2 : values; /* a random one is multicast */
    }
    return space;
}

/* Are all the fields given that make the node a reserved one? */
static bool node_given(const session *s, const firn_scheme *scheme) {
    char name[FIRN_NAME_SIZE];
    const char *at = scheme->node_fields;
    while (at != NULL && *at != '\0') {
        size_t length = strcspn(at, " ");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        if (operand_value(s, name) == NULL) {
            return false;
        }
        at += length + (at[length] == ' ');
    }
    return at != NULL;
}

/* time-random with a node: node and sequence share its digits. */
static bool shares_digits(const session *s, const firn_scheme *scheme) {
    return scheme->form == FIRN_FORM_DATED && scheme->node_rule == FIRN_NODE_NONE &&
           operand_value(s, "node") != NULL;
}

static int model_of(const session *s, chances *it) {
    const firn_scheme *scheme = &it->scheme;
    double random = space_of(s, scheme, FIRN_ROLE_RANDOM);
    double digest = space_of(s, scheme, FIRN_ROLE_DIGEST);
    double process = space_of(s, scheme, FIRN_ROLE_PROCESS);
    bool given = scheme->node_rule == FIRN_NODE_OPTIONAL && node_given(s, scheme);
    given = given || shares_digits(s, scheme);
    it->starts = scheme->start == FIRN_START_RANDOM ? (double)scheme->start_below : 1;
    it->space = random;
    if (scheme->node_rule == FIRN_NODE_REQUIRED || given || scheme->keyed) {
        return MODEL_RESERVED;
    }
    if (digest > 1) {
        it->space = digest;
        return MODEL_DIGEST;
    }
    if (random == 1 && (scheme->node_rule == FIRN_NODE_OPTIONAL || process > 1)) {
        it->space =
            process * space_of(s, scheme, FIRN_ROLE_NODE) * space_of(s, scheme, FIRN_ROLE_ADDRESS);
        return MODEL_NODES;
    }
    if (space_of(s, scheme, FIRN_ROLE_SEQUENCE) > 1 || space_of(s, scheme, FIRN_ROLE_COUNTER) > 1) {
        return MODEL_STARTED;
    }
    return scheme->monotonic ? MODEL_NEXT : MODEL_DRAWN;
}

/* How many IDs one node can issue per tick. */
static double most_of(const session *s, const firn_scheme *scheme) {
    double count = space_of(s, scheme, FIRN_ROLE_SEQUENCE);
    if (scheme->tick_ns == 0) {
        return 0;
    }
    if (count > 1 && scheme->start == FIRN_START_RANDOM) {
        count -= (double)scheme->start_below - 1; /* from the highest start */
    }
    count = count > 1 ? count : space_of(s, scheme, FIRN_ROLE_COUNTER);
    bool drawn = space_of(s, scheme, FIRN_ROLE_RANDOM) > 1;
    return count > 1 || !drawn ? count : 0;
}

/* ---- the report ---------------------------------------------------------------------------- */

static double amount_of(const chances *it) {
    if (it->model->of_nodes) {
        return it->nodes;
    }
    return it->count > 0 ? it->count : it->seconds;
}

static double odds_at(const chances *it, double amount) {
    return it->model->none == NULL ? 0 : -maths_expm1(it->model->none(it, amount));
}

/* The least amount at which the odds reach a goal, by halving, whole where it is a number of
 * things; infinite when they never do. */
static double reach(const chances *it, double goal) {
    double low = -15, high = 60; /* decimal exponents */
    if (it->model->none == NULL || odds_at(it, maths_pow(10, high)) < goal) {
        return INFINITY;
    }
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (odds_at(it, maths_pow(10, middle)) < goal) {
            low = middle;
        } else {
            high = middle;
        }
    }
    double amount = maths_pow(10, high);
    return it->model->of_nodes || it->count > 0 ? maths_ceil(amount * (1 - 1e-12)) : amount;
}

static char *reach_text(char text[64], const chances *it, double goal) {
    char duration[DURATION_SIZE];
    double amount = reach(it, goal);
    if (isinf(amount)) {
        snprintf(text, 64, "never");
    } else if (it->model->of_nodes) {
        snprintf(text, 64, "with %.6g nodes", amount);
    } else if (it->count > 0) {
        snprintf(text, 64, "with %.6g IDs", amount);
    } else {
        snprintf(text, 64, "after %s", duration_text(duration, amount));
    }
    return text;
}

static bool waits(const chances *it) {
    double each = it->count > 0 ? it->count : it->rate * it->tick;
    return it->most > 0 && each / it->nodes > it->most;
}

static void put_space(output *out, double space) {
    double bits = maths_log2(space);
    if (bits == maths_floor(bits)) {
        output_print(out, "S = 2^%.0f", bits);
    } else {
        output_print(out, "S = %.6g", space);
    }
}

/* The letters of the formula. */
static void put_formula(output *out, const chances *it) {
    double each, ticks = ticks_of(it, it->seconds, &each);
    output_print(out, "  formula: %s\n  with ",
                 it->count > 0 ? it->model->exact : it->model->formula);
    put_space(out, it->space);
    if (it->model == &models[MODEL_STARTED]) {
        output_print(out, ", B = %.6g starts", it->starts);
    }
    if (it->model->alone) {
        output_print(out, ", N = %.6g node%s", it->nodes, it->nodes == 1 ? "" : "s");
    }
    if (it->model->of_nodes) {
        output_text(out, "\n");
    } else if (it->count > 0) {
        output_print(out, ", n = %.6g IDs\n", it->count);
    } else if (it->tick == 0) {
        output_print(out, ", m = %.6g ID%s, T = 1\n", each, each == 1 ? "" : "s");
    } else {
        output_print(out, ", m = %.6g ID%s per tick, T = %.6g tick%s\n", each, each == 1 ? "" : "s",
                     ticks, ticks == 1 ? "" : "s");
    }
}

static void put_load(output *out, const chances *it) {
    char duration[DURATION_SIZE];
    output_print(out, "%s", it->scheme.name[0] != '\0' ? it->scheme.name : "the layout");
    if (it->count > 0) {
        output_print(out, ", %.6g IDs%s", it->count, it->tick > 0 ? " in one tick" : "");
    } else if (it->rate > 0) {
        output_print(out, ", %.6g IDs per second for %s", it->rate,
                     duration_text(duration, it->seconds));
    }
    if (it->nodes > 1) {
        output_print(out, " by %.6g nodes", it->nodes);
    }
}

static void put_human(output *out, const chances *it) {
    char text[64];
    double odds = odds_at(it, amount_of(it));
    put_load(out, it);
    if (it->model->none == NULL) {
        output_print(out, ": odds 0\n  why: %s\n", it->model->why);
    } else if (it->model->alone && it->nodes == 1) {
        output_print(out, ": odds 0 with one node\n  why: %s\n", it->model->why);
    } else {
        output_print(out, ": odds %.6g", odds);
        if (odds > 0 && odds < 0.01) {
            output_print(out, ", 1 in %.3g", 1 / odds);
        }
        output_print(out, "\n  why: %s\n", it->model->why);
        put_formula(out, it);
        output_print(out, "  odds of 1e-6 %s", reach_text(text, it, 1e-6));
        output_print(out, ", of one half %s\n", reach_text(text, it, 0.5));
    }
    if (it->most > 0 && it->tick > 0) {
        output_print(out, "  a node issues at most %.6g IDs per tick, %.6g per second%s\n",
                     it->most, it->most / it->tick,
                     waits(it) ? ": this rate needs more nodes or more bits" : "");
    }
}

/* What JSON has no number for is null. */
static json_t *real(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static void put_json(output *out, const chances *it) {
    bool counted = it->count > 0;
    const char *unit = it->model->of_nodes ? "nodes" : counted ? "ids" : "s";
    json_line(out, json_pack("{s:s, s:s, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:b}",
                             "scheme", it->scheme.name, "model", it->model->name, "odds",
                             real(odds_at(it, amount_of(it))), "why", it->model->why, "formula",
                             counted ? it->model->exact : it->model->formula, "space_bits",
                             real(it->model->none == NULL ? INFINITY : maths_log2(it->space)),
                             "tick_s", real(it->tick > 0 ? it->tick : INFINITY), "nodes",
                             real(it->nodes), "reach_1e-6", real(reach(it, 1e-6)), "reach_half",
                             real(reach(it, 0.5)), "reach_unit", unit, "node_most_per_s",
                             real(it->most > 0 && it->tick > 0 ? it->most / it->tick : INFINITY),
                             "waits", (int)waits(it)));
}

/* ---- the subcommand ------------------------------------------------------------------------ */

/* Keys are fields, or change the layout. */
static int check_keys(session *s, const firn_scheme *scheme) {
    for (size_t i = s->plain_count; i < s->operand_count; i++) {
        const char *word = s->operands[i];
        bool known =
            operand_is(word, "epoch") || operand_is(word, "bits") || operand_is(word, "digits");
        known = known || (operand_is(word, "node") && shares_digits(s, scheme));
        for (uint32_t j = 0; j < scheme->slice_count && !known; j++) {
            known = operand_is(word, scheme->slices[j].name);
        }
        if (!known) {
            return fail_usage(s, "%s has no field '%.60s': see firn schemes %s", scheme->name, word,
                              scheme->name);
        }
    }
    return STATUS_DONE;
}

/* Numbered nodes have to fit. */
static int check_nodes(session *s, const chances *it) {
    double most =
        space_of(s, &it->scheme, FIRN_ROLE_NODE) * space_of(s, &it->scheme, FIRN_ROLE_ADDRESS);
    firn_error error;
    if (it->model != &models[MODEL_RESERVED] || it->scheme.node_rule != FIRN_NODE_REQUIRED ||
        it->nodes <= most) {
        return STATUS_DONE;
    }
    set_error(&error, FIRN_ERANGE,
              "%.0f nodes are too many for %s, which has %.0f: use fewer nodes, or set bits=",
              it->nodes, it->scheme.name, most);
    return fail(s, &error);
}

static int read_load(session *s, chances *it) {
    uint64_t nodes = 1;
    int64_t count = 0;
    int status = amount_rate(s, 0, &it->rate);
    status = status == STATUS_DONE ? amount_duration(s, 31557600, &it->seconds) : status;
    status = status == STATUS_DONE
                 ? amount_number(s, OPTION_NODES, 1, 1, UINT64_C(1000000000000), &nodes)
                 : status;
    status = status == STATUS_DONE ? command_count(s, 0, &count) : status;
    if (status == STATUS_DONE && s->option[OPTION_COUNT] != NULL &&
        (s->option[OPTION_RATE] != NULL || count < 1)) {
        return fail_usage(s, count < 1 ? "-n 0 is out of range: use 1 or more"
                                       : "-n and --rate cannot be combined: use one");
    }
    it->nodes = (double)nodes;
    it->count = (double)count;
    return status;
}

int run_odds(session *s) {
    static chances it;
    int status = operands_split(s, 1, 1, 1, "a SCHEME");
    status = status == STATUS_DONE ? operand_scheme(s, &it.scheme) : status;
    status = status == STATUS_DONE ? check_keys(s, &it.scheme) : status;
    status = status == STATUS_DONE ? read_load(s, &it) : status;
    if (status != STATUS_DONE) {
        return status;
    }
    bool digest = space_of(s, &it.scheme, FIRN_ROLE_DIGEST) > 1;
    if (it.scheme.read_only && !digest) {
        return fail_usage(s, "firn does not issue %s, it only reads it: choose another scheme",
                          it.scheme.name);
    }
    it.model = &models[model_of(s, &it)];
    it.tick = it.scheme.tick_ns / 1e9;
    it.most = most_of(s, &it.scheme);
    if (it.model->none != NULL && !it.model->of_nodes && it.rate == 0 && it.count == 0) {
        return fail_usage(s, "the odds of %s depend on the number of IDs: add --rate N or -n COUNT",
                          it.scheme.name);
    }
    status = check_nodes(s, &it);
    if (status != STATUS_DONE) {
        return status;
    }
    if (s->option[OPTION_JSON] != NULL) {
        put_json(&s->out, &it);
    } else {
        put_human(&s->out, &it);
    }
    return STATUS_DONE;
}
