/* SPDX-License-Identifier: MIT */
/* See sample.h. The form of the first ID is the form of all; schemes are ruled out by what does not
 * fit. */
#include "sample.h"

#include "shared/amounts.h"
#include "shared/lines.h"
#include "shared/operands.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* firn_guess takes a smaller integer for a number, not for an ID. */
#define NUMBER_LEAST UINT64_C(10000000000000)

/* How far the clock of an issuer may be ahead, in seconds. */
enum { AHEAD_MOST = 86400 };

/* Whether an ID is one of a scheme, issued today. */
static bool fits(const firn_scheme *scheme, const firn_id *id) {
    firn_time time;
    if (scheme->bits != id->bits || (id->bits == 64 && id->low < NUMBER_LEAST)) {
        return false;
    }
    const int timed = id_time(&time, scheme, id);
    return timed > 0 ? is_today(&time) : timed == 0;
}

/* Reads the first ID: its possible schemes are the sample's. */
static int learn(id_sample *sample, const char *text, size_t length, firn_error *error) {
    firn_reading readings[FIRN_READINGS_MAX];
    id_counts counts;
    bool digits = strspn(text, "0123456789") >= length;
    if (sample->integers || (!sample->reader.named && sample->reader.form < 0 && digits &&
                             firn_guess(readings, text, length, -1) == 0)) {
        sample->integers = true;
        sample->form = FIRN_FORM_DEC;
        sample->bits = 64;
        return FIRN_OK;
    }
    int code = reader_look(&sample->reader, readings, &counts, text, length, error);
    if (code == FIRN_OK && counts.plausible == 0) {
        code = refuse_reading(error, text, length, sample->reader.cure);
    }
    if (code != FIRN_OK) {
        return code;
    }
    sample->form = readings[0].form;
    sample->bits = readings[0].id.bits;
    for (size_t i = 0; i < counts.plausible && sample->candidate_count < SAMPLE_SCHEMES; i++) {
        if (readings[i].form == sample->form && readings[i].id.bits == sample->bits) {
            sample->candidates[sample->candidate_count++] =
                sample->reader.named ? &sample->reader.scheme : readings[i].scheme;
        }
    }
    return FIRN_OK;
}

static bool is_integer(const firn_id *id) {
    return id->bits == 64 && id->low >> 63 == 0;
}

/* No scheme fits all of the IDs: they are integers, if they can be. */
static int become_integers(id_sample *sample, const firn_id *id, firn_error *error) {
    bool are =
        (sample->form == FIRN_FORM_DEC || sample->form == FIRN_FORM_UNSIGNED) && is_integer(id);
    for (size_t i = 0; i < sample->count && are; i++) {
        are = is_integer(&sample->list[i].id);
    }
    sample->integers = are;
    if (are) {
        return FIRN_OK;
    }
    return sample->count == 0
               ? set_error(error, FIRN_EMISMATCH, "it is not a recent ID: use --scheme NAME")
               : set_error(error, FIRN_EMISMATCH,
                           "it is not of the same scheme as the IDs before: remove it, or use "
                           "--scheme NAME");
}

/* Rules out what the ID does not fit. */
static int narrow(id_sample *sample, const firn_id *id, firn_error *error) {
    firn_fields fields;
    size_t left = 0;
    if (sample->integers) {
        return is_integer(id) ? FIRN_OK
                              : set_error(error, FIRN_ERANGE,
                                          "the integer is out of range (0 to 2^63 - 1): remove it, "
                                          "or name its scheme with --scheme NAME");
    }
    if (sample->reader.named) {
        return firn_unpack(&fields, &sample->reader.scheme, id, error);
    }
    for (size_t i = 0; i < sample->candidate_count; i++) {
        if (fits(sample->candidates[i], id)) {
            sample->candidates[left++] = sample->candidates[i];
        }
    }
    sample->candidate_count = left;
    if (left > 0) {
        return FIRN_OK;
    }
    return become_integers(sample, id, error);
}

static int add(id_sample *sample, const id_sighting *sighting, firn_error *error) {
    if (sample->count == sample->room) {
        size_t room = sample->room == 0 ? 64 : sample->room * 2;
        id_sighting *list = realloc(sample->list, room * sizeof *list);
        if (list == NULL) {
            return out_of_memory(error);
        }
        sample->list = list;
        sample->room = room;
    }
    sample->list[sample->count++] = *sighting;
    return FIRN_OK;
}

/* An ID, or an ID and a time. */
static int take(session *s, void *context, const char *text, size_t length, firn_error *error) {
    id_sample *sample = context;
    char word[LINE_SIZE];
    firn_error why;
    id_sighting sighting = {.seen = sample->has_seen, .time = sample->seen, .order = sample->count};
    const size_t end = strcspn(text, " \t"), next = end + strspn(text + end, " \t");
    (void)s;
    if (end >= sizeof word) {
        return set_error(error, FIRN_ETEXT, "the ID is longer than %d bytes: shorten it",
                         LINE_SIZE - 1);
    }
    memcpy(word, text, end);
    word[end] = '\0';
    if (sample->count == SAMPLE_MAX) {
        return set_error(error, FIRN_EUSAGE, "there are more than %d IDs: give fewer", SAMPLE_MAX);
    }
    int code = sample->count == 0 ? learn(sample, word, end, error) : FIRN_OK;
    if (code != FIRN_OK) {
        return code;
    }
    code = firn_parse(&sighting.id, sample->form, sample->bits, word, end, &why);
    if (code == FIRN_OK) {
        code = narrow(sample, &sighting.id, &why);
    }
    if (code != FIRN_OK) {
        return prefix_error(error, code, &why, "'%.40s': ", word);
    }
    if (next < length) {
        code = firn_time_parse(&sighting.time, text + next, length - next, &why);
        sighting.seen = true;
    }
    return code == FIRN_OK ? add(sample, &sighting, error)
                           : prefix_error(error, code, &why, "%s", "");
}

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0xff51afd7ed558ccd);
    return hash ^ hash >> 29;
}

