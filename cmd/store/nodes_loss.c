/* SPDX-License-Identifier: MIT */
/* `firn nodes lost`, `firn nodes trust` and `firn nodes resume`: facts that only an operator knows.
 * `lost` declares that the store lost reservations, if nothing in the store shows it. `trust` ends
 * the doubt about a store that lost none: it requests one slot of each namespace that is reserved
 * already. The store refuses the slot, but takes the guard, which is lower than every mark.
 * `resume` does the same with a guard after the IDs of processes that no longer run, and lowers the
 * floors to it. It never makes a guard longer. Back-dated IDs do not resume: their ticks have no
 * guard. */
#include "closing.h"
#include "mark.h"
#include "nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define AHEAD_S     21 /* max_lead_ms and max_skew_ms at their limits, and a second */
#define SHORT_S     15 /* the guard of the default reach, and how much later a generator rounds it */
#define SHORT_TICKS 4
#define ALL_NAMES   "integer *" /* current: a name without a record is new */

/* A namespace, and one of its keys. */
typedef struct lost_place {
    char ns[FIRN_NS_SIZE], layout[FIRN_LAYOUT_SIZE], key[FIRN_KEY_SIZE];
} lost_place;

typedef struct loss_survey {
    lost_place *places;
    size_t count, room;
    bool full;                        /* out of memory */
    bool unmarked;                    /* also namespaces without a mark, which have no key yet */
    char all_names[FIRN_LAYOUT_SIZE]; /* the layout of ALL_NAMES, "": it has no record */
} loss_survey;

static bool add(loss_survey *survey, const char *ns, const char *layout, const char *key) {
    if (survey->count == survey->room) {
        const size_t room = survey->room * 2 + 16;
        lost_place *more = realloc(survey->places, room * sizeof *more);
        if (more == NULL) {
            survey->full = true;
            return false;
        }
        survey->places = more;
        survey->room = room;
    }
    lost_place *place = &survey->places[survey->count++];
    snprintf(place->ns, sizeof place->ns, "%s", ns);
    snprintf(place->layout, sizeof place->layout, "%s", layout);
    snprintf(place->key, sizeof place->key, "%s", key);
    return true;
}

static int see_holding(void *context, const firn_holding *holding) {
    loss_survey *survey = context;
    const bool seen =
        survey->count > 0 && strcmp(survey->places[survey->count - 1].ns, holding->ns) == 0;
    if (strcmp(holding->ns, ALL_NAMES) == 0) {
        snprintf(survey->all_names, sizeof survey->all_names, "%s", holding->layout);
        return 0;
    }
    const char *key = holding->key[0] == '\0' ? "0" : holding->key;
    return seen || (holding->mark.high == 0 && !survey->unmarked) ||
                   add(survey, holding->ns, holding->layout, key)
               ? 0
               : FIRN_EMEMORY;
}

/* Reserves nothing, but a doubted namespace continues from `guard` on. */
static int settle(firn_store *store, const lost_place *place, int64_t guard, const char *note,
                  firn_error *error) {
    firn_mark held;
    int64_t first;
    firn_request request = {.ns = place->ns,
                            .layout = place->layout,
                            .key = place->key,
                            .count = 1,
                            .note = note,
                            .guard = guard};
    if (getrandom(&request.grant, sizeof request.grant, 0) != sizeof request.grant) {
        return set_error(error, FIRN_EENTROPY, "the kernel has no randomness: try again");
    }
    request.grant |= 1;
    const int code = firn_store_reserve(store, &request, &first, &held, error);
    return code == FIRN_EBUSY ? FIRN_OK : code;
}

static int trust_all(session *s, firn_store *store, loss_survey *survey) {
    firn_error error = {0};
    int code = firn_store_list(store, NULL, see_holding, survey, &error);
    const char *all = survey->all_names[0] != '\0' ? survey->all_names : "integer";
    if (code == FIRN_OK && !add(survey, ALL_NAMES, all, "1")) { /* last: new names come after it */
        code = FIRN_EMEMORY;
    }
    if (survey->full) {
        out_of_memory(&error);
    }
    for (size_t i = 0; code == FIRN_OK && i < survey->count; i++) {
        code = settle(store, &survey->places[i], 1, "firn nodes trust", &error);
    }
    return code == FIRN_OK ? STATUS_DONE : fail(s, &error);
}

int nodes_trust(session *s, firn_store *store) {
    loss_survey survey = {.places = NULL};
    output_print(
        &s->out, "%s",
        "The namespaces of this store continue at their high-water marks, without a guard;\n"
        "one that was used since the loss keeps its guard.\n"
        "If the store lacks a reservation, IDs and integers repeat.\n");
    int status = confirm(s, "Does the store have every reservation?",
                         "add --yes if the store has every reservation");
    if (status == STATUS_DONE) {
        status = trust_all(s, store, &survey);
    }
    if (status == STATUS_DONE) {
        output_print(&s->out, "trusted\n");
    }
    free(survey.places);
    return status;
}

