/* SPDX-License-Identifier: MIT */
/* See sample.h. The form of the first ID is the form of all; schemes are ruled out by what does not fit. */
#include "sample.h"

#include "shared/amounts.h"
#include "shared/lines.h"
#include "shared/operands.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What firn_guess takes for a number rather than an ID. */
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

/* What the first ID may be. */
static int learn(sample *it, const char *text, size_t length, firn_error *error) {
    firn_reading readings[FIRN_READINGS_MAX];
    id_counts counts;
    bool digits = strspn(text, "0123456789") >= length;
    if (it->integers || (!it->reader.named && it->reader.form < 0 && digits &&
                         firn_guess(readings, text, length, -1) == 0)) {
        it->integers = true;
        it->form = FIRN_FORM_DEC;
        it->bits = 64;
        return FIRN_OK;
    }
    int code = reader_look(&it->reader, readings, &counts, text, length, error);
    if (code == FIRN_OK && counts.plausible == 0) {
        code = refuse_reading(error, text, length, it->reader.cure);
    }
    if (code != FIRN_OK) {
        return code;
    }
    it->form = readings[0].form;
    it->bits = readings[0].id.bits;
    for (size_t i = 0; i < counts.plausible && it->candidate_count < SAMPLE_SCHEMES; i++) {
        if (readings[i].form == it->form && readings[i].id.bits == it->bits) {
            it->candidates[it->candidate_count++] =
                it->reader.named ? &it->reader.scheme : readings[i].scheme;
        }
    }
    return FIRN_OK;
}

static bool is_integer(const firn_id *id) {
    return id->bits == 64 && id->low >> 63 == 0;
}

/* No scheme fits all of the IDs: they are integers, if they can be. */
static int become_integers(sample *it, const firn_id *id, firn_error *error) {
    bool are = (it->form == FIRN_FORM_DEC || it->form == FIRN_FORM_UNSIGNED) && is_integer(id);
    for (size_t i = 0; i < it->count && are; i++) {
        are = is_integer(&it->list[i].id);
    }
    it->integers = are;
    if (are) {
        return FIRN_OK;
    }
    return it->count == 0
               ? set_error(error, FIRN_EMISMATCH, "it is not a recent ID: use --scheme NAME")
               : set_error(error, FIRN_EMISMATCH,
                           "it is not of the same scheme as the IDs before: remove it, or use "
                           "--scheme NAME");
}

/* Rules out what the ID does not fit. */
static int narrow(sample *it, const firn_id *id, firn_error *error) {
    firn_fields fields;
    size_t left = 0;
    if (it->integers) {
        return is_integer(id) ? FIRN_OK
                              : set_error(error, FIRN_ERANGE,
                                          "the integer is out of range (0 to 2^63 - 1): remove it, "
                                          "or name its scheme with --scheme NAME");
    }
    if (it->reader.named) {
        return firn_unpack(&fields, &it->reader.scheme, id, error);
    }
    for (size_t i = 0; i < it->candidate_count; i++) {
        if (fits(it->candidates[i], id)) {
            it->candidates[left++] = it->candidates[i];
        }
    }
    it->candidate_count = left;
    if (left > 0) {
        return FIRN_OK;
    }
    return become_integers(it, id, error);
}

static int add(sample *it, const sighting *one, firn_error *error) {
    if (it->count == it->room) {
        size_t room = it->room == 0 ? 64 : it->room * 2;
        sighting *list = realloc(it->list, room * sizeof *list);
        if (list == NULL) {
            return out_of_memory(error);
        }
        it->list = list;
        it->room = room;
    }
    it->list[it->count++] = *one;
    return FIRN_OK;
}

/* An ID, or an ID and a time. */
static int take(session *s, void *context, const char *text, size_t length, firn_error *error) {
    sample *it = context;
    char word[LINE_SIZE];
    firn_error why;
    sighting one = {.seen = it->has_seen, .at = it->seen, .order = it->count};
    const size_t end = strcspn(text, " \t"), next = end + strspn(text + end, " \t");
    (void)s;
    if (end >= sizeof word) {
        return set_error(error, FIRN_ETEXT, "the ID is longer than %d bytes: shorten it",
                         LINE_SIZE - 1);
    }
    memcpy(word, text, end);
    word[end] = '\0';
    if (it->count == SAMPLE_MAX) {
        return set_error(error, FIRN_EUSAGE, "there are more than %d IDs: give fewer", SAMPLE_MAX);
    }
    int code = it->count == 0 ? learn(it, word, end, error) : FIRN_OK;
    if (code != FIRN_OK) {
        return code;
    }
    code = firn_parse(&one.id, it->form, it->bits, word, end, &why);
    if (code == FIRN_OK) {
        code = narrow(it, &one.id, &why);
    }
    if (code != FIRN_OK) {
        return prefix_error(error, code, &why, "'%.40s': ", word);
    }
    if (next < length) {
        code = firn_time_parse(&one.at, text + next, length - next, &why);
        one.seen = true;
    }
    return code == FIRN_OK ? add(it, &one, error) : prefix_error(error, code, &why, "%s", "");
}

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0xff51afd7ed558ccd);
    return hash ^ hash >> 29;
}

