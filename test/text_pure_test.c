/* SPDX-License-Identifier: MIT */
/* Every text form at every kind of width: written, read, ordered, and each text that is nearly
 * right. What it is compared with is slow and plain: schoolbook division of an array of binary
 * digits by the radix. */
#include <firn/firn.h>

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chance.h"
#include "sanitized.h"

/* ---- the model ------------------------------------------------------------------------------ */

enum { BITS_MAX = 160 };

/* An ID as binary digits, the most significant first. */
typedef struct {
    uint32_t count;
    uint8_t bit[BITS_MAX + 8];
} binary;

typedef struct {
    int form;
    const char *alphabet;
    bool folds;  /* letters are read in either case */
    bool padded; /* with zeros to one width */
    bool left;   /* with zero bits at the end to whole digits */
    const char *before, *after;
    bool dashes;
} model;

#define HEX       "0123456789abcdef"
#define CROCKFORD "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
#define UPPER     "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define LOWER     "abcdefghijklmnopqrstuvwxyz"
#define BITCOIN   "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

/* Every form except dated and the forms of bytes, which are not a radix: their tests are below. */
static const model models[] = {
    {FIRN_FORM_DEC, "0123456789", false, false, false, "", "", false},
    {FIRN_FORM_UNSIGNED, "0123456789", false, false, false, "", "", false},
    {FIRN_FORM_FLAKE, "0123456789" UPPER LOWER, false, false, false, "", "", false},
    {FIRN_FORM_HEX, HEX, true, true, false, "", "", false},
    {FIRN_FORM_UUID, HEX, true, true, false, "", "", true},
    {FIRN_FORM_URN, HEX, true, true, false, "urn:uuid:", "", true},
    {FIRN_FORM_BRACED, HEX, true, true, false, "{", "}", true},
    {FIRN_FORM_BASE32, CROCKFORD, true, true, false, "", "", false},
    {FIRN_FORM_BASE32HEX, HEX "ghijklmnopqrstuv", true, true, true, "", "", false},
    {FIRN_FORM_BASE36, "0123456789" UPPER, true, true, false, "", "", false},
    {FIRN_FORM_BASE58, BITCOIN, false, true, false, "", "", false},
    {FIRN_FORM_BASE62, "0123456789" UPPER LOWER, false, true, false, "", "", false},
    {FIRN_FORM_BIN, "01", false, true, false, "", "", false},
    {FIRN_FORM_BASE32SORT, "234567" LOWER, false, true, false, "", "", false},
    {FIRN_FORM_BASE36LOWER, "0123456789" LOWER, true, true, false, "", "", false},
    {FIRN_FORM_BASE64SORT, "-0123456789" UPPER "_" LOWER, false, true, false, "", "", false},
    {FIRN_FORM_TYPEID, "0123456789abcdefghjkmnpqrstvwxyz", false, true, false, "", "", false},
};
enum { MODELS = sizeof models / sizeof models[0] };
enum { BYTE_FORMS = FIRN_FORM_NCNAME64 - FIRN_FORM_BASE64 + 1 };
_Static_assert(MODELS + 1 + BYTE_FORMS == FIRN_FORM_COUNT, "a form without a model");

static bool takes(const model *m, uint32_t bits) {
    return (!m->dashes && m->form != FIRN_FORM_TYPEID) || bits == 128;
}

static binary binary_of(const firn_id *id) {
    binary out = {id->bits, {0}};
    for (uint32_t i = 0; i < id->bits; i++) {
        uint64_t word = i < 64 ? id->low : i < 128 ? id->high : id->top;
        out.bit[id->bits - 1 - i] = word >> i % 64 & 1;
    }
    return out;
}

/* The digits, least significant first; returns how many, 0 for zero. */
static size_t divide(uint8_t digits[BITS_MAX], binary number, uint32_t radix) {
    size_t count = 0;
    for (bool more = true; more;) {
        uint32_t rest = 0;
        more = false;
        for (uint32_t i = 0; i < number.count; i++) {
            rest = rest * 2 + number.bit[i];
            number.bit[i] = rest >= radix;
            if (rest >= radix) {
                rest -= radix;
                more = true;
            }
        }
        if (more || rest > 0) {
            digits[count++] = (uint8_t)rest;
        }
    }
    return count;
}

static size_t model_width(const model *m, uint32_t bits) {
    uint8_t digits[BITS_MAX];
    binary greatest = {bits, {0}};
    memset(greatest.bit, 1, bits);
    return divide(digits, greatest, (uint32_t)strlen(m->alphabet));
}

static void model_format(char text[FIRN_TEXT_SIZE], const model *m, const firn_id *id) {
    const uint32_t radix = (uint32_t)strlen(m->alphabet);
    uint8_t digits[BITS_MAX] = {0};
    binary number = binary_of(id);
    bool negative = m->form == FIRN_FORM_DEC && id->bits == 64 && number.bit[0] == 1;
    if (negative) { /* two's complement: the bits below the last one are turned round */
        uint32_t last = 63;
        while (number.bit[last] == 0) {
            last--;
        }
        for (uint32_t i = 0; i < last; i++) {
            number.bit[i] ^= 1;
        }
    }
    while (m->left && number.count % 5 != 0) {
        number.count++;
    }
    size_t count = divide(digits, number, radix);
    size_t width = m->padded ? model_width(m, number.count) : count > 0 ? count : 1;
    char *out = text + sprintf(text, "%s%s", m->before, negative ? "-" : "");
    for (size_t i = 0; i < width; i++) {
        if (m->dashes && (i == 8 || i == 12 || i == 16 || i == 20)) {
            *out++ = '-';
        }
        *out++ = m->alphabet[digits[width - 1 - i]];
    }
    strcpy(out, m->after);
}

/* ---- ids ------------------------------------------------------------------------------------ */

static const uint32_t widths[] = {1,  2,  4,  5,  8,  31,  32,  33,  53,  60,  63,
                                  64, 65, 95, 96, 97, 127, 128, 129, 155, 159, 160};
enum { WIDTHS = sizeof widths / sizeof widths[0] };

static firn_id cut(uint32_t top, uint64_t high, uint64_t low, uint32_t bits) {
    firn_id id = {low, high, top, bits};
    if (bits < 64) {
        id.low &= (UINT64_C(1) << bits) - 1;
    }
    if (bits < 128) {
        id.high &= bits <= 64 ? 0 : (UINT64_C(1) << (bits - 64)) - 1;
    }
    if (bits < 160) {
        id.top &= bits <= 128 ? 0 : (UINT32_C(1) << (bits - 128)) - 1;
    }
    return id;
}

