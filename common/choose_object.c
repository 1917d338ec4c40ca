/* SPDX-License-Identifier: MIT */
#include "choose_object.h"

#include "describe.h"
#include "object.h"

#include <string.h>

static json_t *words_array(const char *words) {
    json_t *array = json_array();
    for (const char *position = words; array != NULL && position != NULL && *position != '\0';) {
        size_t size = strcspn(position, "|");
        array = json_with(array, json_stringn(position, size));
        position += size + (position[size] == '|');
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

static json_t *cautions_array(const choose_candidate *candidate) {
    json_t *array = json_array();
    for (size_t i = 0; i < candidate->cautions && array != NULL; i++) {
        array = json_with(array, json_string(candidate->caution[i]));
    }
    return array;
}

static json_t *figures_array(const choose_candidate *candidate) {
    json_t *array = json_array();
    for (int i = 0; i < CHOOSE_FIGURES && array != NULL; i++) {
        const choose_figure *figure = candidate->figure[i];
        char text[CHOOSE_WORDS], place[CHOOSE_WORDS];
        if (figure != NULL) {
            array = json_with(
                array,
                json_pack(
                    "{s:s, s:s, s:s, s:f, s:f, s:f, s:i, s:s, s:s, s:s, s:f, s:i, s:s, s:s, s:o}",
                    "metric", figure->metric, "text", choose_figure_text(text, figure), "unit",
                    figure->unit, "median", figure->median, "low", figure->low, "high",
                    figure->high, "n", figure->n, "engine", figure->engine, "key", figure->key,
                    "storage", figure->storage, "ratio", figure->ratio, "writers", figure->writers,
                    "place", choose_figure_place(place, figure), "file", CHOOSE_STUDY, "times",
                    candidate->times[i] > 0 ? json_real(candidate->times[i]) : json_null()));
        }
    }
    return array;
}

static json_t *commands_array(const choose_candidate *candidate) {
    return candidate->prepare[0] != '\0'
               ? json_pack("[s,s,s]", candidate->prepare, candidate->command, candidate->check)
               : json_pack("[s,s]", candidate->command, candidate->check);
}

/* Limits that do not exist are null. */
static json_t *limit(double value) {
    return value > 0 ? json_real(value) : json_null();
}

static json_t *odds_object(const choose_candidate *candidate) {
    if (candidate->model == NULL) {
        return json_pack("{s:s, s:f, s:f}", "model", "reserved", "year", 0.0, "ten_years", 0.0);
    }
    return json_pack("{s:s, s:f, s:f, s:s, s:s}", "model", candidate->model->name, "year",
                     candidate->odds_1y, "ten_years", candidate->odds_10y, "formula",
                     candidate->model->formula, "why", candidate->model->why);
}

static const char *const decisions[CHOOSE_DECISIONS] = {"integers", "free", "numbered", "keyed"};

static json_t *fit_object(const choose_candidate *candidate) {
    char sorts[DESCRIBE_SIZE] = "yes";
    const firn_scheme *scheme = candidate->scheme;
    return json_pack(
        "{s:s, s:i, s:s, s:s, s:s, s:s?, s:o, s:o, s:o, s:s?, s:s?, s:o, s:o, s:o, s:s, "
        "s:s, s:s?}",
        "name", candidate->name, "bits", scheme != NULL ? (int)scheme->bits : 64, "text",
        scheme != NULL ? describe_text(scheme) : "dec", "sorts",
        scheme != NULL ? describe_sorts(sorts, scheme) : sorts, "reserved",
        describe_rule(scheme != NULL ? scheme->node_rule : FIRN_NODE_REQUIRED), "end",
        candidate->end[0] != '\0' ? candidate->end : NULL, "node_most_per_s",
        limit(candidate->capacity), "max_nodes", limit(candidate->most_nodes), "odds",
        odds_object(candidate), "column", candidate->column[0] != '\0' ? candidate->column : NULL,
        "sql", candidate->sql[0] != '\0' ? candidate->sql : NULL, "commands",
        commands_array(candidate), "cautions", cautions_array(candidate), "figures",
        figures_array(candidate), "decision", decisions[candidate->decision], "wins",
        candidate->wins, "built_in", candidate->built_in[0] != '\0' ? candidate->built_in : NULL);
}

json_t *choose_object(const choose_result *result, const choose_answers *answers, size_t most) {
    json_t *fit = json_array(), *refused = json_array(), *without = json_array();
    for (size_t i = 0; i < result->count && fit != NULL && refused != NULL; i++) {
        const choose_candidate *candidate = &result->candidates[i];
        if (i < result->fit) {
            fit = i < most ? json_with(fit, fit_object(candidate)) : fit;
            continue;
        }
        const char *owner = candidate->refused_by < CHOOSE_QUESTIONS
                                ? choose_texts[candidate->refused_by].name
                                : NULL;
        refused = json_with(refused, json_pack("{s:s, s:s?, s:s}", "name", candidate->name,
                                               "answer", owner, "why", candidate->why));
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
