/* SPDX-License-Identifier: MIT */
/* The present of a generator, step by step: what a clock that stepped back blocks and for how long,
 * how a step that left no other trace is found, and what a forked child draws again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gen.h"
#include "generating.h"
#include "now.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHARED (1 << 18)                                  /* bytes */
#define FOUR   "time:41/ms@@2024-01-01 node:4 sequence:2" /* 4 slots a tick */

/* ---- a clock that stepped back --------------------------------------------------------------- */

/* Until it is within max_back of the last ID, and the error has the difference. */
static void a_fixed_node_holds_still_until_the_last_id(void **state) {
    (void)state;
    firn_gen *gen = opened(FOUR, "node=3 max_back=5ms max_lead=10ms max_wait=0");
    uint64_t last = next_slot(gen) >> 2;
    step(&world.clock, -SECOND);
    denied(gen, FIRN_ECLOCK, "beyond max_back=5ms and is still 1000 ms before");
    assert_true(atomic_load(&gen->live->any.blocked) == last + 1);
    assert_int_equal(firn__soft_of(firn__window_of(gen, 0)), 0);
    pass(&world.clock, 994 * MS);
    denied(gen, FIRN_ECLOCK, "is still 6 ms before");
    assert_true(now_of(gen) == last - 6);
    pass(&world.clock, MS);
    assert_true(next_slot(gen) >= last << 2);
    assert_int_equal(atomic_load(&gen->live->any.blocked), 0);
    assert_true(firn__soft_of(firn__window_of(gen, 0)) > 0);
    closed(gen);
}

/* Until the last ID of any of its windows, of those that are gone as well. */
static void a_generator_holds_still_for_all_of_its_windows(void **state) {
    (void)state;
    for (uint32_t k = 0; k < 3; k++) {
        int64_t wait_ms;
        firn_gen *gen = opened(FOUR, "nodes=2 back=wait max_back=5ms max_lead=10ms max_wait=0");
        assert_int_equal(firn_gen_step(gen, &wait_ms, NULL), FIRN_OK);
        const uint64_t now = now_of(gen);
        pthread_mutex_lock(&gen->live->locked.lock);
        if (k < 2) {
            firn__window *window = firn__window_of(gen, k);
            atomic_store(&window->cursor,
                         FIRN__OPEN | (uint64_t)firn__slots_of(gen, now + 7 - window->base_tick));
        } else {
            gen->past->has_last = true;
            gen->past->last_tick = now + 7;
        }
        pthread_mutex_unlock(&gen->live->locked.lock);
        step(&world.clock, -SECOND);
        denied(gen, FIRN_ECLOCK, "is still 1007 ms before");
        for (uint32_t j = 0; j < 2; j++) {
            assert_int_equal(firn__soft_of(firn__window_of(gen, j)), 0);
        }
        pass(&world.clock, 1002 * MS);
        uint64_t tick;
        assert_int_equal(firn__gen_ready(gen, &tick, true, NULL), FIRN_OK);
        for (uint32_t j = 0; j < 2; j++) {
            assert_true(firn__soft_of(firn__window_of(gen, j)) > 0);
        }
        closed(gen);
        pass(&world.clock, 10 * SECOND);
    }
    firn_gen *gen = opened(FOUR, "node=3 back=wait max_back=5ms max_lead=10ms max_wait=0 ns=x");
    gen->past->last_tick = now_of(gen) + 100000; /* of nothing: has_last is not set */
    next(gen);
    step(&world.clock, -SECOND);
    denied(gen, FIRN_ECLOCK, "is still 1000 ms before");
    closed(gen);
}

/* The most windows that a generator has: nothing after them is looked at. */
static void sixty_four_windows_hold_still(void **state) {
    int64_t wait_ms;
    (void)state;
    firn_gen *gen =
        opened("time:41/ms@@2024-01-01 node:8 sequence:8",
               "nodes=64 start=rolling back=wait max_back=5ms max_lead=10ms max_wait=0");
    assert_int_equal(firn_gen_step(gen, &wait_ms, NULL), FIRN_OK);
    next(gen);
    assert_true(atomic_load(&gen->live->any.rolling) != 0);
    step(&world.clock, -SECOND);
    denied(gen, FIRN_ECLOCK, "is still 1000 ms before");
    pass(&world.clock, SECOND);
    next(gen);
    closed(gen);
}

