/* SPDX-License-Identifier: MIT */
/* The generators of this server process, and the jobs of its statements. Generators are shared by
 * all connections: one for each scheme and options, opened when it is asked for first, closed when
 * the server ends, so that what is left of its windows is given back. */
#ifndef FIRN_MARIADB_GENERATORS_H
#define FIRN_MARIADB_GENERATORS_H

#include <firn/firn.h>

enum {
    GENERATORS_MOST = 64, /* of schemes with options, or with a row of the caller's */
    GENERATORS_PLAIN = 64 /* of schemes of the table without: more than it has */
};

/* `options`: keys of docs/reference/keys.md. What they leave out: FIRN_STORE, FIRN_NODE, and full=wait. Any
 * thread; while one opens a generator, others wait only for the same one. FIRN_EUSAGE: more than
 * GENERATORS_MOST; what firn_open_with says. */
int generator_find(firn_gen **gen, const char *scheme, const char *options, firn_error *error);

/* A job of its own for one statement: `name` is used up by it. options: keys of a job, and
 * store=, unsafe=, shift_ms= and disorder_ms=. What firn_job_open says. */
int job_begin(firn_job **job, const char *scheme, const char *name, const char *options,
              firn_error *error);

#endif
