/* SPDX-License-Identifier: MIT */
/* Claims: a free node is found and its first window reserved. Called with the renewal lock held. */
#include "duration.h"
#include "entropy.h"
#include "error.h"
#include "gen.h"
#include "machine.h"
#include "store.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLAIMS     24    /* nodes tried in one claim */
#define LISTED_MAX 65536 /* nodes looked at in one listing */

/* How long the present call of this thread may use the store. */
static FIRN_TLS firn__patience patience;

int64_t firn__gen_begin(const firn_gen *gen) {
    patience = firn__patience_begin(gen->clock, gen->keys.max_wait_ms);
    return patience.began_ns;
}

int64_t firn__gen_spent_ms(void) {
    return firn__patience_spent_ms(&patience);
}

int firn__gen_reserve(firn_gen *gen, firn_request *request, firn__attempts *sending, int64_t *first,
                      firn_error *error) {
    int code =
        request->grant == 0 ? firn__reserve_grant(gen->entropy, &request->grant, error) : FIRN_OK;
    if (code != FIRN_OK) {
        return code;
    }
    code = firn__reserve(gen->store, request, &patience, sending, first, error);
    if (code == FIRN_OK && request->guard_tick_ns > 0) {
        atomic_store_explicit(&gen->live->any.known_ns, gen->live->locked.store_clock.read_ns,
                              memory_order_relaxed);
    }
    if (code != FIRN_OK && code != FIRN_EBUSY && code != FIRN_ECLONED) {
        firn__count(&gen->live->any.store_errors);
    }
    return code;
}

static int too_slow(const firn_gen *gen, firn_error *error) {
    return firn_error_set(error, FIRN_ESTORE, FIRN_CURE_RAISE_WAIT,
                          "the store of %s answers too slowly for max_wait=" FIRN__LIMIT("%s"),
                          gen->ns, FIRN__MS(gen->keys.max_wait_ms));
}

/* The first tick in which another node than the own may begin: later than any that was issued
 * in. */
static uint64_t later_tick(const firn_gen *gen, uint64_t tick) {
    return gen->past->has_last && gen->past->last_tick >= tick ? gen->past->last_tick + 1 : tick;
}

/* Without a store: a window for all slots from now on, to the end of the scheme or of the
 * cursor. */
int firn__claim_local(firn_gen *gen, uint32_t k, uint64_t tick, firn_error *error) {
    firn__process_state *live = gen->live;
    uint64_t from = later_tick(gen, tick), most = (uint64_t)FIRN__NO_SLOT >> gen->s;
    if (gen->tick_end <= from) {
        return firn__gen_ended(gen, error);
    }
    if (from > tick + gen->lead_ticks) {
        return firn__gen_exhausted(gen, error);
    }
    int code = live->locked.unidentified ? firn__gen_identify(gen, error) : FIRN_OK;
    if (code != FIRN_OK) {
        return code;
    }
    live->locked.unidentified = false;
    firn__window *window = firn__window_new(gen, &code, error);
    if (window == NULL) {
        return code;
    }
    window->base_tick = from;
    window->first = 0;
    atomic_store_explicit(
        &window->end,
        firn__slots_of(gen, gen->tick_end - from < most ? gen->tick_end - from : most),
        memory_order_release);
    code = firn__gen_base(gen, 0, &window->base, error);
    if (code == FIRN_OK) {
        code = firn__window_publish(gen, k, window, error);
    }
    if (code != FIRN_OK) {
        firn__window_drop(gen, window);
    }
    return code;
}

/* ---- which node ------------------------------------------------------------------------------ */

struct used {
    uint64_t node;
    int64_t high;
};

/* Nodes of reserves, of the reserve of this machine, which has them already, or those that no reserve
 * may claim. Without reserve_claim= the first and the last are the same nodes. */
enum whose { OF_RESERVES, OF_THIS_RESERVE, OF_OTHERS };

/* The nodes of the namespace that have been used, as far as they match the pinned fields and may be
 * claimed. */
