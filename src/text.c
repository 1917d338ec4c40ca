/* SPDX-License-Identifier: MIT */
/* Text forms of ids: one table of alphabets and forms, a writer and a strict reader of each. Knows
 * widths and digits, not schemes: which form a scheme is written in is the scheme's affair. */
#include "text.h"

#include "bits.h"
#include "dated.h"
#include "error.h"

#include <stdio.h>
#include <string.h>

/* ---- alphabets ----------------------------------------------------------------------------- */

/* D(value, character) is a digit, L(value, upper, lower) a letter. Both the digits as they are
 * written, by value, and the values as they are read, by character, come from these lists, so the
 * two cannot disagree. */
/* clang-format off */
#define TWO(D, L) D(0, '0') D(1, '1')
#define TEN(D, L)                                                                                  \
    D(0, '0') D(1, '1') D(2, '2') D(3, '3') D(4, '4')                                              \
    D(5, '5') D(6, '6') D(7, '7') D(8, '8') D(9, '9')
#define SIXTEEN(D, L)                                                                              \
    TEN(D, L) L(10, 'A', 'a') L(11, 'B', 'b') L(12, 'C', 'c')                                      \
    L(13, 'D', 'd') L(14, 'E', 'e') L(15, 'F', 'f')
#define CROCKFORD(D, L) /* no I, L, O, U */                                                        \
    SIXTEEN(D, L) L(16, 'G', 'g') L(17, 'H', 'h') L(18, 'J', 'j') L(19, 'K', 'k')                  \
    L(20, 'M', 'm') L(21, 'N', 'n') L(22, 'P', 'p') L(23, 'Q', 'q') L(24, 'R', 'r')                \
    L(25, 'S', 's') L(26, 'T', 't') L(27, 'V', 'v') L(28, 'W', 'w') L(29, 'X', 'x')                \
    L(30, 'Y', 'y') L(31, 'Z', 'z')
#define THIRTY_TWO(D, L) /* RFC 4648, extended hex */                                              \
    SIXTEEN(D, L) L(16, 'G', 'g') L(17, 'H', 'h') L(18, 'I', 'i') L(19, 'J', 'j')                  \
    L(20, 'K', 'k') L(21, 'L', 'l') L(22, 'M', 'm') L(23, 'N', 'n') L(24, 'O', 'o')                \
    L(25, 'P', 'p') L(26, 'Q', 'q') L(27, 'R', 'r') L(28, 'S', 's') L(29, 'T', 't')                \
    L(30, 'U', 'u') L(31, 'V', 'v')
#define THIRTY_SIX(D, L)                                                                           \
    THIRTY_TWO(D, L) L(32, 'W', 'w') L(33, 'X', 'x') L(34, 'Y', 'y') L(35, 'Z', 'z')
#define BITCOIN(D, L) /* no 0, I, O, l; upper and lower case are different digits */               \
    D(0, '1') D(1, '2') D(2, '3') D(3, '4') D(4, '5') D(5, '6') D(6, '7') D(7, '8') D(8, '9')      \
    D(9, 'A') D(10, 'B') D(11, 'C') D(12, 'D') D(13, 'E') D(14, 'F') D(15, 'G') D(16, 'H')         \
    D(17, 'J') D(18, 'K') D(19, 'L') D(20, 'M') D(21, 'N') D(22, 'P') D(23, 'Q') D(24, 'R')        \
    D(25, 'S') D(26, 'T') D(27, 'U') D(28, 'V') D(29, 'W') D(30, 'X') D(31, 'Y') D(32, 'Z')        \
    D(33, 'a') D(34, 'b') D(35, 'c') D(36, 'd') D(37, 'e') D(38, 'f') D(39, 'g') D(40, 'h')        \
    D(41, 'i') D(42, 'j') D(43, 'k') D(44, 'm') D(45, 'n') D(46, 'o') D(47, 'p') D(48, 'q')        \
    D(49, 'r') D(50, 's') D(51, 't') D(52, 'u') D(53, 'v') D(54, 'w') D(55, 'x') D(56, 'y')        \
    D(57, 'z')
/* clang-format on */

/* As written. Base62 is base36 with the lower case after the upper one. */
#define DIGIT(value, digit)        [value] = (digit),
#define UPPER(value, upper, lower) [value] = (upper),
#define LOWER(value, upper, lower) [value] = (lower),
#define CASES(value, upper, lower) [value] = (upper), [(value) + 26] = (lower),
static const char digits_hex[16] = {SIXTEEN(DIGIT, LOWER)};
static const char digits_32[32] = {CROCKFORD(DIGIT, UPPER)};
static const char digits_32_lower[32] = {CROCKFORD(DIGIT, LOWER)};
static const char digits_32hex[32] = {THIRTY_TWO(DIGIT, LOWER)};
static const char digits_36[36] = {THIRTY_SIX(DIGIT, UPPER)};
static const char digits_58[58] = {BITCOIN(DIGIT, )};
static const char digits_62[62] = {THIRTY_SIX(DIGIT, CASES)};
#undef DIGIT
#undef UPPER
#undef LOWER
#undef CASES

