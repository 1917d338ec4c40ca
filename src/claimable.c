/* SPDX-License-Identifier: MIT */
/* Confined claims: which nodes of a namespace a generator may claim. `firn nodes claim` writes them
 * in front of the stored layout, which every reservation compares: "claim=0..899 LAYOUT". A
 * generator that is refused for that text learns the text. Nodes of reserves (reserve_claim=) are
 * part of the layout of each generator instead, and nobody learns them. Nodes that are given need
 * not be among either. Called with the renewal lock held. */
#include "error.h"
#include "gen.h"

#include <inttypes.h>
#include <string.h>

/* The nodes that generators claim, or reserves of machines; false: any. Nodes of reserves are at one
 * end (firn__claimable_split). *first > *last: none. */
static bool claims_of(const firn_gen *gen, bool reserve, firn__claims *claims) {
    if (gen->splits && reserve) {
        *claims = gen->reserves;
        return true;
    }
    *claims = (firn__claims){0, UINT64_MAX};
    const bool confined = firn__confined_read(gen->kept.stored, claims) != gen->kept.stored;
    if (gen->splits && gen->reserves.first == 0 && claims->first <= gen->reserves.last) {
        claims->first = gen->reserves.last + 1;
    } else if (gen->splits && gen->reserves.first > 0 && claims->last >= gen->reserves.first) {
        claims->last = gen->reserves.first - 1;
    }
    return confined || gen->splits;
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

bool firn__claimable_by(const firn_gen *gen, uint64_t node, bool reserve) {
    firn__claims claims;
    return gen->fixed || !claims_of(gen, reserve, &claims) || firn__claims_have(&claims, node);
}

bool firn__claimable_allows(const firn_gen *gen, uint64_t node) {
    return firn__claimable_by(gen, node, false) ||
           (gen->machine != NULL && firn__claimable_by(gen, node, true));
}

char *firn__claimable_text(char text[FIRN__CLAIMS_SIZE], const firn_gen *gen) {
    firn__claims claims;
    text[0] = '\0';
    if (!gen->fixed && claims_of(gen, false, &claims)) {
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

bool firn__claimable_numbers(const firn_gen *gen, bool reserve, uint64_t *first, uint64_t *last) {
    firn__claims claims;
    *first = 0;
    *last = number_most(gen);
    if (gen->fixed || !claims_of(gen, reserve, &claims)) {
        return true;
    }
    if (claims.first > claims.last) {
        return false;
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

/* ---- nodes of reserves ----------------------------------------------------------------------- */

int firn__claimable_split(firn_gen *gen, firn_error *error) {
    const char *said = gen->keys.reserve_claim, *rest = said;
    const uint64_t most = firn__mask(gen->node_bits);
    uint64_t first, last;
    if (said == NULL) {
        return FIRN_OK;
    }
    if (!firn__reserves(gen)) {
        return firn_error_set(error, FIRN_EUSAGE, FIRN_CURE_LEAVE_OUT,
                              FIRN__VALUE("reserve_claim") " applies to nodes, and %s reserves "
                                                           "none: leave it out",
                              gen->scheme.name);
    }
    if (!firn__claims_read(&gen->reserves, &rest) || *rest != '\0') {
        return firn__fail(
            error, FIRN_EUSAGE,
            "reserve_claim=%.40s is not a range of nodes: write the first and the last, "
            "as 900..1023",
            said);
    }
    if (gen->keys.reach_ != FIRN__REACH_1H) {
        return firn__fail(error, FIRN_EUSAGE,
                          "reserve_claim=%.40s needs reach=1h: set reach=1h too", said);
    }
    if (gen->reserves.last > most || (gen->reserves.first == 0) == (gen->reserves.last == most)) {
        return firn__fail(error, FIRN_ERANGE,
                          "reserve_claim=%.40s is not one end of the nodes 0..%" PRIu64
                          " of %s: begin at 0, or end at %" PRIu64 ", and leave nodes for others",
                          said, most, gen->scheme.name, most);
    }
    gen->splits = true;
    const bool outside = firn__claimable_numbers(gen, false, &first, &last);
    if (!outside ||
        (gen->keys.reserve_ms > 0 && !firn__claimable_numbers(gen, true, &first, &last))) {
        return firn__fail(error, FIRN_EUSAGE,
                          "no node %s reserve_claim=%.40s has the fields that are given: %sgive "
                          "other fields",
                          outside ? "of" : "outside of", said,
                          outside ? "leave reserve out, or " : "");
    }
    return FIRN_OK;
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
