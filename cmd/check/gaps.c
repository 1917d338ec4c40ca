/* SPDX-License-Identifier: MIT */
/* Gaps: integers that are missing in a series, sequence numbers in a tick, or values of a counter. Exact and
 * in bounded memory: IDs are sorted (runs.h), unless they are integers of files that ascend already. */
#include "gaps.h"

#include "infer.h"
#include "join.h"
#include "runs.h"
#include "shared/amounts.h"
#include "shared/json.h"
#include "stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHOWN = 10,
    SIZES = 20, /* 1 digit to 20 */
    BLOCK_LEAST = 10,
    STEPS_LEAST = 10,
    SPARSE = 1000 /* a series has more than one integer in this many */
};

/* The top bit of an integer: its sign if the integers are signed. */
#define SIGN (UINT64_C(1) << 63)

/* The numbers in which gaps are counted. */
enum gap_kind { KIND_INTEGERS, KIND_SEQUENCE, KIND_COUNTER };

/* A gap: `missing` numbers after `last`. For integers the distance to the next. */
typedef struct gap {
    uint64_t issuer, tick, last, distance;
    bool first; /* the gap is before the first number of a tick */
} gap;

/* Numbers of a counter in a tick, in the order in which they were counted. */
typedef struct counts {
    uint64_t before; /* the last number of the tick before */
    uint64_t begin, end, least;
    bool has_before, passed; /* passed: the counter passed its end; only then `end` is set */
} counts;

typedef struct gaps {
    id_stream stream;
    enum gap_kind kind;
    uint64_t mask; /* of a counter */
    counts counts;
    runs sorted;
    bool sorting;  /* else integers that ascend are followed as they come */
    bool descends; /* the integers did not ascend */
    bool tops;     /* sorted integers: those with SIGN are visited, or else those without */

    bool any;
    uint64_t issuer, tick, last; /* of the ID before */
    uint64_t smallest; /* integer, with SIGN inverted if they are signed, as all of them */
    uint64_t ids, duplicates, count, missing, largest;
    uint64_t distances, divisor; /* integers: how many distances, their common divisor, */
    uint64_t least, least_count; /* the least distance, and how often it occurs */
    uint64_t block;              /* common divisor of where gaps end, from the smallest */
    uint64_t sizes[SIZES];       /* by digits of the size */
    gap early[SHOWN], shown[SHOWN];
    size_t early_count, shown_count;
} gaps;

/* A decimal of 64 bits may be signed or not: signed if there is a minus anywhere. */
static bool is_signed(const gaps *it) {
    return it->kind == KIND_INTEGERS && it->stream.minus;
}

static size_t digits_of(uint64_t number) {
    size_t digits = 1;
    for (; number >= 10; number /= 10) {
        digits++;
    }
    return digits;
}

/* ---- following sorted IDs -------------------------------------------------------------------- */

static void note_size(gaps *it, uint64_t missing) {
    it->sizes[digits_of(missing) - 1]++;
    it->largest = missing > it->largest ? missing : it->largest;
}

/* The distance of an integer from the one before. What is a gap is known at the end: the least distance may
 * be the step of the series. */
static void follow_integer(gaps *it, uint64_t value) {
    const uint64_t distance = value - it->last;
    const gap one = {.last = it->last, .distance = distance};
    it->distances++;
    it->divisor = common_divisor(distance, it->divisor);
    if (it->least == 0 || distance < it->least) {
        memcpy(it->shown, it->early, sizeof it->shown); /* the distances before are gaps now */
        it->shown_count = it->early_count;
        it->least = distance;
        it->least_count = 0;
    }
    it->least_count += distance == it->least;
    if (distance > it->least && it->shown_count < SHOWN) {
        it->shown[it->shown_count++] = one;
    }
    if (it->early_count < SHOWN) {
        it->early[it->early_count++] = one;
    }
    if (distance > 1) {
        it->block = common_divisor(value - it->smallest, it->block);
        note_size(it, distance - 1);
    }
}

static void note_gap(gaps *it, const gap *one) {
    it->count++;
    it->missing += one->distance;
    note_size(it, one->distance);
    if (it->shown_count < SHOWN) {
        it->shown[it->shown_count++] = *one;
    }
}

/* `distance` from one number of the present tick and issuer to the next. */
static void follow_distance(gaps *it, uint64_t last, uint64_t distance) {
    if (distance > 1) {
        note_gap(it, &(gap){it->issuer, it->tick, last, distance - 1, false});
    }
}

