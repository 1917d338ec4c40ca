/* SPDX-License-Identifier: MIT */
/* Gaps: integers that are missing in a series, sequence numbers in a tick, or values of a counter.
 * Exact and in bounded memory: IDs are sorted (runs.h), unless they are integers of files that
 * ascend already. */
#include "gaps.h"

#include "check/stream.h"
#include "infer.h"
#include "join.h"
#include "runs.h"
#include "shared/amounts.h"
#include "shared/json.h"

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
typedef struct id_gap {
    uint64_t issuer, tick, last, distance;
    bool first; /* the gap is before the first number of a tick */
} id_gap;

/* Numbers of a counter in a tick, in the order in which they were counted. */
typedef struct counts {
    uint64_t before; /* the last number of the tick before */
    uint64_t begin, end, least;
    bool has_before, passed; /* passed: the counter passed its end; only then `end` is set */
} counts;

typedef struct gap_finder {
    id_stream stream;
    enum gap_kind kind;
    uint64_t mask; /* of a counter */
    counts counts;
    sorted_runs sorted;
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
    id_gap early[SHOWN], shown[SHOWN];
    size_t early_count, shown_count;
} gap_finder;

/* A decimal of 64 bits may be signed or not: signed if there is a minus anywhere. */
static bool is_signed(const gap_finder *gaps) {
    return gaps->kind == KIND_INTEGERS && gaps->stream.minus;
}

static size_t digits_of(uint64_t number) {
    size_t digits = 1;
    for (; number >= 10; number /= 10) {
        digits++;
    }
    return digits;
}

/* ---- following sorted IDs -------------------------------------------------------------------- */

static void note_size(gap_finder *gaps, uint64_t missing) {
    gaps->sizes[digits_of(missing) - 1]++;
    gaps->largest = missing > gaps->largest ? missing : gaps->largest;
}

/* The distance of an integer from the one before. What is a gap is known at the end: the least
 * distance may be the step of the series. */
static void follow_integer(gap_finder *gaps, uint64_t value) {
    const uint64_t distance = value - gaps->last;
    const id_gap gap = {.last = gaps->last, .distance = distance};
    gaps->distances++;
    gaps->divisor = common_divisor(distance, gaps->divisor);
    if (gaps->least == 0 || distance < gaps->least) {
        memcpy(gaps->shown, gaps->early,
               sizeof gaps->shown); /* the distances before are gaps now */
        gaps->shown_count = gaps->early_count;
        gaps->least = distance;
        gaps->least_count = 0;
    }
    gaps->least_count += distance == gaps->least;
    if (distance > gaps->least && gaps->shown_count < SHOWN) {
        gaps->shown[gaps->shown_count++] = gap;
    }
    if (gaps->early_count < SHOWN) {
        gaps->early[gaps->early_count++] = gap;
    }
    if (distance > 1) {
        gaps->block = common_divisor(value - gaps->smallest, gaps->block);
        note_size(gaps, distance - 1);
    }
}

static void note_gap(gap_finder *gaps, const id_gap *gap) {
    gaps->count++;
    gaps->missing += gap->distance;
    note_size(gaps, gap->distance);
    if (gaps->shown_count < SHOWN) {
        gaps->shown[gaps->shown_count++] = *gap;
    }
}

/* `distance` from one number of the present tick and issuer to the next. */
static void follow_distance(gap_finder *gaps, uint64_t last, uint64_t distance) {
    if (distance > 1) {
        note_gap(gaps, &(id_gap){gaps->issuer, gaps->tick, last, distance - 1, false});
    }
}

static void follow_sequence(gap_finder *gaps, uint64_t issuer, uint64_t tick, uint64_t number) {
    if (gaps->any && issuer == gaps->issuer && tick == gaps->tick) {
        follow_distance(gaps, gaps->last, number - gaps->last);
    } else if (number > 0 && gaps->stream.reader.scheme.start == FIRN_START_ZERO) {
        note_gap(gaps, &(id_gap){issuer, tick, 0, number, true});
    }
}

/* A counter that passed its end within the tick: the smaller numbers come after the greater
 * ones. */
