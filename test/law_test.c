/* SPDX-License-Identifier: MIT */
/* Compares the reservation law (src/law.c) with its promises, and with the answers of every store,
 * for every combination of stored state and request: the law decides for all, so a store differs
 * where its driver reads, adds or writes something else. */
#include "stores.h"

#include "../src/confined.h"
#include "../src/law.h"

#define HIGH   100 /* of a key that has a mark */
#define COUNT  10
#define WINDOW ((int64_t)1 << 40) /* latest of a request that is always granted */
#define OTHER  "0x0:1 time:41/ms@@2024-01-01 node:8 sequence:14"

static const int64_t floors[] = {0, 90, 110};
static const int64_t guards[] = {0, 95, 115, 121};
static const struct bounds {
    int64_t earliest, latest;
} bounds[] = {{0, 99}, {0, 100}, {0, 120}, {100, 100}, {120, 120}};

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])
#define MARKS         2 /* no mark; HIGH */
#define GRANTS        2 /* the request's grant is the mark's; another one */
#define LAYOUTS       2

/* A combination; its numbers make its namespace or its key. */
typedef struct law_combination {
    size_t floor, bounds, guard, mark, grant, layout;
} law_combination;

static const law_combination none;

/* The next combination of a store whose namespaces have this floor; false: that was the last. */
static bool next(law_combination *combination) {
    if (++combination->layout < LAYOUTS) {
        return true;
    }
    combination->layout = 0;
    if (++combination->grant < GRANTS) {
        return true;
    }
    combination->grant = 0;
    if (++combination->mark < MARKS) {
        return true;
    }
    combination->mark = 0;
    if (++combination->guard < LENGTH(guards)) {
        return true;
    }
    combination->guard = 0;
    return ++combination->bounds < LENGTH(bounds);
}

/* Another layout needs no more than one of each. */
static bool is_wanted(const law_combination *combination) {
    return (combination->grant == 0 || combination->mark > 0) &&
           (combination->layout == 0 || (combination->bounds == 0 && combination->grant == 0));
}

/* ---- names ----------------------------------------------------------------------------------- */

#define OWN_GRANT 1000

/* A guard resolves the doubt about a namespace, so each combination of a doubted one with a guard
 * has its own; the others share one by their floor, with their own keys. */
static void name_namespace(char out[FIRN_NS_SIZE], const char *phase,
                           const law_combination *combination, bool alone) {
    if (alone) {
        snprintf(out, FIRN_NS_SIZE, "%s-%zu-%zu-%zu-%zu-%zu-%zu", phase, combination->floor,
                 combination->bounds, combination->guard, combination->mark, combination->grant,
                 combination->layout);
    } else {
        snprintf(out, FIRN_NS_SIZE, "%s-%zu", phase, combination->floor);
    }
}

static void name_key(char out[FIRN_KEY_SIZE], const law_combination *combination) {
    snprintf(out, FIRN_KEY_SIZE, "k%zu-%zu-%zu-%zu-%zu", combination->bounds, combination->guard,
             combination->mark, combination->grant, combination->layout);
}

/* ---- one comparison -------------------------------------------------------------------------- */

static void must_reserve(firn_store *store, const char *ns, const char *key, int64_t count,
                         int64_t guard, int64_t expected) {
    const firn_request request = {ns, ROW, key, count, 0, WINDOW, OWN_GRANT, "", guard};
    firn_error error = {0};
    firn_mark held;
    int64_t first = -1;
    int code = firn_store_reserve(store, &request, &first, &held, &error);
    if (code != FIRN_OK || first != expected) {
        fail_msg("%s/%s: %d, first %" PRId64 " (%s)", ns, key, code, first, error.text);
    }
}

static int compared;

/* Sends the request and compares the answer with the law's, then changes `kept` as the law says.
 * False: it stayed as it was. */
static bool compare_once(firn_store *store, const firn_request *request, firn__store_record *kept) {
    static const firn__memory nothing;
    firn__verdict verdict;
    firn_error error = {0};
    firn_mark expected = {-3, 3}, held = {-3, 3};
    int64_t first = -1;
    int wanted = firn__law_reserve(&verdict, kept, &nothing, request, "store", &expected, NULL);
    int code = firn_store_reserve(store, request, &first, &held, &error);
    compared++;
    if (code != wanted || first != (code == FIRN_OK ? verdict.first : -1) ||
        held.high != expected.high || held.grant != expected.grant) {
        fail_msg("%s/%s [%" PRId64 ", %" PRId64 "] guard %" PRId64 ": %d, first %" PRId64
                 ", held %" PRId64 " %" PRIu64 "; the law says %d, %" PRId64 ", %" PRId64
                 " %" PRIu64 " (%s)",
                 request->ns, request->key, request->earliest, request->latest, request->guard,
                 code, first, held.high, held.grant, wanted, verdict.first, expected.high,
                 expected.grant, error.text);
    }
    if (verdict.renew) {
        kept->known = kept->current = true;
        kept->layout = request->layout;
        kept->floor = verdict.floor;
    }
    if (code == FIRN_OK) {
        kept->mark = (firn_mark){verdict.first + request->count, request->grant};
    }
    return verdict.renew || code == FIRN_OK;
}

/* The first sending, and a second one if the first has changed anything. */
static void compare(firn_store *store, const char *ns, const char *key,
                    const law_combination *combination, firn__store_record kept) {
    const firn_request request = {ns,
                                  combination->layout > 0 ? OTHER : ROW,
                                  key,
                                  COUNT,
                                  bounds[combination->bounds].earliest,
                                  bounds[combination->bounds].latest,
                                  OWN_GRANT + combination->grant,
                                  "",
                                  guards[combination->guard]};
    if (compare_once(store, &request, &kept)) {
        compare_once(store, &request, &kept);
    }
}

/* ---- phases ---------------------------------------------------------------------------------- */

/* Makes the namespaces and marks that a phase will ask for. */
static void prepare(firn_store *store, const char *phase, size_t floor, bool doubted) {
    law_combination combination = {.floor = floor};
    char ns[FIRN_NS_SIZE], key[FIRN_KEY_SIZE];
    do {
        bool alone = doubted && combination.guard > 0;
        name_namespace(ns, phase, &combination, alone);
        name_key(key, &combination);
        if (is_wanted(&combination) && (combination.mark > 0 || alone)) {
            must_reserve(store, ns, combination.mark > 0 ? key : "other", HIGH, 0, 0);
        }
    } while (next(&combination));
    combination = (law_combination){.floor = floor};
    name_namespace(ns, phase, &combination, false);
    must_reserve(store, ns, "other", HIGH, 0, 0);
}

