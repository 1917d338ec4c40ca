/* SPDX-License-Identifier: MIT */
/* Closed namespaces, and a store's move to another store. A namespace is closed by its layout,
 * "closed (WHY): LAYOUT", which every reservation compares; its high-water marks stay. Says nothing
 * to anybody: that is the caller's part. */
#ifndef FIRN_CLOSING_H
#define FIRN_CLOSING_H

#include "../src/confined.h" // IWYU pragma: export

#include <firn/firn.h>

#define CLOSING_WHY_SIZE 160 /* room for the reason */

/* The layout without what closes it. */
const char *closing_layout(const char *layout);
/* Is it closed, for a reason that begins with `why`? */
bool closing_is(const char *layout, const char *why);
/* Is it closed for exactly this reason? */
bool closing_for(const char *layout, const char *why);
/* The reason, "" if the layout is open. Returns `why`. */
char *closing_why(char why[CLOSING_WHY_SIZE], const char *layout);
/* Closes a layout. FIRN_ERANGE: it becomes too long; FIRN_EUSAGE: `why` contains what ends it. */
int closing_write(char out[FIRN_LAYOUT_SIZE], const char *why, const char *layout,
                  firn_error *error);

/* Replaces a layout; repeats a change whose outcome is unknown. `from` and *floor as in firn.h;
 * floor may be NULL. */
int closing_change(firn_store *store, const char *ns, const char *from, const char *to,
                   int64_t *floor, firn_error *error);

/* A store of the two, and its URL without password and parameters. */
typedef struct closing_end {
    firn_store *store;
    const char *name;
} closing_end;

typedef struct closing_moved {
    size_t namespaces, marks; /* that this call moved; 0: all were there already */
} closing_moved;

/* Moves every namespace of a store to an empty one, each at once, so that at every moment at most
 * one of the two grants slots of it. Interrupted anywhere, it continues where it was when called
 * again. FIRN_EUSAGE: the stores are not fit for it. */
int closing_move(const closing_end *from, const closing_end *to, closing_moved *moved,
                 firn_error *error);

#endif
