/* SPDX-License-Identifier: MIT */
/* Edge cases of stores: methods, URLs and requests that are refused, a store with wrong answers,
 * invalid modules, the place of the default store. geteuid here replaces libc's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "../src/store.h"
#include "generating.h"
#include <firn/store.h>

static uid_t user;

uid_t geteuid(void) {
    return user;
}

/* ---- stores ---------------------------------------------------------------------------------- */

static void methods_of_a_store_are_required(void **state) {
    firn_store_ops wrong[6];
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        firn_error error = {0};
        firn_store *store = NULL;
        wrong[i] = recorder_ops;
        switch (i) {
        case 0:
            wrong[i].version = 1;
            break;
        case 1:
            wrong[i].scheme = NULL;
            break;
        case 2:
            wrong[i].reserve = NULL;
            break;
        case 3:
            wrong[i].give_back = NULL;
            break;
        case 4:
            wrong[i].list = NULL;
            break;
        default:
            wrong[i].close = NULL;
        }
        assert_int_equal(firn_store_wrap(&store, &wrong[i], NULL, &error), FIRN_EUSAGE);
        error_text(&error, FIRN_EUSAGE, i == 0 ? "are of version 1, not 4" : "is missing");
        assert_null(store);
    }
}

/* A layout that no store keeps whole, a floor out of range: refused before the store is asked. */
static void changes_of_a_layout_are_checked(void **state) {
    static char longest[FIRN_LAYOUT_SIZE], longer[FIRN_LAYOUT_SIZE + 1];
    memset(longest, 'a', sizeof longest - 1);
    memset(longer, 'a', sizeof longer - 1);
    const struct {
        firn_relabel change;
        int code;
        const char *words;
    } cases[] = {
        {{"", "a", "b", 0}, FIRN_ERANGE, ""},
        {{"ids", "a", "", 0}, FIRN_ERANGE, "a layout has 1.."},
        {{"ids", "a", longer, 0}, FIRN_ERANGE, "a layout has 1.."},
        {{"ids", longer, "b", 0}, FIRN_ERANGE, "a layout has 1.."},
        {{"ids", "a", "b", -1}, FIRN_ERANGE, "a floor 0..2^62"},
        {{"ids", "a", "b", FIRN_SLOT_MAX + 1}, FIRN_ERANGE, "a floor 0..2^62"},
        {{"ids", longest, longest, FIRN_SLOT_MAX}, FIRN_EUSAGE, "cannot close a namespace"},
        {{"ids", NULL, "b", 0}, FIRN_EUSAGE, "but its layout cannot become 'b'"},
        {{"ids", "a", "b", 0}, FIRN_EUSAGE, "but its layout cannot become 'b'"},
    };
    firn_store *store = NULL;
    (void)state;
    assert_int_equal(firn_store_open(&store, "memory:", NULL, NULL), FIRN_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        firn_error error = {0};
        int64_t floor = 4711;
        assert_int_equal(firn_store_relabel(store, &cases[i].change, &floor, &error),
                         cases[i].code);
        error_text(&error, cases[i].code, cases[i].words);
        assert_int_equal(floor, 4711); /* untouched on failure */
    }
    firn_store_close(store);
}

static void check_url(const char *wrong_url, const char *words) {
    const firn_store_options options = {.module_dir = "/nowhere"};
    firn_error error = {0};
    firn_store *store = NULL;
    int code = firn_store_open(&store, wrong_url, &options, &error);
    assert_int_not_equal(code, FIRN_OK);
    error_text(&error, code, words);
    assert_null(store);
}

static void urls_are_checked(void **state) {
    char text[5000];
    static const char *const wrong[] = {
        "x", ":", "x:y", "", "SQLITE:x", "abcdefghijklmnopqrstuvwxyz012345:x", "sql ite:x"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        check_url(wrong[i], "");
    }
    memset(text, 'x', sizeof text - 1);
    memcpy(text, "sqlite:", 7);
    text[sizeof text - 1] = '\0';
    check_url(text, "the URL of the store has 4999 characters: use at most");
}

