/* SPDX-License-Identifier: MIT */
/* `firn check` of a file of IDs, a whole process, per ID. Sorted IDs need no memory; of unsorted
 * IDs all are kept. And `firn show` of decimals as JSON, compared with jansson, which writes it. */
#include "bench.h"
#include "object.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { IDS = 4000000, SHOWN = 50000 };

/* Multiples of an odd number: unsorted, and all different. */
static firn_id id_at(uint64_t i, bool random, uint32_t bits) {
    const uint64_t mixed = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t upper = random ? mixed : UINT64_C(0x0192f0c800000000) + i;
    if (bits == 64) {
        return (firn_id){upper & INT64_MAX, 0, 0, 64};
    }
    return (firn_id){mixed, upper, 0, 128};
}

static bool write_ids(int fd, bool random, int form, uint64_t count) {
    FILE *file = fdopen(fd, "w");
    char text[FIRN_TEXT_SIZE + 1];
    if (file == NULL) {
        close(fd);
        return false;
    }
    for (uint64_t i = 0; i < count; i++) {
        firn_id id = id_at(i, random, form == FIRN_FORM_UUID ? 128 : 64);
        firn_format(text, &id, form);
        fputs(text, file);
        fputc('\n', file);
    }
    bool fine = ferror(file) == 0;
    return fclose(file) == 0 && fine;
}

static char path[4096], file[4096];
static bench_child child;

static bool work_check(void *context, uint64_t n) {
    bool fine = true;
    for (uint64_t i = 0; i < n && fine; i++) {
        fine = bench_spawn(context);
    }
    return fine;
}

static void remove_file(bench_run *run) {
    (void)run;
    bench_file_end(file);
}

/* Writes the file and sets up `wanted`, whose words or input name it. */
static bool set_up(bench_run *run, const bench_child *wanted, bool random, int form, uint64_t count,
                   const char *what) {
    int fd = bench_file(file, sizeof file);
    bool made = fd >= 0 && write_ids(fd, random, form, count);
    if (!made || !bench_command_path(path, sizeof path)) {
        snprintf(run->note, sizeof run->note, "cannot make a file in TMPDIR");
        if (fd >= 0) {
            bench_file_end(file);
        }
        return false;
    }
    child = *wanted;
    run->context = &child;
    run->work = work_check;
    run->close = remove_file;
    run->slow = true;
    run->ids = (double)count;
    snprintf(run->note, sizeof run->note, "%s of %" PRIu64 " IDs, a whole process", what, count);
    return true;
}

/* `scheme` is the form, `keys` says if they are sorted. */
bool bench_check(bench_run *run) {
    static char word[] = "check";
    const bench_child wanted = {
        .program = path, .words = {path, word, file, NULL}, .to = "/dev/null"};
    return set_up(run, &wanted, strcmp(run->about->keys, "random") == 0,
                  firn_form_find(run->about->scheme), IDS, "firn check");
}

/* ---- show ----------------------------------------------------------------------------------- */

bool bench_show(bench_run *run) {
    static char show[] = "show", json[] = "--json", word_scheme[] = "--scheme", name[24];
    const bench_child wanted = {.program = path,
                                .words = {path, show, json, word_scheme, name, NULL},
                                .from = file,
                                .to = "/dev/null"};
    snprintf(name, sizeof name, "%s", run->about->scheme);
    return set_up(run, &wanted, false, FIRN_FORM_DEC, SHOWN, "firn show --json");
}

static int drop(const char *bytes, size_t size, void *sum) {
    (void)bytes;
    *(size_t *)sum += size;
    return 0;
}

static bool work_jansson(void *context, uint64_t n) {
    bool fine = true;
    for (uint64_t i = 0; i < n * SHOWN && fine; i++) {
        json_t *object = json_pack(
            "{s:s, s:s, s:I, s:s, s:s, s:{s:i, s:i, s:i}, s:[s], s:s}", "id", "2126466254032121856",
            "scheme", "snowflake", "bits", (json_int_t)64, "time", "2026-11-28T00:00:37.450Z",
            "unix_ns", "1795824037450000000", "fields", "datacenter", 24, "worker", 11, "sequence",
            (int)(i & 4095), "candidates", "snowflake", "sure", "named");
        fine = object != NULL && json_dump_callback(object, drop, context, OBJECT_DUMP) == 0;
        json_decref(object);
    }
    return fine;
}

bool bench_jansson(bench_run *run) {
    static size_t sum;
    run->context = &sum;
    run->work = work_jansson;
    run->slow = true;
    run->ids = SHOWN;
    snprintf(run->note, sizeof run->note, "jansson packs and writes such an object");
    return true;
}