/* Sets the floor of the namespaces of a phase, which are doubted. */
static void raise_floor(firn_store *store, const char *phase, size_t floor, bool doubted) {
    law_combination combination = {.floor = floor};
    char ns[FIRN_NS_SIZE];
    name_namespace(ns, phase, &combination, false);
    must_reserve(store, ns, "floor", 1, floors[floor], floors[floor]);
    do {
        if (doubted && combination.guard > 0 && is_wanted(&combination)) {
            name_namespace(ns, phase, &combination, true);
            must_reserve(store, ns, "floor", 1, floors[floor], floors[floor]);
        }
    } while (next(&combination));
}

static void compare_known(firn_store *store, const char *phase, size_t floor, bool doubted) {
    law_combination combination = {.floor = floor};
    char ns[FIRN_NS_SIZE], key[FIRN_KEY_SIZE];
    do {
        if (is_wanted(&combination)) {
            const firn__store_record kept = {
                .known = true,
                .current = !doubted,
                .layout = ROW,
                .floor = floors[floor],
                .mark = {(int64_t)combination.mark * HIGH, combination.mark * OWN_GRANT}};
            name_namespace(ns, phase, &combination, doubted && combination.guard > 0);
            name_key(key, &combination);
            compare(store, ns, key, &combination, kept);
        }
    } while (next(&combination));
}

static void compare_unknown(firn_store *store, const char *phase, bool complete) {
    law_combination combination = none;
    char ns[FIRN_NS_SIZE];
    do {
        if (is_wanted(&combination) && combination.mark == 0 && combination.layout == 0) {
            const firn__store_record kept = {.complete = complete};
            name_namespace(ns, phase, &combination, true);
            compare(store, ns, "1", &combination, kept);
        }
    } while (next(&combination));
}

/* Makes the engine lose a reservation, and the store notice it. */
static void go_back(firn_store *store, const bench *b, const char *probe) {
    firn_request request = {probe, ROW, "1", COUNT, 0, WINDOW, 1, "", 5000};
    firn_error error = {0};
    firn_mark held;
    int64_t first = -1;
    assert_true(engine_or_file(b, "save"));
    assert_int_equal(reserve_soon(store, request, &first, &held, &error), FIRN_OK);
    assert_true(engine_or_file(b, "restore"));
    request.guard = 9000;
    assert_int_equal(reserve_soon(store, request, &first, &held, &error), FIRN_OK);
    assert_int_equal(first, 9000);
}

/* A renewal is granted where the key has exactly the mark that it continues, also if this handle
 * remembers that mark, and another one has given back down to it since. */
static void check_renewals(firn_store *store, firn_store *other) {
    static const struct {
        firn_mark own;
        int64_t from;
        int code;
    } tries[] = {{{HIGH, OWN_GRANT + 2}, HIGH, FIRN_EBUSY},
                 {{HIGH - 1, OWN_GRANT}, HIGH, FIRN_EBUSY},
                 {{HIGH + 1, OWN_GRANT}, HIGH + 1, FIRN_EBUSY},
                 {{HIGH, OWN_GRANT}, HIGH, FIRN_OK}}; /* last: the next one begins with its write */
    firn_mark held;
    int64_t first;
    must_reserve(store, "renewals", "1", HIGH, 0, 0);
    for (size_t i = 0; i < LENGTH(tries); i++) {
        const int64_t from = tries[i].from;
        firn_request request = {"renewals", ROW, "1", COUNT, from, from, 1 + 2 * i, "", 0};
        request.own = tries[i].own;
        const int code = firn_store_reserve(store, &request, &first, &held, NULL);
        assert_int_equal(code, tries[i].code);
        assert_true(code == FIRN_OK ? first == from : held.grant == OWN_GRANT);
    }
    const firn_mark theirs = {HIGH + 2 * COUNT, 99};
    firn_request request = {"renewals", ROW, "1", COUNT, 0, WINDOW, theirs.grant, "", 0};
    assert_int_equal(firn_store_reserve(other, &request, &first, &held, NULL), FIRN_OK);
    assert_int_equal(first, HIGH + COUNT);
    assert_int_equal(firn_store_give_back(other, "renewals", "1", &theirs, first, NULL), FIRN_OK);
    request = (firn_request){"renewals", ROW, "1", COUNT, first, first, 11, "", 0};
    request.own = (firn_mark){HIGH + COUNT, 7};
    assert_int_equal(firn_store_reserve(store, &request, &first, &held, NULL), FIRN_EBUSY);
    assert_true(held.high == HIGH + COUNT && held.grant == 0);
}

static void every_engine_follows_the_law(void **state) {
    firn_store *store = store_of(state);
    const bench *b = *state;
    firn_store *other = store;
    assert_true(!b->row->shared || open_store(&other, b->url, NULL) == FIRN_OK);
    check_renewals(store, other);
    if (other != store) {
        firn_store_close(other);
    }
    compared = 0;
    prepare(store, "clean", 0, false);
    compare_known(store, "clean", 0, false);
    compare_unknown(store, "new", true);
    if (b->row->tells_back) {
        prepare(store, "doubted", 0, true);
        for (size_t floor = 1; floor < LENGTH(floors); floor++) {
            prepare(store, "settled", floor, false);
            prepare(store, "again", floor, true);
        }
        must_reserve(store, "probe", "1", 1, 0, 0);
        go_back(store, b, "probe");
        compare_known(store, "doubted", 0, true);
        compare_unknown(store, "lost", false);
        for (size_t floor = 1; floor < LENGTH(floors); floor++) {
            raise_floor(store, "settled", floor, false);
            compare_known(store, "settled", floor, false);
            raise_floor(store, "again", floor, true);
        }
        const firn_request all = {FIRN_ALL_NAMES, "integer", "1", 1, 0, WINDOW, 9, "", 1};
        firn_mark held;
        int64_t first;
        assert_int_equal(firn_store_reserve(store, &all, &first, &held, NULL), FIRN_OK);
        compare_unknown(store, "late", true);
        go_back(store, b, "probe again");
        for (size_t floor = 1; floor < LENGTH(floors); floor++) {
            compare_known(store, "again", floor, true);
        }
    }
    print_message("# %d answers\n", compared);
}

/* ---- the law itself -------------------------------------------------------------------------- */

static const char *const layouts[] = {ROW, OTHER, FIRN__CLOSED "for a test): " ROW};
static const int64_t marks[] = {0, 90, 95, 99, 100, 101, 110, 115, 120, 121, 130};

/* The raise of a verdict, which an engine carries out alone, says what the law says of each other
 * mark. */
