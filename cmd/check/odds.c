/* SPDX-License-Identifier: MIT */
/* `firn odds`: how likely two IDs of a scheme collide, with the formula. The models are in odds.h of
 * common/. */
#include "odds.h"

#include "describe.h"
#include "maths.h"
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

static void put_reach(output *out, const char *lead, const odds *it, double goal) {
    char duration[DURATION_SIZE];
    double amount = odds_reach(it, goal);
    output_text(out, lead);
    if (isinf(amount)) {
        output_text(out, " never");
    } else if (it->model->of_nodes || it->count > 0) {
        put_amount(out, " with ", amount, it->model->of_nodes ? "node" : "ID");
    } else {
        output_print(out, " after %s", duration_text(duration, amount));
    }
}

/* The letters of the formula. */
static void put_formula(output *out, const odds *it) {
    char number[NUMBER_SIZE];
    double each, ticks = odds_ticks(it, it->seconds, &each), bits = maths_log2(it->space);
    const bool power = bits == maths_floor(bits);
    output_print(out, "  formula: %s\n  with S = %s%s",
                 it->count > 0 ? it->model->exact : it->model->formula, power ? "2^" : "",
                 number_text(number, power ? bits : it->space));
    if (odds_is(it, ODDS_STARTED)) {
        put_amount(out, ", B = ", it->starts, "start");
    }
    if (it->model->alone) {
        put_amount(out, ", N = ", it->nodes, "node");
    }
    if (it->model->of_nodes) {
        output_text(out, "\n");
        return;
    }
    if (it->count > 0) {
        put_amount(out, ", n = ", it->count, "ID");
    } else {
        put_amount(out, ", m = ", each, "ID");
        if (it->tick == 0) {
            output_text(out, ", T = 1");
        } else {
            put_amount(out, " per tick, T = ", ticks, "tick");
        }
    }
    output_text(out, "\n");
}

static void put_load(output *out, const odds *it) {
    char duration[DURATION_SIZE];
    output_text(out, describe_name(it->scheme));
    if (it->count > 0) {
        put_amount(out, ", ", it->count, "ID");
        output_text(out, it->tick > 0 ? " in one tick" : "");
    } else if (it->rate > 0) {
        put_amount(out, ", ", it->rate, "ID");
        output_print(out, " per second for %s", duration_text(duration, it->seconds));
    }
    if (it->nodes > 1) {
        put_amount(out, " by ", it->nodes, "node");
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

static void put_human(output *out, const odds *it) {
    put_load(out, it);
    if (it->model->none == NULL) {
        output_print(out, ": odds 0\n  why: %s\n", it->model->why);
    } else if (it->model->alone && it->nodes == 1) {
        output_print(out, ": odds 0 with one node\n  why: %s\n", it->model->why);
    } else {
        put_odds(out, odds_now(it));
        output_print(out, "\n  why: %s\n", it->model->why);
        put_formula(out, it);
        put_reach(out, "  odds of 1e-6", it, 1e-6);
        put_reach(out, ", of one half", it, 0.5);
        output_text(out, "\n");
    }
    if (it->most > 0 && it->tick > 0) {
        put_amount(out, "  a node issues at most ", it->most, "ID");
        put_amount(out, " per tick, ", it->most / it->tick, "ID");
        output_print(out, " per second%s\n",
                     odds_waits(it) ? ": this rate needs more nodes or more bits" : "");
    }
}

static void put_json(output *out, const odds *it) {
    bool counted = it->count > 0;
    const char *unit = it->model->of_nodes ? "nodes" : counted ? "ids" : "s";
    json_line(out,
              json_pack("{s:s, s:s, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:b}",
                        "scheme", it->scheme->name, "model", it->model->name, "odds",
                        json_finite(odds_now(it)), "why", it->model->why, "formula",
                        counted ? it->model->exact : it->model->formula, "space_bits",
                        json_finite(it->model->none == NULL ? INFINITY : maths_log2(it->space)),
                        "tick_s", json_finite(it->tick > 0 ? it->tick : INFINITY), "nodes",
                        json_finite(it->nodes), "reach_1e-6", json_finite(odds_reach(it, 1e-6)),
                        "reach_half", json_finite(odds_reach(it, 0.5)), "reach_unit", unit,
                        "node_most_per_s",
                        json_finite(it->most > 0 && it->tick > 0 ? it->most / it->tick : INFINITY),
                        "waits", (int)odds_waits(it)));
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
static int check_nodes(session *s, const odds *it, uint32_t given) {
    double most = odds_space(it->scheme, FIRN_ROLE_NODE, given) *
                  odds_space(it->scheme, FIRN_ROLE_ADDRESS, given);
    if (!odds_is(it, ODDS_RESERVED) || it->scheme->node_rule != FIRN_NODE_REQUIRED ||
        it->nodes <= most) {
        return STATUS_DONE;
    }
    return fail_as(s, FIRN_ERANGE,
                   "%.0f nodes are too many for %s, which has %.0f: use fewer nodes, or set bits=",
                   it->nodes, it->scheme->name, most);
}

static int read_load(session *s, odds *it) {
    uint64_t nodes = 1;
    int status = amount_rate(s, 0, &it->rate);
    status = status == STATUS_DONE ? amount_duration(s, 31557600, &it->seconds) : status;
    status = status == STATUS_DONE
                 ? amount_number(s, OPTION_NODES, 1, 1, UINT64_C(1000000000000), &nodes)
                 : status;
    status = status == STATUS_DONE ? amount_count(s, &it->count) : status;
    if (status == STATUS_DONE && s->option[OPTION_COUNT] != NULL &&
        s->option[OPTION_RATE] != NULL) {
        return fail_usage(s, "-n and --rate cannot be combined: use one");
    }
    it->nodes = (double)nodes;
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
    static odds it;
    static firn_scheme scheme;
    int status = operands_split(s, 1, 1, 1, "a SCHEME");
    status = status == STATUS_DONE ? operand_scheme(s, &scheme) : status;
    status = status == STATUS_DONE ? check_keys(s, &scheme) : status;
    status = status == STATUS_DONE ? read_load(s, &it) : status;
    if (status != STATUS_DONE) {
        return status;
    }
    uint32_t given = given_of(s, &scheme);
    if (scheme.read_only && odds_space(&scheme, FIRN_ROLE_DIGEST, given) == 1) {
        return fail_usage(s, "firn does not issue %s, it only reads it: choose another scheme",
                          scheme.name);
    }
    odds_begin(&it, &scheme, given);
    if (it.model->none != NULL && !it.model->of_nodes && it.rate == 0 && it.count == 0) {
        return fail_usage(s, "the odds of %s depend on the number of IDs: add --rate N or -n COUNT",
                          scheme.name);
    }
    status = check_nodes(s, &it, given);
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
