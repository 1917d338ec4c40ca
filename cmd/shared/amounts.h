/* SPDX-License-Identifier: MIT */
/* Amounts in options: a rate, a number of nodes, a duration. Reads and checks them; their meaning
 * is up to the subcommand. */
#ifndef FIRN_AMOUNTS_H
#define FIRN_AMOUNTS_H

#include "command.h"

enum { DURATION_SIZE = 40, MEMORY_LEAST = 1 << 20 };

/* --rate, in IDs per second, also as 50k: above 0, at most 1e18; `initial` when it is not given. An
 * exit status. */
int amount_rate(session *s, double initial, double *rate);
/* -n as an amount that is not issued: a whole number 1..1e19, also as 50k or 1e9; 0 when it is not
 * given. An exit status. */
int amount_count(session *s, double *count);
/* --name of option: a whole number least..most. An exit status. */
int amount_number(session *s, int option, uint64_t initial, uint64_t least, uint64_t most,
                  uint64_t *number);
/* --for, in seconds. An exit status. */
int amount_duration(session *s, double initial, double *seconds);
/* A duration of another option, in whole ms least..most; `initial` when it is not given. An exit
 * status. */
int amount_ms(session *s, int option, int64_t initial, int64_t least, int64_t most, int64_t *ms);
/* --memory: bytes, or with K, M, G in units of 1024; MEMORY_LEAST to 1024G, 256M when it is not
 * given. An exit status. */
int amount_memory(session *s, uint64_t *memory);
/* The time of an option; unchanged if the option is not given. An exit status. */
int amount_time(session *s, int option, firn_time *time);
/* As 16.8 s, 3.2 h, 86,000 y; returns `text`. */
char *duration_text(char text[DURATION_SIZE], double seconds);

#endif
