/* SPDX-License-Identifier: MIT */
/* Masks that are measured: a call for one ID, a call for many, and texts with their MAC. `scheme` has
 * the keys of the mask. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

enum { IDS = 1024 };

typedef struct masks {
    const bench_api *api;
    firn_mask *mask;
    firn_id ids[IDS], masked[IDS];
} masks;

static bool work_mask_one(void *context, uint64_t n) {
    masks *self = context;
    for (uint64_t i = 0; i < n; i++) {
        if (self->api->mask_apply(self->mask, self->masked, &self->ids[i % IDS], 1, NULL) !=
            FIRN_OK) {
            return false;
        }
        BENCH_KEEP(self->masked[0]);
    }
    return true;
}

static bool work_mask_many(void *context, uint64_t n) {
    masks *self = context;
    for (uint64_t i = 0; i < n; i++) {
        if (self->api->mask_apply(self->mask, self->masked, self->ids, IDS, NULL) != FIRN_OK) {
            return false;
        }
        BENCH_KEEP(self->masked[0]);
    }
    return true;
}

static bool work_mask_text(void *context, uint64_t n) {
    masks *self = context;
    char text[FIRN_TEXT_SIZE];
    for (uint64_t i = 0; i < n; i++) {
        if (self->api->mask_write(self->mask, text, "1541815603606036480", 19, NULL) != FIRN_OK) {
            return false;
        }
        BENCH_KEEP(text);
    }
    return true;
}

static void close_masks(bench_run *run) {
    masks *self = run->context;
    self->api->mask_close(self->mask);
    free(self);
}

static bool open_masks(bench_run *run, bool (*work)(void *context, uint64_t n), double ids) {
    static const uint8_t key[FIRN_MASK_KEY_SIZE] = {1, 2, 3, 4,
                                                    5, 6, 7, 8}; /* 16 bytes, for UUIDv47 too */
    masks *self = calloc(1, sizeof *self);
    firn_error error = {.text = "out of memory"};
    if (self == NULL ||
        run->api->mask_open(&self->mask, run->about->scheme, key, NULL, &error) != FIRN_OK) {
        snprintf(run->note, sizeof run->note, "%.150s", error.text);
        free(self);
        return false;
    }
    self->api = run->api;
    for (uint64_t i = 0; i < IDS; i++) { /* UUIDs of version 7 of one millisecond */
        self->ids[i] = (firn_id){UINT64_C(2) << 62 | i << 32 | (i * 2654435761 & 0xffffffff),
                                 UINT64_C(0x01933d3e7c007abc), 0, 128};
    }
    run->context = self;
    run->work = work;
    run->close = close_masks;
    run->ids = ids;
    return true;
}

bool bench_mask_one(bench_run *run) {
    return open_masks(run, work_mask_one, 1);
}

bool bench_mask_many(bench_run *run) {
    return open_masks(run, work_mask_many, IDS);
}

bool bench_mask_text(bench_run *run) {
    return open_masks(run, work_mask_text, 1);
}
