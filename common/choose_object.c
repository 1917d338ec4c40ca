/* SPDX-License-Identifier: MIT */
#include "choose_object.h"

#include "describe.h"
#include "object.h"

#include <string.h>

static json_t *words_array(const char *words) {
    json_t *array = json_array();
    for (const char *at = words; array != NULL && at != NULL && *at != '\0';) {
        size_t size = strcspn(at, "|");
        array = json_with(array, json_stringn(at, size));
        at += size + (at[size] == '|');
    }
    return array;
}

static json_t *questions_array(const choose_answers *answers) {
    json_t *array = json_array();
    for (int i = 0; i < CHOOSE_QUESTIONS && array != NULL; i++) {
        char value[CHOOSE_VALUE_SIZE];
        const choose_text *text = &choose_texts[i];
        array = json_with(array, json_pack("{s:s, s:s, s:o, s:b, s:s, s:b}", "name", text->name,
                                           "question", text->question, "words",
                                           words_array(text->words), "several", (int)text->list,
                                           "answer", choose_value(value, answers, i), "assumed",
                                           (int)((answers->given & 1u << i) == 0)));
    }
    return array;
}

static json_t *cautions_array(const choose_candidate *it) {
    json_t *array = json_array();
    for (size_t i = 0; i < it->cautions && array != NULL; i++) {
        array = json_with(array, json_string(it->caution[i]));
    }
    return array;
}

static json_t *figures_array(const choose_candidate *it) {
    json_t *array = json_array();
    for (int i = 0; i < CHOOSE_FIGURES && array != NULL; i++) {
        const choose_figure *at = it->figure[i];
        char text[CHOOSE_WORDS], place[CHOOSE_WORDS];
        if (at != NULL) {
            array = json_with(
                array,
                json_pack(
                    "{s:s, s:s, s:s, s:f, s:f, s:f, s:i, s:s, s:s, s:s, s:f, s:i, s:s, s:s, s:o}",
                    "metric", at->metric, "text", choose_figure_text(text, at), "unit", at->unit,
                    "median", at->median, "low", at->low, "high", at->high, "n", at->n, "engine",
                    at->engine, "key", at->key, "storage", at->storage, "ratio", at->ratio,
                    "writers", at->writers, "place", choose_figure_place(place, at), "file",
                    CHOOSE_STUDY, "times",
                    it->times[i] > 0 ? json_real(it->times[i]) : json_null()));
        }
    }
    return array;
}

static json_t *commands_array(const choose_candidate *it) {
    return it->prepare[0] != '\0' ? json_pack("[s,s,s]", it->prepare, it->command, it->check)
                                  : json_pack("[s,s]", it->command, it->check);
}

/* Limits that do not exist are null. */
static json_t *limit(double value) {
    return value > 0 ? json_real(value) : json_null();
}

static json_t *odds_object(const choose_candidate *it) {
    if (it->model == NULL) {
        return json_pack("{s:s, s:f, s:f}", "model", "reserved", "year", 0.0, "ten_years", 0.0);
    }
    return json_pack("{s:s, s:f, s:f, s:s, s:s}", "model", it->model->name, "year", it->odds_1y,
                     "ten_years", it->odds_10y, "formula", it->model->formula, "why",
                     it->model->why);
}

static const char *const decisions[CHOOSE_DECISIONS] = {"integers", "free", "numbered", "keyed"};

static json_t *fit_object(const choose_candidate *it) {
    char sorts[DESCRIBE_SIZE] = "yes";
    const firn_scheme *scheme = it->scheme;
    return json_pack(
        "{s:s, s:i, s:s, s:s, s:s, s:s?, s:o, s:o, s:o, s:s?, s:s?, s:o, s:o, s:o, s:s, "
        "s:s, s:s?}",
        "name", it->name, "bits", scheme != NULL ? (int)scheme->bits : 64, "text",
        scheme != NULL ? describe_text(scheme) : "dec", "sorts",
        scheme != NULL ? describe_sorts(sorts, scheme) : sorts, "reserved",
        describe_rule(scheme != NULL ? scheme->node_rule : FIRN_NODE_REQUIRED), "end",
        it->end[0] != '\0' ? it->end : NULL, "node_most_per_s", limit(it->capacity), "max_nodes",
        limit(it->most_nodes), "odds", odds_object(it), "column",
        it->column[0] != '\0' ? it->column : NULL, "sql", it->sql[0] != '\0' ? it->sql : NULL,
        "commands", commands_array(it), "cautions", cautions_array(it), "figures",
        figures_array(it), "decision", decisions[it->decision], "wins", it->wins, "built_in",
        it->built_in[0] != '\0' ? it->built_in : NULL);
}

json_t *choose_object(const choose_result *result, const choose_answers *answers, size_t most) {
    json_t *fit = json_array(), *refused = json_array(), *without = json_array();
    for (size_t i = 0; i < result->count && fit != NULL && refused != NULL; i++) {
        const choose_candidate *it = &result->at[i];
        if (i < result->fit) {
            fit = i < most ? json_with(fit, fit_object(it)) : fit;
            continue;
        }
        const char *by =
            it->refused_by < CHOOSE_QUESTIONS ? choose_texts[it->refused_by].name : NULL;
        refused = json_with(
            refused, json_pack("{s:s, s:s?, s:s}", "name", it->name, "answer", by, "why", it->why));
    }
    for (int i = 0; i < CHOOSE_QUESTIONS && without != NULL; i++) {
        if (result->without[i] != NULL) {
            without = json_with(without, json_pack("{s:s, s:s}", "answer", choose_texts[i].name,
                                                   "name", result->without[i]));
        }
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:s?}", "questions", questions_array(answers), "fit",
                     fit, "refused", refused, "without", without, "conflict",
                     result->conflict[0] != '\0' ? result->conflict : NULL);
}
