/* SPDX-License-Identifier: MIT */
/* Recognisers of UUIDs that are not schemes (NCS, Microsoft, other byte order) and of UUIDs in
 * other alphabets. */
#include "bits.h"
#include "formats.h"
#include "scheme.h"

#include <stdio.h>
#include <string.h>

/* ---- the UUID inside ------------------------------------------------------------------------- */

/* Other orders of the 16 bytes: the place of each byte, the versions that are looked for, and how
 * many bits less likely the order is than the usual one. */
static const struct order {
    const char *name, *versions;
    uint8_t from[16], bits;
} orders[] = {
    {"in the order of a GUID",
     "12345678",
     {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15},
     2},
    {"in the order of MongoDB's Java driver",
     "47",
     {7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8},
     4},
};
enum { GUID_ORDER, ORDERS = sizeof orders / sizeof orders[0] };

static firn_id reorder(const firn_id *id, const struct order *order) {
    uint8_t bytes[20], out[16];
    firn_id other;
    firn_id_bytes(bytes, id);
    for (size_t i = 0; i < 16; i++) {
        out[i] = bytes[order->from[i]];
    }
    firn_id_from_bytes(&other, out, 128, NULL);
    return other;
}

/* Sets the time of a UUID; returns whether it is from 1990 to 2045. */
static bool set_time(firn_match *out, const firn_scheme *scheme, const firn_id *id) {
    firn_fields fields;
    const int slice = firn__scheme_role(scheme, FIRN_ROLE_TIME);
    if (slice < 0 || firn_unpack(&fields, scheme, id, NULL) != FIRN_OK) {
        return false;
    }
    const uint32_t field = firn_scheme_first(scheme, (uint32_t)slice);
    firn_scheme_time(scheme, fields.value[field].low, &out->time);
    out->timed = true;
    out->digits = firn_scheme_digits(scheme);
    return out->time.sec >= 631152000 && out->time.sec < 2366841600;
}

/* Sets fields, time and reason from the UUID that `what` contains, and *bits: version and variant
 * (6), fewer where the version is rare or the time unusual, more for a time of today. False: not a
 * UUID by version and variant. */
static bool add_uuid(firn_match *out, int *bits, const firn_id *id, const char *what) {
    char text[FIRN_TEXT_SIZE];
    const firn_scheme *scheme = firn__scheme_uuid(id);
    if (scheme == NULL) {
        return false;
    }
    firn__match_field(out, "uuid", "%s", firn_format(text, id, FIRN_FORM_UUID));
    firn__match_field(out, "scheme", "%s", scheme->name);
    const bool today = set_time(out, scheme, id);
    const bool random = scheme->tick_ns == 0 && firn__scheme_role(scheme, FIRN_ROLE_RANDOM) >= 0;
    const int chance = today ? 12 : random ? 6 : out->timed ? 1 : 3;
    return firn__matched(out, bits, chance, "%s of a UUID, version %s%s", what, scheme->name + 4,
                         today        ? ", with a time from 1990 to 2045"
                         : out->timed ? ", with an unusual time"
                                      : "");
}

/* The better of two ways to read a text; `other` has a note about itself. */
static bool add_better(firn_match *out, int *bits, bool found, const firn_match *other,
                       int other_bits) {
    if (other->count == 0 || (found && other_bits <= *bits)) {
        return found;
    }
    *out = *other;
    *bits = other_bits;
    return true;
}

/* The same for bytes in another order. */
static bool add_reordered(firn_match *out, int *bits, const firn_id *id, const char *what) {
    bool found = false;
    firn_match best = *out;
    for (size_t i = 0; i < ORDERS; i++) {
        const firn_id other = reorder(id, &orders[i]);
        const firn_scheme *scheme = firn__scheme_uuid(&other);
        firn_match match = *out;
        int match_bits = 0;
        if (scheme == NULL || strchr(orders[i].versions, scheme->name[4]) == NULL) {
            continue;
        }
        add_uuid(&match, &match_bits, &other, what);
        firn__match_field(&match, "bytes", "%s", orders[i].name);
        match_bits = match_bits > orders[i].bits ? match_bits - orders[i].bits : 0;
        found = add_better(&best, bits, found, &match, match_bits);
    }
    *out = best;
    return found;
}