typedef struct listing {
    firn_gen *gen;
    struct used *used;
    size_t count, size;
    bool history; /* the common history node is among them */
    bool read;
    enum whose whose;
    firn_error *error;
} listing;

static int see_holding(void *context, const firn_holding *holding) {
    listing *list = context;
    firn_gen *gen = list->gen;
    firn_value node;
    firn__claimable_read(gen, holding->layout);
    if (list->count % 256 == 255 && firn__patience_over(&patience)) {
        return too_slow(gen, list->error);
    }
    if (!firn__value_parse(&node, holding->key) || list->count == LISTED_MAX) {
        return FIRN_OK; /* no node, or too many to check */
    }
    if (!firn__claimable_by(gen, node.low, list->whose != OF_OTHERS)) {
        return FIRN_OK;
    }
    list->history = list->history || holding->mark.high == gen->mark_end + 1;
    if ((node.low & gen->pin_mask) != gen->pinned) {
        return FIRN_OK;
    }
    if (list->count == list->size) {
        size_t size = list->size == 0 ? 64 : list->size * 2;
        struct used *used = realloc(list->used, size * sizeof *used);
        if (used == NULL) {
            return firn__fail(list->error, FIRN_EMEMORY, "out of memory for a list of nodes");
        }
        list->used = used;
        list->size = size;
    }
    list->used[list->count++] = (struct used){node.low, holding->mark.high};
    return FIRN_OK;
}

static int by_node(const void *a, const void *b) {
    uint64_t x = ((const struct used *)a)->node, y = ((const struct used *)b)->node;
    return x < y ? -1 : x > y;
}

/* A random node that was used before and is free by `latest`; false: no node. */
static bool pick_used(const firn_gen *gen, listing *list, int64_t latest, uint64_t *node,
                      int *failed, firn_error *error) {
    size_t fit = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (list->used[i].high <= latest && !firn__shared_refuses(gen, list->used[i].node)) {
            struct used swap = list->used[fit];
            list->used[fit++] = list->used[i];
            list->used[i] = swap;
        }
    }
    uint64_t chosen;
    if (fit == 0 || (*failed = firn__entropy_below(gen->entropy, &chosen, fit, error)) != FIRN_OK) {
        return false;
    }
    *node = list->used[chosen].node;
    list->used[chosen].high = FIRN_SLOT_MAX; /* not again in this claim */
    return true;
}

/* A random node that was never used. The last such one is left to history, which has no other
 * way to a node. */
static bool pick_new(const firn_gen *gen, listing *list, uint64_t *node, int *failed,
                     firn_error *error) {
    uint64_t first, last, number;
    const bool reserve = list->whose != OF_OTHERS;
    uint64_t keep = list->history || (gen->splits && reserve) ? 0 : 1;
    if (!firn__claimable_numbers(gen, reserve, &first, &last) ||
        firn__shared_refuses(gen, UINT64_MAX)) {
        return false;
    }
    const uint64_t all = last - first == UINT64_MAX ? UINT64_MAX : last - first + 1;
    if (all <= list->count + keep) {
        return false;
    }
    *failed = firn__entropy_below(gen->entropy, &number, all, error);
    if (*failed != FIRN_OK) {
        return false;
    }
    if (list->count > 1) {
        qsort(list->used, list->count, sizeof *list->used, by_node);
    }
    for (size_t i = 0; i <= list->count; i++) { /* one of these numbers is not in the list */
        struct used wanted = {firn__claimable_node(gen, first + (number + i) % all), 0};
        *node = wanted.node;
        if (list->count == 0 ||
            bsearch(&wanted, list->used, list->count, sizeof wanted, by_node) == NULL) {
            break;
        }
    }
    return true;
}

