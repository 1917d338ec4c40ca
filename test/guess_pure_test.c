/* SPDX-License-Identifier: MIT */
/* Guessing: which schemes a text may be, in which order. IDs of every row must be found
 * again from their text; whole lists are written down for texts that systems have published. */
#include <firn/firn.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chance.h"
#include "traits.h"

static firn_reading readings[FIRN_READINGS_MAX];

static size_t plausible;

/* Every reading; the plausible ones first. */
static size_t guess(const char *text, int form) {
    size_t count = firn_guess_all(readings, &plausible, text, strlen(text), form);
    firn_reading only[FIRN_READINGS_MAX];
    assert_int_equal(firn_guess(only, text, strlen(text), form), plausible);
    assert_true(plausible <= count);
    for (size_t i = 0; i < plausible; i++) {
        assert_true(only[i].scheme == readings[i].scheme && only[i].form == readings[i].form);
    }
    return count;
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool alike(const char *a, const char *b) {
    for (; *a != '\0' && lower(*a) == lower(*b); a++, b++) {
    }
    return *a == '\0' && *b == '\0';
}

/* Each reading fits: the row unpacks the ID, the ID is the text, and no reading comes twice. */
static void check_readings(size_t count, const char *text) {
    const char *digits = strrchr(text, '_') == NULL ? text : strrchr(text, '_') + 1;
    assert_true(count <= FIRN_READINGS_MAX);
    for (size_t i = 0; i < count; i++) {
        char back[FIRN_TEXT_SIZE], other[FIRN_TEXT_SIZE];
        firn_fields fields;
        const firn_reading *r = &readings[i];
        assert_int_equal(firn_unpack(&fields, r->scheme, &r->id, NULL), 0);
        firn_format(back, &r->id, r->form);
        firn_format(other, &r->id, r->form == FIRN_FORM_DEC ? FIRN_FORM_UNSIGNED : r->form);
        assert_true(alike(back, text) || alike(back, digits) || alike(other, digits) ||
                    (text[0] == '0' && lower(text[1]) == 'x'));
        for (size_t j = 0; j < i; j++) {
            assert_true(readings[j].scheme != r->scheme || readings[j].form != r->form);
        }
    }
}

/* ---- what was made is found again ----------------------------------------------------------- */

/* An ID of a row at a random time of 2005 to 2045, or at any time when the row has no such time. */
static firn_id random_id(const firn_scheme *scheme) {
    firn_fields fields = {0, {{0, 0}}};
    firn_time time = {1104537600 + (int64_t)(chance() % 1262304000),
                      (int32_t)(chance() % 1000000000)};
    firn_id id;
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        if (scheme->slices[i].role == FIRN_ROLE_CONST || firn_scheme_first(scheme, i) != i) {
            continue;
        }
        uint32_t width = firn_scheme_width(scheme, i);
        uint64_t tick, mask = width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
        fields.given |= UINT32_C(1) << i;
        fields.value[i].low = chance() & mask;
        fields.value[i].high =
            width > 64 ? chance() & (width < 128 ? (UINT64_C(1) << (width - 64)) - 1 : UINT64_MAX)
                       : 0;
        if (scheme->form == FIRN_FORM_DATED && scheme->slices[i].role == FIRN_ROLE_RANDOM) {
            fields.value[i].low %= 1000000;
        }
        if (scheme->slices[i].role == FIRN_ROLE_TIME) {
            while (firn_scheme_tick(scheme, &time, &tick, NULL) != FIRN_OK) {
                time.sec = 1104537600 + (int64_t)(chance() % 1262304000);
            }
            uint32_t lost = strcmp(scheme->name, "uuid2") == 0    ? 32
                            : strcmp(scheme->name, "scru64") == 0 ? 8
                                                                  : 0;
            fields.value[i].low = tick >> lost << lost;
        }
    }
    assert_int_equal(firn_pack(&id, scheme, &fields, NULL), 0);
    return id;
}

static bool only_digits(const char *text) {
    return text[strspn(text, "0123456789")] == '\0';
}

