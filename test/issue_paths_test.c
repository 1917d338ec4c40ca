/* SPDX-License-Identifier: MIT */
/* The longer paths of issuing: a compare-and-swap that fails, a window that ends, the failure of
 * another thread's renewal, and where a batch ends. Linked with the simulation's objects
 * (sim/preempt.h), so that a test can change the cursor just before a swap, and with wrappers of
 * calls between files. One thread, so each race happens in each run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generating.h"

#include "error.h"
#include "fork_memory.h"
#include "issue.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNTED "time:41/ms@@2020-01-01 counter:2 random:20" /* 4 IDs a tick */

static firn_gen *subject; /* of the hooks below */

static firn__window *only_window(const firn_gen *gen) {
    return firn__window_of(gen, 0);
}

/* ---- what happens just before a swap --------------------------------------------------------- */

static bool (*at_swap)(void); /* once; true: the swap fails */

void sim_preempt(void);
bool sim_spurious(void);
bool sim_after(bool value);
uint64_t sim_cycles(void);

static int until_close; /* operations of a call, until its window is given back; 0: it is not */
static int until_fork;  /* operations of a segment's call; 0: no fork */
static bool is_child;
static int child_status;

static void gives_the_window_back(void) {
    pthread_mutex_lock(&subject->live->locked.lock);
    firn__window_retire(subject, 0, true, NULL);
    pthread_mutex_unlock(&subject->live->locked.lock);
}

/* As a handler of a signal may, between any two operations. */
void sim_preempt(void) {
    if (until_close > 0 && --until_close == 0) {
        gives_the_window_back();
    }
    if (until_fork > 0 && --until_fork == 0) {
        pid_t child = fork();
        assert_true(child >= 0);
        is_child = child == 0;
        if (is_child) {
            alarm(20);
        } else {
            assert_int_equal(waitpid(child, &child_status, 0), child);
        }
    }
}

bool sim_spurious(void) {
    bool (*self)(void) = at_swap;
    at_swap = NULL;
    return self != NULL && self();
}

bool sim_after(bool value) {
    return value;
}

static uint64_t cycles; /* 0: as the processor counts them */

uint64_t sim_cycles(void) {
    return cycles != 0 ? cycles : firn__cycles();
}

/* ---- calls that are looked at ---------------------------------------------------------------- */

int __real_firn__renewal_lock(firn_gen *gen, bool patient, firn_error *error);
int __wrap_firn__renewal_lock(firn_gen *gen, bool patient, firn_error *error);
int __real_firn__block_open(firn__bytes *bytes, size_t size, size_t *n, firn_error *error);
int __wrap_firn__block_open(firn__bytes *bytes, size_t size, size_t *n, firn_error *error);
bool __real_firn__block_close(firn__bytes *bytes);
bool __wrap_firn__block_close(firn__bytes *bytes);

static void (*while_waiting)(void); /* what others do before the wrapper takes the lock; once */
static bool lock_fails, was_patient;

int __wrap_firn__renewal_lock(firn_gen *gen, bool patient, firn_error *error) {
    void (*self)(void) = while_waiting;
    while_waiting = NULL;
    was_patient = patient;
    if (lock_fails) {
        return firn__fail(error, FIRN_EWINDOW, "another process has the lock: try again");
    }
    if (self != NULL) {
        self();
    }
    return __real_firn__renewal_lock(gen, patient, error);
}

static bool upset, at_every_call; /* by others, after every or every other call of the renewer */
static long unlocks;

/* The window that the caller has just got is retired; or its end comes near, so that it is retired
 * in the next call. */
static void upset_window(firn_gen *gen) {
    firn__window *window = only_window(gen);
    if (window != NULL && !at_every_call && ++unlocks % 2 == 1) {
        atomic_store(&window->soft, 0);
    } else {
        pthread_mutex_lock(&gen->live->locked.lock);
        firn__window_retire(gen, 0, true, NULL);
        pthread_mutex_unlock(&gen->live->locked.lock);
    }
}

void __real_firn__renewal_unlock(firn_gen *gen);
void __wrap_firn__renewal_unlock(firn_gen *gen);

void __wrap_firn__renewal_unlock(firn_gen *gen) {
    __real_firn__renewal_unlock(gen);
    if (upset) {
        upset_window(gen);
    }
}

static int opens_left = -1;        /* until random bytes cannot be had; -1: never */
static int closes_left = -1;       /* until those that were used are void, once; -1: never */
static size_t void_pieces, pieces; /* of the void piece; of all */

