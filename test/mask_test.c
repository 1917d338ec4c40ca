/* SPDX-License-Identifier: MIT */
/* Masks: permutations that come back, in one call or many; what they refuse; what a masked ID still
 * shows. The known answers are in spec/mask.json. */
#include <firn/firn.h>

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../src/hkdf.h"
#include "chance.h"

#define MODULES FIRN_BUILD_DIR "/firn"

enum { MANY = 1000 };

/* Of UUIDv47, which takes 16 bytes. */
static const uint8_t sip_secret[FIRN_MASK_KEY_SIZE] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

static const uint8_t secret[FIRN_MASK_KEY_SIZE] = {1, 2, 3};

static firn_mask *opened_with(const char *keys, const uint8_t key[FIRN_MASK_KEY_SIZE]) {
    firn_mask *mask = NULL;
    firn_error error = {0};
    if (firn_mask_open(&mask, keys, key, MODULES, &error) != FIRN_OK) {
        fail_msg("%s: %s", keys, error.text);
    }
    return mask;
}

static firn_mask *opened(const char *keys) {
    return opened_with(keys, secret);
}

static void error_text(const firn_error *error, int code, const char *words) {
    if (error->code != code || strstr(error->text, words) == NULL ||
        strchr(error->text, '\n') != NULL) {
        fail_msg("expected %s '%s', got %s '%s'", firn_errname(code), words,
                 firn_errname(error->code), error->text);
    }
}

static firn_id integer(uint64_t value) {
    return (firn_id){value, 0, 0, 64};
}

static firn_id uuid(const char *text) {
    firn_id id;
    assert_int_equal(firn_parse(&id, FIRN_FORM_UUID, 128, text, strlen(text), NULL), FIRN_OK);
    return id;
}

static firn_id drawn(uint32_t bits) {
    firn_id id = {chance(), 0, 0, bits};
    if (bits < 64) {
        id.low >>= 64 - bits;
    } else if (bits > 64) {
        id.high = chance() >> (128 - bits);
    }
    return id;
}

static firn_id drawn_uuid(uint64_t version) {
    firn_id id = drawn(128);
    id.high = (id.high & ~(uint64_t)0xf000) | version << 12;
    id.low = id.low >> 2 | UINT64_C(2) << 62;
    return id;
}

/* ---- permutations ---------------------------------------------------------------------------- */

/* RFC 5869, A.3: no salt. It has 42 bytes; these are the first. */
static void keys_are_those_of_the_rfc(void **state) {
    static const uint8_t wanted[32] = {0x8d, 0xa4, 0xe7, 0x75, 0xa5, 0x63, 0xc1, 0x8f,
                                       0x71, 0x5f, 0x80, 0x2a, 0x06, 0x3c, 0x5a, 0x31,
                                       0xb8, 0xa1, 0x1f, 0x5c, 0x5e, 0xe1, 0x87, 0x9e,
                                       0xc3, 0x45, 0x4e, 0x5f, 0x3c, 0x73, 0x8d, 0x2d};
    uint8_t input[22], out[32];
    (void)state;
    memset(input, 0x0b, sizeof input);
    firn__hkdf(out, sizeof out, input, sizeof input, "", 0);
    assert_memory_equal(out, wanted, sizeof out);
}

