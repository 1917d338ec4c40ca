/* SPDX-License-Identifier: MIT */
/* SIGXFSZ during a verb: a write past the limit on the size of files (RLIMIT_FSIZE) is an error of
 * the verb, and does not end the process. Only the mask of the calling thread changes, and only
 * during the verb. */
#include "sqlite.h"

#include <signal.h>
#include <time.h>

static _Thread_local struct {
    int depth;    /* verbs of this thread */
    bool pending; /* the caller's own, which stays */
    sigset_t before;
} held;

static sigset_t file_size(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    return set;
}

static bool is_pending(void) {
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

void sqlite_hold_signal(void) {
    const sigset_t set = file_size();
    if (held.depth++ == 0) {
        pthread_sigmask(SIG_BLOCK, &set, &held.before);
        held.pending = is_pending();
    }
}

void sqlite_release_signal(void) {
    const sigset_t set = file_size();
    const struct timespec none = {0, 0};
    if (--held.depth == 0) {
        if (!held.pending && is_pending()) {
            sigtimedwait(&set, NULL, &none);
        }
        pthread_sigmask(SIG_SETMASK, &held.before, NULL);
    }
}
