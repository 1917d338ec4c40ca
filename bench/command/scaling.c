/* SPDX-License-Identifier: MIT */
/* `firn bench scaling`: the cost of an ID when 1 to 64 threads share a generator. The CPU time is
 * measured on the processors of this machine. For as many processors as threads it is computed:
 * operations on the shared cursor are counted one by one, and a contended operation costs what it
 * costs between two of them here. */
#include "bench.h"
#include "shared/json.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 7, REPEATS = 15, IDS = 1 << 15, WARM_UP = 1 << 18, COUNTED = 20000 };
enum { CONTENDED_IDS = 1 << 22 }; /* of all threads: each is at work for several turns */

static const struct {
    const char *name, *scheme, *keys;
} schemes[] = {
    {"strict", BENCH_WIDE_LAYOUT, ""},
    {"per thread", BENCH_WIDE_LAYOUT, "ordering=thread clock=tick"},
    {"uuid7", "uuid7", ""},
    {"uuid4", "uuid4", ""},
};
enum { SCHEMES = sizeof schemes / sizeof schemes[0] };

typedef struct column {
    double measured[STEPS]; /* ns of CPU time per ID, 1 to 64 threads; 0: failed */
    double operations;      /* on the shared cursor, per ID */
} column;

/* How often the cursor moves in that number of calls, by firn_gen_status. */
static double count_operations(const bench_api *api, int which) {
    firn_config config = {.size = sizeof config,
                          .scheme = schemes[which].scheme,
                          .keys = schemes[which].keys,
                          .store_url = "memory:"};
    firn_status before = {.size = sizeof before}, after = {.size = sizeof after};
    firn_gen *gen;
    firn_id id;
    int moves = 0;
    if (api->open_with(&gen, &config, NULL) != FIRN_OK) {
        return -1;
    }
    for (int i = -1; i < COUNTED && moves >= 0; i++) { /* the first call claims */
        moves = api->next(gen, &id, NULL) != FIRN_OK ? -1 : moves;
        api->gen_status(gen, &after);
        moves += i >= 0 && moves >= 0 && after.next != before.next;
        before = after;
    }
    api->close(gen, NULL);
    return (double)moves / COUNTED;
}

static void measure(const bench_api *api, int which, column *out) {
    const bench_case about = {.scheme = schemes[which].scheme, .keys = schemes[which].keys};
    bench_run run = {.about = &about, .api = api};
    double times[REPEATS];
    if (!bench_next(&run)) {
        return;
    }
    bench_threads(&run, 1, WARM_UP, NULL); /* claims, and draws enough to load the cipher */
    for (int step = 0; step < STEPS; step++) {
        int threads = 1 << step;
        bool fine = bench_threads(&run, threads, 1, NULL) >= 0;
        for (int i = 0; i < REPEATS && fine; i++) {
            double cpu_ns = 0;
            fine = bench_threads(&run, threads, IDS, &cpu_ns) >= 0;
            times[i] = cpu_ns / IDS / threads;
        }
        out->measured[step] = fine ? bench_middle(times, REPEATS) : 0;
        if (!fine) {
            tell("firn bench: ", run.note);
        }
    }
    out->operations = count_operations(api, which);
    run.close(&run);
}

/* A compare-and-swap that another processor contends for, ns of both together. */
static double contended_ns(void) {
    const bench_case about = {0};
    bench_run run = {.about = &about};
    double times[REPEATS];
    if (!bench_swap_threads(&run)) {
        return 0;
    }
    for (int i = 0; i < REPEATS; i++) {
        times[i] = bench_threads(&run, 2, IDS, NULL) / IDS / 2;
    }
    return bench_middle(times, REPEATS);
}

/* With a processor per thread: the greater of the cost alone and the wait for the cursor. */
static double compute(const column *owner, int threads, double contended) {
    double wait = threads > 1 ? threads * owner->operations * contended : 0;
    return owner->measured[0] > wait ? owner->measured[0] : wait;
}