/* The n-th ID of a width: edges first (0, the greatest, each power of two and its neighbours), then
 * random ones, many of them small. */
static firn_id nth(uint32_t n, uint32_t bits) {
    if (n == 0) {
        return cut(0, 0, 0, bits);
    }
    if (n == 1) {
        return cut(UINT32_MAX, UINT64_MAX, UINT64_MAX, bits);
    }
    uint32_t power = (n - 2) / 2;
    if (power < bits) {
        firn_id id = {0, 0, 0, bits};
        if (power >= 128) {
            id.top = UINT32_C(1) << (power - 128);
        } else if (power >= 64) {
            id.high = UINT64_C(1) << (power - 64);
        } else {
            id.low = UINT64_C(1) << power;
        }
        if (n % 2 == 1) { /* one less */
            id.top -= id.low == 0 && id.high == 0;
            id.high -= id.low == 0;
            id.low--;
        }
        return cut(id.top, id.high, id.low, bits);
    }
    firn_id id = cut((uint32_t)chance(), chance(), chance(), 1 + (uint32_t)(chance() % bits));
    id.bits = bits;
    return id;
}

static bool same(const firn_id *a, const firn_id *b) {
    return a->low == b->low && a->high == b->high && a->top == b->top && a->bits == b->bits;
}

static int order(const firn_id *a, const firn_id *b) {
    if (a->top != b->top) {
        return a->top < b->top ? -1 : 1;
    }
    if (a->high != b->high) {
        return a->high < b->high ? -1 : 1;
    }
    return a->low < b->low ? -1 : a->low > b->low;
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* Are two texts equal, ignoring letter case if the form does? */
static bool alike(const model *m, const char *a, const char *b, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (m->folds ? lower(a[i]) != lower(b[i]) : a[i] != b[i]) {
            return false;
        }
    }
    return true;
}

/* ---- tests: names and widths ---------------------------------------------------------------- */

static void names_and_forms_find_each_other(void **state) {
    (void)state;
    static const char *const names[FIRN_FORM_COUNT] = {
        "dec",       "hex",       "uuid",     "urn",        "braced",      "base32",
        "base32hex", "base36",    "base58",   "base62",     "bin",         "unsigned",
        "flake",     "typeid",    "dated",    "base32sort", "base36lower", "base64sort",
        "base64",    "base64url", "ncname32", "ncname58",   "ncname64"};
    for (int form = 0; form < FIRN_FORM_COUNT; form++) {
        assert_string_equal(firn_form_name(form), names[form]);
        assert_int_equal(firn_form_find(names[form]), form);
    }
    assert_null(firn_form_name(-1));
    assert_null(firn_form_name(FIRN_FORM_COUNT));
    assert_int_equal(firn_form_find("base63"), -1);
    assert_int_equal(firn_form_find("DEC"), -1);
    assert_int_equal(firn_form_find(""), -1);
}

static void a_width_is_the_least_that_holds_the_greatest_id(void **state) {
    (void)state;
    for (uint32_t bits = 1; bits <= BITS_MAX; bits++) {
        for (size_t i = 0; i < MODELS; i++) {
            const model *m = &models[i];
            char text[FIRN_TEXT_SIZE];
            firn_id greatest = cut(UINT32_MAX, UINT64_MAX, UINT64_MAX, bits);
            size_t width = firn_form_width(m->form, bits);
            if (!takes(m, bits)) {
                assert_int_equal(width, 0);
                assert_string_equal(firn_format(text, &greatest, m->form), "");
                continue;
            }
            assert_int_equal(width, model_width(m, bits) + (m->dashes ? 4 : 0) + strlen(m->before) +
                                        strlen(m->after));
            if (m->form != FIRN_FORM_DEC || bits != 64) {
                assert_int_equal(strlen(firn_format(text, &greatest, m->form)), width);
            }
        }
    }
    for (int form = -1; form <= FIRN_FORM_COUNT; form++) {
        assert_int_equal(firn_form_width(form, 0), 0);
        assert_int_equal(firn_form_width(form, 161), 0);
        assert_int_equal(firn_form_width(form, UINT32_MAX), 0);
    }
    assert_int_equal(firn_form_width(FIRN_FORM_COUNT, 64), 0);
    assert_int_equal(firn_form_width(-1, 64), 0);
}

static void what_no_form_takes_is_written_as_nothing(void **state) {
    (void)state;
    static const uint32_t none[] = {0, 161, UINT32_MAX};
    for (int form = -1; form <= FIRN_FORM_COUNT; form++) {
        for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
            char text[FIRN_TEXT_SIZE] = "before";
            firn_id id = {1, 2, 3, none[i]};
            assert_string_equal(firn_format(text, &id, form), "");
        }
    }
}

/* ---- tests: writing and reading ------------------------------------------------------------- */

enum { MANY = 700 };

static void every_form_writes_what_schoolbook_division_writes(void **state) {
    (void)state;
    for (size_t i = 0; i < MODELS; i++) {
        for (size_t w = 0; w < WIDTHS; w++) {
            for (uint32_t n = 0; takes(&models[i], widths[w]) && n < MANY; n++) {
                char expected[FIRN_TEXT_SIZE], text[FIRN_TEXT_SIZE];
                firn_id id = nth(n, widths[w]);
                model_format(expected, &models[i], &id);
                assert_string_equal(firn_format(text, &id, models[i].form), expected);
            }
        }
    }
}

static void written_texts_are_read_again(void **state) {
    (void)state;
    for (size_t i = 0; i < MODELS; i++) {
        for (size_t w = 0; w < WIDTHS; w++) {
            for (uint32_t n = 0; takes(&models[i], widths[w]) && n < MANY; n++) {
                char text[FIRN_TEXT_SIZE];
                firn_id id = nth(n, widths[w]), read = {0, 0, 0, 0};
                firn_error error = {0};
                firn_format(text, &id, models[i].form);
                assert_int_equal(
                    firn_parse(&read, models[i].form, widths[w], text, strlen(text), &error), 0);
                assert_true(same(&read, &id));
                assert_string_equal(error.text, "");
            }
        }
    }
}

