/* SPDX-License-Identifier: MIT */
/* The writers and readers of a version of simd.h, on top of its vectors. A version includes this
 * file once, and defines before that: VERSION and NAME; TARGET, for functions, and INLINE;
 * `vector`;
 *
 *     put_uuid(out, high, low)                36 characters
 *     get_uuid(&high, &low, text)             of 36 characters
 *     load(text), store(text, vector)         16 characters
 *     hex_digits(&a, &b, high, low)           32 digits as two vectors
 *     hex_values(vector)                      the values of 16 characters
 *     are_hex(a, b)                           whether all characters of two such vectors are digits
 *     hex_words(&high, &low, a, b)            their words
 *     put_eights(out, a, b, digits)           twice 40 bits, as 16 digits of base32
 *     load_values(text, values)               a vector of 16 digits of base32
 *     are_digits(a, b)                        whether all characters of two such vectors are
 *     get_eights(&a, &b, vector)              their twice 40 bits */
#include "bits.h"
#include "forms.h"

/* ---- uuid ------------------------------------------------------------------------------------ */

TARGET static char *fast_write_uuid(char *out, const firn_id *id) {
    const bool fits = id->bits == 128;
    if (fits) {
        put_uuid(out, id->high, id->low);
    }
    out[fits ? 36 : 0] = '\0';
    return out;
}

TARGET static int fast_read_uuid(firn_id *id, int form, uint32_t bits, const char *text,
                                 size_t length, firn_error *error) {
    uint64_t high, low;
    if (bits != 128 || length != 36 || !get_uuid(&high, &low, text)) {
        return firn__refuse_text(form, bits, text, length, error);
    }
    *id = (firn_id){low, high, 0, 128};
    return FIRN_OK;
}

/* ---- hex ------------------------------------------------------------------------------------- */

/* 64 to 128 bits, in whole digits: the digits of the upper and the lower 64 bits may overlap. */
static inline bool is_vector_hex(uint32_t bits) {
    return bits % 4 == 0 && bits - 64 <= 64;
}

TARGET static char *fast_write_hex(char *out, const firn_id *id) {
    const uint32_t width = id->bits / 4;
    if (!is_vector_hex(id->bits)) {
        return firn__writers[FIRN_FORM_HEX](out, id);
    }
    const firn_value upper = firn__up((firn_value){id->low, id->high}, 128 - id->bits);
    vector first, last;
    hex_digits(&first, &last, upper.high, id->low);
    store(out, first);
    store(out + width - 16, last);
    out[width] = '\0';
    return out;
}

TARGET static int fast_read_hex(firn_id *id, int form, uint32_t bits, const char *text,
                                size_t length, firn_error *error) {
    uint64_t high, low;
    if (!is_vector_hex(bits) || length != bits / 4) {
        return firn__readers[form](id, form, bits, text, length, error);
    }
    const vector first = hex_values(load(text)), last = hex_values(load(text + length - 16));
    if (!are_hex(first, last)) {
        return firn__refuse_text(form, bits, text, length, error);
    }
    hex_words(&high, &low, first, last);
    *id = (firn_id){low, bits == 64 ? 0 : high >> (128 - bits), 0, bits};
    return FIRN_OK;
}

/* ---- base32 ---------------------------------------------------------------------------------- */

#define FORTY ((UINT64_C(1) << 40) - 1)

/* 128 bits in 26 digits: 2 of the top 8 bits, and three times 8 digits of 40 bits. */
INLINE char *put_base32(char *out, const firn_id *id, const char *digits) {
    const uint64_t high = id->high, low = id->low;
    put_eights(out + 2, high >> 16 & FORTY, (high << 24 | low >> 40) & FORTY, digits);
    put_eights(out + 10, (high << 24 | low >> 40) & FORTY, low & FORTY, digits);
    out[0] = digits[high >> 61];
    out[1] = digits[high >> 56 & 31];
    out[26] = '\0';
    return out;
}

INLINE bool get_base32(firn_id *id, const char *text, const uint8_t *values) {
    const vector head = load_values(text, values), tail = load_values(text + 10, values);
    uint64_t a, b, c, d;
    if (!are_digits(head, tail)) {
        return false;
    }
    get_eights(&a, &b, head); /* digits 0 to 7 and 8 to 15; 10 and later are in the tail as well */
    get_eights(&c, &d, tail);
    if (a >> 38 != 0) {
        return false; /* more than 128 bits */
    }
    *id = (firn_id){c << 40 | d, a << 26 | b >> 14, 0, 128};
    return true;
}

#define BASE32(name, FORM)                                                                         \
    TARGET static char *fast_write_##name(char *out, const firn_id *id) {                          \
        return id->bits == 128 ? put_base32(out, id, firn__forms[FORM].digits)                     \
                               : firn__writers[FORM](out, id);                                     \
    }                                                                                              \
    TARGET static int fast_read_##name(firn_id *id, int form, uint32_t bits, const char *text,     \
                                       size_t length, firn_error *error) {                         \
        if (bits != 128 || length != 26) {                                                         \
            return firn__readers[FORM](id, form, bits, text, length, error);                       \
        }                                                                                          \
        return get_base32(id, text, firn__forms[FORM].values)                                      \
                   ? FIRN_OK                                                                       \
                   : firn__refuse_text(form, bits, text, length, error);                           \
    }
BASE32(base32, FIRN_FORM_BASE32)
BASE32(typeid, FIRN_FORM_TYPEID)

/* With or without a prefix. */
TARGET static int fast_read_prefixed(firn_id *id, int form, uint32_t bits, const char *text,
                                     size_t length, firn_error *error) {
    const bool prefixed = bits == 128 && length > 27 && text[length - 27] == '_' &&
                          firn__is_prefix(text, length - 27);
    return prefixed && get_base32(id, text + length - 26, firn__forms[FIRN_FORM_TYPEID].values)
               ? FIRN_OK
               : fast_read_typeid(id, form, bits, text, length, error);
}

/* ---- the version ----------------------------------------------------------------------------- */

const firn__simd VERSION = {
    NAME,
    .write = {[FIRN_FORM_UUID] = fast_write_uuid,
              [FIRN_FORM_HEX] = fast_write_hex,
              [FIRN_FORM_BASE32] = fast_write_base32,
              [FIRN_FORM_TYPEID] = fast_write_typeid},
    .read = {[FIRN_FORM_UUID] = fast_read_uuid,
             [FIRN_FORM_HEX] = fast_read_hex,
             [FIRN_FORM_BASE32] = fast_read_base32,
             [FIRN_FORM_TYPEID] = fast_read_prefixed},
};
