/* SPDX-License-Identifier: MIT */
/* `firn spread`: how the IDs of a stream, or of a scheme that makes some for it, fall over shards
 * by leading bits, modulo and hash, and how sorted they come. A scheme's IDs are made on a clock
 * and a store of this process alone: nothing durable is touched, and the rate is what it
 * would be. */
#include "check/stream.h"
#include "chisquare.h"
#include "pure_verbs.h"
#include "shard.h"
#include "shared/amounts.h"
#include "shared/color.h"
#include "shared/json.h"
#include "shared/operands.h"
#include "shared/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    SHARDS_MOST = 1 << 16,
    NODES_MOST = 64,
    SAMPLE = 100000,
    KEYS_SIZE = 1024,
    BAR = 13,       /* characters of the fullest bar */
    BARS_MOST = 32, /* more shards than that share a bar */
    EACH_LEAST = 5  /* IDs a shard: fewer say nothing */
};

#define UNEVEN 0.001 /* lower odds are not chance */

/* ---- ways to a shard ----------------------------------------------------------------------- */

/* The 64 most significant bits of the width. */
static uint64_t leading(const firn_id *id) {
    uint32_t below; /* bits of the lower word that are wanted too */
    uint64_t upper = id->low, lower = 0;
    if (id->bits > 128) {
        upper = id->top;
        lower = id->high;
    } else if (id->bits > 64) {
        upper = id->high;
        lower = id->low;
    }
    below = (64 - id->bits % 64) % 64;
    return below == 0 ? upper : upper << below | lower >> (64 - below);
}

/* floor(v * shards / 2^64) */
static uint32_t by_leading(const firn_id *id, uint32_t shards) {
    uint64_t v = leading(id);
    return (uint32_t)(((v >> 32) * shards + ((v & UINT32_MAX) * shards >> 32)) >> 32);
}

static uint32_t by_modulo(const firn_id *id, uint32_t shards) {
    uint64_t rest = id->top % shards;
    const uint64_t words[2] = {id->high, id->low};
    for (int i = 0; i < 2; i++) {
        rest = (rest << 32 | words[i] >> 32) % shards;
        rest = (rest << 32 | (words[i] & UINT32_MAX)) % shards;
    }
    return (uint32_t)rest;
}

typedef struct way {
    const char *name;
    uint32_t (*shard)(const firn_id *id, uint32_t shards);
} way;

static const way ways[] = {
    {"leading bits", by_leading}, {"modulo", by_modulo}, {"hash", shard_by_hash}};
enum { WAYS = sizeof ways / sizeof ways[0] };

typedef struct spread_run {
    id_stream stream;  /* of a file */
    const char *about; /* the scheme, or the name of the input */
    uint32_t shards;
    uint64_t found[WAYS][SHARDS_MOST];

    uint64_t ids;
    firn_id last, greatest;
    uint64_t ascending, out_of_order, equal; /* compared with the one before */
    uint64_t right;        /* greater than all before: added at an index's right edge */
    uint64_t run, longest; /* IDs in ascending order */
} spread_run;

static void add(spread_run *run, const firn_id *id) {
    int order = run->ids > 0 ? firn_id_cmp(id, &run->last) : 1;
    for (size_t i = 0; i < WAYS; i++) {
        run->found[i][ways[i].shard(id, run->shards)]++;
    }
    if (run->ids > 0) {
        run->ascending += order > 0;
        run->out_of_order += order < 0;
        run->equal += order == 0;
    }
    if (run->ids == 0 || firn_id_cmp(id, &run->greatest) > 0) {
        run->right++;
        run->greatest = *id;
    }
    run->run = order > 0 ? run->run + 1 : 1;
    run->longest = run->run > run->longest ? run->run : run->longest;
    run->last = *id;
    run->ids++;
}

/* ---- a stream ------------------------------------------------------------------------------ */