static void end_counts(gap_finder *gaps) {
    counts *now = &gaps->counts;
    if (now->has_before) {
        follow_distance(gaps, now->before, (now->begin - now->before) & gaps->mask);
    }
    if (now->passed) {
        follow_distance(gaps, gaps->last, (now->least - gaps->last) & gaps->mask);
    }
    now->before = now->passed ? now->end : gaps->last;
    now->has_before = true;
}

static void follow_counter(gap_finder *gaps, uint64_t issuer, uint64_t tick, uint64_t number) {
    counts *now = &gaps->counts;
    const bool same = gaps->any && issuer == gaps->issuer;
    if (!same || tick != gaps->tick) {
        if (gaps->any) {
            end_counts(gaps);
        }
        now->has_before = same;
        now->begin = now->least = number;
        now->passed = false;
    } else if (!now->passed && number - gaps->last > gaps->mask / 2) {
        now->passed = true;
        now->begin = number;
        now->end = gaps->last;
    } else {
        follow_distance(gaps, gaps->last, number - gaps->last);
    }
}

static void follow(void *context, const uint64_t *key) {
    gap_finder *gaps = context;
    const bool integers = gaps->kind == KIND_INTEGERS;
    const uint64_t issuer = integers ? 0 : key[0], tick = integers ? 0 : key[1];
    const uint64_t number = integers ? key[0] ^ (is_signed(gaps) ? SIGN : 0) : key[2];
    gaps->ids++;
    if (gaps->any && issuer == gaps->issuer && tick == gaps->tick && number == gaps->last) {
        gaps->duplicates++;
        return;
    }
    if (gaps->kind == KIND_COUNTER) {
        follow_counter(gaps, issuer, tick, number);
    } else if (gaps->kind == KIND_SEQUENCE) {
        follow_sequence(gaps, issuer, tick, number);
    } else if (gaps->any) {
        follow_integer(gaps, number);
    } else {
        gaps->smallest = number;
    }
    gaps->any = true;
    gaps->issuer = issuer;
    gaps->tick = tick;
    gaps->last = number;
}

/* Decides what is a gap among integers: a distance above the step, which is 1 unless most distances
 * are the least one and all are multiples of it. */
