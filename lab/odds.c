/* SPDX-License-Identifier: MIT */
/* `firn odds`: how likely two IDs of a scheme collide, with the formula. The models are in odds.h
 * of common/. */
#include "odds.h"

#include "describe.h"
#include "numbers.h"
#include "shared/amounts.h"
#include "shared/json.h"
#include "shared/operands.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the report ---------------------------------------------------------------------------- */

/* "lead 4,096 IDs", in the plural unless it is 1. */
static void put_amount(output *out, const char *lead, double amount, const char *unit) {
    char number[NUMBER_SIZE];
    output_print(out, "%s%s %s%s", lead, number_text(number, amount), unit, amount == 1 ? "" : "s");
}

static void put_reach(output *out, const char *lead, const odds *plan, double goal) {
    char duration[DURATION_SIZE];
    double amount = odds_reach(plan, goal);
    output_text(out, lead);
    if (isinf(amount)) {
        output_text(out, " never");
    } else if (plan->model->of_nodes || plan->count > 0) {
        put_amount(out, " with ", amount, plan->model->of_nodes ? "node" : "ID");
    } else {
        output_print(out, " after %s", duration_text(duration, amount));
    }
}

/* The letters of the formula. */
static void put_formula(output *out, const odds *plan) {
    char number[NUMBER_SIZE];
    double each, ticks = odds_ticks(plan, plan->seconds, &each), bits = log2(plan->space);
    const bool power = bits == floor(bits);
    output_print(out, "  formula: %s\n  with S = %s%s",
                 plan->count > 0 ? plan->model->exact : plan->model->formula, power ? "2^" : "",
                 number_text(number, power ? bits : plan->space));
    if (odds_is(plan, ODDS_STARTED)) {
        put_amount(out, ", B = ", plan->starts, "start");
    }
    if (plan->model->alone) {
        put_amount(out, ", N = ", plan->nodes, "node");
    }
    if (plan->model->of_nodes) {
        output_text(out, "\n");
        return;
    }
    if (plan->count > 0) {
        put_amount(out, ", n = ", plan->count, "ID");
    } else {
        put_amount(out, ", m = ", each, "ID");
        if (plan->tick == 0) {
            output_text(out, ", T = 1");
        } else {
            put_amount(out, " per tick, T = ", ticks, "tick");
        }
    }
    output_text(out, "\n");
}

static void put_load(output *out, const odds *plan) {
    char duration[DURATION_SIZE];
    output_text(out, describe_name(plan->scheme));
    if (plan->count > 0) {
        put_amount(out, ", ", plan->count, "ID");
        output_text(out, plan->tick > 0 ? " in one tick" : "");
    } else if (plan->rate > 0) {
        put_amount(out, ", ", plan->rate, "ID");
        output_print(out, " per second for %s", duration_text(duration, plan->seconds));
    }
    if (plan->nodes > 1) {
        put_amount(out, " by ", plan->nodes, "node");
    }
}

/* Odds that three digits would round to 1 are not certain. */
static void put_odds(output *out, double value) {
    char number[NUMBER_SIZE];
    if (value > 0.999) {
        output_text(out, value > 0.999999 ? ": odds 1 (certain)" : ": odds above 0.999");
        return;
    }
    output_print(out, ": odds %s", number_text(number, value));
    if (value > 0 && value < 0.01) {
        output_print(out, ", 1 in %s", number_text(number, 1 / value));
    }
}

static void put_human(output *out, const odds *plan) {
    put_load(out, plan);
    if (plan->model->none == NULL) {
        output_print(out, ": odds 0\n  why: %s\n", plan->model->why);
    } else if (plan->model->alone && plan->nodes == 1) {
        output_print(out, ": odds 0 with one node\n  why: %s\n", plan->model->why);
    } else {
        put_odds(out, odds_now(plan));
        output_print(out, "\n  why: %s\n", plan->model->why);
        put_formula(out, plan);
        put_reach(out, "  odds of 1e-6", plan, 1e-6);
        put_reach(out, ", of one half", plan, 0.5);
        output_text(out, "\n");
    }
    if (plan->most > 0 && plan->tick > 0) {
        put_amount(out, "  a node issues at most ", plan->most, "ID");
        put_amount(out, " per tick, ", plan->most / plan->tick, "ID");
        output_print(out, " per second%s\n",
                     odds_waits(plan) ? ": this rate needs more nodes or more bits" : "");
    }
}

