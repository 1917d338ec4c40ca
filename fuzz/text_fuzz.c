/* SPDX-License-Identifier: MIT */
/* Fuzzes the text forms: a form, a width and a text. What is read is written as the same text
 * again, letter case aside; what is refused leaves the ID alone and one short line of words. The
 * versions with vector instructions agree with the plain code. */
#include <firn/firn.h>

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool alike(const char *back, const char *text, size_t length) {
    bool is = strlen(back) == length;
    for (size_t i = 0; is && i < length; i++) {
        is = lower(back[i]) == lower(text[i]);
    }
    return is;
}

static void check_read(const firn_id *id, int form, const char *text, size_t length) {
    char back[FIRN_TEXT_SIZE], other[FIRN_TEXT_SIZE];
    firn_format(back, id, form);
    firn_format(other, id, form == FIRN_FORM_DEC ? FIRN_FORM_UNSIGNED : form);
    if (form == FIRN_FORM_TYPEID) { /* the prefix does not belong to the ID */
        assert(length >= 26);
        text += length - 26;
        length = 26;
    }
    assert(alike(back, text, length) || alike(other, text, length));
}

static void check_refused(const firn_id *id, const firn_error *error) {
    size_t length = strlen(error->text);
    assert(id->low == 7 && id->high == 8 && id->top == 9 && id->bits == 10);
    assert(error->code == FIRN_ETEXT || error->code == FIRN_EUSAGE);
    assert(length > 0 && length < sizeof error->text);
    for (size_t i = 0; i < length; i++) {
        assert(error->text[i] >= ' ' && error->text[i] <= '~');
    }
}

/* The bytes as an ID: its text can be read again. */
static void check_written(const uint8_t *bytes, size_t size, int form) {
    firn_id id, back;
    char text[FIRN_TEXT_SIZE];
    uint32_t bits = size < 20 ? (uint32_t)size * 8 : 160;
    if (firn_form_width(form, bits) == 0) {
        return;
    }
    assert(firn_id_from_bytes(&id, bytes, bits, NULL) == FIRN_OK);
    firn_format(text, &id, form);
    if (text[0] == '\0') { /* the calendar has no such time, or the digits no such number */
        assert(form == FIRN_FORM_DATED);
        return;
    }
    assert(strlen(text) <= firn_form_width(form, bits));
    assert(firn_parse(&back, form, bits, text, strlen(text), NULL) == FIRN_OK);
    assert(firn_id_cmp(&id, &back) == 0 && back.bits == bits);
}

/* Each vector version reads and writes the same as the plain code. */
static void check_versions(int form, uint32_t bits, const char *text, size_t length) {
    const firn__simd *simd;
    for (size_t i = 1; form < FIRN_FORM_COUNT && (simd = firn__simd_at(i)) != NULL; i++) {
        firn_id plain = {7, 8, 9, 10}, id = plain;
        char expected[FIRN_TEXT_SIZE], written[FIRN_TEXT_SIZE];
        if (simd->read[form] == NULL || bits < 1 || bits > 160) {
            continue;
        }
        int code = firn__readers[form](&plain, form, bits, text, length, NULL);
        assert(simd->read[form](&id, form, bits, text, length, NULL) == code);
        assert(firn_id_cmp(&id, &plain) == 0 && id.bits == plain.bits);
        if (code == FIRN_OK) {
            firn__writers[form](expected, &plain);
            assert(strcmp(simd->write[form](written, &id), expected) == 0);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) {
        return 0;
    }
    const int form = data[0] % (FIRN_FORM_COUNT + 1);
    const char *text = (const char *)data + 2;
    firn_id id = {7, 8, 9, 10};
    firn_error error = {0};
    if (firn_parse(&id, form, data[1], text, size - 2, &error) == FIRN_OK) {
        check_read(&id, form, text, size - 2);
    } else {
        check_refused(&id, &error);
    }
    check_written(data + 2, size - 2, form);
    check_versions(form, data[1], text, size - 2);
    return 0;
}
