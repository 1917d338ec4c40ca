/* SPDX-License-Identifier: MIT */
/* Keys: "key=value key=value" split, checked against keys.def and put into a struct. */
#include "keys.h"

#include "duration.h"
#include "error.h"
#include "nearest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int firn__number_read(int64_t *number, const char *name, const char *value, int64_t least,
                      int64_t most, firn_error *error) {
    const char *position = value + (*value == '-');
    uint64_t sum = 0;
    if (*position == '\0' || strspn(position, "0123456789") != strlen(position)) {
        return firn__fail(error, FIRN_EUSAGE,
                          "%s=" FIRN__VALUE("%.40s") " is not valid: write a whole number", name,
                          value);
    }
    for (; *position != '\0' && sum < UINT64_MAX / 16; position++) {
        sum = sum * 10 + (uint64_t)(*position - '0');
    }
    bool wide = *position != '\0' || sum > INT64_MAX;
    int64_t out = wide ? INT64_MAX : (int64_t)sum;
    out = *value == '-' ? -out : out;
    if (wide || out < least || out > most) {
        return firn__fail(error, FIRN_ERANGE,
                          "%s=" FIRN__VALUE("%.40s") " is out of range (" FIRN__LIMIT(
                              "%" PRId64 " to %" PRId64) ")",
                          name, value, least, most);
    }
    *number = out;
    return FIRN_OK;
}

/* Is a value this word, or the same duration: 600s for 10min? */
static bool is_choice(const char *value, const char *text, size_t length) {
    char word[FIRN__DURATION_SIZE];
    int64_t us, other;
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    return strcmp(value, word) == 0 || (firn__duration_read(&us, value) &&
                                        firn__duration_read(&other, word) && us == other && us > 0);
}

int firn__choice_read(int64_t *choice, const char *name, const char *value, const char *words,
                      firn_error *error) {
    int64_t index = 0;
    for (const char *position = words; *position != '\0'; index++) {
        size_t length = strcspn(position, " ");
        if (is_choice(value, position, length)) {
            *choice = index;
            return FIRN_OK;
        }
        position += length + (position[length] == ' ');
    }
    return firn_error_set(
        error, FIRN_EUSAGE, FIRN_CURE_LISTED,
        "%s=" FIRN__VALUE("%.40s") " is not valid: choose one of " FIRN__LIMIT("%s"), name, value,
        words);
}

int firn__keys_keep(firn__keys *keys, const char *name, const char *value, firn_error *error) {
    if (keys->field_count == FIRN_SLICES_MAX) {
        return firn__fail(error, FIRN_EUSAGE, "too many keys: leave '%.40s' out", name);
    }
    keys->fields[keys->field_count++] = (firn__pair){name, value};
    return FIRN_OK;
}

/* Puts one pair into its member, or keeps it as a field. */
static int take_pair(firn__keys *keys, const char *name, const char *value, firn_error *error) {
#define NUMBER(key, initial, least, most, text)                                                    \
    if (strcmp(name, #key) == 0) {                                                                 \
        return firn__number_read(&keys->key, name, value, least, most, error);                     \
    }
#define CHOICE(key, initial, words, text)                                                          \
    if (strcmp(name, #key) == 0) {                                                                 \
        return firn__choice_read(&keys->key##_, name, value, words, error);                        \
    }
#define DURATION(key, unit, initial, least, most, text)                                            \
    if (strcmp(name, #key) == 0) {                                                                 \
        return firn__duration_set(&keys->key##_##unit, #key "=", value, #unit, least, most,        \
                                  error);                                                          \
    }
#define WORD(key, text)                                                                            \
    if (strcmp(name, #key) == 0) {                                                                 \
        keys->key = value;                                                                         \
        return FIRN_OK;                                                                            \
    }
#include "keys.def"
    return firn__keys_keep(keys, name, value, error);
}

static int read_pairs(firn__keys *keys, const char *text, bool plain, firn_error *error) {
    static const firn__keys initial = {
#define NUMBER(key, value, least, most, text)         .key = (value),
#define DURATION(key, unit, value, least, most, text) .key##_##unit = (value),
#define CHOICE(key, value, words, text)               .key##_ = (value),
#include "keys.def"
    };
    size_t length = text == NULL ? 0 : strlen(text);
    *keys = initial;
    if (length >= sizeof keys->text) {
        return firn__fail(error, FIRN_EUSAGE, "the keys have %zu characters: write at most %d",
                          length, FIRN__KEYS_SIZE - 1);
    }
    memcpy(keys->text, text == NULL ? "" : text, length + 1);
    for (char *position = keys->text + strspn(keys->text, " "); *position != '\0';
         position += strspn(position, " ")) {
        size_t word = strcspn(position, " ");
        char *end = position + word + (position[word] == ' ');
        position[word] = '\0';
        char *equals = strchr(position, '=');
        if (equals == NULL || equals == position || equals[1] == '\0') {
            return firn__fail(error, FIRN_EUSAGE, "'%.60s' is not valid: write key=value",
                              position);
        }
        *equals = '\0';
        int code = plain ? firn__keys_keep(keys, position, equals + 1, error)
                         : take_pair(keys, position, equals + 1, error);
        if (code != FIRN_OK) {
            return code;
        }
        position = end;
    }
    return FIRN_OK;
}

int firn__keys_read(firn__keys *keys, const char *text, firn_error *error) {
    return read_pairs(keys, text, false, error);
}

int firn__keys_split(firn__keys *keys, const char *text, firn_error *error) {
    return read_pairs(keys, text, true, error);
}

int firn__keys_unknown(const firn__pair *pair, const firn_scheme *scheme, firn_error *error) {
    const char *names[64];
    size_t count = 0;
#define RENAMED(old, new, unit)                                                                    \
    if (strcmp(pair->name, #old) == 0) {                                                           \
        return firn__fail(error, FIRN_EUSAGE,                                                      \
                          #old "= is now " #new "=, with a unit: write " #new "=%.40s%s",          \
                          pair->value, firn__duration_unit(pair->value, #unit));                   \
    }
#define NUMBER(key, initial, least, most, text)         names[count++] = #key;
#define DURATION(key, unit, initial, least, most, text) names[count++] = #key;
#define CHOICE(key, initial, words, text)               names[count++] = #key;
#define WORD(key, text)                                 names[count++] = #key;
#include "keys.def"
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        if (scheme->slices[i].role != FIRN_ROLE_CONST) {
            names[count++] = scheme->slices[i].name;
        }
    }
    names[count] = NULL;
    return firn__refuse_unknown(error, scheme->name, "has no key or field", pair->name, names,
                                FIRN_CURE_LIST_KEYS, NULL);
}
