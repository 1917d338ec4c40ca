/* SPDX-License-Identifier: MIT */
/* Ten million IDs: 8 generators of 2 schemes in 4 processes, each process with a clock that steps,
 * on one SQLite file. All are merged: no ID twice, every slot inside a grant of its generator, and
 * controls show that both are found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>

#include "folder.h"
#include "issued.h"

#define PROCESSES 4
#define SCHEMES   2
#define LOT       64 /* IDs of one call, at most */
#define NODES     (1 << 16)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define EACH 125000 /* of one generator: sanitizers look at the code, not at the number */
#else
#define EACH 1250000
#endif
#define STEP_AFTER (EACH / 2500) /* lots; the clock steps then */
#define ALL        (PROCESSES * SCHEMES * (size_t)EACH)

/* Positions of time, sequence and node, independent of the library. */
static const struct scheme {
    const char *name, *keys;
    int time_from, seq_from, seq_bits, node_from, node_bits;
} schemes[SCHEMES] = {
    {"snowflake", "window=50ms max_wait=0", 22, 0, 12, 12, 10},
    {"sonyflake", "window=200ms max_wait=0", 24, 16, 8, 0, 16},
};

static uint64_t bits_of(uint64_t id, int from, int bits) {
    return id >> from & ((UINT64_C(1) << bits) - 1);
}

static int64_t slot_of(const struct scheme *self, uint64_t id) {
    return (int64_t)(id >> self->time_from << self->seq_bits |
                     bits_of(id, self->seq_from, self->seq_bits));
}

static uint64_t node_of(const struct scheme *self, uint64_t id) {
    return bits_of(id, self->node_from, self->node_bits);
}

static char *file_of(const char *kind, int process, int scheme) {
    static char path[400];
    snprintf(path, sizeof path, "%s/%s-%d-%d", folder, kind, process, scheme);
    return path;
}

/* ---- a store that writes down what it grants ------------------------------------------------ */

/* [first, end) of a node; a give back has `first` where issuing stopped, and `lowered`. */
typedef struct kept_grant {
    uint64_t node;
    int64_t first, end;
    int64_t lowered;
} kept_grant;

typedef struct grant_recorder {
    firn_store *inner;
    FILE *grants;
} grant_recorder;

static void record(grant_recorder *recorder, const char *key, int64_t first, int64_t end,
                   bool lowered) {
    kept_grant line = {strtoull(key, NULL, 10), first, end, lowered};
    if (fwrite(&line, sizeof line, 1, recorder->grants) != 1) {
        abort();
    }
}

static int recorder_reserve(void *self, const firn_request *request, int64_t *first,
                            firn_mark *held, firn_error *error) {
    grant_recorder *recorder = self;
    int code = firn_store_reserve(recorder->inner, request, first, held, error);
    if (code == FIRN_OK) {
        record(recorder, request->key, *first, *first + request->count, false);
    }
    return code;
}

static int recorder_give_back(void *self, const char *ns, const char *key, const firn_mark *mine,
                              int64_t high, firn_error *error) {
    grant_recorder *recorder = self;
    int code = firn_store_give_back(recorder->inner, ns, key, mine, high, error);
    if (code == FIRN_OK) {
        record(recorder, key, high, mine->high, true);
    }
    return code;
}

static int recorder_list(void *self, const char *ns, firn_visit *visit, void *context,
                         firn_error *error) {
    return firn_store_list(((grant_recorder *)self)->inner, ns, visit, context, error);
}

static void recorder_close(void *self) {
    grant_recorder *recorder = self;
    firn_store_close(recorder->inner);
    fclose(recorder->grants);
    free(recorder);
}

static const firn_store_ops recorder_ops = {.version = FIRN_STORE_OPS_VERSION,
                                            .scheme = "sqlite", /* as embedded as what it wraps */
                                            .reserve = recorder_reserve,
                                            .give_back = recorder_give_back,
                                            .list = recorder_list,
                                            .close = recorder_close};

