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

typedef struct moved_space {
    char ns[FIRN_NS_SIZE], layout[FIRN_LAYOUT_SIZE];
    bool keyed; /* the namespace has a key */
} moved_space;

/* How far a namespace is, by its layout in the old store. */
enum stage {
    OPEN,
    MOVING, /* closed; the new store has not granted it yet */
    MOVED,  /* closed; the new store may have granted it */
};

typedef struct seen_key {
    char key[FIRN_KEY_SIZE], note[FIRN_NOTE_SIZE];
    firn_mark mark;
} seen_key;

/* A growing array. */
typedef struct space_list {
    void *items;
    size_t count, room, size; /* size: of an item in bytes */
} space_list;

/* A move in progress. */
typedef struct mark_move {
    const closing_end *from, *to;
    char why[MOVED + 1][CLOSING_WHY_SIZE]; /* why the namespaces are closed in the old store */
    char arriving[CLOSING_WHY_SIZE];       /* and in the new one */
    closing_moved *moved;
    firn_error *error;
} mark_move;

/* ---- listings -------------------------------------------------------------------------------- */

static void *add(space_list *list) {
    if (list->count == list->room) {
        size_t room = list->room * 2 + 16;
        void *items = reallocarray(list->items, room, list->size);
        if (items == NULL) {
            return NULL;
        }
        list->items = items;
        list->room = room;
    }
    return (char *)list->items + list->size * list->count++;
}

static int see_space(void *context, const firn_holding *holding) {
    space_list *spaces = context;
    const moved_space *items = spaces->items;
    if (spaces->count > 0 && strcmp(items[spaces->count - 1].ns, holding->ns) == 0) {
        return FIRN_OK;
    }
    moved_space *space = add(spaces);
    if (space == NULL) {
        return FIRN_EMEMORY;
    }
    snprintf(space->ns, sizeof space->ns, "%s", holding->ns);
    snprintf(space->layout, sizeof space->layout, "%s", holding->layout);
    space->keyed = holding->key[0] != '\0';
    return FIRN_OK;
}

static int see_key(void *context, const firn_holding *holding) {
    seen_key *found = add(context);
    if (found == NULL) {
        return FIRN_EMEMORY;
    }
    snprintf(found->key, sizeof found->key, "%s", holding->key);
    snprintf(found->note, sizeof found->note, "%s", holding->note != NULL ? holding->note : "");
    found->mark = holding->mark;
    return FIRN_OK;
}

/* The namespaces of a store, or the keys of one of them. The caller frees the items. */
static int read_list(space_list *out, const closing_end *end, const char *ns, firn_error *error) {
    *out = (space_list){.size = ns == NULL ? sizeof(moved_space) : sizeof(seen_key)};
    int code = firn_store_list(end->store, ns, ns == NULL ? see_space : see_key, out, error);
    return code == FIRN_EMEMORY ? set_error(error, code, "out of memory for the marks of %.60s",
                                            ns != NULL ? ns : end->name)
                                : code;
}

/* The layout of a namespace, or NULL. */
static const char *layout_in(const space_list *spaces, const char *ns) {
    const moved_space *all = spaces->items;
    for (size_t i = 0; i < spaces->count; i++) {
        if (strcmp(all[i].ns, ns) == 0) {
            return all[i].layout;
        }
    }
    return NULL;
}

/* ---- one namespace --------------------------------------------------------------------------- */

/* Reserves in the new store, and asks again if the outcome is unknown. */
static int reserve(const mark_move *move, const firn_request *request, firn_mark *held) {
    int code = FIRN_EUNKNOWN;
    int64_t first;
    for (int i = 0; i < 3 && code == FIRN_EUNKNOWN; i++) {
        code = firn_store_reserve(move->to->store, request, &first, held, move->error);
    }
    return code;
}