int __wrap_firn__block_open(firn__bytes *bytes, size_t size, size_t *n, firn_error *error) {
    if (opens_left == 0) {
        return firn__fail(error, FIRN_EENTROPY, "no random bytes: none in this test");
    }
    opens_left -= opens_left > 0;
    int code = __real_firn__block_open(bytes, size, n, error);
    pieces += *n;
    void_pieces = closes_left == 1 ? *n : void_pieces;
    return code;
}

bool __wrap_firn__block_close(firn__bytes *bytes) {
    bool good = __real_firn__block_close(bytes), it_is_void = closes_left == 1;
    closes_left -= closes_left > 0;
    return good && !it_is_void;
}

static int new_world(void **state) {
    subject = NULL;
    at_swap = NULL;
    while_waiting = NULL;
    lock_fails = upset = false;
    unlocks = 0;
    opens_left = closes_left = -1;
    return world_new(state);
}

/* With the thread's random bytes, which some short ways need. */
static firn_gen *opened_with_block(const char *scheme, const char *keys) {
    const firn_config config = {.size = sizeof config,
                                .scheme = scheme,
                                .keys = keys,
                                .store = world.store,
                                .clock = &world.hands,
                                .notice = hear};
    firn_error error = {0};
    firn_gen *gen = NULL;
    if (firn_open_with(&gen, &config, &error) != FIRN_OK) {
        fail_msg("%s %s: %s", scheme, keys, error.text);
    }
    return gen;
}

/* The present, in slots of the window. */
static int64_t here_of(const firn_gen *gen) {
    return firn__slot_of(gen, only_window(gen), now_of(gen));
}

/* ---- a swap that fails ----------------------------------------------------------------------- */

/* The first step of a retirement: the event and the rest follow when the clock is read again. */
static bool closes_the_window(void) {
    atomic_fetch_and(&only_window(subject)->cursor, ~FIRN__OPEN);
    return false;
}

static int reads_and_retires(void *self, firn_time *now) {
    int code = simulated_wall(self, now);
    firn_gen *gen = subject;
    if (gen != NULL && only_window(gen) != NULL &&
        !(atomic_load(&only_window(gen)->cursor) & FIRN__OPEN)) {
        subject = NULL;
        pthread_mutex_lock(&gen->live->locked.lock);
        firn__window_retire(gen, 0, false, NULL);
        pthread_mutex_unlock(&gen->live->locked.lock);
    }
    return code;
}

typedef struct path {
    const char *scheme, *keys;
    bool with_block;
    int64_t pass_ns; /* so that there is a swap */
} path;

static const path paths[] = {
    {"time:41/ms node:10 random:24", "", false, MS},
    {"time:41/ms node:10 random:24", "ns=b", true, MS},
    {"time:42/ms@@2020-01-01 sequence:20 random:48", "start=zero clock=exact", true, 0},
    {"snowflake", "", false, 0},
    {COUNTED, "", false, MS},
    {"time:41/ms@@2020-01-01 node:10 counter:2", "", false, MS},
    {"ulid", "", false, MS}};
#define PATHS (sizeof paths / sizeof paths[0])

static firn_gen *opened_path(const path *self) {
    firn_gen *gen = self->with_block ? opened_with_block(self->scheme, self->keys)
                                     : opened(self->scheme, self->keys);
    next(gen);
    return gen;
}

/* The window is closed between the look at its cursor and the swap: the swap fails, and the slot is
 * not issued, since it may be given back and be another's by now. */
static void a_window_that_closes_before_the_swap_issues_nothing(void **state) {
    (void)state;
    for (size_t i = 0; i < PATHS; i++) {
        firn_gen *gen = opened_path(&paths[i]);
        const firn__window *window = only_window(gen);
        pass(&world.clock, paths[i].pass_ns);
        world.hands.wall = reads_and_retires;
        subject = gen;
        at_swap = closes_the_window;
        next(gen);
        assert_null(at_swap);
        assert_null(subject); /* the call looked again */
        assert_true(only_window(gen) != window);
        assert_false(atomic_load(&window->cursor) & FIRN__OPEN);
        world.hands.wall = simulated_wall;
        closed(gen);
        pass(&world.clock, 10 * SECOND);
    }
}

/* Closed by a thread whose event was not seen yet. */
static void a_window_that_is_closed_issues_nothing(void **state) {
    static const path more[] = {{"random:64", "unsigned=1", true, 0},
                                {"time:42/ms random:64", "", true, 0}};
    (void)state;
    for (size_t i = 0; i < PATHS + 2; i++) {
        firn_gen *gen = opened_path(i < PATHS ? &paths[i] : &more[i - PATHS]);
        const firn__window *window = only_window(gen);
        world.hands.wall = reads_and_retires;
        subject = gen;
        closes_the_window();
        next(gen);
        assert_null(subject);
        assert_true(only_window(gen) != window);
        world.hands.wall = simulated_wall;
        closed(gen);
        pass(&world.clock, 10 * SECOND);
    }
}