static void check_request(firn_request request, const char *ns, const char *layout, const char *key,
                          int code) {
    firn_error error = {0};
    firn_mark held = {0};
    int64_t first = -5;
    request.ns = ns;
    request.layout = layout;
    request.key = key;
    int found = firn_store_reserve(world.store, &request, &first, &held, &error);
    if (found != code) {
        fail_msg("%.20s %.20s %.20s count %d earliest %d: %s", ns, layout, key, (int)request.count,
                 (int)request.earliest, firn_errname(found));
    }
    if (code != FIRN_OK) {
        error_text(&error, code, "");
        assert_int_equal(first, -5);
    }
}

static void requests_are_checked(void **state) {
    const firn_request good = {.count = 10, .earliest = 0, .latest = 100, .grant = 7};
    char wide[1000];
    (void)state;
    memset(wide, 'x', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    check_request(good, "ns", "layout", "key", FIRN_OK);
    check_request(good, NULL, "layout", "key", FIRN_ERANGE);
    check_request(good, "", "layout", "key", FIRN_ERANGE);
    check_request(good, wide, "layout", "key", FIRN_ERANGE);
    check_request(good, "ns", "layout", NULL, FIRN_ERANGE);
    check_request(good, "ns", "layout", "", FIRN_ERANGE);
    check_request(good, "ns", "layout", wide, FIRN_ERANGE);
    check_request(good, "ns", NULL, "key", FIRN_ERANGE);
    check_request(good, "ns", "", "key", FIRN_ERANGE);
    check_request(good, "ns", wide, "key", FIRN_ERANGE);
    firn_request bad = good;
    bad.count = 0;
    check_request(bad, "ns", "layout", "key", FIRN_ERANGE);
    bad = good, bad.earliest = -1;
    check_request(bad, "ns", "layout", "key", FIRN_ERANGE);
    bad = good, bad.latest = -1;
    check_request(bad, "ns", "layout", "key", FIRN_ERANGE);
    bad = good, bad.latest = FIRN_SLOT_MAX;
    check_request(bad, "ns", "layout", "key", FIRN_ERANGE);
    const struct {
        const char *ns, *key;
        firn_mark mine;
        int64_t high;
    } backs[] = {
        {"", "key", {10, 7}, 5},    {"ns", "", {10, 7}, 5},     {"ns", "key", {10, 0}, 5},
        {"ns", "key", {10, 7}, -1}, {"ns", "key", {10, 7}, 11}, {"ns", "key", {INT64_MAX, 7}, 5},
    };
    for (size_t i = 0; i < sizeof backs / sizeof *backs; i++) {
        firn_error error = {0};
        assert_int_equal(firn_store_give_back(world.store, backs[i].ns, backs[i].key,
                                              &backs[i].mine, backs[i].high, &error),
                         FIRN_ERANGE);
        error_text(&error, FIRN_ERANGE, "");
    }
    const firn_mark other = {10, 8}, mine = {10, 7};
    assert_int_equal(firn_store_give_back(world.store, "ns", "key", &other, 5, NULL), FIRN_EBUSY);
    assert_int_equal(firn_store_give_back(world.store, "ns", "nothing", &mine, 5, NULL),
                     FIRN_EBUSY);
    assert_int_equal(firn_store_give_back(world.store, "ns", "key", &mine, 5, NULL), FIRN_OK);
}

/* ---- a store that answers wrongly ----------------------------------------------------------- */

/* The answer to the next reservation: the scripts of a test, counted up. */
static struct {
    int code;
    int64_t first;
    bool own_grant; /* busy by the grant of the request itself */
    int asked;
} lie;

static int lying_reserve(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                         firn_error *error) {
    (void)self;
    lie.asked++;
    *first = lie.first;
    *held = (firn_mark){request->latest, lie.own_grant ? request->grant : 3};
    if (lie.code != FIRN_OK && error != NULL) {
        *error = (firn_error){.code = lie.code, .text = "a lie: nothing can be done"};
    }
    return lie.code;
}

static int lying_give_back(void *self, const char *ns, const char *key, const firn_mark *mine,
                           int64_t high, firn_error *error) {
    (void)self, (void)ns, (void)key, (void)mine, (void)high, (void)error;
    return FIRN_EBUSY;
}

/* Invalid keys, and an invalid number. */
static int lying_list(void *self, const char *ns, firn_visit *visit, void *context,
                      firn_error *error) {
    static const char *const keys[] = {"x", "99999999999999999999999999", "-1", "1@x", "1"};
    int code = FIRN_OK;
    (void)self, (void)error;
    for (size_t i = 0; i < 5 && code == FIRN_OK; i++) {
        const firn_holding holding = {
            ns == NULL ? "ns" : ns, "layout", keys[i], "note", {FIRN_SLOT_MAX - 1, 3}};
        code = visit(context, &holding);
    }
    return code;
}

static firn_time store_time;
static int lying_now(void *self, firn_time *now, firn_error *error) {
    (void)self, (void)error;
    *now = store_time;
    return FIRN_OK;
}

static const char *lying_caution(void *self) {
    (void)self;
    return "it lies";
}

static void lying_close(void *self) {
    (void)self;
}

static const firn_store_ops lying_ops = {.version = FIRN_STORE_OPS_VERSION,
                                         .scheme = "lying",
                                         .reserve = lying_reserve,
                                         .give_back = lying_give_back,
                                         .list = lying_list,
                                         .now = lying_now,
                                         .caution = lying_caution,
                                         .close = lying_close};

static int world_of_lies(void **state) {
    memset(&lie, 0, sizeof lie);
    if (world_new(state) != 0) {
        return 1;
    }
    store_time = world.clock.base;
    firn_store_close(world.store);
    return firn_store_wrap(&world.store, &lying_ops, NULL, NULL);
}

static void slots_outside_of_a_request_are_not_believed(void **state) {
    static const int64_t wrong[] = {-1, INT64_MIN, INT64_MAX, 0};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        firn_error error = {0};
        firn_segment *segment = open_segment("start=5", FIRN_OK, "");
        int64_t value = -5;
        lie.first = wrong[i];
        int code = firn_segment_next(segment, &value, &error);
        assert_int_not_equal(code, FIRN_OK);
        error_text(&error, code, "");
        assert_int_equal(value, -5);
        firn_segment_close(segment, NULL);
        firn_gen *gen = NULL;
        code = try_open(&gen, "snowflake", "max_wait=0", false, &error);
        firn_id id;
        assert_int_not_equal(code == FIRN_OK ? firn_next(gen, &id, &error) : code, FIRN_OK);
        firn_close(gen, NULL);
    }
}