/* ---- resume ---------------------------------------------------------------------------------- */

/* The first slot that a process that runs no longer cannot have issued, and the guard of a
 * namespace that is doubted. */
typedef struct restart {
    int64_t slot, guard; /* 0: nothing is to resume */
} restart;

/* The first slot of the tick that is `more` ticks after the tick of `now` + `s` seconds. 0: the
 * layout has ended. */
static int64_t slot_after(const firn_scheme *scheme, const firn_time *now, int s, uint64_t more) {
    const firn_time end = {now->sec + s, now->ns};
    const uint32_t shift = mark_shift(scheme);
    uint64_t tick;
    return firn_scheme_tick(scheme, &end, &tick, NULL) == FIRN_OK &&
                   tick < ((uint64_t)FIRN_SLOT_MAX >> shift) - more
               ? (int64_t)((tick + more) << shift)
               : 0;
}

/* By the store's clock. */
static int plan(firn_store *store, const lost_place *place, restart *out, firn_error *error) {
    firn_scheme scheme;
    firn_time now;
    firn__claims unused;
    size_t length;
    *out = (restart){0, 0};
    if (closing_layout(place->layout) != place->layout ||
        !mark_is_timed(&scheme, place->ns, place->layout)) {
        return FIRN_OK;
    }
    const int code = mark_store_now(store, &now, error);
    if (code == FIRN_OK) {
        const int64_t usual = slot_after(&scheme, &now, SHORT_S, SHORT_TICKS);
        out->slot = slot_after(&scheme, &now, AHEAD_S, 1);
        const bool is_short = mark_reach_s(place->layout) == SHORT_S ||
                              firn__confined_reserves(place->layout, &unused, &length);
        out->guard = is_short && usual < out->slot ? usual : out->slot;
    }
    return code;
}

/* A floor that is in the way is lowered, and none is raised. *resumed counts the namespaces that
 * have changed. */
static int resume(firn_store *store, const lost_place *place, size_t *resumed, firn_error *error) {
    firn_relabel change = {place->ns, place->layout, place->layout, 0, false};
    restart out;
    int64_t floor = 0;
    int code = plan(store, place, &out, error);
    if (code != FIRN_OK || out.slot == 0 || out.guard == 0) {
        return code;
    }
    code = firn_store_relabel(store, &change, &floor, error);
    const bool doubted = code == FIRN_EBACK; /* nobody has noticed the loss in this namespace */
    if (doubted) {
        code = settle(store, place, out.guard, "firn nodes resume", error);
        code = code == FIRN_OK ? firn_store_relabel(store, &change, &floor, error) : code;
    }
    const bool lowers = code == FIRN_OK && floor > out.slot;
    if (lowers) {
        change.lowers = true;
        change.floor = out.slot;
        code = firn_store_relabel(store, &change, &floor, error);
    }
    *resumed += code == FIRN_OK && (doubted || lowers);
    return code;
}

int nodes_resume(session *s, firn_store *store) {
    loss_survey survey = {.unmarked = true};
    size_t resumed = 0;
    firn_error error = {0};
    if (s->option[OPTION_ALL_STOPPED] == NULL) {
        return fail_usage(s, "resume ends the guard after a loss, so IDs repeat if a process from "
                             "before still runs: stop every process, then add --all-stopped");
    }
    int code = firn_store_list(store, NULL, see_holding, &survey, &error);
    if (survey.full) {
        out_of_memory(&error);
    }
    for (size_t i = 0; code == FIRN_OK && i < survey.count; i++) {
        code = resume(store, &survey.places[i], &resumed, &error);
    }
    free(survey.places);
    if (code != FIRN_OK) {
        return fail(s, &error);
    }
    if (resumed == 0) {
        output_print(&s->out, "no namespace has a guard of more than %d s: nothing changed\n",
                     AHEAD_S);
    } else {
        output_print(&s->out,
                     "resumed %zu namespace%s: IDs continue at most %d s after the store's clock.\n"
                     "If the clock of a process was further ahead, its last IDs may repeat.\n",
                     resumed, plural(resumed), AHEAD_S);
    }
    return STATUS_DONE;
}

/* ---- lost ------------------------------------------------------------------------------------ */

int nodes_lost(session *s, firn_store *store) {
    const firn_relabel loss = {ALL_NAMES, "gone back", "gone back", 0, false};
    firn_error error;
    int64_t floor;
    output_print(
        &s->out, "%s",
        "From now on the store has lost reservations: IDs with a time continue 15 s after its "
        "clock\n(615 s with reach=10min, 3615 s with reach=1h), and each integer in use needs\n"
        "firn segment advance NAME --min N.\n");
    int status = confirm(s, "Has the store lost reservations?",
                         "add --yes if the store has lost reservations");
    if (status == STATUS_DONE && firn_store_relabel(store, &loss, &floor, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    if (status == STATUS_DONE) {
        output_print(&s->out, "declared\n");
    }
    return status;
}
