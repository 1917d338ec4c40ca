/* SPDX-License-Identifier: MIT */
/* Series of dated numbers. Calls may wait for the store; one at a time. */
#include "firn_node.h"

#include <stdlib.h>
#include <string.h>

static const napi_type_tag series_tag = {0x6669726e73657269, 1};

typedef struct series {
    firn_store *store;
    firn_series *series; /* NULL: closed */
    usage use;
} series;

static int shut_series(series *self, firn_error *error) {
    int code = FIRN_OK;
    if (self->series != NULL) {
        code = firn_series_close(self->series, error);
        firn_store_close(self->store);
        self->series = NULL;
    }
    return code;
}

static void series_freed(napi_env env, void *data, void *hint) {
    (void)env, (void)hint;
    shut_series(data, NULL);
    free(data);
}

typedef struct series_opening {
    work w;
    firn_store_options options;
    const char *name, *keys, *url;
    series made;
} series_opening;

static int series_open_runs(work *w) {
    series_opening *o = (series_opening *)w;
    int code = firn_store_open(&o->made.store, o->url, &o->options, &w->error);
    if (code == FIRN_OK && (code = firn_series_open(&o->made.series, o->name, o->keys,
                                                    o->made.store, NULL, &w->error)) != FIRN_OK) {
        firn_store_close(o->made.store);
    }
    return code;
}

static napi_value series_open_value(work *w) {
    series_opening *o = (series_opening *)w;
    series *self = malloc(sizeof *self);
    if (self == NULL) {
        return fail(&w->c, FIRN_EMEMORY, "out of memory", NULL);
    }
    *self = o->made;
    o->made.series = NULL;
    return wrapped(&w->c, self, series_freed, &series_tag);
}

static void series_open_freed(work *w) {
    shut_series(&((series_opening *)w)->made, NULL);
}

/* openSeries(name, keys, store, module_dir, unsafe) */
static napi_value open_series(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    bool unsafe = false;
    napi_get_value_bool(env, c.args[4], &unsafe);
    const char *name = text_of(&c, 0, NULL), *keys = text_of(&c, 1, NULL);
    const char *url = text_of(&c, 2, NULL), *dir = text_of(&c, 3, NULL);
    series_opening *o = work_new(&c, sizeof *o);
    if (o == NULL) {
        return NULL;
    }
    o->w.run = series_open_runs;
    o->w.value = series_open_value;
    o->w.freed = series_open_freed;
    o->options = (firn_store_options){.module_dir = dir, .unsafe = unsafe};
    o->name = name;
    o->keys = keys;
    o->url = url;
    return work_do(&o->w);
}

typedef struct numbering {
    work w;
    series *owner;
    const char *verb;
    size_t count;
    bool dated;
    firn_time at;
    char (*texts)[FIRN_SERIES_SIZE];
} numbering;

static int numbering_runs(work *w) {
    numbering *n = (numbering *)w;
    const firn_time *at = n->dated ? &n->at : NULL;
    if (strcmp(n->verb, "close") == 0) {
        return shut_series(n->owner, &w->error);
    }
    n->texts = calloc(n->count, sizeof *n->texts);
    if (n->texts == NULL) {
        return firn_error_set(&w->error, FIRN_EMEMORY, 0, "out of memory");
    }
    return strcmp(n->verb, "peek") == 0
               ? firn_series_peek(n->owner->series, at, n->texts[0], &w->error)
               : firn_series_next(n->owner->series, at, n->texts, n->count, &w->error);
}

static napi_value numbering_value(work *w) {
    const numbering *n = (numbering *)w;
    napi_value out;
    napi_create_array(w->c.env, &out);
    for (size_t i = 0; n->texts != NULL && i < n->count; i++) {
        napi_set_element(w->c.env, out, (uint32_t)i, string(w->c.env, n->texts[i]));
    }
    return out;
}

static void numbering_freed(work *w) {
    free(((numbering *)w)->texts);
}

/* Is the series open, and used by no call of the thread pool? NULL with an exception. */
static series *series_of(call *c) {
    series *self = object_of(c, 0, &series_tag);
    if (self != NULL && (self->use.closing || self->series == NULL)) {
        end(c, fail(c, FIRN_EUSAGE, "the series is closed", "open another one"));
        return NULL;
    }
    if (self != NULL && self->use.users > 0) {
        end(c, fail(c, FIRN_EUSAGE, "another call uses the series", "await that call first"));
        return NULL;
    }
    return self;
}

/* series(object, verb, count, time or null): next, peek or close; an array of numbers */
static napi_value series_call(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    firn_error error = {0};
    firn_time at = {0, 0};
    size_t length = 0;
    const int64_t count = integer_of(&c, 2);
    series *self = object_of(&c, 0, &series_tag);
    const char *verb = self != NULL ? text_of(&c, 1, NULL) : "";
    const bool closes = strcmp(verb, "close") == 0;
    if (self == NULL) {
        return NULL;
    }
    if (closes && (self->use.closing || self->series == NULL)) {
        return end(&c, NULL);
    }
    if (!closes && series_of(&c) == NULL) {
        return NULL;
    }
    const char *time = text_of(&c, 3, &length);
    if (time != NULL && firn_time_parse(&at, time, length, &error) != FIRN_OK) {
        return end(&c, fail_with(&c, &error));
    }
    numbering *n = work_new(&c, sizeof *n);
    if (n == NULL) {
        return NULL;
    }
    n->w.owner = &self->use;
    n->w.run = numbering_runs;
    n->w.value = numbering_value;
    n->w.freed = numbering_freed;
    n->owner = self;
    n->verb = verb;
    n->count = (size_t)count;
    n->dated = time != NULL;
    n->at = at;
    return closes ? work_close(&n->w) : work_do(&n->w);
}

/* readSeries(object, text) -> BigInt */
static napi_value read_series(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    firn_error error = {0};
    int64_t counter = 0;
    size_t length = 0;
    napi_value out;
    const series *self = series_of(&c);
    if (self == NULL) {
        return NULL;
    }
    const char *text = text_of(&c, 1, &length);
    if (firn_series_read(self->series, &counter, text, length, &error) != FIRN_OK) {
        return end(&c, fail_with(&c, &error));
    }
    napi_create_bigint_int64(env, counter, &out);
    return end(&c, out);
}

static napi_value define_series(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    const series *self = series_of(&c);
    return self != NULL ? end(&c, string(env, firn_series_definition(self->series))) : NULL;
}

const entry series_entries[] = {{"openSeries", open_series},
                                {"series", series_call},
                                {"readSeries", read_series},
                                {"defineSeries", define_series},
                                {NULL, NULL}};
const entry series_promises[] = {
    {"openSeriesAsync", open_series}, {"seriesAsync", series_call}, {NULL, NULL}};