static void either_case_is_read_where_case_means_nothing(void **state) {
    (void)state;
    for (size_t i = 0; i < MODELS; i++) {
        for (size_t w = 0; w < WIDTHS; w++) {
            for (uint32_t n = 0; takes(&models[i], widths[w]) && models[i].folds && n < MANY; n++) {
                char text[FIRN_TEXT_SIZE];
                firn_id id = nth(n, widths[w]), read;
                firn_format(text, &id, models[i].form);
                for (char *c = text; *c != '\0'; c++) {
                    if (lower(*c) >= 'a' && lower(*c) <= 'z' && chance() % 2 == 0) {
                        *c = (char)(*c ^ 32);
                    }
                }
                assert_int_equal(
                    firn_parse(&read, models[i].form, widths[w], text, strlen(text), NULL), 0);
                assert_true(same(&read, &id));
            }
        }
    }
}

static void text_sorts_as_the_id_does(void **state) {
    (void)state;
    for (size_t i = 0; i < MODELS; i++) {
        for (size_t w = 0; w < WIDTHS; w++) {
            char last_text[FIRN_TEXT_SIZE] = "";
            firn_id last = {0, 0, 0, widths[w]};
            for (uint32_t n = 0; takes(&models[i], widths[w]) && models[i].padded && n < MANY;
                 n++) {
                char text[FIRN_TEXT_SIZE];
                firn_id id = nth(n, widths[w]);
                firn_format(text, &id, models[i].form);
                int expected = order(&last, &id), found = strcmp(last_text, text);
                assert_true(n == 0 || (found > 0) - (found < 0) == expected);
                memcpy(last_text, text, sizeof text);
                last = id;
            }
        }
    }
}

static void decimals_are_right_round_every_power_of_ten(void **state) {
    (void)state;
    uint64_t power = 1;
    for (int digits = 0; digits < 20; digits++, power *= 10) {
        for (int64_t off = -2; off <= 2; off++) {
            char text[FIRN_TEXT_SIZE], expected[32];
            firn_id id = {power + (uint64_t)off, 0, 0, 64}, read;
            snprintf(expected, sizeof expected, "%" PRIu64, id.low);
            assert_string_equal(firn_format(text, &id, FIRN_FORM_UNSIGNED), expected);
            assert_int_equal(firn_parse(&read, FIRN_FORM_UNSIGNED, 64, text, strlen(text), NULL),
                             0);
            assert_true(same(&read, &id));
            snprintf(expected, sizeof expected, "%" PRId64, (int64_t)id.low);
            assert_string_equal(firn_format(text, &id, FIRN_FORM_DEC), expected);
            assert_int_equal(firn_parse(&read, FIRN_FORM_DEC, 64, text, strlen(text), NULL), 0);
            assert_true(same(&read, &id));
        }
    }
}

static void sixty_four_bits_are_read_signed_and_unsigned(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"-1", "18446744073709551615"},
        {"-9223372036854775808", "9223372036854775808"},
        {"-9223372036854775807", "9223372036854775809"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        firn_id a, b;
        assert_int_equal(firn_parse(&a, FIRN_FORM_DEC, 64, pairs[i][0], strlen(pairs[i][0]), NULL),
                         0);
        assert_int_equal(firn_parse(&b, FIRN_FORM_DEC, 64, pairs[i][1], strlen(pairs[i][1]), NULL),
                         0);
        assert_true(same(&a, &b));
        assert_int_equal(
            firn_parse(&a, FIRN_FORM_UNSIGNED, 64, pairs[i][0], strlen(pairs[i][0]), NULL),
            FIRN_ETEXT);
        assert_int_equal(firn_parse(&a, FIRN_FORM_DEC, 63, pairs[i][0], strlen(pairs[i][0]), NULL),
                         FIRN_ETEXT);
        assert_int_equal(firn_parse(&a, FIRN_FORM_DEC, 128, pairs[i][0], strlen(pairs[i][0]), NULL),
                         FIRN_ETEXT);
    }
}

/* ---- tests: texts that are nearly right ----------------------------------------------------- */

/* The number after `word` in an error, or 0. */
static size_t number_after(const char *text, const char *word) {
    const char *position = strstr(text, word);
    return position == NULL ? 0 : (size_t)strtoul(position + strlen(word), NULL, 10);
}

/* A text is refused with its place, or is read as exactly what it says. A text that is too great
 * may be refused at any place from `big` on. */
static void check_text(const model *m, uint32_t bits, const char *text, size_t length,
                       size_t position, size_t big) {
    const firn_id untouched = {7, 7, 7, 7};
    firn_error error = {0};
    firn_id id = untouched;
    int code = firn_parse(&id, m->form, bits, text, length, &error);
    if (code == FIRN_OK) {
        char back[FIRN_TEXT_SIZE], other[FIRN_TEXT_SIZE];
        firn_format(back, &id, m->form);
        firn_format(other, &id, m->form == FIRN_FORM_DEC ? FIRN_FORM_UNSIGNED : m->form);
        assert_int_equal(id.bits, bits);
        assert_true((strlen(back) == length && alike(m, back, text, length)) ||
                    (strlen(other) == length && alike(m, other, text, length)));
        return;
    }
    assert_int_equal(code, FIRN_ETEXT);
    assert_int_equal(error.code, FIRN_ETEXT);
    assert_true(same(&id, &untouched));
    if (position == length) {
        assert_true(length == 0 ? strstr(error.text, "the text is empty: ") == error.text
                                : number_after(error.text, "text ends after ") == length);
        return;
    }
    size_t place = number_after(error.text, "character ");
    assert_true(strstr(error.text, "character ") == error.text);
    assert_int_equal(number_after(error.text, " of "), length);
    assert_true(place == position + 1 ||
                (place > big && place <= length && strstr(error.text, "too great") != NULL));
}

enum { FEW = 8 };

/* An edge or a random ID: for what takes long with each. */
static firn_id some(uint32_t n, uint32_t bits) {
    return nth(n < 4 ? n : 2 * bits + 2 + n, bits);
}

/* Where a text with character c at `position` is refused if it is. */
static size_t place_of(const model *m, uint32_t bits, const char *text, size_t position) {
    if (m->form == FIRN_FORM_DEC && bits == 64 && text[0] == '-' && position == 0) {
        return 1; /* a sign is valid there: the digits after it are wrong */
    }
    if (m->form == FIRN_FORM_TYPEID && text[position] == '_') {
        return 0; /* the text before it is a prefix now */
    }
    return position;
}

/* Every byte; in the build with sanitizers one of 17, others at each place. */
#define BYTE_STEP (SANITIZED ? 17 : 1)

static int first_byte(size_t place) {
    return (int)(place % BYTE_STEP);
}