#define PAIRS(d)                                                                                   \
    d "0" d "1" d "2" d "3" d "4" d "5" d "6" d "7" d "8" d "9" d "a" d "b" d "c" d "d" d "e" d "f"
static const char hex_pairs[] = /* of every byte */
    PAIRS("0") PAIRS("1") PAIRS("2") PAIRS("3") PAIRS("4") PAIRS("5") PAIRS("6") PAIRS("7")
        PAIRS("8") PAIRS("9") PAIRS("a") PAIRS("b") PAIRS("c") PAIRS("d") PAIRS("e") PAIRS("f");

/* As read: IS | value, and 0 for what is no digit, so that readers gather errors by AND. */
#define IS                         0x80u
#define DIGIT(value, digit)        [digit] = IS | (value),
#define BOTH(value, upper, lower)  [upper] = IS | (value), [lower] = IS | (value),
#define LOWER(value, upper, lower) [lower] = IS | (value),
#define CASES(value, upper, lower) [upper] = IS | (value), [lower] = IS | ((value) + 26),
static const uint8_t values_2[256] = {TWO(DIGIT, )};
static const uint8_t values_10[256] = {TEN(DIGIT, )};
static const uint8_t values_hex[256] = {SIXTEEN(DIGIT, BOTH)};
static const uint8_t values_32[256] = {CROCKFORD(DIGIT, BOTH)};
static const uint8_t values_32_lower[256] = {CROCKFORD(DIGIT, LOWER)};
static const uint8_t values_32hex[256] = {THIRTY_TWO(DIGIT, BOTH)};
static const uint8_t values_36[256] = {THIRTY_SIX(DIGIT, BOTH)};
static const uint8_t values_58[256] = {BITCOIN(DIGIT, )};
static const uint8_t values_62[256] = {THIRTY_SIX(DIGIT, CASES)};
#undef DIGIT
#undef BOTH
#undef LOWER
#undef CASES

/* ---- forms --------------------------------------------------------------------------------- */

enum kind {
    KIND_NUMBER, /* as many digits as the number needs */
    KIND_RADIX,  /* the same, padded with zeros to the width */
    KIND_POWER,  /* the radix is a power of two */
    KIND_LEFT,   /* the same, but the spare bits stand at the end: sorts as the bytes do */
    KIND_FRAME,  /* 128 bits as hex digits in a frame */
    KIND_TYPEID, /* a prefix that is no part of the ID, and a KIND_POWER of 128 bits */
    KIND_DATED   /* the calendar and decimal digits: dated.c */
};

typedef struct {
    const char *name;
    enum kind kind;
    uint32_t digit_bits;   /* a radix that is a power of two: bits of a digit */
    uint32_t base;         /* another radix, cut into chunks: */
    uint32_t chunk_digits; /* digits that fit 32 bits, all or nearly all, */
    uint32_t chunk;        /* and base to the power of that */
    uint32_t width_4096;   /* digits a bit times 4096, exact for 1..160 bits once cut */
    const char *digits;
    const uint8_t *values;
    const char *needed; /* what a reader asks for where it finds something else */
    const char *frame;  /* x stands for a hex digit */
} form_row;

#define BASE10 0, 10, 8, 100000000, 1233, digits_hex, values_10, "a decimal digit", NULL
#define BASE36 0, 36, 6, 2176782336, 792, digits_36, values_36, "a digit or letter", NULL
#define BASE58                                                                                     \
    0, 58, 5, 656356768, 699, digits_58, values_58, "a base58 digit (not 0, I, O, l)", NULL
#define BASE62      0, 62, 5, 916132832, 688, digits_62, values_62, "a digit or letter", NULL
#define POWER(bits) bits, 0, 0, 0, 0
#define HEX         POWER(4), digits_hex, values_hex, "a hex digit"
#define FRAME       "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"

