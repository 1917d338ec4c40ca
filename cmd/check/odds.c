/* SPDX-License-Identifier: MIT */
/* `firn odds`: how likely two IDs of a scheme collide, with the formula. The models are in odds.h of
 * common/. */
#include "odds.h"

#include "maths.h"
#include "shared/amounts.h"
#include "shared/json.h"
#include "shared/operands.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the report ---------------------------------------------------------------------------- */

static char *reach_text(char text[64], const odds *it, double goal) {
    char duration[DURATION_SIZE];
    double amount = odds_reach(it, goal);
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

static void put_space(output *out, double space) {
    double bits = maths_log2(space);
    if (bits == maths_floor(bits)) {
        output_print(out, "S = 2^%.0f", bits);
    } else {
        output_print(out, "S = %.6g", space);
    }
}

/* The letters of the formula. */
static void put_formula(output *out, const odds *it) {
    double each, ticks = odds_ticks(it, it->seconds, &each);
    output_print(out, "  formula: %s\n  with ",
                 it->count > 0 ? it->model->exact : it->model->formula);
    put_space(out, it->space);
    if (odds_is(it, ODDS_STARTED)) {
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

static void put_load(output *out, const odds *it) {
    char duration[DURATION_SIZE];
    output_print(out, "%s", it->scheme->name[0] != '\0' ? it->scheme->name : "the layout");
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

static void put_human(output *out, const odds *it) {
    char text[64];
    double value = odds_now(it);
    put_load(out, it);
    if (it->model->none == NULL) {
        output_print(out, ": odds 0\n  why: %s\n", it->model->why);
    } else if (it->model->alone && it->nodes == 1) {
        output_print(out, ": odds 0 with one node\n  why: %s\n", it->model->why);
    } else {
        output_print(out, ": odds %.6g%s", value, value > 0.999999 ? " (certain)" : "");
        if (value > 0 && value < 0.01) {
            output_print(out, ", 1 in %.3g", 1 / value);
        }
        output_print(out, "\n  why: %s\n", it->model->why);
        put_formula(out, it);
        output_print(out, "  odds of 1e-6 %s", reach_text(text, it, 1e-6));
        output_print(out, ", of one half %s\n", reach_text(text, it, 0.5));
    }
    if (it->most > 0 && it->tick > 0) {
        output_print(out, "  a node issues at most %.6g IDs per tick, %.6g per second%s\n",
                     it->most, it->most / it->tick,
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