static void each_wrong_character_is_refused_at_its_place(void **state) {
    (void)state;
    for (size_t i = 0; i < MODELS; i++) {
        const model *m = &models[i];
        for (size_t w = 0; w < WIDTHS; w++) {
            for (uint32_t n = 0; takes(m, widths[w]) && n < FEW; n++) {
                char text[FIRN_TEXT_SIZE];
                firn_id id = some(n, widths[w]);
                size_t length = strlen(firn_format(text, &id, m->form));
                for (size_t position = 0; position < length; position++) {
                    const char kept = text[position];
                    for (int c = first_byte(position); c < 256; c += BYTE_STEP) {
                        text[position] = (char)c;
                        check_text(m, widths[w], text, length,
                                   place_of(m, widths[w], text, position), position);
                    }
                    text[position] = kept;
                }
            }
        }
    }
}

static void each_shorter_text_is_refused_or_says_less(void **state) {
    (void)state;
    for (size_t i = 0; i < MODELS; i++) {
        const model *m = &models[i];
        for (size_t w = 0; w < WIDTHS; w++) {
            for (uint32_t n = 0; takes(m, widths[w]) && n < FEW; n++) {
                char text[FIRN_TEXT_SIZE];
                firn_id id = some(n, widths[w]);
                for (size_t length = strlen(firn_format(text, &id, m->form)); length-- > 0;) {
                    check_text(m, widths[w], text, length, length, 0);
                }
            }
        }
    }
}

static void each_longer_text_is_refused_or_says_more(void **state) {
    (void)state;
    for (size_t i = 0; i < MODELS; i++) {
        const model *m = &models[i];
        for (size_t w = 0; w < WIDTHS; w++) {
            for (uint32_t n = 0; takes(m, widths[w]) && n < FEW; n++) {
                char text[FIRN_TEXT_SIZE + 1];
                firn_id id = some(n, widths[w]);
                size_t length = strlen(firn_format(text, &id, m->form));
                for (int c = first_byte(n); c < 256; c += BYTE_STEP) {
                    text[length] = (char)c;
                    size_t position = place_of(m, widths[w], text, length);
                    check_text(m, widths[w], text, length + 1,
                               !m->padded && text[0] == '0' ? 0 : position, 0);
                }
            }
        }
    }
}

/* With formatting a function, it is enough that each text that is read is the text of its
 * reading. */
static void no_two_short_texts_give_one_id(void **state) {
    (void)state;
    for (size_t i = 0; i < MODELS; i++) {
        const model *m = &models[i];
        for (uint32_t bits = 1; bits <= 12; bits++) {
            uint32_t read = 0;
            for (uint32_t n = 0; !m->dashes && m->form != FIRN_FORM_TYPEID && n < 256 + 256 * 256;
                 n += n < 256 ? 1 : BYTE_STEP) {
                char text[3] = {(char)(n < 256 ? n : n / 256 - 1), (char)(n % 256), '\0'};
                size_t length = n < 256 ? 1 : 2;
                char back[FIRN_TEXT_SIZE];
                firn_id id;
                if (firn_parse(&id, m->form, bits, text, length, NULL) == FIRN_OK) {
                    assert_int_equal(strlen(firn_format(back, &id, m->form)), length);
                    assert_true(alike(m, back, text, length));
                    read += (uint32_t)alike(&models[0], back, text, length);
                }
            }
            if (!SANITIZED && firn_form_width(m->form, bits) <= 2 && !m->dashes &&
                m->form != FIRN_FORM_TYPEID) {
                assert_int_equal(read, UINT32_C(1) << bits);
            }
        }
    }
}

/* ---- tests: known answers -------------------------------------------------------------------- */

static void published_texts_are_what_their_makers_say(void **state) {
    (void)state;
    static const struct {
        int form;
        uint32_t bits;
        const char *text, *hex;
    } answers[] = {
        /* the example of the ULID specification; its UUID as npm ulid 3.0.2 gives it, its
         * base58 as Symfony Uid does */
        {FIRN_FORM_BASE32, 128, "01ARZ3NDEKTSV4RRFFQ69G5FAV", "01563e3ab5d3d6764c61efb99302bd5b"},
        {FIRN_FORM_BASE58, 128, "1AaLyDYFxmKZxXbNo18znE", "01563e3ab5d3d6764c61efb99302bd5b"},
        {FIRN_FORM_BASE32, 128, "01BX5ZZKBKACTAV9WEVGEMMVRZ", "015f4bffcd735334ada78edc1d4a6f1f"},
        {FIRN_FORM_BASE32, 128, "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "ffffffffffffffffffffffffffffffff"},
        /* README and id_test.go of rs/xid */
        {FIRN_FORM_BASE32HEX, 96, "9m4e2mr0ui3e8a215n4g", "4d88e15b60f486e428412dc9"},
        {FIRN_FORM_BASE32HEX, 96, "00000000000000000000", "000000000000000000000000"},
        {FIRN_FORM_BASE32HEX, 96, "vvvvvvvvvvvvvvvvvvvg", "ffffffffffffffffffffffff"},
        /* README of segmentio/ksuid */
        {FIRN_FORM_BASE62, 160, "0ujtsYcgvSTl8PAuAdqWYSMnLOv",
         "0669f7efb5a1cd34b5f99d1154fb6853345c9735"},
        {FIRN_FORM_BASE62, 160, "0ujzPyRiIAffKhBux4PvQdDqMHY",
         "066a029c73fc1aa3b2446246d6e89fcd909e8fe8"},
        {FIRN_FORM_BASE62, 160, "aWgEPTl1tmebfsQzFP4bxwgy80V",
         "ffffffffffffffffffffffffffffffffffffffff"},
        /* draft-msporny-base58-03: "Hello World!" */
        {FIRN_FORM_BASE58, 96, "2NEpo7TZRRrLZSi2U", "48656c6c6f20576f726c6421"},
        /* valid.json of the TypeID specification */
        {FIRN_FORM_TYPEID, 128, "prefix_0123456789abcdefghjkmnpqrs",
         "0110c8531d0952d8d73e1194e95b5f19"},
        {FIRN_FORM_TYPEID, 128, "prefix_01h455vb4pex5vsknk084sn02q",
         "01890a5dac96774bbcceb302099a8057"},
        {FIRN_FORM_TYPEID, 128, "pre_fix_00000000000000000000000000",
         "00000000000000000000000000000000"},
        {FIRN_FORM_TYPEID, 128, "0000000000000000000000000g", "00000000000000000000000000000010"},
        {FIRN_FORM_TYPEID, 128, "7zzzzzzzzzzzzzzzzzzzzzzzzz", "ffffffffffffffffffffffffffffffff"},
        /* flake_util:as_list of boundary/flake */
        {FIRN_FORM_FLAKE, 128, "8Gqnu22ZlLMGbh7Qyv", "000001349690d0001122334455660001"},
        {FIRN_FORM_FLAKE, 128, "H31", "0000000000000000000000000000ffff"},
        /* RFC 9562, appendix A: a version 1 and a version 7 UUID */
        {FIRN_FORM_UUID, 128, "c232ab00-9414-11ec-b3c8-9f6bdeced846",
         "c232ab00941411ecb3c89f6bdeced846"},
        {FIRN_FORM_URN, 128, "urn:uuid:017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
         "017f22e279b07cc398c4dc0c0c07398f"},
        {FIRN_FORM_BRACED, 128, "{017f22e2-79b0-7cc3-98c4-dc0c0c07398f}",
         "017f22e279b07cc398c4dc0c0c07398f"},
    };
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        char text[FIRN_TEXT_SIZE];
        const char *tail = strrchr(answers[i].text, '_');
        firn_id id, hex;
        assert_int_equal(firn_parse(&id, answers[i].form, answers[i].bits, answers[i].text,
                                    strlen(answers[i].text), NULL),
                         0);
        assert_int_equal(firn_parse(&hex, FIRN_FORM_HEX, answers[i].bits, answers[i].hex,
                                    strlen(answers[i].hex), NULL),
                         0);
        assert_true(same(&id, &hex));
        assert_string_equal(firn_format(text, &id, FIRN_FORM_HEX), answers[i].hex);
        assert_string_equal(firn_format(text, &id, answers[i].form),
                            tail == NULL ? answers[i].text : tail + 1);
    }
}

