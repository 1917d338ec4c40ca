/* SPDX-License-Identifier: MIT */
/* Claims at their bounds, step by step: what a store lists, entropy that fails, claims that are
 * sent again, nodes in use, time that runs out. claims_test.c has what claims are for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gen.h"
#include "generating.h"

#define FOUR "time:41/ms@@2024-01-01 node:4 sequence:2" /* 4 slots a tick */
#define TWO  "time:41/ms@@2024-01-01 node:2 sequence:2"

/* A store in memory with these two methods replaced. */
static void use_store(int (*reserve)(void *, const firn_request *, int64_t *, firn_mark *,
                                     firn_error *),
                      int (*list)(void *, const char *, firn_visit *, void *, firn_error *)) {
    static firn_store_ops ops;
    ops = recorder_ops;
    ops.reserve = reserve;
    ops.list = list;
    firn_store_close(world.store);
    memset(&world.log, 0, sizeof world.log);
    assert_int_equal(firn_store_open(&world.log.real, "memory:", NULL, NULL), FIRN_OK);
    assert_int_equal(firn_store_wrap(&world.store, &ops, &world.log, NULL), FIRN_OK);
}

/* ---- what a store lists ---------------------------------------------------------------------- */

typedef struct entry {
    const char *key;
    int64_t high;
} entry;

static const entry *listed;
static size_t listed_count, listed_many; /* nodes in use, from 0 on, are listed first */

static int list_given(void *self, const char *ns, firn_visit *visit, void *context,
                      firn_error *error) {
    char number[24];
    (void)self, (void)error;
    for (size_t i = 0; i < listed_many + listed_count; i++) {
        const entry *given = i < listed_many ? NULL : &listed[i - listed_many];
        snprintf(number, sizeof number, "%zu", i);
        firn_holding holding = {
            .ns = ns, .layout = "", .note = "", .key = given ? given->key : number};
        holding.mark.high = given != NULL ? given->high : FIRN_SLOT_MAX;
        int code = visit(context, &holding);
        if (code != FIRN_OK) {
            return code;
        }
    }
    return FIRN_OK;
}

/* The store lists these nodes, with any reservations. */
static void use_list(const entry *entries, size_t count, size_t many) {
    listed = entries;
    listed_count = count;
    listed_many = many;
    use_store(recorder_reserve, list_given);
}

/* The node that a generator claims, at its first request. */
static uint64_t node_claimed(const char *layout, const char *keys) {
    int reserves = world.log.reserves;
    firn_gen *gen = opened(layout, keys);
    uint64_t node = status_of(gen).node;
    assert_int_equal(world.log.reserves, reserves + 1);
    closed(gen);
    pass(&world.clock, 10 * MS);
    return node;
}

static void keys_that_are_not_nodes_do_not_count(void **state) {
    static const entry entries[] = {
        {"a", FIRN_SLOT_MAX}, {"1x", FIRN_SLOT_MAX}, {"", FIRN_SLOT_MAX}, {"-", FIRN_SLOT_MAX}};
    (void)state;
    use_list(entries, 4, 0);
    node_claimed(TWO, "max_wait=0");
}

/* The node of back-dated IDs counts wherever it is listed: then the last node may be claimed. */
static void the_node_of_history_is_found_anywhere_in_a_list(void **state) {
    (void)state;
    firn_gen *gen = opened(TWO, "node=0");
    const int64_t history = gen->mark_end + 1;
    closed(gen);
    for (size_t position = 0; position < 3; position++) {
        entry entries[] = {{"0", FIRN_SLOT_MAX}, {"1", FIRN_SLOT_MAX}, {"3", FIRN_SLOT_MAX}};
        entries[position].high = history;
        use_list(entries, 3, 0);
        assert_int_equal(node_claimed(TWO, "max_wait=0"), 2);
    }
}

