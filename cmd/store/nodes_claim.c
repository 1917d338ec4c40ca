/* SPDX-License-Identifier: MIT */
/* `firn nodes claim NAMESPACE A..B`: confines the nodes that generators of a namespace claim. The stored layout says which
 * ones, so a generator that does not know them reserves nothing. */
#include "closing.h"
#include "mark.h"
#include "nodes.h"
#include "numbers.h"

#include "shared/json.h"
#include "shared/operands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct target {
    const char *ns;
    firn__claims claims; /* the new ones */
    bool found;
    char layout[FIRN_LAYOUT_SIZE];
    size_t outside; /* nodes that are reserved now, and that nobody claims any more */
    int64_t until;  /* the latest of their marks */
    size_t kept;    /* nodes outside that processes or jobs keep for back-dated IDs */
    uint64_t last;  /* of them */
    firn_time now;
} target;

static void see_node(target *it, const firn_holding *holding, const firn_scheme *scheme) {
    const int64_t high = holding->mark.high, end = mark_layout_end(scheme);
    uint64_t node, tick;
    if (!number_whole(&node, holding->key) ||
        (node >= it->claims.first && node <= it->claims.last)) {
        return;
    }
    if (high > end) {
        it->kept++;
        it->last = node;
    } else if (high < end && firn_scheme_tick(scheme, &it->now, &tick, NULL) == FIRN_OK &&
               (uint64_t)high >> mark_shift(scheme) > tick) {
        it->outside++;
        it->until = high > it->until ? high : it->until;
    }
}

static int see_holding(void *context, const firn_holding *holding) {
    target *it = context;
    firn_scheme scheme;
    if (strcmp(holding->ns, it->ns) != 0) {
        return 0;
    }
    it->found = true;
    snprintf(it->layout, sizeof it->layout, "%s", holding->layout);
    if (mark_is_timed(&scheme, it->ns, it->layout)) {
        see_node(it, holding, &scheme);
    }
    return 0;
}

static int look(session *s, firn_store *store, target *it) {
    firn_error error = {0};
    it->found = false;
    it->outside = 0;
    it->kept = 0;
    it->until = 0;
    it->now = mark_now();
    return firn_store_list(store, NULL, see_holding, it, &error) == FIRN_OK ? STATUS_DONE
                                                                            : fail(s, &error);
}

/* "0..899" */
static bool read_claims(firn__claims *claims, const char *text) {
    char first[24];
    const char *dots = strstr(text, "..");
    if (dots == NULL || (size_t)(dots - text) >= sizeof first) {
        return false;
    }
    snprintf(first, sizeof first, "%.*s", (int)(dots - text), text);
    return number_whole(&claims->first, first) && number_whole(&claims->last, dots + 2) &&
           claims->first <= claims->last;
}

/* *whole: the numbers are all nodes of the layout. */
static int check(session *s, const target *it, bool *whole) {
    firn_scheme scheme;
    if (!it->found) {
        return fail_as(s, FIRN_ERANGE,
                       "the store has no namespace %.60s: start a generator with node=%" PRIu64
                       " first, or see firn nodes",
                       it->ns, it->claims.first);
    }
    if (closing_layout(it->layout) != it->layout) {
        char why[CLOSING_WHY_SIZE];
        return fail_as(s, FIRN_ERANGE, "namespace %.60s is closed (%.100s): open it first", it->ns,
                       closing_why(why, it->layout));
    }
    if (!mark_is_timed(&scheme, it->ns, it->layout) || mark_node_bits(&scheme) == 0) {
        return fail_as(s, FIRN_ERANGE,
                       "namespace %.60s has no nodes to claim: firn nodes lists the "
                       "nodes",
                       it->ns);
    }
    const uint32_t bits = mark_node_bits(&scheme);
    const uint64_t most = bits > 63 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    *whole = it->claims.first == 0 && it->claims.last == most;
    return it->claims.last <= most ? STATUS_DONE
                                   : fail_as(s, FIRN_ERANGE,
                                             "node %" PRIu64 " is out of range (0 to %" PRIu64
                                             " in %.60s): choose smaller nodes",
                                             it->claims.last, most, it->ns);
}

