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

#endif
