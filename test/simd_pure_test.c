/* SPDX-License-Identifier: MIT */
/* The vector versions of writers and readers, compared with the plain ones: random IDs, every byte
 * at every place of a text, and texts at the edge of readable memory.
 *
 *     simd_pure_test [VALUES]: random IDs of each form; make text-proof takes 10^9 */
#include <firn/firn.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "chance.h"
#include "sanitized.h"
#include "short.h"
#include "simd.h"

static uint64_t values = SANITIZED ? 10000 : 300000;

/* The widths that a version may treat in its own way, and their neighbours. */
static const uint32_t widths[] = {1,  4,  60, 63,  64,  65,  68,  92,
                                  95, 96, 97, 124, 127, 128, 132, 160};
enum { WIDTHS = sizeof widths / sizeof widths[0] };

/* The versions that this processor runs, except the plain one. */
#define EACH_VERSION(simd)                                                                         \
    (const firn__simd *simd, *const *at = versions; (simd = *at) != NULL; at++)
static const firn__simd *versions[8];

static firn_id random_id(uint32_t bits) {
    firn_id id = {chance(), chance(), (uint32_t)chance(), bits};
    uint32_t kind = (uint32_t)(chance() % 8);
    if (kind < 3) { /* small numbers, and those around a power of two */
        id = (firn_id){chance() >> chance() % 64, 0, 0, bits};
    } else if (kind == 3) {
        id = (firn_id){UINT64_C(1) << chance() % 64, chance() >> chance() % 64, 0, bits};
        id.low -= chance() % 2;
    }
    id.top = bits <= 128 ? 0 : bits < 160 ? id.top & ((1u << (bits - 128)) - 1) : id.top;
    id.high = bits <= 64 ? 0 : bits < 128 ? id.high & ((UINT64_C(1) << (bits - 64)) - 1) : id.high;
    id.low = bits < 64 ? id.low & ((UINT64_C(1) << bits) - 1) : id.low;
    return id;
}

static bool same(const firn_id *a, const firn_id *b) {
    return a->low == b->low && a->high == b->high && a->top == b->top && a->bits == b->bits;
}

/* Both readers give the same answer, and change nothing if they refuse. */
static void compare_readers(const firn__simd *simd, int form, uint32_t bits, const char *text,
                            size_t length) {
    const firn_id before = {1, 2, 3, 4};
    firn_id plain = before, id = before;
    firn_error plain_error = {0}, error = {0};
    int expected = firn__readers[form](&plain, form, bits, text, length, &plain_error);
    int code = simd->read[form](&id, form, bits, text, length, &error);
    if (code != expected || !same(&id, &plain) || strcmp(error.text, plain_error.text) != 0 ||
        (code != FIRN_OK && !same(&id, &before))) {
        fail_msg("%s reads '%.*s' of %u bits as %s otherwise: %d, not %d", simd->name, (int)length,
                 text, (unsigned)bits, firn_form_name(form), code, expected);
    }
}

