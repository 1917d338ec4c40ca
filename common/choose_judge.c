/* SPDX-License-Identifier: MIT */
/* Which schemes fit the answers of choose.h, and why others do not. Each rule looks at the layout
 * and the policies; only what a layout cannot show is a line of `opinions`. */
#include "choose.h"

#include "choose_rank.h"
#include "choose_text.h"
#include "describe.h"
#include "numbers.h"
#include "reading.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PEOPLE_WIDTH = 20 };            /* characters that people read out, at most */
static const double least_years = 10;  /* numbers must last */
static const double one_counter = 5e4; /* integers per second: more need several databases */
static const uint64_t near_zero = 100; /* starts: too few for many shards */
static const double many_shards = 64;
static const double odds_limit = 1e-3, odds_caution = 1e-6; /* over ten years */

/* ---- what a layout is ------------------------------------------------------------------------ */

/* Bits below the leading zeros that are constant. */
static uint32_t value_bits(const firn_scheme *scheme) {
    const firn_slice *first = &scheme->slices[0];
    bool zero = first->role == FIRN_ROLE_CONST && first->value == 0;
    return scheme->bits - (zero ? first->bits : 0);
}

/* Issued by a generator, without a name to hash. */
static bool is_issued(const firn_scheme *scheme) {
    return !scheme->read_only && scheme_index(scheme, FIRN_ROLE_DIGEST) < 0;
}

static bool is_number(const firn_scheme *scheme) {
    return scheme->form == FIRN_FORM_DEC || scheme->form == FIRN_FORM_UNSIGNED;
}

/* A sequence or counter that begins at the same place shows how many IDs were issued; one that
 * begins at random in at least half of its values does not. */
static bool shows_volume(const firn_scheme *scheme) {
    if (scheme_index(scheme, FIRN_ROLE_COUNTER) >= 0) {
        return true;
    }
    double values = odds_space(scheme, FIRN_ROLE_SEQUENCE, 0);
    bool random = scheme->start == FIRN_START_RANDOM && 2.0 * (double)scheme->start_below >= values;
    return values > 1 && !random;
}

/* ---- refusals -------------------------------------------------------------------------------- */

