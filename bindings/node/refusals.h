/* SPDX-License-Identifier: MIT */
/* Refusals of the packages for Node.js and WebAssembly that the library does not make, in the same
 * words. */
#ifndef FIRN_REFUSALS_H
#define FIRN_REFUSALS_H

#include <firn/firn.h>
#include <stddef.h>

/* The form of a name, or the scheme's own form if it is NULL. -1: `error` says why. */
static inline int form_of(const char *name, const firn_scheme *scheme, firn_error *error) {
    const int form = name != NULL ? firn_form_find(name) : scheme->form;
    if (form < 0) {
        firn_error_set(error, FIRN_EUSAGE, FIRN_CURE_OTHER, "there is no form '%.40s': see forms()",
                       name);
        return -1;
    }
    if (firn_form_width(form, scheme->bits) == 0) {
        firn_error_set(error, FIRN_EUSAGE, FIRN_CURE_OTHER,
                       "an ID of %u bits has no form %s: use another form", (unsigned)scheme->bits,
                       firn_form_name(form));
        return -1;
    }
    return form;
}

/* Refuses the scheme if its texts cannot bound a range. */
static inline int check_bounds(const firn_scheme *scheme, firn_error *error) {
    return scheme->form != FIRN_FORM_DATED || scheme->node_rule != FIRN_NODE_REQUIRED
               ? FIRN_OK
               : firn_error_set(error, FIRN_EUNSORTED, FIRN_CURE_OTHER,
                                "IDs of %s have texts of several lengths, so texts cannot bound a "
                                "range: compare their first 17 digits, or the IDs as bytes",
                                scheme->name);
}

#endif
