/* SPDX-License-Identifier: MIT */
/* Blocks: every width, order, age, how many IDs a fill issues, and that a forked child finds the
 * page empty. */
#include <firn/firn.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "fork_memory.h"

#define FAR_US 1000000 /* an age that tests reach only by waiting */
#define EACH   100     /* IDs of parent and child */

static firn_gen *opened(const char *scheme, const char *keys) {
    firn_gen *gen = NULL;
    firn_error error = {0};
    const firn_config config = {
        .size = sizeof config, .scheme = scheme, .keys = keys, .store_url = "memory:"};
    if (firn_open_with(&gen, &config, &error) != FIRN_OK) {
        fail_msg("%s %s: %s", scheme, keys, error.text);
    }
    return gen;
}

static firn_block *block_of(firn_gen *gen, int64_t max_age_us) {
    firn_block *block = NULL;
    firn_error error = {0};
    if (firn_block_open(&block, gen, max_age_us, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return block;
}

static void closed(firn_block *block, firn_gen *gen) {
    firn_block_close(block);
    assert_int_equal(firn_close(gen, NULL), FIRN_OK);
}

static int64_t now_ns(void) {
    struct timespec now;
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* As another language takes an ID: from the page, with a call only for a refill. */
static uint64_t taken(firn_block *block, firn_page *page) {
    uint64_t id;
    if (page->next >= page->count) {
        assert_int_equal(firn_block_fill(block, NULL), FIRN_OK);
    }
    assert_int_equal(page->stride, 8);
    memcpy(&id, (const char *)(page + 1) + (size_t)page->next * page->stride, sizeof id);
    page->next++;
    return id;
}

static void integers_keep_their_order(void **state) {
    (void)state;
    firn_gen *gen = opened("time:40/ms@@2026-01-01 node:3 sequence:20", "");
    firn_block *block = block_of(gen, FAR_US);
    firn_page *page = firn_block_page(block);
    uint64_t last = 0, exact;
    for (int i = 0; i < 3000; i++) {
        uint64_t id = taken(block, page);
        assert_true(id > last);
        last = id;
    }
    assert_int_equal(firn_next_u64(gen, &exact, 1, NULL), FIRN_OK);
    assert_true(exact > last);
    closed(block, gen);
}

/* A page has the bytes of firn_id_bytes: the scheme reads them, and they increase if its IDs do. */
static void every_width_is_written(void **state) {
    static const struct {
        const char *scheme;
        uint32_t bits, stride;
    } widths[] = {{"time:40/ms@@2026-01-01 random:24", 64, 8},
                  {"time:32/s@@2026-01-01 random:20", 52, 8},
                  {"objectid", 96, 12},
                  {"uuid7", 128, 16},
                  {"uuid4", 128, 16},
                  {"ulid", 128, 16},
                  {"ksuid", 160, 20}};
    (void)state;
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        firn_gen *gen = opened(widths[i].scheme, "");
        firn_block *block = block_of(gen, 0);
        uint8_t raw[20], last[20] = {0};
        for (int n = 0; n < 600; n++) {
            firn_fields fields;
            firn_id id = {0, 0, 0, widths[i].bits};
            assert_int_equal(firn_block_next(block, raw, NULL), FIRN_OK);
            assert_int_equal(firn_block_page(block)->stride, widths[i].stride);
            if (widths[i].bits <= 64) {
                memcpy(&id.low, raw, sizeof id.low);
            } else {
                assert_int_equal(firn_id_from_bytes(&id, raw, widths[i].bits, NULL), FIRN_OK);
            }
            assert_int_equal(firn_unpack(&fields, firn_gen_scheme(gen), &id, NULL), FIRN_OK);
            assert_true(memcmp(raw, last, widths[i].stride) != 0);
            if (firn_gen_scheme(gen)->sorts == FIRN_SORTS_YES) {
                assert_true(memcmp(raw, last, widths[i].stride) > 0);
            }
            memcpy(last, raw, widths[i].stride);
        }
        closed(block, gen);
    }
}

static void old_ids_are_dropped(void **state) {
    (void)state;
    if (firn__wiped_watch()) {
        return;
    }
    firn_gen *gen = opened("uuid7", "");
    firn_block *block = block_of(gen, 1);
    firn_page *page = firn_block_page(block);
    uint8_t first[16], raw[16];
    assert_int_equal(firn_block_fill(block, NULL), FIRN_OK);
    assert_in_range(page->count, 2, FIRN_BLOCK_MAX);
    assert_true(page->until_ns <= now_ns() + 1000);
    memcpy(first, page + 1, sizeof first);
    while (now_ns() < page->until_ns) {
    }
    assert_int_equal(firn_block_next(block, raw, NULL), FIRN_OK);
    assert_true(memcmp(raw, first, sizeof raw) > 0);
    assert_int_equal(page->next, 1); /* of a new fill */
    closed(block, gen);
}

static void a_fill_adapts(void **state) {
    (void)state;
    if (firn__wiped_watch()) { /* every fill issues one ID: see firn_block_fill */
        return;
    }
    firn_gen *gen = opened("uuid4", "");
    firn_block *block = block_of(gen, FAR_US);
    firn_page *page = firn_block_page(block);
    assert_int_equal(firn_block_fill(block, NULL), FIRN_OK);
    for (uint32_t want = 2 * page->count; want <= FIRN_BLOCK_MAX; want *= 2) {
        page->next = page->count; /* all were taken */
        assert_int_equal(firn_block_fill(block, NULL), FIRN_OK);
        assert_int_equal(page->count, want);
    }
    page->next = page->count;
    assert_int_equal(firn_block_fill(block, NULL), FIRN_OK);
    assert_int_equal(page->count, FIRN_BLOCK_MAX);
    for (uint32_t want = FIRN_BLOCK_MAX / 2; want > 0; want /= 2) {
        page->next = 0; /* none was taken */
        assert_int_equal(firn_block_fill(block, NULL), FIRN_OK);
        assert_int_equal(page->count, want);
    }
    closed(block, gen);
}

/* A layout with 4 IDs in a second, 2 s ahead at most: a fill takes what is left, then says why no
 * ID is left. */
static void the_last_ids_are_issued(void **state) {
    (void)state;
    firn_gen *gen = opened("time:40/s node:3 sequence:2", "max_lead=2s full=fail");
    firn_block *block = block_of(gen, FAR_US);
    firn_page *page = firn_block_page(block);
    firn_error error = {0};
    uint64_t last = 0;
    int code, count = 0;
    while ((code = firn_block_fill(block, &error)) == FIRN_OK && count < 1000) {
        const uint64_t *ids = (const uint64_t *)(const void *)(page + 1);
        for (; page->next < page->count; page->next++, count++) {
            assert_true(ids[page->next] > last);
            last = ids[page->next];
        }
    }
    assert_int_equal(code, FIRN_EEXHAUSTED);
    assert_int_equal(error.code, FIRN_EEXHAUSTED);
    assert_in_range(count, 4, 16);
    assert_int_equal(page->count, 0);
    closed(block, gen);
}

static void ages_are_checked(void **state) {
    (void)state;
    static const int64_t wrong[] = {-1, 1000001, INT64_MAX, INT64_MIN};
    firn_gen *gen = opened("uuid4", "");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        firn_block *block = NULL;
        firn_error error = {0};
        assert_int_equal(firn_block_open(&block, gen, wrong[i], &error), FIRN_ERANGE);
        assert_non_null(strstr(error.text, "give 1 to 1000000"));
        assert_null(block);
    }
    firn_block_close(NULL);
    firn_block *late = block_of(gen, 1);
    assert_int_equal(firn_close(gen, NULL), FIRN_OK);
    firn_block_close(late);
}

/* IDs that parent and child both have, if the child uses the inherited page, or a copy made by a
 * binding. */
static int both_have(bool copied) {
    static uint64_t copy[FIRN_BLOCK_MAX];
    firn_gen *gen = opened("time:40/ms@@2026-01-01 random:24", "");
    firn_block *block = block_of(gen, FAR_US);
    firn_page *page = firn_block_page(block);
    uint64_t *log = mmap(NULL, sizeof *log * 2 * EACH, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(log != MAP_FAILED);
    for (int i = 0; i < 3 * FIRN_BLOCK_MAX; i++) {
        taken(block, page);
    }
    assert_int_equal(firn_block_fill(block, NULL), FIRN_OK);
    assert_in_range(page->count, firn__wiped_watch() ? 1 : EACH, FIRN_BLOCK_MAX);
    memcpy(copy, page + 1, sizeof copy);
    fflush(NULL);
    pid_t child = fork();
    for (int i = 0; i < EACH; i++) {
        log[child == 0 ? i : EACH + i] = copied ? copy[i] : taken(block, page);
    }
    if (child == 0) {
        _exit(0);
    }
    int status, found = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    for (int i = 0; i < EACH; i++) {
        for (int j = 0; j < EACH; j++) {
            assert_true(log[i] != 0 && log[EACH + j] != 0);
            found += log[i] == log[EACH + j];
        }
    }
    munmap(log, sizeof *log * 2 * EACH);
    closed(block, gen);
    return found;
}

static void a_child_repeats_nothing(void **state) {
    (void)state;
    if (!firn__wiped_watch()) {
        assert_int_equal(both_have(true), EACH); /* what this test would find */
    }
    assert_int_equal(both_have(false), 0);
}

/* A fixed node stays with the parent: the child's page is empty and its fill is refused. */
static void a_fixed_node_stays_with_the_parent(void **state) {
    (void)state;
    firn_gen *gen = opened("time:40/ms@@2026-01-01 node:3 sequence:20", "node=5");
    firn_block *block = block_of(gen, FAR_US);
    uint64_t id;
    assert_int_equal(firn_block_next(block, &id, NULL), FIRN_OK);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        const firn_page *page = firn_block_page(block);
        bool empty = page->next == 0 && page->count == 0;
        _exit(empty && firn_block_next(block, &id, NULL) == FIRN_EFORKED && page->count == 0 ? 0
                                                                                             : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    closed(block, gen);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_keep_their_order),
        cmocka_unit_test(every_width_is_written),
        cmocka_unit_test(old_ids_are_dropped),
        cmocka_unit_test(a_fill_adapts),
        cmocka_unit_test(the_last_ids_are_issued),
        cmocka_unit_test(ages_are_checked),
        cmocka_unit_test(a_child_repeats_nothing),
        cmocka_unit_test(a_fixed_node_stays_with_the_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