/* Of the nodes in a list, 65536 are looked at. */
static void the_65536th_node_is_the_last_that_is_looked_at(void **state) {
    static const char wide[] = "time:41/ms@@2024-01-01 node:40 sequence:2";
    static const entry item[] = {{"777777", 0}};
    (void)state;
    use_list(item, 1, 65535);
    assert_int_equal(node_claimed(wide, "max_wait=0"), 777777);
    use_list(item, 1, 65536);
    assert_int_not_equal(node_claimed(wide, "max_wait=0"), 777777);
}

/* A used node is asked for when it is free by the end of the tick. */
static void a_used_node_is_free_by_the_end_of_the_tick(void **state) {
    entry entries[] = {{"0", FIRN_SLOT_MAX}, {"1", 0}, {"2", FIRN_SLOT_MAX}};
    (void)state;
    firn_gen *gen = opened(TWO, "node=0 ns=other");
    const int64_t end = firn__slots_of(gen, now_of(gen) + 1);
    closed(gen);
    entries[1].high = end - 1;
    use_list(entries, 3, 0);
    assert_int_equal(node_claimed(TWO, "max_wait=0"), 1);
    use_list(entries, 3, 0);
    pass(&world.clock, -10 * MS); /* that it passed in between */
    entries[1].high = end;
    refused(TWO, "max_wait=0", FIRN_EBUSY, "every node");
    assert_int_equal(world.log.reserves, 0);
}