/* A generator that adds to the cursor, as with the clock of the system. */
static firn_gen *opened_to_add(const char *keys) {
    firn_gen *gen = opened("snowflake", keys);
    gen->cycles = true;
    firn__policy_way(gen);
    assert_true(gen->way == FIRN__WAY_RUN || firn__wiped_watch());
    cycles = 1;
    next(gen);
    atomic_store(&gen->live->watch.stale_cycles, UINT64_MAX);
    next(gen); /* so that the thread knows where the cursor is */
    return gen;
}

/* The same for a slot that is added, before each operation of the call. */
static void a_window_that_closes_before_the_addition_issues_nothing(void **state) {
    (void)state;
    for (int k = 1; k < 12; k++) {
        char keys[32];
        snprintf(keys, sizeof keys, "node=5 ns=add-%d", k);
        subject = opened_to_add(keys);
        firn_id last = next(subject);
        until_close = k;
        for (int i = 0; i < 3; i++) {
            const firn_id id = next(subject);
            assert_true(firn_id_cmp(&last, &id) < 0);
            last = id;
        }
        assert_int_equal(until_close, 0);
        closed(subject);
        cycles = 0;
    }
}

/* Slots that were added beyond the limit are dropped, and a thread that may reach the limit does not
 * add. */
static void an_addition_ends_where_the_limit_is(void **state) {
    firn_gen *gen = opened_to_add("node=5 max_lead=1ms max_back=0ms");
    firn__thread_view *seen = firn__thread_view_of(gen);
    const uint64_t limit = seen->limit;
    firn_error error;
    firn_id id;
    (void)state;
    assert_true(firn__wiped_watch() || seen->next_end == limit - 1); /* one thread */
    atomic_fetch_add(&seen->window->cursor, limit - 3 - seen->next);
    for (int i = 0; i < 3; i++) {
        next(gen);
        assert_int_equal(firn__next_of(seen->window), limit - 2 + (uint64_t)i);
    }
    /* In the first tick of a window, which every cursor has reached. */
    assert_int_equal(seen->least, 0);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(firn_next(gen, &id, &error), FIRN_EEXHAUSTED);
        assert_int_equal(firn__next_of(only_window(gen)), limit);
        atomic_store(&gen->live->watch.stale_cycles, UINT64_MAX);
    }
    cycles = 0;
    closed(gen);
}

static bool becomes_a_child(void) {
    atomic_fetch_add(&subject->live->any.serial, 2);
    return false;
}

/* As when a handler forks while IDs are counted: what it has of the parent's state is dropped. */
static void what_a_child_has_half_counted_is_dropped(void **state) {
    static const char *const counted[] = {COUNTED, "ulid"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        firn_gen *gen = opened(counted[i], "");
        next(gen);
        pass(&world.clock, MS);
        subject = gen;
        at_swap = becomes_a_child;
        next(gen);
        assert_null(at_swap);
        assert_int_equal(gen->live->counted.used, 2); /* in a tick that the dropped one began */
        closed(gen);
    }
}

