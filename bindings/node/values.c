/* SPDX-License-Identifier: MIT */
/* Arguments, results and errors of calls, and the module itself. */
#include "firn_node.h"

#include <stdlib.h>
#include <string.h>

call begin(napi_env env, napi_callback_info info) {
    call c = {.env = env, .count = MOST_ARGS};
    void *async = NULL;
    napi_get_cb_info(env, info, &c.count, c.args, &c.self, &async);
    c.async = async != NULL; /* see add */
    return c;
}

napi_value end(call *c, napi_value value) {
    while (c->texts > 0) {
        free(c->text[--c->texts]);
    }
    return value;
}

static void set_text(call *c, napi_value thrown, const char *name, const char *text,
                     size_t length) {
    napi_value value;
    napi_create_string_utf8(c->env, text, length, &value);
    napi_set_named_property(c->env, thrown, name, value);
}

napi_value fail_with(call *c, const firn_error *error) {
    const char *text = error->text;
    napi_value thrown, number;
    napi_create_object(c->env, &thrown);
    napi_create_int32(c->env, error->code, &number);
    napi_set_named_property(c->env, thrown, "code", number);
    set_text(c, thrown, "text", text, NAPI_AUTO_LENGTH);
    set_text(c, thrown, "cure", error->cure_at != 0 ? text + error->cure_at : "", NAPI_AUTO_LENGTH);
    set_text(c, thrown, "cureName", firn_curename(error->cure), NAPI_AUTO_LENGTH);
    set_text(c, thrown, "value", text + error->value.at, error->value.length);
    set_text(c, thrown, "limit", text + error->limit.at, error->limit.length);
    napi_throw(c->env, thrown);
    return NULL;
}

/* `cure` may be NULL. */
napi_value fail(call *c, int code, const char *what, const char *cure) {
    firn_error error;
    if (cure != NULL) {
        firn_error_set(&error, code, FIRN_CURE_OTHER, "%s: %s", what, cure);
    } else {
        firn_error_set(&error, code, FIRN_CURE_NONE, "%s", what);
    }
    return fail_with(c, &error);
}

static bool is_null(call *c, size_t i) {
    napi_valuetype type = napi_undefined;
    if (i < c->count) {
        napi_typeof(c->env, c->args[i], &type);
    }
    return type == napi_undefined || type == napi_null;
}

const char *text_of(call *c, size_t i, size_t *length) {
    size_t size = 0;
    char *text;
    if (is_null(c, i) ||
        napi_get_value_string_utf8(c->env, c->args[i], NULL, 0, &size) != napi_ok ||
        (text = malloc(size + 1)) == NULL) {
        return NULL;
    }
    napi_get_value_string_utf8(c->env, c->args[i], text, size + 1, &size);
    c->text[c->texts++] = text;
    if (length != NULL) {
        *length = size;
    }
    return text;
}

int64_t integer_of(call *c, size_t i) {
    int64_t value = 0;
    bool exact;
    if (i < c->count && napi_get_value_int64(c->env, c->args[i], &value) != napi_ok) {
        napi_get_value_bigint_int64(c->env, c->args[i], &value, &exact);
    }
    return value;
}

napi_value string(napi_env env, const char *text) {
    napi_value value;
    napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &value);
    return value;
}

napi_value buffer(napi_env env, const firn_id *id) {
    uint8_t bytes[20];
    napi_value value;
    size_t size = firn_id_bytes(bytes, id);
    napi_create_buffer_copy(env, size, bytes, NULL, &value);
    return value;
}

void *object_of(call *c, size_t i, const napi_type_tag *tag) {
    void *data = NULL;
    bool mine = false;
    if (i >= c->count || napi_check_object_type_tag(c->env, c->args[i], tag, &mine) != napi_ok ||
        !mine || napi_unwrap(c->env, c->args[i], &data) != napi_ok) {
        fail(c, FIRN_EUSAGE, "not an object of firn", NULL);
    }
    return data;
}

napi_value wrapped(call *c, void *data, napi_finalize freed, const napi_type_tag *tag) {
    napi_value object;
    napi_create_object(c->env, &object);
    napi_type_tag_object(c->env, object, tag);
    napi_wrap(c->env, object, data, freed, NULL, NULL);
    return object;
}

/* In any thread: each has its own instance of the module, and all have one library. */
static napi_value renew_identity(napi_env env, napi_callback_info info) {
    (void)env, (void)info;
    firn_renew_identity();
    return NULL;
}

/* ---- the module ------------------------------------------------------------------------------ */

static void add(napi_env env, napi_value exports, const entry *entries, bool async) {
    for (; entries->name != NULL; entries++) {
        napi_value function;
        napi_create_function(env, entries->name, NAPI_AUTO_LENGTH, entries->call,
                             async ? env : NULL, &function);
        napi_set_named_property(env, exports, entries->name, function);
    }
}

static void add_codes(napi_env env, napi_value exports) {
    napi_value codes, number;
    napi_create_object(env, &codes);
#define FIRN_X(name, value, text)                                                                  \
    napi_create_int32(env, value, &number);                                                        \
    napi_set_named_property(env, codes, #name, number);
    FIRN_ERRORS(FIRN_X)
#undef FIRN_X
    napi_set_named_property(env, exports, "codes", codes);
    napi_set_named_property(env, exports, "backend", string(env, "addon"));
    napi_set_named_property(env, exports, "version", string(env, firn_version()));
    napi_set_named_property(env, exports, "builtFor", string(env, FIRN_VERSION));
}

NAPI_MODULE_INIT() {
    add(env, exports, generator_entries, false);
    add(env, exports, generator_promises, true);
    add(env, exports, numbers_entries, false);
    add(env, exports, numbers_promises, true);
    add(env, exports, series_entries, false);
    add(env, exports, series_promises, true);
    add(env, exports, job_entries, false);
    add(env, exports, job_promises, true);
    add(env, exports, pure_entries, false);
    add(env, exports, (const entry[]){{"renewIdentity", renew_identity}, {NULL, NULL}}, false);
    add_codes(env, exports);
    return exports;
}
