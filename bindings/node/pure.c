/* SPDX-License-Identifier: MIT */
/* Pure functions: schemes as (scheme, epoch, bits, digits), IDs as buffers, times as (sec, ns). */
#include "firn_node.h"
#include "refusals.h"

#include <firn/recognize.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Arguments 0 to 3. False: thrown. */
static bool scheme_of(call *c, firn_scheme *scheme) {
    firn_error error = {0};
    const char *name = text_of(c, 0, NULL), *epoch = text_of(c, 1, NULL),
               *bits = text_of(c, 2, NULL), *digits = text_of(c, 3, NULL);
    const firn_scheme *listed = firn_scheme_find(name);
    if (listed != NULL && epoch == NULL && bits == NULL && digits == NULL) {
        *scheme = *listed;
        return true;
    }
    if (firn_scheme_make(scheme, name, epoch, bits, digits, &error) != FIRN_OK) {
        fail_with(c, &error);
        return false;
    }
    return true;
}

/* Argument i, a buffer of the scheme's width. False: thrown. */
static bool id_of(call *c, size_t i, firn_id *id, const firn_scheme *scheme) {
    firn_error error;
    void *bytes = NULL;
    size_t size = 0;
    napi_get_buffer_info(c->env, c->args[i], &bytes, &size);
    if (size != (scheme->bits + 7) / 8) {
        firn_error_set(&error, FIRN_ERANGE, 0, "%zu bytes, but an ID of %s has %u", size,
                       scheme->name, (unsigned)(scheme->bits + 7) / 8);
    } else if (firn_id_from_bytes(id, bytes, scheme->bits, &error) == FIRN_OK) {
        return true;
    }
    fail_with(c, &error);
    return false;
}

/* Argument i, an array of names and values in turn. False: thrown. */
static bool fields_of(call *c, size_t i, firn_fields *fields, const firn_scheme *scheme) {
    uint32_t count = 0;
    firn_error error = {0};
    memset(fields, 0, sizeof *fields);
    napi_get_array_length(c->env, c->args[i], &count);
    for (uint32_t k = 0; k + 1 < count; k += 2) {
        char text[2][200];
        for (uint32_t part = 0; part < 2; part++) {
            napi_value value;
            size_t length = 0;
            napi_get_element(c->env, c->args[i], k + part, &value);
            napi_get_value_string_utf8(c->env, value, text[part], sizeof text[part], &length);
            if (length == sizeof text[part] - 1) {
                fail(c, FIRN_ERANGE, "a name or value has 199 bytes or more", "shorten it");
                return false;
            }
        }
        if (firn_fields_set(fields, scheme, text[0], text[1], &error) != FIRN_OK) {
            fail_with(c, &error);
            return false;
        }
    }
    return true;
}

/* pack(scheme..., [name, value, ...]) -> Buffer */
static napi_value pack(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    firn_scheme scheme;
    firn_fields fields;
    firn_error error = {0};
    firn_id id;
    if (!scheme_of(&c, &scheme) || !fields_of(&c, 4, &fields, &scheme)) {
        return end(&c, NULL);
    }
    return end(&c, firn_pack(&id, &scheme, &fields, &error) == FIRN_OK ? buffer(env, &id)
                                                                       : fail_with(&c, &error));
}

/* unpack(scheme..., Buffer) -> {fields, timeText, unixNs}: texts; of a scheme without time only the
 * fields */
