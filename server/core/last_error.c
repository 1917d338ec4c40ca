/* SPDX-License-Identifier: MIT */
#include "last_error.h"

#include "errors.h"
#include "log.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for all errors */

/* An outage can appear as any of these codes. */
static bool is_outage(int code) {
    return code == FIRN_ESTORE || code == FIRN_EUNKNOWN || code == FIRN_EIO ||
           code == FIRN_ESYSTEM || code == FIRN_EWINDOW;
}

void last_error_set(last_error *last, const char *what, const char *name, int code,
                    const firn_error *error) {
    int was = atomic_load_explicit(&last->code, memory_order_seq_cst);
    if (code == FIRN_OK && was == FIRN_OK) {
        return;
    }
    pthread_mutex_lock(&lock);
    last->error = code == FIRN_OK ? (firn_error){0} : *error;
    translate_error(&last->error, SURFACE_SERVER);
    atomic_store_explicit(&last->code, code, memory_order_seq_cst);
    pthread_mutex_unlock(&lock);
    if (code != was && !(is_outage(code) && is_outage(was))) {
        log_event(code == FIRN_OK ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING,
                  code == FIRN_OK ? "renewal works again" : "renewal failed", what, name, "why",
                  code == FIRN_OK ? "" : error->text, NULL);
    }
}

int last_error_get(const last_error *last, firn_error *error) {
    int code = atomic_load_explicit(&last->code, memory_order_seq_cst);
    if (code != FIRN_OK) {
        pthread_mutex_lock(&lock);
        code = atomic_load_explicit(&last->code, memory_order_seq_cst);
        *error = last->error;
        pthread_mutex_unlock(&lock);
    }
    return code;
}