static void follow_sequence(gaps *it, uint64_t issuer, uint64_t tick, uint64_t number) {
    if (it->any && issuer == it->issuer && tick == it->tick) {
        follow_distance(it, it->last, number - it->last);
    } else if (number > 0 && it->stream.reader.scheme.start == FIRN_START_ZERO) {
        note_gap(it, &(gap){issuer, tick, 0, number, true});
    }
}

/* A counter that passed its end within the tick: the smaller numbers come after the greater ones. */
static void end_counts(gaps *it) {
    counts *now = &it->counts;
    if (now->has_before) {
        follow_distance(it, now->before, (now->begin - now->before) & it->mask);
    }
    if (now->passed) {
        follow_distance(it, it->last, (now->least - it->last) & it->mask);
    }
    now->before = now->passed ? now->end : it->last;
    now->has_before = true;
}

static void follow_counter(gaps *it, uint64_t issuer, uint64_t tick, uint64_t number) {
    counts *now = &it->counts;
    const bool same = it->any && issuer == it->issuer;
    if (!same || tick != it->tick) {
        if (it->any) {
            end_counts(it);
        }
        now->has_before = same;
        now->begin = now->least = number;
        now->passed = false;
    } else if (!now->passed && number - it->last > it->mask / 2) {
        now->passed = true;
        now->begin = number;
        now->end = it->last;
    } else {
        follow_distance(it, it->last, number - it->last);
    }
}

static void follow(void *context, const uint64_t *key) {
    gaps *it = context;
    const bool integers = it->kind == KIND_INTEGERS;
    const uint64_t issuer = integers ? 0 : key[0], tick = integers ? 0 : key[1];
    const uint64_t number = integers ? key[0] ^ (is_signed(it) ? SIGN : 0) : key[2];
    it->ids++;
    if (it->any && issuer == it->issuer && tick == it->tick && number == it->last) {
        it->duplicates++;
        return;
    }
    if (it->kind == KIND_COUNTER) {
        follow_counter(it, issuer, tick, number);
    } else if (it->kind == KIND_SEQUENCE) {
        follow_sequence(it, issuer, tick, number);
    } else if (it->any) {
        follow_integer(it, number);
    } else {
        it->smallest = number;
    }
    it->any = true;
    it->issuer = issuer;
    it->tick = tick;
    it->last = number;
}

/* Decides what is a gap among integers: a distance above the step, which is 1 unless most distances are the
 * least one and all are multiples of it. */
static uint64_t finish_integers(gaps *it) {
    const bool steps = it->distances >= STEPS_LEAST && it->least > 1 && it->least == it->divisor &&
                       it->least_count > it->distances / 2;
    const uint64_t step = steps ? it->least : 1;
    if (it->distances == 0) {
        return 1;
    }
    if (it->least > step) { /* no two integers are adjacent */
        memcpy(it->shown, it->early, sizeof it->shown);
        it->shown_count = it->early_count;
    }
    it->count = it->distances - (it->least == step ? it->least_count : 0);
    it->missing = (it->last - it->smallest) / step - it->distances;
    it->largest = it->count > 0 ? (it->largest + 1) / step - 1 : 0;
    return step;
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Whether slice i is the first of a field that tells issuers apart. */
static bool is_of_issuer(const firn_scheme *scheme, uint32_t i) {
    const int role = scheme->slices[i].role;
    return firn_scheme_first(scheme, i) == i &&
           (role == FIRN_ROLE_NODE || role == FIRN_ROLE_ADDRESS || role == FIRN_ROLE_PROCESS ||
            role == FIRN_ROLE_USER);
}

/* The fields of an issuer one after the other, which are at most 64 bits in every scheme of the list. */
static uint64_t issuer_of(const firn_scheme *scheme, const firn_fields *fields) {
    uint64_t issuer = 0;
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        if (is_of_issuer(scheme, i)) {
            const uint32_t bits = firn_scheme_width(scheme, i);
            issuer = bits < 64 ? issuer << bits | fields->value[i].low : fields->value[i].low;
        }
    }
    return issuer;
}

static int number_field(const gaps *it) {
    const firn_scheme *scheme = &it->stream.reader.scheme;
    return scheme_index(scheme, it->kind == KIND_COUNTER ? FIRN_ROLE_COUNTER : FIRN_ROLE_SEQUENCE);
}

static size_t key_of(const gaps *it, uint64_t key[RUNS_WORDS_MAX], const firn_id *id) {
    const firn_scheme *scheme = &it->stream.reader.scheme;
    firn_fields fields;
    if (it->kind == KIND_INTEGERS) {
        key[0] = id->low;
        return 1;
    }
    const int time = scheme_index(scheme, FIRN_ROLE_TIME);
    firn_unpack(&fields, scheme, id, NULL); /* the stream has checked the ID */
    key[0] = issuer_of(scheme, &fields);
    key[1] = time >= 0 ? fields.value[time].low : 0;
    key[2] = fields.value[number_field(it)].low;
    return 3;
}

