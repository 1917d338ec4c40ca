/* SPDX-License-Identifier: MIT */
#include "encoded.h"

#include "bits.h"
#include "error.h"

#include <stdio.h>
#include <string.h>

enum {
    BODY = 120,   /* bits of a UUID without version and variant */
    BODY_58 = 21, /* base58 digits of them */
    BODY_BYTES = 15
};

static size_t body_width(const firn__form *form) {
    return form->digit_bits > 0 ? BODY / form->digit_bits : BODY_58;
}

size_t firn__encoded_width(const firn__form *form, uint32_t bits) {
    if (form->kind == KIND_NCNAME) {
        return bits == 128 ? 1 + body_width(form) + 1 : 0;
    }
    const size_t digits = firn__form_digits(form, bits);
    return bits % 8 != 0 ? 0 : form->frame != NULL ? (digits + 3) / 4 * 4 : digits;
}

/* ---- writing ------------------------------------------------------------------------------- */

/* The first bits first: the spare bits, which are zero, are the last ones. */
static size_t put_digits(char *out, const firn__form *form, const firn_id *id) {
    size_t length = 0;
    for (uint32_t left = id->bits; left > 0;) {
        const uint32_t bits = left < form->digit_bits ? left : form->digit_bits;
        left -= bits;
        out[length++] = form->digits[firn__get(id, left, bits).low << (form->digit_bits - bits)];
    }
    return length;
}

/* As Bitcoin writes bytes: 1 for each zero byte at the beginning, and then as many digits as the
 * number needs. The rest is _. */
static void put_58(char *out, const firn_id *body) {
    char digits[FIRN_TEXT_SIZE];
    size_t bytes = 0;
    firn_format(digits, body, FIRN_FORM_BASE58);
    while (bytes < BODY_BYTES && firn__get(body, BODY - 8 * (uint32_t)(bytes + 1), 8).low == 0) {
        bytes++;
    }
    const size_t ones = strspn(digits, "1");
    memset(out, '_', BODY_58);
    memset(out, '1', bytes);
    memcpy(out + bytes, digits + ones, BODY_58 - ones);
}

size_t firn__encoded_write(char *out, const firn__form *form, const firn_id *id) {
    const size_t width = firn__encoded_width(form, id->bits);
    if (form->kind == KIND_BYTES && width > 0) {
        const size_t digits = put_digits(out, form, id);
        memset(out + digits, '=', width - digits);
    } else if (width > 0) {
        const uint64_t first = form->digit_bits == 5 ? 'a' : 'A';
        firn_id body = {0, 0, 0, BODY};
        firn__push(&body, firn__get(id, 80, 48), 48);
        firn__push(&body, firn__get(id, 64, 12), 12);
        firn__push(&body, firn__get(id, 0, 60), 60);
        out[0] = (char)(first + firn__get(id, 76, 4).low);
        out[width - 1] = (char)(first + firn__get(id, 60, 4).low);
        if (form->digit_bits > 0) {
            put_digits(out + 1, form, &body);
        } else {
            put_58(out + 1, &body);
        }
    }
    return width;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* `bits` bits from digits that are valid; false: the spare bits are not zero. */
static bool get_digits(firn_id *id, const firn__form *form, const char *text) {
    for (uint32_t left = id->bits; left > 0; text++) {
        const uint32_t bits = left < form->digit_bits ? left : form->digit_bits;
        const uint32_t spare = form->digit_bits - bits;
        const uint32_t value = form->values[(unsigned char)*text] & 0x7f;
        if ((value & firn__mask(spare)) != 0) {
            return false;
        }
        firn__push(id, (firn_value){value >> spare, 0}, bits);
        left -= bits;
    }
    return true;
}

static bool get_58(firn_id *body, const char *text) {
    char digits[BODY_58], again[BODY_58];
    size_t used = BODY_58;
    while (used > 0 && text[used - 1] == '_') {
        used--;
    }
    memset(digits, '1', sizeof digits);
    memcpy(digits + sizeof digits - used, text, used);
    if (firn_parse(body, FIRN_FORM_BASE58, BODY, digits, sizeof digits, NULL) != FIRN_OK) {
        return false;
    }
    put_58(again, body);
    return memcmp(again, text, sizeof again) == 0;
}

/* The first or last letter of an NCName, A to P; 16 or more: another character. Base32 has no
 * case. */
static uint32_t value_of_end(const firn__form *form, char c) {
    const bool lower = form->digit_bits == 5 && c >= 'a' && c <= 'z';
    return (uint32_t)((unsigned char)c - (lower ? 'a' : 'A'));
}

/* The needed character at a place; NULL: the character there is valid. */
static const char *needed_at(const firn__form *form, uint32_t bits, size_t position, char c) {
    const size_t width = firn__encoded_width(form, bits);
    if (form->kind == KIND_NCNAME && (position == 0 || position == width - 1)) {
        return value_of_end(form, c) < 16 ? NULL : "a letter from A to P";
    }
    if (form->kind == KIND_BYTES && position >= firn__form_digits(form, bits)) {
        return c == '=' ? NULL : "'='";
    }
    return form->values[(unsigned char)c] != 0 || (form->digit_bits == 0 && c == '_')
               ? NULL
               : form->needed;
}

/* The place of the first character that is not valid, or the width. */
static size_t count_valid(const firn__form *form, uint32_t bits, const char *text, size_t length) {
    const size_t width = firn__encoded_width(form, bits);
    size_t position = 0;
    while (position < length && position < width &&
           needed_at(form, bits, position, text[position]) == NULL) {
        position++;
    }
    return position;
}

static bool get_ncname(firn_id *id, const firn__form *form, const char *text) {
    firn_id body = {0, 0, 0, BODY};
    if (form->digit_bits > 0 ? !get_digits(&body, form, text + 1) : !get_58(&body, text + 1)) {
        return false;
    }
    firn__push(id, firn__get(&body, 72, 48), 48);
    firn__push(id, (firn_value){value_of_end(form, text[0]), 0}, 4);
    firn__push(id, firn__get(&body, 60, 12), 12);
    firn__push(id, (firn_value){value_of_end(form, text[1 + body_width(form)]), 0}, 4);
    firn__push(id, firn__get(&body, 0, 60), 60);
    return true;
}

bool firn__encoded_read(firn_id *id, const firn__form *form, const char *text, size_t length) {
    const size_t width = firn__encoded_width(form, id->bits);
    return width > 0 && length == width && count_valid(form, id->bits, text, length) == width &&
           (form->kind == KIND_NCNAME ? get_ncname(id, form, text) : get_digits(id, form, text));
}

int firn__encoded_refuse(firn_error *error, const firn__form *form, uint32_t bits, const char *text,
                         size_t length) {
    const size_t width = firn__encoded_width(form, bits);
    size_t position = count_valid(form, bits, text, length);
    char why[80];
    if (position < length && position < width) {
        snprintf(why, sizeof why, "%s is needed", needed_at(form, bits, position, text[position]));
    } else if (length != width) {
        snprintf(why, sizeof why, "%s of %u bits has %zu characters", form->name, (unsigned)bits,
                 width);
    } else if (form->kind == KIND_NCNAME) {
        position = 1;
        snprintf(why, sizeof why, "base58 digits of 15 bytes and then _ are needed from here on");
    } else {
        position = firn__form_digits(form, bits) - 1;
        snprintf(why, sizeof why, "the spare bits of the last digit must be zero");
    }
    return firn__refuse(error, text, length, position, why);
}