/* With any draw, and any order of the list. */
static void a_new_node_is_none_of_those_listed(void **state) {
    static const struct {
        entry entries[3];
        size_t count;
    } lists[] = {{{{"2", FIRN_SLOT_MAX}}, 1},
                 {{{"3", FIRN_SLOT_MAX}, {"0", FIRN_SLOT_MAX}}, 2},
                 {{{"1", FIRN_SLOT_MAX}, {"3", FIRN_SLOT_MAX}}, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        use_list(lists[i].entries, lists[i].count, 0);
        uint64_t seen = 0;
        for (int turn = 0; turn < 40; turn++) {
            seen |= UINT64_C(1) << node_claimed(TWO, "max_wait=0");
        }
        for (size_t k = 0; k < lists[i].count; k++) {
            assert_true((seen >> atoi(lists[i].entries[k].key) & 1) == 0);
        }
        assert_int_equal(__builtin_popcountll(seen), 4 - lists[i].count);
    }
}

/* Parts of a node that are given stay as they are, and the others take each value. */
static void a_claim_keeps_the_parts_that_are_given(void **state) {
    static const char parts[] = "time:41/ms@@2024-01-01 datacenter:2 worker:2 sequence:2";
    static const char *const given[] = {"datacenter", "worker"};
    (void)state;
    for (int part = 0; part < 2; part++) {
        for (int value = 0; value < 4; value++) {
            char keys[60];
            uint64_t seen = 0;
            firn_gen *gens[3];
            snprintf(keys, sizeof keys, "%s=%d max_wait=0 ns=%d.%d", given[part], value, part,
                     value);
            for (int i = 0; i < 3; i++) {
                gens[i] = opened(parts, keys);
                firn_id id = next(gens[i]);
                assert_int_equal(field(gens[i], &id, given[part]), value);
                seen |= UINT64_C(1) << field(gens[i], &id, given[1 - part]);
            }
            assert_int_equal(__builtin_popcountll(seen), 3);
            refused(parts, keys, FIRN_EBUSY, "every node");
            for (int i = 0; i < 3; i++) {
                closed(gens[i]);
            }
        }
    }
}

/* ---- entropy that fails ---------------------------------------------------------------------- */

static int (*good_fill)(void *, void *, size_t);
static int fails_at; /* this draw, from 1 on */

static int fill_but_once(void *self, void *out, size_t size) {
    return --fails_at == 0 ? FIRN_EENTROPY : good_fill(self, out, size);
}

/* Each draw of a claim: a used node or a new one, and the grant. */
static void each_draw_of_a_claim_may_fail(void **state) {
    static const entry used[] = {{"0", 0}, {"1", 0}};
    (void)state;
    good_fill = world.entropy.fill;
    world.entropy.fill = fill_but_once;
    for (size_t count = 0; count <= 2; count += 2) {
        int failed = 0, code;
        use_list(used, count, 0);
        do {
            firn_gen *gen = NULL;
            firn_error error = {0};
            fails_at = failed + 1;
            code = try_open(&gen, FOUR, "max_wait=0", false, &error);
            failed += code == FIRN_EENTROPY;
            if (code == FIRN_OK) {
                assert_true(fails_at > 0); /* none failed */
                closed(gen);
            }
        } while (code == FIRN_EENTROPY && failed < 20);
        assert_int_equal(code, FIRN_OK);
        assert_int_equal(failed, 2);
    }
}

/* ---- without a store ------------------------------------------------------------------------- */

/* A claim begins after the last tick that was issued in, but not after the lead. */
static void a_claim_without_a_store_begins_within_the_lead(void **state) {
    (void)state;
    firn_gen *gen = opened("uuid6", "");
    uint64_t now = now_of(gen);
    firn_error error = {0};
    pthread_mutex_lock(&gen->live->locked.lock);
    firn__window_retire(gen, 0, false, NULL);
    gen->past->has_last = true;
    gen->past->last_tick = now + gen->lead_ticks;
    assert_int_equal(firn__claim_local(gen, 0, now, &error), FIRN_EEXHAUSTED);
    assert_null(firn__window_of(gen, 0));
    gen->past->last_tick--;
    assert_int_equal(firn__claim_local(gen, 0, now, &error), FIRN_OK);
    assert_true(firn__window_of(gen, 0)->base_tick == now + gen->lead_ticks);
    pthread_mutex_unlock(&gen->live->locked.lock);
    closed(gen);
}

/* ---- a claim that was sent before ------------------------------------------------------------ */

static _Alignas(64) uint8_t shared_memory[1 << 18];

static int open_shared_of(const char *layout, firn_gen **gen, const char *keys) {
    const firn_config config = {.size = sizeof config,
                                .scheme = layout,
                                .keys = keys,
                                .store = world.store,
                                .clock = &world.hands,
                                .entropy = &world.entropy,
                                .shared = shared_memory,
                                .shared_size = firn_shared_size()};
    assert_true(firn_shared_size() <= sizeof shared_memory);
    return firn_open_with(gen, &config, NULL);
}

static int open_shared(firn_gen **gen, const char *keys) {
    return open_shared_of(FOUR, gen, keys);
}

/* The shared generator claims with a claim written down that covers these slots. Returns whether it
 * was that one. */
static bool is_resumed(firn_gen *gen, int64_t earliest, int64_t count) {
    firn__claim *sent = firn__shared_claim(gen);
    uint64_t now = now_of(gen);
    assert_int_equal(firn__renewal_lock(gen, true, NULL), FIRN_OK);
    firn__window_retire(gen, 0, false, NULL);
    gen->past->has_last = false;
    sent->node = 9;
    sent->base_tick = (uint64_t)earliest >> gen->s;
    sent->earliest = sent->latest = earliest;
    sent->count = count;
    atomic_store(&sent->grant, 4711);
    assert_int_equal(firn__claim_window(gen, 0, now, 1, NULL), FIRN_OK);
    assert_int_equal(atomic_load(&sent->grant), 0);
    firn__renewal_unlock(gen);
    return world.log.grants[0] == 4711;
}

/* As long as one of its slots is not past, and its first is within the lead. */
static void a_claim_is_sent_again_while_its_slots_are_of_use(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        firn_gen *gen;
        world_end(NULL);
        assert_int_equal(world_new(NULL), 0);
        memset(shared_memory, 0, sizeof shared_memory);
        assert_int_equal(open_shared(&gen, "window=20ms max_back=5ms max_lead=10ms"), FIRN_OK);
        int64_t now = firn__slots_of(gen, now_of(gen)), lead = firn__slots_of(gen, 10);
        const struct {
            int64_t earliest, count;
        } claims[] = {{now - 100, 101}, {now - 100, 100}, {now + lead, 8}, {now + lead + 1, 8}};
        assert_true(is_resumed(gen, claims[i].earliest, claims[i].count) == (i % 2 == 0));
        closed(gen);
    }
}

