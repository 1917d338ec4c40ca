/* SPDX-License-Identifier: MIT */
/* The renewer's last failure for one generator or segment. Any thread reads it; only the renewer's
 * thread sets it. */
#ifndef FIRN_LAST_ERROR_H
#define FIRN_LAST_ERROR_H

#include <firn/firn.h>

#include <stdatomic.h>

/* Zero: no failure. */
typedef struct last_error {
    _Atomic int code;
    firn_error error; /* under last_error.c's lock */
} last_error;

/* Sets it (FIRN_OK: none) and logs each change once; `what` is "generator", "segment" or "series". Only an
 * answer of the store ends a failure: do not call it for a step that had nothing to do. */
void last_error_set(last_error *last, const char *what, const char *name, int code,
                    const firn_error *error);
/* Returns the code and fills `error` unless it is FIRN_OK. */
int last_error_get(const last_error *last, firn_error *error);

#endif
