/* SPDX-License-Identifier: MIT */
/* IDs written as text, one writer per kind of form. Reading is in parse.c, the forms are in
 * forms.h. */
#include "text.h"

#include "bits.h"
#include "date_form.h"
#include "encoded.h"
#include "forms.h"
#include "number.h"

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

/* 64 bits or fewer need no chunks. */
EACH size_t write_decimal(char *out, const firn__form *form, const firn_id *id, bool with_sign) {
    if (id->bits > 64) {
        return write_number(out, form, id);
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

EACH void put_framed(char *out, const firn__form *form, const firn_id *id) {
    for (uint32_t i = 0; i < 4; i++) {
        put_power(out + firn__frame_places[i], form, id->high >> (48 - 16 * i));
        put_power(out + firn__frame_places[i + 4], form, id->low >> (48 - 16 * i));
    }
}

EACH size_t write_frame(char *out, const firn__form *form, const firn_id *id) {
    const size_t before = strcspn(form->frame, "x"), length = strlen(form->frame);
    if (id->bits != 128) {
        return 0;
    }
    memcpy(out, form->frame, length);
    put_framed(out + before, form, id);
    return length;
}

/* ---- one writer per form --------------------------------------------------------------------- */

EACH size_t write_form(char *out, const firn__form *form, const firn_id *id) {
    switch (form->kind) {
    case KIND_NUMBER:
        return form->base == 10 ? write_decimal(out, form, id, false) : write_number(out, form, id);
    case KIND_SIGNED:
        return write_decimal(out, form, id, true);
    case KIND_RADIX:
        return write_radix(out, form, id);
    case KIND_POWER:
    case KIND_LEFT:
        return write_power(out, form, id);
    case KIND_FRAME:
        return write_frame(out, form, id);
    case KIND_TYPEID:
        return id->bits == 128 ? write_power(out, form, id) : 0;
    case KIND_DATED:
        return firn__dated_write(out, id);
    case KIND_BYTES:
    case KIND_NCNAME:
        return firn__encoded_write(out, form, id);
    }
    return 0;
}

#define WRITER(FORM)                                                                               \
    static char *write_##FORM(char *out, const firn_id *id) {                                      \
        out[write_form(out, &firn__forms[FIRN_FORM_##FORM], id)] = '\0';                           \
        return out;                                                                                \
    }
FORMS(WRITER)

#define ENTRY(FORM) [FIRN_FORM_##FORM] = write_##FORM,
firn__writer *const firn__writers[FIRN_FORM_COUNT] = {FORMS(ENTRY)};
