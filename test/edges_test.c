/* SPDX-License-Identifier: MIT */
/* Edge cases of the public interface: arguments that are refused, hosts without addresses, failing
 * clocks, ends of layouts. Functions of libc that describe the host are replaced here. */
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

#include "generating.h"

/* ---- the host ------------------------------------------------------------------------------- */

static const char *host = "pod-7";
static struct ifaddrs *addresses; /* NULL: no interface */

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
    {"snowflake", "max_wait=-1", FIRN_EUSAGE, "max_wait"},
    {"snowflake", "max_wait=99999999999999999999999ms", FIRN_ERANGE, "max_wait"},
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
    {"snowflake", "worker=random datacenter=1", FIRN_EUSAGE, "worker=random"},
    {"region", "region=ticket worker=3", FIRN_EUSAGE, "only a part of the node takes one"},
    {"uuid4", "tick=5", FIRN_EUSAGE, "tick"},
    {"uuid4", "node=5", FIRN_EUSAGE, "uuid4 has no node"},
    {"time-member", "member=ticket", FIRN_OK, ""},
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
    {"node:10 time:41/ms@@2024-01-01 sequence:13", "unsigned=1", FIRN_OK, ""},
    {"time:41/ms@@2024-01-01 node:63 sequence:12", "", FIRN_OK, ""},
    {"time:41/ms@@2024-01-01 node:64 sequence:12", "", FIRN_EUSAGE, "at most 63"},
    {"time:20/s@@2024-01-01 sequence:4", "", FIRN_ELAYOUT, ""},
    {"time:35/s@@2030-01-01 sequence:4", "", FIRN_ELAYOUT, "2030"},
    {"nothing", "", FIRN_EUSAGE, "nothing"},
    {"snow\x7f\001", "", FIRN_EUSAGE, ""},
    {"", "", FIRN_EUSAGE, ""},
};

