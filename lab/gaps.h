/* SPDX-License-Identifier: MIT */
/* `firn check --gaps` and `firn check --chart`. */
#ifndef FIRN_GAPS_H
#define FIRN_GAPS_H

#include "command.h"

/* Gaps in integers, or in the sequence or counter of a scheme. An exit status. */
int gaps_run(session *s);
/* How many IDs were issued when. An exit status. */
int chart_run(session *s);

#endif
