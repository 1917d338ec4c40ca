/* SPDX-License-Identifier: MIT */
/* A job: IDs for old records, the same at each run. A job is a generator without a clock: the
 * records have their times, the ticks are counted in memory, the randomness follows from a seed,
 * and the node belongs to the job for good. */
#include "entropy.h"
#include "error.h"
#include "fork_memory.h"
#include "gen.h"
#include "stream.h"

#include <assert.h>
#include <endian.h>
#include <inttypes.h>
#include <sha2.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Marks the word of a full tick: its other bits say how many ticks later there may be room. Without
 * the mark, a word is the number of IDs that the tick has had. */
#define FULL (UINT64_C(1) << 63)

#define CAPACITY_MAX (UINT64_C(1) << 62) /* IDs of a tick, for every layout */
#define SHIFT_MAX    86400000            /* ms */
#define MS           INT64_C(1000000)    /* ns */
#define LOADING      16384 /* digests, 5 ms: by then a hasher that takes 2 ms to load is worth it */
#define DISORDER_MAX (INT64_MAX / MS - 2000) /* ms; two seconds more are still ns of 63 bits */

struct firn_job {
    firn_gen *gen;
    firn_id base; /* constants and fixed fields */
    firn__ticks ticks;
    uint64_t shift_ticks;   /* a record moves by at most this many */
    uint64_t capacity;      /* IDs of a tick: 1..CAPACITY_MAX */
    uint64_t numbers;       /* how many values the count of a tick has; 0: more than CAPACITY_MAX */
    uint64_t start_below;   /* the count of a tick begins below this; 1: at 0 */
    uint64_t counter_start; /* of schemes with a counter */
    firn_time newest;       /* of the records so far */
    bool any;               /* there was a record */
    bool again;
    int64_t shift_ms, disorder_ms;

    firn_entropy entropy;                  /* a stream that follows from the seed */
    uint8_t key[SHA256_DIGEST_LENGTH + 9]; /* of the seed; a purpose and a number follow it */
    uint64_t words[4];                     /* of the stream; the last `left` are unused */
    uint64_t blocks;                       /* of 4 words, computed so far */
    uint32_t left;                         /* unused words */
    uint64_t derived;                      /* digests so far */
    void *hasher;                          /* NULL: libmd's */
    uint64_t tick; /* whose start is kept: most records have the tick of the record before */
    firn_value start;
    bool started;
};

/* ---- what follows from the seed -------------------------------------------------------------- */

static void hash_text(SHA2_CTX *context, const char *text) {
    text = text != NULL ? text : "";
    SHA256Update(context, (const uint8_t *)text, strlen(text) + 1);
}

static void put_word(uint8_t out[8], uint64_t word) {
    word = htobe64(word);
    memcpy(out, &word, sizeof word);
}

/* The words of a digest, the same on every machine. */
static void get_words(uint64_t words[4], const uint8_t digest[SHA256_DIGEST_LENGTH]) {
    memcpy(words, digest, SHA256_DIGEST_LENGTH);
    for (int i = 0; i < 4; i++) {
        words[i] = be64toh(words[i]);
    }
}

static void key_of_seed(uint8_t key[SHA256_DIGEST_LENGTH], const char *seed) {
    SHA2_CTX context;
    SHA256Init(&context);
    hash_text(&context, "firn job");
    hash_text(&context, seed);
    SHA256Final(key, &context);
}

/* Large jobs hash with the processor's instructions. Another thread may be loading the module, so a
 * job tries again. */
static void look_for_hasher(firn_job *job) {
    if (++job->derived % LOADING == 0 && job->hasher == NULL && firn__wiped_may_load() &&
        firn__stream_ready(true)) {
        job->hasher = firn__hasher_open();
    }
}

/* Block `number` for one purpose, from the seed: 's' the stream, 't' the starts of ticks. */
static void derive_words(uint64_t words[4], firn_job *job, char purpose, uint64_t number) {
    uint8_t digest[SHA256_DIGEST_LENGTH];
    job->key[SHA256_DIGEST_LENGTH] = (uint8_t)purpose;
    put_word(job->key + SHA256_DIGEST_LENGTH + 1, number);
    look_for_hasher(job);
    if (job->hasher == NULL ||
        !firn__hasher_digest(job->hasher, digest, job->key, sizeof job->key)) {
        SHA2_CTX context;
        SHA256Init(&context);
        SHA256Update(&context, job->key, sizeof job->key);
        SHA256Final(digest, &context);
    }
    get_words(words, digest);
}

