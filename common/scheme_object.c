/* SPDX-License-Identifier: MIT */
/* A scheme as an object: see scheme_object.h. */
#include "scheme_object.h"

#include "describe.h"

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

json_t *object_of_scheme(const firn_scheme *scheme) {
    char epoch[FIRN_TIME_SIZE], end[FIRN_TIME_SIZE], whole[FIRN_TIME_SIZE], start[64];
    char sorts[DESCRIBE_SIZE], layout[FIRN_LAYOUT_SIZE];
    bool time = scheme->tick_ns != 0, ends;
    firn_time unused;
    ends = firn_scheme_end(scheme, true, &unused);
    describe_end(end, scheme, false);
    describe_end(whole, scheme, true);
    return json_pack("{s:s, s:i, s:s, s:I, s:s?, s:s?, s:s?, s:s, s:s, s:s, s:o, s:s, s:b, s:o,"
                     " s:s?, s:s?}",
                     "name", scheme->name, "bits", (int)scheme->bits, "layout",
                     firn_scheme_layout(layout, scheme), "tick_ns", (json_int_t)scheme->tick_ns,
                     "epoch", time ? describe_epoch(epoch, scheme) : NULL, "end", ends ? end : NULL,
                     "bits_end", ends ? whole : NULL, "form", firn_form_name(scheme->form), "sorts",
                     describe_sorts(sorts, scheme), "reserved", describe_rule(scheme->node_rule),
                     "node", node_array(scheme), "start", describe_start(start, scheme),
                     "generated", !scheme->read_only, "slices", slices_array(scheme), "note",
                     scheme->note, "source", scheme->source);
}
