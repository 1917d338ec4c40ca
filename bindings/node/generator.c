/* SPDX-License-Identifier: MIT */
/* Generators. */
#include "firn_node.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>

static napi_value id_value(napi_env env, const firn_id *id, const output *as) {
    char text[FIRN_TEXT_SIZE];
    napi_value value;
    if (as->kind == OUTPUT_BIGINT) {
        napi_create_bigint_uint64(env, id->low, &value);
        return value;
    }
    return as->kind == OUTPUT_BYTES ? buffer(env, id)
                                    : string(env, firn_format(text, id, as->form));
}

/* ---- generator --------------------------------------------------------------------------------- */

typedef struct generator {
    firn_gen *gen; /* NULL: closed */
    output as;
    bool stepping; /* a step runs in the thread pool */
    bool closing;  /* close once it has ended */
} generator;

static const napi_type_tag generator_tag = {0x6669726e67656e65, 1};

static generator *generator_of(call *c) {
    generator *self = object_of(c, 0, &generator_tag);
    if (self != NULL && (self->gen == NULL || self->closing)) {
        fail(c, FIRN_EUSAGE, "the generator is closed: open another one");
        return NULL;
    }
    return self;
}

static void generator_freed(napi_env env, void *data, void *hint) {
    generator *self = data;
    (void)env, (void)hint;
    if (self->gen != NULL) {
        firn_close(self->gen, NULL);
    }
    free(self);
}

/* open(scheme, keys, store, module_dir, note, output, unsafe) */
static napi_value open_generator(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    firn_error error = {0, ""};
    bool unsafe = false;
    firn_gen *gen = NULL;
    napi_get_value_bool(env, c.args[6], &unsafe);
    const firn_store_options options = {.module_dir = text_of(&c, 3, NULL), .unsafe = unsafe};
    const char *keys = text_of(&c, 1, NULL);
    const firn_config config = {.size = sizeof config,
                                .scheme = text_of(&c, 0, NULL),
                                .keys = keys,
                                .store_url = text_of(&c, 2, NULL),
                                .store_options = &options,
                                .note = text_of(&c, 4, NULL),
                                .has_renewer = strstr(keys, "mode=online") == NULL};
    if (firn_open_with(&gen, &config, &error) != FIRN_OK) {
        return end(&c, fail_with(&c, &error));
    }
    output as;
    int code = output_read(&as, firn_gen_scheme(gen), text_of(&c, 5, NULL), &error);
    generator *self = calloc(1, sizeof *self);
    if (code != FIRN_OK || self == NULL) {
        free(self);
        firn_close(gen, NULL);
        return end(&c, code != FIRN_OK ? fail_with(&c, &error)
                                       : fail(&c, FIRN_EMEMORY, "out of memory"));
    }
    self->gen = gen;
    self->as = as;
    return end(&c, wrapped(&c, self, generator_freed, &generator_tag));
}

/* A window that is used up is renewed in this thread, which waits for the store. The timer of index.js renews it before
 * that, in the thread pool. */
static int renewed(generator *self, int code, firn_error *error) {
    int64_t wait_ms;
    return code == FIRN_EWINDOW ? firn_gen_step(self->gen, &wait_ms, error) : code;
}

static int issue(generator *self, firn_id *ids, uint64_t *numbers, size_t count,
                 firn_error *error) {
    for (int i = 0;; i++) {
        int code = count == 1 && ids != NULL ? firn_next(self->gen, ids, error)
                   : ids != NULL             ? firn_next_n(self->gen, ids, count, error)
                                             : firn_next_u64(self->gen, numbers, count, error);
        if (code != FIRN_EWINDOW || i == 4 || renewed(self, code, error) != FIRN_OK) {
            return code;
        }
    }
}

/* next(generator) */
static napi_value next(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    generator *self = generator_of(&c);
    firn_error error = {0, ""};
    firn_id id;
    if (self == NULL) {
        return NULL;
    }
    return issue(self, &id, NULL, 1, &error) == FIRN_OK ? id_value(env, &id, &self->as)
                                                        : fail_with(&c, &error);
}

/* Argument 1, 0 to COUNT_MAX. -1: thrown. */
static int64_t count_of(call *c) {
    int64_t count = integer_of(c, 1);
    if (count >= 0 && count <= COUNT_MAX) {
        return count;
    }
    fail(c, FIRN_ERANGE, "ask for 0 to 16777216 IDs at once");
    return -1;
}

/* many(generator, count[, time]): an array; with a time, as text, back-dated IDs */
static napi_value many(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    generator *self = generator_of(&c);
    firn_error error = {0, ""};
    napi_value array = NULL;
    int64_t count = self != NULL ? count_of(&c) : -1;
    size_t length = 0;
    firn_time at;
    if (count < 0) {
        return NULL;
    }
    const char *time = text_of(&c, 2, &length);
    if (time != NULL && firn_time_parse(&at, time, length, &error) != FIRN_OK) {
        return end(&c, fail_with(&c, &error));
    }
    firn_id *ids = malloc((size_t)count * sizeof *ids + 1);
    if (ids == NULL) {
        return end(&c, fail(&c, FIRN_EMEMORY, "out of memory"));
    }
    int code = count == 0     ? FIRN_OK
               : time != NULL ? firn_at(self->gen, &at, ids, (size_t)count, &error)
                              : issue(self, ids, NULL, (size_t)count, &error);
    if (code != FIRN_OK) {
        fail_with(&c, &error);
    } else {
        napi_create_array_with_length(env, (size_t)count, &array);
        for (uint32_t i = 0; i < (uint32_t)count; i++) {
            napi_handle_scope scope;
            napi_open_handle_scope(env, &scope);
            napi_set_element(env, array, i, id_value(env, &ids[i], &self->as));
            napi_close_handle_scope(env, scope);
        }
    }
    free(ids);
    return end(&c, array);
}