/* Writes a key file, for its owner alone or others too. */
static const char *file_of(const char *text, mode_t mode) {
    static char path[300];
    const char *dir = getenv("TMPDIR");
    snprintf(path, sizeof path, "%.200s/mask_test.%d.key", dir != NULL ? dir : ".", (int)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

/* The secret key with some of its digits, and a number. */
static const char *key_file(int digits, mode_t mode) {
    char text[100];
    snprintf(text, sizeof text, "# mine\n\n 17 \t010203%0*d\r\n", digits - 6, 0);
    return file_of(text, mode);
}

static void unloaded(const char *keys, const char *path, const char *words) {
    firn_mask *mask = NULL;
    firn_error error = {0};
    assert_int_equal(firn_mask_load(&mask, keys, path, MODULES, &error), FIRN_EUSAGE);
    error_text(&error, FIRN_EUSAGE, words);
    assert_null(mask);
}

static void a_key_comes_from_a_file_too(void **state) {
    firn_mask *mask = NULL, *other = opened("name=orders width=uuid key_number=17");
    const firn_id id = uuid("017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
    firn_id out, same;
    char wide[1100] = "";
    (void)state;
    memset(wide, 'x', sizeof wide - 1);
    const char *path = key_file(64, 0600);
    assert_int_equal(firn_mask_load(&mask, "name=orders width=uuid", path, MODULES, NULL), FIRN_OK);
    assert_string_equal(firn_mask_fingerprint(mask), firn_mask_fingerprint(other));
    assert_int_equal(firn_mask_apply(mask, &out, &id, 1, NULL), FIRN_OK);
    assert_int_equal(firn_mask_apply(other, &same, &id, 1, NULL), FIRN_OK);
    assert_int_equal(firn_id_cmp(&out, &same), 0);
    assert_int_equal(firn_mask_form(mask, true), FIRN_FORM_UUID);
    firn_mask_close(mask);
    firn_mask_close(other);
    firn_mask *chosen = NULL;
    assert_int_equal(firn_mask_load(&chosen, "name=orders key_number=17", path, MODULES, NULL),
                     FIRN_OK);
    firn_mask_close(chosen);
    unloaded("name=orders key_number=18", path, "has no key 18, but 17: use key_number=17");
    unloaded(wide, path, "write at most");
    unloaded("name=orders", key_file(63, 0600), "contains no secret key");
    unloaded("name=orders", key_file(65, 0600), "contains no secret key");
    unloaded("name=orders", key_file(64, 0604), "chmod 600");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    unloaded("name=orders", path, "named pipe");
    assert_int_equal(unlink(path), 0);
    unloaded("name=orders", ".", "is not a file");
}

#define HEX "ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef012345678"

static void a_line_of_a_key_file_is_a_number_and_a_key(void **state) {
    static const char *const wrong[] = {
        HEX "9\n",       "1" HEX "9\n", "1:" HEX "9\n",         "1 " HEX "g\n",      "1 " HEX "@\n",
        "1 " HEX "G\n",  "1 " HEX "\n", "1 " HEX "99\n",        "1 " HEX "9 more\n", "x " HEX "9\n",
        "-1 " HEX "9\n", "1\n",         "1234567890 " HEX "9\n"};
    firn_mask *upper = NULL, *lower = NULL;
    firn_error error = {0};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        unloaded("name=orders", file_of(wrong[i], 0600), "contains no secret key");
    }
    const char *path = file_of("123456789 " HEX "9 \t\r", 0600);
    assert_int_equal(firn_mask_load(&upper, "name=orders", path, MODULES, NULL), FIRN_OK);
    (void)file_of("\t123456789\tabcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789",
                  0600);
    assert_int_equal(firn_mask_load(&lower, "name=orders", path, MODULES, NULL), FIRN_OK);
    assert_string_equal(firn_mask_fingerprint(upper), firn_mask_fingerprint(lower));
    firn_mask_close(upper);
    firn_mask_close(lower);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(firn_mask_load(&upper, "name=orders", "/proc/self/mem", MODULES, &error),
                     FIRN_EIO);
    error_text(&error, FIRN_EIO, "cannot read the key file /proc/self/mem: check the disk");
}

/* Each form that a prefix may precede comes back, and each other one is refused. */
static void a_prefix_goes_with_forms_of_letters_or_digits(void **state) {
    int with = 0, without = 0;
    (void)state;
    for (int form = 0; form < FIRN_FORM_COUNT; form++) {
        for (int prefixed = 0; prefixed < 2; prefixed++) {
            char keys[80], text[FIRN_TEXT_SIZE], back[FIRN_TEXT_SIZE];
            firn_mask *mask = NULL;
            firn_error error = {0};
            snprintf(keys, sizeof keys, "name=orders as=%s%s", firn_form_name(form),
                     prefixed ? " prefix=ord key_number=3" : "");
            if (firn_mask_open(&mask, keys, secret, MODULES, &error) != FIRN_OK) {
                error_text(&error, FIRN_EUSAGE, "no form");
                continue;
            }
            assert_int_equal(firn_mask_write(mask, text, "12345", 5, NULL), FIRN_OK);
            assert_int_equal(strncmp(text, "ord_3_", 6) == 0, prefixed);
            assert_int_equal(firn_mask_read(mask, back, text, strlen(text), NULL), FIRN_OK);
            assert_string_equal(back, "12345");
            *(prefixed ? &with : &without) += 1;
            firn_mask_close(mask);
        }
    }
    assert_int_equal(with, 11);
    assert_true(without > with);
}

static void texts_have_their_forms(void **state) {
    firn_mask *mask = opened("name=orders from=hex as=base58 mac=0");
    char text[FIRN_TEXT_SIZE], back[FIRN_TEXT_SIZE];
    firn_error error = {0};
    (void)state;
    assert_int_equal(firn_mask_write(mask, text, "00000000000000ff", 16, NULL), FIRN_OK);
    assert_int_equal(strlen(text), 11);
    assert_int_equal(firn_mask_read(mask, back, text, 11, NULL), FIRN_OK);
    assert_string_equal(back, "00000000000000ff");
    assert_int_equal(firn_mask_read(mask, back, text, 10, &error), FIRN_ETEXT);
    assert_int_equal(firn_mask_write(mask, text, "f000000000000000", 16, &error), FIRN_ERANGE);
    assert_string_equal(back, "00000000000000ff");
    firn_mask_close(mask);
}

static void a_mac_has_the_cases_of_its_form(void **state) {
    static const struct {
        const char *keys;
        int code;
    } forms[] = {{"name=orders as=base36", FIRN_OK},
                 {"name=orders as=base32", FIRN_OK},
                 {"name=orders as=base58", FIRN_EMISMATCH},
                 {"name=orders as=base62", FIRN_EMISMATCH}};
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        firn_mask *mask = opened(forms[i].keys);
        char text[FIRN_TEXT_SIZE], back[FIRN_TEXT_SIZE];
        bool letters = false;
        firn_error error = {0};
        for (char id[] = "1000"; !letters; id[3]++) { /* a MAC may consist of digits */
            assert_int_equal(firn_mask_write(mask, text, id, 4, NULL), FIRN_OK);
            for (char *end = text + strlen(text) - 4; *end != '\0'; end++) {
                if (*end >= 'a' && *end <= 'z') {
                    *end = (char)(*end - 'a' + 'A');
                    letters = true;
                }
            }
        }
        assert_int_equal(firn_mask_read(mask, back, text, strlen(text), &error), forms[i].code);
        firn_mask_close(mask);
    }
}

static void another_mask_has_another_fingerprint(void **state) {
    static const char *const others[] = {"name=order", "name=orders width=64",
                                         "name=orders width=uuid", "name=orders key_number=2",
                                         "name=orders width=uuid version=4"};
    static const uint8_t key[FIRN_MASK_KEY_SIZE] = {1, 2, 4};
    char keys[80];
    firn_mask *mask = opened("name=orders"), *made = NULL;
    firn_error error = {0};
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(keys, sizeof keys, "%s fingerprint=%s", others[i], firn_mask_fingerprint(mask));
        assert_int_equal(firn_mask_open(&made, keys, secret, MODULES, &error), FIRN_EUSAGE);
        error_text(&error, FIRN_EUSAGE, "or a new name");
    }
    snprintf(keys, sizeof keys, "name=orders fingerprint=%s", firn_mask_fingerprint(mask));
    assert_int_equal(firn_mask_open(&made, keys, key, MODULES, &error), FIRN_EUSAGE);
    firn_mask_close(opened(keys));
    firn_mask_close(mask);
}