/* A claim that is dropped is dropped for good, also when the next one fails before it is sent. */
static void a_claim_that_is_of_no_use_is_forgotten(void **state) {
    firn_gen *gen;
    (void)state;
    memset(shared_memory, 0, sizeof shared_memory);
    assert_int_equal(open_shared(&gen, "window=20ms"), FIRN_OK);
    assert_int_equal(firn__renewal_lock(gen, true, NULL), FIRN_OK);
    firn__window_retire(gen, 0, false, NULL);
    atomic_store(&firn__shared_claim(gen)->grant, 4711);
    pass(&world.clock, HOUR);
    world.entropy.fill = no_entropy;
    assert_int_equal(firn__claim_window(gen, 0, now_of(gen), 1, NULL), FIRN_EENTROPY);
    assert_int_equal(atomic_load(&firn__shared_claim(gen)->grant), 0);
    firn__renewal_unlock(gen);
    closed(gen);
}

/* Processes that share a generator have room for 256 nodes: no other one is asked for. */
static void no_new_node_is_claimed_without_room_for_it(void **state) {
    firn_gen *gen;
    firn_error error = {0};
    (void)state;
    memset(shared_memory, 0, sizeof shared_memory);
    assert_int_equal(
        open_shared_of("time:41/ms@@2024-01-01 node:12 sequence:2", &gen, "max_wait=0"), FIRN_OK);
    assert_int_equal(firn__renewal_lock(gen, true, NULL), FIRN_OK);
    for (int i = 1; i <= 256; i++) {
        firn__window_retire(gen, 0, false, NULL); /* the node stays in use */
        gen->past->has_node[0] = false;
        int code = firn__claim_window(gen, 0, now_of(gen), 1, &error);
        assert_int_equal(code, i < 256 ? FIRN_OK : FIRN_EBUSY);
    }
    error_text(&error, FIRN_EBUSY, "every node");
    assert_int_equal(world.log.reserves, 256);
    static const firn__window other = {.node = 4096};
    firn__window *placed;
    assert_int_equal(firn__shared_place(gen, &other, &placed, &error), FIRN_EEND);
    error_text(&error, FIRN_EEND, "256 nodes");
    firn__renewal_unlock(gen);
    closed(gen);
}

static void a_claim_is_kept_until_its_outcome_is_known(void **state) {
    firn_gen *gen;
    (void)state;
    memset(shared_memory, 0, sizeof shared_memory);
    world.log.fate = FATE_LOST;
    world.log.fated = -1;
    assert_int_equal(open_shared(&gen, "max_wait=0"), FIRN_EUNKNOWN);
    uint64_t grant = world.log.grants[0];
    firn_request sent = world.log.last;
    world.log.fated = 0;
    pass(&world.clock, 10 * MS);
    assert_int_equal(open_shared(&gen, "max_wait=0"), FIRN_OK);
    assert_true(world.log.grants[0] == grant && world.log.last.earliest == sent.earliest &&
                world.log.last.count == sent.count);
    assert_int_equal(atomic_load(&firn__shared_claim(gen)->grant), 0);
    assert_int_equal(firn__renewal_lock(gen, true, NULL), FIRN_OK); /* the next one is its own */
    firn__window_retire(gen, 0, false, NULL);
    assert_int_equal(firn__claim_window(gen, 0, now_of(gen), 1, NULL), FIRN_OK);
    assert_true(world.log.grants[0] != grant && world.log.grants[0] != 0);
    firn__renewal_unlock(gen);
    closed(gen);
}

/* ---- a node that is in use ------------------------------------------------------------------- */

