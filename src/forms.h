/* SPDX-License-Identifier: MIT */
/* The text forms: one table of alphabets and forms, which the writer (text.c) and the reader
 * (parse.c) both include, so that radix and width are constants in each. Knows widths and digits,
 * no scheme. */
#ifndef FIRN_FORMS_H
#define FIRN_FORMS_H

#include <firn/firn.h>

/* ---- alphabets ----------------------------------------------------------------------------- */

/* D(value, character) is a digit, L(value, upper, lower) a letter. The digits for writing, by
 * value, and the values for reading, by character, come from the same lists, so they agree. */
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
#define SORTABLE(D, L) /* of the AT protocol: the letters after the digits, as in ASCII */          \
    D(0, '2') D(1, '3') D(2, '4') D(3, '5') D(4, '6') D(5, '7') D(6, 'a') D(7, 'b') D(8, 'c')      \
    D(9, 'd') D(10, 'e') D(11, 'f') D(12, 'g') D(13, 'h') D(14, 'i') D(15, 'j') D(16, 'k')         \
    D(17, 'l') D(18, 'm') D(19, 'n') D(20, 'o') D(21, 'p') D(22, 'q') D(23, 'r') D(24, 's')        \
    D(25, 't') D(26, 'u') D(27, 'v') D(28, 'w') D(29, 'x') D(30, 'y') D(31, 'z')
#define SIXTY_FOUR(D, L) /* of Firebase, in the order of ASCII */                                  \
    D(0, '-') D(1, '0') D(2, '1') D(3, '2') D(4, '3') D(5, '4') D(6, '5') D(7, '6') D(8, '7')      \
    D(9, '8') D(10, '9') D(11, 'A') D(12, 'B') D(13, 'C') D(14, 'D') D(15, 'E') D(16, 'F')         \
    D(17, 'G') D(18, 'H') D(19, 'I') D(20, 'J') D(21, 'K') D(22, 'L') D(23, 'M') D(24, 'N')        \
    D(25, 'O') D(26, 'P') D(27, 'Q') D(28, 'R') D(29, 'S') D(30, 'T') D(31, 'U') D(32, 'V')        \
    D(33, 'W') D(34, 'X') D(35, 'Y') D(36, 'Z') D(37, '_') D(38, 'a') D(39, 'b') D(40, 'c')        \
    D(41, 'd') D(42, 'e') D(43, 'f') D(44, 'g') D(45, 'h') D(46, 'i') D(47, 'j') D(48, 'k')        \
    D(49, 'l') D(50, 'm') D(51, 'n') D(52, 'o') D(53, 'p') D(54, 'q') D(55, 'r') D(56, 's')        \
    D(57, 't') D(58, 'u') D(59, 'v') D(60, 'w') D(61, 'x') D(62, 'y') D(63, 'z')
/* clang-format on */

/* For writing. Base62 is base36 with the lower case after the upper case. */
#define DIGIT(value, digit)        [value] = (digit),
#define UPPER(value, upper, lower) [value] = (upper),
#define LOWER(value, upper, lower) [value] = (lower),
#define CASES(value, upper, lower) [value] = (upper), [(value) + 26] = (lower),
static const char digits_hex[16] = {SIXTEEN(DIGIT, LOWER)};
static const char digits_32[32] = {CROCKFORD(DIGIT, UPPER)};
static const char digits_32_lower[32] = {CROCKFORD(DIGIT, LOWER)};
static const char digits_32hex[32] = {THIRTY_TWO(DIGIT, LOWER)};
static const char digits_36[36] = {THIRTY_SIX(DIGIT, UPPER)};
static const char digits_32sort[32] = {SORTABLE(DIGIT, )};
static const char digits_36_lower[36] = {THIRTY_SIX(DIGIT, LOWER)};
static const char digits_58[58] = {BITCOIN(DIGIT, )};
static const char digits_62[62] = {THIRTY_SIX(DIGIT, CASES)};
static const char digits_64[64] = {SIXTY_FOUR(DIGIT, )};
#undef DIGIT
#undef UPPER
#undef LOWER
#undef CASES

