/* SPDX-License-Identifier: MIT */
/* Compares the reservation law (src/law.c) with the answers of every engine, for every
 * combination of stored state and request, and the law with its promises. Statements and scripts
 * decide inside their engine: this is where they are compared. */
#include "stores.h"

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

/* One combination; its numbers make its namespace or its key. */
typedef struct combination {
    size_t floor, bounds, guard, mark, grant, layout;
} combination;

static const combination none;

/* The next combination of a store whose namespaces have this floor; false: that was the last. */
static bool next(combination *it) {
    if (++it->layout < LAYOUTS) {
        return true;
    }
    it->layout = 0;
    if (++it->grant < GRANTS) {
        return true;
    }
    it->grant = 0;
    if (++it->mark < MARKS) {
        return true;
    }
    it->mark = 0;
    if (++it->guard < LENGTH(guards)) {
        return true;
    }
    it->guard = 0;
    return ++it->bounds < LENGTH(bounds);
}

/* Another layout needs no more than one of each. */
static bool is_wanted(const combination *it) {
    return (it->grant == 0 || it->mark > 0) &&
           (it->layout == 0 || (it->bounds == 0 && it->grant == 0));
}

/* ---- names ----------------------------------------------------------------------------------- */

#define OWN_GRANT 1000

/* A guard resolves the doubt about a namespace, so each combination of a doubted one with a guard has
 * its own; the others share one by their floor, with their own keys. */
static void name_namespace(char out[FIRN_NS_SIZE], const char *phase, const combination *it,
                           bool alone) {
    if (alone) {
        snprintf(out, FIRN_NS_SIZE, "%s-%zu-%zu-%zu-%zu-%zu-%zu", phase, it->floor, it->bounds,
                 it->guard, it->mark, it->grant, it->layout);
    } else {
        snprintf(out, FIRN_NS_SIZE, "%s-%zu", phase, it->floor);
    }
}

