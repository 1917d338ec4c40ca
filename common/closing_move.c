/* SPDX-License-Identifier: MIT */
/* A store's move to another one: see closing.h, and docs/explanation/uniqueness.md for why no crash
 * leads to a duplicate. */
#include "closing.h"

#include "errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALL_NAMES "integer *" /* while its record is closed, no other namespace gets one */
#define ALL_OPEN  "integer"

typedef struct space {
    char ns[FIRN_NS_SIZE], layout[FIRN_LAYOUT_SIZE];
    bool keyed; /* the namespace has a key */
} space;

/* How far a namespace is, by its layout in the old store. */
enum stage {
    OPEN,
    MOVING, /* closed; the new store has not granted it yet */
    MOVED,  /* closed; the new store may have granted it */
};

typedef struct kept {
    char key[FIRN_KEY_SIZE], note[FIRN_NOTE_SIZE];
    firn_mark mark;
} kept;

/* A growing array. */
typedef struct list {
    void *items;
    size_t count, room, size; /* size: of an item in bytes */
} list;

/* A move in progress. */
typedef struct move {
    const closing_end *from, *to;
    char why[MOVED + 1][CLOSING_WHY_SIZE]; /* why the namespaces are closed in the old store */
    char arriving[CLOSING_WHY_SIZE];       /* and in the new one */
    closing_moved *moved;
    firn_error *error;
} move;

/* ---- listings -------------------------------------------------------------------------------- */

static void *add(list *to) {
    if (to->count == to->room) {
        size_t room = to->room * 2 + 16;
        void *items = reallocarray(to->items, room, to->size);
        if (items == NULL) {
            return NULL;
        }
        to->items = items;
        to->room = room;
    }
    return (char *)to->items + to->size * to->count++;
}

static int see_space(void *context, const firn_holding *holding) {
    list *spaces = context;
    const space *items = spaces->items;
    if (spaces->count > 0 && strcmp(items[spaces->count - 1].ns, holding->ns) == 0) {
        return FIRN_OK;
    }
    space *it = add(spaces);
    if (it == NULL) {
        return FIRN_EMEMORY;
    }
    snprintf(it->ns, sizeof it->ns, "%s", holding->ns);
    snprintf(it->layout, sizeof it->layout, "%s", holding->layout);
    it->keyed = holding->key[0] != '\0';
    return FIRN_OK;
}

static int see_key(void *context, const firn_holding *holding) {
    kept *it = add(context);
    if (it == NULL) {
        return FIRN_EMEMORY;
    }
    snprintf(it->key, sizeof it->key, "%s", holding->key);
    snprintf(it->note, sizeof it->note, "%s", holding->note != NULL ? holding->note : "");
    it->mark = holding->mark;
    return FIRN_OK;
}

/* The namespaces of a store, or the keys of one of them. The caller frees the items. */
static int read_list(list *out, const closing_end *end, const char *ns, firn_error *error) {
    *out = (list){.size = ns == NULL ? sizeof(space) : sizeof(kept)};
    int code = firn_store_list(end->store, ns, ns == NULL ? see_space : see_key, out, error);
    return code == FIRN_EMEMORY ? set_error(error, code, "out of memory for the marks of %.60s",
                                            ns != NULL ? ns : end->name)
                                : code;
}

/* The layout of a namespace, or NULL. */
static const char *layout_in(const list *spaces, const char *ns) {
    const space *all = spaces->items;
    for (size_t i = 0; i < spaces->count; i++) {
        if (strcmp(all[i].ns, ns) == 0) {
            return all[i].layout;
        }
    }
    return NULL;
}

/* ---- one namespace --------------------------------------------------------------------------- */

/* Reserves in the new store, and asks again if the outcome is unknown. */
static int reserve(const move *it, const firn_request *request, firn_mark *held) {
    int code = FIRN_EUNKNOWN;
    int64_t first;
    for (int i = 0; i < 3 && code == FIRN_EUNKNOWN; i++) {
        code = firn_store_reserve(it->to->store, request, &first, held, it->error);
    }
    return code;
}

/* Raises the mark of a key as high as in the old store, with its grant, which can be a digest. */
static int copy_key(const move *it, const char *ns, const char *layout, const kept *from) {
    const firn_request request = {.ns = ns,
                                  .layout = layout,
                                  .key = from->key,
                                  .count = 1,
                                  .earliest = from->mark.high - 1,
                                  .latest = from->mark.high - 1,
                                  .grant = from->mark.grant,
                                  .note = from->note};
    firn_mark held;
    int code = reserve(it, &request, &held);
    return code == FIRN_EBUSY && held.high >= from->mark.high ? FIRN_OK : code;
}

