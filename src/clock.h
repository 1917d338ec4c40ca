/* SPDX-License-Identifier: MIT */
/* Clocks inside the library: the system's, the cycle counter that gives the age of a reading, and
 * the watch that judges steps and jumps of the wall clock against the steady one. Knows no
 * slots. */
#ifndef FIRN_CLOCK_H
#define FIRN_CLOCK_H

#include <firn/firn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
static inline uint64_t firn__cycles(void) {
    return __builtin_ia32_rdtsc(); /* __rdtsc of <x86intrin.h>: to read that takes as long as to compile an average file */
}
#elif defined(__aarch64__)
static inline uint64_t firn__cycles(void) {
    uint64_t count;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
}
#else
static inline uint64_t firn__cycles(void) {
    return 0;
}
#endif

/* Does the counter run evenly, also between cores, by the word of CPU and kernel? */
bool firn__cycles_constant(void);

/* The system's clock, and its coarse reading (stale by 1 to 10 ms). */
extern const firn_clock firn__clock_system;
static inline int firn__clock_coarse(firn_time *now) {
    struct timespec reading;
    if (clock_gettime(CLOCK_REALTIME_COARSE, &reading) != 0) {
        return FIRN_ECLOCK;
    }
    now->sec = reading.tv_sec;
    now->ns = (int32_t)reading.tv_nsec;
    return FIRN_OK;
}

/* FIRN_ECLOCK: a reading failed or is not a valid time, with what to check. */
int firn__clock_refused(const firn_clock *clock, firn_error *error);

/* a - b in ns, capped at about +-290 years. */
int64_t firn__time_since(const firn_time *a, const firn_time *b);
/* time + ns. */
firn_time firn__time_after(const firn_time *time, int64_t ns);

/* A time in one word, in units of 2^20 ns (about a ms) of its second, rounded down. Sorts as times
 * do. */
static inline int64_t firn__time_brief(const firn_time *time) {
    return (int64_t)((uint64_t)time->sec << 10 | (uint64_t)time->ns >> 20);
}
static inline firn_time firn__time_of_brief(int64_t brief) {
    return (firn_time){brief >> 10, (int32_t)((uint64_t)brief << 20 & 0x3ff00000)};
}

/* Judges the wall clock by the steady one. Lives in memory that a fork wipes: all zero is a new
 * watch. All members are used with `lock` held, except that any thread may read the atomic ones,
 * and count `stepped` (now.c) and raise `used` (firn__watch_used), without it. */
typedef struct firn__watch {
    pthread_mutex_t lock;
    bool anchored;
    firn_time wall;     /* of the anchor: the last time that was judged */
    int64_t steady;     /* of the anchor, ns */
    firn_time last;     /* the greatest time used since the last step back, as far as judged */
    bool behind, ahead; /* the clock is before `last`; a jump is doubted */
    int64_t since, deviation;  /* when the jump was first seen (steady ns), and how far it went */
    uint64_t cycles;           /* where the measurement of the counter's rate began */
    int64_t cycles_steady;     /* and when; 0: none has */
    _Atomic int64_t trusted_s; /* readings up to this second need no judgement */
    _Atomic int64_t used;      /* the greatest reading used since the last step back, in brief */
    _Atomic uint64_t stale_cycles; /* a reading younger than this is used again; 0: none is */
    _Atomic uint64_t absorbed, stepped, jumped; /* how often */
} firn__watch;

/* Takes a reading of the wall clock for good, or puts what to use instead into *wall: after a
 * jump ahead of more than 5 s, which is believed after 2 s, the old time run on, which is never
 * before the last time used. A step back from that one by more than back_ns is counted, then
 * believed; *steps is how many were by now. On entry: the caller's last reading, and *steps then,
 * because `used` knows it to a ms only; steps UINT64_MAX: it has none. */
int firn__watch_judge(firn__watch *watch, const firn_clock *clock, int64_t back_ns, firn_time *wall,
                      uint64_t *steps, firn_error *error);
/* Notes a reading that was used without judgement. `used` was loaded before the clock was read: if
 * it has changed since, another thread has noted as late a reading, or a step back. */
static inline void firn__watch_used(firn__watch *watch, int64_t used, const firn_time *wall) {
    if (firn__time_brief(wall) > used) {
        atomic_compare_exchange_strong_explicit(&watch->used, &used, firn__time_brief(wall),
                                                memory_order_release, memory_order_relaxed);
    }
}
/* Learns the counter's rate, and checks it again when a second has passed since; `stale` sets how
 * long readings live. */
void firn__watch_learn(firn__watch *watch, const firn_clock *clock, uint64_t (*counter)(void),
                       int64_t stale_us);

#endif