/* A call ends after 64 tries. */
static void a_call_that_others_upset_ends(void **state) {
    static const struct {
        const char *scheme, *keys;
        bool at_every_call;
        int code;
        const char *words;
    } rows[] = {
        {"time:41/ms@@2020-01-01 node:10 sequence:12", "", true, FIRN_EWINDOW,
         "changed hands 64 times"},
        {"time:42/ms random:22", "unsigned=1", true, FIRN_EWINDOW, "is used up"},
        {"time:42/ms random:22", "unsigned=1", false, FIRN_ECLOCK, "keeps stepping back"},
        {"ulid", "", true, FIRN_EWINDOW, "is used up"},
        {"time:41/ms@@2020-01-01 node:10 counter:12", "", false, FIRN_EWINDOW, "is used up"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        firn_gen *gen = opened(rows[i].scheme, rows[i].keys);
        pthread_mutex_lock(&gen->live->locked.lock);
        firn__window_retire(gen, 0, true, NULL);
        pthread_mutex_unlock(&gen->live->locked.lock);
        at_every_call = rows[i].at_every_call;
        upset = true;
        denied(gen, rows[i].code, rows[i].words);
        upset = false;
        next(gen);
        closed(gen);
        pass(&world.clock, 10 * SECOND);
    }
}

static bool fails(void) {
    return true;
}

/* As a weak swap may. The cursor is after the ID. */
static void a_swap_that_fails_for_nothing_is_tried_again(void **state) {
    (void)state;
    for (size_t i = 0; i < PATHS; i++) {
        firn_gen *gen = opened_path(&paths[i]);
        bool random = gen->kind == FIRN__KIND_RANDOM;
        pass(&world.clock, paths[i].pass_ns);
        int64_t before = (int64_t)firn__next_of(only_window(gen));
        at_swap = fails;
        next(gen);
        assert_null(at_swap);
        int64_t least = here_of(gen) > before ? here_of(gen) : before;
        assert_int_equal(firn__next_of(only_window(gen)), least + (random ? 0 : 1));
        closed(gen);
        pass(&world.clock, 10 * SECOND);
    }
}

/* ---- random bits without slots --------------------------------------------------------------- */

/* IDs continue at a cursor that is ahead of the clock by max_lead and max_back; a cursor one tick
 * later counts as a clock rollback. */
static void random_ids_are_not_far_ahead_of_the_clock(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        const int more = i / 2;
        const char *keys = "unsigned=1 back=leave max_lead=10ms max_back=5ms max_wait=0";
        firn_gen *gen = i % 2 == 0 ? opened("time:42/ms random:22", keys)
                                   : opened_with_block("time:42/ms random:22", keys);
        next(gen);
        const uint64_t now = now_of(gen);
        const uint64_t ahead = (uint64_t)(here_of(gen) + gen->lead_slots) + 6 + (uint64_t)more;
        world.notices = 0;
        atomic_store(&only_window(gen)->cursor, FIRN__OPEN | ahead);
        assert_int_equal(next_field(gen, "time"), more == 0 ? now + 17 : now);
        assert_int_equal(world.notices, more);
        closed(gen);
    }
}

static int no_time(void *self, firn_time *now) {
    (void)self, (void)now;
    return FIRN_ESYSTEM;
}

/* The call reads no clock, and a step that is waited for still blocks the call. */
static void ids_without_a_time_need_no_clock(void **state) {
    (void)state;
    firn_gen *gen = opened("random:64", "unsigned=1");
    firn_id first = next(gen);
    world.hands.wall = no_time;
    firn_id second = next(gen);
    assert_true(first.low != second.low);
    world.hands.wall = simulated_wall;
    atomic_store(&gen->live->any.blocked, 5);
    denied(gen, FIRN_ECLOCK, "is still");
    atomic_store(&gen->live->any.blocked, 0);
    next(gen);
    closed(gen);
}

static void each_random_bit_is_drawn(void **state) {
    static const char *const schemes[] = {"time:42/ms random:80", "time:42/ms random:72",
                                          "time:42/ms@@2020-01-01 sequence:12 random:72"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        firn_gen *gen = opened_with_block(schemes[i], i == 2 ? "start=zero clock=exact" : "");
        firn_value last = {0, 0}, set = {0, 0}, clear = {0, 0};
        for (int k = 0; k < 64; k++) {
            firn_id id = next(gen);
            firn_value random = fields_of(gen, &id).value[role(&gen->scheme, FIRN_ROLE_RANDOM)];
            assert_true(random.low != last.low);
            set.low |= random.low;
            set.high |= random.high;
            clear.low |= ~random.low;
            clear.high |= ~random.high;
            last = random;
        }
        const uint64_t high = ones(i == 0 ? 16 : 8);
        assert_true(set.low == UINT64_MAX && set.high == high);
        assert_true(clear.low == UINT64_MAX && (clear.high & high) == high);
        closed(gen);
    }
}

/* Many at once: no bit follows from the place in the batch. */
static void random_bits_of_a_batch_are_not_counted(void **state) {
    (void)state;
    firn_gen *gen = opened_with_block("time:42/ms random:80", "");
    const size_t n = 4096;
    size_t odd[2] = {0, 0};
    firn_id *ids = bulk(gen, n);
    for (size_t i = 1; i < n; i += 2) {
        odd[0] += ids[i].low & 1;
        odd[1] += ids[i].high & 1;
    }
    assert_in_range(odd[0], n / 4 - 300, n / 4 + 300);
    assert_in_range(odd[1], n / 4 - 300, n / 4 + 300);
    free(ids);
    closed(gen);
}

/* ---- slots with random bits ------------------------------------------------------------------ */

