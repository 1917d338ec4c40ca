/* SPDX-License-Identifier: MIT */
/* The sections [generator NAME], [segment NAME] and [series NAME] of the configuration, in their
 * order. */
#ifndef FIRN_SECTIONS_H
#define FIRN_SECTIONS_H

#include "core/generator.h"
#include "settings/setting.h"

enum section_kind { SECTION_GENERATOR, SECTION_SEGMENT, SECTION_SERIES, SECTION_KINDS };
/* By kind: "generator", ... */
extern const char *const section_names[SECTION_KINDS + 1];

/* [generator NAME] has scheme, store, as, prefix, and the keys of the generator; [segment NAME] and
 * [series NAME] have store, and the keys of the segment or series. */
typedef struct config_section {
    enum section_kind kind;
    char name[NAME_SIZE], scheme[KEYS_SIZE], keys[KEYS_SIZE], store[SETTING_SIZE], form[24],
        prefix[66];
    char where[300]; /* file and line, for messages */
} config_section;

typedef struct config_sections {
    config_section *all;
    size_t count;
} config_sections;

/* A section by its name, or NULL. */
const config_section *sections_find(const config_sections *in, enum section_kind kind,
                                    const char *name);
/* A generator with the same node= and the same scheme, store and ns as `config_section`, or
 * NULL. */
const config_section *sections_with_node_of(const config_sections *in,
                                            const config_section *section);
/* Appends a copy. FIRN_EMEMORY. */
int sections_add(config_sections *sections, const config_section *added, firn_error *error);
void sections_free(config_sections *sections);

#endif
