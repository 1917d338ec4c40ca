/* SPDX-License-Identifier: MIT */
/* `firn bench`: the table of what is measured, the harness, the report. Figures are the cost of
 * the code, in bursts; what the layout lets through in the long run stands beside them. */
#include "bench.h"
#include "shared/json.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const bench_case cases[] = {
    {"snowflake", "snowflake", false, bench_next, "snowflake", ""},
    {"snowflake-tick", "snowflake-tick", false, bench_next, "snowflake", "clock=tick"},
    {"snowflake-tick", "bare-loop", true, bench_bare, NULL, NULL},
    {"bulk-u64", "bulk-u64", false, bench_bulk_u64, BENCH_WIDE_LAYOUT, ""},
    {"bulk-id", "bulk-id", false, bench_bulk_id, BENCH_WIDE_LAYOUT, ""},
    {"two-threads", "two-threads", false, bench_threads, BENCH_WIDE_LAYOUT, ""},
    {"two-threads-free", "two-threads-free", false, bench_threads, BENCH_WIDE_LAYOUT,
     "ordering=thread"},
    {"uuid7", "uuid7", false, bench_next, "uuid7", ""},
    {"uuid7-bulk", "uuid7-bulk", false, bench_bulk_id, "uuid7", ""},
    {"uuid4", "uuid4", false, bench_next, "uuid4", ""},
    {"uuid4", "libuuid-uuid4", true, bench_libuuid, "uuid_generate_random", NULL},
    {"uuid1", "uuid1", false, bench_next, "uuid1", ""},
    {"uuid1", "libuuid-uuid1", true, bench_libuuid, "uuid_generate_time_safe", NULL},
    {"uuid1", "libuuid-uuid1-uuidd", true, bench_libuuid_daemon, "uuid_generate_time", NULL},
    {"uuid-write", "uuid-write", false, bench_write, NULL, NULL},
    {"uuid-write", "libuuid-write", true, bench_libuuid, "uuid_unparse_lower", NULL},
    {"uuid-read", "uuid-read", false, bench_read, NULL, NULL},
    {"uuid-read", "libuuid-read", true, bench_libuuid, "uuid_parse", NULL},
    {"process", "process", false, bench_process, "firn new uuid7", NULL},
    {"process", "uuidgen", true, bench_process, "uuidgen", NULL},
    {"million", "million", false, bench_million, "firn new uuid7 -n 1000000", NULL},
    {"stamp-csv", "stamp-csv", false, bench_stamp, "snowflake", "csv"},
    {"stamp-csv", "copy-csv", true, bench_copy, NULL, "csv"},
    {"stamp-csv-uuid7", "stamp-csv-uuid7", false, bench_stamp, "uuid7", "csv"},
    {"stamp-tsv", "stamp-tsv", false, bench_stamp, "snowflake", "tsv"},
    {"stamp-tsv", "copy-tsv", true, bench_copy, NULL, "tsv"},
    {"stamp-jsonl", "stamp-jsonl", false, bench_stamp, "snowflake", "jsonl"},
    {"stamp-jsonl", "copy-jsonl", true, bench_copy, NULL, "jsonl"},
    {"check-dec", "check-dec", false, bench_check, "dec", "order"},
    {"check-uuid", "check-uuid", false, bench_check, "uuid", "order"},
    {"check-dec-random", "check-dec-random", false, bench_check, "dec", "random"},
    {"check-uuid-random", "check-uuid-random", false, bench_check, "uuid", "random"},
};
enum { CASES = sizeof cases / sizeof cases[0] };

/* ---- the harness ---------------------------------------------------------------------------- */

double bench_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