static void twenty_bits_are_a_permutation(void **state) {
    enum { ALL = 1 << 20 };
    firn_mask *mask = opened("name=orders width=20");
    firn_id *ids = calloc(ALL, sizeof *ids);
    uint8_t *seen = calloc(ALL, 1);
    (void)state;
    assert_true(ids != NULL && seen != NULL);
    for (uint64_t i = 0; i < ALL; i++) {
        ids[i] = integer(i);
    }
    assert_int_equal(firn_mask_apply(mask, ids, ids, ALL, NULL), FIRN_OK);
    for (size_t i = 0; i < ALL; i++) {
        assert_true(ids[i].low < ALL && ids[i].bits == 20);
        assert_int_equal(seen[ids[i].low]++, 0);
    }
    assert_int_equal(firn_mask_undo(mask, ids, ids, ALL, NULL), FIRN_OK);
    for (size_t i = 0; i < ALL; i++) {
        assert_true(ids[i].low == i);
    }
    firn_mask_close(mask);
    free(ids);
    free(seen);
}

static void every_width_comes_back(void **state) {
    (void)state;
    for (uint32_t bits = 20; bits <= 128; bits++) {
        char keys[48];
        firn_id ids[3], out[3];
        snprintf(keys, sizeof keys, "name=orders width=%" PRIu32, bits);
        firn_mask *mask = opened(keys);
        const uint32_t wide = firn_mask_bits(mask);
        assert_int_equal(wide, bits == 63 ? 64 : bits);
        for (int n = 0; n < 100; n++) {
            ids[0] = drawn(bits);
            ids[1] = (firn_id){n & 1, 0, 0, bits};
            ids[2] = (firn_id){bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX,
                               bits > 64 ? UINT64_MAX >> (128 - bits) : 0, 0, bits};
            assert_int_equal(firn_mask_apply(mask, out, ids, 3, NULL), FIRN_OK);
            for (size_t i = 0; i < 3; i++) {
                assert_int_equal(out[i].bits, wide);
                assert_true(bits >= 64 ? bits == 128 || out[i].high >> (bits - 64) == 0
                                       : out[i].low >> bits == 0);
            }
            assert_int_equal(firn_mask_undo(mask, out, out, 3, NULL), FIRN_OK);
            for (size_t i = 0; i < 3; i++) {
                assert_int_equal(firn_id_cmp(&out[i], &ids[i]), 0);
            }
        }
        firn_mask_close(mask);
    }
}

