/* SPDX-License-Identifier: MIT */
/* Errors and exit statuses. Like reading.h, object.h and shard.h it needs only firn.h: the SQL
 * extensions include these. */
#ifndef FIRN_ERRORS_H
#define FIRN_ERRORS_H

#include <firn/firn.h>

/* Fills `error` with one line of at most 200 bytes; returns `code`. */
int set_error(firn_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Writes "did you mean `NEAR`?", or `otherwise` if no name is near (NULL), and returns `out`. */
#define ADVICE_SIZE 128
const char *did_you_mean(char out[ADVICE_SIZE], const char *near, const char *otherwise);
/* FIRN_EMEMORY, with how to get more. */
int out_of_memory(firn_error *error);
/* Replaces control characters, so that the text is one line and harmless in a terminal. */
void make_plain(char *text);

enum {
    STATUS_DONE = 0,
    STATUS_NO = 1,    /* invalid ID, value or time */
    STATUS_USAGE = 2, /* wrong command or configuration */
    STATUS_STORE = 3,
    STATUS_CLOCK = 4,
    STATUS_BUSY = 5, /* or exhausted */
    STATUS_IO = 6,
    STATUS_SIGNAL = 128 /* plus its number */
};

/* The exit status of a FIRN_E code. */
int status_of(int code);

#endif
