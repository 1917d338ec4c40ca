/* SPDX-License-Identifier: MIT */
/* The short paths of firn_next: a window that is retired in the middle of a call, an event in the
 * middle of one, a start that cannot be drawn, packing, and which of several nodes a thread issues
 * from. The clock and the entropy are replaced by ones that make the event, so that each race
 * happens in each run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generating.h"

#include "fork_memory.h"
#include "issue.h"

#include <pthread.h>
#include <sched.h>

/* ---- a window that is retired in the middle of a call ---------------------------------------- */

/* Whom to retire at the next reading of the clock; NULL: nobody. */
static firn_gen *at_reading;

static void retire(firn_gen **which) {
    firn_gen *gen = *which;
    *which = NULL;
    if (gen != NULL) {
        pthread_mutex_lock(&gen->live->locked.lock);
        firn__window_retire(gen, 0, false, NULL);
        pthread_mutex_unlock(&gen->live->locked.lock);
    }
}

static int reads_and_retires(void *self, firn_time *now) {
    int code = simulated_wall(self, now);
    retire(&at_reading);
    return code;
}

static const firn__window *window_of(const firn_gen *gen, uint32_t k) {
    return atomic_load(&gen->live->any.windows[k]);
}

/* The thread has found the window, reads the clock, and then finds the window closed. */
static void a_closed_window_issues_nothing(void **state) {
    static const struct {
        const char *scheme, *keys;
        enum firn__way way;
    } paths[] = {{"snowflake", "", FIRN__WAY_USUAL},
                 {"snowflake", "ordering=thread", FIRN__WAY_USUAL},
                 {"snowflake", "start=random:9", FIRN__WAY_USUAL},
                 {"time:41/ms node:10 random:24", "", FIRN__WAY_OTHER}};
    (void)state;
    world.hands.wall = reads_and_retires;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        firn_gen *gen = opened(paths[i].scheme, paths[i].keys);
        assert_true(gen->way == paths[i].way || firn__wiped_watch());
        firn_id before = next(gen);
        const firn__window *window = window_of(gen, 0);
        int reserves = world.log.reserves;
        at_reading = gen;
        firn_id after = next(gen);
        assert_null(at_reading);
        assert_true(firn_id_cmp(&before, &after) != 0);
        assert_true(world.log.reserves > reserves || !gen->reserved);
        assert_true(window_of(gen, 0) != window);
        assert_false(atomic_load(&window->cursor) & FIRN__OPEN);
        closed(gen);
        pass(&world.clock, 10 * SECOND);
    }
}

/* Whose era changes at the next draw of a start; NULL: nobody's. */
static firn_gen *at_drawing;

static int draws_zeros_in_an_event(void *self, void *out, size_t size) {
    (void)self;
    memset(out, 0, size);
    if (at_drawing != NULL) {
        firn__event(at_drawing);
        at_drawing = NULL;
    }
    return FIRN_OK;
}

/* As when a handler of a signal forks the process in the middle of a call: the start of a new tick
 * is drawn just before its first slot is taken. */
static void slots_taken_during_an_event_are_dropped(void **state) {
    static const char *const keys[] = {"start=random:2", "start=random:2 ordering=thread"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        firn_gen *gen = opened("snowflake", keys[i]);
        bool short_path = gen->way != FIRN__WAY_OTHER;
        int (*fill)(void *, void *, size_t) = world.entropy.fill;
        next(gen);
        pass(&world.clock, SECOND);
        world.entropy.fill = draws_zeros_in_an_event;
        for (int j = 0; j < 3; j++) {
            at_drawing = j == 1 ? gen : NULL;
            firn_id id = next(gen), two[2];
            assert_null(at_drawing);
            uint64_t dropped = j != 1 || !short_path ? 0 : i == 0 ? 1 : FIRN__BLOCK;
            assert_int_equal(id.low & 4095, dropped);
            pass(&world.clock, MS);
            at_drawing = j == 1 ? gen : NULL;
            assert_int_equal(firn_next_n(gen, two, 2, NULL), FIRN_OK);
            assert_int_equal(two[0].low & 4095, j == 1 && short_path ? 2 : 0);
            assert_int_equal(two[1].low, two[0].low + 1);
            pass(&world.clock, MS);
        }
        world.entropy.fill = fill;
        closed(gen);
    }
}

