/* SPDX-License-Identifier: MIT */
/* Renewers: a thread for each store that does all work with it, so that no client's thread ever
 * waits for a store, and none waits for another store than its own. A renewer renews the windows of
 * generators and fetches segments when they are due, and runs the tasks that clients need. A store
 * of which nothing is due is asked once a second, so that its state is known before somebody needs
 * it. */
#ifndef FIRN_RENEWER_H
#define FIRN_RENEWER_H

#include <firn/firn.h>

#define RENEWERS_MAX 16   /* stores */
#define TASKS_MAX    1024 /* that wait for one renewer */

typedef struct renewer renewer;

/* Something to be done with a store for somebody. */
typedef struct task task;
struct task {
    void (*run)(task *self);  /* in the renewer's thread; may wait for the store */
    void (*done)(task *self); /* right after it, in the same thread, and must not wait: hands the
                                 * task back; the renewer does not touch it any more */
    task *next;               /* the renewer's */
};

/* Before the first renewer: what renewers do for their store. `step` opens and renews what is due, sets
 * *news when something changed, and returns after how many ms something is due again; `close` gives
 * everything back. Both run in the renewer's thread. */
void renewers_serve(int64_t (*step)(renewer *of, bool *news), void (*close)(renewer *of));
/* How long to wait before the next try, after one more failure: 100 ms, doubled up to 2 s. Set
 * *pause_ms to 0 after a success. */
int64_t retry_pause_ms(int64_t *pause_ms);
/* Before the first renewer: stores and places that may lose what they acknowledged are taken too. */
void renewers_allow_unsafe(void);
/* Before the first renewer: a path without a store is refused, unless the URL says create=yes. */
void renewers_make_no_store(void);
/* Is this the URL of a store of a kind that there is? NULL: the default store. FIRN_EUSAGE. */
int renewer_check(const char *url, firn_error *error);
/* The renewer of a store, made at first use; the same URL, the same renewer. `url` NULL: the default
 * store. FIRN_EUSAGE: a URL that no store has (checked at once); FIRN_ERANGE: RENEWERS_MAX. Whether
 * the store can be used shows later, in its state: a renewer tries for ever. */
int renewer_of(renewer **out, const char *url, firn_error *error);
/* From now on renewers are made without a thread: for who only checks a configuration, and ends. */
void renewers_only_check(void);
/* Any thread. False: too many wait already; the task was not taken. */
bool renewer_send(renewer *it, task *one);
/* Something is due (a segment's next block). Any thread, never blocks, cheap. */
void renewer_wake(renewer *it);
/* 0 .. RENEWERS_MAX - 1, another one for each. */
size_t renewer_index(const renewer *it);
/* Did the last call of its store succeed, and is none under way for longer than a second? Any thread. */
bool renewer_answers(const renewer *it);
/* How many calls of its store were made so far. Any thread. */
uint64_t renewer_calls(const renewer *it);
/* Is there a renewer of that index, and is it the one of this URL (NULL: the default store)? */
bool renewer_is_of(size_t i, const char *url);
/* For tasks and steps, in the renewer's thread only: its store, opened; NULL with the reason. */
firn_store *renewer_store(renewer *it, firn_error *error);

/* How a renewer and its store are, for /readyz, /metrics and people. */
typedef struct renewer_state {
    char url[256]; /* without its password */
    bool usable;   /* as renewer_answers */
    char trouble[204];
    char caution[204]; /* why the store may lose what it acknowledged; "" : it keeps it */
    uint64_t calls, failures;
    int64_t beat_ms,
        busy_ms; /* since its last round began, and how long a call has been under way */
    int tasks;
} renewer_state;
/* The i-th renewer; false past the last. Any thread. */
bool renewer_look(size_t i, renewer_state *state);

/* Called by any renewer after a round in which something was fetched, renewed or opened. */
void renewers_on_news(void (*tell)(void *self), void *self);
/* Ends all: tasks that wait are run, windows are given back, threads joined, stores closed. No
 * worker may issue any more. At most `ms`: a store that hangs is left to itself. */
void renewers_stop(int64_t ms);

#endif