/* ---- tests: forms of bytes ------------------------------------------------------------------- */

static void published_bytes_are_what_their_makers_say(void **state) {
    (void)state;
    /* RFC 4648, section 9 and 10 ("light work", "foobar"); README of wrandelshofer/UuidNCName,
     * whose UUIDs are the UUIDs of RFC 9562 and of draft-taylor-uuid-ncname-03 */
    static const struct {
        const char *hex, *base64, *base64url, *names[3];
    } bytes[] = {
        {"14fb9c03d97e", "FPucA9l+", "FPucA9l-", {NULL}},
        {"14fb9c03d9", "FPucA9k=", "FPucA9k", {NULL}},
        {"14fb9c03", "FPucAw==", "FPucAw", {NULL}},
        {"666f6f626172", "Zm9vYmFy", "Zm9vYmFy", {NULL}},
        {"66", "Zg==", "Zg", {NULL}},
        {"00000000000000000000000000000000",
         "AAAAAAAAAAAAAAAAAAAAAA==",
         "AAAAAAAAAAAAAAAAAAAAAA",
         {"aaaaaaaaaaaaaaaaaaaaaaaaaa", "A111111111111111______A", "AAAAAAAAAAAAAAAAAAAAAA"}},
        {"ca6be4c8cbaf11eab2ab00045a86c8a1",
         NULL,
         NULL,
         {"bzjv6jsglv4pkfkyaarninsfbl", "B6fTkmTD22KpWbDq1LuiszL", "BymvkyMuvHqKrAARahsihL"}},
        {"000003e8cbb921eab20100045a86c8a1",
         NULL,
         NULL,
         {"caaaah2glxepkeaiaarninsfbl", "C11KtP6Y9P3rRkvh2N1e__L", "CAAAD6Mu5HqIBAARahsihL"}},
        {"01867b2ca0dd459c98d789e545538d6c",
         NULL,
         NULL,
         {"eagdhwlfa3vm4rv4j4vcvhdlmj", "E3UZ99RxxUJC1v4dWsYtb_J", "EAYZ7LKDdWcjXieVFU41sJ"}},
        {"1ec9414c232a6b00b3c89e6bdeced846",
         NULL,
         NULL,
         {"gd3euctbdfkyahse6nppm5wcgl", "GrxRCnDiX4mxSpdi5LEvR_L", "GHslBTCMqsAPInmvezthGL"}},
        {"017f22e279b07cc398c4dc0c0c07398f",
         NULL,
         NULL,
         {"haf7sfytzwdgdrrg4bqgaoompj", "H3RrXaX7uTM6qdwrXwpC6_J", "HAX8i4nmwzDjE3AwMBzmPJ"}},
        {"ffffffffffffffffffffffffffffffff",
         "/////////////////////w==",
         "_____________________w",
         {"p777777777777777777777777p", "P8AQGAut7N92awznwCnjuQP", "P____________________P"}}};
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
        const uint32_t bits = 4 * (uint32_t)strlen(bytes[i].hex);
        const char *texts[BYTE_FORMS] = {bytes[i].base64, bytes[i].base64url, bytes[i].names[0],
                                         bytes[i].names[1], bytes[i].names[2]};
        firn_id id, read;
        assert_int_equal(firn_parse(&id, FIRN_FORM_HEX, bits, bytes[i].hex, bits / 4, NULL), 0);
        for (int n = 0; n < BYTE_FORMS; n++) {
            const int form = FIRN_FORM_BASE64 + n;
            char text[FIRN_TEXT_SIZE];
            if (texts[n] == NULL) {
                continue;
            }
            assert_string_equal(firn_format(text, &id, form), texts[n]);
            assert_int_equal(firn_parse(&read, form, bits, text, strlen(text), NULL), 0);
            assert_true(same(&read, &id));
        }
    }
}

static bool takes_bytes(int form, uint32_t bits) {
    return form >= FIRN_FORM_NCNAME32 ? bits == 128 : bits % 8 == 0;
}

/* Each text is the only one of its ID: what is read is written again, except for the case of
 * base32. */
static void only_written_bytes_are_read(void **state) {
    (void)state;
    for (int form = FIRN_FORM_BASE64; form <= FIRN_FORM_NCNAME64; form++) {
        for (uint32_t bits = 1; bits <= BITS_MAX; bits++) {
            assert_int_equal(firn_form_width(form, bits) > 0, takes_bytes(form, bits));
            for (uint32_t n = 0; takes_bytes(form, bits) && n < MANY; n++) {
                char text[FIRN_TEXT_SIZE + 1], back[FIRN_TEXT_SIZE];
                firn_id id = nth(n, bits), read;
                const size_t length = strlen(firn_format(text, &id, form));
                assert_int_equal(length, firn_form_width(form, bits));
                assert_int_equal(firn_parse(&read, form, bits, text, length, NULL), 0);
                assert_true(same(&read, &id));
                const size_t position = (size_t)(chance() % length);
                text[position] = (char)chance();
                if (firn_parse(&read, form, bits, text, length, NULL) == FIRN_OK) {
                    firn_format(back, &read, form);
                    back[position] =
                        form == FIRN_FORM_NCNAME32 && lower(text[position]) == back[position]
                            ? text[position]
                            : back[position];
                    assert_memory_equal(back, text, length);
                }
                assert_int_equal(firn_parse(&read, form, bits, text, length - 1, NULL), FIRN_ETEXT);
                text[length] = form == FIRN_FORM_BASE64 ? '=' : 'A';
                assert_int_equal(firn_parse(&read, form, bits, text, length + 1, NULL), FIRN_ETEXT);
            }
        }
    }
}

