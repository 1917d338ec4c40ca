/* SPDX-License-Identifier: MIT */
/* The text forms: one table of alphabets and forms, which the writer (text.c) and the reader
 * (parse.c) both include, so that radix and width are constants in each. Knows widths and digits,
 * no scheme. */
#ifndef FIRN_FORMS_H
#define FIRN_FORMS_H

#include <firn/firn.h>

/* ---- alphabets ----------------------------------------------------------------------------- */

/* D(value, character) is a digit, L(value, upper) a letter of either case. The digits for writing,
 * by value, and the values for reading, by character, come from the same lists, so they agree.
 * RUN_5(X, value, c) is X of five characters from c on, with five values. */
/* clang-format off */
#define RUN_2(X, value, c)  X(value, c) X((value) + 1, (c) + 1)
#define RUN_4(X, value, c)  RUN_2(X, value, c) RUN_2(X, (value) + 2, (c) + 2)
#define RUN_5(X, value, c)  RUN_4(X, value, c) X((value) + 4, (c) + 4)
#define RUN_6(X, value, c)  RUN_5(X, value, c) X((value) + 5, (c) + 5)
#define RUN_8(X, value, c)  RUN_4(X, value, c) RUN_4(X, (value) + 4, (c) + 4)
#define RUN_9(X, value, c)  RUN_8(X, value, c) X((value) + 8, (c) + 8)
#define RUN_10(X, value, c) RUN_8(X, value, c) RUN_2(X, (value) + 8, (c) + 8)
#define RUN_11(X, value, c) RUN_10(X, value, c) X((value) + 10, (c) + 10)
#define RUN_14(X, value, c) RUN_10(X, value, c) RUN_4(X, (value) + 10, (c) + 10)
#define RUN_22(X, value, c) RUN_14(X, value, c) RUN_8(X, (value) + 14, (c) + 14)
#define RUN_26(X, value, c) RUN_22(X, value, c) RUN_4(X, (value) + 22, (c) + 22)

#define TWO(D, L)        RUN_2(D, 0, '0')
#define TEN(D, L)        RUN_10(D, 0, '0')
#define SIXTEEN(D, L)    TEN(D, L) RUN_6(L, 10, 'A')
#define CROCKFORD(D, L) /* no I, L, O, U */                                                        \
    TEN(D, L) RUN_8(L, 10, 'A') RUN_2(L, 18, 'J') RUN_2(L, 20, 'M') RUN_5(L, 22, 'P') RUN_5(L, 27, 'V')
#define THIRTY_TWO(D, L) TEN(D, L) RUN_22(L, 10, 'A') /* RFC 4648, extended hex */
#define THIRTY_SIX(D, L) TEN(D, L) RUN_26(L, 10, 'A')
#define BITCOIN(D, L) /* no 0, I, O, l; upper and lower case are different digits */               \
    RUN_9(D, 0, '1') RUN_8(D, 9, 'A') RUN_5(D, 17, 'J') RUN_11(D, 22, 'P')                         \
    RUN_11(D, 33, 'a') RUN_14(D, 44, 'm')
#define SORTABLE(D, L) /* of the AT protocol: the letters after the digits, as in ASCII */          \
    RUN_6(D, 0, '2') RUN_26(D, 6, 'a')
#define SIXTY_FOUR(D, L) /* of Firebase, in the order of ASCII */                                  \
    D(0, '-') RUN_10(D, 1, '0') RUN_26(D, 11, 'A') D(37, '_') RUN_26(D, 38, 'a')
#define RFC_32(D, L) RUN_26(L, 0, 'A') RUN_6(D, 26, '2') /* RFC 4648, as the next two */
#define RFC_64(D, plus, slash)                                                                     \
    RUN_26(D, 0, 'A') RUN_26(D, 26, 'a') RUN_10(D, 52, '0') D(62, plus) D(63, slash)
/* clang-format on */

#define LOWER_OF(upper) ((upper) - 'A' + 'a')

