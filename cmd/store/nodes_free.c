/* SPDX-License-Identifier: MIT */
/* `firn nodes free`: lowers the mark of a node that a wrong clock has put far ahead, so that the
 * node can be used again before that time. The only command that can repeat an ID: it prints which
 * ones, and asks. */
#include "mark.h"
#include "nodes.h"

#include "shared/operands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#define MORE_S 15 /* a mark up to this far ahead of the reach can belong to a live window */

/* The one holding that is meant. */
typedef struct free_target {
    const char *key;
    size_t found;
    firn_mark mark;
    char ns[FIRN_NS_SIZE], layout[FIRN_LAYOUT_SIZE], note[FIRN_NOTE_SIZE];
} free_target;

static int see_holding(void *context, const firn_holding *holding) {
    free_target *target = context;
    firn_scheme scheme;
    if (strcmp(holding->key, target->key) == 0 &&
        mark_scheme(&scheme, holding->layout) == FIRN_OK && scheme.tick_ns != 0) {
        target->found++;
        target->mark = holding->mark;
        snprintf(target->ns, sizeof target->ns, "%s", holding->ns);
        snprintf(target->layout, sizeof target->layout, "%s", holding->layout);
        snprintf(target->note, sizeof target->note, "%s",
                 holding->note != NULL ? holding->note : "");
    }
    return 0;
}

