/* SPDX-License-Identifier: MIT */
/* Windows one by one: where a window is in memory, what a renewal requests and gives
 * back, and what happens if the store fails in between. The requests are counted and
 * compared; what users see is in gen_store_test.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gen.h"
#include "generating.h"

#define FOUR "time:41/ms@@2024-01-01 node:4 sequence:2" /* 4 slots a tick */
#define BARE "time:41/ms@@2024-01-01 node:4"            /* a slot a tick */
#define SIZE ((sizeof(firn__window) + 63) / 64 * 64)
#define PAGE 4096

static firn__window *window_of(const firn_gen *gen) {
    return firn__window_of(gen, 0);
}

static uint64_t tick_of(const firn_gen *gen, firn_id id) {
    return field(gen, &id, "time");
}

/* Another process takes the node at the end of our window. */
static void lose_node(firn_gen *gen) {
    char key[32];
    firn_mark held;
    int64_t first;
    snprintf(key, sizeof key, "%" PRIu64, window_of(gen)->node);
    const firn_request request = {.ns = gen->ns,
                                  .layout = gen->layout,
                                  .key = key,
                                  .count = 400,
                                  .latest = FIRN_SLOT_MAX - 400,
                                  .grant = 77,
                                  .note = "another"};
    assert_int_equal(firn_store_reserve(world.log.real, &request, &first, &held, NULL), FIRN_OK);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* As in a child that returns from a signal handler into the claim: its page reads as zero. */
static void a_window_that_a_fork_wiped_is_not_published(void **state) {
    firn_gen *gen = opened(FOUR, "node=3");
    firn_error error = {0};
    int code;
    (void)state;
    firn__window *before = window_of(gen), *window = firn__window_new(gen, &code, NULL);
    assert_int_equal(firn__window_publish(gen, 0, window, &error), FIRN_EFORKED);
    assert_non_null(strstr(error.text, "call again"));
    assert_ptr_equal(window_of(gen), before);
    firn__window_drop(gen, window);
    assert_int_equal(firn_close(gen, NULL), FIRN_OK);
}

static void windows_are_apart_in_memory_and_zero(void **state) {
    static const uint8_t zeros[sizeof(firn__window)];
    firn_gen *gen = opened(FOUR, "node=3");
    uint8_t *before = NULL;
    int code;
    (void)state;
    size_t per_page = (PAGE - 64) / SIZE, pages = 0;
    for (int i = 0; i < 3000; i++) {
        uint8_t *uint8 = (uint8_t *)firn__window_new(gen, &code, NULL);
        assert_non_null(uint8);
        size_t offset = (uintptr_t)uint8 % PAGE;
        assert_true(offset % 64 == 0 && offset >= 64 && offset + SIZE <= PAGE);
        assert_memory_equal(uint8, zeros, sizeof zeros);
        bool inside = false;
        for (size_t k = 0; k < gen->kept.chunk_count; k++) {
            inside |= (uintptr_t)uint8 - (uintptr_t)gen->kept.chunks[k] < 64 * PAGE;
        }
        assert_true(inside);
        if (before == NULL || (uintptr_t)before / PAGE != (uintptr_t)uint8 / PAGE) {
            pages++;
        } else {
            assert_true(uint8 == before + SIZE);
        }
        before = uint8;
    }
    assert_true(pages <= 3001 / per_page + 1);
    assert_true(gen->kept.chunk_count == (3001 / per_page + 64) / 64);
    closed(gen);
}

static bool is_resident(void *page) {
    unsigned char answer = 0;
    assert_int_equal(mincore(page, PAGE, &answer), 0);
    return answer & 1;
}

static void a_page_goes_back_when_its_last_window_is_retired(void **state) {
    firn_gen *gen = opened(FOUR, "window=20ms");
    size_t per_page = (PAGE - 64) / SIZE;
    (void)state;
    next(gen);
    void *page = gen->kept.chunks[0];
    for (size_t claims = 1; claims <= per_page + 1; claims++) {
        assert_int_equal(status_of(gen).claims, claims);
        if (sysconf(_SC_PAGESIZE) == PAGE) {
            assert_int_equal(is_resident(page), claims <= per_page);
        }
        pass(&world.clock, SECOND);
        next(gen);
    }
    assert_int_equal(gen->kept.chunk_count, 1);
    closed(gen);
}

static void failed_claims_take_no_memory(void **state) {
    firn_gen *gen = opened(FOUR, "window=20ms max_wait=0");
    (void)state;
    next(gen);
    pass(&world.clock, SECOND);
    world.log.fate = FATE_DOWN;
    world.log.fated = -1;
    denied(gen, FIRN_ESTORE, "down");
    uint8_t *room = gen->live->locked.next;
    for (int i = 0; i < 100; i++) {
        denied(gen, FIRN_ESTORE, "down");
    }
    assert_ptr_equal(gen->live->locked.next, room);
    /* The window that is claimed then is renewed as any other. */
    world.log.fated = 0;
    next(gen);
    uint64_t claims = status_of(gen).claims;
    pass(&world.clock, 15 * MS);
    next(gen);
    assert_int_equal(status_of(gen).claims, claims);
    assert_int_equal(status_of(gen).renewals, 1);
    assert_int_equal(world.log.last.earliest, world.log.last.latest);
    assert_ptr_equal(gen->live->locked.next, room);
    closed(gen);
}

/* ---- how a window begins and ends ------------------------------------------------------------ */

static void a_renewal_starts_half_way_or_after_30_s(void **state) {
    static const struct {
        int64_t from, end, soft;
    } cases[] = {{0, 100, 50},      {10, 14, 12},         {10, 13, 11},
                 {10, 12, 11},      {10, 11, 11},         {10, 10, 10},
                 {90, 100, 95},     {0, 60000, 30000},    {0, 60002, 30000},
                 {7, 60005, 30006}, {100, 600100, 30100}, {580000, 600000, 590000}};
    const firn_gen gen = {.scheme = {.tick_ns = MS}, .s = 0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        firn__window window = {.reserved = true};
        atomic_store(&window.end, cases[i].end);
        firn__window_set_soft(&gen, &window, cases[i].from);
        assert_int_equal(atomic_load(&window.soft), cases[i].soft);
        window.reserved = false;
        firn__window_set_soft(&gen, &window, cases[i].from);
        assert_int_equal(atomic_load(&window.soft), cases[i].end);
    }
}

static int draws_left;

static int draw_few(void *self, void *out, size_t size) {
    static uint64_t seed = 5;
    firn_entropy seeded = firn__entropy_seeded(&seed);
    (void)self;
    return draws_left-- == 0 ? FIRN_EENTROPY : seeded.fill(seeded.self, out, size);
}

static void without_entropy_no_window_is_opened(void **state) {
    (void)state;
    world.entropy = (firn_entropy){1, NULL, draw_few};
    draws_left = -1;
    firn_gen *gen = opened(FOUR, "window=20ms start=random:4 max_wait=0");
    int failed = 0;
    next(gen);
    for (int i = 0; i < 6; i++) {
        firn_id id;
        int asked = world.log.reserves;
        pass(&world.clock, SECOND);
        draws_left = i;
        if (firn_next(gen, &id, NULL) != FIRN_OK) { /* granted, and no start could be drawn */
            failed += world.log.reserves > asked && !status_of(gen).held;
        }
        draws_left = -1;
        uint64_t before = next_slot(gen);
        assert_true(next_slot(gen) > before);
        assert_true(status_of(gen).held);
    }
    assert_int_equal(failed, 1);
    closed(gen);
}

/* A start belongs to a new tick: a window that begins within one continues there. */
static void a_window_within_a_tick_has_no_start(void **state) {
    (void)state;
    firn_gen *gen = opened(FOUR, "node=3 window=20ms start=random:4");
    firn_id id = next(gen);
    while (slot(gen, &id) % 4 !=
           0) { /* the first of a tick, so that the next process begins in it */
        id = next(gen);
    }
    closed(gen);
    for (int i = 0; i < 20; i++) {
        gen = opened(FOUR, "node=3 window=20ms start=random:4");
        firn_id later = next(gen);
        if (slot(gen, &id) % 4 != 3) {
            assert_int_equal(slot(gen, &later), slot(gen, &id) + 1);
        }
        id = later;
        closed(gen);
    }
}

static void another_node_begins_in_the_next_tick(void **state) {
    (void)state;
    firn_gen *gen = opened(FOUR, "window=8ms max_wait=0");
    firn_id last = next(gen);
    uint64_t node = field(gen, &last, "node");
    lose_node(gen);
    for (int i = 0; i < 40; i++) { /* 32 slots in a window */
        firn_id id = next(gen);
        if (field(gen, &id, "node") != node) {
            assert_int_equal(slot(gen, &last) % 4, 3);
            assert_int_equal(tick_of(gen, id), tick_of(gen, last) + 1);
            closed(gen);
            return;
        }
        last = id;
    }
    fail_msg("the node that was lost is still issued from");
}

static void after_a_step_back_nodes_begin_at_the_present(void **state) {
    (void)state;
    firn_gen *gen = opened(FOUR, "window=8ms max_wait=0");
    next(gen);
    step(&world.clock, -HOUR);
    firn_id id = next(gen);
    uint64_t node = field(gen, &id, "node");
    lose_node(gen);
    for (int i = 0; i < 40 && field(gen, &id, "node") == node; i++) {
        id = next(gen);
    }
    assert_true(field(gen, &id, "node") != node);
    assert_true(tick_of(gen, id) <= now_of(gen) + 10);
    closed(gen);
}

/* ---- give backs ------------------------------------------------------------------------------ */

static int give_back_code;

static int other_give_back(void *self, const char *ns, const char *key, const firn_mark *mine,
                           int64_t high, firn_error *error) {
    if (give_back_code != FIRN_OK) {
        if (error != NULL) {
            *error = (firn_error){.code = give_back_code, .text = "the store fails"};
        }
        return give_back_code;
    }
    return recorder_give_back(self, ns, key, mine, high, error);
}

/* A store that is not embedded. */
static void use_other_store(void) {
    static firn_store_ops other;
    other = recorder_ops;
    other.scheme = "other";
    other.give_back = other_give_back;
    firn_store_close(world.store);
    assert_int_equal(firn_store_open(&world.log.real, "memory:", NULL, NULL), FIRN_OK);
    assert_int_equal(firn_store_wrap(&world.store, &other, &world.log, NULL), FIRN_OK);
}

/* In any store: no late copy of the renewal can be carried out. */
static void an_early_renewal_is_given_back(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        if (i == 1) {
            use_other_store();
        }
        firn_gen *gen = opened(FOUR, "window=20ms");
        next(gen);
        int64_t end = status_of(gen).end;
        pass(&world.clock, 15 * MS);
        int64_t after = (int64_t)next_slot(gen) + 1;
        assert_int_equal(status_of(gen).renewals, 1);
        assert_true(after < end);
        char key[32], ns[FIRN_NS_SIZE];
        snprintf(key, sizeof key, "%" PRIu64, window_of(gen)->node);
        snprintf(ns, sizeof ns, "%s", gen->ns);
        closed(gen);
        assert_int_equal(mark_of(&world.log, ns, key), after);
    }
}

