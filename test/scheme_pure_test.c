/* SPDX-License-Identifier: MIT */
/* Every row of the table and rows of a user's own: widths, packing both ways, ends, order, bounds,
 * refusals. The model it is compared with is slow and plain: an ID as a text of binary digits, put
 * together slice by slice. */
#include <firn/firn.h>

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "chance.h"

/* ---- the model ------------------------------------------------------------------------------ */

static int bit_of(firn_value value, uint32_t i) {
    return (int)((i < 64 ? value.low >> i : value.high >> (i - 64)) & 1);
}

static firn_value ones(uint32_t bits) {
    firn_value value = {0, 0};
    for (uint32_t i = 0; i < bits; i++) {
        *(i < 64 ? &value.low : &value.high) |= UINT64_C(1) << (i % 64);
    }
    return value;
}

static bool is_dated(const firn_scheme *scheme) {
    return strncmp(scheme->name, "time-", 5) == 0;
}

/* The greatest value of a field: decimal rows end with the year 9999, and with 6 digits. */
static firn_value most_of(const firn_scheme *scheme, uint32_t i) {
    if (is_dated(scheme) && scheme->slices[i].role == FIRN_ROLE_TIME) {
        return (firn_value){UINT64_C(253402300799999), 0};
    }
    return is_dated(scheme) && scheme->slices[i].role == FIRN_ROLE_RANDOM
               ? (firn_value){999999, 0}
               : ones(firn_scheme_width(scheme, i));
}

static bool is_field(const firn_scheme *scheme, uint32_t i) {
    return scheme->slices[i].role != FIRN_ROLE_CONST && firn_scheme_first(scheme, i) == i;
}

/* The bits of a field that the ID has room for: all of them, except that uuid2 and scru64 lose the
 * low time, and decimal fields have the bits of their maximum. */
static firn_value kept(const firn_scheme *scheme, uint32_t field) {
    firn_value value = {0, 0};
    if (is_dated(scheme)) {
        return most_of(scheme, field);
    }
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        if (slice->role == FIRN_ROLE_CONST || firn_scheme_first(scheme, i) != field) {
            continue;
        }
        for (uint32_t b = slice->from; b < (uint32_t)slice->from + slice->bits; b++) {
            *(b < 64 ? &value.low : &value.high) |= UINT64_C(1) << (b % 64);
        }
    }
    return value;
}

/* The ID in binary digits, one after the other, as the rule of the row says. */
static const char *model(char out[FIRN_TEXT_SIZE], const firn_scheme *scheme,
                         const firn_fields *fields) {
    size_t length = 0;
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        uint32_t bits = slice->bits, group = slice->group > 0 ? slice->group : bits;
        firn_value value = {slice->value, 0};
        uint32_t from = 0;
        if (slice->role != FIRN_ROLE_CONST) {
            value = fields->value[firn_scheme_first(scheme, i)];
            from = slice->from;
        }
        for (uint32_t place = 0; place < bits; place++) { /* from the top */
            uint32_t in_group = group - 1 - place % group;
            uint32_t bit = slice->group > 0 ? place / group * group + in_group : bits - 1 - place;
            out[length++] = (char)('0' + bit_of(value, from + bit));
        }
    }
    out[length] = '\0';
    return out;
}

static firn_fields nothing(const firn_scheme *scheme) {
    firn_fields fields = {0, {{0, 0}}};
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        fields.given |= is_field(scheme, i) ? UINT32_C(1) << i : 0;
    }
    return fields;
}

static firn_fields anything(const firn_scheme *scheme) {
    firn_fields fields = nothing(scheme);
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        firn_value keep = is_field(scheme, i) ? kept(scheme, i) : (firn_value){0, 0};
        fields.value[i] = (firn_value){chance() & keep.low, chance() & keep.high};
    }
    return fields;
}

static firn_fields everything(const firn_scheme *scheme) {
    firn_fields fields = nothing(scheme);
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        fields.value[i] = is_field(scheme, i) ? kept(scheme, i) : (firn_value){0, 0};
    }
    return fields;
}

static firn_id packed(const firn_scheme *scheme, const firn_fields *fields) {
    firn_error error = {0};
    firn_id id = {0, 0, 0, 0};
    if (firn_pack(&id, scheme, fields, &error) != FIRN_OK) {
        fail_msg("%s: %s", scheme->name, error.text);
    }
    return id;
}

/* Fields to ID, ID to fields, and again. */
static void round_trip(const firn_scheme *scheme, const firn_fields *fields) {
    char want[FIRN_TEXT_SIZE], got[FIRN_TEXT_SIZE];
    firn_error error = {0};
    firn_fields back;
    firn_id id = packed(scheme, fields);
    assert_int_equal(id.bits, scheme->bits);
    assert_string_equal(firn_format(got, &id, FIRN_FORM_BIN), model(want, scheme, fields));
    if (firn_unpack(&back, scheme, &id, &error) != FIRN_OK) {
        fail_msg("%s: %s", scheme->name, error.text);
    }
    assert_int_equal(back.given, fields->given);
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        if (back.value[i].low != fields->value[i].low ||
            back.value[i].high != fields->value[i].high) {
            fail_msg("%s: %s does not come back", scheme->name, scheme->slices[i].name);
        }
    }
    firn_id again = packed(scheme, &back);
    assert_int_equal(firn_id_cmp(&again, &id), 0);
}

static void all_round_trips(const firn_scheme *scheme) {
    firn_fields fields = nothing(scheme);
    round_trip(scheme, &fields);
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        if (is_field(scheme, i)) {
            fields = nothing(scheme);
            fields.value[i] = kept(scheme, i);
            round_trip(scheme, &fields);
            fields = everything(scheme);
            fields.value[i] = (firn_value){0, 0};
            round_trip(scheme, &fields);
        }
    }
    fields = everything(scheme);
    round_trip(scheme, &fields);
    for (int n = 0; n < 300; n++) {
        fields = anything(scheme);
        round_trip(scheme, &fields);
    }
}

/* The refusal's code is the error's, and it says in one line what is wrong. */
static void error_text(const char *about, int code, const firn_error *error) {
    size_t length = strlen(error->text);
    if (code >= 0 || error->code != code || length < 10 || strchr(error->text, '\n') != NULL ||
        length >= sizeof error->text) {
        fail_msg("%s: code %d, error %d '%s'", about, code, (int)error->code, error->text);
    }
}

static const firn_scheme *row_after(const firn_scheme *scheme) {
    size_t i = 0;
    while (firn_scheme_at(i) != scheme) {
        i++;
    }
    return firn_scheme_at(i + 1);
}

#define EACH_ROW(scheme)                                                                           \
    for (const firn_scheme *scheme = firn_scheme_at(0); scheme != NULL; scheme = row_after(scheme))

/* ---- the table ------------------------------------------------------------------------------ */

static void widths_add_up(void **state) {
    size_t rows = 0;
    (void)state;
    for (const firn_scheme *s; (s = firn_scheme_at(rows)) != NULL; rows++) {
        uint32_t bits = 0, fields = 0;
        for (uint32_t i = 0; i < s->slice_count; i++) {
            bits += s->slices[i].bits;
            assert_in_range(s->slices[i].bits, 1, 128);
            fields += is_field(s, i) ? firn_scheme_width(s, i) : 0;
        }
        assert_in_range(s->slice_count, 1, FIRN_SLICES_MAX);
        assert_int_equal(bits, s->bits);
        assert_true(s->bits >= 1 && s->bits <= 160);
        assert_ptr_equal(firn_scheme_find(s->name), s);
        assert_non_null(s->source);
        assert_true(firn_form_width(s->form, s->bits) > 0);
        assert_true(strcmp(s->name, "uuid2") == 0 || strcmp(s->name, "scru64") == 0 ||
                    fields <= s->bits);
    }
    assert_true(rows >= 28);
    assert_null(firn_scheme_at(rows));
    assert_null(firn_scheme_find("no-such-scheme"));
}