static void a_copy_of_the_process_is_found(void **state) {
    static const char *const kinds[] = {"kind=serial", "kind=segment",
                                        "kind=ticket increment=2 offset=1"};
    (void)state;
    lie.code = FIRN_EBUSY;
    lie.own_grant = true;
    for (size_t i = 0; i < 3; i++) {
        firn_error error = {0};
        firn_segment *segment = open_segment(kinds[i], FIRN_OK, "");
        int64_t value;
        assert_int_equal(firn_segment_next(segment, &value, &error), FIRN_ECLONED);
        error_text(&error, FIRN_ECLONED, "copy");
        assert_int_equal(firn_segment_block(segment, 5, &value, NULL), FIRN_ECLONED);
        assert_int_equal(firn_segment_advance(segment, 500, &value, NULL), FIRN_ECLONED);
        firn_segment_close(segment, NULL);
    }
}

static void each_failure_of_a_store_is_passed_on(void **state) {
    static const int codes[] = {FIRN_ESTORE, FIRN_EUNKNOWN, FIRN_ENAMESPACE,
                                FIRN_EBACK,  FIRN_EBUSY,    FIRN_EMEMORY};
    static const char *const schemes[] = {"snowflake", "sonyflake", "snowflake"};
    static const char *const keys[] = {"max_wait=0", "node=3 max_wait=0", "mode=online max_wait=0"};
    (void)state;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        firn_error error = {0};
        int64_t value;
        lie.code = codes[i];
        firn_segment *segment = open_segment("", FIRN_OK, "");
        int code = firn_segment_next(segment, &value, &error);
        assert_int_not_equal(code, FIRN_OK);
        error_text(&error, code, "");
        assert_int_not_equal(firn_segment_next(segment, &value, NULL),
                             FIRN_OK); /* nobody asks why */
        firn_segment_close(segment, NULL);
        for (size_t j = 0; j < 3; j++) {
            firn_gen *gen = NULL;
            firn_id id;
            code = try_open(&gen, schemes[j], keys[j], false, &error);
            code = code == FIRN_OK ? firn_next(gen, &id, &error) : code;
            assert_int_not_equal(code, FIRN_OK);
            error_text(&error, code, "");
            const firn_time past = {1700000000, 0};
            if (gen != NULL) {
                assert_int_not_equal(firn_at(gen, &past, &id, 1, &error), FIRN_OK);
                assert_int_not_equal(firn_at(gen, &past, &id, 1, NULL), FIRN_OK);
            }
            firn_close(gen, NULL);
        }
    }
}

