/* SPDX-License-Identifier: MIT */
/* Measurements on engines: four kinds of work, one file each, and how a figure is shown. The
 * harness (clock, medians, binding to a processor) is shared with `firn bench`. */
#ifndef FIRN_BENCH_MEASURE_H
#define FIRN_BENCH_MEASURE_H

#include "../command/bench.h"

/* A line of the report. */
typedef struct figure {
    const char *name;
    bool peer;      /* what firn's figure above it is compared with */
    double ns;      /* below 0: not measured, `note` says why */
    double ratio;   /* firn's time by this one's; 0: none */
    double most;    /* the goal: of `ratio` where there is one, else of `ns`; 0: none */
    int64_t calls;  /* the figure is not a time but `calls` */
    int64_t among;  /* out of this many; 0: the figure is a time */
    char note[160]; /* how it was measured */
} figure;

void put_figure(const figure *self);
bool report_is_json(void);
/* Text of the report, and objects of it. */
void report_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void report_json(void *object);

/* A bare statement through an engine's client library, on its own connection, that writes as
 * durably as a reservation. */
typedef struct peer {
    const char *engine; /* as test/engine calls it */
    const char *name, *note;
    bool (*open)(void **self, unsigned port); /* makes what it writes to */
    bool (*write)(void *self, int64_t value);
    void (*close)(void *self); /* takes NULL, too */
} peer;

/* By engine, peers of one engine together, the peer with the same work first. */
extern const peer peers[];
extern const size_t peer_count;

/* Reservations on every engine, and its peers. */
void measure_engines(void);
/* Up to 10 000 processes on PostgreSQL. */
void measure_fleet(void);
/* firn_next while a renewer renews. */
void measure_renewer(void);
/* Integers on a store that takes its time. */
void measure_ranges(void);

/* A memory store wrapped by one that counts and waits. */
typedef struct slow_store {
    firn_store *inner;
    int64_t wait_ns;                 /* added to each reservation */
    _Atomic int64_t calls_of_others; /* by threads other than renewers */
    _Atomic int64_t calls_of_renewers;
} slow_store;

/* Is the calling thread a renewer? */
extern _Thread_local bool renewer_thread;

/* NULL: it cannot be opened. `self` outlives the store, which the caller closes. */
firn_store *slow_store_open(slow_store *self, int64_t wait_ns);

#endif
