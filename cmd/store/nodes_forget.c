/* SPDX-License-Identifier: MIT */
/* `firn nodes --forget`: closes a namespace that is no longer used. Its marks stay in the store, so
 * nothing repeats, also if it is opened again. A namespace in which a node is reserved beyond now is
 * refused: somebody uses it. */
#include "closing.h"
#include "mark.h"
#include "nodes.h"

#include "shared/operands.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define FORGOTTEN "forgotten"
#define ALL_NAMES "integer *"            /* while it is closed, the store accepts no new name */
#define NAMES_MAX 4                      /* also for back-dated IDs, jobs and the shared key */
#define OWNER_MAX (FIRN_NS_SIZE - 1 - 6) /* bytes of a namespace that has those */

/* What the store has of the namespace. */
typedef struct survey {
    firn_time now;
    char ns[FIRN_NS_SIZE];
    bool known[NAMES_MAX];
    char names[NAMES_MAX][FIRN_NS_SIZE], layouts[NAMES_MAX][FIRN_LAYOUT_SIZE];
    size_t keys;
    bool live; /* the key, time and holder of the latest mark that is past now */
    char key[FIRN_KEY_SIZE], time[FIRN_TIME_SIZE], note[FIRN_NOTE_SIZE];
    char latest[FIRN_TIME_SIZE + 60]; /* the latest mark with a time, or the next integer */
    int64_t high;
} survey;

static void name_all(survey *it, const char *ns) {
    static const char *const suffixes[NAMES_MAX] = {"", " ticks", " jobs", " key"};
    for (size_t i = 0; i < NAMES_MAX; i++) {
        snprintf(it->names[i], sizeof it->names[i], "%.*s%s", i > 0 ? OWNER_MAX : FIRN_NS_SIZE, ns,
                 suffixes[i]);
    }
}

static void see_node(survey *it, const firn_holding *holding, const mark_told *what) {
    it->keys++;
    if (holding->mark.high < it->high || (!what->timed && what->kind != MARK_INTEGER)) {
        return;
    }
    it->high = holding->mark.high;
    if (what->timed) {
        snprintf(it->latest, sizeof it->latest, "reserved until %s, %s", what->mark,
                 what->distance);
    } else {
        snprintf(it->latest, sizeof it->latest, "the next integer is %s", what->mark);
    }
    snprintf(it->key, sizeof it->key, "%s", holding->key);
    snprintf(it->time, sizeof it->time, "%s", what->mark);
    snprintf(it->note, sizeof it->note, "%s", holding->note != NULL ? holding->note : "");
    it->live = what->timed && strstr(what->distance, "ahead") != NULL;
}

static int see_holding(void *context, const firn_holding *holding) {
    survey *it = context;
    for (size_t i = 0; i < NAMES_MAX; i++) {
        if (strcmp(holding->ns, it->names[i]) == 0) {
            it->known[i] = true;
            snprintf(it->layouts[i], sizeof it->layouts[i], "%s", holding->layout);
        }
    }
    if (strcmp(holding->ns, it->names[0]) == 0 && holding->key[0] != '\0') {
        mark_told what;
        mark_tell(&what, holding, &it->now);
        see_node(it, holding, &what);
    }
    return 0;
}

