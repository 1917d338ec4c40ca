/* SPDX-License-Identifier: MIT */
/* One thread per store makes all calls of that store, so that no client's thread waits for a store,
 * and no store delays another. It renews windows, fetches segments, and runs tasks. An idle store
 * is probed once a second, so that its state is known before it is needed. */
#ifndef FIRN_RENEWER_H
#define FIRN_RENEWER_H

#include "errors.h"
#include "net/list.h"

#include <firn/firn.h>

#define RENEWERS_MAX 16   /* stores */
#define TASKS_MAX    1024 /* queued for one renewer */

typedef struct store_renewer store_renewer;

/* Is a task still wanted? */
enum task_need {
    NEED_STAYS,
    NEED_FADES, /* the client may have left: other tasks go first */
    NEED_IS_OVER
};

/* Work with a store for a client. Clients take turns: none waits for more than one or two tasks of
 * each other client. */
typedef struct renewer_task renewer_task;
struct renewer_task {
    /* All but `done` in the renewer's thread. Just before `run`; the reason if it is over. */
    enum task_need (*need)(renewer_task *self, firn_error *why);
    void (*run)(renewer_task *self);                           /* may wait for the store */
    void (*refuse)(renewer_task *self, const firn_error *why); /* instead of `run` */
    void (*done)(
        renewer_task *self); /* after either, in any thread; must not wait; may free the task */
    uint64_t client;
    /* The renewer's: */
    uint64_t turn;
    list_link place;
};

/* Before the first renewer. `step` opens and renews, sets *news on changes, and returns after how
 * many ms to call it again; `close` gives everything back. Both run in the renewer's thread. */
void renewers_serve(int64_t (*step)(store_renewer *renewer, bool *news),
                    void (*close)(store_renewer *renewer));
/* The pause after one more failure: 100 ms, doubled up to 2 s. Set *pause_ms to 0 after a
 * success. */
int64_t retry_pause_ms(int64_t *pause_ms);
/* Before the first renewer. `unsafe`: accept stores that may lose acknowledged writes;
 * `must_exist`: refuse paths without a store, unless the URL has create=yes. */
void renewers_open_stores(bool unsafe, bool must_exist);
/* Is this the URL of a known kind of store? NULL: the default store. FIRN_EUSAGE. */
int renewer_check(const char *url, firn_error *error);
/* The renewer of a URL, made on first use; NULL: the default store. FIRN_EUSAGE: unknown kind;
 * FIRN_ERANGE: RENEWERS_MAX. A renewer tries to open its store for ever; its state shows
 * failures. */
int renewer_of(store_renewer **out, const char *url, firn_error *error);
/* Renewers get no thread from now on: for checking a configuration. */
void renewers_only_check(void);
/* Any thread. If the queue is full, a task of the client with the most is refused. False: it would
 * be this one, or the renewer has stopped. */
bool renewer_send(store_renewer *renewer, renewer_task *task);
/* Any thread. True: it had not begun, and is the caller's again. False: it is or was done. */
bool renewer_take_back(store_renewer *renewer, renewer_task *task);
/* FIRN_ESTORE: the queue is full. */
int refuse_crowd(firn_error *error);
/* Something needs a step. Any thread, never blocks. */
void renewer_wake(store_renewer *renewer);
/* 0 .. RENEWERS_MAX - 1 */
size_t renewer_index(const store_renewer *renewer);
/* Did the last call succeed, with no call running for more than a second? Any thread. */
bool renewer_answers(const store_renewer *renewer);
/* Number of calls so far. Any thread. */
uint64_t renewer_calls(const store_renewer *renewer);
/* Does that renewer exist, and for this URL (NULL: the default store)? */
bool renewer_is_of(size_t i, const char *url);
/* Renewer's thread only: the open store; NULL with the reason. */
firn_store *renewer_store(store_renewer *renewer, firn_error *error);
/* For a generator with a reserve, which opens the store itself; NULL: the default store. */
const char *renewer_url(const store_renewer *renewer);
firn_store_options renewer_options(store_renewer *renewer);

/* The state of a renewer, for /readyz, /metrics and INFO. */
typedef struct renewer_state {
    char url[256]; /* without its password */
    bool usable;   /* as renewer_answers */
    char trouble[ERROR_TEXT_SIZE];
    char caution[204]; /* why the store may lose acknowledged writes, or "" */
    uint64_t calls, failures;
    int64_t beat_ms, busy_ms; /* since its last round began; duration of the running call */
    int tasks;
} renewer_state;
/* The i-th renewer; false past the last. Any thread. */
bool renewer_look(size_t i, renewer_state *state);

/* Called by renewers after rounds with news, until renewers_stop. */
void renewers_on_news(void (*tell)(void));
/* Gives windows back, refuses queued tasks, joins threads and closes stores, within `ms`; a hanging
 * store is abandoned. No worker may issue any more. */
void renewers_stop(int64_t ms);

#endif