/* Raises the mark of a key as high as in the old store, with its grant, which can be a digest. */
static int copy_key(const mark_move *move, const char *ns, const char *layout,
                    const seen_key *from) {
    const firn_request request = {.ns = ns,
                                  .layout = layout,
                                  .key = from->key,
                                  .count = 1,
                                  .earliest = from->mark.high - 1,
                                  .latest = from->mark.high - 1,
                                  .grant = from->mark.grant,
                                  .note = from->note};
    firn_mark held;
    int code = reserve(move, &request, &held);
    return code == FIRN_EBUSY && held.high >= from->mark.high ? FIRN_OK : code;
}

/* Copies the marks that are not as in `before` (the last listing, sorted as this one; or NULL). */
static int copy_keys(const mark_move *move, const char *ns, const char *layout,
                     const space_list *now, const space_list *before) {
    const seen_key *keys = now->items, *old = before != NULL ? before->items : NULL;
    size_t count = before != NULL ? before->count : 0, position = 0;
    int code = FIRN_OK;
    for (size_t i = 0; i < now->count && code == FIRN_OK; i++) {
        while (position < count && strcmp(old[position].key, keys[i].key) < 0) {
            position++;
        }
        bool same = position < count && strcmp(old[position].key, keys[i].key) == 0 &&
                    old[position].mark.high == keys[i].mark.high &&
                    old[position].mark.grant == keys[i].mark.grant;
        if (!same && keys[i].mark.high > 0) {
            code = copy_key(move, ns, layout, &keys[i]);
        }
    }
    return code;
}

static enum stage stage_of(const mark_move *move, const char *layout) {
    return closing_for(layout, move->why[MOVED])    ? MOVED
           : closing_for(layout, move->why[MOVING]) ? MOVING
                                                    : OPEN;
}

/* The layouts of a namespace while it moves. */
typedef struct name_forms {
    enum stage stage;
    const char *layout; /* as the new store gets it */
    char moving[FIRN_LAYOUT_SIZE], moved[FIRN_LAYOUT_SIZE], arriving[FIRN_LAYOUT_SIZE];
} name_forms;

static int write_forms(name_forms *out, const mark_move *move, const char *layout) {
    out->stage = stage_of(move, layout);
    out->layout = out->stage == OPEN ? layout : closing_layout(layout);
    int code = closing_write(out->moving, move->why[MOVING], out->layout, move->error);
    if (code == FIRN_OK) {
        code = closing_write(out->moved, move->why[MOVED], out->layout, move->error);
    }
    return code == FIRN_OK ? closing_write(out->arriving, move->arriving, out->layout, move->error)
                           : code;
}

/* Ends the doubt about a closed namespace of the new store. */
static int trust(const mark_move *move, const char *ns, const char *closed) {
    const firn_request request = {.ns = ns,
                                  .layout = closed,
                                  .key = "1",
                                  .count = 1,
                                  .note = "firn store move",
                                  .guard = 1}; /* slot 0 is before it: nothing is granted */
    firn_mark held;
    int code = reserve(move, &request, &held);
    return code == FIRN_EBUSY ? FIRN_OK : code;
}

/* Closes a namespace in the new store, whose record is `there` (NULL: none). A store that lost
 * reservations (Redis: that was restarted) has lost nothing of a namespace that it has not granted:
 * all of it is copied again. The old store says so, and is asked again, because another run may be
 * faster. */
static int close_new(const mark_move *move, const moved_space *from, const name_forms *forms,
                     const char *there) {
    int code = closing_change(move->to->store, from->ns, there, forms->arriving, NULL, move->error);
    if (code != FIRN_EBACK) {
        return code;
    }
    if (forms->stage == MOVED) {
        return set_error(
            move->error, FIRN_EBACK,
            "%.60s lost reservations after it received namespace %.40s: restore a later copy "
            "of that store",
            move->to->name, from->ns);
    }
    code =
        closing_change(move->from->store, from->ns, from->layout, from->layout, NULL, move->error);
    if (code == FIRN_OK) {
        code = trust(move, from->ns, there != NULL ? there : forms->arriving);
    }
    return code == FIRN_OK ? closing_change(move->to->store, from->ns, there, forms->arriving, NULL,
                                            move->error)
                           : code;
}

/* Closes a namespace in the old store. Of one that was moved all was copied before, so it does not
 * matter whether that store lost reservations since. */
