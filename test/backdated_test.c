/* SPDX-License-Identifier: MIT */
/* Back-dated IDs at their bounds: which node they get, how the slots of a tick are shared, where
 * the layout ends. gen_store_test.c and job_test.c have what they are for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gen.h"
#include "generating.h"

#include <sys/wait.h>
#include <unistd.h>

#define FOUR "time:41/ms@@2024-01-01 node:4 sequence:2" /* 4 slots a tick */
#define TWO  "time:41/ms@@2024-01-01 node:2 sequence:2"

static const firn_time past = {1750000000, 123000000};

static void dated(firn_gen *gen, const firn_time *time, firn_id *ids, size_t n) {
    firn_error error = {0};
    if (firn_at(gen, time, ids, n, &error) != FIRN_OK) {
        fail_msg("%s: %s", firn_gen_scheme(gen)->name, error.text);
    }
}

static void denied_at(firn_gen *gen, const firn_time *time, size_t n, int code, const char *words) {
    const firn_id before = {11, 22, 33, 44};
    firn_error error = {0};
    firn_id ids[64];
    assert_true(n <= 64);
    for (size_t i = 0; i < 64; i++) {
        ids[i] = before;
    }
    assert_int_equal(firn_at(gen, time, ids, n, &error), code);
    error_text(&error, code, words);
    assert_memory_equal(&ids[0], &before, sizeof before);
}

/* ---- a store of the test's ------------------------------------------------------------------- */

typedef struct entry {
    const char *key;
    int64_t high;
} entry;

static const entry *listed;
static size_t listed_count;
static firn_mark refusals[20]; /* what holds the slots of the first requests */
static int refusal_count;
static int64_t counts[40], latests[40]; /* of the requests */
static int requests;

static int list_given(void *self, const char *ns, firn_visit *visit, void *context,
                      firn_error *error) {
    if (listed == NULL) {
        return recorder_list(self, ns, visit, context, error);
    }
    for (size_t i = 0; i < listed_count; i++) {
        const firn_holding holding = {
            .ns = ns, .layout = "", .note = "", .key = listed[i].key, .mark = {listed[i].high, 5}};
        int code = visit(context, &holding);
        if (code != FIRN_OK) {
            return code;
        }
    }
    return FIRN_OK;
}

static int reserve_later(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                         firn_error *error) {
    if (requests < 40) {
        counts[requests] = request->count;
        latests[requests] = request->latest;
    }
    requests++;
    if (requests <= refusal_count) {
        *held = refusals[requests - 1];
        return FIRN_EBUSY;
    }
    return recorder_reserve(self, request, first, held, error);
}

static void use_store(const entry *entries, size_t count) {
    static firn_store_ops ops;
    ops = recorder_ops;
    ops.list = list_given;
    ops.reserve = reserve_later;
    listed = entries;
    listed_count = count;
    requests = refusal_count = 0;
    firn_store_close(world.store);
    memset(&world.log, 0, sizeof world.log);
    assert_int_equal(firn_store_open(&world.log.real, "memory:", NULL, NULL), FIRN_OK);
    assert_int_equal(firn_store_wrap(&world.store, &ops, &world.log, NULL), FIRN_OK);
}

/* The next `count` requests are refused: their slots are held up to `high`. */
static void refuse(int count, int64_t high, uint64_t grant) {
    requests = 0;
    refusal_count = count;
    for (int i = 0; i < count; i++) {
        refusals[i] = (firn_mark){high, grant};
    }
}

static int node_of(firn_gen *gen, bool job, uint64_t grant, uint64_t *node, firn_error *error) {
    pthread_mutex_lock(&gen->live->locked.lock);
    int code = firn__history_node(gen, job, grant, node, error);
    pthread_mutex_unlock(&gen->live->locked.lock);
    return code;
}

/* ---- which node ------------------------------------------------------------------------------ */

