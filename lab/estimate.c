/* SPDX-License-Identifier: MIT */
/* `firn estimate`: what IDs reveal to a stranger who sees some of them. Takes what their fields say
 * and infers the rest (infer.h), and prints the conditions of each figure. The clock decides only
 * which scheme is likely (sample.h). */
#include "describe.h"
#include "infer.h"
#include "join.h"
#include "sample.h"
#include "shared/amounts.h"
#include "shared/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HIDDEN_MAX = 8, SENTENCE_SIZE = 320, GRAIN_LEAST = 6, UNGUESSED = 60 /* bits */ };

/* The part of an ID that reveals the rate. */
enum rate_kind { RATE_NONE, RATE_INTEGERS, RATE_SEQUENCE, RATE_COUNTER };

typedef struct estimate_findings {
    const id_sample *sample;
    double tick_s; /* 0: no time */
    firn_time first, last;
    double span_s;
    uint64_t grain;     /* all times differ by multiples of this many ticks; 0: not known */
    bool seen;          /* there are times at which IDs were seen */
    double ahead_s;     /* the clock of the issuer is ahead by at least this; negative: not ahead */
    bool drifts;        /* the drift is known */
    estimate drift_ppm; /* of that clock against the times */
    enum rate_kind kind;
    estimate rate;      /* IDs per second: all of the integers, or of one issuer */
    bool counted;       /* the total is known */
    estimate total;     /* of integers */
    double issuer_bits; /* 0: IDs do not show the issuer */
    uint64_t issuers_seen;
    estimate issuers;
    uint64_t cards; /* IDs that show the address of a network card */
    char hidden[HIDDEN_MAX][SENTENCE_SIZE];
    size_t hidden_count;
} estimate_findings;

static void hide(estimate_findings *findings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void hide(estimate_findings *findings, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(findings->hidden[findings->hidden_count++], SENTENCE_SIZE, format, arguments);
    va_end(arguments);
}

static double seconds_between(const firn_time *from, const firn_time *to) {
    return (double)to->sec - (double)from->sec + (double)(to->ns - from->ns) / 1e9;
}

/* ---- times and clocks ------------------------------------------------------------------------ */

static int by_tick(const void *a, const void *b) {
    const id_sighting *x = a, *y = b;
    return (x->tick > y->tick) - (x->tick < y->tick);
}

/* Sorts the IDs by their times. */
static void find_times(estimate_findings *findings) {
    const id_sample *sample = findings->sample;
    qsort(sample->list, sample->count, sizeof *sample->list, by_tick);
    const uint64_t first = sample->list[0].tick, last = sample->list[sample->count - 1].tick;
    uint64_t grain = 0;
    size_t different = 1;
    for (size_t i = 1; i < sample->count; i++) {
        grain = common_divisor(grain, sample->list[i].tick - first);
        different += sample->list[i].tick != sample->list[i - 1].tick;
    }
    findings->tick_s = (double)sample->scheme->tick_ns / 1e9;
    firn_scheme_time(sample->scheme, first, &findings->first);
    firn_scheme_time(sample->scheme, last, &findings->last);
    findings->span_s = seconds_between(&findings->first, &findings->last);
    findings->grain =
        different >= GRAIN_LEAST ? grain : 0; /* by chance in one of 2^6 cases, or fewer */
}

/* The clock of the issuer against the times at which IDs were seen. */
static int find_clock(estimate_findings *findings) {
    const id_sample *sample = findings->sample;
    double *x = malloc(2 * sample->count * sizeof *x), *y = x + sample->count;
    size_t count = 0;
    if (x == NULL) {
        return FIRN_EMEMORY;
    }
    for (size_t i = 0; i < sample->count; i++) {
        const id_sighting *sighting = &sample->list[i];
        firn_time time;
        if (sighting->seen) {
            firn_scheme_time(sample->scheme, sighting->tick, &time);
            x[count] = seconds_between(&findings->first, &sighting->time);
            y[count] = seconds_between(&sighting->time, &time);
            findings->ahead_s =
                count == 0 || y[count] > findings->ahead_s ? y[count] : findings->ahead_s;
            count++;
        }
    }
    findings->seen = count > 0;
    if (count >= 3) {
        estimate slope = infer_slope(x, y, count);
        findings->drifts = !isnan(slope.best);
        findings->drift_ppm = (estimate){slope.best * 1e6, slope.low * 1e6, slope.high * 1e6};
    }
    free(x);
    return FIRN_OK;
}

/* ---- issuers and rates ----------------------------------------------------------------------- */

static int by_issuer(const void *a, const void *b) {
    const id_sighting *x = a, *y = b;
    if (x->issuer != y->issuer) {
        return x->issuer < y->issuer ? -1 : 1;
    }
    if (x->tick != y->tick) {
        return x->tick < y->tick ? -1 : 1;
    }
    return (x->order > y->order) - (x->order < y->order);
}

static void find_issuers(estimate_findings *findings) {
    const firn_scheme *scheme = findings->sample->scheme;
    const id_sighting *list = findings->sample->list;
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const int role = scheme->slices[i].role;
        if (role == FIRN_ROLE_NODE || role == FIRN_ROLE_ADDRESS || role == FIRN_ROLE_PROCESS) {
            findings->issuer_bits += scheme->slices[i].bits;
        }
    }
    for (size_t i = 0; i < findings->sample->count; i++) {
        findings->issuers_seen += i == 0 || list[i].issuer != list[i - 1].issuer;
    }
    int address = scheme_index(scheme, FIRN_ROLE_ADDRESS);
    for (size_t i = 0; i < findings->sample->count && address >= 0; i++) {
        firn_fields fields;
        bool read = firn_unpack(&fields, scheme, &list[i].id, NULL) == FIRN_OK;
        findings->cards += read && (fields.value[address].low >> 40 & 1) == 0; /* not multicast */
    }
    if (findings->issuer_bits > 0) {
        findings->issuers = infer_kinds(findings->sample->count, findings->issuers_seen,
                                        ldexp(1, (int)findings->issuer_bits));
    }
}