/* name: its bits, the fields with their widths in wire order; from the table of the design. */
static const struct {
    const char *name;
    uint32_t bits;
    const char *row;
} layouts[] = {
    {"snowflake", 64, "0x0:1 time:41/ms datacenter:5 worker:5 sequence:12"},
    {"leaf", 64, "0x0:1 time:41/ms worker:10 sequence:12"},
    {"seata", 64, "0x0:1 worker:10 time:41/ms sequence:12"},
    {"region", 64, "time:41/ms region:3 worker:10 sequence:10"},
    {"instagram", 64, "time:41/ms shard:13 sequence:10"},
    {"simpleflake", 64, "time:41/ms random:23"},
    {"baidu", 64, "0x0:1 time:28/s worker:22 sequence:13"},
    {"lable-spread", 64,
     "time~1:42/ms sequence:6 generator@8:3 mode=0x0:1 generator@0:8 cluster:4"},
    {"lable-sequential", 64,
     "time:42/ms sequence:6 generator@8:3 mode=0x1:1 generator@0:8 cluster:4"},
    {"flake", 128, "time:64/ms worker:48 sequence:16"},
    {"objectid", 96, "time:32/s random:40 counter:24"},
    {"objectid-legacy", 96, "time:32/s machine:24 pid:16 counter:24"},
    {"locality", 128, "counter~4:32 pid:16 version=0xb:4 mac:28 time:48/ms"},
    {"locality-sequential", 128, "counter:32 pid:16 version=0xb:4 mac:28 time:48/ms"},
    {"uuid1", 128,
     "time@0:32/100ns time@32:16 version=0x1:4 time@48:12 variant=0x2:2 clock_seq:14 node:48"},
    {"uuid1-swapped", 128,
     "version=0x1:4 time@48:12/100ns time@32:16 time@0:32 variant=0x2:2 clock_seq:14 node:48"},
    {"uuid4", 128, "random@74:48 version=0x4:4 random@62:12 variant=0x2:2 random@0:62"},
    {"uuid6", 128,
     "time@28:32/100ns time@12:16 version=0x6:4 time@0:12 variant=0x2:2 clock_seq:14 node:48"},
    {"uuid7", 128, "time:48/ms version=0x7:4 sequence@14:12 variant=0x2:2 sequence@0:14 random:48"},
    {"ulid", 128, "time:48/ms random:80"},
    {"ksuid", 160, "time:32/s random:128"},
    {"xid", 96, "time:32/s machine:24 pid:16 counter:24"},
    {"sonyflake", 64, "0x0:1 time:39/10ms sequence:8 machine:16"},
    {"discord", 64, "time:42/ms worker:5 process:5 sequence:12"},
    {"tsid", 64, "time:42/ms node:10 sequence:12"},
    {"js53", 64, "0x0:11 time:41/ms node:6 sequence:6"},
    {"mastodon", 64, "time:48/ms node:6 sequence:10"},
    {"timeflake", 128, "time:48/ms random:80"},
    {"tid", 64, "0x0:1 time:53/us clock_id:10"},
    {"pushid", 120, "time:48/ms random:72"},
    {"scru128", 128, "time:48/ms counter_hi:24 sequence:24 random:32"},
    {"typeid", 128,
     "time:48/ms version=0x7:4 sequence@14:12 variant=0x2:2 sequence@0:14 random:48"},
};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

/* Takes the @@EPOCH out of a row. */
static void without_epoch(char *row) {
    char *epoch = strstr(row, "@@");
    if (epoch != NULL) {
        memmove(epoch, epoch + strcspn(epoch, " "), strlen(epoch + strcspn(epoch, " ")) + 1);
    }
}

static void rows_equal_the_design(void **state) {
    (void)state;
    for (size_t i = 0; i < LAYOUTS; i++) {
        char row[FIRN_LAYOUT_SIZE];
        const firn_scheme *scheme = firn_scheme_find(layouts[i].name);
        if (scheme == NULL) {
            fail_msg("there is no %s", layouts[i].name);
            return;
        }
        without_epoch(firn_scheme_layout(row, scheme));
        assert_string_equal(row, layouts[i].row);
        assert_int_equal(scheme->bits, layouts[i].bits);
    }
}

static void every_row_packs_and_reads(void **state) {
    (void)state;
    EACH_ROW(scheme) {
        all_round_trips(scheme);
    }
}

/* Any bits with the constants in place are an ID, and come back as they were. */
static void every_id_reads_and_packs(void **state) {
    (void)state;
    EACH_ROW(scheme) {
        for (int n = 0; n < 300; n++) {
            char text[FIRN_TEXT_SIZE];
            firn_fields zero = nothing(scheme), all = everything(scheme), fields;
            firn_id low = packed(scheme, &zero), high = packed(scheme, &all), id, back;
            id.bits = scheme->bits; /* constants are what is the same in both */
            id.low = low.low | (high.low & chance());
            id.high = low.high | (high.high & chance());
            id.top = low.top | (high.top & (uint32_t)chance());
            assert_int_equal(firn_unpack(&fields, scheme, &id, NULL), FIRN_OK);
            back = packed(scheme, &fields);
            if (firn_id_cmp(&id, &back) != 0) {
                fail_msg("%s: %s is lost", scheme->name, firn_format(text, &id, FIRN_FORM_HEX));
            }
        }
    }
}

static void a_wrong_constant_is_a_mismatch(void **state) {
    (void)state;
    EACH_ROW(scheme) {
        uint32_t position = scheme->bits;
        firn_fields fields = anything(scheme), back = {77, {{0, 0}}};
        firn_id id = packed(scheme, &fields);
        for (uint32_t i = 0; i < scheme->slice_count; i++) {
            position -= scheme->slices[i].bits;
            for (uint32_t b = 0;
                 scheme->slices[i].role == FIRN_ROLE_CONST && b < scheme->slices[i].bits; b++) {
                firn_error error = {0};
                firn_id other = id;
                uint32_t index = position + b;
                other.low ^= index < 64 ? UINT64_C(1) << index : 0;
                other.high ^= index >= 64 && index < 128 ? UINT64_C(1) << (index - 64) : 0;
                other.top ^= index >= 128 ? UINT32_C(1) << (index - 128) : 0;
                int code = firn_unpack(&back, scheme, &other, &error);
                assert_int_equal(code, FIRN_EMISMATCH);
                error_text(scheme->name, code, &error);
            }
        }
        id.bits++;
        assert_int_equal(firn_unpack(&back, scheme, &id, NULL), FIRN_EMISMATCH);
        assert_int_equal(back.given, 77); /* untouched on failure */
    }
}

/* value + 1 of a field that is all ones, in decimal. */
static const char *past_end(char text[FIRN_VALUE_SIZE], uint32_t bits) {
    char digits[FIRN_VALUE_SIZE] = "1";
    size_t length = 1; /* least digit first */
    for (uint32_t i = 0; i < bits; i++) {
        int carry = 0;
        for (size_t j = 0; j < length; j++) {
            int twice = 2 * (digits[j] - '0') + carry;
            digits[j] = (char)('0' + twice % 10);
            carry = twice / 10;
        }
        if (carry > 0) {
            digits[length++] = '1';
        }
    }
    for (size_t j = 0; j < length; j++) {
        text[j] = digits[length - 1 - j];
    }
    text[length] = '\0';
    return text;
}

static void a_field_one_past_its_end_is_refused(void **state) {
    (void)state;
    EACH_ROW(scheme) {
        for (uint32_t i = 0; i < scheme->slice_count; i++) {
            if (!is_field(scheme, i)) {
                continue;
            }
            char text[FIRN_VALUE_SIZE];
            uint32_t width = firn_scheme_width(scheme, i);
            const char *name = scheme->slices[i].name;
            const char *raw = scheme->slices[i].role == FIRN_ROLE_TIME ? "tick" : name;
            firn_fields fields = everything(scheme), set = {0, {{0, 0}}};
            firn_error error = {0};
            firn_id id = {1, 2, 3, 4};
            if (width < 128) {
                firn_value past = most_of(scheme, i);
                past.high += past.low == UINT64_MAX;
                past.low++;
                fields.value[i] = past;
                int code = firn_pack(&id, scheme, &fields, &error);
                assert_int_equal(code, FIRN_ERANGE);
                error_text(scheme->name, code, &error);
                assert_non_null(strstr(error.text, name));
                assert_true(id.low == 1 && id.high == 2 && id.top == 3 && id.bits == 4);
            }
            error = (firn_error){0};
            int code = firn_fields_set(&set, scheme, raw, past_end(text, width), &error);
            assert_true(code == FIRN_ERANGE || (width == 128 && code == FIRN_ETEXT));
            error_text(scheme->name, code, &error);
            assert_int_equal(set.given, 0);
        }
    }
}

static void fields_are_set_once_by_their_names(void **state) {
    (void)state;
    EACH_ROW(scheme) {
        firn_fields fields = {0, {{0, 0}}};
        firn_error error = {0};
        firn_id id;
        int code;
        for (uint32_t i = 0; i < scheme->slice_count; i++) {
            const firn_slice *slice = &scheme->slices[i];
            const char *name = slice->role == FIRN_ROLE_TIME ? "tick" : slice->name;
            if (slice->role == FIRN_ROLE_CONST && slice->name[0] != '\0') {
                code = firn_fields_set(&fields, scheme, name, "1", &error);
                assert_int_equal(code, FIRN_EUSAGE);
                error_text(scheme->name, code, &error);
                assert_int_equal(firn_scheme_field(scheme, name), i);
            } else if (is_field(scheme, i)) {
                code = firn_pack(&id, scheme, &fields, &error); /* from this field on */
                assert_int_equal(code, FIRN_EUSAGE);
                error_text(scheme->name, code, &error);
                assert_non_null(strstr(error.text, slice->name));
                assert_int_equal(firn_scheme_field(scheme, slice->name), i);
                assert_int_equal(firn_fields_set(&fields, scheme, name, "0x1", &error), FIRN_OK);
                assert_int_equal(fields.value[i].low, 1);
                code = firn_fields_set(&fields, scheme, name, "1", &error);
                assert_int_equal(code, FIRN_EUSAGE);
                error_text(scheme->name, code, &error);
            }
        }
        code = firn_fields_set(&fields, scheme, "wroker", "1", &error);
        assert_int_equal(code, FIRN_EUSAGE);
        error_text(scheme->name, code, &error);
        assert_int_equal(firn_scheme_field(scheme, "wroker"), -1);
        assert_int_equal(firn_pack(&id, scheme, &fields, &error), FIRN_OK);
    }
}