static void of_a_window_that_is_used_up_nothing_is_given_back(void **state) {
    firn_gen *gen = NULL;
    firn_error error = {0};
    int64_t wait_ms;
    (void)state;
    assert_int_equal(try_open(&gen, FOUR, "window=8ms", true, &error), FIRN_OK);
    assert_int_equal(firn_gen_step(gen, &wait_ms, &error), FIRN_OK);
    firn_id *ids = bulk(gen, (size_t)(status_of(gen).end - status_of(gen).next));
    free(ids);
    denied(gen, FIRN_EWINDOW, "renewer");
    assert_true(status_of(gen).held && status_of(gen).next == status_of(gen).end);
    closed(gen);
    assert_int_equal(world.log.give_backs, 0);
}

static void closing_returns_what_the_store_says_except_busy(void **state) {
    static const int codes[] = {FIRN_OK, FIRN_EBUSY, FIRN_ESTORE, FIRN_EUNKNOWN};
    (void)state;
    use_other_store();
    for (size_t i = 0; i < 4; i++) {
        firn_gen *gen = opened(FOUR, "window=20ms");
        next(gen);
        give_back_code = codes[i];
        assert_int_equal(firn_close(gen, NULL), codes[i] == FIRN_EBUSY ? FIRN_OK : codes[i]);
        give_back_code = FIRN_OK;
    }
}

