/* SPDX-License-Identifier: MIT */
/* Which readings are plausible: see plausible.h. The rules compare how often an ID of the scheme
 * has this text with how often anything else has. They use fixed numbers only, so a text always
 * has the same answer. docs/reference/format.md, section 8, has them in words. */
#include "plausible.h"

#include "bits.h"
#include "scheme.h"

/* The times of today's IDs: 2005 to 2045, or 1990 to 2045 for UUIDs, which are older. */
static const firn_time today_from = {1104537600, 0}, uuids_from = {631152000, 0},
                       today_end = {2366841600, 0};

/* A text in another form than the scheme's own is plausible if it fits by chance in at most one of
 * 2^6 cases. The version and variant of a UUID have 6 bits. */
enum { RARE = 6 };

#define TEN_TO_13 UINT64_C(10000000000000)

uint32_t firn__constant_bits(const firn_scheme *scheme) {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        bits += scheme->slices[i].role == FIRN_ROLE_CONST ? scheme->slices[i].bits : 0;
    }
    return bits;
}

bool firn__time_likely(const firn_scheme *scheme, const firn_fields *fields) {
    int field = firn__scheme_role(scheme, FIRN_ROLE_TIME);
    firn_time time;
    if (field < 0) {
        return false;
    }
    firn_scheme_time(scheme, fields->value[field].low, &time);
    return firn_time_cmp(&time, scheme->epoch.sec < 0 ? &uuids_from : &today_from) >= 0 &&
           firn_time_cmp(&time, &today_end) < 0;
}

/* About how many bits of the time are the same in all of today's IDs. */
static uint32_t time_bits(const firn_scheme *scheme) {
    int field = firn__scheme_role(scheme, FIRN_ROLE_TIME);
    uint64_t ticks = (uint64_t)(today_end.sec - today_from.sec) * (1000000000 / scheme->tick_ns);
    uint32_t width = firn_scheme_width(scheme, (uint32_t)field), used = 0;
    for (; ticks > 0; ticks >>= 1) {
        used++;
    }
    return width > used ? width - used : 0;
}

/* yyyyMMddHHmmss of 2001 to 2044. */
static bool is_calendar(uint64_t number) {
    uint64_t second = number % 100, minute = number / 100 % 100, hour = number / 10000 % 100;
    uint64_t day = number / 1000000 % 100, month = number / 100000000 % 100;
    uint64_t year = number / UINT64_C(10000000000);
    return year >= 2001 && year < 2045 && month >= 1 && month <= 12 && day >= 1 && day <= 31 &&
           hour < 24 && minute < 60 && second < 60;
}

bool firn__ordinary(uint64_t number) {
    const uint64_t from = 1000000000, end = (uint64_t)today_end.sec;
    uint64_t us = number / 1000000, ns = number / 1000000000;
    return number < TEN_TO_13 || (us >= from && us < end) ||
           (number % 1000000 == 0 && ns >= from && ns < end) || is_calendar(number) ||
           is_calendar(number / 1000);
}

static bool is_frame(int form) {
    return form == FIRN_FORM_UUID || form == FIRN_FORM_URN || form == FIRN_FORM_BRACED;
}

static bool is_number(int form) {
    return form == FIRN_FORM_DEC || form == FIRN_FORM_UNSIGNED;
}

static bool is_own_form(const firn_scheme *scheme, int form) {
    return scheme->form == form || (is_frame(scheme->form) && is_frame(form)) ||
           (is_number(scheme->form) && is_number(form));
}

/* A UUID of a defined version. */
static bool is_uuid(const firn_id *id) {
    uint64_t version = firn__get(id, 76, 4).low, variant = firn__get(id, 62, 2).low;
    return id->bits == 128 && variant == 2 && version >= 1 && version <= 8;
}

/* Whether a scheme has a version where UUIDs have it. */
static bool has_version(const firn_scheme *scheme) {
    uint32_t below = scheme->bits;
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        below -= scheme->slices[i].bits;
        if (below == 76) {
            return scheme->slices[i].role == FIRN_ROLE_CONST && scheme->slices[i].bits == 4;
        }
    }
    return false;
}

/* Forms that hardly any text has by chance: any year is accepted. */
static bool is_telling(const firn_scheme *scheme, int form) {
    switch (form) {
    case FIRN_FORM_UUID:
    case FIRN_FORM_URN:
    case FIRN_FORM_BRACED:
        return firn__constant_bits(scheme) >= RARE;
    case FIRN_FORM_HEX:
        return scheme->bits == 96;
    case FIRN_FORM_BASE32:
        return scheme->bits == 128;
    case FIRN_FORM_BASE32HEX:
    case FIRN_FORM_BASE62:
    case FIRN_FORM_TYPEID:
    case FIRN_FORM_DATED:
        return true;
    default:
        return false;
    }
}

enum firn__standing firn__standing(const firn_reading *reading, const firn_fields *fields) {
    const firn_scheme *scheme = reading->scheme;
    const int form = reading->form;
    const bool own = is_own_form(scheme, form), timed = scheme->tick_ns != 0;
    const bool likely = timed && firn__time_likely(scheme, fields);
    const uint32_t constant = firn__constant_bits(scheme);
    const bool numeric = is_number(form) || form == FIRN_FORM_HEX;
    /* no system has reached the top bit: Simpleflake, the first, does in 2034 */
    const bool top = is_number(form) && reading->id.low >> 63 != 0;
    if (scheme->bits == 64 && numeric && (top || firn__ordinary(reading->id.low))) {
        return FIRN__CHANCE;
    }
    /* a UUID, by version and variant, is not an ID of a 128-bit scheme without them */
    if (scheme->bits == 128 && is_uuid(&reading->id) && (is_frame(form) || !own) &&
        !has_version(scheme)) {
        return FIRN__CHANCE;
    }
    /* base32 is rather a ULID than a UUID */
    const bool usual = own || numeric || form == FIRN_FORM_TYPEID;
    const enum firn__standing best = usual || is_frame(form) ? FIRN__LIKELY : FIRN__SHAPE;
    if (!timed) {
        return constant < RARE ? FIRN__CHANCE : best;
    }
    if (!likely) {
        return own && is_telling(scheme, form) ? FIRN__SHAPE : FIRN__CHANCE;
    }
    bool rare = constant + time_bits(scheme) >= RARE;
    return own || rare || (scheme->bits == 64 && numeric) ? best : FIRN__CHANCE;
}