static const form_row forms[FIRN_FORM_COUNT] = {
    [FIRN_FORM_DEC] = {"dec", KIND_NUMBER, BASE10},
    [FIRN_FORM_UNSIGNED] = {"unsigned", KIND_NUMBER, BASE10},
    [FIRN_FORM_FLAKE] = {"flake", KIND_NUMBER, BASE62},
    [FIRN_FORM_BASE36] = {"base36", KIND_RADIX, BASE36},
    [FIRN_FORM_BASE58] = {"base58", KIND_RADIX, BASE58},
    [FIRN_FORM_BASE62] = {"base62", KIND_RADIX, BASE62},
    [FIRN_FORM_HEX] = {"hex", KIND_POWER, HEX, NULL},
    [FIRN_FORM_BIN] = {"bin", KIND_POWER, POWER(1), digits_hex, values_2, "0 or 1", NULL},
    [FIRN_FORM_BASE32] = {"base32", KIND_POWER, POWER(5), digits_32, values_32,
                          "a Crockford digit (not I, L, O, U)", NULL},
    [FIRN_FORM_BASE32HEX] = {"base32hex", KIND_LEFT, POWER(5), digits_32hex, values_32hex,
                             "0 to 9 or a to v", NULL},
    [FIRN_FORM_UUID] = {"uuid", KIND_FRAME, HEX, FRAME},
    [FIRN_FORM_URN] = {"urn", KIND_FRAME, HEX, "urn:uuid:" FRAME},
    [FIRN_FORM_BRACED] = {"braced", KIND_FRAME, HEX, "{" FRAME "}"},
    [FIRN_FORM_TYPEID] = {"typeid", KIND_TYPEID, POWER(5), digits_32_lower, values_32_lower,
                          "a lower-case Crockford digit (not i, l, o, u)", NULL},
    [FIRN_FORM_DATED] = {"dated", KIND_DATED, BASE10},
};

const char *firn_form_name(int form) {
    return form >= 0 && form < FIRN_FORM_COUNT ? forms[form].name : NULL;
}

int firn_form_find(const char *name) {
    for (int form = 0; form < FIRN_FORM_COUNT; form++) {
        if (strcmp(forms[form].name, name) == 0) {
            return form;
        }
    }
    return -1;
}

/* The least number of digits that holds 2^bits - 1. */
static inline uint32_t width_of(const form_row *form, uint32_t bits) {
    return form->digit_bits > 0 ? (bits + form->digit_bits - 1) / form->digit_bits
                                : (bits * form->width_4096 >> 12) + 1;
}

size_t firn_form_width(int form, uint32_t bits) {
    if (form < 0 || form >= FIRN_FORM_COUNT || bits < 1 || bits > 160) {
        return 0;
    }
    switch (forms[form].kind) {
    case KIND_FRAME:
        return bits == 128 ? strlen(forms[form].frame) : 0;
    case KIND_TYPEID:
        return bits == 128 ? width_of(&forms[form], bits) : 0;
    case KIND_DATED:
        return firn__dated_width(bits);
    case KIND_NUMBER:
    case KIND_RADIX:
    case KIND_POWER:
    case KIND_LEFT:
        break;
    }
    return width_of(&forms[form], bits);
}

/* ---- writing ------------------------------------------------------------------------------- */

/* Writers and readers take the row of their form as an argument and are compiled once for each, so
 * that radix and width are constants: division by a constant is a multiplication. */
#if defined(__GNUC__)
#define EACH static inline __attribute__((always_inline))
#else
#define EACH static inline
#endif

/* Text goes out of words and into words with its first character lowest. Spelt out, because so
 * compilers make one store or load of it. */
static inline void put_four(char *out, uint32_t word) {
    out[0] = (char)(word & 0xff);
    out[1] = (char)(word >> 8 & 0xff);
    out[2] = (char)(word >> 16 & 0xff);
    out[3] = (char)(word >> 24);
}

static inline void put_eight(char *out, uint64_t word) {
    put_four(out, (uint32_t)(word & UINT32_MAX));
    put_four(out + 4, (uint32_t)(word >> 32));
}

/* The two hex digits of a word's last byte. */
static inline void put_byte(char *out, uint64_t word) {
    memcpy(out, hex_pairs + 2 * (word & 0xff), 2);
}

/* Eight decimal digits of a number below 10^8, as numbers: it is cut into lanes, and one
 * multiplication gives the quotients of all lanes. */
static inline uint64_t eight_decimals(uint32_t number) {
    uint64_t lanes = number / 10000 | (uint64_t)(number % 10000) << 32;
    uint64_t above = (lanes * 10486 >> 20) & 0x0000007f0000007f; /* 10486 / 2^20: 1 / 100 */
    lanes = above | (lanes - above * 100) << 16;
    above = (lanes * 103 >> 10) & 0x000f000f000f000f; /* 103 / 2^10: 1 / 10 */
    return above | (lanes - above * 10) << 8;
}

/* The last two or three digits of a number. */
EACH void put_few(char *out, const form_row *form, uint32_t number, uint32_t digits) {
    out[digits - 1] = form->digits[number % form->base];
    number /= form->base;
    out[digits - 2] = form->digits[number % form->base];
    if (digits == 3) {
        out[0] = form->digits[number / form->base % form->base];
    }
}

