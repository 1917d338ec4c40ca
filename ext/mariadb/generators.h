/* SPDX-License-Identifier: MIT */
/* The generators and series of this server process and the jobs of its statements. All connections
 * share generators: one per scheme and options, opened on first use, closed when the server stops,
 * which gives the windows back. Series, too: one per name and definition. */
#ifndef FIRN_MARIADB_GENERATORS_H
#define FIRN_MARIADB_GENERATORS_H

#include <firn/firn.h>

enum {
    GENERATORS_MOST = 64,  /* schemes with options, or layouts */
    GENERATORS_PLAIN = 64, /* schemes of the table without options */
    SERIES_MOST = 64,      /* names with definitions */
    TURN_S = 10            /* that a call waits for other calls of its series */
};

/* The generator or series of a call; zeros: none yet. */
typedef struct mariadb_generator {
    struct generator_entry *entry;
    uint64_t life; /* of `at`: another one there has another */
    firn_gen *gen;
    bool held; /* by this thread: nobody closes it */
} mariadb_generator;

/* Holds the generator of scheme and options. `options`: keys of docs/reference/keys.md; defaults:
 * FIRN_STORE, FIRN_NODE and full=wait. Any thread; threads wait only for the opening of the same
 * generator. Room for one with options is made by closing the least recently used that no call
 * holds. FIRN_EUSAGE: calls hold GENERATORS_MOST, or FIRN_OPTIONS=0 forbids the options; errors of
 * firn_open_with. */
int generator_find(mariadb_generator *g, const char *scheme, const char *options,
                   firn_error *error);
/* Holds the generator that was found before, unless it was closed since: false. */
bool generator_again(mariadb_generator *g);
void generator_leave(mariadb_generator *g);

/* Holds the series of a name and a definition, which may be "", as generator_find does. The store
 * is FIRN_STORE's. FIRN_EUSAGE: calls hold SERIES_MOST, the definition names a key, or
 * FIRN_OPTIONS=0 forbids it; errors of firn_series_open. */
int series_find(mariadb_generator *g, const char *name, const char *definition, firn_error *error);
/* The next number of the series, of now or of a time; calls of one series take turns. A date alone is
 * a day in the zone of the series. FIRN_EBUSY: no turn in TURN_S; errors of firn_series_next. */
int series_take(const mariadb_generator *g, char text[FIRN_SERIES_SIZE], const firn_time *at,
                firn_error *error);
int series_day(const mariadb_generator *g, firn_time *time, const char *text, size_t length,
               firn_error *error);

/* A job of one statement; its `name` is used up. options: keys of a job, and store=, unsafe=,
 * max_shift= and disorder=. Errors of firn_job_open. */
int job_begin(firn_job **job, const char *scheme, const char *name, const char *options,
              firn_error *error);

#endif