/* ---- the stream ------------------------------------------------------------------------------ */

/* Without --scheme, only integers have an order. */
static int check_form(const gaps *it, firn_error *error) {
    const bool number = it->stream.form == FIRN_FORM_DEC || it->stream.form == FIRN_FORM_UNSIGNED;
    return it->stream.reader.named || (number && it->stream.bits == 64)
               ? FIRN_OK
               : set_error(error, FIRN_EUSAGE,
                           "--gaps compares integers, or sequences and counters of a scheme: add "
                           "--scheme NAME");
}

/* Stops when integers that are followed as they come do not ascend, or are signed. */
static int take(void *context, const id_batch *batch, bool *stop, firn_error *error) {
    gaps *it = context;
    uint64_t key[RUNS_WORDS_MAX];
    int code = check_form(it, error);
    for (size_t i = 0; i < batch->count && code == FIRN_OK && !*stop; i++) {
        if (batch->ids[i].bits == 0) {
            continue;
        }
        key_of(it, key, &batch->ids[i]);
        if (it->sorting) {
            code = runs_add(&it->sorted, key, error);
        } else if (is_signed(it) || (it->any && key[0] < it->last)) {
            it->descends = *stop = true;
        } else {
            follow(it, key);
        }
    }
    return code;
}

/* Forgets the series. */
static int start_again(gaps *it, firn_error *error) {
    it->any = false;
    it->ids = it->duplicates = it->distances = it->divisor = it->least = it->block = 0;
    it->largest = 0;
    it->early_count = it->shown_count = 0;
    memset(it->sizes, 0, sizeof it->sizes);
    return stream_again(&it->stream, error);
}

/* Signed integers: the upper half is less. */
static void follow_half(void *context, const uint64_t *key) {
    gaps *it = context;
    if (((key[0] & SIGN) != 0) == it->tops) {
        follow(it, key);
    }
}

static int follow_sorted(gaps *it, firn_error *error) {
    if (!is_signed(it)) {
        return runs_each(&it->sorted, follow, it, error);
    }
    it->tops = true;
    int code = runs_each(&it->sorted, follow_half, it, error);
    it->tops = false;
    return code == FIRN_OK ? runs_each(&it->sorted, follow_half, it, error) : code;
}

static int find_all(gaps *it, uint64_t memory, firn_error *error) {
    int code = FIRN_OK;
    it->sorting = it->kind != KIND_INTEGERS || !stream_again_possible(&it->stream);
    if (!it->sorting) {
        code = stream_each(&it->stream, NULL, take, it, error);
        if (code != FIRN_OK || !it->descends) {
            return code;
        }
        code = start_again(it, error);
        it->sorting = true;
    }
    if (code == FIRN_OK) {
        code = runs_open(&it->sorted, it->kind == KIND_INTEGERS ? 1 : 3, memory, error);
    }
    code = code == FIRN_OK ? stream_each(&it->stream, "reading", take, it, error) : code;
    return code == FIRN_OK ? follow_sorted(it, error) : code;
}

/* ---- the report ------------------------------------------------------------------------------ */

static char *integer_text(char text[32], const gaps *it, uint64_t value) {
    if (is_signed(it)) {
        snprintf(text, 32, "%" PRId64, (int64_t)(value ^ SIGN));
    } else {
        snprintf(text, 32, "%" PRIu64, value);
    }
    return text;
}

/* The issuer's fields: " datacenter=1 worker=3". */
static void add_issuer(char *text, size_t size, const firn_scheme *scheme, uint64_t issuer) {
    firn_fields fields = {0};
    for (uint32_t i = scheme->slice_count; i-- > 0;) {
        if (is_of_issuer(scheme, i)) {
            const uint32_t bits = firn_scheme_width(scheme, i);
            fields.value[i].low = bits < 64 ? issuer & ((UINT64_C(1) << bits) - 1) : issuer;
            issuer = bits < 64 ? issuer >> bits : 0;
            fields.given |= UINT32_C(1) << i;
        }
    }
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        char value[FIRN_VALUE_SIZE];
        if ((fields.given & UINT32_C(1) << i) != 0) {
            text_join(text, size, "", " %s=%s", scheme->slices[i].name,
                      firn_fields_get(value, &fields, scheme, i));
        }
    }
}

