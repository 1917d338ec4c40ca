/* SPDX-License-Identifier: MIT */
/* The texts of closed layouts, and a change of one: see closing.h. */
#include "closing.h"

#include "errors.h"

#include <stdio.h>
#include <string.h>

#define BEGIN "closed ("
#define END   "): "

const char *closing_layout(const char *layout) {
    const char *end = strncmp(layout, BEGIN, sizeof BEGIN - 1) == 0 ? strstr(layout, END) : NULL;
    return end != NULL ? end + sizeof END - 1 : layout;
}

bool closing_is(const char *layout, const char *why) {
    return closing_layout(layout) != layout &&
           strncmp(layout + sizeof BEGIN - 1, why, strlen(why)) == 0;
}

bool closing_for(const char *layout, const char *why) {
    return closing_is(layout, why) &&
           strncmp(layout + sizeof BEGIN - 1 + strlen(why), END, sizeof END - 1) == 0;
}

char *closing_why(char why[CLOSING_WHY_SIZE], const char *layout) {
    const char *rest = closing_layout(layout);
    size_t outside = sizeof BEGIN - 1 + sizeof END - 1;
    int length = rest == layout ? 0 : (int)((size_t)(rest - layout) - outside);
    snprintf(why, CLOSING_WHY_SIZE, "%.*s", length, layout + (length > 0 ? sizeof BEGIN - 1 : 0));
    return why;
}

int closing_write(char out[FIRN_LAYOUT_SIZE], const char *why, const char *layout,
                  firn_error *error) {
    if (strstr(why, END) != NULL) {
        return set_error(error, FIRN_EUSAGE, "'%.120s' contains '" END "': use another URL", why);
    }
    int length = snprintf(out, FIRN_LAYOUT_SIZE, BEGIN "%s" END "%s", why, layout);
    return length < FIRN_LAYOUT_SIZE
               ? FIRN_OK
               : set_error(error, FIRN_ERANGE,
                           "the layout '%.40s...' and '%.40s' together have more than %d "
                           "characters: use a shorter URL",
                           layout, why, FIRN_LAYOUT_SIZE - 1);
}

int closing_change(firn_store *store, const char *ns, const char *from, const char *to,
                   int64_t *floor, firn_error *error) {
    int64_t unused = 0, *stored = floor != NULL ? floor : &unused;
    const firn_relabel change = {ns, from, to, *stored, false};
    int code = FIRN_EUNKNOWN;
    for (int i = 0; i < 3 && code == FIRN_EUNKNOWN; i++) {
        code = firn_store_relabel(store, &change, stored, error);
    }
    return code;
}
