/* SPDX-License-Identifier: MIT */
#include "id_form.h"

#include "errors.h"

#include <string.h>

const firn_scheme *scheme_named(word name) {
    char text[FIRN_NAME_SIZE];
    return word_copy(name, text, sizeof text) ? firn_scheme_find(text) : NULL;
}

int form_of(int *form, const firn_scheme *scheme, word name, firn_error *error) {
    const char *names[FIRN_FORM_COUNT + 1];
    char text[FIRN_NAME_SIZE], advice[ADVICE_SIZE];
    for (int i = 0; i <= FIRN_FORM_COUNT; i++) {
        names[i] = i < FIRN_FORM_COUNT ? firn_form_name(i) : NULL;
    }
    bool is_text = word_copy(name, text, sizeof text);
    int found = is_text ? firn_form_find(text) : -1;
    if (found < 0) {
        return set_error(error, FIRN_EUSAGE, "unknown form '%.*s': %s", word_shown(name), name.text,
                         did_you_mean(advice, is_text ? firn_nearest(text, names) : NULL,
                                      "use dec, hex, uuid, urn, braced, base32, base32hex, base36, "
                                      "base58, base62, base64, base64url or bin"));
    }
    if (firn_form_width(found, scheme->bits) == 0) {
        return set_error(error, FIRN_EUSAGE,
                         "the form %s does not fit the %u bits of %s: use another form",
                         names[found], (unsigned)scheme->bits, scheme->name);
    }
    if (found == FIRN_FORM_DATED && scheme->form != FIRN_FORM_DATED) {
        return set_error(error, FIRN_EUSAGE,
                         "%s has no form dated: only time-random and time-member have it",
                         scheme->name);
    }
    *form = found;
    return FIRN_OK;
}

int prefix_of(char prefix[PREFIX_SIZE], int form, word text, firn_error *error) {
    if (form != FIRN_FORM_TYPEID) {
        return set_error(error, FIRN_EUSAGE,
                         "the form %s takes no prefix: leave prefix out, or use the form typeid",
                         firn_form_name(form));
    }
    int code = firn_prefix_check(text.text, text.length, error);
    if (code != FIRN_OK) {
        return code;
    }
    memcpy(prefix, text.text, text.length);
    prefix[text.length] = '_'; /* an empty prefix has no _ */
    prefix[text.length > 0 ? text.length + 1 : 0] = '\0';
    return FIRN_OK;
}

bool is_narrow(const firn_scheme *scheme, int form) {
    return scheme->bits <= 64 && (form == FIRN_FORM_DEC || form == FIRN_FORM_UNSIGNED);
}