static void a_store_whose_clock_is_far_off_is_reported(void **state) {
    static const int64_t offs[] = {-DAY, -20 * SECOND, 20 * SECOND, DAY};
    (void)state;
    for (size_t i = 0; i < sizeof offs / sizeof *offs; i++) {
        firn_error error = {0};
        firn_gen *gen = NULL;
        firn_id id;
        store_time = time_after(present(&world.clock), offs[i]);
        int code = try_open(&gen, "snowflake", "max_wait=0", false, &error);
        code = code == FIRN_OK ? firn_next(gen, &id, &error) : code;
        assert_int_equal(code, FIRN_ECLOCK);
        error_text(&error, FIRN_ECLOCK, "");
        firn_close(gen, NULL);
    }
}

/* ---- where a store is ------------------------------------------------------------------------ */

static void check_default(const char *state, const char *home, const char *words) {
    const firn_store_options options = {.must_exist = true};
    firn_error error = {0};
    firn_store *store = NULL;
    state == NULL ? unsetenv("XDG_STATE_HOME") : setenv("XDG_STATE_HOME", state, 1);
    home == NULL ? unsetenv("HOME") : setenv("HOME", home, 1);
    int code = firn_store_open(&store, NULL, &options, &error);
    if (code == FIRN_OK) {
        firn_store_close(store); /* this machine has one */
        return;
    }
    error_text(&error, code, words);
}

static void the_default_store_is_the_users_or_the_machines(void **state) {
    char wide[5000];
    (void)state;
    memset(wide, 'x', sizeof wide - 1);
    wide[0] = '/';
    wide[sizeof wide - 1] = '\0';
    for (int each = 0; each < 2; each++) {
        user = each == 0 ? 0 : 1000;
        check_default("/proc/none", "/proc/other", "/proc/none");
        check_default("relative", "/proc/other", each == 0 ? "/var/lib/firn" : "/proc/other");
        check_default(NULL, NULL, "/var/lib/firn");
        check_default(NULL, "relative", "/var/lib/firn");
        check_default(wide, NULL, "");
    }
    user = 0;
}

/* An invalid module, and another program's. */
static void modules_that_are_invalid_are_refused(void **state) {
    char folder[] = "/tmp/firn-edges-XXXXXX", path[64];
    const firn_store_options options = {.module_dir = folder};
    firn_error error = {0};
    firn_store *store = NULL;
    firn_order *order = NULL;
    const uint8_t key[16] = {1};
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/broken.so", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("no library\n", file);
    fclose(file);
    assert_int_equal(firn_store_open(&store, "broken:x", &options, &error), FIRN_EUSAGE);
    error_text(&error, FIRN_EUSAGE, "broken");
    unlink(path);
    const char *const names[] = {"other", "ff1"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s.so", folder, names[i]);
        assert_int_equal(symlink(FIRN_BUILD_DIR "/firn/sqlite.so", path), 0);
        if (i == 0) {
            assert_int_equal(firn_store_open(&store, "other:x", &options, &error), FIRN_ESYSTEM);
            error_text(&error, FIRN_ESYSTEM, "other");
        } else {
            assert_int_equal(firn_order_open(&order, "", key, folder, &error), FIRN_ESYSTEM);
            error_text(&error, FIRN_ESYSTEM, "");
        }
        unlink(path);
    }
    rmdir(folder);
    assert_null(store);
    assert_null(order);
}

