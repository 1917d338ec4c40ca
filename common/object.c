/* SPDX-License-Identifier: MIT */
#include "object.h"

#include "describe.h"
#include "remark.h"

#include <stdio.h>
#include <string.h>

json_t *json_with(json_t *array, json_t *item) {
    if (json_array_append_new(array, item) == 0) {
        return array;
    }
    json_decref(array);
    return NULL;
}

json_t *json_set(json_t *object, const char *name, json_t *value) {
    if (json_object_set_new(object, name, value) == 0) {
        return object;
    }
    json_decref(object);
    return NULL;
}

/* The type depends on the scheme only. */
static json_t *field_value(const firn_scheme *scheme, const firn_fields *fields, uint32_t i) {
    char text[FIRN_VALUE_SIZE];
    const firn_slice *slice = &scheme->slices[i];
    bool hex = slice->role == FIRN_ROLE_RANDOM || slice->role == FIRN_ROLE_PROCESS ||
               slice->role == FIRN_ROLE_DIGEST || strcmp(slice->name, "mac") == 0;
    bool constant = slice->role == FIRN_ROLE_CONST;
    if (!hex && (constant ? slice->bits : firn_scheme_width(scheme, i)) <= 32) {
        return json_integer((json_int_t)(constant ? slice->value : fields->value[i].low));
    }
    return json_string(firn_fields_get(text, fields, scheme, i));
}

static json_t *fields_object(const firn_scheme *scheme, const firn_fields *fields) {
    json_t *object = json_object();
    for (uint32_t i = 0; i < scheme->slice_count && object != NULL; i++) {
        const firn_slice *slice = &scheme->slices[i];
        if (slice->role != FIRN_ROLE_TIME && slice->name[0] != '\0' &&
            firn_scheme_first(scheme, i) == i) {
            object = json_set(object, slice->name, field_value(scheme, fields, i));
        }
    }
    return object;
}

/* The names of the schemes that fit, without duplicates. */
static json_t *candidates(const firn_reading *readings, size_t count) {
    json_t *array = json_array();
    for (size_t i = 0; i < count && array != NULL; i++) {
        bool seen = false;
        for (size_t j = 0; j < i; j++) {
            seen = seen || readings[j].scheme == readings[i].scheme;
        }
        array = seen ? array : json_with(array, json_string(readings[i].scheme->name));
    }
    return array;
}

json_t *object_prefix(json_t *object, const char *text) {
    char prefix[FIRN_PREFIX_SIZE];
    firn_prefix_read(prefix, text, strlen(text));
    return json_set(object, "prefix", json_string(prefix));
}

json_t *object_of_id(const char *text, const firn_reading *readings, size_t count) {
    const firn_scheme *scheme = readings->scheme;
    char time_text[FIRN_TIME_SIZE], ns[FIRN_TIME_SIZE];
    firn_fields fields = {0};
    firn_unpack(&fields, scheme, &readings->id, NULL);
    int index = scheme_index(scheme, FIRN_ROLE_TIME);
    if (index >= 0) {
        firn_time time;
        firn_scheme_time(scheme, fields.value[index].low, &time);
        firn_time_format(time_text, &time, firn_scheme_digits(scheme));
        firn_time_unix_ns(ns, &time);
    }
    /* s? accepts NULL; o takes over its argument and fails on NULL */
    json_t *object =
        json_pack("{s:s, s:s, s:I, s:s?, s:s?, s:o, s:o, s:s}", "id", text, "scheme", scheme->name,
                  "bits", (json_int_t)scheme->bits, "time", index >= 0 ? time_text : NULL,
                  "unix_ns", index >= 0 ? ns : NULL, "fields", fields_object(scheme, &fields),
                  "candidates", candidates(readings, count), "sure", reading_sure_name(readings));
    return readings->form == FIRN_FORM_TYPEID ? object_prefix(object, text) : object;
}

/* ---- formats that are not schemes ------------------------------------------------------------ */

static json_t *match_fields(const firn_match *match) {
    json_t *object = json_object();
    for (uint32_t i = 0; i < match->count && object != NULL; i++) {
        object = json_set(object, match->fields[i].name, json_string(match->fields[i].value));
    }
    return object;
}

static json_t *matches_array(const id_matches *matches) {
    json_t *array = json_array();
    for (size_t i = 0; i < matches->count && array != NULL; i++) {
        const firn_match *match = &matches->list[i];
        char time_text[FIRN_TIME_SIZE];
        if (match->timed) { /* else it is not set */
            firn_time_format(time_text, &match->time, match->digits);
        }
        json_t *object =
            json_pack("{s:s, s:s, s:s, s:s?, s:o}", "format", match->format->name, "sure",
                      firn_sure_name(match->sure), "reason", match->reason, "time",
                      match->timed ? time_text : NULL, "fields", match_fields(match));
        array = json_with(array, object);
    }
    return array;
}

/* Adds `formats` if there are any. Takes over `object`, and returns it or NULL. */
static json_t *add_matches(json_t *object, const id_matches *matches) {
    return matches != NULL && matches->count > 0
               ? json_set(object, "formats", matches_array(matches))
               : object;
}

