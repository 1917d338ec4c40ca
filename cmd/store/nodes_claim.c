/* SPDX-License-Identifier: MIT */
/* `firn nodes claim NAMESPACE A..B`: confines the nodes that generators of a namespace claim. The
 * stored layout says which ones, so a generator that does not know them reserves nothing. */
#include "closing.h"
#include "mark.h"
#include "nodes.h"
#include "numbers.h"

#include "shared/json.h"
#include "shared/operands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct claim_target {
    const char *ns;
    firn__claims claims; /* the new ones */
    bool found, splits;
    firn__claims reserves; /* with `splits`: nodes that only reserves of machines claim */
    char layout[FIRN_LAYOUT_SIZE];
    size_t outside; /* nodes that are reserved now, and that nobody claims any more */
    int64_t until;  /* the latest of their marks */
    size_t kept;    /* nodes outside that processes or jobs keep for back-dated IDs */
    uint64_t last;  /* of them */
    firn_time now;
} claim_target;

static void see_node(claim_target *target, const firn_holding *holding, const firn_scheme *scheme) {
    const int64_t high = holding->mark.high, end = mark_layout_end(scheme);
    uint64_t node, tick;
    if (!number_whole(&node, holding->key) || firn__claims_have(&target->claims, node) ||
        (target->splits && firn__claims_have(&target->reserves, node))) {
        return;
    }
    if (high > end) {
        target->kept++;
        target->last = node;
    } else if (high < end && firn_scheme_tick(scheme, &target->now, &tick, NULL) == FIRN_OK &&
               (uint64_t)high >> mark_shift(scheme) > tick) {
        target->outside++;
        target->until = high > target->until ? high : target->until;
    }
}

static int see_holding(void *context, const firn_holding *holding) {
    claim_target *target = context;
    firn_scheme scheme;
    if (strcmp(holding->ns, target->ns) != 0) {
        return 0;
    }
    target->found = true;
    snprintf(target->layout, sizeof target->layout, "%s", holding->layout);
    size_t unused;
    target->splits = firn__confined_reserves(target->layout, &target->reserves, &unused);
    if (mark_is_timed(&scheme, target->ns, target->layout)) {
        see_node(target, holding, &scheme);
    }
    return 0;
}

static int look(session *s, firn_store *store, claim_target *target) {
    firn_error error = {0};
    target->found = false;
    target->outside = 0;
    target->kept = 0;
    target->until = 0;
    target->now = mark_now();
    return firn_store_list(store, NULL, see_holding, target, &error) == FIRN_OK ? STATUS_DONE
                                                                                : fail(s, &error);
}

/* *whole: the numbers are all nodes of the layout. */
static int check(session *s, const claim_target *target, bool *whole) {
    firn_scheme scheme;
    if (!target->found) {
        return fail_as(s, FIRN_ERANGE,
                       "the store has no namespace %.60s: start a generator with node=%" PRIu64
                       " first, or see firn nodes",
                       target->ns, target->claims.first);
    }
    if (closing_layout(target->layout) != target->layout) {
        char why[CLOSING_WHY_SIZE];
        return fail_as(s, FIRN_ERANGE, "namespace %.60s is closed (%.100s): open it first",
                       target->ns, closing_why(why, target->layout));
    }
    if (!mark_is_timed(&scheme, target->ns, target->layout) || mark_node_bits(&scheme) == 0) {
        return fail_as(s, FIRN_ERANGE,
                       "namespace %.60s has no nodes to claim: firn nodes lists the "
                       "nodes",
                       target->ns);
    }
    const uint32_t bits = mark_node_bits(&scheme);
    const uint64_t most = bits > 63 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    *whole = target->claims.first == 0 && target->claims.last == most;
    if (target->splits && !*whole && target->claims.first <= target->reserves.last &&
        target->claims.last >= target->reserves.first) {
        char reserves[FIRN__CLAIMS_SIZE];
        return fail_as(s, FIRN_ERANGE,
                       "nodes %s of %.60s are claimed by reserves of machines only: choose other "
                       "nodes",
                       firn__confined_write(reserves, &target->reserves), target->ns);
    }
    return target->claims.last <= most ? STATUS_DONE
                                       : fail_as(s, FIRN_ERANGE,
                                                 "node %" PRIu64 " is out of range (0 to %" PRIu64
                                                 " in %.60s): choose smaller nodes",
                                                 target->claims.last, most, target->ns);
}

