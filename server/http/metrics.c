/* SPDX-License-Identifier: MIT */
/* /metrics in the text format of Prometheus (0.0.4). metrics.def lists the metrics; the functions
 * here read what their values are made of. */
#include "http_reply.h"

#include "core/catalog.h"
#include "core/series.h"
#include "core/server.h"
#include "core/text.h"
#include "core/text_view.h"
#include "metrics.def"
#include "net/access_log.h"
#include "net/connections.h"
#include "net/memory.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_SECOND 1e9
#define NAMES_MOST    100000 /* generators and segments listed */

/* ---- names and values ------------------------------------------------------------------------ */

/* A label's value with quotes, backslashes and line ends escaped. Clients choose names of segments:
 * invalid UTF-8 is written in hex. */
static const char *quoted(char out[2 * NAME_SIZE + 512], const char *name) {
    size_t length = 0;
    while (*name != '\0' && length < 2 * NAME_SIZE + 500) {
        size_t size = firn__utf8_size(name, 4);
        if (size == 0) {
            length += (size_t)sprintf(out + length, "\\\\x%02x", (unsigned char)*name++);
            continue;
        }
        if (*name == '"' || *name == '\\' || *name == '\n') {
            out[length++] = '\\';
        }
        out[length++] = *name == '\n' ? 'n' : *name;
        memcpy(out + length, name + 1, size - 1);
        length += size - 1;
        name += size;
    }
    out[length] = '\0';
    return out;
}

#define QUOTED(name) quoted((char[2 *NAME_SIZE + 512]){0}, name)

/* Metrics of the process have the names that dashboards know. */
static const char *prefix_of(const char *name) {
    return strncmp(name, "process_", strlen("process_")) == 0 ? "" : "firn_";
}

static void begin(text_out *out, const char *name, const char *kind, const char *help) {
    const char *prefix = prefix_of(name);
    text_print(out, "# HELP %s%s %s\n# TYPE %s%s %s\n", prefix, name, help, prefix, name, kind);
}

/* ---- families: metrics with the same labels -------------------------------------------------- */

typedef struct metric {
    const char *name, *kind, *help;
} metric;

enum { METRICS_MAX = 20, LABELS_SIZE = 1400 };

/* The labels of the i-th of a family and the values of its metrics; false: past the last. */
typedef bool read_function(size_t i, char labels[LABELS_SIZE], double values[METRICS_MAX]);

#define METRIC(name, kind, help, value) {name, kind, help},
#define VALUE(name, kind, help, value)  (double)(value),

/* Each of the family is read once; the format demands all values of a metric together. */
static void write_family(text_out *out, const metric *all, size_t count, read_function *read) {
    text_out parts[METRICS_MAX] = {0};
    char labels[LABELS_SIZE] = "";
    double values[METRICS_MAX];
    for (size_t m = 0; m < count; m++) {
        begin(&parts[m], all[m].name, all[m].kind, all[m].help);
    }
    for (size_t i = 0; i < NAMES_MOST && read(i, labels, values); i++) {
        for (size_t m = 0; m < count; m++) {
            if (!isnan(values[m])) {
                text_print(&parts[m], "%s%s%s %.16g\n", prefix_of(all[m].name), all[m].name, labels,
                           values[m]);
            }
        }
    }
    for (size_t m = 0; m < count; m++) {
        text_add(out, parts[m].bytes, parts[m].length);
        out->failed |= parts[m].failed;
        free(parts[m].bytes);
    }
}

#define WRITE_FAMILY(to, list, read)                                                               \
    do {                                                                                           \
        static const metric all[] = {list(METRIC)};                                                \
        write_family(to, all, sizeof all / sizeof *all, read);                                     \
    } while (0)
#define RETURN_VALUES(list, values)                                                                \
    do {                                                                                           \
        const double now[] = {list(VALUE)};                                                        \
        _Static_assert(sizeof now / sizeof *now <= METRICS_MAX, "raise METRICS_MAX");              \
        memcpy(values, now, sizeof now);                                                           \
        return true;                                                                               \
    } while (0)

/* ---- the process ----------------------------------------------------------------------------- */

static double cpu_s(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static double resident_bytes(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL) {
        return NAN;
    }
    const bool read = fscanf(file, "%*d %ld", &pages) == 1;
    fclose(file);
    return read ? (double)pages * (double)sysconf(_SC_PAGESIZE) : NAN;
}