/* The fields that tell about an ID. */
static void unpack(const id_sample *sample, id_sighting *sighting) {
    firn_fields fields;
    if (sample->integers) {
        sighting->number = sighting->id.low;
        return;
    }
    if (firn_unpack(&fields, sample->scheme, &sighting->id, NULL) != FIRN_OK) {
        return; /* not reached: it was unpacked before */
    }
    for (uint32_t i = 0; i < sample->scheme->slice_count; i++) {
        const firn_value *value = &fields.value[i];
        if (firn_scheme_first(sample->scheme, i) != i) {
            continue;
        }
        switch (sample->scheme->slices[i].role) {
        case FIRN_ROLE_TIME:
            sighting->tick = value->low;
            break;
        case FIRN_ROLE_SEQUENCE:
        case FIRN_ROLE_COUNTER:
            sighting->number = value->low;
            break;
        case FIRN_ROLE_NODE:
        case FIRN_ROLE_ADDRESS:
        case FIRN_ROLE_PROCESS:
            sighting->issuer = mix(mix(sighting->issuer + i, value->low), value->high);
            break;
        default:
            break;
        }
    }
}

static int by_id(const void *a, const void *b) {
    const id_sighting *x = a, *y = b;
    int order = firn_id_cmp(&x->id, &y->id);
    return order != 0 ? order : (x->order > y->order) - (x->order < y->order);
}

/* Whether no ID is from the future. */
static bool is_past(const id_sample *sample, const firn_scheme *scheme, int64_t now) {
    for (size_t i = 0; i < sample->count; i++) {
        firn_time time;
        if (id_time(&time, scheme, &sample->list[i].id) > 0 && time.sec > now + AHEAD_MOST) {
            return false;
        }
    }
    return true;
}

/* The role of a bit, 0 the most significant, if it says when and how many. */
static int counted_role(const firn_scheme *scheme, uint32_t bit) {
    uint32_t i = 0;
    for (uint32_t end = scheme->slices[0].bits; bit >= end && i + 1 < scheme->slice_count;) {
        end += scheme->slices[++i].bits;
    }
    const int role = scheme->slices[i].role;
    return role == FIRN_ROLE_TIME || role == FIRN_ROLE_SEQUENCE || role == FIRN_ROLE_COUNTER ? role
                                                                                             : -1;
}

/* Whether the IDs have the same rate in both schemes. */
static bool counts_alike(const firn_scheme *a, const firn_scheme *b) {
    bool alike = a->bits == b->bits && a->tick_ns == b->tick_ns && a->start == b->start;
    for (uint32_t bit = 0; alike && bit < a->bits; bit++) {
        alike = counted_role(a, bit) == counted_role(b, bit);
    }
    return alike;
}

/* Chooses among the candidates; at least one is left. */
static void choose_candidate(id_sample *sample) {
    const int64_t now = (int64_t)time(NULL);
    const firn_scheme *past[SAMPLE_SCHEMES];
    size_t count = 0;
    for (size_t i = 0; i < sample->candidate_count; i++) {
        if (is_past(sample, sample->candidates[i], now)) {
            past[count++] = sample->candidates[i];
        }
    }
    if (count > 0) {
        memcpy(sample->candidates, past, count * sizeof past[0]);
        sample->candidate_count = count;
    }
    sample->scheme = sample->candidates[0];
    for (size_t i = 1; i < sample->candidate_count; i++) {
        sample->vague = sample->vague || !counts_alike(sample->scheme, sample->candidates[i]);
    }
}

/* Sorts, and keeps the first of equal IDs. */
static void finish(id_sample *sample) {
    size_t left = 0;
    sample->given = sample->count;
    if (sample->integers || sample->reader.named) {
        sample->scheme = sample->integers ? NULL : &sample->reader.scheme;
        sample->candidate_count = 0;
    } else {
        choose_candidate(sample);
    }
    qsort(sample->list, sample->count, sizeof *sample->list, by_id);
    for (size_t i = 0; i < sample->count; i++) {
        if (left == 0 || firn_id_cmp(&sample->list[left - 1].id, &sample->list[i].id) != 0) {
            sample->list[left++] = sample->list[i];
            unpack(sample, &sample->list[left - 1]);
        }
    }
    sample->count = left;
}

int sample_read(session *s, id_sample *sample) {
    const char *name = s->option[OPTION_SCHEME];
    memset(sample, 0, sizeof *sample);
    sample->integers = name != NULL && strcmp(name, "integer") == 0;
    if (sample->integers) {
        s->option[OPTION_SCHEME] = NULL;
    }
    int status = reader_open(s, &sample->reader);
    sample->has_seen = s->option[OPTION_SEEN] != NULL;
    status = status == STATUS_DONE ? amount_time(s, OPTION_SEEN, &sample->seen) : status;
    if (status != STATUS_DONE) {
        return status;
    }
    status = operands_are_ids(s);
    if (status != STATUS_DONE) {
        return status;
    }
    status = lines_do(s, s->operand_count > 0 ? s->operands : NULL, s->operand_count, take, sample);
    if (status == STATUS_DONE && sample->count == 0) {
        return fail_usage(s, "there is no ID: give some as operands or on standard input");
    }
    if (status == STATUS_DONE) {
        finish(sample);
    }
    return status;
}

void sample_free(id_sample *sample) {
    free(sample->list);
    sample->list = NULL;
}
