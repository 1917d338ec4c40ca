/* SPDX-License-Identifier: MIT */
/* Keepers: a thread for each store that does all work with it, so that no client's thread ever
 * waits for a store, and none waits for another store than its own. A keeper renews the windows of
 * generators and fetches segments when they are due, and runs the errands that clients need. A store
 * of which nothing is due is asked once a second, so that its state is known before somebody needs
 * it. */
#ifndef FIRN_KEEPER_H
#define FIRN_KEEPER_H

#include <firn/firn.h>

#define KEEPERS_MAX 16   /* stores */
#define ERRANDS_MAX 1024 /* that wait for one keeper */

typedef struct keeper keeper;

/* Something to be done with a store for somebody. */
typedef struct errand errand;
struct errand {
    void (*run)(errand *self);  /* in the keeper's thread; may wait for the store */
    void (*done)(errand *self); /* right after it, in the same thread, and must not wait: hands the
                                 * errand back; the keeper does not touch it any more */
    errand *next;               /* the keeper's */
};

/* Before the first keeper: stores and places that may lose what they acknowledged are taken too. */
void keepers_allow_unsafe(void);
/* Before the first keeper: a path without a store is refused, unless the URL says create=yes. */
void keepers_make_no_store(void);
/* Is this the URL of a store of a kind that there is? NULL: the default store. FIRN_EUSAGE. */
int keeper_check(const char *url, firn_error *error);
/* The keeper of a store, made at first use; the same URL, the same keeper. `url` NULL: the default
 * store. FIRN_EUSAGE: a URL that no store has (checked at once); FIRN_ERANGE: KEEPERS_MAX. Whether
 * the store can be used shows later, in its state: a keeper tries for ever. */
int keeper_of(keeper **out, const char *url, firn_error *error);
/* From now on keepers are made without a thread: for who only checks a configuration, and ends. */
void keepers_only_check(void);
/* Any thread. False: too many wait already; the errand was not taken. */
bool keeper_send(keeper *it, errand *one);
/* Something is due (a segment's next block). Any thread, never blocks, cheap. */
void keeper_wake(keeper *it);
/* 0 .. KEEPERS_MAX - 1, another one for each. */
size_t keeper_index(const keeper *it);
/* Did the last call of its store succeed, and is none under way for longer than a second? Any thread. */
bool keeper_answers(const keeper *it);
/* How many calls of its store were made so far. Any thread. */
uint64_t keeper_calls(const keeper *it);
/* Is there a keeper of that index, and is it the one of this URL (NULL: the default store)? */
bool keeper_is_of(size_t i, const char *url);
/* For errands and steps, in the keeper's thread only: its store, opened; NULL with the reason. */
firn_store *keeper_store(keeper *it, firn_error *error);

/* How a keeper and its store are, for /readyz, /metrics and people. */
typedef struct keeper_state {
    char url[256]; /* without its password */
    bool usable;   /* as keeper_answers */
    char trouble[204];
    char caution[204]; /* why the store may lose what it acknowledged; "" : it keeps it */
    uint64_t calls, failures;
    int64_t beat_ms,
        busy_ms; /* since its last round began, and how long a call has been under way */
    int errands;
} keeper_state;
/* The i-th keeper; false past the last. Any thread. */
bool keeper_look(size_t i, keeper_state *state);

/* Called by any keeper after a round in which something was fetched, renewed or opened. */
void keepers_on_news(void (*tell)(void *self), void *self);
/* Ends all: errands that wait are run, windows are given back, threads joined, stores closed. No
 * worker may issue any more. At most `ms`: a store that hangs is left to itself. */
void keepers_stop(int64_t ms);

#endif
