/* SPDX-License-Identifier: MIT */
/* A memory store with a chosen latency that counts its callers: replaces an engine of a known
 * latency. */
#include "measure.h"

#include <time.h>

_Thread_local bool renewer_thread;

static void enter(slow_store *it) {
    const struct timespec wait = {it->wait_ns / 1000000000, it->wait_ns % 1000000000};
    (*(renewer_thread ? &it->calls_of_renewers : &it->calls_of_others))++;
    if (it->wait_ns > 0) {
        nanosleep(&wait, NULL);
    }
}

static int slow_reserve(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                        firn_error *error) {
    slow_store *it = self;
    enter(it);
    return firn_store_reserve(it->inner, request, first, held, error);
}

static int slow_give_back(void *self, const char *ns, const char *key, const firn_mark *mine,
                          int64_t high, firn_error *error) {
    slow_store *it = self;
    enter(it);
    return firn_store_give_back(it->inner, ns, key, mine, high, error);
}

static int slow_list(void *self, const char *ns, firn_visit *visit, void *context,
                     firn_error *error) {
    slow_store *it = self;
    enter(it);
    return firn_store_list(it->inner, ns, visit, context, error);
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

firn_store *slow_store_open(slow_store *it, int64_t wait_ns) {
    firn_store *store = NULL;
    *it = (slow_store){.wait_ns = wait_ns};
    if (firn_store_open(&it->inner, "memory:", NULL, NULL) != FIRN_OK) {
        return NULL;
    }
    if (firn_store_wrap(&store, &slow_ops, it, NULL) != FIRN_OK) {
        firn_store_close(it->inner);
        return NULL;
    }
    return store;
}