static int close_old(const mark_move *move, const char *ns, const name_forms *forms,
                     const char *was, const char *closed, int64_t *floor) {
    int code = closing_change(move->from->store, ns, was, closed, floor, move->error);
    return forms->stage == MOVED && code == FIRN_EBACK ? FIRN_OK : code;
}

/* Closes a namespace in the old store and copies the marks that differ from `before`. The record
 * of the new store is written last: its sync includes the marks. */
static int leave(const mark_move *move, const moved_space *from, const name_forms *forms,
                 const space_list *before, size_t *marks) {
    space_list last = {.items = NULL};
    int64_t floor = 0;
    int code = close_old(move, from->ns, forms, from->layout,
                         forms->stage == MOVED ? forms->moved : forms->moving, &floor);
    if (code == FIRN_OK) { /* from here on nothing changes there */
        code = read_list(&last, move->from, from->ns, move->error);
    }
    if (code == FIRN_OK) {
        code = copy_keys(move, from->ns, forms->arriving, &last, before);
    }
    if (code == FIRN_OK) {
        code = closing_change(move->to->store, from->ns, forms->arriving, forms->arriving, &floor,
                              move->error);
    }
    *marks = last.count;
    free(last.items);
    return code;
}

/* Copies the marks of a namespace that is open, closes it in the old store, copies the changes
 * since then, and opens it in the new one. Each step may have been done before. */
static int move_space(const mark_move *move, const moved_space *from) {
    name_forms forms;
    space_list first = {.items = NULL};
    size_t marks = 0;
    int code = write_forms(&forms, move, from->layout);
    if (code == FIRN_OK) {
        code = read_list(&first, move->from, from->ns, move->error);
    }
    if (code == FIRN_OK) {
        code = copy_keys(move, from->ns, forms.arriving, &first, NULL);
    }
    if (code == FIRN_OK) {
        code = leave(move, from, &forms, &first, &marks);
    }
    /* refused if the old store lost reservations, so that a mark is too low */
    if (code == FIRN_OK) {
        code = close_old(move, from->ns, &forms, forms.stage == MOVED ? forms.moved : forms.moving,
                         forms.moved, NULL);
    }
    if (code == FIRN_OK) {
        code = closing_change(move->to->store, from->ns, forms.arriving, forms.layout, NULL,
                              move->error);
    }
    move->moved->namespaces += code == FIRN_OK;
    move->moved->marks += code == FIRN_OK ? marks : 0;
    free(first.items);
    return code;
}

static int refuse_missing(const mark_move *move, const char *ns) {
    return set_error(move->error, FIRN_EUSAGE,
                     "namespace %.40s is missing in %.60s: restore that store, which has the later "
                     "marks",
                     ns, move->to->name);
}

/* The layout without what closes it and without the nodes that are claimed. */
static const char *bare_layout(const char *layout) {
    firn__claims unused;
    while (closing_layout(layout) != layout) {
        layout = closing_layout(layout);
    }
    return firn__confined_read(layout, &unused);
}

/* After a move the new store has the namespace, with its layout; else it is not the store that was
 * moved to, or somebody has made the namespace again. */
static int check_moved(const mark_move *move, const moved_space *from, const char *there) {
    if (there == NULL) {
        return refuse_missing(move, from->ns);
    }
    return strcmp(bare_layout(there), bare_layout(from->layout)) == 0
               ? FIRN_OK
               : set_error(move->error, FIRN_EUSAGE,
                           "namespace %.40s of %.60s has layout '%.60s', which was not moved "
                           "there: restore that store",
                           from->ns, move->to->name, bare_layout(there));
}

/* Makes the closed record of a namespace in the new store, unless the move has passed there: then
 * the new store may have closed it again, or confined its claims. The layout may have been closed
 * or opened in the old store since an earlier run; the library refuses any other one. */
