/* SPDX-License-Identifier: MIT */
/* Which schemes fit the answers of choose.h, and why others do not. Each rule looks at the layout and the
 * policies; only what a layout cannot show is a line of `opinions`. */
#include "choose.h"

#include "choose_rank.h"
#include "choose_text.h"
#include "describe.h"
#include "maths.h"
#include "numbers.h"
#include "reading.h"

#include <inttypes.h>
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

/* A sequence or counter that begins at the same place shows how many IDs were issued; one that begins
 * at random in at least half of its values does not. */
static bool shows_volume(const firn_scheme *scheme) {
    if (scheme_index(scheme, FIRN_ROLE_COUNTER) >= 0) {
        return true;
    }
    double values = odds_space(scheme, FIRN_ROLE_SEQUENCE, 0);
    bool random = scheme->start == FIRN_START_RANDOM && 2.0 * (double)scheme->start_below >= values;
    return values > 1 && !random;
}

/* ---- refusals -------------------------------------------------------------------------------- */

static bool refuse(choose_candidate *it, int question, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool refuse(choose_candidate *it, int question, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(it->why, sizeof it->why, format, arguments);
    va_end(arguments);
    it->refused_by = question;
    return true;
}

static void warn(choose_candidate *it, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void warn(choose_candidate *it, const char *format, ...) {
    va_list arguments;
    if (it->cautions < CHOOSE_CAUTIONS) {
        va_start(arguments, format);
        vsnprintf(it->caution[it->cautions++], CHOOSE_WORDS, format, arguments);
        va_end(arguments);
    }
}

static bool refuse_width(choose_candidate *it, const choose_answers *answers) {
    static const uint32_t most[] = {160, 53, 64, 128, 128};
    const uint32_t width = answers->word[CHOOSE_WIDTH];
    const firn_scheme *scheme = it->scheme;
    const uint32_t bits = value_bits(scheme);
    const bool number = is_number(scheme) && !scheme->keyed; /* leading zeros: text */
    if (width == CHOOSE_WIDTH_53 && (bits > 53 || !number)) {
        return refuse(it, CHOOSE_WIDTH, "an ID is above 2^53 or is text");
    }
    if (width == CHOOSE_WIDTH_UUID && scheme->form != FIRN_FORM_UUID) {
        return refuse(it, CHOOSE_WIDTH, "its IDs are not UUIDs");
    }
    if (scheme->bits > most[width] && width != CHOOSE_WIDTH_53) {
        return refuse(it, CHOOSE_WIDTH, "an ID has %" PRIu32 " bits", scheme->bits);
    }
    if ((answers->word[CHOOSE_READERS] & CHOOSE_JAVASCRIPT) != 0 && number && bits > 53) {
        return refuse(it, CHOOSE_READERS,
                      "a JavaScript number is exact to 2^53 only; as a string the ID works");
    }
    return false;
}

static bool refuse_order(choose_candidate *it, const choose_answers *answers) {
    char sorts[DESCRIBE_SIZE];
    if (answers->word[CHOOSE_SORT] == 0) {
        return false;
    }
    const int rule = it->scheme->sorts;
    if (rule == FIRN_SORTS_NO) {
        return refuse(it, CHOOSE_SORT, "its IDs do not sort by time");
    }
    if (rule == FIRN_SORTS_PER_NODE && answers->amount[CHOOSE_NODES] > 1) {
        return refuse(it, CHOOSE_SORT, "its IDs sort only within one node");
    }
    if (rule == FIRN_SORTS_BY_TICK && it->scheme->tick_ns >= 1000000000) {
        warn(it, "it sorts %s only: IDs of one second are in any order",
             describe_sorts(sorts, it->scheme));
    }
    return false;
}

static bool refuse_leak(choose_candidate *it, const choose_answers *answers) {
    const uint32_t hide = answers->word[CHOOSE_HIDE];
    if (it->scheme->keyed) {
        return false;
    }
    if ((hide & CHOOSE_HIDE_TIME) != 0 && it->scheme->tick_ns != 0) {
        return refuse(it, CHOOSE_HIDE, "an ID contains its time of issue");
    }
    if ((hide & CHOOSE_HIDE_VOLUME) != 0 && shows_volume(it->scheme)) {
        return refuse(it, CHOOSE_HIDE, "its sequence or counter shows how many IDs were issued");
    }
    return false;
}

static bool refuse_load(choose_candidate *it, const choose_answers *answers) {
    const double nodes = answers->amount[CHOOSE_NODES], peak = answers->amount[CHOOSE_PEAK];
    char number[NUMBER_SIZE];
    if (it->scheme->keyed) {
        const int digits = choose_digits(answers);
        const double years = choose_years(maths_pow(10, digits), answers);
        return years < least_years &&
               refuse(it, CHOOSE_RATE, "%d digits last %s years at this rate", digits,
                      number_text(number, years));
    }
    if (it->most_nodes > 0 && nodes > it->most_nodes) {
        return refuse(it, CHOOSE_NODES, "it has %s nodes", number_text(number, it->most_nodes));
    }
    if (it->capacity > 0 && peak > it->capacity * nodes) {
        return refuse(it, CHOOSE_PEAK, "a node issues at most %s IDs per second",
                      number_text(number, it->capacity));
    }
    return false;
}

static bool refuse_range(choose_candidate *it, const firn_slice *lead) {
    const bool counts = lead->role == FIRN_ROLE_COUNTER || lead->role == FIRN_ROLE_SEQUENCE;
    if (lead->group == 0 && (lead->role == FIRN_ROLE_TIME || counts) && !it->scheme->keyed) {
        return refuse(it, CHOOSE_SPREAD,
                      "IDs of one moment are side by side: one shard gets them all");
    }
    const bool node = lead->role == FIRN_ROLE_NODE || lead->role == FIRN_ROLE_ADDRESS;
    return node &&
           refuse(it, CHOOSE_SPREAD,
                  "IDs of one node are side by side: some shards get none, others two nodes");
}

static bool refuse_spread(choose_candidate *it, const choose_answers *answers) {
    const firn_scheme *scheme = it->scheme;
    const firn_slice *lead = scheme->slices, *last = &scheme->slices[scheme->slice_count - 1];
    while (lead < last && lead->role == FIRN_ROLE_CONST) {
        lead++;
    }
    if (answers->word[CHOOSE_SPREAD] == CHOOSE_BY_RANGE) {
        return refuse_range(it, lead);
    }
    if (answers->word[CHOOSE_SPREAD] != CHOOSE_BY_MODULO || scheme->keyed) {
        return false;
    }
    bool fixed = last->role == FIRN_ROLE_NODE || last->role == FIRN_ROLE_ADDRESS ||
                 last->role == FIRN_ROLE_PROCESS || last->role == FIRN_ROLE_CONST ||
                 last->role == FIRN_ROLE_USER;
    return fixed && refuse(it, CHOOSE_SPREAD,
                           "its low bits are the node: ID mod n is the same for all of its IDs");
}

/* A sequence that starts at 0 in each tick, or near it, has few low bits at low rates. */
static bool starts_again(const choose_candidate *it, const choose_answers *answers) {
    const firn_scheme *scheme = it->scheme;
    return scheme != NULL && answers->word[CHOOSE_SPREAD] == CHOOSE_BY_MODULO &&
           scheme->slices[scheme->slice_count - 1].role == FIRN_ROLE_SEQUENCE &&
           (scheme->start == FIRN_START_ZERO ||
            (scheme->start == FIRN_START_RANDOM && scheme->start_below <= near_zero));
}

static bool refuse_reader(choose_candidate *it, const choose_answers *answers) {
    const size_t width = firn_form_width(it->scheme->form, it->scheme->bits);
    if (!choose_is_for_people(answers) || it->scheme->keyed) {
        return false;
    }
    if (width > PEOPLE_WIDTH) {
        return refuse(it, CHOOSE_READERS, "people must read %zu characters", width);
    }
    return choose_mixes_case(it->scheme) &&
           refuse(it, CHOOSE_READERS, "people mix up its capital and small letters");
}

static bool refuse_odds(choose_candidate *it, const choose_answers *answers) {
    odds chances = {.rate = answers->amount[CHOOSE_RATE], .nodes = answers->amount[CHOOSE_NODES]};
    char number[NUMBER_SIZE];
    odds_begin(&chances, it->scheme, 0);
    if (chances.model->none == NULL) {
        return false;
    }
    it->model = chances.model;
    chances.seconds = (double)CHOOSE_YEAR;
    it->odds_1y = odds_now(&chances);
    chances.seconds = 10.0 * (double)CHOOSE_YEAR;
    it->odds_10y = odds_now(&chances);
    if (it->odds_10y > odds_limit) {
        return refuse(it, CHOOSE_RATE, "two IDs collide with odds above %s in ten years",
                      number_text(number, odds_limit));
    }
    if (it->odds_10y > odds_caution) {
        warn(it, "two IDs collide with odds of %s in ten years", number_text(number, it->odds_10y));
    }
    return false;
}

/* In the column: as a signed integer an ID ends where it would be negative. */
static bool refuse_end(choose_candidate *it, const choose_answers *answers, const firn_time *now) {
    firn_scheme stored = *it->scheme;
    firn_time end;
    if (choose_is_integer(it->scheme, answers)) {
        stored = describe_as(it->scheme, FIRN_FORM_DEC);
    }
    if (!firn_scheme_end(&stored, false, &end)) {
        return false;
    }
    describe_end(it->end, &stored, false);
    if (firn_time_cmp(&end, now) <= 0) {
        return refuse(it, CHOOSE_QUESTIONS, "its layout ended on %.10s", it->end);
    }
    if (end.sec < now->sec + CHOOSE_LONG_YEARS * CHOOSE_YEAR) {
        warn(it, "%s on %.10s",
             stored.form != it->scheme->form ? "as a signed integer it ends" : "its layout ends",
             it->end);
    }
    return false;
}

/* Without a store nothing reserves nodes, times or integers. */
static bool refuse_store(choose_candidate *it, const choose_answers *answers,
                         const odds_model *model) {
    return answers->word[CHOOSE_REACH] == 1 && (it->scheme->keyed || model->none == NULL) &&
           refuse(it, CHOOSE_REACH, "its IDs are unique only if a store reserves them");
}

/* What the owners of a scheme say of new systems. */
static const struct {
    const char *name, *text;
} opinions[] = {
    {"uuid1", "RFC 9562 advises uuid7 where no other uuid1 exists"},
    {"uuid6", "RFC 9562 advises uuid7 where no uuid1 exists"},
    {"uuid1-swapped", "it is what MySQL's UUID_TO_BIN(u, 1) stores; no other program reads it"},
    {"objectid-legacy", "MongoDB replaced it by objectid in 2018"},
};

static void add_opinions(choose_candidate *it) {
    for (size_t i = 0; i < sizeof opinions / sizeof opinions[0]; i++) {
        if (strcmp(it->name, opinions[i].name) == 0) {
            warn(it, "%s", opinions[i].text);
        }
    }
}

/* ---- candidates ------------------------------------------------------------------------------ */

static double least(double a, double b) {
    return a < b ? a : b;
}

static void judge_scheme(choose_candidate *it, const choose_answers *answers,
                         const firn_time *now) {
    odds about = {0};
    const firn_scheme *scheme = it->scheme;
    odds_begin(&about, scheme, 0);
    it->capacity = about.most > 0 ? about.most / about.tick : 0;
    if (scheme->node_rule == FIRN_NODE_REQUIRED) {
        it->most_nodes = least(
            odds_space(scheme, FIRN_ROLE_NODE, 0) * odds_space(scheme, FIRN_ROLE_ADDRESS, 0), 1e18);
    }
    it->preferred = scheme->keyed && choose_is_for_people(answers);
    bool refused = refuse_end(it, answers, now) || refuse_store(it, answers, about.model) ||
                   refuse_width(it, answers) || refuse_order(it, answers) ||
                   refuse_leak(it, answers) || refuse_spread(it, answers) ||
                   refuse_load(it, answers) || refuse_reader(it, answers) ||
                   refuse_odds(it, answers);
    if (!refused && scheme->form == FIRN_FORM_UNSIGNED && !scheme->keyed &&
        answers->word[CHOOSE_DATABASE] != 0) {
        warn(it, "it is an unsigned 64-bit integer, which few databases and languages have");
    }
    if (!refused) {
        add_opinions(it);
    }
    const double starts = odds_space(scheme, FIRN_ROLE_SEQUENCE, 0) / 4; /* of start=rolling */
    if (!refused && starts_again(it, answers) && starts < many_shards) {
        warn(it,
             "with start=rolling its sequence begins at %.0f numbers: use at most as many shards",
             starts);
    }
    if (!refused && scheme->keyed) {
        warn(it, "IDs depend on a secret key, which you must not lose");
    }
}

/* The integers of a segment, or of the database's own serial column. */
static void judge_integers(choose_candidate *it, const choose_answers *answers) {
    const uint32_t hide = answers->word[CHOOSE_HIDE], spread = answers->word[CHOOSE_SPREAD];
    if (answers->word[CHOOSE_REACH] == 1) {
        refuse(it, CHOOSE_REACH, "its IDs are unique only if a store reserves them");
    } else if (answers->word[CHOOSE_WIDTH] == CHOOSE_WIDTH_UUID) {
        refuse(it, CHOOSE_WIDTH, "its IDs are not UUIDs");
    } else if ((hide & CHOOSE_HIDE_VOLUME) != 0) {
        refuse(it, CHOOSE_HIDE, "an integer of a series shows how many there are");
    } else if ((hide & CHOOSE_HIDE_TIME) != 0) {
        refuse(it, CHOOSE_HIDE,
               "the time of one integer shows about when its neighbours were issued");
    } else if (answers->word[CHOOSE_SORT] == 1 && answers->amount[CHOOSE_NODES] > 1 &&
               answers->word[CHOOSE_DATABASE] == CHOOSE_OTHER) {
        refuse(it, CHOOSE_SORT, "the blocks of two issuers overlap in time");
    } else if (spread == CHOOSE_BY_RANGE) {
        refuse(it, CHOOSE_SPREAD, "IDs of one moment are side by side: one shard gets them all");
    } else if ((answers->word[CHOOSE_READERS] & CHOOSE_URLS) != 0) {
        warn(it, "anybody can guess the next ID: check permissions");
    }
    if (it->refused_by < 0 && (spread == CHOOSE_BY_HASH || spread == CHOOSE_BY_MODULO)) {
        warn(it, "the shards must share one counter: a segment of firn, not the database's own");
    } else if (it->refused_by < 0 && answers->amount[CHOOSE_NODES] > 1 &&
               answers->amount[CHOOSE_PEAK] > one_counter) {
        warn(it, "one counter issues all: several databases cannot have it");
    }
    const int bits = choose_integer_bits(answers);
    const double years = choose_years(maths_ldexp(1, bits), answers);
    char number[NUMBER_SIZE];
    number_text(number, years);
    if (it->refused_by < 0 && years < least_years) {
        refuse(it, CHOOSE_RATE, "%d bits last %s years at this rate", bits, number);
    } else if (it->refused_by < 0 && years < CHOOSE_LONG_YEARS) {
        warn(it, "%d bits last %s years at this rate", bits, number);
    }
}

static void judge(choose_candidate *it, const choose_answers *answers, const firn_time *now) {
    it->refused_by = -1;
    if (it->scheme != NULL) {
        judge_scheme(it, answers, now);
    } else {
        judge_integers(it, answers);
    }
    if (it->refused_by < 0) {
        choose_equip(it, answers, starts_again(it, answers));
    }
}

static void judge_all(choose_result *out, const choose_answers *answers, const firn_time *now) {
    const firn_scheme *scheme;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; (scheme = firn_scheme_at(i)) != NULL; i++) {
        if (is_issued(scheme) && out->count < CHOOSE_CANDIDATES - 1) {
            out->at[out->count].scheme = scheme;
            out->at[out->count++].name = scheme->name;
        }
    }
    out->at[out->count++].name = "segment";
    for (size_t i = 0; i < out->count; i++) {
        judge(&out->at[i], answers, now);
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
        without[i] = out->fit > 0 && i != CHOOSE_RATE ? out->at[0].name : NULL;
    }
    judge_all(out, answers, now);
    memcpy(out->without, without, sizeof without);
    find_conflict(out->conflict, answers);
}