/* As many names as a line of an error holds. */
static void the_fields_of_a_long_row_are_listed(void **state) {
    char text[400] = "time:41/ms";
    firn_scheme scheme;
    firn_fields fields = {0, {{0, 0}}};
    firn_error error = {0};
    (void)state;
    for (int i = 0; i < 11; i++) {
        const size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, " part_number_%c:2", "abcdefghijk"[i]);
    }
    assert_int_equal(firn_scheme_make(&scheme, text, NULL, NULL, 0, &error), FIRN_OK);
    int code = firn_fields_set(&fields, &scheme, "zone", "1", &error);
    assert_int_equal(code, FIRN_EUSAGE);
    error_text(text, code, &error);
    assert_non_null(strstr(error.text, "has no field 'zone': its fields are time part_number_a"));
    assert_int_equal(firn_fields_set(&fields, &scheme, "time", "now", &error), FIRN_ETEXT);
    assert_true(fields.given == 0);
}

/* Values that are not numbers, and how fields are written. */
static void values_are_read_strictly(void **state) {
    static const char *const bad[] = {"",
                                      "x",
                                      "-1",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "1.0",
                                      "0x",
                                      "0xg1",
                                      "1e3",
                                      "1_000",
                                      "٣",
                                      "00:11:22",
                                      "aa:bb:cc:dd:ee:gg",
                                      "aa:bb-cc:dd:ee:ff",
                                      "aa.bb.cc.dd.ee.ff",
                                      "ga:bb:cc:dd:ee:ff"};
    const firn_scheme *flake = firn_scheme_find("flake"), *ksuid = firn_scheme_find("ksuid");
    char text[FIRN_VALUE_SIZE];
    firn_error error = {0};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        firn_fields fields = {0, {{0, 0}}};
        int code = firn_fields_set(&fields, flake, "worker", bad[i], &error);
        assert_int_equal(code, FIRN_ETEXT);
        error_text(bad[i], code, &error);
    }
    static const char *const same[] = {"18838586676582", "0x112233445566", "11:22:33:44:55:66",
                                       "11-22-33-44-55-66", "0X112233445566"};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        firn_fields fields = {0, {{0, 0}}};
        assert_int_equal(firn_fields_set(&fields, flake, "worker", same[i], &error), FIRN_OK);
        assert_int_equal(fields.value[1].low, UINT64_C(0x112233445566));
        assert_string_equal(firn_fields_get(text, &fields, flake, 1), "11:22:33:44:55:66");
    }
    firn_fields fields = {0, {{0, 0}}};
    assert_int_equal(firn_fields_set(&fields, flake, "sequence", "7", &error), FIRN_OK);
    assert_string_equal(firn_fields_get(text, &fields, flake, 2), "7");
    fields = (firn_fields){0, {{0, 0}}};
    assert_int_equal(firn_fields_set(&fields, ksuid, "random", "7", &error), FIRN_OK);
    assert_string_equal(firn_fields_get(text, &fields, ksuid, 1),
                        "0x00000000000000000000000000000007");
    fields = (firn_fields){0, {{0, 0}}};
    assert_int_equal(firn_fields_set(&fields, ksuid, "random",
                                     "340282366920938463463374607431768211455", &error),
                     FIRN_OK);
    assert_string_equal(firn_fields_get(text, &fields, ksuid, 1),
                        "0xffffffffffffffffffffffffffffffff");
}

/* ---- time ----------------------------------------------------------------------------------- */

static const struct {
    const char *name, *issued, *whole; /* the first refused times; NULL: none */
} ends[] = {
    {"snowflake", "2080-07-10T17:30:30.209Z", "2080-07-10T17:30:30.209Z"},
    {"leaf", "2080-07-10T17:30:30.209Z", "2080-07-10T17:30:30.209Z"},
    {"seata", "2090-01-07T07:47:35.552Z", "2090-01-07T07:47:35.552Z"},
    {"region", "2045-09-06T21:36:42.433Z", "2080-07-10T17:30:30.209Z"},
    {"instagram", "2046-06-27T17:00:49.497Z", "2081-04-30T12:54:37.273Z"},
    {"simpleflake", "2034-11-04T00:53:47.776Z", "2069-09-06T20:47:35.552Z"},
    {"baidu", "2024-11-20T13:24:16Z", "2024-11-20T13:24:16Z"},
    {"lable-spread", "2109-05-15T07:35:11.104Z", "2109-05-15T07:35:11.104Z"},
    {"lable-sequential", "2109-05-15T07:35:11.104Z", "2109-05-15T07:35:11.104Z"},
    {"flake", NULL, NULL},
    {"objectid", "2106-02-07T06:28:16Z", "2106-02-07T06:28:16Z"},
    {"objectid-legacy", "2106-02-07T06:28:16Z", "2106-02-07T06:28:16Z"},
    {"xid", "2106-02-07T06:28:16Z", "2106-02-07T06:28:16Z"},
    {"locality", "+10889-08-02T05:31:50.656Z", "+10889-08-02T05:31:50.656Z"},
    {"locality-sequential", "+10889-08-02T05:31:50.656Z", "+10889-08-02T05:31:50.656Z"},
    {"uuid1", "5236-03-31T21:21:00.6846976Z", "5236-03-31T21:21:00.6846976Z"},
    {"uuid1-swapped", "5236-03-31T21:21:00.6846976Z", "5236-03-31T21:21:00.6846976Z"},
    {"uuid2", "5236-03-31T21:21:00.6846976Z", "5236-03-31T21:21:00.6846976Z"},
    {"uuid6", "5236-03-31T21:21:00.6846976Z", "5236-03-31T21:21:00.6846976Z"},
    {"uuid7", "+10889-08-02T05:31:50.656Z", "+10889-08-02T05:31:50.656Z"},
    {"typeid", "+10889-08-02T05:31:50.656Z", "+10889-08-02T05:31:50.656Z"},
    {"ulid", "+10889-08-02T05:31:50.656Z", "+10889-08-02T05:31:50.656Z"},
    {"ksuid", "2150-06-19T23:21:36Z", "2150-06-19T23:21:36Z"},
    {"sonyflake", "2188-11-16T03:28:58.88Z", "2188-11-16T03:28:58.88Z"},
    {"discord", "2154-05-15T07:35:11.104Z", "2154-05-15T07:35:11.104Z"},
    {"tsid", "2159-05-15T07:35:11.104Z", "2159-05-15T07:35:11.104Z"},
    {"js53", "2094-09-07T15:47:35.552Z", "2094-09-07T15:47:35.552Z"},
    {"mastodon", "6429-10-17T02:45:55.328Z", "+10889-08-02T05:31:50.656Z"},
    {"tid", "2255-06-05T23:47:34.740992Z", "2255-06-05T23:47:34.740992Z"},
    {"pushid", "+10889-08-02T05:31:50.656Z", "+10889-08-02T05:31:50.656Z"},
    {"scru64", "4199-11-24T01:22:57.664Z", "4199-11-24T01:22:57.664Z"},
    {"scru128", "+10889-08-02T05:31:50.656Z", "+10889-08-02T05:31:50.656Z"},
    {"timeflake", "+10889-08-02T05:31:50.656Z", "+10889-08-02T05:31:50.656Z"},
    {"time-random", "+10000-01-01T00:00:00.000Z", "+10000-01-01T00:00:00.000Z"},
    {"time-member", "+10000-01-01T00:00:00.000Z", "+10000-01-01T00:00:00.000Z"},
};
enum { ENDS = sizeof ends / sizeof ends[0] };

static firn_time back_by(firn_time time, int64_t ns) {
    int64_t rest = time.ns - ns % 1000000000, borrow = rest < 0, carry = rest >= 1000000000;
    time.sec -= ns / 1000000000 + borrow - carry;
    time.ns = (int32_t)(rest + (borrow - carry) * 1000000000);
    return time;
}

static int time_slice(const firn_scheme *scheme) {
    return scheme->tick_ns == 0 ? -1 : firn_scheme_field(scheme, "time");
}

