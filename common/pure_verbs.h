/* SPDX-License-Identifier: MIT */
/* The rules of pack, range, convert and text forms, which every surface has: the command, the
 * server and the SQL extensions translate their syntax into these calls. No error names an option
 * or a parameter. Reads no clock and no store. */
#ifndef FIRN_PURE_VERBS_H
#define FIRN_PURE_VERBS_H

#include "reading.h"

/* The forms of all widths, for errors. */
#define FORM_NAMES                                                                                 \
    "dec, hex, uuid, urn, braced, base32, base32hex, base36, base58, base62, base64, base64url "   \
    "or bin"

/* As firn_scheme_make; an error of the epoch names it. */
int pure_scheme(firn_scheme *scheme, const char *text, const char *epoch, const char *bits,
                const char *digits, firn_error *error);
/* As firn_fields_set; an error of the time names it. */
int pure_field(firn_fields *fields, const firn_scheme *scheme, const char *name, const char *value,
               firn_error *error);
/* As firn_time_parse, with the time in the error. */
int pure_time(firn_time *time, const char *text, size_t length, firn_error *error);
/* The same with `name` in place of "the time", for an end of a time span: FROM or TO. */
int pure_named_time(firn_time *time, const char *name, const char *text, firn_error *error);

/* Finds the form of a name. FIRN_EUSAGE: no form has it; the error suggests the nearest name. */
int pure_form(int *form, const char *name, firn_error *error);
/* FIRN_EUSAGE: IDs of `bits` have no such form, or the scheme (NULL: not known) does not have
 * it. */
int pure_form_check(int form, const firn_scheme *scheme, uint32_t bits, firn_error *error);
/* FIRN_EMISMATCH: firn_format found that the time or the digits of the ID are out of the range of
 * the form. */
int pure_form_refuse(int form, firn_error *error);
/* Reads the prefix of a TypeID. FIRN_EUSAGE: the form takes none, or it is not a prefix. */
int pure_prefix(char prefix[FIRN_PREFIX_SIZE], int form, const char *text, size_t length,
                firn_error *error);

/* As firn_pack. FIRN_EUSAGE: the scheme needs a key. */
int pure_pack(firn_id *id, const firn_scheme *scheme, const firn_fields *fields, firn_error *error);
/* A note about a packed ID that is written in a form: as a negative number it sorts before all
 * others, so generators do not issue it and no range has it. NULL: it is not negative. */
const char *pure_pack_note(const firn_scheme *scheme, int form, const firn_id *id);
/* FIRN_EUSAGE: the scheme needs a key, which only the command takes, after `words`. */
int pure_keyed_check(const firn_scheme *scheme, const char *words, firn_error *error);
/* As firn_range, for IDs in a form (-1: as numbers or bytes). FIRN_EUNSORTED: IDs in this form do
 * not sort. */
int pure_range(firn_id *least, firn_id *greatest, const firn_scheme *scheme, int form,
               const firn_fields *pinned, const firn_time *from, const firn_time *to,
               firn_error *error);
/* The same for two ends that a user gave: the error names the end that is out of range. */
int pure_span(firn_id *least, firn_id *greatest, const firn_scheme *scheme, int form,
              const firn_fields *pinned, const firn_time *from, const firn_time *to,
              firn_error *error);

/* The result of a conversion: `form` is a form, or -1 for `scheme`. */
typedef struct pure_target {
    int form;
    firn_scheme scheme;
} pure_target;
/* The form of the converted ID. */
static inline int pure_target_form(const pure_target *target) {
    return target->form >= 0 ? target->form : target->scheme.form;
}
/* Finds the target of a name. FIRN_EUSAGE: it is neither a form nor a scheme. */
int pure_target_find(pure_target *target, const char *name, firn_error *error);
/* Converts what `text` reads as. `cure` says how to choose a reading. Codes as readings_certain and
 * readings_convert. */
int pure_convert(firn_id *id, const pure_target *target, const firn_reading *readings,
                 id_counts counts, const char *text, const char *cure, firn_error *error);

#endif
