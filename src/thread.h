/* SPDX-License-Identifier: MIT */
/* What each thread keeps: the last clock reading and the leased block of a few generators, and
 * its block of entropy. Every entry is checked against its owner's serial, which a fork wipes,
 * so nothing here outlives a fork unseen. */
#ifndef FIRN_THREAD_H
#define FIRN_THREAD_H

#include <firn/firn.h>

/* The faster model wherever the loader takes it from a library that is loaded late. */
#if defined(__GLIBC__) && defined(__GNUC__)
#define FIRN_TLS _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define FIRN_TLS _Thread_local
#endif

#define FIRN__SEEN 4 /* generators a thread remembers; one more only costs it a clock reading */

/* The last exact reading of a generator's clock in this thread, and the block leased under
 * ordering=thread. */
typedef struct firn__seen {
    uint64_t serial;  /* of the generator; 0: empty */
    uint64_t counter; /* the cycle counter, read before the clock */
    uint64_t tick;    /* of `wall` */
    firn_time wall;
    uint32_t lane;            /* which of several windows is this thread's, from 1 on */
    uint64_t steps;           /* steps back that the watch had counted by then */
    const void *permit;       /* of the block */
    int64_t block, block_end; /* slots of the block, relative to the permit's base tick */
} firn__seen;

#endif