/* No ID is beyond the lead, none is of a tick that is past, and none is left out. */
static void slots_with_random_bits_keep_their_bounds(void **state) {
    (void)state;
    firn_gen *gen = opened_with_block("time:42/ms@@2020-01-01 sequence:2 random:60",
                                      "start=zero clock=exact max_lead=2ms max_back=0 max_wait=0");
    assert_true(gen->way == FIRN__WAY_USUAL || firn__wiped_watch());
    for (int turn = 0; turn < 3; turn++) {
        const uint64_t begin = now_of(gen) << 2;
        for (uint64_t k = 0; k < 12; k++) {
            assert_int_equal(next_slot(gen), begin + k);
            if (turn == 1) { /* a window that ends soon holds nobody up */
                atomic_store(&only_window(gen)->soft, (int64_t)firn__next_of(only_window(gen)));
            }
        }
        denied(gen, FIRN_EEXHAUSTED, "max_lead=2ms");
        pass(&world.clock, turn == 0 ? SECOND : 3 * MS);
    }
    for (int turn = 0; turn < 3; turn++) {
        assert_int_equal(next_slot(gen), now_of(gen) << 2);
        pass(&world.clock, MS);
    }
    closed(gen);
}

/* ---- batches --------------------------------------------------------------------------------- */

static const char *const batches[] = {
    "time:42/ms@@2020-01-01 sequence:20 random:66", "time:42/ms@@2020-01-01 sequence:12 random:74",
    "time:41/ms@@2020-01-01 sequence:4 random:18", "time:41/ms@@2020-01-01 node:10 sequence:12"};

/* Each the one after the one before, and not a byte after the last is written. */
static void a_batch_is_whole_and_ends_where_it_ends(void **state) {
    const uint64_t mark = 0x0123456789abcdef;
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        firn_gen *gen = opened_with_block(batches[i], "start=zero");
        uint64_t last = next_slot(gen);
        for (size_t n = 1; n < 40; n++) {
            uint64_t numbers[48];
            firn_id ids[48];
            memset(ids, 0x77, sizeof ids);
            for (size_t k = 0; k < 48; k++) {
                numbers[k] = mark;
            }
            const bool is_short = gen->scheme.bits <= 64 && n % 2 == 0;
            assert_int_equal(is_short ? firn_next_u64(gen, numbers, n, NULL)
                                      : firn_next_n(gen, ids, n, NULL),
                             FIRN_OK);
            for (size_t k = 0; k < n; k++) {
                firn_id id = is_short ? (firn_id){numbers[k], 0, 0, gen->scheme.bits} : ids[k];
                assert_int_equal(slot(gen, &id), ++last);
            }
            for (size_t k = n; k < 48; k++) {
                assert_true(numbers[k] == mark && ids[k].low == UINT64_C(0x7777777777777777));
            }
        }
        closed(gen);
    }
}

/* At the first piece of the batch, and at a later one. */
static void a_batch_without_random_bytes_is_nothing(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        firn_gen *gen = opened_with_block(batches[i], "start=zero");
        next(gen);
        for (int left = 0; left < 2; left++) {
            opens_left = left;
            denied_n(gen, 3000, FIRN_EENTROPY, "no random bytes");
            assert_int_equal(opens_left, 0);
            opens_left = -1;
        }
        next(gen);
        closed(gen);
    }
}

static void integers_without_random_bytes_are_zeros(void **state) {
    uint64_t numbers[3000] = {0};
    (void)state;
    firn_gen *gen =
        opened_with_block("time:42/ms@@2020-01-01 sequence:14 random:8", "start=zero unsigned=1");
    next(gen);
    for (int left = 0; left < 2; left++) {
        firn_error error = {0};
        opens_left = left;
        assert_int_equal(firn_next_u64(gen, numbers, 3000, &error), FIRN_EENTROPY);
        assert_int_equal(opens_left, 0);
        for (size_t i = 0; i < 3000; i++) {
            assert_true(numbers[i] == 0);
        }
        opens_left = -1;
    }
    closed(gen);
}

/* A new window may start its sequence at random, and a thread's first call takes its turn by the
 * clock. */
static void a_first_call_needs_entropy_and_clock(void **state) {
    int (*fill)(void *, void *, size_t) = world.entropy.fill;
    (void)state;
    firn_gen *gen = opened("uuid7", "");
    pthread_mutex_lock(&gen->live->locked.lock);
    firn__window_retire(gen, 0, false, NULL);
    pthread_mutex_unlock(&gen->live->locked.lock);
    world.entropy.fill = no_entropy;
    denied(gen, FIRN_EENTROPY, "entropy");
    world.entropy.fill = fill;
    next(gen);
    closed(gen);
    gen = opened("time:41/ms@@2020-01-01 node:10 sequence:12", "nodes=3 ordering=thread");
    firn__thread_view_of(gen)->lane = 0; /* as a new thread has it */
    world.hands.wall = no_time;
    denied(gen, FIRN_ECLOCK, "clock fails or has an invalid time");
    world.hands.wall = simulated_wall;
    next(gen);
    closed(gen);
}

