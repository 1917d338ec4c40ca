/* SPDX-License-Identifier: MIT */
#include "request.h"

#include "decimal.h"
#include "errors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- parameters ------------------------------------------------------------------------------ */

word parameter_key(word said) {
    static const char *const names[][2] = {
        /* as a client writes it, as the server does */
        {"count", "count"}, {"n", "count"},       {"as", "as"}, {"time", "time"},
        {"tick", "tick"},   {"scheme", "scheme"}, {"to", "to"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (word_is(said, names[i][0])) {
            return word_of(names[i][1]);
        }
    }
    return said;
}

bool request_add(request *to, word key, word value) {
    if (to->pair_count == REQUEST_PAIRS_MAX) {
        return false;
    }
    to->pairs[to->pair_count].key = parameter_key(key);
    to->pairs[to->pair_count++].value = value;
    return true;
}

/* Count is "n" over HTTP; over RESP names are in capitals. */
static void write_name(char text[64], const request *it, word key) {
    bool http = it->worker->http, count = word_is(key, "count");
    size_t length = key.length < 63 ? key.length : 63;
    for (size_t i = 0; i < length; i++) {
        bool lower = !http && key.text[i] >= 'a' && key.text[i] <= 'z';
        text[i] = lower ? (char)(key.text[i] - 'a' + 'A') : key.text[i];
    }
    text[length] = '\0';
    if (http && count) {
        memcpy(text, "n", 2);
    }
}

const char *parameter_name(char text[PARAMETER_SIZE], const request *it, const char *key) {
    write_name(text, it, word_of(key));
    return text;
}

const char *parameter_text(char text[PARAMETER_SIZE], const request *it, word key, word value) {
    char name[64];
    write_name(name, it, key);
    snprintf(text, PARAMETER_SIZE, "%s%s%.*s", name, it->worker->http ? "=" : " ",
             value.length < 60 ? (int)value.length : 60, value.text);
    return text;
}

int refuse_key(const request *it, word key, const char *verb, const char *const *known,
               firn_error *error) {
    char name[32], text[PARAMETER_SIZE];
    const char *near = word_copy(key, name, sizeof name) ? firn_nearest(name, known) : NULL;
    return set_error(error, FIRN_EUSAGE, "%s has no parameter '%.*s'%s%s%s", verb, word_shown(key),
                     key.text, near != NULL ? ": did you mean `" : "",
                     near != NULL ? parameter_name(text, it, near) : "", near != NULL ? "`?" : "");
}

int check_keys(const request *it, const char *verb, const char *const *known, firn_error *error) {
    for (size_t i = 0; i < it->pair_count; i++) {
        if (!word_is_in(it->pairs[i].key, known)) {
            return refuse_key(it, it->pairs[i].key, verb, known, error);
        }
    }
    return FIRN_OK;
}

static bool is_integer(word text) {
    size_t first = text.length > 0 && text.text[0] == '-'; /* a number, although out of range */
    for (size_t i = first; i < text.length; i++) {
        if (text.text[i] < '0' || text.text[i] > '9') {
            return false;
        }
    }
    return text.length > first;
}

int read_count(int64_t *out, const request *it, word key, word value, int64_t most,
               firn_error *error) {
    char text[PARAMETER_SIZE];
    uint64_t number = 0;
    if (!is_integer(value)) {
        return set_error(error, FIRN_EUSAGE, "%s is not a number: use 1 to %" PRId64,
                         parameter_text(text, it, key, value), most);
    }
    if (value.text[0] != '-' &&
        value.length <= 19) { /* 19 digits fit; longer ones stay 0, which is refused as well */
        for (size_t i = 0; i < value.length; i++) {
            number = number * 10 + (uint64_t)(value.text[i] - '0');
        }
    }
    if (number < 1 || number > (uint64_t)most) {
        return set_error(error, FIRN_ERANGE, "%s is out of range: use 1 to %" PRId64,
                         parameter_text(text, it, key, value), most);
    }
    *out = (int64_t)number;
    return FIRN_OK;
}

word request_value(const request *it, const char *key) {
    for (size_t i = 0; i < it->pair_count; i++) {
        if (word_is(it->pairs[i].key, key)) {
            return it->pairs[i].value;
        }
    }
    return (word){NULL, 0};
}

int refuse_twice(const request *it, firn_error *error) {
    char name[64], text[PARAMETER_SIZE];
    for (size_t i = 1; i < it->pair_count; i++) {
        for (size_t j = 0; j < i; j++) {
            word a = it->pairs[i].key, b = it->pairs[j].key;
            if (a.length == b.length && strncasecmp(a.text, b.text, a.length) == 0) {
                return set_error(error, FIRN_EUSAGE, "%s is given twice: give it once",
                                 word_copy(a, name, sizeof name) ? parameter_name(text, it, name)
                                                                 : "a parameter");
            }
        }
    }
    return FIRN_OK;
}

/* ---- replies --------------------------------------------------------------------------------- */

int reply_json(json_t *object, reply *out, firn_error *error) {
    if (object == NULL) {
        return set_error(error, FIRN_EMEMORY, "out of memory for a reply");
    }
    out->kind = REPLY_JSON;
    out->json = object;
    return FIRN_OK;
}

int worker_make_room(worker *it, bool narrow, firn_error *error) {
    if (narrow && it->numbers == NULL) {
        it->numbers = malloc(BATCH_MAX * sizeof *it->numbers);
    } else if (!narrow && it->ids == NULL) {
        it->ids = malloc(BATCH_MAX * sizeof *it->ids);
    }
    return (narrow ? (void *)it->numbers : (void *)it->ids) != NULL
               ? FIRN_OK
               : set_error(error, FIRN_EMEMORY, "out of memory for a batch of IDs");
}

bool is_passing(int code) {
    return code == FIRN_EWINDOW || code == FIRN_ESTORE || code == FIRN_EUNKNOWN ||
           code == FIRN_EBUSY || code == FIRN_EEXHAUSTED || code == FIRN_ECLOCK || code == FIRN_EIO;
}

int wait_for_renewer(const last_error *failed, firn_error *error) {
    firn_error why;
    int trouble = last_error_get(failed, &why);
    if (trouble != FIRN_OK) {
        *error = why;
    }
    return trouble == FIRN_OK || is_passing(trouble) ? REQUEST_LATER : trouble;
}

size_t write_number(char *out, uint64_t number, bool is_signed) {
    char digits[DECIMAL_MAX + 8]; /* decimal.h writes up to eight bytes more */
    size_t length = decimal_write_signed(digits, number, is_signed);
    memcpy(out, digits, length);
    return length;
}

size_t reply_write_id(char *out, const request *it, const reply *of, size_t i) {
    if (of->kind == REPLY_NUMBERS) {
        return write_number(out, of->numbers[i], of->is_signed);
    }
    size_t prefix = strlen(it->prefix);
    memcpy(out, it->prefix, prefix);
    firn_format(out + prefix, &of->ids[i], it->form);
    return prefix + strlen(out + prefix);
}

size_t reply_taken(const reply *it) {
    return it->kind == REPLY_NUMBERS ? BATCH_MAX * sizeof *it->numbers
           : it->kind == REPLY_IDS   ? BATCH_MAX * sizeof *it->ids
                                     : 0;
}

bool reply_copy(reply *it) {
    bool narrow = it->kind == REPLY_NUMBERS, wide = it->kind == REPLY_IDS;
    const void *from = narrow ? (const void *)it->numbers : (const void *)it->ids;
    size_t size = it->count * (narrow ? sizeof *it->numbers : wide ? sizeof *it->ids : 0);
    void *array = size > 0 ? malloc(size) : NULL;
    if (array != NULL) {
        memcpy(array, from, size);
    }
    it->numbers = narrow ? array : NULL;
    it->ids = wide ? array : NULL;
    return size == 0 || array != NULL;
}

void reply_free(reply *it) {
    free((void *)(uintptr_t)it->numbers);
    free((void *)(uintptr_t)it->ids);
    it->numbers = NULL;
    it->ids = NULL;
}

bool reply_take(reply *it, worker *from) {
    bool narrow = it->kind == REPLY_NUMBERS;
    const void *ids = narrow ? (const void *)it->numbers : (const void *)it->ids;
    void *array = narrow ? (void *)from->numbers : (void *)from->ids;
    if (array == ids) {
        from->numbers = narrow ? NULL : from->numbers;
        from->ids = narrow ? from->ids : NULL;
    } else if ((array = malloc(reply_taken(it))) != NULL) {
        memcpy(array, ids, it->count * (narrow ? sizeof *it->numbers : sizeof *it->ids));
    }
    it->numbers = narrow ? array : NULL;
    it->ids = narrow ? NULL : array;
    return array != NULL;
}

void reply_give_back(reply *it, worker *to) {
    uint64_t *numbers = (uint64_t *)(uintptr_t)it->numbers;
    firn_id *ids = (firn_id *)(uintptr_t)it->ids;
    if (to->numbers == NULL) {
        to->numbers = numbers;
        numbers = NULL;
    }
    if (to->ids == NULL) {
        to->ids = ids;
        ids = NULL;
    }
    free(numbers);
    free(ids);
}