static void a_window_that_was_asked_for_twice_is_never_given_back(void **state) {
    (void)state;
    firn_gen *gen = opened(FOUR, "window=20ms");
    next(gen);
    world.log.fate = FATE_LOST;
    world.log.fated = 1;
    for (int i = 0; i < 8; i++) { /* the lost one, the same again, and one after it */
        pass(&world.clock, 5 * MS);
        next(gen);
    }
    assert_int_equal(status_of(gen).claims, 1);
    assert_true(status_of(gen).renewals >= 2);
    closed(gen);
    gen = opened(FOUR, "window=20ms node=5");
    next(gen);
    world.log.fated = 1;
    pass(&world.clock, 19 * MS);
    free(bulk(gen, 10)); /* more than the rest: the call asks until it knows */
    assert_int_equal(status_of(gen).renewals, 1);
    assert_true(world.log.grants[0] == world.log.grants[1]);
    closed(gen);
    assert_int_equal(world.log.give_backs, 0);
}

/* ---- renewals -------------------------------------------------------------------------------- */

static void a_renewal_requests_one_window_from_the_cursor(void **state) {
    (void)state;
    firn_gen *gen = opened(FOUR, "node=3 window=5ms"); /* 20 slots: due at 10 */
    for (int i = 0; i < 10; i++) {
        next(gen);
    }
    assert_int_equal(world.log.reserves, 1);
    pass(&world.clock, 2 * MS); /* the tick that the cursor is in */
    next(gen);
    assert_int_equal(world.log.reserves, 2);
    assert_int_equal(world.log.last.count, 10);
    closed(gen);
    pass(&world.clock, SECOND);
    gen = opened(FOUR, "node=3 window=5ms");
    for (int i = 0; i < 11; i++) { /* ahead of the clock */
        next(gen);
    }
    assert_int_equal(world.log.last.count, 10);
    closed(gen);
    pass(&world.clock, SECOND);
    gen = opened(FOUR, "node=3 window=5ms");
    for (int i = 0; i < 10; i++) {
        next(gen);
    }
    pass(&world.clock, 4 * MS); /* the clock is ahead: the window begins at slot 16 */
    next(gen);
    assert_int_equal(world.log.last.count, 16);
    assert_int_equal(atomic_load(&window_of(gen)->soft), 17 + 19 / 2);
    closed(gen);
}