static void check_raise(const firn__verdict *verdict, firn__store_record kept,
                        const firn__memory *memory, const firn_request *request) {
    static const uint64_t grants[] = {0, 7, 9};
    firn_mark held;
    for (size_t i = 0; i < LENGTH(marks) * LENGTH(grants); i++) {
        int64_t first = -1;
        firn__verdict other;
        kept.mark = (firn_mark){marks[i / LENGTH(grants)], grants[i % LENGTH(grants)]};
        const int code = firn__law_reserve(&other, &kept, memory, request, "store", &held, NULL);
        const bool same = code == FIRN_OK && !other.back && !other.renew;
        assert_int_equal(firn__raise_allows(&verdict->raise, kept.mark, &first), same);
        assert_true(!same || first == other.first);
    }
    assert_int_equal(verdict->raise.count, request->count);
}

/* Checks the rules of every verdict. */
static void check_verdict(const firn__store_record *kept, const firn__memory *memory,
                          const firn_request *request) {
    firn__verdict verdict;
    firn_error error = {0};
    firn_mark held = {-3, 3};
    const int64_t least = firn__least(memory, request).high;
    const bool back =
        kept->back || kept->mark.high < least ||
        (kept->mark.high == least && least > 0 && kept->mark.grant != request->grant) ||
        (!kept->known && firn__remembers_ns(memory, request->ns));
    const bool same = !kept->known || strcmp(kept->layout, request->layout) == 0;
    const bool trusted = !back && (kept->known ? kept->current : kept->complete);
    int code = firn__law_reserve(&verdict, kept, memory, request, "store", &held, &error);
    assert_int_equal(verdict.back, back);
    assert_true(code == FIRN_OK || (error.code == code && error.text[0] != '\0'));
    const bool closed = kept->known && firn_layout_closed(kept->layout);
    assert_int_equal(code == FIRN_ENAMESPACE, !same && !closed);
    assert_int_equal(code == FIRN_ESTORE, closed);
    if (code == FIRN_OK) { /* never below a mark, a floor, or a guard that was needed */
        assert_true(verdict.first >= kept->mark.high && verdict.first >= kept->floor);
        assert_true(verdict.first >= request->earliest && verdict.first <= request->latest);
        assert_true(trusted || (request->guard > 0 && verdict.first >= request->guard));
        assert_true(verdict.renew == (!trusted || !kept->known));
        if (!verdict.renew) {
            check_raise(&verdict, *kept, memory, request);
        }
    }
    if (code == FIRN_EBACK) {
        assert_true(!trusted && request->guard == 0 && !verdict.renew);
    }
    if (code == FIRN_EBUSY) {
        assert_true(held.high > request->latest && held.high >= kept->mark.high);
        assert_true(held.grant == 0 ||
                    (held.grant == kept->mark.grant && held.high == kept->mark.high &&
                     held.high >= verdict.floor));
    } else {
        assert_true(held.high == -3 && held.grant == 3);
    }
    assert_true(verdict.floor >= kept->floor);
}

static void the_law_keeps_its_promises(void **state) {
    firn_request request = {"ns", ROW, "1", COUNT, 0, 0, 7, "", 0};
    firn__memory memory = {0}, nothing = {0};
    (void)state;
    firn__remember(&memory, &request, 100);
    for (size_t i = 0; i < LENGTH(marks) * LENGTH(floors) * 192; i++) {
        const size_t bits = i % 96, position = i / 192; /* 3 layouts times 5 flags */
        request.guard_tick_ns = i % 192 < 96 ? 0 : 1000000;
        firn__store_record kept = {.back = bits & 1,
                                   .known = bits & 2,
                                   .current = bits & 4,
                                   .complete = bits & 8,
                                   .layout = layouts[bits / 32],
                                   .floor = floors[position % LENGTH(floors)],
                                   .mark = {marks[position / LENGTH(floors)], 6 + (bits & 1)}};
        for (law_combination combination = none; combination.bounds < LENGTH(bounds);
             next(&combination)) {
            request.earliest = bounds[combination.bounds].earliest;
            request.latest = bounds[combination.bounds].latest;
            request.guard = guards[combination.guard];
            check_verdict(&kept, bits & 16 ? &memory : &nothing, &request);
        }
    }
}

/* Slots with a time end at most at the guard, which moves with the clock. */
static void no_reservation_ends_after_its_guard(void **state) {
    static const firn__memory nothing;
    static const struct {
        int64_t count, now_ms;
        uint64_t tick_ns; /* 0: integers, which have no guard that moves */
        int code;
    } tries[] = {{10, 0, 1000000, FIRN_OK},
                 {11, 0, 1000000, FIRN_ECLOCK},
                 {15, 4, 1000000, FIRN_OK},
                 {16, 4, 1000000, FIRN_ECLOCK},
                 {1000, 0, 0, FIRN_OK}};
    (void)state;
    for (size_t i = 0; i < LENGTH(tries); i++) {
        const firn__store_record kept = {
            .known = true, .current = true, .layout = ROW, .now_ms = tries[i].now_ms};
        const firn_request request = {.ns = "ns",
                                      .layout = ROW,
                                      .key = "1",
                                      .count = tries[i].count,
                                      .earliest = 990,
                                      .latest = 990,
                                      .grant = 7,
                                      .guard = 1000,
                                      .guard_tick_ns = tries[i].tick_ns};
        firn__verdict verdict;
        firn_error error = {0};
        firn_mark held;
        int code = firn__law_reserve(&verdict, &kept, &nothing, &request, "store", &held, &error);
        assert_int_equal(code, tries[i].code);
        assert_true(code == FIRN_OK || strstr(error.text, "fix the wrong clock") != NULL);
    }
}

/* A record that was lost had a reach that nobody knows. */
static void an_absent_namespace_gets_the_longest_guard(void **state) {
    static const firn__memory nothing;
    static const struct {
        bool known, doubted;
        int64_t more, floor, known_ms; /* now is 70 ms */
    } tries[] = {{false, true, 500, 1500, 0},  {true, true, 500, 1000, 0},
                 {false, false, 500, 0, 0},    {false, true, 0, 1000, 0},
                 {false, true, -1, 1000, 0},   {false, true, INT64_MAX, FIRN_SLOT_MAX, 0},
                 {false, true, 500, 1000, 71}, {false, true, 500, 1500, 70}};
    (void)state;
    for (size_t i = 0; i < LENGTH(tries); i++) {
        const firn__store_record kept = {.known = tries[i].known,
                                         .current = !tries[i].doubted,
                                         .complete = !tries[i].doubted,
                                         .layout = ROW,
                                         .now_ms = 70};
        const firn_request request = {.ns = "ns",
                                      .layout = ROW,
                                      .key = "1",
                                      .count = 1,
                                      .latest = 900,
                                      .grant = 7,
                                      .guard = 1000,
                                      .guard_more = tries[i].more,
                                      .guard_known_ms = tries[i].known_ms};
        firn__verdict verdict;
        firn_mark held = {0, 0};
        int code = firn__law_reserve(&verdict, &kept, &nothing, &request, "store", &held, NULL);
        assert_int_equal(code, tries[i].doubted ? FIRN_EBUSY : FIRN_OK);
        assert_int_equal(verdict.floor, tries[i].floor);
        assert_int_equal(held.high, tries[i].floor);
    }
}

