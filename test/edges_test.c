/* SPDX-License-Identifier: MIT */
/* The edges of the public interface: arguments that are refused, stores that answer wrongly, hosts without addresses. The
 * first two are tables. Functions of libc that tell of the host are defined here, before libc's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "simulated.h"

/* ---- the host ------------------------------------------------------------------------------- */

static const char *host = "pod-7";
static struct ifaddrs *addresses; /* NULL: no interface */
static uid_t user;

int gethostname(char *out, size_t size) {
    snprintf(out, size, "%s", host);
    return 0;
}

int getifaddrs(struct ifaddrs **out) {
    *out = addresses;
    return 0;
}

void freeifaddrs(struct ifaddrs *list) {
    (void)list;
}

uid_t geteuid(void) {
    return user;
}

static int try_open(firn_gen **gen, const char *scheme, const char *keys, firn_error *error) {
    const firn_config config = {.size = sizeof config,
                                .scheme = scheme,
                                .keys = keys,
                                .store = world.store,
                                .clock = &world.hands,
                                .entropy = &world.entropy,
                                .note = "test"};
    return firn_open_with(gen, &config, error);
}

/* ---- arguments that are refused ------------------------------------------------------------- */

static const struct {
    const char *scheme, *keys;
    int code;
    const char *words; /* FIRN_OK: it is opened */
} opens[] = {
    {"snowflake", "node=ordinal", FIRN_OK, ""},
    {"snowflake", "worker=ordinal datacenter=1", FIRN_OK, ""},
    {"snowflake", "node=2000", FIRN_ERANGE, "2000"},
    {"snowflake", "node=99999999999999999999", FIRN_ERANGE, "99999999999999999999"},
    {"snowflake", "node=x", FIRN_EUSAGE, "node=x"},
    {"snowflake", "node=self", FIRN_EUSAGE, "node=self"},
    {"snowflake", "node=random", FIRN_EUSAGE, "node=random"},
    {"snowflake", "node=ip", FIRN_ESYSTEM, "node=ip"},
    {"snowflake", "node=host", FIRN_ESYSTEM, "node=host"},
    {"snowflake", "node=3 worker=3", FIRN_EUSAGE, "worker"},
    {"snowflake", "worker=3 worker=4", FIRN_EUSAGE, "worker"},
    {"snowflake", "worker=ticket datacenter=3", FIRN_OK, ""},
    {"snowflake", "worker=ticket", FIRN_OK, ""},
    {"snowflake", "tick=3", FIRN_EUSAGE, "time"},
    {"snowflake", "time=3", FIRN_EUSAGE, "time"},
    {"snowflake", "sequence=3", FIRN_EUSAGE, "sequence"},
    {"snowflake", "nothing=3", FIRN_EUSAGE, "nothing"},
    {"snowflake", "nodes=3 mode=online", FIRN_EUSAGE, "nodes"},
    {"snowflake", "nodes=65", FIRN_ERANGE, "nodes"},
    {"snowflake", "max_wait_ms=-1", FIRN_ERANGE, "max_wait_ms"},
    {"snowflake", "max_wait_ms=99999999999999999999999", FIRN_ERANGE, "max_wait_ms"},
    {"snowflake", "start=random:0", FIRN_ERANGE, "start"},
    {"snowflake", "start=nothing", FIRN_EUSAGE, "start"},
    {"snowflake", "start=random:100000", FIRN_ERANGE, "start"},
    {"snowflake", "bits=1/2", FIRN_EUSAGE, "bits"},
    {"snowflake", "digits=3", FIRN_EUSAGE, "digits"},
    {"uuid7", "node=3", FIRN_EUSAGE, "node"},
    {"uuid7", "worker=ticket", FIRN_EUSAGE, "worker"},
    {"uuid7", "version=3", FIRN_EUSAGE, "version"},
    {"uuid4", "nodes=2", FIRN_EUSAGE, "nodes"},
    {"uuid1", "node=random", FIRN_OK, ""},
    {"objectid", "pid=self", FIRN_EUSAGE, "pid"},
    {"xid", "pid=self machine=3", FIRN_OK, ""},
    {"xid", "pid=nothing machine=3", FIRN_EUSAGE, "self"},
    {"snowflake", "bits=41/10/12", FIRN_EUSAGE, "bits"},
    {"time-random", "node=7 digits=3", FIRN_OK, ""},
    {"time-random", "node=random", FIRN_EUSAGE, "node"},
    {"time-random", "digits=19", FIRN_ERANGE, "digits"},
    {"time:41/ms@@2024-01-01 node:10 user:3 sequence:10", "user=ticket node=3", FIRN_OK, ""},
    {"time:41/ms@@2024-01-01 node:10 user:3 sequence:10", "node=3 user=9", FIRN_ERANGE, "user"},
    {"time:41/ms@@2024-01-01 node:10 user:3 sequence:10", "node=3 user=2", FIRN_OK, ""},
    {"time:41/ms sequence:10 counter:10", "", FIRN_EUSAGE, "counter"},
    {"time:41/ms random:10", "", FIRN_EUSAGE, "20"},
    {"time:41/ms random:30", "", FIRN_OK, ""},
    {"time:41/ms node:10", "node=3", FIRN_OK, ""},
    {"time:60/us@@2025-01-01 sequence:4", "", FIRN_OK, ""},
    {"time:61/us node:20 sequence:30", "node=1", FIRN_ELAYOUT, "ended"},
    {"node:10 sequence:10", "node=1", FIRN_EUSAGE, "time"},
    {"node:1 time:41/ms@@2024-01-01 sequence:22", "", FIRN_OK, ""},
    {"node:1 time:41/ms@@2024-01-01 sequence:22", "unsigned=1", FIRN_OK, ""},
    {"time:20/s@@2024-01-01 sequence:4", "", FIRN_ELAYOUT, ""},
    {"time:35/s@@2030-01-01 sequence:4", "", FIRN_ELAYOUT, "2030"},
    {"nothing", "", FIRN_EUSAGE, "nothing"},
    {"", "", FIRN_EUSAGE, ""},
};

