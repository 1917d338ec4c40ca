/* SPDX-License-Identifier: MIT */
/* IDs written as text, one writer per kind of form. Reading is in parse.c, the forms are in
 * forms.h. */
#include "text.h"

#include "bits.h"
#include "dated.h"
#include "forms.h"
#include "number.h"
#include "simd.h"

#include <string.h>

#define PAIRS(d)                                                                                   \
    d "0" d "1" d "2" d "3" d "4" d "5" d "6" d "7" d "8" d "9" d "a" d "b" d "c" d "d" d "e" d "f"
static const char hex_pairs[] = /* of every byte */
    PAIRS("0") PAIRS("1") PAIRS("2") PAIRS("3") PAIRS("4") PAIRS("5") PAIRS("6") PAIRS("7")
        PAIRS("8") PAIRS("9") PAIRS("a") PAIRS("b") PAIRS("c") PAIRS("d") PAIRS("e") PAIRS("f");

/* The two hex digits of a word's last byte. */
static inline void put_byte(char *out, uint64_t word) {
    memcpy(out, hex_pairs + 2 * (word & 0xff), 2);
}

/* The last two or three digits of a number. */
EACH void put_few(char *out, const firn__form *form, uint32_t number, uint32_t digits) {
    out[digits - 1] = form->digits[number % form->base];
    number /= form->base;
    out[digits - 2] = form->digits[number % form->base];
    if (digits == 3) {
        out[0] = form->digits[number / form->base % form->base];
    }
}

/* A whole chunk: 8, 6 or 5 digits. */
EACH void put_chunk(char *out, const firn__form *form, uint32_t number) {
    if (form->base == 10) {
        firn__put_eight(out, firn__eight_decimals(number) + 0x3030303030303030);
    } else {
        const uint32_t cube = form->base * form->base * form->base;
        put_few(out, form, number / cube, form->chunk_digits - 3);
        put_few(out + form->chunk_digits - 3, form, number % cube, 3);
    }
}

/* The last `width` digits of a number. */
EACH void put_number(char *out, const firn__form *form, uint64_t number, uint32_t width) {
    for (; width > form->chunk_digits; number /= form->chunk) {
        width -= form->chunk_digits;
        put_chunk(out + width, form, (uint32_t)(number % form->chunk));
    }
    for (uint32_t left = (uint32_t)(number % form->chunk); width > 0; left /= form->base) {
        out[--width] = form->digits[left % form->base];
    }
}

/* The last `width` digits of an ID: long division of its 32-bit limbs by a chunk, until the rest
 * fits one word. */
EACH void put_wide(char *out, const firn__form *form, const firn_id *id, uint32_t width) {
    uint32_t limbs[3]; /* the upper ones, least first; the lower two are `rest` */
    uint64_t rest = id->low;
    uint32_t used = 3;
    for (uint32_t i = 0; i < 3; i++) {
        limbs[i] = (uint32_t)firn__get(id, 64 + 32 * i, 32).low;
    }
    for (; width > form->chunk_digits; width -= form->chunk_digits) {
        while (used > 0 && limbs[used - 1] == 0) {
            used--;
        }
        if (used == 0) {
            break;
        }
        uint64_t carry = 0;
        for (uint32_t i = used; i-- > 0; carry %= form->chunk) {
            carry = carry << 32 | limbs[i];
            limbs[i] = (uint32_t)(carry / form->chunk);
        }
        uint64_t upper = carry << 32 | rest >> 32;
        uint64_t lower = upper % form->chunk << 32 | (rest & UINT32_MAX);
        rest = upper / form->chunk << 32 | lower / form->chunk;
        put_chunk(out + width - form->chunk_digits, form, (uint32_t)(lower % form->chunk));
    }
    put_number(out, form, rest, width);
}

/* Padded to the width. */
EACH size_t write_radix(char *out, const firn__form *form, const firn_id *id) {
    uint32_t width = firn__form_digits(form, id->bits);
    if (id->bits <= 64) {
        put_number(out, form, id->low, width);
    } else {
        put_wide(out, form, id, width);
    }
    return width;
}

/* Not padded. */
EACH size_t write_number(char *out, const firn__form *form, const firn_id *id) {
    size_t width = write_radix(out, form, id);
    size_t zeros = 0;
    while (zeros < width - 1 && out[zeros] == '0') {
        zeros++;
    }
    memmove(out, out + zeros, width - zeros);
    return width - zeros;
}

static size_t write_dec(char *out, const firn_id *id, bool with_sign) {
    if (id->bits > 64) {
        return write_number(out, &firn__forms[FIRN_FORM_DEC], id);
    }
    if (with_sign && id->bits == 64 && id->low > INT64_MAX) {
        *out = '-';
        return 1 + firn__number_put(out + 1, 0 - id->low);
    }
    return firn__number_put(out, id->low);
}

/* The last four digits of a word. */
EACH void put_power(char *out, const firn__form *form, uint64_t word) {
    const uint32_t digit_bits = form->digit_bits, mask = (1u << digit_bits) - 1;
    if (digit_bits == 4) {
        put_byte(out, word >> 8);
        put_byte(out + 2, word);
    } else {
        out[0] = form->digits[word >> 3 * digit_bits & mask];
        out[1] = form->digits[word >> 2 * digit_bits & mask];
        out[2] = form->digits[word >> digit_bits & mask];
        out[3] = form->digits[word & mask];
    }
}