static void every_uuid_becomes_one_of_version_4(void **state) {
    (void)state;
    for (uint64_t version = 1; version <= 8; version++) {
        char keys[48];
        snprintf(keys, sizeof keys, "name=orders version=%d width=uuid", (int)version);
        firn_mask *mask = opened(keys);
        assert_int_equal(firn_mask_bits(mask), 128);
        for (int n = 0; n < 300; n++) {
            const firn_id id = drawn_uuid(version);
            firn_id out;
            assert_int_equal(firn_mask_apply(mask, &out, &id, 1, NULL), FIRN_OK);
            assert_true((out.high >> 12 & 15) == 4 && out.low >> 62 == 2 && out.bits == 128);
            assert_int_equal(firn_mask_undo(mask, &out, &out, 1, NULL), FIRN_OK);
            assert_int_equal(firn_id_cmp(&out, &id), 0);
        }
        firn_mask_close(mask);
    }
}

/* FIRN_MASKS=100000000 for a long run. */
static void a_million_come_back(void **state) {
    const char *wanted = getenv("FIRN_MASKS");
    const uint64_t count = wanted != NULL ? strtoull(wanted, NULL, 10) : 1000000;
    firn_mask *masks[] = {opened("name=orders"), opened("name=orders width=uuid")};
    (void)state;
    for (uint64_t done = 0; done < count; done += MANY) {
        for (int kind = 0; kind < 2; kind++) {
            firn_id ids[MANY], out[MANY];
            for (size_t i = 0; i < MANY; i++) {
                ids[i] = kind == 0 ? drawn(63) : drawn_uuid(7);
            }
            assert_int_equal(firn_mask_apply(masks[kind], out, ids, MANY, NULL), FIRN_OK);
            assert_int_equal(firn_mask_undo(masks[kind], out, out, MANY, NULL), FIRN_OK);
            for (size_t i = 0; i < MANY; i++) {
                assert_int_equal(firn_id_cmp(&out[i], &ids[i]), 0);
            }
        }
    }
    firn_mask_close(masks[0]);
    firn_mask_close(masks[1]);
}

static void one_call_for_many_is_many_calls_for_one(void **state) {
    firn_mask *mask = opened("name=orders width=128");
    firn_id ids[200], many[200], one;
    (void)state;
    for (size_t i = 0; i < 200; i++) {
        ids[i] = drawn(128);
    }
    for (size_t count = 0; count <= 200; count += count < 4 ? 1 : 7) {
        memset(many, 0, sizeof many);
        assert_int_equal(firn_mask_apply(mask, many, ids, count, NULL), FIRN_OK);
        for (size_t i = 0; i < 200; i++) {
            assert_int_equal(firn_mask_apply(mask, &one, &ids[i], 1, NULL), FIRN_OK);
            assert_true(i < count ? firn_id_cmp(&one, &many[i]) == 0 : many[i].bits == 0);
        }
    }
    firn_mask_close(mask);
}

/* Any other key, name, number, width or version is another mask. */
static void uuid47_changes_the_time_alone(void **state) {
    (void)state;
    firn_id ids[MANY], masked[MANY], back[MANY];
    firn_mask *mask = opened_with("name=a width=uuid47", sip_secret);
    firn_error error;
    for (size_t i = 0; i < MANY; i++) {
        ids[i] = drawn_uuid(7);
    }
    assert_int_equal(firn_mask_apply(mask, masked, ids, MANY, &error), FIRN_OK);
    assert_int_equal(firn_mask_undo(mask, back, masked, MANY, &error), FIRN_OK);
    for (size_t i = 0; i < MANY; i++) {
        assert_memory_equal(&back[i], &ids[i], sizeof back[i]);
        assert_true(masked[i].low == ids[i].low);
        assert_true((masked[i].high & 0xffff) == (ids[i].high & 0xfff) + 0x4000);
        assert_true(masked[i].high >> 16 != ids[i].high >> 16);
    }
    assert_int_equal(firn_mask_apply(mask, masked, masked, 1, &error), FIRN_EMISMATCH);
    error_text(&error, FIRN_EMISMATCH, "version 4, and this mask takes version 7");
    firn_mask_close(mask);
    assert_int_equal(firn_mask_open(&mask, "name=a width=uuid47",
                                    (const uint8_t[FIRN_MASK_KEY_SIZE]){[31] = 1}, NULL, &error),
                     FIRN_EUSAGE);
    error_text(&error, FIRN_EUSAGE, "a key of UUIDv47 has 16 bytes");
}