/* As when a handler forked in between: the whole piece is made again. */
static void a_piece_that_is_void_is_made_again(void **state) {
    (void)state;
    firn_gen *gen = opened_with_block(batches[1], "start=zero");
    next(gen);
    closes_left = 1;
    pieces = void_pieces = 0;
    firn_id *ids = bulk(gen, 200);
    assert_int_equal(closes_left, 0);
    assert_true(void_pieces > 0);
    assert_int_equal(pieces, 200 + void_pieces);
    closes_left = -1;
    free(ids);
    closed(gen);
}

/* From the caller's source each ID draws its own bits, also where one bit is all of them. */
static void each_of_a_batch_draws_its_own_bits(void **state) {
    static const char *const schemes[] = {"time:41/ms@@2020-01-01 sequence:6 random:16",
                                          "time:41/ms@@2020-01-01 sequence:6 random:1"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        firn_gen *gen = opened(schemes[i], "start=zero");
        size_t changes = 0;
        firn_id *ids = bulk(gen, 64);
        for (size_t k = 1; k < 64; k++) {
            assert_int_equal(slot(gen, &ids[k]), slot(gen, &ids[k - 1]) + 1);
            changes += field(gen, &ids[k], "random") != field(gen, &ids[k - 1], "random");
        }
        assert_true(changes > 16);
        free(ids);
        closed(gen);
    }
}

/* Its digits hide the sequence: an ID is not the one before plus one. */
static void a_shuffled_batch_is_not_counted(void **state) {
    (void)state;
    firn_gen *gen = opened("time-random", "node=3");
    size_t steps_of_one = 0;
    firn_id *ids = bulk(gen, 200);
    for (size_t k = 1; k < 200; k++) {
        steps_of_one += ids[k].low == ids[k - 1].low + 1;
    }
    assert_true(steps_of_one < 10);
    are_unique(ids, 200);
    free(ids);
    closed(gen);
}

/* ---- a fork in the middle of a segment's call ------------------------------------------------ */

/* Returns an integer, or none. */
static int64_t one_of(firn_segment *segment, int way) {
    int64_t value = 0, count;
    bool due;
    int code = way == 0   ? firn_segment_next(segment, &value, NULL)
               : way == 1 ? firn_segment_take(segment, 1, &value, &count, &due, NULL)
                          : firn_segment_exact(segment, 1, true, &value, &due, NULL);
    return code == FIRN_OK ? value : 0;
}

/* After every operation at which a handler may fork, the child has no integer of its parent's, and
 * it does not hang. */
static void a_child_has_no_integer_of_its_parent(void **state) {
    (void)state;
    for (int way = 0; way < 3; way++) {
        int forks = 0;
        for (int turn = 0; turn < 100; turn++) {
            firn_segment *segment = open_segment("step=4", FIRN_OK, "");
            for (int i = 0; i < turn % 5; i++) {
                assert_true(one_of(segment, 0) > 0);
            }
            child_status = 0;
            until_fork = 1 + turn / 5;
            int64_t value = one_of(segment, way);
            if (is_child) {
                int64_t again = value == 0 ? one_of(segment, way) : 0;
                _exit(value == 0 && again == 0 ? 0 : 1);
            }
            forks += until_fork == 0;
            until_fork = 0;
            assert_int_equal(child_status, 0);
            firn_segment_close(segment, NULL);
        }
        assert_true(forks > 3);
    }
}

/* ---- requests to the renewer ----------------------------------------------------------------- */

static const char stored[] = "time:41/ms@@2020-01-01 node:10 counter:2";

/* `more` slots than the window has; without a window one. */
static firn__need need_of(const firn_gen *gen, int64_t more) {
    const firn__window *window = only_window(gen);
    return (firn__need){.window = window,
                        .tick = now_of(gen),
                        .steps = atomic_load(&gen->live->watch.stepped),
                        .end = window == NULL ? 1 : firn__end_of(window) + more,
                        .n = 1,
                        .must = true};
}

static void store_is_down(bool down) {
    world.log.fate = FATE_DOWN;
    world.log.fated = down ? -1 : 0;
}

/* The act of another thread while this one waits for the lock. */
static void another_fails(void) {
    const firn__need need = need_of(subject, 1);
    assert_int_equal(firn__ask(subject, 0, &need, NULL), FIRN_ESTORE);
    world.log.reserves = 0;
}