/* Of a reserve its free nodes, if it has any. */
static int list_nodes(firn_gen *gen, listing *list, int64_t latest, firn_error *error) {
    int64_t soonest = INT64_MAX;
    int code = FIRN_OK;
    if (list->whose == OF_RESERVES) {
        code = firn_store_list(gen->store, gen->machine->ns, see_holding, list, error);
        for (size_t i = 0; code == FIRN_OK && i < list->count; i++) {
            soonest = list->used[i].high < soonest ? list->used[i].high : soonest;
        }
        if (code != FIRN_OK || soonest <= latest) {
            list->whose = OF_THIS_RESERVE;
            return code;
        }
        list->count = 0;
        list->whose =
            gen->splits && !firn__machine_has_room(gen->machine) ? OF_OTHERS : OF_RESERVES;
    }
    code = firn_store_list(gen->store, gen->ns, see_holding, list, error);
    if (code != FIRN_OK && soonest < INT64_MAX) { /* the store is away */
        const firn_error why = error != NULL ? *error : (firn_error){0};
        return firn__machine_wait(gen, soonest, latest, &why, error);
    }
    return code;
}

/* Which node comes next in this claim: the own one, then one that was used before, then a new
 * one. Used ones first, so that never-used ones are left for history. */
static bool pick_node(firn_gen *gen, uint32_t k, listing *list, int tried, int64_t latest,
                      uint64_t *node, int *failed, firn_error *error) {
    if (gen->fixed) {
        *node = gen->pinned;
        return tried == 0;
    }
    /* A process with a reserve leaves another node for the reserve. */
    if (tried == 0 && gen->past->has_node[k] &&
        firn__claimable_by(gen, gen->past->last_node[k], gen->machine != NULL)) {
        *node = gen->past->last_node[k];
        return true;
    }
    if (!list->read) {
        list->read = true;
        *failed = list_nodes(gen, list, latest, error);
    }
    if (*failed != FIRN_OK) {
        return false;
    }
    return pick_used(gen, list, latest, node, failed, error) ||
           (*failed == FIRN_OK && !(gen->splits && list->whose == OF_THIS_RESERVE) &&
            pick_new(gen, list, node, failed, error));
}

/* No node of reserves is free, or none before a long guard: lists the other nodes instead. */
static bool goes_on(listing *list, firn_mark *held) {
    if (!list->gen->splits || list->whose == OF_OTHERS) {
        return false;
    }
    *held = (firn_mark){0, 0}; /* the long guard is not theirs */
    list->count = 0;
    list->read = false;
    list->whose = OF_OTHERS;
    return true;
}

int firn__claim_spare(firn_gen *gen, firn_store *store, int64_t latest, uint64_t *node,
                      firn_error *error) {
    listing list = {.gen = gen, .error = error, .whose = OF_RESERVES};
    int failed = firn_store_list(store, gen->ns, see_holding, &list, error);
    const bool found =
        failed == FIRN_OK && (pick_used(gen, &list, latest, node, &failed, error) ||
                              (failed == FIRN_OK && pick_new(gen, &list, node, &failed, error)));
    free(list.used);
    return found || failed != FIRN_OK
               ? failed
               : firn__fail(error, FIRN_EBUSY,
                            "no node of %.60s is free for the reserve of this machine: %s", gen->ns,
                            gen->splits ? "give the reserve of another machine back, or use a new "
                                          "namespace with a wider reserve_claim"
                                        : "use a layout with more node bits");
}

/* ---- one claim ------------------------------------------------------------------------------- */

/* The slots that a claim requests. */
typedef struct claim_bounds {
    uint64_t tick;  /* the present */
    int64_t offset; /* where in a new tick the sequence begins */
    int64_t count;  /* slots */
    bool online;    /* exactly these: the own mark may then be ahead of the clock */
} claim_bounds;

