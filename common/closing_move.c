/* SPDX-License-Identifier: MIT */
/* A store's move to another one: see closing.h, and docs/explanation/uniqueness.md for why no crash
 * leads to a duplicate. */
#include "closing.h"

#include "fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALL_NAMES "integer *" /* while its record is closed, no other namespace gets one */
#define ALL_OPEN  "integer"

typedef struct space {
    char ns[FIRN_NS_SIZE], layout[FIRN_LAYOUT_SIZE];
} space;

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
    char leaving[CLOSING_WHY_SIZE], arriving[CLOSING_WHY_SIZE]; /* why they are closed */
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
    int code = FIRN_EUNKNOWN;
    int64_t first;
    firn_mark held;
    for (int i = 0; i < 3 && code == FIRN_EUNKNOWN; i++) {
        code = firn_store_reserve(it->to->store, &request, &first, &held, it->error);
    }
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

/* Copies the marks of a namespace that is open, closes it in the old store, copies what changed
 * meanwhile, and opens it in the new one. Each step may have been done before. */
static int move_space(const move *it, const space *from) {
    const char *layout =
        closing_is(from->layout, it->leaving) ? closing_layout(from->layout) : from->layout;
    char leaving[FIRN_LAYOUT_SIZE], arriving[FIRN_LAYOUT_SIZE];
    list first = {.items = NULL}, last = {.items = NULL};
    int64_t floor = 0;
    int code = closing_write(leaving, it->leaving, layout, it->error);
    if (code == FIRN_OK) {
        code = closing_write(arriving, it->arriving, layout, it->error);
    }
    if (code == FIRN_OK) {
        code = read_list(&first, it->from, from->ns, it->error);
    }
    if (code == FIRN_OK) {
        code = copy_keys(it, from->ns, arriving, &first, NULL);
    }
    if (code == FIRN_OK) {
        code = closing_change(it->from->store, from->ns, layout, leaving, &floor, it->error);
    }
    if (code == FIRN_OK) { /* from here on nothing changes there */
        code = read_list(&last, it->from, from->ns, it->error);
    }
    if (code == FIRN_OK) {
        code = copy_keys(it, from->ns, arriving, &last, &first);
    }
    if (code == FIRN_OK) {
        code = closing_change(it->to->store, from->ns, arriving, layout, &floor, it->error);
    }
    it->moved->namespaces += code == FIRN_OK;
    it->moved->marks += code == FIRN_OK ? last.count : 0;
    free(first.items);
    free(last.items);
    return code;
}

