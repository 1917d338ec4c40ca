/* SPDX-License-Identifier: MIT */
/* Ticks in memory: how the table grows and forgets. The look-up is in ticks.h. */
#include "ticks.h"

#include "error.h"

#include <stddef.h>
#include <sys/mman.h>

#define LEAST 256 /* pairs of the first table: a page */

static size_t bytes_of(size_t size) {
    return size * 2 * sizeof(uint64_t);
}

/* Zeros, in large pages if the system has them, because a large table is read at random. NULL: out
 * of memory. */
static uint64_t *make_pairs(size_t size) {
    if (size > SIZE_MAX / 2 / (2 * sizeof(uint64_t))) {
        return NULL;
    }
    void *pairs =
        mmap(NULL, bytes_of(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pairs == MAP_FAILED) {
        return NULL;
    }
    madvise(pairs, bytes_of(size), MADV_HUGEPAGE); /* small pages, if the system refuses */
    return pairs;
}

static size_t count_from(const firn__ticks *ticks, uint64_t from) {
    size_t count = 0;
    for (size_t i = 0; i < ticks->size; i++) {
        count += ticks->pairs[2 * i] > from;
    }
    return count;
}

/* Moves every tick from `from` on into a table of `size` pairs. */
static int move(firn__ticks *ticks, size_t size, uint64_t from, firn_error *error) {
    firn__ticks next = {make_pairs(size), 0, size, 64};
    if (next.pairs == NULL) {
        return firn__fail(error, FIRN_EMEMORY, "out of memory for %zu back-dated ticks", size);
    }
    for (size_t fours = size / 4; fours > 1; fours /= 2) {
        next.shift--;
    }
    for (size_t i = 0; i < ticks->size; i++) {
        if (ticks->pairs[2 * i] > from) {
            uint64_t tick = ticks->pairs[2 * i] - 1, *pair = firn__ticks_pair(&next, tick);
            firn__ticks_keep(&next, pair, tick);
            pair[1] = ticks->pairs[2 * i + 1];
        }
    }
    firn__ticks_free(ticks);
    *ticks = next;
    return FIRN_OK;
}

int firn__ticks_room(firn__ticks *ticks, uint64_t from, firn_error *error) {
    size_t most = ticks->size / 4 * 3;
    if (ticks->used < most) {
        return FIRN_OK;
    }
    if (ticks->size == 0) {
        return move(ticks, LEAST, from, error);
    }
    size_t stay = from == 0 ? ticks->used : count_from(ticks, from);
    return move(ticks, stay > most / 2 ? ticks->size * 2 : ticks->size, from, error);
}

void firn__ticks_free(firn__ticks *ticks) {
    if (ticks->pairs != NULL) {
        munmap(ticks->pairs, bytes_of(ticks->size));
    }
    *ticks = (firn__ticks){NULL, 0, 0, 0};
}
