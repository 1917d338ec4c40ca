/* SPDX-License-Identifier: MIT */
/* Figures of several processes: one process may have unlucky addresses or a busy neighbour all
 * along. */
#include "bench.h"
#include "shared/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALONE 0.93 /* a process whose best rate is lower never was alone */

static const char *const mode_names[BENCH_MODES] = {"alone", "shared", "all"};

/* The medians of one row, a process each. */
typedef struct medians {
    double ns[BENCH_MODES][BENCH_PROCESSES_MAX];
    int count[BENCH_MODES];
} medians;

static const char *text_of(json_t *object, const char *member) {
    const char *text = json_string_value(json_object_get(object, member));
    return text != NULL ? text : "";
}

static const char *name_of(const bench_case *about) {
    return about->name != NULL ? about->name : about->group;
}

static void add_mode(bench_result *result, medians *all, int mode, json_t *figures) {
    double least = json_number_value(json_object_get(figures, "min_ns"));
    result->samples[mode] += json_integer_value(json_object_get(figures, "samples"));
    if (all->count[mode] == 0 || least < result->least[mode]) {
        result->least[mode] = least;
    }
    all->ns[mode][all->count[mode]++] = json_number_value(json_object_get(figures, "median_ns"));
}

static void add_row(bench_result *result, medians *all, json_t *object, double best) {
    double rate = json_number_value(json_object_get(object, "additions_per_ns"));
    for (int mode = 0; mode < BENCH_MODES; mode++) {
        json_t *figures = json_object_get(object, mode_names[mode]);
        if (figures != NULL && (mode == BENCH_ALL || rate >= ALONE * best)) {
            add_mode(result, all, mode, figures);
        }
    }
    result->measured = true;
    result->sustained_ns = json_number_value(json_object_get(object, "sustained_ns"));
    snprintf(result->note, sizeof result->note, "%.150s", text_of(object, "note"));
}

/* All objects that a process wrote into a file, as an array; the caller releases it. NULL: none. */
static json_t *read_objects(const char *path) {
    FILE *file = fopen(path, "r");
    json_t *objects = json_array(), *object;
    if (file == NULL) {
        json_decref(objects);
        return NULL;
    }
    while ((object = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL)) != NULL) {
        json_array_append_new(objects, object);
    }
    fclose(file);
    return objects;
}

/* The words of the child: the operand and the libraries of this process. */
static json_t *run_child(const session *s, char *own, const char *file) {
    static char words[3][4200];
    bench_child child = {
        .program = own, .words = {own, words[0], words[1]}, .to = file, .judges = true};
    int count = 3;
    static const struct {
        int option;
        const char *flag;
    } passed[] = {{OPTION_LIBRARY, "--library"}, {OPTION_AGAINST, "--against"}};
    strcpy(words[0], "bench");
    strcpy(words[1], "--json");
    static char flags[2][4200];
    for (int i = 0; i < 2; i++) {
        if (s->option[passed[i].option] != NULL) {
            snprintf(flags[i], sizeof flags[i], "%s=%s", passed[i].flag,
                     s->option[passed[i].option]);
            child.words[count++] = flags[i];
        }
    }
    if (s->operand_count > 0) {
        child.words[count++] = s->operands[0];
    }
    return bench_spawn(&child) ? read_objects(file) : NULL;
}

static void merge(bench_row *rows, json_t *runs, double best) {
    size_t count = bench_case_count * 2, position, i;
    json_t *objects, *object;
    medians *all = calloc(count, sizeof *all);
    json_array_foreach(runs, position, objects) {
        json_array_foreach(objects, i, object) {
            bool other = strcmp(text_of(object, "kind"), "other") == 0;
            for (size_t k = 0; k < bench_case_count && all != NULL; k++) {
                if (strcmp(bench_cases[k].group, text_of(object, "group")) == 0 &&
                    strcmp(name_of(&bench_cases[k]), text_of(object, "name")) == 0) {
                    add_row(other ? &rows[k].other : &rows[k].own, &all[k * 2 + other], object,
                            best);
                }
            }
        }
    }
    for (size_t k = 0; k < count && all != NULL; k++) {
        bench_result *result = k % 2 == 0 ? &rows[k / 2].own : &rows[k / 2].other;
        for (int mode = 0; mode < BENCH_MODES; mode++) {
            if (all[k].count[mode] > 0) {
                result->median[mode] = bench_middle(all[k].ns[mode], all[k].count[mode]);
            }
        }
    }
    free(all);
}

bool bench_processes(session *s, bench_row *rows, int processes) {
    char own[4096], file[4096];
    int fd = bench_file(file, sizeof file);
    json_t *runs = json_array();
    double best = 0;
    bool fine = fd >= 0 && bench_own_path(own, sizeof own);
    if (fd >= 0) {
        close(fd);
    }
    for (int i = 0; i < processes && fine; i++) {
        json_t *objects = run_child(s, own, file), *object;
        size_t position;
        fine = objects != NULL;
        json_array_foreach(objects, position, object) {
            double rate = json_number_value(json_object_get(object, "additions_per_ns"));
            best = rate > best ? rate : best;
        }
        json_array_append_new(runs, objects);
    }
    bench_file_end(file);
    bench_set_best_rate(best);
    merge(rows, runs, best);
    json_decref(runs);
    return fine;
}
