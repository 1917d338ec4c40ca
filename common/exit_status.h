/* SPDX-License-Identifier: MIT */
/* What a program of firn says when it ends. Needs only firn.h: the server uses it too. */
#ifndef FIRN_EXIT_STATUS_H
#define FIRN_EXIT_STATUS_H

enum {
    STATUS_DONE = 0,
    STATUS_NO = 1, /* the answer is no: an invalid ID, a value or an instant outside its bounds */
    STATUS_USAGE = 2, /* what was asked for cannot be meant */
    STATUS_STORE = 3,
    STATUS_CLOCK = 4,
    STATUS_BUSY = 5, /* or exhausted */
    STATUS_IO = 6,
    STATUS_SIGNAL = 128 /* plus its number */
};

/* The exit status of a FIRN_E code: one table. */
int status_of(int code);

#endif
