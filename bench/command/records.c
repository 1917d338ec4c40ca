/* SPDX-License-Identifier: MIT */
/* Measuring: `firn stamp` over a file of records, a whole process, and beside it a loop that only
 * finds the ends of the same records and copies them. */
#include "bench.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORDS = 200000, BLOCK = 1 << 20, FIRST_S = 1700000000 };

/* Four records share a second, as those of a busy shop do. */
static bool write_records(int file, const char *format) {
    FILE *out = fdopen(file, "w");
    if (out == NULL) {
        close(file);
        return false;
    }
    char mark = strcmp(format, "tsv") == 0 ? '\t' : ',';
    bool json = strcmp(format, "jsonl") == 0;
    if (!json) {
        fprintf(out, "order%cplaced%camount%cnote\n", mark, mark, mark);
    }
    for (int i = 0; i < RECORDS; i++) {
        firn_time time = {FIRST_S + i / 4, i % 1000 * 1000000};
        char text[FIRN_TIME_SIZE];
        firn_time_format(text, &time, 3);
        fprintf(out,
                json ? "{\"order\":%d,%c\"placed\":\"%s\",%c\"amount\":%d.50,%c\"note\":\"a few "
                       "words\"}\n"
                     : "%d%c%s%c%d.50%ca few words\n",
                i, json ? ' ' : mark, text, json ? ' ' : mark, i % 977, json ? ' ' : mark);
    }
    return fclose(out) == 0;
}

static bool make_records(char *path, size_t size, const char *format, bench_result *result) {
    int file = bench_file(path, size);
    if (file < 0) {
        snprintf(result->note, sizeof result->note, "cannot make a file in TMPDIR");
        return false;
    }
    if (!write_records(file, format)) {
        snprintf(result->note, sizeof result->note, "cannot write a file in TMPDIR");
        unlink(path);
        return false;
    }
    return true;
}

/* ---- firn ----------------------------------------------------------------------------------- */

static bool work_stamp(void *context, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        if (!bench_run(context)) {
            return false;
        }
    }
    return true;
}

bool bench_stamp(const bench_case *about, bench_result *result) {
    char path[4096], file[4096], format[16], scheme[24], node[] = "node=1";
    char word_stamp[] = "stamp", word_format[] = "--format", word_scheme[] = "--scheme";
    char word_time[] = "--time", placed[] = "placed", word_seed[] = "--seed", seed[] = "bench";
    uint64_t burst = 0;
    bool random = firn_scheme_find(about->scheme)->node_rule == FIRN_NODE_NONE;
    if (!bench_own_path(path, sizeof path) ||
        !make_records(file, sizeof file, about->keys, result)) {
        return false;
    }
    snprintf(format, sizeof format, "%s", about->keys);
    snprintf(scheme, sizeof scheme, "%s", about->scheme);
    bench_child c = {.program = path,
                     .words = {path, word_stamp, file, word_format, format, word_time, placed,
                               word_scheme, scheme, word_seed, seed, random ? NULL : node, NULL},
                     .to = "/dev/null",
                     .silent = true};
    result->ns = bench_median(work_stamp, NULL, &c, 1, &burst) / RECORDS;
    unlink(file);
    snprintf(result->note, sizeof result->note,
             result->ns >= 0 ? "%.2f M records/s, %s, a whole process of %d records"
                             : "firn stamp fails",
             1e3 / result->ns, about->scheme, (int)RECORDS);
    return result->ns >= 0;
}

/* ---- a bare copy ---------------------------------------------------------------------------- */

typedef struct copying {
    const char *path;
    char *in, *out; /* of BLOCK bytes each */
} copying;

/* Records are copied one by one, as a stamp has to. */
static bool copy_records(const copying *it, int from, int to) {
    size_t length = 0;
    for (;;) {
        ssize_t got = read(from, it->in + length, BLOCK - length);
        if (got <= 0) {
            return got == 0;
        }
        size_t end = length + (size_t)got, start = 0, filled = 0;
        const char *newline;
        while ((newline = memchr(it->in + start, '\n', end - start)) != NULL) {
            size_t size = (size_t)(newline - it->in) + 1 - start;
            memcpy(it->out + filled, it->in + start, size);
            filled += size;
            start += size;
        }
        if (write(to, it->out, filled) != (ssize_t)filled) {
            return false;
        }
        length = end - start;
        memmove(it->in, it->in + start, length);
    }
}

static bool work_copy(void *context, uint64_t n) {
    const copying *it = context;
    bool fine = true;
    for (uint64_t i = 0; i < n && fine; i++) {
        int from = open(it->path, O_RDONLY | O_CLOEXEC);
        int to = open("/dev/null", O_WRONLY | O_CLOEXEC);
        fine = from >= 0 && to >= 0 && copy_records(it, from, to);
        close(from);
        close(to);
    }
    return fine;
}

bool bench_copy(const bench_case *about, bench_result *result) {
    char file[4096];
    uint64_t burst = 0;
    copying it = {file, malloc(BLOCK), malloc(BLOCK)};
    if (it.in == NULL || it.out == NULL || !make_records(file, sizeof file, about->keys, result)) {
        free(it.in);
        free(it.out);
        return false;
    }
    result->ns = bench_median(work_copy, NULL, &it, 1, &burst) / RECORDS;
    unlink(file);
    free(it.in);
    free(it.out);
    snprintf(result->note, sizeof result->note, "reads, copies each line, writes");
    return result->ns >= 0;
}