static int change(session *s, firn_store *store, const target *it, bool whole) {
    firn__claims old;
    char to[FIRN_LAYOUT_SIZE], claims[FIRN__CLAIMS_SIZE];
    firn_error error = {0};
    const char *layout = firn__confined_read(it->layout, &old); /* the namespace is not closed */
    const int length = whole ? snprintf(to, sizeof to, "%s", layout)
                             : snprintf(to, sizeof to, FIRN__CONFINED "%s %s",
                                        firn__confined_write(claims, &it->claims), layout);
    if (length >= (int)sizeof to) {
        return fail_as(s, FIRN_ERANGE,
                       "the layout of %.60s has no room for the nodes: use ns=NAME "
                       "for those processes instead",
                       it->ns);
    }
    return closing_change(store, it->ns, it->layout, to, NULL, &error) == FIRN_OK ? STATUS_DONE
                                                                                  : fail(s, &error);
}

/* A mark does not say whether a process still issues. */
static void tell_kept(session *s, const target *it) {
    static const char until[] = "until those processes end (a job: always)";
    if (it->kept == 1) {
        output_print(&s->out, "node %" PRIu64 " issues back-dated IDs %s\n", it->last, until);
    } else if (it->kept > 1) {
        output_print(&s->out, "%zu other nodes issue back-dated IDs %s\n", it->kept, until);
    }
}

/* The latest end of a node in use outside the claims, or NULL. */
static const char *outside_until(char until[FIRN_TIME_SIZE], const target *it) {
    firn_scheme scheme;
    firn_time at;
    if (it->outside == 0 || mark_scheme(&scheme, it->layout) != FIRN_OK) {
        return NULL;
    }
    firn_scheme_time(&scheme, (uint64_t)it->until >> mark_shift(&scheme), &at);
    return firn_time_format(until, &at, firn_scheme_digits(&scheme));
}

static void put_object(session *s, const target *it, bool whole) {
    char ends[2][24] = {"", ""}, until[FIRN_TIME_SIZE];
    for (int i = 0; i < 2 && !whole; i++) {
        snprintf(ends[i], sizeof ends[i], "%" PRIu64, i == 0 ? it->claims.first : it->claims.last);
    }
    json_line(&s->out, json_pack("{s:s, s:o, s:o, s:I, s:s?, s:I}", "ns", it->ns, "first",
                                 whole ? json_null() : json_string(ends[0]), "last",
                                 whole ? json_null() : json_string(ends[1]), "outside",
                                 (json_int_t)it->outside, "outside_until", outside_until(until, it),
                                 "backdated", (json_int_t)it->kept));
}

static void tell_claims(session *s, const target *it, bool whole) {
    char room[FIRN_TIME_SIZE];
    const char *until = outside_until(room, it);
    if (s->option[OPTION_JSON] != NULL) {
        put_object(s, it, whole);
        return;
    }
    if (whole) {
        output_print(&s->out, "generators of %s claim every node\n", it->ns);
        return;
    }
    output_print(&s->out, "generators of %s claim nodes %" PRIu64 " to %" PRIu64 " only\n", it->ns,
                 it->claims.first, it->claims.last);
    if (until != NULL) {
        output_print(&s->out,
                     "%zu other node%s in use: if claimed, until %s at the latest; a given node "
                     "stays in use\n",
                     it->outside, it->outside == 1 ? " is" : "s are", until);
    }
    tell_kept(s, it);
}

int nodes_claim(session *s, firn_store *store) {
    target it = {.ns = s->operands[1]};
    bool whole = false;
    if (!read_claims(&it.claims, s->operands[2])) {
        return fail_usage(s,
                          "'%.40s' is not a range of nodes: write the first and the last, as "
                          "0..899",
                          s->operands[2]);
    }
    if (it.claims.first == it.claims.last) {
        return fail_usage(s,
                          "one node is too few: the last never-used node is kept for back-dated "
                          "IDs, so no generator could claim it: give at least two, or use "
                          "node=%" PRIu64 " in the settings of the process",
                          it.claims.first);
    }
    int status = look(s, store, &it);
    if (status == STATUS_DONE) {
        status = check(s, &it, &whole);
    }
    if (status == STATUS_DONE) {
        status = change(s, store, &it, whole);
    }
    if (status == STATUS_DONE) {
        status = look(s, store, &it); /* nobody renews a claimed node outside any more */
    }
    if (status == STATUS_DONE) {
        tell_claims(s, &it, whole);
    }
    return status;
}
