/* SPDX-License-Identifier: MIT */
/* What this server issues from: generators and segments by name. Looking one up takes no lock; they
 * are added by renewers and by the main thread, never removed, and never more than the configured
 * most. */
#ifndef FIRN_CATALOG_H
#define FIRN_CATALOG_H

#include "renewer.h"
#include "word.h"
#include "worker.h"

#include <firn/firn.h>

#include <pthread.h>
#include <stdatomic.h>

#define NAME_SIZE   64  /* a generator's or a segment's name and its zero */
#define KEYS_SIZE   512 /* of the keys of a generator or a segment */
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
    int form;              /* of its IDs' text */
    char prefix[66];       /* of typeid, with its _ */
    bool narrow;           /* at most 64 bits and written as dec or unsigned: numbers do */
    bool waits;            /* false: full=fail, so an exhausted generator is an error at once */
    bool back_fails;       /* back=fail: a clock that stepped back is an error at once */
    bool configured;       /* else it was opened by its scheme's name */
    _Atomic bool late;     /* added while others were served, and could never issue yet:
                            * catalog_ready does not wait for it */
    renewer *renewer;      /* NULL: it needs no store */
    firn_gen *_Atomic gen; /* NULL until it is open */
    _Atomic int code; /* what its renewer last failed with; 0: it did not, or was not there yet */
    firn_error error; /* of that, under the catalog's lock: generator_trouble */
    _Atomic bool wanted;       /* a worker found its window used up */
    int64_t next_ms, pause_ms; /* the renewer's: when it is stepped, and how long it waits after a
                                * failure to open it */
    uint64_t asked;            /* the renewer's: how many it had issued when that last changed, */
    int64_t asked_ms;          /* and when */
    _Atomic bool idle; /* nobody has asked for long: its window is left to run out until one does */
    uint64_t news;     /* the renewer's: its claims and renewals when it last looked */
    firn_gen
        *_Atomic dated; /* of rows without a store: back-dated IDs come from one of their own */
    pthread_mutex_t dated_lock;
    int64_t dated_left; /* under that lock: after so many instants more another one is opened */
    tally *_Atomic by[WORKERS_MAX]; /* NULL until that worker issues of it */
} generator;

/* Durable integers under a key. */
typedef struct segment segment;
struct segment {
    char name[NAME_SIZE];
    char keys[KEYS_SIZE];
    int64_t increment;
    bool configured;
    _Atomic bool late; /* as above */
    renewer *renewer;
    firn_segment *_Atomic range; /* NULL until it is open */
    _Atomic bool due;            /* firn_segment_step has something to do, and the renewer knows */
    segment *next_due;           /* in its renewer's list */
    int64_t next_ms, pause_ms;   /* the renewer's: after a failure it is not tried again before */
    _Atomic int code;            /* as above */
    firn_error error;
    struct {
        _Alignas(64) _Atomic int64_t value; /* the last integer by this worker; INT64_MIN: none */
        _Atomic uint64_t issued;
    } by[WORKERS_MAX];
};

/* Before the threads start: the most of each, and whether segments nobody configured are made when
 * they are first asked for (auto_create, at most so many; 0: not). `store` is the URL for what has
 * none of its own. FIRN_EUSAGE: a URL that no store has. */
int catalog_begin(const char *store, size_t max_generators, size_t max_segments, size_t auto_create,
                  firn_error *error);
/* Adds one of the configuration, before the threads start or while they serve; the renewer opens it in
 * the background. FIRN_EUSAGE, FIRN_ERANGE: there are as many as may be, or one of that name is there
 * already. `store` NULL: the default one. */
int catalog_add_generator(const char *name, const char *scheme, const char *keys, const char *store,
                          const char *form, const char *prefix, firn_error *error);
int catalog_add_segment(const char *name, const char *keys, const char *store, firn_error *error);

/* The configuration is complete: what is added from here on is late, so that catalog_ready does not
 * wait for it. The default store gets its renewer now, unless all that is configured lies elsewhere and
 * nobody named it. The main thread. Errors as of renewer_of. */
int catalog_begun(firn_error *error);

/* The same without adding it: is it right, as far as it can be known without its store? After
 * catalog_begin. */
int catalog_check_generator(const char *name, const char *scheme, const char *keys,
                            const char *store, const char *form, const char *prefix,
                            firn_error *error);
int catalog_check_segment(const char *name, const char *keys, const char *store, firn_error *error);

/* The value of a key in such a line of keys, "" where it has none; returns `value`. Any thread. */
char *catalog_key(char value[FIRN_NS_SIZE], const char *keys, const char *name);

/* How many integers one request may ask for, from now on; before, as many as there can be. Any
 * thread. */
void catalog_allow_block(int64_t most);
int64_t max_catalog_block(void);
/* How many segments may be made when first asked for, from now on; at most what max_segments left
 * room for. Any thread. */
void catalog_allow(size_t auto_create);

/* By name; NULL: there is none (yet). Any thread, no lock. */
generator *catalog_generator(word name);
segment *catalog_segment(word name);
/* The i-th, or NULL. Any thread. */
generator *catalog_generator_at(size_t i);
segment *catalog_segment_at(size_t i);
/* May a segment of this name be made now? FIRN_EUSAGE says what to do else; FIRN_ERANGE. */
int catalog_may_create(word name, firn_error *error);

/* The last integer that this server issued of it, or INT64_MIN. */
int64_t segment_last(const segment *it);
/* How many IDs or integers this server issued of it. */
uint64_t generator_issued(const generator *it);
uint64_t segment_issued(const segment *it);
/* What its renewer last failed with; returns the code, 0: nothing. */
int generator_trouble(const generator *it, firn_error *error);
int segment_trouble(const segment *it, firn_error *error);
/* For how many ms from now its window lasts, when the clock runs on and nothing is borrowed;
 * negative: it has none. -1 too where the row does not tell. */
int64_t generator_window_ms(const generator *it);

/* A worker issued `n` of it: counts them, and keeps some of the batch, the first of them at least. */
void generator_tell(generator *it, worker *by, const uint64_t *numbers, const firn_id *ids,
                    size_t n);
void segment_tell(segment *it, const worker *by, int64_t last, uint64_t n);
/* A worker found the window used up, or a block due: its renewer looks at once. Never blocks. */
void generator_want(generator *it);
void segment_want(segment *it);

/* Back-dated IDs: in the renewer's thread, or in any when it has none. FIRN_EWINDOW: another thread
 * is at it (only where it has no renewer). */
int generator_date(generator *it, const firn_time *time, firn_id *ids, size_t n, firn_error *error);
/* Makes what nobody has asked for yet, or finds what somebody else has made meanwhile. A generator
 * of a scheme of the table: in the default renewer's thread, or in any where `free` (its row needs no
 * store). A segment: in the default renewer's thread. */
int catalog_open_scheme(generator **out, const char *name, bool free, firn_error *error);
int catalog_open_segment(segment **out, const char *name, firn_error *error);
/* Exactly `count` integers in one block, fetched where too few are there. In the renewer's thread. */
int segment_fetch(segment *it, int64_t count, int64_t *first, firn_error *error);
/* The renewer of the default store; NULL with the reason. */
renewer *catalog_renewer(firn_error *error);

/* For renewers: opens and steps all that is theirs; tells after how many ms something is due, and
 * whether anything changed. Closes all that is theirs. */
int64_t catalog_step(renewer *of, bool *news);
void catalog_close(renewer *of);
/* After renewers_stop: frees all. */
void catalog_end(void);

/* Everything but what came late is open and holds its window? Else why not, one line, for
 * /readyz. */
bool catalog_ready(char why[256]);

#endif