/* ---- nodes of reserves ----------------------------------------------------------------------- */

#define SPLIT "x reserve_claim=8..9 reach=1h"

/* Of the present: the guard is the slot 1000. */
static firn_request split_request(const char *key, int64_t count, int64_t earliest,
                                  int64_t latest) {
    return (firn_request){.ns = "ns",
                          .layout = SPLIT,
                          .key = key,
                          .count = count,
                          .earliest = earliest,
                          .latest = latest,
                          .grant = 7,
                          .guard = 1000,
                          .guard_tick_ns = 1000000,
                          .guard_shift = 2};
}
/* Ticks of 1 ms, four slots each: one more tick is for rounding. */
#define LATER (INT64_C(3600001) * 4)

static void nodes_of_reserves_are_those_of_the_layout(void **state) {
    static const struct {
        const char *layout, *key;
        bool is;
    } tries[] = {
        {SPLIT, "7", false},
        {SPLIT, "8", true},
        {SPLIT, "9", true},
        {SPLIT, "10", false},
        {SPLIT, "8@1", false},
        {SPLIT, "job", false},
        {SPLIT, "", false},
        {"claim=0..3 " SPLIT, "8", true},
        {"x reserve_claim=8..8 reach=1h", "8", true},
        {"x reserve_claim=0..18446744073709551615 reach=1h", "18446744073709551615", true},
        {"x reach=1h", "8", false},
        {"x reserve_claim=8..9", "8", false},
        {"x reserve_claim=8..9 reach=10min", "8", false},
        {"xreserve_claim=8..9 reach=1h", "8", false},
        {"reserve_claim=8..9 reach=1h", "8", false},
        {"x reserve_claim=9..8 reach=1h", "8", false},
        {"x reserve_claim=08..9 reach=1h", "8", false},
        {"x reserve_claim=8..9x reach=1h", "8", false},
        {"x reserve_claim=8..9  reach=1h", "8", false},
        {"x reserve_claim=8 reach=1h", "8", false},
        {"x reserve_claims=8..9 reach=1h", "8", false},
        {" reach=1h", "8", false},
        {"", "8", false},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(tries); i++) {
        firn_request request = {.layout = tries[i].layout,
                                .key = tries[i].key,
                                .guard = 1000,
                                .guard_tick_ns = 1000000,
                                .guard_shift = 2};
        if (firn__law_later(&request) != (tries[i].is ? LATER : 0)) {
            fail_msg("%s, node %s: %" PRId64, tries[i].layout, tries[i].key,
                     firn__law_later(&request));
        }
        request.guard_tick_ns = 0;
        assert_int_equal(firn__law_later(&request), tries[i].is ? FIRN_SLOT_MAX : 0);
        request.guard = 0; /* slots without a time */
        assert_int_equal(firn__law_later(&request), 0);
    }
    const firn_request coarse = {
        .layout = SPLIT, .key = "8", .guard = 1, .guard_tick_ns = 1, .guard_shift = 32};
    assert_int_equal(firn__law_later(&coarse), FIRN_SLOT_MAX); /* slots end before */
}

/* A lost reservation of such a node ends at most LATER after the guard, so no new one begins before. */
static void after_a_loss_nodes_of_reserves_wait_longer(void **state) {
    static const firn__memory nothing;
    static const struct {
        const char *key;
        int64_t floor; /* of an earlier loss */
        bool doubted;
        int64_t begin; /* 0: where the request begins */
    } tries[] = {
        {"7", 0, true, 1000},    {"8", 0, true, 1000 + LATER},    {"7", 0, false, 0},
        {"8", 0, false, 0},      {"7", 2000, false, 2000},        {"8", 2000, false, 2000 + LATER},
        {"7", 2000, true, 2000}, {"8", 2000, true, 2000 + LATER}, {"8", 900, true, 1000 + LATER}};
    (void)state;
    for (size_t i = 0; i < LENGTH(tries); i++) {
        firn__store_record kept = {
            .known = true, .current = !tries[i].doubted, .layout = SPLIT, .floor = tries[i].floor};
        const firn_request request = split_request(tries[i].key, 10, 50, 60);
        firn__verdict verdict;
        firn_mark held = {0, 0};
        int code = firn__law_reserve(&verdict, &kept, &nothing, &request, "store", &held, NULL);
        assert_int_equal(code, tries[i].begin > 0 ? FIRN_EBUSY : FIRN_OK);
        assert_int_equal(code == FIRN_OK ? verdict.first : held.high,
                         code == FIRN_OK ? 50 : tries[i].begin);
        assert_int_equal(held.grant, 0);
        assert_int_equal(verdict.raise.low, tries[i].begin > 50 ? tries[i].begin : 50);
        /* The namespace has one floor, for all its nodes. */
        assert_int_equal(verdict.floor,
                         !tries[i].doubted || tries[i].floor > 1000 ? tries[i].floor : 1000);
    }
}

static void only_nodes_of_reserves_have_the_long_reach(void **state) {
    static const firn__memory nothing;
    static const char *const keys[] = {"7", "8"};
    static const firn__store_record kept = {.known = true, .current = true, .layout = SPLIT};
    (void)state;
    for (size_t i = 0; i < LENGTH(keys); i++) {
        const int64_t most = 1000 + (i == 1 ? LATER : 0); /* of its last slot, and one */
        for (int64_t end = most - 1; end <= most + 1; end++) {
            const firn_request request = split_request(keys[i], end - 90, 90, 95);
            firn__verdict verdict;
            firn_mark held = {0, 0};
            assert_int_equal(
                firn__law_reserve(&verdict, &kept, &nothing, &request, "store", &held, NULL),
                end <= most ? FIRN_OK : FIRN_ECLOCK);
        }
    }
    /* Without the length of a tick nobody knows where they begin after a loss. */
    const firn__store_record lost = {.known = true, .current = true, .layout = SPLIT, .floor = 1};
    firn_request request = split_request("8", 1, 0, FIRN_SLOT_MAX - 1);
    request.guard_tick_ns = 0;
    firn__verdict verdict;
    firn_mark held = {0, 0};
    assert_int_equal(firn__law_reserve(&verdict, &kept, &nothing, &request, "store", &held, NULL),
                     FIRN_OK);
    assert_int_equal(firn__law_reserve(&verdict, &lost, &nothing, &request, "store", &held, NULL),
                     FIRN_EBUSY);
    assert_int_equal(held.high, FIRN_SLOT_MAX);
}

/* ---- one rule at a time ---------------------------------------------------------------------- */