/* ---- threads on the direct ways, with events ------------------------------------------------- */

#define LAYOUT "0x0:1 time:41/ms@@2020-01-01 node:6 sequence:16"
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define EACH 30000
#else
#define EACH 100000
#endif

typedef struct crew {
    firn_gen *gen;
    uint64_t *ids;
    int code;
    firn_error error;
    pthread_t thread;
} crew;

static _Atomic int finished; /* of the threads at work */

static void *issue_each(void *context) {
    crew *self = context;
    for (size_t i = 0; i < EACH && self->code == FIRN_OK; i++) {
        firn_id id;
        self->code = i % 2 == 0 ? firn_next(self->gen, &id, &self->error)
                                : firn_next_u64(self->gen, &id.low, 1, &self->error);
        self->ids[i] = id.low;
    }
    atomic_fetch_add(&finished, 1);
    return NULL;
}

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* By the system's clock and the cycle counter, as users have them, while the node is given back
 * again and again. */
static void threads_on_the_direct_ways_agree(void **state) {
    static const char *const keys[] = {"", "clock=tick", "ordering=thread",
                                       "ordering=thread clock=tick", "nodes=2"};
    uint64_t *ids = malloc(3 * EACH * sizeof *ids);
    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const firn_config config = {
            .size = sizeof config, .scheme = LAYOUT, .keys = keys[i], .store = world.store};
        firn_gen *gen;
        firn_error error = {0};
        crew hands[3];
        bool fallen = false;
        atomic_store(&finished, 0);
        if (firn_open_with(&gen, &config, &error) != FIRN_OK) {
            fail_msg("%s: %s", keys[i], error.text);
        }
        for (size_t k = 0; k < 3; k++) {
            hands[k] = (crew){.gen = gen, .ids = ids + k * EACH};
            assert_int_equal(pthread_create(&hands[k].thread, NULL, issue_each, &hands[k]), 0);
        }
        /* Fewer than FIRN__TRIES, which is how many changes one call survives. */
        for (int j = 0; j < FIRN__TRIES / 2 && atomic_load(&finished) < 3; j++) {
            pthread_mutex_lock(&gen->live->locked.lock);
            firn__window_retire(gen, 0, true, NULL);
            pthread_mutex_unlock(&gen->live->locked.lock);
            while (window_of(gen, 0) == NULL && atomic_load(&finished) < 3) {
                sched_yield(); /* until another is claimed */
            }
        }
        for (size_t k = 0; k < 3; k++) {
            pthread_join(hands[k].thread, NULL);
            if (hands[k].code != FIRN_OK) {
                fail_msg("%s: %s", keys[i], hands[k].error.text);
            }
            for (size_t j = 1; j < EACH;
                 j++) { /* one node in turn: each thread sees the IDs rise */
                fallen = fallen || hands[k].ids[j] <= hands[k].ids[j - 1];
            }
        }
        assert_false(fallen && gen->keys.nodes == 1);
        qsort(ids, 3 * EACH, sizeof *ids, compare);
        for (size_t j = 1; j < 3 * EACH; j++) {
            assert_true(ids[j] != ids[j - 1]);
        }
        closed(gen);
    }
    free(ids);
}

/* ---- packing by what a tick and a sequence number add ---------------------------------------- */

static uint64_t drawn_state = 13;

static uint64_t drawn(uint64_t below) {
    drawn_state = drawn_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (drawn_state >> 33) % below;
}

/* A layout of up to 64 bits: a time, and at most three other slices around it. */
static void draw_layout(char text[120]) {
    static const char *const words[] = {"sequence", "sequence~1", "node", "0x0"};
    unsigned place = (unsigned)drawn(4), left = 20;
    bool used[4] = {false};
    text[0] = '\0';
    for (unsigned i = 0; i < 4; i++) {
        char *position = text + strlen(text);
        unsigned bits = 1 + (unsigned)drawn(left - 6 + i * 2), word = (unsigned)drawn(4);
        if (i == place) {
            snprintf(position, 60, " time%s:%u/ms@@2025-01-01", drawn(5) == 0 ? "~1" : "",
                     38 + (unsigned)drawn(4));
        } else if (!used[word] && !(word == 0 && used[1]) && !(word == 1 && used[0]) &&
                   bits < left) {
            *position++ = ' ';
            snprintf(position, 60, "%s:%u", words[word], bits);
            used[word] = true;
            left -= bits;
        }
    }
}

