/* SPDX-License-Identifier: MIT */
/* INFO and CONFIG GET, as Redis clients expect them. */
#include "handlers.h"

#include "core/catalog.h"
#include "core/server.h"
#include "core/text.h"
#include "net/connections.h"
#include "settings/setting.h"

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

enum outcome run_config(resp_client *client, const resp_command *command, resp_out *out) {
    (void)client;
    char connections[24], idle[24], pattern[PATTERN_MAX];
    const char *const rows[CONFIG_COUNT][2] = {
        {"save", ""},      {"appendonly", "no"}, {"databases", "1"}, {"maxclients", connections},
        {"timeout", idle}, {"maxmemory", "0"},
    };
    bool is_asked[CONFIG_COUNT] = {false};
    size_t count = 0;
    if (!word_is(command->words[1], "get") || command->count < 3) {
        return refuse(
            out,
            "only CONFIG GET pattern... is supported: change settings in firn.ini and send SIGHUP");
    }
    snprintf(connections, sizeof connections, "%" PRId64, connections_most());
    snprintf(idle, sizeof idle, "%" PRId64, settings_now()->idle_s);
    for (size_t i = 2; i < command->count; i++) {
        for (size_t j = 0; word_copy(command->words[i], pattern, PATTERN_MAX) && j < CONFIG_COUNT;
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

static struct rusage used(void) {
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    return usage;
}

/* Begins a section, if it is asked for. */
static bool begins(text_out *out, const resp_command *command, const char *name) {
    bool is = command->count == 1;
    for (size_t i = 1; i < command->count; i++) {
        word text = command->words[i];
        is = is || word_is(text, name) || word_is(text, "all") || word_is(text, "default") ||
             word_is(text, "everything");
    }
    if (is) {
        text_print(out, "%s# %s\r\n", out->length > 0 ? "\r\n" : "", name);
    }
    return is;
}

/* Some clients decide by redis_version which commands exist. */
static void write_process(text_out *out, const resp_command *command, const meter_totals *sum) {
    if (begins(out, command, "Server")) {
        text_print(out,
                   "redis_version:7.0.0\r\nredis_mode:standalone\r\nfirn_version:%s\r\n"
                   "process_id:%ld\r\nuptime_in_seconds:%" PRId64 "\r\n",
                   firn_version(), (long)getpid(), server_uptime_s());
    }
    if (begins(out, command, "Clients")) {
        text_print(out,
                   "connected_clients:%" PRIu64 "\r\nmaxclients:%" PRId64
                   "\r\nblocked_clients:%" PRIu64 "\r\n",
                   sum->open, connections_most(), sum->waiting);
    }
    if (begins(out, command, "Memory")) {
        uint64_t bytes = resident_bytes();
        struct rusage usage = used();
        text_print(out,
                   "used_memory:%" PRIu64 "\r\nused_memory_human:%.2fM\r\nused_memory_rss:%" PRIu64
                   "\r\nused_memory_peak:%" PRIu64 "\r\nmaxmemory:0\r\n",
                   bytes, (double)bytes / (1 << 20), bytes, (uint64_t)usage.ru_maxrss * 1024);
    }
    if (begins(out, command, "Persistence")) {
        text_print(out, "loading:0\r\nrdb_bgsave_in_progress:0\r\naof_enabled:0\r\n"
                        "aof_rewrite_in_progress:0\r\n");
    }
}

#define NAMES_TOLD 100 /* of each kind; /metrics lists all */

static void write_name(text_out *out, const char *kind, const char *name, uint64_t issued,
                       const last_error *failed) {
    text_print(out, "%s_%s:issued=%" PRIu64 ",error=%s\r\n", kind, name, issued,
               firn_errname(atomic_load_explicit(&failed->code, memory_order_seq_cst)));
}

/* `all`: with the names of generators and segments. */
static void write_firn(text_out *out, const meter_totals *sum, size_t segments, bool all) {
    size_t generators = 0;
    const server_generator *g;
    text_print(out, "ids_issued:%" PRIu64 "\r\nrequests_parked:%" PRIu64 "\r\n", sum->ids,
               sum->parked);
    for (; (g = catalog_generator_at(generators)) != NULL; generators++) {
        if (all && generators < NAMES_TOLD) {
            write_name(out, "generator", g->name, generator_issued(g), &g->failed);
        }
    }
    for (size_t i = 0; all && i < segments && i < NAMES_TOLD; i++) {
        const server_segment *s = catalog_segment_at(i);
        write_name(out, "segment", s->name, segment_issued(s), &s->failed);
    }
    text_print(out, "generators:%zu\r\nsegments:%zu\r\n", generators, segments);
}

/* Keys are segments. */
static void write_service(text_out *out, const resp_command *command, const meter_totals *sum,
                          bool all) {
    uint64_t requests = 0;
    size_t segments = 0;
    for (int kind = 0; kind < METER_KIND_COUNT; kind++) {
        requests += sum->requests[kind];
    }
    while (catalog_segment_at(segments) != NULL) {
        segments++;
    }
    if (begins(out, command, "Stats")) {
        text_print(out,
                   "total_connections_received:%" PRIu64 "\r\ntotal_commands_processed:%" PRIu64
                   "\r\ntotal_net_input_bytes:%" PRIu64 "\r\ntotal_net_output_bytes:%" PRIu64
                   "\r\nrejected_connections:%" PRIu64 "\r\n",
                   sum->accepted, requests, sum->received, sum->sent, sum->turned_away);
    }
    if (begins(out, command, "Replication")) {
        text_print(out, "role:master\r\nconnected_slaves:0\r\n");
    }
    if (begins(out, command, "CPU")) {
        struct rusage usage = used();
        text_print(out, "used_cpu_sys:%lld.%06ld\r\nused_cpu_user:%lld.%06ld\r\n",
                   (long long)usage.ru_stime.tv_sec, (long)usage.ru_stime.tv_usec,
                   (long long)usage.ru_utime.tv_sec, (long)usage.ru_utime.tv_usec);
    }
    if (begins(out, command, "Keyspace") && segments > 0) {
        text_print(out, "db0:keys=%zu,expires=0,avg_ttl=0\r\n", segments);
    }
    if (begins(out, command, "Firn")) {
        write_firn(out, sum, segments, all);
    }
}

/* With the counters of Redis clients; the counters of HTTP are in /metrics. */
enum outcome run_info(resp_client *client, const resp_command *command, resp_out *out) {
    text_out text = {0};
    meter_totals sum = {0};
    if (refuse_large_page(out)) {
        return COMMAND_DONE;
    }
    meters_sum(&sum, false);
    write_process(&text, command, &sum);
    write_service(&text, command, &sum, client->role == ROLE_ADMIN);
    text_add(&text, "\r\n", text.length > 0 ? 2 : 0);
    return reply_page(&text, out);
}