static void what_a_handle_remembers(void **state) {
    firn__memory memory = {0};
    firn_request request = {.ns = "a", .key = "1", .grant = 7};
    char ns[8];
    (void)state;
    assert_false(firn__remembers_ns(&memory, "n0"));
    for (int i = 0; i <= 256; i++) { /* one more than there is room for */
        snprintf(ns, sizeof ns, "n%d", i);
        firn__remember_ns(&memory, ns);
        firn__remember_ns(&memory, "n0"); /* takes no place while it is there */
        assert_true(firn__remembers_ns(&memory, ns));
        if (i < 256) {
            assert_true(firn__remembers_ns(&memory, "n0"));
        }
    }
    assert_true(firn__remembers_ns(&memory, "n0")); /* in the place of n1 */
    assert_false(firn__remembers_ns(&memory, "n1"));
    for (int i = 2; i <= 256; i++) {
        snprintf(ns, sizeof ns, "n%d", i);
        assert_true(firn__remembers_ns(&memory, ns));
    }
    firn__remember(&memory, &request, 100);
    assert_true(firn__remembers_ns(&memory, "a"));
    assert_int_equal(firn__least(&memory, &request).high, 100);
    assert_int_equal(firn__least(&memory, &(firn_request){.ns = "b", .key = "1"}).high, 0);
    assert_int_equal(firn__least(&memory, &(firn_request){.ns = "a", .key = "2"}).high, 0);
    assert_int_equal(memory.mark.grant, 7);
    firn__forget_last(&memory);
    assert_int_equal(firn__least(&memory, &request).high, 0);
    assert_int_equal(memory.mark.grant, 0);
    assert_true(firn__remembers_ns(&memory, "a"));
}

static void says(const firn_error *error, int code, int cure, const char *text) {
    assert_string_equal(error->text, text);
    assert_int_equal(error->code, code);
    assert_int_equal(error->cure, cure);
}

static void what_a_refusal_of_a_lost_namespace_says(void **state) {
    firn_error error;
    (void)state;
    assert_int_equal(firn__refuse_back(&error, "redis:x", "integer seats"), FIRN_EBACK);
    assert_int_equal(error.cure, FIRN_CURE_ADVANCE);
    assert_non_null(strstr(error.text, "redis:x has changed or lost reservations since integer "
                                       "seats was last used: "));
    firn__refuse_back(&error, "redis:x", "order a");
    says(&error, FIRN_EBACK, FIRN_CURE_OTHER_SERIES,
         "redis:x has changed or lost reservations since order a was last used: use another "
         "series");
    firn__refuse_back(&error, "redis:x", "ordera");
    says(&error, FIRN_EBACK, FIRN_CURE_UNUSED_NODE,
         "redis:x has changed or lost reservations since ordera was last used, so it allows no "
         "back-dated IDs: back-date without a store, with a node that was never used");
}

static void what_a_refusal_of_a_closed_namespace_says(void **state) {
    static const struct {
        const char *stored, *shut, *text;
        int cure;
    } tries[] = {
        {"closed (moved to redis://b/): x", "a",
         "namespace a is closed (moved to redis://b/): use that store", FIRN_CURE_OTHER_STORE},
        {"closed (moving to b): x", "a", "namespace a is closed (moving to b)", FIRN_CURE_MOVING},
        {"closed (forgotten): x", "a", "namespace a is closed (forgotten)", FIRN_CURE_REOPEN},
        {"closed (forgotten", "a", "namespace a is closed (forgotten)", FIRN_CURE_REOPEN},
        {"closed (by hand): x", FIRN_ALL_NAMES, "namespace a is closed (by hand, with 'integer *')",
         FIRN_CURE_NEW_NAMES},
    };
    char stored[220], text[220];
    firn_error error;
    (void)state;
    for (size_t i = 0; i < LENGTH(tries); i++) {
        assert_int_equal(firn__refuse_closed(&error, "a", tries[i].shut, tries[i].stored),
                         FIRN_ESTORE);
        assert_int_equal(error.cure, tries[i].cure);
        assert_memory_equal(error.text, tries[i].text, strlen(tries[i].text));
    }
    for (int length = 99; length <= 101; length++) { /* 100 bytes of why it is closed */
        snprintf(stored, sizeof stored, "closed (%0*d): x", length, 0);
        snprintf(text, sizeof text, "namespace a is closed (%0*d)", length < 100 ? length : 100, 0);
        firn__refuse_closed(&error, "a", "a", stored);
        assert_memory_equal(error.text, text, strlen(text));
    }
    snprintf(stored, sizeof stored, "closed (%0180d", 0);
    firn__refuse_closed(&error, "a", "a", stored);
    assert_memory_equal(error.text, text, strlen(text));
}

/* Two layouts that are the same up to `position`, each `length` bytes long. */
static const char *layouts_from(int position, int length) {
    static char stored[FIRN_LAYOUT_SIZE], wanted[FIRN_LAYOUT_SIZE], text[480];
    const firn_request request = {.ns = "a", .layout = wanted};
    static firn_error error;
    char *reply;
    memset(stored, '0', (size_t)length);
    memset(wanted, '0', (size_t)length);
    stored[position] = 'S';
    wanted[position] = 'W';
    stored[length] = wanted[length] = '\0';
    assert_int_equal(firn__refuse_layout(&error, &request, stored), FIRN_ENAMESPACE);
    assert_int_equal(error.cure, FIRN_CURE_OTHER_NAMESPACE);
    snprintf(text, sizeof text, "%s", error.text);
    reply = strstr(text, "has layout '");
    assert_non_null(reply);
    return reply + strlen("has layout '");
}