static void put_json(output *out, const odds *plan) {
    bool counted = plan->count > 0;
    const char *unit = plan->model->of_nodes ? "nodes" : counted ? "ids" : "s";
    json_line(
        out,
        json_pack(
            "{s:s, s:s, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:b}", "scheme",
            plan->scheme->name, "model", plan->model->name, "odds", json_finite(odds_now(plan)),
            "why", plan->model->why, "formula", counted ? plan->model->exact : plan->model->formula,
            "space_bits", json_finite(plan->model->none == NULL ? INFINITY : log2(plan->space)),
            "tick_s", json_finite(plan->tick > 0 ? plan->tick : INFINITY), "nodes",
            json_finite(plan->nodes), "reach_1e-6", json_finite(odds_reach(plan, 1e-6)),
            "reach_half", json_finite(odds_reach(plan, 0.5)), "reach_unit", unit, "node_most_per_s",
            json_finite(plan->most > 0 && plan->tick > 0 ? plan->most / plan->tick : INFINITY),
            "waits", (int)odds_waits(plan)));
}

/* ---- the subcommand ------------------------------------------------------------------------ */

/* Keys are fields, or change the layout. */
static int check_keys(session *s, const firn_scheme *scheme) {
    for (size_t i = s->plain_count; i < s->operand_count; i++) {
        const char *word = s->operands[i];
        bool known =
            operand_is(word, "epoch") || operand_is(word, "bits") || operand_is(word, "digits");
        known = known || (operand_is(word, "node") && odds_shares_digits(scheme));
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

/* Numbered nodes must fit. */
static int check_nodes(session *s, const odds *plan, uint32_t given) {
    double most = odds_space(plan->scheme, FIRN_ROLE_NODE, given) *
                  odds_space(plan->scheme, FIRN_ROLE_ADDRESS, given);
    if (!odds_is(plan, ODDS_RESERVED) || plan->scheme->node_rule != FIRN_NODE_REQUIRED ||
        plan->nodes <= most) {
        return STATUS_DONE;
    }
    return fail_as(s, FIRN_ERANGE,
                   "%.0f nodes are too many for %s, which has %.0f: use fewer nodes, or set bits=",
                   plan->nodes, plan->scheme->name, most);
}

static int read_load(session *s, odds *plan) {
    uint64_t nodes = 1;
    int status = amount_rate(s, 0, &plan->rate);
    status = status == STATUS_DONE ? amount_duration(s, 31557600, &plan->seconds) : status;
    status = status == STATUS_DONE
                 ? amount_number(s, OPTION_NODES, 1, 1, UINT64_C(1000000000000), &nodes)
                 : status;
    status = status == STATUS_DONE ? amount_count(s, &plan->count) : status;
    if (status == STATUS_DONE && s->option[OPTION_COUNT] != NULL &&
        s->option[OPTION_RATE] != NULL) {
        return fail_usage(s, "-n and --rate cannot be combined: use one");
    }
    plan->nodes = (double)nodes;
    return status;
}

/* The fields that keys give: bit i for the field whose first slice is i. */
static uint32_t given_of(const session *s, const firn_scheme *scheme) {
    uint32_t given = odds_shares_digits(scheme) && operand_value(s, "node") != NULL ? ODDS_NODE : 0;
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        if (operand_value(s, scheme->slices[i].name) != NULL) {
            given |= 1u << i;
        }
    }
    return given;
}

int run_odds(session *s) {
    static odds plan;
    static firn_scheme scheme;
    int status = operands_split(s, 1, 1, 1, "a SCHEME");
    status = status == STATUS_DONE ? operand_scheme(s, &scheme) : status;
    status = status == STATUS_DONE ? check_keys(s, &scheme) : status;
    status = status == STATUS_DONE ? read_load(s, &plan) : status;
    if (status != STATUS_DONE) {
        return status;
    }
    uint32_t given = given_of(s, &scheme);
    if (scheme.read_only && odds_space(&scheme, FIRN_ROLE_DIGEST, given) == 1) {
        return fail_usage(s, "firn does not issue %s, it only reads it: choose another scheme",
                          scheme.name);
    }
    odds_begin(&plan, &scheme, given);
    if (plan.model->none != NULL && !plan.model->of_nodes && plan.rate == 0 && plan.count == 0) {
        return fail_usage(s, "the odds of %s depend on the number of IDs: add --rate N or -n COUNT",
                          scheme.name);
    }
    status = check_nodes(s, &plan, given);
    if (status != STATUS_DONE) {
        return status;
    }
    if (s->option[OPTION_JSON] != NULL) {
        put_json(&s->out, &plan);
    } else {
        put_human(&s->out, &plan);
    }
    return STATUS_DONE;
}
