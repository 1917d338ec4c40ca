/* SPDX-License-Identifier: MIT */
/* Segments and order numbers. Calls of a segment may wait for the store. */
#include "firn_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const napi_type_tag segment_tag = {0x6669726e7365676d, 1},
                           order_tag = {0x6669726e6f726465, 1};

/* ---- segments ---- */

typedef struct segment {
    firn_store *store;
    firn_segment *segment; /* NULL: closed */
} segment;

static int shut(segment *self, firn_error *error) {
    int code = FIRN_OK;
    if (self->segment != NULL) {
        code = firn_segment_close(self->segment, error);
        firn_store_close(self->store);
        self->segment = NULL;
    }
    return code;
}

static void segment_freed(napi_env env, void *data, void *hint) {
    (void)env, (void)hint;
    shut(data, NULL);
    free(data);
}

/* openSegment(key, keys, store, module_dir, unsafe) */
static napi_value open_segment(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    firn_error error = {0, ""};
    bool unsafe = false;
    segment made = {NULL, NULL};
    napi_get_value_bool(env, c.args[4], &unsafe);
    const firn_store_options options = {.module_dir = text_of(&c, 3, NULL), .unsafe = unsafe};
    int code = firn_store_open(&made.store, text_of(&c, 2, NULL), &options, &error);
    if (code == FIRN_OK &&
        (code = firn_segment_open(&made.segment, text_of(&c, 0, NULL), text_of(&c, 1, NULL),
                                  made.store, NULL, &error)) != FIRN_OK) {
        firn_store_close(made.store);
    }
    if (code != FIRN_OK) {
        return end(&c, fail_with(&c, &error));
    }
    segment *self = malloc(sizeof *self);
    if (self == NULL) {
        shut(&made, NULL);
        return end(&c, fail(&c, FIRN_EMEMORY, "out of memory"));
    }
    *self = made;
    return end(&c, wrapped(&c, self, segment_freed, &segment_tag));
}

/* segment(object, verb, argument): next, block, peek, advance, increment or close; a BigInt */
static napi_value segment_call(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    segment *self = object_of(&c, 0, &segment_tag);
    firn_error error = {0, ""};
    int64_t value = 0, argument = integer_of(&c, 2);
    napi_value out;
    int code;
    if (self == NULL) {
        return NULL;
    }
    const char *verb = text_of(&c, 1, NULL);
    if (self->segment == NULL && strcmp(verb, "close") != 0) {
        return end(&c, fail(&c, FIRN_EUSAGE, "the segment is closed: open another one"));
    }
    if (strcmp(verb, "next") == 0) {
        code = firn_segment_next(self->segment, &value, &error);
    } else if (strcmp(verb, "block") == 0) {
        code = firn_segment_block(self->segment, argument, &value, &error);
    } else if (strcmp(verb, "peek") == 0) {
        code = firn_segment_peek(self->segment, &value, &error);
    } else if (strcmp(verb, "advance") == 0) {
        code = firn_segment_advance(self->segment, argument, &value, &error);
    } else if (strcmp(verb, "increment") == 0) {
        value = firn_segment_increment(self->segment);
        code = FIRN_OK;
    } else {
        code = shut(self, &error);
    }
    if (code != FIRN_OK) {
        return end(&c, fail_with(&c, &error));
    }
    napi_create_bigint_int64(env, value, &out);
    return end(&c, out);
}

/* ---- order numbers ---- */

static void order_freed(napi_env env, void *data, void *hint) {
    (void)env, (void)hint;
    firn_order_close(data);
}

/* openOrder(buffer of 16 bytes, keys, module_dir) */
static napi_value open_order(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    firn_error error = {0, ""};
    firn_order *made = NULL;
    void *key = NULL;
    size_t size = 0;
    napi_get_buffer_info(env, c.args[0], &key, &size);
    if (size != 16) {
        return fail(&c, FIRN_EUSAGE, "the key has another length: give 16 bytes");
    }
    int code = firn_order_open(&made, text_of(&c, 1, NULL), key, text_of(&c, 2, NULL), &error);
    return end(&c, code == FIRN_OK ? wrapped(&c, made, order_freed, &order_tag)
                                   : fail_with(&c, &error));
}

/* writeOrder(order, BigInt) -> text; readOrder(order, text) -> BigInt */
static napi_value write_order(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    firn_order *self = object_of(&c, 0, &order_tag);
    firn_error error = {0, ""};
    char text[FIRN_ORDER_SIZE];
    uint64_t integer = 0;
    bool exact = false;
    if (self == NULL) {
        return NULL;
    }
    if (napi_get_value_bigint_uint64(env, c.args[1], &integer, &exact) != napi_ok || !exact) {
        return fail(&c, FIRN_ERANGE, "an integer of an order number is 0 to 18446744073709551615");
    }
    return firn_order_write(self, text, integer, &error) == FIRN_OK ? string(env, text)
                                                                    : fail_with(&c, &error);
}

static napi_value read_order(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    firn_order *self = object_of(&c, 0, &order_tag);
    firn_error error = {0, ""};
    uint64_t integer = 0;
    size_t length = 0;
    napi_value out;
    if (self == NULL) {
        return NULL;
    }
    const char *text = text_of(&c, 1, &length);
    if (firn_order_read(self, &integer, text, length, &error) != FIRN_OK) {
        return end(&c, fail_with(&c, &error));
    }
    napi_create_bigint_uint64(env, integer, &out);
    return end(&c, out);
}

const entry numbers_entries[] = {{"openSegment", open_segment}, {"segment", segment_call},
                                 {"openOrder", open_order},     {"writeOrder", write_order},
                                 {"readOrder", read_order},     {NULL, NULL}};
