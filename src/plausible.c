/* SPDX-License-Identifier: MIT */
/* Which readings are plausible: see plausible.h. The rules compare how often an ID of the scheme
 * has this text with how often anything else has. They use fixed numbers only, so a text always
 * has the same answer. docs/reference/format.md, section 8, has them in words. */
#include "plausible.h"

#include "bits.h"

/* Today's IDs end in 2045. */
static const uint64_t today_end = 2366841600;

#define TEN_TO_13 UINT64_C(10000000000000)

/* yyyyMMddHHmmss of 2001 to 2044. */
static bool is_calendar(uint64_t number) {
    uint64_t year = number / UINT64_C(10000000000);
    if (year < 2001 || year >= 2045) {
        return false;
    }
    uint64_t second = number % 100, minute = number / 100 % 100, hour = number / 10000 % 100;
    uint64_t day = number / 1000000 % 100, month = number / 100000000 % 100;
    return month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour < 24 && minute < 60 &&
           second < 60;
}

bool firn__ordinary(uint64_t number) {
    const uint64_t from = 1000000000;
    uint64_t us = number / 1000000, ns = number / 1000000000;
    return number < TEN_TO_13 || (us >= from && us < today_end) ||
           (ns >= from && ns < today_end && number % 1000000 == 0) || is_calendar(number) ||
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

bool firn__is_uuid(const firn_id *id) {
    uint64_t version = firn__get(id, 76, 4).low, variant = firn__get(id, 62, 2).low;
    return id->bits == 128 && variant == 2 && version >= 1 && version <= 8;
}

/* Forms that hardly any text has by chance: any year is accepted. */
static bool is_telling(const firn__traits *traits, int form) {
    switch (form) {
    case FIRN_FORM_UUID:
    case FIRN_FORM_URN:
    case FIRN_FORM_BRACED:
        return traits->constant_bits >= FIRN__RARE;
    case FIRN_FORM_HEX:
        return traits->scheme->bits == 96;
    case FIRN_FORM_BASE32:
        return traits->scheme->bits == 128;
    case FIRN_FORM_BASE62:
        return traits->scheme->bits == 160; /* of 128 bits it has the length of a random token */
    case FIRN_FORM_BASE32HEX:
    case FIRN_FORM_TYPEID:
    case FIRN_FORM_DATED:
        return true;
    default:
        return false;
    }
}

enum firn__standing firn__standing(const firn__traits *traits, int form, bool uuid, bool today) {
    const firn_scheme *scheme = traits->scheme;
    const bool own = is_own_form(scheme, form);
    const bool numeric = is_number(form) || form == FIRN_FORM_HEX;
    /* a UUID, by version and variant, is not an ID of a 128-bit scheme without them */
    if (uuid && (is_frame(form) || !own) && !traits->version) {
        return FIRN__CHANCE;
    }
    /* base32 is rather a ULID than a UUID */
    const bool usual = own || numeric || form == FIRN_FORM_TYPEID;
    const enum firn__standing best = usual || is_frame(form) ? FIRN__LIKELY : FIRN__SHAPE;
    if (scheme->tick_ns == 0) {
        return traits->rare ? best : FIRN__CHANCE;
    }
    if (!today) {
        return own && is_telling(traits, form) ? FIRN__SHAPE : FIRN__CHANCE;
    }
    return own || traits->rare || (scheme->bits == 64 && numeric) ? best : FIRN__CHANCE;
}
