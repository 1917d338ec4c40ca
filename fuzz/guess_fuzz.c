/* SPDX-License-Identifier: MIT */
/* Fuzzes the guess: every reading fits its scheme, none comes twice, and the same text gives the
 * same answer, with or without a requested form. */
#include <firn/recognize.h>

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Formats that are not schemes: the surest first, and only the first leads. */
static void check_matches(const firn_reading *best, const char *text, size_t size) {
    firn_match matches[FIRN_MATCHES_MAX];
    size_t count = firn_recognize(matches, best, text, size);
    assert(count <= FIRN_MATCHES_MAX);
    for (size_t i = 0; i < count; i++) {
        assert(i == 0 || (matches[i].sure <= matches[i - 1].sure && !matches[i].leads));
        assert(matches[i].count <= FIRN_MATCH_FIELDS);
        assert(memchr(matches[i].reason, '\0', sizeof matches[i].reason) != NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const firn_reading *readings, size_t count, int form) {
    assert(count <= FIRN_READINGS_MAX);
    for (size_t i = 0; i < count; i++) {
        const firn_reading *reading = &readings[i];
        char text[FIRN_TEXT_SIZE];
        firn_fields fields;
        firn_id back;
        assert(form < 0 || reading->form == form);
        assert(firn_unpack(&fields, reading->scheme, &reading->id, NULL) == FIRN_OK);
        firn_format(text, &reading->id, reading->form);
        assert(firn_parse(&back, reading->form, reading->id.bits, text, strlen(text), NULL) ==
               FIRN_OK);
        assert(firn_id_cmp(&back, &reading->id) == 0);
        for (size_t j = 0; j < i; j++) {
            assert(readings[j].scheme != reading->scheme || readings[j].form != reading->form);
        }
    }
}

/* Is something around the ID, which is read only if no form is requested? */
static bool is_wrapped(const char *text, size_t size) {
    return (size == 5 + 36 && memcmp(text, "uuid:", 5) == 0) ||
           (size == 10 + 24 + 2 && memcmp(text, "ObjectId(", 9) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static firn_reading first[FIRN_READINGS_MAX], again[FIRN_READINGS_MAX];
    const char *text = (const char *)data;
    size_t count = firn_guess(first, text, size, -1);
    check(first, count, -1);
    assert(firn_guess(again, text, size, -1) == count);
    check_matches(count > 0 ? first : NULL, text, size);
    check_matches(NULL, text, size);
    for (size_t i = 0; i < count; i++) {
        assert(first[i].scheme == again[i].scheme && first[i].form == again[i].form);
        assert(firn_id_cmp(&first[i].id, &again[i].id) == 0);
    }
    for (size_t i = 0; i < count; i++) { /* what is read without a form is read in its form */
        size_t same = 0, wanted = firn_guess(again, text, size, first[i].form);
        for (size_t j = 0; j < wanted; j++) {
            same +=
                again[j].scheme == first[i].scheme && firn_id_cmp(&again[j].id, &first[i].id) == 0;
        }
        assert(same == !is_wrapped(text, size));
    }
    if (size > 0) { /* the last byte chooses a form, too */
        int form = data[size - 1] % FIRN_FORM_COUNT;
        check(again, firn_guess(again, text, size, form), form);
    }
    return 0;
}