static void check_open(const char *scheme, const char *keys, int code, const char *words) {
    firn_error error = {0};
    firn_gen *gen = NULL;
    int found = try_open(&gen, scheme, keys, &error);
    if (found != code) {
        fail_msg("%s %s: %s %s", scheme, keys, firn_errname(found), error.text);
    }
    if (code != FIRN_OK) {
        said(&error, code, words);
        assert_null(gen);
        return;
    }
    firn_id id;
    assert_int_equal(firn_next(gen, &id, NULL), FIRN_OK);
    assert_int_equal(firn_close(gen, NULL), FIRN_OK);
}

static void configurations_are_checked(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof opens / sizeof *opens; i++) {
        check_open(opens[i].scheme, opens[i].keys, opens[i].code, opens[i].words);
    }
}

static void a_host_tells_its_number_and_its_addresses(void **state) {
    struct sockaddr_in ip = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x0a010203)};
    struct sockaddr_ll mac = {
        .sll_family = AF_PACKET, .sll_halen = 6, .sll_addr = {0, 0, 0, 0, 1, 2}};
    struct sockaddr_ll none = {.sll_family = AF_PACKET, .sll_halen = 0};
    struct ifaddrs list[] = {
        {.ifa_next = &list[1], .ifa_flags = IFF_UP},
        {.ifa_next = &list[2],
         .ifa_flags = IFF_UP | IFF_LOOPBACK,
         .ifa_addr = (struct sockaddr *)&ip},
        {.ifa_next = &list[3], .ifa_flags = 0, .ifa_addr = (struct sockaddr *)&ip},
        {.ifa_next = &list[4], .ifa_flags = IFF_UP, .ifa_addr = (struct sockaddr *)&none},
        {.ifa_next = &list[5], .ifa_flags = IFF_UP, .ifa_addr = (struct sockaddr *)&mac},
        {.ifa_flags = IFF_UP, .ifa_addr = (struct sockaddr *)&ip},
    };
    static const char *const nameless[] = {"pod",    "pod-",  "pod-x",
                                           "pod-7x", "pod--", "pod-99999999999999999999999999"};
    (void)state;
    addresses = list;
    check_open("sonyflake", "node=ip", FIRN_OK, "");
    check_open("uuid1", "node=host", FIRN_OK, "");
    addresses = NULL;
    for (size_t i = 0; i < sizeof nameless / sizeof *nameless; i++) {
        host = nameless[i];
        check_open("snowflake", "node=ordinal", FIRN_EUSAGE, "node=ordinal");
    }
    host = "pod-1024";
    check_open("snowflake", "node=ordinal", FIRN_ERANGE, "ordinal");
    host = "pod-7";
}

/* ---- stores ----------------------------------------------------------------------------------- */