static void what_a_refusal_of_another_layout_says(void **state) {
    static const struct {
        int at, length, shown; /* bytes before the difference */
    } tries[] = {{0, 60, 0},  {20, 40, 20}, {23, 60, 23}, {24, 60, 8},
                 {24, 48, 8}, {24, 47, 24}, {40, 80, 8}};
    static const struct {
        const char *stored, *wanted, *says;
    } texts[] = {
        {"x" FIRN__LONG_REACH, "x", "namespace a has reach=10min, not reach=15s: set reach=10min"},
        {"x", "x" FIRN__LONG_REACH, "namespace a has reach=15s, not reach=10min: leave reach out"},
        {"claim=0..9 x" FIRN__LONG_REACH, "x",
         "namespace a has reach=10min, not reach=15s: set reach=10min"},
        {"x", "claim=0..9 x" FIRN__LONG_REACH,
         "namespace a has reach=15s, not reach=10min: leave reach out"},
        {SPLIT, "x",
         "namespace a has reserve_claim=8..9 reach=1h, not reach=15s: set reserve_claim=8..9 "
         "reach=1h"},
        {"x", "claim=0..9 " SPLIT,
         "namespace a has reach=15s, not reserve_claim=8..9 reach=1h: leave reserve_claim and "
         "reach out"},
        {SPLIT, "x reserve_claim=7..9 reach=1h",
         "namespace a has reserve_claim=8..9 reach=1h, not reserve_claim=7..9 reach=1h: set "
         "reserve_claim=8..9 reach=1h"},
        {SPLIT, "x reach=1h",
         "namespace a has reserve_claim=8..9 reach=1h, not reach=1h: set reserve_claim=8..9 "
         "reach=1h"},
        {"x reach=10min", SPLIT,
         "namespace a has reach=10min, not reserve_claim=8..9 reach=1h: leave reserve_claim out, "
         "and set reach=10min"},
        {"x reach=1h", SPLIT,
         "namespace a has reach=1h, not reserve_claim=8..9 reach=1h: leave reserve_claim out"},
        {"x", "xy" FIRN__LONG_REACH, /* the fields differ, too */
         "namespace a has layout 'x', not 'xy reach=10min': use another ns= for this one"},
        {"claim=00..9 x", "x", /* firn writes no such nodes, so this is a layout */
         "namespace a has layout 'claim=00..9 x', not 'x': use another ns= for this one"},
        {"claim=18446744073709551616..9 x", "x",
         "namespace a has layout 'claim=18446744073709551616..9 x', not 'x': use another ns= for "
         "this one"},
        {"claim=9..8 x", "x",
         "namespace a has layout 'claim=9..8 x', not 'x': use another ns= for this one"},
        {"claim=8.9 x", "x",
         "namespace a has layout 'claim=8.9 x', not 'x': use another ns= for this one"},
        {"claim=8..9x", "x",
         "namespace a has layout 'claim=8..9x', not 'x': use another ns= for this one"},
        {"claim=8.. x", "x",
         "namespace a has layout 'claim=8.. x', not 'x': use another ns= for this one"},
        {"claim=0..9 x", "y" FIRN__LONG_REACH,
         "namespace a has layout 'x', not 'y reach=10min': use another ns= for this one"},
        {"claim=0..9 x", "x",
         "namespace a has layout 'claim=0..9 x', not 'x': use another ns= for this one"},
        {"x", "claim=0..9 x",
         "namespace a has layout 'x', not 'claim=0..9 x': use another ns= for this one"},
    };
    const firn_request request = {.ns = "a", .layout = OTHER, .key = "1", .latest = 9};
    firn_error error;
    (void)state;
    for (size_t i = 0; i < LENGTH(tries); i++) {
        const char *text = layouts_from(tries[i].at, tries[i].length);
        assert_int_equal(strchr(text, 'S') - text, tries[i].shown);
        assert_int_equal(strchr(text, 'W') - strstr(text, ", not '") - 7, tries[i].shown);
    }
    assert_int_equal(firn__refuse_layout(&error, &request, ""), FIRN_ENAMESPACE);
    assert_non_null(strstr(error.text, "namespace a has no layout, so its record is damaged"));
    assert_int_equal(firn__refuse_layout(&error, &request, FIRN__FORGOTTEN "): " ROW), FIRN_ESTORE);
    firn__refuse_layout(&error, &(firn_request){.ns = "a", .layout = "0x0"}, "0x0:1");
    assert_non_null(strstr(error.text, "has layout '0x0:1', not '0x0'"));
    for (size_t i = 0; i < LENGTH(texts); i++) {
        const firn_request asks = {.ns = "a", .layout = texts[i].wanted};
        assert_int_equal(firn__refuse_layout(&error, &asks, texts[i].stored), FIRN_ENAMESPACE);
        assert_string_equal(error.text, texts[i].says);
    }
    assert_int_equal(firn__refuse_busy(&error, &request, 12), FIRN_EBUSY);
    says(&error, FIRN_EBUSY, FIRN_CURE_OTHER_NODE,
         "a/1 is reserved up to 12, past 9: use another node, or wait");
    const firn_request renewal = {.ns = "a", .key = "1", .latest = 9, .own = {9, 7}};
    assert_int_equal(firn__refuse_busy(&error, &renewal, 8), FIRN_EBUSY);
    says(&error, FIRN_EBUSY, FIRN_CURE_OTHER_NODE,
         "a/1 is no longer reserved up to 9 by this grant, but up to 8: use another node, or wait");
    assert_int_equal(firn__refuse_busy(&error, &renewal, 9), FIRN_EBUSY);
    says(&error, FIRN_EBUSY, FIRN_CURE_OTHER_NODE,
         "a/1 is no longer reserved up to 9 by this grant, but up to 9: use another node, or wait");
    assert_int_equal(firn__refuse_contended(&error, "store", "1"), FIRN_ESTORE);
    says(&error, FIRN_ESTORE, FIRN_CURE_TRY_AGAIN,
         "store store: other processes keep changing 1: try again");
}

/* The floor moves by the ticks that began since it was computed, and stays a slot. */
static void what_a_guard_is(void **state) {
    static const struct {
        int64_t guard, now_ms;
        uint64_t tick_ns;
        int shift;
        int64_t is;
    } tries[] = {{1000, 10, 1000000, 0, 1000},
                 {1000, 9, 1000000, 0, 1000},
                 {1000, 11, 1000000, 0, 1002},
                 {1000, 14, 1000000, 0, 1005},
                 {1000, 14, 3000000, 0, 1002},
                 {1000, 14, 1000000, 4, 1080},
                 {1000, 14, 0, 0, 1000},
                 {1, 12, 1000000, 0, 4},
                 {0, 14, 1000000, 0, 0},
                 {-5, 14, 1000000, 0, 0},
                 {FIRN_SLOT_MAX - 10, 15, 1000000, 0, FIRN_SLOT_MAX - 4},
                 {FIRN_SLOT_MAX - 10, 99, 1000000, 0, FIRN_SLOT_MAX},
                 {FIRN_SLOT_MAX - 10, 99, 1000000, 2, FIRN_SLOT_MAX - 2}};
    (void)state;
    for (size_t i = 0; i < LENGTH(tries); i++) {
        const firn_request request = {.guard = tries[i].guard,
                                      .guard_tick_ns = tries[i].tick_ns,
                                      .guard_shift = (uint8_t)tries[i].shift,
                                      .guard_ms = 10};
        assert_int_equal(firn__law_guard(&request, tries[i].now_ms), tries[i].is);
    }
}

