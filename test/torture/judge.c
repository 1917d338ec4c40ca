/* SPDX-License-Identifier: MIT */
/* The ledger of grants and IDs, and the judge over it: no ID twice, none outside its own grant
 * life, no two grants that overlap. Asks the library nothing about itself. */
#include "torture.h"

#include "../issued.h"

#include <stdlib.h>
#include <string.h>

#define GRANTS_MOST 2000000

/* ---- ledger --------------------------------------------------------------------------------- */

void *shared(size_t size) {
    return shared_memory(size);
}

ledger *ledger_new(size_t ids) {
    ledger *it = shared(sizeof *it);
    it->max_lots = ids / LOT + 1;
    it->max_grants = GRANTS_MOST;
    it->lot = shared(it->max_lots * sizeof *it->lot);
    it->grant = shared(it->max_grants * sizeof *it->grant);
    return it;
}

lot *ledger_lot(ledger *it, uint32_t life, uint32_t node_bits) {
    size_t at = atomic_load(&it->lots) < it->max_lots ? atomic_fetch_add(&it->lots, 1) : SIZE_MAX;
    if (at >= it->max_lots) {
        return NULL;
    }
    it->lot[at].life = life;
    it->lot[at].node_bits = node_bits;
    return &it->lot[at];
}

static void add(ledger *it, uint32_t life, const char *ns, const char *key, int64_t first,
                int64_t end, bool lowered) {
    char *rest;
    size_t at = atomic_fetch_add(&it->grants, 1);
    if (at >= it->max_grants) {
        abort();
    }
    grant *line = &it->grant[at];
    uint64_t node = strtoull(key, &rest, 10);
    /* Slots of a tick on the node of back-dated IDs are under node@tick. */
    int64_t base = *rest == '@' ? strtoll(rest + 1, NULL, 10) << SEQUENCE : 0;
    line->life = life;
    line->index = (uint32_t)at;
    line->node = node;
    line->first = base + first;
    line->end = base + end;
    line->lowered = lowered;
    line->integers = strncmp(ns, "integer ", 8) == 0;
    atomic_store(&line->whole, true);
}

void ledger_grant(ledger *it, uint32_t life, const firn_request *request, int64_t first,
                  int64_t end) {
    /* A node taken for good for history is all of a node, shared by those who reserve its ticks. */
    if (request->latest > 0 || request->count <= INT64_C(1) << SEQUENCE) {
        add(it, life, request->ns, request->key, first, end, false);
    }
}

void ledger_lower(ledger *it, uint32_t life, const char *ns, const char *key, int64_t first,
                  int64_t end) {
    add(it, life, ns, key, first, end, true);
}

/* ---- grants --------------------------------------------------------------------------------- */

static int by_life(const void *a, const void *b) {
    const grant *x = a, *y = b;
    return x->life != y->life    ? (x->life < y->life ? -1 : 1)
           : x->index < y->index ? -1
                                 : x->index > y->index;
}

static int by_place(const grant *x, const grant *y) {
    return x->integers != y->integers ? (x->integers ? 1 : -1)
           : x->node != y->node       ? (x->node < y->node ? -1 : 1)
           : x->first != y->first     ? (x->first < y->first ? -1 : 1)
                                      : 0;
}

static int by_node(const void *a, const void *b) {
    return by_place(a, b);
}

static int by_life_and_node(const void *a, const void *b) {
    const grant *x = a, *y = b;
    return x->life != y->life ? (x->life < y->life ? -1 : 1) : by_place(x, y);
}

/* What a life gave up is taken off its grants before that: the last ones, back to where issuing
 * stopped. */
static void take_off(grant *kept, size_t n, const grant *given) {
    for (size_t j = n; j-- > 0 && kept[j].life == given->life;) {
        if (kept[j].node != given->node || kept[j].integers != given->integers ||
            kept[j].end <= given->first || kept[j].first >= given->end) {
            continue;
        }
        kept[j].end = kept[j].first > given->first ? kept[j].first : given->first;
    }
}

static grant *settled(const ledger *it, size_t *count) {
    size_t n = atomic_load(&it->grants), all = 0, kept = 0, left = 0;
    grant *list = malloc((n + 1) * sizeof *list);
    for (size_t i = 0; i < n; i++) {
        if (atomic_load(&it->grant[i].whole)) { /* else its life was killed before it knew */
            list[all++] = it->grant[i];
        }
    }
    qsort(list, all, sizeof *list, by_life);
    for (size_t i = 0; i < all; i++) {
        if (list[i].lowered) {
            take_off(list, kept, &list[i]);
        } else {
            list[kept++] = list[i];
        }
    }
    for (size_t i = 0; i < kept; i++) {
        if (list[i].first < list[i].end) {
            list[left++] = list[i];
        }
    }
    *count = left;
    return list;
}

