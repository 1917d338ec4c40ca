/* SPDX-License-Identifier: MIT */
/* Back-dated issue: IDs for times other than the present, on nodes that live issue never
 * uses. The namespace's common history node is shared by reserving the slots of each tick; a
 * job's own node counts its ticks in memory. */
#include "duration.h"
#include "entropy.h"
#include "error.h"
#include "fork_memory.h"
#include "gen.h"
#include "issue.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FULL_MOST  65536 /* full ticks that are remembered; then all are forgotten */
#define NODE_TRIES 16 /* nodes asked for in turn: each refusal means another process was faster */

/* ---- ticks counted in memory ----------------------------------------------------------------- */

/* Takes up to `most` of the slots left in a tick that holds `capacity`. */
static int take_counted(firn_gen *gen, uint64_t tick, uint64_t capacity, uint64_t most,
                        uint64_t *first, uint64_t *got, firn_error *error) {
    firn__ticks *ticks = &gen->kept.history;
    int code = firn__ticks_full(ticks) ? firn__ticks_make_room(ticks, 0, error) : FIRN_OK;
    if (code != FIRN_OK) {
        return code;
    }
    uint64_t *pair = firn__ticks_pair(ticks, tick);
    if (pair[0] == 0 && gen->random_bits > 0) { /* uuid7: each tick starts at random */
        int64_t start;
        code = firn__gen_start(gen, &start, error);
        if (code != FIRN_OK) {
            return code;
        }
        pair[1] = (uint64_t)start;
    }
    firn__ticks_keep(ticks, pair, tick);
    *first = pair[1];
    *got = capacity - pair[1] < most ? capacity - pair[1] : most;
    pair[1] += *got;
    return FIRN_OK;
}

/* ---- the node -------------------------------------------------------------------------------- */

typedef struct node_search {
    firn_gen *gen;
    int64_t mark;   /* of the kind of node that is looked for */
    uint64_t grant; /* of the job that owns the node; 0: any */
    bool again;     /* a node with this mark and grant may be taken again */
    uint64_t *used; /* nodes that have a mark, as far as they match the pinned fields */
    size_t count, size;
    bool found;
    uint64_t node; /* that has this mark and grant */
    firn_error *error;
} node_search;

static int see_node(void *context, const firn_holding *holding) {
    node_search *search = context;
    firn_gen *gen = search->gen;
    firn_value node;
    firn__claimable_read(gen, holding->layout);
    if (!firn__value_parse(&node, holding->key) || (node.low & gen->pin_mask) != gen->pinned) {
        return FIRN_OK;
    }
    if (search->again && holding->mark.high == search->mark &&
        (search->grant == 0 ? firn__claimable_by(gen, node.low, false)
                            : holding->mark.grant == search->grant)) {
        search->found = true;
        search->node = node.low;
    }
    if (search->count == search->size) {
        size_t size = search->size == 0 ? 64 : search->size * 2;
        uint64_t *used = realloc(search->used, size * sizeof *used);
        if (used == NULL) {
            return firn__fail(search->error, FIRN_EMEMORY, "out of memory for a list of nodes");
        }
        search->used = used;
        search->size = size;
    }
    search->used[search->count++] = node.low;
    return FIRN_OK;
}

