/* SPDX-License-Identifier: MIT */
/* A generator of the server: a firn_gen with its text form, renewer and counters. Other generators
 * are in catalog.h. */
#ifndef FIRN_GENERATOR_H
#define FIRN_GENERATOR_H

#include "last_error.h"
#include "name_table.h"
#include "renewer.h"
#include "worker.h"

#include <firn/firn.h>

#include <pthread.h>

#define KEYS_SIZE   512 /* bytes of the keys of a generator or a segment */
#define RECENT_SIZE 256 /* recent IDs that each worker keeps for SPREAD */

/* The counts of one worker's IDs; no two threads share a cache line. */
typedef struct generator_tally {
    _Alignas(64) _Atomic uint64_t issued;
    _Atomic uint32_t next; /* index in `recent`, never reduced */
    /* A sample of each batch: low, high, top. May be torn while it is written: for statistics
     * only. */
    _Atomic uint64_t recent[RECENT_SIZE][3];
} generator_tally;

/* A configured generator, or a scheme of the table, opened on first use. */
typedef struct server_generator {
    char name[NAME_SIZE];
    char text[KEYS_SIZE]; /* the scheme as configured */
    char keys[KEYS_SIZE];
    const firn_scheme *scheme; /* lives as long as this */
    firn_scheme own;
    int form;               /* of the text */
    char prefix[66];        /* typeid's, with its _ */
    bool narrow;            /* written as plain numbers: at most 64 bits, form dec or unsigned */
    bool waits;             /* false: full=fail, so exhaustion is an error at once */
    bool back_fails;        /* back=fail: a clock rollback is an error at once */
    bool configured;        /* false: opened by the name of its scheme */
    _Atomic bool late;      /* added while serving, has not issued yet: ignored by catalog_ready */
    store_renewer *renewer; /* NULL: needs no store */
    firn_gen *_Atomic gen;  /* NULL until it is open */
    last_error failed;      /* the renewer's last failure */
    _Atomic bool wanted;    /* a worker found its window used up */
    int64_t next_ms, pause_ms; /* renewer: when to step it, and the pause after a failed opening */
    uint64_t requested_at;     /* renewer: number issued when it last changed, */
    int64_t asked_ms;          /* and when */
    _Atomic bool idle;         /* unused for long: the window may expire */
    uint64_t news;             /* renewer: claims and renewals at its last look */
    _Atomic int64_t window_ms; /* how long the last window was when it was reserved; 0: unknown */
    firn_gen *_Atomic dated;   /* without a store: generator of back-dated IDs */
    pthread_mutex_t dated_lock;
    int64_t dated_left;                            /* under that lock: times until it is replaced */
    generator_tally *_Atomic tallies[WORKERS_MAX]; /* per worker; NULL: none issued yet */
} server_generator;

/* The value of a key in "a=1 b=2", or ""; returns `value`. */
char *keys_value(char value[FIRN_NS_SIZE], const char *keys, const char *name);
/* Copies a configured text. FIRN_ERANGE: longer than size - 1 bytes. */
int take_configured(char *to, size_t size, const char *from, const char *what, firn_error *error);

/* Not in a table yet. `keys`, `form`, `prefix`: NULL or "" for none. FIRN_EUSAGE, FIRN_ERANGE,
 * FIRN_EMEMORY. */
int generator_make(server_generator **out, const char *name, const char *scheme, const char *keys,
                   const char *form, const char *prefix, firn_error *error);
void generator_free(server_generator *generator);
/* Opens it unless it needs a store (*reserved). Other codes: its keys are wrong. */
int generator_try(server_generator *generator, bool *reserved, firn_error *error);
/* Renewer's thread: opens it and claims its first window. */
int generator_open(server_generator *generator, firn_error *error);

/* Number of IDs this server issued. Any thread. */
uint64_t generator_issued(const server_generator *generator);
/* The longest one with reach=10min, and clocks that differ. A longer result would mean that slots
 * are not ticks. */
enum { WINDOW_MOST_MS = 630000 };
/* How many ms the window lasts; -1: no window, or unknown. Any thread. */
int64_t generator_window_ms(const server_generator *generator);

/* Counts `n` issued IDs and keeps a sample of them. */
void generator_count(server_generator *generator, server_worker *worker, const uint64_t *numbers,
                     const firn_id *ids, size_t n);
/* The window is used up: wakes the renewer. Never blocks. */
void generator_want(server_generator *generator);
/* Back-dates IDs: in the renewer's thread, or in any thread if there is no renewer. FIRN_EWINDOW:
 * another thread is using it. */
int generator_date(server_generator *generator, const firn_time *time, firn_id *ids, size_t n,
                   firn_error *error);
/* Renewer's thread: steps it if necessary; *news: it has a new window. Returns after how many ms to
 * call again. */
int64_t generator_attend(server_generator *generator, bool *news);
/* Renewer's thread: gives the window back. */
void generator_close(server_generator *generator);

#endif
