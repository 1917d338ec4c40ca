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

id_ledger *ledger_new(size_t ids) {
    id_ledger *ledger = shared(sizeof *ledger);
    ledger->max_lots = ids / LOT + 1;
    ledger->max_grants = GRANTS_MOST;
    ledger->lot = shared(ledger->max_lots * sizeof *ledger->lot);
    ledger->grant = shared(ledger->max_grants * sizeof *ledger->grant);
    return ledger;
}

torture_lot *ledger_lot(id_ledger *ledger, uint32_t life, uint32_t node_bits) {
    size_t position = atomic_load(&ledger->lots) < ledger->max_lots
                          ? atomic_fetch_add(&ledger->lots, 1)
                          : SIZE_MAX;
    if (position >= ledger->max_lots) {
        return NULL;
    }
    ledger->lot[position].life = life;
    ledger->lot[position].node_bits = node_bits;
    return &ledger->lot[position];
}

static void add(id_ledger *ledger, uint32_t life, const char *ns, const char *key, int64_t first,
                int64_t end, bool lowered) {
    char *rest;
    size_t position = atomic_fetch_add(&ledger->grants, 1);
    if (position >= ledger->max_grants) {
        abort();
    }
    torture_grant *line = &ledger->grant[position];
    uint64_t node = strtoull(key, &rest, 10);
    /* Slots of a tick on the node of back-dated IDs are under node@tick. */
    int64_t base = *rest == '@' ? strtoll(rest + 1, NULL, 10) << SEQUENCE : 0;
    line->life = life;
    line->index = (uint32_t)position;
    line->node = node;
    line->first = base + first;
    line->end = base + end;
    line->lowered = lowered;
    line->integers = strncmp(ns, "integer ", 8) == 0;
    atomic_store(&line->whole, true);
}

void ledger_grant(id_ledger *ledger, uint32_t life, const firn_request *request, int64_t first,
                  int64_t end) {
    /* A node taken for good for history is all of a node, shared by those who reserve its ticks. */
    if (request->latest > 0 || request->count <= INT64_C(1) << SEQUENCE) {
        add(ledger, life, request->ns, request->key, first, end, false);
    }
}

void ledger_lower(id_ledger *ledger, uint32_t life, const char *ns, const char *key, int64_t first,
                  int64_t end) {
    add(ledger, life, ns, key, first, end, true);
}

/* ---- grants --------------------------------------------------------------------------------- */

static int by_life(const void *a, const void *b) {
    const torture_grant *x = a, *y = b;
    return x->life != y->life    ? (x->life < y->life ? -1 : 1)
           : x->index < y->index ? -1
                                 : x->index > y->index;
}

static int by_place(const torture_grant *x, const torture_grant *y) {
    return x->integers != y->integers ? (x->integers ? 1 : -1)
           : x->node != y->node       ? (x->node < y->node ? -1 : 1)
           : x->first != y->first     ? (x->first < y->first ? -1 : 1)
                                      : 0;
}

static int by_node(const void *a, const void *b) {
    return by_place(a, b);
}

static int by_life_and_node(const void *a, const void *b) {
    const torture_grant *x = a, *y = b;
    return x->life != y->life ? (x->life < y->life ? -1 : 1) : by_place(x, y);
}

/* Takes a range that a life gave up off its earlier grants: the last slots, back to where issuing
 * stopped. */
static void take_off(torture_grant *kept, size_t n, const torture_grant *given) {
    for (size_t j = n; j-- > 0 && kept[j].life == given->life;) {
        if (kept[j].node != given->node || kept[j].integers != given->integers ||
            kept[j].end <= given->first || kept[j].first >= given->end) {
            continue;
        }
        kept[j].end = kept[j].first > given->first ? kept[j].first : given->first;
    }
}

