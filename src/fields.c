/* SPDX-License-Identifier: MIT */
/* Fields from and to text: decimal, hex, colon-hex, instants. Knows rows, but packs and reads no
 * ID. */
#include "dated.h"
#include "error.h"
#include "scheme.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* value * base + digit; false when that has more than 128 bits. */
static bool append(firn_value *value, uint32_t base, uint32_t digit) {
    uint64_t low = (value->low & UINT32_MAX) * base + digit;
    uint64_t mid = (value->low >> 32) * base + (low >> 32);
    uint64_t high = (value->high & UINT32_MAX) * base + (mid >> 32);
    uint64_t top = (value->high >> 32) * base + (high >> 32);
    value->low = mid << 32 | (low & UINT32_MAX);
    value->high = top << 32 | (high & UINT32_MAX);
    return top >> 32 == 0;
}

/* aa:bb:cc:dd:ee:ff, or with dashes. */
static bool read_address(firn_value *value, const char *text) {
    firn_value out = {0, 0};
    for (int i = 0; i < 17; i++) {
        int digit = hex_digit(text[i]);
        if (i % 3 == 2 ? text[i] != text[2] || (text[i] != ':' && text[i] != '-') : digit < 0) {
            return false;
        }
        if (i % 3 != 2) {
            append(&out, 16, (uint32_t)digit);
        }
    }
    *value = out;
    return text[17] == '\0';
}

bool firn__value_parse(firn_value *value, const char *text) {
    firn_value out = {0, 0};
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *at = text + (hex ? 2 : 0);
    if (strlen(text) == 17 && (text[2] == ':' || text[2] == '-')) {
        return read_address(value, text);
    }
    if (*at == '\0') {
        return false;
    }
    for (; *at != '\0'; at++) {
        int digit = hex_digit(*at);
        if (digit < 0 || digit >= (hex ? 16 : 10) ||
            !append(&out, hex ? 16 : 10, (uint32_t)digit)) {
            return false;
        }
    }
    *value = out;
    return true;
}

static int unknown_field(const firn_scheme *scheme, const char *name, firn_error *error) {
    const char *names[FIRN_SLICES_MAX + 3];
    char list[140] = "";
    size_t count = 0, length = 0;
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        if (scheme->slices[i].role != FIRN_ROLE_CONST && firn_scheme_first(scheme, i) == i) {
            names[count++] = scheme->slices[i].name;
        }
    }
    names[count] = NULL;
    for (size_t i = 0; i < count && length < sizeof list - 20; i++) {
        length += (size_t)snprintf(list + length, sizeof list - length, " %s", names[i]);
    }
    const char *near = firn_nearest(name, names);
    return firn__fail(error, FIRN_EUSAGE, "%s has no field '%.30s'%s%s: its fields are%s",
                      scheme->name, name, near != NULL ? ", perhaps " : "",
                      near != NULL ? near : "", list);
}

int firn_fields_set(firn_fields *fields, const firn_scheme *scheme, const char *name,
                    const char *value, firn_error *error) {
    firn_value parsed = {0, 0};
    bool time = strcmp(name, "time") == 0, tick = strcmp(name, "tick") == 0;
    int i = firn_scheme_field(scheme, tick ? "time" : name);
    if (i < 0) {
        return unknown_field(scheme, name, error);
    }
    uint32_t width = firn_scheme_width(scheme, (uint32_t)i);
    if (scheme->slices[i].role == FIRN_ROLE_CONST) {
        return firn__fail(error, FIRN_EUSAGE, "%s is a constant of %s: leave it out", name,
                          scheme->name);
    }
    if (fields->given >> i & 1) {
        return firn__fail(error, FIRN_EUSAGE, "%s is given twice: give it once",
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
    } else if (!firn__value_parse(&parsed, value)) {
        return firn__fail(
            error, FIRN_ETEXT, "%s=%.60s is not a number: write decimal or 0x hex%s", name, value,
            scheme->slices[i].role == FIRN_ROLE_ADDRESS ? ", or aa:bb:cc:dd:ee:ff" : "");
    }
    if (firn__above(parsed, firn_scheme_max(scheme, (uint32_t)i))) {
        char most[FIRN_VALUE_SIZE];
        firn_fields top = {0, {{0, 0}}};
        firn__fields_put(&top, (uint32_t)i, firn_scheme_max(scheme, (uint32_t)i));
        return firn__fail(
            error, FIRN_ERANGE, "%s %.60s does not fit the %" PRIu32 " bits of %s: at most %s",
            name, value, width, scheme->name, firn_fields_get(most, &top, scheme, (uint32_t)i));
    }
    firn__fields_put(fields, (uint32_t)i, parsed);
    return FIRN_OK;
}

/* Decimal of up to 128 bits, by ten digits at a time. */
static void decimal(char text[FIRN_VALUE_SIZE], firn_value value) {
    uint32_t limbs[4] = {(uint32_t)(value.high >> 32), (uint32_t)value.high,
                         (uint32_t)(value.low >> 32), (uint32_t)value.low};
    char digits[40];
    int at = 40;
    do {
        uint64_t rest = 0;
        for (int i = 0; i < 4; i++) {
            rest = rest << 32 | limbs[i];
            limbs[i] = (uint32_t)(rest / 10);
            rest %= 10;
        }
        digits[--at] = (char)('0' + rest);
    } while ((limbs[0] | limbs[1] | limbs[2] | limbs[3]) != 0);
    memcpy(text, digits + at, (size_t)(40 - at));
    text[40 - at] = '\0';
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
               slice->role == FIRN_ROLE_DIGEST) {
        if (digits > 16) {
            snprintf(text, FIRN_VALUE_SIZE, "0x%0*" PRIx64 "%016" PRIx64, digits - 16, value.high,
                     value.low);
        } else {
            snprintf(text, FIRN_VALUE_SIZE, "0x%0*" PRIx64, digits, value.low);
        }
    } else {
        decimal(text, value);
    }
    return text;
}