static int compare_down(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* The next lower node that matches the pinned fields; false below the least. */
static bool step_down(const firn_gen *gen, uint64_t *node) {
    uint64_t free = ~gen->pin_mask & firn__mask(gen->node_bits), bits = *node & free;
    if (bits == 0) {
        return false;
    }
    *node = ((bits - 1) & free) | gen->pinned;
    return true;
}

/* The highest node at or below *node that is not in the list (which is ordered, highest first). */
static bool skip_used(const firn_gen *gen, const node_search *search, uint64_t *node) {
    for (size_t i = 0; i < search->count; i++) {
        if (search->used[i] == *node && !step_down(gen, node)) {
            return false;
        }
    }
    return true;
}

/* Lowers *node to the highest node that is not in the list and may be claimed. */
static bool find_node(const firn_gen *gen, const node_search *search, uint64_t *node) {
    uint64_t first, last;
    if (!firn__claimable_numbers(gen, false, &first, &last)) {
        return false;
    }
    const uint64_t highest = firn__claimable_node(gen, last);
    *node = *node < highest ? *node : highest;
    return skip_used(gen, search, node) && firn__claimable_by(gen, *node, false);
}

/* `gone_back`: the store has a floor, so nodes without a mark are refused as well. */
static int refuse_node(const firn_gen *gen, bool job, bool gone_back, firn_error *error) {
    char text[128];
    if (gone_back) {
        return firn_error_set(
            error, FIRN_ETAKEN, FIRN_CURE_UNUSED_NODE,
            "the store was replaced or restored, so it does not know which nodes of "
            "%s were never used",
            gen->ns);
    }
    if (!gen->fixed || gen->node_bits == 0) {
        return firn_error_set(error, FIRN_EEND, FIRN_CURE_MORE_NODES,
                              "every node of %s was used, so none can issue back-dated IDs",
                              gen->ns);
    }
    const bool required =
        gen->scheme.node_rule == FIRN_NODE_REQUIRED && gen->scheme.node_fields != NULL;
    return firn_error_set(
        error, FIRN_ETAKEN, required ? FIRN_CURE_OTHER_NODE : FIRN_CURE_NODE_OUT,
        required
            ? "%s of %.120s issues live IDs%s, but back-dated ones need a node that was never "
              "used: name one"
            : "%s of %.120s issues live IDs%s, but back-dated ones need a node that was never used",
        firn__gen_node_text(text, gen, gen->pinned), gen->ns, job ? " or another job's" : "");
}

/* Reserves `node` for good: its mark goes where no live window can reach. */
static int reserve_node(firn_gen *gen, const node_search *search, uint64_t node, firn_mark *held,
                        firn_error *error) {
    char key[FIRN_KEY_SIZE];
    /* a job that meets its own grant was here before */
    firn__attempts sending = {.tries = FIRN__SENDINGS, .sent = search->grant != 0};
    int64_t first;
    snprintf(key, sizeof key, "%" PRIu64, node);
    firn_request request = {.ns = gen->ns,
                            .key = key,
                            .count = search->mark,
                            .grant = search->grant,
                            .note = gen->kept.note};
    firn__gen_begin(gen);
    int code = firn__claimable_reserve(gen, node, &request, &sending, &first, error);
    *held = sending.held;
    if (code == FIRN_OK && gen->fixed && gen->node_bits > 0 && held->grant != request.grant) {
        char text[128];
        firn__gen_notice(gen, "%s of %s issues back-dated IDs only from now on",
                         firn__gen_node_text(text, gen, node), gen->ns);
    }
    return code;
}

/* Is the fixed node without a mark in the store? */
static bool is_unused(firn_gen *gen) {
    firn_error unused;
    node_search search = {.gen = gen, .error = &unused};
    int code = firn_store_list(gen->store, gen->ns, see_node, &search, &unused);
    free(search.used);
    return code == FIRN_OK && search.count == 0;
}

/* Takes the highest node that was never used. */
static int take_node(firn_gen *gen, node_search *search, firn_error *error) {
    bool common = search->mark == gen->mark_end + 1;
    uint64_t node = gen->pinned | (~gen->pin_mask & firn__mask(gen->node_bits));
    if (search->count > 1) {
        qsort(search->used, search->count, sizeof *search->used, compare_down);
    }
    bool gone_back = false;
    for (int i = 0; i < NODE_TRIES; i++) {
        firn_mark held = {0, 0};
        if (!gen->fixed && !find_node(gen, search, &node)) {
            break;
        }
        int code = reserve_node(gen, search, node, &held, error);
        if (code == FIRN_OK || (code == FIRN_EBUSY && common && held.high == search->mark)) {
            search->node = node;
            return FIRN_OK;
        }
        if (code != FIRN_EBUSY) {
            return code;
        }
        gone_back = held.grant == 0 && (!gen->fixed || is_unused(gen));
        if (gen->fixed || !step_down(gen, &node)) {
            break;
        }
    }
    return refuse_node(gen, !common, gone_back, error);
}

int firn__history_node(firn_gen *gen, bool job, uint64_t grant, uint64_t *node, firn_error *error) {
    node_search search = {.gen = gen,
                          .mark = gen->mark_end + (job ? 2 : 1),
                          .grant = grant,
                          .again = !job || grant != 0,
                          .error = error};
    int code =
        gen->fixed ? FIRN_OK : firn_store_list(gen->store, gen->ns, see_node, &search, error);
    if (code == FIRN_OK && !search.found) {
        code = take_node(gen, &search, error);
    }
    free(search.used);
    if (code == FIRN_OK) {
        *node = search.node;
    }
    return code;
}

/* Finds the node that back-dated IDs of this generator come from, once. */
static int open_reserved(firn_gen *gen, firn_error *error) {
    bool job = gen->keys.history_ == FIRN__HISTORY_JOB;
    int code = firn__history_node(gen, job, 0, &gen->live->locked.history_node, error);
    return code == FIRN_OK
               ? firn__gen_base(gen, gen->live->locked.history_node, &gen->kept.history_base, error)
               : code;
}

/* Without a store, back-dated IDs have their own random identity, never the identity of live
 * IDs. */
static int open_random(firn_gen *gen, firn_error *error) {
    firn_fields live = gen->kept.fields;
    int code = firn__gen_identify(gen, error);
    if (code == FIRN_OK) {
        code = firn__gen_base(gen, 0, &gen->kept.history_base, error);
    }
    gen->kept.fields = live;
    if (code == FIRN_OK && gen->kind == FIRN__KIND_SLOTS && gen->random_bits == 0) {
        firn__gen_notice(gen, "back-dated IDs of a random node are unique within this run: give a "
                              "node to reserve one");
    }
    return code;
}

static int open_history(firn_gen *gen, firn_error *error) {
    firn_value drawn = {0, 0};
    int code = FIRN_OK;
    if (gen->live->locked.history_open) {
        return code;
    }
    firn__ticks_free(&gen->kept.history);
    code = firn__reserves(gen) ? open_reserved(gen, error) : open_random(gen, error);
    if (code == FIRN_OK && gen->kind == FIRN__KIND_COUNTED && gen->count_bits > 0 &&
        !firn__reserves(gen)) {
        code = firn__entropy_bits(gen->entropy, &drawn, gen->count_bits, error);
    }
    gen->kept.history_start = drawn.low;
    gen->live->locked.history_open = code == FIRN_OK;
    return code;
}

/* ---- full ticks ------------------------------------------------------------------------------ */

/* Shared history remembers which ticks are full, so that the hundredth call at one time asks the
 * store as often as the first. A full tick stays full. The word of a tick counts the full ticks
 * from it on; without memory nothing is remembered, and the store is asked. */
static void note_full(firn_gen *gen, uint64_t tick) {
    firn__ticks *ticks = &gen->kept.history;
    firn_error unused;
    if (ticks->used + ticks->run_used >= FULL_MOST) {
        firn__ticks_free(ticks);
    }
    if (firn__ticks_full(ticks) && firn__ticks_make_room(ticks, 0, &unused) != FIRN_OK) {
        return;
    }
    uint64_t *pair = firn__ticks_pair(ticks, tick);
    firn__ticks_keep(ticks, pair, tick);
    pair[1] = pair[1] == 0 ? 1 : pair[1];
}

/* The first tick from `tick` on that is not known to be full. */
static uint64_t skip_full(firn_gen *gen, uint64_t tick) {
    firn__ticks *ticks = &gen->kept.history;
    uint64_t found = tick;
    if (ticks->run == NULL || ticks->pairs == NULL) {
        return tick;
    }
    for (const uint64_t *pair; (pair = firn__ticks_pair(ticks, found))[0] != 0;) {
        found += pair[1];
    }
    if (found > tick) {
        firn__ticks_pair(ticks, tick)[1] = found - tick;
    }
    return found;
}

/* ---- slots of a tick ------------------------------------------------------------------------- */

/* Up to `most` slots of a tick on the common node, shared with every other process that
 * back-dates. */
static int take_shared(firn_gen *gen, uint64_t tick, uint64_t capacity, uint64_t most,
                       uint64_t *first, uint64_t *got, firn_error *error) {
    char ns[FIRN_NS_SIZE], key[FIRN_KEY_SIZE];
    uint64_t count = most < capacity ? most : capacity;
    snprintf(ns, sizeof ns, "%.*s ticks", FIRN__NS_MOST,
             gen->ns); /* apart: claims list the nodes */
    snprintf(key, sizeof key, "%" PRIu64 "@%" PRIu64, gen->live->locked.history_node, tick);
    *got = 0;
    for (int i = 0; i < NODE_TRIES && count > 0; i++) {
        firn__attempts sending = {.tries = FIRN__SENDINGS};
        int64_t start;
        firn_request request = {.ns = ns,
                                .layout = gen->layout,
                                .key = key,
                                .count = (int64_t)count,
                                .latest = (int64_t)(capacity - count),
                                .note = gen->kept.note};
        firn__gen_begin(gen);
        int code = firn__gen_reserve(gen, &request, &sending, &start, error);
        if (code == FIRN_OK) {
            *first = (uint64_t)start;
            *got = count;
            if (*first + count == capacity) {
                note_full(gen, tick);
            }
            return code;
        }
        if (code == FIRN_EBUSY && sending.held.high == FIRN_SLOT_MAX) {
            if (error != NULL) {
                error->code = FIRN_ETAKEN; /* somebody else has the node, as the text says */
            }
            return FIRN_ETAKEN;
        }
        if (code != FIRN_EBUSY) {
            return code;
        }
        uint64_t left =
            (uint64_t)sending.held.high < capacity ? capacity - (uint64_t)sending.held.high : 0;
        if (left == 0) {
            note_full(gen, tick);
        }
        count =
            left < count ? left : count - 1; /* what is left; less again if somebody was faster */
    }
    return FIRN_OK;
}

static uint64_t capacity_of(const firn_gen *gen) {
    if (gen->kind == FIRN__KIND_RANDOM || gen->scheme.monotonic) {
        return UINT64_C(1) << 62; /* random bits keep them apart */
    }
    return firn__mask(gen->count_bits) + 1;
}

uint64_t firn__history_counter(const firn_gen *gen, uint64_t tick, uint64_t start, uint64_t i) {
    if (gen->scheme.hash != FIRN_HASH_NONE) {
        firn_time time;
        firn_scheme_time(&gen->scheme, tick, &time);
        start = firn_locality_start(&time);
    }
    return (start + (i + 1) * gen->scheme.counter_step) & firn__mask(gen->count_bits);
}

/* The i-th ID of a tick. */
static int pack_at(const firn_gen *gen, uint64_t tick, uint64_t i, firn_id *id, firn_error *error) {
    firn__draw draw = {tick, i, {0, 0}};
    int code = FIRN_OK;
    if (gen->scheme.counter_step > 0) {
        draw.count = firn__history_counter(gen, tick, gen->kept.history_start, i);
    }
    if (gen->random_bits > 0) {
        code = firn__gen_random(gen, &draw.random, error);
    }
    firn__gen_pack(gen, &draw, &gen->kept.history_base, id);
    return code;
}

static int issue_at(firn_gen *gen, uint64_t tick, firn_id *ids, size_t n, firn_error *error) {
    uint64_t capacity = capacity_of(gen), last = tick + gen->lead_ticks;
    bool counted = !firn__reserves(gen) || gen->keys.history_ == FIRN__HISTORY_JOB;
    size_t done = 0;
    if (n / capacity > gen->lead_ticks) { /* refused before any slot is taken */
        return firn_error_set(
            error, FIRN_ERANGE, FIRN_CURE_FEWER_IDS,
            FIRN__VALUE("%zu") " back-dated IDs are more than max_lead=" FIRN__LIMIT(
                "%s") " holds: ask for fewer at once",
            n, FIRN__MS(gen->keys.max_lead_ms));
    }
    for (; done < n; tick++) {
        uint64_t first = 0, got = 0;
        tick = counted ? tick : skip_full(gen, tick);
        if (tick > last || tick >= gen->tick_end) {
            break;
        }
        int code = counted ? take_counted(gen, tick, capacity, n - done, &first, &got, error)
                           : take_shared(gen, tick, capacity, n - done, &first, &got, error);
        for (uint64_t i = 0; code == FIRN_OK && i < got; i++) {
            code = pack_at(gen, tick, first + i, &ids[done++], error);
        }
        if (code != FIRN_OK) {
            return code;
        }
    }
    if (done < n && tick >= gen->tick_end) {
        return firn_error_set(
            error, FIRN_EFULL, FIRN_CURE_FEWER_IDS,
            "%zu of " FIRN__VALUE("%zu") " back-dated IDs fit between that time and the end of the "
                                         "layout of %s: request fewer, or use an earlier time",
            done, n, gen->scheme.name);
    }
    return done == n ? FIRN_OK
                     : firn_error_set(
                           error, FIRN_EFULL, FIRN_CURE_RAISE_LEAD,
                           "%zu of " FIRN__VALUE("%zu") " back-dated IDs fit between that time and "
                                                        "max_lead=" FIRN__LIMIT("%s") " after it",
                           done, n, FIRN__MS(gen->keys.max_lead_ms));
}

int firn__history_tick(const firn_gen *gen, const firn_time *time, uint64_t *tick,
                       firn_error *error) {
    uint64_t found;
    const int64_t far = INT64_C(1) << 60; /* s: no difference of two times overflows */
    if (gen->ticks_per_s > 0 && time->ns >= 0 && time->ns < 1000000000 && time->sec > -far &&
        time->sec < far && firn__tick_of(gen, time, tick)) {
        return FIRN_OK;
    }
    int code = firn_scheme_tick(&gen->scheme, time, &found, error);
    if (code == FIRN_OK && found >= gen->tick_end) {
        char when[FIRN_TIME_SIZE];
        return firn_error_set(
            error, FIRN_ELAYOUT, FIRN_CURE_SET_UNSIGNED,
            "IDs of %s at " FIRN__VALUE("%s") " are negative as signed numbers: add unsigned=1",
            gen->scheme.name, firn_time_format(when, time, firn_scheme_digits(&gen->scheme)));
    }
    if (code == FIRN_OK) {
        *tick = found;
    }
    return code;
}

int firn_at(firn_gen *gen, const firn_time *time, firn_id *ids, size_t n, firn_error *error) {
    uint64_t tick;
    firn_id id, *made = &id;
    const int64_t process = n > 1 ? firn__process() : 0; /* as in firn__fill */
    firn__wiped_look();
    int code = firn__gen_adopt(gen, true, error);
    if (code == FIRN_OK) {
        code = firn__history_tick(gen, time, &tick, error);
    }
    if (code == FIRN_OK && n > FIRN__AT_ONCE) {
        code =
            firn__fail(error, FIRN_ERANGE, "%zu IDs at once: ask for at most %d", n, FIRN__AT_ONCE);
    }
    if (code == FIRN_OK && n > 1 && (made = malloc(n * sizeof *made)) == NULL) {
        code = firn_error_set(error, FIRN_EMEMORY, FIRN_CURE_FEWER_IDS,
                              "out of memory for %zu IDs: ask for fewer at once", n);
    }
    if (code == FIRN_OK && n > 0) {
        pthread_mutex_lock(&gen->live->locked.lock);
        code = open_history(gen, error);
        if (code == FIRN_OK) {
            code = issue_at(gen, tick, made, n, error);
        }
        pthread_mutex_unlock(&gen->live->locked.lock);
    }
    if (code == FIRN_OK && firn__forked_since(process)) {
        code = firn__forked_inside(error);
    }
    if (code == FIRN_OK && n > 0) {
        memcpy(ids, made, n * sizeof *ids);
    }
    if (made != &id) {
        free(made);
    }
    return code;
}