static void name_key(char out[FIRN_KEY_SIZE], const combination *it) {
    snprintf(out, FIRN_KEY_SIZE, "k%zu-%zu-%zu-%zu-%zu", it->bounds, it->guard, it->mark, it->grant,
             it->layout);
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

/* Sends the request and compares the answer with the law's, then changes `kept` as the law says. False:
 * it stayed as it was. */
static bool compare_once(firn_store *store, const firn_request *request, firn__kept *kept) {
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
static void compare(firn_store *store, const char *ns, const char *key, const combination *it,
                    firn__kept kept) {
    const firn_request request = {ns,
                                  it->layout > 0 ? OTHER : ROW,
                                  key,
                                  COUNT,
                                  bounds[it->bounds].earliest,
                                  bounds[it->bounds].latest,
                                  OWN_GRANT + it->grant,
                                  "",
                                  guards[it->guard]};
    if (compare_once(store, &request, &kept)) {
        compare_once(store, &request, &kept);
    }
}

/* ---- phases ---------------------------------------------------------------------------------- */

/* Makes the namespaces and marks that a phase will ask for. */
static void prepare(firn_store *store, const char *phase, size_t floor, bool doubted) {
    combination it = {.floor = floor};
    char ns[FIRN_NS_SIZE], key[FIRN_KEY_SIZE];
    do {
        bool alone = doubted && it.guard > 0;
        name_namespace(ns, phase, &it, alone);
        name_key(key, &it);
        if (is_wanted(&it) && (it.mark > 0 || alone)) {
            must_reserve(store, ns, it.mark > 0 ? key : "other", HIGH, 0, 0);
        }
    } while (next(&it));
    it = (combination){.floor = floor};
    name_namespace(ns, phase, &it, false);
    must_reserve(store, ns, "other", HIGH, 0, 0);
}

/* Sets the floor of the namespaces of a phase, which are doubted. */
static void raise_floor(firn_store *store, const char *phase, size_t floor, bool doubted) {
    combination it = {.floor = floor};
    char ns[FIRN_NS_SIZE];
    name_namespace(ns, phase, &it, false);
    must_reserve(store, ns, "floor", 1, floors[floor], floors[floor]);
    do {
        if (doubted && it.guard > 0 && is_wanted(&it)) {
            name_namespace(ns, phase, &it, true);
            must_reserve(store, ns, "floor", 1, floors[floor], floors[floor]);
        }
    } while (next(&it));
}

static void compare_known(firn_store *store, const char *phase, size_t floor, bool doubted) {
    combination it = {.floor = floor};
    char ns[FIRN_NS_SIZE], key[FIRN_KEY_SIZE];
    do {
        if (is_wanted(&it)) {
            const firn__kept kept = {.known = true,
                                     .current = !doubted,
                                     .layout = ROW,
                                     .floor = floors[floor],
                                     .mark = {(int64_t)it.mark * HIGH, it.mark * OWN_GRANT}};
            name_namespace(ns, phase, &it, doubted && it.guard > 0);
            name_key(key, &it);
            compare(store, ns, key, &it, kept);
        }
    } while (next(&it));
}

static void compare_unknown(firn_store *store, const char *phase, bool complete) {
    combination it = none;
    char ns[FIRN_NS_SIZE];
    do {
        if (is_wanted(&it) && it.mark == 0 && it.layout == 0) {
            const firn__kept kept = {.complete = complete};
            name_namespace(ns, phase, &it, true);
            compare(store, ns, "1", &it, kept);
        }
    } while (next(&it));
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

static void every_engine_follows_the_law(void **state) {
    firn_store *store = store_of(state);
    const bench *b = *state;
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

/* The raise of a verdict, which an engine carries out alone, says what the law says of each other mark. */
static void check_raise(const firn__verdict *it, firn__kept kept, const firn__memory *memory,
                        const firn_request *request) {
    firn_mark held;
    for (size_t i = 0; i < LENGTH(marks); i++) {
        int64_t first = -1;
        firn__verdict other;
        kept.mark = (firn_mark){marks[i], 5};
        const int code = firn__law_reserve(&other, &kept, memory, request, "store", &held, NULL);
        const bool same = code == FIRN_OK && !other.back && !other.renew;
        assert_int_equal(firn__raise_allows(&it->raise, marks[i], &first), same);
        assert_true(!same || first == other.first);
    }
    assert_int_equal(it->raise.count, request->count);
}

/* What applies to every verdict. */
static void check_verdict(const firn__kept *kept, const firn__memory *memory,
                          const firn_request *request) {
    firn__verdict it;
    firn_error error = {0};
    firn_mark held = {-3, 3};
    const bool back = kept->back || kept->mark.high < firn__least(memory, request) ||
                      (!kept->known && firn__remembers_ns(memory, request->ns));
    const bool same = !kept->known || strcmp(kept->layout, request->layout) == 0;
    const bool trusted = !back && (kept->known ? kept->current : kept->complete);
    int code = firn__law_reserve(&it, kept, memory, request, "store", &held, &error);
    assert_int_equal(it.back, back);
    assert_true(code == FIRN_OK || (error.code == code && error.text[0] != '\0'));
    const bool closed = kept->known && firn_layout_closed(kept->layout);
    assert_int_equal(code == FIRN_ENAMESPACE, !same && !closed);
    assert_int_equal(code == FIRN_ESTORE, closed);
    if (code == FIRN_OK) { /* never below a mark, a floor, or a guard that was needed */
        assert_true(it.first >= kept->mark.high && it.first >= kept->floor);
        assert_true(it.first >= request->earliest && it.first <= request->latest);
        assert_true(trusted || (request->guard > 0 && it.first >= request->guard));
        assert_true(it.renew == (!trusted || !kept->known));
        if (!it.renew) {
            check_raise(&it, *kept, memory, request);
        }
    }
    if (code == FIRN_EBACK) {
        assert_true(!trusted && request->guard == 0 && !it.renew);
    }
    if (code == FIRN_EBUSY) {
        assert_true(held.high > request->latest && held.high >= kept->mark.high);
        assert_true(held.grant == 0 || (held.grant == kept->mark.grant &&
                                        held.high == kept->mark.high && held.high >= it.floor));
    } else {
        assert_true(held.high == -3 && held.grant == 3);
    }
    assert_true(it.floor >= kept->floor);
}

static void the_law_keeps_its_promises(void **state) {
    firn_request request = {"ns", ROW, "1", COUNT, 0, 0, 7, "", 0};
    firn__memory memory = {0}, nothing = {0};
    (void)state;
    firn__remember(&memory, &request, 100);
    for (size_t i = 0; i < LENGTH(marks) * LENGTH(floors) * 192; i++) {
        const size_t bits = i % 96, at = i / 192; /* 3 layouts times 5 flags */
        request.guard_tick_ns = i % 192 < 96 ? 0 : 1000000;
        firn__kept kept = {.back = bits & 1,
                           .known = bits & 2,
                           .current = bits & 4,
                           .complete = bits & 8,
                           .layout = layouts[bits / 32],
                           .floor = floors[at % LENGTH(floors)],
                           .mark = {marks[at / LENGTH(floors)], 6 + (bits & 1)}};
        for (combination it = none; it.bounds < LENGTH(bounds); next(&it)) {
            request.earliest = bounds[it.bounds].earliest;
            request.latest = bounds[it.bounds].latest;
            request.guard = guards[it.guard];
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
        const firn__kept kept = {
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

int main(int count, char **arguments) {
    static char names[ENGINES][100];
    struct CMUnitTest tests[ENGINES + 2] = {cmocka_unit_test(the_law_keeps_its_promises),
                                            cmocka_unit_test(no_reservation_ends_after_its_guard)};
    for (size_t i = 0; i < ENGINES; i++) {
        if (!stores_wanted(&rows[i])) {
            continue; /* an entry without a name is not a test */
        }
        snprintf(names[i], sizeof names[i], "%s answers as the law says", rows[i].name);
        tests[i + 2] = (struct CMUnitTest){names[i], every_engine_follows_the_law, set_up,
                                           tear_down, (void *)(uintptr_t)&rows[i]};
    }
    stores_fast = true;
    if (count > 1) {
        cmocka_set_test_filter(arguments[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
