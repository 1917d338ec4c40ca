/* SPDX-License-Identifier: MIT */
/* Segments, order numbers and masks. Calls of a segment may wait for the store. */
#include "firn_node.h"

#include <stdlib.h>
#include <string.h>

static const napi_type_tag segment_tag = {0x6669726e7365676d, 1},
                           order_tag = {0x6669726e6f726465, 1}, mask_tag = {0x6669726e6d61736b, 1};

/* ---- segments ---- */

typedef struct segment {
    firn_store *store;
    firn_segment *segment; /* NULL: closed */
    usage use;
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

typedef struct opening {
    work w;
    firn_store_options options;
    const char *key, *keys, *url;
    segment made;
} opening;

static int open_runs(work *w) {
    opening *o = (opening *)w;
    int code = firn_store_open(&o->made.store, o->url, &o->options, &w->error);
    if (code == FIRN_OK && (code = firn_segment_open(&o->made.segment, o->key, o->keys,
                                                     o->made.store, NULL, &w->error)) != FIRN_OK) {
        firn_store_close(o->made.store);
    }
    return code;
}

/* Not an error: the program continues. */
static void warn(const call *c, const char *text) {
    napi_value global, process, emits, out;
    const napi_value args[] = {string(c->env, text), string(c->env, "FirnWarning")};
    napi_get_global(c->env, &global);
    napi_get_named_property(c->env, global, "process", &process);
    napi_get_named_property(c->env, process, "emitWarning", &emits);
    napi_call_function(c->env, process, emits, 2, args, &out);
}

static napi_value open_value(work *w) {
    opening *o = (opening *)w;
    segment *self = malloc(sizeof *self);
    if (self == NULL) {
        return fail(&w->c, FIRN_EMEMORY, "out of memory", NULL);
    }
    *self = o->made;
    o->made.segment = NULL;
    if (w->error.code != FIRN_OK) { /* the reserve is there, the store is not */
        warn(&w->c, w->error.text);
    }
    return wrapped(&w->c, self, segment_freed, &segment_tag);
}

static void open_freed(work *w) {
    shut(&((opening *)w)->made, NULL);
}

/* openSegment(key, keys, store, module_dir, unsafe) */
static napi_value open_segment(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    bool unsafe = false;
    napi_get_value_bool(env, c.args[4], &unsafe);
    const char *key = text_of(&c, 0, NULL), *keys = text_of(&c, 1, NULL);
    const char *url = text_of(&c, 2, NULL), *dir = text_of(&c, 3, NULL);
    opening *o = work_new(&c, sizeof *o);
    if (o == NULL) {
        return NULL;
    }
    o->w.run = open_runs;
    o->w.value = open_value;
    o->w.freed = open_freed;
    o->options = (firn_store_options){
        .module_dir = dir, .unsafe = unsafe, .later = strstr(keys, "reserve=") != NULL};
    o->key = key;
    o->keys = keys;
    o->url = url;
    return work_do(&o->w);
}

typedef struct asking {
    work w;
    segment *owner;
    const char *verb;
    int64_t argument, value;
} asking;

static int ask_runs(work *w) {
    asking *a = (asking *)w;
    firn_segment *segment = a->owner->segment;
    if (strcmp(a->verb, "next") == 0) {
        return firn_segment_next(segment, &a->value, &w->error);
    }
    if (strcmp(a->verb, "block") == 0) {
        return firn_segment_block(segment, a->argument, &a->value, &w->error);
    }
    if (strcmp(a->verb, "peek") == 0) {
        return firn_segment_peek(segment, &a->value, &w->error);
    }
    if (strcmp(a->verb, "advance") == 0) {
        return firn_segment_advance(segment, a->argument, &a->value, &w->error);
    }
    if (strcmp(a->verb, "now") == 0) { /* without the store */
        int64_t count;
        return firn_segment_take(segment, 1, &a->value, &count, NULL, &w->error);
    }
    if (strcmp(a->verb, "increment") == 0) {
        a->value = firn_segment_increment(segment);
        return FIRN_OK;
    }
    return shut(a->owner, &w->error);
}

static napi_value ask_value(work *w) {
    napi_value out;
    napi_create_bigint_int64(w->c.env, ((asking *)w)->value, &out);
    return out;
}

/* segment(object, verb, argument): next, now, block, peek, advance, increment or close; a BigInt */
static napi_value segment_call(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    segment *self = object_of(&c, 0, &segment_tag);
    const int64_t argument = integer_of(&c, 2);
    if (self == NULL) {
        return NULL;
    }
    const char *verb = text_of(&c, 1, NULL);
    const bool closes = strcmp(verb, "close") == 0;
    if (closes && self->use.closing) {
        return end(&c, NULL);
    }
    if (!closes && (self->use.closing || self->segment == NULL)) {
        return end(&c, fail(&c, FIRN_EUSAGE, "the segment is closed", "open another one"));
    }
    asking *a = work_new(&c, sizeof *a);
    if (a == NULL) {
        return NULL;
    }
    a->w.owner = &self->use;
    a->w.run = ask_runs;
    a->w.value = ask_value;
    a->owner = self;
    a->verb = verb;
    a->argument = argument;
    return closes ? work_close(&a->w) : work_do(&a->w);
}

/* ---- order numbers ---- */

static void order_freed(napi_env env, void *data, void *hint) {
    (void)env, (void)hint;
    firn_order_close(data);
}

/* openOrder(buffer of 16 bytes, keys, module_dir) */
static napi_value open_order(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    firn_error error = {0};
    firn_order *made = NULL;
    void *key = NULL;
    size_t size = 0;
    napi_get_buffer_info(env, c.args[0], &key, &size);
    if (size != 16) {
        return fail(&c, FIRN_EUSAGE, "the key has another length", "give 16 bytes");
    }
    int code = firn_order_open(&made, text_of(&c, 1, NULL), key, text_of(&c, 2, NULL), &error);
    return end(&c, code == FIRN_OK ? wrapped(&c, made, order_freed, &order_tag)
                                   : fail_with(&c, &error));
}

/* writeOrder(order, BigInt) -> text; readOrder(order, text) -> BigInt */
static napi_value write_order(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    firn_order *self = object_of(&c, 0, &order_tag);
    firn_error error = {0};
    char text[FIRN_ORDER_SIZE];
    uint64_t integer = 0;
    bool exact = false;
    if (self == NULL) {
        return NULL;
    }
    if (napi_get_value_bigint_uint64(env, c.args[1], &integer, &exact) != napi_ok || !exact) {
        return fail(&c, FIRN_ERANGE, "an integer of an order number is 0 to 18446744073709551615",
                    NULL);
    }
    return firn_order_write(self, text, integer, &error) == FIRN_OK ? string(env, text)
                                                                    : fail_with(&c, &error);
}

static napi_value read_order(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    firn_order *self = object_of(&c, 0, &order_tag);
    firn_error error = {0};
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

/* ---- masks ---- */

static void mask_freed(napi_env env, void *data, void *hint) {
    (void)env, (void)hint;
    firn_mask_close(data);
}

/* openMask(keys, key_file, module_dir) */
static napi_value open_mask(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    firn_error error = {0};
    firn_mask *made = NULL;
    int code = firn_mask_load(&made, text_of(&c, 0, NULL), text_of(&c, 1, NULL),
                              text_of(&c, 2, NULL), &error);
    return end(&c,
               code == FIRN_OK ? wrapped(&c, made, mask_freed, &mask_tag) : fail_with(&c, &error));
}

/* turnMask(mask, text, back) -> text */
static napi_value turn_mask(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    firn_mask *self = object_of(&c, 0, &mask_tag);
    firn_error error = {0};
    char out[FIRN_TEXT_SIZE];
    size_t length = 0;
    bool back = false;
    if (self == NULL) {
        return NULL;
    }
    const char *text = text_of(&c, 1, &length);
    napi_get_value_bool(env, c.args[2], &back);
    const int code = (back ? firn_mask_read : firn_mask_write)(self, out, text, length, &error);
    return end(&c, code == FIRN_OK ? string(env, out) : fail_with(&c, &error));
}

static napi_value print_mask(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    const firn_mask *self = object_of(&c, 0, &mask_tag);
    return self != NULL ? string(env, firn_mask_fingerprint(self)) : NULL;
}

const entry numbers_entries[] = {
    {"openSegment", open_segment}, {"segment", segment_call}, {"openOrder", open_order},
    {"writeOrder", write_order},   {"readOrder", read_order}, {"openMask", open_mask},
    {"turnMask", turn_mask},       {"printMask", print_mask}, {NULL, NULL}};
const entry numbers_promises[] = {
    {"openSegmentAsync", open_segment}, {"segmentAsync", segment_call}, {NULL, NULL}};