json_t *object_of_format(const firn_text_format *format) {
    return json_pack("{s:s, s:s, s:s, s:s, s:s}", "name", format->name, "title", format->title,
                     "shape", format->shape, "sure", format->sure, "source", format->source);
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* A format says best what the text is. */
static json_t *object_of_match(const char *text, const firn_reading *readings, size_t count,
                               const firn_match *match) {
    char time_text[FIRN_TIME_SIZE], ns[FIRN_TIME_SIZE];
    if (match->timed) { /* else it is not set */
        firn_time_format(time_text, &match->time, match->digits);
        firn_time_unix_ns(ns, &match->time);
    }
    return json_pack("{s:o, s:n, s:n, s:s?, s:s?, s:o, s:o, s:s, s:s, s:s}", "id",
                     json_foreign(text), "scheme", "bits", "time", match->timed ? time_text : NULL,
                     "unix_ns", match->timed ? ns : NULL, "fields", match_fields(match),
                     "candidates", candidates(readings, count), "sure", firn_sure_name(match->sure),
                     "what", "format", "remark", match->reason);
}

/* One thing that a text may be. */
static json_t *possible_object(const id_possible *possible) {
    char time_text[FIRN_TIME_SIZE], ns[FIRN_TIME_SIZE];
    const firn_reading *reading = possible->reading;
    if (possible->timed) { /* else it is not set */
        firn_time_format(time_text, &possible->time, possible->digits);
        firn_time_unix_ns(ns, &possible->time);
    }
    return json_pack("{s:s?, s:s?, s:s?, s:s?, s:s?, s:s?, s:s?}", "scheme",
                     reading != NULL ? reading->scheme->name : NULL, "format",
                     reading == NULL ? possible->match->format->name : NULL, "form",
                     reading != NULL ? firn_form_name(reading->form) : NULL, "owner",
                     possible->owner != NULL ? possible->owner->title : NULL, "prevalence",
                     possible->owner != NULL ? possible->owner->prevalence : NULL, "time",
                     possible->timed ? time_text : NULL, "unix_ns", possible->timed ? ns : NULL);
}

/* There is no answer: what the text may be. */
static json_t *object_of_none(const char *text, const firn_reading *readings, id_counts counts,
                              size_t count, const id_matches *matches) {
    id_possible list[POSSIBLE_MAX];
    const size_t possible = readings_possible(list, readings, counts, matches);
    char remark[REMARK_SIZE];
    const char *what = remark_on(remark, text, strlen(text));
    json_t *array = json_array();
    for (size_t i = 0; i < possible && array != NULL; i++) {
        array = json_with(array, possible_object(&list[i]));
    }
    return json_pack("{s:o, s:n, s:n, s:n, s:n, s:{}, s:o, s:s, s:o, s:s, s:s?}", "id",
                     json_foreign(text), "scheme", "bits", "time", "unix_ns", "fields",
                     "candidates", candidates(readings, count), "sure",
                     possible > 0 ? firn_sure_name(FIRN_POSSIBLE) : "none", "readings", array,
                     "what", what, "remark", remark[0] != '\0' ? remark : NULL);
}

json_t *object_of_text(const char *text, const firn_reading *readings, id_counts counts,
                       const id_matches *matches, bool all, bool named) {
    char id[READING_TEXT_SIZE], remark[REMARK_SIZE];
    const size_t count = all ? counts.all : counts.plausible;
    if (matches != NULL && matches->count > 0 && matches->list[0].leads) {
        return add_matches(object_of_match(text, readings, count, &matches->list[0]), matches);
    }
    if (!readings_sure(readings, counts)) {
        return add_matches(object_of_none(text, readings, counts, count, matches), matches);
    }
    json_t *object = object_of_id(reading_text(id, readings, text), readings, count);
    if (remark_on_reading(remark, readings, text, named)[0] != '\0') {
        object = json_set(object, "remark", json_string(remark));
    }
    return add_matches(object, matches);
}

json_t *json_foreign(const char *text) {
    json_t *string = json_string(text);
    char plain[FIRN_LAYOUT_SIZE];
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

/* ---- schemes --------------------------------------------------------------------------------- */

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
        array = json_with(array, object);
    }
    return array;
}

static json_t *node_array(const firn_scheme *scheme) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < scheme->slice_count && array != NULL; i++) {
        const firn_slice *slice = &scheme->slices[i];
        bool part = slice->role == FIRN_ROLE_NODE || slice->role == FIRN_ROLE_ADDRESS;
        if (part && scheme->node_rule != FIRN_NODE_NONE && firn_scheme_first(scheme, i) == i) {
            array = json_with(array, json_string(slice->name));
        }
    }
    return array;
}

json_t *object_of_scheme(const firn_scheme *scheme) {
    char epoch[FIRN_TIME_SIZE], end[FIRN_TIME_SIZE], whole[FIRN_TIME_SIZE], start[64];
    char sorts[DESCRIBE_SIZE], layout[FIRN_LAYOUT_SIZE], slots[FIRN_TIME_SIZE];
    bool time = scheme->tick_ns != 0, ends, slots_end = describe_slots_end(slots, scheme);
    firn_time unused;
    ends = firn_scheme_end(scheme, true, &unused);
    describe_end(end, scheme, false);
    describe_end(whole, scheme, true);
    return json_pack(
        "{s:s, s:i, s:s, s:I, s:s?, s:s?, s:s?, s:s?, s:s, s:s, s:s, s:o, s:s, s:b, s:o,"
        " s:s?, s:s?}",
        "name", scheme->name, "bits", (int)scheme->bits, "layout",
        firn_scheme_layout(layout, scheme), "tick_ns", (json_int_t)scheme->tick_ns, "epoch",
        time ? describe_epoch(epoch, scheme) : NULL, "end", ends ? end : NULL, "bits_end",
        ends ? whole : NULL, "slots_end", slots_end ? slots : NULL, "form",
        firn_form_name(scheme->form), "sorts", describe_sorts(sorts, scheme), "reserved",
        describe_rule(scheme->node_rule), "node", node_array(scheme), "start",
        describe_start(start, scheme), "generated", !scheme->read_only, "slices",
        slices_array(scheme), "note", scheme->note, "source", scheme->source);
}
