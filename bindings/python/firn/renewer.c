/* SPDX-License-Identifier: MIT */
/* Renewers: a thread for each generator renews its window, so that a call waits for the store only
 * if no slot is left. The threads know nothing of Python and need no GIL. A thread begins when the
 * first ID is issued in its process.
 *
 * No thread of this file and no call on a store that passes store_begin runs during os.fork(),
 * which calls fork_begins before it. So the locks of an engine's library are free in the child,
 * whose renewers begin with its own first IDs. */
#include "firn_python.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define FORK_MS   60000 /* how long a fork waits at most: longer than a call on a store */
#define EXIT_MS   1000  /* the same for the end of the interpreter */
#define SIGNAL_MS 100 /* a call that waits looks so often for an exception of a signal's handler */

enum state { NONE, RUNS, DONE }; /* DONE: it must only be joined */

struct renewer {
    renewer *next;
    firn_gen *gen;
    pthread_t thread;
    enum state state;
    bool began, ends; /* a thread began in this process; it is to end */
    bool orphan;      /* the generator is gone: the thread closes `gen` */
    bool kicked;      /* somebody waits for a step */
    uint64_t steps;   /* completed */
    int code;         /* of the last step, as is: */
    firn_error error;
};

/* Of this process. A child of a fork starts from nothing: see adopt. */
static struct {
    pid_t process; /* 0: none yet */
    pthread_mutex_t lock;
    pthread_cond_t news; /* for all that changes below */
    int forks;           /* forks that are about to happen: nothing begins */
    int inside;          /* calls on stores in progress */
    renewer *first;
} here;
static _Thread_local int forking; /* forks of this thread: its hooks may issue IDs */

static void lock(void) {
    pthread_mutex_lock(&here.lock);
}

static void unlock(void) {
    pthread_mutex_unlock(&here.lock);
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void tell(void) {
    pthread_cond_broadcast(&here.news);
}

/* Until something changes, or until `end_ms`. False: it is that late. */
static bool await(int64_t end_ms) {
    const struct timespec end = {.tv_sec = end_ms / 1000, .tv_nsec = end_ms % 1000 * 1000000};
    return pthread_cond_timedwait(&here.news, &here.lock, &end) != ETIMEDOUT;
}

/* With the GIL, before anything else of this file. A child has none of its parent's threads, and
 * may have inherited the lock from one of them: also a child whose program calls fork() without
 * PyOS_BeforeFork(). */
static void adopt(void) {
    pthread_condattr_t monotonic;
    if (here.process == getpid()) {
        return;
    }
    here.process = getpid();
    here.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&here.news, &monotonic);
    here.forks = here.inside = forking = 0;
    for (renewer *r = here.first; r != NULL; r = r->next) {
        r->state = NONE;
        r->began = r->ends = r->kicked = false;
    }
}

/* ---- users of an object ---------------------------------------------------------------------- */

int *users_of(users *owner) {
    if (owner->process != getpid()) { /* a child has none of the threads */
        owner->process = getpid();
        owner->count = 0;
    }
    return &owner->count;
}

/* ---- calls on stores ------------------------------------------------------------------------- */

PyThreadState *store_begin(void) {
    adopt();
    PyThreadState *state = PyEval_SaveThread();
    lock();
    while (here.forks > 0 && forking == 0) {
        pthread_cond_wait(&here.news, &here.lock);
    }
    here.inside++;
    unlock();
    return state;
}