static firn_store *open_recorder(const char *path) {
    const firn_store_options options = {.module_dir = FIRN_BUILD_DIR "/firn", .unsafe = true};
    grant_recorder *recorder = calloc(1, sizeof *recorder);
    firn_store *store = NULL;
    firn_error error = {0};
    char patient[sizeof url + 20]; /* the disk may be slow, and four processes want it */
    snprintf(patient, sizeof patient, "%s?busy=100s", url);
    recorder->grants = fopen(path, "wb");
    if (recorder->grants == NULL ||
        firn_store_open(&recorder->inner, patient, &options, &error) != FIRN_OK ||
        firn_store_wrap(&store, &recorder_ops, recorder, &error) != FIRN_OK) {
        fprintf(stderr, "# %s\n", error.text);
        _exit(2);
    }
    return store;
}

/* ---- one process ---------------------------------------------------------------------------- */

typedef struct number_maker {
    const struct scheme *scheme;
    firn_store *store;
    firn_gen *gen;
    FILE *ids;
    int64_t left;
    firn_clock clock;
    uint64_t claims, steps, jumps;
} number_maker;

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return *state >> 33;
}

/* The clock stops, steps by a little or a lot, forwards and back, or becomes right again. */
static void step_clock(hands *time, uint64_t *random) {
    static const int64_t steps[] = {-HOUR,       -2 * SECOND, -SECOND / 2, -SECOND / 1000,
                                    SECOND / 10, 3 * SECOND,  4 * SECOND,  HOUR / 2};
    uint64_t draw = next_random(random) % 16;
    if (draw < 8) {
        atomic_fetch_add(&time->offset_ns, steps[draw]);
    } else if (draw == 8) {
        time->step_ns = 0;
    } else if (draw < 12) {
        time->step_ns = (int64_t)(next_random(random) % 20000);
    } else if (draw == 12) {
        atomic_store(&time->offset_ns, 0);
    } else {
        hands_pause(time, (int64_t)(next_random(random) % 5) * SECOND);
    }
}

static void start(number_maker *maker) {
    const firn_config config = {.size = sizeof config,
                                .scheme = maker->scheme->name,
                                .keys = maker->scheme->keys,
                                .store = maker->store,
                                .clock = &maker->clock};
    firn_error error;
    if (firn_open_with(&maker->gen, &config, &error) != FIRN_OK) {
        fprintf(stderr, "# %s\n", error.text);
        _exit(3);
    }
}

static void stop(number_maker *maker) {
    firn_status status = {.size = sizeof status};
    firn_error error;
    firn_gen_status(maker->gen, &status);
    maker->claims += status.claims;
    maker->steps += status.steps_back_left + status.steps_back_absorbed;
    maker->jumps += status.jumps_ahead;
    if (firn_close(maker->gen, &error) != FIRN_OK) {
        fprintf(stderr, "# %s\n", error.text);
        _exit(4);
    }
}

/* A lot of 1 to 64 IDs, when the clock allows. */
static void make(number_maker *maker, hands *time, uint64_t *random) {
    uint64_t ids[LOT];
    size_t n = next_random(random) % 3 == 0 ? 1 : 1 + next_random(random) % LOT;
    firn_error error;
    int code = FIRN_EEXHAUSTED;
    n = (int64_t)n > maker->left ? (size_t)maker->left : n;
    for (int tries = 0; code == FIRN_EEXHAUSTED && tries < 10000; tries++) {
        code = firn_next_u64(maker->gen, ids, n, &error);
        if (code == FIRN_EEXHAUSTED) { /* ahead of the clock whenever it stops */
            hands_pause(time, SECOND / 1000);
        }
    }
    if (code != FIRN_OK || fwrite(ids, sizeof *ids, n, maker->ids) != n) {
        fprintf(stderr, "# %d %s\n", code, error.text);
        _exit(5);
    }
    maker->left -= (int64_t)n;
}