/* Makes the closed record of a namespace in the new store, unless the move has passed there. */
static int prepare_space(const move *it, const space *from, const char *there, bool *done) {
    bool left = closing_is(from->layout, it->leaving);
    const char *layout = left ? closing_layout(from->layout) : from->layout;
    char arriving[FIRN_LAYOUT_SIZE];
    int code = closing_write(arriving, it->arriving, layout, it->error);
    *done = left && there != NULL && strcmp(there, layout) == 0;
    if (code != FIRN_OK || *done || (there != NULL && strcmp(there, arriving) == 0)) {
        return code;
    }
    if (there != NULL || left) {
        return set_error(it->error, FIRN_EUSAGE, "namespace %.40s %s %.60s: %s", from->ns,
                         there != NULL ? "is in use in" : "is missing in", it->to->name,
                         there != NULL ? "move to an empty store"
                                       : "restore that store, which has the later marks");
    }
    if (closing_is(from->layout, "moved to") || closing_is(from->layout, "moving from")) {
        return set_error(it->error, FIRN_EUSAGE, "namespace %.40s of %.50s is closed (%.80s)",
                         from->ns, it->from->name, from->layout + strlen("closed ("));
    }
    return closing_change(it->to->store, from->ns, NULL, arriving, NULL, it->error);
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

/* Does the new store have a namespace that this move has not brought? */
static int check_empty(const move *it, const list *to) {
    const space *spaces = to->items;
    for (size_t i = 0; i < to->count; i++) {
        if (!closing_is(spaces[i].layout, it->arriving)) {
            return set_error(it->error, FIRN_EUSAGE,
                             "%.60s is in use: it has the namespace %.40s: move to an empty store",
                             it->to->name, spaces[i].ns);
        }
    }
    return FIRN_OK;
}

/* Can the old store close each of its namespaces, and is there room for the reasons? Changes nothing. */
static int check_fit(const move *it, const list *from) {
    const space *spaces = from->items;
    int code = FIRN_OK;
    for (size_t i = 0; i < from->count && code == FIRN_OK; i++) {
        const char *layout = spaces[i].layout;
        char longer[FIRN_LAYOUT_SIZE];
        code = closing_write(longer, it->leaving, layout, it->error);
        if (code == FIRN_OK) {
            code = closing_write(longer, it->arriving, layout, it->error);
        }
        if (code == FIRN_OK) {
            code = closing_change(it->from->store, spaces[i].ns, layout, layout, NULL, it->error);
        }
    }
    return code;
}

/* Looks again, now that the new store takes no new names, and stops new names in the old one. It reads the
 * new store first: another run of this move opens a namespace there only after it has shut the old one. */
static int shut_old(const move *it, const char *arriving, const char *leaving) {
    list from = {.items = NULL}, to = {.items = NULL};
    int code = closing_change(it->to->store, ALL_NAMES, NULL, arriving, NULL, it->error);
    code = code == FIRN_OK ? read_list(&to, it->to, NULL, it->error) : code;
    code = code == FIRN_OK ? read_list(&from, it->from, NULL, it->error) : code;
    const char *old = code == FIRN_OK ? layout_in(&from, ALL_NAMES) : NULL;
    bool left = old != NULL && strcmp(old, leaving) == 0;
    if (code == FIRN_OK && !left && old != NULL && closing_is(old, "mov")) {
        /* If both are one store, it has just closed itself. */
        code = set_error(it->error, FIRN_EUSAGE,
                         "%.60s is closed for new names (%.90s): name two different stores",
                         it->from->name, old + strlen("closed ("));
    } else if (code == FIRN_OK && !left) {
        code = check_empty(it, &to);
    }
    if (code == FIRN_OK && !left) {
        code = closing_change(it->from->store, ALL_NAMES, old, leaving, NULL, it->error);
    }
    free(from.items);
    free(to.items);
    return code;
}

/* Stops new names in the new store, then in the old one. */
static int shut_both(const move *it, const char *arriving, const char *leaving) {
    firn_error unused;
    int code = shut_old(it, arriving, leaving);
    if (code == FIRN_EUSAGE) { /* no run of this move gets further, so none needs it shut */
        closing_change(it->to->store, ALL_NAMES, arriving, ALL_OPEN, NULL, &unused);
    }
    return code;
}

/* Checks both stores and stops new names in them. *over: the move was complete. */
static int shut(const move *it, bool *over) {
    char leaving[FIRN_LAYOUT_SIZE], arriving[FIRN_LAYOUT_SIZE];
    list from = {.items = NULL}, to = {.items = NULL};
    int code = closing_write(leaving, it->leaving, ALL_OPEN, it->error);
    code = code == FIRN_OK ? closing_write(arriving, it->arriving, ALL_OPEN, it->error) : code;
    code = code == FIRN_OK ? read_list(&from, it->from, NULL, it->error) : code;
    code = code == FIRN_OK ? read_list(&to, it->to, NULL, it->error) : code;
    const char *old = code == FIRN_OK ? layout_in(&from, ALL_NAMES) : NULL;
    const char *new = code == FIRN_OK ? layout_in(&to, ALL_NAMES) : NULL;
    bool left = old != NULL && strcmp(old, leaving) == 0;
    *over = left && new != NULL &&strcmp(new, ALL_OPEN) == 0;
    if (code == FIRN_OK && left && new == NULL) {
        code = set_error(it->error, FIRN_EUSAGE,
                         "%.60s was moved to %.60s, which is empty: restore that store",
                         it->from->name, it->to->name);
    }
    if (code == FIRN_OK && !left) {
        code = check_empty(it, &to);
    }
    if (code == FIRN_OK && !left) {
        code = check_fit(it, &from);
    }
    free(from.items);
    free(to.items);
    return code != FIRN_OK || left ? code : shut_both(it, arriving, leaving);
}

int closing_move(const closing_end *from, const closing_end *to, closing_moved *moved,
                 firn_error *error) {
    move it = {.from = from, .to = to, .moved = moved, .error = error};
    list old = {.items = NULL}, new = {.items = NULL};
    bool over = false;
    char arriving[FIRN_LAYOUT_SIZE];
    *moved = (closing_moved){0, 0};
    snprintf(it.leaving, sizeof it.leaving, "moved to %.120s", to->name);
    snprintf(it.arriving, sizeof it.arriving, "moving from %.120s", from->name);
    int code = shut(&it, &over);
    if (code == FIRN_OK) {
        code = read_list(&old, from, NULL, error);
    }
    if (code == FIRN_OK) {
        code = read_list(&new, to, NULL, error);
    }
    if (code == FIRN_OK && !over) {
        code = move_spaces(&it, &old, &new);
    }
    if (code == FIRN_OK) {
        code = closing_write(arriving, it.arriving, ALL_OPEN, error);
    }
    if (code == FIRN_OK && !over) { /* "integer *" can be in use as a segment, too */
        free(old.items);
        code = read_list(&old, from, ALL_NAMES, error);
        code = code == FIRN_OK ? copy_keys(&it, ALL_NAMES, arriving, &old, NULL) : code;
    }
    if (code == FIRN_OK && !over) {
        code = closing_change(to->store, ALL_NAMES, arriving, ALL_OPEN, NULL, error);
    }
    free(old.items);
    free(new.items);
    return code;
}
