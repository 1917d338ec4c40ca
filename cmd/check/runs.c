/* SPDX-License-Identifier: MIT */
/* See runs.h. A quarter of the memory is for the chunk, a quarter for the sort of the C library, the rest for
 * runs. */
#include "runs.h"

#include "command.h"

#include <inttypes.h>
#include <stdlib.h>

/* Where a run is read. */
typedef struct cursor {
    const uint64_t *at, *end;
    size_t block;
    uint8_t *scratch;
} cursor;

int runs_open(runs *it, size_t words, uint64_t memory, firn_error *error) {
    memset(it, 0, sizeof *it);
    it->words = words;
    it->room = (size_t)(memory / 4 / (words * sizeof(uint64_t)));
    it->chunk = malloc(it->room * words * sizeof(uint64_t));
    spill_open(&it->kept, (size_t)memory / 2, words * sizeof(uint64_t));
    return it->chunk != NULL ? FIRN_OK : spill_no_memory(error);
}

void runs_close(runs *it) {
    spill_close(&it->kept);
    free(it->chunk);
    it->chunk = NULL;
}

static int compare(const uint64_t *a, const uint64_t *b, size_t words) {
    for (size_t i = 0; i < words; i++) {
        if (a[i] != b[i]) {
            return a[i] < b[i] ? -1 : 1;
        }
    }
    return 0;
}

static int by_one(const void *a, const void *b) {
    return compare(a, b, 1);
}

static int by_three(const void *a, const void *b) {
    return compare(a, b, 3);
}

static void sort_chunk(runs *it) {
    qsort(it->chunk, it->count, it->words * sizeof(uint64_t), it->words == 1 ? by_one : by_three);
}

/* The chunk becomes a run. */
static int end_run(runs *it, firn_error *error) {
    const size_t unit = it->words * sizeof(uint64_t);
    if (it->run_count == SPILL_STREAMS) {
        return set_error(error, FIRN_EMEMORY,
                         "more than %zu IDs do not fit the memory: set a larger --memory",
                         it->room * SPILL_STREAMS);
    }
    spill_stream *stream = &it->kept.streams[it->run_count++];
    sort_chunk(it);
    for (size_t done = 0; done < it->count * unit;) {
        if (stream->at == stream->end) {
            int code = spill_turn(&it->kept, stream, error);
            if (code != FIRN_OK) {
                return code;
            }
        }
        size_t some = (size_t)(stream->end - stream->at);
        some = some < it->count * unit - done ? some : it->count * unit - done;
        memcpy(stream->at, (const uint8_t *)it->chunk + done, some);
        stream->at += some;
        done += some;
    }
    it->count = 0;
    return FIRN_OK;
}

int runs_add(runs *it, const uint64_t *key, firn_error *error) {
    if (it->count == it->room) {
        int code = end_run(it, error);
        if (code != FIRN_OK) {
            return code;
        }
    }
    memcpy(it->chunk + it->count++ * it->words, key, it->words * sizeof *key);
    return FIRN_OK;
}

/* ---- the merge ------------------------------------------------------------------------------- */

/* The next block of a run. `at` is NULL after the last. FIRN_EIO. */
static int next_block(runs *it, size_t run, cursor *at, firn_error *error) {
    const spill_stream *stream = &it->kept.streams[run];
    size_t bytes;
    at->at = NULL;
    if (at->block > stream->count) {
        return FIRN_OK;
    }
    const uint8_t *block = spill_block(&it->kept, stream, at->block++, at->scratch, &bytes, error);
    if (block == NULL) {
        return FIRN_EIO;
    }
    at->at = bytes > 0 ? (const uint64_t *)(const void *)block : NULL;
    at->end = at->at + bytes / sizeof(uint64_t);
    return FIRN_OK;
}

/* Moves the first of a heap of runs down to its place. */
static void sink(const runs *it, const cursor *cursors, size_t *heap, size_t count) {
    for (size_t i = 0, child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count &&
            compare(cursors[heap[child + 1]].at, cursors[heap[child]].at, it->words) < 0) {
            child++;
        }
        if (compare(cursors[heap[i]].at, cursors[heap[child]].at, it->words) <= 0) {
            return;
        }
        size_t run = heap[i];
        heap[i] = heap[child];
        heap[child] = run;
    }
}

static int merge(runs *it, cursor *cursors, runs_visit *visit, void *context, firn_error *error) {
    size_t heap[SPILL_STREAMS], count = it->run_count;
    for (size_t i = 0; i < count; i++) {
        heap[i] = i;
        int code = next_block(it, i, &cursors[i], error);
        if (code != FIRN_OK) {
            return code;
        }
    }
    for (size_t i = 1; i < count; i++) { /* adds one run after the other */
        for (size_t at = i; at > 0; at = (at - 1) / 2) {
            size_t above = (at - 1) / 2, run = heap[at];
            if (compare(cursors[run].at, cursors[heap[above]].at, it->words) >= 0) {
                break;
            }
            heap[at] = heap[above];
            heap[above] = run;
        }
    }
    while (count > 0) {
        cursor *first = &cursors[heap[0]];
        visit(context, first->at);
        first->at += it->words;
        if (first->at == first->end) {
            int code = next_block(it, heap[0], first, error);
            if (code != FIRN_OK) {
                return code;
            }
        }
        if (first->at == NULL) {
            heap[0] = heap[--count];
        }
        sink(it, cursors, heap, count);
    }
    return FIRN_OK;
}

int runs_each(runs *it, runs_visit *visit, void *context, firn_error *error) {
    static cursor cursors[SPILL_STREAMS];
    if (it->run_count == 0) {
        sort_chunk(it);
        for (size_t i = 0; i < it->count; i++) {
            visit(context, it->chunk + i * it->words);
        }
        return FIRN_OK;
    }
    int code = it->count > 0 ? end_run(it, error) : FIRN_OK;
    uint8_t *scratch = code == FIRN_OK ? malloc(it->run_count * it->kept.block) : NULL;
    if (code == FIRN_OK && scratch == NULL) {
        code = spill_no_memory(error);
    }
    for (size_t i = 0; i < it->run_count && code == FIRN_OK; i++) {
        cursors[i] = (cursor){.scratch = scratch + i * it->kept.block};
    }
    code = code == FIRN_OK ? merge(it, cursors, visit, context, error) : code;
    free(scratch);
    return code;
}