/* A generator's IDs equal the IDs of the packer that walks the slices. */
static void each_layout_packs_as_its_slices_say(void **state) {
    unsigned straight = 0, walked = 0;
    (void)state;
    for (int i = 0; i < 400; i++) {
        char layout[120], keys[60];
        draw_layout(layout);
        snprintf(keys, sizeof keys, "ns=drawn%d unsigned=1", i);
        firn_gen *gen;
        firn_error error = {0};
        if (try_open(&gen, layout, keys, false, &error) != FIRN_OK) {
            fail_msg("%s: %s", layout, error.text);
        }
        straight += gen->straight;
        walked += !gen->straight;
        for (int j = 0; j < 50; j++) {
            const firn__draw draw = {drawn(UINT32_MAX) << 6 & (gen->tick_end - 1),
                                     drawn(UINT32_MAX) & gen->count_mask,
                                     {0, 0}};
            firn_id packed_straight, walked_through;
            const firn_id base = window_of(gen, 0) != NULL ? window_of(gen, 0)->base
                                                           : (firn_id){0, 0, 0, gen->scheme.bits};
            firn__gen_pack(gen, &draw, &base, &packed_straight);
            gen->pack(&walked_through, &gen->scheme, &draw, &base);
            assert_int_equal(firn_id_cmp(&packed_straight, &walked_through), 0);
            assert_int_equal(packed_straight.bits, walked_through.bits);
        }
        firn_id id = next(gen), two[2], three;
        uint64_t numbers[3];
        assert_int_equal(firn_next_n(gen, two, 1, &error), FIRN_OK);
        assert_int_equal(firn_next_u64(gen, numbers, 1, &error), FIRN_OK);
        assert_int_equal(firn_next_u64(gen, numbers + 1, 2, &error), FIRN_OK);
        const uint64_t issued[] = {id.low, two[0].low, numbers[0], numbers[1], numbers[2]};
        uint64_t before = 0;
        for (size_t k = 0; k < 5; k++) { /* one slot after the other */
            firn_fields fields;
            three = (firn_id){issued[k], 0, 0, gen->scheme.bits};
            assert_int_equal(firn_unpack(&fields, &gen->scheme, &three, &error), FIRN_OK);
            int sequence = firn_scheme_field(&gen->scheme, "sequence");
            uint64_t tick = fields.value[firn_scheme_field(&gen->scheme, "time")].low;
            uint64_t slot = tick << gen->s | (sequence < 0 ? 0 : fields.value[sequence].low);
            assert_true(k == 0 || slot == before + 1);
            before = slot;
        }
        closed(gen);
    }
    assert_true(straight > 100 && walked > 50);
}

/* ---- a start that cannot be drawn ------------------------------------------------------------ */

static void a_random_start_needs_entropy(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "start=random:100");
    int (*fill)(void *, void *, size_t) = world.entropy.fill;
    uint64_t last = next_slot(gen);
    pass(&world.clock, MS);
    world.entropy.fill = no_entropy;
    denied(gen, FIRN_EENTROPY, "");
    denied_n(gen, 5, FIRN_EENTROPY, "");
    world.entropy.fill = fill;
    assert_true(next_slot(gen) > last);
    closed(gen);
}

/* ---- several nodes --------------------------------------------------------------------------- */

typedef struct visitor {
    firn_gen *gen;
    uint64_t node;
    int code;
} visitor;

static void *visit(void *self) {
    visitor *state = self;
    uint64_t id = 0;
    state->code = firn_next_u64(state->gen, &id, 1, NULL);
    state->node = id >> 12 & 1023;
    return NULL;
}

/* Threads run one after the other, since only the recorder of this world is not for several at
 * once. */
