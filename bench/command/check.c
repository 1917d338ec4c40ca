/* SPDX-License-Identifier: MIT */
/* Measuring: `firn check` of a file of IDs, a whole process, by the ID. In order nothing has to be
 * kept; at random everything is. */
#include "bench.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { IDS = 4000000 };

/* The odd multiple of a counter: no two are alike, and they come in any order. */
static firn_id id_at(uint64_t i, bool random, uint32_t bits) {
    const uint64_t mixed = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t upper = random ? mixed : UINT64_C(0x0192f0c800000000) + i;
    if (bits == 64) {
        return (firn_id){upper & INT64_MAX, 0, 0, 64};
    }
    return (firn_id){mixed, upper, 0, 128};
}

static bool write_ids(int fd, bool random, int form) {
    FILE *file = fdopen(fd, "w");
    char text[FIRN_TEXT_SIZE + 1];
    if (file == NULL) {
        close(fd);
        return false;
    }
    for (uint64_t i = 0; i < IDS; i++) {
        firn_id id = id_at(i, random, form == FIRN_FORM_UUID ? 128 : 64);
        firn_format(text, &id, form);
        fputs(text, file);
        fputc('\n', file);
    }
    bool fine = ferror(file) == 0;
    return fclose(file) == 0 && fine;
}

static bool work_check(void *context, uint64_t n) {
    bool fine = true;
    for (uint64_t i = 0; i < n && fine; i++) {
        fine = bench_run(context);
    }
    return fine;
}

/* `scheme` is the form, `keys` says whether they are in order. */
bool bench_check(const bench_case *about, bench_result *result) {
    char path[4096], file[4096], word[] = "check";
    bool random = strcmp(about->keys, "random") == 0;
    uint64_t burst = 0;
    int fd = bench_file(file, sizeof file);
    bool made = fd >= 0 && write_ids(fd, random, firn_form_find(about->scheme));
    if (!made || !bench_own_path(path, sizeof path)) {
        snprintf(result->note, sizeof result->note, "cannot make a file in TMPDIR");
        if (fd >= 0) {
            unlink(file);
        }
        return false;
    }
    bench_child c = {.program = path, .words = {path, word, file, NULL}, .to = "/dev/null"};
    double ns = bench_median(work_check, NULL, &c, 1, &burst);
    unlink(file);
    result->ns = ns / IDS;
    snprintf(result->note, sizeof result->note,
             ns >= 0 ? "firn check of %d IDs as %s, %s, by the ID" : "firn check fails", IDS,
             about->scheme, random ? "in any order" : "in order");
    return ns >= 0;
}