/* A whole chunk: 8, 6 or 5 digits. */
EACH void put_chunk(char *out, const form_row *form, uint32_t number) {
    if (form->base == 10) {
        put_eight(out, eight_decimals(number) + 0x3030303030303030);
    } else {
        const uint32_t cube = form->base * form->base * form->base;
        put_few(out, form, number / cube, form->chunk_digits - 3);
        put_few(out + form->chunk_digits - 3, form, number % cube, 3);
    }
}

/* The last `width` digits of a number. */
EACH void put_number(char *out, const form_row *form, uint64_t number, uint32_t width) {
    for (; width > form->chunk_digits; number /= form->chunk) {
        width -= form->chunk_digits;
        put_chunk(out + width, form, (uint32_t)(number % form->chunk));
    }
    for (uint32_t left = (uint32_t)(number % form->chunk); width > 0; left /= form->base) {
        out[--width] = form->digits[left % form->base];
    }
}

/* The last `width` digits of an ID: schoolbook division of its 32-bit limbs by a chunk, until what
 * is left fits one word. */
EACH void put_wide(char *out, const form_row *form, const firn_id *id, uint32_t width) {
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
EACH size_t write_radix(char *out, const form_row *form, const firn_id *id) {
    uint32_t width = width_of(form, id->bits);
    if (id->bits <= 64) {
        put_number(out, form, id->low, width);
    } else {
        put_wide(out, form, id, width);
    }
    return width;
}

/* Not padded. */
EACH size_t write_number(char *out, const form_row *form, const firn_id *id) {
    size_t width = write_radix(out, form, id);
    size_t zeros = 0;
    while (zeros < width - 1 && out[zeros] == '0') {
        zeros++;
    }
    memmove(out, out + zeros, width - zeros);
    return width - zeros;
}

/* A number below 10^8 without leading zeros; writes eight characters, returns how many count. */
static inline size_t put_first(char *out, uint32_t number) {
    uint32_t digits = 1u + (number >= 10) + (number >= 100) + (number >= 1000) + (number >= 10000) +
                      (number >= 100000) + (number >= 1000000) + (number >= 10000000);
    put_eight(out, (eight_decimals(number) + 0x3030303030303030) >> (64 - 8 * digits));
    return digits;
}

size_t firn__format_u64(char *out, uint64_t number) {
    const uint32_t e8 = 100000000;
    size_t length = 0;
    if (number < e8) {
        return put_first(out, (uint32_t)number);
    }
    uint64_t upper = number / e8;
    if (upper < e8) {
        length = put_first(out, (uint32_t)upper);
    } else {
        length = put_first(out, (uint32_t)(upper / e8));
        put_eight(out + length, eight_decimals((uint32_t)(upper % e8)) + 0x3030303030303030);
        length += 8;
    }
    put_eight(out + length, eight_decimals((uint32_t)(number % e8)) + 0x3030303030303030);
    return length + 8;
}

static size_t write_dec(char *out, const firn_id *id, bool with_sign) {
    if (id->bits > 64) {
        return write_number(out, &forms[FIRN_FORM_DEC], id);
    }
    if (with_sign && id->bits == 64 && id->low > INT64_MAX) {
        *out = '-';
        return 1 + firn__format_u64(out + 1, 0 - id->low);
    }
    return firn__format_u64(out, id->low);
}

/* The last four digits of a word. */
EACH void put_power(char *out, const form_row *form, uint64_t word) {
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

/* A radix that is a power of two: from the right, by fours, as many at a time as a word holds. */
EACH size_t write_power(char *out, const form_row *form, const firn_id *id) {
    const uint32_t digit_bits = form->digit_bits, full = 64 / digit_bits / 4 * 4;
    const uint32_t width = width_of(form, id->bits), spare = width * digit_bits - id->bits;
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

static size_t write_text(char *out, const firn_id *id, int form) {
    switch (form) {
    case FIRN_FORM_UUID:
        return write_frame(out, id, "", '\0');
    case FIRN_FORM_URN:
        return write_frame(out, id, "urn:uuid:", '\0');
    case FIRN_FORM_BRACED:
        return write_frame(out, id, "{", '}');
    case FIRN_FORM_DEC:
        return write_dec(out, id, true);
    case FIRN_FORM_UNSIGNED:
        return write_dec(out, id, false);
    case FIRN_FORM_FLAKE:
        return write_number(out, &forms[FIRN_FORM_FLAKE], id);
    case FIRN_FORM_BASE36:
        return write_radix(out, &forms[FIRN_FORM_BASE36], id);
    case FIRN_FORM_BASE58:
        return write_radix(out, &forms[FIRN_FORM_BASE58], id);
    case FIRN_FORM_BASE62:
        return write_radix(out, &forms[FIRN_FORM_BASE62], id);
    case FIRN_FORM_HEX:
        return write_power(out, &forms[FIRN_FORM_HEX], id);
    case FIRN_FORM_BIN:
        return write_power(out, &forms[FIRN_FORM_BIN], id);
    case FIRN_FORM_BASE32:
        return write_power(out, &forms[FIRN_FORM_BASE32], id);
    case FIRN_FORM_BASE32HEX:
        return write_power(out, &forms[FIRN_FORM_BASE32HEX], id);
    case FIRN_FORM_TYPEID:
        return id->bits == 128 ? write_power(out, &forms[FIRN_FORM_TYPEID], id) : 0;
    case FIRN_FORM_DATED:
        return firn__dated_write(out, id);
    default:
        return 0;
    }
}

size_t firn__format(char out[FIRN_TEXT_SIZE], const firn_id *id, int form) {
    size_t length = id->bits >= 1 && id->bits <= 160 ? write_text(out, id, form) : 0;
    out[length] = '\0';
    return length;
}

char *firn_format(char text[FIRN_TEXT_SIZE], const firn_id *id, int form) {
    firn__format(text, id, form);
    return text;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Readers answer true only for the one text of an ID. Where and why one is wrong is found out by
 * explain(), which nobody waits for. */

static inline uint8_t value_of(const form_row *form, char c) {
    return form->values[(unsigned char)c];
}

static inline uint32_t get_four(const char *text) {
    return (uint32_t)(unsigned char)text[0] | (uint32_t)(unsigned char)text[1] << 8 |
           (uint32_t)(unsigned char)text[2] << 16 | (uint32_t)(unsigned char)text[3] << 24;
}

/* Eight decimal digits; false when one is none. */
static inline bool get_eight(uint32_t *number, const char *text) {
    uint64_t bytes = get_four(text) | (uint64_t)get_four(text + 4) << 32;
    if ((bytes & 0xf0f0f0f0f0f0f0f0) != 0x3030303030303030 ||
        ((bytes + 0x0606060606060606) & 0xf0f0f0f0f0f0f0f0) != 0x3030303030303030) {
        return false;
    }
    bytes = (bytes & 0x0f0f0f0f0f0f0f0f) * (1 + (10 << 8)) >> 8;
    bytes = (bytes & 0x00ff00ff00ff00ff) * (1 + (100 << 16)) >> 16;
    *number = (uint32_t)((bytes & 0x0000ffff0000ffff) * (1 + (UINT64_C(10000) << 32)) >> 32);
    return true;
}

/* At most `width` digits of a number of up to 64 bits: all but the last always fit. */
EACH bool get_number(uint64_t *number, const form_row *form, uint32_t bits, const char *text,
                     size_t length) {
    uint64_t x = 0;
    uint32_t eight;
    uint8_t all = IS;
    size_t i = 0;
    while (form->base == 10 && length - i > 8 && get_eight(&eight, text + i)) {
        x = x * 100000000 + eight;
        i += 8;
    }
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
EACH bool get_wide(firn_id *id, const form_row *form, const char *text, size_t length) {
    uint32_t limbs[6] = {0}; /* least first; the sixth catches what is too big */
    uint8_t all = IS;
    for (size_t i = 0; i < length;) {
        size_t end = i + (i == 0 && length % form->chunk_digits ? length % form->chunk_digits
                                                                : form->chunk_digits);
        uint32_t power = 1;
        uint64_t carry = 0;
        for (; i < end; i++) {
            uint8_t value = value_of(form, text[i]);
            all &= value;
            carry = carry * form->base + (value & 0x7f);
            power *= form->base;
        }
        for (uint32_t j = 0; j < 6; j++) {
            carry += (uint64_t)limbs[j] * power;
            limbs[j] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    firn_id read = {0, 0, 0, id->bits};
    for (uint32_t j = 5; j-- > 0;) {
        firn__push(&read, (firn_value){limbs[j], 0}, 32);
    }
    bool fits = limbs[5] == 0;
    if (id->bits < 160) { /* too big by less than one digit, so one word of what is above will do */
        fits = fits && firn__get(&read, id->bits, 160 - id->bits).low == 0;
    }
    *id = read;
    return all != 0 && fits;
}

/* At most `width` digits. */
EACH bool get_radix(firn_id *id, const form_row *form, const char *text, size_t length) {
    return id->bits <= 64 ? get_number(&id->low, form, id->bits, text, length)
                          : get_wide(id, form, text, length);
}

EACH bool read_radix(firn_id *id, const form_row *form, const char *text, size_t length) {
    return length == width_of(form, id->bits) && get_radix(id, form, text, length);
}

EACH bool read_number(firn_id *id, const form_row *form, const char *text, size_t length) {
    return length > 0 && length <= width_of(form, id->bits) && (*text != '0' || length == 1) &&
           get_radix(id, form, text, length);
}

/* 64 bits are read from -2^63 to 2^64 - 1, since systems print one and the same ID either way. */
static bool read_dec(firn_id *id, const char *text, size_t length) {
    if (id->bits != 64 || length == 0 || *text != '-') {
        return read_number(id, &forms[FIRN_FORM_DEC], text, length);
    }
    if (!read_number(id, &forms[FIRN_FORM_DEC], text + 1, length - 1)) {
        return false;
    }
    bool fits = id->low > 0 && id->low <= UINT64_C(1) << 63;
    id->low = 0 - id->low;
    return fits;
}

/* Eight hex digits from two places. All eight bytes are compared at once: adding 0x80 - c to a
 * byte below 0x80 sets its top bit if it is c or more. */
static inline uint32_t get_hex(const char *first, const char *second, uint32_t *all) {
    uint64_t text = get_four(first) | (uint64_t)get_four(second) << 32;
    uint64_t low7 = text & 0x7f7f7f7f7f7f7f7f, lower = low7 | 0x2020202020202020;
    uint64_t digits = (low7 + 0x5050505050505050) & ~(low7 + 0x4646464646464646);
    uint64_t letters = (lower + 0x1f1f1f1f1f1f1f1f) & ~(lower + 0x1919191919191919);
    uint64_t right = (digits | letters) & ~text & 0x8080808080808080;
    *all &= right == 0x8080808080808080 ? IS : 0;
    uint64_t word = (low7 & 0x0f0f0f0f0f0f0f0f) + 9 * (letters >> 7 & 0x0101010101010101);
    word = (word << 4 | word >> 8) & 0x00ff00ff00ff00ff;
    word = (word << 8 | word >> 16) & 0x0000ffff0000ffff;
    return (uint32_t)((word << 16 | word >> 32) & UINT32_MAX);
}

/* Four digits, or eight hex digits. */
EACH uint32_t get_power(const form_row *form, const char *text, uint32_t *all) {
    const uint32_t digit_bits = form->digit_bits;
    if (digit_bits == 4) {
        return get_hex(text, text + 4, all);
    }
    uint32_t a = value_of(form, text[0]), b = value_of(form, text[1]);
    uint32_t c = value_of(form, text[2]), d = value_of(form, text[3]);
    *all &= a & b & c & d;
    return (a & 0x7f) << 3 * digit_bits | (b & 0x7f) << 2 * digit_bits | (c & 0x7f) << digit_bits |
           (d & 0x7f);
}

/* `width` digits of a radix that is a power of two: an odd few first, then several at a time. */
EACH bool read_power(firn_id *id, const form_row *form, const char *text, size_t length) {
    const uint32_t digit_bits = form->digit_bits, group = digit_bits == 4 ? 8 : 4;
    const uint32_t width = width_of(form, id->bits), spare = width * digit_bits - id->bits;
    if (length != width) {
        return false;
    }
    uint32_t first = value_of(form, text[0]) & 0x7f, all = IS, i = 0;
    for (; i < width % group; i++) {
        uint32_t value = value_of(form, text[i]);
        all &= value;
        firn__push(id, (firn_value){value & 0x7f, 0}, digit_bits);
    }
    for (; i < width; i += group) {
        uint32_t word = get_power(form, text + i, &all);
        firn__push(id, (firn_value){word, 0}, group * digit_bits);
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
static inline bool read_uuid(firn_id *id, const char *text) {
    uint32_t all = IS;
    uint64_t a = get_hex(text, text + 4, &all), b = get_hex(text + 9, text + 14, &all);
    uint64_t c = get_hex(text + 19, text + 24, &all), d = get_hex(text + 28, text + 32, &all);
    id->high = a << 32 | b;
    id->low = c << 32 | d;
    return all != 0 && text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-';
}

enum { PREFIX_MAX = 63 };

/* A typeid's prefix: [a-z]([a-z_]*[a-z])?, at most 63 characters. */
static bool is_prefix(const char *text, size_t length) {
    bool fits = length >= 1 && length <= PREFIX_MAX && text[0] != '_' && text[length - 1] != '_';
    for (size_t i = 0; fits && i < length; i++) {
        fits = (text[i] >= 'a' && text[i] <= 'z') || text[i] == '_';
    }
    return fits;
}

static bool read_typeid(firn_id *id, const char *text, size_t length) {
    const form_row *form = &forms[FIRN_FORM_TYPEID];
    size_t width = width_of(form, 128);
    if (length > width) {
        size_t prefix = length - width - 1;
        if (text[prefix] != '_' || !is_prefix(text, prefix)) {
            return false;
        }
        text += prefix + 1;
        length = width;
    }
    return id->bits == 128 && read_power(id, form, text, length);
}

/* Does a character stand rightly at a place of a frame? Letters in either case. */
static bool frame_takes(char frame, char c) {
    if (frame == 'x') {
        return values_hex[(unsigned char)c] != 0;
    }
    return c == frame || (frame >= 'a' && frame <= 'z' && c == frame - 'a' + 'A');
}

static bool read_frame(firn_id *id, const form_row *form, const char *text, size_t length) {
    size_t before = strcspn(form->frame, "x"), end = before + 36;
    if (id->bits != 128 || length != strlen(form->frame)) {
        return false;
    }
    for (size_t i = 0; i < before; i++) {
        if (!frame_takes(form->frame[i], text[i])) {
            return false;
        }
    }
    return (end == length || text[end] == form->frame[end]) && read_uuid(id, text + before);
}

static bool read_text(firn_id *id, int form, const char *text, size_t length) {
    switch (form) {
    case FIRN_FORM_UUID:
        return id->bits == 128 && length == 36 && read_uuid(id, text);
    case FIRN_FORM_URN:
    case FIRN_FORM_BRACED:
        return read_frame(id, &forms[form], text, length);
    case FIRN_FORM_DEC:
        return read_dec(id, text, length);
    case FIRN_FORM_UNSIGNED:
        return read_number(id, &forms[FIRN_FORM_UNSIGNED], text, length);
    case FIRN_FORM_FLAKE:
        return read_number(id, &forms[FIRN_FORM_FLAKE], text, length);
    case FIRN_FORM_BASE36:
        return read_radix(id, &forms[FIRN_FORM_BASE36], text, length);
    case FIRN_FORM_BASE58:
        return read_radix(id, &forms[FIRN_FORM_BASE58], text, length);
    case FIRN_FORM_BASE62:
        return read_radix(id, &forms[FIRN_FORM_BASE62], text, length);
    case FIRN_FORM_HEX:
        return read_power(id, &forms[FIRN_FORM_HEX], text, length);
    case FIRN_FORM_BIN:
        return read_power(id, &forms[FIRN_FORM_BIN], text, length);
    case FIRN_FORM_BASE32:
        return read_power(id, &forms[FIRN_FORM_BASE32], text, length);
    case FIRN_FORM_BASE32HEX:
        return read_power(id, &forms[FIRN_FORM_BASE32HEX], text, length);
    case FIRN_FORM_TYPEID:
        return read_typeid(id, text, length);
    case FIRN_FORM_DATED:
        return firn__dated_read(id, text, length);
    default:
        return false;
    }
}

/* ---- what is wrong with a text ------------------------------------------------------------- */

int firn__refuse(firn_error *error, const char *text, size_t length, size_t at, const char *why) {
    if (length == 0) {
        return firn__fail(error, FIRN_ETEXT, "the text is empty: %s", why);
    }
    if (at >= length) {
        return firn__fail(error, FIRN_ETEXT, "text ends after %zu character%s: %s", length,
                          length == 1 ? "" : "s", why);
    }
    char shown[5];
    unsigned char c = (unsigned char)text[at];
    snprintf(shown, sizeof shown, c >= ' ' && c <= '~' ? "%c" : "\\x%02x", c);
    return firn__fail(error, FIRN_ETEXT, "character %zu of %zu is '%s': %s", at + 1, length, shown,
                      why);
}

typedef struct {
    const char *text;
    size_t length;
    size_t start; /* of its digits, after a sign or a prefix */
    firn_error *error;
} refused;

static int refuse(const refused *what, size_t at, const char *why) {
    return firn__refuse(what->error, what->text, what->length, at, why);
}

/* Digits that are all right, and as many as there should be, but too big together: the first one
 * that is greater than the one of the greatest ID. */
static int refuse_big(const refused *what, const form_row *form, const char *greatest,
                      uint32_t bits) {
    char why[128];
    size_t at = 0;
    const char *digits = what->text + what->start;
    while (greatest[at + 1] != '\0' && value_of(form, digits[at]) == value_of(form, greatest[at])) {
        at++;
    }
    snprintf(why, sizeof why, "too big for %u bits, at most %s", (unsigned)bits, greatest);
    return refuse(what, what->start + at, why);
}

/* The digits of the greatest ID of a form; of the least one where a sign went before. */
static void write_greatest(char out[FIRN_TEXT_SIZE], const refused *what, int form, uint32_t bits) {
    firn_id id = {0, 0, 0, bits};
    if (form == FIRN_FORM_DEC && what->start > 0) {
        id.low = UINT64_C(1) << 63;
    } else {
        for (uint32_t i = 0; i < bits; i++) {
            firn__push(&id, (firn_value){1, 0}, 1);
        }
    }
    firn__format(out, &id, form == FIRN_FORM_DEC ? FIRN_FORM_UNSIGNED : form);
}

static int explain_digits(const refused *what, int form, uint32_t bits) {
    const form_row *row = &forms[form];
    const bool padded = row->kind != KIND_NUMBER;
    char why[128], greatest[FIRN_TEXT_SIZE];
    write_greatest(greatest, what, form, bits);
    const size_t digits = what->length - what->start, width = strlen(greatest);
    if (!padded && digits > 1 && what->text[what->start] == '0') {
        return refuse(what, what->start, "a number does not begin with 0");
    }
    for (size_t i = 0; i < digits && i < width; i++) {
        if (value_of(row, what->text[what->start + i]) == 0) {
            snprintf(why, sizeof why, "%s is needed", row->needed);
            return refuse(what, what->start + i, why);
        }
    }
    snprintf(why, sizeof why, "%s of %u bits has %s%zu digit%s", row->name, (unsigned)bits,
             padded ? "" : "at most ", width, width == 1 ? "" : "s");
    if (digits > width) {
        return refuse(what, what->start + width, why);
    }
    if (digits == 0 || (padded && digits < width)) {
        return refuse(what, what->length, why);
    }
    if (row->kind == KIND_LEFT) {
        return refuse(what, what->length - 1, "the spare bits of the last digit must be zero");
    }
    return refuse_big(what, row, greatest, bits);
}

static int explain_dec(refused *what, uint32_t bits) {
    if (bits == 64 && what->length > 0 && *what->text == '-') {
        what->start = 1;
        if (what->length > 1 && what->text[1] == '0') {
            return refuse(what, 1, "a number after '-' does not begin with 0");
        }
    }
    return explain_digits(what, FIRN_FORM_DEC, bits);
}

static int explain_frame(const refused *what, const form_row *row) {
    char why[64];
    size_t width = strlen(row->frame);
    for (size_t i = 0; i < what->length && i < width; i++) {
        if (!frame_takes(row->frame[i], what->text[i])) {
            snprintf(why, sizeof why, row->frame[i] == 'x' ? "%s is needed" : "'%.1s' is needed",
                     row->frame[i] == 'x' ? row->needed : row->frame + i);
            return refuse(what, i, why);
        }
    }
    snprintf(why, sizeof why, "%s has %zu", row->name, width);
    return refuse(what, what->length > width ? width : what->length, why);
}

static int explain_typeid(refused *what, uint32_t bits) {
    size_t prefix = what->length;
    while (prefix > 0 && what->text[prefix - 1] != '_') {
        prefix--;
    }
    what->start = prefix;
    if (prefix == 1) {
        return refuse(what, 0, "a prefix is needed before '_'");
    }
    for (size_t i = 0; i + 1 < prefix; i++) {
        char c = what->text[i];
        if (i == PREFIX_MAX) {
            return refuse(what, i, "a prefix has at most 63 characters");
        }
        if (c == '_' && (i == 0 || i + 2 == prefix)) {
            return refuse(what, i, "a prefix begins and ends with a letter");
        }
        if (c != '_' && (c < 'a' || c > 'z')) {
            return refuse(what, i, "a prefix has a to z and _ only");
        }
    }
    return explain_digits(what, FIRN_FORM_TYPEID, bits);
}

static int explain(refused *what, int form, uint32_t bits) {
    switch (forms[form].kind) {
    case KIND_FRAME:
        return explain_frame(what, &forms[form]);
    case KIND_TYPEID:
        return explain_typeid(what, bits);
    case KIND_DATED:
        return firn__dated_refuse(what->error, bits, what->text, what->length);
    case KIND_NUMBER:
    case KIND_RADIX:
    case KIND_POWER:
    case KIND_LEFT:
        break;
    }
    return form == FIRN_FORM_DEC ? explain_dec(what, bits) : explain_digits(what, form, bits);
}

int firn_parse(firn_id *id, int form, uint32_t bits, const char *text, size_t length,
               firn_error *error) {
    firn_id read = {0, 0, 0, bits};
    if (bits >= 1 && bits <= 160 && read_text(&read, form, text, length)) {
        *id = read;
        return FIRN_OK;
    }
    const char *name = firn_form_name(form);
    if (name == NULL) {
        return firn__fail(error, FIRN_EUSAGE, "there is no text form %d", form);
    }
    if (firn_form_width(form, bits) == 0) {
        return firn__fail(error, FIRN_EUSAGE, "%s is not for IDs of %u bits", name, (unsigned)bits);
    }
    refused what = {text, length, 0, error};
    return error == NULL ? FIRN_ETEXT : explain(&what, form, bits);
}