static bool refuse(choose_candidate *candidate, int question, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool refuse(choose_candidate *candidate, int question, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(candidate->why, sizeof candidate->why, format, arguments);
    va_end(arguments);
    candidate->refused_by = question;
    return true;
}

static void warn(choose_candidate *candidate, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void warn(choose_candidate *candidate, const char *format, ...) {
    va_list arguments;
    if (candidate->cautions < CHOOSE_CAUTIONS) {
        va_start(arguments, format);
        vsnprintf(candidate->caution[candidate->cautions++], CHOOSE_WORDS, format, arguments);
        va_end(arguments);
    }
}

static bool refuse_width(choose_candidate *candidate, const choose_answers *answers) {
    static const uint32_t most[] = {160, 53, 64, 128, 128};
    const uint32_t width = answers->word[CHOOSE_WIDTH];
    const firn_scheme *scheme = candidate->scheme;
    const uint32_t bits = value_bits(scheme);
    const bool number = is_number(scheme) && !scheme->keyed; /* leading zeros: text */
    if (width == CHOOSE_WIDTH_53 && (bits > 53 || !number)) {
        return refuse(candidate, CHOOSE_WIDTH, "an ID is above 2^53 or is text");
    }
    if (width == CHOOSE_WIDTH_UUID && scheme->form != FIRN_FORM_UUID) {
        return refuse(candidate, CHOOSE_WIDTH, "its IDs are not UUIDs");
    }
    if (scheme->bits > most[width] && width != CHOOSE_WIDTH_53) {
        return refuse(candidate, CHOOSE_WIDTH, "an ID has %" PRIu32 " bits", scheme->bits);
    }
    if ((answers->word[CHOOSE_READERS] & CHOOSE_JAVASCRIPT) != 0 && number && bits > 53) {
        return refuse(candidate, CHOOSE_READERS,
                      "a JavaScript number is exact to 2^53 only; as a string the ID works");
    }
    return false;
}

static bool refuse_order(choose_candidate *candidate, const choose_answers *answers) {
    char sorts[DESCRIBE_SIZE];
    if (answers->word[CHOOSE_SORT] == 0) {
        return false;
    }
    const int rule = candidate->scheme->sorts;
    if (rule == FIRN_SORTS_NO) {
        return refuse(candidate, CHOOSE_SORT, "its IDs do not sort by time");
    }
    if (rule == FIRN_SORTS_PER_NODE && answers->amount[CHOOSE_NODES] > 1) {
        return refuse(candidate, CHOOSE_SORT, "its IDs sort only within one node");
    }
    if (rule == FIRN_SORTS_BY_TICK && candidate->scheme->tick_ns >= 1000000000) {
        warn(candidate, "it sorts %s only: IDs of one second are in any order",
             describe_sorts(sorts, candidate->scheme));
    }
    return false;
}

static bool refuse_leak(choose_candidate *candidate, const choose_answers *answers) {
    const uint32_t hide = answers->word[CHOOSE_HIDE];
    if (candidate->scheme->keyed) {
        return false;
    }
    if ((hide & CHOOSE_HIDE_TIME) != 0 && candidate->scheme->tick_ns != 0) {
        return refuse(candidate, CHOOSE_HIDE, "an ID contains its time of issue");
    }
    if ((hide & CHOOSE_HIDE_VOLUME) != 0 && shows_volume(candidate->scheme)) {
        return refuse(candidate, CHOOSE_HIDE,
                      "its sequence or counter shows how many IDs were issued");
    }
    return false;
}

static bool refuse_load(choose_candidate *candidate, const choose_answers *answers) {
    const double nodes = answers->amount[CHOOSE_NODES], peak = answers->amount[CHOOSE_PEAK];
    char number[NUMBER_SIZE];
    if (candidate->scheme->keyed) {
        const int digits = choose_digits(answers);
        const double years = choose_years(pow(10, digits), answers);
        return years < least_years &&
               refuse(candidate, CHOOSE_RATE, "%d digits last %s years at this rate", digits,
                      number_text(number, years));
    }
    if (candidate->most_nodes > 0 && nodes > candidate->most_nodes) {
        return refuse(candidate, CHOOSE_NODES, "it has %s nodes",
                      number_text(number, candidate->most_nodes));
    }
    if (candidate->capacity > 0 && peak > candidate->capacity * nodes) {
        return refuse(candidate, CHOOSE_PEAK, "a node issues at most %s IDs per second",
                      number_text(number, candidate->capacity));
    }
    return false;
}

static bool refuse_range(choose_candidate *candidate, const firn_slice *lead) {
    const bool counts = lead->role == FIRN_ROLE_COUNTER || lead->role == FIRN_ROLE_SEQUENCE;
    if (lead->group == 0 && (lead->role == FIRN_ROLE_TIME || counts) && !candidate->scheme->keyed) {
        return refuse(candidate, CHOOSE_SPREAD,
                      "IDs of one moment are side by side: one shard gets them all");
    }
    const bool node = lead->role == FIRN_ROLE_NODE || lead->role == FIRN_ROLE_ADDRESS;
    return node &&
           refuse(candidate, CHOOSE_SPREAD,
                  "IDs of one node are side by side: some shards get none, others two nodes");
}

static bool refuse_spread(choose_candidate *candidate, const choose_answers *answers) {
    const firn_scheme *scheme = candidate->scheme;
    const firn_slice *lead = scheme->slices, *last = &scheme->slices[scheme->slice_count - 1];
    while (lead < last && lead->role == FIRN_ROLE_CONST) {
        lead++;
    }
    if (answers->word[CHOOSE_SPREAD] == CHOOSE_BY_RANGE) {
        return refuse_range(candidate, lead);
    }
    if (answers->word[CHOOSE_SPREAD] != CHOOSE_BY_MODULO || scheme->keyed) {
        return false;
    }
    bool fixed = last->role == FIRN_ROLE_NODE || last->role == FIRN_ROLE_ADDRESS ||
                 last->role == FIRN_ROLE_PROCESS || last->role == FIRN_ROLE_CONST ||
                 last->role == FIRN_ROLE_USER;
    return fixed && refuse(candidate, CHOOSE_SPREAD,
                           "its low bits are the node: ID mod n is the same for all of its IDs");
}

/* A sequence that starts at 0 in each tick, or near it, has few low bits at low rates. */
static bool starts_again(const choose_candidate *candidate, const choose_answers *answers) {
    const firn_scheme *scheme = candidate->scheme;
    return scheme != NULL && answers->word[CHOOSE_SPREAD] == CHOOSE_BY_MODULO &&
           scheme->slices[scheme->slice_count - 1].role == FIRN_ROLE_SEQUENCE &&
           (scheme->start == FIRN_START_ZERO ||
            (scheme->start == FIRN_START_RANDOM && scheme->start_below <= near_zero));
}

static bool refuse_reader(choose_candidate *candidate, const choose_answers *answers) {
    const size_t width = firn_form_width(candidate->scheme->form, candidate->scheme->bits);
    if (!choose_is_for_people(answers) || candidate->scheme->keyed) {
        return false;
    }
    if (width > PEOPLE_WIDTH) {
        return refuse(candidate, CHOOSE_READERS, "people must read %zu characters", width);
    }
    return choose_mixes_case(candidate->scheme) &&
           refuse(candidate, CHOOSE_READERS, "people mix up its capital and small letters");
}

static bool refuse_odds(choose_candidate *candidate, const choose_answers *answers) {
    odds chances = {.rate = answers->amount[CHOOSE_RATE], .nodes = answers->amount[CHOOSE_NODES]};
    char number[NUMBER_SIZE];
    odds_begin(&chances, candidate->scheme, 0);
    if (chances.model->none == NULL) {
        return false;
    }
    candidate->model = chances.model;
    chances.seconds = (double)CHOOSE_YEAR;
    candidate->odds_1y = odds_now(&chances);
    chances.seconds = 10.0 * (double)CHOOSE_YEAR;
    candidate->odds_10y = odds_now(&chances);
    if (candidate->odds_10y > odds_limit) {
        return refuse(candidate, CHOOSE_RATE, "two IDs collide with odds above %s in ten years",
                      number_text(number, odds_limit));
    }
    if (candidate->odds_10y > odds_caution) {
        warn(candidate, "two IDs collide with odds of %s in ten years",
             number_text(number, candidate->odds_10y));
    }
    return false;
}

/* In the column: as a signed integer an ID ends where it would be negative. */
static bool refuse_end(choose_candidate *candidate, const choose_answers *answers,
                       const firn_time *now) {
    firn_scheme stored = *candidate->scheme;
    firn_time end;
    if (choose_is_integer(candidate->scheme, answers)) {
        stored = describe_as(candidate->scheme, FIRN_FORM_DEC);
    }
    if (!firn_scheme_end(&stored, false, &end)) {
        return false;
    }
    describe_end(candidate->end, &stored, false);
    if (firn_time_cmp(&end, now) <= 0) {
        return refuse(candidate, CHOOSE_QUESTIONS, "its layout ended on %.10s", candidate->end);
    }
    if (end.sec < now->sec + CHOOSE_LONG_YEARS * CHOOSE_YEAR) {
        warn(candidate, "%s on %.10s",
             stored.form != candidate->scheme->form ? "as a signed integer it ends"
                                                    : "its layout ends",
             candidate->end);
    }
    return false;
}

/* Without a store nothing reserves nodes, times or integers. */
static bool refuse_store(choose_candidate *candidate, const choose_answers *answers,
                         const odds_model *model) {
    return answers->word[CHOOSE_REACH] == 1 && (candidate->scheme->keyed || model->none == NULL) &&
           refuse(candidate, CHOOSE_REACH, "its IDs are unique only if a store reserves them");
}

/* Advice of a scheme's owners for new systems. */
static const struct {
    const char *name, *text;
} opinions[] = {
    {"uuid1", "RFC 9562 advises uuid7 where no other uuid1 exists"},
    {"uuid6", "RFC 9562 advises uuid7 where no uuid1 exists"},
    {"uuid1-swapped", "it is what MySQL's UUID_TO_BIN(u, 1) stores; no other program reads it"},
    {"objectid-legacy", "MongoDB replaced it by objectid in 2018"},
};

static void add_opinions(choose_candidate *candidate) {
    for (size_t i = 0; i < sizeof opinions / sizeof opinions[0]; i++) {
        if (strcmp(candidate->name, opinions[i].name) == 0) {
            warn(candidate, "%s", opinions[i].text);
        }
    }
}

/* ---- candidates ------------------------------------------------------------------------------ */

static double least(double a, double b) {
    return a < b ? a : b;
}

static void judge_scheme(choose_candidate *candidate, const choose_answers *answers,
                         const firn_time *now) {
    odds about = {0};
    const firn_scheme *scheme = candidate->scheme;
    odds_begin(&about, scheme, 0);
    candidate->capacity = about.most > 0 ? about.most / about.tick : 0;
    if (scheme->node_rule == FIRN_NODE_REQUIRED) {
        candidate->most_nodes = least(
            odds_space(scheme, FIRN_ROLE_NODE, 0) * odds_space(scheme, FIRN_ROLE_ADDRESS, 0), 1e18);
    }
    candidate->preferred = scheme->keyed && choose_is_for_people(answers);
    bool refused = refuse_end(candidate, answers, now) ||
                   refuse_store(candidate, answers, about.model) ||
                   refuse_width(candidate, answers) || refuse_order(candidate, answers) ||
                   refuse_leak(candidate, answers) || refuse_spread(candidate, answers) ||
                   refuse_load(candidate, answers) || refuse_reader(candidate, answers) ||
                   refuse_odds(candidate, answers);
    if (!refused && scheme->form == FIRN_FORM_UNSIGNED && !scheme->keyed &&
        answers->word[CHOOSE_DATABASE] != 0) {
        warn(candidate, "it is an unsigned 64-bit integer, which few databases and languages have");
    }
    if (!refused) {
        add_opinions(candidate);
    }
    const double starts = odds_space(scheme, FIRN_ROLE_SEQUENCE, 0) / 4; /* of start=rolling */
    if (!refused && starts_again(candidate, answers) && starts < many_shards) {
        warn(candidate,
             "with start=rolling its sequence begins at %.0f numbers: use at most as many shards",
             starts);
    }
    if (!refused && scheme->keyed) {
        warn(candidate, "IDs depend on a secret key, which you must not lose");
        if ((answers->word[CHOOSE_READERS] & CHOOSE_PEOPLE) != 0) {
            warn(candidate, "for invoices use firn series, or series without gaps in the database");
        }
    }
}

/* The integers of a segment, or of the database's own serial column. */
static void judge_integers(choose_candidate *candidate, const choose_answers *answers) {
    const uint32_t hide = answers->word[CHOOSE_HIDE], spread = answers->word[CHOOSE_SPREAD];
    if (answers->word[CHOOSE_REACH] == 1) {
        refuse(candidate, CHOOSE_REACH, "its IDs are unique only if a store reserves them");
    } else if (answers->word[CHOOSE_WIDTH] == CHOOSE_WIDTH_UUID) {
        refuse(candidate, CHOOSE_WIDTH, "its IDs are not UUIDs");
    } else if ((hide & CHOOSE_HIDE_VOLUME) != 0) {
        refuse(candidate, CHOOSE_HIDE, "an integer of a series shows how many there are");
    } else if ((hide & CHOOSE_HIDE_TIME) != 0) {
        refuse(candidate, CHOOSE_HIDE,
               "the time of one integer shows about when its neighbours were issued");
    } else if (answers->word[CHOOSE_SORT] == 1 && answers->amount[CHOOSE_NODES] > 1 &&
               answers->word[CHOOSE_DATABASE] == CHOOSE_OTHER) {
        refuse(candidate, CHOOSE_SORT, "the blocks of two issuers overlap in time");
    } else if (spread == CHOOSE_BY_RANGE) {
        refuse(candidate, CHOOSE_SPREAD,
               "IDs of one moment are side by side: one shard gets them all");
    } else if ((answers->word[CHOOSE_READERS] & CHOOSE_URLS) != 0) {
        warn(candidate, "anybody can guess the next ID: check permissions");
    }
    if (candidate->refused_by < 0 && (spread == CHOOSE_BY_HASH || spread == CHOOSE_BY_MODULO)) {
        warn(candidate,
             "the shards must share one counter: a segment of firn, not the database's own");
    } else if (candidate->refused_by < 0 && answers->amount[CHOOSE_NODES] > 1 &&
               answers->amount[CHOOSE_PEAK] > one_counter) {
        warn(candidate, "one counter issues all: several databases cannot have it");
    }
    const int bits = choose_integer_bits(answers);
    const double years = choose_years(ldexp(1, bits), answers);
    char number[NUMBER_SIZE];
    number_text(number, years);
    if (candidate->refused_by < 0 && years < least_years) {
        refuse(candidate, CHOOSE_RATE, "%d bits last %s years at this rate", bits, number);
    } else if (candidate->refused_by < 0 && years < CHOOSE_LONG_YEARS) {
        warn(candidate, "%d bits last %s years at this rate", bits, number);
    }
}

static void judge(choose_candidate *candidate, const choose_answers *answers,
                  const firn_time *now) {
    candidate->refused_by = -1;
    if (candidate->scheme != NULL) {
        judge_scheme(candidate, answers, now);
    } else {
        judge_integers(candidate, answers);
    }
    if (candidate->refused_by < 0) {
        choose_equip(candidate, answers, starts_again(candidate, answers));
    }
}

static void judge_all(choose_result *out, const choose_answers *answers, const firn_time *now) {
    const firn_scheme *scheme;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; (scheme = firn_scheme_at(i)) != NULL; i++) {
        if (is_issued(scheme) && out->count < CHOOSE_CANDIDATES - 1) {
            out->candidates[out->count].scheme = scheme;
            out->candidates[out->count++].name = scheme->name;
        }
    }
    out->candidates[out->count++].name = "segment";
    for (size_t i = 0; i < out->count; i++) {
        judge(&out->candidates[i], answers, now);
    }
    choose_rank(out);
}

/* Two answers that no scheme can combine. */
static void find_conflict(char text[CHOOSE_WORDS], const choose_answers *answers) {
    const bool sorts = answers->word[CHOOSE_SORT] == 1;
    const char *found = "";
    if (sorts && (answers->word[CHOOSE_HIDE] & CHOOSE_HIDE_TIME) != 0) {
        found = "an ID that sorts by time shows the time";
    } else if (sorts && answers->word[CHOOSE_SPREAD] == CHOOSE_BY_RANGE) {
        found = "IDs that sort by time all go to the last shard of a key range";
    }
    snprintf(text, CHOOSE_WORDS, "%s", found);
}

void choose(choose_result *out, const choose_answers *answers, const firn_time *now) {
    static const uint32_t free_words[CHOOSE_QUESTIONS] = {[CHOOSE_HIDE] = 1, [CHOOSE_READERS] = 1};
    const char *without[CHOOSE_QUESTIONS] = {NULL};
    judge_all(out, answers, now);
    if (out->fit > 0) {
        return;
    }
    for (int i = 0; i < CHOOSE_QUESTIONS; i++) {
        choose_answers other = *answers;
        other.word[i] = free_words[i];
        if (i == CHOOSE_RATE || i == CHOOSE_PEAK) {
            other.amount[CHOOSE_RATE] = other.amount[CHOOSE_PEAK] = 1;
        } else if (i == CHOOSE_NODES) {
            other.amount[i] = 1;
        }
        judge_all(out, &other, now);
        without[i] = out->fit > 0 && i != CHOOSE_RATE ? out->candidates[0].name : NULL;
    }
    judge_all(out, answers, now);
    memcpy(out->without, without, sizeof without);
    find_conflict(out->conflict, answers);
}
