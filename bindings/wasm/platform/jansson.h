/* SPDX-License-Identifier: MIT */
/* The part of jansson with which common/object.c makes objects: JSON is written as text at once. */
#ifndef FIRN_WASM_JANSSON_H
#define FIRN_WASM_JANSSON_H

#include <stdint.h>

typedef int64_t json_int_t;
/* An array or object has no closing bracket yet. */
typedef struct json_t {
    char *text;
    unsigned length, room;
} json_t;

/* NULL: out of memory, or `text` is not UTF-8. */
json_t *json_string(const char *text);
json_t *json_integer(json_int_t value);
json_t *json_array(void);
json_t *json_object(void);
void json_decref(json_t *json);
/* Take over `value`. 0, or -1: out of memory, or `value` is NULL. */
int json_array_append_new(json_t *array, json_t *value);
int json_object_set_new(json_t *object, const char *key, json_t *value);
/* An object: a key is s, a value s, s?, i, I, b, n, o or {}. NULL: a value is NULL, or no
 * memory. */
json_t *json_pack(const char *format, ...);
/* Closes it. The text belongs to `json`. */
const char *json_text(json_t *json);

#endif