/* Rows that nothing tells from one before them, by any bit. */
static bool is_shadowed(const char *name) {
    static const char *const names[] = {"leaf",      "seata",           "region",
                                        "instagram", "simpleflake",     "baidu",
                                        "discord",   "objectid-legacy", "locality-sequential",
                                        "sonyflake", "time-member",     "mastodon",
                                        "js53",      "lable-spread",    "lable-sequential"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void every_row_is_found_again(void **state) {
    (void)state;
    const firn_scheme *scheme;
    for (size_t row = 0; (scheme = firn_scheme_at(row)) != NULL; row++) {
        for (int n = 0; n < 2000; n++) {
            char text[FIRN_TEXT_SIZE + 8] = "user_";
            char *digits = text + (scheme->form == FIRN_FORM_TYPEID ? 5 : 0);
            firn_id id = random_id(scheme);
            firn_format(digits, &id, scheme->form);
            if (scheme->form != FIRN_FORM_DEC && scheme->form != FIRN_FORM_UNSIGNED &&
                scheme->form != FIRN_FORM_DATED && only_digits(text)) {
                continue; /* that is decimal */
            }
            size_t count = guess(text, -1), position = 0;
            check_readings(count, text);
            if (scheme->keyed) { /* no digit tells an order number */
                for (size_t i = 0; i < count; i++) {
                    assert_ptr_not_equal(readings[i].scheme, scheme);
                }
                continue;
            }
            while (position < count && (readings[position].scheme != scheme ||
                                        readings[position].form != scheme->form)) {
                position++;
            }
            assert_true(position < count);
            assert_int_equal(firn_id_cmp(&readings[position].id, &id), 0);
            /* a snowflake of its first 24 days is below 2^53 */
            bool is_js53 =
                id.bits == 64 && id.low >> 53 == 0 && strcmp(readings[0].scheme->name, "js53") == 0;
            if (!(position == 0 || is_shadowed(scheme->name) || is_js53)) {
                fail_msg("'%s' of %s is read as %s", text, scheme->name, readings[0].scheme->name);
            }
        }
    }
}

/* ---- published texts ------------------------------------------------------------------------ */

static void assert_guess(const char *text, int form, const char *expected) {
    char found[2048] = "";
    size_t count = guess(text, form);
    check_readings(count, text);
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(found);
        snprintf(found + used, sizeof found - used, "%s%s %s",
                 i == plausible ? (i > 0 ? " | " : "| ")
                 : i > 0        ? ", "
                                : "",
                 readings[i].scheme->name, firn_form_name(readings[i].form));
    }
    assert_string_equal(found, expected);
}

static void published_ids_are_known_best_first(void **state) {
    (void)state;
    /* a tweet, and a Discord message, which nothing tells from a tweet of 2012 */
    assert_guess(
        "1541815603606036480", -1,
        "snowflake dec, discord unsigned, instagram dec, sonyflake dec, tsid dec, leaf dec, "
        "baidu dec, seata dec, simpleflake dec, region dec | mastodon dec, lable-spread dec");
    assert_guess(
        "175928847299117063", -1,
        "snowflake dec, discord unsigned, instagram dec, sonyflake dec, tsid dec, leaf dec, baidu "
        "dec, region dec | seata dec, simpleflake dec, mastodon dec, lable-spread dec");
    assert_guess("01ARZ3NDEKTSV4RRFFQ69G5FAV", -1,
                 "ulid base32 | timeflake base32, scru128 base32, flake base32");
    assert_guess("01arz3ndektsv4rrffq69g5fav", -1,
                 "ulid base32 | timeflake base32, scru128 base32, flake base32");
    assert_guess("9m4e2mr0ui3e8a215n4g", -1,
                 "xid base32hex | objectid base32hex, objectid-legacy base32hex");
    assert_guess("0ujtsYcgvSTl8PAuAdqWYSMnLOv", -1, "ksuid base62");
    assert_guess("prefix_01h455vb4pex5vsknk084sn02q", -1,
                 "typeid typeid, uuid7 typeid | ulid typeid, timeflake typeid, scru128 typeid, "
                 "flake typeid");
    assert_guess("507f1f77bcf86cd799439011", -1, "objectid hex, objectid-legacy hex | xid hex");
    assert_guess("017f22e2-79b0-7cc3-98c4-dc0c0c07398f", -1,
                 "uuid7 uuid, typeid uuid | ulid uuid, timeflake uuid, scru128 uuid, flake uuid");
    assert_guess("C232AB00-9414-11EC-B3C8-9F6BDECED846", -1,
                 "uuid1 uuid | flake uuid, ulid uuid, timeflake uuid, scru128 uuid");
    assert_guess("urn:uuid:919108f7-52d1-4320-9bac-f847db4148a8", -1,
                 "uuid4 urn | flake urn, ulid urn, timeflake urn, scru128 urn");
    assert_guess("{1ec9414c-232a-6b00-b3c8-9f6bdeced846}", -1,
                 "uuid6 braced | uuid1-swapped braced, flake braced, ulid braced, timeflake "
                 "braced, scru128 braced");
    assert_guess("11ec9414c232ab00b3c89f6bdeced846", -1,
                 "uuid1-swapped hex | flake hex, ulid hex, timeflake hex, scru128 hex");
    assert_guess("c232ab00941411ecb3c89f6bdeced846", -1,
                 "uuid1 hex | flake hex, ulid hex, timeflake hex, scru128 hex");
    assert_guess("8Gqnu22ZlLMGbh7Qyv", -1, "flake flake");
    assert_guess("1541815603606036480x", -1, ""); /* a typo: a flake of the year 23082 */
    assert_guess("1CCCu4CMyfubCHvwkoi26c", -1,    /* base58 of a uuid7 */
                 "");
    assert_guess("24448871873438105288224052477953", -1,
                 "flake dec | flake hex, ulid dec, ulid hex, timeflake dec, timeflake hex, scru128 "
                 "dec, scru128 hex");
    assert_guess("00000000-0000-0000-0000-000000000000", -1,
                 "nil uuid | flake uuid, ulid uuid, timeflake uuid, scru128 uuid");
    assert_guess("ffffffff-ffff-ffff-ffff-ffffffffffff", -1,
                 "max uuid | flake uuid, ulid uuid, timeflake uuid, scru128 uuid");
}

/* As drivers of MongoDB print them. */
static void an_object_id_is_unwrapped(void **state) {
    (void)state;
    assert_true(guess("ObjectId('507f1f77bcf86cd799439011')", -1) > 0);
    assert_string_equal(readings[0].scheme->name, "objectid");
    assert_true(guess("ObjectId(\"507f1f77bcf86cd799439011\")", -1) > 0);
    assert_int_equal(guess("ObjectId(\"507f1f77bcf86cd799439011')", -1), 0);
    assert_int_equal(guess("ObjectId(\"507f1f77bcf86cd799439011\"]", -1), 0);
    assert_int_equal(guess("ObjectId(_507f1f77bcf86cd799439011_)", -1), 0);
    assert_true(guess("uuid:017f22e2-79b0-7cc3-98c4-dc0c0c07398f", -1) > 0);
    assert_string_equal(readings[0].scheme->name, "uuid7");
    assert_int_equal(guess("uuie:017f22e2-79b0-7cc3-98c4-dc0c0c07398f", -1), 0);
}

/* The sure readings come first; of a number none is sure. */
static void assert_sure(const char *text, size_t sure) {
    guess(text, -1);
    for (size_t i = 0; i < plausible; i++) {
        assert_int_equal(readings[i].sure, i < sure ? FIRN_LIKELY : FIRN_POSSIBLE);
    }
    assert_true(plausible > 0);
}

static void a_number_is_only_possibly_an_id(void **state) {
    (void)state;
    assert_sure("1541815603606036480", 0);
    assert_sure("353918057893456", 0);  /* an IMEI */
    assert_sure("4111111111111111", 0); /* a card */
    assert_sure("184971260575813", 0);  /* of yitter's IdGenerator */
    assert_sure("00f067aa0ba902b7", 0); /* a span ID of W3C Trace Context */
    assert_sure("0x1565a11f6217a000", 0);
    assert_sure("1989357241971137676463954034883508623", 0); /* a uuid7 as one number */
    assert_sure("507119778886617994390110", 0);              /* hex without a letter */
    assert_sure("507f1f77bcf86cd799439011", 2);
    assert_sure("45984eff0000000000000000", 0); /* the last second before 2007 */
    assert_sure("45984f00bcf86cd799439011", 2); /* 2007-01-01 */
    assert_sure("83aa7e7fbcf86cd799439011", 2); /* the last second before 2040 */
    assert_sure("83aa7e80bcf86cd799439011", 0);
    assert_sure("017f22e2-79b0-7cc3-98c4-dc0c0c07398f", 2);
    assert_sure("01ARZ3NDEKTSV4RRFFQ69G5FAV", 1);
}

static void digits_only_are_decimal(void **state) {
    (void)state;
    assert_guess("507119778886617994390110", -1,
                 "objectid hex, objectid-legacy hex | objectid dec, objectid-legacy dec, xid dec");
    assert_guess("507119778886617994390110", FIRN_FORM_HEX,
                 "objectid hex, objectid-legacy hex | xid hex");
    assert_guess("007", -1, "");
    /* no scheme is at 2^63 before 2034 */
    assert_guess("9999999999999999999", -1,
                 "| simpleflake dec, region dec, instagram dec, discord unsigned, "
                 "mastodon dec, lable-sequential dec, tsid dec");
    assert_guess(
        "-1", -1,
        "| region dec, instagram dec, simpleflake dec, mastodon dec, lable-sequential dec, "
        "discord dec, tsid dec");
    assert_guess("-1", FIRN_FORM_UNSIGNED, "");
    assert_guess("-", -1, "");
    for (int length = 1; length < 60; length++) {
        char text[64] = "";
        memset(text, '9', (size_t)length);
        size_t count = guess(text, -1);
        uint32_t bits = length <= 19   ? 64
                        : length <= 28 ? 96
                        : length <= 38 ? 128
                        : length <= 48 ? 160
                                       : 0;
        assert_true(count > 0 || bits == 0 || bits == 64);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(readings[i].id.bits, bits);
        }
    }
}

