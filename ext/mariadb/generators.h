/* SPDX-License-Identifier: MIT */
/* The generators of this server process and the jobs of its statements. All connections share
 * generators: one per scheme and options, opened on first use, closed when the server stops, which
 * gives the windows back. */
#ifndef FIRN_MARIADB_GENERATORS_H
#define FIRN_MARIADB_GENERATORS_H

#include <firn/firn.h>

enum {
    GENERATORS_MOST = 64, /* schemes with options, or layouts */
    GENERATORS_PLAIN = 64 /* schemes of the table without options */
};

/* The generator of a call; zeros: none yet. */
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

/* A job of one statement; its `name` is used up. options: keys of a job, and store=, unsafe=,
 * max_shift= and disorder=. Errors of firn_job_open. */
int job_begin(firn_job **job, const char *scheme, const char *name, const char *options,
              firn_error *error);

#endif
