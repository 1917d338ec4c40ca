/* SPDX-License-Identifier: MIT */
/* The cache of each thread for a few generators. Every entry is checked against its owner's era or
 * serial, which a fork wipes, so nothing here outlives a fork unseen. */
#ifndef FIRN_THREAD_CACHE_H
#define FIRN_THREAD_CACHE_H

#include <firn/firn.h>
#include <time.h>

/* The faster model wherever the loader takes it from a library that is loaded late. A process has
 * room for few such libraries; -DFIRN_TLS=_Thread_local takes no such room. */
#if defined(FIRN_TLS)
#elif defined(__GLIBC__) && defined(__GNUC__)
#define FIRN_TLS _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define FIRN_TLS _Thread_local
#endif

#define FIRN__SEEN 4 /* generators a thread remembers; one more only costs it a clock reading */

/* Of no generator: an era begins at random, and is 0 in a forked child. */
#define FIRN__NO_ERA UINT64_MAX

/* A thread's memory of a generator: the last reading of its clock, the window that was loaded
 * before, what follows from both, and the block leased under ordering=thread. All of it counts
 * while the generator's era is the one noted here. Slots are relative to the window's base tick. */
typedef struct firn__thread_view {
    uint64_t era;                /* FIRN__NO_ERA: only serial and lane count */
    uint64_t counter;            /* the cycle counter, read before the clock */
    struct firn__window *window; /* not NULL */
    uint64_t least;              /* the first slot of `tick`; 0: it is not after the base tick */
    uint64_t limit; /* of slots for the direct ways: firn__seen_limit, at that reading */
    /* The rest of the block; or the window's cursor, which was at `next` or beyond when this
     * thread moved it last, and until where it may be added to (take_directly). */
    uint64_t next, next_end;
    uint64_t run, run_end;  /* slots whose IDs differ by what gen->run adds, */
    firn_id run_first;      /* and the first of these IDs, without random bits */
    struct timespec coarse; /* the last reading of clock=tick */
    firn_time wall;         /* the last reading that was judged */
    uint64_t tick;          /* of `wall` */
    uint64_t base_tick;     /* of the window */
    firn_id base;           /* its template */
    uint64_t serial;        /* of the generator; 0: empty */
    uint64_t steps;         /* rollbacks that the watch had counted by then */
    uint32_t lane;          /* which of several windows is this thread's, from 1 on */
} firn__thread_view;

extern FIRN_TLS firn__thread_view firn__thread_views[FIRN__SEEN];

#endif