static void check_open(const char *scheme, const char *keys, int code, const char *words) {
    firn_error error = {0};
    firn_gen *gen = NULL;
    int found = try_open(&gen, scheme, keys, false, &error);
    if (found != code) {
        fail_msg("%s %s: %s %s", scheme, keys, firn_errname(found), error.text);
    }
    if (code != FIRN_OK) {
        error_text(&error, code, words);
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
        error_text(&error, code, wrong[i].words);
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
    assert_int_equal(firn_segment_peek(segment, &value, NULL), FIRN_EEND);
    assert_int_equal(firn_segment_next(segment, &value, NULL), FIRN_EEND);
    assert_int_equal(firn_segment_block(segment, 1, &value, NULL), FIRN_EEND);
    assert_int_equal(firn_segment_advance(segment, 100, &value, NULL), FIRN_EEND);
    assert_int_equal(value, -5);
    assert_int_equal(firn_segment_close(segment, NULL), FIRN_OK);
}

static void integers_of_two_kinds_have_two_names(void **state) {
    firn_error error = {0};
    int64_t value;
    (void)state;
    firn_segment *segment = open_segment("kind=serial", FIRN_OK, "");
    assert_int_equal(firn_segment_next(segment, &value, NULL), FIRN_OK);
    firn_segment *other = open_segment("kind=ticket increment=3 offset=1", FIRN_OK, "");
    assert_int_equal(firn_segment_next(other, &value, &error), FIRN_ENAMESPACE);
    error_text(&error, FIRN_ENAMESPACE, "kind");
    assert_int_equal(firn_segment_next(other, &value, NULL), FIRN_ENAMESPACE);
    firn_segment_close(segment, NULL);
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
    assert_true(code == FIRN_OK ? value >= before : code == FIRN_EEND);
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
    static const char *const schemes[] = {"snowflake", "uuid7", "ulid",   "objectid", "uuid1",
                                          "ksuid",     "tid",   "pushid", "scru128"};
    (void)state;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        for (int which = 0; which < 2; which++) {
            firn_error error = {0};
            firn_gen *gen = NULL;
            firn_id id;
            firn_status status = {.size = sizeof status};
            int64_t wait_ms;
            assert_int_equal(try_open(&gen, schemes[i], "clock=exact", false, &error), FIRN_OK);
            assert_int_equal(firn_next(gen, &id, &error), FIRN_OK);
            if (which == 0) {
                world.hands.wall = no_wall;
                assert_int_equal(firn_next(gen, &id, &error), FIRN_ECLOCK);
                error_text(&error, FIRN_ECLOCK, "");
            } else {
                world.hands.steady = no_steady;
                firn_next(gen, &id, &error); /* not every scheme looks at it */
            }
            firn_gen_status(gen, &status);
            assert_true(which == 1 || status.lead_ns == 0); /* nobody knows it */
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
    static const char *const schemes[] = {"snowflake", "uuid7",  "ulid",        "uuid1",
                                          "objectid",  "ksuid",  "time-random", "nano",
                                          "tid",       "pushid", "scru128",     "mastodon"};
    (void)state;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        for (size_t j = 0; j < sizeof seconds / sizeof *seconds; j++) {
            firn_error error = {0};
            firn_gen *gen = NULL;
            firn_id id;
            const firn_time usual = world.clock.base;
            if (try_open(&gen, schemes[i], "clock=exact back=fail", false, &error) != FIRN_OK) {
                continue;
            }
            world.clock.base = (firn_time){seconds[j], 999999999};
            int code = firn_next(gen, &id, &error);
            if (code != FIRN_OK) {
                error_text(&error, code, "");
            }
            firn_gen *late = NULL;
            code = try_open(&late, schemes[i], "", false, &error);
            if (code != FIRN_OK) {
                error_text(&error, code, "");
            }
            firn_close(late, NULL);
            const firn_time instant = {seconds[j], 5};
            code = firn_at(gen, &instant, &id, 1, &error);
            if (code != FIRN_OK) {
                error_text(&error, code, "");
            }
            world.clock.base = usual;
            firn_close(gen, NULL);
        }
    }
}

static int all_ones(void *self, void *out, size_t size) {
    (void)self;
    memset(out, 0xff, size);
    return FIRN_OK;
}

/* Three bits that are always 7 are never below 5. */
static void entropy_that_repeats_itself_issues_nothing(void **state) {
    firn_error error = {0};
    firn_gen *gen = NULL;
    firn_id id;
    (void)state;
    world.entropy.fill = all_ones;
    int code = try_open(&gen, "snowflake", "node=3 start=random:5", false, &error);
    for (int i = 0; code == FIRN_OK && i < 10; i++) {
        pass(&world.clock, 5 * MS);
        code = firn_next(gen, &id, &error);
    }
    assert_int_equal(code, FIRN_EENTROPY);
    error_text(&error, FIRN_EENTROPY, "entropy");
    firn_close(gen, NULL);
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
        error_text(&error, FIRN_ERANGE, "");
        assert_int_equal(firn_id_cmp(&id, &before), 0);
    }
    bytes[0] = 1;
    assert_int_equal(firn_id_from_bytes(&id, bytes, 9, NULL), FIRN_OK);
    assert_int_equal(firn_id_from_bytes(&id, bytes, 160, NULL), FIRN_OK);
}

static void a_renewer_needs_windows(void **state) {
    firn_error error = {0};
    firn_gen *gen = NULL;
    firn_id id;
    firn_config config = {.size = sizeof config,
                          .scheme = "snowflake",
                          .keys = "mode=online",
                          .store = world.store,
                          .clock = &world.hands,
                          .has_renewer = true};
    (void)state;
    int code = firn_open_with(&gen, &config, &error);
    code = code == FIRN_OK ? firn_next(gen, &id, &error) : code;
    assert_int_equal(code, FIRN_EUSAGE);
    error_text(&error, FIRN_EUSAGE, "has_renewer");
    firn_close(gen, NULL);
}

static void too_many_at_once_are_refused(void **state) {
    const firn_time past = {1700000000, 0};
    firn_error error = {0};
    firn_gen *gen = NULL;
    firn_id id;
    (void)state;
    assert_int_equal(try_open(&gen, "snowflake", "", false, &error), FIRN_OK);
    assert_int_equal(firn_at(gen, &past, &id, SIZE_MAX / 64, &error), FIRN_ERANGE);
    error_text(&error, FIRN_ERANGE, "");
    assert_int_equal(firn_next_n(gen, &id, SIZE_MAX / 64, &error), FIRN_ERANGE);
    assert_int_equal(firn_at(gen, &past, &id, 0, &error), FIRN_OK);
    assert_int_equal(firn_next_n(gen, &id, 0, &error), FIRN_OK);
    firn_close(gen, NULL);
}