/* The stream as a source of entropy. Callers read whole words, so the words are in the machine's
 * byte order: the numbers are then the same on every machine. */
static int job_fill(void *self, void *out, size_t size) {
    firn_job *job = self;
    uint8_t *bytes = out;
    assert(size % 8 == 0);
    for (size_t done = 0; done < size; done += 8) {
        if (job->left == 0) {
            derive_words(job->words, job, 's', job->blocks++);
            job->left = 4;
        }
        uint64_t word = job->words[4 - job->left--];
        memcpy(bytes + done, &word, sizeof word);
    }
    return FIRN_OK;
}

/* Where a tick begins: its sequence below start_below, or its random bits. It follows from the
 * tick, so nothing is stored. */
static firn_value start_of(firn_job *job, uint64_t tick) {
    if (!job->started || job->tick != tick) {
        uint64_t words[4];
        derive_words(words, job, 't', tick);
        job->start = (firn_value){words[0], words[1]};
        job->tick = tick;
        job->started = true;
    }
    return job->start;
}

/* ---- slots ----------------------------------------------------------------------------------- */

/* Whether the first ID of a tick draws its random bits and the next IDs count on from there.
 * Drawing each one could repeat an ID. */
static bool counts_random(const firn_gen *gen) {
    return gen->kind == FIRN__KIND_RANDOM || gen->scheme.monotonic;
}

/* Schemes that sort within a tick start in its lower half and end at its end; others start anywhere
 * and wrap round. */
static void set_capacity(firn_job *job) {
    const firn_gen *gen = job->gen;
    bool random = counts_random(gen);
    bool starts = gen->random_bits > 0 && gen->kind == FIRN__KIND_SLOTS &&
                  gen->start != FIRN_START_ZERO; /* uuid7 */
    uint32_t bits = random ? gen->random_bits : gen->count_bits;
    job->capacity = CAPACITY_MAX;
    job->start_below = 1;
    if (bits > 62) {
        return; /* too wide to be used up */
    }
    job->numbers = firn__mask(bits) + 1;
    if (random) {
        int field = firn__scheme_role(&gen->scheme, FIRN_ROLE_RANDOM);
        /* For example 10^6. */
        job->numbers = firn_scheme_max(&gen->scheme, (uint32_t)field).low + 1;
    }
    job->capacity = job->numbers;
    if (random && !gen->scheme.monotonic) {
        job->start_below = job->numbers;
    } else if ((random || starts) && job->numbers > 1) {
        uint64_t half = job->numbers / 2;
        job->start_below = random || gen->start_below > half ? half : gen->start_below;
        job->capacity -= job->start_below - 1;
    }
}

/* The first tick from `tick` to `last` that has room, and its pair; NULL: none has room. The full
 * ticks on the way then point to the end, so a burst visits each of them a few times only. */
static uint64_t *tick_with_room(firn_job *job, uint64_t tick, uint64_t last, uint64_t *found) {
    uint64_t free_tick = tick, *pair = firn__ticks_pair(&job->ticks, free_tick);
    while (pair[1] & FULL && free_tick <= last) { /* each step moves by at least one tick */
        free_tick += pair[1] & ~FULL;
        pair = firn__ticks_pair(&job->ticks, free_tick);
    }
    for (uint64_t passed = tick; passed < free_tick;) {
        uint64_t *full = firn__ticks_pair(&job->ticks, passed), count = full[1] & ~FULL;
        full[1] = FULL | (free_tick - passed);
        passed += count;
    }
    *found = free_tick;
    return free_tick <= last ? pair : NULL;
}

/* The number of the i-th ID of a tick. */
static firn_value number_at(firn_job *job, uint64_t tick, uint64_t i) {
    const firn_gen *gen = job->gen;
    firn_value out = {i, 0};
    if (job->numbers == 0) { /* ulid, ksuid */
        firn_value first = start_of(job, tick);
        first = firn__part(first, 0, gen->random_bits - gen->scheme.monotonic);
        out.low = first.low + i;
        out.high = first.high + (out.low < i);
        return firn__part(out, 0, gen->random_bits);
    }
    if (job->start_below > 1) {
        out.low += start_of(job, tick).low % job->start_below;
        out.low -= out.low >= job->numbers ? job->numbers : 0;
    }
    return out;
}

