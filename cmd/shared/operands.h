/* SPDX-License-Identifier: MIT */
/* Operands: words and key=value pairs apart, the scheme that they name, its fields. Reads
 * arguments only; which keys a generator takes is the library's affair. */
#ifndef FIRN_OPERANDS_H
#define FIRN_OPERANDS_H

#include "command.h"

/* Sorts plain words before key=value; the first `fixed` words are plain with any content except
 * a setting (a path may contain =). Refuses fewer or more plain words than that, and a key given
 * twice. */
int operands_split(session *s, size_t fixed, size_t least, size_t most, const char *wanted);
/* The value of a key, or NULL. */
const char *operand_value(const session *s, const char *name);
/* Is the word `name=...`? */
bool operand_is(const char *word, const char *name);
/* Refuses settings among operands that are IDs, before anything is written. An exit status. */
int operands_are_ids(session *s);
/* Is the word in `names` (ends with NULL)? */
bool operand_is_one_of(const char *word, const char *const *names);
/* Joins the keys with blanks, except `others` (ends with NULL), and leaves `room` bytes free at the
 * end. An exit status. */
int operands_join(session *s, const char *const *others, size_t room, char *keys, size_t size);
/* Appends another default of a key that is not given. */
void operands_assume(const session *s, const char *name, const char *value, char *keys,
                     size_t size);
/* The scheme that the first operand names, with epoch=, bits= and digits=. An exit status. */
int operand_scheme(session *s, firn_scheme *scheme);
/* Sets the field of a word name=value. A FIRN_E code. */
int operand_field(firn_fields *fields, const firn_scheme *scheme, const char *word,
                  firn_error *error);
/* Sets the fields of all keys but epoch, bits, digits and those in `not_fields` (ends with NULL).
 * An exit status. */
int operand_fields(session *s, const firn_scheme *scheme, const char *const *not_fields,
                   firn_fields *fields);
/* The URL of the store: --store, else FIRN_STORE of the environment, else NULL for the default. A
 * password among the arguments, where every user of the machine can read it, is worth a note. */
const char *operand_store_url(session *s);
/* The store's options that were asked for (--unsafe). A new store is worth a note. */
firn_store_options operand_store_options(session *s);
/* Opens the store of a URL with these options; its warnings become notes. `must_exist`: a missing
 * SQLite file is an error, unless the URL is NULL. An exit status. */
int operand_store(session *s, firn_store **store, const char *url, bool must_exist);

#endif