static napi_value unpack(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    firn_scheme scheme;
    firn_fields fields;
    firn_error error = {0};
    firn_id id;
    napi_value out, values;
    if (!scheme_of(&c, &scheme) || !id_of(&c, 4, &id, &scheme)) {
        return end(&c, NULL);
    }
    const firn_scheme *seen = firn_scheme_seen(&scheme, &id);
    if (firn_unpack(&fields, seen, &id, &error) != FIRN_OK) {
        return end(&c, fail_with(&c, &error));
    }
    napi_create_object(env, &out);
    napi_create_object(env, &values);
    for (uint32_t i = 0; i < seen->slice_count; i++) {
        char text[FIRN_VALUE_SIZE];
        if (seen->slices[i].name[0] != '\0' && firn_scheme_first(seen, i) == i) {
            napi_set_named_property(env, values, seen->slices[i].name,
                                    string(env, firn_fields_get(text, &fields, seen, i)));
        }
    }
    napi_set_named_property(env, out, "fields", values);
    int field = firn_scheme_field(seen, "time");
    if (seen->tick_ns != 0 && field >= 0) {
        firn_time time;
        char text[FIRN_TIME_SIZE];
        firn_scheme_time(seen, fields.value[field].low, &time);
        napi_set_named_property(
            env, out, "timeText",
            string(env, firn_time_format(text, &time, firn_scheme_digits(seen))));
        napi_set_named_property(env, out, "unixNs", string(env, firn_time_unix_ns(text, &time)));
    }
    return end(&c, out);
}

/* range(scheme..., from, to, [name, value, ...]) -> [Buffer, Buffer]; times as text */
static napi_value range(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    firn_scheme scheme;
    firn_fields pinned;
    firn_error error = {0};
    firn_id ids[2];
    firn_time times[2];
    napi_value out;
    if (!scheme_of(&c, &scheme) || !fields_of(&c, 6, &pinned, &scheme)) {
        return end(&c, NULL);
    }
    for (size_t i = 0; i < 2; i++) {
        size_t length = 0;
        const char *text = text_of(&c, 4 + i, &length);
        if (firn_time_parse(&times[i], text, length, &error) != FIRN_OK) {
            return end(&c, fail_with(&c, &error));
        }
    }
    if (check_bounds(&scheme, &error) != FIRN_OK ||
        firn_range(&ids[0], &ids[1], &scheme, &pinned, &times[0], &times[1], &error) != FIRN_OK) {
        return end(&c, fail_with(&c, &error));
    }
    napi_create_array_with_length(env, 2, &out);
    napi_set_element(env, out, 0, buffer(env, &ids[0]));
    napi_set_element(env, out, 1, buffer(env, &ids[1]));
    return end(&c, out);
}

/* Argument 4, the name of a form, or the scheme's own form if it is null. -1: thrown. */
static int form_argument(call *c, const firn_scheme *scheme) {
    firn_error error;
    const int form = form_of(text_of(c, 4, NULL), scheme, &error);
    if (form < 0) {
        fail_with(c, &error);
    }
    return form;
}

/* parse(scheme..., form, text) -> Buffer */
static napi_value parse(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    firn_scheme scheme;
    firn_fields fields;
    firn_error error = {0};
    firn_id id;
    size_t length = 0;
    if (!scheme_of(&c, &scheme)) {
        return end(&c, NULL);
    }
    const char *text = text_of(&c, 5, &length);
    const int form = form_argument(&c, &scheme);
    if (form < 0) {
        return end(&c, NULL);
    }
    if (firn_parse(&id, form, scheme.bits, text, length, &error) != FIRN_OK ||
        firn_unpack(&fields, firn_scheme_seen(&scheme, &id), &id, &error) != FIRN_OK) {
        return end(&c, fail_with(&c, &error));
    }
    return end(&c, buffer(env, &id));
}

/* format(scheme..., form, Buffer) -> text */
static napi_value format(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    char text[FIRN_TEXT_SIZE];
    firn_scheme scheme;
    firn_id id;
    if (!scheme_of(&c, &scheme) || !id_of(&c, 5, &id, &scheme)) {
        return end(&c, NULL);
    }
    const int form = form_argument(&c, &scheme);
    return end(&c, form >= 0 ? string(env, firn_format(text, &id, form)) : NULL);
}