/* Writes a file of keys, 0 to `last`, in which each key has one digit. */
static const char *ring_file(int last) {
    static char path[300];
    const char *dir = getenv("TMPDIR");
    snprintf(path, sizeof path, "%.200s/mask_test.%d.ring", dir != NULL ? dir : ".", (int)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i <= last; i++) {
        assert_true(fprintf(file, "%d %064x\n", i, (unsigned)i) > 0);
    }
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0600), 0);
    return path;
}

static void uuids_of_all_keys_come_back_in_one_call(void **state) {
    enum { KEYS = 16, COUNT = 500 };
    firn_mask *masks[KEYS], *few = NULL;
    firn_id ids[COUNT], masked[COUNT], back[COUNT];
    char keys[64];
    firn_error error;
    (void)state;
    for (int i = 0; i < KEYS; i++) {
        snprintf(keys, sizeof keys, "name=orders width=uuid8 key_number=%d", i);
        assert_int_equal(firn_mask_load(&masks[i], keys, ring_file(KEYS - 1), MODULES, &error),
                         FIRN_OK);
    }
    for (size_t i = 0; i < COUNT; i++) { /* runs of one key, and of several in a batch */
        ids[i] = drawn_uuid(7);
        ids[i].high &= UINT64_MAX >> 4;
        const size_t key = i < 100 ? i % KEYS : i / 70;
        assert_int_equal(firn_mask_apply(masks[key], &masked[i], &ids[i], 1, &error), FIRN_OK);
        assert_true(masked[i].high >> 60 == key && (masked[i].high >> 12 & 15) == 8);
        assert_true(masked[i].low >> 62 == 2);
    }
    assert_int_equal(firn_mask_undo(masks[3], back, masked, COUNT, &error), FIRN_OK);
    assert_memory_equal(back, ids, sizeof ids);
    assert_int_equal(firn_mask_apply(masks[3], back, ids, COUNT, &error), FIRN_OK);
    assert_true(back[0].high >> 60 == 3 && back[COUNT - 1].high >> 60 == 3);
    /* One ID of a key that is gone: none comes back. */
    assert_int_equal(firn_mask_load(&few, "name=orders width=uuid8 key_number=0", ring_file(14),
                                    MODULES, &error),
                     FIRN_OK);
    memset(back, 0, sizeof back);
    assert_int_equal(firn_mask_undo(few, back, masked, COUNT, &error), FIRN_EMISMATCH);
    error_text(&error, FIRN_EMISMATCH, "masked with key 15, which mask orders does not have");
    assert_true(back[0].bits == 0);
    assert_int_equal(unlink(ring_file(0)), 0);
    for (int i = 0; i < KEYS; i++) {
        firn_mask_close(masks[i]);
    }
    firn_mask_close(few);
}