/* invalid.json of the TypeID specification, and the ends of our own rule. */
/* ---- tests: dated --------------------------------------------------------------------------- */

enum { DATED_TEXTS = 3 };
static const struct {
    uint32_t bits;
    const char *text;
} dated[DATED_TEXTS] = {{68, "20240229235959999123456"},
                        {120, "2024022923595999910001511"},
                        {108, "20240229235959999123456789012345678"}};

static int read_dated(firn_id *id, uint32_t bits, const char *text, size_t length) {
    firn_error error = {0};
    firn_id read = {1, 2, 3, 4};
    int code = firn_parse(&read, FIRN_FORM_DATED, bits, text, length, &error);
    if (code != FIRN_OK) {
        assert_int_equal(code, FIRN_ETEXT);
        assert_int_equal(error.code, FIRN_ETEXT);
        assert_in_range(strlen(error.text), 10, sizeof error.text - 1);
        assert_true(read.low == 1 && read.high == 2 && read.top == 3 && read.bits == 4);
    } else {
        *id = read;
    }
    return code;
}

/* After every change, omission or addition, the text is refused, or means exactly what it says. */
static void each_change_of_a_dated_text_is_refused_or_says_so(void **state) {
    (void)state;
    for (size_t i = 0; i < DATED_TEXTS; i++) {
        char text[64], back[FIRN_TEXT_SIZE];
        firn_id id, other;
        size_t length = strlen(dated[i].text);
        assert_int_equal(read_dated(&id, dated[i].bits, dated[i].text, length), FIRN_OK);
        assert_string_equal(firn_format(back, &id, FIRN_FORM_DATED), dated[i].text);
        for (size_t position = 0; position < length; position++) {
            for (int c = 0; c < 256; c++) {
                strcpy(text, dated[i].text);
                text[position] = (char)c;
                int code = read_dated(&other, dated[i].bits, text, length);
                assert_true((c >= '0' && c <= '9') || code == FIRN_ETEXT);
                if (code == FIRN_OK) {
                    assert_string_equal(firn_format(back, &other, FIRN_FORM_DATED), text);
                }
            }
            strcpy(text, dated[i].text); /* one character less */
            memmove(text + position, text + position + 1, length - position);
            if (read_dated(&other, dated[i].bits, text, length - 1) == FIRN_OK) {
                assert_int_equal(dated[i].bits, 120);
                assert_string_equal(firn_format(back, &other, FIRN_FORM_DATED), text);
            }
        }
        for (size_t cut_at = 0; cut_at < 17; cut_at++) {
            assert_int_equal(read_dated(&other, dated[i].bits, dated[i].text, cut_at), FIRN_ETEXT);
        }
        snprintf(text, sizeof text, "%s7", dated[i].text);
        int code = read_dated(&other, dated[i].bits, text, length + 1);
        assert_int_equal(code, dated[i].bits == 120 ? FIRN_OK : FIRN_ETEXT); /* a longer member */
    }
}

static void every_dated_id_is_its_text(void **state) {
    (void)state;
    for (uint32_t bits = 1; bits <= 160; bits++) {
        char text[FIRN_TEXT_SIZE], last[FIRN_TEXT_SIZE] = "";
        firn_id id, read, before = {0, 0, 0, 0};
        size_t width = firn_form_width(FIRN_FORM_DATED, bits);
        for (uint32_t n = 0; n < 3000; n++) {
            id = nth(n, bits);
            firn_format(text, &id, FIRN_FORM_DATED);
            if (text[0] == '\0') {
                continue; /* out of bounds, or not a width of this form */
            }
            assert_true(strlen(text) <= width);
            assert_int_equal(read_dated(&read, bits, text, strlen(text)), FIRN_OK);
            assert_true(same(&read, &id));
            if (last[0] != '\0' && bits != 120) { /* the text sorts as the ID does */
                assert_int_equal(order(&before, &id),
                                 (strcmp(last, text) > 0) - (strcmp(last, text) < 0));
            }
            strcpy(last, text);
            before = id;
        }
        assert_int_equal(last[0] != '\0', width > 0);
    }
}

static void a_typeid_has_a_prefix_and_128_bits(void **state) {
    static const char *const wrong[] = {"_a", "a_", "A", "a1", "a-b", "a b", "_"};
    const char text[] = "my_user_01h455vb4pex5vsknk084sn02q";
    char prefix[FIRN_PREFIX_SIZE], out[FIRN_TEXT_SIZE], longest[FIRN_PREFIX_SIZE + 1];
    firn_error error;
    firn_id id, narrow = {1, 0, 0, 64};
    (void)state;
    assert_int_equal(firn_parse(&id, FIRN_FORM_TYPEID, 128, text, strlen(text), &error), FIRN_OK);
    assert_int_equal(firn_prefix_read(prefix, text, strlen(text)), 7);
    assert_string_equal(prefix, "my_user");
    assert_string_equal(firn_prefix_format(out, prefix, &id), text);
    assert_string_equal(firn_prefix_format(out, "", &id), text + 8);
    assert_int_equal(firn_prefix_read(prefix, text + 8, strlen(text + 8)), 0);
    assert_string_equal(prefix, "");
    assert_int_equal(firn_prefix_read(prefix, "", 0), 0);
    assert_string_equal(firn_prefix_format(out, "a", &narrow), "");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(firn_prefix_check(wrong[i], strlen(wrong[i]), &error), FIRN_EUSAGE);
        assert_non_null(strstr(error.text, "is not a valid prefix: use at most 63"));
        assert_string_equal(firn_prefix_format(out, wrong[i], &id), "");
    }
    memset(longest, 'x', sizeof longest);
    assert_int_equal(firn_prefix_check(longest, 64, &error), FIRN_EUSAGE);
    assert_int_equal(firn_prefix_check(longest, 63, &error), FIRN_OK);
    assert_int_equal(firn_prefix_check("", 0, &error), FIRN_OK);
}