static void layouts_end_when_the_table_says(void **state) {
    size_t timed = 0;
    (void)state;
    EACH_ROW(scheme) {
        timed += scheme->tick_ns != 0;
    }
    assert_int_equal(timed, ENDS);
    for (size_t i = 0; i < ENDS; i++) {
        const firn_scheme *scheme = firn_scheme_find(ends[i].name);
        for (int whole = 0; whole < 2; whole++) {
            char text[FIRN_TIME_SIZE];
            const char *want = whole ? ends[i].whole : ends[i].issued;
            firn_time end;
            bool ended = firn_scheme_end(scheme, whole, &end);
            assert_int_equal(ended, want != NULL);
            if (ended) {
                assert_string_equal(firn_time_format(text, &end, firn_scheme_digits(scheme)), want);
            }
        }
    }
}

static void ticks_are_cut_towards_the_past(void **state) {
    (void)state;
    EACH_ROW(scheme) {
        firn_error error = {0};
        firn_time end, time;
        uint64_t tick = 99;
        if (scheme->tick_ns == 0) {
            int code = firn_scheme_tick(scheme, &scheme->epoch, &tick, &error);
            assert_int_equal(code, FIRN_EUSAGE);
            error_text(scheme->name, code, &error);
            continue;
        }
        uint64_t last = most_of(scheme, (uint32_t)time_slice(scheme)).low;
        time = back_by(scheme->epoch, 1);
        int code = firn_scheme_tick(scheme, &time, &tick, &error);
        assert_int_equal(code, FIRN_ELAYOUT);
        error_text(scheme->name, code, &error);
        assert_int_equal(tick, 99); /* untouched */
        assert_int_equal(firn_scheme_tick(scheme, &scheme->epoch, &tick, &error), FIRN_OK);
        assert_int_equal(tick, 0);
        if (firn_scheme_end(scheme, true, &end)) {
            code = firn_scheme_tick(scheme, &end, &tick, &error);
            assert_int_equal(code, FIRN_ELAYOUT);
            error_text(scheme->name, code, &error);
            time = back_by(end, 1);
            assert_int_equal(firn_scheme_tick(scheme, &time, &tick, &error), FIRN_OK);
            assert_int_equal(tick, last);
        }
        for (int n = 0; n < 200; n++) {
            uint64_t want = n == 0 ? last : n == 1 ? 1 : chance() % last >> n % 24;
            firn_scheme_time(scheme, want, &time);
            assert_in_range(time.ns, 0, 999999999);
            assert_int_equal(firn_scheme_tick(scheme, &time, &tick, &error), FIRN_OK);
            assert_int_equal(tick, want);
            time = back_by(time, -(int64_t)(chance() % scheme->tick_ns)); /* later in the tick */
            assert_int_equal(firn_scheme_tick(scheme, &time, &tick, &error), FIRN_OK);
            assert_int_equal(tick, want);
            firn_scheme_time(scheme, want, &time);
            time = back_by(time, 1);
            if (want > 0) {
                assert_int_equal(firn_scheme_tick(scheme, &time, &tick, &error), FIRN_OK);
                assert_int_equal(tick, want - 1);
            }
        }
    }
}

static void a_tick_needs_as_many_digits(void **state) {
    static const struct {
        const char *row;
        uint32_t tick_ns;
        int digits;
    } ticks[] = {{"time:60/s node:4", 1000000000, 0}, {"time:60/10ms node:4", 10000000, 2},
                 {"time:60/ms node:4", 1000000, 3},   {"time:60 node:4", 1000000, 3},
                 {"time:60/us node:4", 1000, 6},      {"time:60/100ns node:4", 100, 7}};
    (void)state;
    for (size_t i = 0; i < sizeof ticks / sizeof ticks[0]; i++) {
        firn_scheme scheme;
        assert_int_equal(firn_scheme_make(&scheme, ticks[i].row, NULL, NULL, NULL, NULL), FIRN_OK);
        assert_int_equal(scheme.tick_ns, ticks[i].tick_ns);
        assert_int_equal(firn_scheme_digits(&scheme), ticks[i].digits);
        assert_true(scheme.epoch.sec == 0 && scheme.epoch.ns == 0);
    }
}

/* ---- order ---------------------------------------------------------------------------------- */

static int role_slice(const firn_scheme *scheme, int role) {
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        if (scheme->slices[i].role == role && is_field(scheme, i)) {
            return (int)i;
        }
    }
    return -1;
}

/* The field that counts within a tick: the sequence, or random bits that go up by one. */
static int count_slice(const firn_scheme *scheme) {
    int sequence = role_slice(scheme, FIRN_ROLE_SEQUENCE);
    return sequence >= 0 || !scheme->monotonic ? sequence : role_slice(scheme, FIRN_ROLE_RANDOM);
}

static void later_slots_are_greater_ids(void **state) {
    size_t sorted = 0;
    (void)state;
    EACH_ROW(scheme) {
        int time = time_slice(scheme), count = count_slice(scheme);
        if (time < 0 || scheme->sorts == FIRN_SORTS_NO) {
            continue;
        }
        sorted++;
        uint64_t last = most_of(scheme, (uint32_t)time).low;
        firn_value most =
            count < 0 ? (firn_value){0, 0} : ones(firn_scheme_width(scheme, (uint32_t)count));
        for (int n = 0; n < 500; n++) {
            firn_fields a = anything(scheme), b = anything(scheme);
            for (int i = 0; i < time; i++) {
                b.value[i] = a.value[i]; /* fields before the time are pinned */
            }
            uint64_t tick = n == 0 ? 0 : n == 1 ? last - 1 : (chance() >> n % 60) % last;
            uint64_t step = 1 + (chance() >> n % 64) % (last - tick);
            a.value[time].low = tick;
            b.value[time].low = tick + step;
            firn_id early = packed(scheme, &a), late = packed(scheme, &b);
            assert_true(firn_id_cmp(&early, &late) < 0);
            if (count < 0 || scheme->sorts == FIRN_SORTS_BY_TICK) {
                continue;
            }
            b = a; /* the same node and tick: the count decides */
            uint64_t from = (chance() >> n % 60) % most.low;
            a.value[count] = (firn_value){from, 0};
            b.value[count] = (firn_value){from + 1 + (chance() >> n % 64) % (most.low - from), 0};
            early = packed(scheme, &a);
            late = packed(scheme, &b);
            assert_true(firn_id_cmp(&early, &late) < 0);
            a.value[count] = most; /* and a full tick stays below the next one */
            b.value[time].low = tick + 1;
            b.value[count] = (firn_value){0, 0};
            early = packed(scheme, &a);
            late = packed(scheme, &b);
            assert_true(firn_id_cmp(&early, &late) < 0);
        }
    }
    assert_int_equal(sorted, ENDS - 6);
}

static void what_does_not_sort_says_so(void **state) {
    static const char *const names[] = {"lable-spread", "locality", "locality-sequential", "uuid1",
                                        "uuid2"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const firn_scheme *scheme = firn_scheme_find(names[i]);
        bool found = false;
        assert_int_equal(scheme->sorts, FIRN_SORTS_NO);
        for (int n = 0; n < 2000 && !found; n++) { /* there is a later ID that is smaller */
            firn_fields a = anything(scheme), b = anything(scheme);
            firn_id early = packed(scheme, &a), late = packed(scheme, &b);
            int time = time_slice(scheme);
            found = a.value[time].low < b.value[time].low && firn_id_cmp(&early, &late) > 0;
        }
        assert_true(found);
    }
}

/* ---- bounds --------------------------------------------------------------------------------- */

static firn_time tick_time(const firn_scheme *scheme, uint64_t tick) {
    firn_time time;
    firn_scheme_time(scheme, tick, &time);
    return time;
}

/* The ID of a tick whose other fields, but the pinned ones, are all zeros or all ones. */
static firn_id edge(const firn_scheme *scheme, const firn_fields *pinned, uint64_t tick,
                    bool full) {
    firn_fields fields = full ? everything(scheme) : nothing(scheme);
    int time = time_slice(scheme);
    for (int i = 0; i < time; i++) {
        fields.value[i] = pinned->value[i];
    }
    fields.value[time].low = tick;
    return packed(scheme, &fields);
}

