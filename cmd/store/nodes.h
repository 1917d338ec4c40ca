/* SPDX-License-Identifier: MIT */
/* `firn nodes` in six files: the listing, which nodes are claimed, freeing a node, lowering a
 * floor, forgetting a namespace, losses. */
#ifndef FIRN_NODES_H
#define FIRN_NODES_H

#include "command.h"

/* firn nodes claim NAMESPACE A..B: which nodes are claimed. An exit status. */
int nodes_claim(session *s, firn_store *store);
/* firn nodes free NODE: the only thing that lowers a mark. An exit status. */
int nodes_free(session *s, firn_store *store);
/* firn nodes floor NAMESPACE: lowers the floor. An exit status. */
int nodes_floor(session *s, firn_store *store);
/* firn nodes --forget NAMESPACE: closes it, or opens it again. An exit status. */
int nodes_forget(session *s, firn_store *store);
/* firn nodes lost, firn nodes trust, firn nodes resume --all-stopped. An exit status. */
int nodes_lost(session *s, firn_store *store);
int nodes_trust(session *s, firn_store *store);
int nodes_resume(session *s, firn_store *store);

#endif
