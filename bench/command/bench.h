/* SPDX-License-Identifier: MIT */
/* Measuring: a burst of calls repeated, its median. The table of what is measured is in
 * bench.c, each kind of work in a file of its own; nothing here is a test. */
#ifndef FIRN_BENCH_H
#define FIRN_BENCH_H

#include "command.h"

enum { BENCH_REPEATS = 21 };
#define BENCH_BURST_NS 2e6 /* how long a burst lasts, unless the layout ends it sooner */

/* A layout on which no burst meets a full tick: 2^18 IDs per millisecond. */
#define BENCH_WIDE_LAYOUT "0x0:1 time:41/ms node:4 sequence:18"

typedef struct bench_result {
    double ns;           /* an ID, or a process */
    double sustained_ns; /* what the layout lets through in the long run; 0: the same */
    char note[160];      /* how it was measured, or why not */
} bench_result;

typedef struct bench_case bench_case;
struct bench_case {
    const char *group; /* a firn figure and its peers */
    const char *name;
    bool peer;
    bool (*measure)(const bench_case *about,
                    bench_result *result); /* false: not possible, and why */
    const char *scheme, *keys;             /* of generators */
};

/* Work: `n` operations; false ends the measurement, `note` says why. */
typedef bool bench_work(void *context, uint64_t n);
/* Between bursts, untimed: lets the clock come up with the generator. */
typedef void bench_rest(void *context);

/* The median time of one operation, in ns; below 0: the work failed. At most `most` operations
 * a burst; `rest` may be NULL. *burst: how many a burst had. */
double bench_median(bench_work *work, bench_rest *rest, void *context, uint64_t most,
                    uint64_t *burst);
/* The median of 1 or more; sorts. */
double bench_middle(double times[], int count);
double bench_now_ns(void);
/* "12.3 us", the unit by the size. */
void bench_name_time(char text[32], double ns);
/* Binds the calling thread to the i-th of its processors; false: there are fewer. */
bool bench_pin(int i);
/* Keeps the compiler from leaving work out. */
#define BENCH_KEEP(x) __asm__ volatile("" : : "r,m"(x) : "memory")

/* A process of a program; this very one is found through /proc. */
typedef struct bench_child {
    char *program;
    char *words[16];
    const char *to; /* standard output */
    bool silent;    /* its notes are left out */
} bench_child;
bool bench_run(const bench_child *c); /* false: it failed */
bool bench_own_path(char *path, size_t size);
/* An empty file in TMPDIR, whose name is written into `path`; the caller unlinks it. -1: none. */
int bench_file(char *path, size_t size);

bool bench_next(const bench_case *about, bench_result *result);
bool bench_bulk_u64(const bench_case *about, bench_result *result);
bool bench_bulk_id(const bench_case *about, bench_result *result);
bool bench_threads(const bench_case *about, bench_result *result);
bool bench_bare(const bench_case *about, bench_result *result);
bool bench_write(const bench_case *about, bench_result *result);
bool bench_read(const bench_case *about, bench_result *result);
bool bench_libuuid(const bench_case *about, bench_result *result);
bool bench_libuuid_daemon(const bench_case *about, bench_result *result);
bool bench_process(const bench_case *about, bench_result *result);
bool bench_million(const bench_case *about, bench_result *result);
bool bench_stamp(const bench_case *about, bench_result *result);
bool bench_copy(const bench_case *about, bench_result *result);
bool bench_check(const bench_case *about, bench_result *result);

#endif