static void methods_of_a_store_are_required(void **state) {
    firn_store_ops wrong[6];
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        firn_error error = {0};
        firn_store *store = NULL;
        wrong[i] = recorder_ops;
        switch (i) {
        case 0:
            wrong[i].version = 2;
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
        said(&error, FIRN_EUSAGE, "");
        assert_null(store);
    }
}

static void check_url(const char *wrong_url, const char *words) {
    const firn_store_options options = {.module_dir = "/nowhere"};
    firn_error error = {0};
    firn_store *store = NULL;
    int code = firn_store_open(&store, wrong_url, &options, &error);
    assert_int_not_equal(code, FIRN_OK);
    said(&error, code, words);
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
    check_url(text, "sqlite");
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
        said(&error, code, "");
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
        said(&error, FIRN_ERANGE, "");
    }
    const firn_mark other = {10, 8}, mine = {10, 7};
    assert_int_equal(firn_store_give_back(world.store, "ns", "key", &other, 5, NULL), FIRN_EBUSY);
    assert_int_equal(firn_store_give_back(world.store, "ns", "nothing", &mine, 5, NULL),
                     FIRN_EBUSY);
    assert_int_equal(firn_store_give_back(world.store, "ns", "key", &mine, 5, NULL), FIRN_OK);
}

/* ---- a store that answers wrongly ----------------------------------------------------------- */

/* What the next reservation answers: counted up, the scripts of a test. */
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
        *error = (firn_error){lie.code, "a lie: nothing can be done"};
    }
    return lie.code;
}

static int lying_give_back(void *self, const char *ns, const char *key, const firn_mark *mine,
                           int64_t high, firn_error *error) {
    (void)self, (void)ns, (void)key, (void)mine, (void)high, (void)error;
    return FIRN_EBUSY;
}

