/* SPDX-License-Identifier: MIT */
/* Output that is complete or absent: a regular file is written as a temporary file and renamed;
 * standard output, if it is a file, is cut back to its old length. A pipe gets the bytes as they
 * are written. Knows bytes only. */
#ifndef FIRN_ATOMIC_OUTPUT_H
#define FIRN_ATOMIC_OUTPUT_H

#include "command.h"

#include <sys/types.h>

typedef struct atomic_output {
    output *out;      /* to write to */
    bool standard;    /* the output is standard output */
    bool stream;      /* nothing can be taken back */
    off_t began;      /* of standard output, where it was */
    char *path;       /* of the file, its symbolic links followed; NULL: standard output */
    char *temporary;  /* next to it; NULL: none */
    const char *name; /* as it was given, for people */
} atomic_output;

/* `path` NULL: standard output. FIRN_EIO, FIRN_EMEMORY. */
int atomic_output_open(atomic_output *file, session *s, const char *path, firn_error *error);
/* All of it is there: makes it durable and shows it under its name. FIRN_EIO, and it is gone. */
int atomic_output_commit(atomic_output *file, firn_error *error);
/* Removes the output. */
void atomic_output_discard(atomic_output *file);
/* Is the output the very file that is read? */
bool atomic_output_is(const atomic_output *target, dev_t device, ino_t file);

#endif
