/* SPDX-License-Identifier: MIT */
/* See runs.h. A quarter of the memory is for the chunk, a quarter for the sort of the C library,
 * the rest for runs. */
#include "runs.h"

#include "command.h"

#include <inttypes.h>
#include <stdlib.h>

/* Where a run is read. */
typedef struct run_cursor {
    const uint64_t *next, *end;
    size_t block;
    uint8_t *scratch;
} run_cursor;

int runs_open(sorted_runs *runs, size_t words, uint64_t memory, firn_error *error) {
    memset(runs, 0, sizeof *runs);
    runs->words = words;
    runs->room = (size_t)(memory / 4 / (words * sizeof(uint64_t)));
    runs->chunk = malloc(runs->room * words * sizeof(uint64_t));
    spill_open(&runs->kept, (size_t)memory / 2, words * sizeof(uint64_t));
    return runs->chunk != NULL ? FIRN_OK : spill_no_memory(error);
}

void runs_close(sorted_runs *runs) {
    spill_close(&runs->kept);
    free(runs->chunk);
    runs->chunk = NULL;
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

static void sort_chunk(sorted_runs *runs) {
    qsort(runs->chunk, runs->count, runs->words * sizeof(uint64_t),
          runs->words == 1 ? by_one : by_three);
}

/* The chunk becomes a run. */
static int end_run(sorted_runs *runs, firn_error *error) {
    const size_t unit = runs->words * sizeof(uint64_t);
    if (runs->run_count == SPILL_STREAMS) {
        return set_error(error, FIRN_EMEMORY,
                         "more than %zu IDs do not fit the memory: set a larger --memory",
                         runs->room * SPILL_STREAMS);
    }
    spill_stream *stream = &runs->kept.streams[runs->run_count++];
    sort_chunk(runs);
    for (size_t done = 0; done < runs->count * unit;) {
        if (stream->next == stream->end) {
            int code = spill_turn(&runs->kept, stream, error);
            if (code != FIRN_OK) {
                return code;
            }
        }
        size_t some = (size_t)(stream->end - stream->next);
        some = some < runs->count * unit - done ? some : runs->count * unit - done;
        memcpy(stream->next, (const uint8_t *)runs->chunk + done, some);
        stream->next += some;
        done += some;
    }
    runs->count = 0;
    return FIRN_OK;
}

int runs_add(sorted_runs *runs, const uint64_t *key, firn_error *error) {
    if (runs->count == runs->room) {
        int code = end_run(runs, error);
        if (code != FIRN_OK) {
            return code;
        }
    }
    memcpy(runs->chunk + runs->count++ * runs->words, key, runs->words * sizeof *key);
    return FIRN_OK;
}

/* ---- the merge ------------------------------------------------------------------------------- */

/* The next block of a run. `cursor` is NULL after the last. FIRN_EIO. */
static int next_block(sorted_runs *runs, size_t run, run_cursor *cursor, firn_error *error) {
    const spill_stream *stream = &runs->kept.streams[run];
    size_t bytes;
    cursor->next = NULL;
    if (cursor->block > stream->count) {
        return FIRN_OK;
    }
    const uint8_t *block =
        spill_block(&runs->kept, stream, cursor->block++, cursor->scratch, &bytes, error);
    if (block == NULL) {
        return FIRN_EIO;
    }
    cursor->next = bytes > 0 ? (const uint64_t *)(const void *)block : NULL;
    cursor->end = cursor->next + bytes / sizeof(uint64_t);
    return FIRN_OK;
}

/* Moves the first of a heap of runs down to its place. */
static void sink(const sorted_runs *runs, const run_cursor *cursors, size_t *heap, size_t count) {
    for (size_t i = 0, child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count &&
            compare(cursors[heap[child + 1]].next, cursors[heap[child]].next, runs->words) < 0) {
            child++;
        }
        if (compare(cursors[heap[i]].next, cursors[heap[child]].next, runs->words) <= 0) {
            return;
        }
        size_t run = heap[i];
        heap[i] = heap[child];
        heap[child] = run;
    }
}

static int merge(sorted_runs *runs, run_cursor *cursors, runs_visit *visit, void *context,
                 firn_error *error) {
    size_t heap[SPILL_STREAMS], count = runs->run_count;
    for (size_t i = 0; i < count; i++) {
        heap[i] = i;
        int code = next_block(runs, i, &cursors[i], error);
        if (code != FIRN_OK) {
            return code;
        }
    }
    for (size_t i = 1; i < count; i++) { /* adds one run after the other */
        for (size_t position = i; position > 0; position = (position - 1) / 2) {
            size_t above = (position - 1) / 2, run = heap[position];
            if (compare(cursors[run].next, cursors[heap[above]].next, runs->words) >= 0) {
                break;
            }
            heap[position] = heap[above];
            heap[above] = run;
        }
    }
    while (count > 0) {
        run_cursor *first = &cursors[heap[0]];
        visit(context, first->next);
        first->next += runs->words;
        if (first->next == first->end) {
            int code = next_block(runs, heap[0], first, error);
            if (code != FIRN_OK) {
                return code;
            }
        }
        if (first->next == NULL) {
            heap[0] = heap[--count];
        }
        sink(runs, cursors, heap, count);
    }
    return FIRN_OK;
}

int runs_each(sorted_runs *runs, runs_visit *visit, void *context, firn_error *error) {
    static run_cursor cursors[SPILL_STREAMS];
    if (runs->run_count == 0) {
        sort_chunk(runs);
        for (size_t i = 0; i < runs->count; i++) {
            visit(context, runs->chunk + i * runs->words);
        }
        return FIRN_OK;
    }
    int code = runs->count > 0 ? end_run(runs, error) : FIRN_OK;
    uint8_t *scratch = code == FIRN_OK ? malloc(runs->run_count * runs->kept.block) : NULL;
    if (code == FIRN_OK && scratch == NULL) {
        code = spill_no_memory(error);
    }
    for (size_t i = 0; i < runs->run_count && code == FIRN_OK; i++) {
        cursors[i] = (run_cursor){.scratch = scratch + i * runs->kept.block};
    }
    code = code == FIRN_OK ? merge(runs, cursors, visit, context, error) : code;
    free(scratch);
    return code;
}