static int run_process(int process, _Atomic uint64_t *told) {
    hands time = {0, 0, 1000};
    uint64_t random = (uint64_t)process * 7919 + 1;
    number_maker makers[SCHEMES] = {{0}};
    for (int i = 0; i < SCHEMES; i++) {
        number_maker *maker = &makers[i];
        maker->scheme = &schemes[i];
        maker->store = open_recorder(file_of("grants", process, i));
        maker->ids = fopen(file_of("ids", process, i), "wb");
        maker->left = EACH;
        maker->clock = clock_of(&time);
        start(maker);
    }
    for (int i = 0; makers[0].left + makers[1].left > 0; i++) {
        number_maker *maker = &makers[next_random(&random) % SCHEMES];
        if (maker->left > 0) {
            make(maker, &time, &random);
        }
        if (i % STEP_AFTER == STEP_AFTER - 1) {
            step_clock(&time, &random);
        }
        if (i % (8 * STEP_AFTER) == 0 && i > 0) {
            stop(maker);
            start(maker);
        }
    }
    for (int i = 0; i < SCHEMES; i++) {
        stop(&makers[i]);
        firn_store_close(makers[i].store);
        atomic_fetch_add(&told[0], makers[i].claims);
        atomic_fetch_add(&told[1], makers[i].steps);
        atomic_fetch_add(&told[2], makers[i].jumps);
        if (fclose(makers[i].ids) != 0) {
            return 6;
        }
    }
    return 0;
}

/* ---- the judge ------------------------------------------------------------------------------ */

static void *read_all(const char *path, size_t size, size_t *n) {
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    long length;
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    length = ftell(file);
    assert_true(length > 0 && (size_t)length % size == 0);
    rewind(file);
    data = malloc((size_t)length);
    assert_int_equal(fread(data, 1, (size_t)length, file), length);
    fclose(file);
    *n = (size_t)length / size;
    return data;
}

static int by_place(const void *a, const void *b) {
    const kept_grant *x = a, *y = b;
    if (x->node != y->node) {
        return x->node < y->node ? -1 : 1;
    }
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Subtracts the give backs, each of which directly follows its grant in the file, and sorts the
 * rest. What is left of all generators must be disjoint. */
static size_t settle_grants(kept_grant *grants, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (!grants[i].lowered) {
            grants[kept++] = grants[i];
            continue;
        }
        for (size_t j = kept; j-- > 0;) { /* renewals may have come before the give back */
            if (grants[j].node != grants[i].node || grants[j].end <= grants[i].first) {
                continue;
            }
            grants[j].end = grants[j].first > grants[i].first ? grants[j].first : grants[i].first;
            if (grants[j].first <= grants[i].first) {
                break;
            }
        }
    }
    size_t left = 0;
    for (size_t i = 0; i < kept; i++) { /* nothing is left of a renewal that was given back whole */
        if (grants[i].first < grants[i].end) {
            grants[left++] = grants[i];
        }
    }
    kept = left;
    qsort(grants, kept, sizeof *grants, by_place);
    return kept;
}

static size_t overlaps(const kept_grant *grants, size_t n) {
    size_t found = 0;
    for (size_t i = 1; i < n; i++) {
        found += grants[i].node == grants[i - 1].node && grants[i].first < grants[i - 1].end;
    }
    return found;
}

static bool holds(const kept_grant *grant, uint64_t node, int64_t slot) {
    return grant->node == node && grant->first <= slot && slot < grant->end;
}

/* IDs outside every grant of their generator, and IDs that are not after the one before on their
 * node. */
static size_t strangers(const struct scheme *scheme, const uint64_t *ids, size_t n,
                        const kept_grant *grants, size_t grant_count, size_t *falls) {
    static int64_t last[NODES];
    const kept_grant *grant = grants;
    size_t found = 0;
    memset(last, -1, sizeof last);
    for (size_t i = 0; i < n; i++) {
        uint64_t node = node_of(scheme, ids[i]);
        int64_t slot = slot_of(scheme, ids[i]);
        size_t low = 0, high = grant_count;
        while (low < high && !holds(grant, node, slot)) {
            grant = &grants[low + (high - low) / 2];
            if (grant->node < node || (grant->node == node && grant->end <= slot)) {
                low = (size_t)(grant - grants) + 1;
            } else {
                high = (size_t)(grant - grants);
            }
        }
        found += !holds(grant, node, slot);
        *falls += slot <= last[node];
        last[node] = slot;
    }
    return found;
}