static int take(void *context, const id_batch *batch, bool *stop, firn_error *error) {
    (void)stop, (void)error;
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->ids[i].bits != 0) {
            add(context, &batch->ids[i]);
        }
    }
    return FIRN_OK;
}

static int add_stream(session *s, spread_run *run) {
    firn_error error;
    int code = stream_each(&run->stream, "reading", take, run, &error);
    stream_close(&run->stream);
    return code == FIRN_OK ? STATUS_DONE : fail(s, &error);
}

/* ---- a sample ------------------------------------------------------------------------------ */

/* The time of the sample: it advances when an ID is generated, or when a generator waits. */
typedef struct sample_clock {
    firn_time now;
    int64_t steady_ns;
} sample_clock;

static void go_on(sample_clock *clock, int64_t ns) {
    int64_t part = clock->now.ns + ns % 1000000000;
    clock->steady_ns += ns;
    clock->now.sec += ns / 1000000000 + part / 1000000000;
    clock->now.ns = (int32_t)(part % 1000000000);
}

static int sample_wall(void *self, firn_time *now) {
    *now = ((sample_clock *)self)->now;
    return FIRN_OK;
}

static int sample_steady(void *self, int64_t *ns) {
    *ns = ((sample_clock *)self)->steady_ns;
    return FIRN_OK;
}

static int sample_pause(void *self, int64_t ns) {
    go_on(self, ns > 0 ? ns : 1);
    return FIRN_OK;
}

/* Numbers that are the same in every run: a counter in steps of the golden ratio, mixed. */
static uint64_t draw(uint64_t *state) {
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return fmix64(*state);
}

static int sample_fill(void *self, void *out, size_t size) {
    uint8_t *position = out;
    while (size > 0) {
        uint64_t word = draw(self);
        size_t part = size < sizeof word ? size : sizeof word;
        memcpy(position, &word, part);
        position += part;
        size -= part;
    }
    return FIRN_OK;
}

typedef struct spread_sample {
    sample_clock clock;
    uint64_t entropy,
        arrivals; /* separate states, so that the arrivals are the same for every scheme */
    firn_store *store;
    firn_gen *gens[NODES_MOST];
    uint64_t nodes, count;
    double rate;
} spread_sample;

/* The keys of a generator: all but when the sample begins. */
static int join_keys(session *s, char keys[KEYS_SIZE]) {
    static const char *const ours[] = {"time", NULL};
    if (operand_value(s, "unsafe") != NULL) {
        return fail_usage(s, "spread uses no store: remove unsafe=");
    }
    int status = operands_join(s, ours, 16, keys, KEYS_SIZE);
    operands_assume(s, "full", "wait", keys, KEYS_SIZE);
    return status;
}

static int begin_clock(session *s, spread_sample *sample) {
    const char *text = operand_value(s, "time");
    struct timespec now = {0};
    firn_error error;
    sample->clock.steady_ns = 1000000000;
    if (text == NULL) {
        clock_gettime(CLOCK_REALTIME, &now);
        sample->clock.now = (firn_time){now.tv_sec, (int32_t)now.tv_nsec};
        return STATUS_DONE;
    }
    int code = pure_time(&sample->clock.now, text, strlen(text), &error);
    return argument_code(code, &error) == FIRN_OK ? STATUS_DONE : fail(s, &error);
}

/* The generators: as many as nodes, on one clock and one store in memory. */
static int open_sample(session *s, spread_sample *sample, firn_error *error) {
    char keys[KEYS_SIZE];
    const firn_clock clock = {1, &sample->clock, sample_wall, sample_steady, sample_pause};
    const firn_entropy entropy = {1, &sample->entropy, sample_fill};
    static firn_clock hands;
    static firn_entropy dice;
    hands = clock; /* clock and entropy outlive the generators */
    dice = entropy;
    firn_config config = {.size = sizeof config,
                          .scheme = s->operands[0],
                          .keys = keys,
                          .clock = &hands,
                          .entropy = &dice};
    int status = join_keys(s, keys);
    if (status != STATUS_DONE) {
        error->code = FIRN_OK; /* said */
        return FIRN_EUSAGE;
    }
    int code = firn_store_open(&sample->store, "memory:", NULL, error);
    config.store = sample->store;
    for (uint64_t i = 0; i < sample->nodes && code == FIRN_OK; i++) {
        code = firn_open_with(&sample->gens[i], &config, error);
    }
    return argument_code(code, error);
}

