/* SPDX-License-Identifier: MIT */
/* INFO and CONFIG GET, as Redis clients expect them. */
#include "handlers.h"

#include "config/setting.h"
#include "core/catalog.h"
#include "core/server.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define COUNT_OF(table) (sizeof(table) / sizeof *(table))

/* Settings that clients read, with Redis's names. */
#define PATTERN_MAX  64
#define CONFIG_COUNT 6

enum outcome run_config(client *it, const resp_command *said, resp_out *out) {
    (void)it;
    char connections[24], idle[24], pattern[PATTERN_MAX];
    const char *const rows[CONFIG_COUNT][2] = {
        {"save", ""},      {"appendonly", "no"}, {"databases", "1"}, {"maxclients", connections},
        {"timeout", idle}, {"maxmemory", "0"},
    };
    bool is_asked[CONFIG_COUNT] = {false};
    size_t count = 0;
    if (!word_is(said->words[1], "get") || said->count < 3) {
        return refuse(
            out,
            "only CONFIG GET pattern... is supported: change settings in firn.ini and send SIGHUP");
    }
    snprintf(connections, sizeof connections, "%" PRId64, settings_now()->max_connections);
    snprintf(idle, sizeof idle, "%" PRId64, settings_now()->idle_s);
    for (size_t i = 2; i < said->count; i++) {
        for (size_t j = 0; word_copy(said->words[i], pattern, PATTERN_MAX) && j < CONFIG_COUNT;
             j++) {
            bool fits = fnmatch(pattern, rows[j][0], FNM_CASEFOLD) == 0;
            count += fits && !is_asked[j];
            is_asked[j] = is_asked[j] || fits;
        }
    }
    resp_map(out, count);
    for (size_t j = 0; j < CONFIG_COUNT; j++) {
        if (is_asked[j]) {
            resp_text(out, rows[j][0]);
            resp_text(out, rows[j][1]);
        }
    }
    return COMMAND_DONE;
}

