/* SPDX-License-Identifier: MIT */
/* IDs read from text, strictly: one reader per kind of form, and the message that says what is
 * wrong with a text. Writing is in text.c, the forms are in forms.h. */
#include "bits.h"
#include "date_form.h"
#include "encoded.h"
#include "error.h"
#include "forms.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

/* ---- reading ------------------------------------------------------------------------------- */

/* A reader returns true only for the one text of an ID. explain() finds out where and why a text is
 * wrong. */

static inline uint8_t value_of(const firn__form *form, char c) {
    return form->values[(unsigned char)c];
}

/* At most `width` digits of a number of up to 64 bits. All but the last always fit. */
EACH bool get_number(uint64_t *number, const firn__form *form, uint32_t bits, const char *text,
                     size_t length) {
    uint64_t x = 0;
    uint8_t all = IS;
    size_t i = 0;
    for (; i < length - 1; i++) {
        uint8_t value = value_of(form, text[i]);
        all &= value;
        x = x * form->base + (value & 0x7f);
    }
    uint8_t value = value_of(form, text[i]);
    uint64_t last = value & 0x7f, most = firn__mask(bits);
    if ((all & value) == 0 || last > most || x > (most - last) / form->base) {
        return false;
    }
    *number = x * form->base + last;
    return true;
}

/* At most `width` digits of a number of any width. */
EACH bool get_wide(firn_id *id, const firn__form *form, const char *text, size_t length) {
    uint32_t limbs[6] = {0}; /* least first; the sixth is for numbers that are too great */
    uint32_t used = 0;
    uint8_t all = IS;
    for (size_t i = 0; i < length;) {
        const size_t first = i == 0 ? length % form->chunk_digits : 0;
        const size_t end = i + (first > 0 ? first : form->chunk_digits);
        uint64_t carry = 0;
        for (; i < end; i++) {
            uint8_t value = value_of(form, text[i]);
            all &= value;
            carry = carry * form->base + (value & 0x7f);
        }
        for (uint32_t j = 0; j < used; j++) { /* none yet for a short first chunk */
            carry += (uint64_t)limbs[j] * form->chunk;
            limbs[j] = (uint32_t)carry;
            carry >>= 32;
        }
        if (carry > 0) {
            limbs[used++] = (uint32_t)carry;
        }
    }
    firn_id read = {0, 0, 0, id->bits};
    for (uint32_t j = 5; j-- > 0;) {
        firn__push(&read, (firn_value){limbs[j], 0}, 32);
    }
    bool fits = limbs[5] == 0;
    if (id->bits < 160) { /* too great by less than one digit, so one word above is enough */
        fits = fits && firn__get(&read, id->bits, 160 - id->bits).low == 0;
    }
    *id = read;
    return all != 0 && fits;
}

/* At most `width` digits. */
EACH bool get_radix(firn_id *id, const firn__form *form, const char *text, size_t length) {
    return id->bits <= 64 ? get_number(&id->low, form, id->bits, text, length)
                          : get_wide(id, form, text, length);
}

EACH bool read_radix(firn_id *id, const firn__form *form, const char *text, size_t length) {
    return length == firn__form_digits(form, id->bits) && get_radix(id, form, text, length);
}

EACH bool read_number(firn_id *id, const firn__form *form, const char *text, size_t length) {
    return length > 0 && length <= firn__form_digits(form, id->bits) &&
           (*text != '0' || length == 1) && get_radix(id, form, text, length);
}

/* 64 bits are read from -2^63 to 2^64 - 1, because systems print the same ID either way. */
EACH bool read_signed(firn_id *id, const firn__form *form, const char *text, size_t length) {
    const bool negative = id->bits == 64 && length > 0 && *text == '-';
    if (!read_number(id, form, text + negative, length - negative)) {
        return false;
    }
    if (negative) {
        id->low = 0 - id->low; /* of 1 to 2^63, which have the top bit then */
        return id->low >> 63 != 0;
    }
    return true;
}

/* Four digits. */
EACH uint32_t get_power(const firn__form *form, const char *text, uint32_t *all) {
    const uint32_t digit_bits = form->digit_bits;
    uint32_t a = value_of(form, text[0]), b = value_of(form, text[1]);
    uint32_t c = value_of(form, text[2]), d = value_of(form, text[3]);
    *all &= a & b & c & d;
    return (a & 0x7f) << 3 * digit_bits | (b & 0x7f) << 2 * digit_bits | (c & 0x7f) << digit_bits |
           (d & 0x7f);
}

