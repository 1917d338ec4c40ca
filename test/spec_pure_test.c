/* SPDX-License-Identifier: MIT */
/* The cases of spec/ against the library: every file, every case, in both directions.
 * spec/README.md describes them. Without modules, masks and order numbers are left out. */
#include <firn/firn.h>

#include <dirent.h>
#include <inttypes.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int wrong;

/* Counts a case that does not hold, and prints it. */
static bool holds(const json_t *file, const json_t *item, bool truth, const char *what) {
    if (!truth) {
        char *text = json_dumps(item, JSON_ENCODE_ANY);
        print_message("# %s: %s: %s\n", json_string_value(json_object_get(file, "scheme")), what,
                      text);
        free(text);
        wrong++;
    }
    return truth;
}

static const char *string_of(const json_t *file, const json_t *item, const char *name) {
    const char *own = json_string_value(json_object_get(item, name));
    return own != NULL ? own : json_string_value(json_object_get(file, name));
}

/* How many random digits the layout of a time-random has: the only number whose scheme has this
 * layout. */
static int digits_of(const firn_scheme *listed, const char *layout) {
    for (int digits = 1; digits <= 18; digits++) {
        char text[FIRN_LAYOUT_SIZE], number[4];
        firn_scheme made;
        snprintf(number, sizeof number, "%d", digits);
        assert_int_equal(firn_scheme_make(&made, listed->name, NULL, NULL, number, NULL), FIRN_OK);
        if (strcmp(firn_scheme_layout(text, &made), layout) == 0) {
            return digits;
        }
    }
    fail_msg("no number of digits has the layout %s", layout);
    return 0;
}

/* The scheme of firn's list; for a case with a custom layout, one made from that layout. */
static firn_scheme scheme_of(const json_t *file, const json_t *item) {
    const char *name = json_string_value(json_object_get(file, "scheme"));
    const char *layout = json_string_value(json_object_get(item, "layout"));
    const firn_scheme *listed = firn_scheme_find(name);
    firn_scheme made;
    firn_error error;
    if (listed == NULL) {
        fail_msg("there is no scheme %s", name);
        abort();
    }
    if (layout != NULL && listed->form == FIRN_FORM_DATED) {
        char digits[4]; /* a layout alone has no decimal digits */
        snprintf(digits, sizeof digits, "%d", digits_of(listed, layout));
        assert_int_equal(firn_scheme_make(&made, name, NULL, NULL, digits, &error), FIRN_OK);
    } else if (layout != NULL &&
               firn_scheme_make(&made, layout, NULL, NULL, NULL, &error) != FIRN_OK) {
        fail_msg("%s: %s: %s", name, layout, error.text);
    }
    return layout != NULL ? made : *listed;
}

static firn_time time_of(const json_t *item, const char *name) {
    const char *text = json_string_value(json_object_get(item, name));
    firn_time time = {0, 0};
    assert_non_null(text);
    assert_int_equal(firn_time_parse(&time, text, strlen(text), NULL), FIRN_OK);
    return time;
}

static int pack(firn_id *id, firn_fields *fields, const firn_scheme *scheme, const json_t *values) {
    const char *name;
    json_t *value;
    memset(fields, 0, sizeof *fields);
    json_object_foreach((json_t *)values, name, value) {
        int code = firn_fields_set(fields, scheme, name, json_string_value(value), NULL);
        if (code != FIRN_OK) {
            return code;
        }
    }
    return firn_pack(id, scheme, fields, NULL);
}

static int read_text(firn_id *id, firn_fields *fields, const firn_scheme *scheme, int form,
                     const char *text) {
    int code = firn_parse(id, form, scheme->bits, text, strlen(text), NULL);
    return code == FIRN_OK ? firn_unpack(fields, scheme, id, NULL) : code;
}

static bool equal_fields(const firn_scheme *scheme, const firn_fields *a, const firn_fields *b) {
    bool equal = a->given == b->given;
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        equal = equal && a->value[i].low == b->value[i].low && a->value[i].high == b->value[i].high;
    }
    return equal;
}

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static void check_bytes(const json_t *file, const json_t *item, const firn_id *id) {
    char hex[41] = "";
    uint8_t bytes[20];
    size_t size = firn_id_bytes(bytes, id);
    for (size_t i = 0; i < size; i++) {
        snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
    }
    holds(file, item, strcmp(hex, string_of(file, item, "bytes")) == 0, "other bytes");
}

