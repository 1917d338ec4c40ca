/* SPDX-License-Identifier: MIT */
/* Fields: packed into an ID, read out of one, converted, and as text. Pure. */
#include "fields.h"

#include "date_form.h"
#include "error.h"
#include "nearest.h"
#include "number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- pack and unpack ---------------------------------------------------------------------- */

void firn__pack_given(firn_id *id, const firn_scheme *scheme, const firn_fields *fields) {
    firn_id out = {0, 0, 0, scheme->bits};
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        uint32_t first = firn_scheme_first(scheme, i);
        firn_value value = {slice->value, 0};
        if (slice->role != FIRN_ROLE_CONST) {
            bool given = fields->given >> first & 1;
            value = given ? firn__slice_of(slice, fields->value[first]) : (firn_value){0, 0};
        }
        firn__push(&out, value, slice->bits);
    }
    *id = out;
}

/* A decimal number of up to 128 bits. */
static void put_value(char text[FIRN_VALUE_SIZE], firn_value value) {
    char digits[FIRN_TEXT_SIZE];
    const firn_id number = {value.low, value.high, 0, 128};
    memcpy(text, firn_format(digits, &number, FIRN_FORM_UNSIGNED), FIRN_VALUE_SIZE);
}

int firn__field_check(const firn_scheme *scheme, uint32_t i, firn_value value, firn_error *error) {
    char text[FIRN_VALUE_SIZE], most[FIRN_VALUE_SIZE];
    if (!firn__above(value, firn_scheme_max(scheme, i))) {
        return FIRN_OK;
    }
    put_value(text, value);
    put_value(most, firn_scheme_max(scheme, i));
    return firn_error_set(error, FIRN_ERANGE, FIRN_CURE_SMALLER,
                          "%s " FIRN__VALUE("%s") " is out of range (" FIRN__LIMIT(
                              "0 to %s") ", %" PRIu32 " bits of %s): choose a smaller number",
                          scheme->slices[i].name, text, most, firn_scheme_width(scheme, i),
                          scheme->name);
}

int firn_pack(firn_id *id, const firn_scheme *scheme, const firn_fields *fields,
              firn_error *error) {
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        if (slice->role == FIRN_ROLE_CONST || firn_scheme_first(scheme, i) != i) {
            continue;
        }
        if (!(fields->given >> i & 1)) {
            return firn_error_set(error, FIRN_EUSAGE, FIRN_CURE_SET_FIELD,
                                  "%s needs %s: set %s=VALUE", scheme->name, slice->name,
                                  slice->name);
        }
        int code = firn__field_check(scheme, i, fields->value[i], error);
        if (code != FIRN_OK) {
            return code;
        }
    }
    firn__pack_given(id, scheme, fields);
    return FIRN_OK;
}

int firn_unpack(firn_fields *fields, const firn_scheme *scheme, const firn_id *id,
                firn_error *error) {
    firn_fields out = {0, {{0, 0}}};
    uint32_t position = scheme->bits;
    if (id->bits != scheme->bits) {
        return firn_error_set(error, FIRN_EMISMATCH, FIRN_CURE_NAME_SCHEME,
                              "the ID has %" PRIu32 " bits, but %s has %" PRIu32
                              ": name another scheme",
                              id->bits, scheme->name, scheme->bits);
    }
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        position -= slice->bits;
        firn_value part = firn__get(id, position, slice->bits);
        if (slice->role == FIRN_ROLE_CONST) {
            if (part.low != slice->value) {
                return firn_error_set(error, FIRN_EMISMATCH, FIRN_CURE_NAME_SCHEME,
                                      "%s is 0x%" PRIx64 ", but %s has 0x%" PRIx64
                                      ": name another scheme",
                                      slice->name[0] ? slice->name : "a constant", part.low,
                                      scheme->name, slice->value);
            }
            continue;
        }
        if (slice->group > 0) {
            part.low = firn__mirror(part.low, slice->bits, slice->group);
        }
        uint32_t first = firn_scheme_first(scheme, i);
        part = firn__up(part, slice->from);
        out.value[first].low |= part.low;
        out.value[first].high |= part.high;
        out.given |= UINT32_C(1) << first;
    }
    for (uint32_t i = 0; scheme->form == FIRN_FORM_DATED && i < scheme->slice_count; i++) {
        if (firn__above(out.value[i], firn_scheme_max(scheme, i))) {
            return firn_error_set(error, FIRN_EMISMATCH, FIRN_CURE_NAME_SCHEME,
                                  "%s is %" PRIu64 ", but %s has at most %" PRIu64
                                  ": name another scheme",
                                  scheme->slices[i].name, out.value[i].low, scheme->name,
                                  firn_scheme_max(scheme, i).low);
        }
    }
    *fields = out;
    return FIRN_OK;
}

int firn_convert(firn_id *out, const firn_scheme *to, const firn_id *id, const firn_scheme *from,
                 firn_error *error) {
    firn_fields in, fields = {0, {{0, 0}}};
    int code = firn_unpack(&in, from, id, error);
    if (code != FIRN_OK) {
        return code;
    }
    bool same = to->tick_ns == from->tick_ns && firn_time_cmp(&to->epoch, &from->epoch) == 0 &&
                to->bits == from->bits;
    for (uint32_t i = 0; i < from->slice_count; i++) {
        const firn_slice *slice = &from->slices[i];
        if (slice->role == FIRN_ROLE_CONST || firn_scheme_first(from, i) != i) {
            continue;
        }
        int other = firn_scheme_field(to, slice->name);
        same = same && other >= 0 && to->slices[other].role == slice->role &&
               firn_scheme_width(to, (uint32_t)other) == firn_scheme_width(from, i);
        if (same) {
            firn__fields_put(&fields, (uint32_t)other, in.value[i]);
        }
    }
    if (!same || firn_pack(out, to, &fields, NULL) != FIRN_OK) {
        return firn__fail(error, FIRN_EUSAGE,
                          "%s does not convert to %s, whose fields differ: keep its bits in a form "
                          "such as hex; only uuid1, uuid6 and uuid1-swapped convert",
                          from->name, to->name);
    }
    return FIRN_OK;
}

