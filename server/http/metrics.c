/* SPDX-License-Identifier: MIT */
/* /metrics in the text format of Prometheus (0.0.4): a table of names, kinds, help texts and
 * functions that read the values. */
#include "http_reply.h"

#include "core/catalog.h"
#include "core/server.h"
#include "core/text.h"
#include "core/text_view.h"
#include "net/access_log.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_SECOND 1e9
#define NAMES_MOST    100000 /* generators and segments listed */

/* ---- names and values ------------------------------------------------------------------------ */

/* A label's value with quotes, backslashes and line ends escaped. Clients choose names of segments:
 * invalid UTF-8 is written in hex. */
static const char *quoted(char out[2 * NAME_SIZE + 512], const char *name) {
    size_t length = 0;
    while (*name != '\0' && length < 2 * NAME_SIZE + 500) {
        size_t size = utf8_size(name, 4);
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

static void begin(text_out *to, const char *name, const char *kind, const char *help) {
    text_print(to, "# HELP firn_%s %s\n# TYPE firn_%s %s\n", name, help, name, kind);
}

/* ---- workers --------------------------------------------------------------------------------- */

static const char *listener_name(bool http) {
    return http ? "http" : "resp";
}

/* The sum of a counter, `at` bytes into the meter, over the workers of a listener. */
static uint64_t sum_at(bool http, size_t at) {
    uint64_t sum = 0;
    for (int i = 0; i < WORKERS_MAX; i++) {
        const worker *it = worker_at(i);
        if (it != NULL && it->http == http) {
            const void *counter = (const char *)&it->meter + at;
            sum += atomic_load_explicit((const _Atomic uint64_t *)counter, memory_order_relaxed);
        }
    }
    return sum;
}

static const char *const kinds[METER_KIND_COUNT] = {
#define METER_X(id, name) name,
    METER_KINDS(METER_X)
#undef METER_X
};

static void write_kinds(text_out *to, const char *name, const char *help, size_t at) {
    begin(to, name, "counter", help);
    for (int http = 0; http < 2; http++) {
        for (size_t i = 0; i < METER_KIND_COUNT; i++) {
            text_print(to, "firn_%s{listener=\"%s\",kind=\"%s\"} %" PRIu64 "\n", name,
                       listener_name(http), kinds[i], sum_at(http, at + i * sizeof(uint64_t)));
        }
    }
}

/* Counters without kinds. */
static const struct {
    const char *name, *kind, *help;
    size_t at;
} listener_metrics[] = {
    {"ids_total", "counter", "Number of IDs and integers issued.", offsetof(meter, ids)},
    {"over_quota_total", "counter", "Requests refused because of a quota in IDs per second.",
     offsetof(meter, over_quota)},
    {"received_bytes_total", "counter", "Bytes received.", offsetof(meter, received)},
    {"sent_bytes_total", "counter", "Bytes sent.", offsetof(meter, sent)},
    {"connections_accepted_total", "counter", "Connections accepted.", offsetof(meter, accepted)},
    {"connections_turned_away_total", "counter",
     "Connections refused because a connection limit was reached.", offsetof(meter, turned_away)},
    {"connections_closed_slow_total", "counter",
     "Connections closed because the client sent an incomplete request or did not read its replies "
     "for slow_s.",
     offsetof(meter, closed_slow)},
    {"connections_closed_crowded_total", "counter",
     "Unauthenticated connections closed to make room, oldest first.",
     offsetof(meter, closed_crowded)},
    {"wrong_tokens_total", "counter", "Requests with a wrong token.",
     offsetof(meter, wrong_tokens)},
    {"connections_closed_broken_total", "counter",
     "Connections closed because of a malformed or oversized request.",
     offsetof(meter, closed_broken)},
    {"requests_parked_total", "counter",
     "Requests that had to wait for a window, the clock or the store.", offsetof(meter, parked)},
    {"connections_open", "gauge", "Open connections.", offsetof(meter, open)},
};

static void write_listeners(text_out *to) {
    for (size_t i = 0; i < sizeof listener_metrics / sizeof *listener_metrics; i++) {
        begin(to, listener_metrics[i].name, listener_metrics[i].kind, listener_metrics[i].help);
        for (int http = 0; http < 2; http++) {
            text_print(to, "firn_%s{listener=\"%s\"} %" PRId64 "\n", listener_metrics[i].name,
                       listener_name(http), (int64_t)sum_at(http, listener_metrics[i].at));
        }
    }
}

/* The last bucket is +Inf. */
static void write_latency(text_out *to) {
    const char *name = "request_duration_seconds";
    begin(to, name, "histogram", "Time from the arrival of a request to its reply.");
    for (int http = 0; http < 2; http++) {
        uint64_t sum = 0;
        double bound = 1e-6;
        for (size_t i = 0; i + 1 < METER_BUCKETS; i++, bound *= 2) {
            sum += sum_at(http, offsetof(meter, latency) + i * sizeof(uint64_t));
            text_print(to, "firn_%s_bucket{listener=\"%s\",le=\"%.6f\"} %" PRIu64 "\n", name,
                       listener_name(http), bound, sum);
        }
        sum += sum_at(http, offsetof(meter, latency) + (METER_BUCKETS - 1) * sizeof(uint64_t));
        text_print(to, "firn_%s_bucket{listener=\"%s\",le=\"+Inf\"} %" PRIu64 "\n", name,
                   listener_name(http), sum);
        text_print(to, "firn_%s_sum{listener=\"%s\"} %.9f\n", name, listener_name(http),
                   (double)sum_at(http, offsetof(meter, latency_ns)) / NS_PER_SECOND);
        text_print(to, "firn_%s_count{listener=\"%s\"} %" PRIu64 "\n", name, listener_name(http),
                   sum);
    }
}

/* ---- generators ------------------------------------------------------------------------------ */

/* A generator and its state, read once for all metrics. */
typedef struct look {
    const generator *it;
    firn_status status;
    bool open;
} look;

static double issued(const look *at) {
    return (double)generator_issued(at->it);
}

static double is_open(const look *at) {
    return at->open;
}

static double is_held(const look *at) {
    return at->open && (at->status.held || !at->status.reserved);
}

static double window_seconds(const look *at) {
    int64_t ms = generator_window_ms(at->it);
    return ms < 0 ? 0 : (double)ms / 1000;
}

static double window_slots(const look *at) {
    return at->status.held ? (double)(at->status.end - at->status.next) : 0;
}

static double reserved_seconds(const look *at) {
    return (double)atomic_load_explicit(&at->it->window_ms, memory_order_seq_cst) / 1000;
}

/* NAN: the layout has no end. */
static double layout_end(const look *at) {
    char value[FIRN_NS_SIZE];
    firn_time end;
    bool whole = strcmp(keys_value(value, at->it->keys, "unsigned"), "1") == 0;
    return firn_scheme_end(at->it->scheme, whole, &end) ? (double)end.sec : NAN;
}

static double is_unsafe(const look *at) {
    return at->open && at->status.unsafe;
}

static double lead_seconds(const look *at) {
    return (double)at->status.lead_ns / NS_PER_SECOND;
}

#define OF_STATUS(member)                                                                          \
    static double member(const look *at) {                                                         \
        return (double)at->status.member;                                                          \
    }
OF_STATUS(claims)
OF_STATUS(renewals)
OF_STATUS(give_backs)
OF_STATUS(store_errors)
OF_STATUS(steps_back_absorbed)
OF_STATUS(steps_back_left)
OF_STATUS(jumps_ahead)

static const struct {
    const char *name, *kind, *help;
    double (*value)(const look *at);
    bool of_window;
} generator_metrics[] = {
    {"generator_ids_total", "counter", "IDs issued by the generator.", issued, false},
    {"generator_open", "gauge", "1 if the generator is open.", is_open, false},
    {"generator_ready", "gauge", "1 if the generator holds a window or needs none.", is_held,
     false},
    {"generator_lead_seconds", "gauge",
     "How far the time of the last ID is ahead of the clock; negative if it is before the clock.",
     lead_seconds, false},
    {"generator_window_left_seconds", "gauge",
     "How long the window still lasts if the store does not answer.", window_seconds, true},
    {"generator_window_reserved_seconds", "gauge",
     "How long the last window was when it was reserved.", reserved_seconds, true},
    {"generator_window_left_slots", "gauge", "Slots of the window that are not issued yet.",
     window_slots, true},
    {"generator_claims_total", "counter", "Windows claimed.", claims, true},
    {"generator_renewals_total", "counter", "Windows renewed.", renewals, true},
    {"generator_give_backs_total", "counter", "Windows given back.", give_backs, true},
    {"generator_store_errors_total", "counter", "Failed reservations.", store_errors, true},
    {"generator_steps_back_absorbed_total", "counter",
     "Clock rollbacks of up to back_ms, which were absorbed.", steps_back_absorbed, false},
    {"generator_steps_back_left_total", "counter", "Clock rollbacks of more than back_ms.",
     steps_back_left, false},
    {"generator_layout_end_timestamp_seconds", "gauge",
     "Unix time at which the layout ends; absent if it has no end.", layout_end, false},
    {"generator_unsafe", "gauge",
     "1 if the store or a key accepts that acknowledged reservations may be lost.", is_unsafe,
     false},
    {"generator_jumps_ahead_total", "counter", "Clock jumps ahead of more than 5 s.", jumps_ahead,
     false},
};

static look look_at(const generator *it) {
    look at = {.it = it, .status = {.size = sizeof(firn_status)}};
    firn_gen *gen = atomic_load_explicit(&it->gen, memory_order_acquire);
    at.open = gen != NULL;
    if (at.open) {
        firn_gen_status(gen, &at.status);
    }
    return at;
}

static void write_generators(text_out *to) {
    size_t count = 0;
    while (count < NAMES_MOST && catalog_generator_at(count) != NULL) {
        count++;
    }
    look *all = calloc(count + 1, sizeof *all);
    for (size_t i = 0; all != NULL && i < count; i++) {
        all[i] = look_at(catalog_generator_at(i));
    }
    for (size_t m = 0; m < sizeof generator_metrics / sizeof *generator_metrics; m++) {
        begin(to, generator_metrics[m].name, generator_metrics[m].kind, generator_metrics[m].help);
        for (size_t i = 0; all != NULL && i < count; i++) {
            if (generator_metrics[m].of_window && all[i].it->renewer == NULL) {
                continue;
            }
            double value = generator_metrics[m].value(&all[i]);
            if (!isnan(value)) {
                text_print(to, "firn_%s{generator=\"%s\",scheme=\"%s\"} %.16g\n",
                           generator_metrics[m].name, QUOTED(all[i].it->name),
                           QUOTED(all[i].it->scheme->name), value);
            }
        }
    }
    to->failed |= all == NULL;
    free(all);
}

/* ---- segments -------------------------------------------------------------------------------- */

static void write_segments(text_out *to) {
    const segment *it;
    begin(to, "segment_integers_total", "counter", "Integers issued by the segment.");
    for (size_t i = 0; i < NAMES_MOST && (it = catalog_segment_at(i)) != NULL; i++) {
        text_print(to, "firn_segment_integers_total{segment=\"%s\"} %" PRIu64 "\n",
                   QUOTED(it->name), segment_issued(it));
    }
    begin(to, "segment_left", "gauge", "Integers that are reserved and not issued yet.");
    for (size_t i = 0; i < NAMES_MOST && (it = catalog_segment_at(i)) != NULL; i++) {
        firn_segment *range = atomic_load_explicit(&it->range, memory_order_acquire);
        text_print(to, "firn_segment_left{segment=\"%s\"} %" PRId64 "\n", QUOTED(it->name),
                   range != NULL ? firn_segment_left(range) : 0);
    }
}

/* ---- failures -------------------------------------------------------------------------------- */

static void write_failure(text_out *to, const char *kind, const char *name, int code) {
    if (code != FIRN_OK) {
        text_print(to, "firn_failing{kind=\"%s\",name=\"%s\",error=\"%s\"} 1\n", kind, QUOTED(name),
                   firn_errname(code));
    }
}

static void write_failures(text_out *to) {
    firn_error error;
    const generator *g;
    const segment *s;
    begin(to, "failing", "gauge",
          "1 for each generator and segment that cannot reserve; the label error says why.");
    for (size_t i = 0; i < NAMES_MOST && (g = catalog_generator_at(i)) != NULL; i++) {
        write_failure(to, "generator", g->name, generator_trouble(g, &error));
    }
    for (size_t i = 0; i < NAMES_MOST && (s = catalog_segment_at(i)) != NULL; i++) {
        write_failure(to, "segment", s->name, segment_trouble(s, &error));
    }
}

/* ---- stores ---------------------------------------------------------------------------------- */

/* Members of the renewer's state. */
enum { STORE_METRICS = 6 };

static double store_value(const renewer_state *of, int which) {
    const double values[STORE_METRICS] = {
        (double)of->calls, (double)of->failures,       of->usable,
        (double)of->tasks, (double)of->beat_ms / 1000, (double)of->busy_ms / 1000,
    };
    return values[which];
}

static void write_stores(text_out *to) {
    static const struct {
        const char *name, *kind, *help;
    } rows[STORE_METRICS] = {
        {"store_calls_total", "counter", "Operations on the store."},
        {"store_failures_total", "counter", "Failed operations on the store."},
        {"store_usable", "gauge",
         "1 if the last operation succeeded and none has been running for more than a second."},
        {"store_tasks", "gauge", "Requests that wait for the store."},
        {"store_beat_seconds", "gauge", "Time since the renewer last started a round."},
        {"store_busy_seconds", "gauge", "How long the present operation has been running."},
    };
    renewer_state state;
    for (int m = 0; m < STORE_METRICS; m++) {
        begin(to, rows[m].name, rows[m].kind, rows[m].help);
        for (size_t i = 0; i < RENEWERS_MAX && renewer_look(i, &state); i++) {
            text_print(to, "firn_%s{store=\"%s\"} %.16g\n", rows[m].name, QUOTED(state.url),
                       store_value(&state, m));
        }
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

static void write_metrics(text_out *to) {
    char why[256];
    begin(to, "build_info", "gauge", "Always 1, with the version as a label.");
    text_print(to, "firn_build_info{version=\"%s\"} 1\n", firn_version());
    begin(to, "uptime_seconds", "gauge", "Time since the server started.");
    text_print(to, "firn_uptime_seconds %" PRId64 "\n", server_uptime_s());
    begin(to, "ready", "gauge", "1 if /readyz reports ready.");
    text_print(to, "firn_ready %d\n", server_is_ready(why));
    write_kinds(to, "requests_total", "Requests, including refused ones.",
                offsetof(meter, requests));
    write_kinds(to, "requests_refused_total", "Requests answered with an error.",
                offsetof(meter, refused));
    write_listeners(to);
    write_latency(to);
    begin(to, "access_log_lines_total", "counter", "Lines of the access log.");
    text_print(to, "firn_access_log_lines_total %" PRIu64 "\n", access_log_lines());
    begin(to, "access_log_dropped_total", "counter",
          "Requests that are missing from the access log, because its file was slow or failed.");
    text_print(to, "firn_access_log_dropped_total %" PRIu64 "\n", access_log_dropped());
    write_generators(to);
    write_segments(to);
    write_failures(to);
    write_stores(to);
}

enum MHD_Result page_metrics(exchange *it) {
    text_out made = {0};
    write_metrics(&made);
    if (made.failed) {
        free(made.bytes);
        return answer_problem(it, MHD_HTTP_SERVICE_UNAVAILABLE, "MEMORY", "out of memory");
    }
    return answer_bytes(it, MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8", made.bytes,
                        made.length);
}