static void a_renewal_of_unknown_outcome_is_sent_again_as_it_was(void **state) {
    (void)state;
    firn_gen *gen = opened(FOUR, "node=3 window=20ms");
    next(gen);
    world.log.fate = FATE_LOST;
    world.log.fated = 1;
    pass(&world.clock, 10 * MS);
    next(gen); /* ahead of need: sent once */
    assert_int_equal(world.log.reserves, 2);
    assert_int_equal(status_of(gen).renewals, 0);
    for (int i = 0; i < 8 && world.log.reserves == 2; i++) {
        pass(&world.clock, MS);
        next(gen);
    }
    assert_int_equal(world.log.reserves, 3);
    assert_true(world.log.grants[0] == world.log.grants[1]);
    assert_int_equal(status_of(gen).renewals, 1);
    assert_int_equal(status_of(gen).claims, 1);
    closed(gen);
}

static void a_renewal_that_failed_is_requested_again_a_quarter_later(void **state) {
    (void)state;
    firn_gen *gen = opened(FOUR, "node=3 window=20ms"); /* 80 slots: due at 40 */
    next(gen);
    world.log.fate = FATE_DOWN;
    world.log.fated = 1;
    for (int i = 1; i < 41; i++) {
        next(gen);
    }
    assert_int_equal(world.log.reserves, 2);
    assert_int_equal(atomic_load(&window_of(gen)->soft), 40 + (80 - 40) / 4 + 1);
    for (int i = 41; i < 51; i++) {
        next(gen);
    }
    assert_int_equal(world.log.reserves, 2);
    next(gen);
    assert_int_equal(world.log.reserves, 3);
    assert_true(world.log.grants[0] != world.log.grants[1]);
    assert_int_equal(status_of(gen).renewals, 1);
    assert_int_equal(atomic_load(&window_of(gen)->twice), false);
    closed(gen);
}

/* From the tick on that its window ends in, a node is claimed again. */
static void at_the_end_of_an_idle_window_the_node_is_claimed_again(void **state) {
    (void)state;
    firn_gen *gen = opened(FOUR, "node=3 window=20ms");
    pass(&world.clock, 19 * MS);
    next(gen);
    assert_int_equal(status_of(gen).claims, 1);
    closed(gen);
    pass(&world.clock, SECOND);
    gen = opened(FOUR, "node=3 window=20ms");
    pass(&world.clock, 20 * MS);
    next(gen);
    assert_int_equal(status_of(gen).claims, 2);
    assert_int_equal(status_of(gen).renewals, 0);
    closed(gen);
}

