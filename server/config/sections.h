/* SPDX-License-Identifier: MIT */
/* The sections [generator NAME] and [segment NAME] of the configuration, in their order. */
#ifndef FIRN_SECTIONS_H
#define FIRN_SECTIONS_H

#include "core/generator.h"
#include "setting.h"

/* [generator NAME] has scheme, store, as, prefix, and the keys of the generator; [segment NAME] has
 * store, and the keys of the segment. */
typedef struct section {
    bool is_segment;
    char name[NAME_SIZE], scheme[KEYS_SIZE], keys[KEYS_SIZE], store[SETTING_SIZE], form[24],
        prefix[66];
    char where[300]; /* file and line, for messages */
} section;

typedef struct sections {
    section *all;
    size_t count;
} sections;

/* A section by its name, or NULL. */
const section *sections_find(const sections *in, bool is_segment, const char *name);
/* A generator with the same node= and the same scheme, store and ns as `section`, or NULL. */
const section *sections_with_node_of(const sections *in, const section *of);
/* Appends a copy. FIRN_EMEMORY. */
int sections_add(sections *to, const section *added, firn_error *error);
void sections_free(sections *it);

#endif
