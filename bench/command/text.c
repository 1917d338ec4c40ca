/* SPDX-License-Identifier: MIT */
/* Measuring: UUIDs as text, written and read, a call each. The ID changes from call to call. */
#include "bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool work_write(void *context, uint64_t n) {
    firn_id *id = context;
    char text[FIRN_TEXT_SIZE];
    for (uint64_t i = 0; i < n; i++) {
        id->low++;
        firn_format(text, id, FIRN_FORM_UUID);
        BENCH_KEEP(text);
    }
    return true;
}

static bool work_read(void *context, uint64_t n) {
    char *text = context;
    firn_id id;
    for (uint64_t i = 0; i < n; i++) {
        BENCH_KEEP(text);
        if (firn_parse(&id, FIRN_FORM_UUID, 128, text, 36, NULL) != FIRN_OK) {
            return false;
        }
        BENCH_KEEP(id);
    }
    return true;
}

bool bench_write(const bench_case *about, bench_result *result) {
    firn_id id = {UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0x0192f0c8d1e37a55), 0, 128};
    uint64_t burst = 0;
    (void)about;
    result->ns = bench_median(work_write, NULL, &id, UINT64_MAX / 4, &burst);
    snprintf(result->note, sizeof result->note, "firn_format; bursts of %" PRIu64, burst);
    return true;
}

bool bench_read(const bench_case *about, bench_result *result) {
    char text[] = "0192f0c8-d1e3-7a55-9e37-79b97f4a7c15";
    uint64_t burst = 0;
    (void)about;
    result->ns = bench_median(work_read, NULL, text, UINT64_MAX / 4, &burst);
    snprintf(result->note, sizeof result->note,
             "firn_parse, every character checked; bursts of %" PRIu64, burst);
    return true;
}
