/* SPDX-License-Identifier: MIT */
/* `firn choose`: asks what choose.h of common/ needs to know, at the terminal or as options, and
 * writes its answer for people. Decides nothing. */
#include "choose.h"
#include "choose_object.h"
#include "describe.h"
#include "join.h"
#include "numbers.h"
#include "shared/color.h"
#include "shared/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 256 };

/* ---- answers --------------------------------------------------------------------------------- */

static const int options[CHOOSE_QUESTIONS] = {
#define AMOUNT(id, name, assumed, least, most, text) [CHOOSE_##id] = OPTION_##id,
#define CHOICE(id, name, words, text)                [CHOOSE_##id] = OPTION_##id,
#include "choose.def"
};

static int read_options(session *s, choose_answers *answers) {
    for (int i = 0; i < CHOOSE_QUESTIONS; i++) {
        firn_error error;
        char lead[40];
        const char *value = s->option[options[i]];
        snprintf(lead, sizeof lead, "--%s ", option_names[options[i]].name);
        if (value != NULL && choose_answer(answers, i, lead, value, &error) != FIRN_OK) {
            return fail(s, &error);
        }
    }
    return STATUS_DONE;
}

/* The question that is asked with another, or -1: "200 2000" is a rate and its peak, "4 no" is
 * nodes without a store. */
static int second_of(int question) {
    return question == CHOOSE_RATE ? CHOOSE_PEAK : question == CHOOSE_NODES ? CHOOSE_REACH : -1;
}

static bool take_line(choose_answers *answers, int question, char *line) {
    firn_error error = {0};
    const int second = second_of(question);
    char *more = second >= 0 ? strchr(line, ' ') : NULL;
    if (more != NULL) {
        *more++ = '\0';
        more += strspn(more, " ");
    }
    if (line[0] == '\0' ||
        choose_answer(answers, question, "the answer ", line, &error) == FIRN_OK) {
        if (more == NULL || *more == '\0' ||
            choose_answer(answers, second, "the second word ", more, &error) == FIRN_OK) {
            return true;
        }
    }
    fprintf(stderr, "  %s\n", error.text);
    return false;
}

/* Asks until the answer is one, or empty. False: the input has ended. */
static bool ask_one(choose_answers *answers, int question) {
    const choose_text *text = &choose_texts[question];
    char line[LINE], words[CHOOSE_VALUE_SIZE];
    do {
        if (question == CHOOSE_RATE) {
            fprintf(stderr, "%s A second number is the peak. [100 1000] ", text->question);
        } else if (question == CHOOSE_NODES) {
            fprintf(stderr, "%s Add `no` if they cannot reach a store. [1] ", text->question);
        } else if (text->words == NULL) {
            fprintf(stderr, "%s [%s] ", text->question, text->assumed);
        } else {
            fprintf(stderr, "%s\n  %s%s [%.*s] ", text->question, text->list ? "some of " : "",
                    choose_words(words, text), (int)strcspn(text->words, "|"), text->words);
        }
        if (fgets(line, sizeof line, stdin) == NULL) {
            return false;
        }
        line[strcspn(line, "\n")] = '\0';
    } while (!take_line(answers, question, line));
    return true;
}

static void ask_all(choose_answers *answers) {
    bool open = true;
    fprintf(stderr, "Press Enter for the answer in brackets.\n");
    for (int i = 0; i < CHOOSE_QUESTIONS && open; i++) {
        if ((answers->given & 1u << i) == 0 && i != CHOOSE_PEAK && i != CHOOSE_REACH) {
            open = ask_one(answers, i);
        }
    }
    fprintf(stderr, "\n");
}

/* ---- the report ------------------------------------------------------------------------------ */

static void put(session *s, const char *label, const char *text) {
    char lead[64];
    snprintf(lead, sizeof lead, "  %-10s", label);
    output_wrap(&s->out, lead, 12, text);
}

/* "rate 100, peak 1000, ...": given or assumed. */
static void put_answers(session *s, const choose_answers *answers, bool given, const char *label) {
    char text[512] = "", value[CHOOSE_VALUE_SIZE];
    for (int i = 0; i < CHOOSE_QUESTIONS; i++) {
        if (((answers->given & 1u << i) != 0) == given) {
            text_join(text, sizeof text, "; ", "%s %s", choose_texts[i].name,
                      choose_value(value, answers, i));
        }
    }
    if (text[0] != '\0') {
        output_wrap(&s->out, label, 9, text);
    }
}