/* Keys that are none, and a name that is no number. */
static int lying_list(void *self, const char *ns, firn_visit *visit, void *context,
                      firn_error *error) {
    static const char *const keys[] = {"x", "99999999999999999999999999", "-1", "1@x", "1"};
    int code = FIRN_OK;
    (void)self, (void)error;
    for (size_t i = 0; i < 5 && code == FIRN_OK; i++) {
        const firn_holding one = {
            ns == NULL ? "ns" : ns, "layout", keys[i], "note", {FIRN_SLOT_MAX - 1, 3}};
        code = visit(context, &one);
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

static const firn_store_ops lying_ops = {.version = 1,
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

static firn_segment *open_segment(const char *keys, int code, const char *words) {
    firn_error error = {0};
    firn_segment *segment = NULL;
    int found = firn_segment_open(&segment, "orders", keys, world.store, &world.hands, &error);
    if (found != code) {
        fail_msg("%s: %s %s", keys, firn_errname(found), error.text);
    }
    if (code != FIRN_OK) {
        said(&error, code, words);
        assert_null(segment);
    }
    return segment;
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
        said(&error, code, "");
        assert_int_equal(value, -5);
        firn_segment_close(segment, NULL);
        firn_gen *gen = NULL;
        code = try_open(&gen, "snowflake", "max_wait_ms=0", &error);
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
        said(&error, FIRN_ECLONED, "copy");
        assert_int_equal(firn_segment_block(segment, 5, &value, NULL), FIRN_ECLONED);
        assert_int_equal(firn_segment_advance(segment, 500, &value, NULL), FIRN_ECLONED);
        firn_segment_close(segment, NULL);
    }
}

static void each_failure_of_a_store_is_passed_on(void **state) {
    static const int codes[] = {FIRN_ESTORE, FIRN_EUNKNOWN, FIRN_ENAMESPACE,
                                FIRN_EBACK,  FIRN_EBUSY,    FIRN_EMEMORY};
    static const char *const schemes[] = {"snowflake", "sonyflake", "snowflake"};
    static const char *const keys[] = {"max_wait_ms=0", "node=3 max_wait_ms=0",
                                       "mode=online max_wait_ms=0"};
    (void)state;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        firn_error error = {0};
        int64_t value;
        lie.code = codes[i];
        firn_segment *segment = open_segment("", FIRN_OK, "");
        int code = firn_segment_next(segment, &value, &error);
        assert_int_not_equal(code, FIRN_OK);
        said(&error, code, "");
        assert_int_not_equal(firn_segment_next(segment, &value, NULL),
                             FIRN_OK); /* nobody asks why */
        firn_segment_close(segment, NULL);
        for (size_t j = 0; j < 3; j++) {
            firn_gen *gen = NULL;
            firn_id id;
            code = try_open(&gen, schemes[j], keys[j], &error);
            code = code == FIRN_OK ? firn_next(gen, &id, &error) : code;
            assert_int_not_equal(code, FIRN_OK);
            said(&error, code, "");
            const firn_time past = {1700000000, 0};
            if (gen != NULL) {
                assert_int_not_equal(firn_at(gen, &past, &id, 1, &error), FIRN_OK);
                assert_int_not_equal(firn_at(gen, &past, &id, 1, NULL), FIRN_OK);
            }
            firn_close(gen, NULL);
        }
    }
}

static void a_store_whose_clock_is_far_off_is_told(void **state) {
    static const int64_t offs[] = {-DAY, -20 * SECOND, 20 * SECOND, DAY};
    (void)state;
    for (size_t i = 0; i < sizeof offs / sizeof *offs; i++) {
        firn_error error = {0};
        firn_gen *gen = NULL;
        firn_id id;
        store_time = time_after(present(&world.clock), offs[i]);
        int code = try_open(&gen, "snowflake", "max_wait_ms=0", &error);
        code = code == FIRN_OK ? firn_next(gen, &id, &error) : code;
        assert_int_equal(code, FIRN_ECLOCK);
        said(&error, FIRN_ECLOCK, "");
        firn_close(gen, NULL);
    }
}

/* ---- integers ------------------------------------------------------------------------------- */

static void integers_are_checked(void **state) {
    static const struct {
        const char *keys;
        int code;
        const char *words;
    } wrong[] = {
        {"kind=nothing", FIRN_EUSAGE, "kind"},
        {"step=0", FIRN_ERANGE, "step"},
        {"step=x", FIRN_EUSAGE, "step"},
        {"end=-1", FIRN_ERANGE, "end"},
        {"start=10 end=5", FIRN_ERANGE, "5"},
        {"kind=ticket increment=5 offset=4 end=3", FIRN_ERANGE, "offset"},
        {"kind=ticket increment=5 offset=6", FIRN_ERANGE, "offset"},
        {"nothing=5", FIRN_EUSAGE, "nothing"},
    };
    int64_t value = -5, count = -5;
    bool due;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        firn_error error = {0};
        firn_segment *segment = NULL;
        int code =
            firn_segment_open(&segment, "orders", wrong[i].keys, world.store, &world.hands, &error);
        if (code == FIRN_OK || error.text[0] == '\0') {
            fail_msg("%s was taken", wrong[i].keys);
        }
        said(&error, code, wrong[i].words);
    }
    firn_segment *segment = open_segment("start=5 end=100", FIRN_OK, "");
    assert_int_equal(firn_segment_take(segment, 0, &value, &count, &due, NULL), FIRN_ERANGE);
    assert_int_equal(firn_segment_take(segment, 5, &value, &count, NULL, NULL), FIRN_EWINDOW);
    assert_int_equal(firn_segment_exact(segment, 0, true, &value, &due, NULL), FIRN_ERANGE);
    assert_int_equal(firn_segment_exact(segment, INT64_MAX, true, &value, &due, NULL), FIRN_ERANGE);
    assert_int_equal(firn_segment_exact(segment, 5, false, &value, NULL, NULL), FIRN_EWINDOW);
    assert_int_equal(firn_segment_block(segment, 0, &value, NULL), FIRN_ERANGE);
    assert_int_equal(firn_segment_block(segment, INT64_MAX, &value, NULL), FIRN_ERANGE);
    assert_int_equal(firn_segment_advance(segment, -1, &value, NULL), FIRN_ERANGE);
    assert_int_equal(firn_segment_advance(segment, 500, &value, NULL), FIRN_ERANGE);
    assert_int_equal(value, -5);
    assert_int_equal(firn_segment_peek(segment, &value, NULL), FIRN_OK);
    assert_int_equal(value, 5);
    assert_int_equal(firn_segment_block(segment, 96, &value, NULL), FIRN_OK);
    assert_int_equal(value, 5);
    value = -5;
    assert_int_equal(firn_segment_peek(segment, &value, NULL), FIRN_EEXHAUSTED);
    assert_int_equal(firn_segment_next(segment, &value, NULL), FIRN_EEXHAUSTED);
    assert_int_equal(firn_segment_block(segment, 1, &value, NULL), FIRN_EEXHAUSTED);
    assert_int_equal(firn_segment_advance(segment, 100, &value, NULL), FIRN_EEXHAUSTED);
    assert_int_equal(value, -5);
    assert_int_equal(firn_segment_close(segment, NULL), FIRN_OK);
}