/* 64 is the greatest number of nodes. */
static void a_step_back_leaves_each_of_many_nodes(void **state) {
    (void)state;
    firn_gen *gen =
        opened("time:41/ms@@2024-01-01 node:8 sequence:2", "nodes=64 start=rolling window=20ms");
    for (int i = 0; i < 10; i++) {
        next(gen);
        pass(&world.clock, 5 * MS);
    }
    step(&world.clock, -HOUR);
    next(gen);
    assert_int_equal(world.notices, 1);
    assert_string_equal(strchr(world.notice, ':'), ": firn claims another node");
    closed(gen);
}

/* At the mark of its last grant, and nowhere else. */
static void a_renewal_continues_the_own_mark(void **state) {
    (void)state;
    firn_gen *gen = opened(FOUR, "node=3 window=20ms");
    const uint64_t grant = world.log.last.grant;
    uint64_t last = next_slot(gen);
    int64_t end = status_of(gen).end;
    assert_int_equal(world.log.last.own.high, 0);
    for (int i = 0; i < 60; i++) {
        uint64_t uint64 = next_slot(gen);
        assert_true(uint64 == last + 1);
        last = uint64;
    }
    assert_int_equal(status_of(gen).renewals, 1);
    assert_int_equal(world.log.last.earliest, end);
    assert_int_equal(world.log.last.latest, end);
    assert_int_equal(world.log.last.own.high, end);
    assert_true(world.log.last.own.grant == grant && grant != 0);
    closed(gen);
}

/* The node is then as good as another's: the window is used up, and a claim begins after it. */
static void a_renewal_over_a_lost_mark_is_refused(void **state) {
    (void)state;
    firn_gen *gen = opened(FOUR, "node=3 window=20ms max_wait=0");
    const uint64_t first = next_slot(gen);
    const int64_t end = status_of(gen).end;
    firn_id id;
    firn_store_close(world.log.real);
    assert_int_equal(firn_store_open(&world.log.real, "memory:", NULL, NULL), FIRN_OK);
    pass(&world.clock, 15 * MS);
    assert_true(next_slot(gen) > first);
    assert_int_equal(status_of(gen).renewals, 0);
    pass(&world.clock, 30 * MS);
    assert_int_equal(firn_next(gen, &id, NULL), FIRN_OK);
    assert_true(status_of(gen).first >= end);
    closed(gen);
}

static void a_lost_node_is_used_up_and_not_asked_for_again(void **state) {
    (void)state;
    firn_gen *gen = opened(FOUR, "window=20ms max_wait=0"); /* 80 slots */
    firn_id id = next(gen);
    uint64_t node = field(gen, &id, "node");
    lose_node(gen);
    for (int i = 1; i < 80; i++) {
        id = next(gen);
        assert_int_equal(field(gen, &id, "node"), node);
        assert_int_equal(world.log.reserves, i < 40 ? 1 : 2);
    }
    id = next(gen);
    assert_true(field(gen, &id, "node") != node);
    assert_int_equal(world.log.reserves, 3);
    assert_int_equal(world.log.give_backs, 0);
    closed(gen);
}

/* Found out only when the window is used up: the same call continues with another node. */
static void a_node_lost_at_the_end_fails_no_call(void **state) {
    (void)state;
    firn_gen *gen = opened(FOUR, "window=20ms max_wait=0");
    firn_id id = next(gen);
    uint64_t node = field(gen, &id, "node");
    free(bulk(gen, 38));
    lose_node(gen);
    free(bulk(gen, 60)); /* more than the rest */
    id = next(gen);
    assert_true(field(gen, &id, "node") != node);
    closed(gen);
}

static void a_fixed_node_that_was_lost_is_reported_with_its_time(void **state) {
    char until[FIRN_TIME_SIZE];
    (void)state;
    firn_gen *gen = opened(BARE, "node=3 window=20ms max_wait=0");
    firn_time end;
    next(gen);
    lose_node(gen);
    free(bulk(gen, 19));
    firn_scheme_time(firn_gen_scheme(gen), (uint64_t)status_of(gen).end + 1, &end);
    firn_time_format(until, &end, 3);
    int asked = world.log.reserves;
    denied(gen, FIRN_EBUSY, until);
    denied(gen, FIRN_EBUSY, "node=3");
    assert_int_equal(world.log.reserves, asked);
    closed(gen);
}