/* How long, and in which words. */
static void a_node_in_use_is_told_with_its_time(void **state) {
    static const char in_use[] = "is in use until", floor[] = "no ID of", every[] = "every node";
    (void)state;
    for (int fixed = 0; fixed < 2; fixed++) {
        firn_gen *gen = opened(FOUR, fixed ? "node=3 max_back=5ms max_lead=10ms"
                                           : "max_back=5ms max_lead=10ms");
        const uint64_t now = now_of(gen), far = (uint64_t)INT64_MAX / 1000000;
        const int64_t lead_end = firn__slots_of(gen, now + 11);
        const struct {
            firn_mark held;
            int64_t busy_ms;
            const char *words;
        } cases[] = {
            {{firn__slots_of(gen, now), 1}, 0, in_use},
            {{firn__slots_of(gen, now + 10), 1}, 0, in_use},
            {{firn__slots_of(gen, now + 50), 1}, 40, in_use},
            {{firn__slots_of(gen, now + 10 + far), 1}, (int64_t)far, "back-dated IDs only"},
            {{firn__slots_of(gen, now + 11 + far), 1}, INT64_MAX, "back-dated IDs only"},
            {{gen->mark_end, 1}, (int64_t)(((uint64_t)gen->mark_end >> gen->s) - now - 10), in_use},
            {{lead_end, 0}, 1, in_use},
            {{lead_end + 1, 0}, 1, floor},
            {{lead_end + 1, 1}, 1, in_use}};
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            firn_error error = {0};
            const bool is_floor = cases[i].words == floor;
            atomic_store(&gen->live->any.busy_ms, 77);
            const bool taken = fixed && strstr(cases[i].words, "only") != NULL;
            const int busy = taken ? FIRN_ETAKEN : FIRN_EBUSY;
            assert_int_equal(firn__claim_busy(gen, &cases[i].held, false, now, &error), busy);
            error_text(&error, busy, fixed || is_floor ? cases[i].words : every);
            assert_int_equal(atomic_load(&gen->live->any.busy_ms),
                             fixed || is_floor ? cases[i].busy_ms : 0);
        }
        closed(gen);
    }
}

/* Time that the call waited before does not count as the store's time. */
static void a_call_that_waited_may_still_claim(void **state) {
    (void)state;
    for (int64_t waited_ms = 600; waited_ms <= 2400; waited_ms += 600) {
        firn_gen *gen = opened(FOUR, "max_wait=0");
        firn__gen_begin(gen);
        pass(&world.clock, waited_ms * MS);
        pthread_mutex_lock(&gen->live->locked.lock);
        firn__window_retire(gen, 0, true, NULL);
        assert_int_equal(firn__claim_window(gen, 0, now_of(gen), 1, NULL), FIRN_OK);
        pthread_mutex_unlock(&gen->live->locked.lock);
        closed(gen);
        pass(&world.clock, 10 * SECOND);
    }
}

static int64_t reserve_ms;   /* that a refusal takes */
static firn_mark refusal;    /* what holds each node */
static int64_t refusal_step; /* how much higher the next one is */

static int refuse_slowly(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                         firn_error *error) {
    if (refusal.high == 0) {
        return recorder_reserve(self, request, first, held, error);
    }
    world.log.reserves++;
    pass(&world.clock, reserve_ms * MS);
    *held = refusal;
    refusal.high += refusal_step;
    return FIRN_EBUSY;
}

/* A generator whose store refuses from now on; its node is free. */
static firn_gen *refused_generator(const char *layout, int64_t ms, uint64_t grant,
                                   int64_t step_by) {
    refusal.high = 0;
    world_end(NULL);
    assert_int_equal(world_new(NULL), 0);
    use_store(refuse_slowly, recorder_list);
    firn_gen *gen = opened(layout, "max_wait=0");
    pthread_mutex_lock(&gen->live->locked.lock);
    firn__window_retire(gen, 0, true, NULL);
    world.log.reserves = 0;
    reserve_ms = ms;
    refusal = (firn_mark){firn__slots_of(gen, now_of(gen) + 100), grant};
    refusal_step = step_by;
    firn__gen_begin(gen);
    return gen;
}

static void is_refused(firn_gen *gen, int reserves, int code, const char *words) {
    firn_error error = {0};
    assert_int_equal(firn__claim_window(gen, 0, now_of(gen), 1, &error), code);
    error_text(&error, code, words);
    assert_int_equal(world.log.reserves, reserves);
    pthread_mutex_unlock(&gen->live->locked.lock);
    refusal.high = 0;
    closed(gen);
}