static void series_are_named(void **state) {
    const uint8_t key[16] = {1};
    char wide[100];
    firn_order *order = NULL;
    firn_segment *segment = NULL;
    (void)state;
    memset(wide, 'x', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    const char *const names[] = {NULL, "", wide};
    if (firn_order_open(&order, "digits=8", key, FIRN_BUILD_DIR "/firn", NULL) != FIRN_OK) {
        skip(); /* no libcrypto */
    }
    for (size_t i = 0; i < 3; i++) {
        firn_error error = {0};
        assert_int_not_equal(firn_order_series(order, &segment, names[i], 1, world.store, &error),
                             FIRN_OK);
        error_text(&error, error.code, "");
        assert_null(segment);
    }
    firn_order_close(order);
}

/* ---- nodes of jobs --------------------------------------------------------------------------- */

/* Each takes one permanently. If the listing shows that none is left, no node is requested. */
static void jobs_use_up_the_nodes(void **state) {
    static const char *const names[] = {"one", "two", "three"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        firn_error error = {0};
        firn_job *job = NULL;
        const firn_job_config config = {.size = sizeof config,
                                        .scheme = "time:35/s@@2024-01-01 node:1 sequence:8",
                                        .store = world.store,
                                        .name = names[i],
                                        .digest = 7};
        int before = world.log.reserves, code = firn_job_open(&job, &config, &error);
        assert_int_equal(code, i < 2 ? FIRN_OK : FIRN_EEND);
        if (code != FIRN_OK) {
            error_text(&error, code, "");
            assert_in_range(world.log.reserves - before, 0, 1); /* of the name */
        }
        firn_job_close(job);
    }
}

/* ---- the end of a layout --------------------------------------------------------------------- */

/* At every distance from the end either an ID comes that is within the layout, or a sentence. */
static void check_end(const char *scheme, const char *keys, int64_t end_s) {
    for (int64_t before_ms = 0; before_ms <= 16000; before_ms += before_ms < 3000 ? 250 : 2000) {
        firn_error error = {0};
        firn_gen *gen = NULL;
        world.clock.base = (firn_time){end_s - before_ms / 1000 - 1, 0};
        step(&world.clock, (1000 - before_ms % 1000) * MS);
        int code = try_open(&gen, scheme, keys, false, &error);
        for (int i = 0; code == FIRN_OK && i < 40; i++) {
            firn_id ids[500];
            int64_t wait_ms;
            const firn_time instant = {end_s - 1, 0};
            code = firn_next_n(gen, ids, i % 2 == 0 ? 1 : 500, &error);
            if (i % 8 == 0) {
                firn_at(gen, &instant, ids, 500, NULL);
                firn_gen_step(gen, &wait_ms, NULL);
            }
            pass(&world.clock, 200 * MS);
        }
        if (code != FIRN_OK) {
            error_text(&error, code, "");
        }
        firn_close(gen, NULL);
        world.clock = (simulated){.base = world.clock.base};
        atomic_store(&world.clock.steady_ns, 77 * SECOND);
    }
}

static void layouts_end_with_a_sentence(void **state) {
    static const char *const layouts[] = {
        "time:24/s@@2025-04-18 node:4 sequence:6", "time:24/s@@2025-04-18 node:4 sequence:12",
        "time:24/s@@2025-04-18 sequence:6", "time:24/s@@2025-04-18 random:40",
        "time:24/s@@2025-04-18 counter:10 random:30"};
    static const char *const keys[] = {"",          "mode=online",   "ordering=thread",
                                       "full=wait", "history=job",   "clock=exact",
                                       "nodes=3",   "start=random:8"};
    const int64_t end_s = 1744934400 + (1 << 24); /* of each of them */
    (void)state;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        for (size_t j = 0; j < sizeof keys / sizeof *keys; j++) {
            check_end(layouts[i], keys[j], end_s);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_new, world_end)
        TEST(configurations_are_checked),
        TEST(a_host_tells_its_number_and_its_addresses),
        TEST(integers_are_checked),
        TEST(integers_of_two_kinds_have_two_names),
        TEST(lost_replies_repeat_no_integer),
        TEST(a_clock_that_fails_stops_everything),
        TEST(a_clock_beyond_all_layouts_is_refused),
        TEST(entropy_that_repeats_itself_issues_nothing),
        TEST(codes_have_names_and_sentences),
        TEST(ids_have_1_to_160_bits),
        TEST(a_renewer_needs_windows),
        TEST(too_many_at_once_are_refused),
        TEST(series_are_named),
        TEST(jobs_use_up_the_nodes),
        TEST(layouts_end_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
