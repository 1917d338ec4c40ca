/* SPDX-License-Identifier: MIT */
/* For the files of choose.h only. */
#ifndef FIRN_CHOOSE_RANK_H
#define FIRN_CHOOSE_RANK_H

#include "choose.h"

/* The column, the commands and the figures of a scheme that fits. `rolling`: the sequence must not
 * start at 0 in each tick. */
void choose_equip(choose_candidate *candidate, const choose_answers *answers, bool rolling);
/* The candidates that fit first: what is preferred, then by cautions, bytes written, size, place in
 * the list of schemes. A tenth more bytes decides nothing. The best of each decision comes before
 * all others. */
void choose_rank(choose_result *out);

#endif