/* The same for bytes whose order is unknown. */
static bool add_bytes(firn_match *out, int *bits, const firn_id *id, const char *what) {
    firn_match other = *out;
    int other_bits = 0;
    const bool reordered = add_reordered(&other, &other_bits, id, what);
    const bool usual = add_uuid(out, bits, id, what);
    return reordered ? add_better(out, bits, usual, &other, other_bits) : usual;
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* Reads 128 bits in the form of a UUID; with `other`, only without the version and variant of a
 * UUID. */
static bool read_framed(firn_id *id, const firn__look *seen, bool other) {
    const int form = seen->length == 36   ? FIRN_FORM_UUID
                     : seen->length == 38 ? FIRN_FORM_BRACED
                                          : FIRN_FORM_URN;
    const char *text = seen->text + (seen->length == 36 ? 0 : seen->length == 38 ? 1 : 9);
    if ((seen->length != 36 && seen->length != 38 && seen->length != 45) ||
        (other && strchr("89abAB", text[19]) != NULL && text[14] >= '1' && text[14] <= '8')) {
        return false; /* most are schemes, and need not be read again */
    }
    return firn_parse(id, form, 128, seen->text, seen->length, NULL) == FIRN_OK;
}

bool firn__is_microsoft_guid(firn_match *out, int *bits, const firn__look *seen) {
    firn_id id;
    char hex[FIRN_TEXT_SIZE];
    if (!read_framed(&id, seen, true) || firn__get(&id, 61, 3).low != 6) {
        return false;
    }
    const bool com = id.low == UINT64_C(0xc000000000000046);
    firn__match_field(out, "variant", "6 (Microsoft)");
    firn__match_field(out, "data1", "%08llx", (unsigned long long)(id.high >> 32));
    firn__match_field(out, "data2", "%04llx", (unsigned long long)firn__get(&id, 80, 16).low);
    firn__match_field(out, "data3", "%04llx", (unsigned long long)firn__get(&id, 64, 16).low);
    firn__match_field(out, "data4", "%016llx", (unsigned long long)id.low);
    const firn_id swapped = reorder(&id, &orders[GUID_ORDER]);
    firn__match_field(out, "memory", "%s", firn_format(hex, &swapped, FIRN_FORM_HEX));
    return firn__matched(out, bits, com ? 64 : FIRN__LIKELY_BITS,
                         com ? "the form and the last 8 bytes of COM"
                             : "the form and the three bits of the variant");
}

/* Only families 0 to 13 were assigned. */
bool firn__is_ncs_uuid(firn_match *out, int *bits, const firn__look *seen) {
    static const char *const families[] = {
        "unspecified", "unix", "internet", "implink", "pup", "chaos",        "ns",
        "nbs",         "ecma", "datakit",  "ccitt",   "sna", "unspecified2", "dds"};
    enum { FAMILIES = sizeof families / sizeof families[0] };
    firn_id id;
    if (!read_framed(&id, seen, true) || firn__get(&id, 63, 1).low != 0) {
        return false;
    }
    const uint64_t time = firn__get(&id, 80, 48).low, family = firn__get(&id, 56, 8).low;
    if (firn__get(&id, 64, 16).low != 0 || family >= FAMILIES || time == 0) {
        return firn__matched(out, bits, 0,
                             "the bit of the variant, but %s: rather 128 arbitrary bits",
                             family >= FAMILIES ? "no family of NCS"
                                                : "its reserved bits or its time are not NCS's");
    }
    firn__match_field(out, "variant", "0 (NCS)");
    firn__match_field(out, "family", "%llu (%s)", (unsigned long long)family, families[family]);
    firn__match_field(out, "host", "%014llx", (unsigned long long)firn__get(&id, 0, 56).low);
    out->timed = true;
    out->digits = 6;
    out->time = (firn_time){315532800 + (int64_t)(time / 250000), (int32_t)(time % 250000 * 4000)};
    return firn__matched(out, bits, FIRN__CERTAIN_BITS,
                         "the variant, 16 zero bits and a family of NCS");
}

/* A valid UUID may be in another order, too, but only a version 7 of today is mentioned, in a UUID
 * that is not one itself: others have one by chance in at most 1 of 2600 cases. */
bool firn__is_swapped_uuid(firn_match *out, int *bits, const firn__look *seen) {
    const char what[] = "reversed bytes";
    firn_id id;
    if (!read_framed(&id, seen, false)) {
        return false;
    }
    const firn_scheme *scheme = firn__scheme_uuid(&id);
    if (scheme == NULL) {
        return add_reordered(out, bits, &id, what);
    }
    out->subset = true;
    firn_match plain = *out;
    if (scheme->name[4] == '7' && set_time(&plain, scheme, &id)) {
        return false;
    }
    for (size_t i = 0; i < ORDERS; i++) {
        const firn_id other = reorder(&id, &orders[i]);
        const firn_scheme *owner = firn__scheme_uuid(&other);
        firn_match match = *out;
        if (owner != NULL && owner->name[4] == '7' && set_time(&match, owner, &other)) {
            add_uuid(out, bits, &other, what);
            firn__match_field(out, "bytes", "%s", orders[i].name);
            return true;
        }
    }
    return false;
}

/* ---- UUIDs as some packages wrote them ------------------------------------------------------- */

/* Its time is shifted by 4 bits more than it should be. */
bool firn__is_google_uuid6(firn_match *out, int *bits, const firn__look *seen) {
    firn_id id, right;
    char text[FIRN_TEXT_SIZE];
    if (firn_parse(&id, FIRN_FORM_UUID, 128, seen->text, seen->length, NULL) != FIRN_OK ||
        firn__get(&id, 76, 4).low != 6 || firn__get(&id, 62, 2).low != 2 ||
        firn__get(&id, 124, 4).low != 0) {
        return false;
    }
    right = id;
    const uint64_t time = firn__get(&id, 80, 48).low << 16 | firn__get(&id, 64, 12).low;
    right.high = time >> 12 << 16 | 0x6000 | (time & 0xfff);
    if (!set_time(out, firn_scheme_find("uuid6"), &right) || out->time.sec < 1672531200) {
        return false;
    }
    firn__match_field(out, "uuid6", "%s", firn_format(text, &right, FIRN_FORM_UUID));
    out->digits = 3;
    return firn__matched(out, bits, FIRN__CERTAIN_BITS,
                         "version 6, a leading zero and a time from 2023 to 2045, exact to 7 ms");
}

bool firn__is_draft_uuid7(firn_match *out, int *bits, const firn__look *seen) {
    firn_id id;
    if (firn_parse(&id, FIRN_FORM_UUID, 128, seen->text, seen->length, NULL) != FIRN_OK ||
        firn__get(&id, 76, 4).low != 7 || firn__get(&id, 62, 2).low != 2) {
        return false;
    }
    const uint64_t second = firn__get(&id, 92, 36).low;
    const uint64_t fraction = firn__get(&id, 80, 12).low << 12 | firn__get(&id, 64, 12).low;
    if (second < 1609459200 || second >= 2366841600) {
        return false;
    }
    out->timed = true;
    out->digits = 7;
    out->time = (firn_time){(int64_t)second, (int32_t)(fraction * 1000000000 >> 24)};
    firn__match_number(out, "sequence", firn__get(&id, 48, 14).low);
    firn__match_field(out, "random", "0x%012llx", (unsigned long long)firn__get(&id, 0, 48).low);
    return firn__matched(out, bits, 12, "version 7 and a time in s from 2021 to 2045");
}

/* ---- alphabets ------------------------------------------------------------------------------- */

static bool is_digits(firn_match *out, int *bits, const firn__look *seen, const char *alphabet,
                      const char *what) {
    firn_id id;
    return firn__read_digits(&id, alphabet, seen->text, seen->length) &&
           add_uuid(out, bits, &id, what);
}

bool firn__is_uuid25(firn_match *out, int *bits, const firn__look *seen) {
    return is_digits(out, bits, seen, "0123456789abcdefghijklmnopqrstuvwxyz", "25 base36 digits");
}

/* Before version 1.0 of the package the least digit came first. */
bool firn__is_shortuuid(firn_match *out, int *bits, const firn__look *seen) {
    static const char digits[] = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    char text[22];
    const firn__look reversed = {text, sizeof text, seen->alphabets};
    firn_match older = *out;
    int older_bits = 0;
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = seen->text[sizeof text - 1 - i];
    }
    is_digits(&older, &older_bits, &reversed, digits, "22 base57 digits, the lowest first,");
    return add_better(out, bits, is_digits(out, bits, seen, digits, "22 base57 digits"), &older,
                      older_bits);
}