static void check_valid(const json_t *file, const json_t *item) {
    char text[FIRN_TEXT_SIZE], tick[24];
    firn_scheme scheme = scheme_of(file, item);
    int form = firn_form_find(string_of(file, item, "form"));
    const char *want = string_of(file, item, "text");
    const char *also = json_string_value(json_object_get(item, "also"));
    firn_fields fields, back;
    firn_id id, read;
    if (!holds(file, item, pack(&id, &fields, &scheme, json_object_get(item, "fields")) == FIRN_OK,
               "not packed")) {
        return;
    }
    firn_format(text, &id, form);
    holds(file, item, form == FIRN_FORM_TYPEID ? ends_with(want, text) : strcmp(text, want) == 0,
          "other text");
    check_bytes(file, item, &id);
    holds(file, item,
          read_text(&read, &back, &scheme, form, also != NULL ? also : want) == FIRN_OK &&
              firn_id_cmp(&read, &id) == 0 && equal_fields(&scheme, &back, &fields),
          "read differently");
    if (json_object_get(item, "tick") != NULL) {
        snprintf(tick, sizeof tick, "%" PRIu64,
                 fields.value[firn_scheme_field(&scheme, "time")].low);
        holds(file, item, strcmp(tick, string_of(file, item, "tick")) == 0, "other tick");
    }
}

static void check_invalid(const json_t *file, const json_t *item) {
    firn_scheme scheme = scheme_of(file, item);
    const json_t *values = json_object_get(item, "fields");
    firn_fields fields;
    firn_id id;
    int code = values != NULL
                   ? pack(&id, &fields, &scheme, values)
                   : read_text(&id, &fields, &scheme, firn_form_find(string_of(file, item, "form")),
                               string_of(file, item, "text"));
    holds(file, item, code < 0, "accepted");
}

static void check_range(const json_t *file, const json_t *item) {
    char text[FIRN_TEXT_SIZE];
    firn_scheme scheme = scheme_of(file, item);
    firn_time from = time_of(item, "from"), to = time_of(item, "to");
    firn_id least, greatest;
    if (holds(file, item, firn_range(&least, &greatest, &scheme, NULL, &from, &to, NULL) == FIRN_OK,
              "no range")) {
        firn_format(text, &least, scheme.form);
        holds(file, item, strcmp(text, string_of(file, item, "least")) == 0, "another least ID");
        firn_format(text, &greatest, scheme.form);
        holds(file, item, strcmp(text, string_of(file, item, "greatest")) == 0,
              "another greatest ID");
    }
}

static void check_pair(const json_t *file, const json_t *item) {
    firn_scheme scheme = scheme_of(file, NULL);
    const char *first = json_string_value(json_array_get(item, 0));
    const char *second = json_string_value(json_array_get(item, 1));
    firn_fields fields;
    firn_id a, b;
    holds(file, item,
          read_text(&a, &fields, &scheme, scheme.form, first) == FIRN_OK &&
              read_text(&b, &fields, &scheme, scheme.form, second) == FIRN_OK &&
              firn_id_cmp(&a, &b) < 0,
          "not in order");
}

static void check_convert(const json_t *file, const json_t *item) {
    static const char *const names[] = {"uuid1", "uuid6", "uuid1-swapped"};
    char text[FIRN_TEXT_SIZE];
    for (int i = 0; i < 9; i++) {
        const firn_scheme *from = firn_scheme_find(names[i / 3]),
                          *to = firn_scheme_find(names[i % 3]);
        const char *in = string_of(file, item, names[i / 3]),
                   *out = string_of(file, item, names[i % 3]);
        firn_id id, converted;
        if (in != NULL && out != NULL) {
            holds(file, item,
                  firn_parse(&id, from->form, 128, in, strlen(in), NULL) == FIRN_OK &&
                      firn_convert(&converted, to, &id, from, NULL) == FIRN_OK &&
                      strcmp(firn_format(text, &converted, to->form), out) == 0,
                  "converted differently");
        }
    }
}

