/* SPDX-License-Identifier: MIT */
/* Fuzzes "key=value key=value" text on both of its readers. Accepted values are within the bounds
 * of keys.def and point into their own copy; a refusal is one short line. */
#include "keys.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool inside(const firn__keys *keys, const char *text) {
    return text >= keys->text && text < keys->text + sizeof keys->text;
}

static void check_fields(const firn__keys *keys) {
    assert(keys->field_count <= FIRN_SLICES_MAX);
    for (size_t i = 0; i < keys->field_count; i++) {
        assert(inside(keys, keys->fields[i].name) && inside(keys, keys->fields[i].value));
        assert(keys->fields[i].name[0] != '\0' && keys->fields[i].name < keys->fields[i].value);
    }
}

static int64_t count_words(const char *words) {
    int64_t count = 1;
    for (; *words != '\0'; words++) {
        count += *words == ' ';
    }
    return count;
}

static void check_bounds(const firn__keys *keys) {
#define NUMBER(name, initial, least, most, text)                                                   \
    assert((keys->name >= (least) && keys->name <= (most)) || keys->name == (initial));
#define DURATION(name, unit, initial, least, most, text)                                           \
    assert((keys->name##_##unit >= (least) && keys->name##_##unit <= (most)) ||                    \
           keys->name##_##unit == (initial));
#define CHOICE(name, initial, words, text)                                                         \
    assert(keys->name##_ >= 0 && keys->name##_ < count_words(words));
#define WORD(name, text) assert(keys->name == NULL || inside(keys, keys->name));
#include "keys.def"
}

static void check_refused(const firn_error *error) {
    assert(error->code < 0 && strlen(error->text) > 0 && strlen(error->text) < sizeof error->text);
    assert(strchr(error->text, '\n') == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1); /* exactly as long, so that reading on is seen */
    firn__keys keys;
    firn_error error = {0};
    assert(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    if (firn__keys_read(&keys, text, &error) == FIRN_OK) {
        check_fields(&keys);
        check_bounds(&keys);
    } else {
        check_refused(&error);
    }
    error = (firn_error){0};
    if (firn__keys_split(&keys, text, &error) == FIRN_OK) {
        check_fields(&keys);
    } else {
        check_refused(&error);
    }
    free(text);
    return 0;
}
