/* SPDX-License-Identifier: MIT */
/* Runs a module once for each call that it makes to the system or to its library. In each run one
 * of these calls fails, or returns something else. ld(1), --wrap, puts the functions of this header
 * before the real ones; CMakeLists.txt takes their names from the lines that begin with CALL. */
#ifndef FIRN_TEST_CALLS_H
#define FIRN_TEST_CALLS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <execinfo.h>
#include <netdb.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "sanitized.h"

#define PLACES_MOST 4096
#ifndef CALLERS
#define CALLERS 6 /* of a call, that tell its place */
#endif

/* ---- calls that fail ------------------------------------------------------------------------ */

/* A place is a call and its callers. A run fails the first call whose place is not done. */
static uint64_t places_done[PLACES_MOST]; /* failed in every way */
static size_t places_count;

static atomic_flag call_lock = ATOMIC_FLAG_INIT; /* libraries have threads */
static bool calls_watched;                       /* no call of this run has failed yet */
static uint64_t call_place;                      /* of the call that failed, 0: none */
static const char *call_name;
static int call_answers;    /* how many wrong answers it has */
static int call_answer = 1; /* which of them it gives, from 1 */
static bool call_lied;      /* that answer is not a failure, but wrong data */

/* Inlining leaves fewer callers. */
#if SANITIZED
#define DEPTH (2 + CALLERS / 2)
#elif defined(__OPTIMIZE__)
#define DEPTH (2 + CALLERS * 2 / 3)
#else
#define DEPTH (2 + CALLERS)
#endif

static uint64_t place_of(const char *name) {
    void *callers[DEPTH];
    int count = backtrace(callers, DEPTH);
    uint64_t sum = (uintptr_t)name;
    for (int i = 2; i < count; i++) {
        sum = sum * UINT64_C(1099511628211) + (uintptr_t)callers[i];
    }
    return sum | 1;
}

static bool is_done(uint64_t place) {
    for (size_t i = 0; i < places_count; i++) {
        if (places_done[i] == place) {
            return true;
        }
    }
    return false;
}

/* Returns the wrong answer to give, from 1, or 0: none. The first `failures` answers report a
 * failure. */
__attribute__((noinline)) static int calls_answer(const char *name, int failures, int answers) {
    if (!calls_watched) {
        return 0;
    }
    uint64_t place = place_of(name);
    int which = 0;
    while (atomic_flag_test_and_set(&call_lock)) {
    }
    if (calls_watched && answers > 0 && !is_done(place)) {
        calls_watched = false;
        call_place = place;
        call_name = name;
        call_answers = answers;
        call_lied = call_answer > failures;
        which = call_answer <= answers ? call_answer : 1;
    }
    atomic_flag_clear(&call_lock);
    errno = which != 0 ? ECONNRESET : errno;
    return which;
}

/* A wrapper: type, name, parameters and arguments of the function, the number of failures, then all
 * wrong answers, failures first. */
#define CALL_PROTOTYPES(type, name, parameters)                                                    \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters
#define CALL(type, name, parameters, arguments, failures, ...)                                     \
    CALL_PROTOTYPES(type, name, parameters) {                                                      \
        type answers[] = {__VA_ARGS__};                                                            \
        int which = calls_answer(#name, failures, (int)(sizeof answers / sizeof answers[0]));      \
        return which == 0 ? __real_##name arguments : answers[which - 1];                          \
    }
/* A wrapper whose body follows. */
#define CALL_BY_HAND(type, name, parameters) CALL_PROTOTYPES(type, name, parameters)

CALL(void *, malloc, (size_t size), (size), 1, NULL)
CALL(void *, calloc, (size_t count, size_t size), (count, size), 1, NULL)
CALL(void *, realloc, (void *piece, size_t size), (piece, size), 1, NULL)
CALL(char *, strdup, (const char *text), (text), 1, NULL)
CALL(char *, strndup, (const char *text, size_t length), (text, length), 1, NULL)
CALL(ssize_t, getrandom, (void *out, size_t size, unsigned flags), (out, size, flags), 1, -1)
CALL(int, socket, (int family, int kind, int protocol), (family, kind, protocol), 1, -1)

CALL(int, getaddrinfo,
     (const char *name, const char *port, const struct addrinfo *hints, struct addrinfo **out),
     (name, port, hints, out), 1, EAI_AGAIN)

/* A timeout, a signal, an error. */
CALL_BY_HAND(int, poll, (struct pollfd * files, nfds_t count, int wait_ms)) {
    int which = calls_answer("poll", 3, 3);
    errno = which == 2 ? EINTR : which == 3 ? EINVAL : errno;
    return which == 0 ? __real_poll(files, count, wait_ms) : which == 1 ? 0 : -1;
}

/* After a wrong answer the clock stays an hour ahead. */
static bool hour_passed;

CALL_BY_HAND(int, clock_gettime, (clockid_t id, struct timespec *now)) {
    int result = __real_clock_gettime(id, now);
    if (id == CLOCK_BOOTTIME) {
        hour_passed = hour_passed || calls_answer("clock_gettime", 1, 1) != 0;
        now->tv_sec += hour_passed ? 3600 : 0;
    }
    return result;
}

/* ---- all runs ------------------------------------------------------------------------------- */

static int calls_number;  /* of the run */
static bool calls_failed; /* something failed in this run, perhaps only because it took too long */
static bool calls_patiently; /* this run has time */

/* Runs the module until every call at every place has given every wrong answer. Returns the number
 * of runs. A busy machine may end a run before the next place: the last run has time. */
static long calls_sweep(void (*run)(void *context), void *context) {
    long runs = 0;
    bool again = false;
    place_of(""); /* loads a library the first time */
    do {
        runs++;
        calls_number++;
        call_place = 0;
        call_name = "nothing";
        call_lied = hour_passed = calls_failed = false;
        calls_patiently = again;
        calls_watched = true;
        run(context);
        calls_watched = false;
        if (call_place != 0 && ++call_answer > call_answers) {
            assert_true(places_count < PLACES_MOST);
            places_done[places_count++] = call_place;
            call_answer = 1;
        }
        again = call_place == 0 && calls_failed && !calls_patiently;
    } while (call_place != 0 || again);
    return runs;
}

/* From here on no call fails in this run. */
static inline void calls_calm(void) {
    calls_watched = hour_passed = false;
}

#endif
