/* SPDX-License-Identifier: MIT */
/* `firn series`: dated numbers of a series, each written only when the store has granted its
 * counter; peek and show look, advance and prune are for operators, check reads. Knows no template: what a
 * number is, the library knows. */
#include "series_day.h"
#include "shared/amounts.h"
#include "shared/interrupt.h"
#include "shared/json.h"
#include "shared/lines.h"
#include "shared/operands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 4096, KEYS_SIZE = 512 };

enum { TAKE, PEEK, SHOW, ADVANCE, PRUNE, CHECK, VERBS };

static const char *const verb_names[VERBS] = {"", "peek", "show", "advance", "prune", "check"};

/* The request. */
typedef struct series_wish {
    int verb;
    const char *name;
    int64_t count, least;
    firn_time at, before;
    firn_series *series;
} series_wish;

static const firn_time *time_wished(const session *s, const series_wish *wished) {
    return s->option[OPTION_AT] != NULL ? &wished->at : NULL;
}

static void put_number(session *s, const series_wish *wished, const char *text,
                       const char *counter) {
    if (s->option[OPTION_JSON] != NULL) {
        json_line(&s->out, json_pack("{s:o, s:s, s:s*}", "series", json_foreign(wished->name),
                                     "number", text, "counter", counter));
    } else {
        output_print(&s->out, "%s\n", counter != NULL ? counter : text);
    }
}

static int issue_all(session *s, const series_wish *wished) {
    firn_error error;
    int64_t done = 0;
    const size_t most = wished->count < NUMBERS ? (size_t)wished->count : NUMBERS;
    char(*texts)[FIRN_SERIES_SIZE] = calloc(most > 0 ? most : 1, sizeof *texts);
    int code = texts != NULL ? FIRN_OK : out_of_memory(&error);
    while (code == FIRN_OK && done < wished->count && !output_dead(&s->out) &&
           interrupt_signal() == 0) {
        const int64_t left = wished->count - done;
        const size_t n = left < NUMBERS ? (size_t)left : NUMBERS;
        code = firn_series_next(wished->series, time_wished(s, wished), texts, n, &error);
        for (size_t i = 0; code == FIRN_OK && i < n && !output_dead(&s->out); i++) {
            put_number(s, wished, texts[i], NULL);
        }
        done += (int64_t)n;
    }
    free(texts);
    if (code != FIRN_OK) {
        return fail(s, &error);
    }
    return interrupt_signal() != 0 ? STATUS_SIGNAL + interrupt_signal() : STATUS_DONE;
}

