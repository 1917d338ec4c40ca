/* SPDX-License-Identifier: MIT */
/* Named jobs. Opening may wait for the store; issuing does not need it, so that only the thread of
 * JavaScript uses a job. */
#include "firn_node.h"
#include "output.h"

#include <stdlib.h>

static const napi_type_tag job_tag = {0x6669726e6a6f6200, 1};

typedef struct job {
    firn_job *job; /* NULL: closed */
    output as;
    int64_t shift_ns; /* of the last record */
} job;

static void job_freed(napi_env env, void *data, void *hint) {
    (void)env, (void)hint;
    firn_job_close(((job *)data)->job);
    free(data);
}

typedef struct job_opening {
    work w;
    firn_store_options options;
    firn_job_config config;
    const char *url, *output;
    job made;
} job_opening;

static int job_open_runs(work *w) {
    job_opening *o = (job_opening *)w;
    int code = FIRN_OK;
    if (o->config.name != NULL || o->url != NULL) {
        code = firn_store_open(&o->config.store, o->url, &o->options, &w->error);
    }
    code = code == FIRN_OK ? firn_job_open(&o->made.job, &o->config, &w->error) : code;
    if (o->config.store != NULL) {
        firn_store_close(o->config.store);
    }
    return code == FIRN_OK
               ? output_of(&o->made.as, firn_job_scheme(o->made.job), "", o->output, &w->error)
               : code;
}

static napi_value job_open_value(work *w) {
    job_opening *o = (job_opening *)w;
    job *self = malloc(sizeof *self);
    if (self == NULL) {
        return fail(&w->c, FIRN_EMEMORY, "out of memory", NULL);
    }
    *self = o->made;
    o->made.job = NULL;
    return wrapped(&w->c, self, job_freed, &job_tag);
}

static void job_open_freed(work *w) {
    firn_job_close(((job_opening *)w)->made.job);
}

/* openJob(scheme, keys, name, digest, seed, shift_ms, disorder_ms, store, module_dir, unsafe,
 * output) */
static napi_value open_job(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    bool unsafe = false;
    uint64_t digest = 0;
    bool exact;
    napi_get_value_bool(env, c.args[9], &unsafe);
    napi_get_value_bigint_uint64(env, c.args[3], &digest, &exact);
    const firn_job_config config = {.size = sizeof config,
                                    .scheme = text_of(&c, 0, NULL),
                                    .keys = text_of(&c, 1, NULL),
                                    .name = text_of(&c, 2, NULL),
                                    .digest = digest,
                                    .seed = text_of(&c, 4, NULL),
                                    .shift_ms = integer_of(&c, 5),
                                    .disorder_ms = integer_of(&c, 6)};
    const char *url = text_of(&c, 7, NULL), *dir = text_of(&c, 8, NULL);
    const char *form = text_of(&c, 10, NULL);
    job_opening *o = work_new(&c, sizeof *o);
    if (o == NULL) {
        return NULL;
    }
    o->w.run = job_open_runs;
    o->w.value = job_open_value;
    o->w.freed = job_open_freed;
    o->options = (firn_store_options){.module_dir = dir, .unsafe = unsafe};
    o->config = config;
    o->url = url;
    o->output = form;
    return work_do(&o->w);
}

/* The open job in the first argument; NULL: thrown. */
static job *job_of(call *c) {
    job *self = object_of(c, 0, &job_tag);
    if (self != NULL && self->job == NULL) {
        fail(c, FIRN_EUSAGE, "the job is closed", "open another one");
        return NULL;
    }
    return self;
}

/* nextJob(job, time): the ID of the next record */
static napi_value next_job(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    job *self = job_of(&c);
    firn_error error = {0};
    firn_time time;
    firn_id id;
    size_t length = 0;
    if (self == NULL) {
        return NULL;
    }
    const char *text = text_of(&c, 1, &length);
    if (firn_time_parse(&time, text, length, &error) != FIRN_OK ||
        firn_job_next(self->job, &time, &id, &self->shift_ns, &error) != FIRN_OK) {
        return end(&c, fail_with(&c, &error));
    }
    return end(&c, id_value(env, &id, &self->as));
}

/* shiftJob(job): by how many ns the ID of the last record is later than the record */
static napi_value shift_job(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    const job *self = job_of(&c);
    napi_value out = NULL;
    if (self != NULL) {
        napi_create_int64(env, self->shift_ns, &out);
    }
    return out;
}

/* againJob(job): was it started before? */
static napi_value again_job(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    const job *self = job_of(&c);
    napi_value out = NULL;
    if (self != NULL) {
        napi_get_boolean(env, firn_job_again(self->job), &out);
    }
    return out;
}

static napi_value close_job(napi_env env, napi_callback_info info) {
    call c = begin(env, info);
    job *self = object_of(&c, 0, &job_tag);
    if (self != NULL) {
        firn_job_close(self->job);
        self->job = NULL;
    }
    return NULL;
}

const entry job_entries[] = {{"openJob", open_job},   {"nextJob", next_job},
                             {"shiftJob", shift_job}, {"againJob", again_job},
                             {"closeJob", close_job}, {NULL, NULL}};
const entry job_promises[] = {{"openJobAsync", open_job}, {NULL, NULL}};
