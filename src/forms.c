/* SPDX-License-Identifier: MIT */
/* Names and widths of the text forms: see forms.h. */
#include "forms.h"

#include "date_form.h"
#include "encoded.h"
#include "text.h"

#include <string.h>

const char *firn_form_name(int form) {
    return form >= 0 && form < FIRN_FORM_COUNT ? firn__forms[form].name : NULL;
}

int firn_form_find(const char *name) {
    for (int form = 0; form < FIRN_FORM_COUNT; form++) {
        if (strcmp(firn__forms[form].name, name) == 0) {
            return form;
        }
    }
    return -1;
}

size_t firn_form_width(int form, uint32_t bits) {
    if (form < 0 || form >= FIRN_FORM_COUNT || bits < 1 || bits > 160) {
        return 0;
    }
    switch (firn__forms[form].kind) {
    case KIND_FRAME:
        return bits == 128 ? strlen(firn__forms[form].frame) : 0;
    case KIND_TYPEID:
        return bits == 128 ? firn__form_digits(&firn__forms[form], bits) : 0;
    case KIND_DATED:
        return firn__dated_width(bits);
    case KIND_BYTES:
    case KIND_NCNAME:
        return firn__encoded_width(&firn__forms[form], bits);
    default:
        return firn__form_digits(&firn__forms[form], bits);
    }
}

bool firn__form_folds(int form) {
    const uint8_t *values = firn__forms[form].values;
    return values['a'] != 0 && values['a'] == values['A'];
}
