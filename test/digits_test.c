/* SPDX-License-Identifier: MIT */
/* The digits of time-random, which nodes share, and of time-member: a permutation of all numbers,
 * one key per namespace, and never the same ID from two nodes. */
#include "shuffle.h"

#include <firn/firn.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "generating.h"

/* ---- the permutation ------------------------------------------------------------------------ */

/* As `openssl mac siphash` prints them; the first is the 17th answer of SipHash's authors. */
static void the_hash_is_siphash(void **state) {
    static const struct {
        uint64_t key[2], first, second, hash;
    } answers[] = {
        {{0x0706050403020100, 0x0f0e0d0c0b0a0908},
         0x0706050403020100,
         0x0f0e0d0c0b0a0908,
         0x3f2acc7f57c29bdb},
        {{0x0000000000000000, 0x0000000000000000},
         0x0000000000000000,
         0x0000000000000000,
         0x32caecc280172976},
        {{0xffffffffffffffff, 0xffffffffffffffff},
         0xffffffffffffffff,
         0xffffffffffffffff,
         0x1a27dd859ed29a2e},
        {{0x91b7584a2265b1f5, 0xcd613e30d8f16adf},
         0x1027c4d1c386bbc4,
         0x1e2feb89414c343c,
         0x1cf53f434e585072},
        {{0xc2ce6f447ed4d57b, 0x78e510617311d8a3},
         0x612e7696a6cecc1b,
         0x35bf992dc9e9c616,
         0xe0fb7fe44084892b},
        {{0x7ce42c8218072e8c, 0xe4b06ce60741c7a8},
         0x63ca828dd5f4b3b2,
         0x9b810e766ec9d286,
         0xf2ce52fd6898c16a},
        {{0xc4647159c324c985, 0xb2221a58008a05a6},
         0x442e3d437204e52d,
         0xcd447e35b8b6d8fe,
         0x29ee4de5d9c56f20},
    };
    (void)state;
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        assert_true(
            firn__siphash(answers[i].key,
                          (uint64_t[]){answers[i].first, answers[i].second, UINT64_C(16) << 56},
                          3) == answers[i].hash);
    }
}

static uint64_t ten_to(uint32_t n) {
    return n == 0 ? 1 : 10 * ten_to(n - 1);
}

/* Every number with this many digits occurs exactly once, for several keys and ticks. */
static void every_number_has_one_place(void **state) {
    (void)state;
    for (uint32_t digits = 1; digits <= 6; digits++) {
        size_t all = (size_t)ten_to(digits);
        uint8_t *seen = calloc(all, 1);
        assert_non_null(seen);
        for (uint8_t round = 1; round <= (digits < 6 ? 9 : 2); round++) {
            firn__shuffle shuffle = {{round % 3, round}, digits};
            for (uint64_t number = 0; number < all; number++) {
                uint64_t place = firn__shuffled(&shuffle, UINT64_C(1795246932345) + round, number);
                assert_true(place < all);
                assert_int_equal(seen[place], round - 1);
                seen[place] = round;
            }
        }
        free(seen);
    }
}

static void long_numbers_stay_within_their_digits(void **state) {
    (void)state;
    for (uint32_t digits = 7; digits <= 18; digits++) {
        firn__shuffle shuffle = {{1, digits}, digits};
        uint64_t last = UINT64_MAX;
        for (uint64_t i = 0; i < 20000; i++) {
            uint64_t number = i % 2 == 0 ? i / 2 : ten_to(digits) - 1 - i / 2;
            uint64_t place = firn__shuffled(&shuffle, 7, number);
            assert_true(place < ten_to(digits));
            assert_true(place != last);
            last = place;
        }
    }
}

