/* SPDX-License-Identifier: MIT */
/* `firn nodes` in two files: the listing, and freeing a node. */
#ifndef FIRN_NODES_H
#define FIRN_NODES_H

#include "command.h"

/* firn nodes free NODE: the only thing that lowers a mark. An exit status. */
int nodes_free(session *s, firn_store *store);

#endif