/* `width` digits of a radix that is a power of two: the remainder first, then four at a time. */
EACH bool read_power(firn_id *id, const firn__form *form, const char *text, size_t length) {
    const uint32_t digit_bits = form->digit_bits;
    const uint32_t width = firn__form_digits(form, id->bits), spare = width * digit_bits - id->bits;
    if (length != width) {
        return false;
    }
    uint32_t first = value_of(form, text[0]) & 0x7f, all = IS, i = 0;
    for (; i < width % 4; i++) {
        uint32_t value = value_of(form, text[i]);
        all &= value;
        firn__push(id, (firn_value){value & 0x7f, 0}, digit_bits);
    }
    while (i < width) { /* as many as a word has */
        uint64_t word = 0;
        uint32_t bits = 0;
        for (; i < width && bits + 4 * digit_bits <= 64; i += 4) {
            word = word << 4 * digit_bits | get_power(form, text + i, &all);
            bits += 4 * digit_bits;
        }
        firn__push(id, (firn_value){word, 0}, bits);
    }
    if (form->kind != KIND_LEFT) {
        return all != 0 && first >> (digit_bits - spare) == 0;
    }
    firn_value below = firn__get(id, spare, 128);
    bool fits = (id->low & firn__mask(spare)) == 0;
    id->top = (uint32_t)firn__get(id, 128 + spare, 32).low;
    id->high = below.high;
    id->low = below.low;
    return all != 0 && fits;
}

/* xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx */
EACH bool read_uuid(firn_id *id, const firn__form *form, const char *text) {
    uint32_t all = IS;
    for (int i = 0; i < 4; i++) {
        id->high = id->high << 16 | get_power(form, text + firn__frame_places[i], &all);
        id->low = id->low << 16 | get_power(form, text + firn__frame_places[i + 4], &all);
    }
    return all != 0 && text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-';
}

enum { PREFIX_MAX = FIRN_PREFIX_SIZE - 1 };

bool firn__is_prefix(const char *text, size_t length) {
    bool fits = length >= 1 && length <= PREFIX_MAX && text[0] != '_' && text[length - 1] != '_';
    for (size_t i = 0; fits && i < length; i++) {
        fits = (text[i] >= 'a' && text[i] <= 'z') || text[i] == '_';
    }
    return fits;
}

EACH bool read_typeid(firn_id *id, const firn__form *form, const char *text, size_t length) {
    size_t width = firn__form_digits(form, 128);
    if (length > width) {
        size_t prefix = length - width - 1;
        if (text[prefix] != '_' || !firn__is_prefix(text, prefix)) {
            return false;
        }
        text += prefix + 1;
        length = width;
    }
    return id->bits == 128 && read_power(id, form, text, length);
}

/* Whether a character is right at a place of a frame. Letters may be in either case. */
static bool frame_takes(char frame, char c) {
    if (frame == 'x') {
        return values_hex[(unsigned char)c] != 0;
    }
    return c == frame || (frame >= 'a' && frame <= 'z' && c == frame - 'a' + 'A');
}

EACH bool read_frame(firn_id *id, const firn__form *form, const char *text, size_t length) {
    size_t before = strcspn(form->frame, "x"), end = before + 36;
    if (id->bits != 128 || length != strlen(form->frame)) {
        return false;
    }
    for (size_t i = 0; i < before; i++) {
        if (!frame_takes(form->frame[i], text[i])) {
            return false;
        }
    }
    return (end == length || text[end] == form->frame[end]) && read_uuid(id, form, text + before);
}

/* ---- what is wrong with a text ------------------------------------------------------------- */

typedef struct {
    const char *text;
    size_t length;
    size_t start; /* of its digits, after a sign or a prefix */
    firn_error *error;
} refused;

static int refuse(const refused *refusal, size_t position, const char *why) {
    return firn__refuse(refusal->error, refusal->text, refusal->length, position, why);
}

/* Valid digits of the right number, but too great: names the first digit that exceeds the greatest
 * ID's. */
static int refuse_big(const refused *refusal, const firn__form *form, const char *greatest,
                      uint32_t bits) {
    char why[128];
    size_t position = 0;
    const char *digits = refusal->text + refusal->start;
    while (greatest[position + 1] != '\0' &&
           value_of(form, digits[position]) == value_of(form, greatest[position])) {
        position++;
    }
    snprintf(why, sizeof why, "too great for %u bits: at most %s", (unsigned)bits, greatest);
    return refuse(refusal, refusal->start + position, why);
}