/* Sends a claim and writes its result to `out`. `again`: it was sent before. */
static int send_claim(firn_gen *gen, firn__claim *claim, bool again, firn__window *out,
                      firn_mark *held, firn_error *error) {
    char key[FIRN_KEY_SIZE];
    int64_t first;
    uint64_t grant = atomic_load_explicit(&claim->grant, memory_order_relaxed);
    firn__attempts sending = {.tries = FIRN__SENDINGS, .sent = again, .held = *held};
    firn_request request = {.ns = gen->ns,
                            .key = key,
                            .count = claim->count,
                            .earliest = claim->earliest,
                            .latest = claim->latest,
                            .grant = grant,
                            .note = gen->kept.note};
    snprintf(key, sizeof key, "%" PRIu64, claim->node);
    int code = firn__reach_guard(gen, &request, error);
    if (code == FIRN_OK) {
        code = firn__claimable_reserve(gen, claim->node, &request, &sending, &first, error);
        *held = sending.held;
    }
    if (code != FIRN_EUNKNOWN) {
        atomic_store_explicit(&claim->grant, 0, memory_order_release);
    }
    if (code == FIRN_OK) {
        assert(first >= claim->earliest);
        out->base_tick = claim->base_tick;
        out->node = claim->node;
        out->first = first - firn__slots_of(gen, claim->base_tick);
        out->grant = grant;
        out->twice = sending.twice;
        out->reserved = true;
        atomic_store_explicit(&out->end, out->first + claim->count, memory_order_release);
    }
    return code;
}

/* Repeats a claim of unknown outcome that a process sharing the generator sent. FIRN_EBUSY: there
 * is no such claim, or its slots are before the clock or too far ahead of it. */
static int resume(firn_gen *gen, const claim_bounds *bounds, firn__window *out, firn_mark *held,
                  firn_error *error) {
    firn__claim *sent = firn__shared_claim(gen);
    if (sent == NULL || atomic_load_explicit(&sent->grant, memory_order_acquire) == 0) {
        return FIRN_EBUSY;
    }
    if (sent->earliest + sent->count <= firn__slots_of(gen, bounds->tick) ||
        sent->earliest > firn__slots_of(gen, bounds->tick + gen->lead_ticks)) {
        atomic_store_explicit(&sent->grant, 0, memory_order_release);
        return FIRN_EBUSY;
    }
    int code = firn__gen_base(gen, sent->node, &out->base, error);
    return code == FIRN_OK ? send_claim(gen, sent, true, out, held, error) : code;
}

/* Requests one node. Its first slot is in the present tick, or within the lead if the caller set
 * the node. The own node continues at its mark; another one begins in a later tick than the last
 * ID. */
static int ask(firn_gen *gen, uint64_t node, bool own, const claim_bounds *bounds,
               firn__window *out, firn_mark *held, firn_error *error) {
    uint64_t from = own ? bounds->tick : later_tick(gen, bounds->tick), last = from, grant;
    firn__claim mine, *claim = firn__shared_claim(gen);
    claim = claim != NULL ? claim : &mine;
    if ((gen->fixed || (own && bounds->online)) && bounds->tick + gen->lead_ticks > from) {
        last = bounds->tick + gen->lead_ticks;
    }
    claim->node = node;
    claim->base_tick = from;
    claim->count = bounds->count;
    claim->earliest = firn__slots_of(gen, from) + bounds->offset;
    claim->latest = firn__slots_of(gen, last + 1) - 1;
    if (bounds->online) { /* all of it within the lead, not only its first */
        int64_t latest = firn__slots_of(gen, bounds->tick + gen->lead_ticks + 1) - bounds->count;
        claim->latest = latest < claim->latest ? latest : claim->latest;
    }
    if (claim->latest > gen->slot_end - bounds->count) {
        claim->latest = gen->slot_end - bounds->count;
    }
    if (claim->latest < claim->earliest) {
        return gen->slot_end - bounds->count < claim->earliest ? firn__gen_ended(gen, error)
                                                               : firn__gen_exhausted(gen, error);
    }
    int code = firn__reach_limit(gen, claim->earliest, claim->count, &claim->latest, error);
    if (code == FIRN_OK) {
        code = firn__gen_base(gen, node, &out->base, error);
    }
    if (code == FIRN_OK) {
        code = firn__reserve_grant(gen->entropy, &grant, error);
    }
    if (code == FIRN_OK) {
        atomic_store_explicit(&claim->grant, grant, memory_order_release);
        code = send_claim(gen, claim, false, out, held, error);
    }
    return code;
}