static void integers_of_two_kinds_have_two_names(void **state) {
    firn_error error = {0};
    int64_t value;
    (void)state;
    firn_segment *one = open_segment("kind=serial", FIRN_OK, "");
    assert_int_equal(firn_segment_next(one, &value, NULL), FIRN_OK);
    firn_segment *other = open_segment("kind=ticket increment=3 offset=1", FIRN_OK, "");
    assert_int_equal(firn_segment_next(other, &value, &error), FIRN_ENAMESPACE);
    said(&error, FIRN_ENAMESPACE, "kind");
    assert_int_equal(firn_segment_next(other, &value, NULL), FIRN_ENAMESPACE);
    firn_segment_close(one, NULL);
    firn_segment_close(other, NULL);
}

/* A lost reply may cost integers, and none is handed out twice. */
static void lost_replies_repeat_no_integer(void **state) {
    int64_t value, before = 0;
    (void)state;
    firn_segment *segment = open_segment("kind=serial end=12", FIRN_OK, "");
    for (int lost = 1; lost <= 2; lost++) {
        world.log.fate = FATE_LOST;
        world.log.fated = lost;
        assert_int_equal(firn_segment_next(segment, &value, NULL), FIRN_OK);
        assert_true(value > before);
        before = value;
    }
    world.log.fated = 1;
    assert_int_equal(firn_segment_advance(segment, 10, &value, NULL), FIRN_OK);
    assert_in_range(value, 10, 12);
    before = value;
    world.log.fated = 1; /* the last block: sent again it meets its own mark */
    int code = firn_segment_block(segment, 13 - value, &value, NULL);
    assert_true(code == FIRN_OK ? value >= before : code == FIRN_EEXHAUSTED);
    firn_segment_close(segment, NULL);
}

/* ---- clocks ---------------------------------------------------------------------------------- */

static int no_wall(void *self, firn_time *now) {
    (void)self, (void)now;
    return FIRN_ECLOCK;
}

static int no_steady(void *self, int64_t *ns) {
    (void)self, (void)ns;
    return FIRN_ECLOCK;
}

static void a_clock_that_fails_stops_everything(void **state) {
    static const char *const schemes[] = {"snowflake", "uuid7", "ulid",
                                          "objectid",  "uuid1", "ksuid"};
    (void)state;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        for (int which = 0; which < 2; which++) {
            firn_error error = {0};
            firn_gen *gen = NULL;
            firn_id id;
            firn_status status = {.size = sizeof status};
            int64_t wait_ms;
            assert_int_equal(try_open(&gen, schemes[i], "clock=exact", &error), FIRN_OK);
            assert_int_equal(firn_next(gen, &id, &error), FIRN_OK);
            if (which == 0) {
                world.hands.wall = no_wall;
                assert_int_equal(firn_next(gen, &id, &error), FIRN_ECLOCK);
                said(&error, FIRN_ECLOCK, "");
            } else {
                world.hands.steady = no_steady;
                firn_next(gen, &id, &error); /* not every scheme looks at it */
            }
            firn_gen_status(gen, &status); /* zeros where nothing can be known */
            firn_gen_step(gen, &wait_ms, NULL);
            world.hands = clock_on(&world.clock);
            assert_int_equal(firn_next(gen, &id, &error), FIRN_OK);
            firn_close(gen, NULL);
        }
    }
    world.hands.steady = no_steady;
    firn_segment *segment = open_segment("kind=segment", FIRN_OK, "");
    int64_t value;
    assert_int_equal(firn_segment_next(segment, &value, NULL), FIRN_ECLOCK);
    firn_segment_close(segment, NULL);
}

/* Years that no layout reaches. */
static void a_clock_beyond_all_layouts_is_refused(void **state) {
    static const int64_t seconds[] = {INT64_MAX, INT64_MIN, -1, 253402300800, 4000000000000000};
    static const char *const schemes[] = {"snowflake", "uuid7", "ulid",        "uuid1",
                                          "objectid",  "ksuid", "time-random", "nano"};
    (void)state;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        for (size_t j = 0; j < sizeof seconds / sizeof *seconds; j++) {
            firn_error error = {0};
            firn_gen *gen = NULL;
            firn_id id;
            const firn_time usual = world.clock.base;
            if (try_open(&gen, schemes[i], "clock=exact back=fail", &error) != FIRN_OK) {
                continue;
            }
            world.clock.base = (firn_time){seconds[j], 999999999};
            int code = firn_next(gen, &id, &error);
            if (code != FIRN_OK) {
                said(&error, code, "");
            }
            firn_gen *late = NULL;
            code = try_open(&late, schemes[i], "", &error);
            if (code != FIRN_OK) {
                said(&error, code, "");
            }
            firn_close(late, NULL);
            const firn_time at = {seconds[j], 5};
            code = firn_at(gen, &at, &id, 1, &error);
            if (code != FIRN_OK) {
                said(&error, code, "");
            }
            world.clock.base = usual;
            firn_close(gen, NULL);
        }
    }
}