/* The highest node without a mark, in every order of the list. */
static void the_highest_unused_node_is_taken(void **state) {
    static const int orders[][5] = {{15, 14, 12, 13, 3}, {12, 15, 3, 14, 13}, {3, 12, 13, 14, 15},
                                    {13, 3, 15, 12, 14}, {14, 13, 12, 3, 15}, {15, 3, 14, 12, 13}};
    (void)state;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        char keys[5][8];
        entry entries[5];
        uint64_t node = 77;
        for (int k = 0; k < 5; k++) {
            snprintf(keys[k], sizeof keys[k], "%d", orders[i][k]);
            entries[k] = (entry){keys[k], 5};
        }
        use_store(NULL, 0);
        firn_gen *gen = opened(FOUR, "mode=online");
        listed = entries;
        listed_count = 5;
        int before = requests;
        assert_int_equal(node_of(gen, false, 0, &node, NULL), FIRN_OK);
        assert_int_equal(node, 11);
        assert_int_equal(requests, before + 1);
        listed_count = 1; /* one that is used */
        uint64_t other;
        assert_int_equal(node_of(gen, true, 0, &other, NULL), FIRN_OK);
        assert_int_equal(other, orders[i][0] == 15 ? 14 : 15);
        closed(gen);
    }
}

/* However many are listed, also twice. */
static void a_long_list_of_nodes_is_read_whole(void **state) {
    enum { NODES = 200 };
    static char keys[NODES + 1][8];
    static entry entries[NODES + 1];
    uint64_t node = 77;
    (void)state;
    for (int k = 0; k <= NODES; k++) {
        snprintf(keys[k], sizeof keys[k], k == NODES ? "01000" : "%d", 1023 - k);
        entries[k] = (entry){keys[k], 5};
    }
    use_store(NULL, 0);
    firn_gen *gen = opened("time:41/ms@@2024-01-01 node:10 sequence:2", "mode=online");
    listed = entries;
    listed_count = NODES + 1;
    assert_int_equal(node_of(gen, false, 0, &node, NULL), FIRN_OK);
    assert_int_equal(node, 1023 - NODES);
    closed(gen);
}

/* Neither keys that are not numbers nor nodes outside the given ones. */
static void only_nodes_of_the_generator_are_looked_at(void **state) {
    static const char parts[] = "time:41/ms@@2024-01-01 datacenter:2 worker:2 sequence:2";
    (void)state;
    use_store(NULL, 0);
    firn_gen *gen = opened(parts, "datacenter=1 mode=online");
    const int64_t common = gen->mark_end + 1;
    const entry entries[] = {{"x", common}, {"7x", common}, {"15", common}, {"3", common}};
    uint64_t node = 77;
    listed = entries;
    listed_count = 4;
    assert_int_equal(node_of(gen, false, 0, &node, NULL), FIRN_OK);
    assert_int_equal(node, 7);
    closed(gen);
    use_store(NULL, 0);
    gen = opened(FOUR, "mode=online");
    listed = entries;
    listed_count = 2;
    assert_int_equal(node_of(gen, false, 0, &node, NULL), FIRN_OK);
    assert_int_equal(node, 15);
    closed(gen);
}

/* A job has the node of its grant, and only that; each kind of node has its own mark. */
static void a_node_belongs_to_one_job(void **state) {
    static const struct {
        bool job;
        uint64_t grant, node;
    } takers[] = {{true, 101, 15}, {true, 103, 14}, {true, 101, 15},
                  {false, 0, 13},  {true, 103, 14}, {false, 0, 13},
                  {true, 0, 12},   {true, 0, 11},   {true, 101, 15}};
    (void)state;
    use_store(NULL, 0);
    firn_gen *gen = opened(FOUR, "mode=online");
    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++) {
        char key[8];
        uint64_t node = 77;
        assert_int_equal(node_of(gen, takers[i].job, takers[i].grant, &node, NULL), FIRN_OK);
        assert_int_equal(node, takers[i].node);
        snprintf(key, sizeof key, "%d", (int)node);
        assert_true(mark_of(&world.log, gen->ns, key) == gen->mark_end + (takers[i].job ? 2 : 1));
    }
    assert_int_equal(world.notices, 0); /* nobody chose a node */
    closed(gen);
}

/* A fixed node may be taken again by the same job, and a process that meets its own first request
 * is a copy. */