static void hex_needs_a_letter_or_0x(void **state) {
    (void)state;
    static const char listed[] =
        "snowflake hex, discord hex, instagram hex, sonyflake hex, tsid hex, leaf hex, baidu hex, "
        "seata hex, simpleflake hex, region hex | lable-spread hex, mastodon hex";
    assert_guess("0x1565a11f6217a000", -1, listed);
    assert_guess("1565a11f6217a000", -1, listed);
    assert_guess("0x", -1, "");
    assert_guess("0xg", -1, "");
    assert_guess("0x4d88e15b60f486x428412dc", -1, "");
    assert_guess("0x4d88e15b60f486X428412dc", -1, "");
    assert_guess("0x4d88e15b60f486e428412dc", -1, "objectid hex, objectid-legacy hex | xid hex");
    /* 26 letters and digits may be Crockford's too */
    assert_guess("0x507f1f77bcf86cd799439011", -1,
                 "objectid hex, objectid-legacy hex | xid hex, ulid base32, uuid5 base32, "
                 "uuid1-swapped base32, flake base32, timeflake base32, scru128 base32");
    assert_true(guess("0x1565A11F6217A00", -1) > 0); /* zeros in front may be missing */
    assert_true(readings[0].id.low == 0x1565a11f6217a00 && readings[0].id.bits == 64);
    assert_guess("0x66f9f7efb5a1cd34b5f99d1154fb6853345c97350", -1, "");
    assert_guess("0669f7efb5a1cd34b5f99d1154fb6853345c9735", -1, "| ksuid hex");
    assert_guess("0x669f7efb5a1cd34b5f99d1154fb6853345c9735", -1, "| ksuid hex");
}

