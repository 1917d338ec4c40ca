/* SPDX-License-Identifier: MIT */
/* Generators. */
#include "firn_node.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>

napi_value id_value(napi_env env, const firn_id *id, const output *form) {
    char text[FIRN_TEXT_SIZE];
    napi_value value;
    if (form->kind == OUTPUT_BIGINT) {
        napi_create_bigint_uint64(env, id->low, &value);
        return value;
    }
    if (form->kind == OUTPUT_BYTES) {
        return buffer(env, id);
    }
    output_text(text, form, id); /* ASCII */
    napi_create_string_latin1(env, text, NAPI_AUTO_LENGTH, &value);
    return value;
}

/* ---- generator ------------------------------------------------------------------------------- */

typedef struct generator {
    firn_gen *gen; /* NULL: closed */
    output as;
    bool sleeps; /* each call may wait in the library */
    usage use;
} generator;

static const napi_type_tag generator_tag = {0x6669726e67656e65, 1};

static napi_value closed(call *c) {
    return fail(c, FIRN_EUSAGE, "the generator is closed", "open another one");
}

static generator *generator_of(call *c) {
    generator *self = object_of(c, 0, &generator_tag);
    if (self != NULL && (self->use.closing || self->gen == NULL)) {
        closed(c);
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

/* A window that is used up is renewed in this thread, which waits for the store. The timer of
 * index.js renews it before that, in the thread pool. */
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

/* generator.next(), made for this generator, which saves checking the argument */
static napi_value next(napi_env env, napi_callback_info info) {
    void *data = NULL;
    napi_get_cb_info(env, info, NULL, NULL, NULL, &data);
    generator *self = data;
    firn_error error = {0};
    firn_id id;
    const bool is_open = !self->use.closing && self->gen != NULL;
    if (is_open && issue(self, &id, NULL, 1, &error) == FIRN_OK) {
        return id_value(env, &id, &self->as);
    }
    call c = {.env = env};
    return is_open ? fail_with(&c, &error) : closed(&c);
}

typedef struct opening {
    work w;
    firn_store_options options;
    firn_config config;
    const char *output;
    firn_gen *gen;
    output as;
    bool sleeps;
} opening;

static int open_runs(work *w) {
    opening *o = (opening *)w;
    const int code = firn_open_with(&o->gen, &o->config, &w->error);
    return code == FIRN_OK ? output_read(&o->as, o->gen, o->output, &w->error) : code;
}

static napi_value open_value(work *w) {
    opening *o = (opening *)w;
    generator *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return fail(&w->c, FIRN_EMEMORY, "out of memory", NULL);
    }
    self->gen = o->gen;
    self->as = o->as;
    self->sleeps = o->sleeps;
    o->gen = NULL;
    napi_value object = wrapped(&w->c, self, generator_freed, &generator_tag), function;
    napi_create_function(w->c.env, "next", NAPI_AUTO_LENGTH, next, self, &function);
    napi_set_named_property(w->c.env, object, "next", function);
    return object;
}

static void open_freed(work *w) {
    opening *o = (opening *)w;
    if (o->gen != NULL) {
        firn_close(o->gen, NULL);
    }
}

/* open(scheme, keys, store, module_dir, note, output, unsafe) */
static napi_value open_generator(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    bool unsafe = false;
    napi_get_value_bool(env, c.args[6], &unsafe);
    const char *scheme = text_of(&c, 0, NULL), *keys = text_of(&c, 1, NULL);
    const char *store = text_of(&c, 2, NULL), *dir = text_of(&c, 3, NULL);
    const char *note = text_of(&c, 4, NULL), *form = text_of(&c, 5, NULL);
    const bool online = strstr(keys, "mode=online") != NULL;
    opening *o = work_new(&c, sizeof *o);
    if (o == NULL) {
        return NULL;
    }
    o->w.run = open_runs;
    o->w.value = open_value;
    o->w.freed = open_freed;
    o->output = form;
    o->sleeps = online || strstr(keys, "full=wait") != NULL || strstr(keys, "back=wait") != NULL;
    o->options = (firn_store_options){.module_dir = dir, .unsafe = unsafe};
    o->config = (firn_config){.size = sizeof o->config,
                              .scheme = scheme,
                              .keys = keys,
                              .store_url = store,
                              .store_options = &o->options,
                              .note = note,
                              .has_renewer = !online};
    return work_do(&o->w);
}

/* Argument 1, 0 to COUNT_MAX. -1: thrown. */
static int64_t count_of(call *c) {
    int64_t count = integer_of(c, 1);
    if (count >= 0 && count <= COUNT_MAX) {
        return count;
    }
    fail(c, FIRN_ERANGE, "ask for 0 to 16777216 IDs at once", NULL);
    return -1;
}

typedef struct issuing {
    work w;
    generator *owner;
    size_t count;
    bool dated, now;
    firn_time at;
    firn_id *ids;
} issuing;

static int issue_runs(work *w) {
    issuing *i = (issuing *)w;
    return i->count == 0 ? FIRN_OK
           : i->dated    ? firn_at(i->owner->gen, &i->at, i->ids, i->count, &w->error)
           : i->now      ? firn_next_n(i->owner->gen, i->ids, i->count, &w->error)
                         : issue(i->owner, i->ids, NULL, i->count, &w->error);
}

static napi_value issue_value(work *w) {
    issuing *i = (issuing *)w;
    napi_env env = w->c.env;
    napi_value array;
    napi_create_array_with_length(env, i->count, &array);
    for (size_t k = 0; k < i->count; k++) {
        napi_handle_scope scope;
        napi_open_handle_scope(env, &scope);
        napi_set_element(env, array, (uint32_t)k, id_value(env, &i->ids[k], &i->owner->as));
        napi_close_handle_scope(env, scope);
    }
    return array;
}

static void issue_freed(work *w) {
    free(((issuing *)w)->ids);
}

/* The work of many and manyNow; NULL: thrown. */
static issuing *issuing_of(call *c) {
    generator *self = generator_of(c);
    firn_error error = {0};
    const int64_t count = self != NULL ? count_of(c) : -1;
    size_t length = 0;
    firn_time instant = {0, 0};
    if (count < 0) {
        return NULL;
    }
    const char *time = text_of(c, 2, &length);
    if (time != NULL && firn_time_parse(&instant, time, length, &error) != FIRN_OK) {
        fail_with(c, &error);
        end(c, NULL);
        return NULL;
    }
    issuing *i = work_new(c, sizeof *i);
    if (i == NULL) {
        return NULL;
    }
    i->ids = malloc((size_t)count * sizeof *i->ids + 1);
    i->w.owner = &self->use;
    i->w.run = issue_runs;
    i->w.value = issue_value;
    i->w.freed = issue_freed;
    i->owner = self;
    i->count = i->ids != NULL ? (size_t)count : 0;
    i->dated = time != NULL;
    i->at = instant;
    return i;
}

/* many(generator, count[, time]): an array; with a time, as text, back-dated IDs */
static napi_value many(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    issuing *i = issuing_of(&c);
    return i != NULL ? work_do(&i->w) : NULL;
}

/* manyNow(generator, count): the same, or undefined if that would wait */
static napi_value many_now(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    issuing *i = issuing_of(&c);
    if (i == NULL) {
        return NULL;
    }
    i->now = true;
    i->w.code = i->owner->sleeps ? FIRN_EWINDOW : issue_runs(&i->w);
    napi_value value = i->w.code == FIRN_OK        ? issue_value(&i->w)
                       : i->w.code == FIRN_EWINDOW ? NULL
                                                   : fail_with(&i->w.c, &i->w.error);
    return work_end(&i->w, value);
}

/* array(generator, count): an ArrayBuffer of uint64 for up to 64 bits, else of bytes, most
 * significant first */
static napi_value array(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    generator *self = generator_of(&c);
    firn_error error = {0};
    napi_value out;
    void *data;
    int64_t count = self != NULL ? count_of(&c) : -1;
    if (count < 0) {
        return NULL;
    }
    size_t stride = self->as.bits <= 64 ? 8 : (self->as.bits + 7) / 8;
    if (napi_create_arraybuffer(env, (size_t)count * stride, &data, &out) != napi_ok) {
        return fail(&c, FIRN_EMEMORY, "out of memory", NULL);
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
        if (ids == NULL) {
            firn_error_set(&error, FIRN_EMEMORY, 0, "out of memory");
        }
        fail_with(&c, &error);
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

/* ---- renewal in the thread pool, end --------------------------------------------------------- */

typedef struct step {
    work w;
    generator *owner;
    int64_t wait_ms;
} step;

static int step_runs(work *w) {
    step *s = (step *)w;
    return firn_gen_step(s->owner->gen, &s->wait_ms, &w->error);
}

static napi_value step_value(work *w) {
    const step *s = (step *)w;
    napi_value wait;
    napi_create_int64(w->c.env, s->wait_ms < 1 ? 1 : s->wait_ms, &wait);
    return wait;
}

/* stepAsync(generator): the milliseconds until the next step */
static napi_value step_generator(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    generator *self = generator_of(&c);
    step *s = self != NULL ? work_new(&c, sizeof *s) : NULL;
    if (s == NULL) {
        return NULL;
    }
    s->owner = self;
    s->w.owner = &self->use;
    s->w.run = step_runs;
    s->w.value = step_value;
    return work_do(&s->w);
}

typedef struct closing {
    work w;
    generator *owner;
} closing;

static int close_runs(work *w) {
    closing *self = (closing *)w;
    firn_gen *gen = self->owner->gen;
    self->owner->gen = NULL;
    return firn_close(gen, &w->error);
}

static napi_value close_value(work *w) {
    (void)w;
    return NULL;
}

/* close(generator) */
static napi_value close_generator(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    generator *self = object_of(&c, 0, &generator_tag);
    const bool is_open = self != NULL && !self->use.closing && self->gen != NULL;
    closing *state = is_open ? work_new(&c, sizeof *state) : NULL;
    if (state == NULL) {
        return NULL;
    }
    state->owner = self;
    state->w.owner = &self->use;
    state->w.run = close_runs;
    state->w.value = close_value;
    return work_close(&state->w);
}

/* status(generator) -> {reserved, held, stays, node, claims, renewals, giveBacks, storeErrors,
 * scheme, layout} */
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
    napi_get_boolean(env, now.stays, &value);
    napi_set_named_property(env, out, "stays", value);
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

const entry generator_entries[] = {
    {"open", open_generator},   {"many", many},     {"manyNow", many_now}, {"array", array},
    {"close", close_generator}, {"status", status}, {NULL, NULL}};
const entry generator_promises[] = {{"openAsync", open_generator},
                                    {"manyAsync", many},
                                    {"stepAsync", step_generator},
                                    {"closeAsync", close_generator},
                                    {NULL, NULL}};
