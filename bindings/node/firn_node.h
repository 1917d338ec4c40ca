/* SPDX-License-Identifier: MIT */
/* Declarations that the C files of the package firn for Node.js share (Node-API 6, Node 18 and
 * later). Nothing is static, so that each worker thread has its own instance.
 *
 * Errors are thrown as plain objects {code, text, ...}, which index.js turns into FirnError. */
#ifndef FIRN_NODE_H
#define FIRN_NODE_H

#define NAPI_VERSION 8
#include <node_api.h>

#include <firn/firn.h>

#include <stdbool.h>

#define MOST_ARGS 11
#define COUNT_MAX (1 << 24) /* IDs of one call */

/* The arguments of a call, and what it works with. Text of an argument is freed with the call: see
 * end. */
typedef struct call {
    napi_env env;
    napi_value self, args[MOST_ARGS];
    size_t count, texts;
    char *text[MOST_ARGS];
    bool async; /* the result is a promise */
} call;

call begin(napi_env env, napi_callback_info info);
/* Frees the texts; returns `value`. */
napi_value end(call *c, napi_value value);
/* Throw {code, text}; return NULL. */
napi_value fail(call *c, int code, const char *what, const char *cure);
napi_value fail_with(call *c, const firn_error *error);
/* Argument i as UTF-8, NULL where it is null. index.js has checked that it is a string without a
 * zero. */
const char *text_of(call *c, size_t i, size_t *length);
int64_t integer_of(call *c, size_t i);
napi_value string(napi_env env, const char *text);
/* An ID as a Buffer, most significant byte first. */
napi_value buffer(napi_env env, const firn_id *id);
/* generator.c: an ID as the value that `form` says. */
struct output;
napi_value id_value(napi_env env, const firn_id *id, const struct output *form);
/* An object with `data` inside, and the data of such an object. Another object: throws, NULL. */
napi_value wrapped(call *c, void *data, napi_finalize freed, const napi_type_tag *tag);
void *object_of(call *c, size_t i, const napi_type_tag *tag);

/* work.c. How many works of the pool use an object; what closes it after the last one. */
typedef struct work work;
typedef struct usage {
    int users;
    bool closing;
    work *closer;
} usage;

/* The first member of the arguments of a call that may wait. */
struct work {
    call c;                       /* its texts live as long as the work, its arguments do not */
    usage *owner;                 /* of the object in the first argument; NULL: it has none */
    int (*run)(work *w);          /* in any thread: a code, and `error` */
    napi_value (*value)(work *w); /* after FIRN_OK, in the thread of JavaScript; may throw */
    void (*freed)(work *w);       /* or NULL */
    int code;
    firn_error error;
    napi_ref kept;
    napi_async_work job;
    napi_deferred deferred;
};

/* Zeros except `c`, which it takes over; NULL: thrown. */
void *work_new(call *c, size_t size);
/* Runs and frees it: the value or NULL with an exception, or a promise. */
napi_value work_do(work *w);
/* Frees it without running; returns `value`. */
napi_value work_end(work *w, napi_value value);
/* As work_do for the work that closes w->owner: after its last user, and nobody else may begin. */
napi_value work_close(work *w);

typedef struct entry {
    const char *name;
    napi_callback call;
} entry;
/* Each ends with a name of NULL. Calls of the promises have call.async. */
extern const entry generator_entries[], numbers_entries[], series_entries[], job_entries[];
extern const entry pure_entries[];
extern const entry generator_promises[], numbers_promises[], series_promises[], job_promises[];

#endif
