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

word parameter_key(word text) {
    static const char *const names[][2] = {
        /* as a client writes it, as the server does */
        {"count", "count"}, {"n", "count"},       {"as", "as"}, {"time", "time"},
        {"tick", "tick"},   {"scheme", "scheme"}, {"to", "to"}, {"mask", "mask"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (word_is(text, names[i][0])) {
            return word_of(names[i][1]);
        }
    }
    return text;
}

bool request_add(server_request *request, word key, word value) {
    if (request->pair_count == REQUEST_PAIRS_MAX) {
        return false;
    }
    request->pairs[request->pair_count].key = parameter_key(key);
    request->pairs[request->pair_count++].value = value;
    return true;
}

/* Count is "n" over HTTP; over RESP names are in capitals. */
static void write_name(char text[64], const server_request *request, word key) {
    bool http = request->worker->http, count = word_is(key, "count");
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

const char *parameter_name(char text[PARAMETER_SIZE], const server_request *request,
                           const char *key) {
    write_name(text, request, word_of(key));
    return text;
}

const char *parameter_text(char text[PARAMETER_SIZE], const server_request *request, word key,
                           word value) {
    char name[64];
    write_name(name, request, key);
    snprintf(text, PARAMETER_SIZE, "%s%s%.*s", name, request->worker->http ? "=" : " ",
             value.length < 60 ? (int)value.length : 60, value.text);
    return text;
}

int refuse_key(const server_request *request, word key, const char *verb, const char *const *known,
               firn_error *error) {
    char name[32], text[PARAMETER_SIZE];
    const char *near = word_copy(key, name, sizeof name) ? firn_nearest(name, known) : NULL;
    return set_error(error, FIRN_EUSAGE, "%s has no parameter '%.*s'%s%s%s", verb, word_shown(key),
                     key.text, near != NULL ? ": did you mean `" : "",
                     near != NULL ? parameter_name(text, request, near) : "",
                     near != NULL ? "`?" : "");
}

int check_keys(const server_request *request, const char *verb, const char *const *known,
               firn_error *error) {
    for (size_t i = 0; i < request->pair_count; i++) {
        if (!word_is_in(request->pairs[i].key, known)) {
            return refuse_key(request, request->pairs[i].key, verb, known, error);
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

int read_count(int64_t *out, const server_request *request, word key, word value, int64_t most,
               firn_error *error) {
    char text[PARAMETER_SIZE];
    uint64_t number = 0;
    if (!is_integer(value)) {
        return set_error(error, FIRN_EUSAGE, "%s is not a number: use 1 to %" PRId64,
                         parameter_text(text, request, key, value), most);
    }
    if (value.text[0] != '-' &&
        value.length <= 19) { /* 19 digits fit; longer ones stay 0, which is refused as well */
        for (size_t i = 0; i < value.length; i++) {
            number = number * 10 + (uint64_t)(value.text[i] - '0');
        }
    }
    if (number < 1 || number > (uint64_t)most) {
        return set_error(error, FIRN_ERANGE, "%s is out of range: use 1 to %" PRId64,
                         parameter_text(text, request, key, value), most);
    }
    *out = (int64_t)number;
    return FIRN_OK;
}

word request_value(const server_request *request, const char *key) {
    for (size_t i = 0; i < request->pair_count; i++) {
        if (word_is(request->pairs[i].key, key)) {
            return request->pairs[i].value;
        }
    }
    return (word){NULL, 0};
}

int refuse_twice(const server_request *request, firn_error *error) {
    char name[64], text[PARAMETER_SIZE];
    for (size_t i = 1; i < request->pair_count; i++) {
        for (size_t j = 0; j < i; j++) {
            word a = request->pairs[i].key, b = request->pairs[j].key;
            if (a.length == b.length && strncasecmp(a.text, b.text, a.length) == 0) {
                return set_error(error, FIRN_EUSAGE, "%s is given twice: give it once",
                                 word_copy(a, name, sizeof name)
                                     ? parameter_name(text, request, name)
                                     : "a parameter");
            }
        }
    }
    return FIRN_OK;
}

/* ---- replies --------------------------------------------------------------------------------- */

int reply_json(json_t *object, server_reply *out, firn_error *error) {
    if (object == NULL) {
        return set_error(error, FIRN_EMEMORY, "out of memory for a reply");
    }
    out->kind = REPLY_JSON;
    out->json = object;
    return FIRN_OK;
}

int worker_make_room(server_worker *worker, bool narrow, firn_error *error) {
    if (narrow && worker->numbers == NULL) {
        worker->numbers = malloc(BATCH_MAX * sizeof *worker->numbers);
    } else if (!narrow && worker->ids == NULL) {
        worker->ids = malloc(BATCH_MAX * sizeof *worker->ids);
    }
    return (narrow ? (void *)worker->numbers : (void *)worker->ids) != NULL
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

size_t reply_write_id(char *out, const server_request *request, const server_reply *reply,
                      size_t i) {
    if (reply->kind == REPLY_NUMBERS) {
        return write_number(out, reply->numbers[i], reply->is_signed);
    }
    const char *before = reply->before[0] != '\0' ? reply->before : request->prefix;
    const size_t prefix = strlen(before);
    firn_id id = reply->ids[i];
    const uint32_t mac = id.top;
    id.top = reply->has_mac ? 0 : id.top;
    memcpy(out, before, prefix);
    firn_format(out + prefix, &id, request->form);
    size_t length = prefix + strlen(out + prefix);
    if (reply->has_mac) {
        memcpy(out + length, &mac, sizeof mac);
        length += sizeof mac;
    }
    return length;
}

size_t reply_taken(const server_reply *reply) {
    return reply->kind == REPLY_NUMBERS ? BATCH_MAX * sizeof *reply->numbers
           : reply->kind == REPLY_IDS   ? BATCH_MAX * sizeof *reply->ids
                                        : 0;
}

bool reply_copy(server_reply *reply) {
    bool narrow = reply->kind == REPLY_NUMBERS, wide = reply->kind == REPLY_IDS;
    const void *source = narrow ? (const void *)reply->numbers : (const void *)reply->ids;
    size_t size = reply->count * (narrow ? sizeof *reply->numbers : wide ? sizeof *reply->ids : 0);
    void *array = size > 0 ? malloc(size) : NULL;
    if (array != NULL) {
        memcpy(array, source, size);
    }
    reply->numbers = narrow ? array : NULL;
    reply->ids = wide ? array : NULL;
    return size == 0 || array != NULL;
}

void reply_free(server_reply *reply) {
    free((void *)(uintptr_t)reply->numbers);
    free((void *)(uintptr_t)reply->ids);
    reply->numbers = NULL;
    reply->ids = NULL;
}

bool reply_take(server_reply *reply, server_worker *worker) {
    bool narrow = reply->kind == REPLY_NUMBERS;
    const void *ids = narrow ? (const void *)reply->numbers : (const void *)reply->ids;
    void *array = narrow ? (void *)worker->numbers : (void *)worker->ids;
    if (array == ids) {
        worker->numbers = narrow ? NULL : worker->numbers;
        worker->ids = narrow ? worker->ids : NULL;
    } else if ((array = malloc(reply_taken(reply))) != NULL) {
        memcpy(array, ids, reply->count * (narrow ? sizeof *reply->numbers : sizeof *reply->ids));
    }
    reply->numbers = narrow ? array : NULL;
    reply->ids = narrow ? NULL : array;
    return array != NULL;
}

void reply_give_back(server_reply *reply, server_worker *worker) {
    uint64_t *numbers = (uint64_t *)(uintptr_t)reply->numbers;
    firn_id *ids = (firn_id *)(uintptr_t)reply->ids;
    if (worker->numbers == NULL) {
        worker->numbers = numbers;
        numbers = NULL;
    }
    if (worker->ids == NULL) {
        worker->ids = ids;
        ids = NULL;
    }
    free(numbers);
    free(ids);
}