static void a_step_back_is_longer_than_back_ms(void **state) {
    (void)state;
    firn_gen *gen = opened(FOUR, "node=3 max_back=5ms max_lead=10ms max_wait=0");
    for (int64_t more = 0; more < 2; more++) {
        pass(&world.clock, SECOND);
        next(gen);
        const uint64_t steps = atomic_load(&gen->live->watch.stepped);
        step(&world.clock, -5 * MS - more);
        uint64_t tick = 0;
        assert_int_equal(firn__gen_now(gen, &tick, NULL), FIRN_OK);
        assert_int_equal(atomic_load(&gen->live->watch.stepped) - steps, more);
    }
    closed(gen);
}

/* The renewer of the caller's is in a call of the store: a call does not wait for it, and changes
 * nothing. */
static void a_step_back_does_not_wait_for_the_renewer(void **state) {
    firn_error error = {0};
    uint64_t tick;
    (void)state;
    firn_gen *gen = opened(FOUR, "node=3 max_back=5ms max_lead=10ms max_wait=0");
    next(gen);
    step(&world.clock, -SECOND);
    pthread_mutex_lock(&gen->live->locked.lock);
    assert_int_equal(firn__gen_ready(gen, &tick, false, &error), FIRN_EWINDOW);
    error_text(&error, FIRN_EWINDOW, "stepped back, and the renewer of");
    assert_true(pthread_mutex_trylock(&gen->live->locked.lock) != 0);
    assert_int_equal(atomic_load(&gen->live->any.blocked), 0);
    pthread_mutex_unlock(&gen->live->locked.lock);
    assert_int_equal(firn__gen_ready(gen, &tick, false, &error), FIRN_ECLOCK);
    pass(&world.clock, SECOND);
    pthread_mutex_lock(&gen->live->locked.lock);
    assert_int_equal(firn__gen_ready(gen, &tick, false, &error), FIRN_EWINDOW);
    assert_true(pthread_mutex_trylock(&gen->live->locked.lock) != 0);
    assert_true(atomic_load(&gen->live->any.blocked) != 0);
    pthread_mutex_unlock(&gen->live->locked.lock);
    assert_int_equal(firn__gen_ready(gen, &tick, false, &error), FIRN_OK);
    assert_int_equal(atomic_load(&gen->live->any.blocked), 0);
    closed(gen);
}

static int no_time(void *self, firn_time *now) {
    (void)self, (void)now;
    return FIRN_ESYSTEM;
}

/* Also while a step waits to be acted on. */
static void a_clock_that_cannot_be_read_is_an_error(void **state) {
    uint64_t tick = 0;
    (void)state;
    firn_gen *gen = opened(FOUR, "node=3");
    atomic_fetch_add(&gen->live->watch.stepped, 1);
    world.hands.wall = no_time;
    assert_int_equal(firn__gen_ready(gen, &tick, true, NULL), FIRN_ECLOCK);
    assert_true(atomic_load(&gen->live->watch.stepped) != atomic_load(&gen->live->any.handled));
    closed(gen);
}

static firn_gen *faster; /* issues 100 ms later, after each reading of the slower one's clock */
static firn_clock honest;

static int slow_wall(void *self, firn_time *now) {
    firn_gen *gen = faster;
    int code = honest.wall(self, now);
    faster = NULL; /* its own readings are fast */
    if (gen != NULL) {
        pass(&world.clock, 100 * MS);
        next(gen);
    }
    faster = gen;
    return code;
}

static void share(firn_gen *gens[2], void *memory) {
    const firn_config config = {.size = sizeof config,
                                .scheme = FOUR,
                                .keys = "max_back=5ms max_lead=10ms max_wait=0",
                                .store = world.store,
                                .clock = &world.hands,
                                .entropy = &world.entropy,
                                .notice = hear,
                                .shared = memory,
                                .shared_size = firn_shared_size()};
    assert_true(firn_shared_size() <= SHARED);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(firn_open_with(&gens[i], &config, NULL), FIRN_OK);
    }
}

static uint64_t began(pid_t process) {
    char path[40];
    unsigned long long ticks = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file,
                            "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u "
                            "%*u %*d %*d %*d %*d %*d %*d %llu",
                            &ticks),
                     1);
    fclose(file);
    return (uint32_t)ticks;
}

