/* SPDX-License-Identifier: MIT */
/* Which scheme fits a workload: `firn choose`, /v1/choose. The facts about a scheme come from the
 * list of schemes (widths, order, node, capacity, end) and from odds.h, what is fast and small from
 * the study (figures.def). Pure: no clock, no store, no allocation. */
#ifndef FIRN_CHOOSE_H
#define FIRN_CHOOSE_H

#include "odds.h"

#include <firn/firn.h>

enum choose_question {
#define AMOUNT(id, name, assumed, least, most, text) CHOOSE_##id,
#define CHOICE(id, name, words, text)                CHOOSE_##id,
#include "choose.def"
    CHOOSE_QUESTIONS
};
enum choose_width {
    CHOOSE_WIDTH_ANY,
    CHOOSE_WIDTH_53,
    CHOOSE_WIDTH_64,
    CHOOSE_WIDTH_128,
    CHOOSE_WIDTH_UUID
};
enum { CHOOSE_HIDE_TIME = 2, CHOOSE_HIDE_VOLUME = 4 }; /* bits of a list */
enum choose_spread { CHOOSE_ANYWHERE, CHOOSE_BY_HASH, CHOOSE_BY_MODULO, CHOOSE_BY_RANGE };
enum { CHOOSE_JAVASCRIPT = 2, CHOOSE_URLS = 4, CHOOSE_PEOPLE = 8 };
enum choose_database { CHOOSE_OTHER, CHOOSE_POSTGRES, CHOOSE_MARIADB, CHOOSE_MYSQL, CHOOSE_SQLITE };

typedef struct choose_text {
    const char *name, *question;
    const char *words;   /* a|b|c, the first is assumed; NULL: a number */
    const char *assumed; /* of a number */
    double least, most;
    bool list;
} choose_text;
extern const choose_text choose_texts[CHOOSE_QUESTIONS];

/* Zero: nothing is answered. */
typedef struct choose_answers {
    uint32_t given; /* bit: the question was answered */
    double amount[CHOOSE_QUESTIONS];
    uint32_t word[CHOOSE_QUESTIONS]; /* index of the word; of a list: a bit for each word */
} choose_answers;

/* FIRN_EUSAGE: `value` is not valid; the sentence begins with `lead` ("--rate "). */
int choose_answer(choose_answers *answers, int question, const char *lead, const char *value,
                  firn_error *error);
/* Fills in what is assumed for the questions that are not answered. FIRN_EUSAGE: peak below the
 * rate. */
int choose_assume(choose_answers *answers, firn_error *error);
enum { CHOOSE_VALUE_SIZE = 64 };
/* The words of a question: "a, b, c"; "" for a number. Returns `text`. */
char *choose_words(char text[CHOOSE_VALUE_SIZE], const choose_text *question);
/* The answer as choose_answer reads it; returns `text`. */
char *choose_value(char text[CHOOSE_VALUE_SIZE], const choose_answers *answers, int question);
/* A rate or a number of nodes, without an exponent if it is whole; returns `text`. */
char *choose_amount(char text[CHOOSE_VALUE_SIZE], double amount);

/* A figure of docs/study/summary.tsv. */
typedef struct choose_figure {
    const char *engine, *key, *storage, *metric, *unit;
    double ratio;             /* size of the data by the size of the buffer */
    int writers, n;           /* n: measurements */
    double median, low, high; /* of the 95 % interval */
} choose_figure;
enum { CHOOSE_ENOUGH = 3 }; /* measurements: with fewer there is no interval */
#define CHOOSE_STUDY "docs/study/summary.tsv"
/* The i-th figure; NULL after the last. */
const choose_figure *choose_figure_at(size_t i);

enum { CHOOSE_CAUTIONS = 4, CHOOSE_WORDS = 160, CHOOSE_CANDIDATES = 64, CHOOSE_FIGURES = 3 };

/* Answers of different kinds: each wins under another condition. The order among equals. */
enum choose_decision {
    CHOOSE_INTEGERS, /* one counter, of the database or of a store */
    CHOOSE_FREE,     /* random bits: no store */
    CHOOSE_NUMBERED, /* numbered nodes, which a store reserves */
    CHOOSE_KEYED,    /* integers of a store, encrypted */
    CHOOSE_DECISIONS
};

/* A scheme, or the integers of a segment. */
typedef struct choose_candidate {
    const firn_scheme *scheme; /* NULL: integers of a segment */
    const char *name;
    enum choose_decision decision;
    bool preferred;         /* before schemes with fewer cautions */
    int refused_by;         /* the question whose answer it does not fit; -1: it fits */
    char why[CHOOSE_WORDS]; /* of the refusal */
    size_t cautions;
    char caution[CHOOSE_CAUTIONS][CHOOSE_WORDS];
    double capacity;         /* IDs per second of one node; 0: no limit but the processor */
    double most_nodes;       /* 0: no limit */
    const odds_model *model; /* NULL: a store reserves each ID */
    double odds_1y, odds_10y;
    char end[FIRN_TIME_SIZE];    /* "": it does not end */
    const char *wins;            /* when its decision is the best */
    char built_in[CHOOSE_WORDS]; /* what the database has itself; or "" */
    char column[64];             /* "": the database is not known */
    char sql[CHOOSE_WORDS];      /* makes a table; "": the database is not known */
    char prepare[CHOOSE_WORDS];  /* makes the key of a scheme with one; or "" */
    char command[CHOOSE_WORDS],
        check[CHOOSE_WORDS]; /* issues IDs; repeats the odds, or shows the store */
    const choose_figure *figure[CHOOSE_FIGURES]; /* bytes written, size, pages read; or NULL */
    double times
        [CHOOSE_FIGURES]; /* the figure divided by the figure of the database's own integers; 0: unknown */
} choose_candidate;

typedef struct choose_result {
    size_t fit, count; /* the first `fit` of `count` fit, best first; then those that do not */
    choose_candidate candidates[CHOOSE_CANDIDATES];
    char conflict[CHOOSE_WORDS]; /* why nothing fits, if two answers exclude each other; or "" */
    const char *without[CHOOSE_QUESTIONS]; /* nothing fits: the best without this answer, or NULL */
} choose_result;

/* `answers` after choose_assume. A layout ends before or after `now`. */
void choose(choose_result *out, const choose_answers *answers, const firn_time *now);
/* How many bits the integers of a segment may have: 53 if they must be exact in JavaScript. */
int choose_integer_bits(const choose_answers *answers);
/* The digits of a scheme with a key: for people as few as last. */
int choose_digits(const choose_answers *answers);
/* "12,300 bytes/row (11,900 to 12,800)", "11,900 to 12,800 bytes/row (2 runs)" of too few
 * measurements, "497 bytes/row" if all are equal; and where it is: engine, storage, ratio, writers.
 * Returns `text`. */
char *choose_figure_text(char text[CHOOSE_WORDS], const choose_figure *figure);
char *choose_figure_place(char text[CHOOSE_WORDS], const choose_figure *figure);
/* PostgreSQL, MariaDB, SQLite. */
const char *choose_figure_engine(const choose_figure *figure);

#endif