/* Where a gap is: its first and last missing number, and for a scheme the tick and issuer. */
typedef struct gap_text {
    char first[32], last[32], place[256];
    uint64_t missing;
} gap_text;

static gap_text *describe_gap(gap_text *out, const gaps *it, const gap *one, uint64_t step) {
    const firn_scheme *scheme = &it->stream.reader.scheme;
    out->place[0] = '\0';
    if (it->kind == KIND_INTEGERS) {
        out->missing = one->distance / step - 1;
        integer_text(out->first, it, one->last + step);
        integer_text(out->last, it, one->last + one->distance - step);
        return out;
    }
    const uint64_t first = one->first ? 0 : one->last + 1, mask = it->mask;
    out->missing = one->distance;
    snprintf(out->first, sizeof out->first, "%" PRIu64, first & mask);
    snprintf(out->last, sizeof out->last, "%" PRIu64, (first + one->distance - 1) & mask);
    if (scheme_index(scheme, FIRN_ROLE_TIME) >= 0) {
        firn_time time;
        firn_scheme_time(scheme, one->tick, &time);
        firn_time_format(out->place, &time, firn_scheme_digits(scheme));
    }
    add_issuer(out->place, sizeof out->place, scheme, one->issuer);
    return out;
}

/* Integers too sparse for a series: a scheme with a time that they fit; or NULL. */
static const firn_scheme *find_scheme(const gaps *it) {
    firn_reading low[FIRN_READINGS_MAX], high[FIRN_READINGS_MAX];
    char text[32];
    if (it->kind != KIND_INTEGERS || it->ids == 0 || it->missing / SPARSE < it->ids) {
        return NULL;
    }
    integer_text(text, it, it->smallest);
    const size_t lows = firn_guess(low, text, strlen(text), it->stream.form);
    integer_text(text, it, it->last);
    const size_t highs = firn_guess(high, text, strlen(text), it->stream.form);
    for (size_t i = 0; i < lows; i++) {
        for (size_t j = 0; j < highs; j++) {
            if (low[i].scheme == high[j].scheme && low[i].scheme->tick_ns != 0) {
                return low[i].scheme;
            }
        }
    }
    return NULL;
}

/* Why gaps are normal. */
static const char *explain(const gaps *it) {
    switch (it->kind) {
    case KIND_INTEGERS:
        return "A gap is normal where a process ended without using up the block that it had "
               "reserved, where a transaction was rolled back, and where rows were deleted.";
    case KIND_SEQUENCE:
        return "A gap is normal where the other IDs of a tick are in another table, were never "
               "written, or were deleted.";
    default:
        return "A gap is normal where the other IDs of the process are in another table, were "
               "never written, or were deleted.";
    }
}

/* Blocks whose rest was not used: each gap ends at a multiple of their length from the first integer. */
static uint64_t block_of(const gaps *it, uint64_t step) {
    return it->kind == KIND_INTEGERS && step == 1 && it->count >= 2 && it->block >= BLOCK_LEAST
               ? it->block
               : 0;
}

static void put_sizes(output *out, const gaps *it) {
    uint64_t from = 1;
    output_text(out, "sizes:");
    for (size_t i = 0; i < SIZES; i++, from *= 10) {
        if (it->sizes[i] > 0) {
            const uint64_t to = i + 1 < SIZES ? from * 10 - 1 : UINT64_MAX;
            output_print(out, " %" PRIu64 " to %" PRIu64 ": %" PRIu64 ";", from, to, it->sizes[i]);
        }
    }
    out->length--;
    output_text(out, "\n");
}

static void put_human(output *out, const gaps *it, uint64_t step) {
    output_print(
        out, "%" PRIu64 " ID%s, %" PRIu64 " duplicate%s, %" PRIu64 " gap%s, %" PRIu64 " missing",
        it->ids, plural(it->ids), it->duplicates, plural(it->duplicates), it->count,
        plural(it->count), it->missing);
    if (step > 1) {
        output_print(out, ", in steps of %" PRIu64, step);
    }
    output_text(out, "\n");
    stream_put_bad(out, &it->stream);
    for (size_t i = 0; i < it->shown_count; i++) {
        gap_text text;
        describe_gap(&text, it, &it->shown[i], step);
        output_print(out, "%s to %s  %" PRIu64 " missing%s%s\n", text.first, text.last,
                     text.missing, text.place[0] != '\0' ? "  " : "", text.place);
    }
    if (it->count > it->shown_count) {
        output_print(out, "and %" PRIu64 " more, the largest of %" PRIu64 "\n",
                     it->count - it->shown_count, it->largest);
    }
    if (it->count > 0 && step == 1) {
        put_sizes(out, it);
    }
    if (block_of(it, step) > 0) {
        output_print(out,
                     "each gap ends a multiple of %" PRIu64
                     " after the first integer: unused ends of blocks\n",
                     block_of(it, step));
    }
    const firn_scheme *scheme = find_scheme(it);
    char text[256];
    if (scheme != NULL) {
        snprintf(
            text, sizeof text,
            "These are probably not integers of a series: they look like IDs of %s or of a similar "
            "scheme. Add --scheme %s, or the right one.",
            scheme->name, scheme->name);
        output_wrap(out, "  ", 2, text);
    } else if (it->count > 0) {
        output_wrap(out, "  ", 2, explain(it));
    }
}