static void bound_once(const firn_scheme *scheme, uint64_t first, uint64_t end) {
    int time = time_slice(scheme);
    uint64_t last = most_of(scheme, (uint32_t)time).low;
    firn_error error = {0};
    firn_id least, greatest;
    firn_fields pinned = anything(scheme);
    pinned.given = 0;
    for (int i = 0; i < time; i++) {
        pinned.given |= is_field(scheme, (uint32_t)i) ? UINT32_C(1) << i : 0;
    }
    for (int late = 0; late < 2;
         late++) { /* on the ticks; then within them: floor(from), ceil(to) */
        firn_time from = tick_time(scheme, first), to = tick_time(scheme, end);
        if (late) {
            from = back_by(from, -(int64_t)(chance() % scheme->tick_ns));
            to = back_by(to, (int64_t)(chance() % scheme->tick_ns));
        }
        if (firn_time_cmp(&from, &to) >= 0) {
            continue;
        }
        firn_id low = edge(scheme, &pinned, first, false),
                high = edge(scheme, &pinned, end - 1, true);
        firn_scheme own = *scheme,
                    column = *scheme; /* unsigned, and in a column of signed integers */
        own.form = scheme->bits == 64 ? FIRN_FORM_HEX : own.form;
        column.form = FIRN_FORM_DEC;
        int code = firn_range(&least, &greatest, &own, &pinned, &from, &to, &error);
        if (code != FIRN_OK) {
            fail_msg("%s: %s", scheme->name, error.text);
        }
        if (scheme->bits == 64) {
            bool both = (low.low ^ high.low) >> 63 != 0;
            code = firn_range(&least, &greatest, &column, &pinned, &from, &to, &error);
            assert_int_equal(code, both ? FIRN_ELAYOUT : FIRN_OK);
        }
        assert_int_equal(firn_id_cmp(&least, &low), 0);
        assert_int_equal(firn_id_cmp(&greatest, &high), 0);
        assert_true(least.bits == scheme->bits && greatest.bits == scheme->bits);
        if (first > 0) {
            firn_id before = edge(scheme, &pinned, first - 1, true);
            assert_true(firn_id_cmp(&before, &least) < 0);
        }
        if (end <= last) {
            firn_id after = edge(scheme, &pinned, end, false);
            assert_true(firn_id_cmp(&after, &greatest) > 0);
        }
        for (int n = 0; n < 20; n++) {
            firn_fields fields = anything(scheme);
            for (int i = 0; i < time; i++) {
                fields.value[i] = pinned.value[i];
            }
            fields.value[time].low = first + chance() % (end - first);
            firn_id id = packed(scheme, &fields);
            assert_true(firn_id_cmp(&least, &id) <= 0 && firn_id_cmp(&id, &greatest) <= 0);
        }
    }
}

static void bounds_hold_exactly_the_ids_between(void **state) {
    (void)state;
    EACH_ROW(scheme) {
        int time = time_slice(scheme);
        if (time < 0 || scheme->sorts == FIRN_SORTS_NO) {
            continue;
        }
        uint64_t last = most_of(scheme, (uint32_t)time).low;
        uint64_t top =
            last == UINT64_MAX ? last / 2 : last; /* flake: times beyond int64 are not tested */
        bound_once(scheme, 0, 1);
        bound_once(scheme, 0, top);
        bound_once(scheme, top - 1, top);
        if (last != UINT64_MAX) {
            bound_once(scheme, last, last + 1); /* up to the very end of the layout */
            bound_once(scheme, 0, last + 1);
        }
        for (int n = 0; n < 100; n++) {
            uint64_t first = (chance() >> n % 60) % top;
            bound_once(scheme, first, first + 1 + (chance() >> n % 64) % (top - first));
        }
    }
}

static void bounds_refuse_what_they_cannot_hold(void **state) {
    (void)state;
    EACH_ROW(scheme) {
        firn_error error = {0};
        firn_id least = {1, 0, 0, 9}, greatest = {2, 0, 0, 9};
        firn_time from = scheme->epoch, to = back_by(scheme->epoch, -1), end;
        firn_fields pinned = nothing(scheme), none = {0, {{0, 0}}};
        int time = time_slice(scheme), code;
        pinned.given &= time < 0 ? 0 : (UINT32_C(1) << time) - 1;
        if (time < 0 || scheme->sorts == FIRN_SORTS_NO) {
            code = firn_range(&least, &greatest, scheme, &none, &from, &to, &error);
            assert_int_equal(code, FIRN_EUNSORTED);
            error_text(scheme->name, code, &error);
            assert_true(least.low == 1 && greatest.low == 2);
            continue;
        }
        assert_int_equal(firn_range(&least, &greatest, scheme, &pinned, &from, &to, &error),
                         FIRN_OK);
        least = (firn_id){1, 0, 0, 9};
        if (pinned.given == 0) {
            assert_int_equal(firn_range(&least, &greatest, scheme, NULL, &from, &to, &error),
                             FIRN_OK);
        } else {
            code = firn_range(&least, &greatest, scheme, NULL, &from, &to, &error);
            assert_int_equal(code, FIRN_EUSAGE);
            error_text(scheme->name, code, &error);
            code = firn_range(&least, &greatest, scheme, &none, &from, &to, &error);
            assert_int_equal(code, FIRN_EUSAGE);
            assert_non_null(strstr(error.text, "worker"));
            pinned.value[1].low = ones(firn_scheme_width(scheme, 1)).low + 1;
            code = firn_range(&least, &greatest, scheme, &pinned, &from, &to, &error);
            assert_int_equal(code, FIRN_ERANGE);
            error_text(scheme->name, code, &error);
            pinned.value[1].low = 0;
        }
        code = firn_range(&least, &greatest, scheme, &pinned, &from, &from, &error);
        assert_int_equal(code, FIRN_EUSAGE);
        error_text(scheme->name, code, &error);
        assert_int_equal(firn_range(&least, &greatest, scheme, &pinned, &to, &from, &error),
                         FIRN_EUSAGE);
        from = back_by(scheme->epoch, 1);
        code = firn_range(&least, &greatest, scheme, &pinned, &from, &to, &error);
        assert_int_equal(code, FIRN_ELAYOUT);
        error_text(scheme->name, code, &error);
        if (firn_scheme_end(scheme, true, &end)) {
            to = back_by(end, -1);
            code = firn_range(&least, &greatest, scheme, &pinned, &scheme->epoch, &to, &error);
            assert_int_equal(code, FIRN_ELAYOUT);
            error_text(scheme->name, code, &error);
            assert_int_equal(firn_range(&least, &greatest, scheme, &pinned, &end, &to, &error),
                             FIRN_ELAYOUT);
        }
    }
}

/* ---- rows as text --------------------------------------------------------------------------- */

static void same_layout(const firn_scheme *a, const firn_scheme *b) {
    assert_int_equal(a->bits, b->bits);
    assert_int_equal(a->tick_ns, b->tick_ns);
    assert_int_equal(firn_time_cmp(&a->epoch, &b->epoch), 0);
    assert_int_equal(a->slice_count, b->slice_count);
    for (uint32_t i = 0; i < a->slice_count; i++) {
        const firn_slice *x = &a->slices[i], *y = &b->slices[i];
        assert_string_equal(x->name, y->name);
        assert_int_equal(x->role == FIRN_ROLE_CONST, y->role == FIRN_ROLE_CONST);
        assert_int_equal(x->role == FIRN_ROLE_TIME, y->role == FIRN_ROLE_TIME);
        assert_int_equal(x->bits, y->bits);
        assert_int_equal(x->from, y->from);
        assert_int_equal(x->group, y->group);
        assert_true(x->value == y->value);
    }
}

/* A digest and a field that lost bits cannot be laid out by a user; all other rows can be written
 * and read again. */
static void a_row_as_text_is_the_same_row(void **state) {
    (void)state;
    EACH_ROW(scheme) {
        char text[FIRN_LAYOUT_SIZE], again[FIRN_LAYOUT_SIZE];
        firn_scheme made;
        firn_error error = {0};
        firn_scheme_layout(text, scheme);
        int code = firn_scheme_make(&made, text, NULL, NULL, NULL, &error);
        if (strcmp(scheme->name, "uuid2") == 0 || strcmp(scheme->name, "scru64") == 0 ||
            strcmp(scheme->name, "uuid3") == 0 || strcmp(scheme->name, "uuid5") == 0) {
            error_text(text, code, &error);
            continue;
        }
        if (code != FIRN_OK) {
            fail_msg("%s: %s: %s", scheme->name, text, error.text);
        }
        same_layout(&made, scheme);
        assert_string_equal(firn_scheme_layout(again, &made), text);
        for (int n = 0; n < 50; n++) { /* walked and straight, the same ID */
            firn_fields fields = anything(scheme);
            firn_id a = packed(scheme, &fields), b = packed(&made, &fields);
            assert_int_equal(firn_id_cmp(&a, &b), 0);
        }
    }
}