static estimate scaled(estimate value, double factor) {
    return (estimate){value.best * factor, value.low * factor, value.high * factor};
}

/* A sequence number is how many IDs of its tick came before; one ID of each tick of an issuer. */
static void rate_by_sequence(estimate_findings *findings) {
    const id_sighting *list = findings->sample->list;
    uint64_t ticks = 0, sum = 0;
    for (size_t i = 0; i < findings->sample->count; i++) {
        if (i == 0 || list[i].issuer != list[i - 1].issuer || list[i].tick != list[i - 1].tick) {
            ticks++;
            sum += list[i].number;
        }
    }
    findings->kind = RATE_SEQUENCE;
    findings->rate = scaled(infer_density(ticks, sum), 1 / findings->tick_s);
}

/* Between two IDs of one issuer, a counter counts the IDs, modulo its width. */
static void rate_by_counter(estimate_findings *findings, int field) {
    const id_sighting *list = findings->sample->list;
    const uint64_t mask = firn_scheme_max(findings->sample->scheme, (uint32_t)field).low;
    double ids = 0, seconds = 0;
    for (size_t i = 1; i < findings->sample->count; i++) {
        if (list[i].issuer == list[i - 1].issuer && list[i].tick != list[i - 1].tick) {
            ids += (double)((list[i].number - list[i - 1].number) & mask);
            seconds += (double)(list[i].tick - list[i - 1].tick) * findings->tick_s;
        }
    }
    if (seconds > 0) {
        findings->kind = RATE_COUNTER;
        findings->rate = scaled(infer_mean(ids), 1 / seconds);
    }
}

static void find_integers(estimate_findings *findings) {
    const id_sighting *list = findings->sample->list, *low = NULL, *high = NULL;
    const size_t count = findings->sample->count;
    const uint64_t zero = list[0].number == 0;
    findings->counted = true;
    findings->total = infer_total(count, list[count - 1].number + zero);
    for (size_t i = 0; i < count; i++) {
        low = low == NULL && list[i].seen ? &list[i] : low;
        high = list[i].seen ? &list[i] : high;
    }
    double span = high != NULL ? seconds_between(&low->time, &high->time) : 0;
    if (span > 0) {
        findings->kind = RATE_INTEGERS;
        findings->span_s = span;
        findings->rate = scaled(infer_mean((double)(high->number - low->number)), 1 / span);
    }
}