static void check_digest(const json_t *file, const json_t *item) {
    static const char *const names[] = {"uuid3", "uuid5"};
    char text[FIRN_TEXT_SIZE];
    uint8_t name[512];
    const char *hex = string_of(file, item, "name_hex");
    size_t size = strlen(hex) / 2;
    assert_true(size <= sizeof name);
    for (size_t i = 0; i < size; i++) {
        char two[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        name[i] = (uint8_t)strtoul(two, NULL, 16);
    }
    for (int i = 0; i < 2; i++) {
        firn_id id;
        holds(file, item,
              firn_digest(&id, firn_scheme_find(names[i]), string_of(file, item, "namespace"), name,
                          size, NULL) == FIRN_OK &&
                  strcmp(firn_format(text, &id, FIRN_FORM_UUID), string_of(file, item, names[i])) ==
                      0,
              names[i]);
    }
}

static void check_locality_start(const json_t *file, const json_t *item) {
    char text[24];
    firn_time time = time_of(item, "time");
    snprintf(text, sizeof text, "%" PRIu32, firn_locality_start(&time));
    holds(file, item, strcmp(text, string_of(file, item, "counter")) == 0, "another counter");
}

#ifndef FIRN_PURE /* FF1 is a module */
static void check_order(const json_t *file, const json_t *item) {
    char keys[160], text[FIRN_ORDER_SIZE];
    const char *hex = string_of(file, item, "key"), *tweak = string_of(file, item, "tweak");
    const json_t *key_id = json_object_get(item, "key_id");
    uint64_t integer = strtoull(string_of(file, item, "integer"), NULL, 10), back = 0;
    int used = snprintf(keys, sizeof keys, "digits=%d check=%d",
                        (int)json_integer_value(json_object_get(item, "digits")),
                        (int)json_integer_value(json_object_get(item, "check")));
    if (key_id != NULL) {
        used += snprintf(keys + used, sizeof keys - (size_t)used, " key_id=%d",
                         (int)json_integer_value(key_id));
    }
    snprintf(keys + used, sizeof keys - (size_t)used, "%s%s", tweak[0] != '\0' ? " tweak=" : "",
             tweak);
    firn_order *order;
    firn_error error;
    firn_id key;
    uint8_t bytes[20];
    assert_int_equal(firn_parse(&key, FIRN_FORM_HEX, 128, hex, strlen(hex), NULL), FIRN_OK);
    firn_id_bytes(bytes, &key);
    if (firn_order_open(&order, keys, bytes, FIRN_BUILD_DIR "/firn", &error) != FIRN_OK) {
        fail_msg("%s: %s", keys, error.text);
    }
    const char *want = string_of(file, item, "text");
    holds(file, item,
          firn_order_write(order, text, integer, NULL) == FIRN_OK && strcmp(text, want) == 0,
          "another number");
    holds(file, item,
          firn_order_read(order, &back, want, strlen(want), NULL) == FIRN_OK && back == integer,
          "read differently");
    firn_order_close(order);
}

static firn_id mask_id(const json_t *file, const json_t *item, const char *name) {
    const char *text = string_of(file, item, name);
    const bool uuid = strncmp(string_of(file, item, "width"), "uuid", 4) == 0;
    firn_id id;
    firn_error error;
    if (firn_parse(&id, uuid ? FIRN_FORM_UUID : FIRN_FORM_UNSIGNED, 128, text, strlen(text),
                   &error) != FIRN_OK) {
        fail_msg("%s: %s", text, error.text);
    }
    return id;
}

/* Texts with a MAC: as hex, so that every width has room. */
static void check_mac(const json_t *file, const json_t *item, const char *keys,
                      const uint8_t key[FIRN_MASK_KEY_SIZE]) {
    char all[200], text[FIRN_TEXT_SIZE], back[FIRN_TEXT_SIZE];
    const char *id = string_of(file, item, "id");
    const bool uuid = json_object_get(item, "version") != NULL;
    firn_mask *mask;
    firn_error error;
    snprintf(all, sizeof all, "%s mac=20 as=hex from=%s", keys, uuid ? "uuid" : "unsigned");
    if (firn_mask_open(&mask, all, key, FIRN_BUILD_DIR "/firn", &error) != FIRN_OK ||
        firn_mask_write(mask, text, id, strlen(id), &error) != FIRN_OK) {
        fail_msg("%s: %s", all, error.text);
    }
    const size_t length = strlen(text);
    holds(file, item,
          strcmp(firn_mask_fingerprint(mask), string_of(file, item, "fingerprint_mac")) == 0,
          "has another fingerprint with a MAC");
    holds(file, item, strcmp(text + length - 4, string_of(file, item, "mac")) == 0,
          "has another MAC");
    holds(file, item,
          firn_mask_read(mask, back, text, length, &error) == FIRN_OK && strcmp(back, id) == 0,
          "is not read with its MAC");
    text[length - 1] = text[length - 1] == '0' ? '1' : '0';
    holds(file, item, firn_mask_read(mask, back, text, length, &error) == FIRN_EMISMATCH,
          "is read with another MAC");
    firn_mask_close(mask);
}

/* Texts with a prefix and the number of the key: base58, with a MAC. */
static void check_prefix(const json_t *file, const json_t *item, const char *keys,
                         const uint8_t key[FIRN_MASK_KEY_SIZE]) {
    char all[200], text[FIRN_TEXT_SIZE], back[FIRN_TEXT_SIZE];
    const char *id = string_of(file, item, "id"), *wanted = string_of(file, item, "text");
    const bool uuid = json_object_get(item, "version") != NULL;
    firn_mask *mask;
    firn_error error;
    snprintf(all, sizeof all, "%s prefix=ord from=%s", keys, uuid ? "uuid" : "unsigned");
    if (firn_mask_open(&mask, all, key, FIRN_BUILD_DIR "/firn", &error) != FIRN_OK ||
        firn_mask_write(mask, text, id, strlen(id), &error) != FIRN_OK) {
        fail_msg("%s: %s", all, error.text);
    }
    holds(file, item, strcmp(text, wanted) == 0, "has another text with a prefix");
    holds(file, item,
          firn_mask_read(mask, back, wanted, strlen(wanted), &error) == FIRN_OK &&
              strcmp(back, id) == 0,
          "is not read with its prefix");
    firn_mask_close(mask);
}

static void check_mask(const json_t *file, const json_t *item) {
    char keys[160], version[16] = "";
    const char *hex = string_of(file, item, "key");
    const json_t *uuid = json_object_get(item, "version");
    const firn_id id = mask_id(file, item, "id");
    uint8_t key[FIRN_MASK_KEY_SIZE];
    firn_mask *mask;
    firn_error error;
    firn_id out;
    for (size_t i = 0; i < sizeof key; i++) {
        assert_int_equal(sscanf(hex + 2 * i, "%2hhx", &key[i]), 1);
    }
    if (uuid != NULL) {
        snprintf(version, sizeof version, " version=%d", (int)json_integer_value(uuid));
    }
    snprintf(keys, sizeof keys, "name=%s width=%s key_number=%d%s", string_of(file, item, "name"),
             string_of(file, item, "width"),
             (int)json_integer_value(json_object_get(item, "key_number")), version);
    if (firn_mask_open(&mask, keys, key, FIRN_BUILD_DIR "/firn", &error) != FIRN_OK) {
        fail_msg("%s: %s", keys, error.text);
    }
    if (json_object_get(item, "refused") != NULL) {
        holds(file, item, firn_mask_apply(mask, &out, &id, 1, NULL) != FIRN_OK, "is not refused");
    } else {
        const firn_id masked = mask_id(file, item, "masked");
        holds(file, item,
              firn_mask_apply(mask, &out, &id, 1, NULL) == FIRN_OK &&
                  firn_id_cmp(&out, &masked) == 0 && out.bits == firn_mask_bits(mask),
              "masked differently");
        holds(file, item,
              firn_mask_undo(mask, &out, &masked, 1, NULL) == FIRN_OK &&
                  firn_id_cmp(&out, &id) == 0,
              "unmasked differently");
        holds(file, item,
              strcmp(firn_mask_fingerprint(mask), string_of(file, item, "fingerprint")) == 0,
              "has another fingerprint");
        if (json_object_get(item, "mac") != NULL) {
            check_mac(file, item, keys, key);
        }
        if (json_object_get(item, "text") != NULL) {
            check_prefix(file, item, keys, key);
        }
    }
    firn_mask_close(mask);
}
#endif

static void check_guess(const json_t *file, const json_t *item) {
    firn_reading readings[FIRN_READINGS_MAX];
    const char *text = string_of(file, item, "text"), *scheme = string_of(file, item, "scheme");
    size_t count = firn_guess(readings, text, strlen(text), -1);
    holds(file, item,
          scheme == NULL ? count == 0 : count > 0 && strcmp(readings[0].scheme->name, scheme) == 0,
          "guessed differently");
}

static const struct {
    const char *name;
    void (*check)(const json_t *file, const json_t *item);
} groups[] = {
    {"valid", check_valid},     {"invalid", check_invalid},
    {"ranges", check_range},    {"pairs", check_pair},
    {"convert", check_convert}, {"digest", check_digest},
    {"guess", check_guess},     {"locality_start", check_locality_start},
#ifndef FIRN_PURE
    {"order", check_order},     {"mask", check_mask},
#endif
};

/* Checks a file's statements about its scheme: layout, form, order and end. */
static void check_scheme(const json_t *file) {
    static const char *const sorts[] = {"no", "per node", "by tick", "yes"};
    char layout[FIRN_LAYOUT_SIZE];
    firn_scheme scheme = scheme_of(file, NULL);
    const json_t *time = json_object_get(file, "time");
    firn_time end;
    holds(file, json_object_get(file, "layout"),
          strcmp(firn_scheme_layout(layout, &scheme), string_of(file, NULL, "layout")) == 0,
          "another layout");
    holds(file, json_object_get(file, "form"),
          firn_form_find(string_of(file, NULL, "form")) == scheme.form, "another form");
    holds(file, json_object_get(file, "sorts"),
          strcmp(sorts[scheme.sorts], string_of(file, NULL, "sorts")) == 0, "sorts differently");
    if (json_object_get(time, "refused") != NULL) {
        firn_time refused = time_of(time, "refused");
        holds(file, time,
              firn_scheme_end(&scheme, true, &end) && firn_time_cmp(&end, &refused) == 0,
              "ends at another time");
    }
}

static size_t check_file(const char *name) {
    char path[512];
    json_error_t error;
    size_t checked = 0;
    snprintf(path, sizeof path, FIRN_SOURCE_DIR "/spec/%s", name);
    json_t *file = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (file == NULL) {
        fail_msg("%s: %s", name, error.text);
    }
    if (json_object_get(file, "layout") != NULL) {
        check_scheme(file);
    }
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        size_t position;
        json_t *item;
        json_array_foreach(json_object_get(file, groups[i].name), position, item) {
            groups[i].check(file, item);
            checked++;
        }
    }
    json_decref(file);
    return checked;
}

static void every_case_holds(void **state) {
    DIR *folder = opendir(FIRN_SOURCE_DIR "/spec");
    size_t cases = 0, files = 0;
    (void)state;
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (ends_with(entry->d_name, ".json")) {
            cases += check_file(entry->d_name);
            files++;
        }
    }
    closedir(folder);
    print_message("# %zu cases in %zu files\n", cases, files);
    assert_true(cases > 2500);
    assert_int_equal(wrong, 0);
}

static void every_scheme_has_a_file(void **state) {
    (void)state;
    for (size_t i = 0; firn_scheme_at(i) != NULL; i++) {
        const firn_scheme *scheme = firn_scheme_at(i);
        char path[512];
        snprintf(path, sizeof path, FIRN_SOURCE_DIR "/spec/%s.json", scheme->name);
        FILE *in = fopen(path, "r");
        if (in == NULL) {
            fail_msg("%s has no file in spec/", scheme->name);
        } else {
            fclose(in);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_holds),
        cmocka_unit_test(every_scheme_has_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