static double open_files(void) {
    DIR *files = opendir("/proc/self/fd");
    size_t count = 0;
    if (files == NULL) {
        return NAN;
    }
    for (const struct dirent *file; (file = readdir(files)) != NULL;) {
        count += file->d_name[0] != '.';
    }
    closedir(files);
    return (double)(count - 1); /* without the folder itself */
}

static double files_most(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (double)limit.rlim_cur : NAN;
}

/* The same in each answer, although the clock may be set. */
static double start_s(void) {
    static _Atomic int64_t start;
    int64_t begun_s = atomic_load_explicit(&start, memory_order_relaxed);
    if (begun_s == 0) {
        begun_s = (int64_t)time(NULL) - server_uptime_s();
        atomic_store_explicit(&start, begun_s, memory_order_relaxed);
    }
    return (double)begun_s;
}

static bool read_process(size_t i, char *labels, double *values) {
    if (i > 0) {
        return false;
    }
    (void)labels; /* none */
    RETURN_VALUES(PROCESS_METRICS, values);
}

static bool read_server(size_t i, char *labels, double *values) {
    char why[SERVER_WHY_SIZE];
    if (i > 0) {
        return false;
    }
    (void)labels; /* none */
    RETURN_VALUES(SERVER_METRICS, values);
}

/* ---- listeners ------------------------------------------------------------------------------- */

static const char *const listener_names[] = {"resp", "http"};

static meter_totals totals_of(size_t i) {
    meter_totals sum = {0};
    meters_sum(&sum, i == 1);
    return sum;
}

static bool read_requests(size_t i, char *labels, double *values) {
    static const char *const kinds[METER_KIND_COUNT] = {
#define METER_X(id, name) name,
        METER_KINDS(METER_X)
#undef METER_X
    };
    size_t kind = i % METER_KIND_COUNT, which = i / METER_KIND_COUNT;
    if (which > 1) {
        return false;
    }
    meter_totals totals = totals_of(which);
    snprintf(labels, LABELS_SIZE, "{listener=\"%s\",kind=\"%s\"}", listener_names[which],
             kinds[kind]);
    RETURN_VALUES(REQUEST_METRICS, values);
}

static bool read_listener(size_t i, char *labels, double *values) {
    if (i > 1) {
        return false;
    }
    meter_totals totals = totals_of(i);
    snprintf(labels, LABELS_SIZE, "{listener=\"%s\"}", listener_names[i]);
    RETURN_VALUES(LISTENER_METRICS, values);
}

/* The last bucket is +Inf. */
static void write_latency(text_out *out) {
    const char *name = "request_duration_seconds";
    begin(out, name, "histogram", "Time from the arrival of a request to its reply.");
    for (size_t which = 0; which < 2; which++) {
        meter_totals totals = totals_of(which);
        uint64_t sum = 0;
        for (int i = 0; i < METER_BUCKETS; i++) {
            char bound[24] = "+Inf";
            if (i + 1 < METER_BUCKETS) {
                snprintf(bound, sizeof bound, "%.6f", (double)(UINT64_C(1) << i) / 1e6);
            }
            sum += totals.latency[i];
            text_print(out, "firn_%s_bucket{listener=\"%s\",le=\"%s\"} %" PRIu64 "\n", name,
                       listener_names[which], bound, sum);
        }
        text_print(out, "firn_%s_sum{listener=\"%s\"} %.9f\n", name, listener_names[which],
                   (double)totals.latency_ns / NS_PER_SECOND);
        text_print(out, "firn_%s_count{listener=\"%s\"} %" PRIu64 "\n", name, listener_names[which],
                   sum);
    }
}

/* ---- generators, segments and stores --------------------------------------------------------- */

/* NAN: the layout has no end. */
static double layout_end(const server_generator *generator) {
    char value[FIRN_NS_SIZE];
    firn_time end;
    bool whole = strcmp(keys_value(value, generator->keys, "unsigned"), "1") == 0;
    return firn_scheme_end(generator->scheme, whole, &end) ? (double)end.sec : NAN;
}