/* ---- what stays hidden ----------------------------------------------------------------------- */

static uint32_t bits_of(const firn_scheme *scheme, int role) {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        bits += scheme->slices[i].role == role ? scheme->slices[i].bits : 0;
    }
    return bits;
}

static void find_hidden(estimate_findings *findings) {
    const firn_scheme *scheme = findings->sample->scheme;
    uint32_t random = scheme == NULL ? 0 : bits_of(scheme, FIRN_ROLE_RANDOM);
    if (scheme == NULL) {
        hide(findings, "when they were issued and by which machine%s",
             findings->kind == RATE_NONE ? "; the rate, unless you know the times of two" : "");
        return;
    }
    if (bits_of(scheme, FIRN_ROLE_DIGEST) > 0) {
        hide(findings, "the name, unless it can be guessed: equal names give equal IDs");
    }
    if (findings->tick_s == 0) {
        hide(findings, "when they were issued");
    }
    if (findings->kind == RATE_NONE && !findings->sample->vague) {
        hide(findings, "the rate and how many there are");
    }
    if (findings->issuer_bits == 0) {
        hide(findings, "which machine issued them, and how many machines there are");
    }
    if (random > 0 && scheme->monotonic) {
        hide(findings,
             "other IDs: %u bits are random; but an ID of the same tick is the one before plus 1",
             random);
    } else if (random >= UNGUESSED) {
        hide(findings, "other IDs: %u bits are random, so nobody can guess them", random);
    } else if (random > 0) {
        hide(findings, "other IDs: %u bits are random, so one guess in 2^%u is right", random,
             random);
    }
}

/* ---- the report ------------------------------------------------------------------------------ */

/* Three digits; whole from 100 to 10^15. */
static char *amount_text(char text[32], double value) {
    snprintf(text, 32, value >= 99.5 && value < 1e15 ? "%.0f" : "%.3g", value);
    return text;
}

static char *interval_text(char text[128], estimate value, const char *unit) {
    char best[32], low[32], high[32];
    snprintf(text, 128, "%s%s (95 %%: %s to %s)", amount_text(best, value.best), unit,
             amount_text(low, value.low), amount_text(high, value.high));
    return text;
}