/* For writing. Base62 is base36 with the lower case after the upper case. */
#define DIGIT(value, digit) [value] = (digit),
#define LOWER(value, upper) [value] = LOWER_OF(upper),
#define CASES(value, upper) [value] = (upper), [(value) + 26] = LOWER_OF(upper),
static const char digits_hex[16] = {SIXTEEN(DIGIT, LOWER)};
static const char digits_32[32] = {CROCKFORD(DIGIT, DIGIT)};
static const char digits_32_lower[32] = {CROCKFORD(DIGIT, LOWER)};
static const char digits_32hex[32] = {THIRTY_TWO(DIGIT, LOWER)};
static const char digits_36[36] = {THIRTY_SIX(DIGIT, DIGIT)};
static const char digits_32sort[32] = {SORTABLE(DIGIT, )};
static const char digits_36_lower[36] = {THIRTY_SIX(DIGIT, LOWER)};
static const char digits_58[58] = {BITCOIN(DIGIT, )};
static const char digits_62[62] = {THIRTY_SIX(DIGIT, CASES)};
static const char digits_64[64] = {SIXTY_FOUR(DIGIT, )};
static const char digits_32rfc[32] = {RFC_32(DIGIT, LOWER)};
static const char digits_base64[64] = {RFC_64(DIGIT, '+', '/')};
static const char digits_64url[64] = {RFC_64(DIGIT, '-', '_')};
#undef DIGIT
#undef LOWER
#undef CASES

/* For reading: IS | value, or 0 if the character is not a digit, so readers collect errors with
 * AND. */
#define IS                  0x80u
#define DIGIT(value, digit) [digit] = IS | (value),
#define BOTH(value, upper)  [upper] = IS | (value), [LOWER_OF(upper)] = IS | (value),
#define LOWER(value, upper) [LOWER_OF(upper)] = IS | (value),
#define CASES(value, upper) [upper] = IS | (value), [LOWER_OF(upper)] = IS | ((value) + 26),
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
static const uint8_t values_32rfc[256] = {RFC_32(DIGIT, BOTH)};
static const uint8_t values_base64[256] = {RFC_64(DIGIT, '+', '/')};
static const uint8_t values_64url[256] = {RFC_64(DIGIT, '-', '_')};
#undef DIGIT
#undef BOTH
#undef LOWER
#undef CASES

/* ---- forms --------------------------------------------------------------------------------- */

