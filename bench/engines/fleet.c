/* SPDX-License-Identifier: MIT */
/* A fleet of processes on one PostgreSQL: each simulated process is a generator with its own node
 * and window, held by a renewer although it issues nothing. A few threads, each with a connection,
 * do the steps of all. What the server does for more processes than that is computed. */
#include "measure.h"
#include "shared/json.h"

#include "../../test/engines.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum {
    WORKERS = 32,
    NODES_MAX = 10000,
    SAMPLES = 1 << 16,
    CLAIMS = 9,
    PROBES = 2000,
    MOST_CONNECTIONS = 64
};
#define WATCH_S 20.0                                  /* how long a fleet is watched */
#define LAYOUT  "0x0:1 time:41/ms node:20 sequence:2" /* 2^20 processes, 4 IDs per ms each */

/* The stores of a worker's generators, which time each reservation. */
typedef struct worker {
    firn_store *inner, *store;
    firn_gen **gens;
    double *due; /* when each has its next step, ns */
    int count;
    double *times; /* of reservations */
    int reservations;
    int refused; /* steps that failed */
    pthread_t thread;
    firn_error error;
} worker;

static _Atomic bool over;

static int timed_reserve(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                         firn_error *error) {
    worker *w = self;
    double start = bench_now_ns();
    int code = firn_store_reserve(w->inner, request, first, held, error);
    if (w->reservations < SAMPLES) {
        w->times[w->reservations++] = bench_now_ns() - start;
    }
    return code;
}

static int plain_give_back(void *self, const char *ns, const char *key, const firn_mark *mine,
                           int64_t high, firn_error *error) {
    return firn_store_give_back(((worker *)self)->inner, ns, key, mine, high, error);
}

static int plain_list(void *self, const char *ns, firn_visit *visit, void *context,
                      firn_error *error) {
    return firn_store_list(((worker *)self)->inner, ns, visit, context, error);
}

static void plain_close(void *self) {
    firn_store_close(((worker *)self)->inner);
}

static const firn_store_ops timed_ops = {.version = FIRN_STORE_OPS_VERSION,
                                         .scheme = "postgres",
                                         .reserve = timed_reserve,
                                         .give_back = plain_give_back,
                                         .list = plain_list,
                                         .close = plain_close};

/* ---- the server ------------------------------------------------------------------------------ */

/* CPU time of the server's processes, s: of the first one and its children, ended ones included. */
static double server_cpu_s(const test_engine *engine) {
    char shell[600], line[64] = "";
    snprintf(shell, sizeof shell,
             "p=$(cat '%s/pid.1'); cat /proc/[0-9]*/stat 2>/dev/null | sed 's/(.*)/x/' |"
             " awk -v p=$p '$1 == p { t += $14 + $15 + $16 + $17 } $4 == p { t += $14 + $15 }"
             " END { print t + 0 }'",
             engine->folder);
    FILE *printed = popen(shell, "r");
    if (printed != NULL) {
        line[fread(line, 1, sizeof line - 1, printed)] = '\0';
        pclose(printed);
    }
    return strtod(line, NULL) / (double)sysconf(_SC_CLK_TCK);
}

/* The number that a statement selects; -1: none. */
static double ask_server(const test_engine *engine, const char *statement) {
    char where[200];
    snprintf(where, sizeof where, "host=127.0.0.1 port=%lu user=firn dbname=postgres",
             strtoul(strrchr(engine->url, ':') + 1, NULL, 10));
    PGconn *link = PQconnectdb(where);
    PGresult *result = PQexec(link, statement);
    double number =
        PQresultStatus(result) == PGRES_TUPLES_OK ? strtod(PQgetvalue(result, 0, 0), NULL) : -1;
    PQclear(result);
    PQfinish(link);
    return number;
}

#define WAL_BYTES "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"
#define SIZE      "SELECT sum(pg_total_relation_size(relid)) FROM pg_stat_user_tables"

/* ---- a fleet --------------------------------------------------------------------------------- */