static void put_figures(session *s, const choose_candidate *candidate) {
    static const char *const labels[CHOOSE_FIGURES] = {"written", "size", "reads"};
    char line[2 * CHOOSE_WORDS + 32], text[CHOOSE_WORDS], place[CHOOSE_WORDS];
    const choose_figure *last = NULL;
    for (int i = 0; i < CHOOSE_FIGURES; i++) {
        if (candidate->figure[i] != NULL) {
            last = candidate->figure[i];
            choose_figure_text(text, last);
            snprintf(line, sizeof line, "%s", text);
            if (candidate->times[i] > 0 && candidate->scheme != NULL) {
                snprintf(line, sizeof line, "%s, %.2f times the integers of %s", text,
                         candidate->times[i], choose_figure_engine(last));
            }
            put(s, labels[i], line);
        }
    }
    snprintf(line, sizeof line, "%s: %s", CHOOSE_STUDY,
             last != NULL ? choose_figure_place(place, last)
                          : "no figure; not measured with this column");
    put(s, "from", line);
}

static void put_odds(session *s, const choose_candidate *candidate, const choose_answers *answers) {
    char text[3 * CHOOSE_WORDS], year[NUMBER_SIZE], ten[NUMBER_SIZE];
    if (candidate->model == NULL) {
        put(s, "collision", "none: a store reserves each ID");
    } else if (candidate->model->alone && answers->amount[CHOOSE_NODES] == 1 &&
               !candidate->model->of_nodes) {
        put(s, "collision", "none: one process alone never repeats an ID");
    } else {
        snprintf(text, sizeof text, "odds %s in a year, %s in ten: %s",
                 number_text(year, candidate->odds_1y), number_text(ten, candidate->odds_10y),
                 candidate->model->formula);
        put(s, "collision", text);
    }
}

/* When the IDs run out. */
static void put_end(session *s, const choose_candidate *candidate, const choose_answers *answers) {
    char text[CHOOSE_WORDS], number[NUMBER_SIZE];
    if (candidate->scheme == NULL) {
        snprintf(text, sizeof text, "after about %s integers",
                 number_text(number, ldexp(1, choose_integer_bits(answers))));
    } else if (candidate->scheme->keyed) {
        snprintf(text, sizeof text, "after 10^%d numbers", choose_digits(answers));
    } else {
        snprintf(text, sizeof text, "%s", candidate->end[0] != '\0' ? candidate->end : "never");
    }
    put(s, "ends", text);
}

static void put_fit(session *s, size_t rank, const choose_candidate *candidate,
                    const choose_answers *answers) {
    char text[512], sorts[DESCRIBE_SIZE], capacity[NUMBER_SIZE], nodes[NUMBER_SIZE];
    const firn_scheme *scheme = candidate->scheme;
    if (scheme != NULL) {
        snprintf(text, sizeof text, "%u bits, text %s, sorts: %s", scheme->bits,
                 describe_text(scheme), describe_sorts(sorts, scheme));
    } else {
        snprintf(text, sizeof text,
                 "integers 1, 2, 3: of firn, or of the database's own serial column");
    }
    output_print(&s->out, "%s%zu. %s%s: %s\n", color_bold(s), rank, candidate->name, color_plain(s),
                 text);
    put(s, "wins", candidate->wins);
    if (candidate->built_in[0] != '\0') {
        put(s, "built in", candidate->built_in);
    }
    put_figures(s, candidate);
    if (candidate->capacity > 0 && candidate->most_nodes > 0) {
        snprintf(text, sizeof text, "%s IDs per second and node, %s nodes",
                 number_text(capacity, candidate->capacity),
                 number_text(nodes, candidate->most_nodes));
        put(s, "limits", text);
    }
    put_odds(s, candidate, answers);
    put_end(s, candidate, answers);
    if (candidate->column[0] != '\0') {
        put(s, "column", candidate->column);
    }
    for (size_t i = 0; i < candidate->cautions; i++) {
        put(s, "caution", candidate->caution[i]);
    }
    if (candidate->sql[0] != '\0') {
        output_print(&s->out, "  %-10s%s\n", "sql", candidate->sql);
    }
    if (candidate->model == NULL) {
        put(s, "store",
            answers->amount[CHOOSE_NODES] > 1
                ? "one that all nodes reach: add --store URL, or set FIRN_STORE"
                : "none to set up: a SQLite file, unless FIRN_STORE is set");
        const char *outage = candidate->scheme != NULL ? describe_outage(candidate->scheme) : NULL;
        if (answers->amount[CHOOSE_NODES] > 1 && outage != NULL) {
            put(s, "outage", outage);
        }
    }
    output_print(&s->out, "  %-10s%s%s%s\n            %s\n\n", "run", candidate->prepare,
                 candidate->prepare[0] != '\0' ? "\n            " : "", candidate->command,
                 candidate->check);
}