static bool read_generator(size_t i, char *labels, double *values) {
    const server_generator *generator = catalog_generator_at(i);
    if (generator == NULL) {
        return false;
    }
    firn_gen *gen = atomic_load_explicit(&generator->gen, memory_order_acquire);
    firn_status status = {.size = sizeof status};
    if (gen != NULL) {
        firn_gen_status(gen, &status);
    }
    char key[FIRN_NS_SIZE];
    double window = generator->renewer != NULL ? 1 : (double)NAN,
           reserve = keys_value(key, generator->keys, "reserve")[0] != '\0' ? 1 : (double)NAN;
    int64_t left_ms = generator_window_ms(generator),
            reserved_ms = atomic_load_explicit(&generator->window_ms, memory_order_seq_cst);
    snprintf(labels, LABELS_SIZE, "{generator=\"%s\",scheme=\"%s\"}", QUOTED(generator->name),
             QUOTED(generator->scheme->name));
    RETURN_VALUES(GENERATOR_METRICS, values);
}

static bool read_segment(size_t i, char *labels, double *values) {
    const server_segment *segment = catalog_segment_at(i);
    if (segment == NULL) {
        return false;
    }
    firn_segment *range = atomic_load_explicit(&segment->range, memory_order_acquire);
    const int64_t kept = atomic_load_explicit(&segment->kept, memory_order_seq_cst),
                  lasts_ms = atomic_load_explicit(&segment->lasts_ms, memory_order_seq_cst);
    snprintf(labels, LABELS_SIZE, "{segment=\"%s\"}", QUOTED(segment->name));
    RETURN_VALUES(SEGMENT_METRICS, values);
}

static bool read_series(size_t i, char *labels, double *values) {
    const server_series *series = catalog_series_at(i);
    if (series == NULL) {
        return false;
    }
    snprintf(labels, LABELS_SIZE, "{series=\"%s\"}", QUOTED(series->name));
    RETURN_VALUES(SERIES_METRICS, values);
}

static bool read_store(size_t i, char *labels, double *values) {
    renewer_state state;
    if (!renewer_look(i, &state)) {
        return false;
    }
    snprintf(labels, LABELS_SIZE, "{store=\"%s\"}", QUOTED(state.url));
    RETURN_VALUES(STORE_METRICS, values);
}

static void write_failure(text_out *out, const char *kind, const char *name, int code) {
    if (code != FIRN_OK) {
        text_print(out, "firn_failing{kind=\"%s\",name=\"%s\",error=\"%s\"} 1\n", kind,
                   QUOTED(name), firn_errname(code));
    }
}

static void write_failures(text_out *out) {
    firn_error error;
    const server_generator *g;
    const server_segment *s;
    const server_series *numbered;
    begin(
        out, "failing", "gauge",
        "1 for each generator, segment and series that cannot reserve; the label error says why.");
    for (size_t i = 0; i < NAMES_MOST && (g = catalog_generator_at(i)) != NULL; i++) {
        write_failure(out, "generator", g->name, last_error_get(&g->failed, &error));
    }
    for (size_t i = 0; i < NAMES_MOST && (s = catalog_segment_at(i)) != NULL; i++) {
        write_failure(out, "segment", s->name, last_error_get(&s->failed, &error));
    }
    for (size_t i = 0; i < NAMES_MOST && (numbered = catalog_series_at(i)) != NULL; i++) {
        write_failure(out, "series", numbered->name, last_error_get(&numbered->failed, &error));
    }
}

enum MHD_Result page_metrics(http_exchange *exchange) {
    text_out made = {0};
    begin(&made, "build_info", "gauge", "Always 1, with the version as a label.");
    text_print(&made, "firn_build_info{version=\"%s\"} 1\n", firn_version());
    WRITE_FAMILY(&made, PROCESS_METRICS, read_process);
    WRITE_FAMILY(&made, SERVER_METRICS, read_server);
    WRITE_FAMILY(&made, REQUEST_METRICS, read_requests);
    WRITE_FAMILY(&made, LISTENER_METRICS, read_listener);
    write_latency(&made);
    WRITE_FAMILY(&made, GENERATOR_METRICS, read_generator);
    WRITE_FAMILY(&made, SEGMENT_METRICS, read_segment);
    WRITE_FAMILY(&made, SERIES_METRICS, read_series);
    write_failures(&made);
    WRITE_FAMILY(&made, STORE_METRICS, read_store);
    if (made.failed) {
        free(made.bytes);
        return answer_problem(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, "MEMORY", "out of memory");
    }
    return answer_bytes(exchange, MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8",
                        made.bytes, made.length);
}
