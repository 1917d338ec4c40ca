/* SPDX-License-Identifier: MIT */
/* What a renewer last failed with, for one generator or one segment. Any thread reads it; only its
 * renewer's thread sets it. */
#ifndef FIRN_LAST_ERROR_H
#define FIRN_LAST_ERROR_H

#include <firn/firn.h>

#include <stdatomic.h>

/* The zero value: no failure. */
typedef struct last_error {
    _Atomic int code;
    firn_error error; /* under last_error.c's lock */
} last_error;

/* Sets it, FIRN_OK for none, and logs one event for each change: `what` is "generator" or
 * "segment". Only an answer of the store shows that a failure is over: do not call it for a step that
 * had nothing to do. */
void last_error_set(last_error *it, const char *what, const char *name, int code,
                    const firn_error *error);
/* Returns the code and fills `error` unless it is FIRN_OK. */
int last_error_get(const last_error *it, firn_error *error);

#endif