/* The first slot has a guard of 1, after which nothing is granted. */
static void what_the_smallest_guard_allows(void **state) {
    static const firn__memory nothing;
    const firn_request request = {.ns = "ns",
                                  .layout = ROW,
                                  .key = "1",
                                  .count = 1,
                                  .latest = 5,
                                  .grant = 7,
                                  .guard = 1,
                                  .guard_tick_ns = 1000000};
    (void)state;
    for (int64_t high = 0; high < 2; high++) {
        const firn__store_record kept = {
            .known = true, .current = true, .layout = ROW, .mark = {high, 3}};
        firn__verdict verdict;
        firn_error error;
        firn_mark held;
        assert_int_equal(
            firn__law_reserve(&verdict, &kept, &nothing, &request, "store", &held, &error),
            high == 0 ? FIRN_OK : FIRN_ECLOCK);
        if (high > 0) {
            says(&error, FIRN_ECLOCK, FIRN_CURE_FIX_CLOCK,
                 "a reservation of ns/1 would end at slot 2, after 1, which the clock of store "
                 "allows: fix the wrong clock");
        }
    }
}

/* While all new names are closed, only a closed record is made. A closed one is kept by its own
 * layout. */
static void what_a_closed_namespace_allows(void **state) {
    static const char closed[] = FIRN__CLOSED "by hand): " ROW;
    static const firn__memory nothing;
    static const struct {
        const char *stored, *shut, *asked;
        int code;
    } tries[] = {{NULL, closed, ROW, FIRN_ESTORE},    {NULL, closed, closed, FIRN_OK},
                 {NULL, NULL, ROW, FIRN_OK},          {closed, NULL, ROW, FIRN_ESTORE},
                 {closed, NULL, closed, FIRN_OK},     {ROW, closed, ROW, FIRN_OK},
                 {ROW, NULL, closed, FIRN_ENAMESPACE}};
    (void)state;
    for (size_t i = 0; i < LENGTH(tries); i++) {
        const firn__store_record kept = {.known = tries[i].stored != NULL,
                                         .current = true,
                                         .complete = true,
                                         .layout = tries[i].stored,
                                         .shut = tries[i].shut};
        const firn_request request = {
            .ns = "ns", .layout = tries[i].asked, .key = "1", .count = 1, .latest = 5, .grant = 7};
        firn__verdict verdict;
        firn_error error;
        firn_mark held;
        assert_int_equal(
            firn__law_reserve(&verdict, &kept, &nothing, &request, "store", &held, &error),
            tries[i].code);
        if (tries[i].code == FIRN_ESTORE) {
            assert_int_equal(error.cure, i == 0 ? FIRN_CURE_NEW_NAMES : FIRN_CURE_REOPEN);
        }
    }
}

/* A renewal continues no other mark: neither a lower mark nor one of another grant. */
static void what_a_renewal_continues(void **state) {
    static const firn__memory nothing;
    static const struct {
        firn_mark mark;
        bool current;
        int64_t guard;
        int code;
    } tries[] = {
        {{100, 7}, true, 0, FIRN_OK},       {{100, 7}, true, 500, FIRN_OK},
        {{100, 0}, true, 0, FIRN_EBUSY},    {{100, 9}, true, 0, FIRN_EBUSY},
        {{99, 7}, true, 500, FIRN_EBUSY},   {{0, 0}, true, 500, FIRN_EBUSY},
        {{101, 7}, true, 0, FIRN_EBUSY},    {{100, 7}, false, 0, FIRN_EBACK},
        {{100, 7}, false, 500, FIRN_EBUSY},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(tries); i++) {
        const firn__store_record kept = {
            .known = true, .current = tries[i].current, .layout = ROW, .mark = tries[i].mark};
        const firn_request request = {.ns = "ns",
                                      .layout = ROW,
                                      .key = "1",
                                      .count = 10,
                                      .earliest = 100,
                                      .latest = 100,
                                      .grant = 3,
                                      .guard = tries[i].guard,
                                      .own = {100, 7}};
        firn__verdict verdict;
        firn_mark held = {-3, 3};
        const int code =
            firn__law_reserve(&verdict, &kept, &nothing, &request, "store", &held, NULL);
        assert_int_equal(code, tries[i].code);
        if (code == FIRN_EBUSY && tries[i].current) {
            assert_true(held.high == tries[i].mark.high && held.grant == tries[i].mark.grant);
        }
    }
}

/* In doubt and without a guard the own grant may be of a copy, so it is not shown; another's is. */
static void what_a_busy_key_shows_in_doubt(void **state) {
    static const firn__memory nothing;
    (void)state;
    for (int bits = 0; bits < 8; bits++) {
        const bool own = bits & 1, current = bits & 2, guarded = bits & 4;
        const firn__store_record kept = {
            .known = true, .current = current, .layout = ROW, .mark = {100, own ? 7 : 3}};
        const firn_request request = {.ns = "ns",
                                      .layout = ROW,
                                      .key = "1",
                                      .count = 1,
                                      .latest = 99,
                                      .grant = 7,
                                      .guard = guarded};
        firn__verdict verdict;
        firn_mark held;
        assert_int_equal(
            firn__law_reserve(&verdict, &kept, &nothing, &request, "store", &held, NULL),
            FIRN_EBUSY);
        assert_int_equal(held.high, 100);
        assert_int_equal(held.grant, !own ? 3 : current || guarded ? 7 : 0);
    }
}

static void what_loses_a_mark(void **state) {
    const firn_mark mine = {100, 7};
    (void)state;
    assert_true(firn__mark_is_lost(mine, (firn_mark){99, 7}));
    assert_true(firn__mark_is_lost(mine, (firn_mark){100, 8})); /* granted again */
    assert_true(firn__mark_is_lost(mine, (firn_mark){100, 1}));
    assert_false(firn__mark_is_lost(mine, (firn_mark){100, 7}));
    assert_false(firn__mark_is_lost(mine, (firn_mark){100, 0})); /* another gave back all it had */
    assert_false(firn__mark_is_lost(mine, (firn_mark){101, 8}));
}

/* The mark is older than the handle's last one: what it remembers does not bind the verdict that
 * resolves the loss. */
static void what_an_older_mark_allows(void **state) {
    const firn__store_record kept = {
        .known = true, .current = true, .layout = ROW, .floor = 90, .mark = {90, 7}};
    firn_request request = {
        .ns = "ns", .layout = ROW, .key = "1", .count = 1, .latest = 900, .grant = 7, .guard = 500};
    firn__memory memory = {0}, nothing = {0};
    firn__verdict verdict;
    firn_mark held;
    (void)state;
    firn__remember(&memory, &request, 100);
    assert_int_equal(firn__law_reserve(&verdict, &kept, &memory, &request, "store", &held, NULL),
                     FIRN_OK);
    assert_true(verdict.back && verdict.first == 500);
    request.latest = 89; /* a mark at the floor is shown with its grant */
    assert_int_equal(firn__law_reserve(&verdict, &kept, &nothing, &request, "store", &held, NULL),
                     FIRN_EBUSY);
    assert_true(held.high == 90 && held.grant == 7);
}

