/* SPDX-License-Identifier: MIT */
/* Progress of long work on standard error, if that is a terminal and standard output is not. Prints
 * nothing in the first second. */
#ifndef FIRN_PROGRESS_H
#define FIRN_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* The zero value is a beginning. */
typedef struct progress {
    bool known, wanted, written;
    int64_t begun_ms, next_ms; /* of the steady clock: when to say more */
    const char *label;         /* of a pass among several, or NULL */
} progress;

/* `total` 0: not known. */
void progress_show(progress *shown, int64_t done, int64_t total);
/* Clears the line. */
void progress_end(progress *shown);

#endif
