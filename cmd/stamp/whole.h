/* SPDX-License-Identifier: MIT */
/* Output that appears whole or not at all: a file of its own by a temporary one and rename;
 * standard output, where that is a file, by cutting it back to what it held. A pipe gets what is
 * written as it comes. Knows bytes only. */
#ifndef FIRN_WHOLE_H
#define FIRN_WHOLE_H

#include "command.h"

#include <sys/types.h>

typedef struct whole {
    output *out;      /* to write to */
    bool standard;    /* it is standard output */
    bool stream;      /* nothing can be taken back */
    off_t began;      /* of standard output, where it was */
    char *path;       /* of the file, its symbolic links followed; NULL: standard output */
    char *temporary;  /* next to it; NULL: none */
    const char *name; /* as it was given, for people */
} whole;

/* `path` NULL: standard output. FIRN_EIO, FIRN_EMEMORY. */
int whole_open(whole *to, session *s, const char *path, firn_error *error);
/* All of it is there: makes it durable and shows it under its name. FIRN_EIO, and it is gone. */
int whole_keep(whole *to, firn_error *error);
/* Takes back what was written. */
void whole_drop(whole *to);
/* Is the output the very file that is read? */
bool whole_is(const whole *to, dev_t device, ino_t file);

#endif
