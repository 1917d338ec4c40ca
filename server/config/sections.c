/* SPDX-License-Identifier: MIT */
#include "sections.h"

#include "errors.h"

#include <stdlib.h>
#include <string.h>

const section *sections_find(const sections *in, bool is_segment, const char *name) {
    for (size_t i = 0; i < in->count; i++) {
        if (in->all[i].is_segment == is_segment && strcmp(in->all[i].name, name) == 0) {
            return &in->all[i];
        }
    }
    return NULL;
}

static bool has_same(const section *a, const section *b, const char *key) {
    char x[FIRN_NS_SIZE], y[FIRN_NS_SIZE];
    return strcmp(keys_value(x, a->keys, key), keys_value(y, b->keys, key)) == 0;
}

const section *sections_with_node_of(const sections *in, const section *of) {
    static const char *const place[] = {"node", "ns", "epoch", "bits"};
    char node[FIRN_NS_SIZE];
    if (of->is_segment || keys_value(node, of->keys, "node")[0] == '\0') {
        return NULL;
    }
    for (size_t i = 0; i < in->count; i++) {
        const section *other = &in->all[i];
        bool same = !other->is_segment && strcmp(other->name, of->name) != 0 &&
                    strcmp(other->scheme, of->scheme) == 0 && strcmp(other->store, of->store) == 0;
        for (size_t j = 0; same && j < sizeof place / sizeof *place; j++) {
            same = has_same(other, of, place[j]);
        }
        if (same) {
            return other;
        }
    }
    return NULL;
}

int sections_add(sections *to, const section *added, firn_error *error) {
    if ((to->count & (to->count - 1)) ==
        0) { /* the count is a power of two, so the array is full */
        size_t room = to->count == 0 ? 1 : to->count * 2;
        section *more = realloc(to->all, room * sizeof *more);
        if (more == NULL) {
            return out_of_memory(error);
        }
        to->all = more;
    }
    to->all[to->count++] = *added;
    return FIRN_OK;
}

void sections_free(sections *it) {
    free(it->all);
    *it = (sections){NULL, 0};
}
