/* SPDX-License-Identifier: MIT */
/* STATUS, SPREAD and NODES: the state of the server, how recent IDs spread over shards, what a
 * store holds. Counts only, no rates. Numbers above 2^53 are strings. */
#include "verbs.h"

#include "catalog.h"
#include "errors.h"
#include "mark.h"
#include "object.h"
#include "series.h"
#include "server.h"
#include "shard.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *decimal(int64_t number) {
    return json_sprintf("%" PRId64, number);
}

/* ---- generators and segments ----------------------------------------------------------------- */

static json_t *counts_object(const firn_status *status) {
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "claims", (json_int_t)status->claims, "renewals",
        (json_int_t)status->renewals, "give_backs", (json_int_t)status->give_backs, "store_errors",
        (json_int_t)status->store_errors, "steps_back_absorbed",
        (json_int_t)status->steps_back_absorbed, "steps_back_left",
        (json_int_t)status->steps_back_left, "jumps_ahead", (json_int_t)status->jumps_ahead);
}

/* NULL: none. */
static json_t *trouble_of(const last_error *failed) {
    firn_error error;
    return last_error_get(failed, &error) != FIRN_OK ? json_foreign(error.text) : NULL;
}

static json_t *generator_object(const server_generator *generator) {
    firn_gen *gen = atomic_load_explicit(&generator->gen, memory_order_acquire);
    firn_status status = {.size = sizeof status};
    if (gen != NULL) {
        firn_gen_status(gen, &status);
    }
    int64_t window_ms = generator_window_ms(generator);
    return json_pack(
        "{s:o, s:o, s:s, s:b, s:b, s:b, s:b, s:b, s:o, s:o, s:o, s:I, s:o, s:o?}", "name",
        json_foreign(generator->name), "scheme", json_foreign(generator->scheme->name), "form",
        firn_form_name(generator->form), "configured", generator->configured, "open", gen != NULL,
        "reserved", generator->renewer != NULL, "held", gen != NULL && status.held, "stays",
        status.stays, "node",
        generator->renewer != NULL && status.held ? decimal((int64_t)status.node) : json_null(),
        "window_ms", window_ms < 0 ? json_null() : json_integer(window_ms), "lead_ns",
        gen != NULL && status.held && generator->scheme->tick_ns != 0 ? decimal(status.lead_ns)
                                                                      : json_null(),
        "issued", (json_int_t)generator_issued(generator), "counts", counts_object(&status),
        "trouble", trouble_of(&generator->failed));
}

static json_t *segment_object(const server_segment *segment) {
    firn_segment *range = atomic_load_explicit(&segment->range, memory_order_acquire);
    int64_t last = segment_last(segment);
    return json_pack("{s:o, s:b, s:b, s:I, s:o, s:o, s:I, s:o?}", "name",
                     json_foreign(segment->name), "configured", segment->configured, "open",
                     range != NULL, "increment", (json_int_t)segment->increment, "left",
                     range != NULL ? decimal(firn_segment_left(range)) : json_null(), "last",
                     last != INT64_MIN ? decimal(last) : json_null(), "issued",
                     (json_int_t)segment_issued(segment), "trouble", trouble_of(&segment->failed));
}

/* ---- stores and workers ---------------------------------------------------------------------- */

static json_t *renewer_object(const renewer_state *state) {
    return json_pack("{s:o, s:b, s:o?, s:o?, s:I, s:I, s:I, s:I, s:i}", "store",
                     json_foreign(state->url), "usable", state->usable, "trouble",
                     state->trouble[0] != '\0' ? json_foreign(state->trouble) : NULL, "caution",
                     state->caution[0] != '\0' ? json_foreign(state->caution) : NULL, "calls",
                     (json_int_t)state->calls, "failures", (json_int_t)state->failures, "beat_ms",
                     (json_int_t)state->beat_ms, "busy_ms", (json_int_t)state->busy_ms, "tasks",
                     state->tasks);
}

static json_t *kinds_object(const uint64_t counts[METER_KIND_COUNT]) {
    static const char *const names[] = {
#define METER_X(id, name) name,
        METER_KINDS(METER_X)
#undef METER_X
    };
    json_t *object = json_object();
    for (int i = 0; i < METER_KIND_COUNT && object != NULL; i++) {
        object = json_set(object, names[i], json_integer((json_int_t)counts[i]));
    }
    return object;
}