void store_end(PyThreadState *state) {
    lock();
    here.inside--;
    tell();
    unlock();
    PyEval_RestoreThread(state);
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* With the lock, which it releases during the call. Milliseconds until the next step. */
static int64_t step(renewer *r) {
    int64_t wait_ms = 50;
    firn_error error = {0};
    r->kicked = false;
    here.inside++;
    unlock();
    int code = firn_gen_step(r->gen, &wait_ms, &error);
    lock();
    here.inside--;
    r->steps++;
    r->code = code;
    r->error = error;
    tell();
    return wait_ms < 1 ? 1 : wait_ms;
}

static void *run(void *context) {
    renewer *r = context;
    lock();
    for (int64_t due_ms = 0; !r->ends && here.forks == 0;) {
        if (r->kicked || now_ms() >= due_ms) {
            int64_t wait_ms = step(r);
            due_ms = now_ms() + wait_ms;
        } else {
            await(due_ms);
        }
    }
    if (r->orphan) {
        here.inside++;
        unlock();
        firn_close(r->gen, NULL);
        lock();
        here.inside--;
        r->gen = NULL;
    }
    r->state = DONE;
    tell();
    unlock();
    return NULL;
}

/* With the lock: a thread that is DONE does not need it. */
static void reap(renewer *r) {
    if (r->state == DONE) {
        pthread_join(r->thread, NULL);
        r->state = NONE;
    }
}

/* Frees what the threads of generators that are gone have left. Does a thread or a call on a store
 * run? */
static bool is_busy(void) {
    bool busy = here.inside > 0;
    for (renewer **position = &here.first, *r; (r = *position) != NULL;) {
        reap(r);
        busy = busy || r->state == RUNS;
        if (r->orphan && r->gen == NULL) {
            *position = r->next;
            free(r);
        } else {
            position = &r->next;
        }
    }
    return busy;
}

/* False: the system has no thread for it. */
static bool start(renewer *r) {
    sigset_t all, before;
    reap(r);
    if (r->state == NONE) {
        r->ends = false;
        sigfillset(&all); /* signals are for the program's threads */
        pthread_sigmask(SIG_SETMASK, &all, &before);
        r->state = pthread_create(&r->thread, NULL, run, r) == 0 ? RUNS : NONE;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    r->began = r->began || r->state == RUNS;
    return r->state == RUNS;
}

/* ---- for generators -------------------------------------------------------------------------- */

renewer *renewer_new(firn_gen *gen) {
    renewer *r = calloc(1, sizeof *r);
    adopt();
    if (r != NULL) {
        r->gen = gen;
        lock();
        is_busy();
        r->next = here.first;
        here.first = r;
        unlock();
    }
    return r;
}

/* Until a step has ended that began before this call or after it, but at most until `end_ms`. */
static bool step_ended(renewer *r, uint64_t before, int64_t end_ms) {
    bool in_time = true;
    r->kicked = true;
    while (r->steps == before && in_time) {
        if (forking > 0 || (here.forks == 0 && r->state != RUNS && !start(r))) {
            step(r);
        } else {
            tell();
            in_time = await(end_ms);
        }
    }
    return r->steps != before;
}

int renewer_wait(renewer *r, firn_error *error) {
    bool ended = false, first = true;
    uint64_t before = 0;
    int code = FIRN_OK;
    adopt();
    while (!ended) {
        Py_BEGIN_ALLOW_THREADS;
        lock();
        before = first ? r->steps : before;
        first = false;
        ended = step_ended(r, before, now_ms() + SIGNAL_MS);
        code = r->code;
        if (ended && code != FIRN_OK) {
            *error = r->error;
        }
        unlock();
        Py_END_ALLOW_THREADS;
        if (!ended && PyErr_CheckSignals() != 0) {
            return RAISED;
        }
    }
    return code;
}

/* Removes it from the list, with the lock. */
static void unlink_renewer(const renewer *r) {
    renewer **position = &here.first;
    while (*position != r) {
        position = &(*position)->next;
    }
    *position = r->next;
}

void renewer_end(renewer *r) {
    adopt();
    Py_BEGIN_ALLOW_THREADS;
    lock();
    r->ends = true;
    tell();
    while (r->state == RUNS) {
        pthread_cond_wait(&here.news, &here.lock);
    }
    reap(r);
    unlink_renewer(r);
    unlock();
    Py_END_ALLOW_THREADS;
    free(r);
}

bool renewer_leave(renewer *r) {
    adopt();
    lock();
    reap(r);
    bool runs = r->state == RUNS;
    if (runs) {
        r->orphan = r->ends = true;
        tell();
    } else {
        unlink_renewer(r);
    }
    unlock();
    if (!runs) {
        free(r);
    }
    return runs;
}

/* ---- forks, and the end ---------------------------------------------------------------------- */

/* Until nothing is busy, at most for `most_ms`. */
static void await_all(int64_t most_ms) {
    const int64_t end_ms = now_ms() + most_ms;
    tell();
    while (is_busy() && await(end_ms)) {
    }
}

static PyObject *fork_begins(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    adopt();
    Py_BEGIN_ALLOW_THREADS;
    lock();
    here.forks++;
    forking++;
    await_all(FORK_MS);
    unlock();
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

/* In the parent. The child begins with adopt. */
static PyObject *fork_ended(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    adopt();
    lock();
    here.forks -= here.forks > 0;
    forking -= forking > 0;
    for (renewer *r = here.first; r != NULL && here.forks == 0; r = r->next) {
        if (r->began && !r->ends) {
            start(r);
        }
    }
    tell();
    unlock();
    Py_RETURN_NONE;
}

/* A thread that is inside a call on a store stays there: the end of the process ends it. */
static PyObject *exit_begins(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
        Py_RETURN_NONE; /* other interpreters continue */
    }
    adopt();
    Py_BEGIN_ALLOW_THREADS;
    lock();
    for (renewer *r = here.first; r != NULL; r = r->next) {
        r->ends = true;
    }
    await_all(EXIT_MS);
    unlock();
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

PyMethodDef renewer_functions[] = {{"fork_begins", fork_begins, METH_NOARGS, NULL},
                                   {"fork_ended", fork_ended, METH_NOARGS, NULL},
                                   {"exit_begins", exit_begins, METH_NOARGS, NULL},
                                   {NULL, NULL, 0, NULL}};