static void threads_take_turns_on_the_nodes(void **state) {
    (void)state;
    for (int many = 2; many <= 4; many += 2) {
        char keys[40];
        snprintf(keys, sizeof keys, "ns=turns%d nodes=%d", many, many);
        firn_gen *gen = opened("snowflake", keys);
        uint64_t nodes[12];
        for (int i = 0; i < 12; i++) {
            visitor self = {gen, 0, -1};
            pthread_t thread;
            if (i == 0) {
                visit(&self); /* the thread that opened it is one of them */
            } else {
                assert_int_equal(pthread_create(&thread, NULL, visit, &self), 0);
                assert_int_equal(pthread_join(thread, NULL), 0);
            }
            assert_int_equal(self.code, FIRN_OK);
            nodes[i] = self.node;
            for (int j = 0; j < i; j++) {
                assert_true((nodes[j] == nodes[i]) == (j % many == i % many));
            }
        }
        for (int i = 0; i < 8; i++) { /* and a thread stays on its own, also the long way */
            firn_id ids[2];
            pass(&world.clock, MS);
            assert_int_equal(firn_next_n(gen, ids, 2, NULL), FIRN_OK);
            assert_true((ids[1].low >> 12 & 1023) == nodes[0]);
        }
        closed(gen);
    }
}

/* Issues `n` at once, all of one node. */
static uint64_t node_of(firn_gen *gen, size_t n) {
    firn_id *ids = bulk(gen, n);
    uint64_t node = ids[0].low >> 12 & 1023;
    assert_true((ids[n - 1].low >> 12 & 1023) == node);
    free(ids);
    return node;
}

static void a_thread_moves_on_to_the_next_node(void **state) {
    (void)state;
    for (uint32_t nodes = 2; nodes <= 4; nodes++) {
        char keys[64];
        int64_t wait_ms;
        snprintf(keys, sizeof keys, "nodes=%u max_lead=2ms max_back=0 ns=of%u", nodes, nodes);
        firn_gen *gen = opened("snowflake", keys);
        assert_int_equal(firn_gen_step(gen, &wait_ms, NULL), FIRN_OK);
        size_t most = (size_t)gen->at_once; /* all that one node may issue now */
        for (uint32_t k = 0; k < nodes; k++) {
            assert_true(node_of(gen, most) == window_of(gen, k)->node);
        }
        denied(gen, FIRN_EEXHAUSTED, "max_lead=2ms");
        denied_n(gen, most + 1, FIRN_ERANGE, "at once");
        uint32_t position = nodes - 1; /* the thread stays at the node it came to */
        for (uint32_t turn = 0; turn < 2 * nodes; turn++) {
            pass(&world.clock, MS);
            for (uint32_t i = 0; i < nodes; i++) {
                uint64_t node = node_of(gen, 4096);
                assert_true(node == window_of(gen, (position + i) % nodes)->node);
            }
            position = (position + nodes - 1) % nodes;
            denied(gen, FIRN_EEXHAUSTED, "max_lead=2ms");
        }
        closed(gen);
    }
}

/* Another node is used only if one is used up: other failures are reported. */
static void a_failure_is_not_hidden_by_another_node(void **state) {
    (void)state;
    firn_gen *gen = opened("snowflake", "nodes=2");
    next(gen);
    pass(&world.clock, HOUR);
    world.log.fate = FATE_DOWN;
    world.log.fated = 1;
    denied(gen, FIRN_ESTORE, "down");
    uint64_t issued = node_of(gen, 1);
    assert_true(issued == window_of(gen, 0)->node);
    int64_t next_of_0 = (int64_t)(atomic_load(&window_of(gen, 0)->cursor) & ~FIRN__OPEN);
    for (int64_t i = 1; i <= 100; i++) { /* and exactly the requested IDs */
        assert_true(node_of(gen, 1) == issued);
        assert_true((int64_t)(atomic_load(&window_of(gen, 0)->cursor) & ~FIRN__OPEN) ==
                    next_of_0 + i);
    }
    closed(gen);
}

/* ---- each way by the system's clock ---------------------------------------------------------- */