/* A radix that is a power of two: from the right, four digits at a time, as many as a word has. */
EACH size_t write_power(char *out, const firn__form *form, const firn_id *id) {
    const uint32_t digit_bits = form->digit_bits, full = 64 / digit_bits / 4 * 4;
    const uint32_t width = firn__form_digits(form, id->bits), spare = width * digit_bits - id->bits;
    firn_id moved = *id;
    if (form->kind == KIND_LEFT && spare > 0) {
        firn__push(&moved, (firn_value){0, 0}, spare);
    }
    uint32_t left = width, position = 0;
    for (; left >= full; position += full * digit_bits) {
        uint64_t word = firn__get(&moved, position, 64).low;
        for (uint32_t i = 0; i < full; i += 4) {
            put_power(out + (left -= 4), form, word >> i * digit_bits);
        }
    }
    uint64_t word = left > 0 ? firn__get(&moved, position, 64).low : 0;
    for (; left >= 4; word >>= 4 * digit_bits) {
        put_power(out + (left -= 4), form, word);
    }
    for (; left > 0; word >>= digit_bits) {
        out[--left] = form->digits[word & firn__mask(digit_bits)];
    }
    return width;
}

static inline void put_uuid(char *out, const firn_id *id) {
    const uint64_t high = id->high, low = id->low;
    put_byte(out, high >> 56);
    put_byte(out + 2, high >> 48);
    put_byte(out + 4, high >> 40);
    put_byte(out + 6, high >> 32);
    put_byte(out + 9, high >> 24);
    put_byte(out + 11, high >> 16);
    put_byte(out + 14, high >> 8);
    put_byte(out + 16, high);
    put_byte(out + 19, low >> 56);
    put_byte(out + 21, low >> 48);
    put_byte(out + 24, low >> 40);
    put_byte(out + 26, low >> 32);
    put_byte(out + 28, low >> 24);
    put_byte(out + 30, low >> 16);
    put_byte(out + 32, low >> 8);
    put_byte(out + 34, low);
    out[8] = out[13] = out[18] = out[23] = '-';
}

static inline size_t write_frame(char *out, const firn_id *id, const char *before, char after) {
    if (id->bits != 128) {
        return 0;
    }
    size_t length = strlen(before);
    memcpy(out, before, length);
    put_uuid(out + length, id);
    out[length + 36] = after;
    return length + 36 + (after != '\0');
}

/* ---- one writer per form --------------------------------------------------------------------- */

#define WRITER(name, length)                                                                       \
    static char *name(char *out, const firn_id *id) {                                              \
        out[length] = '\0';                                                                        \
        return out;                                                                                \
    }
#define FORM(name) &firn__forms[FIRN_FORM_##name]

WRITER(uuid, write_frame(out, id, "", '\0'))
WRITER(urn, write_frame(out, id, "urn:uuid:", '\0'))
WRITER(braced, write_frame(out, id, "{", '}'))
WRITER(dec, write_dec(out, id, true))
WRITER(number, write_dec(out, id, false))
WRITER(flake, write_number(out, FORM(FLAKE), id))
WRITER(base36, write_radix(out, FORM(BASE36), id))
WRITER(base58, write_radix(out, FORM(BASE58), id))
WRITER(base62, write_radix(out, FORM(BASE62), id))
WRITER(hex, write_power(out, FORM(HEX), id))
WRITER(bin, write_power(out, FORM(BIN), id))
WRITER(base32, write_power(out, FORM(BASE32), id))
WRITER(base32hex, write_power(out, FORM(BASE32HEX), id))
WRITER(base32sort, write_power(out, FORM(BASE32SORT), id))
WRITER(base36lower, write_radix(out, FORM(BASE36LOWER), id))
WRITER(base64sort, write_power(out, FORM(BASE64SORT), id))
WRITER(typeid, id->bits == 128 ? write_power(out, FORM(TYPEID), id) : 0)
WRITER(dated, firn__dated_write(out, id))

firn__writer *const firn__writers[FIRN_FORM_COUNT] = {
    [FIRN_FORM_UUID] = uuid,
    [FIRN_FORM_URN] = urn,
    [FIRN_FORM_BRACED] = braced,
    [FIRN_FORM_DEC] = dec,
    [FIRN_FORM_UNSIGNED] = number,
    [FIRN_FORM_FLAKE] = flake,
    [FIRN_FORM_BASE36] = base36,
    [FIRN_FORM_BASE58] = base58,
    [FIRN_FORM_BASE62] = base62,
    [FIRN_FORM_HEX] = hex,
    [FIRN_FORM_BIN] = bin,
    [FIRN_FORM_BASE32] = base32,
    [FIRN_FORM_BASE32HEX] = base32hex,
    [FIRN_FORM_TYPEID] = typeid,
    [FIRN_FORM_DATED] = dated,
    [FIRN_FORM_BASE32SORT] = base32sort,
    [FIRN_FORM_BASE36LOWER] = base36lower,
    [FIRN_FORM_BASE64SORT] = base64sort,
};

APART static char *format_first(char *text, const firn_id *id, int form) {
    firn__simd_choose();
    return firn_format(text, id, form);
}

char *firn_format(char text[FIRN_TEXT_SIZE], const firn_id *id, int form) {
    const firn__simd *simd = firn__simd_now();
    if (form < 0 || form >= FIRN_FORM_COUNT || id->bits - 1 >= 160) {
        text[0] = '\0';
        return text;
    }
    if (simd == NULL) {
        return format_first(text, id, form);
    }
    return (simd->write[form] != NULL ? simd->write[form] : firn__writers[form])(text, id);
}
