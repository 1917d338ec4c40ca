/* SPDX-License-Identifier: MIT */
/* Operands: words and key=value pairs apart, the scheme that they name, its fields. Reads
 * arguments only; which keys a generator takes is the library's affair. */
#ifndef FIRN_OPERANDS_H
#define FIRN_OPERANDS_H

#include "command.h"

/* Sorts plain words to the front, key=value behind; the first `fixed` operands are plain
 * whatever they look like (a row of the user's own holds = too). Refuses fewer or more plain
 * words than that, and a key given twice. */
int operands_split(session *s, size_t fixed, size_t least, size_t most, const char *wanted);
/* The value of a key, or NULL. */
const char *operand_value(const session *s, const char *name);
/* Is the word `name=...`? */
bool operand_is(const char *word, const char *name);
/* The scheme that the first operand names, with epoch= and bits=. An exit status. */
int operand_scheme(session *s, firn_scheme *scheme);
/* Sets the field of a word name=value. A FIRN_E code. */
int operand_field(firn_fields *fields, const firn_scheme *scheme, const char *word,
                  firn_error *error);
/* Sets the fields of all keys but epoch, bits and those in `not_fields` (ends with NULL). An
 * exit status. */
int operand_fields(session *s, const firn_scheme *scheme, const char *const *not_fields,
                   firn_fields *fields);
/* The store's options that the keys ask for (unsafe=1). */
firn_store_options operand_store_options(const session *s);

#endif