static int prepare_space(const mark_move *move, const moved_space *from, const char *there,
                         bool *done) {
    name_forms forms;
    int code = write_forms(&forms, move, from->layout);
    *done = code == FIRN_OK && there != NULL && !closing_for(there, move->arriving) &&
            (forms.stage == MOVED || (forms.stage == MOVING && strcmp(there, forms.layout) == 0));
    if (code != FIRN_OK || *done) {
        return code == FIRN_OK ? check_moved(move, from, there) : code;
    }
    if (there != NULL && !closing_for(there, move->arriving)) {
        return set_error(move->error, FIRN_EUSAGE,
                         "namespace %.40s is in use in %.60s: move to an empty store", from->ns,
                         move->to->name);
    }
    if (there == NULL && forms.stage == MOVED) {
        return refuse_missing(move, from->ns);
    }
    if (forms.stage == OPEN && closing_is(from->layout, "mov")) {
        return set_error(move->error, FIRN_EUSAGE, "namespace %.40s of %.50s is closed (%.80s)",
                         from->ns, move->from->name, from->layout + strlen("closed ("));
    }
    return close_new(move, from, &forms, there);
}

/* ---- the whole store ------------------------------------------------------------------------- */

static int move_spaces(const mark_move *move, const space_list *from, const space_list *to) {
    const moved_space *spaces = from->items;
    int code = FIRN_OK;
    for (size_t i = 0; i < from->count && code == FIRN_OK; i++) {
        bool done = false;
        if (strcmp(spaces[i].ns, ALL_NAMES) == 0) {
            continue;
        }
        code = prepare_space(move, &spaces[i], layout_in(to, spaces[i].ns), &done);
        if (code == FIRN_OK && !done) {
            code = move_space(move, &spaces[i]);
        }
    }
    return code;
}

/* Does the new store have a namespace that this move has not brought? A refused attempt leaves the
 * record of all names, open and without a key. */
static int check_empty(const mark_move *move, const space_list *list) {
    const moved_space *spaces = list->items;
    for (size_t i = 0; i < list->count; i++) {
        bool unused = strcmp(spaces[i].ns, ALL_NAMES) == 0 && !spaces[i].keyed &&
                      strcmp(spaces[i].layout, ALL_OPEN) == 0;
        if (!unused && !closing_for(spaces[i].layout, move->arriving)) {
            return set_error(move->error, FIRN_EUSAGE,
                             "%.60s is in use: it has the namespace %.40s: move to an empty store",
                             move->to->name, spaces[i].ns);
        }
    }
    return FIRN_OK;
}

/* Can the old store close each of its namespaces, and is there room for the reasons? Changes no
 * layout. */
static int check_fit(const mark_move *move, const space_list *from) {
    const moved_space *spaces = from->items;
    int code = FIRN_OK;
    for (size_t i = 0; i < from->count && code == FIRN_OK; i++) {
        const char *layout = spaces[i].layout;
        name_forms forms;
        code = write_forms(&forms, move, layout);
        if (code == FIRN_OK) {
            code =
                closing_change(move->from->store, spaces[i].ns, layout, layout, NULL, move->error);
        }
    }
    return code;
}

/* A move is complete: does the new store still have everything? */
static int check_there(const mark_move *move, const space_list *from, const space_list *to) {
    const moved_space *spaces = from->items;
    int code = FIRN_OK;
    for (size_t i = 0; i < from->count && code == FIRN_OK; i++) {
        code = check_moved(move, &spaces[i], layout_in(to, spaces[i].ns));
    }
    return code;
}

/* Both stores, and the record of all names in each. */
typedef struct both {
    space_list from, to;
    const char *old, *new; /* layouts; NULL: no record */
    moved_space all;       /* in the old store */
    name_forms forms;
} both;

/* Reads the new store first: another run of this move opens a namespace there only after it has
 * shut the old one. */
static int read_both(const mark_move *move, both *out) {
    free(out->from.items);
    free(out->to.items);
    *out = (both){.all = {.ns = ALL_NAMES}};
    int code = read_list(&out->to, move->to, NULL, move->error);
    code = code == FIRN_OK ? read_list(&out->from, move->from, NULL, move->error) : code;
    if (code == FIRN_OK) {
        out->new = layout_in(&out->to, ALL_NAMES);
        out->old = layout_in(&out->from, ALL_NAMES);
        snprintf(out->all.layout, sizeof out->all.layout, "%s",
                 out->old != NULL ? out->old : ALL_OPEN);
        code = write_forms(&out->forms, move, out->all.layout);
    }
    return code;
}

