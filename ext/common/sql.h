/* SPDX-License-Identifier: MIT */
/* Shared by the SQL functions of all engines: converts SQL texts, numbers and bytes to schemes, times,
 * fields and IDs, and back. Texts need no terminator. Functions return 0 or a FIRN_E code. */
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

/* RFC 3339 or @SECONDS; without an offset the time is UTC. */
int sql_time(firn_time *time, const char *text, size_t length, firn_error *error);
/* A number of seconds since 1970, with decimals: exact. */
int sql_time_number(firn_time *time, const char *text, size_t length, firn_error *error);
/* 2024-01-01 10:00:00.123 in UTC. FIRN_ERANGE: before the year 1, or after 9999. */
int sql_time_text(char text[FIRN_TIME_SIZE], const firn_time *time, int digits, firn_error *error);
/* The time of an ID. FIRN_EUSAGE: the scheme has no time. */
int sql_id_time(firn_time *time, const firn_scheme *scheme, const firn_id *id, firn_error *error);

/* "time=2024-01-01T10:00:00 worker=3": any number of fields, of a scheme. */
int sql_fields(firn_fields *fields, const firn_scheme *scheme, const char *text, size_t length,
               firn_error *error);
int sql_pack(firn_id *id, const firn_scheme *scheme, const char *text, size_t length,
             firn_error *error);
/* The least and greatest ID of the tick that contains the instant; `pinned` as in sql_fields. */
int sql_bounds(firn_id *least, firn_id *greatest, const firn_scheme *scheme, const firn_time *time,
               const char *pinned, size_t length, firn_error *error);

/* Reads an ID from text, or from bytes if it has more than 64 bits. `scheme` may be NULL. Best
 * reading first, as firn_guess. */
int sql_read(firn_reading readings[FIRN_READINGS_MAX], id_counts *counts, const firn_scheme *scheme,
             const char *text, size_t length, firn_error *error);
/* An SQL integer, two's complement. */
int sql_read_integer(firn_reading readings[FIRN_READINGS_MAX], id_counts *counts,
                     const firn_scheme *scheme, int64_t value, firn_error *error);
/* FIRN_ETEXT unless all readings mean the same ID. */
int sql_certain(const firn_reading *readings, id_counts counts, firn_error *error);
/* The ID in another form, or in another scheme with the same content; `to` names it. */
int sql_convert(char text[FIRN_TEXT_SIZE], const firn_reading *readings, id_counts counts,
                const char *to, size_t length, firn_error *error);
/* A UUID of any version in 36, 38 or 32 characters. */
int sql_uuid(firn_id *id, const char *text, size_t length, firn_error *error);
/* MySQL's order of the bytes, which sorts version 1 by time, and back. */
void sql_swap(uint8_t out[16], const uint8_t in[16], bool back);
/* A UUID of version 1 from its parts, exact to 100 ns. */
int sql_uuid1(firn_id *id, const firn_time *time, int64_t clock_seq, const char *address,
              size_t length, firn_error *error);
/* An SQL integer. FIRN_ERANGE: it would be negative and sort wrongly. */
int sql_integer(int64_t *value, const firn_scheme *scheme, const firn_id *id, firn_error *error);

/* Do the options contain NAME=...? */
bool sql_has(const char *options, const char *name);
/* Do the options give the node, as one number or by a field? */
bool sql_has_node(const char *options, const firn_scheme *scheme);

#endif
