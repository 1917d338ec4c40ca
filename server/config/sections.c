/* SPDX-License-Identifier: MIT */
#include "sections.h"

#include "errors.h"

#include <stdlib.h>
#include <string.h>

const char *const section_names[SECTION_KINDS + 1] = {"generator", "segment", "series", NULL};

const config_section *sections_find(const config_sections *in, enum section_kind kind,
                                    const char *name) {
    for (size_t i = 0; i < in->count; i++) {
        if (in->all[i].kind == kind && strcmp(in->all[i].name, name) == 0) {
            return &in->all[i];
        }
    }
    return NULL;
}

static bool has_same(const config_section *a, const config_section *b, const char *key) {
    char x[FIRN_NS_SIZE], y[FIRN_NS_SIZE];
    return strcmp(keys_value(x, a->keys, key), keys_value(y, b->keys, key)) == 0;
}

const config_section *sections_with_node_of(const config_sections *in,
                                            const config_section *section) {
    static const char *const place[] = {"node", "ns", "epoch", "bits"};
    char node[FIRN_NS_SIZE];
    if (section->kind != SECTION_GENERATOR || keys_value(node, section->keys, "node")[0] == '\0') {
        return NULL;
    }
    for (size_t i = 0; i < in->count; i++) {
        const config_section *other = &in->all[i];
        bool same = other->kind == SECTION_GENERATOR && strcmp(other->name, section->name) != 0 &&
                    strcmp(other->scheme, section->scheme) == 0 &&
                    strcmp(other->store, section->store) == 0;
        for (size_t j = 0; same && j < sizeof place / sizeof *place; j++) {
            same = has_same(other, section, place[j]);
        }
        if (same) {
            return other;
        }
    }
    return NULL;
}

int sections_add(config_sections *sections, const config_section *added, firn_error *error) {
    if ((sections->count & (sections->count - 1)) ==
        0) { /* the count is a power of two, so the array is full */
        size_t room = sections->count == 0 ? 1 : sections->count * 2;
        config_section *more = realloc(sections->all, room * sizeof *more);
        if (more == NULL) {
            return out_of_memory(error);
        }
        sections->all = more;
    }
    sections->all[sections->count++] = *added;
    return FIRN_OK;
}

void sections_free(config_sections *sections) {
    free(sections->all);
    *sections = (config_sections){NULL, 0};
}
