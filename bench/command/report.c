/* SPDX-License-Identifier: MIT */
/* The report: figures as aligned text, as JSON or as a Markdown table, the goals, and what several
 * processes measured put together. */
#include "bench.h"
#include "shared/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIN_SAMPLES 20    /* fewer say nothing */
#define ROUNDING    0.005 /* ratios are shown with two decimals */
#define SLOWER      1.05  /* by so much than the other library: not chance */

static const char *const mode_names[BENCH_MODES] = {"alone", "shared", "all"};

void bench_name_time(char text[32], double ns) {
    if (ns >= 1e6) {
        snprintf(text, 32, "%.1f ms", ns / 1e6);
    } else if (ns >= 1e4) {
        snprintf(text, 32, "%.1f us", ns / 1e3);
    } else {
        snprintf(text, 32, ns < 10 ? "%.2f ns" : "%.1f ns", ns);
    }
}

/* ---- what figures say ------------------------------------------------------------------------ */

static bool is_known(const bench_result *result, enum bench_mode mode) {
    return result->measured && result->samples[mode] >= (mode == BENCH_ALL ? 1 : MIN_SAMPLES);
}

/* The path's median divided by the median of `result`; 0: unknown. */
static double ratio_of(const bench_result *path, const bench_result *result, enum bench_mode mode) {
    return is_known(path, mode) && is_known(result, mode)
               ? path->median[mode] / result->median[mode]
               : 0;
}

enum verdict { NO_GOAL, UNKNOWN, MET, MISSED };

/* Of the case's own goal, for a path, or of the path's goal that a peer sets. */
static enum verdict judge(const bench_case *about, const bench_result *path,
                          const bench_result *result) {
    if (about->goal_ns > 0) {
        enum bench_mode mode = is_known(result, BENCH_ALL) ? BENCH_ALL : BENCH_ALONE;
        return !is_known(result, mode)                  ? UNKNOWN
               : result->median[mode] <= about->goal_ns ? MET
                                                        : MISSED;
    }
    if (about->goal_ratio[0] <= 0) {
        return NO_GOAL;
    }
    enum verdict verdict = UNKNOWN;
    for (int mode = 0; mode < BENCH_MODES; mode++) {
        double ratio = ratio_of(path, result, (enum bench_mode)mode);
        if (ratio > 0 && verdict != MISSED) {
            double goal = about->goal_ratio[mode == BENCH_SHARED];
            verdict = ratio < goal + ROUNDING ? MET : MISSED;
        }
    }
    return verdict;
}

static bool is_slower(const bench_result *path, const bench_result *other) {
    for (int mode = 0; mode < BENCH_MODES; mode++) {
        if (ratio_of(path, other, (enum bench_mode)mode) > SLOWER) {
            return true;
        }
    }
    return false;
}

/* ---- text and Markdown ----------------------------------------------------------------------- */

enum { CELLS = 9, CELL = 40 }; /* name; minimum, median, ratio in both modes; sustained; goal */
typedef char cells[CELLS][CELL];

static const int widths[CELLS] = {-25, 8, 8, 7, 8, 8, 7, 9, -24};

/* Without the unit while it is ns, which the head names. */
static void put_time(char cell[CELL], double ns) {
    char text[32];
    bench_name_time(text, ns);
    size_t length = strlen(text);
    snprintf(cell, CELL, "%.*s", (int)(text[length - 2] == 'n' ? length - 3 : length), text);
}

static void put_goal(char cell[CELL], const bench_case *about, enum verdict verdict) {
    static const char *const words[] = {"", ": not measured", ": met", ": missed"};
    char limit[32];
    if (verdict == NO_GOAL) {
        return;
    }
    if (about->goal_ns > 0) {
        bench_name_time(limit, about->goal_ns);
    } else if (about->goal_ratio[1] > 0 && about->goal_ratio[1] != about->goal_ratio[0]) {
        snprintf(limit, sizeof limit, "%g x, %g x", about->goal_ratio[0], about->goal_ratio[1]);
    } else {
        snprintf(limit, sizeof limit, "%g x", about->goal_ratio[0]);
    }
    snprintf(cell, CELL, "%.24s%s", limit, words[verdict]);
}

static void fill(cells row, const char *name, const bench_result *result,
                 const bench_result *path) {
    memset(row, 0, sizeof(cells));
    snprintf(row[0], CELL, "%.39s", name);
    for (int mode = 0; mode < BENCH_MODES; mode++) {
        char(*position)[CELL] = &row[mode == BENCH_SHARED ? 4 : 1];
        double ratio = path != NULL ? ratio_of(path, result, (enum bench_mode)mode) : 0;
        if (is_known(result, (enum bench_mode)mode)) {
            put_time(position[0], result->least[mode]);
            put_time(position[1], result->median[mode]);
        }
        if (ratio > 0) {
            snprintf(position[2], CELL, ratio < 0.1 ? "%.2g x" : "%.2f x", ratio);
        }
    }
    if (path == NULL && result->sustained_ns > result->median[BENCH_ALONE]) {
        put_time(row[7], result->sustained_ns);
    }
}