static uint64_t load(const _Atomic uint64_t *counter) {
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* Counters of all loops; HTTP's are in /metrics. */
typedef struct totals {
    int64_t open, waiting;
    uint64_t accepted, turned_away, requests, ids, received, sent, parked;
} totals;

static totals total_of_loops(void) {
    totals sum = {0};
    const worker *at;
    for (int i = 0; (at = worker_at(i)) != NULL; i++) {
        const meter *m = &at->meter;
        if (at->http) {
            continue;
        }
        sum.open += atomic_load_explicit(&m->open, memory_order_relaxed);
        sum.waiting += atomic_load_explicit(&m->waiting, memory_order_relaxed);
        sum.accepted += load(&m->accepted);
        sum.turned_away += load(&m->turned_away);
        sum.ids += load(&m->ids);
        sum.received += load(&m->received);
        sum.sent += load(&m->sent);
        sum.parked += load(&m->parked);
        for (int kind = 0; kind < METER_KIND_COUNT; kind++) {
            sum.requests += load(&m->requests[kind]);
        }
    }
    return sum;
}

typedef void section_function(FILE *to, const totals *sum, const client *it);

static void write_server(FILE *to, const totals *sum, const client *it) {
    (void)sum;
    (void)it;
    /* Some clients decide by redis_version which commands exist. */
    fprintf(to, "redis_version:7.0.0\r\nredis_mode:standalone\r\nfirn_version:%s\r\n",
            firn_version());
    fprintf(to, "process_id:%ld\r\nuptime_in_seconds:%" PRId64 "\r\n", (long)getpid(),
            server_uptime_s());
}

static void write_clients(FILE *to, const totals *sum, const client *it) {
    (void)it;
    fprintf(to,
            "connected_clients:%" PRId64 "\r\nmaxclients:%" PRId64 "\r\nblocked_clients:%" PRId64
            "\r\n",
            sum->open, settings_now()->max_connections, sum->waiting);
}

/* Resident memory of the process. */
static uint64_t resident_bytes(void) {
    unsigned long long size = 0, resident = 0;
    FILE *from = fopen("/proc/self/statm", "re");
    if (from != NULL) {
        if (fscanf(from, "%llu %llu", &size, &resident) != 2) {
            resident = 0;
        }
        fclose(from);
    }
    return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void write_memory(FILE *to, const totals *sum, const client *it) {
    (void)sum;
    (void)it;
    struct rusage usage = {0};
    uint64_t bytes = resident_bytes();
    getrusage(RUSAGE_SELF, &usage);
    fprintf(to,
            "used_memory:%" PRIu64 "\r\nused_memory_human:%.2fM\r\nused_memory_rss:%" PRIu64
            "\r\nused_memory_peak:%" PRIu64 "\r\nmaxmemory:0\r\n",
            bytes, (double)bytes / (1 << 20), bytes, (uint64_t)usage.ru_maxrss * 1024);
}

static void write_persistence(FILE *to, const totals *sum, const client *it) {
    (void)sum;
    (void)it;
    fputs("loading:0\r\nrdb_bgsave_in_progress:0\r\naof_enabled:0\r\naof_rewrite_in_progress:0\r\n",
          to);
}

static void write_stats(FILE *to, const totals *sum, const client *it) {
    (void)it;
    fprintf(to,
            "total_connections_received:%" PRIu64 "\r\ntotal_commands_processed:%" PRIu64
            "\r\ntotal_net_input_bytes:%" PRIu64 "\r\ntotal_net_output_bytes:%" PRIu64
            "\r\nrejected_connections:%" PRIu64 "\r\n",
            sum->accepted, sum->requests, sum->received, sum->sent, sum->turned_away);
}

static void write_replication(FILE *to, const totals *sum, const client *it) {
    (void)sum;
    (void)it;
    fputs("role:master\r\nconnected_slaves:0\r\n", to);
}

static void write_cpu(FILE *to, const totals *sum, const client *it) {
    (void)sum;
    (void)it;
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    fprintf(to, "used_cpu_sys:%lld.%06ld\r\nused_cpu_user:%lld.%06ld\r\n",
            (long long)usage.ru_stime.tv_sec, (long)usage.ru_stime.tv_usec,
            (long long)usage.ru_utime.tv_sec, (long)usage.ru_utime.tv_usec);
}

/* Keys are segments. */
static void write_keyspace(FILE *to, const totals *sum, const client *it) {
    size_t segments = 0;
    (void)sum;
    (void)it;
    while (catalog_segment_at(segments) != NULL) {
        segments++;
    }
    if (segments > 0) {
        fprintf(to, "db0:keys=%zu,expires=0,avg_ttl=0\r\n", segments);
    }
}

#define NAMES_TOLD 100 /* of each kind; /metrics lists all */

static void write_firn(FILE *to, const totals *sum, const client *it) {
    size_t generators = 0, segments = 0;
    fprintf(to, "ids_issued:%" PRIu64 "\r\nrequests_parked:%" PRIu64 "\r\n", sum->ids, sum->parked);
    const generator *g;
    for (; (g = catalog_generator_at(generators)) != NULL; generators++) {
        if (it->role == ROLE_ADMIN && generators < NAMES_TOLD) {
            fprintf(to, "generator_%s:issued=%" PRIu64 ",error=%s\r\n", g->name,
                    generator_issued(g),
                    firn_errname(atomic_load_explicit(&g->failed.code, memory_order_seq_cst)));
        }
    }
    const segment *s;
    for (; (s = catalog_segment_at(segments)) != NULL; segments++) {
        if (it->role == ROLE_ADMIN && segments < NAMES_TOLD) {
            fprintf(to, "segment_%s:issued=%" PRIu64 ",error=%s\r\n", s->name, segment_issued(s),
                    firn_errname(atomic_load_explicit(&s->failed.code, memory_order_seq_cst)));
        }
    }
    fprintf(to, "generators:%zu\r\nsegments:%zu\r\n", generators, segments);
}

static const struct {
    const char *name;
    section_function *write;
} sections[] = {{"Server", write_server}, {"Clients", write_clients},
                {"Memory", write_memory}, {"Persistence", write_persistence},
                {"Stats", write_stats},   {"Replication", write_replication},
                {"CPU", write_cpu},       {"Keyspace", write_keyspace},
                {"Firn", write_firn}};

static bool section_is_asked(const resp_command *said, const char *name) {
    bool is = said->count == 1;
    for (size_t i = 1; i < said->count; i++) {
        word one = said->words[i];
        is = is || word_is(one, name) || word_is(one, "all") || word_is(one, "default") ||
             word_is(one, "everything");
    }
    return is;
}

enum outcome run_info(client *it, const resp_command *said, resp_out *out) {
    char *text = NULL;
    size_t length = 0;
    totals sum = total_of_loops();
    if (refuse_large_page(out)) {
        return COMMAND_DONE;
    }
    FILE *to = open_memstream(&text, &length);
    if (to == NULL) {
        resp_error(out, "OOM", "out of memory");
        return COMMAND_DONE;
    }
    for (size_t i = 0; i < COUNT_OF(sections); i++) {
        if (section_is_asked(said, sections[i].name)) {
            fprintf(to, "# %s\r\n", sections[i].name);
            sections[i].write(to, &sum, it);
            fputs("\r\n", to);
        }
    }
    if (fclose(to) == 0) {
        resp_page(out, text, length);
    } else {
        resp_error(out, "OOM", "out of memory");
    }
    free(text);
    return COMMAND_DONE;
}