/* The digits of the greatest ID of a form; after a sign, of the least ID. */
static void write_greatest(char out[FIRN_TEXT_SIZE], const refused *refusal, int form,
                           uint32_t bits) {
    firn_id id = {0, 0, 0, bits};
    if (form == FIRN_FORM_DEC && refusal->start > 0) {
        id.low = UINT64_C(1) << 63;
    } else {
        for (uint32_t i = 0; i < bits; i++) {
            firn__push(&id, (firn_value){1, 0}, 1);
        }
    }
    firn__writers[form == FIRN_FORM_DEC ? FIRN_FORM_UNSIGNED : form](out, &id);
}

static int explain_digits(const refused *refusal, int form, uint32_t bits) {
    const firn__form *firn_form = &firn__forms[form];
    const bool padded = firn_form->kind != KIND_NUMBER && firn_form->kind != KIND_SIGNED;
    char why[128], greatest[FIRN_TEXT_SIZE];
    write_greatest(greatest, refusal, form, bits);
    const size_t digits = refusal->length - refusal->start, width = strlen(greatest);
    if (!padded && digits > 1 && refusal->text[refusal->start] == '0') {
        return refuse(refusal, refusal->start, "a number must not begin with 0");
    }
    for (size_t i = 0; i < digits && i < width; i++) {
        if (value_of(firn_form, refusal->text[refusal->start + i]) == 0) {
            snprintf(why, sizeof why, "%s is needed", firn_form->needed);
            return refuse(refusal, refusal->start + i, why);
        }
    }
    snprintf(why, sizeof why, "%s of %u bits has %s%zu digit%s", firn_form->name, (unsigned)bits,
             padded ? "" : "at most ", width, width == 1 ? "" : "s");
    if (digits > width) {
        return refuse(refusal, refusal->start + width, why);
    }
    if (digits == 0 || (padded && digits < width)) {
        return refuse(refusal, refusal->length, why);
    }
    if (firn_form->kind == KIND_LEFT) {
        return refuse(refusal, refusal->length - 1,
                      "the spare bits of the last digit must be zero");
    }
    return refuse_big(refusal, firn_form, greatest, bits);
}

static int explain_signed(refused *refusal, int form, uint32_t bits) {
    if (bits == 64 && refusal->length > 0 && *refusal->text == '-') {
        refusal->start = 1;
        if (refusal->length > 1 && refusal->text[1] == '0') {
            return refuse(refusal, 1, "a number after '-' must not begin with 0");
        }
    }
    return explain_digits(refusal, form, bits);
}

static int explain_frame(const refused *refusal, const firn__form *form) {
    char why[64];
    size_t width = strlen(form->frame);
    for (size_t i = 0; i < refusal->length && i < width; i++) {
        if (!frame_takes(form->frame[i], refusal->text[i])) {
            snprintf(why, sizeof why, form->frame[i] == 'x' ? "%s is needed" : "'%.1s' is needed",
                     form->frame[i] == 'x' ? form->needed : form->frame + i);
            return refuse(refusal, i, why);
        }
    }
    snprintf(why, sizeof why, "%s has %zu characters", form->name, width);
    return refuse(refusal, refusal->length > width ? width : refusal->length, why);
}

static int explain_typeid(refused *refusal, uint32_t bits) {
    size_t prefix = refusal->length;
    while (prefix > 0 && refusal->text[prefix - 1] != '_') {
        prefix--;
    }
    refusal->start = prefix;
    if (prefix == 1) {
        return refuse(refusal, 0, "a prefix must come before '_'");
    }
    for (size_t i = 0; i + 1 < prefix; i++) {
        char c = refusal->text[i];
        if (i == PREFIX_MAX) {
            return refuse(refusal, i, "a prefix has at most 63 characters");
        }
        if (c == '_' && (i == 0 || i + 2 == prefix)) {
            return refuse(refusal, i, "a prefix must begin and end with a letter");
        }
        if (c != '_' && (c < 'a' || c > 'z')) {
            return refuse(refusal, i, "a prefix must consist of a to z and _");
        }
    }
    return explain_digits(refusal, FIRN_FORM_TYPEID, bits);
}

static int explain(refused *refusal, int form, uint32_t bits) {
    switch (firn__forms[form].kind) {
    case KIND_FRAME:
        return explain_frame(refusal, &firn__forms[form]);
    case KIND_TYPEID:
        return explain_typeid(refusal, bits);
    case KIND_DATED:
        return firn__dated_refuse(refusal->error, bits, refusal->text, refusal->length);
    case KIND_BYTES:
    case KIND_NCNAME:
        return firn__encoded_refuse(refusal->error, &firn__forms[form], bits, refusal->text,
                                    refusal->length);
    case KIND_SIGNED:
        return explain_signed(refusal, form, bits);
    default:
        return explain_digits(refusal, form, bits);
    }
}