static void put_cells(session *s, enum bench_report report, cells row) {
    char *out = output_room(&s->out);
    size_t length = 0;
    for (int i = 0; i < CELLS; i++) {
        if (report == BENCH_MARKDOWN) {
            length += (size_t)sprintf(out + length, "| %s ", row[i]);
        } else {
            length += (size_t)sprintf(out + length, "%s%*s", i > 0 ? " " : "", widths[i], row[i]);
        }
    }
    while (report == BENCH_TEXT && length > 0 && out[length - 1] == ' ') {
        length--;
    }
    s->out.length += length;
    output_text(&s->out, report == BENCH_MARKDOWN ? "|\n" : "\n");
}

void bench_put_section(session *s, enum bench_report report, const char *section, bool against) {
    bool slow = strcmp(section, "processes") == 0;
    cells head = {"",       "minimum", "median",    "ratio", "minimum",
                  "median", "ratio",   "sustained", "goal"};
    snprintf(head[0], CELL, "%s%s", section, against ? ", other library" : "");
    if (report == BENCH_TEXT) {
        output_print(&s->out, "%25s %s\n", "ns per ID",
                     slow ? "all samples" : "alone on a core          core shared with another");
        put_cells(s, report, head);
    } else if (report == BENCH_MARKDOWN) {
        for (int i = 1; i < 7; i++) {
            snprintf(head[i], CELL, "%s%s",
                     i % 3 == 1   ? "minimum"
                     : i % 3 == 2 ? "median"
                                  : "ratio",
                     i > 3 ? ", shared" : "");
        }
        put_cells(s, report, head);
        output_text(&s->out, "|---|--:|--:|--:|--:|--:|--:|--:|---|\n");
    }
}

static void put_missing(session *s, enum bench_report report, const char *name, const char *why) {
    char text[256];
    if (report == BENCH_TEXT) {
        output_print(&s->out, "%-25s not measured: %s\n", name, why);
    } else {
        snprintf(text, sizeof text, "%s is not measured: %s", name, why);
        tell_note(s, text);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static const char *kind_name(const bench_case *about, bool other) {
    static const char *const names[] = {"path", "peer", "limit"};
    return other ? "other" : names[about->kind];
}

static void put_json(session *s, const bench_case *about, const bench_result *result,
                     const bench_result *path, bool other) {
    enum verdict verdict = judge(about, path, result);
    json_t *object =
        json_pack("{s:s, s:s, s:s}", "name", about->name != NULL ? about->name : about->group,
                  "group", about->group, "kind", kind_name(about, other));
    json_t *ratios = json_object();
    for (int mode = 0; mode < BENCH_MODES; mode++) {
        double ratio = ratio_of(path, result, (enum bench_mode)mode);
        if (result->samples[mode] > 0) {
            json_object_set_new(object, mode_names[mode],
                                json_pack("{s:f, s:f, s:I}", "min_ns", result->least[mode],
                                          "median_ns", result->median[mode], "samples",
                                          (json_int_t)result->samples[mode]));
        }
        if (path != result && ratio > 0) {
            json_object_set_new(ratios, mode_names[mode], json_real(ratio));
        }
    }
    if (path != result) {
        json_object_set(object, "ratio", ratios);
    }
    json_decref(ratios);
    if (result->sustained_ns > 0) {
        json_object_set_new(object, "sustained_ns", json_real(result->sustained_ns));
    }
    if (about->goal_ns > 0 && !other) {
        json_object_set_new(object, "goal_ns", json_real(about->goal_ns));
    } else if (about->goal_ratio[0] > 0) {
        json_object_set_new(object, "goal_ratio", json_real(about->goal_ratio[0]));
    }
    if (verdict >= MET && !other) {
        json_object_set_new(object, "met", json_boolean(verdict == MET));
    }
    json_object_set_new(object, "additions_per_ns", json_real(bench_best_rate()));
    json_object_set_new(object, "note", json_string(result->note));
    json_line(&s->out, object);
}

/* ---- a group --------------------------------------------------------------------------------- */

static void put_case(session *s, enum bench_report report, const bench_case *about,
                     const bench_result *result, const bench_result *path, bool other,
                     enum verdict verdict) {
    const char *plain = other ? "other library" : about->name != NULL ? about->name : about->group;
    char name[64];
    cells row;
    snprintf(name, sizeof name, "%s%s%s",
             path == result             ? ""
             : report == BENCH_MARKDOWN ? "– "
                                        : "  ",
             plain, about->kind == BENCH_LIMIT ? " *" : "");
    if (!result->measured) {
        put_missing(s, report, name, result->note);
    } else if (report == BENCH_JSON) {
        put_json(s, about, result, path, other);
    } else {
        fill(row, name, result, path == result ? NULL : path);
        if (other) {
            snprintf(row[8], CELL, "%s", is_slower(path, result) ? "slower" : "");
        } else {
            put_goal(row[8], about, verdict);
        }
        put_cells(s, report, row);
    }
}

void bench_put_group(session *s, enum bench_report report, const bench_row *rows, size_t first,
                     size_t end, int *missed, int *slower) {
    const bench_result *path = &rows[first].own;
    for (size_t i = first; i < end; i++) {
        const bench_case *about = &bench_cases[i];
        enum verdict verdict = judge(about, path, &rows[i].own);
        *missed += verdict == MISSED;
        put_case(s, report, about, &rows[i].own, path, false, verdict);
        if (rows[i].other.measured) {
            *slower += is_slower(path, &rows[i].other);
            put_case(s, report, about, &rows[i].other, path, true, NO_GOAL);
        }
    }
    output_flush(&s->out);
}