/* Neighbours, ticks and keys each lead somewhere else: about one in ten digits stays the same. */
static void neighbours_ticks_and_keys_are_far_apart(void **state) {
    firn__shuffle shuffle = {{1, 2}, 6}, other = {{1, 3}, 6};
    int near = 0, ticks = 0, keys = 0;
    (void)state;
    for (uint64_t i = 0; i < 10000; i++) {
        uint64_t here = firn__shuffled(&shuffle, 5, i), next = firn__shuffled(&shuffle, 5, i + 1);
        near += (here > next ? here - next : next - here) < 1000;
        ticks += firn__shuffled(&shuffle, 6, i) == here;
        keys += firn__shuffled(&other, 5, i) == here;
    }
    assert_in_range(near, 5, 50); /* 20 are expected */
    assert_true(ticks < 5 && keys < 5);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* Three digits: 5 bits of node, 4 of sequence; all nodes together make 512 of 1000 numbers a
 * millisecond, each once. */
static void no_two_nodes_make_the_same_digits(void **state) {
    uint8_t seen[1000] = {0};
    uint64_t tick = 0;
    size_t count = 0;
    (void)state;
    for (int node = 0; node < 32; node++) {
        char keys[64];
        snprintf(keys, sizeof keys, "digits=3 node=%d max_lead=0 max_back=0", node);
        firn_gen *gen = opened("time-random", keys);
        assert_true(status_of(gen).reserved);
        assert_string_equal(firn_gen_scheme(gen)->name, "time-random");
        firn_id *ids = bulk(gen, 16);
        for (int i = 0; i < 16; i++) {
            uint64_t digits = field(gen, &ids[i], "random");
            tick = count == 0 ? field(gen, &ids[i], "time") : tick;
            assert_true(field(gen, &ids[i], "time") == tick);
            assert_true(digits < 1000);
            assert_int_equal(seen[digits]++, 0);
            count++;
        }
        denied(gen, FIRN_EEXHAUSTED, "time-random");
        free(ids);
        closed(gen);
    }
    assert_int_equal(count, 512);
    refused("time-random", "digits=3 node=32", FIRN_ERANGE, "node");
}

static int find_row(void *context, const firn_holding *holding) {
    snprintf(context, FIRN_LAYOUT_SIZE, "%s", holding->layout);
    return 0;
}

static void the_key_is_drawn_once(void **state) {
    char first[FIRN_LAYOUT_SIZE] = "", again[FIRN_LAYOUT_SIZE] = "", apart[FIRN_LAYOUT_SIZE] = "";
    firn__shuffle key;
    (void)state;
    closed(opened("time-random", "node=1"));
    firn_store_list(world.store, "time-random key", find_row, first, NULL);
    closed(opened("time-random", "node=2"));
    firn_store_list(world.store, "time-random key", find_row, again, NULL);
    closed(opened("time-random", "node=2 ns=mine"));
    firn_store_list(world.store, "mine key", find_row, apart, NULL);
    assert_true(firn__shuffle_read(&key, first));
    assert_true(key.key[0] != 0 && key.key[1] != 0);
    assert_string_equal(first, again);
    assert_string_not_equal(first, apart);
}

/* A store in which somebody else writes the key right after the first look. */
typedef struct key_race {
    firn_store *real;
    const char *row;
    int looks;
    firn_store *store; /* this one */
} key_race;

static int race_reserve(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                        firn_error *error) {
    return firn_store_reserve(((key_race *)self)->real, request, first, held, error);
}

static int race_give_back(void *self, const char *ns, const char *key, const firn_mark *mine,
                          int64_t high, firn_error *error) {
    return firn_store_give_back(((key_race *)self)->real, ns, key, mine, high, error);
}

static int race_list(void *self, const char *ns, firn_visit *visit, void *context,
                     firn_error *error) {
    key_race *race = self;
    int code = firn_store_list(race->real, ns, visit, context, error);
    if (race->looks++ == 0) {
        firn_request theirs = {.ns = ns,
                               .layout = race->row,
                               .key = "key",
                               .count = 1,
                               .grant = 9,
                               .note = "the winner"};
        firn_mark held;
        int64_t first;
        assert_int_equal(firn_store_reserve(race->real, &theirs, &first, &held, NULL), FIRN_OK);
    }
    return code;
}

static void race_close(void *self) {
    (void)self;
}

static const firn_store_ops race_ops = {.version = FIRN_STORE_OPS_VERSION,
                                        .scheme = "race",
                                        .reserve = race_reserve,
                                        .give_back = race_give_back,
                                        .list = race_list,
                                        .close = race_close};

static int open_in_race(key_race *race, const char *row, firn_gen **gen, firn_error *error) {
    *race = (key_race){world.store, row, 0, NULL};
    assert_int_equal(firn_store_wrap(&race->store, &race_ops, race, NULL), FIRN_OK);
    const firn_config config = {.size = sizeof config,
                                .scheme = "time-random",
                                .keys = "node=3",
                                .store = race->store,
                                .clock = &world.hands,
                                .entropy = &world.entropy,
                                .note = "test"};
    return firn_open_with(gen, &config, error);
}

static void the_loser_of_a_race_takes_the_winners_key(void **state) {
    firn__shuffle key = {{1, 2}, 6};
    firn_gen *gen;
    key_race race;
    (void)state;
    assert_int_equal(open_in_race(&race, "digits key=00000000000000010000000000000002", &gen, NULL),
                     FIRN_OK);
    assert_int_equal(race.looks, 2);
    firn_id id = next(gen);
    assert_true(field(gen, &id, "random") == firn__shuffled(&key, field(gen, &id, "time"), 3 << 9));
    closed(gen);
    firn_store_close(race.store);
}

static void an_invalid_key_is_not_replaced(void **state) {
    firn_error error = {0};
    firn_gen *gen = NULL;
    key_race race;
    (void)state;
    assert_int_equal(open_in_race(&race, "digits key=1", &gen, &error), FIRN_ENAMESPACE);
    error_text(&error, FIRN_ENAMESPACE, "time-random key");
    assert_null(gen);
    firn_store_close(race.store);
}

static void back_dated_digits_are_shared_too(void **state) {
    firn_time time = {1500000000, 0};
    firn_id ids[600];
    (void)state;
    firn_gen *gen = opened("time-random", "node=3 mode=online");
    assert_int_equal(firn_at(gen, &time, ids, 600, NULL), FIRN_OK);
    assert_true(field(gen, &ids[0], "time") == UINT64_C(1500000000000));
    assert_true(field(gen, &ids[599], "time") == UINT64_C(1500000000001));
    are_unique(ids, 600);
    closed(gen);
}

static void without_a_node_digits_are_drawn(void **state) {
    firn_time time = {1500000000, 123000000};
    firn_id ids[500];
    uint64_t most = 0;
    (void)state;
    firn_gen *gen = opened("time-random", "digits=2");
    assert_false(status_of(gen).reserved);
    assert_int_equal(firn_next_n(gen, ids, 500, NULL), FIRN_OK);
    for (int i = 0; i < 500; i++) {
        uint64_t digits = field(gen, &ids[i], "random");
        assert_true(digits < 100);
        most = digits > most ? digits : most;
    }
    assert_int_equal(most, 99);
    assert_int_equal(firn_at(gen, &time, ids, 500, NULL), FIRN_OK);
    for (int i = 0; i < 500; i++) {
        assert_true(field(gen, &ids[i], "time") == UINT64_C(1500000000123));
        assert_true(field(gen, &ids[i], "random") < 100);
    }
    closed(gen);
}

static void rows_of_digits_refuse_what_they_cannot_change(void **state) {
    (void)state;
    refused("time-random", "digits=0", FIRN_ERANGE, "1 to 18");
    refused("time-random", "digits=19", FIRN_ERANGE, "1 to 18");
    refused("time-random", "digits=6x", FIRN_ERANGE, "1 to 18");
    refused("time-random", "epoch=2020-01-01", FIRN_EUSAGE, "leave epoch out");
    refused("time-random", "bits=48/20", FIRN_EUSAGE, "leave bits out");
    refused("time-member", "member=1 digits=3", FIRN_EUSAGE, "leave digits out");
    refused("snowflake", "digits=6", FIRN_EUSAGE, "leave digits out");
    refused("time-random", "random=5", FIRN_EUSAGE, "random");
    refused("order", "", FIRN_EUSAGE, "open it as order numbers");
}

/* ---- members --------------------------------------------------------------------------------- */

static void a_member_is_given_and_never_claimed(void **state) {
    (void)state;
    refused("time-member", "", FIRN_EUSAGE, "give member=");
    refused("time-member", "nodes=2", FIRN_EUSAGE, "give member=");
    refused("time-member", "member=9223372036854775808", FIRN_ERANGE, "member");
    firn_gen *gen = opened("time-member", "member=9223372036854775807");
    firn_id *ids = bulk(gen, 1000);
    char text[FIRN_TEXT_SIZE];
    assert_true(strstr(firn_format(text, &ids[0], FIRN_FORM_DATED), "9223372036854775807") != NULL);
    assert_int_equal(strlen(text), 39);
    assert_true(field(gen, &ids[511], "time") == field(gen, &ids[0], "time"));
    assert_true(field(gen, &ids[512], "time") == field(gen, &ids[0], "time") + 1);
    are_unique(ids, 1000);
    free(ids);
    closed(gen);
}

static void decimal_rows_end_with_the_year_9999(void **state) {
    static const char *const keys[] = {"", "node=3", "member=5"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        const char *name = i < 2 ? "time-random" : "time-member";
        char text[FIRN_TEXT_SIZE];
        world_end(NULL);
        assert_int_equal(world_new(NULL), 0);
        world.clock.base = (firn_time){INT64_C(253402300799), 999000000};
        firn_gen *gen = opened(name, keys[i]);
        firn_id id = next(gen);
        firn_format(text, &id, FIRN_FORM_DATED);
        assert_int_equal(strncmp(text, "99991231235959999", 17), 0);
        pass(&world.clock, 1000000);
        denied(gen, FIRN_ELAYOUT, name);
        closed(gen);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(sentence, function) {sentence, function, world_new, world_end, NULL}
        TEST("the hash is SipHash", the_hash_is_siphash),
        TEST("every number has one place in the permutation", every_number_has_one_place),
        TEST("long numbers stay within their digits", long_numbers_stay_within_their_digits),
        TEST("neighbours, ticks and keys are far apart", neighbours_ticks_and_keys_are_far_apart),
        TEST("no two nodes make the same digits in a millisecond",
             no_two_nodes_make_the_same_digits),
        TEST("the key of a namespace is drawn once", the_key_is_drawn_once),
        TEST("the loser of a race takes the winner's key",
             the_loser_of_a_race_takes_the_winners_key),
        TEST("an invalid key is not replaced", an_invalid_key_is_not_replaced),
        TEST("back-dated digits are shared too", back_dated_digits_are_shared_too),
        TEST("without a node digits are drawn", without_a_node_digits_are_drawn),
        TEST("rows of digits refuse what they cannot change",
             rows_of_digits_refuse_what_they_cannot_change),
        TEST("a member is given, and never claimed", a_member_is_given_and_never_claimed),
        TEST("decimal rows end with the year 9999", decimal_rows_end_with_the_year_9999),
    };
    return cmocka_run_group_tests_name("digits", tests, NULL, NULL);
}