/* Copies the marks that are not as in `before` (the last listing, sorted as this one; or NULL). */
static int copy_keys(const move *it, const char *ns, const char *layout, const list *now,
                     const list *before) {
    const kept *keys = now->items, *old = before != NULL ? before->items : NULL;
    size_t count = before != NULL ? before->count : 0, at = 0;
    int code = FIRN_OK;
    for (size_t i = 0; i < now->count && code == FIRN_OK; i++) {
        while (at < count && strcmp(old[at].key, keys[i].key) < 0) {
            at++;
        }
        bool same = at < count && strcmp(old[at].key, keys[i].key) == 0 &&
                    old[at].mark.high == keys[i].mark.high &&
                    old[at].mark.grant == keys[i].mark.grant;
        if (!same && keys[i].mark.high > 0) {
            code = copy_key(it, ns, layout, &keys[i]);
        }
    }
    return code;
}

static enum stage stage_of(const move *it, const char *layout) {
    return closing_for(layout, it->why[MOVED])    ? MOVED
           : closing_for(layout, it->why[MOVING]) ? MOVING
                                                  : OPEN;
}

/* The layouts of a namespace while it moves. */
typedef struct forms {
    enum stage stage;
    const char *layout; /* as the new store gets it */
    char moving[FIRN_LAYOUT_SIZE], moved[FIRN_LAYOUT_SIZE], arriving[FIRN_LAYOUT_SIZE];
} forms;

static int write_forms(forms *out, const move *it, const char *layout) {
    out->stage = stage_of(it, layout);
    out->layout = out->stage == OPEN ? layout : closing_layout(layout);
    int code = closing_write(out->moving, it->why[MOVING], out->layout, it->error);
    if (code == FIRN_OK) {
        code = closing_write(out->moved, it->why[MOVED], out->layout, it->error);
    }
    return code == FIRN_OK ? closing_write(out->arriving, it->arriving, out->layout, it->error)
                           : code;
}

/* Ends the doubt about a closed namespace of the new store. */
static int trust(const move *it, const char *ns, const char *closed) {
    const firn_request request = {.ns = ns,
                                  .layout = closed,
                                  .key = "1",
                                  .count = 1,
                                  .note = "firn store move",
                                  .guard = 1}; /* slot 0 is before it: nothing is granted */
    firn_mark held;
    int code = reserve(it, &request, &held);
    return code == FIRN_EBUSY ? FIRN_OK : code;
}

/* Closes a namespace in the new store, whose record is `there` (NULL: none). A store that lost reservations
 * (Redis: that was restarted) has lost nothing of a namespace that it has not granted: all of it is
 * copied again. The old store says so, and is asked again, because another run may be faster. */
static int close_new(const move *it, const space *from, const forms *as, const char *there) {
    int code = closing_change(it->to->store, from->ns, there, as->arriving, NULL, it->error);
    if (code != FIRN_EBACK) {
        return code;
    }
    if (as->stage == MOVED) {
        return set_error(
            it->error, FIRN_EBACK,
            "%.60s lost reservations after it received namespace %.40s: restore a later copy "
            "of that store",
            it->to->name, from->ns);
    }
    code = closing_change(it->from->store, from->ns, from->layout, from->layout, NULL, it->error);
    if (code == FIRN_OK) {
        code = trust(it, from->ns, there != NULL ? there : as->arriving);
    }
    return code == FIRN_OK
               ? closing_change(it->to->store, from->ns, there, as->arriving, NULL, it->error)
               : code;
}

/* Closes a namespace in the old store. Of one that was moved all was copied before, so it does not matter whether
 * that store lost reservations since. */
static int close_old(const move *it, const char *ns, const forms *as, const char *was,
                     const char *closed, int64_t *floor) {
    int code = closing_change(it->from->store, ns, was, closed, floor, it->error);
    return as->stage == MOVED && code == FIRN_EBACK ? FIRN_OK : code;
}

/* Closes a namespace in the old store and copies the marks that differ from `before`. The record
 * of the new store is written last: its sync includes the marks. */
static int leave(const move *it, const space *from, const forms *as, const list *before,
                 size_t *marks) {
    list last = {.items = NULL};
    int64_t floor = 0;
    int code = close_old(it, from->ns, as, from->layout,
                         as->stage == MOVED ? as->moved : as->moving, &floor);
    if (code == FIRN_OK) { /* from here on nothing changes there */
        code = read_list(&last, it->from, from->ns, it->error);
    }
    if (code == FIRN_OK) {
        code = copy_keys(it, from->ns, as->arriving, &last, before);
    }
    if (code == FIRN_OK) {
        code =
            closing_change(it->to->store, from->ns, as->arriving, as->arriving, &floor, it->error);
    }
    *marks = last.count;
    free(last.items);
    return code;
}

/* Copies the marks of a namespace that is open, closes it in the old store, copies the changes
 * since then, and opens it in the new one. Each step may have been done before. */
