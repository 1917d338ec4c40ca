/* SPDX-License-Identifier: MIT */
/* Calls that may wait for a store: at once, or in the thread pool with a promise. An object that is
 * closed while the pool uses it is closed in the pool too, after its last user. */
#include "firn_node.h"

#include <stdlib.h>

static void queue(work *w);

static void free_work(work *w) {
    if (w->freed != NULL) {
        w->freed(w);
    }
    if (w->kept != NULL) {
        napi_delete_reference(w->c.env, w->kept);
    }
    if (w->job != NULL) {
        napi_delete_async_work(w->c.env, w->job);
    }
    end(&w->c, NULL);
    free(w);
}

static void leave(usage *owner) {
    if (--owner->users == 0 && owner->closer != NULL) {
        work *closer = owner->closer;
        owner->closer = NULL;
        queue(closer);
    }
}

static void runs(napi_env env, void *data) {
    work *w = data;
    (void)env;
    w->code = w->run(w);
}

/* Resolves the promise. A close that nobody waits for has none. */
static void ended(napi_env env, napi_status status, void *data) {
    work *w = data;
    napi_value value = NULL, thrown;
    bool failed = false;
    if (status != napi_ok) {
        firn_error_set(&w->error, FIRN_EUSAGE, 0, "the thread ends: open another one elsewhere");
        w->code = FIRN_EUSAGE;
    }
    if (w->code == FIRN_OK) {
        value = w->value(w);
    } else {
        fail_with(&w->c, &w->error);
    }
    if (w->owner != NULL) {
        leave(w->owner);
    }
    napi_is_exception_pending(env, &failed);
    if (failed) {
        napi_get_and_clear_last_exception(env, &thrown);
    }
    if (w->deferred != NULL && failed) {
        napi_reject_deferred(env, w->deferred, thrown);
    } else if (w->deferred != NULL) {
        if (value == NULL) {
            napi_get_undefined(env, &value);
        }
        napi_resolve_deferred(env, w->deferred, value);
    }
    free_work(w);
}

static void queue(work *w) {
    if (w->owner != NULL) {
        w->owner->users++;
    }
    napi_create_async_work(w->c.env, NULL, string(w->c.env, "firn"), runs, ended, w, &w->job);
    napi_queue_async_work(w->c.env, w->job);
}

/* A promise, if the call returns one. */
static napi_value promise_of(work *w) {
    napi_value promise = NULL;
    if (w->c.async) {
        napi_create_promise(w->c.env, &w->deferred, &promise);
    }
    if (w->owner != NULL) {
        napi_create_reference(w->c.env, w->c.args[0], 1, &w->kept);
    }
    return promise;
}

napi_value work_end(work *w, napi_value value) {
    free_work(w);
    return value;
}

static napi_value run_here(work *w) {
    w->code = w->run(w);
    return work_end(w, w->code == FIRN_OK ? w->value(w) : fail_with(&w->c, &w->error));
}

void *work_new(call *c, size_t size) {
    work *w = calloc(1, size);
    if (w == NULL) {
        return end(c, fail(c, FIRN_EMEMORY, "out of memory", NULL));
    }
    w->c = *c;
    return w;
}

napi_value work_do(work *w) {
    if (!w->c.async) {
        return run_here(w);
    }
    napi_value promise = promise_of(w);
    queue(w);
    return promise;
}

napi_value work_close(work *w) {
    w->owner->closing = true;
    if (w->owner->users == 0) {
        return work_do(w);
    }
    w->owner->closer = w;
    return promise_of(w);
}