static void rows_of_the_users_own(void **state) {
    static const char *const rows[] = {
        "time:41/ms@@2024-01-01T00:00:00Z node:10 sequence:12", /* short of a byte: 63 bits */
        "0x0:1 time:41/ms node:4 sequence:18",
        "time~1:42 sequence:6 generator@8:3 mode=0:1 generator@0:8 cluster:4",
        "time~4:48/ms node:16",
        "time~8:64/us node:64",
        "counter~3:9 time:32/s node:7",
        "time~32:64/100ns node:1",
        "time:64/100ns@@1582-10-15T00:00:00Z sequence:32 node:64", /* 160 bits */
        "time:32/s random:128",
        "node@60:4 time@30:30/ms node@30:30 time@0:30 node@0:30 sequence:36",
        "a:1 b:1 c:1 d:1 e:1 f:1 g:1 h:1 i:1 j:1 time:1/s sequence:1", /* twelve slices */
        "time:1/s",
        "node:1",
        "time:40/ms@@@-5.5 node:24",
        "0xffffffffffffffff:64 time:64/ms node:32",
        "head=255:8 time:32/s tail=0x7f:7 node:17",
        "time:44/10ms@@2025-01-01T00:00:00+02:00 aa:48 sequence:36",
        "time@16~1:16/s node:16 time@0~4:16 sequence:16",
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[FIRN_LAYOUT_SIZE];
        firn_scheme scheme, again;
        firn_error error = {0};
        int code = firn_scheme_make(&scheme, rows[i], NULL, NULL, NULL, &error);
        if (code != FIRN_OK) {
            fail_msg("%s: %s", rows[i], error.text);
        }
        all_round_trips(&scheme);
        assert_int_equal(scheme.packer, -1);
        code =
            firn_scheme_make(&again, firn_scheme_layout(text, &scheme), NULL, NULL, NULL, &error);
        if (code != FIRN_OK) {
            fail_msg("%s: %s", text, error.text);
        }
        same_layout(&again, &scheme);
    }
}

static void mirrored_and_split_fields_are_in_the_right_places(void **state) {
    static const struct {
        const char *row, *field, *value, *hex;
    } known[] = {
        {"time~1:8/s node:8", "tick", "0x01", "8000"},
        {"time~1:8/s node:8", "tick", "0x16", "6800"},
        {"time~4:16/s node:8", "tick", "0x1234", "432100"},
        {"time~8:32/s node:8", "tick", "0x12345678", "7856341200"},
        {"time~16:32/s node:8", "tick", "0x12345678", "5678123400"},
        {"node@8:8 time:8/s node@0:8", "node", "0xabcd", "ab00cd"},
        {"node@0:8 time:8/s node@8:8", "node", "0xabcd", "cd00ab"},
        {"node@4~4:8 time:8/s node@0:4", "node", "0xabc", "ba00c"},
        {"node~4@4:8 time:8/s node@0:4", "node", "0xabc", "ba00c"},
        {"time:32/s random:128", "random", "0x0123456789abcdef0011223344556677",
         "000000000123456789abcdef0011223344556677"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        char text[FIRN_TEXT_SIZE];
        firn_scheme scheme;
        firn_error error = {0};
        firn_fields fields = {0, {{0, 0}}};
        assert_int_equal(firn_scheme_make(&scheme, known[i].row, NULL, NULL, NULL, &error),
                         FIRN_OK);
        assert_int_equal(firn_fields_set(&fields, &scheme, known[i].field, known[i].value, &error),
                         FIRN_OK);
        fields.given = nothing(&scheme).given;
        firn_id id = packed(&scheme, &fields);
        assert_string_equal(firn_format(text, &id, FIRN_FORM_HEX), known[i].hex);
    }
}

static void users_rows_sort_and_bound_as_they_are_laid_out(void **state) {
    static const struct {
        const char *row;
        int sorts;
    } known[] = {
        {"0x0:1 time:41/ms node:4 sequence:18", FIRN_SORTS_YES},
        {"node:8 time:40/ms sequence:16", FIRN_SORTS_PER_NODE},
        {"time:40/ms counter:24", FIRN_SORTS_BY_TICK},
        {"time:40/ms random:40", FIRN_SORTS_BY_TICK},
        {"time~1:40/ms node:24", FIRN_SORTS_NO},
        {"time@0:20/ms time@20:20 node:24", FIRN_SORTS_NO},
        {"time@20:20/ms node:24 time@0:20", FIRN_SORTS_NO},
        {"time@20:20/ms version=1:4 time@0:20 node:20", FIRN_SORTS_YES},
        {"counter:16 time:40/ms node:8",
         FIRN_SORTS_NO}, /* nobody can pin what differs from ID to ID */
        {"sequence:16 time:40/ms node:8", FIRN_SORTS_NO},
        {"random:40 time:40/ms", FIRN_SORTS_NO},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        firn_scheme scheme;
        firn_id least, greatest;
        assert_int_equal(firn_scheme_make(&scheme, known[i].row, NULL, NULL, NULL, NULL), FIRN_OK);
        if (scheme.sorts != known[i].sorts) {
            fail_msg("%s: sorts is %d", known[i].row, scheme.sorts);
        }
        if (scheme.sorts == FIRN_SORTS_NO) {
            firn_time end = back_by(scheme.epoch, -5000000000);
            assert_int_equal(
                firn_range(&least, &greatest, &scheme, NULL, &scheme.epoch, &end, NULL),
                FIRN_EUNSORTED);
            continue;
        }
        for (int n = 0; n < 50; n++) {
            uint64_t first = chance() % 1000000;
            bound_once(&scheme, first, first + 1 + chance() % 1000000);
        }
    }
}

static void bad_rows_are_refused_in_one_line(void **state) {
    static const char *const rows[] = {
        "",
        " ",
        "snowflak",
        "time",
        "time:",
        "time:0 node:64",
        "time:x node:64",
        ":41 node:23",
        "time:41/min node:10 sequence:12", /* no such tick */
        "time:41/ node:23",
        "time:41/msx node:23",
        "time:41/ms no{de:23",
        "time:41/ms node=:23",
        "time:41/ms 0y:23",
        "time:41/ms 0x1:65 node:23", /* a constant of more than 64 bits */
        "time:41/ms@@-40000-01-01T00:00:00Z node:23",
        "time:41/MS node:23",
        "time:41/ms@@ node:23",
        "time:41/ms@@yesterday node:23",
        "time:41/ms@2024 node:23",
        "time:41/ms@@2024-13-01T00:00:00Z node:23",
        "node:10/ms time:41",
        "node:10x time:41",
        "node:10:3 time:41",
        "time:41/ms node:65 sequence:20",
        "time:4/s node:156",                     /* a node of more than 64 bits */
        "random@128:32 time:64/ms random@64:64", /* a field has 128 bits at most */
        "time:16~1/s node:16",
        "time:64/ms node:64 sequence:33", /* 161 bits */
        "time:41/ms node:64 worker:64",   /* 169 bits */
        "time:65/ms node:8",
        "time:129/ms",
        "time:1000/ms",
        "time@64:1 time@0:64",
        "time:41/ms sequence:41",
        "time:41/ms counter:41",
        "a@0:8 a@4:8 time:8",
        "a:8 a:8 time:8", /* duplicate bits */
        "a@8:8 b:8 time:8",
        "a@1:7 time:8",
        "a@0:4 a@5:3 time:8", /* bits that are missing */
        "time@20:21/ms node:23",
        "time@0:20/ms time@21:20 node:23",
        "time~5:42 node:22",
        "time~43:42 node:22",
        "a~3:8 time:8",
        "a~2:7 time:8",
        "random~2:128",
        "a~:8 time:8",
        "a@:8 time:8",
        "a@x:8 time:8",
        "a~-1:8 time:8",
        "a@200:8 time:8",
        "0x2:1 time:41",
        "0x:4 time:8",
        "0xg:4 time:8",
        "version=16:4 time:8",
        "version=:4 time:8",
        "version=-1:4 time:8",
        "0x10000000000000000:65 time:8",
        "0x1ffffffffffffffff:64 time:8",
        "a:1 b:1 c:1 d:1 e:1 f:1 g:1 h:1 i:1 j:1 k:1 l:1 time:8", /* thirteen slices */
        "a_name_of_sixteen:8 time:8",
        "1st:8 time:8",
        "a-b:8 time:8",
        "n\xc3\xb6te:8 time:8",
        "a:8,time:8",
        "a:8\ttime:8",
        "a:8\ntime:8",
        "time:41 = node:4",
        "a@127:2 time:8", /* bits beyond the field's 128 */
        "a@:8",           /* no number */
        "a_name_of_15_cha:8 time:8",
        "0x1ffffffffffffffffffffff:64 time:8", /* longer than any constant */
        "time:8/s@@33659-01-01T00:00:00Z",     /* more than 31,688 years after 1970 */
        "time:8/s@@-31000-01-01T00:00:00Z",
        "time :41 node:23",
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        firn_scheme scheme = {.bits = 4711};
        firn_error error = {0};
        int code = firn_scheme_make(&scheme, rows[i], NULL, NULL, NULL, &error);
        if (code == FIRN_OK) {
            fail_msg("'%s' is taken", rows[i]);
        }
        error_text(rows[i], code, &error);
        assert_true(code == FIRN_EUSAGE || code == FIRN_ERANGE || code == FIRN_ETEXT);
        assert_int_equal(scheme.bits, 4711); /* untouched on failure */
        assert_int_equal(firn_scheme_make(&scheme, rows[i], NULL, NULL, NULL, NULL), code);
    }
}

static void the_nearest_name_is_reported(void **state) {
    static const struct {
        const char *text, *near;
    } known[] = {{"snowflak", "snowflake"}, {"uuid11", "uuid1"}, {"objectId", "objectid"},
                 {"ksuidd", "ksuid"},       {"uuid", "uuid7"},   {"GUID", "uuid7"}};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        firn_scheme scheme;
        firn_error error = {0};
        assert_int_equal(firn_scheme_make(&scheme, known[i].text, NULL, NULL, NULL, &error),
                         FIRN_EUSAGE);
        assert_non_null(strstr(error.text, known[i].near));
    }
}