static json_int_t whole(uint64_t number) {
    return number < INT64_MAX ? (json_int_t)number : INT64_MAX;
}

static json_t *gap_object(const gaps *it, const gap *one, uint64_t step) {
    gap_text text;
    describe_gap(&text, it, one, step);
    json_t *object = json_pack("{s:s, s:s, s:I}", "first", text.first, "last", text.last, "missing",
                               whole(text.missing));
    if (it->kind != KIND_INTEGERS) {
        json_object_set_new(object, "place", json_string(text.place));
    }
    return object;
}

static void put_json(output *out, const gaps *it, uint64_t step) {
    json_t *list = json_array(), *sizes = json_array();
    uint64_t from = 1;
    for (size_t i = 0; i < it->shown_count; i++) {
        json_array_append_new(list, gap_object(it, &it->shown[i], step));
    }
    for (size_t i = 0; i < SIZES && step == 1; i++, from *= 10) {
        if (it->sizes[i] > 0) {
            json_array_append_new(
                sizes, json_pack("{s:I, s:I}", "from", whole(from), "gaps", whole(it->sizes[i])));
        }
    }
    const firn_scheme *scheme = find_scheme(it);
    json_line(out,
              json_pack("{s:I, s:I, s:I, s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:s?}", "ids",
                        whole(it->ids), "duplicates", whole(it->duplicates), "bad",
                        whole(it->stream.bad), "bad_first",
                        it->stream.bad > 0 ? json_foreign(it->stream.bad_one.text) : json_null(),
                        "gaps", whole(it->count), "missing", whole(it->missing), "largest",
                        whole(it->largest), "step", whole(step), "block", whole(block_of(it, step)),
                        "sizes", sizes, "first", list, "looks_like",
                        scheme != NULL ? scheme->name : NULL));
}

/* ---- the subcommand -------------------------------------------------------------------------- */

static int open_kind(session *s, gaps *it) {
    const firn_scheme *scheme = &it->stream.reader.scheme;
    it->mask = UINT64_MAX;
    if (!it->stream.reader.named) {
        return STATUS_DONE;
    }
    it->kind = scheme_index(scheme, FIRN_ROLE_SEQUENCE) >= 0 ? KIND_SEQUENCE : KIND_COUNTER;
    if (number_field(it) < 0) {
        return fail_usage(s, "%s has neither a sequence nor a counter: leave --gaps out",
                          scheme->name);
    }
    if (scheme->counter_step > 1) {
        return fail_usage(s, "%s does not count in steps of 1: leave --gaps out", scheme->name);
    }
    it->mask = firn_scheme_max(scheme, (uint32_t)number_field(it)).low;
    return STATUS_DONE;
}

int gaps_run(session *s) {
    static gaps it; /* static for its size */
    uint64_t memory = 0, step = 1;
    firn_error error;
    spill_open(&it.sorted.kept, MEMORY_LEAST, sizeof(uint64_t));
    int status = stream_open(s, &it.stream, s->operands, s->operand_count);
    status = status == STATUS_DONE ? amount_memory(s, &memory) : status;
    status = status == STATUS_DONE ? open_kind(s, &it) : status;
    if (status != STATUS_DONE) {
        return status;
    }
    if (find_all(&it, memory, &error) != FIRN_OK) {
        status = fail(s, &error);
    } else {
        step = it.kind == KIND_INTEGERS ? finish_integers(&it) : 1;
        if (it.kind == KIND_COUNTER && it.any) {
            end_counts(&it);
        }
        if (s->option[OPTION_JSON] != NULL) {
            put_json(&s->out, &it, step);
        } else {
            put_human(&s->out, &it, step);
        }
        status = it.count > 0 || it.duplicates > 0 || it.stream.bad > 0 ? STATUS_NO : STATUS_DONE;
    }
    stream_close(&it.stream);
    runs_close(&it.sorted);
    return status;
}
