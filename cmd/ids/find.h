/* SPDX-License-Identifier: MIT */
/* `firn show --find`: the IDs in any text, such as log files. Input and output only; what an ID is
 * decides scan.c. */
#ifndef FIRN_FIND_H
#define FIRN_FIND_H

#include "command.h"

/* Searches the files that are the operands, or standard input. An exit status. */
int find_run(session *s);

#endif