static void a_fixed_node_is_taken_once_by_each_job(void **state) {
    uint64_t node;
    firn_error error = {0};
    (void)state;
    use_store(NULL, 0);
    firn_gen *gen = opened(FOUR, "node=3 mode=online");
    assert_int_equal(node_of(gen, true, 101, &node, NULL), FIRN_OK);
    assert_int_equal(world.notices, 1);
    assert_non_null(strstr(world.notice, "node=3"));
    assert_non_null(strstr(world.notice, "issues back-dated IDs only from now on"));
    assert_int_equal(node_of(gen, true, 101, &node, NULL), FIRN_OK);
    assert_int_equal(world.notices, 1);
    node = 77;
    assert_int_equal(node_of(gen, true, 103, &node, &error), FIRN_ETAKEN);
    error_text(&error, FIRN_ETAKEN,
               "issues live IDs or another job's, but back-dated ones need a node");
    assert_int_equal(node, 77);
    assert_int_equal(world.notices, 1);
    assert_int_equal(node_of(gen, false, 0, &node, &error), FIRN_ETAKEN);
    error_text(&error, FIRN_ETAKEN, "issues live IDs, but back-dated ones need a node");
    closed(gen);
    gen = opened(FOUR, "node=4 mode=online");
    world.log.fate = FATE_TWIN;
    world.log.fated = 1;
    assert_int_equal(node_of(gen, false, 0, &node, &error), FIRN_ECLONED);
    closed(gen);
}

/* Somebody else took it first: the next lower one is tried, and each only once. */
static void a_node_that_is_lost_gives_way_to_the_next(void **state) {
    uint64_t node = 77;
    firn_error error = {0};
    (void)state;
    use_store(NULL, 0);
    firn_gen *gen = opened(FOUR, "mode=online");
    refuse(2, 5, 9);
    assert_int_equal(node_of(gen, false, 0, &node, NULL), FIRN_OK);
    assert_int_equal(node, 13);
    assert_int_equal(requests, 3);
    closed(gen);
    gen = opened(TWO, "ns=two mode=online");
    node = 77;
    refuse(20, 5, 9);
    assert_int_equal(node_of(gen, false, 0, &node, &error), FIRN_EEND);
    error_text(&error, FIRN_EEND, "every node of two was used");
    assert_int_equal(requests, 4);
    assert_int_equal(node, 77);
    refuse(20, 5, 0); /* no grant: the floor of a store that lost reservations */
    assert_int_equal(node_of(gen, false, 0, &node, &error), FIRN_ETAKEN);
    error_text(&error, FIRN_ETAKEN, "the store was replaced or restored");
    const entry entries[] = {{"1", 5}};
    listed = entries; /* all other keys with a mark */
    listed_count = 1;
    assert_int_equal(node_of(gen, false, 0, &node, &error), FIRN_ETAKEN);
    error_text(&error, FIRN_ETAKEN, "the store was replaced or restored");
    listed = NULL;
    closed(gen);
    gen = opened("time:41/ms@@2024-01-01 node:1 sequence:2", "ns=one node=1 mode=online");
    refuse(20, 5, 9);
    assert_int_equal(node_of(gen, false, 0, &node, &error), FIRN_ETAKEN);
    error_text(&error, FIRN_ETAKEN, "issues live IDs");
    assert_int_equal(requests, 1);
    refuse(20, 5, 1);
    assert_int_equal(node_of(gen, false, 0, &node, &error), FIRN_ETAKEN);
    error_text(&error, FIRN_ETAKEN, "issues live IDs");
    refuse(20, 5, 0);
    assert_int_equal(node_of(gen, false, 0, &node, &error), FIRN_ETAKEN);
    error_text(&error, FIRN_ETAKEN, "the store was replaced or restored");
    listed = entries;
    refuse(20, 5, 0); /* the node has a mark: it was given back */
    assert_int_equal(node_of(gen, false, 0, &node, &error), FIRN_ETAKEN);
    error_text(&error, FIRN_ETAKEN, "issues live IDs");
    refusal_count = world.notices = 0;
    assert_int_equal(node_of(gen, false, 0, &node, &error), FIRN_OK);
    assert_int_equal(world.notices, 1); /* also where the node has one bit */
    closed(gen);
}

/* ---- entropy --------------------------------------------------------------------------------- */

static int (*good_fill)(void *, void *, size_t);
static int fails_at; /* this draw, from 1 on */

static int fill_but_once(void *self, void *out, size_t size) {
    return --fails_at == 0 ? FIRN_EENTROPY : good_fill(self, out, size);
}