/* [[up to ns, requests], ...]; the last bucket has no limit. */
static json_t *latency_array(const meter_totals *from) {
    json_t *array = json_array();
    for (int i = 0; i < METER_BUCKETS; i++) {
        json_t *end = i < METER_BUCKETS - 1 ? json_integer(INT64_C(1000) << i) : json_null();
        array = json_with(array, json_pack("[o, I]", end, (json_int_t)from->latency[i]));
    }
    return array;
}

static json_t *totals_object(void) {
    meter_totals all = {0};
    int workers = 0;
    meters_sum(&all, false);
    meters_sum(&all, true);
    while (worker_at(workers) != NULL) {
        workers++;
    }
    return json_pack("{s:i, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}",
                     "workers", workers, "requests", kinds_object(all.requests), "refused",
                     kinds_object(all.refused), "ids", (json_int_t)all.ids, "received",
                     (json_int_t)all.received, "sent", (json_int_t)all.sent, "accepted",
                     (json_int_t)all.accepted, "turned_away", (json_int_t)all.turned_away,
                     "closed_slow", (json_int_t)all.closed_slow, "closed_broken",
                     (json_int_t)all.closed_broken, "parked", (json_int_t)all.parked, "open",
                     (json_int_t)all.open, "latency_ns", decimal((int64_t)all.latency_ns),
                     "latency", latency_array(&all));
}

/* ---- all of it ------------------------------------------------------------------------------- */

static json_t *generators_array(void) {
    json_t *array = json_array();
    const server_generator *generator;
    for (size_t i = 0; (generator = catalog_generator_at(i)) != NULL && array != NULL; i++) {
        array = json_with(array, generator_object(generator));
    }
    return array;
}

static json_t *segments_array(size_t most) {
    json_t *array = json_array();
    const server_segment *segment;
    for (size_t i = 0; i < most && (segment = catalog_segment_at(i)) != NULL && array != NULL;
         i++) {
        array = json_with(array, segment_object(segment));
    }
    return array;
}

static json_t *series_array(void) {
    json_t *array = json_array();
    const server_series *series;
    for (size_t i = 0; (series = catalog_series_at(i)) != NULL && array != NULL; i++) {
        array = json_with(
            array,
            json_pack("{s:o, s:I, s:o?}", "name", json_foreign(series->name), "issued",
                      (json_int_t)atomic_load_explicit(&series->issued, memory_order_relaxed),
                      "trouble", trouble_of(&series->failed)));
    }
    return array;
}

static json_t *renewers_array(void) {
    json_t *array = json_array();
    renewer_state state;
    for (size_t i = 0; renewer_look(i, &state) && array != NULL; i++) {
        array = json_with(array, renewer_object(&state));
    }
    return array;
}

int answer_status(const server_request *request, server_reply *out, firn_error *error) {
    enum { SEGMENTS_TOLD = 1000 }; /* the page is polled every second */
    static const char *const none[] = {NULL};
    char why[SERVER_WHY_SIZE];
    if (check_keys(request, "status", none, error) != FIRN_OK) {
        return error->code;
    }
    bool ready = server_is_ready(why);
    return reply_json(json_pack("{s:s, s:I, s:b, s:o?, s:o, s:o, s:o, s:o, s:o}", "version",
                                firn_version(), "uptime_s", (json_int_t)server_uptime_s(), "ready",
                                ready, "why", why[0] != '\0' ? json_foreign(why) : NULL,
                                "generators", generators_array(), "segments",
                                segments_array(SEGMENTS_TOLD), "series", series_array(), "stores",
                                renewers_array(), "totals", totals_object()),
                      out, error);
}

/* ---- spread ---------------------------------------------------------------------------------- */

enum { SHARDS_MOST = 64, SHARDS_USUAL = 16 };

/* Recent IDs per shard, for three ways to choose a shard. */
typedef struct id_spread {
    uint32_t shards;
    uint64_t ids, by_hash[SHARDS_MOST], by_remainder[SHARDS_MOST], by_range[SHARDS_MOST];
} id_spread;

/* Word by word, with the remainder of 2^64, to avoid wider arithmetic. */
static uint32_t remainder_of(const firn_id *id, uint32_t shards) {
    uint64_t carry = (UINT64_MAX % shards + 1) % shards;
    uint64_t rest = id->top % shards;
    rest = (rest * carry + id->high % shards) % shards;
    return (uint32_t)((rest * carry + id->low % shards) % shards);
}