static int next_descriptor(void) {
    int fd = dup(STDERR_FILENO);
    assert_int_equal(close(fd), 0);
    return fd;
}

/* A process that was killed while it prepared the lock: a process that began at another time has
 * its number now, or none has. One whose beginning is unknown may live. */
static void a_maker_whose_number_came_again_is_gone(void **state) {
    static _Alignas(64) uint8_t memory[SHARED];
    (void)state;
    void (*hung_up)(int) = signal(SIGHUP, SIG_DFL); /* a stray signal ends the child */
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        pause();
        _exit(0);
    }
    signal(SIGHUP, hung_up);
    const uint64_t right = began(child);
    const uint64_t starts[] = {right, 0, right - 1, right + 1, right, 0};
    const int descriptor = next_descriptor();
    for (size_t i = 0; i < 6; i++) {
        firn_error error = {0};
        firn_gen *gen = NULL;
        const uint64_t maker = starts[i] << 32 | (uint32_t)child;
        const firn_config config = {.size = sizeof config,
                                    .scheme = FOUR,
                                    .keys = "max_wait=3ms",
                                    .store = world.store,
                                    .clock = &world.hands,
                                    .entropy = &world.entropy,
                                    .shared = memory,
                                    .shared_size = firn_shared_size()};
        if (i == 4) { /* the first round that ends the child */
            assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
            kill(child, SIGKILL);
            assert_int_equal(waitpid(child, NULL, 0), child);
        }
        memset(memory, 0, sizeof memory);
        memcpy(memory + sizeof(uint64_t), &maker, sizeof maker);
        const int64_t paused_ns = world.clock.paused_ns;
        errno = ESRCH; /* of an earlier call */
        int code = firn_open_with(&gen, &config, &error);
        assert_int_equal(code, i < 2 ? FIRN_EBUSY : FIRN_OK);
        assert_int_equal(world.clock.paused_ns - paused_ns, i < 2 ? 4 * MS : 0);
        if (i < 2) {
            char words[60];
            snprintf(words, sizeof words, "thread %d began to prepare", (int)child);
            error_text(&error, FIRN_EBUSY, words);
        } else {
            closed(gen);
        }
        assert_int_equal(next_descriptor(), descriptor);
    }
}

/* Of two generators that share a cursor, the first that sees the step leaves the node. */
static void a_shared_node_is_left_once(void **state) {
    static _Alignas(64) uint8_t memory[SHARED];
    firn_gen *gens[2];
    uint64_t nodes[4];
    (void)state;
    share(gens, memory);
    for (int i = 0; i < 2; i++) {
        nodes[i] = next_field(gens[i], "node");
    }
    assert_true(nodes[0] == nodes[1]);
    world.notices = 0;
    step(&world.clock, -HOUR);
    for (int i = 0; i < 2; i++) {
        nodes[2 + i] = next_field(gens[i], "node");
    }
    assert_true(nodes[2] != nodes[0] && nodes[3] == nodes[2]);
    assert_int_equal(world.notices, 1);
    assert_true(next_field(gens[0], "node") == nodes[2]);
    closed(gens[0]);
    closed(gens[1]);
}

/* A cursor that is ahead of an older reading proves no step: others issue in between. Also after a
 * step that both saw, and the faster one acted on. */
static void what_others_issue_meanwhile_is_no_step_back(void **state) {
    static _Alignas(64) uint8_t memory[SHARED];
    firn_gen *gens[2];
    (void)state;
    honest = world.hands;
    world.hands.wall = slow_wall;
    share(gens, memory);
    for (uint64_t steps = 0; steps < 2; steps++) {
        step(&world.clock, steps == 0 ? 0 : -HOUR);
        const uint64_t node = next_field(gens[1], "node");
        world.notices = 0;
        faster = gens[1];
        denied(gens[0], FIRN_EEXHAUSTED, "ahead of the clock"); /* of its reading */
        faster = NULL;
        assert_int_equal(world.notices, 0);
        assert_int_equal(atomic_load(&gens[0]->live->watch.stepped), steps);
        assert_true(next_field(gens[0], "node") == node);
        assert_true(next_field(gens[1], "node") == node);
    }
    closed(gens[0]);
    closed(gens[1]);
}

