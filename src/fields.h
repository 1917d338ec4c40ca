/* SPDX-License-Identifier: MIT */
/* Fields, for the inside of the library: the template of an ID, and the check of a value. */
#ifndef FIRN_FIELDS_H
#define FIRN_FIELDS_H

#include "scheme.h"

/* Sets the field whose first slice is i. The value must fit the field. */
static inline void firn__fields_put(firn_fields *fields, uint32_t i, firn_value value) {
    fields->value[i] = value;
    fields->given |= UINT32_C(1) << i;
}

/* Packs the constants and the fields that are set, all other bits 0: the template of a generator.
 * The values must fit. */
void firn__pack_given(firn_id *id, const firn_scheme *scheme, const firn_fields *fields);
/* FIRN_ERANGE if `value` is above the greatest value of the field whose first slice is i. */
int firn__field_check(const firn_scheme *scheme, uint32_t i, firn_value value, firn_error *error);

#endif