static void draw(firn_job *job, uint64_t tick, uint64_t i, firn__draw *out) {
    const firn_gen *gen = job->gen;
    *out = (firn__draw){tick, 0, {0, 0}};
    if (counts_random(gen)) {
        out->random = number_at(job, tick, i);
        return;
    }
    out->count = gen->kind == FIRN__KIND_COUNTED
                     ? firn__history_counter(gen, tick, job->counter_start, i)
                     : number_at(job, tick, i).low;
    if (gen->random_bits > 0) {
        int code = firn__gen_random(gen, &out->random, NULL);
        /* A seed's stream never fails; without a seed there are no random bits. */
        assert(code == FIRN_OK);
    }
}

/* ---- limits ---------------------------------------------------------------------------------- */

static int refuse_room(const firn_job *job, const firn_time *time, uint64_t ticks,
                       firn_error *error) {
    const firn_scheme *scheme = &job->gen->scheme;
    char when[FIRN_TIME_SIZE];
    firn_time_format(when, time, firn_scheme_digits(scheme));
    if (ticks <= job->shift_ticks) {
        return firn_error_set(
            error, FIRN_ELAYOUT, FIRN_CURE_OTHER_SCHEME,
            "no slot of %s is left from " FIRN__VALUE("%s") " to the end of the layout",
            scheme->name, when);
    }
    uint64_t rows = job->capacity > UINT64_MAX / ticks ? UINT64_MAX : job->capacity * ticks;
    return firn_error_set(error, FIRN_EFULL, FIRN_CURE_RAISE_SHIFT,
                          "more than %" PRIu64 " records share " FIRN__VALUE(
                              "%s") ", which is the limit of that tick and "
                                    "the " FIRN__LIMIT("%" PRId64 " ms") " after it",
                          rows, when, job->shift_ms);
}

/* Records may be out of order within the limit, if there is one. */
static int check_order(const firn_job *job, const firn_time *time, firn_error *error) {
    int64_t most = job->disorder_ms * MS;
    if (!job->any || firn_time_cmp(time, &job->newest) >= 0) {
        return FIRN_OK;
    }
    uint64_t sec = (uint64_t)job->newest.sec - (uint64_t)time->sec;
    int64_t ns = job->newest.ns - time->ns;
    if (sec <= (uint64_t)most / 1000000000 + 1 && (int64_t)sec * 1000000000 + ns <= most) {
        return FIRN_OK;
    }
    char when[FIRN_TIME_SIZE];
    sec -= ns < 0;
    ns += ns < 0 ? 1000000000 : 0;
    return firn_error_set(
        error, FIRN_ERANGE, FIRN_CURE_RAISE_DISORDER,
        FIRN__VALUE("%s") " is %" PRIu64
                          ".%03d s earlier than the newest record, more than " FIRN__LIMIT(
                              "%" PRId64 ".%03d"),
        firn_time_format(when, time, firn_scheme_digits(&job->gen->scheme)), sec, (int)(ns / MS),
        job->disorder_ms / 1000, (int)(job->disorder_ms % 1000));
}

/* No record that check_order accepts has a tick before this one. A record that may still be refused
 * changes nothing. */
static uint64_t forgotten(const firn_job *job) {
    uint64_t back = (uint64_t)firn__ms_ticks(job->gen, job->disorder_ms), newest = 0;
    if (job->any) {
        firn_scheme_tick(&job->gen->scheme, &job->newest, &newest, NULL); /* the job has a tick */
    }
    return newest > back ? newest - back : 0;
}