int firn__claim_busy(firn_gen *gen, const firn_mark *held, bool floor, uint64_t tick,
                     firn_error *error) {
    char node[128], when[FIRN_TIME_SIZE];
    firn_time time;
    uint64_t free_tick = (uint64_t)held->high >> gen->s;
    uint64_t wait = free_tick > tick + gen->lead_ticks ? free_tick - tick - gen->lead_ticks : 0;
    bool endless = wait > (uint64_t)INT64_MAX / gen->scheme.tick_ns;
    int64_t busy_ms = endless ? INT64_MAX : (int64_t)(wait * gen->scheme.tick_ns / 1000000);
    atomic_store_explicit(&gen->live->any.busy_ms, busy_ms, memory_order_relaxed);
    if (floor ||
        (held->grant == 0 && held->high > firn__slots_of(gen, tick + gen->lead_ticks + 1))) {
        char until[FIRN_TIME_SIZE];
        firn_scheme_time(&gen->scheme, free_tick, &time);
        return firn_error_set(error, FIRN_EBUSY, FIRN_CURE_WAIT,
                              "no ID of %s is issued before " FIRN__LIMIT(
                                  "%s") ", because the store has changed or lost "
                                        "reservations, or a clock was ahead",
                              gen->ns,
                              firn_time_format(until, &time, firn_scheme_digits(&gen->scheme)));
    }
    if (!gen->fixed) {
        /* any node may become free at any moment */
        atomic_store_explicit(&gen->live->any.busy_ms, 0, memory_order_relaxed);
        if (firn__claimable_text(node, gen)[0] != '\0') {
            return firn_error_set(
                error, FIRN_EBUSY, FIRN_CURE_MORE_NODES,
                "no node of %.120s from " FIRN__LIMIT(
                    "%s") " is free (the last never-used one is kept for "
                          "back-dated IDs), and no other is claimed: wait, or let "
                          "more nodes be claimed",
                gen->ns, node);
        }
        return firn_error_set(error, FIRN_EBUSY, FIRN_CURE_MORE_NODES,
                              "every node of %s is in use (the last never-used one is kept for "
                              "back-dated IDs): wait, or "
                              "use a layout with more node bits",
                              gen->ns);
    }
    if (held->high == FIRN_SLOT_MAX) {
        if (error != NULL) {
            error->code = FIRN_ETAKEN; /* the text says why */
        }
        return FIRN_ETAKEN;
    }
    firn__gen_node_text(node, gen, gen->pinned);
    if (held->high > gen->mark_end) {
        return firn_error_set(
            error, FIRN_ETAKEN, FIRN_CURE_OTHER_NODE,
            FIRN__VALUE("%s") " of %.120s issues back-dated IDs only: use another node", node,
            gen->ns);
    }
    firn_scheme_time(&gen->scheme, free_tick, &time);
    return firn_error_set(error, FIRN_EBUSY, FIRN_CURE_OTHER_NODE,
                          FIRN__VALUE("%s") " of %.120s is in use until " FIRN__LIMIT(
                              "%s") ": end the process that holds it, wait, or use another node",
                          node, gen->ns,
                          firn_time_format(when, &time, firn_scheme_digits(&gen->scheme)));
}