/* ---- small things ---------------------------------------------------------------------------- */

static void codes_have_names_and_sentences(void **state) {
    (void)state;
    assert_string_equal(firn_errname(FIRN_OK), "OK");
    assert_string_equal(firn_errname(12345), "?");
    assert_string_equal(firn_errname(-12345), "?");
    for (int code = 0; strcmp(firn_errname(code), "?") != 0; code--) {
        assert_true(strlen(firn_errname(code)) >= 2);
        assert_true(strlen(firn_strerror(code)) >= 4);
        assert_string_not_equal(firn_strerror(code), firn_strerror(12345));
    }
    assert_true(strlen(firn_strerror(12345)) >= 4);
    static const char *const names[] = {"snowflake", "sonyflake", "ulid",
                                        "a-name-that-is-longer-than-thirty-one-bytes", NULL};
    assert_string_equal(firn_nearest("SNOWFLAK", names), "snowflake");
    assert_null(firn_nearest("", names));
    assert_null(firn_nearest("zzzzzzzzzzzz", names));
    assert_null(firn_nearest("a-name-that-is-longer-than-thirty-one-byte", names));
}

static void ids_have_1_to_160_bits(void **state) {
    uint8_t bytes[21] = {0xff, 0xff};
    firn_id id = {1, 2, 3, 4};
    const firn_id before = id;
    (void)state;
    static const uint32_t wrong[] = {0, 161, UINT32_MAX, 1, 7, 9, 15};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        firn_error error = {0};
        assert_int_equal(firn_id_from_bytes(&id, bytes, wrong[i], &error), FIRN_ERANGE);
        said(&error, FIRN_ERANGE, "");
        assert_int_equal(firn_id_cmp(&id, &before), 0);
    }
    bytes[0] = 1;
    assert_int_equal(firn_id_from_bytes(&id, bytes, 9, NULL), FIRN_OK);
    assert_int_equal(firn_id_from_bytes(&id, bytes, 160, NULL), FIRN_OK);
}

static void too_many_at_once_are_refused(void **state) {
    const firn_time past = {1700000000, 0};
    firn_error error = {0};
    firn_gen *gen = NULL;
    firn_id id;
    (void)state;
    assert_int_equal(try_open(&gen, "snowflake", "", &error), FIRN_OK);
    assert_int_equal(firn_at(gen, &past, &id, SIZE_MAX / 64, &error), FIRN_ERANGE);
    said(&error, FIRN_ERANGE, "");
    assert_int_equal(firn_next_n(gen, &id, SIZE_MAX / 64, &error), FIRN_ERANGE);
    assert_int_equal(firn_at(gen, &past, &id, 0, &error), FIRN_OK);
    assert_int_equal(firn_next_n(gen, &id, 0, &error), FIRN_OK);
    firn_close(gen, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_new, world_end)
#define LIES(name) cmocka_unit_test_setup_teardown(name, world_of_lies, world_end)
        TEST(configurations_are_checked),
        TEST(a_host_tells_its_number_and_its_addresses),
        TEST(methods_of_a_store_are_required),
        TEST(urls_are_checked),
        TEST(requests_are_checked),
        LIES(slots_outside_of_a_request_are_not_believed),
        LIES(a_copy_of_the_process_is_found),
        LIES(each_failure_of_a_store_is_passed_on),
        LIES(a_store_whose_clock_is_far_off_is_told),
        TEST(integers_are_checked),
        TEST(integers_of_two_kinds_have_two_names),
        TEST(lost_replies_repeat_no_integer),
        TEST(a_clock_that_fails_stops_everything),
        TEST(a_clock_beyond_all_layouts_is_refused),
        TEST(codes_have_names_and_sentences),
        TEST(ids_have_1_to_160_bits),
        TEST(too_many_at_once_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