static void only_the_form_that_is_asked_for_is_read(void **state) {
    (void)state;
    assert_guess("H31", -1, "");
    assert_guess("H31", FIRN_FORM_FLAKE, "| flake flake");
    assert_guess("01ARZ3NDEKTSV4RRFFQ69G5FAV", FIRN_FORM_BASE36, "");
    assert_guess("1AaLyDYFxmKZxXbNo18znE", FIRN_FORM_BASE58,
                 "ulid base58, timeflake base58, scru128 base58 | flake base58");
    assert_guess("017f22e2-79b0-7cc3-98c4-dc0c0c07398f", FIRN_FORM_URN, "");
    assert_int_equal(guess("1541815603606036480", FIRN_FORM_COUNT), 0);
    for (int form = 0; form < FIRN_FORM_COUNT; form++) {
        size_t count = guess("01arz3ndektsv4rrffq69g5fav", form);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(readings[i].form, form);
        }
    }
}

static void dated_digits_are_known_by_their_calendar(void **state) {
    (void)state;
    assert_guess(
        "20260101000000000123456", -1,
        "time-random dated, time-member dated | objectid dec, objectid-legacy dec, xid dec");
    assert_guess("202601010000000001234567", -1,
                 "time-random dated, objectid hex, objectid-legacy hex | objectid dec, "
                 "objectid-legacy dec, xid dec");
    assert_int_equal(readings[0].id.bits, 48 + 24); /* seven digits */
    assert_string_equal(readings[0].scheme->name, "time-random");
    assert_guess("202601010000000009223372036854775807511", -1,
                 "time-member dated | flake dec, ulid dec, timeflake dec, scru128 dec");
    assert_guess("202601010000000009223372036854775807512", -1,
                 "| flake dec, ulid dec, timeflake dec, scru128 dec");
    assert_guess("202601010000000009223372036854775808000", -1,
                 "| flake dec, ulid dec, timeflake dec, scru128 dec");
    assert_guess("20260229000000000123456", -1, "| objectid dec, objectid-legacy dec, xid dec");
    assert_guess("20240229000000000123456", FIRN_FORM_DATED,
                 "time-random dated, time-member dated");
    assert_guess("2026010100000000012", FIRN_FORM_DATED, "time-random dated");
    assert_guess("0x046c8e9d1234567890ab", -1, "objectid hex, objectid-legacy hex | xid hex");
}

