/* SPDX-License-Identifier: MIT */
/* A source of IDs: one firn_gen with its text form, its renewer and its counters. Does not know which
 * other generators there are: see catalog.h. */
#ifndef FIRN_GENERATOR_H
#define FIRN_GENERATOR_H

#include "last_error.h"
#include "name_table.h"
#include "renewer.h"
#include "worker.h"

#include <firn/firn.h>

#include <pthread.h>

#define KEYS_SIZE   512 /* bytes of the keys of a generator or a segment */
#define RECENT_SIZE 256 /* IDs that each worker keeps of a generator, to show how they spread */

/* What one worker issued of a generator: it alone writes, so that no two threads share a line. */
typedef struct tally {
    _Alignas(64) _Atomic uint64_t issued;
    _Atomic uint32_t next; /* in `recent`; runs on */
    /* A sample, of each batch some: low, high, top. One that is read while it is written may be made
     * of two, so it is for statistics only. */
    _Atomic uint64_t recent[RECENT_SIZE][3];
} tally;

/* A source of IDs: a generator of the configuration, or a scheme of the table under its own name,
 * opened when it is first asked for. */
typedef struct generator {
    char name[NAME_SIZE];
    char text[KEYS_SIZE]; /* the scheme, as in the configuration */
    char keys[KEYS_SIZE];
    const firn_scheme *scheme; /* lives as long as this */
    firn_scheme own;
    int form;                  /* of its IDs' text */
    char prefix[66];           /* of typeid, with its _ */
    bool narrow;               /* at most 64 bits and written as dec or unsigned: numbers do */
    bool waits;                /* false: full=fail, so an exhausted generator is an error at once */
    bool back_fails;           /* back=fail: a clock that stepped back is an error at once */
    bool configured;           /* else it was opened by its scheme's name */
    _Atomic bool late;         /* added while others were served, and could never issue yet:
                            * catalog_ready does not wait for it */
    renewer *renewer;          /* NULL: it needs no store */
    firn_gen *_Atomic gen;     /* NULL until it is open */
    last_error failed;         /* what its renewer last failed with */
    _Atomic bool wanted;       /* a worker found its window used up */
    int64_t next_ms, pause_ms; /* the renewer's: when it is stepped, and how long it waits after a
                                * failure to open it */
    uint64_t asked;            /* the renewer's: how many it had issued when that last changed, */
    int64_t asked_ms;          /* and when */
    _Atomic bool idle; /* nobody has asked for long: its window is left to run out until one does */
    uint64_t news;     /* the renewer's: its claims and renewals when it last looked */
    firn_gen
        *_Atomic dated; /* without a store: back-dated IDs come from a generator of their own */
    pthread_mutex_t dated_lock;
    int64_t dated_left; /* under that lock: after so many instants more another one is opened */
    tally *_Atomic by[WORKERS_MAX]; /* NULL until that worker issues of it */
} generator;

/* The value of a key in a line of keys ("a=1 b=2"), "" where it has none; returns `value`. */
char *keys_value(char value[FIRN_NS_SIZE], const char *keys, const char *name);
/* Copies a text of the configuration. FIRN_ERANGE: it is longer than size - 1 bytes. */
int take_configured(char *to, size_t size, const char *from, const char *what, firn_error *error);

/* A generator in no table yet. `keys`, `form`, `prefix` NULL or "": none. FIRN_EUSAGE, FIRN_ERANGE,
 * FIRN_EMEMORY. */
int generator_make(generator **out, const char *name, const char *scheme, const char *keys,
                   const char *form, const char *prefix, firn_error *error);
void generator_free(generator *it);
/* Opens it if it needs no store; *reserved: it needs one. Any other code: its keys are wrong. */
int generator_try(generator *it, bool *reserved, firn_error *error);
/* In its renewer's thread: opens it and claims its first window. */
int generator_open(generator *it, firn_error *error);

/* How many IDs this server issued of it. Any thread. */
uint64_t generator_issued(const generator *it);
/* What its renewer last failed with; returns the code, 0: nothing. Any thread. */
int generator_trouble(const generator *it, firn_error *error);
enum { WINDOW_MOST_MS = 30000 }; /* a longer window would mean that slots are not ticks */
/* For how many ms its window still lasts; -1: it has none, or its layout does not tell. Any thread. */
int64_t generator_window_ms(const generator *it);

/* A worker issued `n` of it: counts them and keeps some of the batch, at least one. */
void generator_count(generator *it, worker *by, const uint64_t *numbers, const firn_id *ids,
                     size_t n);
/* A worker found the window used up: its renewer looks at once. Never blocks. */
void generator_want(generator *it);
/* Back-dated IDs: in the renewer's thread, or in any thread when it has no renewer. FIRN_EWINDOW:
 * another thread is at it (only without a renewer). */
int generator_date(generator *it, const firn_time *time, firn_id *ids, size_t n, firn_error *error);
/* In its renewer's thread: steps it if it is due; *news: it has a new window. Returns after how many
 * ms it is due again. */
int64_t generator_attend(generator *it, bool *news);
/* In its renewer's thread: gives the window back. */
void generator_close(generator *it);

#endif