bool bench_pin(int i) {
    static cpu_set_t mine;
    static bool known;
    cpu_set_t one;
    if (!known) {
        known =
            sched_getaffinity(0, sizeof mine, &mine) == 0; /* before the first binding narrows it */
    }
    for (size_t cpu = 0; cpu < CPU_SETSIZE && known; cpu++) {
        if (CPU_ISSET(cpu, &mine) && i-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            return sched_setaffinity(0, sizeof one, &one) == 0;
        }
    }
    return false;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_middle(double times[], int count) {
    qsort(times, (size_t)count, sizeof times[0], compare);
    return times[count / 2];
}

/* One burst; below 0: failed. */
static double time_burst(bench_work *work, bench_rest *rest, void *context, uint64_t n) {
    if (rest != NULL) {
        rest(context);
    }
    double start = bench_now_ns();
    bool fine = work(context, n);
    return fine ? bench_now_ns() - start : -1;
}

double bench_median(bench_work *work, bench_rest *rest, void *context, uint64_t most,
                    uint64_t *burst) {
    double times[BENCH_REPEATS];
    uint64_t n = 1;
    double took = time_burst(work, rest, context, n); /* the first call opens and claims */
    while (took >= 0 && took < BENCH_BURST_NS && n < most) {
        n = n * 2 < most ? n * 2 : most;
        took = time_burst(work, rest, context, n);
    }
    for (int i = 0; i < BENCH_REPEATS && took >= 0; i++) {
        took = time_burst(work, rest, context, n);
        times[i] = took / (double)n;
    }
    if (took < 0) {
        return -1;
    }
    *burst = n;
    return bench_middle(times, BENCH_REPEATS);
}

/* ---- the report ----------------------------------------------------------------------------- */

void bench_name_time(char text[32], double ns) {
    if (ns >= 1e6) {
        snprintf(text, 32, "%.1f ms", ns / 1e6);
    } else if (ns >= 1e4) {
        snprintf(text, 32, "%.1f us", ns / 1e3);
    } else {
        snprintf(text, 32, ns < 10 ? "%.2f ns" : "%.1f ns", ns);
    }
}

static void put_case(session *s, const bench_case *about, const bench_result *result, double own) {
    char ns[32], sustained[32], ratio[48] = "";
    double lasting = result->sustained_ns > result->ns ? result->sustained_ns : result->ns;
    if (s->option[OPTION_JSON] != NULL) {
        json_t *object = json_pack("{s:s, s:f, s:f}", "name", about->name, "ns", result->ns,
                                   "sustained_ns", lasting);
        if (about->peer) {
            json_object_set_new(object, "peer", json_true());
        }
        json_object_set_new(object, "note", json_string(result->note));
        json_line(&s->out, object);
        return;
    }
    bench_name_time(ns, result->ns);
    bench_name_time(sustained, lasting);
    if (about->peer && own > 0) {
        snprintf(ratio, sizeof ratio, "%.2f x; ", result->ns / own);
    }
    output_print(&s->out, "%s%-*s  %10s  %10s  %s%s\n", about->peer ? "  " : "",
                 about->peer ? 19 : 21, about->name, ns, sustained, ratio, result->note);
}

/* Said, and left out of the objects. */
static void put_missing(session *s, const bench_case *about, const bench_result *result) {
    if (s->option[OPTION_JSON] != NULL) {
        char text[256];
        snprintf(text, sizeof text, "%s is not measured: %s", about->name, result->note);
        tell_note(s, text);
    } else {
        output_print(&s->out, "%s%-*s  %10s  %10s  %s\n", about->peer ? "  " : "",
                     about->peer ? 19 : 21, about->name, "-", "-", result->note);
    }
}

static int check_name(session *s, const char *wanted) {
    const char *names[CASES + 1];
    for (size_t i = 0; i < CASES; i++) {
        if (strcmp(cases[i].group, wanted) == 0) {
            return STATUS_DONE;
        }
        names[i] = cases[i].group;
    }
    names[CASES] = NULL;
    const char *near = firn_nearest(wanted, names);
    return fail_usage(s, "there is no benchmark '%.40s': %s%s", wanted,
                      near != NULL ? "did you mean " : "run firn bench without a name for all",
                      near != NULL ? near : "");
}

int run_bench(session *s) {
    const char *wanted = s->operand_count > 0 ? s->operands[0] : NULL;
    double own = 0;
    if (s->operand_count > 1) {
        return fail_usage(s, "'%.40s' is one argument too many: bench takes one NAME",
                          s->operands[1]);
    }
    if (wanted != NULL && check_name(s, wanted) != STATUS_DONE) {
        return STATUS_USAGE;
    }
    if (s->option[OPTION_JSON] == NULL) {
        output_print(&s->out, "%-21s  %10s  %10s  medians of %d\n", "", "burst", "sustained",
                     BENCH_REPEATS);
    }
    for (size_t i = 0; i < CASES && !output_dead(&s->out); i++) {
        bench_result result = {0};
        if (wanted != NULL && strcmp(cases[i].group, wanted) != 0) {
            continue;
        }
        bench_pin(0);
        bool measured = cases[i].measure(&cases[i], &result);
        if (measured) {
            own = cases[i].peer ? own : result.ns;
            put_case(s, &cases[i], &result, own);
        } else {
            put_missing(s, &cases[i], &result);
        }
        output_flush(&s->out);
    }
    return STATUS_DONE;
}