static void ends_of_a_text_are_known(void **state) {
    firn_mask *mask = opened("name=orders prefix=ord key_number=999999999"),
              *bare = opened("name=orders");
    char before[FIRN_MASK_FRAME_SIZE], after[FIRN_MASK_FRAME_SIZE], middle[FIRN_TEXT_SIZE],
        all[sizeof middle + 2 * sizeof before], text[FIRN_TEXT_SIZE];
    const firn_id id = integer(12345);
    firn_id masked;
    firn_error error;
    (void)state;
    assert_int_equal(firn_mask_apply(mask, &masked, &id, 1, &error), FIRN_OK);
    firn_mask_frame(mask, before, after, &masked);
    assert_string_equal(before, "ord_999999999_");
    assert_int_equal(strlen(after), 4);
    firn_format(middle, &masked, FIRN_FORM_BASE58);
    snprintf(all, sizeof all, "%s%s%s", before, middle, after);
    assert_int_equal(firn_mask_write(mask, text, "12345", 5, &error), FIRN_OK);
    assert_string_equal(text, all);
    assert_int_equal(firn_mask_undo(mask, &masked, &masked, 1, &error), FIRN_EUSAGE);
    error_text(&error, FIRN_EUSAGE, "give the text");
    firn_mask_frame(bare, before, after, &masked);
    assert_string_equal(before, "");
    assert_string_equal(after, "");
    static const struct {
        const char *text;
        int code;
        const char *says;
    } wrong[] = {{"", FIRN_ETEXT, "does not begin with ord_"},
                 {"ord_", FIRN_ETEXT, "does not begin with ord_"},
                 {"orx_999999999_1", FIRN_ETEXT, "does not begin with ord_"},
                 {"ord-999999999_1", FIRN_ETEXT, "does not begin with ord_"},
                 {"ord__1", FIRN_ETEXT, "the number of the key is missing after ord_"},
                 {"ord_one_1", FIRN_ETEXT, "the number of the key is missing"},
                 {"ord_/_1", FIRN_ETEXT, "the number of the key is missing"},
                 {"ord_999999999", FIRN_ETEXT, "the number of the key is missing"},
                 {"ord_999999999-1", FIRN_ETEXT, "the number of the key is missing"},
                 {"ord_9999999990_1", FIRN_ETEXT, "the number of the key is missing"},
                 {"ord_0999999999_1", FIRN_ETEXT, "the number of the key is missing"},
                 {"ord_00_1", FIRN_ETEXT, "the number of the key is missing"},
                 {"ord_0_1", FIRN_EMISMATCH, "key 0, which mask orders does not have"},
                 {"ord_99_1", FIRN_EMISMATCH, "key 99, which mask orders does not have"},
                 {"ord_999999999_", FIRN_ETEXT, "has more than 4 characters, not 0"},
                 {"ord_999999999_1111", FIRN_ETEXT, "has more than 4 characters, not 4"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        error = (firn_error){0};
        assert_int_equal(firn_mask_read(mask, middle, wrong[i].text, strlen(wrong[i].text), &error),
                         wrong[i].code);
        error_text(&error, wrong[i].code, wrong[i].says);
    }
    firn_mask_close(mask);
    firn_mask_close(bare);
}

static void other_masks_are_other_permutations(void **state) {
    static const char *const others[] = {"name=orderz",          "name=orders key_number=2",
                                         "name=orders width=64", "name=orders width=62",
                                         "name=Orders",          "name=orders.",
                                         "name=order",           "name=orders key_number=0"};
    uint8_t other[FIRN_MASK_KEY_SIZE] = {1, 2, 3, [31] = 1};
    firn_mask *mask = opened("name=orders width=63 key_number=1"), *same = opened("name=orders");
    firn_mask *seventh = opened("name=orders width=uuid"),
              *fourth = opened("name=orders width=uuid version=4");
    (void)state;
    for (uint64_t i = 0; i < 200; i++) {
        const firn_id id = integer(i);
        firn_id out, back;
        assert_int_equal(firn_mask_apply(mask, &out, &id, 1, NULL), FIRN_OK);
        assert_int_equal(firn_mask_undo(same, &back, &out, 1, NULL), FIRN_OK);
        assert_int_equal(firn_id_cmp(&back, &id), 0);
        for (size_t j = 0; j <= sizeof others / sizeof others[0] && i < 20; j++) {
            firn_mask *two = j < sizeof others / sizeof others[0]
                                 ? opened(others[j])
                                 : opened_with("name=orders", other);
            assert_int_equal(firn_mask_apply(two, &back, &id, 1, NULL), FIRN_OK);
            assert_int_not_equal(firn_id_cmp(&back, &out), 0);
            firn_mask_close(two);
        }
        const firn_id four = drawn_uuid(4);
        firn_id seven = four;
        seven.high |= 0x3000;
        assert_int_equal(firn_mask_apply(seventh, &out, &seven, 1, NULL), FIRN_OK);
        assert_int_equal(firn_mask_apply(fourth, &back, &four, 1, NULL), FIRN_OK);
        assert_int_not_equal(firn_id_cmp(&back, &out), 0);
    }
    firn_mask_close(mask);
    firn_mask_close(same);
    firn_mask_close(seventh);
    firn_mask_close(fourth);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void unopened(const char *keys, int code, const char *words) {
    firn_mask *mask = NULL;
    firn_error error = {0};
    assert_int_equal(firn_mask_open(&mask, keys, secret, MODULES, &error), code);
    error_text(&error, code, words);
    assert_null(mask);
}

static void keys_have_their_bounds(void **state) {
    char name[80] = "name=";
    (void)state;
    unopened("", FIRN_EUSAGE, "add name=");
    unopened("width=63", FIRN_EUSAGE, "add name=");
    unopened("name=my,orders", FIRN_EUSAGE, "1 to 63 letters");
    unopened("name=a|b", FIRN_EUSAGE, "1 to 63 letters");
    memset(name + 5, 'a', 64);
    unopened(name, FIRN_EUSAGE, "1 to 63 letters");
    unopened("name=orders width=19", FIRN_ERANGE, "20 to 128");
    unopened("name=orders width=129", FIRN_ERANGE, "20 to 128");
    unopened("name=orders width=-64", FIRN_EUSAGE, "20 to 128, or uuid");
    unopened("name=orders width=text", FIRN_EUSAGE, "20 to 128, or uuid");
    unopened("name=orders version=7", FIRN_EUSAGE, "add width=uuid");
    unopened("name=orders width=uuid version=9", FIRN_ERANGE, "1 to 8");
    unopened("name=orders key_number=1000000000", FIRN_ERANGE, "0 to 999999999");
    unopened("name=orders fingerprint=1234567", FIRN_EUSAGE, "use the 8 hex digits");
    unopened("name=orders fingerprint=1234567G", FIRN_EUSAGE, "use the 8 hex digits");
    unopened("name=orders widht=63", FIRN_EUSAGE, "did you mean");
    unopened("name=orders zebra=63", FIRN_EUSAGE, "from, as, mac or prefix");
    unopened("name=orders mac=20 width=uuid", FIRN_EUSAGE, "has no room for a MAC");
    unopened("name=orders width=uuid8 key_number=16", FIRN_ERANGE, "0 to 15");
    unopened("name=orders width=uuid8 version=4", FIRN_EUSAGE, "UUIDs of version 7");
    unopened("name=orders width=uuid8 prefix=ord", FIRN_EUSAGE, "no prefix");
    unopened("name=orders prefix=Ord", FIRN_EUSAGE, "prefix");
    unopened("name=orders prefix=ord as=bin", FIRN_EUSAGE, "have no form bin: use as=base58");
    unopened("name=orders prefix=abcdefghijklmnopqrstu", FIRN_EUSAGE, "use at most 20");
    unopened("name=orders fingerprint=12345678,", FIRN_EUSAGE, "use the 8 hex digits");
    unopened("name=orders fingerprint=12345678;87654321", FIRN_EUSAGE, "use the 8 hex digits");
    char prints[sizeof "name=orders fingerprint=" + 17 * 9] = "name=orders fingerprint=";
    for (int i = 0; i < 17; i++) { /* a mask has at most 16 keys */
        snprintf(prints + strlen(prints), 10, "%s%08x", i > 0 ? "," : "", i);
    }
    unopened(prints, FIRN_EUSAGE, "use the 8 hex digits");
    prints[strlen(prints) - 9] = '\0';
    unopened(prints, FIRN_EUSAGE, "which is not in fingerprint=00000000,00000001,");
    static const char *const of_uuid47[] = {"version=4", "mac=20", "prefix=ord as=base58"};
    for (size_t i = 0; i < sizeof of_uuid47 / sizeof *of_uuid47; i++) {
        snprintf(name, sizeof name, "name=orders width=uuid47 %s", of_uuid47[i]);
        unopened(name, FIRN_EUSAGE, "has no MAC and no prefix: remove version=");
        snprintf(name, sizeof name, "name=orders width=uuid8 %s", of_uuid47[i]);
        unopened(name, FIRN_EUSAGE, "has no MAC and no prefix: remove version=");
    }
    unloaded("name=orders", ring_file(2),
             "has the keys 0, 1 and 2: choose which key masks with key_number=0");
    unloaded("name=orders key_number=7", ring_file(1), "has no key 7, but 0 and 1: use");
    assert_int_equal(unlink(ring_file(0)), 0);
    firn_mask_close(NULL);
}

static void wrong_ids_are_refused(void **state) {
    firn_mask *positive = opened("name=orders"), *narrow = opened("name=orders width=53");
    firn_mask *seventh = opened("name=orders width=uuid");
    firn_id ids[2] = {integer(1), integer(UINT64_MAX)}, out[2] = {{7, 7, 7, 7}, {7, 7, 7, 7}};
    const firn_id seven = uuid("017f22e2-79b0-7cc3-98c4-dc0c0c07398f"),
                  one = uuid("c232ab00-9414-11ec-b3c8-9f6bdeced846"),
                  strange = uuid("017f22e2-79b0-7cc3-d8c4-dc0c0c07398f");
    firn_error error = {0};
    (void)state;
    assert_int_equal(firn_mask_apply(positive, out, ids, 2, &error), FIRN_ERANGE);
    error_text(&error, FIRN_ERANGE, "ID -1 is negative");
    error_text(&error, FIRN_ERANGE, "use width=64");
    assert_int_equal(firn_mask_undo(positive, out, ids, 2, &error), FIRN_ERANGE);
    ids[1] = integer(UINT64_C(1) << 53);
    assert_int_equal(firn_mask_apply(narrow, out, ids, 2, &error), FIRN_ERANGE);
    error_text(&error, FIRN_ERANGE, "ID 9007199254740992 has more than the 53 bits of the mask");
    assert_int_equal(firn_mask_apply(positive, out, &seven, 1, &error), FIRN_ERANGE);
    error_text(&error, FIRN_ERANGE, "more than the 63 bits");
    assert_int_equal(firn_mask_apply(seventh, out, &one, 1, &error), FIRN_EMISMATCH);
    error_text(&error, FIRN_EMISMATCH,
               "is a UUID of version 1, and this mask takes version 7: use version=1");
    assert_int_equal(firn_mask_apply(seventh, out, &strange, 1, &error), FIRN_EMISMATCH);
    error_text(&error, FIRN_EMISMATCH, "is not a UUID");
    assert_int_equal(firn_mask_apply(seventh, out, ids, 1, &error), FIRN_EMISMATCH);
    error_text(&error, FIRN_EMISMATCH, "ID 1 is not a UUID");
    const firn_id twelfth = drawn_uuid(12), wide = {1, 0, 1, 160};
    assert_int_equal(firn_mask_apply(seventh, out, &twelfth, 1, &error), FIRN_EMISMATCH);
    error_text(&error, FIRN_EMISMATCH, "is not a UUID");
    assert_int_equal(firn_mask_apply(positive, out, &wide, 1, &error), FIRN_ERANGE);
    assert_int_equal(firn_mask_undo(seventh, out, &seven, 1, &error), FIRN_EMISMATCH);
    error_text(&error, FIRN_EMISMATCH, "is not a UUID of version 4");
    assert_true(out[0].low == 7 && out[1].bits == 7);
    firn_mask_close(positive);
    firn_mask_close(narrow);
    firn_mask_close(seventh);
}

/* ---- statistics ------------------------------------------------------------------------------ */

/* How often each bit is set, and how often it differs from the one before; how many IDs are greater
 * than the one before. */
typedef struct tally {
    int set[128], changed[128], sorted;
} tally;

static void count_bits(tally *counts, const firn_id *id, const firn_id *before) {
    for (int bit = 0; bit < 128; bit++) {
        const uint64_t word = bit < 64 ? id->low >> bit : id->high >> (bit - 64);
        const uint64_t last = bit < 64 ? before->low >> bit : before->high >> (bit - 64);
        counts->set[bit] += (int)(word & 1);
        counts->changed[bit] += (int)((word ^ last) & 1);
    }
    counts->sorted += firn_id_cmp(id, before) > 0;
}

/* Consecutive uuid7 of one millisecond, masked, and random uuid4: each of the 122 bits is set in
 * half of them, and differs in half of all neighbours. Such a count has a deviation of sqrt(COUNT)
 * / 2; a random one is more than seven of them away once in 4 * 10^11. Key and IDs are the same in
 * every run, so the test passes always or never. */
static void masked_uuids_look_like_random_ones(void **state) {
    enum { COUNT = 40000, BOUND = 7 * 100 };
    firn_mask *mask = opened("name=orders width=uuid");
    (void)state;
    for (int random = 0; random < 2; random++) {
        firn_id before = {0}, id = uuid("017f22e2-79b0-7cc3-98c4-dc0c0c000000");
        tally counts = {0};
        for (int n = 0; n < COUNT; n++, id.low++) {
            firn_id out = drawn_uuid(4);
            if (!random) {
                assert_int_equal(firn_mask_apply(mask, &out, &id, 1, NULL), FIRN_OK);
            }
            count_bits(&counts, &out, &before);
            before = out;
        }
        for (int bit = 0; bit < 128; bit++) {
            const bool fixed = (bit >= 76 && bit < 80) || bit == 62 || bit == 63;
            assert_true(fixed || abs(counts.set[bit] - COUNT / 2) < BOUND);
            assert_true(fixed || abs(counts.changed[bit] - COUNT / 2) < BOUND);
        }
        assert_true(abs(counts.sorted - COUNT / 2) < BOUND);
    }
    firn_mask_close(mask);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(sentence, function) {sentence, function, start_over, NULL, NULL}
        TEST("keys are those of RFC 5869", keys_are_those_of_the_rfc),
        TEST("a key comes from a file, too", a_key_comes_from_a_file_too),
        TEST("a line of a key file is a number and a key",
             a_line_of_a_key_file_is_a_number_and_a_key),
        TEST("a prefix goes with forms of letters or digits",
             a_prefix_goes_with_forms_of_letters_or_digits),
        TEST("texts have their forms", texts_have_their_forms),
        TEST("a MAC has the cases of its form", a_mac_has_the_cases_of_its_form),
        TEST("another mask has another fingerprint", another_mask_has_another_fingerprint),
        TEST("twenty bits are a permutation", twenty_bits_are_a_permutation),
        TEST("every width comes back", every_width_comes_back),
        TEST("every UUID becomes one of version 4", every_uuid_becomes_one_of_version_4),
        TEST("a million of 63 and of 122 bits come back", a_million_come_back),
        TEST("one call for many is many calls for one", one_call_for_many_is_many_calls_for_one),
        TEST("UUIDv47 changes the time alone", uuid47_changes_the_time_alone),
        TEST("UUIDs of all keys come back in one call", uuids_of_all_keys_come_back_in_one_call),
        TEST("the ends of a text are known", ends_of_a_text_are_known),
        TEST("other masks are other permutations", other_masks_are_other_permutations),
        TEST("keys have their bounds", keys_have_their_bounds),
        TEST("wrong IDs are refused", wrong_ids_are_refused),
        TEST("masked UUIDs look like random ones", masked_uuids_look_like_random_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
