/* SPDX-License-Identifier: MIT */
#include "json_lines.h"

#include "object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MOST = 200 }; /* nested names joined by dots; real ones are far shorter */

static void add_text(text_out *out, const char *text) {
    text_add(out, text, strlen(text));
}

static bool is_plain(const char *text) {
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ') {
            return false;
        }
    }
    return true;
}

static bool is_nested(json_t *value) {
    return json_is_array(value) || json_is_object(value);
}

static bool is_empty(json_t *value) {
    return json_is_null(value) || (json_is_string(value) && json_string_length(value) == 0) ||
           (is_nested(value) && json_array_size(value) == 0 && json_object_size(value) == 0);
}

/* A value that is not nested. */
static void add_value(text_out *out, json_t *value) {
    if (is_empty(value)) {
        add_text(out, "none");
    } else if (json_is_string(value) && is_plain(json_string_value(value))) {
        add_text(out, json_string_value(value));
    } else {
        char *text = json_dumps(value, OBJECT_DUMP | JSON_ENCODE_ANY);
        add_text(out, text != NULL ? text : "");
        out->failed = out->failed || text == NULL;
        free(text);
    }
}

/* The elements, separated by blanks; false, and nothing written: some are nested. */
static bool add_elements(text_out *out, json_t *array) {
    size_t count = json_array_size(array);
    for (size_t i = 0; i < count; i++) {
        if (is_nested(json_array_get(array, i))) {
            return false;
        }
    }
    for (size_t i = 0; i < count; i++) {
        add_text(out, i > 0 ? " " : "");
        add_value(out, json_array_get(array, i));
    }
    return count > 0;
}

static void add_members(text_out *out, const char *above, json_t *object);

static void add_member(text_out *out, const char *name, json_t *value) {
    char below[NAME_MOST];
    size_t start = out->length;
    if (json_is_object(value) && !is_empty(value)) {
        snprintf(below, sizeof below, "%s.", name);
        add_members(out, below, value);
        return;
    }
    add_text(out, name);
    add_text(out, " ");
    if (is_empty(value) || !json_is_array(value)) {
        add_value(out, value);
    } else if (!add_elements(out, value)) {
        out->length = start;
        for (size_t i = 0; i < json_array_size(value); i++) {
            snprintf(below, sizeof below, "%s.%zu", name, i);
            add_member(out, below, json_array_get(value, i));
        }
        return;
    }
    add_text(out, "\n");
}

static void add_members(text_out *out, const char *above, json_t *object) {
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        char name[NAME_MOST];
        snprintf(name, sizeof name, "%s%s", above, key);
        add_member(out, name, value);
    }
}

static bool has_only_strings(json_t *object) {
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        if (!json_is_string(value)) {
            return false;
        }
    }
    return true;
}

static void add_strings(text_out *out, json_t *object) {
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        add_value(out, value);
        add_text(out, "\n");
    }
}

/* Adds an element of an array at the top. */
static void add_item(text_out *out, json_t *item, bool first) {
    if (json_is_object(item) && !is_empty(item)) {
        add_text(out, first ? "" : "\n");
        add_members(out, "", item);
        return;
    }
    if (!json_is_array(item) || !add_elements(out, item)) {
        add_value(out, item);
    }
    add_text(out, "\n");
}

void json_lines_write(text_out *to, json_t *from) {
    if (json_is_object(from)) {
        if (has_only_strings(from)) {
            add_strings(to, from);
        } else {
            add_members(to, "", from);
        }
        return;
    }
    for (size_t i = 0; i < json_array_size(from); i++) {
        add_item(to, json_array_get(from, i), i == 0);
    }
    if (!json_is_array(from)) {
        add_item(to, from, true);
    }
}
