/* SPDX-License-Identifier: MIT */
/* What the renewer's files share: the worker (background.c), its clock (clock.c), and the tables that it reads and writes in a transaction
 * of its own (tables.c). */
#ifndef FIRN_EXT_RENEWER_H
#define FIRN_EXT_RENEWER_H

#include "extension.h"

/* Sleeps for 2 s, whatever signals come. */
void firn_hold(void);
/* Returns after 2 s if the clock has jumped ahead by more than 5 s against the one that never steps: a wrong reading
 * would push the mark into the future, and there it stays. */
void firn_await_clock(void);

/* Creates the tables that are missing, and reads who this server is. Refuses tables that others could change. */
void firn_tables_prepare(void);
/* After the commit, before anybody is answered: a file of the data directory says that tables exist. */
void firn_tables_note_begun(void);
/* Reserves slots for a cell: the answer is written into the wish. */
void firn_tables_reserve(const firn_cell *cell, firn_wish *wish);
/* Carries out a take: the answer is written into it. */
void firn_tables_do(firn_take *take);
/* True, and why: the server handed its nodes over, so it reserves nothing. */
bool firn_tables_refuse(firn_error *why);

#endif