static int move_space(const move *it, const space *from) {
    forms as;
    list first = {.items = NULL};
    size_t marks = 0;
    int code = write_forms(&as, it, from->layout);
    if (code == FIRN_OK) {
        code = read_list(&first, it->from, from->ns, it->error);
    }
    if (code == FIRN_OK) {
        code = copy_keys(it, from->ns, as.arriving, &first, NULL);
    }
    if (code == FIRN_OK) {
        code = leave(it, from, &as, &first, &marks);
    }
    /* refused if the old store lost reservations, so that a mark is too low */
    if (code == FIRN_OK) {
        code =
            close_old(it, from->ns, &as, as.stage == MOVED ? as.moved : as.moving, as.moved, NULL);
    }
    if (code == FIRN_OK) {
        code = closing_change(it->to->store, from->ns, as.arriving, as.layout, NULL, it->error);
    }
    it->moved->namespaces += code == FIRN_OK;
    it->moved->marks += code == FIRN_OK ? marks : 0;
    free(first.items);
    return code;
}

static int refuse_missing(const move *it, const char *ns) {
    return set_error(it->error, FIRN_EUSAGE,
                     "namespace %.40s is missing in %.60s: restore that store, which has the later "
                     "marks",
                     ns, it->to->name);
}

/* Makes the closed record of a namespace in the new store, unless the move has passed there: then the new store may have
 * closed it again, or confined its claims. The layout may have been closed or opened in the old store since an earlier run;
 * the library refuses any other one. */
static int prepare_space(const move *it, const space *from, const char *there, bool *done) {
    forms as;
    int code = write_forms(&as, it, from->layout);
    *done = code == FIRN_OK && there != NULL && !closing_for(there, it->arriving) &&
            (as.stage == MOVED || (as.stage == MOVING && strcmp(there, as.layout) == 0));
    if (code != FIRN_OK || *done) {
        return code;
    }
    if (there != NULL && !closing_for(there, it->arriving)) {
        return set_error(it->error, FIRN_EUSAGE,
                         "namespace %.40s is in use in %.60s: move to an empty store", from->ns,
                         it->to->name);
    }
    if (there == NULL && as.stage == MOVED) {
        return refuse_missing(it, from->ns);
    }
    if (as.stage == OPEN && closing_is(from->layout, "mov")) {
        return set_error(it->error, FIRN_EUSAGE, "namespace %.40s of %.50s is closed (%.80s)",
                         from->ns, it->from->name, from->layout + strlen("closed ("));
    }
    return close_new(it, from, &as, there);
}

/* ---- the whole store ------------------------------------------------------------------------- */

static int move_spaces(const move *it, const list *from, const list *to) {
    const space *spaces = from->items;
    int code = FIRN_OK;
    for (size_t i = 0; i < from->count && code == FIRN_OK; i++) {
        bool done = false;
        if (strcmp(spaces[i].ns, ALL_NAMES) == 0) {
            continue;
        }
        code = prepare_space(it, &spaces[i], layout_in(to, spaces[i].ns), &done);
        if (code == FIRN_OK && !done) {
            code = move_space(it, &spaces[i]);
        }
    }
    return code;
}

/* Does the new store have a namespace that this move has not brought? A refused attempt leaves the
 * record of all names, open and without a key. */
static int check_empty(const move *it, const list *to) {
    const space *spaces = to->items;
    for (size_t i = 0; i < to->count; i++) {
        bool unused = strcmp(spaces[i].ns, ALL_NAMES) == 0 && !spaces[i].keyed &&
                      strcmp(spaces[i].layout, ALL_OPEN) == 0;
        if (!unused && !closing_for(spaces[i].layout, it->arriving)) {
            return set_error(it->error, FIRN_EUSAGE,
                             "%.60s is in use: it has the namespace %.40s: move to an empty store",
                             it->to->name, spaces[i].ns);
        }
    }
    return FIRN_OK;
}

/* Can the old store close each of its namespaces, and is there room for the reasons? Changes no layout. */
static int check_fit(const move *it, const list *from) {
    const space *spaces = from->items;
    int code = FIRN_OK;
    for (size_t i = 0; i < from->count && code == FIRN_OK; i++) {
        const char *layout = spaces[i].layout;
        forms as;
        code = write_forms(&as, it, layout);
        if (code == FIRN_OK) {
            code = closing_change(it->from->store, spaces[i].ns, layout, layout, NULL, it->error);
        }
    }
    return code;
}

/* A move is complete: does the new store still have everything? */
static int check_there(const move *it, const list *from, const list *to) {
    const space *spaces = from->items;
    for (size_t i = 0; i < from->count; i++) {
        if (layout_in(to, spaces[i].ns) == NULL) {
            return refuse_missing(it, spaces[i].ns);
        }
    }
    return FIRN_OK;
}

