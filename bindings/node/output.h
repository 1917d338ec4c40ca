/* SPDX-License-Identifier: MIT */
/* How a generator's IDs become values of JavaScript: the option `output`. Of the addon and of
 * WebAssembly. */
#ifndef FIRN_NODE_OUTPUT_H
#define FIRN_NODE_OUTPUT_H

#include <firn/firn.h>

#include <stdio.h>
#include <string.h>

enum output_kind { OUTPUT_BIGINT, OUTPUT_TEXT, OUTPUT_BYTES };

typedef struct output {
    int kind, form;
    uint32_t bits;
    char prefix[FIRN_PREFIX_SIZE]; /* of TypeIDs */
} output;

/* `name`: "bigint", "string", "buffer", a form, or NULL for what suits the scheme. FIRN_EUSAGE. */
static inline int output_of(output *out, const firn_scheme *scheme, const char *prefix,
                            const char *name, firn_error *error) {
    int form = name == NULL ? scheme->form : firn_form_find(name);
    *out = (output){OUTPUT_TEXT, scheme->form, scheme->bits, ""};
    strcpy(out->prefix, prefix);
    if (name == NULL) {
        bool number = form == FIRN_FORM_DEC || form == FIRN_FORM_UNSIGNED;
        out->kind = scheme->bits <= 64 && number ? OUTPUT_BIGINT : OUTPUT_TEXT;
    } else if (strcmp(name, "bigint") == 0 && scheme->bits <= 64) {
        out->kind = OUTPUT_BIGINT;
    } else if (strcmp(name, "buffer") == 0) {
        out->kind = OUTPUT_BYTES;
    } else if (form >= 0 && firn_form_width(form, scheme->bits) > 0) {
        out->form = form;
    } else if (strcmp(name, "string") != 0) {
        return firn_error_set(
            error, FIRN_EUSAGE, FIRN_CURE_LISTED,
            "output %.40s does not fit %s, which has %u bits: bigint (up to 64), buffer, "
            "string or a form",
            name, scheme->name, (unsigned)scheme->bits);
    }
    return FIRN_OK;
}

/* The same for a generator. */
static inline int output_read(output *out, const firn_gen *gen, const char *name,
                              firn_error *error) {
    return output_of(out, firn_gen_scheme(gen), firn_gen_prefix(gen), name, error);
}

/* The text of an ID, with the prefix of a TypeID. */
static inline char *output_text(char text[FIRN_TEXT_SIZE], const output *form, const firn_id *id) {
    return form->form == FIRN_FORM_TYPEID ? firn_prefix_format(text, form->prefix, id)
                                          : firn_format(text, id, form->form);
}

#endif