/* Random nodes request IDs at random times: a Poisson stream. */
static int issue(spread_run *spread, spread_sample *sample, firn_error *error) {
    progress shown = {.label = "generating"};
    int code = FIRN_OK;
    for (uint64_t i = 0; i < sample->count && code == FIRN_OK; i++) {
        double chance = ((double)(draw(&sample->arrivals) >> 11) + 0.5) * 0x1p-53;
        double gap_ns = -log(chance) / sample->rate * 1e9;
        go_on(&sample->clock, gap_ns < 1e17 ? (int64_t)gap_ns : (int64_t)1e17);
        firn_gen *gen = sample->gens[draw(&sample->arrivals) % sample->nodes];
        firn_id id;
        code = firn_next(gen, &id, error);
        if (code == FIRN_OK) {
            add(spread, &id);
        }
        if (i % 4096 == 0) {
            progress_show(&shown, (int64_t)i, (int64_t)sample->count);
        }
    }
    progress_end(&shown);
    return code;
}

static int add_sample(session *s, spread_run *spread) {
    static spread_sample sample;
    int64_t count;
    firn_error error = {0};
    int status = command_count(s, SAMPLE, &count);
    status = status == STATUS_DONE ? amount_rate(s, 1000, &sample.rate) : status;
    status = status == STATUS_DONE ? amount_number(s, OPTION_NODES, 1, 1, NODES_MOST, &sample.nodes)
                                   : status;
    status = status == STATUS_DONE ? begin_clock(s, &sample) : status;
    if (status != STATUS_DONE) {
        return status;
    }
    sample.count = (uint64_t)count;
    sample.entropy = 1;
    sample.arrivals = 2;
    int code = open_sample(s, &sample, &error);
    if (code == FIRN_OK) {
        code = issue(spread, &sample, &error);
    }
    for (uint64_t i = 0; i < sample.nodes; i++) {
        if (sample.gens[i] != NULL) {
            firn_close(sample.gens[i], NULL); /* the store is gone with it */
        }
    }
    firn_store_close(sample.store);
    return code == FIRN_OK ? STATUS_DONE : error.code == FIRN_OK ? STATUS_USAGE : fail(s, &error);
}

/* ---- the report ---------------------------------------------------------------------------- */

/* The judgement of the counts of one way. */
typedef struct spread_verdict {
    double value, odds; /* of chi-square */
    double fullest;     /* IDs of the fullest shard, its fair share being 1 */
    uint64_t empty;
    const char *word;
} spread_verdict;

static spread_verdict judge(const spread_run *run, size_t w) {
    spread_verdict verdict = {.value = chisquare_value(run->found[w], run->shards)};
    uint64_t most = 0;
    for (uint32_t i = 0; i < run->shards; i++) {
        most = run->found[w][i] > most ? run->found[w][i] : most;
        verdict.empty += run->found[w][i] == 0;
    }
    verdict.odds = chisquare_odds(verdict.value, run->shards - 1);
    verdict.fullest = run->ids > 0 ? (double)most * run->shards / (double)run->ids : 0;
    verdict.word = verdict.odds < UNEVEN ? "uneven" : "even";
    if (run->ids < (uint64_t)EACH_LEAST * run->shards) {
        verdict.word = "too few IDs";
    }
    return verdict;
}