static void compare_writers(const firn__simd *simd, int form, const firn_id *id,
                            char text[FIRN_TEXT_SIZE]) {
    char expected[FIRN_TEXT_SIZE];
    firn__writers[form](expected, id);
    assert_ptr_equal(simd->write[form](text, id), text);
    if (strcmp(text, expected) != 0) {
        fail_msg("%s writes '%s', not '%s'", simd->name, text, expected);
    }
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* A width that the versions read by vectors, most of the time. */
static uint32_t random_width(int form) {
    if (chance() % 8 == 0) {
        return widths[chance() % WIDTHS];
    }
    switch (form) {
    case FIRN_FORM_DEC:
    case FIRN_FORM_UNSIGNED:
        return 64;
    case FIRN_FORM_BASE32HEX:
        return 96;
    case FIRN_FORM_HEX:
        return 64 + 32 * (uint32_t)(chance() % 3);
    default:
        return 128;
    }
}

static void random_ids_are_the_same(void **state) {
    (void)state;
    char text[FIRN_TEXT_SIZE];
    for
        EACH_VERSION(simd) {
            for (int form = 0; form < FIRN_FORM_COUNT; form++) {
                for (uint64_t n = 0; simd->write[form] != NULL && n < values; n++) {
                    const firn_id id = random_id(random_width(form));
                    compare_writers(simd, form, &id, text);
                    size_t length = strlen(text);
                    compare_readers(simd, form, id.bits, text, length);
                    if (n % 16 == 0 && length > 0) {
                        text[chance() % length] = (char)chance();
                        compare_readers(simd, form, id.bits, text, length);
                    }
                }
            }
        }
}

static void every_byte_at_every_place_is_the_same(void **state) {
    (void)state;
    char text[FIRN_TEXT_SIZE + 8];
    for
        EACH_VERSION(simd) {
            for (int form = 0; form < FIRN_FORM_COUNT; form++) {
                for (uint32_t n = 0; simd->read[form] != NULL && n < 3 * WIDTHS; n++) {
                    const uint32_t bits = widths[n % WIDTHS];
                    const firn_id id = random_id(bits);
                    strcpy(text, form == FIRN_FORM_TYPEID && n / WIDTHS % 2 ? "ab_" : "");
                    firn__writers[form](text + strlen(text), &id);
                    const size_t length = strlen(text);
                    for (size_t i = 0; i < length; i++) {
                        const char right = text[i];
                        for (int c = 0; c < 256; c++) {
                            text[i] = (char)c;
                            compare_readers(simd, form, bits, text, length);
                        }
                        text[i] = right;
                    }
                }
            }
        }
}

/* 64-bit numbers round each power of ten and at both ends; the greatest base32 of 128 bits. */
static void limits_are_the_same(void **state) {
    (void)state;
    static const char *const numbers[] = {"9223372036854775807",
                                          "9223372036854775808",
                                          "18446744073709551615",
                                          "18446744073709551616",
                                          "18450000000000000000",
                                          "99999999999999999999",
                                          "-9223372036854775807",
                                          "-9223372036854775808",
                                          "-9223372036854775809",
                                          "-10000000000000000000",
                                          "-18446744073709551615",
                                          "-1",
                                          "-0",
                                          "0",
                                          "-",
                                          "",
                                          "00000000000000000",
                                          "00000000000000000001",
                                          "7ZZZZZZZZZZZZZZZZZZZZZZZZZ",
                                          "80000000000000000000000000",
                                          "ZZZZZZZZZZZZZZZZZZZZZZZZZZ",
                                          "0000000000000000000g",
                                          "00000000000000000001"};
    char text[FIRN_TEXT_SIZE];
    for
        EACH_VERSION(simd) {
            for (int form = 0; form < FIRN_FORM_COUNT; form++) {
                for (size_t i = 0; simd->read[form] != NULL && i < sizeof numbers / sizeof *numbers;
                     i++) {
                    for (uint32_t w = 0; w < WIDTHS; w++) {
                        compare_readers(simd, form, widths[w], numbers[i], strlen(numbers[i]));
                    }
                }
                uint64_t power = 1;
                for (int i = 0; simd->write[form] != NULL && i <= 19; i++, power *= 10) {
                    for (uint64_t d = 0; d < 5; d++) {
                        const firn_id up = {power + d - 2, 0, 0, 64},
                                      down = {2 - d - power, 0, 0, 64};
                        compare_writers(simd, form, &up, text);
                        compare_readers(simd, form, 64, text, strlen(text));
                        compare_writers(simd, form, &down, text);
                        compare_readers(simd, form, 64, text, strlen(text));
                    }
                }
            }
        }
}

/* A text that ends, and one that begins, where memory does: the versions touch nothing beyond. */
static void nothing_beyond_a_text_is_touched(void **state) {
    (void)state;
    enum { LONGEST = 100 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *map = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(map, MAP_FAILED);
    assert_int_equal(mprotect(map, page, PROT_NONE), 0);
    assert_int_equal(mprotect(map + 2 * page, page, PROT_NONE), 0);
    char *const first = map + page, *const end = map + 2 * page;
    char text[FIRN_TEXT_SIZE + LONGEST], again[FIRN_TEXT_SIZE];
    for
        EACH_VERSION(simd) {
            for (int form = 0; form < FIRN_FORM_COUNT; form++) {
                for (uint32_t n = 0; n < 4 * WIDTHS; n++) {
                    const uint32_t bits = widths[n % WIDTHS];
                    const firn_id id = random_id(bits);
                    strcpy(text, form == FIRN_FORM_TYPEID && n / WIDTHS % 2 ? "a_" : "");
                    size_t length = strlen(firn__writers[form](text + strlen(text), &id));
                    if (simd->write[form] != NULL) {
                        compare_writers(simd, form, &id, again);
                        /* plain code writes the zeros of a number first */
                        const bool number = form == FIRN_FORM_DEC || form == FIRN_FORM_UNSIGNED;
                        const bool plain = number && (length < 17 || bits != 64);
                        char *out = end - (plain ? FIRN_TEXT_SIZE : length + 1);
                        assert_string_equal(simd->write[form](out, &id), again);
                        simd->write[form](first, &id);
                    }
                    memset(text + strlen(text), '1', LONGEST);
                    for (length = 0; simd->read[form] != NULL && length <= LONGEST; length++) {
                        memcpy(end - length, text, length);
                        compare_readers(simd, form, bits, end - length, length);
                        memcpy(first, text, length);
                        compare_readers(simd, form, bits, first, length);
                    }
                }
            }
        }
    assert_int_equal(munmap(map, 3 * page), 0);
}

static void the_last_version_is_chosen(void **state) {
    (void)state;
    const firn_id id = {UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0x0192f0c8d1e37a55), 0, 128};
    const firn__simd *last = firn__simd_at(0);
    char text[FIRN_TEXT_SIZE];
    for (size_t i = 0; firn__simd_at(i) != NULL; i++) {
        last = firn__simd_at(i);
        atomic_store(&firn__simd_chosen, last); /* public functions use the version */
        assert_string_equal(firn_format(text, &id, FIRN_FORM_UUID),
                            "0192f0c8-d1e3-7a55-9e37-79b97f4a7c15");
        assert_string_equal(firn_format(text, &id, FIRN_FORM_BIN + 100), "");
    }
    atomic_store(&firn__simd_chosen, NULL);
    firn_format(text, &id, FIRN_FORM_UUID);
    assert_ptr_equal(atomic_load(&firn__simd_chosen), last);
#if defined(__aarch64__)
    assert_string_equal(last->name, "neon");
#endif
    print_message("# chosen: %s\n", last->name);
}

int main(int argc, char **argv) {
    for (size_t i = 1; firn__simd_at(i) != NULL; i++) {
        versions[i - 1] = firn__simd_at(i);
    }
    values = argc > 1 ? strtoull(argv[1], NULL, 10) : values / (uint64_t)short_step(5);
    const struct CMUnitTest tests[] = {
#define TEST(sentence, function) {sentence, function, start_over, NULL, NULL}
        TEST("the last version that the processor runs is chosen", the_last_version_is_chosen),
        TEST("random IDs are written and read as by plain code", random_ids_are_the_same),
        TEST("every byte at every place is read as by plain code",
             every_byte_at_every_place_is_the_same),
        TEST("limits are written and read as by plain code", limits_are_the_same),
        TEST("nothing beyond a text is touched", nothing_beyond_a_text_is_touched),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