static void put_json(session *s, const column *all, double contended) {
    for (int which = 0; which < SCHEMES; which++) {
        for (int step = 0; step < STEPS; step++) {
            json_line(&s->out,
                      json_pack("{s:s, s:i, s:f, s:f, s:f, s:f, s:i}", "name", schemes[which].name,
                                "threads", 1 << step, "cpu_ns", all[which].measured[step],
                                "computed_ns", compute(&all[which], 1 << step, contended),
                                "operations", all[which].operations, "contended_ns", contended,
                                "processors", bench_processors()));
        }
    }
}

static void put_table(session *s, const column *all, double contended, bool markdown) {
    const char *bar = markdown ? "| " : "";
    int first = markdown ? 0 : -16, wide = markdown ? 0 : 12, narrow = markdown ? 0 : 10;
    output_print(&s->out, "%s%*s", bar, first, "threads");
    for (int which = 0; which < SCHEMES; which++) {
        output_print(&s->out, " %s%*s %s%*s", bar, wide, schemes[which].name, bar, narrow,
                     "computed");
    }
    output_text(&s->out, markdown ? " |\n|--:" : "\n");
    for (int i = 0; i < 2 * SCHEMES && markdown; i++) {
        output_text(&s->out, "|--:");
    }
    output_text(&s->out, markdown ? "|\n" : "");
    for (int step = 0; step < STEPS; step++) {
        output_print(&s->out, "%s%*d", bar, first, 1 << step);
        for (int which = 0; which < SCHEMES; which++) {
            output_print(&s->out, " %s%*.1f %s%*.1f", bar, wide, all[which].measured[step], bar,
                         narrow, compute(&all[which], 1 << step, contended));
        }
        output_text(&s->out, markdown ? " |\n" : "\n");
    }
    output_print(&s->out, "%s%*s", bar, first, "cursor per ID");
    for (int which = 0; which < SCHEMES; which++) {
        output_print(&s->out, " %s%*.4f %s%*s", bar, wide, all[which].operations, bar, narrow, "");
    }
    output_text(&s->out, markdown ? " |\n" : "\n");
    if (!markdown) {
        output_print(
            &s->out,
            "ns per ID: CPU time measured on %d processors, and computed for a processor per "
            "thread;\na contended operation on the cursor takes %.1f ns\n",
            bench_processors(), contended);
    }
}

int bench_scaling(session *s, const bench_api *api) {
    static column all[SCHEMES];
    double contended = contended_ns();
    for (int which = 0; which < SCHEMES; which++) {
        measure(api, which, &all[which]);
    }
    if (s->option[OPTION_JSON] != NULL) {
        put_json(s, all, contended);
    } else {
        put_table(s, all, contended, s->option[OPTION_MARKDOWN] != NULL);
    }
    return STATUS_DONE;
}

/* ---- failed compare-and-swaps ---------------------------------------------------------------- */

void bench_put_contention(session *s, enum bench_report report, const bench_api *api) {
    static const int counts[] = {1, 2, 4, 16, 64};
    const bench_case about = {.scheme = BENCH_WIDE_LAYOUT, .keys = ""};
    bench_run run = {.about = &about, .api = api};
    if (!bench_next(&run)) {
        tell("firn bench: ", run.note);
        return;
    }
    bench_threads(&run, 1, WARM_UP, NULL);
    if (report != BENCH_JSON) {
        output_text(&s->out, report == BENCH_TEXT
                                 ? "threads  failed compare-and-swaps per ID\n"
                                 : "\n| threads | failed compare-and-swaps per ID |\n|--:|--:|\n");
    }
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const uint64_t before = bench_contended(&run), each = CONTENDED_IDS / (uint64_t)counts[i];
        const bool fine = bench_threads(&run, counts[i], each, NULL) >= 0;
        const double failed = (double)(bench_contended(&run) - before) / CONTENDED_IDS;
        if (!fine) {
            tell("firn bench: ", run.note);
        } else if (report == BENCH_JSON) {
            json_line(&s->out, json_pack("{s:s, s:i, s:f}", "name", "failed compare-and-swaps",
                                         "threads", counts[i], "per_id", failed));
        } else {
            output_print(&s->out, report == BENCH_TEXT ? "%7d  %.6f\n" : "| %d | %.6f |\n",
                         counts[i], failed);
        }
    }
    run.close(&run);
}
