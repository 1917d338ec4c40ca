/* SPDX-License-Identifier: MIT */
/* WebAssembly without threads: a lock is never contended. */
#ifndef FIRN_WASM_PTHREAD_H
#define FIRN_WASM_PTHREAD_H

#include <sys/types.h>

#define PTHREAD_ONCE_INIT 0

static inline int pthread_mutex_lock(pthread_mutex_t *lock) {
    (void)lock;
    return 0;
}
static inline int pthread_mutex_trylock(pthread_mutex_t *lock) {
    (void)lock;
    return 0;
}
static inline int pthread_mutex_unlock(pthread_mutex_t *lock) {
    (void)lock;
    return 0;
}
static inline int pthread_once(pthread_once_t *once, void (*call)(void)) {
    if (*once == 0) {
        *once = 1;
        call();
    }
    return 0;
}
static inline int pthread_key_create(pthread_key_t *key, void (*freed)(void *)) {
    (void)key, (void)freed;
    return 0;
}
static inline int pthread_setspecific(pthread_key_t key, const void *value) {
    (void)key, (void)value;
    return 0;
}

#endif