/* The names of all that were refused for the same reason, on one line. */
static void put_refused(session *s, const choose_result *result) {
    for (size_t i = result->fit; i < result->count; i++) {
        const choose_candidate *candidate = &result->candidates[i];
        char names[1024] = "";
        bool seen = false;
        for (size_t j = result->fit; j < i && !seen; j++) {
            seen = strcmp(result->candidates[j].why, candidate->why) == 0;
        }
        for (size_t j = i; j < result->count && !seen; j++) {
            if (strcmp(result->candidates[j].why, candidate->why) == 0) {
                text_join(names, sizeof names, ", ", "%s", result->candidates[j].name);
            }
        }
        if (!seen) {
            char line[sizeof names + CHOOSE_WORDS + 2];
            snprintf(line, sizeof line, "%s: %s", candidate->why, names);
            output_wrap(&s->out, "  ", 4, line);
        }
    }
}

static void put_others(session *s, const choose_result *result, size_t shown) {
    char names[1024] = "";
    for (size_t i = shown; i < result->fit; i++) {
        text_join(names, sizeof names, ", ", "%s", result->candidates[i].name);
    }
    if (names[0] != '\0') {
        output_wrap(&s->out, "Also possible: ", 4, names);
    }
}

static int put_none(session *s, const choose_result *result) {
    char text[512] = "";
    for (int i = 0; i < CHOOSE_QUESTIONS; i++) {
        if (result->without[i] != NULL) {
            text_join(text, sizeof text, ", or ", "--%s (then %s)", option_names[options[i]].name,
                      result->without[i]);
        }
    }
    output_print(&s->out, "No scheme fits%s%s.\n", result->conflict[0] != '\0' ? ": " : "",
                 result->conflict);
    if (text[0] != '\0') {
        output_wrap(&s->out, "Change one answer: ", 4, text);
    }
    output_text(&s->out, "\nRefused:\n");
    put_refused(s, result);
    return STATUS_NO;
}

static int put_result(session *s, const choose_result *result, const choose_answers *answers,
                      size_t shown) {
    put_answers(s, answers, true, "Given:   ");
    put_answers(s, answers, false, "Assumed: ");
    output_text(&s->out, "\n");
    if (result->fit == 0) {
        return put_none(s, result);
    }
    for (size_t i = 0; i < result->fit && (i < shown || s->option[OPTION_ALL] != NULL); i++) {
        put_fit(s, i + 1, &result->candidates[i], answers);
    }
    if (s->option[OPTION_ALL] != NULL) {
        output_text(&s->out, result->fit < result->count ? "Refused:\n" : "");
        put_refused(s, result);
        return STATUS_DONE;
    }
    if (s->option[OPTION_COUNT] == NULL) {
        put_others(s, result, shown);
    }
    output_text(&s->out, "All schemes, and why others do not fit: add --all.\n");
    return STATUS_DONE;
}

int run_choose(session *s) {
    static choose_result result; /* static for its size */
    choose_answers answers = {0};
    firn_error error;
    if (s->operand_count > 0) {
        return fail_usage(
            s, "'%s' is one argument too many: choose takes options only, such as --rate 200",
            s->operands[0]);
    }
    int64_t count;
    int status = command_count(s, 3, &count);
    status = status == STATUS_DONE ? read_options(s, &answers) : status;
    if (status != STATUS_DONE) {
        return status;
    }
    bool json = s->option[OPTION_JSON] != NULL;
    if (!json && answers.given == 0 && isatty(STDIN_FILENO) == 1) {
        ask_all(&answers);
    }
    if (choose_assume(&answers, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    firn_time now = {(int64_t)time(NULL), 0};
    choose(&result, &answers, &now);
    if (json) {
        const size_t most = s->option[OPTION_COUNT] != NULL ? (size_t)count : CHOOSE_CANDIDATES;
        json_line(&s->out, choose_object(&result, &answers, most));
        return result.fit > 0 ? STATUS_DONE : STATUS_NO;
    }
    return put_result(s, &result, &answers, (size_t)count);
}