enum kind {
    KIND_NUMBER, /* as many digits as the number needs */
    KIND_SIGNED, /* the same, and 64 bits as a signed number */
    KIND_RADIX,  /* the same, padded with zeros to the width */
    KIND_POWER,  /* the radix is a power of two */
    KIND_LEFT,   /* the same, with the spare bits at the end: sorts as the bytes do */
    KIND_FRAME,  /* 128 bits as hex digits in a frame */
    KIND_TYPEID, /* a prefix, which is not a part of the ID, and a KIND_POWER of 128 bits */
    KIND_DATED,  /* a date and decimal digits: date_form.c */
    KIND_BYTES,  /* digits of whole bytes, with the frame's character up to a multiple of four */
    KIND_NCNAME  /* the version of a UUID as a letter, digits, the variant: both encoded.c */
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

#define ROW_10         0, 10, 8, 100000000, 1233, digits_hex, values_10, "a decimal digit", NULL
#define ROW_36(digits) 0, 36, 6, 2176782336, 792, digits, values_36, "a digit or letter", NULL
#define ROW_58                                                                                     \
    0, 58, 5, 656356768, 699, digits_58, values_58, "a base58 digit (not 0, I, O, l)", NULL
#define ROW_62          0, 62, 5, 916132832, 688, digits_62, values_62, "a digit or letter", NULL
#define ROW_POWER(bits) bits, 0, 0, 0, 0
#define ROW_64URL       ROW_POWER(6), digits_64url, values_64url, "a letter, a digit, - or _", NULL
#define ROW_HEX         ROW_POWER(4), digits_hex, values_hex, "a hex digit"
#define FRAME           "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
/* Where each four digits of a frame begin. */
static const uint8_t firn__frame_places[8] = {0, 4, 9, 14, 19, 24, 28, 32};

static const firn__form firn__forms[FIRN_FORM_COUNT] = {
    [FIRN_FORM_DEC] = {"dec", KIND_SIGNED, ROW_10},
    [FIRN_FORM_UNSIGNED] = {"unsigned", KIND_NUMBER, ROW_10},
    [FIRN_FORM_FLAKE] = {"flake", KIND_NUMBER, ROW_62},
    [FIRN_FORM_BASE36] = {"base36", KIND_RADIX, ROW_36(digits_36)},
    [FIRN_FORM_BASE58] = {"base58", KIND_RADIX, ROW_58},
    [FIRN_FORM_BASE62] = {"base62", KIND_RADIX, ROW_62},
    [FIRN_FORM_HEX] = {"hex", KIND_POWER, ROW_HEX, NULL},
    [FIRN_FORM_BIN] = {"bin", KIND_POWER, ROW_POWER(1), digits_hex, values_2, "0 or 1", NULL},
    [FIRN_FORM_BASE32] = {"base32", KIND_POWER, ROW_POWER(5), digits_32, values_32,
                          "a Crockford digit (not I, L, O, U)", NULL},
    [FIRN_FORM_BASE32HEX] = {"base32hex", KIND_LEFT, ROW_POWER(5), digits_32hex, values_32hex,
                             "0 to 9 or a to v", NULL},
    [FIRN_FORM_UUID] = {"uuid", KIND_FRAME, ROW_HEX, FRAME},
    [FIRN_FORM_URN] = {"urn", KIND_FRAME, ROW_HEX, "urn:uuid:" FRAME},
    [FIRN_FORM_BRACED] = {"braced", KIND_FRAME, ROW_HEX, "{" FRAME "}"},
    [FIRN_FORM_TYPEID] = {"typeid", KIND_TYPEID, ROW_POWER(5), digits_32_lower, values_32_lower,
                          "a lower-case Crockford digit (not i, l, o, u)", NULL},
    [FIRN_FORM_DATED] = {"dated", KIND_DATED, ROW_10},
    [FIRN_FORM_BASE32SORT] = {"base32sort", KIND_POWER, ROW_POWER(5), digits_32sort, values_32sort,
                              "2 to 7 or a to z", NULL},
    [FIRN_FORM_BASE36LOWER] = {"base36lower", KIND_RADIX, ROW_36(digits_36_lower)},
    [FIRN_FORM_BASE64SORT] = {"base64sort", KIND_POWER, ROW_POWER(6), digits_64, values_64,
                              "a letter, a digit, - or _", NULL},
    [FIRN_FORM_BASE64] = {"base64", KIND_BYTES, ROW_POWER(6), digits_base64, values_base64,
                          "a letter, a digit, + or /", "="},
    [FIRN_FORM_BASE64URL] = {"base64url", KIND_BYTES, ROW_64URL},
    [FIRN_FORM_NCNAME32] = {"ncname32", KIND_NCNAME, ROW_POWER(5), digits_32rfc, values_32rfc,
                            "a letter or 2 to 7", NULL},
    [FIRN_FORM_NCNAME58] = {"ncname58", KIND_NCNAME, ROW_58},
    [FIRN_FORM_NCNAME64] = {"ncname64", KIND_NCNAME, ROW_64URL},
};

/* X(FORM) for each. */
/* clang-format off */
#define FORMS(X)                                                                                   \
    X(DEC) X(UNSIGNED) X(FLAKE) X(BASE36) X(BASE58) X(BASE62) X(HEX) X(BIN) X(BASE32) X(BASE32HEX) \
    X(UUID) X(URN) X(BRACED) X(TYPEID) X(DATED) X(BASE32SORT) X(BASE36LOWER) X(BASE64SORT) \
    X(BASE64) X(BASE64URL) X(NCNAME32) X(NCNAME58) X(NCNAME64)
/* clang-format on */
#define ONE(FORM) +1
_Static_assert(FORMS(ONE) == FIRN_FORM_COUNT, "a form is missing from FORMS");
#undef ONE

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
