/* SPDX-License-Identifier: MIT */
/* Ticks in memory: how the table grows and forgets. The look-up is in ticks.h. */
#include "ticks.h"

#include "error.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define LEAST      256 /* pairs of the first table: a page */
#define PAIRS_MOST (SIZE_MAX / 2 / (2 * sizeof(uint64_t)))

/* Of pairs. More than can be counted are more than any system has. */
static size_t bytes_of(size_t size) {
    return size > PAIRS_MOST ? SIZE_MAX : size * 2 * sizeof(uint64_t);
}

/* Zeros, in large pages if the system has them, because a large table is read at random. NULL: out
 * of memory. */
static uint64_t *make_pairs(size_t size) {
    void *pairs =
        mmap(NULL, bytes_of(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pairs == MAP_FAILED) {
        return NULL;
    }
    madvise(pairs, bytes_of(size), MADV_HUGEPAGE); /* small pages, if the system refuses */
    return pairs;
}

static void free_pairs(uint64_t *pairs, size_t size) {
    if (pairs != NULL) {
        munmap(pairs, bytes_of(size));
    }
}

static int no_memory(size_t size, firn_error *error) {
    return firn__fail(error, FIRN_EMEMORY, "out of memory for %zu back-dated ticks", size);
}

/* ---- the run --------------------------------------------------------------------------------- */

static bool below(const firn__ticks *ticks, size_t position, uint64_t key) {
    return ticks->run[2 * position] < key;
}

/* The first pair of the run that is not below `key`; there is one. Goes from the place of the last
 * search, in steps that double, until `key` is enclosed. */
static size_t search_run(const firn__ticks *ticks, uint64_t key) {
    size_t low = ticks->near < ticks->run_used ? ticks->near : 0, high = low, step = 1;
    if (below(ticks, low, key)) {
        for (high = low + 1; high < ticks->run_used && below(ticks, high, key); step *= 2) {
            low = high;
            high = step < ticks->run_used - high ? high + step : ticks->run_used;
        }
        low++;
    } else {
        for (; low > 0 && !below(ticks, low - 1, key); step *= 2) {
            high = low - 1;
            low = step < high ? high - step : 0;
        }
    }
    while (low < high) { /* all before `low` are below the key, `high` is not */
        size_t middle = low + (high - low) / 2;
        if (below(ticks, middle, key)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Makes room after the last pair. */
static int make_run(firn__ticks *ticks, uint64_t from, firn_error *error) {
    size_t first = 0, size = ticks->run_size > 0 ? ticks->run_size * 2 : LEAST;
    while (first < ticks->run_used && below(ticks, first, from + 1)) {
        first++;
    }
    size_t stay = ticks->run_used - first;
    if (stay < ticks->run_size / 2) {
        memmove(ticks->run, ticks->run + 2 * first, bytes_of(stay));
        memset(ticks->run + 2 * stay, 0, bytes_of(first));
        ticks->run_used = stay;
        return FIRN_OK;
    }
    void *run = ticks->run == NULL
                    ? make_pairs(size)
                    : mremap(ticks->run, bytes_of(ticks->run_size), bytes_of(size), MREMAP_MAYMOVE);
    if (run == NULL || run == MAP_FAILED) {
        return no_memory(size, error);
    }
    ticks->run = run;
    ticks->run_size = size;
    return FIRN_OK;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* The table is never full, so the loop ends. */
static uint64_t *find_in_table(const firn__ticks *ticks, uint64_t tick) {
    size_t position = (size_t)((tick >> 2) * 0x9e3779b97f4a7c15 >> ticks->shift) * 4 + (tick & 3);
    while (ticks->pairs[2 * position] != 0 && ticks->pairs[2 * position] != tick + 1) {
        position = (position + 1) & (ticks->size - 1);
    }
    return ticks->pairs + 2 * position;
}

uint64_t *firn__ticks_find(firn__ticks *ticks, uint64_t tick) {
    ticks->near = search_run(ticks, tick + 1);
    uint64_t *pair = ticks->run + 2 * ticks->near;
    return pair[0] == tick + 1 ? pair : find_in_table(ticks, tick);
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
    firn__ticks next = {.pairs = make_pairs(size), .size = size, .shift = 64};
    if (next.pairs == NULL) {
        return no_memory(size, error);
    }
    for (size_t fours = size / 4; fours > 1; fours /= 2) {
        next.shift--;
    }
    for (size_t i = 0; i < ticks->size; i++) {
        if (ticks->pairs[2 * i] > from) {
            uint64_t *pair = find_in_table(&next, ticks->pairs[2 * i] - 1);
            memcpy(pair, ticks->pairs + 2 * i, 2 * sizeof *pair);
            next.used++;
        }
    }
    free_pairs(ticks->pairs, ticks->size);
    ticks->pairs = next.pairs;
    ticks->used = next.used;
    ticks->size = size;
    ticks->shift = next.shift;
    return FIRN_OK;
}

static int make_table(firn__ticks *ticks, uint64_t from, firn_error *error) {
    size_t most = ticks->size / 4 * 3;
    if (ticks->size == 0) {
        return move(ticks, LEAST, from, error);
    }
    size_t stay = from == 0 ? ticks->used : count_from(ticks, from);
    return move(ticks, stay > most / 2 ? ticks->size * 2 : ticks->size, from, error);
}

/* ---- both ------------------------------------------------------------------------------------ */

int firn__ticks_make_room(firn__ticks *ticks, uint64_t from, firn_error *error) {
    int code = FIRN_OK;
    if (ticks->run_used + 1 >= ticks->run_size) {
        code = make_run(ticks, from, error);
    }
    if (code == FIRN_OK && ticks->used >= ticks->size / 4 * 3) {
        code = make_table(ticks, from, error);
    }
    return code;
}

void firn__ticks_free(firn__ticks *ticks) {
    free_pairs(ticks->pairs, ticks->size);
    free_pairs(ticks->run, ticks->run_size);
    *ticks = (firn__ticks){0};
}