static int look(session *s, firn_store *store, survey *it) {
    firn_error error;
    memset(it, 0, sizeof *it);
    it->now = mark_now();
    name_all(it, s->option[OPTION_FORGET]);
    if (firn_store_list(store, NULL, see_holding, it, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    if (!it->known[0]) {
        return fail_as(s, FIRN_ERANGE, "the store has no namespace %.60s: firn nodes lists them",
                       it->names[0]);
    }
    return STATUS_DONE;
}

static int refuse_live(session *s, const survey *it) {
    return fail_as(
        s, FIRN_EBUSY,
        "node %.60s of %.40s is reserved until %.30s by '%.40s': stop that process first", it->key,
        it->names[0], it->time, it->note);
}

/* Closes all of them, or opens (why is NULL) those that are forgotten; the first one last, so that a
 * failure leaves the name listed. */
static int change_all(session *s, firn_store *store, const survey *it, const char *why) {
    firn_error error;
    int code = FIRN_OK;
    for (size_t i = NAMES_MAX; i-- > 0 && code == FIRN_OK;) {
        char closed[FIRN_LAYOUT_SIZE];
        const char *layout = it->layouts[i];
        bool is_closed = closing_layout(layout) != layout;
        if (!it->known[i] || (why != NULL ? is_closed : !closing_is(layout, FORGOTTEN))) {
            continue;
        }
        if (why != NULL) {
            code = closing_write(closed, why, layout, &error);
        }
        const char *to = why != NULL ? closed : closing_layout(layout);
        if (code == FIRN_OK) {
            code = closing_change(store, it->names[i], layout, to, NULL, &error);
        }
        if (code == FIRN_EBACK && why == NULL) { /* the first attempt may have found that out */
            code = closing_change(store, it->names[i], layout, to, NULL, &error);
        }
    }
    return code == FIRN_OK ? STATUS_DONE : fail(s, &error);
}

static int undo(session *s, firn_store *store, const survey *it) {
    char why[CLOSING_WHY_SIZE];
    closing_why(why, it->layouts[0]);
    if (why[0] == '\0') {
        output_print(&s->out, "namespace %s is open already\n", it->names[0]);
        return STATUS_DONE;
    }
    if (!closing_is(it->layouts[0], FORGOTTEN)) {
        return fail_as(
            s, FIRN_EUSAGE,
            "namespace %.40s is closed (%.80s), not forgotten: opening it could repeat IDs",
            it->names[0], why);
    }
    int status = change_all(s, store, it, NULL);
    if (status == STATUS_DONE) {
        output_print(&s->out, "namespace %s is open again and continues after its marks\n",
                     it->names[0]);
    }
    return status;
}

static void tell_keys(session *s, const survey *it) {
    output_print(&s->out, "namespace %s has %zu name%s", it->names[0], it->keys, plural(it->keys));
    if (it->latest[0] != '\0') {
        output_print(&s->out, "; %s: %s, by %s", it->key, it->latest, it->note);
    }
    output_print(&s->out, "\n");
}

int nodes_forget(session *s, firn_store *store) {
    survey it, after;
    char why[40];
    struct tm day;
    time_t now = time(NULL);
    int status = look(s, store, &it);
    if (status != STATUS_DONE || s->option[OPTION_UNDO] != NULL) {
        return status == STATUS_DONE ? undo(s, store, &it) : status;
    }
    if (closing_layout(it.layouts[0]) != it.layouts[0]) {
        output_print(&s->out, "namespace %s is closed already (%s)\n", it.names[0],
                     closing_why((char[CLOSING_WHY_SIZE]){""}, it.layouts[0]));
        return STATUS_DONE;
    }
    if (it.live) {
        return refuse_live(s, &it);
    }
    const bool all = strcmp(it.names[0], ALL_NAMES) == 0;
    tell_keys(s, &it);
    output_print(&s->out,
                 all ? "This store will accept no new integer and no new namespace. Those that it "
                       "has continue;\nfirn nodes --forget '%s' --undo accepts new ones again.\n"
                     : "It will issue nothing more from this store. Its high-water marks stay, so "
                       "no ID can repeat;\nfirn nodes --forget %s --undo opens it again.\n",
                 it.names[0]);
    status = all ? confirm(s, "Close the store for new names?",
                           "add --yes to close the store for new names")
                 : confirm(s, "Close the namespace?", "add --yes to close the namespace");
    strftime(why, sizeof why, FORGOTTEN " %Y-%m-%d", gmtime_r(&now, &day));
    if (status == STATUS_DONE) {
        status = change_all(s, store, &it, why);
    }
    if (status == STATUS_DONE) { /* has another process reserved a node since? */
        status = look(s, store, &after);
    }
    if (status == STATUS_DONE && after.live) {
        change_all(s, store, &after, NULL);
        return refuse_live(s, &after);
    }
    if (status == STATUS_DONE) {
        output_print(&s->out, "closed\n");
    }
    return status;
}