/* Claims a node into `out`. FIRN_EBUSY: none is free. */
static int claim(firn_gen *gen, uint32_t k, const claim_bounds *bounds, firn__window *out,
                 firn_error *error) {
    listing list = {.gen = gen,
                    .error = error,
                    .whose = gen->machine != NULL && !gen->fixed ? OF_RESERVES : OF_OTHERS};
    firn_mark held = {0, 0};
    uint64_t node;
    int64_t latest = firn__slots_of(gen, later_tick(gen, bounds->tick) + 1) - 1;
    int64_t before_ms = firn__gen_spent_ms();
    bool floor = false;
    int failed = FIRN_OK, code = firn__reach_look(gen, error);
    code = code == FIRN_OK ? firn__reach_skew(gen, error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    if (later_tick(gen, bounds->tick) >= (uint64_t)gen->slot_end >> gen->s) {
        return firn__gen_ended(gen, error); /* also where slots would pass 2^62 */
    }
    code = resume(gen, bounds, out, &held, error);
    for (int tried = 0; tried < CLAIMS && code == FIRN_EBUSY; tried++) {
        firn_mark before = held;
        /* A call that waited for a node tries once more; a call whose time went to the store does
         * not. */
        int64_t spent_ms = firn__gen_spent_ms() - before_ms;
        if (spent_ms >= patience.max_ms || (tried > 0 && firn__patience_over(&patience))) {
            failed = 2 * spent_ms >= patience.max_ms ? too_slow(gen, error) : FIRN_OK;
            break;
        }
        if (!pick_node(gen, k, &list, tried, latest, &node, &failed, error)) {
            if (failed == FIRN_OK && goes_on(&list, &held)) {
                continue;
            }
            break;
        }
        const bool own =
            gen->fixed || (tried == 0 && gen->past->has_node[k] && node == gen->past->last_node[k]);
        code = ask(gen, node, own, bounds, out, &held, error);
        floor = code == FIRN_EBUSY && tried > 0 && held.grant == 0 && held.high == before.high &&
                !goes_on(&list, &held);
        if (floor) {
            break; /* two nodes have the same mark without a grant: it is the floor of all */
        }
    }
    free(list.used);
    if (code == FIRN_OK) {
        gen->past->last_node[k] = out->node;
        gen->past->has_node[k] = true;
    } else if (code == FIRN_EBUSY) {
        code =
            failed != FIRN_OK ? failed : firn__claim_busy(gen, &held, floor, bounds->tick, error);
    }
    return code;
}

int firn__claim_window(firn_gen *gen, uint32_t k, uint64_t tick, int64_t n, firn_error *error) {
    claim_bounds bounds = {tick, 0, firn__slots_of(gen, gen->window_ticks), false};
    uint64_t from = later_tick(gen, tick);
    if (from >= (uint64_t)gen->slot_end >> gen->s) {
        return firn__gen_ended(gen, error);
    }
    int64_t needed = n + firn__slots_of(gen, 2), room = gen->slot_end - firn__slots_of(gen, from);
    if (from > tick + gen->lead_ticks) {
        return firn__gen_exhausted(gen, error);
    }
    /* n IDs must fit after any start of the sequence, in a window that may start late in its
     * tick */
    bounds.count = bounds.count < needed ? needed : bounds.count;
    bounds.count = bounds.count < room ? bounds.count : room;
    int code;
    firn__window *window = firn__window_new(gen, &code, error);
    if (window == NULL) {
        return code;
    }
    code = claim(gen, k, &bounds, window, error);
    /* Retires another window of this generator that has the same node: its slots are before the new
     * ones, and it must not issue them after these. */
    for (uint32_t j = 0; code == FIRN_OK && j < (uint32_t)gen->keys.nodes; j++) {
        const firn__window *other = firn__window_of(gen, j);
        if (j != k && other != NULL && other->node == window->node) {
            gen->past->has_node[j] = false;
            firn__window_retire(gen, j, false, NULL);
        }
    }
    if (code == FIRN_OK) {
        code = firn__window_publish(gen, k, window, error);
    }
    if (code != FIRN_OK) {
        firn__window_drop(gen, window);
    }
    return code;
}

int firn__claim_online(firn_gen *gen, uint64_t tick, int64_t n, firn__window *out,
                       firn_error *error) {
    firn__process_state *live = gen->live;
    claim_bounds bounds = {tick, 0, n, true};
    int code = firn__gen_start(gen, &bounds.offset, error);
    if (code == FIRN_OK) {
        code = claim(gen, 0, &bounds, out, error);
    }
    if (code == FIRN_OK) {
        gen->past->last_tick = out->base_tick + ((uint64_t)(out->first + n - 1) >> gen->s);
        gen->past->has_last = true;
        firn__count(&live->any.claims);
    }
    return code;
}