/* Widths of decimal rows must not turn a number, or hex of a wider ID, into a shorter ID. */
static void other_numbers_are_read_as_before(void **state) {
    (void)state;
    guess("18446744073709551616", -1); /* 2^64 */
    assert_int_equal(readings[0].id.bits, 96);
    guess("0x10000000000000000", -1);
    assert_int_equal(readings[0].id.bits, 96);
    guess("1000000000000000000000000000000", -1); /* 2^100 or so */
    assert_int_equal(readings[0].id.bits, 128);
}

static void words_are_not_ids(void **state) {
    (void)state;
    static const char *const words[] = {"",
                                        "hello",
                                        "firn",
                                        "not an id",
                                        "2024-01-01",
                                        "2024-01-01T00:00:00Z",
                                        "127.0.0.1",
                                        "https://example.org/1541815603606036480",
                                        "1541815603606036480 ",
                                        " 1",
                                        "1.5",
                                        "\xff",
                                        "_",
                                        "a_",
                                        "-",
                                        "{}",
                                        "urn:uuid:"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        assert_int_equal(guess(words[i], -1), 0);
    }
    char *long_text = malloc(1 << 20);
    assert_non_null(long_text);
    for (int c = 0; c < 256; c++) {
        memset(long_text, c, 1 << 20);
        assert_int_equal(firn_guess(readings, long_text, 1 << 20, -1), 0);
    }
    free(long_text);
}

/* ---- compared with the parser ---------------------------------------------------------------- */