static int find(session *s, firn_store *store, free_target *target) {
    const char *ns = operand_value(s, "ns");
    firn_error error;
    if (firn_store_list(store, ns, see_holding, target, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    if (target->found == 0) {
        return fail_as(s, FIRN_ERANGE, "no namespace has a node %.60s: firn nodes lists the nodes",
                       target->key);
    }
    return target->found == 1 ? STATUS_DONE
                              : fail_usage(s, "%zu namespaces have a node %.60s: add ns=NAME",
                                           target->found, target->key);
}

/* The first slot of a tick, FIRN_SLOT_MAX for later ones: some layouts have 64 bits of time. */
static int64_t slot_of(uint64_t tick, uint32_t shift) {
    return tick > (uint64_t)FIRN_SLOT_MAX >> shift ? FIRN_SLOT_MAX : (int64_t)(tick << shift);
}

/* The slot that the mark is lowered to, and its bounds. */
static int read_bounds(session *s, const free_target *target, const firn_scheme *scheme,
                       int64_t *lowered, int64_t *guard, char mark[FIRN_TIME_SIZE]) {
    const char *text = s->option[OPTION_LOST_AFTER];
    firn_time now = mark_now(), lost, instant;
    firn_error error;
    uint64_t tick = 0;
    uint32_t shift = mark_shift(scheme);
    const int64_t guard_s = mark_reach_s(target->layout) + MORE_S;
    if (target->mark.high >=
        mark_layout_end(scheme)) { /* one slot more would make it a history node */
        return fail_as(
            s, FIRN_ERANGE, "node %.60s of %.60s %s: its high-water mark cannot be lowered",
            target->key, target->ns,
            target->mark.high > mark_layout_end(scheme) ? "is reserved for back-dated IDs"
                                                        : "is at the end of its layout");
    }
    int code = firn_scheme_tick(scheme, &now, &tick, &error);
    if (code == FIRN_OK && target->mark.high <= slot_of(tick, shift)) {
        code =
            set_error(&error, FIRN_ERANGE,
                      "the high-water mark of node %.60s is in the past: the node is free already",
                      target->key);
    }
    now.sec += guard_s;
    code = code == FIRN_OK ? firn_scheme_tick(scheme, &now, &tick, &error) : code;
    *guard = slot_of(tick, shift);
    if (code == FIRN_OK && target->mark.high <= *guard) {
        code = set_error(&error, FIRN_EBUSY,
                         "the high-water mark of node %.60s is at most %" PRId64
                         " s ahead, so the node may be in use: wait until it is free",
                         target->key, guard_s);
    }
    if (code == FIRN_OK) {
        code = firn_time_parse(&lost, text, strlen(text), &error);
    }
    if (code == FIRN_OK) {
        code = firn_scheme_tick(scheme, &lost, &tick, &error);
    }
    tick += tick < UINT64_MAX; /* IDs of TIME's own tick may be kept */
    *lowered = slot_of(tick, shift);
    firn_scheme_time(scheme, (uint64_t)target->mark.high >> shift, &instant);
    firn_time_format(mark, &instant, firn_scheme_digits(scheme));
    if (code == FIRN_OK && *lowered >= target->mark.high) {
        code = set_error(
            &error, FIRN_ERANGE,
            "--lost-after %.60s is not before the high-water mark, %s: choose an earlier time",
            text, mark);
    }
    return argument_code(code, &error) == FIRN_OK ? STATUS_DONE : fail(s, &error);
}

/* Reserves one slot right at the mark, which fails if anybody has moved the mark, and gives all of
 * it back down to `lowered`. */
static int lower(session *s, firn_store *store, const free_target *target, int64_t lowered,
                 int64_t guard) {
    firn_error error;
    firn_mark held;
    int64_t first;
    firn_request request = {.ns = target->ns,
                            .layout = target->layout,
                            .key = target->key,
                            .count = 1,
                            .earliest = target->mark.high,
                            .latest = target->mark.high,
                            .note = "firn nodes free",
                            .own = target->mark, /* so no late copy of it is granted */
                            .guard = guard};
    int code = getrandom(&request.grant, sizeof request.grant, 0) == sizeof request.grant
                   ? FIRN_OK
                   : set_error(&error, FIRN_EENTROPY, "the kernel has no randomness: try again");
    request.grant |= 1;
    if (code == FIRN_OK) {
        code = firn_store_reserve(store, &request, &first, &held, &error);
    }
    if (code == FIRN_EBUSY && held.high == FIRN_SLOT_MAX && held.grant == 0) {
        request.guard = 0; /* a node of reserves: the namespace has its floor, and is not doubted */
        code = firn_store_reserve(store, &request, &first, &held, &error);
    }
    if (code == FIRN_OK) {
        firn_mark mine = {target->mark.high + 1, request.grant};
        code = firn_store_give_back(store, target->ns, target->key, &mine, lowered, &error);
    }
    if (code == FIRN_EBUSY) {
        set_error(&error, code,
                  "node %.60s is in use: another process has just moved its high-water mark",
                  target->key);
    }
    return code == FIRN_OK ? STATUS_DONE : fail(s, &error);
}

int nodes_free(session *s, firn_store *store) {
    free_target target = {.key = s->operands[1]};
    firn_scheme scheme;
    firn_time instant, now = mark_now();
    char mark[FIRN_TIME_SIZE], low[FIRN_TIME_SIZE], distance[40];
    int64_t lowered = 0, guard = 0;
    if (s->option[OPTION_LOST_AFTER] == NULL) {
        return fail_usage(s, "free needs --lost-after TIME: the time after which all IDs of the "
                             "node are lost and may be issued again");
    }
    int status = find(s, store, &target);
    if (status == STATUS_DONE && mark_scheme(&scheme, target.layout) == FIRN_OK) {
        status = read_bounds(s, &target, &scheme, &lowered, &guard, mark);
    }
    if (status != STATUS_DONE) {
        return status;
    }
    firn_scheme_time(&scheme, (uint64_t)target.mark.high >> mark_shift(&scheme), &instant);
    mark_distance(distance, &instant, &now);
    firn_scheme_time(&scheme, (uint64_t)lowered >> mark_shift(&scheme), &instant);
    firn_time_format(low, &instant, firn_scheme_digits(&scheme));
    output_print(&s->out,
                 "node %s of %s is reserved until %s, %s, by: %s\nIDs of this node with times from "
                 "%s to %s may repeat.\n",
                 target.key, target.ns, mark, distance, target.note, low, mark);
    status = confirm(s, "Lower the high-water mark?", "add --yes to free the node");
    if (status == STATUS_DONE) {
        status = lower(s, store, &target, lowered, guard);
    }
    if (status == STATUS_DONE) {
        output_print(&s->out, "its high-water mark is now %s\n", low);
    }
    return status;
}
