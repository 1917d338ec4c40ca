/* SPDX-License-Identifier: MIT */
#include "id_form.h"

#include "pure_verbs.h"

#include <string.h>

const firn_scheme *scheme_named(word name) {
    char text[FIRN_NAME_SIZE];
    return word_copy(name, text, sizeof text) ? firn_scheme_find(text) : NULL;
}

int form_of(int *form, const firn_scheme *scheme, word name, firn_error *error) {
    char text[FIRN_NAME_SIZE];
    int found, code = pure_form(&found, word_named(name, text, sizeof text), error);
    code = code == FIRN_OK ? pure_form_check(found, scheme, scheme->bits, error) : code;
    if (code == FIRN_OK) {
        *form = found;
    }
    return code;
}

int prefix_of(char prefix[PREFIX_SIZE], int form, word text, firn_error *error) {
    int code = pure_prefix(prefix, form, text.text, text.length, error);
    if (code == FIRN_OK && text.length > 0) { /* an empty prefix has no _ */
        memcpy(prefix + text.length, "_", 2);
    }
    return code;
}

bool is_narrow(const firn_scheme *scheme, int form) {
    return scheme->bits <= 64 && (form == FIRN_FORM_DEC || form == FIRN_FORM_UNSIGNED);
}
