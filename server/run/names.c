/* SPDX-License-Identifier: MIT */
#include "names.h"
#include "core/catalog.h"
#include "core/log.h"
#include "errors.h"

#include <stdio.h>
#include <string.h>

static int add_name(const config_section *section, firn_error *error) {
    switch (section->kind) {
    case SECTION_SEGMENT:
        return catalog_add_segment(section->name, section->keys, section->store, error);
    case SECTION_SERIES:
        return catalog_add_series(section->name, section->keys, section->store, error);
    default:
        return catalog_add_generator(section->name, section->scheme, section->keys, section->store,
                                     section->form, section->prefix, error);
    }
}

static int check_name(const config_section *section, firn_error *error) {
    switch (section->kind) {
    case SECTION_SEGMENT:
        return catalog_check_segment(section->name, section->keys, section->store, error);
    case SECTION_SERIES:
        return catalog_check_series(section->name, section->keys, section->store, error);
    default:
        return catalog_check_generator(section->name, section->scheme, section->keys,
                                       section->store, section->form, section->prefix, error);
    }
}

/* Stops at the first failure, which names its section. */
static int take_names(const config_sections *them,
                      int (*take)(const config_section *, firn_error *), firn_error *error) {
    int code = FIRN_OK;
    for (size_t i = 0; i < them->count && code == FIRN_OK; i++) {
        const config_section *section = &them->all[i];
        code = take(section, error);
        if (code != FIRN_OK) {
            prefix_error(error, code, error, "%.80s: ", section->where);
        }
    }
    return code;
}

int names_add(const config_sections *them, firn_error *error) {
    return take_names(them, add_name, error);
}

int names_check(const config_sections *them, firn_error *error) {
    return take_names(them, check_name, error);
}

/* ---- reload --------------------------------------------------------------------------------- */

static bool is_same(const config_section *a, const config_section *b) {
    return strcmp(a->scheme, b->scheme) == 0 && strcmp(a->keys, b->keys) == 0 &&
           strcmp(a->store, b->store) == 0 && strcmp(a->form, b->form) == 0 &&
           strcmp(a->prefix, b->prefix) == 0;
}

static bool is_served(const config_section *section) {
    word name = word_of(section->name);
    return section->kind == SECTION_SEGMENT  ? catalog_segment(name) != NULL
           : section->kind == SECTION_SERIES ? catalog_series(name) != NULL
                                             : catalog_generator(name) != NULL;
}

static void tell_name(enum log_level level, const char *event, const config_section *section,
                      const char *why) {
    log_event(level, event, section_names[section->kind], section->name, why != NULL ? "why" : NULL,
              why, NULL);
}

static void add_while_serving(config_sections *served, const config_section *section) {
    firn_error error;
    int code = sections_add(served, section, &error);
    if (code == FIRN_OK) {
        code = add_name(section, &error);
        served->count -= code != FIRN_OK;
    }
    if (code == FIRN_OK) {
        tell_name(LOG_LEVEL_INFO, "added", section, NULL);
    } else {
        tell_name(LOG_LEVEL_ERROR, "not added", section, error.text);
    }
}

/* Why a new section needs a restart; NULL: it does not. It must issue the same as after a restart,
 * from the same store. */
static const char *why_later(const server_config *now, const server_settings *fresh,
                             const config_section *section) {
    if (section->store[0] == '\0' && strcmp(fresh->store, now->set.store) != 0) {
        return "the setting store changed, which needs a restart";
    }
    if (fresh->unsafe != now->set.unsafe) {
        return "the setting unsafe changed, which needs a restart";
    }
    if (section->kind == SECTION_GENERATOR && firn_scheme_find(section->name) != NULL) {
        return "clients may already have IDs of the scheme with this name";
    }
    if (sections_with_node_of(&now->sections, section) != NULL) {
        return "another generator has the same node";
    }
    return is_served(section) ? "it was created on demand before it was configured" : NULL;
}

static void take_new_name(server_config *now, const server_settings *fresh,
                          const config_section *section) {
    const char *why = why_later(now, fresh, section);
    if (why == NULL) {
        add_while_serving(&now->sections, section);
    } else {
        tell_name(LOG_LEVEL_WARNING, "needs a restart", section, why);
    }
}

static void tell_changed(const config_section *was) {
    char why[300];
    snprintf(why, sizeof why, "until then the old settings apply: scheme=%.100s %.150s",
             was->scheme, was->keys);
    tell_name(LOG_LEVEL_WARNING, "needs a restart", was,
              was->kind != SECTION_GENERATOR ? "until then the old settings apply" : why);
}

void names_take_new(server_config *now, const server_config *fresh) {
    for (size_t i = 0; i < now->sections.count; i++) {
        const config_section *was = &now->sections.all[i];
        if (sections_find(&fresh->sections, was->kind, was->name) == NULL) {
            tell_name(LOG_LEVEL_WARNING, "needs a restart", was, "its section was removed");
        }
    }
    for (size_t i = 0; i < fresh->sections.count; i++) {
        const config_section *section = &fresh->sections.all[i];
        const config_section *was = sections_find(&now->sections, section->kind, section->name);
        if (was == NULL) {
            take_new_name(now, &fresh->set, section);
        } else if (!is_same(was, section)) {
            tell_changed(was);
        }
    }
}
