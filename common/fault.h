/* SPDX-License-Identifier: MIT */
/* An error's text, made. Needs only firn.h, as reading.h, object.h and shard.h: the SQL
 * extensions include these four. */
#ifndef FIRN_FAULT_H
#define FIRN_FAULT_H

#include <firn/firn.h>

/* Fills `error`, one line of at most 200 bytes; returns `code`. */
int set_error(firn_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* One line, and nothing that a terminal would obey, whatever arguments and input held. */
void make_plain(char *text);

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