static void another_fails_and_one_renews(void) {
    const firn__need need = need_of(subject, 1);
    another_fails();
    atomic_store(&only_window(subject)->end, need.end);
    atomic_store(&only_window(subject)->soft, need.end);
}

static void another_fails_and_one_retires(void) {
    another_fails();
    firn__window_retire(subject, 0, false, NULL);
}

/* The failure that came while a call waited is its own too, unless what it needs is there by
 * now. */
static void who_waited_does_not_ask_a_failing_store_again(void **state) {
    static const struct {
        void (*meanwhile)(void);
        bool with_window;
        int code;
    } rows[] = {{another_fails, true, FIRN_ESTORE},
                {another_fails, false, FIRN_ESTORE},
                {another_fails_and_one_renews, true, FIRN_OK},
                {another_fails_and_one_retires, true, FIRN_OK}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        firn_gen *gen = opened(stored, "max_wait=0");
        firn_error error = {0};
        next(gen);
        if (!rows[i].with_window) {
            firn__window_retire(gen, 0, false, NULL);
        }
        const firn__need need = need_of(gen, 1);
        subject = gen;
        while_waiting = rows[i].meanwhile;
        store_is_down(true);
        assert_int_equal(firn__ask(gen, 0, &need, &error), rows[i].code);
        assert_null(while_waiting);
        assert_int_equal(world.log.reserves, 0);
        if (rows[i].code != FIRN_OK) {
            error_text(&error, FIRN_ESTORE, "the store is down");
        }
        store_is_down(false);
        closed(gen);
        pass(&world.clock, 10 * SECOND);
    }
}

/* Neither a success nor what failed before the store was asked. */
static void only_failures_of_the_store_are_shared(void **state) {
    (void)state;
    firn_gen *gen = opened(stored, "max_wait=0");
    int (*fill)(void *, void *, size_t) = world.entropy.fill;
    next(gen);
    firn__need need = need_of(gen, 1);
    assert_int_equal(firn__ask(gen, 0, &need, NULL), FIRN_OK);
    assert_int_equal(atomic_load(&gen->live->any.failures), 0);
    need = need_of(gen, 1);
    world.entropy.fill = no_entropy;
    assert_int_equal(firn__ask(gen, 0, &need, NULL), FIRN_EENTROPY);
    assert_int_equal(atomic_load(&gen->live->any.failures), 0);
    world.entropy.fill = fill;
    store_is_down(true);
    assert_int_equal(firn__ask(gen, 0, &need, NULL), FIRN_ESTORE);
    assert_int_equal(atomic_load(&gen->live->any.failures), 1);
    error_text(&gen->live->locked.failure, FIRN_ESTORE, "the store is down");
    store_is_down(false);
    closed(gen);
}

/* After how many draws the entropy ends. */
static int draws_left;

static int fails_later(void *self, void *out, size_t size) {
    (void)self;
    memset(out, 0xff, size); /* the most: ulid cannot count it up */
    return draws_left-- > 0 ? FIRN_OK : FIRN_EENTROPY;
}

/* The IDs that were made before in the same call were not issued. */
static void a_draw_that_fails_leaves_no_id(void **state) {
    static const char *const schemes[] = {"scru128", "ulid", "uuid4", "ksuid"};
    (void)state;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        firn_gen *gen = opened(schemes[i], "");
        int (*fill)(void *, void *, size_t) = world.entropy.fill;
        next(gen);
        world.entropy.fill = fails_later;
        int failures = 0;
        for (int code = FIRN_EENTROPY; code != FIRN_OK; failures++) {
            static const firn_id none;
            firn_id ids[3], before;
            assert_in_range(failures, 0, 9);
            memset(&before, 1, sizeof before);
            memset(ids, 1, sizeof ids);
            pass(&world.clock, MS);
            draws_left = failures;
            code = firn_next_n(gen, ids, 3, NULL);
            assert_true(code == FIRN_OK || code == FIRN_EENTROPY);
            for (int k = 0; k < 3; k++) {
                bool absent = memcmp(&ids[k], &none, sizeof none) == 0 ||
                              memcmp(&ids[k], &before, sizeof before) == 0;
                assert_true(absent == (code != FIRN_OK));
            }
        }
        assert_in_range(failures, 2, 9);
        world.entropy.fill = fill;
        closed(gen);
    }
}