/* A line of bars: shards first..last. */
static void put_bars(session *s, const spread_run *run, uint32_t first, uint32_t last,
                     const uint64_t fullest[WAYS]) {
    const char *color = color_of(s, TONE_GREEN), *plain = color_plain(s);
    char label[32];
    snprintf(label, sizeof label, first == last ? "%u" : "%u-%u", first, last);
    output_print(&s->out, "%11s", label);
    for (size_t w = 0; w < WAYS; w++) {
        uint64_t found = 0;
        for (uint32_t i = first; i <= last; i++) {
            found += run->found[w][i];
        }
        int length = fullest[w] > 0 ? (int)((double)found / (double)fullest[w] * BAR + 0.5) : 0;
        output_print(&s->out, "  %s%.*s%s%*s", color, length, "##############", plain, BAR - length,
                     "");
        double share = run->ids > 0 ? (double)found * 100 / (double)run->ids : 0;
        output_print(&s->out, "%7.2f", share);
    }
    output_text(&s->out, "\n");
}

static void put_table(session *s, const spread_run *run) {
    uint32_t each = (run->shards + BARS_MOST - 1) / BARS_MOST;
    uint64_t fullest[WAYS] = {0};
    for (size_t w = 0; w < WAYS; w++) {
        for (uint32_t first = 0; first < run->shards; first += each) {
            uint64_t found = 0;
            for (uint32_t i = first; i < first + each && i < run->shards; i++) {
                found += run->found[w][i];
            }
            fullest[w] = found > fullest[w] ? found : fullest[w];
        }
    }
    output_print(&s->out, "%11s", each > 1 ? "shards" : "shard");
    for (size_t w = 0; w < WAYS; w++) {
        output_print(&s->out, "  %-*s      %%", BAR, ways[w].name);
    }
    output_text(&s->out, "\n");
    for (uint32_t first = 0; first < run->shards; first += each) {
        uint32_t last = first + each - 1 < run->shards ? first + each - 1 : run->shards - 1;
        put_bars(s, run, first, last, fullest);
    }
}

static void put_human(session *s, const spread_run *run) {
    double steps = run->ids > 1 ? (double)run->ids - 1 : 1,
           all = run->ids > 0 ? (double)run->ids : 1;
    char lead[32], text[256];
    output_print(&s->out, "%s: %" PRIu64 " ID%s in %u shards\n\n", run->about, run->ids,
                 plural(run->ids), run->shards);
    put_table(s, run);
    output_text(&s->out, "\n");
    for (size_t w = 0; w < WAYS; w++) {
        spread_verdict verdict = judge(run, w);
        snprintf(lead, sizeof lead, "%-12s  ", ways[w].name);
        snprintf(text, sizeof text,
                 "%s: fullest %.2f times its share, %" PRIu64 " empty; chi-square %.6g, p %.3g",
                 verdict.word, verdict.fullest, verdict.empty, verdict.value, verdict.odds);
        output_wrap(&s->out, lead, 14, text);
    }
    snprintf(text, sizeof text,
             "ascending %.2f %%, %" PRIu64 " out of order, %" PRIu64 " equal; longest run %" PRIu64
             "; greater than all before %.2f %%",
             (double)run->ascending * 100 / steps, run->out_of_order, run->equal, run->longest,
             (double)run->right * 100 / all);
    output_wrap(&s->out, "arrival       ", 14, text);
    stream_put_bad(&s->out, &run->stream);
}

static json_t *way_object(const spread_run *run, size_t w) {
    spread_verdict verdict = judge(run, w);
    json_t *counts = json_array();
    for (uint32_t i = 0; i < run->shards && counts != NULL; i++) {
        counts = json_with(counts, json_integer((json_int_t)run->found[w][i]));
    }
    return json_pack("{s:s, s:s, s:f, s:i, s:f, s:f, s:I, s:o}", "way", ways[w].name, "verdict",
                     verdict.word, "chi_square", verdict.value, "freedom", (int)run->shards - 1,
                     "p", verdict.odds, "fullest", verdict.fullest, "empty",
                     (json_int_t)verdict.empty, "counts", counts);
}

