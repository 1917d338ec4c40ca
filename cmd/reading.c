/* SPDX-License-Identifier: MIT */
/* Texts read as IDs: see reading.h. */
#include "reading.h"

#include "fault.h"

#include <string.h>

int scheme_time_index(const firn_scheme *scheme) {
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        if (scheme->slices[i].role == FIRN_ROLE_TIME) {
            return (int)i;
        }
    }
    return -1;
}

/* Digits only are decimal, or dated where that is the scheme's own form, and hex needs 0x or a
 * letter: may the text be of this form? */
static bool form_fits(const firn_scheme *scheme, int form, const char *text, size_t length) {
    size_t digits = strspn(text, "0123456789");
    if (scheme->form == FIRN_FORM_DATED && digits == length) {
        return form == FIRN_FORM_DATED;
    }
    bool letters = strpbrk(text, "abcdefABCDEF") != NULL;
    if (form == FIRN_FORM_HEX) {
        return letters;
    }
    if (form == FIRN_FORM_FLAKE || form == FIRN_FORM_TYPEID) {
        return false; /* nearly any word is one: only as a scheme's own form, or named */
    }
    return digits < length || form == FIRN_FORM_DEC || form == FIRN_FORM_UNSIGNED;
}

/* A text of a known width but not in the scheme's own form: the one other form that it fits. */
static int read_any_form(const firn_scheme *scheme, firn_reading *reading, const char *text,
                         size_t length, firn_error *error) {
    bool found = false;
    firn_id id;
    if (length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        reading->form = FIRN_FORM_HEX;
        return firn_parse(&reading->id, FIRN_FORM_HEX, scheme->bits, text + 2, length - 2, error);
    }
    for (int form = 0; form < FIRN_FORM_COUNT; form++) {
        if (form_fits(scheme, form, text, length) && firn_form_width(form, scheme->bits) != 0 &&
            firn_parse(&id, form, scheme->bits, text, length, NULL) == FIRN_OK) {
            if (found && firn_id_cmp(&id, &reading->id) != 0) {
                return set_error(error, FIRN_ETEXT,
                                 "it fits the forms %s and %s: name one with"
                                 " --from",
                                 firn_form_name(reading->form), firn_form_name(form));
            }
            if (!found) {
                reading->form = form;
                reading->id = id;
            }
            found = true;
        }
    }
    return found ? FIRN_OK : firn_parse(&id, scheme->form, scheme->bits, text, length, error);
}

static int read_named(const id_reader *reader, firn_reading *reading, const char *text,
                      size_t length, firn_error *error) {
    const firn_scheme *scheme = &reader->scheme;
    firn_fields fields;
    int code;
    reading->scheme = scheme;
    reading->form = reader->form >= 0 ? reader->form : scheme->form;
    code = firn_parse(&reading->id, reading->form, scheme->bits, text, length, error);
    if (code != FIRN_OK && reader->form < 0) {
        code = read_any_form(scheme, reading, text, length, error);
    }
    return code == FIRN_OK ? firn_unpack(&fields, scheme, &reading->id, error) : code;
}

int reader_read(const id_reader *reader, firn_reading readings[FIRN_READINGS_MAX], size_t *count,
                const char *text, size_t length, firn_error *error) {
    if (reader->named) {
        firn_reading one = {0};
        firn_error why;
        int code = read_named(reader, &one, text, length, &why);
        if (code != FIRN_OK) {
            return set_error(error, code, "%s'%.50s'%s: %s", length == 0 ? "the ID " : "", text,
                             length > 50 ? "..." : "", why.text);
        }
        readings[0] = one;
        *count = 1;
        return FIRN_OK;
    }
    *count = firn_guess(readings, text, length, reader->form);
    if (*count > 0) {
        return FIRN_OK;
    }
    return set_error(error, FIRN_ETEXT,
                     "'%.60s'%s is no ID of a known scheme: name its --scheme"
                     " or the form with --from",
                     text, length > 60 ? "..." : "");
}

const firn_reading *readings_differ(const firn_reading *readings, size_t count) {
    for (size_t i = 1; i < count; i++) {
        if (readings[i].id.bits != readings[0].id.bits ||
            firn_id_cmp(&readings[i].id, &readings[0].id) != 0) {
            return &readings[i];
        }
    }
    return NULL;
}

int readings_convert(firn_id *out, const firn_scheme *to, const firn_reading *readings,
                     size_t count, firn_error *error) {
    int code = firn_convert(out, to, &readings[0].id, readings[0].scheme, error), first = code;
    for (size_t i = 1; i < count && code != FIRN_OK; i++) {
        code = firn_convert(out, to, &readings[i].id, readings[i].scheme, NULL);
    }
    return code == FIRN_OK ? code : first;
}