/* ---- text ---------------------------------------------------------------------- */

static int unknown_field(const firn_scheme *scheme, const char *name, firn_error *error) {
    const char *names[FIRN_SLICES_MAX + 1];
    char list[140] = "its fields are";
    size_t count = 0, length = strlen(list);
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        if (scheme->slices[i].role != FIRN_ROLE_CONST && firn_scheme_first(scheme, i) == i) {
            names[count++] = scheme->slices[i].name;
        }
    }
    names[count] = NULL;
    if (count == 0) {
        return firn_error_set(error, FIRN_EUSAGE, FIRN_CURE_LEAVE_OUT,
                              "%s has no fields, so not '%.40s': leave it out", scheme->name, name);
    }
    for (size_t i = 0; i < count && length < sizeof list - 20; i++) {
        length += (size_t)snprintf(list + length, sizeof list - length, " %s", names[i]);
    }
    return firn__refuse_unknown(error, scheme->name, "has no field", name, names, FIRN_CURE_LISTED,
                                list);
}

int firn_fields_set(firn_fields *fields, const firn_scheme *scheme, const char *name,
                    const char *value, firn_error *error) {
    firn_value parsed = {0, 0};
    bool time = strcmp(name, "time") == 0, tick = strcmp(name, "tick") == 0;
    int i = firn_scheme_field(scheme, tick ? "time" : name);
    if (i < 0) {
        return unknown_field(scheme, name, error);
    }
    if (scheme->slices[i].role == FIRN_ROLE_CONST) {
        return firn_error_set(error, FIRN_EUSAGE, FIRN_CURE_LEAVE_OUT,
                              "%s is a constant of %s: leave it out", name, scheme->name);
    }
    if (fields->given >> i & 1) {
        return firn__fail(error, FIRN_EUSAGE, "%s is set twice: set it once",
                          scheme->slices[i].name);
    }
    if (time) {
        firn_time instant;
        int code = firn_time_parse(&instant, value, strlen(value), error);
        if (code == FIRN_OK) {
            code = firn_scheme_tick(scheme, &instant, &parsed.low, error);
        }
        if (code != FIRN_OK) {
            return code;
        }
    } else if (firn__value_is_large(value)) {
        return firn_error_set(error, FIRN_ERANGE, FIRN_CURE_SMALLER,
                              "%s=%.60s%s is out of range (%" PRIu32
                              " bits of %s): choose a smaller number",
                              name, value, strlen(value) > 60 ? "..." : "",
                              firn_scheme_width(scheme, (uint32_t)i), scheme->name);
    } else if (!firn__value_parse(&parsed, value)) {
        return firn__fail(
            error, FIRN_ETEXT, "%s=%.60s is not a number: write decimal or 0x hex%s", name, value,
            scheme->slices[i].role == FIRN_ROLE_ADDRESS ? ", or aa:bb:cc:dd:ee:ff" : "");
    }
    int code = firn__field_check(scheme, (uint32_t)i, parsed, error);
    if (code == FIRN_OK) {
        firn__fields_put(fields, (uint32_t)i, parsed);
    }
    return code;
}

char *firn_fields_get(char text[FIRN_VALUE_SIZE], const firn_fields *fields,
                      const firn_scheme *scheme, uint32_t i) {
    const firn_slice *slice = &scheme->slices[i];
    firn_value value = fields->value[i];
    uint32_t width = firn_scheme_width(scheme, i);
    int digits = (int)(width + 3) / 4;
    if (slice->role == FIRN_ROLE_CONST) {
        value = (firn_value){slice->value, 0};
    }
    if (slice->role == FIRN_ROLE_ADDRESS && width == 48) {
        snprintf(text, FIRN_VALUE_SIZE, "%02x:%02x:%02x:%02x:%02x:%02x",
                 (unsigned)(value.low >> 40 & 255), (unsigned)(value.low >> 32 & 255),
                 (unsigned)(value.low >> 24 & 255), (unsigned)(value.low >> 16 & 255),
                 (unsigned)(value.low >> 8 & 255), (unsigned)(value.low & 255));
    } else if (slice->role == FIRN_ROLE_RANDOM && scheme->form == FIRN_FORM_DATED) {
        snprintf(text, FIRN_VALUE_SIZE, "%0*" PRIu64, (int)firn__dated_digits(scheme->bits),
                 value.low);
    } else if (slice->role == FIRN_ROLE_RANDOM || slice->role == FIRN_ROLE_PROCESS ||
               slice->role == FIRN_ROLE_DIGEST || strcmp(slice->name, "mac") == 0) {
        if (digits > 16) {
            snprintf(text, FIRN_VALUE_SIZE, "0x%0*" PRIx64 "%016" PRIx64, digits - 16, value.high,
                     value.low);
        } else {
            snprintf(text, FIRN_VALUE_SIZE, "0x%0*" PRIx64, digits, value.low);
        }
    } else {
        put_value(text, value);
    }
    return text;
}