/* convert(from, null, null, null, to, Buffer) -> Buffer */
static napi_value convert(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    firn_scheme from;
    firn_error error = {0};
    firn_id id, out;
    if (!scheme_of(&c, &from) || !id_of(&c, 5, &id, &from)) {
        return end(&c, NULL);
    }
    const firn_scheme *to = firn_scheme_find(text_of(&c, 4, NULL));
    if (to == NULL) {
        return end(&c, fail(&c, FIRN_EUSAGE, "there is no such scheme", "see schemes()"));
    }
    return end(&c, firn_convert(&out, to, &id, &from, &error) == FIRN_OK ? buffer(env, &out)
                                                                         : fail_with(&c, &error));
}

/* digest(scheme, null, null, null, namespace, Buffer) -> Buffer */
static napi_value digest(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    firn_scheme scheme;
    firn_error error = {0};
    firn_id id;
    void *name = NULL;
    size_t size = 0;
    if (!scheme_of(&c, &scheme)) {
        return end(&c, NULL);
    }
    napi_get_buffer_info(env, c.args[5], &name, &size);
    int code = firn_digest(&id, &scheme, text_of(&c, 4, NULL), name, size, &error);
    return end(&c, code == FIRN_OK ? buffer(env, &id) : fail_with(&c, &error));
}

/* guess(text) -> [{scheme, form, bytes, sure}] */
static napi_value guess(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    firn_reading readings[FIRN_READINGS_MAX];
    size_t length = 0;
    const char *text = text_of(&c, 0, &length);
    size_t count = firn_guess(readings, text, length, -1);
    napi_value out;
    napi_create_array_with_length(env, count, &out);
    for (uint32_t i = 0; i < count; i++) {
        napi_value value;
        napi_create_object(env, &value);
        napi_set_named_property(env, value, "scheme", string(env, readings[i].scheme->name));
        napi_set_named_property(env, value, "form", string(env, firn_form_name(readings[i].form)));
        napi_set_named_property(env, value, "bytes", buffer(env, &readings[i].id));
        napi_set_named_property(env, value, "sure", string(env, firn_sure_name(readings[i].sure)));
        napi_set_element(env, out, i, value);
    }
    return end(&c, out);
}

/* recognize(text) -> [{format, sure, leads, reason, fields, timeText}] */
static napi_value recognize(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    firn_reading readings[FIRN_READINGS_MAX];
    firn_match matches[FIRN_MATCHES_MAX];
    size_t length = 0;
    const char *text = text_of(&c, 0, &length);
    bool plausible = firn_guess(readings, text, length, -1) > 0;
    size_t count = firn_recognize(matches, plausible ? readings : NULL, text, length);
    napi_value out;
    napi_create_array_with_length(env, count, &out);
    for (uint32_t i = 0; i < count; i++) {
        const firn_match *match = &matches[i];
        napi_value value, leads, fields;
        napi_create_object(env, &value);
        napi_create_object(env, &fields);
        napi_get_boolean(env, match->leads, &leads);
        napi_set_named_property(env, value, "format", string(env, match->format->name));
        napi_set_named_property(env, value, "sure", string(env, firn_sure_name(match->sure)));
        napi_set_named_property(env, value, "leads", leads);
        napi_set_named_property(env, value, "reason", string(env, match->reason));
        for (uint32_t k = 0; k < match->count; k++) {
            napi_set_named_property(env, fields, match->fields[k].name,
                                    string(env, match->fields[k].value));
        }
        napi_set_named_property(env, value, "fields", fields);
        if (match->timed) { /* else it is not set */
            char time_text[FIRN_TIME_SIZE];
            firn_time_format(time_text, &match->time, match->digits);
            napi_set_named_property(env, value, "timeText", string(env, time_text));
        }
        napi_set_element(env, out, i, value);
    }
    return end(&c, out);
}

