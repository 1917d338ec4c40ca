/* SPDX-License-Identifier: MIT */
/* Text that is measured: one call per ID, written, read and guessed. The IDs and texts change from
 * call to call and were made long before, so that no load waits for a store. */
#include "bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IDS = 64 };

typedef struct texts {
    const bench_api *api;
    int form;
    uint32_t bits;
    firn_id ids[IDS];
    size_t lengths[IDS];
    char texts[IDS][FIRN_TEXT_SIZE];
} texts;

static bool work_write(void *context, uint64_t n) {
    const texts *self = context;
    __typeof__(self->api->format) format = self->api->format;
    char text[FIRN_TEXT_SIZE];
    for (uint64_t i = 0; i < n; i++) {
        format(text, &self->ids[i % IDS], self->form);
        BENCH_KEEP(text);
    }
    return true;
}

static bool work_read(void *context, uint64_t n) {
    const texts *self = context;
    __typeof__(self->api->parse) parse = self->api->parse;
    firn_id id;
    for (uint64_t i = 0; i < n; i++) {
        if (parse(&id, self->form, self->bits, self->texts[i % IDS], self->lengths[i % IDS],
                  NULL) != FIRN_OK) {
            return false;
        }
        BENCH_KEEP(id);
    }
    return true;
}

static bool work_guess(void *context, uint64_t n) {
    const texts *self = context;
    static firn_reading readings[FIRN_READINGS_MAX];
    for (uint64_t i = 0; i < n; i++) {
        size_t count = self->api->guess(readings, self->texts[0], self->lengths[0], -1);
        BENCH_KEEP(count);
    }
    return true;
}

static bool work_libc_write(void *context, uint64_t n) {
    const texts *self = context;
    char text[FIRN_TEXT_SIZE];
    for (uint64_t i = 0; i < n; i++) {
        snprintf(text, sizeof text, "%" PRIu64, self->ids[i % IDS].low);
        BENCH_KEEP(text);
    }
    return true;
}

static bool work_libc_read(void *context, uint64_t n) {
    const texts *self = context;
    for (uint64_t i = 0; i < n; i++) {
        unsigned long long number = strtoull(self->texts[i % IDS], NULL, 10);
        BENCH_KEEP(number);
    }
    return true;
}

static void free_texts(bench_run *run) {
    free(run->context);
}

/* Plausible values: snowflakes of 19 digits, and 128 bits with random lower bits. */
static bool open_texts(bench_run *run, const char *form, bool (*work)(void *, uint64_t)) {
    texts *self = calloc(1, sizeof *self);
    if (self == NULL) {
        snprintf(run->note, sizeof run->note, "out of memory");
        return false;
    }
    self->api = run->api;
    self->form = firn_form_find(form);
    self->bits = self->form == FIRN_FORM_DEC ? 64 : 128;
    for (uint64_t i = 0; i < IDS; i++) {
        uint64_t mixed = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        self->ids[i] = self->bits == 64
                           ? (firn_id){(UINT64_C(1) << 60) + (mixed >> 4), 0, 0, 64}
                           : (firn_id){mixed, UINT64_C(0x0192f0c8d1e37a55) + i, 0, 128};
        firn_format(self->texts[i], &self->ids[i], self->form);
        self->lengths[i] = strlen(self->texts[i]);
    }
    run->context = self;
    run->work = work;
    run->close = free_texts;
    return true;
}

bool bench_write(bench_run *run) {
    snprintf(run->note, sizeof run->note, "firn_format");
    return open_texts(run, run->about->scheme, work_write);
}

bool bench_read(bench_run *run) {
    snprintf(run->note, sizeof run->note, "firn_parse, which checks every character");
    return open_texts(run, run->about->scheme, work_read);
}

bool bench_guess(bench_run *run) {
    if (!open_texts(run, "uuid", work_guess)) {
        return false;
    }
    texts *self = run->context;
    self->lengths[0] =
        (size_t)snprintf(self->texts[0], sizeof self->texts[0], "%s", run->about->scheme);
    snprintf(run->note, sizeof run->note, "firn_guess of %s", run->about->scheme);
    return true;
}

bool bench_libc_write(bench_run *run) {
    snprintf(run->note, sizeof run->note, "snprintf");
    return open_texts(run, "dec", work_libc_write);
}

bool bench_libc_read(bench_run *run) {
    snprintf(run->note, sizeof run->note, "strtoull");
    return open_texts(run, "dec", work_libc_read);
}