static int peek(session *s, const series_wish *wished) {
    char text[FIRN_SERIES_SIZE];
    firn_error error;
    if (firn_series_peek(wished->series, time_wished(s, wished), text, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    put_number(s, wished, text, NULL);
    return STATUS_DONE;
}

static void show(session *s, const series_wish *wished) {
    const char *keys = firn_series_definition(wished->series);
    if (s->option[OPTION_JSON] != NULL) {
        json_line(&s->out, json_pack("{s:o, s:s}", "series", json_foreign(wished->name),
                                     "definition", keys));
    } else {
        output_print(&s->out, "%s\n", keys);
    }
}

static int advance(session *s, const series_wish *wished) {
    firn_error error;
    int code = firn_series_advance(wished->series, time_wished(s, wished), wished->least, &error);
    return code == FIRN_OK ? peek(s, wished) : fail(s, &error);
}

static int prune(session *s, const series_wish *wished) {
    char question[200];
    firn_error error;
    snprintf(question, sizeof question,
             "Close every period of series %.63s before the one of %.40s, for ever?", wished->name,
             s->option[OPTION_BEFORE]);
    int status = confirm(s, question, "add --yes to close the periods");
    if (status == STATUS_DONE &&
        firn_series_prune(wished->series, &wished->before, &error) != FIRN_OK) {
        status = fail(s, &error);
    }
    return status;
}

static int check_number(session *s, void *context, const char *text, size_t length,
                        firn_error *error) {
    const series_wish *wished = context;
    int64_t counter;
    char digits[24], number[FIRN_SERIES_SIZE];
    int code = firn_series_read(wished->series, &counter, text, length, error);
    if (code == FIRN_OK) {
        snprintf(digits, sizeof digits, "%" PRId64, counter);
        snprintf(number, sizeof number, "%.*s", (int)length, text);
        put_number(s, wished, number, digits);
    }
    return code;
}

static int read_local_day(session *s, const series_wish *wished, int option, firn_time *time) {
    firn_error error;
    const char *text = s->option[option];
    return text == NULL ||
                   series_day_read(time, wished->series, text, strlen(text), &error) == FIRN_OK
               ? STATUS_DONE
               : fail(s, &error);
}

static int carry_out(session *s, series_wish *wished) {
    int status = read_local_day(s, wished, OPTION_AT, &wished->at);
    status =
        status == STATUS_DONE ? read_local_day(s, wished, OPTION_BEFORE, &wished->before) : status;
    if (status != STATUS_DONE) {
        return status;
    }
    char **numbers = s->operands + 2;
    switch (wished->verb) {
    case PEEK:
        return peek(s, wished);
    case SHOW:
        show(s, wished);
        return STATUS_DONE;
    case ADVANCE:
        return advance(s, wished);
    case PRUNE:
        return prune(s, wished);
    case CHECK:
        return lines_do(s, s->plain_count > 2 ? numbers : NULL, s->plain_count - 2, check_number,
                        wished);
    default:
        return issue_all(s, wished);
    }
}

/* Options that another verb takes are refused. */
static int check_options(session *s, const series_wish *wished) {
    static const struct {
        int option, verbs; /* a bit for each verb */
        const char *words;
    } rules[] = {
        {OPTION_COUNT, 1 << TAKE, "-n applies to new numbers: remove it"},
        {OPTION_AT, 1 << TAKE | 1 << PEEK | 1 << ADVANCE,
         "--at applies to new numbers, peek and advance: remove it"},
        {OPTION_MIN, 1 << ADVANCE, "--min applies to advance: firn series advance NAME --min N"},
        {OPTION_BEFORE, 1 << PRUNE,
         "--before applies to prune: firn series prune NAME --before TIME"}};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (s->option[rules[i].option] != NULL && (rules[i].verbs & 1 << wished->verb) == 0) {
            return fail_usage(s, "%s", rules[i].words);
        }
    }
    if (wished->verb == ADVANCE && s->option[OPTION_MIN] == NULL) {
        return fail_usage(s, "advance needs --min N: the counter then continues at N or later");
    }
    if (wished->verb == PRUNE && s->option[OPTION_BEFORE] == NULL) {
        return fail_usage(
            s, "prune needs --before TIME: every period before the one of TIME is then closed");
    }
    return STATUS_DONE;
}

static int read_wish(session *s, series_wish *wished) {
    uint64_t least = 0;
    wished->name = s->operands[0];
    for (int i = PEEK; i < VERBS; i++) {
        if (strcmp(s->operands[0], verb_names[i]) == 0) {
            wished->verb = i;
            wished->name = s->operands[1];
        }
    }
    if (wished->verb != TAKE && s->plain_count < 2) {
        return fail_usage(s, "%s needs a NAME: firn series %s NAME", verb_names[wished->verb],
                          verb_names[wished->verb]);
    }
    if (s->plain_count > 2 - (size_t)(wished->verb == TAKE) && wished->verb != CHECK) {
        return fail_usage(s,
                          "'%.60s' is one word too many: use NAME, peek NAME, show NAME, advance "
                          "NAME, prune NAME or check NAME NUMBER...",
                          s->operands[s->plain_count - 1]);
    }
    int status = check_options(s, wished);
    status = status == STATUS_DONE ? command_count(s, 1, &wished->count) : status;
    status = status == STATUS_DONE ? amount_time(s, OPTION_AT, &wished->at) : status;
    status = status == STATUS_DONE ? amount_time(s, OPTION_BEFORE, &wished->before) : status;
    status = status == STATUS_DONE
                 ? amount_number(s, OPTION_MIN, 0, 0, (uint64_t)FIRN_SLOT_MAX, &least)
                 : status;
    wished->least = (int64_t)least;
    return status;
}

int run_series(session *s) {
    char keys[KEYS_SIZE];
    firn_store *store;
    firn_error error;
    series_wish wished = {.verb = TAKE};
    int status = operands_split(s, 1, 1, SIZE_MAX, "a NAME");
    status = status == STATUS_DONE ? read_wish(s, &wished) : status;
    status = status == STATUS_DONE
                 ? operands_join(s, (const char *const[]){NULL}, 0, keys, KEYS_SIZE)
                 : status;
    if (status != STATUS_DONE) {
        return status;
    }
    interrupt_catch(&s->out);
    status = operand_store(s, &store, operand_store_url(s), wished.verb != TAKE);
    if (status != STATUS_DONE) {
        return status;
    }
    int code = firn_series_open(&wished.series, wished.name, keys, store, NULL, &error);
    if (argument_code(code, &error) == FIRN_OK) {
        status = carry_out(s, &wished);
        code = firn_series_close(wished.series, &error);
        status = code == FIRN_OK ? status : worse(status, fail(s, &error));
    } else {
        status = fail(s, &error);
    }
    firn_store_close(store);
    return status;
}
