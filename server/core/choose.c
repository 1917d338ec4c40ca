/* SPDX-License-Identifier: MIT */
/* CHOOSE: the scheme that fits a workload, as `firn choose --json` returns it. */
#include "choose.h"

#include "choose_object.h"
#include "errors.h"
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* The question that a parameter answers, or -1. */
static int question_of(word key) {
    for (int i = 0; i < CHOOSE_QUESTIONS; i++) {
        if (word_is(key, choose_texts[i].name)) {
            return i;
        }
    }
    return -1;
}

static int read_answers(choose_answers *answers, const server_request *request, firn_error *error) {
    const char *names[CHOOSE_QUESTIONS + 1] = {NULL};
    for (int i = 0; i < CHOOSE_QUESTIONS; i++) {
        names[i] = choose_texts[i].name;
    }
    for (size_t i = 0; i < request->pair_count; i++) {
        char value[CHOOSE_VALUE_SIZE], lead[32];
        int question = question_of(request->pairs[i].key);
        if (question < 0) {
            return refuse_key(request, request->pairs[i].key, "choose", names, error);
        }
        snprintf(lead, sizeof lead, "%s=", names[question]);
        if (!word_copy(request->pairs[i].value, value, sizeof value)) {
            return set_error(error, FIRN_EUSAGE,
                             "%s is too long or has a zero byte: use at most %zu characters",
                             names[question], sizeof value - 1);
        }
        int code = choose_answer(answers, question, lead, value, error);
        if (code != FIRN_OK) {
            return code;
        }
    }
    return choose_assume(answers, error);
}

int answer_choose(const server_request *request, server_reply *out, firn_error *error) {
    choose_answers answers = {0};
    int code = read_answers(&answers, request, error);
    if (code != FIRN_OK) {
        return code;
    }
    choose_result *result = malloc(sizeof *result);
    if (result == NULL) {
        return set_error(error, FIRN_EMEMORY, "out of memory for a reply");
    }
    firn_time now = {(int64_t)time(NULL), 0};
    choose(result, &answers, &now);
    json_t *object = choose_object(result, &answers, CHOOSE_CANDIDATES);
    free(result);
    return reply_json(object, out, error);
}
