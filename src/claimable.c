/* SPDX-License-Identifier: MIT */
/* Confined claims: which nodes of a namespace a generator may claim. `firn nodes claim` writes them
 * in front of the stored layout, which every reservation compares: "claim=0..899 LAYOUT". A
 * generator that is refused for that text learns the text. Nodes that are given need not be among
 * them. Called with the renewal lock held. */
#include "error.h"
#include "gen.h"

#include <inttypes.h>
#include <string.h>

static bool claims_of(const firn_gen *gen, firn__claims *claims) {
    return firn__confined_read(gen->kept.stored, claims) != gen->kept.stored;
}

bool firn__claimable_read(firn_gen *gen, const char *stored) {
    firn__claims claims;
    if (strcmp(firn__confined_read(stored, &claims), gen->layout) != 0 ||
        strcmp(stored, gen->kept.stored) == 0 || strlen(stored) >= sizeof gen->kept.stored) {
        return false;
    }
    strcpy(gen->kept.stored, stored);
    return true;
}

bool firn__claimable_allows(const firn_gen *gen, uint64_t node) {
    firn__claims claims;
    return gen->fixed || !claims_of(gen, &claims) || (node >= claims.first && node <= claims.last);
}

char *firn__claimable_text(char text[FIRN__CLAIMS_SIZE], const firn_gen *gen) {
    firn__claims claims;
    text[0] = '\0';
    if (!gen->fixed && claims_of(gen, &claims)) {
        firn__confined_write(text, &claims);
    }
    return text;
}

/* ---- numbers of the nodes that match the pinned fields --------------------------------------- */

static uint64_t number_most(const firn_gen *gen) {
    return firn__mask((uint32_t)__builtin_popcountll(firn__mask(gen->node_bits) & ~gen->pin_mask));
}

uint64_t firn__claimable_node(const firn_gen *gen, uint64_t number) {
    uint64_t node = gen->pinned;
    for (uint32_t i = 0, j = 0; i < gen->node_bits; i++) {
        if (!(gen->pin_mask >> i & 1)) {
            node |= (number >> j++ & 1) << i;
        }
    }
    return node;
}

/* The smallest number up to `most` whose node is at least `node`, or else `most`. Greater numbers
 * have greater nodes. */
static uint64_t number_from(const firn_gen *gen, uint64_t node, uint64_t most) {
    uint64_t low = 0, high = most;
    while (low < high) {
        const uint64_t mid = low + (high - low) / 2;
        if (firn__claimable_node(gen, mid) >= node) {
            high = mid;
        } else {
            low = mid + 1;
        }
    }
    return low;
}

bool firn__claimable_numbers(const firn_gen *gen, uint64_t *first, uint64_t *last) {
    firn__claims claims;
    *first = 0;
    *last = number_most(gen);
    if (gen->fixed || !claims_of(gen, &claims)) {
        return true;
    }
    *first = number_from(gen, claims.first, *last);
    *last = number_from(gen, claims.last, *last);
    if (firn__claimable_node(gen, *last) > claims.last) {
        if (*last == 0) {
            return false;
        }
        --*last;
    }
    return *first <= *last && firn__claimable_node(gen, *first) >= claims.first;
}

/* ---- reservations of a node ------------------------------------------------------------------ */

typedef struct search {
    firn_gen *gen;
    bool seen, learned;
} search;

static int see_layout(void *context, const firn_holding *holding) {
    search *self = context;
    if (strcmp(holding->ns, self->gen->ns) != 0) {
        return 0;
    }
    self->seen = true;
    self->learned = firn__claimable_read(self->gen, holding->layout);
    return 1; /* ends the listing */
}

/* Only the listing of all namespaces shows one without keys. */
bool firn__claimable_learn(firn_gen *gen, firn_store *store) {
    search self = {.gen = gen};
    firn_error unused;
    int code = firn_store_list(store, gen->ns, see_layout, &self, &unused);
    if (code == FIRN_OK && !self.seen) {
        (void)firn_store_list(store, NULL, see_layout, &self, &unused);
    }
    return self.learned;
}

/* The mark is nobody's, so that neither the floor nor a copy of this process is suspected. */
static int refuse_outside(const firn_gen *gen, const firn_request *request, firn__attempts *sending,
                          firn_error *error) {
    char claims[FIRN__CLAIMS_SIZE];
    sending->held = (firn_mark){request->latest + 1, 2};
    return firn_error_set(error, FIRN_EBUSY, FIRN_CURE_OTHER_NODE,
                          "node " FIRN__VALUE("%s") " of %.120s is outside the nodes " FIRN__LIMIT(
                              "%s") " that may be claimed",
                          request->key, gen->ns, firn__claimable_text(claims, gen));
}

int firn__claimable_reserve(firn_gen *gen, uint64_t node, firn_request *request,
                            firn__attempts *sending, int64_t *first, firn_error *error) {
    const firn__attempts before = *sending;
    if (!firn__claimable_allows(gen, node)) {
        return refuse_outside(gen, request, sending, error);
    }
    request->layout = gen->kept.stored;
    int code = firn__gen_reserve(gen, request, sending, first, error);
    if (code != FIRN_ENAMESPACE || !firn__claimable_learn(gen, gen->store)) {
        return code;
    }
    if (!sending->twice) {
        *sending = before; /* its one sending was refused */
    }
    if (!firn__claimable_allows(gen, node)) {
        return refuse_outside(gen, request, sending, error);
    }
    request->layout = gen->kept.stored;
    return firn__gen_reserve(gen, request, sending, first, error);
}