static void a_name_is_near_within_a_few_edits(void **state) {
    static const char *const names[] = {"time", "sequence", "node", NULL};
    static const struct {
        const char *name, *near;
    } known[] = {{"time", "time"},
                 {"tiem", "time"}, /* two neighbours swapped are one edit */
                 {"SEQUENCE", "sequence"},
                 {"sqeunece", "sequence"},
                 {"nod", "node"},
                 {"nodes", "node"},
                 {"", NULL},
                 {"x", NULL},
                 {"worker", NULL},
                 {"a name that has more characters than any", NULL}};
    static const char *const wide[] = {"a name that has more characters than any", NULL};
    static const char *const none[] = {NULL};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const char *near = firn_nearest(known[i].name, names);
        if (known[i].near == NULL) {
            assert_null(near);
        } else {
            assert_string_equal(near, known[i].near);
        }
    }
    assert_null(firn_nearest("a name", wide));
    assert_null(firn_nearest("time", none));
}

static void each_error_has_a_name_and_a_sentence(void **state) {
    (void)state;
    for (int code = FIRN_EFULL; code <= FIRN_OK; code++) {
        assert_string_not_equal(firn_errname(code), "?");
        assert_string_not_equal(firn_strerror(code), firn_strerror(1));
        for (int other = FIRN_EFULL; other < code; other++) {
            assert_string_not_equal(firn_errname(code), firn_errname(other));
            assert_string_not_equal(firn_strerror(code), firn_strerror(other));
        }
    }
    assert_string_equal(firn_errname(FIRN_EFULL - 1), "?");
    assert_string_equal(firn_strerror(FIRN_EFULL - 1), firn_strerror(1));
    assert_string_equal(firn_version(), FIRN_VERSION);
}

