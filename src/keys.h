/* SPDX-License-Identifier: MIT */
/* Keys: what a caller sets of a generator, read from "key=value key=value" text. Knows names and
 * bounds, not what they do; fields of the row are kept as text until the row is known. */
#ifndef FIRN_KEYS_H
#define FIRN_KEYS_H

#include <firn/firn.h>

enum { FIRN__ORDERING_STRICT, FIRN__ORDERING_THREAD };
enum { FIRN__CLOCK_FRESH, FIRN__CLOCK_EXACT, FIRN__CLOCK_TICK };
enum { FIRN__FULL_BORROW, FIRN__FULL_WAIT, FIRN__FULL_FAIL };
enum { FIRN__BACK_AUTO, FIRN__BACK_LEAVE, FIRN__BACK_WAIT, FIRN__BACK_FAIL };
enum { FIRN__MODE_WINDOW, FIRN__MODE_ONLINE };
enum { FIRN__HISTORY_COMMON, FIRN__HISTORY_JOB };

#define FIRN__KEYS_SIZE 1024

typedef struct firn__pair {
    const char *name, *value; /* into `text` */
} firn__pair;

/* One member a key: numbers and choices as int64_t, words as text or NULL. */
typedef struct firn__keys {
#define NUMBER(name, initial, least, most, text) int64_t name;
#define CHOICE(name, initial, words, text)       int64_t name##_;
#define WORD(name, text)                         const char *name;
#include "keys.def"
#undef NUMBER
#undef CHOICE
#undef WORD
    firn__pair fields[FIRN_SLICES_MAX]; /* keys that are none of the above: fields of the row */
    size_t field_count;
    char text[FIRN__KEYS_SIZE];
} firn__keys;

/* Reads keys; unknown ones are taken as fields. FIRN_EUSAGE, FIRN_ERANGE. */
int firn__keys_read(firn__keys *keys, const char *text, firn_error *error);
/* The same for those who know keys of their own: every pair is kept as a field. */
int firn__keys_split(firn__keys *keys, const char *text, firn_error *error);
/* For a name that is neither key nor field of the row: FIRN_EUSAGE with the nearest of both. */
int firn__keys_unknown(const char *name, const firn_scheme *scheme, firn_error *error);
/* A decimal within bounds. FIRN_EUSAGE: no number; FIRN_ERANGE. */
int firn__number_read(int64_t *number, const char *name, const char *value, int64_t least,
                      int64_t most, firn_error *error);
/* Which of `words` (separated by blanks) `value` is. FIRN_EUSAGE. */
int firn__choice_read(int64_t *choice, const char *name, const char *value, const char *words,
                      firn_error *error);

#endif
