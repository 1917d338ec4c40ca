/* SPDX-License-Identifier: MIT */
/* Blocks: IDs issued ahead into a page that a fork wipes, from which other languages take them
 * without a call. */
#include "error.h"
#include "fork_memory.h"
#include "gen.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MAX_AGE_US INT64_C(1000000)
#define FIRST_FILL 16 /* IDs of the first fill: see adapt */

struct firn_block {
    firn_gen *gen;
    firn_page *page;    /* wiped in a child, which finds it empty */
    size_t page_size;   /* of all that firn__wiped gave */
    uint32_t stride;    /* as in the page, which a child finds zeroed */
    uint32_t want;      /* IDs of the next fill */
    int64_t max_age_us; /* how long a fill is fresh */
    firn_id ids[FIRN_BLOCK_MAX];
};

static uint8_t *id_at(const firn_block *block, uint32_t i) {
    return (uint8_t *)(block->page + 1) + (size_t)i * block->stride;
}

static int64_t monotonic_ns(void) {
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail with this clock */
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Members of a page that another thread may be renewing. */
static uint32_t page_get(const uint32_t *member) {
    return __atomic_load_n(member, __ATOMIC_RELAXED);
}

static void page_put(uint32_t *member, uint32_t value) {
    __atomic_store_n(member, value, __ATOMIC_SEQ_CST);
}

/* Any thread: the IDs of the page are void, and those that a fill is issuing. */
static void renew_page(void *memory) {
    firn_page *page = memory;
    page_put(&page->stride, 0);
    page_put(&page->count, 0);
}

int firn_block_open(firn_block **out, firn_gen *gen, int64_t age_us, firn_error *error) {
    uint32_t bits = gen->scheme.bits;
    int code = FIRN_OK;
    age_us = age_us == 0 ? 1000 : age_us;
    if (age_us < 1 || age_us > MAX_AGE_US) {
        return firn__fail(error, FIRN_ERANGE,
                          "age_us is %" PRId64 ": give 1 to %" PRId64 ", or 0 for 1000", age_us,
                          MAX_AGE_US);
    }
    firn_block *block = calloc(1, sizeof *block);
    if (block == NULL) {
        return firn__fail(error, FIRN_EMEMORY, "out of memory: %zu bytes are not available",
                          sizeof *block);
    }
    block->gen = gen;
    block->stride = bits <= 64 ? 8 : (bits + 7) / 8;
    block->want = FIRST_FILL;
    block->max_age_us = age_us;
    block->page_size = sizeof *block->page + (size_t)FIRN_BLOCK_MAX * block->stride;
    block->page = firn__wiped(block->page_size, &code, error);
    if (block->page == NULL) {
        free(block);
        return code;
    }
    firn__wiped_renews(block->page, block->page_size, FIRN__RENEW_ISSUED, renew_page);
    *out = block;
    return FIRN_OK;
}

firn_page *firn_block_page(const firn_block *block) {
    return block->page;
}

/* Twice as many when all IDs of the last fill were taken, half as many when most of them were
 * dropped: a process that takes few IDs drops few. */
static void adapt(firn_block *block) {
    uint32_t taken = block->page->next, count = page_get(&block->page->count);
    if (count > 0 && taken >= count && block->want < FIRN_BLOCK_MAX) {
        block->want *= 2;
    } else if (taken < count / 2) { /* so `want` is 2 or more */
        block->want /= 2;
    }
}

/* Issues n IDs into the page, but does not count them yet. */
static int issue_page(firn_block *block, uint32_t n, firn_error *error) {
    if (block->gen->scheme.bits <= 64) {
        return firn_next_u64(block->gen, (uint64_t *)(void *)id_at(block, 0), n, error);
    }
    int code = firn_next_n(block->gen, block->ids, n, error);
    for (uint32_t i = 0; code == FIRN_OK && i < n; i++) {
        firn_id_bytes(id_at(block, i), &block->ids[i]);
    }
    return code;
}

/* Was the page wiped or renewed since a fill wrote its stride? A handler of a signal may fork
 * between any two instructions. */
static bool is_wiped(const firn_page *page) {
    atomic_signal_fence(memory_order_seq_cst);
    return page_get(&page->stride) == 0;
}

int firn_block_fill(firn_block *block, firn_error *error) {
    firn_page *page = block->page;
    int code;
    /* Where the kernel does not wipe, a child is only noticed in a call: nothing is kept for the
     * next one. */
    bool single = firn__wiped_watch();
    do {
        firn__wiped_look();
        adapt(block);
        page->next = 0;
        page_put(&page->count, 0);
        page_put(&page->stride, block->stride);
        uint32_t n = single ? 1 : block->want;
        /* Before the IDs, so that they are never older than it says. */
        int64_t now = monotonic_ns();
        code = issue_page(block, n, error);
        while ((code == FIRN_EEXHAUSTED || code == FIRN_ERANGE) && n > 1) { /* a few may be left */
            n /= 2;
            code = issue_page(block, n, error);
        }
        if (code == FIRN_OK) {
            page->until_ns = now + block->max_age_us * 1000;
            page_put(&page->count, n); /* before the stride is read */
        }
    } while (code == FIRN_OK && is_wiped(page)); /* in a child the IDs are zeros, or its parent's */
    return code;
}

int firn_block_next(firn_block *block, void *id, firn_error *error) {
    firn_page *page = block->page;
    firn__wiped_look();
    do {
        if (page->next >= page_get(&page->count) || monotonic_ns() >= page->until_ns) {
            int code = firn_block_fill(block, error);
            if (code != FIRN_OK) {
                return code;
            }
        }
        memcpy(id, id_at(block, page->next), block->stride);
        page->next++;
    } while (is_wiped(page));
    return FIRN_OK;
}

void firn_block_close(firn_block *block) {
    if (block != NULL) {
        firn__wiped_free(block->page, block->page_size);
        free(block);
    }
}