/* Ahead of need nobody waits; in need, who cannot have the lock asks nothing. */
static void without_the_lock_nothing_is_asked(void **state) {
    (void)state;
    firn_gen *gen = opened(stored, "max_wait=0");
    firn_error error = {0};
    next(gen);
    firn__need need = need_of(gen, 0);
    need.must = false;
    world.log.reserves = 0;
    pthread_mutex_lock(&gen->live->locked.lock);
    assert_int_equal(firn__ask(gen, 0, &need, &error), FIRN_OK);
    assert_true(pthread_mutex_trylock(&gen->live->locked.lock) != 0);
    pthread_mutex_unlock(&gen->live->locked.lock);
    need = need_of(gen, 1);
    lock_fails = true;
    assert_int_equal(firn__ask(gen, 0, &need, &error), FIRN_EWINDOW);
    error_text(&error, FIRN_EWINDOW, "another process has the lock");
    int64_t wait_ms;
    assert_int_equal(firn_gen_step(gen, &wait_ms, &error), FIRN_EWINDOW);
    lock_fails = false;
    assert_int_equal(world.log.reserves, 0);
    closed(gen);
}

/* And the call says why, at once. */
static void past_the_window_nothing_is_issued_without_the_store(void **state) {
    static const char *const schemes[] = {stored, "time:41/ms@@2020-01-01 node:10 sequence:2"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        for (int64_t ns = 10 * MS; ns <= HOUR; ns += HOUR - 10 * MS) {
            firn_gen *gen = opened(schemes[i], "max_wait=0");
            next(gen);
            firn__window *window = only_window(gen);
            pass(&world.clock, ns);
            if (ns < HOUR) { /* not idle for long: the window is renewed, not claimed again */
                atomic_store(&window->cursor, FIRN__OPEN | (uint64_t)firn__end_of(window));
                pass(&world.clock, (firn__end_of(window) >> gen->s) * MS - 20 * MS);
            }
            store_is_down(true);
            denied(gen, FIRN_ESTORE, "the store is down");
            store_is_down(false);
            next(gen);
            closed(gen);
            pass(&world.clock, 10 * SECOND);
        }
    }
}

/* A call waits for the lock unless the renewer is the caller's, who may be in a call of the
 * store. */
static void only_the_callers_renewer_is_not_waited_for(void **state) {
    static const struct {
        const char *scheme, *keys;
        bool has_renewer, waits;
    } rows[] = {{stored, "node=3 max_back=5ms", false, true},
                {stored, "node=4 max_back=5ms", true, false},
                {"ulid", "max_back=5ms", true, true},
                {"ulid", "max_back=5ms", false, true}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        firn_gen *gen = NULL;
        int64_t wait_ms;
        uint64_t tick;
        bool changed;
        assert_int_equal(try_open(&gen, rows[i].scheme, rows[i].keys, rows[i].has_renewer, NULL),
                         FIRN_OK);
        if (rows[i].has_renewer) {
            assert_int_equal(firn_gen_step(gen, &wait_ms, NULL), FIRN_OK);
        }
        next(gen);
        step(&world.clock, -SECOND);
        was_patient = !rows[i].waits;
        firn__present(gen, firn__window_look(gen, 0), &tick, &changed, NULL);
        assert_int_equal(was_patient, rows[i].waits);
        closed(gen);
        pass(&world.clock, 10 * SECOND);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, new_world, world_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_window_that_closes_before_the_swap_issues_nothing),
        TEST(a_window_that_is_closed_issues_nothing),
        TEST(a_window_that_closes_before_the_addition_issues_nothing),
        TEST(an_addition_ends_where_the_limit_is),
        TEST(what_a_child_has_half_counted_is_dropped),
        TEST(a_call_that_others_upset_ends),
        TEST(a_swap_that_fails_for_nothing_is_tried_again),
        TEST(random_ids_are_not_far_ahead_of_the_clock),
        TEST(ids_without_a_time_need_no_clock),
        TEST(each_random_bit_is_drawn),
        TEST(random_bits_of_a_batch_are_not_counted),
        TEST(slots_with_random_bits_keep_their_bounds),
        TEST(a_batch_is_whole_and_ends_where_it_ends),
        TEST(a_batch_without_random_bytes_is_nothing),
        TEST(integers_without_random_bytes_are_zeros),
        TEST(a_first_call_needs_entropy_and_clock),
        TEST(a_piece_that_is_void_is_made_again),
        TEST(each_of_a_batch_draws_its_own_bits),
        TEST(a_shuffled_batch_is_not_counted),
        TEST(a_child_has_no_integer_of_its_parent),
        TEST(who_waited_does_not_ask_a_failing_store_again),
        TEST(only_failures_of_the_store_are_shared),
        TEST(a_draw_that_fails_leaves_no_id),
        TEST(without_the_lock_nothing_is_asked),
        TEST(past_the_window_nothing_is_issued_without_the_store),
        TEST(only_the_callers_renewer_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