/* describe(scheme...) -> {name, layout, bits, form, sorts} */
static napi_value describe(napi_env env, napi_callback_info info) {
    static const char *const sorts[] = {"no", "per node", "by tick", "yes"};
    call c = begin(env, info);
    char text[FIRN_LAYOUT_SIZE];
    firn_scheme scheme;
    napi_value out, bits;
    if (!scheme_of(&c, &scheme)) {
        return end(&c, NULL);
    }
    napi_create_object(env, &out);
    napi_create_uint32(env, scheme.bits, &bits);
    napi_set_named_property(env, out, "name", string(env, scheme.name));
    napi_set_named_property(env, out, "layout", string(env, firn_scheme_layout(text, &scheme)));
    napi_set_named_property(env, out, "bits", bits);
    napi_set_named_property(env, out, "form", string(env, firn_form_name(scheme.form)));
    napi_set_named_property(env, out, "sorts", string(env, sorts[scheme.sorts]));
    return end(&c, out);
}

/* names(forms): every scheme, or every form */
static napi_value names(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    bool forms = false;
    napi_value out;
    napi_get_value_bool(env, c.args[0], &forms);
    napi_create_array(env, &out);
    for (uint32_t i = 0;; i++) {
        const firn_scheme *scheme = forms ? NULL : firn_scheme_at(i);
        const char *name = forms ? firn_form_name((int)i) : scheme != NULL ? scheme->name : NULL;
        if (name == NULL) {
            return out;
        }
        napi_set_element(env, out, i, string(env, name));
    }
}

/* ---- an ID of a listed scheme in one call ---------------------------------------------------- */

/* A reader of a scheme. Its numbers are in the memory of a buffer of JavaScript, because each value that
 * Node-API makes costs as much as an ID. */
typedef struct quick {
    const firn_scheme *scheme;
    struct {
        uint64_t id; /* up to 64 bits */
        int64_t ns;  /* since 1970 */
        double ms;   /* since 1970, whole */
    } * numbers;
} quick;

/* The argument as an ID. False: the functions above must read it, or say what is wrong. */
static bool read_quickly(napi_env env, napi_callback_info info, const quick **self, firn_id *id,
                         firn_fields *fields) {
    napi_value argument;
    size_t count = 1, length = 0;
    char text[FIRN_TEXT_SIZE];
    void *data = NULL;
    bool exact = false;
    uint64_t integer;
    napi_get_cb_info(env, info, &count, &argument, NULL, &data);
    *self = data;
    const firn_scheme *scheme = (*self)->scheme;
    if (napi_get_value_string_utf8(env, argument, text, sizeof text, &length) == napi_ok) {
        exact = length < sizeof text - 1 &&
                firn_parse(id, scheme->form, scheme->bits, text, length, NULL) == FIRN_OK;
    } else if (napi_get_value_bigint_uint64(env, argument, &integer, &exact) == napi_ok) {
        *id = (firn_id){integer, 0, 0, scheme->bits};
        exact = exact && (scheme->bits >= 64 || integer >> scheme->bits == 0);
    }
    return exact && firn_scheme_seen(scheme, id) == scheme &&
           firn_unpack(fields, scheme, id, NULL) == FIRN_OK;
}

static napi_value ascii(napi_env env, const char *text) {
    napi_value value;
    napi_create_string_latin1(env, text, NAPI_AUTO_LENGTH, &value);
    return value;
}

static bool is_integer(const firn_scheme *scheme) {
    return scheme->bits <= 64 &&
           (scheme->form == FIRN_FORM_DEC || scheme->form == FIRN_FORM_UNSIGNED);
}

/* read(text) -> the ID, or undefined: parse says why */
static napi_value read_id(napi_env env, napi_callback_info info) {
    const quick *self;
    firn_id id;
    firn_fields fields;
    char text[FIRN_TEXT_SIZE];
    napi_value value;
    if (!read_quickly(env, info, &self, &id, &fields)) {
        return NULL;
    }
    if (!is_integer(self->scheme)) {
        return ascii(env, firn_format(text, &id, self->scheme->form));
    }
    napi_create_bigint_uint64(env, id.low, &value);
    return value;
}