/* All numbers of that width in equal parts, by the upper 32 bits. */
static uint32_t range_of(const firn_id *id, uint32_t shards) {
    uint64_t upper = id->bits > 128  ? (uint64_t)id->top << 32 | id->high >> 32
                     : id->bits > 64 ? id->high
                                     : id->low;
    uint32_t width = id->bits > 128 ? id->bits - 96 : id->bits > 64 ? id->bits - 64 : id->bits;
    upper = width > 32 ? upper >> (width - 32) : upper << (32 - width);
    return (uint32_t)((upper & UINT32_MAX) * shards >> 32);
}

static void count_recent(id_spread *to, const server_generator *from) {
    for (int i = 0; i < WORKERS_MAX; i++) {
        const generator_tally *tally =
            atomic_load_explicit(&from->tallies[i], memory_order_acquire);
        uint32_t next =
            tally != NULL ? atomic_load_explicit(&tally->next, memory_order_relaxed) : 0;
        for (uint32_t j = 0; j < next && j < RECENT_SIZE; j++) {
            const _Atomic uint64_t *words = tally->recent[j];
            firn_id id = {atomic_load_explicit(&words[0], memory_order_relaxed),
                          atomic_load_explicit(&words[1], memory_order_relaxed),
                          (uint32_t)atomic_load_explicit(&words[2], memory_order_relaxed),
                          from->scheme->bits};
            to->ids++;
            to->by_hash[shard_by_hash(&id, to->shards)]++;
            to->by_remainder[remainder_of(&id, to->shards)]++;
            to->by_range[range_of(&id, to->shards)]++;
        }
    }
}

static json_t *shards_array(const id_spread *spread, const uint64_t counts[SHARDS_MOST]) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < spread->shards; i++) {
        array = json_with(array, json_integer((json_int_t)counts[i]));
    }
    return array;
}

int answer_spread(const server_request *request, server_reply *out, firn_error *error) {
    static const char *const known[] = {"shards", NULL};
    int64_t shards = SHARDS_USUAL;
    id_spread found = {0};
    for (size_t i = 0; i < request->pair_count; i++) {
        int code = word_is(request->pairs[i].key, "shards")
                       ? read_count(&shards, request, request->pairs[i].key,
                                    request->pairs[i].value, SHARDS_MOST, error)
                       : refuse_key(request, request->pairs[i].key, "spread", known, error);
        if (code != FIRN_OK) {
            return code;
        }
    }
    const server_generator *from = catalog_generator(request->name);
    if (from == NULL) {
        return set_error(error, FIRN_EUSAGE,
                         "the generator '%.*s' is not open: ask for its IDs first",
                         word_shown(request->name), request->name.text);
    }
    found.shards = (uint32_t)shards;
    count_recent(&found, from);
    return reply_json(
        json_pack("{s:o, s:o, s:I, s:I, s:o, s:o, s:o}", "name", json_foreign(from->name), "scheme",
                  json_foreign(from->scheme->name), "ids", (json_int_t)found.ids, "shards",
                  (json_int_t)shards, "hash", shards_array(&found, found.by_hash), "remainder",
                  shards_array(&found, found.by_remainder), "range",
                  shards_array(&found, found.by_range)),
        out, error);
}

/* ---- what a store holds ---------------------------------------------------------------------- */

typedef struct held_nodes {
    json_t *array;
    firn_time now;
    size_t left_out;
} held_nodes;

/* Leaves out ticks of back-dated IDs and namespaces without a node, as the command does. */
static int add_holding(void *context, const firn_holding *holding) {
    enum { HOLDINGS_MOST = 10000 };
    held_nodes *held = context;
    mark_told what;
    if (holding->key[0] == '\0') {
        return 0;
    }
    mark_tell(&what, holding, &held->now);
    if (what.kind == MARK_TICK || json_array_size(held->array) >= HOLDINGS_MOST) {
        held->left_out++;
        return 0;
    }
    return json_array_append_new(held->array, object_of_mark(holding, &what)) == 0 ? 0
                                                                                   : FIRN_EMEMORY;
}

int answer_nodes(firn_store *store, const char *ns, json_t **out, firn_error *error) {
    held_nodes all = {json_array(), mark_now(), 0};
    int code =
        all.array == NULL ? FIRN_EMEMORY : firn_store_list(store, ns, add_holding, &all, error);
    if (code == FIRN_EMEMORY) {
        set_error(error, code, "out of memory for the list of nodes: use a namespace");
    }
    if (code != FIRN_OK) {
        json_decref(all.array);
        return code;
    }
    *out = all.array;
    return FIRN_OK;
}