typedef struct verdict {
    size_t ids, twice, grants, overlapping, outside, falls;
} verdict;

/* Everything that the 4 generators of a scheme made. The log is left merged. */
static verdict judge(int s, issued *log, bool plant) {
    verdict out = {0};
    kept_grant *all = NULL;
    size_t all_count = 0;
    atomic_store(&log->count, 0);
    for (int p = 0; p < PROCESSES; p++) {
        size_t n, grant_count;
        uint64_t *ids = read_all(file_of("ids", p, s), sizeof *ids, &n);
        kept_grant *grants = read_all(file_of("grants", p, s), sizeof *grants, &grant_count);
        assert_int_equal(n, EACH);
        grant_count = settle_grants(grants, grant_count);
        if (plant && p == 0) { /* a slot further on than any that was granted */
            ids[n - 1] += UINT64_C(3600000) << schemes[s].time_from;
        }
        out.outside += strangers(&schemes[s], ids, n, grants, grant_count, &out.falls);
        memcpy(log->ids + out.ids, ids, n * sizeof *ids);
        all = realloc(all, (all_count + grant_count) * sizeof *all);
        memcpy(all + all_count, grants, grant_count * sizeof *all);
        all_count += grant_count;
        out.ids += n;
        free(ids);
        free(grants);
    }
    if (plant) {
        log->ids[EACH / 2] = log->ids[EACH * 3]; /* another process's */
        size_t i = all_count - 1;
        while (all[i].first == all[i].end) { /* wholly given back */
            i--;
        }
        all[0] = all[i];
    }
    atomic_store(&log->count, out.ids);
    out.twice = duplicates(log);
    qsort(all, all_count, sizeof *all, by_place);
    out.grants = all_count;
    out.overlapping = overlaps(all, all_count);
    free(all);
    return out;
}

/* ---- the checks ----------------------------------------------------------------------------- */

static void makes_them(void **state) {
    _Atomic uint64_t *told = shared_memory(3 * sizeof *told);
    pid_t children[PROCESSES];
    (void)state;
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            _exit(run_process(i, told));
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        assert_int_equal(end_of(children[i]), 0);
    }
    print_message("# %" PRIu64 " windows claimed, %" PRIu64 " steps back and %" PRIu64
                  " jumps ahead were seen\n",
                  told[0], told[1], told[2]);
    assert_true(told[0] > 100 && told[1] > 50 && told[2] > 50);
}

static void every_one_once(void **state) {
    issued *log = issued_new(ALL / SCHEMES);
    size_t ids = 0;
    (void)state;
    for (int s = 0; s < SCHEMES; s++) {
        verdict self = judge(s, log, false);
        print_message("# %s: %zu IDs, %zu twice, %zu grants, %zu overlapping, %zu IDs outside, %zu"
                      " out of order\n",
                      schemes[s].name, self.ids, self.twice, self.grants, self.overlapping,
                      self.outside, self.falls);
        assert_int_equal(self.twice, 0);
        assert_int_equal(self.overlapping, 0);
        assert_int_equal(self.outside, 0);
        assert_int_equal(self.falls, 0);
        ids += self.ids;
    }
    assert_int_equal(ids, ALL);
    issued_free(log);
}

static void injected_duplicates_are_found(void **state) {
    issued *log = issued_new(ALL / SCHEMES);
    (void)state;
    for (int s = 0; s < SCHEMES; s++) {
        verdict self = judge(s, log, true);
        assert_int_equal(self.twice, 1);
        assert_true(self.overlapping > 0);
        assert_int_equal(self.outside, 1);
    }
    issued_free(log);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        {"8 generators in 4 processes issue while their clocks step", makes_them, NULL, NULL, NULL},
        {"no ID twice, each in order inside a grant of its generator", every_one_once, NULL, NULL,
         NULL},
        {"control: an injected duplicate, overlap and stranger are found",
         injected_duplicates_are_found, NULL, NULL, NULL},
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
