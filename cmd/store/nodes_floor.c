/* SPDX-License-Identifier: MIT */
/* `firn nodes floor NAMESPACE`: lowers a floor that a wrong clock has put far ahead. A floor
 * protects the reservations that a store lost. If the clocks were right, each of them ends within
 * the longest reach after the loss, so lowering is safe. */
#include "closing.h"
#include "mark.h"
#include "nodes.h"

#include "shared/operands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct floor_target {
    const char *ns;
    bool found;
    char layout[FIRN_LAYOUT_SIZE];
    int64_t floor;
} floor_target;

static int see_holding(void *context, const firn_holding *holding) {
    floor_target *target = context;
    if (strcmp(holding->ns, target->ns) == 0) {
        target->found = true;
        snprintf(target->layout, sizeof target->layout, "%s", holding->layout);
        target->floor = holding->floor;
    }
    return 0;
}

/* The slot that the floor is lowered to now, and its time. */
static int bound(session *s, firn_store *store, const floor_target *target,
                 const firn_scheme *scheme, firn_time *now, int64_t *lowered,
                 char until[FIRN_TIME_SIZE]) {
    firn_error error = {0};
    uint64_t tick;
    int code = mark_store_now(store, now, &error);
    const firn_time end = {now->sec + mark_guard_s(target->layout), now->ns};
    if (code == FIRN_OK) {
        code = firn_scheme_tick(scheme, &end, &tick, &error);
    }
    if (code != FIRN_OK) {
        return fail(s, &error);
    }
    const uint32_t shift = mark_shift(scheme);
    if (target->floor >> shift <= (int64_t)tick) {
        return fail_as(s, FIRN_EBUSY,
                       "the floor of %.60s is at most %d s ahead, so it may protect IDs that were "
                       "issued before a loss: wait",
                       target->ns, mark_guard_s(target->layout));
    }
    *lowered = (int64_t)(tick << shift);
    firn_time_format(until, &end, firn_scheme_digits(scheme));
    return STATUS_DONE;
}

/* The store may have lost reservations again while the operator thought, so the clock is read
 * again. */
static int lower(session *s, firn_store *store, const floor_target *target,
                 const firn_scheme *scheme) {
    char until[FIRN_TIME_SIZE];
    firn_error error;
    firn_time now;
    int64_t stored;
    firn_relabel change = {target->ns, target->layout, target->layout, 0, true};
    int status = confirm(s, "Lower the floor?", "add --yes to lower the floor");
    if (status == STATUS_DONE) {
        status = bound(s, store, target, scheme, &now, &change.floor, until);
    }
    if (status != STATUS_DONE) {
        return status;
    }
    if (firn_store_relabel(store, &change, &stored, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    output_print(&s->out, "the floor of %s is now %s\n", target->ns, until);
    return STATUS_DONE;
}

int nodes_floor(session *s, firn_store *store) {
    floor_target target = {.ns = s->operands[1]};
    char floor[FIRN_TIME_SIZE], until[FIRN_TIME_SIZE], distance[40];
    firn_scheme scheme;
    firn_time now, instant;
    firn_error error = {0};
    int64_t lowered;
    if (firn_store_list(store, NULL, see_holding, &target, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    if (!target.found) {
        return fail_as(s, FIRN_ERANGE, "the store has no namespace %.60s: firn nodes lists them",
                       target.ns);
    }
    if (!mark_is_timed(&scheme, target.ns, target.layout)) {
        return fail_as(s, FIRN_ERANGE,
                       "namespace %.60s counts, without times, so it has no floor: nothing to do",
                       target.ns);
    }
    if (target.floor == 0) {
        return fail_as(s, FIRN_ERANGE, "namespace %.60s has no floor: nothing to do", target.ns);
    }
    int status = bound(s, store, &target, &scheme, &now, &lowered, until);
    if (status != STATUS_DONE) {
        return status;
    }
    firn_scheme_time(&scheme, (uint64_t)target.floor >> mark_shift(&scheme), &instant);
    firn_time_format(floor, &instant, firn_scheme_digits(&scheme));
    output_print(&s->out,
                 "%s issues nothing before %s, %s.\nIf a process whose clock was ahead issued IDs "
                 "before the store lost reservations, IDs\nwith times from %s on may repeat.\n",
                 target.ns, floor, mark_distance(distance, &instant, &now), until);
    return lower(s, store, &target, &scheme);
}