/* Whether a text is an ID of a scheme in a form, by what parses and unpacks. */
static bool parses(firn_id *id, const firn_scheme *scheme, int form, const char *text) {
    firn_fields fields;
    return firn_parse(id, form, scheme->bits, text, strlen(text), NULL) == FIRN_OK &&
           firn_unpack(&fields, scheme, id, NULL) == FIRN_OK;
}

static bool is_number(int form) {
    return form == FIRN_FORM_DEC || form == FIRN_FORM_UNSIGNED;
}

/* Numbers are IDs of the narrowest width only, a multiple of 32, and flake of its own scheme. */
static bool is_expected(firn_id *id, const firn_scheme *scheme, int form, const char *text) {
    const firn_scheme *other;
    firn_id narrow;
    if (scheme->keyed || (scheme->form == FIRN_FORM_DATED) != (form == FIRN_FORM_DATED) ||
        (form == FIRN_FORM_FLAKE && scheme->form != form) ||
        ((is_number(form) || form == FIRN_FORM_HEX) &&
         (scheme->bits % 32 != 0 || scheme->form == FIRN_FORM_BASE32SORT)) ||
        !parses(id, scheme, form, text)) {
        return false;
    }
    for (size_t i = 0; (other = firn_scheme_at(i)) != NULL; i++) {
        if (is_number(form) && other->bits < scheme->bits && other->bits % 32 == 0 &&
            !other->keyed && other->form != FIRN_FORM_DATED &&
            firn_parse(&narrow, form, other->bits, text, strlen(text), NULL) == FIRN_OK) {
            return false;
        }
    }
    return true;
}

static bool is_read(const firn_reading *list, size_t count, const firn_scheme *scheme, int form,
                    const firn_id *id) {
    size_t position = 0;
    while (position < count && (list[position].scheme != scheme || list[position].form != form)) {
        position++;
    }
    return position < count && firn_id_cmp(&list[position].id, id) == 0 &&
           list[position].id.bits == id->bits;
}

static bool parses_typeid(firn_id *id, const char *text) {
    return firn_parse(id, FIRN_FORM_TYPEID, 128, text, strlen(text), NULL) == FIRN_OK;
}

/* In each requested form, the readings equal the parser's; without a form they are a subset. */
static void compare_with_parser(const char *text) {
    firn_reading wanted[FIRN_FORM_COUNT][FIRN_READINGS_MAX];
    size_t counts[FIRN_FORM_COUNT];
    const firn_scheme *scheme;
    firn_id id;
    for (int form = 0; form < FIRN_FORM_COUNT; form++) {
        size_t expected = 0;
        counts[form] = guess(text, form);
        memcpy(wanted[form], readings, sizeof readings);
        for (size_t i = 0; (scheme = firn_scheme_at(i)) != NULL; i++) {
            if (is_expected(&id, scheme, form, text)) {
                expected++;
                assert_true(is_read(wanted[form], counts[form], scheme, form, &id));
            }
        }
        const firn_scheme *typeid = firn_scheme_find("typeid");
        if (form == FIRN_FORM_TYPEID && parses_typeid(&id, text)) { /* of any UUID */
            const firn_scheme *seen = firn_scheme_seen(typeid, &id);
            expected += firn_scheme_find(seen->name) != seen;
        }
        assert_true(form == FIRN_FORM_DATED ? counts[form] >= expected : counts[form] == expected);
    }
    for (size_t i = guess(text, -1); i-- > 0;) {
        int form = readings[i].form;
        assert_true(is_read(wanted[form], counts[form], readings[i].scheme, form, &readings[i].id));
    }
}

static void asked_forms_are_read_as_the_parser_reads_them(void **state) {
    (void)state;
    const firn_scheme *scheme;
    for (size_t i = 0; (scheme = firn_scheme_at(i)) != NULL; i++) {
        for (int n = 0; n < 15 * FIRN_FORM_COUNT; n++) {
            char text[FIRN_TEXT_SIZE];
            firn_id id = random_id(scheme);
            firn_format(text, &id, n % FIRN_FORM_COUNT);
            if (text[0] != '\0' && n % 4 == 0) {
                text[chance() % strlen(text)] = "09afzAFZ-_{: "[chance() % 13];
            }
            compare_with_parser(text);
        }
    }
}