/* The cursor was closed before the step: what it issued is not gone on from. */
static void a_closed_shared_node_is_left_too(void **state) {
    static _Alignas(64) uint8_t memory[SHARED];
    firn_gen *gens[2];
    (void)state;
    share(gens, memory);
    next(gens[0]);
    assert_int_equal(firn__renewal_lock(gens[0], true, NULL), FIRN_OK);
    firn__window_retire(gens[0], 0, false, NULL);
    firn__renewal_unlock(gens[0]);
    world.notices = 0;
    step(&world.clock, -HOUR);
    assert_true(next_field(gens[0], "time") == now_of(gens[0]));
    assert_int_equal(world.notices, 1);
    closed(gens[0]);
    closed(gens[1]);
}

/* A cursor further ahead than any lead: the clock was ahead and stepped back unseen. */
static void a_cursor_that_is_too_far_ahead_is_a_step_back(void **state) {
    (void)state;
    for (uint32_t k = 0; k < 2; k++) {
        for (int64_t more = 0; more < 2; more++) {
            int64_t wait_ms;
            firn_gen *gen = opened(FOUR, "nodes=2 max_back=5ms max_lead=10ms max_wait=0");
            assert_int_equal(firn_gen_step(gen, &wait_ms, NULL), FIRN_OK);
            firn__window *window = firn__window_of(gen, k);
            const uint64_t steps = atomic_load(&gen->live->watch.stepped);
            uint64_t tick = now_of(gen);
            int64_t now = firn__slots_of(gen, tick - window->base_tick);
            int64_t next_at = now + gen->lead_slots + 6 * 4 + more;
            atomic_store(&window->cursor, FIRN__OPEN | (uint64_t)next_at);
            world.notices = 0;
            assert_int_equal(firn__gen_ready(gen, &tick, true, NULL), FIRN_OK);
            assert_int_equal(atomic_load(&gen->live->watch.stepped) - steps, more);
            assert_int_equal(world.notices, more);
            assert_true((firn__window_of(gen, 0) == NULL) == more);
            assert_true((firn__window_of(gen, 1) == NULL) == more);
            assert_int_equal(firn__gen_ready(gen, &tick, true, NULL), FIRN_OK);
            assert_int_equal(world.notices, more); /* acted on once */
            closed(gen);
            pass(&world.clock, 10 * SECOND);
        }
    }
}

/* A window that begins ahead, or that is closed, does not show a step. */
static void only_issued_ids_are_a_trace(void **state) {
    (void)state;
    firn_gen *gen = opened(FOUR, "max_back=5ms max_lead=10ms max_wait=0");
    firn__window *window = firn__window_of(gen, 0);
    uint64_t tick = now_of(gen);
    const uint64_t far = (uint64_t)firn__slots_of(gen, tick - window->base_tick + 500);
    window->first = (int64_t)far;
    atomic_store(&window->cursor, FIRN__OPEN | far);
    assert_int_equal(firn__gen_ready(gen, &tick, true, NULL), FIRN_OK);
    assert_int_equal(world.notices, 0);
    window->first = 0;
    atomic_store(&window->cursor, far);
    assert_int_equal(firn__gen_ready(gen, &tick, true, NULL), FIRN_OK);
    assert_int_equal(world.notices, 0);
    closed(gen);
}

/* A thread whose last reading is older than the step reads the clock and sees nothing: before a
 * call fails for what was read so, the reading is judged. */
static void a_step_that_a_thread_does_not_see_is_judged(void **state) {
    static const char *const schemes[] = {"ulid", "objectid", "uuid7", "timeflake"};
    (void)state;
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        firn_gen *gen = opened(schemes[i], "max_wait=0");
        firn_id last = next(gen), id = next(gen);
        assert_true(field(gen, &id, "time") == field(gen, &last, "time"));
        firn__thread_view_of(gen)->wall.sec -= 100;
        step(&world.clock, -20 * SECOND);
        id = next(gen);
        assert_int_equal(field(gen, &id, "time") - field(gen, &last, "time"), 0);
        assert_int_equal(atomic_load(&gen->live->watch.stepped), 1);
        closed(gen);
        pass(&world.clock, HOUR);
    }
}

/* A reading that was not judged is noted, unless a step back or another thread was noted since it
 * was begun. */