static int change(session *s, firn_store *store, const claim_target *target, bool whole) {
    firn__claims old;
    char out[FIRN_LAYOUT_SIZE], claims[FIRN__CLAIMS_SIZE];
    firn_error error = {0};
    const char *layout =
        firn__confined_read(target->layout, &old); /* the namespace is not closed */
    const int length = whole ? snprintf(out, sizeof out, "%s", layout)
                             : snprintf(out, sizeof out, FIRN__CONFINED "%s %s",
                                        firn__confined_write(claims, &target->claims), layout);
    if (length >= (int)sizeof out) {
        return fail_as(s, FIRN_ERANGE,
                       "the layout of %.60s has no room for the nodes: use ns=NAME "
                       "for those processes instead",
                       target->ns);
    }
    return closing_change(store, target->ns, target->layout, out, NULL, &error) == FIRN_OK
               ? STATUS_DONE
               : fail(s, &error);
}

/* A mark does not say whether a process still issues. */
static void tell_kept(session *s, const claim_target *target) {
    static const char until[] = "until those processes end (a job: always)";
    if (target->kept == 1) {
        output_print(&s->out, "node %" PRIu64 " issues back-dated IDs %s\n", target->last, until);
    } else if (target->kept > 1) {
        output_print(&s->out, "%zu other nodes issue back-dated IDs %s\n", target->kept, until);
    }
}

/* The latest end of a node in use outside the claims, or NULL. */
static const char *outside_until(char until[FIRN_TIME_SIZE], const claim_target *target) {
    firn_scheme scheme;
    firn_time instant;
    if (target->outside == 0 || mark_scheme(&scheme, target->layout) != FIRN_OK) {
        return NULL;
    }
    firn_scheme_time(&scheme, (uint64_t)target->until >> mark_shift(&scheme), &instant);
    return firn_time_format(until, &instant, firn_scheme_digits(&scheme));
}

static void put_object(session *s, const claim_target *target, bool whole) {
    char ends[2][24] = {"", ""}, until[FIRN_TIME_SIZE];
    for (int i = 0; i < 2 && !whole; i++) {
        snprintf(ends[i], sizeof ends[i], "%" PRIu64,
                 i == 0 ? target->claims.first : target->claims.last);
    }
    json_line(&s->out,
              json_pack("{s:s, s:o, s:o, s:I, s:s?, s:I}", "ns", target->ns, "first",
                        whole ? json_null() : json_string(ends[0]), "last",
                        whole ? json_null() : json_string(ends[1]), "outside",
                        (json_int_t)target->outside, "outside_until", outside_until(until, target),
                        "backdated", (json_int_t)target->kept));
}

static void tell_claims(session *s, const claim_target *target, bool whole) {
    char room[FIRN_TIME_SIZE];
    const char *until = outside_until(room, target);
    if (s->option[OPTION_JSON] != NULL) {
        put_object(s, target, whole);
        return;
    }
    if (whole) {
        output_print(&s->out, "generators of %s claim every node%s\n", target->ns,
                     target->splits ? " outside of reserve_claim" : "");
        return;
    }
    output_print(&s->out, "generators of %s claim nodes %" PRIu64 " to %" PRIu64 " only\n",
                 target->ns, target->claims.first, target->claims.last);
    if (until != NULL) {
        output_print(&s->out,
                     "%zu other node%s in use: if claimed, until %s at the latest; a given node "
                     "stays in use\n",
                     target->outside, target->outside == 1 ? " is" : "s are", until);
    }
    tell_kept(s, target);
}

int nodes_claim(session *s, firn_store *store) {
    claim_target target = {.ns = s->operands[1]};
    bool whole = false;
    const char *rest = s->operands[2];
    if (!firn__claims_read(&target.claims, &rest) || *rest != '\0') {
        return fail_usage(s,
                          "'%.40s' is not a range of nodes: write the first and the last, as "
                          "0..899",
                          s->operands[2]);
    }
    if (target.claims.first == target.claims.last) {
        return fail_usage(s,
                          "one node is too few: the last never-used node is kept for back-dated "
                          "IDs, so no generator could claim it: give at least two, or use "
                          "node=%" PRIu64 " in the settings of the process",
                          target.claims.first);
    }
    int status = look(s, store, &target);
    if (status == STATUS_DONE) {
        status = check(s, &target, &whole);
    }
    if (status == STATUS_DONE) {
        status = change(s, store, &target, whole);
    }
    if (status == STATUS_DONE) {
        status = look(s, store, &target); /* nobody renews a claimed node outside any more */
    }
    if (status == STATUS_DONE) {
        tell_claims(s, &target, whole);
    }
    return status;
}
