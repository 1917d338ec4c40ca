/* SPDX-License-Identifier: MIT */
/* What a mark in a store means: slots and the instants they stand for. Shared by the listing and
 * by freeing a node; changes nothing. */
#ifndef FIRN_NODES_H
#define FIRN_NODES_H

#include "command.h"

/* The row of the table that is stored so, with the roles of its fields; else the row as it is
 * written. A FIRN_E code: no scheme (integers, records of jobs). */
int mark_scheme(firn_scheme *scheme, const char *row);
/* A slot is tick << this. */
uint32_t mark_shift(const firn_scheme *scheme);
/* The first slot behind the layout; one and two further on stand the marks of history and jobs. */
int64_t mark_layout_end(const firn_scheme *scheme);
/* "1.3 s ahead", "3.5 h ago": in the largest unit that it fills. Returns `text`. */
char *mark_distance(char text[40], const firn_time *mark, const firn_time *now);
firn_time mark_now(void);

/* firn nodes free NODE: the only thing that lowers a mark. An exit status. */
int nodes_free(session *s, firn_store *store);

#endif
