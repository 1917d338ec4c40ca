/* SPDX-License-Identifier: MIT */
/* Tools that the tests of issuing share: a clock that is moved by hand, and a log of issued IDs,
 * both in memory that several processes see. Judges duplicates and nothing else. */
#ifndef FIRN_TEST_ISSUED_H
#define FIRN_TEST_ISSUED_H

#include <firn/firn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define HUNG_S 120 /* what takes longer hangs */
#define SECOND INT64_C(1000000000)
#define HOUR   (3600 * SECOND)
#define NOON_SEC                                                                                   \
    INT64_C(1760000000) /* where the clocks of the tests begin: a day in October 2025 */

/* Memory that children share with their parent. */
static inline void *shared_memory(size_t size) {
    void *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        abort();
    }
    return memory;
}

/* ---- clock ---------------------------------------------------------------------------------- */

/* A clock's hands. Each reading moves them by `step_ns`, so that time passes without a sleep; a
 * pause moves them as far as it was to last. `offset_ns` is what somebody has set the wall clock
 * wrong by. */
typedef struct hands {
    _Atomic int64_t steady_ns, offset_ns;
    int64_t step_ns;
} hands;

static inline int hands_steady(void *self, int64_t *ns) {
    hands *state = self;
    *ns = atomic_load(&state->steady_ns);
    return FIRN_OK;
}

static inline int hands_wall(void *self, firn_time *now) {
    hands *state = self;
    int64_t ns = atomic_fetch_add(&state->steady_ns, state->step_ns) + state->step_ns;
    ns += atomic_load(&state->offset_ns);
    now->sec = NOON_SEC + ns / SECOND - (ns % SECOND < 0);
    now->ns = (int32_t)((ns % SECOND + SECOND) % SECOND);
    return FIRN_OK;
}

static inline int hands_pause(void *self, int64_t ns) {
    hands *state = self;
    atomic_fetch_add(&state->steady_ns, ns);
    return FIRN_OK;
}

static inline firn_clock clock_of(hands *self) {
    return (firn_clock){1, self, hands_wall, hands_steady, hands_pause};
}

/* ---- log ------------------------------------------------------------------------------------ */

typedef struct issued {
    _Atomic size_t count;
    size_t size;
    uint64_t ids[];
} issued;

static inline issued *issued_new(size_t size) {
    issued *log = shared_memory(sizeof *log + size * sizeof(uint64_t));
    log->size = size;
    return log;
}

static inline void issued_free(issued *log) {
    munmap(log, sizeof *log + log->size * sizeof(uint64_t));
}

static inline void issued_add(issued *log, uint64_t id) {
    size_t position = atomic_fetch_add(&log->count, 1);
    if (position >= log->size) {
        abort();
    }
    log->ids[position] = id;
}

/* Sorts by the lowest 16 bits, then the next, four times; `spare` is as long as `ids`. */
static inline void sort_ids(uint64_t *ids, uint64_t *spare, size_t n) {
    size_t *starts = calloc(1 << 16, sizeof *starts);
    for (int shift = 0; shift < 64; shift += 16) {
        size_t sum = 0;
        uint64_t *swap = ids;
        memset(starts, 0, (1 << 16) * sizeof *starts);
        for (size_t i = 0; i < n; i++) {
            starts[ids[i] >> shift & 0xffff]++;
        }
        for (size_t i = 0; i < 1 << 16; i++) {
            size_t here = starts[i];
            starts[i] = sum;
            sum += here;
        }
        for (size_t i = 0; i < n; i++) {
            spare[starts[ids[i] >> shift & 0xffff]++] = ids[i];
        }
        ids = spare;
        spare = swap;
    }
    free(starts); /* an even number of passes: the result is where it started */
}

/* How many IDs were there before; leaves the log sorted. An ID that a killed process had no time
 * to write reads as 0 and does not count. */
static inline size_t duplicates(issued *log) {
    size_t n = atomic_load(&log->count), twice = 0;
    uint64_t *spare = malloc((n + 1) * sizeof *spare);
    sort_ids(log->ids, spare, n);
    free(spare);
    for (size_t i = 1; i < n; i++) {
        twice += log->ids[i] != 0 && log->ids[i] == log->ids[i - 1];
    }
    return twice;
}

/* ---- children ------------------------------------------------------------------------------- */

/* Waits for a child; 1000 + the signal that ended it. */
static inline int end_of(pid_t child) {
    int status = -1;
    if (waitpid(child, &status, 0) != child) {
        return -1;
    }
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

#endif
