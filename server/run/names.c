/* SPDX-License-Identifier: MIT */
#include "names.h"
#include "core/catalog.h"
#include "core/log.h"
#include "errors.h"

#include <stdio.h>
#include <string.h>

static int add_name(const section *it, firn_error *error) {
    return it->is_segment ? catalog_add_segment(it->name, it->keys, it->store, error)
                          : catalog_add_generator(it->name, it->scheme, it->keys, it->store,
                                                  it->form, it->prefix, error);
}

static int check_name(const section *it, firn_error *error) {
    return it->is_segment ? catalog_check_segment(it->name, it->keys, it->store, error)
                          : catalog_check_generator(it->name, it->scheme, it->keys, it->store,
                                                    it->form, it->prefix, error);
}

/* Stops at the first failure, which names its section. */
static int take_names(const sections *them, int (*take)(const section *, firn_error *),
                      firn_error *error) {
    int code = FIRN_OK;
    for (size_t i = 0; i < them->count && code == FIRN_OK; i++) {
        const section *one = &them->all[i];
        code = take(one, error);
        if (code != FIRN_OK) {
            prefix_error(error, code, error, "%.80s: ", one->where);
        }
    }
    return code;
}

int names_add(const sections *them, firn_error *error) {
    return take_names(them, add_name, error);
}

int names_check(const sections *them, firn_error *error) {
    return take_names(them, check_name, error);
}

/* ---- reload --------------------------------------------------------------------------------- */

static bool is_same(const section *a, const section *b) {
    return strcmp(a->scheme, b->scheme) == 0 && strcmp(a->keys, b->keys) == 0 &&
           strcmp(a->store, b->store) == 0 && strcmp(a->form, b->form) == 0 &&
           strcmp(a->prefix, b->prefix) == 0;
}

static bool is_served(const section *it) {
    word name = word_of(it->name);
    return it->is_segment ? catalog_segment(name) != NULL : catalog_generator(name) != NULL;
}

static void tell_name(enum log_level level, const char *event, const section *it, const char *why) {
    log_event(level, event, it->is_segment ? "segment" : "generator", it->name,
              why != NULL ? "why" : NULL, why, NULL);
}

static void add_while_serving(sections *served, const section *it) {
    firn_error error;
    int code = sections_add(served, it, &error);
    if (code == FIRN_OK) {
        code = add_name(it, &error);
        served->count -= code != FIRN_OK;
    }
    if (code == FIRN_OK) {
        tell_name(LOG_LEVEL_INFO, "added", it, NULL);
    } else {
        tell_name(LOG_LEVEL_ERROR, "not added", it, error.text);
    }
}

/* Why a new section needs a restart; NULL: it does not. It must issue the same as after a restart,
 * from the same store. */
static const char *why_later(const config *now, const settings *fresh, const section *it) {
    if (it->store[0] == '\0' && strcmp(fresh->store, now->set.store) != 0) {
        return "the setting store changed, which needs a restart";
    }
    if (fresh->unsafe != now->set.unsafe) {
        return "the setting unsafe changed, which needs a restart";
    }
    if (!it->is_segment && firn_scheme_find(it->name) != NULL) {
        return "clients may already have IDs of the scheme with this name";
    }
    if (sections_with_node_of(&now->sections, it) != NULL) {
        return "another generator has the same node";
    }
    return is_served(it) ? "it was created on demand before it was configured" : NULL;
}

static void take_new_name(config *now, const settings *fresh, const section *it) {
    const char *why = why_later(now, fresh, it);
    if (why == NULL) {
        add_while_serving(&now->sections, it);
    } else {
        tell_name(LOG_LEVEL_WARNING, "needs a restart", it, why);
    }
}

static void tell_changed(const section *was) {
    char why[300];
    snprintf(why, sizeof why, "until then the old settings apply: scheme=%.100s %.150s",
             was->scheme, was->keys);
    tell_name(LOG_LEVEL_WARNING, "needs a restart", was,
              was->is_segment ? "until then the old settings apply" : why);
}

void names_take_new(config *now, const config *fresh) {
    for (size_t i = 0; i < now->sections.count; i++) {
        const section *was = &now->sections.all[i];
        if (sections_find(&fresh->sections, was->is_segment, was->name) == NULL) {
            tell_name(LOG_LEVEL_WARNING, "needs a restart", was, "its section was removed");
        }
    }
    for (size_t i = 0; i < fresh->sections.count; i++) {
        const section *it = &fresh->sections.all[i];
        const section *was = sections_find(&now->sections, it->is_segment, it->name);
        if (was == NULL) {
            take_new_name(now, &fresh->set, it);
        } else if (!is_same(was, it)) {
            tell_changed(was);
        }
    }
}
