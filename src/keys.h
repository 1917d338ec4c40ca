/* SPDX-License-Identifier: MIT */
/* Keys: the settings of a generator, read from "key=value key=value". Knows their names and
 * limits. Fields of the scheme are kept as text until the scheme is known. */
#ifndef FIRN_KEYS_H
#define FIRN_KEYS_H

#include <firn/firn.h>

enum { FIRN__ORDERING_STRICT, FIRN__ORDERING_THREAD };
enum { FIRN__CLOCK_FRESH, FIRN__CLOCK_EXACT, FIRN__CLOCK_TICK };
enum { FIRN__ENTROPY_AUTO, FIRN__ENTROPY_SYSTEM };
enum { FIRN__FULL_BORROW, FIRN__FULL_WAIT, FIRN__FULL_FAIL };
enum { FIRN__BACK_AUTO, FIRN__BACK_LEAVE, FIRN__BACK_WAIT, FIRN__BACK_FAIL };
#define FIRN__BACK_STAY (FIRN__BACK_FAIL + 1) /* of auto, without a store */
enum { FIRN__REACH_15S, FIRN__REACH_10MIN, FIRN__REACH_1H };
enum { FIRN__MODE_WINDOW, FIRN__MODE_ONLINE };
enum { FIRN__HISTORY_COMMON, FIRN__HISTORY_JOB };
enum { FIRN__UNSIGNED_AUTO, FIRN__UNSIGNED_0, FIRN__UNSIGNED_1 };

#define FIRN__KEYS_SIZE 1024

typedef struct firn__pair {
    const char *name, *value; /* into `text` */
} firn__pair;

/* One member per key: numbers, durations and choices as int64_t, words as text or NULL. */
typedef struct firn__keys {
#define NUMBER(name, initial, least, most, text)         int64_t name;
#define DURATION(name, unit, initial, least, most, text) int64_t name##_##unit;
#define CHOICE(name, initial, words, text)               int64_t name##_;
#define WORD(name, text)                                 const char *name;
#include "keys.def"
    firn__pair fields[FIRN_SLICES_MAX]; /* all other keys: fields of the scheme */
    size_t field_count;
    char text[FIRN__KEYS_SIZE];
} firn__keys;

/* Reads keys; unknown keys are kept as fields. FIRN_EUSAGE, FIRN_ERANGE. */
int firn__keys_read(firn__keys *keys, const char *text, firn_error *error);
/* The same for callers with other keys: every pair is kept as a field. */
int firn__keys_split(firn__keys *keys, const char *text, firn_error *error);
/* Adds a pair, whose texts must live as long as `keys`, to the fields. FIRN_EUSAGE: too many. */
int firn__keys_keep(firn__keys *keys, const char *name, const char *value, firn_error *error);
/* FIRN_EUSAGE: the name of the pair is neither a key nor a field of the scheme. */
int firn__keys_unknown(const firn__pair *pair, const firn_scheme *scheme, firn_error *error);
/* Reads a decimal number, least..most. FIRN_EUSAGE: not a number; FIRN_ERANGE. */
int firn__number_read(int64_t *number, const char *name, const char *value, int64_t least,
                      int64_t most, firn_error *error);
/* The index of `value` in `words` (separated by blanks). FIRN_EUSAGE. */
int firn__choice_read(int64_t *choice, const char *name, const char *value, const char *words,
                      firn_error *error);

#endif