/* The driver of the next module that is loaded is this one; NULL: its own. */
static const firn_driver *other_driver;
static bool no_driver;

void *__real_firn__module_symbol(void *module, const char *symbol);
void *__wrap_firn__module_symbol(void *module, const char *symbol) {
    void *real = __real_firn__module_symbol(module, symbol);
    if (strcmp(symbol, "firn_store_driver") == 0 && (no_driver || other_driver != NULL)) {
        return no_driver ? NULL : (void *)(uintptr_t)other_driver;
    }
    return real;
}

static const char *source_of_all(void *self, const char *ns) {
    (void)self;
    return ns;
}

static void driver_is_refused(const firn_driver *driver, const char *why) {
    const firn_store_options options = {.module_dir = FIRN_BUILD_DIR "/firn"};
    firn_error error = {0};
    firn_store *store = NULL;
    other_driver = driver;
    no_driver = driver == NULL;
    assert_int_equal(firn_store_open(&store, "sqlite:/nowhere/x", &options, &error), FIRN_ESYSTEM);
    error_text(&error, FIRN_ESYSTEM, why);
    assert_null(store);
    other_driver = NULL;
    no_driver = false;
}

/* firn/store.h says which methods a driver must have. */
static void modules_that_do_not_fit_are_refused(void **state) {
    firn_driver driver = firn__store_memory;
    (void)state;
    driver_is_refused(NULL, "is of another version");
    driver_is_refused(&driver, "is for URLs of memory");
    driver.scheme = NULL;
    driver_is_refused(&driver, "is for URLs of no kind");
    driver.scheme = "sqlite";
    driver.version = FIRN_DRIVER_VERSION + 1;
    driver_is_refused(&driver, "is of another version");
    driver.version = FIRN_DRIVER_VERSION - 1;
    driver_is_refused(&driver, "is of another version");
    for (int i = 0; i < 8; i++) {
        driver = firn__store_memory;
        driver.scheme = "sqlite";
        switch (i) {
        case 0:
            driver.open = NULL;
            break;
        case 1:
            driver.begin = NULL;
            break;
        case 2:
            driver.read = NULL;
            break;
        case 3:
            driver.write = NULL;
            break;
        case 4:
            driver.where = NULL;
            break;
        case 5:
            driver.list = NULL;
            break;
        case 6:
            driver.close = NULL;
            break;
        default:
            driver.source = source_of_all;
            break;
        }
        driver_is_refused(&driver, "lacks a method");
    }
}

/* ---- stores with many keys ------------------------------------------------------------------- */

static size_t many;

static int many_list(void *self, const char *ns, firn_visit *visit, void *context,
                     firn_error *error) {
    int code = FIRN_OK;
    (void)self, (void)error;
    for (size_t i = 0; i < many && code == FIRN_OK; i++) {
        char key[32];
        snprintf(key, sizeof key, "%zu", i);
        const firn_holding holding = {
            ns == NULL ? "ns" : ns, "layout", key, "note", {FIRN_SLOT_MAX - 1, 3}};
        code = visit(context, &holding);
    }
    return code;
}