/* ---- the renewer ----------------------------------------------------------------------------- */

static void a_need_that_is_out_of_date_requests_nothing(void **state) {
    (void)state;
    firn_gen *gen = opened(FOUR, "node=3 window=20ms");
    next(gen);
    firn__window *window = window_of(gen), other = *window;
    int64_t end = firn__end_of(window);
    firn__gen_begin(gen);
    firn__need need = {window, now_of(gen), 0, end + 1, 1, true};
    need.window = &other;
    assert_int_equal(firn__window_keep(gen, 0, &need, NULL), FIRN_OK);
    need.window = window;
    need.steps = 1;
    assert_int_equal(firn__window_keep(gen, 0, &need, NULL), FIRN_OK);
    need.steps = 0;
    need.end = firn__soft_of(window);
    assert_int_equal(firn__window_keep(gen, 0, &need, NULL), FIRN_OK);
    need.end = end; /* ahead of need: sent once */
    window->lost = true;
    assert_int_equal(firn__window_keep(gen, 0, &need, NULL), FIRN_OK);
    window->lost = false;
    assert_int_equal(world.log.reserves, 1);
    world.log.fate = FATE_LOST;
    world.log.fated = 1;
    assert_int_equal(firn__window_keep(gen, 0, &need, NULL), FIRN_EUNKNOWN);
    assert_int_equal(world.log.reserves, 2);
    assert_ptr_equal(window_of(gen), window);
    closed(gen);
}

static void a_step_without_room_for_an_error_fails_as_any_other(void **state) {
    int64_t wait_ms;
    firn_error error = {.code = 7, .text = "as it was"};
    (void)state;
    firn_gen *gen = opened(FOUR, "node=3 window=20ms");
    assert_int_equal(firn_gen_step(gen, &wait_ms, &error), FIRN_OK);
    assert_string_equal(error.text, "as it was");
    pass(&world.clock, 15 * MS);
    world.log.fate = FATE_DOWN;
    world.log.fated = 1;
    assert_int_equal(firn_gen_step(gen, &wait_ms, NULL), FIRN_ESTORE);
    pass(&world.clock, 3 * MS);
    assert_int_equal(firn_gen_step(gen, &wait_ms, &error), FIRN_OK);
    assert_int_equal(status_of(gen).renewals, 1);
    assert_string_equal(error.text, "as it was");
    closed(gen);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_new, world_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(windows_are_apart_in_memory_and_zero),
        TEST(a_window_that_a_fork_wiped_is_not_published),
        TEST(a_page_goes_back_when_its_last_window_is_retired),
        TEST(failed_claims_take_no_memory),
        TEST(a_renewal_starts_half_way_or_after_30_s),
        TEST(without_entropy_no_window_is_opened),
        TEST(a_window_within_a_tick_has_no_start),
        TEST(another_node_begins_in_the_next_tick),
        TEST(after_a_step_back_nodes_begin_at_the_present),
        TEST(an_early_renewal_is_given_back),
        TEST(of_a_window_that_is_used_up_nothing_is_given_back),
        TEST(closing_returns_what_the_store_says_except_busy),
        TEST(a_window_that_was_asked_for_twice_is_never_given_back),
        TEST(a_renewal_requests_one_window_from_the_cursor),
        TEST(a_renewal_of_unknown_outcome_is_sent_again_as_it_was),
        TEST(a_renewal_that_failed_is_requested_again_a_quarter_later),
        TEST(at_the_end_of_an_idle_window_the_node_is_claimed_again),
        TEST(a_step_back_leaves_each_of_many_nodes),
        TEST(a_renewal_continues_the_own_mark),
        TEST(a_renewal_over_a_lost_mark_is_refused),
        TEST(a_lost_node_is_used_up_and_not_asked_for_again),
        TEST(a_node_lost_at_the_end_fails_no_call),
        TEST(a_fixed_node_that_was_lost_is_reported_with_its_time),
        TEST(a_need_that_is_out_of_date_requests_nothing),
        TEST(a_step_without_room_for_an_error_fails_as_any_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