int firn_job_next(firn_job *job, const firn_time *time, firn_id *id, int64_t *shift_ns,
                  firn_error *error) {
    const firn_gen *gen = job->gen;
    uint64_t tick, free_tick;
    firn__draw drawn;
    firn__wiped_look();
    if (atomic_load_explicit(&gen->live->any.serial, memory_order_relaxed) == 0) {
        return firn_error_set(
            error, FIRN_EFORKED, FIRN_CURE_OPEN_OWN,
            "the job belongs to the parent of this process, which may issue the same "
            "IDs: open another job");
    }
    int code = firn__history_tick(gen, time, &tick, error);
    if (code == FIRN_OK && job->disorder_ms > 0) {
        code = check_order(job, time, error);
    }
    if (code == FIRN_OK && firn__ticks_full(&job->ticks)) {
        code = firn__ticks_make_room(&job->ticks, forgotten(job), error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    uint64_t rest = gen->tick_end - 1 - tick;
    uint64_t last = tick + (rest < job->shift_ticks ? rest : job->shift_ticks);
    uint64_t *pair = tick_with_room(job, tick, last, &free_tick);
    if (pair == NULL) {
        return refuse_room(job, time, rest < job->shift_ticks ? 1 : job->shift_ticks + 1, error);
    }
    draw(job, free_tick, pair[1], &drawn);
    firn__ticks_keep(&job->ticks, pair, free_tick);
    pair[1] = pair[1] + 1 < job->capacity ? pair[1] + 1 : FULL | 1;
    firn__gen_pack(gen, &drawn, &job->base, id);
    *shift_ns = (int64_t)((free_tick - tick) * gen->scheme.tick_ns);
    if (job->disorder_ms > 0 && (!job->any || firn_time_cmp(time, &job->newest) > 0)) {
        job->newest = *time;
        job->any = true;
    }
    return FIRN_OK;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Refuses keys of live issue, which have no meaning for a job. */
static int check_keys(const firn_gen *gen, firn_error *error) {
    static const char own[] = "ns node reach reserve_claim epoch bits digits unsigned";
    const firn__keys *keys = &gen->keys;
    const char *other = NULL;
#define NUMBER(name, initial, least, most, text)                                                   \
    other = keys->name != (initial) && !firn__names_hold(own, #name) ? #name : other;
#define DURATION(name, unit, initial, least, most, text)                                           \
    other = keys->name##_##unit != (initial) && !firn__names_hold(own, #name) ? #name : other;
#define CHOICE(name, initial, words, text)                                                         \
    other = keys->name##_ != (initial) && !firn__names_hold(own, #name) ? #name : other;
#define WORD(name, text)                                                                           \
    other = keys->name != NULL && !firn__names_hold(own, #name) ? #name : other;
#include "keys.def"
    if (other != NULL) {
        return firn_error_set(
            error, FIRN_EUSAGE, FIRN_CURE_LEAVE_OUT,
            "%s= is not a key of a job, which has the fields of %s and %s: leave it out", other,
            gen->scheme.name, own);
    }
    return gen->ticket_field < 0
               ? FIRN_OK
               : firn_error_set(error, FIRN_EUSAGE, FIRN_CURE_NUMBER_OR_JOB,
                                FIRN__VALUE("%s=ticket") " would change from run to run",
                                gen->scheme.slices[gen->ticket_field].name);
}

static int check_number(const char *name, int64_t value, int64_t most, firn_error *error) {
    return value >= 0 && value <= most
               ? FIRN_OK
               : firn__fail(error, FIRN_ERANGE,
                            "%s=" FIRN__VALUE("%" PRId64) " is out of range (" FIRN__LIMIT(
                                "0 to %" PRId64) ")",
                            name, value, most);
}

static int check_job_name(const firn_job_config *config, firn_error *error) {
    size_t length = config->name != NULL ? strlen(config->name) : 0;
    if (config->store == NULL) {
        return FIRN_OK;
    }
    if (length == 0) {
        return firn_error_set(error, FIRN_EUSAGE, FIRN_CURE_NAME_JOB,
                              "a job with a store needs its own name");
    }
    if (length >= FIRN_KEY_SIZE) {
        return firn__fail(error, FIRN_ERANGE,
                          "the job's name %.20s... has %zu bytes: use at most %d", config->name,
                          length, FIRN_KEY_SIZE - 1);
    }
    for (const char *character = config->name; *character != '\0'; character++) {
        if ((unsigned char)*character < ' ' || *character == 127) {
            return firn_error_set(error, FIRN_EUSAGE, FIRN_CURE_LEAVE_OUT,
                                  "the job's name '%s' contains a control character: leave it out",
                                  config->name);
        }
    }
    return FIRN_OK;
}

/* Without a store, the caller must set every part of the node. */
static int check_node(const firn_gen *gen, firn_error *error) {
    char missing[100] = "";
    size_t length = 0;
    if (!firn__reserves(gen) || gen->fixed) {
        return FIRN_OK;
    }
    for (uint32_t i = 0; i < gen->scheme.slice_count && length < sizeof missing - 20; i++) {
        if (firn__scheme_is_node(&gen->scheme, i) && firn_scheme_first(&gen->scheme, i) == i &&
            !(gen->kept.fields.given >> i & 1)) {
            length += (size_t)snprintf(missing + length, sizeof missing - length,
                                       " %s=", gen->scheme.slices[i].name);
        }
    }
    return firn_error_set(error, FIRN_EUSAGE, FIRN_CURE_SET_NODE,
                          "%s needs a node (" FIRN__VALUE("%s") ")", gen->scheme.name, missing + 1);
}

static int check(const firn_job *job, const firn_job_config *config, bool seeded,
                 firn_error *error) {
    const firn_gen *gen = job->gen;
    int code = check_keys(gen, error);
    if (code == FIRN_OK && gen->scheme.tick_ns == 0) {
        code = firn__fail(error, FIRN_EUSAGE, "%s has no time for the records: use uuid7",
                          gen->scheme.name);
    }
    if (code == FIRN_OK && gen->shuffle.digits > 0 && config->store == NULL) {
        code = firn_error_set(error, FIRN_EUSAGE, FIRN_CURE_JOB_OR_NO_NODE,
                              "the nodes of %s share their digits by a key in the store",
                              gen->scheme.name);
    }
    if (code == FIRN_OK && !seeded && (gen->random_bits > 0 || gen->drawn != 0)) {
        code = firn_error_set(error, FIRN_EUSAGE, FIRN_CURE_SET_SEED, "%s has random fields",
                              gen->scheme.name);
    }
    if (code == FIRN_OK) {
        code = check_number("shift_ms", config->shift_ms, SHIFT_MAX, error);
    }
    if (code == FIRN_OK) {
        code = check_number("disorder_ms", config->disorder_ms, DISORDER_MAX, error);
    }
    if (code == FIRN_OK) {
        code = check_job_name(config, error);
    }
    return code == FIRN_OK && config->store == NULL ? check_node(gen, error) : code;
}

/* ---- on a store ------------------------------------------------------------------------------ */

/* Whether it is the same job: the caller's digest, the names, and everything else that decides
 * about the IDs. The limits too: with raised ones, another record would take the slot of the
 * next. */
static uint64_t grant_of(const firn_gen *gen, const firn_job_config *config) {
    SHA2_CTX context;
    uint64_t words[4];
    uint8_t numbers[24], digest[SHA256_DIGEST_LENGTH];
    put_word(numbers, config->digest);
    put_word(numbers + 8, (uint64_t)config->shift_ms);
    put_word(numbers + 16, (uint64_t)config->disorder_ms);
    SHA256Init(&context);
    SHA256Update(&context, numbers, sizeof numbers);
    hash_text(&context, config->name);
    hash_text(&context, gen->ns);
    hash_text(&context, gen->layout);
    hash_text(&context, gen->scheme.name); /* uuid1 and uuid6 share a namespace and its layout */
    hash_text(&context, config->keys);
    hash_text(&context, config->seed);
    SHA256Final(digest, &context);
    get_words(words, digest);
    return (words[0] & INT64_MAX) | 1;
}

/* The store has one record per job: the first attempt owns the name. */
static int take_name(firn_job *job, const char *name, uint64_t grant, firn_error *error) {
    firn_gen *gen = job->gen;
    char ns[FIRN_NS_SIZE];
    /* a job that runs again finds its own grant */
    firn__attempts sending = {.tries = FIRN__SENDINGS, .sent = true};
    int64_t first;
    snprintf(ns, sizeof ns, "%.*s jobs", FIRN__NS_MOST, gen->ns);
    firn_request request = {
        .ns = ns, .layout = "job", .key = name, .count = 1, .grant = grant, .note = gen->kept.note};
    firn__gen_begin(gen);
    int code = firn__gen_reserve(gen, &request, &sending, &first, error);
    if (code == FIRN_EBUSY) {
        return firn_error_set(error, FIRN_ETAKEN, FIRN_CURE_OTHER_JOB,
                              "job " FIRN__VALUE("%s") " was started with other input or options",
                              name);
    }
    job->again = code == FIRN_OK && sending.held.grant == grant;
    return code;
}

static int open_node(firn_job *job, const firn_job_config *config, firn_error *error) {
    firn_gen *gen = job->gen;
    uint64_t node = gen->pinned;
    int code = FIRN_OK;
    gen->store = config->store;
    if (gen->store != NULL) {
        uint64_t grant = grant_of(gen, config);
        if (firn_store_caution(gen->store) != NULL) {
            firn__gen_notice(gen, "%s", firn_store_caution(gen->store));
        }
        code = take_name(job, config->name, grant, error);
        if (code == FIRN_OK) {
            const firn_entropy *seeded = gen->entropy;
            gen->entropy = NULL; /* shared by all jobs, so it must not follow from one seed */
            code = firn__gen_agree(gen, error);
            gen->entropy = seeded;
        }
        if (code == FIRN_OK && firn__reserves(gen)) {
            code = firn__history_node(gen, true, grant, &node, error);
        }
    } else if (firn__reserves(gen)) {
        char text[128];
        firn__gen_node_text(text, gen, node);
        firn__gen_notice(gen,
                         "%s of %s: without a store, you must make sure that no generator and no "
                         "other job uses this node",
                         text, gen->ns);
    }
    return code == FIRN_OK ? firn__gen_base(gen, node, &job->base, error) : code;
}

/* ---- open and close -------------------------------------------------------------------------- */

static int open_job(firn_job *job, const firn_job_config *config, firn_error *error) {
    bool seeded = config->seed != NULL && config->seed[0] != '\0';
    firn_config made = {.size = sizeof made,
                        .scheme = config->scheme,
                        .keys = config->keys,
                        .entropy = seeded ? &job->entropy : NULL,
                        .notice = config->notice,
                        .notice_self = config->notice_self};
    key_of_seed(job->key, config->seed);
    job->entropy = (firn_entropy){.version = 1, .self = job, .fill = job_fill};
    int code = firn__gen_make(&job->gen, &made, error);
    if (code == FIRN_OK && job->gen->keys.reserve_ms > 0) {
        code = firn__fail(error, FIRN_EUSAGE, "a job holds no reserve: leave reserve out");
    }
    if (code == FIRN_OK) {
        code = check(job, config, seeded, error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    firn_gen *gen = job->gen;
    job->shift_ms = config->shift_ms;
    job->disorder_ms = config->disorder_ms;
    job->shift_ticks = (uint64_t)(config->shift_ms * MS) / gen->scheme.tick_ns;
    set_capacity(job);
    if (gen->kind == FIRN__KIND_COUNTED && gen->drawn != 0) {
        firn_value start = {0, 0};
        code = firn__entropy_bits(gen->entropy, &start, gen->count_bits, error);
        job->counter_start = start.low;
    }
    return code == FIRN_OK ? open_node(job, config, error) : code;
}

int firn_job_open(firn_job **out, const firn_job_config *given, firn_error *error) {
    firn_job_config config = {0};
    firn_job *job = calloc(1, sizeof *job);
    if (job == NULL) {
        return firn__fail(error, FIRN_EMEMORY, "out of memory for a job");
    }
    memcpy(&config, given, given->size < sizeof config ? given->size : sizeof config);
    int code = open_job(job, &config, error);
    if (code != FIRN_OK) {
        firn_job_close(job);
        return code;
    }
    *out = job;
    return FIRN_OK;
}

const firn_scheme *firn_job_scheme(const firn_job *job) {
    return firn_gen_scheme(job->gen);
}

bool firn_job_again(const firn_job *job) {
    return job->again;
}

void firn_job_close(firn_job *job) {
    if (job == NULL) {
        return;
    }
    firn__ticks_free(&job->ticks);
    firn__hasher_close(job->hasher);
    if (job->gen != NULL) {
        firn__gen_dispose(job->gen);
    }
    explicit_bzero(job, sizeof *job); /* what follows from the seed */
    free(job);
}
