/* SPDX-License-Identifier: MIT */
/* Random bits that need no packing (src/issue.c, src/issue_random.c), which generators with an
 * entropy source of the caller's do not use: each kind of layout, one ID at a time and in bulk. All
 * random bits are random, all others are right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bits.h"
#include "fork_memory.h"
#include "gen.h"
#include "issued.h"
#include "scheme.h"

enum { IDS = 12000, PIECE = 700 };

static firn_id ids[IDS];

static const struct layout {
    const char *scheme, *keys;
    bool masked, sorted;
} layouts[] = {
    {"uuid4", "", true, false},
    {"uuid7", "", true, true},
    {"uuid7", "clock=tick", true, true},
    {"typeid", "clock=exact", true, true},
    {"uuid7", "ordering=thread", true, true},
    {"uuid7", "start=zero", true, true},
    {"ksuid", "", true, false},
    {"simpleflake", "", true, false},
    {"ulid", "", false, true},
    {"timeflake", "", true, false},
    {"scru128", "", true, true},
    {"pushid", "", false, true},
    {"time-random", "", false, false},
    {"0x0:1 random:20 time:41/ms 0x1:2", "", true, false},
    {"time:41/ms random:64 sequence:20", "", true, false},
    {"0x5:3 random:61 time:41/ms", "", true, false},
    {"random:13 time:41/ms sequence:7 random@13:57", "", true, false},
    {"time:41/ms sequence@12:8 random:70 sequence:12", "", true, false},
    {"0x1:1 random:127", "", true, false},
    {"random:128", "", true, false},
    {"random:30 time:42/ms random@30:88", "", false, false},
};

static firn_gen *open_layout(const struct layout *self) {
    firn_gen *gen = NULL;
    firn_error error = {0};
    const firn_config config = {
        .size = sizeof config, .scheme = self->scheme, .keys = self->keys, .store_url = "memory:"};
    if (firn_open_with(&gen, &config, &error) != FIRN_OK) {
        fail_msg("%s %s: %s", self->scheme, self->keys, error.text);
    }
    return gen;
}

/* Fields that are packed again give the same ID, so the constants are right and no bit is anywhere
 * else. */
static void check_packing(const firn_scheme *scheme, const firn_id *id) {
    firn_fields fields;
    firn_id again;
    firn_error error = {0};
    if (firn_unpack(&fields, scheme, id, &error) != FIRN_OK ||
        firn_pack(&again, scheme, &fields, &error) != FIRN_OK) {
        fail_msg("%s: %s", scheme->name, error.text);
    }
    assert_int_equal(firn_id_cmp(&again, id), 0);
}

/* Each random bit is set in about half of the IDs: 6 standard deviations. */
static void check_bits(const struct layout *self, const firn_scheme *scheme) {
    uint32_t position = scheme->bits;
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        position -= scheme->slices[i].bits;
        for (uint32_t bit = 0;
             scheme->slices[i].role == FIRN_ROLE_RANDOM && bit < scheme->slices[i].bits; bit++) {
            int set = 0;
            for (int k = 0; k < IDS; k++) {
                set += (int)firn__get(&ids[k], position + bit, 1).low;
            }
            if (set < IDS / 2 - 330 || set > IDS / 2 + 330) {
                fail_msg("%s: bit %u is set in %d of %d IDs", self->scheme, position + bit, set,
                         IDS);
            }
        }
    }
}

static int compare(const void *a, const void *b) {
    return firn_id_cmp(a, b);
}

static void check_all(const struct layout *self, const firn_gen *gen) {
    const firn_scheme *scheme = firn_gen_scheme(gen);
    for (int i = 0; i < IDS; i++) {
        check_packing(scheme, &ids[i]);
        if (self->sorted && i > 0 && firn_id_cmp(&ids[i - 1], &ids[i]) >= 0) {
            fail_msg("%s %s: ID %d is out of order", self->scheme, self->keys, i);
        }
    }
    if (self->masked) {
        check_bits(self, scheme);
        qsort(ids, IDS, sizeof ids[0], compare);
        for (int i = 1; i < IDS && scheme->bits > 100; i++) {
            assert_int_not_equal(firn_id_cmp(&ids[i - 1], &ids[i]), 0);
        }
    }
}

static void each_layout(void (*fill)(firn_gen *gen)) {
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        firn_gen *gen = open_layout(&layouts[i]);
        if (!firn__wiped_watch()) {
            assert_int_equal(gen->masked.size > 0, layouts[i].masked);
        }
        memset(ids, 0xff, sizeof ids);
        fill(gen);
        check_all(&layouts[i], gen);
        firn_close(gen, NULL);
    }
}

static void one_by_one(firn_gen *gen) {
    for (int i = 0; i < IDS; i++) {
        assert_int_equal(firn_next(gen, &ids[i], NULL), FIRN_OK);
    }
}

/* Pieces of all sizes, so that they begin and end anywhere in a block. */
static void in_pieces(firn_gen *gen) {
    size_t n = 1;
    for (size_t i = 0; i < IDS; i += n) {
        n = n * 5 % PIECE + 1;
        n = n < IDS - i ? n : IDS - i;
        assert_int_equal(firn_next_n(gen, ids + i, n, NULL), FIRN_OK);
    }
}

static void as_numbers(firn_gen *gen) {
    static uint64_t numbers[IDS];
    if (firn_gen_scheme(gen)->bits > 64) {
        in_pieces(gen);
        return;
    }
    assert_int_equal(firn_next_u64(gen, numbers, IDS, NULL), FIRN_OK);
    for (int i = 0; i < IDS; i++) {
        ids[i] = (firn_id){numbers[i], 0, 0, firn_gen_scheme(gen)->bits};
    }
}

static void random_bits_of_one_id(void **state) {
    (void)state;
    each_layout(one_by_one);
}

static void random_bits_in_bulk(void **state) {
    (void)state;
    each_layout(in_pieces);
}

static void random_bits_of_numbers(void **state) {
    (void)state;
    each_layout(as_numbers);
}

/* A ulid's random part: 80 bits, the lower 64 about to carry. */
static int before_the_carry(void *self, void *out, size_t size) {
    static const uint64_t words[2] = {UINT64_MAX - 3, 5};
    (void)self;
    memcpy(out, words, size < sizeof words ? size : sizeof words);
    return FIRN_OK;
}

static void a_ulid_counts_up_over_64_bits(void **state) {
    const firn_entropy source = {.version = 1, .fill = before_the_carry};
    const firn_config config = {.size = sizeof config, .scheme = "ulid", .entropy = &source};
    (void)state;
    for (size_t n = 1; n < 12; n++) {
        firn_gen *gen = NULL;
        assert_int_equal(firn_open_with(&gen, &config, NULL), FIRN_OK);
        assert_int_equal(firn_next_n(gen, ids, n, NULL), FIRN_OK);
        assert_int_equal(firn_next_n(gen, ids + n, 1, NULL), FIRN_OK);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(ids[i].low, UINT64_MAX - 3 + i);
            assert_int_equal(ids[i].high & 0xffff, i < 4 ? 5 : 6);
            assert_int_equal(ids[i].high >> 16, ids[0].high >> 16);
            assert_int_equal(ids[i].bits, 128);
        }
        assert_true(firn_id_cmp(&ids[n - 1], &ids[n]) < 0);
        firn_close(gen, NULL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_bits_of_one_id),
        cmocka_unit_test(random_bits_in_bulk),
        cmocka_unit_test(random_bits_of_numbers),
        cmocka_unit_test(a_ulid_counts_up_over_64_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