/* ---- IDs ------------------------------------------------------------------------------------ */

static grant place_of(const lot *it, uint64_t id) {
    grant place = {.life = it->life, .integers = it->node_bits == 0, .node = 1};
    place.first = (int64_t)id;
    if (it->node_bits > 0) {
        place.node = id >> SEQUENCE & ((UINT64_C(1) << it->node_bits) - 1);
        place.first = (int64_t)(id >> (SEQUENCE + it->node_bits) << SEQUENCE |
                                (id & ((UINT64_C(1) << SEQUENCE) - 1)));
    }
    return place;
}

static bool holds(const grant *it, const grant *place) {
    return it->life == place->life && it->integers == place->integers && it->node == place->node &&
           it->first <= place->first && place->first < it->end;
}

static size_t outside_grants(const ledger *it, const grant *list, size_t n) {
    size_t lots = atomic_load(&it->lots), found = 0;
    const grant *at = list;
    for (size_t i = 0; i < lots * LOT; i++) {
        const lot *from = &it->lot[i / LOT];
        if (from->ids[i % LOT] == 0) {
            continue;
        }
        grant place = place_of(from, from->ids[i % LOT]);
        size_t low = 0, high = n;
        while (low < high && !holds(at, &place)) { /* mostly it is the one before's */
            at = &list[low + (high - low) / 2];
            bool before = by_life_and_node(at, &place) <= 0;
            low = before ? (size_t)(at - list) + 1 : low;
            high = before ? high : (size_t)(at - list);
        }
        found += n == 0 || !holds(at, &place);
    }
    return found;
}

/* Numbers of two kinds cannot duplicate each other. */
static size_t gather(const ledger *it, bool integers, uint64_t *out) {
    size_t lots = atomic_load(&it->lots), n = 0;
    for (size_t i = 0; i < lots * LOT; i++) {
        const lot *from = &it->lot[i / LOT];
        if (from->ids[i % LOT] != 0 && (from->node_bits == 0) == integers) {
            out[n++] = from->ids[i % LOT];
        }
    }
    return n;
}

static void count_twice(const ledger *it, verdict *out) {
    size_t size = (atomic_load(&it->lots) + 1) * LOT;
    uint64_t *ids = malloc(size * sizeof *ids), *spare = malloc(size * sizeof *spare);
    if (ids == NULL || spare == NULL) {
        abort();
    }
    for (int kind = 0; kind < 2; kind++) {
        size_t n = gather(it, kind == 1, ids);
        sort_ids(ids, spare, n);
        for (size_t i = 1; i < n; i++) {
            out->twice += ids[i] == ids[i - 1];
        }
        out->ids += n;
    }
    free(ids);
    free(spare);
}

verdict judge(const ledger *it, bool granted) {
    verdict out = {0};
    count_twice(it, &out);
    if (granted) {
        grant *list = settled(it, &out.grants);
        qsort(list, out.grants, sizeof *list, by_life_and_node);
        out.outside = outside_grants(it, list, out.grants);
        qsort(list, out.grants, sizeof *list, by_node);
        for (size_t i = 1; i < out.grants; i++) {
            out.overlapping += list[i].integers == list[i - 1].integers &&
                               list[i].node == list[i - 1].node && list[i].first < list[i - 1].end;
        }
        free(list);
    }
    return out;
}

/* ---- control -------------------------------------------------------------------------------- */

/* The n-th ID that was issued, of those that are not integers where there are any; NULL: none. */
static uint64_t *nth_id(ledger *it, size_t n) {
    size_t lots = atomic_load(&it->lots);
    for (size_t i = 0; i < lots * LOT; i++) {
        uint64_t *id = &it->lot[i / LOT].ids[i % LOT];
        if (*id != 0 && it->lot[i / LOT].node_bits > 0 && n-- == 0) {
            return id;
        }
    }
    return NULL;
}

bool plant(ledger *it, bool granted) {
    uint64_t *first = nth_id(it, 0), *second = nth_id(it, 1), *third = nth_id(it, 2);
    if (first == NULL || second == NULL || third == NULL) {
        return false;
    }
    *first = *third;
    if (granted) {
        *second += UINT64_C(3600000) << 32; /* hours after any slot that was granted */
        size_t list_count, at = atomic_fetch_add(&it->grants, 1);
        grant *list = settled(it, &list_count);
        if (list_count == 0 || at >= it->max_grants) {
            free(list);
            return false;
        }
        it->grant[at] = list[0];
        it->grant[at].life = atomic_fetch_add(&it->lives, 1) + 1;
        it->grant[at].index = (uint32_t)at;
        free(list);
    }
    return true;
}