bool firn__is_shortuuid58(firn_match *out, int *bits, const firn__look *seen) {
    return is_digits(out, bits, seen, "123456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ",
                     "22 base58 digits");
}

/* Other programs leave the leading zero out: 1 of 32 UUIDs has 21 digits then, and almost none
 * fewer. */
bool firn__is_base58_uuid(firn_match *out, int *bits, const firn__look *seen) {
    const bool found = is_digits(out, bits, seen, firn__base58, "base58 digits, capitals first,");
    if (seen->length == 21) {
        *bits = *bits > 5 ? *bits - 5 : 0;
    }
    return found;
}

/* 22 digits have four bits too many, which are zero. Both alphabets, but not in one text. */
bool firn__is_base64_uuid(firn_match *out, int *bits, const firn__look *seen) {
    char text[22];
    firn_id id;
    if (seen->length == 23 || (seen->length == 24 && memcmp(seen->text + 22, "==", 2) != 0)) {
        return false;
    }
    const bool url = memchr(seen->text, '-', 22) != NULL || memchr(seen->text, '_', 22) != NULL;
    for (size_t i = 0; i < 22; i++) {
        const char c = seen->text[i];
        if (url && (c == '+' || c == '/')) {
            return false;
        }
        text[i] = c == '+' ? '-' : c == '/' ? '_' : c;
    }
    const char *last = memchr(firn__base64url, text[21], 64);
    if (last == NULL || (last - firn__base64url) % 16 != 0 ||
        !firn__read_digits(&id, firn__base64url, text, 21)) {
        return false;
    }
    const firn_value two = {(uint64_t)(last - firn__base64url) / 16, 0};
    firn__push(&id, two, 2);
    id.top = 0;
    const bool found = add_bytes(out, bits, &id, "22 base64 digits");
    *bits += 4;
    return found;
}

/* Its first and last letters are two of 16. */
bool firn__is_uuid_ncname(firn_match *out, int *bits, const firn__look *seen) {
    const int form = seen->length == 26   ? FIRN_FORM_NCNAME32
                     : seen->length == 23 ? FIRN_FORM_NCNAME58
                                          : FIRN_FORM_NCNAME64;
    firn_id id;
    if (firn_parse(&id, form, 128, seen->text, seen->length, NULL) != FIRN_OK ||
        !add_uuid(out, bits, &id, "an NCName")) {
        return false;
    }
    *bits += form == FIRN_FORM_NCNAME32 ? 2 : 4;
    return true;
}