static uint64_t finish_integers(gap_finder *gaps) {
    const bool steps = gaps->distances >= STEPS_LEAST && gaps->least > 1 &&
                       gaps->least == gaps->divisor && gaps->least_count > gaps->distances / 2;
    const uint64_t step = steps ? gaps->least : 1;
    if (gaps->distances == 0) {
        return 1;
    }
    if (gaps->least > step) { /* no two integers are adjacent */
        memcpy(gaps->shown, gaps->early, sizeof gaps->shown);
        gaps->shown_count = gaps->early_count;
    }
    gaps->count = gaps->distances - (gaps->least == step ? gaps->least_count : 0);
    gaps->missing = (gaps->last - gaps->smallest) / step - gaps->distances;
    gaps->largest = gaps->count > 0 ? (gaps->largest + 1) / step - 1 : 0;
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

/* The fields of an issuer one after the other, which are at most 64 bits in every scheme of the
 * list. */
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

static int number_field(const gap_finder *gaps) {
    const firn_scheme *scheme = &gaps->stream.reader.scheme;
    return scheme_index(scheme,
                        gaps->kind == KIND_COUNTER ? FIRN_ROLE_COUNTER : FIRN_ROLE_SEQUENCE);
}

static size_t key_of(const gap_finder *gaps, uint64_t key[RUNS_WORDS_MAX], const firn_id *id) {
    const firn_scheme *scheme = &gaps->stream.reader.scheme;
    firn_fields fields;
    if (gaps->kind == KIND_INTEGERS) {
        key[0] = id->low;
        return 1;
    }
    const int time = scheme_index(scheme, FIRN_ROLE_TIME);
    firn_unpack(&fields, scheme, id, NULL); /* the stream has checked the ID */
    key[0] = issuer_of(scheme, &fields);
    key[1] = time >= 0 ? fields.value[time].low : 0;
    key[2] = fields.value[number_field(gaps)].low;
    return 3;
}

/* ---- the stream ------------------------------------------------------------------------------ */

/* Without --scheme, only integers have an order. */
static int check_form(const gap_finder *gaps, firn_error *error) {
    const bool number =
        gaps->stream.form == FIRN_FORM_DEC || gaps->stream.form == FIRN_FORM_UNSIGNED;
    return gaps->stream.reader.named || (number && gaps->stream.bits == 64)
               ? FIRN_OK
               : set_error(error, FIRN_EUSAGE,
                           "--gaps compares integers, or sequences and counters of a scheme: add "
                           "--scheme NAME");
}

/* Stops when integers that are followed as they come do not ascend, or are signed. */
static int take(void *context, const id_batch *batch, bool *stop, firn_error *error) {
    gap_finder *gaps = context;
    uint64_t key[RUNS_WORDS_MAX];
    int code = check_form(gaps, error);
    for (size_t i = 0; i < batch->count && code == FIRN_OK && !*stop; i++) {
        if (batch->ids[i].bits == 0) {
            continue;
        }
        key_of(gaps, key, &batch->ids[i]);
        if (gaps->sorting) {
            code = runs_add(&gaps->sorted, key, error);
        } else if (is_signed(gaps) || (gaps->any && key[0] < gaps->last)) {
            gaps->descends = *stop = true;
        } else {
            follow(gaps, key);
        }
    }
    return code;
}

/* Forgets the series. */
static int start_again(gap_finder *gaps, firn_error *error) {
    gaps->any = false;
    gaps->ids = gaps->duplicates = gaps->distances = gaps->divisor = gaps->least = gaps->block = 0;
    gaps->largest = 0;
    gaps->early_count = gaps->shown_count = 0;
    memset(gaps->sizes, 0, sizeof gaps->sizes);
    return stream_again(&gaps->stream, error);
}

/* Signed integers: the upper half is less. */
static void follow_half(void *context, const uint64_t *key) {
    gap_finder *gaps = context;
    if (((key[0] & SIGN) != 0) == gaps->tops) {
        follow(gaps, key);
    }
}

static int follow_sorted(gap_finder *gaps, firn_error *error) {
    if (!is_signed(gaps)) {
        return runs_each(&gaps->sorted, follow, gaps, error);
    }
    gaps->tops = true;
    int code = runs_each(&gaps->sorted, follow_half, gaps, error);
    gaps->tops = false;
    return code == FIRN_OK ? runs_each(&gaps->sorted, follow_half, gaps, error) : code;
}

static int find_all(gap_finder *gaps, uint64_t memory, firn_error *error) {
    int code = FIRN_OK;
    gaps->sorting = gaps->kind != KIND_INTEGERS || !stream_again_possible(&gaps->stream);
    if (!gaps->sorting) {
        code = stream_each(&gaps->stream, NULL, take, gaps, error);
        if (code != FIRN_OK || !gaps->descends) {
            return code;
        }
        code = start_again(gaps, error);
        gaps->sorting = true;
    }
    if (code == FIRN_OK) {
        code = runs_open(&gaps->sorted, gaps->kind == KIND_INTEGERS ? 1 : 3, memory, error);
    }
    code = code == FIRN_OK ? stream_each(&gaps->stream, "reading", take, gaps, error) : code;
    return code == FIRN_OK ? follow_sorted(gaps, error) : code;
}

/* ---- the report ------------------------------------------------------------------------------ */

static char *integer_text(char text[32], const gap_finder *gaps, uint64_t value) {
    if (is_signed(gaps)) {
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

static gap_text *describe_gap(gap_text *out, const gap_finder *gaps, const id_gap *gap,
                              uint64_t step) {
    const firn_scheme *scheme = &gaps->stream.reader.scheme;
    out->place[0] = '\0';
    if (gaps->kind == KIND_INTEGERS) {
        out->missing = gap->distance / step - 1;
        integer_text(out->first, gaps, gap->last + step);
        integer_text(out->last, gaps, gap->last + gap->distance - step);
        return out;
    }
    const uint64_t first = gap->first ? 0 : gap->last + 1, mask = gaps->mask;
    out->missing = gap->distance;
    snprintf(out->first, sizeof out->first, "%" PRIu64, first & mask);
    snprintf(out->last, sizeof out->last, "%" PRIu64, (first + gap->distance - 1) & mask);
    if (scheme_index(scheme, FIRN_ROLE_TIME) >= 0) {
        firn_time time;
        firn_scheme_time(scheme, gap->tick, &time);
        firn_time_format(out->place, &time, firn_scheme_digits(scheme));
    }
    add_issuer(out->place, sizeof out->place, scheme, gap->issuer);
    return out;
}

/* Integers too sparse for a series: a scheme with a time that they fit; or NULL. */
static const firn_scheme *find_scheme(const gap_finder *gaps) {
    firn_reading low[FIRN_READINGS_MAX], high[FIRN_READINGS_MAX];
    char text[32];
    if (gaps->kind != KIND_INTEGERS || gaps->ids == 0 || gaps->missing / SPARSE < gaps->ids) {
        return NULL;
    }
    integer_text(text, gaps, gaps->smallest);
    const size_t lows = firn_guess(low, text, strlen(text), gaps->stream.form);
    integer_text(text, gaps, gaps->last);
    const size_t highs = firn_guess(high, text, strlen(text), gaps->stream.form);
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
static const char *explain(const gap_finder *gaps) {
    switch (gaps->kind) {
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

/* Blocks whose rest was not used: each gap ends at a multiple of their length from the first
 * integer. */
static uint64_t block_of(const gap_finder *gaps, uint64_t step) {
    return gaps->kind == KIND_INTEGERS && step == 1 && gaps->count >= 2 &&
                   gaps->block >= BLOCK_LEAST
               ? gaps->block
               : 0;
}

static void put_sizes(output *out, const gap_finder *gaps) {
    uint64_t from = 1;
    output_text(out, "sizes:");
    for (size_t i = 0; i < SIZES; i++, from *= 10) {
        if (gaps->sizes[i] > 0) {
            const uint64_t to = i + 1 < SIZES ? from * 10 - 1 : UINT64_MAX;
            output_print(out, " %" PRIu64 " to %" PRIu64 ": %" PRIu64 ";", from, to,
                         gaps->sizes[i]);
        }
    }
    out->length--;
    output_text(out, "\n");
}

static void put_human(output *out, const gap_finder *gaps, uint64_t step) {
    output_print(
        out, "%" PRIu64 " ID%s, %" PRIu64 " duplicate%s, %" PRIu64 " gap%s, %" PRIu64 " missing",
        gaps->ids, plural(gaps->ids), gaps->duplicates, plural(gaps->duplicates), gaps->count,
        plural(gaps->count), gaps->missing);
    if (step > 1) {
        output_print(out, ", in steps of %" PRIu64, step);
    }
    output_text(out, "\n");
    stream_put_bad(out, &gaps->stream);
    for (size_t i = 0; i < gaps->shown_count; i++) {
        gap_text text;
        describe_gap(&text, gaps, &gaps->shown[i], step);
        output_print(out, "%s to %s  %" PRIu64 " missing%s%s\n", text.first, text.last,
                     text.missing, text.place[0] != '\0' ? "  " : "", text.place);
    }
    if (gaps->count > gaps->shown_count) {
        output_print(out, "and %" PRIu64 " more, the largest of %" PRIu64 "\n",
                     gaps->count - gaps->shown_count, gaps->largest);
    }
    if (gaps->count > 0 && step == 1) {
        put_sizes(out, gaps);
    }
    if (block_of(gaps, step) > 0) {
        output_print(out,
                     "each gap ends a multiple of %" PRIu64
                     " after the first integer: unused ends of blocks\n",
                     block_of(gaps, step));
    }
    const firn_scheme *scheme = find_scheme(gaps);
    char text[256];
    if (scheme != NULL) {
        snprintf(
            text, sizeof text,
            "These are probably not integers of a series: they look like IDs of %s or of a similar "
            "scheme. Add --scheme %s, or the right one.",
            scheme->name, scheme->name);
        output_wrap(out, "  ", 2, text);
    } else if (gaps->count > 0) {
        output_wrap(out, "  ", 2, explain(gaps));
    }
}

static json_int_t whole(uint64_t number) {
    return number < INT64_MAX ? (json_int_t)number : INT64_MAX;
}

static json_t *gap_object(const gap_finder *gaps, const id_gap *gap, uint64_t step) {
    gap_text text;
    describe_gap(&text, gaps, gap, step);
    json_t *object = json_pack("{s:s, s:s, s:I}", "first", text.first, "last", text.last, "missing",
                               whole(text.missing));
    if (gaps->kind != KIND_INTEGERS) {
        json_object_set_new(object, "place", json_string(text.place));
    }
    return object;
}

static void put_json(output *out, const gap_finder *gaps, uint64_t step) {
    json_t *list = json_array(), *sizes = json_array();
    uint64_t from = 1;
    for (size_t i = 0; i < gaps->shown_count; i++) {
        json_array_append_new(list, gap_object(gaps, &gaps->shown[i], step));
    }
    for (size_t i = 0; i < SIZES && step == 1; i++, from *= 10) {
        if (gaps->sizes[i] > 0) {
            json_array_append_new(
                sizes, json_pack("{s:I, s:I}", "from", whole(from), "gaps", whole(gaps->sizes[i])));
        }
    }
    const firn_scheme *scheme = find_scheme(gaps);
    json_line(
        out, json_pack("{s:I, s:I, s:I, s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:s?}", "ids",
                       whole(gaps->ids), "duplicates", whole(gaps->duplicates), "bad",
                       whole(gaps->stream.bad), "bad_first",
                       gaps->stream.bad > 0 ? json_foreign(gaps->stream.bad_one.text) : json_null(),
                       "gaps", whole(gaps->count), "missing", whole(gaps->missing), "largest",
                       whole(gaps->largest), "step", whole(step), "block",
                       whole(block_of(gaps, step)), "sizes", sizes, "first", list, "looks_like",
                       scheme != NULL ? scheme->name : NULL));
}

/* ---- the subcommand -------------------------------------------------------------------------- */

static int open_kind(session *s, gap_finder *gaps) {
    const firn_scheme *scheme = &gaps->stream.reader.scheme;
    gaps->mask = UINT64_MAX;
    if (!gaps->stream.reader.named) {
        return STATUS_DONE;
    }
    gaps->kind = scheme_index(scheme, FIRN_ROLE_SEQUENCE) >= 0 ? KIND_SEQUENCE : KIND_COUNTER;
    if (number_field(gaps) < 0) {
        return fail_usage(s, "%s has neither a sequence nor a counter: leave --gaps out",
                          scheme->name);
    }
    if (scheme->counter_step > 1) {
        return fail_usage(s, "%s does not count in steps of 1: leave --gaps out", scheme->name);
    }
    gaps->mask = firn_scheme_max(scheme, (uint32_t)number_field(gaps)).low;
    return STATUS_DONE;
}

int gaps_run(session *s) {
    static gap_finder gaps; /* static for its size */
    uint64_t memory = 0, step = 1;
    firn_error error;
    spill_open(&gaps.sorted.kept, MEMORY_LEAST, sizeof(uint64_t));
    int status = stream_open(s, &gaps.stream, s->operands, s->operand_count);
    status = status == STATUS_DONE ? amount_memory(s, &memory) : status;
    status = status == STATUS_DONE ? open_kind(s, &gaps) : status;
    if (status != STATUS_DONE) {
        return status;
    }
    if (find_all(&gaps, memory, &error) != FIRN_OK) {
        status = fail(s, &error);
    } else {
        step = gaps.kind == KIND_INTEGERS ? finish_integers(&gaps) : 1;
        if (gaps.kind == KIND_COUNTER && gaps.any) {
            end_counts(&gaps);
        }
        if (s->option[OPTION_JSON] != NULL) {
            put_json(&s->out, &gaps, step);
        } else {
            put_human(&s->out, &gaps, step);
        }
        status =
            gaps.count > 0 || gaps.duplicates > 0 || gaps.stream.bad > 0 ? STATUS_NO : STATUS_DONE;
    }
    stream_close(&gaps.stream);
    runs_close(&gaps.sorted);
    return status;
}