/* A way of firn_next with the clock that users have. */
typedef struct way {
    const char *scheme, *keys;
    enum firn__way way;
    clockid_t clock; /* that it reads */
    bool successive; /* each ID is of the next slot */
} way;

static firn_gen *opened_by_the_system(const char *scheme, const char *keys) {
    const firn_config config = {
        .size = sizeof config, .scheme = scheme, .keys = keys, .store = world.store};
    firn_error error = {0};
    firn_gen *gen = NULL;
    if (firn_open_with(&gen, &config, &error) != FIRN_OK) {
        fail_msg("%s %s: %s", scheme, keys, error.text);
    }
    return gen;
}

static int64_t time_ms(clockid_t id) {
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Issues one ID or several, by each of the calls in turn. A call that issues several reads the
 * clock, so `single` leaves it out. */
static size_t issue_in_turn(firn_gen *gen, unsigned turn, bool single, firn_id ids[3]) {
    firn_error error = {0};
    uint64_t numbers[3];
    const bool is_short = gen->scheme.bits <= 64;
    const size_t n = turn % 4 == 3 && !single ? 2 + turn / 4 % 2 : 1;
    int code = turn % 2 == 0 ? firn_next(gen, ids, &error)
               : is_short    ? firn_next_u64(gen, numbers, n, &error)
                             : firn_next_n(gen, ids, n, &error);
    if (code != FIRN_OK) {
        fail_msg("%s: %s", gen->scheme.name, error.text);
    }
    for (size_t i = 0; i < n && turn % 2 != 0 && is_short; i++) {
        ids[i] = (firn_id){numbers[i], 0, 0, gen->scheme.bits};
    }
    return n;
}

/* The time of an ID is at most 100 us before the call, and not after it; and an ID is whole. */
static void check_way(const way *self) {
    firn_gen *gen = opened_by_the_system(self->scheme, self->keys);
    const int time_at = role(&gen->scheme, FIRN_ROLE_TIME);
    const int64_t single_ms = time_ms(CLOCK_MONOTONIC) + 10, end_ms = single_ms + 10;
    const int random_at = role(&gen->scheme, FIRN_ROLE_RANDOM);
    uint64_t last = 0, random = 0;
    size_t repeats = 0, issued = 0;
    /* Runs need a cycle counter that the kernel trusts. */
    const bool can = self->way != FIRN__WAY_RUN || gen->cycles;
    assert_true(gen->way == (can ? self->way : FIRN__WAY_USUAL) || firn__wiped_watch());
    for (unsigned turn = 0; turn < 200 || time_ms(CLOCK_MONOTONIC) < end_ms; turn++) {
        firn_id ids[3];
        const int64_t before_ms = time_ms(self->clock);
        const size_t n = issue_in_turn(gen, turn, time_ms(CLOCK_MONOTONIC) < single_ms, ids);
        const int64_t after_ms = time_ms(CLOCK_REALTIME);
        for (size_t i = 0; i < n; i++) {
            firn_time instant;
            assert_true(ids[i].bits == gen->scheme.bits && (ids[i].bits > 128 || ids[i].top == 0));
            assert_true(ids[i].bits > 64 || ids[i].high == 0);
            const firn_fields fields = fields_of(gen, &ids[i]);
            if (time_at >= 0) {
                firn_scheme_time(&gen->scheme, fields.value[time_at].low, &instant);
                const int64_t tick_ms = gen->scheme.tick_ns / 1000000;
                const int64_t id_ms = instant.sec * 1000 + instant.ns / 1000000;
                assert_in_range(id_ms, before_ms - 1 - tick_ms, after_ms);
            }
            if (random_at >= 0) {
                repeats += fields.value[random_at].low == random;
                random = fields.value[random_at].low;
                issued++;
            }
            if (self->successive) {
                const uint64_t here = slot(gen, &ids[i]);
                assert_true(turn == 0 || here == last + 1 ||
                            (here > last && (here & gen->count_mask) == 0));
                last = here;
            }
        }
    }
    assert_true(repeats <= issued / 2);
    closed(gen);
}

static void each_way_is_fresh_and_whole(void **state) {
    const clockid_t exact = CLOCK_REALTIME, coarse = CLOCK_REALTIME_COARSE;
    static const char wide[] = "0x0:1 time:41/ms@@2020-01-01 node:2 sequence:20";
    const way ways[] = {
        {wide, "ns=a", FIRN__WAY_RUN, exact, true},
        {wide, "ns=b ordering=thread", FIRN__WAY_RUN, exact, false},
        {wide, "ns=c clock=tick", FIRN__WAY_RUN_TICK, coarse, true},
        {wide, "ns=d clock=tick ordering=thread", FIRN__WAY_RUN_TICK, coarse, false},
        {wide, "ns=e clock=exact", FIRN__WAY_USUAL, exact, true},
        {wide, "ns=f start=random:9", FIRN__WAY_RUN, exact, false},
        {"time:42/ms@@2020-01-01 sequence:20 random:32", "", FIRN__WAY_RUN, exact, false},
        {"time:42/ms@@2020-01-01 sequence:20 random:48", "start=zero clock=tick",
         FIRN__WAY_RUN_TICK, coarse, true},
        {"time:42/ms@@2020-01-01 sequence:20 random:48", "start=zero clock=exact", FIRN__WAY_USUAL,
         exact, false},
        {"uuid7", "", FIRN__WAY_RUN, exact, false},
        {"uuid7", "clock=tick ordering=thread", FIRN__WAY_RUN_TICK, coarse, false},
        {"time:48/ms@@2020-01-01 node:28 sequence:20", "ns=g node=5", FIRN__WAY_RUN, exact, true},
        {"time:48/ms@@2020-01-01 node:28 sequence:20", "ns=h node=5 clock=tick", FIRN__WAY_RUN_TICK,
         coarse, true},
        {"ksuid", "", FIRN__WAY_RANDOM, exact, false},
        {"time:42/ms@@2020-01-01 random:22", "unsigned=1", FIRN__WAY_RANDOM, exact, false},
        {"random:64", "unsigned=1", FIRN__WAY_UNTIMED, exact, false},
        {"uuid4", "", FIRN__WAY_UNTIMED, exact, false},
        {"ulid", "", FIRN__WAY_OTHER, exact, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        check_way(&ways[i]);
    }
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Slots of one run are not packed each: their IDs equal what the packer makes of each slot, also
 * where a run ends. */
static void a_run_of_slots_packs_as_each_slot_would(void **state) {
    static const struct {
        const char *scheme, *keys;
        int count; /* more than one run has, where a run is short */
    } rows[] = {
        {"uuid7", "start=zero", 40000},
        {"uuid7", "start=zero clock=exact", 40000},
        {"uuid1", "", 3000},
        {"uuid1", "clock=tick ordering=thread", 3000},
        {"uuid1-swapped", "", 3000},
        {"uuid6", "clock=tick", 20000},
        {"scru128", "start=zero", 3000},
        {"time:42/ms@@2020-01-01 sequence:3 random:60", "start=zero", 3000},
        {"time:42/ms@@2020-01-01 random:48 sequence:12", "start=zero", 9000},
        {"time:42/ms@@2020-01-01 sequence:12 node:40 random:30", "node=7 ns=r clock=tick", 9000},
        {"time:44/ms@@2020-01-01 node:30 sequence:14", "node=7 ns=s", 9000}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        firn_gen *gen = opened_by_the_system(rows[i].scheme, rows[i].keys);
        const int time_at = role(&gen->scheme, FIRN_ROLE_TIME),
                  random_at = role(&gen->scheme, FIRN_ROLE_RANDOM);
        uint64_t last = 0;
        for (int k = 0; k < rows[i].count; k++) {
            const firn_id id = next(gen), base = window_of(gen, 0)->base;
            const firn_fields fields = fields_of(gen, &id);
            const uint64_t here = slot(gen, &id);
            const firn__draw draw = {fields.value[time_at].low, here & gen->count_mask,
                                     random_at < 0 ? (firn_value){0, 0} : fields.value[random_at]};
            firn_id packed;
            gen->pack(&packed, &gen->scheme, &draw, &base);
            assert_int_equal(firn_id_cmp(&packed, &id), 0);
            assert_true(packed.bits == id.bits && packed.top == id.top);
            assert_true(here > last);
            last = here;
        }
        closed(gen);
    }
}

/* ---- random bits ----------------------------------------------------------------------------- */

/* A step back that is absorbed, and one after it: the time of the IDs stays, and does not fall. */
static void the_time_of_random_ids_does_not_fall(void **state) {
    static const char *const schemes[] = {"time:42/ms random:22", "time:42/ms random:80",
                                          "time:41/ms node:10 random:24"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        firn_gen *gen = opened(schemes[i], i == 0 ? "unsigned=1" : "");
        uint64_t last = next_field(gen, "time");
        for (int turn = 0; turn < 4; turn++) {
            step(&world.clock, turn == 0 ? 7 * MS : -2 * MS);
            uint64_t here = next_field(gen, "time");
            assert_int_equal(here, turn == 0 ? last + 7 : last);
            last = here;
        }
        assert_int_equal(status_of(gen).steps_back_left, 0);
        closed(gen);
    }
}

/* Many at once, drawn together, each of the next slot. */
static void a_batch_with_random_bits_skips_no_slot(void **state) {
    static const char *const schemes[] = {"time:42/ms@@2020-01-01 sequence:4 random:48",
                                          "time:42/ms@@2020-01-01 random:32 sequence:6",
                                          "time:40/ms@@2020-01-01 sequence:12 random:12"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        firn_gen *gen = opened_by_the_system(schemes[i], "unsigned=1");
        firn_id *ids = bulk(gen, 3000);
        for (size_t k = 1; k < 3000; k++) {
            assert_true(slot(gen, &ids[k]) == slot(gen, &ids[k - 1]) + 1);
        }
        free(ids);
        closed(gen);
    }
}

/* ---- blocks that a thread leases ------------------------------------------------------------- */

/* All that may be issued now, one after the other, and nothing twice or beyond it. */
static void a_lease_ends_where_the_lead_ends(void **state) {
    static const struct {
        const char *scheme, *keys;
        size_t most;
    } rows[] = {
        {"snowflake", "ordering=thread max_lead=2ms max_back=0", 3 * 4096},
        {"0x0:1 time:41/ms node:10 sequence:2", "ordering=thread max_lead=0 max_back=0", 4},
        {"0x0:1 time:41/ms node:10 sequence:5", "ordering=thread max_lead=2ms max_back=0", 96}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        firn_gen *gen = opened(rows[i].scheme, rows[i].keys);
        for (int turn = 0; turn < 2; turn++) {
            uint64_t last = now_of(gen) * (gen->count_mask + 1) - 1;
            for (size_t j = 0; j < rows[i].most; j++) {
                uint64_t here = next_slot(gen);
                assert_int_equal(here, last + 1);
                last = here;
            }
            denied(gen, FIRN_EEXHAUSTED, "max_lead");
            pass(&world.clock, SECOND);
        }
        closed(gen);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(sentence, function) {sentence, function, world_new, world_end, NULL}
        TEST("a window that was closed issues nothing", a_closed_window_issues_nothing),
        TEST("slots taken during an event are dropped", slots_taken_during_an_event_are_dropped),
        TEST("threads on the direct ways agree", threads_on_the_direct_ways_agree),
        TEST("each layout packs as its slices say", each_layout_packs_as_its_slices_say),
        TEST("a run of slots packs as each slot would", a_run_of_slots_packs_as_each_slot_would),
        TEST("a random start needs entropy", a_random_start_needs_entropy),
        TEST("threads take turns on the nodes", threads_take_turns_on_the_nodes),
        TEST("a thread moves on to the next node", a_thread_moves_on_to_the_next_node),
        TEST("a failure is not hidden by another node", a_failure_is_not_hidden_by_another_node),
        TEST("on each way an ID is fresh and whole", each_way_is_fresh_and_whole),
        TEST("the time of random IDs does not fall", the_time_of_random_ids_does_not_fall),
        TEST("a batch with random bits skips no slot", a_batch_with_random_bits_skips_no_slot),
        TEST("a lease ends where the lead ends", a_lease_ends_where_the_lead_ends),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