/* A call that has waited asks once; it reports a slow store when the store took half of the
 * time. */
static void a_call_that_waited_asks_for_one_node(void **state) {
    (void)state;
    for (int64_t ms = 499; ms <= 500; ms++) {
        firn_gen *gen = refused_generator(FOUR, ms, 5, 0);
        pass(&world.clock, 600 * MS);
        is_refused(gen, 1, ms == 500 ? FIRN_ESTORE : FIRN_EBUSY,
                   ms == 500 ? "too slowly" : "every node");
    }
}

/* A claim that is sent again may take all of the time. */
static void a_claim_sent_again_to_a_slow_store_is_all_that_is_sent(void **state) {
    (void)state;
    for (int64_t ms = 999; ms <= 1000; ms++) {
        firn_error error = {0};
        firn_gen *gen;
        refusal.high = 0;
        world_end(NULL);
        assert_int_equal(world_new(NULL), 0);
        use_store(refuse_slowly, recorder_list);
        memset(shared_memory, 0, sizeof shared_memory);
        assert_int_equal(open_shared(&gen, "max_wait=0"), FIRN_OK);
        assert_int_equal(firn__renewal_lock(gen, true, NULL), FIRN_OK);
        firn__window_retire(gen, 0, false, NULL);
        atomic_store(&firn__shared_claim(gen)->grant, 4711);
        world.log.reserves = 0;
        reserve_ms = ms;
        refusal_step = 0;
        refusal = (firn_mark){firn__slots_of(gen, now_of(gen) + 100), 5};
        firn__gen_begin(gen);
        assert_int_equal(firn__claim_window(gen, 0, now_of(gen), 1, &error), FIRN_ESTORE);
        error_text(&error, FIRN_ESTORE, "too slowly");
        assert_int_equal(world.log.reserves, ms == 1000 ? 1 : 2);
        firn__renewal_unlock(gen);
        refusal.high = 0;
        closed(gen);
    }
}

/* Two nodes with one mark and no grant have the floor of a store that lost reservations: all others
 * have it as well. */
static void the_floor_of_a_store_is_asked_for_twice(void **state) {
    static const char wide[] = "time:41/ms@@2024-01-01 node:12 sequence:2";
    (void)state;
    is_refused(refused_generator(wide, 0, 0, 0), 2, FIRN_EBUSY, "is issued before");
    is_refused(refused_generator(wide, 0, 0, 1), 24, FIRN_EBUSY, "every node");
    is_refused(refused_generator(wide, 0, 5, 0), 24, FIRN_EBUSY, "every node");
    is_refused(refused_generator(wide, 0, 1, 0), 24, FIRN_EBUSY, "every node");
}

/* A window begins after the last ID's tick, but not after the lead. */
static void a_window_begins_within_the_lead(void **state) {
    (void)state;
    firn_gen *gen = opened(FOUR, "max_wait=0");
    const uint64_t now = now_of(gen);
    const int reserves = world.log.reserves;
    firn_error error = {0};
    pthread_mutex_lock(&gen->live->locked.lock);
    firn__window_retire(gen, 0, true, NULL);
    gen->past->has_node[0] = false;
    gen->past->has_last = true;
    gen->past->last_tick = now + gen->lead_ticks;
    assert_int_equal(firn__claim_window(gen, 0, now, 1, &error), FIRN_EEXHAUSTED);
    assert_int_equal(world.log.reserves, reserves);
    gen->past->last_tick--;
    assert_int_equal(firn__claim_window(gen, 0, now, 1, &error), FIRN_OK);
    assert_true(world.log.last.earliest == firn__slots_of(gen, now + gen->lead_ticks));
    pthread_mutex_unlock(&gen->live->locked.lock);
    closed(gen);
}