static firn_id any_id(uint32_t bits) {
    uint8_t bytes[20];
    firn_id id;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)chance();
    }
    bytes[0] = bits % 8 != 0 ? (uint8_t)(bytes[0] & ((1u << bits % 8) - 1)) : bytes[0];
    assert_int_equal(firn_id_from_bytes(&id, bytes, bits, NULL), FIRN_OK);
    return id;
}

static void traits_agree_with_the_fields(void **state) {
    (void)state;
    static firn__traits_list list;
    firn__traits_fill(&list);
    for (uint32_t i = 0; i < list.count; i++) {
        const firn__traits *traits = &list.schemes[i];
        const firn_scheme *scheme = traits->scheme;
        assert_ptr_equal(scheme, firn_scheme_at(i));
        for (int n = 0; n < 3000; n++) {
            firn_fields fields;
            firn_time time;
            firn_id id = n % 2 == 0 ? random_id(scheme) : any_id(scheme->bits);
            bool unpacks = firn_unpack(&fields, scheme, &id, NULL) == FIRN_OK;
            int field = firn_scheme_field(scheme, "time");
            assert_true(firn__traits_fit(traits, &id) == unpacks || !traits->plain);
            if (!unpacks || scheme->tick_ns == 0) {
                assert_false(scheme->tick_ns == 0 && firn__traits_today(traits, &id));
                continue;
            }
            firn_scheme_time(scheme, fields.value[field].low, &time);
            int64_t from = scheme->epoch.sec < 0 ? 631152000 : 1104537600;
            assert_int_equal(firn__traits_today(traits, &id),
                             time.sec >= from && time.sec < 2366841600);
        }
    }
}

static void random_texts_are_read_the_same_each_time(void **state) {
    (void)state;
    static const char set[] =
        "0123456789abcdefABCDEFghijklmnopqrstuvwxyzGHJKMNPQRSTVWXYZ-_{}:0000000011111111aaaaaaaa";
    for (int n = 0; n < 20000; n++) {
        firn_reading first[FIRN_READINGS_MAX];
        char text[64];
        size_t length = (size_t)(chance() % 42);
        size_t among = n % 3 == 0 ? sizeof set - 1 : n % 3 == 1 ? 16 : 10;
        for (size_t i = 0; i < length; i++) {
            text[i] = set[chance() % among];
        }
        text[length] = '\0';
        size_t count = guess(text, -1);
        check_readings(count, text);
        memcpy(first, readings, sizeof first);
        assert_int_equal(guess(text, -1), count);
        for (size_t i = 0; i < count; i++) {
            assert_true(first[i].scheme == readings[i].scheme && first[i].form == readings[i].form);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(sentence, function) {sentence, function, start_over, NULL, NULL}
        TEST("an ID of every row is found again", every_row_is_found_again),
        TEST("published IDs are known, best first", published_ids_are_known_best_first),
        TEST("an ObjectId is unwrapped", an_object_id_is_unwrapped),
        TEST("a number is only possibly an ID", a_number_is_only_possibly_an_id),
        TEST("digits only are decimal", digits_only_are_decimal),
        TEST("dated digits are known by their calendar", dated_digits_are_known_by_their_calendar),
        TEST("other numbers are read as before", other_numbers_are_read_as_before),
        TEST("hex needs a letter or 0x", hex_needs_a_letter_or_0x),
        TEST("only the form that is asked for is read", only_the_form_that_is_asked_for_is_read),
        TEST("words are not IDs", words_are_not_ids),
        TEST("forms that are asked for are read as the parser reads them",
             asked_forms_are_read_as_the_parser_reads_them),
        TEST("the traits of a scheme agree with its fields", traits_agree_with_the_fields),
        TEST("random texts are read the same each time", random_texts_are_read_the_same_each_time),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