static void prefixes_of_a_typeid_are_checked(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t place;
    } wrong[] = {
        {"PREFIX_00000000000000000000000000", 1},
        {"12345_00000000000000000000000000", 1},
        {"pre.fix_00000000000000000000000000", 4},
        {"pr\xc3\xa9"
         "fix_00000000000000000000000000",
         3},
        {"  prefix_00000000000000000000000000", 1},
        {"_00000000000000000000000000", 1},
        {"_", 1},
        {"prefix_0123456789ABCDEFGHJKMNPQRS", 18},
        {"prefix_8zzzzzzzzzzzzzzzzzzzzzzzzz", 8},
        {"_prefix_00000000000000000000000000", 1},
        {"prefix__00000000000000000000000000", 7},
        {"prefix_1234567890123456789012345 ", 33},
        {"prefix_ooooooiiiiiiuuuuuuulllllll", 8},
        {"prefix_123456789-123456789-123456", 17},
    };
    char longest[128] = "";
    firn_error error;
    firn_id id;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(
            firn_parse(&id, FIRN_FORM_TYPEID, 128, wrong[i].text, strlen(wrong[i].text), &error),
            FIRN_ETEXT);
        assert_int_equal(number_after(error.text, "character "), wrong[i].place);
    }
    for (size_t length = 1; length <= 65; length++) {
        memset(longest, 'a', length);
        strcpy(longest + length, "_00000000000000000000000000");
        int code = firn_parse(&id, FIRN_FORM_TYPEID, 128, longest, strlen(longest), &error);
        assert_int_equal(code, length <= 63 ? FIRN_OK : FIRN_ETEXT);
        assert_true(length <= 63 || number_after(error.text, "character ") == 64);
    }
    for (int c = 0; c < 256; c++) {
        char text[] = "aXb_00000000000000000000000000";
        text[1] = (char)c;
        int code = firn_parse(&id, FIRN_FORM_TYPEID, 128, text,
                              strlen(text) < 4 ? sizeof text - 1 : strlen(text), &error);
        assert_int_equal(code, (c >= 'a' && c <= 'z') || c == '_' ? FIRN_OK : FIRN_ETEXT);
    }
}

/* ---- tests: errors --------------------------------------------------------------------------- */

static void errors_tell_place_character_and_cure(void **state) {
    (void)state;
    static const struct {
        int form;
        uint32_t bits;
        const char *text, *says;
    } answer[] = {
        {FIRN_FORM_UUID, 128, "c232ab0g-9414-11ec-b3c8-9f6bdeced846",
         "character 8 of 36 is 'g': a hex digit is needed"},
        {FIRN_FORM_UUID, 128, "c232ab009414-11ec-b3c8-9f6bdeced846",
         "character 9 of 35 is '9': '-' is needed"},
        {FIRN_FORM_UUID, 128, "c232ab00-9414-11ec-b3c8-9f6bdeced84",
         "text ends after 35 characters: uuid has 36 characters"},
        {FIRN_FORM_UUID, 128, "c232ab00-9414-11ec-b3c8-9f6bdeced8466",
         "character 37 of 37 is '6': uuid has 36 characters"},
        {FIRN_FORM_UUID, 128, "", "the text is empty: uuid has 36 characters"},
        {FIRN_FORM_URN, 128, "urn;uuid:", "character 4 of 9 is ';': ':' is needed"},
        {FIRN_FORM_BASE32, 128, "81ARZ3NDEKTSV4RRFFQ69G5FAV",
         "character 1 of 26 is '8': too great for 128 bits: at most 7ZZZZZZZZZZZZZZZZZZZZZZZZZ"},
        {FIRN_FORM_BASE32, 128, "01ARZ3NDEKTSV4RRFFQ69G5FAI",
         "character 26 of 26 is 'I': a Crockford digit (not I, L, O, U) is needed"},
        {FIRN_FORM_BASE32HEX, 96, "9m4e2mr0ui3e8a215n4h",
         "character 20 of 20 is 'h': the spare bits of the last digit must be zero"},
        {FIRN_FORM_BASE58, 64, "jpXCZedGfVR",
         "character 11 of 11 is 'R': too great for 64 bits: at most jpXCZedGfVQ"},
        {FIRN_FORM_DEC, 64, "18446744073709551616",
         "character 20 of 20 is '6': too great for 64 bits: at most 18446744073709551615"},
        {FIRN_FORM_DEC, 64, "-9223372036854775809",
         "character 20 of 20 is '9': too great for 64 bits: at most 9223372036854775808"},
        {FIRN_FORM_DEC, 64, "184467440737095516150",
         "character 21 of 21 is '0': dec of 64 bits has at most 20 digits"},
        {FIRN_FORM_DEC, 64, "-",
         "text ends after 1 character: dec of 64 bits has at most 19 digits"},
        {FIRN_FORM_DEC, 64, "-0",
         "character 2 of 2 is '0': a number after '-' must not begin with 0"},
        {FIRN_FORM_DEC, 64, "007", "character 1 of 3 is '0': a number must not begin with 0"},
        {FIRN_FORM_DEC, 64, "+7", "character 1 of 2 is '+': a decimal digit is needed"},
        {FIRN_FORM_HEX, 96, "0x7f1f77bcf86cd799439011",
         "character 2 of 24 is 'x': a hex digit is needed"},
        {FIRN_FORM_HEX, 64, "\x1b[2J", "character 1 of 4 is '\\x1b': a hex digit is needed"},
        {FIRN_FORM_HEX, 64, "ab\xff", "character 3 of 3 is '\\xff': a hex digit is needed"},
        {FIRN_FORM_UUID, 64, "x", "uuid is not a form for IDs of 64 bits"},
        {FIRN_FORM_TYPEID, 160, "x", "typeid is not a form for IDs of 160 bits"},
        {FIRN_FORM_HEX, 0, "x", "hex is not a form for IDs of 0 bits"},
        {FIRN_FORM_DATED, 64, "x", "dated is not a form for IDs of 64 bits"},
        {FIRN_FORM_DATED, 68, "", "the text is empty: dated of 68 bits has 23 digits"},
        {FIRN_FORM_DATED, 68, "20261301000000000000000",
         "character 5 of 23 is '1': the month must be 01 to 12"},
        {FIRN_FORM_DATED, 68, "20260229000000000000000",
         "character 7 of 23 is '2': the month has fewer days"},
        {FIRN_FORM_DATED, 68, "2026022800000000000000x",
         "character 23 of 23 is 'x': a decimal digit is needed"},
        {FIRN_FORM_DATED, 120, "20260228000000000",
         "text ends after 17 characters: dated of 120 bits has 21 to 39 digits"},
        {FIRN_FORM_DATED, 120, "2026022800000000001000",
         "character 18 of 22 is '0': a member must not begin with 0"},
        {FIRN_FORM_DATED, 120, "202602280000000001512",
         "character 19 of 21 is '5': the sequence, the last three digits, is at most 511"},
        {FIRN_FORM_BASE64, 53, "x", "base64 is not a form for IDs of 53 bits"},
        {FIRN_FORM_BASE64, 64, "EjRWeJq83v",
         "text ends after 10 characters: base64 of 64 bits has 12 characters"},
        {FIRN_FORM_BASE64, 64, "EjRWeJq83vA",
         "text ends after 11 characters: base64 of 64 bits has 12 characters"},
        {FIRN_FORM_BASE64, 64, "EjRWeJq83vAA", "character 12 of 12 is 'A': '=' is needed"},
        {FIRN_FORM_BASE64, 64, "EjRWeJq83vB=",
         "character 11 of 12 is 'B': the spare bits of the last digit must be zero"},
        {FIRN_FORM_BASE64, 64,
         "EjRWeJq-3vA=", "character 8 of 12 is '-': a letter, a digit, + or / is needed"},
        {FIRN_FORM_BASE64URL, 64,
         "EjRWeJq83vA=", "character 12 of 12 is '=': base64url of 64 bits has 11 characters"},
        {FIRN_FORM_NCNAME64, 64, "x", "ncname64 is not a form for IDs of 64 bits"},
        {FIRN_FORM_NCNAME64, 128, "QymvkyMuvHqKrAARahsihL",
         "character 1 of 22 is 'Q': a letter from A to P is needed"},
        {FIRN_FORM_NCNAME32, 128, "bzjv6jsglv4pkfkyaarninsfb1",
         "character 26 of 26 is '1': a letter from A to P is needed"},
        {FIRN_FORM_NCNAME32, 128, "bzjv6jsglv4pkfkyaarninsf8l",
         "character 25 of 26 is '8': a letter or 2 to 7 is needed"},
        {FIRN_FORM_NCNAME58, 128, "E3UZ99RxxUJC1v4dWsYt_bJ",
         "character 2 of 23 is '3': base58 digits of 15 bytes and then _ are needed from here on"},
        {FIRN_FORM_NCNAME58, 128, "E_____________________J",
         "character 2 of 23 is '_': base58 digits of 15 bytes and then _ are needed from here on"},
        {FIRN_FORM_NCNAME58, 128, "EzzzzzzzzzzzzzzzzzzzzzJ",
         "character 2 of 23 is 'z': base58 digits of 15 bytes and then _ are needed from here on"},
        {FIRN_FORM_HEX, 161, "x", "hex is not a form for IDs of 161 bits"},
        {99, 64, "x", "there is no text form 99"},
        {-1, 64, "x", "there is no text form -1"},
    };
    for (size_t i = 0; i < sizeof answer / sizeof answer[0]; i++) {
        const firn_id untouched = {7, 7, 7, 7};
        firn_error error;
        firn_id id = untouched;
        int code = firn_parse(&id, answer[i].form, answer[i].bits, answer[i].text,
                              strlen(answer[i].text), &error);
        assert_int_equal(code, strstr(answer[i].says, " is not a form for ") ||
                                       strstr(answer[i].says, "there is no")
                                   ? FIRN_EUSAGE
                                   : FIRN_ETEXT);
        assert_int_equal(error.code, code);
        assert_string_equal(error.text, answer[i].says);
        assert_true(same(&id, &untouched));
    }
}

