/* SPDX-License-Identifier: MIT */
/* `firn stamp` of a file of records, a whole process, compared with a loop that only finds the ends
 * of such records and copies them. */
#include "bench.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORDS = 1000000, BLOCK = 1 << 20, FIRST_S = 1700000000 };

/* Four records share a second, as in a busy shop. */
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

static bool make_records(char *path, size_t size, const char *format, bench_run *run) {
    int file = bench_file(path, size);
    if (file < 0) {
        snprintf(run->note, sizeof run->note, "cannot make a file in TMPDIR");
        return false;
    }
    if (!write_records(file, format)) {
        snprintf(run->note, sizeof run->note, "cannot write a file in TMPDIR");
        bench_file_end(path);
        return false;
    }
    return true;
}

/* ---- stamp ---------------------------------------------------------------------------------- */

static char path[4096], file[4096], format[16], scheme[24];
static bench_child child;

static bool work_stamp(void *context, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        if (!bench_spawn(context)) {
            return false;
        }
    }
    return true;
}

static void remove_file(bench_run *run) {
    (void)run;
    bench_file_end(file);
}

bool bench_stamp(bench_run *run) {
    static char node[] = "node=1", word_stamp[] = "stamp", word_format[] = "--format";
    static char word_scheme[] = "--scheme", word_time[] = "--time", placed[] = "placed";
    static char word_seed[] = "--seed", seed[] = "bench";
    const bench_case *about = run->about;
    bool random = firn_scheme_find(about->scheme)->node_rule == FIRN_NODE_NONE;
    if (!bench_command_path(path, sizeof path) ||
        !make_records(file, sizeof file, about->keys, run)) {
        return false;
    }
    snprintf(format, sizeof format, "%s", about->keys);
    snprintf(scheme, sizeof scheme, "%s", about->scheme);
    child =
        (bench_child){.program = path,
                      .words = {path, word_stamp, file, word_format, format, word_time, placed,
                                word_scheme, scheme, word_seed, seed, random ? NULL : node, NULL},
                      .to = "/dev/null",
                      .silent = true};
    run->context = &child;
    run->work = work_stamp;
    run->close = remove_file;
    run->slow = true;
    run->ids = RECORDS;
    snprintf(run->note, sizeof run->note, "a whole process of %d records", (int)RECORDS);
    return true;
}

/* ---- a bare copy ---------------------------------------------------------------------------- */

typedef struct copying {
    const char *path;
    char *input, *output; /* of BLOCK bytes each */
} copying;

/* Records are copied one by one, as a stamp must do. */
static bool copy_records(const copying *self, int from, int to) {
    size_t length = 0;
    for (;;) {
        ssize_t got = read(from, self->input + length, BLOCK - length);
        if (got <= 0) {
            return got == 0;
        }
        size_t end = length + (size_t)got, start = 0, filled = 0;
        const char *newline;
        while ((newline = memchr(self->input + start, '\n', end - start)) != NULL) {
            size_t size = (size_t)(newline - self->input) + 1 - start;
            memcpy(self->output + filled, self->input + start, size);
            filled += size;
            start += size;
        }
        if (write(to, self->output, filled) != (ssize_t)filled) {
            return false;
        }
        length = end - start;
        memmove(self->input, self->input + start, length);
    }
}

static bool work_copy(void *context, uint64_t n) {
    const copying *self = context;
    bool fine = true;
    for (uint64_t i = 0; i < n && fine; i++) {
        int from = open(self->path, O_RDONLY | O_CLOEXEC);
        int to = open("/dev/null", O_WRONLY | O_CLOEXEC);
        fine = from >= 0 && to >= 0 && copy_records(self, from, to);
        close(from);
        close(to);
    }
    return fine;
}

static void end_copy(bench_run *run) {
    copying *self = run->context;
    bench_file_end(self->path);
    free(self->input);
    free(self->output);
}

bool bench_copy(bench_run *run) {
    static char text[4096];
    static copying self;
    self = (copying){text, malloc(BLOCK), malloc(BLOCK)};
    if (self.input == NULL || self.output == NULL ||
        !make_records(text, sizeof text, run->about->keys, run)) {
        free(self.input);
        free(self.output);
        return false;
    }
    run->context = &self;
    run->work = work_copy;
    run->close = end_copy;
    run->slow = true;
    run->ids = RECORDS;
    snprintf(run->note, sizeof run->note, "reads, copies each line, writes");
    return true;
}
