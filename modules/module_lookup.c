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

static void *look_up(void *of) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    module_lookup *it = of;
    struct addrinfo *found = NULL;
    int result = getaddrinfo(it->name, it->port, &hints, &found);
    pthread_mutex_lock(&it->lock);
    it->result = result;
    it->found = result == 0 ? found : NULL;
    it->done = true;
    pthread_cond_broadcast(&it->ended);
    pthread_mutex_unlock(&it->lock);
    module_lookup_leave(it);
    return NULL;
}

/* The thread blocks all signals. */
static bool begin_look_up(module_lookup *it) {
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool begun = pthread_create(&thread, NULL, look_up, it) == 0 && pthread_detach(thread) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return begun;
}

static module_lookup *new_lookup(const char *name, const char *port) {
    module_lookup *it = calloc(1, sizeof *it);
    if (it == NULL) {
        return NULL;
    }
    pthread_mutex_init(&it->lock, NULL);
    module_cond_init(&it->ended);
    it->holders = 2;
    it->name = strdup(name);
    snprintf(it->port, sizeof it->port, "%s", port);
    if (it->name == NULL || !begin_look_up(it)) {
        it->holders = 1;
        module_lookup_leave(it);
        return NULL;
    }
    return it;
}

static bool await_lookup(module_lookup *it, int64_t deadline_ms) {
    pthread_mutex_lock(&it->lock);
    while (!it->done && module_cond_wait(&it->ended, &it->lock, deadline_ms)) {
    }
    bool done = it->done;
    pthread_mutex_unlock(&it->lock);
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
    module_lookup *it = *lookup;
    found = it->found;
    it->found = NULL;
    *why = it->result != 0 ? gai_strerror(it->result) : NULL;
    *lookup = NULL;
    module_lookup_leave(it);
    return found;
}