static void no_text_is_too_long_to_be_refused(void **state) {
    (void)state;
    enum { LENGTH = 1 << 20 };
    static const char fills[] = {'0', '1', '7', 'a', 'z', '_', '-', '{', '\0', '\x1b', '\xff'};
    char *text = malloc(LENGTH);
    assert_non_null(text);
    for (size_t f = 0; f < sizeof fills; f++) {
        memset(text, fills[f], LENGTH);
        for (size_t i = 0; i < MODELS; i++) {
            for (size_t w = 0; takes(&models[i], 128) && w < WIDTHS; w++) {
                firn_error error;
                firn_id id;
                int code = firn_parse(&id, models[i].form, widths[w], text, LENGTH, &error);
                assert_int_equal(code, takes(&models[i], widths[w]) ? FIRN_ETEXT : FIRN_EUSAGE);
                assert_true(strlen(error.text) < sizeof error.text);
            }
        }
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(sentence, function) {sentence, function, start_over, NULL, NULL}
        TEST("names and forms find each other", names_and_forms_find_each_other),
        TEST("a width is the least that holds the greatest ID",
             a_width_is_the_least_that_holds_the_greatest_id),
        TEST("what no form takes is written as nothing", what_no_form_takes_is_written_as_nothing),
        TEST("every form writes what schoolbook division writes",
             every_form_writes_what_schoolbook_division_writes),
        TEST("written texts are read again", written_texts_are_read_again),
        TEST("either case is read where case means nothing",
             either_case_is_read_where_case_means_nothing),
        TEST("text sorts as the ID does", text_sorts_as_the_id_does),
        TEST("decimals are right round every power of ten",
             decimals_are_right_round_every_power_of_ten),
        TEST("64 bits are read signed and unsigned", sixty_four_bits_are_read_signed_and_unsigned),
        TEST("each wrong character is refused at its place",
             each_wrong_character_is_refused_at_its_place),
        TEST("each shorter text is refused or says less",
             each_shorter_text_is_refused_or_says_less),
        TEST("each longer text is refused or says more", each_longer_text_is_refused_or_says_more),
        TEST("no two short texts give one ID", no_two_short_texts_give_one_id),
        TEST("published texts are what their makers say",
             published_texts_are_what_their_makers_say),
        TEST("published bytes are what their makers say",
             published_bytes_are_what_their_makers_say),
        TEST("only written bytes are read", only_written_bytes_are_read),
        TEST("each change of a dated text is refused or says so",
             each_change_of_a_dated_text_is_refused_or_says_so),
        TEST("every dated ID is its text", every_dated_id_is_its_text),
        TEST("prefixes of a typeid are checked", prefixes_of_a_typeid_are_checked),
        TEST("a typeid has a prefix and 128 bits", a_typeid_has_a_prefix_and_128_bits),
        TEST("errors tell place, character and cure", errors_tell_place_character_and_cure),
        TEST("no text is too long to be refused", no_text_is_too_long_to_be_refused),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
