/* SPDX-License-Identifier: MIT */
/* Shared by the SQL functions of all engines: converts SQL texts, numbers and bytes to schemes,
 * times, fields and IDs, and back. Texts need no terminator. Functions return 0 or a FIRN_E
 * code. */
#ifndef FIRN_EXT_SQL_H
#define FIRN_EXT_SQL_H

#include "reading.h"

#include <firn/firn.h>

#define SQL_TEXT_SIZE 512 /* options, fields and schemes, with the terminator */

/* A large variable that is written before it is read. The build zeroes all others, which for a text
 * or an error takes half as long as issuing an ID. */
#if defined(__has_attribute)
#if __has_attribute(uninitialized)
#define UNWIPED __attribute__((uninitialized))
#endif
#endif
#ifndef UNWIPED
#define UNWIPED
#endif

/* Copies a text with a terminator. FIRN_ERANGE: too long; FIRN_ETEXT: contains a zero byte. */
int sql_copy(char out[SQL_TEXT_SIZE], const char *what, const char *text, size_t length,
             firn_error *error);

/* A scheme's name, perhaps followed by epoch=, bits= and digits=, or a layout. */
int sql_scheme(firn_scheme *scheme, const char *text, size_t length, firn_error *error);

/* The same, and what the library takes to issue IDs of it: a name and keys ("epoch=2024-01-01"), or
 * a layout. */
int sql_split(firn_scheme *scheme, char name[SQL_TEXT_SIZE], char keys[SQL_TEXT_SIZE],
              const char *text, size_t length, firn_error *error);

/* RFC 3339 or @SECONDS; without an offset the time is UTC. */
int sql_time(firn_time *time, const char *text, size_t length, firn_error *error);
/* A number of seconds since 1970, with decimals: exact. */
int sql_time_number(firn_time *time, const char *text, size_t length, firn_error *error);
/* 2024-01-01 10:00:00.123 in UTC. FIRN_ERANGE: before the year 1, or after 9999. */
int sql_time_text(char text[FIRN_TIME_SIZE], const firn_time *time, int digits, firn_error *error);

/* "time=2024-01-01T10:00:00 worker=3": any number of fields, of a scheme; and prefix=, of an ID in
 * a form, unless `prefix` is NULL. */
int sql_fields(firn_fields *fields, char prefix[FIRN_PREFIX_SIZE], const firn_scheme *scheme,
               int form, const char *text, size_t length, firn_error *error);
/* An SQL integer. FIRN_ERANGE: it would be negative and sort wrongly, unless that is `allowed` by
 * unsigned=1. */
int sql_integer(int64_t *value, const firn_scheme *scheme, const firn_id *id, bool allowed,
                firn_error *error);
/* Do the options contain unsigned=1? */
bool sql_unsigned(const char *options);

/* A TypeID with a prefix, which may be "". FIRN_ETEXT: invalid prefix. */
int sql_typeid(char text[SQL_TEXT_SIZE], const char *prefix, size_t length, const firn_id *id,
               firn_error *error);

/* How many arguments must be given; `types` as in ext/functions.def. */
int sql_needed(const char *types);

/* Do the options contain NAME=...? */
bool sql_has(const char *options, const char *name);
/* Moves the value of NAME=VALUE out of the options; "": not given. The others are left with one
 * blank between them. FIRN_ERANGE: its length. */
int sql_take(char *options, const char *name, char *value, size_t size, firn_error *error);
/* The same for a number of 0 to `most`, which stays as it was if the option is not given. */
int sql_take_number(char *options, const char *name, int64_t *value, int64_t most,
                    firn_error *error);
/* The same for a duration in ms. FIRN_EUSAGE, FIRN_ERANGE. */
int sql_take_duration(char *options, const char *name, int64_t *ms, int64_t most,
                      firn_error *error);
/* A random digest and seed of a job. FIRN_EENTROPY. */
int sql_draw(uint64_t *digest, char seed[33], firn_error *error);
/* Do the options give the node, as one number or by a field? */
bool sql_has_node(const char *options, const firn_scheme *scheme);

#endif