/* A line, or several: `what` fills eight columns. */
static void put_line(output *out, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void put_line(output *out, const char *what, const char *format, ...) {
    char lead[16], text[SENTENCE_SIZE * 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(lead, sizeof lead, "  %-9s", what);
    output_wrap(out, lead, 11, text);
}

static void put_times(output *out, const estimate_findings *findings) {
    char first[FIRN_TIME_SIZE], last[FIRN_TIME_SIZE], text[DURATION_SIZE], drift[128];
    const int digits = firn_scheme_digits(findings->sample->scheme);
    firn_time_format(first, &findings->first, digits);
    firn_time_format(last, &findings->last, digits);
    put_line(out, "time", "%s%s%s: each ID shows when it was issued, to %s", first,
             findings->span_s > 0 ? " to " : "", findings->span_s > 0 ? last : "",
             duration_text(text, findings->tick_s));
    if (findings->grain > 1) {
        put_line(out, "clock", "all times differ by multiples of %s",
                 duration_text(text, (double)findings->grain * findings->tick_s));
    }
    if (findings->seen && findings->ahead_s > 0) {
        put_line(out, "clock", "at least %s ahead of the time at which an ID was seen",
                 duration_text(text, findings->ahead_s));
    } else if (findings->seen) {
        put_line(out, "clock", "not ahead: each ID was seen at least %s after its time",
                 duration_text(text, -findings->ahead_s));
    }
    if (findings->drifts) {
        put_line(out, "drift", "%s, if the delay until an ID is seen does not change",
                 interval_text(drift, findings->drift_ppm, " ppm"));
    }
}

static void put_issuers(output *out, const estimate_findings *findings) {
    char text[128];
    if (isinf(findings->issuers.best)) {
        snprintf(text, sizeof text, "%.0f or more (97.5 %%)", findings->issuers.low);
    } else {
        interval_text(text, findings->issuers, "");
    }
    put_line(out, "issuers", "%" PRIu64 " seen; in all %s, if they issue equally often",
             findings->issuers_seen, text);
}

/* Schemes that the IDs fit as well. */
static void put_others(output *out, const id_sample *sample) {
    char names[SENTENCE_SIZE] = "";
    for (size_t i = 1; i < sample->candidate_count; i++) {
        text_join(names, sizeof names, ", ", "%s", sample->candidates[i]->name);
    }
    if (names[0] != '\0') {
        put_line(out, "or", "of %s: add --scheme NAME", names);
    }
}

static char *rate_text(char text[128], estimate rate) {
    char high[32];
    if (isfinite(rate.best)) {
        return interval_text(text, rate, " IDs per second");
    }
    snprintf(text, 128, "%s IDs per second or fewer (97.5 %%)", amount_text(high, rate.high));
    return text;
}

static void put_human(output *out, const estimate_findings *findings) {
    static const char *const why[] = {
        [RATE_INTEGERS] = "for all, from the integers and their times",
        [RATE_SEQUENCE] = "for each issuer, from the sequence numbers, if IDs come evenly",
        [RATE_COUNTER] = "for each issuer, from its counter",
    };
    const id_sample *sample = findings->sample;
    char text[128];
    output_print(out, "%zu ID%s of %s%s\n", sample->count, plural(sample->count),
                 findings->counted ? "a series of integers" : describe_name(sample->scheme),
                 sample->count < sample->given ? ", without duplicates" : "");
    put_others(out, sample);
    if (findings->tick_s > 0) {
        put_times(out, findings);
    }
    if (findings->counted) {
        put_line(out, "volume", "%s, if they are counted from 1 and yours are a fair sample",
                 interval_text(text, findings->total,
                               findings->total.best == 1 ? " integer" : " integers"));
    }
    if (sample->vague) {
        put_line(out, "rate", "not known: it differs between these schemes");
    } else if (findings->kind != RATE_NONE) {
        put_line(out, "rate", "%s %s", rate_text(text, findings->rate), why[findings->kind]);
    }
    if (findings->issuer_bits > 0) {
        put_issuers(out, findings);
    }
    if (findings->cards > 0) {
        put_line(out, "machine", "%" PRIu64 " ID%s the address of a network card", findings->cards,
                 findings->cards == 1 ? " shows" : "s show");
    }
    if (findings->tick_s == 0 && !findings->counted && findings->issuer_bits == 0) {
        output_text(out, "  Nothing can be inferred from these IDs.\n");
    }
    for (size_t i = 0; i < findings->hidden_count; i++) {
        put_line(out, i == 0 ? "hidden" : "", "%s", findings->hidden[i]);
    }
}

static json_t *interval_object(bool known, estimate value) {
    return known ? json_pack("{s:o, s:o, s:o}", "estimate", json_finite(value.best), "low",
                             json_finite(value.low), "high", json_finite(value.high))
                 : json_null();
}

static json_t *others_array(const id_sample *sample) {
    json_t *names = json_array();
    for (size_t i = 1; i < sample->candidate_count; i++) {
        json_array_append_new(names, json_string(sample->candidates[i]->name));
    }
    return names;
}

static json_t *times_object(const estimate_findings *findings) {
    char first[FIRN_TIME_SIZE], last[FIRN_TIME_SIZE];
    if (findings->tick_s == 0) {
        return json_null();
    }
    const int digits = firn_scheme_digits(findings->sample->scheme);
    return json_pack("{s:s, s:s, s:f, s:f}", "first",
                     firn_time_format(first, &findings->first, digits), "last",
                     firn_time_format(last, &findings->last, digits), "span_s", findings->span_s,
                     "tick_s", findings->tick_s);
}

static void put_json(output *out, const estimate_findings *findings) {
    static const char *const kinds[] = {NULL, "integers", "sequence", "counter"};
    json_t *hidden = json_array();
    for (size_t i = 0; i < findings->hidden_count; i++) {
        json_array_append_new(hidden, json_string(findings->hidden[i]));
    }
    const bool known = findings->kind != RATE_NONE && !findings->sample->vague;
    json_t *issuers = json_null();
    if (findings->issuer_bits > 0) {
        issuers = json_pack(
            "{s:I, s:o, s:o, s:o, s:I}", "seen", (json_int_t)findings->issuers_seen, "estimate",
            json_finite(findings->issuers.best), "low", json_finite(findings->issuers.low), "high",
            json_finite(findings->issuers.high), "cards", (json_int_t)findings->cards);
    }
    json_line(
        out,
        json_pack("{s:s, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:s?, s:o, s:o, s:o}", "scheme",
                  findings->counted ? "integer" : describe_name(findings->sample->scheme), "or",
                  others_array(findings->sample), "ids", (json_int_t)findings->sample->count,
                  "duplicates", (json_int_t)(findings->sample->given - findings->sample->count),
                  "time", times_object(findings), "grain_s",
                  findings->grain > 0 ? json_real((double)findings->grain * findings->tick_s)
                                      : json_null(),
                  "ahead_s", findings->seen ? json_real(findings->ahead_s) : json_null(),
                  "drift_ppm", interval_object(findings->drifts, findings->drift_ppm), "rate_per_s",
                  interval_object(known, findings->rate), "rate_from",
                  known ? kinds[findings->kind] : NULL, "volume",
                  interval_object(findings->counted, findings->total), "issuers", issuers, "hidden",
                  hidden));
}

/* ---- the subcommand -------------------------------------------------------------------------- */

/* Order numbers need a key to be read, so there is nothing to compute. */
static int about_order(session *s, const char *name) {
    static const char why[] =
        "order numbers are encrypted: without the secret key they reveal neither the "
        "integer nor volume, rate, time or neighbours, only that the series has at "
        "most 10^digits of them";
    if (s->option[OPTION_JSON] != NULL) {
        json_line(&s->out, json_pack("{s:s, s:[s]}", "scheme", name, "hidden", why));
    } else {
        output_wrap(&s->out, "", 0, why);
    }
    return STATUS_DONE;
}

static int find_all(estimate_findings *findings) {
    const firn_scheme *scheme = findings->sample->scheme;
    if (scheme == NULL) {
        find_integers(findings);
        find_hidden(findings);
        return FIRN_OK;
    }
    const int counter = scheme_index(scheme, FIRN_ROLE_COUNTER);
    if (scheme->tick_ns != 0) {
        find_times(findings);
    }
    qsort(findings->sample->list, findings->sample->count, sizeof *findings->sample->list,
          by_issuer);
    find_issuers(findings);
    if (scheme->tick_ns != 0) {
        int code = find_clock(findings);
        if (code != FIRN_OK) {
            return code;
        }
        if (scheme_index(scheme, FIRN_ROLE_SEQUENCE) >= 0 && scheme->start == FIRN_START_ZERO) {
            rate_by_sequence(findings);
        } else if (counter >= 0 && scheme->counter_step <= 1 && scheme->hash == FIRN_HASH_NONE) {
            rate_by_counter(findings, counter);
        }
    }
    if (findings->rate.best == 0) {
        findings->rate.best = NAN; /* no ID came before these: there is an upper limit only */
    }
    find_hidden(findings);
    return FIRN_OK;
}

int run_estimate(session *s) {
    static id_sample given; /* static for their size */
    static estimate_findings result;
    const char *name = s->option[OPTION_SCHEME];
    const firn_scheme *listed = name != NULL ? firn_scheme_find(name) : NULL;
    if (listed != NULL && listed->keyed) {
        return about_order(s, name);
    }
    int status = sample_read(s, &given);
    result.sample = &given;
    if (status == STATUS_DONE && find_all(&result) != FIRN_OK) {
        status = fail_as(s, FIRN_EMEMORY, "out of memory: give fewer IDs");
    }
    if (status == STATUS_DONE && s->option[OPTION_JSON] != NULL) {
        put_json(&s->out, &result);
    } else if (status == STATUS_DONE) {
        put_human(&s->out, &result);
    }
    sample_free(&given);
    return status;
}