/* Slots that somebody else reserved since stay reserved. */
static void what_a_give_back_lowers(void **state) {
    const firn_mark mine = {7, 5}, others[] = {{0, 0}, {6, 5}, {7, 0}, {7, 9}, {8, 5}};
    firn__store_record kept = {.mark = {7, 5}};
    firn_error error = {0};
    (void)state;
    assert_int_equal(firn__law_give_back(&kept, "a", "1", &mine, &error), FIRN_OK);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        kept.mark = others[i];
        assert_int_equal(firn__law_give_back(&kept, "a", "1", &mine, &error), FIRN_EBUSY);
    }
    assert_string_equal(error.text,
                        "a/1 was not given back: its mark is no longer 7 of this grant");
}

#define LEFT FIRN__FORGOTTEN "): " ROW
#define AWAY FIRN__CLOSED "moved to x): " ROW

static void what_a_relabel_may(void **state) {
    enum { BACK = 1, STALE = 2, LOWERS = 4 }; /* STALE: not current, or not complete */
    static const struct {
        const char *stored, *from, *to;
        int flags, code;
    } tries[] = {
        {ROW, ROW, AWAY, 0, FIRN_OK},
        {ROW, ROW, AWAY, BACK, FIRN_EBACK},
        {ROW, ROW, AWAY, STALE, FIRN_EBACK},
        {LEFT, LEFT, ROW, STALE, FIRN_OK},
        {LEFT, LEFT, ROW, STALE | BACK, FIRN_EBACK},
        {LEFT, LEFT, ROW, STALE | LOWERS, FIRN_EBACK},
        {LEFT, LEFT, AWAY, STALE, FIRN_EBACK},
        {AWAY, AWAY, ROW, STALE, FIRN_EBACK},
        {"closed (forgotte)", "closed (forgotte)", ROW, STALE, FIRN_EBACK},
        {LEFT, NULL, ROW, STALE, FIRN_EBACK},
        {AWAY, AWAY, ROW, 0, FIRN_OK},
        {NULL, NULL, AWAY, 0, FIRN_OK},
        {NULL, NULL, AWAY, STALE, FIRN_EBACK},
        {NULL, LEFT, ROW, STALE, FIRN_EBACK},
        {NULL, ROW, AWAY, 0, FIRN_ENAMESPACE},
        {AWAY, ROW, AWAY, 0, FIRN_OK}, /* again */
        {AWAY, NULL, AWAY, 0, FIRN_OK},
        {AWAY, NULL, LEFT, 0, FIRN_ENAMESPACE},
        {AWAY, ROW, LEFT, 0, FIRN_ENAMESPACE},
        {"", "", ROW, 0, FIRN_ENAMESPACE},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(tries); i++) {
        const bool fresh = (tries[i].flags & STALE) == 0, lowers = tries[i].flags & LOWERS;
        const firn__store_record kept = {.back = tries[i].flags & BACK,
                                         .known = tries[i].stored != NULL,
                                         .current = fresh,
                                         .complete = fresh,
                                         .layout = tries[i].stored,
                                         .floor = 50};
        firn_error error = {0};
        for (int64_t to = 40; to <= 60; to += 10) {
            const firn_relabel change = {"ns", tries[i].from, tries[i].to, to, lowers};
            const firn_relabel lower = {"ns", tries[i].from, tries[i].to, to, true};
            int64_t floor = -1;
            const int code = firn__law_relabel(&floor, &kept, &change, "store", &error);
            if (code != tries[i].code) {
                fail_msg("try %zu: %d, not %d", i, code, tries[i].code);
            }
            assert_int_equal(floor, code == FIRN_OK && to > 50 ? to : 50);
            if (code == FIRN_OK && fresh) {
                assert_int_equal(firn__law_relabel(&floor, &kept, &lower, "store", NULL), FIRN_OK);
                assert_int_equal(floor, to);
            }
        }
    }
}

static void what_a_refused_relabel_says(void **state) {
    const firn_relabel change = {"ns", ROW, AWAY, 0, false};
    firn_error error;
    int64_t floor;
    (void)state;
    firn__law_relabel(&floor, &(firn__store_record){.complete = true}, &change, "store", &error);
    assert_string_equal(error.text, "namespace ns of store has no record: another process has "
                                    "changed it, so run this again");
    const firn__store_record other = {.known = true, .current = true, .layout = "x"};
    firn__law_relabel(&floor, &other, &change, "store", &error);
    assert_string_equal(error.text, "namespace ns of store has layout 'x': another process has "
                                    "changed it, so run this again");
    assert_false(firn__declares_loss(&change));
    assert_true(firn__declares_loss(&(firn_relabel){.to = FIRN__GONE_BACK}));
}

int main(int count, char **arguments) {
    static char names[ENGINES][100];
    const struct CMUnitTest pure[] = {
        cmocka_unit_test(what_a_handle_remembers),
        cmocka_unit_test(what_a_refusal_of_a_lost_namespace_says),
        cmocka_unit_test(what_a_refusal_of_a_closed_namespace_says),
        cmocka_unit_test(what_a_refusal_of_another_layout_says),
        cmocka_unit_test(what_a_guard_is),
        cmocka_unit_test(what_the_smallest_guard_allows),
        cmocka_unit_test(what_a_closed_namespace_allows),
        cmocka_unit_test(what_a_busy_key_shows_in_doubt),
        cmocka_unit_test(what_a_renewal_continues),
        cmocka_unit_test(what_loses_a_mark),
        cmocka_unit_test(what_an_older_mark_allows),
        cmocka_unit_test(what_a_give_back_lowers),
        cmocka_unit_test(what_a_relabel_may),
        cmocka_unit_test(what_a_refused_relabel_says),
        cmocka_unit_test(no_reservation_ends_after_its_guard),
        cmocka_unit_test(an_absent_namespace_gets_the_longest_guard),
        cmocka_unit_test(nodes_of_reserves_are_those_of_the_layout),
        cmocka_unit_test(after_a_loss_nodes_of_reserves_wait_longer),
        cmocka_unit_test(only_nodes_of_reserves_have_the_long_reach),
        cmocka_unit_test(the_law_keeps_its_promises),
    };
    struct CMUnitTest tests[LENGTH(pure) + ENGINES];
    memcpy(tests, pure, sizeof pure);
    for (size_t i = 0; i < ENGINES; i++) {
        if (!stores_wanted(&rows[i])) {
            continue; /* an entry without a name is not a test */
        }
        snprintf(names[i], sizeof names[i], "%s answers as the law says", rows[i].name);
        tests[LENGTH(pure) + i] = (struct CMUnitTest){
            names[i], every_engine_follows_the_law, set_up, tear_down, (void *)(uintptr_t)&rows[i]};
    }
    stores_fast = true;
    if (count > 1) {
        cmocka_set_test_filter(arguments[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
