/* SPDX-License-Identifier: MIT */
/* The addresses of a host, looked up by a thread so that the wait has a bound. */
#include "module.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct module_lookup {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    int holders; /* its thread and the waiting caller: the last frees it */
    bool done;
    int result; /* of getaddrinfo */
    struct addrinfo *found;
    char *name, port[8];
};

void module_lookup_leave(module_lookup *lookup) {
    if (lookup == NULL) {
        return;
    }
    pthread_mutex_lock(&lookup->lock);
    bool last = --lookup->holders == 0;
    pthread_mutex_unlock(&lookup->lock);
    if (last) {
        if (lookup->found != NULL) {
            freeaddrinfo(lookup->found);
        }
        pthread_mutex_destroy(&lookup->lock);
        pthread_cond_destroy(&lookup->ended);
        free(lookup->name);
        free(lookup);
    }
}

static void *look_up_name(void *self) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    module_lookup *lookup = self;
    struct addrinfo *found = NULL;
    int result = getaddrinfo(lookup->name, lookup->port, &hints, &found);
    pthread_mutex_lock(&lookup->lock);
    lookup->result = result;
    lookup->found = result == 0 ? found : NULL;
    lookup->done = true;
    pthread_cond_broadcast(&lookup->ended);
    pthread_mutex_unlock(&lookup->lock);
    module_lookup_leave(lookup);
    return NULL;
}

/* The thread blocks all signals. */
static bool begin_look_up(module_lookup *lookup) {
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool begun =
        pthread_create(&thread, NULL, look_up_name, lookup) == 0 && pthread_detach(thread) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return begun;
}

static module_lookup *new_lookup(const char *name, const char *port) {
    module_lookup *lookup = calloc(1, sizeof *lookup);
    if (lookup == NULL) {
        return NULL;
    }
    pthread_mutex_init(&lookup->lock, NULL);
    module_cond_init(&lookup->ended);
    lookup->holders = 2;
    lookup->name = strdup(name);
    snprintf(lookup->port, sizeof lookup->port, "%s", port);
    if (lookup->name == NULL || !begin_look_up(lookup)) {
        lookup->holders = 1;
        module_lookup_leave(lookup);
        return NULL;
    }
    return lookup;
}

static bool await_lookup(module_lookup *lookup, int64_t deadline_ms) {
    pthread_mutex_lock(&lookup->lock);
    while (!lookup->done && module_cond_wait(&lookup->ended, &lookup->lock, deadline_ms)) {
    }
    bool done = lookup->done;
    pthread_mutex_unlock(&lookup->lock);
    return done;
}

struct addrinfo *module_resolve(module_lookup **lookup, const char *name, int port,
                                int64_t deadline_ms, const char **why) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
    struct addrinfo *found = NULL;
    char digits[8];
    snprintf(digits, sizeof digits, "%d", port);
    if (getaddrinfo(name, digits, &hints, &found) == 0) {
        return found; /* an address needs no lookup */
    }
    if (*lookup == NULL && (*lookup = new_lookup(name, digits)) == NULL) {
        *why = "out of memory";
        return NULL;
    }
    if (!await_lookup(*lookup, deadline_ms)) {
        *why = "the lookup of its name takes too long";
        return NULL;
    }
    module_lookup *started = *lookup;
    found = started->found;
    started->found = NULL;
    *why = started->result != 0 ? gai_strerror(started->result) : NULL;
    *lookup = NULL;
    module_lookup_leave(started);
    return found;
}
