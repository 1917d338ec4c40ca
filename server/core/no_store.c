/* SPDX-License-Identifier: MIT */
#include "no_store.h"

#include "errors.h"

static int refuse(firn_error *error) {
    return error != NULL ? set_error(error, FIRN_ESTORE, "no store yet") : FIRN_ESTORE;
}

static int no_reserve(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                      firn_error *error) {
    (void)self, (void)request, (void)first, (void)held;
    return refuse(error);
}

static int no_give_back(void *self, const char *ns, const char *key, const firn_mark *mine,
                        int64_t high, firn_error *error) {
    (void)self, (void)ns, (void)key, (void)mine, (void)high;
    return refuse(error);
}

static int no_list(void *self, const char *ns, firn_visit *visit, void *context,
                   firn_error *error) {
    (void)self, (void)ns, (void)visit, (void)context;
    return refuse(error);
}

static void no_close(void *self) {
    (void)self;
}

/* The name is an engine's: what one of those takes is taken. */
static const firn_store_ops no_ops = {.version = FIRN_STORE_OPS_VERSION,
                                      .scheme = "memory",
                                      .reserve = no_reserve,
                                      .give_back = no_give_back,
                                      .list = no_list,
                                      .close = no_close};

static firn_store *only;

int no_store_open(firn_error *error) {
    return firn_store_wrap(&only, &no_ops, NULL, error);
}

void no_store_close(void) {
    firn_store_close(only);
    only = NULL;
}

firn_store *no_store(void) {
    return only;
}
