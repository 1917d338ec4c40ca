/* SPDX-License-Identifier: MIT */
/* The body of a POST: a form, or a JSON object. Its members become parameters, as in the query. */
#include "header.h"

#include "errors.h"
#include "net/memory.h"
#include "serve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_SIZE = 24 };

static const char form_type[] = "application/x-www-form-urlencoded";
static const char object_type[] = "application/json";

/* Without parameters. */
static word type_alone(word type) {
    size_t length = 0;
    while (length < type.length && strchr("; \t", type.text[length]) == NULL) {
        length++;
    }
    return (word){type.text, length};
}

bool body_type_is_known(word type) {
    word alone = type_alone(type);
    return word_is(alone, form_type) || word_is(alone, object_type);
}

/* Every client with a right token has room for a small body. */
static bool make_room(exchange *it, size_t length) {
    size_t room = length <= MEMORY_LEAST ? MEMORY_LEAST : BODY_MOST;
    if (room <= it->body_room) {
        return true;
    }
    it->body_lacks_room = room > MEMORY_LEAST && memory_is_full();
    char *body = it->body_lacks_room ? NULL : realloc(it->body, room + 1);
    if (body == NULL) {
        return false;
    }
    memory_hold((int64_t)room - (int64_t)it->body_room);
    it->body = body;
    it->body_room = room;
    return true;
}

bool body_keep(exchange *it, const char *bytes, size_t size) {
    it->body_is_strange = it->body_is_strange || (it->body == NULL && !guard_knows(it));
    it->body_is_over = it->body_is_over || size > BODY_MOST - it->body_length;
    if (it->body_is_strange || it->body_is_over || it->body_lacks_room) {
        return true;
    }
    if (!make_room(it, it->body_length + size)) {
        return it->body_lacks_room;
    }
    memcpy(it->body + it->body_length, bytes, size);
    it->body_length += size;
    return true;
}

/* ---- form ------------------------------------------------------------------------------------ */

static int read_form(exchange *it, firn_error *error) {
    const char *at = it->body, *end = it->body + it->body_length;
    int code = FIRN_OK;
    while (at < end && code == FIRN_OK) {
        const char *stop = memchr(at, '&', (size_t)(end - at));
        stop = stop != NULL ? stop : end;
        const char *equals = memchr(at, '=', (size_t)(stop - at));
        const char *key_end = equals != NULL ? equals : stop;
        word key = {at, (size_t)(key_end - at)};
        word value = {equals != NULL ? equals + 1 : stop,
                      equals != NULL ? (size_t)(stop - equals) - 1 : 0};
        at = stop < end ? stop + 1 : end;
        if (key.length == 0 && value.length == 0) {
            continue; /* && or a line end */
        }
        code = exchange_decode(it, &key, true, error);
        code = code == FIRN_OK ? exchange_decode(it, &value, true, error) : code;
        code = code == FIRN_OK ? exchange_add(it, key, value, error) : code;
    }
    return code;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static int read_member(exchange *it, size_t i, const char *key, const json_t *member,
                       firn_error *error) {
    char *number = it->body + i * NUMBER_SIZE; /* the text was parsed, so its room is free */
    word value = {number, 0};
    if (json_is_string(member)) {
        value = (word){json_string_value(member), json_string_length(member)};
    } else if (json_is_integer(member)) {
        value.length = (size_t)snprintf(number, NUMBER_SIZE, "%" JSON_INTEGER_FORMAT,
                                        json_integer_value(member));
    } else {
        return set_error(error, FIRN_EUSAGE,
                         "'%.60s' in the body is neither a string nor an integer: use a string",
                         key);
    }
    return exchange_add(it, word_of(key), value, error);
}

static int read_json(exchange *it, firn_error *error) {
    json_error_t why;
    const char *key;
    json_t *member;
    size_t count = 0;
    int code = FIRN_OK;
    it->json = json_loadb(it->body, it->body_length, JSON_REJECT_DUPLICATES, &why);
    if (it->json == NULL) {
        return set_error(error, FIRN_EUSAGE, "the body is not JSON, at line %d, column %d (%.100s)",
                         why.line, why.column, why.text);
    }
    if (!json_is_object(it->json) || json_object_size(it->json) > REQUEST_PAIRS_MAX + 1) {
        return set_error(
            error, FIRN_EUSAGE,
            "the body is not an object of at most %d members: use an object such as {\"n\": 2}",
            REQUEST_PAIRS_MAX);
    }
    json_object_foreach(it->json, key, member) {
        code = code == FIRN_OK ? read_member(it, count++, key, member, error) : code;
    }
    return code;
}

int body_read(exchange *it, firn_error *error) {
    if (it->body_length == 0) {
        return FIRN_OK;
    }
    return word_is(type_alone(it->header.content_type), object_type) ? read_json(it, error)
                                                                     : read_form(it, error);
}

void body_free(exchange *it) {
    json_decref(it->json);
    memory_hold(-(int64_t)it->body_room);
    free(it->body);
}
