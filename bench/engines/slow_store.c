/* SPDX-License-Identifier: MIT */
/* A memory store with a chosen latency that counts its callers: replaces an engine of a known
 * latency. */
#include "measure.h"

#include <time.h>

_Thread_local bool renewer_thread;

static void enter(slow_store *store) {
    const struct timespec wait = {store->wait_ns / 1000000000, store->wait_ns % 1000000000};
    (*(renewer_thread ? &store->calls_of_renewers : &store->calls_of_others))++;
    if (store->wait_ns > 0) {
        nanosleep(&wait, NULL);
    }
}

static int slow_reserve(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                        firn_error *error) {
    slow_store *store = self;
    enter(store);
    return firn_store_reserve(store->inner, request, first, held, error);
}

static int slow_give_back(void *self, const char *ns, const char *key, const firn_mark *mine,
                          int64_t high, firn_error *error) {
    slow_store *store = self;
    enter(store);
    return firn_store_give_back(store->inner, ns, key, mine, high, error);
}

static int slow_list(void *self, const char *ns, firn_visit *visit, void *context,
                     firn_error *error) {
    slow_store *store = self;
    enter(store);
    return firn_store_list(store->inner, ns, visit, context, error);
}

static void slow_close(void *self) {
    firn_store_close(((slow_store *)self)->inner);
}

static const firn_store_ops slow_ops = {.version = FIRN_STORE_OPS_VERSION,
                                        .scheme = "memory",
                                        .reserve = slow_reserve,
                                        .give_back = slow_give_back,
                                        .list = slow_list,
                                        .close = slow_close};

firn_store *slow_store_open(slow_store *self, int64_t wait_ns) {
    firn_store *store = NULL;
    *self = (slow_store){.wait_ns = wait_ns};
    if (firn_store_open(&self->inner, "memory:", NULL, NULL) != FIRN_OK) {
        return NULL;
    }
    if (firn_store_wrap(&store, &slow_ops, self, NULL) != FIRN_OK) {
        firn_store_close(self->inner);
        return NULL;
    }
    return store;
}