static void a_name_needs_a_scheme_and_a_space(void **state) {
    static const struct {
        const char *scheme, *space, *words;
    } rows[] = {{"uuid4", "dns", "uuid4 is not made from a name: use uuid3 or uuid5"},
                {"snowflake", "dns", "snowflake is not made from a name"},
                {"uuid5", "DNS", "namespace=DNS is not valid: use dns, url, oid, x500 or a UUID"},
                {"uuid3", "", "namespace= is not valid"},
                {"uuid3", "6ba7b810-9dad-11d1-80b4-00c04fd430c", "is not valid"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        firn_id id = {1, 2, 3, 4};
        firn_error error = {0};
        int code =
            firn_digest(&id, firn_scheme_find(rows[i].scheme), rows[i].space, "a", 1, &error);
        assert_int_equal(code, FIRN_EUSAGE);
        error_text(rows[i].scheme, code, &error);
        assert_non_null(strstr(error.text, rows[i].words));
        assert_true(id.low == 1 && id.high == 2 && id.top == 3 && id.bits == 4);
    }
}

/* RFC 9562, appendix A, has these UUIDs. */
static void a_space_has_a_name_and_a_uuid(void **state) {
    static const struct {
        const char *name, *uuid;
    } rows[] = {{"dns", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"},
                {"url", "6ba7b811-9dad-11d1-80b4-00c04fd430c8"},
                {"oid", "6ba7b812-9dad-11d1-80b4-00c04fd430c8"},
                {"x500", "6ba7b814-9dad-11d1-80b4-00c04fd430c8"}};
    const firn_scheme *scheme = firn_scheme_find("uuid5");
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        firn_id named, given;
        assert_int_equal(firn_digest(&named, scheme, rows[i].name, "a", 1, NULL), FIRN_OK);
        assert_int_equal(firn_digest(&given, scheme, rows[i].uuid, "a", 1, NULL), FIRN_OK);
        assert_int_equal(firn_id_cmp(&named, &given), 0);
    }
}

static void a_constant_is_shown_and_a_wrong_one_not_converted(void **state) {
    char value[FIRN_VALUE_SIZE];
    const firn_scheme *scheme = firn_scheme_find("uuid1");
    const firn_fields fields = {0, {{0, 0}}};
    const firn_id wrong = {0, 0, 0, 128};
    firn_id out = {1, 2, 3, 4};
    firn_error error = {0};
    (void)state;
    const int version = firn_scheme_field(scheme, "version");
    assert_string_equal(firn_fields_get(value, &fields, scheme, (uint32_t)version), "1");
    assert_true(firn_convert(&out, firn_scheme_find("uuid6"), &wrong, scheme, &error) < 0);
    assert_true(out.low == 1 && out.bits == 4);
}

static void epoch_and_widths_can_be_changed(void **state) {
    char text[FIRN_TIME_SIZE];
    firn_scheme scheme;
    firn_error error = {0};
    firn_time end;
    (void)state;
    assert_int_equal(firn_scheme_make(&scheme, "baidu", NULL, "29/21/13", NULL, &error), FIRN_OK);
    assert_true(firn_scheme_end(&scheme, false, &end));
    assert_string_equal(firn_time_format(text, &end, 0), "2033-05-24T10:48:32Z");
    all_round_trips(&scheme);
    assert_int_equal(
        firn_scheme_make(&scheme, "baidu", "2026-01-01T00:00:00Z", "31/23/9", NULL, &error),
        FIRN_OK);
    assert_true(firn_scheme_end(&scheme, true, &end));
    assert_string_equal(firn_time_format(text, &end, 0), "2094-01-19T03:14:08Z");
    assert_int_equal(firn_scheme_make(&scheme, "sonyflake", "@1735689600", NULL, NULL, &error),
                     FIRN_OK);
    assert_true(scheme.epoch.sec == 1735689600 && scheme.epoch.ns == 0);
    assert_int_equal(firn_scheme_make(&scheme, "sonyflake", "2025-01-01", NULL, NULL, &error),
                     FIRN_OK);
    assert_true(scheme.epoch.sec == 1735689600 && scheme.epoch.ns == 0);
    assert_int_equal(firn_scheme_make(&scheme, "time:41/ms@@2024-01-01 node:10 sequence:12", NULL,
                                      NULL, NULL, &error),
                     FIRN_OK);
    assert_true(scheme.epoch.sec == 1704067200 && scheme.epoch.ns == 0);
    assert_int_equal(firn_scheme_make(&scheme, "snowflake", NULL, "41/0/10/12", NULL, &error),
                     FIRN_EUSAGE);
    static const struct {
        const char *name, *epoch, *bits;
        int code;
    } bad[] = {
        {"baidu", NULL, "29/21/14", FIRN_ERANGE},   {"baidu", NULL, "28/22", FIRN_EUSAGE},
        {"baidu", NULL, "28/22/12/1", FIRN_EUSAGE}, {"baidu", NULL, "", FIRN_EUSAGE},
        {"baidu", NULL, "a/b/c", FIRN_EUSAGE},      {"baidu", NULL, "28 22 13", FIRN_EUSAGE},
        {"baidu", NULL, "-28/22/13", FIRN_EUSAGE},  {"uuid1", NULL, "60/14/48", FIRN_EUSAGE},
        {"baidu", NULL, "1/22/40/", FIRN_EUSAGE},   {"locality", NULL, "32/16/28/48", FIRN_EUSAGE},
        {"uuid4", "@0", NULL, FIRN_EUSAGE},         {"baidu", "soon", NULL, FIRN_ETEXT}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int code = firn_scheme_make(&scheme, bad[i].name, bad[i].epoch, bad[i].bits, NULL, &error);
        error_text(bad[i].bits != NULL ? bad[i].bits : bad[i].name, code, &error);
        if (code != bad[i].code && !(code == FIRN_ERANGE && bad[i].code == FIRN_EUSAGE)) {
            fail_msg("bits=%s: code %d", bad[i].bits, code);
        }
    }
}

/* No tick of any layout is past the end of 64-bit seconds. */
static void seconds_end_where_instants_do(void **state) {
    static const struct {
        const char *row, *epoch, *bits;
        bool fits;
    } rows[] = {{"time:64/s a:4", NULL, NULL, false},
                {"time:64/s@@2030-01-01", NULL, NULL, false},
                {"time:63/s@@2024-01-01 a:4", NULL, NULL, false},
                {"time:63/s a:4", NULL, NULL, false}, /* its end would be 2^63 */
                {"time:63/s@@1969-12-31T23:59:58Z a:4", NULL, NULL, true},
                {"time:63/s@@1969-12-31T23:59:59Z a:4", NULL, NULL, false},
                {"time:63/s@@1970-01-01 a:4", "1000-01-01", NULL, true},
                {"time:62/s a:4", "+33000-01-01T00:00:00Z", NULL, true},
                {"a:1 time:62/s b:1", NULL, "1/62/1", true},
                {"a:1 time:62/s b:8", NULL, "1/64/6", false},
                {"a:1 time:62/s b:8", NULL, "1/63/7", false},
                {"time:64/10ms@@+33000-01-01T00:00:00Z a:4", NULL, NULL, true},
                {"time:64/ms a:4", NULL, NULL, true}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        firn_scheme scheme;
        firn_error error = {0};
        firn_time last;
        char text[FIRN_TIME_SIZE];
        int code =
            firn_scheme_make(&scheme, rows[i].row, rows[i].epoch, rows[i].bits, NULL, &error);
        if (code != (rows[i].fits ? FIRN_OK : FIRN_ERANGE)) {
            fail_msg("%s: %s", rows[i].row, firn_errname(code));
        }
        if (!rows[i].fits) {
            assert_non_null(strstr(error.text, "at most 62"));
            continue;
        }
        uint32_t time = (uint32_t)time_slice(&scheme);
        firn_scheme_time(&scheme, most_of(&scheme, time).low, &last);
        assert_true(firn_time_cmp(&last, &scheme.epoch) > 0);
        firn_time_format(text, &last, 0);
        assert_true(text[0] == '+' || text[0] == '2');
        bool stops = firn_scheme_end(&scheme, true, &last);
        assert_true(!stops || firn_time_cmp(&last, &scheme.epoch) > 0);
    }
    firn_scheme scheme; /* and a tick outside the layout does not wrap */
    firn_time time;
    assert_int_equal(firn_scheme_make(&scheme, "time:40/s a:4", NULL, NULL, NULL, NULL), FIRN_OK);
    firn_scheme_time(&scheme, UINT64_MAX, &time);
    assert_true(time.sec == INT64_MAX && time.ns == 999999999);
}

/* Times are 0 to 999999999 ns after a second: other values neither carry nor shift the time. */
static void nanoseconds_out_of_range_are_refused(void **state) {
    static const int32_t bad[] = {-1, 1000000000, 2000000000, INT32_MIN, INT32_MAX};
    (void)state;
    EACH_ROW(scheme) {
        firn_time end = {1800000000, 5};
        for (size_t i = 0; i < sizeof bad / sizeof bad[0] && scheme->tick_ns > 0; i++) {
            firn_time time = {1700000000, bad[i]};
            firn_error error = {0};
            uint64_t tick = 77;
            firn_id low, high;
            assert_int_equal(firn_scheme_tick(scheme, &time, &tick, &error), FIRN_ERANGE);
            assert_non_null(strstr(error.text, "999999999"));
            assert_int_equal(tick, 77);
            int from = firn_range(&low, &high, scheme, NULL, &time, &end, &error);
            int to = firn_range(&low, &high, scheme, NULL, &scheme->epoch, &time, &error);
            assert_true(from == FIRN_ERANGE || from == FIRN_EUNSORTED);
            assert_true(to == FIRN_ERANGE || to == FIRN_EUNSORTED);
        }
    }
}

/* ---- conversions ---------------------------------------------------------------------------- */

/* RFC 9562's example of the same content in versions 1 and 6, and MySQL's order of the bytes. */
static void uuid1_uuid6_and_swapped_are_one(void **state) {
    static const struct {
        const char *scheme;
        int form;
        const char *text;
    } same[] = {{"uuid1", FIRN_FORM_UUID, "c232ab00-9414-11ec-b3c8-9f6bdeced846"},
                {"uuid6", FIRN_FORM_UUID, "1ec9414c-232a-6b00-b3c8-9f6bdeced846"},
                {"uuid1-swapped", FIRN_FORM_HEX, "11ec9414c232ab00b3c89f6bdeced846"}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        const firn_scheme *from = firn_scheme_find(same[i].scheme);
        firn_id id;
        assert_int_equal(
            firn_parse(&id, same[i].form, 128, same[i].text, strlen(same[i].text), NULL), FIRN_OK);
        for (size_t j = 0; j < 3; j++) {
            char text[FIRN_TEXT_SIZE];
            const firn_scheme *to = firn_scheme_find(same[j].scheme);
            firn_id out, back;
            assert_int_equal(firn_convert(&out, to, &id, from, NULL), FIRN_OK);
            assert_string_equal(firn_format(text, &out, same[j].form), same[j].text);
            for (int n = 0; n < 100; n++) {
                firn_fields fields = anything(from);
                firn_id any = packed(from, &fields);
                assert_int_equal(firn_convert(&out, to, &any, from, NULL), FIRN_OK);
                assert_int_equal(firn_convert(&back, from, &out, to, NULL), FIRN_OK);
                assert_int_equal(firn_id_cmp(&any, &back), 0);
            }
        }
    }
}

static void unlike_schemes_do_not_convert(void **state) {
    static const char *const pairs[][2] = {{"uuid1", "uuid7"},
                                           {"uuid7", "uuid1"},
                                           {"uuid1", "uuid4"},
                                           {"snowflake", "leaf"},
                                           {"objectid", "objectid-legacy"},
                                           {"tsid", "discord"},
                                           {"ulid", "uuid7"},
                                           {"ulid", "pushid"},
                                           {"uuid6", "uuid2"}};
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const firn_scheme *from = firn_scheme_find(pairs[i][0]),
                          *to = firn_scheme_find(pairs[i][1]);
        firn_fields fields = anything(from);
        firn_error error = {0};
        firn_id id = packed(from, &fields), out = {1, 2, 3, 4};
        int code = firn_convert(&out, to, &id, from, &error);
        assert_int_equal(code, FIRN_EUSAGE);
        error_text(pairs[i][0], code, &error);
        assert_true(out.low == 1 && out.high == 2 && out.top == 3 && out.bits == 4);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(sentence, function) {sentence, function, start_over, NULL, NULL}
        TEST("the widths of every row add up", widths_add_up),
        TEST("the rows equal the design", rows_equal_the_design),
        TEST("fields make the ID that the row says, and come back", every_row_packs_and_reads),
        TEST("every ID comes back from its fields", every_id_reads_and_packs),
        TEST("a wrong constant is a mismatch", a_wrong_constant_is_a_mismatch),
        TEST("a field one past its end is refused", a_field_one_past_its_end_is_refused),
        TEST("fields are set once, by their names", fields_are_set_once_by_their_names),
        TEST("the fields of a long row are listed", the_fields_of_a_long_row_are_listed),
        TEST("values are read strictly", values_are_read_strictly),
        TEST("layouts end when the table says", layouts_end_when_the_table_says),
        TEST("ticks are cut towards the past", ticks_are_cut_towards_the_past),
        TEST("a tick is shown with as many digits as it needs", a_tick_needs_as_many_digits),
        TEST("later slots are greater IDs where the row sorts", later_slots_are_greater_ids),
        TEST("what does not sort says so", what_does_not_sort_says_so),
        TEST("bounds hold exactly the IDs between two instants",
             bounds_hold_exactly_the_ids_between),
        TEST("bounds refuse what they cannot hold", bounds_refuse_what_they_cannot_hold),
        TEST("a row written as text is the same row", a_row_as_text_is_the_same_row),
        TEST("rows of a user's own pack and read", rows_of_the_users_own),
        TEST("mirrored and split fields are in the right places",
             mirrored_and_split_fields_are_in_the_right_places),
        TEST("a user's row sorts as it is laid out",
             users_rows_sort_and_bound_as_they_are_laid_out),
        TEST("bad rows are refused in one line", bad_rows_are_refused_in_one_line),
        TEST("the nearest name is reported", the_nearest_name_is_reported),
        TEST("a name is near within a few edits", a_name_is_near_within_a_few_edits),
        TEST("each error has a name and a sentence", each_error_has_a_name_and_a_sentence),
        TEST("what is made from a name needs a scheme and a space for it",
             a_name_needs_a_scheme_and_a_space),
        TEST("a space has a name and a UUID", a_space_has_a_name_and_a_uuid),
        TEST("a constant is shown, and a wrong one not converted",
             a_constant_is_shown_and_a_wrong_one_not_converted),
        TEST("epoch and widths of a row can be changed", epoch_and_widths_can_be_changed),
        TEST("seconds end where instants do", seconds_end_where_instants_do),
        TEST("nanoseconds out of range are refused", nanoseconds_out_of_range_are_refused),
        TEST("uuid1, uuid6 and uuid1-swapped are one content", uuid1_uuid6_and_swapped_are_one),
        TEST("unlike schemes do not convert", unlike_schemes_do_not_convert),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
