/* SPDX-License-Identifier: MIT */
/* The answers of choose.h: reading, assuming, writing them; and the figures. */
#include "choose.h"

#include "errors.h"
#include "join.h"
#include "numbers.h"

#include <stdio.h>
#include <string.h>

const choose_text choose_texts[CHOOSE_QUESTIONS] = {
#define AMOUNT(id, name, assumed, least, most, text)                                               \
    [CHOOSE_##id] = {name, text, NULL, assumed, least, most, false},
#define CHOICE(id, name, words, text) [CHOOSE_##id] = {name, text, words, NULL, 0, 0, false},
#define LIST(id, name, words, text)   [CHOOSE_##id] = {name, text, words, NULL, 0, 0, true},
#include "choose.def"
};

static const choose_figure figures[] = {
#define FIGURE(engine, key, storage, ratio, writers, metric, unit, median, low, high, n)           \
    {engine, key, storage, metric, unit, ratio, writers, n, median, low, high},
#include "figures.def"
#undef FIGURE
    {NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0},
};

const choose_figure *choose_figure_at(size_t i) {
    return i + 1 < sizeof figures / sizeof figures[0] ? &figures[i] : NULL;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* 200, 0.5, 200k, 1.5M, 1e6/s; 0: not a number. */
static double read_amount(const char *text) {
    const char *rest;
    double number = number_amount(text, "kM", &rest);
    return *rest == '\0' || strcmp(rest, "/s") == 0 ? number : 0;
}

/* The index of a word of a|b|c; -1: none. Also by another name. */
static int find_word(const char *words, const char *word, size_t length) {
    static const char *const others[][2] = {
        {"postgresql", "postgres"}, {"sqlite3", "sqlite"}, {"js", "javascript"}, {"url", "urls"},
        {"none", "nothing"},
    };
    int index = 0;
    for (const char *position = words; *position != '\0'; index++) {
        size_t size = strcspn(position, "|");
        if (size == length && strncmp(position, word, length) == 0) {
            return index;
        }
        position += size + (position[size] == '|');
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strlen(others[i][0]) == length && strncmp(others[i][0], word, length) == 0) {
            return find_word(words, others[i][1], strlen(others[i][1]));
        }
    }
    return -1;
}

char *choose_words(char text[CHOOSE_VALUE_SIZE], const choose_text *question) {
    size_t length = 0;
    for (const char *position = question->words;
         position != NULL && *position != '\0' && length < CHOOSE_VALUE_SIZE - 3; position++) {
        text[length++] = *position == '|' ? ',' : *position;
        if (*position == '|') {
            text[length++] = ' ';
        }
    }
    text[length] = '\0';
    return text;
}

static int refuse_word(const choose_text *text, const char *lead, const char *value,
                       firn_error *error) {
    char words[CHOOSE_VALUE_SIZE];
    return set_error(error, FIRN_EUSAGE, "%s%.40s is not valid: use %s%s", lead, value,
                     text->list ? "some of " : "one of ", choose_words(words, text));
}

static int answer_words(choose_answers *answers, int question, const char *lead, const char *value,
                        firn_error *error) {
    const choose_text *text = &choose_texts[question];
    uint32_t found = 0;
    for (const char *position = value;; position++) {
        size_t length = text->list ? strcspn(position, ",") : strlen(position);
        int index = find_word(text->words, position, length);
        if (index < 0) {
            return refuse_word(text, lead, value, error);
        }
        found = text->list ? found | 1u << index : (uint32_t)index;
        position += length;
        if (*position == '\0') {
            break;
        }
    }
    answers->word[question] = found;
    answers->given |= 1u << question;
    return FIRN_OK;
}

int choose_answer(choose_answers *answers, int question, const char *lead, const char *value,
                  firn_error *error) {
    const choose_text *text = &choose_texts[question];
    if (text->words != NULL) {
        return answer_words(answers, question, lead, value, error);
    }
    double amount = read_amount(value);
    bool whole =
        question != CHOOSE_NODES || (amount <= text->most && amount == (double)(int64_t)amount);
    if (!(amount >= text->least && amount <= text->most) || !whole) {
        return set_error(
            error, FIRN_EUSAGE, "%s%.40s is not valid: use a %s", lead, value,
            question == CHOOSE_NODES
                ? "whole number from 1 to 1000000000000, such as 40"
                : "number from 1e-9 to 1e15, such as 200, 0.5, 50k (50 thousand) or 2M (2 "
                  "million)");
    }
    answers->amount[question] = amount;
    answers->given |= 1u << question;
    return FIRN_OK;
}

int choose_assume(choose_answers *answers, firn_error *error) {
    for (int i = 0; i < CHOOSE_QUESTIONS; i++) {
        if ((answers->given & 1u << i) == 0 && choose_texts[i].list) {
            answers->word[i] = 1;
        }
    }
    double *amount = answers->amount, peak = amount[CHOOSE_PEAK];
    if ((answers->given & 1u << CHOOSE_RATE) == 0) {
        amount[CHOOSE_RATE] = 100;
    }
    if ((answers->given & 1u << CHOOSE_PEAK) == 0) {
        amount[CHOOSE_PEAK] = peak = 10 * amount[CHOOSE_RATE];
    }
    if ((answers->given & 1u << CHOOSE_NODES) == 0) {
        amount[CHOOSE_NODES] = 1;
    }
    if (peak < amount[CHOOSE_RATE]) {
        return set_error(error, FIRN_EUSAGE,
                         "the peak of %.15g IDs per second is below the rate of %.15g: "
                         "give a peak of at least the rate",
                         peak, amount[CHOOSE_RATE]);
    }
    return FIRN_OK;
}

char *choose_amount(char text[CHOOSE_VALUE_SIZE], double amount) {
    const bool whole = amount < 1e18 && amount == (double)(int64_t)amount;
    snprintf(text, CHOOSE_VALUE_SIZE, whole ? "%.0f" : "%.15g", amount);
    return text;
}

char *choose_value(char text[CHOOSE_VALUE_SIZE], const choose_answers *answers, int question) {
    const choose_text *about = &choose_texts[question];
    uint32_t index = 0;
    if (about->words == NULL) {
        return choose_amount(text, answers->amount[question]);
    }
    text[0] = '\0';
    for (const char *position = about->words; *position != '\0'; index++) {
        size_t size = strcspn(position, "|");
        uint32_t value = answers->word[question];
        if (about->list ? (value & 1u << index) != 0 : value == index) {
            text_join(text, CHOOSE_VALUE_SIZE, ",", "%.*s", (int)size, position);
        }
        position += size + (position[size] == '|');
    }
    return text;
}

/* ---- figures --------------------------------------------------------------------------------- */

char *choose_figure_text(char text[CHOOSE_WORDS], const choose_figure *figure) {
    char median[NUMBER_SIZE], low[NUMBER_SIZE], high[NUMBER_SIZE];
    const char *unit = strcmp(figure->unit, "1/row") == 0 ? "pages" : figure->unit;
    number_text(median, figure->median);
    number_text(low, figure->low);
    number_text(high, figure->high);
    const bool single = strcmp(low, high) == 0;
    if (figure->n >= CHOOSE_ENOUGH && single) {
        snprintf(text, CHOOSE_WORDS, "%s %s", median, unit);
    } else if (figure->n >= CHOOSE_ENOUGH) {
        snprintf(text, CHOOSE_WORDS, "%s %s (%s to %s)", median, unit, low, high);
    } else if (single) {
        snprintf(text, CHOOSE_WORDS, "%s %s (%d run%s)", median, unit, figure->n,
                 figure->n == 1 ? "" : "s");
    } else {
        snprintf(text, CHOOSE_WORDS, "%s to %s %s (%d runs)", low, high, unit, figure->n);
    }
    return text;
}

const char *choose_figure_engine(const choose_figure *figure) {
    static const char *const titles[][2] = {
        {"postgres", "PostgreSQL"}, {"mariadb", "MariaDB"}, {"sqlite", "SQLite"}};
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++) {
        if (strcmp(titles[i][0], figure->engine) == 0) {
            return titles[i][1];
        }
    }
    return figure->engine;
}

char *choose_figure_place(char text[CHOOSE_WORDS], const choose_figure *figure) {
    char ratio[NUMBER_SIZE];
    snprintf(text, CHOOSE_WORDS, "%s %s %s, data %s times the buffer, %d writer%s", figure->engine,
             figure->key, figure->storage, number_text(ratio, figure->ratio), figure->writers,
             figure->writers == 1 ? "" : "s");
    return text;
}