/* show(text or BigInt) -> text, time as text and the value of each field, with line ends between, and
 * the numbers; or undefined */
static napi_value show_id(napi_env env, napi_callback_info info) {
    const quick *self;
    firn_id id;
    firn_fields fields;
    firn_time time;
    int64_t ns;
    char text[FIRN_TEXT_SIZE + FIRN_TIME_SIZE + FIRN_SLICES_MAX * (FIRN_VALUE_SIZE + 1)];
    if (!read_quickly(env, info, &self, &id, &fields)) {
        return NULL;
    }
    const firn_scheme *scheme = self->scheme;
    firn_scheme_time(scheme, fields.value[firn_scheme_field(scheme, "time")].low, &time);
    if (__builtin_mul_overflow(time.sec, 1000000000, &ns) ||
        __builtin_add_overflow(ns, time.ns, &ns)) {
        return NULL;
    }
    self->numbers->id = id.low;
    self->numbers->ns = ns;
    self->numbers->ms = (double)(time.sec * 1000 + time.ns / 1000000);
    char *end = text + strlen(firn_format(text, &id, scheme->form));
    *end++ = '\n';
    end += strlen(firn_time_format(end, &time, firn_scheme_digits(scheme)));
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        if (scheme->slices[i].name[0] != '\0' && firn_scheme_first(scheme, i) == i) {
            *end++ = '\n';
            end += strlen(firn_fields_get(end, &fields, scheme, i));
        }
    }
    return ascii(env, text);
}

static void reader_freed(napi_env env, void *data, void *hint) {
    (void)env, (void)hint;
    free(data);
}

/* reader(scheme) -> {names of the fields, integer, numbers, read, show} for a scheme of the list; else
 * undefined. `show` is missing for a scheme without a time, and for TypeIDs, because a prefix is not
 * part of the ID. */
static napi_value reader(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    const firn_scheme *scheme = firn_scheme_find(text_of(&c, 0, NULL));
    quick *self = scheme != NULL && !scheme->keyed ? calloc(1, sizeof *self) : NULL;
    napi_value out, value;
    uint32_t count = 0;
    void *memory = NULL;
    end(&c, NULL);
    if (self == NULL) {
        return NULL;
    }
    self->scheme = scheme;
    napi_create_object(env, &out);
    napi_wrap(env, out, self, reader_freed, NULL, NULL);
    napi_create_arraybuffer(env, sizeof *self->numbers, &memory, &value);
    self->numbers = memory;
    napi_set_named_property(env, out, "numbers", value); /* keeps the memory */
    napi_get_boolean(env, is_integer(scheme), &value);
    napi_set_named_property(env, out, "integer", value);
    napi_create_function(env, "read", NAPI_AUTO_LENGTH, read_id, self, &value);
    napi_set_named_property(env, out, "read", value);
    if (scheme->tick_ns != 0 && firn_scheme_field(scheme, "time") >= 0 &&
        scheme->form != FIRN_FORM_TYPEID) {
        napi_create_function(env, "show", NAPI_AUTO_LENGTH, show_id, self, &value);
        napi_set_named_property(env, out, "show", value);
    }
    napi_create_array(env, &value);
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        if (scheme->slices[i].name[0] != '\0' && firn_scheme_first(scheme, i) == i) {
            napi_set_element(env, value, count++, string(env, scheme->slices[i].name));
        }
    }
    napi_set_named_property(env, out, "names", value);
    return out;
}

const entry pure_entries[] = {{"pack", pack},
                              {"unpack", unpack},
                              {"range", range},
                              {"parse", parse},
                              {"format", format},
                              {"convert", convert},
                              {"digest", digest},
                              {"guess", guess},
                              {"recognize", recognize},
                              {"describe", describe},
                              {"names", names},
                              {"reader", reader},
                              {NULL, NULL}};