static void a_reading_that_is_used_is_noted(void **state) {
    firn__watch watch = {.used = 0};
    const firn_time early = {1760000000, 999999999}, late = {1760000001, 0};
    (void)state;
    assert_true(firn__time_brief(&late) > firn__time_brief(&early));
    firn__watch_used(&watch, 0, &late);
    assert_true(atomic_load(&watch.used) == firn__time_brief(&late));
    firn__watch_used(&watch, firn__time_brief(&late), &early);
    firn__watch_used(&watch, 0, &early);
    assert_true(atomic_load(&watch.used) == firn__time_brief(&late));
    const firn_time brief = firn__time_of_brief(firn__time_brief(&early));
    assert_int_equal(brief.sec, early.sec);
    assert_true(brief.ns <= early.ns && brief.ns > early.ns - (1 << 20));
    const firn_time before = {-2, 5 << 20};
    const firn_time same = firn__time_of_brief(firn__time_brief(&before));
    assert_true(same.sec == before.sec && same.ns == before.ns);
}

/* And it moves on past a tick that is used up, once. */
static void the_time_stays_until_the_clock_has_caught_up(void **state) {
    uint64_t tick;
    (void)state;
    firn_gen *gen = opened("ulid", "max_wait=0");
    next(gen);
    step(&world.clock, -HOUR);
    assert_int_equal(firn__gen_ready(gen, &tick, true, NULL), FIRN_OK);
    const uint64_t stays = atomic_load(&gen->live->any.stays);
    assert_true(stays != 0 && tick == stays - 1 && tick > now_of(gen));
    step(&world.clock, 3 * SECOND);
    assert_int_equal(firn__gen_ready(gen, &tick, true, NULL), FIRN_OK);
    assert_true(tick == stays - 1);
    assert_true(firn__gen_move_on(gen));
    assert_false(firn__gen_move_on(gen));
    assert_true(atomic_load(&gen->live->any.stays) == stays + 1);
    pass(&world.clock, HOUR - 3 * SECOND);
    assert_int_equal(firn__gen_ready(gen, &tick, true, NULL), FIRN_OK);
    assert_true(tick == stays && atomic_load(&gen->live->any.stays) == stays + 1);
    pass(&world.clock, MS);
    assert_int_equal(firn__gen_ready(gen, &tick, true, NULL), FIRN_OK);
    assert_true(tick == now_of(gen) && atomic_load(&gen->live->any.stays) == 0);
    firn__window *window = firn__window_of(gen, 0); /* as one that has issued nothing */
    atomic_store(&window->cursor, FIRN__OPEN);
    step(&world.clock, -2 * HOUR);
    assert_int_equal(firn__gen_ready(gen, &tick, true, NULL), FIRN_OK);
    assert_true(tick == window->base_tick);
    closed(gen);
    gen = opened("ulid", "ns=x");
    assert_false(firn__gen_move_on(gen));
    closed(gen);
}

/* IDs are issued one by one and in lots: after a used-up counter comes the counter of the next
 * tick. */
static void the_time_that_stays_moves_on_with_a_full_counter(void **state) {
    static const char *const schemes[] = {"time:33/s random:27 counter:4",
                                          "time:42/ms random:62 sequence:4"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        firn_gen *gen = opened(schemes[i], "unsigned=1 max_lead=0 max_back=0 max_wait=0");
        firn_id id = next(gen), ids[7];
        const uint64_t began_at = field(gen, &id, "time");
        uint64_t last = began_at;
        step(&world.clock, -HOUR);
        for (int k = 0; k < 100; k++) {
            assert_int_equal(firn_next_n(gen, ids, k % 2 == 0 ? 1 : 7, NULL), FIRN_OK);
            assert_true(field(gen, &ids[0], "time") >= last);
            last = field(gen, &ids[k % 2 == 0 ? 0 : 6], "time");
        }
        assert_in_range(last - began_at, 400 / 16 - 1, 100);
        closed(gen);
        pass(&world.clock, 2 * HOUR);
    }
}