/* Looks again, now that the new store takes no new names, and stops new names in the old one. */
static int shut_old(const mark_move *move, both *ends) {
    int code = read_both(move, ends);
    if (code != FIRN_OK || ends->forms.stage == MOVED) {
        return code;
    }
    if (ends->forms.stage == OPEN && ends->old != NULL && closing_is(ends->old, "mov")) {
        /* If both are one store, it has just closed itself. */
        return set_error(move->error, FIRN_EUSAGE,
                         "%.60s is closed for new names (%.90s): name two different stores",
                         move->from->name, ends->old + strlen("closed ("));
    }
    code = ends->forms.stage == OPEN ? check_empty(move, &ends->to) : FIRN_OK;
    if (code == FIRN_OK) {
        code = closing_change(move->from->store, ALL_NAMES, ends->old, ends->forms.moving, NULL,
                              move->error);
    }
    return code == FIRN_OK ? read_both(move, ends) : code;
}

/* Stops new names in the new store, then in the old one. */
static int shut_both(const mark_move *move, both *ends) {
    char arriving[FIRN_LAYOUT_SIZE], open[FIRN_LAYOUT_SIZE];
    firn_error unused;
    int code = ends->forms.stage == OPEN ? closing_change(move->to->store, ALL_NAMES, ends->new,
                                                          ends->forms.arriving, NULL, move->error)
                                         : close_new(move, &ends->all, &ends->forms, ends->new);
    snprintf(arriving, sizeof arriving, "%s", ends->forms.arriving);
    snprintf(open, sizeof open, "%s", ends->forms.layout);
    code = code == FIRN_OK ? shut_old(move, ends) : code;
    if (code == FIRN_EUSAGE) { /* no run of this move gets further, so none needs it shut */
        closing_change(move->to->store, ALL_NAMES, arriving, open, NULL, &unused);
    }
    return code;
}

/* Checks both stores and stops new names in them. *over: the move was complete; the new store may
 * have moved on since. */
static int shut(const mark_move *move, both *ends, bool *over) {
    int code = read_both(move, ends);
    if (code != FIRN_OK) {
        return code;
    }
    const enum stage stage = ends->forms.stage;
    *over = stage == MOVED && ends->new != NULL && !closing_for(ends->new, move->arriving);
    if (*over) {
        return check_there(move, &ends->from, &ends->to);
    }
    if (stage == MOVED && ends->new == NULL) {
        return set_error(move->error, FIRN_EUSAGE,
                         "%.60s was moved to %.60s, which is empty: restore that store",
                         move->from->name, move->to->name);
    }
    code = stage == OPEN ? check_empty(move, &ends->to) : FIRN_OK;
    if (code == FIRN_OK && stage == OPEN) {
        code = check_fit(move, &ends->from);
    }
    return code == FIRN_OK ? shut_both(move, ends) : code;
}

int closing_move(const closing_end *from, const closing_end *to, closing_moved *moved,
                 firn_error *error) {
    mark_move move = {.from = from, .to = to, .moved = moved, .error = error};
    both ends = {.old = NULL};
    bool over = false;
    *moved = (closing_moved){0, 0};
    snprintf(move.why[MOVING], CLOSING_WHY_SIZE, "moving to %.120s", to->name);
    snprintf(move.why[MOVED], CLOSING_WHY_SIZE, "moved to %.120s", to->name);
    snprintf(move.arriving, CLOSING_WHY_SIZE, "moving from %.120s", from->name);
    int code = shut(&move, &ends, &over);
    if (code == FIRN_OK && !over) {
        code = move_spaces(&move, &ends.from, &ends.to);
    }
    if (code == FIRN_OK && !over) { /* "integer *" can be in use as a segment, too */
        const closing_moved counted = *moved;
        code = move_space(&move, &ends.all);
        *moved = counted;
    }
    free(ends.from.items);
    free(ends.to.items);
    return code;
}