/* For reading: IS | value, or 0 if the character is not a digit, so readers collect errors with
 * AND. */
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
static const uint8_t values_32sort[256] = {SORTABLE(DIGIT, )};
static const uint8_t values_36[256] = {THIRTY_SIX(DIGIT, BOTH)};
static const uint8_t values_58[256] = {BITCOIN(DIGIT, )};
static const uint8_t values_62[256] = {THIRTY_SIX(DIGIT, CASES)};
static const uint8_t values_64[256] = {SIXTY_FOUR(DIGIT, )};
#undef DIGIT
#undef BOTH
#undef LOWER
#undef CASES

/* ---- forms --------------------------------------------------------------------------------- */

enum kind {
    KIND_NUMBER, /* as many digits as the number needs */
    KIND_RADIX,  /* the same, padded with zeros to the width */
    KIND_POWER,  /* the radix is a power of two */
    KIND_LEFT,   /* the same, with the spare bits at the end: sorts as the bytes do */
    KIND_FRAME,  /* 128 bits as hex digits in a frame */
    KIND_TYPEID, /* a prefix, which is not a part of the ID, and a KIND_POWER of 128 bits */
    KIND_DATED   /* a date and decimal digits: dated.c */
};

typedef struct {
    const char *name;
    enum kind kind;
    uint32_t digit_bits;   /* bits of a digit, if the radix is a power of two; else 0, and: */
    uint32_t base;         /* the radix; numbers are cut into chunks: */
    uint32_t chunk_digits; /* digits that fit 32 bits */
    uint32_t chunk;        /* base to the power of chunk_digits */
    uint32_t width_4096; /* digits per bit times 4096, exact for 1..160 bits after rounding down */
    const char *digits;
    const uint8_t *values;
    const char *needed; /* what a digit is, for messages */
    const char *frame;  /* x is a hex digit */
} firn__form;

#define BASE10          0, 10, 8, 100000000, 1233, digits_hex, values_10, "a decimal digit", NULL
#define RADIX36(digits) 0, 36, 6, 2176782336, 792, digits, values_36, "a digit or letter", NULL
#define BASE58                                                                                     \
    0, 58, 5, 656356768, 699, digits_58, values_58, "a base58 digit (not 0, I, O, l)", NULL
#define BASE62      0, 62, 5, 916132832, 688, digits_62, values_62, "a digit or letter", NULL
#define POWER(bits) bits, 0, 0, 0, 0
#define HEX         POWER(4), digits_hex, values_hex, "a hex digit"
#define FRAME       "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"

static const firn__form firn__forms[FIRN_FORM_COUNT] = {
    [FIRN_FORM_DEC] = {"dec", KIND_NUMBER, BASE10},
    [FIRN_FORM_UNSIGNED] = {"unsigned", KIND_NUMBER, BASE10},
    [FIRN_FORM_FLAKE] = {"flake", KIND_NUMBER, BASE62},
    [FIRN_FORM_BASE36] = {"base36", KIND_RADIX, RADIX36(digits_36)},
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
    [FIRN_FORM_BASE32SORT] = {"base32sort", KIND_POWER, POWER(5), digits_32sort, values_32sort,
                              "2 to 7 or a to z", NULL},
    [FIRN_FORM_BASE36LOWER] = {"base36lower", KIND_RADIX, RADIX36(digits_36_lower)},
    [FIRN_FORM_BASE64SORT] = {"base64sort", KIND_POWER, POWER(6), digits_64, values_64,
                              "a letter, a digit, - or _", NULL},
};

/* Writers and readers get their form as an argument and are compiled once for each form, so radix
 * and width are constants: division by a constant is a multiplication. */
#if defined(__GNUC__)
#define EACH static inline __attribute__((always_inline))
#else
#define EACH static inline
#endif

/* Not inlined, so that a function that ends in such a call saves no registers for it. */
#if defined(__GNUC__)
#define APART __attribute__((noinline))
#else
#define APART
#endif

/* The least number of digits that holds 2^bits - 1. */
static inline uint32_t firn__form_digits(const firn__form *form, uint32_t bits) {
    return form->digit_bits > 0 ? (bits + form->digit_bits - 1) / form->digit_bits
                                : (bits * form->width_4096 >> 12) + 1;
}

#endif