/* The fields that tell about an ID. */
static void unpack(const sample *it, sighting *one) {
    firn_fields fields;
    if (it->integers) {
        one->number = one->id.low;
        return;
    }
    if (firn_unpack(&fields, it->scheme, &one->id, NULL) != FIRN_OK) {
        return; /* not reached: it was unpacked before */
    }
    for (uint32_t i = 0; i < it->scheme->slice_count; i++) {
        const firn_value *value = &fields.value[i];
        if (firn_scheme_first(it->scheme, i) != i) {
            continue;
        }
        switch (it->scheme->slices[i].role) {
        case FIRN_ROLE_TIME:
            one->tick = value->low;
            break;
        case FIRN_ROLE_SEQUENCE:
        case FIRN_ROLE_COUNTER:
            one->number = value->low;
            break;
        case FIRN_ROLE_NODE:
        case FIRN_ROLE_ADDRESS:
        case FIRN_ROLE_PROCESS:
            one->issuer = mix(mix(one->issuer + i, value->low), value->high);
            break;
        default:
            break;
        }
    }
}

static int by_id(const void *a, const void *b) {
    const sighting *x = a, *y = b;
    int order = firn_id_cmp(&x->id, &y->id);
    return order != 0 ? order : (x->order > y->order) - (x->order < y->order);
}

/* Whether no ID is from the future. */
static bool is_past(const sample *it, const firn_scheme *scheme, int64_t now) {
    for (size_t i = 0; i < it->count; i++) {
        firn_time time;
        if (id_time(&time, scheme, &it->list[i].id) > 0 && time.sec > now + AHEAD_MOST) {
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
static void choose_candidate(sample *it) {
    const int64_t now = (int64_t)time(NULL);
    const firn_scheme *past[SAMPLE_SCHEMES];
    size_t count = 0;
    for (size_t i = 0; i < it->candidate_count; i++) {
        if (is_past(it, it->candidates[i], now)) {
            past[count++] = it->candidates[i];
        }
    }
    if (count > 0) {
        memcpy(it->candidates, past, count * sizeof past[0]);
        it->candidate_count = count;
    }
    it->scheme = it->candidates[0];
    for (size_t i = 1; i < it->candidate_count; i++) {
        it->vague = it->vague || !counts_alike(it->scheme, it->candidates[i]);
    }
}

/* Sorts, and keeps the first of equal IDs. */
static void finish(sample *it) {
    size_t left = 0;
    it->given = it->count;
    if (it->integers || it->reader.named) {
        it->scheme = it->integers ? NULL : &it->reader.scheme;
        it->candidate_count = 0;
    } else {
        choose_candidate(it);
    }
    qsort(it->list, it->count, sizeof *it->list, by_id);
    for (size_t i = 0; i < it->count; i++) {
        if (left == 0 || firn_id_cmp(&it->list[left - 1].id, &it->list[i].id) != 0) {
            it->list[left++] = it->list[i];
            unpack(it, &it->list[left - 1]);
        }
    }
    it->count = left;
}

int sample_read(session *s, sample *it) {
    const char *name = s->option[OPTION_SCHEME];
    memset(it, 0, sizeof *it);
    it->integers = name != NULL && strcmp(name, "integer") == 0;
    if (it->integers) {
        s->option[OPTION_SCHEME] = NULL;
    }
    int status = reader_open(s, &it->reader);
    it->has_seen = s->option[OPTION_SEEN] != NULL;
    status = status == STATUS_DONE ? amount_time(s, OPTION_SEEN, &it->seen) : status;
    if (status != STATUS_DONE) {
        return status;
    }
    status = operands_are_ids(s);
    if (status != STATUS_DONE) {
        return status;
    }
    status = lines_do(s, s->operand_count > 0 ? s->operands : NULL, s->operand_count, take, it);
    if (status == STATUS_DONE && it->count == 0) {
        return fail_usage(s, "there is no ID: give some as operands or on standard input");
    }
    if (status == STATUS_DONE) {
        finish(it);
    }
    return status;
}

void sample_free(sample *it) {
    free(it->list);
    it->list = NULL;
}