int firn__refuse_text(int form, uint32_t bits, const char *text, size_t length, firn_error *error) {
    const char *name = firn_form_name(form);
    if (name == NULL) {
        return firn__fail(error, FIRN_EUSAGE, "there is no text form %d", form);
    }
    if (firn_form_width(form, bits) == 0) {
        return firn__fail(error, FIRN_EUSAGE, "%s is not a form for IDs of %u bits", name,
                          (unsigned)bits);
    }
    refused what = {text, length, 0, error};
    return error == NULL ? FIRN_ETEXT : explain(&what, form, bits);
}

/* ---- the prefix of a TypeID ------------------------------------------------------------------ */

int firn_prefix_check(const char *prefix, size_t length, firn_error *error) {
    return length == 0 || firn__is_prefix(prefix, length)
               ? FIRN_OK
               : firn__fail(error, FIRN_EUSAGE,
                            "'" FIRN__VALUE("%.*s") "' is not a valid prefix: use at most 63 of "
                                                    "a-z and _, with a letter at both ends",
                            (int)(length < 70 ? length : 70), prefix);
}

size_t firn_prefix_read(char prefix[FIRN_PREFIX_SIZE], const char *text, size_t length) {
    const size_t digits = firn_form_width(FIRN_FORM_TYPEID, 128);
    size_t size = length > digits ? length - digits - 1 : 0;
    size = size > 0 && text[size] == '_' && firn__is_prefix(text, size) ? size : 0;
    memcpy(prefix, text, size);
    prefix[size] = '\0';
    return size;
}

char *firn_prefix_format(char text[FIRN_TEXT_SIZE], const char *prefix, const firn_id *id) {
    const size_t length = strlen(prefix);
    text[0] = '\0';
    if (id->bits != 128 || firn_prefix_check(prefix, length, NULL) != FIRN_OK) {
        return text;
    }
    memcpy(text, prefix, length);
    text[length] = '_';
    firn_format(text + length + (length > 0), id, FIRN_FORM_TYPEID);
    return text;
}

/* ---- one reader per form --------------------------------------------------------------------- */

EACH bool read_form(firn_id *id, const firn__form *form, const char *text, size_t length) {
    switch (form->kind) {
    case KIND_NUMBER:
        return read_number(id, form, text, length);
    case KIND_SIGNED:
        return read_signed(id, form, text, length);
    case KIND_RADIX:
        return read_radix(id, form, text, length);
    case KIND_POWER:
    case KIND_LEFT:
        return read_power(id, form, text, length);
    case KIND_FRAME:
        return read_frame(id, form, text, length);
    case KIND_TYPEID:
        return read_typeid(id, form, text, length);
    case KIND_DATED:
        return firn__dated_read(id, text, length);
    case KIND_BYTES:
    case KIND_NCNAME:
        return firn__encoded_read(id, form, text, length);
    }
    return false;
}

EACH int read_as(firn_id *out, const firn__form *firn_form, int form, uint32_t bits,
                 const char *text, size_t length, firn_error *error) {
    firn_id id = {0, 0, 0, bits};
    if (!read_form(&id, firn_form, text, length)) {
        return firn__refuse_text(form, bits, text, length, error);
    }
    *out = id;
    return FIRN_OK;
}

/* IDs of more than 64 bits are read by a separate function, so that the other saves no
 * registers. */
#define READER(FORM)                                                                               \
    APART static int wide_##FORM(firn_id *id, int form, uint32_t bits, const char *text,           \
                                 size_t length, firn_error *error) {                               \
        return read_as(id, &firn__forms[FIRN_FORM_##FORM], form, bits, text, length, error);       \
    }                                                                                              \
    static int read_##FORM(firn_id *id, int form, uint32_t bits, const char *text, size_t length,  \
                           firn_error *error) {                                                    \
        return bits > 64                                                                           \
                   ? wide_##FORM(id, form, bits, text, length, error)                              \
                   : read_as(id, &firn__forms[FIRN_FORM_##FORM], form, bits, text, length, error); \
    }
FORMS(READER)

#define ENTRY(FORM) [FIRN_FORM_##FORM] = read_##FORM,
firn__reader *const firn__readers[FIRN_FORM_COUNT] = {FORMS(ENTRY)};