typedef struct fleet {
    int nodes, window_ms;
    worker workers[WORKERS];
    double claim_s; /* how long all of them took to claim */
    double reservations_s, median_ns, p99_ns, cpu, wal_bytes; /* while it was watched */
    int late; /* windows that ended before they were renewed, and steps that failed */
    char why[160];
} fleet;

static double step(worker *w, int i) {
    int64_t wait_ms = 0;
    int code = firn_gen_step(w->gens[i], &wait_ms, &w->error);
    w->refused += code != FIRN_OK;
    return bench_now_ns() + (double)wait_ms * 1e6;
}

/* Steps the ones of the first `count` that need it. */
static void step_due(worker *w, int count) {
    double now = bench_now_ns();
    for (int i = 0; i < count; i++) {
        w->due[i] = w->due[i] <= now ? step(w, i) : w->due[i];
    }
}

static void *claim_all(void *context) {
    worker *w = context;
    for (int i = 0; i < w->count; i++) {
        w->due[i] = step(w, i);
        step_due(w, i);
    }
    return NULL;
}

static void *renew_all(void *context) {
    worker *w = context;
    while (!over) {
        step_due(w, w->count);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    return NULL;
}

static bool open_worker(fleet *f, worker *w, int number, const test_engine *engine) {
    const firn_store_options options = {.module_dir = FIRN_BUILD_DIR "/firn"};
    *w = (worker){.times = malloc(SAMPLES * sizeof *w->times),
                  .gens = calloc(NODES_MAX / WORKERS + 1, sizeof *w->gens),
                  .due = calloc(NODES_MAX / WORKERS + 1, sizeof *w->due)};
    if (w->times == NULL || w->gens == NULL || w->due == NULL ||
        firn_store_open(&w->inner, engine->url, &options, &w->error) != FIRN_OK) {
        return false;
    }
    if (firn_store_wrap(&w->store, &timed_ops, w, &w->error) != FIRN_OK) {
        firn_store_close(w->inner);
        return false;
    }
    for (int node = number; node < f->nodes; node += WORKERS) {
        char keys[64];
        snprintf(keys, sizeof keys, "ns=fleet node=%d window=%dms", node, f->window_ms);
        firn_config config = {.size = sizeof config,
                              .scheme = LAYOUT,
                              .keys = keys,
                              .store = w->store,
                              .has_renewer = true,
                              .note = "fleet"};
        if (firn_open_with(&w->gens[w->count], &config, &w->error) != FIRN_OK) {
            return false;
        }
        w->count++;
    }
    return true;
}

static bool run_all(fleet *f, void *(*task)(void *), double seconds) {
    int started = 0;
    bool fine = true;
    for (int i = 0; i < WORKERS && fine; i++) {
        fine = pthread_create(&f->workers[i].thread, NULL, task, &f->workers[i]) == 0;
        started += fine;
    }
    if (seconds > 0) {
        nanosleep(&(struct timespec){(time_t)seconds, 0}, NULL);
        over = true;
    }
    for (int i = 0; i < started; i++) {
        pthread_join(f->workers[i].thread, NULL);
    }
    over = false;
    return fine;
}

static void sum_up(fleet *f, double *times, int claims) {
    int count = 0;
    f->late = -claims;
    for (int i = 0; i < WORKERS; i++) {
        worker *w = &f->workers[i];
        memcpy(times + count, w->times, (size_t)w->reservations * sizeof *times);
        count += w->reservations;
        f->late += w->refused;
        for (int k = 0; k < w->count; k++) {
            firn_status status = {.size = sizeof status};
            firn_gen_status(w->gens[k], &status);
            f->late += (int)status.claims;
        }
    }
    f->reservations_s = count;
    if (count > 0) {
        f->median_ns = bench_middle(times, count);
        f->p99_ns = times[count - 1 - count / 100];
    }
}

static void watch(fleet *f, const test_engine *engine) {
    static double times[WORKERS * SAMPLES];
    for (int i = 0; i < WORKERS; i++) {
        f->workers[i].reservations = 0;
    }
    double cpu = server_cpu_s(engine), wal = ask_server(engine, WAL_BYTES), start = bench_now_ns();
    if (!run_all(f, renew_all, WATCH_S)) {
        snprintf(f->why, sizeof f->why, "a thread cannot be started");
    }
    double took = (bench_now_ns() - start) / 1e9;
    f->cpu = (server_cpu_s(engine) - cpu) / took;
    sum_up(f, times, f->nodes);
    f->wal_bytes =
        f->reservations_s > 0 ? (ask_server(engine, WAL_BYTES) - wal) / f->reservations_s : 0;
    f->reservations_s /= took;
}

static void *close_all(void *context) {
    worker *w = context;
    for (int i = 0; i < w->count; i++) {
        firn_close(w->gens[i], NULL);
    }
    firn_store_close(w->store);
    free(w->gens);
    free(w->due);
    free(w->times);
    return NULL;
}

static bool measure_one(fleet *f, const test_engine *engine) {
    bool fine = true;
    memset(f->workers, 0, sizeof f->workers);
    for (int i = 0; i < WORKERS && fine; i++) {
        fine = open_worker(f, &f->workers[i], i, engine);
        snprintf(f->why, sizeof f->why, "%.150s", f->workers[i].error.text);
    }
    if (fine) {
        double start = bench_now_ns();
        fine = run_all(f, claim_all, 0);
        f->claim_s = (bench_now_ns() - start) / 1e9;
        if (f->claim_s <
            f->window_ms / 8e3) { /* all renew together: not at the edge of the watch */
            const struct timespec quarter = {f->window_ms / 4000, f->window_ms % 4000 * 250000};
            nanosleep(&quarter, NULL);
        }
        watch(f, engine);
    }
    run_all(f, close_all, 0);
    return fine;
}

/* ---- the report ------------------------------------------------------------------------------ */

static void put_head(void) {
    report_print("%9s  %9s  %12s  %10s  %10s  %10s  %8s  %5s\n", "processes", "window",
                 "reservations", "median", "99 %", "server CPU", "claims", "late");
}

static void put_fleet(const fleet *f) {
    char median[32], p99[32];
    bench_name_time(median, f->median_ns);
    bench_name_time(p99, f->p99_ns);
    if (report_is_json()) {
        report_json(json_pack("{s:s, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:i}", "name", "fleet",
                              "processes", f->nodes, "window_ms", f->window_ms, "reservations_s",
                              f->reservations_s, "median_ns", f->median_ns, "p99_ns", f->p99_ns,
                              "server_cpu", f->cpu, "wal_bytes", f->wal_bytes, "claims_s",
                              f->nodes / f->claim_s, "late", f->late));
        return;
    }
    report_print("%9d  %7.1f s  %10.1f/s  %10s  %10s  %8.1f %%  %6.0f/s  %5d\n", f->nodes,
                 f->window_ms / 1e3, f->reservations_s, median, p99, f->cpu * 100,
                 f->nodes / f->claim_s, f->late);
}

/* ---- claims of any free node, which read the nodes in the store ------------------------------ */

static void measure_claim(const test_engine *engine, int nodes) {
    const firn_store_options options = {.module_dir = FIRN_BUILD_DIR "/firn"};
    double times[CLAIMS];
    firn_store *store;
    int64_t wait_ms;
    bool fine = firn_store_open(&store, engine->url, &options, NULL) == FIRN_OK;
    for (int i = 0; i < CLAIMS && fine; i++) {
        firn_gen *gen;
        firn_config config = {.size = sizeof config,
                              .scheme = LAYOUT,
                              .keys = "ns=fleet",
                              .store = store,
                              .has_renewer = true};
        double start = bench_now_ns();
        fine = firn_open_with(&gen, &config, NULL) == FIRN_OK &&
               firn_gen_step(gen, &wait_ms, NULL) == FIRN_OK;
        times[i] = bench_now_ns() - start;
        firn_close(gen, NULL);
    }
    if (!fine) {
        return;
    }
    firn_store_close(store);
    figure claim = {.name = "claim-any-node", .ns = bench_middle(times, CLAIMS)};
    snprintf(claim.note, sizeof claim.note, "a claim of any free node, with %d nodes in the store",
             nodes);
    put_figure(&claim);
}

/* ---- what the server can do at most ---------------------------------------------------------- */

typedef struct prober {
    firn_store *store;
    pthread_t thread;
    int number, done;
} prober;

static void *probe(void *context) {
    prober *p = context;
    char key[FIRN_KEY_SIZE];
    for (int i = 0; i < PROBES; i++, p->done++) {
        int64_t first;
        firn_mark held;
        firn_request request = {.ns = "most",
                                .layout = "bench",
                                .key = key,
                                .count = 1000,
                                .latest = FIRN_SLOT_MAX - 1000,
                                .grant = (uint64_t)i + 1,
                                .note = "bench"};
        snprintf(key, sizeof key, "%d", p->number * 1000 + i % 100);
        if (firn_store_reserve(p->store, &request, &first, &held, NULL) != FIRN_OK) {
            break;
        }
    }
    return NULL;
}

static double measure_most(const test_engine *engine, int connections) {
    const firn_store_options options = {.module_dir = FIRN_BUILD_DIR "/firn"};
    static prober all[MOST_CONNECTIONS];
    int open = 0, done = 0;
    for (; open < connections; open++) {
        all[open] = (prober){.number = open};
        if (firn_store_open(&all[open].store, engine->url, &options, NULL) != FIRN_OK) {
            break;
        }
    }
    double start = bench_now_ns();
    int started = 0;
    while (started < open &&
           pthread_create(&all[started].thread, NULL, probe, &all[started]) == 0) {
        started++;
    }
    for (int i = 0; i < started; i++) {
        pthread_join(all[i].thread, NULL);
        done += all[i].done;
    }
    double took = (bench_now_ns() - start) / 1e9;
    for (int i = 0; i < open; i++) {
        firn_store_close(all[i].store);
    }
    return done / took;
}

static double measure_all_most(const test_engine *engine) {
    double best = 0;
    for (int connections = 1; connections <= MOST_CONNECTIONS; connections *= 4) {
        figure most = {.name = "reservations-at-most",
                       .ns = 1e9 / measure_most(engine, connections)};
        snprintf(most.note, sizeof most.note, "%.0f per s over %d connection%s", 1e9 / most.ns,
                 connections, connections > 1 ? "s" : "");
        best = 1e9 / most.ns > best ? 1e9 / most.ns : best;
        put_figure(&most);
    }
    return best;
}

/* Half of the measured maximum is left for everything else. */
static void put_computed(double most) {
    for (int nodes = 100000; nodes <= 1000000 && !report_is_json(); nodes *= 10) {
        double load = nodes * 2 / 10.0;
        report_print("%9d  %7.1f s  %10.1f/s  computed: %.1f such servers at half of %.0f/s\n",
                     nodes, 10.0, load, load / most * 2, most);
    }
}

void measure_fleet(void) {
    static const struct {
        int nodes, window_ms;
    } fleets[] = {{10, 10000},  {100, 10000},  {1000, 1000},
                  {1000, 3000}, {1000, 10000}, {10000, 10000}};
    static fleet f;
    test_engine *engine = engine_of("postgres", 0, "");
    if (engine == NULL) {
        figure none = {
            .name = "fleet", .ns = -1, .note = "PostgreSQL does not start, or is not installed"};
        put_figure(&none);
        return;
    }
    double most = measure_all_most(engine);
    if (!report_is_json()) {
        put_head();
    }
    for (size_t i = 0; i < sizeof fleets / sizeof fleets[0]; i++) {
        f = (fleet){.nodes = fleets[i].nodes, .window_ms = fleets[i].window_ms};
        if (!measure_one(&f, engine)) {
            figure none = {.name = "fleet", .ns = -1};
            snprintf(none.note, sizeof none.note, "%.150s", f.why);
            put_figure(&none);
            continue;
        }
        put_fleet(&f);
        if (f.window_ms == 10000) {
            measure_claim(engine, f.nodes);
        }
    }
    put_computed(most);
    figure size = {.name = "bytes", .calls = (int64_t)ask_server(engine, SIZE), .among = NODES_MAX};
    snprintf(size.note, sizeof size.note,
             "bytes of tables, for all nodes; %.0f bytes of log per reservation", f.wal_bytes);
    put_figure(&size);
}