/* To the end of its counter, also where each call asks what is left of the time. */
static void the_last_second_has_all_of_its_ids(void **state) {
    static const char *const schemes[] = {"objectid", "xid"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        firn_gen *gen = opened(schemes[i], "max_lead=0 max_back=0");
        firn_time end;
        assert_true(firn_scheme_end(firn_gen_scheme(gen), false, &end));
        closed(gen);
        const firn_time before = world.clock.base;
        world.clock.base = (firn_time){end.sec - 1, 0};
        atomic_store(&world.clock.wall_ns, 100 * MS);
        gen = opened(schemes[i], "max_lead=0 max_back=0");
        for (int k = 0; k < 5; k++) {
            next(gen);
            firn__thread_view_of(gen)->era = FIRN__NO_ERA;
        }
        pass(&world.clock, SECOND);
        denied(gen, FIRN_ELAYOUT, "is outside the range");
        closed(gen);
        world.clock.base = before;
    }
}

/* ---- a forked child -------------------------------------------------------------------------- */

static bool in_child(bool (*passes)(firn_gen *gen), firn_gen *gen) {
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(passes(gen) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static uint64_t parents_node, parents_serial;

static bool has_own_identity(firn_gen *gen) {
    const firn_time past = {1750000000, 0};
    firn_id ids[2], old;
    if (firn_next(gen, &ids[0], NULL) != FIRN_OK) {
        return false;
    }
    uint64_t serial = atomic_load(&gen->live->any.serial);
    bool is_new = serial > 1 && serial != parents_serial;
    return is_new && firn_next(gen, &ids[1], NULL) == FIRN_OK &&
           atomic_load(&gen->live->any.serial) == serial &&
           field(gen, &ids[0], "node") != parents_node &&
           field(gen, &ids[1], "node") == field(gen, &ids[0], "node") &&
           firn_at(gen, &past, &old, 1, NULL) == FIRN_OK;
}

/* Once, in its first call, and so do its own children. */
static void a_child_draws_an_identity_of_its_own(void **state) {
    const firn_time past = {1750000000, 0};
    firn_id id, old;
    (void)state;
    world.entropy.fill = NULL;
    firn_config config = {.size = sizeof config, .scheme = "uuid6", .clock = &world.hands};
    firn_gen *gen = NULL;
    assert_int_equal(firn_open_with(&gen, &config, NULL), FIRN_OK);
    id = next(gen);
    assert_int_equal(firn_at(gen, &past, &old, 1, NULL), FIRN_OK);
    parents_node = field(gen, &id, "node");
    parents_serial = atomic_load(&gen->live->any.serial);
    assert_true(in_child(has_own_identity, gen));
    closed(gen);
}

static bool is_refused_twice(firn_gen *gen) {
    firn_id id;
    for (int i = 0; i < 2; i++) {
        firn_error error = {0};
        if (firn_next(gen, &id, &error) != FIRN_EFORKED ||
            strstr(error.text, "node=3 stays with the parent process") == NULL) {
            return false;
        }
    }
    return atomic_load(&gen->live->any.serial) == 0;
}

static void a_fixed_node_stays_with_the_parent(void **state) {
    (void)state;
    firn_gen *gen = opened(FOUR, "node=3");
    next(gen);
    assert_true(in_child(is_refused_twice, gen));
    closed(gen);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_new, world_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_fixed_node_holds_still_until_the_last_id),
        TEST(a_generator_holds_still_for_all_of_its_windows),
        TEST(sixty_four_windows_hold_still),
        TEST(a_step_back_is_longer_than_back_ms),
        TEST(a_step_back_does_not_wait_for_the_renewer),
        TEST(a_clock_that_cannot_be_read_is_an_error),
        TEST(a_maker_whose_number_came_again_is_gone),
        TEST(a_shared_node_is_left_once),
        TEST(what_others_issue_meanwhile_is_no_step_back),
        TEST(a_closed_shared_node_is_left_too),
        TEST(a_cursor_that_is_too_far_ahead_is_a_step_back),
        TEST(only_issued_ids_are_a_trace),
        TEST(a_step_that_a_thread_does_not_see_is_judged),
        TEST(a_reading_that_is_used_is_noted),
        TEST(the_time_stays_until_the_clock_has_caught_up),
        TEST(the_time_that_stays_moves_on_with_a_full_counter),
        TEST(the_last_second_has_all_of_its_ids),
        TEST(a_child_draws_an_identity_of_its_own),
        TEST(a_fixed_node_stays_with_the_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