/* array(generator, count): an ArrayBuffer of uint64 for up to 64 bits, else of bytes, most significant first */
static napi_value array(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    generator *self = generator_of(&c);
    firn_error error = {0, ""};
    napi_value out;
    void *data;
    int64_t count = self != NULL ? count_of(&c) : -1;
    if (count < 0) {
        return NULL;
    }
    size_t stride = self->as.bits <= 64 ? 8 : (self->as.bits + 7) / 8;
    if (napi_create_arraybuffer(env, (size_t)count * stride, &data, &out) != napi_ok) {
        return fail(&c, FIRN_EMEMORY, "out of memory");
    }
    if (count == 0) {
        return out;
    }
    if (self->as.bits <= 64) {
        return issue(self, NULL, data, (size_t)count, &error) == FIRN_OK ? out
                                                                         : fail_with(&c, &error);
    }
    firn_id *ids = malloc((size_t)count * sizeof *ids);
    if (ids == NULL || issue(self, ids, NULL, (size_t)count, &error) != FIRN_OK) {
        fail(&c, ids == NULL ? FIRN_EMEMORY : error.code,
             ids == NULL ? "out of memory" : error.text);
        out = NULL;
    }
    for (int64_t i = 0; out != NULL && i < count; i++) {
        uint8_t bytes[20];
        firn_id_bytes(bytes, &ids[i]);
        memcpy((uint8_t *)data + (size_t)i * stride, bytes, stride);
    }
    free(ids);
    return out;
}

/* ---- renewal in the thread pool ------------------------------------------------------------------ */

typedef struct step {
    generator *of;
    napi_ref kept; /* the generator's object lives as long as the step */
    napi_async_work work;
    napi_deferred deferred;
    int64_t wait_ms;
    int code;
    firn_error error;
} step;

static void step_runs(napi_env env, void *data) {
    step *s = data;
    (void)env;
    s->code = firn_gen_step(s->of->gen, &s->wait_ms, &s->error);
}

static void step_ended(napi_env env, napi_status status, void *data) {
    step *s = data;
    napi_value wait;
    (void)status;
    s->of->stepping = false;
    if (s->of->closing) {
        firn_close(s->of->gen, NULL);
        s->of->gen = NULL;
    }
    napi_create_int64(env, s->wait_ms < 1 ? 1 : s->wait_ms, &wait);
    napi_resolve_deferred(env, s->deferred, wait);
    napi_delete_reference(env, s->kept);
    napi_delete_async_work(env, s->work);
    free(s);
}

/* step(generator): a promise of the milliseconds until the next one */
static napi_value step_generator(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    generator *self = generator_of(&c);
    step *s = self != NULL && !self->stepping ? calloc(1, sizeof *s) : NULL;
    napi_value promise;
    if (s == NULL) {
        return NULL;
    }
    s->of = self;
    s->wait_ms = 50;
    self->stepping = true;
    napi_create_reference(env, c.args[0], 1, &s->kept);
    napi_create_promise(env, &s->deferred, &promise);
    napi_create_async_work(env, NULL, string(env, "firn"), step_runs, step_ended, s, &s->work);
    napi_queue_async_work(env, s->work);
    return promise;
}

/* close(generator) */
static napi_value close_generator(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    generator *self = object_of(&c, 0, &generator_tag);
    firn_error error = {0, ""};
    if (self == NULL || self->gen == NULL) {
        return NULL;
    }
    if (self->stepping) {
        self->closing = true;
        return NULL;
    }
    firn_gen *gen = self->gen;
    self->gen = NULL;
    return firn_close(gen, &error) == FIRN_OK ? NULL : fail_with(&c, &error);
}

/* status(generator) -> {reserved, held, node, claims, renewals, giveBacks, storeErrors, scheme, layout} */
static napi_value status(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    generator *self = generator_of(&c);
    firn_status now = {.size = sizeof now};
    napi_value out, value;
    char text[FIRN_LAYOUT_SIZE];
    if (self == NULL) {
        return NULL;
    }
    firn_gen_status(self->gen, &now);
    napi_create_object(env, &out);
    napi_get_boolean(env, now.reserved, &value);
    napi_set_named_property(env, out, "reserved", value);
    napi_get_boolean(env, now.held, &value);
    napi_set_named_property(env, out, "held", value);
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {{"node", now.node},
                  {"claims", now.claims},
                  {"renewals", now.renewals},
                  {"giveBacks", now.give_backs},
                  {"storeErrors", now.store_errors}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        napi_create_double(env, (double)counts[i].value, &value);
        napi_set_named_property(env, out, counts[i].name, value);
    }
    napi_set_named_property(env, out, "scheme", string(env, firn_gen_scheme(self->gen)->name));
    napi_set_named_property(env, out, "layout",
                            string(env, firn_scheme_layout(text, firn_gen_scheme(self->gen))));
    return out;
}

const entry generator_entries[] = {{"open", open_generator}, {"next", next},
                                   {"many", many},           {"array", array},
                                   {"step", step_generator}, {"close", close_generator},
                                   {"status", status},       {NULL, NULL}};