static torture_grant *settled(const id_ledger *ledger, size_t *count) {
    size_t n = atomic_load(&ledger->grants), all = 0, kept = 0, left = 0;
    torture_grant *list = malloc((n + 1) * sizeof *list);
    for (size_t i = 0; i < n; i++) {
        if (atomic_load(&ledger->grant[i].whole)) { /* else its life was killed before it knew */
            list[all++] = ledger->grant[i];
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

static torture_grant place_of(const torture_lot *lot, uint64_t id) {
    torture_grant place = {.life = lot->life, .integers = lot->node_bits == 0, .node = 1};
    place.first = (int64_t)id;
    if (lot->node_bits > 0) {
        place.node = id >> SEQUENCE & ((UINT64_C(1) << lot->node_bits) - 1);
        place.first = (int64_t)(id >> (SEQUENCE + lot->node_bits) << SEQUENCE |
                                (id & ((UINT64_C(1) << SEQUENCE) - 1)));
    }
    return place;
}

static bool holds(const torture_grant *grant, const torture_grant *place) {
    return grant->life == place->life && grant->integers == place->integers &&
           grant->node == place->node && grant->first <= place->first && place->first < grant->end;
}

static size_t outside_grants(const id_ledger *ledger, const torture_grant *list, size_t n) {
    size_t lots = atomic_load(&ledger->lots), found = 0;
    const torture_grant *grant = list;
    for (size_t i = 0; i < lots * LOT; i++) {
        const torture_lot *from = &ledger->lot[i / LOT];
        if (from->ids[i % LOT] == 0) {
            continue;
        }
        torture_grant place = place_of(from, from->ids[i % LOT]);
        size_t low = 0, high = n;
        while (low < high && !holds(grant, &place)) { /* mostly it is the one before's */
            grant = &list[low + (high - low) / 2];
            bool before = by_life_and_node(grant, &place) <= 0;
            low = before ? (size_t)(grant - list) + 1 : low;
            high = before ? high : (size_t)(grant - list);
        }
        found += n == 0 || !holds(grant, &place);
    }
    return found;
}

/* Numbers of two kinds cannot duplicate each other. */
static size_t gather(const id_ledger *ledger, bool integers, uint64_t *out) {
    size_t lots = atomic_load(&ledger->lots), n = 0;
    for (size_t i = 0; i < lots * LOT; i++) {
        const torture_lot *from = &ledger->lot[i / LOT];
        if (from->ids[i % LOT] != 0 && (from->node_bits == 0) == integers) {
            out[n++] = from->ids[i % LOT];
        }
    }
    return n;
}

static void count_twice(const id_ledger *ledger, verdict *out) {
    size_t size = (atomic_load(&ledger->lots) + 1) * LOT;
    uint64_t *ids = malloc(size * sizeof *ids), *spare = malloc(size * sizeof *spare);
    if (ids == NULL || spare == NULL) {
        abort();
    }
    for (int kind = 0; kind < 2; kind++) {
        size_t n = gather(ledger, kind == 1, ids);
        sort_ids(ids, spare, n);
        for (size_t i = 1; i < n; i++) {
            out->twice += ids[i] == ids[i - 1];
        }
        out->ids += n;
    }
    free(ids);
    free(spare);
}

verdict judge(const id_ledger *ledger, bool granted) {
    verdict out = {0};
    count_twice(ledger, &out);
    if (granted) {
        torture_grant *list = settled(ledger, &out.grants);
        qsort(list, out.grants, sizeof *list, by_life_and_node);
        out.outside = outside_grants(ledger, list, out.grants);
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
static uint64_t *nth_id(id_ledger *ledger, size_t n) {
    size_t lots = atomic_load(&ledger->lots);
    for (size_t i = 0; i < lots * LOT; i++) {
        uint64_t *id = &ledger->lot[i / LOT].ids[i % LOT];
        if (*id != 0 && ledger->lot[i / LOT].node_bits > 0 && n-- == 0) {
            return id;
        }
    }
    return NULL;
}

bool plant(id_ledger *ledger, bool granted) {
    uint64_t *first = nth_id(ledger, 0), *second = nth_id(ledger, 1), *third = nth_id(ledger, 2);
    if (first == NULL || second == NULL || third == NULL) {
        return false;
    }
    *first = *third;
    if (granted) {
        *second += UINT64_C(3600000) << 32; /* hours after any slot that was granted */
        size_t list_count, position = atomic_fetch_add(&ledger->grants, 1);
        torture_grant *list = settled(ledger, &list_count);
        if (list_count == 0 || position >= ledger->max_grants) {
            free(list);
            return false;
        }
        ledger->grant[position] = list[0];
        ledger->grant[position].life = atomic_fetch_add(&ledger->lives, 1) + 1;
        ledger->grant[position].index = (uint32_t)position;
        free(list);
    }
    return true;
}
