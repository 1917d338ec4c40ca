/* SPDX-License-Identifier: MIT */
/* `firn bench`: which cases are measured, with which libraries and in how many processes. */
#include "bench.h"
#include "shared/json.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static const bench_api own_api = {
#define BENCH_X(name) .name = firn_##name,
    BENCH_FUNCTIONS(BENCH_X) BENCH_MASKS(BENCH_X)
#undef BENCH_X
};

/* False: it cannot be loaded, and that has been reported. */
static bool load_library(session *s, const char *path, bench_api *api) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *symbol = NULL;
    if (library == NULL) {
        fail_as(s, FIRN_EIO, "cannot load %s: %s: use the path of a libfirn.so", path, dlerror());
        return false;
    }
#define BENCH_X(name)                                                                              \
    symbol = dlsym(library, "firn_" #name);                                                        \
    memcpy(&api->name, &symbol, sizeof symbol);                                                    \
    if (symbol == NULL) {                                                                          \
        fail_as(s, FIRN_EIO, "%s has no firn_%s: use the path of a libfirn.so", path, #name);      \
        return false;                                                                              \
    }
    BENCH_FUNCTIONS(BENCH_X)
    BENCH_MASKS(BENCH_X)
#undef BENCH_X
    return true;
}

/* Marks the cases of a section or a group; NULL: all. */
static int choose(session *s, bench_row *rows, const char *wanted) {
    const char **names = calloc(bench_case_count + 2, sizeof *names);
    size_t count = 0;
    bool found = false;
    for (size_t i = 0; i < bench_case_count; i++) {
        const bench_case *about = &bench_cases[i];
        rows[i].wanted = wanted == NULL || strcmp(wanted, about->group) == 0 ||
                         strcmp(wanted, about->section) == 0;
        found = found || rows[i].wanted;
        if (names != NULL) {
            names[count++] = about->group;
        }
    }
    int status = STATUS_DONE;
    if (!found) {
        const char *near = names != NULL ? firn_nearest(wanted, names) : NULL;
        status =
            fail_usage(s, "there is no benchmark '%.40s': %s%s%s", wanted,
                       near != NULL ? "did you mean `" : "run firn bench without a name for all",
                       near != NULL ? near : "", near != NULL ? "`?" : "");
    }
    free(names);
    return status;
}

/* The index after the last case of the group that begins at `first`. */
static size_t group_end(size_t first) {
    size_t end = first + 1;
    while (end < bench_case_count &&
           strcmp(bench_cases[end].group, bench_cases[first].group) == 0) {
        end++;
    }
    return end;
}

static int process_count(session *s, int *processes) {
    const char *text = s->option[OPTION_PROCESSES];
    char *end = NULL;
    long number = text != NULL ? strtol(text, &end, 10) : 0;
    if (text != NULL && (*end != '\0' || number < 1 || number > BENCH_PROCESSES_MAX)) {
        return fail_usage(s, "--processes %s is not valid: use a number from 1 to %d", text,
                          BENCH_PROCESSES_MAX);
    }
    *processes = (int)number;
    return STATUS_DONE;
}

/* Measures, unless other processes did, and shows all groups. */
static int show(session *s, bench_row *rows, bool measured, const bench_api *own,
                const bench_api *other) {
    enum bench_report report = s->option[OPTION_JSON] != NULL       ? BENCH_JSON
                               : s->option[OPTION_MARKDOWN] != NULL ? BENCH_MARKDOWN
                                                                    : BENCH_TEXT;
    const char *section = "";
    int missed = 0, slower = 0;
    for (size_t first = 0, end; first < bench_case_count && !output_dead(&s->out); first = end) {
        end = group_end(first);
        if (!rows[first].wanted) {
            continue;
        }
        if (strcmp(section, bench_cases[first].section) != 0) {
            section = bench_cases[first].section;
            bench_put_section(s, report, section, other != NULL);
        }
        if (!measured) {
            bench_group(rows, first, end, own, other);
        }
        bench_put_group(s, report, rows, first, end, &missed, &slower);
        const bool last = end == bench_case_count || strcmp(section, bench_cases[end].section) != 0;
        if (last && strcmp(section, "threads") == 0) {
            bench_put_contention(s, report, own);
        }
    }
    if (report == BENCH_TEXT) {
        output_print(
            &s->out,
            "goals missed: %d; * work that the path above cannot avoid; %.1f additions per ns\n",
            missed, bench_best_rate());
    }
    if (other != NULL && report == BENCH_TEXT) {
        output_print(&s->out, "paths slower than in the other library: %d\n", slower);
    }
    return slower > 0 ? STATUS_NO : STATUS_DONE;
}

int run_bench(session *s) {
    static bench_api loaded, against;
    const char *wanted = s->operand_count > 0 ? s->operands[0] : NULL;
    const char *library = s->option[OPTION_LIBRARY], *other = s->option[OPTION_AGAINST];
    int processes = 0;
    if (s->operand_count > 1) {
        return fail_usage(s, "'%.40s' is one argument too many: bench takes one NAME",
                          s->operands[1]);
    }
    bench_row *rows = calloc(bench_case_count, sizeof *rows);
    if (rows == NULL) {
        return STATUS_IO;
    }
    bool scaling = wanted != NULL && strcmp(wanted, "scaling") == 0;
    int status = scaling ? STATUS_DONE : choose(s, rows, wanted);
    status = status == STATUS_DONE ? process_count(s, &processes) : status;
    if (status == STATUS_DONE && ((library != NULL && !load_library(s, library, &loaded)) ||
                                  (other != NULL && !load_library(s, other, &against)))) {
        status = STATUS_IO;
    }
    if (status == STATUS_DONE && scaling) {
        free(rows);
        return bench_scaling(s, library != NULL ? &loaded : &own_api);
    }
    if (status == STATUS_DONE && processes > 0 && !bench_processes(s, rows, processes)) {
        status = STATUS_IO;
        tell("firn: ",
             "a process of firn bench failed: run firn bench without --processes to see why");
    }
    if (status == STATUS_DONE) {
        status = show(s, rows, processes > 0, library != NULL ? &loaded : &own_api,
                      other != NULL ? &against : NULL);
    }
    free(rows);
    return status;
}
