/* SPDX-License-Identifier: MIT */
/* Objects a line each: see json.h. Decides only what is a number and what a string. */
#include "json.h"

#include "describe.h"
#include "object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void json_begin(void) {
    json_object_seed(1); /* jansson would draw a seed of the system, and reading is pure */
}

static int add_bytes(const char *bytes, size_t size, void *out) {
    output_bytes(out, bytes, size);
    return 0;
}

void json_line(output *out, json_t *object) {
    if (object == NULL || json_dump_callback(object, add_bytes, out, JSON_COMPACT) != 0) {
        tell("firn: ", "out of memory: give the process more");
        exit(STATUS_IO);
    }
    output_bytes(out, "\n", 1);
    json_decref(object);
}

json_t *json_foreign(const char *text) {
    json_t *string = json_string(text);
    char plain[FIRN_ROW_SIZE];
    if (string != NULL) {
        return string;
    }
    snprintf(plain, sizeof plain, "%s", text);
    for (char *c = plain; *c != '\0'; c++) {
        if ((unsigned char)*c > 126) {
            *c = '?';
        }
    }
    return json_string(plain);
}

/* ---- IDs ------------------------------------------------------------------------------------ */

void json_put_id(output *out, const char *text, const firn_reading *readings, size_t count) {
    json_line(out, object_of_id(text, readings, count));
}

void json_put_error(output *out, const firn_error *error) {
    json_line(out, json_pack("{s:o}", "error", json_foreign(error->text)));
}

/* ---- schemes -------------------------------------------------------------------------------- */

static json_t *slices_array(const firn_scheme *scheme) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < scheme->slice_count && array != NULL; i++) {
        const firn_slice *slice = &scheme->slices[i];
        char value[FIRN_VALUE_SIZE];
        firn_fields none = {0};
        bool constant = slice->role == FIRN_ROLE_CONST;
        firn_fields_get(value, &none, scheme, i);
        json_t *object =
            json_pack("{s:s, s:s, s:i, s:i, s:i, s:s?}", "name", slice->name, "role",
                      describe_role(slice->role), "bits", slice->bits, "from", slice->from, "group",
                      slice->group, "value", constant ? value : NULL);
        if (json_array_append_new(array, object) != 0) {
            json_decref(array);
            array = NULL;
        }
    }
    return array;
}

static json_t *node_array(const firn_scheme *scheme) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < scheme->slice_count && array != NULL; i++) {
        const firn_slice *slice = &scheme->slices[i];
        bool part = slice->role == FIRN_ROLE_NODE || slice->role == FIRN_ROLE_ADDRESS;
        if (part && scheme->node_rule != FIRN_NODE_NONE && firn_scheme_first(scheme, i) == i &&
            json_array_append_new(array, json_string(slice->name)) != 0) {
            json_decref(array);
            array = NULL;
        }
    }
    return array;
}

void json_put_scheme(output *out, const firn_scheme *scheme) {
    char epoch[FIRN_TIME_SIZE], end[FIRN_TIME_SIZE], whole[FIRN_TIME_SIZE], start[64];
    char sorts[DESCRIBE_SIZE], row[FIRN_ROW_SIZE];
    bool time = scheme->tick_ns != 0, ends;
    firn_time unused;
    ends = firn_scheme_end(scheme, true, &unused);
    describe_end(end, scheme, false);
    describe_end(whole, scheme, true);
    json_line(out,
              json_pack("{s:s, s:i, s:s, s:I, s:s?, s:s?, s:s?, s:s, s:s, s:s, s:o, s:s, s:b, s:o,"
                        " s:s?, s:s?}",
                        "name", scheme->name, "bits", (int)scheme->bits, "row",
                        firn_scheme_row(row, scheme), "tick_ns", (json_int_t)scheme->tick_ns,
                        "epoch", time ? describe_epoch(epoch, scheme) : NULL, "end",
                        ends ? end : NULL, "bits_end", ends ? whole : NULL, "form",
                        firn_form_name(scheme->form), "sorts", describe_sorts(sorts, scheme),
                        "reserved", describe_rule(scheme->node_rule), "node", node_array(scheme),
                        "start", describe_start(start, scheme), "generated", !scheme->shown_only,
                        "slices", slices_array(scheme), "note", scheme->note, "source",
                        scheme->source));
}
