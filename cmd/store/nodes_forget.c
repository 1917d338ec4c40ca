/* SPDX-License-Identifier: MIT */
/* `firn nodes --forget`: closes a namespace that is no longer used. Its marks stay in the store, so
 * nothing repeats, also if it is opened again. A namespace in which a node is reserved beyond now
 * is refused: somebody uses it. */
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

/* The records of the namespace in the store. */
typedef struct forget_survey {
    firn_time now;
    char ns[FIRN_NS_SIZE];
    bool known[NAMES_MAX];
    char names[NAMES_MAX][FIRN_NS_SIZE], layouts[NAMES_MAX][FIRN_LAYOUT_SIZE];
    size_t keys;
    bool live; /* the key, time and holder of the latest mark that is past now */
    char key[FIRN_KEY_SIZE], time[FIRN_TIME_SIZE], note[FIRN_NOTE_SIZE];
    char latest[FIRN_TIME_SIZE + 60]; /* the latest mark with a time, or the next integer */
    int64_t high;
} forget_survey;

static void name_all(forget_survey *survey, const char *ns) {
    static const char *const suffixes[NAMES_MAX] = {"", " ticks", " jobs", " key"};
    for (size_t i = 0; i < NAMES_MAX; i++) {
        snprintf(survey->names[i], sizeof survey->names[i], "%.*s%s",
                 i > 0 ? OWNER_MAX : FIRN_NS_SIZE, ns, suffixes[i]);
    }
}

static void see_node(forget_survey *survey, const firn_holding *holding, const mark_told *what) {
    survey->keys++;
    if (holding->mark.high < survey->high || (!what->timed && what->kind != MARK_INTEGER)) {
        return;
    }
    survey->high = holding->mark.high;
    if (what->timed) {
        snprintf(survey->latest, sizeof survey->latest, "reserved until %s, %s", what->mark,
                 what->distance);
    } else {
        snprintf(survey->latest, sizeof survey->latest, "the next integer is %s", what->mark);
    }
    snprintf(survey->key, sizeof survey->key, "%s", holding->key);
    snprintf(survey->time, sizeof survey->time, "%s", what->mark);
    snprintf(survey->note, sizeof survey->note, "%s", holding->note != NULL ? holding->note : "");
    survey->live = what->timed && strstr(what->distance, "ahead") != NULL;
}

static int see_holding(void *context, const firn_holding *holding) {
    forget_survey *survey = context;
    for (size_t i = 0; i < NAMES_MAX; i++) {
        if (strcmp(holding->ns, survey->names[i]) == 0) {
            survey->known[i] = true;
            snprintf(survey->layouts[i], sizeof survey->layouts[i], "%s", holding->layout);
        }
    }
    if (strcmp(holding->ns, survey->names[0]) == 0 && holding->key[0] != '\0') {
        mark_told what;
        mark_tell(&what, holding, &survey->now);
        see_node(survey, holding, &what);
    }
    return 0;
}

static int look(session *s, firn_store *store, forget_survey *survey) {
    firn_error error;
    memset(survey, 0, sizeof *survey);
    survey->now = mark_now();
    name_all(survey, s->option[OPTION_FORGET]);
    if (firn_store_list(store, NULL, see_holding, survey, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    if (!survey->known[0]) {
        return fail_as(s, FIRN_ERANGE, "the store has no namespace %.60s: firn nodes lists them",
                       survey->names[0]);
    }
    return STATUS_DONE;
}

static int refuse_live(session *s, const forget_survey *survey) {
    return fail_as(
        s, FIRN_EBUSY,
        "node %.60s of %.40s is reserved until %.30s by '%.40s': stop that process first",
        survey->key, survey->names[0], survey->time, survey->note);
}

/* Closes all of them, or opens (why is NULL) those that are forgotten; the first one last, so that
 * a failure leaves the name listed. */
static int change_all(session *s, firn_store *store, const forget_survey *survey, const char *why) {
    firn_error error;
    int code = FIRN_OK;
    for (size_t i = NAMES_MAX; i-- > 0 && code == FIRN_OK;) {
        char closed[FIRN_LAYOUT_SIZE];
        const char *layout = survey->layouts[i];
        bool is_closed = closing_layout(layout) != layout;
        if (!survey->known[i] || (why != NULL ? is_closed : !closing_is(layout, FORGOTTEN))) {
            continue;
        }
        if (why != NULL) {
            code = closing_write(closed, why, layout, &error);
        }
        const char *out = why != NULL ? closed : closing_layout(layout);
        if (code == FIRN_OK) {
            code = closing_change(store, survey->names[i], layout, out, NULL, &error);
        }
        if (code == FIRN_EBACK && why == NULL) { /* the first attempt may have found that out */
            code = closing_change(store, survey->names[i], layout, out, NULL, &error);
        }
    }
    return code == FIRN_OK ? STATUS_DONE : fail(s, &error);
}

static int undo(session *s, firn_store *store, const forget_survey *survey) {
    char why[CLOSING_WHY_SIZE];
    closing_why(why, survey->layouts[0]);
    if (why[0] == '\0') {
        output_print(&s->out, "namespace %s is open already\n", survey->names[0]);
        return STATUS_DONE;
    }
    if (!closing_is(survey->layouts[0], FORGOTTEN)) {
        return fail_as(
            s, FIRN_EUSAGE,
            "namespace %.40s is closed (%.80s), not forgotten: opening it could repeat IDs",
            survey->names[0], why);
    }
    int status = change_all(s, store, survey, NULL);
    if (status == STATUS_DONE) {
        output_print(&s->out, "namespace %s is open again and continues after its marks\n",
                     survey->names[0]);
    }
    return status;
}

static void tell_keys(session *s, const forget_survey *survey) {
    output_print(&s->out, "namespace %s has %zu name%s", survey->names[0], survey->keys,
                 plural(survey->keys));
    if (survey->latest[0] != '\0') {
        output_print(&s->out, "; %s: %s, by %s", survey->key, survey->latest, survey->note);
    }
    output_print(&s->out, "\n");
}

int nodes_forget(session *s, firn_store *store) {
    forget_survey survey, after;
    char why[40];
    struct tm day;
    time_t now = time(NULL);
    int status = look(s, store, &survey);
    if (status != STATUS_DONE || s->option[OPTION_UNDO] != NULL) {
        return status == STATUS_DONE ? undo(s, store, &survey) : status;
    }
    if (closing_layout(survey.layouts[0]) != survey.layouts[0]) {
        output_print(&s->out, "namespace %s is closed already (%s)\n", survey.names[0],
                     closing_why((char[CLOSING_WHY_SIZE]){""}, survey.layouts[0]));
        return STATUS_DONE;
    }
    if (survey.live) {
        return refuse_live(s, &survey);
    }
    const bool all = strcmp(survey.names[0], ALL_NAMES) == 0;
    tell_keys(s, &survey);
    output_print(&s->out,
                 all ? "This store will accept no new integer and no new namespace. Those that it "
                       "has continue;\nfirn nodes --forget '%s' --undo accepts new ones again.\n"
                     : "It will issue nothing more from this store. Its high-water marks stay, so "
                       "no ID can repeat;\nfirn nodes --forget %s --undo opens it again.\n",
                 survey.names[0]);
    status = all ? confirm(s, "Close the store for new names?",
                           "add --yes to close the store for new names")
                 : confirm(s, "Close the namespace?", "add --yes to close the namespace");
    strftime(why, sizeof why, FORGOTTEN " %Y-%m-%d", gmtime_r(&now, &day));
    if (status == STATUS_DONE) {
        status = change_all(s, store, &survey, why);
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