/* Both stores, and the record of all names in each. */
typedef struct both {
    list from, to;
    const char *old, *new; /* layouts; NULL: no record */
    space all;             /* in the old store */
    forms as;
} both;

/* Reads the new store first: another run of this move opens a namespace there only after it has shut the
 * old one. */
static int read_both(const move *it, both *out) {
    free(out->from.items);
    free(out->to.items);
    *out = (both){.all = {.ns = ALL_NAMES}};
    int code = read_list(&out->to, it->to, NULL, it->error);
    code = code == FIRN_OK ? read_list(&out->from, it->from, NULL, it->error) : code;
    if (code == FIRN_OK) {
        out->new = layout_in(&out->to, ALL_NAMES);
        out->old = layout_in(&out->from, ALL_NAMES);
        snprintf(out->all.layout, sizeof out->all.layout, "%s",
                 out->old != NULL ? out->old : ALL_OPEN);
        code = write_forms(&out->as, it, out->all.layout);
    }
    return code;
}

/* Looks again, now that the new store takes no new names, and stops new names in the old one. */
static int shut_old(const move *it, both *ends) {
    int code = read_both(it, ends);
    if (code != FIRN_OK || ends->as.stage == MOVED) {
        return code;
    }
    if (ends->as.stage == OPEN && ends->old != NULL && closing_is(ends->old, "mov")) {
        /* If both are one store, it has just closed itself. */
        return set_error(it->error, FIRN_EUSAGE,
                         "%.60s is closed for new names (%.90s): name two different stores",
                         it->from->name, ends->old + strlen("closed ("));
    }
    code = ends->as.stage == OPEN ? check_empty(it, &ends->to) : FIRN_OK;
    if (code == FIRN_OK) {
        code =
            closing_change(it->from->store, ALL_NAMES, ends->old, ends->as.moving, NULL, it->error);
    }
    return code == FIRN_OK ? read_both(it, ends) : code;
}

/* Stops new names in the new store, then in the old one. */
static int shut_both(const move *it, both *ends) {
    char arriving[FIRN_LAYOUT_SIZE], open[FIRN_LAYOUT_SIZE];
    firn_error unused;
    int code = ends->as.stage == OPEN ? closing_change(it->to->store, ALL_NAMES, ends->new,
                                                       ends->as.arriving, NULL, it->error)
                                      : close_new(it, &ends->all, &ends->as, ends->new);
    snprintf(arriving, sizeof arriving, "%s", ends->as.arriving);
    snprintf(open, sizeof open, "%s", ends->as.layout);
    code = code == FIRN_OK ? shut_old(it, ends) : code;
    if (code == FIRN_EUSAGE) { /* no run of this move gets further, so none needs it shut */
        closing_change(it->to->store, ALL_NAMES, arriving, open, NULL, &unused);
    }
    return code;
}

/* Checks both stores and stops new names in them. *over: the move was complete; the new store may have moved on since. */
static int shut(const move *it, both *ends, bool *over) {
    int code = read_both(it, ends);
    if (code != FIRN_OK) {
        return code;
    }
    const enum stage stage = ends->as.stage;
    *over = stage == MOVED && ends->new != NULL && !closing_for(ends->new, it->arriving);
    if (*over) {
        return check_there(it, &ends->from, &ends->to);
    }
    if (stage == MOVED && ends->new == NULL) {
        return set_error(it->error, FIRN_EUSAGE,
                         "%.60s was moved to %.60s, which is empty: restore that store",
                         it->from->name, it->to->name);
    }
    code = stage == OPEN ? check_empty(it, &ends->to) : FIRN_OK;
    if (code == FIRN_OK && stage == OPEN) {
        code = check_fit(it, &ends->from);
    }
    return code == FIRN_OK ? shut_both(it, ends) : code;
}

int closing_move(const closing_end *from, const closing_end *to, closing_moved *moved,
                 firn_error *error) {
    move it = {.from = from, .to = to, .moved = moved, .error = error};
    both ends = {.old = NULL};
    bool over = false;
    *moved = (closing_moved){0, 0};
    snprintf(it.why[MOVING], CLOSING_WHY_SIZE, "moving to %.120s", to->name);
    snprintf(it.why[MOVED], CLOSING_WHY_SIZE, "moved to %.120s", to->name);
    snprintf(it.arriving, CLOSING_WHY_SIZE, "moving from %.120s", from->name);
    int code = shut(&it, &ends, &over);
    if (code == FIRN_OK && !over) {
        code = move_spaces(&it, &ends.from, &ends.to);
    }
    if (code == FIRN_OK && !over) { /* "integer *" can be in use as a segment, too */
        const closing_moved counted = *moved;
        code = move_space(&it, &ends.all);
        *moved = counted;
    }
    free(ends.from.items);
    free(ends.to.items);
    return code;
}
