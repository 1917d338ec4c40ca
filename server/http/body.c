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
static bool make_room(http_exchange *exchange, size_t length) {
    size_t room = length <= MEMORY_LEAST ? MEMORY_LEAST : BODY_MOST;
    if (room <= exchange->body_room) {
        return true;
    }
    exchange->body_lacks_room = room > MEMORY_LEAST && memory_is_full();
    char *body = exchange->body_lacks_room ? NULL : realloc(exchange->body, room + 1);
    if (body == NULL) {
        return false;
    }
    memory_hold((int64_t)room - (int64_t)exchange->body_room);
    exchange->body = body;
    exchange->body_room = room;
    return true;
}

bool body_keep(http_exchange *exchange, const char *bytes, size_t size) {
    exchange->body_is_strange =
        exchange->body_is_strange || (exchange->body == NULL && !guard_knows(exchange));
    exchange->body_is_over = exchange->body_is_over || size > BODY_MOST - exchange->body_length;
    if (exchange->body_is_strange || exchange->body_is_over || exchange->body_lacks_room) {
        return true;
    }
    if (!make_room(exchange, exchange->body_length + size)) {
        return exchange->body_lacks_room;
    }
    memcpy(exchange->body + exchange->body_length, bytes, size);
    exchange->body_length += size;
    return true;
}

/* ---- form ------------------------------------------------------------------------------------ */

static int read_form(http_exchange *exchange, firn_error *error) {
    const char *position = exchange->body, *end = exchange->body + exchange->body_length;
    int code = FIRN_OK;
    while (position < end && code == FIRN_OK) {
        const char *stop = memchr(position, '&', (size_t)(end - position));
        stop = stop != NULL ? stop : end;
        const char *equals = memchr(position, '=', (size_t)(stop - position));
        const char *key_end = equals != NULL ? equals : stop;
        word key = {position, (size_t)(key_end - position)};
        word value = {equals != NULL ? equals + 1 : stop,
                      equals != NULL ? (size_t)(stop - equals) - 1 : 0};
        position = stop < end ? stop + 1 : end;
        if (key.length == 0 && value.length == 0) {
            continue; /* && or a line end */
        }
        code = exchange_decode(exchange, &key, true, error);
        code = code == FIRN_OK ? exchange_decode(exchange, &value, true, error) : code;
        code = code == FIRN_OK ? exchange_add(exchange, key, value, error) : code;
    }
    return code;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static int read_member(http_exchange *exchange, size_t i, const char *key, const json_t *member,
                       firn_error *error) {
    char *number = exchange->body + i * NUMBER_SIZE; /* the text was parsed, so its room is free */
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
    return exchange_add(exchange, word_of(key), value, error);
}

static int read_json(http_exchange *exchange, firn_error *error) {
    json_error_t why;
    const char *key;
    json_t *member;
    size_t count = 0;
    int code = FIRN_OK;
    exchange->json =
        json_loadb(exchange->body, exchange->body_length, JSON_REJECT_DUPLICATES, &why);
    if (exchange->json == NULL) {
        return set_error(error, FIRN_EUSAGE, "the body is not JSON, at line %d, column %d (%.100s)",
                         why.line, why.column, why.text);
    }
    if (!json_is_object(exchange->json) ||
        json_object_size(exchange->json) > REQUEST_PAIRS_MAX + 1) {
        return set_error(
            error, FIRN_EUSAGE,
            "the body is not an object of at most %d members: use an object such as {\"n\": 2}",
            REQUEST_PAIRS_MAX);
    }
    json_object_foreach(exchange->json, key, member) {
        code = code == FIRN_OK ? read_member(exchange, count++, key, member, error) : code;
    }
    return code;
}

int body_read(http_exchange *exchange, firn_error *error) {
    if (exchange->body_length == 0) {
        return FIRN_OK;
    }
    return word_is(type_alone(exchange->header.content_type), object_type)
               ? read_json(exchange, error)
               : read_form(exchange, error);
}

void body_free(http_exchange *exchange) {
    json_decref(exchange->json);
    memory_hold(-(int64_t)exchange->body_room);
    free(exchange->body);
}