static void many_nodes_are_listed(void **state) {
    static const size_t counts[] = {0, 255, 256, 1024, 70000};
    static firn_store_ops ops; /* outlives the store */
    (void)state;
    ops = lying_ops;
    ops.list = many_list;
    ops.now = NULL;
    ops.caution = NULL;
    lie.code = FIRN_EBUSY;
    firn_store_close(world.store);
    assert_int_equal(firn_store_wrap(&world.store, &ops, NULL, NULL), FIRN_OK);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        static const char *const schemes[] = {"snowflake", "sonyflake",
                                              "time:35/s@@2024-01-01 node:20 sequence:8"};
        many = counts[i];
        for (size_t j = 0; j < 3; j++) {
            firn_error error = {0};
            firn_gen *gen = NULL;
            firn_id id;
            const firn_time past = {1720000000, 0};
            int code = try_open(&gen, schemes[j], "max_wait=0", false, &error);
            code = code == FIRN_OK ? firn_next(gen, &id, &error) : code;
            assert_int_not_equal(code, FIRN_OK);
            error_text(&error, code, "");
            if (gen != NULL) {
                assert_int_not_equal(firn_at(gen, &past, &id, 1, &error), FIRN_OK);
            }
            firn_close(gen, NULL);
        }
    }
}

static void see_failpoint(void *self, const char *name) {
    assert_true(strlen(name) > 0);
    ++*(int *)self;
}

static void the_store_in_memory_has_failpoints(void **state) {
    int seen = 0, code;
    const firn_store_options options = {.failpoint = see_failpoint, .failpoint_self = &seen};
    firn_store *store = NULL;
    firn_request request = {
        .ns = "ns", .layout = "a", .key = "1", .count = 5, .latest = 50, .grant = 7};
    int64_t first;
    firn_mark held;
    (void)state;
    assert_int_equal(firn_store_open(&store, "memory:edges", &options, NULL), FIRN_OK);
    assert_int_equal(firn_store_reserve(store, &request, &first, &held, NULL), FIRN_OK);
    assert_true(seen > 0);
    request.layout = "b";
    code = firn_store_reserve(store, &request, &first, &held, NULL);
    assert_int_equal(code, FIRN_ENAMESPACE);
    for (int i = 0; i < 3000; i++) { /* the namespace grows */
        char key[32];
        snprintf(key, sizeof key, "%d", i);
        request.layout = "a";
        request.key = key;
        code = firn_store_reserve(store, &request, &first, &held, NULL);
        assert_true(code == FIRN_OK || i == 1);
    }
    firn_store_close(store);
}

static void a_store_of_the_generators_own_has_options(void **state) {
    static const char *const urls[] = {
        "memory:", "memory:own", "nothing:x", "sqlite:/proc/none/firn.db", "rediss://127.0.0.1:1/0",
        NULL};
    (void)state;
    setenv("XDG_STATE_HOME", "/proc/none", 1);
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        const firn_store_options options = {.wait_ms = i % 2 == 0 ? 0 : 100, .must_exist = true};
        const char *const keys[] = {"", "node=3", "worker=ticket datacenter=1"};
        for (size_t j = 0; j < 3; j++) {
            firn_error error = {0};
            firn_gen *gen = NULL;
            const firn_config config = {.size = sizeof config,
                                        .scheme = "snowflake",
                                        .keys = keys[j],
                                        .store_url = urls[i],
                                        .store_options = i == 1 ? NULL : &options,
                                        .clock = &world.hands,
                                        .entropy = &world.entropy};
            int code = firn_open_with(&gen, &config, &error);
            if (i < 2) {
                assert_int_equal(code, FIRN_OK);
                assert_int_equal(firn_close(gen, NULL), FIRN_OK);
            } else {
                assert_int_not_equal(code, FIRN_OK);
                error_text(&error, code, "");
                assert_null(gen);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_new, world_end)
#define LIES(name) cmocka_unit_test_setup_teardown(name, world_of_lies, world_end)
        TEST(methods_of_a_store_are_required),
        TEST(urls_are_checked),
        TEST(requests_are_checked),
        TEST(changes_of_a_layout_are_checked),
        LIES(slots_outside_of_a_request_are_not_believed),
        LIES(a_copy_of_the_process_is_found),
        LIES(each_failure_of_a_store_is_passed_on),
        LIES(a_store_whose_clock_is_far_off_is_reported),
        TEST(the_default_store_is_the_users_or_the_machines),
        TEST(modules_that_are_invalid_are_refused),
        TEST(modules_that_do_not_fit_are_refused),
        LIES(many_nodes_are_listed),
        TEST(the_store_in_memory_has_failpoints),
        TEST(a_store_of_the_generators_own_has_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