/* Two windows of a generator never have one node: the other window is closed. */
static void a_node_of_another_window_leaves_that_window(void **state) {
    (void)state;
    for (uint32_t k = 0; k < 2; k++) {
        for (int same = 0; same < 2; same++) {
            int64_t wait_ms;
            firn_gen *gen = opened(FOUR, "nodes=2 window=20ms max_wait=0");
            assert_int_equal(firn_gen_step(gen, &wait_ms, NULL), FIRN_OK);
            pass(&world.clock, SECOND);
            firn__gen_begin(gen);
            pthread_mutex_lock(&gen->live->locked.lock);
            const firn__window *other = firn__window_of(gen, 1 - k);
            firn__window_retire(gen, k, false, NULL);
            gen->past->last_node[k] = same ? other->node : (other->node + 1) % 16;
            assert_int_equal(firn__claim_window(gen, k, now_of(gen), 1, NULL), FIRN_OK);
            assert_true((firn__window_of(gen, 1 - k) == NULL) == same);
            assert_true(gen->past->has_node[1 - k] == !same);
            assert_true(gen->past->has_node[k] && firn__window_of(gen, k) != NULL);
            pthread_mutex_unlock(&gen->live->locked.lock);
            closed(gen);
            pass(&world.clock, SECOND);
        }
    }
}

/* ---- mode=online ----------------------------------------------------------------------------- */

static void each_draw_of_an_online_call_may_fail(void **state) {
    int code, failed = 0;
    (void)state;
    firn_gen *gen =
        opened("time:41/ms@@2024-01-01 node:4 sequence:12", "mode=online start=random:4000 node=3");
    good_fill = world.entropy.fill;
    world.entropy.fill = fill_but_once;
    do {
        firn_id id;
        firn_error error = {0};
        fails_at = failed + 1;
        code = firn_next(gen, &id, &error);
        failed += code == FIRN_EENTROPY;
        assert_true(code == FIRN_EENTROPY || fails_at > 0);
    } while (code == FIRN_EENTROPY && failed < 20);
    assert_int_equal(code, FIRN_OK);
    assert_int_equal(failed, 2); /* the start and the grant */
    closed(gen);
}

/* All or none: where the lead ends, also on another node, and where the layout ends. */
static void an_online_call_has_room_for_all_or_issues_none(void **state) {
    static const char brief[] = "time:16/ms@@2025-10-09T08:52:15Z node:4 sequence:12";
    (void)state;
    firn_gen *gen = opened(brief, "mode=online max_lead=1ms max_back=0 max_wait=0");
    free(bulk(gen, 8192)); /* this tick and the next one */
    denied_n(gen, 1, FIRN_EEXHAUSTED, "max_lead=1ms");
    pass(&world.clock, (65535 - (int64_t)now_of(gen)) * MS);
    denied_n(gen, 4097, FIRN_ELAYOUT, "ended");
    free(bulk(gen, 4096));
    closed(gen);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_new, world_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(keys_that_are_not_nodes_do_not_count),
        TEST(the_node_of_history_is_found_anywhere_in_a_list),
        TEST(the_65536th_node_is_the_last_that_is_looked_at),
        TEST(a_used_node_is_free_by_the_end_of_the_tick),
        TEST(a_new_node_is_none_of_those_listed),
        TEST(a_claim_keeps_the_parts_that_are_given),
        TEST(each_draw_of_a_claim_may_fail),
        TEST(a_claim_without_a_store_begins_within_the_lead),
        TEST(a_claim_is_sent_again_while_its_slots_are_of_use),
        TEST(a_claim_is_kept_until_its_outcome_is_known),
        TEST(a_node_in_use_is_told_with_its_time),
        TEST(a_call_that_waited_may_still_claim),
        TEST(a_call_that_waited_asks_for_one_node),
        TEST(the_floor_of_a_store_is_asked_for_twice),
        TEST(a_window_begins_within_the_lead),
        TEST(a_node_of_another_window_leaves_that_window),
        TEST(each_draw_of_an_online_call_may_fail),
        TEST(an_online_call_has_room_for_all_or_issues_none),
        TEST(a_claim_that_is_of_no_use_is_forgotten),
        TEST(no_new_node_is_claimed_without_room_for_it),
        TEST(a_claim_sent_again_to_a_slow_store_is_all_that_is_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
