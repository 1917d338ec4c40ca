/* SPDX-License-Identifier: MIT */
/* Writers and readers of IDs as text, one per form, for the inside of the library. */
#ifndef FIRN_TEXT_H
#define FIRN_TEXT_H

#include <firn/firn.h>

/* Writes an ID of 1 to 160 bits with a zero, and returns `out`; "" as firn_format. Overwrites up to
 * FIRN_TEXT_SIZE characters. */
typedef char *firn__writer(char *out, const firn_id *id);
/* firn_parse of 1 to 160 bits, in the one form that it is for. */
typedef int firn__reader(firn_id *id, int form, uint32_t bits, const char *text, size_t length,
                         firn_error *error);

extern firn__writer *const firn__writers[FIRN_FORM_COUNT];
extern firn__reader *const firn__readers[FIRN_FORM_COUNT];
/* The error of firn_parse for a text that is not an ID. */
int firn__refuse_text(int form, uint32_t bits, const char *text, size_t length, firn_error *error);
/* Whether texts of a form may have their letters in either case. */
bool firn__form_folds(int form);
/* Whether a text is a prefix of a typeid: [a-z]([a-z_]*[a-z])?, at most 63 characters. */
bool firn__is_prefix(const char *text, size_t length);

#endif