static void put_json(output *out, const spread_run *run) {
    json_line(out,
              json_pack("{s:o, s:I, s:i, s:I, s:[o, o, o], s:{s:I, s:I, s:I, s:I, s:I}}", "of",
                        json_foreign(run->about), "ids", (json_int_t)run->ids, "shards",
                        (int)run->shards, "bad", (json_int_t)run->stream.bad, "ways",
                        way_object(run, 0), way_object(run, 1), way_object(run, 2), "order",
                        "ascending", (json_int_t)run->ascending, "out_of_order",
                        (json_int_t)run->out_of_order, "equal", (json_int_t)run->equal, "longest",
                        (json_int_t)run->longest, "greatest", (json_int_t)run->right));
}

/* ---- the subcommand ------------------------------------------------------------------------ */

/* A scheme precedes a file of the same name (use ./NAME). What looks like a path and not like a
 * layout is a file, so that the error names the missing file. */
static bool is_file(const char *word) {
    if (firn_scheme_find(word) != NULL) {
        return false;
    }
    bool path = strpbrk(word, "./") != NULL && strchr(word, ':') == NULL;
    return path || strcmp(word, "-") == 0 || access(word, F_OK) == 0;
}

static int refuse(session *s, const char *what, const int *options) {
    for (; *options != OPTION_END; options++) {
        if (s->option[*options] != NULL) {
            return fail_usage(s, "--%s applies to %s: remove it", option_names[*options].name,
                              what);
        }
    }
    return STATUS_DONE;
}

/* A setting of the layout, which the readers of streams look for among the options. */
static int take_layout(session *s, const char *word) {
    static const int layout[] = {OPTION_EPOCH, OPTION_BITS, OPTION_DIGITS};
    for (size_t i = 0; i < sizeof layout / sizeof *layout; i++) {
        if (operand_is(word, option_names[layout[i]].name)) {
            s->option[layout[i]] = strchr(word, '=') + 1;
            return STATUS_DONE;
        }
    }
    return fail_usage(s, "'%.60s' applies to a SCHEME, for which IDs are generated: remove it",
                      word);
}

static int spread_file(session *s, spread_run *run) {
    static const int of_schemes[] = {OPTION_COUNT, OPTION_RATE, OPTION_NODES, OPTION_END};
    int status = refuse(s, "a SCHEME, for which IDs are generated", of_schemes);
    for (size_t i = 1; i < s->operand_count && status == STATUS_DONE; i++) {
        status = take_layout(s, s->operands[i]);
    }
    status = status == STATUS_DONE ? stream_open(s, &run->stream, s->operands, 1) : status;
    run->about = strcmp(s->operands[0], "-") == 0 ? "standard input" : s->operands[0];
    return status == STATUS_DONE ? add_stream(s, run) : status;
}

static int spread_scheme(session *s, spread_run *run) {
    static const int of_streams[] = {OPTION_SCHEME, OPTION_FROM, OPTION_KEEP_GOING, OPTION_END};
    firn_scheme scheme;
    int status = refuse(s, "a stream", of_streams);
    status = status == STATUS_DONE ? operand_scheme(s, &scheme) : status;
    run->about = s->operands[0];
    return status == STATUS_DONE ? add_sample(s, run) : status;
}

int run_spread(session *s) {
    static spread_run run; /* static for its size */
    uint64_t shards;
    int status = operands_split(s, 1, 1, 1, "a SCHEME, a FILE or -");
    if (status == STATUS_DONE) {
        status = amount_number(s, OPTION_SHARDS, 16, 2, SHARDS_MOST, &shards);
    }
    if (status != STATUS_DONE) {
        return status;
    }
    run.shards = (uint32_t)shards;
    status = is_file(s->operands[0]) ? spread_file(s, &run) : spread_scheme(s, &run);
    if (status != STATUS_DONE) {
        return status;
    }
    if (s->option[OPTION_JSON] != NULL) {
        put_json(&s->out, &run);
    } else {
        put_human(s, &run);
    }
    return run.stream.bad > 0 ? STATUS_NO : STATUS_DONE;
}
