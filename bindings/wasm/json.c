/* SPDX-License-Identifier: MIT */
/* JSON written as text: see platform/jansson.h. */
#include "platform/jansson.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool put(json_t *json, const char *text, size_t length) {
    if (json->length + length + 2 > json->room) {
        unsigned room = 2 * json->room + (unsigned)length + 62;
        char *more = realloc(json->text, room);
        if (more == NULL) {
            return false;
        }
        json->text = more;
        json->room = room;
    }
    memcpy(json->text + json->length, text, length);
    json->length += (unsigned)length;
    return true;
}

static json_t *make(const char *text) {
    json_t *json = calloc(1, sizeof *json);
    if (json != NULL && !put(json, text, strlen(text))) {
        free(json);
        return NULL;
    }
    return json;
}

void json_decref(json_t *json) {
    if (json != NULL) {
        free(json->text);
        free(json);
    }
}

/* The host passes UTF-8 only. */
static bool put_string(json_t *json, const char *text) {
    bool done = put(json, "\"", 1);
    for (; done && *text != '\0'; text++) {
        char coded[8];
        if ((unsigned char)*text < ' ' || *text == '"' || *text == '\\') {
            snprintf(coded, sizeof coded, "\\u%04x", (unsigned)(unsigned char)*text);
            done = put(json, coded, 6);
        } else {
            done = put(json, text, 1);
        }
    }
    return done && put(json, "\"", 1);
}

json_t *json_string(const char *text) {
    json_t *json = make("");
    if (json != NULL && !put_string(json, text)) {
        json_decref(json);
        return NULL;
    }
    return json;
}

json_t *json_integer(json_int_t value) {
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    return make(text);
}

json_t *json_array(void) {
    return make("[");
}

json_t *json_object(void) {
    return make("{");
}

const char *json_text(json_t *json) {
    char open = json->text[0], close[2] = {open == '[' ? ']' : open == '{' ? '}' : '\0', '\0'};
    if (close[0] != '\0') {
        put(json, close, 1); /* `put` left room */
    }
    json->text[json->length] = '\0';
    return json->text;
}

int json_array_append_new(json_t *array, json_t *value) {
    bool done = value != NULL && (array->length == 1 || put(array, ",", 1));
    if (done) {
        const char *text = json_text(value);
        done = put(array, text, strlen(text));
    }
    json_decref(value);
    return done ? 0 : -1;
}

int json_object_set_new(json_t *object, const char *key, json_t *value) {
    bool done = value != NULL && (object->length == 1 || put(object, ",", 1)) &&
                put_string(object, key) && put(object, ":", 1);
    if (done) {
        const char *text = json_text(value);
        done = put(object, text, strlen(text));
    }
    json_decref(value);
    return done ? 0 : -1;
}

json_t *json_pack(const char *format, ...) {
    json_t *object = json_object();
    va_list values;
    int bad = object == NULL;
    va_start(values, format);
    for (const char *position = format + 1; *position == 's' && !bad;) {
        const char *key = va_arg(values, const char *), *text;
        json_t *value = NULL;
        position += strlen("s:");
        switch (*position) {
        case 's':
            text = va_arg(values, const char *);
            value = text != NULL ? json_string(text) : position[1] == '?' ? make("null") : NULL;
            break;
        case 'i':
            value = json_integer(va_arg(values, int));
            break;
        case 'I':
            value = json_integer(va_arg(values, json_int_t));
            break;
        case 'b':
            value = make(va_arg(values, int) ? "true" : "false");
            break;
        case 'n':
            value = make("null");
            break;
        case '{':
            value = json_object();
            break;
        case 'o':
            value = va_arg(values, json_t *);
        }
        bad = json_object_set_new(object, key, value);
        position += strcspn(position, ",");
        position += strspn(position, ", ");
    }
    va_end(values);
    if (bad) {
        json_decref(object);
        return NULL;
    }
    return object;
}