static void each_draw_of_a_call_may_fail(void **state) {
    static const struct {
        const char *scheme, *keys;
    } cases[] = {{FOUR, "mode=online"}, {"uuid7", ""}, {"uuid6", ""}, {"objectid", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int failed = 0, code;
        firn_id id;
        world_end(NULL);
        assert_int_equal(world_new(NULL), 0);
        firn_gen *gen = opened(cases[i].scheme, cases[i].keys);
        good_fill = world.entropy.fill;
        world.entropy.fill = fill_but_once;
        do {
            fails_at = failed + 1;
            code = firn_at(gen, &past, &id, 1, NULL);
            failed += code == FIRN_EENTROPY;
            assert_true(code == FIRN_EENTROPY || fails_at > 0);
        } while (code == FIRN_EENTROPY && failed < 20);
        assert_int_equal(code, FIRN_OK);
        assert_in_range(failed, 1, 3);
        closed(gen);
    }
}

/* Only what counts over ticks without a store begins at random: another process has another
 * start. */
static void a_counter_begins_at_random(void **state) {
    static const struct {
        const char *scheme;
        bool random;
    } cases[] = {{"objectid", true}, {"uuid6", false}, {"uuid7", false}, {"ulid", false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        firn_id ids[3];
        firn_gen *gen = opened(cases[i].scheme, "");
        world.notices = 0;
        dated(gen, &past, ids, 3);
        assert_int_equal(gen->kept.history_start != 0, cases[i].random);
        assert_int_equal(world.notices, strcmp(cases[i].scheme, "uuid6") == 0);
        if (cases[i].random) {
            const uint64_t mask = ones(gen->count_bits);
            for (uint64_t k = 0; k < 3; k++) {
                uint64_t count = gen->kept.history_start + (k + 1) * gen->scheme.counter_step;
                assert_int_equal(field(gen, &ids[k], "counter"), count & mask);
            }
        }
        closed(gen);
    }
}

/* A new tick of uuid7 begins at random; the next call of the same tick continues. */
static void a_tick_of_uuid7_begins_at_random_and_goes_on(void **state) {
    uint64_t seen[8] = {0};
    int differ = 0;
    (void)state;
    firn_gen *gen = opened("uuid7", "");
    int role_at = role(firn_gen_scheme(gen), FIRN_ROLE_SEQUENCE);
    assert_true(role_at >= 0);
    for (int i = 0; i < 8; i++) {
        const firn_time time = {past.sec + i, 0};
        firn_id a, b;
        dated(gen, &time, &a, 1);
        dated(gen, &time, &b, 1);
        seen[i] = fields_of(gen, &a).value[role_at].low;
        assert_int_equal(fields_of(gen, &b).value[role_at].low, seen[i] + 1);
        assert_int_not_equal(seen[i], 0);
        differ += i > 0 && seen[i] != seen[i - 1];
    }
    assert_true(differ >= 5);
    closed(gen);
}

/* ---- slots of a tick ------------------------------------------------------------------------- */

/* Two generators share each tick; what is left of one is used before the next. */
static void a_tick_is_used_up_by_all(void **state) {
    firn_id ids[12];
    (void)state;
    use_store(NULL, 0);
    firn_gen *a = opened(FOUR, "mode=online"), *b = opened(FOUR, "mode=online");
    dated(a, &past, ids, 3);
    dated(b, &past, ids + 3, 3);
    dated(a, &past, ids + 6, 2);
    for (uint64_t i = 1; i < 8; i++) {
        assert_true(slot(a, &ids[i]) == slot(a, &ids[0]) + i);
    }
    assert_true((slot(a, &ids[0]) & 3) == 0);
    requests = 0;
    dated(b, &past, ids + 8,
          4); /* b filled the first tick, and requests the second, which a filled */
    assert_true(slot(a, &ids[8]) == slot(a, &ids[0]) + 8);
    assert_int_equal(requests, 2);
    assert_true(counts[0] == 4 && counts[1] == 4);
    assert_true(latests[0] == 0);
    closed(a);
    closed(b);
}

/* Calls of the store for the same number of IDs at the same time. */
static void the_hundredth_call_at_a_time_costs_as_much_as_the_first(void **state) {
    enum { CALLS = 100, EACH = 6 };
    firn_id ids[EACH];
    (void)state;
    use_store(NULL, 0);
    firn_gen *gen = opened(FOUR, "mode=online"), *other = opened(FOUR, "mode=online");
    dated(gen, &past, ids, 2); /* takes its node */
    uint64_t start = slot(gen, &ids[0]), next = start + 2;
    for (int i = 0; i < CALLS; i++) {
        const firn_time later = {past.sec, past.ns + i % 3 * 1000000};
        requests = 0;
        dated(gen, &later, ids, EACH); /* two ticks, and what another call left of one */
        assert_in_range(requests, 1, 4);
        if (i % 3 == 0 && i < 3) {
            assert_true(slot(gen, &ids[0]) == next);
        }
    }
    requests = 0;
    dated(other, &past, ids, EACH); /* another process finds the end once */
    assert_true(requests > CALLS);
    requests = 0;
    dated(other, &past, ids, EACH);
    assert_in_range(requests, 1, 4);
    closed(gen);
    closed(other);
}

static void full_ticks_are_remembered_in_bounds(void **state) {
    enum { TICKS = 70000 };
    firn_id ids[8];
    (void)state;
    use_store(NULL, 0);
    firn_gen *gen = opened(FOUR, "mode=online");
    for (int i = 0; i < TICKS; i++) {
        const firn_time time = {past.sec + i / 500, i % 500 * 2000000}; /* each second tick */
        dated(gen, &time, ids, 4);
        assert_true(gen->kept.history.used + gen->kept.history.run_used <= 65536);
    }
    requests = 0;
    dated(gen, &(firn_time){past.sec, 0}, ids,
          8); /* two of four ticks are forgotten, and asked for again */
    assert_int_equal(requests, 4);
    closed(gen);
}

/* Fewer are asked for after each refusal: what is left, or one less. */
static void a_refused_request_asks_for_fewer(void **state) {
    firn_id ids[4];
    (void)state;
    use_store(NULL, 0);
    firn_gen *gen = opened(FOUR, "mode=online");
    dated(gen, &past, ids, 1);
    for (int64_t high = 0; high <= 1; high++) {
        refuse(2, high, 9);
        const firn_time time = {past.sec + 10 + high, 0};
        dated(gen, &time, ids, 3);
        assert_true(counts[0] == 3 && counts[1] == 2 && counts[2] == 1);
        assert_true(latests[0] == 1 && latests[1] == 2 && latests[2] == 3);
        refusal_count = 0;
    }
    closed(gen);
}

static void many_ids_are_refused_before_a_slot_is_taken(void **state) {
    firn_id ids[64];
    (void)state;
    use_store(NULL, 0);
    firn_gen *gen = opened(FOUR, "mode=online max_back=5ms max_lead=10ms");
    dated(gen, &past, ids, 1);
    requests = 0;
    denied_at(gen, &past, 48, FIRN_ERANGE, "48 back-dated IDs are more than max_lead=10ms");
    denied_at(gen, &past, 44, FIRN_ERANGE, "44 back-dated IDs are more than max_lead=10ms");
    assert_int_equal(requests, 0);
    const firn_time later = {past.sec + 1, 0};
    dated(gen, &later, ids, 43); /* all within the lead */
    assert_true(slot(gen, &ids[42]) >> 2 == (slot(gen, &ids[0]) >> 2) + 10);
    are_unique(ids, 43);
    closed(gen);
}

static void none_is_a_number_too(void **state) {
    firn_id ids[3];
    (void)state;
    use_store(NULL, 0);
    firn_gen *gen = opened(FOUR, "mode=online");
    assert_int_equal(firn_at(gen, &past, NULL, 0, NULL), FIRN_OK);
    assert_int_equal(requests, 0);
    memset(ids, 7, sizeof ids);
    firn_id after = ids[2];
    dated(gen, &past, ids, 2);
    assert_true(slot(gen, &ids[1]) == slot(gen, &ids[0]) + 1);
    assert_memory_equal(&ids[2], &after, sizeof after);
    closed(gen);
}

/* Each has its own random bits, also the only bit. */
static void ids_of_one_tick_have_random_bits(void **state) {
    firn_id ids[40];
    uint64_t seen = 0;
    (void)state;
    firn_gen *gen = opened("ulid", "");
    dated(gen, &past, ids, 40);
    for (int i = 0; i < 40; i++) { /* all of the tick */
        assert_true(field(gen, &ids[i], "time") == field(gen, &ids[0], "time"));
    }
    are_unique(ids, 40);
    closed(gen);
    gen = opened("time:41/ms@@2024-01-01 node:4 sequence:8 random:1", "node=3 mode=online");
    dated(gen, &past, ids, 40);
    for (int i = 0; i < 40; i++) {
        seen |= UINT64_C(1) << field(gen, &ids[i], "random");
    }
    assert_int_equal(seen, 3);
    closed(gen);
}

static void an_id_without_a_time_has_no_past(void **state) {
    (void)state;
    firn_gen *gen = opened("uuid4", "");
    denied_at(gen, &past, 1, FIRN_EUSAGE, "uuid4 has no time");
    closed(gen);
}

/* The last tick of the layout holds as many as any other, and none comes after it. */
static void nothing_comes_after_the_layout(void **state) {
    static const char brief[] = "time:16/ms@@2025-10-09T08:52:15Z node:4 sequence:2";
    const firn_time last = {1760000000,
                            70000000 + 465000000}; /* tick 65535 is 65.535 s after 08:52:15 */
    firn_id ids[4];
    (void)state;
    for (int job = 0; job < 2; job++) {
        use_store(NULL, 0);
        firn_gen *gen = opened(brief, job ? "history=job mode=online" : "mode=online");
        denied_at(gen, &last, 5, FIRN_EFULL, "4 of 5 back-dated IDs fit");
        denied_at(gen, &last, 1, FIRN_EFULL, "0 of 1 back-dated IDs fit");
        const firn_time before = {last.sec, last.ns - 1000000};
        dated(gen, &before, ids, 4);
        assert_true(slot(gen, &ids[3]) >> 2 == 65534);
        closed(gen);
    }
}

/* Also where the seconds of the short way to a tick have ended. */
static void the_last_ticks_of_64_bits_are_dated(void **state) {
    static const int64_t seconds[] = {18428315757951599, 18428315757951600, 18446744073700000};
    (void)state;
    firn_gen *gen = opened("time:64/ms@@1970-01-01 random:64", "");
    for (size_t i = 0; i < 3; i++) {
        const firn_time time = {seconds[i], 614000000};
        firn_id id;
        dated(gen, &time, &id, 1);
        assert_true(field(gen, &id, "time") == (uint64_t)seconds[i] * 1000 + 614);
    }
    closed(gen);
}

/* However many ticks are counted: the first one of the layout, too. */
static void no_tick_is_forgotten(void **state) {
    const firn_time epoch = {1704067200, 0};
    firn_id id;
    (void)state;
    for (int back = 0; back < 2; back++) { /* in order, and from the latest back */
        use_store(NULL, 0);
        firn_gen *gen = opened(FOUR, "history=job mode=online");
        const firn_time far = time_after(epoch, 5000 * MS);
        if (back) {
            dated(gen, &far, &id, 1);
        }
        dated(gen, &epoch, &id, 1);
        assert_int_equal(slot(gen, &id), 0);
        for (int i = 1; i <= 3000; i++) {
            const firn_time time = time_after(epoch, (back ? 4000 - i : i) * MS);
            dated(gen, &time, &id, 1);
            assert_int_equal(slot(gen, &id) & 3, 0);
        }
        dated(gen, &epoch, &id, 1);
        assert_int_equal(slot(gen, &id), 1);
        closed(gen);
    }
}

/* The node stays with the parent. */
static void a_child_of_a_fixed_node_issues_nothing(void **state) {
    firn_id id;
    int status;
    (void)state;
    firn_gen *gen = opened(FOUR, "node=3");
    next(gen);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        firn_error error = {0};
        int code = firn_at(gen, &past, &id, 1, &error);
        _exit(code == FIRN_EFORKED && strstr(error.text, "stays with the parent") != NULL ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    closed(gen);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_new, world_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_highest_unused_node_is_taken),
        TEST(a_long_list_of_nodes_is_read_whole),
        TEST(only_nodes_of_the_generator_are_looked_at),
        TEST(a_node_belongs_to_one_job),
        TEST(a_fixed_node_is_taken_once_by_each_job),
        TEST(a_node_that_is_lost_gives_way_to_the_next),
        TEST(each_draw_of_a_call_may_fail),
        TEST(a_counter_begins_at_random),
        TEST(a_tick_of_uuid7_begins_at_random_and_goes_on),
        TEST(a_tick_is_used_up_by_all),
        TEST(the_hundredth_call_at_a_time_costs_as_much_as_the_first),
        TEST(full_ticks_are_remembered_in_bounds),
        TEST(a_refused_request_asks_for_fewer),
        TEST(many_ids_are_refused_before_a_slot_is_taken),
        TEST(none_is_a_number_too),
        TEST(ids_of_one_tick_have_random_bits),
        TEST(an_id_without_a_time_has_no_past),
        TEST(nothing_comes_after_the_layout),
        TEST(the_last_ticks_of_64_bits_are_dated),
        TEST(no_tick_is_forgotten),
        TEST(a_child_of_a_fixed_node_issues_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
